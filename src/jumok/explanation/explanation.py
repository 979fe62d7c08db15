"""``explain``: a Trace and a token → what happened, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import InputError
from ..picture.labels import readable
from ..trace import Reading, Token, Trace
from ..words import LANGS, PIECES, fill, language
from .facts import SECTIONS, Fact, facts_of, facts_of_layers
from .phrases import PHRASES, SECTION_TITLES, SUMMARY
from .why_query import why_query

__all__ = ["Explanation", "Section", "default_token", "explain", "why"]

LIST_KINDS = {"key.named", "key.numbers", "key.zero", "score", "score.none", "score.hidden", "weight", "weights.rest", "value",
              "value.zero", "output.dim", "why.key", "why.key.silent"}  # fmt: skip


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

    facts : in the order in which the formula reads;  token : the token explained
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
        heads = len({fact.head for fact in self.facts}) > 1
        head = None
        for fact in facts:
            if heads and fact.section in ("keys", "scores", "weights", "values", "why") and fact.head != head:
                head = fact.head
                n_heads = 1 + max(one.head for one in self.facts)
                yield False, fill(PHRASES["head"][LANGS.index(lang)], {"head": head, "n_heads": n_heads}, lang)
            yield fact.kind in LIST_KINDS, self.sentence(fact, lang)

    def _text_lines(self, lang: str | None) -> Iterator[str]:
        for number, section in enumerate(self.sections(lang), start=1):
            if number > 1:
                yield ""
            yield f"{number}. {section.title}"
            for is_entry, line in section.lines:
                yield f"   {'- ' if is_entry else ''}{line}"


def explain(
    trace: Trace | Reading,
    token: int | str | Token | None = None,
    lang: str = "en",
    *,
    pair: Trace | Reading | None = None,
) -> Explanation:
    """What happened to one token, from its embedding to its output, with every number.

    trace : a Trace, or a Reading (then each layer in turn, and what several layers can do that one cannot)
    token : a position, a text (``word#2`` for the second of two), or None for the one to look at first
    lang : "en" or "ko"
    pair : the Reading of a sentence that differs in other words, to set beside this one

    >>> import jumok
    >>> print(explain(jumok.attend(jumok.load("student")), "The").sections()[4].lines[-1][1])
    The row is uniform: 'The' asks nothing, so all 5 scores are 0 and each key gets the same 0.2.

    Errors: ``UnknownName`` for a token or language that is not there, ``InputError`` for a position out of range.
    """
    language(lang)
    if isinstance(trace, Trace):
        at = trace.index(default_token(trace) if token is None else token)
        trace = readable(trace)
        return Explanation(_facts(trace, at), trace.tokens[at].text, lang, trace.source.details.get("meaning", {}))
    if not isinstance(trace, Reading) or not len(trace):
        raise InputError(
            en=f"explain expects a Trace or a Reading with layers, got {type(trace).__name__}.",
            ko=f"explain에는 Trace나 층이 있는 Reading이 필요한데 {type(trace).__name__}이(가) 왔습니다.",
        )
    at = trace[0].index(default_token(trace[0]) if token is None else token)
    trace = readable(trace)
    facts = [fact for layer, one in enumerate(trace) for fact in _facts(one, at, layer)]
    once = ("analogies", "summary", "definition")  # said once, of the last layer
    last = len(trace) - 1
    facts = [fact for fact in facts if fact.section not in once or fact.layer == last]
    several = facts_of_layers(trace, at, pair if isinstance(pair, Reading) else None) if len(trace) > 1 else ()
    tail = [Fact(f.section, f.kind, f.data, f.head) for f in facts if f.section in once]
    body = [fact for fact in facts if fact.section not in once]
    return Explanation(
        (*body, *several, *tail), trace.tokens[at].text, lang, trace[0].source.details.get("meaning", {})
    )


def why(trace: Trace, token: int | str | Token, lang: str = "en") -> Explanation:
    """Why the query of one token is what it is: the steps from the weights that the record's source wants, if any.

    Errors: as of ``explain``.
    """
    at = trace.index(token)
    facts = tuple(_why(trace, at, None))
    return Explanation(facts, trace.tokens[at].text, language(lang), trace.source.details.get("meaning", {}))


def _facts(trace: Trace, query: int, layer: int | None = None) -> tuple[Fact, ...]:
    return (*facts_of(trace, query, layer), *_why(trace, query, layer))


def _why(trace: Trace, query: int, layer: int | None) -> Iterator[Fact]:
    for head in range(trace.n_heads):
        yield from why_query(trace, query, head, layer)


def default_token(trace: Trace) -> int:
    """The token to look at first: the example's own choice, or the one whose row is furthest from even."""
    focus = trace.source.details.get("focus")
    if isinstance(focus, int) and 0 <= focus < trace.n_queries:
        return focus
    looked_at = range(min(trace.n_queries, 64))
    peaks = [float(trace.rows("weights", queries=[query]).max(axis=-1).mean()) for query in looked_at]
    return max(looked_at, key=lambda query: peaks[query])
