"""A head card: what one head does over a corpus, in sentences, each with the numbers that say so.

Facts carry numbers, phrases carry words. What is not evidence is said to be none, and the best trivial rule is named
with its number, so that nobody takes one picture for a finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..measurement.roles.definitions import definition
from ..measurement.roles.table import ENOUGH, LEAST_WAY, HeadRole
from ..tokens import position
from ..words import LANGS, counted, fill, language, with_particle
from .facts import Fact

if TYPE_CHECKING:
    from ..measurement.running.measured import Copied, HeadExample, Measured

__all__ = ["HeadCard", "card", "cards", "copying_told", "overview", "rule_name"]

SUNK = 0.1  # of a head's weight on the first token: from here on it is told
MOST_ALSO = 4
MOST_EXAMPLES = 3

PHRASES = {
    "named": (
        "Layer {layer:int}, head {head:int}: evidence for the role \"{title:text}\" ({text:text}).",
        "{layer:int}층 {head:int}번 헤드: '{title:text}' 역할을 한다는 근거가 있습니다. {text:text}.",
    ),
    "none": (
        "Layer {layer:int}, head {head:int}: no evidence for any of the {n_roles:int} roles that were measured.",
        "{layer:int}층 {head:int}번 헤드: 측정한 역할 {n_roles:int}가지 가운데 근거가 있는 것이 없습니다.",
    ),
    "trace": (
        "Layer {layer:int}, head {head:int}: no role names it. There is evidence for \"{title:text}\" ({text:text}), but of too little: "
        "{why:text}.",
        "{layer:int}층 {head:int}번 헤드: 이 헤드가 하는 일이라고 할 만한 역할이 없습니다. '{title:text}' 역할의 근거는 있지만({text:text}) "
        "그 정도가 작습니다. {why:text}.",
    ),
    "few": (
        "Layer {layer:int}, head {head:int}: nothing can be said, for no role has a case in {enough:int} sentences or more; the most has "
        "{n_sentences:int}.",
        "{layer:int}층 {head:int}번 헤드: 해당하는 문장이 {enough:int}개 이상인 역할이 없어 아무 말도 할 수 없습니다. 가장 많은 역할이 "
        "{n_sentences:int}개입니다.",
    ),
    "unmeasured": (
        "Layer {layer:int}, head {head:int}: no role has a case in this corpus.",
        "{layer:int}층 {head:int}번 헤드: 이 말뭉치에는 어느 역할도 해당하는 경우가 없습니다.",
    ),
    "nearest": (
        "It comes nearest to \"{title:text}\", and that may be chance.",
        "그나마 가장 가까운 역할은 '{title:text}'이지만 우연일 수 있습니다.",
    ),
    "most": (
        "In {score:pct} of {cases:text} ({sentences:text}) it attends most to the right {unit:text}; the best trivial rule to "
        "hold that against, {rule:text}, gets {baseline:pct}.",
        "{sentences:text}의 {cases:text} 가운데 {score:pct}에서 맞는 {read:text} 가장 많이 참고합니다. "
        "견줄 수 있는 가장 좋은 단순 규칙인 '{rule:text}'의 값은 {baseline:pct}입니다.",
    ),
    "positional": (
        "In {score:pct} of {cases:text} ({sentences:text}) it attends most to one and the same offset; {baseline:pct} is asked "
        "of a positional head.",
        "{sentences:text}의 {cases:text} 가운데 {score:pct}에서 늘 같은 칸을 가장 많이 참고합니다. "
        "위치로 정해지는 헤드라고 하려면 {baseline:pct}를 넘어야 합니다.",
    ),
    "weight": (
        "On average {score:pct} of its weight lies there ({cases:text}, {sentences:text}); the best trivial rule to hold "
        "that against, {rule:text}, gets {baseline:pct}.",
        "평균하여 가중치의 {score:pct}를 그곳에 둡니다({cases:text}, {sentences:text}). 견줄 수 있는 가장 좋은 단순 규칙인 "
        "'{rule:text}'의 값은 {baseline:pct}입니다.",
    ),
    "distance": (
        "Its mean distance, in tokens, is {score:n} ({cases:text}, {sentences:text}); the best trivial rule to hold that "
        "against, {rule:text}, gets {baseline:n}.",
        "평균 거리는 토큰 {score:n}칸입니다({cases:text}, {sentences:text}). 견줄 수 있는 가장 좋은 단순 규칙인 "
        "'{rule:text}'의 값은 {baseline:n}칸입니다.",
    ),
    "evenness": (
        "Its entropy is {score:pct} of that of even weights ({cases:text}, {sentences:text}); {baseline:pct} is asked of "
        "a broad head.",
        "엔트로피는 고른 가중치일 때의 {score:pct}입니다({cases:text}, {sentences:text}). 고르게 본다고 하려면 {baseline:pct}를 "
        "넘어야 합니다.",
    ),
    "sure": (
        "Difference: {difference:n}, 95% interval from {low:n} to {high:n} (bootstrap over sentences); p, corrected for all heads and roles: "
        "{q:n}.",
        "차이는 {difference:n}, 95% 신뢰 구간은 {low:n}부터 {high:n}까지입니다(문장을 다시 뽑는 부트스트랩). 모든 헤드와 역할에 맞추어 보정한 "
        "p는 {q:n}입니다.",
    ),
    "sure.distance": (
        "Difference, in tokens nearer: {difference:n}, 95% interval from {low:n} to {high:n} (bootstrap over sentences); p, corrected for "
        "all heads and roles: {q:n}.",
        "기준선보다 {difference:n}칸 가깝고, 95% 신뢰 구간은 {low:n}부터 {high:n}까지입니다(문장을 다시 뽑는 부트스트랩). 모든 헤드와 역할에 "
        "맞추어 보정한 p는 {q:n}입니다.",
    ),
    "sides": (
        "The mean weight on what is right is {with_sink:pct}; of the weight that is not on the sink, {without_sink:pct}.",
        "맞는 곳에 둔 가중치는 평균 {with_sink:pct}이고, 싱크에 둔 것을 빼고 보면 {without_sink:pct}입니다.",
    ),
    "sink": (
        "On the first token it puts {share:pct} of its weight; that was set apart before the other roles were judged.",
        "첫 토큰에는 가중치의 {share:pct}를 둡니다. 다른 역할은 이것을 빼고 판정했습니다.",
    ),
    "also": ("There is evidence for these too: {roles:text}.", "다음 역할의 근거도 있습니다: {roles:text}."),
    "copying": (
        "Copying score of its values, from the weights alone: {copying:n} (−1 to 1; above 0, a token that it reads becomes likelier).",
        "가중치만으로 계산한 복사 점수(copying score)는 {copying:n}입니다(−1부터 1까지이며, 0보다 크면 참고한 토큰이 다음에 나올 가능성을 "
        "높입니다).",
    ),
    "limit": (
        "This says where the head reads in this corpus. What the model loses without it has to be tried (jumok capture --cut).",
        "이 말뭉치에서 헤드가 어디를 참고하는지만 말해 줍니다. 그 헤드가 없으면 모델이 무엇을 잃는지는 끊어 보아야 압니다"
        "(jumok capture --cut).",
    ),
}  # fmt: skip
OVERVIEW = {
    "measured": (
        "Measured over {sentences:text} ({tokens:text}) of {corpus:e}, model {model:e}.",
        "{corpus:e}의 {sentences:text}({tokens:text})로 {model:e} 모델을 측정했습니다.",
    ),
    "found": (
        "Heads: {n_heads:int}. With evidence for a role that names them: {n_named:int}; with evidence, but of too little: {n_trace:int}; no "
        "evidence: {n_none:int}; too few sentences: {n_few:int}.",
        "헤드 {n_heads:int}개 가운데 맡은 역할의 근거가 있는 것 {n_named:int}개, 근거는 있지만 그 정도가 작은 것 {n_trace:int}개, 근거가 없는 것 "
        "{n_none:int}개, 문장이 모자라 말할 수 없는 것 {n_few:int}개.",
    ),
    "tests": (
        "{n_tested:int} pairs of head and role were tested and corrected together: of what is called evidence, at most one in twenty is "
        "false on average.",
        "헤드와 역할의 짝 {n_tested:int}개를 검정하고 함께 보정했습니다. 근거라고 한 것 가운데 틀린 것은 평균 20분의 1 이하입니다.",
    ),
    "copying": (
        "Highest copying score: {most:n}, head {layer:int}.{head:int}. From the weights alone; norms and biases are not counted.",
        "복사 점수(copying score)가 가장 높은 헤드는 {layer:int}.{head:int}번으로 {most:n}입니다. 가중치만으로 계산했고 정규화와 바이어스는 넣지 "
        "않았습니다.",
    ),
    "no_copying": ("No copying scores: {why:text}", "복사 점수(copying score)는 없습니다. {why:text}"),
    "left_out": (
        "Left out: sentences longer than the model takes, {n_long:int}; sentences under three tokens, {n_short:int}.",
        "뺀 문장: 모델이 받는 길이보다 긴 것 {n_long:int}개, 토큰이 셋보다 적은 것 {n_short:int}개.",
    ),
}  # fmt: skip
WHY = {
    "way": (
        "it has come less than a tenth of the way from the baseline to a perfect score",
        "기준선에서 만점까지의 길 가운데 10분의 1도 오지 못했습니다",
    ),
    "weight": (
        "less than a tenth of its weight lies there",
        "그곳에 둔 가중치가 10분의 1보다 작습니다",
    ),
}
RULES = {
    "even": ("even weights", "고른 가중치"),
    "threshold": ("a threshold", "문턱값"),
    "itself": ("always the {unit} itself", "늘 자기 자신"),
    "back": ("always the {unit} {n} back", "늘 {n}칸 앞의 {unit}"),
    "ahead": ("always the {unit} {n} ahead", "늘 {n}칸 뒤의 {unit}"),
}
UNITS = {False: ("token", "토큰"), True: ("word", "단어")}  # by whether the text has to be annotated
NOUNS = {"sentences": ("sentence", "문장"), "cases": ("case", "경우"), "tokens": ("token", "토큰")}  # that are counted
MORE = ("{n} more", "그 밖에 {n}가지")


Told = tuple[str, dict[str, Any]]  # a kind of fact, and its data


@dataclass(frozen=True, eq=False)
class HeadCard:
    """What one head does.

    rows : its roles, those first that it has come furthest in, those of too few sentences last;  role : the one that names it, or None
    told : the row that the numbers are of: ``role``, or the nearest to one; None where nothing can be said
    facts : in the order in which they are told;  examples : of ``told``
    """

    layer: int
    head: int
    rows: tuple[HeadRole, ...]
    role: HeadRole | None
    told: HeadRole | None
    facts: tuple[Fact, ...]
    examples: tuple[HeadExample, ...]

    @property
    def kind(self) -> str:
        """What is said of it first: "named" by a role, a "trace" of one, "none", "few" sentences, or "unmeasured"."""
        return self.facts[0].kind

    def sentences(self, lang: str = "en") -> tuple[str, ...]:
        """The facts as sentences, ``"en"`` or ``"ko"``."""
        return tuple(_sentence(fact, language(lang)) for fact in self.facts)

    def text(self, lang: str = "en") -> str:
        """All sentences, one a line."""
        return "\n".join(self.sentences(lang)) + "\n"

    def __str__(self) -> str:
        return self.text()


def card(measured: Measured, layer: int, head: int) -> HeadCard:
    """The card of one head.

    Errors: ``InputError`` where the model has no such layer or head.
    """
    at = position("layer", "층", layer, len(measured.table.n_heads))
    of = position("head", "헤드", head, measured.table.n_heads[at])
    return _card(measured, at, of, measured.table.of(at, of))


def cards(measured: Measured) -> Iterator[HeadCard]:
    """The cards of all heads, layer by layer."""
    for layer, n_heads in enumerate(measured.table.n_heads):
        for head in range(n_heads):
            yield _card(measured, layer, head, measured.table.of(layer, head))


def overview(measured: Measured, lang: str, all_cards: Iterable[HeadCard] | None = None) -> list[str]:
    """What was measured, and how many heads it says something of.

    all_cards : what ``cards`` gave, where it is there already
    """
    at = LANGS.index(language(lang))
    told = _counts(measured, lang, all_cards or cards(measured))
    made = [fill(OVERVIEW[kind][at], {**data, **_counted(data, lang)}, lang) for kind, data in told]
    return [*made, *copying_told(measured, lang)]


def copying_told(measured: Measured, lang: str) -> list[str]:
    """The highest copying score, or why there is none; [] where nobody asked for them."""
    at = LANGS.index(language(lang))
    return [fill(OVERVIEW[kind][at], data, lang) for kind, data in _copying(measured.copied, at)]


def _copying(copied: Copied, at: int) -> Iterator[Told]:
    if copied.why is not None:
        yield "no_copying", {"why": copied.why[at]}
    elif copied.scores:
        layer, head = max(copied.scores, key=lambda place: copied.scores[place])
        yield "copying", {"most": copied.scores[layer, head], "layer": layer, "head": head}


def _counts(measured: Measured, lang: str, all_cards: Iterable[HeadCard]) -> Iterator[Told]:
    names = ("model", "n_sentences", "n_tokens")
    yield "measured", {name: getattr(measured, name) for name in names} | {"corpus": measured.corpus_name(lang)}
    kinds = Counter(one.kind for one in all_cards)
    few = kinds["few"] + kinds["unmeasured"]
    counts = {"n_named": kinds["named"], "n_trace": kinds["trace"], "n_none": kinds["none"], "n_few": few}
    yield "found", {"n_heads": kinds.total(), **counts}
    if measured.table.n_tested:
        yield "tests", {"n_tested": measured.table.n_tested}
    why = Counter(one.why for one in measured.left_out)
    if why:
        yield "left_out", {"n_long": why["long"], "n_short": why["short"]}


def rule_name(rule: str, counts_words: bool, lang: str) -> str:
    """A baseline's rule in words.

    >>> rule_name("offset:-1", False, "en"), rule_name("even", False, "ko"), rule_name("offset:+2", True, "ko")
    ('always the token 1 back', '고른 가중치', '늘 2칸 뒤의 단어')
    """
    at = LANGS.index(language(lang))
    name, _, offset = rule.partition(":")
    n = int(offset or 0)
    kind = name if name != "offset" else "back" if n < 0 else "ahead" if n > 0 else "itself"
    return RULES[kind][at].format(n=abs(n), unit=UNITS[counts_words][at])


def _card(measured: Measured, layer: int, head: int, rows: tuple[HeadRole, ...]) -> HeadCard:
    rows = tuple(sorted(rows, key=lambda row: row.q is None))  # of too few sentences a score says least, however high
    role = next((row for row in rows if row.evidence and row.names_a_head), None)
    tested = [row for row in rows if row.q is not None]
    told = role or next((row for row in rows if row.evidence), None)
    told = told or min(tested, key=lambda row: (row.q, -row.way), default=None)
    told_of = _facts(rows, role, told, measured.copied.scores.get((layer, head)))
    facts = tuple(Fact("card", kind, data, head, layer) for kind, data in told_of)
    examples = () if told is None else measured.examples_of(layer, head, told.role)[:MOST_EXAMPLES]
    return HeadCard(layer, head, rows, role, told, facts, tuple(examples))


def _facts(
    rows: tuple[HeadRole, ...], role: HeadRole | None, told: HeadRole | None, copying: float | None
) -> Iterator[Told]:
    if told is None:
        most = max((row.n_sentences for row in rows), default=0)
        yield ("few", {"enough": ENOUGH, "n_sentences": most}) if rows else ("unmeasured", {})
        return
    yield from _verdict(len(rows), role, told)
    yield from _numbers(told)
    first = next((row for row in rows if row.role == "first"), None)
    if first is not None and told is not first and first.with_sink >= SUNK:
        yield "sink", {"share": first.with_sink}
    also = [row.role for row in rows if row.evidence and row.names_a_head and row is not role]
    if also:
        yield "also", {"roles": also}
    if copying is not None:
        yield "copying", {"copying": copying}
    yield "limit", {}


def _verdict(n_roles: int, role: HeadRole | None, told: HeadRole) -> Iterator[Told]:
    name = {"role": told.role}
    if role is not None:
        yield "named", name
    elif told.evidence:
        yield "trace", name | {"why": "way" if told.way < LEAST_WAY else "weight"}
    else:
        yield "none", {"n_roles": n_roles}
        yield "nearest", name


def _numbers(row: HeadRole) -> Iterator[Told]:
    """What was found of a role: the score beside the best trivial rule, and how sure that is."""
    measure = definition(row.role).measure
    kind = "positional" if row.role == "positional" else measure
    counts = {"n_cases": row.n_cases, "n_sentences": row.n_sentences}
    yield kind, {"role": row.role, "score": row.score, "baseline": row.baseline, "rule": row.baseline_rule, **counts}
    sure = {"difference": row.difference, "low": row.low, "high": row.high, "q": row.q}
    yield "sure.distance" if measure == "distance" else "sure", sure
    if measure == "most" and row.without_sink is not None:
        yield "sides", {"with_sink": row.with_sink, "without_sink": row.without_sink}


# words --------------------------------------------------------------------------------------------


def _sentence(fact: Fact, lang: str) -> str:
    data = {
        "layer": fact.layer,
        "head": fact.head,
        **fact.data,
        **_counted(fact.data, lang),
        **_in_words(fact.data, lang),
    }
    return fill(PHRASES[fact.kind][LANGS.index(lang)], data, lang)


def _counted(data: Mapping[str, Any], lang: str) -> dict[str, str]:
    """Counts with their nouns: 1 sentence, 2 sentences; 문장 2개."""
    made: dict[str, str] = {}
    for name, (en, ko) in NOUNS.items():
        n = data.get(f"n_{name}")
        if n is not None:
            made[name] = counted(n, en) if lang == "en" else f"{ko} {n:,}개"
    return made


def _in_words(data: Mapping[str, Any], lang: str) -> dict[str, str]:
    """The names among the facts, as somebody would say them."""
    at = LANGS.index(lang)
    made: dict[str, str] = {}
    if "role" in data:
        role = definition(data["role"])
        unit = UNITS[role.annotated][at]
        made = {"title": role.title(lang), "text": role.text(lang), "read": with_particle(unit, "을/를"), "unit": unit}
        if "rule" in data:
            made["rule"] = rule_name(data["rule"], role.annotated, lang)
    if "why" in data:
        made["why"] = WHY[data["why"]][at]
    if "roles" in data:
        titles = [definition(name).title(lang) for name in data["roles"]]
        rest = len(titles) - MOST_ALSO
        made["roles"] = ", ".join([*titles[:MOST_ALSO], *([MORE[at].format(n=rest)] if rest > 0 else [])])
    return made
