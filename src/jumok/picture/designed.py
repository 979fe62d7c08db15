"""A design on the terminal and as CSV: wanted beside reached, the weights, how near the best it is, and why no nearer.

What is shown comes from the records: the source of each tells what was wanted and how the design ended.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..explanation.explanation import default_token, why
from ..explanation.facts import MOST_KEYS, names_of
from ..explanation.why_query import wanted_row
from ..tokens import token_name, token_names
from ..trace import Floats, Trace
from ..words import LANGS, number, shown
from .grids import Grid, pared
from .terminal import MOST_COLUMNS, MOST_ROWS, Screen

__all__ = ["WORDS", "designed", "to_csv"]

MOST_TOLD = MOST_ROWS // 2  # wanted rows of a head, each with the reached one under it
MOST_SENTENCES = 4
ROUNDING = 1e-12
REACHED = 1e-7  # weights that differ by no more are the wanted ones
CSV_HEADER = ("sentence", "head", "stage", "query", "query_token", "key", "key_token", "dimension", "value")

WORDS = {
    "head": ("Wanted and reached · head {n}", "바라는 가중치와 얻은 가중치 · {n}번 헤드"),
    "one_head": ("Wanted and reached", "바라는 가중치와 얻은 가중치"),
    "rows": (
        "Attention weights: each wanted row, and under it the row that the design reaches.",
        "어텐션 가중치입니다. 바라는 행마다 그 아래에 설계한 W로 얻은 행이 있습니다.",
    ),
    "reached": ("  = reached", "  = 얻은 것"),
    "more_rows": (
        "… {n} more wanted rows, all nearer than these; --csv has all",
        "… 바라는 행 {n}개 더 있음(모두 여기 있는 것보다 가까움). 모두 보려면 --csv",
    ),
    "more_sentences": (
        "… {n} more sentences, all nearer than these; --csv has all",
        "… 문장 {n}개 더 있음(모두 여기 있는 것보다 가까움). 모두 보려면 --csv",
    ),
    "worst": (
        "The worst row: {token}, KL {error} nats from what is wanted; the largest difference is {off} ({key}: wanted {wanted}, "
        "reached {got}).",
        "가장 어긋난 행: {token}. 바라는 것과의 KL은 {error} nat, 가장 큰 차이는 {off}({key}: 바라는 것 {wanted}, 얻은 것 {got})입니다.",
    ),
    "worst_exact": (
        "The worst row: {token}, KL {error} nats from what is wanted; the largest difference is {off}.",
        "가장 어긋난 행: {token}. 바라는 것과의 KL은 {error} nat, 가장 큰 차이는 {off}입니다.",
    ),
    "exact": (
        "Reached: every wanted row, in every cell to 1e-7.",
        "바라는 대로 되었습니다. 바라는 행이 모두 칸마다 1e-7 안에서 같습니다.",
    ),
    "off": (
        "{loss} nats from what is wanted (sum of KL over the wanted rows).",
        "바라는 것과 {loss} nat 떨어져 있습니다(바라는 행의 KL 합).",
    ),
    "bound": (
        "No W_Q and W_K of any width is nearer by more than {gap} nats (proven).",
        "너비가 얼마인 W_Q와 W_K라도 이보다 {gap} nat 넘게 가까워질 수 없습니다(증명됨).",
    ),
    "bound_ridge": (
        "With a ridge of {ridge}, which keeps W finite, no W_Q and W_K of any width are nearer by more than {gap} nats (proven); "
        "with a smaller one they may be.",
        "W가 무한히 커지지 않게 하는 능형 항(ridge) {ridge}에서는 너비가 얼마인 W_Q와 W_K라도 이보다 {gap} nat 넘게 가까워질 수 "
        "없습니다(증명됨). 더 작은 능형 항에서는 가까워질 수 있습니다.",
    ),
    "gradient": ("Gradient norm: {gradient}.", "기울기의 노름: {gradient}."),
    "stopped": (
        "The search ended before that was proven to be small: this is the best so far.",
        "이 차이가 작다고 증명되기 전에 탐색이 끝났습니다. 지금까지 찾은 것 가운데 가장 나은 것입니다.",
    ),
    "form": ("W_Q · W_Kᵀ", "W_Q · W_Kᵀ"),
    "form_head": ("W_Q · W_Kᵀ · head {n}", "W_Q · W_Kᵀ · {n}번 헤드"),
    "form_said": (
        "Both together in the embedding's dimensions: how much a token of the row's dimension looks for the column's.",
        "둘을 합쳐 임베딩 차원으로 읽은 것입니다. 행의 차원을 가진 토큰이 열의 차원을 얼마나 찾는지를 나타냅니다.",
    ),
    "reasons": ("Why no nearer", "더 가까워질 수 없는 까닭"),
    "where": ("{place}: {text}", "{place}: {text}"),
    "at_head": ("head {n}", "{n}번 헤드"),
    "at_sentence": ("sentence {n}", "문장 {n}"),
    "lift": ("→ would lift it: {text}", "→ 풀려면: {text}"),
    "more_why": ("`jumok explain` tells the other rows.", "나머지 행은 `jumok explain`으로 볼 수 있습니다."),
}


def word(name: str, lang: str, /, **data: Any) -> str:
    """A phrase in a language."""
    return WORDS[name][LANGS.index(lang)].format(**data)


def designed(screen: Screen, traces: Sequence[Trace], names: Sequence[str]) -> None:
    """A design of one or several sentences.

    traces : (sentence,) what the design does, each with the design in its source;  names : what to call each
    """
    told = _worst_sentences(traces)
    for at in told:
        if len(traces) > 1:
            screen.say()
            screen.say(f"{word('at_sentence', screen.lang, n=at)}: {shown(names[at])}", "bold")
        screen.head([traces[at]])
        for head in range(traces[at].n_heads):
            _rows(screen, traces[at], at, head)
    if len(told) < len(traces):
        screen.say(word("more_sentences", screen.lang, n=len(traces) - len(told)), "dim")
    _ended(screen, traces[0])
    _weights(screen, traces[0])
    _reasons(screen, traces[0], len(traces))
    _why(screen, traces)
    screen.say()
    screen.say(screen.word("rounded" if screen.console.color_system is None else "legend"), "dim")


def _worst_sentences(traces: Sequence[Trace]) -> list[int]:
    """Those that are shown: all, or the furthest from what is wanted, in their order."""
    errors = [math.fsum(a or 0.0 for head in one for a in head) for one in _said(traces[0])["errors"]]
    return sorted(sorted(range(len(traces)), key=lambda at: -errors[at])[:MOST_SENTENCES])


def _said(trace: Trace) -> Mapping[str, Any]:
    told: Mapping[str, Any] = trace.source.details["design"]
    return told


def _small(value: float) -> str:
    """A number that may be far below 0.001; digits that are only rounding are not told."""
    return f"{value:.3g}" if abs(value) >= ROUNDING else f"<{ROUNDING:g}"


# tables -------------------------------------------------------------------------------------------


def _wanted(trace: Trace, head: int) -> dict[int, Floats]:
    """query → (key,) what was wanted."""
    rows = {query: wanted_row(trace, query, head) for query in range(trace.n_queries)}
    return {query: row for query, row in rows.items() if row is not None}


def _rows(screen: Screen, trace: Trace, sentence: int, head: int) -> None:
    """The wanted rows of one head beside what is reached, the worst ones where they are many; and the worst of all."""
    wanted = _wanted(trace, head)
    if not wanted:
        return
    errors = _said(trace)["errors"][sentence][head]
    worst = sorted(wanted, key=lambda query: -(errors[query] or 0.0))
    told = sorted(worst[:MOST_TOLD])
    several = trace.n_heads > 1
    screen.title(word("head" if several else "one_head", screen.lang, **({"n": head} if several else {})))
    screen.say(word("rows", screen.lang), "dim")
    screen.grid(
        pared(_grid(trace, head, {query: wanted[query] for query in told}, screen.lang), MOST_ROWS, MOST_COLUMNS)
    )
    if trace.n_keys > MOST_COLUMNS:
        screen.say(screen.word("pared", rows=0, columns=trace.n_keys - MOST_COLUMNS), "dim")
    if len(wanted) > len(told):
        screen.say(word("more_rows", screen.lang, n=len(wanted) - len(told)), "dim")
    _worst(screen, trace, head, worst[0], wanted[worst[0]], errors[worst[0]])


def _grid(trace: Trace, head: int, wanted: Mapping[int, Floats], lang: str) -> Grid:
    """(wanted and reached in turn, key)."""
    queries = list(wanted)
    reached = trace.rows("weights", heads=[head], queries=queries)[0]
    allowed = trace.rows("allowed", queries=queries)
    labels: list[str | int] = []
    for query in queries:
        labels += [token_name(trace.tokens, query), word("reached", lang)]
    values = np.stack([np.stack([wanted[query], row]) for query, row in zip(queries, reached, strict=True)])
    keys: list[str | int] = [*token_names(trace.read_tokens)]
    return Grid(
        "weights", labels, keys, values.reshape(len(labels), -1), head, None, list(range(len(keys))),
        np.repeat(~allowed, 2, axis=0),
    )  # fmt: skip


def _worst(screen: Screen, trace: Trace, head: int, query: int, wanted: Floats, error: float) -> None:
    reached = trace.rows("weights", heads=[head], queries=[query])[0, 0]
    off = np.abs(wanted - reached)
    key = int(off.argmax())
    screen.say(
        word(
            "worst_exact" if off[key] <= REACHED else "worst", screen.lang, token=shown(token_name(trace.tokens, query)),
            error=_small(error), off=_small(float(off[key])), key=shown(token_name(trace.read_tokens, key)),
            wanted=number(wanted[key]), got=number(reached[key]),
        )
    )  # fmt: skip


# how it ended, and the weights ----------------------------------------------------------------------


def _ended(screen: Screen, trace: Trace) -> None:
    """How near each head came, and how far from the best that could be at most."""
    screen.say()
    told = _said(trace)
    for at, head in enumerate(told["heads"]):
        off = max((a for one in told["differences"] for a in one[at] if a is not None), default=0.0)
        loss = math.fsum(a for one in told["errors"] for a in one[at] if a is not None)
        lines = [word("exact", screen.lang)] if off <= REACHED else []
        lines += [] if lines else [word("off", screen.lang, loss=_small(loss))]
        bound = "bound_ridge" if head["ridge"] else "bound"
        gap, ridge = _small(max(head["gap"], ROUNDING)), _small(head["ridge"])
        lines.append(word(bound, screen.lang, gap=gap, ridge=ridge))
        if not head["limited"]:  # there it is that of the best without the limit
            lines.append(word("gradient", screen.lang, gradient=_small(head["gradient"])))
        place = word("at_head", screen.lang, n=at) + ": " if len(told["heads"]) > 1 else ""
        screen.say(place + " ".join(lines))
    if not told["finished"]:
        screen.say(word("stopped", screen.lang), "bold")


def _weights(screen: Screen, trace: Trace) -> None:
    """W_Q and W_K; and both together, where only that can be read in named dimensions."""
    for stage in ("w_q", "w_k"):
        screen.stage(trace, stage, None, whole=False)
    names = names_of(trace, "x")
    for head, form in enumerate(_forms(trace) if names is not None else ()):
        assert names is not None
        several = trace.n_heads > 1
        screen.title(word("form_head", screen.lang, n=head) if several else word("form", screen.lang))
        screen.say(word("form_said", screen.lang), "dim")
        screen.grid(pared(Grid("form", [*names], [*names], form), MOST_ROWS, MOST_COLUMNS))


def _forms(trace: Trace) -> Iterator[Floats]:
    """(head,) W_Q W_Kᵀ; nothing where one of the two is the identity, so that the other says it all."""
    made_by = trace.heads
    if made_by is None or any(np.array_equal(w, np.eye(len(w))) for w in (made_by.w_q, made_by.w_k)):
        return
    sides = (np.split(w, trace.n_heads, axis=1) for w in (made_by.w_q, made_by.w_k))
    yield from (np.asarray(w_q @ w_k.T) for w_q, w_k in zip(*sides, strict=True))


# why ----------------------------------------------------------------------------------------------


def _reasons(screen: Screen, trace: Trace, n_sentences: int) -> None:
    told = _said(trace)
    if not told["reasons"]:
        return
    screen.title(word("reasons", screen.lang))
    for reason in told["reasons"]:
        places = [word("at_head", screen.lang, n=reason["head"])] if len(told["heads"]) > 1 else []
        if n_sentences > 1 and reason["sentence"] is not None:
            places.append(word("at_sentence", screen.lang, n=reason["sentence"]))
        text = reason["text"][screen.lang]
        screen.entries([(True, word("where", screen.lang, place=", ".join(places), text=text) if places else text)])
        for lift in reason["lifts"]:
            screen.say(word("lift", screen.lang, text=lift["text"][screen.lang]), before="    ")


def _why(screen: Screen, traces: Sequence[Trace]) -> None:
    """How the query of one reached row was found: of the token to look at first, where it is one of them."""
    reached = [(trace, query) for at, trace in enumerate(traces) for query in _reached(trace, at)]
    if not reached:
        return
    trace, query = next(((t, q) for t, q in reached if q == default_token(t)), reached[0])
    for section in why(trace, query, screen.lang).sections():
        screen.title(section.title)
        screen.entries(section.lines)
        if len(reached) > 1:
            screen.say(word("more_why", screen.lang), "dim")


def _reached(trace: Trace, sentence: int) -> Iterator[int]:
    """The queries of a short sentence whose wanted row is reached in every head that wants it."""
    if trace.n_keys > MOST_KEYS:
        return
    for query in range(trace.n_queries):
        off = [head[query] for head in _said(trace)["differences"][sentence] if head[query] is not None]
        if off and max(off) <= REACHED:
            yield query


# CSV ----------------------------------------------------------------------------------------------


def to_csv(traces: Sequence[Trace]) -> str:
    """Wanted rows, what is reached of them, W_Q and W_K as CSV in long form, one number a line, every digit."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_HEADER)
    for sentence, trace in enumerate(traces):
        for head in range(trace.n_heads):
            writer.writerows([sentence, head, *cells] for cells in _cells(trace, head))
    writer.writerows(_numbers_of_w(traces[0]))
    return out.getvalue()


def _cells(trace: Trace, head: int) -> Iterator[list[Any]]:
    for query, wanted in _wanted(trace, head).items():
        reached = trace.rows("weights", heads=[head], queries=[query])[0, 0]
        for stage, row in (("wanted", wanted), ("weights", reached)):
            for key, value in enumerate(row):
                tokens = [query, trace.tokens[query].text, key, trace.read_tokens[key].text]
                yield [stage, *tokens, "", repr(float(value))]


def _numbers_of_w(trace: Trace) -> Iterator[list[Any]]:
    assert trace.heads is not None
    names: Sequence[str | int] = names_of(trace, "x") or range(trace.heads.w_q.shape[0])
    for stage in ("w_q", "w_k"):
        for name, row in zip(names, getattr(trace.heads, stage), strict=True):
            for column, value in enumerate(row):
                head, at = divmod(column, trace.d_head)
                yield ["", head, stage, "", "", "", "", f"{name} -> {at}", repr(float(value))]
