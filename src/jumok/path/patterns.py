"""Patterns of sparse attention: rules of who may read whom that also say which keys a tile of queries needs.

Each is a rule like those of ``jumok.allowed``: it can be put into a ``jumok.Rule`` and joined by ``&`` and ``|``, and
``full`` under it gives what ``sparse`` gives. Only ``top_k`` is none, for it looks at the scores.

>>> import numpy as np
>>> streaming(n_sink=1, n_back=1).block(np.arange(4), np.arange(4)).astype(int).tolist()
[[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 1, 1]]
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InputError, TooLargeError
from .allowed import Allowed, causal, document, padding, table, window
from .axes import Allowed as AllowedBlock
from .axes import Array, Keys, Queries
from .checked import agree, booleans, count, seen, whole
from .described import as_lists, like
from .library import array_namespace
from .parts import Places, counted

__all__ = ["Pattern", "TopK", "big_bird", "blocks", "streaming", "strided", "top_k"]

MOST_CELLS = 2**24  # of a table that stands for a pattern of blocks
MOST_BLOCKS = 2**28  # of a table of blocks, a byte each: big_bird of a million tokens
Tiles = Iterator[tuple[Places, Places]]


class Pattern(Allowed):
    """A rule that says, for each tile of queries, which keys any of them may read."""

    def tiles(self, n_queries: int, n_keys: int, tile: int) -> Tiles:
        """(queries, keys) of each tile; every query stands in exactly one tile, no key it may read is left out."""
        raise NotImplementedError

    def parts(self) -> tuple[Pattern, ...]:
        """Patterns that have no pair in common and are this one together: each may cut its tiles its own way."""
        return (self,)


@dataclass(frozen=True, eq=False)
class _Blocks(Pattern, kind="blocks"):
    table: Array
    size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", count("size", self.size))
        table = booleans("blocks(table)", self.table)
        if table.ndim != 2:
            raise InputError(
                en=f"blocks(table) expects (block of queries, block of keys), got {seen(table)}.",
                ko=f"blocks(table)에는 (쿼리 블록, 키 블록) 표가 필요한데 {seen(table)}이(가) 왔습니다.",
            )
        object.__setattr__(self, "table", table)

    def block(self, queries: Queries, keys: Keys) -> AllowedBlock:
        xp = array_namespace(queries)
        rows = xp.take(like(self.table, queries), queries // self.size, axis=0)
        return xp.take(rows, keys // self.size, axis=1)

    def fits(self, n_queries: int, n_keys: int) -> None:
        for axis, n in enumerate((n_queries, n_keys)):
            agree("blocks(table)", ("query", "key")[axis] + " blocks", self.table.shape[axis], -(-n // self.size))

    def tiles(self, n_queries: int, n_keys: int, tile: int) -> Tiles:  # noqa: ARG002 (the blocks are the tiles)
        of_keys = counted(n_keys, self.size)
        for row, queries in enumerate(counted(n_queries, self.size)):
            read = itertools.compress(of_keys, as_lists(self.table[row, ...]))
            yield queries, [*itertools.chain.from_iterable(read)]

    def basic(self, n_queries: int, n_keys: int) -> Allowed:
        """A table: refused where it would be large."""
        import numpy as np

        if n_queries * n_keys > MOST_CELLS:
            raise TooLargeError(
                en=f"a pattern of blocks is shown as its whole table of {n_queries:,} × {n_keys:,}, and at most {MOST_CELLS:,} cells "
                f"are. Show fewer tokens.",
                ko=f"블록 패턴은 {n_queries:,} × {n_keys:,} 표 전체로 바꾸어 보여 주는데, 칸은 {MOST_CELLS:,}개까지입니다. 토큰을 줄이십시오.",
                bytes_needed=n_queries * n_keys,
            )
        return table(self.block(np.arange(n_queries), np.arange(n_keys)))


@dataclass(frozen=True, eq=False)
class _Streaming(Pattern, kind="streaming"):
    n_sink: int
    n_back: int
    offset: int = 0

    def __post_init__(self) -> None:
        for name in ("n_sink", "n_back", "offset"):
            object.__setattr__(self, name, whole(name, getattr(self, name)))

    def block(self, queries: Queries, keys: Keys) -> AllowedBlock:
        back = queries[:, None] + self.offset - keys[None, :]
        return (back >= 0) & ((back <= self.n_back) | (keys[None, :] < self.n_sink))

    def tiles(self, n_queries: int, n_keys: int, tile: int) -> Tiles:
        for queries in counted(n_queries, tile):
            first, last = (queries[end] + self.offset for end in (0, -1))
            stop = min(n_keys, last + 1)
            sink = min(self.n_sink, stop)
            yield queries, [*range(sink), *range(max(sink, first - self.n_back), stop)]

    def basic(self, n_queries: int, n_keys: int) -> Allowed:  # noqa: ARG002 (whoever asks)
        near = window(self.n_back, 0, self.offset)
        if not self.n_sink:
            return near
        return causal(self.offset) & (near | padding([key < self.n_sink for key in range(n_keys)]))


@dataclass(frozen=True, eq=False)
class _Strided(Pattern, kind="strided"):
    stride: int
    offset: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "stride", count("stride", self.stride))
        object.__setattr__(self, "offset", whole("offset", self.offset))

    def block(self, queries: Queries, keys: Keys) -> AllowedBlock:
        back = queries[:, None] + self.offset - keys[None, :]
        return (back >= 0) & ((back <= self.stride) | (back % self.stride == 0))

    def parts(self) -> tuple[Pattern, ...]:
        return _Streaming(0, self.stride, self.offset), _Far(self.stride, self.offset)

    def basic(self, n_queries: int, n_keys: int) -> Allowed:
        """A stride apart is of the same document, where documents are positions modulo the stride."""
        ids = [at % self.stride for at in range(max(n_keys, n_queries + self.offset))]
        return window(self.stride, 0, self.offset) | (causal(self.offset) & document(ids, self.offset))


@dataclass(frozen=True, eq=False)
class _Far(Pattern, kind="far"):
    """The keys a whole number of strides back, two or more: the half of ``strided`` that is no window."""

    stride: int
    offset: int = 0

    def block(self, queries: Queries, keys: Keys) -> AllowedBlock:
        back = queries[:, None] + self.offset - keys[None, :]
        return (back > self.stride) & (back % self.stride == 0)

    def tiles(self, n_queries: int, n_keys: int, tile: int) -> Tiles:
        """Queries a stride apart share their keys, so they make a tile."""
        for start in range(min(self.stride, n_queries)):
            column = range(start, n_queries, self.stride)
            for piece in counted(len(column), tile):
                queries = column[piece.start : piece.stop]
                last = queries[-1] + self.offset
                yield queries, range(last % self.stride, min(n_keys, last + 1), self.stride)


@dataclass(frozen=True)
class BigBird:
    """The blocks that each block of ``big_bird`` reads, drawn row by row: what it costs is told without its table."""

    n_tokens: int
    size: int = 64
    n_window: int = 3
    n_global: int = 1
    n_random: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (
            ("n_tokens", 1),
            ("size", 1),
            ("n_window", 1),
            ("n_global", 0),
            ("n_random", 0),
            ("seed", 0),
        ):
            object.__setattr__(self, name, count(name, getattr(self, name), least))
        if self.n_window % 2 == 0:
            raise InputError(
                en=f"n_window expects an odd number of blocks (the own one and as many on each side), got {self.n_window}.",
                ko=f"n_window에는 홀수가 필요한데(자기 블록과 양쪽에 같은 수) {self.n_window}이(가) 왔습니다.",
            )

    @property
    def n_blocks(self) -> int:
        """How many blocks the text has."""
        return -(-self.n_tokens // self.size)

    def rows(self) -> Iterator[Sequence[int]]:
        """The blocks that each block reads, in order."""
        import numpy as np

        n, side, draw = self.n_blocks, self.n_window // 2, np.random.default_rng(self.seed)
        first = min(n, self.n_global)
        for at in range(n):
            if at < first:
                yield range(n)
                continue
            start, stop = max(first, at - side), min(n, at + side + 1)
            left = n - first - (stop - start)  # blocks that are neither global nor near
            drawn = draw.choice(left, min(left, self.n_random), replace=False).tolist() if left else []
            far = sorted(first + one if first + one < start else one + first + stop - start for one in drawn)
            yield sorted([*range(first), *range(start, stop), *far])

    def parts(self) -> tuple[BigBird, ...]:
        """As of a ``Pattern``."""
        return (self,)

    def tiles(self, n_queries: int, n_keys: int, tile: int) -> Tiles:  # noqa: ARG002 (the blocks are the tiles)
        """As of a ``Pattern``."""
        of_keys = counted(n_keys, self.size)
        for queries, row in zip(counted(n_queries, self.size), self.rows(), strict=True):
            whole_row = len(row) == self.n_blocks
            yield queries, range(n_keys) if whole_row else [key for block in row for key in of_keys[block]]

    def table(self) -> Array:
        """(block of queries, block of keys) True where it is read; refused where it would be large."""
        import numpy as np

        n = self.n_blocks
        if n * n > MOST_BLOCKS:
            raise TooLargeError(
                en=f"big_bird of {self.n_tokens:,} tokens would hold a table of {n:,} × {n:,} blocks, {n * n / 1e9:,.1f} GB, and at most "
                f"{MOST_BLOCKS / 1e9:,.1f} GB are made. Take larger blocks (size=) or fewer tokens.",
                ko=f"토큰 {self.n_tokens:,}개의 big_bird에는 {n:,} × {n:,} 블록 표, 곧 {n * n / 1e9:,.1f} GB가 필요한데 "
                f"{MOST_BLOCKS / 1e9:,.1f} GB까지만 만듭니다. 블록을 키우거나(size=) 토큰을 줄이십시오.",
                bytes_needed=n * n,
            )
        made = np.zeros((n, n), bool)
        for at, row in enumerate(self.rows()):
            made[at, row] = True
        return made


@dataclass(frozen=True)
class TopK:
    """The best keys of each query, by their scaled score."""

    n_kept: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_kept", count("n_kept", self.n_kept))


def blocks(table: Any, size: int) -> Pattern:
    """Whole blocks of queries and keys, as a table of blocks says.

    table : (block of queries, block of keys) bool, True where the block is read;  size : tokens of a block

    >>> import numpy as np
    >>> blocks([[True, False], [False, True]], 2).block(np.arange(3), np.arange(3)).astype(int).tolist()
    [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    """
    return _Blocks(table, size)


def big_bird(
    n_tokens: int, size: int = 64, n_window: int = 3, n_global: int = 1, n_random: int = 2, seed: int = 0
) -> Pattern:
    """Window, global and random blocks.

    n_tokens : of the text this pattern is for;  size : tokens of a block
    n_window : neighbouring blocks that are read, odd: the own one and as many on each side
    n_global : first blocks that read everything and are read by everybody
    n_random : other blocks each block reads, drawn with ``seed``

    >>> import numpy as np
    >>> pattern = big_bird(6, size=1, n_window=1, n_global=1, n_random=1, seed=3)
    >>> pattern.block(np.arange(6), np.arange(6)).sum(-1).tolist()
    [6, 3, 3, 3, 3, 3]

    Errors: ``InputError`` for an even window, ``TooLargeError``, before anything is made, for too many blocks.
    Source: Zaheer et al. 2020, "Big Bird", section 2.
    """
    made = BigBird(n_tokens, size, n_window, n_global, n_random, seed)
    return _Blocks(made.table(), made.size)


def strided(stride: int, offset: int = 0) -> Pattern:
    """The last ``stride`` tokens, the token itself, and every ``stride``-th token before; nothing ahead.

    >>> import numpy as np
    >>> strided(2).block(np.arange(6), np.arange(6)).astype(int)[5].tolist()
    [0, 1, 0, 1, 1, 1]

    Source: Child et al. 2019, "Sparse Transformers", section 4.2 (both halves of the strided pattern in one head).
    """
    return _Strided(stride, offset)


def streaming(n_sink: int, n_back: int, offset: int = 0) -> Pattern:
    """The first ``n_sink`` tokens, the token itself and ``n_back`` before it; nothing ahead.

    Source: Xiao et al. 2023, "StreamingLLM", section 3.2.
    """
    return _Streaming(n_sink, n_back, offset)


def top_k(n_kept: int) -> TopK:
    """For each query and head the ``n_kept`` keys with the largest scaled scores; keys that tie with the last are kept too.

    All scores are computed to find them: this saves products with v, and shows what would be lost.

    Source: Gupta et al. 2021, "Memory-efficient transformers via top-k attention".
    """
    return TopK(n_kept)


def __dir__() -> list[str]:
    return sorted(__all__)
