"""One table of cases, through every array library, every stage against the triple loop. The table is ``cases.CASES``."""

from __future__ import annotations

import numpy as np
import pytest

import reference as ref
from cases import CASES, close, expected, inputs, steps_of
from jumok.path import STAGES, attend
from libraries import LIBRARIES, Library


@pytest.mark.parametrize("name", CASES)
def test_every_stage_is_what_the_triple_loop_gives(name: str, library: Library) -> None:
    steps = steps_of(name, library, library.array)
    for stage in ("q", "k", "v", *STAGES):
        close(library.numpy(getattr(steps, stage)), expected(name)[stage], CASES[name].dtype)


@pytest.mark.parametrize("name", CASES)
def test_a_part_is_that_part_of_the_whole(name: str, library: Library) -> None:
    """Some heads and queries, backwards; the rule's arrays stay in NumPy."""
    case = CASES[name]
    steps, whole = steps_of(name, library, np.array), expected(name)
    queries = [*range(case.n)][:: -1 if library.compiles else -2]
    heads = [*range(case.heads)][::-1]
    part = steps.part(heads, queries)
    axes = {"allowed": np.ix_(queries), "output": None}
    for stage in STAGES[:-1]:
        wanted = whole[stage][axes.get(stage, np.ix_(heads, queries))]
        close(library.numpy(getattr(part, stage)), wanted, case.dtype)
    close(library.numpy(steps.part(queries=queries).output), whole["output"][queries], case.dtype)


@pytest.mark.parametrize("name", ["two heads", "grouped heads", "sink, grouped", "ALiBi"])
def test_the_heads_share_the_output_among_them(name: str, library: Library) -> None:
    case = CASES[name]
    steps = steps_of(name, library, library.array)
    b_o = inputs(name)["b_o"]
    shares = sum(library.numpy(steps.part(heads=[h]).output) for h in range(case.heads))
    close(shares + b_o, expected(name)["output"], case.dtype)


def test_a_small_part_in_every_library(library: Library) -> None:
    part, whole = steps_of("everything at once", library, np.array).part([1], [3, 0, 3]), expected("everything at once")
    for stage in ("scores", "scaled", "weights", "mixed"):
        close(library.numpy(getattr(part, stage)), whole[stage][np.ix_([1], [3, 0, 3])], "float64")


@pytest.mark.parametrize("name", ["grouped heads", "ALiBi", "sink", "causal with a cache"])
def test_a_part_of_a_part(name: str) -> None:
    steps = steps_of(name, LIBRARIES["numpy"], np.array)
    heads, queries = [1], [1]
    twice = steps.part(None, [1, 0]).part(heads, [0])
    close(twice.weights, steps.weights[np.ix_(heads, queries)], "float64")
    close(twice.mixed, steps.mixed[np.ix_(heads, queries)], "float64")


def test_attend_goes_the_same_way() -> None:
    given = inputs("grouped heads")
    w_k, w_v = given["w_k"], given["w_v"]
    steps = attend(given["x"], given["w_q"], w_k, w_v, given["w_o"], n_heads=4, n_kv_heads=2, rule="causal")
    q = ref.heads_of(ref.product(given["x"], given["w_q"].tolist()), 4)
    k, v = (ref.heads_of(ref.product(given["x"], w.tolist()), 2) for w in (w_k, w_v))
    wanted = ref.attention(q, k, v, allowed=ref.causal(), w_o=given["w_o"].tolist())
    for stage in STAGES:
        close(getattr(steps, stage), np.array(wanted[stage]), "float64")
