"""The sentences of ``jumok.explain``, from Python to the page, so that each is written once.

``python frontend/phrases.py`` writes src/explanation/phrases.json; with ``--check`` it fails where that is out of date.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from jumok import words
from jumok.explanation import phrases
from jumok.explanation.explanation import LIST_KINDS
from jumok.sources.capture import cut_words

OF_THE_DOOR = ("only.chosen", "only.silent")  # the head that nobody chose: on a page somebody did
CUT_SENTENCES = ("cut", "way", "nothing", "numbers")  # the rest of a cut is tables on a page
FILE = Path(__file__).parent / "src" / "explanation" / "phrases.json"


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


def _lines(table: dict[str, object]) -> str:
    return "{\n" + ",\n".join(f"  {_json(key)}: {_json(value)}" for key, value in table.items()) + "\n}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def main() -> str | None:
    """Write the file, or say that it is out of date."""
    if "--check" not in sys.argv[1:]:
        FILE.write_text(text(), encoding="utf-8", newline="\n")
    elif not FILE.is_file() or FILE.read_text(encoding="utf-8") != text():
        return f"{FILE.name} is out of date: run python frontend/phrases.py"
    return None


if __name__ == "__main__":
    sys.exit(main())
