"""One shard, measured: a pure function of its sentences, the settings and the model, wherever it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ...layer_numbers import layer_numbers
from ...trace import Reading
from ..corpus.sentence import Sentence
from ..roles.marked import marked
from ..roles.streamed import Scores, scores
from ..roles.tally import FIELDS, Tally
from .plan import N_SAMPLED, Settings, batches, drawn_first, group_of
from .reads import Item, Opener, Reads

__all__ = ["Arrays", "Job", "Part", "Total", "items_of", "measured_part"]

Arrays = dict[str, npt.NDArray[np.int64]]


@dataclass(frozen=True)
class Job:
    """What all shards of a run share.

    opener : opens the model, in any process;  n_sentences : of the whole corpus, those left out included
    """

    opener: Opener
    settings: Settings
    n_sentences: int


@dataclass(frozen=True)
class Part:
    """One shard's sentences.

    first : the place of the first one in the corpus;  lengths : (sentence,) in tokens, 0 for one that is left out
    """

    number: int
    first: int
    sentences: tuple[Sentence, ...]
    lengths: tuple[int, ...]


@dataclass
class Total:
    """Sums over shards; adding is exact, so their order makes no difference.

    numbers : (layer,) what the layers go by in the model
    sampled : role → the places of sentences for its examples with their lengths, at most ``N_SAMPLED``
    """

    settings: Settings
    tally: Tally | None = None
    numbers: tuple[int, ...] = ()
    sampled: dict[str, dict[int, int]] = field(default_factory=dict)

    def add(self, index: int, n_sentences: int, length: int, reading: Reading, found: Scores) -> None:
        """Add one sentence."""
        if self.tally is None:
            self.tally, self.numbers = Tally(found.n_heads), layer_numbers(reading)
        self.tally.add(group_of(index, n_sentences), found)
        for at, role in enumerate(found.roles):
            if found.n_cases[at].any():
                self._sample(role, {index: length})

    def _sample(self, role: str, seen: dict[int, int]) -> None:
        mine = self.sampled.setdefault(role, {})
        mine.update(seen)
        if len(mine) > N_SAMPLED:
            kept = sorted(mine, key=lambda at: drawn_first(at, mine[at], self.settings))[:N_SAMPLED]
            self.sampled[role] = {at: mine[at] for at in kept}

    def to_arrays(self) -> Arrays:
        """All of it as named arrays; of the groups only those that have a sentence."""
        made: Arrays = {}
        if self.tally is not None:
            whole = self.tally.to_arrays()
            groups = np.flatnonzero(whole["n_sequences"])
            made = {name: array if name == "n_heads" else array[groups] for name, array in whole.items()}
            made |= {"groups": groups, "layers": np.array(self.numbers)}
        sampled = {f"sample/{role}": np.array(sorted(seen.items())).T for role, seen in self.sampled.items()}
        return made | sampled

    def merge(self, arrays: Arrays) -> None:
        """Add what ``to_arrays`` gave."""
        if "groups" not in arrays:
            return
        groups = arrays["groups"]
        other = Tally(tuple(map(int, arrays["n_heads"])))
        other.n_sequences[groups] = arrays["n_sequences"]
        for name, array in arrays.items():
            what, _, role = name.partition("/")
            if what in FIELDS:
                other._of(role)[what][groups] = array
            elif what == "sample":
                self._sample(role, dict(zip(*array.tolist(), strict=True)))
        if self.tally is None:
            self.tally, self.numbers = other, tuple(map(int, arrays["layers"]))
        else:
            self.tally.merge(other)


def measured_part(reads: Reads, job: Job, part: Part) -> Arrays:
    """The sums of a shard, as arrays."""
    total = Total(job.settings)
    places = [at for at, length in enumerate(part.lengths) if length]
    numbered = [(part.first + at, part.sentences[at]) for at in places]
    items = dict(zip(places, items_of(reads, job.settings, numbered), strict=True))
    for batch in batches(part.lengths, job.settings):
        for at, reading in zip(batch, reads.readings([items[at] for at in batch]), strict=True):
            known = marked(items[at].tokens, part.sentences[at])
            total.add(part.first + at, job.n_sentences, part.lengths[at], reading, scores(reading, known))
    return total.to_arrays()


def items_of(reads: Reads, settings: Settings, sentences: Sequence[tuple[int, Sentence]]) -> Sequence[Item]:
    """Sentences, each with its place in the corpus, as the model reads them."""
    if settings.repeated:
        return [reads.repeated(settings.repeated, settings.seed, at) for at, _ in sentences]
    return reads.encoded([sentence.text for _, sentence in sentences])
