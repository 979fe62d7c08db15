"""The page of measured heads: everything in one file, no network, hostile tokens as texts, sizes."""

import base64
import json
import re
import zlib
from dataclasses import replace

import numpy as np
import pytest

import jumok
from jumok.errors import InputError, OutputError, TooLargeError, UnknownName
from jumok.explanation.head_cards import card
from jumok.picture import measured_page
from jumok.picture.measured import roles_of
from jumok.words import LANGS
from small_measured import HOSTILE, alone, measured, silent


def unpacked(found):
    """What stands in the block: the JSON, and the columns by name."""
    data = zlib.decompress(measured_page.packed(found), -15)
    length = int.from_bytes(data[:4], "little")
    told, at, columns = json.loads(data[4 : 4 + length]), 4 + length, {}
    for name, kind in told["columns"]:
        size = np.dtype(kind).itemsize * told["n_rows"]
        columns[name] = np.frombuffer(data[at : at + size], "<" + kind)
        at += size
    assert at == len(data)
    return told, columns


def test_every_row_travels_with_its_numbers():
    told, columns = unpacked(measured())
    rows = measured().table.rows
    assert told["n_rows"] == len(rows)
    for name in ("score", "with_sink", "baseline", "low", "high", "way"):
        np.testing.assert_allclose(columns[name], [getattr(row, name) for row in rows], rtol=1e-6, atol=1e-12)
    assert np.isnan(columns["without_sink"]).tolist() == [row.without_sink is None for row in rows]
    assert [told["roles"][at]["name"] for at in columns["role"]] == [row.role for row in rows]
    places = [(told["cards"][at]["layer"], told["cards"][at]["head"]) for at in columns["card"]]
    assert places == [(row.layer, row.head) for row in rows]
    assert [measured_page.VERDICTS[at] for at in columns["verdict"]] == [
        "evidence" if row.evidence else "no-evidence" if row.q is not None else "too-few" for row in rows
    ]
    assert told["rules"][columns["rule"][0]]["en"] == "even weights"


def test_cards_and_examples_are_those_of_python():
    told, _ = unpacked(measured())
    roles = roles_of(measured())
    for one in told["cards"]:
        wanted = card(measured(), one["layer"], one["head"])
        assert {lang: tuple(one["said"][lang]) for lang in LANGS} == {lang: wanted.sentences(lang) for lang in LANGS}
        assert one["role"] == (-1 if wanted.role is None else roles.index(wanted.role.role))
    assert len(told["examples"]) == len(measured().examples)
    at, role, sentence, query, key, weight = told["examples"][0]
    first = measured().examples_of(told["cards"][at]["layer"], told["cards"][at]["head"], roles[role])[0]
    assert (query, key, weight) == ([*first.query], [*first.key], first.weight)
    assert told["sentences"][sentence]["name"] == first.name
    assert told["sentences"][sentence]["tokens"][1] == first.tokens[1]
    assert told["sentences"][sentence]["tokens"][0] == ["[CLS]", 1, 1, True]


def test_beyond_the_most_examples_those_that_cards_tell_travel(monkeypatch):
    monkeypatch.setattr(measured_page, "MOST_EXAMPLES", 6)
    told, _ = unpacked(measured())
    assert len(told["examples"]) == 6
    assert {(at, role) for at, role, *_ in told["examples"]} <= {
        (at, one["told"]) for at, one in enumerate(told["cards"])
    }


@pytest.mark.parametrize("found", [silent, alone])
def test_small_and_silent_models_have_a_page(found, tmp_path):
    path = jumok.draw(found()).save(tmp_path / "a.html")
    assert path.stat().st_size < 200_000


def test_the_page_asks_nothing_of_a_network_and_tokens_are_texts():
    text = "".join(measured_page.html(measured(HOSTILE), lang="ko", title="</title><script>alert(1)</script>"))
    assert text.count("<script") == 3
    assert "alert(1)</script>" not in text.split('<script type="module">')[0].replace("\\u003c", "")
    assert "default-src 'none'" in text
    assert not re.search(r"(?:src|href)=[\"']?https?:", text)
    assert '<html lang="ko">' in text
    block = re.search(r'id="jumok-measured">([^<]*)<', text)
    assert zlib.decompress(base64.b64decode(block[1]), -15)[4:6] == b'{"'


def test_what_the_page_is_asked_for_is_checked(tmp_path):
    with pytest.raises(UnknownName):
        measured_page.html(alone(), lang="fr")
    with pytest.raises(TooLargeError, match="fewer roles"):
        measured_page.html(alone(), size_limit=100)
    with pytest.raises(OutputError):
        jumok.draw(alone()).save(tmp_path / "none" / "a.html")
    with pytest.raises(InputError, match="measured heads"):
        jumok.draw(alone()).save(tmp_path / "a.html", values="all")


def test_half_of_a_large_model_takes_less_than_half_of_five_megabytes():
    """24 × 32 heads with 60 roles: every number another one."""
    draw, whole = np.random.default_rng(0), measured()
    names = roles_of(whole)
    relations = [
        f"{name}:{way}" for name in ("nsubj", "obj", "amod", "det", "case") for way in ("to-head", "to-dependent")
    ]
    names = [*names, *relations, *(f"pos:TAG{at}" for at in range(60 - len(names) - len(relations)))]
    numbers = iter(draw.random((24 * 32 * 60, 6)))
    rows = [
        _row(whole.table.rows[0], layer, head, name, next(numbers))
        for layer in range(24)
        for head in range(32)
        for name in names
    ]
    table = replace(whole.table, rows=tuple(rows), n_heads=(32,) * 24, n_tested=len(rows))
    size = len("".join(measured_page.html(replace(whole, table=table), size_limit=None)))
    assert size < 2_500_000


def _row(like, layer, head, role, numbers):
    score, baseline, with_sink, low, high, q = map(float, numbers)
    return replace(
        like, layer=layer, head=head, role=role, score=score, baseline=baseline / 10, difference=score - baseline / 10,
        with_sink=with_sink, without_sink=with_sink / 2, low=low, high=high, p=q / 10, q=q, evidence=q < 0.3, way=score,
    )  # fmt: skip
