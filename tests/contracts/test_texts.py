"""What stands in the files that are committed, whatever their language."""

import importlib.metadata
import itertools
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

import jumok

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).relative_to(ROOT).as_posix()


def files():
    """Name and text of every committed or committable text file, but this one."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True).stdout.split("\0")
    for name in names:
        path = ROOT / name
        if name not in ("", HERE) and path.is_file() and b"\0" not in (content := path.read_bytes()):
            yield name, content.decode("utf-8")


UNWANTED = {
    "a place on somebody's machine": r"(?<![\w.])/(work|root|Users|home/(?!you\b)\w+)/|[A-Z]:\\Users\\|/tmp/venv",
    "a package registry's host": r"pypi\.org|pythonhosted|npmjs\.(org|com)|deb\.debian|(?<!docs\.)pytorch\.org|anaconda\.org|index-url",
    "something left for later": r"\b(TODO|FIXME|XXX|HACK|TBD|WIP)\b",
    "a test that looks away": r"doctest: *\+SKIP|pragma: no cover|unittest\.skip",
    "a merge that was not finished": r"(?m)^(<{7}|>{7}) ",
}
THEY_TEST_IT = {"tests/contracts/test_skip_policy.py"}


@pytest.mark.parametrize("what", UNWANTED)
def test_no_file_holds(what):
    found = [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"
        for name, text in files()
        if name not in THEY_TEST_IT
        for match in re.finditer(UNWANTED[what], text)
    ]
    assert not found, f"{what}: {found}"


def test_every_text_ends_its_lines_in_one_way():
    wrong = [name for name, text in files() if "\r" in text or (text and not text.endswith("\n"))]
    assert not wrong


def test_the_version_stands_in_one_place():
    version = re.compile(rf"(?<![\d.]){re.escape(jumok.__version__)}(?![\d.]*\d)")
    places = {name for name, text in files() if version.search(text) and not name.startswith("tests/saved/")}
    held_to_it = {"docs/install.md", "docs/install.ko.md"}  # by tests/docs/test_site.py
    known = {"src/jumok/__init__.py", "CHANGELOG.md", "constraints.txt", "src/jumok/readings/README.md"}
    assert places - known - held_to_it == set()
    assert "version" in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dynamic"]


def test_the_changelog_has_the_version():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"(?m)^## .*{re.escape(jumok.__version__)}", text)


@pytest.mark.parametrize("name", ["README.md", "README.ko.md"])
def test_the_first_screen_shows_the_two_commands(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()[:40]
    commands = [line.split("#")[0].strip() for line in lines]
    assert ("python3 run.py --lang ko" if ".ko." in name else "python3 run.py") in commands
    assert "python3 run_tests.py" in commands


@pytest.mark.parametrize("name", ["README.md", "README.ko.md", "CONTRIBUTING.md"])
def test_links_inside_the_repository_lead_somewhere(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)|(?:src|href)=\"([^\"#]+)\"", text)
    inside = [link for pair in links for link in pair if link and not re.match(r"[a-z]+:", link)]
    assert not [link for link in inside if not (ROOT / link).exists()]


def test_files_named_in_contributing_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:src|tests|benchmarks|docs|\.ci)/[\w./-]+|[\w-]+\.(?:py|txt|toml|md))`", text))
    assert named
    assert not [name for name in named if not (ROOT / name).exists() and not list(ROOT.glob(f"src/**/{name}"))]


def test_pins_bind_only_the_tests():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *itertools.chain(*project["optional-dependencies"].values())]
    assert not [line for line in wanted if "==" in line or "<" in line]
    assert "torch==2.13.0" in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()


def test_what_the_tests_install_takes_the_first_python_that_is_promised():
    refused = {
        found.metadata["Name"]: needed
        for found in importlib.metadata.distributions()
        if (needed := found.metadata.get("Requires-Python")) and not SpecifierSet(needed).contains("3.11.0")
    }
    assert not refused
