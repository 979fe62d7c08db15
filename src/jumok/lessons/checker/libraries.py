"""The array libraries in which a learner's function is called; PyTorch is loaded only where the learner uses it."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

__all__ = ["Library", "library"]


class Library(Protocol):
    """What the runner needs of an array library."""

    name: str

    def array(self, array: Any, dtype: str) -> Any:
        """A NumPy array as one of the library's."""

    def copied(self, value: Any) -> Any:
        """A copy, to see later whether the original was changed."""

    def same(self, before: Any, after: Any) -> bool:
        """Whether an argument is what it was."""

    def arrays(self, came: Any) -> list[Any]:
        """What a function returned, as a flat list of NumPy arrays."""

    def still(self) -> contextlib.AbstractContextManager[None]:
        """Without dropout, as far as the library's own is used."""

    def gradients(self, function: Any, arguments: Any, given: dict[str, Any], names: list[str]) -> str:
        """Say "flows", or what keeps the gradient from reaching one of the named arguments."""


class _NumPy:
    name = "numpy"

    def array(self, array: Any, dtype: str) -> Any:
        return np.array(array, dtype=dtype)

    def copied(self, value: Any) -> Any:
        return copy.deepcopy(value)

    def same(self, before: Any, after: Any) -> bool:
        if not isinstance(before, np.ndarray):
            return True
        return before.shape == after.shape and bool(np.array_equal(before, after, equal_nan=before.dtype.kind == "f"))

    def arrays(self, came: Any) -> list[Any]:
        return [np.asarray(one, dtype=_numbers(np.asarray(one))) for one in _flat(came)]

    def still(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def gradients(self, function: Any, arguments: Any, given: dict[str, Any], names: list[str]) -> str:
        raise NotImplementedError


class _Torch:
    name = "torch"

    def __init__(self) -> None:
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(0)
        self.torch = torch

    def array(self, array: Any, dtype: str) -> Any:
        return self.torch.tensor(np.ascontiguousarray(array), dtype=getattr(self.torch, dtype))

    def copied(self, value: Any) -> Any:
        return value.detach().clone() if isinstance(value, self.torch.Tensor) else value

    def same(self, before: Any, after: Any) -> bool:
        if not isinstance(before, self.torch.Tensor):
            return True
        return before.shape == after.shape and bool(np.array_equal(_seen(before), _seen(after), equal_nan=True))

    def arrays(self, came: Any) -> list[Any]:
        made = [_seen(one) if isinstance(one, self.torch.Tensor) else np.asarray(one) for one in _flat(came)]
        return [np.asarray(one, dtype=_numbers(one)) for one in made]

    @contextlib.contextmanager
    def still(self) -> Iterator[None]:
        top: Any = self.torch
        functional = top.nn.functional
        dropout = top.dropout
        kept = functional.dropout
        functional.dropout = lambda array, *_args, **_options: array
        top.dropout = lambda array, *_args, **_options: array
        try:
            yield
        finally:
            functional.dropout, top.dropout = kept, dropout

    def gradients(self, function: Any, arguments: Any, given: dict[str, Any], names: list[str]) -> str:
        for name in names:
            given[name].requires_grad_(True)
        args = [given[name] for name, _, by_keyword in arguments if not by_keyword]
        came = function(*args, **{name: given[name] for name, _, by_keyword in arguments if by_keyword})
        outputs = [one for one in _flat(came) if isinstance(one, self.torch.Tensor) and one.is_floating_point()]
        if not any(one.requires_grad for one in outputs):
            return "stops"
        total = sum((one * self.torch.rand_like(one)).sum() for one in outputs if one.requires_grad)
        total.backward()  # type: ignore[union-attr]
        without = [name for name in names if given[name].grad is None]
        return f"not to {', '.join(without)}" if without else "flows"


def library(name: str) -> Library:
    """The library of that name, "numpy" or "torch"."""
    return _Torch() if name == "torch" else _NumPy()


def _seen(tensor: Any) -> Any:
    plain = tensor.detach().cpu().resolve_conj()
    return (plain.float() if str(plain.dtype) == "torch.bfloat16" else plain).numpy()


def _numbers(array: Any) -> Any:
    if array.dtype.kind not in "fiub":
        raise TypeError(f"the function returned {array.dtype} where an array of numbers is needed")
    return array.dtype if array.dtype.kind == "f" else float


def _flat(came: Any) -> list[Any]:
    """The arrays in a tuple or dictionary, in order; a list of numbers is one array."""
    if isinstance(came, dict):
        return [one for value in came.values() for one in _flat(value)]
    if isinstance(came, tuple):
        return [one for value in came for one in _flat(value)]
    if isinstance(came, list) and any(hasattr(one, "ndim") and one.ndim > 1 for one in came):
        return [one for value in came for one in _flat(value)]
    if came is None:
        return []
    if isinstance(came, list) and came and not hasattr(came[0], "__len__"):
        return [np.asarray(came)]
    if isinstance(came, list) and came and hasattr(came[0], "detach"):
        return [np.stack([_seen(one) for one in came])]
    return [came]
