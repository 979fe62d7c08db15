"""What a page asks and what it is answered: plain text in, plain JSON out."""

import json

import numpy as np
import pytest

import jumok
from jumok.errors import ExampleError, InputError
from jumok.sources.design.asked import answer

WANTED = "wanted: {b: {a: .2, b: .7}}"


def file(wanted=WANTED, more=""):
    return f"tokens: [{{a: [0, 0]}}, {{b: [1, 0]}}, {{c: [0, 1]}}]\nweights: {{w_q: identity, w_k: identity}}\n{more}{wanted}\n"


def test_the_answer_is_the_design_of_the_file():
    found = jumok.design([[0, 0], [1, 0], [0, 1]], {1: {0: 0.2, 1: 0.7}}, tokens=["a", "b", "c"])
    said = answer(file())
    assert json.loads(json.dumps(said, allow_nan=False)) == said
    np.testing.assert_array_equal(said["w_q"], found.w_q)
    np.testing.assert_array_equal(said["w_k"], found.w_k)
    assert said["report"] == found.to_json()


def test_what_stays_is_what_stands_in_the_file():
    stretched = file().replace("w_k: identity", "w_k: [[2, 0], [0, 3]]")
    assert answer(stretched, "w_k")["w_k"] == [[2, 0], [0, 3]]
    assert answer(stretched)["w_k"] == [[1, 0], [0, 1]]


@pytest.mark.parametrize("text", [file(wanted=""), file(more="positions: rotary\n")])
def test_what_cannot_be_designed_is_refused(text):
    with pytest.raises(InputError):
        answer(text)


def test_a_damaged_file_is_refused_with_its_place():
    with pytest.raises(ExampleError, match="line 3"):
        answer(file(wanted="wanted: {b: {nobody: .2}}"))
