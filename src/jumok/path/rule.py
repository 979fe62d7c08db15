"""How scores become weights: scale, soft cap, position bias, who may read whom, sink logits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from array_api_compat import is_array_api_obj

from ..errors import InputError, ShapeError, UnknownName
from . import allowed as _allowed
from .axes import Sink
from .checked import above_zero, finite
from .described import Described
from .patterns import TopK
from .positions import PositionBias

__all__ = ["Rule"]

_NAMED = {"none": _allowed.everything, "everything": _allowed.everything, "causal": _allowed.causal}


@dataclass(frozen=True, eq=False)
class Rule(Described, kind="rule"):
    """How scores become weights.

    scale : what a score is multiplied by; None means 1/√d_head
    allowed : who may read whom; None means everything, and a name such as ``"causal"`` will do
    softcap : c in c · tanh(score / c), None for none
    bias : a position bias (``positions.alibi`` and others), None for none
    sink : (head,) logits that take weight and hand over nothing, None for none

    >>> Rule(allowed="causal").allowed.kind
    'causal'

    Errors: ``InputError`` for a scale or soft cap that is not above 0, ``UnknownName`` for a rule's name.
    """

    scale: float | None = None
    allowed: Any = None
    softcap: float | None = None
    bias: PositionBias | None = None
    sink: Sink | None = None

    def __post_init__(self) -> None:
        for name, value in (("scale", self.scale), ("softcap", self.softcap)):
            if value is not None:
                object.__setattr__(self, name, above_zero(name, value))
        object.__setattr__(self, "allowed", _as_allowed(self.allowed))
        if self.bias is not None and not isinstance(self.bias, PositionBias):
            raise InputError(
                en=f"bias expects alibi(slopes), relative(vector), t5(buckets) or table(array) of jumok.positions, "
                f"got {type(self.bias).__name__}.",
                ko=f"bias에는 jumok.positions의 alibi(slopes), relative(vector), t5(buckets), table(array)가 필요한데 "
                f"{type(self.bias).__name__}이(가) 왔습니다.",
            )
        if self.sink is not None:
            object.__setattr__(self, "sink", finite("sink", self.sink, 1))

    @classmethod
    def of(cls, rule: Any) -> Rule:
        """A rule from what stands for one: None, a name, a rule of who may read whom, a table of booleans."""
        return rule if isinstance(rule, Rule) else cls(allowed=rule)

    def scale_for(self, d_head: int) -> float:
        """The scale in force: as given, or 1/√d_head."""
        return 1 / math.sqrt(d_head) if self.scale is None else self.scale

    def fits(self, n_heads: int, n_queries: int, n_keys: int) -> None:
        """Refuse a rule that was made for another number of heads or tokens."""
        self.allowed.fits(n_queries, n_keys)
        if self.bias is not None:
            self.bias.fits(n_heads, n_queries, n_keys)
        if self.sink is not None and self.sink.shape[0] != n_heads:
            raise ShapeError(
                en=f"sink has {self.sink.shape[0]} logits, but there are {n_heads} heads.",
                ko=f"sink에는 값이 {self.sink.shape[0]}개인데 헤드는 {n_heads}개입니다.",
            )


def _as_allowed(rule: Any) -> _allowed.Allowed:
    if rule is None:
        return _allowed.everything()
    if isinstance(rule, _allowed.Allowed):
        return rule
    if isinstance(rule, str):
        if rule not in _NAMED:
            raise UnknownName(
                en=f"unknown rule {rule!r}. Known by name: {', '.join(_NAMED)}; others: jumok.allowed.window(2) …",
                ko=f"알 수 없는 규칙 {rule!r}입니다. 이름으로 쓸 수 있는 규칙: {', '.join(_NAMED)}. "
                f"그 밖에는 jumok.allowed.window(2)처럼 만드십시오.",
            )
        return _NAMED[rule]()
    if is_array_api_obj(rule) or isinstance(rule, (list, tuple)):
        return _allowed.table(rule)
    if isinstance(rule, TopK):
        raise InputError(
            en="top_k looks at the scores, so it is no rule of who may read whom. Give it to sparse: "
            "jumok.variants.sparse(q, k, v, pattern=top_k(…)).",
            ko="top_k는 점수를 보고 고르므로, 누가 누구를 볼 수 있는지를 정하는 규칙이 아닙니다. sparse에 주십시오: "
            "jumok.variants.sparse(q, k, v, pattern=top_k(…)).",
        )
    raise InputError(
        en=f"a rule expects a name, jumok.allowed.causal(), or a table of True and False, got {type(rule).__name__}.",
        ko=f"규칙에는 이름, jumok.allowed.causal(), True와 False의 표가 필요한데 {type(rule).__name__}이(가) 왔습니다.",
    )
