"""All heads and one of them large, in a real Chromium: every number shown is Python's."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import jumok
import readings
from jumok import Reading, Trace
from jumok.picture import page as pages
from jumok.picture.packed import pack
from jumok.words import number, percent
from page_clock import rest

Folder = pytest.TempPathFactory


@pytest.fixture(scope="module")
def made(tmp_path_factory: Folder) -> dict[str, tuple[Any, Path]]:
    """Readings of a few sizes and the pages of them."""
    folder = tmp_path_factory.mktemp("heads")
    some: dict[str, Any] = {
        "five": readings.reading(2, 4, 5),
        "twelve": readings.small(n=64),
        "thirty": readings.grouped(n=64),
        "long": readings.reading(2, 3, 512),
        "student": jumok.attend(jumok.load("student")),
    }
    return {name: (one, pages.write(folder / f"{name}.html", one)) for name, one in some.items()}


def cells(page: Page) -> Any:
    return page.get_by_role("grid").get_by_role("gridcell")


def weights(record: Reading | Trace, layer: int, head: int, query: int) -> np.ndarray:
    trace = record[layer] if isinstance(record, Reading) else record
    return trace.rows("weights", queries=[query], heads=[head])[0, 0].astype(np.float64)


def top_keys(page: Page) -> list[tuple[str, str, str]]:
    rows = page.locator("table.top-keys tbody tr").all()
    return [(row.locator("th").inner_text(), *row.locator("td").all_inner_texts()) for row in rows]  # type: ignore[misc]


def test_layers_go_by_the_numbers_that_the_program_gives_them(page_of, tmp_path):
    """Of a model's layers only 3 and 5 were kept."""
    whole = readings.reading(2, 4, 5)
    kept = [
        dataclasses.replace(trace, source=dataclasses.replace(trace.source, layer=number))
        for trace, number in zip(whole, (3, 5), strict=True)
    ]
    page = page_of(pages.write(tmp_path / "kept.html", Reading(tuple(kept))), "view=heads&layer=1&head=2")
    assert [one.strip() for one in page.get_by_role("grid").get_by_role("rowheader").all_inner_texts()] == ["L3", "L5"]
    expect(page.locator(".head-told")).to_contain_text("Layer 5, head 2")
    stages = page_of(tmp_path / "kept.html", "view=stages&layer=1&head=2")
    assert stages.locator(".fields select").first.locator("option").all_inner_texts() == ["Layer 3", "Layer 5"]


# the grid -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "layers", "heads"), [("twelve", 12, 12), ("thirty", 30, 9)])
@pytest.mark.parametrize("width", [360, 1280])
def test_every_head_is_seen_without_moving_the_page_sideways(made, page_of, name, layers, heads, width):
    page = page_of(made[name][1], "view=heads", viewport={"width": width, "height": 900})
    page.wait_for_selector(".thumbs canvas[data-painted=atlas]")
    assert cells(page).count() == layers * heads
    boxes = [cells(page).nth(at).bounding_box() for at in (0, heads - 1, layers * heads - 1)]
    assert all(box["width"] >= 24 and box["height"] >= 24 and box["x"] + box["width"] <= width for box in boxes)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_thumbnail_shows_its_own_head(made, page_of, pixels):
    """The token before: bright beside the diagonal. The first token: bright in the first column."""
    page = page_of(made["twelve"][1], "view=heads")
    page.wait_for_selector(".thumbs canvas[data-painted=atlas]")
    beside, first = (40 - 0.5) / 64, 0.5 / 64
    where = [((head + across) / 12, 40.5 / 64 / 12) for head in (0, 1) for across in (beside, first)]
    (before, far), (near, start) = np.array(pixels(page, ".thumbs canvas", where))[:, 0].reshape(2, 2)
    assert before > far + 60
    assert start > near + 60


def test_a_head_has_a_name_with_its_numbers(made, page_of):
    record, path = made["twelve"]
    page = page_of(path, "view=heads")
    w = record[3].rows("weights", heads=[5])[0].astype(np.float64)
    logs = np.log(w, out=np.zeros_like(w), where=w > 0)
    entropy, first = -(w * logs).sum(axis=1).mean(), w[:, 0].mean()
    previous = np.diag(w, -1).mean()
    name = f"Layer 3, head 5: mean entropy {number(entropy)}, first token {percent(first)}, previous token {percent(previous)}"
    assert cells(page).nth(3 * 12 + 5).get_attribute("aria-label") == name
    cells(page).nth(3 * 12 + 5).hover()
    expect(page.locator(".head-told")).to_have_text(name)
    page.get_by_role("button", name="한국어").click()
    expect(cells(page).nth(3 * 12 + 5)).to_have_attribute(
        "aria-label", re.compile(r"^3층 5번 헤드: 평균 엔트로피 .*, 첫 토큰 .*%")
    )


def test_the_grid_is_one_tab_stop_and_moves_by_keys(made, page_of):
    page = page_of(made["thirty"][1], "view=heads&layer=2&head=3")
    assert page.locator("[role=gridcell][tabindex='0']").count() == 1
    page.locator("[role=gridcell][tabindex='0']").focus()
    place = lambda: divmod(int(page.evaluate("document.activeElement.dataset.at")), 9)  # noqa: E731
    assert place() == (2, 3)
    for key, there in [
        ("ArrowRight", (2, 4)), ("ArrowDown", (3, 4)), ("PageDown", (8, 4)), ("Home", (8, 0)), ("ArrowLeft", (8, 0)),
        ("End", (8, 8)), ("PageUp", (3, 8)), ("ArrowUp", (2, 8)), ("Control+End", (29, 8)), ("PageDown", (29, 8)),
        ("Control+Home", (0, 0)), ("ArrowUp", (0, 0)),
    ]:  # fmt: skip
        page.keyboard.press(key)
        assert place() == there, key
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Layer 0, head 1")).to_be_visible()
    assert page.locator("[role=gridcell][aria-selected=true]").get_attribute("data-at") == "1"


def test_heads_sort_and_filter_by_what_is_known(made, page_of):
    record, path = made["twelve"]
    page = page_of(path, "view=heads")
    first = np.stack([trace.rows("weights").astype(np.float64)[:, :, 0].mean(axis=1) for trace in record])
    most = np.unravel_index(first.argmax(), first.shape)
    page.get_by_label("Order").select_option("first_down")
    expect(cells(page).first).to_have_attribute("aria-label", re.compile(f"^Layer {most[0]}, head {most[1]}:"))
    page.wait_for_selector(".thumbs canvas[data-painted=atlas]")
    page.get_by_label("Only heads with").select_option("first")
    slider = page.get_by_role("slider")
    slider.focus()
    for _ in range(60):
        page.keyboard.press("ArrowRight")
    least = float(slider.input_value())
    n = int((first >= least).sum())
    assert 0 < n < 144
    expect(page.get_by_text(f"{n} of 144 heads")).to_be_visible()
    assert page.locator("[role=gridcell]:not(.filtered)").count() == n


def test_on_a_phone_a_head_is_one_press_away(made, page_of):
    page = page_of(made["twelve"][1], "view=heads", viewport={"width": 360, "height": 740})
    cells(page).nth(30).click()
    page.get_by_role("button", name="See it large ↓").click()
    expect(page.locator(".one-head")).to_be_focused()
    expect(page.locator(".picker")).to_be_in_viewport()


def test_thumbnails_and_numbers_follow_an_edit(made, page_of):
    page = page_of(made["student"][1], "view=heads")
    before = page.locator(".head-told").inner_text()
    page.get_by_role("button", name="Stages").click()
    cell = page.locator("main input:not([type=checkbox]):not([type=range])").first
    cell.fill("3")
    cell.press("Enter")
    page.get_by_role("button", name="Heads").click()
    page.wait_for_selector(".thumbs canvas[data-painted=drawn]")
    expect(page.locator(".head-told")).not_to_have_text(before)
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector(".thumbs canvas[data-painted=atlas]")
    expect(page.locator(".head-told")).to_have_text(before)


# one head -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "query"), [("five", 4), ("twelve", 40), ("long", 300)])
def test_the_heaviest_keys_are_pythons(made, page_of, name, query):
    record, path = made[name]
    page = page_of(path, f"view=heads&layer=1&head=2&query={query}")
    w = weights(record, 1, 2, query)
    order = np.argsort(-w, kind="stable")[:10]
    order = order[w[order] > 0][: query + 1]
    shown = top_keys(page)
    tolerance = 0 if name == "five" else 2e-4
    for (text, weight, share), key in zip(shown, order, strict=False):
        assert text.startswith("#")
        assert float(weight) == pytest.approx(w[key], abs=6e-4 + tolerance)
        assert float(share.rstrip("%")) == pytest.approx(100 * w[key], abs=0.06 + 100 * tolerance)
    total = sum(float(weight) for _, weight, _ in shown)
    assert total == pytest.approx(1, abs=0.006)
    left = len(w) - sum(text.startswith("#") for text, _, _ in shown)
    if left:
        assert shown[-1][0] in (f"the other {left} keys together", "the other key")


def test_a_cell_is_chosen_by_mouse_and_keys_and_says_its_exact_weight(made, page_of):
    record, path = made["five"]
    page = page_of(path, "view=heads&layer=0&head=3&query=4&key=0")
    canvas = page.get_by_role("application")
    page.wait_for_selector("canvas[data-painted=exact]")
    box = canvas.bounding_box()
    page.mouse.click(box["x"] + 1.5 * box["width"] / 5, box["y"] + 3.5 * box["height"] / 5)
    status = page.locator(".telling [role=status]")
    w = weights(record, 0, 3, 3)
    expect(status).to_have_text(f"Query #3 는 (1/2) → key #1 ␣나 (1/2): {percent(w[1])}")
    digits = lambda: float(page.locator(".telling .digits").inner_text().split()[-1])  # noqa: E731
    assert digits() == pytest.approx(w[1], rel=1e-5)
    canvas.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    w = weights(record, 0, 3, 4)
    expect(status).to_contain_text("Query #4")
    expect(status).to_contain_text(f"key #2 ␣나 (2/2): {percent(w[2])}")
    assert digits() == pytest.approx(w[2], rel=1e-5)
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    expect(status).to_contain_text("may not read key #4")
    page.keyboard.press("Home")
    expect(status).to_contain_text("key #0 <s>")
    page.wait_for_url(re.compile("query=3"), wait_until="commit")


def test_one_query_is_followed_through_every_stage(made, page_of):
    record, path = made["five"]
    page = page_of(path, "view=heads&layer=1&head=1&query=4")
    trace = record[1]
    part = {stage: trace.rows(stage, queries=[4], heads=[1])[0, 0] for stage in ("scores", "scaled", "weights")}
    valued = trace.rows("weighted_values", queries=[4], heads=[1])[0, 0].astype(np.float64)
    rows = page.locator(".follow tbody tr").all()
    assert len(rows) == 6
    for row in rows[:5]:
        key = int(re.match(r"#(\d+)", row.locator("th").inner_text())[1])  # type: ignore[index]
        texts = row.locator("td").all_inner_texts()
        said = [part["scores"][key], part["scaled"][key], part["weights"][key], *valued[key, :4], valued[key, 4:].sum()]
        assert texts[2] == "yes"
        assert [float(text) for text in texts if text != "yes"] == pytest.approx(said, abs=6e-4, rel=1e-3)
    mixed = trace.rows("mixed", queries=[4], heads=[1])[0, 0].astype(np.float64)
    closing = [float(text) for text in rows[5].locator("td").all_inner_texts()]
    assert closing == pytest.approx([*mixed[:4], mixed[4:].sum()], abs=6e-4, rel=1e-3)


def test_values_that_did_not_travel_are_asked_for(made, page_of):
    page = page_of(made["twelve"][1], "view=heads&layer=7")
    expect(page.get_by_text('draw(reading).save("page.html", values=[7])')).to_be_visible()
    expect(page.locator(".follow thead th")).to_have_count(5)


def test_arrows_follow_the_query(made, page_of):
    record, path = made["five"]
    page = page_of(path, "view=heads&layer=0&head=0&query=4")
    queries = page.get_by_role("radiogroup", name="queries", exact=True)
    assert queries.get_by_role("radio").count() == 5
    assert page.locator(".curves g.strong").count() == int((weights(record, 0, 0, 4) > 0.0005).sum())
    queries.get_by_role("radio").nth(1).hover()
    assert page.locator(".curves g.strong").count() == int((weights(record, 0, 0, 1) > 0.0005).sum())
    queries.get_by_role("radio").nth(4).focus()
    page.keyboard.press("ArrowUp")
    expect(queries.get_by_role("radio").nth(3)).to_be_focused()
    expect(queries.get_by_role("radio").nth(3)).to_have_attribute("aria-checked", "true")
    page.get_by_label("every query at once").check()
    page.mouse.move(0, 0)
    page.get_by_label("every query at once").focus()
    assert page.locator(".curves g.weak").count() > 3
    width = lambda: [float(path.get_attribute("stroke-width")) for path in page.locator(".curves g.strong path").all()]  # noqa: E731
    assert max(width()) == pytest.approx(max(1, 12 * weights(record, 0, 0, 3).max()), rel=1e-4)


def test_one_query_in_every_head(made, page_of):
    record, path = made["twelve"]
    page = page_of(path, "view=heads&layer=2&query=50")
    strips = page.locator(".strip-list [role=radio]")
    expect(strips).to_have_count(12)
    w = weights(record, 2, 7, 50)
    expect(strips.nth(7)).to_have_attribute(
        "aria-label", re.compile(rf"^Layer 2, head 7: most to #{w.argmax()} .*, {percent(w.max())}$")
    )
    page.get_by_role("button", name="all layers").click()
    expect(strips).to_have_count(144)
    strips.nth(24).focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("heading", name="Layer 2, head 1")).to_be_visible()
    expect(strips.nth(25)).to_be_focused()


def test_the_first_token_hidden_is_said_and_shared_out_anew(made, page_of, pixels):
    record, path = made["five"]
    page = page_of(path, "view=heads&layer=0&head=1&query=4&key=3")
    page.wait_for_selector(".plot canvas[data-painted=exact]")
    first_column = [(0.05, 0.95)]
    assert pixels(page, ".plot canvas", first_column)[0][3] == 255
    page.get_by_label("Hide the first token and renormalise").check()
    expect(page.get_by_text("no longer the model's numbers")).to_be_visible()
    w = weights(record, 0, 1, 4)
    assert float(page.locator(".telling .digits").inner_text().split()[-1]) == pytest.approx(
        w[3] / (1 - w[0]), rel=1e-4
    )
    rest(page, 100)
    assert pixels(page, ".plot canvas", first_column)[0][3] == 0  # grey: nobody may read it now
    page.get_by_label("Hide the first token and renormalise").uncheck()
    assert float(page.locator(".telling .digits").inner_text().split()[-1]) == pytest.approx(w[3], rel=1e-5)


def test_colour_scales_differ_and_are_told(made, page_of):
    page = page_of(made["five"][1], "view=heads&layer=0&head=0")
    seen = set()
    for mapping, said in [("row", "largest weight of each row"), ("sqrt", "square root of the weight"),
                          ("log", "logarithm"), ("linear", "the weight itself")]:  # fmt: skip
        page.get_by_label("Colour scale").select_option(mapping)
        expect(page.locator(".legend")).to_contain_text(said)
        expect(page.locator(".legend")).to_contain_text("Largest in view: 1.")
        rest(page, 80)
        seen.add(page.evaluate("document.querySelector('.plot canvas').toDataURL()"))
    assert len(seen) == 4


def test_numbers_stand_in_the_cells_of_a_small_head(made, page_of, pixels):
    page = page_of(made["student"][1], "view=heads")
    page.wait_for_selector("canvas[data-painted=exact]")
    across = [(3 + step / 40) / 5 for step in range(1, 40)]
    colours = {tuple(one) for one in pixels(page, ".plot canvas", [(x, 2.5 / 5) for x in across])}
    assert len(colours) > 3  # a number in ink on the colour of 0.55


def test_numbers_from_some_rows_say_so_and_the_rows_themselves_are_whole(made, page_of, tmp_path):
    record, whole = made["long"]
    some = pack(record, storage="int16", cells=2 * 3 * 512 * 512 // 8)
    page = page_of(pages.write(tmp_path / "some.html", some), "view=heads&layer=1&head=2&query=300")
    expect(page.locator(".all-heads")).to_contain_text("64 evenly spaced rows stand for all")
    told = [cell.inner_text().split()[-1] for cell in page.locator("table.top-keys tbody tr td:last-child").all()[:5]]
    expected = sorted(weights(record, 1, 2, 300), reverse=True)[: len(told)]
    assert [float(one.rstrip("%")) / 100 for one in told] == pytest.approx(expected, abs=1e-3)
    page = page_of(whole, "view=heads")
    expect(page.locator(".all-heads")).not_to_contain_text("evenly spaced")


def test_a_layer_that_is_on_its_way_lets_the_thumbnails_stand(made, page_of, tmp_path):
    """A host that takes its time, as a notebook does: the same page, whose answers wait for a click."""
    text = made["twelve"][1].read_text(encoding="utf-8")
    late = """<button id="late">late</button><script>
      const later = [], soon = window.queueMicrotask.bind(window);
      window.queueMicrotask = (task) => String(task).includes("msg:custom") ? later.push(task) : soon(task);
      document.getElementById("late").onclick = () => later.splice(0).forEach((task) => task());</script>"""
    slow = tmp_path / "slow.html"
    slow.write_text(text.replace("<body>", f"<body>{late}", 1), encoding="utf-8")
    page = page_of(slow, "view=heads&layer=5")
    page.wait_for_selector(".thumbs canvas[data-painted=atlas]")
    expect(page.locator(".one-head [role=status]")).to_have_text("This layer is on its way …")
    page.locator("#late").click()
    expect(page.get_by_role("heading", name="Layer 5, head 0")).to_be_visible()
    page.wait_for_selector(".plot canvas[data-painted=exact]")


# everyone -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_axe_finds_nothing_serious(made, page_of, violations, scheme, lang):
    page = page_of(made["five"][1], f"view=heads&lang={lang}", color_scheme=scheme)
    page.wait_for_selector("canvas[data-painted=exact]")
    assert violations(page) == []


def test_axe_finds_nothing_serious_on_a_phone(made, page_of, violations):
    page = page_of(made["thirty"][1], "view=heads&lang=ko", color_scheme="dark", viewport={"width": 360, "height": 800})
    page.wait_for_selector("canvas[data-painted=exact]")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    lines = page.eval_on_selector(
        ".follow thead tr", "row => row.offsetHeight / parseFloat(getComputedStyle(row).lineHeight)"
    )
    assert lines < 1.5  # whole words: the table moves sideways in its own box


def test_all_of_it_by_keyboard(made, page_of):
    page = page_of(made["twelve"][1], "view=heads")
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate("""() => { const e = document.activeElement;
          return (e.getAttribute('role') || e.tagName) + ':' + (e.closest('section, nav, form, .picker')?.className ?? ''); }""")
        )
    for wanted in (
        "gridcell:all-heads",
        "application:heat",
        "radio:arrows",
        "radio:strips",
        "SELECT:choices picker",
        "SELECT:all-heads",
    ):
        assert wanted in reached, reached


def test_hostile_tokens_stay_text(page_of, tmp_path):
    tokens = [
        "<img src=x onerror=alert(1)>",
        "</script><script>alert(2)</script>",
        "\u202egnihton",
        "{name}",
        "\x00\x1b[31m",
    ]
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, 2, 5, 4))
    path = pages.write(tmp_path / "hostile.html", Reading([Trace(tokens, q, k, v)]))
    page = page_of(path, "view=heads&query=0")
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    page.wait_for_selector("canvas[data-painted=exact]")
    assert page.locator(".jumok img, .jumok script").count() == 0
    shown = page.locator(".top-keys").inner_text()
    assert "<img src=x onerror=alert(1)>" in shown
    assert not {"\u202e", "\x1b"} & set(page.locator(".jumok").inner_text())
    assert "\\u202e" in page.locator(".one-head").inner_text()


def test_no_token_is_shown_as_a_tokenizer_writes_it(made, page_of):
    page = page_of(made["twelve"][1], "view=heads&query=40")
    page.wait_for_selector("canvas[data-painted=exact]")
    text = page.locator("#jumok-view").inner_text() + page.evaluate(
        "[...document.querySelectorAll('#jumok-view [aria-label]')].map((e) => e.ariaLabel).join(' ')"
    )
    assert not set("�Ġ▁ĊëìÂ") & set(text)
    assert "(2/3)" in text
