"""A record as the page carries it: one ``.safetensors`` file whose layers can be brought one by one.

What is in it stands in frontend/README.md ("What travels"). A small record travels as it is; of a large one
q and k become whole numbers with one scale a row, the difference this makes to the weights is measured, and a
layer where it is too large travels as it is after all.

>>> from jumok.trace import Trace
>>> one = np.ones((1, 2, 1))
>>> document = pack(Trace(tokens=["a", "b"], q=one, k=one, v=one))
>>> document.storage, document.n_bytes, document.facts[0]["entropy"]
('exact', 48, [0.693147])
"""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import saved
from ..errors import InputError
from ..tokens import positions
from ..trace import Reading, Trace, as_tokens, layers_of, unknown_name
from .colours import CIVIDIS, NOT_ALLOWED
from .labels import labels_of
from .png import palette
from .streamed import Summary, summary

__all__ = [
    "MOST_ERROR", "SIZE_LIMIT", "SMALL_BYTES", "Packed", "Storage", "Values", "least_bytes", "n_weights", "pack", "plain_array", "rounded",
    "written",
]  # fmt: skip

Values = Literal["all"] | Collection[int] | None
Storage = Literal["exact", "int16"] | None
Array = npt.NDArray[Any]

SMALL_BYTES = 2 * 2**20  # up to this a record travels with every digit
SIZE_LIMIT = 150_000_000  # bytes of a page; a browser opens more, but a person waits
MOST_ERROR = 1e-3  # of a weight, beyond which a layer is not rounded
THUMBNAIL = 64  # pixels of a side, at most
ATLAS_PIXELS = 4 * 2**20  # of all thumbnails together, at most

DTYPES = {"f8": "F64", "f4": "F32", "i4": "I32", "i2": "I16", "b1": "BOOL"}


@dataclass(frozen=True, eq=False)
class Packed:
    """One document: the header of a ``.safetensors`` file, and its bytes, a run for each layer.

    storage : "exact", or "int16" where layers were rounded
    facts : (layer,) sizes, and what is said of each head: see frontend/README.md
    atlas : the thumbnails of all heads;  title : in each language, or None
    """

    header: str
    layers: tuple[bytes, ...]
    storage: str
    facts: tuple[dict[str, Any], ...]
    atlas: dict[str, Any]
    title: dict[str, str] | None

    @property
    def n_bytes(self) -> int:
        """What all layers take together."""
        return sum(map(len, self.layers))

    def file(self) -> Iterator[bytes]:
        """The pieces of the whole file, as any reader of ``.safetensors`` takes it."""
        head = self.header.encode("utf-8")
        head += b" " * (-len(head) % 8)
        yield struct.pack("<Q", len(head)) + head
        yield from self.layers


def pack(record: Trace | Reading, values: Values = None, storage: Storage = None, cells: int | None = None) -> Packed:
    """A record for the page.

    values : the layers whose v (with x and the projections) travels where q and k are rounded: a list, "all", or None
    storage : "exact", "int16", or None: exact up to 2 MiB
    cells : of a record with more weights than this only so many are computed, of evenly spaced rows, for what is said of
        its heads and for their thumbnails (at least a row for each pixel); None for all

    Errors: ``InputError`` for a Reading without layers or a layer that is not there, ``UnknownName`` for another storage.
    """
    record = _basic(record)
    layers = layers_of(record)
    if not layers:
        raise InputError(
            en="this Reading has no layer, so there is nothing to show.",
            ko="이 Reading에는 층이 없어 보여 줄 것이 없습니다.",
        )
    arrays, plain = saved.parts(record)
    exact = _is_exact(arrays, storage)
    wanted = _wanted(values, len(layers), exact)
    side = _side(layers)
    every = 1 if cells is None else _every(layers, cells, side)
    blocks, facts, thumbnails = [], [], []
    for at, trace in enumerate(layers):
        prefix = f"layers.{at}."
        own = {
            name.removeprefix(prefix): plain_array(array) for name, array in arrays.items() if name.startswith(prefix)
        }
        block, found = _layer(trace, _travelling(own, plain["layers"][at], at in wanted), exact, side, every)
        blocks.append(block)
        facts.append(_facts(trace, found, at in wanted))
        thumbnails.append(found.thumbnail)
    atlas = _atlas(thumbnails, side)
    page = {
        "storage": "exact" if exact else "int16",
        "layers": facts,
        "atlas": atlas,
        "labels": _labels(plain, layers),
        "title": _title(record),
    }
    header = _header(blocks, plain, page)
    return Packed(header, tuple(map(_bytes, blocks)), str(page["storage"]), tuple(facts), atlas, _title(record))


def _basic(record: Trace | Reading) -> Trace | Reading:
    """The same record, with rules that the page knows in place of patterns of sparse attention."""
    layers = tuple(map(_with_basic_rule, layers_of(record)))
    if all(one is other for one, other in zip(layers, layers_of(record), strict=True)):
        return record
    return layers[0] if isinstance(record, Trace) else Reading(layers, record.source)


def _with_basic_rule(trace: Trace) -> Trace:
    allowed = trace.rule.allowed.basic(trace.n_queries, trace.n_keys)
    return trace if allowed is trace.rule.allowed else replace(trace, rule=replace(trace.rule, allowed=allowed))


def least_bytes(record: Trace | Reading, values: Values = None, storage: Storage = None) -> int:
    """What a document of this record takes at least, without making it."""
    arrays, plain = saved.parts(record)
    n_layers = len(plain["layers"])
    exact = _is_exact(arrays, storage)
    wanted = _wanted(values, n_layers, exact)
    total = 0
    for at, entry in enumerate(plain["layers"]):
        prefix = f"layers.{at}."
        own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        for name, array in _travelling(own, dict(entry), at in wanted).items():
            total += array.size * 2 if name in "qkv" and not exact else array.nbytes
    return total


def _is_exact(arrays: dict[str, Array], storage: Storage) -> bool:
    if storage not in ("exact", "int16", None):
        raise unknown_name("storage", "저장 형식", str(storage), ("exact", "int16"))
    return storage == "exact" or (storage is None and sum(array.nbytes for array in arrays.values()) <= SMALL_BYTES)


def _wanted(values: Values, n_layers: int, exact: bool) -> Collection[int]:
    """The layers whose v travels: those asked for; of a record that travels with every digit, all."""
    asked = () if values is None or values == "all" else positions("layer", "층", values, n_layers)
    return range(n_layers) if exact or values == "all" else asked


def _side(layers: Sequence[Trace]) -> int:
    """The side of a thumbnail: a pixel for each token, where there are few, and all thumbnails together not too many."""
    longest = max(max(trace.n_queries, trace.n_keys) for trace in layers)
    n_heads = sum(trace.n_heads for trace in layers)
    return max(1, min(THUMBNAIL, longest, math.isqrt(ATLAS_PIXELS // n_heads)))


def n_weights(layers: Sequence[Trace]) -> int:
    """All weights of all heads, hidden ones too."""
    return sum(trace.n_heads * trace.n_queries * trace.n_keys for trace in layers)


def _every(layers: Sequence[Trace], cells: int, side: int) -> int:
    """Which rows are looked at: all, or every second, third …"""
    n_cells = n_weights(layers)
    fewest = min(trace.n_queries for trace in layers)
    return max(1, min(n_cells // cells, fewest // side)) if n_cells > cells else 1


# one layer ----------------------------------------------------------------------------------------


def plain_array(array: Array) -> Array:
    """An array in one of the number types that the page reads, with the same content."""
    if array.dtype == np.float16:
        return array.astype(np.float32)
    if array.dtype.kind in "iu":  # ids of documents: only which are the same counts
        fits = array.size == 0 or (array.min() >= -(2**31) and array.max() < 2**31)
        return array.astype(np.int32) if fits else np.unique(array, return_inverse=True)[1].astype(np.int32)
    return array


def _travelling(own: dict[str, Array], entry: dict[str, Any], with_values: bool) -> dict[str, Array]:
    """What of a layer's arrays travels: all, or what the weights are made from. The entry is made to say the same."""
    if with_values:
        return own
    entry.pop("heads", None)
    named = {"q", "k", *_named(entry["rule"])}
    return {name: array for name, array in own.items() if name in named}


def _named(plain: Any) -> Iterator[str]:
    if isinstance(plain, dict):
        if set(plain) == {"array"}:
            yield plain["array"]
        for part in plain.values():
            yield from _named(part)


def _layer(trace: Trace, own: dict[str, Array], exact: bool, side: int, every: int) -> tuple[dict[str, Array], Summary]:
    """A layer's arrays as they travel, and what is said of it."""
    steps = trace.steps
    if exact:
        return own, summary(steps, side, every=every)
    smaller: dict[str, Array] = {}
    seen: dict[str, Array] = {}
    for name in ("q", "k", "v"):
        if name in own:
            smaller[name], smaller[f"{name}.scale"] = rounded(own[name])
            seen[name] = smaller[name] * smaller[f"{name}.scale"][..., None]
    stored = type(steps)(seen["q"], seen["k"], steps.v, steps.rule)
    found = summary(stored, side, steps, every)
    if found.error.max() > MOST_ERROR:
        return own, summary(steps, side, every=every)
    return own | smaller | ({"lse": found.lse} if every == 1 else {}), found  # else the page makes it, row by row


def rounded(array: Array) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.float32]]:
    """(…, row, width) as whole numbers, and (…, row) what one of them is worth."""
    scale = (np.abs(array).max(axis=-1) / 32767).astype(np.float32)
    whole = np.rint(array / np.where(scale > 0, scale, 1)[..., None])
    return np.clip(whole, -32767, 32767).astype(np.int16), scale


def _facts(trace: Trace, found: Summary, with_values: bool) -> dict[str, Any]:
    sizes = {name: getattr(trace, name) for name in ("n_heads", "n_kv_heads", "n_queries", "n_keys", "d_head")}
    by_head = {name: _short(getattr(found, name)) for name in ("error", "entropy", "first", "previous")}
    rows = {"error_rows": found.error_rows} | ({"rows": found.rows} if found.rows < trace.n_queries else {})
    return sizes | {"d_value": int(trace.v.shape[2]), "values": with_values} | by_head | rows


def _short(numbers: Array) -> list[float]:
    return [float(f"{number:.6g}") for number in numbers]


# all layers ---------------------------------------------------------------------------------------


def _atlas(thumbnails: Sequence[Array], side: int) -> dict[str, Any]:
    """All thumbnails in one picture: row = layer, column = head; colour 0 says that nothing is allowed there."""
    n_columns = max(map(len, thumbnails))
    pixels = np.zeros((len(thumbnails), side, n_columns, side), np.uint8)
    for layer, own in zip(pixels, thumbnails, strict=True):
        colour = np.where(own < 0, 0, 1 + np.rint(254 * np.sqrt(np.clip(own, 0, 1))))
        layer[:, : len(own)] = np.moveaxis(colour, 0, 1)
    png = palette(pixels.reshape(len(thumbnails) * side, -1), (NOT_ALLOWED, *CIVIDIS[1:]))
    data = "data:image/png;base64," + base64.b64encode(png).decode("ascii")
    return {"png": data, "size": side, "columns": n_columns, "rows": len(thumbnails)}


def _labels(plain: dict[str, Any], layers: Sequence[Trace]) -> list[list[dict[str, Any]]]:
    sentences = {
        entry["tokens"]: trace.source.details.get("sentence")
        for entry, trace in zip(plain["layers"], layers, strict=True)
    }
    rows = {entry["tokens"]: trace.tokens for entry, trace in zip(plain["layers"], layers, strict=True)}
    rows |= {entry["key_tokens"]: trace.read_tokens for entry, trace in zip(plain["layers"], layers, strict=True)
             if "key_tokens" in entry}  # fmt: skip
    return [
        [label.to_json() for label in labels_of(as_tokens(rows[at]), sentences.get(at))]
        for at in range(len(plain["tokens"]))
    ]


def _title(record: Trace | Reading) -> dict[str, str] | None:
    layers = layers_of(record)
    sources = [record.source, *(trace.source for trace in layers[:1])]
    said: dict[str, str] = next((title for source in sources if (title := source.details.get("title"))), {})
    if not said:
        return None
    any_language = next(iter(said.values()))
    return {lang: said.get(lang, any_language) for lang in ("en", "ko")}


def _header(blocks: Sequence[dict[str, Array]], plain: dict[str, Any], page: dict[str, Any]) -> str:
    named = [(f"layers.{at}.{name}", array) for at, block in enumerate(blocks) for name, array in _in_order(block)]
    return _named_header(named, plain, page)


def _named_header(named: Sequence[tuple[str, Array]], plain: dict[str, Any], page: dict[str, Any]) -> str:
    metadata = {
        "format": "jumok",
        "version": str(saved.VERSION),
        "record": json.dumps(plain, ensure_ascii=False),
        "page": json.dumps(page, ensure_ascii=False),
    }
    header: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for name, array in named:
        start, end = end, end + array.nbytes
        dtype = DTYPES[array.dtype.str[1:]]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [start, end]}
    return json.dumps(header, ensure_ascii=False, separators=(",", ":"))


def _bytes(block: dict[str, Array]) -> bytes:
    return b"".join(
        np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes() for _, array in _in_order(block)
    )


def written(tensors: dict[str, Array], plain: dict[str, Any], page: dict[str, Any]) -> tuple[str, bytes]:
    """The header of a document that comes whole, and its bytes."""
    return _named_header(_in_order(tensors), plain, page), _bytes(tensors)


def _in_order(block: dict[str, Array]) -> list[tuple[str, Array]]:
    """The widest numbers first: each array then begins at a multiple of its number's size, without a gap."""
    return sorted(block.items(), key=lambda item: -item[1].dtype.itemsize)
