"""jumok capture, and compare --model: what is printed and written, every option, both languages, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
import transformers as hf

import jumok
from interrupted import interrupted
from real_weights import demo as demo
from real_weights import smollm2 as smollm2
from small_tokenizers import byte_level, of_transformers, word_pieces
from test_cli import CONTROL, LANGS, hangul, run
from test_cli import at_home as at_home

CAT = "The cat sat on the mat because it was tired."
SOFT = CAT.replace("tired", "soft")
MARKS = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
SPELLINGS = ("Ġ", "▁", "�")


@pytest.fixture(scope="module", autouse=True)
def _few_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """A tiny folder of an encoder that knows fifteen words."""
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("models") / "encoder"
    hf.BertModel(
        hf.BertConfig(
            vocab_size=15, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
            max_position_embeddings=16,
        )
    ).save_pretrained(path)  # fmt: skip
    of_transformers(word_pieces(), **MARKS).save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def decoder(tmp_path_factory):
    """A tiny folder of a decoder that reads bytes."""
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("models") / "decoder"
    hf.LlamaForCausalLM(
        hf.LlamaConfig(
            vocab_size=300, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
            intermediate_size=48, max_position_embeddings=64,
        )
    ).save_pretrained(path)  # fmt: skip
    of_transformers(byte_level(), unk_token="<|end|>").save_pretrained(path)
    return path


def one_line(text):
    return " ".join(text.split())


# capture ------------------------------------------------------------------------------------------


def test_what_was_read_is_said_first(encoder):
    said = one_line(run("capture", CAT, "--model", encoder).text)
    assert said.startswith("Model: encoder 2 layers × 4 heads (4 key/value), d_head 8, 14 tokens")
    assert "read from transformers' attention functions · mask: none (every token may read every token)" in said
    assert "the mixed values are the model's own to" in said
    assert "Kept: 0.0108 MB (q, k and v)." in said
    assert "[CLS] the cat sat on the mat be ##cause it was tired . [SEP]" not in said
    assert "[CLS] the cat sat on the mat" in said


@pytest.mark.parametrize("lang", LANGS)
def test_both_languages(encoder, lang):
    text = run("capture", CAT, "--model", encoder, "--cut", "1.2:it>cat", "--lang", lang).text
    assert hangul(text) == (lang == "ko")
    assert not CONTROL.search(text)


def test_hangul_in_bytes_is_shown_as_characters(decoder):
    text = run("capture", "a cat 은행 👍", "--model", decoder).text
    assert "행(1/3)" in text
    assert not any(mark in text for mark in SPELLINGS)


@pytest.mark.parametrize("lang", LANGS)
def test_a_text_that_the_vocabulary_does_not_know_is_said_before_all(encoder, lang):
    text = run("capture", "the 은행 cat", "--model", encoder, "--lang", lang).text
    first = one_line(text.split("Model:" if lang == "en" else "모델: encoder")[0])
    assert first.startswith("! ")
    assert "33.3%" in first
    assert "SmolLM2" in first
    assert "! " not in run("capture", "the cat", "--model", encoder, "--lang", lang).text


def test_the_sink_is_set_apart(encoder):
    text = one_line(run("capture", CAT, "--model", encoder).text)
    reading = jumok.capture(encoder, CAT)
    mean = np.mean([layer.weights[:, :, 0].mean() for layer in reading])
    assert f"The first token '[CLS]' takes {100 * mean:.1f}% of all weight" in text
    shown = text.split("Strongest arrows")[1]
    assert "→ [CLS]" not in shown
    assert "→ [SEP]" not in shown


def test_arrows_of_one_head(encoder):
    text = run("capture", CAT, "--model", encoder, "--layer", "1", "--head", "2").text
    arrows = [line.split() for line in text.splitlines() if line.strip().startswith("- L")]
    assert {line[1] for line in arrows} == {"L1H2"}
    weights = jumok.capture(encoder, CAT)[1].weights[2][1:, 1:]
    assert float(arrows[0][-1]) == pytest.approx(weights.max(), abs=5e-4)


@pytest.mark.parametrize(
    ("cut", "said"),
    [("1.2:it>cat", "of 'it' on cat."), ("1.2:cat", "the whole row of cat."), ("1.2", "Cut: head 2 of layer 1"), ("0.1:the#2>3", "on sat.")],
)  # fmt: skip
def test_a_cut_is_shown_beside_the_weight(encoder, cut, said):
    text = one_line(run("capture", CAT, "--model", encoder, "--cut", cut).text)
    assert said in text
    assert "moves most" in text


@pytest.mark.parametrize("cut", ["L1H2:it>cat", "l1h2: it -> cat", " 1.2 : it → cat ", "1.2:it->cat"])
def test_a_cut_may_be_written_as_pages_write_heads_and_arrows(encoder, cut):
    said = [run("capture", CAT, "--model", encoder, "--cut", one, "--json").text for one in ("1.2:it>cat", cut)]
    assert said[0] == said[1]


def test_a_cut_of_a_decoder_tells_what_follows(decoder):
    text = one_line(run("capture", "a cat", "--model", decoder, "--cut", "1.2:cat", "--lang", "ko").text)
    assert "다음에 올 토큰" in text
    assert not any(mark in text for mark in SPELLINGS)


def test_renormalised(encoder):
    text = one_line(run("capture", CAT, "--model", encoder, "--cut", "1.2:it>cat", "--renormalise").text)
    assert "shared out anew" in text


def test_json_has_every_digit(encoder):
    plain = json.loads(run("capture", CAT, "--model", encoder, "--json", "--cut", "1.2:it>cat").text)
    assert (plain["format"], plain["version"]) == ("jumok-capture", 1)
    assert len(plain["heads"]) == 8
    assert [cut["at"] for cut in plain["cuts"]] == [[9, 2]]
    assert plain["cuts"][0]["weight"] == pytest.approx(jumok.capture(encoder, CAT)[1].weights[2, 9, 2], abs=1e-6)
    assert plain["unreadable"] is None


def test_layers_and_form(encoder):
    text = one_line(run("capture", CAT, "--model", encoder, "--layers", "1", "--dtype", "bfloat16").text)
    assert "1 layer × 4 heads" in text


@pytest.mark.parametrize("lang", LANGS)
def test_a_page_that_would_be_too_large_is_refused_before_anything_is_made_for_it(encoder, tmp_path, lang, monkeypatch):
    monkeypatch.setattr("jumok.picture.packed.SIZE_LIMIT", 1000)
    monkeypatch.setattr("jumok.cli_capture._strongest_cuts", lambda *_: pytest.fail("cuts were made"))
    done = run("capture", CAT, "--model", encoder, "-o", "a.html", "--lang", lang)
    assert done.code == 2
    assert all(part in done.err for part in ("--layers 0-5", "jumok serve", "-o FILE.safetensors"))
    assert hangul(done.err) or lang == "en"
    assert not (tmp_path / "a.html").exists()


@pytest.mark.parametrize("suffix", ["safetensors", "json", "html", "svg", "md", "csv"])
def test_files(encoder, suffix, tmp_path):
    done = run("capture", CAT, "--model", encoder, "-o", f"a.{suffix}")
    assert done.code == 0, done.err
    assert done.err == f"written: a.{suffix}\n"
    assert (tmp_path / f"a.{suffix}").stat().st_size > 200


def test_a_saved_reading_is_read_again(decoder):
    assert run("capture", "a cat 은행", "--model", decoder, "-o", "a.safetensors").code == 0
    for arguments in (["explain", "a.safetensors", "cat", "--layer", "1"], ["draw", "a.safetensors"], ["attend", "a.safetensors", "--layer", "0"]):  # fmt: skip
        assert run(*arguments).text
    said = run("explain", "a.safetensors", "cat", "--layer", "1").text
    assert "what cat is" in said
    assert not any(mark in said for mark in SPELLINGS)


def test_an_explanation_of_many_heads_tells_one_and_how_to_see_others(decoder):
    assert run("capture", "a cat sat", "--model", decoder, "-o", "a.safetensors").code == 0
    short, long = (run("explain", "a.safetensors", "sat", *more).text for more in ([], ["--all-heads"]))
    assert "Of 8 heads, head" in one_line(short)
    assert len(short.splitlines()) < 150 < len(long.splitlines())
    said = one_line(run("explain", "a.safetensors", "sat", "--layer", "1", "--head", "2", "--lang", "ko").text)
    assert "이 층의 헤드 4개 가운데 2번 헤드(0부터 셉니다)만 봅니다" in said
    assert (
        "head 2 of which layer? Give the layer as well (--layer"
        in run("explain", "a.safetensors", "--head", "2").message
    )
    assert "do not go together" in run("explain", "a.safetensors", "--head", "2", "--all-heads").message
    assert "--head expects whole numbers" in run("explain", "a.safetensors", "--head", "x").message


def test_a_page_has_the_cuts_that_were_asked_for_else_those_of_the_strongest_arrows(encoder, tmp_path):
    def cuts(*more):
        assert run("capture", CAT, "--model", encoder, "-o", "a.html", *more).code == 0
        text = (tmp_path / "a.html").read_text(encoding="utf-8")
        found = json.loads(text.split('id="jumok-model">')[1].split("</script>")[0])["cuts"]
        return [(one["layer"], one["head"], one["query"], one["key"]) for one in found]

    assert cuts("--cut", "1.2:it>cat", "--cut", "0.3", "--cut", "1.0:#4") == [
        (1, 2, 9, 2),
        (0, 3, None, None),
        (1, 0, 4, None),
    ]
    text = run("capture", CAT, "--model", encoder).text.split("Strongest arrows")[1]
    shown = [line.split()[1] for line in text.splitlines() if line.strip().startswith("- L")]
    assert [f"L{layer}H{head}" for layer, head, _, _ in cuts()] == shown[:3]


def test_a_page_of_a_slow_model_has_fewer_cuts(encoder, tmp_path, monkeypatch):
    for name, n in (("LONG_S", 1), ("VERY_LONG_S", 0)):
        monkeypatch.setattr(f"jumok.cli_capture.{name}", 0.0)
        assert run("capture", CAT, "--model", encoder, "-o", "a.html").code == 0
        text = (tmp_path / "a.html").read_text(encoding="utf-8")
        assert len(json.loads(text.split('id="jumok-model">')[1].split("</script>")[0])["cuts"]) == n


# compare ------------------------------------------------------------------------------------------


def test_two_texts_under_one_model_beside_neutral_edits(encoder):
    text = one_line(run("compare", "--model", encoder, CAT, CAT.replace("tired", "sat"), "--token", "it").text)
    assert "tired ↔ sat" in text
    assert "Heads whose row of 'it' changed most" in text
    assert "should not matter (7 used):" in text
    assert "- same sense: The cat sat on the mat since it was tired." in text
    assert "- opening word: Well, the cat sat on the mat because it was tired." in text
    assert "moved further than any of these edits" in text


def test_neutral_edits_of_ones_own(encoder):
    text = one_line(run("compare", "--model", encoder, CAT, SOFT, "--neutral", "the cat sat", "--neutral", CAT).text)
    assert "- the cat sat - The cat sat on the mat because it was tired." in text


def test_a_neutral_edit_that_is_the_same_has_no_distance(encoder):
    plain = json.loads(
        run("compare", "--model", encoder, CAT, CAT.replace("tired", "sat"), "--neutral", CAT, "--json").text
    )
    assert {one["floor"] for one in plain["shifts"]} == {0.0}
    assert plain["neutral"] == [{"kind": "own", "text": CAT, "used": True}]


@pytest.mark.parametrize("lang", LANGS)
def test_edits_that_leave_no_such_token_are_told_and_not_counted(encoder, lang):
    texts = CAT, CAT.replace("tired", "sat")
    more = ("--token", "it", "--neutral", CAT, "--neutral", "the cat", "--lang", lang)
    text = one_line(run("compare", "--model", encoder, *texts, *more).text)
    assert ("(1 used)" if lang == "en" else "(쓴 것 1개)") in text
    assert ("- the cat (leaves no such token" if lang == "en" else "- the cat (이 토큰이 남지 않아") in text


@pytest.mark.parametrize(
    ("lang", "said"), [("en", "exactly the same in both texts, in all 8 heads"), ("ko", "헤드 8개 모두에서 똑같습니다")]
)
def test_a_causal_row_before_the_difference_is_told_as_such(decoder, lang, said):
    text = one_line(run("compare", "--model", decoder, "a cat sat", "a cat tat", "--token", "cat", "--lang", lang).text)
    assert said in text


def test_a_page_of_both(encoder, tmp_path):
    done = run("compare", "--model", encoder, CAT, CAT.replace("tired", "sat"), "-o", "both.html")
    assert done.code == 0, done.err
    assert (tmp_path / "both.html").stat().st_size > 10_000


# the default model --------------------------------------------------------------------------------


def test_the_default_model_reads_english(demo):
    text = one_line(run("capture", CAT, "--cut", "3.1:it>cat").text)
    assert "all-MiniLM-L6-v2 (demo) 6 layers × 12 heads" in text
    assert "the weight 0.492 of 'it' on cat" in text


def test_the_default_model_says_that_it_cannot_read_hangul(demo):
    assert run("capture", "은행", "--lang", "ko").text.startswith("! 이 모델의 어휘에는 한글 음절이 없어서")


def test_the_pronoun_of_the_encoder_stands_above_the_noise(demo):
    plain = json.loads(run("compare", "--model", "demo", CAT, SOFT, "--token", "it", "--json").text)
    place = next(at for at, one in enumerate(plain["shifts"]) if (one["layer"], one["head"]) == (3, 1))
    assert place < 3
    assert plain["shifts"][place]["distance"] > 2 * plain["shifts"][place]["floor"]


def test_the_pronoun_of_the_decoder_cannot_change(smollm2):
    text = one_line(run("compare", "--model", smollm2, CAT[:-1], SOFT[:-1], "--token", "it").text)
    assert "exactly the same in both texts, in all 270 heads" in text
    assert "--token tired" in text


# refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["capture"], "TEXT is missing"),
        (["capture", ""], "a text that is not empty"),
        (["capture", "a " * 20], "has 42 tokens, but the context of this model is 16|has 22 tokens, but the context of this model is 16"),
        (["capture", "a", "--model", "./nowhere"], "there is no folder './nowhere'"),
        (["capture", "a", "--layers", "9"], r"layers expects some of 0 to 1, got \[9\]"),
        (["capture", "a", "--layers", "3-1"], "the smaller number first"),
        *((["capture", "a", "--layers", some], "--layers expects 0-5 or 0,3,5.*got '") for some in ("x", "", "-1", "0-", "9" * 20, "0-1000000000")),
        (["capture", "a", "--layers", "0-5"], r"layers expects some of 0 to 1, got \[0, 1, 2, 3, 4, 5\]\. Layers of attention in this model: 2"),
        (["capture", "a", "--layers", "1", "--layer", "0"], r"--layer expects a layer that was kept \(1\), got 0"),
        (["capture", "a", "--layers", "1", "--cut", "0.0"], r"--cut: the layer expects a layer that was kept \(1\), got 0"),
        (["capture", "a", "--layer", "2"], "--layer expects 0 to 1, got 2"),
        (["capture", "a", "--head", "4"], "--head expects 0 to 3, got 4"),
        (["capture", "a", "--dtype", "int8"], "unknown value of --dtype"),
        (["capture", "a", "--cut", "1"], "--cut expects LAYER.HEAD"),
        (["capture", "a", "--cut", "5.0"], "--cut: the layer expects 0 to 1, got 5"),
        (["capture", "a", "--cut", "0.9"], "--cut: the head expects 0 to 3, got 9"),
        (["capture", "a", "--renormalise"], "--renormalise goes with --cut of one weight"),
        (["capture", "a", "--cut", "0.1", "--renormalise"], r"--renormalise goes with --cut of one weight.*and 0\.1 is not one"),
        (["capture", "a", "--reading", "cross"], "unknown reading 'cross'"),
        (["capture", "a", "--cut", "0.0:dog"], "unknown token 'dog'"),
        (["capture", "a", "--target", "b"], "target is for encoder-decoder"),
        (["capture", "a", "-o", "a.pdf"], r"the file's name says how to write: \.safetensors"),
        (["capture", "a", "-o", "nowhere/a.json"], "nowhere"),
        (["compare", "a", "b", "--token", "it"], "add --model"),
        (["capture", "x\udcffy"], "half of one"),
        (["capture", "a", "--model", ""], "model expects .* got ''"),
        (["compare", CAT, "a", "--token", "dog"], "unknown token 'dog'"),
        (["compare", CAT, "x\udcffy"], "half of one"),
        (["compare", CAT, "a", "--neutral", "x\udcffy"], "half of one"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(encoder, arguments, said):
    import re

    needs_model = "--model" not in arguments and arguments[1:] and arguments[1:3] != ["a", "b"]
    message = run(*arguments, *(["--model", str(encoder)] if needs_model else [])).message
    assert re.search(said, message)


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("text", ["", "   ", "\n\t　"])
def test_a_text_of_spaces_alone_is_refused_as_an_empty_one_before_a_model_is_looked_for(text, lang):
    done = run("capture", text, "--model", "no-such-model", "--lang", lang)
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert ("비어 있지 않은 글" if lang == "ko" else "expects a text that is not empty") in done.err
    assert "no-such-model" not in done.err


@pytest.mark.parametrize(
    ("cut", "said"),
    [
        ("5.0", "--cut: the layer expects 0 to 1, got 5"), ("0.9", "--cut: the head expects 0 to 3, got 9"),
        ("0.0:dog", "unknown token 'dog'"), ("0.0:it>dog", "unknown token 'dog'"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("model", ["encoder", "decoder"])
def test_a_cut_that_cannot_be_is_refused_before_the_model_is_loaded(request, model, cut, said, monkeypatch):
    folder = request.getfixturevalue(model)
    monkeypatch.setattr("jumok.sources.capture.models.load_model", lambda *_: pytest.fail("the model was loaded"))
    text = CAT if model == "encoder" else "it"
    done = run("capture", text, "--model", folder, "--cut", cut)
    assert done.code == 2
    assert said in done.message


@pytest.mark.parametrize("lang", LANGS)
def test_two_texts_without_a_model_are_told_to_take_one(lang):
    message = run("compare", CAT, SOFT, "--lang", lang).message
    assert "--model demo" in message
    assert hangul(message) == (lang == "ko")
    assert len(message) < 300


# several readings -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_sides(tmp_path_factory):
    """A tiny folder of an encoder with a decoder."""
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("models") / "t5"
    hf.T5ForConditionalGeneration(
        hf.T5Config(
            vocab_size=15, d_model=16, d_kv=8, d_ff=16, num_layers=2, num_heads=2, decoder_start_token_id=0, pad_token_id=0,
            eos_token_id=3,
        )
    ).save_pretrained(path)  # fmt: skip
    of_transformers(word_pieces(), **MARKS).save_pretrained(path)
    return path


def test_each_reading_can_be_printed_cut_and_written(two_sides, tmp_path):
    given = ("capture", "the cat sat", "--model", two_sides, "--target", "it was", "-o")
    shown = run(*given, tmp_path / "a.safetensors")
    assert "This is the reading 'encoder'" in one_line(shown.out)
    assert "decoder (2 × 5), cross (2 × 5)" in one_line(shown.out)
    assert "this is the reading 'encoder'; the others: --reading decoder, cross" in shown.err
    shown = run(*given, tmp_path / "b.safetensors", "--reading", "cross", "--cut", "1.1:it>cat")
    assert "This is the reading 'cross'" in one_line(shown.out)
    assert "of 'it' on cat" in one_line(shown.out)
    first, second = (jumok.load(tmp_path / f"{name}.safetensors") for name in "ab")
    assert [first.source.details["side"], second.source.details["side"]] == ["encoder", "cross"]
    assert second[0].key_tokens is not None
    told = json.loads(
        run("capture", "the cat", "--model", two_sides, "--target", "it", "--reading", "1", "--json").text
    )
    assert (told["reading"], told["readings"]) == ("decoder", ["encoder", "decoder", "cross"])


def test_layers_keep_their_numbers(encoder, tmp_path):
    shown = run("capture", CAT, "--model", encoder, "--layers", "1", "--cut", "1.2:it>cat", "-o", tmp_path / "a.html")
    assert "L0H" not in shown.out
    assert "Cut in layer 1, head 2" in one_line(shown.out)
    assert "L1H2" in run("capture", CAT, "--model", encoder, "--layers", "1", "--head", "2").text


def test_pickled_weights_and_code_are_refused(encoder, tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "config.json").write_text((encoder / "config.json").read_text())
    (tmp_path / "m" / "pytorch_model.bin").write_bytes(b"")
    assert "only there as a pickle" in run("capture", "a", "--model", "m").message
    (tmp_path / "m" / "config.json").write_text(
        json.dumps({"architectures": ["Own"], "auto_map": {"AutoModel": "own.Own"}})
    )
    assert "which jumok never runs" in run("capture", "a", "--model", "m").message


# a terminal while it waits ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("when", "text"),
    [("모델을 불러 글을 읽습니다", ["capture"]), ("달라질 것이 없게", ["compare", "cat dog sat", "dog cat sat"])],
)
def test_a_terminal_says_what_it_waits_for_and_ctrl_c_ends_it(encoder, when, text):
    words = ["cat dog sat"] if text == ["capture"] else []
    code, screen = interrupted("jumok.verbs:capture", 1, "--lang", "ko", *text, *words, "--model", str(encoder))
    assert code == 130, screen
    assert when in screen
    assert "Traceback" not in screen


def test_a_pipe_hears_nothing_of_it(encoder):
    done = run("capture", "cat dog sat", "--model", str(encoder), "-o", "x.html", "--lang", "en")
    assert done.code == 0
    assert "loaded" not in done.out + done.err
