"""Arrays that count what is computed with them: NumPy behind the array API standard's names, and a tally.

>>> import numpy as np
>>> from .full import full
>>> tally = Tally()
>>> q, k, v = (tally.array(np.ones((1, 4, 2))) for _ in range(3))
>>> mixed = full(q, k, v)
>>> tally.multiply_adds, tally.exponentials  # 4 · 4 products of 2 numbers for the scores, as many for the values
(64, 16)
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["Tally"]

NOT_COUNTED = ("tensordot", "vecdot")  # no variant uses these products; better no count than a wrong one


class Tally:
    """A namespace of the array API standard that counts.

    multiply_adds : of matrix products: rows · columns · the width summed over, for each matrix
    exponentials : numbers of which exp was taken
    """

    def __init__(self) -> None:
        self.multiply_adds = self.exponentials = 0

    def array(self, array: Any) -> Counted:
        """The same numbers, as an array of this namespace."""
        return Counted(np.asarray(array), self)

    def __getattr__(self, name: str) -> Any:
        if name in NOT_COUNTED:
            raise AttributeError(f"{name} is not counted", name=name)
        found = getattr(np, name)
        if not callable(found) or isinstance(found, type) or name in ("finfo", "iinfo", "result_type", "isdtype"):
            return found
        return self.counted(name, found)

    def counted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of NumPy's that takes and gives arrays of this namespace, and is noted."""

        def call(*given: Any, **options: Any) -> Any:
            options.pop("device", None)  # NumPy has one
            plain = [_plain(one) for one in given]
            made = function(*plain, **{key: _plain(one) for key, one in options.items()})
            self._note(name, plain, made)
            return _wrapped(made, self)

        return call

    def _note(self, name: str, given: list[Any], made: Any) -> None:
        if name == "exp":
            self.exponentials += np.size(made)
        elif name == "matmul":
            self.multiply_adds += np.size(made) * np.shape(given[0])[-1]


class Counted:
    """An array of a ``Tally``; what is made of it is one too."""

    def __init__(self, plain: Any, tally: Tally) -> None:
        self.plain, self.tally = plain, tally

    def __array_namespace__(self, api_version: str | None = None) -> Tally:
        return self.tally

    shape = property(lambda self: self.plain.shape)
    ndim = property(lambda self: self.plain.ndim)
    dtype = property(lambda self: self.plain.dtype)
    size = property(lambda self: self.plain.size)
    device = property(lambda self: "cpu")  # noqa: ARG005 (a property takes its object)

    def __getitem__(self, at: Any) -> Any:
        at = tuple(map(_plain, at)) if isinstance(at, tuple) else _plain(at)
        return _wrapped(self.plain[at], self.tally)

    def __float__(self) -> float:
        return float(self.plain)

    def __int__(self) -> int:
        return int(self.plain)

    def __bool__(self) -> bool:
        return bool(self.plain)

    def __index__(self) -> int:
        return operator.index(self.plain)


def _operator(name: str) -> Callable[..., Any]:
    function, noted = getattr(np.ndarray, name), "matmul" if "matmul" in name else name

    def call(self: Counted, *others: Any) -> Any:
        return self.tally.counted(noted, function)(self, *others)

    return call


for _name in (
    *(f"__{side}{name}__" for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor")
      for side in ("", "r")),
    *(f"__{name}__" for name in ("matmul", "neg", "pos", "invert", "abs", "lt", "le", "gt", "ge", "eq", "ne")),
):  # fmt: skip
    setattr(Counted, _name, _operator(_name))


def _plain(value: Any) -> Any:
    if isinstance(value, Counted):
        return value.plain
    return [*map(_plain, value)] if isinstance(value, list) else value


def _wrapped(made: Any, tally: Tally) -> Any:
    if isinstance(made, np.ndarray | np.generic):
        return Counted(np.asarray(made), tally)
    return type(made)(_wrapped(one, tally) for one in made) if isinstance(made, list) else made
