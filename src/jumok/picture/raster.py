"""SVG as PNG, drawn by resvg with the package's own font: the same pixels on every machine."""

from __future__ import annotations

from ..errors import MissingExtra
from .fonts import FAMILY, font_file

__all__ = ["png"]


def png(svg: str, scale: float = 2, system_fonts: bool = False) -> bytes:
    """A PNG file, ``scale`` pixels for each of the picture's.

    system_fonts : True lets letters that Noto Sans KR lacks come from the machine's fonts

    Errors: ``MissingExtra`` where resvg or the font is not installed.
    """
    try:
        import resvg_py
    except ImportError as error:
        raise MissingExtra(extra="picture", package="resvg-py") from error
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            zoom=scale,
            skip_system_fonts=not system_fonts,
            font_files=[str(font_file())],
            font_family=FAMILY,
            sans_serif_family=FAMILY,
        )
    )
