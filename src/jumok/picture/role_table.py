"""What was measured over a corpus, on a terminal: for each role the head that plays it best, and what it is held against."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..explanation.head_cards import copying_told
from ..measurement.roles.definitions import ROLES, definition
from ..measurement.roles.table import HeadRole
from ..measurement.running.measured import Measured, verdict
from ..words import LANGS, counted, name_shown

__all__ = ["printed"]

WORDS = {
    "about": (
        "{model} · {corpus} · {of_sentences}, {of_tokens}",
        "{model} · {corpus} · 문장 {sentences:,}개, 토큰 {tokens:,}개",
    ),
    "title": ("The best head of each role", "역할마다 가장 잘하는 헤드"),
    "role": ("role", "역할"),
    "head": ("head", "헤드"),
    "score": ("score", "점수"),
    "baseline": ("baseline", "기준선"),
    "interval": ("ahead by (95%)", "앞선 폭 (95%)"),
    "heads": ("evidence", "근거 있음"),
    "of": ("{some} of {n}", "{n}개 중 {some}"),
    "none": ("none of {n}", "{n}개 중 0"),
    "too-few": ("too few", "문장 부족"),
    "threshold": ("bar", "문턱"),
    "even": ("even", "고름"),
    "signs": (
        "score and baseline: see jumok roles; \"{even}\": even weights, \"-1\": always the token before, \"{bar}\": a fixed bar. "
        "Ahead by: the difference's 95% interval over sentences. Evidence: heads with q ≤ 0.05 over {tested:,} tests "
        "(Benjamini-Hochberg). Numbers are rounded.",
        "점수와 기준선의 뜻은 jumok roles. \"{even}\": 고른 가중치, \"-1\": 늘 바로 앞 토큰, \"{bar}\": 정해진 문턱. 앞선 폭: 문장에 대한 "
        "차이의 95% 신뢰 구간. 근거 있음: 검정 {tested:,}번을 보정해 q ≤ 0.05인 헤드의 수 (Benjamini-Hochberg). 숫자는 반올림한 것입니다.",
    ),
    "named": (
        "{named} of {n} heads have a role; of {rest} there is no evidence for any.",
        "헤드 {n}개 가운데 {named}개에 역할이 있고, {rest}개에는 어느 역할에도 근거가 없습니다.",
    ),
    "sink": (
        "Set apart before any of this: the first token and marks, which take {share:.0%} of a head's weight on average.",
        "미리 빼고 본 것: 첫 토큰과 표시. 헤드 가중치의 평균 {share:.0%}가 여기에 있습니다.",
    ),
    "more": ("In the table, too: {of_roles} more (--json, or -o).", "표에는 역할이 {n}개 더 있습니다 (--json 또는 -o)."),
    "no_case": ("Without a case in this corpus: {roles}.", "이 말뭉치에 해당하는 경우가 없는 역할: {roles}."),
    "left_out": (
        "Not measured: {of_sentences}, shorter than 3 tokens, or longer than the model reads ({first} …).",
        "문장 {n}개는 측정하지 않았습니다. 토큰 3개보다 짧거나 모델이 읽는 길이를 넘습니다({first} …).",
    ),
}  # fmt: skip


def printed(screen: Any, measured: Measured) -> None:
    """The closing table: best heads with baseline and interval, and of how many there is no evidence."""
    lang = screen.lang
    screen.say(_about(measured, lang), "bold")
    screen.title(_word("title", lang))
    shown = [role.name for role in ROLES if any(row.role == role.name for row in measured.table.rows)]
    header = [_word(name, lang) for name in ("role", "head", "score", "baseline", "interval", "heads")]
    screen.listed([_row(measured, role, lang) for role in shown], header)
    screen.say()
    for line in _notes(measured, shown, lang):
        screen.say(line)
    words = {"even": _word("even", lang), "bar": _word("threshold", lang), "tested": measured.table.n_tested}
    screen.say(_word("signs", lang, **words), "dim")


def _about(measured: Measured, lang: str) -> str:
    n = {"sentences": measured.n_sentences, "tokens": measured.n_tokens}
    of = {f"of_{name}": counted(count, name.removesuffix("s")) for name, count in n.items()}
    names = {"model": name_shown(measured.model), "corpus": name_shown(measured.corpus_name(lang))}
    return _word("about", lang, **names, **n, **of)


def _row(measured: Measured, role: str, lang: str) -> list[str]:
    rows = [row for row in measured.table.rows if row.role == role]
    best = measured.table.best(role)
    shown = best or max(rows, key=lambda row: row.difference)
    n_found = sum(row.evidence for row in rows)
    few = all(verdict(row) == "too-few" for row in rows)
    told = "too-few" if few else "of" if n_found else "none"
    numbers = [f"L{shown.layer}H{shown.head}", f"{shown.score:.3f}", _baseline(shown, lang), _interval(shown)]
    if best is None:
        numbers = [f"({numbers[0]})", *numbers[1:]]
    return [definition(role).title(lang), *numbers, _word(told, lang, some=n_found, n=len(rows))]


def _baseline(row: HeadRole, lang: str) -> str:
    rule = row.baseline_rule
    name = rule.removeprefix("offset:") if rule.startswith("offset:") else _word(rule, lang)
    return f"{row.baseline:.3f} {name}"


def _interval(row: HeadRole) -> str:
    return f"{row.low:.3f} … {row.high:.3f}"


def _notes(measured: Measured, shown: Sequence[str], lang: str) -> list[str]:
    table = measured.table
    places = [(layer, head) for layer, n in enumerate(table.n_heads) for head in range(n)]
    named = sum(table.role_of(*place) is not None for place in places)
    made = [_word("named", lang, named=named, n=len(places), rest=len(places) - named)]
    sinks = [row.with_sink for row in table.rows if row.role in ("first", "separator")]
    if sinks:
        made.append(_word("sink", lang, share=sum(sinks) / len(places)))
    more = len({row.role for row in table.rows} - {*shown})
    if more:
        made.append(_word("more", lang, n=more, of_roles=counted(more, "role")))
    there = {row.role for row in table.rows}
    lacking = [role for role in measured.plan.get("settings", {}).get("roles") or () if role not in there]
    if lacking:
        made.append(_word("no_case", lang, roles=", ".join(definition(role).title(lang) for role in lacking)))
    made += copying_told(measured, lang)
    n_left = measured.plan.get("corpus", {}).get("n_left_out", len(measured.left_out))
    if n_left:
        first, of = name_shown(measured.left_out[0].name), counted(n_left, "sentence")
        made.append(_word("left_out", lang, n=n_left, of_sentences=of, first=first))
    return made


def _word(name: str, lang: str, **data: Any) -> str:
    return WORDS[name][LANGS.index(lang)].format(**data)
