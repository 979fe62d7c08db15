"""Take the docs' screenshots of the page anew, in the system's Chromium: ``python docs/make_screenshots.py``.

With ``--all FOLDER``: every view, in both languages, light and dark, on a desktop and a phone, to be looked at.
"""

from __future__ import annotations

import itertools
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

import jumok

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import readings

HERE = Path(__file__).parent / "pictures"
WIDE, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 844}
IN_THE_DOCS = [  # file, page, address, language, colours, size
    ("page.stages.en", "student", "view=stages&stage=weights", "en", "light", {"width": 1800, "height": 1240}),
    ("page.stages.ko", "student", "view=stages&stage=weights", "ko", "light", {"width": 1800, "height": 1240}),
    ("page.heads.en", "heads", "view=heads&layer=3&head=3&query=40", "en", "light", WIDE),
    ("page.map.ko", "long", "view=map&head=3&query=1900&key=1471", "ko", "dark", WIDE),
    ("page.compare.en", "pair", "view=compare&layer=1&query=7&key=1", "en", "light", WIDE),
]


def pages(folder: Path) -> dict[str, Path]:
    """The pages that are looked at, by name."""
    pair = [jumok.attend(jumok.load(name)) for name in ("it-tired", "it-soft")]
    made: dict[str, Any] = {
        "student": jumok.load("student"),
        "heads": readings.grouped(n=64),
        "long": readings.reading(1, 4, 2048),
        "pair": jumok.compare(*pair),
    }
    for name, thing in made.items():
        jumok.draw(thing).save(folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in made}


def shot(browser: Browser, page: Path, address: str, to: Path, size: Any, scheme: Any, whole: bool = False) -> None:
    """One screenshot, once the pictures on the page have come."""
    context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    tab = context.new_page()
    tab.goto(f"{page.as_uri()}#{address}")
    tab.wait_for_selector("[data-ready='true']")
    tab.wait_for_timeout(2500)
    tab.screenshot(path=to, full_page=whole)
    context.close()


def main(arguments: list[str]) -> None:
    """The docs' screenshots, or all of them into a folder."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        found = pages(Path(folder))
        if arguments[:1] == ["--all"]:
            every(browser, found, Path(arguments[1]))
            return
        for name, page, address, lang, scheme, size in IN_THE_DOCS:
            to = HERE / f"{name}.png"
            shot(browser, found[page], f"{address}&lang={lang}", to, size, scheme)
            Image.open(to).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(to, optimize=True)


def every(browser: Browser, found: dict[str, Path], folder: Path) -> None:
    """Each view in both languages and colours, on a desktop and a phone."""
    folder.mkdir(parents=True, exist_ok=True)
    views = {"stages": "student", "heads": "heads", "map": "long", "compare": "pair"}
    sizes = {"desktop": WIDE, "phone": PHONE}
    for (view, page), lang, scheme, size in itertools.product(views.items(), ("en", "ko"), ("light", "dark"), sizes):
        to = folder / f"{view}.{lang}.{scheme}.{size}.png"
        shot(browser, found[page], f"view={view}&lang={lang}", to, sizes[size], scheme, whole=True)


if __name__ == "__main__":
    main(sys.argv[1:])
