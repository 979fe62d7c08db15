"""What was measured of heads that are made for a role, of random ones, of one head alone: small, with real examples."""

from __future__ import annotations

import zlib
from functools import cache

import numpy as np

from jumok.measurement.roles.marked import marked
from jumok.measurement.roles.streamed import scores
from jumok.measurement.roles.table import head_table
from jumok.measurement.roles.tally import Tally
from jumok.measurement.running.measured import HeadExample, LeftOut, Measured
from jumok.trace import Reading, Trace

ENGLISH = ("the", "cat", "a", "dog", "sees", "it", "and", "runs")
KOREAN = ("고양이가", "개를", "보고", "나무", "위로", "얼른", "다시", "올라갔다")
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\u202e은행",
    "👩‍🔬",
    "<!--",
    "a\nb",
    "&amp;",
    "[SEP]|`*",
)


def _previous(texts):
    return np.eye(len(texts), k=-1)


def _next(texts):
    return np.eye(len(texts), k=1)


def _first(texts):
    return np.eye(1, len(texts)).repeat(len(texts), 0)


def _same(texts):
    return np.array([[a == b and i != j for j, b in enumerate(texts)] for i, a in enumerate(texts)], dtype=float)


def _even(texts):
    return np.zeros((len(texts), len(texts)))


def _nothing(texts):
    """Another row of weights in every sentence, whatever its words."""
    draw = np.random.default_rng(zlib.crc32(" ".join(texts).encode()))
    return draw.standard_normal((len(texts), len(texts))) * 0.5


DESIGNED = ((_previous, _next), (_first, _same), (_even, _nothing))
ROLES = {(0, 0): "previous", (0, 1): "next", (1, 0): "first", (1, 1): "same-token", (2, 0): "broad"}


@cache
def measured(words=ENGLISH, heads=DESIGNED, n=30, model="small", corpus="small.txt"):
    """Each head over n sentences of these words; every role that has evidence has examples."""
    texts = list(_sentences(words, n))
    tally, traces = None, []
    for at, one in enumerate(texts):
        layers = tuple(_trace(one, [make(one) for make in layer]) for layer in heads)
        traces.append(layers)
        found = scores(Reading(layers), marked(layers[0].tokens))
        tally = tally or Tally(found.n_heads)
        tally.add(at, found)
    table = head_table(tally)
    examples = tuple(one for row in table.rows if row.evidence for one in _examples(row, texts, traces))
    left_out = (LeftOut("line 9", 2, "short"),)
    return Measured(table, examples, model, corpus, len(texts), sum(map(len, texts)), left_out)


def _sentences(words, n):
    draw = np.random.default_rng(0)
    for _ in range(n):
        yield ("[CLS]", *(words[at] for at in draw.integers(0, len(words), draw.integers(7, 14))), "[SEP]")


def _trace(texts, tables):
    size = len(texts)
    q = np.stack([8.0 * np.sqrt(size) * table for table in tables])
    k = np.stack([np.eye(size)] * len(tables))
    return Trace(texts, q, k, k)


def _examples(row, texts, traces):
    """Of the first sentences, the largest weight of the second query."""
    for at in range(3):
        weights = traces[at][row.layer].rows("weights", queries=[2])[row.head, 0]
        key = int(weights.argmax())
        yield HeadExample(
            row.layer, row.head, row.role, at, f"line {at + 1}", texts[at], (2,), (key,), float(weights[key])
        )


def silent():
    """Two heads, and no evidence for any role of theirs."""
    return measured(heads=((_nothing, _nothing),), n=24)


def alone():
    """One head in one layer."""
    return measured(heads=((_previous,),))
