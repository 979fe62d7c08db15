"""Cuts in a real Chromium: beside a weight stands what Python's cut says, and a Python behind the page makes more."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

import jumok
from cuttable import classifier, decoder, encoder
from jumok.picture.widget import widget
from jumok.trace import Token
from jumok.words import number, percent, shown
from page_clock import rest
from python_host import PythonHost

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e은행"


@pytest.fixture(scope="module")
def reading() -> Any:
    return encoder()


def panel(page: Page) -> Locator:
    return page.locator("details.cuts")


def commands(page: Page) -> list[str]:
    """What the opened panel tells to run: in Python, on the command line."""
    panel(page).locator("summary").click()
    panel(page).locator("code").first.wait_for()  # the browser tells of the opening later
    return panel(page).locator("code").all_inner_texts()


def saved(reading: Any, path: Path, cuts: Any = None, lang: str = "en") -> Path:
    return jumok.draw(reading, lang=lang).save(path / "cut.html", cuts=cuts)


def rows(page: Page, at: int = 0) -> list[list[str]]:
    lines = panel(page).locator("table").nth(at).locator("tbody tr").all()
    return [[line.locator("th").inner_text(), *line.locator("td").all_inner_texts()] for line in lines]


def texts(page: Page) -> list[str]:
    return panel(page).locator("[aria-live] > p").all_inner_texts()


# offline ------------------------------------------------------------------------------------------


def test_an_encoders_output_vectors_move_as_python_says(reading: Any, page_of: Callable, tmp_path: Path) -> None:
    cut = reading.cut(1, 2, "sat", "cat")
    page = page_of(saved(reading, tmp_path, cut))
    assert cut.text().startswith(texts(page)[0])
    most = sorted(cut.changes, key=lambda change: -change.norm)[:5]
    assert rows(page) == [
        [
            f"#{one.position} {cut.tokens[one.position].text}",
            number(one.norm),
            percent(one.relative),
            number(one.cosine),
        ]
        for one in most
    ]


def test_a_decoders_next_tokens_are_those_of_python(page_of: Callable, tmp_path: Path) -> None:
    reading = decoder("a cat sat")
    cut = reading.cut(1, 2, 1, 0, renormalise=True)
    page = page_of(saved(reading, tmp_path, [cut]))
    assert cut.text().startswith(texts(page)[0])
    assert "shared out anew" in texts(page)[0]
    for at, guesses in enumerate(cut.guesses):
        assert rows(page, at) == [[shown(word.text), number(word.before), number(word.after)] for word in guesses.words]
        assert percent(guesses.moved) in texts(page)[1 + at]
        assert number(guesses.logits) in texts(page)[1 + at]


PLACES = {"weight": (1, 2, 3, 2), "key": (1, 2, None, 2), "row": (1, 2, 3), "head": (1, 2)}


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("place", PLACES)
def test_whatever_was_cut_is_said_as_python_says_it(
    reading: Any, page_of: Callable, tmp_path: Path, place: str, lang: str
) -> None:
    at = PLACES[place]
    ways: list[dict[str, bool]] = [{}, {"renormalise": True} if len(at) == 4 else {"mean": True}]
    cuts = [reading.cut(*at, **way) for way in ways]
    page = page_of(saved(reading, tmp_path, cuts, lang), "query=3&key=2")
    said = texts(page)
    for cut, text in zip(cuts, said[:2], strict=True):
        assert cut.text(lang).startswith(text)
        assert len(text) >= 40


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_one_output_for_all_and_one_that_stays_the_same(page_of: Callable, tmp_path: Path, lang: str) -> None:
    reading = classifier()
    cut = reading.cut(0, 1, 2, 3)
    still = dataclasses.replace(cut, changes=tuple(dataclasses.replace(one, norm=0.0) for one in cut.changes))
    for one in (cut, still):
        page = page_of(saved(reading, tmp_path, one, lang))
        assert texts(page)[0] == one.text(lang)
        assert panel(page).locator("table").count() == 0


def test_the_list_goes_to_each_cut(reading: Any, page_of: Callable, tmp_path: Path) -> None:
    cuts = [reading.cut(1, 2, "sat", "cat"), reading.cut(0, 3, 4, 1), reading.cut(0, 1)]
    page = page_of(saved(reading, tmp_path, cuts))
    listed = panel(page).get_by_role("navigation", name="Cuts in this page").get_by_role("button")
    assert [text.rsplit(" ", 1)[0] for text in listed.all_inner_texts()[:2]] == [
        "Layer 1, head 2: sat → cat",
        "Layer 0, head 3: on → The",
    ]
    assert listed.nth(2).inner_text() == "Layer 0, head 1: the whole head"
    listed.nth(1).focus()
    page.keyboard.press("Enter")
    expect(listed.nth(1)).to_have_attribute("aria-current", "true")
    expect(listed.nth(0)).not_to_have_attribute("aria-current", "true")
    expect(panel(page)).to_contain_text("Cut in layer 0, head 3: the weight")
    rest(page, 300)
    assert "layer=0&head=3&query=4&key=1" in page.url


@pytest.mark.parametrize("view", ["heads", "map", "stages"])
def test_every_view_shows_it_and_follows_what_is_chosen(
    reading: Any, page_of: Callable, tmp_path: Path, view: str
) -> None:
    page = page_of(saved(reading, tmp_path, reading.cut(1, 2, "sat", "cat")), f"view={view}")
    expect(panel(page)).to_contain_text("the weight")
    page.evaluate("() => (location.hash = location.hash + '&key=1')")
    expect(panel(page)).to_contain_text("has not been cut here")


def test_where_none_is_it_says_how_and_that_works(reading: Any, page_of: Callable, tmp_path: Path) -> None:
    page = page_of(saved(reading, tmp_path), "view=heads&layer=1&head=3&query=4&key=2")
    expect(panel(page)).not_to_have_attribute("open", "")
    python, command = commands(page)
    assert command == 'jumok capture … --cut "1.3:#4>#2" -o page.html'
    path = tmp_path / "page.html"
    call = ast.unparse(ast.parse(python)).replace("'page.html'", repr(str(path)))
    exec(call, {"jumok": jumok, "reading": reading})
    again = page_of(path)
    expect(panel(again)).to_contain_text("Cut in layer 1, head 3")


def test_where_only_some_layers_were_kept_it_says_their_own_numbers(
    reading: Any, page_of: Callable, tmp_path: Path
) -> None:
    kept = [
        dataclasses.replace(one, source=dataclasses.replace(one.source, layer=4 + at)) for at, one in enumerate(reading)
    ]
    page = page_of(saved(jumok.Reading(tuple(kept)), tmp_path), "view=heads&layer=1&head=3&query=4&key=2")
    python, command = commands(page)
    assert "reading.cut(5, 3, 4, 2)" in python
    assert '"5.3:#4>#2"' in command


def test_of_many_heads_the_page_explains_the_chosen_one(page_of: Callable, tmp_path: Path) -> None:
    reading = encoder(heads=8)
    page = page_of(saved(reading, tmp_path), "view=stages&layer=1&head=2&query=3&lang=en")
    page.locator("details.whole > summary").click()
    page.locator("details.whole h3").first.wait_for()  # the browser tells of the opening later
    titles = page.locator("details.whole h3").all_inner_texts()
    told = jumok.explain(reading[1], 3, head=2)
    assert titles == [section.title for section in told.sections()]
    expect(page.locator("details.whole p").first).to_have_text(told.sections()[0].lines[0][1])


def test_what_is_no_model_has_no_panel(page_of: Callable, tmp_path: Path) -> None:
    page = page_of(saved(jumok.attend(jumok.load("student")), tmp_path), "view=heads")
    assert panel(page).count() == 0


def test_tokens_are_text_whatever_they_say(reading: Any, page_of: Callable, tmp_path: Path) -> None:
    cut = reading.cut(1, 2, "sat", "cat")
    tokens = tuple(Token(HOSTILE) for _ in cut.tokens)
    hostile = dataclasses.replace(cut, query=Token(HOSTILE), key=Token(HOSTILE), tokens=tokens)
    page = page_of(saved(reading, tmp_path, hostile))
    assert "</script><img" in texts(page)[0]
    assert page.locator("img").count() == 0
    assert "\u202e" not in panel(page).inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_it_can_be_read_by_all_on_any_screen(
    reading: Any, page_of: Callable, violations: Callable, tmp_path: Path, scheme: str, width: int
) -> None:
    cuts = [reading.cut(1, 2, "sat", "cat"), reading.cut(1, 2, "sat", "cat", renormalise=True)]
    page = page_of(saved(reading, tmp_path, cuts, "ko"), color_scheme=scheme, viewport={"width": width, "height": 800})
    assert violations(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width


# Python behind the page -----------------------------------------------------------------------------


CELL = {"view": "heads", "layer": 1, "head": 2, "query": 3, "key": 2}


def test_python_cuts_what_is_chosen(python_host: PythonHost, reading: Any) -> None:
    shown = jumok.widget(reading, view=CELL, lang="en")
    page = python_host.open(shown)
    expect(panel(page)).to_contain_text("has not been cut here")
    button = panel(page).get_by_role("button", name="Cut this weight")
    button.focus()
    page.keyboard.press("Enter")
    cut = reading.cut(1, 2, 3, 2)
    expect(panel(page).locator("[aria-live] > p").first).to_contain_text("Cut in layer 1, head 2")
    assert cut.text().startswith(texts(page)[0])
    assert rows(page)[0][1] == number(max(change.norm for change in cut.changes))
    panel(page).get_by_label("share the rest of the row out anew").check()
    button.click()
    expect(panel(page).locator("table")).to_have_count(2)
    assert "shared out anew" in " ".join(texts(page))
    assert [one["renormalise"] for one in python_host.asked] == [False, True]
    assert len(shown.cuts) == 2
    expect(panel(page).get_by_role("navigation").get_by_role("button")).to_have_count(2)


def test_while_the_model_runs_it_is_said_and_nobody_asks_twice(python_host: PythonHost, reading: Any) -> None:
    page = python_host.open(jumok.widget(reading, view=CELL, lang="en"))
    python_host.be_slow(700)
    button = panel(page).get_by_role("button", name="Cut this weight")
    button.click()
    expect(button).to_be_disabled()
    expect(panel(page).get_by_role("status")).to_contain_text("Python is running the model")
    expect(panel(page).locator("table")).to_have_count(1)
    expect(button).to_be_enabled()
    expect(panel(page).get_by_role("status")).to_be_empty()


@pytest.mark.parametrize(
    ("lang", "said"),
    [("en", "It could not be cut: RuntimeError: no room"), ("ko", "끊지 못했습니다: RuntimeError: no room")],
)
def test_an_error_is_one_message_beside_the_weight_it_is_of(
    python_host: PythonHost, reading: Any, lang: str, said: str
) -> None:
    def breaking(*_: Any) -> Any:
        raise RuntimeError("no room")

    page = python_host.open(widget(reading, view=CELL, lang=lang, cutter=breaking))
    panel(page).locator("button").first.click()
    expect(panel(page).get_by_role("alert")).to_have_text(said)
    page.get_by_role("radio", name="the").first.click()
    expect(panel(page).get_by_role("alert")).to_have_count(0)


def test_cuts_that_python_made_by_itself_come_too(python_host: PythonHost, reading: Any) -> None:
    page = python_host.open(jumok.widget(reading, view=CELL, lang="en", cuts=reading.cut(1, 2, 3, 2)))
    expect(panel(page)).to_contain_text("Cut in layer 1, head 2")
