"""Draw the README's pictures anew from the real output: ``python docs/make_pictures.py``.

Each is an SVG of what ``jumok attend student`` prints, without a font from elsewhere, or of what ``jumok.draw`` draws.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.terminal_theme import TerminalTheme

import jumok
from jumok.picture.terminal import Screen

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
