"""What is said of each variant: the numbers of the sizes that were asked, in both languages."""

import re
import string

import pytest

import jumok
from jumok.explanation.costs import PHRASES, explained, facts
from jumok.variants.cost_kinds import DEFAULT
from jumok.words import LANGS


def said(lang, **options):
    (section,) = explained(jumok.cost(**{"n": 8192, "budget_s": 0, **options}), lang)
    return section.title, {line.partition(":")[0]: line for _, line in section.lines}


@pytest.mark.parametrize("lang", LANGS)
def test_each_idea_is_told_once_with_its_numbers(lang):
    title, lines = said(lang)
    assert "8,192" in title
    assert list(lines) == list(DEFAULT)
    many, few = {"en": ("67.1 million", "2.06 million"), "ko": ("6,711만", "206만")}[lang]
    assert many in lines["full"]
    assert few in lines["window"]
    assert "3.1%" in lines["window"]
    assert "255" in lines["window"]
    assert "64 × 65" in lines["linear"]
    assert all(bool(re.search("[가-힣]", line)) == (lang == "ko") for line in lines.values())


def test_the_numbers_are_those_of_a_whole_count():
    found = jumok.cost(n=40, window=8, n_sink=3, n_landmarks=5, budget_s=0)
    told = {fact.kind: fact.data for fact in facts(found)}
    pairs = [(i, j) for i in range(40) for j in range(40) if j <= i]
    assert told["full"]["scores"] == 1600
    assert told["window"]["scores"] == sum(i - j < 8 for i, j in pairs)
    assert told["sparse"]["scores"] == sum(i - j < 8 or j < 3 for i, j in pairs)
    assert told["lowrank"]["scores"] == 5 * 40 + 25 + 5 * 40


def test_without_a_mask_the_window_lies_on_both_sides_and_flash_skips_nothing():
    _, lines = said("en", n=40, window=8, rule="everything")
    assert "on each side" in lines["window"]
    assert f"{sum(abs(i - j) < 8 for i in range(40) for j in range(40))} scores" in lines["window"]
    assert "mask forbids" not in lines["flash"]
    assert "mask forbids" in said("en")[1]["flash"]


def test_only_what_was_asked_is_told():
    assert list(said("en", variants=["linear:random", "sparse:strided", "sparse"])[1]) == ["linear", "sparse"]


def test_both_languages_ask_for_the_same_facts():
    def names(template):
        return {name for _, name, _, _ in string.Formatter().parse(template) if name}

    assert all(names(en) == names(ko) for en, ko in PHRASES.values())
