"""The PNG writer, read back by a decoder that shares no code with it."""

import struct
import zlib

import numpy as np
import pytest

from jumok.picture.colours import CIVIDIS, NOT_ALLOWED, PUOR, cividis, puor
from jumok.picture.png import palette


def chunks(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at = 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length]) == (zlib.crc32(name + body),)
        yield name, body
        at += 12 + length


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (70, 130)])
def test_the_picture_comes_back(shape):
    pixels = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    found = dict(chunks(palette(pixels, CIVIDIS)))
    assert list(found) == [b"IHDR", b"PLTE", b"IDAT", b"IEND"]
    assert struct.unpack(">IIBBBBB", found[b"IHDR"]) == (shape[1], shape[0], 8, 3, 0, 0, 0)
    assert found[b"PLTE"] == bytes(number for colour in CIVIDIS for number in colour)
    lines = np.frombuffer(zlib.decompress(found[b"IDAT"]), np.uint8).reshape(shape[0], shape[1] + 1)
    np.testing.assert_array_equal(lines[:, 0], 0)
    np.testing.assert_array_equal(lines[:, 1:], pixels)


def test_matplotlib_sees_the_same_colours(tmp_path):
    from matplotlib import image

    pixels = np.arange(256, dtype=np.uint8).reshape(8, 32)
    (path := tmp_path / "a.png").write_bytes(palette(pixels, CIVIDIS))
    seen = np.rint(image.imread(path)[..., :3] * 255).astype(int)
    np.testing.assert_array_equal(seen, np.array(CIVIDIS)[pixels])


@pytest.mark.parametrize(("name", "table"), [("cividis", CIVIDIS), ("PuOr_r", PUOR)])
def test_the_tables_are_the_published_ones(name, table):
    from matplotlib import colormaps

    published = np.rint(colormaps[name](np.linspace(0, 1, len(table)))[:, :3] * 255)
    np.testing.assert_array_equal(published, table)


def test_places_beyond_the_scale_take_its_ends():
    assert (cividis(-1), cividis(2)) == (CIVIDIS[0], CIVIDIS[-1])
    assert (puor(-9), puor(0), puor(9)) == (PUOR[0], PUOR[16], PUOR[-1])
    assert NOT_ALLOWED not in CIVIDIS + PUOR
