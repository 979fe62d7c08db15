"""The page makes wanted rows whole (frontend/src/engine/wanted.ts) as ``jumok.design`` does, and refuses the same ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jumok.errors import InputError
from jumok.sources.design.wishes import wishes
from jumok.trace import as_tokens

SAID = {"sum": "sum to", "nothing_allowed": "lets it read nothing", "all_forbidden": "is forbidden by the rule"}
BY_HAND: list[tuple[dict[int, float], list[int]]] = [
    ({0: 0.02, 1: 0.2, 2: 0.05, 3: 0.55, 4: 0.18}, [1] * 5),
    ({3: 0.55}, [1] * 5),
    ({1: 1.0}, [1] * 5),
    ({1: 0.5, 2: 0.5000005}, [1] * 5),
    ({1: 0.5, 2: 0.50001}, [1] * 5),
    ({1: 0.5, 2: 0.4999}, [0, 1, 1]),
    ({1: 0.5, 2: 0.4999995}, [0, 1, 1]),
    ({0: 0.5, 1: 0.25}, [0, 1, 1]),
    ({0: 1.0}, [0, 1, 1]),
    ({0: 1.0}, [0, 0, 0]),
    ({0: 0.5}, [0, 0, 0]),
    ({0: 0.0, 1: 0.0}, [1, 1, 1]),
    ({0: 0.0, 1: 0.0}, [1, 1, 0]),
    ({6: 0.45, 1: 0.45}, [1] * 10),
]


def cases() -> list[tuple[dict[int, float], list[int]]]:
    rng = np.random.default_rng(11)
    made = list(BY_HAND)
    for _ in range(600):
        n = int(rng.integers(1, 9))
        keys = rng.permutation(n)[: int(rng.integers(1, n + 1))]
        weights = rng.dirichlet(np.ones(len(keys))) * rng.choice([1, 1, 0.7, 1.2])
        row = {int(key): float(weight) for key, weight in zip(keys, weights, strict=True)}
        made.append((row, [int(may) for may in rng.random(n) < rng.choice([1, 0.7, 0.3])]))
    return made


def by_python(row: dict[int, float], allowed: list[int]) -> Any:
    """The row, or which refusal it met."""
    tokens = as_tokens([f"t{at}" for at in range(len(allowed))])
    may = np.zeros((len(allowed), len(allowed)), bool)
    may[0] = np.array(allowed, bool)
    try:
        (wish,) = wishes({0: row}, tokens, may)
    except InputError as error:
        return next(kind for kind, words in SAID.items() if words in error.en)
    return wish.table[0].tolist()


def test_rows_are_made_whole_as_python_does(node: Callable[..., str], tmp_path: Path) -> None:
    given = cases()
    plain = [{"row": row, "allowed": allowed} for row, allowed in given]
    (tmp_path / "cases.json").write_text(json.dumps(plain), encoding="utf-8")
    node("wanted.parity", JUMOK_WANTED=tmp_path)
    made = json.loads((tmp_path / "made.json").read_text(encoding="utf-8"))
    expected = [by_python(row, allowed) for row, allowed in given]
    assert {kind for kind in expected if isinstance(kind, str)} == set(SAID), "every refusal is met"
    for case, mine, theirs in zip(given, made, expected, strict=True):
        assert type(mine) is type(theirs), (case, mine, theirs)
        if isinstance(theirs, str):
            assert mine == theirs, case
        else:
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-15, err_msg=str(case))


def test_completing_nothing_is_no_success(node: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "cases.json").write_text("[]", encoding="utf-8")
    with pytest.raises(AssertionError, match="there is something to complete"):
        node("wanted.parity", JUMOK_WANTED=tmp_path)
