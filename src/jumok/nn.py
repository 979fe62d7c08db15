"""Self-attention as ordinary PyTorch modules that take a rule, show their weights, train, and give a Trace.

>>> attention = MultiHeadAttention(d_model=8, n_heads=2)
>>> output, weights = attention(torch.zeros(3, 8), rule="causal")
>>> tuple(output.shape), weights[0, 1].tolist()
((3, 8), [0.5, 0.5, 0.0])

Needs PyTorch: ``pip install 'jumok[learn]'``.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import InputError, MissingExtra, ShapeError
from .path import Rule, Steps
from .path.products import ceiling, largest
from .trace import Heads, Source, Token, Trace, as_tokens

try:
    import torch
    from torch import nn
    from torch.nn.functional import scaled_dot_product_attention
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise MissingExtra(extra="learn", package="torch") from None

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["MultiHeadAttention", "SelfAttention"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Attention(nn.Module):
    """x → q, k, v → attention under a rule → output. What the two modules of the door share."""

    w_o: nn.Linear | None

    def __init__(self, d_model: int, d_head: int, n_heads: int, n_kv_heads: int, bias: bool) -> None:
        super().__init__()
        self.d_model, self.d_head, self.n_heads, self.n_kv_heads = d_model, d_head, n_heads, n_kv_heads
        self.w_q = nn.Linear(d_model, n_heads * d_head, bias=bias)
        self.w_k = nn.Linear(d_model, n_kv_heads * d_head, bias=bias)
        self.w_v = nn.Linear(d_model, n_kv_heads * d_head, bias=bias)

    def forward(self, x: Tensor, rule: Any = None, need_weights: bool = True) -> tuple[Tensor, Tensor | None]:
        """The output and, where they are asked for, the weights.

        x : (…, token, d_model), floating; any leading axes are batches
        rule : a ``Rule``, or what stands for one: None, ``"causal"``, ``jumok.allowed.window(2)``, a table of
            booleans; its arrays may have leading axes too: ``jumok.allowed.padding(keys)`` with (batch, key)
        need_weights : False gives None for the weights and calls PyTorch's fused attention inside

        Gives (output, weights): (…, token, d_model or d_k) and (…, head, query, key). A query that may read
        nothing has weights and mixed values of 0, on both routes.

        With the weights the numbers are the path's own, in float32 at least: what would overflow is refused.
        The fused call makes no such check, and no n × n table either, unless the rule needs one (anything but
        everything and causal); a soft cap or sink logits are beyond it, and take the path's route.

        Errors: ``ShapeError`` for another d_model, or a rule made for other tokens or batches; ``InputError``
        for an x that is not floating or, with the weights, not finite; ``OverflowRefused``.
        """
        rule = Rule.of(rule)
        _check(self, x, rule)
        q, k, v = self._projected(x)
        mixed, weights = _route(rule, need_weights)(q, k, v, rule)
        output = mixed.transpose(-3, -2).flatten(-2)  # the heads side by side
        return output if self.w_o is None else self.w_o(output), weights if need_weights else None

    def trace(
        self, x: Tensor, tokens: Iterable[str | Token], rule: Any = None, dimensions: Sequence[str] | None = None
    ) -> Trace:
        """The record of one sequence: q, k and v as this module makes them, and the parameters it has now.

        x : (token, d_model), no batch axis
        tokens : (token,) what stands at each place
        rule : as for ``forward``
        dimensions : (d_model,) names of the embedding dimensions, or None

        The Trace is a copy: later training does not change it. Its ``heads`` hold ``w_q`` … as
        (d_model, heads · d), which is ``Linear.weight`` transposed.

        >>> attention = SelfAttention(2, 2)
        >>> attention.trace(torch.zeros(2, 2), ["a", "b"]).weights.tolist()
        [[[0.5, 0.5], [0.5, 0.5]]]

        Errors: as for ``forward``; ``ShapeError`` for a batch axis or another number of tokens.
        """
        rule, names = Rule.of(rule), as_tokens(tokens)
        _check(self, x, rule, one_sequence=True)
        if len(names) != x.shape[0]:
            raise ShapeError(
                en=f"tokens has {len(names)} texts, but x has {x.shape[0]} rows. x is {tuple(x.shape)}, read as "
                f"(token, d_model).",
                ko=f"tokens는 {len(names)}개인데 x는 {x.shape[0]}행입니다. x의 모양 {tuple(x.shape)}은(는) "
                f"(토큰, d_model)로 읽습니다.",
            )
        _refuse_other_batches(rule, (), x.device)
        with torch.no_grad():
            made: dict[str, Any] = dict(zip("qkv", self._projected(x), strict=True), x=x)  # copied by the Trace
        return Trace(
            tokens=names,
            **made,
            rule=rule,
            heads=self._heads(),
            dimensions=None if dimensions is None else tuple(dimensions),
            source=self._source(x),
        )

    def _projected(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """q, k and v: (…, head, token, d_head), the columns dealt to the heads in order."""
        pairs = (self.w_q, self.n_heads), (self.w_k, self.n_kv_heads), (self.w_v, self.n_kv_heads)
        q, k, v = (w(x).unflatten(-1, (n, self.d_head)).transpose(-3, -2) for w, n in pairs)
        return q, k, v

    def _heads(self) -> Heads:
        found: dict[str, Any] = {}
        for name, linear in (("q", self.w_q), ("k", self.w_k), ("v", self.w_v), ("o", self.w_o)):
            if linear is not None:
                found |= {f"w_{name}": linear.weight.T, f"b_{name}": linear.bias}
        return Heads(**found)

    def _source(self, x: Tensor) -> Source:
        shared = f"{self.n_heads} query heads share {self.n_kv_heads} key/value heads, neighbours together"
        return Source(
            kind="module",
            name=type(self).__name__,
            backend=f"torch {torch.__version__}",
            shared_heads=None if self.n_heads == self.n_kv_heads else shared,
            details={"device": str(x.device), "dtype": str(x.dtype).removeprefix("torch.")},
        )


class SelfAttention(_Attention):
    """One head of self-attention: softmax(Q Kᵀ / √d_k) V, with learnable W_Q, W_K and W_V.

    d_model : width of x
    d_k : width of q, k and v, and so of the output
    bias : whether the three projections add a bias

    Submodules ``w_q``, ``w_k`` and ``w_v`` are ``nn.Linear`` of (d_model → d_k).

    >>> attention = SelfAttention(2, 2, bias=False)
    >>> for w in attention.parameters():
    ...     _ = nn.init.eye_(w)
    >>> output, weights = attention(torch.eye(2), rule="causal")
    >>> [round(weight, 2) for weight in weights[0, 1].tolist()]  # head 0, query 1
    [0.33, 0.67]

    Errors: ``InputError`` for sizes that are not whole numbers, 1 or more.
    Source: Vaswani et al. 2017, "Attention is all you need", equation 1.
    """

    def __init__(self, d_model: int, d_k: int, bias: bool = True) -> None:
        d_model, d_k = _whole("d_model", d_model), _whole("d_k", d_k)
        super().__init__(d_model, d_k, 1, 1, bias)
        self.w_o = None

    def extra_repr(self) -> str:
        """The sizes, for ``print(module)``."""
        return f"d_model={self.d_model}, d_k={self.d_head}"


class MultiHeadAttention(_Attention):
    """Several heads side by side, each with its share of d_model, joined through W_O.

    d_model : width of x and of the output
    n_heads : heads; each has d_head = d_model / n_heads dimensions
    bias : whether the four projections add a bias
    n_kv_heads : key/value heads; fewer than n_heads means that neighbouring heads share one. None: n_heads

    Submodules ``w_q``, ``w_k``, ``w_v`` and ``w_o`` are ``nn.Linear``.

    >>> attention = MultiHeadAttention(d_model=4, n_heads=2, n_kv_heads=1)
    >>> output, weights = attention(torch.zeros(5, 2, 4))
    >>> tuple(output.shape), tuple(weights.shape)  # (batch, token, d_model), (batch, head, query, key)
    ((5, 2, 4), (5, 2, 2, 2))

    Errors: ``InputError`` for sizes that are not whole numbers, 1 or more, or heads that do not divide them.
    Source: Vaswani et al. 2017, section 3.2.2; shared keys: Ainslie et al. 2023, "GQA".
    """

    def __init__(self, d_model: int, n_heads: int, bias: bool = True, *, n_kv_heads: int | None = None) -> None:
        d_model, n_heads = _whole("d_model", d_model), _whole("n_heads", n_heads)
        n_kv_heads = n_heads if n_kv_heads is None else _whole("n_kv_heads", n_kv_heads)
        _divides("n_heads", n_heads, "d_model", d_model)
        _divides("n_kv_heads", n_kv_heads, "n_heads", n_heads)
        super().__init__(d_model, d_model // n_heads, n_heads, n_kv_heads, bias)
        self.w_o = nn.Linear(d_model, d_model, bias=bias)

    def extra_repr(self) -> str:
        """The sizes, for ``print(module)``."""
        shared = "" if self.n_kv_heads == self.n_heads else f", n_kv_heads={self.n_kv_heads}"
        return f"d_model={self.d_model}, n_heads={self.n_heads}{shared}"


# three routes from q, k and v to the mixed values -------------------------------------------------


def _route(rule: Rule, need_weights: bool) -> Callable[..., tuple[Tensor, Tensor | None]]:
    """(q, k, v, rule) → (mixed, weights or None), the fastest way that gives what is needed."""
    if need_weights or rule.softcap is not None or rule.sink is not None:
        return _by_steps
    return _fused if _is_plain(rule) else _fused_with_table


def _is_plain(rule: Rule) -> bool:
    """Whether the fused call knows the rule without a table."""
    allowed: Any = rule.allowed
    kind = getattr(allowed, "kind", None)  # a rule of one's own has none
    return rule.bias is None and (kind == "everything" or (kind == "causal" and allowed.offset == 0))


def _eager(function: _Function) -> _Function:
    """Left as it is by torch.compile: it looks at numbers, or asks an array for its library."""
    left: _Function = torch.compiler.disable(function)  # type: ignore[no-untyped-call]
    return left


@_eager
def _by_steps(q: Tensor, k: Tensor, v: Tensor, rule: Rule) -> tuple[Tensor, Tensor]:
    """By the path itself; half precision is widened to float32 on the way."""
    with torch.autocast(q.device.type, enabled=False):
        q_, k_, v_ = (a.float() if a.dtype.itemsize < 4 else a for a in (q, k, v))
        for name, a in (("q", q_), ("k", k_), ("v", v_)):
            _refuse_not_finite(name, a)
        _refuse_other_batches(rule, q.shape[:-3], q.device)
        steps = Steps(q_, k_, v_, rule)
        return steps.mixed.to(v.dtype), steps.weights.to(v.dtype)


def _fused(q: Tensor, k: Tensor, v: Tensor, rule: Rule, table: Tensor | None = None) -> tuple[Tensor, None]:
    """By PyTorch's fused attention; its fast kernels take one batch axis, no more and no fewer."""
    mixed = scaled_dot_product_attention(
        _one_batch_axis(q),
        _one_batch_axis(k),
        _one_batch_axis(v),
        attn_mask=None if table is None else _one_batch_axis(table),
        is_causal=table is None and rule.allowed.kind == "causal",
        scale=rule.scale_for(q.shape[-1]),
        enable_gqa=q.shape[-3] != k.shape[-3],
    )
    return mixed.reshape(q.shape), None


@_eager
def _fused_with_table(q: Tensor, k: Tensor, v: Tensor, rule: Rule) -> tuple[Tensor, None]:
    """By PyTorch's fused attention, with the rule as a table (…, head or 1, query, key).

    A query that may read nothing is let read everything and its result set to 0, so that no kernel
    divides 0 by 0.
    """
    _refuse_other_batches(rule, q.shape[:-3], q.device)
    at = torch.arange(q.shape[-2], device=q.device)
    allowed = rule.allowed.block(at, at).unsqueeze(-3)  # the same for all heads
    reads = allowed.any(-1, keepdim=True)
    table = allowed | ~reads
    if rule.bias is not None:
        most = ceiling(q)
        bias = rule.bias.block(at, at).clamp(-most, most).to(q.dtype)
        table = torch.where(table, bias, -math.inf)
    if table.ndim > 3:
        table = table.expand(*q.shape[:-3], *table.shape[-3:])
    mixed, _ = _fused(q, k, v, rule, table)
    return mixed.masked_fill(~reads, 0), None


def _one_batch_axis(a: Tensor) -> Tensor:
    """(…, head, token, width) → (batch, head, token, width)."""
    return a[None] if a.ndim == 3 else a.flatten(0, -4)


# the door -----------------------------------------------------------------------------------------


def _check(module: _Attention, x: Any, rule: Rule, one_sequence: bool = False) -> None:
    if not isinstance(x, torch.Tensor):
        raise InputError(
            en=f"x expects a torch.Tensor, got {type(x).__name__}. Try torch.as_tensor(x, dtype=torch.float32).",
            ko=f"x에는 torch.Tensor가 필요한데 {type(x).__name__}이(가) 왔습니다. 예: torch.as_tensor(x, dtype=torch.float32).",
        )
    if not x.is_floating_point():
        raise InputError(
            en=f"x expects embeddings of floating numbers, got {x.dtype}. Token ids go through nn.Embedding first; "
            f"whole numbers through x.float().",
            ko=f"x에는 실수로 된 임베딩이 필요한데 {x.dtype}이(가) 왔습니다. 토큰 번호는 먼저 nn.Embedding에 넣고, "
            f"정수는 x.float()로 바꾸십시오.",
        )
    shape, d_model = tuple(x.shape), module.d_model
    if one_sequence and x.ndim != 2:
        raise ShapeError(
            en=f"trace expects one sequence, x (token, d_model) without a batch axis, got {shape}. Try x[0].",
            ko=f"trace에는 배치 축이 없는 x (토큰, d_model) 하나가 필요한데 모양 {shape}이(가) 왔습니다. 예: x[0].",
        )
    if x.ndim < 2 or x.shape[-1] != d_model or x.shape[-2] == 0:
        raise ShapeError(
            en=f"x expects (…, token, d_model) with d_model={d_model} and at least one token, got {shape}.",
            ko=f"x에는 d_model={d_model}이고 토큰이 하나 이상인 (…, 토큰, d_model)이 필요한데 모양 {shape}이(가) 왔습니다.",
        )
    if x.dtype != module.w_q.weight.dtype and not torch.is_autocast_enabled(x.device.type):
        raise InputError(
            en=f"x is {x.dtype}, but the module's parameters are {module.w_q.weight.dtype}. Try x.to(that) or module.to(x.dtype).",
            ko=f"x는 {x.dtype}인데 모듈의 파라미터는 {module.w_q.weight.dtype}입니다. 둘 중 하나를 .to(dtype)으로 맞추십시오.",
        )
    rule.fits(module.n_heads, x.shape[-2], x.shape[-2])


def _refuse_other_batches(rule: Rule, ours: tuple[int, ...], device: torch.device) -> None:
    """The rule's leading axes must be those of x, or 1, or missing; one query and key tell."""
    first = torch.arange(1, device=device)
    theirs = tuple(rule.allowed.block(first, first).shape[:-2])
    paired = zip(reversed(theirs), reversed(ours), strict=False)
    if len(theirs) > len(ours) or any(n not in (1, m) for n, m in paired):
        raise ShapeError(
            en=f"the rule has leading axes {theirs}, but x has {tuple(ours)} before (token, d_model).",
            ko=f"규칙의 앞쪽 축은 {theirs}인데, x에서 (토큰, d_model) 앞의 축은 {tuple(ours)}입니다.",
        )


def _refuse_not_finite(name: str, a: Tensor) -> None:
    size = largest(a)
    if size is not None and not math.isfinite(size):
        raise InputError(
            en=f"{name} has a NaN or an infinity: x or the parameters of w_{name} are not finite. "
            f"If this came while training, try smaller steps.",
            ko=f"{name}에 NaN이나 무한대가 있습니다. x나 w_{name}의 파라미터가 유한하지 않습니다. "
            f"학습 중이라면 학습률을 줄여 보십시오.",
        )


def _whole(name: str, value: Any) -> int:
    try:
        whole = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        whole = 0
    if whole < 1:
        raise InputError(
            en=f"{name} expects a whole number, 1 or more, got {value!r}.",
            ko=f"{name}에는 1 이상의 정수가 필요한데 {value!r}이(가) 왔습니다.",
        )
    return whole


def _divides(name: str, parts: int, of: str, whole: int) -> None:
    if whole % parts:
        divisors = [n for n in range(1, min(whole, 1024) + 1) if whole % n == 0]
        near = sorted(sorted(divisors, key=lambda n: abs(n - parts))[:4])
        raise InputError(
            en=f"{name}={parts} does not divide {of}={whole} evenly. Try {', '.join(map(str, near))}.",
            ko=f"{name}={parts}(으)로 {of}={whole}을(를) 고르게 나눌 수 없습니다. {', '.join(map(str, near))} 중에서 고르십시오.",
        )
