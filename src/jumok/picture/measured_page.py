"""The page of a measuring: one HTML file that opens from disk, asks nothing of any network, and has every number.

What is in it: one block of bytes, deflated, which stands in frontend/README.md ("What travels: measured heads").
"""

from __future__ import annotations

import base64
import itertools
import json
import math
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..explanation.head_cards import HeadCard, cards, overview, rule_name
from ..labels import Label, labels_of
from ..measurement.roles.definitions import definition
from ..measurement.roles.table import HeadRole
from ..measurement.running.measured import HeadExample, Measured, verdict
from ..words import LANGS, language, name_shown, shown
from . import page
from .measured import roles_of, title_of
from .role_marks import FAMILIES, family_of, mark
from .theme import css

__all__ = ["PROGRAM", "html", "packed", "write"]

PROGRAM = page.BUNDLE.parent / "measured.js"
MOST_EXAMPLES = 20_000  # in a page; those of the roles that name heads come first
VERDICTS = ("evidence", "no-evidence", "too-few")
REALS = ("score", "with_sink", "without_sink", "baseline", "low", "high", "q", "way")  # the page makes the difference
NO_SCRIPT = {
    "en": "The map of heads and its table are drawn by JavaScript. The page asks nothing of any network.",
    "ko": "헤드 지도와 표를 JavaScript로 그립니다. 네트워크에는 아무것도 요청하지 않습니다.",
}

Array = npt.NDArray[Any]


def write(path: str | os.PathLike[str], measured: Measured, **options: Any) -> Path:
    """Write the page whole or not at all; the options are those of ``html``.

    Errors: ``OutputError`` where the path cannot be written, and what ``html`` refuses.
    """
    return page.write_pieces(path, html(measured, **options))


def html(
    measured: Measured,
    *,
    view: Mapping[str, Any] | None = None,
    lang: str = "en",
    title: str | None = None,
    size_limit: int | None = page.SIZE_LIMIT,
) -> Iterator[str]:
    """The page, in pieces.

    view : what is chosen when it opens: {"head": "5.3", "role": "induction", "theme": "dark"}
    title : what it is called; None for its own
    size_limit : bytes of the file, at most; None for any

    Errors: ``TooLargeError`` beyond the limit, ``UnknownName`` for another language.
    """
    language(lang)
    data = packed(measured)
    page.refuse_beyond(
        size_limit, len(data), "Measure fewer roles (roles=[…]), or set a higher size_limit=.",
        "역할을 줄여 측정하거나(roles=[…]) size_limit=을 높이십시오.",
    )  # fmt: skip
    opening = {"view": {**(view or {}), "lang": lang}, "title": title}
    return page.framed(_body(opening, data), lang, shown(title or title_of(measured, lang)[0]), PROGRAM, NO_SCRIPT)


def _body(opening: Mapping[str, Any], data: bytes) -> Iterator[str]:
    yield f'<div id="jumok-page"></div>\n{page.json_script("id", "jumok-model", json.dumps(opening, allow_nan=False))}'
    yield f'<script type="text/plain" id="jumok-measured">{base64.b64encode(data).decode("ascii")}</script>\n'


def packed(measured: Measured) -> bytes:
    """All that the page draws from: the length of the JSON (4 bytes, the lowest first), the JSON, columns; deflated."""
    made = list(cards(measured))
    roles = roles_of(measured)
    columns = _columns(measured, roles)
    told = {
        "title": dict(zip(LANGS, (title_of(measured, lang)[0] for lang in LANGS), strict=True)),
        "under": dict(zip(LANGS, (title_of(measured, lang)[1] for lang in LANGS), strict=True)),
        "overview": {lang: overview(measured, lang, made) for lang in LANGS},
        "n_heads": list(measured.table.n_heads),
        "families": [_family(at) for at in range(len(FAMILIES))],
        "roles": [_role(name) for name in roles],
        "rules": columns.rules,
        "cards": [_card(one, roles) for one in made],
        **_examples(measured, made, roles),
        "n_rows": len(measured.table.rows),
        "columns": columns.names,
    }
    text = json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 4)
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return squeezer.compress(len(text).to_bytes(4, "little") + text + columns.data) + squeezer.flush()


def _family(at: int) -> dict[str, Any]:
    one = FAMILIES[at]
    return {"title": one.titles, "colour": css(one.colour), "ink": css(one.ink)}


def _role(name: str) -> dict[str, Any]:
    one = definition(name)
    family = FAMILIES.index(family_of(name))
    both = {"title": one.titles, "text": one.texts, "mark": [mark(name, lang) for lang in LANGS]}
    return {"name": name, "family": family, "measure": one.measure, "formula": one.formula, **both}


def _card(one: HeadCard, roles: Sequence[str]) -> dict[str, Any]:
    """``role``: the place of the one that names it, −1 for none; ``told``: of the one that its numbers are of."""
    role, told = (-1 if row is None else roles.index(row.role) for row in (one.role, one.told))
    said = {lang: one.sentences(lang) for lang in LANGS}
    return {"layer": one.layer, "head": one.head, "kind": one.kind, "role": role, "told": told, "said": said}


# columns ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Columns:
    """The rows of the table, column by column.

    names : [name, kind] each, in the order in which they stand in ``data``;  rules : of baselines, in both languages
    """

    names: list[list[str]]
    data: bytes
    rules: list[dict[str, str]]


def _columns(measured: Measured, roles: Sequence[str]) -> _Columns:
    rows, starts = measured.table.rows, _starts(measured.table.n_heads)
    places = {name: at for at, name in enumerate(roles)}
    rules = {place: at for at, place in enumerate(dict.fromkeys(map(_rule_of, rows)))}
    made: dict[str, Array] = {name: _real(name, rows) for name in REALS}
    made |= {name: np.array([getattr(row, name) for row in rows], dtype="<u4") for name in ("n_cases", "n_sentences")}
    made["card"] = np.array([starts[row.layer] + row.head for row in rows], dtype="<u2")
    made["role"] = np.array([places[row.role] for row in rows], dtype="<u2")
    made["rule"] = np.array([rules[_rule_of(row)] for row in rows], dtype="<u1")
    made["verdict"] = np.array([VERDICTS.index(verdict(row)) for row in rows], dtype="<u1")
    said = [{lang: rule_name(rule, unit, lang) for lang in LANGS} for rule, unit in rules]
    names = [[name, column.dtype.str.lstrip("<|")] for name, column in made.items()]
    return _Columns(names, b"".join(column.tobytes() for column in made.values()), said)


def _rule_of(row: HeadRole) -> tuple[str, bool]:
    """The rule of a baseline, and whether it counts words."""
    return row.baseline_rule, definition(row.role).annotated


def _real(name: str, rows: Sequence[HeadRole]) -> Array:
    """A column of 4-byte reals; None is NaN."""
    values = [getattr(row, name) for row in rows]
    return np.array([math.nan if value is None else value for value in values], dtype="<f4")


def _starts(n_heads: Sequence[int]) -> list[int]:
    """Where the cards of each layer begin."""
    return [0, *itertools.accumulate(n_heads)]


# examples -----------------------------------------------------------------------------------------


def _examples(measured: Measured, made: Sequence[HeadCard], roles: Sequence[str]) -> dict[str, Any]:
    """Sentences, each once, and examples: [card, role, sentence, query, key, weight]."""
    starts = _starts(measured.table.n_heads)
    chosen = list(itertools.islice(_in_order(measured, made), MOST_EXAMPLES))
    whole = {one.sentence: one for one in chosen}  # of each sentence, one example that has it
    sentences = {sentence: at for at, sentence in enumerate(whole)}
    rows = [
        [starts[one.layer] + one.head, roles.index(one.role), sentences[one.sentence], one.query, one.key, one.weight]
        for one in chosen
    ]
    told = [
        {"name": name_shown(one.name), "tokens": [_label(label) for label in labels_of(one.tokens)]}
        for one in whole.values()
    ]
    return {"sentences": told, "examples": rows}


def _in_order(measured: Measured, made: Sequence[HeadCard]) -> Iterator[HeadExample]:
    """Those of what the cards tell, then the others."""
    for one in made:
        yield from one.examples
    told = {(one.layer, one.head, one.told.role) for one in made if one.told is not None}
    yield from (one for one in measured.examples if (one.layer, one.head, one.role) not in told)


def _label(one: Label) -> Any:
    """Its text; of a piece of a character, or of a mark: [text, part, parts, is it a mark?]."""
    return [one.text, one.part, one.parts, one.special] if one.special or one.parts > 1 else one.text
