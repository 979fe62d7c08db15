"""What a recording adds to a training: python benchmarks/record.py

    python benchmarks/record.py --steps 60 --rounds 1 --model bert

Two copies of a model train on the same batches, a step of one and then a step of the other, one of them under
``jumok.record`` at its default schedule with one probe. A line a model, medians over the rounds: the time of a step without, what
all that the recorder did adds to the whole training (its start and end too), and to the steps alone, what one snapshot takes, and
the bytes kept. Times are the process's own (CPU), one thread. The default schedule is dense at the start, so fewer steps mean a
larger share.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
import transformers
from torch import nn

import jumok
from jumok import nn as attention

N_SYMBOLS, N_TOKENS, BATCH, D, LAYERS, HEADS = 1000, 64, 16, 256, 4, 4
PROBE = 12  # tokens of the probe

Loss = Callable[[Any], torch.Tensor]  # of a model on a batch


class Block(nn.Module):
    """Attention of jumok.nn and an MLP, with norms and residual."""

    def __init__(self, d: int) -> None:
        super().__init__()
        self.attention = attention.MultiHeadAttention(d, HEADS)
        self.norms = nn.ModuleList([nn.LayerNorm(d), nn.LayerNorm(d)])
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norms[0](x), "causal", need_weights=False)[0]
        made: torch.Tensor = x + self.mlp(self.norms[1](x))
        return made


class Reader(nn.Module):
    """Embeddings, layers, and scores of the next symbol."""

    def __init__(self, layers: nn.Module, d: int = D) -> None:
        super().__init__()
        self.embedding, self.layers, self.head = nn.Embedding(N_SYMBOLS, d), layers, nn.Linear(d, N_SYMBOLS)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.head(self.layers(self.embedding(ids)))
        return scores


def own() -> tuple[nn.Module, Loss]:
    """Modules of jumok.nn."""
    return Reader(nn.Sequential(*(Block(D) for _ in range(LAYERS)))), _of_scores


def small() -> tuple[nn.Module, Loss]:
    """Two narrow layers on few sequences, whose step takes a few milliseconds."""
    return Reader(nn.Sequential(Block(32), Block(32)), 32), _of_few_scores


def encoder() -> tuple[nn.Module, Loss]:
    """nn.TransformerEncoder."""
    layer = nn.TransformerEncoderLayer(D, HEADS, 4 * D, batch_first=True)
    return Reader(nn.TransformerEncoder(layer, LAYERS)), _of_scores


def bert() -> tuple[nn.Module, Loss]:
    """A small BERT of transformers."""
    config = transformers.BertConfig(
        hidden_size=D,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=4 * D,
        vocab_size=N_SYMBOLS,
    )
    return transformers.BertForMaskedLM(config), _of_output


def gpt2() -> tuple[nn.Module, Loss]:
    """A small GPT-2 of transformers."""
    config = transformers.GPT2Config(
        n_embd=D, n_layer=LAYERS, n_head=HEADS, vocab_size=N_SYMBOLS, bos_token_id=0, eos_token_id=0
    )
    return transformers.GPT2LMHeadModel(config), _of_output


def _of_scores(model: Any, n: int = BATCH) -> torch.Tensor:
    ids = _batch(n)
    return nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten())


def _of_few_scores(model: Any) -> torch.Tensor:
    return _of_scores(model, 1)


def _of_output(model: Any) -> torch.Tensor:
    ids = _batch(BATCH)
    loss: torch.Tensor = model(input_ids=ids, labels=ids).loss
    return loss


def _batch(n: int) -> torch.Tensor:
    return torch.randint(N_SYMBOLS, (n, N_TOKENS))


MODELS = {"small": small, "jumok.nn": own, "TransformerEncoder": encoder, "bert": bert, "gpt2": gpt2}


def main() -> None:
    """Run and print one JSON line a model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--model", choices=MODELS, action="append")
    given = parser.parse_args()
    torch.set_num_threads(1)
    for name in given.model or MODELS:
        rounds = [measured(MODELS[name], given.steps, seed) for seed in range(given.rounds)]
        middle = {key: statistics.median(one[key] for one in rounds) for key in rounds[0]}
        print(
            json.dumps({"model": name, "steps": given.steps} | {k: round(v, 3) for k, v in middle.items()}), flush=True
        )


def measured(make: Callable[[], tuple[nn.Module, Loss]], n_steps: int, seed: int) -> dict[str, float]:
    """One training, with and without, a step of each in turn."""
    trainings = []
    for _ in range(2):
        torch.manual_seed(seed)
        model, loss = make()
        trainings.append((model.train(), loss, torch.optim.AdamW(model.parameters(), lr=1e-3)))
    plain, watched = trainings
    times: dict[str, list[float]] = {"plain": [], "recorded": []}
    start = time.process_time()
    with jumok.record(watched[0], torch.randint(N_SYMBOLS, (1, PROBE))) as recorded:
        order = [("plain", plain), ("recorded", watched)]
        for _ in range(n_steps):
            for name, training in order:
                times[name].append(_step(*training))
            order.reverse()  # what the first of two leaves in the caches helps each in turn
    recorded_s, whole = time.process_time() - start - sum(times["plain"]), sum(times["plain"])
    n_snapshots = len(recorded.history.steps)
    return {
        "step_ms": 1e3 * statistics.median(times["plain"]),
        "adds_percent": 100 * (recorded_s / whole - 1),
        "adds_to_steps_percent": 100 * (sum(times["recorded"]) / whole - 1),
        "snapshots": n_snapshots,
        "snapshot_ms": 1e3 * recorded.time_s / n_snapshots,
        "kept_mb": recorded.held_bytes / 1e6,
        "weights_mb": sum(w.nbytes for layer in recorded.history.layers for w in layer.weights.values()) / 1e6,
        "parameters_mb": sum(p.nbytes for p in plain[0].parameters()) / 1e6,
    }


def _step(model: nn.Module, loss_of: Loss, optimizer: torch.optim.Optimizer) -> float:
    start = time.process_time()
    loss = loss_of(model)
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return time.process_time() - start


if __name__ == "__main__":
    main()
