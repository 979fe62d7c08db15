"""Layers keep the numbers that they have in the program, however many of them were kept."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

import jumok
from jumok.errors import InputError
from jumok.layer_numbers import layer_numbers, layer_place
from jumok.measurement.first_look import arrows, head_looks
from jumok.picture.changes import head_rows, heads_csv, token_rows
from jumok.picture.plain import to_markdown

RNG = np.random.default_rng(0)


def layer(number, n_heads=2):
    q, k, v = RNG.normal(size=(3, n_heads, 4, 3))
    return jumok.Trace(tokens=list("abcd"), q=q, k=k, v=v, source=jumok.Source(kind="model", layer=number))


def reading(*numbers):
    return jumok.Reading([layer(number) for number in numbers])


@pytest.mark.parametrize(
    ("numbers", "wanted"),
    [((3,), (3,)), ((0, 5), (0, 5)), ((None, None), (0, 1)), ((2, None), (0, 1)), ((5, 3), (0, 1)), ((1, 1), (0, 1)), ((-1, 0), (0, 1)), ((), ())],
)  # fmt: skip
def test_they_are_those_of_the_sources_where_these_can_be_trusted(numbers, wanted):
    assert layer_numbers(reading(*numbers)) == wanted


def test_a_trace_alone_is_one_layer_whatever_its_number():
    assert layer_numbers(layer(7)) == (0,)


@pytest.mark.parametrize("at", [0, 2, -1, True, "3", None, 1.5])
def test_a_number_that_is_not_there_is_refused(at):
    with pytest.raises(InputError, match=r"layer expects a layer that was kept \(3, 5\)") as told:
        layer_place(reading(3, 5), at)
    assert "남긴 층(3, 5)" in told.value.ko


def test_many_that_are_there_are_not_all_told():
    with pytest.raises(InputError, match=r"\(1, 2, 3, 4, 5, 6, 7, 8, …\), got 0"):
        layer_place(reading(*range(1, 20)), 0)


def test_what_is_drawn_and_told_names_them(tmp_path):
    record = reading(3, 5)
    assert jumok.draw(record, "heat", layer=5).choice.layer == 1
    assert "layer 5" in jumok.draw(record, "heat", layer=5).svg()
    assert "layer 3" in jumok.draw(record, "heads").svg()
    rows = list(csv.DictReader(io.StringIO(jumok.draw(record, "heads").csv())))
    assert {row["layer"] for row in rows} == {"3", "5"}
    assert {row["layer"] for row in csv.DictReader(io.StringIO(jumok.draw(record, "heat", layer=5).csv()))} == {"5"}
    assert "## Layer 5" in to_markdown(record, ["weights"])
    with pytest.raises(InputError, match="that was kept"):
        jumok.draw(record, "heat", layer=1)


def test_explanations_name_them():
    record = reading(3, 5)
    told = jumok.explain(record, "b", head="all")
    assert {fact.layer for fact in told.facts} - {None} == {3, 5}
    assert {fact.layer for fact in jumok.explain(record, "b", layer=5, head=1).facts} - {None} == {5}


def test_heads_and_arrows_name_them():
    record = reading(3, 5)
    assert {look.layer for look in head_looks(record)} == {3, 5}
    assert {arrow.layer for arrow in arrows(record, n=100)} == {3, 5}
    assert {arrow.layer for arrow in arrows(record, n=100, layer=5)} == {5}


def test_layers_go_by_the_numbers_of_the_program():
    rng = np.random.default_rng(0)

    def reading(at):
        q, k, v = rng.standard_normal((3, 2, 1, 4, 2))
        return jumok.Reading(
            [jumok.attend(q=q[i], k=k[i], v=v[i], source=jumok.Source(layer=n)) for i, n in enumerate(at)]
        )

    found = jumok.compare(reading((3, 5)), reading((3, 5)))
    assert found.layer_numbers == (3, 5)
    assert f"layer {found.layer_numbers[found.heads[0].layer]} changed most" in found.text("en")
    assert {row[0] for row in head_rows(found)} == {row[0] for row in token_rows(found)} == {"3", "5"}
    assert "\n5,0," in heads_csv(found)
    assert jumok.draw(found, layer=5).choice.layer == found.layer_place(5) == 1
    with pytest.raises(InputError, match=r"a layer that was kept \(3, 5\), got 0"):
        jumok.draw(found, layer=0)
    assert jumok.compare(reading((3, 5)), reading((0, 1))).layer_numbers == (0, 1)
