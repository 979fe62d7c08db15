"""What a model is called with: names of inputs, places that were learned, patches, the two sides of a model."""

from __future__ import annotations

import pytest
import torch
import transformers as hf

from jumok.errors import InputError
from jumok.sources.capture.asked import Side, Told, asked
from jumok.tokens import Token
from small_tokenizers import Plain, of_transformers, word_pieces

MARKS = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}


class Own(torch.nn.Module):
    def forward(self, words, attention_mask=None):
        return words


class Open(torch.nn.Module):
    def forward(self, input_ids, **more):
        return input_ids


def test_a_models_own_names_are_used():
    tokenizer = of_transformers(word_pieces(), **MARKS)
    assert set(asked(Own(), "the cat", tokenizer, None, "m").inputs) == {"words", "attention_mask"}
    assert set(asked(Open(), "the cat", tokenizer, None, "m").inputs) == {"input_ids", "attention_mask"}


def test_a_tensor_is_given_by_place():
    made = asked(Own(), torch.zeros(1, 3), None, None, "m")
    assert (len(made.args), made.inputs, made.word) == (1, {}, None)


def test_inputs_by_name_with_a_tokenizer_have_tokens():
    ids, mask = torch.tensor([[4, 5, 0]]), torch.tensor([[1, 1, 0]])
    made = asked(Own(), {"input_ids": ids, "attention_mask": mask}, word_pieces(), None, "m")
    tokens, real = made.told.of("any", 3, 0)
    assert [token.text for token in tokens] == ["the", "cat", "[PAD]"]
    assert real == [True, True, False]


def test_two_sides_are_told_apart_by_module_not_by_length():
    main, decoder = Side([[Token("a"), Token("b")]]), Side([[Token("x"), Token("y")]])
    told = Told("m", main, decoder, "model.decoder")
    for module, read, wanted in (
        ("model.encoder.layers.0", False, "ab"), ("model.decoder.layers.0", False, "xy"), ("model.decoder.layers.0", True, "ab"),
        ("model.decoders", False, "ab"),
    ):  # fmt: skip
        assert "".join(token.text for token in told.of(module, 2, 0, read)[0]) == wanted
    assert told.of("model.encoder.layers.0", 3, 0) == (None, None)
    assert told.of("model.encoder.layers.0", 2, 1) == (None, None)


@pytest.mark.parametrize(
    ("grid", "n", "first", "last"),
    [((2, 3), 6, "0,0", "1,2"), ((2, 3), 7, "[CLS]", "1,2"), ((2, 3), 11, "[CLS]", "1,2"), ((2, 3), 5, None, None), ((2, 3), 40, None, None)],
)  # fmt: skip
def test_patches(grid, n, first, last):
    tokens, _ = Told("m", grid=grid).of("any", n, 0)
    assert (tokens and tokens[0].text, tokens and tokens[-1].text) == (first, last)
    assert tokens is None or len(tokens) == n


@pytest.mark.parametrize("positions", [{"position_embeddings": 4}, {"wpe": 4}, {"embed_positions": 4}])
def test_places_that_were_learned_are_a_limit(positions):
    model = Open()
    for name, n in positions.items():
        setattr(model, name, torch.nn.Embedding(n, 2))
    tokenizer = Plain("ab")
    assert asked(model, "abab", tokenizer, None, "m").inputs["input_ids"].shape == (1, 4)
    with pytest.raises(InputError, match="has 5 tokens, but the context of this model is 4"):
        asked(model, "ababa", tokenizer, None, "m")


def test_relative_positions_are_none():
    model = hf.T5EncoderModel(
        hf.T5Config(vocab_size=8, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2, n_positions=4)
    )
    assert asked(model, "ab" * 4, Plain("abcdefgh"), None, "m").inputs["input_ids"].shape == (1, 8)


@pytest.mark.parametrize(("n", "is_beyond"), [(16, False), (17, True)])
def test_a_text_beyond_what_a_model_is_made_for_is_said(n, is_beyond):
    config = hf.LlamaConfig(
        vocab_size=8,
        hidden_size=8,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=16,
    )
    notes = asked(hf.LlamaModel(config), "ab" * 8 + "a" * (n - 16), Plain("ab"), None, "m").told.notes
    assert [note.en[:47] for note in notes] == is_beyond * [
        "The text has 17 tokens, and this model is made for 16"[:47]
    ]
    assert [("16개까지" in note.ko) for note in notes] == [True] * is_beyond
