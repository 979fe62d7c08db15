"""The front end's tests that need nothing from Python: each program in frontend/test, but those that compare."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

TESTS = sorted(path.name.removesuffix(".test.ts") for path in Path(__file__).parents[2].glob("frontend/test/*.test.ts"))
ALONE = [name for name in TESTS if not name.endswith(".parity")]


@pytest.mark.parametrize("name", ALONE)
def test_it_passes(node: Callable[..., str], name: str) -> None:
    assert re.search(r"\bpass [1-9]", node(name))
