"""What jumok offers: exactly the written list, found by dir(), with help for a name that is not there."""

import subprocess
import sys

import pytest

import jumok

NAMES = [
    "Comparison",
    "Cost",
    "Design",
    "Example",
    "Explanation",
    "History",
    "JumokError",
    "Learned",
    "Lesson",
    "Measured",
    "Picture",
    "Reading",
    "Rotary",
    "Rule",
    "Scaling",
    "Source",
    "Token",
    "Trace",
    "Verdict",
    "allowed",
    "attend",
    "capture",
    "check",
    "compare",
    "cost",
    "design",
    "design_values",
    "draw",
    "errors",
    "explain",
    "explain_step",
    "learn",
    "lesson",
    "load",
    "measure",
    "nn",
    "positions",
    "record",
    "scaling",
    "serve",
    "variants",
    "widget",
]


NEEDS_TORCH = {"nn"}  # offered, but not by a star import, which must work without PyTorch


def test_the_names_are_the_written_list():
    assert sorted(jumok.__all__) == [name for name in NAMES if name not in NEEDS_TORCH]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_there_also_as_the_first_one_used(name):
    code = f"import jumok; thing = jumok.{name}; assert thing is not None; assert jumok.{name} is thing"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_star_import_brings_the_written_list():
    code = f"from jumok import *; missing = set({NAMES}) - {NEEDS_TORCH} - set(globals()); assert not missing, missing"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_dir_shows_every_name():
    assert set(NAMES) <= set(dir(jumok))


def test_a_name_that_is_nearly_right_is_suggested():
    with pytest.raises(AttributeError, match=r"'jumok' has no attribute 'atend'.*attend"):
        jumok.atend  # noqa: B018


def test_a_name_that_is_far_off_gets_the_list():
    with pytest.raises(AttributeError, match=r"'jumok' has no attribute 'qqq'.*attend.*explain"):
        jumok.qqq  # noqa: B018


def test_every_public_error_is_a_jumok_error():
    assert all(issubclass(getattr(jumok.errors, name), jumok.JumokError) for name in jumok.errors.__all__)
