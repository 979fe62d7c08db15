"""What was measured over a corpus: the table of heads and roles, examples, and how it was done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...words import LANGS, counted
from ..roles.table import HeadRole, HeadTable

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Copied", "HeadExample", "LeftOut", "Measured", "verdict"]


@dataclass(frozen=True, slots=True)
class HeadExample:
    """One case in which what a head attends to most, of what it could, is what the role asks for.

    sentence : its place in the corpus, from 0;  name : what it is called there
    tokens : its pieces, marks of the tokenizer included
    query, key : the pieces of what reads and of what is read; several where a word has several
    weight : of the word, summed over the pieces read and averaged over those that read; the sink counted
    """

    layer: int
    head: int
    role: str
    sentence: int
    name: str
    tokens: tuple[str, ...]
    query: tuple[int, ...]
    key: tuple[int, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A sentence that was not measured: ``why`` is "long" (beyond the model's context) or "short" (under three tokens)."""

    name: str
    n_tokens: int
    why: str


@dataclass(frozen=True)
class Copied:
    """Copying scores, of weights alone (see ``copying``).

    scores : (layer, head) → −1 to 1;  why : (en, ko) why there are none; None where there are, and where nobody asked
    """

    scores: Mapping[tuple[int, int], float] = field(default_factory=dict)
    why: tuple[str, str] | None = None


@dataclass(frozen=True, eq=False)
class Measured:
    """What every head does over a corpus.

    table : every role of every head, with baseline, interval and evidence
    examples : at most three for each head and role that has evidence, from sentences drawn before anything was measured
    model, corpus : what they are called;  n_sentences, n_tokens : measured, marks included
    left_out : sentences that were not
    plan : model, corpus, settings and shards, as ``plan.json`` holds them;  folder : of the run, or None
    copied : copying scores, where the role ``induction`` was measured
    named : language → what the corpus is called for people, where that is not ``corpus``
    """

    table: HeadTable
    examples: tuple[HeadExample, ...]
    model: str
    corpus: str
    n_sentences: int
    n_tokens: int
    left_out: tuple[LeftOut, ...] = ()
    plan: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None
    copied: Copied = field(default_factory=Copied)
    named: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Short: the table is ``.table``."""
        n_heads = len({(row.layer, row.head) for row in self.table.rows})
        sizes = ((n_heads, "head"), (self.n_sentences, "sentence"), (self.n_tokens, "token"))
        return f"Measured({self.model!r} over {self.corpus!r}: {', '.join(counted(n, what) for n, what in sizes)})"

    def corpus_name(self, lang: str) -> str:
        """What the corpus is called; random tokens in the reader's language."""
        if lang in self.named:
            return self.named[lang]
        n = self.plan.get("settings", {}).get("repeated", 0)
        return f"무작위 토큰 {n}개씩 두 번" if n and lang == "ko" else self.corpus

    def examples_of(self, layer: int, head: int, role: str) -> tuple[HeadExample, ...]:
        """Of one role of one head; () where there is none."""
        return self._examples.get((layer, head, role), ())

    @cached_property
    def _examples(self) -> dict[tuple[int, int, str], tuple[HeadExample, ...]]:
        made: dict[tuple[int, int, str], list[HeadExample]] = {}
        for one in self.examples:
            made.setdefault((one.layer, one.head, one.role), []).append(one)
        return {place: tuple(some) for place, some in made.items()}

    def to_arrow(self) -> pyarrow.Table:
        """A row a head and role, as in ``heads.parquet``.

        Errors: ``MissingExtra`` without PyArrow.
        """
        from .tables import heads

        return heads(self)

    def to_json(self) -> dict[str, Any]:
        """As plain JSON, with every digit."""
        return {
            "model": self.model, "corpus": self.corpus, "n_sentences": self.n_sentences, "n_tokens": self.n_tokens,
            "heads": [row.to_json() | {"verdict": verdict(row)} for row in self.table.rows],
            "examples": [asdict(one) for one in self.examples],
            "copying": [{"layer": layer, "head": head, "score": score} for (layer, head), score in self.copied.scores.items()],
            "no_copying": None if self.copied.why is None else dict(zip(LANGS, self.copied.why, strict=True)),
            "left_out": [asdict(one) for one in self.left_out], "plan": dict(self.plan),
        }  # fmt: skip


def verdict(row: HeadRole) -> str:
    """What is to be said of a role of a head: "evidence", "no-evidence", or "too-few" sentences to say."""
    if row.p is None:
        return "too-few"
    return "evidence" if row.evidence else "no-evidence"
