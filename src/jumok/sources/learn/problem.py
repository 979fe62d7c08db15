"""A task made ready for training: its model, the loss of a step, and how well it goes on what was held out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ... import nn as attention
from ...door import Floats
from .examples import WantedRows
from .model import SmallTransformer, cut
from .recording import Watched
from .task import NOT_ASKED, Asked, Batch, SequenceTask, Sizes, Truths, Whole

import torch  # isort: skip (model.py says what is missing)
from torch.nn.functional import cross_entropy  # isort: skip

if TYPE_CHECKING:
    from torch import Tensor, nn

__all__ = ["Known", "Measured", "Problem", "problem", "watched"]

HELD_OUT_SEED = 20_26  # the same held-out sequences for every run
MOST_HELD_OUT = 1024
AT_ONCE = 128  # sequences that are measured at once, so that memory stays small
N_SEEN = 4096  # training sequences from which the best answer without attention is counted


@dataclass(frozen=True)
class Measured:
    """How well a model does on what was held out.

    accuracy : 0 to 1;  roles : name → (layer, head) mean weight on the keys of that role
    """

    accuracy: float
    roles: Mapping[str, Floats]


@dataclass(frozen=True)
class Known:
    """What is reached on the held-out sequences without a look at the tokens that decide.

    chance : accuracy of always giving the most frequent answer
    alone : accuracy of the best answer from the asking token and its place alone, as learned from training sequences, or of
        ``chance`` where that is more: it needs neither
    guess : accuracy of naming any of the symbols that the query may read; None where the answer is not always among them
    baselines : role → "distance", "place" or "even" → the mean weight on its keys of the best fixed distance, of the best
        fixed place, and of even weights
    """

    chance: float = 0.0
    alone: float = 0.0
    guess: float | None = None
    baselines: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


class Problem(Protocol):
    """What the training loop needs to know of a task."""

    def model(self) -> nn.Module:
        """A fresh model, its parameters drawn from PyTorch's generator."""

    def attentions(self, model: Any) -> dict[str, Any]:
        """Its attention modules by name, in order."""

    def loss(self, model: Any, seed: int, step: int) -> Tensor:
        """Of the batch of one step, which depends on the seed and the step alone."""

    def measured(self, model: Any, n: int, without: Sequence[tuple[int, int]] = ()) -> Measured:
        """On ``n`` held-out sequences; ``without`` some heads, (layer, head) each."""

    @property
    def known(self) -> Known:
        """What needs no model."""

    def compared(self, model: Any) -> dict[str, float] | None:
        """How far the model's matrices are from those that the task came with; None where it came with none."""

    def watched(self, model: Any) -> list[Watched]:
        """The sequences to look at."""

    def optimizer(self, model: Any, learning_rate: float) -> torch.optim.Optimizer:
        """How its parameters are moved."""


def problem(task: SequenceTask | WantedRows, settings: Mapping[str, Any]) -> Problem:
    """A task made ready, with the settings of a history."""
    if isinstance(task, WantedRows):
        return _Rows(task)
    return _Sequences(task, Sizes(**settings["sizes"]), settings["batch"], settings["weight_decay"])


# sequences ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Sequences:
    task: SequenceTask
    sizes: Sizes
    n_batch: int
    weight_decay: float

    def model(self) -> SmallTransformer:
        task = self.task
        return SmallTransformer(len(task.vocabulary), task.n_positions, self.sizes, task.causal)

    def attentions(self, model: SmallTransformer) -> dict[str, Any]:
        return {f"layers.{at}.attention": module for at, module in enumerate(model.attentions)}

    def optimizer(self, model: SmallTransformer, learning_rate: float) -> torch.optim.Optimizer:
        """AdamW. Only W_V and W_O decay: each value that is handed over costs something, so what can be read at once is."""
        groups: list[dict[str, Any]] = [
            {"params": [], "weight_decay": self.weight_decay},
            {"params": [], "weight_decay": 0.0},
        ]
        for name, w in model.named_parameters():
            groups[".w_v." not in name and ".w_o." not in name]["params"].append(w)
        return torch.optim.AdamW(groups, lr=learning_rate, betas=(0.9, 0.98), fused=True)

    def loss(self, model: SmallTransformer, seed: int, step: int) -> Tensor:
        tokens, targets, lengths = _tensors(self.task.batch(np.random.default_rng([seed, step]), self.n_batch))
        return cross_entropy(model(tokens, lengths).flatten(0, 1), targets.flatten(), ignore_index=NOT_ASKED)

    @cached_property
    def held_out(self) -> Batch:
        return self.task.batch(np.random.default_rng(HELD_OUT_SEED), MOST_HELD_OUT, held_out=True)

    @cached_property
    def known(self) -> Known:
        held, causal = self.held_out, self.task.causal
        baselines = {name: _baselines(marks, held.lengths, causal) for name, marks in held.roles.items()}
        seen = self.task.batch(np.random.default_rng(HELD_OUT_SEED), N_SEEN)
        chance = _chance(held)
        return Known(chance, max(chance, _alone(seen, held)), _guess(held, causal), baselines)

    def measured(self, model: SmallTransformer, n: int, without: Sequence[tuple[int, int]] = ()) -> Measured:
        batch = self.held_out.take(slice(n))
        parts = [batch.take(slice(at, at + AT_ONCE)) for at in range(0, len(batch), AT_ONCE)]
        measured = [_measured(model, part, without) for part in parts]
        right, asked = (sum(counts) for counts in zip(*(counts for counts, _ in measured), strict=True))
        roles = {name: _mean([found[name] for _, found in measured]) for name in measured[0][1]}
        return Measured(right / asked, roles)

    def compared(self, model: SmallTransformer) -> None:  # noqa: ARG002 (there is nothing to compare with)
        return None

    def watched(self, model: SmallTransformer) -> list[Watched]:
        return [watched(model, self.task, asked) for asked in self.task.probes]


def _tensors(batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    return torch.from_numpy(batch.tokens), torch.from_numpy(batch.targets), torch.from_numpy(batch.lengths)


@contextmanager
def _watching(modules: Sequence[Any], weights: list[Tensor]) -> Iterator[None]:
    """Within the block each layer's weights, (sequence, head, query, key), are added to ``weights``."""

    def hook(module: Any, arguments: tuple[Any, ...], named: dict[str, Any], _: Any) -> None:
        rule = arguments[1] if len(arguments) > 1 else named.get("rule")
        weights.append(module.forward(arguments[0], rule)[1])  # forward itself, so that no hook is called again

    hooks = [module.register_forward_hook(hook, with_kwargs=True) for module in modules]
    try:
        yield
    finally:
        for each in hooks:
            each.remove()


def _measured(
    model: SmallTransformer, batch: Batch, without: Sequence[tuple[int, int]]
) -> tuple[tuple[int, int], dict[str, tuple[Floats, int]]]:
    """How many answers are right, of how many; for each role the weight on its keys, (layer, head), and of how many."""
    tokens, targets, lengths = _tensors(batch)
    weights: list[Tensor] = []
    with ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        for layer, head in without:
            stack.enter_context(cut(model.attentions[layer], head))
        if not without and batch.roles:
            stack.enter_context(_watching(model.attentions, weights))
        right = model(tokens, lengths).argmax(-1) == targets
    roles = {name: _weight_on(weights, marks) for name, marks in batch.roles.items()} if weights else {}
    return (int(right.sum()), int((targets != NOT_ASKED).sum())), roles


def _weight_on(weights: Sequence[Tensor], marks: Truths) -> tuple[Floats, int]:
    """(layer, head) the sum, over all queries with a marked key, of the weight on what is marked; and how many these are."""
    sequence, query = (torch.from_numpy(at) for at in np.nonzero(marks.any(axis=2)))
    marked = torch.from_numpy(marks)[sequence, query][:, None]
    return np.stack([(w[sequence, :, query] * marked).double().sum((0, 2)).numpy() for w in weights]), len(query)


def _mean(sums: Sequence[tuple[Floats, int]]) -> Floats:
    mean: Floats = np.stack([each for each, _ in sums]).sum(axis=0) / sum(n for _, n in sums)
    return mean


def _chance(batch: Batch) -> float:
    """The accuracy of always giving the most frequent answer."""
    _, counts = np.unique(batch.targets[batch.targets != NOT_ASKED], return_counts=True)
    return float(counts.max() / counts.sum())


def _alone(seen: Batch, held_out: Batch) -> float:
    """The accuracy of the answer that the same token at the same place had most often in ``seen``."""
    size = 1 + max(int(array.max()) for one in (seen, held_out) for array in (one.tokens, one.targets))
    known, counts = np.unique(_coded(seen, size), return_counts=True)
    asking = known // size
    order = np.lexsort((counts, asking))
    last = np.flatnonzero(np.diff(asking[order], append=-1))  # of each token at each place, its most frequent answer
    return float(np.isin(_coded(held_out, size), known[order][last]).mean())


def _coded(batch: Batch, size: int) -> Whole:
    """(asked,) place, token and answer of all that is asked, as one number each."""
    sequence, place = np.nonzero(batch.targets != NOT_ASKED)
    coded: Whole = (place * size + batch.tokens[sequence, place]) * size + batch.targets[sequence, place]
    return coded


def _guess(batch: Batch, causal: bool) -> float | None:
    """The accuracy of naming any of the different symbols that a query may read; None where the answer is none of them."""
    shares = []
    for sequence, query in zip(*np.nonzero(batch.targets != NOT_ASKED), strict=True):
        readable = set(batch.tokens[sequence, : query + 1 if causal else batch.lengths[sequence]].tolist())
        if int(batch.targets[sequence, query]) not in readable:
            return None
        shares.append(1 / len(readable))
    return float(np.mean(shares))


def _baselines(marks: Truths, lengths: Whole, causal: bool) -> dict[str, float]:
    """The mean weight on the marked keys that needs no look at the tokens: one distance, one place, even weights."""
    sequence, query = np.nonzero(marks.any(axis=2))
    rows = marks[sequence, query].astype(float)
    n = rows.shape[1]
    shifted = np.zeros((len(rows), 2 * n - 1))
    shifted[np.arange(len(rows))[:, None], np.arange(n) - query[:, None] + n - 1] = rows
    may_read = query + 1 if causal else lengths[sequence]
    return {
        "distance": float(shifted.mean(axis=0).max()),
        "place": float(rows.mean(axis=0).max()),
        "even": float((rows.sum(axis=1) / may_read).mean()),
    }


def watched(model: SmallTransformer, task: SequenceTask, asked: Asked) -> Watched:
    """A sequence of the task to look at in its model."""
    tokens = torch.tensor([task.numbered(" ".join(asked.tokens))])
    answer = None if asked.answer is None else torch.tensor([task.numbers[asked.answer]])

    def run() -> Tensor | None:
        scores = model(tokens)
        return None if answer is None else cross_entropy(scores[:, asked.query], answer)

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

    def loss(self, model: _RowModel, seed: int, step: int) -> Tensor:  # noqa: ARG002 (the same rows at each step)
        """Σ KL(wanted ‖ reached) over the wanted rows, in nats."""
        rows = self.task.rows
        wanted = torch.tensor(self.task.wanted[rows])
        return (torch.xlogy(wanted, wanted) - torch.xlogy(wanted, model()[rows])).sum()

    @property
    def known(self) -> Known:
        return Known()

    def measured(self, model: _RowModel, n: int, without: Sequence[tuple[int, int]] = ()) -> Measured:  # noqa: ARG002
        """Accuracy is 1 less the total variation distance between wanted and reached, the mean over the rows."""
        with torch.no_grad():
            return Measured(1 - _off(model().numpy(), self.task.wanted, self.task.rows), {})

    def compared(self, model: _RowModel) -> dict[str, float]:
        """Beside what the example came with: each matrix's distance, relative to its length, and the wanted rows'."""
        heads, rows = self.task.trace.heads, self.task.rows
        assert heads is not None
        designed = {"w_q": heads.w_q, "w_k": heads.w_k}
        found = {name: getattr(model.attention, name).weight.detach().numpy().T for name in designed}
        apart = {name: np.linalg.norm(found[name] - w) / np.linalg.norm(w) for name, w in designed.items()}
        table = self.task.trace.rows("weights")[0]
        with torch.no_grad():
            return {name: float(off) for name, off in apart.items()} | {"rows": _off(model().numpy(), table, rows)}

    def watched(self, model: _RowModel) -> list[Watched]:
        trace, row = self.task.trace, self.task.rows[0]
        return [Watched(lambda: self.loss(model, 0, 0), trace.tokens, row, dimensions=trace.dimensions)]


def _off(table: Floats, wanted: Floats, rows: Sequence[int]) -> float:
    """The mean total variation distance between two tables in some rows."""
    return float(np.abs(table[rows] - wanted[rows]).sum(axis=-1).mean() / 2)
