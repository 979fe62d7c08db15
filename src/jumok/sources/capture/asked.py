"""What ``capture`` was asked for: what the model is called with, and what is known of its tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from ...errors import InputError
from ...tokens import Token
from .notes import Note
from .texts import encoded, refuse_blank, tokens_of, word_of

__all__ = ["Asked", "Side", "Told", "asked", "context_of", "refuse_text"]

MOST_WRITTEN = 32  # tokens that an encoder-decoder writes where it is not told what to read
MOST_PREFIX = 8  # tokens that stand before the patches of a picture: [CLS] and registers


@dataclass(frozen=True)
class Side:
    """The sequences that one stack of a model reads: (item) tokens, and which are no padding (None: all)."""

    tokens: list[list[Token]]
    real: list[list[bool]] | None = None


@dataclass(frozen=True)
class Told:
    """What is known of the sequences beforehand.

    main : what the model reads;  decoder : what its decoder reads, where there are two;  decoder_at : the decoder's name
    grid : (rows, columns) of the patches of a picture, or None
    unknown : the share of tokens that stand for text the vocabulary does not know
    notes : what a reader should know beside the numbers
    """

    name: str | None = None
    main: Side | None = None
    decoder: Side | None = None
    decoder_at: str | None = None
    grid: tuple[int, int] | None = None
    sentences: Sequence[str] = ()
    special: bool | None = None
    unknown: float = 0.0
    notes: tuple[Note, ...] = ()

    def is_decoder(self, module: str) -> bool:
        """True for a module of the decoder of an encoder-decoder."""
        return self.decoder_at is not None and module.startswith(f"{self.decoder_at}.")

    def of(self, module: str, n: int, item: int, read: bool = False) -> tuple[list[Token] | None, list[bool] | None]:
        """The tokens of an item in a module, and which are real, where a sequence of this length is known.

        read : True for what cross-attention reads
        """
        side = self.decoder if self.is_decoder(module) and not read else self.main
        if side is not None and item < len(side.tokens) and len(side.tokens[item]) == n:
            return side.tokens[item], None if side.real is None else side.real[item]
        return self._patches(n), None

    def _patches(self, n: int) -> list[Token] | None:
        if self.grid is None or not 0 <= n - self.grid[0] * self.grid[1] <= MOST_PREFIX:
            return None
        rows, columns = self.grid
        before = ["[CLS]", *["[REG]"] * MOST_PREFIX][: n - rows * columns]
        return [Token(text) for text in (*before, *(f"{i},{j}" for i in range(rows) for j in range(columns)))]


@dataclass(frozen=True)
class Asked:
    """One run of a model: ``args`` and ``inputs`` it is called with, and what is known of it.

    word : a word's text by its number, or None;  writes : True for a decoder, None where that is not known
    """

    args: tuple[Any, ...] = ()
    inputs: dict[str, Any] = field(default_factory=dict)
    told: Told = Told()
    word: Callable[[int], str] | None = None
    writes: bool | None = None


def asked(model: Any, text: Any, tokenizer: Any, target: str | None, name: str) -> Asked:
    """What to call a model with for a text, a list of texts, a tensor, or inputs by name.

    Errors: ``InputError`` for what is none of these, an empty text, one beyond the model's context, a tokenizer that does
    not fit, or a target for a model without a decoder of its own.
    """
    both = bool(getattr(getattr(model, "config", None), "is_encoder_decoder", False))
    if target is not None and not both:
        raise InputError(
            en="target is for encoder-decoder models; this one has no decoder of its own.",
            ko="target은 인코더-디코더 모델에 씁니다. 이 모델에는 따로 디코더가 없습니다.",
        )
    if isinstance(text, torch.Tensor):
        return Asked((text,), {}, Told(name, grid=_grid(model, text)))
    if isinstance(text, Mapping):
        made = _by_name(model, dict(text), tokenizer, name)
    else:
        tokenizer = _tokenizer(model, tokenizer, text)
        made = _texts(model, [text] if isinstance(text, str) else list(text), tokenizer, name)
    made = replace(made, writes=True if both else None)
    return _with_target(model, made, tokenizer, target) if both else made


def _texts(model: Any, texts: list[Any], tokenizer: Any, name: str) -> Asked:
    for text in texts:
        refuse_blank(text)
    given = encoded(tokenizer, texts)
    _fits(model, given.inputs["input_ids"])
    device = next((parameter.device for parameter in model.parameters()), None)
    inputs = {name: one.to(device) for name, one in given.inputs.items()}
    told = Told(
        name, Side(given.tokens, given.real), sentences=tuple(texts), special=given.special, unknown=max(given.unknown),
        notes=_beyond(model, given.inputs["input_ids"].shape[1]),
    )  # fmt: skip
    return Asked((), _taken(model, inputs), told, word_of(tokenizer))


def _taken(model: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Without what the model does not take: token_type_ids of a tokenizer that was made for another one."""
    import inspect

    taken = inspect.signature(model.forward).parameters
    if any(one.kind is one.VAR_KEYWORD for one in taken.values()):
        return {name: one for name, one in inputs.items() if name in taken or name != "token_type_ids"}
    if "input_ids" not in taken and taken:  # one's own model: its first argument is what it reads
        first = next(iter(taken))
        inputs = {first if name == "input_ids" else name: one for name, one in inputs.items()}
    return {name: one for name, one in inputs.items() if name in taken}


def _by_name(model: Any, inputs: dict[str, Any], tokenizer: Any, name: str) -> Asked:
    picture, ids = inputs.get("pixel_values"), inputs.get("input_ids")
    told = Told(name, grid=None if picture is None else _grid(model, picture))
    if ids is not None:
        _fits(model, ids)
        mask = inputs.get("attention_mask")
        real = None if mask is None or mask.dim() != 2 else mask.bool().tolist()
        if tokenizer is not None:
            told = replace(told, main=Side([tokens_of(tokenizer, row) for row in ids.tolist()], real))
    return Asked((), inputs, told, None if tokenizer is None else word_of(tokenizer))


def _tokenizer(model: Any, tokenizer: Any, text: Any) -> Any:
    if not isinstance(text, (str, list, tuple)):
        raise InputError(
            en=f"capture expects a text, a list of texts, a tensor, or the model's inputs by name, got {type(text).__name__}.",
            ko=f"capture에는 글, 글의 목록, 텐서, 또는 이름 붙인 모델 입력이 필요한데 {type(text).__name__}이(가) 왔습니다.",
        )
    if tokenizer is not None:
        return tokenizer
    folder = getattr(getattr(model, "config", None), "_name_or_path", "")
    if folder:
        from .models import tokenizer_of

        found = tokenizer_of(folder, needed=True)
        if found is not None:
            return found
    raise InputError(
        en="capture needs a tokenizer to read a text: capture(model, text, tokenizer=…).",
        ko="글을 읽으려면 토크나이저가 필요합니다: capture(model, text, tokenizer=…).",
    )


def refuse_text(text: Any, model: Any, name: str) -> None:
    """Refuse a text for a model whose folder has no tokenizer, or a damaged one. Errors: ``InputError``."""
    from .models import tokenizer_of

    if not isinstance(text, (str, list, tuple)):
        return
    if folder := getattr(model.config, "_name_or_path", ""):
        tokenizer_of(folder, needed=True)
    sees = hasattr(model.config, "patch_size") or hasattr(model.config, "image_size")
    what, what_ko = ("pictures", "그림") if sees else ("something else than texts", "글이 아닌 것")
    takes = "pixel_values" if sees else "input_values"
    raise InputError(
        en=f"{name} has no tokenizer (tokenizer.json and the like), so it cannot read a text. Put the tokenizer's files beside "
        f"the model. If it is a model of {what}, capture its inputs in Python: jumok.capture(model, "
        f"{{'{takes}': …}}).",
        ko=f"{name}에는 토크나이저(tokenizer.json 등)가 없어서 글을 읽을 수 없습니다. 토크나이저 파일을 모델 옆에 두십시오. {what_ko}을 읽는 "
        f"모델이면 Python에서 입력을 주고 읽으십시오: jumok.capture(model, {{'{takes}': …}}).",
    )


def _with_target(model: Any, made: Asked, tokenizer: Any, target: str | None) -> Asked:
    """With what the decoder of an encoder-decoder reads: the target, or what the model writes."""
    decoder = model.get_decoder() if hasattr(model, "get_decoder") else None
    at = next((name for name, module in model.named_modules() if module is decoder), None)
    told = replace(made.told, decoder_at=at)
    ids = made.inputs.get("decoder_input_ids")
    if ids is None:
        ids = _target_ids(model, made, tokenizer, target)
    if tokenizer is not None:
        told = replace(told, decoder=Side([tokens_of(tokenizer, row) for row in ids.tolist()]))
    return replace(made, inputs={**made.inputs, "decoder_input_ids": ids}, told=told)


def _target_ids(model: Any, made: Asked, tokenizer: Any, target: str | None) -> Any:
    start = torch.full((1, 1), int(model.config.decoder_start_token_id))
    if target is not None:
        return torch.cat([start, encoded(_needed(tokenizer), [target]).inputs["input_ids"]], dim=1).to(model.device)
    if hasattr(model, "generate"):
        most = min(MOST_WRITTEN, (context_of(model) or MOST_WRITTEN + 1) - 1)
        return model.generate(**made.inputs, max_new_tokens=most, do_sample=False)
    return start.expand(len(next(iter(made.inputs.values()))), 1).to(model.device)


def _needed(tokenizer: Any) -> Any:
    if tokenizer is None:
        raise InputError(
            en="a target is a text, which needs a tokenizer: capture(model, …, tokenizer=…).",
            ko="target은 글이므로 토크나이저가 필요합니다: capture(model, …, tokenizer=…).",
        )
    return tokenizer


def _grid(model: Any, picture: Any) -> tuple[int, int] | None:
    """(rows, columns) of the patches that a picture (…, height, width) is cut into, where the model says their size."""
    config = getattr(model, "config", None)
    config = getattr(config, "vision_config", config)
    size = getattr(config, "patch_size", None) or getattr(getattr(model, "patch_embed", None), "patch_size", None)
    if not size or picture.dim() < 3:
        return None
    height, width = (size, size) if isinstance(size, int) else size
    return picture.shape[-2] // int(height), picture.shape[-1] // int(width)


def _fits(model: Any, ids: Any) -> None:
    """Refuse a text beyond the model's context, and tokens that its vocabulary does not have."""
    n, most = ids.shape[1], context_of(model)
    if most is not None and n > most:
        raise InputError(
            en=f"the text has {n} tokens, but the context of this model is {most}. Take a part of it.",
            ko=f"글이 토큰 {n}개인데 이 모델의 문맥 길이는 {most}입니다. 일부만 쓰십시오.",
        )
    embedding = model.get_input_embeddings() if hasattr(model, "get_input_embeddings") else None
    size = getattr(embedding, "num_embeddings", None)
    if size is not None and int(ids.max()) >= size:
        raise InputError(
            en=f"the tokenizer does not fit this model: it gave token {int(ids.max())}, and the model knows {size}.",
            ko=f"토크나이저가 이 모델과 맞지 않습니다. 토큰 번호 {int(ids.max())}이(가) 나왔는데 모델은 {size}개만 압니다.",
        )


def _beyond(model: Any, n: int) -> tuple[Note, ...]:
    """A text beyond what a model was made for, where its positions have no end and nothing stops it."""
    config: Any = getattr(model, "config", None)
    config = config.get_text_config() if hasattr(config, "get_text_config") else config
    most = getattr(config, "max_position_embeddings", None)
    if type(most) is not int or n <= most:
        return ()
    return (
        Note(
            en=f"The text has {n:,} tokens, and this model is made for {most:,} (max_position_embeddings). It runs beyond that, "
            f"but has not learned what to do there.",
            ko=f"글이 토큰 {n:,}개인데 이 모델은 {most:,}개까지 읽도록 만들어졌습니다(max_position_embeddings). 그 뒤도 계산은 하지만 "
            f"학습한 적이 없는 길이입니다.",
        ),
    )


def context_of(model: Any) -> int | None:
    """How many places a model has learned, or None where its positions have no end (rotary, ALiBi, relative ones)."""
    for name, module in model.named_modules():
        last = name.rsplit(".", 1)[-1]
        if isinstance(module, torch.nn.Embedding) and ("position" in last or last in ("wpe", "embed_positions")):
            before = getattr(module, "offset", None) or (0 if module.padding_idx is None else module.padding_idx + 1)
            return int(module.num_embeddings) - int(before)
    return None
