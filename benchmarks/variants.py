"""jumok's attention variants beside their peers, in one run: ``python benchmarks/variants.py``.

    python benchmarks/variants.py --quick
    python benchmarks/variants.py --threads 2

8 heads, d = 64, single precision, one processor (``--threads`` for more; the process is pinned to that many). What is compared
runs in turns, a round of each after the other, and a ratio is the median over rounds of the ratio within a round. First every
peer's result is held to jumok's. Peers: PyTorch's fused call without a mask, causal, and with an n × n mask of the window;
FlexAttention, where there is a C++ compiler (its compilation is told apart; not with ``--quick``); a naive loop over the queries;
matmul-softmax-matmul in PyTorch and in NumPy. Growth is what ``jumok.cost`` says in fresh processes, their median (threads that PyTorch left waiting slow
down what NumPy does next). Memory of PyTorch is a fresh process's own peak.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch.nn import functional

import jumok
from jumok import variants
from jumok.variants.machine import machine

HEADS, D, WINDOW = 8, 64, 256
SCALE = 1 / math.sqrt(D)
ROUNDS = 3
SETTINGS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
GROWTH = {  # where growth is fitted, and the libraries on which
    "full": (2048, 8192, ("numpy",)),
    "flash": (2048, 16384, ("torch", "numpy")),
    "window": (2048, 32768, ("torch", "numpy")),
    "linear": (2048, 32768, ("torch", "numpy")),
}


@dataclasses.dataclass(frozen=True)
class Sizes:
    """How large everything is. growth_s : of measuring, for each run of jumok.cost;  has_flex : whether FlexAttention is run"""

    window: int = 16384
    flash: int = 8192
    memory: tuple[int, ...] = (8192, 16384, 32768)
    growth: int = 1  # what the n of growth are divided by
    growth_s: float = 60.0
    has_flex: bool = True


QUICK = Sizes(window=1024, flash=1024, memory=(1024, 2048), growth=16, growth_s=1.5, has_flex=False)

Run = Callable[[], Any]
Row = tuple[str, str, str]  # what, measured, target


def main() -> None:
    parser = argparse.ArgumentParser(description="jumok's attention variants beside their peers.")
    parser.add_argument("--quick", action="store_true", help="small sizes, no FlexAttention; no figures to trust")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--memory", help=argparse.SUPPRESS)  # a fresh process: variant:n
    parser.add_argument("--growth", help=argparse.SUPPRESS)  # a fresh process: variant:library:seconds:n,n,…
    given = parser.parse_args()
    pinned(given.threads)
    if given.memory is not None:
        variant, n = given.memory.split(":")
        print(json.dumps(machine("torch").warmed(ours(variant, int(n)))[1]))
        return
    if given.growth is not None:
        print(json.dumps(grown(*given.growth.split(":"))))
        return
    sizes, began = QUICK if given.quick else Sizes(), time.perf_counter()
    print(
        f"torch {torch.__version__}, numpy {np.__version__}; threads: {given.threads}\n{'':<66}{'measured':>10}   target"
    )
    for part in (windows, flash_on_torch, flash_on_numpy, growth, memory):
        for what, measured, target in part(sizes):
            print(f"{what:<66}{measured:>10}   {target}", flush=True)
    print(f"took {time.perf_counter() - began:.0f} s; load {os.getloadavg()[0]:.1f}{'; quick' if given.quick else ''}")


def pinned(threads: int) -> None:
    """On so many processors and no others; begun anew where NumPy was loaded with another number of threads."""
    if any(os.environ.get(name) != str(threads) for name in SETTINGS):
        os.environ.update(dict.fromkeys(SETTINGS, str(threads)))
        os.execv(sys.executable, [sys.executable, *sys.argv])
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    torch.set_num_threads(threads)


# the parts ----------------------------------------------------------------------------------------


def windows(sizes: Sizes) -> list[Row]:
    """A window of 256, and linear attention, beside fused calls and a loop."""
    n = sizes.window
    q, k, v = drawn(n)
    began = time.perf_counter()
    mask = window_mask(n)
    mask_s = time.perf_counter() - began
    runs: dict[str, Run] = {
        "window": lambda: variants.window(q, k, v, "causal", n_back=WINDOW - 1),
        "linear": lambda: variants.linear(q, k, v, "causal"),
        "masked": lambda: functional.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=mask)[0],
        "causal": lambda: functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0],
        "loop": lambda: looped(q, k, v),
    }
    flex, compile_s = flexed(q, k, v) if sizes.has_flex else (None, 0.0)
    runs |= {} if flex is None else {"flex": flex}
    for peer in ("masked", "loop", "flex"):
        if peer in runs:
            agree(peer, runs["window"](), runs[peer]())
    times = in_turns(runs)
    rows = [(f"window of {WINDOW}, PyTorch, n = {n:,}", ms(times["window"]), "")]
    if flex is not None:
        rows += [
            ("  FlexAttention", ms(times["flex"]), ""),
            ("  its first compilation", f"{compile_s:.1f} s", ""),
            ("  window : FlexAttention", ratio(times, "window", "flex"), "1.05 at most (aim 0.9)"),
        ]
    else:
        rows.append(("  FlexAttention", "not run", "needs a C++ compiler; not with --quick"))
    return [
        *rows,
        (
            f"  fused call with an n × n mask ({mask.nbytes / 1e6:,.0f} MB, made in {mask_s:.1f} s)",
            ms(times["masked"]),
            "",
        ),
        ("  fused call with a mask : window", ratio(times, "masked", "window"), "20 at least"),
        ("  fused call, causal, no window : window", ratio(times, "causal", "window"), ""),
        ("  a naive loop over the queries : window", ratio(times, "loop", "window"), ""),
        ("linear, causal, PyTorch", ms(times["linear"]), ""),
        ("  linear : window", ratio(times, "linear", "window"), "1.1 at most"),
    ]


def flash_on_torch(sizes: Sizes) -> list[Row]:
    """Flash beside the fused call that it is, and matmul-softmax-matmul."""
    q, k, v = drawn(sizes.flash)
    runs: dict[str, Run] = {
        "flash": lambda: variants.flash(q, k, v),
        "fused": lambda: functional.scaled_dot_product_attention(q[None], k[None], v[None])[0],
        "naive": lambda: torch.softmax(q @ k.transpose(-1, -2) * SCALE, -1) @ v,
    }
    agree("naive", runs["flash"](), runs["naive"]())
    times = in_turns(runs)
    return [
        (f"flash, PyTorch, n = {sizes.flash:,}", ms(times["flash"]), ""),
        ("  flash : fused call", ratio(times, "flash", "fused"), "1.03 at most"),
        ("  matmul-softmax-matmul : flash", ratio(times, "naive", "flash"), ""),
    ]


def flash_on_numpy(sizes: Sizes) -> list[Row]:
    """Flash beside matmul-softmax-matmul, in NumPy."""
    q, k, v = (a.numpy() for a in drawn(sizes.flash))
    runs: dict[str, Run] = {"flash": lambda: variants.flash(q, k, v), "naive": lambda: naive_numpy(q, k, v)}
    agree("naive NumPy", runs["flash"](), runs["naive"]())
    here = machine("numpy")
    held = {name: here.warmed(run)[1] or 0 for name, run in runs.items()}
    times = in_turns(runs)
    return [
        (f"flash, NumPy, n = {sizes.flash:,}", ms(times["flash"]), ""),
        ("  flash : NumPy naive", ratio(times, "flash", "naive"), "0.5 at most"),
        (
            f"  memory ({held['flash'] / 1e6:,.0f} MB : {held['naive'] / 1e6:,.0f} MB)",
            f"{held['flash'] / held['naive']:.3f}",
            "0.05 at most",
        ),
    ]


def growth(sizes: Sizes) -> list[Row]:
    """Exponents of time, fitted by jumok.cost, on both libraries: the median of a few processes, and the least and the most."""
    rows = []
    for variant, (low, high, libraries) in GROWTH.items():
        first, last = low // sizes.growth, high // sizes.growth
        ns = [first << at for at in range((last // first).bit_length())]
        for library in libraries:
            asked = f"{variant}:{library}:{sizes.growth_s}:{','.join(map(str, ns))}"
            runs = [in_a_fresh_process("--growth", asked) for _ in range(ROUNDS)]
            _, predicted, points = runs[0]
            found = [exponent for exponent, *_ in runs if exponent is not None]
            said = f"{statistics.median(found):.2f}" if found else "too slow"
            said += f" ({min(found):.2f} to {max(found):.2f})" if len(found) > 1 else ""
            span = f"{points[0]:,} to {points[-1]:,}" if points else f"{first:,}"
            rows.append((f"growth of {variant}, {library}, n = {span}: n^", said, f"{predicted:g} ± 0.15"))
    return rows


def grown(variant: str, library: str, seconds: str, ns: str) -> tuple[float | None, float, list[int]]:
    """(exponent, the one predicted, the n that were measured)."""
    found = jumok.cost(
        n=[int(n) for n in ns.split(",")], n_heads=HEADS, d_head=D, variants=variant, window=WINDOW, library=library,
        budget_s=float(seconds),
    )  # fmt: skip
    (one,) = found.growth
    return one.exponent, one.predicted, list(one.points)


def memory(sizes: Sizes) -> list[Row]:
    """Memory beyond q, k and v in a fresh process, and how it grows."""
    rows = []
    for variant in ("window", "flash", "linear"):
        held = [int(in_a_fresh_process("--memory", f"{variant}:{n}") or 0) for n in sizes.memory]
        if not all(held):
            rows.append((f"memory of {variant}, PyTorch", "not told", "grows as n"))
            continue
        slope = math.log(held[-1] / held[0]) / math.log(sizes.memory[-1] / sizes.memory[0])
        rows.append(
            (
                f"memory of {variant}, PyTorch ({held[-1] / 1e6:,.0f} MB at {sizes.memory[-1]:,}), grows as n^",
                f"{slope:.2f}",
                "1",
            )
        )
    return rows


# what runs ----------------------------------------------------------------------------------------


def drawn(n: int) -> list[torch.Tensor]:
    """q, k and v (head, token, d) of N(0, 1)."""
    draw = torch.Generator().manual_seed(0)
    return [torch.randn(HEADS, n, D, generator=draw) for _ in range(3)]


def ours(variant: str, n: int) -> Run:
    q, k, v = drawn(n)
    options = {"n_back": WINDOW - 1} if variant == "window" else {}
    return lambda: getattr(variants, variant)(q, k, v, "causal", **options)


def window_mask(n: int) -> torch.Tensor:
    at = torch.arange(n)
    back = at[:, None] - at[None, :]
    return (back >= 0) & (back < WINDOW)


def looped(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """One query after another with the keys of its window."""
    mixed = torch.empty_like(q)
    for i in range(q.shape[1]):
        near = slice(max(0, i - WINDOW + 1), i + 1)
        weights = torch.softmax(q[:, i : i + 1] @ k[:, near].transpose(-1, -2) * SCALE, -1)
        mixed[:, i : i + 1] = weights @ v[:, near]
    return mixed


def naive_numpy(q: Any, k: Any, v: Any) -> Any:
    scores = q @ k.transpose(0, 2, 1)
    scores *= np.float32(SCALE)
    scores -= scores.max(-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(-1, keepdims=True)
    return scores @ v


def flexed(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> tuple[Run | None, float]:
    """FlexAttention, compiled for this length, and what that took; None where there is no compiler."""
    if shutil.which(os.environ.get("CXX", "g++")) is None:
        return None, 0.0
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    n = q.shape[1]
    near: Any = lambda _b, _h, i, j: (i >= j) & (i - j < WINDOW)  # noqa: E731
    blocks = create_block_mask(near, None, None, n, n, device="cpu")
    compiled: Any = torch.compile(flex_attention, dynamic=False)
    run: Run = lambda: compiled(q[None], k[None], v[None], block_mask=blocks)[0]  # noqa: E731
    began = time.perf_counter()
    with torch.no_grad():
        run()
    return run, time.perf_counter() - began


# how it is measured -------------------------------------------------------------------------------


def in_turns(runs: Mapping[str, Run]) -> dict[str, list[float]]:
    """Seconds of each round, a round of each run after the other; the first round warms up."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    with torch.no_grad():
        for at in range(ROUNDS + 1):
            for name, run in runs.items():
                began = time.perf_counter()
                run()
                if at:
                    times[name].append(time.perf_counter() - began)
    return times


def ms(times: list[float]) -> str:
    return f"{1e3 * statistics.median(times):,.0f} ms"


def ratio(times: Mapping[str, list[float]], one: str, other: str) -> str:
    return f"{statistics.median(a / b for a, b in zip(times[one], times[other], strict=True)):.2f}"


def agree(name: str, ours: Any, theirs: Any) -> None:
    """Refuse to time what computes something else."""
    difference = float(abs(ours - theirs).max())
    if not difference < 1e-4:
        raise SystemExit(f"{name} differs from jumok by {difference:.2g}")


def in_a_fresh_process(option: str, asked: str) -> Any:
    command = [sys.executable, __file__, "--threads", str(torch.get_num_threads()), option, asked]
    done = subprocess.run(command, capture_output=True, check=True, encoding="utf-8")
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
