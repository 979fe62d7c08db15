"""The sentences of ``jumok.explain``, from Python to the page, so that each is written once.

``python frontend/phrases.py`` writes src/explanation/phrases.json, and src/views/folding/phrases.json for the second program of
flash attention; with ``--check`` it fails where one is out of date.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from jumok import words
from jumok.explanation import phrases, variants
from jumok.explanation.explanation import LIST_KINDS
from jumok.sources.capture import cut_words

OF_THE_DOOR = ("only.chosen", "only.silent")  # the head that nobody chose: on a page somebody did
CUT_SENTENCES = ("cut", "way", "nothing", "numbers")  # the rest of a cut is tables on a page
SOURCES = Path(__file__).parent / "src"


def text() -> str:
    """The file as it should be: one entry a line, so that a change of one sentence is one line of a diff."""
    tables = {
        "titles": phrases.SECTION_TITLES,
        "phrases": {name: said for name, said in phrases.PHRASES.items() if name not in OF_THE_DOOR},
        "pieces": words.PIECES,
        "summary": phrases.SUMMARY,
        "stages": phrases.STAGE_PHRASES,
        "cuts": {name: said for name, said in cut_words.PHRASES.items() if name.split(".")[0] in CUT_SENTENCES},
    }
    lists = {"lists": sorted(LIST_KINDS), "small": words.SMALL_WORDS}
    parts = [f"{_json(name)}: {_lines(table)}" for name, table in tables.items()]
    parts += [f"{_json(name)}: {_json(words)}" for name, words in lists.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def text_of_flash() -> str:
    """The same for the sentences of flash attention."""
    flash = {name: said for name, said in variants.PHRASES.items() if name.startswith("flash.")}
    return _lines({"title": variants.TITLES["flash"], **flash}) + "\n"


FILES = {"explanation/phrases.json": text, "views/folding/phrases.json": text_of_flash}


def _lines(table: dict[str, object]) -> str:
    return "{\n" + ",\n".join(f"  {_json(key)}: {_json(value)}" for key, value in table.items()) + "\n}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def main() -> str | None:
    """Write the files, or say which is out of date."""
    for name, made in FILES.items():
        file = SOURCES / name
        if "--check" not in sys.argv[1:]:
            file.write_text(made(), encoding="utf-8", newline="\n")
        elif not file.is_file() or file.read_text(encoding="utf-8") != made():
            return f"{name} is out of date: run python frontend/phrases.py"
    return None


if __name__ == "__main__":
    sys.exit(main())
