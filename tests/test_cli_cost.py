"""jumok cost: what is printed and written, a reading's heads, interruption, and what is refused before anything is measured."""

import csv
import importlib
import io
import json
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

import jumok
from interrupted import interrupted
from jumok.cli import COST_OPTIONS, COST_VARIANTS
from jumok.variants import cost_measured, machine
from jumok.variants.cost_kinds import KINDS
from test_cli import CONTROL, LANGS, hangul, run
from test_cli import at_home as at_home

SMALL = ("--n", "16:64", "--d", "4", "--heads", "1", "--window", "8")


@pytest.fixture(autouse=True)
def _small_peak(monkeypatch):
    monkeypatch.setattr(machine, "PEAK_N", 64)


@pytest.fixture(scope="module")
def measured():
    """What SMALL asks for, measured once for all ways to show it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "PEAK_N", 64)
        return jumok.cost(n=[16, 32, 64], d_head=4, n_heads=1, window=8)


@pytest.fixture
def known(measured, monkeypatch):
    """A command line with SMALL that need not measure again."""
    asked = []
    monkeypatch.setattr(
        importlib.import_module("jumok.variants.cost"), "cost", lambda **options: asked.append(options) or measured
    )
    yield
    assert [(one["n"], one["d_head"], one["n_heads"], one["window"]) for one in asked] == [([16, 32, 64], 4, 1, 8)]


def test_the_names_that_help_tells_are_those_that_there_are():
    assert tuple(KINDS) == COST_VARIANTS


@pytest.mark.parametrize("lang", LANGS)
def test_help_says_the_defaults_in_the_language_it_is_in(lang, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = run("cost", "--help", "--lang", lang).text
    assert text.count({"en": "[default:", "ko": "[기본값:"}[lang]) == sum(
        default is not None for _, default in COST_OPTIONS.values()
    )


# printed and written ------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.usefixtures("known")
def test_it_prints_tables_and_what_each_variant_does(lang, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = run("cost", *SMALL, "--lang", lang).text
    for word in ("full", "flash", "window", "sparse", "linear", "lowrank"):
        assert re.search(rf"^ +- {word}: ", text, re.MULTILINE)
    assert re.search(r"^ *64  ", text, re.MULTILINE)
    assert hangul(text) == (lang == "ko")
    assert not CONTROL.search(text)
    assert max(map(cell_len, text.splitlines())) <= 80


def test_every_option_reaches_the_measuring():
    plain = json.loads(
        run("cost", "--n", "16,24", "--d", "8", "--heads", "4", "--kv-heads", "2", "--variants", "flash,sparse:strided",
            "--mask", "none", "--window", "5", "--sink", "2", "--library", "torch", "--budget", "0", "--json").text
    )  # fmt: skip
    assert [row["n"] for row in plain["rows"]] == [16, 16, 24, 24]
    assert [row["variant"] for row in plain["rows"][:2]] == ["flash", "sparse:strided"]
    assert plain["sizes"]["d_head"] == 8
    assert (plain["sizes"]["n_heads"], plain["sizes"]["n_kv_heads"]) == (4, 2)
    assert plain["rule"] == "everything"
    assert (plain["settings"]["window"], plain["settings"]["n_sink"]) == (5, 2)
    assert plain["source"]["backend"].startswith("torch")
    assert not any(row["is_measured"] for row in plain["rows"])


def test_it_is_measured_where_there_is_a_budget():
    plain = json.loads(run("cost", *SMALL, "--variants", "full,window", "--json").text)
    assert [row["n"] for row in plain["rows"]] == [16, 16, 32, 32, 64, 64]
    assert all(row["is_measured"] and row["time_s"] > 0 for row in plain["rows"])


@pytest.mark.parametrize("suffix", [".html", ".svg", ".md", ".csv", ".json"])
@pytest.mark.usefixtures("known")
def test_it_is_written_in_every_form(suffix):
    done = run("cost", *SMALL, "-o", f"cost{suffix}", "--lang", "ko")
    assert (done.code, done.out) == (0, "")
    assert done.err == f"저장했습니다: cost{suffix}\n"
    text = Path(f"cost{suffix}").read_text(encoding="utf-8-sig")
    if suffix == ".csv":
        assert len(list(csv.DictReader(io.StringIO(text)))) == 18
    elif suffix == ".json":
        assert json.loads(text)["format"] == "jumok-cost"
    else:
        assert hangul(text)


# a reading's heads --------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", LANGS)
def test_heads_of_a_reading_are_named(lang):
    text = run("cost", "--reading", "minilm-tired", "--window", "4", "--lang", lang).text
    assert "0.2 (100.0%)" in text
    assert hangul(text) == (lang == "ko")
    plain = json.loads(run("cost", "--reading", "minilm-tired", "--window", "4", "--sink", "1", "--json").text)
    assert (plain["window"], plain["n_sink"], len(plain["heads"])) == (4, 1, 72)
    run("cost", "--reading", "minilm-tired", "-o", "heads.json")
    assert json.loads(Path("heads.json").read_text())["window"] == 256


# stopping -----------------------------------------------------------------------------------------


def test_ctrl_c_keeps_what_was_measured():
    code, out = interrupted(
        "jumok.variants.cost_measured:Bench._row",
        5,
        "cost",
        "--n",
        "16:4096",
        "--heads",
        "1",
        "--variants",
        "full,flash",
        "--budget",
        "300",
        "--lang",
        "en",
    )
    assert code == 130, out
    assert "stopped; what was not measured yet is predicted." in out
    assert re.search(r"^ *16  +[\d.]+ .s  ", out, re.MULTILINE), out
    assert "≈" in out
    assert "Traceback" not in out


# what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "en", "ko"),
    [
        (["--n", "0"], "--n expects numbers of tokens from 1 to 1,048,576, got '0'", "--n에는 1부터 1,048,576까지"),
        (["--n", "10:1"], "--n FROM:TO expects FROM ≤ TO, got '10:1'", "처음 ≤ 끝"),
        (["--n", "0:8"], "--n expects numbers of tokens from 1 to 1,048,576, got '0:8'", "1부터 1,048,576까지"),
        (["--n", "-5"], "--n expects numbers of tokens from 1", "1부터 1,048,576까지"),
        (["--n", "1:1" + 21 * "0"], "--n expects numbers of tokens from 1", "1부터 1,048,576까지"),
        (["--n", "many"], "--n expects numbers of tokens, 512:16384", "토큰 수를"),
        (["--n", "1:2,3"], "--n expects numbers of tokens", "토큰 수를"),
        (["--n", "512:99999999"], "from 1 to 1,048,576", "1,048,576까지"),
        (["--d", "0"], "--d expects a whole number, 1 or more; got '0'", "--d에는 1 이상의 정수"),
        (["--d", "-1"], "--d expects a whole number, 1 or more; got '-1'", "1 이상의 정수"),
        (["--d", "2,64"], "--d expects a whole number, 1 or more; got '2,64'", "1 이상의 정수"),
        (["--d", 20 * "9"], "--d expects at most 1,073,741,824, got", "1,073,741,824 이하의 수"),
        (["--kv-heads", "0"], "--kv-heads expects a whole number, 1 or more", "--kv-heads에는 1 이상"),
        (["--heads", "0"], "--heads expects a whole number, 1 or more", "--heads에는 1 이상의 정수"),
        (["--heads", "3", "--kv-heads", "2"], "3 query heads cannot share 2", "고르게"),
        (["--window", "-1"], "--window expects a whole number, 1 or more; got '-1'", "--window에는 1 이상의 정수"),
        (["--window", "0"], "--window expects a whole number, 1 or more; got '0'", "--window에는 1 이상의 정수"),
        (["--sink", "-2"], "--sink expects a whole number, 0 or more", "--sink에는 0 이상의 정수"),
        (["--variants", "full,flush"], "unknown variant 'flush'; known: full, flash", "알 수 없는 변형 'flush'"),
        (["--mask", "window:2"], "--mask expects causal or none here", "causal이나 none"),
        (["--device", "tpu"], "unknown device 'tpu'", "알 수 없는 장치"),
        (["--device", "cuda", "--library", "numpy"], "NumPy runs on cpu only", "cpu에서만"),
        (["--library", "jax"], "unknown library 'jax'", "알 수 없는 라이브러리"),
        (["--budget", "-1"], "--budget expects seconds, 0 or more; got '-1'", "--budget에는 0 이상의 초"),
        (["--budget", "soon"], "--budget expects a number", "수가 필요한데"),
        (["--budget", "nan"], "--budget expects seconds", "초가 필요한데"),
        (["--n", "1048576", "--heads", "5120"], "alone would take 5,497.6 GB", "5,497.6 GB가 필요한데"),
        (["-o", "cost.doc"], "the file's name says how to write: .html, .svg", "형식을 정합니다"),
        (["-o", "no/such/cost.html"], "cannot write no/such/cost.html", "쓸 수 없습니다"),
        (["-o", ""], "a file's name is needed", "파일 이름이 필요한데"),
        (["--reading", "nothing.safetensors"], "there is no such file", "그런 파일이 없습니다"),
        (
            ["--reading", "minilm-tired", "--window", "-4"],
            "--window expects a whole number, 1 or more",
            "1 이상의 정수",
        ),
        (
            ["--reading", "minilm-tired", "--n", "512:16384"],
            "where --n would change nothing",
            "--n 옵션은 소용이 없습니다",
        ),
        (
            ["--reading", "minilm-tired", "--kv-heads", "x", "--d", "64"],
            "where --d, --kv-heads would",
            "--d, --kv-heads 옵션은",
        ),
        (["--reading", "minilm-tired", "-o", "a.html"], "the file's name says how to write: .json", "형식을 정합니다"),
    ],
)
def test_it_is_refused_before_anything_is_measured(arguments, en, ko, monkeypatch):
    monkeypatch.setattr(cost_measured.Bench, "measure", None)
    assert en in run("cost", *arguments, "--lang", "en").message
    message = run("cost", *arguments, "--lang", "ko").message
    assert ko in message
    assert hangul(message)


def test_a_gpu_that_is_not_there_is_refused(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert "PyTorch finds no CUDA GPU here" in run("cost", "--device", "cuda", "--lang", "en").message
    assert "CUDA GPU가 없습니다" in run("cost", "--device", "cuda", "--lang", "ko").message


def test_a_reading_too_short_for_the_window_says_so_beside_the_file():
    done = run("cost", "--reading", "minilm-tired", "-o", "heads.json", "--lang", "en")
    assert done.code == 0
    assert "The text is too short" in done.out
    assert json.loads(Path("heads.json").read_text(encoding="utf-8"))["n_rows"] == 0
