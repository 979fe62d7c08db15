"""Titles stay inside of their picture, also in a font whose bold letters are wide."""

import re

import pytest

import jumok
from jumok.picture.layout import BOLD, paragraph
from jumok.picture.svg import width_of
from jumok.picture.theme import THEMES

MARGIN = 16


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("options", [{"stage": "scaled", "query": "studies"}, {"stage": "v"}, {"query": "studies"}])
def test_a_bold_title_fits_into_a_narrow_picture(options, lang):
    picture = jumok.draw(jumok.attend(jumok.load("student")), "heat", lang=lang, **options)
    texts = re.findall(r'<text[^>]*font-size="15"[^>]*>([^<]+)</text>', picture.svg())
    assert texts
    assert all(width_of(text, 15) * BOLD <= picture.panel.width - 2 * MARGIN for text in texts)


def test_bold_lines_break_earlier():
    text = "Who studies what, and how? The row of 'studies'"
    room = width_of(text, 15) + 1
    assert len(paragraph(text, room, THEMES["light"], 15).nodes) == 1
    assert len(paragraph(text, room, THEMES["light"], 15, bold=True).nodes) == 2
