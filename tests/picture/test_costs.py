"""Costs as a picture on logarithmic axes, tables, CSV and a page: each with the measured numbers."""

import csv
import io
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from rich.cells import cell_len

import jumok
from jumok.errors import InputError
from jumok.picture import costs
from jumok.picture.terminal import Screen
from jumok.picture.theme import THEMES, contrast
from jumok.variants.cost import Cost, CostRow
from jumok.variants.cost_formulas import Sizes
from jumok.variants.cost_kinds import DEFAULT, KINDS, Settings
from jumok.words import LANGS

SVG = "{http://www.w3.org/2000/svg}"
NS = (512, 1024, 2048, 4096)


def cost(measured=3):
    """The six variants at four n, the first ones of which are measured."""
    rows = []
    for at, n in enumerate(NS):
        for place, name in enumerate(DEFAULT):
            seconds = 1e-8 * (n ** KINDS[name].exponent) * (1 + place)
            known = at < measured
            rows.append(
                CostRow(name, n, n * n, n, 4 * n, 9 * n, seconds, known, 3 * known, 8 * n, None if known else "budget")
            )
    source = {"backend": "numpy 2.4", "device": "cpu", "n_threads": 2}
    return Cost(tuple(rows), 1e10, Sizes(NS[0], 64, 8, n_ahead=0), Settings(), "causal", source=source)


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_picture_is_whole_in_both_languages_and_themes(lang, theme):
    picture = jumok.draw(cost(), lang=lang, theme=theme)
    root = ET.fromstring(picture.svg())
    texts = ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]
    assert picture.kind == "growth"
    assert root.find(f"{SVG}title").text.startswith({"en": "What attention costs", "ko": "어텐션의 비용"}[lang])
    for name in DEFAULT:
        assert texts.count(name) == 2  # one a chart
    assert {"en": "Time", "ko": "시간"}[lang] in texts
    assert "10" in root.find(f"{SVG}desc").text


def circles(picture):
    """(filled, hollow) centres by colour."""
    found = {}
    for node in ET.fromstring(picture.svg()).iter(f"{SVG}circle"):
        filled = node.get("fill") == node.get("stroke")
        found.setdefault(node.get("stroke"), []).append((float(node.get("cx")), float(node.get("cy")), filled))
    return found


def test_points_lie_where_the_logarithms_of_their_numbers_are():
    found = cost()
    full = circles(jumok.draw(found))[costs.COLOURS["full"][0]][:4]
    xs, ys, filled = (np.array(each) for each in zip(*full, strict=True))
    seconds = [row.time_s for row in found.of("full")]
    for places, numbers, sign in ((xs, NS, 1), (ys, seconds, -1)):
        slope, start = np.polyfit(np.log10(numbers), places, 1)
        assert np.sign(slope) == sign
        assert np.abs(slope * np.log10(numbers) + start - places).max() < 0.2
    assert filled.tolist() == [True, True, True, False]


def test_pieces_to_a_prediction_are_dashed():
    nodes = [
        node for node in ET.fromstring(jumok.draw(cost()).svg()).iter(f"{SVG}path") if node.get("stroke-width") == "1.6"
    ]
    assert len(nodes) == 2 * 6 * 3
    assert sum(node.get("stroke-dasharray") is not None for node in nodes) == 2 * 6
    assert not any(
        node.get("stroke-dasharray") for node in ET.fromstring(jumok.draw(cost(measured=4)).svg()).iter(f"{SVG}path")
    )


def test_names_stand_clear_of_each_other():
    texts = [node for node in ET.fromstring(jumok.draw(cost()).svg()).iter(f"{SVG}text") if node.text in DEFAULT]
    for half in (texts[:6], texts[6:]):
        ys = sorted(float(node.get("y")) for node in half)
        assert min(np.diff(ys)) >= costs.SIZE
        assert max(ys) <= costs.SIZE + 12 + costs.HEIGHT + 5


def test_names_can_be_read_on_their_paper():
    for of in costs.COLOURS.values():
        for theme, colour in zip(("light", "dark"), of, strict=True):
            rgb = tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))
            assert contrast(rgb, THEMES[theme].paper) >= 4.5


def test_one_n_is_drawn_too():
    found = cost()
    one = Cost(found.of("full")[:1], found.peak, found.sizes, found.settings, found.rule, source=found.source)
    assert "NaN" not in jumok.draw(one).svg()


def test_the_csv_has_every_digit():
    found = cost()
    rows = list(csv.DictReader(io.StringIO(jumok.draw(found).csv())))
    assert len(rows) == len(found.rows)
    assert [float(row["time_s"]) for row in rows] == [row.time_s for row in found.rows]
    assert {row["why"] for row in rows} == {"", "budget"}


@pytest.mark.parametrize("lang", LANGS)
def test_the_tables_mark_what_is_predicted(lang):
    time, memory, growth, operations = costs.tables(cost(), lang)
    assert all(cell.startswith("≈") for cell in time.rows[-1][1:])
    assert not any("≈" in cell for row in time.rows[:-1] for cell in row)
    assert all(cell.startswith("≈") for cell in memory.rows[-1][1:])
    assert [row[0] for row in growth.rows] == list(DEFAULT)
    assert growth.rows[0][1:3] == ("n^2.00", "n^2")
    assert len(operations.rows) == 6


@pytest.mark.parametrize("lang", LANGS)
def test_the_terminal_shows_all_in_eighty_columns(lang, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = io.StringIO()
    costs.printed(Screen(out, lang), cost())
    lines = out.getvalue().splitlines()
    assert max(map(cell_len, lines)) <= 80
    text = re.sub(r"\s+", "", out.getvalue())
    for table in costs.tables(cost(), lang):
        assert all(re.sub(r"\s+", "", cell) in text for row in table.rows for cell in row)


@pytest.mark.parametrize("lang", LANGS)
def test_the_page_has_both_languages_and_asks_nothing(lang):
    page = costs.to_html(cost(), lang)
    assert "<script" not in page
    assert not re.search(r"(src|href)=|url\(|@import", page)
    assert "default-src 'none'" in page
    assert f'id="say-{lang}" checked' in page
    assert page.count("<svg") == 8  # each language in light and dark, for a page and for a phone
    for one in LANGS:
        for table in costs.tables(cost(), one):
            assert f"<h2>{table.title}</h2>" in page


def test_it_is_saved_in_every_form(tmp_path):
    picture = jumok.draw(cost(), lang="ko")
    for suffix in (".html", ".svg", ".md", ".csv"):
        path = picture.save(tmp_path / f"cost{suffix}")
        assert path.stat().st_size > 500
    assert "## 시간" in (tmp_path / "cost.md").read_text(encoding="utf-8")
    assert str(picture) == picture.markdown()


def test_options_of_records_are_refused():
    for options in ({"layer": 0}, {"head": 1}, {"query": 0}, {"stage": "q"}):
        with pytest.raises(InputError):
            jumok.draw(cost(), **options)
    with pytest.raises(InputError, match="page of a record, not of costs"):
        jumok.draw(cost()).save("a.html", values="all")
