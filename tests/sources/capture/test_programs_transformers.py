"""Every family of Hugging Face: a tiny random model from a config, its own weights, no adapter."""

from __future__ import annotations

import pytest
import torch
import transformers as hf

from programs import agree, agree_in_any_order, captured, fused_by_hand, sharpened, traces

N_WORDS, N = 64, 9
ENDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    hf.logging.set_verbosity_error()
    yield
    torch.set_num_threads(before)


def _base(**more):
    return {
        "vocab_size": N_WORDS, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_size": 48, "max_position_embeddings": 64, **ENDS, **more,
    }  # fmt: skip


def _shared(**more):
    return _base(num_key_value_heads=2, head_dim=8, **more)


def _both(**more):
    return {
        "vocab_size": N_WORDS, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
        "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, **ENDS, "decoder_start_token_id": 1, **more,
    }  # fmt: skip


def _vision(**more):
    return {
        "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
        "image_size": 16, "patch_size": 4, **more,
    }  # fmt: skip


MIXED = ["sliding_attention", "full_attention"]
ENCODERS = {
    "bert": lambda: hf.BertModel(hf.BertConfig(**_base())),
    "roberta": lambda: hf.RobertaModel(hf.RobertaConfig(**_base())),
    "distilbert": lambda: hf.DistilBertModel(
        hf.DistilBertConfig(vocab_size=N_WORDS, dim=32, n_layers=2, n_heads=4, hidden_dim=48, **ENDS)
    ),
    "electra": lambda: hf.ElectraModel(hf.ElectraConfig(**_base(embedding_size=16))),
    "albert": lambda: hf.AlbertModel(hf.AlbertConfig(**_base(embedding_size=16))),
    "deberta-v2": lambda: hf.DebertaV2Model(
        hf.DebertaV2Config(**_base(relative_attention=True, pos_att_type=["p2c", "c2p"], position_biased_input=False))
    ),
    "modernbert": lambda: hf.ModernBertModel(
        hf.ModernBertConfig(**_base(global_attn_every_n_layers=2, local_attention=4, cls_token_id=1, sep_token_id=2))
    ),
}
DECODERS = {
    "gpt2": lambda: hf.GPT2LMHeadModel(
        hf.GPT2Config(vocab_size=N_WORDS, n_embd=32, n_layer=2, n_head=4, n_positions=64, **ENDS)
    ),
    "gpt-neox": lambda: hf.GPTNeoXForCausalLM(hf.GPTNeoXConfig(**_base())),
    "opt": lambda: hf.OPTForCausalLM(hf.OPTConfig(**_base(ffn_dim=48, word_embed_proj_dim=32))),
    "bloom": lambda: hf.BloomForCausalLM(
        hf.BloomConfig(vocab_size=N_WORDS, hidden_size=32, n_layer=2, n_head=4, **ENDS)
    ),
    "llama": lambda: hf.LlamaForCausalLM(hf.LlamaConfig(**_shared())),
    "mistral": lambda: hf.MistralForCausalLM(hf.MistralConfig(**_shared(sliding_window=4))),
    "qwen2": lambda: hf.Qwen2ForCausalLM(hf.Qwen2Config(**_base(num_key_value_heads=2))),
    "qwen3": lambda: hf.Qwen3ForCausalLM(hf.Qwen3Config(**_shared())),
    "gemma2": lambda: hf.Gemma2ForCausalLM(
        hf.Gemma2Config(
            **_shared(sliding_window=4, query_pre_attn_scalar=8, attn_logit_softcapping=2.0, layer_types=MIXED)
        )
    ),
    "gemma3": lambda: hf.Gemma3ForCausalLM(hf.Gemma3TextConfig(**_shared(sliding_window=4, layer_types=MIXED))),
    "phi3": lambda: hf.Phi3ForCausalLM(hf.Phi3Config(**_base(num_key_value_heads=2))),
    "gpt-oss": lambda: hf.GptOssForCausalLM(
        hf.GptOssConfig(
            **_shared(
                sliding_window=4, num_local_experts=4, num_experts_per_tok=2, layer_types=MIXED, rope_scaling=None
            )
        )
    ),
}
PAIRS = {
    "t5": lambda: hf.T5ForConditionalGeneration(
        hf.T5Config(
            vocab_size=N_WORDS, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, decoder_start_token_id=0
        )
    ),
    "bart": lambda: hf.BartForConditionalGeneration(hf.BartConfig(**_both(max_position_embeddings=64))),
    "marian": lambda: hf.MarianMTModel(hf.MarianConfig(**_both(max_position_embeddings=64))),
    "whisper": lambda: hf.WhisperForConditionalGeneration(
        hf.WhisperConfig(**_both(max_source_positions=20, max_target_positions=32, num_mel_bins=8))
    ),
}
VISION = {
    "vit": lambda: hf.ViTModel(hf.ViTConfig(**_vision())),
    "dinov2": lambda: hf.Dinov2Model(hf.Dinov2Config(**_vision())),
    "clip": lambda: hf.CLIPModel(hf.CLIPConfig(text_config=_base(), vision_config=_vision(), projection_dim=16)),
}
ALL = ENCODERS | DECODERS | PAIRS | VISION
ONLY_EAGER = {"deberta-v2", "bloom", "gemma2", "gpt-oss"}  # these models have no other attention
STACKS = ("encoder_attentions", "text", "vision", "attentions", "decoder_attentions", "cross_attentions")


def model_of(name, attention="eager"):
    """The family's tiny model, its weights large enough to see."""
    model = ALL[name]()
    if name not in ONLY_EAGER:
        model.set_attn_implementation(attention)
    return sharpened(model)


def inputs(name, n_sequences=1):
    """What the family is given."""
    words = {"input_ids": torch.randint(3, N_WORDS, (n_sequences, N))}
    image = {"pixel_values": torch.randn(n_sequences, 3, 16, 16)}
    if name in ("vit", "dinov2"):
        return image
    if name == "clip":
        return words | image
    said = {"decoder_input_ids": torch.randint(3, N_WORDS, (n_sequences, 5))} if name in PAIRS else {}
    return said | ({"input_features": torch.randn(n_sequences, 8, 40)} if name == "whisper" else words)


def stacks(output):
    """Each stack of layers' weights, (layer,) of (batch, head, query, key), in the order in which they run."""
    if "text_model_output" in output:
        return [output.vision_model_output.attentions, output.text_model_output.attentions]
    made = [output.get(name) for name in STACKS]
    return [stack for stack in made if stack]


@pytest.mark.parametrize("name", ALL)
def test_every_weight_is_the_models_own(name):
    model, given, output = model_of(name), inputs(name), []
    reading = captured(lambda: output.append(model(**given, output_attentions=True)))
    own = stacks(output[0])
    assert [len(one) for one in reading.readings] == [len(stack) for stack in own]
    for one, stack in zip(reading.readings, own, strict=True):
        for trace, weights in zip(one, stack, strict=True):
            agree(trace, weights[0])
            assert trace.weights.max(axis=-1).std() > 0.02, "a model that attends evenly would prove nothing"


@pytest.mark.parametrize("name", [name for name in ALL if name not in ONLY_EAGER])
def test_fused_attention_says_the_same(name, monkeypatch):
    model, given = model_of(name, "sdpa"), inputs(name)
    with fused_by_hand(monkeypatch) as own:
        reading = captured(lambda: model(**given))
    assert {trace.source.details["way"] for trace in traces(reading)} == {"fused"}
    agree_in_any_order(traces(reading), [weights[0] for weights in own])
