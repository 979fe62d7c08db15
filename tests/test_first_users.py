"""What somebody who had only the README stumbled over, kept as tests."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import jumok
from jumok.cli import run
from jumok.errors import ExampleError, InputError, JumokError, SavedFileError
from jumok.sources.example import parse


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("columns", ["0", "1", "10", "20", "33"])
def test_no_number_is_cut_on_a_narrow_terminal(columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", columns)
    code, out, _ = said(capsys, "attend", "student", "--stage", "weights", "--lang", "en")
    assert code == 0
    assert len(re.findall(r"\b0\.\d{3}\b", out)) == 25
    assert not re.search(r"\d…", out)


def test_columns_0_is_no_width(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("COLUMNS", "0")
    path = tmp_path / "z.txt"
    assert said(capsys, "attend", "student", "-o", str(path))[0] == 0
    assert "0.550" in path.read_text(encoding="utf-8")


def test_a_closed_stdout_is_no_traceback():
    command = f'"{sys.executable}" -m jumok attend student'
    for closed in (">&-", ">&- 2>&-", "--json >&-"):
        done = subprocess.run(["sh", "-c", f"{command} {closed}"], capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b"")


def test_how_it_was_called_is_what_it_says_to_try_next(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("JUMOK_CALLED", "python3 run.py")
    assert "python3 run.py explain student studies" in said(capsys, "--lang", "en")[1]
    assert "python3 run.py attend" in said(capsys, "new", str(tmp_path / "a.yaml"))[1]


def test_a_pair_is_set_beside_a_sentence_in_both_commands(capsys):
    attend, explain = said(capsys, "attend", "it-soft")[1], said(capsys, "explain", "it-soft")[1]
    for text in (attend, explain):
        assert re.search(r"mat\W+(to|대)\W+cat", " ".join(text.split()))


@pytest.mark.parametrize(
    "arguments", [["--csv"], ["--markdown"], ["--json", "--stage", "scores"], ["--stage", "weights", "--csv"]]
)
def test_too_much_text_is_refused_before_it_is_computed(arguments, tmp_path, capsys):
    x = np.ones((1, 3000, 2))
    path = tmp_path / "big.safetensors"
    jumok.attend(q=x, k=x, v=x).save(path)
    code, out, err = said(capsys, "attend", str(path), *arguments, "--lang", "en")
    assert (code, out) == (2, "")
    assert "--token" in err
    assert said(capsys, "attend", str(path), *arguments, "--token", "7")[0] == 0


def test_a_long_record_itself_is_no_table_and_can_be_written_as_json(tmp_path, capsys):
    x = np.ones((1, 3000, 2))
    path = tmp_path / "big.safetensors"
    jumok.attend(q=x, k=x, v=x).save(path)
    code, out, _ = said(capsys, "attend", str(path), "--json")
    assert (code, "stages" in json.loads(out)) == (0, False)


def test_a_long_record_is_shown_at_once(tmp_path, capsys):
    x = np.random.default_rng(0).normal(size=(1, 20_000, 4))
    path = tmp_path / "long.safetensors"
    jumok.attend(q=x, k=x, v=x, rule="causal").save(path)
    stages = [["attend", "--stage", stage] for stage in ("output", "q")]
    for arguments in (["attend"], ["attend", "--stage", "weights", "--token", "19999"], ["explain"], *stages):
        code, out, _ = said(capsys, arguments[0], str(path), *arguments[1:])
        assert code == 0
        assert len(out.splitlines()) < 2500


def test_embeddings_with_their_position_are_called_so(capsys, tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text("dimensions: [a, b]\ntokens: [{p: {a: 1}}, {q: {b: 1}}]\npositions: sinusoidal\n", encoding="utf-8")
    assert "X + position" in said(capsys, "attend", str(path), "--stage", "x")[1]


@pytest.mark.parametrize("suffix", [".json", ".csv", ".md"])
def test_a_file_for_elsewhere_is_not_mistaken_for_an_example(suffix, tmp_path, capsys):
    path = tmp_path / f"a{suffix}"
    assert said(capsys, "attend", "student", "-o", str(path))[0] == 0
    code, _, err = said(capsys, "attend", str(path), "--lang", "en")
    assert code == 2
    assert ".safetensors" in err


def test_a_name_too_long_for_a_file_is_a_name_that_is_not_there(capsys):
    code, _, err = said(capsys, "attend", "x" * 300, "--lang", "en")
    assert code == 2
    assert "unknown example" in err
    with pytest.raises(JumokError):
        jumok.load("x" * 5000)


def test_a_command_nearly_right_is_suggested(capsys):
    assert "Did you mean attend?" in said(capsys, "atend", "--lang", "en")[2]


@pytest.mark.parametrize(
    ("text", "hint"),
    [("{누가:1}", "a colon, a space"), ("{누가: 0,5}", "with a point"), ('{누가: "0,5"}', "a point, not a comma")],
)
def test_numbers_as_people_mistype_them(text, hint):
    with pytest.raises(ExampleError, match=hint):
        parse(f"dimensions: [누가]\ntokens:\n  - 새: {text}\n")


WRONG_DETAILS = [
    {"title": None}, {"title": {"en": {"a": 1}}}, {"title": 3}, {"sentence": 3}, {"meaning": {"Person": 1}}, {"meaning": []},
    {"temperature": [1]}, {"temperature": "x"}, {"temperature": 0}, {"focus": "0"}, {"pair": 1}, {"positions": {}},
    {"residual": "yes"}, {"n_layers": None},
]  # fmt: skip


@pytest.mark.parametrize("details", WRONG_DETAILS, ids=lambda details: json.dumps(details))
def test_details_of_another_kind_are_refused(details, tmp_path):
    with pytest.raises(InputError, match="details"):
        jumok.Source(details=details)
    from safetensors import safe_open
    from safetensors.numpy import save_file

    path = str(tmp_path / "a.safetensors")
    jumok.attend(jumok.load("student")).save(path)
    with safe_open(path, framework="numpy") as file:
        metadata = dict(file.metadata())
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    record = json.loads(metadata["record"])
    record["layers"][0]["source"]["details"] = details
    save_file(tensors, path, metadata=metadata | {"record": json.dumps(record)})
    with pytest.raises(SavedFileError):
        jumok.load(path)


def test_an_overflow_in_the_widest_type_does_not_advise_a_wider_one():
    with pytest.raises(JumokError) as caught:
        jumok.attend(x=[[1e308]], w_q=[[1e308]], w_k=[[1.0]], w_v=[[1.0]])
    assert "inf" not in str(caught.value)
    assert "wider type" not in str(caught.value)


def test_one_python_by_two_names_keeps_its_environment(tmp_path):
    """run.py compares the Python itself, not the name that it was called by."""
    root = Path(__file__).parents[1]
    other = tmp_path / "another-name-of-python"
    other.symlink_to(Path(sys.executable).resolve())
    code = "import run, sys; sys.stdout.write(run._made_from('cli', ''))"
    made = {
        subprocess.run(
            [python, "-c", code], cwd=root, capture_output=True, check=True, env=os.environ | {"PYTHONPATH": str(root)}
        ).stdout
        for python in (str(Path(sys.executable).resolve()), str(other))
    }
    assert len(made) == 1
