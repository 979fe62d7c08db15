"""What each role means: in words, as a formula, after which paper, and the figures that were published of it.

>>> definition("previous").title("en"), definition("nsubj:to-head").title("en"), definition("offset:+3").measure
('previous token', 'nsubj: dependent to head', 'most')
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...tokens import unknown_name
from ...words import LANGS, fill, language
from .cases import OFFSETS, offset_role

__all__ = ["FAMILIES", "ROLES", "Role", "definition", "sections"]

Pair = tuple[str, str]  # English, Korean

POSITIONAL = 0.9  # Voita et al.: the largest weight at one offset in nine of ten rows
BROAD = 0.9  # of the entropy of even weights


@dataclass(frozen=True)
class Role:
    """One role.

    titles, texts : what it is called and what it means, (en, ko)
    formula : with q a query, k a key, w(q,k) a weight, S the sink, C(q) the candidates, R(q) the keys that are right
    paper : whose definition it is;  figures : what was published, (en, ko) each
    measure : "most", the share of cases whose most attended candidate is right; "weight", the mean weight on what is
        right; "distance"; "evenness"
    baseline : "best", the better of the best fixed offset and even weights on the same cases; "even"; or a threshold
    beside : another score that is told with it, (en, ko)
    """

    name: str
    titles: Pair
    texts: Pair
    formula: str
    paper: str
    figures: tuple[Pair, ...] = ()
    measure: str = "most"
    baseline: str | float = "best"
    annotated: bool = False
    beside: Pair | None = None

    def title(self, lang: str) -> str:
        """What it is called, ``"en"`` or ``"ko"``."""
        return self.titles[LANGS.index(language(lang))]

    def text(self, lang: str) -> str:
        """What it means."""
        return self.texts[LANGS.index(language(lang))]

    def published(self, lang: str) -> tuple[str, ...]:
        """The figures to hold it against."""
        return tuple(figure[LANGS.index(language(lang))] for figure in self.figures)


VOITA = "Voita et al. 2019, Analyzing Multi-Head Self-Attention"
CLARK = "Clark et al. 2019, What Does BERT Look At?"
VIG = "Vig & Belinkov 2019, Analyzing the Structure of Attention in a Transformer Language Model"
OLSSON = "Olsson et al. 2022, In-context Learning and Induction Heads"
WANG = "Wang et al. 2022, Interpretability in the Wild"
GU = "Gu et al. 2025, When Attention Sink Emerges in Language Models"

_MOST = "mean over q of [argmax over k in C(q) of w(q,k) is in R(q)]"
_AT = "R(q) = {{q{0}}};  " + _MOST


def _at(offset: int) -> str:
    return _AT.format("" if offset == 0 else f" {'-' if offset < 0 else '+'} {abs(offset)}")


_PLACES = (
    Role(
        "previous",
        ("previous token", "바로 앞 토큰"),
        (
            "reads the token before the query",
            "쿼리 바로 앞 토큰을 참고합니다",
        ),
        _at(-1),
        f"{VOITA}; {CLARK}",
        (
            (
                "Vig & Belinkov, GPT-2 small: L4H11 is the previous-token head",
                "Vig & Belinkov, GPT-2 small: L4H11이 바로 앞 토큰을 보는 헤드",
            ),
            (
                "Wang et al., GPT-2 small: L2H2, L4H11",
                "Wang 외, GPT-2 small: L2H2, L4H11",
            ),
            (
                "Clark et al., BERT base: four heads (layers 2, 4, 7, 8) put over half of their weight on it",
                "Clark 외, BERT base: 헤드 4개(2, 4, 7, 8층)가 가중치의 절반 넘게 둠",
            ),
        ),
        baseline="even",
    ),
    Role(
        "next",
        ("next token", "바로 뒤 토큰"),
        ("reads the token after the query", "쿼리 바로 뒤 토큰을 참고합니다"),
        _at(1),
        f"{VOITA}; {CLARK}",
        (
            (
                "Clark et al., BERT base: five heads (layers 1, 2, 2, 3, 6) put over half of their weight on it",
                "Clark 외, BERT base: 헤드 5개(1, 2, 2, 3, 6층)가 가중치의 절반 넘게 둠",
            ),
        ),
        baseline="even",
    ),
    Role(
        "self",
        ("the token itself", "자기 자신"),
        ("reads the query's own token", "쿼리 자신의 토큰을 참고합니다"),
        _at(0),
        CLARK,
        baseline="even",
    ),
    Role(
        "positional",
        ("positional", "위치로 정해짐"),
        (
            "reads one fixed offset, from 8 back to 8 ahead, in nine of ten rows or more",
            "8칸 앞부터 8칸 뒤까지 가운데 정해진 한 칸을 열 줄 가운데 아홉 줄 넘게 가장 많이 참고합니다",
        ),
        f"max over d of mean over q of [argmax over k in C(q) of w(q,k) = q + d];  held against {POSITIONAL}",
        VOITA,
        (("Voita et al.: at least 90% of the time", "Voita 외: 전체의 90% 이상"),),
        baseline=POSITIONAL,
    ),
    Role(
        "near",
        ("near", "가까이 봄"),
        (
            "reads near tokens: the mean distance is below that of even weights",
            "가까운 토큰을 참고합니다. 평균 거리가 고른 가중치일 때보다 짧습니다",
        ),
        "Σ w(q,k)·|q - k| / Σ w(q,k), over k not in S",
        VIG,
        (
            (
                "Vig & Belinkov, GPT-2 small: L5H1 mean distance 14.2; correlation of distance with entropy 0.61",
                "Vig & Belinkov, GPT-2 small: L5H1 평균 거리 14.2, 거리와 엔트로피의 상관 0.61",
            ),
        ),
        measure="distance",
        baseline="even",
    ),
    Role(
        "broad",
        ("broad", "고르게 봄"),
        (
            "shares its weight out almost evenly: nine tenths of the entropy of even weights or more",
            "가중치를 거의 고르게 나눕니다. 엔트로피가 고른 가중치일 때의 90%를 넘습니다",
        ),
        f"mean over q of H(q) / ln(number of keys that q may read), H(q) the entropy of w(q,·), S counted;  held against {BROAD}",
        f"{CLARK}; {VIG}",
        (("Vig & Belinkov, GPT-2 small: L5H1 entropy 0.41", "Vig & Belinkov, GPT-2 small: L5H1 엔트로피 0.41"),),
        measure="evenness",
        baseline=BROAD,
    ),
)
_SINKS = (
    Role(
        "first",
        ("first token (sink)", "첫 토큰 (어텐션 싱크)"),
        (
            "puts its weight on the first token, which takes what a head has no use for; set apart in all other roles",
            "첫 토큰에 가중치를 둡니다. 헤드가 쓸 데 없는 가중치가 모이는 곳이므로 다른 역할에서는 빼고 봅니다",
        ),
        "mean over q of w(q,0)",
        GU,
        (
            (
                "Gu et al.: a sink is a mean weight over 0.3 on the first token, at 64 tokens",
                "Gu 외: 토큰 64개에서 첫 토큰의 평균 가중치가 0.3을 넘으면 싱크",
            ),
            ("Vig & Belinkov, GPT-2 small: 57% of attention", "Vig & Belinkov, GPT-2 small: 어텐션의 57%"),
        ),
        measure="weight",
        baseline="even",
    ),
    Role(
        "separator",
        ("marks such as [SEP]", "[SEP] 같은 표시"),
        (
            "puts its weight on marks that the tokenizer added, other than the first token",
            "첫 토큰이 아닌, 토크나이저가 붙인 표시에 가중치를 둡니다",
        ),
        "mean over q of Σ w(q,k) over marks k > 0",
        CLARK,
        (
            (
                "Clark et al., BERT base: over half of the attention of layers 6 to 10 goes to [SEP]",
                "Clark 외, BERT base: 6–10층 어텐션의 절반 넘게 [SEP]로 감",
            ),
        ),
        measure="weight",
        baseline="even",
    ),
)
_TOKENS = (
    Role(
        "same-token",
        ("same token", "같은 토큰"),
        ("reads other places where the same token stands", "같은 토큰이 나온 다른 자리를 참고합니다"),
        "C(q) without q, R(q) = {k ≠ q: token k = token q};  " + _MOST,
        WANG,
        (("Wang et al., GPT-2 small (duplicate token): L0H1, L3H0", "Wang 외, GPT-2 small(중복 토큰): L0H1, L3H0"),),
    ),
    Role(
        "induction",
        ("induction", "귀납 (induction)"),
        (
            "reads the token that followed an earlier occurrence of the query's token; its weight is the prefix-matching score",
            "쿼리와 같은 토큰이 앞에 나왔을 때 그다음에 온 토큰을 참고합니다. weight가 접두 일치 점수(prefix-matching score)입니다",
        ),
        "R(q) = {k < q: token k - 1 = token q};  " + _MOST,
        f"{OLSSON}, prefix matching; {WANG}",
        (("Wang et al., GPT-2 small: L5H5, L6H9", "Wang 외, GPT-2 small: L5H5, L6H9"),),
        beside=(
            "the copying score, Σ Re λ / Σ |λ| over the eigenvalues λ of W_E W_V W_O W_U: 1 where reading a token makes it likelier, "
            "-1 where less so. From the weights alone, without norms and biases; not of a model without logits, nor where one "
            "of these matrices cannot be seen at work. No text, so no baseline and no interval (Elhage et al. 2021; Olsson et al. 2022)",
            "복사 점수(copying score), W_E W_V W_O W_U의 고윳값 λ에 대한 Σ Re λ / Σ |λ|. 참고한 토큰이 다음에 나올 가능성을 높이면 1, 낮추면 "
            "-1에 가깝습니다. 가중치만으로 계산하며 정규화와 바이어스는 넣지 않습니다. 로짓이 없는 모델이나 이 행렬 가운데 하나라도 쓰이는 것을 "
            "확인할 수 없는 모델에는 없습니다. 글을 쓰지 않으므로 기준선과 신뢰 구간이 없습니다 (Elhage 외 2021; Olsson 외 2022)",
        ),
    ),
)


def _core(name: str, title: Pair, reads: Pair, figures: tuple[Pair, ...] = (), of: str = "") -> Role:
    formula = f"word by word, C(q) without q{of}: {_MOST}"
    return Role(name, title, reads, formula, f"{CLARK}; {VOITA}", figures, annotated=True)


_SUBJECTS = ", subject = nsubj, nsubj:…, verb = a head tagged VERB or AUX"
_OBJECTS = ", object = obj, obj:…, verb = a head tagged VERB or AUX"


_SUBJECT = ("Clark et al., BERT base, nsubj: 58.5 against 45.5", "Clark 외, BERT base, nsubj: 58.5, 기준선 45.5")
_OBJECT = ("Clark et al., BERT base, dobj: 86.8 against 40.0", "Clark 외, BERT base, dobj: 86.8, 기준선 40.0")
_RELATIONS = (
    _core("subject-verb", ("subject to verb", "주어에서 동사로"),
          ("a subject reads its verb", "주어가 자기 동사를 참고합니다"), (_SUBJECT,), _SUBJECTS),
    _core("verb-subject", ("verb to subject", "동사에서 주어로"),
          ("a verb reads its subject", "동사가 자기 주어를 참고합니다"), of=_SUBJECTS),
    _core("object-verb", ("object to verb", "목적어에서 동사로"),
          ("an object reads its verb", "목적어가 자기 동사를 참고합니다"), (_OBJECT,), _OBJECTS),
    _core("verb-object", ("verb to object", "동사에서 목적어로"),
          ("a verb reads its object", "동사가 자기 목적어를 참고합니다"), of=_OBJECTS),
    _core(
        "pronoun-antecedent", ("pronoun to antecedent", "대명사에서 선행사로"),
        ("a pronoun reads an earlier mention of what it stands for, in the same sentence",
         "대명사가 같은 문장에서 앞에 나온, 자기가 가리키는 것을 참고합니다"),
        (("Clark et al., BERT base: 65 against 27 for the nearest mention",
          "Clark 외, BERT base: 65, 가장 가까운 언급을 고르는 기준선 27"),),
    ),
)  # fmt: skip

ROLES: tuple[Role, ...] = (*_PLACES, *_SINKS, *_TOKENS, *_RELATIONS)

_PUBLISHED = {  # of BERT base, Clark et al., table 1: the dependent reads its head
    "det": ("94.3", "51.7"),
    "obj": ("86.8", "40.0"),
    "case": ("76.3", "34.6"),
    "nmod:poss": ("80.5", "47.7"),
    "nsubj": ("58.5", "45.5"),
}
_STANFORD = {"obj": "dobj", "case": "pobj", "nmod:poss": "poss"}
_OFFSET = Role(
    "offset:k", ("offset {k}", "{k}칸"), ("reads the token at offset {k}", "{k}칸 자리의 토큰을 참고합니다"),
    "R(q) = {q + k};  " + _MOST, VOITA, baseline="even",
)  # fmt: skip
_POS = Role(
    "pos:TAG", ("words tagged {tag}", "품사 {tag}"),
    ("reads another word of the part of speech {tag}", "품사가 {tag}인 다른 단어를 참고합니다"),
    "word by word, C(q) without q, R(q) = words of that tag;  " + _MOST, VIG, annotated=True,
)  # fmt: skip
_TO_HEAD = Role(
    "RELATION:to-head", ("{relation}: dependent to head", "{relation}: 의존어에서 지배어로"),
    ("a word reads the word that it depends on as {relation}", "{relation} 관계로 딸린 단어가 자기를 거느리는 단어를 참고합니다"),
    "word by word, C(q) without q: " + _MOST, f"{CLARK}; {VOITA}",
    (("Voita et al.: a syntactic head beats the best fixed offset by 10 points",
      "Voita 외: 구문 헤드는 가장 좋은 고정 위치보다 10점 이상 높음"),), annotated=True,
)  # fmt: skip
_TO_DEPENDENT = replace(
    _TO_HEAD, name="RELATION:to-dependent", titles=("{relation}: head to dependent", "{relation}: 지배어에서 의존어로"),
    texts=("a word reads a word that depends on it as {relation}", "단어가 {relation} 관계로 자기에게 딸린 단어를 참고합니다"),
)  # fmt: skip

_OFFSETS = {offset_role(offset): offset for offset in OFFSETS}
_RELATION = re.compile(r"(.+):(to-head|to-dependent)")


@functools.cache  # a table asks for the same few names again and again
def definition(name: str) -> Role:
    """The role of a name, also of one that an annotation brings: ``offset:+3``, ``pos:NOUN``, ``obl:tmod:to-head``.

    Errors: ``UnknownName``.
    """
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name in _OFFSETS:
        return _named(_OFFSET, name, k=f"{_OFFSETS[name]:+d}")
    if name.startswith("pos:") and len(name) > len("pos:"):
        return _named(_POS, name, tag=name.removeprefix("pos:"))
    if found := _RELATION.fullmatch(name):
        made = _named(_TO_HEAD if found[2] == "to-head" else _TO_DEPENDENT, name, relation=found[1])
        return replace(made, figures=(*_figures(name, found[1]), *made.figures))
    raise unknown_name("role", "역할", name, [*_BY_NAME, *_OFFSETS])


def _named(family: Role, name: str, **words: str) -> Role:
    def filled(pair: Pair) -> Pair:
        put = {key: f"{{{key}:text}}" for key in words}
        return (
            fill(pair[0].format(**put), words, "en"),
            fill(pair[1].format(**put), words, "ko"),
        )

    return replace(family, name=name, titles=filled(family.titles), texts=filled(family.texts))


def _figures(name: str, relation: str) -> tuple[Pair, ...]:
    if not name.endswith(":to-head") or relation not in _PUBLISHED:
        return ()
    score, baseline = _PUBLISHED[relation]
    called = _STANFORD.get(relation, relation)
    return (
        (
            f"Clark et al., BERT base, {called}: {score} against {baseline}",
            f"Clark 외, BERT base, {called}: {score}, 기준선 {baseline}",
        ),
    )


FAMILIES = (
    _named(_OFFSET, "offset:k", k="k"),
    _named(_POS, "pos:TAG", tag="TAG"),
    _named(_TO_HEAD, "RELATION:to-head", relation="RELATION"),
    _named(_TO_DEPENDENT, "RELATION:to-dependent", relation="RELATION"),
)
_BY_NAME = {role.name: role for role in (*ROLES, *FAMILIES)}


def sections() -> Iterator[tuple[Pair, tuple[Role, ...]]]:
    """All definitions, by what they need to know of a text; families stand for many roles."""
    yield ("Places", "자리"), (*_PLACES, FAMILIES[0])
    yield ("The sink, and marks", "어텐션 싱크와 표시"), _SINKS
    yield ("Tokens", "토큰"), _TOKENS
    yield ("Words of an annotated text (CoNLL-U)", "주석이 있는 글의 단어 (CoNLL-U)"), (*_RELATIONS, *FAMILIES[1:])
