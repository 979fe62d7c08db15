"""A model whose files do not hold all of its weights is refused, whatever is missing; only a task's head may be."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import torch
import transformers as hf
from safetensors.torch import load_file, save_file

import jumok
from jumok.errors import InputError
from jumok.sources.capture.models import load_model
from small_tokenizers import of_transformers, word_pieces

MARKS = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}


@pytest.fixture(autouse=True)
def _quiet():
    hf.logging.set_verbosity_error()
    hf.utils.logging.disable_progress_bar()


def saved(tmp_path, kind):
    torch.manual_seed(0)
    config = hf.BertConfig(
        vocab_size=15, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48
    )
    kind(config).save_pretrained(tmp_path)
    of_transformers(word_pieces(), **MARKS).save_pretrained(tmp_path)
    return tmp_path


def changed(folder, **changes):
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def without(folder, pattern):
    file = folder / "model.safetensors"
    save_file(
        {name: one for name, one in load_file(file).items() if not re.search(pattern, name)}, file, {"format": "pt"}
    )


@pytest.mark.parametrize("kind", [hf.BertModel, hf.BertForMaskedLM])
def test_a_layer_that_the_files_lack_is_refused(tmp_path, kind):
    changed(saved(tmp_path, kind), num_hidden_layers=3)
    with pytest.raises(InputError, match=r"lack weights.*random: (bert\.)?encoder\.layer\.2\..*\(16\)") as told:
        load_model(tmp_path)
    assert "난수로 채워지므로" in told.value.ko
    assert "encoder.layer.2." in told.value.ko


def test_one_weight_that_the_files_lack_is_refused(tmp_path):
    without(saved(tmp_path, hf.BertModel), r"layer\.1\.attention\.self\.query\.weight")
    with pytest.raises(InputError, match=r"random: encoder\.layer\.1\.attention\.self\.query\.weight\. Copy"):
        load_model(tmp_path)


def test_layers_that_the_config_leaves_out_are_refused(tmp_path):
    changed(saved(tmp_path, hf.BertForMaskedLM), num_hidden_layers=1)
    with pytest.raises(InputError, match=r"more layers than the config says.*encoder\.layer\.1\."):
        load_model(tmp_path)


def test_weights_of_another_shape_are_refused(tmp_path):
    changed(saved(tmp_path, hf.BertModel), intermediate_size=40)
    with pytest.raises(
        InputError,
        match=r"file ≠ config\): encoder\.layer\.0\.intermediate\.dense\.bias \(48,\) ≠ \(40,\), .*weight \(48, 32\) ≠ \(40, 32\)",
    ) as told:
        load_model(tmp_path)
    assert "가중치의 모양이 설정과 다릅니다" in told.value.ko


@pytest.mark.parametrize("pattern", [r"^cls\.", r"pooler"])
def test_without_a_tasks_head_the_body_is_read_and_that_is_said(tmp_path, pattern):
    kind = hf.BertForMaskedLM if pattern == r"^cls\." else hf.BertForSequenceClassification
    whole = jumok.capture(saved(tmp_path, kind), "the cat")
    without(tmp_path, pattern)
    reading = jumok.capture(tmp_path, "the cat")
    assert all(np.array_equal(a.weights, b.weights) for a, b in zip(reading, whole, strict=True))
    assert reading.cut(0, 0).kind == "vectors"
    [note] = reading.source.details["notes"]
    assert pattern.strip("^\\.") in note["en"]
    assert "머리 부분" in note["ko"]
    assert "notes" not in whole.source.details


def test_a_head_that_nobody_asked_for_is_nothing_to_say(tmp_path):
    changed(saved(tmp_path, hf.BertForMaskedLM), architectures=["BertModel"])
    model, _, notes = load_model(tmp_path)
    assert (type(model).__name__, len(notes)) == ("BertModel", 1)  # its pooler is not in the files


def test_tied_weights_are_there(tmp_path):
    config = hf.GPT2Config(vocab_size=15, n_embd=8, n_layer=1, n_head=2)
    hf.GPT2LMHeadModel(config).save_pretrained(tmp_path)
    assert load_model(tmp_path).notes == ()
    assert type(load_model(tmp_path).model).__name__ == "GPT2LMHeadModel"
