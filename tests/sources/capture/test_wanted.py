"""Which layers are kept: at once, however many are asked for, and never silently fewer than asked for."""

from __future__ import annotations

import time

import pytest
import torch
import transformers as hf

import jumok
from jumok.errors import InputError
from jumok.sources.capture.wanted import refuse_absent, refuse_absent_early, told, wanted_layers


@pytest.mark.parametrize("layers", ["0-1", ["a"], 7, [True], [1.0], [-1], [], range(0), range(-3, 2), b"01", {"a": 1}])
def test_what_is_no_list_of_layers_is_refused(layers):
    with pytest.raises(InputError, match="layers expects whole numbers from 0") as refused:
        jumok.capture(layers=layers)
    assert "정수 목록" in refused.value.ko


@pytest.mark.parametrize("layers", [[0, 1], (1,), {1, 0}, range(2), range(1, -1, -1), iter([1])])
def test_lists_of_layers_are_taken(layers):
    assert 1 in wanted_layers(layers)


def test_very_many_are_refused_at_once():
    start = time.process_time()
    with pytest.raises(
        InputError, match=r"some of 0 to 1, got \[0, …, 999999999\]. Layers of attention in this model: 2"
    ):
        refuse_absent(wanted_layers(range(10**9)), 2)
    assert time.process_time() - start < 1
    assert told(range(10**9, 0, -1)) == "[1, …, 1000000000]"


def test_a_model_that_tells_is_not_run():
    model = hf.BertModel(hf.BertConfig(vocab_size=15, hidden_size=8, num_hidden_layers=2, num_attention_heads=2))
    with pytest.raises(InputError, match="in this model: 2"):
        refuse_absent_early(model, [2])
    refuse_absent_early(model, range(2))
    refuse_absent_early(torch.nn.Linear(2, 2), [5])


def test_a_block_whose_layers_were_not_there_says_so():
    model, x = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval(), torch.randn(1, 3, 8)
    with torch.no_grad(), jumok.capture(layers=[0, 4]) as reading:
        model(x, x, x)
    assert len(reading) == 1
    assert (
        reading.source.details["notes"][0]["en"]
        == "layers expects some of 0 to 0, got [0, 4]. Layers of attention in this model: 1."
    )
