"""Whether a lesson is true: every number, every answer, every goal and solution; and whether its two languages agree."""

from __future__ import annotations

import ast
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..errors import ExampleError, JumokError
from ..yaml_nodes import brief, refused
from .blocks import Block, Exercise, Predict, Question, Show, Try
from .checker.checking import check
from .claims import Claim, claims_in, in_braces, unclaimed
from .expressions import Expression
from .lesson import Lesson
from .markdown import Fence
from .views import explained, picture
from .written import Written

__all__ = ["claims_of", "disagreements", "problems"]

N_DRAWS = 25  # times that a question is asked


def claims_of(version: Written) -> list[Claim]:
    """Every computed number of a lesson file, in order. Errors: ``ExampleError`` for one that cannot be read."""
    return list(claims_in(version.text, version.file))


def problems(lesson: Lesson, run_code: bool = True) -> Iterator[ExampleError]:
    """Everything that is wrong with a lesson, in each language that it is written in.

    run_code : also whether the solution of each exercise is right and its stub is not, which takes seconds each
    """
    for lang in lesson.versions:
        yield from _Check(lesson.speaking(lang)).all(run_code)
    yield from disagreements(lesson)


class _Check:
    def __init__(self, lesson: Lesson) -> None:
        self.lesson = lesson
        self.version = lesson.written()

    def wrong(self, line: int, en: str, ko: str) -> ExampleError:
        return refused(self.version.file, en, ko, line, 1)

    def all(self, run_code: bool) -> Iterator[ExampleError]:
        yield from self.numbers()
        yield from self.bare_numbers()
        yield from self.shape()
        for block in self.version.blocks:
            if isinstance(block, Exercise) and not run_code:
                continue
            yield from self.tried(block)

    def tried(self, block: Block) -> Iterator[ExampleError]:
        """What is wrong with a block; also what cannot even be computed."""
        try:
            yield from list(self.block(block))
        except ExampleError as error:
            yield error
        except JumokError as error:
            yield self.wrong(
                block.line, f"{block.id}: {error.text('en')}".rstrip("."), f"{block.id}: {error.text('ko')}".rstrip(".")
            )

    # numbers ----------------------------------------------------------------------------------

    def numbers(self) -> Iterator[ExampleError]:
        try:
            claims = claims_of(self.version)
        except ExampleError as error:
            yield error
            return
        for claim in claims:
            try:
                value = claim.expression.value({}, self.lesson.functions)
            except ExampleError as error:
                yield error
                continue
            if not claim.is_true(value):
                shown = claim.shown(value)
                yield claim.place.refused(
                    f"{claim.written} is written, but it is {shown}", f"{claim.written}(이)라고 썼지만 {shown}입니다"
                )

    def bare_numbers(self) -> Iterator[ExampleError]:
        """Decimals and shares in the text that nothing computes."""
        for at, line in self.prose():
            for column, number in unclaimed(line):
                yield refused(
                    self.version.file,
                    f"{number} is computed by nothing; write {{{{{number} = expression}}}}",
                    f"{number}을(를) 계산하는 식이 없습니다. {{{{{number} = 식}}}}으로 쓰십시오",
                    at,
                    column,
                )

    def prose(self) -> Iterator[tuple[int, str]]:
        """Each line of the text outside of blocks and code, and each text of a block, with its line's number."""
        hidden: set[int] = set()
        for element in self.version.elements:
            if isinstance(element, Fence | Block):
                body = element.body if isinstance(element, Fence) else ""
                hidden |= set(range(element.line, element.line + body.count("\n") + 2))
            if isinstance(element, Block):
                hidden |= set(range(element.line, self._end(element)))
                yield from ((element.line, text) for text in element.texts())
        for at, line in enumerate(self.version.text.split("\n"), start=1):
            if at >= self.version.body_line and at not in hidden:
                yield at, line

    def _end(self, block: Block) -> int:
        """The line after the closing backticks of a block."""
        lines = self.version.text.split("\n")
        return next((at + 2 for at in range(block.line, len(lines)) if lines[at].startswith("```")), len(lines) + 1)

    # blocks -----------------------------------------------------------------------------------

    def shape(self) -> Iterator[ExampleError]:
        counted = Counter(block.id for block in self.version.blocks)
        for block in self.version.blocks:
            if counted[block.id] > 1:
                yield self.wrong(
                    block.line,
                    f"the id {block.id} stands {counted[block.id]} times",
                    f"id {block.id}이(가) {counted[block.id]}번 나옵니다",
                )
            if isinstance(block, Question | Try | Exercise) and not block.hints:
                yield self.wrong(
                    block.line, f"{block.id} needs hints: [one, two]", f"{block.id}에 hints: [하나, 둘]이 필요합니다"
                )
        needed = {"predict", "question", "try"} | ({"exercise"} if "write-attention" in self.version.goals else set())
        for kind in sorted(needed - {block.kind for block in self.version.blocks}):
            yield self.wrong(
                1, f"a lesson has at least one {kind}", f"레슨에는 {kind} 블록이 적어도 하나 있어야 합니다"
            )

    def block(self, block: Block) -> Iterator[ExampleError]:
        checks: dict[type[Block], Callable[[Any], Iterator[ExampleError]]] = {
            Show: self.show, Predict: self.predict, Question: self.question, Try: self.attempt, Exercise: self.exercise,
        }  # fmt: skip
        yield from checks[type(block)](block)
        for at in range(len(block.hints) if not isinstance(block, Show) else 0):
            self.lesson.hint(self.lesson.asked(block.id, seed=0), at)
        yield from self.braces(block)

    def braces(self, block: Block) -> Iterator[ExampleError]:
        """What stands in braces where nothing is drawn, and would be read as it stands."""
        if isinstance(block, Try | Exercise):
            for text in block.texts():
                yield from (
                    self.wrong(
                        block.line,
                        f"{block.id} draws nothing, so {found} would stay as it is; only a question has draw:",
                        f"{block.id}에서는 뽑는 수가 없어 {found}이(가) 그대로 보입니다. draw:는 question에만 있습니다",
                    )
                    for found in in_braces(text)
                )

    def show(self, block: Show) -> Iterator[ExampleError]:
        picture(self.lesson, block)
        if block.view == "explain":
            explained(self.lesson, block)
        if block.view == "code" and not block.code:
            yield self.wrong(block.line, "show code needs Python below it", "show code 아래에 파이썬 코드가 필요합니다")

    def predict(self, block: Predict) -> Iterator[ExampleError]:
        asked = self.lesson.asked(block.id)
        self.lesson.told(asked)
        if asked.answer not in asked.choices:
            yield self.no_choice(block, asked.answer)
        for text in sorted(_literals(block.answer) - {asked.answer, *asked.choices}):
            yield self.no_choice(block, text)

    def no_choice(self, block: Predict, answer: Any) -> ExampleError:
        return block.answer.place.refused(
            f"the answer {answer!r} is none of the choices", f"답 {answer!r}이(가) 보기에 없습니다"
        )

    def question(self, block: Question) -> Iterator[ExampleError]:
        slips: Counter[int] = Counter()
        for seed in range(N_DRAWS):
            asked = self.lesson.asked(block.id, seed)
            if not self.lesson.answered(asked, asked.answer).is_right:
                yield block.answer.place.refused("the answer is no number or text", "답이 숫자도 글도 아닙니다")
                return
            for at, (slip, said) in enumerate(block.mistakes):
                self.lesson.worded(asked, said, is_over=True)
                slips[at] += not block.is_near(asked.answer, slip.value(asked.drawn, self.lesson.functions))
        for at, (slip, _) in enumerate(block.mistakes):
            if not slips[at]:
                yield slip.place.refused("this slip always gives the right answer", "이 실수는 언제나 맞는 답이 됩니다")

    def attempt(self, block: Try) -> Iterator[ExampleError]:
        if self.lesson.reaches(block, {}):
            yield block.goal.place.refused(
                "the goal holds before anything is changed", "아무것도 바꾸지 않아도 목표가 이미 이루어져 있습니다"
            )
        if not self.lesson.reaches(block, block.solution):
            yield block.goal.place.refused("the solution does not reach the goal", "풀이가 목표를 이루지 못합니다")

    def exercise(self, block: Exercise) -> Iterator[ExampleError]:
        right, stub = (_verdict(block, code) for code in (block.solution, block.stub))
        if not right.is_right:
            said = brief(" ".join(right.text("en").split()), 200)
            yield self.wrong(
                block.line,
                f"the solution of {block.id} is not right: {said}",
                f"{block.id}의 풀이가 맞지 않습니다: {said}",
            )
        if stub.is_right:
            yield self.wrong(
                block.line, f"the stub of {block.id} is right already", f"{block.id}의 시작 코드가 이미 맞습니다"
            )


def _verdict(block: Exercise, code: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "exercise.py"
        path.write_text(code + "\n", encoding="utf-8")
        return check(str(path), block.checks)


# two languages ------------------------------------------------------------------------------------


def disagreements(lesson: Lesson) -> Iterator[ExampleError]:
    """Where the languages of a lesson differ in more than their texts."""
    versions = list(lesson.versions.values())
    for other in versions[1:]:
        for name, one, two in _differences(versions[0], other):
            yield refused(
                other.file,
                f"{name} differs from {versions[0].file}: {brief(str(one))} there, {brief(str(two))} here",
                f"{name}이(가) {versions[0].file}와(과) 다릅니다. 거기는 {brief(str(one))}, 여기는 {brief(str(two))}",
            )


def _differences(a: Written, b: Written) -> Iterator[tuple[str, Any, Any]]:
    for name in ("number", "name", "minutes", "goals", "example", "n_sections"):
        if getattr(a, name) != getattr(b, name):
            yield name, getattr(a, name), getattr(b, name)
    ids = [[(block.kind, _id(block)) for block in version.blocks] for version in (a, b)]
    if ids[0] != ids[1]:
        yield "the blocks", ids[0], ids[1]
        return
    for one, other in zip(a.blocks, b.blocks, strict=True):
        if _essence(one) != _essence(other):
            yield one.id, _essence(one), _essence(other)


def _id(block: Block) -> str:
    return "" if isinstance(block, Show) else block.id


def _essence(block: Block) -> tuple[Any, ...]:
    """What of a block is the same in every language."""
    shared = (block.covers, len(block.hints))
    if isinstance(block, Show):
        return (block.view, dict(block.options))
    if isinstance(block, Predict):
        return (*shared, block.choices and len(block.choices), _by_choice(block))
    if isinstance(block, Question):
        slips = [slip.shape for slip, _ in block.mistakes]
        return (*shared, block.draws, block.answer.shape, block.tolerance, slips)
    if isinstance(block, Try):
        return (*shared, block.example, block.goal.shape, block.solution)
    assert isinstance(block, Exercise)
    return (*shared, block.checks, _without_comments(block.stub), _without_comments(block.solution))


def _by_choice(block: Predict) -> str:
    """The answer with its choices by their number: their texts have a language."""
    choices = {text: at for at, text in enumerate(block.choices or ())}

    class Numbered(ast.NodeTransformer):
        def visit_Constant(self, node: ast.Constant) -> ast.Constant:
            return ast.Constant(choices.get(node.value, node.value) if isinstance(node.value, str) else node.value)

    return ast.dump(Numbered().visit(ast.parse(block.answer.text, mode="eval")))


def _literals(answer: Expression) -> set[str]:
    """The texts that an answer may be without computing them: itself, or a branch of it."""
    waiting, found = [answer.tree], set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.IfExp):
            waiting += [node.body, node.orelse]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return found


def _without_comments(code: str) -> list[str]:
    return [line for raw in code.split("\n") if (line := raw.partition("#")[0].rstrip())]
