"""What variants cost, as a picture on logarithmic axes, tables, CSV, and a page that needs no script."""

from __future__ import annotations

import csv
import dataclasses
import io
import itertools
import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from ..explanation.costs import explained
from ..files import write_whole
from ..variants.cost import Cost, CostRow, Growth
from ..variants.cost_heads import WindowHeads
from ..variants.cost_words import amount, duration, notes, size, token_count
from ..words import LANGS, number
from .layout import BOLD, Panel, apart, paragraph, stacked
from .svg import Node, Text, document, line, path, width_of
from .theme import THEMES, Theme, css

__all__ = [
    "COLOURS",
    "Table",
    "parts",
    "picture",
    "printed",
    "printed_heads",
    "tables",
    "title_of",
    "to_csv",
    "to_html",
    "to_markdown",
    "write",
]

WIDTH, HEIGHT = 400.0, 280.0  # of a chart's own field
SLIM = 204.0  # the same for a phone, which shows the whole picture without making its words smaller
LEFT, RIGHT = 62.0, 92.0  # room for the numbers on its left and the names on its right
SIZE = 11.0
MARK = 2.6  # of a point
TICK = 50.0  # room across for one

COLOURS = {  # of each idea, on light and on dark paper; the names stand beside the lines too
    "full": ("#1a1c1f", "#e9ecef"),
    "flash": ("#0b5cad", "#6eb5ff"),
    "window": ("#b03a00", "#ff9f66"),
    "sparse": ("#8a2f8f", "#dda0e6"),
    "linear": ("#00705a", "#4fd1a5"),
    "lowrank": ("#7a5c00", "#e0c050"),
}

WORDS = {
    "title": ("What attention costs", "어텐션의 비용"),
    "under": (
        "{heads} heads, d = {d}, {rule}, window {window}",
        "헤드 {heads}개, d = {d}, {rule}, 윈도우 {window}",
    ),
    "causal": ("causal", "인과 마스크"),
    "everything": ("no mask", "마스크 없음"),
    "time": ("Time", "시간"),
    "memory": ("Memory held, besides q, k and v", "q, k, v 말고 드는 메모리"),
    "tokens": ("tokens (n)", "토큰 수 (n)"),
    "legend": (
        "Both axes are logarithmic: a straight line is a power of n. Filled points are measured; hollow ones, on dashed lines, are "
        "predicted.",
        "두 축 모두 로그 눈금이라서 직선은 n의 거듭제곱입니다. 채운 점은 측정한 값, 파선 위의 빈 점은 예측한 값입니다.",
    ),
    "n": ("n", "n"),
    "variant": ("variant", "변형"),
    "growth": ("growth", "증가"),
    "in_the_end": ("in theory", "이론값"),
    "share": ("of the peak", "최고 속도 대비"),
    "over": ("faster than {other} from", "{other}보다 빠른 n"),
    "operations": ("By formula, at n = {n}", "수식, n = {n}"),
    "multiply_adds": ("multiply-adds", "곱셈·덧셈"),
    "exponentials": ("exponentials", "지수 함수"),
    "moved": ("bytes moved", "옮긴 바이트"),
    "comparison": ("How they grow", "얼마나 빨리 늘어나는가"),
    "predicted": ("≈ predicted by formula", "≈ 수식으로 예측함"),
    "losses": ("What they lose on this text, means over heads and rows", "이 글에서 잃는 것, 헤드와 행의 평균"),
    "output": ("output error", "출력 오차"),
    "worst": ("worst head", "가장 나쁜 헤드"),
    "distance": ("weights' distance", "가중치 거리"),
    "outside": ("weight outside", "밖의 가중치"),
    "heads": ("Heads and the weight they keep in the window", "헤드마다 윈도우 안에 두는 가중치"),
    "place": ("layer.head", "층.헤드"),
    "inside": ("mean", "평균"),
    "least": ("worst row", "가장 나쁜 행"),
    "more": ("… {n} more; -o FILE.json has all", "… {n}개 더 있음. 모두 보려면 -o FILE.json"),
}  # fmt: skip


def _word(name: str, lang: str, /, **data: Any) -> str:
    return WORDS[name][LANGS.index(lang)].format(**data)


def title_of(cost: Cost, lang: str) -> tuple[str, str]:
    """What it is called, and under what sizes it holds."""
    sizes = cost.sizes
    rule = _word(cost.rule, lang) if cost.rule in WORDS else cost.rule
    return _word("title", lang), _word(
        "under", lang, heads=sizes.n_heads, d=sizes.d_head, rule=rule, window=cost.settings.window
    )


# the picture --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Chart:
    """Lines over n. value : of a row;  is_known : whether it was measured;  said : a value as the axis tells it"""

    title: str
    value: Callable[[CostRow], float | None]
    is_known: Callable[[CostRow], bool]
    said: Callable[[float], str]


def picture(cost: Cost, lang: str, theme: Theme, width: float = WIDTH) -> tuple[Panel, list[str]]:
    """Time and memory one above the other, and the picture in words. width : of a chart's own field"""
    charts = [
        _Chart(_word("time", lang), lambda row: row.time_s, lambda row: row.is_measured, lambda s: _tick(s, lang)),
        _Chart(
            _word("memory", lang), lambda row: row.peak_bytes or row.held_bytes,
            lambda row: row.is_measured and bool(row.peak_bytes), size,
        ),
    ]  # fmt: skip
    drawn = [_drawn(cost, chart, lang, theme, width) for chart in charts if any(chart.value(row) for row in cost.rows)]
    whole = stacked(drawn, 18)  # a page and a phone are narrower than two charts
    return stacked([whole, paragraph(_word("legend", lang), whole.width, theme)], 10), cost.text(lang).splitlines()


@dataclass(frozen=True)
class _Field:
    """Where a chart's numbers lie: powers of two across, powers of ten upwards."""

    low_n: float
    high_n: float
    low: float
    high: float
    width: float

    def x(self, n: float) -> float:
        return LEFT + self.width * (math.log2(n) - self.low_n) / (self.high_n - self.low_n)

    def y(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return round(SIZE + 12 + HEIGHT * (1 - share), 1)


def _field(cost: Cost, values: Sequence[float], width: float) -> _Field:
    low_n, high_n = math.log2(cost.n[0]), math.log2(cost.n[-1])
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    pad = 0.5 if low_n == high_n else 0.0
    return _Field(low_n - pad, high_n + pad, low, max(high, low + 1), width)


def _drawn(cost: Cost, chart: _Chart, lang: str, theme: Theme, width: float) -> Panel:
    values = [value for row in cost.rows if (value := chart.value(row))]
    field = _field(cost, values, width)
    nodes: list[Any] = [Text(chart.title, LEFT, SIZE + 1, SIZE, css(theme.ink), bold=True)]
    for power in range(int(field.low), int(field.high) + 1):
        y = field.y(10.0**power)
        nodes.append(line(LEFT, y, LEFT + width, y, css(theme.line)))
        nodes.append(Text(chart.said(10.0**power), LEFT - 6, y + 4, SIZE, css(theme.dim), "end"))
    nodes += _axis(cost, field, lang, theme)
    ends = []
    for name in cost.variants:
        points = [
            (field.x(row.n), field.y(value), chart.is_known(row))
            for row in cost.of(name)
            if (value := chart.value(row))
        ]
        if points:
            colour = _colour(name, theme)
            nodes += _line(points, colour, theme)
            ends.append((points[-1][1], name, colour))
    nodes += _names(ends, LEFT + width + 8)
    return Panel(LEFT + width + RIGHT, SIZE + 12 + HEIGHT + 2 * SIZE + 14, tuple(nodes))


def _line(points: Sequence[tuple[float, float, bool]], colour: str, theme: Theme) -> Iterator[Node]:
    """Pieces between neighbours: whole where both ends are measured, dashed otherwise; a point at each end."""
    for (x, y, known), (to_x, to_y, to_known) in itertools.pairwise(points):
        dashes = {} if known and to_known else {"stroke-dasharray": "5 4"}
        yield path(["M", x, y, "L", to_x, to_y], fill="none", stroke=colour, **{"stroke-width": 1.6, **dashes})
    for x, y, known in points:
        fill = colour if known else css(theme.paper)
        yield Node("circle", {"cx": x, "cy": y, "r": MARK, "fill": fill, "stroke": colour, "stroke-width": 1.4})


def _names(ends: Sequence[tuple[float, str, str]], left: float) -> Iterator[Text]:
    """The names at the ends of their lines, none over another, none under the field."""
    placed = apart([y for y, *_ in sorted(ends)], SIZE * 1.25, SIZE + 12 + HEIGHT)
    for y, (_, name, colour) in zip(placed, sorted(ends), strict=True):
        fitted = min(SIZE, SIZE * (RIGHT - 8) / width_of(name, SIZE * BOLD))
        yield Text(name, left, round(y + 4, 1), fitted, colour, bold=True)


def _axis(cost: Cost, field: _Field, lang: str, theme: Theme) -> Iterator[Any]:
    bottom = SIZE + 12 + HEIGHT
    every = math.ceil(len(cost.n) * TICK / field.width)
    for at, n in enumerate(cost.n):
        if at % every == 0:
            yield line(field.x(n), bottom, field.x(n), bottom + 4, css(theme.dim))
            yield Text(_short(n), field.x(n), bottom + SIZE + 7, SIZE, css(theme.dim), "middle")
    yield Text(_word("tokens", lang), LEFT + field.width, bottom + 2 * SIZE + 11, SIZE, css(theme.dim), "end")


def _tick(seconds: float, lang: str) -> str:
    """A power of ten of seconds on an axis, where minutes would be odd numbers.

    >>> _tick(1000.0, "en"), _tick(0.01, "en")
    ('1,000 s', '10 ms')
    """
    return f"{seconds:,.0f}{(' s', '초')[LANGS.index(lang)]}" if seconds >= 1 else duration(seconds, lang)


def _short(n: int) -> str:
    """A number of tokens on an axis.

    >>> _short(512), _short(16384), _short(1000)
    ('512', '16k', '1,000')
    """
    return f"{n // 1024}k" if n >= 1024 and n % 1024 == 0 else f"{n:,}"


def _colour(variant: str, theme: Theme) -> str:
    is_dark = sum(theme.paper) < 384
    return COLOURS[variant.partition(":")[0]][is_dark]


# tables -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """A table of texts with its title."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(cost: Cost, lang: str) -> list[Table]:
    """Time, memory, growth, operations, and, where there is a text, what is lost. Rounded."""
    found = []
    if any(row.time_s for row in cost.rows):
        found.append(_by_n(cost, lang, "time", lambda row: (row.time_s, row.is_measured), lambda s: duration(s, lang)))
    found.append(
        _by_n(
            cost,
            lang,
            "memory",
            lambda row: (row.peak_bytes or row.held_bytes, row.is_measured and bool(row.peak_bytes)),
            size,
        )
    )
    if any(row.is_measured for row in cost.rows):
        found.append(_growths(cost, lang))
    found.append(_operations(cost, lang))
    return found + ([_losses(cost, lang)] if cost.losses else [])


def _by_n(
    cost: Cost,
    lang: str,
    name: str,
    value: Callable[[CostRow], tuple[float | None, bool]],
    said: Callable[[float], str],
) -> Table:
    rows = []
    for n in cost.n:
        cells = [f"{n:,}"]
        for row in (row for row in cost.rows if row.n == n):
            number_of, known = value(row)
            cells.append("–" if number_of is None else said(number_of) if known else f"≈ {said(number_of)}")
        rows.append(tuple(cells))
    return Table(_word(name, lang), (_word("n", lang), *cost.variants), tuple(rows))


def _growths(cost: Cost, lang: str) -> Table:
    header = [_word(name, lang) for name in ("variant", "growth", "in_the_end", "share")]
    header += [_word("over", lang, other=other) for other in ("full", "flash")]
    rows = []
    for growth in cost.growth:
        last = [row for row in cost.of(growth.variant) if row.is_measured][-1:]
        share = cost.share_of_peak(last[0]) if last else None
        rows.append((
            growth.variant, "–" if growth.exponent is None else f"n^{growth.exponent:.2f}", f"n^{growth.predicted:g}",
            "–" if share is None else f"{100 * share:.0f}%", *(_overtakes(cost, growth, other) for other in ("full", "flash")),
        ))  # fmt: skip
    return Table(_word("comparison", lang), tuple(header), tuple(rows))


def _overtakes(cost: Cost, growth: Growth, other: str) -> str:
    return token_count(growth.overtakes.get(other), cost.n[0])


def _operations(cost: Cost, lang: str) -> Table:
    last = cost.n[-1]
    header = tuple(_word(name, lang) for name in ("variant", "multiply_adds", "exponentials", "moved"))
    rows = tuple(
        (row.variant, amount(row.multiply_adds, lang), amount(row.exponentials, lang), size(row.moved_bytes))
        for row in cost.rows
        if row.n == last
    )
    return Table(_word("operations", lang, n=f"{last:,}"), header, rows)


def _losses(cost: Cost, lang: str) -> Table:
    header = tuple(_word(name, lang) for name in ("variant", "output", "worst", "distance", "outside"))
    rows = []
    for loss in cost.losses:
        worst = max(loss.heads, key=lambda head: head.output)
        means = (float(each.mean()) for each in (loss.output, loss.distance, loss.outside))
        output, distance, outside = map(number, means)
        rows.append((loss.variant, output, f"{number(worst.output)} ({worst.head})", distance, outside))
    return Table(_word("losses", lang), header, tuple(rows))


def to_markdown(cost: Cost, lang: str) -> str:
    """The sentences, the tables, and what each variant does."""
    title, under = title_of(cost, lang)
    parts = [f"# {title}", under, *notes(cost, lang)]
    for table in tables(cost, lang):
        lines = [table.header, ("---:",) * len(table.header), *table.rows]
        parts += [f"## {table.title}", "\n".join(f"| {' | '.join(cells)} |" for cells in lines)]
    parts.append(_word("predicted", lang))
    for section in explained(cost, lang):
        parts += [f"## {section.title}", "\n".join(f"- {sentence}" for _, sentence in section.lines)]
    return "\n\n".join(parts) + "\n"


def to_csv(cost: Cost) -> str:
    """A row for each variant at each n, every digit."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [field.name for field in dataclasses.fields(CostRow)]
    writer.writerow([*names, "share_of_peak"])
    for row in cost.rows:
        values = [getattr(row, name) for name in names] + [cost.share_of_peak(row)]
        writer.writerow(["" if value is None else value for value in values])
    return out.getvalue()


# the terminal -------------------------------------------------------------------------------------


def printed(screen: Any, cost: Cost) -> None:
    """The tables on a screen, what they say, and what each variant does."""
    title, under = title_of(cost, screen.lang)
    screen.say(title, "bold")
    screen.say(under, "dim")
    for table in tables(cost, screen.lang):
        screen.title(table.title)
        screen.listed(table.rows, table.header, "right")
    screen.say(_word("predicted", screen.lang), "dim")
    screen.say()
    for sentence in notes(cost, screen.lang):
        screen.say(sentence)
    for section in explained(cost, screen.lang):
        screen.title(section.title)
        screen.entries(section.lines)


MOST_HEADS = 20


def printed_heads(screen: Any, found: WindowHeads) -> None:
    """The heads of a model that could do with a window, on a screen."""
    for sentence in found.text(screen.lang).splitlines():
        screen.say(sentence)
    if not found.n_rows:
        return
    screen.title(_word("heads", screen.lang))
    ordered = sorted(found.heads, key=lambda one: -one.inside)
    rows = [
        (f"{one.layer}.{one.head}", f"{100 * one.inside:.1f}%", f"{100 * one.least:.1f}%")
        for one in ordered[:MOST_HEADS]
    ]
    screen.listed(rows, [_word(name, screen.lang) for name in ("place", "inside", "least")], "right")
    if len(ordered) > MOST_HEADS:
        screen.say(_word("more", screen.lang, n=len(ordered) - MOST_HEADS), "dim")


# the page -----------------------------------------------------------------------------------------

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', 'Apple SD Gothic Neo', 'Malgun Gothic', 'Noto Sans KR', sans-serif;
  max-width: 62rem; margin: 0 auto; padding: 1rem; background: Canvas; color: CanvasText; word-break: keep-all; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: right; white-space: nowrap; padding: .2rem .7rem; border-bottom: 1px solid color-mix(in srgb, CanvasText 22%, Canvas); }
th:first-child, td:first-child { text-align: left; }
/* what is wider than the page scrolls; a shadow at an edge tells that more lies there */
.wide { overflow-x: auto; --edge: color-mix(in srgb, CanvasText 28%, transparent); background:
  linear-gradient(90deg, var(--paper, Canvas) 50%, transparent) 0 0 / 2.4rem 100% no-repeat local,
  linear-gradient(270deg, var(--paper, Canvas) 50%, transparent) 100% 0 / 2.4rem 100% no-repeat local,
  linear-gradient(90deg, var(--edge), transparent) 0 0 / .8rem 100% no-repeat scroll,
  linear-gradient(270deg, var(--edge), transparent) 100% 0 / .8rem 100% no-repeat scroll; }
figure { margin: 1rem 0; }
figure svg { display: block; width: 100%; height: auto; }
.dark, .slim { display: none; }
@media (max-width: 40rem) { .slim { display: block; } .broad { display: none; } }
@media (prefers-color-scheme: dark) { .dark { display: block; } .light { display: none; } }
main { display: none; }
.say { margin-right: 1rem; cursor: pointer; }
"""


def write(file: str | os.PathLike[str], cost: Cost, lang: str = "en") -> Path:
    """Write the page, whole or not at all.

    Errors: ``OutputError`` where the path cannot be written.
    """
    text = to_html(cost, lang)
    return write_whole(file, lambda name: Path(name).write_text(text, encoding="utf-8", newline="\n"))


def to_html(cost: Cost, lang: str = "en") -> str:
    """A page in both languages, light and dark as the reader's system is, without a script."""
    style, body = parts(cost, lang)
    return (
        f'<!doctype html>\n<html lang="{lang}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title_of(cost, lang)[0])}</title>\n'
        f"{style}</head>\n<body>\n{body}</body>\n</html>\n"
    )


def parts(cost: Cost, lang: str = "en") -> tuple[str, str]:
    """The style of the page, and what stands in its body."""
    shown = "\n".join(f"#say-{one}:checked ~ main[lang={one}] {{ display: block; }}" for one in LANGS)
    radios = "".join(
        f'<input type="radio" name="say" id="say-{one}"{" checked" if one == lang else ""}>'
        f'<label class="say" for="say-{one}" lang="{one}">{ {"en": "English", "ko": "한국어"}[one] }</label>\n'
        for one in LANGS
    )
    mains = "".join(f'<main lang="{one}">\n{_main(cost, one)}</main>\n' for one in LANGS)
    return f"<style>{STYLE}{shown}\n</style>\n", f"{radios}{mains}"


def _figure(cost: Cost, lang: str, theme: str) -> str:
    """As a page shows it, and as a phone does."""
    broad, slim = (_svg(cost, lang, theme, width) for width in (WIDTH, SLIM))
    return f'<figure class="{theme}"><div class="broad">{broad}</div><div class="slim">{slim}</div></figure>'


def _svg(cost: Cost, lang: str, theme: str, width: float) -> str:
    panel, told = picture(cost, lang, THEMES[theme], width)
    title = title_of(cost, lang)[0]
    return document(panel.width, panel.height, panel.nodes, title=title, desc=" ".join(told), lang=lang)


def _main(cost: Cost, lang: str) -> str:
    title, under = title_of(cost, lang)
    parts = [f"<h1>{escape(title)}</h1>", f"<p>{escape(under)}</p>"]
    parts += [_figure(cost, lang, theme) for theme in ("light", "dark")]
    parts += [f"<p>{escape(sentence)}</p>" for sentence in notes(cost, lang)]
    for table in tables(cost, lang):
        head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.header)
        rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>\n" for row in table.rows)
        parts.append(
            f'<h2>{escape(table.title)}</h2>\n<div class="wide" tabindex="0"><table>\n<thead><tr>{head}</tr></thead>\n'
            f"<tbody>\n{rows}</tbody></table></div>"
        )
    parts.append(f"<p>{escape(_word('predicted', lang))}</p>")
    for section in explained(cost, lang):
        told = "\n".join(f"<li>{escape(sentence)}</li>" for _, sentence in section.lines)
        parts.append(f"<h2>{escape(section.title)}</h2>\n<ul>{told}</ul>")
    return "\n".join(parts) + "\n"
