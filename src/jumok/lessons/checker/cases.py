"""The inputs on which a learner's function is tried: small, and chosen so that mistakes separate.

Sizes that all differ, and sizes that are all equal (with q ≠ k); scores that are exactly 0; uneven masks; scaled scores
up to ±10 000; rows in which nothing is allowed; numbers of half and single precision. Drawn from fixed seeds.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .layouts import Layout
from .pipeline import Path, Problem

__all__ = ["CASES", "HEADS", "OF_HEADS", "SIZES", "Case", "case", "cases", "problem", "widths"]


@dataclass(frozen=True)
class Case:
    """One input.

    size : "different", "square" (as many queries as keys), "equal", "equal-5" or "tiny"
    values : "random", "zeros" (small whole numbers, many scores exactly 0), "extreme" (scaled scores up to ±10 000)
    empty : True where some row may read nothing;  change : "permuted" keys, another "future", or ""
    """

    name: str
    size: str
    values: str = "random"
    dtype: str = "float64"
    empty: bool = False
    change: str = ""

    @property
    def is_ordinary(self) -> bool:
        """True where every right way of writing gives the same numbers."""
        return self.values != "extreme" and not self.empty and self.dtype != "float16" and not self.change


CASES = (
    Case("tiny", "tiny"),
    Case("different", "different"),
    Case("square", "square"),
    Case("equal", "equal"),
    Case("equal-5", "equal-5"),
    Case("zeros", "square", "zeros"),
    Case("empty", "square", empty=True),
    Case("extreme", "square", "extreme"),
    Case("extreme-5", "equal-5", "extreme"),
    Case("single", "different", dtype="float32"),
    Case("extreme-single", "square", "extreme", dtype="float32"),
    Case("half", "square", dtype="float16"),
    Case("permuted", "square", change="permuted"),
    Case("future", "square", change="future"),
)


def case(name: str) -> Case:
    """The case of a name."""
    return next(one for one in CASES if one.name == name)


def cases(layout: Layout) -> list[Case]:
    """The cases that say something about a way of calling."""
    made = []
    for case in CASES:
        if case.empty and not layout.mask:
            continue
        if case.change == "future" and not layout.causal:
            continue
        fixed = layout.causal or layout.sources == "self" or layout.mask == "lengths" or layout.form in _TABLES
        if case.change == "permuted" and fixed:
            continue
        made.append(case)
    return made


_TABLES = ("softmax", "scale", "scale-qk")
HEADS = {"tiny": 2, "different": 3, "square": 2, "equal": 4, "equal-5": 5}
SIZES: dict[str, dict[str, int]] = {
    "tiny": {"b": 1, "h": 1, "n": 3, "m": 3, "d_k": 2, "d_v": 2, "d_model": 2},
    "different": {"b": 2, "h": 3, "n": 5, "m": 7, "d_k": 4, "d_v": 6, "d_model": 8},
    "square": {"b": 3, "h": 2, "n": 6, "m": 6, "d_k": 5, "d_v": 4, "d_model": 7},
    "equal": {"b": 4, "h": 4, "n": 4, "m": 4, "d_k": 4, "d_v": 4, "d_model": 4},
    "equal-5": {"b": 5, "h": 5, "n": 5, "m": 5, "d_k": 5, "d_v": 5, "d_model": 5},
}
OF_HEADS: dict[str, dict[str, int]] = {  # d_k and d_v of all heads together
    "tiny": {"n": 3, "m": 3, "d_k": 4, "d_v": 4, "d_model": 4},
    "different": {"d_k": 12, "d_v": 12, "d_model": 12},
    "square": {"d_k": 6, "d_v": 6, "d_model": 6},
    "equal": {"d_k": 16, "d_v": 16, "d_model": 16},
    "equal-5": {"d_k": 25, "d_v": 25, "d_model": 25},
}


def widths(layout: Layout, size: str) -> dict[str, Any]:
    """The sizes of the axes, and which projections and biases there are."""
    made: dict[str, Any] = dict(SIZES[size])
    if layout.split:
        made |= OF_HEADS[size]
        made["n_heads"] = HEADS[size]
    else:
        made["n_heads"] = 0
    if layout.causal or layout.sources == "self":
        made["m"] = made["n"]
    roles = layout.roles
    made["biases"] = sorted(role[-1] for role in roles if role.startswith("b_"))
    made["with_o"] = "w_o" in roles
    made["d_out"] = made["d_model"]
    return made


def problem(layout: Layout, case: Case, sizes: Mapping[str, Any]) -> Problem:
    """The arrays of a case, float64, in the checker's own form."""
    sizes = {**sizes}
    rng = np.random.default_rng(zlib.crc32(f"{case.size} {case.values}42".encode()))
    lead = () if layout.rank == 2 else (sizes["b"],) if layout.rank == 3 else (sizes["b"], sizes["h"])
    n, m = sizes["n"], sizes["m"]
    draw = _DRAW[case.values if case.size != "tiny" or case.values != "random" else "tiny"]
    if layout.form in ("raw", *_TABLES):
        xq, xk, xv = (draw(rng, (*lead, *shape)) for shape in ((n, sizes["d_k"]), (m, sizes["d_k"]), (m, sizes["d_v"])))
        xq = (1.0 if case.values == "zeros" else 1.3) * xq
        projections: dict[str, Any] = {}
    else:
        xq = draw(rng, (*lead, n, sizes["d_model"]))
        d_context = sizes.get("d_context", sizes["d_model"])
        xk = xq if layout.sources == "self" else draw(rng, (*lead, m, d_context))
        xv = xk if layout.sources != "three" else draw(rng, (*lead, m, d_context))
        projections = _projections(rng, sizes, case.values)
    given = _given(rng, layout, case, lead, n, m) if layout.mask else None
    bias = None
    if (
        given is not None and layout.mask_kind == "added"
    ):  # some shown keys get a number too: who only asks whether it is 0 fails
        bias = np.where(rng.random(given.shape) < 0.5, 0.0, -0.7)
        bias = bias[..., None, :] if layout.mask in ("keys", "lengths") else bias
        bias = bias[..., None, :, :] if sizes["n_heads"] and bias.ndim > 2 else bias
    made = Problem(
        xq, xk, xv, projections, sizes["n_heads"], given, layout.mask in ("keys", "lengths"), bias, layout.causal,
        sizes=_named(layout, sizes), ends=_ENDS.get(layout.form, "output"),
    )  # fmt: skip
    return _finished(made, layout, case)


_ENDS = {"softmax": "weights", "scale": "scaled", "scale-qk": "scaled"}


def _finished(made: Problem, layout: Layout, case: Case) -> Problem:
    """Stretched, rounded and changed, as the case says."""
    changed: dict[str, Any] = {"dtype": case.dtype if case.dtype != "float16" else "float32"}
    if case.values == "extreme":
        factor = _stretch(made)
        if made.projections:
            changed["projections"] = {**made.projections, **_stretched(made.projections, factor)}
        else:
            changed["xq"] = made.xq * factor
    made = _replaced(made, changed)
    if case.dtype == "float16":
        made = _rounded(made)
    if case.change == "permuted":
        made = _permuted(made)
    if case.change == "future":
        made = _other_future(made)
    if layout.form in ("softmax", "scale"):
        path = Path(_replaced(made, {"ends": "scaled"}))
        chosen = {"amount": "sqrt" if layout.form == "softmax" else "none"}
        table = path.predicted(chosen).returned
        made = _replaced(made, {"table": table})
    return made


def _stretched(projections: Mapping[str, Any], factor: float) -> dict[str, Any]:
    """W_Q and W_K, each by a power of two: so the scores are large also where one of them stands for both."""
    of_q = 2.0 ** (math.log2(factor) // 2)
    made = {}
    for role, by in (("q", of_q), ("k", factor / of_q)):
        w, b = projections[role]
        made[role] = (w * by, None if b is None else b * by)
    return made


def _replaced(made: Problem, changed: dict[str, Any]) -> Problem:
    return replace(made, **changed)


def _named(layout: Layout, sizes: Mapping[str, Any]) -> dict[str, int]:
    """The axes whose size a wrong scale may take; d_head is the right one."""
    n_heads = sizes["n_heads"] or 1
    names = {"n": sizes["n"], "m": sizes["m"], "d_v": sizes["d_v"] // n_heads}
    if layout.form not in ("raw", *_TABLES):
        names["d_model"] = sizes["d_model"]
    if n_heads > 1:
        names |= {"h": n_heads, "d_k_all": sizes["d_k"]}
    if layout.rank >= 3:
        names["b"] = sizes["b"]
    if layout.rank == 4:
        names["h"] = sizes["h"]
    names["d_head"] = sizes["d_k"] // n_heads
    return names


_DRAW: dict[str, Any] = {
    "random": lambda rng, shape: rng.standard_normal(shape),
    "zeros": lambda rng, shape: rng.integers(-1, 2, shape).astype(float),
    "extreme": lambda rng, shape: rng.integers(-3, 4, shape).astype(float),
    "tiny": lambda rng, shape: rng.integers(-20, 21, shape) / 10,
}


def _projections(rng: Any, sizes: Mapping[str, Any], values: str) -> dict[str, Any]:
    """(W, b) by role; W spreads its input as wide as itself, so that scores differ."""
    d_model, d_k, d_v = sizes["d_model"], sizes["d_k"], sizes["d_v"]
    d_context = sizes.get("d_context", d_model)
    shapes = {"q": (d_model, d_k), "k": (d_context, d_k), "v": (d_context, d_v), "o": (d_v, sizes["d_out"])}
    made = {}
    for role, shape in shapes.items():
        whole = values in ("zeros", "extreme")
        w = _DRAW[values](rng, shape) if whole else 1.2 * rng.standard_normal(shape) / math.sqrt(shape[0])
        b = (_DRAW[values](rng, shape[1:]) if values == "extreme" else 0.5 * rng.standard_normal(shape[1:])) * (
            values != "zeros"
        )
        if role != "o" or sizes["with_o"]:
            made[role] = (w, b if role in sizes["biases"] else None)
    return made


def _given(rng: Any, layout: Layout, case: Case, lead: tuple[int, ...], n: int, m: int) -> Any:
    """The mask: uneven, something allowed and something hidden in every row; in an empty case rows without any."""
    b = lead[0] if lead else 1
    if layout.mask in ("keys", "lengths"):
        n_kept = 1 + np.arange(b) % max(1, m - 2 - (m > 4))
        order = np.argsort(rng.random((b, m)) if layout.mask == "keys" else np.tile(np.arange(m), (b, 1)), axis=1)
        kept = np.argsort(order, axis=1) < n_kept[:, None] + (m > 4)
        if layout.causal:
            kept[:, 0] = True
            kept[:, -1] = False
        if case.empty:
            kept[0] = False
            kept[1:2] = True
        return kept.reshape(*lead[:1], *(1,) * (len(lead) - 1), m)
    shape = (n, m) if layout.mask == "table" else (b, n, m)
    allowed = rng.random(shape) < (1.0 if case.size == "tiny" else 0.6)
    diagonal = np.arange(n)
    some = rng.integers(0, m, shape[:-1])
    np.put_along_axis(allowed, ((some + 1) % m)[..., None], False, axis=-1)
    np.put_along_axis(allowed, some[..., None], True, axis=-1)
    if layout.causal:
        allowed[..., diagonal, diagonal] = True
    if case.empty:
        allowed[..., 1, :] = False
        allowed[..., 2, :] = True  # who reads the mask the other way round has nothing there
    return allowed.reshape(b, 1, n, m) if layout.rank == 4 and layout.mask != "table" else allowed


def _stretch(made: Problem) -> float:
    """The power of two that brings the largest scaled score near 10 000."""
    scaled = Path(_replaced(made, {"ends": "scaled", "table": None})).predicted({}).returned
    largest = float(np.abs(scaled).max()) if scaled is not None else 1.0
    return float(2.0 ** math.floor(math.log2(1e4 / max(largest, 1e-3))))


def _rounded(made: Problem) -> Problem:
    half = {name: getattr(made, name).astype(np.float16).astype(float) for name in ("xq", "xk", "xv")}
    projections = {
        role: (w.astype(np.float16).astype(float), None if b is None else b.astype(np.float16).astype(float))
        for role, (w, b) in made.projections.items()
    }
    return _replaced(made, {**half, "projections": projections})


def _permuted(made: Problem) -> Problem:
    order = np.random.default_rng(5).permutation(made.xk.shape[-2])
    changed: dict[str, Any] = {"xk": made.xk[..., order, :], "xv": made.xv[..., order, :]}
    if made.given is not None:
        changed["given"] = made.given[..., order]
    if made.bias is not None:
        changed["bias"] = made.bias[..., order]
    return _replaced(made, changed)


def _other_future(made: Problem) -> Problem:
    """The last token is another one."""
    changed: dict[str, Any] = {}
    for name in ("xq", "xk", "xv"):
        array = getattr(made, name).copy()
        array[..., -1, :] = 1.5 - array[..., -1, :]
        changed[name] = array
    return _replaced(made, changed)
