"""The axes written in the signatures of ``jumok.path``, checked against the real arrays of every call in the test run.

``switch_on()`` puts a check around each function, method and property there whose annotations are aliases
of ``jumok.path.axes``. In one call an axis name has one size; what the special names mean is said there.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import sys
import types
import typing
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import numpy as np

import jumok.path

__all__ = ["WrongAxes", "check", "checked", "switch_on"]


class WrongAxes(AssertionError):
    """An array does not have the axes that its annotation says."""


def axes_in(annotation: Any) -> str | None:
    """The axes of an alias, also of ``Alias | None``; None for any other annotation."""
    if typing.get_origin(annotation) is Annotated:
        said = annotation.__metadata__[0]
        return said if isinstance(said, str) else None
    found = [axes for part in typing.get_args(annotation) if (axes := axes_in(part)) is not None]
    return found[0] if found else None


def check(arrays: Iterator[tuple[str, Any, str]]) -> None:
    """Refuse the first of some (name, array, axes) whose shape does not fit the ones before it."""
    sizes: dict[str, tuple[int, str]] = {}
    leading: tuple[int, ...] = ()
    for name, array, axes in arrays:
        if array is None:
            continue
        shape, names = tuple(array.shape), axes.split()
        told = f"{name} is {shape}, read as ({axes})"
        if names[0] == "...":
            names = names[1:]
            lead, shape = shape[: max(0, len(shape) - len(names))], shape[max(0, len(shape) - len(names)) :]
            try:
                leading = np.broadcast_shapes(leading, lead)
            except ValueError:
                raise WrongAxes(f"{told}: leading axes {lead} do not go with {leading}") from None
        if len(shape) != len(names):
            raise WrongAxes(f"{told}: {len(names)} axes are written, {len(shape)} came")
        for axis, size in zip(names, shape, strict=True):
            known, where = sizes.setdefault(axis, (size, name))
            if axis != "*" and size != known:
                raise WrongAxes(f"{told}: {axis}={size}, but {where} has {axis}={known}")
        _check_heads({axis: size for axis, (size, _) in sizes.items()}, told)


def _check_heads(sizes: dict[str, int], told: str) -> None:
    head, kv_head, bias_head = sizes.get("head"), sizes.get("kv_head"), sizes.get("bias_head")
    if head and kv_head and head % kv_head:
        raise WrongAxes(f"{told}: kv_head={kv_head} does not divide head={head}")
    if head and bias_head not in (None, 1, head):
        raise WrongAxes(f"{told}: bias_head={bias_head} is neither 1 nor head={head}")


def checked(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """The function with its axes checked at each call; None where its annotations name no axes.

    A method's record is checked too, where its class annotates arrays (``Steps``), also when it is made.
    """
    hints = typing.get_type_hints(function, include_extras=True)
    axes = {name: said for name, hint in hints.items() if (said := axes_in(hint)) is not None}
    if not axes:
        return None
    signature, name = inspect.signature(function), function.__qualname__
    result = axes.pop("return", None)
    of_record = next(iter(signature.parameters), None) == "self" and function.__name__ != "__init__"
    look, fields_of = check, _fields

    def call(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        arrays = [(f"{name}({argument})", given.get(argument), said) for argument, said in axes.items()]
        if of_record:
            arrays = [*fields_of(given["self"]), *arrays]
        look(iter(arrays))
        made = function(*args, **kwargs)
        if result is not None:
            look(iter([*arrays, (f"the result of {name}", made, result)]))
        return made

    # with the globals of the function, so that doctest sees it as the module's own
    same = types.FunctionType(call.__code__, function.__globals__, function.__name__, None, call.__closure__)
    return functools.update_wrapper(same, function)


def _fields(record: Any) -> list[tuple[str, Any, str]]:
    hints = _class_axes(type(record))
    return [(f"{type(record).__name__}.{name}", getattr(record, name), said) for name, said in hints.items()]


@functools.cache
def _class_axes(kind: type) -> dict[str, str]:
    if kind is not jumok.path.Steps:
        return {}
    hints = typing.get_type_hints(kind, include_extras=True)
    return {name: said for name, hint in hints.items() if (said := axes_in(hint)) is not None}


@functools.cache
def switch_on() -> list[str]:
    """Check every call from now on; the names of what is checked."""
    modules = [jumok.path] + [
        importlib.import_module(f"jumok.path.{module.name}") for module in pkgutil.iter_modules(jumok.path.__path__)
    ]
    names = []
    for module in modules:
        for owner in [module, *_own(module, inspect.isclass)]:
            for function in list(_own(owner, inspect.isfunction, module)):
                if function.__name__ == "__init__" and owner is not jumok.path.Steps:
                    continue  # the door: what is given to a rule becomes an array inside
                if (wrapped := checked(function)) is not None:
                    _put(owner, function, wrapped)
                    names.append(f"{module.__name__}.{function.__qualname__}")
            for value in vars(owner).values():
                if isinstance(value, functools.cached_property) and (wrapped := checked(value.func)) is not None:
                    value.func = wrapped
                    names.append(f"{module.__name__}.{wrapped.__qualname__}")
    return names


def _own(owner: Any, kind: Callable[[Any], bool], module: Any = None) -> Iterator[Any]:
    home = (module or owner).__name__
    return (value for value in list(vars(owner).values()) if kind(value) and value.__module__ == home)


def _put(owner: Any, function: Any, wrapped: Any) -> None:
    """In its own place, and wherever it was imported to."""
    holders = [owner, *(m for name, m in list(sys.modules.items()) if name.partition(".")[0] == "jumok")]
    for holder in holders:
        for name, value in list(vars(holder).items()):
            if value is function:
                setattr(holder, name, wrapped)
