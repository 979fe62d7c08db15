"""A lesson file is read whole, or refused with line and column."""

import pytest

from jumok.errors import ExampleError
from jumok.lessons.blocks import Exercise, Predict, Question, Show, Try
from jumok.lessons.written import read, written
from small_lessons import TEXT


def test_a_lesson_is_read(tmp_path):
    path = tmp_path / "small.ko.md"
    path.write_text(TEXT, encoding="utf-8-sig", newline="\r\n")
    found = read(str(path))
    assert (found.name, found.number, found.lang, found.minutes, found.n_sections) == ("small", None, "ko", 5, 2)
    assert [type(block) for block in found.blocks] == [Show, Predict, Question, Try, Exercise]
    assert found.blocks[1].line == TEXT[: TEXT.index("```predict")].count("\n") + 1


WRONG = [
    ("---\nname", "name", 1, "begins with ---"),
    ("name: small\n", "", 1, "needs name:"),
    ("minutes: 5", "minutes: five", 4, "whole number"),
    ("goals: [follow-a-score, write-attention]", "goals: [fly]", 5, "goals is a list"),
    ("example: student", "example: student\nlang: fr", 7, "en or ko"),
    ("minutes: 5", "minutes: 5\ncolour: red", 5, "no 'colour'"),
    ("show weights", "show nothing", 12, "followed by one of"),
    ("token=studies", "size=9", 12, "option of show"),
    ("choices: tokens", "choices: [one]", 18, "at least two"),
    ("answer: argmax(weights(\"studies\"))", "answer: open(1", 19, "no expression"),
    ("id: most", "id: Most of it", 16, "small letters"),
    ("b: -3..3", "b: 3..-3", 27, "draw from"),
    ("a: 1..5", "A: 1..5", 27, "small letters"),
    ("answer: a*1 + 2*b\n", "", 25, "needs answer:"),
    ("after: \"{a}", "colour: \"{a}", 31, "has no 'colour'"),
    ("kind: softmax", "kind: loop", 45, "kind is one of"),
    ("hints: [The row Action.]", "hints: The row", 40, "is a list"),
    ("say: Write it.", "say: Write it.\ncovers: fly", 47, "covers is one of"),
    ("draw: {a", "tolerance: -1\ndraw: {a", 27, "from 0"),
    ("```question", "```questoin", 25, "'questoin' is no block; a block is one of show, predict, question"),
    ("```predict", "```Predict", 15, "'Predict' is no block"),
    ("```question", "```quiz", 25, "'quiz' is no block"),
    ("{answer}\"\nhints: [Pair by pair., \"Add {{1 = 1}} time.\"]\n```", "{answer}\"", 25, "not closed"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "said"), WRONG)
def test_what_is_wrong_is_told_with_its_line(old, new, line, said):
    assert old in TEXT
    with pytest.raises(ExampleError, match=said) as caught:
        written(TEXT.replace(old, new, 1), "small.md")
    assert caught.value.line == line
    assert caught.value.text("ko") != str(caught.value)


def test_the_last_block_is_closed_and_other_code_may_be_anything():
    with pytest.raises(ExampleError, match="not closed") as caught:
        written(TEXT.rstrip().removesuffix("```"), "small.md")
    assert caught.value.line == TEXT[: TEXT.index("```exercise")].count("\n") + 1
    others = "".join(f"```{info}\nid = 1\n```\n\n" for info in ("", "python", "text", "console", "shell"))
    assert len(written(TEXT + others + "```yaml\nid: x\n```\n", "small.md").blocks) == 5


def test_draws():
    text = TEXT.replace(
        "draw: {a: 1..5, b: -3..3}", "draw:\n  a: .5..2 step .5\n  b: pick [1, x]\n  c: [3, 4]\n  d: tokens"
    )
    assert [draw.values for draw in written(text, "a.md").blocks[2].draws] == [
        (0.5, 1.0, 1.5, 2.0),
        (1, "x"),
        (3, 4),
        None,
    ]
