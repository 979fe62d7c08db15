"""The standard tasks: right answers, nothing of the test in the training, no place that gives the answer away."""

import itertools

import numpy as np
import pytest

from jumok.sources.learn.problem import _alone, _baselines, _guess
from jumok.sources.learn.sentences import (
    ANIMALS,
    ANIMALS_KO,
    IS_LIKE,
    IS_LIKE_KO,
    SENSES,
    SENSES_KO,
    THINGS,
    THINGS_KO,
)
from jumok.sources.learn.sequences import FIRST, PIECE, TO_SORT, repeat
from jumok.sources.learn.task import NOT_ASKED, Batch
from jumok.sources.learn.tasks import NAMES, TASKS, task_of
from jumok.words import with_particle

SENTENCES = ("pronoun", "homonym", "subject-verb")


@pytest.fixture(scope="module", params=list(TASKS))
def task(request):
    return task_of(request.param)


def drawn(task, n=400, held_out=False, seed=0):
    return task.batch(np.random.default_rng(seed), n, held_out)


def test_held_out_and_training_share_no_sequence(task):
    held, training = drawn(task, held_out=True), drawn(task, 2_000)
    assert {row.tobytes() for row in held.tokens}.isdisjoint(row.tobytes() for row in training.tokens)
    assert set(held.targets.ravel()) <= set(drawn(task, 8_000).targets.ravel())


def test_the_same_generator_gives_the_same_batch(task):
    a, b = drawn(task, 50, seed=[3, 9]), drawn(task, 50, seed=[3, 9])
    np.testing.assert_array_equal(a.tokens, b.tokens)
    np.testing.assert_array_equal(a.targets, b.targets)


def test_roles_mark_only_what_may_be_read(task):
    batch = drawn(task)
    places = np.arange(batch.tokens.shape[1])
    may_read = places[None, None] < batch.lengths[:, None, None]
    if task.causal:
        may_read = may_read & (places[:, None] >= places)
    for marks in batch.roles.values():
        assert marks.any()
        assert not (marks & ~may_read).any()
    np.testing.assert_array_equal(batch.roles["answer"].any(axis=2), batch.targets != NOT_ASKED)


def test_probes_are_held_out_and_ask_what_the_task_asks(task):
    training = {tuple(row[:n]) for row, n in zip(*(lambda b: (b.tokens, b.lengths))(drawn(task, 5_000)), strict=True)}
    assert task.probes
    for probe in task.probes:
        assert tuple(task.numbered(" ".join(probe.tokens))) not in training
        assert probe.answer in task.vocabulary
        assert probe.reads


def test_titles_and_texts_are_in_two_languages():
    for name in NAMES:
        for said in (task_of(name).title, task_of(name).about):
            assert set(said) == {"en", "ko"}
            assert all(said.values())


@pytest.mark.parametrize(("name", "most"), [("homonym", 0.45), ("subject-verb", 0.4), ("pronoun", 0.4), ("sort", 0.2)])
def test_no_fixed_distance_or_place_holds_the_answer(name, most):
    batch = drawn(task_of(name), 1_000)
    assert max(_baselines(batch.roles["answer"], batch.lengths, task_of(name).causal).values()) < most


def test_repeat_s_answers_follow_an_earlier_place_of_the_same_letter():
    batch = drawn(repeat())
    for sequence, place in zip(*np.nonzero(batch.targets != NOT_ASKED), strict=True):
        (key,) = np.flatnonzero(batch.roles["answer"][sequence, place])
        row = batch.tokens[sequence]
        assert row[key - 1] == row[place]
        assert row[key] == batch.targets[sequence, place]
        assert key < FIRST <= place
    distances = [place - key for _, place, key in zip(*np.nonzero(batch.roles["answer"]), strict=True)]
    assert np.bincount(distances).max() / len(distances) < 0.1
    assert (batch.targets[:, FIRST + PIECE - 1] == NOT_ASKED).all()


def test_sort_s_answers_are_the_next_larger_number():
    task = task_of("sort")
    batch = drawn(task, 50)
    assert (batch.tokens[:, TO_SORT] == len(task.vocabulary) - 1).all()
    np.testing.assert_array_equal(batch.targets[:, TO_SORT:], np.sort(batch.tokens[:, :TO_SORT], axis=1))


def test_pronouns_mean_the_noun_that_the_reason_fits():
    """The one that rests is tired; what it rests on, after "on" or before "위에", is soft."""
    for text, answer, read, reason in _rows("pronoun"):
        words = text.split()
        under = words[words.index("on") + 2] if "on" in words else words[words.index("위에") - 1]
        assert (read == under) == (reason in {*IS_LIKE, *IS_LIKE_KO}), text
        assert read.startswith(answer)
        assert answer in {*ANIMALS, *THINGS, *ANIMALS_KO, *THINGS_KO}


def test_most_pronouns_are_not_told_by_what_the_nouns_are():
    animals = {*ANIMALS, *ANIMALS_KO, *(with_particle(name, "이/가") for name in ANIMALS_KO)}
    n_animals = [sum(word in animals for word in text.split()) for text, *_ in _rows("pronoun")]
    assert set(n_animals) == {1, 2}
    assert np.mean(np.array(n_animals) == 2) > 0.7


def _rows(name, n=300):
    task = task_of(name)
    batch = drawn(task, n)
    for at in range(n):
        (query,) = np.flatnonzero(batch.targets[at] != NOT_ASKED)
        words = [task.vocabulary[token] for token in batch.tokens[at, : batch.lengths[at]]]
        read, reason = (words[int(np.flatnonzero(batch.roles[r][at, query])[0])] for r in ("answer", "reason"))
        yield " ".join(words), task.vocabulary[batch.targets[at, query]], read, reason


def test_korean_particles_stand_right():
    words = set(task_of("pronoun").vocabulary)
    assert {"고양이가", "강아지가", "생쥐가", "오리가"} <= words
    assert {"양이", "소파", "위에"} <= words


def test_homonyms_are_told_by_one_word_each():
    for senses in SENSES_KO.values():
        for a, b in itertools.combinations(senses.values(), 2):
            assert set(a).isdisjoint(b)
    for told in SENSES.values():
        (done, is_like), (done_b, is_like_b) = told.values()
        assert set(done).isdisjoint(done_b)
        assert set(is_like).isdisjoint(is_like_b)


def test_verbs_agree_with_the_first_noun():
    task = task_of("subject-verb")
    batch = drawn(task, 300)
    for at in range(300):
        query = batch.lengths[at] - 1
        subject = task.vocabulary[batch.tokens[at][batch.roles["answer"][at, query]][0]]
        assert task.vocabulary[batch.targets[at, query]] == ("are" if subject.endswith("s") else "is")


# what needs no attention ---------------------------------------------------------------------------


def small(targets):
    tokens = np.array([[0, 1, 2], [0, 1, 2], [1, 0, 2]])
    return Batch(tokens, np.array(targets), np.array([3, 3, 3]))


def test_guessing_counts_the_different_symbols_that_may_be_read():
    batch = small([[-1, -1, 1], [-1, 0, -1], [-1, -1, -1]])
    assert _guess(batch, causal=True) == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert _guess(batch, causal=False) == pytest.approx(1 / 3)
    assert _guess(small([[3, -1, -1], [-1] * 3, [-1] * 3]), causal=True) is None


def test_the_answer_from_the_asking_token_alone():
    seen = small([[-1, -1, 1], [-1, -1, 1], [-1, -1, 0]])
    assert _alone(seen, seen) == pytest.approx(2 / 3)
    assert _alone(seen, small([[-1, 1, -1], [-1, -1, 0], [-1, -1, 1]])) == pytest.approx(1 / 3)


def test_baselines_are_the_best_distance_place_and_even_weights():
    marks = np.zeros((2, 4, 4), bool)
    marks[0, 3, 2] = marks[1, 2, 1] = True
    assert _baselines(marks, np.array([4, 4]), causal=True) == {
        "distance": 1,
        "place": 0.5,
        "even": (1 / 4 + 1 / 3) / 2,
    }
