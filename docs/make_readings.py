"""Make the packaged readings anew: ``python docs/make_readings.py`` (needs the extras ``demo`` and ``learn``).

What the real model reads is kept in half precision, which the records say (``source.exact``); steps of the training as they are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

import jumok
from jumok.trace import Reading, Trace

HERE = Path(__file__).parents[1] / "src" / "jumok" / "readings"
MODEL = "all-MiniLM-L6-v2"
SENTENCES: dict[str, tuple[str, Collection[int] | None]] = {  # name → the sentence, and the layers that are kept
    "minilm-tired": ("The cat sat on the mat because it was tired.", None),
    "minilm-soft": ("The cat sat on the mat because it was soft.", (2, 3, 5)),
}
STEPS = {f"learned-{step}": step for step in (0, 5, 20, 1200)}  # of jumok.learn("student"), name → step


def halved(reading: Reading) -> Reading:
    """The same reading with q, k and v in half precision, saying so, and called by its last words: a page holds two of them."""
    ending = " ".join(reading.source.details["sentence"].split()[-3:])
    told = {"exact": False, "name": f"{MODEL}: … {ending}"}
    return Reading([_halved(trace, told) for trace in reading], dataclasses.replace(reading.source, **told))


def _halved(trace: Trace, told: dict[str, Any]) -> Trace:
    rounded = {name: getattr(trace, name).astype(np.float16) for name in ("q", "k", "v")}
    return dataclasses.replace(trace, **rounded, source=dataclasses.replace(trace.source, **told))


def titled(trace: Trace, step: int) -> Trace:
    """A step of the training with a title of its own, by which the page tells it from the others."""
    title = {"en": f"Step {step:,} of the training: the row of 'studies'", "ko": f"학습 {step:,}단계: 'studies'의 행"}
    source = dataclasses.replace(trace.source, details={**trace.source.details, "title": title})
    return dataclasses.replace(trace, source=source)


def main() -> None:
    """Write each of them."""
    for name, (sentence, layers) in SENTENCES.items():
        halved(jumok.capture("demo", sentence, layers=layers)).save(HERE / f"{name}.safetensors")
    history = jumok.learn("student").history
    for name, step in STEPS.items():
        titled(history.trace(step), step).save(HERE / f"{name}.safetensors")


if __name__ == "__main__":
    main()
