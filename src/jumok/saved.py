"""Traces and Readings as files: ``.safetensors`` to load again, ``.json`` to read elsewhere.

A ``.safetensors`` file holds the arrays (``layers.0.q`` …) and, in its metadata, ``format`` ("jumok"),
``version`` ("1") and ``record``: the tokens, rules and sources as JSON. Loading one runs no code.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .errors import InputError, JumokError, SavedFileError, damage_reason
from .files import refuse_nameless, write_whole
from .path.described import as_lists, described, restored
from .trace import STAGES, Reading, Source, Token, Trace, layers_of

if TYPE_CHECKING:
    from .history import History

__all__ = ["load", "opened", "parts", "save", "to_json", "unpacked", "write"]

_Record = TypeVar("_Record")

VERSION = 1
SMALL = 20_000  # a JSON file carries all stages where a layer's whole table has at most this many numbers


def save(record: Trace | Reading, path: str | os.PathLike[str]) -> Path:
    """Write a record whole or not at all; the suffix says how.

    Errors: ``InputError`` for another suffix, ``OutputError`` where the path cannot be written.
    """
    refuse_nameless(path)
    suffix = Path(path).suffix.lower()
    if suffix == ".safetensors":
        return write(path, *parts(record))
    if suffix == ".json":
        text = json.dumps(to_json(record), ensure_ascii=False, indent=1, allow_nan=False)
        return write_whole(path, lambda name: Path(name).write_text(text + "\n", encoding="utf-8"))
    raise InputError(
        en=f"a record is saved as .safetensors or .json, got {Path(path).name!r}.",
        ko=f"기록은 .safetensors나 .json으로 저장하는데 {Path(path).name!r}이(가) 왔습니다.",
    )


def write(path: str | os.PathLike[str], tensors: dict[str, Any], plain: dict[str, Any]) -> Path:
    """Arrays by name and plain JSON as one ``.safetensors``, whole or not at all."""
    metadata = {"format": "jumok", "version": str(VERSION), "record": json.dumps(plain, ensure_ascii=False)}
    tensors = {name: np.asarray(array, order="C") for name, array in tensors.items()}  # it writes memory as it lies
    return write_whole(path, lambda name: _write_safetensors(name, tensors, metadata))


def _write_safetensors(name: str, tensors: dict[str, Any], metadata: dict[str, str]) -> None:
    from safetensors import SafetensorError
    from safetensors.numpy import save as as_bytes
    from safetensors.numpy import save_file

    try:
        if Path(name).is_file():
            save_file(tensors, name, metadata=metadata)
            _put_in_order(name)
        else:  # a device or a pipe, which save_file would put a file in the place of
            Path(name).write_bytes(as_bytes(tensors, metadata=metadata))
    except SafetensorError as error:  # a full disk, or a record beyond what a header may hold
        code = re.search(r"os error (\d+)", str(error))
        raise (OSError(int(code[1]), str(error)) if code else OSError(str(error))) from error


def _put_in_order(name: str) -> None:
    """The metadata of a file sorted by name: the library writes it in any order, and equal records are to be equal files."""
    with open(name, "r+b") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        header = {"__metadata__": dict(sorted(header.pop("__metadata__").items())), **header}
        text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
        if len(text) <= size:  # as long as it was, but for another way of spelling a letter
            file.seek(8)
            file.write(text.ljust(size))


def to_json(record: Trace | Reading) -> dict[str, Any]:
    """A record as plain JSON: its arrays as lists, every digit, no NaN; small ones with all their stages."""
    tensors, plain = parts(record)
    layers = []
    for at, trace in enumerate(layers_of(record)):
        prefix = f"layers.{at}."
        arrays = {name[len(prefix) :]: a for name, a in tensors.items() if name.startswith(prefix)}
        entry = _inlined(plain["layers"][at], arrays)
        entry["tokens"] = plain["tokens"][entry["tokens"]]
        if "key_tokens" in entry:
            entry["key_tokens"] = plain["tokens"][entry["key_tokens"]]
        entry |= {name: arrays[name].tolist() for name in ("q", "k", "v", "x") if name in arrays}
        if trace.n_heads * trace.n_queries * trace.n_keys * trace.v.shape[2] <= SMALL:
            entry["stages"] = {stage: trace.rows(stage).tolist() for stage in STAGES}
        layers.append(entry)
    head = {"format": "jumok", "version": VERSION, "kind": plain["kind"]}
    return head | ({"source": plain["source"], "layers": layers} if plain["kind"] == "reading" else layers[0])


def _inlined(plain: Any, arrays: dict[str, Any]) -> Any:
    if isinstance(plain, dict):
        if set(plain) == {"array"}:
            return as_lists(arrays[plain["array"]])
        return {name: _inlined(part, arrays) for name, part in plain.items()}
    return [_inlined(part, arrays) for part in plain] if isinstance(plain, list) else plain


def parts(record: Trace | Reading) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays of a record by name (``layers.0.q`` …), and all that is no array as plain JSON."""
    tensors: dict[str, Any] = {}
    rows: list[Any] = []
    seen: dict[tuple[Token, ...], int] = {}

    def row_of(tokens: tuple[Token, ...]) -> int:
        if tokens not in seen:
            seen[tokens] = len(rows)
            rows.append([[token.text, *(token.span or ())] for token in tokens])
        return seen[tokens]

    layers = []
    for at, trace in enumerate(layers_of(record)):
        arrays: dict[str, Any] = {}
        entry: dict[str, Any] = {"tokens": row_of(trace.tokens), "rule": described(trace.rule, arrays)}
        if trace.key_tokens is not None:
            entry["key_tokens"] = row_of(trace.key_tokens)
        if trace.heads is not None:
            entry["heads"] = described(trace.heads, arrays)
        if trace.dimensions is not None:
            entry["dimensions"] = list(trace.dimensions)
        entry["source"] = trace.source.to_json()
        arrays |= {name: a for name in ("q", "k", "v", "x") if (a := getattr(trace, name)) is not None}
        tensors |= {f"layers.{at}.{name}": a for name, a in arrays.items()}
        layers.append(entry)
    kind = "reading" if isinstance(record, Reading) else "trace"
    plain = {"kind": kind, "tokens": rows, "layers": layers}
    return tensors, plain | ({"source": record.source.to_json()} if kind == "reading" else {})


def load(path: str | os.PathLike[str]) -> Trace | Reading | History:
    """A Trace, a Reading or a History that was saved.

    Errors: ``SavedFileError`` for a file that is missing, truncated, foreign, hostile or of a later version.
    """
    return opened(path, unpacked)


def opened(path: str | os.PathLike[str], made: Callable[[dict[str, Any], dict[str, Any]], _Record]) -> _Record:
    """What ``made`` makes of the arrays and the plain JSON of a saved file.

    Errors: as for ``load``.
    """
    from safetensors import SafetensorError

    name = os.fspath(path)
    if not Path(name).is_file():
        raise _wrong(name, "there is no such file", "그런 파일이 없습니다")
    try:
        metadata, tensors = _read(name)
    except (SafetensorError, OSError, TypeError, ValueError, AttributeError) as error:
        en, ko = damage_reason(error)
        raise _wrong(
            name,
            f"it is not a whole .safetensors file of numbers ({en}). Save or copy it again",
            f"온전한 .safetensors 숫자 파일이 아닙니다({ko}). 다시 저장하거나 복사하십시오",
        ) from None
    plain = _record(name, metadata)
    try:
        return made(tensors, plain)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        inner = error.text("ko") if isinstance(error, JumokError) else _told(error)
        raise _wrong(
            name,
            f"its record does not fit together ({_told(error)})",
            f"기록의 내용이 서로 맞지 않습니다({inner[:500]})",
        ) from None


def _read(name: str) -> tuple[dict[str, str], dict[str, Any]]:
    """The metadata and, where jumok wrote them, the arrays; of a foreign file only the metadata."""
    from safetensors import safe_open

    with safe_open(name, framework="numpy") as file:
        metadata = file.metadata() or {}
        ours = metadata.get("format") == "jumok" and metadata.get("version") == str(VERSION)
        return metadata, {key: _numbers(file, key) for key in file.keys()} if ours else {}  # noqa: SIM118 (not a dict)


def _numbers(file: Any, key: str) -> Any:
    array = file.get_tensor(key)
    if array.dtype.kind not in "biuf":  # bfloat16, which NumPy knows only where another package has told it
        raise InputError(en=f"{key} holds {array.dtype}", ko=f"{key}에 든 것이 {array.dtype}입니다")
    return array


def _record(name: str, metadata: dict[str, str]) -> dict[str, Any]:
    if metadata.get("format") != "jumok":
        raise _wrong(
            name,
            "it is a .safetensors file, but not one that jumok saved (a model's weights, perhaps)",
            ".safetensors 파일이지만 jumok이 저장한 것이 아닙니다(모델의 가중치 파일일 수 있습니다)",
        )
    if metadata.get("version") != str(VERSION):
        raise _wrong(
            name,
            f"it has format version {metadata.get('version')!r}, this jumok reads {VERSION}. Update jumok",
            f"형식 버전이 {metadata.get('version')!r}인데 이 jumok은 {VERSION}을 읽습니다. jumok을 업데이트하십시오",
        )
    try:
        plain = json.loads(metadata.get("record", ""), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        plain = None
    if not isinstance(plain, dict):
        raise _wrong(name, "its record is not valid JSON", "기록이 올바른 JSON이 아닙니다")
    return plain


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


def unpacked(tensors: dict[str, Any], plain: dict[str, Any]) -> Trace | Reading | History:
    """The record that ``parts`` took apart."""
    if plain["kind"] == "history":
        from . import history

        return history.unpacked(tensors, plain)
    _only(plain, {"kind", "tokens", "layers", "source"} if plain["kind"] == "reading" else {"kind", "tokens", "layers"})
    rows = [tuple(_token(entry) for entry in row) for row in plain["tokens"]]
    arrays: dict[str, dict[str, Any]] = {f"layers.{at}": {} for at in range(len(plain["layers"]))}
    for name, array in tensors.items():
        layer, at, rest = name.split(".", 2)
        arrays[f"{layer}.{at}"][rest] = _sealed(array)
    layers = tuple(_layer(entry, rows, a) for entry, a in zip(plain["layers"], arrays.values(), strict=True))
    if plain["kind"] == "reading":
        return Reading(layers, Source(**plain["source"]))
    if plain["kind"] != "trace" or len(layers) != 1:
        raise ValueError(f"{len(layers)} layers of kind {plain['kind']!r}")
    return layers[0]


def _layer(entry: dict[str, Any], rows: list[tuple[Token, ...]], arrays: dict[str, Any]) -> Trace:
    _only(entry, {"tokens", "key_tokens", "rule", "heads", "dimensions", "source"})
    q, k, v, x = (arrays.pop(name, None) for name in "qkvx")
    _only(arrays, {f"part.{at}" for at in range(len(arrays))})
    key_tokens = _row(rows, entry["key_tokens"]) if "key_tokens" in entry else None
    return Trace(
        tokens=_row(rows, entry["tokens"]),
        q=q,
        k=k,
        v=v,
        rule=restored(entry["rule"], arrays),
        x=x,
        heads=restored(entry.get("heads"), arrays),
        dimensions=entry.get("dimensions"),
        source=Source(**entry["source"]),
        key_tokens=key_tokens,
    )


def _sealed(array: Any) -> Any:
    """An array just read, set read-only with what lies under it, so that the record need not copy it."""
    under = array
    while isinstance(under, np.ndarray):
        under.setflags(write=False)
        under = under.base
    return array


def _row(rows: list[tuple[Token, ...]], at: Any) -> tuple[Token, ...]:
    if type(at) is not int or not 0 <= at < len(rows):
        raise ValueError(f"there is no row {at!r} of tokens")
    return rows[at]


def _token(entry: Any) -> Token:
    if not isinstance(entry, list):
        raise TypeError(f"a token is [text] or [text, start, end], got {str(entry)[:100]}")
    text, *span = entry
    return Token(text, tuple(span) or None)


def _only(entry: dict[str, Any], known: set[str]) -> None:
    if unknown := set(entry) - known:
        raise ValueError(f"unknown fields {sorted(unknown)}")


def _told(error: BaseException) -> str:
    missing = f"{error} is missing" if isinstance(error, KeyError) else str(error)
    return missing[:500] or type(error).__name__


def _wrong(name: str, en: str, ko: str) -> SavedFileError:
    return SavedFileError(en=f"{name}: {en}.", ko=f"{name}: {ko}.")
