"""Every kind of fact has a sentence in both languages, with the same facts in both, in the words of the word list."""

import re
import string

import numpy as np
import pytest

import jumok
from jumok.explanation.facts import SECTIONS
from jumok.explanation.phrases import PHRASES, SECTION_TITLES, STAGE_PHRASES, SUMMARY
from jumok.picture.grids import SHOWN
from jumok.picture.terminal import SPREAD, WORDS
from jumok.sources import example
from jumok.words import PIECES
from wished import wished_traces

HANGUL = re.compile("[가-힣]")


def placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


@pytest.mark.parametrize("kind", PHRASES)
def test_both_languages_say_the_same_facts(kind: str) -> None:
    en, ko = PHRASES[kind]
    assert placeholders(en) == placeholders(ko)
    assert not HANGUL.search(re.sub(r"{[^}]*}", "", en)), "the English sentence has Hangul in it"
    assert HANGUL.search(ko) or en == ko, "the Korean sentence has no Hangul in it"


def test_titles_and_summaries_stand_in_both_languages() -> None:
    assert set(SECTION_TITLES) == set(SECTIONS)
    for en, ko in SECTION_TITLES.values():
        assert placeholders(en) | {"token"} == placeholders(ko) | {"token"}
        assert HANGUL.search(ko)
    for (_, en_role, en_question), (_, ko_role, ko_question) in SUMMARY.values():
        assert placeholders(en_question) == placeholders(ko_question) == {"token"}
        assert HANGUL.search(ko_role)
        assert not HANGUL.search(en_role)
    assert set(STAGE_PHRASES) | {"w_q", "w_k", "w_v", "w_o"} == set(SHOWN)
    for table in (WORDS, SPREAD, PIECES):
        for en, ko in table.values():
            assert placeholders(en) == placeholders(ko)


def test_one_term_one_word() -> None:
    """The words of the project's word list, never the others that books use."""
    from jumok import cli

    said = [ko for _, ko in PHRASES.values()] + [ko for _, ko in SECTION_TITLES.values()]
    said += [ko for _, _, ko in STAGE_PHRASES.values()] + [ko for _, ko in WORDS.values()]
    said += [ko for _, ko in cli.WORDS.values()] + [" ".join(ko) for _, ko in SUMMARY.values()]
    said += [example.starter("ko"), *(example.load(name).text for name in example.names())]
    for text in said:
        for other in (
            "자기주의",
            "자기 주의",
            "자체 주의",
            "자기 관심",
            "질의",
            "주의 가중치",
            "집중 가중치",
            "가중 합",
            "은닉",
            "임베딩 벡터 차원",
        ):
            assert other not in text, f"{other!r} in {text!r}"


def traces() -> list[jumok.Trace | jumok.Reading]:
    """Packaged examples and small Traces that together show every kind of fact."""
    made = [jumok.attend(jumok.load(name)) for name in example.names()]
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 6))
    w = {name: rng.normal(size=(6, 6)) for name in ("w_q", "w_k", "w_v")}
    dims = list("abcdef")
    rules = ["causal", jumok.allowed.window(0), jumok.allowed.table(np.eye(4, k=1) > 0)]
    rules.append(jumok.Rule(softcap=2.0, bias=jumok.positions.alibi([0.5, 0.25]), sink=[0.0, 1.0]))
    made += [jumok.attend(x=x, **w, w_o=w["w_q"], n_heads=2, rule=rule, dimensions=dims) for rule in rules]
    made.append(jumok.attend(x=x, **w, n_heads=3, rotation=jumok.Rotary(base=100.0)))
    made.append(jumok.attend(x=x, **w, rotation=jumok.Rotary(), dimensions=dims))
    made.append(jumok.attend(x=x, w_q=np.eye(6), w_k=np.eye(6), w_v=np.zeros((6, 6)), dimensions=dims))
    made.append(jumok.attend(x=np.zeros((4, 6)), **w, dimensions=dims))
    made.append(jumok.attend(x=np.ones((4, 6)), **w, dimensions=dims))
    made.append(jumok.attend(x=np.eye(6)[:4], w_q=10 * np.eye(6), w_k=np.eye(6), w_v=np.eye(6), dimensions=dims))
    made.append(jumok.attend(x=x, w_q=np.zeros((6, 6)), w_k=w["w_k"], w_v=np.eye(6), dimensions=dims))
    made.append(
        jumok.attend(x=[[1, 0], [1, 0], [0, 1]], w_q=np.eye(2), w_k=np.eye(2), w_v=np.eye(2), dimensions=["a", "b"])
    )
    made.append(jumok.attend(x=[[1.0, 2]], w_q=[[1], [0]], w_k=[[1], [0]], w_v=[[1, 0], [0, 1]], dimensions=["a", "b"]))
    # equal scores from different keys that q meets half-way
    made.append(jumok.attend(q=[[[1.0, 1.0]]], k=[[[1.0, 0.0], [0.0, 1.0]]], v=[[[1.0], [2.0]]]))
    made.append(jumok.attend(q=[[[1.0, 1.0]]], k=[[[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]], v=[[[1.0], [2.0], [3.0]]]))
    made.append(jumok.attend(x=np.eye(6)[:4], w_q=99 * np.eye(6), w_k=np.eye(6), w_v=np.eye(6), dimensions=dims))
    long = rng.normal(size=(1, 40, 8))
    made.append(jumok.attend(q=long, k=long, v=long, rule="causal"))
    wide = rng.normal(size=(5, 6, 4))  # more heads than are told; those of the first token read nothing further away
    made.append(jumok.attend(q=wide, k=wide, v=wide, rule="causal"))
    text = "dimensions: [a, b]\ntokens: [{p: {a: 1}}, {q: {b: 1}}]\npositions: sinusoidal\nresidual: true\n"
    made.append(jumok.attend(example.parse(text)))
    made += wished_traces().values()
    return made


def test_every_sentence_is_reached_and_every_fact_has_one() -> None:
    said: set[str] = set()
    pairs = {"it-tired": "it-soft", "it-soft": "it-tired"}
    for trace in traces():
        first = trace if isinstance(trace, jumok.Trace) else trace[0]
        pair = jumok.attend(jumok.load(pairs[trace.source.name])) if trace.source.name in pairs else None
        for token in range(first.n_queries):
            for lang in ("en", "ko"):
                explanation = jumok.explain(trace, token, lang, pair=pair)
                assert str(explanation)
                said |= {fact.kind for fact in explanation.facts}
            said |= {fact.kind for fact in jumok.explain(first, token, head=0).facts}
    reached = {kind for kind in said if not kind.startswith("summary.")}
    assert {kind.removeprefix("summary.") for kind in said - reached} == set(SUMMARY)
    assert reached == set(PHRASES)
