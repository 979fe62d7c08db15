"""The array libraries that the core path must run on: a new one is one entry in LIBRARIES."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

__all__ = ["LIBRARIES", "Library"]


@dataclass(frozen=True)
class Library:
    """How arrays get in and out.

    module : what must be installed
    array : a NumPy array → one of this library;  numpy : the way back
    compiles : True where each new shape takes a while, so that tests should have few
    """

    module: str
    array: Callable[[Any], Any]
    numpy: Callable[[Any], Any] = np.asarray
    compiles: bool = False

    def ready(self) -> Library:
        pytest.importorskip(self.module)
        if self.module == "jax":
            importlib.import_module("jax").config.update("jax_enable_x64", True)
        return self


def _call(module: str, name: str, value: Any) -> Any:
    return getattr(importlib.import_module(module), name)(np.array(value))


LIBRARIES = {
    "numpy": Library("numpy", np.array),
    "torch": Library("torch", lambda a: _call("torch", "from_numpy", a), lambda a: a.detach().numpy()),
    "jax": Library("jax", lambda a: _call("jax.numpy", "asarray", a), compiles=True),
    "strict": Library("array_api_strict", lambda a: _call("array_api_strict", "asarray", a)),
}


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> Library:
    """Each array library in turn; skipped where it is not installed."""
    return LIBRARIES[request.param].ready()
