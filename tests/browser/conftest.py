"""A real Chromium, and pages that may ask nothing of any network and complain of nothing."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, Request, expect, sync_playwright

from python_host import PythonHost

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
PATIENCE_MS = 60_000  # a busy machine may take long for what takes none here
expect.set_options(timeout=PATIENCE_MS)
OWN = ("file:", "data:", "blob:", "about:")


def chromium() -> str | None:
    """The browser of this machine, or None for the one that Playwright brought."""
    return os.environ.get("JUMOK_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A file's own: while Playwright is there its loop runs in this thread, and whatever else needs one could not begin."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()


class Contexts:
    """Browser contexts by their settings, each used again: a window of its own for every page costs a second of processor time."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._open: dict[str, BrowserContext] = {}

    def page(self, **settings: object) -> Page:
        """A page in a context with these settings, in which nothing is stored."""
        named = repr(sorted(settings.items()))
        if named not in self._open:
            self._open[named] = self._browser.new_context(**settings)  # type: ignore[arg-type]
            self._open[named].new_page()  # stays open, and with it the window and its process
        return self._open[named].new_page()

    def leave(self, page: Page) -> None:
        """Close a page; its context as well, where something was done to it that the next page would meet."""
        context = page.context
        try:
            is_as_before = page.evaluate(
                "() => (localStorage.clear(), sessionStorage.clear(), String(setTimeout).includes('[native code]'))"
            )
            for other in context.pages[1:]:
                other.close()
            context.clear_permissions()
        except Error:  # closed, gone wrong, or without storage
            is_as_before = False
        if not is_as_before:
            context.close()
            self._open = {named: one for named, one in self._open.items() if one is not context}


@pytest.fixture(scope="module")
def contexts(browser: Browser) -> Contexts:
    return Contexts(browser)


class Watched:
    """What a page asked for and complained of."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.asked: list[str] = []
        self.complaints: list[str] = []
        page.on("request", self._request)
        page.on(
            "console", lambda said: self.complaints.append(said.text) if said.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _request(self, request: Request) -> None:
        if not request.url.startswith(OWN):
            self.asked.append(request.url)


PageOf = Callable[..., Page]


@pytest.fixture
def page_of(contexts: Contexts) -> Iterator[PageOf]:
    """``page_of(path, hash="", **context)``: a jumok page, ready. Afterwards: it asked for nothing and complained of nothing."""
    watched: list[Watched] = []

    def opened(path: Path, hash: str = "", **context: object) -> Page:
        settings = {"viewport": {"width": 1440, "height": 900}, "locale": "en-US", "timezone_id": "UTC", **context}
        page = contexts.page(**settings)
        page.set_default_timeout(PATIENCE_MS)
        watched.append(Watched(page))
        page.goto(f"{path.resolve().as_uri()}{'#' + hash if hash else ''}")
        page.wait_for_selector("[data-ready='true']")
        return page

    yield opened
    for one in watched:
        contexts.leave(one.page)
    assert [url for one in watched for url in one.asked] == []
    assert [text for one in watched for text in one.complaints] == []


@pytest.fixture
def python_host(contexts: Contexts, tmp_path: Path) -> Iterator[PythonHost]:
    """A page with Python behind it, as in a notebook. Afterwards: it complained of nothing."""
    page = contexts.page(viewport={"width": 1440, "height": 1000}, locale="en-US")
    page.set_default_timeout(PATIENCE_MS)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield PythonHost(page, tmp_path)
    contexts.leave(page)
    assert complaints == []


@pytest.fixture
def violations() -> Callable[[Page], list[str]]:
    """What axe-core finds on a page that is serious or critical, a line for each place."""

    def found(page: Page) -> list[str]:
        page.evaluate(AXE.read_text(encoding="utf-8"))
        told = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{one['id']}: {json.dumps(node['target'])} {node['html'][:200]}"
            for one in told["violations"]
            if one["impact"] in ("serious", "critical")
            for node in one["nodes"]
        ]

    return found


@pytest.fixture
def pixels() -> Callable[..., list[list[int]]]:
    """The colours of some places of a canvas, each at a share of its width and height: [[red, green, blue, opacity]]."""

    def read(page: Page, selector: str, places: list[tuple[float, float]]) -> list[list[int]]:
        return page.eval_on_selector(
            selector,
            """(canvas, places) => {
              const copy = new OffscreenCanvas(canvas.width, canvas.height);
              const context = copy.getContext("2d", {willReadFrequently: true});
              context.drawImage(canvas, 0, 0);
              return places.map(([x, y]) => [...context.getImageData(x * canvas.width, y * canvas.height, 1, 1).data]);
            }""",
            places,
        )

    return read
