"""A lesson at 80 columns, by keyboard alone, left and taken up again."""

import io

import pytest
from rich.cells import cell_len

from jumok.errors import InputError
from jumok.lessons.progress import Progress
from jumok.lessons.terminal import Reader, change_in
from jumok.picture.terminal import Screen
from small_lessons import library, small


class Session:
    """Somebody at a keyboard: what they type, and what they see."""

    def __init__(self, tmp_path, lesson, *lines, columns="80", monkeypatch=None):
        self.file, self.lines = io.StringIO(), list(lines)
        self.progress = Progress(tmp_path)
        self.folder = tmp_path
        monkeypatch.setenv("COLUMNS", columns)
        self.reader = Reader(lesson, Screen(self.file, lesson.lang), self.typed, self.progress, tmp_path, "jumok")

    def typed(self, prompt):
        self.file.write(prompt)
        if not self.lines:
            raise EOFError
        line = self.lines.pop(0)
        self.file.write(line + "\n")
        return line

    def run(self):
        self.ended = self.reader.run()
        return self.file.getvalue()


@pytest.fixture
def session(tmp_path, monkeypatch):
    return lambda *given, **options: Session(tmp_path, *given, monkeypatch=monkeypatch, **options)


def test_a_whole_lesson(session, tmp_path):
    one = session(small(), "", "4", "?", "?", "?", "nonsense", "s", "w_q Action Method 9", "", "", "?", "s")
    seen = one.run()
    assert one.ended, seen
    assert "Your guess was right: deep learning." in seen
    assert "Hint 1: Pair by pair." in seen
    assert "Hint 2: Add 1 time." in seen
    assert "There are no more hints" in seen
    assert "a number is expected, got 'nonsense'" in seen
    assert "carefully" in seen.partition("After the change:")[2]
    assert (tmp_path / "small_softmax.py").read_text(encoding="utf-8").startswith("import numpy as np")
    assert "powers / powers.sum" in seen  # the solution that s shows
    how = {item.id: item.how for item in one.progress.done() if not item.id.startswith("@")}
    assert how == {"most": "right", "dot": "seen", "carefully": "right", "softmax": "seen"}


def test_code_is_written_beside_and_checked(session, tmp_path):
    lesson = small()
    (tmp_path / "small_softmax.py").write_text(lesson.block("softmax").solution, encoding="utf-8")
    one = session(lesson, "", "4", "s", "s", "")
    assert "Enter checks small_softmax.py" in one.run()
    assert ("small", "softmax") in one.progress.right()


def test_it_is_left_and_taken_up_again(session):
    lesson = small()
    first = session(lesson, "", "1", "q")
    seen = first.run()
    assert not first.ended
    assert "You guessed The; it is deep learning." in seen
    assert "jumok lesson small" in seen
    second = session(lesson, "q")
    seen = second.run()
    assert "going on where you left" in seen
    assert "Which token?" not in seen
    assert "What is (" in seen


def test_the_end_of_input_leaves_as_well(session):
    one = session(small(), "")
    one.run()
    assert not one.ended
    assert one.progress.at("small") == 3


def test_a_key_on_a_hangul_keyboard_is_the_same_key(session):
    one = session(library("ko"), "ㅂ")
    assert "이 자리에서 이어집니다" in one.run()


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("columns", ["80", "40"])
def test_no_line_is_wider_than_the_screen(session, lang, columns):
    lines = ["", "", "", "x", "1", *["s"] * 20]
    seen = session(library(lang), *lines, columns=columns).run()
    assert len(seen) > 2000
    wide = [line for line in seen.splitlines() if cell_len(line) > int(columns) and " > " not in line]
    assert wide == []


def test_a_wide_terminal_is_read_at_80(session):
    seen = session(library(), "q", columns="200").run()
    assert max(map(cell_len, seen.splitlines())) <= 80


def test_without_a_keyboard_all_is_printed_without_the_answers(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    file = io.StringIO()
    assert Reader(small(), Screen(file), None, Progress(tmp_path), tmp_path, "jumok").run()
    seen = file.getvalue()
    assert "Which token?" in seen
    assert "4. deep learning" in seen
    assert "return scores" in seen
    assert "powers" not in seen
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_ones_own_reaches_the_goal(session, tmp_path, monkeypatch):
    import jumok

    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.yaml").write_text(jumok.load("student").text.replace("4.394", "9"), encoding="utf-8")
    one = session(small(), "", "4", "s", "my.yaml", "q")
    one.run()
    assert ("small", "carefully") in one.progress.right()


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        ("w_q Action Method 9", {"w_q": {"Action": {"Method": "9"}}}),
        ("w_q Action Method = 9, w_q Action Person=1", {"w_q": {"Action": {"Method": "9", "Person": "1"}}}),
        ('x "deep learning" Method 2', {"x": {"deep learning": {"Method": "2"}}}),
        ("temperature 2", {"temperature": "2"}),
    ],
)
def test_changes_as_they_are_typed(line, changes):
    assert change_in(line) == changes


@pytest.mark.parametrize("line", ["w_q", "a b c d e", '"open', ",", "w_q Action 3, w_q Action Method 4"])
def test_what_is_no_change(line):
    with pytest.raises(InputError, match="written like"):
        change_in(line)
