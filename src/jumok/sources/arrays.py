"""Your own arrays → Trace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import InputError, OverflowRefused, ShapeError
from ..path import Rule
from ..path.positions import Rotary
from ..path.qkv import projected, split
from ..trace import Heads, Source, Token, Trace, as_tokens, frozen, owned

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
    names = as_tokens(_numbered(len(x)) if tokens is None else tokens)
    x = frozen("x", x, ndim=2, tokens=names)
    heads = Heads(w_q, w_k, w_v, w_o, b_q, b_k, b_v, b_o, rotation)
    n_kv = n_heads if n_kv_heads is None else n_kv_heads
    parts = []
    for name, n in (("q", n_heads), ("k", n_kv), ("v", n_kv)):
        w, b = getattr(heads, f"w_{name}"), getattr(heads, f"b_{name}")
        _check_projection(f"w_{name}", w, x, b, n)
        try:
            parts.append(split(projected(x, w, b), n))
        except OverflowRefused as error:
            who = names[error.row].text if error.row < len(names) else str(error.row)
            raise OverflowRefused(
                en=f"{name} of {who!r} (token {error.row}): {error.en}",
                ko=f"{who!r}(토큰 {error.row})의 {name}: {error.ko}",
                row=error.row,
                column=error.column,
            ) from None
    q, k, v = parts
    if rotation is not None:
        q, k = rotation.turned(q), rotation.turned(k)
    return Trace(
        tokens=names,
        q=_kept(q),
        k=_kept(k),
        v=_kept(v),
        rule=Rule.of(rule),
        x=x,
        heads=heads,
        dimensions=None if dimensions is None else tuple(dimensions),
        source=source or Source(kind="arrays", shared_heads=_shared(n_heads, n_kv)),
    )


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
    q, k, v = (frozen(name, a, ndim=3) for name, a in (("q", q), ("k", k), ("v", v)))
    if tokens is None:
        tokens = _numbered(q.shape[1])
    if key_tokens is None and k.shape[1] != q.shape[1]:
        key_tokens = _numbered(k.shape[1])
    return Trace(
        tokens=as_tokens(tokens),
        key_tokens=None if key_tokens is None else as_tokens(key_tokens),
        q=q,
        k=k,
        v=v,
        rule=Rule.of(rule),
        source=source or Source(kind="arrays", shared_heads=_shared(q.shape[0], k.shape[0])),
    )


def _numbered(n: int) -> list[str]:
    return [str(i) for i in range(n)]


def _shared(n_heads: int, n_kv_heads: int) -> str | None:
    if n_heads == n_kv_heads:
        return None
    return f"{n_heads} query heads share {n_kv_heads} key/value heads, neighbours together"


def _kept(array: Any) -> Any:
    """A transposed view made contiguous without a second copy where it is one already."""
    import numpy as np

    if array.flags.c_contiguous:
        array.setflags(write=False)  # nobody outside holds it
        return array
    return owned(np.ascontiguousarray(array))


def _check_projection(name: str, w: Any, x: Any, b: Any, n: int) -> None:
    if w.shape[0] != x.shape[1]:
        raise ShapeError(
            en=f"{name} has {w.shape[0]} rows, but x has d_model={x.shape[1]}. "
            f"{name} is {w.shape}, read as (d_model, heads · d).",
            ko=f"{name}은(는) {w.shape[0]}행인데 x는 d_model={x.shape[1]}입니다. "
            f"{name}의 모양 {w.shape}은(는) (d_model, 헤드 · d)로 읽습니다.",
        )
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise InputError(
            en=f"the number of heads expects a whole number, 1 or more, got {n!r}.",
            ko=f"헤드 수에는 1 이상의 정수가 필요한데 {n!r}이(가) 왔습니다.",
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
