"""A training run as it can be looked at: its curves, and its attention at chosen steps, as Traces.

A ``History`` keeps, for each snapshot, the weights of every attention layer and, for a few sequences (the probes),
what entered each layer. Any Trace of any snapshot is made from these when somebody looks.
"""

from __future__ import annotations

import bisect
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from . import saved
from .door import Floats, in_numpy
from .errors import InputError, ShapeError
from .path import Rule, qkv
from .path.described import described, restored
from .trace import Heads, Reading, Source, Token, Trace, as_tokens
from .words import counted, with_particle

__all__ = ["History", "LayerHistory", "Probe", "parts", "unpacked"]

MATRICES = ("w_q", "w_k", "w_v", "w_o", "b_q", "b_k", "b_v", "b_o")


def _sealed(name: str, value: Any, ndim: int | None = None) -> Floats:
    """An array of finite or missing numbers, read-only."""
    array = np.array(in_numpy(name, value), order="C")  # safetensors writes memory as it lies
    if ndim is not None and array.ndim != ndim:
        raise ShapeError(
            en=f"{name} of a history expects {ndim} axes, got {array.ndim}: shape {array.shape}.",
            ko=f"학습 기록의 {name}에는 축 {ndim}개가 필요한데 {array.ndim}개입니다: 모양 {array.shape}.",
        )
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class LayerHistory:
    """One attention layer through the training.

    name : where it stands in the model, such as ``layers.0.attention``
    n_heads, n_kv_heads : heads that ask, and that are read
    weights : name → (snapshot, d_model, heads · d) for w_q, w_k, w_v, w_o, (snapshot, heads · d) for biases b_*;
        empty where only q, k and v of the probes were kept
    """

    name: str
    n_heads: int
    n_kv_heads: int
    weights: Mapping[str, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sealed = {
            name: _sealed(name, self.weights[name], 3 if name[0] == "w" else 2)
            for name in MATRICES
            if name in self.weights
        }
        object.__setattr__(self, "weights", sealed)

    def heads(self, at: int) -> Heads | None:
        """The projections at one snapshot."""
        return Heads(**{name: array[at] for name, array in self.weights.items()}) if self.weights else None


@dataclass(frozen=True, eq=False)
class Probe:
    """One sequence that was looked at all through the training.

    tokens : (token,)
    rules : (layer,) the rule of each layer; or (layer, snapshot), where a rule holds numbers that are learned
    arrays : (layer,) each name → (snapshot, …): ``x`` (snapshot, token, d_model) what entered the layer, or ``q``, ``k``,
        ``v`` (snapshot, head, token, d_head); ``gradient`` (snapshot, token, d_out), where it is known: dL/d(the layer's
        output) of the loss on this sequence alone; or ``weights_gradient`` (snapshot, head, query, key) where it reads these
    query : the token whose row is worth looking at, or None;  reads : where the answer stands;  answer : what is asked for
    dimensions : (d_model,) names of the embedding dimensions, or None
    """

    tokens: tuple[Token, ...]
    rules: tuple[Rule | tuple[Rule, ...], ...]
    arrays: tuple[Mapping[str, Floats], ...]
    query: int | None = None
    reads: tuple[int, ...] = ()
    answer: str | None = None
    dimensions: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", as_tokens(self.tokens))
        rules = [tuple(map(Rule.of, rule)) if isinstance(rule, tuple) else Rule.of(rule) for rule in self.rules]
        object.__setattr__(self, "rules", tuple(rules))
        sealed = [{name: _sealed(name, array) for name, array in layer.items()} for layer in self.arrays]
        object.__setattr__(self, "arrays", tuple(sealed))


@dataclass(frozen=True, eq=False)
class History:
    """A training run: curves over all steps, attention at the snapshots.

    steps : (snapshot,) how many updates had been made, increasing; 0 is before the first
    loss : (step,) the loss of each step's batch, before its update: that of step 0 is of the untrained state
    gradient_norm : name of a weight → (step,) the norm of its gradient
    accuracy : (snapshot,) of held-out sequences, 0 to 1; NaN where it was not measured
    roles : name → (snapshot, layer, head) the mean weight on the keys of that role, over held-out sequences
    baselines : name → the best that a head reaches on the same cases without looking at the tokens
    layers : (layer,);  probes : the sequences that were looked at
    task, settings : what was learned, and how, as plain JSON
    """

    steps: tuple[int, ...]
    layers: tuple[LayerHistory, ...]
    probes: tuple[Probe, ...]
    loss: Floats
    accuracy: Floats
    gradient_norm: Mapping[str, Floats] = field(default_factory=dict)
    roles: Mapping[str, Floats] = field(default_factory=dict)
    baselines: Mapping[str, float] = field(default_factory=dict)
    task: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "steps", tuple(int(step) for step in self.steps))
        if not self.steps or any(a >= b for a, b in zip(self.steps, self.steps[1:], strict=False)):
            raise InputError(
                en=f"the steps of a history expect whole numbers that increase, got {self.steps[:6]}.",
                ko=f"학습 기록의 steps에는 점점 커지는 정수가 필요한데 {with_particle(str(self.steps[:6]), '이/가')} 왔습니다.",
            )
        for name in ("loss", "accuracy"):
            put(self, name, _sealed(name, getattr(self, name), 1))
        for name, ndim in (("gradient_norm", 1), ("roles", 3)):
            put(self, name, {key: _sealed(key, array, ndim) for key, array in getattr(self, name).items()})
        self._check_axes()

    def _check_axes(self) -> None:
        n = len(self.steps)
        arrays: list[tuple[str, Any]] = [("accuracy", self.accuracy), *self.roles.items()]
        arrays += [(name, array) for layer in self.layers for name, array in layer.weights.items()]
        arrays += [(name, array) for probe in self.probes for layer in probe.arrays for name, array in layer.items()]
        arrays += [("rules", rule) for probe in self.probes for rule in probe.rules if isinstance(rule, tuple)]
        for name, array in arrays:
            if len(array) != n:
                raise ShapeError(
                    en=f"{name} has {len(array)} snapshots, but there are {n} steps.",
                    ko=f"{name}에는 스냅샷이 {len(array)}개인데 단계는 {n}개입니다.",
                )
        for probe in self.probes:
            if not len(probe.arrays) == len(probe.rules) == len(self.layers):
                raise ShapeError(
                    en=f"a probe has {len(probe.arrays)} layers, the history {len(self.layers)}.",
                    ko=f"살펴보는 문장의 층은 {len(probe.arrays)}개인데 학습 기록의 층은 {len(self.layers)}개입니다.",
                )

    def snapshot(self, step: int | None = None) -> int:
        """Which snapshot shows a step: the last one not after it; None for the last of all.

        Errors: ``InputError`` for a step before the first snapshot.
        """
        if step is None:
            return len(self.steps) - 1
        at = bisect.bisect_right(self.steps, step) - 1
        if isinstance(step, bool) or at < 0:
            raise InputError(
                en=f"step expects a whole number from {self.steps[0]}, got {step!r}.",
                ko=f"step에는 {self.steps[0]} 이상의 정수가 필요한데 {with_particle(repr(step), '이/가')} 왔습니다.",
            )
        return at

    def trace(self, step: int | None = None, probe: int = 0, layer: int = 0) -> Trace:
        """What one layer did with one probe at the last snapshot not after a step; None for the end."""
        at, told = self.snapshot(step), self._probe(probe)
        if not 0 <= layer < len(self.layers):
            raise InputError(
                en=f"layer expects a position from 0 to {len(self.layers) - 1}, got {layer!r}.",
                ko=f"layer에는 0부터 {len(self.layers) - 1}까지의 위치가 필요한데 {with_particle(repr(layer), '이/가')} 왔습니다.",
            )
        arrays = {name: array[at] for name, array in told.arrays[layer].items() if name in ("x", "q", "k", "v")}
        heads, of, rule = self.layers[layer].heads(at), self.layers[layer], told.rules[layer]
        if "q" not in arrays:
            assert heads is not None
            arrays |= _made(arrays["x"], heads, of)
        return Trace(
            tokens=told.tokens,
            **arrays,
            rule=rule[at] if isinstance(rule, tuple) else rule,
            heads=heads,
            dimensions=told.dimensions,
            source=self._source(at, layer, told),
        )

    def reading(self, step: int | None = None, probe: int = 0) -> Reading:
        """What all layers did with one probe at the last snapshot not after a step; None for the end."""
        traces = tuple(self.trace(step, probe, layer) for layer in range(len(self.layers)))
        return Reading(traces, self._source(self.snapshot(step), None, self._probe(probe)))

    def _probe(self, probe: int) -> Probe:
        if isinstance(probe, bool) or not 0 <= probe < len(self.probes):
            raise InputError(
                en=f"probe expects a position from 0 to {len(self.probes) - 1}, got {probe!r}.",
                ko=f"probe에는 0부터 {len(self.probes) - 1}까지의 위치가 필요한데 {with_particle(repr(probe), '이/가')} 왔습니다.",
            )
        return self.probes[probe]

    def _source(self, at: int, layer: int | None, probe: Probe) -> Source:
        details: dict[str, Any] = {"step": self.steps[at]}
        if probe.query is not None:
            details["focus"] = probe.query
        if len(self.layers) > 1 or layer is None:
            details["n_layers"] = len(self.layers)
        if isinstance(title := self.task.get("title"), dict):
            details["title"] = title
        return Source(kind="training", name=self.task.get("name"), layer=layer, details=details)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the history, whole or not at all, as ``.safetensors``.

        Errors: ``InputError`` for another suffix, ``OutputError`` where the path cannot be written.
        """
        return saved.write(path, *parts(self))

    def __repr__(self) -> str:
        steps, snapshots = counted(self.steps[-1], "step"), counted(len(self.steps), "snapshot")
        return f"History({self.task.get('name')!r}, {steps}, {snapshots}, {counted(len(self.layers), 'layer')})"


def _made(x: Floats, heads: Heads, layer: LayerHistory) -> dict[str, Floats]:
    """q, k and v of one probe, as the path makes them."""
    each = (
        ("q", heads.w_q, heads.b_q, layer.n_heads),
        ("k", heads.w_k, heads.b_k, layer.n_kv_heads),
        ("v", heads.w_v, heads.b_v, layer.n_kv_heads),
    )
    return {name: qkv.split(qkv.projected(x, w, b), n) for name, w, b, n in each}


# files --------------------------------------------------------------------------------------------


def parts(history: History) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays of a history by name, and all that is no array as plain JSON."""
    tensors: dict[str, Any] = {"loss": history.loss, "accuracy": history.accuracy}
    tensors |= {f"gradient_norm.{name}": array for name, array in history.gradient_norm.items()}
    tensors |= {f"roles.{name}": array for name, array in history.roles.items()}
    for at, layer in enumerate(history.layers):
        tensors |= {f"layers.{at}.{name}": array for name, array in layer.weights.items()}
    probes = []
    for number, probe in enumerate(history.probes):
        rules = []
        for at, (rule, layer_arrays) in enumerate(zip(probe.rules, probe.arrays, strict=True)):
            arrays: dict[str, Any] = {}
            rules.append(described(rule, arrays))
            arrays |= layer_arrays
            tensors |= {f"probes.{number}.{at}.{name}": array for name, array in arrays.items()}
        probes.append(
            {
                "tokens": [[token.text, *(token.span or ())] for token in probe.tokens],
                "rules": rules,
                "query": probe.query,
                "reads": list(probe.reads),
                "answer": probe.answer,
                "dimensions": None if probe.dimensions is None else list(probe.dimensions),
            }
        )
    layers = [{"name": one.name, "n_heads": one.n_heads, "n_kv_heads": one.n_kv_heads} for one in history.layers]
    plain: dict[str, Any] = {"kind": "history", "steps": list(history.steps), "layers": layers, "probes": probes}
    plain |= {"baselines": dict(history.baselines), "task": dict(history.task), "settings": dict(history.settings)}
    return tensors, plain


def unpacked(tensors: Mapping[str, Any], plain: Mapping[str, Any]) -> History:
    """The history that ``parts`` took apart. Errors: whatever a file that does not fit together runs into."""
    found: dict[str, dict[str, Any]] = {}
    for name, array in tensors.items():
        group, _, rest = name.partition(".")
        found.setdefault(group, {})[rest] = array
    layers = tuple(
        LayerHistory(one["name"], one["n_heads"], one["n_kv_heads"], _under(found.get("layers", {}), f"{at}."))
        for at, one in enumerate(plain["layers"])
    )
    probes = tuple(_probe(one, _under(found.get("probes", {}), f"{at}.")) for at, one in enumerate(plain["probes"]))
    return History(
        steps=tuple(plain["steps"]),
        layers=layers,
        probes=probes,
        loss=tensors["loss"],
        accuracy=tensors["accuracy"],
        gradient_norm=found.get("gradient_norm", {}),
        roles=found.get("roles", {}),
        baselines=plain["baselines"],
        task=plain["task"],
        settings=plain["settings"],
    )


def _under(arrays: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}


def _probe(plain: Mapping[str, Any], arrays: Mapping[str, Any]) -> Probe:
    rules, kept = [], []
    for at, rule in enumerate(plain["rules"]):
        of_layer = _under(arrays, f"{at}.")
        rules.append(restored(rule, {name: a for name, a in of_layer.items() if name.startswith("part.")}))
        kept.append({name: a for name, a in of_layer.items() if not name.startswith("part.")})
    dimensions = plain["dimensions"]
    return Probe(
        tokens=tuple(Token(text, tuple(span) or None) for text, *span in plain["tokens"]),
        rules=tuple(rules),
        arrays=tuple(kept),
        query=plain["query"],
        reads=tuple(plain["reads"]),
        answer=plain["answer"],
        dimensions=None if dimensions is None else tuple(dimensions),
    )
