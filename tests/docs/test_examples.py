"""Every example in docs/ runs: what is typed in Python, what is typed on the command line, and what it is said to print."""

from __future__ import annotations

import doctest
import io
import re
import shlex
from contextlib import redirect_stdout
from pathlib import Path

import pytest
import torch
import transformers as hf

from jumok.cli import run
from small_folders import conllu, folder_of, sentences

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if path.name[0] != "_")
BLOCK = re.compile(r"(?ms)^```([^`\n]*)\n(.*?)^```$")
IN_A_BLOCK = re.compile(r"(?m)^(?:\$ )?(jumok(?: [^\n…]*)?)$")
SAVED_AS = {"start/teacher": "birds.yaml", "howto/own-example": "birds.yaml"}  # what the page says its YAML is called
RUNS_ON = ("serve",)  # until it is stopped; tests/server starts it
REAL_WEIGHTS = ("capture",)  # a model from a package: its screen is another with a small one
LESS = {  # the same command with less to do: of an option that stands twice the last one counts
    "learn": ["--steps", "4"],
    "measure": ["--limit", "3", "--workers", "1"],
    "cost": ["--n", "32,64", "--budget", "0.2"],
}
A_STEP = "3"  # of a training of four
MY_ATTENTION = '''import numpy as np
def attention(q, k, v):
    """What anybody writes."""
    scores = q @ k.T / q.shape[-1]
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ v
'''


def read(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def lang_of(page: str) -> str:
    return "ko" if page.endswith(".ko.md") else "en"


def commands(page: str) -> list[tuple[str, str]]:
    """Each command line of a page that a reader may type, and what stands below it as its screen."""
    found = []
    for kind, block in BLOCK.findall(read(page)):
        if kind in ("", "sh", "text") or kind.startswith("{command} "):
            _, *pieces = re.split(r"(?m)^(?=(?:\$ )?jumok(?: |$))", "\n" + block)
            found += [
                (IN_A_BLOCK.match(piece)[1], piece.partition("\n")[2]) for piece in pieces if IN_A_BLOCK.match(piece)
            ]
    return found


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with as many layers and heads as the pages speak of."""
    torch.manual_seed(0)
    config = hf.BertConfig(
        vocab_size=15, hidden_size=16, num_hidden_layers=6, num_attention_heads=4, intermediate_size=16, max_position_embeddings=128,
    )  # fmt: skip
    return folder_of(hf.BertModel(config).eval(), tmp_path_factory.mktemp("model") / "M")


@pytest.fixture
def desk(tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which a reader has what the pages speak of."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("JUMOK_HOME", str(tmp_path / "home"))
    (tmp_path / "M").symlink_to(model)
    (tmp_path / "my.py").write_text(MY_ATTENTION, encoding="utf-8")
    (tmp_path / "corpus.conllu").write_text(conllu(12), encoding="utf-8")
    (tmp_path / "corpus.txt").write_text("\n".join(sentences(12)), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("page", [page for page in PAGES if ">>> " in read(page)])
def test_the_python_in_it_runs(page, desk):
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    results = doctest.testfile(str(DOCS / page), module_relative=False, optionflags=options)
    assert results.attempted >= 2
    assert results.failed == 0


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)])
def test_the_commands_in_it_run_and_print_what_it_shows(page, desk, monkeypatch):
    monkeypatch.setenv("JUMOK_LANG", lang_of(page))
    stem = page.removesuffix(".md").removesuffix(".ko")
    if stem in SAVED_AS:
        (example,) = [block for kind, block in BLOCK.findall(read(page)) if kind == "yaml"]
        (desk / SAVED_AS[stem]).write_text(example, encoding="utf-8")
    for command, screen in commands(page):
        if not screen_of(screen) and lang_of(page) == "ko":
            continue  # the same as in English, as the last test holds
        arguments = shlex.split(command, comments=True)[1:]
        if arguments[:1] and arguments[0] in RUNS_ON:
            continue
        printed = io.StringIO()
        with redirect_stdout(printed):
            code = run(affordable(arguments))
        assert code in ((0, 1) if "check" in arguments else (0,)), f"{command} ends in {code}"
        if stem not in REAL_WEIGHTS:
            shown_is_printed(command, screen_of(screen), printed.getvalue())


def screen_of(below: str) -> str:
    """What is said to be printed: in a block of its own, with … for what is left out."""
    return below if "…" in below else ""


def affordable(arguments: list[str]) -> list[str]:
    """The command with less to do, where it would train, measure or load a model of a package."""
    name, *rest = arguments or [""]
    if name == "capture" and "--model" not in rest:
        return [*arguments, "--model", "M"]
    only_tells = "--reading" in rest or rest[:1] in (["--show"], ["run/"]) or (name == "learn" and not rest)
    if name in LESS and not only_tells:
        return [*arguments, *LESS[name]]
    return [A_STEP if before == "--step" else each for before, each in zip(["", *arguments], arguments, strict=False)]


def shown_is_printed(command: str, screen: str, printed: str) -> None:
    """Each line that stands between two … is a line of the output."""
    kept = {line.rstrip() for line in printed.splitlines()}
    for line in filter(None, (line.rstrip() for line in screen.splitlines())):
        if line.strip() != "…" and not set(line) <= {"─"}:
            assert line in kept, f"{line!r} is not printed by {command}"


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_that_it_speaks_of_are_there(page):
    """What stands in a line of text, often shortened: its command and its options exist."""
    spoken = re.findall(r"`jumok ([a-z]+)([^`]*)`", BLOCK.sub("", read(page)))
    for name in {name for name, _ in spoken}:
        out = io.StringIO()
        with redirect_stdout(out):
            assert run([name, "--help"]) == 0, name
        options = {
            option for told, rest in spoken if told == name for option in re.findall(r"(?<![\w-])--[a-z-]+", rest)
        }
        assert [option for option in sorted(options) if option not in out.getvalue()] == [], name


def test_both_languages_show_the_same_commands():
    for page in PAGES:
        if lang_of(page) == "en" and (DOCS / page.replace(".md", ".ko.md")).is_file():
            english, korean = (
                [
                    re.sub(r" --lang (en|ko)", "", command.split("#")[0].strip()).replace(" eat", " 먹는다")
                    for command, _ in commands(one)
                ]
                for one in (page, page.replace(".md", ".ko.md"))
            )
            if page != "roles.md":  # each shows the role that reads best in its language
                assert english == korean, page
