"""jumok design: what is printed and written, every option, several files, interruption, and what is refused."""

import csv
import io
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len

import jumok
from interrupted import interrupted
from jumok.sources import example as examples
from test_cli import CONTROL, LANGS, hangul, odd_text, process, run
from test_cli import at_home as at_home

ALONE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # threads that wait for each other take ten times as long
WANTED = np.array([0.02, 0.20, 0.05, 0.55, 0.18])
CAT = """# a comment that stays
dimensions: [Noun, Verb, Small]
tokens:
  - it: {}
  - cat: {Noun: 1}
  - cat: {Noun: 1}
  - mat: {Noun: 1, Small: 1}  # kept
  - sat: {Verb: 1}
mask: causal
wanted:  # of two rows
  mat: {cat#1: 0.7, cat#2: 0.1, mat: 0.2}
  sat: {cat#1: 0.3, mat: 0.7}
"""
TWO_HEADS = """dimensions: [A, B, C]
tokens: [{p: {A: 1}}, {q: {B: 1}}, {r: {C: 1}}]
weights: {w_q: [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], w_k: [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], w_v: [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]}
heads: 2
wanted: [{p: {q: 0.9}}, {r: {p: 0.5, q: 0.3, r: 0.2}}]
"""  # fmt: skip


def designed(*arguments):
    """A command that also wrote something, and says so beside the output."""
    done = run("design", *arguments)
    assert done.code == 0, done.err
    return done


def big(n=140, d=30):
    """A search of seconds: n tokens that want nothing but two others each, in d random dimensions."""
    rng = np.random.default_rng(0)
    rows = ", ".join(f"t{i}: {{t{rng.integers(i)}: 0.7, t{i}: 0.3}}" for i in range(1, n))
    tokens = "".join(f"  - t{i}: {row}\n" for i, row in enumerate(rng.normal(size=(n, d)).round(2).tolist()))
    return f"tokens:\n{tokens}wanted: {{{rows}}}\n"


# printed ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", LANGS)
def test_it_shows_wanted_beside_reached_the_weights_and_why(lang):
    text = run("design", "student", "--lang", lang).text
    assert re.search(
        r"studies +0\.02 +0\.20 +0\.05 +0\.55 +0\.18\n.*= \S+.* +0\.02 +0\.20 +0\.05 +0\.55 +0\.18\n", text
    )
    assert re.search(r"Action +4\.605 +1\.833 +6\.628 +4\.394\n", text)
    assert {"en": "W_K is the identity: K = X", "ko": "W_K는 단위 행렬: K = X"}[lang] in text
    assert {"en": "to 1e-7", "ko": "1e-7 안에서"}[lang] in text
    for numbers in ("The 0, student 2.303, studies 0.916", "deep learning 6.628, carefully"):
        assert numbers in re.sub(r"\s+", " ", text)
    assert hangul(text) or lang == "en"


def test_the_reasons_are_told_with_what_would_lift_them():
    Path("cat.yaml").write_text(CAT)
    en, ko = (re.sub(r"\s+", " ", run("design", "cat.yaml", "--lang", lang).text) for lang in LANGS)
    assert "'cat#1' and 'cat#2' have the same embedding" in en
    assert "→ would lift it: A position encoding" in en
    assert "The worst row: mat, KL" in en
    assert "nearer by more than" in en
    assert "토큰 'cat#1', 'cat#2'의 임베딩이 같습니다" in ko
    assert "→ 풀려면: 위치 인코딩" in ko
    assert "가장 어긋난 행: mat." in ko


def test_every_head_is_shown():
    Path("two.yaml").write_text(TWO_HEADS)
    text = run("design", "two.yaml").text
    assert "Wanted and reached · head 0" in text
    assert "Wanted and reached · head 1" in text
    assert text.count("Reached: every wanted row") == 2


def test_a_piped_screen_is_plain_and_no_line_is_too_wide(monkeypatch):
    Path("cat.yaml").write_text(CAT)
    for width in (24, 40, 80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        for lang in LANGS:
            for name in ("student", "cat.yaml"):
                text = run("design", name, "--lang", lang).text
                assert "\x1b" not in text
                assert all(cell_len(line) <= width for line in text.splitlines())


@pytest.mark.parametrize("encoding", ["cp949", "ascii"])
def test_odd_tokens_steer_no_terminal(encoding):
    Path("odd.yaml").write_text(odd_text() + 'wanted: {"=1+1": {"[bold]x[/bold] [/]": 0.5}}\n', encoding="utf-8")
    for lang in LANGS:
        for arguments in ([], ["--json"]):
            assert not CONTROL.search(run("design", "odd.yaml", *arguments, "--lang", lang, encoding=encoding).text)
    rows = list(csv.DictReader(io.StringIO(run("design", "odd.yaml", "--csv").text, newline="")))
    assert {row["key_token"] for row in rows if row["stage"] == "wanted"} >= {"\x1b[31mred", "a|b"}


def test_json_and_csv_have_every_digit():
    plain = json.loads(run("design", "student", "--json").text, parse_constant=pytest.fail)
    found = jumok.design(jumok.load("student"))
    assert (plain["format"], plain["version"], plain["exact"]) == ("jumok-design", 1, True)
    assert plain["w_q"] == found.w_q.tolist()
    assert plain["sentences"][0]["reached"] == found.reached.tolist()
    assert plain["sentences"][0]["wanted"] == [{"2": {str(key): a for key, a in enumerate(WANTED)}}]
    rows = list(csv.DictReader(io.StringIO(run("design", "student", "--csv").text)))
    cells = {
        stage: [float(row["value"]) for row in rows if row["stage"] == stage] for stage in ("wanted", "weights", "w_q")
    }
    assert cells["wanted"] == WANTED.tolist()
    assert cells["weights"] == found.reached[0, 2].tolist()
    assert cells["w_q"] == found.w_q.ravel().tolist()
    assert {row["query_token"] for row in rows if row["stage"] == "wanted"} == {"studies"}


# written ----------------------------------------------------------------------------------------


def test_the_designed_file_keeps_its_comments_and_reaches_what_was_printed():
    Path("cat.yaml").write_text(CAT)
    done = designed("cat.yaml", "-o", "out.yaml")
    assert done.out == run("design", "cat.yaml").text
    assert done.err == "written: out.yaml\n"
    text = Path("out.yaml").read_text()
    for comment in ("# a comment that stays", "# kept", "# of two rows"):
        assert comment in text
    reached = json.loads(run("design", "cat.yaml", "--json").text)["sentences"][0]["reached"]
    again = jumok.attend(jumok.load("out.yaml"))
    assert np.abs(again.weights - np.array(reached)).max() < 1e-12
    assert jumok.load("out.yaml").wanted == jumok.load("cat.yaml").wanted
    assert run("attend", "out.yaml").code == run("explain", "out.yaml").code == 0


def test_the_worked_example_is_written_as_it_was_but_for_its_query():
    designed("student", "-o", "out.yaml")
    before, after = examples.load("student").text.splitlines(), Path("out.yaml").read_text().splitlines()
    assert set(before) - set(after) == {line for line in before if "w_q:" in line}
    again = jumok.attend(jumok.load("out.yaml"))
    assert np.abs(again.weights[0, 2] - WANTED).max() < 1e-12
    assert "rounded, so the weights" not in run("explain", "out.yaml", "studies").text.replace("\n  ", " ")


def test_a_page_carries_the_design():
    Path("cat.yaml").write_text(CAT)
    assert designed("cat.yaml", "-o", "out.html").out == ""
    (header,) = re.findall(r'data-jumok-header="\w+">(.*?)</script>', Path("out.html").read_text())
    told = [value for value in json.loads(header)["__metadata__"].values() if '"design"' in value]
    (source,) = [one for one in sources(json.loads(told[0])) if "design" in one]
    assert source["design"] == jumok.design(jumok.load("cat.yaml")).to_json()
    assert source["wanted"][0].keys() == {"3", "4"}


def sources(plain):
    """The details of every source that stands somewhere in JSON."""
    if isinstance(plain, dict):
        if "details" in plain:
            yield plain["details"]
        plain = list(plain.values())
    for one in plain if isinstance(plain, list) else ():
        yield from sources(one)


def test_a_saved_record_carries_the_design():
    designed("student", "-o", "out.safetensors")
    saved = jumok.load("out.safetensors")
    assert saved.source.details["design"] == jumok.design(jumok.load("student")).to_json()
    assert saved.source.details["wanted"] == [{"2": {str(key): a for key, a in enumerate(WANTED)}}]
    assert np.abs(saved.weights[0, 2] - WANTED).max() < 1e-12


@pytest.mark.parametrize(("suffix", "arguments"), [("json", ["--json"]), ("csv", ["--csv"]), ("txt", [])])
def test_a_file_holds_what_the_screen_would(suffix, arguments):
    done = designed("student", "-o", f"out.{suffix}")
    assert (done.out, done.err) == ("", f"written: out.{suffix}\n")
    assert Path(f"out.{suffix}").read_bytes().decode("utf-8-sig") == run("design", "student", *arguments).text


def sentences():
    """Two files that share their dimensions."""
    Path("one.yaml").write_text(CAT)
    Path("two.yaml").write_text(
        CAT.replace("sat: {cat#1: 0.3, mat: 0.7}", "it: {it: 1}").replace("  - sat: {Verb: 1}\n", "")
    )
    return ["one.yaml", "two.yaml"]


def test_several_files_share_one_w_and_are_written_into_a_folder():
    files = sentences()
    text = designed(*files, "-o", "out").out
    assert "sentence 0: one.yaml" in text
    assert "sentence 1: two.yaml" in text
    assert sorted(os.listdir("out")) == files
    first, second = (jumok.load(f"out/{name}").layers[0] for name in files)
    assert np.array_equal(first.w_q, second.w_q)
    assert np.array_equal(first.w_k, second.w_k)
    found = jumok.design([jumok.load(name) for name in files])
    for name, reached in zip(files, found.reached, strict=True):
        assert np.abs(jumok.attend(jumok.load(f"out/{name}")).weights - reached).max() < 1e-12
    plain = json.loads(run("design", *files, "--json").text)
    assert [one["name"] for one in plain["sentences"]] == files
    assert designed(*files, "-o", "out").code == 0, "a folder that is there is written into"


@pytest.mark.parametrize("stop", ["folder", "error"])
def test_several_files_are_written_all_or_none(monkeypatch, stop):
    files = sentences()
    if stop == "folder":
        Path("out/two.yaml").mkdir(parents=True)
    else:
        from jumok import files as written

        synced = []

        def sync(name):
            synced.append(name)
            if len(synced) == 1:
                raise OSError(28, "No space left on device")

        monkeypatch.setattr(written, "_sync", sync)
    assert "cannot write out" in run("design", *files, "-o", "out").err
    assert [str(path) for path in Path("out").rglob("*")] == (["out/two.yaml"] if stop == "folder" else [])
    assert Path("out").exists() == (stop == "folder")


# options ----------------------------------------------------------------------------------------


def test_a_width_a_fixed_side_and_what_to_stay_near_to():
    Path("cat.yaml").write_text(CAT)
    designed("student", "--d-k", "2", "-o", "narrow.yaml")
    assert jumok.load("narrow.yaml").layers[0].w_q.shape == (4, 2)
    plain = json.loads(run("design", "cat.yaml", "--fix-k", "identity", "--json").text)
    assert (plain["w_k"], plain["fixed"]) == (np.eye(3).tolist(), "w_k")
    plain = json.loads(run("design", "student", "--fix-q", "given", "--json").text)
    assert (plain["w_q"], plain["fixed"]) == (jumok.load("student").layers[0].w_q.tolist(), "w_q")
    zero = np.array(json.loads(run("design", "student", "--near", "zero", "--json").text)["w_q"])
    assert np.linalg.matrix_rank(zero) == 1, "nothing but the wanted row"
    given = json.loads(run("design", "student", "--near", "given", "--fix-k", "given", "--json").text)
    assert np.abs(np.array(given["w_q"]) - jumok.load("student").layers[0].w_q).max() < 1e-3


def test_a_ridge_says_how_small_a_wanted_0_gets():
    Path("zero.yaml").write_text("dimensions: [A, B]\ntokens: [{p: {A: 1}}, {q: {B: 1}}]\nwanted: {p: {q: 1}}\n")
    small, large = (
        json.loads(run("design", "zero.yaml", "--ridge", ridge, "--json").text)["reasons"][0]["facts"]["largest"]
        for ridge in ("1e-6", "1e-3")
    )
    assert 0 < small < large < 0.1


def test_a_layer_is_designed_and_the_others_stay():
    text = examples.load("it-tired").text + "\nwanted: {it: {cat: 0.5}}\n"
    Path("it.yaml").write_text(text, encoding="utf-8")
    before = jumok.load("it.yaml").layers
    for layer in (0, 1):
        designed("it.yaml", "--layer", str(layer), "-o", "out.yaml", "--lang", "ko")
        after = jumok.load("out.yaml").layers
        assert np.array_equal(after[1 - layer].w_q, before[1 - layer].w_q)
        trace = jumok.attend(jumok.load("out.yaml"))[layer]
        assert trace.rows("weights", queries=["it"])[0, 0, trace.index("cat")] == pytest.approx(0.5)
        designed("it.yaml", "--layer", str(layer), "-o", "out.safetensors")
        details = [one.source.details for one in jumok.load("out.safetensors")]
        assert ["design" in one for one in details] == ["wanted" in one for one in details] == [layer == 0, layer == 1]


# interruption -----------------------------------------------------------------------------------


def test_ctrl_c_ends_with_the_best_so_far_and_resume_ends_where_an_uninterrupted_search_does():
    Path("big.yaml").write_text(big())
    bar = "jumok.picture.progress:SearchBar.show"
    code, out = interrupted(bar, 5, "design", "big.yaml", "-o", "part.yaml", "--lang", "en", columns=100)
    assert code == 130, out
    assert re.search(r"head 0 of 1 · step \d+ · loss \S+ · gap ≤ \S+ nats", out)
    assert "stopping after this step" in out
    assert "stopped before the best was found: at most" in out
    assert "this is the best so far" in re.sub(r"\s+", " ", out)
    assert "Traceback" not in out
    part = jumok.load("part.yaml").layers[0]

    whole = json.loads(process("design", "big.yaml", "--json", **ALONE).stdout)
    resumed = json.loads(process("design", "part.yaml", "--resume", "--json", **ALONE).stdout)
    assert whole["finished"]
    assert resumed["finished"]
    assert np.abs(part.w_q - np.array(whole["w_q"])).max() > 0.1, "it was stopped half-way"
    assert resumed["heads"][0]["loss"] == pytest.approx(whole["heads"][0]["loss"], abs=1e-8)
    tables = [np.array(one["sentences"][0]["reached"]) for one in (whole, resumed)]
    assert np.abs(tables[0] - tables[1]).max() < 1e-6


def test_no_bar_where_nobody_watches_and_none_is_left_behind():
    Path("big.yaml").write_text(big(120, 30))
    assert process("design", "big.yaml", "--json", **ALONE).stderr == b""


# refused ----------------------------------------------------------------------------------------

ROW = "dimensions: [A, B]\ntokens: [{p: {A: 1}}, {q: {B: 1}}]\n"
FILES = {
    "none.yaml": ROW,
    "over.yaml": ROW + "wanted: {p: {p: 0.9, q: 0.9}}\n",
    "under.yaml": ROW + "wanted: {p: {p: 0.1, q: 0.1}}\n",
    "who.yaml": ROW + "wanted: {p: {r: 0.9}}\n",
    "negative.yaml": ROW + "wanted: {p: {q: -0.1}}\n",
    "rotary.yaml": ROW + "positions: rotary\nwanted: {p: {q: 0.9}}\n",
    "good.yaml": ROW + "wanted: {p: {q: 0.9}}\n",
    "turned.yaml": ROW.replace("[A, B]", "[B, A]") + "wanted: {p: {q: 0.9}}\n",
    "sub/good.yaml": ROW + "wanted: {p: {q: 0.9}}\n",
}
REFUSED = {
    "no file": ([], "FILES is missing. For example: jumok design student", "예: jumok design student"),
    "an unknown name": (["studnet"], "unknown example 'studnet'", "알 수 없는 예제 'studnet'"),
    "a file that is not there": (["not.yaml"], "not.yaml: there is no such file", "not.yaml"),
    "nothing wanted": (["none.yaml"], "none.yaml: nothing is wanted. Add wanted:", "바라는 것이 없습니다"),
    "nothing wanted in one of two": (["good.yaml", "none.yaml"], "none.yaml: nothing is wanted", "바라는 것이 없습니다"),
    "a row over 1": (["over.yaml"], "1.8", "1.8"),
    "a row under 1": (["under.yaml"], "0.2", "0.2"),
    "a token that is not there": (["who.yaml"], "'r'", "'r'"),
    "a weight below 0": (["negative.yaml"], "-0.1", "-0.1"),
    "rotary positions": (["rotary.yaml"], "design does not work with positions: rotary", "positions: rotary"),
    "a width of 0": (["student", "--d-k", "0"], "d_k expects a whole number of at least 1, got 0", "1 이상의 정수"),
    "a width by name": (["student", "--d-k", "wide"], "--d-k expects whole numbers", "--d-k에는 0 이상의 정수"),
    "both sides fixed": (
        ["student", "--fix-q", "given", "--fix-k", "identity"],
        "--fix-q and --fix-k together leave nothing to design",
        "--fix-q와 --fix-k를 함께",
    ),
    "an unknown side": (["student", "--fix-k", "idenity"], "'idenity'", "알 수 없는 --fix-k 값 'idenity'"),
    "an unknown place to stay near to": (["student", "--near", "one"], "'identity', 'zero', 'given'", "'one'"),
    "a fixed side of another width": (["student", "--fix-k", "identity", "--d-k", "2"], "w_k is given as (4, 4)", "(4, 4)"),
    "near what was given, resumed": (["student", "--near", "given", "--resume"], "do not go together", "함께 쓸 수 없습니다"),
    "a ridge by name": (["student", "--ridge", "small"], "ridge expects a number above 0 and at most 1, got 'small'", "'small'"),
    "a ridge of 0": (["student", "--ridge", "0"], "ridge expects a number above 0", "0보다 크고"),
    "a layer out of range": (["student", "--layer", "1"], "layer expects a number from 0 to 0, got 1", "층에는 0부터 0까지"),
    "a layer below": (["student", "--layer=-1"], "--layer expects whole numbers", "--layer에는 0 이상의 정수"),
    "a saved record": (["saved.safetensors"], "design works on example files", "예제 파일(.yaml)에 씁니다"),
    "a page": (["page.html"], "cannot be read back", "다시 읽을 수 없습니다"),
    "an unknown suffix": (["student", "-o", "out.xlsx"], "how to write: .yaml, .yml, .json", "'out.xlsx'"),
    "no suffix": (["student", "-o", "out"], "the file's name says how to write", "파일 이름의 끝"),
    "no name": (["student", "-o", ""], "a file's name is needed", "파일 이름이 필요한데"),
    "two formats": (["student", "--json", "--csv"], "one format at a time", "형식은 하나만"),
    "two ways to write": (["student", "--json", "-o", "out.yaml"], "--json and 'out.yaml' say two ways", "서로 다른 형식"),
    "no folder": (["student", "-o", "no/out.yaml"], "cannot write no/out.yaml: there is no such folder", "쓸 수 없습니다"),
    "no folder for a folder": (["good.yaml", "student", "-o", "no/out"], "other dimensions", "차원"),
    "several into a file": (["good.yaml", "sub/good.yaml", "-o", "out.yaml"], "several files are designed into a folder", "폴더"),
    "two of one name": (["good.yaml", "sub/good.yaml", "-o", "out"], "two of the files are called good.yaml", "good.yaml인 파일이 둘"),
    "several into what is a file": (["good.yaml", "sub/two.yaml", "-o", "none.yaml/out"], "not a folder", "폴더"),
    "other dimensions": (["good.yaml", "student"], "student has other dimensions (Person, Action, Knowledge, Method) than good.yaml (A, B)", "다릅니다"),
    "the same dimensions in another order": (["good.yaml", "turned.yaml"], "turned.yaml has other dimensions (B, A)", "(B, A)"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    arguments, en, ko = REFUSED[what]
    Path("sub").mkdir()
    for name, text in {**FILES, "sub/two.yaml": FILES["good.yaml"]}.items():
        Path(name).write_text(text)
    jumok.attend(examples.load("student")).save("saved.safetensors")
    there = sorted(str(path) for path in Path().rglob("*"))
    assert en in run("design", *arguments).message
    message = run("--lang", "ko", "design", *arguments).message
    assert ko in message
    assert hangul(message)
    assert sorted(str(path) for path in Path().rglob("*")) == there


def wide(d):
    """An example of so many dimensions, of which three tokens have one each."""
    names = [f"D{i}" for i in range(d)]
    tokens = "".join(f"  - t{i}: {{D{i}: 1}}\n" for i in range(3))
    sides = "weights: {w_q: identity, w_k: identity, w_v: identity}\n"
    return f"dimensions: [{', '.join(names)}]\ntokens:\n{tokens}{sides}wanted: {{t0: {{t1: 0.8}}}}\n"


def test_what_no_file_would_hold_is_refused_before_the_search_and_nothing_else():
    Path("fits.yaml").write_text(wide(128))
    Path("large.yaml").write_text(wide(210))
    assert run("design", "fits.yaml", "-o", "out.yaml").code == 0
    assert jumok.attend(jumok.load("out.yaml")).rows("weights", queries=["t0"])[0, 0, 1] == pytest.approx(0.8)
    refused = run("design", "large.yaml", "-o", "none.yaml")
    assert (refused.code, Path("none.yaml").exists()) == (2, False)
    assert "-o designed.safetensors" in refused.message
    assert (
        "layer expects a number from 0 to 0" in run("design", "large.yaml", "--layer", "3", "-o", "none.yaml").message
    )
