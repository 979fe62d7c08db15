"""A wanted attention table → the W_Q and W_K that do it, or the best there is and the exact reasons why no better.

>>> found = design([[0, 0], [1, 0], [0, 1]], {"1": {"0": 0.1, "1": 0.8}})
>>> found.exact, (found.w_q.round(3) + 0).tolist()
(True, [[2.941, 0.0], [0.0, 1.0]])
"""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...door import measured
from ...errors import InputError, MissingExtra, ShapeError
from ...path import Rule
from ...tokens import Token, as_tokens
from ...trace import Floats, Heads, Source, Trace, frozen
from ...words import counted
from .convex import solve
from .least_change import least_change
from .low_rank import low_rank, rank_of
from .problem import NOTHING, TINY, Point, Problem, Rows, Tables, basis, softmax, without_rounding
from .wishes import Wish, wishes

if TYPE_CHECKING:
    from .reasons import Reason

__all__ = ["Design", "HeadFound", "design"]

RIDGE = 1e-8
ROUNDED = 1e-10  # a split that reaches the optimum this well is kept
MOST_WIDTH = 4096
LEAST, LARGEST = 1e-9, 1e9  # the largest number of an array
EXACT = 1e-7  # the largest difference at which a table counts as reached


@dataclass(frozen=True, eq=False)
class HeadFound:
    """How the search of one head ended.

    loss : Σ KL(wanted ‖ reached) over the wanted rows of all sentences, nats, with the ridge's share
    bound : no W_Q and W_K of any width have less, nats (proven: see ``convex``)
    gap : loss − bound: how far from the best possible this could be at most
    gradient : the norm of the gradient, nats, in coordinates in which the embeddings have unit size
    optimum : M = W_Q W_Kᵀ, or its free side, without a limit on d_k, in coordinates in which ``rank`` shows
    limited : True where d_k is less than its rank
    ridge : ρ of the ridge ρ/2·‖W − near‖² that was added, 0 where no allowed cell is wanted at 0
    split : "identity" (W_K = I), "balanced" (singular vectors of M, each side √σ), or "given" (one side was fixed)
    steps : of Newton's method;  finished : False where it was stopped
    """

    loss: float
    bound: float
    gap: float
    gradient: float
    optimum: Floats
    limited: bool
    ridge: float
    split: str
    steps: int
    finished: bool

    @cached_property
    def rank(self) -> int:
        """Of the optimum without a limit on d_k."""
        return rank_of(self.optimum)


@dataclass(frozen=True, eq=False)
class Sentence:
    """One sentence of a design: its tokens, embeddings and rule, and what each head should do."""

    tokens: tuple[Token, ...]
    x: Floats
    rule: Rule
    wishes: tuple[Wish, ...]
    allowed: npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Design:
    """Weights that were made for a wanted table, what they reach, and why no more.

    w_q, w_k : (d_model, heads · d_k)
    sentences : (sentence,) tokens, embeddings, rule and wishes, as they were understood
    found : (head,) how each search ended
    dimensions : (d_model,) names, or None
    fixed : "w_q", "w_k" or None: what was given
    """

    w_q: Floats
    w_k: Floats
    sentences: tuple[Sentence, ...]
    found: tuple[HeadFound, ...]
    dimensions: tuple[str, ...] | None = None
    fixed: str | None = None

    @property
    def n_heads(self) -> int:
        """The number of heads."""
        return len(self.found)

    @property
    def d_k(self) -> int:
        """The width of a query."""
        return int(self.w_q.shape[1]) // self.n_heads

    @property
    def heads(self) -> Heads:
        """The projections, with W_V = identity for every head."""
        values = np.tile(np.eye(self.w_q.shape[0]), (1, self.n_heads))
        return Heads(w_q=self.w_q, w_k=self.w_k, w_v=values)

    @property
    def gap(self) -> float:
        """How far from the best possible the design could be at most, nats, all heads together."""
        return math.fsum(found.gap for found in self.found)

    @property
    def finished(self) -> bool:
        """False where the search was stopped before the best was found."""
        return all(found.finished for found in self.found)

    @cached_property
    def traces(self) -> tuple[Trace, ...]:
        """(sentence,) What the design does, as records with W_V = identity."""
        from ..arrays import from_x

        heads = self.heads
        return tuple(
            from_x(
                s.x, heads.w_q, heads.w_k, heads.w_v, tokens=s.tokens, n_heads=self.n_heads, rule=s.rule,
                dimensions=self.dimensions, source=Source(kind="design"),
            )
            for s in self.sentences
        )  # fmt: skip

    def trace(self, sentence: int = 0) -> Trace:
        """What the design does with one sentence, as a record that every reader takes; its source tells the design."""
        trace = self.traces[sentence]
        told = {"wanted": wanted_of(self.sentences[sentence]), "design": self.to_json()}
        return dataclasses.replace(trace, source=Source(kind="design", details=told))

    @cached_property
    def wanted(self) -> Any:
        """(head, query, key) as it was understood; NaN in rows left free. A tuple of such for several sentences."""
        return _one([np.stack([wish.table for wish in s.wishes]) for s in self.sentences])

    @cached_property
    def reached(self) -> Any:
        """(head, query, key) the attention weights of the design. A tuple of such for several sentences."""
        return _one([trace.weights for trace in self.traces])

    @cached_property
    def row_error(self) -> Any:
        """(head, query) KL(wanted ‖ reached) in nats; NaN in rows left free. A tuple for several sentences."""
        return _one([_divergence(w, p) for w, p in self._pairs()])

    @cached_property
    def row_difference(self) -> Any:
        """(head, query) the largest |wanted − reached| of a row; NaN in rows left free. A tuple for several sentences."""
        return _one([np.abs(w - p).max(axis=-1) for w, p in self._pairs()])

    @property
    def largest_difference(self) -> float:
        """The largest |wanted − reached| of all."""
        return max(float(np.nanmax(np.abs(w - p), initial=0.0)) for w, p in self._pairs())

    @property
    def exact(self) -> bool:
        """True where every wanted row is reached to 1e-7 in every cell, and nothing forbidden was wanted."""
        return self.largest_difference <= EXACT and not any(wish.forbidden for s in self.sentences for wish in s.wishes)

    @cached_property
    def reasons(self) -> tuple[Reason, ...]:
        """Why the table is not reached: all the reasons, each with its evidence and what would lift it; () if reached."""
        from .reasons import reasons

        return reasons(self)

    def to_json(self) -> dict[str, Any]:
        """What was wanted, what was reached and why no more, as plain JSON: what a page carries."""
        from .report import report

        return report(self)

    def _pairs(self) -> list[tuple[Floats, Floats]]:
        wanted, reached = self.wanted, self.reached
        return list(zip(wanted, reached, strict=True)) if isinstance(wanted, tuple) else [(wanted, reached)]

    def __repr__(self) -> str:
        off = math.fsum(found.loss for found in self.found)
        how = "exact" if self.exact else f"{off:.3g} nats off, at most {self.gap:.2g} above the best possible"
        heads, sentences = counted(self.n_heads, "head"), counted(len(self.sentences), "sentence")
        return f"Design({heads}, d_k {self.d_k}, {sentences}, {how})"


Progress = Callable[[int, int, float, float], None]  # head, step, loss, gap


def design(
    x: Any,
    wanted: Any,
    d_k: int | None = None,
    rule: Any = None,
    w_q: Any = None,
    w_k: Any = None,
    near: Any = None,
    *,
    tokens: Any = None,
    dimensions: Sequence[str] | None = None,
    ridge: float = RIDGE,
    start: Design | tuple[Any, Any] | None = None,
    progress: Progress | None = None,
) -> Design:
    """The W_Q and W_K whose attention is nearest to a wanted table, with a proof of how near, and reasons.

    x : (token, d_model) the embeddings; or a list of them, for sentences that share the weights
    wanted : (query, key) rows that sum to 1, NaN in rows left free and in cells left out, which share what remains; or
        {token: {token: weight}}; or (head, query, key), or a list, one a head. A list of these where x is a list
    d_k : the width of queries and keys; None for d_model, or as wide as what is given
    rule : a ``Rule`` or what stands for one (a list, one a sentence, where x is a list); no soft cap, no sink
    w_q, w_k : (d_model, heads · d_k) one of them fixed, or "identity"
    near : (one, or a list with one a head) what to stay as close to as the task allows, least change in Frobenius norm: (d_model, d_k) for W_Q where W_K
        is fixed and for W_K where W_Q is fixed, (d_model, d_model) for M = W_Q W_Kᵀ where both are free; "identity",
        "zero", or None: identity where W_Q and W_K are square, else zero
    tokens : texts, to name them in ``wanted`` and in reasons (a list of lists where x is a list)
    ridge : ρ in ρ/2·‖W − near‖², used only where an allowed cell is wanted at 0, which would take an infinite W
    start : an earlier design of the same task, or its (W_Q, W_K), to continue from
    progress : called with head, step, loss and gap (nats) at every step, and twice a second while a long one runs; a
        KeyboardInterrupt from it ends the search as Ctrl-C does

    Nearness is Σ KL(wanted ‖ reached) over the wanted rows, which is convex in M = W_Q W_Kᵀ. With d_k less than the rank
    that M needs, the best that was found is given, and the optimum without that limit stays as a proven bound. M is
    split into W_K = identity where near is the identity and d_k = d_model, else into its singular vectors, each side
    √σ, the largest entry of each column of W_Q positive.

    Errors: ``InputError`` and ``ShapeError`` for what does not fit, ``UnknownName`` for a token that is not there,
    ``MissingExtra`` without SciPy. Ctrl-C ends the search with the best so far (``finished`` False).
    """
    _need_scipy()
    _refuse_unusable(x, wanted, start, progress)
    sentences = _sentences(x, wanted, rule, tokens)
    task = _Task(sentences, d_k, w_q, w_k, near, ridge)
    began = None if start is None else task.forms(*((start.w_q, start.w_k) if isinstance(start, Design) else start))
    parts = [task.head(h, None if began is None else began[h], progress) for h in range(task.n_heads)]
    return Design(
        w_q=frozen("w_q", np.concatenate([q for q, _, _ in parts], axis=1), ndim=2),
        w_k=frozen("w_k", np.concatenate([k for _, k, _ in parts], axis=1), ndim=2),
        sentences=sentences,
        found=tuple(found for _, _, found in parts),
        dimensions=None if dimensions is None else tuple(dimensions),
        fixed=task.fixed,
    )


class _Task:
    """What is searched for: the free side, its starting point, and the width."""

    def __init__(self, sentences: tuple[Sentence, ...], d_k: Any, w_q: Any, w_k: Any, near: Any, ridge: Any) -> None:
        self.sentences = sentences
        self.d_model = sentences[0].x.shape[1]
        self.n_heads = len(sentences[0].wishes)
        self.fixed, given = _given(w_q, w_k, self.d_model)
        self.d_k = self._width(d_k, given)
        self.given = None if given is None else np.split(given, self.n_heads, axis=1)
        square = self.d_k == self.d_model
        shape = (self.d_model, self.d_k if self.fixed else self.d_model)
        nears = [_near(one, shape, square) for one in _of_heads(near, self.n_heads)]
        self.near = [one.T if self.fixed == "w_q" else one for one in nears]
        self.identity = np.eye(self.d_model) if square and not self.fixed else None
        self.ridge = _ridge("ridge", ridge)

    def _width(self, d_k: Any, given: Floats | None) -> int:
        if given is None:
            return self.d_model if d_k is None else _width(d_k)
        width, rest = divmod(given.shape[1], self.n_heads)
        if rest or (d_k is not None and _width(d_k) != width):
            raise ShapeError(
                en=f"{self.fixed} is given as {given.shape}, read as (d_model, heads · d_k); that does not go with {self.n_heads} "
                f"head(s){'' if d_k is None else f' and d_k = {d_k}'}. Leave d_k out, or give another matrix.",
                ko=f"{self.fixed}의 모양은 {given.shape}이고 (d_model, heads · d_k)로 읽는데, 헤드 {self.n_heads}개"
                f"{'' if d_k is None else f', d_k = {d_k}'}에 맞지 않습니다. d_k를 빼거나 다른 행렬을 주십시오.",
            )
        return int(width)

    def head(self, head: int, start: Floats | None, progress: Progress | None) -> tuple[Floats, Floats, HeadFound]:
        """W_Q and W_K of one head, and how they were found."""
        near = self.near[head]
        problem = self.problem(head, near)
        began = None if start is None else problem.from_weights(start - near)
        report = None if progress is None else lambda step, loss, gap: progress(head, step, loss, gap)
        found = solve(problem, began, report)
        at, loss, limited = least_change(problem, found.at), found.loss, False
        form: Floats = near + problem.as_weights(at.w)
        optimum = form
        if not self.fixed and self.d_k < self.d_model and rank_of(form) > self.d_k:  # then near cannot be kept
            near = np.zeros_like(near)
            problem = self.problem(head, near)
            at = problem.point(problem.from_weights(form))
            if problem.ridge and self.near[head].any():  # the ridge was around near: another problem, another bound
                found = solve(problem, at.w, report)
                at, loss = found.at, found.loss
            at = least_change(problem, at)
            optimum = at.w
            if rank_of(optimum) > self.d_k:
                at, limited = problem.point(low_rank(problem, at.w, self.d_k)), True
                loss = at.loss
            form = problem.as_weights(at.w)
        w_q, w_k, split, is_kept = self._split(problem, near, at, form, head)
        w_q, w_k = self._tidied((w_q, w_k), head)
        loss = loss if is_kept else max(0.0, loss + self._lost(problem, at, (w_q, w_k), head))
        bound = max(0.0, found.loss - found.gap)
        return w_q, w_k, HeadFound(
            loss, bound, max(0.0, loss - bound), found.gradient, optimum, limited, problem.ridge, split, found.steps,
            found.finished,
        )  # fmt: skip

    def problem(self, head: int, near: Floats) -> Problem:
        """The convex problem of one head: a change of ``near``, in the form that is free: M, W_Q or W_Kᵀ."""
        zeros = any(s.wishes[head].zeros for s in self.sentences)
        scale = self.sentences[0].rule.scale_for(self.d_k)
        rows = []
        for s in self.sentences:
            asks, read = self.vectors(s, head)
            wish = s.wishes[head]
            wanted = np.array(wish.rows, dtype=np.int64)
            asks = asks[wanted]
            base = scale * (asks @ near @ read.T) + bias_of(s, head, wanted)
            rows.append(Rows(asks, read, np.where(s.allowed[wanted], base, -np.inf), wish.table[wanted]))
        return Problem(rows, scale, self.ridge if zeros else 0.0)

    def vectors(self, s: Sentence, head: int) -> tuple[Floats, Floats]:
        """(query, d) and (key, d): what asks and what is read, on both sides of the free form."""
        if self.given is None:
            return s.x, s.x
        made = s.x @ self.given[head]
        return (made, s.x) if self.fixed == "w_q" else (s.x, made)

    def forms(self, w_q: Any, w_k: Any) -> list[Floats]:
        """(head,) The form that is free, of given projections."""
        sides = [frozen(name, w, ndim=2) for name, w in (("w_q", w_q), ("w_k", w_k))]
        if any(side.shape != (self.d_model, self.n_heads * self.d_k) for side in sides):
            raise ShapeError(
                en=f"start has W_Q {sides[0].shape} and W_K {sides[1].shape}, but this task designs "
                f"({self.d_model}, {self.n_heads} · {self.d_k}).",
                ko=f"start의 W_Q는 {sides[0].shape}, W_K는 {sides[1].shape}인데 이 과제는 ({self.d_model}, "
                f"{self.n_heads} · {self.d_k})을(를) 설계합니다.",
            )
        pairs = zip(*(np.split(side, self.n_heads, axis=1) for side in sides), strict=True)
        return [np.asarray({"w_k": q, "w_q": k.T, None: q @ k.T}[self.fixed]) for q, k in pairs]

    def _split(
        self, problem: Problem, near: Floats, at: Point, form: Floats, head: int
    ) -> tuple[Floats, Floats, str, bool]:
        """W_Q and W_K of the form near + w, how they were told apart, and whether they give what w does but for rounding."""
        if self.given is not None:
            sides = (self.given[head], form.T) if self.fixed == "w_q" else (form, self.given[head])
            return *sides, "given", False
        if self.identity is not None and np.array_equal(near, self.identity):
            sides, split = (form, self.identity), "identity"
        else:
            sides, split = balanced(form, self.d_k), "balanced"
        off = _off(self.reach(sides, head), at.reached)
        if off <= ROUNDED:
            return *sides, split, True
        careful = _careful_split(np.concatenate([s.x for s in self.sentences]), problem, near, at.w, self.d_k)
        better = _off(self.reach(careful, head), at.reached) < off
        return (*careful, "balanced", False) if better else (*sides, split, False)

    def _lost(self, problem: Problem, at: Point, sides: tuple[Floats, Floats], head: int) -> float:
        """How much further off W_Q and W_K are than the w they were made of, nats; 0 but for rounding."""
        goal, made = at.reached, self.reach(sides, head)
        if _off(made, goal) <= ROUNDED:
            return 0.0
        logs = [np.log(np.maximum(g, TINY) / np.maximum(m, TINY)) for g, m in zip(goal, made, strict=True)]
        return float(sum(np.vdot(r.wanted, log) for r, log in zip(problem.rows, logs, strict=True)))

    def _tidied(self, sides: tuple[Floats, Floats], head: int) -> tuple[Floats, Floats]:
        """The sides with 0 where an entry is nothing but rounding, so that they can be read; a given side as it is."""
        q, k = (
            side if self.fixed == name else without_rounding(side)
            for name, side in zip(("w_q", "w_k"), sides, strict=True)
        )
        if q is sides[0] and k is sides[1]:
            return sides
        return (q, k) if _off(self.reach((q, k), head), self.reach(sides, head)) <= NOTHING else sides

    def reach(self, sides: tuple[Floats, Floats], head: int) -> list[Floats]:
        """(row, key) What W_Q and W_K give the wanted rows of each sentence, multiplied out as a Trace does."""
        scale = self.sentences[0].rule.scale_for(self.d_k)
        tables = []
        for s in self.sentences:
            rows = np.array(s.wishes[head].rows, dtype=np.int64)
            scores = scale * ((s.x[rows] @ sides[0]) @ (s.x @ sides[1]).T) + bias_of(s, head, rows)
            tables.append(softmax(np.where(s.allowed[rows], scores, -np.inf)))
        return tables


def wanted_of(s: Sentence) -> list[dict[str, dict[str, float]]]:
    """(head,) query position → key position → wanted weight, as plain JSON."""
    return [
        {str(i): {str(j): float(a) for j, a in enumerate(wish.table[i]) if s.allowed[i, j]} for i in wish.rows}
        for wish in s.wishes
    ]


def _off(tables: Tables, goal: Tables) -> float:
    return max(float(np.abs(a - b).max(initial=0.0)) for a, b in zip(tables, goal, strict=True))


def _careful_split(x: Floats, problem: Problem, near: Floats, w: Floats, width: int) -> tuple[Floats, Floats]:
    """A balanced split for embeddings that are nearly dependent, where M itself would lose what matters to rounding.

    The table of scores is made from white coordinates and split; only then are both sides divided by small sizes.
    Directions that no embedding has stay as they are in ``near``, where that is the identity and there is room.
    """
    every = basis(x)
    left = x @ problem.left.directions / problem.left.sizes
    right = x @ problem.right.directions / problem.right.sizes
    inner = every.white.T @ left @ w @ (every.white.T @ right).T
    start = every.directions * every.sizes
    w_q, w_k = balanced(inner + start.T @ near @ start, width)
    back = every.directions / every.sizes
    w_q, w_k = back @ w_q, back @ w_k
    free = width - every.rank
    if free == len(near) - every.rank and np.array_equal(near, np.eye(len(near))):
        rest = np.linalg.svd(every.directions)[0][:, every.rank :]
        w_q[:, every.rank :], w_k[:, every.rank :] = rest, rest
    return w_q, w_k


def balanced(form: Floats, width: int) -> tuple[Floats, Floats]:
    """Two sides of a form of at most this rank: its singular vectors, each √σ, signs fixed; zeros fill the width."""
    left, sizes, right = np.linalg.svd(form)
    kept = min(width, len(sizes))
    w_q, w_k = np.zeros((form.shape[0], width)), np.zeros((form.shape[1], width))
    w_q[:, :kept], w_k[:, :kept] = left[:, :kept] * np.sqrt(sizes[:kept]), right[:kept].T * np.sqrt(sizes[:kept])
    largest = w_q[np.abs(w_q).argmax(axis=0), np.arange(width)]
    signs = np.where(largest < 0, -1.0, 1.0)
    return w_q * signs, w_k * signs


def bias_of(s: Sentence, head: int, queries: Sequence[int] | npt.NDArray[np.int64]) -> Floats:
    """(query, key) The position bias of a head; 0 where there is none."""
    n = len(s.tokens)
    if s.rule.bias is None:
        return np.zeros((len(queries), n))
    block = np.asarray(s.rule.bias.block(np.asarray(queries, dtype=np.int64), np.arange(n)), dtype=np.float64)
    return np.asarray(block[head if len(block) > 1 else 0])


# what comes in ------------------------------------------------------------------------------------


def _sentences(x: Any, wanted: Any, rule: Any, tokens: Any) -> tuple[Sentence, ...]:
    several = isinstance(x, (list, tuple)) and len(x) > 0 and all(np.ndim(one) == 2 for one in x)
    if not several:
        x, wanted, rule, tokens = [x], [wanted], [rule], [tokens]
    n = len(x)
    rules = list(rule) if several and isinstance(rule, (list, tuple)) else [rule] * n if several else rule
    names = [None] * n if tokens is None else list(tokens)
    wanted = list(wanted) if isinstance(wanted, (list, tuple)) else [wanted]
    for what, got in (("wanted", wanted), ("rule", rules), ("tokens", names)):
        if len(got) != n:
            raise ShapeError(
                en=f"there are {n} sentences (x is a list), but {what} has {len(got)}. Give one for each sentence.",
                ko=f"문장은 {n}개(x가 목록)인데 {what}은(는) {len(got)}개입니다. 문장마다 하나씩 주십시오.",
            )
    made = tuple(_sentence(*parts) for parts in zip(x, wanted, rules, names, strict=True))
    for at, other in enumerate(made):
        _agree(at, "d_model", other.x.shape[1], made[0].x.shape[1])
        _agree(at, "heads", len(other.wishes), len(made[0].wishes))
        if other.rule.scale != made[0].rule.scale:
            raise InputError(
                en=f"sentence {at} has another scale than sentence 0. Sentences that share weights share the scale.",
                ko=f"문장 {at}의 스케일이 문장 0과 다릅니다. 가중치를 함께 쓰는 문장은 스케일도 같아야 합니다.",
            )
    if not any(wish.rows for s in made for wish in s.wishes):
        raise InputError(
            en="nothing is wanted: every row is left free. Give at least one row of weights.",
            ko="바라는 행이 없습니다. 모든 행이 비어 있습니다. 가중치 행을 하나 이상 주십시오.",
        )
    return made


def _agree(at: int, what: str, got: int, expected: int) -> None:
    if got != expected:
        raise ShapeError(
            en=f"sentence {at} has {what}={got}, but sentence 0 has {expected}. Sentences share the weights.",
            ko=f"문장 {at}은(는) {what}={got}인데 문장 0은 {expected}입니다. 문장들은 가중치를 함께 씁니다.",
        )


@lru_cache(maxsize=8)
def _numbered(n: int) -> tuple[Token, ...]:
    """Tokens without a name: their positions."""
    return as_tokens([str(i) for i in range(n)])


def _sentence(x: Any, wanted: Any, rule: Any, tokens: Any) -> Sentence:
    rule = Rule.of(rule)
    array = _in_range("x", x)
    n = len(array)
    named = _numbered(n) if tokens is None else as_tokens(tokens)
    if len(named) != n:
        raise ShapeError(
            en=f"x has token={n}, but there are {len(named)} tokens.",
            ko=f"x는 token={n}인데 토큰은 {len(named)}개입니다.",
        )
    for what in ("softcap", "sink"):
        if getattr(rule, what) is not None:
            raise InputError(
                en=f"design does not take a rule with a {what}: the problem would not be convex, or rows would not sum to 1. "
                f"Leave it out.",
                ko=f"design은 {what}이(가) 있는 규칙을 받지 않습니다. 볼록 문제가 아니게 되거나 행의 합이 1이 되지 않습니다. 빼고 "
                f"부르십시오.",
            )
    allowed = np.empty((n, n), dtype=bool)
    allowed[:] = rule.allowed.block(np.arange(n), np.arange(n))
    made = tuple(wishes(wanted, named, allowed))
    rule.fits(len(made), n, n)
    return Sentence(named, array, rule, made, allowed)


def _given(w_q: Any, w_k: Any, d_model: int) -> tuple[str | None, Floats | None]:
    """Which side is fixed, and what it is."""
    if w_q is not None and w_k is not None:
        raise InputError(
            en="both w_q and w_k are given, so nothing is left to design. Give one of them, or neither.",
            ko="w_q와 w_k를 모두 주어 설계할 것이 남지 않았습니다. 하나만 주거나 둘 다 빼십시오.",
        )
    for name, value in (("w_q", w_q), ("w_k", w_k)):
        if value is None:
            continue
        array = np.eye(d_model) if isinstance(value, str) and value == "identity" else _in_range(name, value)
        if len(array) != d_model:
            raise ShapeError(
                en=f"{name} has d_model={len(array)}, but x has d_model={d_model}. {name} is {array.shape}, read as "
                f"(d_model, heads · d_k).",
                ko=f"{name}은(는) d_model={len(array)}인데 x는 d_model={d_model}입니다. {name}의 모양은 {array.shape}, "
                f"(d_model, heads · d_k)로 읽습니다.",
            )
        return name, array
    return None, None


def _of_heads(near: Any, n_heads: int) -> list[Any]:
    """What each head stays near to."""
    several = isinstance(near, (list, tuple)) and all(isinstance(one, str) or np.ndim(one) == 2 for one in near)
    if not several and np.ndim(near) != 3:
        return [near] * n_heads
    if len(near) != n_heads:
        raise ShapeError(
            en=f"near has {len(near)} parts, but there are {n_heads} heads.",
            ko=f"near에는 {len(near)}개가 있는데 헤드는 {n_heads}개입니다.",
        )
    return list(near)


def _near(near: Any, shape: tuple[int, int], square: bool) -> Floats:
    if near is None:
        near = "identity" if square else "zero"
    if isinstance(near, str):
        if near not in ("identity", "zero"):
            raise InputError(
                en=f"near expects 'identity', 'zero' or a matrix, got {near!r}.",
                ko=f"near에는 'identity', 'zero' 또는 행렬이 필요한데 {near!r}이(가) 왔습니다.",
            )
        return np.eye(*shape) if near == "identity" else np.zeros(shape)
    array = _in_range("near", near)
    if array.shape != shape:
        raise ShapeError(
            en=f"near is {array.shape}, but what is free is {shape}.",
            ko=f"near의 모양이 {array.shape}인데 자유로운 쪽은 {shape}입니다.",
        )
    return array


def _width(d_k: Any) -> int:
    try:
        width = 0 if isinstance(d_k, bool) else operator.index(d_k)
    except TypeError:
        width = 0
    if width > MOST_WIDTH:
        raise InputError(
            en=f"d_k is at most {MOST_WIDTH:,}, got {width:,}. More than d_model never reaches more.",
            ko=f"d_k는 {MOST_WIDTH:,} 이하여야 하는데 {width:,}입니다. d_model보다 넓혀도 더 얻는 것은 없습니다.",
        )
    if width < 1:
        raise InputError(
            en=f"d_k expects a whole number of at least 1, got {d_k!r}.",
            ko=f"d_k에는 1 이상의 정수가 필요한데 {d_k!r}이(가) 왔습니다.",
        )
    return width


def _ridge(name: str, value: Any) -> float:
    try:
        number = math.nan if isinstance(value, (bool, str, bytes)) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 < number <= 1:
        raise InputError(
            en=f"{name} expects a number above 0 and at most 1, got {value!r}. Leave it out for {RIDGE:g}.",
            ko=f"{name}에는 0보다 크고 1 이하인 숫자가 필요한데 {value!r}이(가) 왔습니다. 생략하면 {RIDGE:g}입니다.",
        )
    return number


def _refuse_unusable(x: Any, wanted: Any, start: Any, progress: Any) -> None:
    """Arguments of another kind than these parameters take."""
    if isinstance(x, str):
        raise InputError(
            en=f"design expects embeddings or an Example, got {x!r}. Try design(jumok.load({x!r})).",
            ko=f"design에는 임베딩이나 Example이 필요한데 {x!r}이(가) 왔습니다. 예: design(jumok.load({x!r})).",
        )
    if wanted is None:
        raise InputError(
            en="design expects what is wanted: a table, or {token: {token: weight}}.",
            ko="design에는 바라는 것이 필요합니다: 표, 또는 {토큰: {토큰: 가중치}}.",
        )
    if not (start is None or isinstance(start, Design) or (isinstance(start, (list, tuple)) and len(start) == 2)):
        raise InputError(
            en="start expects an earlier Design, or the pair (W_Q, W_K).",
            ko="start에는 앞서 만든 Design이나 (W_Q, W_K) 쌍이 필요합니다.",
        )
    if progress is not None and not callable(progress):
        raise InputError(
            en=f"progress expects a function of head, step, loss and gap, got {progress!r}.",
            ko=f"progress에는 head, step, loss, gap을 받는 함수가 필요한데 {progress!r}이(가) 왔습니다.",
        )


def _in_range(name: str, value: Any) -> Floats:
    """A matrix in float64 whose numbers can be multiplied and still be told apart. Errors: ``InputError``, ``ShapeError``."""
    array, size = measured(name, value, ndim=2)
    if size and not LEAST <= size <= LARGEST:
        raise InputError(
            en=f"the largest number of {name} is {size:.3g}; design works with {LEAST:g} to {LARGEST:g}. Multiply or divide all "
            f"of them by one number.",
            ko=f"{name}의 가장 큰 수가 {size:.3g}입니다. design은 {LEAST:g}부터 {LARGEST:g}까지를 다룹니다. 모두 한 수로 곱하거나 "
            f"나누십시오.",
        )
    return np.asarray(array, dtype=np.float64)


def _need_scipy() -> None:
    try:
        import scipy  # noqa: F401
    except ImportError as error:
        raise MissingExtra(extra="design", package="scipy") from error


def _one(parts: list[Floats]) -> Any:
    """The only part, or all of them; nobody can change them."""
    for part in parts:
        part.setflags(write=False)
    return parts[0] if len(parts) == 1 else tuple(parts)


def _divergence(wanted: Floats, reached: Floats) -> Floats:
    """KL(wanted ‖ reached) of each row, nats, with 0·log 0 = 0; NaN where a row is free."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(wanted > 0, wanted * np.log(wanted / reached), 0.0)
    return np.where(np.isnan(wanted).any(axis=-1), np.nan, np.maximum(0.0, terms.sum(axis=-1)))
