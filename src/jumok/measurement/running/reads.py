"""What measuring asks of a model: pieces of texts, and Readings of several sequences at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ...tokens import Token
from ...trace import Reading

__all__ = ["Circuits", "Item", "Opener", "Reads"]

Numbers = npt.NDArray[np.floating]


class Item(Protocol):
    """One sequence: what the model is given, and the tokens as a reader should see them."""

    @property
    def ids(self) -> Sequence[int]:
        """(token,) numbers."""

    @property
    def tokens(self) -> Sequence[Token]:
        """(token,) pieces with their place in the text; None for marks."""


class Circuits(Protocol):
    """The matrices around a model's heads."""

    @property
    def w_e(self) -> Numbers:
        """(vocabulary, d_model) the embeddings."""

    @property
    def w_u(self) -> Numbers:
        """(d_model, vocabulary) what makes logits."""

    def heads(self) -> Iterable[Sequence[tuple[Numbers, Numbers]]]:
        """(layer,) of each head: (d_model, d_value) what it reads with, (d_value, d_model) what it writes with."""


class Reads(Protocol):
    """A model that is ready."""

    name: str
    context: int | None
    pads: bool

    def identity(self) -> dict[str, Any]:
        """What tells this model, and what it runs on, from others; plain JSON."""

    def encoded(self, texts: Sequence[str]) -> Sequence[Item]:
        """Texts as the model reads them."""

    def repeated(self, n: int, seed: int, index: int) -> Item:
        """n random tokens, and the same again."""

    def readings(self, items: Sequence[Item]) -> Sequence[Reading]:
        """One for each sequence, read together."""

    def reads_ahead(self) -> bool:
        """False for a model whose tokens read only themselves and what came before."""

    def circuits(self) -> Circuits:
        """The matrices around its heads; ``InputError`` where they cannot be found."""


Opener = Callable[[], Reads]
