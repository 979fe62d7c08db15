"""Your own arrays → Trace."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import InputError, OverflowRefused, ShapeError
from ..path import Rule
from ..path.positions import Rotary
from ..path.qkv import projected, split
from ..trace import Heads, Source, Token, Trace, as_tokens, frozen

__all__ = ["from_qkv", "from_x"]


def from_x(
    x: Any,
    w_q: Any,
    w_k: Any,
    w_v: Any,
    w_o: Any = None,
    *,
    b_q: Any = None,
    b_k: Any = None,
    b_v: Any = None,
    b_o: Any = None,
    tokens: Iterable[str | Token] | None = None,
    n_heads: int = 1,
    n_kv_heads: int | None = None,
    rule: Any = None,
    rotation: Rotary | None = None,
    dimensions: Sequence[str] | None = None,
    source: Source | None = None,
) -> Trace:
    """A Trace from embeddings and projections.

    x : (token, d_model);  w_q : (d_model, n_heads · d_head);  w_k : (d_model, n_kv_heads · d_head)
    w_v : (d_model, n_kv_heads · d_value);  w_o : (n_heads · d_value, d_out) or None;  b_* : biases or None
    """
    names = None if tokens is None else as_tokens(tokens)
    x = frozen("x", x, ndim=2, tokens=names or ())
    names = names or _numbered(x.shape[0])
    heads = Heads(w_q, w_k, w_v, w_o, b_q, b_k, b_v, b_o, rotation)
    n_heads = _count(n_heads)
    n_kv_heads = n_heads if n_kv_heads is None else _count(n_kv_heads)
    q, k, v = (
        _part_of_x(name, x, heads, n, names) for name, n in (("q", n_heads), ("k", n_kv_heads), ("v", n_kv_heads))
    )
    if rotation is not None:
        q, k = rotation.turned(q), rotation.turned(k)
    return Trace(
        tokens=names,
        q=q,
        k=k,
        v=v,
        rule=Rule.of(rule),
        x=x,
        heads=heads,
        dimensions=dimensions,  # type: ignore[arg-type]  # the Trace makes them a tuple
        source=source or Source(kind="arrays", shared_heads=_shared(n_heads, n_kv_heads)),
    )


def _part_of_x(name: str, x: Any, heads: Heads, n: int, names: Sequence[Token]) -> Any:
    """q, k or v, (n, token, d), read-only so that the record need not copy it; half precision in float32."""
    w, b = getattr(heads, f"w_{name}"), getattr(heads, f"b_{name}")
    _check_projection(f"w_{name}", w, x, b, n)
    try:
        y = projected(x.astype(np.float32) if x.dtype == np.float16 else x, w, b)
    except OverflowRefused as error:
        who = names[error.row].text if error.row < len(names) else str(error.row)
        raise OverflowRefused(
            en=f"{name} of {who!r} (token {error.row}): {error.en}",
            ko=f"{who!r}(토큰 {error.row})의 {name}: {error.ko}",
            row=error.row,
            column=error.column,
        ) from None
    y.setflags(write=False)
    part = np.ascontiguousarray(split(y, n))  # with one head y itself, seen with other axes
    part.setflags(write=False)
    return part


def from_qkv(
    q: Any,
    k: Any,
    v: Any,
    *,
    tokens: Iterable[str | Token] | None = None,
    key_tokens: Iterable[str | Token] | None = None,
    rule: Any = None,
    source: Source | None = None,
) -> Trace:
    """A Trace from q (head, query, d_head), k (kv_head, key, d_head) and v (kv_head, key, d_value)."""
    names = None if tokens is None else as_tokens(tokens)
    read = names if key_tokens is None else as_tokens(key_tokens)
    q, k, v = (
        frozen(name, a, ndim=3, tokens=who or ()) for name, a, who in (("q", q, names), ("k", k, read), ("v", v, read))
    )
    names = names or _numbered(q.shape[1])
    if key_tokens is None and k.shape[1] != q.shape[1]:
        read = _numbered(k.shape[1]) if tokens is None else None
    return Trace(
        tokens=names,
        key_tokens=None if read is None or read is names else read,
        q=q,
        k=k,
        v=v,
        rule=Rule.of(rule),
        source=source or Source(kind="arrays", shared_heads=_shared(q.shape[0], k.shape[0])),
    )


def _numbered(n: int) -> tuple[Token, ...]:
    return tuple(Token(str(i)) for i in range(n))


def _count(n: Any) -> int:
    try:
        count = 0 if isinstance(n, bool) else operator.index(n)
    except TypeError:
        count = 0
    if count < 1:
        raise InputError(
            en=f"the number of heads expects a whole number, 1 or more, got {n!r}.",
            ko=f"헤드 수에는 1 이상의 정수가 필요한데 {n!r}이(가) 왔습니다.",
        )
    return count


def _shared(n_heads: int, n_kv_heads: int) -> str | None:
    if n_heads == n_kv_heads:
        return None
    return f"{n_heads} query heads share {n_kv_heads} key/value heads, neighbours together"


def _check_projection(name: str, w: Any, x: Any, b: Any, n: int) -> None:
    if w.shape[0] != x.shape[1]:
        raise ShapeError(
            en=f"{name} has {w.shape[0]} rows, but x has d_model={x.shape[1]}. "
            f"{name} is {w.shape}, read as (d_model, heads · d).",
            ko=f"{name}은(는) {w.shape[0]}행인데 x는 d_model={x.shape[1]}입니다. "
            f"{name}의 모양 {w.shape}은(는) (d_model, 헤드 · d)로 읽습니다.",
        )
    if w.shape[1] % n:
        raise ShapeError(
            en=f"{name} has {w.shape[1]} columns, which {n} heads cannot share evenly.",
            ko=f"{name}의 열 {w.shape[1]}개를 헤드 {n}개가 고르게 나눌 수 없습니다.",
        )
    if b is not None and b.shape[0] != w.shape[1]:
        raise ShapeError(
            en=f"b{name[1:]} has {b.shape[0]} numbers, but {name} has {w.shape[1]} columns.",
            ko=f"b{name[1:]}은(는) 값이 {b.shape[0]}개인데 {name}은(는) {w.shape[1]}열입니다.",
        )
