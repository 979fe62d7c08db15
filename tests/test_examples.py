"""The packaged examples: the numbers that must come out, and what each of them is there to show."""

import itertools
import re
from decimal import Decimal

import numpy as np
import pytest

import jumok
import reference as ref
from jumok.sources import example as examples
from jumok.sources.example import parse, starter
from jumok.trace import layers_of

GALLERY = ["previous-token", "first-token", "same-token", "next-word", "nearest-noun", "copy", "brackets"]
NAMES = [
    "student",
    "cat-fish",
    "bank-money",
    "bank-river",
    "pear",
    "ship",
    "it-tired",
    "it-soft",
    *GALLERY,
    "it-barked",
    "who-whom",
]
PAIRS = [("bank-money", "bank-river"), ("pear", "ship"), ("it-tired", "it-soft")]
LANGS = ("en", "ko")


def layers(name):
    record = jumok.attend(examples.load(name))
    return [record] if isinstance(record, jumok.Trace) else list(record)


def printed(text):
    """Numbers as they are printed, and half a unit of the last digit of each."""
    numbers = [number.replace("−", "-") for number in re.findall(r"[−-]?\d+(?:\.\d+)?", text)]
    places = [10.0 ** Decimal(number).as_tuple().exponent for number in numbers]
    return np.array([float(number) for number in numbers]), np.array(places) / 2


def assert_prints(values, text):
    numbers, half = printed(text)
    values = np.asarray(values).reshape(-1)
    assert values.shape == numbers.shape
    assert (np.abs(values - numbers) <= half + 1e-12).all(), f"{values} is not {text}"


def rules(block):
    """The mask and the position bias of a layer, as the loops ask for them."""
    masks = {"everything": ref.everything, "causal": ref.causal, "window": lambda: ref.window(block.allowed.n_back)}
    bias = None if isinstance(block.positions, str) else ref.alibi(block.positions.slopes.tolist())
    return {"allowed": masks[block.allowed.kind](), "bias": bias}


def by_loops(example):
    """All stages of every layer, by a triple loop over plain Python numbers."""
    x = [list(row) for row in example.x.tolist()]
    stages = []
    for block in example.layers:
        q, k, v = (ref.heads_of(ref.product(x, w.tolist()), block.n_heads) for w in (block.w_q, block.w_k, block.w_v))
        made = {"x": x, "q": q, "k": k, "v": v} | ref.attention(q, k, v, **rules(block))
        stages.append(made)
        x = (
            [[left + right for left, right in zip(a, b, strict=True)] for a, b in zip(x, made["output"], strict=True)]
            if block.residual
            else made["output"]
        )
    return stages


def test_the_list_of_examples():
    assert examples.names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_stage_agrees_with_the_triple_loop(name):
    for trace, loops in zip(layers(name), by_loops(examples.load(name)), strict=True):
        for stage in ("x", "q", "k", "v", *jumok.trace.STAGES):
            ours = getattr(trace, stage)
            theirs = np.array(loops[stage])
            assert ours.dtype == theirs.dtype == (bool if stage == "allowed" else np.float64)
            assert np.array_equal(ours, theirs) if stage == "allowed" else np.abs(ours - theirs).max() <= 1e-12


# student: facts.md, "The worked example `student`" ------------------------------------------------

STUDENT = layers("student")[0]


def row(stage, token="studies"):
    return STUDENT.rows(stage, queries=[token])


def test_student_is_what_it_says():
    example = examples.load("student")
    assert example.sentence == "The student studies deep learning carefully."
    assert example.tokens == ("The", "student", "studies", "deep learning", "carefully")
    assert example.dimensions == ("Person", "Action", "Knowledge", "Method")
    assert example.x.tolist() == [[0, 0, 0, 0], *np.eye(4).tolist()]
    (block,) = example.layers
    assert block.w_q.tolist() == [[1, 0, 0, 0], [4.605, 1.833, 6.628, 4.394], [0, 0, 1, 0], [0, 0, 0, 1]]
    assert block.w_k.tolist() == np.eye(4).tolist()
    assert block.w_v.tolist() == np.diag([1, 1, 3, 2]).tolist()
    assert (STUDENT.n_heads, STUDENT.d_head, STUDENT.rule.scale, STUDENT.rule.allowed.kind) == (
        1,
        4,
        None,
        "everything",
    )


def test_student_query_key_and_value():
    assert_prints(STUDENT.q[0, 2], "(4.605, 1.833, 6.628, 4.394)")
    assert np.array_equal(STUDENT.k[0], STUDENT.x)
    assert_prints(STUDENT.v[0, 3], "(0, 0, 3, 0)")
    assert_prints(STUDENT.v[0, 4], "(0, 0, 0, 2)")


def test_student_row_of_studies():
    assert_prints(row("scores"), "0, 4.605, 1.833, 6.628, 4.394")
    assert_prints(row("scaled"), "0, 2.3025, 0.9165, 3.314, 2.197")
    assert_prints(row("weights"), "0.020003, 0.200013, 0.050018, 0.549980, 0.179986")
    assert_prints(row("weights"), "0.02, 0.20, 0.05, 0.55, 0.18")
    assert_prints(row("output"), "(0.200013, 0.050018, 1.649939, 0.359973)")


def test_student_other_rows():
    assert_prints(row("weights", "The"), "0.2 0.2 0.2 0.2 0.2")
    assert np.array_equal(row("weights", "The"), np.full((1, 1, 5), 0.2))
    assert not STUDENT.q[0, 0].any()
    assert_prints(row("output", "The"), "(0.2, 0.2, 0.6, 0.4)")
    for at, output in (
        (1, "(0.291875, 0.177031, 0.531094, 0.354062)"),
        (3, "(0.177031, 0.177031, 0.875625, 0.354062)"),
        (4, "(0.177031, 0.177031, 0.531094, 0.583750)"),
    ):
        weights = row("weights", at)[0, 0]
        assert_prints(weights[at], "0.291875")
        assert_prints(np.delete(weights, at), "0.177031 0.177031 0.177031 0.177031")
        assert_prints(row("output", at), output)


def test_student_how_the_query_was_made():
    example = examples.load("student")
    (wanted,) = example.wanted
    weights = np.array([wanted[2][at] for at in range(5)])
    assert_prints(weights, "(0.02, 0.20, 0.05, 0.55, 0.18)")
    logs = np.log(weights) - np.log(weights[0])
    assert_prints(logs, "0, 2.303, 0.916, 3.314, 2.197")
    assert_prints(logs * 2, "0, 4.605170, 1.832581, 6.628372, 4.394449")
    assert np.abs(2 * logs[1:] - STUDENT.q[0, 2]).max() < 5e-4
    assert not STUDENT.k[0, 0].any()


def test_student_ranking():
    order = np.argsort(-row("weights")[0, 0])
    assert [STUDENT.tokens[at].text for at in order] == ["deep learning", "student", "carefully", "studies", "The"]
    assert STUDENT.source.details["focus"] == 2


# cat-fish: facts.md, "The worked example `cat-fish`" ----------------------------------------------

CAT_FISH = layers("cat-fish")[0]


def test_cat_fish_is_what_it_says():
    example = examples.load("cat-fish")
    assert example.tokens == ("고양이가", "생선을", "먹었다")
    draw = np.random.RandomState(42).standard_normal
    assert np.array_equal(example.x, draw((3, 4)))
    (block,) = example.layers
    for name in ("w_q", "w_k", "w_v"):
        assert np.array_equal(getattr(block, name), draw((4, 3)) * 0.5)
    assert (CAT_FISH.d_head, CAT_FISH.rule.scale) == (3, None)


def test_cat_fish_numbers():
    assert_prints(
        CAT_FISH.scores,
        "(0.647952, −0.843740, −0.076513), (−1.008037, −0.951401, 0.504273), (−0.011611, 0.696020, −0.129632)",
    )
    assert np.abs(CAT_FISH.scaled - CAT_FISH.scores / 3**0.5).max() < 1e-15
    assert_prints(
        CAT_FISH.weights,
        "(0.480578, 0.203113, 0.316309), (0.225854, 0.233361, 0.540785), (0.290802, 0.437551, 0.271647)",
    )
    assert_prints(
        CAT_FISH.output,
        "(−0.284466, −0.264153, 0.009143), (−0.112968, 0.166773, 0.096211), (−0.286768, −0.178081, −0.155068)",
    )


def test_cat_fish_most_attended():
    most = CAT_FISH.weights[0].argmax(axis=1)
    assert [CAT_FISH.tokens[at].text for at in most] == ["고양이가", "먹었다", "생선을"]
    assert_prints(100 * CAT_FISH.weights[0].max(axis=1), "48.1 54.1 43.8")


# pairs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", PAIRS, ids="/".join)
def test_a_pair_differs_only_in_its_words(pair):
    one, other = map(examples.load, pair)
    assert (one.pair, other.pair) == (other.name, one.name)
    assert one.dimensions == other.dimensions
    assert one.meaning == other.meaning
    assert one.tokens[one.focus] == other.tokens[other.focus]
    assert one.sentence != other.sentence
    for a, b in zip(one.layers, other.layers, strict=True):
        for name in ("w_q", "w_k", "w_v"):
            assert np.array_equal(getattr(a, name), getattr(b, name))
        assert (a.w_o, a.b_q, a.scale, a.temperature, a.n_heads, a.residual) == (
            b.w_o,
            b.b_q,
            b.scale,
            b.temperature,
            b.n_heads,
            b.residual,
        )
        assert a.allowed == b.allowed
    shared = [(i, j) for i, a in enumerate(one.tokens) for j, b in enumerate(other.tokens) if a == b]
    assert len(shared) >= 4
    for i, j in shared:
        assert np.array_equal(one.x[i], other.x[j])
    unshared = {*one.tokens} ^ {*other.tokens}
    assert unshared


@pytest.mark.parametrize(
    ("name", "word", "most"),
    [
        ("bank-money", "은행", {"돈", "맡겼다"}),
        ("bank-river", "은행", {"강", "앉았다"}),
        ("pear", "배", {"달콤한", "먹었다"}),
        ("ship", "배", {"항구", "탔다"}),
    ],
)
def test_the_same_word_attends_most_to_its_own_neighbours(name, word, most):
    (trace,) = layers(name)
    weights = trace.rows("weights", queries=[word])[0, 0]
    two = np.argsort(-weights)[:2]
    assert {trace.tokens[at].text for at in two} == most
    others = np.delete(weights, two)
    assert weights[two].min() > 1.5 * others.max()


@pytest.mark.parametrize(("pair", "word"), [(PAIRS[0], "은행"), (PAIRS[1], "배")])
def test_the_same_word_takes_home_something_else(pair, word):
    one, other = (layers(name)[0].rows("output", queries=[word])[0] for name in pair)
    assert np.abs(one - other).max() > 0.3
    names = examples.load(pair[0]).dimensions
    more_in_one, more_in_other = names[np.argmax(one - other)], names[np.argmax(other - one)]
    assert (more_in_one, more_in_other) == {"은행": ("Finance", "Water"), "배": ("Food", "Voyage")}[word]


def test_a_particle_hands_over_nothing():
    for name, particles in {"bank-money": "는에을", "bank-river": "는에", "pear": "는를", "ship": "는를"}.items():
        (trace,) = layers(name)
        for particle in particles:
            assert not trace.v[0, trace.index(particle)].any()


def it(trace, *keys):
    weights = trace.rows("weights", queries=["it"])[0, 0]
    return [weights[trace.index(key)] for key in keys]


def test_two_layers_tell_what_it_means():
    tired, soft = layers("it-tired"), layers("it-soft")
    assert len(tired) == len(soft) == 2
    (cat, mat), (cat_too, mat_too) = it(tired[1], "cat", "mat"), it(soft[1], "cat", "mat")
    assert cat >= 0.5 > mat
    assert mat_too >= 0.5 > cat_too


def test_one_layer_cannot_tell():
    """In layer 0 the ratio of cat to mat in the row of 'it' is the same, whatever comes after."""
    (cat, mat), (cat_too, mat_too) = it(layers("it-tired")[0], "cat", "mat"), it(layers("it-soft")[0], "cat", "mat")
    assert cat / mat == cat_too / mat_too
    scores = [layers(name)[0].rows("scores", queries=["it"])[0, 0] for name in ("it-tired", "it-soft")]
    assert np.array_equal(scores[0][:-1], scores[1][:-1])


def test_what_makes_two_layers_differ_is_the_adjective():
    """Layer 0: 'it' reads the adjective most; without its row's share layer 1 could not turn."""
    for name, word in (("it-tired", "tired"), ("it-soft", "soft")):
        first, second = layers(name)
        weights = first.rows("weights", queries=["it"])[0, 0]
        assert first.tokens[int(weights.argmax())].text == word
        assert np.allclose(second.x, first.x + first.output)


# explanations and files -------------------------------------------------------------------------


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("name", NAMES)
def test_every_token_is_explained(name, lang):
    record = jumok.attend(examples.load(name))
    pair = examples.load(name).pair
    beside = None if pair is None else jumok.attend(examples.load(pair))
    for at in range(len(record.tokens)):
        explanation = jumok.explain(record, at, lang, pair=beside)
        text = str(explanation)
        assert len(text.splitlines()) > 20
        assert not re.search(r"[{}]|\bnan\b|\binf\b|\bNone\b|array\(|np\.", text)
        assert layers_of(record)[0].index(explanation.token) == at  # of equal ones the name that finds it
        assert bool(
            re.search("[가-힣]{2}", re.sub("|".join(map(re.escape, examples.load(name).tokens)), "", text))
        ) == (lang == "ko")


def test_an_explanation_of_the_pair_says_why_one_layer_cannot_do_it():
    tired, soft = (jumok.attend(examples.load(name)) for name in PAIRS[2])
    explanation = jumok.explain(tired, "it", "en", pair=soft)
    assert any(fact.section == "layers" for fact in explanation.facts)
    assert "ratio" in str(explanation)


@pytest.mark.parametrize("name", NAMES)
def test_a_packaged_file_has_titles_focus_and_words_in_both_languages(name):
    example = examples.load(name)
    assert {*example.title} == {*LANGS}
    assert example.focus is not None
    assert all({*words} == {*LANGS} for words in example.meaning.values())
    assert {*example.meaning} == {*(example.dimensions or ())}
    assert all(example.spans)
    assert example.text.endswith("\n")
    assert re.search("[가-힣]", example.text)


@pytest.mark.parametrize("name", NAMES)
def test_a_packaged_file_is_written_back_byte_by_byte(name, tmp_path):
    example = examples.load(name)
    path = example.save(tmp_path / "a.yaml")
    packaged = examples._folder() / f"{name}.yaml"
    assert path.read_bytes() == packaged.read_bytes() == example.text.encode()
    again = parse(example.replace(text="").to_yaml(), name)
    assert np.array_equal(again.x, example.x)
    assert jumok.attend(again) == jumok.attend(example)


@pytest.mark.parametrize("lang", LANGS)
def test_the_starter_works_and_can_be_played_with(lang):
    text = starter(lang)
    example = parse(text)
    trace = jumok.attend(example)
    focus = trace.source.details["focus"]
    assert trace.weights[0, focus].max() < 0.75
    assert len(set(np.round(trace.weights[0, focus], 6))) >= 3
    assert len(str(jumok.explain(trace, lang=lang)).splitlines()) > 20
    commented = [line for line in text.splitlines() if re.match(r"# [a-z_]+: ", line)]
    (drawn,) = [line for line in commented if line.startswith("# random: ")]  # stands instead of numbers
    jumok.attend(parse("tokens: [a, b]\n" + drawn.removeprefix("# ")))
    commented.remove(drawn)
    assert len(commented) == 6
    for chosen in itertools.chain(
        ([line] for line in commented if "…" not in line), [[a for a in commented if "…" not in a]]
    ):
        tried = text
        for line in chosen:
            tried = tried.replace(line, line.removeprefix("# "))
        changed = jumok.attend(parse(tried))
        assert changed.n_queries == trace.n_queries
    layers_line = next(line for line in commented if "…" in line)
    assert "residual: true" in layers_line
    table = {"en": "{table: {eat: [Birds, seeds]}}", "ko": "{table: {먹는다: [새가, 씨앗을]}}"}[lang]
    masks = ["causal", "{window: 2}", "{all: [causal, {window: 2}]}", table]
    assert all(mask in text for mask in masks)
    for mask in masks:
        jumok.attend(parse(text.replace("mask: none", f"mask: {mask}")))


def test_the_starters_are_the_same_in_both_languages():
    """Line by line the same keys; only the words differ."""
    en, ko = (starter(lang).splitlines() for lang in LANGS)
    keys = [
        [re.match(r"[# ]*([a-z_]+):|", line)[1] for line in lines if not line.startswith("# #")] for lines in (en, ko)
    ]
    one, other = ([key for key in some if key and key not in ("an", "example")] for some in keys)
    assert one == other
