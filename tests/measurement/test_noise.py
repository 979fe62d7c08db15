"""Edits that should not matter: what they are, and how heads stand above them."""

import numpy as np
import pytest

import jumok
from jumok.measurement.noise import neutral_edits, shifts
from jumok.trace import Reading, Trace

N = 5


def reading(seed=0, shift=0.0):
    """Two layers; ``shift`` moves what head 1 of layer 1 asks with token 2."""
    layers = []
    for at in range(2):
        rng = np.random.default_rng(10 + at)
        q, k, v = (rng.normal(size=(2, N, 4)) for _ in range(3))
        q = q + np.random.default_rng(seed).normal(size=q.shape) * 0.01 * (seed > 0)
        q[1, 2] += shift * at
        layers.append(Trace(tokens=[f"t{place}" for place in range(N)], q=q, k=k, v=v))
    return Reading(tuple(layers))


def test_the_head_that_moved_stands_first():
    first = reading()
    neutral = [jumok.compare(first, reading(seed)) for seed in (1, 2)]
    found = shifts(jumok.compare(first, reading(shift=3.0)), neutral)
    assert (found[0].layer, found[0].head) == (1, 1)
    assert found[0].distance > found[0].floor > 0
    assert all(one.distance < one.floor for one in found[1:])


def test_the_floor_is_the_largest_of_the_edits():
    first, other = reading(), jumok.compare(reading(), reading(shift=1.0))
    edits = [jumok.compare(first, reading(seed)) for seed in (1, 2, 3)]
    together = {(one.layer, one.head): one.floor for one in shifts(other, edits)}
    alone = [{(one.layer, one.head): one.floor for one in shifts(other, [edit])} for edit in edits]
    assert together == {name: max(one[name] for one in alone) for name in together}
    assert {one.floor for one in shifts(other, [])} == {0.0}


def test_one_tokens_row_only():
    first = reading()
    found = jumok.compare(first, reading(shift=3.0))
    assert (shifts(found, [], 2)[0].layer, shifts(found, [], 2)[0].head) == (1, 1)
    assert max(one.distance for one in shifts(found, [], 0)) == 0
    expected = {(at, head): found.distances(at, head)[2] for at in range(2) for head in range(2)}
    assert {(one.layer, one.head): one.distance for one in shifts(found, [], 2)} == expected


def test_a_token_that_an_edit_does_not_have_counts_for_nothing():
    first = reading()
    edit = jumok.compare(first, reading(1), pairs=[(0, 0), (1, 1)])
    assert shifts(edit, [], 2) == ()
    assert {one.floor for one in shifts(jumok.compare(first, reading(2)), [edit], 2)} == {0.0}


EDITS = [
    (
        "The dog is big because it eats.",
        {
            "stop": ["The dog is big because it eats"], "capital": ["the dog is big because it eats."],
            "spaces": ["The  dog is big because it eats."], "comma": ["The dog is big, because it eats."],
            "opening": ["Well, the dog is big because it eats."],
            "alike": ["The dog is big since it eats.", "The dog is large because it eats.", "A dog is big because it eats."],
        },
    ),
    ("Tom ran", {"stop": ["Tom ran."], "spaces": ["Tom  ran"], "opening": ["Well, Tom ran"]}),
    ("a dog", {"stop": ["a dog."], "capital": ["A dog"], "spaces": ["a  dog"], "opening": ["Well, a dog"], "alike": ["the dog"]}),
    (
        "고양이는 매우 작다.",
        {
            "stop": ["고양이는 매우 작다"], "spaces": ["고양이는  매우 작다."], "opening": ["음, 고양이는 매우 작다."],
            "polite": ["고양이는 매우 작습니다."], "alike": ["고양이는 아주 작다."],
        },
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "edits"), EDITS)
def test_the_edits_that_are_made_up(text, edits):
    made = neutral_edits(text)
    assert {
        kind: [edit.text for edit in made if edit.kind == kind] for kind in dict.fromkeys(e.kind for e in made)
    } == edits


@pytest.mark.parametrize(
    ("plain", "polite"),
    [
        ("나는 책을 좋아한다.", "나는 책을 좋아합니다."),
        ("그는 집에 갔다", "그는 집에 갔습니다"),
        ("나는 밥을 먹는다.", "나는 밥을 먹습니다."),
        ("길이 길다.", "길이 깁니다."),
        ("그것은 책이다.", "그것은 책입니다."),
        ("꽃이 예쁘다.", "꽃이 예쁩니다."),
        ("그는 학생이 아니다.", "그는 학생이 아닙니다."),
        ("돈이 없다.", "돈이 없습니다."),
        ("나는 길을 안다.", "나는 길을 압니다."),
    ],
)
def test_korean_sentences_made_polite(plain, polite):
    assert [edit.text for edit in neutral_edits(plain) if edit.kind == "polite"] == [polite]


@pytest.mark.parametrize(
    ("polite", "plain"), [("그는 집에 갔습니다.", "그는 집에 갔다."), ("돈이 없습니다", "돈이 없다")]
)
def test_and_plain_again(polite, plain):
    assert [edit.text for edit in neutral_edits(polite) if edit.kind == "polite"] == [plain]


@pytest.mark.parametrize("text", ["여기는 바다.", "나는 책을 좋아합니다.", "바다", "The sea", "나는 간다!"])
def test_what_is_not_surely_a_verb_is_left(text):
    assert [edit for edit in neutral_edits(text) if edit.kind == "polite"] == []


@pytest.mark.parametrize("text", ["", " ", "다", "은행 다.", "\x00", "은행 니다", "the " * 500])
def test_odd_texts_have_edits_too(text):
    made = neutral_edits(text)
    assert text not in [edit.text for edit in made]
    assert len({edit.text for edit in made}) == len(made) > 0


def test_the_word_that_is_looked_at_stays():
    assert "A dog is big." not in [edit.text for edit in neutral_edits("The dog is big.", "The")]
