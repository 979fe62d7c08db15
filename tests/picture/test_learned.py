"""A training run as the page carries it: what travels, how exact it is, how large, and what is said of it."""

from __future__ import annotations

import dataclasses
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load

import jumok
from jumok.history import History
from jumok.picture import learned
from jumok.picture.learned import EXTENSION, Run, carried, names, pack_run
from jumok.picture.packed import Packed
from jumok.sources.learn.tasks import NAMES
from jumok.sources.learn.training import schedule
from jumok.words import LANGS
from small_runs import STEPS, history, run

LARGE: dict[str, Any] = {"n_layers": 2, "n_heads": 2, "d_model": 64, "sentences": (tuple("abcdefghij"),) * 2}
MANY = tuple(range(40))


def told(document: Packed) -> dict[str, Any]:
    page: dict[str, Any] = json.loads(json.loads(document.header)["__metadata__"]["page"])
    return page


def arrays(document: Packed) -> dict[str, Any]:
    return load(b"".join(document.file()))


@pytest.fixture(scope="module")
def large() -> Run:
    return run(**LARGE, steps=MANY)


def test_a_small_run_travels_with_every_digit() -> None:
    made = run(dtype="float64", biases=True)
    document = pack_run(made)
    assert (told(document)["storage"], told(document)["error"]) == ("exact", 0)
    found = arrays(document)
    for at, layer in enumerate(made.history.layers):
        for name, array in layer.weights.items():
            assert found[f"layers.{at}.{name}"].dtype == array.dtype
            assert np.array_equal(found[f"layers.{at}.{name}"], array)
    for at, probe in enumerate(made.history.probes):
        for layer, own in enumerate(probe.arrays):
            assert np.array_equal(found[f"probes.{at}.{layer}.x"], own["x"])


def test_the_gradients_of_the_probes_travel_for_the_page_explains_them() -> None:
    made = history()
    found = arrays(pack_run(Run(made)))
    for at, probe in enumerate(made.probes):
        for layer, own in enumerate(probe.arrays):
            assert np.array_equal(found[f"probes.{at}.{layer}.gradient"], own["gradient"])


def test_the_entry_that_moved_most_is_that_of_the_run_where_its_weights_are_rounded(large: Run) -> None:
    found, whole = arrays(pack_run(large)), large.history
    assert found["layers.0.w_q"].dtype == np.int16
    for at, layer in enumerate(whole.layers):
        for name in ("w_q", "w_k", "w_v"):
            change = np.abs(np.diff(layer.weights[name], axis=0)).reshape(len(whole.steps) - 1, -1)
            rows, columns = np.divmod(change.argmax(axis=1), layer.weights[name].shape[2])
            moved = np.arange(len(rows))
            before, after = (layer.weights[name][moved + by, rows, columns] for by in (0, 1))
            assert np.array_equal(found[f"moves.{at}.{name}"], np.stack([rows, columns, before, after], axis=1))


def test_a_large_run_is_rounded_and_the_error_is_that_of_every_snapshot(large: Run) -> None:
    document = pack_run(large)
    assert told(document)["storage"] == "int16"
    found, whole = arrays(document), large.history

    def back(name: str) -> Any:
        assert found[name].dtype == np.int16
        return found[name] * found[f"{name}.scale"][..., None]

    worst = 0.0
    for number, probe in enumerate(whole.probes):
        for layer, of in enumerate(whole.layers):
            x, w_q, w_k = (
                back(name) for name in (f"probes.{number}.{layer}.x", f"layers.{layer}.w_q", f"layers.{layer}.w_k")
            )
            for at, step in enumerate(whole.steps):
                other = jumok.attend(
                    x=x[at], w_q=w_q[at], w_k=w_k[at], w_v=w_q[at], n_heads=of.n_heads, rule=probe.rules[layer]
                )
                own = whole.trace(step, number, layer)
                worst = max(worst, float(np.abs(other.weights - own.weights).max()))
    assert 0 < told(document)["error"] <= 1e-3
    assert told(document)["error"] == pytest.approx(worst, rel=0.02)


def test_rounding_halves_what_travels(large: Run) -> None:
    numbers = sum(array.size for layer in large.history.layers for array in layer.weights.values())
    assert 2 * numbers < pack_run(large).n_bytes < 2.4 * numbers


def test_a_run_whose_weights_would_move_travels_as_it_is() -> None:
    made = run(**LARGE, steps=MANY)
    steep = [
        dataclasses.replace(layer, weights={n: a * 40 for n, a in layer.weights.items()})
        for layer in made.history.layers
    ]
    document = pack_run(Run(dataclasses.replace(made.history, layers=tuple(steep))))
    assert (told(document)["storage"], told(document)["error"]) == ("exact", 0)


def test_q_k_and_v_that_were_recorded_travel_without_weights() -> None:
    whole = history(n_layers=1)
    seen = [whole.trace(step, 0) for step in whole.steps]
    own = {name: np.stack([getattr(trace, name) for trace in seen]) for name in "qkv"}
    layers = (dataclasses.replace(whole.layers[0], weights={}),)
    probes = (dataclasses.replace(whole.probes[0], arrays=(own,)),)
    found = arrays(pack_run(Run(dataclasses.replace(whole, layers=layers, probes=probes))))
    assert np.array_equal(found["probes.0.0.q"].reshape(own["q"].shape), own["q"])
    assert not [name for name in found if name.startswith("layers")]


def stretched(whole: History, steps: tuple[int, ...]) -> History:
    """A run with so many snapshots, whose numbers are those of a shorter one over and over."""

    def longer(array: Any, n: int = len(steps)) -> Any:
        return array[np.arange(n) % len(array)]

    layers = [
        dataclasses.replace(layer, weights={name: longer(array) for name, array in layer.weights.items()})
        for layer in whole.layers
    ]
    probes = [
        dataclasses.replace(
            probe, arrays=tuple({name: longer(array) for name, array in of.items()} for of in probe.arrays)
        )
        for probe in whole.probes
    ]
    return dataclasses.replace(
        whole,
        steps=steps,
        layers=tuple(layers),
        probes=tuple(probes),
        loss=longer(whole.loss, steps[-1]),
        accuracy=longer(whole.accuracy),
        gradient_norm={name: longer(array, steps[-1]) for name, array in whole.gradient_norm.items()},
        roles={name: longer(array) for name, array in whole.roles.items()},
    )


def test_any_reader_of_safetensors_reads_the_document() -> None:
    data = b"".join(pack_run(run()).file())
    (length,) = struct.unpack("<Q", data[:8])
    assert json.loads(data[8 : 8 + length])["__metadata__"]["format"] == "jumok"
    assert set(load(data)) > {"loss", "accuracy", "roles.answer", "gradient_norm.layers.0.attention.w_q"}


def test_what_emerged_is_told_in_both_languages() -> None:
    page = told(pack_run(run()))
    assert page["title"] == {"en": "A small task", "ko": "작은 과제"}
    sections = {lang: page["told"][lang] for lang in LANGS}
    assert [one["name"] for one in sections["en"]] == [one["name"] for one in sections["ko"]]
    assert "loss went from 3" in json.dumps(sections["en"])
    assert "손실은 3" in json.dumps(sections["ko"], ensure_ascii=False)


def test_a_history_in_which_nothing_was_looked_at_is_refused() -> None:
    empty = dataclasses.replace(history(), probes=())
    with pytest.raises(jumok.JumokError) as refused:
        pack_run(Run(empty))
    assert "no probe" in refused.value.text("en")
    assert "보여 줄 것이 없습니다" in refused.value.text("ko")


# pages --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", NAMES)
def test_the_page_of_a_standard_run_is_under_5_mb(task: str, tmp_path: Path) -> None:
    """What a run weighs follows from its sizes and its snapshots, not from what was learned: no training is needed."""
    short = jumok.learn(task, steps=1)
    whole = stretched(short.history, schedule(short.task.settings.steps))
    page = jumok.draw(whole).save(tmp_path / "run.html")
    assert 250_000 < page.stat().st_size < 5_000_000


def test_the_page_carries_the_second_program_and_other_pages_do_not(tmp_path: Path) -> None:
    page = jumok.draw(history()).save(tmp_path / "run.html").read_text(encoding="utf-8")
    other = jumok.draw(history().trace()).save(tmp_path / "trace.html").read_text(encoding="utf-8")
    piece = json.dumps(EXTENSION.read_text(encoding="utf-8").splitlines()[0])[1:-1]
    assert piece in page
    assert piece not in other


def test_the_second_program_is_small() -> None:
    assert EXTENSION.stat().st_size < 40_000


@pytest.mark.parametrize("text", ["</script><script>alert(1)</script>", "<!--", "\u202e", "'\"&"])
def test_no_token_leaves_its_place(tmp_path: Path, text: str) -> None:
    made = history(sentences=((text, "b"),), n_layers=1)
    page = jumok.draw(made, title=text).save(tmp_path / "run.html").read_text(encoding="utf-8")
    assert page.count("<script") == page.count("</script>")
    assert text == text.replace("<", "") or page.count(text) == 0


# two beside each other ----------------------------------------------------------------------------


def test_two_runs_are_told_apart_by_what_differs_in_their_settings() -> None:
    both = jumok.compare(history(), history(n_layers=1))
    assert isinstance(both, Run)
    assert names(both) == ["A: n_layers 2", "B: n_layers 1"]
    documents, extra = carried(both)
    assert len(documents) == 2
    assert [side["run"] for side in extra["sides"]] == [0, 1]


def test_a_run_beside_itself_travels_once() -> None:
    one = history()
    documents, extra = carried(jumok.compare(one, one))
    assert len(documents) == 1
    assert extra["sides"] == [{"run": 0, "name": "A"}, {"run": 0, "name": "B"}]


def test_the_curves_of_two_runs_say_whose_they_are() -> None:
    picture = jumok.draw(jumok.compare(history(), history(n_layers=1)))
    rows = picture.csv().splitlines()
    assert rows[0].split(",")[:2] == ["run", "step"]
    assert {row[0] for row in rows[1:]} == {"A", "B"}
    assert len(rows) - 1 == sum(len(jumok.draw(one).csv().splitlines()) - 1 for one in (history(), history(n_layers=1)))
    assert "A: n_layers 2" in picture.svg()
    assert "B: n_layers 1" in picture.svg()


@pytest.mark.parametrize("pairs", [None, [(0, 0)]])
def test_a_run_is_not_compared_with_a_text_nor_by_tokens(pairs: Any) -> None:
    other: History | Any = history() if pairs else history().trace()
    with pytest.raises(jumok.JumokError) as refused:
        jumok.compare(history(), other, pairs=pairs)
    assert ("pairs=" if pairs else "one of both") in refused.value.text("en")
    assert ("pairs=" if pairs else "하나씩") in refused.value.text("ko")


# the widget ---------------------------------------------------------------------------------------


def test_a_widget_follows_a_run_step_by_step() -> None:
    whole = history()
    shown = jumok.widget(whole, lang="en")
    assert (shown.step, shown.probe, shown.layer) == (STEPS[-1], 0, 1)
    shown.step, shown.probe = 6, 1
    assert np.array_equal(shown.trace.weights, whole.trace(6, 1, shown.layer).weights)
    assert shown.trace.source.details["step"] == 5
    assert shown.query < len(whole.probes[1].tokens)


def test_what_the_page_says_of_the_step_is_taken_where_it_fits() -> None:
    shown = jumok.widget(history(), lang="en")
    shown.set_state({"view": {"step": 2, "probe": 1, "key": 0}})
    assert (shown.step, shown.probe) == (2, 1)
    shown.set_state({"view": {"step": -3, "probe": 9}})
    assert (shown.step, shown.probe) == (2, 1)


@pytest.mark.parametrize("wrong", [{"step": -1}, {"probe": 2}, {"probe2": 0}])
def test_what_is_not_there_cannot_be_chosen(wrong: dict[str, int]) -> None:
    shown = jumok.widget(history(), lang="en")
    with pytest.raises(jumok.JumokError):
        shown.view = wrong


def test_a_record_that_is_no_run_has_no_step() -> None:
    with pytest.raises(jumok.JumokError) as refused:
        jumok.widget(history().trace(), view={"step": 1}, lang="en")
    assert "training run" in refused.value.text("en")
    assert "학습 기록" in refused.value.text("ko")


def test_the_second_side_has_a_sentence_of_its_own() -> None:
    one = history()
    shown = jumok.widget(jumok.compare(one, one), lang="en")
    assert shown.view["probe2"] == 1
    shown.document = 1
    assert [token.text for token in shown.trace.tokens] == [token.text for token in one.probes[1].tokens]


def test_a_notebook_without_a_program_shows_the_curves() -> None:
    data, _ = jumok.widget(history(), lang="en")._repr_mimebundle_()
    assert "image/svg+xml" in data
    assert learned.EXTENSION.exists()
