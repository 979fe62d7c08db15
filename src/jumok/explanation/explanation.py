"""``explain``: a Trace and a token → what happened, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from ..errors import InputError
from ..history import History
from ..layer_numbers import layer_numbers, layer_place
from ..picture.labels import labels, readable
from ..tokens import position, token_name
from ..trace import Reading, Token, Trace, layers_of, no_layer
from ..words import LANGS, PIECES, fill, language
from .facts import SECTIONS, Fact, facts_of, facts_of_layers
from .phrases import PHRASES, SECTION_TITLES, SUMMARY
from .why_query import why_query

if TYPE_CHECKING:
    from .emerged import Outcome, Trained

__all__ = ["Explanation", "Section", "default_token", "explain", "why"]

LIST_KINDS = {"key.named", "key.numbers", "key.zero", "score", "score.none", "score.hidden", "weight", "weights.rest", "value",
              "value.zero", "output.dim", "why.key", "why.key.silent"}  # fmt: skip


ONCE = ("analogies", "summary", "definition")
BY_HEAD = ("keys", "scores", "weights", "values", "why")
MOST_HEADS = 4  # that are told one after the other where nobody says which; more would be no explanation

Head = int | Literal["all"] | None


@dataclass(frozen=True)
class Section:
    """One step of an explanation: its title, its sentences, and its facts.

    lines : (is it an entry of a list?, the sentence) each
    """

    name: str
    title: str
    lines: tuple[tuple[bool, str], ...]
    layer: int | None = None


@dataclass(frozen=True)
class Explanation:
    """What happened to one token: facts without language, and sentences made of them.

    facts : in the order in which the formula reads;  token : the name of the token explained, of equal ones ``the#2``
    lang : the language of ``str()``;  meaning : dimension → language → words
    """

    facts: tuple[Fact, ...]
    token: str
    lang: str = "en"
    meaning: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def sections(self, lang: str | None = None) -> list[Section]:
        """The sentences, step by step, in a language."""
        lang = self.lang if lang is None else language(lang)
        return [
            Section(name, self._title(name, lang, layer), tuple(self._lines(facts, lang)), layer)
            for name, layer, facts in self._grouped()
        ]

    def text(self, lang: str | None = None) -> str:
        """All sentences as plain text, in a language."""
        return "\n".join(self._text_lines(lang)) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Facts and sentences as plain JSON."""
        return {
            "token": self.token,
            "facts": [fact.to_json() for fact in self.facts],
            "text": {lang: self.text(lang) for lang in LANGS},
        }

    def sentence(self, fact: Fact, lang: str | None = None) -> str:
        """One fact as a sentence."""
        lang = self.lang if lang is None else language(lang)
        at = LANGS.index(lang)
        if fact.kind.startswith("summary."):
            name, role, question = SUMMARY[fact.kind.removeprefix("summary.")][at]
            return f"{name}: {role}. {fill(question, fact.data, lang)}"
        return fill(PHRASES[fact.kind][at], fact.data, lang, self.meaning)

    def __str__(self) -> str:
        return self.text()

    def _grouped(self) -> Iterator[tuple[str, int | None, list[Fact]]]:
        """Facts by layer, section (and, within the steps of one head, head after head)."""
        layers = list(dict.fromkeys(fact.layer for fact in self.facts))
        if len(layers) > 1:  # what is said once for all layers comes last
            layers = [layer for layer in layers if layer is not None] + [None] * (None in layers)
        for layer in layers:
            for name in SECTIONS:
                facts = [fact for fact in self.facts if fact.layer == layer and fact.section == name]
                if facts:
                    yield name, layer, facts

    def _title(self, name: str, lang: str, layer: int | None) -> str:
        title = fill(SECTION_TITLES[name][LANGS.index(lang)], {"token": self.token}, lang)
        if layer is None:
            return title
        return PIECES["layer"][LANGS.index(lang)].format(layer=layer, title=title)

    def _lines(self, facts: list[Fact], lang: str) -> Iterator[tuple[bool, str]]:
        heads = {fact.head for fact in self.facts if fact.section in BY_HEAD}
        head = None
        for fact in facts:
            if len(heads) > 1 and fact.section in BY_HEAD and fact.head != head:
                head, n_heads = fact.head, len(heads)
                yield False, fill(PHRASES["head"][LANGS.index(lang)], {"head": head, "n_heads": n_heads}, lang)
            yield fact.kind in LIST_KINDS, self.sentence(fact, lang)

    def _text_lines(self, lang: str | None) -> Iterator[str]:
        for number, section in enumerate(self.sections(lang), start=1):
            if number > 1:
                yield ""
            yield f"{number}. {section.title}"
            for is_entry, line in section.lines:
                yield f"   {'- ' if is_entry else ''}{line}"


@overload
def explain(
    trace: Trace | Reading,
    token: int | str | Token | None = None,
    lang: str = "en",
    *,
    pair: Trace | Reading | None = None,
    layer: int | None = None,
    head: Head = None,
) -> Explanation: ...


@overload
def explain(trace: History | Trained, token: None = None, lang: str = "en") -> Outcome: ...


def explain(
    trace: Any,
    token: int | str | Token | None = None,
    lang: str = "en",
    *,
    pair: Trace | Reading | None = None,
    layer: int | None = None,
    head: Head = None,
) -> Explanation | Outcome:
    """What happened to one token, from its embedding to its output, with every number.

    trace : a Trace, or a Reading (then each layer in turn, and what several layers can do that one cannot); of a training
        run (Learned, History), what came of it, or with a token the end of its first probe
    token : a position, a text (``word#2`` for the second of two), or None for the one to look at first
    lang : "en" or "ko"
    pair : the Reading of a sentence that differs in other words, to set beside this one
    layer : of a Reading, the only one that is told
    head : the only one that is told, or "all". None: all, or, of more than four, the one with the largest weight beyond the
        first token, special tokens and neighbours, which the first sentence says

    >>> import jumok
    >>> print(explain(jumok.attend(jumok.load("student")), "The").sections()[4].lines[-1][1])
    The row is uniform: 'The' asks nothing, so all 5 scores are 0 and each key gets the same 0.2.

    Errors: ``UnknownName`` for a token or language that is not there, ``InputError`` for a position out of range.
    """
    language(lang)
    history = trace if isinstance(trace, History) else getattr(trace, "history", None)
    if isinstance(history, History):
        if token is None:
            from .emerged import learned

            return learned(trace, lang)
        trace = history.trace() if len(history.layers) == 1 else history.reading()
    if isinstance(trace, Reading) and not trace.layers:
        raise no_layer(trace)
    if not isinstance(trace, (Trace, Reading)):
        raise InputError(
            en=f"explain expects a Trace or a Reading with layers, got {type(trace).__name__}.",
            ko=f"explain에는 Trace나 층이 있는 Reading이 필요한데 {type(trace).__name__}이(가) 왔습니다.",
        )
    first = layers_of(trace)[0]
    at = first.index(default_token(first) if token is None else token)
    trace = readable(trace)
    facts = _numbered_as(trace, _told(trace, at, pair if isinstance(pair, Reading) else None, layer, head))
    return Explanation(
        tuple(facts), token_name(layers_of(trace)[0].tokens, at), lang, first.source.details.get("meaning", {})
    )


def _numbered(trace: Trace | Reading) -> str:
    """The numbers of the layers, as text: 0 to 5, or 3, 5."""
    numbers = layer_numbers(trace)
    whole = numbers == tuple(range(len(numbers)))
    return f"0–{numbers[-1]}" if whole else ", ".join(map(str, numbers))


def _numbered_as(trace: Trace | Reading, facts: Iterable[Fact]) -> Iterator[Fact]:
    """Facts whose layer, a place in the record so far, is the number that it goes by."""
    numbers = layer_numbers(trace)
    for fact in facts:
        yield fact if fact.layer is None else replace(fact, layer=numbers[fact.layer])


def _told(trace: Trace | Reading, at: int, pair: Reading | None, layer: int | None, head: Head) -> Iterator[Fact]:
    """The facts of all layers and heads, or of the one that is asked for or chosen."""
    layers = layers_of(trace)
    of = range(len(layers)) if layer is None else [layer_place(trace, layer)]
    n_heads = sum(layers[one].n_heads for one in of)
    if head is None and n_heads > MOST_HEADS:
        chosen, only, kind, data = _chosen(layers, of, at)
        yield from _alone(trace, at, chosen, only, kind, data | {"n_heads": n_heads})
    elif head not in (None, "all"):
        if len(of) > 1:
            raise InputError(
                en=f"head {head!r} of which layer? Give the layer as well (--layer, in Python layer=): {_numbered(trace)}.",
                ko=f"{head!r}번 헤드는 어느 층의 것입니까? 층(--layer, Python에서는 layer=)도 주십시오: {_numbered(trace)}.",
            )
        only = position("head", "헤드", head, n_heads)
        yield from _alone(trace, at, of[0], only, "only.head", {"n_heads": n_heads})
    elif isinstance(trace, Reading) and layer is None:
        yield from _of_reading(trace, at, pair)
    else:
        yield from _without_layer(_facts(layers[of[0]], at, None if isinstance(trace, Trace) else of[0]))


def _alone(trace: Trace | Reading, at: int, layer: int, head: int, kind: str, data: dict[str, Any]) -> Iterator[Fact]:
    """One head of one layer, and before all that it is one of several."""
    number = None if isinstance(trace, Trace) else layer
    one = layers_of(trace)[layer]
    if data["n_heads"] > 1:
        yield Fact(SECTIONS[0], kind, data | {"head": head}, head, number)
    yield from _without_layer(_facts(one, at, number, head))


def _chosen(layers: Sequence[Trace], of: Sequence[int], at: int) -> tuple[int, int, str, dict[str, Any]]:
    """The layer and head with the largest weight beyond the first token, special tokens and neighbours; the fact that says so."""
    best, data = 0.0, dict[str, Any]()
    found = (of[0], 0, "only.silent", data)
    marks = [key for key, label in enumerate(labels(layers[of[0]])) if label.special]
    for layer in of:
        trace = layers[layer]
        weights = trace.rows("weights", queries=[at])[:, 0].copy()
        own = [*marks, *range(max(0, at - 1), min(at + 2, trace.n_keys))]
        weights[:, [0] if trace.key_tokens is not None else [0, *own]] = 0
        head, key = np.unravel_index(np.argmax(weights), weights.shape)
        weight = float(weights[head, key])
        if weight > best:
            data = {"key": token_name(trace.read_tokens, int(key)), "weight": weight}
            best, found = weight, (layer, int(head), "only.chosen", data)
    return found


def _of_reading(reading: Reading, at: int, pair: Reading | None) -> Iterator[Fact]:
    """Layer after layer, what several can do that one cannot, and what is said once, of the last layer."""
    last = len(reading) - 1
    facts = [fact for layer, one in enumerate(reading) for fact in _facts(one, at, layer)]
    yield from (fact for fact in facts if fact.section not in ONCE)
    is_whole = layer_numbers(reading) == tuple(range(len(reading)))  # it speaks of the first layer of all
    yield from facts_of_layers(reading, at, pair) if last > 0 and is_whole else ()
    yield from _without_layer(fact for fact in facts if fact.section in ONCE and fact.layer == last)


def _without_layer(facts: Iterable[Fact]) -> Iterator[Fact]:
    """What is said once is said of no layer."""
    for fact in facts:
        yield Fact(fact.section, fact.kind, fact.data, fact.head) if fact.section in ONCE else fact


def why(trace: Trace, token: int | str | Token, lang: str = "en") -> Explanation:
    """Why the query of one token is what it is: the steps from the weights that the record's source wants, if any.

    Errors: as of ``explain``.
    """
    at = trace.index(token)
    facts = tuple(_why(trace, at, None))
    return Explanation(facts, token_name(trace.tokens, at), language(lang), trace.source.details.get("meaning", {}))


def _facts(trace: Trace, query: int, layer: int | None = None, head: int | None = None) -> tuple[Fact, ...]:
    return (*facts_of(trace, query, layer, head), *_why(trace, query, layer, head))


def _why(trace: Trace, query: int, layer: int | None, head: int | None = None) -> Iterator[Fact]:
    for one in range(trace.n_heads) if head is None else [head]:
        yield from why_query(trace, query, one, layer)


def default_token(trace: Trace) -> int:
    """The token to look at first: the example's own choice, or the one whose row is furthest from even."""
    focus = trace.source.details.get("focus")
    if isinstance(focus, int) and 0 <= focus < trace.n_queries:
        return focus
    looked_at = range(min(trace.n_queries, 64))
    peaks = [float(trace.rows("weights", queries=[query]).max(axis=-1).mean()) for query in looked_at]
    return max(looked_at, key=lambda query: peaks[query])
