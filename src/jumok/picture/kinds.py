"""What pictures there are of what; light to load, since the command line completes these names."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from ..errors import InputError

__all__ = ["HOMES", "KINDS", "THEME_NAMES", "home", "name_of", "no_record"]

KINDS: dict[str, tuple[str, ...]] = {  # of what can be drawn; the first is drawn where none is asked for
    "Trace": ("heat", "arrows", "arcs", "strip", "heads"),
    "Reading": ("heads", "heat", "arrows", "arcs", "strip"),
    "Comparison": ("difference", "heads"),
    "Run": ("curves",),
    "Cost": ("growth",),
    "Measured": ("roles",),
}
HOMES = {"growth": "costs", "roles": "measured"}  # modules that are loaded only where such a picture is drawn
THEME_NAMES = ("light", "dark")


def name_of(thing: Any) -> str | None:
    """By which name of ``KINDS`` something goes, seen from its class alone: nothing is loaded to ask whether it is one."""
    own = (one for one in type(thing).__mro__ if one.__module__.partition(".")[0] == __name__.partition(".")[0])
    return next((one.__name__ for one in own if one.__name__ in KINDS), None)


def home(kind: str) -> ModuleType:
    """The module that draws a kind of ``HOMES``."""
    return import_module(f".{HOMES[kind]}", __package__)


def no_record(verb: str, thing: Any) -> InputError:
    """The refusal of what is nothing to look at."""
    from ..trace import Reading, no_layer

    if isinstance(thing, Reading) and not thing.layers:
        return no_layer(thing)
    name = type(thing).__name__
    if name == "ValueDesign":
        return InputError(
            en=f"{verb} expects attention, and a ValueDesign is matrices. Attend with them: "
            f"jumok.{verb}(jumok.attend(x=…, w_q=…, w_k=…, w_v=found.w_v, w_o=found.w_o)).",
            ko=f"{verb}에는 어텐션이 필요한데 ValueDesign은 행렬입니다. 먼저 이 행렬로 어텐션을 계산하십시오: "
            f"jumok.{verb}(jumok.attend(x=…, w_q=…, w_k=…, w_v=found.w_v, w_o=found.w_o)).",
        )
    return InputError(
        en=f"{verb} expects a Trace, a Reading with layers, a Comparison or an Example, got {name}. "
        f'Try jumok.{verb}(jumok.load("student")).',
        ko=f"{verb}에는 Trace, 층이 있는 Reading, Comparison, Example 가운데 하나가 필요한데 {name}이(가) 왔습니다. "
        f'예: jumok.{verb}(jumok.load("student")).',
    )
