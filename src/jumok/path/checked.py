"""What a rule is made of, checked once, when the rule is made."""

from __future__ import annotations

import math
import operator
from typing import Any

from ..errors import InputError, ShapeError
from .axes import Array
from .described import kept
from .products import largest

__all__ = ["above_zero", "agree", "booleans", "count", "finite", "flag", "of_heads", "seen", "whole", "whole_numbers"]

FARTHEST = 2**30  # positions, and sums of two of them, then fit 32 bits
MOST = 1e25  # a bias, times as many tokens, then fits float32
SCALES = (1e-30, 1e30)


def whole(name: str, value: Any, most: int = FARTHEST) -> int:
    """A count of tokens, 0 or more."""
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1
    if not 0 <= number <= most:
        raise InputError(
            en=f"{name} expects a whole number of tokens from 0 to {most:,}, got {value!r}.",
            ko=f"{name}에는 0부터 {most:,}까지의 정수(토큰 수)가 필요한데 {value!r}이(가) 왔습니다.",
        )
    return number


def count(name: str, value: Any, least: int = 1) -> int:
    """A whole number that is at least so large.

    Errors: ``InputError`` for anything else.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < least:
        raise InputError(
            en=f"{name} expects a whole number, {least} or more, got {value!r}.",
            ko=f"{name}에는 {least} 이상의 정수가 필요한데 {value!r}이(가) 왔습니다.",
        )
    return int(value.__index__())


def above_zero(name: str, value: Any) -> float:
    """A number above 0, neither so small nor so large that float32 would lose it."""
    try:
        number = math.nan if isinstance(value, (bool, str, bytes)) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    least, most = SCALES
    if not least <= number <= most:
        raise InputError(
            en=f"{name} expects a number above 0 (from {least:g} to {most:g}), got {value!r}. "
            f"Leave it out for the usual one.",
            ko=f"{name}에는 0보다 큰 숫자({least:g}부터 {most:g}까지)가 필요한데 {value!r}이(가) 왔습니다. "
            f"생략하면 기본값을 씁니다.",
        )
    return number


def flag(name: str, value: Any) -> bool:
    """True or False, nothing that merely counts as one."""
    if not isinstance(value, bool):
        raise InputError(
            en=f"{name} expects True or False, got {value!r}.",
            ko=f"{name}에는 True나 False가 필요한데 {value!r}이(가) 왔습니다.",
        )
    return value


def booleans(name: str, value: Any) -> Array:
    """An array of True and False."""
    array = _array(name, value)
    if array.ndim < 1 or "bool" not in str(array.dtype):
        raise InputError(
            en=f"{name} expects True and False, got {seen(array)}. Libraries disagree about what 0 and 1 mean; "
            f"here True means: may be read.",
            ko=f"{name}에는 True와 False가 필요한데 {seen(array)}이(가) 왔습니다. 0과 1의 뜻은 라이브러리마다 "
            f"다르므로, True는 '볼 수 있음'을 뜻하는 것으로 정했습니다.",
        )
    return array


def whole_numbers(name: str, value: Any) -> Array:
    """An array of whole numbers, one a token."""
    array = _array(name, value)
    if array.ndim < 1 or "int" not in str(array.dtype):
        raise InputError(
            en=f"{name} expects one whole number a token, got {seen(array)}. Try [0, 0, 1].",
            ko=f"{name}에는 토큰마다 정수 하나가 필요한데 {seen(array)}이(가) 왔습니다. 예: [0, 0, 1].",
        )
    return array


def finite(name: str, value: Any, ndim: int) -> Array:
    """An array of finite numbers with so many axes; whole numbers become float64."""
    array = _array(name, value)
    if "int" in str(array.dtype):
        array = _array(name, value, float)
    numbers = array.ndim == ndim and "float" in str(array.dtype)
    size = largest(array) if numbers else None  # None also inside jax.jit, where nobody knows yet
    if not numbers or (size is not None and not size <= MOST):
        most = "" if size is None else f"; the largest is {size:g}"
        raise InputError(
            en=f"{name} expects an array with ndim={ndim} of finite numbers up to {MOST:g}, got {seen(array)}{most}.",
            ko=f"{name}에는 {MOST:g} 이하의 유한한 숫자로 된 ndim={ndim} 배열이 필요한데 {seen(array)}이(가) 왔습니다{most}.",
        )
    return array


def _array(name: str, value: Any, dtype: Any = None) -> Array:
    try:
        return kept(value, dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            en=f"{name} expects an array: {error}.",
            ko=f"{name}에는 배열이 필요합니다: {error}.",
        ) from error


def seen(array: Array) -> str:
    """What came, in a few words."""
    return f"{array.dtype} {tuple(array.shape)}"


def agree(name: str, axis: str, got: int, expected: int) -> None:
    """Refuse a rule that was made for another number of tokens."""
    if got != expected:
        raise ShapeError(
            en=f"{name} has {axis}={got}, but there are {expected} tokens on that axis.",
            ko=f"{name}은(는) {axis}={got}인데, 그 축의 토큰은 {expected}개입니다.",
        )


def of_heads(name: str, got: int, expected: int) -> None:
    """Refuse a rule that was made for another number of heads; one for all is fine."""
    if got not in (1, expected):
        raise ShapeError(
            en=f"{name} is for {got} heads, but there are {expected}.",
            ko=f"{name}은(는) 헤드 {got}개용인데 헤드는 {expected}개입니다.",
        )
