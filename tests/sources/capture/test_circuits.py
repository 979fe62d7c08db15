"""The matrices around a model's heads are found by what they do, whatever they are called; what cannot be found is told."""

import numpy as np
import pytest
import torch
import transformers as hf

from jumok.errors import InputError
from jumok.measurement.roles.copying import copying
from jumok.sources.capture.batches import open_module
from small_folders import encoder, generator, tokenizer

SMALL = {"vocab_size": 15, "intermediate_size": 16, "max_position_embeddings": 64}
SIZE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, **SMALL}


def gpt2():
    sizes = {"vocab_size": 15, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
    return hf.GPT2LMHeadModel(hf.GPT2Config(**sizes, bos_token_id=None, eos_token_id=None))


def neox():
    return hf.GPTNeoXForCausalLM(hf.GPTNeoXConfig(**SIZE))


def of_gpt2(layer):
    return layer.attn.c_attn.weight[:, 64:].reshape(32, 4, 8).transpose(0, 1), layer.attn.c_proj.weight


def of_llama(layer):
    return layer.self_attn.v_proj.weight.T.reshape(32, 2, 8).transpose(0, 1), layer.self_attn.o_proj.weight.T


def of_neox(layer):
    fused = layer.attention.query_key_value.weight.T.reshape(32, 4, 3, 8)  # q, k and v of a head stand side by side
    return fused[:, :, 2].transpose(0, 1), layer.attention.dense.weight.T


def opened(make):
    torch.manual_seed(0)
    return open_module(make().eval(), tokenizer())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(("make", "layers", "known"), [
    (gpt2, "transformer.h", of_gpt2), (generator, "model.layers", of_llama), (neox, "gpt_neox.layers", of_neox),
])  # fmt: skip
def test_matrices_are_those_that_the_model_multiplies_by(make, layers, known, dtype):
    torch.manual_seed(0)
    model = make().eval().to(dtype)
    found = open_module(model, tokenizer()).circuits()
    np.testing.assert_array_equal(found.w_e, model.get_input_embeddings().weight.detach().float())
    np.testing.assert_array_equal(found.w_u, model.get_output_embeddings().weight.detach().float().T)
    heads = list(found.heads())
    assert len(heads) == 2
    for layer, mine in zip(model.get_submodule(layers), heads, strict=True):
        values, output = (one.detach().float() for one in known(layer))
        for head, (w_v, w_o) in enumerate(mine):
            np.testing.assert_array_equal(w_v, values[head * len(values) // 4])
            np.testing.assert_array_equal(w_o, output[8 * head : 8 * head + 8])


def test_a_head_that_is_made_to_copy_has_the_score_of_one():
    torch.manual_seed(0)
    model = generator().eval()
    model.lm_head.weight = model.get_input_embeddings().weight
    layer = model.model.layers[1].self_attn
    own = torch.linalg.qr(torch.randn(32, 16))[0]
    with torch.no_grad():
        layer.v_proj.weight.copy_(own.T)
        layer.o_proj.weight.copy_(torch.cat([own[:, :8], -own[:, :8], own[:, 8:], -own[:, 8:]], 1))
    found = open_module(model, tokenizer()).circuits()
    scores = [copying(w_v, w_o, found.w_e, found.w_u) for w_v, w_o in list(found.heads())[1]]
    assert scores == pytest.approx([1, -1, 1, -1], abs=1e-6)


class Scaled(torch.nn.Linear):
    """What comes of it is not what its matrix makes."""

    def forward(self, x):
        return 2 * super().forward(x)


def masked():
    return hf.BertForMaskedLM(hf.BertConfig(**SIZE))


def scaled(name):
    def make():
        model = generator()
        for layer in model.model.layers:
            getattr(layer.self_attn, name).__class__ = Scaled
        return model

    return make


@pytest.mark.parametrize(("make", "en", "ko"), [
    (encoder, "has no matrix that makes logits", "바꾸는 행렬이 없습니다"),
    (masked, "by more than one matrix", "행렬 하나를 곱한 것이 아닙니다"),
    (scaled("v_proj"), "LlamaForCausalLM, layer 0: no single matrix was found that makes the values", "0층에서 헤드의 밸류를"),
    (scaled("o_proj"), "LlamaForCausalLM, layer 0: no single matrix was found that makes the output", "0층에서 헤드의 출력을"),
])  # fmt: skip
def test_what_cannot_be_found_is_told(make, en, ko):
    with pytest.raises(InputError, match=en) as refused:
        opened(make).circuits()
    assert ko in refused.value.text("ko")


def test_nothing_is_left_on_the_model():
    reads = opened(generator)
    reads.circuits()
    assert not any(one._forward_hooks for one in reads.whole.modules())
