"""A change of an example in a few words, as lessons ask for it: this number there.

>>> from jumok.sources.example import load
>>> changed = edited(load("student"), {"w_q": {"Action": {"Method": 9}}, "mask": "causal"})
>>> changed.layers[0].w_q[1].tolist(), changed.layers[0].allowed.kind
([4.605, 1.833, 6.628, 9.0], 'causal')
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..path.allowed import Allowed, causal, everything, window
from ..tokens import as_tokens, position, token_index, unknown_name
from .example import Block, Example

__all__ = ["CHANGES", "edited"]

MATRICES = ("w_q", "w_k", "w_v", "w_o")
CHANGES = ("x", *MATRICES, "mask", "temperature", "scale", "layer")


def edited(example: Example, changes: Mapping[str, Any]) -> Example:
    """The example with some of it changed.

    changes : "x": token → dimension → number;  "w_q" (w_k, w_v, w_o): row → column → number, each by name or by number from 1;
        "mask": "none", "causal" or {"window": 2};  "temperature", "scale": a number;  "layer": the layer that is meant, from 0

    Errors: ``UnknownName`` or ``InputError`` for a place that is not there, or what is no number.
    """
    for name in changes:
        if name not in CHANGES:
            raise unknown_name("change", "바꿀 것", name, CHANGES)
    at = position("layer", "층", _whole(changes.get("layer", 0)), len(example.layers))
    block = example.layers[at]
    x = example.x if "x" not in changes else _x(example, changes["x"])
    for name in MATRICES:
        if name in changes:
            block = dataclasses.replace(block, **{name: _matrix(example, block, name, changes[name])})
    for name in ("temperature", "scale"):
        if name in changes:
            value: Any = _number(changes[name])
            block = dataclasses.replace(block, **{name: value})
    if "mask" in changes:
        block = dataclasses.replace(block, allowed=_mask(changes["mask"]))
    layers = tuple(block if here == at else other for here, other in enumerate(example.layers))
    return dataclasses.replace(example, x=x, layers=layers)


def _x(example: Example, cells: Any) -> Any:
    x = np.array(example.x)
    tokens = as_tokens(example.tokens)
    for token, row in _pairs(cells):
        for column, value in _pairs(row):
            x[token_index(tokens, token), _dimension(example.dimensions or (), column, x.shape[1])] = _number(value)
    return x


def _matrix(example: Example, block: Block, name: str, cells: Any) -> Any:
    kept = getattr(block, name)
    if kept is None:
        raise InputError(en=f"this example has no {name}.", ko=f"이 예제에는 {name}이(가) 없습니다.")
    matrix = np.array(kept)
    named = example.dimensions or ()
    for row, columns in _pairs(cells):
        for column, value in _pairs(columns):
            place = _dimension(named, row, matrix.shape[0]), _dimension(named, column, matrix.shape[1])
            matrix[place] = _number(value)
    return matrix


def _pairs(cells: Any) -> Any:
    if not isinstance(cells, Mapping):
        raise InputError(
            en=f"a change names a row, a column and a number: {{Action: {{Method: 9}}}}; got {cells!r}.",
            ko=f"행, 열, 숫자를 이렇게 씁니다: {{Action: {{Method: 9}}}}. {cells!r}이(가) 왔습니다.",
        )
    return cells.items()


def _dimension(named: Sequence[str], name: Any, n: int) -> int:
    """A dimension by name, where the names fit the width, or by number from 1."""
    if len(named) == n and str(name) in named:
        return list(named).index(str(name))
    text = str(name)
    if text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= n:
        return int(text) - 1
    raise unknown_name("dimension", "차원", text, [*(named if len(named) == n else ()), *map(str, range(1, n + 1))])


def _number(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number) or isinstance(value, bool):
        raise InputError(en=f"a number is needed, got {value!r}.", ko=f"숫자가 필요한데 {value!r}이(가) 왔습니다.")
    return number


def _whole(value: Any) -> Any:
    """A whole number that somebody typed, as a number; anything else as it is."""
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10 else value


def _mask(said: Any) -> Allowed:
    if isinstance(said, Mapping) and list(said) == ["window"]:
        return window(position("window", "window", _whole(said["window"]), 10**6))
    named = {"none": everything, "causal": causal}
    if said not in ("none", "causal"):
        raise unknown_name("mask", "마스크", said, [*named, "{window: 2}"])
    return named[said]()
