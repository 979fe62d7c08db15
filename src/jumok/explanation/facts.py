"""A Trace and a token → facts: what happened to this token, stage by stage, without a word of any language.

A fact is a kind and its data (texts of tokens, names of dimensions, numbers); ``phrases`` has a sentence for
each kind in each language. Numbers come from the Trace, one row at a time, so any length will do.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..tokens import token_name, token_names
from ..trace import Reading, Trace

__all__ = [
    "MOST_KEYS",
    "MOST_TERMS",
    "SECTIONS",
    "Fact",
    "dims_of",
    "facts_of",
    "facts_of_layers",
    "names_of",
    "scale_steps",
    "terms_of",
]

SECTIONS = (
    "embedding", "query", "keys", "scores", "weights", "values", "output",
    "ranking", "change", "why", "layers", "analogies", "summary", "definition",
)  # fmt: skip
MOST_KEYS = 12  # keys told one by one; the rest is told in sum
MOST_TERMS = 8  # products told one by one


@dataclass(frozen=True)
class Fact:
    """One thing that is so.

    section : one of ``SECTIONS``;  kind : which sentence says it;  data : what the sentence needs, plain JSON
    layer, head : which ones it is about (layer None: the trace stands alone)
    """

    section: str
    kind: str
    data: Mapping[str, Any]
    head: int = 0
    layer: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The fact as plain JSON."""
        return {
            "section": self.section,
            "kind": self.kind,
            "head": self.head,
            "layer": self.layer,
            "data": dict(self.data),
        }


def facts_of(trace: Trace, query: int, layer: int | None = None, head: int | None = None) -> tuple[Fact, ...]:
    """All facts about one token of one Trace, in the order in which the formula reads.

    head : the only one that is told; None for all
    """
    row = _Row(trace, query, layer, head)
    return tuple(
        [*_embedding(row)]
        + [fact for one in row.heads for fact in _head(row, one)]
        + [*_output(row), *_ranking(row), *_change(row), *_analogies(row), *_summary(row)]
    )


class _Row:
    """One token's row of every stage, computed once: (head, key) and (head, width)."""

    def __init__(self, trace: Trace, query: int, layer: int | None, head: int | None) -> None:
        self.trace, self.query, self.layer = trace, query, layer
        self.heads = list(range(trace.n_heads)) if head is None else [head]
        part = trace.steps.part(None, [query])
        self.scores, self.scaled, self.weights = part.scores[:, 0], part.scaled[:, 0], part.weights[:, 0]
        self.allowed, self.mixed, self.output = part.allowed[0], part.mixed[:, 0], part.output[0]
        self.q = trace.q[:, query]
        self.group = trace.n_heads // trace.n_kv_heads
        self.token = token_name(trace.tokens, query)
        self.keys = token_names(trace.read_tokens)
        self.x = None if trace.x is None else trace.x[query]
        self.names = names_of(trace, "x")
        self.q_names, self.v_names = names_of(trace, "q"), names_of(trace, "v")
        self.out_names = names_of(trace, "output")

    def k(self, head: int) -> Any:
        return self.trace.k[head // self.group]

    def v(self, head: int) -> Any:
        return self.trace.v[head // self.group]

    @property
    def mean(self) -> Any:
        """(key,) the weights, mean over the heads that are told."""
        return self.weights[self.heads].mean(axis=0)

    def fact(self, section: str, kind: str, at_head: int = 0, /, **data: Any) -> Fact:
        return Fact(section, kind, data, at_head, self.layer)

    def told(self, head: int) -> list[int]:
        """The keys told one by one: the heaviest, in their order in the sentence."""
        if len(self.keys) <= MOST_KEYS:
            return list(range(len(self.keys)))
        heaviest = np.argsort(-self.weights[head], kind="stable")[:MOST_KEYS]
        return sorted(int(key) for key in heaviest)


def names_of(trace: Trace, what: str) -> list[str] | None:
    """The names of the dimensions of x, q, k, v, mixed or the output, or None where they have none.

    q, k, v and mixed are read in the embedding's names where they are as wide as it and there is one head.
    """
    if not trace.dimensions:
        return None
    names = list(trace.dimensions)
    if what == "x":
        return names
    if what == "output":
        made_by = trace.heads
        width = trace.n_heads * trace.v.shape[2] if made_by is None or made_by.w_o is None else made_by.w_o.shape[1]
        return names if width == len(names) else None
    width = trace.d_head if what in ("q", "k") else trace.v.shape[2]
    return names if trace.n_heads == 1 and width == len(names) else None


def scale_steps(trace: Trace) -> list[list[Any]]:
    """How the scale came about: [["root", d_head]], with a temperature after it, or [["scale", number]]."""
    scale, said = trace.rule.scale, trace.source.details.get("temperature")
    temperature = float(said) if isinstance(said, (int, float)) and 0 < said < math.inf else 1.0
    if scale is None:
        return [["root", float(trace.d_head)]]
    if temperature != 1 and math.isclose(scale * temperature * math.sqrt(trace.d_head), 1, rel_tol=1e-12):
        return [["root", float(trace.d_head)], ["temperature", temperature]]
    return [["scale", scale]]


def _embedding(row: _Row) -> Iterator[Fact]:
    t = row.trace
    yield row.fact("embedding", "token", token=row.token, number=row.query + 1, position=row.query, n=t.n_queries)
    if row.x is not None:
        yield _vector_fact(row, "embedding", "embedding", row.x, row.names)
        if t.source.details.get("positions") == "sinusoidal":
            yield row.fact("embedding", "embedding.position", number=row.query + 1)


def _vector_fact(
    row: _Row, section: str, kind: str, vector: Any, names: list[str] | None, head: int = 0, **more: Any
) -> Fact:
    """What a vector says: nothing, some named dimensions, or just numbers."""
    data = {"token": row.token} | more
    if not np.any(vector):
        return row.fact(section, f"{kind}.zero", head, **data)
    if names is None:
        return row.fact(section, f"{kind}.numbers", head, vector=_floats(vector), **data)
    said = "full" if kind == "embedding" and np.all(vector) else "named"
    return row.fact(section, f"{kind}.{said}", head, dims=dims_of(vector, names), **data)


def _head(row: _Row, head: int) -> Iterator[Fact]:
    if len(row.heads) > 1:
        yield row.fact("query", "head", head, head=head, n_heads=row.trace.n_heads)
    yield from _query(row, head)
    yield from _keys(row, head)
    yield from _scores(row, head)
    yield from _weights(row, head)
    yield from _values(row, head)


def _query(row: _Row, head: int) -> Iterator[Fact]:
    t, q = row.trace, row.q[head]
    made_by = t.heads
    if (
        row.x is not None
        and made_by is not None
        and row.names is not None
        and 0 < np.count_nonzero(row.x) <= MOST_TERMS
    ):
        rows = [[name, float(a)] for name, a in zip(row.names, row.x, strict=True) if a]
        yield row.fact("query", "query.rows", head, rows=rows)
    yield _vector_fact(row, "query", "query", q, row.q_names, head)
    rotated = made_by is not None and made_by.rotation is not None
    if rotated:
        yield row.fact("query", "query.rotated", head)
    elif made_by is not None and row.names is not None and np.any(q):
        kv, d = head // row.group, t.d_head
        looks_for = made_by.w_k[:, kv * d : (kv + 1) * d] @ q
        if row.q_names is None or not np.allclose(looks_for, q, rtol=1e-12, atol=0):
            yield row.fact("query", "query.looks_for", head, dims=dims_of(looks_for, row.names))


def _keys(row: _Row, head: int) -> Iterator[Fact]:
    crossed = row.trace.key_tokens is not None
    yield row.fact("keys", "keys.intro.cross" if crossed else "keys.intro", head, token=row.token)
    for key in row.told(head):
        yield _vector_fact(row, "keys", "key", row.k(head)[key], row.q_names, head, key=row.keys[key])


def _scores(row: _Row, head: int) -> Iterator[Fact]:
    t, q = row.trace, row.q[head]
    steps = scale_steps(t)
    if t.rule.softcap is not None:
        steps.append(["softcap", t.rule.softcap])
    yield row.fact("scores", "scores.intro", head, token=row.token)
    for key in row.told(head):
        data: dict[str, Any] = {
            "key": row.keys[key],
            "terms": terms_of(q, row.k(head)[key], row.q_names),
            "score": float(row.scores[head, key]),
        }
        if not row.allowed[key]:
            yield row.fact("scores", "score.hidden", head, **data)
            continue
        bias = [["bias", _bias(row, head, key)]] if t.rule.bias is not None else []
        kind = "score" if data["terms"] else "score.none"
        yield row.fact("scores", kind, head, steps=steps + bias, scaled=float(row.scaled[head, key]), **data)
    if steps[0][0] == "root" and row.allowed.any():
        yield row.fact("scores", "scores.why_root", head, d_head=t.d_head)


def _bias(row: _Row, head: int, key: int) -> float:
    bias = row.trace.rule.bias
    assert bias is not None
    block = bias.block(np.array([row.query]), np.array([key]))
    return float(block[head if block.shape[0] > 1 else 0, 0, 0])


def _weights(row: _Row, head: int) -> Iterator[Fact]:
    t, w, allowed = row.trace, row.weights[head], row.allowed
    hidden = [row.keys[key] for key in np.flatnonzero(~allowed)]
    n_allowed = int(allowed.sum())
    if n_allowed == 0:
        yield row.fact("weights", "row.nothing", head, token=row.token)
        return
    if hidden:
        yield row.fact(
            "weights",
            "row.hidden",
            head,
            token=row.token,
            keys=hidden[:MOST_KEYS],
            n_hidden=len(hidden),
            n=len(row.keys),
        )
    scaled = row.scaled[head]
    top = float(scaled[allowed].max())
    sink = None if t.rule.sink is None else float(t.rule.sink[head])
    top = top if sink is None else max(top, sink)
    exp = np.where(allowed, np.exp(np.where(allowed, scaled - top, 0)), 0)
    sink_exp = 0.0 if sink is None else float(np.exp(sink - top))
    total = float(exp.sum()) + sink_exp
    data: dict[str, Any] = {"n": n_allowed, "top": top, "total": total}
    if sink is None:
        yield row.fact("weights", "weights.intro", head, **data)
    else:
        yield row.fact("weights", "weights.intro.sink", head, sink=sink, sink_exp=sink_exp, **data)
    for key in row.told(head):
        if allowed[key]:
            yield row.fact(
                "weights", "weight", head, key=row.keys[key], scaled=float(scaled[key]), top=top, exp=float(exp[key]),
                total=total, weight=float(w[key]),
            )  # fmt: skip
    if len(row.keys) > MOST_KEYS:
        rest = float(np.delete(w, row.told(head)).sum())
        yield row.fact("weights", "weights.rest", head, n=len(row.keys) - MOST_KEYS, weight=rest)
    if sink is not None:
        yield row.fact("weights", "weights.sink", head, sum=float(w.sum()), share=sink_exp / total, sink=sink)
    else:
        yield row.fact("weights", "weights.sum", head, sum=float(w.sum()))
    yield from _shape(row, head, n_allowed)


def _shape(row: _Row, head: int, n_allowed: int) -> Iterator[Fact]:
    """Where a row is alone, uniform, tied or dominated by one key: that it is so, and why."""
    w, scaled, at = row.weights[head], row.scaled[head], np.flatnonzero(row.allowed)
    data = {"token": row.token, "n": n_allowed, "weight": float(w[at[0]])}
    if n_allowed == 1:
        yield row.fact("weights", "row.single", head, key=row.keys[at[0]], **data)
        return
    if np.ptp(scaled[at]) <= 1e-12 * max(1.0, float(np.abs(scaled[at]).max())):
        keys = row.k(head)[at]
        why = "zero_query" if not np.any(row.q[head]) else "same_keys" if np.ptp(keys, axis=0).max() == 0 else "equal"
        if row.trace.rule.bias is not None and why != "equal":
            why = "equal"
        yield row.fact("weights", f"row.uniform.{why}", head, score=float(scaled[at[0]]), **data)
        return
    yield from _ties(row, head, at)
    order = at[np.argsort(-w[at], kind="stable")]
    first, second = int(order[0]), int(order[1])
    if w[first] >= 0.9:
        gap = float(scaled[first] - scaled[second])
        far = {} if gap > 30 else {"ratio": float(np.exp(gap))}
        yield row.fact(
            "weights", "row.dominated" if far else "row.dominated.far", head, key=row.keys[first], second=row.keys[second],
            gap=gap, **(data | {"weight": float(w[first])} | far),
        )  # fmt: skip


def _ties(row: _Row, head: int, at: Any) -> Iterator[Fact]:
    scaled = row.scaled[head]
    if len(at) > 200:  # ties are told where a reader can see them
        return
    groups: dict[float, list[int]] = {}
    for key in at:
        same = next((s for s in groups if abs(s - scaled[key]) <= 1e-12 * max(1.0, abs(s))), float(scaled[key]))
        groups.setdefault(same, []).append(int(key))
    for score, keys in groups.items():
        if len(keys) < 2:
            continue
        k = row.k(head)[keys]
        products = row.q[head] * k
        biased = row.trace.rule.bias is not None
        why = (
            "same_keys"
            if np.ptp(k, axis=0).max() == 0 and not biased
            else "nothing"
            if not products.any() and not biased
            else "equal"
        )
        yield row.fact(
            "weights", f"row.tied.{why}", head, token=row.token, keys=[row.keys[key] for key in keys], score=score,
            weight=float(row.weights[head, keys[0]]),
        )  # fmt: skip


def _values(row: _Row, head: int) -> Iterator[Fact]:
    yield row.fact("values", "values.intro", head, token=row.token)
    v = row.v(head)
    for key in row.told(head):
        if not row.allowed[key]:
            continue
        w = float(row.weights[head, key])
        data = {"key": row.keys[key], "weight": w}
        if not np.any(v[key]):
            yield row.fact("values", "value.zero", head, **data)
        else:
            yield row.fact("values", "value", head, value=_floats(v[key]), product=_floats(w * v[key]), **data)


def _output(row: _Row) -> Iterator[Fact]:
    t = row.trace
    for head in row.heads:
        if len(row.heads) > 1:
            yield row.fact("output", "head", head, head=head, n_heads=t.n_heads)
        yield row.fact("output", "output.intro", head, token=row.token)
        w, v = row.weights[head], row.v(head)
        empty: list[Any] = []
        for width in range(min(v.shape[1], MOST_KEYS)):
            name = row.v_names[width] if row.v_names else width
            terms = terms_of(w, v[:, width], row.keys, few=0)
            if terms:
                yield row.fact("output", "output.dim", head, dim=name, terms=terms, value=float(row.mixed[head, width]))
            else:
                empty.append(name)
        if empty:
            yield row.fact("output", "output.rest", head, dims=empty)
    has_o = t.heads is not None and (t.heads.w_o is not None or t.heads.b_o is not None)
    if t.n_heads > 1 or has_o:
        yield row.fact(
            "output", "output.joined" if not has_o else "output.w_o", n_heads=t.n_heads, vector=_floats(row.output)
        )
    yield _vector_fact(row, "output", "output", row.output, row.out_names)


def _ranking(row: _Row) -> Iterator[Fact]:
    if not row.allowed.any():
        return
    mean = row.mean
    order = [int(key) for key in np.argsort(-mean, kind="stable") if row.allowed[key]]
    ranked = [[row.keys[key], float(mean[key])] for key in order[:MOST_KEYS]]
    kind = "ranking" if len(row.heads) == 1 else "ranking.mean"
    yield row.fact("ranking", kind, token=row.token, ranked=ranked)
    if len(order) == 1:  # told by the weights already
        return
    spread = float(np.ptp(mean[order]))
    if spread < 1e-9:
        yield row.fact("ranking", "conclusion.even", token=row.token)
        return
    self_first = order[0] == row.query and row.trace.key_tokens is None
    most = "conclusion.itself" if self_first else "conclusion.most"
    data: dict[str, Any] = {"token": row.token, "key": row.keys[order[0]], "weight": float(mean[order[0]])}
    alike = [key for key in order[1:] if abs(mean[key] - mean[order[1]]) <= 1e-12]
    data["second_weight"] = float(mean[order[1]])
    if len(alike) == 1:
        yield row.fact("ranking", most, second=row.keys[order[1]], **data)
    else:
        yield row.fact("ranking", f"{most}.alike", n_alike=len(alike), **data)
    if row.names is not None and row.trace.key_tokens is None and row.trace.x is not None:
        read = [key for key in order if key != row.query and mean[key] >= 0.5 / len(order) and np.any(row.trace.x[key])]
        found = [row.names[int(np.argmax(np.abs(row.trace.x[key])))] for key in read[:MOST_TERMS]]
        if found:
            yield row.fact("ranking", "conclusion.reading", token=row.token, names=list(dict.fromkeys(found)))


def _change(row: _Row) -> Iterator[Fact]:
    if row.x is None:
        return
    if row.out_names is None:
        yield row.fact("change", "change.numbers", token=row.token, before=_floats(row.x), after=_floats(row.output))
        return
    before, after = dims_of(row.x, row.out_names), dims_of(row.output, row.out_names)
    had = {name for name, _ in before}
    gained = [[name, a] for name, a in after if name not in had]
    lost = [name for name, _ in before if name not in {name for name, _ in after}]
    if not after:
        yield row.fact("change", "change.nothing", token=row.token)
    elif not before:
        yield row.fact("change", "change.from_nothing", token=row.token, gained=gained)
    elif gained:
        yield row.fact("change", "change.gained", token=row.token, before=[name for name, _ in before], gained=gained)
    elif np.allclose(row.x, row.output, rtol=1e-12, atol=0):
        yield row.fact("change", "change.none", token=row.token)
    else:
        yield row.fact("change", "change.same", token=row.token, after=after)
    kept = [[name, a] for name, a in after if name in had]
    if gained and kept:
        was = [[name, a] for name, a in before if name in dict(after)]
        yield row.fact("change", "change.kept", token=row.token, before=was, after=kept)
    if lost and after:
        yield row.fact("change", "change.lost", token=row.token, lost=lost)
    if row.trace.source.details.get("residual"):
        total = dims_of(row.x + row.output, row.out_names)
        is_last = row.layer is None or row.layer + 1 == row.trace.source.details.get("n_layers")
        yield row.fact("change", "change.residual_last" if is_last else "change.residual", token=row.token, dims=total)


def _analogies(row: _Row) -> Iterator[Fact]:
    if not row.allowed.any():
        return
    t, mean = row.trace, row.mean
    key = int(np.argmax(np.where(row.allowed, mean, -1)))
    data = {"token": row.token, "key": row.keys[key], "weight": float(mean[key])}
    n_allowed, crossed = int(row.allowed.sum()), t.key_tokens is not None
    even = n_allowed > 1 and float(np.ptp(mean[row.allowed])) < 1e-9
    if t.rule.allowed.kind != "everything":
        yield row.fact("analogies", "analogy.classroom.masked", n=t.n_keys, n_allowed=n_allowed, token=row.token)
    elif not crossed:
        yield row.fact(
            "analogies", "analogy.classroom", n=t.n_keys, n_questions=t.n_queries * t.n_keys, token=row.token
        )
    yield row.fact("analogies", "analogy.listens.even" if even else "analogy.listens", **data)
    yield row.fact("analogies", "analogy.library.even" if even else "analogy.library", **data)
    if not crossed:
        q, k, v = row.q[row.heads[0]], row.k(row.heads[0])[row.query], row.v(row.heads[0])[row.query]
        yield row.fact("analogies", "analogy.three", q=_floats(q), k=_floats(k), v=_floats(v), token=row.token)


def _summary(row: _Row) -> Iterator[Fact]:
    for name in ("embedding", "query", "key", "value", "score", "softmax", "mix"):
        yield row.fact("summary", f"summary.{name}", token=row.token)
    kind = "definition" if row.trace.key_tokens is None else "definition.cross"
    yield row.fact("definition", kind, n=int(row.allowed.sum()))


# several layers ---------------------------------------------------------------------------------


def facts_of_layers(reading: Reading, query: int, pair: Reading | None = None) -> tuple[Fact, ...]:
    """What several layers can do that one cannot, for one token: the ratio of two weights, layer by layer.

    pair : the reading of a sentence that differs in other words, to show that layer 0 cannot tell them apart
    """
    last = reading[-1]
    weights = last.rows("weights", queries=[query])[:, 0].mean(axis=0)
    order = np.argsort(-weights, kind="stable")
    a = int(order[0])
    b = _rival(reading, pair, query, a, order)
    if b is None:
        return ()
    token, first, second = token_name(reading.tokens, query), *(token_name(last.read_tokens, at) for at in (a, b))
    ratios = [_ratio(trace, query, a, b) for trace in reading]
    data: dict[str, Any] = {"token": token, "a": first, "b": second}
    found = [Fact("layers", "limit.rule", {"token": token}), Fact("layers", "limit.first", data | {"ratio": ratios[0]})]
    other = None if pair is None else _other_ratio(pair, token, first, second)
    if other is not None:
        found.append(Fact("layers", "limit.pair", data | {"other": other[0]}))
    gained = _taken_in(reading, query)
    if gained:
        found.append(Fact("layers", "limit.taken_in", gained | {"token": token}))
    found.append(Fact("layers", "limit.last", data | {"layer": len(reading) - 1, "ratio": ratios[-1]}))
    if other is not None:
        found.append(Fact("layers", "limit.pair_last", data | {"layer": len(reading) - 1, "other": other[1]}))
    return tuple(found)


def _rival(reading: Reading, pair: Reading | None, query: int, a: int, order: Any) -> int | None:
    """The key to set beside the heaviest: what the pair's sentence attends to instead, or the second heaviest."""
    if pair is not None and query < pair[-1].n_queries:
        theirs = pair[-1].rows("weights", queries=[query])[:, 0].mean(axis=0)
        b = int(np.argmax(theirs))
        if b != a and b < len(order) and pair.tokens[b].text == reading.tokens[b].text:
            return b
    others = [int(key) for key in order if key not in (a, query)]
    return others[0] if others else None


def _ratio(trace: Trace, query: int, a: int, b: int) -> float:
    """weight of a over weight of b, from their scaled scores, mean over the heads in logs."""
    scaled = trace.rows("scaled", queries=[query])[:, 0]
    return float(np.exp(np.clip((scaled[:, a] - scaled[:, b]).mean(), -700, 700)))


def _other_ratio(pair: Reading, token: str, a: str, b: str) -> tuple[float, float] | None:
    names = token_names(pair.tokens)
    if not {token, a, b} <= set(names):
        return None
    at = [names.index(name) for name in (token, a, b)]
    return _ratio(pair[0], *at), _ratio(pair[-1], *at)


def _taken_in(reading: Reading, query: int) -> dict[str, Any] | None:
    """What the token took in from the key (other than itself) that it read most in layer 0: weight · v of that key."""
    first = reading[0]
    names = names_of(first, "output")
    made_by = first.heads
    if names is None or made_by is None or made_by.w_o is not None or first.n_heads > 1 or first.key_tokens is not None:
        return None
    if not first.source.details.get("residual"):
        return None
    weights = first.rows("weights", queries=[query])[0, 0].copy()
    weights[query] = 0
    key = int(np.argmax(weights))
    dims = [[name, a] for name, a in dims_of(weights[key] * first.v[0, key], names) if abs(a) >= 0.1]
    return {"key": token_name(first.read_tokens, key), "dims": dims} if dims else None


# small ------------------------------------------------------------------------------------------


def _floats(vector: Any) -> list[float]:
    return [float(a) for a in vector]


def dims_of(vector: Any, names: Sequence[str]) -> list[list[Any]]:
    """The dimensions that are not 0, the largest first."""
    order = np.argsort(-np.abs(vector), kind="stable")
    return [[names[i], float(vector[i])] for i in order if vector[i] != 0]


def terms_of(a: Any, b: Any, names: Sequence[str] | None, few: int = 4) -> list[list[Any]]:
    """The products of a sum: all where they are few, else those that are not 0, the largest and the sum of the rest."""
    products = a * b
    at = np.flatnonzero(products) if len(products) > few else np.arange(len(products))
    if len(at) > MOST_TERMS:
        at = np.sort(at[np.argsort(-np.abs(products[at]), kind="stable")[:MOST_TERMS]])
    found = [[names[i] if names else i, float(a[i]), float(b[i])] for i in at.tolist()]
    n_left = int(np.count_nonzero(products)) - int(np.count_nonzero(products[at]))
    return found + ([[None, n_left, float(np.delete(products, at).sum())]] if n_left else [])
