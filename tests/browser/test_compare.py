"""Two documents beside each other, in a real Chromium: every change shown is Python's."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import jumok
import readings
from jumok import Reading
from jumok.measurement.comparison import Comparison, compare
from jumok.picture import page as pages
from jumok.words import number


def tokens_changed(record: Reading, at: int, text: str) -> Reading:
    """The same reading with another word at one place and its query turned round, so that rows differ."""
    layers = []
    for trace in record:
        tokens = [*trace.tokens]
        tokens[at] = jumok.Token(text)
        q = trace.q.copy()
        q[:, at + 1 :] *= 0.5
        layers.append(dataclasses.replace(trace, tokens=tuple(tokens), q=q))
    return Reading(layers, record.source)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Comparison, Path]]:
    """The packaged pairs, and a longer pair."""
    folder = tmp_path_factory.mktemp("compare")
    long = readings.reading(2, 3, 120)
    pairs: dict[str, tuple[Any, Any]] = {
        "it": tuple(jumok.attend(jumok.load(name)) for name in ("it-tired", "it-soft")),
        "bank": tuple(jumok.attend(jumok.load(name)) for name in ("bank-money", "bank-river")),
        "long": (long, tokens_changed(long, 60, "␣dog")),
    }
    found = {}
    for name, (a, b) in pairs.items():
        one = compare(a, b)
        found[name] = one, pages.write(folder / f"{name}.html", [a, b], comparison=one.to_json())
    return found


def difference(page: Page) -> Any:
    return page.get_by_role("grid", name=re.compile("What changed from A to B"))


def signed(change: float) -> str:
    size = number(abs(change))
    return "0" if size == "0" else ("-" if change < 0 else "+") + size


def test_every_change_is_pythons(made, page_of):
    found, path = made["it"]
    page = page_of(path, "layer=1")
    change = found.difference(1, 0)
    cells = difference(page).locator("tbody").get_by_role("gridcell")
    n = len(found.pairs) + len(found.only_a) + len(found.only_b)
    expect(cells).to_have_count(n * n)
    texts = [text.strip() for text in cells.all_inner_texts()]
    shown = [text for text in texts if text]
    said = ["0" if abs(value) < 0.0005 else signed(value) for value in change.ravel()]
    assert shown == said
    assert page.locator(".difference .hatched").count() == n * n - change.size


def test_it_opens_at_what_changed_most(made, page_of):
    found, path = made["it"]
    page = page_of(path)
    one = found.heads[0]
    assert [select.input_value() for select in page.locator(".picker select").all()] == [str(one.layer), str(one.head)]
    expect(page.locator(".told-change")).to_contain_text("'it' → cat")
    expect(page.locator(".told-change")).to_contain_text(signed(one.largest))


def test_a_cell_says_before_after_and_by_how_much(made, page_of):
    found, path = made["it"]
    page = page_of(path, "layer=1")
    first, second = found.matched(1, 0)
    words = [token.text for token in found.layer(1)[0].tokens]
    row, column = words.index("it"), words.index("cat")
    a, b = first[row, column], second[row, column]
    name = f"'it' → cat: {number(a)} before, {number(b)} after, {signed(b - a)}"
    page.get_by_role("button", name=name, exact=True).click()
    expect(page.locator(".told-change")).to_have_text(name)
    page.get_by_role("button", name="한국어").click()
    expect(page.locator(".told-change")).to_have_text(f"it → cat: 전 {number(a)}, 후 {number(b)}, {signed(b - a)}")


def test_the_difference_moves_by_keys_and_all_three_maps_follow(made, page_of):
    page = page_of(made["it"][1], "layer=1&query=0&key=0")
    here = page.locator(".difference button[tabindex='0']")
    assert here.count() == 1
    here.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.ariaLabel").startswith("cat → cat")
    expect(page.locator(".told-change")).to_contain_text("cat → cat")
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".told-change")).to_have_text("cat → tired: only in A")
    page.keyboard.press("Home")
    first = page.get_by_role("application", name=re.compile("Weights of A"))
    first.focus()
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("ArrowUp")
    expect(page.locator(".told-change")).to_contain_text("'was' → 'The'")
    second = page.get_by_role("application", name=re.compile("Weights of B"))
    box = second.bounding_box()
    n = 10
    page.mouse.click(box["x"] + 5.5 * box["width"] / n, box["y"] + 7.5 * box["height"] / n)
    expect(page.locator(".told-change")).to_contain_text("'it' → mat")


def test_own_weights_on_wish(made, page_of):
    found, path = made["bank"]
    page = page_of(path, "lang=ko")
    expect(page.get_by_text("비율이 하나도 바뀌지 않았습니다")).to_be_visible()
    page.get_by_label("행마다 짝지은 키끼리 다시 나누기").uncheck()
    a, b = found.layer(0)
    (i, j), (k, m) = found.pairs[2], found.pairs[0]
    before, after = a.rows("weights", queries=[i])[0, 0, k], b.rows("weights", queries=[j])[0, 0, m]
    expect(
        page.get_by_role(
            "button", name=f"'은행' → '나': 전 {number(before)}, 후 {number(after)}, {signed(after - before)}"
        )
    ).to_be_attached()
    unmatched = found.heads[0].unmatched
    expect(page.get_by_text(f"A {number(unmatched[0])}, B {number(unmatched[1])}.")).to_be_visible()


def test_heads_stand_in_the_order_of_their_change(made, page_of):
    found, path = made["long"]
    page = page_of(path)
    rows = page.locator(".changes tbody tr")
    expect(rows).to_have_count(6)
    shown = [row.locator("td").all_inner_texts() for row in rows.all()]
    assert [text[:3] for text in shown] == [
        [str(one.layer), str(one.head), number(one.distance)] for one in found.heads
    ]
    rows.nth(2).get_by_role("button").click()
    one = found.heads[2]
    assert page.locator(".picker select").nth(0).input_value() == str(one.layer)
    assert page.locator(".picker select").nth(1).input_value() == str(one.head)
    expect(page.locator(".told-change")).to_contain_text(signed(one.largest))


def test_what_was_not_counted_in_python_is_counted_here(made, page_of, tmp_path):
    found, _ = made["it"]
    path = pages.write(
        tmp_path / "uncounted.html", [found.a, found.b], comparison={"pairs": [list(pair) for pair in found.pairs]}
    )
    page = page_of(path)
    rows = page.locator(".changes tbody tr")
    expect(rows).to_have_count(2)
    shown = [row.locator("td").all_inner_texts()[:3] for row in rows.all()]
    assert shown == [[str(one.layer), str(one.head), number(one.distance)] for one in found.heads]


def test_many_tokens_are_a_picture_that_speaks(made, page_of, pixels):
    found, path = made["long"]
    page = page_of(path, "layer=0&head=2&query=100&key=3")
    picture = page.get_by_role("application", name=re.compile("What changed"))
    page.wait_for_selector(".three .plot.hatched canvas[data-painted=exact]")
    change = found.difference(0, 2)
    slots = 121
    row, column = np.unravel_index(np.abs(change).argmax(), change.shape)
    at = [(place + (place >= 60) * 2 + 0.5) / slots for place in (int(column), int(row))]
    (red, _, blue, opacity), hatched = pixels(
        page, ".three .plot.hatched canvas", [(at[0], at[1]), (60.5 / slots, 0.9)]
    )
    assert opacity == 255
    assert (red > blue) == (change[row, column] > 0)  # orange is more
    assert hatched[3] == 0
    picture.focus()
    page.keyboard.press("Home")
    first, second = found.matched(0, 2)
    said = f"{number(first[99, 0])} before, {number(second[99, 0])} after"
    expect(page.locator(".told-change")).to_contain_text(said)


def test_an_edit_is_compared_at_once(made, page_of):
    """The first text is edited in its own view; here the counted changes are those of what it became."""
    page = page_of(made["it"][1], "layer=1")
    before = page.locator(".changes tbody tr").first.locator("td").nth(2).inner_text()
    page.evaluate("location.hash")
    page.get_by_role("button", name="Stages").click()
    cell = page.locator("main input:not([type=checkbox]):not([type=range])").first
    cell.fill("3")
    cell.press("Enter")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".changes tbody tr").first.locator("td").nth(2)).not_to_have_text(before)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("name", "width"), [("it", 1280), ("bank", 360), ("long", 1000)])
def test_axe_finds_nothing_serious_and_nothing_runs_out_of_the_page(made, page_of, violations, scheme, name, width):
    page = page_of(made[name][1], "lang=ko", color_scheme=scheme, viewport={"width": width, "height": 800})
    page.wait_for_selector(".plot canvas[data-painted=exact]")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if width > 1000:
        assert page.eval_on_selector(".difference", "table => table.scrollWidth <= table.parentElement.clientWidth")


def test_hostile_tokens_stay_text(page_of, tmp_path):
    q, k, v = np.random.default_rng(0).normal(size=(3, 1, 3, 4))
    a, b = (
        Reading([jumok.Trace(["<b>", middle, "</script><img src=x onerror=alert(1)>"], q, k, v)])
        for middle in ("{asks}", "\u202e$&")
    )
    found = compare(a, b)
    page = page_of(pages.write(tmp_path / "hostile.html", [a, b], comparison=found.to_json()))
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    expect(page.locator(".aligned")).to_contain_text("<b>")
    expect(page.locator(".aligned")).to_contain_text("{asks}")
    assert page.locator(".jumok img, .jumok b").count() == 0
    assert "\u202e" not in page.locator(".jumok").inner_text()
    page.get_by_role("radio", name="{asks}, only in A").click()
    expect(page.locator(".told-change")).to_contain_text("{asks}")
