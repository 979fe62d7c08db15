"""Numbers in a text, and the expressions that have to give them."""

import pytest

from jumok.errors import ExampleError
from jumok.lessons.claims import claims_in, filled, placed, unclaimed


@pytest.mark.parametrize(
    ("written", "value", "shown", "is_true"),
    [
        ("0.55", 0.549980, "0.55", True),
        ("0.550", 0.549980, "0.550", True),
        ("0.5", 0.549980, "0.5", True),
        ("0.6", 0.549980, "0.5", False),
        ("55%", 0.549980, "55%", True),
        ("54.9%", 0.549980, "55.0%", False),
        ("-0.00", -0.001, "0.00", False),
        ("−1.5", -1.5, "−1.5", True),
        ("1,000,000", 10**6, "1,000,000", True),
        ('"cat"', "cat", "cat", True),
        ('"cat"', "mat", "mat", False),
        ('"1"', 1, "1", False),
        ("1", "1", "1", False),
        ("1", True, "True", False),
    ],
)
def test_a_claim_is_true_where_the_value_is_written_so(written, value, shown, is_true):
    (claim,) = claims_in(f"a {{{{{written} = f()}}}} b")
    assert claim.shown(value) == shown
    assert claim.is_true(value) is is_true


def test_places_and_several_on_a_line():
    first, second = claims_in('one\n{{1 = a}} and {{"b" = c == "b"}}', "x.md", 10)
    assert (first.place.line, first.place.column, first.expression.place.column) == (11, 1, 7)
    assert (second.place.column, second.expression.text, second.expression.place.column) == (15, 'c == "b"', 23)


@pytest.mark.parametrize("text", ["{{0.5}}", "{{half = 1/2}}", "{{0.5 = }}", "{{0.5 = 1/2", "{{0.5 = import os}}"])
def test_what_is_no_claim_is_refused(text):
    with pytest.raises(ExampleError, match="line 1"):
        list(claims_in(text))


def test_yaml_braces_are_no_claim():
    assert list(claims_in("solution: {w_v: {Method: {Method: 10}}}")) == []


def test_where_claims_stand_in_their_file():
    places = placed("one\n {{1 = a}}\n{{1 = a}} {{2 = b}}", "x.md")
    assert {text: (at.line, at.column) for text, at in places.items()} == {"{{1 = a}}": (2, 2), "{{2 = b}}": (3, 11)}
    with pytest.raises(ExampleError, match=r"x\.md, line 2"):
        filled("{{1 = a}}", lambda claim: claim.expression.value(), places)


def test_filling():
    assert filled("is {{0.5 = 1/2}}!", lambda claim: claim.expression.text) == "is 1/2!"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("0.55 and 12 tokens", ["0.55"]),
        ("55% of it", ["55%"]),
        ("55 % of 3,000.5", ["55 %", "3,000.5"]),
        ("`0.55` and {{0.5 = 1/2}} and {a*0.5}", []),
        ("version 1.2.3, line 3. Then", []),
    ],
)
def test_numbers_that_nothing_computes(text, found):
    assert [number for _, number in unclaimed(text)] == found
