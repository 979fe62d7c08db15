"""The door of the record: arrays made read-only and finite, axes that agree, scores that fit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .errors import InputError, OverflowRefused, ShapeError
from .path.products import ceiling, largest

if TYPE_CHECKING:
    from .path import Rule, Steps
    from .tokens import Token
    from .trace import Heads, Trace

__all__ = ["Floats", "check_axes", "check_numbers", "frozen", "in_numpy", "measured", "tiles"]

Floats = npt.NDArray[np.floating[Any]]

TILE_BYTES = 2 * 2**20  # tables are made in tiles of queries of about this size: they stay in the processor's cache

AXES = {
    "x": "(token, d_model)",
    "q": "(head, query, d_head)",
    "k": "(kv_head, key, d_head)",
    "v": "(kv_head, key, d_value)",
    "w_q": "(d_model, heads · d_head)",
    "w_k": "(d_model, kv_heads · d_head)",
    "w_v": "(d_model, kv_heads · d_value)",
    "w_o": "(heads · d_value, d_out)",
}


def frozen(name: str, value: Any, *, ndim: int, tokens: Sequence[Token] = ()) -> Floats:
    """A read-only NumPy array of finite floats; a copy, unless nobody can change what was given.

    Errors: ``ShapeError`` for the number of axes, ``InputError`` for what is not finite numbers.
    """
    return measured(name, value, ndim=ndim, tokens=tokens)[0]


def measured(name: str, value: Any, *, ndim: int, tokens: Sequence[Token] = ()) -> tuple[Floats, float]:
    """As ``frozen``, and the largest absolute value."""
    array = in_numpy(name, value)
    if array.dtype.kind in "iub":
        array = array.astype(np.float64)
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        raise InputError(
            en=f"{name} expects real numbers (float16, float32 or float64), got {array.dtype}.",
            ko=f"{name}에는 실수(float16, float32, float64)가 필요한데 {array.dtype}이(가) 왔습니다.",
        )
    if array.ndim != ndim:
        read_as = f"; it is read as {AXES[name]}" if name in AXES else ""
        read_as_ko = f". {AXES[name]}(으)로 읽습니다" if name in AXES else ""
        raise ShapeError(
            en=f"{name} expects {ndim} axes, got {array.ndim}: shape {array.shape}{read_as}.",
            ko=f"{name}에는 축 {ndim}개가 필요한데 {array.ndim}개입니다: 모양 {array.shape}{read_as_ko}.",
        )
    if array.size == 0:
        raise ShapeError(
            en=f"{name} is empty: shape {array.shape}. There must be at least one token and one dimension.",
            ko=f"{name}이(가) 비어 있습니다: 모양 {array.shape}. 토큰과 차원이 적어도 하나씩 있어야 합니다.",
        )
    size = max(float(array.max()), -float(array.min()))  # of an array with a NaN both are NaN
    if not math.isfinite(size):
        _refuse_not_finite(name, array, tokens)
    if _may_change(array) or not array.flags.c_contiguous or not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="), order="C")  # a copy
        array.setflags(write=False)
    return array, size


def in_numpy(name: str, value: Any) -> npt.NDArray[Any]:
    """An array of any library, or nested lists, in NumPy."""
    if hasattr(value, "detach"):  # PyTorch: without its gradient
        value = value.detach().cpu()
        value = value.float() if "bfloat16" in str(value.dtype) else value
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise InputError(
            en=f"{name} expects an array of numbers: {error}.",
            ko=f"{name}에는 숫자 배열이 필요합니다: {error}.",
        ) from error
    if isinstance(value, np.ndarray) and hasattr(value, "mask"):
        raise InputError(
            en=f"{name} is a masked array; what is masked would be read as if it were not. Try {name}.filled(0).",
            ko=f"{name}은(는) 가려진 값이 있는 배열(masked array)이라 가린 값까지 읽게 됩니다. 예: {name}.filled(0).",
        )
    is_bfloat16 = array.dtype.kind == "V" and array.dtype.name == "bfloat16"  # no kind of NumPy's own; names take time
    return array.astype(np.float32) if is_bfloat16 else array


def _may_change(array: Any) -> bool:
    """True where the array, or one that it is a view of, can be written to."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return True
        array = array.base
    return False


def _refuse_not_finite(name: str, array: Floats, tokens: Sequence[Token]) -> None:
    at = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
    row = at[-2] if array.ndim > 1 else at[-1]
    who = f" (token {tokens[row].text!r})" if row < len(tokens) else ""
    who_ko = f"(토큰 {tokens[row].text!r})" if row < len(tokens) else ""
    raise InputError(
        en=f"{name}{list(at)}{who} is {array[at]}. Every number must be finite: no NaN, no infinity.",
        ko=f"{name}{list(at)}{who_ko}의 값이 {array[at]}입니다. 모든 값은 유한해야 합니다(NaN, 무한대 불가).",
    )


# axes ---------------------------------------------------------------------------------------------


def check_axes(t: Trace) -> None:
    """Refuse, by name, the first axis that two parts of a record disagree about."""
    _agree("k", "d_head", t.k.shape[2], "q", t.q.shape[2], t.k.shape)
    _agree("v", "key", t.v.shape[1], "k", t.k.shape[1], t.v.shape)
    _agree("v", "kv_head", t.v.shape[0], "k", t.k.shape[0], t.v.shape)
    if t.q.shape[0] % t.k.shape[0]:
        raise ShapeError(
            en=f"{t.q.shape[0]} query heads cannot share {t.k.shape[0]} key/value heads evenly.",
            ko=f"쿼리 헤드 {t.q.shape[0]}개가 키/밸류 헤드 {t.k.shape[0]}개를 고르게 나누어 쓸 수 없습니다.",
        )
    _agree("tokens", "query", len(t.tokens), "q", t.q.shape[1], (len(t.tokens),))
    read = "tokens (there are no key_tokens)" if t.key_tokens is None else "key_tokens"
    _agree(read, "key", len(t.read_tokens), "k", t.k.shape[1], (len(t.read_tokens),))
    if t.x is not None:
        _agree("x", "token", t.x.shape[0], "q", t.q.shape[1], t.x.shape)
        if t.dimensions is not None:
            _agree("dimensions", "d_model", len(t.dimensions), "x", t.x.shape[1], (len(t.dimensions),))
    if t.heads is not None:
        _check_heads(t, t.heads)
    _check_rule(t.rule, t.n_heads, t.n_queries, t.n_keys)


def _check_heads(t: Trace, h: Heads) -> None:
    d_value = t.v.shape[2]
    wide = {"w_q": t.n_heads * t.d_head, "w_k": t.n_kv_heads * t.d_head, "w_v": t.n_kv_heads * d_value}
    for name, width in wide.items():
        w, b = getattr(h, name), getattr(h, f"b{name[1:]}")
        _agree(name, "columns", w.shape[1], name[2:], width, w.shape)
        if t.x is not None:
            _agree(name, "d_model", w.shape[0], "x", t.x.shape[1], w.shape)
        if b is not None:
            _agree(f"b{name[1:]}", "columns", b.shape[0], name, w.shape[1], b.shape)
    if h.w_o is not None:
        _agree("w_o", "rows", h.w_o.shape[0], "the joined heads", t.n_heads * d_value, h.w_o.shape)
    if h.b_o is not None:
        width = t.n_heads * d_value if h.w_o is None else h.w_o.shape[1]
        _agree("b_o", "columns", h.b_o.shape[0], "the output", width, h.b_o.shape)


def _check_rule(rule: Rule, n_heads: int, n_queries: int, n_keys: int) -> None:
    rule.fits(n_heads, n_queries, n_keys)
    first = np.arange(1)
    shape = rule.allowed.block(first, first).shape
    if len(shape) != 2:
        raise ShapeError(
            en=f"the rule has leading axes {tuple(shape[:-2])}, but a record has no batch. Make one Trace a sequence.",
            ko=f"규칙에 앞쪽 축 {tuple(shape[:-2])}이(가) 있지만 기록에는 배치가 없습니다. 문장마다 Trace를 만드십시오.",
        )


def _agree(name: str, axis: str, got: int, other: str, expected: int, shape: tuple[int, ...]) -> None:
    if got == expected:
        return
    read_as = f", read as {AXES[name]}" if name in AXES else ""
    read_as_ko = f", {AXES[name]}(으)로 읽습니다" if name in AXES else ""
    raise ShapeError(
        en=f"{name} has {axis}={got}, but {other} has {axis}={expected}. {name} is {shape}{read_as}.",
        ko=f"{name}은(는) {axis}={got}인데 {other}은(는) {axis}={expected}입니다. {name}의 모양은 {shape}{read_as_ko}.",
    )


# sizes --------------------------------------------------------------------------------------------


def check_numbers(t: Trace, sizes: Mapping[str, float]) -> bool:
    """Refuse, with the tokens' names, what would not be finite at some stage, whoever asks later.

    sizes : the largest absolute value of q, k and v
    True where numbers are so small that nobody has to look again; else some stages take care as they go.
    """
    steps = t.steps
    sure = _check_scores(t, steps, sizes["q"] * sizes["k"] * t.d_head)
    _check_values(t, steps, sizes["v"])
    return sure


def _check_scores(t: Trace, steps: Steps, most: float) -> bool:
    growth = t.rule.scale_for(t.d_head) / min(1.0, t.rule.softcap or 1.0)
    if most * max(1.0, growth) <= ceiling(steps.q):  # a bias is small enough by itself
        return True
    for head in range(t.n_heads):
        for rows in tiles(t.n_queries, t.n_keys * steps.q.dtype.itemsize):
            try:
                steps.part([head], rows).scaled  # noqa: B018 (it refuses)
            except OverflowRefused as error:
                _refuse_score(t, head, rows[error.row % len(rows)], error.column, error)
    return False


def _refuse_score(t: Trace, head: int, query: int, key: int, error: OverflowRefused) -> None:
    asks, read, dtype = t.tokens[query].text, t.read_tokens[key].text, t.steps.q.dtype
    raise OverflowRefused(
        en=f"the score of {asks!r} (query {query}) and {read!r} (key {key}) in head {head} does not fit {dtype}: {error.en}",
        ko=f"헤드 {head}에서 {asks!r}(쿼리 {query})와 {read!r}(키 {key})의 점수가 {dtype}에 들어가지 않습니다: {error.ko}",
        row=query,
        column=key,
    ) from None


def _check_values(t: Trace, steps: Steps, size: float) -> None:
    """No mixed value is larger than the largest value; the output is at most that through w_o."""
    most = ceiling(steps.v) / 2
    if steps.w_o is not None:
        most /= max(1.0, (largest(steps.w_o) or 0.0) * steps.w_o.shape[0])
    if size <= most:
        return
    _, key, column = np.unravel_index(int(np.abs(steps.v).argmax()), steps.v.shape)
    who = t.read_tokens[key].text
    raise OverflowRefused(
        en=f"the value of {who!r} (key {key}) reaches {size:.3g}; the output would not surely fit {steps.v.dtype} "
        f"beyond {most:.3g}. Divide the numbers, or use a wider type (float64).",
        ko=f"{who!r}(키 {key})의 밸류가 {size:.3g}에 이릅니다. {most:.3g}보다 크면 출력이 {steps.v.dtype}에 들어간다고 "
        f"장담할 수 없습니다. 숫자를 줄이거나 더 넓은 형(float64)을 쓰십시오.",
        row=int(key),
        column=int(column),
    )


def tiles(n_queries: int, row_bytes: int) -> list[range]:
    """The queries in order, so many at a time that their part of a table is small."""
    step = max(1, TILE_BYTES // max(1, row_bytes))
    return [range(start, min(start + step, n_queries)) for start in range(0, n_queries, step)]
