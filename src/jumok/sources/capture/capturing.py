"""``capture``: run a program and read its attention."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import torch

from ...tokens import Token
from ...trace import Reading, Source, Trace
from .calls import Call, Seen
from .found import Found
from .modules import Modules
from .traces import Made, Refused, trace_of
from .watch import Watch

__all__ = ["Captured"]


class Captured(Reading):
    """A Reading that is filled when its with-block ends.

    readings : (sequence or stack,) every Reading, where there are several: a batch, an encoder and a decoder, two calls
    refused : layers that were watched and not trusted, with the reason
    seen : what looks like attention and was not read
    """

    readings: tuple[Reading, ...]
    refused: tuple[Refused, ...]
    seen: tuple[Seen, ...]

    def __init__(self) -> None:
        put = object.__setattr__
        put(self, "layers", ())
        put(self, "source", Source(kind="model", backend="torch"))
        for name in ("readings", "refused", "seen"):
            put(self, name, ())

    def __enter__(self) -> Captured:
        put = object.__setattr__
        put(self, "_modules", Modules())
        put(self, "_watch", Watch(self._modules))
        put(self, "_fast", torch.backends.mha.get_fastpath_enabled())
        torch.backends.mha.set_fastpath_enabled(False)
        self._modules.__enter__()
        self._watch.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._watch.__exit__(*error)
        self._modules.__exit__(*error)
        torch.backends.mha.set_fastpath_enabled(self._fast)
        found, seen = self._watch.found, self._watch.seen
        for name in ("_modules", "_watch", "_fast"):
            object.__delattr__(self, name)
        if error[0] is None:
            self._fill(calls_of(found), tuple(seen))

    def _fill(self, calls: list[Call], seen: tuple[Seen, ...]) -> None:
        readings, refused = readings_of(calls)
        put = object.__setattr__
        put(self, "readings", tuple(readings))
        put(self, "refused", tuple(refused))
        put(self, "seen", seen)
        if readings:
            main = max(readings, key=len)
            put(self, "layers", main.layers)
            put(self, "source", main.source)


def calls_of(found: list[Found]) -> list[Call]:
    """Calls, with heads that were computed one by one side by side."""
    calls: list[Call] = []
    groups: dict[int, list[Call]] = {}
    for one in found:
        call = one.call()
        if one.group is None:
            calls.append(call)
        elif one.group in groups:
            groups[one.group].append(call)
        else:
            groups[one.group] = [call]
            calls.append(call)
    for group in groups.values():
        first = group[0]
        for name in ("q", "k", "v", "output"):
            setattr(first, name, torch.cat([getattr(call, name) for call in group], dim=1))
    return calls


def readings_of(calls: list[Call]) -> tuple[list[Reading], list[Refused]]:
    """A Reading for each stack of layers, pass and sequence."""
    cache: dict[Any, Any] = {}
    made: dict[Any, list[Trace]] = {}
    refused: list[Refused] = []
    for call in calls:
        for item in range(len(call.q)):
            name = (call.run, re.sub(r"\d+", "#", call.module), call.q.shape[2] == call.k.shape[2], item)
            one = trace_of(call, item, None, None, None, {}, cache)
            if isinstance(one, Refused):
                refused.append(one)
            else:
                made.setdefault(name, []).append(one.trace)
    return [Reading(tuple(traces), Source(kind="model", backend="torch")) for traces in made.values()], refused
