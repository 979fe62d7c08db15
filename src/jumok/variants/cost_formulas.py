"""What each variant costs by formula: multiply-adds of matrix products, exponentials, bytes moved and bytes held.

The multiply-adds and exponentials are those of the reference variants, and agree exactly with what is counted when these run
(``counting.Tally``). Bytes follow a model of two memories, a fast one of ``fast_bytes`` (a processor's cache, a GPU's SRAM) and a
slow one that holds everything: what is moved between them is counted, as in Dao et al. 2022, section 3.2.

- ``full`` is the naive algorithm (algorithm 0 there): the tables of scores and of weights are written, and read again.
- Tiled ones make each tile in fast memory. As many queries stay there as fit beside their keys, values and results (four blocks
  of equal size); keys and values pass by once for each such block of queries, all query heads that share them together.

>>> full(Sizes(n_queries=8192, d_head=64, n_heads=1)).exponentials  # one a score
67108864
>>> window(Sizes(n_queries=8192, d_head=64, n_heads=1, n_back=255, n_ahead=0), tile=1).exponentials
2064512
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from typing import Any

from ..path.parts import counted
from ..path.patterns import TopK
from .flash import TILE as FLASH_TILE
from .full import table_bytes
from .linear import CHUNK
from .sparse import TILE as SPARSE_TILE
from .window import TILE as WINDOW_TILE

__all__ = [
    "FAST_BYTES",
    "Operations",
    "Sizes",
    "flash",
    "full",
    "linear",
    "lowrank",
    "n_read",
    "n_sunk",
    "sparse",
    "window",
]

FAST_BYTES = 2**20  # a processor's second cache; an A100's SRAM is 192 KiB for each of its 108 parts


@dataclass(frozen=True)
class Sizes:
    """What attention is asked for.

    n_queries, n_keys : tokens that ask and tokens that are read; as many, where not said
    d_head, d_value : widths of queries and keys, and of values; as wide, where not said
    n_heads, n_kv_heads : heads that ask and heads that are read; as many, where not said
    n_back, n_ahead : how many tokens before and after it a query may read besides itself; None for all
    has_sink : True where the rule has sink logits;  itemsize : bytes of a number
    """

    n_queries: int
    d_head: int
    n_heads: int
    n_keys: int = 0
    d_value: int = 0
    n_kv_heads: int = 0
    n_back: int | None = None
    n_ahead: int | None = None
    has_sink: bool = False
    itemsize: int = 4

    def __post_init__(self) -> None:
        same = {"n_keys": self.n_queries, "d_value": self.d_head, "n_kv_heads": self.n_heads}
        for name, value in same.items():
            if not getattr(self, name):
                object.__setattr__(self, name, value)

    @property
    def width(self) -> int:
        """Multiply-adds that one score costs: q · k, and its weight times the value."""
        return self.d_head + self.d_value

    @property
    def cache_bytes(self) -> int:
        """Keys and values of all tokens, as a decoder keeps them."""
        return self.n_kv_heads * self.n_keys * self.width * self.itemsize

    @property
    def given_bytes(self) -> int:
        """q, k, v, and the result."""
        return self.cache_bytes + self.n_heads * self.n_queries * self.width * self.itemsize

    def within(self, n_back: int, n_ahead: int) -> Sizes:
        """The same under a window besides."""
        back = n_back if self.n_back is None else min(self.n_back, n_back)
        ahead = n_ahead if self.n_ahead is None else min(self.n_ahead, n_ahead)
        return replace(self, n_back=back, n_ahead=ahead)

    def unmasked(self) -> Sizes:
        """The same where everything may be read."""
        return replace(self, n_back=None, n_ahead=None)

    def at(self, n: int) -> Sizes:
        """The same for as many queries and keys."""
        return replace(self, n_queries=n, n_keys=n)

    def reach(self, queries: range) -> tuple[int, int]:
        """The first and the last key that some neighbouring queries may read; first > last where there is none."""
        first = 0 if self.n_back is None else max(0, queries[0] - self.n_back)
        last = self.n_keys - 1 if self.n_ahead is None else min(self.n_keys - 1, queries[-1] + self.n_ahead)
        return first, last

    def stretch(self, queries: range) -> int:
        """How many keys lie between those, both included; at least one, since a tile that reads nothing looks at one."""
        first, last = self.reach(queries)
        return max(1, last - first + 1)


@dataclass(frozen=True)
class Operations:
    """What a variant does.

    multiply_adds : of matrix products, one multiplication and one addition each (2 FLOP)
    exponentials : numbers of which exp is taken
    moved_bytes : between slow and fast memory
    held_bytes : at once, besides q, k and v
    """

    multiply_adds: int
    exponentials: int
    moved_bytes: int
    held_bytes: int


def full(sizes: Sizes) -> Operations:
    """n · m scores a head, whatever the rule allows; tables of n × m are made whole.

    Source: Vaswani et al. 2017, table 1; bytes: Dao et al. 2022, algorithm 0 and theorem 2 (Θ(n d + n²)).
    """
    scores = sizes.n_heads * sizes.n_queries * sizes.n_keys
    sinks = sizes.n_heads * sizes.n_queries * sizes.has_sink
    held = table_bytes(sizes.n_heads, sizes.n_queries, sizes.n_keys, sizes.itemsize)
    return Operations(
        multiply_adds=scores * sizes.width,
        exponentials=scores + sinks,
        moved_bytes=sizes.given_bytes + 4 * scores * sizes.itemsize,
        held_bytes=held + _result_bytes(sizes),
    )


def flash(sizes: Sizes, *, tile: int = FLASH_TILE, fast_bytes: int = FAST_BYTES) -> Operations:
    """The scores of every tile that the rule does not forbid whole; none of them leaves fast memory.

    Each tile takes one exponential a query more than scores: what was summed so far is scaled to the new maximum.

    Source: Dao et al. 2022, algorithm 1 and theorem 2 (Θ(n² d² / M)); the order of the loops: Dao 2023, section 3.1.
    """
    scores = steps = 0
    for queries in counted(sizes.n_queries, tile):
        first, last = sizes.reach(queries)
        n_tiles = max(0, last // tile - first // tile + 1) if first <= last else 0
        n_keys = min(sizes.n_keys, (last // tile + 1) * tile) - first // tile * tile
        scores += len(queries) * n_keys * (n_tiles > 0)
        steps += len(queries) * n_tiles
    rows, columns = min(tile, sizes.n_queries), min(tile, sizes.n_keys)
    return Operations(
        multiply_adds=sizes.n_heads * scores * sizes.width,
        exponentials=sizes.n_heads * (scores + steps),
        moved_bytes=_streamed(sizes, fast_bytes),
        held_bytes=table_bytes(sizes.n_heads, rows, columns, sizes.itemsize) + 2 * _result_bytes(sizes),
    )


def window(sizes: Sizes, *, tile: int = WINDOW_TILE, fast_bytes: int = FAST_BYTES) -> Operations:
    """Each tile of t queries with the t − 1 + w keys that any of them may read: n (t − 1 + w) scores a head instead of n · m.

    Source: Child et al. 2019, "Sparse Transformers"; Beltagy et al. 2020, "Longformer", section 3.1.
    """
    pieces = [(len(queries), sizes.stretch(queries)) for queries in counted(sizes.n_queries, tile)]
    scores = sum(rows * columns for rows, columns in pieces)
    most = max(table_bytes(sizes.n_heads, rows, columns, sizes.itemsize) for rows, columns in pieces)
    return Operations(
        multiply_adds=sizes.n_heads * scores * sizes.width,
        exponentials=sizes.n_heads * (scores + sizes.n_queries * sizes.has_sink),
        moved_bytes=_streamed(sizes, fast_bytes),
        held_bytes=most + 2 * _result_bytes(sizes),
    )


def sparse(sizes: Sizes, *, pattern: Any, tile: int = SPARSE_TILE) -> Operations:
    """The keys that the pattern names for each of its tiles, as far as the rule lets them be read.

    With s sinks and a window of w, n (t − 1 + w + s) scores a head for tiles of t queries; with a stride of w, about n (t + w) and
    n²/(2 w) for the keys far back; with blocks of b tokens of which each reads c, n · b · c, and 2 n · b for each global block.

    Source: Xiao et al. 2023, "StreamingLLM"; Child et al. 2019, section 4.2; Zaheer et al. 2020, "Big Bird", section 2.
    """
    if isinstance(pattern, TopK):
        return _best(sizes, tile)
    scores = steps = passing = most = 0
    parts = pattern.parts()
    for part in parts:
        for queries, keys in part.tiles(sizes.n_queries, sizes.n_keys, tile):
            first, last = sizes.reach(range(queries[0], queries[-1] + 1))
            columns = max(0, bisect_right(keys, last) - bisect_left(keys, first))
            scores += len(queries) * columns
            steps += len(queries) * (columns > 0)
            passing += columns
            most = max(most, table_bytes(sizes.n_heads, len(queries), columns, sizes.itemsize))
    steps += 2 * sizes.n_queries * (len(parts) - 1)  # to put the parts together
    own = sizes.n_heads * sizes.n_queries + sizes.n_kv_heads * passing
    return Operations(
        multiply_adds=sizes.n_heads * scores * sizes.width,
        exponentials=sizes.n_heads * (scores + steps),
        moved_bytes=own * sizes.width * sizes.itemsize,
        held_bytes=most + 2 * len(parts) * _result_bytes(sizes),
    )


def _best(sizes: Sizes, tile: int) -> Operations:
    """The best keys of each query: every score is made to find them, so that little is saved."""
    whole = full(sizes)
    held = table_bytes(sizes.n_heads, min(tile, sizes.n_queries), sizes.n_keys, sizes.itemsize)
    return replace(whole, held_bytes=held + 2 * _result_bytes(sizes))


def linear(
    sizes: Sizes, *, n_features: int | None = None, chunk: int = CHUNK, fast_bytes: int = FAST_BYTES
) -> Operations:
    """One matrix of features × d_value a head holds all keys read so far: it is written by each key and read by each query.

    Under a causal rule the c tokens of a chunk read each other by a table of their own: c scores a token more.

    n_features : of random features, products with as many directions; None for elu + 1, which has as many as d_head

    Source: Katharopoulos et al. 2020, section 3.2; Choromanski et al. 2021, "Performers", section 2.
    """
    n, m, heads, kv_heads, d_value = sizes.n_queries, sizes.n_keys, sizes.n_heads, sizes.n_kv_heads, sizes.d_value
    r, tokens, is_causal = n_features or sizes.d_head, heads * n + kv_heads * m, sizes.n_ahead is not None
    directions = sizes.d_head * r if n_features else 0
    tiles = [(len(queries), min(m, queries.stop) - min(m, queries.start)) for queries in counted(n, chunk)]
    inside = sum(rows * columns for rows, columns in tiles) if is_causal else 0
    written = min(n, m) if is_causal else m
    memory = kv_heads * (r * (d_value + 1) + directions) * sizes.itemsize
    passes = 0 if memory <= kv_heads * fast_bytes else 2 * (len(tiles) if is_causal else 1)
    return Operations(
        multiply_adds=tokens * directions
        + heads * inside * (r + d_value + 1)
        + r * (heads * n + kv_heads * written) * (d_value + 1),
        exponentials=r * (tokens if n_features else heads * n + kv_heads * written),
        moved_bytes=sizes.given_bytes + passes * memory,
        held_bytes=3 * tokens * r * sizes.itemsize + 2 * _result_bytes(sizes),
    )


def lowrank(sizes: Sizes, *, n_landmarks: int = 64, n_steps: int = 6) -> Operations:
    """Three tables in place of one: n × l, l × l and l × m for l landmarks, and 4 products of l × l for each step of the inverse.

    Source: Xiong et al. 2021, "Nyströmformer", section 3 and equation 11; bytes: each table is written and read, as in ``full``.
    """
    n, m, heads, d_value = sizes.n_queries, sizes.n_keys, sizes.n_heads, sizes.d_value
    rows, columns = min(n, n_landmarks), min(m, n_landmarks)
    scores = n * columns + rows * columns + rows * m
    inverse = n_steps * (2 * rows * rows * columns + 2 * rows**3) + rows * columns * d_value
    again = (heads * n + sizes.n_kv_heads * m) * sizes.d_head * sizes.itemsize  # for the landmarks
    return Operations(
        multiply_adds=heads * (scores * sizes.d_head + (n * columns + rows * m) * d_value + inverse),
        exponentials=heads * scores,
        moved_bytes=sizes.given_bytes + again + 4 * heads * scores * sizes.itemsize,
        held_bytes=table_bytes(heads, max(n, m), max(rows, columns), sizes.itemsize) + 2 * _result_bytes(sizes),
    )


def n_read(sizes: Sizes) -> int:
    """Scores a head that the rule allows: what no variant that is exact under it can do without."""
    back = sizes.n_queries if sizes.n_back is None else sizes.n_back
    ahead = sizes.n_keys if sizes.n_ahead is None else sizes.n_ahead
    return _clipped(sizes.n_queries, ahead + 1, sizes.n_keys) - _clipped(sizes.n_queries, -back, sizes.n_keys)


def n_sunk(sizes: Sizes, n_back: int, n_sink: int) -> int:
    """Scores a head with the first ``n_sink`` keys that a causal window of ``n_back`` has left behind."""
    return _clipped(sizes.n_queries, -n_back, min(n_sink, sizes.n_keys))


def _clipped(n: int, start: int, top: int) -> int:
    """The sum of start, start + 1, … (n of them), each no less than 0 and no more than ``top``."""
    low = min(n, max(0, -start))
    high = min(n, max(low, top - start))
    return (high - low) * (2 * start + low + high - 1) // 2 + (n - high) * top


# bytes --------------------------------------------------------------------------------------------


def _streamed(sizes: Sizes, fast_bytes: int) -> int:
    """q read and the result written once; k and v once for each block of queries that stays in fast memory."""
    group = sizes.n_heads // sizes.n_kv_heads
    block = max(
        1, fast_bytes // (2 * sizes.width * sizes.itemsize)
    )  # a block of q and o, and as large a one of k and v
    positions = max(1, block // group)  # at which all heads that share keys have their queries in the block
    passing = sum(sizes.stretch(queries) for queries in counted(sizes.n_queries, positions))
    own = sizes.n_heads * sizes.n_queries + sizes.n_kv_heads * passing
    return own * sizes.width * sizes.itemsize


def _result_bytes(sizes: Sizes) -> int:
    return sizes.n_heads * sizes.n_queries * sizes.d_value * sizes.itemsize
