"""What an expression of a lesson can ask: of a record, of numbers, and of what is measured.

>>> round(softmax([0, 1])[1], 2), rank({"a": 0.2, "b": 0.8}, "a"), argmax({"a": 0.2, "b": 0.8})
(0.73, 2, 'b')
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..errors import InputError
from ..layer_numbers import layer_place
from ..measurement.spread import ScalingRow, Spread, scaling
from ..tokens import position, token_names, unknown_name
from ..trace import Reading, Trace, layers_of

__all__ = ["Attend", "functions", "tokens_of"]

Attend = Callable[[str], Trace | Reading]
Function = Callable[..., Any]

STAGES = {"score": "scores", "scaled": "scaled", "weight": "weights"}
ROWS = {"scores": "scores", "weights": "weights"}  # a query's numbers, token by token
VECTORS = {
    "x": "embedding",
    "query": "queries",
    "key": "keys",
    "value": "values",
    "output": "outputs",
}  # and all of one at once
MOST_WIDTH = 4096
MOST_TOKENS = 10**7


def functions(example: str, attend: Attend) -> dict[str, Function]:
    """The functions of expressions, by name.

    example : the record that they read unless one names another, as its first argument;  attend : makes a record of its name
    """
    record = _Record(example, attend)
    of_record: dict[str, Function] = {name: _pair(record, stage) for name, stage in STAGES.items()}
    of_record |= {name: _row(record, stage) for name, stage in ROWS.items()}
    of_record |= {name: _number(record, name) for name in VECTORS}
    of_record |= {plural: _numbers(record, name) for name, plural in VECTORS.items()}
    of_record |= {name: _cell(record, name) for name in ("w_q", "w_k", "w_v", "w_o")}
    return {**of_record, **_sizes(record), **_NUMBERS, **_MEASURED}


def tokens_of(record: Trace | Reading) -> list[str]:
    """The tokens of a record by the names that find them again: ``the#2`` for the second."""
    tokens = layers_of(record)[0].read_tokens
    return token_names(tokens)


class _Record:
    """The records that a lesson reads, each made once."""

    def __init__(self, example: str, attend: Attend) -> None:
        self.example = example
        self.attend = attend
        self.made: dict[str, Trace | Reading] = {}

    def split(self, given: Sequence[Any], n: int, layer: int) -> tuple[Trace, list[Any]]:
        """The layer that is meant, by the program's number, and the n arguments behind the name of an example where one is given."""
        made, rest = self.named(given, n)
        return layers_of(made)[layer_place(made, layer)], rest

    def named(self, given: Sequence[Any], n: int) -> tuple[Trace | Reading, list[Any]]:
        """The record that is meant, and the n arguments behind its name."""
        name, rest = (str(given[0]), list(given[1:])) if len(given) == n + 1 else (self.example, list(given))
        if len(rest) != n:
            raise InputError(
                en=f"{n} arguments are needed (before them, the name of another example), got {len(given)}.",
                ko=f"인자 {n}개가 필요한데(그 앞에 다른 예제 이름을 쓸 수 있음) {len(given)}개가 왔습니다.",
            )
        return self.record(name), rest

    def record(self, name: str) -> Trace | Reading:
        if name not in self.made:
            self.made[name] = self.attend(name)
        return self.made[name]


def _pair(record: _Record, stage: str) -> Function:
    def of(*given: Any, head: int = 0, layer: int = 0) -> float:
        trace, (query, key) = record.split(given, 2, layer)
        return float(_stage_row(trace, stage, query, head)[trace.key_index(key)])

    return of


def _row(record: _Record, stage: str) -> Function:
    def of(*given: Any, head: int = 0, layer: int = 0) -> dict[str, float]:
        trace, (query,) = record.split(given, 1, layer)
        return dict(zip(tokens_of(trace), map(float, _stage_row(trace, stage, query, head)), strict=True))

    return of


def _stage_row(trace: Trace, stage: str, query: Any, head: int) -> Any:
    head = position("head", "헤드", head, trace.n_heads)
    return trace.rows(stage, queries=[trace.index(query)], heads=[head])[0, 0]


def _number(record: _Record, name: str) -> Function:
    def of(*given: Any, head: int = 0, layer: int = 0) -> float:
        trace, (token, dimension) = record.split(given, 2, layer)
        row = _vector(trace, name, token, head)
        return float(row[_dimension(trace, dimension, len(row))])

    return of


def _numbers(record: _Record, name: str) -> Function:
    def of(*given: Any, head: int = 0, layer: int = 0) -> dict[str, float]:
        trace, (token,) = record.split(given, 1, layer)
        row = _vector(trace, name, token, head)
        return dict(zip(_named(trace, len(row)), map(float, row), strict=True))

    return of


def _mean(record: _Record) -> Function:
    def of(*given: Any, head: int = 0, layer: int = 0) -> float:
        trace, (key,) = record.split(given, 1, layer)
        at = position("head", "헤드", head, trace.n_heads)
        weights = trace.rows("weights", heads=[at])[0]
        if isinstance(key, str):
            return float(weights[:, trace.key_index(key)].mean())
        return float(np.diagonal(weights, _steps(key, trace)).mean())

    return of


def _steps(steps: Any, trace: Trace) -> int:
    """How many tokens further a key stands, where there is such a key."""
    if isinstance(steps, bool) or not isinstance(steps, int) or not -trace.n_queries < steps < trace.n_keys:
        raise InputError(
            en=f"a key is a token, or a number of steps such as -1 for the token before, got {steps!r}.",
            ko=f"키는 토큰이나 걸음 수(바로 앞 토큰은 -1)로 쓰는데 {steps!r}이(가) 왔습니다.",
        )
    return steps


def _allowed(record: _Record) -> Function:
    def of(*given: Any, layer: int = 0) -> int:
        trace, _ = record.split(given, 0, layer)
        return int(np.count_nonzero(trace.rows("allowed", heads=[0])))

    return of


def _vector(trace: Trace, name: str, token: Any, head: int) -> Any:
    """The numbers of a token: of its embedding, query, key, value or output."""
    head = position("head", "헤드", head, trace.n_heads)
    shared = head * trace.n_kv_heads // trace.n_heads
    rows: dict[str, Callable[[], Any]] = {
        "x": lambda: _kept(trace.x, "x")[trace.index(token)],
        "query": lambda: trace.q[head, trace.index(token)],
        "key": lambda: trace.k[shared, trace.key_index(token)],
        "value": lambda: trace.v[shared, trace.key_index(token)],
        "output": lambda: trace.rows("output", queries=[trace.index(token)])[0],
    }
    return rows[name]()


def _cell(record: _Record, name: str) -> Function:
    def of(*given: Any, layer: int = 0) -> float:
        trace, (row, column) = record.split(given, 2, layer)
        matrix = _kept(getattr(trace.heads, name, None), name)
        n_rows, n_columns = matrix.shape
        return float(matrix[_dimension(trace, row, n_rows), _dimension(trace, column, n_columns)])

    return of


def _sizes(record: _Record) -> dict[str, Function]:
    def first(given: Sequence[Any]) -> Trace:
        return layers_of(record.named(given, 0)[0])[0]

    return {
        "n_tokens": lambda *given: first(given).n_tokens,
        "d_k": lambda *given: first(given).d_head,
        "n_heads": lambda *given: first(given).n_heads,
        "n_layers": lambda *given: len(layers_of(record.named(given, 0)[0])),
        "n_scores": _allowed(record),
        "mean_weight": _mean(record),
    }


def _kept(value: Any, name: str) -> Any:
    if value is None:
        raise InputError(en=f"this record holds no {name}.", ko=f"이 기록에는 {name}이(가) 없습니다.")
    return value


def _dimension(trace: Trace, name: Any, n: int) -> int:
    """A dimension by the name that a person gave it, or by its number from 1."""
    if isinstance(name, str):
        named = _named(trace, n)
        if name not in named:
            raise unknown_name("dimension", "차원", name, named)
        return named.index(name)
    if isinstance(name, bool) or not isinstance(name, int) or not 1 <= name <= n:
        raise InputError(
            en=f"a dimension is a name or a number from 1 to {n}, got {name!r}.",
            ko=f"차원은 이름이나 1부터 {n}까지의 번호인데 {name!r}이(가) 왔습니다.",
        )
    return name - 1


def _named(trace: Trace, n: int) -> list[str]:
    """What the dimensions are called: by a person, where the names fit, else by number."""
    named = trace.dimensions
    return list(named) if named is not None and len(named) == n else [str(at + 1) for at in range(n)]


# of numbers ---------------------------------------------------------------------------------------


def softmax(row: Sequence[float]) -> list[float]:
    """Shares of 1 that keep the order: e to each number, divided by their sum."""
    powers = np.exp(np.asarray(row, dtype=float) - max(row))
    return [float(power) for power in powers / powers.sum()]


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    """The sum of the products, pair by pair."""
    return sum(one * other for one, other in zip(a, b, strict=True))


def argmax(row: Mapping[str, float] | Sequence[float]) -> str | int:
    """The token with the largest number; of a list, its place from 1."""
    if isinstance(row, Mapping):
        return max(row, key=lambda token: row[token])
    return 1 + max(range(len(row)), key=lambda at: row[at])


def rank(row: Mapping[str, float], token: str) -> int:
    """The place of a token, 1 for the largest."""
    if token not in row:
        raise unknown_name("token", "토큰", token, row)
    return 1 + sum(other > row[token] for other in row.values())


def _listed(what: Function) -> Function:
    """A function of several numbers, or of one list or row of them."""

    def of(*given: Any) -> Any:
        values = given[0] if len(given) == 1 and isinstance(given[0], list | Mapping) else given
        return what(list(values.values()) if isinstance(values, Mapping) else list(values))

    return of


_NUMBERS: dict[str, Function] = {
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "abs": abs,
    "round": lambda value, digits=0: round(value, position("digits", "자리", digits, 16)),
    "min": _listed(min),
    "max": _listed(max),
    "sum": _listed(sum),
    "len": len,
    "softmax": softmax,
    "dot": dot,
    "argmax": argmax,
    "rank": rank,
}


# measured, counted --------------------------------------------------------------------------------


def variance_of_scores(d: int, scaled: bool = False) -> float:
    """The variance of q · k for random q and k of a width, as ``jumok.scaling`` measures it."""
    return _spread(d, scaled).variance


def largest_weight(d: int, scaled: bool = False) -> float:
    """The largest of 16 weights that softmax makes of such scores: the mean over all rows that were measured."""
    return _spread(d, scaled).largest_weight


def _spread(d: int, scaled: bool) -> Spread:
    _refuse_beyond("d", d, MOST_WIDTH)
    row = _measured(d)
    return row.scaled if scaled else row.unscaled


@cache  # a lesson shows several numbers of one measurement
def _measured(d: int) -> ScalingRow:
    (row,) = scaling(d).rows
    return row


def cost(n: int) -> int:
    """How many scores a head computes for n tokens: every query with every key."""
    _refuse_beyond("n", n, MOST_TOKENS)
    return n * n


def parameters(d_model: int, heads: int) -> int:
    """How many numbers W_Q, W_K, W_V and W_O hold, where each head is d_model ÷ heads wide."""
    _refuse_beyond("d_model", d_model, 10**6)
    _refuse_beyond("heads", heads, d_model)
    width = d_model // heads
    return 4 * d_model * heads * width


def _refuse_beyond(name: str, value: Any, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InputError(
            en=f"{name} is a whole number from 1 to {most:,}, got {value!r}.",
            ko=f"{name}은(는) 1부터 {most:,}까지의 정수인데 {value!r}이(가) 왔습니다.",
        )


_MEASURED: dict[str, Function] = {
    "variance_of_scores": variance_of_scores,
    "largest_weight": largest_weight,
    "cost": cost,
    "parameters": parameters,
}
