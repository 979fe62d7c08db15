"""A lesson computes its numbers, asks, and judges answers."""

import pytest

import jumok
from jumok.errors import ExampleError, InputError, UnknownName
from small_lessons import TEXT, library, small


def test_numbers_are_computed_and_not_copied():
    assert "0.55." in small().text()
    lied = small(TEXT.replace("{{0.55 =", "{{0.77 ="))
    assert "0.55." in lied.text()
    assert "0.77" not in lied.text()


def test_a_guess_is_taken_by_number_or_text():
    lesson = small()
    asked = lesson.asked("most")
    assert asked.choices == ("The", "student", "studies", "deep learning", "carefully")
    assert lesson.answered(asked, "4").is_right
    assert lesson.answered(asked, "Deep Learning").is_right
    wrong = lesson.answered(asked, 1)
    assert not wrong.is_right
    assert wrong.text == "It is 55%."
    with pytest.raises(InputError, match="or its number"):
        lesson.answered(asked, 6)


@pytest.mark.parametrize("seed", range(12))
def test_a_question_is_answered_by_its_own_numbers(seed):
    lesson = small()
    asked = lesson.asked("dot", seed)
    a, b = asked.drawn["a"], asked.drawn["b"]
    assert asked.text == f"What is ({a}, 2)·(1, {b})?".replace("-", "−")
    assert asked.answer == a + 2 * b
    assert lesson.answered(asked, f" {a + 2 * b} ").is_right
    assert lesson.answered(asked, a + 2 * b + 0.004).is_right
    assert not lesson.answered(asked, a + 2 * b + 1).is_right
    shown = f"({b})" if b < 0 else b
    assert lesson.answered(asked, a + 2 * b).text == f"{a} + 2×{shown} = {a + 2 * b}".replace("-", "−")
    if a != b:
        assert lesson.answered(asked, a * 2 + b).text == "The pairs are mixed up."


def test_numbers_are_drawn_anew_and_again_by_seed():
    lesson = small()
    assert len({lesson.asked("dot").text for _ in range(40)}) > 5
    assert lesson.asked("dot", 7) == lesson.asked("dot", 7)


@pytest.mark.parametrize(
    ("typed", "is_right"), [("1/3", True), ("33.3%", True), ("333.0", False), ("−1/3", False), ("0.34", False)]
)
def test_a_number_may_be_typed_in_many_ways(typed, is_right):
    text = TEXT.replace("answer: a*1 + 2*b", "answer: 1/3").replace("{a*2 + b:", "{a*9 + 90:").replace("0,", "0")
    lesson = small(text)
    assert lesson.answered(lesson.asked("dot", 1), typed).is_right is is_right


def test_what_is_no_number_is_told():
    lesson = small()
    with pytest.raises(InputError, match="a number is expected, got 'many'"):
        lesson.answered(lesson.asked("dot", 1), "many")


def test_a_change_reaches_the_goal_or_not():
    lesson = small()
    block = lesson.block("carefully")
    assert lesson.answered(lesson.asked("carefully"), {"w_q": {"Action": {"Method": "9"}}}).is_right
    assert not lesson.answered(lesson.asked("carefully"), {"w_q": {"Action": {"Method": 1}}}).is_right
    assert not lesson.reaches(block, {})
    with pytest.raises(UnknownName, match="Nope"):
        lesson.reaches(block, {"w_q": {"Nope": {"Method": 9}}})


def test_code_is_checked_by_what_it_gives(tmp_path):
    lesson = small()
    block, path = lesson.block("softmax"), tmp_path / "my.py"
    path.write_text(block.stub)
    assert not lesson.answered(lesson.asked("softmax"), str(path)).is_right
    path.write_text(block.solution)
    assert lesson.answered(lesson.asked("softmax"), str(path)).is_right


def test_a_drawn_token_gets_its_particle():
    text = TEXT.replace("draw: {a: 1..5, b: -3..3}", "draw: {t: pick, b: -3..3}").replace(
        "t: pick", "t: [deep learning]"
    )
    text = text.replace("({a}, 2)·(1, {b})", "{t:은/는}").replace("a*1 + 2*b", "2*b").replace("a*2 + b", "b + 99")
    assert "deep learning은" in small(text.replace('after: "{a} + 2×{b:()} = {answer}"\n', ""), "ko").asked("dot").text


def test_a_lesson_speaks_the_languages_that_it_has():
    assert library("ko").title == "입력은 하나, 역할은 셋"
    assert library().text("ko") == library("ko").text()
    with pytest.raises(InputError, match="written in en, not in ko"):
        small().text("ko")
    with pytest.raises(UnknownName):
        small().text("fr")


def test_own_lessons_are_read_from_a_file_and_read_own_examples(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.yaml").write_text(jumok.load("student").text.replace("6.628", "9.628"), encoding="utf-8")
    (tmp_path / "my.md").write_text(TEXT.replace("example: student", "example: my.yaml"), encoding="utf-8")
    lesson = jumok.lesson("my.md")
    assert f"with {lesson.record().weights[0, 2, 3]:.2f}." in lesson.text()
    assert "with 0.55." not in lesson.text()


@pytest.mark.parametrize("which", [99, "0", -1, 2000])
def test_a_number_that_no_lesson_has(which):
    with pytest.raises(UnknownName, match=f"numbered 1 to 12, got {which}"):
        jumok.lesson(which)


def test_a_name_that_no_lesson_has():
    with pytest.raises(UnknownName, match="library"):
        jumok.lesson("librari")


def test_a_missing_file_is_told():
    with pytest.raises(ExampleError, match="no such file"):
        jumok.lesson("nope.md")
