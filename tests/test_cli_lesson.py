"""``jumok lesson`` on the command line."""

import json

import nbformat
import pytest

from jumok.cli import run
from jumok.lessons import page
from jumok.lessons.progress import Progress
from small_lessons import TEXT


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("JUMOK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("JUMOK_LANG", "en")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def test_the_list_shows_what_was_done(capsys, home):
    Progress(home).add("library", "page", "right")
    assert run(["lesson"]) == 0
    seen = capsys.readouterr().out
    assert "One input, three roles" in seen
    assert "1 of 6" in seen
    assert "[ ] Explain query, key and value by an everyday comparison" in seen
    assert run(["lesson", "--lang", "ko"]) == 0
    assert "입력은 하나, 역할은 셋" in capsys.readouterr().out


@pytest.mark.parametrize("which", ["3", "library"])
def test_without_a_terminal_the_text_is_printed(which, capsys):
    assert run(["lesson", which]) == 0
    seen = capsys.readouterr().out
    assert "A slip, a spine, a page" in seen
    assert "w_v Method Method 10" not in seen
    assert run(["lesson", which, "--answers"]) == 0
    assert "w_v Method Method 10" in capsys.readouterr().out


def test_a_lesson_into_files(tmp_path):
    assert run(["lesson", "3", "--notebook"]) == 0
    nbformat.validate(nbformat.read(tmp_path / "library.ipynb", as_version=4))
    for name in ("a.html", "a.ipynb", "a.md"):
        assert run(["lesson", "library", "--lang", "ko", "-o", name]) == 0
        assert "입력은 하나, 역할은 셋" in (tmp_path / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("kind", ["missing", "folder", "other letters"])
def test_a_package_that_is_not_whole_is_told_so(kind, lang, tmp_path, monkeypatch, capsys):
    program = tmp_path / "package" / "lesson.js"
    if kind == "folder":
        program.mkdir(parents=True)
    elif kind == "other letters":
        program.parent.mkdir()
        program.write_bytes(b"\xff\xfe")
    monkeypatch.setattr(page, "EXTENSION", program)
    assert run(["lesson", "3", "-o", "a.html", "--lang", lang]) == 2
    said = capsys.readouterr().err
    assert "lesson.js" in said
    assert {"en": "Install jumok again", "ko": "다시 설치"}[lang] in said
    assert "such folder" not in said
    assert not (tmp_path / "a.html").exists()


def test_a_lesson_of_ones_own(tmp_path, capsys):
    assert run(["lesson", "--new", "my.md"]) == 0
    assert run(["lesson", "--check", "my.md"]) == 0
    assert "every number is true: 4 of them" in capsys.readouterr().out
    assert run(["lesson", "my.md"]) == 0
    path = tmp_path / "my.md"
    path.write_text(path.read_text(encoding="utf-8").replace("{{0.55", "{{0.56"), encoding="utf-8")
    assert run(["lesson", "--check", "my.md", "--lang", "ko"]) == 1
    assert "0.56(이)라고 썼지만 0.55입니다" in capsys.readouterr().out
    assert run(["lesson", "--new", "my.md"]) == 2
    assert "--force" in capsys.readouterr().err
    assert run(["lesson", "--new", "my.md", "--force", "--lang", "ko"]) == 0
    assert "누가 누구를 읽는가" in path.read_text(encoding="utf-8")


def test_what_was_done_is_taken_along_brought_and_forgotten(tmp_path, home, capsys):
    Progress(home).add("library", "page", "right")
    assert run(["lesson", "--progress", "-o", "my.json"]) == 0
    assert json.loads((tmp_path / "my.json").read_text(encoding="utf-8"))["done"][0]["id"] == "page"
    assert run(["lesson", "--reset"]) == 0
    said = capsys.readouterr().out
    assert f"To take it back: jumok lesson --bring {home / 'forgotten.json'}" in said
    assert "0 of 6" in said
    assert run(["lesson", "--bring", "my.json"]) == 0
    assert "1 of 6" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["99"], "numbered 1 to 12, got 99"),
        (["3", "-o", "a.txt"], ".html, .ipynb, .md"),
        (["3", "--check", "my.md"], "one thing at a time"),
        (["--reset", "--progress"], "one thing at a time"),
        (["--progress", "-o", "a.html"], "as .json"),
        (["--new", "my.yaml"], "ends in .md"),
        (["--bring", "nope.json"], "there is no file nope.json"),
        (["--check", "nope.md"], "no such file"),
    ],
)
def test_what_does_not_fit_is_told(arguments, said, capsys):
    assert run(["lesson", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_wrong_lesson_is_told_with_its_line(tmp_path, capsys):
    (tmp_path / "my.md").write_text(TEXT.replace("minutes: 5", "minutes: five"), encoding="utf-8")
    assert run(["lesson", "my.md"]) == 2
    assert "my.md, line 4, column 10" in capsys.readouterr().err
