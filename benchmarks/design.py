"""How long ``jumok.design`` takes, whole, beside CVXPY with Clarabel on the same task: ``python benchmarks/design.py``.

One thread (another number with OPENBLAS_NUM_THREADS). Medians over random tasks, from arrays to a finished ``Design``; for
CVXPY from arrays to the solution, in the faster of the ways of writing the task that were tried. The ratio is the median over
rounds, each of which solves the same task with both. Sentences that share weights are designed in a fresh process, whose
peak memory counts NumPy and all; with ``--quick`` they are left out.
"""

import importlib
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import jumok

cp: Any = importlib.import_module("cvxpy")  # without types

GAP = 1e-8  # nats: what counts as solved
ROUNDS = 7
TARGETS = {
    "exact, n = d = 64": "15 ms",
    "not reachable, n = 200, d = 64": "100 ms",
    "not reachable, n = 30, d = 16": "",
    "the same, CVXPY": "",
    "the same, ratio": "300 ×",
    "CVXPY written row by row, ratio": "300 ×",
    "50 sentences, 2,000 tokens, d = 128": "10 s, 1 GB",
    "the same, causal": "10 s, 1 GB",
}


def main(arguments: list[str]) -> int:
    """Print the table; ``--sentences RULE`` is the fresh process."""
    if arguments[:1] == ["--sentences"]:
        print(json.dumps(sentences(arguments[1])))
        return 0
    print(f"{'jumok.design':<40}{'median':>12}{'target':>14}   threads: {os.environ['OPENBLAS_NUM_THREADS']}")
    found = measured()
    if "--quick" not in arguments:
        for name, rule in (("50 sentences, 2,000 tokens, d = 128", "none"), ("the same, causal", "causal")):
            found[name] = in_a_fresh_process(rule)
    for name, value in found.items():
        print(f"{name:<40}{value:>12}{TARGETS[name]:>14}", flush=True)
    return 0


def measured() -> dict[str, str]:
    """The short ones, in milliseconds."""
    exact = median_ms(lambda task: solved(task, 1e-10), [random_task(64, 64, seed) for seed in range(31)])
    large = median_ms(solved, [random_task(200, 64, seed) for seed in range(15)])
    mine, theirs, by_rows = [], [], []
    for seed in range(ROUNDS):
        task = random_task(30, 16, seed)
        theirs.append(median_ms(by_cvxpy, [task]))
        by_rows.append(median_ms(by_cvxpy_row_by_row, [task]))
        mine.append(median_ms(solved, [task] * 11))
    ratio = statistics.median(b / a for a, b in zip(mine, theirs, strict=True))
    slow = statistics.median(b / a for a, b in zip(mine, by_rows, strict=True))
    return {
        "exact, n = d = 64": f"{exact:.1f} ms",
        "not reachable, n = 200, d = 64": f"{large:.1f} ms",
        "not reachable, n = 30, d = 16": f"{statistics.median(mine):.2f} ms",
        "the same, CVXPY": f"{statistics.median(theirs):.0f} ms",
        "the same, ratio": f"{ratio:.0f} ×",
        "CVXPY written row by row, ratio": f"{slow:.0f} ×",
    }


def random_task(n: int, d: int, seed: int) -> tuple[Any, Any]:
    """Embeddings (token, d_model) and a wanted table (query, key) with no cell below 1e-6 or so."""
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.full(n, 0.5), n) + 1e-6
    return rng.standard_normal((n, d)), table / table.sum(axis=1, keepdims=True)


def median_ms(work: Callable[[tuple[Any, Any]], Any], tasks: list[tuple[Any, Any]]) -> float:
    """Milliseconds; one run before does not count."""
    times_ms = []
    for task in [tasks[0], *tasks]:
        start = time.perf_counter()
        work(task)
        times_ms.append(1000 * (time.perf_counter() - start))
    return statistics.median(times_ms[1:])


def solved(task: tuple[Any, Any], off: float = math.inf) -> jumok.Design:
    """A design whose gap and distance are what the target asks for."""
    found = jumok.design(*task)
    assert found.gap < GAP
    assert off == math.inf or np.nanmax(found.row_difference) <= off
    return found


def by_cvxpy(task: tuple[Any, Any]) -> float:
    """The least Σ KL, up to a constant: Σ log Σ exp(scores) − ⟨wanted, scores⟩, one log-sum-exp atom for all rows.

    Written with exponential cones alone (Σ exp(scores − t) ≤ 1 in each row) it takes as long or longer.
    """
    x, table = task
    form = cp.Variable((x.shape[1], x.shape[1]))
    scores = (x / math.sqrt(x.shape[1])) @ form @ x.T
    total = cp.sum(cp.log_sum_exp(scores, axis=1)) - cp.sum(cp.multiply(table, scores))
    return float(cp.Problem(cp.Minimize(total)).solve(solver="CLARABEL"))


def by_cvxpy_row_by_row(task: tuple[Any, Any]) -> float:
    """The same, as a formula on paper reads: one log-sum-exp for each row."""
    x, table = task
    form = cp.Variable((x.shape[1], x.shape[1]))
    scores = (x / math.sqrt(x.shape[1])) @ form @ x.T
    total = sum(cp.log_sum_exp(scores[i]) - table[i] @ scores[i] for i in range(len(x)))
    return float(cp.Problem(cp.Minimize(total)).solve(solver="CLARABEL"))


def in_a_fresh_process(rule: str) -> str:
    """Seconds and peak memory of the task with many sentences."""
    command = [sys.executable, __file__, "--sentences", rule]
    told = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
    return f"{told['time_s']:.1f} s, {told['peak_mb']:.0f} MB"


def sentences(rule: str) -> dict[str, float]:
    """50 sentences of 20 to 60 tokens, 2,000 in all, that share W_Q and W_K."""
    rng = np.random.default_rng(0)
    lengths = [int(n) for n in np.linspace(20, 60, 50).round()]
    xs = [rng.standard_normal((n, 128)) for n in lengths]
    tables = [rng.dirichlet(np.full(n, 0.5), n) + 1e-6 for n in lengths]
    if rule == "causal":
        tables = [np.tril(table) for table in tables]
    tables = [table / table.sum(axis=1, keepdims=True) for table in tables]
    assert sum(lengths) == 2000
    start = time.perf_counter()
    found = jumok.design(xs, tables, rule=None if rule == "none" else [rule] * 50)
    time_s = time.perf_counter() - start
    assert found.gap < GAP
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"time_s": time_s, "peak_mb": peak_mb, "gap": found.gap}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
