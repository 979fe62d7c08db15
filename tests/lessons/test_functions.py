"""What expressions can ask, held against the records themselves."""

import numpy as np
import pytest

import jumok
from jumok.errors import ExampleError
from jumok.lessons.expressions import parsed
from jumok.lessons.functions import functions, tokens_of
from jumok.verbs import _makers

STUDENT = jumok.attend(jumok.load("student"))


def value(text, example="student"):
    return parsed(text).value({}, functions(example, _makers().attend))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('score("studies", "deep learning")', STUDENT.scores[0, 2, 3]),
        ('scaled("studies", "deep learning")', STUDENT.scaled[0, 2, 3]),
        ('weight("studies", "deep learning")', STUDENT.weights[0, 2, 3]),
        ('x("student", "Person")', 1),
        ('query("studies", "Knowledge")', 6.628),
        ('query("studies", 3)', 6.628),
        ('key("studies", "Action")', 1),
        ('value("carefully", "Method")', 2),
        ('output("studies", "Knowledge")', STUDENT.output[2, 2]),
        ('w_q("Action", "Method")', 4.394),
        ('sum(weights("studies"))', 1),
        ('max(scores("studies"))', 6.628),
        ('queries("studies") == embedding("studies")', False),
        ('argmax(outputs("studies"))', "Knowledge"),
        ('rank(weights("studies"), "student")', 2),
        ("n_tokens() + d_k()", 9),
        ('weight("cat-fish", "고양이가", "고양이가")', 0.480578),
        ("dot([1, 2], [3, 4]) + len([1, 2])", 13),
        ("argmax([0.2, 0.9])", 2),
        ("round(sqrt(2), 2) + abs(0-1) + min(3, 2)", 4.41),
        ("parameters(8, 2)", 256),
        ("cost(10000) / cost(1000)", 100),
        ('mean_weight("carefully")', STUDENT.weights[0, :, 4].mean()),
        ("mean_weight(-1)", np.mean([STUDENT.weights[0, at, at - 1] for at in range(1, 5)])),
        ("mean_weight(0)", np.trace(STUDENT.weights[0]) / 5),
        ('n_scores() + n_scores("nearest-noun")', 5 * 5 + 16 * 17 / 2),
        ('[n_layers("minilm-tired"), n_heads("minilm-tired"), d_k("minilm-tired")] == [6, 12, 32]', True),
    ],
)
def test_it_gives_what_the_record_holds(text, expected):
    found = value(text)
    assert found == (pytest.approx(expected, abs=1e-6) if isinstance(expected, float) else expected)


def test_a_layer_and_a_head_can_be_chosen():
    reading = jumok.attend(jumok.load("it-tired"))
    assert (
        value('weight("it", "cat", layer=1)', "it-tired")
        == reading[1].weights[0][reading[1].index("it"), reading[1].index("cat")]
    )
    assert value('weight("it", "cat")', "it-tired") != value('weight("it", "cat", layer=1)', "it-tired")


def test_a_layer_goes_by_the_number_of_the_program():
    reading = jumok.load("minilm-soft")
    assert [layer.source.layer for layer in reading] == [2, 3, 5]
    assert value('weight("it", "cat", layer=5, head=11)', "minilm-soft") == reading[2].weights[11, 8, 2]
    with pytest.raises(ExampleError, match="a layer that was kept"):
        value('weight("it", "cat", layer=0)', "minilm-soft")


@pytest.mark.parametrize("key", ["5", "-5", "0.5", "1 == 1"])
def test_a_mean_is_refused_where_no_key_stands(key):
    with pytest.raises(ExampleError, match="number of steps"):
        value(f"mean_weight({key})")


def test_the_spread_is_the_measured_one():
    measured = jumok.scaling(64).rows[0]
    assert value("variance_of_scores(64)") == measured.unscaled.variance
    assert value("variance_of_scores(64, scaled=1 == 1)") == measured.scaled.variance
    assert value("largest_weight(64)") == measured.unscaled.largest_weight
    assert value("largest_weight(64, scaled=True)") == measured.scaled.largest_weight


def test_shared_heads_read_their_own_key():
    rng = np.random.default_rng(0)
    trace = jumok.attend(
        q=rng.normal(size=(4, 2, 3)), k=rng.normal(size=(2, 2, 3)), v=rng.normal(size=(2, 2, 3)), tokens=["a", "b"]
    )
    found = functions("any", lambda _: trace)
    assert [found["key"]("b", 2, head=head) for head in range(4)] == [trace.k[at, 1, 1] for at in (0, 0, 1, 1)]
    with pytest.raises(jumok.JumokError, match="holds no x"):
        found["x"]("a", 1)


def test_equal_tokens_are_told_apart():
    one = np.ones((1, 3, 1))
    assert tokens_of(jumok.attend(q=one, k=one, v=one, tokens=["a", "b", "a"])) == ["a#1", "b", "a#2"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('weight("studies", "nope")', "unknown token 'nope'"),
        ('weight("studies")', "2 arguments"),
        ('weight("nope", "studies", "The")', "unknown example 'nope'"),
        ('query("studies", "Nope")', "unknown dimension 'Nope'"),
        ('query("studies", 5)', "from 1 to 4"),
        ('weight("studies", "The", head=1)', "head"),
        ("variance_of_scores(100000)", "1 to 4,096"),
        ("largest_weight(0)", "1 to 4,096"),
        ("parameters(4, 9)", "heads"),
        ("sqrt(0-1)", r"sqrt\(…\)"),
        ("dot([1], [1, 2])", r"dot\(…\)"),
        ('rank(weights("studies"), "nope")', "unknown token 'nope'"),
    ],
)
def test_what_is_not_there_is_told(text, said):
    with pytest.raises(ExampleError, match=said):
        value(text)
