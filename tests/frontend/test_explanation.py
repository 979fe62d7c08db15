"""The page's explanation, run on node, is ``jumok.explain`` letter by letter."""

import functools
import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import jumok
from jumok import Rule, allowed, positions
from jumok.explanation.explanation import Explanation
from jumok.explanation.phrases import PHRASES, STAGE_PHRASES
from jumok.path import STAGES
from jumok.sources import example
from jumok.trace import Source, layers_of
from jumok.words import number, particle, percent, quoted, shown
from wished import wished_traces

FRONTEND = Path(__file__).parents[2] / "frontend"
LANGS = ("en", "ko")
Record = jumok.Trace | jumok.Reading
Case = tuple[Record, jumok.Reading | None]  # and what is its pair, where it has one
Numbers = Callable[..., np.ndarray]
Node = Callable[..., str]
PAIRS = ("은/는", "이/가", "을/를", "과/와", "으로/로")
MEANING = {"a": {"en": "the first", "ko": "첫째"}, "뜻": {"ko": "뜻"}, "constructor": {"en": "made\tup"}}
HOSTILE = [
    "👩‍👩‍👧", "\u202eabc", "\x00\x1b[31m", "", " ", "  \t", "\ufeff", "\u200b", "\u1100\u1161\u11a8각", "은행", "e\u0301", "</script>", "{token}",
    "a\nb", "\u2028", "constructor", "__proto__", "42", "ปลา", "🇰🇷", "\U000e0041", "it", "don't", "C++", "#1", "$&", "$1", "ん",
    "'", "\u3000", "\x85", "\x1c", "the", "K", "שלום", "مرحبا", "\u200d", "\u00ad", "\u0301", "\u3164", " \ufe0f", "◌́", "\u2068שלום\u2069",
]  # fmt: skip


# records ----------------------------------------------------------------------------------------


def packaged() -> list[Case]:
    """Every packaged example, with the sentence that is its pair where it has one."""
    made = []
    for name in example.names():
        record = jumok.attend(jumok.load(name))
        pair = record.source.details.get("pair")
        made.append((record, jumok.attend(jumok.load(pair)) if pair else None))
    return made


def rules(rng: np.random.Generator, heads: int, n: int) -> list[Rule]:
    sink = rng.normal(size=heads)
    slopes, vector = rng.random(heads), rng.normal(size=(1, 5))
    none = np.arange(n)[:, None] % 3 > np.zeros(n)  # every third query reads nothing
    return [
        Rule(),
        Rule(allowed="causal", softcap=2.0),
        Rule(allowed=allowed.window(1, 1), sink=sink, scale=0.7),
        Rule(allowed=allowed.table(none), bias=positions.alibi(slopes)),
        Rule(allowed=allowed.table(none & (rng.random((n, n)) < 0.5)), sink=sink - 30),
        Rule(allowed=allowed.causal() | allowed.padding(rng.random(n) < 0.3), bias=positions.relative(vector)),
        Rule(bias=positions.t5(rng.normal(size=(8, heads)), max_distance=16) + positions.alibi(slopes), scale=9.0),
        Rule(allowed=allowed.document(rng.integers(0, 2, size=n)), bias=positions.table(rng.normal(size=(1, n, n)))),
    ]


def whole(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Small whole numbers and quarters, many of them 0: ties, equal keys, sums that cancel, halves to round."""
    return rng.choice([0, 0, 0, 1, 2, -1, 0.25, 0.0625], size=shape).astype(float)


def normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.normal(size=shape)


def from_x(numbers: Numbers, heads: int, kv: int, width: int, n: int, at: int, **more: object) -> jumok.Trace:
    """A Trace; ``at`` says of which kind: with or without W_O, names of dimensions, a residual; its rule."""
    rng = np.random.default_rng([heads, kv, width, n, at])
    w = {"w_q": numbers(rng, width, heads * 4)} | {name: numbers(rng, width, kv * 4) for name in ("w_k", "w_v")}
    if at % 2:
        w |= {"w_o": numbers(rng, heads * 4, width), "b_o": numbers(rng, width)}
    names = ["a", "뜻", "constructor", "__proto__", "c\td", "e\u0301", "g", "h"][:width]
    details = {"meaning": MEANING, "residual": at % 3 == 0, "positions": "sinusoidal", "temperature": 0.5}
    return jumok.attend(
        x=numbers(rng, n, width), **w, **more, n_heads=heads, n_kv_heads=kv, dimensions=names if at % 4 else None,
        tokens=list(rng.choice(HOSTILE, size=n)), rule=rules(rng, heads, n)[at % 8], source=Source(details=details),
    )  # fmt: skip


def random_traces() -> list[jumok.Trace]:
    kinds = itertools.product([normal, whole], [(1, 1), (2, 2), (4, 2), (3, 1)], range(8))
    made = [
        from_x(numbers, heads, kv, 4 + 4 * (at % 3 == 0), 3 + (at + rule) % 5, at + rule)
        for at, (numbers, (heads, kv), rule) in enumerate(kinds)
    ]
    made.append(from_x(normal, 2, 1, 8, 5, 3, rotation=jumok.Rotary()))
    one = from_x(normal, 1, 1, 4, 4, 1)
    made.append(replace(one, rule=Rule(scale=1 / (2 * np.sqrt(4))), source=Source(details={"temperature": 2})))
    made.append(replace(one, q=one.q * 60))  # one key dominates, far or near
    made.append(replace(one, q=one.q * 1e7, k=one.k * 1e-9))  # powers of ten
    made.append(replace(one, tokens=["one"] * 4, q=one.q * 8))
    return made


def special_traces() -> list[jumok.Trace]:
    rng = np.random.default_rng(8)
    words = [f"word{at}" for at in range(40)]
    long = jumok.attend(
        q=rng.normal(size=(2, 5, 16)), k=rng.normal(size=(1, 40, 16)), v=rng.normal(size=(1, 40, 14)),
        tokens=HOSTILE[:5], key_tokens=words, rule=Rule(sink=[0.5, -60]),
    )  # fmt: skip
    self_read = rng.normal(size=(1, 40, 9))
    masks = ["causal", allowed.window(2), allowed.table(np.zeros((40, 40), bool))]
    made = [long, *(jumok.attend(q=self_read, k=self_read, v=self_read, tokens=words, rule=rule) for rule in masks)]
    wide = {name: rng.normal(size=(3, 8)) for name in ("w_q", "w_k", "w_v")}
    made.append(jumok.attend(x=np.ones((3, 3)), **wide, tokens=["a", "a", "b"]))
    made.append(jumok.attend(x=np.zeros((3, 3)), **wide, dimensions=["x", "y", "z"]))
    same = dict.fromkeys(("w_q", "w_k"), np.eye(3)) | {"dimensions": ["x", "y", "z"]}
    made.append(jumok.attend(x=[[1.0, 2, 3]], w_v=np.eye(3), **same))  # comes out as it went in
    made.append(jumok.attend(x=np.eye(3), w_v=np.zeros((3, 3)), **same))  # takes home nothing
    return made


def readings() -> list[Case]:
    made: list[Case] = []
    for n_layers, heads, numbers in [(1, 1, normal), (2, 1, whole), (2, 1, normal), (3, 2, normal)]:
        source = Source(details={"meaning": MEANING, "residual": True, "n_layers": n_layers})
        words = [f"word{at}" for at in range(4)]
        layers = [from_x(numbers, heads, heads, 4, 4, 2 + 8 * at) for at in range(n_layers)]
        reading = jumok.Reading(tuple(replace(layer, tokens=words, source=source) for layer in layers))
        other = jumok.Reading(tuple(replace(layer, q=layer.q[:, ::-1].copy()) for layer in reading))
        made += [(reading, None), (reading, other)]
    return made


RECORDS: list[Case] = [
    *packaged(),
    *((trace, None) for trace in [*random_traces(), *special_traces(), *wished_traces().values()]),
    *readings(),
]


@functools.cache
def explained(at: int, query: int) -> Explanation:
    record, pair = RECORDS[at]
    return jumok.explain(record, query, pair=pair, head="all")


@functools.cache
def explained_alone(at: int, query: int) -> Explanation:
    """One head of one layer, another one for every query."""
    record, _ = RECORDS[at]
    layers = layers_of(record)
    layer = query % len(layers)
    which = {} if isinstance(record, jumok.Trace) else {"layer": layer}
    return jumok.explain(record, query, head=query % layers[layer].n_heads, **which)


# words and numbers ------------------------------------------------------------------------------


def some_numbers() -> list[float]:
    rng = np.random.default_rng(3)
    made = [0.0, -0.0, 0.0005, 0.00049999999, 999999.9996, 1e6, 1.005e6, 1.015e6, 9.995e6, -2.5e22, 1.7e308, 5e-324]
    made += [odd / 16 for odd in range(-999, 999, 2)] + [odd / 4000 for odd in range(1, 999)]
    made += [sign * (10 * n + 5) * 10**power for n in range(100, 220) for power in (3, 9, 17) for sign in (1, -1)]
    return made + [
        float(a * 10.0**b) for a, b in zip(rng.normal(size=3000), rng.integers(-12, 12, size=3000), strict=True)
    ]


def some_shares() -> list[float]:
    return [eighth / 800 for eighth in range(800)] + np.random.default_rng(5).random(size=2000).tolist()


def some_words() -> list[str]:
    rng = np.random.default_rng(4)
    made = list(HOSTILE)
    for alphabet in (
        "abcdefghijklmnopqrstuvwxyz",
        "AEILMNORTKPC",
        "aeioulmnprtkc ",
        "0123456789",
        "가각간갈감밥낳걀",
        "ai'-#.!é한ンア_",
    ):
        made += ["".join(rng.choice(list(alphabet), size=size)) for size in rng.integers(1, 9, size=500)]
    ends = [
        "mat",
        "bat",
        "cat",
        "book",
        "table",
        "apple",
        "sing",
        "name",
        "knit",
        "check",
        "GPT",
        "LLM",
        "w/o",
        "naïve",
    ]
    return made + ends + [chr(code) for code in range(0x250)] + [chr(code) for code in range(0x2000, 0x2070)]


# tests ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def said(node: Node, tmp_path_factory: pytest.TempPathFactory) -> dict:
    """What the page says of every case, from one run of node."""
    folder = tmp_path_factory.mktemp("cases")
    cases = {"records": [], "numbers": some_numbers(), "shares": some_shares(), "words": some_words(), "pairs": PAIRS}
    for at, (record, pair) in enumerate(RECORDS):
        record.save(folder / f"{at}.safetensors")
        if pair is not None:
            pair.save(folder / f"{at}.pair.safetensors")
        n_queries = record.n_queries if isinstance(record, jumok.Trace) else record[0].n_queries
        other = None if pair is None else f"{at}.pair.safetensors"
        cases["records"].append({"file": f"{at}.safetensors", "pair": other, "queries": n_queries})
    (folder / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    node("explanation.parity", JUMOK_TEXTS=folder)
    return json.loads((folder / "texts.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("at", range(len(RECORDS)))
def test_the_page_explains_as_python_does(said: dict, at: int) -> None:
    told = said["records"][at]
    assert told
    for query, on_page in enumerate(told):
        for lang, text in zip(LANGS, on_page["texts"], strict=True):
            assert text == explained(at, query).text(lang)


@pytest.mark.parametrize("at", range(len(RECORDS)))
def test_the_page_explains_one_head_as_python_does(said: dict, at: int) -> None:
    for query, on_page in enumerate(said["records"][at]):
        for lang, text in zip(LANGS, on_page["alone"], strict=True):
            assert text == explained_alone(at, query).text(lang)


def test_every_sentence_is_compared(said: dict) -> None:
    queries = [(at, query) for at, told in enumerate(said["records"]) for query in range(len(told))]
    made = (explain(*where) for where in queries for explain in (explained, explained_alone))
    kinds = {fact.kind for one in made for fact in one.facts}
    of_the_door = {"only.chosen", "only.silent"}  # the head that nobody chose: on a page somebody did
    assert {kind for kind in kinds if not kind.startswith("summary.")} == set(PHRASES) - of_the_door


@pytest.mark.parametrize("at", range(len(RECORDS)))
def test_what_is_said_of_a_stage_is_a_line_of_the_explanation(said: dict, at: int) -> None:
    for on_page in said["records"][at]:
        for column, text, stages in zip((1, 2), on_page["texts"], on_page["stages"], strict=True):
            lines = {line.removeprefix("   ").removeprefix("- ") for line in text.split("\n")}
            for stage, of_keys in zip(STAGES, stages, strict=True):
                for first, *sentences in of_keys:
                    assert first == STAGE_PHRASES[stage][column]
                    assert len(sentences) <= 2
                    assert set(sentences) <= lines


def test_numbers_are_written_as_in_python(said: dict) -> None:
    assert said["numbers"] == [number(a) for a in some_numbers()]
    assert said["shares"] == [percent(a) for a in some_shares()]


def test_words_get_the_particles_and_quotes_of_python(said: dict) -> None:
    for word, on_page in zip(some_words(), said["words"], strict=True):
        in_python = [shown(word), *(quoted(word, lang) for lang in LANGS), *(particle(word, pair) for pair in PAIRS)]
        assert (word, on_page) == (word, in_python)


def test_the_phrases_of_the_page_are_those_of_python() -> None:
    command = [sys.executable, FRONTEND / "phrases.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_program_fails_where_there_is_nothing_to_say(node: Node, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="ENOENT"):
        node("explanation.parity", JUMOK_TEXTS=tmp_path)
    nothing = {name: [] for name in ("records", "numbers", "shares", "words", "pairs")}
    (tmp_path / "cases.json").write_text(json.dumps(nothing), encoding="utf-8")
    with pytest.raises(AssertionError, match="there is something to say"):
        node("explanation.parity", JUMOK_TEXTS=tmp_path)
