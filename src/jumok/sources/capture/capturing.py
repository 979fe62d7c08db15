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

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

import torch

from ...errors import InputError, JumokError, NoLayer
from ...layer_numbers import layer_place
from ...tokens import Token, position, unknown_name
from ...trace import Reading, Source, Trace, no_layer
from ...words import LANGS, counted
from .asked import Asked, Told, asked, refuse_text
from .calls import Seen
from .cut import Cut, Place, Rerun, cut
from .doubts import doubts
from .growing import Calls
from .notes import Note
from .room import refuse_too_large
from .seen_words import OTHER_THREAD, OWN_THREAD
from .stacks import names_of, read, reading_of
from .texts import unreadable
from .traces import Refused
from .wanted import Layers, absent, refuse_absent, refuse_absent_early, wanted_layers
from .watching import watching

__all__ = ["Captured", "capture", "evaluating", "not_read", "refuse_loading"]

MOST_NAMED = 6  # readings in a message
DRAWN = (".html", ".htm", ".svg", ".png", ".md", ".csv")


class Captured(Reading):
    """A Reading that is filled when its with-block ends.

    layers : of the first sequence of the largest stack (``choose`` takes another)
    readings : every Reading, where there are several: sequences of a batch, an encoder and a decoder, two calls of a model
    names : (reading,) what each is called: "encoder", "decoder" and "cross" of a model that has them, else its number
    refused : layers that were watched and not trusted, each with the reason
    seen : what looks like attention and was not read, each with the reason
    unknown : the share of the text's tokens that the vocabulary does not know
    """

    readings: tuple[Reading, ...]
    refused: tuple[Refused, ...]
    seen: tuple[Seen, ...]
    unknown: float
    names: tuple[str, ...]
    _asked: tuple[Any, Layers, Told]
    _again: Rerun | None
    _running: tuple[Calls, Any, ExitStack]
    _places: tuple[tuple[Place, ...], ...]
    _n_layers: int
    _doubts: tuple[Note, ...]
    _main: int | None
    _chosen: bool

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
        for name in ("readings", "names", "refused", "seen", "_places"):
            put(self, name, ())
        put(self, "_main", None)
        put(self, "_chosen", False)
        put(self, "unknown", 0.0 if told is None else told.unknown)
        put(self, "_asked", (model, wanted_layers(layers), told or Told()))
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
            if getattr(getattr(watcher, "modules", None), "elsewhere", False) and not len(calls):
                calls.seen.append(Seen("", OTHER_THREAD, OWN_THREAD))
            self._fill(calls, tuple(watcher.seen))

    def _fill(self, calls: Calls, seen: tuple[Seen, ...]) -> None:
        told: Told = self._asked[2]
        whole = [(number, found, found.call()) for number, found in calls.whole()]
        made, refused = read([(number, call) for number, _, call in whole], told)
        put = object.__setattr__
        put(self, "_doubts", doubts([found for _, found, _ in whole], [call for *_, call in whole], told))
        put(self, "_n_layers", calls.n_layers)
        put(self, "readings", tuple(reading_of(traces, told, name[-1]) for name, traces in made.items()))
        put(self, "names", names_of(self.readings))
        put(self, "_places", tuple(tuple(place for _, place in some) for some in made.values()))
        put(self, "refused", tuple(refused))
        put(self, "seen", (*seen, *calls.seen))
        if self.readings:
            self._show(max(range(len(self.readings)), key=lambda at: len(self.readings[at])))
        else:
            put(self, "source", Source(kind="model", backend="torch", name=told.name, details=self._told()))

    def _show(self, at: int) -> None:
        put, shown = object.__setattr__, self.readings[at]
        put(self, "_main", at)
        put(self, "layers", shown.layers)
        details = {**shown.source.details, **self._told()}
        if said := unreadable(shown.tokens, str(details.get("sentence", "")), self.unknown):
            details["unreadable"] = said
        put(self, "source", replace(shown.source, details=details))

    def _told(self) -> dict[str, Any]:
        """What was not read, and what a reader should know, as plain JSON."""
        _, layers, told = self._asked
        missing = absent(layers, self._n_layers)
        return _listed(self.refused, self.seen, (*told.notes, *self._doubts, *([] if missing is None else [missing])))

    @property
    def main(self) -> str:
        """The name of the reading whose layers these are."""
        self._refuse_empty()
        return self.names[self._at(None)]

    def choose(self, reading: int | str) -> Captured:
        """The same, but its layers are those of another of its readings: one of ``names``, or a position.

        >>> import torch
        >>> model, x = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval(), torch.zeros(2, 3, 8)
        >>> with torch.no_grad(), Captured() as both:
        ...     _ = model(x, x, x)
        >>> both.choose(1).source.details["item"]
        1

        Errors: ``InputError`` and ``UnknownName`` for a reading that is not there.
        """
        self._refuse_empty()
        other = copy(self)
        object.__setattr__(other, "_chosen", True)
        other._show(self._at(reading))
        return other

    def _at(self, reading: int | str | None) -> int:
        if reading is None and self._main is not None:
            return self._main
        if not isinstance(reading, str):
            return position("reading", "기록", reading, len(self.readings))
        if reading in self.names:
            return self.names.index(reading)
        if reading.isascii() and reading.isdigit() and int(reading[:9]) < len(self.readings):
            return int(reading)
        raise unknown_name("reading", "기록", reading, self.names)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """As ``Reading.save``. Of several readings the one that was chosen: a file holds one.

        Errors: as of ``Reading.save``; ``InputError`` where nothing was read, or there are several and none was chosen.
        """
        self._refuse_empty()
        _refuse_drawn(path)
        if len(self.readings) > 1 and not self._chosen:
            some = ", ".join(map(repr, self.names[:MOST_NAMED])) + (", …" if len(self.names) > MOST_NAMED else "")
            first, name = self.names[0], Path(path)
            one = f"reading.choose({first!r}).save({f'{name.stem}.{first}{name.suffix}'!r})"
            raise InputError(
                en=f"this capture holds {len(self.readings)} readings ({some}), and a file holds one. Save each: {one}.",
                ko=f"기록이 {len(self.readings)}개 있는데({some}) 파일 하나에는 기록 하나가 들어갑니다. 하나씩 저장하십시오: {one}.",
            )
        return super().save(path)

    @overload
    def __getitem__(self, layer: int) -> Trace: ...
    @overload
    def __getitem__(self, layer: slice) -> tuple[Trace, ...]: ...
    def __getitem__(self, layer: int | slice) -> Trace | tuple[Trace, ...]:
        if not self.layers:
            self._refuse_empty()
        return super().__getitem__(layer)

    def __repr__(self) -> str:
        if hasattr(self, "_running"):
            return "Captured(still watching: it is filled when the with-block ends)"
        several = f", {self.main!r} of {len(self.readings)} readings" if len(self.readings) > 1 else ""
        return f"Captured({counted(len(self), 'layer')}, {counted(len(self.tokens), 'token')}{several})"

    def _refuse_empty(self) -> None:
        if hasattr(self, "_running"):
            raise NoLayer(
                en="nothing is read yet: a capture is filled when its with-block ends. Look at it after the block.",
                ko="아직 읽은 것이 없습니다. 기록은 with 블록이 끝날 때 채워집니다. 블록 다음에 보십시오.",
            )
        if not self.layers:
            raise no_layer(self)

    def cut(
        self,
        layer: int | None = None,
        head: int | None = None,
        query: int | str | Token | None = None,
        key: int | str | Token | None = None,
        *,
        renormalise: bool = False,
        mean: bool = False,
        reading: int | str | None = None,
        run: Callable[[], Any] | None = None,
    ) -> Cut:
        """What the model's output changes when one weight is taken away; it is run twice.

        layer : its number in the model, also where only some layers were kept
        query, key : positions or texts. Without ``key`` the whole row of the query, without both the whole head is cut;
            without ``query`` the weights of all tokens on that key
        renormalise : True to share the rest of the row out anew, as if the key were masked; else nothing takes its place
        mean : True to put the mean of what the head hands over, over all tokens, where a row or a head is cut; else 0
        reading : which of ``readings``, a position or one of ``names``; None for the one whose layers these are
        run : does again what was captured and gives its output; needed after a with-block

        Errors: ``InputError`` for a layer, head or token that is not there, without ``run`` after a with-block, or where the
        program does not do again what was read.
        Source: Michel et al. 2019, "Are sixteen heads really better than one?" (a head set to 0); Wang et al. 2022 (mean).
        """
        self._refuse_empty()
        if layer is None or head is None:
            raise InputError(
                en="cut expects a layer and a head, such as reading.cut(0, 1), or of one weight reading.cut(0, 1, query, key).",
                ko="cut에는 층과 헤드가 필요합니다. 예: reading.cut(0, 1), 가중치 하나는 reading.cut(0, 1, query, key).",
            )
        again = self._rerun(run)
        _refuse_flags(renormalise=renormalise, mean=mean)
        which = self._at(reading)
        at = layer_place(self.readings[which], layer)
        trace, place = self.readings[which][at], self._places[which][at]
        way = "renormalised" if renormalise else "mean" if mean else "zero"
        if again.writes is None:
            again = replace(again, writes=_reads_back_only(trace))
        again = replace(again, sentence=self.readings[which].source.details.get("sentence"))
        return cut(trace, place, again, layer, head, query, key, way)

    def _rerun(self, run: Callable[[], Any] | None) -> Rerun:
        if run is not None and not callable(run):
            raise InputError(
                en=f"run expects a function that does again what was captured, such as run=lambda: model(x); got {run!r}.",
                ko=f"run에는 읽은 것을 다시 실행하는 함수(예: run=lambda: model(x))가 필요한데 {run!r}이(가) 왔습니다.",
            )
        again = self._again if run is None else Rerun(run, self._asked[0])
        if again is None:
            raise InputError(
                en="cut runs the program again, and after a with-block it has to be told how: "
                "reading.cut(layer, head, …, run=lambda: model(x)).",
                ko="cut은 프로그램을 다시 실행하는데 with 블록으로 읽은 기록은 그 방법을 모릅니다: "
                "reading.cut(layer, head, …, run=lambda: model(x)).",
            )
        return again


def _reads_back_only(trace: Trace) -> bool:
    """True where the first token reads itself alone: the output at a token is then about what follows it."""
    return not trace.rows("allowed", queries=[0])[0, 1:].any()


def _refuse_flags(**flags: Any) -> None:
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise InputError(
                en=f"{name} expects True or False, got {value!r}.",
                ko=f"{name}에는 True나 False가 필요한데 {value!r}이(가) 왔습니다.",
            )


def _refuse_drawn(path: str | os.PathLike[str]) -> None:
    suffix = Path(path).suffix.lower()
    if suffix in DRAWN:
        raise InputError(
            en=f"a {suffix} file is drawn, not saved: jumok.draw(reading).save({os.fspath(path)!r}). To load it again, save as "
            f".safetensors.",
            ko=f"{suffix} 파일은 저장하지 않고 그립니다: jumok.draw(reading).save({os.fspath(path)!r}). 다시 읽으려면 "
            f".safetensors로 저장하십시오.",
        )


def _listed(refused: Sequence[Refused], seen: Sequence[Seen], notes: Sequence[Note]) -> dict[str, Any]:
    """What was not read, and what a reader should know, as plain JSON."""
    said: dict[str, Any] = {}
    if notes:
        said["notes"] = [note.to_json() for note in notes]
    if refused:
        said["refused"] = [{"module": one.module, "en": one.why_en, "ko": one.why_ko} for one in refused]
    if seen:
        said["seen"] = [{"module": one.module, "what": str(one.what), "why": str(one.why)} for one in seen]
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
    layers, name, notes = wanted_layers(layers), None, tuple[Note, ...]()
    if isinstance(model, torch.nn.Module):
        refuse_loading(dtype, allow_pickle)
    else:
        from .models import load_model, name_of

        if text is None:
            raise InputError(
                en=f"capture expects a model and a text, got only {str(model)!r:.60}. A text comes second: "
                'jumok.capture("demo", "The cat sat.").',
                ko=f"capture에는 모델과 글이 필요한데 {str(model)!r:.60}만 왔습니다. 글은 둘째 자리에 씁니다: "
                'jumok.capture("모델 폴더", "고양이가 앉았다.").',
            )
        loaded, own, notes = load_model(model, dtype, allow_pickle)
        model, name = loaded, name_of(model)
        tokenizer = own if tokenizer is None else tokenizer
        if tokenizer is None:
            refuse_text(text, model, name)
    refuse_absent_early(model, layers)
    with evaluating(model):
        given = asked(model, text, tokenizer, target, name or type(model).__name__)
        ids = given.inputs.get("input_ids")
        if ids is not None:
            refuse_too_large(model, ids.shape[0], ids.shape[1], layers)
        run, told = _forward(model, given), replace(given.told, notes=(*notes, *given.told.notes))
        with Captured(model, layers, told, Rerun(run, model, given.word, given.writes)) as reading:
            _first_run(run, given)
    refuse_absent(layers, reading._n_layers)
    if not len(reading):
        raise _nothing(reading)
    return reading


def refuse_loading(dtype: Any, allow_pickle: bool) -> None:
    """Options of loading are of no use for a model that is there already."""
    for name, is_given in (("dtype", dtype is not None), ("allow_pickle", allow_pickle)):
        if is_given:
            raise InputError(
                en=f"{name} is for loading a model from a folder, and this one is loaded already. Leave it out"
                f"{' (model.to(torch.float16) changes its numbers)' if name == 'dtype' else ''}.",
                ko=f"{name}은 폴더에서 모델을 불러올 때 쓰는데 이 모델은 이미 불러온 것입니다. 빼고 부르십시오"
                f"{'(수의 형식은 model.to(torch.float16)으로 바꿉니다)' if name == 'dtype' else ''}.",
            )


def _first_run(run: Callable[[], Any], given: Asked) -> None:
    """Run a model; one that cannot take the tokens of a text is told as such."""
    if not given.told.sentences:
        run()
        return
    try:
        run()
    except JumokError:
        raise
    except (RuntimeError, TypeError, ValueError, IndexError, AttributeError) as error:
        taken = ", ".join(f"{name} {tuple(one.shape)}" for name, one in given.inputs.items()) or "-"
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(
            en=f"this model did not run on the tokens of a text (it was given {taken}): {why}. If it takes something else, "
            f"call it yourself: with jumok.capture() as reading: model(x).",
            ko=f"이 모델은 글의 토큰으로 실행되지 않았습니다(준 것: {taken}): {why}. 다른 입력을 받는 모델이면 직접 부르십시오: "
            f"with jumok.capture() as reading: model(x).",
        ) from error


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
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
        with evaluating(model):
            return model(*given.args, **given.inputs)

    return run


def not_read(reading: Captured) -> tuple[str, str]:
    """What was refused, else what was only seen, in both languages; "" where there was neither."""
    en, ko = (
        "; ".join(
            [f"{one.module}: {getattr(one, f'why_{lang}')}" for one in reading.refused]
            or [one.text(lang) for one in reading.seen]
        )
        for lang in LANGS
    )
    return en, ko


def _nothing(reading: Captured) -> InputError:
    what, what_ko = not_read(reading)
    return InputError(
        en=f"no attention was found in this model.{f' Seen: {what}.' if what else ''} jumok reads attention: a table of weights "
        f"of queries over keys; state-space models (Mamba), convolutions and linear attention have none.",
        ko=f"이 모델에서 어텐션을 찾지 못했습니다.{f' 본 것: {what_ko}.' if what_ko else ''} jumok은 쿼리가 키를 참고하는 가중치 표를 "
        f"읽습니다. 상태 공간 모델(Mamba), 합성곱, 선형 어텐션에는 그런 표가 없습니다.",
    )
