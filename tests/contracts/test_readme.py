"""What the READMEs show is what is printed, and the pages in docs/ have their pictures; their examples: tests/docs."""

import doctest
import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from jumok.cli import run
from jumok.sources.example import GALLERY

ROOT = Path(__file__).parents[2]
READMES = ["README.md", "README.ko.md"]
PAGES = [*READMES, "docs/design.md", "docs/design.ko.md"]


@pytest.mark.parametrize("name", READMES)
def test_the_python_in_it_runs(name):
    results = doctest.testfile(str(ROOT / name), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert results.attempted >= 8
    assert results.failed == 0


@pytest.mark.parametrize("name", ["docs/learn.md", "docs/learn.ko.md"])
def test_the_page_about_learning_shows_its_pictures(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    pictures = re.findall(r'<img src="([^"]+)" alt="[^"]{20,}"', text)
    assert len(pictures) == 3
    assert [picture for picture in pictures if not (ROOT / "docs" / picture).is_file()] == []


@pytest.mark.parametrize("name", ["docs/learn.md", "docs/learn.ko.md"])
def test_the_page_about_learning_names_every_task_and_commands_that_are_there(name):
    from jumok.sources.learn.tasks import NAMES

    text = (ROOT / name).read_text(encoding="utf-8")
    assert re.findall(r"(?m)^\| `([a-z-]+)` \|", text) == list(NAMES)
    options = set(re.findall(r"(?m)(?<=`| )(--[a-z-]+)", text))
    out = io.StringIO()
    with redirect_stdout(out):
        for command in ("learn", "explain", "draw"):
            assert run([command, "--help"]) == 0
    assert len(options) >= 12
    assert [option for option in options if option not in out.getvalue()] == []


@pytest.mark.parametrize("name", READMES)
def test_the_screens_in_it_are_real(name, monkeypatch):
    """Every piece between two … of a block that begins with $ stands in what the command prints."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("JUMOK_LANG", "en")
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = re.findall(r"(?ms)^```\n\$ jumok (.*?)\n(.*?)^```$", text)
    assert blocks
    for command, screen in blocks:
        out = io.StringIO()
        with redirect_stdout(out):
            assert run(command.split()) == 0
        printed = re.sub(r"\n─+\n", "\n", out.getvalue())
        kept = [line for line in printed.splitlines() if line]
        for piece in filter(None, (part.strip("\n") for part in screen.split("…\n"))):
            for line in piece.splitlines():
                assert line in kept, f"{line!r} is not printed by jumok {command}"


@pytest.mark.parametrize("name", READMES)
def test_the_example_file_in_it_works(name, tmp_path):
    (block,) = re.findall(r"(?ms)^```yaml\n(.*?)^```$", (ROOT / name).read_text(encoding="utf-8"))
    path = tmp_path / "readme.yaml"
    path.write_text(block, encoding="utf-8")
    with redirect_stdout(io.StringIO()):
        assert run(["attend", str(path)]) == 0


@pytest.mark.parametrize("name", READMES)
def test_the_commands_in_its_table_work(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / name).read_text(encoding="utf-8")
    commands = re.findall(r"`jumok ((?:attend|explain|design|new|examples|scaling)[^`…]*)`", text)
    assert len(commands) >= 8
    for command in commands:
        with redirect_stdout(io.StringIO()):
            assert run([*command.split(), *(["--force"] if command.startswith("new") else [])]) == 0, command


@pytest.mark.parametrize("name", PAGES)
def test_the_pictures_in_it_are_there(name):
    page = ROOT / name
    pictures = re.findall(r'<img src="([^"]+)" alt="[^"]{20,}"', page.read_text(encoding="utf-8"))
    assert len(pictures) >= 7
    assert [picture for picture in pictures if not (page.parent / picture).is_file()] == []


@pytest.mark.parametrize("lang", ["", ".ko"])
def test_every_head_of_the_gallery_is_shown(lang):
    text = (ROOT / f"docs/design{lang}.md").read_text(encoding="utf-8")
    shown = re.findall(r"(?m)^### `([a-z-]+)`: .*\n\n<img src=\"pictures/design\.([a-z-]+)\.(en|ko)\.svg", text)
    assert shown == [(name, name, lang[1:] or "en") for name in GALLERY]
