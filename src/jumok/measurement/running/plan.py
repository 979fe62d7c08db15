"""The plan of a run: which sentences make a shard, and which of a shard are read together. A pure function of lengths.

>>> settings = Settings(batch_tokens=20, shard_tokens=30)
>>> [(one.first, one.end) for one in shards([7, 9, 8, 12, 5], settings)]
[(0, 4), (4, 5)]
>>> batches([7, 9, 8, 12], settings)
[[3], [1, 2], [0]]
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from ..roles.tally import N_GROUPS

__all__ = ["LEAST_TOKENS", "N_SAMPLED", "Settings", "Shard", "batches", "drawn_first", "group_of", "shards"]

LEAST_TOKENS = 3  # of a sentence that is measured
N_SAMPLED = 8  # sentences that are kept for the examples of a role
READABLE = 40  # tokens: shorter sentences make better examples


@dataclass(frozen=True)
class Settings:
    """What decides, beside the lengths, how a corpus is cut up.

    batch_tokens : at most so many tokens are read together, padding included
    shard_tokens : a shard ends with the sentence that brings it to so many
    pads : False for a model that cannot be told of padding: only sentences of one length are read together
    seed : of the sentences that examples are taken from, of repeated tokens, and of the resamples
    repeated : so many random tokens, twice, in place of sentences; 0 for sentences
    """

    batch_tokens: int
    shard_tokens: int
    pads: bool = True
    seed: int = 0
    repeated: int = 0


@dataclass(frozen=True)
class Shard:
    """Sentences first … end − 1 of the corpus."""

    first: int
    end: int
    n_tokens: int


def shards(lengths: Sequence[int], settings: Settings) -> list[Shard]:
    """Neighbouring sentences, until there are enough tokens.

    lengths : (sentence,) in tokens; 0 for one that is left out
    """
    made: list[Shard] = []
    first = n_tokens = 0
    for at, length in enumerate(lengths):
        n_tokens += length
        if n_tokens >= settings.shard_tokens or at == len(lengths) - 1:
            made.append(Shard(first, at + 1, n_tokens))
            first, n_tokens = at + 1, 0
    return made


def batches(lengths: Sequence[int], settings: Settings) -> list[list[int]]:
    """Places of the sentences of a shard that are read together: the longest first, those of a length side by side."""
    made: list[list[int]] = []
    longest = 0
    for at in sorted((at for at, length in enumerate(lengths) if length), key=lambda at: -lengths[at]):
        fits = made and longest * (len(made[-1]) + 1) <= settings.batch_tokens
        if fits and (settings.pads or lengths[at] == longest):
            made[-1].append(at)
        else:
            made.append([at])
            longest = lengths[at]
    return made


def group_of(index: int, n_sentences: int) -> int:
    """The group of sentences that a sentence's sums go to; neighbours share one, for they are often of one text.

    >>> [group_of(at, 3) for at in range(3)], [group_of(at, 256) for at in range(4)]
    ([0, 1, 2], [0, 0, 1, 1])
    """
    return index if n_sentences <= N_GROUPS else index * N_GROUPS // n_sentences


def drawn_first(index: int, length: int, settings: Settings) -> tuple[bool, bytes]:
    """The order in which sentences are taken for examples: short ones first, else by lot, before anything is measured."""
    lot = hashlib.blake2b(f"{settings.seed}:{index}".encode(), digest_size=8).digest()
    return length > READABLE, lot
