"""The estimate of memory before a capture: what it counts, and what it refuses."""

from __future__ import annotations

import pytest
import torch
import transformers as hf

import jumok
from jumok.errors import TooLargeError
from jumok.sources.capture import room

SIZES = {
    "vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 48,
}  # fmt: skip


def llama(implementation="sdpa"):
    model = hf.LlamaForCausalLM(hf.LlamaConfig(**SIZES)).eval()
    model.set_attn_implementation(implementation)
    return model


def test_it_counts_what_is_kept():
    reading = jumok.capture(llama(), {"input_ids": torch.randint(0, 64, (1, 20))})
    held = sum(array.nbytes for layer in reading for array in (layer.q, layer.k, layer.v))
    assert room.needed(llama(), 1, 20) == held
    assert room.needed(llama(), 2, 20, range(1)) == 2 * held // 3
    assert room.needed(llama().half(), 1, 20) == held // 2


def test_eager_attention_makes_tables():
    assert room.needed(llama("eager"), 1, 1000) - room.needed(llama(), 1, 1000) == 3 * 4 * 1000**2 * 4


def test_what_does_not_fit_is_refused_before_it_runs(monkeypatch):
    model, ids = llama(), {"input_ids": torch.randint(0, 64, (1, 20))}
    ran = []
    model.register_forward_pre_hook(lambda *_: ran.append(1))
    monkeypatch.setattr(room, "available", lambda: room.needed(model, 1, 20) - 1)
    with pytest.raises(TooLargeError, match="Take fewer layers") as told:
        jumok.capture(model, ids)
    assert told.value.bytes_needed == room.needed(model, 1, 20)
    assert "층을 줄이거나" in told.value.ko
    assert not ran
    assert len(jumok.capture(model, ids, layers=[0])) == 1


def test_where_nobody_tells_nothing_is_refused(monkeypatch):
    assert room.needed(torch.nn.Linear(2, 2), 1, 10) is None
    monkeypatch.setattr(room, "available", lambda: None)
    room.refuse_too_large(llama(), 1, 10**12, None)
