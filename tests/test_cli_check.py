"""``jumok check``: what it prints, in which language, and how it ends."""

import json

import pytest
from rich.cells import cell_len

from jumok.cli import CHECK_KINDS, CHECK_MASKS, run
from jumok.lessons.checker.layouts import KINDS, MASKS

RIGHT = "def scale(scores, d_k):\n    return scores / d_k**0.5\n"
WRONG = "def scale(scores, d_k):\n    return scores / d_k\n"


@pytest.fixture
def file(tmp_path):
    def write(code):
        path = tmp_path / "my.py"
        path.write_text(code)
        return str(path)

    return write


def test_right_ends_in_0(file, capsys):
    assert run(["check", file(RIGHT), "--lang", "en"]) == 0
    assert capsys.readouterr().out == "right\n"


def test_a_mistake_ends_in_1_and_is_told(file, capsys):
    assert run(["check", file(WRONG) + ":scale", "--lang", "ko", "--fix"]) == 1
    out = capsys.readouterr().out
    assert "scale-by-dk: 점수를 √d_k가 아니라 d_k로 나누었습니다" in out
    assert "2번째 줄: return scores / d_k" in out
    assert "고치기:" in out


def test_no_line_is_wider_than_80(file, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    long = "def scale(scores, d_k):\n    print('word ' * 60)\n    return scores / d_k  # " + "long " * 30
    for lang in ("en", "ko"):
        assert run(["check", file(long), "--lang", lang, "--fix"]) == 1
        assert max(map(cell_len, capsys.readouterr().out.splitlines())) <= 80


def test_json(file, capsys):
    assert run(["check", file(WRONG), "--json"]) == 1
    plain = json.loads(capsys.readouterr().out)
    assert (plain["status"], plain["mistakes"][0]["id"]) == ("mistake", "scale-by-dk")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check"], "jumok check my.py:attention"),
        (["check", "student"], "expects a Python file"),
        (["check", "none.py"], "cannot read none.py"),
        (["check", "{file}:other"], "my.py has no other. It defines: scale."),
        (["check", "{file}", "--kind", "scael"], "scale"),
        (["check", "{file}", "--mask", "shown"], "'allowed', 'hidden'"),
    ],
)
def test_bad_use_ends_in_2(file, capsys, arguments, said):
    path = file(WRONG)
    assert run([*(one.replace("{file}", path) for one in arguments), "--lang", "en"]) == 2
    assert said in capsys.readouterr().err


def test_the_commands_words_are_the_checkers() -> None:
    assert (CHECK_KINDS, CHECK_MASKS) == (KINDS, MASKS)
