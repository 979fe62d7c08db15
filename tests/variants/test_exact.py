"""The exact variants on the table of cases: what the triple loop gives, on every array library, whatever the tile."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cases import CASES, close, expected, steps_of
from jumok import variants
from jumok.errors import InputError
from libraries import LIBRARIES, Library

EXACT: dict[str, Callable[..., Any]] = {
    "full": variants.full,
    "flash": variants.flash,
    "flash, own lines, tiles of 2": lambda *given: variants.flash(*given, tile=2, fast=False),
    "window, tiles of 2": lambda *given: variants.window(*given, tile=2),
    "sparse, tiles of 2": lambda *given: variants.sparse(*given, tile=2),
}
FEW = ["everything at once", "sink, nothing allowed", "window with a cache", "grouped heads"]  # where each compiles


@pytest.mark.parametrize("variant", EXACT)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    "library", [name for name, library in LIBRARIES.items() if not library.compiles], indirect=True
)
def test_every_case_is_what_the_triple_loop_gives(name: str, variant: str, library: Library) -> None:
    steps = steps_of(name, library, library.array)
    got = EXACT[variant](steps.q, steps.k, steps.v, steps.rule)
    close(library.numpy(got), expected(name)["mixed"], CASES[name].dtype)


@pytest.mark.parametrize("variant", EXACT)
@pytest.mark.parametrize("name", FEW)
def test_the_same_inside_a_compiled_function(name: str, variant: str) -> None:
    """JAX: inside ``jit`` no number is known, so nothing may depend on one."""
    library = LIBRARIES["jax"].ready()
    numbers = steps_of(name, LIBRARIES["numpy"], LIBRARIES["numpy"].array)
    q, k, v = (library.array(array) for array in (numbers.q, numbers.k, numbers.v))
    rule = CASES[name].rule(library.array)
    got = importlib.import_module("jax").jit(lambda q, k, v: EXACT[variant](q, k, v, rule))(q, k, v)
    close(library.numpy(got), expected(name)["mixed"], CASES[name].dtype)


@pytest.mark.parametrize("variant", ["full", "flash", "window", "sparse", "linear", "lowrank"])
@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_masked_array_is_refused(variant: str, which: int) -> None:
    given = [np.ones((1, 4, 2)) for _ in range(3)]
    given[which] = np.ma.masked_less(given[which], 0)
    with pytest.raises(InputError, match="is a masked array"):
        getattr(variants, variant)(*given)
