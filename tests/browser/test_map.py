"""The map of a long context, in a real Chromium: from the whole to one cell, which shows Python's weight."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import readings
from jumok import Reading
from jumok.picture import page as pages
from jumok.words import number, percent
from page_clock import rest

MIB = 2**20


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Reading, Path]]:
    """One layer of a few heads: as many tokens as make a difference."""
    folder = tmp_path_factory.mktemp("map")
    some = {
        "short": readings.reading(1, 4, 5),
        "middle": readings.reading(1, 4, 512),
        "long": readings.reading(1, 1, 4096),
        "window": readings.windowed(512, 40, 1, 2),
    }
    return {name: (one, pages.write(folder / f"{name}.html", one)) for name, one in some.items()}


def weight(record: Reading, head: int, query: int, key: int) -> float:
    return float(record[0].rows("weights", queries=[query], heads=[head])[0, 0, key])


def painted(page: Page, how: str = "exact") -> None:
    page.wait_for_selector(f".plot canvas[data-painted={how}]", timeout=30_000)


def window(page: Page) -> list[float] | None:
    """row, rows, column, columns as the address has them once it is written; None for the whole."""
    rest(page, 350)
    found = re.search(r"window=([^&]+)", page.evaluate("decodeURIComponent(location.hash)"))
    return [float(part) for part in found[1].split(",")] if found else None


def digits(page: Page) -> float:
    return float(page.locator(".telling .digits").inner_text().split()[-1])


def focus(page: Page) -> None:
    page.get_by_role("application").focus()


def test_keys_lead_from_the_whole_to_one_cell_with_its_weight(made, page_of):
    record, path = made["long"]
    page = page_of(path, "view=map&query=908&key=0")
    assert window(page) is None
    expect(page.get_by_text("queries 0–4095 of 4096, keys 0–4095 of 4096")).to_be_visible()
    focus(page)
    for _ in range(22):
        page.keyboard.press("+")
    assert window(page) == [908, 1, 0, 1]
    painted(page)
    w = weight(record, 0, 908, 0)
    assert digits(page) == pytest.approx(w, abs=record_error(page))
    expect(page.locator(".telling [role=status]")).to_have_text(re.compile(r"^Query #908 .* → key #0 <s>: \d"))
    page.keyboard.press("-")
    assert window(page)[1] == pytest.approx(1.5)
    page.keyboard.press("0")
    page.wait_for_function("() => !location.hash.includes('window=')")


def record_error(page: Page) -> float:
    """What the page itself says its weights may be off by."""
    return float(re.search(r"at most ([\d.e-]+)\.$", page.locator(".rounding").inner_text())[1]) * 1.01


def test_the_status_line_speaks_korean(made, page_of):
    record, path = made["long"]
    page = page_of(path, "view=map&head=0&query=908&key=0&lang=ko")
    w = weight(record, 0, 908, 0)
    expect(page.locator(".telling [role=status]")).to_have_text(
        re.compile(rf"^쿼리 #908 .* → 키 #0 <s>: {percent(w)}$")
    )


def test_arrows_move_the_chosen_cell_and_the_window_follows(made, page_of):
    page = page_of(made["middle"][1], "view=map&query=100&key=50&window=100,8,50,8")
    painted(page)
    focus(page)
    page.keyboard.press("ArrowLeft")
    assert window(page) == [100, 8, 49, 8]
    page.keyboard.press("Shift+ArrowDown")
    expect(page.locator(".telling [role=status]")).to_contain_text("Query #110")
    assert window(page) == [103, 8, 49, 8]
    page.keyboard.press("Home")
    assert window(page) == [103, 8, 0, 8]
    page.keyboard.press("End")
    expect(page.locator(".telling [role=status]")).to_contain_text("may not read key #511")
    assert window(page) == [103, 8, 504, 8]


def test_wheel_zooms_where_the_pointer_is_and_scrolls_the_page_when_whole(made, page_of):
    page = page_of(made["middle"][1], "view=map")
    painted(page)
    box = page.get_by_role("application").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 4, box["y"] + box["height"] / 2)
    page.mouse.wheel(0, -600)
    row, rows, column, columns = window(page)
    assert rows == columns < 300
    assert column + columns / 4 == pytest.approx(128, abs=2)
    assert row + rows / 2 == pytest.approx(256, abs=2)
    page.mouse.wheel(0, 3000)
    assert window(page) is None


def test_drag_moves_double_click_comes_closer_and_a_click_chooses(made, page_of):
    page = page_of(made["middle"][1], "view=map&window=100,64,40,64")
    painted(page)
    box = page.get_by_role("application").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - box["width"] / 8, y + box["height"] / 4, steps=4)
    page.mouse.up()
    assert window(page) == pytest.approx([84, 64, 48, 64], abs=0.5)
    page.mouse.click(x, y)
    expect(page.locator(".telling [role=status]")).to_contain_text("Query #116")
    expect(page.locator(".telling [role=status]")).to_contain_text("key #80")
    page.mouse.dblclick(x, y)
    assert window(page)[1] == pytest.approx(32)


def test_two_fingers_zoom(made, page_of):
    page = page_of(made["middle"][1], "view=map", has_touch=True, viewport={"width": 400, "height": 800})
    painted(page)
    box = page.get_by_role("application").bounding_box()
    touch = page.context.new_cdp_session(page)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.get_by_role("application").scroll_into_view_if_needed()
    for kind, apart in [("touchStart", 20), ("touchMove", 40), ("touchMove", 80)]:
        points = [{"x": x - apart, "y": y, "id": 0}, {"x": x + apart, "y": y, "id": 1}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    *_, column, columns = window(page)
    assert columns == pytest.approx(512 * 20 / 80, rel=0.1)
    assert column + columns / 2 == pytest.approx(256, abs=16)


def test_buttons_and_the_small_map(made, page_of):
    page = page_of(made["middle"][1], "view=map&query=200&key=100")
    painted(page)
    page.get_by_role("button", name="To the chosen cell").click()
    assert window(page) == [197.5, 6, 97.5, 6]
    page.get_by_role("button", name="Further").click()
    assert window(page)[1] == 12
    page.get_by_role("button", name="Closer").click()
    assert window(page)[1] == 6
    small = page.locator(".minimap canvas").bounding_box()
    page.mouse.click(small["x"] + small["width"] / 2, small["y"] + small["height"] * 3 / 4)
    row, _, column, _ = window(page)
    assert column + 3 == pytest.approx(256, abs=4)
    assert row + 3 == pytest.approx(384, abs=4)
    page.get_by_role("button", name="Whole map").click()
    assert window(page) is None


def test_a_token_is_found_by_what_it_says_or_where_it_stands(made, page_of):
    record, path = made["middle"]
    page = page_of(path, "view=map&query=0&key=0&window=0,16,0,16")
    box = page.get_by_role("searchbox")
    box.fill("tired")
    page.get_by_role("button", name="as query").click()
    first, second = [at for at, token in enumerate(record.tokens) if "tired" in token.text][:2]
    expect(page.locator(".telling [role=status]")).to_contain_text(f"Query #{first} ␣tired.")
    assert window(page)[0] == first + 0.5 - 8
    page.get_by_role("button", name="as query").click()
    expect(page.locator(".telling [role=status]")).to_contain_text(f"Query #{second} ")
    box.fill("고양이")  # three characters in several byte pieces
    page.get_by_role("button", name="as key").click()
    expect(page.locator(".telling [role=status]")).to_contain_text("key #16 ␣고")
    box.fill("#400")
    box.press("Enter")
    expect(page.locator(".telling [role=status]")).to_contain_text("Query #400 ")
    box.fill("512")
    box.press("Enter")
    expect(page.get_by_text("Positions go from 0 to 511.")).to_be_visible()
    box.fill("xyzzy")
    box.press("Enter")
    expect(page.get_by_text("No token says “xyzzy”.")).to_be_visible()
    box.fill("")
    box.press("Enter")
    expect(page.get_by_text("Type a token or #position.")).to_be_visible()


@pytest.mark.parametrize("width", [360, 1280])
def test_the_digits_of_the_rulers_are_all_on_them(made, page_of, width):
    page = page_of(made["long"][1], "view=map", viewport={"width": width, "height": 900})
    page.wait_for_selector(".ruler.across .tick")
    for along, least in [("across", 4), ("down", 4)]:
        ruler = page.locator(f".ruler.{along}").bounding_box()
        ticks = [tick.bounding_box() for tick in page.locator(f".ruler.{along} .tick").all()]
        assert len(ticks) > least
        for start, size in [("x", "width"), ("y", "height")]:
            assert min(tick[start] for tick in ticks) >= ruler[start] - 0.5
            assert max(tick[start] + tick[size] for tick in ticks) <= ruler[start] + ruler[size] + 0.5


def test_without_the_first_token_a_long_map_is_drawn_in_slices(made, page_of):
    """No row's sum is known then: some rows at once, all of them a little later, and the same weights in the end."""
    record, path = made["long"]
    page = page_of(path, "view=map&query=908&key=907")
    page.wait_for_selector(".plot canvas[data-painted]")
    page.evaluate(
        """() => {
          const { putImageData } = CanvasRenderingContext2D.prototype;
          window.heights = [];
          CanvasRenderingContext2D.prototype.putImageData = function (data, ...at) {
            if (data.width > 132 || data.height === 64) window.heights.push(data.height);
            putImageData.call(this, data, ...at);
          };
        }"""
    )
    page.get_by_label("Hide the first token and renormalise").check()
    page.wait_for_function("() => window.heights.at(-1) > 64 && window.heights.includes(64)")
    w = record[0].rows("weights", queries=[908], heads=[0])[0, 0]
    assert digits(page) == pytest.approx(w[907] / (1 - w[0]), abs=2 * record_error(page))


def test_tokens_stand_beside_cells_that_have_room(made, page_of):
    page = page_of(made["middle"][1], "view=map&window=0,512,0,512")
    painted(page)
    assert page.locator(".ruler .label").count() == 0
    assert page.locator(".ruler.across .tick").first.inner_text() == "0"
    page = page_of(made["middle"][1], "view=map&query=20&key=20&window=8,16,8,16")
    painted(page)
    labels = page.locator(".ruler.down .label")
    expect(labels.first).to_be_visible()
    text = page.locator(".ruler.down").inner_text()
    assert text.count("양이") == 1  # three pieces, one text
    assert len(page.locator(".ruler.down .chip").all()) >= 6
    assert not set("�Ġ▁ĊëìÂ") & set(text)


def test_the_colour_of_a_cell_is_of_its_weight(made, page_of, pixels):
    """A zoomed cell is as bright as its share of the whole row says, not of what is in view."""
    record, path = made["middle"]
    dark = page_of(path, "view=map&head=3&query=97&key=33&window=97,1,33,1")
    painted(dark)
    row = record[0].rows("weights", queries=[97], heads=[3])[0, 0]
    assert row[33] < 1e-4 < row.max()
    most = int(row.argmax())
    bright = page_of(path, f"view=map&head=3&query=97&key={most}&window=97,1,{most},1")
    painted(bright)
    corner = [(0.1, 0.1)]
    assert pixels(dark, ".plot canvas", corner)[0][0] < 20
    assert pixels(bright, ".plot canvas", corner)[0][0] > 240


def test_what_may_not_be_read_is_grey(made, page_of, pixels):
    page = page_of(made["window"][1], "view=map&query=300&key=290")
    painted(page)
    inside, before, ahead = pixels(page, ".plot canvas", [(0.49, 0.5), (0.3, 0.5), (0.6, 0.5)])
    assert inside[3] == 255
    assert before[3] == ahead[3] == 0  # clear: the grey ground shows through


def test_no_array_of_all_pairs_is_made(made, page_of):
    page = page_of(made["long"][1], "view=map&query=2000&key=1000")
    page.wait_for_selector(".plot canvas[data-painted]")
    cdp = page.context.new_cdp_session(page)

    def held() -> float:
        cdp.send("HeapProfiler.collectGarbage")
        used = cdp.send("Runtime.getHeapUsage")
        return used["usedSize"] + used.get("backingStorageSize", 0)

    before = held()
    focus(page)
    for key in "+" * 8 + "-" * 8:
        page.keyboard.press(key)
    assert abs(held() - before) < 4 * MIB  # 4,096² weights would be 64 MiB in float32


def test_a_zoom_step_is_drawn_soon(made, page_of):
    """Said in the benchmark with its spread; here only that it is no matter of seconds."""
    page = page_of(made["long"][1], "view=map&query=2000&key=1000")
    page.wait_for_selector(".plot canvas[data-painted]")
    took = page.evaluate(
        """async () => {
          const canvas = document.querySelector(".plot canvas"), took = [];
          const frame = () => new Promise((done) => requestAnimationFrame(() => done()));
          for (let step = 0; step < 8; step++) {
            canvas.dataset.painted = "";
            const begun = performance.now();
            canvas.dispatchEvent(new KeyboardEvent("keydown", {key: "+", bubbles: true, cancelable: true}));
            while (canvas.dataset.painted === "") await frame();
            took.push(performance.now() - begun);
          }
          return took.sort((a, b) => a - b);
        }"""
    )
    print("a zoom step, ms:", [round(one) for one in took])
    assert np.median(took) < 1000


def test_the_link_carries_the_window(made, page_of):
    path = made["middle"][1]
    page = page_of(path, "view=map&query=60&key=30")
    painted(page)
    focus(page)
    for _ in range(4):
        page.keyboard.press("+")
    seen = window(page)
    again = page_of(path, page.evaluate("location.hash.slice(1)"))
    painted(again)
    assert window(again) == seen
    assert again.locator(".telling [role=status]").inner_text() == page.locator(".telling [role=status]").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_nothing_serious_and_nothing_runs_out_of_the_page(made, page_of, violations, scheme, width):
    page = page_of(
        made["middle"][1], "view=map&lang=ko&window=8,16,8,16&query=20&key=12", color_scheme=scheme,
        viewport={"width": width, "height": 800},
    )  # fmt: skip
    painted(page)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_numbers_in_the_table_are_pythons(made, page_of):
    record, path = made["short"]
    page = page_of(path, "view=map&head=2&query=3")
    row = record[0].rows("weights", queries=[3], heads=[2])[0, 0].astype(float)
    texts = page.locator(".top-keys tbody tr td:nth-child(2)").all_inner_texts()
    assert texts[:4] == [number(w) for w in sorted(row, reverse=True)[:4]]
