"""What a task is: sequences with something asked of them, drawn anew for training and kept apart for testing."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ...trace import unknown_name

__all__ = ["Asked", "Batch", "Phrase", "SequenceTask", "Settings", "Sizes", "Truths", "Whole"]

Whole = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]

NOT_ASKED = -1
HELD_OUT = 5  # every fifth sequence, by a hash of its tokens, is kept from training


@dataclass(frozen=True)
class Sizes:
    """The small model's sizes: d_mlp 0 is no MLP, norm False no LayerNorm."""

    d_model: int = 32
    n_layers: int = 1
    n_heads: int = 1
    d_mlp: int = 0
    norm: bool = True


@dataclass(frozen=True)
class Settings:
    """How a task is trained unless something else is asked for.

    steps : updates;  batch : sequences an update;  learning_rate : Adam's step size
    weight_decay : how much of themselves W_V and W_O lose at an update, times the step size
    """

    steps: int = 600
    batch: int = 32
    learning_rate: float = 3e-3
    weight_decay: float = 0.0


@dataclass(frozen=True)
class Batch:
    """Sequences and what is asked of them.

    tokens : (sequence, token) numbers of the vocabulary, padded on the right with 0
    targets : (sequence, token) the number that is asked for at each place, −1 where nothing is
    lengths : (sequence,) tokens without padding
    roles : name → (sequence, query, key) True where a key plays that role for the query: "answer" holds the answer,
        "reason" tells which one is meant, "previous" is the token before; empty where nobody said
    """

    tokens: Whole
    targets: Whole
    lengths: Whole
    roles: Mapping[str, Truths] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.tokens)

    def take(self, chosen: Any) -> Batch:
        """Some of the sequences."""
        roles = {name: marks[chosen] for name, marks in self.roles.items()}
        return Batch(self.tokens[chosen], self.targets[chosen], self.lengths[chosen], roles)


@dataclass(frozen=True)
class Asked:
    """A sequence to look at: its tokens, the row worth looking at, where its answer stands, and the answer."""

    tokens: tuple[str, ...]
    query: int
    reads: tuple[int, ...] = ()
    answer: str | None = None


@dataclass(frozen=True)
class Phrase:
    """A sentence of a task, written out: at ``query`` the word ``answer`` is asked for, which ``reads`` hold.

    reason : where the word stands that tells which of them is meant, None where there is none
    """

    tokens: tuple[str, ...]
    query: int
    answer: str
    reads: tuple[int, ...]
    reason: int | None = None


@dataclass(frozen=True)
class SequenceTask(ABC):
    """Sequences over a small vocabulary; at some places a symbol is asked for.

    name, title, about : what it is called, and what is to be learned, each in two languages
    vocabulary : (symbol,) what tokens and answers are called
    n_positions : the longest sequence;  causal : whether a token may read only what stands before it
    sizes, settings : the model and the training unless something else is asked for
    probes : the sequences that are looked at all through the training
    """

    name: str
    title: Mapping[str, str]
    about: Mapping[str, str]
    vocabulary: tuple[str, ...]
    n_positions: int
    causal: bool
    sizes: Sizes
    settings: Settings
    probes: tuple[Asked, ...]
    numbers: Mapping[str, int] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", {text: at for at, text in enumerate(self.vocabulary)})

    @abstractmethod
    def batch(self, rng: np.random.Generator, n: int, held_out: bool = False) -> Batch:
        """``n`` sequences, drawn anew; held-out ones share none with those for training."""

    def data(self) -> Any:
        """What a saved run must keep to know this task again, as plain JSON; None where its name is enough."""
        return None

    def numbered(self, text: str) -> list[int]:
        """The words of a text as numbers of the vocabulary.

        Errors: ``UnknownName`` for a word that is not there, ``InputError`` for no word or too many.
        """
        words = text.split() if isinstance(text, str) else []
        if not 1 <= len(words) <= self.n_positions:
            raise InputError(
                en=f"{self.name} expects a text of 1 to {self.n_positions} words, got {len(words)}. "
                f"Try {' '.join(self.probes[0].tokens)!r}.",
                ko=f"{self.name}에는 낱말이 1~{self.n_positions}개인 글이 필요한데 {len(words)}개가 왔습니다. "
                f"예: {' '.join(self.probes[0].tokens)!r}.",
            )
        for word in words:
            if word not in self.numbers:
                raise unknown_name(
                    "word (the model was never shown it)", "낱말(모델이 학습에서 본 적이 없음)", word, self.vocabulary
                )
        return [self.numbers[word] for word in words]

    def described(self) -> dict[str, Any]:
        """What a history says of its task, as plain JSON."""
        return {
            "name": self.name,
            "title": dict(self.title),
            "about": dict(self.about),
            "vocabulary": list(self.vocabulary),
            "n_positions": self.n_positions,
            "causal": self.causal,
        }


def is_held_out(tokens: Whole) -> Truths:
    """(sequence,) which sequences are kept from training: a fixed fifth, by what stands in them."""
    rows = np.ascontiguousarray(tokens)
    return np.array([zlib.crc32(row.tobytes()) % HELD_OUT == 0 for row in rows])
