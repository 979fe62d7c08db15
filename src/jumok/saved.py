"""Traces and Readings as files: ``.safetensors`` to load again, ``.json`` to read elsewhere.

A ``.safetensors`` file holds the arrays (``layers.0.q`` …) and, in its metadata, ``format`` ("jumok"),
``version`` ("1") and ``record``: the tokens, rules and sources as JSON. Loading one runs no code.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from .errors import InputError, SavedFileError
from .files import write_whole
from .path.described import as_lists, described, restored
from .trace import STAGES, Heads, Reading, Source, Token, Trace

__all__ = ["load", "save", "to_json"]

VERSION = 1
SMALL = 20_000  # a JSON file carries all stages where a layer's whole table has at most this many numbers


def save(record: Trace | Reading, path: str | os.PathLike[str]) -> Path:
    """Write a record whole or not at all; the suffix says how.

    Errors: ``InputError`` for another suffix, ``OutputError`` where the path cannot be written.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".safetensors":
        tensors, plain = _packed(record)
        metadata = {"format": "jumok", "version": str(VERSION), "record": json.dumps(plain, ensure_ascii=False)}
        from safetensors.numpy import save_file

        return write_whole(path, lambda name: save_file(tensors, name, metadata=metadata))
    if suffix == ".json":
        text = json.dumps(to_json(record), ensure_ascii=False, indent=1, allow_nan=False)
        return write_whole(path, lambda name: Path(name).write_text(text + "\n", encoding="utf-8"))
    raise InputError(
        en=f"a record is saved as .safetensors or .json, got {Path(path).name!r}.",
        ko=f"기록은 .safetensors나 .json으로 저장하는데 {Path(path).name!r}이(가) 왔습니다.",
    )


def to_json(record: Trace | Reading) -> dict[str, Any]:
    """A record as plain JSON: its arrays as lists, every digit, no NaN; small ones with all their stages."""
    tensors, plain = _packed(record)
    layers = []
    for at, trace in enumerate(record if isinstance(record, Reading) else [record]):
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


def _packed(record: Trace | Reading) -> tuple[dict[str, Any], dict[str, Any]]:
    tensors: dict[str, Any] = {}
    rows: list[Any] = []
    seen: dict[int, int] = {}

    def row_of(tokens: tuple[Token, ...]) -> int:
        if id(tokens) not in seen:
            seen[id(tokens)] = len(rows)
            rows.append([[token.text, *(token.span or ())] for token in tokens])
        return seen[id(tokens)]

    layers = []
    for at, trace in enumerate(record if isinstance(record, Reading) else [record]):
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
        tensors |= {f"layers.{at}.{name}": np.ascontiguousarray(a) for name, a in arrays.items()}
        layers.append(entry)
    kind = "reading" if isinstance(record, Reading) else "trace"
    plain = {"kind": kind, "tokens": rows, "layers": layers}
    return tensors, plain | ({"source": record.source.to_json()} if kind == "reading" else {})


def load(path: str | os.PathLike[str]) -> Trace | Reading:
    """A Trace or Reading that ``save`` wrote.

    Errors: ``SavedFileError`` for a file that is missing, truncated, foreign, hostile or of a later version.
    """
    from safetensors import SafetensorError, safe_open

    name = os.fspath(path)
    try:
        with safe_open(name, framework="numpy") as file:
            metadata = file.metadata() or {}
            plain = _record(name, metadata)
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a dict)
    except FileNotFoundError:
        raise _wrong(name, "there is no such file", "그런 파일이 없습니다") from None
    except (SafetensorError, OSError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, SavedFileError):
            raise
        raise _wrong(
            name,
            f"it is not a whole .safetensors file ({error}). Save or copy it again",
            f"온전한 .safetensors 파일이 아닙니다({error}). 다시 저장하거나 복사하십시오",
        ) from None
    try:
        return _unpacked(tensors, plain)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
        inner = error.text("ko") if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise _wrong(
            name, f"its record does not fit together ({error})", f"기록의 내용이 서로 맞지 않습니다({inner})"
        ) from None


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


def _unpacked(tensors: dict[str, Any], plain: dict[str, Any]) -> Trace | Reading:
    rows = [tuple(_token(entry) for entry in row) for row in plain["tokens"]]
    layers = []
    for at, entry in enumerate(plain["layers"]):
        prefix = f"layers.{at}."
        arrays = {name[len(prefix) :]: array for name, array in tensors.items() if name.startswith(prefix)}
        for array in arrays.values():
            array.setflags(write=False)
        rule, heads = restored(entry["rule"], arrays), restored(entry.get("heads"), arrays)
        if heads is not None and not isinstance(heads, Heads):
            raise TypeError("heads is of another kind")
        dimensions = entry.get("dimensions")
        layers.append(
            Trace(
                tokens=rows[entry["tokens"]],
                q=arrays["q"],
                k=arrays["k"],
                v=arrays["v"],
                rule=rule,
                x=arrays.get("x"),
                heads=heads,
                dimensions=None if dimensions is None else tuple(str(name) for name in dimensions),
                source=Source(**entry["source"]),
                key_tokens=rows[entry["key_tokens"]] if "key_tokens" in entry else None,
            )
        )
    if plain["kind"] == "reading":
        return Reading(tuple(layers), Source(**plain["source"]))
    (trace,) = layers
    return trace


def _token(entry: Any) -> Token:
    text, *span = entry
    if not isinstance(text, str) or len(span) not in (0, 2) or not all(type(at) is int for at in span):
        raise TypeError(f"a token is [text, start, end], got {entry!r}"[:200])
    return Token(text, (span[0], span[1]) if span else None)


def _wrong(name: str, en: str, ko: str) -> SavedFileError:
    return SavedFileError(en=f"{name}: {en}.", ko=f"{name}: {ko}.")
