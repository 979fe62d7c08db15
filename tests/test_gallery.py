"""The gallery: packaged heads that were designed. Each file holds what its design gives, to three decimals."""

import dataclasses

import numpy as np
import pytest

import jumok
from jumok.path import Rule
from jumok.sources.design.examples import design_examples
from jumok.sources.example import GALLERY, load

ROUNDED = 0.0005  # half a unit of the third decimal
REASONS = {
    "nearest-noun": {"equal-embeddings"},
    "copy": {"combination"},
}  # of those that no W reaches exactly


def designed(example, layer=None):
    """The design of a file's ``wanted:``, made as its comment says."""
    options = {"w_k": "given", "near": "zero"} if example.name == "copy" else {}
    return design_examples([example], layer=layer, **options)[0]


def last(example):
    """The weights (query, key) of the last layer, as the file stands."""
    return jumok.attend(example)[-1].weights[0] if len(example.layers) > 1 else jumok.attend(example).weights[0]


def attends_most(name, rows):
    """True where each token (a position) reads that other one most, in the last layer."""
    weights = last(load(name))
    return {query: int(weights[query].argmax()) for query in rows} == rows


@pytest.mark.parametrize("name", GALLERY)
def test_a_file_holds_what_its_design_gives(name):
    example = load(name)
    found, block = designed(example), example.layers[-1]
    assert np.abs(found.w_q - block.w_q).max() <= ROUNDED + 1e-9
    assert np.array_equal(found.w_k, block.w_k)
    assert np.array_equal(block.w_q, block.w_q.round(3))
    rows = sorted(example.wanted[0])
    assert np.abs(last(example)[rows] - found.reached[0, rows]).max() < 1e-4


@pytest.mark.parametrize("name", GALLERY)
def test_what_is_only_rounding_is_0(name):
    """So that a design can be read: every entry that the file has as 0 is exactly 0, or is too small for three decimals."""
    example = load(name)
    found, block = designed(example), example.layers[-1]
    small = np.abs(found.w_q[(block.w_q == 0) & (found.w_q != 0)])
    assert np.all(small > 1e-9)


@pytest.mark.parametrize("name", [name for name in GALLERY if name not in REASONS])
def test_a_wanted_table_is_reached(name):
    example = load(name)
    found = designed(example)
    assert found.exact
    assert found.reasons == ()
    assert np.nanmax(np.abs(found.reached - found.wanted)) < 1e-7
    rows = sorted(example.wanted[0])
    assert np.abs(last(example)[rows] - found.wanted[0, rows]).max() < 0.005


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_reasons_beside_a_position_bias_say_what_the_bias_does(lang):
    said = [reason.text(lang) for reason in designed(load("nearest-noun")).reasons]
    bias = {"en": "position bias", "ko": "위치 편향"}[lang]
    assert all(bias in text for text in said)
    (nouns,) = [text for text in said if "cat" in text and "bird" in text]
    assert "4.54e-05" in nouns  # they are ten tokens apart: e^-10


@pytest.mark.parametrize("name", REASONS)
def test_what_is_not_reached_has_its_reasons_and_is_the_best(name):
    found = designed(load(name))
    assert not found.exact
    assert {reason.kind for reason in found.reasons} == REASONS[name]
    assert found.gap < 1e-8


def test_the_previous_token_is_read_by_its_place_alone():
    example = load("previous-token")
    assert attends_most("previous-token", {i: i - 1 for i in range(1, 6)})
    assert [int(np.count_nonzero(row)) for row in example.layers[0].w_q] == [1] * 5
    exchanged = example.replace(x=example.x[[0, 1, 2, 4, 3, 5]])  # what stood before place 4 now stands after it
    weights = jumok.attend(exchanged, rule="none").weights[0]
    assert weights[3].argmax() == 4


def test_the_first_token_is_read_but_rows_of_other_lengths_need_more_than_two_dimensions():
    example = load("first-token")
    assert attends_most("first-token", dict.fromkeys(range(6), 0))
    (wanted,) = example.wanted
    causal = jumok.design(example.replace(wanted=({q: row for q, row in wanted.items() if q},)), rule="causal")
    assert {reason.kind for reason in causal.reasons} == {"equal-embeddings"}


def test_the_same_word_shares_evenly_and_the_weights_are_a_diagonal():
    example = load("same-token")
    w_q = example.layers[0].w_q
    assert np.array_equal(w_q, np.diag(np.diag(w_q)))
    weights = last(example)
    for word in ("그린", "기린", "그림"):
        first, second = (i for i, token in enumerate(example.tokens) if token == word)
        assert np.array_equal(weights[first], weights[second])
        assert weights[first, first] == weights[first, second] > 0.44


def test_the_next_word_is_found_whatever_stands_between():
    example = load("next-word")
    subject, verb, object_ = (example.tokens.index(word) for word in ("cat", "chased", "mouse"))
    assert attends_most("next-word", {subject: verb, verb: object_})
    order = [2, 4, 6, 0, 1, 3, 5]  # another order of words, the same roles
    moved = jumok.attend(x=example.x[order], **_projections(example), tokens=[example.tokens[i] for i in order])
    assert [int(row.argmax()) for row in moved.weights[0, :2]] == [1, 2]


def test_a_pronoun_reads_the_nearest_noun_in_another_sentence_too():
    example = load("nearest-noun")
    assert attends_most("nearest-noun", {7: 4, 14: 11})
    (block,) = example.layers
    rule = Rule(allowed="causal", bias=block.positions)
    noun, verb, pronoun = example.x[1], example.x[2], example.x[7]
    other = np.stack([noun, verb, noun, verb, 0 * noun, noun, verb, verb, pronoun])
    weights = jumok.attend(x=other, **_projections(example), rule=rule).weights[0, -1]
    assert np.argsort(-weights)[0] == 5


def test_the_copying_head_takes_home_what_came_next():
    example = load("copy")
    first, second = jumok.attend(example)
    assert [int(row.argmax()) for row in first.weights[0, 1:]] == list(range(7))
    assert attends_most("copy", {5: 2, 7: 4})
    names = example.dimensions
    assert [names[int(second.output[query, 2:4].argmax()) + 2] for query in (5, 7)] == ["Flowers", "Leaves"]


def test_layer_0_of_the_copying_head_is_a_design_too():
    """As its comment says: W_K kept, near zero, .99 wanted for the token before in every row."""
    example = load("copy")
    before = {query: {query - 1: 0.99} for query in range(1, len(example.tokens))}
    found = designed(example.replace(wanted=(before,)), layer=0)
    assert found.exact
    assert np.abs(found.w_q - example.layers[0].w_q).max() <= ROUNDED + 1e-9
    assert np.array_equal(found.w_k, example.layers[0].w_k)
    weights = jumok.attend(example)[0].weights[0]
    assert np.nanmax(np.abs(weights[1:] - found.wanted[0, 1:])) < 0.005


def test_the_copying_head_needs_both_layers():
    """Without layer 0 nothing says what a word came after, and both seasons ask in vain."""
    example = load("copy")
    silent = dataclasses.replace(example.layers[0], w_v=np.zeros((6, 6)))
    weights = last(example.replace(layers=(silent, example.layers[1])))
    for query in (5, 7):
        assert np.ptp(weights[query, : query + 1]) < 1e-12


def test_each_closing_bracket_reads_its_opening_one():
    example = load("brackets")
    open_, pairs = [], {}
    for at, token in enumerate(example.tokens):
        if token == "(":
            open_.append(at)
        elif token == ")":
            pairs[at] = open_.pop()
    assert len(pairs) == 3
    assert not open_
    assert attends_most("brackets", pairs)


def _projections(example):
    (block,) = example.layers
    return {name: getattr(block, name) for name in ("w_q", "w_k", "w_v")}
