"""What a version has saved, every later one reads, with the same numbers."""

import json
import shutil

import numpy as np
import pytest

import jumok
import saved_files
from saved_files import NUMBERS, SAVED, WRITERS

VERSIONS = sorted(path.name for path in SAVED.iterdir() if path.is_dir())
FILES = [(version, name) for version in VERSIONS for name in json.loads((SAVED / version / NUMBERS).read_text("utf-8"))]


@pytest.mark.parametrize(("version", "name"), FILES)
def test_a_file_of_an_earlier_version_is_read_with_the_same_numbers(version, name):
    then = json.loads((SAVED / version / NUMBERS).read_text("utf-8"))[name]
    same(then, saved_files.numbers(saved_files.read(SAVED / version / name)), name)


def same(then, now, where):
    """The same shape, words and order; numbers but for what another processor rounds otherwise."""
    if isinstance(then, dict):
        assert list(then) == list(now), where
        now = list(now.values())
        then = list(then.values())
    if isinstance(then, list):
        assert len(then) == len(now), where
        if then and all(isinstance(one, float) for one in then):
            np.testing.assert_allclose(now, then, rtol=1e-6, atol=1e-9, err_msg=where)
            return
        for at, (one, other) in enumerate(zip(then, now, strict=True)):
            same(one, other, f"{where}[{at}]")
    elif isinstance(then, float):
        assert now == pytest.approx(then, rel=1e-6, abs=1e-9), where
    else:
        assert now == then, where


def test_this_version_has_its_files():
    assert jumok.__version__ in VERSIONS, "python tests/saved_files.py"
    assert {name for version, name in FILES if version == jumok.__version__} == set(WRITERS)


def test_the_files_are_small():
    size = sum(path.stat().st_size for path in SAVED.rglob("*") if path.is_file())
    assert size < 300_000


@pytest.mark.parametrize("name", ["trace.safetensors", "progress", "own.yaml"])
def test_a_number_that_changed_is_seen(name, tmp_path):
    shutil.copytree(SAVED / VERSIONS[-1], tmp_path / "saved")
    then = json.loads((tmp_path / "saved" / NUMBERS).read_text("utf-8"))[name]
    changed = json.loads(json.dumps(then).replace("0.1", "0.2", 1).replace("dot", "dog"))
    assert changed != then
    with pytest.raises(AssertionError):
        same(changed, saved_files.numbers(saved_files.read(tmp_path / "saved" / name)), name)


def test_each_text_says_its_format_in_words():
    """A stranger who opens a file sees whose it is."""
    for version in VERSIONS:
        progress = json.loads((SAVED / version / "progress" / "progress.json").read_text("utf-8"))
        assert progress["format"] == "jumok-progress"
        assert b'"format":"jumok"' in (SAVED / version / "trace.safetensors").read_bytes()[:4000]
