"""The page's size and speed, beside BertViz 1.4.1 on the same tensors, in one headless Chromium.

``python benchmarks/page.py [--quick | --edits] [-o result.json]``. BertViz comes without its own requirements into a
temporary folder (PyTorch, which it needs, is there for jumok's tests), and the three scripts that its pages take
from a CDN come from npm and are handed to the browser from disk. Every measure: the median of three loads in fresh
pages, BertViz and jumok in turn; BertViz's large pages once, with a limit of 280 s. Memory: the renderer's
proportional share (PSS) after the page is drawn. ``--quick``: n = 32 and the edits only. ``--edits``: the edits alone,
in less than a minute.
"""

import argparse
import contextlib
import importlib
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Error, Page, Route, sync_playwright

import jumok

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
readings: Any = importlib.import_module("readings")

CHROMIUM = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--js-flags=--max-old-space-size=12000",
]  # fmt: skip
CDN = {  # what a BertViz page asks for → the npm package and the file in it
    "require.min.js": ("requirejs@2.3.8", "require.js"),
    "d3.min.js": ("d3@5.7.0", "dist/d3.min.js"),
    "jquery.min.js": ("jquery@2.2.4", "dist/jquery.min.js"),
}
LIMIT_S = 280.0
SETTLES_MS = 1500  # nobody edits sooner after opening; the page rehearses meanwhile


@dataclass
class Measured:
    """One page: what it weighs and how long it takes. None: it did not come in the time, or does not apply."""

    name: str
    n: int
    size_mb: float
    made_s: float
    first_paint_s: float | None = None
    drawn_s: float | None = None
    interactive_s: float | None = None
    memory_mb: float | None = None
    elements: int | None = None
    note: str = ""


def main() -> int:
    """Measure, print a table, and 1 where one of the page's targets (facts) is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    short = options.add_mutually_exclusive_group()
    short.add_argument("--quick", action="store_true")
    short.add_argument("--edits", action="store_true")
    options.add_argument("-o", "--output")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        rows = [] if given.edits else list(pages(Path(folder), browser, given.quick))
        touch = interaction(Path(folder), browser, zooms=not (given.quick or given.edits))
    targets = judged(rows, touch)
    print(*([table(rows)] if rows else []), *(f"{name}: {value}" for name, value in touch.items()), sep="\n")
    print(*(f"{'met ' if good else 'MISSED'} {name}" for name, good in targets.items()), sep="\n")
    if given.output:
        result: dict[str, Any] = {"machine": platform.processor() or platform.machine(), "cores": os.cpu_count()}
        result |= {"pages": [asdict(row) for row in rows], "touch": touch, "targets": targets}
        Path(given.output).write_text(json.dumps(result, indent=1) + "\n")
    return 0 if all(targets.values()) else 1


@contextmanager
def chromium() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM)
        yield browser
        browser.close()


# pages ------------------------------------------------------------------------------------------


def pages(folder: Path, browser: Browser, quick: bool) -> Iterator[Measured]:
    """12 × 12 heads at rising lengths, both tools in turn; then 30 × 9 heads at 1,024 tokens, jumok alone."""
    peer = None if quick and not shutil.which("npm") else Peer(folder)
    for n in (32,) if quick else (32, 128, 256, 512):
        reading = readings.small(n=n)
        if peer is not None and n <= 512:
            yield told(measured_peer(peer, folder, browser, reading, n))
        yield told(measured_ours(folder, browser, reading, f"jumok 12×12, n={n}", n))
    if not quick:
        reading = readings.grouped(n=1024)
        yield told(measured_ours(folder, browser, reading, "jumok 30×9 (3 kv), n=1024", 1024))


def told(row: Measured) -> Measured:
    print(asdict(row), file=sys.stderr, flush=True)
    return row


def measured_ours(folder: Path, browser: Browser, reading: Any, name: str, n: int) -> Measured:
    path = folder / "ours.html"
    start = time.perf_counter()
    jumok.draw(reading).save(path)
    row = Measured(name, n, path.stat().st_size / 1e6, time.perf_counter() - start)
    loads = [_load_ours(browser, path) for _ in range(3)]
    for field in ("first_paint_s", "drawn_s", "interactive_s", "memory_mb", "elements"):
        setattr(row, field, statistics.median(load[field] for load in loads))
    path.unlink()
    return row


def _load_ours(browser: Browser, path: Path) -> dict[str, float]:
    """First paint, thumbnails on the screen, the program has drawn its views; from the start of the navigation."""
    with opened(browser) as page:
        page.add_init_script(_WATCH_THUMBNAILS)
        page.goto(path.as_uri(), wait_until="commit")
        page.wait_for_selector(".jumok[data-ready]", timeout=LIMIT_S * 1000)
        page.wait_for_function("() => window.thumbnails !== undefined")
        interactive = page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"
        )
        paint = page.evaluate("() => performance.getEntriesByName('first-contentful-paint')[0].startTime")
        return {
            "first_paint_s": paint / 1000,
            "drawn_s": page.evaluate("() => window.thumbnails") / 1000,
            "interactive_s": interactive / 1000,
            "memory_mb": renderer()[0],
            "elements": page.evaluate("() => document.querySelectorAll('*').length"),
        }


_WATCH_THUMBNAILS = """
const seen = () => requestAnimationFrame(() => { window.thumbnails ??= performance.now(); });
document.addEventListener("load", ({ target }) => { if (target.matches?.("img[data-jumok-atlas]")) seen(); }, true);
const { drawImage } = CanvasRenderingContext2D.prototype;
CanvasRenderingContext2D.prototype.drawImage = function (...given) {
  drawImage.apply(this, given);
  if (this.canvas.getAttribute("role") !== "application") seen();
};
"""


class Peer:
    """BertViz 1.4.1, and the scripts that its pages fetch."""

    def __init__(self, folder: Path) -> None:
        home = folder / "bertviz"
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(home), "bertviz==1.4.1"]
        subprocess.run(pip, check=True)
        packages = [package for package, _ in CDN.values()]
        npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder / "cdn"), *packages]
        subprocess.run(npm, check=True)
        sys.path.insert(0, str(home))
        self.scripts = {
            name: folder / "cdn" / "node_modules" / package.partition("@")[0] / file
            for name, (package, file) in CDN.items()
        }

    def html(self, weights: list[Any], tokens: list[str]) -> str:
        import torch
        from bertviz import model_view

        made = model_view([torch.from_numpy(w)[None] for w in weights], tokens, html_action="return")
        return f"<!DOCTYPE html><meta charset='utf-8'><body>{made.data}</body>"

    def answer(self, route: Route) -> None:
        """Give the page its script from disk; CDN names such as d3/5.7.0/d3.min are told apart by their last part."""
        name = route.request.url.rpartition("/")[2]
        found = self.scripts.get(name if name.endswith(".js") else f"{name}.js")
        route.fulfill(path=found, content_type="text/javascript") if found else route.abort()


def measured_peer(peer: Peer, folder: Path, browser: Browser, reading: Any, n: int) -> Measured:
    path = folder / "peer.html"
    start = time.perf_counter()
    weights = [layer.rows("weights").astype(np.float32) for layer in reading]
    path.write_text(peer.html(weights, [token.text for token in reading.tokens]), encoding="utf-8")
    row = Measured(f"BertViz model_view 12×12, n={n}", n, path.stat().st_size / 1e6, time.perf_counter() - start)
    with opened(browser) as page:
        page.route("**/*cdnjs*/**", peer.answer)
        start = time.perf_counter()
        try:
            page.goto(path.as_uri(), wait_until="commit", timeout=LIMIT_S * 1000)
            row.elements = _settled(page, start)
            row.drawn_s = time.perf_counter() - start
        except Error as error:
            row.note = f"not drawn in {LIMIT_S:.0f} s" if "Timeout" in str(error) else str(error).splitlines()[0]
        row.memory_mb, process = renderer()
        if row.note:  # a thread that never comes free would not let the page be closed either
            os.kill(process, signal.SIGKILL)
    path.unlink()
    return row


def _settled(page: Page, start: float) -> int:
    """The number of SVG elements once it grows no more: when the page has drawn what it draws."""
    left_ms = 1000 * (LIMIT_S - (time.perf_counter() - start))
    page.wait_for_function(_GROWS_NO_MORE, polling=200, timeout=max(1.0, left_ms))
    return int(page.evaluate("() => window.counted"))


_GROWS_NO_MORE = """() => {
  const before = window.counted;
  window.counted = document.querySelectorAll("svg *").length;
  return before > 0 && before === window.counted;
}"""


@contextmanager
def opened(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(LIMIT_S * 1000)
    try:
        yield page
    finally:
        context.close()


def renderer() -> tuple[float, int]:
    """The largest renderer on this machine: its proportional share of memory in MB, and its process."""
    shares = [(0.0, 0)]
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # a process that has ended
            if b"--type=renderer" in command.read_bytes():
                shares.append((_pss_mb(int(command.parent.name)), int(command.parent.name)))
    return max(shares)


def _pss_mb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1000


# touch ------------------------------------------------------------------------------------------


def interaction(folder: Path, browser: Browser, zooms: bool) -> dict[str, float]:
    """An edit of the worked example to the last changed cell; a head of a long context zoomed and moved. Milliseconds."""
    student = folder / "student.html"
    jumok.draw(jumok.load("student")).save(student)
    touch: dict[str, float] = {"student page, kB": student.stat().st_size / 1000}
    touch["bundle, kB"] = bundle_kb()
    with opened(browser) as page:
        page.goto(student.as_uri())
        page.wait_for_selector(".jumok[data-ready]")
        page.wait_for_timeout(SETTLES_MS)
        touch |= summed("an edit of student to the last changed cell", _edits(page, 60))
    if zooms:
        long = folder / "long.html"
        jumok.draw(readings.reading(1, 2, 4096)).save(long)
        with opened(browser) as page:
            page.goto(long.as_uri() + "#view=map")
            page.wait_for_selector(".jumok[data-ready]")
            touch |= summed("map of n = 4,096: a zoom or move to the redrawn picture", _zooms(page, 40))
    return touch


def bundle_kb() -> float:
    return (Path(jumok.__file__).parent / "picture" / "static" / "jumok.js").stat().st_size / 1000


def _edits(page: Page, times: int) -> list[float]:
    """Type into one weight, again and again; from the key that commits to the last change of the page."""
    cell = page.locator("table[data-stage='w_q'] [data-row='2'][data-column='2']")
    page.evaluate(_WATCH_CHANGES)
    spent = []
    for at in range(times):
        cell.focus()
        page.keyboard.press("Enter")
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type(f"{4 + at / 100:.2f}")
        page.keyboard.press("Enter")
        page.wait_for_timeout(60)
        spent.append(float(page.evaluate("() => window.lastChange - window.lastKey")))
    return spent


_WATCH_CHANGES = """() => {
  window.addEventListener("keydown", () => { window.lastKey = performance.now(); }, { capture: true });
  const what = { subtree: true, childList: true, characterData: true, attributes: true };
  new MutationObserver(() => { window.lastChange = performance.now(); }).observe(document.querySelector(".jumok"), what);
}"""


def _zooms(page: Page, times: int) -> list[float]:
    """Keys + and − on the map; from the key to the end of the first picture that is put on its canvas after it."""
    canvas = page.locator("canvas[role=application]").first
    canvas.focus()
    page.evaluate(_WATCH_DRAWING)
    spent = []
    for at in range(times):
        page.keyboard.press("+" if at % 8 < 4 else "-")
        page.wait_for_function("() => window.drawn > window.lastKey")
        spent.append(float(page.evaluate("() => window.drawn - window.lastKey")))
        page.wait_for_timeout(150)
    return spent


_WATCH_DRAWING = """() => {
  window.drawn = 0;
  window.addEventListener("keydown", () => { window.lastKey = performance.now(); }, { capture: true });
  const { drawImage } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.drawImage = function (...given) {
    drawImage.apply(this, given);
    if (this.canvas.getAttribute("role") === "application" && window.drawn < window.lastKey) window.drawn = performance.now();
  };
}"""


def summed(name: str, spent_ms: list[float]) -> dict[str, float]:
    ordered = sorted(spent_ms)
    told = {
        "first": spent_ms[0],
        "median": statistics.median(ordered),
        "95th percentile": ordered[int(0.95 * len(ordered))],
        "longest": ordered[-1],
    }
    return {f"{name}: {what}, ms": round(spent, 1) for what, spent in told.items()}


# judgement --------------------------------------------------------------------------------------


def judged(rows: list[Measured], touch: dict[str, float]) -> dict[str, bool]:
    """The targets that this run measured."""
    ours = {row.name: row for row in rows if row.name.startswith("jumok")}
    peers = {row.n: row for row in rows if row.name.startswith("BertViz")}
    checks: dict[str, Callable[[], bool]] = {
        "bundle at most 150 kB": lambda: touch["bundle, kB"] <= 150,
        "student page under 400 kB": lambda: touch["student page, kB"] < 400,
        "an edit within one frame (16 ms) at the 95th percentile": lambda: _of(touch, "edit", "95th") <= 16,
        "zoom redraw within 100 ms at the 95th percentile": lambda: _of(touch, "map", "95th") <= 100,
        "12×12, n = 128: at most 8 MB": lambda: ours["jumok 12×12, n=128"].size_mb <= 8,
        "12×12, n = 128: thumbnails in at most 1/50 of BertViz's model view": lambda: (
            ours["jumok 12×12, n=128"].drawn_s <= (peers[128].drawn_s or LIMIT_S) / 50  # type: ignore[operator]
        ),
        "12×12, n = 512: at most 27 MB": lambda: ours["jumok 12×12, n=512"].size_mb <= 27,
        "30×9, n = 1,024: at most 72 MB": lambda: ours["jumok 30×9 (3 kv), n=1024"].size_mb <= 72,
        "30×9, n = 1,024: first paint under 1 s": lambda: (ours["jumok 30×9 (3 kv), n=1024"].first_paint_s or 9) < 1,
        "30×9, n = 1,024: interactive under 4 s": lambda: (ours["jumok 30×9 (3 kv), n=1024"].interactive_s or 9) < 4,
        "30×9, n = 1,024: under 450 MB": lambda: (ours["jumok 30×9 (3 kv), n=1024"].memory_mb or 999) < 450,
    }
    results = {}
    for name, check in checks.items():
        try:
            results[name] = check()
        except (KeyError, StopIteration):  # not measured in a quick run
            continue
    return results


def _of(touch: dict[str, float], *parts: str) -> float:
    return next(value for name, value in touch.items() if all(part in name for part in parts))


def table(rows: list[Measured]) -> str:
    """A line a page."""
    names = ("size_mb", "made_s", "first_paint_s", "drawn_s", "interactive_s", "memory_mb", "elements")
    lines = [f"{'page':<34}" + "".join(f"{name:>15}" for name in names)]
    for row in rows:
        cells = ["–" if (value := getattr(row, name)) is None else f"{value:,.2f}" for name in names]
        lines.append(f"{row.name:<34}" + "".join(f"{cell:>15}" for cell in cells) + f"  {row.note}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
