"""Draw the README's pictures anew from the real output: ``python docs/make_pictures.py``.

Each is an SVG of what ``jumok attend student`` prints, without a font from elsewhere, or of what ``jumok.draw`` draws; or
of a designed head of the gallery: its table wanted and reached, and its weights; or of training runs (a minute each).
``--stages``: only the stages of the worked example, light and dark.
"""

from __future__ import annotations

import html
import io
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.terminal_theme import TerminalTheme

import jumok
from jumok.picture.arrows import arcs
from jumok.picture.heat import WEIGHTS, Cells, cells_of, cells_panel, heat_map, legend, one_grid
from jumok.picture.layout import Panel, beside, padded, paragraph, placed, stacked
from jumok.picture.plain import cell_texts
from jumok.picture.svg import document, rect
from jumok.picture.terminal import Screen
from jumok.picture.theme import THEMES, Theme, css
from jumok.sources.design.examples import design_examples
from jumok.sources.example import GALLERY
from jumok.tokens import token_name
from jumok.trace import Trace, layers_of
from jumok.words import percent

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
LEARNED = {  # what the layers of a trained model do
    "induction": ("Induction, in two layers", "두 층이 하는 귀납"),
    "before": ("Layer 0: a new token reads the one before it", "0층: 처음 나온 토큰이 바로 앞 토큰을 참고합니다"),
    "after": (
        "Layer 1: a token seen before reads what followed it then",
        "1층: 앞에 나왔던 토큰이 그때 뒤따르던 것을 참고합니다",
    ),
    "turning": ("The same row in two sentences", "두 문장에서 같은 행"),
    "one": ("One layer, {word}: {ratio}", "한 층, {word}: {ratio}"),
    "two": ("Two layers, {word}: {ratio}", "두 층, {word}: {ratio}"),
}
ENDINGS = {"light": "", "dark": ".dark"}  # of a picture's name
STAGES = ("x", "w_q", "q", "k", "v", "scores", "scaled", "allowed", "weights", "weighted_values", "output")
ROOM = 720  # the page: tables that are wider together stand one above the other


def stages() -> None:
    """Every stage of the worked example; its mask is a causal one, since the example has none."""
    student = jumok.load("student")
    whole, causal = jumok.attend(student), jumok.attend(student, rule="causal")
    for stage in STAGES:
        for lang in ("en", "ko"):
            for theme, ending in ENDINGS.items():
                drawn = jumok.draw(causal if stage == "allowed" else whole, stage=stage, lang=lang, theme=theme)
                drawn.save(HERE / f"stage.{stage}.{lang}{ending}.svg")


def rows() -> None:
    """One row as arrows and as arcs."""
    student = jumok.attend(jumok.load("student"))
    for kind in ("arrows", "arcs"):
        for lang in ("en", "ko"):
            for theme, ending in ENDINGS.items():
                jumok.draw(student, kind, lang=lang, theme=theme).save(HERE / f"draw.{kind}.{lang}{ending}.svg")


def designed(name: str, lang: str, theme: str) -> None:
    """A head of the gallery: the rows that are wanted, what the file reaches, and W_Q in named dimensions, as an SVG."""
    example, look = jumok.load(name), THEMES[theme]
    layers = layers_of(jumok.attend(example))
    rows = sorted(example.wanted[0])
    wanted = design_examples([example])[0].wanted[0]
    tables = [_headed(_said("wanted", lang), _table(layers[-1], rows, wanted, lang), look)]
    tables.append(_headed(_said("reached", lang), _table(layers[-1], rows, layers[-1].weights[0], lang), look))
    weights = []
    for at, layer in enumerate(layers):
        said = _said("layer", lang).format(n=at) if len(layers) > 1 else _said("w_q", lang)
        weights.append(_headed(said, cells_of(layer, one_grid(layer, "w_q", 0, None), lang), look))
    both = beside(tables, 28) if sum(table.width for table in tables) < ROOM else stacked(tables, 20)
    body = stacked([both, legend(WEIGHTS, look), beside(weights, 36)], 22)
    title = example.title[lang]
    _write(f"design.{name}", body, title, _said("told", lang).format(title=title), lang, theme)


def induction(run: jumok.Learned, lang: str, theme: str) -> None:
    """What the two layers of a trained model do with the first sequence that was looked at, as an SVG."""
    look, query = THEMES[theme], run.history.probes[0].query
    maps = []
    for layer, said in zip(run.history.reading(), ("before", "after"), strict=True):
        panel, _ = heat_map(layer, "weights", 0, None, lang, look, query)
        maps.append(stacked([paragraph(_learned(said, lang), panel.width, look, 15, bold=True), panel], 10))
    told = jumok.explain(run).text(lang)
    _write("learn.induction", stacked(maps, 30), _learned("induction", lang), told, lang, theme)


def turning(runs: dict[str, jumok.Learned], lang: str, theme: str) -> None:
    """The row of *it* where the animal and where the thing is meant, of one layer and of two, as an SVG."""
    look, rows = THEMES[theme], []
    for name, run in runs.items():
        panels = []
        for probe, asked in enumerate(run.history.probes[:2]):
            trace = run.history.trace(probe=probe, layer=len(run.history.layers) - 1)
            panel, _ = arcs(trace, 0, asked.query, lang, look)
            said = _learned(name, lang).format(word=trace.tokens[-1].text, ratio=_shares(run, trace))
            panels.append(stacked([paragraph(said, panel.width, look, 15, bold=True), panel], 10))
        rows.append(stacked(panels, 20))
    told = " ".join(jumok.explain(run).text(lang) for run in runs.values())
    _write("learn.turning", stacked(rows, 30), _learned("turning", lang), told, lang, theme)


def _shares(run: jumok.Learned, trace: Trace) -> str:
    """The weights of the two nouns in the row that is looked at."""
    keys = [probe.reads[0] for probe in run.history.probes[:2]]
    weights = trace.rows("weights", queries=[run.history.probes[0].query])[0, 0]
    return ", ".join(f"{trace.tokens[key].text} {percent(float(weights[key]))}" for key in keys)


def _learned(name: str, lang: str) -> str:
    return LEARNED[name][("en", "ko").index(lang)]


def _write(name: str, panel: Panel, title: str, desc: str, lang: str, theme: str) -> None:
    body, paper = padded(panel, 12), css(THEMES[theme].paper)
    nodes = (rect(0, 0, body.width, body.height, paper), placed(body, 0, 0))
    svg = document(body.width, body.height, nodes, title=title, desc=desc, lang=lang)
    (HERE / f"{name}.{lang}{ENDINGS[theme]}.svg").write_text(svg, encoding="utf-8")


def trained() -> None:
    """Training runs: one row of one and two layers, the curves and the layers of induction."""
    pronoun = {"one": jumok.learn("pronoun", n_layers=1), "two": jumok.learn("pronoun")}
    repeat = jumok.learn("repeat")
    for lang in ("en", "ko"):
        for theme, ending in ENDINGS.items():
            turning(pronoun, lang, theme)
            jumok.draw(repeat, lang=lang, theme=theme).save(HERE / f"learn.repeat.{lang}{ending}.svg")
            induction(repeat, lang, theme)


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


def _headed(title: str, cells: Cells, look: Theme) -> Panel:
    panel = cells_panel(cells, look)
    return stacked([paragraph(title, max(panel.width, 80), look, 12, bold=True), panel], 8)


def _as_wide_as_its_cells(found: re.Match[str]) -> str:
    """rich counts a wide letter as one cell in its SVG."""
    text = html.unescape(found[2])
    return f'textLength="{CELL * cell_len(text):g}"{found[1]}>{found[2]}<'


def everything() -> None:
    """Every picture but the stages."""
    student = jumok.attend(jumok.load("student"))
    for language in ("en", "ko"):
        picture(f"weights.{language}", language, 80, one_row)
        for cells in (80, 120):
            picture(f"student.{language}.{cells}", language, cells, lambda screen: screen.attended(student))
        for gallery in GALLERY:
            for theme in ENDINGS:
                designed(gallery, language, theme)
    trained()


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    stages()
    rows()
    if sys.argv[1:] != ["--stages"]:
        everything()
