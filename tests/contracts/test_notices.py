"""What of others travels or is brought is told: THIRD_PARTY.md, the bundles' notices, the citation."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from ruamel.yaml import YAML

import jumok
from jumok.picture.page import BUNDLE, html

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NOTICES = (ROOT / "THIRD_PARTY.md").read_text(encoding="utf-8")
OURS = {"test", "docs"}  # extras of those who work on jumok


def required():
    """Every package that somebody who installs jumok may get, and what brings it."""
    lists = {"always": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}
    for extra, lines in lists.items():
        for line in lines if extra not in OURS else ():
            name = Requirement(line).name
            if name != "jumok":
                yield name, "always" if extra == "always" else f"`{extra}`"


@pytest.mark.parametrize(("name", "extra"), sorted(set(required())))
def test_every_package_that_is_brought_has_its_line(name, extra):
    lines = re.findall(rf"(?m)^\| {re.escape(name)} \| (.+) \| (.+) \|$", NOTICES)
    assert len(lines) == 1, "not one line in THIRD_PARTY.md"
    always = ("safetensors", "always")  # named by the extra `models` once more
    assert extra in lines[0][1] or (name, lines[0][1]) == always


def test_the_bundles_hold_no_package_without_its_notice():
    lock = json.loads((ROOT / "frontend" / "package-lock.json").read_text(encoding="utf-8"))
    compiled = {
        place.removeprefix("node_modules/")
        for place, package in lock["packages"].items()
        if place and not package.get("dev") and not package.get("devOptional") and not package.get("optional")
    }
    text = BUNDLE.with_name("jumok.js.LICENSES.txt").read_text(encoding="utf-8")
    named = set(re.findall(r"(?m)^(@?[\w-]+(?:/[\w-]+)?)$(?=\n\nThe MIT License)", text))
    assert compiled == named == {"preact", "@preact/signals", "@preact/signals-core"}
    assert re.findall(r"@?preact/?[\w-]*(?=[, ])", NOTICES.partition("Preact: ")[2].partition("|")[0]) == sorted(
        compiled, key=len
    )


def test_a_page_carries_the_notices_of_what_is_compiled_into_it():
    page = "".join(html(jumok.attend(jumok.load("student"))))
    assert BUNDLE.with_name("jumok.js.LICENSES.txt").read_text(encoding="utf-8") in page


def test_no_font_and_no_program_of_others_is_in_the_package():
    allowed = {".py", ".yaml", ".md", ".js", ".txt", ".safetensors", ".typed", ""}
    package = ROOT / "src" / "jumok"
    files = [path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {path.suffix for path in files} <= allowed
    assert "No font is inside." in NOTICES


def test_the_citation_names_no_person_and_this_licence():
    citation = YAML(typ="safe").load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["authors"] == [{"name": "The jumok authors"}]
    assert (citation["license"], citation["type"]) == (PROJECT["license"], "software")
    assert citation["cff-version"] == "1.2.0"
