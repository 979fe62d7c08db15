"""A training run on the terminal: curves on a line, bars, what emerged, and what is shown while it runs."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from jumok.picture.learning import LEVELS, LearnBar, arrows_said, binned, learned, over_steps, sparkline
from jumok.picture.terminal import Screen
from jumok.runs import moment
from jumok.words import LANGS, percent
from runs import emerged, history, run

SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=50)
ROW = [0.05, 0.15, 0.2, 0.6]
TOKENS = [["고양이가", "</b>\x1b[31m", "it", "a very long token indeed"]]


def small(n_layers=1, n_heads=1):
    found = history([[[[ROW[::-1]] * n_heads] * n_layers, [[ROW] * n_heads] * n_layers]], TOKENS, [(3,)])
    return found, emerged(*[[(0.9, 0.1)] * n_heads] * n_layers, carrier=(0, 0))


def shown(found, measured=None, lang="en", width=80, encoding="utf-8", given=None):
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n")
    console = Console(file=file, width=width, highlight=False, markup=False, emoji=False, color_system=None)
    learned(Screen(file, lang, console), found, measured, given)
    file.flush()
    return file.buffer.getvalue().decode(encoding)


@given(SHARES)
def test_a_sparkline_has_a_bar_for_each_value_and_keeps_their_order(values):
    bars = sparkline(np.array(values), 0, 1)
    assert len(bars) == len(values)
    assert [LEVELS.index(bars[at]) for at in np.argsort(values)] == sorted(LEVELS.index(bar) for bar in bars)


def test_a_value_that_was_not_measured_is_a_blank():
    assert sparkline(np.array([0.0, np.nan, 1.0]), 0, 1) == "▁ █"


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=200), st.integers(1, 60))
def test_means_of_neighbours_keep_the_ends_and_the_range(values, n):
    means = binned(np.array(values), n)
    assert len(means) == min(n, len(values))
    assert min(values) - 1e-9 <= means.min() <= means.max() <= max(values) + 1e-9


def test_a_curve_of_snapshots_is_spread_evenly_over_the_steps():
    found = history([[[[ROW]]] * 4], TOKENS, [(3,)], steps=(0, 1, 2, 10))
    assert over_steps(found, np.array([0.0, 0.1, 0.2, 1.0]), 6).tolist() == [0.0, 0.2, 0.2, 0.2, 0.2, 1.0]


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_too_wide(width, lang):
    for found in (small(), small(3, 4), (run("previous", 60).history, run("previous", 60).emerged)):
        lines = shown(*found, lang, width).splitlines()
        assert max(map(cell_len, lines)) <= width


@pytest.mark.parametrize("encoding", ["cp949", "ascii"])
def test_odd_tokens_and_narrow_encodings(encoding):
    for lang in LANGS:
        text = shown(*small(), lang, encoding=encoding)
        assert "\x1b" not in text
        assert "#" * 3 in text  # bars


def test_the_row_before_and_after_stands_as_bars_with_the_answer_marked():
    line = next(line for line in shown(*small()).splitlines() if "◀" in line)
    assert line.split("█")[0].split()[-1] == percent(0.05)
    assert percent(0.6) in line
    assert line.count("█") == 1 + 11  # of 18


def test_each_head_has_a_line_with_what_is_left_without_it():
    text = shown(small(2, 2)[0], emerged([(0.9, 0.1), (0.2, 0.8)], [(0.3, 0.7), (0.4, 0.6)], carrier=(0, 0)))
    lines = [line.split() for line in text.splitlines()]
    for head, reads, left in (("0.0", 0.9, 0.1), ("0.1", 0.2, 0.8), ("1.0", 0.3, 0.7), ("1.1", 0.4, 0.6)):
        assert [head, percent(reads), percent(left)] in lines


def test_the_found_weights_stand_beside_those_that_a_person_wrote():
    found = run("student", 600)
    text = shown(found.history, found.emerged, given=found.task.trace)
    numbers = [line.split()[1:] for line in text.splitlines() if line.startswith("  Action ") and "," not in line]
    assert len(numbers) == 2
    assert np.array(numbers[0], float) == pytest.approx(np.array(numbers[1], float), abs=0.1)
    assert numbers[1] == ["4.605", "1.833", "6.628", "4.394"]


def test_a_loss_that_falls_far_is_shown_by_its_powers_of_ten():
    found = run("student", 600)
    assert "loss (log scale)" in shown(found.history)
    assert "loss  " in shown(small()[0])


def test_arrows_are_the_strongest_of_the_last_layer():
    found, _ = small(2)
    said = arrows_said(moment(found), 3, "en")
    assert said.startswith(f"a very long token indeed → a very long token indeed {percent(0.6)}, it {percent(0.2)}")
    assert said.endswith("(layer 1, head 0)")
    assert "1층 0번 헤드" in arrows_said(moment(found), None, "ko")
    assert "layer" not in arrows_said(moment(small()[0]), 3, "en")


def test_nothing_is_shown_where_nobody_looks():
    file = io.StringIO()
    with LearnBar(file, "en") as bar:
        assert not bar.is_due
    assert file.getvalue() == ""


@pytest.mark.parametrize("lang", LANGS)
def test_the_bar_says_how_far_it_is(lang):
    file = io.StringIO()
    file.isatty = lambda: True
    with LearnBar(file, lang) as bar:
        assert bar.is_due
        bar.show(7, 600, 1.25, 0.5, "it → cat 62.0%")
        assert not bar.is_due  # a tenth of a second must pass
    for part in ("600", "7", "1.25", "50.0%", "it → cat 62.0%"):
        assert part in file.getvalue()
