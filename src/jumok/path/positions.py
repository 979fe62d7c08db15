"""Where a token stands: codes added to x, rotations of q and k, biases added to the scores.

>>> sinusoidal(2, 2).tolist()[0]
[0.0, 1.0]
"""

from __future__ import annotations

import math
from bisect import bisect
from dataclasses import dataclass
from typing import Any

from ..errors import InputError, ShapeError
from .axes import Array, Bias, Keys, PerHead, PositionCode, Queries
from .checked import above_zero, finite, flag, of_heads, whole
from .described import Described, like
from .library import array_namespace

__all__ = ["PositionBias", "Rotary", "alibi", "alibi_slopes", "relative", "sinusoidal", "t5", "table"]


def sinusoidal(n_tokens: int, d_model: int, base: float = 10_000.0) -> PositionCode:
    """The code that is added to the embeddings: sines in the even dimensions, cosines in the odd.

    Angle of position p in pair i: p / base^(2i / d_model), in radians.

    >>> [round(a, 4) for a in sinusoidal(2, 4)[1].tolist()]
    [0.8415, 0.5403, 0.01, 1.0]

    Source: Vaswani et al. 2017, section 3.5.
    """
    import numpy as xp

    position = xp.arange(n_tokens)[:, None]
    pair = xp.arange(d_model)[None, :] // 2
    angle = position / base ** (2 * pair / d_model)
    return xp.where(xp.arange(d_model)[None, :] % 2 == 0, xp.sin(angle), xp.cos(angle))


@dataclass(frozen=True, eq=False)
class Rotary(Described, kind="rotary"):
    """Rotation of q and k by their position, so that q · k depends on how far apart they stand.

    base : θ of the slowest pair; angle of position p in pair i is p · base^(-2i / d_head), radians
    interleaved : True pairs dimensions (0, 1), (2, 3), … as in the paper; False pairs the first half
        with the second, as most released models do
    offset : position of the first token

    >>> import numpy as np
    >>> turned = Rotary(interleaved=True).turned(np.array([[[1.0, 0.0], [1.0, 0.0]]]))
    >>> [round(a, 4) for a in turned[0, 1].tolist()]
    [0.5403, 0.8415]

    Source: Su et al. 2021, "RoFormer", equation 34.
    """

    base: float = 10_000.0
    interleaved: bool = False
    offset: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", above_zero("rotary base", self.base))
        object.__setattr__(self, "offset", whole("offset", self.offset))
        flag("interleaved", self.interleaved)

    def turned(self, q: PerHead) -> PerHead:
        """q or k, (…, head, token, d_head) with d_head even, each token turned by its position."""
        xp = array_namespace(q)
        n_tokens, d_head = q.shape[-2], q.shape[-1]
        if d_head % 2:
            raise ShapeError(
                en=f"rotary positions turn pairs of dimensions, so d_head must be even, got {d_head}.",
                ko=f"회전 위치(rotary)는 차원을 둘씩 짝지어 돌리므로 d_head가 짝수여야 하는데 {d_head}입니다.",
            )
        exact = _at_least_float32(q)  # half precision cannot count to 10,000
        per_token = like(xp.asarray([self.base ** (-2 * i / d_head) for i in range(d_head // 2)], dtype=exact), q)
        position = xp.astype(like(xp.arange(self.offset, self.offset + n_tokens), q), exact)
        angle = position[:, None] * per_token[None, :]
        cos, sin = xp.astype(xp.cos(angle), q.dtype, copy=False), xp.astype(xp.sin(angle), q.dtype, copy=False)
        if self.interleaved:
            a, b = q[..., 0::2], q[..., 1::2]
            both = xp.stack([a * cos - b * sin, a * sin + b * cos], axis=-1)
            return xp.reshape(both, q.shape)
        a, b = q[..., : d_head // 2], q[..., d_head // 2 :]
        return xp.concat([a * cos - b * sin, a * sin + b * cos], axis=-1)


class PositionBias(Described):
    """A number added to each scaled score, from the places of query and key. Two are joined by ``+``."""

    def block(self, queries: Queries, keys: Keys) -> Bias:
        """(head or 1, query, key) for the positions asked for."""
        raise NotImplementedError

    def fits(self, n_heads: int, n_queries: int, n_keys: int) -> None:
        """Refuse a bias that was made for another number of heads or tokens."""
        raise NotImplementedError

    def __add__(self, other: PositionBias) -> PositionBias:
        return _Sum(self, other)


@dataclass(frozen=True, eq=False)
class _Sum(PositionBias, kind="sum"):
    first: PositionBias
    second: PositionBias

    def __post_init__(self) -> None:
        for part in (self.first, self.second):
            if not isinstance(part, PositionBias):
                raise InputError(
                    en=f"+ joins two position biases such as alibi(slopes), got {type(part).__name__}.",
                    ko=f"+는 alibi(slopes) 같은 위치 편향 둘을 잇는데 {type(part).__name__}이(가) 왔습니다.",
                )

    def block(self, queries: Queries, keys: Keys) -> Bias:
        return self.first.block(queries, keys) + self.second.block(queries, keys)

    def fits(self, n_heads: int, n_queries: int, n_keys: int) -> None:
        self.first.fits(n_heads, n_queries, n_keys)
        self.second.fits(n_heads, n_queries, n_keys)


@dataclass(frozen=True, eq=False)
class _Alibi(PositionBias, kind="alibi"):
    slopes: Array
    offset: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "slopes", finite("alibi(slopes)", self.slopes, 1))
        object.__setattr__(self, "offset", whole("offset", self.offset))

    def block(self, queries: Queries, keys: Keys) -> Bias:
        xp = array_namespace(queries)
        slopes = like(self.slopes, queries)
        slopes = xp.astype(slopes, _at_least_float32(slopes), copy=False)
        far = xp.abs(queries[:, None] + self.offset - keys[None, :])
        return -slopes[:, None, None] * xp.astype(far, slopes.dtype)[None, :, :]

    def fits(self, n_heads: int, n_queries: int, n_keys: int) -> None:  # noqa: ARG002 (any length)
        of_heads("alibi(slopes)", self.slopes.shape[0], n_heads)


@dataclass(frozen=True, eq=False)
class _Relative(PositionBias, kind="relative"):
    vector: Array
    offset: int = 0

    def __post_init__(self) -> None:
        vector = finite("relative(vector)", self.vector, 2)
        if vector.shape[-1] % 2 == 0:
            raise ShapeError(
                en=f"relative(vector) expects an odd number of offsets (−r … 0 … r) a head, got {vector.shape[-1]}.",
                ko=f"relative(vector)에는 헤드마다 홀수 개(−r … 0 … r)의 값이 필요한데 {vector.shape[-1]}개가 왔습니다.",
            )
        object.__setattr__(self, "vector", vector)
        object.__setattr__(self, "offset", whole("offset", self.offset))

    def block(self, queries: Queries, keys: Keys) -> Bias:
        return _by_offset(like(self.vector, queries), keys[None, :] - queries[:, None] - self.offset)

    def fits(self, n_heads: int, n_queries: int, n_keys: int) -> None:  # noqa: ARG002 (any length)
        of_heads("relative(vector)", self.vector.shape[0], n_heads)


@dataclass(frozen=True, eq=False)
class _T5(PositionBias, kind="t5"):
    buckets: Array
    bidirectional: bool = True
    max_distance: int = 128
    offset: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "buckets", finite("t5(buckets)", self.buckets, 2))
        object.__setattr__(self, "max_distance", whole("max_distance", self.max_distance, most=2**20))
        object.__setattr__(self, "offset", whole("offset", self.offset))
        n_buckets, least = self.buckets.shape[0], 4 if flag("bidirectional", self.bidirectional) else 2
        if n_buckets < least or n_buckets % 2 or self.max_distance <= n_buckets // least:
            raise ShapeError(
                en=f"t5(buckets) expects (bucket, head) with an even number of buckets, at least {least}, and a "
                f"max_distance beyond the exact ones; got {tuple(self.buckets.shape)} and {self.max_distance}.",
                ko=f"t5(buckets)에는 짝수이며 {least} 이상인 버킷 수의 (버킷, 헤드) 배열과 그보다 먼 max_distance가 "
                f"필요한데 {tuple(self.buckets.shape)}와 {self.max_distance}이(가) 왔습니다.",
            )

    def block(self, queries: Queries, keys: Keys) -> Bias:
        xp = array_namespace(queries)
        vector = _taken_by(xp.matrix_transpose(like(self.buckets, queries)), like(xp.asarray(self._offsets()), queries))
        return _by_offset(vector, keys[None, :] - queries[:, None] - self.offset)

    def _offsets(self) -> list[int]:
        """The bucket of each offset key − query, from −max_distance to +max_distance."""
        n_buckets = self.buckets.shape[0] // (2 if self.bidirectional else 1)
        back = _bucket_of_distance(n_buckets, self.max_distance)
        ahead = [n_buckets + bucket for bucket in back] if self.bidirectional else [0] * len(back)
        return back[::-1] + ahead[1:]

    def fits(self, n_heads: int, n_queries: int, n_keys: int) -> None:  # noqa: ARG002 (any length)
        of_heads("t5(buckets)", self.buckets.shape[1], n_heads)


def _bucket_of_distance(n_buckets: int, max_distance: int) -> list[int]:
    """The bucket of each distance 0, 1, …, max_distance: the first half exact, the rest ever wider."""
    exact = n_buckets // 2
    wider = n_buckets - exact
    # 1 − 1e-12: where a bucket starts exactly at a whole distance, rounding must not move it
    starts = [math.ceil(exact * (max_distance / exact) ** (i / wider) * (1 - 1e-12)) for i in range(wider)]
    return [d if d < exact else exact - 1 + bisect(starts, d) for d in range(max_distance + 1)]


@dataclass(frozen=True, eq=False)
class _BiasTable(PositionBias, kind="bias_table"):
    array: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "array", finite("bias table(array)", self.array, 3))

    def block(self, queries: Queries, keys: Keys) -> Bias:
        xp = array_namespace(queries)
        return xp.take(xp.take(like(self.array, queries), queries, axis=-2), keys, axis=-1)

    def fits(self, n_heads: int, n_queries: int, n_keys: int) -> None:
        of_heads("bias table(array)", self.array.shape[-3], n_heads)
        if tuple(self.array.shape[-2:]) != (n_queries, n_keys):
            raise ShapeError(
                en=f"bias table(array) has (query, key) = {tuple(self.array.shape[-2:])}, but there are "
                f"{n_queries} queries and {n_keys} keys.",
                ko=f"bias table(array)은(는) (쿼리, 키) = {tuple(self.array.shape[-2:])}인데 쿼리는 {n_queries}개, "
                f"키는 {n_keys}개입니다.",
            )


def alibi(slopes: Any, offset: int = 0) -> PositionBias:
    """Far keys cost: −slope · |distance in tokens|, one slope a head.

    slopes : (head,); ``alibi_slopes(n_heads)`` gives the published ones

    >>> import numpy as np
    >>> alibi([0.5]).block(np.arange(3), np.arange(3))[0, 2].tolist()
    [-1.0, -0.5, -0.0]

    Source: Press et al. 2022, "Train short, test long".
    """
    return _Alibi(slopes, offset)


def alibi_slopes(n_heads: int) -> Array:
    """The published slopes: 2^(−8/n), 2^(−16/n), …; between powers of two, every other one of the next.

    >>> alibi_slopes(8).tolist()[:3]
    [0.5, 0.25, 0.125]

    Source: Press et al. 2022, section 3 and its released code.
    """
    import numpy

    n = 2 ** math.floor(math.log2(n_heads))
    first = [2 ** (-8 * (i + 1) / n) for i in range(n)]
    between = [2 ** (-4 * (2 * i + 1) / n) for i in range(n_heads - n)]
    return numpy.array(first + between)


def relative(vector: Any, offset: int = 0) -> PositionBias:
    """One number for each offset key − query; offsets beyond the vector take its last value on that side.

    vector : (head or 1, 2 · reach + 1), from −reach to +reach

    >>> import numpy as np
    >>> relative([[1.0, 0.0, 2.0]]).block(np.arange(3), np.arange(3))[0, 1].tolist()
    [1.0, 0.0, 2.0]

    Source: Shaw et al. 2018, "Self-attention with relative position representations", clipping as there.
    """
    return _Relative(vector, offset)


def t5(buckets: Any, bidirectional: bool = True, max_distance: int = 128, offset: int = 0) -> PositionBias:
    """One number for each bucket of distances: exact when near, ever wider when far.

    buckets : (bucket, head), as the embedding of the published model
    bidirectional : True for encoders (half of the buckets look ahead), False for decoders

    >>> import numpy as np
    >>> t5([[0.0], [1.0], [2.0], [3.0]]).block(np.arange(2), np.arange(2))[0].tolist()
    [[0.0, 3.0], [1.0, 0.0]]

    Source: Raffel et al. 2020, "T5", section 2.1 and its released code.
    """
    return _T5(buckets, bidirectional, max_distance, offset)


def table(array: Any) -> PositionBias:
    """Exactly the numbers of a table.

    array : (head or 1, query, key)

    >>> import numpy as np
    >>> table([[[0.0, -1.0]]]).block(np.arange(1), np.arange(2)).tolist()
    [[[0.0, -1.0]]]
    """
    return _BiasTable(array)


def _by_offset(vector: Array, ahead: Array) -> Bias:
    """(head, query, key): each head's number for each offset; beyond the vector its last one on that side."""
    xp = array_namespace(vector)
    reach = vector.shape[-1] // 2
    return _taken_by(vector, xp.clip(ahead, -reach, reach) + reach)


def _taken_by(vector: Array, index: Array) -> Array:
    """For each head its vector's entry at each index."""
    xp = array_namespace(vector)
    flat = xp.take(vector, xp.reshape(index, (-1,)), axis=-1)
    return xp.reshape(flat, (*flat.shape[:-1], *index.shape))


def _at_least_float32(array: Array) -> Any:
    xp = array_namespace(array)
    return xp.float32 if xp.finfo(array.dtype).bits < 32 else array.dtype
