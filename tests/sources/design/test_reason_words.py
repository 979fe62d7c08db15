"""Reasons in words: the same facts in both languages, right particles, nothing left unfilled, whatever the tokens are."""

import re
import string
import unicodedata

import numpy as np
import pytest

import jumok
from jumok.errors import UnknownName
from jumok.sources.design import reason_words
from jumok.sources.design.reasons import Lift, Reason
from jumok.words import number

I5 = np.eye(5)
ZERO = np.vstack([np.zeros(4), np.eye(4)])
TWIN = np.vstack([np.eye(4), np.eye(4)[1]])
SUM = np.vstack([np.eye(4), [1, 1, 0, 0]])
MEAN = np.vstack([np.eye(4), [0.5, 0.5, 0, 0]])
BIAS = jumok.Rule(bias=jumok.positions.alibi([0.5]))
RANDOM = np.random.default_rng(0)
ODD = ["은행", "🙂", "", "</script>", "\u202eabc"]
TOKENS = {
    "latin": ["studies", "it", "deep learning", "Q", "7"],
    "hangul": ["고양이가", "생선을", "먹었다", "은행", "눈"],
    "odd": ODD,
    "twice": ["a", "b", "a", "b", "a"],
    "formats": ["{token}", "{0}", "%s", "a {b:n}", "+ -"],
}

TASKS = {
    "zero-embedding": (ZERO, {0: {0: 0.6, 1: 0.1}}, {}),
    "zero-embedding-biased": (ZERO, {0: {0: 0.6, 1: 0.1}}, {"rule": BIAS}),
    "zero-projected": (I5, {0: {0: 0.6}}, {"w_q": np.diag([0, 1, 1, 1, 1.0])}),
    "zero-projected-biased": (I5, {0: {0: 0.6}}, {"w_q": np.diag([0, 1, 1, 1, 1.0]), "rule": BIAS}),
    "equal-queries": (TWIN, {1: {0: 0.6}, 4: {0: 0.1}}, {}),
    "equal-keys": (TWIN, {0: {1: 0.6, 4: 0.2}}, {}),
    "mixed-query": (SUM, {0: {0: 0.6}, 1: {2: 0.5}, 4: {3: 0.5}}, {}),
    "mixed-key": (MEAN, {0: {4: 0.6}}, {}),
    "many-query": (RANDOM.standard_normal((5, 1)), RANDOM.dirichlet(np.ones(5), 5), {}),
    "tiny-embedding": (np.diag([1e-12, 1, 1, 1, 1]), {0: {0: 0.6}, 1: {0: 0.5}}, {}),
    "rounding": (1e6 * I5, {0: {1: 0.8}}, {}),
    "forbidden": (I5, {1: {1: 0.5, 2: 0.2, 3: 0.1}}, {"rule": "causal"}),
    "wanted-zero": (I5, {0: {1: 0.5, 2: 0.0, 3: 0.0}}, {}),
    "nothing-remained": (I5, {0: {1: 0.5, 2: 0.5}}, {}),
    "rank": (I5, RANDOM.dirichlet(np.ones(5), 5), {"d_k": 1}),
    "rank-gap": (I5, {3: {1: 0.6}, 4: {0: 0.6}, 2: {2: 0.9}}, {"d_k": 1, "rule": "causal"}),
}


def reasons_of(task, tokens):
    x, wanted, options = TASKS[task]
    return jumok.design(x, wanted, tokens=tokens, **options).reasons


@pytest.mark.parametrize("kind", TOKENS)
@pytest.mark.parametrize("task", TASKS)
def test_every_reason_is_said_whole_in_both_languages(task, kind):
    for reason in reasons_of(task, TOKENS[kind]):
        texts = {lang: reason.text(lang) for lang in ("en", "ko")}
        for lang, text in texts.items():
            whole(text, lang, kind)
        same_facts(texts["en"], texts["ko"])
        for lift in reason.lifts:
            for lang in ("en", "ko"):
                whole(lift.text(lang), lang, kind)
            same_facts(lift.text("en"), lift.text("ko"))


def whole(text, lang, kind):
    assert text.endswith(".")
    assert not re.search(r"[\x00-\x1f\u202a-\u202e]|\bNone\b|\bnan\b|  ", text), text
    if kind != "formats":
        assert "{" not in text
    assert any("HANGUL" in unicodedata.name(letter, "") for letter in text) or lang == "en"
    assert len(text) < 500


def same_facts(en, ko):
    numbers = [set(re.findall(r"(?<![\w#])\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?", text)) for text in (en, ko)]
    assert numbers[0] == numbers[1], f"{en}\n{ko}"


@pytest.mark.parametrize("phrases", [reason_words._PHRASES, reason_words._LIFTS])
def test_both_languages_have_the_same_places(phrases):
    for name, pair in phrases.items():
        places = [{field for _, field, _, _ in string.Formatter().parse(text) if field} for text in pair]
        assert places[0] == places[1], name


def test_every_phrase_is_said_by_some_task():
    said = {
        name
        for task in TASKS
        for reason in reasons_of(task, TOKENS["latin"])
        for name in [reason_words._KINDS[reason.kind](reason)[0]]
    }
    of_values = {"zero-mix", "same-mix", "combined-mix", "outside-w_o", "narrow-values"}
    elsewhere = {"contradiction", "tied", "many-key", "equal-queries-biased", "equal-keys-biased"}  # see below
    assert said == set(reason_words._PHRASES) - of_values - elsewhere


def test_particles_follow_the_word():
    (reason,) = jumok.design(ZERO, {0: {1: 0.7}}, tokens=["눈", "고양이", "c", "d", "e"]).reasons
    assert reason.text("ko").startswith("'눈'의 임베딩이 0이라")
    assert "'고양이'는 바라는 0.7이 아니라 0.2를 받습니다." in reason.text("ko")
    for other, particle in (("눈", "과"), ("고양이", "와")):
        tokens = ["a", other, "c", "d", "e"]
        (reason,) = jumok.design(TWIN, {1: {0: 0.6, 2: 0.2}, 4: {0: 0.1, 2: 0.7}}, tokens=tokens).reasons
        assert reason.text("ko").startswith(f"'{other}'{particle} e는 ")


def test_the_numbers_that_are_said_are_those_of_the_evidence():
    (reason,) = jumok.design(SUM, TASKS["mixed-query"][1], tokens=list("abcde")).reasons
    assert number(reason.facts["off"]) in reason.text()
    assert "1 × a + 1 × b" in reason.text()
    (reason,) = jumok.design(np.vstack([np.eye(4), [2, -0.5, 0, 0]]), {0: {0: 0.6}, 1: {2: 0.5}, 4: {3: 0.5}}).reasons
    assert "2 × 0 − 0.5 × 1" in reason.text()


def test_a_token_that_looks_like_a_sum_is_left_as_it_is():
    reason = Reason(
        "combination", ("x", "a + -b", "c"), facts={"side": "key", "shares": [1.0, -2.0], "witness": "c", "off": 1.0}
    )
    assert "1 × a + -b − 2 × c" in reason.text()


def test_the_exact_rank_and_the_gap_are_two_sentences():
    (rank,) = reasons_of("rank", TOKENS["latin"])
    assert rank.text().startswith("The table needs d_k ≥ 4, got 1")
    assert rank.text("ko").startswith("이 표에는 d_k ≥ 4가 필요한데 1이 왔습니다.")
    assert [lift.text() for lift in rank.lifts] == ["d_k = 4 or more."]
    (gap,) = reasons_of("rank-gap", TOKENS["latin"])
    assert "is proven to be the least" in gap.text()
    assert f"d_k = {gap.facts['enough']} is enough" in gap.text()


def test_a_contradiction_names_both_sentences():
    found = jumok.design([np.eye(3)] * 2, [{"은행": {1: 0.7}}, {"은행": {1: 0.2}}], tokens=[["은행", "b", "c"]] * 2)
    (reason,) = found.reasons
    assert "in sentence 0 and in sentence 1" in reason.text()
    assert "문장 0과 문장 1에서" in reason.text("ko")
    same_facts(reason.text(), reason.text("ko"))


@pytest.mark.parametrize(
    ("x", "wanted", "options", "phrase"),
    [
        (
            np.arange(7.0)[:, None],
            {0: {1: 0.3}, 3: {2: 0.3}},
            {},
            "7 tokens are read, but their embeddings differ in only 1",
        ),
        (TWIN, {1: {0: 0.6}, 4: {0: 0.1}}, {"rule": BIAS}, "apart from the position bias"),
        (TWIN, {0: {1: 0.6, 4: 0.2}}, {"rule": BIAS}, "only the position bias tells their scores apart"),
        (
            np.array([[2.0, 1], [1, 0], [0, -1], [-1, -1]]),
            np.array([[1, 0, 0, 0], [1 / 7, 3 / 7, 0, 3 / 7], [0, 3 / 9, 4 / 9, 2 / 9], [0, 1 / 3, 1 / 3, 1 / 3]]),
            {"rule": jumok.allowed.table(np.array([[1, 0, 0, 0], [1, 1, 0, 1], [0, 1, 1, 1], [0, 1, 1, 1]], bool))},
            "tie the wanted cells together",
        ),
    ],
)
def test_the_rarer_sentences(x, wanted, options, phrase):
    found = [reason for reason in jumok.design(x, wanted, **options).reasons if phrase in reason.text()]
    assert found
    for reason in found:
        whole(reason.text(), "en", "latin")
        whole(reason.text("ko"), "ko", "latin")
        same_facts(reason.text(), reason.text("ko"))


def test_a_language_that_is_not_spoken_is_refused():
    with pytest.raises(UnknownName):
        Reason("narrow-values", (), facts={"d_value": 1}).text("fr")
    with pytest.raises(UnknownName):
        Lift("other-rule").text("fr")
