"""A wanted output → the W_V (and W_O) that give it, by least squares, with what is left over and why.

The output of a token is its mix of embeddings, weights · x, times W_V (and W_O). The mix is given; so this is an ordinary
least-squares problem, and the W_V that changes least from where it started is unique.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InputError, ShapeError
from ...tokens import Token, token_name
from ...trace import Floats, Trace, frozen
from .problem import NOTHING, without_rounding
from .reasons import SAME, Lift, Reason, dependencies, equal

__all__ = ["ValueDesign", "design_values"]

EXACT = 1e-7
ROUNDS = 500


@dataclass(frozen=True, eq=False)
class ValueDesign:
    """W_V (and W_O) that were made for a wanted output, what they reach, and why no more.

    w_v : (d_model, heads · d_value);  w_o : (heads · d_value, d_out), or None
    wanted : (query, d_out) NaN in rows left free;  reached : (query, d_out)
    residual : (query,) ‖wanted − reached‖; NaN in rows left free
    reasons : why rows are not reached; () where all are
    """

    w_v: Floats
    w_o: Floats | None
    wanted: Floats
    reached: Floats
    reasons: tuple[Reason, ...]

    @property
    def residual(self) -> Floats:
        """(query,) how far each output is from the wanted one; NaN in rows left free."""
        return np.asarray(np.linalg.norm(self.wanted - self.reached, axis=1))

    @property
    def exact(self) -> bool:
        """True where every wanted number is reached to 1e-7 of the largest one."""
        return float(np.nanmax(np.abs(self.wanted - self.reached))) <= EXACT * max(
            1.0, float(np.nanmax(np.abs(self.wanted)))
        )


def design_values(
    trace: Any, wanted: Any, w_o: Any = None, d_value: int | None = None, near: Any = None
) -> ValueDesign:
    """The W_V (and W_O) whose output is nearest to a wanted one, least squares over the wanted rows.

    trace : a Trace with x, or a Design of one sentence: its weights are kept
    wanted : (query, d_out) the outputs, NaN in rows left free
    w_o : (heads · d_value, d_out) fixed; "free" to design it too; None for none (d_out = heads · d_value)
    d_value : the width of values where w_o is "free"; None for what is surely enough
    near : (d_model, heads · d_value) what W_V changes least from (Frobenius); None: identity where that is square, else
        zero. Not used where w_o is "free": then the least W_V W_O is taken, and split evenly

    >>> import jumok
    >>> student = jumok.attend(jumok.load("student"))
    >>> design_values(student, student.output).w_v.round(6).diagonal().tolist()
    [1.0, 1.0, 3.0, 2.0]

    Errors: ``InputError`` where the record has no x or nothing is wanted, ``ShapeError`` for sizes that disagree.
    """
    record = _record(trace)
    target = _target(wanted, record)
    rows = np.flatnonzero(~np.isnan(target).any(axis=1))
    mixes = np.asarray(
        [record.rows("weights", heads=[h])[0] @ record.x for h in range(record.n_heads)], dtype=np.float64
    )
    out: Floats | None
    if isinstance(w_o, str):
        w_v, out, limited = _both(mixes[:, rows], target[rows], w_o, d_value)
    else:
        out, limited = _given(w_o, target.shape[1], record.n_heads), False
        w_v = _alone(mixes[:, rows], target[rows], out, near)
    reached, tidy = _output(mixes, w_v, out), without_rounding(w_v)
    if np.abs(_output(mixes, tidy, out) - reached).max() <= NOTHING * np.abs(reached).max():
        w_v = tidy
    made = ValueDesign(
        frozen("w_v", w_v, ndim=2),
        None if out is None else frozen("w_o", out, ndim=2),
        target,
        reached,
        (),
    )
    if made.exact:
        return made
    found = tuple(
        _reasons(record, mixes, target, rows, None if isinstance(w_o, str) else out, w_v if limited else None)
    )
    return ValueDesign(made.w_v, made.w_o, made.wanted, made.reached, found)


def _output(mixes: Floats, w_v: Floats, w_o: Floats | None) -> Floats:
    heads = np.split(w_v, len(mixes), axis=1)
    joined = np.concatenate([mix @ one for mix, one in zip(mixes, heads, strict=True)], axis=1)
    return joined if w_o is None else joined @ w_o


def _alone(mixes: Floats, target: Floats, w_o: Floats | None, near: Any) -> Floats:
    """W_V where W_O is given or there is none: min ‖near change‖ among the nearest, head by head side by side."""
    n_heads, _, d_model = mixes.shape
    width = (target.shape[1] if w_o is None else w_o.shape[0]) // n_heads
    start = _near(near, (d_model, n_heads * width))
    left = target - _output(mixes, start, w_o)
    if w_o is None:
        parts = np.split(left, n_heads, axis=1)
        change = [np.linalg.lstsq(mix, part, rcond=1e-12)[0] for mix, part in zip(mixes, parts, strict=True)]
        return np.asarray(start + np.concatenate(change, axis=1))
    if n_heads == 1:
        solved = np.linalg.lstsq(mixes[0], left, rcond=1e-12)[0]
        return np.asarray(start + np.linalg.lstsq(w_o.T, solved.T, rcond=1e-12)[0].T)
    # Σ mix_h · V_h · O_h = left is one system in all V_h: (mix_h ⊗ O_hᵀ) side by side
    outs = np.split(w_o, n_heads)
    system = np.concatenate([np.kron(mix, out.T) for mix, out in zip(mixes, outs, strict=True)], axis=1)
    solved = np.linalg.lstsq(system, left.ravel(), rcond=1e-12)[0].reshape(n_heads, d_model, width)
    return np.asarray(start + np.concatenate(list(solved), axis=1))


def _both(mixes: Floats, target: Floats, w_o: str, d_value: int | None) -> tuple[Floats, Floats, bool]:
    """W_V and W_O together: the least W_V W_O of each head, split evenly; refined by turns where it is too narrow."""
    if w_o != "free":
        raise InputError(
            en=f"w_o expects a matrix, 'free' or None, got {w_o!r}.",
            ko=f"w_o에는 행렬, 'free' 또는 None이 필요한데 {w_o!r}이(가) 왔습니다.",
        )
    n_heads, _, d_model = mixes.shape
    side_by_side = np.concatenate(list(mixes), axis=1)
    form = np.linalg.lstsq(side_by_side, target, rcond=1e-12)[0].reshape(n_heads, d_model, -1)
    rank = max(int(np.linalg.matrix_rank(one, tol=1e-9 * max(1.0, float(np.abs(one).max())))) for one in form)
    width = max(1, rank) if d_value is None else _width(d_value)
    values: list[Floats] = []
    outs: list[Floats] = []
    for mix, one in zip(mixes, form, strict=True):
        _, sizes, right = np.linalg.svd(mix @ one, full_matrices=False)  # the fitted outputs: reduced-rank regression
        kept = right[:width].T @ right[:width] if rank > width else np.eye(one.shape[1])
        left, sizes, right = np.linalg.svd(one @ kept)
        v, o = np.zeros((d_model, width)), np.zeros((width, one.shape[1]))
        n = min(width, len(sizes))
        v[:, :n], o[:n] = left[:, :n] * np.sqrt(sizes[:n]), np.sqrt(sizes[:n])[:, None] * right[:n]
        values.append(v)
        outs.append(o)
    sides = np.concatenate(values, axis=1), np.concatenate(outs)
    return *(_by_turns(mixes, target, *sides) if rank > width and n_heads > 1 else sides), rank > width


def _by_turns(mixes: Floats, target: Floats, w_v: Floats, w_o: Floats) -> tuple[Floats, Floats]:
    """W_O for the W_V there is, then W_V for that W_O, until nothing is gained."""
    before = np.inf
    for _ in range(ROUNDS):
        w_o = np.linalg.lstsq(_output(mixes, w_v, None), target, rcond=1e-12)[0]
        w_v = _alone(mixes, target, w_o, w_v)
        off = float(np.linalg.norm(_output(mixes, w_v, w_o) - target))
        if off > before * (1 - 1e-9):
            break
        before = off
    return w_v, w_o


# reasons ------------------------------------------------------------------------------------------


def _reasons(
    record: Trace, mixes: Floats, target: Floats, rows: Any, w_o: Floats | None, limited: Floats | None
) -> Iterator[Reason]:
    """Mixes that are 0, equal or combinations of others, outputs that W_O cannot make, a width that is too small."""
    tokens, n_heads = record.tokens, len(mixes)
    mix = np.concatenate([one[rows] for one in mixes], axis=1)
    size = max(1.0, float(np.abs(target[rows]).max()))
    zero = [i for i in range(len(rows)) if np.linalg.norm(mix[i]) <= SAME * np.linalg.norm(mix, axis=1).max()]
    for i in zero:
        if np.abs(target[rows[i]]).max() > EXACT * size:
            yield Reason("zero-mix", (token_name(tokens, int(rows[i])),), facts={}, lifts=(Lift("other-weights"),))
    groups = equal(mix, range(len(rows)))
    for first, *others in (g for g in groups if g[0] not in zero):
        for other in others:
            off = float(np.abs(target[rows[first]] - target[rows[other]]).max())
            if off > EXACT * size:
                names = (token_name(tokens, int(rows[first])), token_name(tokens, int(rows[other])))
                yield Reason("same-mix", names, facts={"off": off}, lifts=(Lift("other-weights"),))
    yield from _mixed(tokens, mix, target[rows], rows, [g[0] for g in groups if g[0] not in zero], size)
    if w_o is not None:
        span = np.linalg.svd(w_o, full_matrices=False)
        inside = span[2][span[1] > 1e-11 * span[1][0]]
        for i, row in enumerate(target[rows]):
            off = float(np.linalg.norm(row - row @ inside.T @ inside))
            if off > EXACT * size:
                name = token_name(tokens, int(rows[i]))
                yield Reason("outside-w_o", (name,), facts={"off": off}, lifts=(Lift("other-projection"),))
    if limited is not None:
        facts = {"d_value": limited.shape[1] // n_heads}
        yield Reason("narrow-values", (), facts=facts, lifts=(Lift("larger-d_value"),))


def _mixed(
    tokens: tuple[Token, ...], mix: Floats, target: Floats, rows: Any, chosen: list[int], size: float
) -> Iterator[Reason]:
    independent, dependent = dependencies(mix[chosen])
    for at, shares in dependent:
        others = [chosen[independent[k]] for k in np.flatnonzero(shares)]
        off = float(np.abs(target[chosen[at]] - shares[shares != 0] @ target[others]).max(initial=0.0))
        if off > EXACT * size:
            names = tuple(token_name(tokens, int(rows[i])) for i in (chosen[at], *others))
            facts = {"shares": [float(a) for a in shares[shares != 0]], "off": off}
            yield Reason("combined-mix", names, facts=facts, lifts=(Lift("other-weights"),))


# what comes in ------------------------------------------------------------------------------------


def _record(trace: Any) -> Trace:
    record = trace if isinstance(trace, Trace) else getattr(trace, "traces", (None,))[0]
    if not isinstance(record, Trace) or record.x is None:
        raise InputError(
            en="design_values expects a Trace that knows its embeddings x, or a Design. Try jumok.attend(x=…, w_q=…, …).",
            ko="design_values에는 임베딩 x가 있는 Trace나 Design이 필요합니다. 예: jumok.attend(x=…, w_q=…, …).",
        )
    return record


def _target(wanted: Any, record: Trace) -> Floats:
    try:
        target = np.array(wanted, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            en=f"wanted expects a table of outputs: {error}.", ko=f"wanted에는 출력 표가 필요합니다: {error}."
        ) from error
    if target.ndim != 2 or len(target) != len(record.tokens) or not target.shape[1]:
        raise ShapeError(
            en=f"wanted is {target.shape}, but there are {len(record.tokens)} tokens. It is read as (query, d_out).",
            ko=f"wanted의 모양이 {target.shape}인데 토큰은 {len(record.tokens)}개입니다. (query, d_out)으로 읽습니다.",
        )
    free = np.isnan(target).all(axis=1)
    if free.all() or not np.isfinite(target[~free]).all():
        raise InputError(
            en="wanted expects finite numbers in at least one row; a row that is to stay free is NaN as a whole.",
            ko="wanted에는 유한한 숫자로 된 행이 하나는 있어야 합니다. 비워 둘 행은 전체를 NaN으로 채웁니다.",
        )
    return target


def _given(w_o: Any, d_out: int, n_heads: int) -> Floats | None:
    if w_o is None:
        if d_out % n_heads:
            raise ShapeError(
                en=f"without w_o the output is the {n_heads} heads side by side, so d_out={d_out} must be a multiple of that.",
                ko=f"w_o가 없으면 출력은 헤드 {n_heads}개를 이은 것이므로 d_out={d_out}이(가) 그 배수여야 합니다.",
            )
        return None
    out = np.asarray(frozen("w_o", w_o, ndim=2), dtype=np.float64)
    if out.shape[1] != d_out or out.shape[0] % n_heads:
        raise ShapeError(
            en=f"w_o is {out.shape}, but there are {n_heads} heads and d_out={d_out}. It is read as (heads · d_value, d_out).",
            ko=f"w_o의 모양이 {out.shape}인데 헤드는 {n_heads}개, d_out={d_out}입니다. (heads · d_value, d_out)으로 읽습니다.",
        )
    return out


def _near(near: Any, shape: tuple[int, int]) -> Floats:
    if near is None:
        return np.eye(*shape) if shape[0] == shape[1] else np.zeros(shape)
    array = np.asarray(frozen("near", near, ndim=2), dtype=np.float64)
    if array.shape != shape:
        raise ShapeError(
            en=f"near is {array.shape}, but W_V is {shape}.", ko=f"near의 모양이 {array.shape}인데 W_V는 {shape}입니다."
        )
    return array


def _width(d_value: Any) -> int:
    if isinstance(d_value, bool) or not isinstance(d_value, int | np.integer) or d_value < 1:
        raise InputError(
            en=f"d_value expects a whole number of at least 1, got {d_value!r}.",
            ko=f"d_value에는 1 이상의 정수가 필요한데 {d_value!r}이(가) 왔습니다.",
        )
    return int(d_value)
