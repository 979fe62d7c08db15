"""Heads whose role is known beforehand get it, with an interval that excludes 0; heads that have none get none.

JUMOK_ROLE_HEADS=1000 draws so many random heads (CI: 200), JUMOK_ROLE_TASKS=previous,repeat trains these tasks of
``jumok learn`` (CI: previous). See docs/drills.md.
"""

import os

import numpy as np
import pytest

import jumok
from jumok import Rule, Token, Trace
from jumok.measurement.corpus.sentence import Sentence, Word
from jumok.measurement.roles.marked import marked
from jumok.measurement.roles.streamed import scores
from jumok.measurement.roles.table import head_table
from jumok.measurement.roles.tally import Tally
from jumok.trace import layers_of

N_HEADS = int(os.environ.get("JUMOK_ROLE_HEADS", "200"))
TASKS = os.environ.get("JUMOK_ROLE_TASKS", "previous").split(",")


def measured(records, sentences=None, **options):
    """The table of some records, each one sentence."""
    tally = None
    for at, record in enumerate(records):
        one = scores(record, marked(layers_of(record)[0].tokens, sentences[at] if sentences else None))
        tally = tally or Tally(one.n_heads)
        tally.add(at, one)
    return head_table(tally, **options)


def texts(n, least=6, most=14, seed=0):
    draw = np.random.default_rng(seed)
    return [["[CLS]", *draw.choice([*"abcdefgh"], draw.integers(least, most)), "[SEP]"] for _ in range(n)]


# heads of one kind --------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["none", "causal"])
def test_a_uniform_a_sink_and_a_diagonal_head_come_out_as_that(rule):
    """Side by side in one layer, with a random one, which has none of these roles."""
    draw, traces = np.random.default_rng(0), []
    for one in texts(40):
        n = len(one)
        strong = 8 * np.sqrt(n)
        q = np.stack(
            [np.zeros((n, n)), strong * np.eye(1, n).repeat(n, 0), strong * np.eye(n), draw.normal(size=(n, n))]
        )
        traces.append(Trace(one, q, np.eye(n)[None].repeat(4, 0), np.zeros((4, n, 1)), Rule.of(rule)))
    table = measured(traces)
    found = [table.role_of(0, head) for head in range(3)]
    assert [row.role for row in found] == ["broad", "first", "self"]
    assert all(row.low > 0 for row in found)
    assert table.role_of(0, 3) is None or table.role_of(0, 3).role == "broad"  # small scores are almost even


# designed heads -----------------------------------------------------------------------------------

KINDS = {
    "start": ["<s>"],
    "subject": ["dogs", "cats"],
    "verb": ["saw", "met"],
    "object": ["fish", "birds"],
    "adverb": ["now"],
}
VOCABULARY = [word for words in KINDS.values() for word in words]


def annotated(draw):
    """A subject, a verb, an object and some adverbs, in an order drawn anew."""
    kinds = [*draw.permutation(["subject", "verb", "object", *["adverb"] * draw.integers(0, 4)])]
    verb, forms = kinds.index("verb"), [str(draw.choice(KINDS[kind])) for kind in kinds]
    how = {"subject": ("NOUN", verb, "nsubj"), "object": ("NOUN", verb, "obj"), "adverb": ("ADV", verb, "advmod")}
    starts = np.cumsum([0, *(len(form) + 1 for form in forms)])
    words = [
        Word(form, *how.get(kind, ("VERB", -1, "root")), span=(int(start), int(start) + len(form)))
        for form, kind, start in zip(forms, kinds, starts, strict=False)
    ]
    return Sentence(" ".join(forms), tuple(words))


@pytest.mark.parametrize(("role", "asks", "reads"), [
    ("verb-subject", "verb", "subject"), ("verb-object", "verb", "object"), ("object-verb", "object", "verb"),
])  # fmt: skip
def test_a_head_that_jumok_design_makes_for_a_relation_has_it(role, asks, reads):
    """Designed on the vocabulary, measured on sentences in which no fixed offset finds the answer."""
    x = np.eye(len(VOCABULARY))
    share = {word: 0.9 / len(KINDS[reads]) for word in KINDS[reads]}
    found = jumok.design(x, dict.fromkeys(KINDS[asks], share), tokens=VOCABULARY)
    draw = np.random.default_rng(0)
    sentences, traces = [annotated(draw) for _ in range(60)], []
    for sentence in sentences:
        rows = x[[0, *(VOCABULARY.index(word.form) for word in sentence.words)]]
        tokens = [Token("<s>"), *(Token(word.form, word.span) for word in sentence.words)]
        traces.append(jumok.attend(x=rows, w_q=found.w_q, w_k=found.w_k, w_v=np.eye(len(x)), tokens=tokens))
    table = measured(traces, sentences)
    row = next(row for row in table.of(0, 0) if row.role == role)
    assert (row.score, row.evidence) == (1.0, True)
    assert row.baseline < 0.6
    assert row.low > 0.3
    others = {"verb-subject", "verb-object", "subject-verb", "object-verb"} - {role}
    assert not [row for row in table.of(0, 0) if row.role in others and row.evidence]


# trained heads ------------------------------------------------------------------------------------

EXPECTED = {"previous": [(0, "previous")], "repeat": [(0, "previous"), (1, "induction")]}  # layer, role


@pytest.mark.parametrize("task", TASKS)
def test_a_head_that_was_trained_for_a_task_has_its_role(task):
    """What ``jumok learn`` finds by cutting heads, found by what they read, in sequences that were never trained on."""
    learned = jumok.learn(task, steps=60) if task == "previous" else jumok.learn(task)
    assert learned.accuracy > 0.9
    held = learned.task.batch(np.random.default_rng(7), 40, held_out=True).tokens
    words = learned.task.vocabulary
    table = measured([learned.trace(" ".join(words[at] for at in row)) for row in held])
    for layer, role in EXPECTED[task]:
        best = max(
            (row for row in table.rows if (row.layer, row.role) == (layer, role)), key=lambda row: row.difference
        )
        assert best.evidence
        assert best.low > 0.3
        assert table.role_of(best.layer, best.head).role == role
    if "carrier" in learned.emerged and learned.emerged["carrier"] is not None:
        assert table.role_of(*learned.emerged["carrier"]).role == EXPECTED[task][-1][1]


# random heads -------------------------------------------------------------------------------------


def test_random_heads_have_no_evidence():
    """Independent q and k: of p at most one in twenty is below 0.05, and after correction nothing is evidence."""
    draw, traces = np.random.default_rng(0), []
    for one in texts(24, least=7, most=11, seed=1):
        q, k = draw.standard_normal((2, N_HEADS, len(one), 6))
        traces.append(Trace(one, 2 * q, k, k[:, :, :1]))
    table = measured(traces, n_resamples=100)
    assert table.n_tested > N_HEADS * 20
    assert not [row for row in table.rows if row.evidence]
    assert not [head for head in range(N_HEADS) if table.role_of(0, head)]
    tested = [
        row.p for row in table.rows if row.baseline_rule == "even" and row.n_sentences >= 20 and row.p is not None
    ]
    below = np.mean(np.array(tested) <= 0.05)
    assert 0.02 < below < 0.055  # rare cases are skewed, and then t is on the safe side
