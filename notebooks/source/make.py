#!/usr/bin/env python3
"""The notebooks, made from the texts beside this: ``python notebooks/source/make.py`` writes and runs them, ``--check`` compares.

A source is Markdown: what follows ``<!-- en -->`` and ``<!-- ko -->`` is the same text in two languages, a block of Python is a cell
of both, and ``{lang}`` in it is the language. Of each source come NAME.ipynb and NAME.ko.ipynb for Jupyter, with what
their cells show, and NAME.py and NAME.ko.py for marimo. Nobody edits these: edit the source, run this.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parent
HERE = SOURCE.parent
NAMES = ("see", "design", "learn", "capture", "measure")
LANGS = ("en", "ko")
PART = re.compile(
    r"^<!-- (?P<lang>en|ko) -->\n(?P<text>.*?)(?=^<!-- |^```python\n|\Z)|^```python\n(?P<code>.*?)^```$", re.S | re.M
)
SHOWN = ("text/plain", "image/svg+xml", "image/png", "text/markdown")  # of what a cell shows, what is kept: no program
WAIT_S = 300

Notebook = dict[str, Any]


def main(arguments: Sequence[str]) -> int:
    """Write all notebooks, or say which are not what their sources make."""
    parser = argparse.ArgumentParser(description="Make the notebooks from notebooks/source.")
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    options = parser.parse_args(arguments)
    if options.check:
        stale = list(differing())
        print(
            "\n".join(f"stale: {name}. Run python notebooks/source/make.py" for name in stale)
            or "all as their sources make them"
        )
        return 1 if stale else 0
    made = {(name, lang): notebook(name, lang) for name in NAMES for lang in LANGS}
    for (name, lang), ran in zip(made, executed(list(made.values())), strict=True):
        path_of(name, lang, ".ipynb").write_text(as_text(ran), encoding="utf-8")
        path_of(name, lang, ".py").write_text(marimo(made[name, lang]), encoding="utf-8")
    return 0


def path_of(name: str, lang: str, suffix: str) -> Path:
    """Where a notebook lies: see.ipynb, see.ko.ipynb."""
    return HERE / f"{name}{'' if lang == 'en' else '.' + lang}{suffix}"


def differing() -> Iterator[str]:
    """The files that are not what their sources make, whatever their cells show."""
    for name in NAMES:
        for lang in LANGS:
            made = notebook(name, lang)
            jupyter, python = path_of(name, lang, ".ipynb"), path_of(name, lang, ".py")
            if without_outputs(json.loads(jupyter.read_text(encoding="utf-8"))) != made:
                yield jupyter.name
            if python.read_text(encoding="utf-8") != marimo(made):
                yield python.name


# From a source to a notebook


def notebook(name: str, lang: str) -> Notebook:
    """What Jupyter reads (nbformat 4.5), nothing run yet."""
    text = (SOURCE / f"{name}.md").read_text(encoding="utf-8")
    cells = [{"id": f"{name}-{at}", **cell} for at, cell in enumerate(cells_of(text, lang))]
    metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
    }
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}


def cells_of(text: str, lang: str) -> Iterator[dict[str, Any]]:
    """The cells of one language, in order."""
    if PART.sub("", text).strip():
        raise ValueError(f"belongs to no language: {PART.sub('', text).strip()[:80]!r}")
    for part in PART.finditer(text):
        if part["code"] is not None:
            source = part["code"].strip().replace("{lang}", lang)
            yield {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": source}
        elif part["lang"] == lang:
            yield {"cell_type": "markdown", "metadata": {}, "source": part["text"].strip()}


def marimo(made: Notebook) -> str:
    """The same for marimo, as ``marimo convert`` writes it."""
    from marimo._convert.converters import MarimoConvert  # the command's own way; a process for each file takes longer

    return str(MarimoConvert.from_ipynb(json.dumps(made)).to_py())


# Run


def executed(notebooks: Sequence[Notebook]) -> list[Notebook]:
    """Each notebook with what its cells show. They share a kernel, so that PyTorch is loaded once, and no names.

    Errors: nbclient's ``CellExecutionError`` where a cell fails.
    """
    import nbformat
    from nbclient import NotebookClient

    forget: dict[str, Any] = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": "%reset -f"}
    cells = [cell for made in notebooks for cell in (*made["cells"], forget)]
    joined = {**notebooks[0], "cells": [{**cell, "id": f"joined-{at}"} for at, cell in enumerate(cells)]}
    read = nbformat.reads(json.dumps(joined), as_version=4)  # type: ignore[no-untyped-call]
    ran = iter(NotebookClient(read, timeout=WAIT_S, resources={"metadata": {"path": str(HERE)}}).execute().cells)
    found = []
    for made in notebooks:
        whole = [{**json.loads(json.dumps(next(ran))), "id": cell["id"]} for cell in made["cells"]]
        found.append(tidy({**made, "cells": whole}))
        next(ran)  # the one that forgets
    return found


def tidy(ran: Notebook) -> Notebook:
    """Without times, warnings of libraries, and programs: a live view leaves its still picture."""
    number = 0
    for cell in ran["cells"]:
        cell["metadata"] = {}
        if cell["cell_type"] == "code":
            cell["execution_count"] = number = number + 1
            cell["outputs"] = [
                tidy_output(output, number) for output in cell["outputs"] if output.get("name") != "stderr"
            ]
    return ran


def tidy_output(output: dict[str, Any], number: int) -> dict[str, Any]:
    """What a cell shows, in forms that need no program."""
    if "data" in output:
        output["data"] = {kind: output["data"][kind] for kind in SHOWN if kind in output["data"]}
        output["metadata"] = {}
    if "execution_count" in output:
        output["execution_count"] = number
    return output


def without_outputs(ran: Notebook) -> Notebook:
    """A notebook as it was before it ran."""
    plain: Notebook = json.loads(json.dumps(ran))
    for cell in plain["cells"]:
        if isinstance(cell["source"], list):
            cell["source"] = "".join(cell["source"])
        if cell["cell_type"] == "code":
            cell.update(outputs=[], execution_count=None)
    return plain


def as_text(ran: Notebook) -> str:
    """A notebook as a file."""
    return json.dumps(ran, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
