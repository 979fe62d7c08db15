"""Examples of what heads do: cases of sentences that were drawn before anything was measured, where the head is right."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from ...trace import Floats, Trace, layers_of
from ..corpus.sentence import Sentence
from ..roles.cases import Cases, piece_cases, same_cases, sink_cases, unit_cases
from ..roles.marked import Flags, Marked, marked
from ..roles.table import HeadTable
from ..roles.tile import TIED
from .measured import HeadExample
from .plan import Settings, batches, drawn_first
from .reads import Reads
from .shard import items_of

__all__ = ["N_EXAMPLES", "examples_of"]

N_EXAMPLES = 3  # of a head and role
Place = tuple[int, int, str]  # layer, head, role
Sampled = Mapping[str, Mapping[int, int]]
Shown = tuple[str, int, tuple[int, ...], tuple[int, ...], float]  # role, head, pieces that read, that are read, weight


def examples_of(
    reads: Reads, settings: Settings, sentences: Sequence[tuple[int, Sentence]], sampled: Sampled, found: HeadTable,
    numbers: Sequence[int],
) -> tuple[HeadExample, ...]:  # fmt: skip
    """At most three for each head and role with evidence, in the table's order.

    sentences : those of the sample, each with its place in the corpus;  sampled : role → places with lengths
    numbers : (layer,) what the layers go by in the table
    """
    made: dict[Place, list[HeadExample]] = {(row.layer, row.head, row.role): [] for row in found.rows if row.evidence}
    for example in _every(reads, settings, sentences, sampled, numbers):
        if (place := (example.layer, example.head, example.role)) in made:
            made[place].append(example)
    for (_, _, role), some in made.items():
        seen = sampled.get(role, {})
        some.sort(key=lambda one: drawn_first(one.sentence, seen[one.sentence], settings))
    return tuple(example for some in made.values() for example in some[:N_EXAMPLES])


def _every(
    reads: Reads,
    settings: Settings,
    sentences: Sequence[tuple[int, Sentence]],
    sampled: Sampled,
    numbers: Sequence[int],
) -> Iterator[HeadExample]:
    """All that can be shown of the sampled sentences, head by head."""
    items = items_of(reads, settings, sentences)
    for batch in batches([len(item.ids) for item in items], settings):
        for at, reading in zip(batch, reads.readings([items[at] for at in batch]), strict=True):
            index, sentence = sentences[at]
            texts = tuple(token.text for token in items[at].tokens)
            roles = {role for role, seen in sampled.items() if index in seen}
            known = marked(items[at].tokens, sentence)
            for place, trace in enumerate(layers_of(reading)):
                for role, head, query, key, weight in _of_layer(trace, known, roles):
                    yield HeadExample(numbers[place], head, role, index, sentence.name, texts, query, key, weight)


def _of_layer(trace: Trace, known: Marked, roles: Collection[str]) -> Iterator[Shown]:
    """Of each role and head the case with the largest weight, among those in which the head is right."""
    n = len(known.ids)
    if trace.key_tokens is not None or trace.n_queries != n:
        return
    rows = np.arange(n)
    weights = trace.rows("weights", queries=range(n))
    allowed: Flags = np.broadcast_to(trace.rows("allowed", queries=range(n)), (n, n))
    candidates = allowed & ~known.sink
    others = candidates & ~np.eye(n, dtype=bool)
    yield from _best(weights, candidates, piece_cases(known, rows, candidates), roles)
    yield from _best(weights, others, same_cases(known, rows, others), roles)
    yield from _best(weights, allowed, sink_cases(known, rows, allowed), roles, is_right=True)
    yield from _most_attended(weights, candidates, known, roles)
    if known.units is not None and known.links:
        yield from _of_words(weights, allowed, known, roles)


def _best(
    weights: Floats, candidates: Flags, cases: Cases, roles: Collection[str], is_right: bool = False
) -> Iterator[Shown]:
    """is_right : True where no candidate has to be the most attended one."""
    seen = np.where(candidates, weights, -1)
    top = seen.max(axis=2) * (1 - TIED)
    ends = [*cases.pairs, len(cases.query)][1:]
    for role, start, end in zip(cases.roles, cases.pairs, ends, strict=True):
        if role not in roles:
            continue
        query, key = cases.query[start:end], cases.key[start:end]
        shown = np.where(is_right | (seen[:, query, key] >= top[:, query]), weights[:, query, key], -1)
        for head, at in enumerate(shown.argmax(axis=1)):
            if shown[head, at] >= 0:
                yield role, head, (int(query[at]),), (int(key[at]),), float(shown[head, at])


def _most_attended(weights: Floats, candidates: Flags, known: Marked, roles: Collection[str]) -> Iterator[Shown]:
    """Of near and broad, which have no right key: a query from the middle, and what it attends to most."""
    asks = np.flatnonzero(~known.special & (candidates.sum(axis=1) > 1))
    for role in ("near", "broad") if len(asks) else ():
        if role in roles:
            query = int(asks[len(asks) // 2])
            row = np.where(candidates[query], weights[:, query], -1)
            for head, key in enumerate(row.argmax(axis=1)):
                yield role, head, (query,), (int(key),), float(row[head, key])


def _of_words(weights: Floats, allowed: Flags, known: Marked, roles: Collection[str]) -> Iterator[Shown]:
    """The same word by word: the sum over the pieces read, the mean over those that read."""
    assert known.units is not None
    units = np.arange(known.n_units)
    belongs = (known.units == units[:, None]).astype(np.float64)  # (unit, piece)
    reads = belongs / belongs.sum(axis=1, keepdims=True)
    sunk = (belongs @ known.sink) > 0
    may = (belongs @ allowed @ belongs.T > 0) & ~sunk & (units[:, None] != units)
    cases = unit_cases(known, units, may)
    pieces = [tuple(map(int, np.flatnonzero(row))) for row in belongs]
    for role, head, (query,), (key,), weight in _best(reads @ weights @ belongs.T, may, cases, roles):
        yield role, head, pieces[query], pieces[key], weight
