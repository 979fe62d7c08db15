"""The same page inside a notebook, through anywidget: what is chosen there can be read and set from Python.

::

    shown = widget(trace)
    shown                       # the last line of a cell
    shown.query, shown.key      # positions of the chosen tokens
    shown.query = "studies"     # the page follows

Needs anywidget: ``pip install 'jumok[notebook]'``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import InputError, JumokError, MissingExtra
from ..history import History
from ..layer_numbers import layer_numbers
from ..tokens import position
from ..trace import Reading, Trace, layers_of
from ..words import LANGS, language, preferred_language
from .chosen import changed, fitting, layers, opening
from .cuts import carried, refuse_cuts
from .folding import carried as folding_carried
from .folding import refuse_variant
from .kinds import no_record
from .learned import Run
from .learned import carried as run_carried
from .learned import opening as run_opening
from .packed import SMALL_BYTES, Packed, Storage, Values, pack
from .page import BUNDLE

try:
    import anywidget
    import traitlets
except ModuleNotFoundError as error:
    if error.name not in ("anywidget", "traitlets"):
        raise
    raise MissingExtra(extra="notebook", package="anywidget") from None

__all__ = ["Cutter", "FoldingWidget", "RunWidget", "Solver", "Widget", "run_widget", "widget"]

Cutter = Callable[[int, int, int, int, bool], Any]  # layer, head, query, key, renormalised? → as reading.cut(…)
Solver = Callable[[str, str | None], Mapping[str, Any]]  # an example file with wanted:, what stays → w_q, w_k, report


class _View(traitlets.Dict):
    """What is chosen. What Python gives is checked before it is taken; what it leaves out stays."""

    def validate(self, obj: Any, value: Any) -> Any:
        obj._chosen = changed(obj._records, obj._chosen, value)
        return dict(obj._chosen)


class Widget(anywidget.AnyWidget):
    """A view of one record, or of two beside each other. Made by ``widget``."""

    _esm = BUNDLE.read_text(encoding="utf-8")  # the text itself: a path would be watched for changes

    documents: Any = traitlets.List().tag(sync=True)
    comparison: Any = traitlets.Dict(default_value=None, allow_none=True).tag(sync=True)
    view: Any = _View().tag(sync=True)
    solver: Any = traitlets.Bool(False).tag(sync=True)
    cutter: Any = traitlets.Bool(False).tag(sync=True)
    cuts: Any = traitlets.List().tag(sync=True)

    def __init__(
        self,
        records: Sequence[Trace | Reading | History],
        packed: Sequence[Packed],
        choice: dict[str, Any],
        solver: Solver | None = None,
        cutter: Cutter | None = None,
        **traits: Any,
    ) -> None:
        self._records: tuple[Any, ...] = tuple(records)
        self._packed = tuple(packed)
        self._chosen = choice
        self._solver = solver
        self._cutter = cutter
        documents = [self._sent(document) for document in packed]
        behind = {"solver": solver is not None, "cutter": cutter is not None}
        super().__init__(documents=documents, view=choice, **behind, **traits)
        self.on_msg(self._answer)

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """What the page says: of its choice what fits. A page may show a token that was added in it alone."""
        if "view" in sync_data:
            sync_data = sync_data | {"view": fitting(self._records, self._chosen, sync_data["view"])}
        super().set_state(sync_data)

    def _answer(self, _widget: Any, content: Any, _buffers: Any) -> None:
        """What the page asks for: ``{"want": {"document": 0, "layer": 3}}``, ``{"kind": "design", …}`` or "cut"."""
        answers = {"design": self._solved, "cut": self._cut}
        if isinstance(content, dict) and content.get("kind") in answers:
            kind = content["kind"]
            self.send({"kind": kind, "number": content.get("number"), **_or_error(answers[kind], content)})
        elif isinstance(content, dict) and isinstance(content.get("want"), dict):
            self._bring(content["want"])

    def _solved(self, content: dict[str, Any]) -> Mapping[str, Any]:
        """The answer to ``{"example": …, "fixed": …}``."""
        if self._solver is None or not isinstance(content.get("example"), str):
            raise InputError(
                en="this view has no solver behind it, or was not given an example file.",
                ko="이 화면 뒤에는 풀 프로그램이 없거나, 예제 파일이 오지 않았습니다.",
            )
        return self._solver(content["example"], content.get("fixed"))

    def _cut(self, content: dict[str, Any]) -> Mapping[str, Any]:
        """The answer to ``{"layer": …, "head": …, "query": …, "key": …, "renormalise": …}``; it is kept in ``cuts``."""
        if self._cutter is None:
            raise InputError(
                en="this view has no model behind it that could be run again.",
                ko="이 화면 뒤에는 다시 실행할 모델이 없습니다.",
            )
        layer, head, query, key = (content.get(name) for name in ("layer", "head", "query", "key"))
        number = layer_numbers(self._records[0])[position("layer", "층", layer, len(layers_of(self._records[0])))]
        made = self._cutter(number, head, query, key, content.get("renormalise") is True)  # type: ignore[arg-type]
        [cut] = carried(made, self._records[0])
        self.cuts = [*(one for one in self.cuts if _place(one) != _place(cut)), cut]
        return {"cut": cut}

    def _bring(self, want: dict[str, Any]) -> None:
        document = position("document", "문서", want.get("document"), len(self._packed))
        layer = position("layer", "층", want.get("layer"), len(self._packed[document].layers))
        self.send({"document": document, "layer": layer}, [self._packed[document].layers[layer]])

    # what is chosen ---------------------------------------------------------------------------

    @property
    def trace(self) -> Trace:
        """The record of the chosen layer."""
        return layers(self._records, self._chosen)[self.layer]

    @property
    def document(self) -> int:
        """Which of the records is chosen, from 0."""
        return int(self._chosen["document"])

    @document.setter
    def document(self, value: int) -> None:
        self.view = {"document": value}

    @property
    def layer(self) -> int:
        """The chosen layer, from 0."""
        return int(self._chosen["layer"])

    @layer.setter
    def layer(self, value: int) -> None:
        self.view = {"layer": value}

    @property
    def head(self) -> int:
        """The chosen head, from 0."""
        return int(self._chosen["head"])

    @head.setter
    def head(self, value: int) -> None:
        self.view = {"head": value}

    @property
    def query(self) -> int:
        """The position of the token that asks. It can be set by position or text."""
        return int(self._chosen["query"])

    @query.setter
    def query(self, value: Any) -> None:
        self.view = {"query": value}

    @property
    def key(self) -> int:
        """The position of the token that is read. It can be set by position or text."""
        return int(self._chosen["key"])

    @key.setter
    def key(self, value: Any) -> None:
        self.view = {"key": value}

    @property
    def stage(self) -> str:
        """The stage that is looked at: "scores", "weights", …"""
        return str(self._chosen["stage"])

    @stage.setter
    def stage(self, value: str) -> None:
        self.view = {"stage": value}

    @property
    def lang(self) -> str:
        """The language, "en" or "ko"."""
        return str(self._chosen["lang"])

    @lang.setter
    def lang(self, value: str) -> None:
        self.view = {"lang": value}

    # where no widget can be drawn -------------------------------------------------------------

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(_named, self._records))})"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """The widget, with a still picture and a text for places that run no program."""
        data, metadata = super()._repr_mimebundle_(**options) or ({}, {})
        return {**self._still(), **data, "text/plain": repr(self)}, metadata

    def _still(self) -> dict[str, Any]:
        """A picture that no program has to draw."""
        return _still(self._records[0], self._packed[0], self.lang)

    @staticmethod
    def _sent(document: Packed) -> dict[str, Any]:
        """A document as the page takes it: a small one whole, so that a saved notebook has it all."""
        small = document.n_bytes <= SMALL_BYTES
        return {"header": document.header, "bytes": b"".join(document.layers) if small else None}


class FoldingWidget(Widget):
    """A view of one record with a panel that folds one tile of keys after another. Made by ``widget(…, variant="flash")``."""

    extension: Any = traitlets.Unicode().tag(sync=True)

    @property
    def tile(self) -> int:
        """How many keys are folded at a time; 0 for as many as the page takes by itself."""
        return int(self._chosen.get("tile", 0))

    @tile.setter
    def tile(self, value: int) -> None:
        self.view = {"tile": value}

    @property
    def fold(self) -> int:
        """Which tile is shown being folded in, from 0."""
        return int(self._chosen.get("fold", 0))

    @fold.setter
    def fold(self, value: int) -> None:
        self.view = {"fold": value}


class RunWidget(Widget):
    """A view of a training run, or of two beside each other. Made by ``run_widget``."""

    extension: Any = traitlets.Unicode().tag(sync=True)
    sides: Any = traitlets.List().tag(sync=True)

    def __init__(self, run: Run, packed: Sequence[Packed], choice: dict[str, Any], **traits: Any) -> None:
        self._run = run
        super().__init__([one.history for one in run.each], packed, choice, **traits)

    @property
    def step(self) -> int:
        """How many updates had been made; the last snapshot that is not after it is shown."""
        return int(self._chosen["step"])

    @step.setter
    def step(self, value: int) -> None:
        self.view = {"step": value}

    @property
    def probe(self) -> int:
        """Which of the sequences that were looked at is shown, from 0."""
        return int(self._chosen["probe"])

    @probe.setter
    def probe(self, value: int) -> None:
        self.view = {"probe": value}

    def _still(self) -> dict[str, Any]:
        from .drawing import draw

        return {"image/svg+xml": draw(self._run, lang=self.lang).svg()}

    @staticmethod
    def _sent(document: Packed) -> dict[str, Any]:
        """Whole: every step of the slider may need any of it."""
        return {"header": document.header, "bytes": b"".join(document.layers)}


def widget(
    thing: Trace | Reading | Sequence[Trace | Reading],
    *,
    comparison: Mapping[str, Any] | None = None,
    view: Mapping[str, Any] | None = None,
    lang: str | None = None,
    values: Values = None,
    storage: Storage = None,
    solver: Solver | None = None,
    cuts: Any = None,
    cutter: Cutter | None = None,
    variant: str | None = None,
    tile: int | None = None,
) -> Widget:
    """A widget of a Trace, a Reading, or two of them; the options are those of ``page.html``.

    lang : None for the language of this machine
    solver : what finds W_Q and W_K for wanted weights, or None: see frontend/README.md, "Python behind the page"
    cuts : what ``reading.cut(…)`` gave, or a list of them;  cutter : makes more of them for the page, or None
    variant : of one record, "flash" for a panel that folds one tile of keys after another;  tile : keys of a tile

    Errors: ``MissingExtra`` without anywidget, ``InputError`` where there is nothing to show.
    """
    records: list[Any] = list(thing) if isinstance(thing, (list, tuple)) else [thing]
    if not 1 <= len(records) <= 2 or not all(map(_has_layers, records)):
        raise no_record("widget", thing)
    lang = language(preferred_language() if lang is None else lang)
    if len(records) > 1:
        refuse_cuts(cuts)
        refuse_variant(variant, tile)
    program, opened = folding_carried(variant, tile)
    choice = {"lang": lang} | opening(records, comparison, opened | dict(view or {}))
    packed = [pack(record, values, storage) for record in records]
    traits = {"comparison": None if comparison is None else dict(comparison), "cuts": carried(cuts, records[0])}
    kind = FoldingWidget if program else Widget
    return kind(records, packed, choice, solver, cutter, **traits, **program)


def run_widget(run: Run, *, view: Mapping[str, Any] | None = None, lang: str | None = None) -> RunWidget:
    """A widget of a training run; the options are those of ``widget``.

    Errors: ``MissingExtra`` without anywidget, ``InputError`` where nothing was looked at.
    """
    lang = language(preferred_language() if lang is None else lang)
    documents, extra = run_carried(run)
    choice = {"lang": lang} | opening([one.history for one in run.each], None, run_opening(run) | dict(view or {}))
    return RunWidget(run, documents, choice, **extra)


def _or_error(answer: Callable[[dict[str, Any]], Mapping[str, Any]], content: dict[str, Any]) -> Mapping[str, Any]:
    """An answer; whatever is wrong is said, so that nobody waits for it."""
    try:
        return answer(content)
    except JumokError as error:
        return {"error": {lang: error.text(lang) for lang in LANGS}}
    except Exception as error:
        return {"error": dict.fromkeys(LANGS, f"{type(error).__name__}: {error}")}


def _place(cut: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(cut[name] for name in ("document", "layer", "head", "query", "key", "way"))


def _has_layers(record: Any) -> bool:
    return isinstance(record, Trace) or (isinstance(record, Reading) and len(record) > 0)


def _named(record: Trace | Reading | History) -> str:
    if isinstance(record, History):
        return repr(record)
    of = layers_of(record)
    return repr(of[0]) if len(of) == 1 else f"{len(of)} layers"


def _still(record: Trace | Reading, document: Packed, lang: str) -> dict[str, Any]:
    """A picture that no program has to draw: of a small record its numbers, of a large one its thumbnails."""
    if document.n_bytes <= SMALL_BYTES:
        from .drawing import draw

        return {"image/svg+xml": draw(record, lang=lang).svg()}
    width = min(960, max(240, document.atlas["size"] * document.atlas["columns"]))
    alt = {"en": "attention weights of all heads", "ko": "모든 헤드의 어텐션 가중치"}[lang]
    return {"text/html": f'<img alt="{alt}" width="{width}" src="{document.atlas["png"]}">'}
