"""Tiny models with random weights in folders, as people have them, with a tokenizer; and sentences in their words."""

from __future__ import annotations

import random

import torch
import transformers as hf

from small_tokenizers import of_transformers, word_pieces

WORDS = ["the", "cat", "sat", "on", "the", "mat", "be", "it", "was", "tired"]
MARKS = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}


def tokenizer():
    return of_transformers(word_pieces(), **MARKS)


def encoder(layers=2, heads=2):
    torch.manual_seed(0)
    config = hf.BertConfig(
        vocab_size=15, hidden_size=8 * heads, num_hidden_layers=layers, num_attention_heads=heads, intermediate_size=16,
        max_position_embeddings=48,
    )  # fmt: skip
    return hf.BertModel(config).eval()


def llama_config(layers=2, heads=4, kv_heads=2):
    return hf.LlamaConfig(
        vocab_size=15, hidden_size=8 * heads, num_hidden_layers=layers, num_attention_heads=heads,
        num_key_value_heads=kv_heads, intermediate_size=16, max_position_embeddings=64,
    )  # fmt: skip


def decoder(layers=2, heads=4, kv_heads=2):
    torch.manual_seed(0)
    return hf.LlamaModel(llama_config(layers, heads, kv_heads)).eval()


def generator():
    """A decoder with what makes logits."""
    torch.manual_seed(0)
    return hf.LlamaForCausalLM(llama_config()).eval()


def folder_of(model, path):
    model.save_pretrained(path)
    tokenizer().save_pretrained(path)
    return path


def sentences(n, seed=0, least=3, most=24):
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(least, most))) for _ in range(n)]


CONLLU_HEADS = [2, 3, 0, 6, 6, 3]
CONLLU_WORDS = [("the", "DET", "det"), ("cat", "NOUN", "nsubj"), ("sat", "VERB", "root"), ("on", "ADP", "case"),
                ("the", "DET", "det"), ("mat", "NOUN", "obl")]  # fmt: skip


def conllu(n):
    """The same annotated sentence, n times."""
    rows = [
        "\t".join([str(at), form, form, tag, "_", "_", str(head), how, "_", "_"])
        for at, ((form, tag, how), head) in enumerate(zip(CONLLU_WORDS, CONLLU_HEADS, strict=True), 1)
    ]
    return "".join(f"# sent_id = s{at}\n" + "\n".join(rows) + "\n\n" for at in range(n))
