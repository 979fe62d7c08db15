"""The page of measured heads in a real Chromium: map, card and table say what Python measured; no token is run."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

import jumok
from jumok.explanation.head_cards import card
from jumok.labels import labels_of
from jumok.measurement.roles.definitions import definition
from jumok.measurement.running.measured import Measured
from jumok.picture.role_marks import mark
from jumok.words import number
from small_measured import HOSTILE, KOREAN, ROLES, alone, measured, silent

FOUND: dict[str, Callable[[], Measured]] = {
    "small": measured,
    "silent": silent,
    "alone": alone,
    "hostile": lambda: measured(HOSTILE),
    "korean": lambda: measured(KOREAN),
}
Opened = Callable[..., Page]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("measured")


@pytest.fixture
def opened(page_of: Opened, folder: Path) -> Opened:
    """``opened(name, hash="", **context)``: the page of one of ``FOUND``; each is written once."""

    def made(name: str, hash: str = "", **context: Any) -> Page:
        path = folder / f"{name}.html"
        if not path.exists():
            jumok.draw(FOUND[name](), lang="ko" if name == "korean" else "en").save(path)
        return page_of(path, hash, **context)

    return made


def cell(page: Page, at: int) -> Locator:
    return page.locator(f".head-map [data-at='{at}']")


def rows(page: Page) -> list[list[str]]:
    return [one.locator("th, td").all_inner_texts() for one in page.locator(".all-rows tbody tr").all()]


def hash_of(page: Page, has: str) -> str:
    page.wait_for_function("has => location.hash.includes(has)", arg=has)
    return page.url.split("#")[1]


# map ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_every_head_has_its_mark_and_is_named(opened: Opened, lang: str) -> None:
    page = opened("small", f"lang={lang}")
    for (layer, head), role in ROLES.items():
        one = cell(page, 2 * layer + head)
        expect(one).to_have_text(mark(role, lang))
        row = next(row for row in measured().table.of(layer, head) if row.role == role)
        name = one.get_attribute("aria-label") or ""
        assert definition(role).title(lang) in name
        assert number(row.score) in name
    assert page.locator("html").get_attribute("lang") == lang
    legend = page.locator(".legend li").all_inner_texts()
    assert any(definition("same-token").title(lang) in text for text in legend)


def test_the_map_is_one_tab_stop_and_goes_by_arrows(opened: Opened) -> None:
    page = opened("small", "head=0.0")
    assert page.locator(".head-map [tabindex='0']").count() == 1
    cell(page, 0).focus()
    for key, at in (
        ("ArrowRight", 1),
        ("ArrowDown", 3),
        ("Home", 2),
        ("ArrowUp", 0),
        ("Control+End", 5),
        ("PageUp", 1),
    ):
        page.keyboard.press(key)
        expect(cell(page, at)).to_be_focused()
    expect(page.locator(".head-told")).to_contain_text("Layer 0, head 1")
    page.keyboard.press("Enter")
    expect(cell(page, 1)).to_have_attribute("aria-selected", "true")
    expect(page.locator("#card-title")).to_have_text("Head 0.1")
    assert page.locator(".head-map [aria-selected='true']").count() == 1


def test_one_role_over_all_heads(opened: Opened) -> None:
    page = opened("small")
    page.locator(".role-picker select").select_option(label="same token")
    table = measured().table
    for at in range(6):
        row = next(row for row in table.of(at // 2, at % 2) if row.role == "same-token")
        assert number(row.score) in (cell(page, at).get_attribute("aria-label") or "")
        assert ("bare" in (cell(page, at).get_attribute("class") or "")) == (not row.evidence)
    assert {cells[1] for cells in rows(page)} == {"same token"}


# card ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_card_says_what_python_says(opened: Opened, lang: str) -> None:
    page = opened("small", f"head=1.1&lang={lang}")
    sentences = card(measured(), 1, 1).sentences(lang)
    assert tuple(page.locator(".card > p").all_inner_texts()[: len(sentences)]) == sentences


def test_examples_mark_who_asks_and_what_is_read(opened: Opened) -> None:
    page = opened("small", "head=0.0")
    examples = measured().examples_of(0, 0, "previous")
    expect(page.locator(".examples li")).to_have_count(len(examples))
    for at, one in enumerate(examples):
        tokens = page.locator(".examples li").nth(at).locator(".token")
        assert tokens.locator("bdi").all_inner_texts() == [label.text for label in labels_of(one.tokens)]
        assert "asks" in (tokens.nth(one.query[0]).get_attribute("class") or "")
        assert "read" in (tokens.nth(one.key[0]).get_attribute("class") or "")
        assert "(query)" in (tokens.nth(one.query[0]).text_content() or "")
        assert number(one.weight) in page.locator(".examples li").nth(at).inner_text()


def test_examples_of_another_role_come_when_it_is_chosen(opened: Opened) -> None:
    page = opened("small", "head=0.0")
    page.get_by_role("button", name="Show its examples: near").click()
    expect(page.locator("#card-examples")).to_have_text("Examples: near")
    expect(page.locator(".card tr.chosen")).to_contain_text("near")


def test_all_roles_of_a_head_can_be_seen(opened: Opened) -> None:
    page = opened("small", "head=0.0")
    n = len(measured().table.of(0, 0))
    expect(page.locator(".card tbody tr")).to_have_count(8)
    page.get_by_role("button", name=f"All {n} roles").click()
    expect(page.locator(".card tbody tr")).to_have_count(n)


# table --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["previous", "near", "first"])
def test_the_table_has_the_numbers_of_python(opened: Opened, role: str) -> None:
    page = opened("small", f"role={role}&verdict=&sort=card&down=0")
    wanted = [row for row in measured().table.rows if row.role == role]
    for cells, row in zip(rows(page), wanted, strict=True):
        assert cells[0] == f"{row.layer}.{row.head}"
        assert cells[2:4] == [number(row.score), number(row.with_sink)]
        assert cells[5] == f"{row.n_cases:,} ({row.n_sentences:,})"
        assert cells[6].startswith(number(row.baseline))
        assert cells[7] == number(row.difference)
        assert cells[8] == f"[{number(row.low)}, {number(row.high)}]"
        assert cells[10] == ("–" if row.q is None else number(row.q))
        assert cells[11] == ("evidence" if row.evidence else "no evidence")


def test_a_column_orders_the_table_both_ways_and_pages_follow(opened: Opened) -> None:
    page = opened("small", "verdict=")
    page.get_by_role("button", name="score", exact=True).click()
    scores = sorted((row.score for row in measured().table.rows), reverse=True)
    assert [cells[2] for cells in rows(page)] == [number(score) for score in scores[:50]]
    expect(page.get_by_role("columnheader", name="score", exact=False).last).to_have_attribute(
        "aria-sort", "descending"
    )
    page.get_by_role("button", name="Next page").click()
    assert [cells[2] for cells in rows(page)] == [number(score) for score in scores[50:100]]
    expect(page.locator(".pages [role=status]")).to_have_text(f"51–100 of {len(scores)} rows")
    page.get_by_role("button", name="score", exact=False).last.click()
    assert [cells[2] for cells in rows(page)] == [number(score) for score in scores[::-1][:50]]


def test_a_button_of_the_last_page_keeps_the_focus(opened: Opened) -> None:
    page = opened("small", "verdict=")
    n = len(measured().table.rows)
    for name in ("Last page", "Next page"):
        page.get_by_role("button", name=name).focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name=name)).to_be_focused()
        expect(page.get_by_role("button", name=name)).to_be_disabled()
        expect(page.locator(".pages [role=status]")).to_have_text(f"{(n - 1) // 50 * 50 + 1}–{n} of {n} rows")


def test_filters_leave_what_they_say(opened: Opened) -> None:
    page = opened("small")
    assert {cells[11] for cells in rows(page)} == {"evidence"}
    page.locator(".filters select").last.select_option("no-evidence")
    page.locator(".filters select").first.select_option("1")
    assert {cells[11] for cells in rows(page)} == {"no evidence"}
    assert {cells[0].split(".")[0] for cells in rows(page)} == {"1"}
    page.locator(".all-rows tbody tr").first.get_by_role("button").click()
    expect(page.locator("#card-title")).to_have_text(f"Head {rows(page)[0][0]}")


# address, languages, other models -----------------------------------------------------------------


def test_the_address_carries_what_is_chosen(opened: Opened) -> None:
    page = opened("small")
    cell(page, 3).click()
    page.locator(".role-picker select").select_option(label="next token")
    page.get_by_role("button", name="한국어").click()
    hash = hash_of(page, "lang=ko")
    assert "head=" in hash or cell(page, 3).get_attribute("aria-selected") == "true"
    other = opened("small", hash)
    expect(other.locator("#card-title")).to_have_text("헤드 1.1")
    assert {cells[1] for cells in rows(other)} == {definition("next").title("ko")}
    other.evaluate("() => { location.hash = 'lang=en&head=0.1'; }")
    expect(other.locator("#card-title")).to_have_text("Head 0.1")
    assert len({cells[1] for cells in rows(other)}) > 1


@pytest.mark.parametrize(
    "hash", ["head=9.9&role=nothing&page=77&sort=x&layer=-3&lang=fr", "head=%3Cscript%3E&theme=none"]
)
def test_what_an_address_says_wrongly_changes_nothing(opened: Opened, hash: str) -> None:
    page = opened("small", hash)
    expect(page.locator("#card-title")).to_have_text("Head 1.1")
    assert len(rows(page)) > 5


def test_no_evidence_has_its_own_look_and_is_said_plainly(opened: Opened) -> None:
    page = opened("silent")
    for at in (0, 1):
        expect(cell(page, at)).to_have_class("bare")
        expect(cell(page, at)).to_have_text("·")
    expect(page.locator(".card .verdict")).to_contain_text("no evidence for any of the")
    expect(page.locator(".card")).to_contain_text("No example")
    assert len(rows(page)) > 10


def test_one_head_alone(opened: Opened) -> None:
    page = opened("alone")
    expect(page.locator(".head-map [role=gridcell]")).to_have_count(1)
    cell(page, 0).focus()
    page.keyboard.press("ArrowRight")
    expect(cell(page, 0)).to_be_focused()
    expect(page.locator("#card-title")).to_have_text("Head 0.0")


def test_a_korean_run(opened: Opened) -> None:
    page = opened("korean", "head=0.0")
    assert page.title() == "헤드마다 하는 일"
    said = page.locator("main").inner_text()
    assert "바로 앞 토큰" in said
    assert not re.search(r"\{\w+\}|undefined|NaN", said)


def test_tokens_are_texts_whatever_they_say(opened: Opened) -> None:
    page = opened("hostile", "head=0.0")
    page.evaluate("() => { window.alert = () => { window.ran = true; }; }")
    said = page.locator(".examples").inner_text()
    assert "\\u202e은행" in said
    assert "\u202e" not in said
    assert any(text in said for text in ("<img src=x onerror=alert(1)>", "</script>"))
    assert page.evaluate("() => [window.ran ?? false, document.images.length, document.scripts.length]") == [
        False,
        0,
        3,
    ]


PHONE = {"viewport": {"width": 390, "height": 844}}


@pytest.mark.parametrize(
    ("name", "hash", "context"),
    [
        ("small", "head=0.0", {}),
        ("small", "head=0.0", {"color_scheme": "dark"}),
        ("small", "head=0.0&role=same-token", PHONE),
        ("silent", "head=0.0", {}),
    ],
)
def test_axe_finds_nothing_serious(
    opened: Opened, violations: Callable[[Page], list[str]], name: str, hash: str, context: dict[str, Any]
) -> None:
    assert violations(opened(name, hash, **context)) == []


def test_on_a_phone_nothing_is_wider_than_the_screen_and_the_card_is_a_step_away(opened: Opened) -> None:
    page = opened("small", **PHONE)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    page.get_by_role("link", name="To its card").click()
    expect(page.locator("#card-title")).to_be_focused()
    page.get_by_role("link", name="Back to the map").click()
    expect(page.locator("#map-title")).to_be_focused()
