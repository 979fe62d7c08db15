"""The attention functions of transformers' models: what they hand over is what is found among the operations."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers as hf

from jumok.sources.capture.capturing import Captured
from jumok.sources.capture.interface import followed

N = 9
SIZES = {
    "vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
    "max_position_embeddings": 64,
}  # fmt: skip
SHARED = {**SIZES, "num_key_value_heads": 2, "head_dim": 8}
MODELS = {
    "bert": lambda: hf.BertModel(hf.BertConfig(**SIZES)),
    "llama": lambda: hf.LlamaModel(hf.LlamaConfig(**SHARED)),
    "gemma2": lambda: hf.Gemma2Model(hf.Gemma2Config(**SHARED, sliding_window=4, attn_logit_softcapping=2.0)),
    "gpt-oss": lambda: hf.GptOssModel(
        hf.GptOssConfig(**SHARED, sliding_window=4, num_local_experts=2, num_experts_per_tok=1)
    ),
}


pytestmark = pytest.mark.usefixtures("one_thread")


def both(model, **inputs):
    """The same run, by the functions and by the operations."""
    with torch.no_grad(), Captured(model) as by_function:
        model(**inputs)
    with torch.no_grad(), Captured() as by_operation:
        model(**inputs)
    return by_function, by_operation


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
def test_functions_and_operations_say_the_same(name, implementation):
    model = MODELS[name]().eval()
    if implementation == "sdpa" and not model._supports_sdpa:
        implementation = "eager"
    model.set_attn_implementation(implementation)
    assert followed(model)
    first, second = both(model, input_ids=torch.randint(5, 64, (2, N)))
    assert not first.refused + second.refused
    assert len(first.readings) == len(second.readings) == 2
    for one, other in zip(first.readings, second.readings, strict=True):
        for a, b in zip(one, other, strict=True):
            assert a.source.details["way"] == "interface" != b.source.details["way"]
            assert a.source.details["module"].split(".")[:3] == b.source.details["module"].split(".")[:3]
            assert np.array_equal(a.allowed, b.allowed)
            assert np.allclose(a.weights, b.weights, atol=1e-6)
            assert np.allclose(a.mixed, b.mixed, atol=1e-5)


def test_padding_is_taken_out_both_ways():
    mask = torch.ones(2, N, dtype=torch.long)
    mask[1, :3] = 0
    first, second = both(MODELS["llama"]().eval(), input_ids=torch.randint(5, 64, (2, N)), attention_mask=mask)
    for reading in (first, second):
        assert [one[0].n_queries for one in reading.readings] == [N, N - 3]
        assert reading.readings[1][0].source.details["n_padding"] == 3


def test_another_models_calls_are_not_taken():
    mine, other = (MODELS["llama"]().eval() for _ in range(2))
    ids = torch.randint(5, 64, (1, N))
    with torch.no_grad(), Captured(mine) as reading:
        other(input_ids=ids)
        mine(input_ids=ids)
    assert len(reading) == 2
    assert len(reading.readings) == 1


@pytest.mark.parametrize(
    "model",
    [torch.nn.Linear(2, 2), torch.nn.TransformerEncoderLayer(8, 2), torch.nn.MultiheadAttention(8, 2), object()],
)
def test_what_has_no_such_functions(model):
    assert not followed(model)
