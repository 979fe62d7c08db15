"""What the page carries: any reader of .safetensors takes it, and what is said of each head is what comes out."""

import base64
import dataclasses
import json
import math
import tracemalloc

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load

import jumok
import reference
from jumok.errors import InputError, SavedFileError, UnknownName
from jumok.path.allowed import causal, document, everything, padding, table, window
from jumok.path.positions import alibi, relative
from jumok.picture import packed, streamed
from jumok.picture.packed import pack
from jumok.picture.streamed import summary
from jumok.trace import Reading, Rule, Source, Trace

NUMBERS = np.random.default_rng(3)


def record(n=9, heads=4, kv_heads=2, d=6, rule=None, m=None, dtype=np.float32, size=2.0, **more):
    m = n if m is None else m
    return Trace(
        tokens=[f"t{at}" for at in range(n)],
        key_tokens=None if m == n else [f"k{at}" for at in range(m)],
        q=(NUMBERS.standard_normal((heads, n, d)) * size).astype(dtype),
        k=(NUMBERS.standard_normal((kv_heads, m, d)) * size).astype(dtype),
        v=NUMBERS.standard_normal((kv_heads, m, 3)).astype(dtype),
        rule=rule,
        **more,
    )


def file_of(made):
    return b"".join(made.file())


def page_of(made):
    return json.loads(json.loads(made.header)["__metadata__"]["page"])


RULES = {
    "everything": everything(),
    "causal": "causal",
    "window": causal() & window(3),
    "ahead": window(1, 2),
    "padding": padding([True] * 25 + [False] * 15),
    "documents": document([0] * 15 + [1] * 25),
    "nothing for some": table(np.tri(40, 40, -1, bool) & (np.arange(40) % 7 > 0)),
    "nothing at all": table(np.zeros((40, 40), bool)),
    "soft cap, bias and sink": Rule(0.5, causal(), 4.0, alibi([0.1, 0.2, 0.3, 0.4]), [0.0, 1.0, -2.0, 3.0]),
    "one bias for all": Rule(None, None, None, relative([[0.5, 0.0, -0.5]])),
}


# the file -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("storage", ["exact", "int16"])
def test_the_stock_library_reads_the_file(storage):
    reading = Reading((record(rule="causal"), record(11, m=5, dtype=np.float64)), Source("model"))
    made = pack(reading, values="all", storage=storage)
    arrays = load(file_of(made))
    for at, trace in enumerate(reading):
        for name in "qkv":
            array = arrays[f"layers.{at}.{name}"]
            if storage == "int16":
                assert array.dtype == np.int16
                array = array * arrays[f"layers.{at}.{name}.scale"][..., None]
                most = np.abs(getattr(trace, name)).max(axis=-1, keepdims=True)
                assert (np.abs(array - getattr(trace, name)) <= 0.501 * most / 32767).all()
            else:
                np.testing.assert_array_equal(array, getattr(trace, name))
                assert array.dtype == getattr(trace, name).dtype


@pytest.mark.parametrize("storage", ["exact", "int16"])
def test_each_layer_is_one_run_of_bytes_without_a_gap(storage):
    reading = Reading(tuple(record(rule=table(np.tri(9, dtype=bool)), dtype=np.float64) for _ in range(3)))
    made = pack(reading, storage=storage)
    header = json.loads(made.header)
    header.pop("__metadata__")
    ends = {at: [0, 0] for at in range(3)}
    at = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        start, end = entry["data_offsets"]
        layer = int(name.split(".")[1])
        assert (start, layer) == (at, min(layer, 2))
        at, ends[layer] = end, [ends[layer][0] + end - start, end]
        within = start - sum(len(block) for block in made.layers[:layer])
        assert within % {"F64": 8, "F32": 4, "I16": 2, "BOOL": 1}[entry["dtype"]] == 0
    assert [size for size, _ in ends.values()] == [len(block) for block in made.layers]
    assert at == made.n_bytes
    assert len(next(made.file())) % 8 == 0


def test_an_exact_file_is_the_record_itself(tmp_path):
    for thing in (jumok.attend(jumok.load("student")), Reading((record(), record()), Source("model", "여기"))):
        (path := tmp_path / "a.safetensors").write_bytes(file_of(pack(thing)))
        back = jumok.load(path)
        assert back == thing if isinstance(thing, Trace) else list(back) == list(thing)


def test_a_rounded_file_is_refused_as_a_record(tmp_path):
    (path := tmp_path / "a.safetensors").write_bytes(file_of(pack(record(), storage="int16")))
    with pytest.raises(SavedFileError, match="unknown fields"):
        jumok.load(path)


def test_half_precision_and_long_ids_travel_as_what_a_page_can_read():
    made = pack(record(4, dtype=np.float16, rule=document(np.array([2**40, 5, 2**40, 5]))))
    arrays = load(file_of(made))
    assert arrays["layers.0.q"].dtype == np.float32
    assert (ids := arrays["layers.0.part.0"]).dtype == np.int32
    assert [bool(ids[0] == other) for other in ids] == [True, False, True, False]
    assert load(file_of(pack(record(2, rule=document([7, -3])))))["layers.0.part.0"].tolist() == [7, -3]


def test_small_records_are_exact_and_large_ones_are_rounded():
    assert pack(record(40)).storage == "exact"
    large = record(1200, heads=8, kv_heads=8, d=32, rule="causal")
    made = pack(large)
    assert made.storage == page_of(made)["storage"] == "int16"
    assert (
        sum(a.nbytes for a in (large.q, large.k)) / 2 < made.n_bytes < sum(a.nbytes for a in (large.q, large.k)) * 0.6
    )


@pytest.mark.parametrize(
    ("values", "carried"), [(None, [False] * 3), ([0, 2], [True, False, True]), ("all", [True] * 3), ([], [False] * 3)]
)
def test_rounded_values_travel_for_the_layers_asked_for(values, carried):
    made = pack(Reading(tuple(record() for _ in range(3))), values, "int16")
    arrays = load(file_of(made))
    assert [f"layers.{at}.v" in arrays for at in range(3)] == carried
    assert [facts["values"] for facts in page_of(made)["layers"]] == carried
    assert [facts["d_value"] for facts in made.facts] == [3] * 3


def test_where_values_travel_what_makes_the_output_does_too():
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((5, 4)), rng.standard_normal((4, 4))
    trace = jumok.attend(x=x, w_q=w, w_k=w, w_v=w, w_o=w, rule=Rule(sink=[0.5]))
    with_values, without = (pack(trace, values, "int16") for values in ([0], None))
    assert "layers.0.x" in load(file_of(with_values))
    assert set(load(file_of(without))) == {
        f"layers.0.{name}" for name in ("q", "k", "q.scale", "k.scale", "lse", "part.0")
    }
    said = json.loads(json.loads(without.header)["__metadata__"]["record"])["layers"][0]
    assert "heads" not in said
    assert said["rule"]["sink"] == {"array": "part.0"}


def test_zero_rows_and_whole_records_of_zeros_can_be_rounded():
    zeros = np.zeros((2, 3, 4))
    made = pack(Trace(tokens=["a", "b", "c"], q=zeros, k=zeros, v=zeros), storage="int16")
    arrays = load(file_of(made))
    assert not arrays["layers.0.q"].any()
    np.testing.assert_allclose(arrays["layers.0.lse"], math.log(3), rtol=1e-6)


def test_a_layer_that_rounding_would_change_travels_as_it_is():
    """Keys that are large and nearly alike: what tells them apart is about as small as one step of the rounding."""
    far = dataclasses.replace(record(30, size=20.0), k=300 + 0.1 * NUMBERS.standard_normal((2, 30, 6)))
    made = pack(Reading((record(30), far)), storage="int16")
    arrays = load(file_of(made))
    assert arrays["layers.0.q"].dtype == np.int16
    np.testing.assert_array_equal(arrays["layers.1.q"], far.q)
    assert "layers.1.q.scale" not in arrays
    assert made.facts[1]["error"] == [0.0] * 4
    assert made.storage == "int16"


@pytest.mark.parametrize("values", [[3], [-1], ["a"]])
def test_a_layer_that_is_not_there_is_refused(values):
    with pytest.raises(InputError, match="position from 0 to 2"):
        pack(Reading(tuple(record() for _ in range(3))), values, "int16")


def test_a_reading_without_layers_is_refused():
    with pytest.raises(InputError, match="nothing to show") as caught:
        pack(Reading(()))
    assert "보여 줄 것이 없습니다" in caught.value.text("ko")


def test_another_storage_is_refused():
    with pytest.raises(UnknownName, match=r"float16.*exact, int16|exact.*int16"):
        pack(record(), storage="float16")


def test_least_bytes_is_what_it_comes_to_but_for_scales():
    for storage in ("exact", "int16"):
        for values in (None, [1], "all"):
            reading = Reading(tuple(record(60, d=64, rule=Rule(sink=[1.0] * 4)) for _ in range(2)))
            made, least = pack(reading, values, storage), packed.least_bytes(reading, values, storage)
            assert 0.8 * made.n_bytes <= least <= made.n_bytes


# what is said of each head ------------------------------------------------------------------------


def stages(trace, q=None, k=None):
    """The weights of the slow reference, from the record's q and k or from others."""
    rule = trace.rule
    allowed = trace.allowed
    bias = None if rule.bias is None else rule.bias.block(np.arange(trace.n_queries), np.arange(trace.n_keys))
    made = reference.attention(
        (trace.q if q is None else q).tolist(), (trace.k if k is None else k).tolist(), trace.v.tolist(),
        scale=rule.scale, softcap=rule.softcap, allowed=lambda i, j: allowed[i, j],
        bias=None if bias is None else lambda h, i, j: bias[h if len(bias) > 1 else 0, i, j],
        sink=None if rule.sink is None else list(rule.sink),
    )  # fmt: skip
    return np.array(made["scaled"]), np.array(made["weights"]), allowed


@pytest.mark.parametrize("name", RULES)
def test_the_facts_are_those_of_the_reference(name):
    trace = record(40, rule=RULES[name], dtype=np.float64)
    _, weights, allowed = stages(trace)
    reads = allowed.any(axis=1)
    facts = pack(trace).facts[0]
    rows = weights[:, reads]
    entropy = -(rows * np.log(np.where(rows > 0, rows, 1))).sum(axis=2)
    expected = {
        "entropy": entropy.mean(axis=1) if reads.any() else np.zeros(4),
        "first": rows[:, :, 0].mean(axis=1) if reads.any() else np.zeros(4),
        "previous": [
            np.mean([weights[head, at, at - 1] for at in range(1, 40) if reads[at]] or [0]) for head in range(4)
        ],
    }
    for fact, numbers in expected.items():
        np.testing.assert_allclose(facts[fact], numbers, rtol=6e-6, atol=1e-12, err_msg=fact)
    assert facts["error"] == [0.0] * 4
    assert (facts["n_heads"], facts["n_kv_heads"], facts["n_queries"], facts["n_keys"]) == (4, 2, 40, 40)


@pytest.mark.parametrize("name", RULES)
def test_the_logarithm_of_the_sum_belongs_to_the_stored_numbers(name):
    trace = record(40, rule=RULES[name])
    arrays = load(file_of(pack(trace, storage="int16")))
    q, k = (arrays[f"layers.0.{at}"].astype(float) * arrays[f"layers.0.{at}.scale"][..., None] for at in "qk")
    scaled, weights, allowed = stages(trace, q, k)
    lse = arrays["layers.0.lse"]
    reads = allowed.any(axis=1)
    assert (lse[:, ~reads] == np.float32(-1e30)).all()
    again = np.where(allowed, np.exp(np.minimum(scaled - lse[:, :, None], 50)), 0)
    np.testing.assert_allclose(again, weights, atol=1e-5)


@pytest.mark.parametrize("name", RULES)
def test_the_error_is_the_largest_difference_of_a_weight(name):
    trace = record(40, rule=RULES[name], dtype=np.float64)
    made = pack(trace, storage="int16")
    arrays = load(file_of(made))
    q, k = (arrays[f"layers.0.{at}"].astype(float) * arrays[f"layers.0.{at}.scale"][..., None] for at in "qk")
    difference = np.abs(stages(trace, q, k)[1] - stages(trace)[1]).max(axis=(1, 2))
    np.testing.assert_allclose(made.facts[0]["error"], difference, rtol=1e-3, atol=2e-6)
    assert made.facts[0]["error_rows"] == 40
    assert difference.max() < packed.MOST_ERROR


def test_long_records_are_compared_in_some_rows_and_say_so(monkeypatch):
    monkeypatch.setattr(streamed, "CHECKED_ROWS", 10)
    monkeypatch.setattr(streamed, "TILE_NUMBERS", 40 * 17)  # a tile's border is no border of the steps
    trace = record(40, rule="causal")
    made = pack(trace, storage="int16")
    arrays = load(file_of(made))
    q, k = (arrays[f"layers.0.{at}"].astype(float) * arrays[f"layers.0.{at}.scale"][..., None] for at in "qk")
    some = np.abs(stages(trace, q, k)[1] - stages(trace)[1])[:, ::4].max(axis=(1, 2))
    np.testing.assert_allclose(made.facts[0]["error"], some, rtol=0.02, atol=2e-6)
    assert made.facts[0]["error_rows"] == len(range(0, 40, 4))


@pytest.mark.parametrize("numbers", [1, 40 * 3, 40 * 1000])
def test_tiles_of_any_size_come_to_the_same(monkeypatch, numbers):
    trace = record(40, rule=causal() & window(9))
    whole = summary(trace.steps, 16)
    monkeypatch.setattr(streamed, "TILE_NUMBERS", numbers)
    tiled = summary(trace.steps, 16)
    for name in ("lse", "entropy", "first", "previous", "thumbnail"):
        np.testing.assert_allclose(getattr(tiled, name), getattr(whole, name), rtol=1e-5, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("storage", ["exact", "int16"])
@pytest.mark.parametrize("numbers", [40 * 7, 40 * 1000])
def test_of_a_large_record_evenly_spaced_rows_can_stand_for_all(monkeypatch, storage, numbers):
    monkeypatch.setattr(streamed, "TILE_NUMBERS", numbers)
    monkeypatch.setattr(packed, "THUMBNAIL", 8)
    trace = record(40, rule=causal() & window(9))
    made = pack(trace, storage=storage, cells=trace.n_heads * 40 * 40 // 4 - 1)
    facts, some = made.facts[0], stages(trace)[1][:, ::4]
    assert (facts["rows"], facts["error_rows"]) == (10, 10 if storage == "int16" else 0)
    entropy = -np.where(some > 0, some * np.log(np.where(some > 0, some, 1)), 0).sum(axis=2)
    np.testing.assert_allclose(facts["entropy"], entropy.mean(axis=1), rtol=1e-3)
    np.testing.assert_allclose(facts["first"], some[:, :, 0].mean(axis=1), rtol=1e-3, atol=1e-6)
    before = np.stack([some[:, at, 4 * at - 1] for at in range(1, 10)])
    np.testing.assert_allclose(facts["previous"], before.mean(axis=0), rtol=1e-3, atol=1e-6)
    assert "layers.0.lse" not in load(file_of(made))  # the page makes a row's when it is looked at


def test_each_pixel_of_a_thumbnail_has_a_row_that_was_looked_at():
    trace = record(130, rule="causal")
    side = pack(trace, storage="int16").atlas["size"]
    few = pack(trace, storage="int16", cells=1)
    assert few.facts[0]["rows"] == 65 >= side
    assert "rows" not in pack(trace, storage="int16", cells=10**9).facts[0]
    looked_at = summary(trace.steps, side, every=2).thumbnail
    assert ((looked_at >= 0) == (summary(trace.steps, side).thumbnail >= 0)).all()


def test_huge_scores_stay_finite():
    trace = record(6, size=1e18)
    facts = pack(trace, storage="exact").facts[0]
    assert np.isfinite([facts["entropy"], facts["first"], facts["previous"]]).all()


# thumbnails ---------------------------------------------------------------------------------------


def atlas_pixels(made):
    from io import BytesIO

    from matplotlib import image

    data = base64.b64decode(made.atlas["png"].removeprefix("data:image/png;base64,"))
    seen = np.rint(image.imread(BytesIO(data))[..., :3] * 255).astype(int)
    size, rows, columns = (made.atlas[name] for name in ("size", "rows", "columns"))
    return seen.reshape(rows, size, columns, size, 3).transpose(0, 2, 1, 3, 4)


def colour(largest):
    grey = (128, 128, 128)
    return grey if largest is None else packed.CIVIDIS[1 + round(254 * math.sqrt(largest))]


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("side", [40, 13])
def test_a_pixel_is_the_largest_weight_under_it(monkeypatch, name, side):
    monkeypatch.setattr(packed, "THUMBNAIL", side)
    trace = record(40, rule=RULES[name], dtype=np.float64)
    pixels = atlas_pixels(pack(trace))
    assert pixels.shape[2] == side
    weights, allowed = trace.weights, trace.allowed
    for row in range(side):
        queries = range(row * 40 // side, max((row + 1) * 40 // side, row * 40 // side + 1))
        for column in range(side):
            keys = range(column * 40 // side, max((column + 1) * 40 // side, column * 40 // side + 1))
            cells = np.ix_(queries, keys)
            for head in range(4):
                largest = weights[head][cells].max() if allowed[cells].any() else None
                assert tuple(pixels[0, head, row, column]) == colour(largest)


def test_short_records_have_a_pixel_for_each_cell_and_odd_ones_are_stretched():
    trace = record(3, m=7, heads=2)
    pixels = atlas_pixels(pack(trace))
    assert pixels.shape == (1, 2, 7, 7, 3)
    for row in range(7):
        for column in range(7):
            assert tuple(pixels[0, 1, row, column]) == colour(trace.weights[1, row * 3 // 7, column])


def test_layers_stand_in_rows_and_heads_in_columns():
    reading = Reading((record(5), record(5, heads=2)))
    made = pack(reading)
    assert {name: made.atlas[name] for name in ("size", "rows", "columns")} == {"size": 5, "rows": 2, "columns": 4}
    pixels = atlas_pixels(made)
    assert (pixels[1, 2:] == 128).all()
    assert tuple(pixels[1, 1, 2, 3]) == colour(reading[1].weights[1, 2, 3])


def test_very_many_heads_get_smaller_thumbnails(monkeypatch):
    monkeypatch.setattr(packed, "ATLAS_PIXELS", 8 * 100)
    assert pack(Reading((record(30), record(30)))).atlas["size"] == 10


# texts --------------------------------------------------------------------------------------------


def test_labels_stand_with_the_rows_of_tokens():
    trace = Trace(
        tokens=["a", "b"], key_tokens=["Ġc", "Ġd", "Ġe"],
        q=np.ones((1, 2, 1)), k=np.ones((1, 3, 1)), v=np.ones((1, 3, 1)),
    )  # fmt: skip
    labels = page_of(pack(Reading((trace, record(2)))))["labels"]
    assert [[label["text"] for label in row] for row in labels] == [["a", "b"], ["␣c", "␣d", "␣e"], ["t0", "t1"]]


def test_spans_are_read_in_the_sentence_of_the_source():
    tokens = [jumok.Token("�", (0, 1)), jumok.Token("�", (0, 1))]
    one = np.ones((1, 2, 1))
    trace = Trace(tokens=tokens, q=one, k=one, v=one, source=Source(details={"sentence": "책"}))
    assert [label["text"] for label in page_of(pack(trace))["labels"][0]] == ["책", "책"]


def test_the_title_is_in_both_languages_or_none():
    assert set(page_of(pack(jumok.attend(jumok.load("student"))))["title"]) == {"en", "ko"}
    assert page_of(pack(record()))["title"] is None
    said = Source(details={"title": {"ko": "제목"}})
    assert page_of(pack(record(source=said)))["title"] == {"en": "제목", "ko": "제목"}


def test_the_header_is_what_the_stock_library_reads(tmp_path):
    (path := tmp_path / "a.safetensors").write_bytes(file_of(pack(record())))
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata()
    assert (metadata["format"], metadata["version"]) == ("jumok", "1")
    assert json.loads(metadata["page"])["layers"][0]["n_queries"] == 9


# memory -------------------------------------------------------------------------------------------


def test_a_long_context_never_becomes_a_table():
    n = 4096
    trace = record(n, heads=2, kv_heads=1, d=16, rule="causal")
    tracemalloc.start()
    made = pack(trace, storage="int16")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    table_bytes = n * n * 4
    assert peak < table_bytes / 4, f"{peak / 1e6:.0f} MB"
    assert made.facts[0]["error_rows"] == 2048
