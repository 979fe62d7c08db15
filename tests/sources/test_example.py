"""Examples by name and by path, and what they are as records: spans, layers, what cannot be attended to."""

import dataclasses
import os
from pathlib import Path

import numpy as np
import pytest

import jumok
from jumok.errors import ExampleError, InputError, OverflowRefused, ShapeError, UnknownName
from jumok.path.allowed import causal, window
from jumok.path.positions import alibi
from jumok.sources.example import Block, Example, attended, load, names, parse, random_arrays, starter
from refusals import refusal


def made(n=2, d=2, **block):
    tokens = tuple("abcdefgh"[:n])
    weights = {"w_q": np.eye(d), "w_k": np.eye(d), "w_v": np.eye(d)}
    return Example(
        tokens, np.arange(n * d, dtype=float).reshape(n, d), (Block(**(weights | block)),), sentence=" ".join(tokens)
    )


# by name and by path ----------------------------------------------------------------------------


def test_a_packaged_example_by_name():
    for name in names():
        example = load(name)
        assert isinstance(example, Example)
        assert example.name == name
        assert example.text


@pytest.mark.parametrize("kind", [str, Path])
def test_a_file_by_path(tmp_path, kind):
    path = tmp_path / "나의 예제.yaml"
    path.write_text(starter("ko"), encoding="utf-8")
    assert load(kind(path)).tokens[0] == "새가"
    assert jumok.load(kind(path)).name == str(path)


def test_a_file_needs_no_suffix_and_a_packaged_name_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine").write_text("tokens: [m: [1]]")
    Path("student").write_text("tokens: [m: [1]]")
    assert load("mine").tokens == ("m",)
    assert load("student").name == "student"
    assert load("student").tokens[0] == "The"
    assert load("./student").tokens == ("m",)
    assert load(Path("student")).tokens == ("m",)


def test_an_unknown_name_is_told_what_there_is():
    with pytest.raises(UnknownName) as caught:
        load("studnet")
    for text in (str(caught.value), caught.value.text("ko")):
        assert "'studnet'" in text
        assert "'student'" in text
        assert "'bank-money'" in text
        assert "`jumok new studnet.yaml`" in text
    with pytest.raises(UnknownName, match=r"`jumok new my\.yaml`"):
        load("")


def test_a_missing_file_is_no_unknown_name(tmp_path):
    refusal(lambda: load(tmp_path / "none.yaml"), None, None, "none.yaml: there is no such file")
    refusal(lambda: load("none.yaml"), None, None, "none.yaml: there is no such file")
    refusal(lambda: load(f"{tmp_path}{os.sep}student"), None, None, "there is no such file")


def test_a_message_names_the_file(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("tokens: [a]\n")
    refusal(lambda: load(path), 1, 9, f"{path}, line 1, column 9: dimensions: is missing")


def test_the_packaged_folder_is_not_reached_by_another_path():
    for name in ("starter/en", "../__init__", "student.yaml"):
        with pytest.raises(ExampleError, match="there is no such file"):
            load(name)


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_starter_is_a_text(lang):
    assert starter(lang).startswith("# ")
    assert parse(starter(lang)).name == "example"


# what an example is -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "tokens", "spans"),
    [
        ("a b a", ["a", "b", "a"], [(0, 1), (2, 3), (4, 5)]),
        ("나는 은행에", ["나", "는", "은행", "에"], [(0, 1), (1, 2), (3, 5), (5, 6)]),
        ("a b", ["b", "a"], [(2, 3), None]),
        ("a b", ["x", "b"], [None, (2, 3)]),
        ("ab", ["", "a", "", "b"], [None, (0, 1), None, (1, 2)]),
        ("aa", ["a", "aa", "a"], [(0, 1), None, (1, 2)]),
        ("👩‍👩‍👧 x", ["👩‍👩‍👧", "x"], [(0, 5), (6, 7)]),
    ],
)
def test_a_token_knows_where_it_stands_in_the_sentence(sentence, tokens, spans):
    example = dataclasses.replace(made(len(tokens)), tokens=tuple(tokens), sentence=sentence)
    assert list(example.spans) == spans
    assert [token.span for token in jumok.attend(example).tokens] == spans


def test_an_example_does_not_change_and_a_change_makes_a_new_one():
    example = load("student")
    with pytest.raises(dataclasses.FrozenInstanceError):
        example.sentence = "x"
    with pytest.raises(ValueError, match="read-only"):
        example.x[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        example.layers[0].w_q[0, 0] = 1
    changed = example.replace(sentence="x")
    assert (changed.sentence, example.sentence[:3], changed.text) == ("x", "The", example.text)


def test_numbers_that_were_given_stay_the_givers_own():
    x, w = np.ones((2, 2)), np.ones((2, 2))
    example = Example(("a", "b"), x, (Block(w, w, w),))
    x[:], w[:] = 5, 5
    assert example.x.tolist() == example.layers[0].w_q.tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda: Example(("a",), [[1.0]], ()), InputError, "at least one layer"),
        (
            lambda: Example(("a",), [[np.nan]], (Block([[1]], [[1]], [[1]]),)),
            InputError,
            r"x\[0, 0\] \(token 'a'\) is nan",
        ),
        (
            lambda: Example(("a", "b"), [[1.0]], (Block([[1]], [[1]], [[1]]),)),
            ShapeError,
            "x has rows=1, but there are 2 tokens",
        ),
        (lambda: Example(("a",), [1.0], (Block([[1]], [[1]], [[1]]),)), ShapeError, "x expects 2 axes"),
        (lambda: Block([1], [[1]], [[1]]), ShapeError, "w_q expects 2 axes"),
        (lambda: Block([[1]], [[1]], [[np.inf]]), InputError, "w_v"),
        (lambda: Block([[1]], [[1]], [[1]], b_o=[[1]]), ShapeError, "b_o expects 1 axes"),
        (lambda: jumok.attend(made(temperature=0.0)), InputError, "temperature expects a number above 0"),
        (lambda: jumok.attend(made(temperature=-1.0)), InputError, "temperature expects a number above 0"),
        (lambda: jumok.attend(made(scale=-1.0)), InputError, "scale expects a number above 0"),
        (lambda: jumok.attend(made(n_heads=3)), ShapeError, "w_q has 2 columns, which 3 heads cannot share evenly"),
        (
            lambda: jumok.attend(made(n_heads=3, temperature=2.0)),
            ShapeError,
            "w_q has 2 columns, which 3 heads cannot share evenly",
        ),
        (lambda: jumok.attend(made(n_heads=0)), InputError, "heads expects a whole number, 1 or more, got 0"),
        (
            lambda: jumok.attend(made(n_heads=0, scale=2.0)),
            InputError,
            "heads expects a whole number, 1 or more, got 0",
        ),
        (
            lambda: jumok.attend(made(w_q=[[1e200, 0], [0, 1]], w_k=[[1e200, 0], [0, 1]])),
            OverflowRefused,
            "'b' .query 1.",
        ),
    ],
)
def test_what_does_not_fit_is_refused(change, error, message):
    with pytest.raises(error, match=message) as caught:
        change()
    assert caught.value.text("ko") != str(caught.value)


# what it attends to -----------------------------------------------------------------------------


def test_one_layer_gives_a_trace_and_several_a_reading():
    one, two = jumok.attend(load("student")), jumok.attend(load("it-tired"))
    assert isinstance(one, jumok.Trace)
    assert isinstance(two, jumok.Reading)
    assert [trace.source.layer for trace in two] == [0, 1]
    assert one.source.layer is None
    for record, name in ((one, "student"), (two, "it-tired")):
        source = record.source
        example = load(name)
        assert (source.kind, source.name, source.exact) == ("example", name, True)
        assert source.details["sentence"] == example.sentence
        assert source.details["title"] == dict(example.title)
        assert source.details["focus"] == example.focus
        assert source.details.get("pair") == example.pair


def test_a_rule_takes_the_place_of_the_mask_and_nothing_else():
    example = made(3, 2, temperature=2.0, scale=0.5, positions=alibi([0.5]), allowed=window(0))
    for rule in ("causal", causal(), [[True, False, False], [True, True, False], [True, True, True]]):
        trace = attended(example, rule)
        assert np.array_equal(trace.allowed, np.tril(np.ones((3, 3), dtype=bool)))
        assert (trace.rule.scale, trace.rule.bias) == (0.25, alibi([0.5]))
    assert attended(example, jumok.Rule(scale=1.0)).rule.scale == 1.0
    assert not attended(example).allowed[1, 0]


def test_a_rule_holds_for_every_layer():
    for trace in jumok.attend(load("it-soft"), rule="causal"):
        assert trace.rule.allowed == causal()


def test_the_future_changes_nothing_under_a_causal_rule():
    tired, soft = (jumok.attend(load(name), rule="causal") for name in ("it-tired", "it-soft"))
    for a, b in zip(tired, soft, strict=True):
        assert np.array_equal(a.weights[:, :-1], b.weights[:, :-1])
        assert np.array_equal(a.output[:-1], b.output[:-1])


def test_sinusoidal_positions_are_added_in_the_layer_that_has_them():
    example = made(3, 2, positions="sinusoidal")
    code = jumok.positions.sinusoidal(3, 2)
    assert np.array_equal(jumok.attend(example).x, example.x + code)
    plain = dataclasses.replace(example.layers[0], positions="none", residual=True)
    first, second = jumok.attend(example.replace(layers=(plain, example.layers[0])))
    assert np.array_equal(first.x, example.x)
    assert np.allclose(second.x, first.x + first.output + code)


def test_dimensions_are_named_as_long_as_they_are_as_many():
    narrow = Block([[1, 0]] * 2, [[1, 0]] * 2, [[1]] * 2)
    example = made().replace(dimensions=("A", "B"), layers=(narrow, Block([[1]], [[1]], [[1]])))
    assert [trace.dimensions for trace in jumok.attend(example)] == [("A", "B"), None]


def test_the_layer_that_does_not_fit_is_named():
    example = made().replace(layers=(made().layers[0], Block([[1]], [[1]], [[1]])))
    with pytest.raises(ShapeError, match=r"^layer 1: w_q has 1 rows, but x has d_model=2") as caught:
        jumok.attend(example)
    assert caught.value.text("ko").startswith("1층: w_q")


def test_random_numbers_are_one_stream():
    settings = {"seed": 1, "generator": "numpy", "order": ["w_v", "x"], "scale": {"x": 3.0}, "d_model": 2, "d_k": 4}
    stream = np.random.default_rng(1).standard_normal(8 + 6)
    drawn = random_arrays(settings, 3)
    assert list(drawn) == ["w_v", "x"]
    assert np.array_equal(drawn["w_v"], stream[:8].reshape(2, 4))
    assert np.array_equal(drawn["x"], 3 * stream[8:].reshape(3, 2))


def test_attending_does_not_touch_the_global_generator():
    np.random.seed(5)
    before = np.random.get_state()[1].copy()
    jumok.attend(load("cat-fish"))
    assert np.array_equal(np.random.get_state()[1], before)
