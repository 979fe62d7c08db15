"""What a person wants, made whole: what is left out shares what remains; what cannot be is refused with a way out."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jumok.errors import InputError, JumokError, ShapeError, UnknownName
from jumok.sources.design.wishes import wishes
from jumok.tokens import as_tokens

TOKENS = as_tokens(["a", "b", "c", "b"])
NAN = np.nan


def wish(wanted, allowed=None, tokens=TOKENS):
    n = len(tokens)
    (one,) = wishes(wanted, tokens, np.ones((n, n), bool) if allowed is None else allowed)
    return one


def test_what_is_left_out_shares_what_remains():
    one = wish({"a": {"c": 0.4}})
    np.testing.assert_allclose(one.table[0], [0.2, 0.2, 0.4, 0.2])
    assert np.isnan(one.table[1:]).all()
    assert one.rows == (0,)
    assert one.shared == {0: pytest.approx(0.2)}
    assert one.zeros == one.forbidden == ()


def test_what_is_left_out_and_forbidden_shares_nothing():
    one = wish({"c": {"c": 0.4}}, np.tril(np.ones((4, 4), bool)))
    np.testing.assert_allclose(one.table[2], [0.3, 0.3, 0.4, 0])
    assert one.zeros == ()


def test_where_nothing_remains_the_rest_is_wanted_at_nothing():
    one = wish({"a": {"a": 0.5, "c": 0.5}})
    np.testing.assert_allclose(one.table[0], [0.5, 0, 0.5, 0])
    assert one.zeros == ((0, 1), (0, 3))
    assert one.shared == {0: 0.0}


def test_a_forbidden_wish_is_told_and_the_row_made_whole_again():
    one = wish({"b#1": {"a": 0.3, "b#1": 0.3, "c": 0.4}}, np.tril(np.ones((4, 4), bool)))
    np.testing.assert_allclose(one.table[1], [0.5, 0.5, 0, 0])
    assert one.forbidden == ((1, 2, 0.4),)


def test_the_second_of_two_equal_words_has_a_number_and_positions_do_too():
    np.testing.assert_array_equal(
        wish({"b#2": {"b#1": 0.7, "a": 0.1, "c": 0.1, "b#2": 0.1}}).table,
        wish({3: {1: 0.7, 0: 0.1, 2: 0.1, 3: 0.1}}).table,
    )


def test_tables_with_free_rows_cells_and_heads():
    table = np.full((4, 4), NAN)
    table[1, 2] = 0.4
    np.testing.assert_allclose(wish(table).table[1], [0.2, 0.2, 0.4, 0.2])
    heads = wishes(np.stack([table, table.T]), TOKENS, np.ones((4, 4), bool))
    assert [one.rows for one in heads] == [(1,), (2,)]
    mixed = wishes([{"a": {"c": 0.4}}, table], TOKENS, np.ones((4, 4), bool))
    assert [one.rows for one in mixed] == [(0,), (1,)]


@given(st.integers(0, 2**32 - 1))
def test_rows_sum_to_one_and_keep_the_ratios_of_what_was_said(seed):
    rng = np.random.default_rng(seed)
    allowed = rng.random((5, 5)) < 0.7
    np.fill_diagonal(allowed, True)
    said = np.where(rng.random((5, 5)) < 0.5, rng.random((5, 5)) / 5, NAN)
    np.fill_diagonal(said, 0.1)
    full = ~np.any(allowed & np.isnan(said), axis=1)
    said[full] = NAN
    one = wish(said, allowed, as_tokens(list("vwxyz")))
    for i in one.rows:
        assert one.table[i].sum() == pytest.approx(1)
        assert not one.table[i][~allowed[i]].any()
        given_here = np.flatnonzero(~np.isnan(said[i]) & allowed[i] & (said[i] > 0))
        ratio = one.table[i][given_here] / said[i][given_here]
        np.testing.assert_allclose(ratio, ratio[0])


ROW = [0.25, 0.25, 0.25, 0.25]
BAD = {
    "off by more than a millionth": ({"a": dict(zip(("a", "b#1", "c", "b#2"), [0.25, 0.25, 0.25, 0.25001], strict=True))}, InputError, "sum to 1.00001"),
    "whole but less than 1": ([ROW, ROW, [0.2, 0.2, 0.2, 0.2], ROW], InputError, "'c' sum to 0.8"),
    "partial and over 1": ({"a": {"a": 0.9, "c": 0.2}}, InputError, "sum to 1.1"),
    "negative": ({"a": {"c": -0.1}}, InputError, "'a' for 'c' is -0.1"),
    "infinite": ({"a": {"c": np.inf}}, InputError, "'a' for 'c' is inf"),
    "not a number": ({"a": {"c": NAN}}, InputError, "expects a number from 0 to 1, got nan"),
    "text": ({"a": {"c": "much"}}, InputError, "got 'much'"),
    "a truth value": ({"a": {"c": True}}, InputError, "got True"),
    "an unknown token that asks": ({"z": {"c": 0.1}}, UnknownName, "'z'"),
    "an unknown token that is read": ({"a": {"z": 0.1}}, UnknownName, "'z'"),
    "a word that stands twice": ({"b": {"a": 0.1}}, UnknownName, "b#1"),
    "a row that is no mapping": ({"a": 0.5}, InputError, "'a' expects {token: weight}"),
    "a row that says nothing": ({"a": {}}, InputError, "'a' says nothing"),
    "too few tokens": ([[1.0]], ShapeError, "(1, 1), but there are 4 tokens"),
    "too many axes": (np.ones((1, 1, 4, 4)), ShapeError, "(1, 1, 4, 4)"),
    "a ragged table": ([[1, 2], [3]], InputError, "rows of one length"),
    "words": ("everything", InputError, "rows of one length"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_wanted_is_refused_in_two_languages(name):
    wanted, kind, phrase = BAD[name]
    with pytest.raises(kind) as caught:
        wish(wanted)
    told(caught.value, phrase)


def test_rows_that_may_read_nothing_are_refused():
    allowed = np.ones((4, 4), bool)
    allowed[0] = False
    with pytest.raises(InputError) as caught:
        wish({"a": {"c": 0.1}}, allowed)
    told(caught.value, "lets it read nothing")
    allowed[0, 1] = True
    with pytest.raises(InputError) as caught:
        wish({"a": {"c": 1.0, "b#1": 0.0}}, allowed)
    told(caught.value, "all that 'a' wants to read is forbidden")
    with pytest.raises(InputError) as caught:
        wish({"a": {"a": 0.5}}, np.zeros((4, 4), bool))
    told(caught.value, "lets it read nothing")


def test_a_row_that_is_off_by_rounding_is_taken():
    one = wish({"a": dict(zip(("a", "b#1", "c", "b#2"), [0.25, 0.25, 0.25, 0.2500009], strict=True))})
    assert one.table[0].sum() == pytest.approx(1, abs=1e-15)


def test_a_whole_table_is_the_same_with_a_row_beside_it_left_free():
    table = np.random.default_rng(0).dirichlet(np.ones(4), 4)
    whole = wish(table)
    with_free = wish(np.where(np.arange(4)[:, None] == 3, NAN, table))  # goes the long way
    np.testing.assert_allclose(whole.table[:3], with_free.table[:3], rtol=1e-15)
    assert (whole.rows, whole.shared, whole.zeros, whole.forbidden) == ((0, 1, 2, 3), {}, (), ())


@pytest.mark.parametrize("bad", [np.inf, -np.inf, -0.1, 2.0])
def test_a_whole_table_with_one_bad_weight_is_refused(bad):
    table = np.full((4, 4), 0.25)
    table[2, 1] = bad
    with pytest.raises(InputError, match="the wanted weight"):
        wish(table)


def told(error: JumokError, phrase: str) -> None:
    assert phrase in error.text("en")
    assert any("HANGUL" in unicodedata.name(letter, "") for letter in error.text("ko"))
    for lang in ("en", "ko"):
        assert error.text(lang).endswith(".")
        assert not error.text(lang).endswith("..")
