"""What a program leaves open is said: an axis that may be heads, calls that may be heads of one layer, beams."""

from __future__ import annotations

import pytest
import torch
import transformers as hf
from torch.nn import functional

import jumok

pytestmark = pytest.mark.usefixtures("one_thread")
N, D, H = 5, 4, 3


def notes(program):
    with torch.no_grad(), jumok.capture() as reading:
        program()
    assert len(reading) > 0
    assert not reading.refused
    return [note["en"] for note in reading.source.details.get("notes", [])]


def attend(q):
    return (q @ q.mT).softmax(-1) @ q


def test_an_axis_that_may_be_heads_is_said():
    q = torch.randn(H, N, D)
    [note] = notes(lambda: attend(q))
    assert note.startswith("this program: its 3 tables are read as 3 sequences of one head each.")
    assert notes(lambda: attend(q).transpose(0, 1).reshape(N, H * D)) == []
    assert notes(lambda: attend(q[None])) == []
    assert notes(lambda: attend(q[0])) == []


def test_calls_that_may_be_heads_of_one_layer_are_said():
    heads = [torch.randn(1, N, D) for _ in range(H)]
    [note] = notes(lambda: [attend(q) for q in heads])
    assert note.startswith("this program: 3 calls of one head each are read as 3 layers.")
    assert notes(lambda: torch.cat([attend(q) for q in heads], dim=-1)) == []
    assert notes(lambda: attend(heads[0])) == []
    assert notes(lambda: [attend(heads[0]), attend(heads[1][:, :2])]) == []


@pytest.mark.parametrize(
    "program",
    [
        lambda: functional.scaled_dot_product_attention(*torch.randn(3, 2, H, N, D)),
        lambda: torch.nn.MultiheadAttention(8, 2, batch_first=True).eval()(*torch.randn(3, 2, N, 8)),
        lambda: torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(8, 2, 8, batch_first=True), 2).eval()(torch.randn(3, N, 8)),
        lambda: hf.BertModel(
            hf.BertConfig(vocab_size=9, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=8)
        ).eval()(torch.ones(2, N, dtype=torch.long)),
        lambda: hf.AlbertModel(
            hf.AlbertConfig(vocab_size=9, embedding_size=8, hidden_size=8, num_attention_heads=2, intermediate_size=8)
        ).eval()(torch.ones(2, N, dtype=torch.long)),
    ],
)  # fmt: skip
def test_of_programs_that_tell_there_is_nothing_to_say(program):
    assert notes(program) == []


def test_sequences_that_are_known_are_not_doubted():
    class Own(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.words = torch.nn.Embedding(256, 8)

        def forward(self, words):
            return attend(self.words(words))

    class Bytes:
        def encode(self, text):
            return list(text.encode())

        def decode(self, ids):
            return bytes(ids).decode()

    assert "notes" not in jumok.capture(Own(), ["cat", "dog"], Bytes()).source.details


def test_beams_that_change_places_are_listed_and_not_guessed():
    config = hf.LlamaConfig(
        vocab_size=50,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=64,
    )
    model, ids = hf.LlamaForCausalLM(config).eval(), torch.tensor([[5, 6, 7]])
    options = {"max_new_tokens": 6, "min_new_tokens": 6, "pad_token_id": 0, "eos_token_id": None}
    for n_beams in (1, 3):
        with torch.no_grad(), jumok.capture() as reading:
            model.generate(input_ids=ids, num_beams=n_beams, do_sample=n_beams > 1, **options)
        assert len(reading.readings) == n_beams
        assert all(layer.n_queries == layer.n_keys for one in reading.readings for layer in one)
        assert ["beam search" in one.why for one in reading.seen] == [True, True] * (n_beams > 1)
