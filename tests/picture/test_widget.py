"""The widget on the Python side: what it sends, what it answers, what it reads; and that the program suits every host."""

import json
import re
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest
import torch

import jumok
from cuttable import encoder
from jumok.errors import InputError, UnknownName
from jumok.picture.cuts import carried
from jumok.picture.folding import EXTENSION
from jumok.picture.packed import pack
from jumok.picture.page import BUNDLE
from jumok.picture.widget import Widget, widget
from jumok.trace import Reading, Source, Trace


def student():
    return jumok.attend(jumok.load("student"))


def large(layers=2):
    q = np.random.default_rng(0).standard_normal((4, 600, 128)).astype(np.float32)
    tokens = [f"t{at}" for at in range(600)]
    return Reading(tuple(Trace(tokens=tokens, q=q, k=q, v=q, rule="causal") for _ in range(layers)))


@pytest.fixture
def sent(monkeypatch):
    """What a widget sends to its page."""
    found = []
    monkeypatch.setattr(Widget, "send", lambda self, content, buffers=None: found.append((content, buffers)))
    return found


# what is chosen -----------------------------------------------------------------------------------


def test_what_the_page_chooses_is_read():
    shown = widget(student(), lang="en")
    assert (shown.query, shown.key, shown.layer, shown.head, shown.stage, shown.lang) == (2, 3, 0, 0, "weights", "en")
    shown.set_state({"view": {"query": 1, "key": 4, "stage": "scores", "lang": "ko", "theme": "dark"}})
    assert (shown.query, shown.key, shown.stage, shown.lang) == (1, 4, "scores", "ko")
    assert shown.trace.tokens[shown.query].text == "student"


def test_what_python_sets_the_page_is_told_and_the_rest_stays():
    shown = widget(student(), view={"theme": "dark"}, lang="en")
    told = []
    shown.observe(lambda change: told.append(change["new"]), "view")
    shown.query = "carefully"
    shown.key = 1
    shown.stage = "mixed"
    shown.lang = "ko"
    assert len(told) == 4
    chosen = {"document": 0, "layer": 0, "head": 0, "query": 4, "key": 1, "stage": "mixed", "lang": "ko"}
    assert shown.view == {"theme": "dark", **chosen}


def test_layers_heads_and_documents():
    first, second = large(), large(3)
    shown = widget([first, second])
    shown.layer, shown.head = 1, 3
    assert shown.trace is first[1]
    shown.document = 1
    shown.layer = 2
    assert shown.trace is second[2]
    shown.document = 0
    assert shown.trace is first[1], "a layer beyond the last is the last"


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("query", "nobody", UnknownName),
        ("query", 5, InputError),
        ("key", "nobody", UnknownName),
        ("layer", 1, InputError),
        ("head", 1, InputError),
        ("document", 1, InputError),
        ("stage", "softmax", UnknownName),
        ("lang", "fr", UnknownName),
    ],
)
def test_what_is_not_there_is_refused_and_nothing_changes(name, value, kind):
    shown = widget(student())
    before = dict(shown.view)
    with pytest.raises(kind):
        setattr(shown, name, value)
    assert shown.view == before


VIEWS = {
    "query": [99, -1, True, 1.5, None, "nobody"],
    "key": [5, "the", []],
    "layer": ["x", 1],
    "head": [1, None],
    "document": [1, "first"],
    "stage": ["zz", 5, ["x"], None],
    "lang": [5, "fr", None],
    "view": ["compare", "graph", 0],
    "theme": ["blue", None],
    "window": [5, {"row": 0}, {"row": 0, "rows": 0, "column": 0, "columns": 1}, dict.fromkeys(("row", "rows"), "1")],
    "quary": [1],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in VIEWS.items() for value in values])
def test_of_a_whole_view_too_what_is_not_there_is_refused_and_from_the_page_it_is_ignored(name, value):
    shown = widget(student(), lang="en")
    before = dict(shown.view)
    for choose in (
        lambda: setattr(shown, "view", {"key": 1, name: value}),
        lambda: widget(student(), view={name: value}),
    ):
        with pytest.raises(InputError) as caught:
            choose()
        assert re.search("[가-힣]", caught.value.text("ko"))
    assert shown.view == before
    shown.set_state({"view": {name: value, "theme": "light"} if name != "theme" else {name: value}})
    assert shown.view == before | ({} if name == "theme" else {"theme": "light"})
    assert (shown.document, shown.layer, shown.head, shown.query, shown.key) == (0, 0, 0, 2, 3)
    assert (shown.stage, shown.lang) == ("weights", "en")


@pytest.mark.parametrize("value", [None, 5, "query", [1]])
def test_a_view_that_is_no_dict_is_refused_and_from_the_page_it_is_ignored(value):
    shown = widget(student())
    before = dict(shown.view)
    with pytest.raises(InputError, match="view expects a dict"):
        shown.view = value
    shown.set_state({"view": value})
    assert shown.view == before


def test_a_view_in_part_leaves_the_rest_and_takes_texts():
    shown = widget(student(), view={"window": None, "stage": "scores"})
    shown.view = {"query": "student", "theme": "dark"}
    assert (shown.query, shown.key, shown.stage, shown.view["theme"]) == (1, 3, "scores", "dark")
    with shown.hold_trait_notifications():
        shown.view = {"key": 0}
        with pytest.raises(InputError):
            shown.view = {"key": 9}
    assert (shown.query, shown.key) == (1, 0)
    shown.view["query"] = 99  # in the dictionary itself, which nobody sees
    assert shown.query == 1


def test_what_is_beyond_the_end_of_another_layer_or_record_becomes_the_last():
    short, long = (Trace(tokens=list("abcdefgh")[:n], q=one, k=one, v=one)
                   for n in (2, 6) for one in [np.ones((n, n, 3))])  # fmt: skip
    shown = widget([Reading((long, short)), short], view={"query": 5, "key": 4, "head": 5})
    shown.layer = 1
    assert (shown.head, shown.query, shown.key) == (1, 1, 1)
    shown.document = 1
    assert (shown.document, shown.layer) == (1, 0)


# where it opens -----------------------------------------------------------------------------------


def test_it_opens_at_the_examples_own_token_and_at_what_that_reads_most():
    assert (widget(student()).query, widget(student()).key) == (2, 3)
    assert widget(student(), view={"query": 0}).key == int(student().weights[0, 0].argmax())
    plain = Trace(tokens=student().tokens, q=student().q, k=student().k, v=student().v)
    shown = widget(plain)
    assert (shown.query, shown.key) == (4, int(plain.weights[0, 4].argmax())), "without a focus the last"


@pytest.mark.parametrize(("focus", "query"), [(0, 0), (99, 2)])
def test_the_focus_of_a_whole_reading_counts_too(focus, query):
    one = np.eye(3)[None]
    trace = Trace(tokens=list("abc"), q=one, k=one, v=one)
    shown = widget(Reading((trace,), source=Source(details={"focus": focus})))
    assert (shown.query, shown.key) == (query, query)


def test_a_large_reading_opens_where_the_chosen_layer_and_head_read_most():
    reading = large(3)
    shown = widget(reading, view={"layer": 2, "head": 3, "query": 100})
    assert shown.key == int(reading[2].rows("weights", heads=[3], queries=[100])[0, 0].argmax())


def test_a_comparison_opens_at_its_largest_change():
    found = jumok.compare(jumok.load("it-tired"), jumok.load("it-soft"))
    shown = jumok.widget(found)
    assert (shown.layer, shown.head, shown.query, shown.key) == (1, 0, 7, 1)
    layers = [Trace(tokens=list("abc"), q=q, k=q, v=q) for q in np.random.default_rng(1).normal(size=(4, 2, 3, 3))]
    found = jumok.compare(Reading(tuple(layers[:2])), Reading(tuple(layers[2:])), pairs=[(0, 1), (1, 2), (2, 0)])
    for layer in (0, 1):
        most = next(one for one in found.heads if one.layer == layer)
        shown = jumok.widget(found, view={"layer": layer, "document": 1})
        assert (shown.layer, shown.head, shown.query, shown.key) == (layer, most.head, most.query[1], most.key[1])
    same = jumok.widget(jumok.compare(student(), student()))
    assert (same.layer, same.query, same.key) == (0, 2, 3), "where nothing changed, as one record"


WRONG = [None, 1, "student", [1], [], np.eye(3), jumok, [student(), None], [student()] * 3, student]


@pytest.mark.parametrize("thing", WRONG, ids=lambda thing: type(thing).__name__)
def test_what_is_no_record_is_refused_with_what_to_try(thing):
    with pytest.raises(InputError) as caught:
        jumok.widget(thing)
    told = f"widget expects a Trace, a Reading with layers, a Comparison or an Example, got {type(thing).__name__}."
    assert str(caught.value) == f'{told} Try jumok.widget(jumok.load("student")).'
    assert re.search("[가-힣]", caught.value.text("ko"))


def test_a_reading_without_layers_says_why():
    with pytest.raises(InputError, match="this reading holds no layer: no attention was read"):
        jumok.widget(Reading(()))


def test_the_language_is_that_of_the_machine(monkeypatch):
    monkeypatch.setenv("JUMOK_LANG", "ko")
    assert widget(student()).lang == "ko"
    with pytest.raises(UnknownName):
        widget(student(), lang="fr")


# what travels -------------------------------------------------------------------------------------


def test_a_small_record_travels_whole_so_that_a_saved_notebook_has_it():
    made = pack(student())
    [document] = widget(student()).get_state()["documents"]
    assert document == {"header": made.header, "bytes": made.layers[0]}


def test_of_a_large_record_only_what_is_asked_for_travels(sent):
    reading = large()
    shown = widget(reading)
    state = shown.get_state()
    assert [document["bytes"] for document in state["documents"]] == [None]
    assert len(json.dumps(state)) < 1_000_000
    shown._handle_custom_msg({"want": {"document": 0, "layer": 1}}, [])
    assert sent == [({"document": 0, "layer": 1}, [pack(reading).layers[1]])]


@pytest.mark.parametrize("content", ["want", {}, {"want": 3}, {"want": None}, [1]])
def test_messages_that_ask_for_nothing_are_let_pass(sent, content):
    widget(student())._handle_custom_msg(content, [])
    assert sent == []


@pytest.mark.parametrize("want", [{"document": 1, "layer": 0}, {"document": 0, "layer": -1}, {"document": 0}])
def test_layers_that_are_not_there_are_not_sent(sent, want):
    with pytest.raises(InputError):
        widget(student())._answer(None, {"want": want}, [])
    assert sent == []


def test_all_of_the_state_is_plain_json_and_bytes():
    shown = jumok.widget(jumok.compare(jumok.load("bank-river"), jumok.load("bank-money")))
    state = shown.get_state()
    assert len(state["documents"]) == 2
    pairs = state["comparison"]["pairs"]
    assert all(type(at) is int for pair in pairs for at in pair)
    for document in state["documents"]:
        assert type(document.pop("bytes")) is bytes
    names = {"documents", "comparison", "view", "_esm"}
    json.dumps({name: state[name] for name in names}, allow_nan=False)


def test_two_widgets_share_nothing():
    first, second = widget(student()), widget(student())
    first.query = 4
    assert second.query == 2
    assert first.model_id != second.model_id


# where no program runs ----------------------------------------------------------------------------


def test_a_small_record_has_a_still_picture_of_its_numbers():
    data, _ = widget(student(), lang="ko")._repr_mimebundle_()
    assert set(data) == {"application/vnd.jupyter.widget-view+json", "image/svg+xml", "text/plain"}
    assert data["image/svg+xml"].startswith("<svg")
    assert 'lang="ko"' in data["image/svg+xml"]
    assert data["text/plain"].startswith("Widget(Trace(5 tokens")


def test_a_large_record_has_the_thumbnails_of_its_heads():
    data, _ = widget(large(), lang="en")._repr_mimebundle_()
    assert set(data) == {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    assert data["text/html"].startswith(
        '<img alt="attention weights of all heads" width="256" src="data:image/png;base64,'
    )
    assert data["text/plain"] == "Widget(2 layers)"


# what Python solves for the page -------------------------------------------------------------------


def asked(shown, **question):
    """The question of a page, with what is left out of it usual."""
    shown._answer(shown, {"kind": "design", "number": 3, "example": jumok.load("student").to_yaml(), **question}, None)


def test_a_design_is_solved_as_jumok_design_does_it_and_travels_as_json(sent):
    shown = jumok.widget(jumok.load("student"))
    assert shown.solver is True
    asked(shown)
    ((answer, buffers),) = sent
    found = jumok.design(jumok.load("student"))
    assert (answer["kind"], answer["number"], buffers) == ("design", 3, None)
    assert json.loads(json.dumps(answer, allow_nan=False)) == answer
    np.testing.assert_array_equal(answer["w_q"], found.w_q)
    np.testing.assert_array_equal(answer["w_k"], np.eye(4))
    assert answer["report"] == found.to_json()
    assert answer["report"]["exact"] is True


def test_w_k_stays_as_it_stands_where_that_is_asked(sent):
    text = jumok.load("student").to_yaml().replace("w_k: identity", "w_k: {diagonal: {Person: 2}, otherwise: 1}")
    shown = jumok.widget(jumok.load("student"))
    asked(shown, example=text, fixed="w_k")
    asked(shown, example=text, fixed=None)
    kept, free = (answer for answer, _ in sent)
    np.testing.assert_array_equal(kept["w_k"], np.diag([2, 1, 1, 1]))
    assert kept["report"]["fixed"] == "w_k"
    assert kept["w_q"][1][0] == pytest.approx(2 * np.log(10) / 2)
    np.testing.assert_array_equal(free["w_k"], np.eye(4))


@pytest.mark.parametrize(
    ("question", "en", "ko"),
    [
        ({"example": "tokens: ["}, "line 1", "1행"),
        (
            {"example": "tokens: [{a: [1]}]\nweights: {w_q: identity, w_k: identity}"},
            "nothing is wanted",
            "바라는 것이 없습니다",
        ),
        ({"example": 5}, "was not given an example file", "예제 파일이 오지 않았습니다"),
        ({"example": None}, "was not given an example file", "예제 파일이 오지 않았습니다"),
    ],
)
def test_what_cannot_be_solved_is_said_in_both_languages(sent, question, en, ko):
    asked(jumok.widget(student()), **question)
    ((answer, _),) = sent
    assert set(answer) == {"kind", "number", "error"}
    assert en in answer["error"]["en"]
    assert ko in answer["error"]["ko"]


def test_a_solver_that_fails_leaves_nobody_waiting(sent):
    def failing(example, fixed):
        raise ZeroDivisionError("by nothing")

    asked(widget(student(), solver=failing))
    assert sent[0][0]["error"] == dict.fromkeys(("en", "ko"), "ZeroDivisionError: by nothing")


def test_without_a_solver_the_page_knows_it_and_a_question_is_refused(sent):
    shown = widget(student())
    assert shown.solver is False
    asked(shown)
    assert "no solver" in sent[0][0]["error"]["en"]


def test_a_solver_is_given_the_file_and_what_stays(sent):
    given = []

    def solver(example, fixed):
        given.append((example, fixed))
        return {"w_q": [[1.0]], "w_k": [[2.0]], "report": {}}

    shown = widget(student(), solver=solver)
    asked(shown, example="a", fixed="w_k")
    asked(shown, example="b", number=None)
    assert given == [("a", "w_k"), ("b", None)]
    assert sent[0][0] == {"kind": "design", "number": 3, "w_q": [[1.0]], "w_k": [[2.0]], "report": {}}


# every host ---------------------------------------------------------------------------------------


def program():
    """The module that hosts load, and the program that it unpacks."""
    module = BUNDLE.read_text(encoding="utf-8")
    letters, text = re.findall(r'const (?:letters|text) = "([^"]*)";', module)
    words = []
    for at in range(0, len(text), 5):
        word = 0
        for letter in text[at : at + 5]:
            word = 85 * word + letters.index(letter)
        words.append(word)
    unpacker = zlib.decompressobj(wbits=-15)
    return module, unpacker.decompress(struct.pack(f">{len(words)}I", *words)).decode("utf-8")


def test_the_program_is_one_module_that_needs_nothing_else():
    """VS Code, Colab and marimo load the text of the module from memory: no address is near it, no network is sure."""
    module, inside = program()
    for text in (module, inside):
        assert not re.search(r"""(^|[;}\n])(import\s*["']|(import|export)\b[^;"'(]*\bfrom\s*["'])""", text)
        assert not re.search(r"\brequire\(", text)
        assert not re.search(r"\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts", text)
        addresses = set(re.findall(r"""https?://[^\s"'`)\\]+""", text))
        assert {address for address in addresses if not address.startswith("http://www.w3.org/")} == set()
    assert re.findall(r"import\(([^)]*)\)", module) == ["address"], "its own unpacked program, from memory"
    assert re.findall(r"(\w+)=URL\.createObjectURL\(.{0,200}?import\(\1\)", inside), "a second program, from memory too"
    assert inside.count("import(") == 1


def test_the_program_gives_render_in_the_way_that_anywidget_asks_for():
    module, inside = program()
    assert re.search(r"export default \{ render \}", module)
    assert re.search(r"export\s*\{[^}]*\brender\b[^}]*\}", inside)


def test_a_notebook_keeps_one_copy_a_widget_so_it_is_small():
    assert BUNDLE.stat().st_size <= 150_000


def test_without_anywidget_the_extra_is_named():
    code = (
        "import sys\nsys.modules['anywidget'] = None\nimport jumok\n"
        "try: jumok.widget(jumok.load('student'))\n"
        "except jumok.errors.MissingExtra as error: print(error.extra, error, error.text('ko'), sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    extra, en, ko = done.stdout.splitlines()
    assert extra == "notebook"
    assert "pip install 'jumok[notebook]'" in en
    assert "pip install 'jumok[notebook]'" in ko


# what the model does without a weight ---------------------------------------------------------------


@pytest.fixture(scope="module")
def reading():
    return encoder()


def cut(shown, **place):
    shown._answer(shown, {"kind": "cut", "number": 4, "layer": 1, "head": 2, "query": 3, "key": 2, **place}, None)


def test_a_cut_is_made_where_the_page_asks_and_kept(sent, reading):
    shown = jumok.widget(reading, cuts=reading.cut(0, 1))
    assert shown.cutter is True
    cut(shown)
    cut(shown)
    cut(shown, renormalise=True)
    answers = [answer for answer, _ in sent]
    assert [(one["kind"], one["number"], one["cut"]["way"]) for one in answers] == [
        ("cut", 4, "zero"), ("cut", 4, "zero"), ("cut", 4, "renormalised"),
    ]  # fmt: skip
    [made] = carried(reading.cut(1, 2, 3, 2), reading)
    assert answers[1]["cut"] == made
    assert shown.cuts == [*carried(reading.cut(0, 1), reading), made, answers[2]["cut"]]


@pytest.mark.parametrize(
    ("place", "en", "ko"),
    [({"layer": 9}, "layer expects a position", "층"), ({"key": None, "query": "x"}, "token", "토큰")],
)
def test_a_cut_that_cannot_be_made_is_told(sent, reading, place, en, ko):
    shown = jumok.widget(reading)
    cut(shown, **place)
    [(answer, _)] = sent
    assert en in answer["error"]["en"]
    assert ko in answer["error"]["ko"]
    assert shown.cuts == []


def test_whatever_goes_wrong_in_the_model_is_told(sent, reading):
    def breaking(*_):
        raise RuntimeError("out of memory")

    cut(widget(reading, cutter=breaking))
    [(answer, _)] = sent
    assert answer["error"] == dict.fromkeys(("en", "ko"), "RuntimeError: out of memory")


@pytest.mark.parametrize("record", ["saved", "block", "student"])
def test_where_nothing_can_be_run_again_there_is_no_button(sent, reading, record):
    if record == "block":
        with jumok.capture() as record:
            torch.nn.functional.scaled_dot_product_attention(*torch.randn(3, 1, 1, 4, 8))
    elif record == "saved":
        record = Reading(reading.layers)
    shown = jumok.widget(student() if record == "student" else record)
    assert shown.cutter is False
    cut(shown)
    assert "no model behind it" in sent[0][0]["error"]["en"]


# flash attention, tile by tile ---------------------------------------------------------------------


def test_a_widget_of_flash_carries_its_panel_and_where_it_stands():
    shown = widget(student(), variant="flash", tile=2, lang="en")
    assert shown.extension == EXTENSION.read_text(encoding="utf-8")
    assert (shown.tile, shown.fold, shown.query) == (2, 0, 2)
    shown.set_state({"view": {"fold": 1, "query": 4}})
    assert (shown.fold, shown.query) == (1, 4)
    shown.tile = 3
    assert shown.view["tile"] == 3
    with pytest.raises(InputError, match="a whole number"):
        shown.fold = -1


def test_a_widget_without_a_variant_has_no_second_program():
    assert not hasattr(widget(student()), "extension")
    with pytest.raises(InputError, match="variant="):
        widget([student(), student()], variant="flash")
    with pytest.raises(UnknownName):
        widget(student(), variant="linear")
    with pytest.raises(InputError, match="Leave it out"):
        widget(student(), tile=2)
