"""The same page inside a notebook, through anywidget: what is chosen there can be read and set from Python.

::

    shown = widget(trace)
    shown                       # the last line of a cell
    shown.query, shown.key      # positions of the chosen tokens
    shown.query = "studies"     # the page follows

Needs anywidget: ``pip install 'jumok[notebook]'``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InputError, MissingExtra
from ..explanation.words import language, preferred_language
from ..tokens import position
from ..trace import Reading, Trace, token_index, unknown_name
from .grids import SHOWN
from .packed import SMALL_BYTES, Packed, Storage, Values, pack
from .page import BUNDLE

try:
    import anywidget
    import traitlets
except ModuleNotFoundError as error:
    if error.name not in ("anywidget", "traitlets"):
        raise
    raise MissingExtra(extra="notebook", package="anywidget") from None

__all__ = ["Widget", "widget"]


class Widget(anywidget.AnyWidget):
    """A view of one record, or of two beside each other. Made by ``widget``."""

    _esm = BUNDLE.read_text(encoding="utf-8")  # the text itself: a path would be watched for changes

    documents: Any = traitlets.List().tag(sync=True)
    comparison: Any = traitlets.Dict(default_value=None, allow_none=True).tag(sync=True)
    view: Any = traitlets.Dict().tag(sync=True)

    def __init__(self, records: Sequence[Trace | Reading], packed: Sequence[Packed], **traits: Any) -> None:
        self._given = tuple(records)
        self._records = [tuple(record) if isinstance(record, Reading) else (record,) for record in records]
        self._packed = tuple(packed)
        super().__init__(documents=[_sent(document) for document in packed], **traits)
        self.on_msg(self._answer)

    def _answer(self, _widget: Any, content: Any, _buffers: Any) -> None:
        """Bring a layer that the page asks for: ``{"want": {"document": 0, "layer": 3}}``."""
        want = content.get("want") if isinstance(content, dict) else None
        if not isinstance(want, dict):
            return
        document = position("document", "문서", want.get("document"), len(self._packed))
        layer = position("layer", "층", want.get("layer"), len(self._packed[document].layers))
        self.send({"document": document, "layer": layer}, [self._packed[document].layers[layer]])

    # what is chosen ---------------------------------------------------------------------------

    @property
    def trace(self) -> Trace:
        """The record of the chosen layer."""
        layers = self._records[self.document]
        return layers[min(self.layer, len(layers) - 1)]

    @property
    def document(self) -> int:
        """Which of the records is chosen, from 0."""
        return int(self.view.get("document", 0))

    @document.setter
    def document(self, value: int) -> None:
        self._choose("document", position("document", "문서", value, len(self._records)))

    @property
    def layer(self) -> int:
        """The chosen layer, from 0."""
        return int(self.view.get("layer", 0))

    @layer.setter
    def layer(self, value: int) -> None:
        self._choose("layer", position("layer", "층", value, len(self._records[self.document])))

    @property
    def head(self) -> int:
        """The chosen head, from 0."""
        return int(self.view.get("head", 0))

    @head.setter
    def head(self, value: int) -> None:
        self._choose("head", position("head", "헤드", value, self.trace.n_heads))

    @property
    def query(self) -> int:
        """The position of the token that asks. It can be set by position or text."""
        return int(self.view.get("query", 0))

    @query.setter
    def query(self, value: Any) -> None:
        self._choose("query", self.trace.index(value))

    @property
    def key(self) -> int:
        """The position of the token that is read. It can be set by position or text."""
        return int(self.view.get("key", 0))

    @key.setter
    def key(self, value: Any) -> None:
        self._choose("key", token_index(self.trace.read_tokens, value))

    @property
    def stage(self) -> str:
        """The stage that is looked at: "scores", "weights", …"""
        return str(self.view.get("stage", "weights"))

    @stage.setter
    def stage(self, value: str) -> None:
        if value not in SHOWN:
            raise unknown_name("stage", "단계", value, SHOWN)
        self._choose("stage", value)

    @property
    def lang(self) -> str:
        """The language, "en" or "ko"."""
        return str(self.view.get("lang", "en"))

    @lang.setter
    def lang(self, value: str) -> None:
        self._choose("lang", language(value))

    def _choose(self, name: str, value: Any) -> None:
        self.view = {**self.view, name: value}

    # where no widget can be drawn -------------------------------------------------------------

    def __repr__(self) -> str:
        records = ", ".join(
            repr(layers[0]) if len(layers) == 1 else f"{len(layers)} layers" for layers in self._records
        )
        return f"Widget({records})"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """The widget, with a still picture and a text for places that run no program."""
        data, metadata = super()._repr_mimebundle_(**options) or ({}, {})
        return {**_still(self._given[0], self._packed[0], self.lang), **data, "text/plain": repr(self)}, metadata


def widget(
    thing: Trace | Reading | Sequence[Trace | Reading],
    *,
    comparison: Mapping[str, Any] | None = None,
    view: Mapping[str, Any] | None = None,
    lang: str | None = None,
    values: Values = None,
    storage: Storage = None,
) -> Widget:
    """A widget of a Trace, a Reading, or two of them; the options are those of ``page.html``.

    lang : None for the language of this machine

    Errors: ``MissingExtra`` without anywidget, ``InputError`` where there is nothing to show.
    """
    records = [thing] if isinstance(thing, Trace | Reading) else list(thing)
    if not records or not all(isinstance(record, Trace) or len(record) for record in records):
        raise InputError(
            en="a widget expects a Trace, or a Reading of at least one layer, or two of them.",
            ko="위젯에는 Trace나 층이 하나 이상인 Reading, 또는 그런 것 두 개가 필요합니다.",
        )
    first = records[0] if isinstance(records[0], Trace) else records[0][0]
    start = {"query": first.source.details.get("focus", 0), "lang": language(lang or preferred_language())}
    return Widget(
        records,
        [pack(record, values, storage) for record in records],
        comparison=None if comparison is None else dict(comparison),
        view={**start, **(view or {})},
    )


def _sent(document: Packed) -> dict[str, Any]:
    """A document as the page takes it: a small one whole, so that a saved notebook has it all."""
    small = document.n_bytes <= SMALL_BYTES
    return {"header": document.header, "bytes": b"".join(document.layers) if small else None}


def _still(record: Trace | Reading, document: Packed, lang: str) -> dict[str, Any]:
    """A picture that no program has to draw: of a small record its numbers, of a large one its thumbnails."""
    if document.n_bytes <= SMALL_BYTES:
        from .drawing import draw

        return {"image/svg+xml": draw(record, lang=lang).svg()}
    width = min(960, max(240, document.atlas["size"] * document.atlas["columns"]))
    alt = {"en": "attention weights of all heads", "ko": "모든 헤드의 어텐션 가중치"}[lang]
    return {"text/html": f'<img alt="{alt}" width="{width}" src="{document.atlas["png"]}">'}
