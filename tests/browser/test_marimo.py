"""The widget in a real marimo: two views, a cell that follows what is chosen in one of them, and a wish that Python solves."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, expect

SLOW = 120_000  # milliseconds
NOTEBOOK = """
import marimo

app = marimo.App()


@app.cell
def first():
    import jumok
    import marimo as mo

    one = mo.ui.anywidget(jumok.widget(jumok.load("student"), lang="en"))
    one
    return jumok, mo, one


@app.cell
def second(jumok, mo):
    two = mo.ui.anywidget(jumok.widget(jumok.load("student"), lang="ko"))
    two
    return (two,)


@app.cell
def third(mo, one, two):
    mo.md(f"read: {one.value['view']['query']} {one.widget.key} {two.widget.query}")
"""


@contextmanager
def marimo(home: Path, notebook: Path) -> Iterator[str]:
    """The address of a marimo of its own, on this machine only, with a token that nobody knows."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    command = [
        sys.executable, "-m", "marimo", "run", str(notebook), "--headless", "--host=127.0.0.1", f"--port={port}",
        "--token", f"--token-password={token}",
    ]  # fmt: skip
    env = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home), "XDG_STATE_HOME": str(home)}
    with (home / "log").open("w") as log:
        server = subprocess.Popen(command, env=env, stdout=log, stderr=subprocess.STDOUT)
    try:
        _wait_for(port, server, home / "log")
        yield f"http://127.0.0.1:{port}/?access_token={token}"
    finally:
        server.terminate()
        server.wait(30)


def _wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(SLOW // 100):
        assert server.poll() is None, log.read_text()[-2000:]
        with socket.socket() as to_it:
            if to_it.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(log.read_text()[-2000:])


def test_two_views_and_a_cell_that_follows_one_of_them(browser: Browser, tmp_path: Path) -> None:
    (notebook := tmp_path / "a.py").write_text(NOTEBOOK)
    with marimo(tmp_path, notebook) as url:
        page = browser.new_page(viewport={"width": 1200, "height": 1200})
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(url)
        views = page.locator(".jumok[data-ready]")
        expect(views).to_have_count(2, timeout=SLOW)
        expect(page.get_by_text("read: 2 3 2")).to_be_visible(timeout=SLOW)
        views.first.get_by_role("gridcell", name="student attends to carefully").first.click(timeout=SLOW)
        expect(page.get_by_text("read: 1 4 2")).to_be_visible(timeout=SLOW)
        views.first.locator("details.design > summary").click()
        views.first.get_by_label("student → carefully: wanted weight").fill("0.6")
        page.keyboard.press("Enter")
        expect(views.first.get_by_text("Found, and put into the tables")).to_be_visible(timeout=SLOW)
        expect(views.first.get_by_role("gridcell", name="student attends to carefully, 0.6")).to_be_visible()
        page.close()
    own = url.split("?")[0]
    assert [
        other for other in asked if not other.startswith((own, own.replace("http", "ws", 1), "data:", "blob:"))
    ] == []
