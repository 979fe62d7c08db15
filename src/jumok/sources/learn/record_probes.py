"""What a recording looks at: texts or inputs of a model, as runs of it on one sequence each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from ...errors import InputError
from ...tokens import Token, as_tokens, token_index
from ...words import with_particle
from ..capture.asked import Asked, Side, Told, asked
from ..capture.texts import tokens_of
from .recording import SeenLayer, Watched

__all__ = ["Named", "named", "probes_of"]


@dataclass(frozen=True)
class Named:
    """A probe, with what was said of it: its tokens, and the one to look at (None for nothing)."""

    watched: Watched
    tokens: Sequence[Token] | None
    query: int | str | Token | None


def probes_of(model: Any, probes: Any, tokenizer: Any, tokens: Any, loss: Any, query: Any) -> list[Named]:
    """(probe,) how the model is run on each.

    probes : one or a list: a text, a tensor, a tuple of arguments, inputs by name, or a function that runs the model
    tokens, query : for the only probe, or a list with one each; None for nothing
    loss : of the model's output, for all probes; or a list with one each

    Errors: ``InputError`` for what is none of these, no probe at all, a text without a tokenizer, or lists that do not fit.
    """
    several = isinstance(probes, list)
    listed = probes if several else [probes]
    if not listed:
        raise InputError(
            en="record expects at least one probe.", ko="record에는 살펴볼 글이나 입력이 하나 이상 필요합니다."
        )
    n = len(listed)
    names = _each("tokens", tokens, n, several)
    losses = [loss] * n if callable(loss) else _each("loss", loss, n, several)
    queries = _each("query", query, n, several)
    return [
        Named(_watched(model, probe, tokenizer, one), None if some is None else as_tokens(some), row)
        for probe, some, one, row in zip(listed, names, losses, queries, strict=True)
    ]


def _each(name: str, given: Any, n: int, several: bool) -> list[Any]:
    if given is None:
        return [None] * n
    if not several:
        return [given]
    if not isinstance(given, (list, tuple)) or len(given) != n:
        raise InputError(
            en=f"{name} expects a list with one for each of the {n} probes (None for none), got {given!r}.",
            ko=f"{name}에는 살펴볼 것 {n}개에 하나씩 넣은 목록이 필요한데(없으면 None) {with_particle(repr(given), '이/가')} 왔습니다.",
        )
    return list(given)


def _watched(model: Any, probe: Any, tokenizer: Any, loss: Any) -> Watched:
    if loss is not None and not callable(loss):
        raise InputError(
            en=f"loss expects a function of the model's output that gives one number, got {loss!r}.",
            ko=f"loss에는 모델의 출력을 받아 수 하나를 주는 함수가 필요한데 {with_particle(repr(loss), '이/가')} 왔습니다.",
        )
    given = _asked(model, probe, tokenizer)
    known = _known(given, tokenizer)
    told = given.told if known is None else replace(given.told, main=Side([list(known)], _real(given)))
    return Watched(_Run(model, given, probe if _is_run(model, probe) else None, loss), (), told=told)


def named(probe: Named, seen: SeenLayer) -> Watched:
    """A probe with the tokens that its first layer was seen to read.

    Errors: ``InputError`` where it was given another number of tokens, ``UnknownName`` for a query that is none of them.
    """
    n = len(next(iter(seen.arrays.values()))) if seen.tokens is None else len(seen.tokens)
    tokens = probe.tokens or seen.tokens or _of_text(probe.watched.told, n) or tuple(Token(str(at)) for at in range(n))
    if len(tokens) != n:
        raise InputError(
            en=f"tokens has {len(tokens)} texts, but the model attends to {n} tokens in this probe.",
            ko=f"tokens는 {len(tokens)}개인데 모델은 이 입력에서 토큰 {n}개를 봅니다.",
        )
    query = None if probe.query is None else token_index(tokens, probe.query)
    return replace(probe.watched, tokens=tuple(tokens), query=query)


def _of_text(told: Told, n: int) -> Sequence[Token] | None:
    side = told.main
    return side.tokens[0] if side is not None and len(side.tokens[0]) == n else None


def _is_run(model: Any, probe: Any) -> bool:
    return callable(probe) and probe is not model


def _asked(model: Any, probe: Any, tokenizer: Any) -> Asked:
    name = type(model).__name__
    if _is_run(model, probe):
        return Asked(told=Told(name))
    if isinstance(probe, str):
        if tokenizer is None and not getattr(getattr(model, "config", None), "_name_or_path", ""):
            raise InputError(
                en="a probe that is a text needs a tokenizer: record(model, probes, tokenizer=…).",
                ko="글을 살펴보려면 토크나이저가 필요합니다: record(model, probes, tokenizer=…).",
            )
        return asked(model, probe, tokenizer, None, name)
    if isinstance(probe, tuple):
        return Asked(probe, {}, Told(name))
    if isinstance(probe, Mapping):
        return asked(model, _with_read_labels(model, dict(probe)), tokenizer, None, name)
    if isinstance(probe, torch.Tensor):
        return asked(model, probe, tokenizer, None, name)
    raise InputError(
        en=f"a probe is a text, a tensor, a tuple of the model's arguments, its inputs by name, or a function that runs it, "
        f"got {type(probe).__name__}.",
        ko=f"살펴볼 것은 글, 텐서, 모델 인수의 튜플, 이름 붙인 입력, 모델을 실행하는 함수 가운데 하나여야 하는데 "
        f"{with_particle(type(probe).__name__, '이/가')} 왔습니다.",
    )


def _with_read_labels(model: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """With what the decoder of an encoder-decoder reads, where it is trained on labels."""
    shifted = getattr(model, "prepare_decoder_input_ids_from_labels", None)
    if shifted is None or "labels" not in inputs or "decoder_input_ids" in inputs:
        return inputs
    return inputs | {"decoder_input_ids": shifted(inputs["labels"])}


def _known(given: Asked, tokenizer: Any) -> Sequence[Token] | None:
    """The tokens that a tokenizer knows, of a text or of numbers."""
    if given.told.main is not None:
        return given.told.main.tokens[0]
    first = given.args[0] if given.args else None
    if tokenizer is None or not isinstance(first, torch.Tensor) or first.is_floating_point():
        return None
    return tokens_of(tokenizer, first.reshape(-1).tolist())


def _real(given: Asked) -> list[list[bool]] | None:
    mask = given.inputs.get("attention_mask")
    return mask.bool().tolist() if isinstance(mask, torch.Tensor) and mask.dim() == 2 else None


@dataclass(frozen=True)
class _Run:
    """One run of the model on a sequence; gives the loss of it, or None where there is none.

    own : a function that runs the model, instead of its arguments
    """

    model: Any
    given: Asked
    own: Callable[[], Any] | None
    loss: Callable[[Any], Any] | None

    def __call__(self) -> torch.Tensor | None:
        there = next((p.device for p in self.model.parameters()), None)
        with torch.set_grad_enabled(self.loss is not None or "labels" in self.given.inputs):
            if self.own is not None:
                output = self.own()
            else:
                args = [_moved(one, there) for one in self.given.args]
                output = self.model(*args, **{name: _moved(one, there) for name, one in self.given.inputs.items()})
            return self._loss(output)

    def _loss(self, output: Any) -> torch.Tensor | None:
        loss = getattr(output, "loss", None) if self.loss is None else self.loss(output)
        if loss is not None and (not isinstance(loss, torch.Tensor) or loss.numel() != 1):
            raise InputError(
                en=f"loss expects a function that gives one number as a tensor, it gave {type(loss).__name__}.",
                ko=f"loss 함수는 수 하나를 텐서로 주어야 하는데 {with_particle(type(loss).__name__, '을/를')} 주었습니다.",
            )
        return loss if loss is not None and loss.requires_grad else None


def _moved(value: Any, device: Any) -> Any:
    """Where the model is now: it may have been moved since."""
    return value.to(device) if isinstance(value, torch.Tensor) and device is not None else value
