"""Draw the README's pictures anew from the real output: ``python docs/make_pictures.py``.

Each is an SVG of what ``jumok attend student`` prints, without a font from elsewhere, or of what ``jumok.draw`` draws; or
of a designed head of the gallery: its table wanted and reached, and its weights.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.terminal_theme import TerminalTheme

import jumok
from jumok.picture.heat import WEIGHTS, Cells, cells_of, cells_panel, legend, one_grid
from jumok.picture.layout import Panel, beside, padded, paragraph, placed, stacked
from jumok.picture.plain import cell_texts
from jumok.picture.svg import document, rect
from jumok.picture.terminal import Screen
from jumok.picture.theme import THEMES, css
from jumok.sources.design.examples import design_examples
from jumok.sources.example import GALLERY
from jumok.tokens import token_name
from jumok.trace import Trace, layers_of

HERE = Path(__file__).parent / "pictures"
FONTS = "ui-monospace, 'D2Coding', 'NanumGothicCoding', 'Noto Sans Mono CJK KR', Menlo, Consolas, monospace"
# rich's SVG with the system's fonts in place of a download
FORMAT = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: THE-FONTS; font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>{lines}</defs>
<rect width="{width}" height="{height}" rx="8" fill="#16181d" />
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
""".replace("THE-FONTS", FONTS)
CELL = 12.2  # the width of a cell in rich's SVG
THEME = TerminalTheme((22, 24, 29), (222, 226, 232), [(22, 24, 29)] + [(222, 226, 232)] * 7, [(90, 95, 104)] * 8)


def picture(file_name: str, lang: str, width: int, draw: Callable[[Screen], None]) -> None:
    """What is printed at a width in cells, as an SVG."""
    file = io.StringIO()
    console = Console(
        file=file, record=True, width=width, force_terminal=True, color_system="truecolor", highlight=False, markup=False,
        emoji=False,
    )  # fmt: skip
    draw(Screen(file, lang, console))
    svg = console.export_svg(theme=THEME, code_format=FORMAT, unique_id=file_name.replace(".", "-"))
    svg = re.sub(r'textLength="[\d.]+"([^>]*)>([^<]*)<', _as_wide_as_its_cells, svg)
    (HERE / f"{file_name}.svg").write_text(svg, encoding="utf-8")


def one_row(screen: Screen) -> None:
    """The first picture: the scores and weights of the worked example."""
    trace = jumok.attend(jumok.load("student"))
    for stage in ("scaled", "weights", "output"):
        screen.stage(trace, stage, trace.index("studies"), whole=False)


SAYS = {
    "wanted": ("Wanted", "바라는 가중치"),
    "reached": ("Reached", "얻은 가중치"),
    "w_q": ("W_Q", "W_Q"),
    "layer": ("W_Q, layer {n}", "W_Q, {n}층"),
    "told": ("{title}: wanted beside reached, and the weights.", "{title}: 바라는 가중치와 얻은 가중치, 그리고 W."),
}
ROOM = 1000  # a wanted table wider than half of it stands above the reached one


def designed(name: str, lang: str) -> None:
    """A head of the gallery: the rows that are wanted, what the file reaches, and W_Q in named dimensions, as an SVG."""
    example, light = jumok.load(name), THEMES["light"]
    layers = layers_of(jumok.attend(example))
    rows = sorted(example.wanted[0])
    wanted = design_examples([example])[0].wanted[0]
    tables = [_headed(_said("wanted", lang), _table(layers[-1], rows, wanted, lang))]
    tables.append(_headed(_said("reached", lang), _table(layers[-1], rows, layers[-1].weights[0], lang)))
    weights = []
    for at, layer in enumerate(layers):
        said = _said("layer", lang).format(n=at) if len(layers) > 1 else _said("w_q", lang)
        weights.append(_headed(said, cells_of(layer, one_grid(layer, "w_q", 0, None), lang)))
    both = beside(tables, 28) if sum(table.width for table in tables) < ROOM else stacked(tables, 20)
    body = padded(stacked([both, legend(WEIGHTS, light), beside(weights, 36)], 22), 12)
    title = example.title[lang]
    svg = document(
        body.width, body.height, (rect(0, 0, body.width, body.height, css(light.paper)), placed(body, 0, 0)),
        title=title, desc=_said("told", lang).format(title=title), lang=lang,
    )  # fmt: skip
    (HERE / f"design.{name}.{lang}.svg").write_text(svg, encoding="utf-8")


def _said(name: str, lang: str) -> str:
    return SAYS[name][("en", "ko").index(lang)]


def _table(trace: Trace, rows: list[int], values: object, lang: str) -> Cells:
    """Some rows of a table (query, key) as the cells of a heat map; a word that stands twice is numbered."""
    grid = replace(one_grid(trace, "weights", 0, None), values=values)
    cells = cells_of(trace, grid, lang)
    names = [token_name(trace.tokens, at) for at in range(trace.n_queries)]
    texts = cell_texts(replace(grid, values=grid.values[rows], hidden=_some(grid.hidden, rows)))
    return replace(
        cells,
        rows=[names[at] for at in rows],
        columns=names,
        values=grid.values[rows],
        texts=texts,
        hidden=_some(cells.hidden, rows),
    )


def _some(hidden: object, rows: list[int]) -> object:
    return None if hidden is None else hidden[rows]


def _headed(title: str, cells: Cells) -> Panel:
    panel = cells_panel(cells, THEMES["light"])
    return stacked([paragraph(title, max(panel.width, 80), THEMES["light"], 12, bold=True), panel], 8)


def _as_wide_as_its_cells(found: re.Match[str]) -> str:
    """rich counts a wide letter as one cell in its SVG."""
    text = html.unescape(found[2])
    return f'textLength="{CELL * cell_len(text):g}"{found[1]}>{found[2]}<'


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    student = jumok.attend(jumok.load("student"))
    for language in ("en", "ko"):
        picture(f"weights.{language}", language, 80, one_row)
        for cells in (80, 120):
            picture(f"student.{language}.{cells}", language, cells, lambda screen: screen.attended(student))
        for kind in ("arrows", "arcs"):
            jumok.draw(student, kind, lang=language).save(HERE / f"draw.{kind}.{language}.svg")
        for gallery in GALLERY:
            designed(gallery, language)
