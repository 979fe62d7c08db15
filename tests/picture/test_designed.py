"""A design on the terminal: golden screens, every phrase, long and many sentences, odd tokens, CSV; and its bar."""

import csv
import io
import re
from string import Formatter
from typing import Any

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

import jumok
from golden import same_as_golden
from jumok.picture import progress
from jumok.picture.designed import WORDS, designed, to_csv
from jumok.picture.progress import SearchBar
from jumok.picture.terminal import Screen

LANGS = ("en", "ko")


def screen_of(design: jumok.Design, lang: str = "en", width: int = 80, colour: bool = False) -> str:
    file = io.StringIO()
    console = Console(
        file=file, width=width, highlight=False, markup=False, emoji=False, force_terminal=colour,
        color_system="truecolor" if colour else None,
    )  # fmt: skip
    traces = [design.trace(at) for at in range(len(design.sentences))]
    designed(Screen(file, lang, console), traces, [f"sentence{at}.yaml" for at in range(len(traces))])
    return file.getvalue()


def one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def missed() -> jumok.Design:
    """Equal embeddings, a wanted 0, a forbidden wish, and d_k too small."""
    x = [[0, 0, 0], [1, 0, 0], [1, 0, 0], [1, 0, 1], [0, 1, 0]]
    wanted = {
        "mat": {"cat#1": 0.7, "cat#2": 0.1, "mat": 0.2},
        "sat": {"cat#1": 0.3, "mat": 0.5, "it": 0.2},
        "cat#1": {"sat": 0.5},
    }
    names = ["Noun", "Verb", "Small"]
    return jumok.design(x, wanted, 1, "causal", tokens=["it", "cat", "cat", "mat", "sat"], dimensions=names, ridge=1e-4)


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("lang", LANGS)
def test_golden_screens(lang: str, width: int) -> None:
    same_as_golden(f"design.student.{lang}.{width}.txt", screen_of(jumok.design(jumok.load("student")), lang, width))


def test_wanted_stands_above_reached_in_the_same_columns() -> None:
    lines = screen_of(jumok.design(jumok.load("student"))).splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith("  studies  "))
    wanted, reached = (re.findall(r"[\d.]+", line) for line in lines[at : at + 2])
    assert wanted == reached == ["0.02", "0.20", "0.05", "0.55", "0.18"]
    assert cell_len(lines[at]) == cell_len(lines[at + 1])


@pytest.mark.parametrize("lang", LANGS)
def test_what_is_missed_is_told_with_its_numbers_and_reasons(lang: str) -> None:
    found = missed()
    text = one_line(screen_of(found, lang, 200))
    errors = found.row_error[0]
    worst = int(np.nanargmax(errors))
    assert f"{errors[worst]:.3g} nat" in text
    assert f"{found.row_difference[0, worst]:.3g}" in text
    head = found.found[0]
    for number in (f"{head.loss:.3g}", f"{head.gap:.3g}", f"{head.ridge:.3g}"):
        assert number in text
    assert found.reasons
    for reason in found.reasons:
        assert one_line(reason.text(lang)) in text
        assert all(one_line(lift.text(lang)) in text for lift in reason.lifts)
    assert "W_Q · W_Kᵀ" in text


def test_nothing_is_explained_where_it_is_reached_and_no_query_where_it_is_not() -> None:
    reached = screen_of(jumok.design(jumok.load("student")))
    assert WORDS["reasons"][0] not in reached
    assert "Why this query" in reached
    assert "Why this query" not in screen_of(missed())
    assert WORDS["reasons"][0] in screen_of(missed())


def test_of_many_rows_the_worst_are_shown_and_how_many_more() -> None:
    rng = np.random.default_rng(0)
    table = rng.dirichlet(np.ones(30), size=30)
    found = jumok.design(rng.normal(size=(30, 4)), table, tokens=[f"t{at}" for at in range(30)])
    text = screen_of(found, width=200)
    worst = np.argsort(-found.row_error[0])[:8]
    assert {int(at) for at in re.findall(r"^  t(\d+) +[\d.]+e?", text, re.MULTILINE)} == set(worst.tolist())
    assert "22 more wanted rows" in text
    assert f"The worst row: t{worst[0]}, KL" in text
    assert "6 columns (the smallest)" in text


def test_of_many_sentences_the_worst_are_shown_and_how_many_more() -> None:
    x = np.eye(3)
    tables = [{"0": {"1": 0.4 + at / 20}} for at in range(7)]
    found = jumok.design([x] * 7, tables)
    text = screen_of(found)
    errors = [one[0][0] for one in found.row_error]
    told = [int(at) for at in re.findall(r"^sentence (\d): sentence\d\.yaml", text, re.MULTILINE)]
    assert told == sorted(np.argsort(-np.array(errors), kind="stable")[:4].tolist())
    assert "3 more sentences" in text


def test_two_heads_are_told_apart() -> None:
    found = jumok.design(np.eye(3), [{"0": {"1": 0.9}}, {"2": {"0": 0.7}}], dimensions=["a", "b", "c"])
    text = screen_of(found)
    assert text.count("Wanted and reached · head") == 2
    assert "head 0: Reached" in text
    assert "head 1: Reached" in text


@pytest.mark.parametrize("width", [24, 40, 80, 120])
@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("colour", [False, True])
def test_no_line_is_wider_than_the_terminal_and_colours_take_nothing_away(lang: str, width: int, colour: bool) -> None:
    text = screen_of(missed(), lang, width, colour)
    assert ("\x1b" in text) == colour
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert all(cell_len(line) <= width for line in plain.splitlines())


def test_odd_tokens_reach_no_control_and_keep_the_table_straight() -> None:
    odd = ["\x1b[31m", "한글", "\u202eabc", "line\nbreak", "", "👩\u200d👩\u200d👧"]
    found = jumok.design(
        np.eye(6), {at: {0: 0.5} for at in range(6)}, tokens=odd, dimensions=[f"d{one}" for one in odd]
    )
    text = screen_of(found, "ko", 200)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e]", text)
    lines = text.splitlines()
    start = next(at for at, line in enumerate(lines) if "쿼리 / 키" in line)
    assert len({cell_len(line) for line in lines[start : start + 13]}) == 1


def test_csv_reads_back_to_every_digit() -> None:
    found = missed()
    rows = list(csv.DictReader(io.StringIO(to_csv([found.trace()]))))
    for stage, table in (("wanted", found.wanted), ("weights", found.reached)):
        cells = [row for row in rows if row["stage"] == stage]
        assert len(cells) == 5 * int(np.isfinite(found.row_error).sum())
        for row in cells:
            assert float(row["value"]) == table[int(row["head"]), int(row["query"]), int(row["key"])]
    assert [float(row["value"]) for row in rows if row["stage"] == "w_k"] == found.w_k.ravel().tolist()


@pytest.mark.parametrize("words", [WORDS, progress.WORDS])
def test_both_languages_say_the_same(words: dict[str, tuple[str, str]]) -> None:
    for en, ko in words.values():
        fields = [sorted(name for _, name, _, _ in Formatter().parse(text) if name) for text in (en, ko)]
        assert fields[0] == fields[1]
        assert not re.search("[가-힣]", en)
        assert re.search("[가-힣]", ko) or en == ko


def test_a_design_is_drawn_and_shown_live_as_its_record() -> None:
    found = jumok.design([np.eye(2), np.eye(2)[::-1]], [{"0": {"1": 0.9}}, {"1": {"0": 0.9}}])
    assert jumok.draw(found).svg() == jumok.draw(found.trace()).svg() != jumok.draw(found.trace(1)).svg()
    shown, record = jumok.widget(found, lang="en"), jumok.widget(found.trace(), lang="en")
    assert shown.documents == record.documents != jumok.widget(found.trace(1), lang="en").documents


# the bar ----------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def bar_of(file: io.StringIO, monkeypatch: Any, wait_s: float) -> str:
    monkeypatch.setattr(progress, "PATIENCE_S", wait_s)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")
    with SearchBar(file, "en", 2) as bar:
        bar.show(0, 0, 8.0, 2.0)
        bar.show(1, 3, 0.25, 1e-5)
    return file.getvalue()


def test_the_bar_tells_head_step_loss_and_gap_on_a_terminal_only(monkeypatch: Any) -> None:
    shown = bar_of(Terminal(), monkeypatch, 0.0)
    assert "head 1 of 2 · step 3 · loss 0.25 · gap ≤ 1.0e-05 nats" in shown
    assert bar_of(Terminal(), monkeypatch, 60.0) == "", "a short search needs none"
    assert bar_of(io.StringIO(), monkeypatch, 0.0) == "", "nobody watches"


def test_the_bar_goes_from_the_first_gap_to_the_goal() -> None:
    bar = SearchBar(Terminal(), "en", 1)
    bar.first_gap = 1e3
    shares = [bar.share(gap) for gap in (1e3, 1.0, 1e-3, 1e-9, 0.0)]
    assert shares[0] == 0
    assert shares[1:3] == pytest.approx([0.25, 0.5])
    assert shares[3:] == [1.0, 1.0]
