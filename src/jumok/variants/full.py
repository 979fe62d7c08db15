"""Full attention: every query with every key, the whole table at once. What the others are compared with."""

from __future__ import annotations

import math
from typing import Any

from array_api_compat import is_torch_array

from ..errors import TooLargeError
from ..memory import available
from ..path import Steps
from ..path import axes as ax
from ..path.library import array_namespace
from .asked import Asked

__all__ = ["free_bytes", "full", "table_bytes"]

TABLES = 5  # n × n tables of numbers that are held at once: scores, scaled, masked, exp, weights


def full(q: ax.Q, k: ax.K, v: ax.V, rule: Any = None) -> ax.Mixed:
    """softmax(q kᵀ · scale) v, by way of the whole table of weights.

    q : (…, head, query, d_head)
    k : (…, kv_head, key, d_head);  v : (…, kv_head, key, d_value)
    rule : how scores become weights, see ``jumok.Rule``

    >>> import numpy as np
    >>> full(np.array([[[1.0]]]), np.array([[[0.0], [0.0]]]), np.array([[[2.0], [4.0]]])).tolist()
    [[[3.0]]]

    Errors: ``TooLargeError``, before anything is made, where the tables would not fit in the memory that is free.
    Source: Vaswani et al. 2017, equation 1.
    """
    asked = Asked.of(q, k, v, rule)
    _refuse_too_large(asked)
    wide = asked.wide
    return asked.given_back(Steps(wide.q, wide.k, wide.v, wide.rule).mixed)


def table_bytes(n_heads: int, n_queries: int, n_keys: int, itemsize: int) -> int:
    """What ``full`` holds at once in tables.

    >>> table_bytes(8, 16384, 16384, 4) / 1e9  # GB
    43.218108416
    """
    return n_queries * n_keys * (TABLES * n_heads * itemsize + 1)


def _refuse_too_large(asked: Asked) -> None:
    n, m = asked.n_queries, asked.n_keys
    refuse_too_large(
        asked.q,
        table_bytes(math.prod(asked.q.shape[:-2]), n, m, itemsize(asked.q)),
        f"full attention of {n:,} queries and {m:,} keys would hold {{needed}} of tables, and {{there}} are free. Try "
        f"jumok.variants.flash, which gives the same in a few tiles.",
        f"쿼리 {n:,}개와 키 {m:,}개의 전체 어텐션에는 표만 {{needed}}가 필요한데 남은 메모리는 {{there}}입니다. 같은 결과를 타일 몇 개로 "
        f"구하는 jumok.variants.flash를 쓰십시오.",
    )


def itemsize(array: ax.Array) -> int:
    """Bytes of a number on the way: half precision is widened."""
    return max(32, int(array_namespace(array).finfo(array.dtype).bits)) // 8


def refuse_too_large(array: ax.Array, needed: int, en: str, ko: str) -> None:
    """Refuse, with the number and before anything is made, what would not fit where this array lives."""
    there = free_bytes(array)
    if there is None or needed <= there:
        return
    sizes = {"needed": f"{needed / 1e9:,.1f} GB", "there": f"{there / 1e9:,.1f} GB"}
    raise TooLargeError(en=en.format(**sizes), ko=ko.format(**sizes), bytes_needed=needed)


def free_bytes(array: ax.Array) -> int | None:
    """Bytes that are free where this array lives; None where nobody tells."""
    if not (is_torch_array(array) and array.is_cuda):
        return available()
    from .fast_torch import free

    return free(array)
