"""Snapshots of a model's attention while it is trained: its weights, and what it does with a few sequences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...door import in_numpy
from ...history import LayerHistory, Probe
from ...path import Rule
from ...path.described import described, restored
from ...trace import Token, as_tokens

if TYPE_CHECKING:
    from torch import Tensor, nn

__all__ = ["Look", "ModulesLook", "Recorder", "SeenLayer", "Watched", "copied"]


@dataclass(frozen=True)
class Watched:
    """A sequence to look at: how to run the model on it, and what to say of it.

    run : runs the model on this one sequence and gives its loss, or None where there is none
    tokens, query, reads, answer, dimensions : as in ``Probe``
    told : what ``capture`` is told of its tokens, where the model is no module of ``jumok.nn``
    """

    run: Callable[[], Tensor | None]
    tokens: Sequence[str | Token]
    query: int | None = None
    reads: tuple[int, ...] = ()
    answer: str | None = None
    dimensions: tuple[str, ...] | None = None
    told: Any = None


@dataclass(frozen=True)
class SeenLayer:
    """What one layer did in one run.

    arrays : as in ``Probe.arrays``, without the snapshots;  tokens : (token,) where they were seen
    """

    rule: Rule
    arrays: Mapping[str, Any]
    tokens: tuple[Token, ...] | None = None


class Look(Protocol):
    """How the attention layers of a model are looked at."""

    @property
    def layers(self) -> Sequence[tuple[str, int, int]]:
        """(layer,) name, heads that ask, heads that are read."""

    def weights(self) -> list[dict[str, Any]]:
        """(layer,) the projections as they are now, as in ``LayerHistory.weights``; empty where they are not known."""

    def seen(self, watched: Watched) -> list[SeenLayer]:
        """(layer,) what each did with a sequence."""


@dataclass
class Recorder:
    """Keeps a snapshot each time it is told to.

    modules : name → an attention module of ``jumok.nn``, in the order in which they run
    watched : the sequences to look at
    look : how the layers are looked at; None for these modules
    """

    modules: Mapping[str, nn.Module]
    watched: Sequence[Watched]
    look: Look | None = None
    steps: list[int] = field(default_factory=list)
    weights: list[dict[str, list[Any]]] = field(default_factory=list)
    arrays: list[list[dict[str, list[Any]]]] = field(default_factory=list)
    rules: list[list[list[Rule]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.look = self.look or ModulesLook(self.modules)
        n = len(self.look.layers)
        self.weights = [{} for _ in range(n)]
        self.arrays = [[{} for _ in range(n)] for _ in self.watched]
        self.rules = [[[] for _ in range(n)] for _ in self.watched]

    def take(self, step: int) -> None:
        """Keep what the model is and does now, after ``step`` updates; all of it, or nothing where a run fails."""
        assert self.look is not None
        self._only_whole()
        seen = [self.look.seen(watched) for watched in self.watched]
        weights = self.look.weights()  # after the runs, which may find that a projection is none
        for kept, found in zip(self.weights, weights, strict=True):
            _grow(kept, found, len(self.steps))
        for layers, kept_layers, rules in zip(seen, self.arrays, self.rules, strict=True):
            for layer, kept, some in zip(layers, kept_layers, rules, strict=True):
                _grow(kept, layer.arrays, len(self.steps))
                some.append(some[-1] if some and some[-1] == layer.rule else layer.rule)
        self.steps.append(step)

    def _only_whole(self) -> None:
        """Let go of what an interruption left half taken."""
        self.drop(slice(len(self.steps), None))

    def drop(self, which: slice) -> None:
        """Let go of some snapshots."""
        kept: list[Any] = [array for layer in self.weights for array in layer.values()]
        kept += [array for probe in self.arrays for layer in probe for array in layer.values()]
        for each in (self.steps, *kept, *(some for probe in self.rules for some in probe)):
            del each[which]

    @property
    def held_bytes(self) -> int:
        """What the arrays of all snapshots take."""
        groups = [*self.weights, *(layer for probe in self.arrays for layer in probe)]
        return sum(array.nbytes for group in groups for arrays in group.values() for array in arrays)

    def layers(self) -> tuple[LayerHistory, ...]:
        """The attention layers through all snapshots."""
        assert self.look is not None
        self._only_whole()
        return tuple(
            LayerHistory(*layer, _stacked(kept)) for layer, kept in zip(self.look.layers, self.weights, strict=True)
        )

    def probes(self) -> tuple[Probe, ...]:
        """The sequences through all snapshots."""
        self._only_whole()
        return tuple(
            Probe(
                tokens=as_tokens(watched.tokens),
                rules=tuple(map(_one_or_each, rules)),
                arrays=tuple(map(_stacked, arrays)),
                query=watched.query,
                reads=watched.reads,
                answer=watched.answer,
                dimensions=watched.dimensions,
            )
            for watched, rules, arrays in zip(self.watched, self.rules, self.arrays, strict=True)
        )

    def restore(self, steps: Sequence[int], layers: Sequence[LayerHistory], probes: Sequence[Probe]) -> None:
        """Go on from a history that was kept before."""
        self.steps = list(steps)
        self.weights = [{name: list(array) for name, array in layer.weights.items()} for layer in layers]
        self.arrays = [[{name: list(a) for name, a in layer.items()} for layer in probe.arrays] for probe in probes]
        self.rules = [
            [list(rule) if isinstance(rule, tuple) else [rule] * len(self.steps) for rule in probe.rules]
            for probe in probes
        ]


def _grow(kept: dict[str, list[Any]], found: Mapping[str, Any], n_before: int) -> None:
    """One snapshot more of each array; what is not there in every snapshot is let go."""
    for name in [name for name in kept if name not in found]:
        del kept[name]
    for name, array in found.items():
        if name in kept or n_before == 0:
            kept.setdefault(name, []).append(array)


def _one_or_each(rules: Sequence[Rule]) -> Rule | tuple[Rule, ...]:
    """The rule of all snapshots, or one each where it is learned too."""
    return rules[0] if all(rule is rules[0] for rule in rules) else tuple(rules)


def _stacked(kept: Mapping[str, list[Any]]) -> dict[str, Any]:
    return {name: np.stack(_alike(arrays)) for name, arrays in kept.items()}


def _alike(arrays: Sequence[Any]) -> Sequence[Any]:
    """Keys that happened to be the same for several heads (all 0, say) were kept once; now once a head, as the others."""
    most = max(len(array) for array in arrays)
    return [array if len(array) == most else np.repeat(array, most // len(array), axis=0) for array in arrays]


def copied(tensor: Tensor) -> Any:
    """A tensor's numbers as a read-only array of their own; bfloat16 as float32."""
    array = np.array(in_numpy("tensor", tensor))
    array.setflags(write=False)
    return array


# modules of jumok.nn ------------------------------------------------------------------------------


@dataclass(frozen=True)
class ModulesLook:
    """Modules of ``jumok.nn``, each of which runs once: exactly what entered them, their weights, and their rule."""

    modules: Mapping[str, nn.Module]

    @property
    def layers(self) -> Sequence[tuple[str, int, int]]:
        """(layer,) name, heads that ask, heads that are read."""
        return [(name, module.n_heads, module.n_kv_heads) for name, module in self.modules.items()]  # type: ignore[misc]

    def weights(self) -> list[dict[str, Any]]:
        """(layer,) w_q … as (d_model, heads · d), copied."""
        return [_projections(module) for module in self.modules.values()]

    def seen(self, watched: Watched) -> list[SeenLayer]:
        """(layer,) what each did while the model ran once."""
        import torch

        calls: dict[int, tuple[Any, Rule, Any]] = {}

        def watch(at: int) -> Callable[..., None]:
            def hook(_: Any, arguments: tuple[Any, ...], named: dict[str, Any], result: tuple[Any, Any]) -> None:
                rule = arguments[1] if len(arguments) > 1 else named.get("rule")
                calls[at] = arguments[0] if arguments else named["x"], _kept(Rule.of(rule)), result

            return hook

        modules = list(self.modules.values())
        hooks = [module.register_forward_hook(watch(at), with_kwargs=True) for at, module in enumerate(modules)]
        try:
            with torch.enable_grad():
                loss = watched.run()
        finally:
            for hook in hooks:
                hook.remove()
        return [_seen_of(loss, *calls[at]) for at in range(len(modules))]


def _projections(module: nn.Module) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in ("q", "k", "v", "o"):
        linear = getattr(module, f"w_{name}")
        if linear is not None:
            found[f"w_{name}"] = copied(linear.weight.T)
            if linear.bias is not None:
                found[f"b_{name}"] = copied(linear.bias)
    return found


def _kept(rule: Rule) -> Rule:
    """A rule with its arrays copied into NumPy, as a history keeps it."""
    arrays: dict[str, Any] = {}
    plain = described(rule, arrays)
    made: Rule = restored(plain, {name: copied(array) for name, array in arrays.items()}) if arrays else rule
    return made


def _seen_of(loss: Tensor | None, x: Tensor, rule: Rule, result: tuple[Tensor, Tensor | None]) -> SeenLayer:
    """One layer's rule, what entered it, and the gradient where the loss reads it: its output, or else its weights."""
    import torch

    arrays = {"x": copied(x.squeeze(0) if x.ndim > 2 else x)}
    for name, left in zip(("gradient", "weights_gradient"), result, strict=True):
        if loss is None or left is None or not left.requires_grad:
            continue
        (gradient,) = torch.autograd.grad(loss, [left], allow_unused=True, retain_graph=True)
        if gradient is not None:
            return SeenLayer(rule, arrays | {name: copied(gradient.squeeze(0) if x.ndim > 2 else gradient)})
    return SeenLayer(rule, arrays)
