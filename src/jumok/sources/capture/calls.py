"""One attention call of a program: what it was given, and what it gave back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .seen_words import Said

__all__ = ["Call", "Seen"]

Tensor = Any  # torch.Tensor; torch is imported where it is used


@dataclass
class Call:
    """What one call of attention was given, as tensors of the program itself.

    module : the name of the module that made it, "" where there is none;  run : which run of the outermost module
    q : (batch, head, query, d_head);  k : (batch, kv_head, key, d_head);  v : (batch, kv_head, key, d_value)
    scale : what q · k is multiplied by
    softcap : c in c · tanh(score / c), or None
    causal : True where queries read no later keys, both counted from the start
    added : what is added to the scores, broadcast to (batch, head, query, key); −inf or very low where a key is masked
    allowed : what may be read, bool, broadcast to (batch, head, query, key)
    sinks : (batch, head) logits that take weight and hand over nothing, or None
    output : (batch, head, sampled query, d_value) what the program mixed, for the queries ``rows``
    way : "fused", "written" (matrix products and a softmax) or "interface" (the registered function of transformers)
    training : True where dropout was on
    calls : which attention calls of the watching these are, counted from 1; none where one was joined from several runs
    where : (batch, head) the place of each head among the leading axes of these calls, one call after the other
    """

    module: str
    q: Tensor
    k: Tensor
    v: Tensor
    output: Tensor
    scale: float
    way: str
    rows: list[int] = field(default_factory=list)
    run: int = 0
    softcap: float | None = None
    causal: bool = False
    added: list[Tensor] = field(default_factory=list)
    allowed: list[Tensor] = field(default_factory=list)
    sinks: Tensor | None = None
    training: bool = False
    calls: tuple[int, ...] = ()
    where: Tensor = None


@dataclass(frozen=True)
class Seen:
    """Something that looks like attention and was not read: where it stands, what it is, and why."""

    module: str
    what: Said
    why: Said

    def text(self, lang: str) -> str:
        """All three, in a language."""
        what, why = (self.what.ko, self.why.ko) if lang == "ko" else (self.what, self.why)
        return f"{self.module}: {what} ({why})"
