"""Calls → Traces: one sequence each, padding taken out, rules recognised, and held against what the program mixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import JumokError
from ...path import Rule
from ...path import allowed as rules
from ...tokens import Token
from ...trace import Floats, Source, Trace
from .calls import Call
from .rules import Recognised, recognise_allowed, recognise_bias

__all__ = ["LOW", "Made", "Refused", "trace_of"]

LOW = -1e4  # an added number at or below this masks
TOLERANCE = {"float16": 4e-3, "bfloat16": 4e-2}  # of the largest value
TOLERANCE_ELSE = 2e-5  # float64 too: many programs do their softmax in float32 whatever they are given


@dataclass(frozen=True)
class Refused:
    """A layer that could be watched and not be trusted."""

    module: str
    why_en: str
    why_ko: str


@dataclass
class Made:
    """A Trace of one sequence, and how near its mixed values are to the program's.

    keys : (key,) which keys of the call are real tokens;  off : the largest difference, over the rows compared
    """

    trace: Trace
    queries: npt.NDArray[np.bool_]
    keys: npt.NDArray[np.bool_]
    off: float
    cache: dict[Any, Any] = field(default_factory=dict)


def trace_of(
    call: Call,
    item: int,
    tokens: Sequence[Token] | None,
    key_tokens: Sequence[Token] | None,
    real: tuple[Any, Any] | None,
    source: dict[str, Any],
    cache: dict[Any, Any],
) -> Made | Refused:
    """One sequence of a call as a Trace.

    tokens, key_tokens : (query,), (key,) of the sequence, or None to count positions
    real : which queries and keys are no padding, where that is known
    cache : what masks were recognised already
    """
    q, k, v, output = (_numpy(one[min(item, len(one) - 1)]) for one in (call.q, call.k, call.v, call.output))
    n, m = q.shape[1], k.shape[1]
    table, bias = _tables(call, item)
    queries, keys = _real(table, n, m, real)
    k, v = _grouped(k, v)
    name = (
        "rule",
        *(id(one) for one in (*call.allowed, *call.added)),
        item if _by_item(call) else 0,
        n,
        m,
        call.causal,
    )
    if name not in cache:
        cut = None if table is None else table[np.ix_(queries, keys)]
        shift = (
            int(np.flatnonzero(queries)[0] - np.flatnonzero(keys)[0])
            if n == m and queries.any() and keys.any()
            else m - n
        )
        cache[name] = (
            recognise_allowed(cut),
            Recognised(None, "none")
            if bias is None
            else recognise_bias(bias[:, queries][:, :, keys], cut, max(0, shift)),
        )
    allowed, added = cache[name]
    in_force = rules.causal() if call.causal and table is None else allowed.rule
    sinks = None if call.sinks is None else _numpy(call.sinks[min(item, len(call.sinks) - 1)])
    row_tokens = tokens if tokens is not None else [Token(str(i)) for i in range(n)]
    read = key_tokens if key_tokens is not None else row_tokens if n == m else [Token(str(i)) for i in range(m)]
    told = source | {
        "way": call.way, "module": call.module, "mask": "causal" if call.causal and table is None else allowed.kind,
        "bias": added.kind, "mask_bytes": allowed.held_bytes + added.held_bytes,
        "n_padding": int(n - queries.sum()),
    }  # fmt: skip
    try:
        trace = Trace(
            tokens=tuple(t for t, keep in zip(row_tokens, queries, strict=True) if keep),
            q=_own(q[:, queries]), k=_own(k[:, keys]), v=_own(v[:, keys]),
            rule=Rule(scale=call.scale, allowed=in_force, softcap=call.softcap, bias=added.rule, sink=sinks),
            key_tokens=None if n == m and key_tokens is None else tuple(t for t, keep in zip(read, keys, strict=True) if keep),
            source=Source(
                kind="model", backend="torch", shared_heads=_shared(q, k), details=told,
                layer=source.get("layer_number"), name=source.get("model"),
            ),
        )  # fmt: skip
    except JumokError as error:
        return Refused(call.module, error.en, error.ko)
    off, size = _off(trace, call.rows, output, queries)
    dtype = str(call.q.dtype).removeprefix("torch.")
    if not off <= TOLERANCE.get(dtype, TOLERANCE_ELSE) * max(size, 1e-30):
        return Refused(
            call.module,
            f"what was read gives other mixed values than the program's: off by {off:.3g} (values up to {size:.3g}, "
            f"{dtype}){'; dropout is active, try model.eval()' if call.training else ''}.",
            f"읽은 값으로 다시 계산한 출력이 프로그램의 출력과 {off:.3g}만큼 다릅니다(값은 {size:.3g}까지, {dtype})"
            f"{'. 드롭아웃이 켜져 있습니다. model.eval()을 호출하십시오' if call.training else ''}.",
        )
    return Made(trace, queries, keys, off)


def _tables(call: Call, item: int) -> tuple[npt.NDArray[np.bool_] | None, Floats | None]:
    """(query, key) what may be read, and (head or 1, query, key) what is added where it may; None for nothing said."""
    n, m = call.q.shape[2], call.k.shape[2]
    if not call.allowed and not call.added:
        return None, None
    allowed = np.ones((1, n, m), dtype=bool)
    bias: Any = np.zeros((1, 1, 1), dtype=np.float32)
    for one in call.allowed:
        allowed = allowed & _numpy(one[min(item, len(one) - 1)])
    for one in call.added:
        part = _numpy(one[min(item, len(one) - 1)])
        allowed = allowed & (part > LOW)
        bias = bias + np.where(part > LOW, part, 0)
    if call.causal:
        allowed = allowed & np.tril(np.ones((n, m), dtype=bool))
    if len(allowed) > 1 and not np.array_equal(allowed, np.broadcast_to(allowed[:1], allowed.shape)):
        bias = np.where(allowed, bias, -1e20)  # a mask for each head: the rule has one for all
        allowed = allowed.any(axis=0, keepdims=True)
    return allowed[0], np.broadcast_to(bias, (len(bias), n, m)) if np.any(bias) else None


def _by_item(call: Call) -> bool:
    return any(len(one) > 1 for one in (*call.allowed, *call.added))


def _real(table: Any, n: int, m: int, real: Any) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Which queries and keys are no padding: as told, else a key that nobody reads is."""
    if real is not None:
        return np.asarray(real[0], dtype=bool), np.asarray(real[1], dtype=bool)
    keys = np.ones(m, dtype=bool) if table is None else table.any(axis=0)
    queries = keys if n == m else np.ones(n, dtype=bool)
    return queries.copy(), keys


def _grouped(k: Floats, v: Floats) -> tuple[Floats, Floats]:
    """One of each run of heads whose keys and values are the same: shared heads are kept once."""
    n_heads = max(len(k), len(v))
    k, v = (np.broadcast_to(one, (n_heads, *one.shape[1:])) for one in (k, v))
    for group in (g for g in range(n_heads, 1, -1) if n_heads % g == 0):
        first = slice(None, None, group)
        if all(np.array_equal(one[first], one[at::group]) for one in (k, v) for at in range(1, group)):
            return k[first], v[first]
    return k, v


def _shared(q: Floats, k: Floats) -> str | None:
    group = len(q) // len(k)
    return None if group == 1 else f"{group} query heads share each key and value head"


def _off(trace: Trace, rows: Sequence[int], output: Floats, queries: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """The largest |mixed − the program's| over the sampled rows that are real and may read something, and the size of values."""
    place = np.cumsum(queries) - 1
    some = [(at, int(place[row])) for at, row in enumerate(rows) if queries[row]]
    if not some:
        return 0.0, 1.0
    mine = [row for _, row in some]
    may = trace.rows("allowed", queries=mine).any(axis=-1)
    mixed = trace.rows("mixed", queries=mine)
    theirs = output[:, [at for at, _ in some]]
    off = np.abs(mixed - theirs)[:, may]
    return float(off.max(initial=0.0)), float(np.abs(trace.v).max())


def _numpy(tensor: Any) -> Any:
    tensor = tensor.detach().cpu()
    return (tensor.float() if "bfloat16" in str(tensor.dtype) else tensor).numpy()


def _own(array: Floats) -> Floats:
    made = np.ascontiguousarray(array)
    made.setflags(write=False)
    return made
