"""jumok learn: tasks, what is printed and written, saved runs, going on, interruption, and what is refused."""

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len

import jumok
from interrupted import interrupted
from jumok.cli_learn import _progress
from jumok.sources.learn.tasks import NAMES
from test_cli import CONTROL, LANGS, hangul, run
from test_cli import at_home as at_home

STEPS = ("--steps", "30")


def learned(*arguments):
    """A command that also wrote something, and says so beside the output."""
    done = run("learn", *arguments)
    assert done.code == 0, done.err
    return done


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A saved run."""
    path = tmp_path_factory.mktemp("runs") / "run.safetensors"
    jumok.learn("previous", steps=30, out=path)
    return path


# tasks --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", LANGS)
def test_without_a_task_the_tasks_are_listed(lang):
    text = run("learn", "--lang", lang).text
    assert [line.split()[0] for line in text.splitlines()[1:]] == [*NAMES, "my.tsv", "my.yaml"]
    assert run("learn", "--list", "--lang", lang).text == text
    assert hangul(text) or lang == "en"
    assert {"en": "What does “it” mean?", "ko": "무엇을 가리키는가?"}[lang] in text


def test_listing_loads_no_pytorch():
    code = "import sys; from jumok.cli import run; run(['learn']); sys.exit('torch' in sys.modules or 'scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


# printed and written ------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", LANGS)
def test_it_prints_what_came_of_it(lang):
    text = run("learn", "previous", *STEPS, "--lang", lang).text
    found = jumok.learn("previous", steps=30)
    assert found.task.title[lang] in text
    assert re.sub(r"\s+", "", jumok.explain(found, lang=lang).sections()[-1].lines[0][1]) in re.sub(r"\s+", "", text)
    assert "█" in text
    assert not CONTROL.search(text)


def test_every_option_reaches_the_training():
    options = {
        "layers": 2,
        "heads": 2,
        "d-model": 8,
        "d-mlp": 4,
        "learning-rate": 0.01,
        "batch": 4,
        "seed": 3,
        "steps": 2,
    }
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    settings = json.loads(run("learn", "previous", *arguments, "--no-norm", "--json").text)["settings"]
    assert settings["sizes"] == {"n_layers": 2, "n_heads": 2, "d_model": 8, "d_mlp": 4, "norm": False}
    assert (settings["seed"], settings["steps"], settings["batch"], settings["learning_rate"]) == (3, 2, 4, 0.01)


def test_several_files_at_once():
    names = ["a.safetensors", "a.json", "a.csv", "a.svg", "a.md", "a.txt", "a.html"]
    done = learned("previous", *STEPS, *(part for name in names for part in ("-o", name)))
    assert all(f"written: {name}" in done.err for name in names)
    found = jumok.load("a.safetensors")
    plain = json.loads(Path("a.json").read_text(encoding="utf-8"))
    assert plain["curves"]["loss"] == found.history.loss.tolist()
    assert plain["emerged"]["accuracy"] == found.accuracy
    assert plain["text"]["ko"] == jumok.explain(found, lang="ko").text()
    rows = list(csv.DictReader(io.StringIO(Path("a.csv").read_text(encoding="utf-8-sig"))))
    assert [float(row["value"]) for row in rows if row["curve"] == "loss"] == found.history.loss.tolist()
    assert Path("a.svg").read_text(encoding="utf-8").startswith("<svg")
    assert Path("a.md").read_text(encoding="utf-8").startswith("# Which token")
    assert re.sub(r"\s", "", Path("a.txt").read_text(encoding="utf-8")) in re.sub(r"\s", "", done.out)
    assert "<script" in Path("a.html").read_text(encoding="utf-8")


def test_a_task_of_ones_own():
    lines = [f"a{i % 4} b{i % 5} c{i % 7}\tx{i % 4}" for i in range(40)]
    Path("mine.tsv").write_text("\n".join(lines), encoding="utf-8")
    text = run("learn", "mine.tsv", "--steps", "3").text
    assert text.startswith("mine\n")
    assert "40" in text


# a saved run --------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", LANGS)
def test_a_saved_run_prints_the_same(kept, lang):
    text = run("learn", "--show", kept, "--lang", lang).text
    assert text == run("learn", "previous", *STEPS, "--lang", lang).text
    assert text == run("explain", kept, "--lang", lang).text


def test_a_saved_run_is_looked_at_without_pytorch(kept):
    code = (
        f"import sys; from jumok.cli import run; code = run(['explain', {str(kept)!r}]); "
        f"code += run(['draw', {str(kept)!r}, '--step', '0']); sys.exit(code or 'torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


def test_one_step_of_it_is_a_record_like_any_other(kept):
    trace = jumok.load(kept).history.trace(10, probe=1)
    assert run("explain", kept, "--step", "10", "--probe", "1").text == _explained(trace)
    plain = json.loads(run("attend", kept, "--step", "10", "--probe", "1", "--json").text)
    assert plain["stages"]["weights"] == trace.weights.tolist()
    learnt = run("draw", kept, "--step", "10", "--probe", "1", "-o", "a.csv")
    assert learnt.code == 0
    numbers = [
        float(row["value"]) for row in csv.DictReader(io.StringIO(Path("a.csv").read_text(encoding="utf-8-sig")))
    ]
    assert numbers == trace.weights.ravel().tolist()


def _explained(trace):
    trace.save("trace.safetensors")
    return run("explain", "trace.safetensors").text


def test_a_token_of_it_is_explained_at_the_end(kept):
    assert run("explain", kept, "3").text == run("explain", kept, "3", "--step", "30").text


@pytest.mark.parametrize("lang", LANGS)
def test_what_the_gradient_of_a_step_asks(kept, lang):
    told = jumok.explain_step(jumok.load(kept).history, 3, 1, token=5, lang=lang)
    asked = ("explain", kept, "5", "--step", "3", "--probe", "1", "--gradient")
    words = run(*asked, "--lang", lang).text.split()
    assert [word for word in words if set(word) != {"─"}] == str(told).split()
    assert json.loads(run(*asked, "--json").text) == told.to_json()
    assert run(*asked, "--markdown", "--lang", lang).text.count("## ") == len(told.sections()) == 7


def test_the_gradient_is_of_runs_and_of_one_token(kept):
    for arguments in (("student",), (kept, "1", "2")):
        assert "--gradient is for a training run" in run("explain", *arguments, "--gradient").message


def test_its_curves_are_drawn_and_its_explanation_written(kept):
    assert run("draw", kept, "-o", "a.svg").err == "written: a.svg\n"
    assert run("draw", kept).text == run("explain", kept).text
    assert json.loads(run("explain", kept, "--json").text)["name"] == "previous"
    assert run("explain", kept, "--markdown").text.startswith("## ")
    run("learn", "--show", kept, "-o", "b.csv", "-o", "b.json")
    assert Path("b.csv").is_file()
    assert Path("b.json").is_file()


# going on, and stopping -----------------------------------------------------------------------------


def test_resume_goes_on_to_the_same_end(monkeypatch):
    def stop(_progress):
        raise KeyboardInterrupt

    part = jumok.learn("previous", steps=30, out="part.safetensors", progress=stop)
    assert part.step < 30
    done = learned("previous", *STEPS, "-o", "part.safetensors", "--resume")
    whole = jumok.learn("previous", steps=30)
    found = jumok.load("part.safetensors")
    assert found.history.loss.tolist() == whole.history.loss.tolist()
    assert all(np.array_equal(found.tensors[name], whole.tensors[name]) for name in whole.tensors)
    assert "written: part.safetensors" in done.err


def test_the_step_on_the_way_is_the_one_whose_loss_is_shown():
    shown = []

    class Bar:
        is_due = True

        def show(self, step, _steps, loss, *_):
            shown.append((step, loss))

    class Never:
        asked = False

    run = jumok.learn("previous", steps=4, progress=_progress("en", Bar(), Never()))
    assert shown == list(enumerate(run.history.loss.tolist()))


def test_ctrl_c_keeps_what_there_is_and_says_how_to_go_on():
    bar = "jumok.picture.learning:LearnBar.show"
    code, out = interrupted(bar, 3, "learn", "repeat", "--seed", "3", "-o", "long.safetensors", "--lang", "en")
    assert code == 130, out
    step = int(re.search(r"stopped at step ([\d,]+)", out)[1].replace(",", ""))
    assert 0 < step == jumok.load("long.safetensors").step < 900
    assert "jumok learn repeat --seed 3 -o long.safetensors --resume" in re.sub(r"\r?\n", "", out)
    assert re.search(r"step \d+ of 900 · loss \d", out)
    assert re.search(r"→ .*\d+\.\d%", out)


# what is refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "en", "ko"),
    [
        (["nothing"], "unknown task 'nothing'", "과제"),
        (["previous", "--steps", "0"], "steps expects a whole number from 1", "정수"),
        (["previous", "--steps", "many"], "--steps expects whole numbers", "정수"),
        (["previous", "--heads", "5"], "n_heads expects a whole number from 1 to 4", "정수"),
        (["previous", "--learning-rate", "fast"], "--learning-rate expects a number", "수가 필요한데"),
        (["previous", "--resume"], "--resume needs the file", "이어서 할 파일"),
        (["previous", "-o", "a.doc"], "the file's name says how to write", "형식"),
        (["previous", "-o", "no/such/a.safetensors"], "cannot write no/such/a.safetensors", "쓸 수 없습니다"),
        (["previous", "-o", "no/such/a.svg"], "cannot write no/such/a.svg", "쓸 수 없습니다"),
        (["previous", "-o", "a.safetensors", "-o", "b.safetensors"], "one .safetensors at a time", "하나만"),
        (["previous", "--show", "a.safetensors"], "leave one out", "하나만"),
        (["--show", "none.safetensors"], "there is no such file", "그런 파일이 없습니다"),
        (["--show", "student"], "holds no training run", "학습 기록이 없습니다"),
        (["student", "--layers", "2"], "leave out", "빼"),
        (["previous", "--heads", "3"], "does not divide d_model=", "n_heads=3으로"),
        (["previous", "--batch", "0"], "from 1 to 4096, got 0", "0이 왔습니다"),
    ],
)
def test_it_is_refused_before_any_training(arguments, en, ko):
    assert en in run("learn", *arguments, "--lang", "en").message
    assert ko in run("learn", *arguments, "--lang", "ko").message
    assert not list(Path().iterdir())


def test_a_run_is_not_written_over_itself_as_something_else(kept):
    assert "is the .safetensors of this run" in run("learn", "--show", kept, "-o", "b.safetensors").message


def test_a_moment_is_refused_where_nothing_was_trained(kept):
    for command in ("attend", "explain", "draw"):
        assert "are for a training run" in run(command, "student", "--step", "3").message
    assert "expects a position" in run("attend", kept, "--probe", "9").message
    assert "--step expects whole numbers" in run("explain", kept, "--step", "first").message


def test_a_screen_of_80_columns_is_enough(kept, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for lang in LANGS:
        assert all(cell_len(line) <= 80 for line in run("learn", "--show", kept, "--lang", lang).text.splitlines())
