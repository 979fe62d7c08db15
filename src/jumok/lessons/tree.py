"""A lesson as plain JSON for its page: pieces and blocks in which every text is runs of letters, and no Markdown is left.

A text is a list of spans ``[kind, parts]``, a link ``["link", parts, href]``. A part is a string, or
``{"value", "from"}``: a number computed now, and the expression that gave it, or
``{"drawn", "spec"}``: an expression that the page computes when it has drawn the numbers of a question.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ..layer_numbers import layer_place
from ..trace import layers_of
from .blocks import Block, Exercise, Predict, Question, Show, Try
from .claims import Claim
from .expressions import Expression, parsed
from .functions import ROWS, STAGES, VECTORS, tokens_of
from .lesson import Lesson
from .markdown import Fence, Heading, Items, Paragraph, Piece, Quote, Span, Table, seen, spans
from .phrases import say
from .views import command

__all__ = ["COMPUTED", "elements", "examples", "measured"]

N_SETS = 24  # of drawn numbers, where values have to travel with them
VIEWS = {"arrows": "heads"}  # of the live view, by the word behind ``show``; all others are the stages
_ARGUMENTS = {
    **dict.fromkeys((*STAGES, *VECTORS, "w_q", "w_k", "w_v", "w_o"), 2),
    **dict.fromkeys((*ROWS, *VECTORS.values(), "mean_weight"), 1),
    **dict.fromkeys(("n_tokens", "d_k", "n_heads", "n_layers", "n_scores"), 0),
}  # of each function of a record, without the name of an example before them
_OF_NUMBERS = [
    "sqrt",
    "exp",
    "log",
    "abs",
    "round",
    "min",
    "max",
    "sum",
    "len",
    "softmax",
    "dot",
    "argmax",
    "rank",
    "cost",
    "parameters",
]
COMPUTED = frozenset([*_ARGUMENTS, *_OF_NUMBERS])  # by the page too; of every other function the values travel
_DRAWN = re.compile(r"(?<!\{)\{([^{}]+)\}(?!\})")
_MARK = re.compile("\ue000(\\d+)\ue001")  # where something computed stands while Markdown is read
_SAFE = re.compile(r"https?:|#|[\w./-]+$")

_OF_A_QUERY = {*STAGES, *ROWS, "query", "queries", "output", "outputs"}
CELLS = ("x", "w_q", "w_k", "w_v", "w_o")
FIELDS = ("layer", "mask", "scale", "temperature")
BEGINNINGS = {"scale": "scaled", "temperature": "scaled", "mask": "allowed"}  # where each of these is changed

Json = dict[str, Any]


def examples(lesson: Lesson) -> list[str]:
    """The records that its blocks show, change and ask about, its own first: the page holds them as documents."""
    found = dict.fromkeys([lesson.written().example])
    for block in lesson.blocks:
        if isinstance(block, Show):
            found |= dict.fromkeys([block.options["example"]] if "example" in block.options else [])
        elif isinstance(block, Try):
            found |= dict.fromkeys([block.example])
        for expression in _computed_there(block):
            found |= dict.fromkeys(_named(expression))
    return list(found)


def elements(lesson: Lesson, documents: list[str]) -> list[Json]:
    """Its pieces and blocks, in order; ``documents`` are the records, by the place that each has in the page."""
    tree = _Tree(lesson, documents)
    return [tree.block(one) if isinstance(one, Block) else tree.piece(one) for one in lesson.written().elements]


def measured(lesson: Lesson) -> Json:
    """What is measured in its questions and goals: [function, arguments, named arguments] as JSON → value."""
    return {
        key: value
        for block in lesson.blocks
        for drawn in _sets(lesson, block)
        for expression in _computed_there(block)
        for key, value in _calls(lesson, expression, drawn)
    }


# what the page computes ---------------------------------------------------------------------------


def _computed_there(block: Block) -> Iterator[Expression]:
    """The expressions of a block that the page computes itself."""
    if isinstance(block, Try):
        yield block.goal
    elif isinstance(block, Question):
        yield block.answer
        yield from (slip for slip, _ in block.mistakes)
        for text in block.texts():
            yield from (parsed(found[1].partition(":")[0]) for found in _DRAWN.finditer(text))


def _named(expression: Expression) -> Iterator[str]:
    """The examples that an expression names."""
    for node in ast.walk(expression.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            n = _ARGUMENTS.get(node.func.id)
            first = node.args[0] if node.args else None
            if n is not None and len(node.args) == n + 1 and isinstance(first, ast.Constant):
                yield str(first.value)


def _asked_of(goal: Expression, tokens: Iterable[str]) -> tuple[str | None, str | None]:
    """The query, and the key, that a goal asks of first; None where it asks of none."""
    known = set(tokens)
    calls = [node for node in ast.walk(goal.tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        told = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and arg.value in known]
        if name in _OF_A_QUERY and told:
            return told[0], told[1] if name in STAGES and len(told) > 1 else None
    return None, None


def _carried(expression: Expression) -> list[ast.Call]:
    nodes = (node for node in ast.walk(expression.tree) if isinstance(node, ast.Call))
    return [node for node in nodes if isinstance(node.func, ast.Name) and node.func.id not in COMPUTED]


def _sets(lesson: Lesson, block: Block) -> list[Mapping[str, Any]]:
    """The numbers that may be drawn for a block; all that matter are those for which something has to be measured."""
    if not any(map(_carried, _computed_there(block))):
        return []
    if not isinstance(block, Question):
        return [{}]
    sets = [dict(lesson.asked(block.id, seed).drawn) for seed in range(N_SETS)]
    return [one for at, one in enumerate(sets) if one not in sets[:at]]


def _calls(lesson: Lesson, expression: Expression, drawn: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    def value(node: ast.expr) -> Any:
        return Expression(expression.text, expression.place, node).value(drawn, lesson.functions)

    for node in _carried(expression):
        assert isinstance(node.func, ast.Name)
        named = {str(one.arg): value(one.value) for one in node.keywords}
        key = [node.func.id, list(map(value, node.args)), named]
        yield json.dumps(key, separators=(",", ":")), value(node)


def _in_page(solution: Mapping[str, Any], lang: str) -> str:
    """A change as it is made in the live view."""
    return "; ".join(_made_there(path, lang) for path in _paths(solution))


def _made_there(path: tuple[str, ...], lang: str) -> str:
    name, number = path[0], " ".join(path[1:])
    if name in CELLS and len(path) == 4:
        return say("page.cell", lang, table=name.upper(), row=path[1], column=path[2], number=path[3])
    return say(f"page.{name}", lang, number=number) if name in FIELDS else f"{name} {number}"


def _paths(cells: Any, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every number of a change behind the names that lead to it."""
    if isinstance(cells, Mapping):
        for name, value in cells.items():
            yield from _paths(value, (*before, str(name)))
    else:
        yield (*before, str(cells))


# the tree -----------------------------------------------------------------------------------------


class _Tree:
    def __init__(self, lesson: Lesson, documents: list[str]) -> None:
        self.lesson = lesson
        self.documents = documents
        self.parts: list[Json] = []  # what was computed in the text at hand

    # texts ------------------------------------------------------------------------------------

    def text(self, markdown: str, is_drawn: bool = False) -> list[Any]:
        """A line of Markdown as spans; ``is_drawn``: its {a} wait for the numbers of a question."""
        self.parts = []
        marked = self.lesson.filled(re.sub("[\ue000\ue001]", "", markdown), self._claimed)
        if is_drawn:
            marked = _DRAWN.sub(self._waiting, marked)
        return [self._span(span) for span in spans(marked)]

    def _claimed(self, claim: Claim, value: str) -> str:
        return self._mark({"value": value, "from": claim.expression.text})

    def _waiting(self, found: re.Match[str]) -> str:
        expression, _, spec = found[1].partition(":")
        return self._mark({"drawn": expression, "spec": spec})

    def _mark(self, part: Json) -> str:
        self.parts.append(part)
        return f"\ue000{len(self.parts) - 1}\ue001"

    def _span(self, span: Span) -> list[Any]:
        pieces = _MARK.split(span.text)  # texts, with the number of a mark between each two
        parts = [self.parts[int(one)] if at % 2 else seen(one) for at, one in enumerate(pieces) if at % 2 or one]
        href = [span.href if _SAFE.match(span.href) else "#"] if span.kind == "link" else []
        return [span.kind, parts, *href]

    def texts(self, many: Iterable[str], is_drawn: bool = False) -> list[Any]:
        return [self.text(one, is_drawn) for one in many]

    # pieces -----------------------------------------------------------------------------------

    def piece(self, piece: Piece) -> Json:
        if isinstance(piece, Fence):
            return {"kind": "code", "code": piece.body}
        if isinstance(piece, Heading):
            return {"kind": "heading", "level": piece.level, "text": self.text(piece.text)}
        if isinstance(piece, Items):
            entries = [[depth, self.text(text)] for _, _, depth, text in piece.entries]
            return {"kind": "items", "ordered": piece.entries[0][1] != "-", "entries": entries}
        if isinstance(piece, Table):
            return {"kind": "table", "rows": [self.texts(row) for row in piece.rows]}
        assert isinstance(piece, Paragraph | Quote)
        return {"kind": "quote" if isinstance(piece, Quote) else "paragraph", "text": self.text(piece.text)}

    # blocks -----------------------------------------------------------------------------------

    def block(self, block: Block) -> Json:
        made: dict[type[Block], Callable[[Any], Json]] = {
            Show: self.show, Predict: self.predict, Question: self.question, Try: self.attempt, Exercise: self.exercise,
        }  # fmt: skip
        hints = self.texts(block.hints, is_drawn=isinstance(block, Question))
        return {"kind": block.kind, "id": block.id, "hints": hints, **made[type(block)](block)}

    def show(self, show: Show) -> Json:
        if show.view == "code":
            return {"kind": "code", "code": show.code}
        return {"view": show.view, "choice": self.choice(show), "command": command(self.lesson, show)}

    def choice(self, show: Show) -> Json:
        """The state of the live view that shows it."""
        options = show.options
        record = self.lesson.record(options.get("example"))
        layer = layer_place(record, int(options["layer"])) if "layer" in options else 0
        head = int(options.get("head", 0))
        example = options.get("example", self.lesson.written().example)
        chosen: Json = {"view": VIEWS.get(show.view, "stages"), "document": self.documents.index(example)}
        chosen |= {"layer": layer, "head": head}
        if show.view in ("weights", "output") or "stage" in options:
            chosen["stage"] = options.get("stage", show.view)
        if "token" in options:
            trace = layers_of(record)[layer]
            query = trace.index(options["token"])
            key = int(trace.rows("weights", queries=[query], heads=[head])[0, 0].argmax())
            chosen |= {"query": query, "key": key}
        return chosen

    def predict(self, block: Predict) -> Json:
        asked = self.lesson.asked(block.id)
        # a token is a text of its own, in which nothing is Markdown
        choices = [[["plain", [seen(one)]]] for one in asked.choices]
        return {
            "ask": self.text(block.ask),
            "choices": choices if block.choices is None else self.texts(block.choices),
            "answer": asked.answer,
            "right": asked.choices.index(asked.answer),
            "after": self.text(block.after, is_drawn=True),
        }

    def question(self, block: Question) -> Json:
        tokens = tokens_of(self.lesson.record())
        return {
            "ask": self.text(block.ask, is_drawn=True),
            "draws": [[draw.name, list(tokens if draw.values is None else draw.values)] for draw in block.draws],
            "sets": _sets(self.lesson, block),
            "answer": block.answer.text,
            "tolerance": block.tolerance,
            "mistakes": [[slip.text, self.text(said, is_drawn=True)] for slip, said in block.mistakes],
            "after": self.text(block.after, is_drawn=True),
        }

    def attempt(self, block: Try) -> Json:
        return {
            "say": self.text(block.say),
            "choice": self.beginning(block),
            "command": f"jumok draw {block.example} -o {block.example}.html",
            "goal": block.goal.text,
            "solution": _in_page(block.solution, self.lesson.lang),
        }

    def beginning(self, block: Try) -> Json:
        """The state of the live view in which a change begins: what can be changed, and the query that the goal asks of."""
        record = self.lesson.record(block.example)
        solution = block.solution
        layer = layer_place(record, int(solution["layer"])) if "layer" in solution else 0
        trace = layers_of(record)[layer]
        chosen: Json = {"view": "stages", "document": self.documents.index(block.example), "layer": layer, "head": 0}
        if trace.x is not None:
            chosen["stage"] = next((stage for name, stage in BEGINNINGS.items() if name in solution), "x")
        query, key = _asked_of(block.goal, tokens_of(record))
        if query is not None:
            found = trace.index(query)
            row = trace.rows("weights", queries=[found])[0, 0]
            chosen |= {"query": found, "key": int(row.argmax()) if key is None else trace.key_index(key)}
        return chosen

    def exercise(self, block: Exercise) -> Json:
        file = f"{self.lesson.name}_{block.id}.py".replace("-", "_")
        return {
            "say": self.text(block.say),
            "checks": block.checks,
            "file": file,
            "command": f"jumok check {file} --kind {block.checks} --json",
            "stub": block.stub,
            "solution": block.solution,
        }
