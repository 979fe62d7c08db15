"""A page with a real ``Widget`` behind it, without a notebook: what the page sends Python answers, and the other way."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from jumok.picture.page import BUNDLE
from jumok.picture.widget import Widget

HOST = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>host</title></head><body><main id="here"></main>
<script type="text/plain" id="bundle">BUNDLE</script>
<script type="module">
const code = document.getElementById("bundle").textContent;
const { render } = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
const values = JSON.parse(await window.traits());
for (const one of values.documents) {
  if (one.bytes !== null) one.bytes = new DataView(Uint8Array.from(atob(one.bytes), (letter) => letter.charCodeAt(0)).buffer);
}
const listeners = new Map();
const of = (event) => listeners.get(event) ?? listeners.set(event, new Set()).get(event);
render({
  el: document.getElementById("here"),
  model: {
    get: (name) => values[name] ?? null,
    set: (name, value) => (values[name] = value),
    save_changes: () => undefined,
    on: (event, told) => void of(event).add(told),
    off: (event, told) => void of(event).delete(told),
    send: async (content) => {
      const answers = JSON.parse(await window.python(JSON.stringify(content)));
      await new Promise((go) => setTimeout(go, window.slowness ?? 0));
      for (const said of answers) {
        for (const told of [...of("msg:custom")]) told(said, []);
      }
    },
  },
});
</script></body></html>
"""


class PythonHost:
    """Opens pages with widgets behind them, and remembers what was asked."""

    def __init__(self, page: Page, folder: Path) -> None:
        self.page, self.folder = page, folder
        self.asked: list[dict[str, Any]] = []

    def open(self, shown: Widget) -> Page:
        """The page of a widget, ready."""
        self.page.expose_function("traits", lambda: json.dumps(_traits(shown)))
        self.page.expose_function("python", self._answering(shown))
        path = self.folder / "host.html"
        path.write_text(HOST.replace("BUNDLE", BUNDLE.read_text(encoding="utf-8")), encoding="utf-8")
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("[data-ready='true']")
        return self.page

    def be_slow(self, milliseconds: int) -> None:
        """Every answer is so much later. The page waits, not Python: while that computes here, nobody can look at the page."""
        self.page.evaluate("(milliseconds) => void (window.slowness = milliseconds)", milliseconds)

    def stretch_pauses(self, milliseconds: int) -> None:
        """What the page puts off from now on, it puts off for so much longer: a busy machine is in time for it all the same."""
        self.page.evaluate(
            """(milliseconds) => {
              const own = window.setTimeout;
              window.setTimeout = (then, after = 0, ...more) => own(then, after + milliseconds, ...more);
            }""",
            milliseconds,
        )

    def wait_until_asked(self, times: int) -> None:
        """Wait until the page asked so often; ten seconds at most."""
        for _ in range(500):
            if len(self.asked) >= times:
                return
            self.page.wait_for_timeout(20)
        raise AssertionError(f"the page asked {len(self.asked)} times, not {times}")

    def _answering(self, shown: Widget) -> Callable[[str], str]:
        sent: list[Any] = []
        shown.send = lambda content, buffers=None: sent.append(content)  # type: ignore[method-assign]

        def answer(text: str) -> str:
            self.asked.append(json.loads(text))
            shown._answer(shown, self.asked[-1], None)
            said = json.dumps(sent, allow_nan=False)
            sent.clear()
            return said

        return answer


def _traits(shown: Widget) -> dict[str, Any]:
    documents = [one | {"bytes": base64.b64encode(one["bytes"]).decode()} for one in shown.documents]
    names = ("comparison", "view", "solver", "cutter", "cuts", "extension", "sides")
    same = {name: getattr(shown, name) for name in names if shown.has_trait(name)}
    return {"documents": documents, **same}
