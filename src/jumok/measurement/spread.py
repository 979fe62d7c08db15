"""Why scores are divided by √d: how far q · k spreads, and what that does to softmax, measured.

>>> wide = scaling(64).rows[0]
>>> round(wide.unscaled.std), round(wide.scaled.std)
(8, 1)
"""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError, TooLargeError
from ..path import axes as ax
from ..path.allowed import everything
from ..path.scores import dot, scaled
from ..path.weights import softmax
from ..trace import Source, unknown_name
from ..words import with_particle

__all__ = ["DEFAULT_D", "Scaling", "ScalingRow", "Spread", "jacobian_norm", "scaling"]

DEFAULT_D = tuple(2**i for i in range(1, 13))  # 2, 4, …, 4,096

# Queries that read one set of keys. No more than 4, so that the product of one set stays on one thread:
# on a busy machine OpenBLAS takes 100 times longer for a small product that it shares out.
N_QUERIES = 4
LEAST_SETS, MOST_SETS = 192, 2048  # sets of queries and keys drawn for one d: more where they are cheap
MOST_NUMBERS = 2**21  # q and k of one set: 16 MiB in float64
CHUNK_NUMBERS = 2**18  # drawn at once, where a set is smaller than that: 2 MiB
MOST_KEYS = 2**16


@dataclass(frozen=True)
class Spread:
    """What one scale does to scores: means over all rows that were measured.

    variance : of the scores that go into softmax; no unit
    std : its root
    theory_variance : what the variance is for q and k of independent N(0, 1): d · scale²
    largest_weight : the largest softmax weight of a row, from 1/n_keys (all alike) to 1 (one key has all)
    gradient : how much the weights of a row move when its scores move a little: the Frobenius norm of
        ∂weights/∂scores = diag(w) − w wᵀ, taken at the scores that go into softmax. What training sends
        back through softmax is multiplied by this matrix, so near 0 nothing arrives at q and k
    gradient_share : gradient over that of a row of equal weights, √(n_keys − 1)/n_keys. It may pass 1:
        the matrix is largest (0.5) where two keys share the row
    """

    variance: float
    std: float
    theory_variance: float
    largest_weight: float
    gradient: float
    gradient_share: float


@dataclass(frozen=True)
class ScalingRow:
    """One width of q and k.

    d : width of q and k (d_head)
    n_rows : softmax rows (queries) measured; each has n_keys scores
    unscaled, scaled : what was measured with scale 1, and with scale 1/√d
    """

    d: int
    n_rows: int
    unscaled: Spread
    scaled: Spread


@dataclass(frozen=True)
class Scaling:
    """What dividing by √d does, measured for several d.

    rows : (d,) one ``ScalingRow`` each, in the order asked for
    n_keys : keys a query chooses from
    seed : of the draws; the row of a d is the same whichever other d are asked for
    source : how it was measured, as plain JSON
    """

    rows: tuple[ScalingRow, ...]
    n_keys: int
    seed: int
    source: Source

    def text(self, lang: str = "en") -> str:
        """What the measured numbers say, in three sentences, ``"en"`` or ``"ko"``."""
        return _sentences(self, lang)

    def __str__(self) -> str:
        return self.text()

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON, with every digit."""
        plain = {"n_keys": self.n_keys, "seed": self.seed, "source": self.source.to_json()}
        return plain | {"rows": [dataclasses.asdict(row) for row in self.rows]}


def scaling(d: int | Iterable[int] | None = None, *, n_keys: int = 16, seed: int = 0) -> Scaling:
    """How far q · k spreads as d grows, and what is left of softmax, with and without dividing by √d.

    d : width of q and k, or several; None for 2, 4, 8, …, 4,096
    n_keys : keys a query chooses from
    seed : of the draws of q and k, independent N(0, 1)

    Measured with the path's own ``dot``, ``scaled`` and ``softmax`` in float64, on at least 768 rows a d.
    Theory: q · k is a sum of d products of mean 0 and variance 1, so its variance is d, and 1 after
    dividing by √d. Measured from s sets of a = 4 queries and b keys, the variance has a relative standard
    error of √((2 + (6 + 2(a + b − 2))/d) / (a · b · s)): at most 1.4% for the default.

    >>> [round(row.scaled.variance, 1) for row in scaling([4, 256]).rows]
    [1.0, 1.0]

    Errors: ``InputError`` for a d, n_keys or seed that is not a whole number or too small,
    ``TooLargeError`` where q and k of one set would take more than 16 MiB.
    Source: Vaswani et al. 2017, "Attention is all you need", section 3.2.1 and its footnote 4.
    """
    widths = _widths(d)
    n_keys = _whole("n_keys", n_keys, least=2, most=MOST_KEYS)
    seed = _whole("seed", seed, least=0)
    for width in widths:
        _refuse_too_large(width, n_keys)
    rows = tuple(_measured(width, n_keys, seed) for width in widths)
    details = {
        "q and k": "independent N(0, 1), float64",
        "n_rows": [row.n_rows for row in rows],
        "n_keys": n_keys,
        "seed": seed,
    }
    return Scaling(rows, n_keys, seed, Source(kind="measurement", backend=f"numpy {np.__version__}", details=details))


def jacobian_norm(weights: ax.Weights) -> npt.NDArray[np.float64]:
    """How much a row of weights moves when its scores move: ‖diag(w) − w wᵀ‖, the Frobenius norm.

    weights : (…, key), each row summing to 1
    Gives (…): from 0 (one key has all) to 0.5 (two keys share); rounding leaves up to 1e-8 where it is 0.

    >>> jacobian_norm(np.array([0.5, 0.5])).tolist(), jacobian_norm(np.array([1.0, 0.0])).tolist()
    (0.5, 0.0)

    Source: derivative of softmax, ∂w_i/∂s_j = w_i (δ_ij − w_j).
    """
    squares = weights**2
    others = np.maximum(squares.sum(axis=-1, keepdims=True) - squares, 0)  # Σ over j ≠ i of w_j²
    norm: npt.NDArray[np.float64] = np.sqrt((squares * ((1 - weights) ** 2 + others)).sum(axis=-1))
    return norm


# measuring --------------------------------------------------------------------------------------


def _measured(d: int, n_keys: int, seed: int) -> ScalingRow:
    draw = np.random.default_rng([seed, d])
    n_sets = _n_sets(d, n_keys)
    at_once = max(1, CHUNK_NUMBERS // (max(d, N_QUERIES) * (N_QUERIES + n_keys)))
    sums = np.zeros((2, 4))
    for start in range(0, n_sets, at_once):
        n = min(at_once, n_sets - start)
        q, k = draw.standard_normal((n, N_QUERIES, d)), draw.standard_normal((n, n_keys, d))
        scores = dot(q, k)
        sums += [_sums(scaled(scores, scale)) for scale in (1.0, 1 / math.sqrt(d))]
    n_rows = n_sets * N_QUERIES
    unscaled, divided = (_spread(s, n_rows, n_keys, theory) for s, theory in zip(sums, (float(d), 1.0), strict=True))
    return ScalingRow(d, n_rows, unscaled, divided)


def _n_sets(d: int, n_keys: int) -> int:
    return min(MOST_SETS, max(LEAST_SETS, 2**20 // (d * n_keys)))


def _sums(scores: ax.Scaled) -> list[float]:
    """Over all rows: the scores, their squares, the largest weights, the gradients."""
    *_, n_queries, n_keys = scores.shape
    weights = softmax(scores, everything().block(np.arange(n_queries), np.arange(n_keys)))
    each = scores, scores**2, weights.max(axis=-1), jacobian_norm(weights)
    return [float(numbers.sum()) for numbers in each]


def _spread(sums: npt.NDArray[np.float64], n_rows: int, n_keys: int, theory: float) -> Spread:
    mean, square = (float(s) / (n_rows * n_keys) for s in sums[:2])
    largest, gradient = (float(s) / n_rows for s in sums[2:])
    variance = square - mean**2
    equal = math.sqrt(n_keys - 1) / n_keys  # the gradient of a row of equal weights
    return Spread(variance, math.sqrt(variance), theory, largest, gradient, gradient / equal)


# the door ---------------------------------------------------------------------------------------


def _widths(d: Any) -> list[int]:
    if d is None:
        return list(DEFAULT_D)
    if isinstance(d, (str, bytes)) or not isinstance(d, Iterable):
        return [_whole("d", d, least=1)]
    widths = [_whole("d", one, least=1) for one in d]
    if not widths:
        raise InputError(
            en="d is an empty list: give at least one width, such as scaling([2, 64, 4096]).",
            ko="d가 빈 목록입니다. scaling([2, 64, 4096])처럼 크기를 하나 이상 주십시오.",
        )
    return widths


def _whole(name: str, value: Any, *, least: int, most: int | None = None) -> int:
    try:
        whole = -1 if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except TypeError:
        whole = -1
    if whole < least or (most is not None and whole > most):
        to = "" if most is None else f" to {most:,}"
        to_ko = "" if most is None else f" {most:,} 이하"
        raise InputError(
            en=f"{name} expects a whole number from {least}{to or ' up'}, got {value!r}.",
            ko=f"{name}에는 {least} 이상{to_ko}의 정수가 필요한데 {with_particle(repr(value), '이/가')} 왔습니다.",
        )
    return whole


def _refuse_too_large(d: int, n_keys: int) -> None:
    numbers = d * (N_QUERIES + n_keys)
    if numbers > MOST_NUMBERS:
        most = MOST_NUMBERS // (N_QUERIES + n_keys)
        raise TooLargeError(
            en=f"d={d:,} with n_keys={n_keys:,} draws {numbers:,} numbers at once, more than {MOST_NUMBERS:,}. "
            f"With as many keys, d may be up to {most:,}.",
            ko=f"d={d:,}, n_keys={n_keys:,}이면 난수 {numbers:,}개를 한 번에 뽑아야 하는데, 한도는 {MOST_NUMBERS:,}개입니다. "
            f"키가 이만큼일 때 d는 {most:,}까지 쓸 수 있습니다.",
            bytes_needed=8 * numbers,
        )


# the sentences ----------------------------------------------------------------------------------


def _sentences(found: Scaling, lang: str) -> str:
    if lang not in ("en", "ko"):
        raise unknown_name("language", "언어", str(lang), ("en", "ko"))
    low, high = (pick(found.rows, key=lambda row: row.d) for pick in (min, max))
    words = {
        "low": f"{low.d:,}",
        "high": f"{high.d:,}",
        "n_keys": f"{found.n_keys:,}",
        "var_low": _shown(low.unscaled.variance),
        "var_high": _shown(high.unscaled.variance),
        "one_low": f"{low.scaled.variance:.2f}",
        "one_high": f"{high.scaled.variance:.2f}",
        "top": f"{high.unscaled.largest_weight:.2f}",
        "top_scaled": f"{high.scaled.largest_weight:.2f}",
        "grad": f"{high.unscaled.gradient:.3f}",
        "grad_scaled": f"{high.scaled.gradient:.3f}",
    }
    spread = "one" if low is high else "several"
    sentences = _PHRASES[spread], _PHRASES["softmax"], _PHRASES[_conclusion(high)]
    return " ".join(phrase[lang].format(**words) for phrase in sentences)


def _conclusion(high: ScalingRow) -> str:
    """What the widest d supports; thresholds on what was measured there, none on what theory says."""
    without, divided = high.unscaled, high.scaled
    if without.largest_weight - divided.largest_weight < 0.1:
        return "little"
    return "starved" if without.gradient < divided.gradient / 2 else "sharper"


def _shown(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


_PHRASES = {
    "several": {
        "en": "From d = {low} to d = {high} the variance of q·k went from {var_low} to {var_high} "
        "(theory: d); divided by √d it went from {one_low} to {one_high} (theory: 1).",
        "ko": "q·k의 분산은 d가 {low}일 때 {var_low}, {high}일 때 {var_high}이고(이론값은 d), "
        "√d로 나누면 각각 {one_low}, {one_high}입니다(이론값은 1).",
    },
    "one": {
        "en": "At d = {high} the variance of q·k was {var_high} (theory: d), and {one_high} divided by √d (theory: 1).",
        "ko": "d가 {high}일 때 q·k의 분산은 {var_high}이고(이론값은 d), √d로 나누면 {one_high}입니다(이론값은 1).",
    },
    "softmax": {
        "en": "At d = {high} the largest of {n_keys} attention weights is {top} on average without the division "
        "and {top_scaled} with it; the gradient of softmax is {grad} without and {grad_scaled} with it.",
        "ko": "d가 {high}일 때 키 {n_keys}개 가운데 가장 큰 어텐션 가중치의 평균은 나누지 않으면 {top}, 나누면 {top_scaled}이고, "
        "소프트맥스의 기울기는 나누지 않으면 {grad}, 나누면 {grad_scaled}입니다.",
    },
    "starved": {
        "en": "So without the division softmax picks nearly one key and passes little gradient back, so that it can "
        "hardly learn to pick another; divided by √d, the weight is shared out and the gradient survives.",
        "ko": "따라서 √d로 나누지 않으면 소프트맥스가 거의 키 하나만 고르고 기울기를 조금밖에 전하지 못해 다른 키를 고르도록 "
        "학습하기 어렵지만, √d로 나누면 가중치가 여러 키에 나뉘고 기울기도 살아남습니다.",
    },
    "sharper": {
        "en": "So without the division the weights already lean more to one side, though gradient still passes.",
        "ko": "따라서 √d로 나누지 않으면 가중치가 벌써 한쪽으로 더 쏠리지만 기울기는 아직 전해집니다.",
    },
    "little": {
        "en": "At so small a d the division changes little; it matters as d grows.",
        "ko": "d가 이렇게 작으면 나누기가 바꾸는 것이 거의 없고, d가 커질수록 중요해집니다.",
    },
}
