"""The declared font: found without running its package, letters as shapes, what it lacks, what is missing."""

import importlib.util
import re
import sys
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import pytest

from jumok.errors import MissingExtra
from jumok.picture import fonts, raster
from jumok.picture.fonts import font_file, outlined, spelled_out, visible
from jumok.picture.svg import Text, document

SVG = "{http://www.w3.org/2000/svg}"


def test_the_font_is_found_and_its_package_is_not_run():
    assert font_file().read_bytes()[:4] == b"OTTO"
    assert "pylopdf_fonts_ko" not in sys.modules


@pytest.mark.parametrize("found", [None, SimpleNamespace(submodule_search_locations=["nowhere"])])
def test_without_the_font_the_extra_is_named(monkeypatch, found):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: found)
    with pytest.raises(MissingExtra, match=r"pylopdf-fonts-ko.*jumok\[picture\]"):
        font_file()


def test_without_the_rasteriser_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(MissingExtra, match=r"resvg-py.*jumok\[picture\]"):
        raster.png("<svg/>")


def test_what_the_font_lacks_is_told_by_its_code():
    assert visible("한글 a ▁ √ − ● ½") == "한글 a ▁ √ − ● ½"
    assert visible("Q Kᵀ") == "Q K^T"
    assert visible("👩\u200d👩\u200d👧") == "[U+1F469]"
    assert visible("a 👩👧 b") == "a [U+1F469…] b"
    assert visible("شمس السلام!") == "[U+0634…]!"
    assert visible("\u2068شمس\u2069 → a") == "[U+0634…] → a"


def test_a_code_is_written_smaller_than_the_letter_that_it_stands_for():
    plain, code = (spelled_out(Text(content, 0, 0, 12)).attributes for content in ("가", "👩"))
    assert plain["font-size"] == 12
    assert 8 < code["font-size"] < 12


def shapes(text):
    node = outlined(text)
    return ET.fromstring(document(100, 20, [text], title="t", desc="d", lang="ko", spell=outlined)), node


def test_letters_become_shapes_with_their_text_as_title():
    root, _ = shapes(Text("가a", 0, 10, 12, "#123456"))
    assert len(list(root.iter(f"{SVG}text"))) == 0
    (group,) = root.iter(f"{SVG}g")
    assert (group.findtext(f"{SVG}title"), group.get("fill")) == ("가a", "#123456")
    (path,) = group.iter(f"{SVG}path")
    assert set(re.findall("[A-Za-z]", path.get("d"))) <= set("MLHVCQZ")


def extent(text):
    """Left and right of a text's shapes."""
    root, _ = shapes(text)
    x = [float(a) for path in root.iter(f"{SVG}path") for a in re.findall(r"[MLC][^MLCHVZ]*?(-?[\d.]+)", path.get("d"))]
    return min(x), max(x)


def test_shapes_stand_where_the_text_did():
    start, middle, end = (extent(Text("가나다", 50, 10, 12, anchor=anchor)) for anchor in (None, "middle", "end"))
    assert 50 <= start[0] < 53
    assert sum(middle) / 2 == pytest.approx(50, abs=1.5)
    assert 46 < end[1] <= 50
    assert extent(Text("가", 0, 10, 24))[1] == pytest.approx(2 * extent(Text("가", 0, 10, 12))[1], abs=0.05)


def test_emoji_stay_text_between_shapes():
    root, _ = shapes(Text("가👩\u200d👧나", 0, 10, 12, bold=True))
    (rest,) = root.iter(f"{SVG}text")
    assert (rest.text, rest.get("font-weight")) == ("👩\u200d👧", "bold")
    assert next(root.iter(f"{SVG}path")).get("stroke-width") == "0.48"


def test_letters_from_right_to_left_stay_text():
    root, _ = shapes(Text("a שלום b", 0, 10, 12))
    assert [one.text for one in root.iter(f"{SVG}text")] == ["a שלום b"]


def test_turned_letters_are_turned_shapes():
    root, _ = shapes(Text("가", 3, 4, 12, turn=-40))
    assert next(root.iter(f"{SVG}g")).get("transform") == "rotate(-40 3 4)"


def test_nothing_is_left_of_an_empty_text():
    root, _ = shapes(Text("", 0, 0))
    assert not list(root.iter(f"{SVG}path"))


def test_a_font_is_read_once():
    assert fonts._font() is fonts._font()
