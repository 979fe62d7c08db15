"""The streamed sums of every role are those of the whole table: every rule, grouped heads, padding, small tiles."""

import tracemalloc

import numpy as np
import pytest

from jumok import Rule, Token, Trace, allowed, positions
from jumok.measurement.corpus.sentence import Sentence, Word
from jumok.measurement.roles import streamed
from jumok.measurement.roles.marked import marked
from jumok.measurement.roles.streamed import scores
from jumok.trace import Reading
from role_reference import from_the_whole_table

N = 14
PIECES = ["[CLS]", "the", "cat", "##s", "saw", "the", "cat", "##s", "and", "them", ".", "the", "cat", "[SEP]"]
UNITS = [-1, 0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 8, 9, -1]
SPANS = [
    None,
    (0, 3),
    (4, 7),
    (7, 8),
    (9, 12),
    (13, 16),
    (17, 20),
    (20, 21),
    (22, 25),
    (26, 30),
    (30, 31),
    (32, 35),
    (36, 39),
]
TEXT = "the cats saw the cats and them. the cat"
WORDS = [
    ("the", "DET", 1, "det"), ("cats", "NOUN", 2, "nsubj"), ("saw", "VERB", -1, "root"), ("the", "DET", 4, "det"),
    ("cats", "NOUN", 2, "obj"), ("and", "CCONJ", 6, "cc"), ("them", "PRON", 4, "conj"), (".", "PUNCT", 2, "punct"),
    ("the", "DET", 9, "det"), ("cat", "NOUN", 2, "nsubj:outer"),
]  # fmt: skip
HALF = np.tril(np.ones((N, N), dtype=bool))
HALF[5] = HALF[9, :8] = False  # one row reads nothing, one little

RULES = {
    "everything": Rule(),
    "causal": Rule(allowed="causal"),
    "window": Rule(allowed=allowed.causal() & allowed.window(3)),
    "window both ways": Rule(allowed=allowed.window(2, n_ahead=2)),
    "padding": Rule(allowed=allowed.padding(np.arange(N) < 11)),
    "documents": Rule(allowed=allowed.document(np.arange(N) // 5)),
    "a table": Rule(allowed=allowed.table(HALF)),
    "or": Rule(allowed=allowed.window(0) | allowed.padding(np.arange(N) % 2 == 0)),
    "cap, bias, sink": Rule(
        allowed="causal", softcap=2.0, bias=positions.alibi([0.1, 0.2, 0.3, 0.4]), sink=[0.1, 2.0, -1.0, 0.0]
    ),
    "scale": Rule(scale=4.0),
}


def sentence():
    spans = [(0, 3), (4, 8), (9, 12), (13, 16), (17, 21), (22, 25), (26, 30), (30, 31), (32, 35), (36, 39)]
    words = tuple(Word(form, tag, head, how, span) for (form, tag, head, how), span in zip(WORDS, spans, strict=True))
    return Sentence(TEXT, words, antecedents=((6, (1, 4)),))


def links():
    """role → (word that reads, word that is read), spelled out by hand from WORDS."""
    made = {
        f"pos:{tag}": [(q, k) for q in range(10) for k in range(10) if q != k and WORDS[k][1] == tag]
        for _, tag, *_ in WORDS
    }
    for at, (_, _, head, how) in enumerate(WORDS):
        if head >= 0:
            for name in {how, how.partition(":")[0]}:
                made.setdefault(f"{name}:to-head", []).append((at, head))
                made.setdefault(f"{name}:to-dependent", []).append((head, at))
    made["subject-verb"], made["verb-subject"] = [(1, 2), (9, 2)], [(2, 1), (2, 9)]
    made["object-verb"], made["verb-object"] = [(4, 2)], [(2, 4)]
    made["pronoun-antecedent"] = [(6, 1), (6, 4)]
    return made


def trace_of(rule, heads=4, kv_heads=2, dtype=np.float64, seed=0, tokens=None):
    draw = np.random.default_rng(seed).standard_normal
    given = tokens or [Token(text, span) for text, span in zip(PIECES, [*SPANS, None], strict=True)]
    n = len(given)
    q, k, v = draw((heads, n, 8)), draw((kv_heads, n, 8)), draw((kv_heads, n, 2))
    return Trace(given, q.astype(dtype), k.astype(dtype), v.astype(dtype), rule)


def expected(trace):
    special = [text.startswith("[") for text in PIECES]
    return from_the_whole_table(trace.weights, trace.allowed, PIECES, special, UNITS, links())


def hold(found, layer, wanted, atol=1e-9):
    n_cases = {role: found.n_cases[at, layer] for at, role in enumerate(found.roles) if found.n_cases[at, layer]}
    assert n_cases == {role: numbers[0] for role, numbers in wanted.items()}
    for role, (_, even, offsets, sums) in wanted.items():
        at = found.roles.index(role)
        np.testing.assert_allclose(found.even[at, layer], even, atol=atol, err_msg=role)
        np.testing.assert_allclose(found.offsets[at, layer], offsets, atol=atol, err_msg=role)
        np.testing.assert_allclose(found.sums[at, layer, : len(sums)], sums, atol=atol, err_msg=role)


@pytest.mark.parametrize(("name", "tile"), [*((name, 100) for name in RULES), ("causal", 1), ("or", 2**21)])
def test_every_role_is_that_of_the_whole_table(name, tile, monkeypatch):
    monkeypatch.setattr(streamed, "TILE_NUMBERS", tile)
    trace = trace_of(RULES[name])
    hold(scores(trace, marked(trace.tokens, sentence())), 0, expected(trace))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_in_single_precision_it_is_so_to_a_millionth_of_a_case(dtype):
    trace = trace_of(RULES["causal"], dtype=dtype)
    hold(scores(trace, marked(trace.tokens, sentence())), 0, expected(trace), atol=1e-5)


@pytest.mark.parametrize("rule", ["none", "causal"])
def test_a_long_text_in_single_precision_is_that_in_double_to_a_millionth_of_a_case(rule, monkeypatch):
    """Small tiles, far keys, and a head that has next to nothing but its sink."""
    monkeypatch.setattr(streamed, "TILE_NUMBERS", 4000)
    draw, n = np.random.default_rng(0), 200
    q, k = draw.standard_normal((2, 2, n, 16)).astype(np.float32)
    q[1] *= 0.1
    q[1, :, 0], k[1, 0, 0] = 8, 6  # e to 12 more than any other
    known = marked([Token(str(at)) for at in draw.integers(0, 40, n)])
    short, exact = (
        scores(
            Trace([Token(str(at)) for at in known.ids], q.astype(kind), k.astype(kind), k.astype(kind), Rule.of(rule)),
            known,
        )
        for kind in (np.float32, np.float64)
    )
    assert short.roles == exact.roles
    one = np.where(np.array(exact.roles) == "near", n, 1)[:, None, None]  # tokens
    for slot in (streamed.WEIGHT, streamed.MASS):
        off = np.abs(short.sums - exact.sums)[..., slot] / exact.n_cases[..., None] / one
        assert off.max() < 1e-6
    assert np.abs(short.sums - exact.sums)[exact.roles.index("broad"), ..., streamed.APART].max() < 1e-6 * n


@pytest.mark.parametrize("name", ["everything", "causal"])
def test_without_marks_the_first_word_is_set_apart_and_a_repeated_token_does_not_follow_itself(name):
    texts = ["no", "no", "no", "cat", "no", "cat"]
    spans = [(0, 2), (3, 5), (6, 8), (9, 12), (13, 15), (16, 19)]
    words = tuple(
        Word(text, "X", at - 1, "dep", span) for at, (text, span) in enumerate(zip(texts, spans, strict=True))
    )
    trace = trace_of(
        {"everything": Rule(), "causal": Rule(allowed="causal")}[name], tokens=list(map(Token, texts, spans))
    )
    pairs = {
        "dep:to-head": [(at, at - 1) for at in range(1, 6)],
        "dep:to-dependent": [(at - 1, at) for at in range(1, 6)],
        "pos:X": [(q, k) for q in range(6) for k in range(6) if q != k],
    }
    wanted = from_the_whole_table(trace.weights, trace.allowed, texts, [False] * 6, list(range(6)), pairs)
    hold(scores(trace, marked(trace.tokens, Sentence("no no no cat no cat", words))), 0, wanted)


def test_there_are_cases_of_every_kind_of_role():
    found = scores(trace_of(Rule()), marked(trace_of(Rule()).tokens, sentence()))
    assert {
        "previous",
        "self",
        "next",
        "offset:-8",
        "offset:+8",
        "same-token",
        "induction",
        "first",
        "separator",
    } < set(found.roles)
    assert {"near", "broad", "pronoun-antecedent", "nsubj:outer:to-head", "verb-subject", "pos:NOUN"} < set(found.roles)


def test_layers_may_differ_in_heads_and_rules_and_cross_attention_is_left_out():
    one, other = trace_of(Rule()), trace_of(RULES["causal"], heads=2, kv_heads=1, seed=1)
    cross = Trace(one.tokens, one.q, one.k[:, :5], one.v[:, :5], key_tokens=list("abcde"))
    found = scores(Reading((one, cross, other)), marked(one.tokens, sentence()))
    assert found.sums.shape[1:] == (3, 4, 3)
    hold(found, 0, expected(one))
    hold(found, 2, expected(other))
    assert not found.n_cases[:, 1].any()
    assert not found.sums[:, 1].any()


@pytest.mark.parametrize("name", ["everything", "window both ways", "a table", "cap, bias, sink"])
def test_without_words_too_where_keys_behind_all_rows_are_left_out(name, monkeypatch):
    monkeypatch.setattr(streamed, "TILE_NUMBERS", 100)
    trace = trace_of(RULES[name])
    special = [text.startswith("[") for text in PIECES]
    hold(
        scores(trace, marked(trace.tokens)),
        0,
        from_the_whole_table(trace.weights, trace.allowed, PIECES, special, UNITS, {}),
    )


def test_without_annotation_only_roles_of_pieces_are_measured():
    trace = trace_of(Rule())
    assert not {role for role in scores(trace, marked(trace.tokens)).roles if "pos" in role or "verb" in role}


def test_memory_does_not_grow_with_the_square_of_the_length():
    def peak(n):
        tokens = [Token(str(at % 97)) for at in range(n)]
        trace = trace_of(Rule(allowed="causal"), 1, 1, np.float32, tokens=tokens)
        known = marked(trace.tokens)
        tracemalloc.start()
        scores(trace, known)
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    assert peak(4096) < 2 * peak(1024)  # 16 times, if it did


def test_a_layer_of_other_tokens_is_left_out():
    one = trace_of(Rule())
    found = scores(Reading((one, trace_of(Rule(), tokens=[Token("a"), Token("b"), Token("c")]))), marked(one.tokens))
    assert found.n_heads == (4, 0)


def test_layers_that_allow_the_same_are_measured_together_each_by_its_own_rule(monkeypatch):
    rules = [Rule(allowed="causal"), RULES["cap, bias, sink"], Rule(allowed="causal", scale=2.0), Rule()]
    traces = [trace_of(rule, heads, 2, seed=heads) for rule, heads in zip(rules, (4, 4, 6, 2), strict=True)]
    for tile in (30, 1000, 2**20):  # a group of heads, some groups, all layers
        monkeypatch.setattr(streamed, "TILE_NUMBERS", tile)
        found = scores(Reading(tuple(traces)), marked(traces[0].tokens, sentence()))
        for at, trace in enumerate(traces):
            hold(found, at, expected(trace))


@pytest.mark.parametrize("name", ["everything", "causal", "a table"])
def test_equal_weights_and_weights_of_nothing_share_the_place(name):
    """One head is even; one reads the first token so much that all others have exactly 0; one reads itself just as much
    as the token before, but for rounding."""
    n, far = N, 1e4
    q = np.zeros((3, n, n))
    q[1, :, 0] = far
    q[2] = 20 * (np.eye(n) * (1 + 1e-10) + np.eye(n, k=-1))
    tokens = [Token(text, span) for text, span in zip(PIECES, [*SPANS, None], strict=True)]
    trace = Trace(tokens, q, np.eye(n)[None].repeat(3, 0), np.zeros((3, n, 1)), RULES[name])
    found = scores(trace, marked(trace.tokens, sentence()))
    hold(found, 0, expected(trace))
    at = found.roles.index("self")
    assert found.sums[at, 0, 0, streamed.MOST] == pytest.approx(found.even[at, 0])  # chance, exactly
