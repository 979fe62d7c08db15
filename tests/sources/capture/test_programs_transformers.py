"""Every family of Hugging Face: a tiny random model from a config, its own weights, no adapter."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers as hf

from jumok.sources.capture.capturing import Captured
from programs import agree, agree_in_any_order, captured, fused_by_hand, sharpened, traces

N_WORDS, N = 64, 9
ENDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


pytestmark = pytest.mark.usefixtures("one_thread")
hf.logging.set_verbosity_error()


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


# a batch with padding --------------------------------------------------------------------------------

PADDED = ["bert", "modernbert", "deberta-v2", "gpt2", "bloom", "llama", "mistral", "gemma2", "gpt-oss", "t5", "bart"]


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("name", PADDED)
def test_padding_is_no_token(name, attention, side):
    if name in ONLY_EAGER:
        attention = "eager"
    given, real = inputs(name, 2), torch.ones(2, N, dtype=torch.bool)
    real[1, 6:] = False
    real = real if side == "right" else real.flip(1)
    given["attention_mask"] = real.long()
    model = model_of(name, attention)
    reading = captured(lambda: model(**given))
    if name not in ONLY_EAGER:
        model.set_attn_implementation("eager")
    own = stacks(output_of(model, given))
    assert len(reading.readings) == 2 * len(own)
    for one in reading.readings:
        item = one.source.details["item"]
        stack = own[_place(reading, one)]
        n, m = stack[0].shape[2:]
        rows = real[item] if n == N else torch.ones(n, dtype=torch.bool)
        keys = real[item] if m == N else torch.ones(m, dtype=torch.bool)
        for trace, weights in zip(one, stack, strict=True):
            agree(trace, weights[item][:, rows][:, :, keys], atol=1e-5)


def _place(reading, one):
    """Which stack of the model a reading is of."""
    names = list(dict.fromkeys((r.source.details["stack"], r[0].key_tokens is None) for r in reading.readings))
    return names.index((one.source.details["stack"], one[0].key_tokens is None))


def output_of(model, given):
    """What the model gives back with its own weights."""
    with torch.no_grad():
        return model(**given, output_attentions=True)


# precision and modes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ["bert", "llama", "gemma3", "t5", "vit"])
def test_half_precision_stays_within_the_models_own_spread(name, dtype, monkeypatch):
    given = {key: one.to(dtype) if one.is_floating_point() else one for key, one in inputs(name).items()}
    layers = {}
    for attention in ("eager", "sdpa"):
        model = model_of(name, attention).to(dtype)
        with fused_by_hand(monkeypatch) as fused:
            layers[attention] = traces(captured(lambda: model(**given)))  # noqa: B023
    eager = [
        weights[0].double().numpy() for stack in stacks(output_of(model_of(name).to(dtype), given)) for weights in stack
    ]
    fused = [weights[0].numpy() for weights in fused]
    if name == "t5":  # its decoder's self-attention and cross-attention take turns
        fused = fused[:2] + fused[2::2] + fused[3::2]
    for own, other, mine, same in zip(eager, fused, layers["eager"], layers["sdpa"], strict=True):
        spread = np.abs(own - other).max() + torch.finfo(dtype).eps
        assert np.abs(mine.weights - own).max() <= spread
        assert np.abs(same.weights - other).max() <= spread


@pytest.mark.parametrize("name", ["bert", "llama"])
def test_double_precision_is_kept(name):
    model, output = model_of(name).double(), []
    given = inputs(name)
    reading = captured(lambda: output.append(model(**given, output_attentions=True)))
    for trace, weights in zip(reading, stacks(output[0])[0], strict=True):
        assert trace.q.dtype == np.float64
        agree(trace, weights[0], atol=1e-12 if name == "bert" else 1e-6)  # Llama's softmax is in float32


def test_autocast_of_the_models_own_weights():
    model, given, output = model_of("bert"), inputs("bert"), []
    with torch.autocast("cpu", dtype=torch.bfloat16):
        reading = captured(lambda: output.append(model(**given, output_attentions=True)))
    for trace, weights in zip(reading, output[0].attentions, strict=True):
        agree(trace, weights[0], atol=0.05)  # their scores are rounded to 8 bits


def test_autocast_of_fused_attention(monkeypatch):
    model, given = model_of("bert", "sdpa"), inputs("bert")
    with torch.autocast("cpu", dtype=torch.bfloat16), fused_by_hand(monkeypatch) as own:
        reading = captured(lambda: model(**given))
    for trace, weights in zip(reading, own, strict=True):
        agree(trace, weights[0])


def test_gradient_checkpointing_runs_each_layer_once_for_us():
    model, given = model_of("bert"), inputs("bert")
    model.activation_checkpointing_enable()
    model.train()
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    reading = captured(lambda: model(**given).last_hidden_state.sum().backward(), grad=torch.enable_grad)
    assert [len(one) for one in reading.readings] == [2]
    assert all(parameter.grad is not None for parameter in model.encoder.parameters())


def test_dropout_that_is_on_is_told():
    model, given = model_of("bert").train(), inputs("bert")
    with torch.no_grad(), Captured() as reading:
        model(**given)
    assert len(reading) == 0
    assert [one.module for one in reading.refused] == [f"encoder.layer.{at}.attention.self" for at in range(2)]
    assert all("model.eval()" in one.why_en and "model.eval()" in one.why_ko for one in reading.refused)


def _wrapped(model):
    return torch.compile(model, backend="eager")


def _in_place(model):
    model.compile(backend="eager")
    return model


@pytest.mark.filterwarnings("ignore:Using `torch.compile:UserWarning")  # PyTorch tells that modules have hooks now
@pytest.mark.parametrize("known", [True, False], ids=["capture(model)", "with capture()"])
@pytest.mark.parametrize("compiled", [_wrapped, _in_place])
def test_a_compiled_model_is_watched_uncompiled_and_stays_compiled(compiled, known):
    model, given = model_of("llama"), inputs("llama")
    own = output_of(model, given)
    model = compiled(model)
    for _ in range(2):  # before it has run compiled, and after
        with torch.no_grad(), Captured(model if known else None) as reading:
            model(**given)
        assert len(reading) == 2
        for trace, weights in zip(reading, own.attentions, strict=True):
            agree(trace, weights[0])
        with torch.no_grad():
            torch.testing.assert_close(model(**given).logits, own.logits)


def test_a_model_called_twice_gives_two_readings():
    model, first, second = model_of("bert"), inputs("bert"), inputs("bert")
    reading = captured(lambda: (model(**first), model(**second)))
    assert [len(one) for one in reading.readings] == [2, 2]
    for one, given in zip(reading.readings, (first, second), strict=True):
        for trace, weights in zip(one, output_of(model, given).attentions, strict=True):
            agree(trace, weights[0])


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("name", ALL)
def test_both_ways_to_watch_read_the_same(name, attention):
    model, given = model_of(name, attention), inputs(name)
    operations = captured(lambda: model(**given))
    with torch.no_grad(), Captured(model) as functions:
        model(**given)
    assert (functions.refused, functions.seen) == ((), ())
    assert [len(one) for one in functions.readings] == [len(one) for one in operations.readings]
    for one, other in zip(traces(functions), traces(operations), strict=True):
        agree(one, other.weights)
        assert one.k.shape == other.k.shape
        assert one.source.details["module"] == other.source.details["module"]
        assert {other.source.details["way"]} <= {"written", "fused"}
