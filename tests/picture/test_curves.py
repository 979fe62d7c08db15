"""The curves of a training run: as a picture, a table, CSV and JSON, each with the run's own numbers."""

import csv
import io
import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import jumok
from jumok.errors import InputError, UnknownName
from jumok.history import History
from jumok.picture.curves import to_json
from jumok.words import LANGS, number, percent
from runs import run

SVG = "{http://www.w3.org/2000/svg}"


def paths(picture):
    """(line,) its points, (x, y) each."""
    found = [node.get("d").split() for node in ET.fromstring(picture.svg()).iter(f"{SVG}path")]
    return [np.array([part for part in one if part not in "ML"], float).reshape(-1, 2) for one in found]


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_picture_is_whole_in_both_languages_and_themes(lang, theme):
    found = run("previous", 60)
    picture = jumok.draw(found, lang=lang, theme=theme)
    root = ET.fromstring(picture.svg())
    texts = ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]
    assert picture.kind == "curves"
    assert root.find(f"{SVG}title").text.startswith(found.task.title[lang])
    assert any(percent(found.emerged["chance"]) in text for text in texts)
    assert {"en": "Accuracy on what was held out", "ko": "학습에서 뺀 것의 정확도"}[lang] in texts
    assert percent(found.emerged["accuracy"]) in root.find(f"{SVG}desc").text


def test_each_curve_goes_where_its_numbers_are():
    found = run("previous", 60)
    history = found.history
    loss, accuracy, reads = paths(jumok.draw(found))
    assert len(loss) == len(history.loss)
    assert len(accuracy) == len(reads) == len(history.steps)
    for points, values in (
        (loss, history.loss),
        (accuracy, history.accuracy),
        (reads, history.roles["answer"][:, 0, 0]),
    ):
        slope = np.polyfit(values, points[:, 1], 1)  # upwards is less in a picture
        assert slope[0] < 0
        assert np.abs(np.polyval(slope, values) - points[:, 1]).max() < 0.2
    assert np.polyfit(history.steps, accuracy[:, 0], 1)[0] > 0
    assert loss[0, 0] == accuracy[0, 0]  # step 0 is one place


def test_names_on_the_right_stand_clear_of_each_other():
    found = run("previous", 8, n_heads=4)
    root = ET.fromstring(jumok.draw(found).svg())
    names = [
        node
        for node in root.iter(f"{SVG}text")
        if "head " in "".join(node.itertext()) and "each" not in "".join(node.itertext())
    ]
    heights = sorted(float(node.get("y")) for node in names)
    assert len(heights) == 4
    assert min(np.diff(heights)) > 10


def test_csv_has_every_number():
    found = run("previous", 60)
    rows = list(csv.DictReader(io.StringIO(jumok.draw(found).csv())))
    loss = [float(row["value"]) for row in rows if row["curve"] == "loss"]
    reads = [float(row["value"]) for row in rows if row["curve"] == "reads answer"]
    assert loss == found.history.loss.tolist()
    assert [int(row["step"]) for row in rows if row["curve"] == "loss"] == list(range(60))
    assert reads == found.history.roles["answer"][:, 0, 0].tolist()
    assert [int(row["step"]) for row in rows if row["curve"] == "accuracy"] == list(found.history.steps)


def test_markdown_has_a_line_for_each_snapshot():
    found = run("previous", 60)
    lines = [line for line in jumok.draw(found, lang="ko").markdown().splitlines() if line.startswith("| ")]
    assert len(lines) == len(found.history.steps) + 2
    said = [line.strip("| ").split(" | ") for line in lines[2:]]
    measured = {step: number(float(found.history.loss[step])) for step in found.history.steps[:-1]}
    assert {int(step): loss for step, loss, *_ in said} == measured | {
        60: ""
    }  # no batch was drawn after the last update
    assert str(jumok.draw(found)).startswith("# Which token stands before me?")


def test_what_was_not_measured_is_none_in_json():
    found = run("previous", 60).history
    some = found.accuracy.copy()
    some[3] = np.nan
    kept = {name: getattr(found, name) for name in ("steps", "layers", "probes", "loss", "roles", "task")}
    plain = to_json(History(**kept, accuracy=some))
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["accuracy"][3] is None
    assert plain["accuracy"][4] == found.accuracy[4]
    assert jumok.draw(History(**kept, accuracy=some)).svg()


def test_a_step_of_a_run_is_drawn_as_any_record():
    found = run("previous", 60)
    first, last = jumok.draw(found, step=0), jumok.draw(found, step=60, probe=1)
    assert first.kind == "heat"
    assert np.array_equal(first.thing.weights, found.history.trace(0).weights)
    assert np.array_equal(last.thing.weights, found.history.trace(probe=1).weights)
    assert jumok.draw(found.history, "arrows").kind == "arrows"


def test_what_has_no_meaning_is_refused():
    found = run("previous", 60)
    for options in ({"head": 0}, {"layer": 0}, {"query": 1}, {"stage": "weights"}):
        with pytest.raises(InputError, match="curves"):
            jumok.draw(found, "curves", **options)
    with pytest.raises(InputError, match="are for a training run"):
        jumok.draw(jumok.load("student"), step=1)
    with pytest.raises(InputError, match="expects a position"):
        jumok.draw(found, probe=9)
    with pytest.raises(UnknownName):
        jumok.draw(jumok.load("student"), "curves")
    with pytest.raises(InputError, match="of a record, not of a training run"):
        jumok.draw(found).save("a.html", cuts=[1])
