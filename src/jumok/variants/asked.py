"""q, k, v and a rule that go together: checked once, then read tile by tile."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from ..errors import InputError, ShapeError
from ..path import axes as ax
from ..path.allowed import Allowed
from ..path.described import like
from ..path.library import array_namespace
from ..path.parts import Places, taken
from ..path.products import ceiling, fit, largest, refuse_beyond
from ..path.rule import Rule
from ..path.scores import dot, scaled

__all__ = ["Asked", "refuse_unknown_numbers"]


@dataclass(frozen=True, eq=False)
class Asked:
    """What a variant works on. ``tile`` gives the scaled scores of some queries with some keys, and who may read whom."""

    q: ax.Q
    k: ax.K
    v: ax.V
    rule: Rule
    dtype: Any  # of the result: v's; half precision is widened to float32 on the way

    @classmethod
    def of(cls, q: Any, k: Any, v: Any, rule: Any) -> Asked:
        """The same, checked: floating arrays of one library whose axes agree, and a rule that fits them.

        Errors: ``InputError`` for what is no floating array, ``ShapeError`` for axes or a rule that do not agree.
        """
        for name, array in (("q", q), ("k", k), ("v", v)):
            _refuse_no_floats(name, array)
        _refuse_other_axes(q, k, v)
        rule = Rule.of(rule)
        rule.fits(q.shape[-3], q.shape[-2], k.shape[-2])
        return cls(q, k, v, rule, v.dtype)

    @cached_property
    def wide(self) -> Asked:
        """The same in float32 where it came in half precision, whose sums are too coarse, and sure to be finite.

        Errors: ``InputError`` for NaN and infinity, ``OverflowRefused`` where a sum of all values would not fit.
        """
        same = replace(self, q=_widened(self.q), k=_widened(self.k), v=_widened(self.v))
        for name, size in same.sizes.items():
            _refuse_unknown_size(name, size)
        limit = ceiling(same.v) / self.n_keys
        if (size := same.sizes["v"]) is not None and size > limit:
            refuse_beyond(limit, same.v, "the sum of all values")
        return same

    @cached_property
    def sizes(self) -> dict[str, float | None]:
        """The largest absolute value of q, of k and of v; None where it is not known (inside ``jax.jit``)."""
        return {"q": largest(self.q), "k": largest(self.k), "v": largest(self.v)}

    @cached_property
    def sure(self) -> bool:
        """True where no q · k can be too large for its number type."""
        return fit(self.sizes["q"], self.sizes["k"], self.q.shape[-1], self.q)

    @cached_property
    def by_batch(self) -> bool:
        """True where who may read whom is another in each batch."""
        one = self.positions(range(1))
        return bool(self.rule.allowed.block(one, one).ndim > 2)

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return int(self.q.shape[-2])

    @property
    def n_keys(self) -> int:
        """How many keys there are."""
        return int(self.k.shape[-2])

    @property
    def sink(self) -> ax.Sink | None:
        """The rule's sink logits in the type of the scores, or None."""
        if self.rule.sink is None:
            return None
        return array_namespace(self.q).astype(like(self.rule.sink, self.q), self.q.dtype, copy=False)

    def positions(self, places: Places) -> ax.Array:
        """Positions as an array of this library."""
        xp = array_namespace(self.q)
        if isinstance(places, range):
            return like(xp.arange(places.start, places.stop, places.step), self.q)
        return like(xp.asarray(list(places)), self.q)

    def tile(self, queries: Places, keys: Places, allowed: Allowed | None = None) -> tuple[ax.Scaled, ax.Allowed]:
        """(scaled, allowed) of some queries and some keys; nothing else is computed.

        allowed : who may read whom, where it is not the rule's own
        """
        scores = self.scaled(taken(self.q, queries, -2), taken(self.k, keys, -2), queries, keys)
        return scores, (allowed or self.rule.allowed).block(self.positions(queries), self.positions(keys))

    def scaled(self, q: ax.Q, k: ax.K, queries: Places, keys: Places) -> ax.Scaled:
        """The scaled scores of some rows of q and k, which stand at these positions."""
        bias = None
        if self.rule.bias is not None:
            bias = like(self.rule.bias.block(self.positions(queries), self.positions(keys)), q)
        return scaled(dot(q, k, self.sure), self.rule.scale_for(q.shape[-1]), self.rule.softcap, bias)

    def values(self, keys: Places) -> ax.V:
        """The values of some keys."""
        return taken(self.v, keys, -2)

    def given_back(self, mixed: ax.Mixed) -> ax.Mixed:
        """The result in the type in which v came."""
        return array_namespace(mixed).astype(mixed, self.dtype, copy=False)


def refuse_unknown_numbers(name: str, array: ax.Array) -> None:
    """Refuse NaN and infinity, where the numbers are known at all (not inside ``jax.jit``)."""
    _refuse_unknown_size(name, largest(array))


def _refuse_unknown_size(name: str, size: float | None) -> None:
    if size is not None and not math.isfinite(size):  # NaN where one of the numbers is NaN
        raise InputError(
            en=f"{name} holds NaN or infinity. Every number must be finite.",
            ko=f"{name}에 NaN이나 무한대가 있습니다. 모든 값은 유한해야 합니다.",
        )


def _widened(array: ax.Array) -> ax.Array:
    xp = array_namespace(array)
    return array if xp.finfo(array.dtype).bits >= 32 else xp.astype(array, xp.float32)


def _refuse_no_floats(name: str, array: Any) -> None:
    if not is_array_api_obj(array):
        raise InputError(
            en=f"{name} expects an array of NumPy, PyTorch, JAX …, got {type(array).__name__}.",
            ko=f"{name}에는 NumPy, PyTorch, JAX 등의 배열이 필요한데 {type(array).__name__}이(가) 왔습니다.",
        )
    if isinstance(array, np.ma.MaskedArray):
        raise InputError(
            en=f"{name} is a masked array, whose mask attention would not see. Fill it, such as {name}.filled(0), and say by "
            f"rule= who may read whom.",
            ko=f"{name}은(는) 마스크된 배열(masked array)인데 어텐션은 그 마스크를 보지 못합니다. {name}.filled(0)처럼 채우고, 누가 누구를 볼 "
            f"수 있는지는 rule=로 정하십시오.",
        )
    if "float" not in str(array.dtype):
        raise InputError(
            en=f"{name} expects real numbers (float32 or float64), got {array.dtype}.",
            ko=f"{name}에는 실수(float32, float64)가 필요한데 {array.dtype}이(가) 왔습니다.",
        )
    if array.ndim < 3 or 0 in array.shape:
        raise ShapeError(
            en=f"{name} expects (…, head, token, width), each at least 1, got shape {tuple(array.shape)}.",
            ko=f"{name}에는 크기가 1 이상인 (…, 헤드, 토큰, 폭) 배열이 필요한데 모양이 {tuple(array.shape)}입니다.",
        )


def _refuse_other_axes(q: Any, k: Any, v: Any) -> None:
    try:
        array_namespace(q, k, v)
    except TypeError:
        kinds = ", ".join(type(array).__module__.partition(".")[0] for array in (q, k, v))
        raise InputError(
            en=f"q, k and v must come from one library, got {kinds}.",
            ko=f"q, k, v는 한 라이브러리의 배열이어야 하는데 {kinds}의 배열이 왔습니다.",
        ) from None
    for axis, one, other, a, b in (
        ("d_head", "k", "q", k.shape[-1], q.shape[-1]),
        ("key", "v", "k", v.shape[-2], k.shape[-2]),
        ("kv_head", "v", "k", v.shape[-3], k.shape[-3]),
        ("…", "k", "q", tuple(k.shape[:-3]), tuple(q.shape[:-3])),
        ("…", "v", "q", tuple(v.shape[:-3]), tuple(q.shape[:-3])),
        ("dtype", "k", "q", k.dtype, q.dtype),
        ("dtype", "v", "q", v.dtype, q.dtype),
    ):
        if a != b:
            raise ShapeError(
                en=f"{one} has {axis}={a}, but {other} has {axis}={b}.",
                ko=f"{one}의 {axis}={a}인데 {other}의 {axis}={b}입니다.",
            )
    if q.shape[-3] % k.shape[-3]:
        raise ShapeError(
            en=f"{q.shape[-3]} query heads cannot share {k.shape[-3]} key/value heads evenly.",
            ko=f"쿼리 헤드 {q.shape[-3]}개가 키/밸류 헤드 {k.shape[-3]}개를 고르게 나누어 쓸 수 없습니다.",
        )
