"""What the pages about costs show is what comes out."""

import doctest
import re
from pathlib import Path

import pytest

from test_cli import at_home as at_home
from test_cli import run

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {"en": "cost.md", "ko": "cost.ko.md"}


@pytest.mark.parametrize("name", PAGES.values())
def test_the_python_in_it_runs_and_its_picture_is_there(name):
    results = doctest.testfile(str(DOCS / name), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert results.attempted >= 10
    assert results.failed == 0
    (picture,) = re.findall(r'<img src="([^"]+)" alt="[^"]{20,}"', (DOCS / name).read_text(encoding="utf-8"))
    assert (DOCS / picture).is_file()


@pytest.mark.parametrize("lang", PAGES)
def test_what_it_shows_is_what_is_printed(lang, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = (DOCS / PAGES[lang]).read_text(encoding="utf-8")
    told = re.search(r"(?s)```\n\$ jumok (explain [^\n]*)\n(.*?)\n```", text)
    assert run(*told[1].split(), "--lang", lang).text.rstrip("\n") == told[2]
    shown = re.search(r"(?s)```\n\$ jumok (cost --reading [^\n]*)\n(.*?)\n```", text)
    printed = run(*shown[1].split(), "--lang", lang).text
    assert [line.rstrip() for line in printed.rstrip().splitlines()] == shown[2].splitlines()
