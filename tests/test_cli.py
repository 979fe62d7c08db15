"""The command line: every command and option, both languages, what goes where, odd consoles, odd tokens, interruptions."""

import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
import unicodedata
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len

import jumok
from interrupted import interrupted
from jumok import cli
from jumok.picture.grids import SHOWN
from jumok.sources import example as examples

NAMES = examples.names()
LANGS = ("en", "ko")
COMMANDS = [
    "attend",
    "explain",
    "draw",
    "compare",
    "design",
    "capture",
    "learn",
    "new",
    "examples",
    "roles",
    "scaling",
    "cost",
    "completion",
]
SETTINGS = (
    "JUMOK_LANG",
    "LC_ALL",
    "LC_MESSAGES",
    "LANG",
    "NO_COLOR",
    "FORCE_COLOR",
    "COLUMNS",
    "PYTHONIOENCODING",
    "TERM",
)

ODD = {
    "escape": "\x1b[31mred",
    "bell": "a\x07b",
    "newline": "one\ntwo",
    "tab": "a\tb",
    "override": "\u202eabc",
    "next line": "a\x85b",
    "C1": "\x9b31m",
    "separator": "a\u2028b",
    "right-to-left": "שלום",
    "Arabic": "شمس",
    "Hangul": "한글",
    "family": "👩\u200d👩\u200d👧",
    "combining": "e\u0301\u0302",
    "script": "</script>",
    "pipe": "a|b",
    "markdown": "*a* `b` [c](d) _e_ ~f~ $g$ #h",
    "comma": 'a,"b"',
    "empty": "",
    "space": " ",
    "zero width": "a\u200bb",
    "tilde": "~",
    "backslash": "a\\b",
    "markup": "[bold]x[/bold] [/]",
    "equals": "=1+1",
}
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e]")


@pytest.fixture(autouse=True)
def at_home(monkeypatch, tmp_path):
    """A folder of its own, and no setting of whoever runs the tests."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.chdir(tmp_path)


class Ran:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def text(self):
        """What was printed, when all went well."""
        assert self.code == 0, self.err
        assert self.err == ""
        return self.out

    @property
    def message(self):
        """What was refused: one message, nothing printed, no traceback."""
        assert self.code == 2, self.err
        assert self.out == ""
        assert self.err.startswith("jumok: ")
        assert self.err.endswith("\n")
        assert "Traceback" not in self.err
        assert self.err.count("jumok: ") == 1 + self.err.count("\n도움말: ") * 0
        return self.err


def run(*arguments, encoding="utf-8", tty=False):
    """A command line in this process: its exit code, and what it wrote."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n") for _ in range(2)]
    if tty:
        streams[0].isatty = lambda: True
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = streams
    try:
        code = cli.run([str(one) for one in arguments])
    finally:
        sys.stdout, sys.stderr = before
    for stream in streams:
        stream.flush()
    return Ran(code, *(stream.buffer.getvalue().decode(encoding) for stream in streams))


def process(*arguments, check=True, **settings):
    """A command line in a process of its own."""
    env = {name: value for name, value in os.environ.items() if name not in SETTINGS} | {"LANG": "C.UTF-8"} | settings
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "jumok", *map(str, arguments)], capture_output=True, env=env, timeout=120
    )
    if check:
        assert done.returncode == 0, done.stderr
        assert done.stderr == b""
    return done


def hangul(text):
    return bool(re.search("[가-힣]", text))


@cache
def odd_text():
    """An example file with every odd token, and odd names of dimensions, as titles and as meanings."""
    texts = [unicodedata.normalize("NFC", text) for text in ODD.values()]
    n = len(texts)
    block = examples.Block(np.eye(n) * 2, np.eye(n), np.eye(n))
    dimensions = tuple(text + "." for text in texts)
    meaning = {dimensions[0]: {"en": "\x1b[1mm\u202e", "ko": "뜻\x1b[1m"}}
    title = {"en": "t\x1b[31m\x07\u202e", "ko": "제목\x1b[31m"}
    made = examples.Example(tuple(texts), np.eye(n), (block,), " ".join(texts), dimensions, title, meaning)
    return made.to_yaml()


@pytest.fixture
def odd(tmp_path):
    path = tmp_path / "odd.yaml"
    path.write_text(odd_text(), encoding="utf-8")
    return path


# alone, help, version ---------------------------------------------------------------------------


@pytest.mark.parametrize("lang", LANGS)
def test_alone_it_shows_the_worked_example_and_says_what_to_try_next(lang):
    text = run("--lang", lang).text
    assert "student" in text
    assert "0.550" in text
    end = text[text.index("Try next" if lang == "en" else "다음에 해 볼 것") :]
    commands = re.findall(r"^  (jumok \S+(?: \S+)*?)  +\S", end, re.MULTILINE)
    assert len(commands) == 9
    for command in commands:
        arguments = shlex.split(command)[1:]
        arguments += ["--help"] if arguments == ["serve"] else []  # which ends when somebody ends it
        assert run(*arguments).code == 0, command
    assert hangul(end) == (lang == "ko")


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("command", [[], *([one] for one in COMMANDS)])
def test_help_is_in_the_language(command, lang):
    for option in ("--help", "-h"):
        text = run(*command, option, "--lang", lang).text if command else run("--lang", lang, option).text
        assert text.splitlines()[0].startswith("Usage: jumok" if lang == "en" else "사용법: jumok")
        assert ("Options:" in text) == (lang == "en")
        assert hangul(text) == (lang == "ko")
    for name in COMMANDS if not command else ():
        assert f"\n  {name} " in text


def test_the_help_of_attend_names_every_option_and_stage():
    text = run("attend", "--help").text
    for option in (
        "--token",
        "--stage",
        "--layer",
        "--mask",
        "--json",
        "--markdown",
        "--csv",
        "-o, --output",
        "--lang",
    ):
        assert option in text
    for stage in SHOWN:
        assert stage in text


def test_version():
    assert run("--version").text == f"jumok {jumok.__version__}\n"
    assert process("--version").stdout.decode() == f"jumok {jumok.__version__}\n"


# language ---------------------------------------------------------------------------------------

SPEAKS = [
    (("--lang", "ko"), {}, "ko"),
    (("--lang=ko",), {}, "ko"),
    (("--lang", "en"), {"JUMOK_LANG": "ko", "LANG": "ko_KR.UTF-8"}, "en"),
    (("--lang", "ko"), {"JUMOK_LANG": "fr"}, "ko"),
    (("--lang", "en", "--lang", "ko"), {}, "ko"),
    ((), {"JUMOK_LANG": "ko", "LANG": "en_US.UTF-8"}, "ko"),
    ((), {"JUMOK_LANG": "en", "LC_ALL": "ko_KR.UTF-8"}, "en"),
    ((), {"JUMOK_LANG": "", "LANG": "ko_KR.UTF-8"}, "ko"),
    ((), {"LANG": "ko_KR.UTF-8"}, "ko"),
    ((), {"LANG": "ko_KR.eucKR"}, "ko"),
    ((), {"LC_ALL": "C", "LANG": "ko_KR.UTF-8"}, "en"),
    ((), {"LC_ALL": "ko_KR.UTF-8", "LANG": "C"}, "ko"),
    ((), {"LC_MESSAGES": "ko_KR.UTF-8", "LANG": "en_US.UTF-8"}, "ko"),
    ((), {"LC_ALL": "", "LANG": "ko"}, "ko"),
    ((), {"LANG": "de_DE.UTF-8"}, "en"),
    ((), {}, "en"),
]


@pytest.mark.parametrize(("arguments", "settings", "lang"), SPEAKS)
def test_the_language_is_chosen(monkeypatch, arguments, settings, lang):
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert hangul(run("attend", "student", *arguments, "--stage", "weights").text) == (lang == "ko")
    assert hangul(run("attend", "student", *arguments, "--stage", "none").message) == (lang == "ko")
    if arguments:
        assert hangul(run(*arguments, "attend", "student", "--stage", "weights").text) == (lang == "ko")


@pytest.mark.parametrize(
    ("got", "code"),
    [("kr", "ko"), ("korean", "ko"), ("KO", "ko"), ("한국어", "ko"), ("ko_KR.UTF-8", "ko"), ("English", "en")],
)
def test_a_language_by_another_name_is_told_its_own(monkeypatch, got, code):
    for arguments in (["--lang", got], ["attend", "student", f"--lang={got}"]):
        said = run(*arguments).message
        assert f"--lang expects ko or en, got {got!r}" in said
        assert said.rstrip().endswith(f" is {code}: --lang {code}")
    monkeypatch.setenv("LANG", "ko_KR.UTF-8")
    monkeypatch.setenv("JUMOK_LANG", got)
    assert (
        f"{got!r}이(가) 왔습니다. {'한국어' if code == 'ko' else '영어'}는 {code}입니다: JUMOK_LANG={code}"
        in run().message
    )


@pytest.mark.parametrize("word", ["help", "도움말"])
def test_help_as_a_word_is_help(word):
    assert run(word).text == run("--help").text
    assert run(word, "attend").text == run("attend", "--help").text
    assert run("--lang", "ko", word).text == run("--lang", "ko", "--help").text


def test_words_that_are_a_token_together_need_no_quotes():
    assert run("explain", "student", "deep", "learning").text == run("explain", "student", "deep learning").text
    assert (
        run("explain", "student", "The", "studies").text
        == run("explain", "student", "--token", "The", "--token", "studies").text
    )


def test_a_hint_is_typed_as_jumok_was_called(monkeypatch):
    monkeypatch.setenv("JUMOK_CALLED", "python3 run.py")
    assert "To see it: python3 run.py attend student" in run("student").message
    assert "See: python3 run.py --help" in run("student").message
    assert "python3 run.py capture" in run("attend", "deep", "learning").message
    assert "For example: python3 run.py explain student" in run("explain").message


def test_a_design_is_among_what_may_be_tried_next():
    assert "jumok design student" in run().text
    assert "jumok design student" in run("attend", "student", tty=True).text
    assert "jumok design" not in run("attend", "student").text, "what is piped is the record alone"
    assert "jumok design" not in run("attend", "it-soft", tty=True).text, "it wishes for nothing"
    assert "jumok design a.yaml" in run("new", "a.yaml", "--from", "student").text
    assert "jumok design" not in run("new", "b.yaml").text


def test_an_unknown_language_is_refused(monkeypatch):
    assert "unknown language 'fr'. There are: 'en', 'ko'" in run("attend", "student", "--lang", "fr").message
    assert "unknown language 'fr'" in run("--lang=fr").message
    monkeypatch.setenv("JUMOK_LANG", "fr")
    assert "unknown language 'fr'" in run("attend", "student").message
    monkeypatch.setenv("LANG", "ko_KR.UTF-8")
    assert "알 수 없는 언어 'fr'" in run("attend", "student").message


def test_what_stands_behind_two_dashes_is_no_option():
    assert "unknown token '--lang'" in run("explain", "student", "--", "--lang", "ko").message


# attend -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("name", NAMES)
def test_attend_shows_every_stage(name, lang):
    text = run("attend", name, "--lang", lang).text
    example = examples.load(name)
    assert example.title[lang] in text.splitlines()[0]
    assert text.splitlines()[1] == example.sentence
    for heading in (
        "X",
        "W_Q",
        "W_K",
        "W_V",
        "Q = X · W_Q",
        "K = X · W_K",
        "V = X · W_V",
        "q · k",
        "softmax",
        "output",
    ):
        assert re.search(rf"\n{re.escape(heading)}( · [^\n]*)?\n─", text)
    assert "\nq · k ÷ √" in text
    assert f"weight × v ({example.tokens[example.focus]})" in text
    assert hangul(
        re.sub("|".join(map(re.escape, [*example.tokens, example.sentence, example.title[lang]])), "", text)
    ) == (lang == "ko")
    assert len(re.findall(r"\nsoftmax\b[^\n]*\n─", text)) == sum(layer.n_heads for layer in example.layers)


@pytest.mark.parametrize("stage", SHOWN)
def test_attend_shows_one_stage(stage):
    text = run("attend", "student", "--stage", stage).text
    assert "Try next" not in text
    if stage == "w_o":
        assert text == "w_o: this record does not hold it\n"
        assert "들어 있지 않습니다" in run("attend", "student", "--stage", stage, "--lang", "ko").text
        return
    assert text.count("─\n") == (5 if stage == "weighted_values" else 1)
    one = run("attend", "student", "--stage", stage, "--token", "studies").text
    if stage[:2] != "w_":
        assert len(one.splitlines()) < len(text.splitlines())
        assert "▶ studies" in one or stage == "weighted_values"
        assert "▶ student" not in one


@pytest.mark.parametrize("token", ["studies", "2"])
def test_attend_looks_at_one_token(token):
    text = run("attend", "student", "--token", token).text
    assert "weight × v (studies)" in text
    assert "The row of studies" in text
    other = run("attend", "student", "--token", "The").text
    assert "The row of The, number by number" in other


def test_a_token_is_called_by_text_before_position():
    Path("a.yaml").write_text('tokens: ["1": [1, 0], "0": [0, 1], a: [2, 0], a: [0, 2]]')
    for token, at in {"1": 0, "0": 1, "2": 2, "3": 3, "a#1": 2, "a#2": 3}.items():
        made = json.loads(run("attend", "a.yaml", "--json", "--stage", "weights", "--token", token).text)
        assert made["layers"][0]["grids"][0]["rows"] == [["1", "0", "a", "a"][at]]
        weights = jumok.attend(examples.load("a.yaml")).weights[0, at]
        assert made["layers"][0]["grids"][0]["values"] == [weights.tolist()]
    assert "the token 'a' stands 2 times; say which: a#1, a#2" in run("attend", "a.yaml", "--token", "a").message


@pytest.mark.parametrize(
    ("mask", "kind"), [("causal", "causal"), ("window:2", "window"), ("window:0", "window"), ("none", "everything")]
)
def test_a_mask_takes_the_place_of_the_examples_own(mask, kind):
    made = json.loads(run("attend", "it-soft", "--mask", mask, "--json").text)
    assert [layer["rule"]["allowed"]["kind"] for layer in made["layers"]] == [kind] * 2
    shown = run("attend", "student", "--mask", mask).text
    assert ("·" in shown[shown.index("\nsoftmax\n") : shown.index("weight ×")]) == (mask != "none")
    assert run("explain", "student", "The", "--mask", mask).code == 0


def test_a_layer_is_chosen():
    whole = jumok.attend(examples.load("it-soft"))
    for layer in (0, 1):
        made = json.loads(run("attend", "it-soft", "--layer", layer, "--json").text)
        assert made["stages"]["weights"] == whole[layer].weights.tolist()
    assert run("attend", "student", "--layer", "0", "--json").text == run("attend", "student", "--json").text
    assert "Layer 0" in run("attend", "it-soft").text
    assert "Layer 1" not in run("attend", "it-soft", "--layer", "0").text.partition("\nX\n")[2]


# json, csv, markdown ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_json_has_every_digit_of_every_stage(name):
    plain = json.loads(run("attend", name, "--json").text, parse_constant=pytest.fail)
    record = jumok.attend(examples.load(name))
    traces = [record] if isinstance(record, jumok.Trace) else list(record)
    for made, trace in zip([plain] if len(traces) == 1 else plain["layers"], traces, strict=True):
        assert [token[0] for token in made["tokens"]] == [token.text for token in trace.tokens]
        for stage in jumok.trace.STAGES:
            assert made["stages"][stage] == getattr(trace, stage).tolist()
        for array in ("q", "k", "v", "x"):
            assert made[array] == getattr(trace, array).tolist()


@pytest.mark.parametrize("stage", [stage for stage in SHOWN if stage != "w_o"])
def test_json_of_one_stage(stage):
    plain = json.loads(run("attend", "it-soft", "--json", "--stage", stage).text)
    assert (plain["format"], plain["version"], [layer["layer"] for layer in plain["layers"]]) == (
        "jumok-stages",
        1,
        [0, 1],
    )
    for made, trace in zip(plain["layers"], jumok.attend(examples.load("it-soft")), strict=True):
        whole = getattr(trace.heads, stage) if stage[:2] == "w_" else getattr(trace, stage)
        values = [grid["values"] for grid in made["grids"]]
        whole = np.moveaxis(whole, 0, 1) if stage == "weighted_values" else whole
        assert np.array_equal(np.array(values).reshape(whole.shape), whole)
        assert {grid["stage"] for grid in made["grids"]} == {stage}


def test_json_of_an_explanation():
    made = json.loads(run("explain", "bank-money", "은행", "돈", "--json").text)
    assert [one["token"] for one in made] == ["은행", "돈"]
    for one in made:
        assert {*one["text"]} == {*LANGS}
        assert hangul(one["text"]["ko"])
        assert {"section", "kind", "data"} <= {*one["facts"][0]}
    weights = jumok.attend(examples.load("bank-money")).rows("weights", queries=["은행"])
    said = {value for fact in made[0]["facts"] for value in fact["data"].values() if isinstance(value, float)}
    assert said >= set(weights.ravel().tolist())


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("name", NAMES)
def test_csv_reads_back_to_every_digit(name):
    rows = rows_of(run("attend", name, "--csv").text)
    record = jumok.attend(examples.load(name))
    for layer, trace in enumerate([record] if isinstance(record, jumok.Trace) else record):
        for stage in ("scores", "scaled", "weights", "allowed"):
            cells = [row for row in rows if row["stage"] == stage and row["layer"] == str(layer)]
            heads = 1 if stage == "allowed" else trace.n_heads
            table = np.empty((heads, trace.n_queries, trace.n_keys))
            for row in cells:
                table[int(row["head"] or 0), int(row["query"]), int(row["key"])] = float(row["value"])
                assert row["query_token"] == trace.tokens[int(row["query"])].text
                assert row["key_token"] == trace.tokens[int(row["key"])].text
            assert len(cells) == table.size
            assert np.array_equal(table, getattr(trace, stage).reshape(table.shape))
        for stage, axis in (("x", "query"), ("q", "query"), ("k", "key"), ("v", "key"), ("output", "query")):
            cells = [row for row in rows if row["stage"] == stage and row["layer"] == str(layer)]
            values = np.array([float(row["value"]) for row in cells])
            assert np.array_equal(values, getattr(trace, stage).ravel())
            places = [(int(row["head"] or 0), int(row[axis])) for row in cells]
            assert places == sorted(places)


def test_csv_of_one_token_has_what_is_handed_over():
    rows = rows_of(run("attend", "student", "--csv", "--token", "studies").text)
    trace = jumok.attend(examples.load("student"))
    handed = [float(row["value"]) for row in rows if row["stage"] == "weighted_values"]
    assert handed == trace.rows("weighted_values", queries=["studies"]).ravel().tolist()
    assert {row["query_token"] for row in rows if row["stage"] == "weights"} == {"studies"}


def test_csv_keeps_odd_tokens_exactly(odd):
    texts = [unicodedata.normalize("NFC", text) for text in ODD.values()]
    rows = rows_of(run("attend", odd, "--csv", "--stage", "weights").text)
    assert [row["key_token"] for row in rows[: len(texts)]] == texts
    assert [row["query_token"] for row in rows[:: len(texts)]] == texts
    run("attend", odd, "-o", "odd.csv")
    assert rows_of(Path("odd.csv").read_bytes().decode("utf-8-sig"))[-1]["query_token"] == texts[-1]


def test_json_keeps_odd_tokens_exactly_and_steers_no_terminal(odd):
    text = run("attend", odd, "--json").text
    assert not CONTROL.search(text)
    assert [token[0] for token in json.loads(text)["tokens"]] == [
        unicodedata.normalize("NFC", one) for one in ODD.values()
    ]
    assert not CONTROL.search(run("explain", odd, "--json", "--all").text)


@pytest.mark.parametrize("lang", LANGS)
def test_markdown_tables_hold_odd_tokens_in_their_cells(odd, lang):
    text = run("attend", odd, "--markdown", "--lang", lang).text
    assert not CONTROL.search(text)
    n = len(ODD)
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert len(tables) >= 9
    for table in tables:
        lines = table.splitlines()
        assert len(lines) == n + 2
        for line in lines:
            assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == n + 2
            assert not re.search(r"(?<!\\)(?:\\\\)*[<`*\[~$]", line)
    assert hangul(text.replace("한글", "")) == (lang == "ko")
    for line in run("explain", odd, "0", "12", "--markdown", "--lang", lang).text.splitlines():
        assert not re.search(r"(?<!\\)(?:\\\\)*[<`\[]", line)


@pytest.mark.parametrize("name", ["student", "it-tired"])
def test_markdown_shows_the_numbers_of_the_screen(name):
    text = run("attend", name, "--markdown", "--stage", "weights").text
    trace = jumok.attend(examples.load(name))
    trace = trace if isinstance(trace, jumok.Trace) else trace[-1]
    last = text.rstrip().splitlines()[-3]
    cells = [float(cell) for cell in last.strip("|").split("|")[1:]]
    assert np.abs(np.array(cells) - trace.weights[0, -1]).max() <= 5e-4
    assert "Numbers are rounded to three decimals." in text


# explain ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("name", ["student", "it-soft"])
def test_explain_explains_every_token(name, lang):
    text = run("explain", name, "--all", "--lang", lang).text
    tokens = examples.load(name).tokens
    assert len(re.findall(r"^1\. ", text, re.MULTILINE)) + len(
        re.findall(r"^1\. (?:Layer 0|0층)", text, re.MULTILINE)
    ) >= len(tokens)
    for token in tokens:
        assert token in text


def test_explain_takes_tokens_in_every_way():
    whole = run("explain", "student").text
    assert (
        whole
        == run("explain", "student", "studies").text
        == run("explain", "student", "2").text
        == run("explain", "student", "--token", "studies").text
    )
    both = run("explain", "student", "The", "--token", "studies").text
    assert both.index("'The'") < both.index("studies")
    assert run("explain", "student", "The", "studies").text == both
    assert run("explain", "it-soft", "--layer", "0", "it").text != run("explain", "it-soft", "it").text


def test_explain_sets_the_pair_beside_under_the_same_rules():
    run("attend", "it-tired", "-o", "saved.safetensors")
    for arguments in (["it-tired"], ["it-tired", "--mask", "causal"], ["saved.safetensors"]):
        assert "In the other sentence of the pair" in run("explain", *arguments, "it").text
    text = examples.load("it-tired").text.replace("residual: true", "residual: true\n    scale: 1", 1)
    Path("scaled.yaml").write_text(text, encoding="utf-8")
    assert "In the other sentence of the pair" not in run("explain", "scaled.yaml", "it").text


# draw, compare ----------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", LANGS)
def test_drawing_without_a_file_shows_the_same_numbers_as_text(lang):
    text = run("draw", "student", "--lang", lang).text
    assert re.search(r"studies +0\.020 +0\.200 +0\.050 +0\.550 +0\.180", text)
    assert hangul(text) == (lang == "ko")
    assert os.listdir() == []
    for kind in ("arrows", "arcs", "strip", "heads"):
        assert hangul(run("draw", "student", "--kind", kind, "--lang", lang).text) == (lang == "ko")


def test_what_is_drawn_can_be_chosen():
    assert "6.628" in run("draw", "student", "--stage", "scores").text
    row = run("draw", "student", "--token", "studies").text
    assert "0.55" in row
    assert "carefully  " not in row.replace("carefully\n", "")
    assert "layer 1 · it" in run("draw", "it-tired", "--layer", "1", "--token", "it").text
    assert "1.000" in run("draw", "student", "--mask", "causal").text
    heads = run("draw", "it-tired").text
    assert re.search(r"^ +1 +0 +1\.965 ", heads, re.MULTILINE)


@pytest.mark.parametrize("suffix", ["svg", "png", "md", "csv", "html"])
@pytest.mark.parametrize("command", [["draw", "student"], ["compare", "it-tired", "it-soft"]])
def test_a_picture_is_written_by_its_suffix(command, suffix):
    done = run(*command, "-o", f"그림 a.{suffix}", "--lang", "ko", "--theme", "dark")
    assert (done.code, done.out, done.err) == (0, "", f"저장했습니다: 그림 a.{suffix}\n")
    data = Path(f"그림 a.{suffix}").read_bytes()
    begins = {"svg": b"<svg ", "png": b"\x89PNG", "md": b"", "csv": "\ufefflayer".encode(), "html": b"<!doctype html>"}
    assert data.startswith(begins[suffix])
    assert len(data) < 400_000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["student", "--values", "0"], "--values is for a live page"),
        (["student", "--values", "0", "-o", "a.svg"], "--values is for a live page"),
        (["student", "--values", "first", "-o", "a.html"], "--values expects whole numbers, 0 or more, such as 0,5"),
        (["student", "--values", "7", "-o", "a.html"], "layer expects a position from 0 to 0"),
    ],
)
def test_values_that_cannot_be_carried_are_refused(arguments, said):
    done = run("draw", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert os.listdir() == []


def test_values_are_asked_for_on_the_command_line():
    assert run("draw", "it-tired", "--values", "0,1", "-o", "a.html").code == 0
    assert run("draw", "it-tired", "--values", "all", "-o", "a.html").code == 0


def test_letters_that_a_png_writes_as_codes_are_told(odd):
    told = run("draw", odd, "-o", "a.png").err
    assert re.fullmatch(
        r"written: a\.png\n(\[U\+[0-9A-F]{4,5}…?\], ){3}…: the code of letters .* \.svg has them\.\n", told
    )
    assert "PNG의 글꼴에 없는 글자" in run("draw", odd, "-o", "a.PNG", "--lang", "ko").err
    assert run("draw", odd, "-o", "a.svg").err == "written: a.svg\n"
    assert run("draw", "cat-fish", "-o", "a.png").err == "written: a.png\n"  # Hangul is in the font


def test_the_drawn_svg_is_that_of_the_function():
    run("draw", "student", "-o", "a.svg", "--kind", "arrows", "--token", "studies", "--theme", "dark", "--lang", "ko")
    drawn = jumok.draw(jumok.load("student"), "arrows", query="studies", theme="dark", lang="ko")
    assert Path("a.svg").read_text(encoding="utf-8") == drawn.svg()
    run("compare", "it-tired", "it-soft", "-o", "b.svg", "--layer", "0", "--mask", "causal")
    tired, soft = (jumok.attend(jumok.load(name), rule="causal") for name in ("it-tired", "it-soft"))
    assert Path("b.svg").read_text(encoding="utf-8") == jumok.draw(jumok.compare(tired, soft), layer=0).svg()


@pytest.mark.parametrize("lang", LANGS)
def test_a_comparison_names_what_changed_most(lang):
    text = run("compare", "it-tired", "it-soft", "--lang", lang).text
    assert hangul(text) == (lang == "ko")
    assert re.search(r"^1 +0 +0\.164 +it → cat -0\.823 +8\.7% +8\.7%", text, re.MULTILINE)
    assert re.search(r"^1 +it +0\.853 +-0\.193 +0\.06", text, re.MULTILINE)
    assert ("6 more" if lang == "en" else "6개 더") in text


def test_a_comparison_as_json():
    plain = json.loads(run("compare", "it-tired", "it-soft", "--json").text)
    found = jumok.compare(jumok.load("it-tired"), jumok.load("it-soft"))
    assert plain == json.loads(json.dumps(found.to_json()))
    run("compare", "it-tired", "it-soft", "-o", "a.json")
    assert json.loads(Path("a.json").read_text(encoding="utf-8")) == plain


def test_odd_tokens_are_drawn_and_compared(odd):
    for arguments in (["draw", odd], ["draw", odd, "--kind", "strip"], ["compare", odd, odd]):
        text = run(*arguments).text
        assert not CONTROL.search(text)
        for suffix in ("svg", "md", "html"):
            assert run(*arguments, "-o", f"a.{suffix}").code == 0
            written = Path(f"a.{suffix}").read_text(encoding="utf-8")
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", written) or suffix == "html"


# new, examples, scaling, completion --------------------------------------------------------------


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("name", ["my.yaml", "내 예제.yml", "a'b.YAML", "-x.yaml"])
def test_new_writes_a_starter_that_works(name, lang):
    done = run("new", "--lang", lang, "--", name)
    assert name in done.text
    assert Path(name).read_text(encoding="utf-8") == examples.starter(lang)
    command = re.search(r"^  (jumok attend .*?)  +\S", done.text, re.MULTILINE)[1]
    assert run(*shlex.split(command)[1:]).code == 0
    assert hangul(done.text.replace(name, "")) == (lang == "ko")


def test_new_does_not_write_over_a_file_unless_told():
    Path("my.yaml").write_text("mine")
    assert "my.yaml is there already. Choose another name, or --force to write over it" in run("new", "my.yaml").message
    assert "이미 있습니다" in run("new", "my.yaml", "--lang", "ko").message
    assert Path("my.yaml").read_text() == "mine"
    assert run("new", "my.yaml", "--force").code == 0
    assert Path("my.yaml").read_text(encoding="utf-8") == examples.starter("en")
    os.symlink("nowhere", "link.yaml")
    assert "is there already" in run("new", "link.yaml").message
    os.mkdir("folder.yaml")
    assert "is there already" in run("new", "folder.yaml").message
    assert "it is a folder" in run("new", "folder.yaml", "--force").message


@pytest.mark.parametrize("name", NAMES)
def test_new_begins_from_a_packaged_example(name):
    assert run("new", "my.yaml", "--from", name).code == 0
    assert Path("my.yaml").read_text(encoding="utf-8") == examples.load(name).text == run("examples", name).text


@pytest.mark.parametrize("lang", LANGS)
def test_examples_lists_them_all(lang):
    text = run("examples", "--lang", lang).text
    for name in NAMES:
        example = examples.load(name)
        line = next(line for line in text.splitlines() if line.startswith(name))
        assert example.title[lang].split()[0] in line
    assert hangul(text.splitlines()[0]) == (lang == "ko")


@pytest.mark.parametrize("lang", LANGS)
def test_scaling_measures(lang):
    text = run("scaling", "--d", "2,64", "--keys", "4", "--seed", "3", "--lang", lang).text
    assert "\n─" in text
    assert hangul(text) == (lang == "ko")
    plain = json.loads(run("scaling", "--d", "2,64", "--keys", "4", "--seed", "3", "--json").text)
    assert [row["d"] for row in plain["rows"]] == [2, 64]
    again = jumok.scaling([2, 64], n_keys=4, seed=3)
    assert plain["rows"][1]["unscaled"]["variance"] == again.rows[1].unscaled.variance


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell):
    script = run("completion", shell).text
    assert "_JUMOK_COMPLETE" in script
    if shell == "bash":
        assert subprocess.run(["bash", "-n"], input=script.encode(), check=True).returncode == 0


@pytest.mark.parametrize(
    ("words", "at", "found"),
    [
        ("jumok attend stu", 2, {"student"}),
        ("jumok explain bank", 2, {"bank-money", "bank-river"}),
        ("jumok att", 1, {"attend"}),
        ("jumok attend student --stage wei", 4, {"weights", "weighted_values"}),
        ("jumok attend student --lang k", 4, {"ko"}),
        ("jumok attend student --mask ca", 4, {"causal"}),
        ("jumok attend student --mark", 3, {"--markdown"}),
        ("jumok completion z", 2, {"zsh"}),
        ("jumok new a.yaml --from pe", 4, {"pear"}),
    ],
)
def test_completion_completes(monkeypatch, capsys, words, at, found):
    for name, value in {"_JUMOK_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(at)}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as end:
        cli.run([])
    assert end.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.removeprefix("plain,") for line in lines if line.startswith("plain,")} == found
    files = words.split()[1] in ("attend", "explain", "new") and "--" not in words
    assert any(line.startswith("file,") for line in lines) == files or "--from" in words


def test_a_shell_completes():
    done = process(_JUMOK_COMPLETE="bash_complete", COMP_WORDS="jumok attend stu", COMP_CWORD="2")
    assert done.stdout.decode().splitlines() == ["plain,student", "file,stu"]


# into files -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "suffixes"), [("attend", ["json", "md", "csv", "txt", "TXT"]), ("explain", ["json", "md", "txt"])]
)
def test_a_file_holds_what_the_screen_would(command, suffixes):
    for suffix in suffixes:
        done = run(command, "bank-money", "-o", f"가 나.{suffix}")
        assert (done.code, done.out, done.err) == (0, "", f"written: 가 나.{suffix}\n")
        text = Path(f"가 나.{suffix}").read_bytes().decode("utf-8-sig" if suffix == "csv" else "utf-8")
        assert not text.startswith("\ufeff")
        flag = {"json": ["--json"], "md": ["--markdown"], "csv": ["--csv"]}.get(suffix, [])
        assert text == run(command, "bank-money", *flag).text
    assert run(command, "bank-money", "--output", "b.json", "--lang", "ko").err == "저장했습니다: b.json\n"


def test_only_csv_begins_with_the_mark_that_spreadsheets_need():
    for suffix in ("json", "md", "txt", "csv"):
        run("attend", "student", "-o", f"a.{suffix}")
        assert Path(f"a.{suffix}").read_bytes().startswith(b"\xef\xbb\xbf") == (suffix == "csv")


def test_a_flag_says_how_where_the_name_does_not():
    assert run("attend", "student", "--json", "-o", "out").code == 0
    assert json.loads(Path("out").read_text())["format"] == "jumok"
    for name in ("out.CSV", "out"):
        assert run("attend", "student", "--csv", "-o", name).code == 0
        assert Path(name).read_bytes().startswith(b"\xef\xbb\xbflayer,")


@pytest.mark.parametrize("name", ["student", "it-soft", "odd.yaml"])
def test_a_saved_record_opens_again(odd, name):
    done = run("attend", name, "-o", "x.safetensors", "--mask", "causal")
    assert (done.code, done.out, done.err) == (0, "", "written: x.safetensors\n")
    assert jumok.load("x.safetensors") == jumok.attend(examples.load(name), rule="causal")
    for arguments in (
        ["--json"],
        ["--stage", "weights"],
        ["--csv"],
        ["--token", "1", "--lang", "ko"] if name != "odd.yaml" else [],
    ):
        assert (
            run("attend", "x.safetensors", *arguments).text == run("attend", name, "--mask", "causal", *arguments).text
        )
    for token in ("1", "7") if name == "it-soft" else ("1",):
        said = run("explain", name, token, "--mask", "causal", "--lang", "ko").text
        assert run("explain", "x.safetensors", token, "--lang", "ko").text == said


def test_a_record_without_what_a_file_usually_holds():
    """No titles, or titles that steer a terminal; no embeddings; no layer at all."""
    one = np.eye(2)[None]
    jumok.attend(q=one, k=one, v=one).save("bare.safetensors")
    escape = "t\x1b[31m\n"
    hostile = {
        "title": {"en": escape, "ko": escape},
        "sentence": escape,
        "meaning": {escape: {"en": escape}},
        "pair": escape,
        "focus": 99,
    }
    source = jumok.Source(kind="example", name="\x1b[1m", details=hostile)
    jumok.Trace(tokens=["a", "b"], q=one, k=one, v=one, source=source).save("hostile.safetensors")
    for name in ("bare", "hostile"):
        for command in ("attend", "explain"):
            for lang in LANGS:
                text = run(command, f"{name}.safetensors", "--lang", lang).text
                assert not CONTROL.search(text)
    jumok.Reading(()).save("none.safetensors")
    assert "none.safetensors holds no layer" in run("attend", "none.safetensors").message


@pytest.mark.parametrize("name", ["a.json", "a.csv", "a.md", "a.txt", "a.safetensors"])
def test_a_file_that_cannot_be_written_is_told(name):
    assert (
        f"cannot write none/{name}: there is no such folder" in run("attend", "student", "-o", f"none/{name}").message
    )
    os.mkdir(name)
    assert f"cannot write {name}: it is a folder" in run("attend", "student", "-o", name).message
    assert os.listdir() == [name]


@pytest.mark.parametrize(
    "arguments",
    [["attend", "--csv"], ["attend", "-o", "a.md"], ["attend", "--json", "--stage", "scores"], ["draw", "-o", "a.csv"]],
)
def test_more_text_than_anybody_reads_is_refused_and_a_token_is_not(arguments):
    one = np.ones((1, 2400, 2))
    jumok.attend(q=one, k=one, v=one, rule="causal").save("long.safetensors")
    command, *options = arguments
    message = run(command, "long.safetensors", *options).message
    assert re.search(
        r"this would write [\d,]+ numbers as text, more than 5,000,000\. Choose a token .*--token", message
    )
    assert "한도 5,000,000개" in run(command, "long.safetensors", *options, "--lang", "ko").message
    assert os.listdir() == ["long.safetensors"]
    assert run(command, "long.safetensors", "--token", "3", *options).code == 0


def test_a_link_keeps_pointing_and_a_device_is_written():
    Path("real.json").write_text("old")
    os.symlink("real.json", "link.json")
    assert run("attend", "student", "-o", "link.json").code == 0
    assert Path("link.json").is_symlink()
    assert json.loads(Path("real.json").read_text())["format"] == "jumok"
    assert run("attend", "student", "-o", "/dev/null").code == 0
    assert "cannot write /dev/full" in run("attend", "student", "-o", "/dev/full").message


@pytest.mark.parametrize("name", ["a.json", "a.csv", "a.md", "a.txt", "a.safetensors"])
@pytest.mark.parametrize("end", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_write_that_stops_half_way_leaves_the_old_file(monkeypatch, name, end):
    Path(name).write_text("old")
    monkeypatch.setattr("jumok.files._sync", lambda _: (_ for _ in ()).throw(end))
    done = run("attend", "student", "-o", name)
    assert (done.code, done.out) == ((130, "") if isinstance(end, KeyboardInterrupt) else (2, ""))
    assert Path(name).read_text() == "old"
    assert os.listdir() == [name]


# what is refused --------------------------------------------------------------------------------

REFUSED = {
    "an unknown example": (["attend", "studnet"], "unknown example 'studnet'. Did you mean 'student'?", "알 수 없는 예제 'studnet'"),
    "a missing file": (["attend", "none.yaml"], "none.yaml: there is no such file", "그런 파일이 없습니다"),
    "a missing saved file": (["attend", "none.safetensors"], "none.safetensors: there is no such file", "그런 파일이 없습니다"),
    "a folder": (["attend", "."], "it cannot be read: it is a folder", "읽을 수 없습니다: 폴더입니다"),
    "a wrong file": (["attend", "wrong.yaml"], "wrong.yaml, line 2, column 9: tokens expects a list", "wrong.yaml 2행 9열: "),
    "a binary file": (["attend", "binary.yaml"], "it is a binary file, not text", "이진 파일"),
    "a CP949 file": (["explain", "cp949.yaml"], "it is saved as CP949 (EUC-KR)", "CP949 (EUC-KR) 인코딩"),
    "a foreign file": (["attend", "binary.safetensors"], "binary.safetensors: it is not a whole .safetensors file", "온전한 .safetensors"),
    "no name": (["attend"], "NAME is missing. For example: jumok attend student\nSee: jumok attend --help", "NAME이(가) 빠졌습니다. 예: jumok "),
    "no name to explain": (["explain"], "For example: jumok explain student", "예: jumok explain student"),
    "no name to draw": (["draw"], "For example: jumok draw student -o student.html", "예: jumok draw student"),
    "one text to compare": (["compare", "student"], "SECOND is missing. For example: jumok compare it-tired", "예: jumok compare it-tired"),
    "an unknown kind": (["draw", "student", "--kind", "heta"], "unknown kind 'heta'. Did you mean 'heat'", "알 수 없는 그림 종류 'heta'"),
    "an unknown theme": (["draw", "student", "--theme", "blue"], "unknown theme 'blue'", "알 수 없는 테마 'blue'"),
    "a head beyond": (["draw", "student", "--head", "1"], "head expects a position from 0 to 0, got 1", "0부터 0까지의 위치가 필요한데 1"),
    "a head by name": (["draw", "student", "--head", "one"], "--head expects whole numbers", "--head에는 0 이상의 정수"),
    "a picture as text": (["draw", "student", "-o", "a.txt"], "a picture is saved as .svg, .png, .md, .csv, .html; got 'a.txt'", "그림은 .svg"),
    "texts of other layers": (["compare", "student", "it-soft"], "got 1 × 1 and 2 × 1 (layers × heads)", "1 × 1와(과) 2 × 1"),
    "no text to capture": (["capture"], 'jumok capture "The cat sat', 'jumok capture "고양이가 피곤해서 매트 위에 앉았다." --model 모델_폴더'),
    "no path": (["new"], "PATH is missing. For example: jumok new my.yaml", "예: jumok new my.yaml"),
    "no shell": (["completion"], "SHELL is missing. For example: jumok completion bash", "예: jumok completion bash"),
    "an unknown command": (
        ["atend", "student"],
        "there is no command 'atend'. Did you mean attend? There are: attend, explain",
        "'atend' 명령이 없습니다. 혹시 attend입니까?",
    ),
    "an unknown option": (["attend", "student", "--jsn"], "there is no option --jsn. Did you mean --json", "--jsn 옵션이 없습니다. 혹시 --json"),
    "an option far off": (["attend", "student", "--zzz"], "there is no option --zzz\nSee", "--zzz 옵션이 없습니다"),
    "one too many": (["attend", "student", "x"], "'x' is one too many here", "'x'은(는) 여기에 쓸 수 없습니다"),
    "two too many": (["examples", "student", "x", "y"], "'x y' is one too many here", "'x y'은(는)"),
    "a text to attend": (["attend", "deep", "learning"], 'jumok capture "deep learning"', "'deep learning'은(는) 글인데"),
    "a text in quotes to attend": (["attend", "deep learning"], 'jumok capture "deep learning"', "'deep learning'은(는) 글인데"),
    "a text to explain": (["explain", "deep", "learning"], 'explain takes the name of an example, or a file', 'jumok capture "deep learning"'),
    "a text to draw": (["draw", "나는", "밥을", "먹는다"], 'jumok capture "나는 밥을 먹는다" --model MODEL_FOLDER', "draw에는 예제 이름이나 파일을 씁니다"),
    "a long text to attend": (["attend", *["은행에서"] * 200], "is a text; attend takes", "글인데"),
    "no file with a blank": (["attend", "my plan.yaml"], "my plan.yaml: there is no such file", "그런 파일이 없습니다"),
    "a text to capture": (["capture", "the", "cat"], 'in quotes: jumok capture "the cat"', "따옴표로 묶습니다"),
    "a path with a blank": (["new", "my", "plan"], 'in quotes: jumok new "my plan.yaml"', "따옴표로 묶습니다"),
    "a token with a blank": (["attend", "student", "deep", "learning"], 'jumok attend student --token "deep learning"', "따옴표로 묶습니다"),
    "an example with a blank": (["draw", "bank", "money"], "is called bank-money: jumok draw bank-money", "예제의 이름은 bank-money입니다"),
    "a mistyped example and a token": (["explain", "studnet", "studies"], "Did you mean 'student'", "혹시 'student'입니까?"),
    "an example for a command": (["student"], "student is an example, not a command. To see it: jumok attend student", "보려면: jumok attend student"),
    "a file for a command": (["saved.safetensors"], "is a file, not a command. To see it: jumok attend saved.safetensors", "명령이 아니라 파일"),
    "a lesson for a command": (["library"], "library is a lesson, not a command. To begin it: jumok lesson library", "명령이 아니라 레슨"),
    "a number for a command": (["3"], "To begin it: jumok lesson 3", "시작하려면: jumok lesson 3"),
    "a task for a command": (["pronoun"], "pronoun is a task, not a command. To train on it: jumok learn pronoun", "명령이 아니라 과제"),
    "help of nothing": (["help", "nothing"], "there is no command 'nothing'", "'nothing' 명령이 없습니다"),
    "no value": (["attend", "student", "--stage"], "--stage needs a value behind it", "--stage 뒤에 값이 필요합니다"),
    "a value too many": (["attend", "student", "--json=1"], "--json takes no value", "--json에는 값을 쓸 수 없습니다"),
    "an unknown stage": (["attend", "student", "--stage", "weigths"], "unknown stage 'weigths'. Did you mean 'weights'", "알 수 없는 단계 'weigths'"),
    "an unknown token": (["attend", "student", "--token", "studys"], "unknown token 'studys'. Did you mean 'studies'", "알 수 없는 토큰 'studys'"),
    "an empty token": (["attend", "student", "--token", ""], "unknown token ''. There are: 'The'", "알 수 없는 토큰 ''"),
    "an unknown token to explain": (["explain", "student", "studys"], "unknown token 'studys'", "알 수 없는 토큰 'studys'"),
    "a position beyond": (["attend", "student", "--token", "5"], "a position from 0 to 4, got 5", "0부터 4까지의 위치가 필요한데 5"),
    "a position below": (["explain", "student", "--token=-1"], "a position from 0 to 4, got -1", "0부터 4까지의 위치가 필요한데 -1"),
    "no position at all": (["attend", "student", "--token=--1"], "unknown token '--1'", "알 수 없는 토큰 '--1'"),
    "a position with many digits": (["attend", "student", "--token", "9" * 50], "unknown token '9999", "알 수 없는 토큰 '9999"),
    "a position in other digits": (["attend", "student", "--token", "٣"], "unknown token '٣'", "알 수 없는 토큰 '٣'"),
    "a layer beyond": (["attend", "it-soft", "--layer", "2"], "--layer expects 0 to 1, got 2", "--layer에는 0부터 1까지"),
    "a layer by name": (["explain", "it-soft", "--layer", "last"], "--layer expects whole numbers, 0 or more; got 'last'", "--layer에는 0 이상의 정수"),
    "an unknown mask": (["attend", "student", "--mask", "casual"], "--mask expects none, causal or window:N (N earlier tokens), got 'casual'", "'casual'"),
    "a window without a number": (["attend", "student", "--mask", "window:"], "--mask expects", "window:N(앞 토큰 N개)"),
    "a window below": (["attend", "student", "--mask", "window:-1"], "got 'window:-1'", "'window:-1'"),
    "a mask for a saved record": (["attend", "saved.safetensors", "--mask", "causal"], "--mask is for examples", "--mask는 예제에만"),
    "two formats": (["attend", "student", "--json", "--csv"], "one format at a time, got --json and --csv", "형식은 하나만"),
    "two ways to write": (["attend", "student", "--json", "-o", "a.csv"], "--json and 'a.csv' say two ways to write", "서로 다른 형식"),
    "text for a saved record": (["attend", "student", "--csv", "-o", "a.safetensors"], "--csv and 'a.safetensors' say two ways", "서로 다른 형식"),
    "an unknown suffix": (["attend", "student", "-o", "a.xlsx"], "how to write: .json, .md, .csv, .txt, .safetensors; got 'a.xlsx'", "'a.xlsx'"),
    "no suffix": (["attend", "student", "-o", "a"], "the file's name says how to write", "파일 이름의 끝"),
    "part of a saved record": (["attend", "student", "--stage", "x", "-o", "a.safetensors"], "leave out --stage and --token", "--stage와 --token을 빼거나"),
    "an explanation as a table": (["explain", "student", "-o", "a.csv"], "an explanation is written as .txt, .md or .json, not as 'a.csv'", "'a.csv' 불가"),
    "an explanation as a record": (["explain", "student", "-o", "a.safetensors"], "an explanation is written as .txt, .md or .json", "설명은 .txt"),
    "a page to read": (["draw", "pair.html"], "pair.html: a page is for looking at and cannot be read back", "다시 읽을 수 없습니다"),
    "a picture into no file": (["draw", "student", "-o", ""], "a file's name is needed, got ''", "파일 이름이 필요한데"),
    "a record into no file": (["attend", "student", "-o", ""], "a file's name is needed, got ''", "파일 이름이 필요한데"),
    "a comparison into no file": (["compare", "it-tired", "it-soft", "-o", ""], "a file's name is needed, got ''", "파일 이름이 필요한데"),
    "a new file without a suffix": (["new", "my"], "an example file ends in .yaml, got 'my'. Try: jumok new my.yaml", "예: jumok new my.yaml"),
    "a new file without a name": (["new", ""], "an example file ends in .yaml, got ''. Try: jumok new my.yaml", "예: jumok new my.yaml"),
    "a new file in no folder": (["new", "none/my.yaml"], "cannot write none/my.yaml: there is no such folder", "none/my.yaml에 쓸 수 없습니다"),
    "a new file from nothing": (["new", "my.yaml", "--from", "studnet"], "unknown example 'studnet'", "알 수 없는 예제 'studnet'"),
    "an unknown example to print": (["examples", "studnet"], "unknown example 'studnet'", "알 수 없는 예제 'studnet'"),
    "an unknown shell": (["completion", "tcsh"], "unknown shell 'tcsh'. There are: 'bash', 'zsh', 'fish'", "알 수 없는 셸 'tcsh'"),
    "a width of 0": (["scaling", "--d", "0"], "from 1 up, got 0", "0"),
    "a width below": (["scaling", "--d", "-1"], "--d expects whole numbers, 0 or more, such as 2,64,1024; got '-1'", "예: 2,64,1024"),
    "a width left out": (["scaling", "--d", "2,,4"], "--d expects whole numbers, 0 or more, such as 2,64,1024; got ''", "예: 2,64,1024"),
    "a huge width": (["scaling", "--d", "99999999999"], "99", "99"),
    "one key": (["scaling", "--keys", "1"], "from 2 to 65,536, got 1", "1"),
    "keys by name": (["scaling", "--keys", "many"], "--keys expects whole numbers", "--keys에는 0 이상의 정수"),
    "a seed by name": (["scaling", "--seed", "x"], "--seed expects whole numbers", "--seed에는 0 이상의 정수"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    arguments, en, ko = REFUSED[what]
    Path("wrong.yaml").write_text("dimensions: [A]\ntokens: {a: 1}\n")
    Path("binary.yaml").write_bytes(bytes(100))
    Path("binary.safetensors").write_bytes(bytes(100))
    Path("cp949.yaml").write_bytes("tokens: [은행]".encode("cp949"))
    jumok.attend(examples.load("student")).save("saved.safetensors")
    there = sorted(os.listdir())
    assert en in run(*arguments).message
    message = (
        run(*arguments, "--lang", "ko").message
        if arguments[-1] != "--stage"
        else run("--lang", "ko", *arguments).message
    )
    assert ko in message
    assert hangul(message)
    assert sorted(os.listdir()) == there


def test_a_refusal_steers_no_terminal(odd):
    Path("a.yaml").write_text('"\\e[31m\\u202e": 1')
    for arguments in (
        ["attend", "\x1b[31m.yaml"],
        ["attend", "\x1b[31m"],
        ["attend", "a.yaml"],
        ["attend", "student", "--token", "\x1b[31m\u202e"],
        ["attend", "student", "-o", "\x9b31m.json/x.json"],
        ["attend", "student", "\x07"],
        ["\x1b"],
        ["attend", "student", "--\x1b"],
        ["new", "\x1b.yaml/\u202e.yaml"],
        ["attend", odd, "--token", "x"],
    ):
        assert not CONTROL.search(run(*arguments).message), arguments


def test_a_refusal_keeps_right_to_left_text_apart_and_spells_out_the_rest():
    assert cli._seen("a \u2068שלום\u2069 b") == "a \u2068שלום\u2069 b"
    assert cli._seen("\u2068a\u202e\u2069") == "\u2068a\\u202e\u2069"
    assert cli._seen("\u2068\u2068 \u2069") == "\\u2068\u2068 \u2069"
    assert cli._seen("\u2069a\u2068") == "\\u2069a\\u2068"


def test_a_name_that_is_no_text_is_refused():
    assert "there is no such file" in run("attend", "\udcff.yaml").message
    assert run("new", "\udcff.yaml").code == 0


# odd tokens and odd consoles ---------------------------------------------------------------------


@pytest.mark.parametrize("lang", LANGS)
def test_no_token_steers_the_terminal(odd, lang):
    whole = ["attend", odd] if lang == "ko" else ["attend", odd, "--token", "0", "--stage", "x"]
    for arguments in (whole, ["explain", odd, "0", "2"], ["attend", odd, "--markdown", "--stage", "weights"]):
        text = run(*arguments, "--lang", lang).text
        assert not CONTROL.search(text)
        assert "\\u001b[31mred" in text.replace("\\\\", "\\").replace("\\[", "[")
        assert "\\none" not in text
        assert "one\\ntwo" in text.replace("\\\\", "\\")


def test_csv_to_a_terminal_is_made_harmless(odd):
    assert not CONTROL.search(run("attend", odd, "--csv", tty=True).text)
    assert CONTROL.search(run("attend", odd, "--csv").text)


@pytest.mark.parametrize("encoding", ["cp949", "ascii", "utf-16"])
@pytest.mark.parametrize("lang", LANGS)
def test_any_console_gets_only_what_it_can_show(odd, encoding, lang):
    for arguments in (
        ["attend", odd, "--stage", "weights"],
        ["attend", odd, "--markdown", "--stage", "weights"],
        ["attend", odd, "--csv", "--stage", "weights"],
        ["attend", odd, "--json", "--stage", "weights"],
        ["explain", odd],
        ["explain", odd, "--markdown"],
        ["attend", "it-soft", "--layer", "0"],
        ["--help"],
        ["attend", "--help"],
        ["draw", odd],
        ["draw", odd, "--kind", "heads"],
        ["compare", odd, odd],
        ["design", "student"],
        ["examples"],
        ["examples", "student"],
        ["scaling", "--d", "2"],
        ["new", "é가😀.yaml", "--force"],
        ["completion", "fish"],
    ):
        done = run(*arguments, "--lang", lang, encoding=encoding)
        assert done.text
        if "--json" in arguments:
            assert json.loads(done.text) == json.loads(run(*arguments).text)
    assert run("attend", "없음😀", "--lang", lang, encoding=encoding).message


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("lang", LANGS)
def test_a_cp949_console_shows_the_packaged_examples(name, lang):
    for command in ("attend", "explain"):
        text = run(
            command,
            name,
            *(["--layer", "1"] if name in ("it-tired", "it-soft") else []),
            "--lang",
            lang,
            encoding="cp949",
        ).text
        assert "\\u" not in text
        assert "?" not in re.sub(r"[a-z가-힣']\?|\?'", "", text)


def test_a_cp949_process(odd):
    assert hangul(process("explain", odd, "--lang", "ko", PYTHONIOENCODING="cp949").stdout.decode("cp949"))
    assert "\\ud55c\\uae00" in process("attend", odd, "--stage", "x", PYTHONIOENCODING="ascii").stdout.decode("ascii")
    refused = process("attend", "없음", "--lang", "ko", check=False, PYTHONIOENCODING="cp949")
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert "알 수 없는 예제" in refused.stderr.decode("cp949")


# widths and colours -----------------------------------------------------------------------------


@pytest.mark.parametrize("width", [20, 40, 80])
@pytest.mark.parametrize("lang", LANGS)
def test_no_line_is_wider_than_the_terminal(monkeypatch, width, lang):
    monkeypatch.setenv("COLUMNS", str(width))
    for arguments in (
        ["attend", "student"],
        ["explain", "bank-money"],
        ["draw", "bank-money"],
        ["design", "student"],
        ["examples"],
        ["scaling", "--d", "2,64"],
        ["--help"],
    ):
        for line in run(*arguments, "--lang", lang).text.splitlines():
            assert cell_len(line) <= width or arguments == ["--help"], line


@pytest.mark.parametrize("width", [5, 20])
def test_odd_tokens_fit_any_terminal(monkeypatch, odd, width):
    monkeypatch.setenv("COLUMNS", str(width))
    for arguments in (["explain", odd], ["attend", odd, "--token", "3", "--stage", "weights"]):
        assert run(*arguments).text


@pytest.mark.parametrize("name", ["bank-money", "cat-fish"])
@pytest.mark.parametrize("stage", ["x", "weights", "output"])
@pytest.mark.parametrize("encoding", ["utf-8", "cp949"])
def test_columns_are_aligned_by_cells(monkeypatch, name, stage, encoding):
    monkeypatch.setenv("COLUMNS", "120")
    for lang in LANGS:
        lines = run("attend", name, "--stage", stage, "--lang", lang, encoding=encoding).text.splitlines()
        start = max(at for at, line in enumerate(lines) if line.startswith(("─", "-"))) + 2
        table = lines[start : start + 1 + len(examples.load(name).tokens)]
        ends = [[cell_len(line[: found.end()]) for found in re.finditer(r"\S(?=\s|$)", line)] for line in table[1:]]
        columns = (
            len(examples.load(name).tokens)
            if stage in ("weights", "scores")
            else jumok.attend(examples.load(name)).rows("output").shape[1]
        )
        columns = examples.load(name).x.shape[1] if stage == "x" else columns
        assert len({tuple(row[-columns:]) for row in ends}) == 1
        assert len({cell_len(line) for line in table}) == 1


def test_colours_only_where_they_are_wanted(monkeypatch):
    assert "\x1b" not in run("attend", "student").text
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = process("attend", "student", TERM="xterm-256color", FORCE_COLOR="1").stdout
    assert re.search(
        rb"\x1b\[[\d;]*48;[25];", coloured
    )  # a process of its own: rich keeps the first way it writes a colour in
    run("attend", "student", "-o", "a.txt")
    run("explain", "student", "-o", "b.txt")
    assert b"\x1b" not in Path("a.txt").read_bytes() + Path("b.txt").read_bytes()
    for flag in ("--json", "--csv", "--markdown"):
        assert "\x1b" not in run("attend", "student", flag).text
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run("attend", "student").text
    assert "\x1b" not in run("explain", "student").text
    monkeypatch.setenv("NO_COLOR", "")
    assert "\x1b" in run("attend", "student").text
    monkeypatch.delenv("FORCE_COLOR")
    assert "\x1b" not in process("attend", "student", TERM="xterm-256color").stdout.decode()
    assert b"\x1b" in process("attend", "student", TERM="xterm-256color", FORCE_COLOR="1").stdout
    assert b"\x1b" not in process("attend", "student", TERM="xterm-256color", FORCE_COLOR="1", NO_COLOR="1").stdout


def test_colours_take_nothing_away(monkeypatch):
    plain = run("attend", "student").text
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = re.sub(r"\x1b\[[0-9;]*m", "", run("attend", "student").text)
    weights = re.compile(r"\d\.\d{3}")
    assert weights.findall(coloured) == weights.findall(plain)


# processes --------------------------------------------------------------------------------------

JUMOK = [sys.executable, "-W", "error", "-m", "jumok"]
MANY = [
    [],
    ["attend", "student", "--csv"],
    ["examples", "student"],
    ["--help"],
]


@pytest.mark.parametrize("arguments", MANY)
def test_a_reader_that_has_gone_is_no_error(arguments):
    with subprocess.Popen([*JUMOK, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        child.stdout.close()
        err = child.stderr.read()
    assert (child.returncode, err) == (0, b"")


def test_a_reader_that_stops_after_a_line_is_no_error():
    script = f"{shlex.join([*JUMOK, 'attend', 'student'])} | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=60)
    assert (done.stdout.splitlines()[1], done.stderr) == (b"0", b"")


@pytest.mark.parametrize("arguments", MANY)
def test_a_full_disk_is_told(arguments):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*JUMOK, *arguments], stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 2
    assert done.stderr.decode() == "jumok: cannot write the output: no room is left on the disk\n"


def test_an_interruption_ends_quietly():
    code, screen = interrupted("jumok.measurement.spread:dot", 2, "scaling", "--d", "256,4", "--keys", "16")
    assert (code, screen.strip()) == (130, "")


def test_the_module_and_the_command_are_one():
    assert process("attend", "student").stdout.decode() == run("attend", "student").text
    command = Path(sys.executable).with_name("jumok")
    done = subprocess.run([command, "attend", "nothing"], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"jumok: ")
    assert done.stderr.count(b"\n") == 1


def test_a_pipe_can_be_read_as_a_file():
    text = examples.load("student").text
    with subprocess.Popen(
        [sys.executable, "-m", "jumok", "attend", "/dev/stdin", "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        out, _ = child.communicate(text.encode(), timeout=60)
    assert json.loads(out)["stages"]["weights"] == jumok.attend(examples.load("student")).weights.tolist()


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("command", [["attend", "student"], ["draw", "student"], ["cost"]])
def test_a_second_output_is_refused_and_neither_is_written(command, lang):
    message = run(*command, "-o", "a.json", "-o", "b.json", "--lang", lang).message
    assert "a.json, b.json" in message
    assert hangul(message) == (lang == "ko")
    assert not list(Path.cwd().glob("*.json"))


def test_messages_name_commands_as_they_are_typed_here(monkeypatch):
    monkeypatch.setenv("JUMOK_CALLED", "python3 run.py")
    assert "`python3 run.py new my.yaml`" in run("attend", "  ").message
    assert "`python3 run.py new nothing.yaml`" in run("attend", "nothing").message
    assert "`python3 run.py lesson`" in run("lesson", "13").message


@pytest.mark.parametrize("number", ["0", "13", "999"])
def test_a_lesson_by_a_number_that_is_none_is_told_the_numbers_there_are(number):
    message = run("lesson", number).message
    assert "numbered 1 to 12" in message
    assert "Did you mean" not in message
