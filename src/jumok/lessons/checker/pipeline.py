"""What attention with a mistake in it gives: the path in NumPy float64, every stage of which can be taken wrongly.

A hypothesis names an option for some stages; every other stage is as it should be. Stages that several hypotheses
share are computed once, so that thousands of them cost little.

>>> x = np.array([[1.0, 0.0], [0.0, 2.0]])
>>> Path(Problem(x, x, x)).predicted({"amount": "none"}).weights.round(2).tolist()
[[0.73, 0.27], [0.02, 0.98]]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["DEFAULTS", "Hypothesis", "Path", "Predicted", "Problem"]

Floats = npt.NDArray[Any]
Hypothesis = Mapping[str, Any]

DEFAULTS: dict[str, Any] = {
    "roles": "qkv",  # whose matrix makes q, k and v
    "values": "v",  # what is mixed
    "split": "transpose",  # how the width is cut into heads; "one", "one-narrow": not at all
    "scores": "qk",
    "amount": "sqrt",  # what the scores are divided by
    "where": "before",  # or after the softmax
    "which": "given",  # how the mask that was given is read
    "triangle": "causal",
    "how": "-inf",  # how hidden keys are kept out
    "zeros": "kept",
    "axis": "keys",  # what the softmax runs over, or (what the sum runs over, what the maximum taken off runs over)
    "form": "once",
    "numerics": "stable",
    "empty": "nan",  # what a row gives in which nothing is allowed
    "mix": "wv",
    "join": "transpose",
    "returned": "output",
}


@dataclass(frozen=True, eq=False)
class Problem:
    """One input of the learner's function, in one form whatever theirs is.

    xq, xk, xv : (…, token, d) q, k and v themselves, or what the projections make them from
    projections : of "q", "k", "v", "o", each (W, b): W (d_in, d_out), b (d_out,) or None; empty where there are none
    n_heads : how many heads the width is cut into; 0 where it is not cut
    given : (…, query, key) bool, or (…, key) where ``by_key``; True where the query may read the key; None without mask
    bias : what a mask of numbers adds where it does not hide, or None
    causal : True where the function itself hides the future
    table : scores that are given, for a softmax or a scaling alone
    sizes : what the axes are, by name, for scales that take the wrong one
    ends : "output", "weights" or "scaled": where the function stops
    dtype : the number type of the learner's arrays: e to the power ends earlier in a smaller one
    """

    xq: Floats
    xk: Floats
    xv: Floats
    projections: Mapping[str, tuple[Floats, Floats | None]] = field(default_factory=dict)
    n_heads: int = 0
    given: npt.NDArray[np.bool_] | None = None
    by_key: bool = False
    bias: Floats | None = None
    causal: bool = False
    table: Floats | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    ends: str = "output"
    dtype: str = "float64"


@dataclass(frozen=True, eq=False)
class Predicted:
    """What a hypothesis gives: what is returned, and the weights where they exist; the error where shapes do not fit."""

    returned: Floats | None
    weights: Floats | None
    error: str = ""


class Path:
    """The stages of one problem under any hypothesis; each is computed once for all hypotheses that agree up to it."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._memo: dict[Any, Any] = {}

    def predicted(self, hypothesis: Hypothesis) -> Predicted:
        """What the function would return under the hypothesis."""
        chosen = {**DEFAULTS, **hypothesis}
        with np.errstate(all="ignore"):
            try:
                return self._predicted(chosen)
            except (ValueError, IndexError) as error:  # the shapes do not fit: so too for the learner
                return Predicted(None, None, str(error) or "shapes")

    def _predicted(self, chosen: dict[str, Any]) -> Predicted:
        if self.problem.ends == "scaled":
            return Predicted(self.scaled(chosen), None)
        weights = self.weights(chosen)
        if self.problem.ends == "weights":
            return Predicted(weights, weights)
        if chosen["returned"] == "weights":
            self.output(chosen)  # its shapes must fit even so
            return Predicted(weights, weights)
        return Predicted(self.output(chosen), weights)

    def _once(self, name: str, chosen: dict[str, Any], stages: tuple[str, ...], make: Callable[[], Any]) -> Any:
        key = (name, *(chosen[stage] for stage in stages))
        if key not in self._memo:
            try:
                self._memo[key] = make()
            except (ValueError, IndexError) as error:
                self._memo[key] = error
        if isinstance(self._memo[key], Exception):
            raise self._memo[key]
        return self._memo[key]

    # q, k, v ------------------------------------------------------------------------------------

    def qkv(self, chosen: dict[str, Any]) -> tuple[Floats, Floats, Floats]:
        """(…, token, d) each, cut into heads where there are any."""
        return self._once("qkv", chosen, _QKV, lambda: self._qkv(chosen))  # type: ignore[no-any-return]

    def _qkv(self, chosen: dict[str, Any]) -> tuple[Floats, Floats, Floats]:
        problem = self.problem
        sources = (problem.xq, problem.xk, problem.xv)
        made = [self._projected(x, role) for x, role in zip(sources, chosen["roles"], strict=True)]
        if n_heads := self._n_heads(chosen):
            made = [_split(array, n_heads, chosen["split"]) for array in made]
        return made[0], made[1], made["qkv".index(chosen["values"])]

    def _n_heads(self, chosen: dict[str, Any]) -> int:
        """How many heads the width is cut into under the hypothesis; 0 where it stays whole."""
        return 0 if chosen["split"].startswith("one") else self.problem.n_heads

    def _projected(self, x: Floats, role: str) -> Floats:
        if not self.problem.projections:
            return x
        w, b = self.problem.projections[role]
        made = x @ w
        return made if b is None else made + b

    # scores -------------------------------------------------------------------------------------

    def scores(self, chosen: dict[str, Any]) -> Floats:
        """(…, query, key)."""
        return self._once("scores", chosen, _SCORES, lambda: self._scores(chosen))  # type: ignore[no-any-return]

    def _scores(self, chosen: dict[str, Any]) -> Floats:
        if self.problem.table is not None:
            return self.problem.table
        q, k, _ = self.qkv(chosen)
        if chosen["scores"] == "no-transpose":
            return q @ k
        if chosen["scores"] == "reshaped":
            return q @ k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])
        return k @ np.swapaxes(q, -1, -2) if chosen["scores"] == "kq" else q @ np.swapaxes(k, -1, -2)

    def factor(self, chosen: dict[str, Any]) -> float:
        """What the scores, or the weights, are multiplied by."""
        amount, d_k = chosen["amount"], self.problem.sizes.get("d_head")
        if d_k is None or chosen["split"] == "one":  # right for what it is: a head as wide as all of them
            d_k = self.qkv(chosen)[0].shape[-1]
        if isinstance(amount, tuple):
            power, name = amount
            return float(float(self.problem.sizes[name]) ** power)
        known = {"sqrt": d_k**-0.5, "none": 1.0, "dk": 1 / d_k, "times": math.sqrt(d_k), "times-dk": float(d_k)}
        return float(known[amount])

    def scaled(self, chosen: dict[str, Any]) -> Floats:
        """(…, query, key) scores × scale."""
        if chosen["where"] == "after" or (self.problem.table is not None and self.problem.ends == "weights"):
            return self.scores(chosen)
        return self._once("scaled", chosen, (*_SCORES, "amount"), lambda: self.scores(chosen) * self.factor(chosen))  # type: ignore[no-any-return]

    # mask ---------------------------------------------------------------------------------------

    def allowed(self, chosen: dict[str, Any]) -> npt.NDArray[np.bool_] | None:
        """(…, query, key) who may read whom under the hypothesis, or None where all may."""
        return self._once("allowed", chosen, (*_SCORES, "which", "triangle", "zeros"), lambda: self._allowed(chosen))  # type: ignore[no-any-return]

    def _allowed(self, chosen: dict[str, Any]) -> npt.NDArray[np.bool_] | None:
        scores = self.scores(chosen)
        tables = [self._given(chosen), self._triangle(chosen["triangle"], scores)]
        if chosen["zeros"] == "masked":
            tables.append(scores != 0)
        asked = [table for table in tables if table is not None]
        if not asked:
            return None
        together = asked[0]
        for table in asked[1:]:
            together = together & table
        return np.broadcast_to(together, scores.shape)

    def _given(self, chosen: dict[str, Any]) -> npt.NDArray[np.bool_] | None:
        given, which = self.problem.given, chosen["which"]
        if given is None or which == "ignored":
            return None
        table = given[..., None, :] if self.problem.by_key else given
        if which == "query":
            table = np.swapaxes(table, -1, -2)
        if self._n_heads(chosen) and table.ndim == self.problem.xq.ndim and table.ndim > 2:
            table = table[..., None, :, :]
        return ~table if which == "inverted" else table

    def _triangle(self, triangle: str, scores: Floats) -> npt.NDArray[np.bool_] | None:
        if not self.problem.causal or triangle == "ignored":
            return None
        i, j = np.arange(scores.shape[-2])[:, None], np.arange(scores.shape[-1])[None, :]
        return {"causal": j <= i, "upper": j >= i, "strict-upper": j > i, "past": j < i, "ahead": j <= i + 1}[triangle]

    # softmax ------------------------------------------------------------------------------------

    def weights(self, chosen: dict[str, Any]) -> Floats:
        """(…, query, key)."""
        return self._once("weights", chosen, _WEIGHTS, lambda: self._weights(chosen))  # type: ignore[no-any-return]

    def _weights(self, chosen: dict[str, Any]) -> Floats:
        scaled, allowed, how = self.scaled(chosen), self.allowed(chosen), chosen["how"]
        if self.problem.bias is not None and chosen["which"] != "ignored":
            bias, has_heads = self.problem.bias, self._n_heads(chosen) == self.problem.n_heads
            scaled = scaled + (bias if has_heads or bias.ndim < 3 else bias[..., 0, :, :])
        over, less = chosen["axis"] if isinstance(chosen["axis"], tuple) else (chosen["axis"], chosen["axis"])
        axis, top = (_axis(name, scaled.ndim, self._n_heads(chosen)) for name in (over, less))
        late = how in ("after-softmax", "after-renormalised", "after-renormalised-epsilon")
        if isinstance(how, tuple) and allowed is not None:
            scaled, allowed = _finite(scaled, allowed, how, self.factor(chosen)), None
        chosen = {**chosen, "dtype": self.problem.dtype, "top": top}
        weights = _FORMS[chosen["form"]](scaled, None if late else allowed, axis, chosen)
        if late and allowed is not None:
            weights = np.where(allowed, weights, 0)
            if how != "after-softmax":
                total = weights.sum(axis=-1, keepdims=True) + (1e-9 if how.endswith("epsilon") else 0.0)
                bad = ~allowed.any(axis=-1, keepdims=True)
                weights = np.where(bad, _EMPTY[chosen["empty"]](scaled, axis), weights / total)
        return weights * self.factor(chosen) if chosen["where"] == "after" else weights

    # output -------------------------------------------------------------------------------------

    def output(self, chosen: dict[str, Any]) -> Floats:
        """(…, query, d) the weighted values, joined."""
        weights, v = self.weights(chosen), self.qkv(chosen)[2]
        mixed = (np.swapaxes(weights, -1, -2) if chosen["mix"] == "transposed" else weights) @ v
        if self._n_heads(chosen):
            mixed = _joined(mixed, _JOINS.get(chosen["split"], chosen["join"]))
        return self._projected(mixed, "o") if "o" in self.problem.projections else mixed


_QKV = ("roles", "values", "split")
_SCORES = (*_QKV, "scores")
_WEIGHTS = (
    *_SCORES, "amount", "where", "which", "triangle", "zeros", "how", "axis", "form", "numerics", "empty",
)  # fmt: skip


def _split(array: Floats, n_heads: int, how: str) -> Floats:
    *lead, n, width = array.shape
    if how in ("reshape", "reshape-both"):
        return array.reshape(*lead, n_heads, n, width // n_heads)
    if how == "interleaved":
        return np.moveaxis(array.reshape(*lead, n, width // n_heads, n_heads), -1, -3)
    return np.swapaxes(array.reshape(*lead, n, n_heads, width // n_heads), -2, -3)


def _joined(mixed: Floats, how: str) -> Floats:
    *lead, n_heads, n, width = mixed.shape
    if how == "reshape":
        return mixed.reshape(*lead, n, n_heads * width)
    if how == "interleaved":
        return np.moveaxis(mixed, -3, -1).reshape(*lead, n, n_heads * width)
    return np.swapaxes(mixed, -2, -3).reshape(*lead, n, n_heads * width)


_JOINS = {"interleaved": "interleaved", "reshape-both": "reshape"}  # ways of cutting that are joined the same way


def _axis(name: str, ndim: int, n_heads: int) -> tuple[int, ...]:
    """The axes that the softmax runs over. Errors: ``IndexError`` where there is no such axis."""
    at = {"keys": -1, "queries": -2, "heads": -3, "batch": -(4 if n_heads else ndim)}
    if name == "all":
        return tuple(range(ndim))
    if -at[name] > ndim:
        raise IndexError(f"no axis of {name}")
    return (at[name],)


def _finite(scaled: Floats, allowed: npt.NDArray[np.bool_], how: tuple[Any, ...], factor: float) -> Floats:
    """Scores in which a number, not -infinity, keeps hidden keys out: put in their place, or added."""
    kind, value, when = how
    value = value * factor if when == "before" else value
    return np.where(allowed, scaled, scaled + value if kind == "added" else value)


# the softmax and what is written in its place ------------------------------------------------------


def _softmax(scaled: Floats, allowed: npt.NDArray[np.bool_] | None, axis: tuple[int, ...], chosen: Any) -> Floats:
    shown = scaled if allowed is None else np.where(allowed, scaled, -np.inf)
    top = _TOPS[chosen["numerics"]](shown, chosen["top"])
    exps = np.exp((shown - top).astype(chosen["dtype"])).astype(float)
    total = exps.sum(axis=axis, keepdims=True)
    made = exps / (total + 1e-9) if chosen["numerics"] == "naive-epsilon" else exps / total
    if chosen["numerics"] == "naive-zeroed":
        made = np.nan_to_num(made, nan=0.0, posinf=0.0)
    if allowed is None:
        return np.asarray(made)
    nothing = ~allowed.any(axis=axis, keepdims=True)
    return np.asarray(np.where(nothing, _EMPTY[chosen["empty"]](scaled, axis), made) if nothing.any() else made)


def _top(shown: Floats, axis: tuple[int, ...]) -> Floats:
    top = shown.max(axis=axis, keepdims=True)
    return np.where(np.isfinite(top), top, 0)


_TOPS: dict[str, Callable[[Floats, tuple[int, ...]], Any]] = {
    "stable": _top,
    "naive": lambda _shown, _axis: 0.0,
    "naive-epsilon": lambda _shown, _axis: 0.0,
    "naive-zeroed": lambda _shown, _axis: 0.0,
    "global": lambda shown, _axis: shown.max(),
}


def _plain(scaled: Floats, axis: tuple[int, ...]) -> Floats:
    exps = np.exp(scaled - scaled.max(axis=axis, keepdims=True))
    return np.asarray(exps / exps.sum(axis=axis, keepdims=True))


_EMPTY: dict[str, Callable[[Floats, tuple[int, ...]], Any]] = {
    "nan": lambda _scaled, _axis: np.nan,
    "other": lambda _scaled, _axis: np.nan,  # anything that is a number: it is not looked at
    "zero": lambda _scaled, _axis: 0.0,
    "uniform": lambda scaled, axis: 1 / math.prod(scaled.shape[one] for one in axis),
    "scores": _plain,
}


def _twice(scaled: Floats, allowed: npt.NDArray[np.bool_] | None, axis: tuple[int, ...], chosen: Any) -> Floats:
    return _softmax(_softmax(scaled, allowed, axis, chosen), None, axis, chosen)


def _twice_masked(scaled: Floats, allowed: npt.NDArray[np.bool_] | None, axis: tuple[int, ...], chosen: Any) -> Floats:
    return _softmax(_softmax(scaled, allowed, axis, chosen), allowed, axis, chosen)


def _without(make: Callable[[Floats, tuple[int, ...]], Floats], hidden: float) -> Callable[..., Floats]:
    """No softmax: the scores, or something else made of them, with hidden keys at a value."""

    def weights(scaled: Floats, allowed: npt.NDArray[np.bool_] | None, axis: tuple[int, ...], _chosen: Any) -> Floats:
        return make(scaled if allowed is None else np.where(allowed, scaled, hidden), axis)

    return weights


def _shares(array: Floats, axis: tuple[int, ...]) -> Floats:
    return np.asarray(array / array.sum(axis=axis, keepdims=True))


def _exps(scaled: Floats, axis: tuple[int, ...]) -> Floats:
    return np.asarray(np.exp(scaled - _top(scaled, axis)))


def _logs(scaled: Floats, axis: tuple[int, ...]) -> Floats:
    less = scaled - _top(scaled, axis)
    return np.asarray(less - np.log(np.exp(less).sum(axis=axis, keepdims=True)))


_FORMS: dict[str, Callable[..., Floats]] = {
    "once": _softmax,
    "twice": _twice,
    "twice-masked": _twice_masked,
    "scores": _without(lambda scaled, _axis: scaled, -np.inf),
    "scores-zeroed": _without(lambda scaled, _axis: scaled, 0.0),
    "shares": _without(_shares, 0.0),
    "shares-inf": _without(_shares, -np.inf),
    "shares-absolute": _without(lambda scaled, axis: scaled / np.abs(scaled).sum(axis=axis, keepdims=True), 0.0),
    "shares-positive": _without(lambda scaled, axis: _shares(np.maximum(scaled, 0), axis), 0.0),
    "squares": _without(lambda scaled, axis: _shares(scaled**2, axis), 0.0),
    "exp": _without(lambda scaled, _axis: np.exp(scaled), -np.inf),
    "exp-top": _without(_exps, -np.inf),
    "log": _without(_logs, -np.inf),
    "sigmoid": _without(lambda scaled, _axis: 1 / (1 + np.exp(-scaled)), -np.inf),
}
