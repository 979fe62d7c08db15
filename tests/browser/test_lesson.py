"""The page of a lesson in a real Chromium: guessed, answered, tried, written; kept over a reload; nothing in it is run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import jumok
from jumok.lessons.lesson import Lesson
from jumok.lessons.progress import Progress
from page_clock import rest
from small_lessons import TEXT, small

KOREAN = (
    TEXT.replace("## One", "## 하나").replace("## Two", "## 둘").replace("title: Small", "title: 작은 레슨")
    .replace("Which token?", "어느 토큰일까요?").replace("What is (", "(").replace("(1, {b})?", "(1, {b}), 곧 {b:이/가} 들어가면 얼마입니까?")
)  # fmt: skip
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)> \u202e은행 👩‍🔬 [a](javascript:alert(1)) <!--"
WORDS = {
    "en": {"guess": "That is my guess", "check": "Check", "another": "Another one", "hint": "A hint", "open": "Open it in the live view",
           "again": "Start over", "answer": "Your answer"},
    "ko": {"guess": "이렇게 예측합니다", "check": "확인", "another": "다른 숫자로", "hint": "힌트 보기", "open": "조작 화면에서 열기",
           "again": "처음으로", "answer": "답"},
}  # fmt: skip


PAGES: dict[tuple[str, ...], str] = {}  # each is made once


def both(lang: str = "en") -> Lesson:
    return small(**{"en": TEXT, "ko": KOREAN}, lang=lang) if lang == "en" else small(KOREAN, "ko", en=TEXT)


class Learner:
    """The page as somebody who learns meets it."""

    def __init__(self, page: Page, lang: str = "en") -> None:
        self.page = page
        self.words = WORDS[lang]

    def block(self, id: str) -> Locator:
        return self.page.locator(f"#lesson-{id}")

    def button(self, id: str, name: str) -> Locator:
        return self.block(id).get_by_role("button", name=self.words.get(name, name))

    def said(self, id: str) -> str:
        return " ".join(self.block(id).locator(".verdict").inner_text().split())

    def guess(self, id: str, choice: str) -> None:
        self.block(id).get_by_label(choice, exact=True).check()
        self.button(id, "guess").click()

    def answer(self, id: str, text: str) -> None:
        self.block(id).get_by_label(self.words["answer"]).fill(text)
        self.button(id, "check").click()

    def numbers(self, id: str = "dot") -> tuple[int, int]:
        """a and b, as the question has them."""
        found = re.search(
            r"\((\d), 2\)·\(1, (-?\d)\)", self.block(id).locator("form p").first.inner_text().replace("−", "-")
        )
        assert found is not None
        return int(found[1]), int(found[2])

    def type(self, stage: str, row: int, column: int, text: str) -> None:
        self.page.locator(f"table[data-stage='{stage}'] [data-row='{row}'][data-column='{column}']").focus()
        for key in ("Enter", "Delete"):
            self.page.keyboard.press(key)
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")

    def mark(self, id: str) -> str | None:
        return self.block(id).get_attribute("data-mark")

    @property
    def done(self) -> list[dict[str, str]]:
        kept = self.page.evaluate("() => localStorage.getItem('jumok-progress')")
        return [] if kept is None else json.loads(kept)["done"]


@pytest.fixture
def learner(page_of: Callable[..., Page], tmp_path: Path) -> Callable[..., Learner]:
    """``learner(lesson, hash="", **context)``: its page, opened."""

    def opened(lesson: Lesson, hash: str = "", **context: Any) -> Learner:
        return Learner(page_of(written(lesson, tmp_path), hash, **context), lesson.lang)

    return opened


def written(lesson: Lesson, folder: Path) -> Path:
    key = (lesson.lang, *(version.text for version in lesson.versions.values()))
    if key not in PAGES:
        PAGES[key] = lesson.page()
    path = folder / "lesson.html"
    path.write_text(PAGES[key], encoding="utf-8")
    return path


# guesses and questions ----------------------------------------------------------------------------


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_guess_is_judged_kept_and_made_once(learner: Callable[..., Learner], lang: str) -> None:
    one = learner(both(lang))
    expect(one.block("most").locator(".verdict")).to_be_hidden()
    under = one.page.locator("#jumok-view .strip .below").first
    expect(under).to_be_hidden()
    key = one.page.locator("#jumok-view .of-key [role=radio]").nth(3)
    expect(key).to_have_accessible_name("deep learning")
    one.button("most", "guess").click()
    assert one.said("most") == {"en": "Choose one first.", "ko": "먼저 하나를 고르십시오."}[lang]
    one.guess("most", "student")
    assert "deep learning It is 55%." in one.said("most")
    assert one.mark("most") == "guessed"
    expect(under).to_be_visible()
    expect(key).to_have_accessible_name("deep learning 0.55")
    expect(one.block("most").get_by_label("carefully")).to_be_disabled()
    assert [(each["id"], each["how"]) for each in one.done] == [("most", "guessed")]


def test_a_right_guess(learner: Callable[..., Learner]) -> None:
    one = learner(both())
    one.guess("most", "deep learning")
    assert one.said("most") == "Your guess was right. It is 55%."
    assert one.mark("most") == "right"


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_question_right_wrong_and_a_likely_slip(learner: Callable[..., Learner], lang: str) -> None:
    one = learner(both(lang))
    a, b = one.numbers()
    while a * 2 + b == a + 2 * b:
        one.button("dot", "another").click()
        a, b = one.numbers()
    one.answer("dot", "what?")
    assert "0.5, 1/3" in one.said("dot")
    one.answer("dot", "1000")
    assert one.said("dot") == {"en": "Not yet.", "ko": "아직 아닙니다."}[lang]
    one.answer("dot", str(a * 2 + b))
    assert one.said("dot").endswith("The pairs are mixed up.")
    assert one.mark("dot") is None
    one.answer("dot", f"{2 * (a + 2 * b)}/2")
    shown = f"({b})" if b < 0 else b
    assert one.said("dot").endswith(f"{a} + 2×{shown} = {a + 2 * b}".replace("-", "−"))
    assert one.mark("dot") == "right"


@pytest.mark.parametrize("form", ["{n}개", "= {n}.", "{n} more", "９"])
def test_a_number_with_its_unit_is_right_and_several_are_none(learner: Callable[..., Learner], form: str) -> None:
    one = learner(small(TEXT.replace("answer: a*1 + 2*b", "answer: 9 + 0*a")))
    one.answer("dot", "9 or 10")
    assert "0.5, 1/3" in one.said("dot")
    one.answer("dot", form.format(n=9))
    assert one.mark("dot") == "right"


def test_numbers_are_drawn_anew(learner: Callable[..., Learner]) -> None:
    one = learner(both())
    seen = {one.numbers()}
    for _ in range(12):
        before = one.numbers()
        one.answer("dot", "3")
        one.button("dot", "another").click()
        assert one.numbers() != before
        assert one.said("dot") == ""
        seen.add(one.numbers())
    assert len(seen) > 4
    assert {a for a, _ in seen} <= set(range(1, 6))


def test_korean_particles_follow_the_number(learner: Callable[..., Learner]) -> None:
    one = learner(both("ko"))
    for _ in range(8):
        _, b = one.numbers()
        ending = "이" if abs(b) in (0, 1, 3) else "가"
        assert f"곧 {b}{ending} 들어가면" in one.block("dot").locator("form p").first.inner_text()
        one.button("dot", "another").click()


def test_hints_come_in_steps_and_the_answer_does_not_count(learner: Callable[..., Learner]) -> None:
    one = learner(both())
    a, b = one.numbers()
    hints = one.block("dot").locator(".hint")
    one.button("dot", "hint").click()
    expect(hints).to_have_text(["Hint 1 Pair by pair."])
    one.button("dot", "Another hint (2 of 2)").click()
    expect(hints).to_have_count(2)
    one.button("dot", "Show the answer").click()
    expect(one.block("dot").locator(".answer")).to_contain_text(f"The answer is {a + 2 * b}.".replace("-", "−"))
    assert one.mark("dot") == "seen"
    assert [each["how"] for each in one.done] == ["seen"]


# a change in the live view ------------------------------------------------------------------------


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_goal_is_recognised_when_a_number_is_edited(learner: Callable[..., Learner], lang: str) -> None:
    one = learner(both(lang))
    one.block("carefully").scroll_into_view_if_needed()
    one.button("carefully", "open").click()
    one.type("w_q", 1, 3, "5")
    expect(one.block("carefully").locator("[role=status].verdict")).to_have_text(re.compile("Not there yet|아직"))
    assert one.mark("carefully") is None
    one.type("w_q", 1, 3, "9")
    expect(one.block("carefully").locator("[role=status].verdict")).to_have_text(re.compile("You reached|이루었습니다"))
    assert one.mark("carefully") == "right"
    one.button("carefully", "again").click()
    assert one.said("carefully") == ""
    expect(one.page.locator("table[data-stage='w_q'] [data-row='1'][data-column='3']")).to_have_text("4.394")
    assert one.mark("carefully") == "right"


def test_a_change_that_came_in_the_address_does_not_count(learner: Callable[..., Learner], tmp_path: Path) -> None:
    one = learner(both())
    one.block("carefully").scroll_into_view_if_needed()
    one.type("w_q", 1, 3, "9")
    one.page.wait_for_function("() => location.hash.includes('edit=')")
    hash = one.page.url.split("#")[1]
    one.page.evaluate("() => localStorage.clear()")
    other = learner(both(), hash)
    other.block("carefully").scroll_into_view_if_needed()
    expect(other.block("carefully").locator("[role=status].verdict")).to_contain_text("reached")
    rest(other.page, 200)
    assert other.mark("carefully") is None
    other.type("w_q", 1, 3, "10")
    expect(other.block("carefully")).to_have_attribute("data-mark", "right")


def test_a_removed_token_is_no_error(learner: Callable[..., Learner]) -> None:
    one = learner(both())
    one.block("carefully").scroll_into_view_if_needed()
    one.page.locator("table[data-stage='x'] [data-row='4'][data-column='-1']").click()
    one.page.get_by_role("dialog").get_by_role("button", name="Remove", exact=True).click()
    expect(one.block("carefully").locator("[role=status].verdict")).to_have_text("Not there yet.")


# links into the live view -------------------------------------------------------------------------


def test_a_link_brings_the_live_view_into_its_state_and_keeps_what_was_edited(learner: Callable[..., Learner]) -> None:
    lesson = small(TEXT.replace("```show weights token=studies", "```show arrows token=student"))
    one = learner(lesson)
    one.type("x", 0, 0, "2")
    link = one.page.locator("a.show")
    expect(link).to_have_text(re.compile("arrows · student"))
    link.click()
    expect(one.page.locator(".view-heads")).to_be_visible()
    expect(one.block("most")).to_be_visible()
    expect(one.page.get_by_role("button", name="한국어")).to_be_visible()
    queries = one.page.get_by_role("radiogroup", name="queries", exact=True)
    expect(queries.get_by_role("radio").nth(1)).to_be_checked()
    one.page.get_by_role("button", name="Stages").click()
    expect(one.page.locator("table[data-stage='x'] [data-row='0'][data-column='0']")).to_have_text("2")


def test_the_address_of_a_link_opens_in_that_state(learner: Callable[..., Learner]) -> None:
    one = learner(both())
    address = one.page.locator("a.show").get_attribute("href")
    assert address is not None
    assert {"stage=weights", "query=2", "key=3"} <= set(address[1:].split("&"))
    other = learner(small(TEXT), "stage=scores&query=1&key=0")
    expect(other.page.locator(".step.active")).to_have_attribute("data-stop", "scores")


def test_a_link_into_another_example_and_layer(learner: Callable[..., Learner]) -> None:
    lesson = small(TEXT.replace("```show weights token=studies", "```show weights example=it-tired token=it layer=1"))
    one = learner(lesson)
    expect(one.page.locator("a.show")).to_contain_text("layer 1")
    one.page.locator("a.show").click()
    expect(one.page.get_by_role("combobox", name="Layer")).to_have_value("1")
    expect(one.page.locator("table[data-stage='weights'] th[scope='row']").first).to_contain_text("The")
    one.button("carefully", "open").click()
    expect(one.page.locator("table[data-stage='weights'] th[scope='row']").nth(2)).to_contain_text("studies")
    query = one.page.get_by_role("radiogroup", name="Query").get_by_role("radio", checked=True)
    expect(query).to_have_text("studies")


# code ---------------------------------------------------------------------------------------------


def verdict(status: str = "right", kind: str = "softmax") -> str:
    return json.dumps(
        {
            "format": "jumok-verdict",
            "version": 1,
            "status": status,
            "kind": kind,
            "text": {"en": "It is so.", "ko": "그렇습니다."},
        }
    )


def test_code_is_written_kept_and_ticked_by_its_verdict_alone(learner: Callable[..., Learner], tmp_path: Path) -> None:
    one = learner(both())
    code = one.block("softmax").get_by_label("Your code")
    expect(code).to_have_value(re.compile("return scores"))
    expect(one.block("softmax")).to_contain_text("jumok check small_softmax.py --kind softmax --json")
    code.fill("def softmax(scores):\n    return 1\n")
    receipt = one.block("softmax").get_by_label("Paste here what it says")
    for text, said in (
        ("It is right!", "This is not what"),
        (verdict(kind="attention"), "another kind"),
        (verdict("mistake"), "It is so."),
    ):
        receipt.fill(text)
        one.button("softmax", "Take it over").click()
        assert said in one.said("softmax")
        assert one.mark("softmax") is None
    one.page.reload()
    one.page.wait_for_selector("[data-ready='true']")
    expect(code).to_have_value("def softmax(scores):\n    return 1\n")
    receipt.fill(f"$ jumok check\n{verdict('right-differently')}\n")
    one.button("softmax", "Take it over").click()
    assert one.mark("softmax") == "right"
    one.button("softmax", "Start over").click()
    expect(code).to_have_value(re.compile("return scores"))


def test_what_jumok_check_prints_is_taken_over(learner: Callable[..., Learner], tmp_path: Path) -> None:
    lesson = both()
    path = tmp_path / "small_softmax.py"
    path.write_text(lesson.block("softmax").solution, encoding="utf-8")  # type: ignore[attr-defined]
    one = learner(lesson)
    one.block("softmax").get_by_label("Paste here what it says").fill(
        json.dumps(jumok.check(str(path), "softmax").to_json())
    )
    one.button("softmax", "Take it over").click()
    assert one.mark("softmax") == "right"


def test_code_can_be_copied(learner: Callable[..., Learner]) -> None:
    one = learner(both(), permissions=["clipboard-read", "clipboard-write"])
    one.button("softmax", "Copy").click()
    expect(one.block("softmax")).to_contain_text("Copied.")
    assert "return scores" in one.page.evaluate("() => navigator.clipboard.readText()")


# progress -----------------------------------------------------------------------------------------


def test_progress_is_kept_over_a_reload(learner: Callable[..., Learner]) -> None:
    one = learner(both())
    one.guess("most", "carefully")
    a, b = one.numbers()
    one.answer("dot", str(a + 2 * b))
    one.page.reload()
    one.page.wait_for_selector("[data-ready='true']")
    assert (one.mark("most"), one.mark("dot")) == ("guessed", "right")
    assert "It is 55%." in one.said("most")
    expect(one.block("most").get_by_label("carefully")).to_be_checked()
    expect(one.page.locator(".standing")).to_contain_text("2 of 4 done")


def test_progress_goes_to_python_and_back(learner: Callable[..., Learner], tmp_path: Path) -> None:
    one = learner(both())
    one.guess("most", "student")
    with one.page.expect_download() as waiting:
        one.page.get_by_role("button", name="Save as a file").click()
    saved = tmp_path / "from-page.json"
    waiting.value.save_as(saved)
    progress = Progress(tmp_path / "home")
    assert progress.bring(saved) == 1
    assert [(each.lesson, each.id, each.how) for each in progress.done()] == [("small", "most", "guessed")]
    progress.add("small", "dot", "right")
    progress.add("library", "page", "right")
    brought = progress.export(tmp_path / "from-python.json")
    one.page.get_by_label("Add from a file").set_input_files(brought)
    expect(one.page.locator(".progress [role=status]")).to_have_text("2 added.")
    assert one.mark("dot") == "right"
    (tmp_path / "other.json").write_text('{"done": []}', encoding="utf-8")
    one.page.get_by_label("Add from a file").set_input_files(tmp_path / "other.json")
    expect(one.page.locator(".progress [role=status]")).to_contain_text("holds no progress")
    assert len(one.done) == 3


def test_goals_are_ticked_by_what_was_done(learner: Callable[..., Learner]) -> None:
    one = learner(jumok.lesson("library"))
    goal = one.page.locator(".goals li", has_text="Explain query, key and value")
    expect(goal).to_have_attribute("data-reached", "false")
    counting = blocks_of(one.page, "Explain query, key and value")
    assert {("library", "own-slip"), ("library", "page"), ("library", "contribution")} <= set(counting)
    when = "2026-01-01T00:00:00+00:00"
    done = [{"lesson": lesson, "id": id, "how": "right", "when": when} for lesson, id in counting]
    plain = {"format": "jumok-progress", "version": 1, "done": done[1:]}
    one.page.evaluate("(text) => localStorage.setItem('jumok-progress', text)", json.dumps(plain))
    one.page.reload()
    expect(goal).to_contain_text(f"{len(done) - 1} of {len(done)}")
    expect(goal).to_have_attribute("data-reached", "false")
    plain["done"] = done
    one.page.evaluate("(text) => localStorage.setItem('jumok-progress', text)", json.dumps(plain))
    one.page.reload()
    expect(goal).to_have_attribute("data-reached", "true")
    expect(goal.get_by_role("img", name="reached")).to_be_visible()


def blocks_of(page: Page, goal: str) -> list[tuple[str, str]]:
    model = json.loads(page.locator("#jumok-model").text_content() or "")
    (found,) = (one for one in model["lesson"]["goals"] if one["text"]["en"].startswith(goal))
    return [(lesson, id) for lesson, id in found["blocks"]]


def test_a_browser_that_keeps_nothing_is_told(browser: Browser, tmp_path: Path) -> None:
    page = browser.new_page()
    page.add_init_script("Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no') }})")
    page.goto(written(both(), tmp_path).as_uri())
    expect(page.get_by_role("alert")).to_contain_text("keeps nothing")
    one = Learner(page)
    one.guess("most", "student")
    assert one.mark("most") == "guessed"
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save as a file").click()
    assert json.loads(Path(waiting.value.path()).read_text(encoding="utf-8"))["done"][0]["id"] == "most"
    page.close()


def test_what_cannot_be_read_in_the_storage_is_no_error(learner: Callable[..., Learner]) -> None:
    one = learner(both())
    one.page.evaluate("() => localStorage.setItem('jumok-progress', '{broken')")
    one.page.reload()
    one.page.wait_for_selector("[data-ready='true']")
    one.guess("most", "student")
    assert len(one.done) == 1


def test_two_pages_do_not_forget_each_other(learner: Callable[..., Learner], tmp_path: Path) -> None:
    one = learner(both())
    other = Learner(one.page.context.new_page())
    other.page.goto(written(both(), tmp_path).as_uri())
    other.guess("most", "student")
    expect(one.block("most")).to_have_attribute("data-mark", "guessed")
    a, b = one.numbers()
    one.answer("dot", str(a + 2 * b))
    assert {each["id"] for each in one.done} == {"most", "dot"}


# languages, hostile text, everybody's way ---------------------------------------------------------


def test_the_language_is_switched_in_the_page(learner: Callable[..., Learner]) -> None:
    one = learner(both())
    one.guess("most", "student")
    one.page.get_by_role("button", name="한국어").click()
    expect(one.page.get_by_role("heading", level=1)).to_have_text("작은 레슨")
    expect(one.page.locator(".lesson h2").first).to_have_text("하나")
    expect(one.block("most").locator("legend")).to_have_text("어느 토큰일까요?")
    assert one.mark("most") == "guessed"


def test_a_lesson_in_one_language_stays_in_it(learner: Callable[..., Learner]) -> None:
    one = learner(small())
    one.page.get_by_role("button", name="한국어").click()
    expect(one.page.get_by_role("heading", level=1)).to_have_text("Small")
    expect(one.page.locator(".lesson")).to_have_attribute("lang", "en")
    expect(one.button("most", "guess")).to_be_visible()


def test_hostile_text_is_only_text(learner: Callable[..., Learner]) -> None:
    text = TEXT.replace("title: Small", f"title: '{HOSTILE}'")
    for place in (
        "Which token?",
        "Pair by pair.",
        "The pairs are mixed up.",
        "Make *carefully* the strongest.",
        "Write it.",
    ):
        assert place in text
        text = text.replace(place, f"'{place} {HOSTILE}'")
    text = text.replace(
        "## One",
        f"## One {HOSTILE}\n\n| a | {HOSTILE} |\n|---|---|\n| b | c |\n\n- {HOSTILE}\n\n```python\n{HOSTILE}\n```",
    )
    text = text.replace("      return scores\n", f"      return scores  # {HOSTILE}\n")
    one = learner(small(text))
    one.button("dot", "hint").click()
    one.guess("most", "student")
    a, b = one.numbers()
    one.answer("dot", str(a * 2 + b) if a * 2 + b != a + 2 * b else "1000")
    assert one.page.locator("img:not([role])").count() == 0
    assert one.page.locator("script").count() == 3, "the model, the document's header, the program"
    assert [
        link
        for link in one.page.locator(".lesson a").evaluate_all("(links) => links.map((a) => a.href)")
        if "javascript" in link
    ] == []
    seen = one.page.locator(".lesson .page").inner_text()
    assert "<script>alert(1)</script>" in seen
    assert "\\u202e은행 👩‍🔬" in seen


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_nothing_stands_in_anybodys_way(
    learner: Callable[..., Learner], violations: Callable[[Page], list[str]], scheme: str, lang: str
) -> None:
    one = learner(both(lang), color_scheme=scheme)
    one.guess("most", "student")
    one.answer("dot", "1000")
    one.button("dot", "hint").click()
    one.type("w_q", 1, 3, "9")
    assert violations(one.page) == []


def test_by_keyboard_alone(learner: Callable[..., Learner]) -> None:
    one = learner(both())
    one.block("most").get_by_role("radio").first.focus()
    one.page.keyboard.press("ArrowDown")
    one.page.keyboard.press("Enter")
    assert one.mark("most") == "guessed"
    one.block("dot").get_by_role("textbox").focus()
    a, b = one.numbers()
    one.page.keyboard.type(str(a + 2 * b))
    one.page.keyboard.press("Enter")
    assert one.mark("dot") == "right"
    one.page.locator("a.show").focus()
    one.page.keyboard.press("Enter")
    assert one.page.evaluate("() => document.activeElement.closest('#jumok-view') !== null")
    one.page.get_by_role("button", name="Lesson", exact=True).focus()
    one.page.keyboard.press("Enter")
    assert one.page.evaluate("() => document.activeElement.className") == "lesson"


def test_on_a_phone_one_of_the_two_is_seen(
    learner: Callable[..., Learner], violations: Callable[[Page], list[str]]
) -> None:
    one = learner(both(), viewport={"width": 390, "height": 780}, has_touch=True)
    live = one.page.locator("#jumok-view")
    expect(live).to_be_hidden()
    one.block("carefully").scroll_into_view_if_needed()
    rest(one.page, 100)
    one.button("carefully", "open").click()
    expect(live).to_be_visible()
    expect(one.block("carefully")).to_be_hidden()
    task = one.page.locator(".lesson-switch .task")
    expect(task).to_contain_text("Make carefully the strongest.")
    one.type("w_q", 1, 3, "5")
    expect(task.get_by_role("status")).to_have_text("Not there yet.")
    one.type("w_q", 1, 3, "9")
    expect(task.get_by_role("status")).to_have_text("You reached the goal.")
    one.page.locator("summary", has_text="Try it").click()
    expect(task.get_by_text("Make carefully")).to_be_hidden()
    expect(task.get_by_role("status")).to_be_visible()
    assert violations(one.page) == []
    one.page.get_by_role("button", name="Lesson", exact=True).click()
    expect(live).to_be_hidden()
    assert one.mark("carefully") == "right"
    assert one.page.evaluate("() => document.documentElement.scrollWidth") == 390


def test_formulas_are_written_as_by_hand(learner: Callable[..., Learner]) -> None:
    text = TEXT.replace(
        "## Two",
        "## Two\n\nHere e^(s_a + 1) and e^s, d_k and √d_k of (0, −1).\n\n| v |\n|---|\n| (0, 0, 1) |\n| two words |\n",
    )
    text = text.replace("{a} + 2×{b:()} = {answer}", "e^({a} + 2) = e^{b}")
    one = learner(small(text))
    expect(one.page.locator(".page > p sup")).to_have_text(["sa + 1", "s"])
    expect(one.page.locator(".page > p sub")).to_have_text(["a", "k", "k"])
    assert "e^(sa + 1) and e^s" in one.page.locator(".page").inner_text(), "as it is copied"
    expect(one.page.locator("td.numbers")).to_have_text(["(0, 0, 1)"])
    expect(one.page.locator(".page > p .whole")).to_have_text(["(0, −1)"])
    a, b = one.numbers()
    one.answer("dot", str(a + 2 * b))
    expect(one.block("dot").locator("sup").first).to_have_text(f"{a} + 2")


def test_every_lesson_of_the_course_opens(page_of: Callable[..., Page], tmp_path: Path) -> None:
    from jumok.lessons import packaged

    for name in packaged.names().values():
        page = page_of(written(jumok.lesson(name), tmp_path))
        for field in page.locator(".block form:has(input[type=text])").all():
            field.locator("input").fill("-98765")
            field.locator("button").first.click()
            expect(field.locator(".verdict")).to_contain_text("Not yet.")
        for steps in page.locator(".block .help").all():
            while steps.locator("button").count():
                steps.locator("button").click()
        for link in page.locator("a.show").all():
            link.click()
        page.close()
