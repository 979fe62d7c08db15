"""How the tokens of a record are shown and called: see ``jumok.labels`` for one row of tokens."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import overload

from ..labels import Label, labels_of, names_of
from ..trace import Reading, Token, Trace, layers_of

__all__ = ["Label", "labels", "labels_of", "names", "names_of_keys", "readable"]


def labels(record: Trace | Reading) -> tuple[Label, ...]:
    """How the tokens of a record are shown."""
    return labels_of(layers_of(record)[0].tokens, _sentence(record))


def _sentence(record: Trace | Reading) -> str | None:
    """The text that the tokens' spans point into, where it is known."""
    first = layers_of(record)[0]
    sentence = record.source.details.get("sentence", first.source.details.get("sentence"))
    return sentence if isinstance(sentence, str) else None


def names(record: Trace | Reading) -> list[str]:
    """(token,) its label without the white space before it: what a person calls it."""
    return names_of(layers_of(record)[0].tokens, _sentence(record))


@overload
def readable(record: Trace) -> Trace: ...
@overload
def readable(record: Reading) -> Reading: ...
def readable(record: Trace | Reading) -> Trace | Reading:
    """What was captured, with tokens that a person can call by name instead of a tokenizer's spelling; else as it is."""
    if layers_of(record)[0].source.kind != "model":
        return record
    made = [_renamed(layer) for layer in layers_of(record)]
    return made[0] if isinstance(record, Trace) else Reading(tuple(made), record.source)


def _renamed(trace: Trace) -> Trace:
    def put(tokens: Sequence[Token], texts: list[str]) -> tuple[Token, ...]:
        return tuple(Token(text, token.span) for token, text in zip(tokens, texts, strict=True))

    named = names(trace)
    keys = None if trace.key_tokens is None else put(trace.key_tokens, names_of_keys(trace, named))
    return dataclasses.replace(trace, tokens=put(trace.tokens, named), key_tokens=keys)


def names_of_keys(trace: Trace, named: list[str]) -> list[str]:
    """(key,) what is read: the tokens themselves, or those of another sequence."""
    if trace.key_tokens is None:
        return named
    return names_of(trace.key_tokens)
