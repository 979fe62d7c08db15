"""Which keys a rule can let some queries read, told from the rule itself, without a table."""

from __future__ import annotations

import math
from typing import Any

from ..path.allowed import Allowed

__all__ = ["Band", "band", "span", "stretch"]

Band = tuple[float, float]  # of key − query, both ends included


def band(allowed: Allowed) -> Band | None:
    """(least, most) key − query of a rule that is a band of diagonals and nothing else; None for any other rule.

    >>> from jumok.path.allowed import causal, document, window
    >>> band(causal() & window(2, n_ahead=1)), band(causal()), band(document([0, 1]))
    ((-2, 0), (-inf, 0), None)
    """
    rule: Any = allowed
    match getattr(rule, "kind", None):
        case "everything":
            return -math.inf, math.inf
        case "causal":
            return -math.inf, rule.offset
        case "window":
            return rule.offset - rule.n_back, rule.offset + rule.n_ahead
        case "both":
            one, other = band(rule.first), band(rule.second)
            return None if one is None or other is None else (max(one[0], other[0]), min(one[1], other[1]))
    return None


def span(allowed: Allowed, first: int, last: int) -> Band:
    """The first and the last key that any of the queries ``first`` … ``last`` may read, as far as the rule itself tells.

    >>> from jumok.path.allowed import causal, document, window
    >>> span(window(2) & document([0, 1]), 5, 6), span(causal() | window(0, 2), 5, 6)
    ((3, 6), (-inf, 8))
    """
    rule: Any = allowed
    if (told := band(rule)) is not None:
        return first + told[0], last + told[1]
    kind = getattr(rule, "kind", None)
    if kind not in ("both", "either"):
        return -math.inf, math.inf
    one, other = span(rule.first, first, last), span(rule.second, first, last)
    if kind == "both":
        return max(one[0], other[0]), min(one[1], other[1])
    return min(one[0], other[0]), max(one[1], other[1])


def stretch(allowed: Allowed, first: int, last: int, n_keys: int) -> range:
    """The same as positions of the keys that are there; empty where there are none."""
    start, stop = span(allowed, first, last)
    return range(int(max(0, min(n_keys, start))), int(max(0, min(n_keys, stop + 1))))
