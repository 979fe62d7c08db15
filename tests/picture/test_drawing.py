"""Pictures: every kind of everything, odd tokens, golden files, saving, refusals."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

import jumok
from golden import same_as_golden
from jumok import Reading, Trace
from jumok.errors import InputError, OutputError, TooLargeError, UnknownName
from jumok.measurement.comparison import NoiseFloor, compare
from jumok.picture.drawing import Choice, draw
from jumok.picture.heat import WEIGHTS
from jumok.picture.kinds import KINDS
from jumok.picture.theme import THEMES, css, ink_on

SVG = "{http://www.w3.org/2000/svg}"
ODD = [
    "한글",
    "👩\u200d👩\u200d👧",
    "",
    "</script>",
    "شمس",
    "x" * 60,
    "ì",
    "a|b",
    "line\nbreak",
    "\x1b[31m",
    "\u202eabc",
    "&amp;",
    "]]>",
]
LOOKS = [("en", "light"), ("ko", "dark")]


def record(tokens, seed=0, n_heads=1, n_kv_heads=1, **options):
    draw = np.random.default_rng(seed)
    n, m = len(tokens), len(options.get("key_tokens", tokens))
    q, k = 1.5 * draw.normal(size=(n_heads, n, 4)), 1.5 * draw.normal(size=(n_kv_heads, m, 4))
    return Trace(tokens=tokens, q=q, k=k, v=draw.normal(size=(n_kv_heads, m, 4)), **options)


def reading(n_layers, n_heads, n, rule="causal", n_kv_heads=1):
    tokens = [f"t{i}" for i in range(n)]
    layers = (record(tokens, at, n_heads, n_kv_heads, rule=rule) for at in range(n_layers))
    return Reading(tuple(layers))


def student():
    return jumok.attend(jumok.load("student"))


def pair():
    return compare(*(jumok.attend(jumok.load(name)) for name in ("it-tired", "it-soft")))


THINGS = {
    "Trace": student,
    "odd": lambda: record(ODD, rule="causal"),
    "cross": lambda: record(["a", "b"], key_tokens=["x", "y", "z"]),
    "nothing allowed": lambda: record(["a", "b"], rule=jumok.allowed.table([[False, False], [True, True]])),
    "grouped": lambda: record(list("abc"), n_heads=4, n_kv_heads=2),
    "Reading": lambda: jumok.attend(jumok.load("it-tired")),
    "Comparison": pair,
    "unlike": lambda: compare(record(ODD, 1), record(ODD[::-1], 2)),
}


def parsed(picture, **options):
    return ET.fromstring(picture.svg(**options))


def texts(root):
    return ["".join(one.itertext()) for one in root.iter(f"{SVG}text")]


# every kind ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("lang", "theme"), LOOKS)
@pytest.mark.parametrize("name", THINGS)
def test_every_kind_of_everything_is_a_picture(name, lang, theme):
    thing = THINGS[name]()
    for kind in KINDS[type(thing).__name__]:
        if (name, kind) == ("cross", "arcs"):
            continue  # refused, see below
        picture = draw(thing, kind, lang=lang, theme=theme)
        root = parsed(picture)
        assert root.findtext(f"{SVG}title")
        assert root.findtext(f"{SVG}desc")
        width, height = (float(root.get(side)) for side in ("width", "height"))
        assert 300 < width < 3000 or kind == "heads"
        paper = next(root.iter(f"{SVG}rect"))
        assert (paper.get("fill"), float(paper.get("width"))) == (css(THEMES[theme].paper), width)
        assert height > 50


@pytest.mark.parametrize("kind", KINDS["Trace"])
def test_nothing_in_a_picture_runs_or_is_fetched(kind):
    text = draw(record(ODD, rule="causal"), kind).svg()
    root = ET.fromstring(text)
    assert {one.tag.removeprefix(SVG) for one in root.iter()} <= {
        "svg", "title", "desc", "g", "rect", "line", "path", "text", "image",
    }  # fmt: skip
    assert not [name for one in root.iter() for name in one.attrib if name.startswith("on")]
    assert all(one.get("href").startswith("data:image/png;base64,") for one in root.iter(f"{SVG}image"))
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", text)


@pytest.mark.parametrize("kind", ["heat", "arrows", "arcs", "strip"])
def test_every_token_is_there_as_it_can_be_seen(kind):
    seen = texts(parsed(draw(record(ODD), kind)))
    for token in ["한글", "👩\u200d👩\u200d👧", "''", "</script>", "شمس", "\\u001b[31m", "\\u202eabc", "&amp;"]:
        assert any(token in text for text in seen), token
    assert any("x" * 60 in text for text in seen), "the whole of a name that was cut"
    assert any(re.search("x+…", text) for text in seen), "a name of 60 letters would push all else away"


def test_defaults_of_each_thing():
    assert draw(student()).kind == "heat"
    assert draw(reading(2, 2, 4)).kind == "heads"
    assert draw(Reading((student(),))).kind == "heat"
    assert draw(reading(2, 2, 4), layer=0).kind == "heat"
    assert draw(reading(2, 2, 4), query=1).choice.layer == 1
    assert draw(pair()).kind == "difference"
    assert draw(Reading((student(), student())), stage="scores").kind == "heat"
    assert (draw(pair()).choice.layer, draw(pair()).choice.head) == (1, 0)
    assert (draw(pair(), layer=0).choice.layer, draw(pair(), head=0).choice.layer) == (0, 1)


def test_pieces_of_a_character_show_the_character():
    seen = texts(parsed(draw(record(["Ġì", "±", "ħ", "[SEP]"]), "arrows")))
    assert {"␣책 (1/3)", "␣책 (2/3)", "␣책 (3/3)", "[SEP]"} <= set(seen)


# heat maps ----------------------------------------------------------------------------------------


def cells(root):
    """(fill, number) of each cell, row by row: the group of squares, and the numbers after it."""
    squares = next(group for group in root.iter(f"{SVG}g") if group.get("shape-rendering"))
    numbers = [
        one for one in root.iter(f"{SVG}text") if one.get("font-size") == "11" and one.get("text-anchor") == "middle"
    ]
    return [(one.get("fill"), one) for one in squares], numbers


@pytest.mark.parametrize("rule", [None, "causal"])
def test_colours_and_numbers_are_those_of_the_weights(rule):
    trace = record(["가", "나", "다", "라"], 3, rule=rule)
    squares, numbers = cells(parsed(draw(trace, title="", width=None)))
    numbers = numbers[-16:]
    assert len(squares) == 16
    for at, ((fill, _), number) in enumerate(zip(squares, numbers, strict=True)):
        query, key = divmod(at, 4)
        if not trace.allowed[query, key]:
            assert (fill, number.text) == (css(THEMES["light"].hidden), "·")
            continue
        colour = WEIGHTS.colour(float(trace.weights[0, query, key]))
        assert fill == css(colour)
        assert number.get("fill") == css(ink_on(colour))
        assert float(number.text) == pytest.approx(trace.weights[0, query, key], abs=5e-4)


def test_the_scale_is_the_square_root_from_0_to_1():
    assert WEIGHTS.colour(0.0) == (0, 34, 78)
    assert WEIGHTS.colour(1.0) == (254, 232, 56)
    assert WEIGHTS.colour(0.25) == WEIGHTS.colour(WEIGHTS.at(0.5))
    assert [(place, text) for place, text in WEIGHTS.ticks] == [(float(text) ** 0.5, text) for _, text in WEIGHTS.ticks]
    assert "square root" in draw(student()).svg()


@pytest.mark.parametrize(
    "stage", ["x", "w_q", "q", "k", "v", "scores", "scaled", "allowed", "weighted_values", "output"]
)
def test_every_stage_can_be_drawn(stage):
    trace = student()
    root = parsed(draw(trace, stage=stage))
    want = {
        "allowed": "●",
        "weighted_values": "1.65",
        "output": "1.650",
        "scores": "6.628",
        "q": "6.628",
        "w_q": "6.628",
    }
    assert any(want.get(stage, "0") == text for text in texts(root))


def test_one_query_is_one_row():
    root = parsed(draw(student(), query="studies"))
    assert [text for text in texts(root) if re.fullmatch(r"0\.\d\d", text)][:5] == [
        "0.02",
        "0.20",
        "0.05",
        "0.55",
        "0.18",
    ]


def test_heads_are_chosen_one_by_one():
    trace = record(list("abc"), n_heads=4, n_kv_heads=2)
    first, last = (texts(parsed(draw(trace, head=head))) for head in (0, 3))
    assert "head 3" in " ".join(last)
    assert first != last


def test_many_tokens_have_no_numbers_but_names():
    root = parsed(draw(reading(1, 1, 40)[0]))
    squares, _ = cells(root)
    assert len(squares) == 1600
    assert {f"t{i}" for i in range(40)} <= set(texts(root))


def test_a_long_text_is_an_image_that_says_what_it_leaves_out():
    picture = draw(reading(1, 1, 600)[0], lang="en")
    root = parsed(picture)
    assert len(list(root.iter(f"{SVG}image"))) == 1
    said = " ".join(texts(root))
    assert "600 × 600 weights in 256 × 256 pixels" in said
    assert "t0 #0" in said
    assert len(picture.svg()) < 120_000


# other kinds --------------------------------------------------------------------------------------


def test_a_line_is_as_wide_and_as_strong_as_its_weight():
    trace = student()
    root = parsed(draw(trace, "arrows", query="studies"))
    lines = sorted(float(one.get("stroke-width")) for one in root.iter(f"{SVG}line"))
    assert lines == pytest.approx(sorted(0.8 + 5 * trace.weights[0, 2]), abs=0.005)
    everything = list(parsed(draw(trace, "arrows")).iter(f"{SVG}line"))
    assert len(everything) == 25
    assert {"0.02", "0.2", "0.05", "0.55", "0.18"} <= set(texts(root))


def test_weights_that_nobody_could_see_have_no_line():
    trace = record(list("abcdef"), 5)
    strong = int((trace.weights[0] >= 0.005).sum())
    assert strong < 36
    assert len(list(parsed(draw(trace, "arrows")).iter(f"{SVG}line"))) == strong


def test_arcs_are_one_row():
    root = parsed(draw(student(), "arcs"))
    assert len(list(root.iter(f"{SVG}path"))) == 5
    assert "by itself" not in " ".join(texts(root))


def test_the_strip_has_every_stage_in_order():
    headings = [text for text in texts(parsed(draw(student(), "strip"))) if re.match(r"\d+\. ", text)]
    assert headings == [
        "1. X",
        "2. Q = X · W_Q",
        "3. K = X · W_K",
        "4. V = X · W_V",
        "5. q · k",
        "6. q · k ÷ √4",
        "7. softmax",
        "8. output",
    ]
    masked = " ".join(texts(parsed(draw(record(list("abc"), n_heads=2, rule="causal"), "strip"))))
    assert "mask" in masked
    assert "+ M" in masked


def test_a_small_map_for_every_head():
    root = parsed(draw(reading(3, 4, 5)))
    assert len(list(root.iter(f"{SVG}image"))) == 0
    names = texts(root)
    assert {"layer 0", "layer 2", "head 0", "head 3"} <= set(names)
    many = parsed(draw(reading(12, 12, 30)))
    assert len(list(many.iter(f"{SVG}image"))) == 144


def test_the_difference_is_between_matched_tokens():
    found = pair()
    said = texts(parsed(draw(found)))
    assert {"-0.823", "0.823"} <= set(said)
    assert any(text.startswith("A: ") for text in said)
    assert any(text.startswith("B: ") for text in said)
    unlike = texts(parsed(draw(compare(record(["a", "b"], 1), record(["a", "c"], 2), pairs=[(0, 0), (1, 1)]))))
    apart = texts(parsed(draw(compare(record(["a", "שלום"], 1), record(["a", "مرحبا"], 2), pairs=[(0, 0), (1, 1)]))))
    assert "\u2068שלום\u2069 → \u2068مرحبا\u2069" in apart  # as they are said, not the second before the first
    assert "b → c" in unlike


def test_a_comparison_of_nothing_in_common_has_no_difference_to_show():
    said = " ".join(texts(parsed(draw(compare(record(["a"], 1), record(["b"], 2))))))
    assert "B − A, matched" not in said


# golden -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("kind", ["heat", "arrows", "arcs", "strip"])
def test_golden_pictures_of_the_worked_example(kind, lang):
    same_as_golden(f"draw.student.{kind}.{lang}.svg", draw(student(), kind, lang=lang).svg())


def test_golden_picture_of_a_difference():
    found = replace(pair(), noise_floor=NoiseFloor(1e-7, 1e-8, 9))  # which is another one on another processor
    same_as_golden("draw.it-tired.it-soft.ko.svg", draw(found, lang="ko", theme="dark").svg())


def test_golden_picture_of_heads():
    layers = [
        jumok.attend(x=np.eye(4) * (at + 1), w_q=np.eye(4) * 2, w_k=np.eye(4), w_v=np.eye(4), n_heads=4, rule="causal")
        for at in range(3)
    ]
    same_as_golden("draw.heads.en.svg", draw(Reading(tuple(layers))).svg())


# saving -------------------------------------------------------------------------------------------


def test_each_suffix_writes_its_own_kind(tmp_path):
    picture = draw(student(), lang="ko")
    for suffix in (".svg", ".png", ".md", ".csv", ".html"):
        assert picture.save(tmp_path / f"한글 a{suffix}") == tmp_path / f"한글 a{suffix}"
    assert (tmp_path / "한글 a.svg").read_text(encoding="utf-8") == picture.svg()
    assert (tmp_path / "한글 a.png").read_bytes().startswith(b"\x89PNG")
    assert "| studies | 0.020 |" in (tmp_path / "한글 a.md").read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "한글 a.csv").read_text(encoding="utf-8-sig"))))
    assert len(rows) == 25
    page = (tmp_path / "한글 a.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert '"lang": "ko"' in page


def test_a_page_begins_where_the_picture_was(tmp_path):
    draw(reading(2, 3, 4), layer=1, head=2, query="t3", stage="scores", title="한 제목").save(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    model = json.loads(re.search(r'id="jumok-model">(.*?)</script>', page, re.DOTALL)[1])
    assert model["view"] == {"view": "stages", "layer": 1, "head": 2, "query": 3, "stage": "scores", "lang": "en"}
    assert "<title>한 제목</title>" in page
    draw(student(), theme="dark").save(tmp_path / "c.html")
    assert '"theme": "dark"' in (tmp_path / "c.html").read_text(encoding="utf-8")
    draw(pair()).save(tmp_path / "b.html")
    page = (tmp_path / "b.html").read_text(encoding="utf-8")
    model = json.loads(re.search(r'id="jumok-model">(.*?)</script>', page, re.DOTALL)[1])
    assert model["comparison"]["pairs"] == [[i, i] for i in range(9)]
    assert [model["view"][name] for name in ("view", "layer", "head", "query", "key")] == ["compare", 1, 0, 7, 1]
    assert [(head["layer"], round(head["distance"], 3)) for head in model["comparison"]["heads"]] == [
        (1, 0.164),
        (0, 0),
    ]


def page_of(picture, path):
    """What a page opens with."""
    text = picture.save(path).read_text(encoding="utf-8")
    return json.loads(re.search(r'id="jumok-model">(.*?)</script>', text, re.DOTALL)[1])["view"]


@pytest.mark.parametrize(
    ("kind", "short", "long"),
    [
        (None, None, None),
        ("heads", "heads", "heads"),
        ("heat", "stages", "map"),
        ("strip", "stages", "stages"),
        ("arrows", "heads", None),
        ("arcs", "heads", None),
    ],
)
def test_a_page_opens_in_the_view_of_the_kind_that_was_asked_for(tmp_path, kind, short, long):
    assert page_of(draw(student(), kind), tmp_path / "a.html").get("view") == short
    if long or kind is None:
        assert page_of(draw(reading(1, 1, 65)[0], kind), tmp_path / "a.html").get("view") == long


def test_where_nothing_shared_changed_a_comparison_opens_at_a_token_of_both(tmp_path):
    found = compare(record(["a", "b", "c"], 1), record(["d", "b"], 2))
    assert found.pairs == ((1, 1),)
    assert found.heads[0].query is None
    assert page_of(draw(found), tmp_path / "a.html")["query"] == 1


def test_a_page_of_a_comparison_opens_at_the_largest_change_of_what_was_asked_for(tmp_path):
    found = compare(reading(3, 2, 4), Reading(reading(4, 2, 4).layers[1:]))
    for picture in (draw(found), draw(found, "heads")):
        view = page_of(picture, tmp_path / "a.html")
        most = found.heads[0]
        assert [view[name] for name in ("view", "layer", "head", "query", "key")] == [
            "compare", most.layer, most.head, most.query[0], most.key[0],
        ]  # fmt: skip
    last = found.heads[-1]
    view = page_of(draw(found, layer=last.layer, head=last.head), tmp_path / "a.html")
    assert (view["layer"], view["head"], view["query"]) == (last.layer, last.head, last.query[0])


@pytest.mark.parametrize(("lang", "theme"), LOOKS)
@pytest.mark.parametrize("kind", KINDS["Trace"])
@pytest.mark.parametrize("token", ["x" * 500, "가" * 500])
def test_captions_do_not_repeat_a_long_token_in_full(kind, lang, theme, token):
    trace = record([token, "b", "c"], 2)
    drawn = [draw(trace, kind, lang=lang, theme=theme)]
    drawn += [] if kind == "heads" else [draw(trace, kind, query=0, lang=lang, theme=theme)]
    drawn += [draw(trace, stage="weighted_values", query=0, lang=lang)] if kind == "heat" else []
    for picture in drawn:
        root = parsed(picture)
        assert token not in "".join(root.findtext(f"{SVG}{name}") for name in ("title", "desc"))
        assert not [one for one in root.iter(f"{SVG}text") if one.text and token[:100] in one.text]
        assert picture.panel.height < 700


def test_a_large_page_carries_the_values_that_were_asked_for(tmp_path):
    rng = np.random.default_rng(3)
    q, k, v = (rng.normal(size=(2, 1500, 64)) for _ in range(3))
    large = Reading([jumok.attend(q=q, k=k, v=v, rule="causal")] * 2)
    sizes = {}
    for values in (None, [1], "all"):
        draw(large).save(tmp_path / "a.html", values=values)
        sizes[str(values)] = (tmp_path / "a.html").stat().st_size
    carried = 2 * 1500 * 64 * 2 * 4 / 3  # one layer's v as int16 in base64
    assert sizes["[1]"] - sizes["None"] == pytest.approx(carried, rel=0.1)
    assert sizes["all"] - sizes["None"] == pytest.approx(2 * carried, rel=0.1)
    with pytest.raises(TooLargeError, match="size_limit="):
        draw(large).save(tmp_path / "a.html", size_limit=1_000_000)
    for options in ({"values": [0]}, {"size_limit": None}):
        with pytest.raises(InputError, match=r"live page \(\.html\)"):
            draw(large).save(tmp_path / "a.svg", **options)


def test_tables_hold_what_is_drawn_and_no_more():
    trace = record(list("abc"), n_heads=4, n_kv_heads=2)
    rows = list(csv.DictReader(io.StringIO(draw(trace, head=2, query="b").csv())))
    assert [(row["head"], row["query"], float(row["value"])) for row in rows] == [
        ("2", "1", trace.weights[2, 1, key]) for key in range(3)
    ]
    whole = Reading((trace, trace))
    rows = list(csv.DictReader(io.StringIO(draw(whole, layer=1, head=0).csv())))
    assert {(row["layer"], row["head"]) for row in rows} == {("1", "0")}
    rows = list(csv.DictReader(io.StringIO(draw(whole).csv())))
    assert {(row["layer"], row["head"]) for row in rows} == {(str(i), str(j)) for i in range(2) for j in range(4)}
    stages = {row["stage"] for row in csv.DictReader(io.StringIO(draw(trace, "strip").csv()))}
    assert {"q", "weights", "output"} <= stages


def test_tables_of_a_comparison():
    found = pair()
    rows = list(csv.DictReader(io.StringIO(draw(found).csv())))
    assert len(rows) == 81
    for row in rows:
        assert float(row["difference"]) == float(row["b"]) - float(row["a"])
    heads = list(csv.DictReader(io.StringIO(draw(found, "heads").csv())))
    assert [float(row["distance"]) for row in heads] == [head.distance for head in found.heads]
    text = draw(found, lang="ko").markdown()
    assert "| 1 | it | 0.853 |" in text
    assert str(draw(found)) == draw(found).markdown()


def long_record(n, n_heads=2):
    draw = np.random.default_rng(2)
    q, k, v = (draw.normal(size=(n_heads, n, 4)) for _ in range(3))
    return Trace(tokens=[f"t{at}" for at in range(n)], q=q, k=k, v=v, rule="causal")


@pytest.mark.parametrize("kind", ["heat", "strip", "heads"])
@pytest.mark.parametrize(
    ("lang", "note"), [("en", "… shortened; .markdown() has all."), ("ko", "… 줄여서 보여 줍니다.")]
)
def test_what_is_long_is_printed_in_part_and_says_so(kind, lang, note):
    trace = long_record(300)
    text = str(draw(trace, kind, lang=lang))
    assert len(text) < 20_000
    assert text.splitlines()[-1].startswith(note)
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith(("| t", "| 0"))]
    assert rows
    assert max(map(len, rows)) <= 25
    if kind == "heads":
        assert [row[1] for row in rows] == ["0", "1"]
    if kind == "heat":
        assert [row[0] for row in rows] == [f"| t{at}" for at in range(16)]
    short = draw(student(), kind, lang=lang)
    assert str(short) == short.markdown()


def test_printing_takes_little_however_long_the_text_is():
    text = str(draw(long_record(20_000, 1), query=19_999))
    assert len(text) < 2_000
    assert "| t19999 |" in text


def test_a_long_comparison_is_printed_in_part():
    picture = draw(compare(long_record(150), long_record(150)), "heads")
    text = str(picture)
    assert text.splitlines()[-1] == "… shortened; .markdown() has all."
    assert len(text) < len(picture.markdown()) / 5
    assert text.count("\n| 0 | t") == 12


@pytest.mark.parametrize("kind", ["heat", "arrows", "strip", "heads"])
def test_text_beyond_all_reading_is_refused_before_anything_is_computed(monkeypatch, tmp_path, kind):
    picture = replace(draw(student(), kind), thing=long_record(3000))
    monkeypatch.setattr(Trace, "rows", None)
    for write in (
        picture.markdown,
        picture.csv,
        *(lambda end=end: picture.save(tmp_path / f"a.{end}") for end in ("md", "csv")),
    ):
        with pytest.raises(
            InputError, match=r"would write [\d,]+ numbers as text, more than 5,000,000\. Choose"
        ) as caught:
            write()
        assert "trace.save(" in caught.value.text("ko")
        assert "한도 5,000,000개" in caught.value.text("ko")
    assert not list(tmp_path.iterdir())


def test_a_difference_beyond_all_reading_is_refused():
    found = compare(long_record(1300, 1), long_record(1300, 1))
    picture = replace(draw(pair()), thing=found, choice=Choice())
    with pytest.raises(InputError, match=r"would write 5,070,000 numbers as text.*comparison\.distances") as caught:
        picture.csv()
    assert "comparison.distances" in caught.value.text("ko")


def test_a_notebook_gets_the_picture_itself():
    picture = draw(student())
    assert picture._repr_svg_() == picture.svg()
    bundle = picture._repr_mimebundle_()
    assert bundle["image/svg+xml"] == picture.svg()
    assert bundle["text/plain"] == repr(picture)


def test_width_is_in_pixels_and_keeps_the_shape():
    small, natural = parsed(draw(student(), width=200)), parsed(draw(student()))
    assert small.get("width") == "200"
    assert small.get("viewBox") == natural.get("viewBox")
    assert float(small.get("height")) / 200 == pytest.approx(
        float(natural.get("height")) / float(natural.get("width")), rel=1e-3
    )


def test_a_title_of_ones_own():
    assert draw(student(), title="<b> & 제목").svg().count("&lt;b&gt; &amp; 제목") == 2


@pytest.mark.parametrize("title", ["long title " * 300, "가" * 3000])
def test_a_long_title_takes_three_lines_and_is_kept_whole_beside_them(title):
    long, short = draw(student(), title=title), draw(student(), title="one line")
    assert long.panel.height - short.panel.height == pytest.approx(2 * 15 * 1.4, abs=1)
    assert long.svg().count(title.strip()) == 1


# png ----------------------------------------------------------------------------------------------


def size_of(png):
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


def test_a_png_has_scale_times_the_pixels_and_is_the_same_each_time():
    picture = draw(student(), lang="ko")
    width, height = picture.panel.width, picture.panel.height
    assert size_of(picture.png(1)) == (width, height)
    assert size_of(picture.png()) == (2 * width, 2 * height)
    assert size_of(draw(student(), width=100).png(3))[0] == 300
    assert picture.png() == picture.png()


def test_hangul_is_drawn_with_letters_and_not_with_boxes():
    def letters(*tokens):
        return draw(record(list(tokens), 1), "arrows").png(1)

    assert len({letters("가", "나"), letters("다", "라"), letters("마", "바")}) == 3, "boxes would all look alike"


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf"), "2", True, None])
def test_a_scale_that_is_none(scale):
    with pytest.raises(InputError, match="scale expects a number above 0"):
        draw(student()).png(scale)


def test_a_png_beyond_all_measure_is_refused():
    with pytest.raises(TooLargeError, match="million pixels") as caught:
        draw(student()).png(100)
    assert "백만 픽셀" in caught.value.text("ko")


# refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"kind": "pie"}, UnknownName, r"unknown kind 'pie'.*'heat'"),
        ({"kind": 3}, UnknownName, "unknown kind 3"),
        ({"kind": "difference"}, InputError, r'kind="difference" needs a comparison.*jumok\.compare\(a, b\)'),
        ({"stage": "wheights"}, UnknownName, "Did you mean 'weights'"),
        ({"theme": "blue"}, UnknownName, "unknown theme"),
        ({"lang": "fr"}, UnknownName, "unknown language"),
        ({"query": "nowhere"}, UnknownName, "unknown token"),
        ({"query": 99}, InputError, "token expects a position from 0 to 4"),
        ({"head": 1}, InputError, "head expects a position from 0 to 0"),
        ({"layer": 1}, InputError, "layer expects a position from 0 to 0"),
        ({"width": 0}, InputError, "width expects"),
        ({"width": "wide"}, InputError, "width expects"),
        ({"title": 3}, InputError, "title expects a text"),
        ({"kind": "arrows", "stage": "q"}, InputError, 'stage has no meaning for kind="arrows"'),
        ({"kind": "heads", "head": 0}, InputError, 'head has no meaning for kind="heads"'),
        ({"kind": "strip", "ax": object()}, InputError, "ax= takes the heat map only"),
    ],
)
def test_what_is_refused(options, error, told):
    with pytest.raises(error, match=told) as caught:
        draw(student(), **options)
    assert any("가" <= letter <= "힣" for letter in caught.value.text("ko"))


@pytest.mark.parametrize("thing", [None, "student", [1]])
def test_what_is_no_record_is_refused(thing):
    with pytest.raises(
        InputError, match=r"draw expects a Trace, a Reading .* or an Example, got .*jumok\.load\(\"student\"\)"
    ):
        draw(thing)


def test_a_reading_without_layers_says_why():
    with pytest.raises(InputError, match="this reading holds no layer: no attention was read") as caught:
        draw(Reading(()))
    assert "층이 없습니다" in caught.value.ko


def test_what_a_record_does_not_hold_is_refused():
    with pytest.raises(InputError, match="does not hold x"):
        draw(record(["a"]), stage="x")
    with pytest.raises(InputError, match="cross-attention"):
        draw(record(["a"], key_tokens=["b"]), "arcs")
    with pytest.raises(InputError, match='query has no meaning for kind="difference"'):
        draw(pair(), query=0)


@pytest.mark.parametrize(("kind", "told"), [("arrows", "kind=.heat"), ("arcs", "kind=.heat")])
def test_lines_between_too_many_tokens_are_refused(kind, told):
    with pytest.raises(InputError, match=told):
        draw(reading(1, 1, 65)[0], kind)


def test_numbers_of_too_many_tokens_are_refused_but_a_row_is_not():
    long = reading(1, 1, 100)[0]
    with pytest.raises(InputError, match=r"query="):
        draw(long, stage="scores")
    assert "Left out: 0 rows, 36 columns" in draw(long, stage="scores", query=3).svg()
    with pytest.raises(InputError, match='kind="heads"'):
        draw(compare(long, long))


@pytest.mark.parametrize("name", ["a.pdf", "a", "a.jpg"])
def test_another_suffix_is_refused(tmp_path, name):
    with pytest.raises(InputError, match=r"\.svg, \.png, \.md, \.csv, \.html"):
        draw(student()).save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(OutputError, match="cannot write"):
        draw(student()).save(tmp_path / "nowhere" / "a.svg")
