"""The record: whole stages and parts of them, tokens found by name, nothing that can be changed."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import re
import subprocess
import sys
import tracemalloc
import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jumok
from jumok import door, trace
from jumok.errors import InputError, ShapeError, TooLargeError, UnknownName
from jumok.path.allowed import causal
from jumok.path.positions import alibi
from jumok.trace import STAGES, Heads, Reading, Source, Token, Trace

RANDOM = np.random.default_rng(0)
WORDS = ["나는", "강", "은행", "은행", "고양이#1", "", "is", "is#2"]


def made(n: int = len(WORDS), heads: int = 2, kv_heads: int = 1, dtype: Any = np.float64, **more: Any) -> Trace:
    q, k, v = (RANDOM.standard_normal((h, n, 3)).astype(dtype) for h in (heads, kv_heads, kv_heads))
    tokens = WORDS if n == len(WORDS) else [f"t{i}" for i in range(n)]
    return Trace(**({"tokens": tokens, "q": q, "k": k, "v": v, "rule": "causal"} | more))


TRACE = made()

REFUSED: dict[str, tuple[Callable[[], Any], type[InputError], str, str]] = {
    "an unknown stage": (
        lambda: TRACE.rows("weight"),
        UnknownName,
        r"unknown stage 'weight'\. Did you mean 'weights'.* There are: 'scores', 'scaled', 'allowed'",
        r"알 수 없는 단계 'weight'입니다\. 혹시 'weights'",
    ),
    "a stage that is a number": (lambda: TRACE.rows(3), UnknownName, r"unknown stage 3\.", r"알 수 없는 단계 3"),
    "an unknown token": (
        lambda: TRACE.index("은헹"),
        UnknownName,
        r"unknown token '은헹'\. There are: '나는', '강', '은행'",
        r"알 수 없는 토큰 '은헹'입니다\. 쓸 수 있는 것: '나는'",
    ),
    "a token nearly right": (
        lambda: made(tokens=[*WORDS[:-1], "carefully"]).index("carefuly"),
        UnknownName,
        r"Did you mean 'carefully'\?",
        r"혹시 'carefully'입니까\?",
    ),
    "a token that stands twice": (
        lambda: TRACE.index("은행"),
        UnknownName,
        r"the token '은행' stands 2 times; say which: 은행#1, 은행#2\.",
        r"토큰 '은행'이\(가\) 2번 나옵니다.*은행#1, 은행#2",
    ),
    "the third of two": (
        lambda: TRACE.index("은행#3"),
        UnknownName,
        r"unknown token '은행#3'",
        r"알 수 없는 토큰 '은행#3'",
    ),
    "the zeroth": (lambda: TRACE.index("은행#0"), UnknownName, r"unknown token '은행#0'", r"알 수 없는"),
    "a number beyond counting": (
        lambda: TRACE.index("은행#" + "9" * 5000),
        UnknownName,
        r"unknown token '은행#999",
        r"알 수 없는",
    ),
    "a number in other digits": (lambda: TRACE.index("은행#²"), UnknownName, r"unknown token '은행#²'", r"알 수 없는"),
    "a position behind the end": (
        lambda: TRACE.index(8),
        InputError,
        r"token expects a position from 0 to 7, got 8",
        r"토큰에는 0부터 7까지의 위치가 필요한데 8이\(가\)",
    ),
    "a position below 0": (
        lambda: TRACE.rows("weights", queries=[-1]),
        InputError,
        r"from 0 to 7, got -1",
        r"-1이\(가\)",
    ),
    "a position as truth": (lambda: TRACE.index(True), InputError, r"from 0 to 7, got True", r"True이\(가\)"),
    "a choice as truths": (lambda: TRACE.rows("weights", np.ones(8, bool)), InputError, r"got (np\.)?True", r"True"),
    "a position in fractions": (lambda: TRACE.rows("weights", [1.0]), InputError, r"got 1\.0", r"1\.0이\(가\)"),
    "a slice": (lambda: TRACE.rows("weights", slice(2)), InputError, r"got slice", r"slice"),
    "nothing for a token": (lambda: TRACE.index(None), InputError, r"got None", r"None이\(가\)"),
    "a head behind the end": (
        lambda: TRACE.rows("weights", heads=[2]),
        InputError,
        r"head expects a position from 0 to 1, got 2",
        r"헤드에는 0부터 1까지의 위치가 필요한데 2이\(가\)",
    ),
    "a head by name": (lambda: TRACE.rows("weights", heads="first"), InputError, r"got 'first'", r"'first'이\(가\)"),
    "no heads": (
        lambda: TRACE.rows("weights", heads=[]),
        InputError,
        r"heads expects at least one head",
        r"헤드가 하나 이상",
    ),
    "another suffix": (
        lambda: TRACE.save("a.pkl"),
        InputError,
        r"saved as \.safetensors or \.json, got 'a\.pkl'",
        r"'a\.pkl'이\(가\)",
    ),
    "heads that are none": (
        lambda: made_with(heads=5),
        InputError,
        r"heads expects a Heads, got int",
        r"heads에는 Heads",
    ),
    "x of other tokens": (
        lambda: made_with(x=np.ones((3, 2))),
        ShapeError,
        r"x has token=3, but q has token=8",
        r"x은\(는\) token=3",
    ),
    "projections of another width": (
        lambda: made_with(heads=Heads(np.ones((2, 5)), np.ones((2, 3)), np.ones((2, 3)))),
        ShapeError,
        r"w_q has columns=5, but q has columns=6. w_q is \(2, 5\), read as \(d_model, heads · d_head\)",
        r"w_q은\(는\) columns=5",
    ),
    "projections of another d_model": (
        lambda: made_with(x=np.ones((8, 3)), heads=Heads(np.ones((2, 6)), np.ones((2, 3)), np.ones((2, 3)))),
        ShapeError,
        r"w_q has d_model=2, but x has d_model=3",
        r"w_q은\(는\) d_model=2",
    ),
    "a bias of another width": (
        lambda: made_with(heads=Heads(np.ones((2, 6)), np.ones((2, 3)), np.ones((2, 3)), b_k=np.ones(2))),
        ShapeError,
        r"b_k has columns=2, but w_k has columns=3",
        r"b_k은\(는\) columns=2",
    ),
    "a rotation of another kind": (
        lambda: Heads(np.ones((2, 6)), np.ones((2, 3)), np.ones((2, 3)), rotation=causal()),
        InputError,
        r"rotation expects a Rotary, got _Causal",
        r"rotation에는 Rotary",
    ),
    "missing projections": (lambda: Heads(None, None, None), InputError, r"w_q expects real numbers", r"w_q에는 실수"),
    "a span in the wrong order": (
        lambda: Token("a", (2, 1)),
        InputError,
        r"0 ≤ start ≤ end, got \(2, 1\)",
        r"\(2, 1\)이\(가\)",
    ),
    "a span of texts": (lambda: Token("a", ("0", "1")), InputError, r"span of a token expects", r"토큰의 span에는"),
    "a span that is a list": (lambda: Token("a", [0, 1]), InputError, r"got \[0, 1\]", r"\[0, 1\]이\(가\)"),
    "a source with a number for a name": (
        lambda: Source(name=3),
        InputError,
        r"source\.name expects str or NoneType, got 3",
        r"source\.name에는",
    ),
    "a source with 1 for True": (
        lambda: Source(exact=1),
        InputError,
        r"source\.exact expects bool, got 1",
        r"source\.exact에는",
    ),
    "a source with True for a layer": (
        lambda: Source(layer=True),
        InputError,
        r"source\.layer expects int or NoneType, got True",
        r"layer에는",
    ),
    "a source with NaN": (
        lambda: Source(details={"a": float("nan")}),
        InputError,
        r"source\.details expects plain JSON",
        r"source\.details에는 JSON",
    ),
    "a source with an object": (
        lambda: Source(details={"a": object()}),
        InputError,
        r"expects plain JSON .*not JSON serializable",
        r"JSON으로",
    ),
    "a source with half a letter": (
        lambda: Source(details={"a": "\udc80"}),
        InputError,
        r"expects plain JSON",
        r"JSON으로",
    ),
    "a title that is no dictionary": (
        lambda: Source(details={"title": "a"}),
        InputError,
        r"source\.details\['title'\] is of another kind",
        r"source\.details\['title'\]의 값이",
    ),
    "a meaning of numbers": (
        lambda: Source(details={"meaning": {"a": {"en": 1}}}),
        InputError,
        r"details\['meaning'\] is of another kind",
        r"\['meaning'\]의 값이",
    ),
    "a focus as truth": (
        lambda: Source(details={"focus": True}),
        InputError,
        r"details\['focus'\] is",
        r"\['focus'\]의",
    ),
    "a source that goes round": (lambda: Source(details=endless()), InputError, r"expects plain JSON", r"JSON으로"),
    "a source that is a list": (lambda: Source(details=[1]), InputError, r"expects plain JSON", r"JSON으로"),
    "a Reading of something else": (
        lambda: Reading((TRACE, 5)),
        InputError,
        r"a Reading expects a list of Traces, one a layer, got int",
        r"Reading에는 층마다 하나씩 Trace의 목록이 필요한데 int이\(가\)",
    ),
    "a Reading of one Trace": (
        lambda: Reading(TRACE),
        InputError,
        r"a Reading expects a list of Traces.*got one Trace",
        r"Reading에는",
    ),
    "a Reading with another source": (
        lambda: Reading((), "me"),
        InputError,
        r"source expects a Source, got str",
        r"source에는",
    ),
}


def made_with(**more: Any) -> Trace:
    return dataclasses.replace(TRACE, **more)


def endless() -> dict[str, Any]:
    loop: dict[str, Any] = {}
    loop["loop"] = loop
    return loop


@pytest.mark.parametrize("what", REFUSED)
def test_what_does_not_fit_is_refused_in_both_languages(what: str) -> None:
    asked, kind, en, ko = REFUSED[what]
    with pytest.raises(kind) as caught:
        asked()
    assert type(caught.value) is kind
    assert re.search(en, str(caught.value)), str(caught.value)
    assert re.search(ko, caught.value.text("ko")), caught.value.text("ko")
    assert len(str(caught.value)) < 6000


# tokens -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("token", "position"),
    [
        (0, 0),
        (np.int64(7), 7),
        (np.array(3), 3),
        ("강", 1),
        ("은행#1", 2),
        ("은행#2", 3),
        ("은행#02", 3),
        ("고양이#1", 4),  # a token that ends so itself
        ("", 5),
        ("is#2", 7),  # as written, before "the second is"
        ("is", 6),
        (Token("강"), 1),
        (Token("강", (3, 4)), 1),
        (unicodedata.normalize("NFD", "나는"), 0),
        (unicodedata.normalize("NFD", "은행") + "#2", 3),
    ],
)
def test_a_token_is_found_by_position_and_by_text(token: Any, position: int) -> None:
    assert TRACE.index(token) == position
    np.testing.assert_array_equal(TRACE.rows("weights", queries=token), TRACE.weights[:, [position]])


def test_decomposed_tokens_are_found_by_composed_names() -> None:
    apart = [unicodedata.normalize("NFD", word) for word in WORDS]
    trace = made(tokens=apart)
    assert trace.index("나는") == 0
    assert trace.tokens[0].text == apart[0]  # kept as it came


def test_many_equal_tokens_do_not_fill_the_message() -> None:
    with pytest.raises(UnknownName, match=r"stands 5000 times; say which: a#1, .*a#12, …\.$"):
        trace.token_index([Token("a")] * 5000, "a")
    with pytest.raises(UnknownName, match=r"…\.$") as caught:
        trace.token_index([Token(f"a{i}") for i in range(5000)], "b")
    assert len(str(caught.value)) < 300


def test_tokens_stay_tokens_with_their_spans() -> None:
    tokens = (Token("강", (3, 4)), Token("은행"))
    trace = made(2, tokens=tokens)
    assert trace.tokens is tokens
    assert [str(token) for token in trace.tokens] == ["강", "은행"]
    assert made(2, tokens=iter(["a", "b"])).tokens == (Token("a"), Token("b"))


def test_dimensions_are_kept_composed() -> None:
    names = [unicodedata.normalize("NFD", name) for name in ("사람", "행동")]
    trace = made(2, heads=1, x=np.eye(2), dimensions=names)
    assert trace.dimensions == ("사람", "행동")


# parts --------------------------------------------------------------------------------------------


def test_sizes_are_what_they_say() -> None:
    assert (TRACE.n_heads, TRACE.n_kv_heads, TRACE.n_queries, TRACE.n_keys, TRACE.n_tokens, TRACE.d_head) == (
        2,
        1,
        8,
        8,
        8,
        3,
    )
    assert repr(TRACE) == "Trace(8 tokens, 2 heads (1 key/value), d_head 3, causal, from arrays)"
    one = jumok.attend(q=np.ones((1, 1, 2)), k=np.ones((1, 1, 2)), v=np.ones((1, 1, 2)))
    assert repr(one) == "Trace(1 token, 1 head (1 key/value), d_head 2, everything, from arrays)"
    assert repr(jumok.attend(jumok.load("student"))).endswith("from example student)")


@pytest.mark.parametrize("stage", STAGES)
def test_rows_are_those_rows(stage: str) -> None:
    whole, axis = getattr(TRACE, stage), {"allowed": 0, "output": 0}.get(stage, 1)
    assert TRACE.rows(stage).shape == whole.shape
    np.testing.assert_allclose(TRACE.rows(stage, queries=["강", 5]), whole.take([1, 5], axis))
    if stage not in ("allowed", "output"):
        np.testing.assert_allclose(TRACE.rows(stage, queries=["강", 5], heads=1), whole[1:][:, [1, 5]])
    assert TRACE.rows(stage, queries=[]).shape == whole.take([], axis).shape


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_made_by_tiles_is_the_stage(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    record = made(9, heads=4, kv_heads=2)
    whole = record.rows(stage)
    part = record.rows(stage, queries=[8, 0, 3, 3, 1], heads=[3, 0])
    monkeypatch.setattr(door, "TILE_BYTES", 2 * 9 * 8 * 4)  # two rows of four heads
    np.testing.assert_allclose(record.rows(stage), whole, rtol=1e-12)
    np.testing.assert_allclose(record.rows(stage, queries=[8, 0, 3, 3, 1], heads=[3, 0]), part, rtol=1e-12)


@pytest.mark.parametrize("stage", ["weights", "mixed", "output"])
def test_tiles_in_which_few_or_no_keys_are_read(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    record = made(9, rule=np.tril(np.ones((9, 9), dtype=bool), -3))
    whole = record.rows(stage)
    assert not whole.take(0, axis=-2).any()
    monkeypatch.setattr(door, "TILE_BYTES", 2 * 9 * 8 * record.n_heads)  # two rows
    np.testing.assert_allclose(record.rows(stage), whole, rtol=1e-12)


def test_a_whole_table_takes_little_more_than_itself() -> None:
    record = made(2000, heads=1)
    tracemalloc.start()
    try:
        weights = record.weights
        assert tracemalloc.get_traced_memory()[1] < 2 * weights.nbytes
    finally:
        tracemalloc.stop()


def test_the_output_of_some_heads_is_their_share() -> None:
    w = RANDOM.standard_normal((2, 4))
    trace = jumok.attend(
        x=np.eye(2), w_q=w, w_k=w, w_v=w, w_o=RANDOM.standard_normal((4, 3)), b_o=np.ones(3), n_heads=2
    )
    shares = trace.rows("output", heads=[0]) + trace.rows("output", heads=[1])
    np.testing.assert_allclose(shares + 1, trace.output)


def test_a_whole_table_that_is_too_large_is_refused_with_its_size() -> None:
    n = 20_000
    record = jumok.attend(q=np.ones((2, n, 1)), k=np.ones((2, n, 1)), v=np.ones((2, n, 1)))
    for stage in ("scores", "scaled", "weights"):
        with pytest.raises(
            TooLargeError, match=rf"the whole of {stage} would take 6\.4 GB \(2 heads, 20,000 queries"
        ) as caught:
            getattr(record, stage)
        assert caught.value.bytes_needed == 2 * n * n * 8
        assert "6.4 GB가 필요합니다" in caught.value.text("ko")
        assert f'trace.rows("{stage}", queries=[0], heads=[0])' in caught.value.text("ko")
    with pytest.raises(TooLargeError, match="400 MB"):
        record.allowed  # noqa: B018
    with pytest.raises(TooLargeError, match=r"weighted_values would take 3\.2 GB \(1 heads"):
        record.rows("weighted_values", heads=[0])
    assert record.rows("weights", queries=[5], heads=[1]).shape == (1, 1, n)
    assert record.rows("output", queries=range(3)).shape == (3, 2)


@pytest.mark.parametrize(
    ("n_bytes", "said"), [(0, "0 bytes"), (999, "999 bytes"), (1000, "1 kB"), (80e9, "80 GB"), (3e15, "3e+03 TB")]
)
def test_sizes_are_told_in_words(n_bytes: float, said: str) -> None:
    assert trace._size(int(n_bytes)) == said


def test_a_long_record_with_a_bias_is_made_at_once() -> None:
    """Its scores are not computed to see whether they fit: that would take hours."""
    code = (
        "import numpy as np, jumok; q = np.ones((1, 200_000, 4));"
        "jumok.attend(q=q, k=q, v=q, rule=jumok.Rule(bias=jumok.positions.alibi([0.5])))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=100)


def test_cross_attention_has_tokens_of_its_own_to_read() -> None:
    q, k = np.ones((1, 2, 3)), RANDOM.standard_normal((1, 4, 3))
    trace = jumok.attend(q=q, k=k, v=k, tokens=["a", "b"], key_tokens=["p", "q", "r", "s"])
    assert [token.text for token in trace.read_tokens] == ["p", "q", "r", "s"]
    assert (trace.n_queries, trace.n_keys) == (2, 4)
    assert trace.weights.shape == (1, 2, 4)
    with pytest.raises(UnknownName, match="unknown token 'p'"):
        trace.index("p")


# nothing changes ----------------------------------------------------------------------------------


def test_the_record_is_frozen() -> None:
    for record, field in ((TRACE, "q"), (TRACE.tokens[0], "text"), (Source(), "kind"), (Reading((TRACE,)), "layers")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, field, None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        TRACE.rule.scale = 2.0


def test_the_arrays_are_read_only() -> None:
    heads = Heads(np.eye(2), np.eye(2), np.eye(2), np.eye(2), b_o=np.ones(2))
    trace = made(2, heads=1, q=np.ones((1, 2, 2)), k=np.ones((1, 2, 2)), v=np.ones((1, 2, 2)), x=np.eye(2))
    trace = dataclasses.replace(trace, heads=heads, rule=jumok.Rule(None, np.eye(2, dtype=bool), bias=alibi([1])))
    held = [trace.q, trace.k, trace.v, trace.x, heads.w_q, heads.w_o, heads.b_o]
    held += [trace.rule.allowed.array, trace.rule.bias.slopes]
    for array in held:
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_belongs_to_who_asked(stage: str) -> None:
    """Writing to what was read changes nothing in the record, and nothing large stays behind in it."""
    before = getattr(TRACE, stage).copy()
    getattr(TRACE, stage)[:] = 0
    TRACE.rows(stage, queries=[0, 1])[:] = 0
    np.testing.assert_array_equal(getattr(TRACE, stage), before)
    fields = {field.name for field in dataclasses.fields(Trace)}
    assert set(vars(TRACE)) == fields


def test_a_stage_never_shows_the_arrays_themselves() -> None:
    """One token, one head: mixed is v itself, but not the same memory."""
    trace = made(1, heads=1)
    for stage in STAGES:
        assert not any(np.shares_memory(trace.rows(stage), array) for array in (trace.q, trace.k, trace.v))


def test_equal_records_are_equal() -> None:
    again = copy.deepcopy(TRACE)
    assert again == TRACE
    assert pickle.loads(pickle.dumps(TRACE)) == TRACE
    changes: list[dict[str, Any]] = [
        {"q": TRACE.q + 1},
        {"v": TRACE.v.astype(np.float32)},
        {"tokens": WORDS[::-1]},
        {"rule": None},
        {"rule": causal(1)},
        {"source": Source(name="b")},
        {"x": np.ones((8, 2))},
        {"key_tokens": WORDS},
    ]
    for changed in changes:
        assert made_with(**changed) != TRACE
    assert TRACE != "TRACE"
    assert Reading((TRACE,)) == Reading([again])
    assert Reading((TRACE,)) != Reading((TRACE, TRACE))
    assert Reading((TRACE,)) != (TRACE,)
    with pytest.raises(TypeError, match="unhashable"):
        hash(TRACE)


def test_a_reading_is_a_sequence_of_layers() -> None:
    reading = Reading((TRACE, made(source=Source(layer=1))), Source(kind="example", name="b"))
    assert len(reading) == 2
    assert reading[1].source.layer == 1
    assert reading[-1] is list(reading)[1]
    assert reading[:1] == (TRACE,)
    assert reading.tokens == TRACE.tokens
    assert repr(reading) == "Reading(2 layers, 8 tokens, from example)"
    assert Reading(()).tokens == ()
    with pytest.raises(IndexError):
        reading[2]


def test_the_source_is_plain_json_and_says_only_what_it_knows() -> None:
    details = {"a": [1, None, {"b": "가"}]}
    source = Source(kind="model", layer=0, exact=False, details=details)
    assert source.to_json() == {"kind": "model", "layer": 0, "exact": False, "backend": "numpy", "details": details}
    details["a"] = []
    assert source.details["a"] == [1, None, {"b": "가"}]
    assert Source().to_json() == {"kind": "arrays", "exact": True, "backend": "numpy"}
