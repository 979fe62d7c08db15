"""Watching a program: its attention functions where it has registered ones, else PyTorch's operations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from .fast_path import fast_path_off
from .interface import Interface, followed
from .modules import Modules
from .watch import Watch

__all__ = ["watching"]


@contextmanager
def watching(
    model: Any, found: Any, interface: type[Interface] = Interface, watch: type[Watch] = Watch
) -> Iterator[Interface | Watch]:
    """Hand the attention calls of what runs inside to ``found``, in order; leave nothing behind.

    model : the model that will run, or None for any code;  interface, watch : what watches
    """
    with fast_path_off(), ExitStack() as stack:
        names = followed(model)
        if names:
            yield stack.enter_context(interface(model, names, found))
            return
        modules = stack.enter_context(Modules(model))
        one = watch(modules)
        one.found = found
        yield stack.enter_context(one)
