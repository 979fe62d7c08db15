"""Example files, read: what each key means, every refusal with its place, and files that were broken at random."""

import os
import random
import re
import time
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jumok
from jumok.errors import JumokError
from jumok.path.allowed import causal, document, padding, window
from jumok.sources import example as examples
from jumok.sources.example import Example, parse
from jumok.sources.example_reader import MOST_DIMENSIONS, MOST_NAMES, MOST_NUMBERS, MOST_TOKENS
from jumok.yaml_nodes import _decoded
from refusals import refusal

HEAD = "dimensions: [A, B]\ntokens: [a: {A: 1}, b: {B: 2}, c: {A: 3, B: 4}]\n"
REPEATED = "dimensions: [A, B]\ntokens: [a: {A: 1}, b: {B: 2}, a: {A: 3}]\n"
X = [[1, 0], [0, 2], [3, 4]]


# what is read -----------------------------------------------------------------------------------


def block(text, head=HEAD):
    return parse(head + text).layers[0]


def allowed(text, head=HEAD):
    n = np.arange(3)
    return block(f"mask: {text}", head).allowed.block(n, n).astype(int).tolist()


@pytest.mark.parametrize(
    "tokens",
    ["[a: {A: 1}, b: {B: 2}, c: {A: 3, B: 4}]", "[a: [1, 0], b: [0, 2], c: [3, 4]]", "[{a: {A: 1}}, {b: {A: 0, B: 2.0}}, {c: {B: 4e0, A: +3}}]",
     "\n- a: {A: 1}\n- b:\n    B: 2\n- c: [ 3,\n    4]", "\n  - a: &x {A: 1}\n  - b: {B: 2.}\n  - c: {A: 03, B: 4}"],
)  # fmt: skip
def test_embeddings_are_named_or_listed(tokens):
    example = parse(f"dimensions: [A, B]\ntokens: {tokens}")
    assert example.tokens == ("a", "b", "c")
    assert example.x.tolist() == X
    assert example.x.dtype == np.float64
    assert not example.x.flags.writeable


@pytest.mark.parametrize(
    "tokens", ["[a, b: {A: 1}]", "[a: {}, b: {A: 1}]", "\n- a:\n- b: {A: 1}", '\n- "a"\n- b: {A: 1}']
)
def test_a_token_without_numbers_is_all_zero(tokens):
    assert parse(f"dimensions: [A]\ntokens: {tokens}").x.tolist() == [[0], [1]]


def test_lists_need_no_names():
    example = parse("tokens: [a: [1, 0], b: [0, 2], c: [3, 4]]")
    assert example.dimensions is None
    assert example.x.tolist() == X


@pytest.mark.parametrize(
    "word", ["no", "on", "null", "2026", "~", "true", '""', "y", "1.5", "0x1f", ".nan", "'#'", '"- d"', "은행", "<<"]
)
def test_any_word_is_a_token_and_a_dimension(word):
    example = parse(
        f"dimensions: [{word}]\ntokens: [{word}: {{{word}: 1}}]" if word != '""' else f"tokens: [{word}: [1]]"
    )
    text = word.strip("\"'")
    assert example.tokens == (text,)
    assert example.x.tolist() == [[1]]
    if text:
        assert example.dimensions == (text,)
        assert jumok.attend(example).index(text) == 0


def test_an_empty_token_among_others():
    trace = jumok.attend(parse('dimensions: [A]\ntokens: ["": {A: 1}, b: {}]'))
    assert (trace.index(""), trace.index("b")) == (0, 1)


def test_names_are_compared_composed():
    decomposed = unicodedata.normalize("NFD", (example := examples.load("bank-money")).text)
    assert decomposed != example.text
    read = parse(decomposed)
    assert (read.tokens, read.sentence, read.dimensions) == (example.tokens, example.sentence, example.dimensions)
    mixed = example.text.replace("focus: 은행", unicodedata.normalize("NFD", "focus: 은행"))
    assert parse(mixed).focus == example.focus
    ko = examples.starter("ko")
    mixed = unicodedata.normalize("NFD", ko).replace(
        unicodedata.normalize("NFD", "dimensions: [누가, 무엇을"), "dimensions: [누가, 무엇을"
    )
    assert parse(mixed).dimensions == parse(ko).dimensions


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_marks_and_line_ends_change_nothing(tmp_path, newline, mark):
    example = examples.load("it-tired")
    path = tmp_path / "가 나.yaml"
    path.write_bytes((mark + example.text).replace("\n", newline).encode())
    read = examples.load(path)
    assert read.tokens == example.tokens
    assert all(np.array_equal(a.w_q, b.w_q) for a, b in zip(read.layers, example.layers, strict=True))
    assert read.name == str(path)


WEIGHTS = {
    "identity": np.eye(2),
    "{diagonal: {A: 3}}": np.diag([3, 1]),
    "{diagonal: {A: 3}, otherwise: 0}": np.diag([3, 0]),
    "{diagonal: {}, otherwise: -2}": np.diag([-2, -2]),
    "{rows: {A: {B: 5}}}": [[0, 5], [0, 1]],
    "{rows: {A: {B: 5}}, otherwise: zero}": [[0, 5], [0, 0]],
    "{rows: {}, otherwise: zero}": np.zeros((2, 2)),
    "{rows: {B: [7, 8]}, otherwise: identity}": [[1, 0], [7, 8]],
    "{rows: {B: [7, 8, 9]}, otherwise: zero}": [[0, 0, 0], [7, 8, 9]],
    "[[1, 2, 3], [4, 5, 6]]": [[1, 2, 3], [4, 5, 6]],
    "[[.5, -1e-3], [1e15, 0]]": [[0.5, -0.001], [1e15, 0]],
}


@pytest.mark.parametrize("spelled", WEIGHTS)
def test_a_matrix_is_spelled_in_many_ways(spelled):
    assert np.array_equal(block(f"weights: {{w_v: {spelled}}}").w_v, WEIGHTS[spelled])


def test_weights_that_are_left_out_are_the_identity():
    one = block("")
    assert all(np.array_equal(w, np.eye(2)) for w in (one.w_q, one.w_k, one.w_v))
    assert (one.w_o, one.b_q, one.b_k, one.b_v, one.b_o) == (None,) * 5


def test_biases_heads_and_numbers():
    one = block(
        "weights: {w_q: [[1, 2, 3, 4], [5, 6, 7, 8]], w_o: [[1, 0], [0, 1], [1, 1], [2, 2]], b_q: [1, 2, 3, 4], b_k: [1, 2], b_v: [3, 4], "
        "b_o: [5, 6]}\nheads: 2\nkv_heads: 1\nscale: 0.5\ntemperature: 2\nresidual: yes\n"
    )
    assert (one.n_heads, one.n_kv_heads, one.scale, one.temperature, one.residual) == (2, 1, 0.5, 2.0, True)
    assert [b.tolist() for b in (one.b_q, one.b_k, one.b_v, one.b_o)] == [[1, 2, 3, 4], [1, 2], [3, 4], [5, 6]]
    assert one.rule().scale == 0.25
    trace = jumok.attend(parse(HEAD + "temperature: 2\n"))
    assert trace.rule.scale == pytest.approx(1 / 2**0.5 / 2)
    assert np.allclose(trace.scaled, trace.scores / 2**0.5 / 2)
    assert jumok.attend(parse(HEAD)).rule.scale is None


@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("true", True), ("YES", True), ("0", False), ("no", False), ("false", False)]
)
def test_yes_and_no(text, value):
    assert block(f"residual: {text}").residual is value


MASKS = {
    "none": [[1, 1, 1]] * 3,
    "causal": [[1, 0, 0], [1, 1, 0], [1, 1, 1]],
    "{window: 1}": [[1, 0, 0], [1, 1, 0], [0, 1, 1]],
    "{window: [0, 1]}": [[1, 1, 0], [0, 1, 1], [0, 0, 1]],
    "{document: [0, 0, 7]}": [[1, 1, 0], [1, 1, 0], [0, 0, 1]],
    "{padding: [c]}": [[1, 1, 0]] * 3,
    "{padding: []}": [[1, 1, 1]] * 3,
    "{table: {b: [a, c]}}": [[1, 1, 1], [1, 0, 1], [1, 1, 1]],
    "{table: {b: []}}": [[1, 1, 1], [0, 0, 0], [1, 1, 1]],
    "{table: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}": np.eye(3).tolist(),
    "[[1, 0, no], [0, yes, 0], [0, false, true]]": np.eye(3).tolist(),
    "{all: [causal, {window: [1, 1]}]}": [[1, 0, 0], [1, 1, 0], [0, 1, 1]],
    "{any: [{window: 0}, {padding: [b, c]}]}": [[1, 0, 0], [1, 1, 0], [1, 0, 1]],
    "{all: [causal, {any: [{window: 0}, {table: {c: [a]}}]}]}": [[1, 0, 0], [1, 1, 0], [1, 0, 1]],
    "{all: [causal]}": [[1, 0, 0], [1, 1, 0], [1, 1, 1]],
}


@pytest.mark.parametrize("text", MASKS)
def test_a_mask_says_who_may_read_whom(text):
    assert allowed(text) == MASKS[text]


def test_masks_keep_their_kind():
    assert block("mask: causal").allowed == causal()
    assert block("mask: {window: [2, 1]}").allowed == window(2, 1)
    assert block("mask: {document: [0, 1, 1]}").allowed == document([0, 1, 1])
    assert block("mask: {all: [causal, {padding: [a]}]}").allowed == causal() & padding([False, True, True])


def test_a_repeated_token_is_named_with_its_number():
    example = parse(REPEATED + 'mask: {table: {"a#2": [b]}}\nwanted: {"a#1": {"a#2": .5}}\nfocus: "a#2"\n')
    assert allowed('{table: {"a#2": [b]}}', REPEATED) == [[1, 1, 1], [1, 1, 1], [0, 1, 0]]
    assert (example.focus, example.wanted) == (2, ({0: {2: 0.5}},))


@pytest.mark.parametrize(("text", "kind"), [("none", "none"), ("sinusoidal", "sinusoidal"), ("rotary", "rotary")])
def test_positions_by_name(text, kind):
    assert block(f"positions: {text}").positions == kind


def test_positions_change_what_is_attended_to():
    bare, *others = (
        jumok.attend(parse(f"{HEAD}positions: {name}")).weights for name in ("none", "sinusoidal", "rotary", "alibi")
    )
    assert not any(np.allclose(bare, other) for other in others)


def test_alibi_has_a_slope_a_head():
    assert block("heads: 2\npositions: {alibi: [0.5, 0.25]}").positions.slopes.tolist() == [0.5, 0.25]
    assert block("heads: 2\npositions: alibi").positions.slopes.tolist() == [2**-4, 2**-8]


def test_layers_read_what_the_layer_before_gave():
    example = parse(HEAD + "layers:\n- residual: true\n  mask: causal\n- weights: {w_q: {rows: {A: {B: 2}}}}\n- {}\n")
    first, second, third = jumok.attend(example)
    assert [block.residual for block in example.layers] == [True, False, False]
    assert np.allclose(second.x, first.x + first.output)
    assert np.allclose(third.x, second.output)
    assert [trace.rule.allowed.kind for trace in (first, second, third)] == ["causal", "everything", "everything"]


def test_a_layer_may_be_of_another_width():
    narrow = parse(HEAD + "layers:\n- weights: {w_v: [[1], [2]]}\n- weights: {w_q: [[3]], w_k: identity}\n")
    assert [trace.x.shape for trace in jumok.attend(narrow)] == [(3, 2), (3, 1)]


def test_random_numbers_come_in_the_order_that_is_stated():
    legacy = parse("tokens: [a, b]\nrandom: {seed: 3, d_model: 2, d_k: 1}")
    draw = np.random.RandomState(3).standard_normal
    assert np.array_equal(legacy.x, draw((2, 2)))
    assert all(
        np.array_equal(w, draw((2, 1))) for w in (legacy.layers[0].w_q, legacy.layers[0].w_k, legacy.layers[0].w_v)
    )
    modern = parse(
        "dimensions: [A, B]\ntokens: [a: {}, b]\nrandom: {seed: 3, generator: numpy, order: [w_o, w_v, w_k, w_q, x], scale: {w_o: 2}, d_model: 2, d_k: 1}"
    )
    draw = np.random.default_rng(3).standard_normal
    assert np.array_equal(modern.layers[0].w_o, 2 * draw((1, 2)))
    assert np.array_equal(modern.layers[0].w_v, draw((2, 1)))
    assert modern.random["seed"] == 3
    assert parse("tokens: [a]\nrandom: {d_model: 2, d_k: 1}").random["seed"] == 0


def test_words_and_wishes():
    example = parse(
        HEAD
        + "title: {ko: 제목}\nsentence: a b - c\nmeaning: {B: {en: bee, ko: 비}, A: ay}\nwanted: {a: {a: .25, b: .75, c: 0}, b: {c: .5}}\n"
        "focus: b\npair: student\n"
    )
    assert example.title == {"ko": "제목"}
    assert (example.sentence, example.spans) == ("a b - c", ((0, 1), (2, 3), (6, 7)))
    assert example.meaning == {"B": {"en": "bee", "ko": "비"}, "A": {"en": "ay", "ko": "ay"}}
    assert example.wanted == ({0: {0: 0.25, 1: 0.75, 2: 0.0}, 1: {2: 0.5}},)
    assert (example.focus, example.pair, example.name) == (1, "student", "example")
    assert parse(HEAD).sentence == "a b c"
    assert parse(HEAD + "heads: 2\nwanted: [{a: {b: .5}}, {b: {a: .5}}]\n").wanted == ({0: {1: 0.5}}, {1: {0: 0.5}})


def test_a_file_may_be_json():
    text = '{"dimensions": ["A"], "tokens": [{"a": {"A": 1}}, {"\\ud83d\\ude00": [2]}], "mask": "causal", "title": "t"}'
    example = parse(text)
    assert (example.tokens, example.x.tolist()) == (("a", "😀"), [[1], [2]])


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e150, max_value=1e150))
def test_every_number_is_read_to_the_last_digit(value):
    assert parse(f"tokens: [a: [{value!r}]]\nweights: {{w_q: [[0]]}}").x[0, 0] == value


# what is refused --------------------------------------------------------------------------------

LONG = "x" * 5000
L2 = "tokens: [a: [1, 2], b: [3, 4]]\n"
REFUSED = {
    # the file as a whole
    "a list": ("- a\n", 1, 1, "an example file expects names with values", "tokens"),
    "a word": ("hello\n", 1, 1, "an example file expects names with values"),
    "only a mark": ("---\n...\n", 2, 1, "an example file expects names with values"),
    "an unknown name": ("toekns: [a]\n", 1, 1, "unknown name 'toekns'; did you mean 'tokens'?", "There are: title"),
    "a name far off": ("zzzzzz: 1\n", 1, 1, "unknown name 'zzzzzz'. There are: title"),
    "an escape in a name": ('"\\e[31m": 1\n', 1, 1, r"unknown name '\x1b[31m'"),
    "no tokens": ("title: t\n", 1, 1, "tokens: is missing", "one entry a token"),
    # dimensions
    "dimensions as a word": ("dimensions: A\ntokens: [a]\n", 1, 13, "dimensions expects a list, such as [Person, Action]"),
    "dimensions as names": ("dimensions: {A: 1}\ntokens: [a]\n", 1, 13, "dimensions expects a list"),
    "no dimension": ("dimensions: []\ntokens: [a]\n", 1, 13, "dimensions: needs at least one name, such as"),
    "a dimension without a name": ('dimensions: [A, ""]\ntokens: [a]\n', 1, 17, "a dimension needs a name"),
    "a dimension that is a list": ("dimensions: [[A]]\ntokens: [a]\n", 1, 14, "a text is expected here"),
    "a dimension twice": ("dimensions: [A, B, A]\ntokens: [a]\n", 1, 20, "the dimension 'A' is declared twice; keep one"),
    "a dimension in two forms": ("dimensions: [한, \u1112\u1161\u11ab]\ntokens: [a]\n", 1, 17, "the dimension '한' is declared twice"),
    "too many dimensions": (f"dimensions: [{', '.join(f'd{i}' for i in range(MOST_DIMENSIONS + 1))}]\ntokens: [a]\n", 1, 2976,
                            f"more than {MOST_DIMENSIONS} dimensions", "jumok.attend(x=…)"),
    "dimensions left out": ("tokens: [a: {A: 1}]\n", 1, 9, "dimensions: is missing", "`dimensions: [Person, Action]`"),
    # tokens
    "tokens as names": ("dimensions: [A]\ntokens: {a: {A: 1}}\n", 2, 9, "tokens expects a list, such as - cat: {Animal: 1}"),
    "tokens as a word": ("dimensions: [A]\ntokens: a b c\n", 2, 9, "tokens expects a list"),
    "tokens left empty": ("dimensions: [A]\ntokens:\n", 2, 8, "tokens expects a list"),
    "no token": ("dimensions: [A]\ntokens: []\n", 2, 9, "there is no token; write at least one"),
    "a token that is a list": ("dimensions: [A]\ntokens: [[a]]\n", 2, 10, "a token is one entry such as"),
    "a token with two names": ("dimensions: [A]\ntokens:\n- a: {}\n  b: {}\n", 3, 3, "a token is one entry such as"),
    "a token without a name": ("dimensions: [A]\ntokens: [{}]\n", 2, 10, "a token is one entry such as"),
    "too many tokens": (f"dimensions: [A]\ntokens: [{'a, ' * MOST_TOKENS}a]\n", 2, 9, f"an example holds at most {MOST_TOKENS}",
                        f"{MOST_TOKENS + 1} tokens", "jumok.attend(x=…)"),
    "a dimension that is not declared": ("dimensions: [Animal]\ntokens:\n- cat: {Animal: 1}\n- mat: {Aminal: 1}\n", 4, 9,
                                         "unknown dimension 'Aminal'; did you mean 'Animal'?", "There are: Animal"),
    "no dimension is declared": ("tokens: [a: [1], b: {A: 1}]\n", 1, 22, "unknown dimension 'A'. There is no dimension here"),
    "an embedding that is a word": ("dimensions: [A]\ntokens: [a: A]\n", 2, 13, "a token's embedding expects names with values, such as {Animal: 1}"),
    "an embedding that is too short": ("dimensions: [A, B]\ntokens: [a: [1]]\n", 2, 13, "the token's embedding has 1 numbers; 2 are expected"),
    "embeddings of two lengths": ("tokens: [a: [1, 2], b: [1, 2, 3]]\n", 1, 24, "the token's embedding has 3 numbers; 2 are expected"),
    "an empty embedding": ("tokens: [a: []]\n", 1, 13, "the token's embedding is empty; write its numbers"),
    "a dimension twice in a token": ("dimensions: [A]\ntokens: [a: {A: 1, A: 2}]\n", 2, 20, "the name 'A' stands twice here"),
    "a long name": (f"dimensions: [A]\ntokens: [a: {{{'x' * 900}: 1}}]\n", 2, 14, "unknown dimension 'xxx", "xxx…'"),
    # numbers
    **{f"the number {text}": (f"tokens: [a: [{text}]]\n", 1, 14, "a number such as 0.5 is expected", f"got {text.strip(chr(39) + chr(34))!r}")
       for text in ("one", "1_000", "0x10", "0o7", '"1,5"', "1e", "--1", "1.2.3", "한", "1 2", "½", "~", "true", "12:30")},
    **{f"not finite: {text}": (f"tokens: [a: [{text}]]\n", 1, 14, "a finite number is expected (no NaN, no infinity)", f"got {text}")
       for text in ("nan", "NaN", ".nan", "inf", ".inf", "-.inf", "-inf", "infinity", "1e999", "-1e999")},
    "a number that is a list": ("tokens: [a: [[1]]]\n", 1, 14, "a text is expected here"),
    "no number at all": ("tokens: [a: ['']]\n", 1, 14, "a number is missing here", "{Animal: 1}"),
    "a long number": (f"tokens: [a: [{LONG}]]\n", 1, 14, "a number such as 0.5 is expected", "xx…"),
    # weights
    "weights as a list": (HEAD + "weights: [identity]\n", 3, 10, "weights expects names with values (w_q, w_k, w_v, w_o, b_q"),
    "an unknown weight": (HEAD + "weights: {wq: identity}\n", 3, 11, "unknown name 'wq'; did you mean 'w_q'?"),
    "a matrix by a word": (HEAD + "weights: {w_q: ones}\n", 3, 16, "w_q is identity, {diagonal: …}, {rows: …} or a matrix, got 'ones'"),
    "a matrix left out": (HEAD + "weights:\n  w_q:\n", 4, 7, "w_q is identity", "got ''"),
    "too many rows": (HEAD + "weights: {w_q: [[1], [2], [3]]}\n", 3, 16, "w_q has 3 rows; one a dimension is expected, 2"),
    "too few rows": (HEAD + "weights: {w_k: [[1]]}\n", 3, 16, "w_k has 1 rows; one a dimension is expected, 2"),
    "a ragged matrix": (HEAD + "weights: {w_q: [[1, 2], [3]]}\n", 3, 25, "this row of w_q has 1 numbers, the first has 2"),
    "a matrix without columns": (HEAD + "weights: {w_q: [[], []]}\n", 3, 17, "a row of w_q is empty"),
    "a matrix without rows": (HEAD + "weights: {w_o: []}\n", 3, 16, "w_o is empty; write rows of numbers, such as [[1, 0], [0, 1]]"),
    "a matrix of one axis": (HEAD + "weights: {w_q: [1, 2]}\n", 3, 17, "a row of w_q expects a list, such as"),
    "w_o of another height": (HEAD + "weights: {w_o: [[1, 2]]}\n", 3, 10, "w_o has rows=1, but the joined heads has rows=2"),
    "w_q and w_k of two widths": (HEAD + "weights: {w_q: [[1], [2]]}\n", 3, 10, "k has d_head=2, but q has d_head=1"),
    "a bias of another length": (HEAD + "weights: {b_q: [1, 2, 3]}\n", 3, 10, "b_q has 3 numbers, but w_q has 2 columns"),
    "a bias that is a word": (HEAD + "weights: {b_q: identity}\n", 3, 16, "b_q expects a list, such as [1, 0, 0.5]"),
    "an empty bias": (HEAD + "weights: {b_v: []}\n", 3, 16, "b_v is empty"),
    "neither diagonal nor rows": (HEAD + "weights: {w_q: {otherwise: 1}}\n", 3, 16, "w_q takes either diagonal: or rows:"),
    "both diagonal and rows": (HEAD + "weights: {w_q: {diagonal: {A: 1}, rows: {A: {B: 1}}}}\n", 3, 16, "w_q takes either diagonal: or rows:"),
    "an unknown way": (HEAD + "weights: {w_q: {diag: {A: 1}}}\n", 3, 17, "unknown name 'diag'; did you mean 'diagonal'?"),
    "a diagonal as a list": (HEAD + "weights: {w_q: {diagonal: [1, 2]}}\n", 3, 27, "diagonal expects names with values, such as {Knowledge: 3}"),
    "a diagonal of an unknown dimension": (HEAD + "weights: {w_q: {diagonal: {C: 1}}}\n", 3, 28, "unknown dimension 'C'", "There are: A, B"),
    "rows as a list": (HEAD + "weights: {w_q: {rows: [[1, 2]]}}\n", 3, 23, "rows expects names with values, such as {Action: {Person: 2}}"),
    "a row of an unknown dimension": (HEAD + "weights: {w_q: {rows: {C: {A: 1}}}}\n", 3, 24, "unknown dimension 'C'"),
    "a column of an unknown dimension": (HEAD + "weights: {w_q: {rows: {A: {C: 1}}}}\n", 3, 28, "unknown dimension 'C'"),
    "a row that is a word": (HEAD + "weights: {w_q: {rows: {A: B}}}\n", 3, 27, "the row 'A' of w_q expects names with values, such as {Person: 2, Action: 1}"),
    "an empty row": (HEAD + "weights: {w_q: {rows: {A: []}}}\n", 3, 27, "the row 'A' of w_q is empty"),
    "rows of two lengths": (HEAD + "weights: {w_q: {rows: {A: [1], B: [1, 2]}}}\n", 3, 23, "the rows of w_q must be equally long"),
    "rows beside the identity": (HEAD + "weights: {w_q: {rows: {A: [1, 2, 3]}}}\n", 3, 23, "with otherwise: identity, 2 numbers each"),
    "an unknown rest": (HEAD + "weights: {w_q: {rows: {}, otherwise: one}}\n", 3, 38, "unknown choice 'one'", "There are: identity, zero"),
    "a rest that is no number": (HEAD + "weights: {w_q: {diagonal: {}, otherwise: zero}}\n", 3, 42, "a number such as 0.5 is expected, got 'zero'"),
    "names where there are none": (L2 + "weights: {w_q: {diagonal: {A: 1}}}\n", 2, 28, "unknown dimension 'A'. There is no dimension here"),
    "names in a layer of another width": (HEAD + "layers:\n- weights: {w_v: [[1], [2]]}\n- weights: {w_q: {diagonal: {B: 1}}}\n", 5, 18,
                                          "w_q cannot use the names of the 2 dimensions", "1 wide", "Write it as a matrix"),
    "a matrix in a layer of another width": (HEAD + "layers:\n- weights: {w_v: [[1], [2]]}\n- weights: {w_q: [[1], [2]]}\n", 5, 18,
                                             "w_q has 2 rows; one a dimension is expected, 1"),
    "too many numbers": ("tokens: [a: [" + "1, " * 1999 + "1]]\n", 1, 1, f"more than {MOST_NUMBERS:,} numbers", "jumok.attend(x=…)"),
    "too many numbers by layers": (f"dimensions: [{', '.join(f'd{i}' for i in range(500))}]\ntokens: [a]\nlayers: [{'{}, ' * 99}{{}}]\n", 3, 30,
                                   f"more than {MOST_NUMBERS:,} numbers"),
    "scores that are too many": ("tokens:\n" + "- a: [1, 1, 1, 1, 1, 1]\n" * 999 + "layers: [{heads: 6}" + ", {heads: 6}" * 30 + "]\n", 1001, 106,
                                 "999 tokens with 6 heads in 9 layers are too much for an example"),
    # heads, scale, temperature, positions
    "heads that do not divide": (HEAD + "heads: 3\n", 3, 8, "3 heads cannot share the 2 columns of w_q evenly; choose heads that divide 2"),
    "kv_heads that do not divide": (HEAD + "weights: {w_q: [[1, 2, 3], [4, 5, 6]]}\nheads: 3\nkv_heads: 2\n", 5, 11,
                                    "3 heads cannot share 2 kv_heads evenly; kv_heads must divide heads"),
    "kv_heads beyond heads": (HEAD + "heads: 2\nkv_heads: 3\n", 4, 11, "a whole number from 1 to 2 is expected, got '3'"),
    "values that do not divide": (HEAD + "weights: {w_v: [[1, 2, 3], [4, 5, 6]]}\nheads: 2\n", 4, 8, "2 heads cannot share the 3 columns of w_v"),
    "no heads": (HEAD + "heads: 0\n", 3, 8, "a whole number from 1 to 256 is expected, got '0'"),
    "negative heads": (HEAD + "heads: -1\n", 3, 8, "a whole number from 1 to 256 is expected, got '-1'"),
    "half a head": (HEAD + "heads: 1.5\n", 3, 8, "a whole number from 1 to 256 is expected, got '1.5'"),
    "heads by a word": (HEAD + "heads: two\n", 3, 8, "a whole number from 1 to 256 is expected, got 'two'"),
    "heads in other digits": (HEAD + "heads: ２\n", 3, 8, "a whole number from 1 to 256 is expected, got '２'"),
    "very many heads": (HEAD + f"heads: {'9' * 5000}\n", 3, 8, "a whole number from 1 to 256 is expected, got '999", "…"),
    **{f"{name} {value}": (HEAD + f"{name}: {value}\n", 3, len(name) + 3, f"{name} must be above 0, got {float(value):g}")
       for name in ("scale", "temperature") for value in ("-1", "0", "-0.0", "-1e-300")},
    "a scale that is too large": (HEAD + "scale: 1e300\n", 3, 8, "scale expects a number"),
    "a temperature that is too small": (HEAD + "temperature: 1e-300\n", 3, 14, "temperature expects a number above 0", "got 1e-300"),
    "unknown positions": (HEAD + "positions: rotery\n", 3, 12, "unknown choice 'rotery'; did you mean 'rotary'?"),
    "positions as a list": (HEAD + "positions: [rotary]\n", 3, 12, "positions expects names with values (alibi)"),
    "positions left empty": (HEAD + "positions: {}\n", 3, 12, "positions is none, sinusoidal, rotary, alibi or"),
    "another position bias": (HEAD + "positions: {t5: [1]}\n", 3, 13, "unknown name 't5'. There are: alibi"),
    "too many slopes": (HEAD + "positions: {alibi: [1, 2]}\n", 3, 20, "alibi (one slope a head) has 2 numbers; 1 are expected"),
    "rotary and an odd width": ("tokens: [a: [1, 2, 3]]\npositions: rotary\n", 1, 1, "d_head must be even, got 3"),
    # masks
    "an unknown mask": (HEAD + "mask: casual\n", 3, 7, "unknown choice 'casual'; did you mean 'causal'?"),
    "an unknown kind of mask": (HEAD + "mask: {windows: 2}\n", 3, 8, "unknown name 'windows'; did you mean 'window'?"),
    "two masks": (HEAD + "mask: {window: 2, document: [0, 0, 0]}\n", 3, 7, "a mask is one of", "join several with {all:"),
    "no mask": (HEAD + "mask: {}\n", 3, 7, "a mask is one of"),
    "a negative window": (HEAD + "mask: {window: -1}\n", 3, 16, "a whole number from 0 to 1000000 is expected, got '-1'"),
    "a window of three": (HEAD + "mask: {window: [1, 2, 3]}\n", 3, 16, "window expects 2 entries here, got 3"),
    "a window by name": (HEAD + "mask: {window: {back: 1}}\n", 3, 16, "window is a number of earlier tokens, or [back, ahead]"),
    "documents for others": (HEAD + "mask: {document: [0, 0]}\n", 3, 18, "document expects 3 entries here, got 2"),
    "a document by name": (HEAD + "mask: {document: [a, a, b]}\n", 3, 19, "a whole number from 0 to 1000000 is expected, got 'a'"),
    "an unknown padding": (HEAD + "mask: {padding: [d]}\n", 3, 18, "unknown token 'd'", "There are: 'a', 'b', 'c'"),
    "padding that is a word": (HEAD + "mask: {padding: c}\n", 3, 17, "padding (the tokens that are padding) expects a list"),
    "all padding": (HEAD + "mask: {padding: [a, b, c]}\n", 3, 7, "the mask leaves no token anything to read; let at least one token read one"),
    "a table of zeros": (HEAD + "mask: [[0, 0, 0], [0, 0, 0], [0, 0, 0]]\n", 3, 7, "the mask leaves no token anything to read"),
    "masks that leave nothing": (HEAD + "mask: {all: [{padding: [a]}, {padding: [b, c]}]}\n", 3, 7, "the mask leaves no token anything to read"),
    "a table by name that leaves nothing": (HEAD + "mask: {table: {a: [], b: [], c: []}}\n", 3, 7, "the mask leaves no token anything to read"),
    "a layer that leaves nothing": (HEAD + "layers:\n- {}\n- mask: {padding: [a, b, c]}\n", 5, 9, "the mask leaves no token anything to read"),
    "a short table": (HEAD + "mask: [[1, 1, 1]]\n", 3, 7, "mask expects 3 entries here, got 1"),
    "a narrow table": (HEAD + "mask: [[1, 1, 1], [1, 1], [1, 1, 1]]\n", 3, 19, "mask expects 3 entries here, got 2"),
    "a table with a two": (HEAD + "mask: [[1, 1, 1], [1, 2, 1], [1, 1, 1]]\n", 3, 23, "1 (yes) or 0 (no) is expected, got '2'"),
    "a table with a word": (HEAD + "mask: [causal, causal, causal]\n", 3, 8, "mask expects a list, such as [1, 0]"),
    "a table of unknown tokens": (HEAD + "mask: {table: {d: [a]}}\n", 3, 16, "unknown token 'd'"),
    "a table by name with a word": (HEAD + "mask: {table: {a: b}}\n", 3, 19, "what the token may read expects a list, such as [cat, mat]"),
    "a table by a word": (HEAD + "mask: {table: causal}\n", 3, 15, "table expects names with values, such as {it: [cat, mat]}"),
    "a table that names a token twice": (HEAD + 'mask: {table: {a: [b], "a#1": [c]}}\n', 3, 24, "table names the token 'a' twice; keep one"),
    "nothing to join": (HEAD + "mask: {all: []}\n", 3, 13, "a list of masks is expected, such as [causal, {window: 2}]"),
    "a join of a word": (HEAD + "mask: {any: causal}\n", 3, 13, "a list of masks expects a list"),
    # the same word twice
    "a repeated word in a table": (REPEATED + "mask: {table: {a: [b]}}\n", 3, 16, "the token 'a' stands 2 times; say which: a#1, a#2"),
    "a repeated word in padding": (REPEATED + "mask: {padding: [a]}\n", 3, 18, "the token 'a' stands 2 times; say which: a#1, a#2"),
    "a repeated word wanted": (REPEATED + "wanted: {b: {a: .5}}\n", 3, 14, "the token 'a' stands 2 times; say which: a#1, a#2"),
    "a repeated word in focus": (REPEATED + "focus: a\n", 3, 8, "the token 'a' stands 2 times; say which: a#1, a#2"),
    "a number beyond the last": (REPEATED + 'focus: "a#3"\n', 3, 8, "unknown token 'a#3'"),
    # residual and layers
    "residual by a word": (HEAD + "residual: maybe\n", 3, 11, "1 (yes) or 0 (no) is expected, got 'maybe'"),
    "residual of another width": (HEAD + "weights: {w_v: [[1], [2]]}\nresidual: true\n", 4, 11,
                                  "residual adds the output to x, but the output is 1 wide and x is 2; set w_o or w_v so that they agree"),
    "residual of another width in a layer": (HEAD + "layers:\n- weights: {w_v: [[1], [2]]}\n  residual: true\n", 5, 13, "the output is 1 wide and x is 2"),
    "residual through w_o of another width": (HEAD + "layers:\n- weights: {w_o: [[1], [2]]}\n  residual: true\n- {}\n", 5, 13, "the output is 1 wide"),
    "no layer": (HEAD + "layers: []\n", 3, 9, "layers: needs at least one layer"),
    "layers as names": (HEAD + "layers: {weights: {}}\n", 3, 9, "layers expects a list, such as - weights: {w_q: identity}"),
    "a layer that is a word": (HEAD + "layers: [one]\n", 3, 10, "a layer expects names with values (weights, heads"),
    "an unknown name in a layer": (HEAD + "layers: [{tokens: [a]}]\n", 3, 11, "unknown name 'tokens'"),
    **{f"{name} beside layers": (HEAD + f"layers: [{{}}]\n{name}: {value}\n", 4, len(name) + 3, f"{name}: stands inside each layer when layers: is used")
       for name, value in {"weights": "{}", "heads": "1", "mask": "none", "residual": "no", "scale": "1"}.items()},
    "a product that does not fit": (HEAD + "weights: {w_q: [[1e308, 0], [0, 1e308]]}\n", 3, 10, "q of 'a' (token 0)", "Divide the numbers"),
    "a score that does not fit": ("tokens: [a: [1e200], b: [1]]\n", 1, 1, "the score of 'a' (query 0) and 'a' (key 0) in head 0 does not fit float64"),
    "a layer that does not fit": ("tokens: [a: [1.797e308]]\nlayers:\n- weights: {w_q: [[0]], w_k: [[0]], w_v: [[.06]]}\n  residual: 1\n- {}\n", 3, 1,
                                  "layer 1: ", "'a'"),
    # random
    "random without sizes": ("tokens: [a]\nrandom: {seed: 1}\n", 2, 9, "random: needs d_model, a whole number"),
    "random without d_k": ("tokens: [a]\nrandom: {d_model: 2}\n", 2, 9, "random: needs d_k, a whole number"),
    "random as a word": ("tokens: [a]\nrandom: yes\n", 2, 9, "random expects names with values (seed, generator, order"),
    "an unknown setting": ("tokens: [a]\nrandom: {sead: 1}\n", 2, 10, "unknown name 'sead'; did you mean 'seed'?"),
    "an unknown generator": ("tokens: [a]\nrandom: {generator: pcg, d_model: 2, d_k: 2}\n", 2, 21, "unknown choice 'pcg'", "numpy-legacy, numpy"),
    "a negative seed": ("tokens: [a]\nrandom: {seed: -1, d_model: 2, d_k: 2}\n", 2, 16, "a whole number from 0 to 4294967295 is expected"),
    "a large seed": ("tokens: [a]\nrandom: {seed: 4294967296, d_model: 2, d_k: 2}\n", 2, 16, "a whole number from 0 to 4294967295 is expected"),
    "an order with one twice": ("tokens: [a]\nrandom: {order: [x, x, w_q, w_k, w_v], d_model: 2, d_k: 2}\n", 2, 17, "order: names x, w_q, w_k and w_v"),
    "an order with one left out": (
        "tokens: [a]\nrandom: {order: [x, w_q], d_model: 2, d_k: 2}\n", 2, 17, "order: names x, w_q, w_k and w_v"),
    "an order of others": ("tokens: [a]\nrandom: {order: [y], d_model: 2, d_k: 2}\n", 2, 18, "unknown choice 'y'"),
    "an order that is a word": ("tokens: [a]\nrandom: {order: x, d_model: 2, d_k: 2}\n", 2, 17, "order expects a list, such as [x, w_q, w_k, w_v]"),
    "a scale of another": ("tokens: [a]\nrandom: {scale: {w_o: 1}, d_model: 2, d_k: 2}\n", 2, 18, "unknown name 'w_o'"),
    "a scale that is large": ("tokens: [a]\nrandom: {scale: {w_q: -1e308}, d_model: 2, d_k: 2}\n", 2, 23, "a scale from -1e+15 to 1e+15 is expected"),
    "a large random": ("tokens: [a]\nrandom: {d_model: 513, d_k: 2}\n", 2, 19, f"a whole number from 1 to {MOST_DIMENSIONS} is expected, got '513'"),
    "random beside weights": ("tokens: [a]\nweights: {}\nrandom: {d_model: 2, d_k: 2}\n", 2, 10, "weights: cannot stand beside random:; keep one of them"),
    "random beside layers": ("tokens: [a]\nrandom: {d_model: 2, d_k: 2}\nlayers: [{}]\n", 3, 9, "layers: cannot stand beside random:; keep one of them"),
    "random beside numbers": ("tokens: [a: [1]]\nrandom: {d_model: 2, d_k: 2}\n", 1, 10, "with random: the tokens carry no numbers of their own"),
    "random beside names": ("dimensions: [A]\ntokens: [a, b: {A: 1}]\nrandom: {d_model: 1, d_k: 2}\n", 2, 13, "with random: the tokens carry no numbers"),
    "random of another width": ("dimensions: [A]\ntokens: [a]\nrandom: {d_model: 2, d_k: 2}\n", 3, 19, "d_model is 2, but 1 dimensions are declared"),
    "random and heads": ("tokens: [a]\nrandom: {d_model: 4, d_k: 3}\nheads: 2\n", 3, 8, "2 heads cannot share the 3 columns of w_q"),
    # wanted, meaning, focus, words
    "wanted as a word": (HEAD + "wanted: a\n", 3, 9, "in braces its keys with their weights, such as wanted: {c: {a: 0.5}}; got 'a'"),
    "wanted with commas": (HEAD + "wanted: b, a, .3\n", 3, 9, "such as wanted: {b: {a: .3}}; got 'b, a, .3'"),
    "wanted as a list": (HEAD + "wanted: [b, a, c, 0.3, 0.7]\n", 3, 9, "such as wanted: {b: {a: 0.3, c: 0.7}}; got 'b, a, c, 0.3, 0.7'"),
    "wanted of nothing": (HEAD + "wanted:\n", 3, 8, "such as wanted: {c: {a: 0.5}}"),
    "wanted of odd tokens": ('tokens: ["a,b": [1], "#": [1]]\nweights: {w_q: [[1]]}\nwanted: "#"\n', 3, 9, 'wanted: {"#": {"#": 0.5}}'),
    "a wanted row with commas": (HEAD + "wanted:\n  b: a .3, c .5\n", 4, 6, "such as wanted: {b: {a: .3, c: .5}}; got 'a .3, c .5'"),
    "a wanted decimal comma": (HEAD + "wanted: {a: {b: 0,5}}\n", 3, 20, "a number is missing here"),
    "wanted of an unknown token": (HEAD + "wanted: {d: {a: .5}}\n", 3, 10, "unknown token 'd'"),
    "a wanted key that is not there": (HEAD + "wanted: {a: {d: .5}}\n", 3, 14, "unknown token 'd'"),
    "a wanted row as a list": (HEAD + "wanted: {a: [1, 0, 0]}\n", 3, 13, "such as wanted: {a: {a: 1, b: 0, c: 0}}; got '1, 0, 0'"),
    "an empty wanted row": (HEAD + "wanted: {a: {}}\n", 3, 13, "a wanted row says nothing; give at least one weight"),
    "a wanted weight below 0": (HEAD + "wanted: {a: {b: -0.1}}\n", 3, 17, "a wanted weight is between 0 and 1, got -0.1"),
    "a wanted weight beyond 1": (HEAD + "wanted: {a: {b: 1.5}}\n", 3, 13, "the wanted weights of a row sum to 1, these to 1.5"),
    "a wanted row beyond 1": (HEAD + "wanted:\n  a: {b: .7, c: .4}\n", 4, 6, "the wanted weights of a row sum to 1, these to 1.1"),
    "a full wanted row below 1": (HEAD + "wanted: {a: {a: .2, b: .2, c: .2}}\n", 3, 13, "the wanted weights of a row sum to 1, these to 0.6"),
    "a wanted token twice": (HEAD + 'wanted: {a: {b: .1}, "a#1": {b: .2}}\n', 3, 22, "wanted names the token 'a' twice; keep one"),
    "a wanted key twice": (HEAD + 'wanted: {a: {b: .1, "b#1": .2}}\n', 3, 21, "a wanted row names the token 'b' twice; keep one"),
    "too many wanted tables": (HEAD + "wanted: [{a: {b: 1}}, {a: {b: 1}}]\n", 3, 9, "wanted: has 2 tables; one a head is expected, 1"),
    "no wanted table": (HEAD + "wanted: []\n", 3, 9, "wanted: has 0 tables; one a head is expected, 1"),
    "a meaning of an unknown dimension": (HEAD + "meaning: {C: who}\n", 3, 11, "unknown dimension 'C'"),
    "a meaning as a list": (HEAD + "meaning: [who]\n", 3, 10, "meaning expects names with values, such as"),
    "a meaning as a list of words": (HEAD + "meaning: {A: [who]}\n", 3, 14, "a text by language expects names with values (en, ko)"),
    "an unknown language": (HEAD + "title: {fr: t}\n", 3, 9, "unknown name 'fr'. There are: en, ko"),
    "a title that is a list": (HEAD + "title: {en: [t]}\n", 3, 13, "a text is expected here"),
    "a sentence that is a list": (HEAD + "sentence: [a, b]\n", 3, 11, "a text is expected here"),
    "a pair that is a list": (HEAD + "pair: [a]\n", 3, 7, "a text is expected here"),
    "an unknown focus": (HEAD + "focus: d\n", 3, 8, "unknown token 'd'", "There are: 'a', 'b', 'c'"),
    "an alias to what is wrong": ("dimensions: [A]\ntokens: [a: &x {B: 1}, b: *x]\n", 2, 17, "unknown dimension 'B'"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    text, line, column, *phrases = REFUSED[what]
    error = refusal(lambda: parse(text, "my.yaml"), line, column, "my.yaml", *phrases)
    assert error.__cause__ is None


def test_many_names_are_not_all_listed():
    names = ", ".join(f"name{i}" for i in range(300))
    error = refusal(lambda: parse(f"dimensions: [{names}]\ntokens: [a: {{B: 1}}]\n"), 2, 14, "unknown dimension 'B'")
    assert f"name{MOST_NAMES - 1}, …" in str(error)


def test_every_way_to_refuse_is_tested():
    """Each message of the reader is met by one of the cases above."""
    source = (examples.Path(examples.__file__).parent / "example_reader.py").read_text(encoding="utf-8")
    said = [str(refusal(lambda text=text: parse(text), line, column)) for text, line, column, *_ in REFUSED.values()]
    calls = re.findall(r'self\.wrong\(\s*[^"]*?,\s*(f?"(?:[^"\\]|\\.)*")', source)
    assert len(calls) > 40
    for call in calls:
        fixed = max(re.split(r"\{\{|\}\}|\{[^{}]*\}", call.strip('f"')), key=len)
        assert any(fixed in message for message in said), call


def test_a_hostile_file_takes_little_time_and_memory():
    """As large as a file may be, and each part as large as it may be."""
    heads = "tokens:\n" + "- a: [1, 2]\n" * 1000 + "heads: 2\nmask: {all: [causal, {window: 3}]}\n"
    deep = (
        f"dimensions: [{', '.join(f'd{i}' for i in range(360))}]\ntokens: [a]\nlayers: [{'{residual: 1}, ' * 9}{{}}]\n"
    )
    for text in (heads, deep):
        start = time.process_time()
        parse(text)
        assert time.process_time() - start < 6


# files broken at random -------------------------------------------------------------------------

EVERY_KEY = """title: {en: t, ko: 제목}
dimensions: [A, B, C, D]
tokens: [{a: {A: 1}}, {b: [1, 2, 3, 4]}, {a: {}}, "c"]
weights: {w_q: identity, w_k: [[1, 2], [3, 4], [5, 6], [7, 8]], w_v: {rows: {A: [1, 2]}, otherwise: zero},
  w_o: [[1, 0], [0, 1], [1, 1], [2, -1]], b_q: [1, 2, 3, 4], b_o: [1, 1]}
heads: 2
kv_heads: 1
scale: 0.5
temperature: 2
positions: {alibi: [0.5, 0.25]}
mask: {all: [causal, {any: [{window: [1, 1]}, {document: [0, 0, 1, 1]}]}, {padding: [c]}, {table: {b: ["a#1", c]}}]}
wanted: [{b: {"a#1": .5, c: .2}}, {c: {b: 1}}]
"""
SIGNS = [": ", ":", "- ", "\n", "  ", "{", "}", "[", "]", ",", "#", " #", "&a ", "*a", "!", "!!int ", "|", ">", "'", '"', "%", "@", "`", "\t", "?",
         "? ", "---\n", "...\n", "<<: ", "~", "\\", "\r", "\x00", "\u2028", "\u0085", "\ufeff", "\u0301", "layers: ", "heads: 3\n", "mask: causal\n",
         "residual: true\n", "random: {d_model: 2, d_k: 2}\n"]  # fmt: skip
WORDS = ["1e308", "-1e308", "1e-320", "1e999", ".nan", "0", "-1", "1000000", "99999999999999", "1e30", "[]", "{}", "[[]]", "''", "[1, 2]", "*x",
         "identity", "zero", "causal", "rotary", "alibi", "sinusoidal", "layers", "random", "w_o", "b_q", "diagonal", "rows"]  # fmt: skip


def broken(draw, texts, words):
    """A file with one to ten things wrong: signs, letters, words, lines put in, taken out, exchanged."""
    text = draw.choice(texts)
    for _ in range(draw.choice([1, 1, 1, 2, 3, 10])):
        at, lines = draw.randrange(len(text) + 1), text.split("\n")
        one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
        kind = draw.choice(["sign", "letter", "cut", "copy", "word", "word", "swap", "line"])
        found = list(re.finditer(r"[\w.]+", text))
        if kind == "word" and found:
            word = draw.choice(found)
            text = text[: word.start()] + draw.choice(words) + text[word.end() :]
        elif kind == "sign":
            text = text[:at] + draw.choice(SIGNS) + text[at:]
        elif kind == "letter" and at < len(text):
            text = text[:at] + chr(ord(text[at]) ^ 1 << draw.randrange(8)) + text[at + 1 :]
        elif kind == "cut":
            text = text[:at] + text[at + draw.choice([1, 1, 2, 5, 20, 100]) :]
        elif kind == "copy":
            start = draw.randrange(len(text) + 1)
            text = text[:at] + text[start : start + draw.choice([1, 3, 10, 40])] + text[at:]
        elif kind == "swap":
            lines[one], lines[other] = lines[other], lines[one]
            text = "\n".join(lines)
        elif kind == "line":
            lines[one] = draw.choice(draw.choice(texts).split("\n"))
            text = "\n".join(lines)
    return text


def broken_bytes(draw, text):
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(draw.choice([1, 1, 3])):
        if data:
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    return bytes(data)


def test_a_broken_file_is_read_or_refused_and_nothing_else(tmp_path):
    """JUMOK_FUZZ_N files, JUMOK_FUZZ_SEED; a file that does something else is written to the test's folder."""
    n_files, seed = int(os.environ.get("JUMOK_FUZZ_N", "300")), int(os.environ.get("JUMOK_FUZZ_SEED", "0"))
    draw = random.Random(seed)
    texts = [
        *(examples.load(name).text for name in examples.names()),
        examples.starter("en"),
        examples.starter("ko"),
        EVERY_KEY,
        EVERY_KEY,
    ]
    words = sorted({word for text in texts for word in re.findall(r"[\w.]+", text)}) + WORDS * 4
    counts = {Example: 0, JumokError: 0}
    for at in range(n_files):
        data = broken(draw, texts, words).encode("utf-8", "surrogatepass")
        data = broken_bytes(draw, data.decode("utf-8", "surrogatepass")) if at % 8 == 0 else data
        start = time.process_time()
        try:
            example = parse(_decoded("file", data), "file")
            counts[Example] += 1
            jumok.attend(example)
            if counts[Example] % 4 == 0:
                assert example.to_yaml() == example.text
        except JumokError:
            counts[JumokError] += 1
        except BaseException:
            (tmp_path / f"{at}.yaml").write_bytes(data)
            raise
        assert time.process_time() - start < 2, data
    assert min(counts.values()) > n_files / 10
