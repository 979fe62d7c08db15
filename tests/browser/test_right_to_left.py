"""Tokens that are written from right to left, or have no ink, in a real Chromium: their order is that of the sequence, and each is seen."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

import jumok
from cuttable import encoder
from jumok.trace import Token
from wished import wished

HEBREW = ["שלום", "עולם", "טוב"]
ARABIC = ["الولد", "يقرأ", "كتابا"]
ROWS = {"Hebrew": HEBREW, "Arabic": ARABIC}
TOKENS = {name: [*row, *row[:2]] for name, row in ROWS.items()}
NO_INK = ["a", "\u200b", "\u200d", "\ufeff", "\xad", "\u0301", "\x07", "\u3000"]

# Where each of some texts begins and ends, found one after the other in what an element says.
PLACES = """(element, wanted) => {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const letters = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (let at = 0; at < node.data.length; at += 1) letters.push([node, at]);
  }
  const all = letters.map(([node, at]) => node.data[at]).join("");
  let from = 0;
  return wanted.map((text) => {
    const at = all.indexOf(text, from);
    if (at < 0) throw new Error(`${text} is not in ${all}`);
    from = at + text.length;
    const range = document.createRange();
    range.setStart(...letters[at]);
    range.setEnd(letters[from - 1][0], letters[from - 1][1] + 1);
    const {left, right, top, bottom} = range.getBoundingClientRect();
    return {left, right, middle: (top + bottom) / 2};
  });
}"""


def stand_in_order(of: Locator, texts: list[str]) -> None:
    """One after the other from left to right, on one line or on the next."""
    places = of.evaluate(PLACES, texts)
    for first, second in itertools.pairwise(places):
        is_next_line = second["middle"] > first["middle"] + 8
        assert is_next_line or second["left"] >= first["right"] - 1, (texts, places)


@pytest.fixture(params=ROWS)
def tokens(request: pytest.FixtureRequest) -> list[str]:
    return TOKENS[request.param]


@pytest.fixture(scope="module")
def reading() -> Any:
    return encoder()


def named(reading: Any, tokens: list[str]) -> Any:
    """The same reading of other tokens."""
    texts = [tokens[at % len(tokens)] for at in range(len(reading[0].tokens))]
    kept = [dataclasses.replace(one, tokens=texts) for one in reading]
    details = dict(reading.source.details)
    details.pop("sentence", None)
    return jumok.Reading(tuple(kept), dataclasses.replace(reading.source, details=details))


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_buttons_tables_and_sentences_of_cuts(
    page_of: Callable[..., Page], reading: Any, tokens: list[str], lang: str, tmp_path: Path
) -> None:
    of = named(reading, tokens)
    cut = reading.cut(1, 2, 3, 2)
    texts = [Token(token.text) for token in of[0].tokens]
    cut = dataclasses.replace(cut, query=texts[3], key=texts[2], tokens=tuple(texts))
    page = page_of(
        jumok.draw(of, lang=lang).save(tmp_path / "cut.html", cuts=[cut]), "view=heads&layer=1&head=2&query=3&key=2"
    )
    panel = page.locator("details.cuts")
    weight = f"{cut.weight:.3f}".rstrip("0")
    stand_in_order(panel.locator("nav button"), [texts[3].text, "→", texts[2].text, weight])
    stand_in_order(panel.locator("[aria-live] > p").first, [texts[3].text, texts[2].text])
    most = max(cut.changes, key=lambda change: change.norm).position
    stand_in_order(panel.locator("tbody tr").first, [f"#{most}", texts[most].text])
    chosen = f"{texts[3].text}" in page.locator(".telling [role=status]").inner_text()
    assert chosen
    stand_in_order(page.locator(".telling [role=status]"), [texts[3].text, "→", texts[2].text, "%"])
    stand_in_order(
        page.locator(".strips h3"), ["#3", texts[3].text] if lang == "ko" else [texts[3].text, "in every head"]
    )


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_strips_lists_and_sentences_of_an_example(
    page_of: Callable[..., Page], tokens: list[str], lang: str, tmp_path: Path
) -> None:
    page = page_of(
        jumok.draw(wished(tokens=tokens), lang=lang).save(tmp_path / "wished.html"), "stage=weights&query=2&key=1"
    )
    stand_in_order(page.locator(".strip").first, tokens)
    stand_in_order(page.locator("table[data-stage=weights] thead"), tokens)
    page.locator("details.design").evaluate("(one) => { one.open = true; }")
    page.locator("details.why > summary").click()
    why = page.locator("details.why p")
    names = [f"{tokens[0]}#1", f"{tokens[1]}#1", tokens[2], f"{tokens[0]}#2", f"{tokens[1]}#2"]
    for line in why.all():
        said = line.inner_text()
        if all(name in said for name in names[:3]) and "0.02" in said:
            stand_in_order(
                line,
                [
                    part
                    for name, number in zip(names, ["0.02", "0.2", "0.05", "0.55", "0.18"], strict=True)
                    for part in (name, number)
                ],
            )
            break
    else:
        pytest.fail("no line tells of every key")
    page.locator("details.whole > summary").click()
    page.locator("details.whole h3").first.wait_for()
    ranked = page.locator("details.whole p, details.whole li").filter(has_text="55.0%").filter(has_text="20.0%").first
    stand_in_order(ranked, [f"{tokens[3]}", "55.0%", f"{tokens[1]}", "20.0%"])


def test_the_titles_of_two_records(page_of: Callable[..., Page], tmp_path: Path) -> None:
    first, second = (wished(tokens=TOKENS[name]) for name in ROWS)
    page = page_of(jumok.draw(jumok.compare(first, second)).save(tmp_path / "pair.html"))
    for of, name in zip(page.locator(".three h2").all(), ROWS, strict=False):
        stand_in_order(of, TOKENS[name])


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_what_has_no_ink_is_seen_as_python_shows_it(page_of: Callable[..., Page], lang: str, tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(len(NO_INK), 4))
    trace = jumok.attend(x=x, **dict.fromkeys(("w_q", "w_k", "w_v"), np.eye(4)), tokens=NO_INK)
    drawing = jumok.draw(trace, lang=lang)
    page = page_of(drawing.save(tmp_path / "seen.html"))
    seen = ["a", "\\u200b", "\\u200d", "\\ufeff", "\\u00ad", "\\u0301", "\\u0007", "\\u3000"]
    assert page.locator(".strip").first.locator(".token").all_inner_texts() == seen
    assert page.locator("table[data-stage=weights] thead .token").all_inner_texts() == seen
    assert [text for text in seen if text not in str(drawing)] == []
    svg = drawing.save(tmp_path / "seen.svg").read_text(encoding="utf-8")
    assert [text for text in seen if f">{text}<" not in svg] == []


def test_in_a_picture_each_token_is_a_text_of_its_own(page_of: Callable[..., Page], tmp_path: Path) -> None:
    path = jumok.draw(wished(tokens=TOKENS["Hebrew"])).save(tmp_path / "picture.svg")
    page = page_of(jumok.draw(wished()).save(tmp_path / "any.html"))
    page.goto(path.resolve().as_uri())
    places = page.evaluate(
        "() => [...document.querySelectorAll('text')].map((one) => [one.textContent, one.getBoundingClientRect().left, one.getBoundingClientRect().top])"
    )
    top = min(y for text, _, y in places if text in HEBREW)
    assert [
        text for text, _, y in sorted(places, key=lambda place: place[1]) if text in HEBREW and abs(y - top) < 4
    ] == TOKENS["Hebrew"]


def test_a_screen_reader_hears_the_weight_where_it_is_seen(page_of: Callable[..., Page], tmp_path: Path) -> None:
    page = page_of(jumok.draw(jumok.load("student")).save(tmp_path / "student.html"), "query=2")
    radio = page.get_by_role("radiogroup", name="Key").get_by_role("radio").nth(3)
    expect(radio).to_have_accessible_name("deep learning 0.55")
    page.add_style_tag(content=".strip .below { visibility: hidden; }")
    expect(radio).to_have_accessible_name("deep learning")
