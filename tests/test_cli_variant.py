"""jumok explain --variant: flash and linear attention told in the terminal, in files, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len

import jumok
from jumok.explanation.variants import explain_flash
from test_cli import CONTROL, LANGS, ODD, hangul, run
from test_cli import at_home as at_home


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize(
    ("name", "variant"), [("student", "flash"), ("student", "linear"), ("minilm-tired", "flash"), ("it-soft", "linear")]
)
def test_a_row_is_told_within_80_columns(name, variant, lang, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = run("explain", name, "--variant", variant, "--lang", lang).text
    assert hangul(text) == (lang == "ko")
    assert max(map(cell_len, text.splitlines())) <= 80
    assert ("log-sum-exp" in text) == (variant == "flash")


def test_the_example_s_own_token_is_told_where_none_is_asked_for():
    told = run("explain", "student", "--variant", "flash").text
    assert told == run("explain", "student", "studies", "--variant", "flash", "--tile", "2", "--head", "0").text
    assert "3.314 is larger than 2.303" in " ".join(told.split())
    both = run("explain", "student", "The", "--token", "studies", "--variant", "flash").text
    assert both.count("Flash attention: the row of") == 2
    assert run("explain", "student", "--all", "--variant", "flash").text.count("attention: the row of") == 5


def test_the_options_reach_it():
    plain = json.loads(
        run("explain", "it-soft", "it", "--variant", "flash", "--tile", "3", "--layer", "0", "--json").text
    )
    tiles = [fact["data"] for fact in plain[0]["facts"] if "at" in fact["data"]]
    assert [len(tile["keys"]) for tile in tiles] == [3, 3, 3, 1]
    reading = jumok.attend(jumok.load("it-soft"))
    own = explain_flash(reading[0], "it", tile=3, layer=0)
    assert plain == [own.to_json()]
    assert "Layer 0 · Flash" in run("explain", "it-soft", "--variant", "flash", "--layer", "0").text
    assert "Layer 1 · Flash" in run("explain", "it-soft", "--variant", "flash").text
    masked = run("explain", "student", "The", "--variant", "flash", "--mask", "causal").text
    assert "may read none of them, so nothing changes." in " ".join(masked.split())
    only = run("explain", "student", "studies", "--variant", "linear", "--mask", "causal").text
    every = run("explain", "student", "--variant", "linear", "--mask", "causal").text
    assert (only.count("now z ="), every.count("now z =")) == (1, 5)


@pytest.mark.parametrize("lang", LANGS)
def test_linear_attention_says_how_much_was_read_before_a_token_reads(lang):
    told = " ".join(run("explain", "student", "studies", "--variant", "linear", "--lang", lang).text.split())
    after = {
        "en": "studies: after all 5 tokens that may be read, z = (",
        "ko": "볼 수 있는 토큰 5개를 모두 읽은 뒤 z = (",
    }[lang]
    assert after in told
    causal = " ".join(
        run("explain", "student", "studies", "--variant", "linear", "--mask", "causal", "--lang", lang).text.split()
    )
    assert {"en": "studies: now z = (", "ko": "studies: 이제 z = ("}[lang] in causal


def test_it_is_written_in_files():
    for suffix in ("txt", "md", "json"):
        done = run("explain", "student", "--variant", "flash", "-o", f"a.{suffix}")
        assert (done.code, done.out) == (0, "")
        assert "2.303" in Path(f"a.{suffix}").read_text(encoding="utf-8")
    assert Path("a.md").read_text().startswith("# studies\n\n## 1. Flash attention")


def test_odd_tokens_obey_no_terminal():
    one = [[float(at)] for at in range(len(ODD))]
    jumok.attend(q=[one], k=[one], v=[one], tokens=list(ODD.values())).save("odd.safetensors")
    for variant in ("flash", "linear"):
        text = run("explain", "odd.safetensors", "--all", "--variant", variant, "--lang", "ko").text
        assert not CONTROL.search(text.replace("\n", ""))


def test_a_long_row_is_told_in_eight_tiles():
    n = 1000
    one = [[float(at % 7)] for at in range(n)]
    jumok.attend(q=[one], k=[one], v=[one], tokens=[f"t{at}" for at in range(n)]).save("long.safetensors")
    text = " ".join(run("explain", "long.safetensors", "999", "--variant", "flash").text.split())
    assert "Tile 1 (128 keys, t0 to t127): scores (0, 5, 10, 15, 20, 25, 30, 0, …)" in text
    assert "Tile 8 (104 keys, t896 to t999)" in text


@pytest.mark.parametrize(
    ("arguments", "en", "ko"),
    [
        (["--variant", "flsh"], "unknown variant 'flsh'", "알 수 없는 변형 'flsh'"),
        (["--variant", "window"], "jumok cost --variants window", "jumok cost --variants window"),
        (["--tile", "2"], "--tile is for flash attention: --variant flash", "플래시 어텐션에만"),
        (["--variant", "linear", "--tile", "2"], "--tile is for flash attention", "플래시 어텐션에만"),
        (["--variant", "flash", "--tile", "0"], "--tile expects 1 or more, got 0", "--tile에는 1 이상"),
        (["--variant", "flash", "--tile", "-1"], "--tile expects whole numbers", "정수가 필요한데"),
        (["--variant", "flash", "--tile", "two"], "--tile expects whole numbers", "정수가 필요한데"),
        (["--variant", "flash", "--head", "1"], "head expects a position from 0 to 0, got 1", "0부터 0까지"),
        (["--variant", "flash", "--layer", "3"], "--layer expects", "--layer에는"),
        (["--variant", "flash", "nobody"], "unknown token 'nobody'", "알 수 없는 토큰"),
        (["--variant", "flash", "--all-heads"], "--variant tells one row of one head", "함께 쓸 수 없습니다"),
        (["--variant", "flash", "--gradient"], "does not go together with --gradient", "--gradient와(과)"),
        (["--variant", "linear", "--mask", "window:1"], "has 'window'. Try --variant flash", "--variant flash를 쓰십시오"),
        (["--variant", "flash", "-o", "a.html"], "jumok draw student --variant flash -o a.html", "-o a.html"),
        (["--variant", "flash", "-o", "a.csv"], "the file's name says how to write: .txt, .md, .json", "형식을 정합니다"),
    ],
)  # fmt: skip
def test_it_is_refused(arguments, en, ko):
    assert en in run("explain", "student", *arguments, "--lang", "en").message
    message = run("explain", "student", *arguments, "--lang", "ko").message
    assert ko in message
    assert hangul(message)


@pytest.mark.parametrize("lang", LANGS)
def test_a_row_that_may_read_nothing_is_told(lang):
    one = np.ones((1, 3, 2))
    jumok.attend(q=one, k=one, v=one, tokens=list("abc"), rule=np.zeros((3, 3), bool)).save("none.safetensors")
    text = run("explain", "none.safetensors", "b", "--variant", "flash", "--lang", lang).text
    assert {
        "en": "b may read no key at all, so its row is 0.",
        "ko": "b가 볼 수 있는 키가 하나도 없으므로 그 행은 0입니다.",
    }[lang] in text


def test_a_tile_larger_than_the_row_is_the_whole_row():
    text = run("explain", "student", "--variant", "flash", "--tile", "99").text
    assert text.count("- Tile") == 1
    assert "read in tiles of 5" in " ".join(text.split())
