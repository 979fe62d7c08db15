"""Which token of one text stands for which of another: the longest common subsequence of their texts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ..errors import TooLargeError

__all__ = ["common"]

MOST_BITS = 2**31  # of the table of one bit for every two tokens: 256 MiB


def common(a: Sequence[Hashable], b: Sequence[Hashable]) -> tuple[tuple[int, int], ...]:
    """The longest common subsequence, as pairs of positions in order.

    One bit for every two tokens is kept while it is found, and none where the texts begin and end alike.

    >>> common("the cat was tired".split(), "the old cat was soft".split())
    ((0, 0), (1, 2), (2, 3))

    Errors: ``TooLargeError`` where that would take more than 256 MiB.
    Source: Hyyrö 2004, "Bit-parallel LCS-length computation revisited".
    """
    first = _alike(a, b)
    last = _alike(a[first:][::-1], b[first:][::-1])
    inner = _inner(a[first : len(a) - last], b[first : len(b) - last])
    return (
        *((at, at) for at in range(first)),
        *((first + i, first + j) for i, j in inner),
        *((len(a) - n, len(b) - n) for n in range(last, 0, -1)),
    )


def _alike(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    return n


def _inner(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[int, int]]:
    _refuse_too_large(len(a), len(b))
    places: dict[Hashable, int] = {}
    for i, token in enumerate(a):
        places[token] = places.get(token, 0) | 1 << i
    every = (1 << len(a)) - 1
    row, rows = every, []  # bit i of row j is 0 where a[i] makes the subsequence with b[..j] longer
    for token in b:
        same = row & places.get(token, 0)
        row = ((row + same) | (row - same)) & every
        rows.append(row)
    return _walked_back(rows, len(a))


def _walked_back(rows: list[int], n: int) -> list[tuple[int, int]]:
    pairs = []
    i, j = n, len(rows)
    while i and j:
        longer = not rows[j - 1] >> (i - 1) & 1
        if not longer:
            i -= 1
        elif j > 1 and not rows[j - 2] >> (i - 1) & 1:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]


def _refuse_too_large(n: int, m: int) -> None:
    if n * m <= MOST_BITS:
        return
    raise TooLargeError(
        en=f"aligning {n:,} with {m:,} tokens would take {n * m // 8_000_000:,} MB. Say which token stands for which: "
        f"compare(a, b, pairs=[(0, 0), …]).",
        ko=f"토큰 {n:,}개와 {m:,}개를 맞추려면 {n * m // 8_000_000:,} MB가 필요합니다. 어느 토큰이 어느 토큰에 해당하는지 "
        f"직접 밝히십시오: compare(a, b, pairs=[(0, 0), …]).",
        bytes_needed=n * m // 8,
    )
