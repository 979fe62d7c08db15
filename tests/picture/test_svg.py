"""The writer of SVG: what goes in is escaped, what comes out is XML, letters are measured and cut whole."""

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jumok.picture.layout import Panel, beside, flowing, padded, paragraph, stacked
from jumok.picture.svg import Node, Text, clusters, cut, document, rect, width_of, wrapped
from jumok.picture.theme import THEMES

SVG = "{http://www.w3.org/2000/svg}"
FAMILY, FLAG = "👩\u200d👩\u200d👧", "🇰🇷"
printable = st.text(st.characters(exclude_categories=("Cc", "Cs", "Cn", "Co")), max_size=20)


@given(printable, printable)
def test_any_text_comes_back_as_it_was(text, title):
    written = document(10, 10, [Text(text or "x", 1, 2, whole=title)], title=title, desc=text, lang="ko")
    root = ET.fromstring(written)
    assert (root.findtext(f"{SVG}title"), root.findtext(f"{SVG}desc")) == (title, text)
    (drawn,) = root.iter(f"{SVG}text")
    assert "".join(drawn.itertext()) == title + (text or "x")


def test_an_attribute_cannot_be_left_early():
    text = Node("g", {"fill": '"><script>alert(1)</script>', "stroke": None}).to_text()
    assert ET.fromstring(text).get("fill") == '"><script>alert(1)</script>'
    assert "<script" not in text


def test_an_image_has_a_name_and_a_description_and_nothing_from_elsewhere():
    root = ET.fromstring(
        document(200, 100, [rect(0, 0, 1, 1, "#000000")], shown_width=50, title="a", desc="b", lang="en")
    )
    assert (root.get("role"), root.get("lang")) == ("img", "en")
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == ("50", "25", "0 0 200 100")


def test_numbers_are_short():
    assert rect(1.0, -0.001, 2.345678, 10, "x").to_text() == '<rect x="1" y="0" width="2.35" height="10" fill="x"/>'


def test_letters_that_are_joined_stay_together():
    assert clusters(f"e\u0301{FAMILY}{FLAG}{FLAG}글") == ["e\u0301", FAMILY, FLAG, FLAG, "글"]
    assert clusters("👍🏽a") == ["👍🏽", "a"]


def test_wide_letters_are_measured_as_wide():
    assert width_of("한글", 10) == 20
    assert width_of(FAMILY, 10) == width_of("👩", 10)
    assert width_of("ill", 10) < width_of("mmm", 10)
    assert width_of("e\u0301", 10) == width_of("e", 10)


@given(printable, st.floats(20, 200))
def test_what_is_cut_fits_and_begins_alike(text, room):
    short = cut(text, 11, room)
    assert width_of(short, 11) <= room or short == "…"
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]))


def test_nothing_is_cut_inside_a_letter():
    assert cut(FAMILY * 10, 10, 50) == FAMILY * 3 + "…"


@given(printable, st.floats(20, 200))
def test_lines_fit_and_lose_nothing(text, room):
    lines = wrapped(text, 11, room)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(width_of(one, 11) <= room or len(clusters(one)) == 1 for one in lines)


# parts beside and below each other ----------------------------------------------------------------


def test_parts_do_not_overlap():
    a, b = Panel(10, 20, (rect(0, 0, 10, 20, "a"),)), Panel(30, 5, (rect(0, 0, 30, 5, "b"),))
    assert (beside([a, b], 2).width, beside([a, b], 2).height) == (42, 20)
    assert (stacked([a, b], 2).width, stacked([a, b], 2).height) == (30, 27)
    assert stacked([a, Panel(99, 0), b], 2) == stacked([a, b], 2)
    assert (padded(a, 3).width, padded(a, 3).height) == (16, 26)
    assert "translate(12 0)" in beside([a, b], 2).nodes[1].to_text()
    assert "translate(0 22)" in stacked([a, b], 2).nodes[1].to_text()


@pytest.mark.parametrize(("room", "rows"), [(1000, 1), (95, 2), (40, 4)])
def test_parts_flow_into_rows(room, rows):
    assert flowing([Panel(40, 10)] * 4, room, 5).height == rows * 10 + (rows - 1) * 5


def test_a_paragraph_takes_the_lines_that_it_needs():
    theme = THEMES["light"]
    assert paragraph("", 100, theme).height == 0
    lines = paragraph("one two three four five six", 60, theme)
    assert [line.content for line in lines.nodes] == ["one two", "three four", "five six"]
    assert lines.height >= lines.nodes[-1].y
