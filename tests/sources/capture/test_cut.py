"""A cut is the program run again without one weight: against a model whose attention was edited by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers as hf

import jumok
from jumok.errors import InputError
from jumok.sources.capture.capturing import Captured

N, D, HEADS = 6, 8, 2


pytestmark = pytest.mark.usefixtures("one_thread")


class Tiny(torch.nn.Module):
    """Two layers of attention; ``edit`` changes the weights or the mixed values of the first by hand."""

    def __init__(self, style, causal=False):
        super().__init__()
        self.style, self.causal = style, causal
        self.projections = torch.nn.ModuleList(torch.nn.Linear(D, 3 * D) for _ in range(2))
        self.last = torch.nn.Linear(D, D)
        self.edit_weights = self.edit_mixed = None

    def forward(self, x):
        for at, projection in enumerate(self.projections):
            q, k, v = (
                part.reshape(*x.shape[:2], HEADS, D // HEADS).transpose(1, 2) for part in projection(x).chunk(3, dim=-1)
            )
            mixed = self.attend(q, k, v, edited=at == 0)
            x = x + torch.tanh(mixed.transpose(1, 2).reshape(x.shape))
        return self.last(x)

    def attend(self, q, k, v, edited):
        if self.style == "fused" and not (edited and self.by_hand):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        if self.style == "loop" and not (edited and self.by_hand):
            rows = [self.scores(q[:, head], k[:, head]).softmax(-1) @ v[:, head] for head in range(HEADS)]
            return torch.stack(rows, dim=1)
        scores = self.scores(q, k)
        if self.style == "undivided" and not (edited and self.by_hand):
            exp = torch.exp(scores - scores.amax(-1, keepdim=True))
            return (exp @ v) / exp.sum(-1, keepdim=True)
        weights = scores.softmax(-1)
        if edited and self.edit_weights is not None:
            weights = self.edit_weights(weights.clone())
        mixed = weights @ v
        return self.edit_mixed(mixed.clone()) if edited and self.edit_mixed is not None else mixed

    def scores(self, q, k):
        scores = q @ k.transpose(-1, -2) / (D // HEADS) ** 0.5
        return scores.masked_fill(torch.ones(N, N).tril() == 0, -torch.inf) if self.causal else scores

    @property
    def by_hand(self):
        return self.edit_weights is not None or self.edit_mixed is not None


STYLES = ("fused", "written", "undivided", "loop")


def captured(model, x):
    with torch.no_grad(), Captured() as reading:
        model(x)
    assert not reading.refused
    return reading


def norms(model, x, item=0, **edit):
    """(token,) how far each output vector of a model is moved by an edit by hand."""
    with torch.no_grad():
        before = model(x)[item]
        for name, change in edit.items():
            setattr(model, name, change)
        after = model(x)[item]
        model.edit_weights = model.edit_mixed = None
    return (after - before).norm(dim=-1).numpy()


def moved(cut):
    return np.array([change.norm for change in cut.changes])


def run(model, x):
    def again():
        with torch.no_grad():
            return model(x)

    return again


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("item", [0, 1])
def test_a_weight_is_taken_away(style, item):
    model, x = Tiny(style).eval(), torch.randn(2, N, D)
    reading = captured(model, x)
    at = [one.source.details["item"] for one in reading.readings].index(item)

    def edit(weights):
        weights[item, 1, 3, 2] = 0
        return weights

    cut = reading.cut(0, 1, 3, 2, reading=at, run=run(model, x))
    assert np.allclose(moved(cut), norms(model, x, item, edit_weights=edit), atol=1e-6)
    assert cut.weight == pytest.approx(reading.readings[at][0].weights[1, 3, 2])
    assert cut.kind == "vectors"
    assert moved(cut)[3] > 0.01


@pytest.mark.parametrize("style", STYLES)
def test_the_rest_of_the_row_is_shared_out_anew(style):
    model, x = Tiny(style).eval(), torch.randn(1, N, D)

    def edit(weights):
        weights[0, 1, 3, 2] = 0
        weights[0, 1, 3] /= weights[0, 1, 3].sum()
        return weights

    cut = captured(model, x).cut(0, 1, 3, 2, renormalise=True, run=run(model, x))
    assert np.allclose(moved(cut), norms(model, x, edit_weights=edit), atol=1e-6)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("query", [None, 4])
@pytest.mark.parametrize("mean", [False, True])
def test_a_head_or_a_row_of_it_is_taken_away(style, query, mean):
    model, x = Tiny(style).eval(), torch.randn(1, N, D)

    def edit(mixed):
        put = mixed[0, 1].mean(dim=0) if mean else 0.0
        mixed[0, 1, slice(None) if query is None else query] = put
        return mixed

    cut = captured(model, x).cut(0, 1, query, mean=mean, run=run(model, x))
    assert np.allclose(moved(cut), norms(model, x, edit_mixed=edit), atol=1e-6)
    assert cut.weight is None


def test_all_weights_on_a_key_are_taken_away():
    model, x = Tiny("fused").eval(), torch.randn(1, N, D)

    def edit(weights):
        weights[0, 0, :, 2] = 0
        return weights

    cut = captured(model, x).cut(0, 0, None, 2, run=run(model, x))
    assert np.allclose(moved(cut), norms(model, x, edit_weights=edit), atol=1e-6)


@pytest.mark.parametrize("style", STYLES)
def test_a_weight_that_is_0_changes_nothing_at_all(style):
    model, x = Tiny(style, causal=True).eval(), torch.randn(1, N, D)
    for renormalise in (False, True):
        cut = captured(model, x).cut(0, 1, 2, 5, renormalise=renormalise, run=run(model, x))
        assert cut.weight == 0
        assert not moved(cut).any()
        assert "exactly the same" in cut.text()
        assert "조금도 바뀌지 않습니다" in cut.text("ko")


def test_what_comes_before_a_causal_cut_stays():
    model, x = Tiny("fused", causal=True).eval(), torch.randn(1, N, D)
    cut = captured(model, x).cut(0, 0, 3, 1, run=run(model, x))
    assert not moved(cut)[:3].any()
    assert (moved(cut)[3:] > 0).all()


# models of transformers ---------------------------------------------------------------------------


def llama(**more):
    torch.manual_seed(3)
    return hf.LlamaForCausalLM(
        hf.LlamaConfig(
            vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
            intermediate_size=48, max_position_embeddings=64, **more,
        )
    ).eval()  # fmt: skip


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_interface_and_operations_cut_the_same(implementation):
    model, ids = llama(), torch.randint(5, 64, (1, 7))
    model.set_attn_implementation(implementation)
    by_interface = jumok.capture(model, {"input_ids": ids})
    assert by_interface[0].source.details["way"] == "interface"
    with torch.no_grad(), jumok.capture() as watched:
        model(input_ids=ids)
    assert watched[0].source.details["way"] != "interface"
    first = by_interface.cut(1, 3, 5, 2)
    second = watched.cut(1, 3, 5, 2, run=lambda: model(input_ids=ids))
    assert moved(first).max() > 0
    assert np.allclose(moved(first), moved(second), rtol=1e-3, atol=1e-7)


def test_a_masked_key_is_what_renormalising_means():
    model, ids = llama(), torch.randint(5, 64, (1, 7))
    cut = jumok.capture(model, {"input_ids": ids}).cut(0, 2, 5, 2, renormalise=True)
    with torch.no_grad():
        before = model(input_ids=ids).logits[0]
        table = torch.zeros(1, 4, 7, 7).masked_fill(torch.ones(7, 7).triu(1) == 1, -torch.inf)
        table[0, 2, 5, 2] = -torch.inf
        layer = model.model.layers[0].self_attn
        own, layer.forward = layer.forward, lambda *args, **given: own(*args, **{**given, "attention_mask": table})
        after = model(input_ids=ids).logits[0]
        layer.forward = own
    assert np.allclose(moved(cut), (after - before).norm(dim=-1).numpy(), atol=1e-5)


class Letters:
    """A tokenizer with encode and decode."""

    def encode(self, text):
        return [ord(letter) - 32 for letter in text]

    def decode(self, ids):
        return "".join(chr(one + 32) for one in ids)


def test_a_decoder_tells_the_next_token_before_and_after():
    model = llama()
    reading = jumok.capture(model, "0123456", Letters())
    cut = reading.cut(0, 1, "3", "1")
    assert cut.kind == "next"
    assert [guesses.position for guesses in cut.guesses] == [3, 6]
    with torch.no_grad():
        p = model(torch.tensor([Letters().encode("0123456")])).logits[0, 3].softmax(-1)
    for word in cut.guesses[0].words:
        assert word.before == pytest.approx(float(p[ord(word.text) - 32]), abs=1e-6)
    assert 0 < cut.guesses[0].moved < 1
    assert "After 3 the next token:" in cut.text()
    assert "3 다음에 올 토큰" in cut.text("ko")
    assert cut.to_json()["guesses"][0]["position"] == 3
    assert [guesses.position for guesses in reading.cut(0, 1).guesses] == [6]


def test_padding_is_stepped_over():
    torch.manual_seed(1)
    model = hf.BertModel(
        hf.BertConfig(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48)
    ).eval()
    ids = torch.randint(5, 64, (2, 7))
    mask = torch.tensor([[0, 0, 1, 1, 1, 1, 1], [1] * 7])
    reading = jumok.capture(model, {"input_ids": ids, "attention_mask": mask})
    which = [len(one.tokens) for one in reading.readings].index(5)
    cut = reading.cut(0, 0, 1, 2, reading=which)
    assert len(cut.changes) == 5
    assert int(np.argmax(moved(cut))) == 1


# refusals -----------------------------------------------------------------------------------------


def test_a_with_block_needs_to_be_told_how_to_run_again():
    model, x = Tiny("fused").eval(), torch.randn(1, N, D)
    with pytest.raises(InputError, match=r"run=lambda: model\(x\)") as told:
        captured(model, x).cut(0, 0, 1, 1)
    assert "run=lambda" in told.value.ko


@pytest.mark.parametrize("other", [lambda x: -x, lambda x: x[:, :4], lambda x: x * 1.5])
@pytest.mark.parametrize("style", ["fused", "written"])
def test_another_run_is_refused(other, style):
    model, x = Tiny(style).eval(), torch.randn(1, N, D)
    with pytest.raises(InputError, match="did not do again what was read"):
        captured(model, x).cut(0, 0, 5, 1, run=run(model, other(x)))


def test_a_run_without_attention_is_refused():
    model, x = Tiny("fused").eval(), torch.randn(1, N, D)
    with pytest.raises(InputError, match="did not do again what was read"):
        captured(model, x).cut(0, 0, 5, 1, run=lambda: x)


def test_a_row_that_is_all_on_one_key_cannot_be_shared_out():
    model, x = Tiny("fused", causal=True).eval(), torch.randn(1, N, D)
    with pytest.raises(InputError, match="all its weight on this key"):
        captured(model, x).cut(0, 0, 0, 0, renormalise=True, run=run(model, x))


def test_ways_that_do_not_go_together_are_refused():
    model, x = Tiny("fused").eval(), torch.randn(1, N, D)
    reading = captured(model, x)
    with pytest.raises(InputError, match="zero, mean; got 'renormalised'"):
        reading.cut(0, 0, 1, renormalise=True, run=run(model, x))
    with pytest.raises(InputError, match="zero, renormalised; got 'mean'"):
        reading.cut(0, 0, 1, 2, mean=True, run=run(model, x))


def test_a_generation_with_a_cache_is_not_cut():
    model, ids = llama(), torch.randint(5, 64, (1, 4))
    with jumok.capture() as reading:
        model.generate(input_ids=ids, max_new_tokens=3, min_new_tokens=3, do_sample=False, pad_token_id=0)
    with pytest.raises(InputError, match="joined from several runs"):
        reading.cut(0, 0, 1, 1, run=lambda: model(ids))


def test_nothing_stays_behind_when_a_run_breaks():
    model, x = Tiny("fused").eval(), torch.randn(1, N, D)
    reading = captured(model, x)
    fast = torch.backends.mha.get_fastpath_enabled()

    def breaks():
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        reading.cut(0, 0, 1, 1, run=breaks)
    assert torch.backends.mha.get_fastpath_enabled() == fast
    assert not torch.utils._python_dispatch._get_current_dispatch_mode()


def test_where_nothing_was_read_nothing_can_be_cut():
    with jumok.capture() as reading:
        torch.nn.Linear(2, 2)(torch.zeros(1, 2))
    with pytest.raises(InputError, match="holds no layer: no attention was read"):
        reading.cut(0, 0)
