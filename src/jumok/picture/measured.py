"""What every head does, as a map of heads, tables, CSV with every digit, and on a terminal; its page: ``measured_page``."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any

from rich.cells import cell_len

from ..explanation.head_cards import HeadCard, card, cards, overview, rule_name
from ..labels import Label, labels_of
from ..measurement.roles.definitions import ROLES, definition
from ..measurement.roles.table import HeadRole
from ..measurement.running.measured import HeadExample, Measured, verdict
from ..words import LANGS, name_shown, number
from . import role_table
from .layout import Panel, flowing, paragraph, stacked
from .plain import escaped
from .role_marks import FAMILIES, family_of, mark
from .svg import Node, Text, cut, rect, width_of
from .theme import Theme, css

__all__ = ["COLUMNS", "picture", "printed", "printed_head", "roles_of", "title_of", "to_csv", "to_markdown"]

CELL, HEIGHT = 44.0, 26.0
SIZE = 10.5
BAR = 3.0  # under a mark: how far the head has come from the baseline to a perfect score
SIGNS = {"none": "·", "trace": "~", "few": "?", "unmeasured": "?"}  # of heads that no role names
AROUND = 6  # tokens of an example on each side of what is marked

WORDS = {
    "title": ("What every head does", "헤드마다 하는 일"),
    "under": ("{model} · {corpus}, sentences: {n}", "{model} · {corpus}, 문장 {n}개"),
    "layer": ("layer {n}", "{n}층"),
    "head": ("{n}", "{n}"),
    "place": ("head", "헤드"),
    "role": ("role", "역할"),
    "score": ("score", "점수"),
    "with_sink": ("with sink", "싱크 포함"),
    "without_sink": ("without", "싱크 제외"),
    "n_cases": ("cases", "경우"),
    "n_sentences": ("sentences", "문장"),
    "baseline": ("baseline", "기준선"),
    "baseline_rule": ("of", "규칙"),
    "difference": ("difference", "차이"),
    "interval": ("95% interval", "95% 신뢰 구간"),
    "q": ("corrected p", "보정한 p"),
    "verdict": ("verdict", "판정"),
    "evidence": ("evidence", "근거 있음"),
    "no-evidence": ("no evidence", "근거 없음"),
    "too-few": ("too few", "문장 부족"),
    "best": ("Best head of each role", "역할마다 가장 뚜렷한 헤드"),
    "unplayed": ("No evidence in any head: {roles}.", "근거가 있는 헤드가 없는 역할: {roles}."),
    "map": ("Heads: a row a layer, a column a head", "헤드: 행은 층, 열은 헤드"),
    "roles": ("Its roles", "역할별 숫자"),
    "examples": ("Examples", "예"),
    "drawn": (
        "Cases in which it is right, from sentences that were drawn before measuring: not the strongest of the corpus. [query] »key«",
        "측정하기 전에 뽑아 둔 문장 가운데 맞은 경우입니다. 말뭉치에서 가장 센 것을 고르지 않았습니다. [쿼리] »키«",
    ),
    "signs": (
        "· no evidence   ~ evidence, but of too little to name a head   ? too few sentences",
        "· 근거 없음   ~ 근거는 있지만 정도가 작음   ? 문장이 모자람",
    ),
    "bar": (
        "The bar under a mark: how far the head has come from the baseline to a perfect score.",
        "표시 아래 막대: 기준선에서 만점까지의 길 가운데 얼마나 왔는가.",
    ),
    "rounded": ("Numbers are rounded.", "숫자는 반올림했습니다."),
    "more": ("… {n} more", "… {n}개 더 있음"),
}  # fmt: skip
COLUMNS = (
    "role", "score", "with_sink", "without_sink", "n_cases", "n_sentences", "baseline", "baseline_rule", "difference", "interval", "q",
    "verdict",
)  # fmt: skip
MOST_ROWS = 12


def _word(name: str, lang: str, /, **data: Any) -> str:
    return WORDS[name][LANGS.index(lang)].format(**data)


def title_of(measured: Measured, lang: str) -> tuple[str, str]:
    """What it is called, and of what it is."""
    of = {
        "model": name_shown(measured.model),
        "corpus": name_shown(measured.corpus_name(lang)),
        "n": f"{measured.n_sentences:,}",
    }
    return _word("title", lang), _word("under", lang, **of)


def roles_of(measured: Measured) -> list[str]:
    """The roles that the table has, family by family."""
    return sorted({row.role for row in measured.table.rows}, key=_place)


def _place(role: str) -> tuple[int, int, int, str]:
    """By family; then as they are defined, by offset, by name."""
    names = [one.name for one in ROLES]
    offset = int(role.partition(":")[2]) if role.startswith("offset:") else 0
    return FAMILIES.index(family_of(role)), names.index(role) if role in names else len(names), offset, role


# the picture --------------------------------------------------------------------------------------


def picture(measured: Measured, lang: str, theme: Theme) -> tuple[Panel, list[str]]:
    """The map of heads, what its colours and marks mean, and the picture in words."""
    made = list(cards(measured))
    left = width_of(_word("layer", lang, n=len(measured.table.n_heads) - 1), SIZE) + 10
    columns = max(measured.table.n_heads)
    nodes: list[Any] = [
        Text(str(head), left + (head + 0.5) * CELL, 12, SIZE, css(theme.dim), "middle") for head in range(columns)
    ]
    for layer in range(len(measured.table.n_heads)):
        y = 18 + (layer + 0.5) * HEIGHT + 4
        nodes.append(Text(_word("layer", lang, n=layer), left - 6, y, SIZE, css(theme.dim), "end"))
    for one in made:
        nodes += _cell(one, left + one.head * CELL, 18 + one.layer * HEIGHT, lang, theme)
    whole = Panel(left + columns * CELL, 18 + len(measured.table.n_heads) * HEIGHT, tuple(nodes))
    room = max(whole.width, 420.0)
    told = overview(measured, lang, made)
    return stacked([whole, *_legend(made, room, lang, theme)], 10), told


def _cell(one: HeadCard, x: float, y: float, lang: str, theme: Theme) -> Iterator[Any]:
    box = {"x": x + 1, "y": y + 1, "width": CELL - 2, "height": HEIGHT - 2}
    middle = x + CELL / 2
    if one.role is None:
        dashes = {"stroke-dasharray": "2 2"} if one.kind != "trace" else {}
        yield Node("rect", {**box, "fill": css(theme.paper), "stroke": css(theme.dim), **dashes})
        yield Text(SIGNS[one.kind], middle, y + HEIGHT / 2 + 4, SIZE, css(theme.dim), "middle")
        return
    family = family_of(one.role.role)
    yield Node("rect", {**box, "fill": css(family.colour)})
    yield Text(
        cut(mark(one.role.role, lang), SIZE, CELL - 2), middle, y + HEIGHT / 2 + 2, SIZE, css(family.ink), "middle"
    )
    yield rect(x + 4, y + HEIGHT - 3 - BAR, (CELL - 8) * one.role.way, BAR, css(family.ink))


def _legend(made: Sequence[HeadCard], room: float, lang: str, theme: Theme) -> Iterator[Panel]:
    """The marks that are there, each in the colour of its family; then the signs of heads that no role names."""
    there = sorted({one.role.role for one in made if one.role is not None}, key=_place)
    entries = [_entry(role, lang, theme) for role in there]
    if entries:
        yield flowing(entries, room, 16)
        yield paragraph(_word("bar", lang), room, theme)
    yield paragraph(_word("signs", lang), room, theme)


def _entry(role: str, lang: str, theme: Theme) -> Panel:
    family, title = family_of(role), definition(role).title(lang)
    swatch = rect(0, 0, CELL, 18, css(family.colour))
    sign = Text(cut(mark(role, lang), SIZE, CELL - 2), CELL / 2, 13, SIZE, css(family.ink), "middle")
    nodes = (swatch, sign, Text(title, CELL + 6, 13, SIZE, css(theme.ink)))
    return Panel(CELL + 6 + width_of(title, SIZE), 12, nodes)


# tables -------------------------------------------------------------------------------------------


def cells_of(row: HeadRole, lang: str) -> list[str]:
    """A row as texts, in the order of ``COLUMNS``; rounded."""
    role = definition(row.role)
    texts: dict[str, str] = {
        "role": role.title(lang),
        "without_sink": "–" if row.without_sink is None else number(row.without_sink),
        "n_cases": f"{row.n_cases:,}",
        "n_sentences": f"{row.n_sentences:,}",
        "baseline_rule": rule_name(row.baseline_rule, role.annotated, lang),
        "interval": f"[{number(row.low)}, {number(row.high)}]",
        "q": "–" if row.q is None else number(row.q),
        "verdict": _word(verdict(row), lang),
    }
    return [texts[name] if name in texts else number(getattr(row, name)) for name in COLUMNS]


def _best(measured: Measured, lang: str) -> Iterator[list[str]]:
    """For each role the head that plays it best, with its numbers."""
    for row in filter(None, map(measured.table.best, roles_of(measured))):
        cells = dict(zip(COLUMNS, cells_of(row, lang), strict=True))
        kept = ("score", "baseline", "baseline_rule", "difference", "interval", "q")
        yield [cells["role"], f"{row.layer}.{row.head}", *(cells[name] for name in kept)]


def _unplayed(measured: Measured, lang: str) -> str:
    """The roles that no head plays; "" where each is played by one."""
    titles = [definition(role).title(lang) for role in roles_of(measured) if measured.table.best(role) is None]
    return _word("unplayed", lang, roles=", ".join(titles)) if titles else ""


def _best_header(lang: str) -> list[str]:
    names = ("role", "place", "score", "baseline", "baseline_rule", "difference", "interval", "q")
    return [_word(name, lang) for name in names]


def to_markdown(measured: Measured, lang: str, whole: bool = True) -> str:
    """What was measured, the best head of each role, and sentences, a table and examples for every head.

    whole : False leaves out what is told head by head
    """
    made = list(cards(measured))
    title, _ = title_of(measured, lang)
    parts = [f"# {title}", *map(escaped, overview(measured, lang, made)), _word("rounded", lang)]
    parts += [f"## {_word('best', lang)}", _table(_best_header(lang), _best(measured, lang))]
    parts += filter(None, [escaped(_unplayed(measured, lang))])
    for one in made if whole else ():
        parts += [f"## {one.layer}.{one.head}", escaped(" ".join(one.sentences(lang)))]
        rows = [cells_of(row, lang) for row in one.rows if row.evidence]
        parts += [_table([_word(name, lang) for name in COLUMNS], rows)] if rows else []
        parts += [f"- {escaped(_example(example))}" for example in one.examples]
    return "\n\n".join(parts) + "\n"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---", *["---:"] * (len(header) - 1)]]
    texts = [*lines, *([escaped(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in texts)


def to_csv(measured: Measured) -> str:
    """A row for each head and role, every digit."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [one.name for one in fields(HeadRole)]
    writer.writerow([*names, "verdict", "copying"])
    for row in measured.table.rows:
        values = [getattr(row, name) for name in names]
        values += [verdict(row), measured.copied.scores.get((row.layer, row.head))]
        writer.writerow(["" if value is None else value for value in values])
    return out.getvalue()


# the terminal -------------------------------------------------------------------------------------


def printed(screen: Any, measured: Measured) -> None:
    """The map of heads, and below it the best head of each role."""
    lang, made = screen.lang, list(cards(measured))
    screen.say(_word("map", lang), "bold")
    signs = {(one.layer, one.head): SIGNS[one.kind] if one.role is None else mark(one.role.role, lang) for one in made}
    columns, layers = max(measured.table.n_heads), range(len(measured.table.n_heads))
    names = [_word("layer", lang, n=layer) for layer in layers]
    room = screen.console.width - max(map(cell_len, names)) - 2
    per = max(1, room // (max(map(cell_len, signs.values())) + 2))
    for start in range(0, columns, per):
        some = range(start, min(start + per, columns))
        rows = [[names[layer], *(signs.get((layer, head), "") for head in some)] for layer in layers]
        screen.listed(rows, ["", *map(str, some)])
    screen.say(_word("signs", lang), "dim")
    screen.say()
    role_table.printed(screen, measured)


def printed_head(screen: Any, measured: Measured, layer: int, head: int) -> None:
    """The card of one head: its sentences, its examples, its numbers.

    Errors: ``InputError`` where the model has no such layer or head.
    """
    lang, one = screen.lang, card(measured, layer, head)
    for at, sentence in enumerate(one.sentences(lang)):
        screen.say(sentence, "bold" if at == 0 else "")
    if one.examples:
        screen.title(_word("examples", lang))
        for example in one.examples:
            screen.say(_example(example), before="  ")
        screen.say(_word("drawn", lang), "dim")
    if not one.rows:
        return
    screen.title(_word("roles", lang))
    kept = ("role", "score", "baseline", "baseline_rule", "difference", "interval", "q", "verdict")
    places = [COLUMNS.index(name) for name in kept]
    rows = [cells_of(row, lang) for row in one.rows[:MOST_ROWS]]
    screen.listed([[cells[at] for at in places] for cells in rows], [_word(name, lang) for name in kept])
    if len(one.rows) > MOST_ROWS:
        screen.say(_word("more", lang, n=len(one.rows) - MOST_ROWS), "dim")
    screen.say(_word("rounded", lang), "dim")


def _example(example: HeadExample) -> str:
    """The tokens around query and key, which are marked, and the weight: "The [cat] »sat« on …: 0.912"."""
    around = (*example.query, *example.key)
    first = max(0, min(around) - AROUND)
    last = min(len(example.tokens), max(around) + AROUND + 1)
    labels = labels_of(example.tokens)
    texts = [_marked(labels[at], at in example.query, at in example.key) for at in range(first, last)]
    cuts = ("… " if first else "", " …" if last < len(example.tokens) else "")
    return f"{name_shown(example.name)}: {cuts[0]}{' '.join(texts)}{cuts[1]}: {number(example.weight)}"


def _marked(label: Label, is_query: bool, is_key: bool) -> str:
    text = f"{label.text}({label.part}/{label.parts})" if label.parts > 1 else label.text
    read = f"»{text}«" if is_key else text
    return f"[{read}]" if is_query else read
