"""The pages of ``jumok serve`` in a real Chromium: edited, typed, trained, broken off and found again; nobody sees another's work."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from browser.conftest import PATIENCE_MS
from jumok.server.limits import STEPS
from page_clock import rest
from readings import reading

START_MS = 90_000  # of a server with a model, on a busy machine
SETTINGS = {"viewport": {"width": 1280, "height": 800}, "locale": "en-US", "timezone_id": "UTC"}
HOSTILE = "the cat</script><img src=x onerror=alert(1)> sat\u202e on 👩‍🔬"
UNHEARD = re.compile(
    "net::ERR_CONNECTION_REFUSED|net::ERR_CONNECTION_RESET|net::ERR_INCOMPLETE_CHUNKED|status of 4|ERR_EMPTY"
)


class Server:
    """A process that serves, at the same address each time it is started."""

    def __init__(self, folder: Path, *options: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._options = ["--work", str(folder), "--port", str(self.port), "--lang", "en", *options]
        self._process: subprocess.Popen[str] | None = None
        self.start()

    def start(self) -> None:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "jumok", "serve", *self._options]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
        )
        assert self._process.stdout is not None
        assert self.url in self._process.stdout.readline()

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.communicate()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for all tests of this file, with a tiny model behind it and a reading whose layers come one by one."""
    from small_folders import encoder, folder_of

    folder = tmp_path_factory.mktemp("served")
    reading(4, 6, 256).save(folder / "long.safetensors")
    tiny = folder_of(encoder(), folder / "tiny")
    made = Server(folder / "work", str(folder / "long.safetensors"), "--model", str(tiny), "--allow-code")
    yield made
    made.kill()


Visit = Callable[..., Page]


@pytest.fixture
def visit(server: Server, contexts: object) -> Iterator[Visit]:
    """``visit("/", lang="ko", **context)``: a page of the server, ready. It asks nobody else, and complains of nothing."""
    open_pages: list[Page] = []
    asked: list[str] = []
    complaints: list[str] = []

    def opened(path: str, lang: str = "en", **context: object) -> Page:
        page = contexts.page(**SETTINGS | context)  # type: ignore[attr-defined]
        page.set_default_timeout(PATIENCE_MS)
        open_pages.append(page)
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.goto(f"{server.url}{path}?lang={lang}")
        page.wait_for_selector("#served[data-ready]")
        return page

    yield opened
    for page in open_pages:
        contexts.leave(page)  # type: ignore[attr-defined]
    assert [url for url in asked if not url.startswith((server.url, "data:", "blob:"))] == []
    assert [text for text in complaints if UNHEARD.search(text) is None] == []


def card(page: Page, title: str) -> Locator:
    return page.locator("section.card").filter(has=page.get_by_role("heading", name=title, exact=True))


def train(page: Page, steps: int) -> None:
    """Begin a training on the start page."""
    card(page, "Train").get_by_label("Steps").fill(str(steps))
    card(page, "Train").get_by_role("button", name="Train").click()
    page.wait_for_url("**/jobs/*")


def train_long(page: Page) -> None:
    """Begin a training of minutes, to be stopped; wait until it is seen."""
    card(page, "Train").get_by_label("Task").select_option(label="It was here before: what came next?")
    train(page, STEPS)
    page.wait_for_selector(".weights td")


def wish(page: Page, text: str) -> None:
    """Wish for another weight of "deep learning"."""
    panel = page.locator("details.design")
    if panel.get_attribute("open") is None:
        panel.locator("> summary").click()
    panel.locator("input.wanted[aria-label*='→ deep learning:']").fill(text)
    page.keyboard.press("Enter")


def weight(page: Page) -> Locator:
    """Of "deep learning" for "studies"."""
    return page.locator("table[data-stage='weights'] td[data-row='2'][data-column='3']")


# what is there ------------------------------------------------------------------------------------


def test_the_start_page_offers_what_the_server_can_do(visit: Visit) -> None:
    page = visit("/")
    titles = page.locator("section.card h2").all_inner_texts()
    assert titles == [
        "What was given at the start",
        "Lessons",
        "Type a text",
        "Train",
        "Measure heads",
        "What it costs",
        "Examples",
    ]
    expect(page.get_by_role("link", name="student")).to_have_count(1)
    page.get_by_role("button", name="한국어").click()
    expect(page.get_by_role("heading", name="학습시키기")).to_be_visible()
    assert page.evaluate("() => document.documentElement.lang") == "ko"
    page.reload()
    expect(page.get_by_role("heading", name="학습시키기")).to_be_visible()
    page.goto(page.url.split("?")[0])  # one that says no language
    expect(page.get_by_role("heading", name="학습시키기")).to_be_visible()


def test_without_pytorch_the_start_page_says_what_to_install(visit: Visit) -> None:
    page = visit("/lessons")

    def without(route: Route) -> None:
        answer = route.fetch()
        missing = {"learn": {"en": "To train, install this.", "ko": "학습하려면 이것을 설치하십시오."}}
        route.fulfill(response=answer, json={**answer.json(), "tasks": [], "missing": missing})

    page.route("**/api/session", without)
    page.goto(page.url.replace("/lessons", "/"))
    expect(page.get_by_text("To train, install this.")).to_be_visible()
    page.get_by_role("button", name="한국어").click()
    expect(page.get_by_text("학습하려면 이것을 설치하십시오.")).to_be_visible()


def test_an_edit_of_an_example_is_answered_by_python(visit: Visit) -> None:
    page = visit("/")
    page.get_by_role("link", name="student").click()
    page.wait_for_selector("#jumok-page [data-ready]")
    wish(page, "0.3")
    expect(page.locator("details.design")).to_contain_text("Found, and put into the tables")
    assert weight(page).inner_text() == "0.3"
    rest(page, 1000)  # the address is written once edits pause
    page.reload()
    page.wait_for_selector("#jumok-page [data-ready]")
    assert weight(page).inner_text() == "0.3"


def test_language_and_colours_of_what_is_shown_are_those_of_the_bar(visit: Visit) -> None:
    page = visit("/examples/student")
    assert page.get_by_role("button", name="한국어").count() == 1
    page.get_by_role("button", name="한국어").click()
    expect(page.locator(".bar summary")).to_have_text("내 작업")
    page.get_by_label("색").select_option("dark")
    expect(page.locator(".jumok.served")).to_have_attribute("data-theme", "dark")
    page.locator(".home").click()
    expect(page.get_by_role("heading", name="학습시키기")).to_be_visible()
    expect(page.locator(".jumok.served")).to_have_attribute("data-theme", "dark")


def test_of_a_long_reading_only_what_is_looked_at_is_brought(visit: Visit) -> None:
    page = visit("/")
    ranges: list[str] = []
    page.on("request", lambda request: ranges.append(request.headers["range"]) if "/data/" in request.url else None)
    card(page, "What was given at the start").get_by_role("link").click()
    page.wait_for_selector("#jumok-page [data-ready]")
    expect(page.locator("#jumok-view")).to_contain_text("Rounding changed its weights by at most")
    assert ranges[0].startswith("bytes=0-")
    assert len(ranges) == 2  # the header with all thumbnails, and one layer
    page.locator("select:has(option:text-is('Layer 3'))").select_option("Layer 3")
    expect(page.get_by_role("heading", name="Layer 3, head 0")).to_be_visible()
    expect(page.get_by_text("Rounding changed its weights by at most")).to_be_visible()
    assert len(ranges) == 3


# jobs ---------------------------------------------------------------------------------------------


def test_a_text_is_read_by_the_model_whatever_is_in_it(visit: Visit) -> None:
    page = visit("/")
    form = card(page, "Type a text")
    button = form.get_by_role("button", name="Let it read")
    button.click()
    expect(form.get_by_role("alert")).to_have_text("Type something first.")
    expect(button).to_be_focused()
    form.get_by_label("Text").fill(HOSTILE)
    button.click()
    page.wait_for_selector("#jumok-page [data-ready]")
    expect(page.locator("#jumok-page .strip").first).to_contain_text("cat")
    assert page.locator("img").count() == 0
    expect(page.get_by_text("The result is below.")).to_be_visible()
    page.goto(page.url)  # it is there for whoever comes back
    page.wait_for_selector("#jumok-page [data-ready]")


def test_a_text_that_the_model_cannot_read_can_be_shortened_where_it_is_refused(visit: Visit) -> None:
    page = visit("/")
    form = card(page, "Type a text")
    form.get_by_label("Text").fill("the cat sat on the mat . " * 20)
    form.get_by_role("button").click()
    page.wait_for_selector(".job-standing[data-state='failed']")
    again = page.get_by_label("Text")
    expect(again).to_have_value("the cat sat on the mat . " * 20)
    again.fill("the cat sat")
    page.get_by_role("button", name="Let it read").click()
    page.wait_for_selector("#jumok-page [data-ready]")
    page.evaluate("() => sessionStorage.clear()")


def test_a_refusal_is_said_in_the_language_of_the_page(visit: Visit) -> None:
    page = visit("/", lang="ko")
    form = card(page, "비용 재기")
    form.get_by_label("토큰 수, 처음:끝").fill("많이")
    form.get_by_role("button").click()
    expect(form.get_by_role("alert")).to_contain_text("n")
    assert re.search("[가-힣]", form.get_by_role("alert").inner_text())
    expect(form.get_by_role("button")).to_be_focused()


def test_what_came_of_a_training_stands_in_its_place(visit: Visit, violations: Callable[[Page], list[str]]) -> None:
    page = visit("/")
    train(page, 60)
    page.wait_for_selector("#jumok-page .learning-slider")
    expect(page.locator("#jumok-page output")).to_contain_text("60")
    expect(page.locator(".weights")).to_have_count(0)
    assert violations(page) == []


def test_a_training_moves_before_ones_eyes_and_when_stopped_shows_what_it_had(
    visit: Visit, violations: Callable[[Page], list[str]]
) -> None:
    page = visit("/")
    train_long(page)
    step, curve = page.locator(".weights p").first, page.locator(".plot path").first
    second = page.locator(".weights tbody tr").nth(1)  # the first token of a causal model reads nothing but itself
    before, path, weights = step.inner_text(), curve.get_attribute("d"), second.inner_text()
    assert path is not None
    expect(step).not_to_have_text(before)
    expect(curve).not_to_have_attribute("d", path)
    expect(second).not_to_have_text(weights, use_inner_text=True)
    assert violations(page) == []
    stop = page.locator(".job").get_by_role("button", name="Stop")
    stop.click()
    page.wait_for_selector(".job-standing[data-state='stopped']")
    expect(page.locator(".job")).to_contain_text("What was made until then is kept")
    page.wait_for_selector("#jumok-page .learning-slider")


def test_rows_of_a_cost_come_in_and_its_page_stands_below_the_bar(
    visit: Visit, violations: Callable[[Page], list[str]]
) -> None:
    page = visit("/")
    form = card(page, "What it costs")
    form.get_by_label("Tokens, from:to").fill("16:32")
    form.get_by_role("button", name="Measure").click()
    page.wait_for_url("**/jobs/*")
    page.get_by_role("heading", name="What attention costs").wait_for()
    assert violations(page) == []
    page.get_by_label("한국어").check()
    expect(page.locator(".bar summary")).to_have_text("내 작업")
    for width, others in ((390, ".broad"), (1280, ".slim")):
        page.set_viewport_size({"width": width, "height": 844})
        figure = page.locator("main[lang='ko'] figure.light")
        expect(figure.locator(others)).to_be_hidden()
        for name in ("full", "flash", "window", "lowrank"):
            drawn = figure.locator("svg:visible text", has_text=re.compile(f"^{name}$")).first.bounding_box()
            assert drawn is not None
            assert drawn["x"] + drawn["width"] <= width, "it is seen without scrolling"
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_jobs_are_listed_watched_and_taken_away_from_any_page(visit: Visit) -> None:
    page = visit("/")
    train_long(page)
    page.goto(page.url.split("/jobs/")[0] + "/lessons?lang=en")
    summary = page.locator(".bar summary")
    expect(summary).to_contain_text("under way")
    summary.click()
    bar, panel = page.locator(".bar").bounding_box(), page.locator(".jobs .panel").bounding_box()
    assert bar is not None
    assert panel is not None
    assert 0 <= panel["y"] - bar["y"] - bar["height"] < 10
    line = page.locator(".jobs li[data-state='running']").first
    expect(line.get_by_role("progressbar")).to_be_visible()
    line.get_by_role("button").click()
    expect(page.locator(".jobs li[data-state='running']")).to_have_count(0)
    while (n := page.locator(".jobs li").count()) > 0:
        page.locator(".jobs li").first.get_by_role("button").click()
        page.locator(".jobs li").first.get_by_role("button", name="Really delete?").click()
        expect(page.locator(".jobs li")).to_have_count(n - 1)
    page.keyboard.press("Escape")
    expect(page.locator(".jobs .panel")).to_be_hidden()


def test_delete_asks_once_more_elsewhere_and_the_other_tab_learns_of_it(visit: Visit) -> None:
    page = visit("/", lang="ko", viewport={"width": 390, "height": 844})
    for _ in range(2):
        page.goto(page.url.split("/jobs/")[0].split("?")[0].rstrip("/") + "/?lang=ko")
        card(page, "학습시키기").get_by_label("단계 수 (비우면 보통 값)").fill("1")
        card(page, "학습시키기").get_by_role("button").click()
        page.wait_for_selector("#jumok-page .learning-slider")
    with page.context.expect_page() as opened:
        page.evaluate("() => void window.open(location.href)")
    other = opened.value
    other.wait_for_selector("#jumok-page .learning-slider")
    page.locator(".bar summary").click()
    line = page.locator(".jobs li").first
    delete = line.get_by_role("button", name="지우기:")
    place = delete.bounding_box()
    assert place is not None
    spot = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    page.mouse.click(*spot)
    sure = line.get_by_role("button", name="정말 지울까요?")
    expect(sure).to_be_visible()
    page.mouse.click(*spot)  # again: it is kept
    expect(sure).to_have_count(0)
    expect(delete).to_be_focused()
    page.keyboard.press("Enter")
    expect(sure).not_to_be_focused()
    page.keyboard.press("Enter")  # as after a second click
    expect(sure).to_have_count(0)
    expect(page.locator(".jobs li")).to_have_count(2)
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(sure).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".jobs li")).to_have_count(1)
    expect(page.locator(".jobs li a")).to_be_focused()
    for one in (page, other):
        said = one.locator(".notices[role='status']")
        expect(said).to_contain_text("이 작업은 이제 서버에 없습니다")
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        notice, panel = page.locator(".notice").bounding_box(), page.locator(".jobs .panel").bounding_box()
        assert notice is not None
        assert panel is not None
        below = panel["y"] - notice["y"] - notice["height"]
        assert 0 <= below < 10, "the list of jobs covers nothing that is said"
        assert panel["x"] + panel["width"] <= width
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator(".jobs li").get_by_role("button", name="지우기:").click()
    page.locator(".jobs li").get_by_role("button", name="정말 지울까요?").click()
    expect(page.locator(".jobs li")).to_have_count(0)
    expect(page.locator(".bar summary")).to_be_focused()


def test_two_visitors_do_not_see_each_other(visit: Visit) -> None:
    one = visit("/")
    train(one, 60)
    address = one.url
    other = visit("/", locale="en-GB")
    other.locator(".bar summary").click()
    expect(other.locator(".jobs .panel")).to_contain_text("None yet.")
    assert other.goto(address).status == 404  # type: ignore[union-attr]
    assert other.request.get(address.replace("/jobs/", "/api/jobs/")).status == 404


# the line -----------------------------------------------------------------------------------------


def test_a_server_that_is_gone_and_comes_back_is_told_of_and_all_goes_on(visit: Visit, server: Server) -> None:
    page = visit("/examples/student")
    wish(page, "0.3")
    expect(weight(page)).to_have_text("0.3")
    learner = visit("/", locale="en-GB")
    train(learner, 150)
    server.kill()
    expect(page.locator(".notice")).to_contain_text("The connection to the server is lost", timeout=START_MS)
    wish(page, "0.4")  # is asked as soon as somebody can answer
    expect(page.locator("details.design")).to_contain_text("Python is looking for W_Q and W_K")
    server.start()
    expect(page.locator(".notice")).to_contain_text("the server was started anew", timeout=START_MS)
    expect(weight(page)).to_have_text("0.4")
    learner.wait_for_selector("#jumok-page .learning-slider")
    expect(learner.locator("#jumok-page output")).to_contain_text("150")


# lessons ------------------------------------------------------------------------------------------


def test_code_of_a_lesson_is_run_and_judged(visit: Visit) -> None:
    from jumok.verbs import lesson

    [block] = [one for one in lesson(6).blocks if one.kind == "exercise"]
    page = visit("/lessons/6")
    exercise = page.locator(f"#lesson-{block.id}")
    button = exercise.get_by_role("button", name="Run and check")
    button.click()
    expect(exercise.locator(".verdict")).not_to_be_empty()
    expect(button).to_be_focused()
    assert exercise.get_attribute("data-mark") != "right"
    exercise.get_by_label("Your code").fill(block.solution)
    button.click()
    expect(exercise).to_have_attribute("data-mark", "right")


def test_code_that_cannot_run_is_told_why(visit: Visit) -> None:
    page = visit("/lessons/6", lang="ko")
    page.get_by_label("작성한 코드").fill("가 = 1 +")
    page.get_by_role("button", name="실행하고 확인").click()
    said = page.locator(".verdict p")
    expect(said).to_contain_text("코드가 끝까지 돌아가지 않았")
    expect(said).not_to_contain_text("다른 종류의 코드")


# for everybody ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "scheme"), [("/", "light"), ("/lessons", "dark"), ("/text", "dark"), ("/examples/student", "light")]
)
def test_axe_finds_nothing(visit: Visit, violations: Callable[[Page], list[str]], path: str, scheme: str) -> None:
    page = visit(path, lang="ko", color_scheme=scheme)
    page.locator(".bar summary").click()
    assert violations(page) == []


def test_axe_finds_nothing_while_a_training_goes_on_a_phone(
    visit: Visit, violations: Callable[[Page], list[str]]
) -> None:
    page = visit("/", viewport={"width": 390, "height": 844})
    train_long(page)
    assert violations(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth") == 390
    page.locator(".job").get_by_role("button", name="Stop").click()
    page.wait_for_selector(".job-standing[data-state='stopped']")
