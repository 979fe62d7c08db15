"""What pictures there are of what; light to load, since the command line completes these names."""

from __future__ import annotations

__all__ = ["KINDS", "THEME_NAMES"]

KINDS: dict[str, tuple[str, ...]] = {  # of what can be drawn; the first is drawn where none is asked for
    "Trace": ("heat", "arrows", "arcs", "strip", "heads"),
    "Reading": ("heads", "heat", "arrows", "arcs", "strip"),
    "Comparison": ("difference", "heads"),
}
THEME_NAMES = ("light", "dark")
