"""Flash attention in a real Chromium: stepped by buttons and keys, in both languages; it follows the views and every edit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

import jumok
from jumok.explanation.variants import explain_flash

HOSTILE = ["</script><script>alert(1)</script>", "\u202eabc", "<img src=x onerror=alert(1)>", "👩‍👩‍👧", "은행"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("folding")
    draw = np.random.default_rng(0)
    q, k, v = (draw.standard_normal((2, 5, 3)) for _ in range(3))
    records = {"student": jumok.attend(jumok.load("student")), "hostile": jumok.attend(q=q, k=k, v=v, tokens=HOSTILE)}
    q, k, v = (draw.standard_normal((1, 900, 4)) for _ in range(3))
    records["long"] = jumok.attend(q=q, k=k, v=v, tokens=[f"t{at}" for at in range(900)], rule="causal")
    return {name: jumok.draw(record).save(folder / f"{name}.html", variant="flash") for name, record in records.items()}


class Panel:
    """The panel as a reader meets it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.whole = page.locator(".folding")

    @property
    def slider(self) -> Locator:
        return self.whole.get_by_role("slider")

    @property
    def said(self) -> str:
        return self.whole.locator(".sentence").inner_text()

    def row(self, name: str) -> list[str]:
        found = self.whole.locator("tbody tr").filter(has=self.page.get_by_role("rowheader", name=name, exact=True))
        return found.locator("td").all_inner_texts()


@pytest.fixture
def panel(page_of: Callable[..., Page], pages: dict[str, Path]) -> Callable[..., Panel]:
    return lambda name="student", hash="lang=en", **context: Panel(page_of(pages[name], hash, **context))


def sentences(lang: str, query: int = 2, tile: int = 2) -> list[str]:
    told = explain_flash(jumok.attend(jumok.load("student")), query, tile=tile)
    return [line for _, line in told.sections(lang)[0].lines][1:]


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_each_step_is_told_as_python_tells_it(panel: Callable[..., Panel], lang: str) -> None:
    one = panel(hash=f"lang={lang}")
    names = {"en": ("Next tile", "Previous tile"), "ko": ("다음 타일", "이전 타일")}[lang]
    forward, back = (one.whole.get_by_role("button", name=name) for name in names)
    for at, sentence in enumerate(sentences(lang)):
        if at:
            forward.click()
        assert one.said == sentence
    expect(forward).to_be_disabled()
    back.click()
    assert one.said == sentences(lang)[-2]


@pytest.mark.parametrize(("name", "fold"), [("Next tile", 0), ("Previous tile", 3)])
def test_a_button_at_its_end_keeps_the_focus(panel: Callable[..., Panel], name: str, fold: int) -> None:
    one = panel(hash=f"lang=en&fold={fold}")
    button = one.whole.get_by_role("button", name=name)
    button.focus()
    for _ in range(4):
        one.page.keyboard.press("Enter")
    expect(button).to_be_disabled()
    expect(button).to_be_focused()
    assert one.said == sentences("en")[3 - fold]


def test_the_numbers_of_a_fold(panel: Callable[..., Panel]) -> None:
    one = panel(hash="lang=en&fold=1")
    assert one.row("Before this tile") == ["2.303", "1.1", "1", "0", "0", "0"]
    assert one.row("× e^(2.303 − 3.314) = 0.364") == ["", "0.4", "0.364", "0", "0", "0"]
    assert one.row("studies") == ["0.916", "0.091", "0", "0.091", "0", "0"]
    assert one.row("After this tile") == ["3.314", "1.491", "0.364", "0.091", "3", "0"]
    states = one.whole.locator(".tiles button")
    assert [states.nth(at).get_attribute("class") for at in range(3)] == ["folded", "now", "later"]
    expect(states.nth(1)).to_have_attribute("aria-current", "step")


def test_the_keys_step_and_the_address_keeps_the_step(panel: Callable[..., Panel]) -> None:
    one = panel()
    one.slider.focus()
    for key, at in (("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2), ("End", 4), ("Home", 1)):
        one.page.keyboard.press(key)
        text = f"Tile {at} of 3" if at < 4 else "All 3 tiles: divide"
        expect(one.slider).to_have_attribute("aria-valuetext", text)
    one.page.keyboard.press("End")
    one.page.wait_for_function("() => location.hash.includes('fold=3')")
    assert one.row("÷ l: the row") == ["", "", "0.2", "0.05", "1.65", "0.36"]
    (full,) = one.whole.locator("tbody tr").filter(has_text="Full attention's row").all()
    assert full.locator("td").all_inner_texts()[2:] == ["0.2", "0.05", "1.65", "0.36"]


def test_it_follows_the_views_and_an_edit(panel: Callable[..., Panel]) -> None:
    one = panel()
    one.page.get_by_role("radiogroup", name="Query").get_by_role("radio", name="carefully").click()
    expect(one.whole.get_by_role("heading")).to_have_text("Flash attention: the row of carefully, tile by tile")
    one.whole.get_by_label("Row of").select_option("2")
    expect(one.page.get_by_role("radiogroup", name="Query").get_by_role("radio", name="studies")).to_be_checked()
    one.whole.get_by_label("Keys of a tile").select_option("1")
    assert one.said == sentences("en", tile=1)[0]
    one.page.locator("table[data-stage='w_q'] [data-row='1'][data-column='0']").focus()
    for key in ("Enter", "Delete"):
        one.page.keyboard.press(key)
    one.page.keyboard.type("7")
    one.page.keyboard.press("Enter")
    one.slider.focus()
    one.page.keyboard.press("ArrowRight")
    assert one.said.startswith("Tile 2 (student): scores (3.5). 3.5 is larger than 0")


def test_a_long_row_shows_some_tiles_and_some_keys(panel: Callable[..., Panel]) -> None:
    one = panel("long", "lang=en&tile=16&fold=30&view=map")
    expect(one.whole.locator(".tiles button")).to_have_count(24)
    assert one.whole.locator(".tiles li.quiet").all_inner_texts() == ["18 more …", "… 15 more"]
    assert "4 more keys" in one.whole.locator("tbody").inner_text()
    assert one.said.startswith("Tile 31 (16 keys, t480 to t495): scores (")


def test_hostile_tokens_are_shown_and_nothing_else(panel: Callable[..., Panel]) -> None:
    one = panel("hostile", "lang=ko&fold=0&tile=2&query=0&head=1")
    one.page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    text = one.whole.locator(".tiles").inner_text()
    assert HOSTILE[0] in text
    assert HOSTILE[2] in text
    assert "\\u202eabc" in text
    assert one.page.locator(".folding script, .folding img").count() == 0
    expect(one.whole.get_by_label("헤드")).to_have_value("1")


@pytest.mark.parametrize(("lang", "scheme", "width"), [("en", "light", 1280), ("ko", "dark", 390)])
def test_it_is_accessible(
    panel: Callable[..., Panel], violations: Callable[[Page], list[str]], lang: str, scheme: str, width: int
) -> None:
    one = panel(hash=f"lang={lang}&fold=1", color_scheme=scheme, viewport={"width": width, "height": 800})
    assert violations(one.page) == []
    assert one.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
