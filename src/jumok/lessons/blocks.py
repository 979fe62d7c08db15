"""The blocks of a lesson: what is shown, guessed, answered, tried and written."""

from __future__ import annotations

import difflib
import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..yaml_nodes import Map, Node, Scalar, Seq, brief, parse, refused
from .checker.layouts import KINDS
from .expressions import Expression, Place, parsed
from .goals import GOALS
from .markdown import Fence

__all__ = ["BLOCKS", "VIEWS", "Block", "Draw", "Exercise", "Predict", "Question", "Show", "Try", "block_of"]

VIEWS = ("stages", "weights", "arrows", "output", "explain", "page", "code")
NEAR = 0.7  # how alike a mistyped name is, from 0 to 1
MOST_DRAWN = 2000  # values that one draw chooses from


@dataclass(frozen=True)
class Block:
    """What all blocks have: where they stand, an id, steps of help, and the goal they count for, if not the lesson's."""

    line: int
    id: str
    hints: tuple[str, ...] = field(default=(), kw_only=True)
    covers: str | None = field(default=None, kw_only=True)

    @property
    def kind(self) -> str:
        """The word behind the three backticks."""
        return type(self).__name__.lower()

    def texts(self) -> tuple[str, ...]:
        """Everything in it that is read, in order."""
        return self.hints


@dataclass(frozen=True)
class Show(Block):
    """A view of a record: ``view`` is one of ``VIEWS``, ``options`` say of what; ``code`` is Python to read and run."""

    view: str
    options: Mapping[str, str]
    code: str = ""


@dataclass(frozen=True)
class Predict(Block):
    """A guess before the answer. ``choices`` is None for the tokens of the example."""

    ask: str
    choices: tuple[str, ...] | None
    answer: Expression
    after: str = ""

    def texts(self) -> tuple[str, ...]:
        """What is asked, the choices, what is said after, the hints."""
        return (self.ask, *(self.choices or ()), self.after, *self.hints)


@dataclass(frozen=True)
class Draw:
    """What a number of a question is drawn from. ``values`` is None for the tokens of the example."""

    name: str
    values: tuple[float | int | str, ...] | None

    def value(self, rng: random.Random, tokens: Sequence[str]) -> float | int | str:
        """One of them."""
        return rng.choice(list(tokens if self.values is None else self.values))


@dataclass(frozen=True)
class Question(Block):
    """A question whose numbers are drawn anew each time."""

    ask: str
    draws: tuple[Draw, ...]
    answer: Expression
    tolerance: float | None = None
    mistakes: tuple[tuple[Expression, str], ...] = ()
    after: str = ""

    def texts(self) -> tuple[str, ...]:
        """What is asked, the likely slips, what is said after, the hints."""
        return (self.ask, *(said for _, said in self.mistakes), self.after, *self.hints)

    def is_near(self, answer: Any, given: Any) -> bool:
        """Whether what was given counts as an answer."""
        if isinstance(answer, str) or isinstance(given, str):
            return bool(answer == given)
        allowed = 0.005 * max(1.0, abs(answer)) if self.tolerance is None else self.tolerance
        return bool(math.isfinite(given) and abs(given - answer) <= allowed * (1 + 1e-9))


@dataclass(frozen=True)
class Try(Block):
    """Something to change in an example until ``goal`` holds; ``solution`` is one change that reaches it."""

    say: str
    example: str
    goal: Expression
    solution: Mapping[str, Any]

    def texts(self) -> tuple[str, ...]:
        """What to do, the hints."""
        return (self.say, *self.hints)


@dataclass(frozen=True)
class Exercise(Block):
    """Code to write: the stub to begin from, and a solution."""

    say: str
    checks: str
    stub: str
    solution: str

    def texts(self) -> tuple[str, ...]:
        """What to do, the hints."""
        return (self.say, *self.hints)


def block_of(fence: Fence, file: str, example: str) -> Block | None:
    """The block that a fence holds; None for ordinary code.

    Errors: ``ExampleError`` with line and column.
    """
    kind, _, rest = fence.info.partition(" ")
    if kind == "show":
        return _show(fence, file, rest)
    if kind not in BLOCKS:
        return None
    return _Reader(fence, file, example, kind).block()


def refuse_mistyped(fence: Fence, file: str) -> None:
    """Errors: ``ExampleError`` for a block whose name is mistyped, by what the name is near to or by what it holds."""
    kind, kinds = fence.info.partition(" ")[0], ("show", *BLOCKS)
    if kind in kinds or kind in ("", "yaml", "yml"):
        return
    if difflib.get_close_matches(kind.casefold(), kinds, 1, NEAR) or re.search(r"^id: *\S", fence.body, re.MULTILINE):
        raise Place(file, fence.line, 4).refused(
            f"{brief(kind)!r} is no block; a block is one of {', '.join(kinds)}",
            f"{brief(kind)!r}(이)라는 블록은 없습니다. 쓸 수 있는 것: {', '.join(kinds)}",
        )


def _show(fence: Fence, file: str, rest: str) -> Show:
    place = Place(file, fence.line, 4)
    view, *options = re.findall(r'(?:[^\s"]|"[^"]*")+', rest) or [""]
    if view not in VIEWS:
        raise place.refused(
            f"show is followed by one of {', '.join(VIEWS)}, got {brief(view)!r}",
            f"show 뒤에는 {', '.join(VIEWS)} 가운데 하나를 씁니다. {brief(view)!r}이(가) 왔습니다",
        )
    found: dict[str, str] = {}
    for option in options:
        name, sign, value = option.partition("=")
        if not sign or name not in ("example", "token", "stage", "layer", "head", "id"):
            raise place.refused(
                f"an option of show is example=, token=, stage=, layer=, head= or id=, got {brief(option)!r}",
                f"show의 옵션은 example=, token=, stage=, layer=, head=, id=인데 {brief(option)!r}이(가) 왔습니다",
            )
        found[name] = value.strip('"')
    return Show(fence.line, found.pop("id", f"{view}-{fence.line}"), view, found, fence.body)


class _Reader:
    """One block being read, with the names it may hold."""

    def __init__(self, fence: Fence, file: str, example: str, kind: str) -> None:
        self.fence = fence
        self.file = file
        self.example = example
        self.kind = kind
        before = "\n" * fence.line  # so that lines count as in the file
        root = parse(before + fence.body, file)
        required, optional = BLOCKS[kind][1:]
        self.parts = self.named(root, (*required, "id"), (*optional, "hints", "covers"))

    def wrong(self, node: Node | None, en: str, ko: str) -> Exception:
        line, column = (self.fence.line, 4) if node is None else (node.line, node.column)
        return refused(self.file, en, ko, line, column)

    def named(self, root: Node, required: Sequence[str], optional: Sequence[str]) -> dict[str, Node]:
        if not isinstance(root, Map):
            raise self.wrong(
                root,
                f"{self.kind} holds names and values, such as id: first",
                f"{self.kind}에는 id: first처럼 이름과 값을 씁니다",
            )
        found = {}
        for key, value in root.pairs:
            if key.text not in (*required, *optional):
                known = ", ".join((*required, *optional))
                raise self.wrong(
                    key,
                    f"{self.kind} has no {brief(key.text)!r}; it has {known}",
                    f"{self.kind}에 {brief(key.text)!r}은(는) 없습니다. 쓸 수 있는 것: {known}",
                )
            found[key.text] = value
        for name in required:
            if name not in found:
                raise self.wrong(None, f"{self.kind} needs {name}:", f"{self.kind}에 {name}: 항목이 필요합니다")
        return found

    def block(self) -> Block:
        shared: dict[str, Any] = {"hints": self.texts("hints"), "covers": self.covers()}
        identity = self.text("id")
        if not re.fullmatch(r"[a-z][a-z0-9-]*", identity):
            raise self.wrong(
                self.parts["id"],
                "an id is small letters, digits and -, such as dot-product",
                "id에는 dot-product처럼 소문자, 숫자, -만 씁니다",
            )
        made: dict[str, Callable[[], dict[str, Any]]] = {
            "predict": self.predict,
            "question": self.question,
            "try": self.attempt,
            "exercise": self.exercise,
        }
        block: Block = BLOCKS[self.kind][0](self.fence.line, identity, **made[self.kind](), **shared)
        return block

    def predict(self) -> dict[str, Any]:
        node = self.parts["choices"]
        choices = None if isinstance(node, Scalar) and node.text == "tokens" else self.texts("choices")
        if choices is not None and len(set(choices)) < max(2, len(choices)):
            raise self.wrong(
                node,
                "choices is `tokens`, or a list of at least two texts, all different",
                "choices에는 tokens, 또는 서로 다른 글을 둘 이상 씁니다",
            )
        return {
            "ask": self.text("ask"),
            "choices": choices,
            "answer": self.expression("answer"),
            "after": self.text("after"),
        }

    def question(self) -> dict[str, Any]:
        draws = self.parts.get("draw")
        mistakes = self.parts.get("mistakes")
        return {
            "ask": self.text("ask"),
            "draws": tuple(self.draw(key, value) for key, value in self.pairs(draws)),
            "answer": self.expression("answer"),
            "tolerance": self.number(self.parts["tolerance"]) if "tolerance" in self.parts else None,
            "mistakes": tuple((self.parsed(key), self.scalar(value)) for key, value in self.pairs(mistakes)),
            "after": self.text("after"),
        }

    def attempt(self) -> dict[str, Any]:
        return {
            "say": self.text("say"),
            "example": self.text("example") or self.example,
            "goal": self.expression("goal"),
            "solution": self.plain(self.parts["solution"]),
        }

    def exercise(self) -> dict[str, Any]:
        checks = self.text("kind")
        if checks not in KINDS:
            raise self.wrong(
                self.parts["kind"],
                f"kind is one of {', '.join(KINDS)}, got {brief(checks)!r}",
                f"kind에는 {', '.join(KINDS)} 가운데 하나를 씁니다. {brief(checks)!r}이(가) 왔습니다",
            )
        return {"say": self.text("say"), "checks": checks, "stub": self.text("stub"), "solution": self.text("solution")}

    # pieces -----------------------------------------------------------------------------------

    def scalar(self, node: Node) -> str:
        if not isinstance(node, Scalar):
            raise self.wrong(node, "a text is expected here", "여기에는 글이 필요합니다")
        return node.text.strip("\n") if "\n" in node.text.strip("\n") else node.text.strip()

    def text(self, name: str) -> str:
        return self.scalar(self.parts[name]) if name in self.parts else ""

    def texts(self, name: str) -> tuple[str, ...]:
        node = self.parts.get(name)
        if node is None:
            return ()
        if not isinstance(node, Seq):
            raise self.wrong(node, f"{name} is a list: [one, two]", f"{name}에는 목록을 씁니다: [하나, 둘]")
        return tuple(self.scalar(item) for item in node.items)

    def covers(self) -> str | None:
        goal = self.text("covers") or None
        if goal is not None and goal not in (*GOALS, "none"):
            raise self.wrong(
                self.parts["covers"],
                f"covers is one of {', '.join(GOALS)}, or none",
                f"covers에는 {', '.join(GOALS)} 또는 none을 씁니다",
            )
        return goal

    def pairs(self, node: Node | None) -> tuple[tuple[Scalar, Node], ...]:
        if node is not None and not isinstance(node, Map):
            raise self.wrong(
                node, "names and values are expected, such as {a: 1..5}", "{a: 1..5}처럼 이름과 값이 필요합니다"
            )
        return () if node is None else node.pairs

    def parsed(self, node: Node) -> Expression:
        text = self.scalar(node)
        quote = 1 if isinstance(node, Scalar) and node.quoted else 0
        return parsed(text, Place(self.file, node.line, node.column + quote))

    def expression(self, name: str) -> Expression:
        return self.parsed(self.parts[name])

    def number(self, node: Node) -> float:
        try:
            value = float(self.scalar(node))
        except ValueError:
            value = math.nan
        if not 0 <= value < math.inf:
            raise self.wrong(node, "a number from 0 is expected", "0 이상의 수가 필요합니다")
        return value

    def plain(self, node: Node) -> Any:
        """What stands there, with numbers where the texts are numbers."""
        if isinstance(node, Map):
            return {key.text: self.plain(value) for key, value in node.pairs}
        if isinstance(node, Seq):
            return [self.plain(item) for item in node.items]
        text = self.scalar(node)
        return text if isinstance(node, Scalar) and node.quoted else _number_or_text(text)

    def draw(self, key: Scalar, node: Node) -> Draw:
        if not re.fullmatch(r"[a-z]\w*", key.text, re.ASCII):
            raise self.wrong(key, "a drawn number is named by small letters", "뽑을 수의 이름은 소문자로 씁니다")
        if isinstance(node, Seq):
            return Draw(key.text, tuple(_number_or_text(self.scalar(item)) for item in node.items))
        text = self.scalar(node)
        values = None if text == "tokens" else _range(text) or _picked(text)
        if values == ():
            raise self.wrong(
                node,
                "draw from 1..5, .5..3 step .5, pick [a, b], or tokens",
                "1..5, .5..3 step .5, pick [a, b], tokens 가운데 하나로 씁니다",
            )
        return Draw(key.text, values)


def _number_or_text(text: str) -> Any:
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        return value if math.isfinite(value) else text
    return text


_NUMBER = r"-?(?:\d+(?:\.\d+)?|\.\d+)"


def _range(text: str) -> tuple[float | int, ...]:
    """The numbers of ``1..5`` or ``.5..3 step .5``; none where it is no range."""
    found = re.fullmatch(rf"({_NUMBER})\.\.({_NUMBER})(?: +step +({_NUMBER}))?", text)
    if not found:
        return ()
    low, high, step = (_number_or_text(part) for part in (found[1], found[2], found[3] or "1"))
    n = int((high - low) / step + 1e-9) + 1 if step > 0 else 0
    return tuple(round(low + at * step, 10) for at in range(n)) if 1 <= n <= MOST_DRAWN else ()


def _picked(text: str) -> tuple[Any, ...]:
    found = re.fullmatch(r"pick *\[(.+)\]", text)
    return tuple(_number_or_text(part.strip()) for part in found[1].split(",")) if found else ()


BLOCKS: dict[
    str, tuple[Any, tuple[str, ...], tuple[str, ...]]
] = {  # its class, the names it needs, the others it may have
    "predict": (Predict, ("ask", "choices", "answer"), ("after",)),
    "question": (Question, ("ask", "answer"), ("draw", "tolerance", "mistakes", "after")),
    "try": (Try, ("say", "goal", "solution"), ("example",)),
    "exercise": (Exercise, ("kind", "say", "stub", "solution"), ()),
}
