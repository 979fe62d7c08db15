"""Calls → Traces: one sequence each, padding taken out, rules recognised."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import JumokError
from ...path import Rule
from ...path import allowed as rules
from ...tokens import Token
from ...trace import Floats, Source, Trace
from .calls import Call
from .found import LOW
from .rules import Recognised, recognise_allowed, recognise_bias

__all__ = ["InForce", "Made", "Refused", "sourced", "trace_of"]

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Refused:
    """A layer that could be watched and not be trusted."""

    module: str
    why_en: str
    why_ko: str


@dataclass(frozen=True, eq=False)
class InForce:
    """What the masks and biases of a call say of one sequence, recognised as rules over its real tokens.

    queries, keys : (query,), (key,) which of the call are real tokens
    """

    allowed: Recognised
    added: Recognised
    queries: Flags
    keys: Flags
    n_rows_without_keys: int = 0

    @cached_property
    def whole(self) -> bool:
        """True where nothing is padding."""
        return bool(self.queries.all() and self.keys.all())


@dataclass(frozen=True, eq=False)
class Made:
    """A Trace of one sequence, and what it has to be held against.

    output : (head, sampled query, d_value) what the program mixed, for the queries ``call.rows``
    off : the largest difference from it, once that is known
    """

    trace: Trace
    call: Call
    item: int
    force: InForce
    output: Floats
    off: float = math.nan


def trace_of(
    call: Call,
    item: int,
    tokens: Sequence[Token] | None,
    key_tokens: Sequence[Token] | None,
    real: tuple[Any, Any] | None,
    cache: dict[Any, Any],
) -> Made | Refused:
    """One sequence of a call as a Trace, whose source is not told yet.

    tokens, key_tokens : (query,), (key,) of the sequence, or None to count positions
    real : which queries and keys are no padding, where that is known
    cache : what masks were recognised already
    """
    q, k, v, output = (_numpy(_of(one, item)) for one in (call.q, call.k, call.v, call.output))
    n, m = q.shape[1], k.shape[1]
    k, v = _grouped(k, v)
    force = _in_force(call, item, real, cache)
    rows = tokens if tokens is not None else _counted(n)
    read = None if n == m and key_tokens is None else key_tokens if key_tokens is not None else _counted(m)
    if not force.whole:
        q, k, v = q[:, force.queries], k[:, force.keys], v[:, force.keys]
        rows, read = _kept(rows, force.queries), read and _kept(read, force.keys)
    try:
        trace = Trace(
            tokens=tuple(rows), q=_own(q), k=_own(k), v=_own(v),
            rule=Rule(
                scale=call.scale, allowed=force.allowed.rule, softcap=call.softcap, bias=force.added.rule,
                sink=None if call.sinks is None else _numpy(_of(call.sinks, item)),
            ),
            key_tokens=None if read is None else tuple(read),
        )  # fmt: skip
    except JumokError as error:
        return Refused(call.module, error.en, error.ko)
    return Made(trace, call, item, force, output)


def sourced(made: Made, source: dict[str, Any]) -> Trace:
    """The Trace, and where it came from, which is known only now; nobody has seen it yet."""
    call, force, group = made.call, made.force, made.trace.n_heads // made.trace.n_kv_heads
    details = source | {
        "largest_difference": made.off, "way": call.way, "module": call.module, "mask": force.allowed.kind,
        "bias": force.added.kind, "mask_bytes": force.allowed.held_bytes + force.added.held_bytes,
        "n_padding": int(len(force.queries) - force.queries.sum()), "n_rows_without_keys": force.n_rows_without_keys,
    }  # fmt: skip
    told = Source(
        kind="model", backend="torch", details=details, layer=source.get("layer_number"), name=source.get("model"),
        shared_heads=None if group == 1 else f"{group} query heads share each key and value head",
    )  # fmt: skip
    object.__setattr__(made.trace, "source", told)
    return made.trace


# masks and biases -------------------------------------------------------------------------------------


def _in_force(call: Call, item: int, real: Any, cache: dict[Any, Any]) -> InForce:
    """What masks and biases say, recognised once for all layers that are given the same ones."""
    told = None if real is None else tuple(np.asarray(one, dtype=bool).tobytes() for one in real)
    tables = [_of(table, item) for table in (*call.allowed, *call.added)]
    name = (
        call.q.shape[2], call.k.shape[2], call.causal, len(call.allowed), told,
        *((table.data_ptr(), tuple(table.shape), table.stride()) for table in tables),
    )  # fmt: skip
    if name not in cache:  # with the tables, so that no other comes to stand where they stood
        cache[name] = (_recognised(call, item, real), tables)
    found: InForce = cache[name][0]
    return found


def _recognised(call: Call, item: int, real: Any) -> InForce:
    n, m = call.q.shape[2], call.k.shape[2]
    table, bias = _tables(call, item)
    queries, keys = _real(table, n, m, real)
    if table is None and call.causal and not (queries.all() and keys.all()):
        table = np.tril(np.ones((n, m), dtype=bool))
    if table is None:
        plain = Recognised(rules.causal(), "causal") if call.causal else Recognised(rules.everything(), "everything")
        return InForce(plain, Recognised(None, "none"), queries, keys)
    cut = table[np.ix_(queries, keys)]
    offset = m - n if n != m else int(queries.argmax() - keys.argmax())
    added = Recognised(None, "none")
    if bias is not None:
        added = recognise_bias(bias[:, queries][:, :, keys], cut, max(0, offset))
    return InForce(recognise_allowed(cut), added, queries, keys, int((~cut.any(axis=1)).sum()))


def _tables(call: Call, item: int) -> tuple[Flags | None, Floats | None]:
    """(query, key) what may be read, and (head or 1, query, key) what is added where it may; None for nothing said."""
    n, m = call.q.shape[2], call.k.shape[2]
    if not call.allowed and not call.added:
        return None, None
    allowed: Flags = np.ones((1, n, m), dtype=bool)
    bias: Any = np.zeros((1, 1, 1), dtype=np.float32)
    for one in call.allowed:
        allowed = allowed & _numpy(_of(one, item))
    for one in call.added:
        part = _numpy(_of(one, item))
        allowed = allowed & (part > LOW)
        bias = bias + np.where(part > LOW, part, 0)
    if call.causal:
        allowed = allowed & np.tril(np.ones((n, m), dtype=bool))
    if len(allowed) > 1 and not np.array_equal(allowed, np.broadcast_to(allowed[:1], allowed.shape)):
        bias = np.where(allowed, bias, -1e20)  # a mask for each head: the rule has one for all
        allowed = np.asarray(allowed.any(axis=0, keepdims=True))
    return allowed[0], np.broadcast_to(bias, (len(bias), n, m)) if np.any(bias) else None


def _real(table: Any, n: int, m: int, real: Any) -> tuple[Flags, Flags]:
    """Which queries and keys are no padding: as told, else a key that nobody reads is."""
    if real is not None:
        told, read = (np.asarray(one, dtype=bool) for one in real)
        return told, read
    keys: Flags = np.ones(m, dtype=bool) if table is None else np.asarray(table.any(axis=0))
    return keys.copy() if n == m else np.ones(n, dtype=bool), keys


# numbers ------------------------------------------------------------------------------------------


def _grouped(k: Floats, v: Floats) -> tuple[Floats, Floats]:
    """One of each run of heads whose keys and values are the same: shared heads are kept once."""
    n_heads = max(len(k), len(v))
    k, v = (one if len(one) == n_heads else np.broadcast_to(one, (n_heads, *one.shape[1:])) for one in (k, v))
    if n_heads == 1 or not np.array_equal(k[0], k[1]):
        return k, v
    for group in (g for g in range(n_heads, 1, -1) if n_heads % g == 0):
        first = slice(None, None, group)
        if all(np.array_equal(one[first], one[at::group]) for one in (k, v) for at in range(1, group)):
            return k[first], v[first]
    return k, v


def _of(tensor: Any, item: int) -> Any:
    """What belongs to one sequence of the batch; or to all of them."""
    return tensor[min(item, len(tensor) - 1)]


@lru_cache(maxsize=8)
def _counted(n: int) -> tuple[Token, ...]:
    return tuple(Token(str(at)) for at in range(n))


def _kept(tokens: Sequence[Token], real: Flags) -> tuple[Token, ...]:
    return tuple(token for token, keep in zip(tokens, real, strict=True) if keep)


def _numpy(tensor: Any) -> Any:
    return (tensor.float() if "bfloat16" in str(tensor.dtype) else tensor).numpy(force=True)


def _own(array: Floats) -> Floats:
    made = np.ascontiguousarray(array)
    made.setflags(write=False)
    return made
