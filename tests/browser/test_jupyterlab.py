"""The widget in a real JupyterLab: two views in one notebook, read from Python, saved, and opened again with nothing run."""

from __future__ import annotations

import json
import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, expect

COUNTED = re.compile(r"\[\d+\]:")
SLOW = 120_000  # milliseconds: a kernel that starts on a busy machine
CELLS = [
    "import jumok\none = jumok.widget(jumok.load('student'), lang='en')\none",
    "two = jumok.widget(jumok.load('student'), lang='ko')\ntwo",
    "print('read:', one.query, one.key, one.trace.tokens[one.query].text, two.query)",
    "one.query, one.lang = 'student', 'ko'",
]
SETTINGS = {
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyter-widgets/jupyterlab-manager/plugin": {"saveState": True},
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},  # cells stay drawn while they are out of sight
}


@contextmanager
def jupyterlab(home: Path, work: Path) -> Iterator[str]:
    """The address of a JupyterLab of its own, on this machine only, with a token that nobody knows."""
    for name, value in SETTINGS.items():
        file = home / "settings" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(value))
    folders = {
        "JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "run", "IPYTHONDIR": "ipython",
        "JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    }  # fmt: skip
    token = secrets.token_hex(16)
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0",
        f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={work}",
    ]  # fmt: skip
    with (home / "log").open("w") as log:
        env = {**os.environ, **{name: str(home / folder) for name, folder in folders.items()}}
        server = subprocess.Popen(command, env=env, stdout=log, stderr=subprocess.STDOUT)
    try:
        yield f"{_address(home / 'run', server)}lab/tree/a.ipynb?token={token}"
    finally:
        server.terminate()
        server.wait(30)
        for told in (home / "run").glob("jpserver-*.json"):
            told.unlink(missing_ok=True)


def _address(run: Path, server: subprocess.Popen[bytes]) -> str:
    """Where the server listens: it took a free port and wrote down which."""
    for _ in range(SLOW // 100):
        for told in run.glob("jpserver-*.json"):
            if (text := told.read_text()).endswith("}"):
                return str(json.loads(text)["url"])
        assert server.poll() is None, (run.parent / "log").read_text()[-2000:]
        time.sleep(0.1)
    raise AssertionError((run.parent / "log").read_text()[-2000:])


def notebook(path: Path) -> None:
    cells = [
        {"cell_type": "code", "id": f"c{at}", "execution_count": None, "metadata": {}, "outputs": [], "source": source}
        for at, source in enumerate(CELLS)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path.write_text(
        json.dumps({"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})
    )


@contextmanager
def opened(browser: Browser, url: str) -> Iterator[Page]:
    """JupyterLab's page, which may ask its own server and nobody else."""
    page = browser.new_page(viewport={"width": 1300, "height": 1500})
    page.set_default_timeout(SLOW)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(url)
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    yield page
    page.close()
    own = url.split("lab/")[0]
    assert [
        other for other in asked if not other.startswith((own, own.replace("http", "ws", 1), "data:", "blob:"))
    ] == []


def cell(page: Page, at: int) -> Locator:
    return page.locator(".jp-CodeCell").nth(at)


def run(page: Page, at: int) -> str:
    """Execute a cell as a person does, and what it then printed."""
    prompt = cell(page, at).locator(".jp-InputPrompt")
    before = prompt.inner_text()
    cell(page, at).locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    expect(prompt).not_to_have_text(before, timeout=SLOW)
    expect(prompt).to_have_text(COUNTED, timeout=SLOW)
    printed = cell(page, at).locator(".jp-OutputArea-output pre")
    return printed.first.inner_text() if printed.count() else ""


def until(true: Callable[[], Any], what: str) -> None:
    end = time.monotonic() + SLOW / 1000
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.2)


def weight(view: Locator, name: str) -> Locator:
    """A cell of the table of weights, by the name that a screen reader says."""
    return view.get_by_role("gridcell", name=name).first


def test_two_views_are_read_from_python_saved_and_seen_again(browser: Browser, tmp_path: Path) -> None:
    (work := tmp_path / "work").mkdir()
    notebook(path := work / "a.ipynb")
    with jupyterlab(tmp_path, work) as url, opened(browser, url) as page:
        page.get_by_text("| Idle").wait_for()
        run(page, 0)
        run(page, 1)
        one, two = (cell(page, at).locator(".jumok[data-ready]") for at in (0, 1))
        weight(one, "student attends to carefully").click()
        expect(two.get_by_role("button", name="한국어")).to_have_attribute("aria-pressed", "true")
        until(lambda: run(page, 2).strip() == "read: 1 4 student 2", "what was chosen in the first view is not read")

        run(page, 3)
        expect(one.get_by_role("button", name="한국어")).to_have_attribute("aria-pressed", "true")
        page.keyboard.press("Control+s")
        until(lambda: len(_saved_views(path)) == 2, "the notebook was saved without its widgets")
    assert [view["lang"] for view in _saved_views(path)] == ["ko", "ko"]
    assert [sorted(bundle) for bundle in _outputs(path)] == 2 * [
        ["application/vnd.jupyter.widget-view+json", "image/svg+xml", "text/plain"]
    ]

    with jupyterlab(tmp_path, work) as url, opened(browser, url) as page:  # a fresh kernel, in which nothing was run
        one, two = (cell(page, at).locator(".jumok[data-ready]") for at in (0, 1))
        expect(weight(two, "studies")).to_be_visible(timeout=SLOW)
        expect(weight(one, "studies")).to_be_visible(timeout=SLOW)
        two.get_by_role("button", name="English").click()
        expect(weight(two, "student attends to carefully")).to_be_visible()


def _saved_views(path: Path) -> list[dict[str, Any]]:
    """What is chosen in each widget that the notebook file holds."""
    text = path.read_text()
    if not text.rstrip().endswith("}"):  # it is being written
        return []
    states = json.loads(text)["metadata"].get("widgets", {})
    models = states.get("application/vnd.jupyter.widget-state+json", {}).get("state", {}).values()
    return [model["state"]["view"] for model in models if model["model_module"] == "anywidget"]


def _outputs(path: Path) -> list[dict[str, Any]]:
    cells = json.loads(path.read_text())["cells"]
    return [output["data"] for cell in cells for output in cell["outputs"] if "data" in output]
