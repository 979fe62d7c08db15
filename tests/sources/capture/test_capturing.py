"""capture: texts, batches, encoders with decoders, pictures, with-blocks; and what is refused, each with its message."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch
import transformers as hf

import jumok
from jumok.errors import InputError
from jumok.sources.capture.interface import _open
from small_tokenizers import Plain, byte_level, letters, of_transformers, word_pieces

MARKS = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
CAT = "The cat sat because it was tired."


pytestmark = pytest.mark.usefixtures("one_thread")
hf.logging.set_verbosity_error()


def sizes(**more):
    return {
        "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
        "max_position_embeddings": 32, **more,
    }  # fmt: skip


def bert(**more):
    return hf.BertModel(hf.BertConfig(vocab_size=15, **sizes(**more))).eval()


def llama(n_words=300):
    return hf.LlamaForCausalLM(hf.LlamaConfig(vocab_size=n_words, num_key_value_heads=2, **sizes())).eval()


def bart(n_words=15):
    return hf.BartForConditionalGeneration(
        hf.BartConfig(
            vocab_size=n_words, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
            decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=32, pad_token_id=0,
            bos_token_id=2, eos_token_id=3, decoder_start_token_id=2, forced_eos_token_id=3,
        )
    ).eval()  # fmt: skip


def texts(reading):
    return [token.text for token in reading.tokens]


def eager(model, name="attentions", **inputs):
    """A model's own weights: (layer) of the first sequence."""
    model.set_attn_implementation("eager")
    with torch.no_grad():
        out = getattr(model(**inputs, output_attentions=True), name)
    return [one[0].numpy() for one in out]


# texts --------------------------------------------------------------------------------------------


def test_a_text_of_an_encoder():
    model, tokenizer = bert(), of_transformers(word_pieces(), **MARKS)
    reading = jumok.capture(model, CAT, tokenizer)
    assert texts(reading)[:3] == ["[CLS]", "the", "cat"]
    assert reading.source.details["sentence"] == CAT
    assert reading.source.special_tokens is True
    assert reading.source.name == "BertModel"
    assert reading.source.details["largest_difference"] < 1e-5
    ids = tokenizer(CAT, return_tensors="pt")["input_ids"]
    for layer, wanted in zip(reading, eager(model, input_ids=ids), strict=True):
        assert np.allclose(layer.weights, wanted, atol=1e-6)


def test_the_last_word_is_looked_at_first_where_marks_follow_it():
    reading = jumok.capture(bert(), CAT, of_transformers(word_pieces(), **MARKS))
    assert reading.tokens[reading.source.details["focus"]].text == "."
    assert reading.tokens[-1].text == "[SEP]"
    decoded = jumok.capture(llama(), CAT, byte_level())
    assert "focus" not in decoded.source.details  # its last token stands for text


def test_a_text_without_a_model_is_told_where_it_goes():
    with pytest.raises(InputError, match=r"got only 'The cat sat\.'\. A text comes second: jumok\.capture\(\"demo\""):
        jumok.capture("The cat sat.")


@pytest.mark.parametrize(
    ("tokenizer", "n_words"), [(of_transformers(byte_level()), 300), (byte_level(), 300), (letters(), 60), (Plain(" 0123T.abcehistuwdr"), 60)]
)  # fmt: skip
def test_a_text_through_any_tokenizer(tokenizer, n_words):
    reading = jumok.capture(llama(n_words), "the cat", tokenizer)
    assert "".join(texts(reading)).replace("Ġ", " ") == "the cat"
    assert all(token.span is not None for token in reading.tokens)


def test_one_layer_is_called_one():
    x = torch.zeros(1, 1, 8)
    with torch.no_grad(), jumok.capture() as reading:
        torch.nn.MultiheadAttention(8, 1, batch_first=True).eval()(x, x, x)
    assert repr(reading) == "Captured(1 layer, 1 token)"
    assert repr(reading[0]) == "Trace(1 token, 1 head (1 key/value), d_head 8, everything, from model)"


def test_a_batch_is_one_reading_a_text_without_padding():
    tokenizer, model = of_transformers(word_pieces(), **MARKS), bert()
    reading = jumok.capture(model, ["the cat", CAT], tokenizer)
    assert [len(one.tokens) for one in reading.readings] == [4, 11]
    assert [one.source.details["sentence"] for one in reading.readings] == ["the cat", CAT]
    for one in reading.readings:
        alone = jumok.capture(model, one.source.details["sentence"], tokenizer)
        assert np.allclose(one[1].weights, alone[1].weights, atol=1e-5)


def test_some_layers_only():
    reading = jumok.capture(bert(num_hidden_layers=4), CAT, word_pieces(), layers=range(1, 3))
    assert len(reading) == 2
    assert [layer.source.details["module"].split(".")[2] for layer in reading] == ["1", "2"]


def test_ones_own_module_with_a_tokenizer():
    class Own(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.attention = torch.nn.Embedding(15, 8), torch.nn.MultiheadAttention(8, 2, batch_first=True)

        def forward(self, words):
            x = self.words(words)
            return self.attention(x, x, x)[0]

    reading = jumok.capture(Own(), CAT, word_pieces())
    assert texts(reading)[1] == "the"
    assert reading.cut(0, 0, "cat", "sat").changes[2].norm > 0


def test_the_share_of_unknown_tokens_is_told():
    reading = jumok.capture(bert(), "the 은행 cat", word_pieces())
    assert reading.unknown == pytest.approx(1 / 3)
    said = reading.source.details["unreadable"]
    assert said["why"] == "unknown"
    assert "33.3% of its tokens stand for text that its vocabulary does not know" in said["en"]
    assert "토큰의 33.3%가 어휘에 없는 글" in said["ko"]
    assert "unreadable" not in jumok.capture(bert(), "the cat", word_pieces()).source.details


# encoder and decoder ------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["it was", "the cat sat because it was tired", None])
def test_an_encoder_and_a_decoder_have_their_own_tokens(target):
    """The second target is as long as the text: cross-attention is told apart all the same."""
    tokenizer, model = of_transformers(word_pieces(), **MARKS), bart()
    reading = jumok.capture(model, CAT, tokenizer, target=target)
    stacks = {one.source.details["stack"]: one for one in reading.readings}
    encoder, decoder, cross = (
        next(one for name, one in stacks.items() if part in name)
        for part in ("encoder.layers", "decoder.layers.#.self", "encoder_attn")
    )
    assert texts(encoder)[1:3] == ["the", "cat"]
    assert texts(decoder)[0] == "[CLS]"
    if target is not None:
        assert texts(decoder)[2:4] == target.split()[:2]
    assert decoder[0].key_tokens is None
    assert cross[0].tokens == decoder[0].tokens
    assert [token.text for token in cross[0].key_tokens] == texts(encoder)


def test_cross_attention_is_the_models_own():
    tokenizer, model = of_transformers(word_pieces(), **MARKS), bart()
    reading = jumok.capture(model, CAT, tokenizer, target="it was")
    cross = next(one for one in reading.readings if "encoder_attn" in one.source.details["stack"])
    ids = tokenizer(CAT, return_tensors="pt")["input_ids"]
    written = torch.cat([torch.tensor([[2]]), tokenizer("it was", return_tensors="pt")["input_ids"]], dim=1)
    wanted = eager(model, "cross_attentions", input_ids=ids, decoder_input_ids=written)
    for layer, weights in zip(cross, wanted, strict=True):
        assert np.allclose(layer.weights, weights, atol=1e-6)


def test_a_target_is_for_models_with_two_sides():
    with pytest.raises(InputError, match="encoder-decoder") as told:
        jumok.capture(bert(), CAT, word_pieces(), target="it")
    assert "인코더-디코더" in told.value.ko


# pictures -----------------------------------------------------------------------------------------


def test_patches_of_a_picture_are_tokens():
    model = hf.ViTModel(
        hf.ViTConfig(
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=48,
            image_size=12,
            patch_size=4,
        )
    )
    picture = torch.randn(1, 3, 12, 12)
    for given in (picture, {"pixel_values": picture}):
        reading = jumok.capture(model, given)
        assert texts(reading) == ["[CLS]", *(f"{i},{j}" for i in range(3) for j in range(3))]
        assert len(reading) == 2
    assert reading.cut(0, 1, "0,0", "2,2").kind == "vectors"


def test_registers_and_wide_pictures():
    model = hf.Dinov2WithRegistersModel(
        hf.Dinov2WithRegistersConfig(
            hidden_size=32,
            num_hidden_layers=1,
            num_attention_heads=4,
            image_size=14,
            patch_size=7,
            num_register_tokens=2,
        )
    )
    assert texts(jumok.capture(model, torch.randn(1, 3, 14, 14))) == [
        "[CLS]",
        "[REG]",
        "[REG]",
        "0,0",
        "0,1",
        "1,0",
        "1,1",
    ]


# with-blocks --------------------------------------------------------------------------------------


def test_generation_with_a_cache_is_one_reading():
    model, ids = llama(), torch.randint(5, 300, (1, 4))
    with jumok.capture() as reading:
        written = model.generate(input_ids=ids, max_new_tokens=5, min_new_tokens=5, do_sample=False, pad_token_id=0)
    assert [layer.n_queries for layer in reading] == [8, 8]
    for layer, wanted in zip(reading, eager(model, input_ids=written[:, :-1]), strict=True):
        assert np.allclose(layer.weights, wanted, atol=1e-5)


def test_a_block_without_attention_is_an_empty_reading():
    with jumok.capture() as reading:
        torch.nn.Linear(2, 2)(torch.zeros(1, 2))
    assert len(reading) == 0
    assert reading.refused == ()


def test_a_model_called_twice_gives_two_readings():
    model, x = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval(), torch.randn(1, 3, 8)
    with torch.no_grad(), jumok.capture() as reading:
        model(x, x, x)
        model(-x, -x, -x)
    assert len(reading.readings) == 2
    assert not np.allclose(reading.readings[0][0].k, reading.readings[1][0].k)


def test_nothing_is_left_behind_by_an_error():
    model, fast = bert(), torch.backends.mha.get_fastpath_enabled()
    own = type(hf.modeling_utils.ALL_ATTENTION_FUNCTIONS).get_interface
    for _ in range(2):
        with pytest.raises(RuntimeError, match="mine"), jumok.capture() as reading:
            raise RuntimeError("mine")
        assert len(reading) == 0
    with pytest.raises(RuntimeError, match="indices"):
        jumok.capture(model, {"input_ids": torch.zeros(1, 3)})
    assert torch.backends.mha.get_fastpath_enabled() == fast
    assert type(hf.modeling_utils.ALL_ATTENTION_FUNCTIONS).get_interface is own
    assert not model._forward_pre_hooks
    assert not _open


def test_captures_in_captures_see_the_same():
    model, x = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval(), torch.randn(1, 3, 8)
    with torch.no_grad(), jumok.capture() as outer, jumok.capture() as inner:
        model(x, x, x)
    assert np.array_equal(inner[0].q, outer[0].q)


def test_threads_do_not_see_each_other():
    """Their captures open and close in turn, so that one that undid the other's would be seen."""
    models, found, meet = [bert(), bert()], {}, threading.Barrier(2)

    def read(at):
        torch.manual_seed(at)
        for _ in range(3):
            meet.wait()
            found[at] = jumok.capture(models[at], CAT, word_pieces())

    own = type(hf.modeling_utils.ALL_ATTENTION_FUNCTIONS).get_interface
    some = [threading.Thread(target=read, args=(at,)) for at in range(2)]
    for one in some:
        one.start()
    for one in some:
        one.join()
    for at, model in enumerate(models):
        alone = jumok.capture(model, CAT, word_pieces())
        assert len(found[at].readings) == 1
        assert np.array_equal(found[at][1].q, alone[1].q)
    assert type(hf.modeling_utils.ALL_ATTENTION_FUNCTIONS).get_interface is own


def test_a_model_in_another_thread_is_not_seen_and_that_is_said():
    model, x = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval(), torch.randn(1, 3, 8)
    with jumok.capture() as reading:
        one = threading.Thread(target=lambda: model(x, x, x))
        one.start()
        one.join()
    assert len(reading) == 0
    assert [one.what for one in reading.seen] == ["a model in another thread"]


def test_a_model_is_left_in_its_modes():
    model = bert().train()
    model.encoder.layer[1].eval()
    jumok.capture(model, CAT, word_pieces())
    assert model.training
    assert model.encoder.layer[0].training
    assert not model.encoder.layer[1].training


def test_it_saves_as_a_reading(tmp_path):
    reading = jumok.capture(bert(), CAT, word_pieces())
    reading.save(tmp_path / "a.safetensors")
    again = jumok.load(tmp_path / "a.safetensors")
    assert type(again) is jumok.Reading
    assert again.layers == reading.layers
    assert again.source == reading.source


# refusals -----------------------------------------------------------------------------------------


def test_a_model_without_attention_is_refused():
    class Linear(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.words = torch.nn.Embedding(15, 4)

        def forward(self, words):
            return self.words(words)

    with pytest.raises(InputError, match="no attention was found") as told:
        jumok.capture(Linear(), CAT, word_pieces())
    assert "어텐션을 찾지 못했습니다" in told.value.ko


def test_a_tokenizer_of_another_model_is_refused():
    with pytest.raises(InputError, match=r"does not fit this model: it gave token \d+, and the model knows 15"):
        jumok.capture(bert(), "the cat", of_transformers(byte_level()))


@pytest.mark.parametrize("text", ["", [], ["the", ""]])
def test_an_empty_text_is_refused(text):
    with pytest.raises(InputError, match="not empty"):
        jumok.capture(bert(), text, word_pieces())


@pytest.mark.parametrize("text", [None, 3])
def test_what_is_no_text_is_refused(text):
    with pytest.raises(InputError, match="capture expects a text, a list of texts, a tensor"):
        jumok.capture(bert(), text, word_pieces())


@pytest.mark.parametrize(
    ("model", "most"),
    [
        (lambda: bert(), 32),
        (lambda: hf.RobertaModel(hf.RobertaConfig(vocab_size=15, pad_token_id=1, **sizes())).eval(), 30),
        (lambda: bart(), 32),
        (lambda: hf.GPT2Model(hf.GPT2Config(vocab_size=15, n_embd=32, n_layer=1, n_head=4, n_positions=32)).eval(), 32),
    ],
)
def test_a_text_beyond_the_context_is_refused(model, most):
    tokenizer = Plain("abcdefghijklmno")
    with pytest.raises(InputError, match=rf"has {most + 1} tokens, but the context of this model is {most}") as told:
        jumok.capture(model(), "a" * (most + 1), tokenizer)
    assert str(most) in told.value.ko
    assert len(jumok.capture(model(), "a" * most, tokenizer).readings[0].tokens) == most


def test_rotary_positions_have_no_end():
    assert len(jumok.capture(llama(), "ab" * 20, Plain("ab")).tokens) == 40


def test_a_text_without_a_tokenizer_is_refused():
    with pytest.raises(InputError, match=r"needs a tokenizer to read a text"):
        jumok.capture(bert(), CAT)


def test_layers_that_are_not_there_are_refused():
    with pytest.raises(InputError, match=r"layers expects some of 0 to 1, got \[5\]"):
        jumok.capture(bert(), CAT, word_pieces(), layers=[5])


# several readings, some layers, none ----------------------------------------------------------------


def sequences(n=2):
    """A with-block over a batch of n sequences."""
    model, x = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval(), torch.randn(n, 3, 8)
    with torch.no_grad(), jumok.capture() as reading:
        model(x, x, x)
    return reading


def both_sides(**options):
    return jumok.capture(bart(), "the cat sat", of_transformers(word_pieces(), **MARKS), target="it was", **options)


def test_each_side_of_a_model_can_be_chosen():
    reading = both_sides()
    assert reading.names == ("encoder", "decoder", "cross")
    assert reading.main == "encoder"
    for name, n_queries, n_keys in (("encoder", 5, 5), ("decoder", 5, 5), ("cross", 5, 5)):
        chosen = reading.choose(name)
        assert chosen.layers == reading.readings[reading.names.index(name)].layers
        assert (chosen[0].n_queries, chosen[0].n_keys) == (n_queries, n_keys)
        assert chosen.source.details["side"] == name
        assert f"{name!r} of 3 readings" in repr(chosen)
        assert chosen.cut(1, 0).changes == reading.cut(1, 0, reading=name).changes
    assert reading.choose(2).main == reading.choose("2").main == "cross"
    assert reading.main == "encoder"


@pytest.mark.parametrize(
    ("name", "said"),
    [("heads", "unknown reading 'heads'"), ("3", "unknown reading '3'"), (3, "from 0 to 2"), (True, "from 0 to 2")],
)
def test_a_reading_that_is_not_there_cannot_be_chosen(name, said):
    with pytest.raises(InputError, match=said):
        both_sides().choose(name)


@pytest.mark.parametrize("made", [sequences, both_sides])
def test_a_file_holds_one_reading_and_never_leaves_others_out_in_silence(made, tmp_path):
    reading = made()
    with pytest.raises(
        InputError, match=rf"holds {len(reading.readings)} readings .*Save each: reading\.choose\("
    ) as told:
        reading.save(tmp_path / "all.safetensors")
    assert f"기록이 {len(reading.readings)}개" in told.value.ko
    assert not list(tmp_path.iterdir())
    for name in reading.names:
        reading.choose(name).save(tmp_path / f"{name}.safetensors")
        assert jumok.load(tmp_path / f"{name}.safetensors").layers == reading.choose(name).layers


def test_a_page_is_drawn_not_saved(tmp_path):
    with pytest.raises(InputError, match=r"a \.html file is drawn, not saved: jumok\.draw\(reading\)\.save\(") as told:
        sequences(1).save("a.html")
    assert "그립니다" in told.value.ko


def test_layers_keep_their_numbers():
    model = bert(num_hidden_layers=4)
    reading = jumok.capture(model, CAT, word_pieces(), layers=[1, 3])
    assert [layer.source.layer for layer in reading] == [1, 3]
    whole = jumok.capture(model, CAT, word_pieces())
    assert reading.cut(3, 1, "it", "cat") == whole.cut(3, 1, "it", "cat")
    assert reading.cut(3, 1).layer == 3
    for layer in (0, 2):
        with pytest.raises(InputError, match=r"a layer that was kept \(1, 3\)"):
            reading.cut(layer, 0)


def test_self_and_cross_attention_without_modules_are_counted_apart():
    x, y = torch.randn(1, 2, 4, 8), torch.randn(1, 2, 6, 8)
    with jumok.capture(layers=[1]) as reading:
        for _ in range(2):
            torch.nn.functional.scaled_dot_product_attention(x, x, x)
            torch.nn.functional.scaled_dot_product_attention(x, y, y)
    assert [[layer.source.layer for layer in one] for one in reading.readings] == [[1], [1]]


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (lambda r: r[0], "no attention was read. Seen"),
        (lambda r: r.save("a.safetensors"), "no attention was read. Seen"),
        (lambda r: r.choose(0), "no attention was read. Seen"),
        (lambda r: r.cut(0, 0), "no attention was read. Seen"),
        (lambda r: jumok.draw(r), "no attention was read. Seen"),
        (lambda r: jumok.explain(r, 0), "no attention was read. Seen"),
    ],
)  # fmt: skip
def test_an_empty_reading_says_what_was_seen(what, said):
    q = torch.randn(2, 4, 8)
    with jumok.capture() as reading:
        torch.softmax(torch.sin(q @ q.mT), -1) @ q
    with pytest.raises(InputError, match=said) as told:
        what(reading)
    assert "sin" in told.value.en
    assert "읽은 어텐션이 없습니다" in told.value.ko


def test_within_the_block_nothing_is_read_yet():
    with jumok.capture() as reading:
        assert len(reading) == 0
        assert "still watching" in repr(reading)
        with pytest.raises(IndexError, match="filled when its with-block ends"):
            reading[0]


def test_a_layer_beyond_is_told():
    with pytest.raises(IndexError, match=r"are reading\[0\] to reading\[0\], got reading\[99\]"):
        sequences(1)[99]


# arguments ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"model": 5}, "model expects a PyTorch module, the folder of a model.*got 5"),
        ({"model": len}, r"To read a function, call it: with jumok\.capture\(\)"),
        ({"model": ""}, "model expects a PyTorch module"),
        ({"dtype": "float16"}, "dtype is for loading a model from a folder, and this one is loaded already"),
        ({"allow_pickle": True}, "allow_pickle is for loading"),
        ({"model": "demo", "dtype": "int8"}, "unknown dtype 'int8'"),
        ({"model": torch.nn.Linear(2, 2)}, r"did not run on the tokens of a text \(it was given input \(1, 4\)\)"),
        ({"layers": range(10**9)}, r"got \[0, …, 999999999\]"),
    ],
)
def test_arguments_that_do_not_fit_are_told(options, said):
    given = {"model": bert(), "text": "the cat", "tokenizer": of_transformers(word_pieces(), **MARKS)} | options
    with pytest.raises(InputError, match=said) as told:
        jumok.capture(**given)
    assert told.value.ko != told.value.en


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        ((), {}, "cut expects a layer and a head"),
        ((0,), {}, "cut expects a layer and a head"),
        ((0, 0), {"run": 5}, "run expects a function"),
        ((0, 0, 1, 2), {"renormalise": "yes"}, "renormalise expects True or False, got 'yes'"),
        ((0, 0), {"mean": 1}, "mean expects True or False, got 1"),
        ((0, 0), {"reading": "cross"}, "unknown reading 'cross'"),
    ],
)
def test_cuts_that_do_not_fit_are_told(given, options, said):
    reading = jumok.capture(bert(), "the cat", of_transformers(word_pieces(), **MARKS))
    with pytest.raises(InputError, match=said):
        reading.cut(*given, **options)
