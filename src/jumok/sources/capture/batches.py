"""A model that reads several sequences at once, each as a Reading without padding: what measuring a corpus asks for."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ...errors import InputError
from ...labels import labels_of
from ...tokens import Token
from ...trace import Reading
from .asked import Side, Told, context_of
from .capturing import Captured, evaluating, not_read, refuse_loading
from .circuits import Circuits, circuits, heard, unembedding
from .models import load_model, name_of, place_of, tokenizer_of
from .texts import encoded, tokens_of

__all__ = ["BatchReader", "Piece", "open_folder", "open_module"]

N_TRIED = 4  # random tokens, read twice to see which matrix does what
MOST_READ = 2**20  # bytes of a file at a time
MOST_LETTERS = 2**16  # of the texts that go through a tokenizer together
PADDING = Token("[PAD]")
TORN = "\ufffd"  # what a decoder puts where bytes make no character


@dataclass(frozen=True)
class Piece:
    """One sequence: (token,) numbers, and the tokens as a reader should see them."""

    ids: tuple[int, ...]
    tokens: tuple[Token, ...]


def open_folder(name: str, dtype: str | None = None, allow_pickle: bool = False) -> BatchReader:
    """The model of a folder, a name in the local cache, or "demo".

    Errors: as of ``load_model``; ``InputError`` where it has no tokenizer.
    """
    model, tokenizer, _ = load_model(name, dtype, allow_pickle)
    folder = place_of(name)
    return BatchReader(
        model, tokenizer_of(folder, needed=True) if tokenizer is None else tokenizer, name_of(name), folder
    )


def open_module(model: Any, tokenizer: Any, dtype: str | None = None, allow_pickle: bool = False) -> BatchReader:
    """A module that is there already; or the model of a folder, with another tokenizer.

    Errors: as of ``open_folder``; ``InputError`` for anything else.
    """
    if isinstance(model, torch.nn.Module):
        refuse_loading(dtype, allow_pickle)
        return BatchReader(model, tokenizer, type(model).__name__)
    loaded = load_model(model, dtype, allow_pickle)
    return BatchReader(loaded.model, tokenizer, name_of(model))


class BatchReader:
    """A model and its tokenizer, ready to read.

    context : how many tokens it can read, or None where its positions have no end
    pads : True where it can be told of padding
    folder : where it came from, or None for one that was handed in
    """

    def __init__(self, model: Any, tokenizer: Any, name: str, folder: Path | None = None) -> None:
        if tokenizer is None:
            raise InputError(
                en=f"{name} has no tokenizer, and a corpus is text. Put its files beside the model, or pass tokenizer=….",
                ko=f"{name}에 토크나이저가 없는데 말뭉치는 글입니다. 모델 옆에 토크나이저 파일을 두거나 tokenizer=…로 넘기십시오.",
            )
        self.whole, self.tokenizer, self.name, self.folder = model, tokenizer, name, folder
        self.model = _without_head(model)
        self.context = context_of(self.model)
        self.pads = _takes_mask(self.model)

    def identity(self) -> dict[str, Any]:
        """What tells this model from others, and the versions of what it runs on."""
        weights = _of_folder(self.folder) if self.folder is not None else _of_module(self.whole)
        libraries = {name: _version(name) for name in ("torch", "transformers", "numpy")}
        return {"name": self.name, "weights": weights, "dtype": str(next(self.model.parameters()).dtype), **libraries}

    def encoded(self, texts: Sequence[str]) -> list[Piece]:
        """Texts as the model reads them, without padding."""
        if not hasattr(self.tokenizer, "convert_ids_to_tokens") and not hasattr(self.tokenizer, "encode_batch"):
            return [self._encoded([text])[0] for text in texts]  # nobody knows how it pads
        return [piece for some in _of_a_size(texts) for piece in self._encoded(some)]

    def _encoded(self, texts: Sequence[str]) -> list[Piece]:
        given = encoded(self.tokenizer, texts)
        made = []
        for row, tokens, real in zip(given.inputs["input_ids"].tolist(), given.tokens, given.real, strict=True):
            kept = [at for at, is_real in enumerate(real) if is_real]
            made.append(Piece(tuple(row[at] for at in kept), tuple(tokens[at] for at in kept)))
        return made

    def repeated(self, n: int, seed: int, index: int) -> Piece:
        """n random tokens and the same again, between the marks that the tokenizer puts around a text.

        Source: Olsson et al. 2022, "In-context Learning and Induction Heads" (prefix matching).
        """
        known = self._plain_ids
        drawn = np.random.default_rng((seed, index)).choice(known, n, replace=len(known) < n).tolist()
        before, after = self._marks
        ids = (*before, *drawn, *drawn, *after)
        texts = [token.text for token in tokens_of(self.tokenizer, ids)]
        inside = range(len(before), len(before) + 2 * n)
        tokens = [Token(text, (at, at + 1) if at in inside else None) for at, text in enumerate(texts)]
        return Piece(ids, tuple(tokens))

    @cached_property
    def _plain_ids(self) -> Any:
        """Numbers of the vocabulary that stand for text; not for some bytes of a character, which are no text in any order."""
        size = self._vocabulary_size()
        tokens = tokens_of(self.tokenizer, range(size))
        marks = set(getattr(self.tokenizer, "all_special_ids", ()))
        plain = [at for at, label in enumerate(labels_of(tokens)) if at not in marks and not label.special]
        if hasattr(self.tokenizer, "decode"):
            plain = [at for at in plain if TORN not in self.tokenizer.decode([at])]
        if len(plain) < 2:
            raise InputError(
                en=f"the vocabulary of {self.name} has no tokens to draw from.",
                ko=f"{self.name}의 어휘에 뽑을 토큰이 없습니다.",
            )
        return np.array(plain)

    def _vocabulary_size(self) -> int:
        embedding = self.model.get_input_embeddings() if hasattr(self.model, "get_input_embeddings") else None
        known = getattr(embedding, "num_embeddings", None)
        of_tokenizer = len(self.tokenizer) if hasattr(self.tokenizer, "__len__") else self.tokenizer.get_vocab_size()
        return of_tokenizer if known is None else min(of_tokenizer, int(known))

    @cached_property
    def _marks(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What the tokenizer puts before and after a text."""
        piece = self.encoded(["a"])[0]
        text = [at for at, token in enumerate(piece.tokens) if token.span is not None and token.span[0] < token.span[1]]
        if not text:
            return (), ()
        return piece.ids[: text[0]], piece.ids[text[-1] + 1 :]

    def readings(self, items: Sequence[Piece]) -> list[Reading]:
        """One Reading for each sequence, all read at once; what is padded is cut off again.

        Errors: ``InputError`` where a layer cannot be read, or none is found.
        """
        longest = max(len(item.ids) for item in items)
        told = Told(self.name, Side(
            [[*item.tokens, *[PADDING] * (longest - len(item.ids))] for item in items],
            [[at < len(item.ids) for at in range(longest)] for item in items],
        ))  # fmt: skip
        with evaluating(self.model), _one_thread(), Captured(self.model, told=told) as found:
            self.model(**self._inputs(items, longest))
        if found.refused or not len(found):
            raise _unread(found, self.name)
        return self._of_one_stack(found, len(items))

    def reads_ahead(self) -> bool:
        """False for a model whose tokens read only themselves and what came before, as a few of them are seen to do.

        Errors: as of ``readings``.
        """
        (reading,) = self.readings([self._tried])
        return any(bool(np.triu(layer.allowed, 1).any()) for layer in reading.layers)

    @cached_property
    def _tried(self) -> Piece:
        """A few random tokens, twice, as far as there is room for them."""
        room = N_TRIED if self.context is None else (self.context - sum(map(len, self._marks))) // 2
        return self.repeated(max(1, min(N_TRIED, room)), 0, 0)

    def circuits(self) -> Circuits:
        """The matrices around its heads, known again by what they did with a few tokens.

        Errors: ``InputError`` where one of them cannot be found: a model without logits, or whose parts are no matrices.
        """
        item = self._tried
        with evaluating(self.whole), _one_thread():
            w_e, w_u = unembedding(self.name, self.whole, self.model, self._inputs([item], len(item.ids)))
            with heard(self.model) as calls:
                (reading,) = self.readings([item])
            return circuits(self.name, calls, reading, w_e, w_u)

    def _inputs(self, items: Sequence[Piece], longest: int) -> dict[str, Any]:
        fill = getattr(self.tokenizer, "pad_token_id", None)
        fill = getattr(getattr(self.model, "config", None), "pad_token_id", None) if fill is None else fill
        rows = [[*item.ids, *[fill or 0] * (longest - len(item.ids))] for item in items]
        device = next(self.model.parameters()).device
        made = {self._first_argument: torch.tensor(rows, device=device)}
        if any(len(item.ids) < longest for item in items):
            mask = [[int(at < len(item.ids)) for at in range(longest)] for item in items]
            made["attention_mask"] = torch.tensor(mask, device=device)
        return made

    @cached_property
    def _first_argument(self) -> str:
        taken = inspect.signature(self.model.forward).parameters
        return "input_ids" if "input_ids" in taken or not taken else next(iter(taken))

    def _of_one_stack(self, found: Captured, n: int) -> list[Reading]:
        """The readings of the largest stack, sequence by sequence."""
        main = found.readings[found.names.index(found.main)]
        mine = [one for one in found.readings if one.source.details["stack"] == main.source.details["stack"]]
        by_item = {one.source.details["item"]: one for one in mine}
        if sorted(by_item) != list(range(n)):
            raise _unread(found, self.name)
        return [by_item[at] for at in range(n)]


def _of_a_size(texts: Sequence[str]) -> Iterator[list[str]]:
    """Neighbours that together are not large, also when all are padded to the longest."""
    some: list[str] = []
    for text in texts:
        if some and max(len(text), *map(len, some)) * (len(some) + 1) > MOST_LETTERS:
            yield some
            some = []
        some.append(text)
    if some:
        yield some


def _without_head(model: Any) -> Any:
    """The layers alone: what makes logits has no attention. Of an encoder-decoder, the encoder."""
    config = getattr(model, "config", None)
    if getattr(config, "is_encoder_decoder", False) and hasattr(model, "get_encoder"):
        return model.get_encoder()
    return getattr(model, "base_model", model)


def _takes_mask(model: Any) -> bool:
    taken = inspect.signature(model.forward).parameters
    return "attention_mask" in taken


@contextmanager
def _one_thread() -> Iterator[None]:
    """Sums come out the same to the last bit only where as many threads make them."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # a model of one's own needs no transformers
        return ""


def _of_folder(folder: Path) -> str:
    """A name for what is in the files of a model, the same wherever they lie."""
    digest = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        if file.is_file() and file.suffix in (".json", ".safetensors", ".bin", ".model", ".txt"):
            digest.update(f"{file.name}\0".encode())
            with file.open("rb") as opened:
                while part := opened.read(MOST_READ):
                    digest.update(part)
    return digest.hexdigest()


def _of_module(model: Any) -> str:
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\0".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _unread(found: Captured, name: str) -> InputError:
    en, ko = not_read(found)
    return InputError(
        en=f"the attention of {name} cannot be measured: {en or 'no layer of attention was found'}.",
        ko=f"{name}의 어텐션을 측정할 수 없습니다. {ko or '어텐션 층을 찾지 못했습니다'}.",
    )
