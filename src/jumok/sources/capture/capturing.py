"""``capture``: run a program and read its attention.

>>> import torch
>>> model = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval()
>>> x = torch.zeros(1, 3, 8)
>>> with torch.no_grad(), Captured() as reading:
...     _ = model(x, x, x)
>>> reading[0].weights.shape
(2, 3, 3)
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from ...errors import InputError
from ...tokens import Token
from ...trace import Reading, Source, Trace
from .calls import Call, Seen
from .found import Found
from .growing import Calls
from .interface import Interface, follows_interface
from .modules import Modules
from .texts import Encoded, encoded
from .traces import Refused, trace_of
from .watch import Watch

__all__ = ["Captured", "capture"]


class Captured(Reading):
    """A Reading that is filled when its with-block ends.

    layers : of the first sequence of the largest stack;  readings : every Reading, where there are several: sequences
        of a batch, an encoder and a decoder, two calls of a model
    refused : layers that were watched and not trusted, each with the reason
    seen : what looks like attention and was not read, each with the reason
    """

    readings: tuple[Reading, ...]
    refused: tuple[Refused, ...]
    seen: tuple[Seen, ...]

    def __init__(self, model: Any = None, layers: Collection[int] | None = None, told: _Told | None = None) -> None:
        put = object.__setattr__
        put(self, "layers", ())
        put(self, "source", Source(kind="model", backend="torch"))
        for name in ("readings", "refused", "seen"):
            put(self, name, ())
        put(self, "_asked", (model, layers, told or _Told()))

    def __enter__(self) -> Captured:
        model, layers, _ = self._asked
        calls = Calls(layers)
        if model is not None and follows_interface(model):
            stack: list[Any] = [Interface(model, calls)]
        else:
            modules = Modules(model)
            watch = Watch(modules)
            watch.found = calls
            stack = [modules, watch]
        object.__setattr__(self, "_running", (calls, stack, torch.backends.mha.get_fastpath_enabled()))
        torch.backends.mha.set_fastpath_enabled(False)
        for one in stack:
            one.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        calls, stack, fast = self._running
        object.__delattr__(self, "_running")
        for one in reversed(stack):
            one.__exit__(*error)
        torch.backends.mha.set_fastpath_enabled(fast)
        if error[0] is None:
            self._fill(calls_of(calls.whole()), tuple(stack[-1].seen))

    def _fill(self, calls: list[Call], seen: tuple[Seen, ...]) -> None:
        told: _Told = self._asked[2]
        readings, refused = readings_of(calls, told)
        put = object.__setattr__
        put(self, "readings", tuple(readings))
        put(self, "refused", tuple(refused))
        put(self, "seen", seen)
        source = Source(kind="model", backend="torch", name=told.name, details=_listed(refused, seen))
        if readings:
            main = max(readings, key=len)
            put(self, "layers", main.layers)
            details = {**main.source.details, **source.details}
            source = Source(
                kind="model", backend="torch", name=told.name, special_tokens=main.source.special_tokens, details=details
            )
        put(self, "source", source)


@dataclass(frozen=True)
class _Told:
    """What is known of the sequences beforehand.

    rows : sequence length → (item) tokens of a stack;  real : the same, which are no padding
    """

    name: str | None = None
    tokens: Mapping[int, list[list[Token]]] = field(default_factory=dict)
    real: Mapping[int, list[list[bool]]] = field(default_factory=dict)
    sentences: Sequence[str] = ()
    special: bool | None = None

    def of(self, n: int, item: int) -> tuple[list[Token] | None, list[bool] | None]:
        """The tokens of an item, and which are real, where a stack of this length is known."""
        if n not in self.tokens or item >= len(self.tokens[n]):
            return None, None
        return self.tokens[n][item], self.real[n][item] if n in self.real else None


def calls_of(found: list[Found]) -> list[Call]:
    """Calls, with heads that were computed one by one side by side."""
    calls: list[Call] = []
    groups: dict[int, list[Call]] = {}
    for one in found:
        call = one.call()
        if one.group is None or one.group not in groups:
            calls.append(call)
        if one.group is not None:
            groups.setdefault(one.group, []).append(call)
    for group in groups.values():
        for name in ("q", "k", "v", "output"):
            setattr(group[0], name, torch.cat([getattr(call, name) for call in group], dim=1))
    return calls


def readings_of(calls: list[Call], told: _Told) -> tuple[list[Reading], list[Refused]]:
    """A Reading for each stack of layers, call of the model and sequence."""
    cache: dict[Any, Any] = {}
    made: dict[Any, list[Trace]] = {}
    refused: list[Refused] = []
    numbers: dict[Any, int] = {}
    for call in calls:
        n, m = call.q.shape[2], call.k.shape[2]
        stack = (call.run, re.sub(r"\d+", "#", call.module), n == m)
        layer = numbers[stack] = numbers.get(stack, -1) + 1
        for item in range(len(call.q)):
            one = _trace(call, item, layer, told, cache)
            if isinstance(one, Refused):
                refused.append(one)
            else:
                made.setdefault((*stack, item), []).append(one)
    return [_reading(traces, told, name[-1]) for name, traces in made.items()], refused


def _trace(call: Call, item: int, layer: int, told: _Told, cache: dict[Any, Any]) -> Trace | Refused:
    n, m = call.q.shape[2], call.k.shape[2]
    tokens, real = told.of(n, item)
    key_tokens, key_real = told.of(m, item) if m != n else (None, real)
    mask = None if real is None and key_real is None else (real or [True] * n, key_real or [True] * m)
    source = {"layer_number": layer, "model": told.name}
    one = trace_of(call, item, tokens, key_tokens, mask, source, cache)
    return one if isinstance(one, Refused) else one.trace


def _reading(traces: list[Trace], told: _Told, item: int) -> Reading:
    details: dict[str, Any] = {"stack": re.sub(r"\d+", "#", str(traces[0].source.details.get("module", ""))), "item": item}
    if item < len(told.sentences):
        details["sentence"] = told.sentences[item]
    source = Source(kind="model", backend="torch", name=told.name, special_tokens=told.special, details=details)
    return Reading(tuple(traces), source)


def _listed(refused: Sequence[Refused], seen: Sequence[Seen]) -> dict[str, Any]:
    """What was not read, as plain JSON."""
    said: dict[str, Any] = {}
    if refused:
        said["refused"] = [{"module": one.module, "en": one.why_en, "ko": one.why_ko} for one in refused]
    if seen:
        said["seen"] = [{"module": one.module, "what": one.what, "why": one.why} for one in seen]
    return said


# a model and a text -------------------------------------------------------------------------------


def capture(
    model: Any = None,
    text: Any = None,
    tokenizer: Any = None,
    *,
    target: str | None = None,
    layers: Collection[int] | None = None,
    dtype: str | None = None,
    allow_pickle: bool = False,
) -> Captured:
    """What a model attends to on a text: every layer and head; or, without arguments, a with-block that watches any code.

    model : a PyTorch module; or a folder, a name in the local cache, or "demo"
    text : a text, a list of texts (one Reading each, in ``readings``), or what the model is called with by name
        ({"pixel_values": …})
    tokenizer : of transformers, of tokenizers, or anything with encode and decode; None for the model's own
    target : what the decoder of an encoder-decoder reads; None for what the model itself writes
    layers : which layers to keep; None for all
    dtype : to load the model in;  allow_pickle : True to load weights that are only there as a pickle

    After the run a sample of rows of every layer is computed again from what was read and compared with what the model
    itself produced; a layer beyond rounding is refused (``refused``), and what looks like attention but cannot be read
    is listed (``seen``). Memory beyond the model's own is q, k and v.

    Errors: ``InputError`` where no attention is found, for an empty text, a text longer than the model's context, a
    tokenizer that does not fit, a folder that holds no model; ``MissingExtra`` without PyTorch or transformers.
    """
    if model is None:
        return Captured(layers=layers)
    name = None
    if not isinstance(model, torch.nn.Module):
        from .models import load_model

        name = str(model)
        model, own = load_model(model, dtype, allow_pickle)
        tokenizer = own if tokenizer is None else tokenizer
    texts = [text] if isinstance(text, str) else list(text) if isinstance(text, (list, tuple)) else []
    given = encoded(_tokenizer(model, tokenizer), texts) if not isinstance(text, (Mapping, torch.Tensor)) else None
    inputs = dict(given.inputs) if given is not None else _inputs(text)
    was, told = model.training, _Told(name or type(model).__name__)
    model.eval()
    try:
        if given is not None:
            _fits(model, given)
            told = _told(model, given, texts, told.name)
            inputs, told = _with_target(model, tokenizer, inputs, target, told)
        with torch.no_grad(), Captured(model, layers, told) as reading:
            model(**inputs)
    finally:
        model.train(was)
    if not len(reading):
        raise _nothing(reading)
    return reading


def _inputs(given: Any) -> dict[str, Any]:
    return dict(given) if isinstance(given, Mapping) else {"pixel_values": given}


def _tokenizer(model: Any, tokenizer: Any) -> Any:
    if tokenizer is not None:
        return tokenizer
    folder = getattr(getattr(model, "config", None), "_name_or_path", "")
    if folder:
        from .models import tokenizer_of

        found = tokenizer_of(folder)
        if found is not None:
            return found
    raise InputError(
        en="capture needs a tokenizer to read a text: capture(model, text, tokenizer=…).",
        ko="글을 읽으려면 토크나이저가 필요합니다: capture(model, text, tokenizer=…).",
    )


def _told(model: Any, given: Encoded, texts: Sequence[str], name: str | None) -> _Told:
    n = len(given.tokens[0])
    return _Told(name, {n: given.tokens}, {n: given.real}, tuple(texts), given.special)


def _with_target(
    model: Any, tokenizer: Any, inputs: dict[str, Any], target: str | None, told: _Told
) -> tuple[dict[str, Any], _Told]:
    """What the decoder of an encoder-decoder reads."""
    if not getattr(getattr(model, "config", None), "is_encoder_decoder", False):
        return inputs, told
    start = model.config.decoder_start_token_id
    if target is not None:
        written = encoded(tokenizer, [target])
        ids = torch.cat([torch.full((1, 1), start), written.inputs["input_ids"]], dim=1)
    elif hasattr(model, "generate"):
        ids = model.generate(**inputs, max_new_tokens=32, do_sample=False)
    else:
        ids = torch.full((len(inputs["input_ids"]), 1), start)
    pieces = [[Token(str(piece)) for piece in tokenizer.convert_ids_to_tokens(row)] for row in ids.tolist()]
    tokens = {**told.tokens, ids.shape[1]: pieces} if ids.shape[1] not in told.tokens else dict(told.tokens)
    told = _Told(told.name, tokens, told.real, told.sentences, told.special)
    return {**inputs, "decoder_input_ids": ids}, told


def _fits(model: Any, given: Encoded) -> None:
    """Refuse a text beyond the model's context, and tokens that its vocabulary does not have."""
    config = getattr(model, "config", None)
    ids = given.inputs["input_ids"]
    n = ids.shape[1]
    most = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
    rotary = getattr(config, "rope_parameters", None) is not None or getattr(config, "rope_theta", None) is not None
    if isinstance(most, int) and n > most and not rotary:
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


def _nothing(reading: Captured) -> InputError:
    what = "; ".join(f"{one.module}: {one.why_en}" for one in reading.refused) or "; ".join(
        f"{one.module}: {one.what} ({one.why})" for one in reading.seen
    )
    what_ko = "; ".join(f"{one.module}: {one.why_ko}" for one in reading.refused) or "; ".join(
        f"{one.module}: {one.what} ({one.why})" for one in reading.seen
    )
    return InputError(
        en=f"no attention was found in this model.{f' Seen: {what}' if what else ''}",
        ko=f"이 모델에서 어텐션을 찾지 못했습니다.{f' 본 것: {what_ko}' if what_ko else ''}",
    )
