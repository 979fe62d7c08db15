"""A training run as the page carries it: one document with everything that the slider moves.

What is in it stands in frontend/README.md ("What travels: runs"). A small run travels with every digit; of a large one the
weights and what entered the layers become whole numbers with one scale a row, and the difference this makes to the
attention weights is measured over every snapshot.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import history as histories
from ..errors import InputError
from ..explanation.emerged import outcome, place, understood
from ..history import History, LayerHistory, Probe
from ..path import Steps, qkv
from ..trace import Trace
from ..words import LANGS
from . import curves, page
from .labels import labels_of
from .layout import Panel, paragraph, stacked
from .packed import MOST_ERROR, SMALL_BYTES, Packed, plain_array, rounded, written
from .page import SIZE_LIMIT
from .theme import Theme

__all__ = ["EXTENSION", "Run", "carried", "curves_of", "names", "opening", "pack_run", "to_csv", "write"]

EXTENSION = Path(__file__).parent / "static" / "learning.js"

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Run:
    """A training run to look at.

    history : curves and snapshots
    emerged : what was measured at its end, as plain JSON (``Learned.emerged``), or None
    given : the weights that a person wrote for the same rows, or None
    beside : another run, or the same one for another of its probes, that stands beside this one (``jumok.compare``), or None
    """

    history: History
    emerged: Mapping[str, Any] | None = None
    given: Trace | None = None
    beside: Run | None = None

    @property
    def each(self) -> tuple[Run, ...]:
        """The run itself, and the one beside it."""
        return (self,) if self.beside is None else (self, self.beside)

    def __repr__(self) -> str:
        return f"Run({', '.join(repr(run.history) for run in self.each)})"


def write(
    path: str | os.PathLike[str],
    run: Run,
    *,
    view: Mapping[str, Any] | None = None,
    lang: str = "en",
    title: str | None = None,
    size_limit: int | None = SIZE_LIMIT,
) -> Path:
    """Write the page of a run, or of two, whole or not at all; the options are those of ``page.html``.

    Errors: ``OutputError`` where the path cannot be written, and what ``page.html`` and ``pack_run`` refuse.
    """
    documents, extra = carried(run)
    view = opening(run) | dict(view or {})
    return page.write(path, documents, extra=extra, view=view, lang=lang, title=title, size_limit=size_limit)


def carried(run: Run) -> tuple[list[Packed], dict[str, Any]]:
    """The documents of a run or of two, and what the page's model holds besides: the second program, and the sides.

    A run that stands beside itself travels once.
    """
    unique = [run] if all(one.history is run.history for one in run.each) else run.each
    sides = [{"run": min(at, len(unique) - 1), "name": name} for at, name in enumerate(names(run))]
    return [pack_run(one) for one in unique], {"extension": EXTENSION.read_text(encoding="utf-8"), "sides": sides}


def names(run: Run) -> list[str]:
    """What tells two runs apart: their letter and the settings in which they differ; of a single run, nothing."""
    if run.beside is None:
        return [""]
    settings = [_flat(one.history.settings) for one in run.each]
    known = dict.fromkeys(name for one in settings for name in one)
    differing = [name for name in known if len({str(one.get(name)) for one in settings}) > 1]
    told = [", ".join(f"{name} {one[name]}" for name in differing if name in one) for one in settings]
    return [f"{letter}: {text}" if text else letter for letter, text in zip("AB", told, strict=True)]


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        flat |= _flat(value) if isinstance(value, Mapping) else {name: value}
    return flat


def opening(run: Run) -> dict[str, int]:
    """Where the page opens: at the head worth looking at, after the last step."""
    layer, head = place(run.history, run.emerged)
    return {"layer": layer, "head": head}


# still pictures and tables ------------------------------------------------------------------------


def curves_of(run: Run, lang: str, theme: Theme) -> tuple[Panel, list[str]]:
    """The curves of a run, and below each other those of two, and the picture in words."""
    drawn = [curves.picture(one.history, one.emerged, lang, theme) for one in run.each]
    heads = [
        [] if run.beside is None else [paragraph(name, drawn[0][0].width, theme, 13, bold=True)] for name in names(run)
    ]
    panels = [panel for head, (one, _) in zip(heads, drawn, strict=True) for panel in (*head, one)]
    told = [
        sentence for name, (_, said) in zip(names(run), drawn, strict=True) for sentence in filter(None, (name, *said))
    ]
    return stacked(panels, 10), told


def to_csv(run: Run) -> str:
    """The curves, one number a line, every digit; of two runs the first column says which."""
    tables = [curves.to_csv(one.history) for one in run.each]
    if run.beside is None:
        return tables[0]
    head = tables[0].split("\n", 1)[0]
    rows = [f"{letter},{row}" for letter, table in zip("AB", tables, strict=True) for row in table.splitlines()[1:]]
    return "\n".join([f"run,{head}", *rows, ""])


# one document -------------------------------------------------------------------------------------


def pack_run(run: Run) -> Packed:
    """A run for the page.

    Errors: ``InputError`` for a history in which nothing was looked at.
    """
    history = run.history
    if not history.layers or not history.probes:
        raise InputError(
            en="this history has no attention layer or no probe (a sequence that was looked at), so there is nothing to show.",
            ko="이 학습 기록에는 어텐션 층이나 살펴본 문장이 없어 보여 줄 것이 없습니다.",
        )
    tensors, plain = histories.parts(history)
    tensors = {name: plain_array(_shaped(name, array)) for name, array in tensors.items()}
    error = 0.0
    exact = sum(array.nbytes for name, array in tensors.items() if not _is_gradient(name)) <= SMALL_BYTES
    if not exact:
        error = _error(history)
        exact = error > MOST_ERROR
    if not exact:
        tensors = dict(_smaller(tensors))
    tensors |= dict(_moves(history))
    told = {"storage": "exact" if exact else "int16", "error": 0.0 if exact else error, **_told(run)}
    header, data = written(tensors, plain, told)
    return Packed(header, (data,), str(told["storage"]), (), {}, told["title"])


def _is_gradient(name: str) -> bool:
    """Of the loss on a probe, at a layer's output or its attention weights."""
    return name.startswith("probes.") and name.endswith("gradient")


def _shaped(name: str, array: Array) -> Array:
    """Curves are drawn, a pixel at a time; what a head has of its own travels with the heads of all snapshots in one axis."""
    group, last = name.split(".")[0], name.split(".")[-1]
    if group in ("loss", "accuracy", "roles", "gradient_norm"):
        return array.astype(np.float32)
    is_of_heads = group == "probes" and last in ("q", "k", "v", "weights_gradient")
    return array.reshape(-1, *array.shape[2:]) if is_of_heads else array


def _moves(history: History) -> Iterator[tuple[str, Array]]:
    """(snapshot - 1, 4) of each projection the entry that moved most until the next snapshot: row, column, before, after.

    Of the run's own numbers: rounding could choose another entry, where many move equally far.
    """
    for at, layer in enumerate(history.layers if len(history.steps) > 1 else ()):
        for name in ("w_q", "w_k", "w_v"):
            if name in layer.weights:
                pairs = itertools.pairwise(layer.weights[name])
                yield f"moves.{at}.{name}", np.array([_most_moved(*pair) for pair in pairs], float)


def _most_moved(before: Array, after: Array) -> tuple[float, ...]:
    place = np.unravel_index(int(np.abs(after - before).argmax()), before.shape)
    return (*map(float, place), float(before[place]), float(after[place]))


def _is_rounded(name: str, array: Array) -> bool:
    """Arrays with a row of several numbers, of which there is one for each snapshot; not curves, nor parts of a rule."""
    group, last = name.split(".")[0], name.split(".")[-1]
    return (group == "layers" and array.ndim == 3) or (
        group == "probes" and last in ("x", "q", "k", "v", "gradient", "weights_gradient")
    )


def _smaller(tensors: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
    for name, array in tensors.items():
        if not _is_rounded(name, array):
            yield name, array
            continue
        whole, scale = rounded(array)
        yield name, whole
        yield f"{name}.scale", scale


def _error(history: History) -> float:
    """The largest difference of an attention weight between the history and what would travel, over every snapshot."""
    pairs = zip(_weights(history), _weights(_restored(history)), strict=True)
    return max(float(np.abs(own - other).max()) for own, other in pairs)


def _weights(history: History) -> Iterator[Array]:
    """(head, query, key) of each snapshot of each layer of each probe."""
    for probe in history.probes:
        for layer, rule, arrays in zip(history.layers, probe.rules, probe.arrays, strict=True):
            for at in range(len(history.steps)):
                q, k = (_projected(name, layer, arrays, at) for name in "qk")
                yield Steps(q, k, k, rule[at] if isinstance(rule, tuple) else rule).weights


def _projected(name: str, layer: LayerHistory, arrays: Mapping[str, Array], at: int) -> Array:
    """q or k at one snapshot, without the checks of a Trace: they were made when the history was."""
    if name in arrays:
        return np.asarray(arrays[name][at])
    weights, bias = layer.weights[f"w_{name}"][at], layer.weights.get(f"b_{name}")
    made = qkv.projected(arrays["x"][at], weights, None if bias is None else bias[at])
    return np.asarray(qkv.split(made, layer.n_heads if name == "q" else layer.n_kv_heads))


def _restored(history: History) -> History:
    """The history as the page has it after rounding."""

    def back(name: str, array: Array) -> Array:
        if not _is_rounded(name, array):
            return array
        whole, scale = rounded(array)
        return whole * scale[..., None]

    def layer(one: LayerHistory) -> LayerHistory:
        weights = {name: back(f"layers.0.{name}", array) for name, array in one.weights.items()}
        return dataclasses.replace(one, weights=weights)

    def probe(one: Probe) -> Probe:
        arrays = tuple({name: back(f"probes.0.0.{name}", a) for name, a in of.items()} for of in one.arrays)
        return dataclasses.replace(one, arrays=arrays)

    return dataclasses.replace(
        history, layers=tuple(map(layer, history.layers)), probes=tuple(map(probe, history.probes))
    )


# what is said -------------------------------------------------------------------------------------


def _told(run: Run) -> dict[str, Any]:
    """How tokens are shown, what the run is called, and what emerged in sentences of both languages."""
    title = run.history.task.get("title")
    return {
        "labels": [[label.to_json() for label in labels_of(probe.tokens)] for probe in run.history.probes],
        "title": {lang: str(title[lang]) for lang in LANGS} if isinstance(title, Mapping) else None,
        "emerged": None if (known := understood(run.history, run.emerged)) is None else dict(known),
        "told": {lang: _sections(run, lang) for lang in LANGS},
    }


def _sections(run: Run, lang: str) -> list[dict[str, Any]]:
    found = outcome(run.history, run.emerged, lang, run.given)
    return [
        {"name": one.name, "title": one.title, "lines": [text for _, text in one.lines]} for one in found.sections()
    ]
