"""Snapshots of a model's attention while it is trained: its weights, and what it does with a few sequences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...history import LayerHistory, Probe
from ...path import Rule
from ...trace import Token, as_tokens

if TYPE_CHECKING:
    from torch import Tensor, nn

__all__ = ["Recorder", "Watched"]


@dataclass(frozen=True)
class Watched:
    """A sequence to look at: how to run the model on it, and what to say of it.

    run : runs the model on this one sequence and gives its loss, or None where there is none
    tokens, query, reads, answer, dimensions : as in ``Probe``
    """

    run: Callable[[], Tensor | None]
    tokens: Sequence[str | Token]
    query: int | None = None
    reads: tuple[int, ...] = ()
    answer: str | None = None
    dimensions: tuple[str, ...] | None = None


@dataclass
class Recorder:
    """Keeps a snapshot each time it is told to.

    modules : name → an attention module of ``jumok.nn``, in the order in which they run
    watched : the sequences to look at
    """

    modules: Mapping[str, nn.Module]
    watched: Sequence[Watched]
    steps: list[int] = field(default_factory=list)
    weights: list[dict[str, list[Any]]] = field(default_factory=list)
    arrays: list[list[dict[str, list[Any]]]] = field(default_factory=list)
    rules: list[list[Rule]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.weights:
            self.weights = [{} for _ in self.modules]
            self.arrays = [[{} for _ in self.modules] for _ in self.watched]
            self.rules = [[Rule() for _ in self.modules] for _ in self.watched]

    def take(self, step: int) -> None:
        """Keep what the model is and does now, after ``step`` updates."""
        self.steps.append(step)
        for module, kept in zip(self.modules.values(), self.weights, strict=True):
            for name, array in _projections(module).items():
                kept.setdefault(name, []).append(array)
        for watched, kept_layers, rules in zip(self.watched, self.arrays, self.rules, strict=True):
            for at, seen in enumerate(_seen(list(self.modules.values()), watched.run)):
                rules[at] = seen.pop("rule")
                for name, array in seen.items():
                    kept_layers[at].setdefault(name, []).append(array)

    def layers(self) -> tuple[LayerHistory, ...]:
        """The attention layers through all snapshots."""
        return tuple(
            LayerHistory(name, module.n_heads, module.n_kv_heads, _stacked(kept))  # type: ignore[arg-type]
            for (name, module), kept in zip(self.modules.items(), self.weights, strict=True)
        )

    def probes(self) -> tuple[Probe, ...]:
        """The sequences through all snapshots."""
        return tuple(
            Probe(
                tokens=as_tokens(watched.tokens),
                rules=tuple(rules),
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
        self.rules = [list(probe.rules) for probe in probes]


def _stacked(kept: Mapping[str, list[Any]]) -> dict[str, Any]:
    return {name: np.stack(arrays) for name, arrays in kept.items()}


def _projections(module: nn.Module) -> dict[str, Any]:
    """w_q … as (d_model, heads · d), copied."""
    found: dict[str, Any] = {}
    for name in ("q", "k", "v", "o"):
        linear = getattr(module, f"w_{name}")
        if linear is not None:
            found[f"w_{name}"] = _copied(linear.weight.T)
            if linear.bias is not None:
                found[f"b_{name}"] = _copied(linear.bias)
    return found


def _copied(tensor: Tensor) -> Any:
    array = np.array(tensor.detach().cpu().numpy())
    array.setflags(write=False)
    return array


def _seen(modules: Sequence[nn.Module], run: Callable[[], Tensor | None]) -> list[dict[str, Any]]:
    """What each layer did while the model ran once."""
    import torch

    calls: dict[int, tuple[Any, Rule, Any]] = {}

    def watch(at: int) -> Callable[..., None]:
        def hook(_: Any, arguments: tuple[Any, ...], named: dict[str, Any], result: tuple[Any, Any]) -> None:
            rule = arguments[1] if len(arguments) > 1 else named.get("rule")
            calls[at] = arguments[0], Rule.of(rule), result

        return hook

    hooks = [module.register_forward_hook(watch(at), with_kwargs=True) for at, module in enumerate(modules)]
    try:
        with torch.enable_grad():
            loss = run()
    finally:
        for hook in hooks:
            hook.remove()
    return [_seen_of(loss, *calls[at]) for at in range(len(modules))]


def _seen_of(loss: Tensor | None, x: Tensor, rule: Rule, result: tuple[Tensor, Tensor | None]) -> dict[str, Any]:
    """One layer's rule, what entered it, and the gradient where the loss reads it: its output, or else its weights."""
    import torch

    seen = {"rule": rule, "x": _copied(x.squeeze(0) if x.ndim > 2 else x)}
    for name, left in zip(("gradient", "weights_gradient"), result, strict=True):
        if loss is None or left is None or not left.requires_grad:
            continue
        (gradient,) = torch.autograd.grad(loss, [left], allow_unused=True, retain_graph=True)
        if gradient is not None:
            return seen | {name: _copied(gradient.squeeze(0) if x.ndim > 2 else gradient)}
    return seen
