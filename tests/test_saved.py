"""Saved records: what was saved comes back; what was not saved by jumok is refused with one clear message."""

from __future__ import annotations

import json
import os
import pickle
import re
import struct
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from safetensors.numpy import save as safetensors_bytes

import jumok
from jumok.errors import InputError, SavedFileError
from jumok.path.allowed import causal, document, everything, padding, table, window
from jumok.path.positions import Rotary, alibi, relative, t5
from jumok.path.positions import table as bias_table
from jumok.trace import STAGES, Reading, Source, Token, Trace

RANDOM = np.random.default_rng(0)

ODD = [
    "한글",
    unicodedata.normalize("NFD", "각"),
    "👩‍👩‍👧",
    "e\u0301\u0323",
    "שלום",
    "\u202eabc\u202c",
    "</script><script>alert(1)</script>",
    "\"quotes\" 'and' \\ back",
    "line\nbreak\r\ttab",
    "",
    "nul\0inside",
    "\u2028\u2029\ufeff\ufffe\U0010ffff",
    "__import__('os')",
    "NaN",
]


def record(n: int = 4, heads: int = 2, kv_heads: int = 2, dtype: Any = np.float64, **more: Any) -> Trace:
    q, k, v = (RANDOM.standard_normal((h, n, 4)).astype(dtype) for h in (heads, kv_heads, kv_heads))
    return Trace(**({"tokens": [f"t{i}" for i in range(n)], "q": q, "k": k, "v": v} | more))


def from_x(**more: Any) -> Trace:
    w = RANDOM.standard_normal((3, 4))
    return jumok.attend(**({"x": RANDOM.standard_normal((4, 3)), "w_q": w, "w_k": w, "w_v": w} | more))


YES = RANDOM.standard_normal((4, 4)) > 0
TRACES: dict[str, Callable[[], Trace]] = {
    "plain": record,
    "one token": lambda: record(1),
    "odd tokens": lambda: record(len(ODD), tokens=ODD),
    "spans": lambda: record(2, tokens=[Token("강", (0, 1)), Token("은행")]),
    "float16": lambda: record(dtype=np.float16),
    "float32": lambda: record(dtype=np.float32),
    "extremes": lambda: record(q=np.array([[[5e-324, -0.0, 1e-300, 1 / 3]] * 4])[[0, 0]]),
    "grouped heads": lambda: record(heads=4, kv_heads=2),
    "other tokens to read": lambda: record(2, k=np.ones((2, 3, 4)), v=np.ones((2, 3, 2)), key_tokens=["가", "", "가"]),
    "everything": lambda: record(rule=everything()),
    "causal": lambda: record(rule="causal"),
    "causal, cache": lambda: record(rule=causal(2)),
    "window": lambda: record(rule=window(1, 2, 1)),
    "padding": lambda: record(rule=padding(YES[0])),
    "document": lambda: record(rule=document(np.array([3, 3, 2**40, -1]))),
    "document in 8 bits": lambda: record(rule=document(np.array([3, 3, 2, 1], np.uint8))),
    "table": lambda: record(rule=table(YES)),
    "joined rules": lambda: record(rule=(causal() & padding(YES[0])) | (table(YES) & window(0))),
    "scale and softcap": lambda: record(rule=jumok.Rule(scale=1 / 3, softcap=50)),
    "sink": lambda: record(rule=jumok.Rule(sink=[0.1, -1e9])),
    "ALiBi": lambda: record(rule=jumok.Rule(bias=alibi([0.5, 1 / 3], 2))),
    "relative": lambda: record(rule=jumok.Rule(bias=relative(RANDOM.standard_normal((2, 3)).astype(np.float32)))),
    "T5": lambda: record(rule=jumok.Rule(bias=t5(RANDOM.standard_normal((8, 2)), False, 9, 1))),
    "bias table": lambda: record(rule=jumok.Rule(bias=bias_table(RANDOM.standard_normal((1, 4, 4))))),
    "sum of biases": lambda: record(rule=jumok.Rule(bias=alibi([1, 2]) + (alibi([3, 4]) + relative([[1, 2, 3]])))),
    "everything at once": lambda: record(rule=jumok.Rule(0.3, table(YES) | causal(), 3, alibi([1, 2]), [0, 1])),
    "from x": from_x,
    "from x, with all its parts": lambda: from_x(
        w_o=RANDOM.standard_normal((4, 5)),
        b_q=np.ones(4),
        b_k=np.ones(4),
        b_v=np.ones(4),
        b_o=np.ones(5),
        n_heads=2,
        rotation=Rotary(500, True, 3),
        dimensions=["사람", "행동", "</script>"],
        tokens=["가", "나", "다", "가"],
    ),
    "from x in float16": lambda: from_x(x=np.ones((4, 3), np.float16)),
    "source": lambda: record(
        source=Source("model", "이름", 3, False, "torch 2", "two", True, {"a": [1, 0.1, None, {"\u202e": "</script>"}]})
    ),
}


def same_bits(a: Trace, b: Trace) -> None:
    assert a == b
    for name in ("q", "k", "v"):
        assert getattr(a, name).tobytes() == getattr(b, name).tobytes()
    assert [token.span for token in a.tokens] == [token.span for token in b.tokens]
    for stage in STAGES:
        np.testing.assert_array_equal(a.rows(stage), b.rows(stage))


@pytest.mark.parametrize("name", TRACES)
def test_a_trace_comes_back_as_it_was(name: str, tmp_path: Path) -> None:
    trace = TRACES[name]()
    path = trace.save(tmp_path / "a.safetensors")
    loaded = jumok.load(path)
    assert isinstance(loaded, Trace)
    same_bits(loaded, trace)
    assert os.listdir(tmp_path) == ["a.safetensors"]


def test_a_reading_comes_back_as_it_was(tmp_path: Path) -> None:
    tokens = tuple(Token(word, (i, i + 1)) for i, word in enumerate("abcd"))
    other = record(2, k=np.ones((2, 4, 4)), v=np.ones((2, 4, 1)), key_tokens=tokens)
    reading = Reading(
        (record(tokens=tokens), record(tokens=tokens, rule=table(YES)), other), Source("model", details={"a": 1})
    )
    loaded = jumok.load(reading.save(tmp_path / "a.safetensors"))
    assert loaded == reading
    assert isinstance(loaded, Reading)
    for a, b in zip(loaded, reading, strict=True):
        same_bits(a, b)
    empty = Reading(())
    assert jumok.load(empty.save(tmp_path / "b.safetensors")) == empty


def test_layers_share_their_tokens_in_the_file(tmp_path: Path) -> None:
    words = ["같은", "낱말"]
    path = Reading(tuple(record(2, tokens=words) for _ in range(3))).save(tmp_path / "a.safetensors")
    assert path.read_bytes().count("낱말".encode()) == 1


def test_what_is_loaded_is_read_only_and_not_held_twice(tmp_path: Path) -> None:
    loaded = jumok.load(record().save(tmp_path / "a.safetensors"))
    assert isinstance(loaded, Trace)
    for array in (loaded.q, loaded.k, loaded.v):
        assert not array.flags.writeable
        assert not array.flags.owndata  # the memory that the file was read into, not a copy of it


def test_others_can_read_the_file(tmp_path: Path) -> None:
    """Plain safetensors: the arrays by layer and name, the rest as JSON."""
    torch = pytest.importorskip("safetensors.torch")
    from safetensors import safe_open

    trace = from_x(rule=jumok.Rule(bias=alibi([0.5])), tokens=["가", "나", "다", "라"])
    path = trace.save(tmp_path / "a.SafeTensors")
    arrays = torch.load_file(path)
    assert sorted(arrays) == [f"layers.0.{n}" for n in ("k", "part.0", "part.1", "part.2", "part.3", "q", "v", "x")]
    np.testing.assert_array_equal(arrays["layers.0.q"].numpy(), trace.q)
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata()
    assert (metadata["format"], metadata["version"]) == ("jumok", "1")
    assert json.loads(metadata["record"])["tokens"] == [[["가"], ["나"], ["다"], ["라"]]]


# JSON ---------------------------------------------------------------------------------------------


def no_constant(text: str) -> Any:
    raise AssertionError(f"{text} is not JSON")


@pytest.mark.parametrize("name", TRACES)
def test_json_says_every_digit_and_no_nan(name: str, tmp_path: Path) -> None:
    trace = TRACES[name]()
    text = trace.save(tmp_path / "a.json").read_text(encoding="utf-8")
    plain = json.loads(text, parse_constant=no_constant)
    assert plain == json.loads(json.dumps(trace.to_json()))
    assert (plain["format"], plain["version"], plain["kind"]) == ("jumok", 1, "trace")
    assert [token[0] for token in plain["tokens"]] == [token.text for token in trace.tokens]
    for part in ("q", "k", "v"):
        np.testing.assert_array_equal(np.array(plain[part], getattr(trace, part).dtype), getattr(trace, part))
    assert set(plain["stages"]) == set(STAGES)
    for stage in STAGES:
        np.testing.assert_array_equal(np.array(plain["stages"][stage], trace.rows(stage).dtype), trace.rows(stage))
    assert plain["rule"]["kind"] == "rule"
    assert '{"array": "part' not in json.dumps(plain)


def test_json_of_a_reading_has_a_layer_each(tmp_path: Path) -> None:
    reading = Reading((record(), record(2, key_tokens=["가", "나"])), Source("model"))
    plain = json.loads(reading.save(tmp_path / "a.json").read_text(encoding="utf-8"))
    assert (plain["kind"], plain["source"]["kind"], len(plain["layers"])) == ("reading", "model", 2)
    assert plain["layers"][1]["key_tokens"] == [["가"], ["나"]]
    assert plain == json.loads(json.dumps(reading.to_json()))


def test_json_of_a_long_record_leaves_the_stages_out(tmp_path: Path) -> None:
    plain = json.loads(record(200).save(tmp_path / "a.json").read_text(encoding="utf-8"))
    assert "stages" not in plain
    assert len(plain["q"][0]) == 200


# what is not ours ---------------------------------------------------------------------------------


def refused(path: Path, en: str = "", ko: str = "") -> None:
    """Refused by the one kind of error, naming the file, in both languages."""
    with pytest.raises(SavedFileError) as caught:
        jumok.load(path)
    error = caught.value
    assert type(error) is SavedFileError
    assert str(error).startswith(f"{path}: ")
    assert error.text("ko").startswith(f"{path}: ")
    assert re.search(en, str(error)), str(error)
    assert re.search(ko, error.text("ko")), error.text("ko")
    assert re.search("[가-힣]", error.text("ko"))
    assert len(str(error)) < 2000


@cache
def good() -> bytes:
    """A saved record with a bit of everything."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        made = TRACES["from x, with all its parts"]()
        rule = jumok.Rule(0.3, table(YES) | causal(), 3, alibi([1, 2]), [0, 1])
        reading = Reading((made, record(rule=rule, tokens=["가", "나", "다", "가"])), Source("model"))
        return reading.save(Path(folder) / "a.safetensors").read_bytes()


def parts() -> tuple[dict[str, Any], bytes]:
    """The header of the good file as a dictionary, and the numbers behind it."""
    (length,) = struct.unpack("<Q", good()[:8])
    return json.loads(good()[8 : 8 + length]), good()[8 + length :]


def packed(header: Any, numbers: bytes = b"", length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + numbers


def with_record(change: Callable[[dict[str, Any]], Any]) -> bytes:
    """The good file with its record changed; a change may return another record, or its text."""
    header, numbers = parts()
    plain = json.loads(header["__metadata__"]["record"])
    changed = change(plain)
    plain = plain if changed is None else changed
    header["__metadata__"]["record"] = plain if isinstance(plain, str) else json.dumps(plain)
    return packed(header, numbers)


def put(*path: Any) -> Callable[[dict[str, Any]], None]:
    """A change: the last of ``path`` is put where the others lead."""
    *way, last, value = path

    def change(plain: Any) -> None:
        for step in way:
            plain = plain[step]
        plain[last] = value

    return change


def drop(*path: Any) -> Callable[[dict[str, Any]], None]:
    *way, last = path

    def change(plain: Any) -> None:
        for step in way:
            plain = plain[step]
        del plain[last]

    return change


def test_the_good_file_is_good(tmp_path: Path) -> None:
    (path := tmp_path / "a.safetensors").write_bytes(with_record(lambda plain: None))
    assert isinstance(jumok.load(path), Reading)


def nested(depth: int, kind: str = "both") -> Any:
    rule: Any = {"kind": "causal"}
    for _ in range(depth):
        rule = {"kind": kind, "first": rule, "second": {"kind": "causal"}}
    return rule


RULE = ("layers", 1, "rule")
FOREIGN: dict[str, tuple[Callable[[], bytes], str, str]] = {
    "empty": (
        lambda: b"",
        r"not a whole .safetensors file of numbers \(it is too short\)",
        r"숫자 파일이 아닙니다\(파일이 너무 짧습니다\)",
    ),
    "text": (lambda: b"tokens: [a, b]\n" * 10, "not a whole .safetensors file", "온전한"),
    "a pickle": (lambda: pickle.dumps({"q": np.ones(3)}), "not a whole .safetensors file", "다시 저장하거나 복사"),
    "a pickle that acts": (lambda: b"cos\nsystem\n(S'touch hacked'\ntR.", "not a whole .safetensors file", ""),
    "a zip": (lambda: b"PK\x03\x04" + bytes(100), "not a whole .safetensors file", ""),
    "zeros": (lambda: bytes(1000), "not a whole .safetensors file", ""),
    "a model": (
        lambda: safetensors_bytes({"model.weight": np.ones((2, 2), np.float32)}, {"format": "pt"}),
        r"not one that jumok saved \(a model's weights, perhaps\)",
        "jumok이 저장한 것이 아닙니다",
    ),
    "a model without metadata": (lambda: safetensors_bytes({"w": np.ones(2)}), "not one that jumok saved", "아닙니다"),
    "a model in bfloat16": (
        lambda: packed({"w": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}, bytes(4)),
        "not one that jumok saved",
        "아닙니다",
    ),
    "bfloat16 inside": (lambda: with_dtype("BF16", 4), "not a whole .safetensors file of numbers", "온전한"),
    "8-bit floats inside": (lambda: with_dtype("F8_E4M3", 8), "not a whole .safetensors file of numbers", "온전한"),
    "a later version": (
        lambda: with_metadata(version="2"),
        "format version '2', this jumok reads 1. Update jumok",
        "업데이트",
    ),
    "no version": (lambda: with_metadata(version=None), "format version None", "형식 버전이 None"),
    "no record": (lambda: with_metadata(record=None), "its record is not valid JSON", "올바른 JSON이 아닙니다"),
    "a header that is no JSON": (lambda: packed(b"{not json}"), "not a whole", ""),
    "a header that is a list": (lambda: packed([1, 2]), "not a whole", ""),
    "a header beyond the file": (lambda: packed({}, length=10**6), "not a whole", ""),
    "a header beyond memory": (lambda: packed({}, length=2**63), "not a whole", ""),
    "the largest header length": (lambda: packed({}, length=2**64 - 1), "not a whole", ""),
    "a header nested deep": (lambda: packed(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"), "not a whole", ""),
    "offsets beyond the file": (lambda: with_offsets([0, 10**9]), "not a whole", ""),
    "offsets that overflow": (lambda: with_offsets([0, 2**64 - 1]), "not a whole", ""),
    "offsets below 0": (lambda: with_offsets([-8, 0]), "not a whole", ""),
    "a shape that overflows": (lambda: with_shape([2**33, 2**33]), "not a whole", ""),
    "a shape of another size": (lambda: with_shape([1, 1, 1]), "not a whole", ""),
    # the record
    "text for a record": (
        lambda: with_record(lambda plain: "{"),
        "its record is not valid JSON",
        "올바른 JSON이 아닙니다",
    ),
    "a list for a record": (lambda: with_record(lambda plain: "[]"), "its record is not valid JSON", ""),
    "NaN in a record": (lambda: with_record(lambda plain: '{"kind": NaN}'), "its record is not valid JSON", ""),
    "a record nested deep": (lambda: with_record(lambda plain: "[" * 100_000 + "]" * 100_000), "not valid JSON", ""),
    "a number of many digits": (
        lambda: with_record(lambda plain: '{"kind": ' + "9" * 10_000 + "}"),
        "not valid JSON",
        "",
    ),
    "no kind": (lambda: with_record(drop("kind")), "'kind' is missing", "맞지 않습니다"),
    "another kind": (lambda: with_record(put("kind", "table")), "unknown fields", ""),
    "a trace of two layers": (lambda: with_record(as_trace), "2 layers of kind 'trace'", ""),
    "a field too many": (lambda: with_record(put("code", "print(1)")), r"unknown fields \['code'\]", ""),
    "a layer's field too many": (lambda: with_record(put("layers", 0, "hook", "x")), r"unknown fields \['hook'\]", ""),
    "no layers": (lambda: with_record(drop("layers")), "'layers' is missing", ""),
    "no layer of that name": (lambda: with_record(put("layers", [])), "'layers.0' is missing", ""),
    "layers as a number": (lambda: with_record(put("layers", 3)), "does not fit together", "맞지 않습니다"),
    "layers as a dictionary": (lambda: with_record(put("layers", {"0": {}, "1": {}})), "does not fit together", ""),
    "a layer that is nothing": (lambda: with_record(put("layers", 0, None)), "does not fit together", ""),
    "a layer too many": (
        lambda: with_record(lambda plain: plain["layers"].append(plain["layers"][0])),
        "does not fit together",
        "",
    ),
    "no tokens": (lambda: with_record(drop("tokens")), "'tokens' is missing", ""),
    "tokens as text": (lambda: with_record(put("tokens", 0, "abcd")), r"a token is \[text\]", ""),
    "a token as a number": (
        lambda: with_record(put("tokens", 0, 0, [5])),
        "a token expects text, got 5",
        "문자열이 필요한데 5",
    ),
    "a token with half a span": (lambda: with_record(put("tokens", 0, 0, ["a", 1])), r"span .* got \(1,\)", ""),
    "a span of truths": (lambda: with_record(put("tokens", 0, 0, ["a", False, True])), "span of a token", ""),
    "a span below 0": (lambda: with_record(put("tokens", 0, 0, ["a", -1, 1])), "span of a token", ""),
    "a token of half a letter": (lambda: with_record(put("tokens", 0, 0, ["\ud800"])), "a token expects text", ""),
    "too few tokens": (
        lambda: with_record(put("tokens", 0, [["가"], ["나"], ["다"]])),
        "tokens has query=3, but q has query=4",
        "query=3인데",
    ),
    "a row of tokens below 0": (
        lambda: with_record(put("layers", 0, "tokens", -1)),
        "there is no row -1 of tokens",
        "",
    ),
    "a row of tokens beyond": (lambda: with_record(put("layers", 0, "tokens", 9)), "there is no row 9 of tokens", ""),
    "a row of tokens as truth": (lambda: with_record(put("layers", 0, "tokens", False)), "there is no row False", ""),
    "a row of tokens in fractions": (lambda: with_record(put("layers", 0, "tokens", 0.0)), "there is no row 0.0", ""),
    "a row of tokens that is a row": (
        lambda: with_record(put("layers", 0, "tokens", [0])),
        r"there is no row \[0\]",
        "",
    ),
    "key tokens that are nothing": (
        lambda: with_record(put("layers", 0, "key_tokens", None)),
        "there is no row None",
        "",
    ),
    "dimensions as text": (
        lambda: with_record(put("layers", 0, "dimensions", "abc")),
        "dimensions expects a list of texts",
        "목록",
    ),
    "too few dimensions": (lambda: with_record(put("layers", 0, "dimensions", [])), "dimensions has d_model=0", ""),
    "no source": (lambda: with_record(drop("layers", 0, "source")), "'source' is missing", ""),
    "a source as text": (lambda: with_record(put("layers", 0, "source", "model")), "does not fit together", ""),
    "a source with a field too many": (
        lambda: with_record(put("source", "x", 1)),
        "unexpected keyword argument 'x'",
        "",
    ),
    "a source with a number": (
        lambda: with_record(put("source", "kind", 5)),
        "source.kind expects str, got 5",
        "source.kind에는",
    ),
    "a source that is infinite": (
        lambda: with_record(lambda plain: json.dumps(plain).replace('"exact": true', '"details": {"a": 1e999}', 1)),
        "source.details expects plain JSON",
        "JSON으로",
    ),
    "no rule": (lambda: with_record(drop(*RULE)), "'rule' is missing", ""),
    "a rule as a number": (lambda: with_record(put(*RULE, 5)), "a rule expects a name", "규칙에는"),
    "an unknown rule": (
        lambda: with_record(put(*RULE, {"kind": "os.system"})),
        "unknown kind of rule 'os.system'; known: ",
        "알 수 없는",
    ),
    "a rule without a kind": (lambda: with_record(put(*RULE, {})), "unknown kind of rule None", ""),
    "a rule of a list of kinds": (
        lambda: with_record(put(*RULE, {"kind": ["rule"]})),
        r"unknown kind of rule \['rule'\]",
        "",
    ),
    "a rule with a field too many": (
        lambda: with_record(put(*RULE, "x", 1)),
        r"rule 'rule' has no field \['x'\]",
        "항목이 없습니다",
    ),
    "a rule that is a bias": (
        lambda: with_record(put(*RULE, {"kind": "alibi", "slopes": [1]})),
        "a rule expects a name",
        "",
    ),
    "a rule that is heads": (lambda: with_record(put(*RULE, {"kind": "heads"})), "does not fit together", ""),
    "a window without a width": (
        lambda: with_record(put(*RULE, {"kind": "window"})),
        "missing 1 required .*'n_back'",
        "",
    ),
    "an offset as truth": (
        lambda: with_record(put(*RULE, {"kind": "causal", "offset": True})),
        "offset expects .* got True",
        "",
    ),
    "an offset in fractions": (
        lambda: with_record(put(*RULE, {"kind": "causal", "offset": 0.5})),
        "offset expects",
        "",
    ),
    "an offset beyond counting": (
        lambda: with_record(put(*RULE, {"kind": "causal", "offset": 10**300})),
        "offset expects",
        "",
    ),
    "an offset that is a rule": (
        lambda: with_record(put(*RULE, {"kind": "causal", "offset": {"kind": "causal"}})),
        "offset expects",
        "",
    ),
    "a scale as truth": (lambda: with_record(put(*RULE, "scale", True)), "scale expects a number above 0", ""),
    "a scale as text": (lambda: with_record(put(*RULE, "scale", "1")), "scale expects a number above 0", ""),
    "a scale below 0": (lambda: with_record(put(*RULE, "scale", -1)), "scale expects a number above 0", ""),
    "an infinite scale": (
        lambda: with_record(lambda plain: json.dumps(plain).replace('"scale": 0.3', '"scale": 1e999')),
        "scale expects a number above 0",
        "",
    ),
    "a sink as text": (lambda: with_record(put(*RULE, "sink", "abc")), "sink expects an array", "sink에는"),
    "an array that is not there": (
        lambda: with_record(put(*RULE, "sink", {"array": "part.99"})),
        "the array 'part.99', which is not there",
        "없습니다",
    ),
    "an array that is q": (
        lambda: with_record(put(*RULE, "sink", {"array": "q"})),
        "the array 'q', which is not there",
        "",
    ),
    "an array without a name": (lambda: with_record(put(*RULE, "sink", {"array": [1]})), "does not fit together", ""),
    "a table of numbers": (
        lambda: with_record(put(*RULE, "allowed", {"kind": "table", "array": [[1]]})),
        "expects True and False",
        "",
    ),
    "T5 without end": (
        lambda: with_record(put(*RULE, "bias", {"kind": "t5", "buckets": [[0], [0], [0], [0]], "max_distance": 2**62})),
        "max_distance expects",
        "max_distance에는",
    ),
    "rules nested deep": (lambda: with_record(put(*RULE, "allowed", nested(300))), "", ""),
    "lists nested deep": (lambda: with_record(lambda plain: deep_list(plain, 900)), "", ""),
    "heads that are a rule": (
        lambda: with_record(put("layers", 0, "heads", {"kind": "causal"})),
        "heads expects a Heads, got _Causal",
        "",
    ),
    "heads without projections": (
        lambda: with_record(put("layers", 0, "heads", {"kind": "heads"})),
        "missing 3 required",
        "",
    ),
    "a rotation that is a rule": (
        lambda: with_record(put("layers", 0, "heads", "rotation", {"kind": "causal"})),
        "rotation expects a Rotary, got _Causal",
        "rotation에는",
    ),
    "no q": (lambda: without("layers.0.q"), "q expects real numbers", "q에는 실수"),
    "no array of the rule": (lambda: without("layers.1.part.0"), "does not fit together", ""),
    "an array too many": (lambda: renamed("layers.0.x", "layers.0.y"), r"unknown fields \['y'\]", ""),
    "an array of layer −1": (lambda: renamed("layers.0.q", "layers.-1.q"), "'layers.-1' is missing", ""),
    "an array of layer 7": (lambda: renamed("layers.0.q", "layers.7.q"), "'layers.7' is missing", ""),
    "an array without a layer": (lambda: renamed("layers.0.q", "q"), "does not fit together", ""),
    "NaN among the numbers": (
        lambda: with_nan(),
        r"k\[0, 0, 0\] \(token .*\) is nan. Every number must be finite",
        "유한해야",
    ),
}


def with_metadata(**changed: Any) -> bytes:
    header, numbers = parts()
    for name, value in changed.items():
        header["__metadata__"].pop(name)
        if value is not None:
            header["__metadata__"][name] = value
    return packed(header, numbers)


def of_q(field: str, value: Any) -> bytes:
    header, numbers = parts()
    header["layers.0.q"][field] = value
    return packed(header, numbers)


def with_offsets(offsets: list[int]) -> bytes:
    return of_q("data_offsets", offsets)


def with_shape(shape: list[int]) -> bytes:
    return of_q("shape", shape)


def with_dtype(dtype: str, a_number: int) -> bytes:
    import ml_dtypes  # noqa: F401 (it tells NumPy of these types, as JAX does; they are no numbers here all the same)

    header, numbers = parts()
    entry = header["layers.0.q"]
    entry["dtype"], entry["shape"] = dtype, [entry["shape"][0], entry["shape"][1], entry["shape"][2] * a_number]
    return packed(header, numbers)


def with_nan() -> bytes:
    header, numbers = parts()
    start = header["layers.1.k"]["data_offsets"][0]
    return packed(header, numbers[:start] + struct.pack("<d", float("nan")) + numbers[start + 8 :])


def renamed(name: str, to: str) -> bytes:
    header, numbers = parts()
    header[to] = header.pop(name)
    return packed(header, numbers)


def without(name: str) -> bytes:
    from safetensors.numpy import load

    header, _ = parts()
    arrays = load(good())
    del arrays[name]
    return safetensors_bytes(arrays, header["__metadata__"])


def as_trace(plain: dict[str, Any]) -> None:
    plain["kind"] = "trace"
    del plain["source"]


def deep_list(plain: dict[str, Any], depth: int) -> str:
    plain["layers"][1]["rule"]["sink"] = "HERE"
    return json.dumps(plain).replace('"HERE"', "[" * depth + "]" * depth)


@pytest.mark.parametrize("what", FOREIGN)
def test_what_is_not_ours_is_refused(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made, en, ko = FOREIGN[what]
    (path := tmp_path / "a.safetensors").write_bytes(made())
    if what == "rules nested deep":  # deep, but whole: it may come back, if it fits the stack
        try:
            assert isinstance(jumok.load(path), Reading)
        except SavedFileError:
            refused(path)
        return
    refused(path, en, ko)
    assert os.listdir(tmp_path) == ["a.safetensors"]


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    refused(tmp_path / "missing.safetensors", "there is no such file", "그런 파일이 없습니다")
    (folder := tmp_path / "folder.safetensors").mkdir()
    refused(folder, "there is no such file", "그런 파일이 없습니다")
    (link := tmp_path / "link.safetensors").symlink_to(tmp_path / "nowhere")
    refused(link, "there is no such file")
    os.mkfifo(pipe := tmp_path / "pipe.safetensors")
    refused(pipe, "there is no such file")
    (link := tmp_path / "device.safetensors").symlink_to("/dev/zero")
    refused(link, "there is no such file")


def lengths() -> Iterator[int]:
    (header,) = struct.unpack("<Q", good()[:8])
    n = len(good())
    yield from {*range(20), 8 + header - 1, 8 + header, 8 + header + 1, n - 1, n - 8, *range(100, n, n // 60)}


def test_a_truncated_file_is_refused_wherever_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    for length in lengths():
        path.write_bytes(good()[:length])
        refused(path, "not a whole .safetensors file", "온전한")
    path.write_bytes(good() + b"more")
    refused(path, "not a whole .safetensors file")


def opened(path: Path) -> None:
    """Loaded whole, or refused in the one way; nothing else can happen."""
    try:
        loaded = jumok.load(path)
    except SavedFileError:
        refused(path)
        return
    assert isinstance(loaded, Trace | Reading)
    for trace in loaded if isinstance(loaded, Reading) else [loaded]:
        assert all(np.isfinite(trace.rows(stage)).all() for stage in STAGES)


def test_no_flipped_byte_does_any_harm(tmp_path: Path) -> None:
    """Whole, or refused: the metadata may change to another valid record, but never to a broken one."""
    path = tmp_path / "a.safetensors"
    (header,) = struct.unpack("<Q", good()[:8])
    for at in [*range(0, 8), *RANDOM.integers(8, 8 + header, 400), *RANDOM.integers(8 + header, len(good()), 60)]:
        broken = bytearray(good())
        broken[at] ^= int(RANDOM.integers(1, 256))
        path.write_bytes(broken)
        opened(path)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.sampled_from(["causal", "part.0"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["kind", "array", "first", "offset"]), inner)
    ),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(st.data())
def test_no_record_does_any_harm(tmp_path: Path, data: Any) -> None:
    """Any JSON put anywhere in a record that was good."""

    def change(plain: Any) -> Any:
        ways: list[tuple[Any, Any]] = []

        def walk(node: Any) -> None:
            for key in list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else []:
                ways.append((node, key))
                walk(node[key])

        walk(plain)
        node, key = data.draw(st.sampled_from(ways))
        node[key] = data.draw(JSON)

    path = tmp_path / "a.safetensors"
    path.write_bytes(with_record(change))
    opened(path)


def test_a_record_too_long_for_a_header_is_refused_when_saved(tmp_path: Path) -> None:
    trace = record(1, tokens=["x" * 101_000_000])
    with pytest.raises(jumok.errors.OutputError, match="header too large") as caught:
        trace.save(tmp_path / "a.safetensors")
    assert "쓸 수 없습니다" in caught.value.text("ko")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["a.pt", "a", "a.npz", ".safetensors"])
def test_another_suffix_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"saved as \.safetensors or \.json"):
        record().save(tmp_path / name)


def test_equal_records_are_equal_files(tmp_path: Path) -> None:
    """The order of metadata is another in every process of the library."""
    script = "import jumok, sys; jumok.attend(jumok.load('cat-fish')).save(sys.argv[1])"
    for at in range(6):
        subprocess.run([sys.executable, "-c", script, str(tmp_path / f"{at}.safetensors")], check=True)
    assert len({(tmp_path / f"{at}.safetensors").read_bytes() for at in range(6)}) == 1
    assert isinstance(jumok.load(tmp_path / "0.safetensors"), Trace)
