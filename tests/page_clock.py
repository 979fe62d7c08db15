"""Waiting by a page's own clock: however busy the machine, what the page had put off until then has come before."""

from __future__ import annotations

from playwright.sync_api import Page


def rest(page: Page, milliseconds: int) -> None:
    """Wait until a pause that long, begun after the next frame, is over and two frames more are drawn."""
    page.evaluate(
        """(milliseconds) => new Promise((done) => {
          const frame = () => new Promise((then) => requestAnimationFrame(then));
          const pause = () => new Promise((then) => setTimeout(then, milliseconds));
          frame().then(pause).then(frame).then(frame).then(done);
        })""",
        milliseconds,
    )
