"""The stage view in a real Chromium: what is shown is what Python computes; choosing, editing, walking, by mouse and by keys."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

import jumok
from jumok.picture.page import write
from jumok.words import number

AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
HOSTILE = ["</script><img src=x onerror=alert(1)>", "\u202eright to left", "שלום", "👩‍🔬", "", "long" * 50, "은행"]


def random_heads():
    rng = np.random.default_rng(7)
    w_q, w_k, w_v, w_o = (rng.normal(size=(8, 8)) / 2 for _ in range(4))
    return jumok.attend(
        x=rng.normal(size=(5, 8)), w_q=w_q, w_k=w_k, w_v=w_v, w_o=w_o, tokens=list("abcde"), n_heads=2, rule="causal"
    )


def long_record():
    rng = np.random.default_rng(8)
    q, k, v = (rng.normal(size=(1, 200, 64)) for _ in range(3))
    return jumok.attend(q=q, k=k, v=v, rule=jumok.Rule(allowed=jumok.allowed.causal()))


def crossed():
    rng = np.random.default_rng(9)
    q, k, v = rng.normal(size=(1, 3, 4)), rng.normal(size=(1, 4, 4)), rng.normal(size=(1, 4, 2))
    allowed = np.ones((3, 4), dtype=bool)
    allowed[1] = False
    rule = jumok.Rule(allowed=jumok.allowed.table(allowed))
    return jumok.attend(q=q, k=k, v=v, tokens=["who", "asks", "here"], key_tokens=list("wxyz"), rule=rule)


MADE: dict[str, Callable[[], object]] = {
    "student": lambda: jumok.attend(jumok.load("student")),
    "it-tired": lambda: jumok.attend(jumok.load("it-tired")),
    "heads": random_heads,
    "long": long_record,
    "crossed": crossed,
}


class Stages:
    """The view as a person meets it."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def cell(self, stage: str, row: int, column: int) -> Locator:
        return self.page.locator(f"table[data-stage='{stage}'] [data-row='{row}'][data-column='{column}']")

    def table(self, stage: str) -> list[list[str]]:
        rows = self.page.locator(f"table[data-stage='{stage}'] tbody tr").all()
        return [row.locator("[role='gridcell'][data-row]").all_inner_texts() for row in rows]

    def names(self, stage: str, side: str) -> list[str]:
        return [
            text.replace("▾", "").strip()
            for text in self.page.locator(f"table[data-stage='{stage}'] th[scope='{side}']").all_inner_texts()
        ]

    @property
    def arithmetic(self) -> str:
        return " ".join(self.page.locator(".arithmetic").inner_text().split())

    @property
    def active(self) -> str:
        return self.page.locator(".step.active").get_attribute("data-stop") or ""

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def type(self, stage: str, row: int, column: int, text: str) -> None:
        self.cell(stage, row, column).focus()
        self.page.keyboard.press("Enter")
        self.page.keyboard.press("Delete")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")

    def copied(self, name: str) -> str:
        self.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.button(name).click()
        expect(self.page.locator(".told")).to_contain_text("copied")
        return str(self.page.evaluate("navigator.clipboard.readText()"))


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stages")
    return {name: write(folder / f"{name}.html", make()) for name, make in MADE.items()}


@pytest.fixture
def open_stages(page_of, pages):
    def opened(name: str = "student", hash: str = "view=stages", **context) -> Stages:
        return Stages(page_of(pages[name], hash, **context))

    return opened


def shown(table) -> list[list[str]]:
    return [[number(value) for value in row] for row in np.asarray(table)]


# numbers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "head"), [("student", 0), ("heads", 1)])
def test_every_number_is_pythons(open_stages, name, head):
    trace = MADE[name]()
    stages = open_stages(name, f"view=stages&head={head}&query=2")
    for stage in ("q", "k", "v"):
        assert stages.table(stage) == shown(getattr(trace, stage)[head])
    for stage in ("scores", "scaled", "weights", "mixed"):
        assert stages.table(stage) == shown(getattr(trace, stage)[head])
    allowed = [["●" if may else "·" for may in row] for row in np.broadcast_to(trace.allowed, trace.weights.shape[1:])]
    assert stages.table("allowed") == allowed
    assert stages.table("weighted_values") == shown(trace.rows("weighted_values", queries=[2])[head, 0])
    if name == "heads":
        assert stages.table("output") == shown(trace.output)


ORIGINS = [
    ("x", 2, 1, "x of studies, Action: 1 This number is given by the example"),
    ("w_q", 1, 2, "W_Q, row Action, column Knowledge: 6.628 This number is given by the example"),
    ("q", 2, 2, "Person 0×0 + Action 1×6.628 + Knowledge 0×1 + Method 0×0 = 6.628"),
    ("k", 3, 2, "Person 0×0 + Action 0×0 + Knowledge 1×1 + Method 0×0 = 1"),
    ("v", 3, 2, "Person 0×0 + Action 0×0 + Knowledge 1×3 + Method 0×0 = 3"),
    ("scores", 2, 3, "Person 4.605×0 + Action 1.833×0 + Knowledge 6.628×1 + Method 4.394×0 = 6.628"),
    ("scaled", 2, 3, "6.628 ÷ √4 = 3.314"),
    ("allowed", 2, 3, "studies may read deep learning Every query may read every key."),
    ("weights", 2, 3, "e^(3.314 - 3.314) ÷ (0.036 + 0.364 + 0.091 + 1 + 0.327) = 1 ÷ 1.818 = 0.55"),
    ("weighted_values", 3, 2, "deep learning 0.55×3 = 1.65"),
    ("mixed", 2, 2, "deep learning 0.55×3 + carefully 0.18×0 = 1.65"),
]


def test_every_number_says_where_it_comes_from(open_stages):
    stages = open_stages()
    for stage, row, column, said in ORIGINS:
        stages.cell(stage, row, column).focus()
        assert said in stages.arithmetic


def test_digits_that_were_rounded_are_said_to_be(open_stages):
    stages = open_stages()
    assert "Shown rounded; in full: 0.5499798001249977" in stages.arithmetic
    assert stages.page.locator(".full").evaluate("(full) => full.getClientRects().length") == 1  # on one line
    stages.cell("q", 2, 2).focus()
    assert "rounded" not in stages.arithmetic


def test_pointing_tells_and_scrolls_nothing_and_leaving_brings_back(open_stages):
    stages = open_stages()
    before = stages.page.evaluate("scrollY")
    stages.cell("q", 2, 2).hover()
    expect(stages.page.locator(".arithmetic")).to_contain_text("Q of studies, Knowledge")
    expect(stages.page.locator(".where")).to_have_text("2 Queries")  # the walk stays at stage 8
    expect(stages.page.locator(".stage-text h2")).to_have_text("8 Attention weights")
    assert stages.page.locator("td.source").count() == 8  # a row of x, a column of W_Q
    stages.page.locator("h1").hover()
    expect(stages.page.locator(".arithmetic")).to_contain_text("studies attends to deep learning")
    assert stages.page.evaluate("scrollY") == before


def test_a_chain_is_followed_back_and_forth(open_stages):
    stages = open_stages()
    digits = stages.page.locator(".arithmetic .digit")
    digits.first.click()
    assert "6.628 ÷ √4 = 3.314" in stages.arithmetic
    digits.first.click()
    assert "Knowledge 6.628×1" in stages.arithmetic
    assert stages.active == "scores"
    stages.button("← Back").click()
    assert stages.active == "scaled"
    stages.button("← Back").click()
    assert stages.arithmetic.startswith("studies attends to deep learning, 0.55")


# editing ------------------------------------------------------------------------------------------


def test_an_edit_is_marked_undone_redone_and_carried_by_a_link(open_stages, page_of, pages):
    stages = open_stages()
    stages.type("x", 2, 1, "2")
    expect(stages.cell("q", 2, 2)).to_have_text("13.256")
    assert stages.cell("q", 2, 2).get_attribute("title") == "6.628 → 13.256"
    assert "changed" in stages.cell("weights", 2, 3).get_attribute("class")
    assert "changed" not in stages.cell("q", 1, 0).get_attribute("class")
    assert "Before the last edit: 1 → now: 2" in stages.arithmetic
    edited = {stage: stages.table(stage) for stage in ("x", "q", "scores", "weights", "mixed")}
    stages.button("Undo").click()
    expect(stages.cell("q", 2, 2)).to_have_text("6.628")
    stages.button("Redo").click()
    assert {stage: stages.table(stage) for stage in edited} == edited
    link = stages.copied("Copy link")
    again = Stages(page_of(pages["student"], link.split("#")[1]))
    assert {stage: again.table(stage) for stage in edited} == edited
    again.page.reload()
    again.page.wait_for_selector("[data-ready='true']")
    assert {stage: again.table(stage) for stage in edited} == edited
    again.button("Reset").click()
    assert again.table("weights") == shown(MADE["student"]().weights[0])


# What was drawn since it was called before: Preact keeps what a component drew for as long as it draws nothing else.
DRAWN = """() => {
  const drawn = [];
  const walk = (node) => {
    if (node.drawn === undefined) drawn.push(node.type === "table" ? node.props["data-stage"] : node.type);
    node.drawn = true;
    for (const child of node.__k ?? []) if (child) walk(child);
  };
  walk(document.querySelector(".jumok").__k);
  return drawn.filter((what) => typeof what === "string");
}"""


def test_an_edit_draws_again_only_the_tables_that_it_changed(open_stages):
    stages = open_stages()
    stages.cell("w_q", 2, 2).focus()
    everything = stages.page.evaluate(DRAWN)
    tables = set(stages.page.eval_on_selector_all("table", "all => all.map((one) => one.dataset.stage)"))
    assert tables <= set(everything)
    assert {"h1", "nav", "th", "details"} <= set(everything)
    stages.page.keyboard.press("Alt+ArrowUp")
    expect(stages.cell("w_q", 2, 2)).to_have_class(re.compile("changed"))
    drawn = stages.page.evaluate(DRAWN)
    changed = set(stages.page.eval_on_selector_all("table:has(.changed)", "all => all.map((one) => one.dataset.stage)"))
    assert {"w_q", "q", "scores", "weights"} <= changed < tables
    assert tables & set(drawn) == changed
    assert not {"h1", "nav", "th", "details"} & set(drawn)
    assert len(drawn) < len(everything) / 3


@pytest.mark.parametrize(
    ("lang", "typed", "said"),
    [
        ("en", "abc", "abc is not a number. Type one such as 1.5 or -2."),
        ("ko", "삼", "삼: 숫자가 아닙니다. 1.5나 -2처럼 입력하십시오."),
        ("en", "1,5", "Write the decimals after a point: 1.5, not 1,5."),
        ("ko", "", "숫자가 아닙니다"),
        ("en", "1e300", "This number is too large: at most"),
    ],
)
def test_what_is_typed_wrong_is_refused_in_place(open_stages, lang, typed, said):
    stages = open_stages(hash=f"view=stages&lang={lang}")
    before = stages.table("weights")
    stages.type("w_q", 1, 2, typed)
    field = stages.page.locator("td input")
    expect(stages.page.get_by_role("alert")).to_contain_text(said)
    assert field.get_attribute("aria-invalid") == "true"
    assert field.get_attribute("aria-describedby") == stages.page.get_by_role("alert").get_attribute("id")
    assert stages.table("weights") == before
    stages.page.keyboard.press("Escape")
    expect(field).to_have_count(0)
    expect(stages.cell("w_q", 1, 2)).to_be_focused()
    expect(stages.cell("w_q", 1, 2)).to_have_text("6.628")


def test_a_drag_is_one_step_and_a_click_is_none(open_stages):
    stages = open_stages()
    cell = stages.cell("w_v", 2, 2)
    cell.scroll_into_view_if_needed()
    box = cell.bounding_box()
    x, y = box["x"] + 10, box["y"] + 10
    mouse = stages.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.up()
    expect(stages.button("Undo")).to_be_disabled()
    mouse.down()
    for away in range(2, 62, 2):
        mouse.move(x + away, y)
    mouse.up()
    expect(cell).to_have_text("4")
    expect(stages.page.locator("td input")).to_have_count(0)
    expect(stages.cell("mixed", 2, 2)).to_have_attribute("title", re.compile("^1.65 → "))
    stages.button("Undo").click()
    expect(cell).to_have_text("3")
    expect(stages.button("Undo")).to_be_disabled()


def test_escape_leaves_a_drag_and_what_could_be_redone(open_stages):
    stages = open_stages()
    stages.type("w_v", 2, 2, "5")
    stages.button("Undo").click()
    before = stages.table("mixed")
    cell, mouse = stages.cell("w_v", 2, 2), stages.page.mouse
    cell.hover()
    mouse.down()
    box = cell.bounding_box()
    mouse.move(box["x"] + 90, box["y"] + 10)
    assert stages.table("mixed") != before
    stages.page.keyboard.press("Escape")
    mouse.move(box["x"] + 140, box["y"] + 10)
    mouse.up()
    assert stages.table("mixed") == before
    expect(stages.page.locator("td input")).to_have_count(0)
    expect(stages.button("Undo")).to_be_disabled()
    stages.button("Redo").click()
    expect(cell).to_have_text("5")


def test_alt_and_arrows_change_a_number(open_stages):
    stages = open_stages()
    stages.cell("x", 1, 0).focus()
    stages.page.keyboard.press("Alt+ArrowUp")
    expect(stages.cell("x", 1, 0)).to_have_text("1.1")
    stages.page.keyboard.press("Alt+Shift+ArrowDown")
    expect(stages.cell("x", 1, 0)).to_have_text("1.09")


def test_the_mask_is_turned_by_click_and_space(open_stages):
    stages = open_stages()
    stages.cell("allowed", 2, 3).click()
    assert (
        stages.cell("weights", 2, 3).get_attribute("aria-label")
        == "studies does not attend to deep learning, hidden by the mask: 0"
    )
    assert (
        stages.cell("allowed", 2, 3).get_attribute("aria-label")
        == "studies may not read deep learning: hidden by the mask"
    )
    row = [float(text) for text in stages.table("weights")[2]]
    assert sum(row) == pytest.approx(1, abs=0.003)
    stages.page.keyboard.press("Space")
    expect(stages.cell("weights", 2, 3)).to_have_text("0.55")
    for column in range(5):
        stages.cell("allowed", 4, column).click()
    expect(stages.page.locator("[data-stop='weights'] .note")).to_have_text(
        "carefully may read nothing: all its weights are 0."
    )
    assert stages.table("weights")[4] == ["0"] * 5


def test_scale_and_temperature(open_stages):
    stages = open_stages()
    field = stages.page.get_by_label("Temperature")
    field.fill("2")
    field.press("Enter")
    expect(stages.cell("scaled", 2, 3)).to_have_text("1.657")
    stages.page.get_by_role("combobox", name="Scale").select_option("own")
    own = stages.page.get_by_label("Scale (the score is multiplied by it)")
    own.fill("1")
    own.press("Enter")
    expect(stages.cell("scaled", 2, 3)).to_have_text("3.314")
    field.fill("0")
    field.press("Enter")
    assert field.get_attribute("aria-invalid") == "true"
    expect(stages.page.get_by_role("alert")).to_contain_text("between")
    expect(stages.cell("scaled", 2, 3)).to_have_text("3.314")
    stages.cell("scaled", 2, 3).focus()
    assert "6.628 × 0.5 = 3.314" in stages.arithmetic
    heading, corner = stages.page.locator("#step-scaled"), stages.page.locator("table[data-stage='scaled'] .corner")
    expect(heading).to_contain_text("q · k × 0.5")
    expect(corner).to_have_text("× 0.5")
    expect(stages.page.locator(".formula")).to_contain_text("× 0.5")
    stages.page.get_by_role("combobox", name="Scale").select_option("usual")
    field.fill("2")
    field.press("Enter")
    expect(heading).to_contain_text("q · k ÷ √dk ÷ 2")
    expect(corner).to_have_text("÷ √dk ÷ 2")


def menu(stages: Stages, row: int, column: int, item: str, text: str | None = None) -> None:
    stages.cell("x", row, column).click()
    stages.page.get_by_role("dialog").get_by_role("button", name=item, exact=True).click()
    if text is not None:
        stages.page.get_by_role("dialog").get_by_role("textbox").fill(text)
        stages.page.keyboard.press("Enter")
    expect(stages.page.get_by_role("dialog")).to_have_count(0)


def test_tokens_are_added_renamed_moved_and_removed(open_stages):
    stages = open_stages()
    menu(stages, 4, -1, "Add after", "today")
    assert stages.names("weights", "col") == ["The", "student", "studies", "deep learning", "carefully", "today"]
    menu(stages, 1, -1, "Rename", "pupil")
    menu(stages, 5, -1, "Move up")
    menu(stages, 0, -1, "Remove")
    menu(stages, 0, -1, "Move down")
    assert stages.names("weights", "row") == ["studies", "pupil", "deep learning", "today", "carefully"]
    assert stages.table("x")[3] == ["0", "0", "0", "0"]
    for _ in range(5):
        stages.button("Undo").click()
    assert stages.table("weights") == shown(MADE["student"]().weights[0])


def test_dimensions_are_added_renamed_moved_and_removed(open_stages):
    stages = open_stages()
    stages.button("+ Dimension").click()
    stages.page.get_by_role("dialog").get_by_role("textbox").fill("Time")
    stages.page.keyboard.press("Enter")
    assert stages.names("q", "col") == ["Person", "Action", "Knowledge", "Method", "Time"]
    menu(stages, -1, 1, "Rename", "Deed")
    menu(stages, -1, 1, "Move left")
    menu(stages, -1, 4, "Remove")
    assert stages.names("q", "col") == ["Deed", "Person", "Knowledge", "Method"]
    assert stages.table("weights") == shown(MADE["student"]().weights[0])
    stages.cell("x", -1, 0).click()
    dialog = stages.page.get_by_role("dialog")
    dialog.get_by_role("button", name="Rename").click()
    dialog.get_by_role("textbox").fill("Person")
    stages.page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_have_text("Person is the name of another dimension.")
    dialog.get_by_role("textbox").fill("  ")
    stages.page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_have_text("A dimension needs a name.")
    stages.page.keyboard.press("Escape")
    expect(stages.cell("x", -1, 0)).to_be_focused()


def test_a_copied_example_file_gives_the_same_numbers(open_stages, tmp_path):
    stages = open_stages()
    stages.type("w_q", 1, 0, "-3.25")
    stages.cell("allowed", 1, 4).click()
    menu(stages, 0, -1, "Rename", 'the: "very" #1')
    path = tmp_path / "edited.yaml"
    path.write_text(stages.copied("Copy as example file"), encoding="utf-8")
    trace = jumok.attend(jumok.load(path))
    for stage in ("scores", "weights", "mixed"):
        assert stages.table(stage) == shown(getattr(trace, stage)[0])
    assert trace.tokens[0].text == 'the: "very" #1'


# keys, ears, languages ----------------------------------------------------------------------------


def tab_to(stages: Stages, selector: str) -> None:
    for _ in range(60):
        if stages.page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        stages.page.keyboard.press("Tab")
    raise AssertionError(f"the tab key does not reach {selector}")


def test_with_the_keyboard_alone(open_stages):
    stages = open_stages()
    keys = stages.page.keyboard
    keys.press("]")
    assert stages.active == "weighted_values"
    tab_to(stages, ".of-query [role='radio']")
    keys.press("ArrowLeft")
    expect(stages.page.locator(".of-query [aria-checked='true']")).to_have_text("student")
    tab_to(stages, ".of-key [role='radio']")
    keys.press("Home")
    expect(stages.page.locator(".of-key [aria-checked='true']")).to_contain_text("The")
    tab_to(stages, "table[data-stage='x'] *")
    for key, place in [
        ("Control+Home", (0, 0)),
        ("End", (0, 3)),
        ("ArrowDown", (1, 3)),
        ("Control+End", (4, 3)),
        ("Home", (4, -1)),
        ("ArrowRight", (4, 0)),
    ]:
        keys.press(key)
        expect(stages.cell("x", *place)).to_be_focused()
    keys.type("7")
    keys.press("Tab")
    expect(stages.cell("x", 4, 0)).to_have_text("7")
    expect(stages.cell("x", 4, 1)).to_be_focused()
    keys.press("Control+z")
    expect(stages.cell("x", 4, 0)).to_have_text("0")
    keys.press("Control+Shift+z")
    expect(stages.cell("x", 4, 0)).to_have_text("7")
    keys.press("Home")
    keys.press("Enter")
    expect(stages.button("Choose as query")).to_be_focused()
    keys.press("Enter")
    expect(stages.page.locator(".of-query [aria-checked='true']")).to_have_text("carefully")
    tab_to(stages, "table[data-stage='weights'] *")
    keys.press("Control+Home")
    keys.press("Enter")
    expect(stages.page.locator(".of-query [aria-checked='true']")).to_have_text("The")
    keys.press("[")
    assert stages.active == "allowed"
    tab_to(stages, ".digit, details.whole > summary")
    tab_to(stages, "details.whole > summary")
    keys.press("Enter")
    expect(stages.page.locator("details.whole h3").first).to_be_visible()


def test_every_table_is_one_tab_stop(open_stages):
    stages = open_stages()
    stops = stages.page.evaluate(
        "[...document.querySelectorAll('table[role=grid]')].map(table => table.querySelectorAll('[tabindex=\"0\"]').length)"
    )
    assert stops == [1] * 13


NAMES = {
    "en": [
        ("weights", 2, 3, "studies attends to deep learning, 0.55"),
        ("q", 2, 2, "Q of studies, Knowledge: 6.628"),
        ("w_q", 1, 2, "W_Q, row Action, column Knowledge: 6.628"),
        ("weighted_values", 3, 2, "what deep learning hands over to studies, Knowledge: 1.65"),
    ],
    "ko": [
        ("weights", 2, 3, "studies가 deep learning을 참고하는 가중치 0.55"),
        ("q", 2, 2, "studies의 Q, Knowledge: 6.628"),
        ("scores", 2, 1, "studies와 student의 점수: 4.605"),
        ("allowed", 2, 3, "studies는 deep learning을 볼 수 있음"),
    ],
}


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_cells_have_names_for_ears(open_stages, lang):
    stages = open_stages(hash=f"view=stages&lang={lang}")
    for stage, row, column, name in NAMES[lang]:
        assert stages.page.get_by_role("gridcell", name=name, exact=True).count() == 1
        assert stages.cell(stage, row, column).get_attribute("aria-label") == name


def test_ears_are_told_the_arithmetic_of_a_number_that_was_kept(open_stages):
    stages = open_stages()
    stages.cell("scaled", 2, 3).focus()
    told = stages.page.locator(".aside [aria-live]")
    expect(told).to_contain_text("6.628 ÷ √4 = 3.314")
    stages.type("w_q", 1, 2, "7")
    others = stages.page.locator("td.changed").count() - 1
    expect(told).to_have_text(f"W_Q, row Action, column Knowledge: 6.628 → 7. Other numbers changed: {others}.")
    stages.cell("allowed", 2, 3).click()
    expect(told).to_contain_text("studies may not read deep learning: hidden by the mask. Other numbers changed:")


def test_a_cell_is_copied_with_all_its_digits(open_stages):
    stages = open_stages()
    stages.page.context.grant_permissions(["clipboard-read"])
    stages.cell("weights", 2, 3).focus()
    stages.page.keyboard.press("Control+c")
    assert stages.page.evaluate("navigator.clipboard.readText()") == "0.5499798001249977"


def test_the_language_switches_at_once(open_stages):
    stages = open_stages()
    stages.button("한국어").click()
    expect(stages.page.locator(".origin h2")).to_have_text("이 숫자는 어디에서 왔을까요?")
    assert stages.page.evaluate("document.documentElement.lang") == "ko"
    assert "studies가 deep learning을 참고하는 가중치" in stages.arithmetic
    left = re.findall(r"[A-Za-z]{4,}", stages.page.locator(".aside, .sign, .step h2").first.inner_text())
    assert set(left) <= {"softmax", "studies", "deep", "learning", "carefully", "student"}


# walking ------------------------------------------------------------------------------------------


def test_the_walk_says_each_stage_and_marks_the_formula(open_stages):
    stages = open_stages(hash="view=stages&stage=x")
    stages.cell("x", 0, 0).focus()
    seen = []
    for _ in range(10):
        seen.append(stages.active)
        marked = stages.page.locator(".formula [aria-pressed='true']")
        assert marked.count() >= 1
        assert len(stages.page.locator(".stage-text p").all_inner_texts()) >= 1
        assert stages.page.locator(f".step[data-stop='{stages.active}'] td.pointed").count() == 1
        expect(stages.page.locator(".step.active")).to_be_in_viewport()
        stages.page.keyboard.press("]")
    assert seen == ["x", "q", "k", "v", "scores", "scaled", "allowed", "weights", "weighted_values", "mixed"]
    expect(stages.button("Next stage")).to_be_disabled()
    stages.button("Next stage").focus()
    stages.page.keyboard.press("Enter")
    expect(stages.button("Next stage")).to_be_focused()
    assert stages.active == "mixed"


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_playing_walks_until_somebody_touches(open_stages, motion):
    stages = open_stages(hash="view=stages&stage=x", reduced_motion=motion)
    clock = stages.page.clock
    clock.install()
    stages.page.reload()
    stages.page.wait_for_selector("[data-ready='true']")
    clock.run_for(9000)
    assert stages.active == "x"  # it does not begin by itself
    stages.page.keyboard.press("Space")
    clock.run_for(4100)
    assert stages.active == "q"
    clock.run_for(4100)
    assert stages.active == "k"
    stages.cell("x", 0, 0).click()
    stopped = stages.active
    clock.run_for(9000)
    assert stages.active == stopped
    stages.page.keyboard.press("Space")
    clock.run_for(4100)
    assert stages.active != stopped
    stages.page.keyboard.press("ArrowRight")
    clock.run_for(9000)
    assert stages.active == stopped  # the arrow went on in the table that was clicked
    smooth = stages.page.evaluate("matchMedia('(prefers-reduced-motion: no-preference)').matches")
    duration = stages.page.evaluate("getComputedStyle(document.querySelector('.step')).transitionDuration")
    assert (duration != "0s") == smooth == (motion == "no-preference")


# other records ------------------------------------------------------------------------------------


def test_layers_and_what_a_later_layer_reads(open_stages):
    stages = open_stages("it-tired")
    stages.page.get_by_label("Layer").select_option("1")
    expect(stages.page.locator(".road .note").first).to_contain_text(
        "The x of this layer is the output of the layer before"
    )
    trace = MADE["it-tired"]()[1]
    assert stages.table("weights") == shown(trace.weights[0])
    stages.cell("x", 7, 5).focus()
    assert "0.885 (output of the layer before) + 0 (x, residual) = 0.885" in stages.arithmetic
    stages.page.locator(".digit").first.click()
    expect(stages.page.get_by_label("Layer")).to_have_value("0")


def test_a_long_record_shows_a_part_that_adds_up(open_stages):
    stages = open_stages("long", "view=stages&query=150")
    rows = stages.table("weights")
    assert len(rows) == len(rows[0]) == 12
    rest = stages.page.locator("table[data-stage='weights'] td.rest").all_inner_texts()
    for row, others in zip(rows, rest, strict=True):
        assert sum(map(float, row)) + float(others) == pytest.approx(1, abs=0.008)
    notes = " ".join(stages.page.locator(".road > .note").all_inner_texts())
    assert [said for said in ("12 of 200 tokens", "first 8 of 64 dimensions", "not edited") if said not in notes] == []
    stages.cell("scores", 11, 0).focus()
    assert re.search(r"\(… the other 56 sum to -?[\d.]+\) = -?[\d.]+", stages.arithmetic)
    stages.page.keyboard.type("5")
    assert stages.page.locator("td input").count() == 0


def test_a_record_of_q_k_and_v_alone(open_stages):
    stages = open_stages("crossed", "view=stages&query=0")
    assert stages.page.locator("table[data-stage='x']").count() == 0
    assert stages.table("weights") == shown(MADE["crossed"]().weights[0])
    expect(stages.page.locator("[data-stop='weights'] .note")).to_contain_text("asks may read nothing")
    stages.cell("q", 0, 0).focus()
    assert "given by the example" in stages.arithmetic


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    rng = np.random.default_rng(4)
    x, w = rng.normal(size=(len(HOSTILE), 2)), np.eye(2)
    trace = jumok.attend(x=x, w_q=w, w_k=w, w_v=w, tokens=HOSTILE)
    return write(tmp_path_factory.mktemp("hostile") / "hostile.html", trace)


CUT = """() => {
  const aside = document.querySelector(".aside");
  const right = aside.getBoundingClientRect().right;
  return [...aside.querySelectorAll("p, h2, strong, .digit")]
    .filter((one) => one.getBoundingClientRect().right > right).map((one) => one.textContent);
}"""


def test_hostile_tokens_stay_text(page_of, hostile):
    stages = Stages(page_of(hostile, "view=stages"))
    for width in (360, 1280):
        stages.page.set_viewport_size({"width": width, "height": 900})
        stages.cell("weights", 3, 5).focus()
        assert stages.page.evaluate(CUT) == []
    stages.page.locator("details.whole > summary").click()
    stages.page.locator("details.whole h3").first.wait_for()  # the browser tells of the opening later
    assert stages.page.locator("main img").count() == 0
    assert stages.names("weights", "row")[0] == HOSTILE[0]
    assert "\\u202e" in stages.names("weights", "row")[1]
    menu(stages, 6, -1, "Add after", HOSTILE[0])
    assert stages.page.locator("main img").count() == 0
    assert stages.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


# everyone -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 1440), ("light", 390)])
def test_axe_finds_nothing_serious(open_stages, theme, width):
    stages = open_stages(hash=f"view=stages&theme={theme}", viewport={"width": width, "height": 900})
    stages.cell("q", 2, 2).focus()
    stages.type("x", 0, 0, "abc")
    stages.page.evaluate(AXE.read_text(encoding="utf-8"))
    found = stages.page.evaluate("axe.run(document).then(({ violations }) => violations)")
    serious = [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")]
    assert serious == []


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_on_a_phone_the_explanation_leaves_room_and_can_be_folded(open_stages, lang):
    stages = open_stages(hash=f"view=stages&lang={lang}", viewport={"width": 390, "height": 844})
    page = stages.page
    aside, told = page.locator(".aside"), page.locator("#aside-told")
    fold = page.get_by_role("button", name={"en": "Explanation", "ko": "설명"}[lang], exact=True)
    stages.cell("weights", 2, 3).click()
    assert aside.bounding_box()["height"] <= 0.4 * 844
    assert told.evaluate("(one) => one.scrollHeight > one.clientHeight && getComputedStyle(one).overflowY === 'auto'")
    told.focus()
    page.keyboard.press("End")
    page.wait_for_function("() => document.querySelector('#aside-told').scrollTop > 0")
    expect(fold).to_be_in_viewport(ratio=1)
    expect(fold).to_have_attribute("aria-expanded", "true")
    fold.focus()
    page.keyboard.press("Enter")
    expect(fold).to_have_attribute("aria-expanded", "false")
    expect(told).to_be_hidden()
    expect(fold).to_be_focused()
    assert aside.bounding_box()["height"] < 60
    stages.cell("scaled", 2, 3).focus()
    expect(aside.locator("[aria-live]")).to_contain_text("6.628 ÷ √4 = 3.314")  # ears are told as before
    page.set_viewport_size({"width": 1280, "height": 900})
    expect(fold).to_be_hidden()
    expect(told.locator(".arithmetic")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    fold.click()
    expect(told).to_be_visible()


def test_a_folded_explanation_is_on_paper(open_stages):
    stages = open_stages(hash="view=stages", viewport={"width": 390, "height": 844})
    stages.page.get_by_role("button", name="Explanation", exact=True).click()
    stages.page.emulate_media(media="print")
    expect(stages.page.locator(".arithmetic")).to_be_visible()
    expect(stages.page.locator(".fold")).to_be_hidden()


@pytest.mark.parametrize("text", ["1e308", "1e999", "-1e999"])
def test_a_number_that_is_too_large_is_told_the_limit(open_stages, text):
    stages = open_stages()
    stages.type("x", 0, 0, text)
    expect(stages.page.locator(".beside.wrong")).to_contain_text("This number is too large: at most 1.00e+100.")


@pytest.mark.parametrize("name", ["student", "it-tired"])
def test_no_page_scrolls_sideways(open_stages, name):
    stages = open_stages(name)
    for width in (360, 768, 1280, 1800):
        stages.page.set_viewport_size({"width": width, "height": 800})
        assert stages.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
        box = stages.cell("weights", 0, 0).bounding_box()
        assert min(box["width"], box["height"]) >= 24


def test_the_arrow_leads_from_a_matrix_to_what_it_makes(open_stages):
    stages = open_stages("it-tired")
    for width, sign, isBelow in ((1800, "→", False), (794, "↓", True)):
        stages.page.set_viewport_size({"width": width, "height": 900})
        stages.page.wait_for_function(
            "sign => getComputedStyle(document.querySelector('[data-stop=q] .becomes'), '::before').content.includes(sign)",
            arg=sign,
        )
        matrix, made = (stages.page.locator(f"table[data-stage='{stage}']").bounding_box() for stage in ("w_q", "q"))
        assert (made["y"] >= matrix["y"] + matrix["height"]) == isBelow


def test_paper_is_light_whole_and_without_switches(open_stages):
    stages = open_stages(hash="view=stages&theme=dark")
    stages.page.emulate_media(media="print")
    ground = stages.page.locator(".jumok").evaluate("(page) => getComputedStyle(page).backgroundColor")
    assert ground == "rgb(255, 255, 255)"
    for hidden in (".tools", ".walk", ".adding", ".keys", ".strip [aria-checked='false']"):
        expect(stages.page.locator(hidden).first).to_be_hidden()
    expect(stages.page.locator(".of-query .strip")).to_have_text("studies", use_inner_text=True)
    kept = "(one) => { const { position, breakInside } = getComputedStyle(one); return [position, breakInside]; }"
    assert stages.page.locator(".aside").evaluate(kept)[0] == "static"
    assert stages.page.locator(".step").first.evaluate(kept)[1] == "avoid"
    cell = stages.cell("weights", 2, 3)
    assert cell.evaluate("(cell) => getComputedStyle(cell).printColorAdjust") == "exact"
