"""A lesson in a terminal: piece by piece, question by question, by keyboard alone; it can be left and taken up again."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeGuard

from rich.cells import cell_len
from rich.table import Table as Grid
from rich.text import Text

from ..errors import InputError, JumokError, OutputError
from ..files import write_whole
from ..picture.printed import printed
from ..picture.terminal import Screen
from ..trace import Reading, Trace, layers_of
from .blocks import Block, Exercise, Predict, Question, Show, Try
from .functions import tokens_of
from .goals import Ticked
from .lesson import Asked, Lesson, chosen
from .markdown import Fence, Heading, Items, Paragraph, Piece, Quote, Table, seen, spans
from .phrases import say
from .plain import answer_of, change_of
from .progress import Progress
from .views import command, explained, picture

__all__ = ["Keyboard", "Reader", "change_in", "listed"]

WIDTH = 80
MOST_KEYS = 9  # a wider table is told by the strongest weights of each row
N_STRONGEST, SMALLEST = 3, 0.005
CODE_INDENT = 4
FEW = 1  # a heading with less before it waits for no key
Keyboard = Callable[[str], str]  # a prompt → the line that somebody typed; EOFError where there is nobody any more
STAGES = {
    "score": "scores",
    "scaled": "scaled",
    "weight": "weights",
    "output": "output",
}  # what goals ask of → what is shown
STYLES = {"strong": "bold", "em": "italic", "code": "cyan", "link": "underline", "plain": ""}


class _Leave(Exception):
    """The learner wants to go."""


class Reader:
    """One lesson being read.

    screen : where it is shown;  keyboard : where answers come from, or None to print it all
    folder : where exercises are written;  called : how jumok was called
    answers : whether the answers are printed, where there is no keyboard
    """

    def __init__(
        self, lesson: Lesson, screen: Screen, keyboard: Keyboard | None, progress: Progress, folder: Path, called: str,
        answers: bool = False,
    ) -> None:  # fmt: skip
        self.lesson = lesson
        self.screen = screen
        self.keyboard = keyboard
        self.progress = progress
        self.folder = folder
        self.called = called
        self.answers = answers
        self.lang = lesson.lang
        self.is_kept = True  # what was done; until that fails
        self.n_since = 0  # pieces since somebody pressed a key
        screen.console.width = min(screen.console.width, WIDTH)

    def run(self) -> bool:
        """Go through the lesson from where it was left. False where the learner left again."""
        lesson, elements = self.lesson, self.lesson.written().elements
        place = self.progress.at(lesson.name)
        start = place if self.keyboard and 0 < place < len(elements) else 0
        self._title()
        if start:
            self.screen.say(say("resumed", self.lang), "dim")
        try:
            for at in range(start, len(elements)):
                self._element(elements[at])
                self.n_since += 1
                if self.keyboard:
                    self._note(f"@{at + 1}", "read")
        except (_Leave, EOFError, KeyboardInterrupt):
            self.screen.say()
            self.screen.say(say("left", self.lang, command=f"{self.called} lesson {lesson.name}"), "dim")
            return False
        self.screen.say()
        self.screen.say(say("end", self.lang), "bold")
        return True

    def _title(self) -> None:
        lesson = self.lesson
        number = "" if lesson.number is None else say("lesson", self.lang, number=lesson.number) + " · "
        self.screen.title(f"{number}{seen(lesson.title)}")
        self.screen.say(say("minutes", self.lang, n=lesson.minutes), "dim")
        if self.keyboard:
            self.screen.say(say("keys", self.lang), "dim")
        self.screen.say()

    def _element(self, element: Piece | Block) -> None:
        if isinstance(element, Show):
            self._show(element)
            self._pause()
        elif isinstance(element, Block):
            self._ask(element)
        else:
            if isinstance(element, Heading) and self.n_since > FEW:
                self._pause()
            self.piece(element)

    # text -------------------------------------------------------------------------------------

    def piece(self, piece: Piece) -> None:
        """A piece of text on the screen."""
        if isinstance(piece, Heading):
            self.screen.title(_plain(self.lesson.filled(piece.text)))
        elif isinstance(piece, Fence):
            self._code(piece.body)
        elif isinstance(piece, Items):
            for _, mark, depth, text in piece.entries:
                self._line(text, f"{'  ' * depth}  {mark} ")
        elif isinstance(piece, Table):
            self._table(piece)
        else:
            assert isinstance(piece, Paragraph | Quote)
            self._line(piece.text, "  | " if isinstance(piece, Quote) else "")
        self.screen.say()

    def _line(self, text: str, before: str = "") -> None:
        self._print(self._styled(self.lesson.filled(text)), before)

    def _styled(self, markdown: str) -> Text:
        return Text.assemble(*((self.screen.fits(seen(span.text)), STYLES[span.kind]) for span in spans(markdown)))

    def _print(self, text: Text, before: str = "") -> None:
        """A text wrapped at words under its own beginning."""
        console = self.screen.console
        under = " " * cell_len(before) if before.strip() != "|" else before
        for at, line in enumerate(text.wrap(console, max(8, console.width - len(under)))):
            line.rstrip()
            console.print(Text.assemble(self.screen.fits(before if at == 0 else under), line), soft_wrap=True)

    def _code(self, code: str) -> None:
        """Code, set in as far as its longest line leaves room."""
        lines = [self.screen.fits(seen(line.expandtabs(4))) for line in code.split("\n")]
        room = self.screen.console.width - max(map(cell_len, lines))
        for line in lines:
            self.screen.console.print(Text(" " * min(CODE_INDENT, max(0, room)) + line, style="cyan"), soft_wrap=True)

    def _table(self, piece: Table) -> None:
        grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for cell in piece.rows[0]:
            grid.add_column(self._styled(self.lesson.filled(cell)), overflow="fold")
        for row in piece.rows[1:]:
            grid.add_row(*(self._styled(self.lesson.filled(cell)) for cell in row))
        self.screen.console.print(grid)

    def _show(self, show: Show) -> None:
        drawn = picture(self.lesson, show)
        if show.view == "code":
            self._code(show.code)
        elif drawn is not None and _is_wide(trace := drawn.drawn()) and drawn.choice.stage == "weights":
            self.screen.say(drawn.title, "bold")
            self.screen.say()
            self._strongest(trace, drawn.choice.head, drawn.choice.query)
        elif drawn is not None:
            printed(self.screen, drawn)
        elif show.view == "explain":
            self.screen.explained(explained(self.lesson, show))
        called = command(self.lesson, show).replace("jumok", self.called, 1)
        if show.view == "page":
            self.screen.say(say("live", self.lang, command=called))
        self.screen.say()

    def _strongest(self, trace: Trace, head: int, query: int | None = None) -> None:
        """Of a table too wide for the screen: the keys that each query reads most."""
        tokens, asks = tokens_of(trace), say("query", self.lang)
        rows = trace.rows("weights", heads=[head])[0]
        width = max(map(cell_len, [asks, *map(self.screen.fits, tokens)]))
        grid = Grid(box=None, pad_edge=False, padding=(0, 3, 0, 0), show_header=False)
        grid.add_column(style="bold", min_width=width)
        for _ in range(N_STRONGEST):
            grid.add_column()
        self.screen.say(f"{asks}{' ' * (width - cell_len(asks))}   {say('reads_most', self.lang)}", "bold")
        for at in range(len(rows)) if query is None else [query]:
            keys = (-rows[at]).argsort(kind="stable")[:N_STRONGEST]
            keys = keys[: max(1, (rows[at][keys] >= SMALLEST).sum())]
            grid.add_row(*map(self.screen.fits, (tokens[at], *(f"{tokens[key]} {rows[at][key]:.3f}" for key in keys))))
        self.screen.console.print(grid)

    # questions --------------------------------------------------------------------------------

    def _ask(self, block: Block) -> None:
        asked = self.lesson.asked(block.id)
        self.screen.say(say(block.kind, self.lang), "bold")
        self._print(self._styled(asked.text), "  ")
        for at, choice in enumerate(asked.choices, start=1):
            self._print(self._styled(choice), f"    {at}. ")
        if isinstance(block, Exercise) and self.keyboard is None:
            self._code(block.stub)
        if isinstance(block, Try) and self.keyboard:
            self._print(Text(say("give_change", self.lang, form=form_of(block.solution, self.lang)), "dim"), "  ")
        self.screen.say()
        if self.keyboard is None:
            if self.answers:
                self._show_answer(asked)
            return
        answers = {Predict: self._guess, Question: self._answer, Try: self._change, Exercise: self._check}
        self._until_done(asked, answers[type(block)](asked))

    def _until_done(self, asked: Asked, answer: Callable[[str], bool]) -> None:
        """Read lines until the answer is right or is asked for; hints come one at a time."""
        n_hints = 0
        while True:
            line = self._read(self._prompt(asked))
            if line == "?":
                n_hints = self._hint(asked, n_hints)
            elif line in ("s", "ㄴ"):
                self._solve(asked)
                return
            else:
                try:
                    if answer(line):
                        self.screen.say()
                        return
                except JumokError as error:
                    self.screen.say(error.text(self.lang))
            self.screen.say()

    def _hint(self, asked: Asked, n: int) -> int:
        if n >= len(asked.block.hints):
            self.screen.say(say("no_hints", self.lang), "dim")
            return n
        self._print(self._styled(f"{say('hint', self.lang, n=n + 1)}: {self.lesson.hint(asked, n)}"), "  ")
        return n + 1

    def _prompt(self, asked: Asked) -> str:
        block = asked.block
        if isinstance(block, Predict):
            return say("choose", self.lang, n=len(asked.choices))
        if isinstance(block, Question):
            return say("give_number", self.lang)
        if isinstance(block, Try):
            return say("your_change", self.lang)
        path = self._file(asked)
        return say("check_file" if path.exists() else "give_file", self.lang, path=path.name)

    def _guess(self, asked: Asked) -> Callable[[str], bool]:
        def answer(line: str) -> bool:
            if not line:
                return False
            found = self.lesson.answered(asked, line)
            said = answer_of(asked)
            given = chosen(asked, line)
            word = "guessed_right" if found.is_right else "guessed"
            self.screen.say(say(word, self.lang, answer=said, given=given), "bold")
            self._print(self._styled(found.text))
            self._keep(asked, "right" if found.is_right else "guessed")
            return True

        return answer

    def _answer(self, asked: Asked) -> Callable[[str], bool]:
        def answer(line: str) -> bool:
            if not line:
                return False
            found = self.lesson.answered(asked, line)
            self.screen.say(say("right" if found.is_right else "wrong", self.lang), "bold")
            if found.text:
                self._print(self._styled(found.text))
            if found.is_right:
                self._keep(asked, "right")
            return found.is_right

        return answer

    def _change(self, asked: Asked) -> Callable[[str], bool]:
        block = asked.block
        assert isinstance(block, Try)

        def answer(line: str) -> bool:
            if not line:
                return False
            record = self._after(block, line)
            trace = layers_of(record)[-1]
            self.screen.say(say("changed_row", self.lang), "dim")
            for stage in _stages_of(block):
                if stage == "weights" and _is_wide(trace):
                    for head in range(trace.n_heads):
                        self._strongest(trace, head)
                else:
                    self.screen.stage(trace, stage, None, whole=True)
            is_right = self.lesson.holds(block, record)
            self.screen.say(say("right" if is_right else "wrong", self.lang), "bold")
            if is_right:
                self._keep(asked, "right")
            return is_right

        return answer

    def _after(self, block: Try, line: str) -> Any:
        """The record after a change: typed, or made in an example file of one's own."""
        if re.fullmatch(r"\S+\.ya?ml", line):
            return self.lesson.makers.attend(line)
        return self.lesson.makers.changed(block.example, change_in(line))

    def _check(self, asked: Asked) -> Callable[[str], bool]:
        block, path = asked.block, self._file(asked)
        assert isinstance(block, Exercise)

        def answer(_line: str) -> bool:
            if not path.exists():
                data = (block.stub + "\n").encode("utf-8")
                write_whole(path, lambda name: Path(name).write_bytes(data))
                self.screen.say(say("wrote_file", self.lang, path=path.name, folder=seen(str(path.parent))))
                return False
            found = self.lesson.answered(asked, str(path))
            self.screen.lines(seen(found.text))
            if found.is_right:
                self._keep(asked, "right")
            return found.is_right

        return answer

    def _file(self, asked: Asked) -> Path:
        return self.folder / f"{self.lesson.name}_{asked.block.id}.py".replace("-", "_")

    def _solve(self, asked: Asked) -> None:
        self._show_answer(asked)
        self._keep(asked, "seen")

    def _show_answer(self, asked: Asked) -> None:
        block = asked.block
        if isinstance(block, Try):
            self.screen.say(say("one_way", self.lang, change=change_of(block.solution)))
        elif isinstance(block, Exercise):
            self._code(block.solution)
        else:
            self.screen.say(say("answer_is", self.lang, answer=answer_of(asked)))
            self._print(self._styled(self.lesson.told(asked)))
        self.screen.say()

    def _keep(self, asked: Asked, how: str) -> None:
        self._note(asked.block.id, how)

    def _note(self, id: str, how: str) -> None:
        """Keep what was done; where nothing can be kept, say so once and go on."""
        if not self.is_kept:
            return
        try:
            self.progress.add(self.lesson.name, id, how)
        except OutputError as error:
            self.is_kept = False
            self.screen.say(error.text(self.lang))
            self.screen.say()

    # the keyboard -----------------------------------------------------------------------------

    def _pause(self) -> None:
        if self.keyboard:
            self._read(say("go_on", self.lang))
            self.screen.say()

    def _read(self, prompt: str) -> str:
        assert self.keyboard is not None
        self.n_since = 0
        line = unicodedata.normalize("NFC", self.keyboard(self.screen.fits(f"{prompt} > "))).strip()
        if line in ("q", "ㅂ"):  # the same key, where the keyboard is set to Hangul
            raise _Leave
        return line


def _is_wide(trace: Trace | Reading) -> TypeGuard[Trace]:
    """True for a layer with more tokens than fit beside each other."""
    return isinstance(trace, Trace) and trace.n_keys > MOST_KEYS


def _stages_of(block: Try) -> list[str]:
    """What shows whether a change came nearer to the goal: the stages that the goal asks of, else the weights."""
    asked = {name.rstrip("s") for name in block.goal.names}
    return [stage for name, stage in STAGES.items() if name in asked] or ["weights"]


def form_of(solution: Mapping[str, Any], lang: str) -> str:
    """How a change of the kind that a task needs is written: no solution itself."""
    forms = {"layer": "layer", "x": "x", "temperature": "number", "scale": "number", "mask": "mask"}
    name = next((name for name in forms if name in solution), next(iter(solution)))
    made = say(f"form.{forms.get(name, 'w')}", lang)
    return made.replace("scale", name).replace("w_q", next((w for w in solution if w.startswith("w_")), "w_q"))


def change_in(line: str) -> dict[str, Any]:
    """A change of an example as somebody types it: ``w_q Action Method 9``, several with commas between them.

    >>> change_in('w_q Action Method 9, mask causal')
    {'w_q': {'Action': {'Method': '9'}}, 'mask': 'causal'}

    Errors: ``InputError`` for what is no change.
    """
    changes: dict[str, Any] = {}
    for part in line.split(","):
        words = _words(part)
        words[:1] = [word.casefold() for word in words[:1]]
        cells: Any = changes
        for word in words[:-2]:
            cells = cells.setdefault(word, {}) if isinstance(cells, dict) else None
        if len(words) not in _WORDS_OF.get(words[0] if words else "", (2,)) or not isinstance(cells, dict):
            raise InputError(
                en=f"a change is written like w_q ROW COLUMN NUMBER, x TOKEN COLUMN NUMBER, scale NUMBER, temperature NUMBER, "
                f"mask causal, layer 1; got {part.strip()!r}.",
                ko=f"w_q 행 열 수, x 토큰 열 수, scale 수, temperature 수, mask causal, layer 1처럼 씁니다. {part.strip()!r}이(가) 왔습니다.",
            )
        cells[words[-2]] = words[-1]
    return changes


_WORDS_OF = dict.fromkeys(("x", "w_q", "w_k", "w_v", "w_o"), (4,)) | {"mask": (2, 3)}  # how many; two of all others


def _words(text: str) -> list[str]:
    """The words of a line, those in quotes together; none where a quote is not closed."""
    try:
        return shlex.split(text.replace("=", " "))
    except ValueError:
        return []


def _plain(markdown: str) -> str:
    return seen("".join(span.text for span in spans(markdown)))


def listed(screen: Screen, lessons: list[Lesson], ticked: list[Ticked], progress: Progress, called: str) -> None:
    """Every lesson with what was done of it, and the checklist."""
    finished, lang = progress.finished(), screen.lang
    rows = []
    for one in lessons:
        asked = [block.id for block in one.blocks if not isinstance(block, Show)]
        n_done = sum((one.name, id) in finished for id in asked)
        told = say("of", lang, n=n_done, all=len(asked))
        rows.append([str(one.number), one.name, one.title, say("minutes", lang, n=one.minutes), told])
    screen.listed(rows, ["", *(say(word, lang) for word in ("name", "title", "time", "done"))])
    screen.title(say("checklist", lang))
    for goal in ticked:
        mark = "[x]" if goal.is_reached else "[ ]"
        screen.say(f"{goal.text(lang)} ({say('of', lang, n=goal.n_done, all=goal.n_blocks)})", before=f"  {mark} ")
    if lessons:
        screen.say()
        screen.say(say("next", lang, command=f"{called} lesson {_next(lessons, progress).name}"), "dim")


def _next(lessons: list[Lesson], progress: Progress) -> Lesson:
    """The first lesson that was not read to its end."""
    return next((one for one in lessons if progress.at(one.name) < len(one.written().elements)), lessons[0])
