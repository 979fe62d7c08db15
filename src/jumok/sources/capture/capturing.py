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
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import torch

from ...errors import InputError
from ...tokens import Token, position
from ...trace import Reading, Source, Trace
from .asked import Asked, Told, asked
from .calls import Call, Seen
from .cut import Cut, Place, Rerun, cut
from .growing import Calls
from .room import refuse_too_large
from .traces import Made, Refused, trace_of
from .watching import watching

__all__ = ["Captured", "capture"]


class Captured(Reading):
    """A Reading that is filled when its with-block ends.

    layers : of the first sequence of the largest stack;  readings : every Reading, where there are several: sequences
        of a batch, an encoder and a decoder, two calls of a model
    refused : layers that were watched and not trusted, each with the reason
    seen : what looks like attention and was not read, each with the reason
    unknown : the share of the text's tokens that the vocabulary does not know
    """

    readings: tuple[Reading, ...]
    refused: tuple[Refused, ...]
    seen: tuple[Seen, ...]
    unknown: float
    _asked: tuple[Any, Collection[int] | None, Told]
    _again: Rerun | None
    _running: tuple[Calls, Any, ExitStack]
    _places: tuple[tuple[Place, ...], ...]
    _n_layers: int

    def __init__(
        self,
        model: Any = None,
        layers: Collection[int] | None = None,
        told: Told | None = None,
        again: Rerun | None = None,
    ) -> None:
        put = object.__setattr__
        put(self, "layers", ())
        put(self, "source", Source(kind="model", backend="torch"))
        for name in ("readings", "refused", "seen", "_places"):
            put(self, name, ())
        put(self, "unknown", 0.0 if told is None else told.unknown)
        put(self, "_asked", (model, layers, told or Told()))
        put(self, "_again", again)

    def __enter__(self) -> Captured:
        model, layers, _ = self._asked
        calls, stack = Calls(layers), ExitStack()
        watcher = stack.enter_context(watching(model, calls))
        object.__setattr__(self, "_running", (calls, watcher, stack))
        return self

    def __exit__(self, *error: Any) -> None:
        calls, watcher, stack = self._running
        object.__delattr__(self, "_running")
        stack.__exit__(*error)
        if error[0] is None:
            self._fill(calls, tuple(watcher.seen))

    def _fill(self, calls: Calls, seen: tuple[Seen, ...]) -> None:
        told: Told = self._asked[2]
        made, refused = _read([found.call() for found in calls.whole()], told)
        readings = tuple(_reading(traces, told, name[-1]) for name, traces in made.items())
        put = object.__setattr__
        put(self, "_n_layers", calls.n_layers)
        put(self, "readings", readings)
        put(self, "_places", tuple(tuple(place for _, place in some) for some in made.values()))
        put(self, "refused", tuple(refused))
        put(self, "seen", seen)
        source = Source(kind="model", backend="torch", name=told.name, details=_listed(refused, seen))
        if readings:
            main = readings[self._main]
            put(self, "layers", main.layers)
            source = replace(main.source, details={**main.source.details, **source.details})
        put(self, "source", source)

    @property
    def _main(self) -> int:
        return max(range(len(self.readings)), key=lambda at: len(self.readings[at]))

    def cut(
        self,
        layer: int,
        head: int,
        query: int | str | Token | None = None,
        key: int | str | Token | None = None,
        *,
        renormalise: bool = False,
        mean: bool = False,
        reading: int | None = None,
        run: Callable[[], Any] | None = None,
    ) -> Cut:
        """What the model's output changes when one weight is taken away; it is run twice.

        query, key : positions or texts. Without ``key`` the whole row of the query, without both the whole head is cut;
            without ``query`` the weights of all tokens on that key
        renormalise : True to share the rest of the row out anew, as if the key were masked; else nothing takes its place
        mean : True to put the mean of what the head hands over, over all tokens, where a row or a head is cut; else 0
        reading : which of ``readings``; None for the one whose layers these are
        run : does again what was captured and gives its output; needed after a with-block

        Errors: ``InputError`` for a layer, head or token that is not there, without ``run`` after a with-block, or where the
        program does not do again what was read.
        Source: Michel et al. 2019, "Are sixteen heads really better than one?" (a head set to 0); Wang et al. 2022 (mean).
        """
        if not self.readings:
            raise InputError(
                en="there is nothing to cut: no attention was read.", ko="읽은 어텐션이 없어서 끊을 것이 없습니다."
            )
        again = self._again if run is None else Rerun(run, self._asked[0])
        if again is None:
            raise InputError(
                en="cut runs the program again, and this reading does not know how: reading.cut(…, run=lambda: model(x)).",
                ko="cut은 프로그램을 다시 실행하는데 이 기록은 그 방법을 모릅니다: reading.cut(…, run=lambda: model(x)).",
            )
        which = position("reading", "기록", self._main if reading is None else reading, len(self.readings))
        layer = position("layer", "층", layer, len(self.readings[which]))
        trace, place = self.readings[which][layer], self._places[which][layer]
        way = "renormalised" if renormalise else "mean" if mean else "zero"
        if again.writes is None:
            again = replace(again, writes=_reads_back_only(trace))
        again = replace(again, sentence=self.readings[which].source.details.get("sentence"))
        return cut(trace, place, again, layer, head, query, key, way)


def _reads_back_only(trace: Trace) -> bool:
    """True where the first token reads itself alone: the output at a token is then about what follows it."""
    return not trace.rows("allowed", queries=[0])[0, 1:].any()


# calls → readings -----------------------------------------------------------------------------------

_CROSS = re.compile(r"cross|encoder_attn|encdec|multihead_attn", re.IGNORECASE)


def _read(calls: list[Call], told: Told) -> tuple[dict[Any, list[tuple[Trace, Place]]], list[Refused]]:
    """The Traces of each stack of layers, call of the model and sequence, with their places in the program."""
    cache: dict[Any, Any] = {}
    made: dict[Any, list[tuple[Trace, Place]]] = {}
    refused: list[Refused] = []
    numbers: dict[Any, int] = {}
    for call in calls:
        crossed = call.q.shape[2] != call.k.shape[2] or (
            told.is_decoder(call.module) and bool(_CROSS.search(call.module))
        )
        stack = (call.run, re.sub(r"\d+", "#", call.module), crossed)
        layer = numbers[stack] = numbers.get(stack, -1) + 1
        for item in range(len(call.q)):
            one = _made(call, item, layer, crossed, told, cache)
            if isinstance(one, Refused):
                refused.append(one)
            else:
                made.setdefault((*stack, item), []).append((one.trace, _place(call, item, one)))
    return made, refused


def _made(call: Call, item: int, layer: int, crossed: bool, told: Told, cache: dict[Any, Any]) -> Made | Refused:
    n, m = call.q.shape[2], call.k.shape[2]
    tokens, real = told.of(call.module, n, item)
    key_tokens, key_real = told.of(call.module, m, item, read=True) if crossed else (None, real)
    if crossed and key_tokens is None:
        key_tokens = [Token(str(at)) for at in range(m)]
    mask = None if real is None and key_real is None else (real or [True] * n, key_real or [True] * m)
    source = {"layer_number": layer, "model": told.name, **_sentence(told, item)}
    return trace_of(call, item, tokens, key_tokens, mask, source, cache)


def _place(call: Call, item: int, made: Made) -> Place:
    heads = call.where[min(item, len(call.where) - 1)].numpy()
    n_calls = max(1, len(call.calls))
    return Place(call.calls, heads, call.where.numel() // n_calls, item, made.queries, made.keys)


def _sentence(told: Told, item: int) -> dict[str, str]:
    return {"sentence": told.sentences[item]} if item < len(told.sentences) else {}


def _reading(made: Sequence[tuple[Trace, Place]], told: Told, item: int) -> Reading:
    traces = tuple(trace for trace, _ in made)
    first = traces[0].source
    details: dict[str, Any] = {"stack": re.sub(r"\d+", "#", str(first.details.get("module", ""))), "item": item}
    details["largest_difference"] = max(trace.source.details["largest_difference"] for trace in traces)
    details |= _sentence(told, item)
    source = Source(kind="model", backend="torch", name=told.name, special_tokens=told.special, details=details)
    return Reading(traces, source)


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
    text : a text, a list of texts (one Reading each, in ``readings``), a tensor, or what the model is called with by name
        ({"pixel_values": …})
    tokenizer : of transformers, of tokenizers, or anything with encode and decode; None for the model's own
    target : what the decoder of an encoder-decoder reads; None for what the model itself writes
    layers : which layers to keep; None for all
    dtype : to load the model in;  allow_pickle : True to load weights that are only there as a pickle

    After the run a sample of rows of every layer is computed again from what was read and compared with what the model
    itself produced; a layer beyond rounding is refused (``refused``), and what looks like attention but cannot be read
    is listed (``seen``). Memory beyond the model's own is q, k and v.

    Errors: ``InputError`` where no attention is found, for an empty text, a text longer than the model's context, a
    tokenizer that does not fit, a folder that holds no model; ``TooLargeError`` where memory would not do;
    ``MissingExtra`` without PyTorch or transformers.
    """
    if model is None:
        return Captured(layers=layers)
    name = None
    if not isinstance(model, torch.nn.Module):
        from .models import load_model, name_of

        name = name_of(model)
        model, own = load_model(model, dtype, allow_pickle)
        tokenizer = own if tokenizer is None else tokenizer
    with _evaluating(model):
        given = asked(model, text, tokenizer, target, name or type(model).__name__)
        ids = given.inputs.get("input_ids")
        if ids is not None:
            refuse_too_large(model, ids.shape[0], ids.shape[1], layers)
        run = _forward(model, given)
        with Captured(model, layers, given.told, Rerun(run, model, given.word, given.writes)) as reading:
            run()
    if not len(reading):
        raise _nothing(reading, layers)
    return reading


@contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """Without dropout and gradients; the model is as it was afterwards."""
    was = {module: module.training for module in model.modules()}
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, training in was.items():
            module.training = training


def _forward(model: Any, given: Asked) -> Callable[[], Any]:
    def run() -> Any:
        with _evaluating(model):
            return model(*given.args, **given.inputs)

    return run


def _nothing(reading: Captured, layers: Collection[int] | None) -> InputError:
    if layers is not None and reading._n_layers and not reading.refused:
        most = reading._n_layers - 1
        return InputError(
            en=f"layers expects some of 0 to {most}, got {sorted(layers)}.",
            ko=f"layers에는 0부터 {most}까지 쓸 수 있는데 {sorted(layers)}이(가) 왔습니다.",
        )
    listed = [f"{one.module}: {one.what} ({one.why})" for one in reading.seen]
    what, what_ko = (
        "; ".join([f"{one.module}: {getattr(one, name)}" for one in reading.refused] or listed)
        for name in ("why_en", "why_ko")
    )
    return InputError(
        en=f"no attention was found in this model.{f' Seen: {what}' if what else ''}",
        ko=f"이 모델에서 어텐션을 찾지 못했습니다.{f' 본 것: {what_ko}' if what_ko else ''}",
    )
