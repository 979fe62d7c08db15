"""The front end's own programs, run by node on what Python made."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

FRONTEND = Path(__file__).parents[2] / "frontend"


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """``node(name, NAME=value)``: runs ``frontend/test/name.test.ts`` with these variables; what it printed."""
    bundled = tmp_path_factory.mktemp("bundled")
    _run(["node", "build.mjs", "--tests"], JUMOK_TESTS=bundled)
    return lambda name, **variables: _run(["node", bundled / f"{name}.test.mjs"], **variables)


def _run(command: list[str | Path], **variables: object) -> str:
    environment = os.environ | {name: str(value) for name, value in variables.items()}
    done = subprocess.run(
        command, cwd=FRONTEND, env=environment, capture_output=True, encoding="utf-8", timeout=300, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-50_000:]}\n{done.stderr[-5_000:]}"
    return done.stdout
