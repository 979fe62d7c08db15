"""What one step of training asks of the five stages, against automatic differentiation."""

import numpy as np
import pytest
import torch

import jumok
from jumok.errors import InputError
from jumok.explanation.gradient import PHRASES, explain_step
from jumok.path.gradients import Gradients
from jumok.trace import Heads, Trace


@pytest.fixture(scope="module")
def pronoun():
    return jumok.learn("pronoun", steps=14).history


@pytest.fixture(scope="module")
def student():
    return jumok.learn("student", steps=14).history


def by_autograd(trace, upstream):
    """dL/d(stage) of Σ upstream · output, by PyTorch through the same path."""
    from jumok.path import Steps

    q, k, v = (torch.tensor(np.array(getattr(trace, name)), requires_grad=True) for name in "qkv")
    w_o = None if trace.heads is None or trace.heads.w_o is None else torch.tensor(np.array(trace.heads.w_o))
    steps = Steps(q, k, v, trace.rule, w_o)
    named = {name: getattr(steps, name) for name in ("mixed", "weights", "scaled", "scores")} | {"q": q, "k": k, "v": v}
    loss = (steps.output * torch.tensor(upstream)).sum()
    return dict(zip(named, torch.autograd.grad(loss, list(named.values())), strict=True))


@pytest.mark.parametrize("rule", [None, "causal", jumok.Rule(softcap=2.0), jumok.Rule(scale=0.3, allowed="causal")])
@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
def test_every_stage_agrees_with_autograd(rule, n_kv_heads):
    rng = np.random.default_rng(5)
    q, k, v = (rng.normal(size=(h, 6, 3)) for h in (4, n_kv_heads, n_kv_heads))
    heads = Heads(
        w_q=rng.normal(size=(5, 12)), w_k=rng.normal(size=(5, 3 * n_kv_heads)), w_v=rng.normal(size=(5, 3 * n_kv_heads)),
        w_o=rng.normal(size=(12, 5)),
    )  # fmt: skip
    trace = Trace(tokens=list("abcdef"), q=q, k=k, v=v, rule=rule, heads=heads)
    upstream = rng.normal(size=(6, 5))
    ours = Gradients(trace.steps, upstream)
    for name, theirs in by_autograd(trace, upstream).items():
        np.testing.assert_allclose(getattr(ours, name), theirs.numpy(), atol=1e-12, err_msg=name)


@pytest.mark.parametrize("stage", "qkv")
def test_the_gradient_of_a_weight_matrix_is_the_sum_of_outer_products(pronoun, stage):
    trace = pronoun.trace(0, layer=1)
    g = Gradients(trace.steps, pronoun.probes[0].arrays[1]["gradient"][0])
    at = getattr(g, stage)
    expected = sum(np.outer(trace.x[token], at[:, token].reshape(-1)) for token in range(trace.n_tokens))
    np.testing.assert_allclose(g.of_projection(stage, trace.x), expected, atol=1e-6)


def test_the_students_weights_move_by_the_learning_rate_times_this_gradient(student):
    g = Gradients(student.trace(0).steps, direct=student.probes[0].arrays[0]["weights_gradient"][0])
    x, rate = student.trace(0).x, student.settings["learning_rate"]
    for name in "qk":
        moved = np.diff(student.layers[0].weights[f"w_{name}"][:2], axis=0)[0]
        np.testing.assert_allclose(moved, -rate * g.of_projection(name, x), atol=1e-12)
    text = explain_step(student, 0).text()
    assert "plain gradient descent" in text
    assert "of studies alone" in text  # only the wanted row asks, so dL/dW_Q is one outer product
    assert "W_V did not move." in text


def test_adam_is_not_called_plain(pronoun):
    text = explain_step(pronoun, 3).text()
    assert "Adam divides" in text
    assert "plain gradient descent" not in text


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.RMSprop])
def test_of_a_loop_of_somebody_else_s_no_optimizer_is_named(optimizer):
    model = jumok.nn.SelfAttention(4, 4)
    x = torch.randn(1, 3, 4)
    moves = optimizer(model.parameters(), lr=0.1)
    with jumok.record(model, x, loss=lambda out: out[0].square().sum(), every=1) as recorded:
        for _ in range(2):
            moves.zero_grad()
            model(x)[0].square().sum().backward()
            moves.step()
    for lang, phrase in (("en", "does not say how the optimizer"), ("ko", "기록에 없습니다")):
        text = explain_step(recorded.history, 0, lang=lang).text()
        assert phrase in text
        assert not any(name in text for name in ("Adam", "plain gradient descent", "경사 하강법"))


def test_where_nothing_moved_no_descent_is_claimed():
    model = jumok.nn.SelfAttention(4, 4)
    moves = torch.optim.SGD(model.parameters(), lr=0.0)
    with jumok.record(model, torch.randn(1, 3, 4), loss=lambda out: out[0].square().sum(), every=1) as recorded:
        model(torch.randn(1, 3, 4))[0].sum().backward()
        moves.step()
    text = explain_step(recorded.history, 0).text()
    assert "W_Q did not move." in text
    assert "plain gradient descent" not in text


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_all_is_said_in_both_languages_with_the_numbers_of_the_record(student, lang):
    explained = explain_step(student, 0, lang=lang)
    text = str(explained)
    assert len(text.split("\n\n")) == 7
    fact = next(fact for fact in explained.facts if fact.kind == "weight" and fact.data["key"] == "deep learning")
    weight = student.trace(0).rows("weights", queries=["studies"])[0, 0, 3]
    assert fact.data["weight"] == weight
    assert np.isclose(fact.data["gradient"], -0.55 / weight)
    assert f"{weight:.3f}".rstrip("0") in text
    assert "''" not in text


def test_each_phrase_stands_in_two_languages_with_the_same_facts():
    import string

    for kind, pair in PHRASES.items():
        fields = [{name for _, name, _, _ in string.Formatter().parse(text) if name} for text in pair]
        assert fields[0] >= fields[1], kind


def test_steps_between_and_after_snapshots():
    history = jumok.learn("student", steps=90).history
    assert explain_step(history, 0).step == 0
    later = explain_step(history, 60)
    assert history.steps[history.snapshot(60)] == later.step
    assert "the first ten steps are kept" in later.text()
    assert "last snapshot" in explain_step(history, 90).text()


def test_what_cannot_be_explained_is_refused(student):
    import dataclasses

    bare = [{"x": layer["x"]} for layer in student.probes[0].arrays]
    without = dataclasses.replace(student, probes=(dataclasses.replace(student.probes[0], arrays=tuple(bare)),))
    with pytest.raises(InputError, match="no gradient"):
        explain_step(without)
    with pytest.raises(InputError, match="layer expects"):
        explain_step(student, layer=3)
    with pytest.raises(InputError, match="unknown language"):
        explain_step(student, lang="fr")
    with pytest.raises(InputError, match="unknown token"):
        explain_step(student, token="nobody")
