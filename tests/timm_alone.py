"""timm without torchvision."""

from __future__ import annotations

import importlib
import sys
import types

import pytest

from real_weights import bring


class _Anything(type):
    """A class whose every attribute is another such class."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything(name, (), {})


class _StandIn(types.ModuleType):
    """A module in which every name is a class that nothing is an instance of."""

    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything(name, (), {})


NEEDED = ["", ".ops", ".ops.misc", ".transforms", ".transforms.functional", ".datasets", ".utils"]


@pytest.fixture(scope="module")
def timm():
    """The library, alone: with it would come a torchvision that no CPU build of PyTorch loads, and transformers with it
    neither. It is imported for what is no model, so that a stand-in will do.
    """
    bring("timm==1.0.31")
    with pytest.MonkeyPatch.context() as patch:
        try:
            importlib.import_module("torchvision")
        except (ImportError, RuntimeError):
            for name in NEEDED:
                patch.setitem(sys.modules, f"torchvision{name}", _StandIn(f"torchvision{name}"))
        yield importlib.import_module("timm")
