#!/usr/bin/env python3
"""The gallery's pictures and sentences, by running every script in both languages: ``python gallery/pictures/run_all.py``.

``--encoder demo --decoder FOLDER`` gives the two of Hugging Face real weights, as in what is committed.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
NAMES = (
    "nano_gpt", "hf_encoder", "hf_decoder", "timm_vit", "torch_encoder", "korean_pair", "long_document", "sliding_window",
    "cross_attention", "hand_written",
)  # fmt: skip
LANGS = ("en", "ko")
MOST_WIDE, MOST_HIGH = 640, 1000  # pixels
SAID = HERE / "said.json"


def script(name: str) -> Any:
    """One of the scripts, as a module."""
    folder = str(HERE.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(name)


def scale(picture: Any) -> float:
    """At most as large as the page shows it; 270 heads are seen from further away."""
    width, height = (int(size) for size in re.findall(r'(?:width|height)="(\d+)"', picture.svg())[:2])
    return min(1, MOST_WIDE / width, MOST_HIGH / height)


def main() -> None:
    """Run all of them."""
    parser = argparse.ArgumentParser(description="Make the gallery's pictures.")
    parser.add_argument("--encoder", help="for hf_encoder.py")
    parser.add_argument("--decoder", help="for hf_decoder.py")
    options = vars(parser.parse_args())
    said: dict[str, dict[str, str]] = {}
    for name in NAMES:
        given = [options[name.removeprefix("hf_")]] if name.startswith("hf_") else []
        said[name] = {}
        for lang in LANGS:
            said[name][lang], picture = script(name).look(lang, *given)
            (HERE / f"{name}.{lang}.png").write_bytes(picture.png(scale=scale(picture)))
    SAID.write_text(json.dumps(said, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
