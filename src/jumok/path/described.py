"""Rules as plain data: every rule, bias and rotation is a small frozen record of scalars and arrays.

``described`` turns one into JSON and a dictionary of arrays, ``restored`` turns it back. Only the
kinds registered here can come out of a file, so that reading one runs no code.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from array_api_compat import device, is_array_api_obj, is_numpy_array, is_torch_array

from ..errors import InputError
from .axes import Array
from .library import array_namespace

__all__ = ["Described", "described", "kept", "like", "restored"]

_KINDS: dict[str, type[Described]] = {}


class Described:
    """A frozen record that can be described, restored and compared by its content."""

    kind: ClassVar[str]

    def __init_subclass__(cls, kind: str | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if kind is not None:
            cls.kind = kind
            _KINDS[kind] = cls

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return bool(_content(self) == _content(other))

    def __hash__(self) -> int:
        return hash(self.kind)


def _content(record: Any) -> Any:
    arrays: dict[str, Array] = {}
    plain = described(record, arrays)
    return plain, [(a.shape, str(a.dtype), as_lists(a)) for a in arrays.values()]


def as_lists(array: Array) -> Any:
    """An array of any library as nested Python lists."""
    if hasattr(array, "tolist"):
        return array.tolist()
    return [as_lists(row) for row in array] if array.ndim else array.item() if hasattr(array, "item") else float(array)


def described(value: Any, arrays: dict[str, Array]) -> Any:
    """A record as JSON; each array in it is put into ``arrays`` and named in its place."""
    if isinstance(value, Described):
        fields = {f.name: described(getattr(value, f.name), arrays) for f in dataclasses.fields(value)}  # type: ignore[arg-type]
        return {"kind": value.kind} | {name: part for name, part in fields.items() if part is not None}
    if isinstance(value, tuple):
        return [described(part, arrays) for part in value]
    if is_array_api_obj(value):
        name = f"part.{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    return value


def restored(plain: Any, arrays: dict[str, Array]) -> Any:
    """The record that ``described`` described; anything else is refused."""
    if isinstance(plain, list):
        return tuple(restored(part, arrays) for part in plain)
    if not isinstance(plain, dict):
        return plain
    if set(plain) == {"array"}:
        if plain["array"] not in arrays:
            raise InputError(
                en=f"a record names the array {plain['array']!r}, which is not there.",
                ko=f"기록이 가리키는 배열 {plain['array']!r}이(가) 없습니다.",
            )
        return arrays[plain["array"]]
    cls = _KINDS.get(str(plain.get("kind")))
    if cls is None:
        raise InputError(
            en=f"unknown kind of rule {plain.get('kind')!r}; known: {', '.join(sorted(_KINDS))}.",
            ko=f"알 수 없는 규칙 종류 {plain.get('kind')!r}입니다. 아는 종류: {', '.join(sorted(_KINDS))}.",
        )
    names = {f.name for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
    if unknown := set(plain) - names - {"kind"}:
        raise InputError(
            en=f"a rule {cls.kind!r} has no field {sorted(unknown)}; it has {sorted(names)}.",
            ko=f"규칙 {cls.kind!r}에는 {sorted(unknown)} 항목이 없습니다. 있는 항목: {sorted(names)}.",
        )
    return cls(**{name: restored(part, arrays) for name, part in plain.items() if name != "kind"})


def kept(value: Any, dtype: Any = None) -> Array:
    """An array as a record keeps it: NumPy ones and lists as a read-only copy, others as they are."""
    if is_array_api_obj(value) and not is_numpy_array(value):
        return value
    import numpy

    array = numpy.array(value, dtype=dtype)
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    array.setflags(write=False)
    return array


def like(array: Array, other: Array) -> Array:
    """An array in the library and on the device of another; the same object where it is there already."""
    xp = array_namespace(other)
    if is_array_api_obj(array) and array_namespace(array) is xp:
        return array.to(other.device) if is_torch_array(array) else array
    return xp.asarray(array.copy() if is_numpy_array(array) else array, device=device(other))
