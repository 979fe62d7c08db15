"""A comparison as tables of text: Markdown to read, CSV with every digit."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from ..measurement.comparison import Comparison, HeadChange, TokenChange
from ..words import LANGS, isolated, number, percent
from .captions import token_names
from .plain import escaped, refuse_beyond

__all__ = ["HEAD_COLUMNS", "TOKEN_COLUMNS", "difference_csv", "head_rows", "heads_csv", "to_markdown", "token_rows"]

HEAD_COLUMNS = (
    ("layer", "head", "distance", "largest change", "without a match: A", "B"),
    ("층", "헤드", "거리", "가장 큰 변화", "짝이 없는 몫: A", "B"),
)
TOKEN_COLUMNS = (
    ("layer", "token", "distance", "cosine of outputs, mean taken off", "as they are"),
    ("층", "토큰", "거리", "출력의 코사인(평균을 뺌)", "그대로"),
)
ROUNDED = ("Numbers are rounded to three decimals.", "숫자는 소수점 아래 셋째 자리까지 반올림했습니다.")


def head_rows(comparison: Comparison, most: int | None = None) -> list[list[str]]:
    """The heads, the most changed first, as texts."""
    return [_head_row(comparison, head) for head in comparison.heads[:most]]


def _head_row(comparison: Comparison, head: HeadChange) -> list[str]:
    largest = "-"
    if head.query is not None and head.key is not None:
        _, b = comparison.layer(head.layer)
        sign = "+" if head.largest > 0 else "-"
        names, keys = token_names(b), token_names(b, read=True)
        largest = f"{isolated(names[head.query[1]])} → {isolated(keys[head.key[1]])} {sign}{number(abs(head.largest))}"
    place = [str(comparison.layer_numbers[head.layer]), str(head.head), _maybe(head.distance)]
    return [*place, largest, *(percent(share) for share in head.unmatched)]


def token_rows(comparison: Comparison, most: int | None = None) -> list[list[str]]:
    """The tokens of every layer, the most changed first, as texts."""
    return [_token_row(comparison, token) for token in comparison.tokens[:most]]


def _token_row(comparison: Comparison, token: TokenChange) -> list[str]:
    a, b = (token_names(one)[at] for one, at in zip(comparison.layer(token.layer), token.pair, strict=True))
    name = a if a == b else f"{isolated(a)} → {isolated(b)}"
    return [
        str(comparison.layer_numbers[token.layer]),
        name,
        _maybe(token.distance),
        _maybe(token.cosine),
        _maybe(token.raw_cosine),
    ]


def _maybe(value: float | None) -> str:
    return "-" if value is None else number(value)


def to_markdown(comparison: Comparison, lang: str, most: int | None = None) -> str:
    """What changed in sentences, then every head and every token, or so many of each that changed most."""
    if most is None:
        _refuse_too_much(3 * (len(comparison.heads) + len(comparison.tokens)))
    at = LANGS.index(lang)
    tables = [(HEAD_COLUMNS[at], head_rows(comparison, most)), (TOKEN_COLUMNS[at], token_rows(comparison, most))]
    lines = [escaped(comparison.text(lang)), ""]
    for columns, rows in tables:
        lines += [_line(columns), "|" + "---|" * len(columns), *(_line(row) for row in rows), ""]
    return "\n".join([*lines, ROUNDED[at], ""])


def _refuse_too_much(n_numbers: int) -> None:
    refuse_beyond(
        n_numbers,
        'Draw kind="heads" and save a .csv, or ask for rows: comparison.distances(layer, head).',
        'kind="heads"로 그려 .csv로 저장하거나 행별로 보십시오: comparison.distances(layer, head).',
    )


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(escaped(cell) for cell in cells) + " |"


def heads_csv(comparison: Comparison) -> str:
    """One head a line, every digit; an empty cell where there is no number."""
    header = ("layer", "head", "distance", "n_rows", "largest", "unmatched_a", "unmatched_b")
    numbers = comparison.layer_numbers
    rows = ((numbers[h.layer], h.head, h.distance, h.n_rows, h.largest, *h.unmatched) for h in comparison.heads)
    return _csv(header, rows)


def difference_csv(comparison: Comparison, layer: int, head: int) -> str:
    """One pair of matched tokens a line: the weight in both texts, shared out anew over matched keys, and b − a."""
    header = (
        "layer",
        "head",
        "query_a",
        "query_b",
        "query_token",
        "key_a",
        "key_b",
        "key_token",
        "a",
        "b",
        "difference",
    )
    _refuse_too_much(3 * len(comparison.pairs) * len(comparison.key_pairs(layer)))
    first, second = comparison.matched(layer, head)
    a, _ = comparison.layer(layer)
    keys = comparison.key_pairs(layer)
    rows = (
        (
            comparison.layer_numbers[layer], head, *query, a.tokens[query[0]].text, *key, a.read_tokens[key[0]].text,
            first[r, c], second[r, c], second[r, c] - first[r, c],
        )
        for r, query in enumerate(comparison.pairs)
        for c, key in enumerate(keys)
    )  # fmt: skip
    return _csv(header, rows)


def _csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow(
            ["" if cell is None else repr(float(cell)) if isinstance(cell, float) else cell for cell in row]
        )
    return out.getvalue()
