"""Heads as a map, as tables, as CSV with every digit, and on a terminal."""

import csv
import io
import re
import xml.etree.ElementTree as ET

import pytest

import jumok
from jumok.errors import InputError
from jumok.picture.measured import printed_head, roles_of
from jumok.picture.role_marks import family_of, mark
from jumok.picture.terminal import Screen
from jumok.picture.theme import css
from jumok.words import LANGS, number
from small_measured import HOSTILE, KOREAN, ROLES, alone, measured, silent

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_map_shows_the_mark_of_every_head_on_the_colour_of_its_family(lang, theme):
    root = ET.fromstring(jumok.draw(measured(), lang=lang, theme=theme).svg())
    texts = ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]
    fills = {node.get("fill") for node in root.iter(f"{SVG}rect")}
    for role in ROLES.values():
        assert mark(role, lang) in texts
        assert css(family_of(role).colour) in fills
    assert root.get("lang") == lang


def test_heads_without_evidence_have_a_look_of_their_own():
    root = ET.fromstring(jumok.draw(silent()).svg())
    dashed = [node for node in root.iter(f"{SVG}rect") if node.get("stroke-dasharray")]
    assert len(dashed) == 2
    assert [node.text for node in root.iter(f"{SVG}text")].count("·") == 2


def test_one_head_is_drawn_too():
    assert mark("previous") in jumok.draw(alone()).svg()


def test_the_csv_has_every_digit_and_the_verdict():
    rows = list(csv.DictReader(io.StringIO(jumok.draw(measured()).csv())))
    assert len(rows) == len(measured().table.rows)
    for told, row in zip(rows, measured().table.rows, strict=True):
        assert (float(told["score"]), told["role"]) == (row.score, row.role)
        assert told["verdict"] == ("evidence" if row.evidence else "no-evidence" if row.p is not None else "too-few")
        assert told["without_sink"] == ("" if row.without_sink is None else repr(row.without_sink))


@pytest.mark.parametrize("lang", LANGS)
def test_the_markdown_tells_every_head_in_sentences(lang):
    told = jumok.draw(measured(), lang=lang).markdown()
    assert re.findall(r"^## (\d+\.\d+)$", told, re.M) == [f"{at}.{of}" for at in range(3) for of in range(2)]
    best = measured().table.best("same-token")
    assert f"| {best.layer}.{best.head} | {number(best.score)} | {number(best.baseline)} |" in told
    assert "line 1:" in told
    short = str(jumok.draw(measured(), lang=lang))
    assert len(short) < len(told)
    assert "## 0.0" not in short


def test_tokens_are_no_markdown():
    told = jumok.draw(measured(HOSTILE)).markdown()
    assert "<script>" not in told
    assert "\u202e" not in told


def on_screen(lang, show, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    show(Screen(out := io.StringIO(), lang))
    return out.getvalue()


@pytest.mark.parametrize("lang", LANGS)
def test_a_card_on_a_terminal_has_sentences_examples_and_numbers(lang, monkeypatch):
    said = on_screen(lang, lambda screen: printed_head(screen, measured(), 0, 0), 100, monkeypatch)
    example = measured().examples_of(0, 0, "previous")[0]
    words = example.tokens
    assert f"»{words[example.key[0]]}« [{words[2]}]" in said or f"»[{words[2]}]«" in said
    assert number(example.weight) in said
    assert "[0." in said  # an interval
    assert max(map(len, said.splitlines())) <= 100


def test_a_head_without_evidence_on_a_terminal(monkeypatch):
    said = on_screen("en", lambda screen: printed_head(screen, silent(), 0, 1), 80, monkeypatch)
    assert "no evidence for any of the" in said
    assert "Examples" not in said


def test_a_head_that_is_not_there_is_refused(monkeypatch):
    with pytest.raises(InputError, match="layer"):
        on_screen("en", lambda screen: printed_head(screen, alone(), 1, 0), 80, monkeypatch)


@pytest.mark.parametrize("columns", [40, 100])
def test_the_map_of_heads_on_a_terminal_has_every_mark(columns, monkeypatch):
    from jumok.picture.measured import printed

    said = on_screen("ko", lambda screen: printed(screen, measured(KOREAN)), columns, monkeypatch)
    assert all(mark(role, "ko") in said for role in ROLES.values())


def test_roles_stand_family_by_family():
    found = roles_of(measured())
    families = [family_of(role).name for role in found]
    assert families == sorted(families, key=list(dict.fromkeys(families)).index)
    assert found.index("previous") < found.index("next") < found.index("offset:-8") < found.index("offset:+2")
