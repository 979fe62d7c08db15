"""Example files with wanted: → the same files with the designed W_Q and W_K."""

import unicodedata

import numpy as np
import pytest

import jumok
from jumok.errors import InputError
from jumok.sources.design.examples import design_examples
from jumok.sources.example import names, parse
from jumok.trace import layers_of

STUDENT = jumok.load("student")
WANTED = [name for name in names() if jumok.load(name).wanted]


def file(more="", mask="none", wanted="wanted: {b: {a: .2, b: .7}}", weights="w_q: identity, w_k: identity"):
    text = f"tokens: [{{a: [0, 0]}}, {{b: [1, 0]}}, {{c: [0, 1]}}]\nweights: {{{weights}}}\nmask: {mask}\n{more}\n{wanted}\n"
    return parse(text)


def test_the_worked_example_designs_its_own_query():
    found, (made,) = design_examples([STUDENT])
    np.testing.assert_allclose(found.w_q, STUDENT.layers[0].w_q, atol=5e-3)
    np.testing.assert_array_equal(made.layers[0].w_q, found.w_q)
    np.testing.assert_array_equal(made.layers[0].w_k, found.w_k)
    np.testing.assert_array_equal(made.layers[0].w_v, STUDENT.layers[0].w_v)
    np.testing.assert_allclose(jumok.attend(made).weights, found.reached, atol=1e-12)


@pytest.mark.parametrize("name", WANTED)
def test_packaged_examples_stand_at_what_they_want(name):
    example = jumok.load(name)
    found, (made,) = design_examples([example])
    assert found.exact == (found.reasons == ())
    layer = made.layers[-1]
    assert layer.w_q.shape == example.layers[-1].w_q.shape
    standing = np.asarray(layers_of(jumok.attend(example))[-1].weights)
    wanted = found.wanted
    rows = ~np.isnan(wanted).any(axis=-1)
    missed = np.abs(found.reached - wanted)[rows].max()
    assert np.abs(standing - wanted)[rows].max() <= missed + 0.01


def test_examples_share_one_w():
    examples = [file(), file(wanted="wanted: {c: {b: .5}}")]
    found, made = design_examples(examples)
    assert found.exact
    assert len(found.sentences) == 2
    np.testing.assert_array_equal(made[0].layers[0].w_q, made[1].layers[0].w_q)


def test_a_mask_and_a_scale_of_the_file_hold():
    found, (made,) = design_examples([file(mask="causal", more="temperature: 2", wanted="wanted: {b: {a: .2}}")])
    assert found.exact
    np.testing.assert_allclose(jumok.attend(made).weights[0, 1], [0.2, 0.8, 0], atol=1e-9)
    np.testing.assert_allclose(jumok.attend(made).weights, found.reached, atol=1e-12)


@pytest.mark.parametrize(("side", "kept"), [("w_q", "w_q"), ("w_k", "w_k")])
def test_a_side_that_is_given_stays(side, kept):
    example = file(weights="w_q: [[1, 2], [3, 4]], w_k: [[2, 0], [1, 1]]")
    found, (made,) = design_examples([example], **{side: "given"}, near="given")
    np.testing.assert_array_equal(getattr(made.layers[0], kept), getattr(example.layers[0], kept))
    assert found.fixed == side
    assert found.exact


def test_near_what_is_given_changes_least():
    example = file(weights="w_q: [[1, 2], [3, 4]], w_k: [[2, 0], [1, 1]]")
    found, _ = design_examples([example], near="given")
    form = found.w_q @ found.w_k.T
    np.testing.assert_allclose(
        form[1], (example.layers[0].w_q @ example.layers[0].w_k.T)[1], atol=1e-9
    )  # c's row is free
    assert found.exact


def test_another_width_and_going_on():
    found, (made,) = design_examples([file()], d_k=1)
    assert found.d_k == 1
    again, _ = design_examples([made], resume=True)
    assert again.found[0].loss == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("example", "options", "phrase"),
    [
        (lambda: file(wanted=""), {}, "nothing is wanted"),
        (lambda: file(), {"layer": 1}, "got 1"),
        (lambda: file(more="positions: rotary"), {}, "rotary"),
        (lambda: file(weights="w_q: identity, w_k: identity, b_q: [1, 0]"), {}, "b_q"),
    ],
)
def test_what_a_design_cannot_keep_is_refused(example, options, phrase):
    with pytest.raises(InputError) as caught:
        design_examples([example()], **options)
    assert phrase in caught.value.text("en")
    assert any("HANGUL" in unicodedata.name(letter, "") for letter in caught.value.text("ko"))
