"""Matrix products that are always finite, or refused."""

from __future__ import annotations

import math
from typing import Any

from ..errors import OverflowRefused
from .axes import Array
from .library import array_namespace

__all__ = ["added", "ceiling", "fit", "fits", "known", "largest", "matmul", "refuse_beyond"]


def ceiling(array: Array) -> float:
    """The largest size that a number of this array's type may have here.

    An eighth of what the type holds, so that the sum of two such numbers, and the difference of two
    such sums, are finite.
    """
    xp = array_namespace(array)
    return float(xp.finfo(array.dtype).max) / 8


def known(value: Array) -> float | None:
    """One number as a Python float, or None where it is not known yet (inside ``jax.jit``)."""
    try:
        return float(value.detach() if hasattr(value, "detach") else value)
    except TypeError:
        return None


def largest(array: Array) -> float | None:
    """The largest absolute value, without a copy of the array; 0 where it is empty."""
    xp = array_namespace(array)
    if math.prod(array.shape) == 0:
        return 0.0
    low, high = known(xp.min(array)), known(xp.max(array))
    return None if low is None or high is None else max(high, -low)


def fits(a: Array, b: Array) -> bool:
    """True where it is sure that ``a @ b`` stays under the ceiling."""
    return fit(largest(a), largest(b), a.shape[-1], a)


def fit(size_a: float | None, size_b: float | None, width: int, a: Array) -> bool:
    """The same from the largest sizes of a and b (Hölder: no entry is larger than width · max|a| · max|b|)."""
    return size_a is None or size_b is None or size_a * size_b * width <= ceiling(a)


def matmul(a: Array, b: Array, what: str = "product", sure: bool = False) -> Array:
    """``a @ b``, always finite; refused, with the positions, where it cannot be.

    sure : True where somebody has seen that it fits

    Sizes near the type's limit are first divided by powers of two, which is exact, so that no
    partial sum overflows on the way to a result that fits.

    >>> import numpy as np
    >>> matmul(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]])).tolist()
    [[11.0]]

    Errors: ``OverflowRefused`` with the first row and column whose product is too large.
    """
    if sure or fits(a, b):
        return a @ b
    return _scaled_matmul(a, b, what)


def _scaled_matmul(a: Array, b: Array, what: str) -> Array:
    size_a, size_b = _power_of_two(largest(a)), _power_of_two(largest(b))
    small = (a / size_a) @ (b / size_b)
    limit = ceiling(a) / size_a / size_b
    refuse_beyond(limit, small, what, factor=size_a * size_b)
    low, high = sorted((size_a, size_b))
    return small * low * high


def added(y: Array, b: Array | None, what: str) -> Array:
    """``y + b`` for a bias b, always finite; y where there is none."""
    if b is None:
        return y
    refuse_beyond(ceiling(y), b[None, :], what)
    return y + b


def refuse_beyond(limit: float, values: Array, what: str, factor: float = 1.0) -> None:
    """Refuse, with its position, the first value whose size is above a limit.

    ``factor`` is what the values still have to be multiplied by; it only stands in the message.
    """
    size = largest(values)
    if size is None or size <= limit:
        return
    xp: Any = array_namespace(values)
    first = int(xp.argmax(xp.reshape(xp.astype(xp.abs(values) > limit, xp.int8), (-1,))))
    row, column = divmod(first % (values.shape[-2] * values.shape[-1]), values.shape[-1])
    most = f"{min(limit * factor, ceiling(values)):.3g}"
    dtype = _dtype_name(values)
    wider, wider_ko = (
        ("", "") if dtype == "float64" else (", or use a wider type (float64)", "거나 더 넓은 형(float64)을 쓰")
    )
    raise OverflowRefused(
        en=f"{what}: row {row}, column {column} is larger than {most}, the most that "
        f"{dtype} is trusted with here. Divide the numbers{wider}.",
        ko=f"{what}: {row}행 {column}열의 값이 {dtype}에서 다룰 수 있는 최댓값 {most}보다 "
        f"큽니다. 숫자를 줄이{wider_ko}십시오.",
        row=row,
        column=column,
    )


def _power_of_two(size: float | None) -> float:
    return 2.0 ** (math.frexp(size)[1] - 1) if size else 1.0


def _dtype_name(array: Array) -> str:
    return str(array.dtype).rpartition(".")[2]
