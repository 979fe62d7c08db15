"""Variants run and timed, within a budget of seconds and of bytes; what is beyond either is predicted, and marked so."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InputError, TooLargeError
from ..path.checked import count
from ..path.rule import Rule
from .cost_formulas import Operations, Sizes
from .cost_kinds import Kind, Settings
from .machine import Machine
from .routes import Route, route

__all__ = ["Bench", "CostRow"]

RUNS = (3, 7)  # of which the median counts: fewer where one takes long
SHORT_S = 1.0  # where all the runs that are wanted together take less, there are as many as may be
TRIAL_N = 256  # tokens of the run that tells a variant's first pace
PEAK_SHARE = 0.1  # of the budget, for the machine's peak
SHARE = 0.8  # of the free memory that one run may take
MARGIN = 1.25  # a run may hold this much more than the formula says


@dataclass(frozen=True)
class CostRow:
    """One variant at one n.

    multiply_adds, exponentials, moved_bytes, held_bytes : by formula, see ``cost_formulas.Operations``
    time_s : the median of ``n_runs`` runs; where ``is_measured`` is False predicted: as many multiply-adds a second as at the
        largest n that was measured; None where nothing was
    peak_bytes : memory held at once besides q, k and v: measured, or predicted as the time is, by the formula's growth from
        the largest n that was measured; None where nothing was
    spread : how many times as long as the shortest of the runs the longest took
    why : why it was not measured: "memory", "budget" or "stopped"
    """

    variant: str
    n: int
    multiply_adds: int
    exponentials: int
    moved_bytes: int
    held_bytes: int
    time_s: float | None = None
    is_measured: bool = False
    n_runs: int = 0
    peak_bytes: int | None = None
    why: str | None = None
    spread: float | None = None


class Bench:
    """Where variants are measured.

    rows : what was found so far;  peak : multiply-adds a second of a plain product of matrices
    routes : which lines computed each variant at its largest n
    is_stopped : True where somebody ended it;  refused : variants that cannot follow a Trace's rule, and why
    """

    def __init__(
        self, machine: Machine, settings: Settings, budget_s: float, memory_bytes: int | None, trace: Any = None
    ) -> None:
        self.machine, self.settings, self.budget_s, self.trace = machine, settings, budget_s, trace
        free = machine.free_bytes()
        most = math.inf if free is None else SHARE * free
        self.most_bytes: float = most if memory_bytes is None else count("memory_bytes", memory_bytes)
        self.rows: list[CostRow] = []
        self.peak: float | None = None
        self.is_stopped = False
        self.refused: dict[str, InputError] = {}
        self.routes: dict[str, Route] = {}
        self._pace: dict[str, float] = {}  # seconds a multiply-add
        self._more: dict[str, float] = {}  # bytes measured for each byte of the formula
        self._given: tuple[Sizes, list[Any]] | None = None  # q, k and v of the last size
        self._until = 0.0
        self._known: dict[tuple[Sizes, Kind], Operations] = {}

    def measure(
        self, sizes: Sequence[Sizes], kinds: Mapping[str, Kind], progress: Callable[..., object] | None = None
    ) -> None:
        """Every variant at every size: always what takes least next, so that one slow variant leaves the others their time."""
        wanted = {name: list(sizes) for name in kinds}
        found: dict[tuple[int, str], CostRow] = {}
        try:
            if self.budget_s:
                self._begin(sizes[0], kinds)
            wanted = {name: list(sizes) for name in kinds if name not in self.refused}
            n_rows = sum(map(len, wanted.values()))
            while any(wanted.values()):
                name = min(
                    (one for one in wanted if wanted[one]), key=lambda one: self._least(wanted[one][0], one, kinds)
                )
                size = wanted[name][0]
                if progress is not None:
                    progress(len(found), n_rows, name, size.n_queries)
                found[size.n_queries, name] = self._row(size, name, kinds[name])
                wanted[name].pop(0)
        except KeyboardInterrupt:
            self.is_stopped = True
            for name, rest in wanted.items():
                found |= {(one.n_queries, name): self._predicted(one, name, kinds[name], "stopped") for one in rest}
        self.rows = [found[one.n_queries, name] for one in sizes for name in wanted]

    def source(self) -> dict[str, Any]:
        """What measured, as plain JSON."""
        return {"kind": "measurement", "backend": self.machine.name, "device": self.machine.device,
                "n_threads": self.machine.n_threads, "budget_s": self.budget_s, "dtype": "float32"}  # fmt: skip

    # one after the other ------------------------------------------------------------------------

    def _begin(self, sizes: Sizes, kinds: Mapping[str, Kind]) -> None:
        """The machine's peak, and each variant's first pace at a size that takes next to nothing."""
        start = time.monotonic()
        self.peak = self.machine.peak(PEAK_SHARE * self.budget_s)
        self._until = start + self.budget_s
        # a Trace's own rule is tried here first, and a variant that cannot follow it is left out
        small = sizes if sizes.n_queries <= TRIAL_N or self.trace is not None else sizes.at(TRIAL_N)
        for name, kind in kinds.items():
            operations = self._operations(small, kind)
            if not self._fits(small, operations):
                continue
            try:
                run = self._run(small, kind)
                seconds = min(self.machine.once(run) for _ in range(2))  # the first one loads what it needs
                self._pace[name] = seconds / operations.multiply_adds
            except InputError as error:
                self.refused[name] = error

    def _least(self, sizes: Sizes, name: str, kinds: Mapping[str, Kind]) -> float:
        """Seconds that measuring takes at least, at the variant's last pace."""
        return (1 + RUNS[0]) * self._pace.get(name, 0.0) * self._operations(sizes, kinds[name]).multiply_adds

    def _row(self, sizes: Sizes, name: str, kind: Kind) -> CostRow:
        operations = self._operations(sizes, kind)
        if not self._fits(sizes, operations):
            return self._predicted(sizes, name, kind, "memory")
        if not self.budget_s or time.monotonic() + self._least(sizes, name, {name: kind}) > self._until:
            return self._predicted(sizes, name, kind, "budget")
        try:
            run = self._run(sizes, kind)
        except TooLargeError:  # a table that stands for its pattern
            return self._predicted(sizes, name, kind, "memory")
        first, peak_bytes = self.machine.warmed(run)
        n_runs = RUNS[1] if RUNS[1] * first < SHORT_S else RUNS[0]
        seconds, spread = self.machine.several(run, n_runs)
        self._pace[name] = seconds / operations.multiply_adds
        self.routes[name] = self._route(sizes, kind)
        if peak_bytes:
            self._more[name] = peak_bytes / operations.held_bytes
        return CostRow(name, sizes.n_queries, **vars(operations), time_s=seconds, is_measured=True, n_runs=n_runs, spread=spread,
                       peak_bytes=peak_bytes)  # fmt: skip

    def _predicted(self, sizes: Sizes, name: str, kind: Kind, why: str) -> CostRow:
        operations = self._operations(sizes, kind)
        is_known = name in self.routes  # measured at some n; the pace of the trial says when to stop, and no more
        seconds = self._pace[name] * operations.multiply_adds if is_known else None
        peak_bytes = int(self._more[name] * operations.held_bytes) if name in self._more else None
        return CostRow(name, sizes.n_queries, **vars(operations), time_s=seconds, why=why, peak_bytes=peak_bytes)

    # what is run --------------------------------------------------------------------------------

    def _operations(self, sizes: Sizes, kind: Kind) -> Operations:
        if (sizes, kind) not in self._known:
            self._known[sizes, kind] = kind.operations(sizes, self.settings)
        return self._known[sizes, kind]

    def _fits(self, sizes: Sizes, operations: Operations) -> bool:
        return sizes.given_bytes + MARGIN * operations.held_bytes <= self.most_bytes

    def _run(self, sizes: Sizes, kind: Kind) -> Callable[[], Any]:
        given, rule, options = self._call(sizes, kind)
        return lambda: kind.variant(*given, rule, **options)

    def _route(self, sizes: Sizes, kind: Kind) -> Route:
        (q, k, v), rule, options = self._call(sizes, kind)
        return route(q, k, v, rule, kind.idea, **options)

    def _call(self, sizes: Sizes, kind: Kind) -> tuple[list[Any], Rule, dict[str, Any]]:
        """q, k and v, the rule, and the options that a variant is called with."""
        is_causal = sizes.n_ahead == 0
        options = kind.options(self.settings, sizes.n_queries, is_causal)
        if self.trace is not None:
            return self._of_trace(), kind.rule(self.trace.rule), options
        return self._drawn(sizes), Rule(allowed="causal" if is_causal and kind.is_masked else None), options

    def _drawn(self, sizes: Sizes) -> list[Any]:
        shapes = (
            (sizes.n_heads, sizes.n_queries, sizes.d_head),
            (sizes.n_kv_heads, sizes.n_keys, sizes.d_head),
            (sizes.n_kv_heads, sizes.n_keys, sizes.d_value),
        )
        if self._given is None or self._given[0] != sizes:
            self._given = None  # the old ones are let go before the new ones are made
            self._given = sizes, [self.machine.normal(shape, seed) for seed, shape in enumerate(shapes)]
        return self._given[1]

    def _of_trace(self) -> list[Any]:
        return [self.machine.array(getattr(self.trace, name)) for name in ("q", "k", "v")]
