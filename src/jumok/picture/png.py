"""A picture of at most 256 colours as PNG: enough for thumbnails, without an image library.

>>> palette(np.zeros((1, 2), np.uint8), [(0, 0, 0)])[1:4]
b'PNG'
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .colours import Rgb

__all__ = ["palette"]


def palette(pixels: npt.NDArray[np.uint8], colours: Sequence[Rgb]) -> bytes:
    """A PNG file.

    pixels : (row, column) which colour stands there
    colours : at most 256

    Source: W3C Portable Network Graphics (third edition), colour type 3.
    """
    rows, columns = pixels.shape
    scanlines = np.zeros((rows, columns + 1), np.uint8)  # each begins with its filter, 0: none
    scanlines[:, 1:] = pixels
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0)),
        (b"PLTE", np.array(colours, np.uint8).tobytes()),
        (b"IDAT", zlib.compress(scanlines.tobytes(), 9)),
        (b"IEND", b""),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in parts)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
