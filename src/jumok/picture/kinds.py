"""What pictures there are of what; light to load, since the command line completes these names."""

from __future__ import annotations

from typing import Any

from ..errors import InputError

__all__ = ["KINDS", "THEME_NAMES", "no_record"]

KINDS: dict[str, tuple[str, ...]] = {  # of what can be drawn; the first is drawn where none is asked for
    "Trace": ("heat", "arrows", "arcs", "strip", "heads"),
    "Reading": ("heads", "heat", "arrows", "arcs", "strip"),
    "Comparison": ("difference", "heads"),
    "Run": ("curves",),
}
THEME_NAMES = ("light", "dark")


def no_record(verb: str, thing: Any) -> InputError:
    """The refusal of what is nothing to look at."""
    from ..trace import Reading, no_layer

    if isinstance(thing, Reading) and not thing.layers:
        return no_layer(thing)
    name = type(thing).__name__
    return InputError(
        en=f"{verb} expects a Trace, a Reading with layers, a Comparison or an Example, got {name}. "
        f'Try jumok.{verb}(jumok.load("student")).',
        ko=f"{verb}에는 Trace, 층이 있는 Reading, Comparison, Example 가운데 하나가 필요한데 {name}이(가) 왔습니다. "
        f'예: jumok.{verb}(jumok.load("student")).',
    )
