"""Where a token stands: codes added to x, rotations of q and k, biases added to the scores.

>>> sinusoidal(2, 2).tolist()[0]
[0.0, 1.0]
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from array_api_compat import array_namespace

from ..errors import InputError, ShapeError
from .axes import Array, Bias, PositionCode, Positions
from .described import Described, kept, like

__all__ = ["PositionBias", "Rotary", "alibi", "alibi_slopes", "relative", "sinusoidal", "t5", "table"]


def sinusoidal(n_tokens: int, d_model: int, base: float = 10_000.0) -> PositionCode:
    """The code that is added to the embeddings: sines in the even dimensions, cosines in the odd.

    Angle of position p in pair i: p / base^(2i / d_model), in radians.

    >>> [round(a, 4) for a in sinusoidal(2, 4)[1].tolist()]
    [0.8415, 0.5403, 0.01, 0.9999]

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
        if not (isinstance(self.base, (int, float)) and math.isfinite(self.base) and self.base > 0):
            raise InputError(
                en=f"rotary base expects a number above 0, got {self.base!r}. Usual: 10000.",
                ko=f"rotary base에는 0보다 큰 숫자가 필요한데 {self.base!r}이(가) 왔습니다. 보통 10000입니다.",
            )

    def turned(self, q: Array) -> Array:
        """q or k, (…, head, token, d_head) with d_head even, each token turned by its position."""
        xp = array_namespace(q)
        n_tokens, d_head = q.shape[-2], q.shape[-1]
        if d_head % 2:
            raise ShapeError(
                en=f"rotary positions turn pairs of dimensions, so d_head must be even, got {d_head}.",
                ko=f"회전 위치(rotary)는 차원을 둘씩 짝지어 돌리므로 d_head가 짝수여야 하는데 {d_head}입니다.",
            )
        pair = xp.astype(like(xp.arange(d_head // 2), q), q.dtype)
        position = xp.astype(like(xp.arange(self.offset, self.offset + n_tokens), q), q.dtype)
        angle = position[:, None] * xp.exp(pair * (-2 * math.log(self.base) / d_head))[None, :]
        cos, sin = xp.cos(angle), xp.sin(angle)
        if self.interleaved:
            a, b = q[..., 0::2], q[..., 1::2]
            both = xp.stack([a * cos - b * sin, a * sin + b * cos], axis=-1)
            return xp.reshape(both, q.shape)
        a, b = q[..., : d_head // 2], q[..., d_head // 2 :]
        return xp.concat([a * cos - b * sin, a * sin + b * cos], axis=-1)


class PositionBias(Described):
    """A number added to each scaled score, from the places of query and key. Two are joined by ``+``."""

    def block(self, queries: Positions, keys: Positions) -> Bias:
        """(head or 1, query, key) for the positions asked for."""
        raise NotImplementedError

    def fits(self, n_heads: int, n_queries: int, n_keys: int) -> None:
        """Refuse a bias that was made for another number of heads or tokens."""

    def __add__(self, other: PositionBias) -> PositionBias:
        return _Sum(self, other)


@dataclass(frozen=True, eq=False)
class _Sum(PositionBias, kind="sum"):
    first: PositionBias
    second: PositionBias

    def block(self, queries: Positions, keys: Positions) -> Bias:
        return self.first.block(queries, keys) + self.second.block(queries, keys)

    def fits(self, n_heads: int, n_queries: int, n_keys: int) -> None:
        self.first.fits(n_heads, n_queries, n_keys)
        self.second.fits(n_heads, n_queries, n_keys)


@dataclass(frozen=True, eq=False)
class _Alibi(PositionBias, kind="alibi"):
    slopes: Array
    offset: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "slopes", _finite("alibi(slopes)", self.slopes, 1))

    def block(self, queries: Positions, keys: Positions) -> Bias:
        slopes = like(self.slopes, queries)
        far = array_namespace(queries).abs(queries[:, None] + self.offset - keys[None, :])
        return -slopes[:, None, None] * array_namespace(queries).astype(far, slopes.dtype)[None, :, :]

    def fits(self, n_heads: int, n_queries: int, n_keys: int) -> None:
        _heads("alibi(slopes)", self.slopes.shape[0], n_heads)


@dataclass(frozen=True, eq=False)
class _Relative(PositionBias, kind="relative"):
    vector: Array
    offset: int = 0

    def __post_init__(self) -> None:
        vector = _finite("relative(vector)", self.vector, 2)
        if vector.shape[-1] % 2 == 0:
            raise ShapeError(
                en=f"relative(vector) expects an odd number of offsets (−r … 0 … r) a head, got {vector.shape[-1]}.",
                ko=f"relative(vector)에는 헤드마다 홀수 개(−r … 0 … r)의 값이 필요한데 {vector.shape[-1]}개가 왔습니다.",
            )
        object.__setattr__(self, "vector", vector)

    def block(self, queries: Positions, keys: Positions) -> Bias:
        xp = array_namespace(queries)
        reach = self.vector.shape[-1] // 2
        ahead = xp.clip(keys[None, :] - queries[:, None] - self.offset, -reach, reach) + reach
        return _looked_up(like(self.vector, queries), ahead)

    def fits(self, n_heads: int, n_queries: int, n_keys: int) -> None:
        _heads("relative(vector)", self.vector.shape[0], n_heads)


@dataclass(frozen=True, eq=False)
class _T5(PositionBias, kind="t5"):
    buckets: Array
    bidirectional: bool = True
    max_distance: int = 128
    offset: int = 0

    def __post_init__(self) -> None:
        buckets = _finite("t5(buckets)", self.buckets, 2)
        least = 4 if self.bidirectional else 2
        if buckets.shape[0] < least or buckets.shape[0] % 2 or self.max_distance <= buckets.shape[0] // least:
            raise ShapeError(
                en=f"t5(buckets) expects (bucket, head) with an even number of buckets, at least {least}, and a "
                f"max_distance beyond the exact ones; got {tuple(buckets.shape)} and {self.max_distance}.",
                ko=f"t5(buckets)에는 짝수이며 {least} 이상인 버킷 수의 (버킷, 헤드) 배열과 그보다 먼 max_distance가 "
                f"필요한데 {tuple(buckets.shape)}와 {self.max_distance}이(가) 왔습니다.",
            )
        object.__setattr__(self, "buckets", buckets)

    def block(self, queries: Positions, keys: Positions) -> Bias:
        xp = array_namespace(queries)
        ahead = keys[None, :] - queries[:, None] - self.offset
        n_buckets = self.buckets.shape[0] // (2 if self.bidirectional else 1)
        start = xp.astype((ahead > 0) & self.bidirectional, ahead.dtype) * n_buckets
        far = xp.abs(ahead) if self.bidirectional else xp.where(ahead < 0, -ahead, xp.zeros_like(ahead))
        exact = n_buckets // 2
        # float32, as in the published model, so that distances on a border fall into the same bucket
        ratio = xp.astype(xp.where(far < exact, exact, far), xp.float32) / exact
        steps = xp.log(ratio) / math.log(self.max_distance / exact) * (n_buckets - exact)
        coarse = xp.clip(exact + xp.astype(steps, far.dtype), exact, n_buckets - 1)
        return _looked_up(xp.matrix_transpose(like(self.buckets, queries)), start + xp.where(far < exact, far, coarse))

    def fits(self, n_heads: int, n_queries: int, n_keys: int) -> None:
        _heads("t5(buckets)", self.buckets.shape[1], n_heads)


@dataclass(frozen=True, eq=False)
class _BiasTable(PositionBias, kind="bias_table"):
    array: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "array", _finite("bias table(array)", self.array, 3))

    def block(self, queries: Positions, keys: Positions) -> Bias:
        xp = array_namespace(queries)
        return xp.take(xp.take(like(self.array, queries), queries, axis=-2), keys, axis=-1)

    def fits(self, n_heads: int, n_queries: int, n_keys: int) -> None:
        _heads("bias table(array)", self.array.shape[-3], n_heads)
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


def _looked_up(vector: Array, index: Array) -> Bias:
    """(head, query, key): for each head its vector's entry at each index."""
    xp = array_namespace(vector)
    flat = xp.take(vector, xp.reshape(index, (-1,)), axis=-1)
    return xp.reshape(flat, (*flat.shape[:-1], *index.shape))


def _finite(name: str, value: Any, ndim: int) -> Array:
    array = kept(value)
    if "int" in str(array.dtype):
        array = kept(value, float)
    xp = array_namespace(array)
    if array.ndim != ndim or "float" not in str(array.dtype) or not bool(xp.all(xp.isfinite(array))):
        raise InputError(
            en=f"{name} expects {ndim} axes of finite numbers, got {array.dtype} with shape {tuple(array.shape)}"
            f"{'' if array.ndim != ndim else ', not all finite'}.",
            ko=f"{name}에는 축이 {ndim}개인 유한한 숫자 배열이 필요한데 {array.dtype}, 모양 {tuple(array.shape)}이(가) "
            f"왔습니다{'' if array.ndim != ndim else '(유한하지 않은 값 포함)'}.",
        )
    return array


def _heads(name: str, got: int, expected: int) -> None:
    if got not in (1, expected):
        raise ShapeError(
            en=f"{name} is for {got} heads, but there are {expected}.",
            ko=f"{name}은(는) 헤드 {got}개용인데 헤드는 {expected}개입니다.",
        )
