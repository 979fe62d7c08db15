"""Window attention: each query reads its neighbours only, and nothing else is computed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..errors import InputError
from ..path import Rule
from ..path import axes as ax
from ..path.allowed import window as neighbours
from ..path.checked import count, flag
from ..path.library import array_namespace
from ..path.output import mixed as weighted_sum
from ..path.parts import counted
from ..path.weights import softmax
from .asked import Asked
from .spans import stretch

__all__ = ["window", "window_reference"]

TILE = 64  # measured on two processors: within a tenth of the best tile for windows of 32 to 1,024, but for the longest


def window(
    q: ax.Q, k: ax.K, v: ax.V, rule: Any = None,
    *, n_back: int | None = None, n_ahead: int = 0, tile: int = TILE, fast: bool = True,
) -> ax.Mixed:  # fmt: skip
    """Exactly what ``full`` gives under a rule with a window, in time and memory that grow with n · window.

    q : (…, head, query, d_head)
    k : (…, kv_head, key, d_head);  v : (…, kv_head, key, d_value)
    rule : a ``jumok.Rule`` with a window in it, such as ``jumok.allowed.window(255)``; or any, with ``n_back``
    n_back, n_ahead : a window put on top of the rule. A width w as papers count it is ``n_back = w − 1``
    tile : queries of a tile; a larger one than there are tokens is all of them
    fast : False for these lines themselves, whatever the library has of its own

    >>> import numpy as np
    >>> one = np.array([[[0.0], [1.0], [2.0]]])
    >>> window(one, one, one, n_back=1).round(3).tolist()
    [[[0.0], [0.731], [1.881]]]

    Errors: ``InputError`` for a window below 0, one end of a window without the other, and a tile below 1.
    Source: Child et al. 2019, "Sparse Transformers"; Beltagy et al. 2020, "Longformer".
    """
    from . import routes

    asked, tile = Asked.of(q, k, v, with_window(rule, n_back, n_ahead)), count("tile", tile)
    way = routes.of_window(asked, tile).name if flag("fast", fast) else "reference"
    if way == "reference":
        return asked.given_back(window_reference(asked.wide, tile))
    from . import fast_torch

    return fast_torch.fused(asked) if way == "sdpa" else fast_torch.strided_tiles(asked, tile)


def window_reference(asked: Asked, tile: int) -> ax.Mixed:
    """Each tile of queries with the stretch of keys that any of them may read."""
    done = []
    for queries in counted(asked.n_queries, tile):
        keys = stretch(asked.rule.allowed, queries[0], queries[-1], asked.n_keys)
        keys = keys or range(1)  # a tile that reads nothing looks at one key, and may not read it
        weights = softmax(*asked.tile(queries, keys), asked.sink)
        done.append(weighted_sum(weights, asked.values(keys), sure=True))
    return array_namespace(asked.q).concat(done, axis=-2)


def with_window(rule: Any, n_back: int | None, n_ahead: int = 0) -> Rule:
    """The rule, and a window on top of it where one is asked for."""
    made = Rule.of(rule)
    if n_back is not None:
        return replace(made, allowed=made.allowed & neighbours(n_back, n_ahead))
    if n_ahead != 0:
        raise InputError(
            en=f"n_ahead={n_ahead!r} is the other end of a window that n_back begins. Give n_back too.",
            ko=f"n_ahead={n_ahead!r}은(는) n_back으로 시작하는 윈도우의 반대쪽 끝입니다. n_back도 주십시오.",
        )
    return made
