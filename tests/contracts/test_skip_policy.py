"""The skip policy itself, seen on a small suite of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


def run(tmp_path, source, *options):
    """The exit code, the counts of the closing line and all output of pytest over one file."""
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p skip_policy\n")
    (tmp_path / "test_it.py").write_text("import pytest\n" + source)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--doctest-modules", *options, str(tmp_path)]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(TESTS)}, capture_output=True, text=True
    )
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (\w+)", done.stdout.splitlines()[-1].split(" in ")[0])}
    return done.returncode, counts, done.stdout


@pytest.mark.parametrize(
    "source",
    [
        "@pytest.mark.skip\ndef test_a(): pass",
        "@pytest.mark.skipif(True, reason='no GPU')\ndef test_a(): pass",
        "def test_a(): pytest.skip('not today')",
        "def test_a(): pytest.importorskip('no_such_module', reason='not installed')",
        "@pytest.fixture\ndef thing(): pytest.skip('cannot make it')\ndef test_a(thing): pass",
        "@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.skip)])\ndef test_a(x): pass",
        "@pytest.mark.xfail\ndef test_a(): assert False",
        "@pytest.mark.xfail(reason='gone from the registry: no excuse here')\ndef test_a(): assert False",
        "@pytest.mark.xfail(run=False)\ndef test_a(): assert False",
        "@pytest.mark.xfail\ndef test_a(): pass",
        "def test_a(): pytest.xfail('later')",
        "@pytest.mark.parametrize('x', [])\ndef test_a(x): pass",
        "import unittest\nclass TestA(unittest.TestCase):\n    @unittest.skip('old')\n    def test_a(self): pass",
        "def f():\n    '''\n    >>> 1 + 1  # doctest: +SKIP\n    3\n    '''",
    ],
)
def test_looking_away_is_a_failure(tmp_path, source):
    code, counts, output = run(tmp_path, source)
    assert code == 1
    assert not {"skipped", "xfailed", "xpassed"} & counts.keys()
    assert counts.get("failed", 0) + counts.get("error", 0) == 1
    assert "Let it run, or remove it" in output


def test_a_whole_file_that_looks_away_is_a_failure(tmp_path):
    code, _, output = run(tmp_path, "pytest.importorskip('no_such_module', reason='not installed')\ndef test_a(): pass")
    assert code != 0
    assert "Let it run, or remove it" in output


@pytest.mark.parametrize("source", ["def test_a(): pytest.skip('not today')", "pytest.importorskip('no_such_module')"])
def test_looking_away_is_a_failure_in_several_processes_too(tmp_path, source):
    code, _, output = run(tmp_path, source, "--numprocesses=2")
    assert code != 0
    assert "Let it run, or remove it" in output


@pytest.mark.parametrize("options", [[], ["--numprocesses=2", "--dist=loadfile"]])
def test_a_package_that_is_gone_is_told_and_passes(tmp_path, options):
    source = "def test_a(): pass\ndef test_b(): pytest.skip('gone from the registry: tiny-model')"
    code, counts, output = run(tmp_path, source, *options)
    assert (code, counts) == (0, {"passed": 1, "skipped": 1})
    assert "not tested, as the skip policy allows" in output
    assert "test_it.py::test_b: gone from the registry: tiny-model" in output


def test_tests_that_run_are_left_alone(tmp_path):
    code, counts, _ = run(tmp_path, "def test_a(): pass\ndef test_b(): assert 1 == 2")
    assert (code, counts) == (1, {"passed": 1, "failed": 1})


def test_the_policy_holds_for_this_very_run(pytestconfig):
    assert pytestconfig.pluginmanager.has_plugin("skip_policy")
