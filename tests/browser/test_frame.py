"""The frame around the views: how a page opens, its title, and links that cannot be read."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

import jumok
import readings
from page_clock import rest


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The path of a page of something, made once."""
    folder = tmp_path_factory.mktemp("pages")

    def path(name, make, **options):
        if not (folder / f"{name}.html").exists():
            make().save(folder / f"{name}.html", **options)
        return folder / f"{name}.html"

    return path


def student():
    return jumok.draw(jumok.load("student"))


def pair():
    return jumok.draw(jumok.compare(jumok.load("it-tired"), jumok.load("it-soft")))


def address(page):
    rest(page, 300)
    return page.evaluate("Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")


def test_a_page_opens_at_what_its_query_reads_most(page_of, saved):
    rng = np.random.default_rng(5)
    trace = jumok.attend(q=rng.normal(size=(1, 6, 4)), k=3 * rng.normal(size=(1, 6, 4)), v=rng.normal(size=(1, 6, 4)))
    page = page_of(saved("plain", lambda: jumok.draw(trace)))
    most = int(trace.weights[0, 5].argmax())
    cell = page.locator(f"table[data-stage='weights'] [data-row='5'][data-column='{most}']")
    expect(cell).to_be_visible()
    chosen = page.locator("[role=radio][aria-checked=true]")
    assert [text.splitlines()[0] for text in chosen.all_inner_texts()] == [
        f"{trace.tokens[5]}",
        f"{trace.tokens[most]}",
    ]


def test_of_a_layer_that_was_asked_for(page_of, saved):
    example = jumok.load("it-tired")
    page = page_of(saved("second", lambda: jumok.draw(example, layer=1, stage="weights", query="it")))
    expect(page.locator("[role=radio][aria-checked=true]").nth(1)).to_contain_text("cat")


def test_a_large_page_too_once_its_layer_has_come(page_of, saved):
    reading = readings.reading(2, 2, 1200)
    page = page_of(saved("large", lambda: jumok.draw(reading)))
    most = int(reading[0].rows("weights", queries=[1199])[0, 0].argmax())
    expect(page.locator("main")).to_contain_text(f"#{most} ")


def test_a_comparison_opens_at_what_changed_most(page_of, saved):
    page = page_of(saved("pair", pair))
    expect(page.locator("main")).to_contain_text("-0.823")
    expect(page.locator("h1")).to_have_text(
        "… because it was tired: it is the cat / … because it was soft: it is the mat"
    )


def test_the_title_follows_the_language(page_of, saved):
    page = page_of(saved("student", student))
    assert page.title() == page.locator("h1").inner_text() == "Who studies what, and how?"
    page.get_by_role("button", name="한국어").click()
    expect(page).to_have_title("누가 무엇을 어떻게 공부하는가?")
    expect(page.locator("h1")).to_have_text("누가 무엇을 어떻게 공부하는가?")


def test_a_name_that_somebody_gave_stands(page_of, saved):
    page = page_of(saved("named", lambda: jumok.draw(jumok.load("student"), title="<b>내 수업</b>")))
    assert page.title() == page.locator("h1").inner_text() == "<b>내 수업</b>"


def test_what_a_model_could_not_read_is_told_before_any_number(page_of, saved, violations):
    trace = jumok.attend(jumok.load("student"))
    doubts = {
        "unreadable": {"why": "unknown", "en": "It cannot read <b>this</b>.", "ko": "이 글을 읽지 못합니다."},
        "refused": [{"module": f"layer.{at}", "en": "not finite", "ko": "유한하지 않은 값"} for at in range(2)],
    }
    reading = jumok.Reading((trace,), jumok.Source(kind="model", details=doubts))
    page = page_of(saved("doubts", lambda: jumok.draw(reading)), "lang=en", viewport={"width": 390, "height": 844})
    notes = page.locator(".top").get_by_role("note")
    expect(notes).to_have_text(
        ["It cannot read <b>this</b>.", "Layers that could not be read, and are not shown: 2. layer.0: not finite"]
    )
    assert violations(page) == []
    page.get_by_role("button", name="한국어").click()
    expect(notes).to_have_text(["이 글을 읽지 못합니다.", "읽지 못해 보이지 않는 층: 2개. layer.0: 유한하지 않은 값"])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("odd", [5, "x", [], [None], {"en": 3}, [5]])
def test_a_file_that_says_anything_of_it_is_shown_all_the_same(page_of, tmp_path, odd):
    source = jumok.Source(kind="model", details={"unreadable": odd, "refused": odd})
    jumok.draw(jumok.Reading((jumok.attend(jumok.load("student")),), source)).save(tmp_path / "odd.html")
    page = page_of(tmp_path / "odd.html")
    expect(page.locator("table[data-stage='weights'] [data-row='2'][data-column='3']")).to_have_text("0.55")


@pytest.mark.parametrize("edit", ["garbage", "eyJ4IjpbXX0", "x" * 5000])
def test_changes_that_cannot_be_read_are_not_passed_over(page_of, saved, edit):
    page = page_of(saved("student", student), f"lang=ko&edit={edit}")
    expect(page.get_by_role("alert")).to_contain_text("변경 내용을 읽을 수 없습니다")
    cell = page.locator("table[data-stage='weights'] [data-row='2'][data-column='3']")
    expect(cell).to_have_text("0.55")


def test_what_a_page_cannot_show_is_not_chosen(page_of, saved):
    page = page_of(
        saved("student", student), "view=compare&query=99&key=-1&stage=nonsense&window=a,b,c,d&lang=xx&theme=7"
    )
    expect(page.locator("nav [aria-current]")).to_have_text("Stages")
    assert address(page).keys() <= {"lang", "query"}


def test_an_edit_can_be_undone_from_a_checkbox(page_of, saved):
    page = page_of(saved("student", student), "view=heads")
    checkbox = page.locator("input[type=checkbox]").first
    page.get_by_role("button", name="Stages").click()
    page.locator("table[data-stage='w_q'] [data-row='1'][data-column='2']").click()
    page.keyboard.type("9")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Undo")).to_be_enabled()
    page.get_by_role("button", name="Heads").click()
    checkbox.focus()
    page.keyboard.press("ControlOrMeta+z")
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()


def test_undo_keeps_the_focus_when_nothing_is_left_to_undo(page_of, saved):
    page = page_of(saved("student", student))
    page.locator("table[data-stage='w_q'] [data-row='1'][data-column='2']").click()
    page.keyboard.type("9")
    page.keyboard.press("Enter")
    for name in ("Undo", "Redo", "Reset"):
        button = page.get_by_role("button", name=name)
        expect(button).to_be_enabled()
        button.focus()
        page.keyboard.press("Enter")
        expect(button).to_be_disabled()
        expect(button).to_be_focused()
        page.keyboard.press("Enter")  # and does nothing
        expect(button).to_be_disabled()


def test_what_a_page_rehearses_is_nobodys_edit(page_of, saved):
    page = page_of(saved("student", student))
    rest(page, 1500)
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    expect(page.locator("table[data-stage='w_q'] [data-row='0'][data-column='0']")).to_have_text("1")
    assert address(page) == {"lang": "en"}
    assert page.locator(".jumok").count() == 1


@pytest.mark.parametrize("width", [360, 1440])
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_of_a_long_title_three_lines_are_seen_and_all_of_it_where_asked(page_of, saved, violations, width, lang):
    title = " ".join(f"{'word' if lang == 'en' else '낱말'}{at}" for at in range(500))
    path = saved(f"long {lang}", lambda: jumok.draw(jumok.load("student"), title=title, lang=lang))
    page = page_of(path, viewport={"width": width, "height": 800})
    heading = page.locator("h1")
    more = page.locator(".title-more")
    expect(more).to_have_attribute("aria-expanded", "false")
    three = heading.bounding_box()["height"]
    assert three < 90
    assert heading.text_content() == heading.get_attribute("title") == title
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    assert violations(page) == []
    more.focus()
    page.keyboard.press("Enter")
    expect(more).to_have_attribute("aria-expanded", "true")
    assert heading.bounding_box()["height"] > 3 * three
    page.keyboard.press("Enter")
    expect(more).to_have_attribute("aria-expanded", "false")
    assert heading.bounding_box()["height"] == three


def test_a_short_title_has_no_button(page_of, saved):
    page = page_of(saved("student", student), viewport={"width": 360, "height": 800})
    rest(page, 300)
    assert page.locator(".title-more").count() == 0
    assert page.locator("h1").get_attribute("title") is None
