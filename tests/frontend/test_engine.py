"""The page's own arithmetic (frontend/src/engine) against this one, number by number, on records of every kind."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

import jumok
from jumok.explanation.facts import names_of
from jumok.path import STAGES
from jumok.path.allowed import causal, document, padding, table, window
from jumok.path.positions import Rotary, alibi, relative, t5
from jumok.picture.packed import pack
from jumok.trace import Reading, Trace
from libraries import LIBRARIES
from path.test_cases import CASES, inputs, steps_of

EXAMPLES = sorted(path.stem for path in (Path(jumok.__file__).parent / "examples").glob("*.yaml"))
TOLERANCE = {"float64": 1e-12, "float32": 1e-6, "float16": 1e-6}  # half precision is computed in single


def drawn(*shape: int, dtype: str = "float64") -> Any:
    return np.random.default_rng(shape).standard_normal(shape).astype(dtype)


def record(
    n: int = 7, heads: int = 2, kv_heads: int = 2, n_keys: int = 0, dtype: str = "float64", **more: Any
) -> Trace:
    """q, k and v at random; d_head and d_value are not multiples of four, nor equal."""
    m = n_keys or n
    keys = {"key_tokens": [f"key {at}" for at in range(m)]} if n_keys else {}
    arrays = {"q": drawn(heads, n, 6, dtype=dtype), "k": drawn(kv_heads, m, 6, dtype=dtype)}
    arrays["v"] = drawn(kv_heads, m, 5, dtype=dtype)
    return Trace(tokens=[f"query {at}" for at in range(n)], **(arrays | keys | more))


def from_x(dtype: str = "float64", **more: Any) -> Trace:
    """Three projections and an output one, with biases, for 4 heads that share 2 keys and values."""
    widths = {"q": 16, "k": 8, "v": 6}
    projections = {f"w_{name}": drawn(5, width, dtype=dtype) / 2 for name, width in widths.items()}
    biases = {f"b_{name}": drawn(width, dtype=dtype) for name, width in widths.items()}
    given = {"x": drawn(7, 5, dtype=dtype), "w_o": drawn(12, 9, dtype=dtype), "b_o": drawn(9, dtype=dtype)}
    return jumok.attend(**(given | projections | biases | {"n_heads": 4, "n_kv_heads": 2} | more))


YES = drawn(7, 7) > 0
YES[2] = False
REAL = np.array([False, True, True, False, True, True, False])
HUGE_Q = 1e154 * np.array([[1, 1, 1, 1], [1, 1, 1, 1.1], [0.1, 0, 0, 0.1]])
HUGE_K = 1e154 * np.array([[1, 1.2, -1.6, -0.5], [1.2, 0.8, -1, -0.87], [0.01, 0.01, 0.01, 0.01]])
EYE = np.eye(3)
MANY = {"n": 24, "heads": 9, "kv_heads": 3}


RECORDS: dict[str, Callable[[str], Trace | Reading]] = {
    "plain": lambda dtype: record(dtype=dtype),
    "one token": lambda dtype: record(1, dtype=dtype),
    "9 heads share 3": lambda dtype: record(**MANY, dtype=dtype, rule="causal"),
    "9 heads share 1": lambda dtype: record(heads=9, kv_heads=1, dtype=dtype),
    "causal": lambda dtype: record(dtype=dtype, rule="causal"),
    "causal, after a cache": lambda dtype: record(3, n_keys=7, dtype=dtype, rule=causal(4)),
    "causal, more queries than keys": lambda dtype: record(7, n_keys=3, dtype=dtype, rule="causal"),
    "window": lambda dtype: record(**MANY, dtype=dtype, rule=window(5)),
    "window, ahead": lambda dtype: record(**MANY, dtype=dtype, rule=window(2, 3)),
    "window, some rows out of reach": lambda dtype: record(9, n_keys=4, dtype=dtype, rule=window(1, 0, 2)),
    "padding": lambda dtype: record(dtype=dtype, rule=padding(REAL)),
    "causal and padding, row 0 with nothing": lambda dtype: record(dtype=dtype, rule=causal() & padding(REAL)),
    "document": lambda dtype: record(dtype=dtype, rule=document(np.array([1, 1, 2, 2, 2**40, 2**40 + 2**32, 1]))),
    "document in 8 bits": lambda dtype: record(
        dtype=dtype, rule=document(np.array([0, 255, 255, 0, 1, 1, 1], np.uint8))
    ),
    "table, row 2 with nothing": lambda dtype: record(dtype=dtype, rule=table(YES)),
    "both and either": lambda dtype: record(dtype=dtype, rule=(causal() & table(YES)) | (window(0, 2) & padding(REAL))),
    "nothing anywhere": lambda dtype: record(dtype=dtype, rule=table(YES & False)),
    "scale": lambda dtype: record(dtype=dtype, rule=jumok.Rule(scale=1.7)),
    "soft cap": lambda dtype: record(dtype=dtype, rule=jumok.Rule(softcap=0.7, bias=alibi(drawn(2)))),
    "ALiBi, in single": lambda dtype: record(dtype=dtype, rule=jumok.Rule(bias=alibi(drawn(2, dtype="float32"), 3))),
    "relative": lambda dtype: record(dtype=dtype, rule=jumok.Rule(bias=relative(drawn(2, 5), 1))),
    "T5": lambda dtype: record(40, dtype=dtype, rule=jumok.Rule(bias=t5(drawn(32, 2)))),
    "T5, buckets that start at whole distances": lambda dtype: record(
        40, dtype=dtype, rule=jumok.Rule(bias=t5(drawn(10, 2), False, 160, 2))
    ),
    "bias table": lambda dtype: record(dtype=dtype, rule=jumok.Rule(bias=jumok.positions.table(drawn(2, 7, 7)))),
    "sum of biases": lambda dtype: record(
        dtype=dtype, rule=jumok.Rule(bias=alibi(drawn(2, dtype="float32")) + relative(drawn(1, 3, dtype="float32")))
    ),
    "sinks": lambda dtype: record(dtype=dtype, rule=jumok.Rule(allowed=table(YES), sink=drawn(2))),
    "everything at once": lambda dtype: record(
        **MANY,
        dtype=dtype,
        rule=jumok.Rule(0.9, causal() & window(11), 3.0, alibi(drawn(9) / 9) + t5(drawn(8, 9)), drawn(9)),
    ),
    "sums that overflow on the way": lambda dtype: record(3, heads=1, kv_heads=1, q=HUGE_Q[None], k=HUGE_K[None]),
    "numbers too small for half precision": lambda dtype: record(
        q=drawn(2, 7, 6, dtype="float16") / 2**14, dtype=dtype
    ),
    "read elsewhere": lambda dtype: record(3, n_keys=8, dtype=dtype),
    "from x": lambda dtype: from_x(dtype),
    "from x, turned": lambda dtype: from_x(dtype, rotation=Rotary(100.0, True, 2), rule="causal"),
    "named dimensions": lambda dtype: from_x(dtype, dimensions=["a", "b", "c", "d", "e"], w_o=None, b_o=None),
    "named dimensions, as wide": lambda dtype: jumok.attend(
        x=drawn(4, 3, dtype=dtype), w_q=EYE, w_k=EYE, w_v=EYE, dimensions=["사람", "행동", "</script>"]
    ),
    "two layers": lambda dtype: Reading((record(dtype=dtype), from_x(dtype, rule=window(1)))),
}


def of_case(name: str) -> Trace:
    """A case of tests/path, with the projection of its output."""
    case, steps, given = CASES[name], steps_of(name, LIBRARIES["numpy"], np.array), inputs(name)
    weights = {key: given[key] for key in ("w_q", "w_k", "w_v", "w_o", "b_o")}
    tokens, keys = ([f"token {at}" for at in range(array.shape[1])] for array in (steps.q, steps.k))
    other = {} if case.m is None else {"key_tokens": keys}
    return Trace(tokens, steps.q, steps.k, steps.v, steps.rule, heads=jumok.trace.Heads(**weights), **other)


def layers_of(made: Trace | Reading) -> list[Trace]:
    return [made] if isinstance(made, Trace) else list(made)


def widened(trace: Trace) -> Trace:
    """The same numbers as float64, so that what follows is in doubles."""
    heads = trace.heads
    if heads is not None:
        arrays = {f.name: getattr(heads, f.name) for f in dataclasses.fields(heads) if f.name[1] == "_"}
        wide = {name: array.astype(np.float64) for name, array in arrays.items() if array is not None}
        heads = dataclasses.replace(heads, **wide)
    arrays = {name: array.astype(np.float64) for name in "qkvx" if (array := getattr(trace, name)) is not None}
    return dataclasses.replace(trace, heads=heads, **arrays)


def expected(trace: Trace) -> dict[str, list[float]]:
    """Every stage, all its numbers in a row; k and v once for each head that reads them; and the log of the sums."""
    group = trace.n_heads // trace.n_kv_heads
    arrays = {stage: trace.rows(stage) for stage in STAGES} | {"lse": lse(trace), "q": trace.q}
    arrays |= {name: np.repeat(getattr(trace, name), group, axis=0) for name in "kv"}
    arrays |= {} if trace.x is None else {"x": trace.x}
    arrays |= {name: getattr(trace.heads, name, None) for name in ("w_q", "w_k", "w_v", "w_o")}
    return {name: array.astype(np.float64).ravel().tolist() for name, array in arrays.items() if array is not None}


def lse(trace: Trace) -> Any:
    scaled = np.where(trace.allowed, trace.scaled.astype(np.float64), -np.inf)
    sink = np.full(trace.n_heads, -np.inf) if trace.rule.sink is None else trace.rule.sink
    total = np.logaddexp(np.logaddexp.reduce(scaled, axis=2), sink[:, None])
    return np.where(trace.allowed.any(axis=1), total, -1e30)


class Cases:
    """The folder that node reads: one file a record, and what is expected of it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cases = folder, []

    def add(self, name: str, made: Trace | Reading) -> None:
        """As computed here in its own precision and, where that is not double, in double from the same numbers."""
        file = f"{len(self.cases)}.safetensors"
        made.save(self.folder / file)
        dtype = str(layers_of(made)[0].q.dtype)
        self._add(name, file, TOLERANCE[dtype], layers_of(made))
        if dtype != "float64":
            self._add(f"{name}, in doubles", file, 1e-12, map(widened, layers_of(made)))

    def add_rounded(self, name: str, trace: Trace) -> None:
        """As the page carries a large record: whole numbers, and the sums of its rows in single precision."""
        file = f"{len(self.cases)}.safetensors"
        (self.folder / file).write_bytes(b"".join(pack(trace, values="all", storage="int16").file()))
        stored = load_file(self.folder / file)
        numbers = {part: stored[f"layers.0.{part}"] * stored[f"layers.0.{part}.scale"][..., None] for part in "qkv"}
        assert {array.dtype.name for array in numbers.values()} == {"float32"}
        self._add(name, file, 1e-6, [widened(dataclasses.replace(trace, **numbers))])

    def _add(self, name: str, file: str, tolerance: float, layers: Any) -> None:
        layers = list(layers)
        case = {"name": name, "file": file, "tolerance": tolerance, "layers": [expected(trace) for trace in layers]}
        names = [{what: names_of(trace, what) for what in ("x", "q", "k", "v", "output")} for trace in layers]
        self.cases.append(case | {"names": names})

    def write(self) -> list[str]:
        (self.folder / "cases.json").write_text(json.dumps({"cases": self.cases}), encoding="utf-8")
        return [case["name"] for case in self.cases]


@pytest.fixture
def cases(tmp_path: Path) -> Cases:
    made = Cases(tmp_path)
    for name in EXAMPLES:
        made.add(f"example {name}", jumok.attend(jumok.load(name)))
    for name, make in RECORDS.items():
        for dtype in TOLERANCE:
            made.add(f"{name}, {dtype}", make(dtype))
    for name in CASES:
        made.add(f"case {name}", of_case(name))
    for name in ("9 heads share 3", "window", "sinks", "everything at once", "from x", "causal, after a cache"):
        made.add_rounded(f"{name}, rounded", layers_of(RECORDS[name]("float32"))[0])
    return made


def test_every_number_is_the_one_that_python_computes(node: Callable[..., str], cases: Cases) -> None:
    names = cases.write()
    node("engine.parity", JUMOK_PARITY=cases.folder)
    results = json.loads((cases.folder / "results.json").read_text(encoding="utf-8"))
    assert list(results) == names
    for name, result in results.items():
        print(f"{result['compared']:>8,} numbers, at most {result['worst']:.1e} off: {name}")
    assert sum(result["compared"] for result in results.values()) > 1_000_000
    assert min(result["compared"] for result in results.values()) >= len(STAGES)


def test_comparing_nothing_is_no_success(node: Callable[..., str], tmp_path: Path) -> None:
    for content in (None, {"cases": []}):
        if content is not None:
            (tmp_path / "cases.json").write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(AssertionError, match=r"engine\.parity"):
            node("engine.parity", JUMOK_PARITY=tmp_path)
