"""A token of a model is found by the name that is shown, wherever a token can be given; its own spelling comes first."""

from __future__ import annotations

import numpy as np
import pytest

import jumok
from jumok.errors import UnknownName
from jumok.labels import names_of

BYTES = ["The", "Ġcat", "Ġthe", "Ġcat", "ĠìĿĢ", "íĸī"]
PIECES = ["▁It", "▁was", "▁it"]


def trace(tokens, kind="model", key_tokens=None):
    n, m = len(tokens), len(key_tokens or tokens)
    q, k = np.ones((1, n, 2)), np.ones((1, m, 2))
    return jumok.Trace(tokens=tokens, q=q, k=k, v=k, key_tokens=key_tokens, source=jumok.Source(kind=kind))


def test_names_are_what_a_person_calls_them():
    assert names_of(BYTES) == ["The", "cat", "the", "cat", "은", "행"]
    assert names_of(PIECES) == ["It", "was", "it"]


@pytest.mark.parametrize(
    ("tokens", "name", "at"),
    [(BYTES, "the", 2), (BYTES, "cat#2", 3), (BYTES, "행", 5), (BYTES, "Ġthe", 2), (PIECES, "it", 2), (["be", "##cause"], "cause", 1)],
)  # fmt: skip
def test_a_token_is_found_by_its_name(tokens, name, at):
    assert trace(tokens).index(name) == at
    assert trace(["x"], key_tokens=tokens).key_index(name) == at


def test_its_own_spelling_comes_first():
    assert trace(["cat", "Ġcat", "Ġsat"]).index("cat") == 0
    assert trace(["cat", "Ġcat", "Ġsat"]).index("cat#2") == 1


def test_names_that_stand_twice_have_to_be_numbered():
    with pytest.raises(UnknownName, match="'cat' stands 2 times; say which: cat#1, cat#2"):
        trace(BYTES).index("cat")


def test_spellings_that_stand_twice_too():
    with pytest.raises(UnknownName, match="'Ġcat' stands 2 times; say which: Ġcat#1, Ġcat#2"):
        trace(BYTES).index("Ġcat")


def test_what_is_not_there_is_told_by_names():
    with pytest.raises(UnknownName, match=r"unknown token 'dog'\. There are: 'The', 'cat'"):
        trace(BYTES).index("dog")


def test_other_records_are_taken_at_their_word():
    with pytest.raises(UnknownName, match="Did you mean 'Ġthe'"):
        trace(BYTES, "arrays").index("the")


def test_it_holds_for_pictures_and_explanations():
    record = trace(BYTES)
    assert jumok.draw(record, "arrows", query="the").choice.query == 2
    assert jumok.explain(record, "the").token == "the"
    assert jumok.compare(record, trace(BYTES), pairs=[("the", "the")]).pairs == ((2, 2),)
