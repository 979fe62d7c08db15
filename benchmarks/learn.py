"""Every standard task over five seeds: what it reaches, in which time, and what emerges. Failures are shown.

    python benchmarks/learn.py [--seeds 5] [--tasks pronoun sort …]

One thread. Seconds are the process's own (CPU), beside those on the wall, since other programs may be running.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from typing import Any

import jumok

TASKS = ("student", "previous", "homonym", "subject-verb", "pronoun", "sort", "repeat")
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {  # what else is shown
    "repeat, one layer": ("repeat", {"n_layers": 1}),
    "pronoun, one layer": ("pronoun", {"n_layers": 1}),
    "sort, two heads": ("sort", {"n_heads": 2}),
}
LEAST = 0.99
MOST_KL = 1e-6
MOST_S = 60.0
NEAR_GUESSING = 0.05
HEADERS = (
    "task", "seed", "held out", "without attention", "CPU s (wall)", "head", "reads (baseline)", "without it",
    "least without another of its layer", "appeared", "rise", "",
)  # fmt: skip


def row(name: str, seed: int) -> tuple[str, ...]:
    """One run, as the cells of a table."""
    task, asked = VARIANTS.get(name, (name, {}))
    cpu, wall = time.process_time(), time.perf_counter()
    learned = jumok.learn(task, seed=seed, **asked)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    emerged = dict(learned.emerged or {})
    return (
        name,
        str(seed),
        f"KL {learned.loss:.1e}" if task == "student" else f"{learned.accuracy:.4f}",
        "" if task == "student" else f"{emerged['alone']:.3f}",
        f"{cpu:.1f} ({wall:.0f})",
        *_head(emerged),
        str(emerged["appeared"] or ""),
        "–".join(map(str, emerged["rise"] or ())),
        _verdict(name, learned, cpu),
    )


def _head(emerged: dict[str, Any]) -> tuple[str, str, str, str]:
    """The head that carries the task, what it reads, and what is left without it, and without another of its layer."""
    if emerged["carrier"] is None:
        return "none", "", "", ""
    layer, head = emerged["carrier"]
    reads = "" if emerged["reads"] is None else f"{emerged['reads'][layer][head]:.3f} ({emerged['baseline']:.3f})"
    others = [left for at, left in enumerate(emerged["without"][layer]) if at != head]
    shared = ", shared" if emerged["shared"] else ""
    return (
        f"layer {layer}, head {head}",
        reads,
        f"{emerged['without'][layer][head]:.3f}",
        f"{min(others):.3f}{shared}" if others else "",
    )


def _verdict(name: str, learned: Any, seconds: float) -> str:
    """What was not reached."""
    emerged = learned.emerged
    if name == "repeat, one layer":
        over = learned.accuracy - emerged["guess"]
        return f"guessing {emerged['guess']:.3f}" + ("" if over < NEAR_GUESSING else ": MISSED")
    if name == "pronoun, one layer":
        return "" if learned.accuracy < LEAST else "MISSED: one layer does it too"
    short = learned.loss >= MOST_KL if name == "student" else learned.accuracy < LEAST
    missed = [said for said, true in (("accuracy", short), ("time", seconds > MOST_S)) if true]
    return "MISSED: " + ", ".join(missed) if missed else ""


def table(names: Sequence[str], seeds: int) -> Iterator[str]:
    """The lines, each as soon as it is known."""
    yield "| " + " | ".join(HEADERS) + " |"
    yield "|" + "---|" * len(HEADERS)
    for name in names:
        for seed in range(seeds):
            yield "| " + " | ".join(row(name, seed)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--tasks", nargs="*", default=[*TASKS, *VARIANTS])
    asked = parser.parse_args()
    for line in table(asked.tasks, asked.seeds):
        print(line, flush=True)


if __name__ == "__main__":
    main()
