"""The terminal: stages as aligned tables coloured by weight, explanations, lists. Made with rich.

Plain where the output is no terminal or NO_COLOR is set. Hangul and emoji are two cells wide. What a
console of another encoding (CP949) cannot show is replaced before anything is laid out.
"""

from __future__ import annotations

import codecs
import os
import unicodedata
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any, Literal

import numpy as np
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..explanation.explanation import default_token, explain
from ..explanation.phrases import STAGE_PHRASES
from ..layer_numbers import layer_numbers
from ..tokens import token_name, token_names
from ..trace import Reading, Trace, layers_of
from ..words import LANGS, by_language, counted, isolated, number, shown, without_isolates
from .grids import Grid, grids_of, pared
from .plain import cell_texts, heading, label

if TYPE_CHECKING:
    from ..explanation.explanation import Explanation
    from ..measurement.spread import Scaling

__all__ = ["Screen", "mask_name"]

MOST_ROWS, MOST_COLUMNS = 16, 24  # shown of a long text when all stages are shown
WHOLE_ROWS, WHOLE_COLUMNS = 200, 200  # shown of one stage
LEAST_WIDTH = 20  # cells; on a narrower terminal lines run over instead of losing numbers

# cividis, dark to bright: even to every eye, also without red and green (Nuñez et al. 2018)
_RAMP = ((0, 34, 78), (65, 77, 107), (125, 124, 120), (188, 174, 108), (254, 232, 56))

KOREAN = {"token": "토큰", "head": "헤드", "dimension": "차원", "layer": "층"}
WORDS = {
    "layer": ("Layer {n}", "{n}층"),
    "mask": ("mask: {mask}", "마스크: {mask}"),
    "everything": ("none (every token may read every token)", "없음 (모든 토큰이 서로 볼 수 있음)"),
    "identity": ("{name} is the identity: {to} = X", "{name}는 단위 행렬: {to} = X"),
    "legend": (
        "weights: dark = little, bright = much; rounded to 3 decimals (--json has every digit)",
        "가중치: 어두우면 작고 밝으면 큼. 소수점 아래 셋째 자리까지 반올림 (--json에는 모든 자리)",
    ),
    "corner": ("  query / key", "  쿼리 / 키"),
    "rounded": (
        "numbers are rounded to 3 decimals (--json has every digit)",
        "숫자는 소수점 아래 셋째 자리까지 반올림 (--json에는 모든 자리)",
    ),
    "more_rows": (
        "… {n} more tokens; --stage {stage} shows more, --token one, --csv all",
        "… 토큰 {n}개 더 있음. 더 보려면 --stage {stage}, 하나만 보려면 --token, 모두 보려면 --csv",
    ),
    "pared": (
        "… left out: {rows} rows, {columns} columns (the smallest); --csv has all",
        "… 줄인 것: 행 {rows}개, 열 {columns}개(가장 작은 것들). 모두 보려면 --csv",
    ),
    "not_kept": ("{stage}: this record does not hold it", "{stage}: 이 기록에는 들어 있지 않습니다"),
    "row_of": ("The row of {token}, number by number", "{token}의 행, 숫자 하나하나"),
    "summary": ("Who attends to whom", "누가 누구를 참고하는가"),
    "itself": ("itself", "자기 자신"),
    "evenly": ("all alike", "모두 고르게"),
    "nothing": ("nothing (hidden by the mask)", "볼 수 있는 것 없음 (마스크)"),
    "next": ("Try next", "다음에 해 볼 것"),
}


SPREAD = {
    "unscaled": ("q · k as it is", "q · k 그대로"),
    "scaled": ("q · k ÷ √d", "q · k ÷ √d"),
    "d": ("d", "d"),
    "variance": ("variance", "분산"),
    "theory": ("in theory", "이론값"),
    "std": ("spread (std)", "퍼짐 (표준편차)"),
    "largest": ("largest weight", "가장 큰 가중치"),
    "gradient": ("gradient left", "남는 기울기"),
}


class Screen:
    """A place to print to, in a language.

    file : where it goes;  lang : "en" or "ko";  console : a rich console of one's own, to record with
    """

    def __init__(self, file: IO[str], lang: str = "en", console: Console | None = None) -> None:
        plain = bool(os.environ.get("NO_COLOR"))
        options: dict[str, Any] = {"no_color": True, "color_system": None} if plain else {}
        self.console = console or Console(file=file, highlight=False, markup=False, emoji=False, **options)
        if self.console.width < LEAST_WIDTH:  # a window that no number fits into; COLUMNS=0 says nothing
            self.console.width = LEAST_WIDTH if self.console.width > 0 else 80
        self.lang = lang
        self.encoding = (getattr(file, "encoding", None) or "utf-8").lower()
        self.unicode = self.encoding.replace("_", "-").startswith(("utf-8", "utf8", "utf-16", "utf-32"))
        self.yes, self.no, self.mark = ("●", "·", "▶") if self.unicode else ("O", ".", ">")

    # words ------------------------------------------------------------------------------------

    def fits(self, text: str) -> str:
        """The text with what the console's encoding cannot show replaced by the nearest that it can."""
        if self.unicode:
            return text
        text = without_isolates(text)
        try:
            text.encode(self.encoding)
        except UnicodeEncodeError:
            return "".join(_nearest(letter, self.encoding) for letter in text)
        except LookupError:
            return text
        return text

    def word(self, name: str, /, **data: Any) -> str:
        """A short phrase of the screen's own, in its language."""
        return WORDS[name][LANGS.index(self.lang)].format(**data)

    def say(self, text: str = "", style: str = "", before: str = "", under: str | None = None) -> None:
        """A text, wrapped at words; ``before`` stands in front of its first line, ``under`` of the others."""
        under = " " * cell_len(before) if under is None else under
        for at, part in enumerate(Text(self.fits(text)).wrap(self.console, max(8, self.console.width - len(under)))):
            part.rstrip()
            self.console.print(Text((before if at == 0 else under) + part.plain, style=style), soft_wrap=True)

    def lines(self, text: str) -> None:
        """Lines that may be indented or entries of a list, each wrapped under its own beginning."""
        for line in text.split("\n"):
            before = " " * (len(line) - len(line.lstrip(" "))) + ("- " if line.lstrip(" ").startswith("- ") else "")
            self.say(line.removeprefix(before), before=before)

    def title(self, text: str) -> None:
        """A heading with a line under it as wide as itself."""
        text = self.fits(text)
        self.console.print()
        self.console.print(Text(text, style="bold"))
        line = ("─" if self.unicode else "-") * min(cell_len(text), self.console.width)
        self.console.print(Text(line, style="dim"))

    def entries(self, lines: Sequence[tuple[bool, str]]) -> None:
        """Sentences, and entries of a list, each wrapped under its own beginning."""
        for is_entry, line in lines:
            self.say(line, before="  - " if is_entry else "  ")

    # a worked example -------------------------------------------------------------------------

    def attended(self, trace: Trace | Reading, focus: int | None = None, pair: Reading | None = None) -> None:
        """All stages of a Trace or Reading, the row of one token number by number, and who attends to whom.

        pair : the Reading of a sentence that differs in other words, to set beside this one
        """
        layers = layers_of(trace)
        self.head(layers)
        for at, one in zip(layer_numbers(trace), layers, strict=True):
            if len(layers) > 1:
                self.title(self.word("layer", n=at))
            self._stages(one, default_token(one) if focus is None else focus)
        chosen = default_token(layers[0]) if focus is None else focus
        self._row(trace, chosen, pair)
        self._who(layers[-1])
        self.say()
        self.say(self.word("legend" if not self._plain() else "rounded"), "dim")

    def _plain(self) -> bool:
        return self.console.color_system is None

    def head(self, layers: Sequence[Trace]) -> None:
        """Title, sentence and sizes of a record."""
        first = layers[0]
        said = first.source.details
        title = by_language(said.get("title"), self.lang) or by_language(first.source.name, self.lang)
        if title:
            self.say(title, "bold")
        if sentence := by_language(said.get("sentence"), self.lang):
            self.say(sentence)
        parts = [self._counted(first.n_queries, "token"), self._counted(first.n_heads, "head")]
        if first.x is not None:
            parts.append(self._counted(first.x.shape[1], "dimension"))
        if len(layers) > 1:
            parts.append(self._counted(len(layers), "layer"))
        parts.append(self.word("mask", mask=mask_name(first.rule.allowed.kind, self.lang)))
        self.say(" · ".join(parts), "dim")

    def _counted(self, n: int, what: str) -> str:
        return counted(n, what) if self.lang == "en" else f"{KOREAN[what]} {n:,}개"

    def _stages(self, trace: Trace, focus: int) -> None:
        stages = ["x", "w_q", "w_k", "w_v", "q", "k", "v", "scores", "scaled"]
        stages += ["allowed", "weights", "weighted_values"]
        w_o = trace.heads is not None and trace.heads.w_o is not None
        stages += (["mixed"] if trace.n_heads > 1 or w_o else []) + (["w_o"] if w_o else []) + ["output"]
        for stage in stages:
            self.stage(trace, stage, focus, whole=False)

    def stage(self, trace: Trace, stage: str, focus: int | None, *, whole: bool, only: bool = False) -> None:
        """One stage: its heading, what it is, and its grids. ``only`` shows just the row of the focus."""
        queries = self._queries(trace, stage, focus, whole, only)
        grids = grids_of(trace, stage, queries)
        if not grids and whole:
            self.say(self.word("not_kept", stage=stage))
        for grid in grids:
            self.title(heading(trace, grid, self.lang))
            if stage in STAGE_PHRASES:
                said = STAGE_PHRASES[stage][1 + LANGS.index(self.lang)]
                self.say(said.replace("●", self.yes).replace("·", self.no) if stage == "allowed" else said, "dim")
            if stage == "allowed" and not whole and bool(np.all(grid.values)):
                self.say(self.word("everything"))
            elif stage[:2] == "w_" and _is_identity(grid.values):
                self.say(self.word("identity", name=f"W_{stage[-1].upper()}", to=stage[-1].upper()))
            else:
                most = (WHOLE_ROWS, WHOLE_COLUMNS) if whole else (MOST_ROWS, MOST_COLUMNS)
                self.grid(pared(grid, *most, focus), focus)
                if (left_out := _left_out(grid, *most)) != (0, 0):
                    self.say(self.word("pared", rows=left_out[0], columns=left_out[1]), "dim")
        left = trace.n_queries - len(queries) if queries is not None and not only else 0
        if grids and left > 0 and stage not in ("weighted_values", "w_q", "w_k", "w_v", "w_o"):
            self.say(self.word("more_rows", n=left, stage=stage), "dim")

    def _queries(self, trace: Trace, stage: str, focus: int | None, whole: bool, only: bool) -> list[int] | None:
        if focus is not None and (only or (stage == "weighted_values" and not whole)):
            return [focus]
        most = WHOLE_ROWS if whole else MOST_ROWS
        if trace.n_queries <= most:
            return None
        first = list(range(most))
        return first if focus is None or focus < most else [*first[:-1], focus]

    def grid(self, grid: Grid, focus: int | None = None) -> None:
        """A grid of numbers, its columns in as many pieces as the width asks for."""
        rows = [self.fits(isolated(label(name, self.lang))) for name in grid.rows]
        columns = [self.fits(isolated(label(name, self.lang))) for name in grid.columns]
        cells = cell_texts(grid, self.yes, self.no)
        marked = [grid.row_at is not None and grid.query is None and grid.row_at[r] == focus for r in range(len(rows))]
        numbers = [max([1, *(cell_len(row[c]) for row in cells)]) for c in range(len(columns))]
        most_label = max(4, min(max(8, self.console.width // 3), self.console.width - max([1, *numbers]) - 5))
        corner = cell_len(self.fits(self.word("corner"))) - 2 if grid.column_at is not None else 1
        label_width = min(most_label, max([corner, *(cell_len(name) for name in rows)])) + 3  # a mark, a space
        room = self.console.width - label_width  # a name may be cut, a number never
        widths = [max(n, min(24, room - 2, cell_len(name))) for n, name in zip(numbers, columns, strict=True)]
        for piece in _pieces(widths, room):
            self._piece(grid, piece, rows, columns, cells, marked, (label_width, widths))

    def _piece(
        self, grid: Grid, piece: range, rows: list[str], columns: list[str], cells: list[list[str]], marked: list[bool],
        sizes: tuple[int, list[int]],
    ) -> None:  # fmt: skip
        label_width, widths = sizes
        crop: Any = "ellipsis" if self.unicode else "crop"
        table = Table(box=None, show_edge=False, pad_edge=False, padding=0)
        corner = self.fits(self.word("corner")) if grid.column_at is not None else ""
        table.add_column(Text(corner, style="dim"), width=label_width, no_wrap=True, overflow=crop)
        for c in piece:
            table.add_column(
                Text(columns[c], overflow=crop), justify="right", width=widths[c] + 2, no_wrap=True, header_style="bold"
            )
        for r, name in enumerate(rows):
            tag = f"{self.mark} " if marked[r] else "  "
            styled = [Text(cells[r][c].rjust(widths[c] + 2), style=self._style(grid, r, c)) for c in piece]
            table.add_row(Text(tag + name, style="bold" if marked[r] else ""), *styled)
        self.console.print(table)

    def _style(self, grid: Grid, row: int, column: int) -> str:
        if grid.hidden is not None and grid.hidden[row][column]:
            return "dim"
        if grid.stage != "weights":
            return ""
        value = float(grid.values[row][column])
        red, green, blue = _ramp(value**0.5)
        text = "black" if value**0.5 > 0.5 else "white"
        strongest = value == float(np.max(grid.values[row])) > float(np.min(grid.values[row]))
        return f"{'bold ' if strongest else ''}{text} on rgb({red},{green},{blue})"

    def _row(self, trace: Trace | Reading, focus: int, pair: Reading | None) -> None:
        layers = layers_of(trace)
        token = shown(token_name(layers[0].tokens, focus))
        self.title(self.word("row_of", token=token))
        explanation = explain(trace, focus, self.lang, pair=pair)
        wanted = ("scores", "weights", "output", "change", "layers")
        for section in explanation.sections(self.lang):
            if section.name in wanted:
                self.say(section.title, "bold")
                self.entries(section.lines)

    def _who(self, trace: Trace) -> None:
        self.title(self.word("summary"))
        asking, read = token_names(trace.tokens), token_names(trace.read_tokens)
        for query in range(min(trace.n_queries, MOST_ROWS)):
            allowed = trace.rows("allowed", queries=[query])[0]
            weights = trace.rows("weights", queries=[query])[:, 0].mean(axis=0)
            self.entries(
                [(True, f"{isolated(shown(asking[query]))} → {self._attends(trace, query, read, allowed, weights)}")]
            )
        if trace.n_queries > MOST_ROWS:
            self.say(self.word("more_rows", n=trace.n_queries - MOST_ROWS, stage="weights"), "dim")

    def _attends(self, trace: Trace, query: int, names: Sequence[str], allowed: Any, weights: Any) -> str:
        if not allowed.any():
            return self.word("nothing")
        if allowed.sum() > 1 and np.ptp(weights[allowed]) < 1e-9:
            return f"{self.word('evenly')} ({number(100 * float(weights[allowed][0]))}%)"
        parts = []
        for key in np.argsort(-weights, kind="stable")[:3]:
            if allowed[key] and weights[key] >= 0.01:
                own = key == query and trace.key_tokens is None
                name = self.word("itself") if own else isolated(shown(names[key]))
                parts.append(f"{name} {100 * weights[key]:.1f}%")
        return ", ".join(parts)

    # explanations, lists, the spread of scores ---------------------------------------------------

    def explained(self, explanation: Explanation) -> None:
        """An explanation, section by section."""
        for n, section in enumerate(explanation.sections(self.lang), start=1):
            self.title(f"{n}. {section.title}")
            self.entries(section.lines)
        self.say()
        self.say(self.word("rounded"), "dim")

    def next_steps(self, commands: Sequence[tuple[str, str]]) -> None:
        """Commands to try, each with what it does."""
        self.title(self.word("next"))
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=self.console.width >= 80)
        table.add_column(overflow="fold")
        for command, what in commands:
            table.add_row(Text("  " + self.fits(command), style="bold"), Text(self.fits(what)))
        self.console.print(table)

    def listed(
        self, rows: Sequence[Sequence[str]], header: Sequence[str], justify: Literal["left", "right"] = "left"
    ) -> None:
        """A table of texts."""
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for name in header:
            table.add_column(Text(self.fits(name)), overflow="fold", justify=justify)
        for row in rows:
            table.add_row(*(Text(self.fits(cell)) for cell in row))
        self.console.print(table)

    def spread(self, scaling: Scaling) -> None:
        """The spread of q·k by width, measured beside the theory."""
        at = LANGS.index(self.lang)
        for one in ("unscaled", "scaled"):
            self.title(SPREAD[one][at])
            rows = []
            for row in scaling.rows:
                measured = getattr(row, one)
                share = f"{number(measured.gradient)} ({100 * measured.gradient_share:.0f}%)"
                numbers = (measured.variance, measured.theory_variance, measured.std, measured.largest_weight)
                rows.append([f"{row.d:,}", *map(number, numbers), share])
            self.listed(
                rows, [SPREAD[name][at] for name in ("d", "variance", "theory", "std", "largest", "gradient")], "right"
            )
        self.say(scaling.text(self.lang))


def mask_name(kind: str, lang: str) -> str:
    """What a rule of who may read whom is called."""
    return WORDS["everything"][LANGS.index(lang)] if kind == "everything" else kind


def _left_out(grid: Grid, most_rows: int, most_columns: int) -> tuple[int, int]:
    """How many rows and columns of a grid are beyond what is shown."""
    return max(0, len(grid.rows) - most_rows), max(0, len(grid.columns) - most_columns)


def _ramp(share: float) -> tuple[int, int, int]:
    place = min(max(share, 0.0), 1.0) * (len(_RAMP) - 1)
    low = min(int(place), len(_RAMP) - 2)
    part = place - low
    red, green, blue = (round(a + (b - a) * part) for a, b in zip(_RAMP[low], _RAMP[low + 1], strict=True))
    return red, green, blue


def _pieces(widths: list[int], room: int) -> list[range]:
    """Neighbouring columns that fit into the room, piece by piece; at least one column a piece."""
    pieces: list[range] = []
    start, used = 0, 0
    for at, width in enumerate(widths):
        if at > start and used + width + 2 > room:
            pieces.append(range(start, at))
            start, used = at, 0
        used += width + 2
    return [*pieces, range(start, len(widths))] if widths else []


def _is_identity(w: Any) -> bool:
    return w.shape[0] == w.shape[1] and bool(np.array_equal(w, np.eye(len(w))))


_INSTEAD = {
    "−": "-",
    "–": "-",
    "—": "-",
    "…": "...",
    "✓": "v",
    "ᵀ": "T",
    "₀": "0",
    "₁": "1",
    "▶": ">",
    "●": "O",
    "␣": "_",
}


def _nearest(letter: str, encoding: str) -> str:
    """A letter as the encoding can show it: itself, a look-alike, its plain form, or its code."""
    for text in (letter, _INSTEAD.get(letter, ""), unicodedata.normalize("NFKD", letter)):
        plain = "".join(a for a in text if not unicodedata.combining(a)) if text != letter else text
        try:
            if plain:
                codecs.encode(plain, encoding)
                return plain
        except (UnicodeEncodeError, LookupError):
            continue
    return f"\\u{ord(letter):04x}" if ord(letter) < 0x10000 else f"\\U{ord(letter):08x}"
