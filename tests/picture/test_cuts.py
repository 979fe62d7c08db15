"""What of a cut a page carries, and what is refused."""

import dataclasses
import json
import re

import pytest

import jumok
from cuttable import decoder, encoder
from jumok.errors import InputError
from jumok.picture.cuts import carried


@pytest.fixture(scope="module")
def reading():
    return encoder()


def test_a_cut_travels_as_numbers_and_texts_of_tokens(reading):
    cut = reading.cut(1, 2, "sat", "cat")
    [found] = carried(cut, reading)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert {name: found[name] for name in ("document", "layer", "head", "query", "key", "way", "kind")} == {
        "document": 0, "layer": 1, "head": 2, "query": 3, "key": 2, "way": "zero", "kind": "vectors",
    }  # fmt: skip
    assert (found["query_text"], found["key_text"]) == ("sat", "cat")
    assert found["weight"] == float(reading[1].rows("weights", [3], [2])[0, 0, 2])
    norms = [change.norm for change in cut.changes]
    assert [change["norm"] for change in found["changes"]] == sorted(norms, reverse=True)[:5]
    first = found["changes"][0]
    assert first["token"] == cut.tokens[first["position"]].text


def test_what_may_follow_travels_at_its_token():
    reading = decoder("a cat sat")
    cut = reading.cut(1, 2, 1)
    [found] = carried([cut], reading)
    assert (found["kind"], found["key"], found["key_text"], found["weight"]) == ("next", None, None, None)
    assert [guesses["position"] for guesses in found["guesses"]] == [1, len(reading.tokens) - 1]
    told = found["guesses"][0]["words"][0]
    assert (told["text"], told["before"]) == (cut.guesses[0].words[0].text, cut.guesses[0].words[0].before)


def test_of_no_cut_nothing_travels(reading):
    assert carried(None, reading) == carried([], reading) == []


@pytest.mark.parametrize("what", ["3.1", {"layer": 1}, 5, ["x"]])
def test_what_is_no_cut_is_refused(reading, what):
    with pytest.raises(InputError, match=r"cuts expects what reading\.cut") as caught:
        carried(what, reading)
    assert re.search("[가-힣]", caught.value.text("ko"))


@pytest.mark.parametrize("place", [(1, 2, 3, 2), (1, 2, None, 2), (1, 3), (1, 2, 7)])
def test_a_cut_of_another_reading_is_refused(reading, place):
    other = jumok.Reading(tuple(dataclasses.replace(layer, k=layer.k * 2) for layer in reading))
    less = jumok.Reading(reading[:1])
    cut = reading.cut(*place)
    records = (other, less, reading[1]) if len(place) == 4 else (less, reading[1])
    for record in records:
        with pytest.raises(InputError, match="is of another reading") as caught:
            carried(cut, record)
        assert re.search("[가-힣]", caught.value.text("ko"))


def test_numbers_that_are_not_finite_are_refused(reading):
    cut = reading.cut(1, 2, "sat", "cat")
    broken = dataclasses.replace(cut, changes=(dataclasses.replace(cut.changes[0], cosine=float("nan")),))
    with pytest.raises(InputError, match="not finite"):
        carried(broken, reading)


def test_a_page_opens_at_its_first_cut(reading, tmp_path):
    cuts = [reading.cut(1, 2, "sat", "cat"), reading.cut(0, 1)]
    text = jumok.draw(reading, lang="ko").save(tmp_path / "a.html", cuts=cuts).read_text(encoding="utf-8")
    model = json.loads(re.search(r'id="jumok-model">(.*?)</script>', text)[1])
    assert model["cuts"] == carried(cuts, reading)
    assert model["view"] == {"view": "heads", "layer": 1, "head": 2, "query": 3, "key": 2, "lang": "ko"}


def test_cuts_belong_to_the_page_of_one_reading(reading, tmp_path):
    cut = reading.cut(1, 2)
    with pytest.raises(InputError, match=r"cuts=, .*live page"):
        jumok.draw(reading).save(tmp_path / "a.svg", cuts=[cut])
    with pytest.raises(InputError, match="not of a comparison"):
        jumok.draw(jumok.compare(reading, reading)).save(tmp_path / "a.html", cuts=[cut])
    with pytest.raises(InputError, match="not of a comparison"):
        jumok.widget(jumok.compare(reading, reading), cuts=[cut])
    assert not list(tmp_path.iterdir())
