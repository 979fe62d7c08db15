"""What emerged: the head that carries a task is found by what it reads and by cutting it."""

import dataclasses

import numpy as np
import pytest
import torch

import jumok
from jumok.sources.learn.emerged import LOWERED, _appeared, _crossed, _left, _shared, emerged
from jumok.sources.learn.model import cut
from jumok.sources.learn.problem import Known, Measured


@pytest.fixture(scope="module")
def one_head():
    return jumok.learn("subject-verb", steps=130)


@pytest.fixture(scope="module")
def two_heads():
    return jumok.learn("previous", steps=120, n_heads=2, seed=1)


def test_the_carrier_reads_the_subject_and_its_cut_leaves_chance(one_head):
    found = one_head.emerged
    assert found["accuracy"] > 0.95
    assert found["carrier"] == (0, 0)
    assert found["reads"][0][0] > 0.8 > 0.4 > found["baseline"]
    assert found["without"][0][0] < max(found["chance"], found["alone"]) + 0.05
    assert found["left"] < 0.1
    assert found["without_layer"] == found["without"][0]
    assert 0 < found["rise"][0] < found["rise"][1] <= 130


def test_cutting_the_carrier_of_two_heads_and_not_the_other_or_the_work_is_shared(two_heads):
    """Here each head can do without the other: no single cut matters, and it is said that the work is shared."""
    found = two_heads.emerged
    assert found["accuracy"] > 0.97
    lowered = [found["accuracy"] - left > 0.1 for left in found["without"][0]]
    assert found["shared"] or sum(lowered) == 1
    assert (found["carrier"] is None) == (not any(lowered))
    assert found["without_layer"][0] < found["alone"] + 0.05
    assert found["baselines"]["distance"] == 1


def test_it_is_measured_as_the_text_says(one_head):
    """The cut by hand: W_O's columns of the head set to 0."""
    model, task = one_head.model, one_head.task
    held = task.batch(np.random.default_rng(20_26), 1024, held_out=True)
    with torch.no_grad():
        model.attentions[0].w_o.weight.zero_()
        right = model(torch.from_numpy(held.tokens), torch.from_numpy(held.lengths)).argmax(-1).numpy() == held.targets
    assert right[held.targets >= 0].mean() == pytest.approx(one_head.emerged["without"][0][0])


def test_a_cut_takes_one_head_and_is_undone(two_heads):
    model, module = two_heads.model, two_heads.model.attentions[0]
    x = torch.randn(1, 5, 32, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        whole = module(x)[0]
        with cut(module, 1):
            without = module(x)[0]
        again = module(x)[0]
        by_hand = model.attentions[0].w_o.weight.clone()
        by_hand[:, 16:] = 0  # head 1's columns
        q, k, v = module._projected(x)
        mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
    torch.testing.assert_close(without, mixed @ by_hand.T)
    assert torch.equal(whole, again)
    assert not torch.equal(whole, without)


def test_one_layer_cannot_repeat_and_stays_at_guessing():
    learned = jumok.learn("repeat", steps=25, n_layers=1)
    found = learned.emerged
    assert found["guess"] == pytest.approx(1 / 20, abs=0.002)
    assert abs(found["accuracy"] - found["guess"]) < 0.05
    assert set(learned.history.roles) == {"answer", "previous"}
    assert found["roles"]["previous"]["head"] == (0, 0)
    assert 0 < found["roles"]["previous"]["baseline"] <= 1


# rules of judging -----------------------------------------------------------------------------------


class Made:
    """A problem whose measurements are given."""

    known = Known(chance=0.1, alone=0.2, baselines={"answer": {"even": 0.3}})

    def __init__(self, without, reads):
        self.without, self.reads = without, reads

    def attentions(self, _):
        class Module:
            n_heads = 2

        return {"0": Module, "1": Module}

    def measured(self, _model, _n, without=()):
        if not without:
            return Measured(1.0, {"answer": np.array(self.reads)})
        return Measured(min(self.without[layer][head] for layer, head in without) - 0.2 * (len(without) > 1), {})

    def compared(self, _):
        return None


def judged(without, reads, history):
    return emerged(Made(without, reads), None, history)


@pytest.fixture(scope="module")
def history():
    return jumok.learn("sort", steps=2, n_layers=2, n_heads=2).history


def test_of_the_heads_that_matter_the_one_that_reads_most_carries(history):
    found = judged([[1, 1], [0.3, 1]], [[0.9, 0.2], [0.8, 0.1]], history)
    assert (found.carrier, found.shared, found.left) == ((1, 0), False, pytest.approx(0.125))
    found = judged([[1, 1], [0.3, 0.5]], [[0.1, 0.2], [0.8, 0.9]], history)
    assert (found.carrier, found.shared) == ((1, 1), True)


def test_where_no_head_alone_matters_but_a_layer_does_the_work_is_shared(history):
    found = judged([[1, 1], [0.95, 0.95]], [[0.1, 0.2], [0.8, 0.9]], history)
    assert (found.carrier, found.shared, found.left) == (None, True, None)
    assert found.without_layer == pytest.approx((0.8, 0.75))


def test_nothing_learned_leaves_nothing_to_say():
    assert _left(0.25, 0.2, 0.2) is None
    assert _shared(0.25, ((0.25, 0.2),), (0.2,), None) is False


def test_there_is_no_moment_without_a_carrier_or_where_accuracy_did_not_rise(history):
    bare = dataclasses.replace(history, accuracy=np.array([0.0, 1.0, 1.0]), roles={})
    assert _appeared(bare, (0, 0), LOWERED + 0.01) == 1
    assert _appeared(bare, (0, 0), LOWERED) is None
    assert _appeared(bare, None, 0.9) is None
    assert jumok.learn("repeat", steps=2, n_layers=1).emerged["appeared"] is None


def test_the_wanted_rows_of_an_example_come_near_at_a_moment():
    assert jumok.learn("student", steps=40).emerged["appeared"] > 0


def test_one_lucky_snapshot_is_no_rise(history):
    class Steps:
        steps = (0, 1, 2, 3, 4, 5)

    assert _crossed(Steps, np.array([0.0, 0.9, 0.1, 0.8, 0.9, 1.0]), 0.5) == 3
    assert _crossed(Steps, np.array([0.5, 0.4, 0.5, 0.5, 0.5, 0.5]), 0.5) is None
    assert _crossed(Steps, np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), 0.5) == 5
