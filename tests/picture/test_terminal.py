"""The terminal: golden screens, alignment of wide letters, colour by weight, other encodings."""

import io
import re

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

import jumok
from golden import same_as_golden
from jumok.picture.terminal import Screen, _pieces, _ramp

ODD = [
    "한글",
    "👩\u200d👩\u200d👧",
    "e\u0301",
    "אבג",
    "\u202eabc",
    "</script>",
    "line\nbreak",
    "",
    "[bold]x[/]",
    "\x1b[31m",
]


def screen_of(record: jumok.Trace | jumok.Reading, lang: str = "en", width: int = 80) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, highlight=False, markup=False, emoji=False, color_system=None)
    Screen(file, lang, console).attended(record)
    return file.getvalue()


def odd_trace(n: int | None = None) -> jumok.Trace:
    tokens = ODD if n is None else [f"t{i}" for i in range(n)]
    x = np.eye(len(tokens))
    return jumok.attend(
        x=x, w_q=3 * x, w_k=x, w_v=x, tokens=tokens, dimensions=[f"{t}{i}" for i, t in enumerate(tokens)]
    )


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_golden_screens(lang: str, width: int) -> None:
    same_as_golden(f"attend.student.{lang}.{width}.txt", screen_of(jumok.attend(jumok.load("student")), lang, width))


@pytest.mark.parametrize("width", [24, 40, 80, 120])
@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("name", ["student", "cat-fish", "bank-money", "it-tired"])
def test_no_line_is_wider_than_the_terminal(name: str, lang: str, width: int) -> None:
    for line in screen_of(jumok.attend(jumok.load(name)), lang, width).splitlines():
        assert cell_len(line) <= width


def test_numbers_under_wide_letters_end_where_the_letters_end() -> None:
    lines = screen_of(jumok.attend(jumok.load("bank-money")), "ko", 120).splitlines()
    start = next(i for i, line in enumerate(lines) if line == "softmax")
    table = lines[start + 3 : start + 11]
    assert len({cell_len(line) for line in table}) == 1


def test_odd_tokens_keep_the_table_straight_and_reach_no_control() -> None:
    text = screen_of(odd_trace(), "ko", 200)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e]", text)
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line == "softmax")
    assert len({cell_len(line) for line in lines[start + 3 : start + 14]}) == 1


def test_colour_follows_the_weight() -> None:
    trace = jumok.attend(jumok.load("student"))
    assert "\x1b" not in screen_of(trace)
    console = Console(file=io.StringIO(), width=80, record=True, force_terminal=True, color_system="truecolor")
    Screen(console.file, "en", console).attended(trace)
    coloured = console.export_html(inline_styles=True)  # the styles: how a terminal is told of them, rich keeps
    found = {
        value: tuple(bytes.fromhex(rgb))
        for rgb, value in re.findall(r"background-color: #([0-9a-f]{6})[^>]*> *(0\.\d{3})", coloured)
    }
    assert set(found) == {"0.200", "0.177", "0.292", "0.020", "0.050", "0.550", "0.180"}
    by_weight = [sum(found[value]) for value in sorted(found)]
    assert by_weight == sorted(by_weight)


def test_the_ramp_goes_from_dark_to_bright() -> None:
    brightness = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in (_ramp(i / 20) for i in range(21))]
    assert brightness == sorted(brightness)
    assert _ramp(-1) == _ramp(0)
    assert _ramp(2) == _ramp(1)


def test_columns_in_pieces() -> None:
    assert _pieces([4, 4, 4], 12) == [range(2), range(2, 3)]
    assert _pieces([50, 3], 10) == [range(1), range(1, 2)]
    assert _pieces([], 10) == []


def test_a_long_text_is_shown_in_part_and_says_so() -> None:
    text = screen_of(odd_trace(60), "en", 80)
    assert "44 more tokens" in text
    assert "36 columns (the smallest)" in text
    assert len(text.splitlines()) < 1500


def test_one_row_of_a_very_long_text_is_shown_at_once() -> None:
    rng = np.random.default_rng(0)
    q, k, v = (rng.normal(size=(1, 20_000, 4)) for _ in range(3))
    file = io.StringIO()
    screen = Screen(file, "en", Console(file=file, width=80))
    screen.stage(jumok.attend(q=q, k=k, v=v), "weights", 7, whole=True, only=True)
    assert "19800 columns (the smallest)" in file.getvalue()
    assert len(file.getvalue().splitlines()) < 200


def test_hidden_cells_and_rows() -> None:
    trace = jumok.attend(x=np.eye(2), w_q=np.eye(2), w_k=np.eye(2), w_v=np.eye(2), rule=[[False, False], [True, False]])
    text = screen_of(trace)
    assert "mask: table" in text
    assert re.search(r"- 0 → nothing", text)
    assert re.search(r"1 +● +·", text)


def test_before_the_mask_every_score_is_shown() -> None:
    trace = jumok.attend(jumok.load("student"), rule="causal")
    text = screen_of(trace)
    scaled, weights = text[text.index("q · k ÷") :], text[text.index("softmax") :]
    assert "·" not in scaled[: scaled.index("mask")].partition("\n")[2]
    assert "·" in weights[: weights.index("weight ×")]


def test_the_temperature_is_told_apart_from_the_root() -> None:
    text = "dimensions: [a, b]\ntokens: [{p: {a: 1}}, {q: {b: 1}}]\ntemperature: 2\n"
    from jumok.sources.example import parse

    trace = jumok.attend(parse(text))
    assert "q · k ÷ √2 ÷ 2" in screen_of(trace)
    assert "1 ÷ √2 ÷ 2 (temperature) = 0.354" in str(jumok.explain(trace, "p"))
    assert "÷ 2 (온도)" in str(jumok.explain(trace, "p", "ko"))


class Cp949(io.StringIO):
    encoding = "cp949"


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_cp949_console_gets_only_what_it_can_show(lang: str) -> None:
    file = Cp949()
    Screen(file, lang).attended(odd_trace())
    text = file.getvalue()
    text.encode("cp949")
    assert "한글" in text
    assert "\\U0001f469" in text
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line == "softmax")
    widths = {cell_len(line) for line in lines[start + 3 : start + 14]}
    assert len(widths) == 1
