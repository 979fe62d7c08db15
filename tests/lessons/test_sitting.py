"""Asked, helped and judged in Python."""

from jumok.lessons.progress import Progress
from jumok.lessons.sitting import Sitting
from small_lessons import TEXT, library, small


def sitting(tmp_path, lesson=None):
    return Sitting(lesson or small(), Progress(tmp_path), seed=1)


def test_a_sitting(tmp_path):
    one = sitting(tmp_path)
    assert "4. deep learning" in str(one.ask("most"))
    assert str(one.answer("most", "studies")) == "Your guess: studies. The answer: deep learning. It is 55%."
    asked = str(one.ask("dot"))
    a, b = (int(part.strip("(,)")) for part in (asked.split()[2], asked.split()[4].rstrip("?")))
    assert str(one.answer("dot", a + 2 * b)).startswith("Right.")
    assert str(one.answer("dot", a + 2 * b + 50)) == "Not yet."
    assert str(one.answer("carefully", {"w_q": {"Action": {"Method": 9}}})) == "Right."
    assert Progress(tmp_path).right() == {("small", "dot"), ("small", "carefully")}


def test_code_from_a_notebook_is_checked(tmp_path):
    import numpy as np

    def softmax(scores):
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)

    assert str(sitting(tmp_path).answer("softmax", softmax)).startswith("Right.")
    assert str(sitting(tmp_path).answer("softmax", lambda scores: scores)).startswith("Not yet.")


def test_hints_come_one_by_one_and_a_shown_answer_does_not_count(tmp_path):
    one = sitting(tmp_path)
    assert str(one.hint("dot")) == "Hint 1: Pair by pair."
    assert str(one.hint("dot")) == "Hint 2: Add 1 time."
    assert "no more hints" in str(one.hint("dot"))
    assert "w_q Action Method 9" in str(one.solution("carefully"))
    assert "powers" in str(one.solution("softmax"))
    assert str(one.solution("most")) == "The answer is deep learning. It is 55%."
    assert Progress(tmp_path).right() == set()


def test_a_cell_that_nobody_filled_in_says_what_to_do(tmp_path):
    assert "sitting.hint('most')" in str(sitting(tmp_path, library("ko")).answer("most", ...))
    assert sitting(tmp_path).ask("most")._repr_markdown_() == str(sitting(tmp_path).ask("most"))


def test_a_hint_says_what_was_drawn_before_it_is_asked_and_after(tmp_path):
    lesson = small(TEXT.replace("hints: [Pair by pair.,", 'hints: ["Take {a} once.",'))
    one = sitting(tmp_path, lesson)
    drawn = lesson.asked("dot", 1).drawn
    assert str(one.hint("dot")) == f"Hint 1: Take {drawn['a']} once."
    assert f"({drawn['a']}, 2)" in str(one.ask("dot"))


def test_what_cannot_be_kept_takes_no_answer_away(tmp_path):
    (tmp_path / "file").write_text("")
    one = Sitting(small(), Progress(tmp_path / "file"), seed=1)
    said = str(one.answer("carefully", {"w_q": {"Action": {"Method": 9}}}))
    assert said.startswith("Right.\n\ncannot keep what you did")
    assert "w_q Action Method 9" in str(one.solution("carefully"))
    assert "cannot keep" in str(one.solution("dot"))
