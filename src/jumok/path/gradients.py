"""The path walked backwards: from the gradient of a loss at the output to the gradient of every stage and weight."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from . import Steps
from .axes import Array
from .library import array_namespace
from .qkv import split

__all__ = ["Gradients"]


@dataclass(frozen=True, eq=False)
class Gradients:
    """dL/d(every stage) of one sequence, each made when it is first read; the names are those of the stages.

    steps : the path forwards, all heads and queries
    output : (query, d_out) dL/d(output), or None where the loss reads the weights themselves
    direct : (head, query, key) then dL/d(weights)

    >>> import numpy as np
    >>> one = np.eye(2)[None]
    >>> Gradients(Steps(one, one, one), direct=np.array([[[1.0, 0.0], [0.0, 0.0]]])).scaled[0, 0].round(3).tolist()
    [0.221, -0.221]

    Source: the chain rule; the softmax step is Dao et al. 2022, "FlashAttention", appendix B.2.
    """

    steps: Steps
    output: Array | None = None
    direct: Array | None = None

    @cached_property
    def mixed(self) -> Array | None:
        """(head, query, d_value) through W_O, then dealt to the heads."""
        if self.output is None:
            return None
        w_o, n_heads = self.steps.w_o, self.steps.q.shape[-3]
        xp = array_namespace(self.output)
        return split(self.output if w_o is None else self.output @ xp.matrix_transpose(w_o), n_heads)

    @cached_property
    def weights(self) -> Array:
        """(head, query, key) how much a little more weight would change the loss: gradient · value."""
        if self.mixed is None:
            assert self.direct is not None
            return self.direct
        xp = array_namespace(self.mixed)
        return self.mixed @ xp.matrix_transpose(self._each(self.steps.v))

    @cached_property
    def average(self) -> Array:
        """(head, query, 1) Σ over keys of weight × dL/d(weight): what softmax takes off, since weights share 1."""
        xp = array_namespace(self.weights)
        return xp.sum(self.steps.weights * self.weights, axis=-1, keepdims=True)

    @cached_property
    def scaled(self) -> Array:
        """(head, query, key) back through softmax: weight × (dL/d(weight) − average)."""
        return self.steps.weights * (self.weights - self.average)

    @cached_property
    def scores(self) -> Array:
        """(head, query, key) back through the soft cap and the scale."""
        rule, xp = self.steps.rule, array_namespace(self.scaled)
        scale = rule.scale_for(self.steps.q.shape[-1])
        if rule.softcap is None:
            return self.scaled * scale
        bent = xp.tanh(self.steps.scores * scale / rule.softcap)
        return self.scaled * (1 - bent * bent) * scale

    @cached_property
    def q(self) -> Array:
        """(head, query, d_head) Σ over keys of dL/d(score) × key."""
        return self.scores @ self._each(self.steps.k)

    @cached_property
    def k(self) -> Array:
        """(kv_head, key, d_head) Σ over queries, and over the heads that share the key, of dL/d(score) × query."""
        return self._shared(array_namespace(self.scores).matrix_transpose(self.scores) @ self.steps.q)

    @cached_property
    def v(self) -> Array | None:
        """(kv_head, key, d_value) Σ over queries, and over the heads that share the value, of weight × gradient."""
        if self.mixed is None:
            return None
        return self._shared(array_namespace(self.mixed).matrix_transpose(self.steps.weights) @ self.mixed)

    def of_projection(self, name: str, x: Array) -> Array | None:
        """(d_model, heads · d) dL/dW of W_Q, W_K or W_V ("q", "k", "v"): Σ over tokens of x ⊗ dL/d(its q, k or v).

        x : (token, d_model). For q and k turned by a rotation it is not this: their gradient must be turned back first.
        """
        at = getattr(self, name)
        if at is None:
            return None
        xp = array_namespace(x)
        joined = xp.reshape(xp.permute_dims(at, (1, 0, 2)), (at.shape[1], at.shape[0] * at.shape[2]))
        return xp.matrix_transpose(x) @ joined

    def _each(self, a: Array) -> Array:
        """(kv_head, …) → (head, …): shared keys and values once for each head that reads them."""
        return array_namespace(a).repeat(a, self.steps.q.shape[-3] // a.shape[-3], axis=-3)

    def _shared(self, a: Array) -> Array:
        """(head, …) → (kv_head, …): summed over the heads that share."""
        xp, n_kv_heads = array_namespace(a), self.steps.k.shape[-3]
        return xp.sum(xp.reshape(a, (n_kv_heads, a.shape[0] // n_kv_heads, *a.shape[1:])), axis=1)
