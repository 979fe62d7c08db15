"""The page as a host, in a real Chromium: what it holds is decoded when it is looked at, and no text breaks out of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import jumok
import readings
from jumok import Source, Trace
from jumok.picture import page as pages

Folder = pytest.TempPathFactory
HOSTILE = [
    "</script><script>document.title = 'out'</script>",
    "<!--<script>",
    "<img src=x onerror=\"document.title = 'out'\">",
    "\u2028\u2029`${document.title = 'out'}",
    "\"'&lt;",
]


@pytest.fixture(scope="module")
def large(tmp_path_factory: Folder) -> Path:
    """3 layers of 4 heads over 512 tokens, rounded: each layer in a block of its own."""
    return pages.write(tmp_path_factory.mktemp("host") / "a.html", readings.reading(3, 12, 512))


def blocks(page: Page) -> list[str]:
    """The layers that are still text."""
    return page.eval_on_selector_all("script[data-layer]", "(all) => all.map((one) => one.dataset.layer)")


def test_a_layer_is_decoded_when_it_is_looked_at(large: Path, page_of: Any) -> None:
    page = page_of(large)
    expect(page.get_by_role("gridcell").first).to_be_visible()
    assert "2" in blocks(page)
    assert "0" not in blocks(page)
    there = page_of(large, "layer=2&head=1&view=heads")
    expect(there.locator("canvas").first).to_be_visible()
    there.wait_for_function("() => !document.querySelector('script[data-layer=\"2\"]')")


def test_the_first_picture_gives_way_to_the_page(large: Path, page_of: Any) -> None:
    page = page_of(large)
    assert page.locator("[data-jumok-atlas]").count() == 0
    page.wait_for_selector(".thumbs canvas[data-painted=atlas]")


def test_a_browser_without_fromBase64_reads_the_same(large: Path, page_of: Any, browser: Any) -> None:
    texts = []
    for script in ("", "delete Uint8Array.fromBase64"):
        page = browser.new_page()
        page.add_init_script(script)
        page.goto(f"{large.as_uri()}#layer=1&head=2&query=300&view=heads")
        expect(page.locator("table.top-keys tbody tr").first).to_be_visible()
        assert page.evaluate("Uint8Array.fromBase64 === undefined") is bool(script)
        texts.append(page.locator("table.top-keys").inner_text())
        page.close()
    assert texts[0] == texts[1]


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_no_text_breaks_out(tmp_path: Path, page_of: Any, lang: str) -> None:
    one = np.eye(len(HOSTILE))[None]
    details = {"title": {"en": HOSTILE[0], "ko": HOSTILE[2]}, "sentence": " ".join(HOSTILE)}
    trace = Trace(tokens=HOSTILE, q=one, k=one, v=one, source=Source(details=details))
    page = page_of(pages.write(tmp_path / "a.html", trace, lang=lang))
    assert page.title() != "out"
    assert page.locator("script").count() == 3  # the model, the header, the program; the bytes are decoded
    assert page.locator("img[src=x]").count() == 0
    said = page.inner_text("body")
    assert "</script><script>" in said
    assert "<!--<script>" in said


def test_without_scripts_the_page_says_why(tmp_path: Path, browser: Any) -> None:
    path = pages.write(tmp_path / "a.html", jumok.attend(jumok.load("student")))
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    for lang, said in pages.NO_SCRIPT.items():
        expect(page.locator(f"noscript p[lang={lang}]")).to_be_visible()
        expect(page.locator(f"noscript p[lang={lang}]")).to_have_text(said)
    context.close()
