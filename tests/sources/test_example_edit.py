"""A change of an example in a few words."""

import pytest

import jumok
from jumok.errors import JumokError
from jumok.sources.example_edit import edited

STUDENT = jumok.load("student")


def test_only_what_is_named_changes():
    changed = edited(STUDENT, {"w_q": {"Action": {"Method": "9"}}, "x": {"The": {"Person": 0.5}}})
    assert changed.layers[0].w_q[1, 3] == 9
    assert changed.x[0, 0] == 0.5
    assert (changed.layers[0].w_q != STUDENT.layers[0].w_q).sum() == 1
    assert (changed.x != STUDENT.x).sum() == 1
    assert STUDENT.layers[0].w_q[1, 3] == 4.394


def test_rows_and_columns_by_number():
    assert edited(STUDENT, {"w_v": {2: {"4": -1}}}).layers[0].w_v[1, 3] == -1


def test_rules():
    changed = edited(STUDENT, {"mask": "causal", "temperature": "2", "scale": 1})
    assert (changed.layers[0].allowed.kind, changed.layers[0].temperature, changed.layers[0].scale) == ("causal", 2, 1)
    assert edited(changed, {"mask": "none"}).layers[0].allowed.kind == "everything"
    weights = jumok.attend(edited(STUDENT, {"mask": {"window": "1"}})).weights
    assert weights[0, 2, 0] == 0 < weights[0, 2, 1]


def test_a_layer_can_be_chosen():
    two = jumok.load("it-tired")
    changed = edited(two, {"layer": "1", "temperature": 3})
    assert [block.temperature for block in changed.layers] == [two.layers[0].temperature, 3]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"w_x": {}}, "unknown change 'w_x'"),
        ({"w_o": {1: {1: 1}}}, "has no w_o"),
        ({"w_q": {"Nope": {"Method": 9}}}, "unknown dimension 'Nope'"),
        ({"w_q": {"Action": {5: 9}}}, "unknown dimension '5'"),
        ({"w_q": {"Action": 9}}, "a row, a column and a number"),
        ({"w_q": {"Action": {"Method": "much"}}}, "a number is needed"),
        ({"w_q": {"Action": {"Method": float("nan")}}}, "a number is needed"),
        ({"x": {"Nope": {"Method": 9}}}, "unknown token 'Nope'"),
        ({"mask": "diagonal"}, "unknown mask"),
        ({"layer": 1}, "layer"),
    ],
)
def test_what_is_not_there_is_told(change, said):
    with pytest.raises(JumokError, match=said):
        edited(STUDENT, change)
