"""The numbers that the layers of a record go by: their own in the program, also where only some of them were kept.

``reading[0]`` is the first layer that is there; ``layer=3``, ``--layer 3`` and ``L3H1`` mean the program's layer 3.
"""

from __future__ import annotations

import itertools
import operator
from typing import Any

from .errors import InputError
from .tokens import position
from .trace import Reading, Trace, layers_of

__all__ = ["layer_numbers", "layer_place"]

SHOWN = 8


def layer_numbers(record: Trace | Reading) -> tuple[int, ...]:
    """(layer,) the number of each layer: the one in its source where all have one and they increase, else its place.

    >>> import jumok
    >>> traces = [jumok.attend(q=[[[1.0]]], k=[[[1.0]]], v=[[[1.0]]], source=jumok.Source(layer=at)) for at in (3, 5)]
    >>> layer_numbers(Reading(traces)), layer_place(Reading(traces), 5)
    ((3, 5), 1)
    """
    layers = layers_of(record)
    told = [layer.source.layer for layer in layers]
    numbers = [number for number in told if number is not None]
    increasing = all(a < b for a, b in itertools.pairwise(numbers)) and min(numbers, default=0) >= 0
    if isinstance(record, Trace) or len(numbers) < len(layers) or not increasing:
        return tuple(range(len(layers)))
    return tuple(numbers)


def layer_place(record: Trace | Reading, layer: Any, name: str = "layer", name_ko: str | None = None) -> int:
    """The place in the record of the layer with this number.

    name, name_ko : what the number was asked for by, for the message

    Errors: ``InputError`` where the record has no layer of that number, with those that it has.
    """
    numbers = layer_numbers(record)
    try:
        at = -1 if isinstance(layer, bool) else operator.index(layer)
    except TypeError:
        at = -1
    if at in numbers:
        return numbers.index(at)
    if numbers == tuple(range(len(numbers))) and name == "layer":
        return position("layer", "층", layer, len(numbers))
    if numbers == tuple(range(len(numbers))):
        there, there_ko = f"0 to {len(numbers) - 1}", f"0부터 {len(numbers) - 1}까지"
    else:
        some = ", ".join(map(str, numbers[:SHOWN])) + (", …" if len(numbers) > SHOWN else "")
        there, there_ko = f"a layer that was kept ({some})", f"남긴 층({some})을"
    raise InputError(
        en=f"{name} expects {there}, got {layer!r}.",
        ko=f"{name_ko or name}에는 {there_ko} 쓸 수 있는데 {layer!r}이(가) 왔습니다.",
    )
