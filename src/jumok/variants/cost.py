"""``cost``: what each variant of attention costs, by formula and measured, and from where on it is the faster one.

>>> found = cost(n=[64, 128], d_head=8, n_heads=1, variants=["full", "window"], budget_s=0)
>>> [(row.variant, row.n, row.multiply_adds, row.is_measured) for row in found.rows][:2]
[('full', 64, 65536, False), ('window', 64, 65536, False)]
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import InputError, TooLargeError
from ..path.checked import count
from ..words import LANGS
from . import cost_words
from .cost_formulas import Sizes
from .cost_kinds import KINDS, Kind, Settings, chosen
from .cost_measured import Bench, CostRow
from .error import Loss, error
from .lengths import DEFAULT_N, lengths
from .machine import machine
from .routes import Route
from .spans import band

__all__ = ["DEFAULT_N", "Cost", "CostRow", "Growth", "cost"]

SETTLED_N = 2048  # from here on a product takes longer than starting it, and growth can be seen
LEAST_POINTS = 3
CLEAR_S = 1e-3  # a run that takes less tells of the clock and of what else goes on, not of n
RULES = ("causal", "everything")

Progress = Callable[[int, int, str, int], object]  # how many are done, of how many, which variant is next, at which n


@dataclass(frozen=True)
class Growth:
    """How one variant's time grows with n, measured.

    exponent : time grows as n to this power, fitted over ``points``; None where fewer than three sizes took 1 ms or more
    by_formula : the same fitted to its multiply-adds at these n;  predicted : what it comes to in the end
    memory : the same of the measured memory
    overtakes : for "full" and "flash" the n from which it is faster, between two measured n by a straight line on logarithms;
        the smallest measured n where it was faster from the start; None where it is not, or was not measured
    """

    variant: str
    predicted: float
    exponent: float | None
    by_formula: float | None
    memory: float | None
    points: tuple[int, ...]
    overtakes: Mapping[str, float | None]


@dataclass(frozen=True)
class Cost:
    """What each variant costs.

    rows : each variant at each n, in the order of n
    peak : multiply-adds a second that a plain product of matrices reaches here, measured; None where nothing was measured
    sizes : of the smallest n;  settings : windows, features and landmarks;  rule : who may read whom
    is_stopped : True where somebody ended it before it was done
    routes : which lines computed what was measured, at each variant's largest n
    losses : what each variant loses, where a Trace was given;  refused : those that cannot follow its rule, and why
    source : what measured it, as plain JSON
    """

    rows: tuple[CostRow, ...]
    peak: float | None
    sizes: Sizes
    settings: Settings
    rule: str
    is_stopped: bool = False
    losses: tuple[Loss, ...] = ()
    refused: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    routes: Mapping[str, Route] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)

    @property
    def variants(self) -> tuple[str, ...]:
        """Their names, in the order asked for."""
        return tuple(dict.fromkeys(row.variant for row in self.rows))

    @property
    def n(self) -> tuple[int, ...]:
        """The numbers of tokens, in order."""
        return tuple(dict.fromkeys(row.n for row in self.rows))

    def of(self, variant: str) -> tuple[CostRow, ...]:
        """One variant's rows."""
        return tuple(row for row in self.rows if row.variant == variant)

    def share_of_peak(self, row: CostRow) -> float | None:
        """How much of the machine's peak a row reached; None where it was not measured."""
        if self.peak is None or row.time_s is None or not row.is_measured:
            return None
        return row.multiply_adds / row.time_s / self.peak

    @property
    def growth(self) -> tuple[Growth, ...]:
        """How each variant grows."""
        return tuple(_growth(self, name) for name in self.variants)

    def text(self, lang: str = "en") -> str:
        """What was found, in sentences, ``"en"`` or ``"ko"``."""
        return cost_words.text(self, lang)

    def __str__(self) -> str:
        return self.text()

    def to_json(self) -> dict[str, Any]:
        """Every number, as plain JSON."""
        rows = [dataclasses.asdict(row) | {"share_of_peak": self.share_of_peak(row)} for row in self.rows]
        plain = {name: dataclasses.asdict(getattr(self, name)) for name in ("sizes", "settings")}
        return {
            "format": "jumok-cost",
            "version": 1,
            "rule": self.rule,
            **plain,
            "peak_multiply_adds_per_s": self.peak,
            "is_stopped": self.is_stopped,
            "rows": rows,
            "growth": [dataclasses.asdict(one) for one in self.growth],
            "routes": {
                name: {"name": way.name, **{lang: way.text(lang) for lang in LANGS}}
                for name, way in self.routes.items()
            },
            "refused": {name: dict(why) for name, why in self.refused.items()},
            "losses": [loss.to_json() for loss in self.losses],
            "source": dict(self.source),
        }


def cost(
    trace: Any = None,
    *,
    n: int | Iterable[int] | str | None = None,
    d_head: int = 64,
    n_heads: int = 8,
    n_kv_heads: int | None = None,
    d_value: int | None = None,
    variants: str | Iterable[str] | None = None,
    rule: str = "causal",
    window: int = 256,
    n_sink: int = 4,
    n_features: int = 256,
    n_landmarks: int = 64,
    device: str = "cpu",
    library: str | None = None,
    budget_s: float = 60.0,
    memory_bytes: int | None = None,
    progress: Progress | None = None,
) -> Cost:
    """What each variant costs: multiply-adds, exponentials and bytes by formula, time and memory measured.

    trace : a ``Trace``, whose q, k, v and rule are taken, and on which each variant's loss is measured; or else
    n : numbers of tokens (512, 1,024 … 16,384), or a text as on the command line, "512:4096";  d_head, d_value, n_heads, n_kv_heads : the other sizes
    variants : names (``full flash window sparse linear lowrank``, and ``sparse:strided`` …); None for these six
    rule : "causal" or "everything"; ``lowrank``, which can follow no mask, is measured without one
    window, n_sink, n_features, n_landmarks : see ``Settings``
    device : "cpu" or "cuda";  library : "numpy" or "torch"; None for NumPy on a processor
    budget_s : seconds for all measuring; what would take longer is predicted, and marked so. 0 for formulas alone
    memory_bytes : the most that one run may hold; None for what is free. Beyond it nothing is allocated
    progress : called before each measurement; ``KeyboardInterrupt`` anywhere keeps what was measured

    Errors: ``InputError`` for sizes that do not go together, ``UnknownName`` for a variant, rule, device or library,
    ``TooLargeError``, before anything is made, where not even the smallest n fits in memory.
    Source of the formulas: see ``jumok.variants.cost_formulas``.
    """
    settings, kinds = Settings(window, n_sink, n_features, n_landmarks), chosen(variants)
    if trace is not None:
        _refuse_both(
            {"n": n, "d_head": d_head, "n_heads": n_heads, "n_kv_heads": n_kv_heads, "d_value": d_value, "rule": rule}
        )
    sizes = _of_trace(trace) if trace is not None else _of_numbers(n, d_head, n_heads, n_kv_heads, d_value, rule)
    budget_s = _seconds(budget_s)
    bench = Bench(machine(library, device), settings, budget_s, memory_bytes, trace)
    if budget_s:
        _refuse_too_large(sizes[0], bench.most_bytes)
    bench.measure(sizes, kinds, progress)
    kinds = {name: kind for name, kind in kinds.items() if name not in bench.refused}
    losses = () if trace is None or not budget_s else tuple(_losses(trace, kinds, settings, sizes[0]))
    return Cost(
        rows=tuple(bench.rows),
        peak=bench.peak,
        sizes=sizes[0],
        settings=settings,
        rule=rule if trace is None else trace.rule.allowed.kind,
        is_stopped=bench.is_stopped,
        losses=losses,
        refused={name: {"en": refusal.text("en"), "ko": refusal.text("ko")} for name, refusal in bench.refused.items()},
        routes={name: bench.routes[name] for name in kinds if name in bench.routes},
        source=bench.source(),
    )


# what is asked for --------------------------------------------------------------------------------


def _of_numbers(
    n: Any, d_head: int, n_heads: int, n_kv_heads: int | None, d_value: int | None, rule: str
) -> list[Sizes]:
    numbers = lengths(DEFAULT_N if n is None else n)
    d_head, n_heads = count("d_head", d_head), count("n_heads", n_heads)
    n_kv_heads = n_heads if n_kv_heads is None else count("n_kv_heads", n_kv_heads)
    d_value = d_head if d_value is None else count("d_value", d_value)
    if n_heads % n_kv_heads:
        raise InputError(
            en=f"{n_heads} query heads cannot share {n_kv_heads} key/value heads evenly.",
            ko=f"쿼리 헤드 {n_heads}개가 키/밸류 헤드 {n_kv_heads}개를 고르게 나누어 쓸 수 없습니다.",
        )
    if rule not in RULES:
        raise InputError(
            en=f"rule expects one of {', '.join(RULES)}, got {rule!r}.",
            ko=f"rule에는 {', '.join(RULES)} 가운데 하나가 필요한데 {rule!r}이(가) 왔습니다.",
        )
    ahead = 0 if rule == "causal" else None
    return [Sizes(one, d_head, n_heads, one, d_value, n_kv_heads, None, ahead) for one in numbers]


def _refuse_both(given: Mapping[str, Any]) -> None:
    """Beside a Trace, whose own they are, sizes and a rule would change nothing."""
    usual = {name: one.default for name, one in inspect.signature(cost).parameters.items()}
    idle = ", ".join(name for name, value in given.items() if not np.array_equal(value, usual[name]))
    if idle:
        raise InputError(
            en=f"of a Trace its own sizes and rule are taken, so that {idle} would change nothing. Leave out {idle}, or the Trace.",
            ko=f"Trace를 주면 그 크기와 규칙을 쓰므로 {idle}은(는) 소용이 없습니다. {idle}을(를) 빼거나 Trace를 빼십시오.",
        )


def _of_trace(trace: Any) -> list[Sizes]:
    if any(not hasattr(trace, name) for name in ("q", "k", "v", "rule")):
        raise InputError(
            en=f"cost expects sizes (n=, d_head=, n_heads=) or a Trace, got {type(trace).__name__}. Of a Reading take a layer: "
            f"jumok.cost(reading[0]).",
            ko=f"cost에는 크기(n=, d_head=, n_heads=)나 Trace가 필요한데 {type(trace).__name__}이(가) 왔습니다. Reading이면 층을 하나 "
            f"고르십시오: jumok.cost(reading[0]).",
        )
    heads, n_queries, d_head = trace.q.shape
    kv_heads, n_keys, d_value = trace.v.shape
    least, most = band(trace.rule.allowed) or (-math.inf, math.inf)
    back, ahead = (None if math.isinf(end) else max(0, int(end)) for end in (-least, most))
    return [Sizes(n_queries, d_head, heads, n_keys, d_value, kv_heads, back, ahead, trace.rule.sink is not None)]


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf:
        raise InputError(
            en=f"the budget expects seconds, 0 or more, got {value!r}.",
            ko=f"시간 한도에는 0 이상의 초가 필요한데 {value!r}이(가) 왔습니다.",
        )
    return float(value)


def _refuse_too_large(sizes: Sizes, most_bytes: float) -> None:
    if sizes.given_bytes <= most_bytes:
        return
    raise TooLargeError(
        en=f"q, k, v and the result of {sizes.n_queries:,} tokens alone would take {sizes.given_bytes / 1e9:,.1f} GB, and "
        f"{most_bytes / 1e9:,.1f} GB may be used. Try fewer tokens or heads, or a budget of 0 for the formulas alone.",
        ko=f"토큰 {sizes.n_queries:,}개의 q, k, v와 결과에만 {sizes.given_bytes / 1e9:,.1f} GB가 필요한데 쓸 수 있는 메모리는 "
        f"{most_bytes / 1e9:,.1f} GB입니다. 토큰이나 헤드를 줄이거나, 시간 한도를 0으로 해서 수식만 보십시오.",
        bytes_needed=sizes.given_bytes,
    )


def _losses(trace: Any, kinds: Mapping[str, Kind], settings: Settings, sizes: Sizes) -> Iterable[Loss]:
    for name, kind in kinds.items():
        if not kind.is_exact:
            yield error(trace, name, **kind.options(settings, sizes.n_queries, sizes.n_ahead == 0))


# growth -------------------------------------------------------------------------------------------


def _growth(found: Cost, variant: str) -> Growth:
    rows = [row for row in found.of(variant) if row.is_measured and row.time_s and row.time_s >= CLEAR_S]
    settled = [row for row in rows if row.n >= SETTLED_N]
    fitted = settled if len(settled) >= LEAST_POINTS else rows[-LEAST_POINTS:]
    ns = [row.n for row in fitted]
    return Growth(
        variant=variant,
        predicted=KINDS[variant].exponent,
        exponent=_slope(ns, [row.time_s for row in fitted]),
        by_formula=_slope(ns, [row.multiply_adds for row in fitted]),
        memory=_slope(ns, [row.peak_bytes for row in fitted]),
        points=tuple(ns),
        overtakes={other: _overtakes(found, variant, other) for other in ("full", "flash") if other != variant},
    )


def _slope(xs: Iterable[float], ys: Iterable[float | None]) -> float | None:
    """The least-squares slope of log y over log x; None where there are too few points above 0."""
    points = [(math.log(x), math.log(y)) for x, y in zip(xs, ys, strict=True) if y]
    if len(points) < LEAST_POINTS:
        return None
    mean_x, mean_y = (sum(each) / len(points) for each in zip(*points, strict=True))
    spread: float = sum((x - mean_x) ** 2 for x, _ in points)
    slope: float = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    return slope


def _overtakes(found: Cost, variant: str, other: str) -> float | None:
    theirs = {row.n: row.time_s for row in found.of(other) if row.is_measured and row.time_s}
    both = [(row.n, math.log(row.time_s / theirs[row.n])) for row in found.of(variant)
            if row.is_measured and row.time_s and theirs.get(row.n)]  # fmt: skip
    if not both or both[-1][1] >= 0:
        return None
    last = next((at for at in reversed(range(len(both))) if both[at][1] >= 0), None)
    if last is None:
        return float(both[0][0])
    (n, slower), (after, faster) = both[last], both[last + 1]
    return float(n * (after / n) ** (slower / (slower - faster)))
