"""Tables that other programs read: Parquet by PyArrow, the same bytes for the same numbers."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InputError, MissingExtra
from ...files import write_whole
from ..roles.table import HeadRole, HeadTable
from .measured import Copied, HeadExample, Measured, verdict

if TYPE_CHECKING:
    import pyarrow

__all__ = ["copied_from", "examples", "examples_from", "heads", "refuse_without_arrow", "table_from", "write"]

ABOUT = b"jumok"
COPYING = "copying"  # of a head's values: the same in all rows of the head


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra(extra="measure", package="pyarrow") from error
    return pyarrow


def refuse_without_arrow() -> None:
    """Refuse, before anything is measured, what could not be written at its end.

    Errors: ``MissingExtra`` without PyArrow.
    """
    _arrow()


def heads(measured: Measured) -> pyarrow.Table:
    """A row a head and role."""
    pa = _arrow()
    kinds = {
        "int": pa.int32(), "str": pa.string(), "float": pa.float64(), "bool": pa.bool_(),
        "float | None": pa.float64(), "n": pa.int64(),
    }  # fmt: skip
    columns = [
        pa.field(one.name, kinds["n" if one.name.startswith("n_") else str(one.type)], nullable="None" in str(one.type))
        for one in fields(HeadRole)
    ]
    beside = [pa.field("verdict", pa.string(), nullable=False), pa.field(COPYING, pa.float64())]
    schema = pa.schema([*columns, *beside], _about(measured))
    scores = measured.copied.scores
    rows = [
        row.to_json() | {"verdict": verdict(row), COPYING: scores.get((row.layer, row.head))}
        for row in measured.table.rows
    ]
    return pa.Table.from_pylist(rows, schema)


def examples(measured: Measured) -> pyarrow.Table:
    """A row an example."""
    pa = _arrow()
    whole, place = pa.int32(), pa.list_(pa.int32())
    schema = pa.schema(
        [("layer", whole), ("head", whole), ("role", pa.string()), ("sentence", pa.int64()), ("name", pa.string()),
         ("tokens", pa.list_(pa.string())), ("query", place), ("key", place), ("weight", pa.float64())],
        _about(measured),
    )  # fmt: skip
    return pa.Table.from_pylist([asdict(one) for one in measured.examples], schema)


def _about(measured: Measured) -> dict[bytes, bytes]:
    """What the rows alone do not tell."""
    table = measured.table
    told = {
        "model": measured.model, "corpus": measured.corpus, "n_heads": table.n_heads, "n_sequences": table.n_sequences,
        "n_tested": table.n_tested, "no_copying": measured.copied.why,
    }  # fmt: skip
    return {ABOUT: json.dumps(told, ensure_ascii=False, sort_keys=True).encode()}


def write(table: pyarrow.Table, path: Path) -> None:
    """A table as Parquet, whole or not at all.

    Errors: ``OutputError`` where it cannot be written.
    """
    parquet = _arrow().parquet

    def put(name: str) -> None:
        with Path(name).open("wb") as file:  # PyArrow itself opens no name that is not UTF-8
            parquet.write_table(table, file, compression="zstd")

    write_whole(path, put)


def table_from(path: Path) -> HeadTable:
    """The table of heads of a file.

    Errors: ``InputError`` where it is damaged.
    """
    table = _read(path)
    about = json.loads(table.schema.metadata[ABOUT])
    names = [one.name for one in fields(HeadRole)]
    rows = tuple(HeadRole(**row) for row in table.select(names).to_pylist())
    return HeadTable(rows, about["n_sequences"], tuple(about["n_heads"]), about["n_tested"])


def copied_from(path: Path) -> Copied:
    """The copying scores of the same file.

    Errors: ``InputError`` where it is damaged.
    """
    table = _read(path)
    about = json.loads(table.schema.metadata[ABOUT])
    why = about.get("no_copying")
    if COPYING not in table.column_names:  # of a run that ended before there were any
        return Copied()
    columns = (table.column(name).to_pylist() for name in ("layer", "head", COPYING))
    scores = {(layer, head): score for layer, head, score in zip(*columns, strict=True) if score is not None}
    return Copied(scores, None if why is None else (why[0], why[1]))


def examples_from(path: Path) -> tuple[HeadExample, ...]:
    """The examples of a file.

    Errors: ``InputError`` where it is damaged.
    """
    rows: list[dict[str, Any]] = _read(path).to_pylist()
    return tuple(HeadExample(**row | {name: tuple(row[name]) for name in ("tokens", "query", "key")}) for row in rows)


def _read(path: Path) -> Any:
    pa = _arrow()
    try:
        with path.open("rb") as file:
            return pa.parquet.read_table(file)
    except (OSError, pa.ArrowException) as error:
        raise InputError(
            en=f"{path} is damaged or no table of jumok: {str(error).splitlines()[0]}",
            ko=f"{path} 파일이 손상되었거나 jumok의 표가 아닙니다: {str(error).splitlines()[0]}",
        ) from error
