"""The page of a training run in a real Chromium: one slider moves curves, weights and every table, and all agree with Python."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

import jumok
from jumok.explanation.gradient import StepExplanation, explain_step
from jumok.history import History
from jumok.path.gradients import Gradients
from jumok.picture.learned import Run
from jumok.trace import Trace
from jumok.words import number, shown
from page_clock import rest
from python_host import PythonHost
from small_runs import STEPS, history

EMERGED = {
    "accuracy": 1.0, "alone": 0.2, "chance": 0.1, "guess": None, "without": [[0.9, 0.9], [0.15, 0.95]],
    "without_layer": [0.9, 0.15], "reads": [[0.2, 0.1], [0.9, 0.3]], "baseline": 0.3, "baselines": None, "carrier": [1, 0],
    "shared": False, "left": None, "roles": {}, "appeared": 5, "rise": [2, 10], "compared": None,
}  # fmt: skip
SCRIPT = "</script><script>globalThis.executed = true</script>"
ODD = ("한글", "👩‍🚀", "שלום", "مرحبا", "\u202e뒤집힘", SCRIPT, "", " ", "\x00")
HOSTILE = "</script><img src=x onerror=alert(1)>\u202e은행"


@pytest.fixture(scope="module")
def whole() -> History:
    return history()


@pytest.fixture
def page(whole: History, page_of: Callable[..., Page], tmp_path: Path) -> Page:
    return page_of(saved(Run(whole, EMERGED), tmp_path))


def saved(run: Any, folder: Path, lang: str = "en") -> Path:
    return jumok.draw(run, lang=lang).save(folder / "run.html")


def slider(page: Page) -> Locator:
    return page.get_by_role("slider", name=re.compile("Training step|학습 단계"))


def cells(page: Page, stage: str = "weights") -> list[list[str]]:
    """The numbers of a table, a list a row."""
    rows = page.locator(f'table[data-stage="{stage}"] tbody tr').all()
    return [row.locator("td").all_inner_texts() for row in rows]


def texts(trace: Trace, stage: str = "weights", head: int = 0) -> list[list[str]]:
    array = trace.output if stage == "output" else trace.rows(stage, heads=[head])[0]
    return [[number(float(value)) for value in row] for row in array]


def at_rest(page: Page) -> None:
    """All tables follow, those out of sight too, once the slider rests."""
    rest(page, 300)


def stopped(page: Page) -> None:
    """From now on time passes when a test says so."""
    page.clock.install(time=0)
    page.clock.pause_at(1000)


def legend(page: Page, name: str) -> Locator:
    return page.locator(".learning .legend li").filter(has_text=re.compile(f"^ *{name}")).locator("b")


# one slider moves all -----------------------------------------------------------------------------


def test_it_opens_after_the_last_step_at_the_head_that_carries_the_task(page: Page, whole: History) -> None:
    expect(slider(page)).to_have_attribute("aria-valuetext", re.compile(r"^step 20 of 20, "))
    expect(page.get_by_role("combobox", name="Layer")).to_have_value("1")
    assert cells(page) == texts(whole.trace(None, 0, 1))


def test_arrow_keys_move_every_table_to_the_numbers_of_that_step(page: Page, whole: History) -> None:
    slider(page).focus()
    for step in (10, 5):
        page.keyboard.press("ArrowLeft")
        expect(slider(page)).to_have_attribute("aria-valuetext", re.compile(f"^step {step} of 20, "))
        at_rest(page)
        for stage in ("weights", "scores", "mixed", "output"):
            assert cells(page, stage) == texts(whole.trace(step, 0, 1), stage)
    page.keyboard.press("Home")
    at_rest(page)
    assert cells(page) == texts(whole.trace(0, 0, 1))


def test_w_q_moves_too(page: Page, whole: History) -> None:
    first = cells(page, "w_q")
    slider(page).press("Home")
    at_rest(page)
    w_q = whole.layers[1].weights["w_q"]
    head = w_q.shape[2] // 2
    assert first == [[number(float(value)) for value in row[:head]] for row in w_q[-1]]
    assert cells(page, "w_q") == [[number(float(value)) for value in row[:head]] for row in w_q[0]]


def test_the_screen_reader_and_the_legend_say_the_values_of_the_step(page: Page, whole: History) -> None:
    slider(page).press("Home")
    slider(page).press("ArrowRight")
    at = 1
    loss, accuracy = number(float(whole.loss[STEPS[at]])), number(float(whole.accuracy[at]))
    expect(slider(page)).to_have_attribute("aria-valuetext", f"step 1 of 20, Loss {loss} accuracy {accuracy}")
    expect(legend(page, "Loss")).to_have_text(loss)
    expect(legend(page, "accuracy")).to_have_text(accuracy)
    reads = float(whole.roles["answer"][at, 1, 0])
    expect(legend(page, "weight on what the answer depends on, layer 1, head 0")).to_have_text(number(reads))


def test_the_moment_of_change_is_the_measured_one(page: Page) -> None:
    page.get_by_role("button", name="Moment of change (5)").click()
    expect(slider(page)).to_have_attribute("aria-valuetext", re.compile("^step 5 "))


def test_a_button_at_the_end_of_the_slider_keeps_the_focus(page: Page) -> None:
    for name, key in (("Previous snapshot", "Home"), ("Next snapshot", "End")):
        slider(page).press(key)
        button = page.get_by_role("button", name=name)
        expect(button).to_be_disabled()
        button.focus()
        page.keyboard.press("Enter")
        expect(button).to_be_focused()
        expect(button).to_be_disabled()


def test_without_a_measured_moment_it_is_the_steepest_rise(whole: History, page_of: Callable, tmp_path: Path) -> None:
    page = page_of(saved(whole, tmp_path))
    expect(page.get_by_role("button", name="Moment of change (20)")).to_be_visible()


def test_where_nothing_came_of_it_there_is_no_moment_of_change(
    whole: History, page_of: Callable, tmp_path: Path
) -> None:
    page = page_of(saved(Run(whole, EMERGED | {"appeared": None, "rise": None}), tmp_path))
    expect(page.get_by_role("button", name="Next snapshot")).to_be_visible()
    expect(page.get_by_role("button", name="Moment of change")).to_have_count(0)


def test_the_loss_of_a_step_is_that_of_its_batch_and_after_the_last_it_says_which(page: Page, whole: History) -> None:
    expect(legend(page, "Loss")).to_have_text(number(float(whole.loss[19])))
    expect(page.locator(".learning .legend li").first).to_contain_text("(step 19)")
    slider(page).press("ArrowLeft")
    expect(legend(page, "Loss")).to_have_text(number(float(whole.loss[10])))
    expect(page.locator(".learning .legend li").first).not_to_contain_text("(step")
    slider(page).press("Home")
    expect(legend(page, "Loss")).to_have_text(number(float(whole.loss[0])))


def test_pressing_a_curve_moves_the_slider_to_the_nearest_snapshot(page: Page) -> None:
    field = page.locator(".learning .curve-field").first
    box = field.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 0.27 * box["width"], box["y"] + 20)
    page.mouse.down()
    expect(slider(page)).to_have_attribute("aria-valuetext", re.compile("^step 5 "))
    page.mouse.move(box["x"] + 0.52 * box["width"], box["y"] + 20)
    expect(slider(page)).to_have_attribute("aria-valuetext", re.compile("^step 10 "))
    page.mouse.up()
    page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 20)
    expect(slider(page)).to_have_attribute("aria-valuetext", re.compile("^step 10 "))


def test_it_plays_from_the_start_to_the_end_and_pauses(page: Page) -> None:
    stopped(page)
    page.get_by_role("button", name="Play").first.click()
    page.clock.run_for(320)
    expect(slider(page)).to_have_attribute("aria-valuetext", re.compile("^step 2 "))
    page.get_by_role("button", name="Pause").click()
    page.clock.run_for(1000)
    expect(slider(page)).to_have_attribute("aria-valuetext", re.compile("^step 2 "))
    page.get_by_role("button", name="Play").first.click()
    page.clock.run_for(2000)
    expect(slider(page)).to_have_attribute("aria-valuetext", re.compile("^step 20 "))
    expect(page.get_by_role("button", name="Pause")).to_have_count(0)


def test_whoever_moves_the_slider_stops_it(page: Page) -> None:
    stopped(page)
    page.get_by_role("button", name="Play").first.click()
    page.clock.run_for(320)
    slider(page).press("Home")
    expect(page.get_by_role("button", name="Pause")).to_have_count(0)
    page.clock.run_for(1000)
    expect(slider(page)).to_have_attribute("aria-valuetext", re.compile("^step 0 "))


def test_where_motion_is_unwelcome_it_plays_slowly(whole: History, page_of: Callable, tmp_path: Path) -> None:
    page = page_of(saved(whole, tmp_path), reduced_motion="reduce")
    stopped(page)
    page.get_by_role("button", name="Play").first.click()
    page.clock.run_for(900)
    expect(slider(page)).to_have_attribute("aria-valuetext", re.compile("^step 0 "))
    page.clock.run_for(200)
    expect(slider(page)).to_have_attribute("aria-valuetext", re.compile("^step 1 "))


@pytest.mark.parametrize(("view", "part"), [("stages", 'table[data-stage="output"]'), ("heads", ".follow table")])
def test_what_is_out_of_sight_waits_until_the_slider_rests(
    whole: History, page_of: Callable, tmp_path: Path, view: str, part: str
) -> None:
    page = page_of(saved(Run(whole, EMERGED), tmp_path), f"view={view}")
    table = page.locator(part)
    expect(table).not_to_be_in_viewport()
    before = table.inner_text()
    stopped(page)
    slider(page).press("ArrowLeft")
    expect(legend(page, "Loss")).to_have_text(number(float(whole.loss[10])))
    assert table.inner_text() == before
    page.clock.run_for(300)
    assert table.inner_text() != before


def test_the_panel_waits_too_while_it_is_out_of_sight(page: Page, whole: History) -> None:
    page.locator('table[data-stage="output"]').scroll_into_view_if_needed()
    expect(page.locator(".learning .plots")).not_to_be_in_viewport()
    before = legend(page, "Loss").inner_text()
    stopped(page)
    slider(page).press("ArrowLeft")
    expect(slider(page)).to_have_attribute("aria-valuetext", re.compile("^step 10 "))
    assert legend(page, "Loss").inner_text() == before
    page.clock.run_for(300)
    expect(legend(page, "Loss")).to_have_text(number(float(whole.loss[10])))


# what else is chosen ------------------------------------------------------------------------------


def test_another_sentence_shows_its_own_tables(page: Page, whole: History) -> None:
    page.get_by_label("Sentence that is looked at").select_option(index=1)
    slider(page).press("ArrowLeft")
    at_rest(page)
    assert cells(page) == texts(whole.trace(10, 1, 1))
    assert page.locator('table[data-stage="weights"] tbody th').all_inner_texts() == [
        "고양이가",
        "매트",
        "위에",
        "앉았다",
    ]


def test_the_link_carries_step_and_sentence(page: Page, whole: History, page_of: Callable, tmp_path: Path) -> None:
    page.get_by_label("Sentence that is looked at").select_option(index=1)
    slider(page).press("Home")
    page.wait_for_function("() => location.hash.includes('step=0')")
    other = page_of(saved(Run(whole, EMERGED), tmp_path), page.url.split("#")[1])
    expect(slider(other)).to_have_attribute("aria-valuetext", re.compile("^step 0 "))
    assert cells(other) == texts(whole.trace(0, 1, 1))


def test_the_moment_in_a_link_that_is_between_snapshots_shows_the_one_before(
    whole: History, page_of: Callable, tmp_path: Path
) -> None:
    page = page_of(saved(Run(whole, EMERGED), tmp_path), "step=7")
    assert cells(page) == texts(whole.trace(7, 0, 1)) == texts(whole.trace(5, 0, 1))
    expect(slider(page)).to_have_attribute("aria-valuetext", re.compile("^step 5 of 20, "))
    expect(legend(page, "Loss")).to_have_text(number(float(whole.loss[5])))


def test_what_changed_since_the_snapshot_before_is_marked(page: Page, whole: History) -> None:
    page.get_by_label("Mark what changed since the snapshot before").check()
    assert page.locator('table[data-stage="weights"] td.changed').count() == whole.trace(None, 0, 1).weights[0].size
    slider(page).press("Home")
    at_rest(page)
    assert page.locator("td.changed").count() == 0


def test_the_matrices_show_what_moved(page: Page, whole: History) -> None:
    w_q = whole.layers[1].weights["w_q"]
    image = page.get_by_role("img", name=re.compile("^W_Q"))
    expect(image).to_have_attribute(
        "aria-label", re.compile(f"norm {re.escape(number(float((w_q[-1] ** 2).sum() ** 0.5)))}$")
    )
    page.get_by_label("Shown").select_option("start")
    moved = float(((w_q[-1] - w_q[0]) ** 2).sum() ** 0.5)
    expect(image).to_have_attribute("aria-label", re.compile(f"norm {re.escape(number(moved))}$"))
    page.get_by_label("Shown").select_option("last")
    slider(page).press("Home")
    expect(image).to_have_attribute("aria-label", re.compile("norm 0$"))


def test_a_matrix_is_painted_with_its_signs(page: Page, whole: History, pixels: Callable) -> None:
    w_q = whole.layers[1].weights["w_q"][-1]
    n_rows, n_columns = w_q.shape
    places = [((c + 0.5) / n_columns, (r + 0.5) / n_rows) for r in range(n_rows) for c in range(n_columns)]
    colours = pixels(page, ".learning .maps figure:nth-of-type(2) canvas", places)
    strong = [at for at, value in enumerate(w_q.ravel()) if abs(value) > 0.4 * abs(w_q).max()]
    assert len(strong) > 3
    for at in strong:
        red, _, blue, _ = colours[at]
        assert (red > blue) == (w_q.ravel()[at] > 0)


# why a weight moves ---------------------------------------------------------------------------------


def why(page: Page) -> Locator:
    return page.locator(".learning .why")


def table(page: Page) -> list[list[str]]:
    return [row.locator("th, td").all_inner_texts() for row in why(page).locator("tbody tr, tfoot tr").all()]


def facts(explanation: StepExplanation) -> dict[str, dict[str, Any]]:
    """Of Python's explanation of a step: kind → its data; of several matrices that moved, by their names."""
    return {
        fact.data["matrix"].lower() if fact.kind == "moved" else fact.kind: dict(fact.data)
        for fact in explanation.facts
    }


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_entry_that_moved_most_is_told_in_pythons_own_sentence(
    whole: History, page_of: Callable, tmp_path: Path, lang: str
) -> None:
    page = page_of(saved(Run(whole, EMERGED), tmp_path, lang), "step=1")
    for matrix in ("w_q", "w_k", "w_v"):
        why(page).get_by_label(re.compile("Matrix|행렬")).select_option(matrix)
        told = explain_step(whole, 1, layer=1)
        said = next(
            told.sentence(fact, lang)
            for fact in told.facts
            if fact.kind == "moved" and fact.data["matrix"] == matrix.upper()
        )
        expect(why(page).locator("p").nth(1)).to_have_text(said)


def test_its_gradient_is_the_sum_of_what_the_tokens_add(page: Page, whole: History) -> None:
    slider(page).press("Home")
    at_rest(page)
    trace = whole.trace(0, 0, 1)
    found = Gradients(trace.steps, whole.probes[0].arrays[1]["gradient"][0])
    change = np.diff(whole.layers[1].weights["w_q"][:2], axis=0)[0]
    row, column = np.unravel_index(int(np.abs(change).argmax()), change.shape)
    head, inside = divmod(int(column), trace.d_head)
    x, slopes = trace.x[:, row], found.q[head, :, inside]
    order = [int(at) for at in np.argsort(-np.abs(x * slopes), kind="stable") if x[at] * slopes[at]]
    expected = [
        [f"#{at} {trace.tokens[at].text}", *(number(float(value)) for value in (x[at], slopes[at], x[at] * slopes[at]))]
        for at in order[:5]
    ]
    *terms, total = table(page)
    assert terms[: len(expected)] == expected
    assert total == ["sum: dL/dW_Q here", number(float((x * slopes).sum()))]


@pytest.mark.parametrize("matrix", ["w_q", "w_k", "w_v"])
def test_the_entry_with_the_largest_gradient_is_pythons(page: Page, whole: History, matrix: str) -> None:
    slider(page).press("Home")
    why(page).get_by_label("Matrix").select_option(matrix)
    why(page).get_by_label("Entry").select_option("steepest")
    at_rest(page)
    fact = facts(explain_step(whole, 0, layer=1))[f"matrix.{matrix[2]}"]
    head = why(page).locator("thead th").all_inner_texts()
    assert head[1] == f"x, dim {fact['row'] + 1}"
    assert head[2] == f"dL/d{matrix[2]}, head {fact['head']}, column {fact['column']}"
    numbers = [number(fact[name]) for name in ("x", "d", "product")]
    assert table(page)[0][1:] == numbers
    whole_sum = fact["product"] if fact["rest"] is None else fact["rest"][1]["whole"]
    assert table(page)[-1][1] == number(whole_sum)


def test_plain_gradient_descent_is_told_where_it_was_that(page_of: Callable, tmp_path: Path) -> None:
    student = jumok.learn("student", steps=3)
    page = page_of(saved(student, tmp_path), "step=1")
    fact = facts(explain_step(student.history, 1))["moved.plain"]
    gradient = number(fact["gradient"])
    expect(why(page)).to_contain_text(f"{gradient})" if gradient.startswith("-") else gradient)
    expect(why(page)).to_contain_text("plain gradient descent")
    slider(page).press("End")
    expect(why(page)).to_contain_text("This is the last snapshot")
    expect(why(page)).not_to_contain_text("plain gradient descent")


def test_another_way_to_step_is_not_called_plain(page: Page) -> None:
    slider(page).press("Home")
    expect(why(page)).to_contain_text("an optimizer such as Adam")
    expect(why(page)).not_to_contain_text("plain gradient descent")


def test_between_snapshots_it_says_over_how_many_steps(page: Page) -> None:
    slider(page).press("End")
    slider(page).press("ArrowLeft")
    expect(why(page)).to_contain_text("That is over 10 steps, until the next snapshot (step 20).")


def test_the_explained_entry_is_marked_in_its_matrix(page: Page, whole: History) -> None:
    slider(page).press("Home")
    at_rest(page)
    change = np.abs(np.diff(whole.layers[1].weights["w_q"][:2], axis=0)[0])
    row, column = divmod(int(change.argmax()), change.shape[1])
    spot, canvas = (
        page.locator(".maps .spot").bounding_box(),
        page.locator(".maps figure:nth-of-type(2) canvas").bounding_box(),
    )
    assert spot is not None
    assert canvas is not None
    shares = (
        (spot["x"] + spot["width"] / 2 - canvas["x"]) / canvas["width"],
        (spot["y"] + spot["height"] / 2 - canvas["y"]) / canvas["height"],
    )
    assert shares == pytest.approx(((column + 0.5) / change.shape[1], (row + 0.5) / change.shape[0]), abs=0.02)


def test_a_run_without_gradients_does_not_speak_of_them(whole: History, page_of: Callable, tmp_path: Path) -> None:
    probes = tuple(
        dataclasses.replace(probe, arrays=tuple({"x": of["x"]} for of in probe.arrays)) for probe in whole.probes
    )
    page = page_of(saved(dataclasses.replace(whole, probes=probes), tmp_path))
    expect(why(page)).to_have_count(0)


# what is said -------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_what_emerged_is_told_in_pythons_own_sentences(
    whole: History, page_of: Callable, tmp_path: Path, lang: str
) -> None:
    from jumok.explanation.emerged import outcome

    page = page_of(saved(Run(whole, EMERGED), tmp_path, lang))
    for section in outcome(whole, EMERGED, lang).sections():
        title = re.compile(f"^{re.escape(section.title)}$")
        details = page.locator(".learning .outcome details").filter(has=page.locator("summary", has_text=title))
        said = details.locator("p").evaluate_all("(lines) => lines.map((line) => line.textContent)")
        assert said == [line for _, line in section.lines]
        assert said


def test_numbers_that_were_trained_say_why_they_cannot_be_edited(page: Page) -> None:
    expect(page.locator(".note", has_text="the training made them")).to_be_visible()


def test_a_run_that_was_rounded_says_so_with_the_measured_error(page_of: Callable, tmp_path: Path) -> None:
    made = history(d_model=64, steps=tuple(range(40)), sentences=(tuple("abcdefgh"),) * 2)
    page = page_of(saved(made, tmp_path))
    expect(page.locator(".learning")).to_contain_text("attention weights differ by at most")
    small = page_of(saved(history(), tmp_path))
    expect(small.locator(".learning")).not_to_contain_text("attention weights differ by at most")


def test_no_token_becomes_markup(page_of: Callable, tmp_path: Path) -> None:
    page = page_of(saved(history(sentences=((HOSTILE, "b"),), n_layers=1), tmp_path))
    assert page.locator("img").count() == 0
    assert "\u202e" not in page.locator(".learning").inner_text()


@pytest.mark.parametrize("view", ["stages", "heads", "map"])
def test_odd_tokens_are_shown_as_they_are_everywhere(page_of: Callable, tmp_path: Path, view: str) -> None:
    made = history(sentences=(ODD, ODD[::-1]), n_layers=1)
    page = page_of(saved(made, tmp_path), f"view={view}")
    options = page.get_by_label("Sentence that is looked at").locator("option").all_inner_texts()
    apart = str.maketrans("", "", "\u2068\u2069")  # the signs around what is written from right to left
    assert options[0].translate(apart) == f"{' '.join(map(shown, ODD))} → cat"
    assert "\u2068שלום\u2069 \u2068مرحبا\u2069" in options[0]
    for _ in STEPS:
        slider(page).press("ArrowLeft")
        named = why(page).locator("tbody th bdi").all_inner_texts()
        assert set(named) <= set(map(shown, ODD))
    assert page.locator("script[src], img, iframe").count() == 0
    assert page.evaluate("() => globalThis.executed") is None


def test_a_task_and_settings_of_a_stranger_are_text(page_of: Callable, tmp_path: Path) -> None:
    task = {"name": SCRIPT, "title": {"en": SCRIPT, "ko": SCRIPT}, "about": {"en": SCRIPT, "ko": SCRIPT}}
    a = dataclasses.replace(history(), task=task, settings={"seed": SCRIPT})
    b = dataclasses.replace(a, settings={"seed": ""})
    page = page_of(saved(jumok.compare(a, b), tmp_path))
    assert page.evaluate("() => globalThis.executed") is None
    expect(page.locator(".learning h2").first).to_have_text(f"A: seed {SCRIPT}")


# two beside each other ----------------------------------------------------------------------------


def test_two_runs_move_with_one_slider(page_of: Callable, tmp_path: Path) -> None:
    a, b = history(), dataclasses.replace(history(n_layers=2, n_heads=2), loss=history().loss * 2)
    page = page_of(saved(jumok.compare(a, b), tmp_path))
    slider(page).press("Home")
    assert legend(page, "Loss").all_inner_texts() == [number(float(run.loss[0])) for run in (a, b)]
    expect(slider(page)).to_have_attribute(
        "aria-valuetext", re.compile(r"^step 0 of 20, A Loss \S+ accuracy \S+, B Loss ")
    )


def test_two_sentences_of_one_run_stand_beside_each_other(whole: History, page_of: Callable, tmp_path: Path) -> None:
    page = page_of(saved(jumok.compare(whole, whole), tmp_path))
    expect(page.get_by_label("Sentence that is looked at, A")).to_have_value("0")
    expect(page.get_by_label("Sentence that is looked at, B")).to_have_value("1")
    page.get_by_role("button", name="Stages").click()
    slider(page).press("ArrowLeft")
    page.get_by_role("combobox", name="Sentence", exact=True).select_option(index=1)
    at_rest(page)
    assert cells(page) == texts(whole.trace(10, 1, 1))


# everywhere ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_nothing_stands_in_anybodys_way(
    whole: History, page_of: Callable, violations: Callable, tmp_path: Path, scheme: str, lang: str
) -> None:
    page = page_of(saved(Run(whole, EMERGED), tmp_path, lang), color_scheme=scheme)
    assert violations(page) == []


def test_a_phone_scrolls_in_one_direction_only(whole: History, page_of: Callable, tmp_path: Path) -> None:
    page = page_of(saved(jumok.compare(whole, whole), tmp_path), viewport={"width": 360, "height": 740})
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("most", [222.1723, 123_456.78, 0.0001234])
def test_what_a_curve_goes_up_to_stands_on_one_line_beside_it(
    whole: History, page_of: Callable, tmp_path: Path, width: int, most: float
) -> None:
    largest = max(float(norms.max()) for norms in whole.gradient_norm.values())
    norms = {name: (of * (most / largest)).astype(np.float32) for name, of in whole.gradient_norm.items()}
    run = dataclasses.replace(whole, gradient_norm=norms)
    page = page_of(saved(run, tmp_path), "layer=0", viewport={"width": width, "height": 900})
    for plot in page.locator(".curve-plot").all():
        high, field = plot.locator(".high"), plot.locator(".curve-field")
        assert high.evaluate("(one) => one.scrollWidth <= one.clientWidth")
        at, beside = high.bounding_box(), field.bounding_box()
        assert at["height"] < 18
        assert at["x"] + at["width"] <= beside["x"]
    assert page.locator(".curve-plot .high").last.inner_text() == number(float(f"{most:.4g}"))


def test_the_slider_stays_in_sight(page: Page) -> None:
    page.locator('table[data-stage="output"]').scroll_into_view_if_needed()
    expect(slider(page)).to_be_in_viewport()


@pytest.fixture
def python_host(contexts: Any, tmp_path: Path) -> Iterator[PythonHost]:
    page = contexts.page(viewport={"width": 1440, "height": 900})
    yield PythonHost(page, tmp_path)
    contexts.leave(page)


def test_in_a_notebook_it_is_the_same_page(python_host: PythonHost, whole: History) -> None:
    page = python_host.open(jumok.widget(whole, view={"step": 5}, lang="en"))
    expect(slider(page)).to_have_attribute("aria-valuetext", re.compile("^step 5 "))
    assert cells(page) == texts(whole.trace(5, 0, 1))
