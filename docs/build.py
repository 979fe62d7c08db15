#!/usr/bin/env python3
"""Build the documentation site, Korean and English: ``python3 docs/build.py [FOLDER]``; else into build/site.

What it needs (the extras ``docs`` and ``cli``) comes into an environment of its own, ``.venv-docs``, unless this Python has it.
The site opens from disk: FOLDER/index.html. A warning of either language ends it with exit code 1.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
LANGS = ("en", "ko")
NEEDS = ("sphinx", "myst_parser", "click", "rich")  # the page of commands is made from the program's own parsers
LIVE = {"student": ("student",), "two-sentences": ("it-tired", "it-soft"), "model": ("minilm-tired",)}


def main(arguments: list[str]) -> int:
    """Build both languages side by side, the live pages and the first page; 0 when nothing was warned of."""
    if not all(map(importlib.util.find_spec, NEEDS)):
        return in_own_environment(arguments)
    out = Path(arguments[0]) if arguments else ROOT / "build" / "site"
    shutil.rmtree(out, ignore_errors=True)
    running = [subprocess.Popen(command(lang, out), env={**os.environ, "JUMOK_DOCS_LANG": lang}) for lang in LANGS]
    live_pages(out / "live")
    shutil.copy(DOCS / "site" / "choose.html", out / "index.html")
    failed = [lang for lang, process in zip(LANGS, running, strict=True) if process.wait()]
    shutil.rmtree(out / ".doctrees", ignore_errors=True)
    told = f"FAILED: {', '.join(failed)}" if failed else str(out / "index.html")
    sys.stdout.write(f"docs: {told}\n")
    return 1 if failed else 0


def command(lang: str, out: Path) -> list[str]:
    """How Sphinx makes one language of docs/: every warning is told, and any is a failure."""
    options = ["-q", "-W", "--keep-going", "-E", "-b", "html", "-c", str(DOCS / "site")]
    folders = ["-d", str(out / ".doctrees" / lang), str(DOCS), str(out / lang)]
    return [sys.executable, "-m", "sphinx", *options, *folders]


def live_pages(folder: Path) -> None:
    """The pages that can be edited, which the site links to."""
    import jumok

    folder.mkdir(parents=True)
    for name, (first, *other) in LIVE.items():
        thing = jumok.load(first)
        page = jumok.draw(jumok.compare(thing, jumok.load(other[0])) if other else thing)
        page.save(folder / f"{name}.html")


def in_own_environment(arguments: list[str]) -> int:
    """Run this file again by a Python that has Sphinx, made once."""
    sys.path.insert(0, str(ROOT))
    from run import Trouble, environment, say

    try:
        python = environment(".venv-docs", "docs,cli", "constraints.txt", takes=("a minute", "1분"))
    except Trouble as trouble:
        say(trouble.en, trouble.ko)
        return 1
    return subprocess.run([str(python), str(Path(__file__)), *arguments], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
