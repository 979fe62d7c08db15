"""One table of cases of attention, for every array library, every stage and every variant.

A new case is one entry in CASES; a new library is one entry in ``libraries.LIBRARIES``. Both get all tests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

import reference as ref
from jumok.path import Rule, Steps
from jumok.path.allowed import causal, document, everything, padding, table, window
from jumok.path.positions import Rotary, alibi, alibi_slopes, relative, sinusoidal, t5
from jumok.path.positions import table as bias_table
from jumok.path.qkv import projected, split
from libraries import Library

__all__ = ["CASES", "Case", "close", "drawn", "expected", "inputs", "steps_of"]

N = 5  # queries, and keys where a case says nothing else


@dataclass(frozen=True)
class Case:
    """One way to attend, said twice: for jumok (``rule``, its arrays made by ``a``) and for the triple loop (``loop``)."""

    rule: Callable[[Any], Any] = lambda a: None
    loop: dict[str, Any] = field(default_factory=dict)
    heads: int = 2
    kv_heads: int | None = None
    n: int = N
    m: int | None = None  # keys, where they are other tokens
    rotation: Rotary | None = None
    code: bool = False  # the sinusoidal code is added to x
    dtype: str = "float64"
    size: float = 1.0  # of x
    d_model: int = 6
    d_head: int = 4
    d_value: int = 3


def drawn(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


TABLE = drawn(N, N, seed=1) > 0
NOTHING = np.array([[0, 0, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0], [1, 1, 0, 1, 0], [0, 0, 0, 0, 1]], dtype=bool)
REAL = np.array([True, True, False, True, False])
IDS = np.array([0, 0, 1, 1, 0])
VECTOR, BUCKETS = drawn(2, 5, seed=2), drawn(8, 2, seed=3)
NUMBERS, SHARED = drawn(2, N, N, seed=4), drawn(1, N, N, seed=5)
SINK = np.array([0.5, -1.0])
SLOPES = alibi_slopes(2)

CASES = {
    "one head": Case(heads=1),
    "two heads": Case(),
    "one token": Case(n=1),
    "grouped heads": Case(heads=4, kv_heads=2),
    "one key head for all": Case(kv_heads=1),
    "everything": Case(lambda a: everything(), {"allowed": ref.everything()}),
    "causal": Case(lambda a: "causal", {"allowed": ref.causal()}),
    "causal, grouped": Case(lambda a: causal(), {"allowed": ref.causal()}, heads=4, kv_heads=2),
    "causal with a cache": Case(lambda a: causal(offset=3), {"allowed": ref.causal(3)}, n=2, m=5),
    "causal, fewer keys": Case(lambda a: causal(), {"allowed": ref.causal()}, n=5, m=2),
    "window": Case(lambda a: window(1), {"allowed": ref.window(1)}),
    "window ahead": Case(lambda a: window(1, n_ahead=2), {"allowed": ref.window(1, 2)}),
    "window with a cache": Case(lambda a: window(1, offset=3), {"allowed": ref.window(1, 0, 3)}, n=2, m=5),
    "the token alone": Case(lambda a: window(0), {"allowed": ref.window(0)}),
    "padding": Case(lambda a: padding(a(REAL)), {"allowed": ref.padding(REAL)}),
    "document": Case(lambda a: document(a(IDS)), {"allowed": ref.document(IDS)}),
    "document with a cache": Case(lambda a: document(a(IDS), 3), {"allowed": ref.document(IDS, 3)}, n=2, m=5),
    "table": Case(lambda a: a(TABLE), {"allowed": ref.table(TABLE)}),
    "and": Case(lambda a: causal() & padding(a(REAL)), {"allowed": ref.both(ref.causal(), ref.padding(REAL))}),
    "or": Case(lambda a: window(0) | table(a(TABLE)), {"allowed": ref.either(ref.window(0), ref.table(TABLE))}),
    "and, or": Case(
        lambda a: (causal() & document(a(IDS))) | window(0, 1),
        {"allowed": ref.either(ref.both(ref.causal(), ref.document(IDS)), ref.window(0, 1))},
    ),
    "nothing allowed": Case(lambda a: table(a(NOTHING)), {"allowed": ref.table(NOTHING)}),
    "nothing allowed anywhere": Case(lambda a: a(TABLE & False), {"allowed": ref.table(TABLE & False)}),
    "cross": Case(n=2, m=5),
    "scale": Case(lambda a: Rule(scale=0.3), {"scale": 0.3}),
    "scale above 1": Case(lambda a: Rule(scale=7.0), {"scale": 7.0}),
    "softcap": Case(lambda a: Rule(softcap=0.5), {"softcap": 0.5}),
    "softcap, causal": Case(lambda a: Rule(None, "causal", 3.0), {"softcap": 3.0, "allowed": ref.causal()}),
    "ALiBi": Case(lambda a: Rule(bias=alibi(a(SLOPES))), {"bias": ref.alibi(SLOPES)}),
    "ALiBi, cache": Case(lambda a: Rule(bias=alibi(a(SLOPES), 3)), {"bias": ref.alibi(SLOPES, 3)}, n=2, m=5),
    "relative": Case(lambda a: Rule(bias=relative(a(VECTOR))), {"bias": ref.relative(VECTOR)}),
    "relative, shared": Case(lambda a: Rule(bias=relative(a(VECTOR[:1]))), {"bias": ref.relative(VECTOR[:1])}),
    "relative, cache": Case(lambda a: Rule(bias=relative(a(VECTOR), 3)), {"bias": ref.relative(VECTOR, 3)}, n=2, m=5),
    "T5, both ways": Case(
        lambda a: Rule(bias=t5(a(BUCKETS), max_distance=4)), {"bias": ref.t5(BUCKETS, max_distance=4)}
    ),
    "T5, back only": Case(
        lambda a: Rule(bias=t5(a(BUCKETS[:4]), bidirectional=False, max_distance=5)),
        {"bias": ref.t5(BUCKETS[:4], False, 5)},
    ),
    "T5, cache": Case(
        lambda a: Rule(bias=t5(a(BUCKETS[:4]), False, 5, offset=3), allowed=causal(3)),
        {"bias": ref.t5(BUCKETS[:4], False, 5, 3), "allowed": ref.causal(3)},
        n=2,
        m=5,
    ),
    "bias table": Case(lambda a: Rule(bias=bias_table(a(NUMBERS))), {"bias": ref.bias_table(NUMBERS)}),
    "bias table, shared": Case(lambda a: Rule(bias=bias_table(a(SHARED))), {"bias": ref.bias_table(SHARED)}),
    "sum of biases": Case(
        lambda a: Rule(bias=alibi(a(SLOPES)) + bias_table(a(SHARED))),
        {"bias": ref.bias_sum(ref.alibi(SLOPES), ref.bias_table(SHARED))},
    ),
    "sink": Case(lambda a: Rule(sink=a(SINK)), {"sink": SINK}),
    "sink, grouped": Case(lambda a: Rule(sink=a(SINK)), {"sink": SINK}, kv_heads=1),
    "sink, nothing allowed": Case(
        lambda a: Rule(allowed=a(NOTHING), sink=a(SINK)), {"allowed": ref.table(NOTHING), "sink": SINK}
    ),
    "everything at once": Case(
        lambda a: Rule(0.7, causal() & padding(a(REAL)), 2.0, alibi(a(SLOPES)) + relative(a(VECTOR)), a(SINK)),
        {
            "scale": 0.7,
            "allowed": ref.both(ref.causal(), ref.padding(REAL)),
            "softcap": 2.0,
            "bias": ref.bias_sum(ref.alibi(SLOPES), ref.relative(VECTOR)),
            "sink": SINK,
        },
        kv_heads=1,
    ),
    "sinusoidal": Case(code=True),
    "rotary, halves": Case(rotation=Rotary()),
    "rotary, neighbours": Case(rotation=Rotary(interleaved=True), kv_heads=1),
    "rotary, later": Case(rotation=Rotary(base=100.0, offset=3)),
    "float32": Case(lambda a: "causal", {"allowed": ref.causal()}, dtype="float32"),
    "float32, rule in float64": Case(
        lambda a: Rule(bias=alibi(a(SLOPES)), sink=a(SINK)), {"bias": ref.alibi(SLOPES), "sink": SINK}, dtype="float32"
    ),
    "huge scores": Case(size=1e150),
    "huge scores, causal": Case(lambda a: "causal", {"allowed": ref.causal()}, size=1e120),
    "huge scores, float32": Case(lambda a: "causal", {"allowed": ref.causal()}, size=1e15, dtype="float32"),
    "tiny scores": Case(size=1e-150),
}


@cache
def inputs(name: str) -> dict[str, Any]:
    """x (and y, what is read where it is something else) and all projections, in NumPy."""
    case = CASES[name]
    kv = case.kv_heads or case.heads
    x, y = case.size * drawn(case.n, case.d_model, seed=10), case.size * drawn(case.m or 1, case.d_model, seed=11)
    widths = {"q": case.heads * case.d_head, "k": kv * case.d_head, "v": kv * case.d_value}
    made = {"x": x, "y": x if case.m is None else y}
    made |= {f"w_{c}": drawn(case.d_model, width, seed=12 + ord(c)) for c, width in widths.items()}
    made |= {f"b_{c}": case.size * drawn(width, seed=13 + ord(c)) for c, width in widths.items()}
    made["w_o"] = drawn(case.heads * case.d_value, case.d_model, seed=14)
    made["b_o"] = case.size * drawn(case.d_model, seed=15)
    return {key: array.astype(case.dtype) for key, array in made.items()}


def steps_of(name: str, library: Library, a: Any) -> Steps:
    """The case on one array library; the rule's arrays are made by ``a``."""
    case = CASES[name]
    given = {key: library.array(array) for key, array in inputs(name).items()}
    x, y = given["x"], given["y"]
    if case.code:
        code = library.array(sinusoidal(case.n, case.d_model))
        x, y = x + code, y + code
    kv = case.kv_heads or case.heads
    q = split(projected(x, given["w_q"], given["b_q"]), case.heads)
    k = split(projected(y, given["w_k"], given["b_k"]), kv)
    v = split(projected(y, given["w_v"], given["b_v"]), kv)
    if case.rotation is not None:
        q, k = case.rotation.turned(q), case.rotation.turned(k)
    return Steps(q, k, v, Rule.of(case.rule(a)), given["w_o"], given["b_o"])


@cache
def expected(name: str) -> dict[str, Any]:
    """q, k, v and every stage of a case by the triple loop."""
    case = CASES[name]
    given = {key: array.tolist() for key, array in inputs(name).items()}
    x, y = given["x"], given["y"]
    if case.code:
        x = y = [
            [number + code for number, code in zip(row, codes, strict=True)]
            for row, codes in zip(x, ref.sinusoidal(case.n, case.d_model), strict=True)
        ]
    kv = case.kv_heads or case.heads

    def part(tokens: Any, letter: str, heads: int) -> Any:
        w, b = given[f"w_{letter}"], given[f"b_{letter}"]
        return ref.heads_of([[n + c for n, c in zip(row, b, strict=True)] for row in ref.product(tokens, w)], heads)

    q, k, v = part(x, "q", case.heads), part(y, "k", kv), part(y, "v", kv)
    if case.rotation is not None:
        turn = case.rotation
        q, k = (
            [[ref.rotated(row, p + turn.offset, turn.interleaved, turn.base) for p, row in enumerate(h)] for h in heads]
            for heads in (q, k)
        )
    stages = ref.attention(q, k, v, w_o=given["w_o"], b_o=given["b_o"], **case.loop)
    return {key: np.array(value) for key, value in ({"q": q, "k": k, "v": v} | stages).items()}


def close(got: Any, wanted: Any, dtype: str) -> None:
    """Equal but for rounding: 1e-12 of the largest number in float64, 1e-5 in float32."""
    assert got.shape == wanted.shape
    if wanted.dtype == bool:
        assert got.dtype == bool
        np.testing.assert_array_equal(got, wanted)
        return
    assert str(got.dtype) == dtype
    assert np.isfinite(got).all()
    of_one = 1e-12 if dtype == "float64" else 1e-5
    np.testing.assert_allclose(got, wanted, rtol=of_one, atol=of_one * np.abs(wanted).max())
