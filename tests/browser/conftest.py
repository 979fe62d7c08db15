"""A real Chromium, and pages that may ask nothing of any network and complain of nothing."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, sync_playwright

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
OWN = ("file:", "data:", "blob:", "about:")


def chromium() -> str | None:
    """The browser of this machine, or None for the one that Playwright brought."""
    return os.environ.get("JUMOK_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()


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
def page_of(browser: Browser) -> Iterator[PageOf]:
    """``page_of(path, hash="", **context)``: a jumok page, ready. Afterwards: it asked for nothing and complained of nothing."""
    watched: list[Watched] = []

    def opened(path: Path, hash: str = "", **context: object) -> Page:
        settings = {"viewport": {"width": 1440, "height": 900}, "locale": "en-US", "timezone_id": "UTC", **context}
        page = browser.new_context(**settings).new_page()  # type: ignore[arg-type]
        page.set_default_timeout(10_000)
        watched.append(Watched(page))
        page.goto(f"{path.resolve().as_uri()}{'#' + hash if hash else ''}")
        page.wait_for_selector("[data-ready='true']")
        return page

    yield opened
    for one in watched:
        one.page.context.close()
    assert [url for one in watched for url in one.asked] == []
    assert [text for one in watched for text in one.complaints] == []


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
