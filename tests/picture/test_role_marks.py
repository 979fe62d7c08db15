"""Roles on a map: each with letters of its own, on a colour on which they can be read."""

import itertools
import re

import pytest
from rich.cells import cell_len

from jumok.measurement.roles.cases import OFFSETS, offset_role
from jumok.measurement.roles.definitions import ROLES
from jumok.picture.role_marks import FAMILIES, family_of, mark
from jumok.picture.theme import contrast
from jumok.words import LANGS

NAMES = [one.name for one in ROLES] + [offset_role(offset) for offset in OFFSETS]


@pytest.mark.parametrize("lang", LANGS)
def test_every_role_has_a_mark_and_no_two_share_one(lang):
    marks = {name: mark(name, lang) for name in dict.fromkeys(NAMES)}
    assert all(0 < cell_len(text) <= 6 for text in marks.values())
    assert len(set(marks.values())) == len(marks)


def test_marks_that_are_words_are_in_the_language():
    for one in ROLES:
        has_word = bool(re.search("[a-z]{2}|V", mark(one.name)))
        assert bool(re.search("[가-힣]", mark(one.name, "ko"))) == has_word, one.name


@pytest.mark.parametrize(
    ("name", "family", "text"),
    [
        ("offset:-3", "place", "-3"),
        ("obl:tmod:to-head", "relation", "↑obl:t"),
        ("nsubj:to-dependent", "relation", "↓nsubj"),
        ("pos:PUNCT", "tag", "PUNCT"),
        ("separator", "sink", "[S]"),
    ],
)
def test_families_of_names_that_a_text_brings(name, family, text):
    assert (family_of(name).name, mark(name)) == (family, text)


def test_letters_can_be_read_on_their_colour_and_colours_told_apart():
    for one in FAMILIES:
        assert contrast(one.ink, one.colour) >= 4.5
    for one, other in itertools.combinations(FAMILIES, 2):
        assert sum(abs(a - b) for a, b in zip(one.colour, other.colour, strict=True)) > 80
