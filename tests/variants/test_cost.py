"""``jumok.cost``: what is measured and what only predicted, growth and crossings, and what is refused."""

import dataclasses
import json
import math
import re

import numpy as np
import pytest

import jumok
from jumok.errors import InputError, TooLargeError, UnknownName
from jumok.path import patterns
from jumok.picture.costs import tables, to_html, to_markdown
from jumok.variants import cost_formulas as formulas
from jumok.variants import cost_kinds, cost_measured, machine
from jumok.variants.cost import Cost, CostRow
from jumok.variants.cost_formulas import Sizes
from jumok.variants.cost_kinds import KINDS, Settings
from jumok.words import LANGS


@pytest.fixture(autouse=True)
def _small_peak(monkeypatch):
    """A product that takes no second."""
    monkeypatch.setattr(machine, "PEAK_N", 64)


SMALL = {"d_head": 4, "n_heads": 1, "variants": ["full", "window"], "window": 8}


def small(**options):
    return jumok.cost(**{"n": [16, 32], **SMALL, **options})


def made(times, **more):
    """A Cost of given times: {variant: {n: seconds}}; without a time not measured."""
    ns = sorted({n for of in times.values() for n in of})
    rows = [
        CostRow(
            name,
            n,
            n * n,
            n,
            n,
            n,
            of[n],
            of[n] is not None,
            3,
            None if of[n] is None else 100 * n,
            None if of[n] else "budget",
        )
        for n in ns
        for name, of in times.items()
    ]
    source = {"backend": "numpy", "device": "cpu", "n_threads": 1}
    return Cost(tuple(rows), 1e9, Sizes(ns[0], 8, 1), Settings(), "causal", source=source, **more)


# measuring ----------------------------------------------------------------------------------------


def test_every_variant_is_measured_at_every_n():
    found = small()
    assert [(row.variant, row.n) for row in found.rows] == [("full", 16), ("window", 16), ("full", 32), ("window", 32)]
    assert all(
        row.is_measured and row.time_s > 0 and row.spread >= 1 and row.n_runs >= 3 and row.peak_bytes > 0
        for row in found.rows
    )
    assert found.peak > 0
    share = found.share_of_peak(found.rows[0])
    assert share == pytest.approx(found.rows[0].multiply_adds / found.rows[0].time_s / found.peak)


def test_the_operations_are_those_of_the_formulas():
    row = next(row for row in small(n=32, n_heads=2, n_kv_heads=1).rows if row.variant == "window")
    sizes = Sizes(32, 4, 2, n_kv_heads=1, n_back=7, n_ahead=0)
    assert row.multiply_adds == formulas.window(sizes).multiply_adds
    assert row.moved_bytes == formulas.window(sizes).moved_bytes


def test_a_budget_of_nothing_measures_nothing(monkeypatch):
    monkeypatch.setattr(cost_measured.Bench, "_run", None)
    found = small(budget_s=0)
    assert not any(row.is_measured or row.time_s for row in found.rows)
    assert found.peak is None
    assert all(row.multiply_adds > 0 for row in found.rows)
    assert "nothing was measured" in found.text()


def test_sizes_may_be_written_as_on_the_command_line():
    assert small(n="16:40", budget_s=0).n == (16, 32, 40)
    assert small(n="40,16", budget_s=0).n == small(n=[16, 40], budget_s=0).n


def test_formulas_alone_need_no_table_of_a_pattern(monkeypatch):
    monkeypatch.setattr(patterns.BigBird, "table", None)
    (row,) = jumok.cost(n=2**16, variants="sparse:big_bird", budget_s=0).rows
    assert row.multiply_adds > 0


def test_a_pattern_beyond_the_memory_is_predicted(monkeypatch):
    monkeypatch.setattr(patterns, "MOST_BLOCKS", 16)
    found = jumok.cost(n=[128, 512], d_head=2, n_heads=1, variants="sparse:big_bird", memory_bytes=2**40)
    assert [(row.is_measured, row.why) for row in found.rows] == [(True, None), (False, "memory")]


def test_what_goes_beyond_the_budget_is_predicted_at_the_last_pace(monkeypatch):
    clock = iter([0.0, 1.0, *[100.0] * 10])
    monkeypatch.setattr(cost_measured.time, "monotonic", lambda: next(clock))
    last, *rest = small(n=[16, 32, 64], variants="window", budget_s=10).rows
    assert last.is_measured
    assert len(rest) == 2
    for row in rest:
        assert row.why == "budget"
        assert row.time_s == pytest.approx(last.time_s * row.multiply_adds / last.multiply_adds)
        assert row.peak_bytes == pytest.approx(last.peak_bytes * row.held_bytes / last.held_bytes, rel=0.01)


def test_of_what_was_never_measured_no_time_is_told(monkeypatch):
    clock = iter([0.0, *[100.0] * 10])
    monkeypatch.setattr(cost_measured.time, "monotonic", lambda: next(clock))
    rows = small(n=[16, 32], variants="window", budget_s=10).rows
    assert [(row.why, row.time_s, row.peak_bytes) for row in rows] == [("budget", None, None)] * 2


def test_sizes_beside_a_trace_are_refused():
    x = np.eye(4)
    trace = jumok.attend(x=x, w_q=x, w_k=x, w_v=x)
    with pytest.raises(InputError, match="so that n, d_head would change nothing") as refusal:
        jumok.cost(trace, n=[64], d_head=999)
    assert "n, d_head은(는) 소용이 없습니다" in refusal.value.text("ko")
    with pytest.raises(InputError, match="so that n would change nothing"):
        jumok.cost(trace, n=np.array([64, 128]))
    assert jumok.cost(trace, n_heads=8, budget_s=0).sizes.n_heads == 1  # what is the usual says nothing


def test_what_goes_beyond_the_memory_is_never_allocated(monkeypatch):
    asked = []
    drawn = cost_measured.Bench._drawn
    monkeypatch.setattr(
        cost_measured.Bench, "_drawn", lambda bench, sizes: asked.append(sizes.n_queries) or drawn(bench, sizes)
    )
    found = jumok.cost(n=[64, 2**20], d_head=4, n_heads=1, variants="full", memory_bytes=2**20)
    assert [row.why for row in found.rows] == [None, "memory"]
    assert set(asked) == {64}
    assert found.rows[1].held_bytes > 2**40
    assert "beyond the memory" in found.text()


def test_not_even_the_smallest_fits_and_nothing_is_made(monkeypatch):
    monkeypatch.setattr(cost_measured.Machine, "normal", None)
    with pytest.raises(
        TooLargeError, match=r"16,384 tokens alone would take 0\.1 GB, and 0\.0 GB may be used"
    ) as refused:
        jumok.cost(n=16384, memory_bytes=1000)
    assert refused.value.bytes_needed == 4 * 8 * 16384 * 64 * 4
    assert "토큰 16,384개" in refused.value.text("ko")


@pytest.mark.parametrize("when", ["before one", "while one runs", "at the start"])
def test_an_interruption_keeps_what_was_measured(monkeypatch, when):
    def interrupt(*_):
        raise KeyboardInterrupt

    def progress(done, total, variant, n):
        if when == "before one" and done == 2:
            interrupt()
        if when == "while one runs" and done == 2:
            monkeypatch.setattr(cost_measured.Machine, "warmed", interrupt)

    if when == "at the start":
        monkeypatch.setattr(cost_measured.Machine, "peak", interrupt)
    found = small(progress=progress)
    assert found.is_stopped
    assert sum(row.is_measured for row in found.rows) == (0 if when == "at the start" else 2)
    assert [row.n for row in found.rows] == [16, 16, 32, 32]
    assert {row.why for row in found.rows if not row.is_measured} == {"stopped"}
    assert json.dumps(found.to_json(), allow_nan=False)
    assert found.text("ko")


def test_progress_says_what_is_next():
    told = []
    small(progress=lambda *each: told.append(each))
    assert [each[:2] for each in told] == [(at, 4) for at in range(4)]
    assert sorted(each[2:] for each in told) == [("full", 16), ("full", 32), ("window", 16), ("window", 32)]


def test_a_slow_variant_leaves_the_others_their_time(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(cost_measured.time, "monotonic", lambda: clock[0])

    def timed(power):
        def variant(q, _k, v, _rule):
            clock[0] += q.shape[1] ** power / 100
            return v

        return variant

    def once(_, run):
        began = clock[0]
        run()
        return clock[0] - began

    for name, power in (("full", 2), ("linear", 1)):
        monkeypatch.setitem(cost_kinds.KINDS, name, dataclasses.replace(KINDS[name], variant=timed(power)))
    monkeypatch.setattr(cost_measured.Machine, "once", once)
    monkeypatch.setattr(cost_measured.Machine, "peak", lambda *_: 1.0)
    found = small(n=[16, 32, 64, 128], variants=["full", "linear"], budget_s=60)
    assert [row.n for row in found.of("linear") if row.is_measured] == [16, 32, 64, 128]
    assert [row.n for row in found.of("full") if row.is_measured] == [16]


@pytest.mark.parametrize("name", KINDS)
def test_each_variant_runs_and_gives_what_its_formula_is_about(name):
    found = jumok.cost(n=40, d_head=4, n_heads=2, n_kv_heads=1, variants=name, window=8, n_features=6, n_landmarks=5)
    (row,) = found.rows
    assert row.is_measured
    assert row.multiply_adds > 0
    assert 0.1 < row.peak_bytes / row.held_bytes < 10


@pytest.mark.parametrize("rule", ["causal", "everything"])
def test_exact_variants_take_the_rule_that_was_asked(monkeypatch, rule):
    seen = []
    watched = lambda q, k, v, given, **_: seen.append(given.allowed.kind) or cost_kinds.full(q, k, v, given)  # noqa: E731
    monkeypatch.setitem(cost_kinds.KINDS, "full", dataclasses.replace(KINDS["full"], variant=watched))
    jumok.cost(n=16, variants="full", rule=rule)
    assert set(seen) == {rule}


@pytest.mark.parametrize("lang", LANGS)
def test_it_says_which_way_ran(lang):
    found = small(variants=["full", "flash", "lowrank"])
    given = [np.ones((1, 32, 4), np.float32)] * 3
    ways = {name: jumok.variants.route(*given, None, name).text(lang) for name in ("full", "flash")}
    lines = [f"full, lowrank: {ways['full']}", f"flash: {ways['flash']}"]
    for text in (found.text(lang), to_markdown(found, lang)):
        assert all(line in text.splitlines() for line in lines)
    plain = found.to_json()["routes"]
    assert (list(plain), plain["flash"][lang]) == (["full", "flash", "lowrank"], ways["flash"])
    assert not small(budget_s=0).routes


# growth -------------------------------------------------------------------------------------------


def test_growth_is_the_slope_of_the_settled_part():
    times = {n: 1e-3 + 1e-9 * n**2 for n in (512, 1024)} | {n: 1e-8 * n**2 for n in (2048, 4096, 8192)}
    (growth,) = made({"full": times}).growth
    assert growth.points == (2048, 4096, 8192)
    assert growth.exponent == pytest.approx(2)
    assert growth.by_formula == pytest.approx(2)
    assert growth.memory == pytest.approx(1)
    assert growth.predicted == 2


def test_of_small_n_the_last_three_that_take_long_enough_are_fitted():
    (growth,) = made({"window": {n: 3e-6 * n**1.5 for n in (32, 64, 128, 256, 512)}}).growth
    assert growth.points == (128, 256, 512)
    assert growth.exponent == pytest.approx(1.5)


@pytest.mark.parametrize(
    "times", [{64: 1.0, 128: None}, {64: 1.0, 128: 2.0}, {16: 1e-5, 32: 9e-4, 64: 2e-3, 128: 4e-3}]
)
@pytest.mark.parametrize("lang", LANGS)
def test_of_too_few_sizes_no_growth_is_told(times, lang):
    found = made({"full": times})
    growth = found.growth[0]
    assert (growth.exponent, growth.by_formula, growth.memory) == (None, None, None)
    few = {"en": "full: too few sizes to tell how time grows", "ko": "full: 시간이 얼마나 늘어나는지 알기에는"}[lang]
    assert few in found.text(lang)
    assert few in to_html(found, lang)
    assert few in to_markdown(found, lang)
    assert "full: time grows" not in found.text(lang)
    assert ("full", "–") in [row[:2] for table in tables(found, lang) for row in table.rows]


def test_a_crossing_lies_where_the_lines_meet():
    ns = (256, 512, 1024, 2048)
    found = made({"full": {n: 1e-9 * n**2 for n in ns}, "linear": {n: 1e-6 * n for n in ns}})
    full, linear = found.growth
    assert linear.overtakes["full"] == pytest.approx(1000)
    assert linear.overtakes["flash"] is None
    assert "full" not in full.overtakes


def test_a_variant_that_falls_behind_again_has_not_overtaken():
    found = made({"full": {1: 1.0, 2: 1.0, 4: 1.0}, "window": {1: 0.5, 2: 0.5, 4: 2.0}})
    assert found.growth[1].overtakes["full"] is None


def test_one_that_was_always_faster_says_so():
    found = made({"full": {64: 1.0, 128: 1.0}, "window": {64: 0.5, 128: 0.5}})
    assert found.growth[1].overtakes["full"] == 64
    assert "Faster than full at every n measured." in found.text()


def test_predictions_do_not_count_as_crossings():
    found = made({"full": {64: 1.0, 128: None}, "window": {64: 2.0, 128: None}})
    assert found.growth[1].overtakes["full"] is None


# a Trace ------------------------------------------------------------------------------------------


def test_of_a_trace_its_own_arrays_are_run_and_the_loss_is_told():
    layer = jumok.load("minilm-tired")[0]
    found = jumok.cost(layer, window=3, n_sink=1)
    assert found.n == (13,)
    assert found.variants == ("full", "flash", "window", "sparse", "linear", "lowrank")
    assert [loss.variant for loss in found.losses] == ["window", "sparse", "linear", "lowrank"]
    own = jumok.variants.error(layer, "window", n_back=2, n_ahead=2)
    assert np.allclose(found.losses[0].output, own.output)


def test_what_cannot_follow_a_traces_rule_is_left_out_and_told():
    draw = np.random.default_rng(0)
    q, k, v = (draw.standard_normal((2, 9, 4)) for _ in range(3))
    found = jumok.cost(jumok.attend(q=q, k=k, v=v, rule="causal"), window=3)
    assert "lowrank" not in found.variants
    assert "lowrank: low-rank attention" in found.text()
    assert "lowrank: 저랭크" in found.text("ko")
    assert list(found.to_json()["refused"]) == ["lowrank"]


# words --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", LANGS)
def test_a_busy_machine_is_told(lang):
    found = made({"full": {64: 1.0, 128: 2.0}})
    quiet, busy = (
        dataclasses.replace(found, rows=tuple(dataclasses.replace(row, spread=spread) for row in found.rows))
        for spread in (1.2, 3.25)
    )
    assert "3.2" in busy.text(lang)
    told = {"en": "kept the machine busy", "ko": "다른 일로 기계가 바빴습니다"}[lang]
    assert told in to_html(busy, lang)
    assert told not in to_html(quiet, lang)
    assert len(busy.text(lang).splitlines()) == len(quiet.text(lang).splitlines()) + 1


def test_short_runs_tell_of_a_busy_machine_too_where_they_differ_much():
    found = made({"full": {64: 1e-3, 128: 2e-3}})
    quiet, busy = (
        dataclasses.replace(found, rows=tuple(dataclasses.replace(row, spread=spread) for row in found.rows))
        for spread in (3.2, 10.0)
    )
    assert "10.0 times as long" in busy.text()
    assert "busy" not in quiet.text()


@pytest.mark.parametrize("lang", LANGS)
def test_the_sentences_have_the_numbers(lang):
    ns = (2048, 4096, 8192)
    found = made({"full": {n: 1e-9 * n**2 for n in ns}, "linear": {n: 4e-6 * n for n in ns}})
    text = found.text(lang)
    assert "2.00" in text
    assert "1.00" in text
    assert "4,000" in text
    assert bool(re.search("[가-힣]", text)) == (lang == "ko")


def test_the_json_is_whole():
    plain = json.loads(json.dumps(small().to_json(), allow_nan=False))
    assert plain["format"] == "jumok-cost"
    assert len(plain["rows"]) == 4
    assert plain["rows"][0]["share_of_peak"] > 0
    assert {"variant", "exponent", "overtakes"} <= plain["growth"][0].keys()


# what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "kind", "en", "ko"),
    [
        ({"n": 0}, InputError, "n expects a whole number, 1 or more, got 0", "n에는 1 이상의 정수"),
        ({"n": 512.0}, InputError, "n expects a whole number, 1 or more, got 512.0", "n에는 1 이상의 정수"),
        ({"n": math.nan}, InputError, "n expects a whole number, 1 or more, got nan", "n에는 1 이상의 정수"),
        ({"n": "many"}, InputError, "n expects numbers of tokens, 512:16384 (doubling) or 512,3000", "n에는 토큰 수를"),
        ({"n": b"64"}, InputError, "n expects a whole number", "n에는 1 이상의 정수"),
        ({"n": []}, InputError, "n expects numbers of tokens from 1 to 1,048,576, got none", "아무것도 오지 않았습니다"),
        ({"n": 2**21}, InputError, "from 1 to 1,048,576, got 2,097,152", "2,097,152이(가) 왔습니다"),
        ({"n_heads": 3, "n_kv_heads": 2}, InputError, "3 query heads cannot share 2", "쿼리 헤드 3개가 키/밸류 헤드 2개"),
        ({"window": -1}, InputError, "window expects a whole number, 1 or more, got -1", "window에는 1 이상의 정수"),
        ({"n_sink": -1}, InputError, "n_sink expects a whole number, 0 or more", "n_sink에는 0 이상"),
        ({"variants": ["full", "fulll"]}, UnknownName, "unknown variant 'fulll'; known: full, flash", "알 수 없는 변형 'fulll'"),
        ({"variants": 5}, UnknownName, "unknown variant 5; known: full, flash", "알 수 없는 변형 5"),
        ({"variants": [["full"]]}, UnknownName, "unknown variant ['full']", "알 수 없는 변형 ['full']"),
        ({"variants": []}, InputError, "at least one of full", "하나 이상"),
        ({"rule": "window"}, InputError, "rule expects one of causal, everything", "rule에는 causal"),
        ({"device": "tpu"}, UnknownName, "unknown device 'tpu'; known: cpu, cuda", "알 수 없는 장치 'tpu'"),
        ({"library": "jax"}, UnknownName, "unknown library 'jax'", "알 수 없는 라이브러리 'jax'"),
        ({"library": "numpy", "device": "cuda"}, InputError, "NumPy runs on cpu only", "cpu에서만"),
        ({"memory_bytes": 0}, InputError, "memory_bytes expects a whole number, 1 or more, got 0", "memory_bytes에는 1 이상"),
        ({"memory_bytes": -5}, InputError, "memory_bytes expects a whole number", "memory_bytes에는 1 이상"),
        ({"budget_s": -1}, InputError, "the budget expects seconds, 0 or more, got -1", "0 이상의 초"),
        ({"budget_s": math.nan}, InputError, "the budget expects seconds", "0 이상의 초"),
    ],
)  # fmt: skip
def test_wrong_sizes_are_refused(options, kind, en, ko):
    with pytest.raises(kind) as refused:
        jumok.cost(**{"n": 16, "budget_s": 0, **options})
    assert en in str(refused.value)
    assert ko in refused.value.text("ko")


def test_what_is_no_trace_is_refused():
    with pytest.raises(InputError, match=r"or a Trace, got Reading\. Of a Reading take a layer"):
        jumok.cost(jumok.load("minilm-tired"))
