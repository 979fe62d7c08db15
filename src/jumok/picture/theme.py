"""The colours of a picture, light and dark, and letters that can be read on them.

>>> ink_on((0, 34, 78)), round(contrast((0, 0, 0), (255, 255, 255)))
((255, 255, 255), 21)
"""

from __future__ import annotations

from dataclasses import dataclass

from .colours import Rgb

__all__ = ["THEMES", "Theme", "contrast", "css", "ink_on"]


@dataclass(frozen=True)
class Theme:
    """What is not data: paper, letters, lines, cells that the mask hides, arrows."""

    paper: Rgb
    ink: Rgb
    dim: Rgb
    line: Rgb
    hidden: Rgb
    accent: Rgb


THEMES = {
    "light": Theme((255, 255, 255), (26, 28, 31), (88, 94, 102), (205, 210, 216), (222, 224, 227), (11, 92, 173)),
    "dark": Theme((20, 23, 28), (233, 236, 239), (166, 174, 184), (60, 67, 77), (66, 71, 79), (110, 181, 255)),
}


def contrast(first: Rgb, second: Rgb) -> float:
    """How well one colour is seen on another, 1 to 21; letters need 4.5.

    Source: WCAG 2.2, "contrast ratio" and "relative luminance".
    """
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: Rgb) -> float:
    linear = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ink_on(colour: Rgb) -> Rgb:
    """Black or white, whichever is seen better on a colour; one of them always reaches 4.5."""
    black, white = (0, 0, 0), (255, 255, 255)
    return max(black, white, key=lambda ink: contrast(ink, colour))


def css(colour: Rgb) -> str:
    """A colour as SVG writes it."""
    return "#{:02x}{:02x}{:02x}".format(*colour)
