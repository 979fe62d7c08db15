"""A task made ready for training: its model, the loss of a step, and how well it goes on what was held out."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ... import nn as attention
from ...door import Floats
from .examples import WantedRows
from .model import SmallTransformer, cut
from .recording import Watched
from .task import NOT_ASKED, Asked, Batch, SequenceTask, Sizes

import torch  # isort: skip (model.py says what is missing)
from torch.nn import functional as F  # isort: skip

if TYPE_CHECKING:
    from torch import Tensor, nn

__all__ = ["Measured", "Problem", "problem", "watched"]

HELD_OUT_SEED = 20_26  # the same held-out sequences for every run


@dataclass(frozen=True)
class Measured:
    """How well a model does on what was held out.

    accuracy : 0 to 1;  chance : of always giving the most frequent answer
    roles : name → (layer, head) mean weight on the keys of that role
    baselines : name → the best fixed distance, fixed place, or even weights reach on the same cases
    """

    accuracy: float
    chance: float
    roles: Mapping[str, Floats]
    baselines: Mapping[str, float]


class Problem(Protocol):
    """What the training loop needs to know of a task."""

    def model(self) -> nn.Module:
        """A fresh model, its parameters drawn from PyTorch's generator."""

    def attentions(self, model: Any) -> dict[str, Any]:
        """Its attention modules by name, in order."""

    def loss(self, model: Any, seed: int, step: int) -> Tensor:
        """Of the batch of one step, which depends on the seed and the step alone."""

    def measured(self, model: Any, n: int, without: tuple[int, int] | None = None) -> Measured:
        """On ``n`` held-out sequences; ``without`` one head (layer, head)."""

    def watched(self, model: Any) -> list[Watched]:
        """The sequences to look at."""

    def optimizer(self, model: Any, learning_rate: float) -> torch.optim.Optimizer:
        """How its parameters are moved."""


def problem(task: SequenceTask | WantedRows, sizes: Sizes | None, batch: int) -> Problem:
    """A task made ready."""
    if isinstance(task, WantedRows):
        return _Rows(task)
    return _Sequences(task, sizes or task.sizes, batch)


# sequences ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Sequences:
    task: SequenceTask
    sizes: Sizes
    n_batch: int

    def model(self) -> SmallTransformer:
        task = self.task
        return SmallTransformer(len(task.vocabulary), task.n_positions, self.sizes, task.causal)

    def attentions(self, model: SmallTransformer) -> dict[str, Any]:
        return {f"layers.{at}.attention": module for at, module in enumerate(model.attentions)}

    def optimizer(self, model: SmallTransformer, learning_rate: float) -> torch.optim.Optimizer:
        return torch.optim.Adam(model.parameters(), lr=learning_rate, betas=(0.9, 0.98))

    def loss(self, model: SmallTransformer, seed: int, step: int) -> Tensor:
        return _loss(model, self.task.batch(np.random.default_rng([seed, step]), self.n_batch))

    @cached_property
    def held_out(self) -> Batch:
        return self.task.batch(np.random.default_rng(HELD_OUT_SEED), 1024, held_out=True)

    def measured(self, model: SmallTransformer, n: int, without: tuple[int, int] | None = None) -> Measured:
        batch = self.held_out.take(slice(n))
        head = nullcontext() if without is None else cut(model.attentions[without[0]], without[1])
        with torch.no_grad(), head:
            accuracy = _accuracy(model, batch)
            roles = {} if without or batch.reads is None else {"answer": _on_reads(model, batch)}
        return Measured(
            accuracy, _chance(batch), roles, {"answer": _baseline(batch, self.task.causal)} if roles else {}
        )

    def watched(self, model: SmallTransformer) -> list[Watched]:
        return [watched(model, self.task, asked) for asked in self.task.probes]


def _tensors(batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    return torch.from_numpy(batch.tokens), torch.from_numpy(batch.targets), torch.from_numpy(batch.lengths)


def _loss(model: SmallTransformer, batch: Batch) -> Tensor:
    tokens, targets, lengths = _tensors(batch)
    return F.cross_entropy(model(tokens, lengths).flatten(0, 1), targets.flatten(), ignore_index=NOT_ASKED)


def _accuracy(model: SmallTransformer, batch: Batch) -> float:
    tokens, targets, lengths = _tensors(batch)
    asked = targets != NOT_ASKED
    right = model(tokens, lengths).argmax(-1) == targets
    return float(right[asked].double().mean())


def _chance(batch: Batch) -> float:
    """The accuracy of always giving the most frequent answer."""
    _, counts = np.unique(batch.targets[batch.targets != NOT_ASKED], return_counts=True)
    return float(counts.max() / counts.sum())


def _on_reads(model: SmallTransformer, batch: Batch) -> Floats:
    """(layer, head) the mean weight on what the answer depends on, over all that is asked."""
    assert batch.reads is not None
    asked = torch.from_numpy(batch.reads.any(axis=2))
    reads = torch.from_numpy(batch.reads)[:, None]
    found: list[Tensor] = []
    hooks = [
        m.register_forward_hook(lambda m, a, n, r: found.append(_weights(m, *a, **n)), with_kwargs=True)
        for m in model.attentions
    ]
    try:
        tokens, _, lengths = _tensors(batch)
        model(tokens, lengths)
    finally:
        for hook in hooks:
            hook.remove()
    return np.stack([((w * reads).sum(-1).permute(0, 2, 1)[asked]).double().mean(0).numpy() for w in found])


def _weights(module: Any, x: Tensor, rule: Any = None, **_: Any) -> Tensor:
    """(sequence, head, query, key) what a module attends to."""
    from ...path import Rule, Steps

    q, k, v = module._projected(x)
    weights: Tensor = Steps(q, k, v, Rule.of(rule)).weights
    return weights


def _baseline(batch: Batch, causal: bool) -> float:
    """The best mean weight on the same keys that needs no look at the tokens: one distance, one place, or even weights."""
    assert batch.reads is not None
    sequence, query = np.nonzero(batch.reads.any(axis=2))
    rows = batch.reads[sequence, query].astype(float)
    n = rows.shape[1]
    by_place = rows.mean(axis=0).max()
    shifted = np.zeros((len(rows), 2 * n - 1))
    shifted[np.arange(len(rows))[:, None], np.arange(n) - query[:, None] + n - 1] = rows
    may_read = query + 1 if causal else batch.lengths[sequence]
    return float(max(by_place, shifted.mean(axis=0).max(), (rows.sum(axis=1) / may_read).mean()))


def watched(model: SmallTransformer, task: SequenceTask, asked: Asked) -> Watched:
    """A sequence of the task to look at in its model."""
    tokens = torch.tensor([task.numbered(" ".join(asked.tokens))])
    answer = None if asked.answer is None else torch.tensor([task.numbers[asked.answer]])

    def run() -> Tensor | None:
        scores = model(tokens)
        return None if answer is None else F.cross_entropy(scores[:, asked.query], answer)

    return Watched(run, asked.tokens, asked.query, asked.reads, asked.answer)


# wanted rows of an example ------------------------------------------------------------------------


class _RowModel(torch.nn.Module):
    """One head on embeddings that stay as they are."""

    def __init__(self, task: WantedRows) -> None:
        super().__init__()
        trace = task.trace
        assert trace.x is not None
        self.rule = trace.rule
        self.x = torch.tensor(trace.x, dtype=torch.float64)
        self.attention = attention.SelfAttention(trace.x.shape[1], trace.d_head, bias=False).double()

    def forward(self) -> Tensor:
        """(query, key) the weights."""
        weights: Tensor = self.attention(self.x, self.rule)[1][0]
        return weights


@dataclass(frozen=True)
class _Rows:
    task: WantedRows

    def model(self) -> _RowModel:
        return _RowModel(self.task)

    def attentions(self, model: _RowModel) -> dict[str, Any]:
        return {"attention": model.attention}

    def optimizer(self, model: _RowModel, learning_rate: float) -> torch.optim.Optimizer:
        return torch.optim.SGD([model.attention.w_q.weight, model.attention.w_k.weight], lr=learning_rate)

    def loss(self, model: _RowModel, seed: int, step: int) -> Tensor:
        """Σ KL(wanted ‖ reached) over the wanted rows, in nats."""
        rows = self.task.rows
        wanted = torch.tensor(self.task.wanted[rows])
        return (torch.xlogy(wanted, wanted) - torch.xlogy(wanted, model()[rows])).sum()

    def measured(self, model: _RowModel, n: int, without: tuple[int, int] | None = None) -> Measured:
        """Accuracy is 1 less the total variation distance between wanted and reached, the mean over the rows."""
        rows = self.task.rows
        with torch.no_grad():
            off = (model()[rows] - torch.tensor(self.task.wanted[rows])).abs().sum(-1) / 2
        return Measured(float(1 - off.mean()), 0.0, {}, {})

    def watched(self, model: _RowModel) -> list[Watched]:
        trace, row = self.task.trace, self.task.rows[0]
        return [Watched(lambda: self.loss(model, 0, 0), trace.tokens, row, dimensions=trace.dimensions)]
