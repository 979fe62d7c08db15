"""The check finds every way in which a lesson can be untrue."""

import pytest

from jumok.lessons.checked import problems
from small_lessons import TEXT, small


def found(text, **options):
    return [str(problem) for problem in problems(small(text), **options)]


def test_a_true_lesson_has_no_problem():
    assert found(TEXT) == []


UNTRUE = [
    ("{{0.55 =", "{{0.56 =", "line 10, column 38: 0.56 is written, but it is 0.55"),
    ("{{55% =", "{{54% =", "line 20, column 14: 54% is written, but it is 55%"),
    ("## Two", "## Two\n\nAbout 0.2 of it.", "0.2 is computed by nothing"),
    ("ask: Which token?", "ask: Which token has 55%?", "55% is computed by nothing"),
    ("{{0.55 = weight(", "{{0.55 = weigth(", "unknown name 'weigth'"),
    ('"studies", "deep learning")}}.\n\n', '"studies", "deep")}}.\n\n', "unknown token 'deep'"),
    ("id: dot", "id: most", "the id most stands 2 times"),
    ("hints: [The row Action.]\n", "", "carefully needs hints"),
    ("choices: tokens", "choices: [Thus, student]", "'deep learning' is none of the choices"),
    ("answer: a*1 + 2*b", "answer: a*1 + 2*c", "unknown name 'c'"),
    ("= {answer}", "= {c}", "unknown name 'c'"),
    ("{a*2 + b:", "{2*b + a:", "always gives the right answer"),
    ("{Method: 9}", "{Method: 5}", "does not reach the goal"),
    ('== "carefully"', '== "deep learning"', "holds before anything is changed"),
    ("example: student", "example: students", "unknown example 'students'"),
    ("token=studies", "token=nobody", "unknown token 'nobody'"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "said"), UNTRUE)
def test_what_is_untrue_is_told(old, new, said):
    assert old in TEXT
    assert any(said in one for one in found(TEXT.replace(old, new, 1), run_code=False))


@pytest.mark.parametrize(("kind", "until"), [("predict", "## Two"), ("question", "```try"), ("exercise", None)])
def test_what_is_missing_is_told(kind, until):
    start = TEXT.index(f"```{kind}")
    text = TEXT[:start] + ("" if until is None else TEXT[TEXT.index(until) :])
    assert found(text, run_code=False) == [f"small.en.md, line 1, column 1: a lesson has at least one {kind}."]


def test_a_solution_that_is_wrong_and_a_stub_that_is_right_are_told():
    right = TEXT[TEXT.index("solution: |") :].partition("hints")[0].partition("\n")[2]
    wrong = TEXT[TEXT.index("stub: |") :].partition("solution")[0].partition("\n")[2]
    swapped = TEXT.replace(f"stub: |\n{wrong}solution: |\n{right}", f"stub: |\n{right}solution: |\n{wrong}")
    assert swapped != TEXT
    said = found(swapped)
    assert any("the solution of softmax is not right" in one for one in said)
    assert any("the stub of softmax is right already" in one for one in said)


DIFFERENT = [
    ("minutes: 5", "minutes: 6", "minutes differs"),
    ("## Two", "Two", "n_sections differs"),
    ("id: dot", "id: dots", "the blocks differs"),
    ("b: -3..3", "b: -3..4", "dot differs"),
    ("a*1 + 2*b", "a + 2*b", "dot differs"),
    ("hints: [Pair by pair.", "hints: [One., Pair by pair.", "dot differs"),
    ("{Method: 9}", "{Method: 10}", "carefully differs"),
    ("kind: softmax", "kind: scale", "softmax differs"),
    ("      return scores", "      return 2*scores", "softmax differs"),
    ("hints: [The row Action.]", "hints: [The row Action., More.]", "carefully differs"),
    ("token=studies", "token=student", "differs"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "said"), DIFFERENT)
def test_two_languages_that_differ_in_more_than_texts(old, new, said):
    assert old in TEXT
    lesson = small(TEXT, ko=TEXT.replace(old, new, 1))
    assert [one for one in map(str, problems(lesson, run_code=False)) if said in one]


GUESS = """choices: [one, two]
answer: '"two" if weight("studies", "studies") > 0.5 else "one"'"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('else "one"', 'else "three"', "'three' is none of the choices"),  # also where it is not the answer now
        ('"two" if', '"tow" if', "'tow' is none of the choices"),
    ],
)
def test_every_text_that_an_answer_may_be_is_a_choice(old, new, said):
    text = TEXT.replace('choices: tokens\nanswer: argmax(weights("studies"))', GUESS)
    assert found(text, run_code=False) == []
    assert [said in one for one in found(text.replace(old, new), run_code=False)] == [True]


def test_a_literal_answer_is_the_same_choice_in_both_languages():
    en = TEXT.replace("choices: tokens", "choices: [one, two]").replace('argmax(weights("studies"))', "'\"two\"'", 1)
    ko = en.replace("[one, two]", "[하나, 둘]").replace('"two"', '"둘"')
    assert list(problems(small(en, ko=ko), run_code=False)) == []
    swapped = ko.replace('"둘"', '"하나"')
    assert ["most differs" in str(one) for one in problems(small(en, ko=swapped), run_code=False)] == [True]


def test_texts_and_comments_may_differ():
    ko = (
        TEXT.replace("title: Small", "title: 작은 레슨")
        .replace("Pair by pair.", "짝끼리.")
        .replace("return scores\n", "return scores  # 여기\n", 1)
    )
    assert list(problems(small(TEXT, ko=ko), run_code=False)) == []
