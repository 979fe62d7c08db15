"""The design panel in a real Chromium: wishes by slider, number and keys; with a real Python behind the page it is solved."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

import jumok
from jumok.picture.page import write
from jumok.sources.example import parse
from jumok.words import number
from page_clock import rest
from python_host import PythonHost

HOSTILE = ["</script><img src=x onerror=alert(1)>", "\u202eright to left", "👩‍🔬", "", "long" * 50, "은행"]


def student() -> Any:
    return jumok.attend(jumok.load("student"))


def impossible() -> Any:
    """A design with reasons: a token that asks nothing, and one that is the sum of two others."""
    wanted = {"a": {"b": 0.5}, "b": {"a": 0.1, "b": 0.8}, "c": {"a": 0.6, "d": 0.1}, "d": {"a": 0.9}}
    x = [[0, 0], [1, 0], [0, 1], [1, 1]]
    return jumok.design(x, wanted, tokens=list("abcd"), dimensions=["Person", "Action"]).trace()


def masked() -> Any:
    text = "tokens: [{a: [1, 0]}, {b: [0, 1]}, {c: [1, 1]}]\nmask: causal\nfocus: b\nwanted: {b: {a: .25, c: .5}}\n"
    return jumok.attend(parse(f"{text}weights: {{w_q: identity, w_k: identity, w_v: identity}}"))


def hostile() -> Any:
    x = np.random.default_rng(3).normal(size=(len(HOSTILE), 7))
    return jumok.design(x, {0: {1: 0.5, 4: 0.25}, 2: {0: 0}}, tokens=HOSTILE).trace()


MADE: dict[str, Callable[[], Any]] = {
    "student": student, "impossible": impossible, "masked": masked, "hostile": hostile,
    "layers": lambda: jumok.attend(jumok.load("it-tired")),
}  # fmt: skip


class Design:
    """The panel as a person meets it."""

    def __init__(self, page: Page, *, is_open: bool = True) -> None:
        self.page = page
        self.panel = page.locator("details.design")
        if is_open and self.panel.get_attribute("open") is None:
            self.panel.locator("> summary").click()
            self.panel.locator("> :not(summary, style)").first.wait_for()  # the browser tells of the opening later

    def slider(self, key: str) -> Locator:
        return self.panel.locator(f"input[type=range][aria-label*='→ {key},']")

    def field(self, key: str) -> Locator:
        return self.panel.locator(f"input.wanted[aria-label*='→ {key}:']")

    def is_set(self, key: str) -> Locator:
        return self.panel.locator(f"input[type=checkbox][aria-label*='→ {key}:']")

    def type(self, key: str, text: str) -> None:
        self.field(key).fill(text)
        self.page.keyboard.press("Enter")

    @property
    def wanted(self) -> list[float]:
        return [
            float(one) for one in self.panel.locator("input.wanted").evaluate_all("(all) => all.map((a) => a.value)")
        ]

    @property
    def reached(self) -> list[str]:
        return self.panel.locator(".of-reached .digits").all_inner_texts()

    @property
    def told(self) -> Locator:
        return self.panel.locator(".row-told")

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def weights(self, row: int) -> list[str]:
        return self.page.locator(f"table[data-stage='weights'] td[data-row='{row}']").all_inner_texts()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("design")
    return {name: write(folder / f"{name}.html", make()) for name, make in MADE.items()}


@pytest.fixture
def open_design(page_of: Any, pages: dict[str, Path]) -> Callable[..., Design]:
    def opened(name: str = "student", hash: str = "", is_open: bool = True, **context: object) -> Design:
        return Design(page_of(pages[name], f"view=stages&{hash}", **context), is_open=is_open)

    return opened


# wanted and reached -------------------------------------------------------------------------------


def test_what_is_wanted_stands_beside_what_is_reached(open_design: Any) -> None:
    design = open_design()
    trace = student()
    wanted = np.array([0.02, 0.20, 0.05, 0.55, 0.18])
    assert design.wanted == wanted.tolist()
    assert design.reached == [number(a) for a in trace.weights[0, 2]]
    kl = float(np.sum(wanted * np.log(wanted / trace.weights[0, 2])))
    most = float(np.abs(wanted - trace.weights[0, 2]).max())
    expect(design.told).to_contain_text(f"{number(kl)} nats")
    expect(design.told).to_contain_text(f"{number(most)}, deep learning")
    name = design.slider("deep learning").get_attribute("aria-label")
    assert name == "studies → deep learning, wanted 0.55, reached 0.55"


def test_reached_follows_every_edit(open_design: Any) -> None:
    design = open_design()
    cell = design.page.locator("table[data-stage='w_q'] [data-row='1'][data-column='2']")
    cell.focus()
    design.page.keyboard.type("0")
    design.page.keyboard.press("Enter")
    expect(design.told).to_contain_text("Largest difference: 0.507, deep learning")
    assert design.reached == design.weights(2)


def test_a_slider_sets_a_weight_and_the_row_sums_to_1(open_design: Any) -> None:
    design = open_design()
    design.is_set("The").click()
    design.is_set("carefully").click()
    design.slider("deep learning").fill("0.25")
    assert design.wanted == [0.25, 0.2, 0.05, 0.25, 0.25]
    assert sum(design.wanted) == pytest.approx(1)
    design.is_set("deep learning").click()
    assert design.wanted == [0.25, 0.2, 0.05, 0.25, 0.25], "all three that are free share what remains"


def test_where_no_key_is_free_the_others_keep_their_ratios(open_design: Any) -> None:
    design = open_design()
    design.type("deep learning", "0.1")
    assert design.wanted == [0.04, 0.4, 0.1, 0.1, 0.36]


@pytest.mark.parametrize(
    ("lang", "text", "said"),
    [
        ("en", "0.6", "at most 0.57 is left. Lower one of them, or set it free."),
        ("ko", "0.6", "0.57까지만 남습니다. 그 가운데 하나를 줄이거나 자유롭게 두십시오."),
        ("en", "1.5", "A wanted weight is a number from 0 to 1."),
        ("ko", "-1", "바라는 가중치는 0부터 1까지의 숫자입니다."),
        ("en", "much", "much is not a number."),
        ("ko", "0,5", "소수는 쉼표가 아니라 점으로 씁니다."),
    ],
)
def test_what_cannot_be_wanted_is_refused_in_place(open_design: Any, lang: str, text: str, said: str) -> None:
    design = open_design(hash=f"lang={lang}")
    design.is_set("The").click()
    before = design.wanted
    design.type("deep learning", text)
    line = design.field("deep learning").locator("xpath=ancestor::li")
    expect(line.get_by_role("alert")).to_contain_text(said)
    expect(design.field("deep learning")).to_have_attribute("aria-invalid", "true")
    design.page.keyboard.press("Escape")
    assert design.wanted == before


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_long_refusal_is_broken_and_moves_no_column(open_design: Any, lang: str, width: int) -> None:
    design = open_design(hash=f"query=1&lang={lang}", viewport={"width": width, "height": 900})
    keys = design.panel.locator(".design-keys")
    places = "(list) => [...list.querySelectorAll('.digits, .is-set')].map((one) => one.getBoundingClientRect().x)"
    design.type("The", "1")
    before = keys.evaluate(places)
    design.type("student", "0.8")
    expect(keys.get_by_role("alert")).to_be_visible()
    assert keys.evaluate("(list) => list.scrollWidth <= list.clientWidth")
    assert keys.evaluate(places) == before
    names = keys.locator(".of-key").all()
    assert not any(name.evaluate("(one) => one.scrollWidth > one.clientWidth") for name in names), "no name is cut"


def test_a_field_that_is_emptied_leaves_the_key_free(open_design: Any) -> None:
    design = open_design()
    design.type("The", "0.5")
    before = design.wanted
    design.type("The", "")
    expect(design.panel.get_by_role("alert")).to_have_count(0)
    expect(design.is_set("The")).not_to_be_checked()
    assert design.wanted == pytest.approx([1 - sum(before[1:]), *before[1:]], abs=2e-3)
    design.button("Undo").click()
    expect(design.is_set("The")).to_be_checked()
    assert design.wanted == before
    design.field("The").fill(" ")
    design.field("student").focus()
    expect(design.is_set("The")).not_to_be_checked()
    design.type("The", "much")
    expect(design.panel.get_by_role("alert")).to_have_count(1)
    design.type("The", "")
    expect(design.panel.get_by_role("alert")).to_have_count(0)


def test_a_row_whose_last_wish_is_emptied_is_free(open_design: Any) -> None:
    design = open_design(hash="query=1")
    design.type("carefully", "0.6")
    design.type("carefully", "")
    expect(design.told).to_contain_text("Nothing is wanted of student yet")


def test_a_slider_stops_where_the_row_would_be_more_than_1(open_design: Any) -> None:
    design = open_design()
    design.is_set("The").click()
    design.slider("deep learning").fill("0.9")
    expect(design.slider("deep learning")).to_have_value("0.55")
    expect(design.panel.get_by_role("alert")).to_contain_text("at most 0.57 is left")


def test_a_free_row_is_given_and_set_free_again(open_design: Any) -> None:
    design = open_design(hash="query=1")
    expect(design.told).to_contain_text("Nothing is wanted of student yet")
    design.slider("carefully").fill("0.6")
    assert design.wanted == [0.1, 0.1, 0.1, 0.1, 0.6]
    wanted = np.array(design.wanted)
    kl = float(np.sum(wanted * np.log(wanted / student().weights[0, 1])))
    expect(design.button(f"student: {number(kl)} nats off")).to_have_attribute("aria-pressed", "true")
    design.panel.get_by_role("button", name="studies: ").click()
    assert design.wanted[3] == 0.55
    design.panel.get_by_role("button", name="student: ").click()
    design.button("Leave this row free").click()
    expect(design.told).to_contain_text("Nothing is wanted of student yet")


def test_a_wish_for_what_the_mask_hides_is_marked_and_can_be_dropped(open_design: Any) -> None:
    design = open_design("masked")
    expect(design.slider("c")).to_have_count(0)
    expect(design.panel).to_contain_text("0.5 wanted, but hidden by the mask")
    assert design.wanted == [0.5, 0.5], "without it the rest is scaled up to 1"
    design.button("Drop the wish for c").click()
    expect(design.panel).to_contain_text("hidden by the mask")
    expect(design.button("Drop the wish for c")).to_have_count(0)
    assert design.wanted == [0.5, 0.5]
    design.type("a", "0.25")
    assert design.wanted == [0.25, 0.75]


def test_wishes_are_of_the_last_layer(open_design: Any) -> None:
    design = open_design("layers", "layer=0&query=5")
    expect(design.panel).to_contain_text("What is wanted is said of the last layer.")
    design.button("Go to layer 1").click()
    expect(design.told).to_contain_text("Nothing is wanted")


# undo, links, files -------------------------------------------------------------------------------


def test_a_slider_that_moves_is_one_edit(open_design: Any) -> None:
    design = open_design()
    slider = design.slider("student")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    design.page.mouse.move(box["x"] + box["width"] * 0.2, box["y"] + box["height"] / 2)
    design.page.mouse.down()
    for share in (0.4, 0.99, 0.5):
        design.page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] / 2, steps=4)
    design.page.mouse.up()
    assert design.wanted[1] == pytest.approx(0.5, abs=0.05)
    ratio = design.wanted[3] / design.wanted[4]
    assert ratio == pytest.approx(55 / 18, rel=0.05), "the others are what they were before it, in their ratios"
    design.page.keyboard.press("ControlOrMeta+z")
    assert design.wanted == [0.02, 0.2, 0.05, 0.55, 0.18]
    expect(design.button("Undo")).to_be_disabled()
    design.button("Redo").click()
    assert design.wanted[1] == pytest.approx(0.5, abs=0.05)
    design.button("Reset").click()
    assert design.wanted[1] == 0.2


def test_a_link_carries_what_is_wanted(open_design: Any, page_of: Any) -> None:
    design = open_design()
    design.is_set("The").click()
    design.page.wait_for_function("() => location.hash.includes('edit=')")
    before = design.page.evaluate("location.hash")
    design.type("deep learning", "0.25")
    design.page.wait_for_function("(before) => location.hash !== before", arg=before)
    design.page.reload()
    again = Design(design.page, is_open=False)
    expect(again.panel).to_have_attribute("open", "")
    assert again.wanted == [0.32, 0.2, 0.05, 0.25, 0.18]


def test_a_file_carries_what_is_wanted(open_design: Any) -> None:
    design = open_design()
    design.is_set("The").click()
    design.type("deep learning", "0.25")
    design.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    design.button("Copy as example file").click()
    expect(design.page.locator(".told")).to_contain_text("copied")
    text = design.page.evaluate("navigator.clipboard.readText()")
    assert parse(text).wanted == ({2: {1: 0.2, 2: 0.05, 3: 0.25, 4: 0.18}},)


# what was found -----------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_stored_design_is_shown_with_all_its_reasons(open_design: Any, lang: str) -> None:
    design = open_design("impossible", f"lang={lang}", is_open=False)
    found = impossible().source.details["design"]
    said = design.panel.inner_text()
    assert len(found["reasons"]) >= 3
    for reason in found["reasons"]:
        assert reason["text"][lang] in said
        assert all(lift["text"][lang] in said for lift in reason["lifts"])
    assert number(found["heads"][0]["loss"]) in said
    assert {"en": "no W_Q and W_K come nearer", "ko": "더 가까워질 수 없음이 증명됩니다"}[lang] in said


def test_a_report_of_other_numbers_says_so(open_design: Any) -> None:
    design = open_design("impossible", is_open=False)
    stale = design.panel.get_by_text("This was found for other numbers than those shown now.")
    expect(stale).to_have_count(0)
    design.type("a", "0.5")
    expect(stale).to_be_visible()
    design.button("Undo").click()
    expect(stale).to_have_count(0)
    cell = design.page.locator("table[data-stage='w_v'] [data-row='0'][data-column='0']")
    cell.focus()
    design.page.keyboard.type("7")
    design.page.keyboard.press("Enter")
    expect(stale).to_have_count(0)
    design.page.locator("table[data-stage='w_q'] [data-row='0'][data-column='0']").focus()
    design.page.keyboard.type("7")
    design.page.keyboard.press("Enter")
    expect(stale).to_be_visible()


def test_a_design_of_an_earlier_layer_is_told_there(page_of: Any, tmp_path: Path) -> None:
    first, last = jumok.attend(jumok.load("it-tired"))
    found = impossible().source.details["design"]
    told = jumok.Source(layer=0, details=first.source.details | {"design": found})
    reading = jumok.Reading((replace(first, source=told), last))
    design = Design(page_of(write(tmp_path / "a.html", reading), "view=stages&layer=0"), is_open=False)
    expect(design.panel).to_contain_text(found["reasons"][0]["text"]["en"])
    expect(design.panel).to_contain_text("What is wanted is said of the last layer.")


@pytest.mark.parametrize(("lang", "said"), [("en", "needs Python"), ("ko", "파이썬이 필요합니다")])
def test_a_file_says_that_finding_needs_python_and_has_no_dead_button(open_design: Any, lang: str, said: str) -> None:
    design = open_design(hash=f"lang={lang}")
    expect(design.panel.locator(".design-found")).to_contain_text(said)
    expect(design.panel.locator(".design-found").get_by_role("button")).to_have_count(0)


@pytest.mark.parametrize(
    ("lang", "parts"),
    [
        ("en", ["The -3.912", "Adding 3.912", "student 4.605", "The numbers in W_Q are rounded"]),
        ("ko", ["The -3.912", "3.912를 더하면", "student 4.605", "W_Q의 수가 반올림"]),
    ],
)
def test_why_this_query_from_what_is_wanted_now(open_design: Any, lang: str, parts: list[str]) -> None:
    design = open_design(hash=f"lang={lang}")
    why = design.panel.locator("details.why")
    why.locator("summary").click()
    for part in parts:
        expect(why).to_contain_text(part)
    design.type("deep learning", "0.3")
    expect(why).to_have_count(0)


def test_no_token_breaks_out(open_design: Any) -> None:
    design = open_design("hostile", "query=0", is_open=False)
    assert design.page.locator("img[src=x]").count() == 0
    expect(design.panel).to_contain_text("</script><img src=x onerror=alert(1)>")
    expect(design.panel).to_contain_text("\\u202eright to left")
    design.panel.locator("input.wanted").nth(1).fill("0.2")
    design.page.keyboard.press("Enter")
    assert sum(design.wanted) == pytest.approx(1, abs=0.002)
    assert not design.page.evaluate("document.documentElement.scrollWidth > innerWidth")


@pytest.mark.parametrize("details", [{"design": {"exact": "yes"}}, {"wanted": [{"9": {"0": 1}}]},
                                     {"design": {"exact": False, "gap": 1, "reasons": [None, {"text": 3}]}}])  # fmt: skip
def test_what_is_no_design_does_no_harm(page_of: Any, tmp_path: Path, details: dict[str, Any]) -> None:
    one = np.eye(3)
    trace = jumok.attend(x=one, w_q=one, w_k=one, w_v=one, source=jumok.Source(details=details))
    design = Design(page_of(write(tmp_path / "a.html", trace), "view=stages"))
    expect(design.told).to_contain_text("Nothing is wanted")


# by keyboard, for ears, on every screen -----------------------------------------------------------


def test_all_of_it_by_keyboard(open_design: Any) -> None:
    design = open_design(is_open=False)
    keys = design.page.keyboard
    design.panel.locator("> summary").focus()
    keys.press("Enter")
    expect(design.slider("The")).to_be_visible()
    keys.press("Tab")
    expect(design.slider("The")).to_be_focused()
    keys.press("Tab")
    keys.press("Tab")
    keys.press("Space")
    expect(design.is_set("The")).not_to_be_checked()
    keys.press("Tab")
    expect(design.slider("student")).to_be_focused()
    keys.press("ArrowRight")
    expect(design.slider("student")).to_have_attribute("aria-valuetext", "0.21")
    assert design.wanted == [0.01, 0.21, 0.05, 0.55, 0.18]
    keys.press("ControlOrMeta+z")
    assert design.wanted == [0.02, 0.2, 0.05, 0.55, 0.18]
    keys.press("Tab")
    keys.press("ArrowDown")
    assert design.wanted == [0.12, 0.1, 0.05, 0.55, 0.18]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("name", "width"), [("student", 1440), ("impossible", 390), ("masked", 390), ("hostile", 1000)]
)
def test_axe_finds_nothing_and_nothing_runs_over(
    open_design: Any, violations: Any, name: str, width: int, theme: str
) -> None:
    design = open_design(
        name, f"theme={theme}&lang=ko", viewport={"width": width, "height": 900}, reduced_motion="reduce"
    )
    for summary in design.panel.locator("details.why > summary").all():
        summary.click()
    assert violations(design.page) == []
    assert not design.page.evaluate("document.documentElement.scrollWidth > innerWidth")
    boxes = design.panel.locator("input, button, .digits").evaluate_all(
        "(all) => all.map((a) => a.getBoundingClientRect().right)"
    )
    assert max(boxes) <= width


# with Python behind it ----------------------------------------------------------------------------


def live(host: PythonHost, thing: Any = None, **view: Any) -> Design:
    shown = jumok.widget(jumok.load("student") if thing is None else thing, lang=view.pop("lang", "en"), view=view)
    return Design(host.open(shown))


def test_python_solves_what_is_wanted_and_it_is_one_edit(python_host: PythonHost) -> None:
    design = live(python_host)
    design.type("deep learning", "0.3")
    expect(design.panel).to_contain_text("Found, and put into the tables")
    assert design.reached == [number(a) for a in design.wanted]
    assert design.weights(2) == design.reached
    expect(design.panel).to_contain_text("Every wanted row is reached")
    changed = design.page.locator("table[data-stage='w_q'] td.changed")
    expect(changed).to_have_count(4)
    assert "4.605" in changed.first.get_attribute("title")
    wanted = dict(enumerate(parse(python_host.asked[-1]["example"]).wanted[0][2].values()))
    found = jumok.design(student().x, {2: wanted}).w_q[1]
    row = design.page.locator("table[data-stage='w_q'] td[data-row='1']").all_inner_texts()
    assert row == [number(a) for a in found]
    design.button("Undo").click()
    assert design.weights(2) == ["0.02", "0.2", "0.05", "0.55", "0.18"]
    expect(design.button("Undo")).to_be_disabled()
    design.button("Redo").click()
    assert design.weights(2)[3] == "0.3"


def test_reasons_come_in_the_chosen_language(python_host: PythonHost) -> None:
    design = live(python_host, query=0)
    design.type("student", "0.5")
    expect(design.panel).to_contain_text("The embedding of 'The' is 0, so its query is 0 whatever W_Q is")
    expect(design.panel).to_contain_text("What would help: One more embedding dimension that only 'The' has.")
    expect(design.panel).to_contain_text("nats off in all")
    design.page.get_by_role("button", name="한국어").click()
    expect(design.panel).to_contain_text("The의 임베딩이 0이라 W_Q가 무엇이든 쿼리도 0입니다")


def test_while_python_is_slow_it_is_said_and_only_the_last_answer_counts(python_host: PythonHost) -> None:
    design = live(python_host)
    python_host.be_slow(700)
    for text in ("0.5", "0.4", "0.3", "0.2", "0.1"):
        design.type("deep learning", text)
        rest(design.page, 200)
    expect(design.panel).to_contain_text("Python is looking for W_Q and W_K")
    expect(design.panel).to_contain_text("Found, and put into the tables")
    asked = [parse(one["example"]).wanted[0][2][3] for one in python_host.asked]
    assert (asked[0], asked[-1], len(asked) < 5) == (0.5, 0.1, True)
    assert [one["number"] for one in python_host.asked] == list(range(1, len(asked) + 1))
    assert design.weights(2)[3] == "0.1"


def test_an_answer_does_not_overwrite_what_was_undone_meanwhile(python_host: PythonHost) -> None:
    design = live(python_host)
    python_host.be_slow(1500)
    design.type("deep learning", "0.3")
    python_host.wait_until_asked(1)
    design.button("Undo").click()
    rest(design.page, 2500)
    assert len(python_host.asked) == 1
    assert design.weights(2)[3] == "0.55"


def test_what_is_undone_at_once_is_not_asked(python_host: PythonHost) -> None:
    design = live(python_host)
    design.type("student", "0.3")
    expect(design.panel).to_contain_text("Found, and put into the tables")
    python_host.stretch_pauses(1500)
    design.type("deep learning", "0.3")
    design.page.keyboard.press("Escape")
    design.button("Undo").click()
    rest(design.page, 500)
    assert len(python_host.asked) == 1
    assert design.weights(2)[1] == "0.3"


def test_after_another_edit_a_wish_is_solved_anew_as_a_step_of_its_own(python_host: PythonHost) -> None:
    design = live(python_host)
    python_host.be_slow(1500)
    design.type("deep learning", "0.3")
    python_host.wait_until_asked(1)
    cell = design.page.locator("table[data-stage='x'] [data-row='1'][data-column='0']")
    cell.focus()
    design.page.keyboard.type("2")
    design.page.keyboard.press("Enter")
    expect(design.panel).to_contain_text("Found, and put into the tables")
    assert len(python_host.asked) == 2
    assert design.weights(2)[3] == "0.3"
    design.button("Undo").click()
    expect(cell).to_have_text("2")
    assert design.weights(2)[3] != "0.3"


def test_a_refusal_does_not_hold_up_what_was_wanted_before(python_host: PythonHost) -> None:
    design = live(python_host)
    design.is_set("The").click()
    design.type("deep learning", "0.3")
    design.type("deep learning", "0.9")
    expect(design.panel.get_by_role("alert")).to_contain_text("is left")
    expect(design.panel).to_contain_text("Found, and put into the tables")
    assert design.weights(2)[3] == "0.3"


def test_what_python_refuses_is_said_in_place(python_host: PythonHost) -> None:
    one = np.eye(4)
    trace = jumok.attend(x=np.eye(3, 4), w_q=one, w_k=one, w_v=one, rotation=jumok.Rotary(), tokens=list("abc"))
    design = live(python_host, trace, query=1)
    design.type("a", "0.5")
    expect(design.panel.get_by_role("alert")).to_contain_text("design does not work with positions: rotary")
    design.page.get_by_role("button", name="한국어").click()
    expect(design.panel.get_by_role("alert")).to_contain_text("찾지 못했습니다")
    expect(design.panel.get_by_role("alert")).to_contain_text("positions: rotary을(를) 쓸 수 없습니다")


def test_what_no_file_can_say_is_not_asked(python_host: PythonHost) -> None:
    one = np.eye(3)
    trace = jumok.attend(x=one, w_q=one, w_k=one, w_v=one, rule=jumok.Rule(softcap=2.0), tokens=list("abc"))
    design = live(python_host, trace, query=1)
    design.type("a", "0.5")
    expect(design.panel.get_by_role("alert")).to_contain_text(
        "an example file, which is what Python is given, has no word for"
    )
    assert python_host.asked == []


def test_w_k_can_be_kept_and_solving_can_wait_for_the_button(python_host: PythonHost) -> None:
    design = live(python_host)
    design.panel.get_by_label("at every change").uncheck()
    design.panel.get_by_label("keep W_K as it stands").check()
    design.type("deep learning", "0.3")
    rest(design.page, 500)
    assert python_host.asked == []
    design.button("Find W_Q and W_K").click()
    expect(design.panel).to_contain_text("Found, and put into the tables")
    assert python_host.asked[-1]["fixed"] == "w_k"
    design.button("Undo").click()
    assert design.wanted[3] == 0.3, "what was wanted before is another step"


def test_several_heads_are_asked_for_together(python_host: PythonHost) -> None:
    rng = np.random.default_rng(2)
    w = {name: rng.normal(size=(6, 6)) for name in ("w_q", "w_k", "w_v")}
    trace = jumok.attend(x=rng.normal(size=(4, 6)), **w, tokens=list("abcd"), n_heads=2)
    design = live(python_host, trace, query=1, head=1)
    design.type("a", "0.7")
    expect(design.panel).to_contain_text("Found, and put into the tables")
    assert parse(python_host.asked[-1]["example"]).wanted == ({}, {1: {0: 0.7}})
    assert design.reached[0] == "0.7"
    assert json.dumps(python_host.asked)


def test_python_that_does_not_answer_is_said(python_host: PythonHost) -> None:
    shown = jumok.widget(jumok.load("student"), lang="en")
    shown._answer = lambda *_: None  # type: ignore[method-assign]
    design = Design(python_host.open(shown))
    design.page.clock.install()
    design.type("deep learning", "0.3")
    design.page.clock.run_for(500)
    expect(design.panel).to_contain_text("Python is looking for W_Q and W_K")
    design.page.clock.run_for(11_000)
    expect(design.panel).to_contain_text("Python has not answered yet")
