"""How sure a difference is: its interval by the bootstrap, its p by Student's t, and many of them corrected.

>>> corrected(np.array([0.01, 0.02, 0.5])).round(3).tolist()
[0.03, 0.03, 0.5]
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Ratio", "corrected", "interval", "p_values", "resamples", "t_tail"]

SMALLEST = 1e-15  # a p below it is only rounding

Doubles = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Ratio:
    """A ratio of two sums, group by group: what its mean is, and how it varies.

    above, below : (group, …)
    """

    above: Doubles
    below: Doubles

    def value(self, times: Doubles | None = None) -> Doubles:
        """(…) the ratio of the sums; with ``times`` (resample, group), of each resample: (resample, …). NaN for 0 / 0."""
        above, below = (
            one.sum(axis=0) if times is None else np.tensordot(times, one, axes=1) for one in (self.above, self.below)
        )
        shape = np.broadcast(above, below).shape
        made: Doubles = np.divide(above, below, out=np.full(shape, np.nan), where=below > 0)
        return made

    def pulls(self) -> Doubles:
        """(group, …) by how much each group pulls the ratio away from its value."""
        mean = self.below.mean(axis=0)
        rest = self.above - self.value() * self.below
        made: Doubles = np.divide(rest, mean, out=np.zeros_like(rest), where=mean > 0)
        return made


def resamples(n_groups: int, n: int, seed: int) -> Doubles:
    """(resample, group) how often each group is drawn, with replacement. Source: Efron 1979."""
    draw = np.random.default_rng(seed)
    return draw.multinomial(n_groups, np.full(n_groups, 1 / n_groups), size=n).astype(np.float64)


def interval(score: Ratio, baseline: Ratio, times: Doubles, share: float = 0.95) -> tuple[Doubles, Doubles]:
    """(…) the percentile interval of the difference of two ratios over the same groups.

    A resample without a case says nothing of a difference, and counts as none.
    """
    apart = np.nan_to_num(score.value(times) - baseline.value(times), nan=0.0)
    low, high = np.quantile(apart, [(1 - share) / 2, (1 + share) / 2], axis=0)
    return low, high


def p_values(score: Ratio, baseline: Ratio, sign: float, n_sentences: Doubles) -> Doubles:
    """(…) one-sided: how likely a difference this large is where there is none.

    Student's t of the linearised difference over the groups (Cochran 1977, section 6), and never below 2⁻ⁿ: n sentences
    that all point one way do so with that chance where each is as likely to point the other way.
    """
    pulls = score.pulls() - baseline.pulls()
    n = len(pulls)
    error = np.sqrt((pulls**2).sum(axis=0) / max(1, n - 1) / n)
    apart = sign * (score.value() - baseline.value())
    t = np.divide(apart, error, out=np.where(apart > 0, np.inf, np.where(apart < 0, -np.inf, 0.0)), where=error > 1e-12)
    floor = np.maximum(2.0 ** -np.minimum(n_sentences, 1000), SMALLEST)
    return np.maximum(t_tail(t, max(1, n - 1)), floor)


def t_tail(t: Doubles, degrees: int) -> Doubles:
    """P(T > t) of Student's t with a whole number of degrees of freedom.

    >>> t_tail(np.array([0.0, 2.228]), 10).round(3).tolist()
    [0.5, 0.025]

    Source: Abramowitz & Stegun 1964, 26.7.3 and 26.7.4.
    """
    angle = np.arctan2(np.asarray(t, dtype=np.float64), math.sqrt(degrees))
    cos, sin = np.cos(angle), np.sin(angle)
    term = np.ones_like(angle) if degrees % 2 == 0 else cos.copy()
    total = term.copy() if degrees > 1 else np.zeros_like(angle)
    for k in range(2 if degrees % 2 else 1, degrees - 1, 2):
        term = term * cos**2 * (k / (k + 1))
        total += term
    inside = sin * total if degrees % 2 == 0 else 2 / math.pi * (angle + sin * total)
    return np.clip((1 - inside) / 2, 0.0, 1.0)


def corrected(p: Doubles) -> Doubles:
    """(test,) p → q: of all that has a q of at most 0.05, at most one in twenty is false on average. NaN is no test.

    Source: Benjamini & Hochberg 1995, "Controlling the false discovery rate".
    """
    made = np.full(len(p), np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    stepped = p[order] * len(order) / np.arange(1, len(order) + 1)
    made[order] = np.minimum(1, np.minimum.accumulate(stepped[::-1])[::-1])
    return made
