"""The fast path of ``torch.nn``'s transformer layers, which does attention in one piece that nobody can look into."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import torch

__all__ = ["fast_path_off"]

_lock = Lock()
_state: dict[str, Any] = {"n_users": 0, "before": True}


@contextmanager
def fast_path_off() -> Iterator[None]:
    """Switched off for the whole process while anybody is inside, then as it was before the first of them."""
    with _lock:
        if _state["n_users"] == 0:
            _state["before"] = torch.backends.mha.get_fastpath_enabled()
            torch.backends.mha.set_fastpath_enabled(False)
        _state["n_users"] += 1
    try:
        yield
    finally:
        with _lock:
            _state["n_users"] -= 1
            if _state["n_users"] == 0:
                torch.backends.mha.set_fastpath_enabled(_state["before"])
