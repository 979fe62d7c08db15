"""Calls → Readings: the layers of each stack, call of a model and sequence, as Traces with their places in the program."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ...tokens import Token
from ...trace import Reading, Source, Trace
from .asked import Told
from .calls import Call
from .cut import Place
from .traces import Made, Refused, sourced, trace_of
from .verified import verified

__all__ = ["names_of", "read", "reading_of"]

_CROSS = re.compile(r"cross|encoder_attn|encdec|multihead_attn", re.IGNORECASE)
Placed = tuple[Trace, Place]


def read(calls: Sequence[tuple[int, Call]], told: Told) -> tuple[dict[Any, list[Placed]], list[Refused]]:
    """The Traces of each stack of layers, call of the model and sequence (the last of its key).

    calls : each with the number of its layer
    """
    cache: dict[Any, Any] = {}
    ready: list[tuple[Any, dict[str, Any], Made | Refused]] = []
    for layer, call in calls:
        crossed = call.q.shape[2] != call.k.shape[2] or (
            told.is_decoder(call.module) and bool(_CROSS.search(call.module))
        )
        stack = (call.run, re.sub(r"\d+", "#", call.module), crossed)
        for item in range(len(call.q)):
            source = {"layer_number": layer, "model": told.name, **_sentence(told, item)}
            ready.append(((*stack, item), source, _made(call, item, crossed, told, cache)))
    made: dict[Any, list[Placed]] = {}
    refused: list[Refused] = []
    for (key, source, _), one in zip(ready, verified([one for *_, one in ready]), strict=True):
        if isinstance(one, Refused):
            refused.append(one)
        else:
            made.setdefault(key, []).append((sourced(one, source), _place(one)))
    return made, refused


def _made(call: Call, item: int, crossed: bool, told: Told, cache: dict[Any, Any]) -> Made | Refused:
    n, m = call.q.shape[2], call.k.shape[2]
    tokens, real = told.of(call.module, n, item)
    key_tokens, key_real = told.of(call.module, m, item, read=True) if crossed else (None, real)
    if crossed and key_tokens is None:
        key_tokens = [Token(str(at)) for at in range(m)]
    mask = None if real is None and key_real is None else (real or [True] * n, key_real or [True] * m)
    return trace_of(call, item, tokens, key_tokens, mask, cache)


def _place(made: Made) -> Place:
    call, item = made.call, made.item
    heads = call.where[min(item, len(call.where) - 1)].numpy()
    n_calls = max(1, len(call.calls))
    return Place(call.calls, heads, call.where.numel() // n_calls, item, made.force.queries, made.force.keys)


def _sentence(told: Told, item: int) -> dict[str, str]:
    return {"sentence": told.sentences[item]} if item < len(told.sentences) else {}


def reading_of(made: Sequence[Placed], told: Told, item: int) -> Reading:
    """The layers of one stack and sequence."""
    traces = tuple(trace for trace, _ in made)
    module = str(traces[0].source.details.get("module", ""))
    details: dict[str, Any] = {"stack": re.sub(r"\d+", "#", module), "item": item}
    if told.decoder_at is not None:
        details["side"] = _side(traces[0], module, told)
    details["largest_difference"] = max(trace.source.details["largest_difference"] for trace in traces)
    details |= _sentence(told, item) | _focus(traces[0])
    source = Source(kind="model", backend="torch", name=told.name, special_tokens=told.special, details=details)
    return Reading(traces, source)


def _focus(trace: Trace) -> dict[str, int]:
    """The last token that stands for text, to look at first, where marks of the tokenizer follow it."""
    said = [at for at, token in enumerate(trace.tokens) if token.span is not None]
    return {"focus": said[-1]} if said and said[-1] < trace.n_queries - 1 else {}


def _side(trace: Trace, module: str, told: Told) -> str:
    """Which part of an encoder-decoder a layer is of."""
    if not told.is_decoder(module):
        return "encoder"
    return "decoder" if trace.key_tokens is None else "cross"


def names_of(readings: Sequence[Reading]) -> tuple[str, ...]:
    """What each reading is called: the side of the model that it is of where that tells them apart, else its number."""
    sides = [reading.source.details.get("side") for reading in readings]
    return tuple(side if side and sides.count(side) == 1 else str(at) for at, side in enumerate(sides))
