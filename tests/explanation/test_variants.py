"""Flash and linear attention in sentences: the reader's own numbers, the same in both languages."""

from __future__ import annotations

import json
import re
import string

import numpy as np
import pytest

import jumok
from jumok import Rule, allowed
from jumok.errors import InputError, UnknownName
from jumok.explanation.variants import PHRASES, explain_flash, explain_linear

TOLD = """\
Tile 1 ('The' and student): scores (0, 2.303). The largest is 2.303; Σ exp = 1.1, Σ exp · value = (1, 0, 0, 0).
Tile 2 (studies and deep learning): scores (0.916, 3.314). 3.314 is larger than 2.303, so both sums are first multiplied by \
exp(2.303 − 3.314) = 0.364: Σ exp = 1.1 × 0.364 + 1.091 = 1.491, Σ exp · value = (0.364, 0.091, 3, 0).
Tile 3 (carefully): scores (2.197). None is above 3.314, so nothing is rescaled: Σ exp = 1.491 + 0.327 = 1.818, \
Σ exp · value = (0.364, 0.091, 3, 0.655)."""


def student(rule=None):
    trace = jumok.attend(jumok.load("student"))
    return trace if rule is None else jumok.attend(q=trace.q, k=trace.k, v=trace.v, tokens=trace.tokens, rule=rule)


def test_a_row_is_told_tile_by_tile():
    text = explain_flash(student(), "studies").text()
    assert TOLD in text
    assert "÷ 1.818 = (0.2, 0.05, 1.65, 0.36)" in text


@pytest.mark.parametrize("tile", [1, 2, 5])
@pytest.mark.parametrize("rule", [None, "causal", Rule(sink=[0.5]), np.eye(5, dtype=bool) & False])
def test_every_row_of_every_rule_is_told_in_both_languages(rule, tile):
    trace = student(rule)
    for token in range(5):
        told = explain_flash(trace, token, tile=tile)
        numbers = [sorted(re.findall(r"\d+(?:\.\d+)?", told.text(lang))) for lang in ("en", "ko")]
        assert numbers[0] == numbers[1]
        json.dumps(told.to_json(), allow_nan=False)


def test_what_is_not_read_is_said():
    text = explain_flash(student("causal"), "The").text("en")
    assert "Tile 2 (studies and deep learning): 'The' may read none of them, so nothing changes." in text
    nothing = explain_flash(student(allowed.table(np.zeros((5, 5), bool))), "carefully")
    assert "carefully may read no key at all, so its row is 0." in nothing.text("en")
    assert "carefully가 볼 수 있는 키가 하나도 없으므로 그 행은 0입니다." in nothing.text("ko")
    assert "the largest score is 0.5, the sum 1" in explain_flash(student(Rule(sink=[0.5])), 0).text()


def test_the_memory_of_linear_attention_is_told():
    text = explain_linear(student("causal")).text()
    assert "one matrix S of 4 × 4" in text
    assert "carefully: now z = (6, 6, 6, 6). With φ(q) = (1, 1, 1, 2), φ(q) · z = 30" in text
    with pytest.raises(InputError, match="linear attention keeps one sum"):
        explain_linear(student(allowed.window(1)))


def test_both_languages_have_the_same_fields():
    for kind, (en, ko) in PHRASES.items():
        fields = [sorted(name for _, name, _, _ in string.Formatter().parse(text) if name) for text in (en, ko)]
        assert set(fields[0]) == set(fields[1]), kind


def test_other_languages_and_tokens_are_refused():
    with pytest.raises(UnknownName):
        explain_flash(student(), "studies", lang="fr")
    with pytest.raises(UnknownName):
        explain_flash(student(), "study")
