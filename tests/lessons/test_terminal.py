"""A lesson at 80 columns, by keyboard alone, left and taken up again."""

import io
import re

import pytest
from rich.cells import cell_len

import jumok
from jumok.errors import InputError
from jumok.lessons import packaged
from jumok.lessons.blocks import Predict, Try
from jumok.lessons.goals import checklist
from jumok.lessons.phrases import say
from jumok.lessons.progress import Progress
from jumok.lessons.terminal import Reader, change_in, form_of, listed
from jumok.picture.terminal import Screen
from small_lessons import TEXT, library, small


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


@pytest.mark.parametrize(
    ("goal", "shown", "hidden"),
    [
        ('argmax(weights("studies")) == "carefully"', ["softmax"], ["q · k"]),
        ('argmax(scores("studies")) == "carefully"', ["q · k"], ["softmax"]),
        ('output("studies", "Method") > 1 and weight("studies", "carefully") > 0.5', ["softmax", "output"], ["q · k"]),
        ('query("studies", "Method") > 5', ["softmax"], ["q · k"]),
    ],
)
def test_a_change_shows_what_its_goal_asks_of(session, goal, shown, hidden):
    text = TEXT.replace('argmax(weights("studies")) == "carefully"', goal)
    seen = session(small(text), "", "4", "s", "w_q Action Method 9", "s", "s").run().partition("After the change:")[2]
    after = seen.partition("Right.")[0]
    assert after != seen
    assert [word in after for word in shown + hidden] == [True] * len(shown) + [False] * len(hidden)


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
    assert "Your guess: The. The answer: deep learning." in seen
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


@pytest.mark.parametrize("token", ["", " token=it"])
def test_a_table_that_is_too_wide_is_told_by_its_strongest_weights(session, token):
    text = TEXT.replace("weights token=studies", f"weights example=minilm-tired layer=2 head=8{token}")
    seen = session(small(text)).run()
    assert [" ".join(line.split()) for line in seen.split("\n") if line.startswith("it ")] == [
        "it tired 0.767 was 0.124 [CLS] 0.062"
    ]
    assert ("mat [CLS] 0.871 mat 0.048 because 0.044" in " ".join(seen.split())) == (not token)
    assert "e-0" not in seen


def test_a_change_of_many_tokens_is_told_the_same_way(session):
    text = TEXT.replace('say: Make *carefully* the strongest.\ngoal: argmax(weights("studies")) == "carefully"',
                        'example: it-tired\nsay: Make it.\ngoal: weight("it", "cat", layer=1) < 0.5')  # fmt: skip
    seen = session(small(text), "", "4", "s", "layer 1, w_q AnimalTrait Animal 7").run()
    after = seen.partition("After the change:")[2]
    assert "it cat 0.499" in " ".join(after.split())
    assert "Right." in after


def test_a_verdict_is_wrapped_under_its_own_beginning(session, tmp_path):
    code = "import numpy as np\n\n\ndef softmax(scores):\n    return np.exp(scores) / np.exp(scores).sum()\n"
    (tmp_path / "small_softmax.py").write_text(code, encoding="utf-8")
    seen = session(small(), "", "4", "s", "s", "", "q", columns="50").run().partition("Enter checks")[2]
    told = seen[seen.index("- softmax-axis") : seen.index("So: ")].splitlines()
    assert len(told) > 4
    assert all(line.startswith(("- ", "  ")) for line in told)
    assert max(map(cell_len, told)) <= 50
    assert "--fix" not in seen  # here s shows how it is done


def test_a_wrong_answer_without_a_word_leaves_one_blank_line(session):
    assert "Not yet.\n\nYour answer" in session(small(), "", "4", "1000", "q").run()


def test_long_code_is_set_in_less(session):
    long = "x = 1  # " + "a" * 67
    text = TEXT.replace("## Two", f"```python\nx = 1\n```\n\n```python\nif x:\n    {long}\n```\n\n## Two")
    seen = session(small(text), "", "4", "", "q").run()
    assert "\n    x = 1\n" in seen
    assert f"\nif x:\n    {long}\n" in seen


def test_a_guess_is_done_once_it_is_made_and_counts_for_no_goal(session, tmp_path):
    file, lesson = io.StringIO(), small()
    session(lesson, "", "1", "1000", "q").run()
    listed(Screen(file), [lesson], checklist([lesson], Progress(tmp_path).right()), Progress(tmp_path), "jumok")
    assert "1 of 4" in file.getvalue()
    assert Progress(tmp_path).right() == set()


OF_WEIGHTS = {"classroom": ("studies", {}), "softmax": ("studies", {}), "real-model": ("it", {"layer": 3, "head": 1})}


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("name", OF_WEIGHTS)
def test_no_weight_is_told_before_the_first_guess_about_it(session, name, lang):
    lesson, (query, place) = jumok.lesson(name, lang), OF_WEIGHTS[name]
    (first, *_) = (one for one in lesson.blocks if isinstance(one, Predict))
    assert "weight" in first.answer.text
    guess = say("choose", lang, n=len(lesson.asked(first.id).choices))
    weights = lesson.functions["weights"](query, **place).values()
    assert max(weights) > 0.25
    one, answers = session(lesson), {say("go_on", lang): "", guess: "q"}
    one.reader.keyboard = lambda prompt: answers.get(prompt.removesuffix(" > "), "s")
    seen = one.run()
    assert one.progress.at(name) < len(lesson.written().elements) / 2
    told = {float(number) for number in re.findall(r"(?<![\d.])0\.\d+(?![\d.])", seen)}
    assert not [weight for weight in weights if weight > 0.25 and any(abs(weight - number) < 0.001 for number in told)]


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
        ("W_Q Action Method 9", {"w_q": {"Action": {"Method": "9"}}}),
        ("layer 1, mask window 2", {"layer": "1", "mask": {"window": "2"}}),
    ],
)
def test_changes_as_they_are_typed(line, changes):
    assert change_in(line) == changes


@pytest.mark.parametrize(
    "line",
    [
        "w_q",
        "w_q what",
        "x The Person",
        "scale 2 3",
        "mask",
        "a b c d e",
        '"open',
        ",",
        "w_q Action 3, w_q Action Method 4",
    ],
)
def test_what_is_no_change(line):
    with pytest.raises(InputError, match="written like"):
        change_in(line)


def test_a_place_that_cannot_be_written_is_told_once_and_the_lesson_goes_on(session, tmp_path):
    one = session(small(), "", "4", "s", "w_q Action Method 9", "s")
    (tmp_path / "file").write_text("")
    one.progress = one.reader.progress = Progress(tmp_path / "file")
    seen = one.run()
    assert one.ended, seen
    assert seen.count("cannot keep what you did") == 1
    assert "Your guess was right: deep learning." in seen


def test_a_hint_says_what_was_drawn(session):
    text = TEXT.replace("hints: [Pair by pair.,", 'hints: ["{a} times 1, and {2*b} more.",')
    seen = session(small(text), "", "4", "?", "s", "q").run()
    a, b = (int(part) for part in re.search(r"What is \((-?\d+), 2\)·\(1, (-?\d+)\)", seen.replace("−", "-")).groups())
    assert f"Hint 1: {a} times 1, and {2 * b} more.".replace("-", "−") in seen


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_form_of_a_change_is_no_solution(lang):
    for number in packaged.names():
        lesson = jumok.lesson(number, lang)
        for block in lesson.blocks:
            if isinstance(block, Try):
                form = form_of(block.solution, lang)
                assert form.split()[0] in block.solution
                with pytest.raises(InputError):  # typed as it stands it changes nothing
                    lesson.reaches(block, change_in(form))
