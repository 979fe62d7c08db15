"""Tiny models with random weights, captured so that their weights can be cut."""

from __future__ import annotations

from typing import Any

import torch
import transformers as hf

import jumok
from small_tokenizers import byte_level, of_transformers, word_pieces

MARKS = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}


def encoder(text: str = "The cat sat on the mat.", heads: int = 4) -> Any:
    """A reading of an encoder: a cut tells how far its output vectors move."""
    torch.manual_seed(0)
    sizes = {
        "vocab_size": 15,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": heads,
        "intermediate_size": 48,
    }
    model = hf.BertModel(hf.BertConfig(**sizes, max_position_embeddings=16)).eval()
    return jumok.capture(model, text, of_transformers(word_pieces(), **MARKS))


def decoder(text: str = "a cat") -> Any:
    """A reading of a decoder: a cut tells which tokens may follow."""
    torch.manual_seed(0)
    sizes = {
        "vocab_size": 300,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 48,
    }
    model = hf.LlamaForCausalLM(hf.LlamaConfig(**sizes, max_position_embeddings=64)).eval()
    return jumok.capture(model, text, of_transformers(byte_level(), unk_token="<|end|>"))


def classifier() -> Any:
    """A reading of a model with one output for all."""
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.out = layer, torch.nn.Linear(8, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.out(self.layer(x).mean(dim=1))

    return jumok.capture(Model().eval(), torch.randn(1, 4, 8))
