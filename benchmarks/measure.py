"""What all roles of all heads cost, beside a plain forward and beside stored tables: python benchmarks/measure.py

    python benchmarks/measure.py --model FOLDER --corpus FILE.conllu --n 128,512,2048 --rounds 5 --clock cpu

Three ways over the same batches, interleaved in one process, each held against that round's plain forward with fused
attention (the floor), so that a busy machine hits all alike; medians over the rounds:

``jumok`` captures q, k and v of the forward, verifies them and sums every role a tile at a time. ``output_attentions``
runs the model with eager attention and sums the very same roles, by the very same code, from the tables that it hands
out: it is spared the weights, not the roles. ``added`` is what is spent on top of the floor, in floors. Each length is
also run in a process of its own (``--part memory``) for its peak of memory. ``--part sentences`` is the corpus as it is:
annotated sentences, batched by their length, with every relation measured too.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from capture import CLOCKS, forward, load

from jumok.measurement.corpus import conllu, plain
from jumok.measurement.corpus.sentence import Sentence
from jumok.measurement.roles.marked import Marked, marked
from jumok.measurement.roles.streamed import Scores, scores, scores_of
from jumok.measurement.roles.tally import Tally
from jumok.measurement.roles.tile import Grown
from jumok.path.allowed import causal, everything
from jumok.sources.capture.capturing import Captured
from jumok.sources.capture.texts import encoded, tokens_of
from jumok.trace import Reading

BATCH_TOKENS = 2048  # as many sequences together as make that


@dataclass(frozen=True, eq=False)
class Batch:
    """Sequences of one length.

    ids : (item, token);  known : (item,) what roles need to know of each
    """

    ids: Any
    known: tuple[Marked, ...]


def main() -> None:
    """Run and print one line a way and length, as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, help="folder of a transformers model")
    parser.add_argument("--corpus", required=True, help=".conllu or plain text")
    parser.add_argument("--n", default="128,512,2048")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=int, default=100, help="sentences of --part sentences")
    parser.add_argument("--part", choices=("ways", "sentences", "memory"), default="ways")
    parser.add_argument("--way", default="jumok", help="of --part memory")
    parser.add_argument(
        "--clock", choices=CLOCKS, default="wall", help="cpu: what the process computed, on a busy machine"
    )
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    tokenizer = transformers.AutoTokenizer.from_pretrained(given.model, local_files_only=True)
    sentences = list((conllu if given.corpus.endswith("u") else plain).sentences(given.corpus))
    if given.part == "sentences":
        compared("sentences", given, by_length(tokenizer, sentences[: given.limit]))
        return
    for n in map(int, given.n.split(",")):
        batches = [whole(tokenizer, sentences, n)]
        (compared if given.part == "ways" else once)(str(n), given, batches)
        if given.part == "ways":
            peaks(given, n)


# texts --------------------------------------------------------------------------------------------


def whole(tokenizer: Any, sentences: Sequence[Sentence], n: int) -> Batch:
    """Running text, cut into sequences of exactly n tokens; with the marks of the tokenizer only at the ends of a text."""
    n_items = max(1, BATCH_TOKENS // n)
    text = " ".join(one.text for one in sentences)
    numbers = tokenizer(text, verbose=False)["input_ids"]
    numbers *= -(-n * n_items // len(numbers))
    rows = [numbers[at * n : (at + 1) * n] for at in range(n_items)]
    return Batch(torch.tensor(rows), tuple(marked(tokens_of(tokenizer, row)) for row in rows))


def by_length(tokenizer: Any, sentences: Sequence[Sentence]) -> list[Batch]:
    """Annotated sentences, those of one length together."""
    found: dict[int, list[tuple[Any, Marked]]] = {}
    for one in sentences:
        made = encoded(tokenizer, [one.text])
        known = marked(made.tokens[0], one)
        found.setdefault(len(known.ids), []).append((made.inputs["input_ids"], known))
    return [
        Batch(torch.cat([ids for ids, _ in some]), tuple(known for _, known in some))
        for _, some in sorted(found.items())
    ]


# ways ---------------------------------------------------------------------------------------------


def compared(name: str, given: Any, batches: Sequence[Batch]) -> None:
    """Every way over the same batches, interleaved."""
    fused, eager = load(given.model, "sdpa"), load(given.model, "eager")
    ways: dict[str, Callable[[Batch], Any]] = {
        "floor": lambda batch: forward(fused, inputs_of(fused, batch)),
        "floor again": lambda batch: forward(fused, inputs_of(fused, batch)),
        "capture alone": lambda batch: captured(fused, batch),
        "jumok": lambda batch: measured(fused, batch),
        "output_attentions": lambda batch: stored(eager, batch),
    }
    clock = CLOCKS[given.clock]
    times: dict[str, list[float]] = {way: [] for way in ways}
    for n_round in range(given.rounds + 1):  # the first does not count
        for way in random.sample(list(ways), len(ways)):
            gc.collect()
            start = clock()
            for batch in batches:
                ways[way](batch)
            if n_round:
                times[way].append(clock() - start)
    told(name, times, sum(batch.ids.numel() for batch in batches))


def told(name: str, times: dict[str, list[float]], n_tokens: int) -> None:
    """A line a way: seconds, tokens a second, and what it is in floors."""
    for way, some in times.items():
        ratio = statistics.median(a / b for a, b in zip(some, times["floor"], strict=True))
        taken = statistics.median(some)
        line = {"n": name, "way": way, "median_s": round(taken, 4), "ratio": round(ratio, 3)}
        print(
            json.dumps(line | {"added": round(ratio - 1, 3), "tokens_per_s": round(n_tokens / taken)}),
            flush=True,
        )


def inputs_of(model: Any, batch: Batch) -> dict[str, Any]:
    """What the model is called with."""
    is_decoder = getattr(model.config, "is_decoder", False) or hasattr(model, "lm_head")
    return {"input_ids": batch.ids} | ({"use_cache": False} if is_decoder else {})


def captured(model: Any, batch: Batch) -> Sequence[Reading]:
    """A reading a sequence, verified."""
    with torch.no_grad(), Captured(model) as reading:
        model(**inputs_of(model, batch))
    assert len(reading.readings) == len(batch.known), reading.refused
    return reading.readings


def measured(model: Any, batch: Batch) -> Tally:
    """All roles of all heads, streamed."""
    return tallied(scores(reading, known) for reading, known in zip(captured(model, batch), batch.known, strict=True))


def tallied(some: Iterable[Scores]) -> Tally:
    """The sums of a batch."""
    made: Tally | None = None
    for at, one in enumerate(some):
        made = made or Tally(one.n_heads)
        made.add(at, one)
    assert made is not None
    return made


class Stored:
    """Rows out of a table that is there already, as ``tile.Layer`` wants them."""

    def __init__(self, table: Any, is_causal: bool, group: int) -> None:
        self.table, self.n_heads, self.group = table, len(table), group
        self.rule = (causal if is_causal else everything)()

    def allowed(self, rows: Any) -> Any:
        """(row, key)"""
        return self.rule.block(rows, np.arange(self.table.shape[2]))

    def grown(self, heads: slice, rows: Any, allowed: Any) -> Grown:
        """A copy, since it is overwritten, and its logarithms."""
        some = self.table[heads, rows[0] : rows[-1] + 1, : allowed.shape[1]]
        logs = np.maximum(some, np.finfo(some.dtype).tiny)
        return Grown(some.copy(), np.log(logs, out=logs), np.ones(some.shape[:2], dtype=some.dtype))


def stored(model: Any, batch: Batch) -> Tally:
    """The same roles by the same sums, from the tables that the model hands out."""
    tables = forward(model, inputs_of(model, batch) | {"output_attentions": True}).attentions
    is_causal, config = hasattr(model, "lm_head"), model.config
    group = config.num_attention_heads // getattr(config, "num_key_value_heads", config.num_attention_heads)

    def of(item: int) -> Scores:
        layers = {at: Stored(table[item].numpy(), is_causal, group) for at, table in enumerate(tables)}
        return scores_of(layers, len(layers), batch.known[item])

    return tallied(map(of, range(len(batch.known))))


# memory -------------------------------------------------------------------------------------------


def once(name: str, given: Any, batches: Sequence[Batch]) -> None:
    """One way, once, in this process: its peak of memory."""
    model = load(given.model, "sdpa" if given.way != "output_attentions" else "eager")
    batch = Batch(batches[0].ids[:1], batches[0].known[:1])
    before = peak()
    {"floor": forward_of, "jumok": measured, "output_attentions": stored}[given.way](model, batch)
    print(json.dumps({"n": name, "way": given.way, "before_mb": before, "peak_mb": peak()}), flush=True)


def forward_of(model: Any, batch: Batch) -> Any:
    """A plain run."""
    return forward(model, inputs_of(model, batch))


def peak() -> int:
    """MB that this process held at most. Not ru_maxrss, which a process has from the one that started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return round(int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1000)  # type: ignore[index]


def peaks(given: Any, n: int) -> None:
    """Each way in a process of its own, with one sequence."""
    for way in ("floor", "jumok", "output_attentions"):
        command = [sys.executable, __file__, "--model", given.model, "--corpus", given.corpus, "--n", str(n)]
        subprocess.run([*command, "--part", "memory", "--way", way, "--threads", str(given.threads)], check=True)


if __name__ == "__main__":
    main()
