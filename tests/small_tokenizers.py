"""A small tokenizer of every family, made here: word pieces, bytes, Unigram, letters."""

from __future__ import annotations

import tokenizers as hf
import transformers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

TEXTS = ["The cat sat on the mat because it was tired.", "은행에 갔다", "a cat 👍"]


def word_pieces():
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "the",
        "cat",
        "sat",
        "on",
        "mat",
        "be",
        "##cause",
        "it",
        "was",
        "tired",
        ".",
    ]
    made = hf.Tokenizer(models.WordPiece({word: at for at, word in enumerate(words)}, unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return made


def byte_level():
    made = hf.Tokenizer(models.BPE())
    made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    made.post_processor = processors.ByteLevel(trim_offsets=True)
    made.train_from_iterator(
        TEXTS[:1] * 5,
        trainers.BpeTrainer(
            vocab_size=300,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            special_tokens=["<|end|>"],
            show_progress=False,
        ),
    )
    return made


def unigram():
    made = hf.Tokenizer(models.Unigram())
    made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    made.train_from_iterator(
        TEXTS * 5,
        trainers.UnigramTrainer(vocab_size=60, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False),
    )
    return made


def letters():
    known = ["[UNK]", *sorted(set("".join(TEXTS)))]
    made = hf.Tokenizer(models.WordLevel({letter: at for at, letter in enumerate(known)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    return made


def of_transformers(made, **marks):
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, **marks)


class Plain:
    """Anything with encode and decode."""

    def __init__(self, letters):
        self.letters = letters

    def encode(self, text):
        return [self.letters.index(letter) for letter in text]

    def decode(self, ids):
        return "".join(self.letters[one] for one in ids)
