"""Readings of a real model in the package: what the model gives on these sentences, and no more than is said of them."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import jumok
from jumok.cli import run
from jumok.errors import InputError
from jumok.files import packaged_readings
from jumok.verbs import _makers
from real_weights import demo as demo

MAKE = Path(__file__).parents[1] / "docs" / "make_readings.py"
spec = importlib.util.spec_from_file_location("make_readings", MAKE)
made = importlib.util.module_from_spec(spec)
spec.loader.exec_module(made)


def test_all_of_them_are_there_and_small():
    assert set(packaged_readings()) == {*made.SENTENCES, *made.STEPS}
    assert all(path.stat().st_size < 300_000 for path in packaged_readings().values())


@pytest.mark.parametrize("name", made.SENTENCES)
def test_one_is_what_the_model_gives_in_half_precision(name, demo):
    sentence, layers = made.SENTENCES[name]
    captured, kept = jumok.capture(demo, sentence, layers=layers), jumok.load(name)
    assert kept.tokens == captured.tokens
    assert [layer.source.layer for layer in kept] == [layer.source.layer for layer in captured]
    for ours, theirs in zip(kept, captured, strict=True):
        assert not ours.source.exact
        assert ours.rule == theirs.rule
        for part in ("q", "k", "v"):
            assert getattr(ours, part).dtype == np.float16
            assert np.allclose(getattr(ours, part), getattr(theirs, part), rtol=2**-10, atol=1e-5)
        assert np.abs(ours.weights - theirs.weights).max() < 0.002


def test_steps_of_a_training_are_what_the_training_gives():
    history = jumok.learn("student", steps=20).history
    for name, step in made.STEPS.items():
        if step <= 20:
            kept, trained = jumok.load(name), history.trace(step)
            assert kept.source.details["step"] == step
            assert np.allclose(kept.heads.w_q, trained.heads.w_q, atol=1e-9)
            assert np.allclose(kept.heads.w_k, trained.heads.w_k, atol=1e-9)


def test_the_last_step_is_where_the_training_wants_to_be():
    row = jumok.load("learned-1200").rows("weights", queries=["studies"])[0, 0]
    assert np.allclose(row, [0.02, 0.2, 0.05, 0.55, 0.18], atol=1e-6)


def test_the_cut_that_a_lesson_tells_of(demo):
    cut = jumok.capture(demo, made.SENTENCES["minilm-tired"][0]).cut(3, 1, "it", "cat").to_json()
    moved = {change["position"]: change["relative"] for change in cut["changes"]}
    assert cut["weight"] > 0.45
    assert max(moved, key=moved.get) == 8
    assert moved[8] < 0.1


@pytest.mark.parametrize("name", made.SENTENCES)
def test_the_commands_know_it_by_name(name, capsys):
    assert run(["explain", name, "it", "--layer", "3", "--head", "1"]) == 0
    assert "cat" in capsys.readouterr().out


def test_a_lesson_reads_one_and_a_saved_file_but_no_training_run(tmp_path):
    attend = _makers().attend
    assert len(attend("minilm-tired").layers) == 6
    path = attend("student").save(tmp_path / "a.safetensors")
    assert attend(str(path)) == attend("student")
    run_path = tmp_path / "run.safetensors"
    jumok.learn("student", steps=2).save(run_path)
    with pytest.raises(InputError, match="not a Learned"):
        attend(str(run_path))
