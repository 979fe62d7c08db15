"""A layer is refused where what was read does not give what the program mixed, whichever layers are computed beside it."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from jumok.sources.capture import verified as module
from jumok.sources.capture.traces import Made, Refused, trace_of
from jumok.sources.capture.verified import verified
from small_calls import B, H, N, call_of


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


@pytest.fixture
def together(monkeypatch):
    """How many layers each computation did, filled as they come."""
    sizes = []
    own = module._differences

    def counted(some):
        sizes.append(len(some))
        return own(some)

    monkeypatch.setattr(module, "_differences", counted)
    return sizes


def judged(*calls, item=0):
    """What is said of each layer of one run."""
    cache = {}
    return verified([trace_of(call, item, None, None, None, cache) for call in calls])


def kinds(judged):
    return [type(one) for one in judged]


@pytest.mark.parametrize(
    ("dtype", "rounding"), [(torch.float16, 1e-3), (torch.bfloat16, 1e-2), (torch.float32, 1e-6), (torch.float64, 1e-6)]
)
def test_what_was_read_must_give_what_the_program_mixed(dtype, rounding):
    call, _ = call_of(dtype=dtype)
    size = float(call.v[0].abs().max())
    call.output[0, 1, 2, 3] += rounding * size
    assert kinds(judged(call)) == [Made]
    call.output[0, 1, 2, 3] += 20 * rounding * size
    [refused] = judged(call)
    assert isinstance(refused, Refused)
    assert refused.module == "layer"
    assert "other mixed values than the program's: off by" in refused.why_en
    assert "프로그램의 출력과" in refused.why_ko
    [other] = judged(call, item=1)
    assert other.off < rounding * 10, "the other sequence is as it was"


RULES = {
    "everything": {},
    "causal": {"causal": True},
    "padding": {"allowed": [(torch.arange(N) < N - 1).expand(1, 1, N, N)]},
    "bias": {"added": [torch.linspace(-1, 1, H * N * N).reshape(1, H, N, N) ** 3]},
    "shared keys": {"n_kv": 1},
}


@pytest.mark.parametrize("wrong", [0, 2, 4])
@pytest.mark.parametrize("rule", RULES)
def test_one_of_several_equal_layers_is_wrong(together, rule, wrong):
    calls = [call_of(**RULES[rule], module=f"layer.{at}")[0] for at in range(5)]
    sound = judged(*calls)
    assert kinds(sound) == [Made] * 5
    calls[wrong].output[0, H - 1, 3, 1] += 0.25
    found = judged(*calls)
    assert together == [5, 5]
    assert kinds(found) == [Refused if at == wrong else Made for at in range(5)]
    assert found[wrong].module == f"layer.{wrong}"
    assert "off by 0.25" in found[wrong].why_en
    assert "0.25만큼" in found[wrong].why_ko
    for at in set(range(5)) - {wrong}:
        assert found[at].off == sound[at].off, "the others are as far off as they were"


@pytest.mark.parametrize("name", ["q", "k", "v", "scale"])
def test_one_layer_that_was_read_with_other_numbers_is_refused_alone(name):
    calls = [call_of()[0] for _ in range(4)]
    setattr(calls[1], name, getattr(calls[1], name) * 1.01)
    assert kinds(judged(*calls)) == [Made, Refused, Made, Made]


def test_each_layer_has_its_own_largest_difference():
    calls = [call_of()[0] for _ in range(3)]
    for call, off in zip(calls, (3e-6, 9e-6, 6e-6), strict=True):
        call.output[0, 0, 1] += off
    told = [one.off for one in judged(*calls)]
    np.testing.assert_allclose(told, (3e-6, 9e-6, 6e-6), atol=1e-6)
    assert told == [judged(call)[0].off for call in calls], "as when it is computed alone"


def test_an_output_that_is_no_number_spoils_its_own_layer_alone():
    calls = [call_of()[0] for _ in range(3)]
    calls[2].output[0, 0, 0, 0] = math.nan
    assert kinds(judged(*calls)) == [Made, Made, Refused]


def with_fewer_rows(call):
    call.rows, call.output = [1, 4], call.output[:, :, [1, 4]]
    return call


def with_a_soft_cap(call):
    """So wide that it changes nothing beyond rounding."""
    call.softcap = 1e6
    return call


def with_large_scores(call):
    """Such that products have to be made with care."""
    call.q[..., 1:] = 0
    call.q *= 2e37 / (call.q.abs().max() * call.k.abs().max())
    call.output = ((call.q.double() @ call.k.double().mT / 2).softmax(-1) @ call.v.double()).float()
    return call


def test_layers_of_another_rule_or_other_axes_are_computed_apart(together):
    calls = [call for call, _ in (call_of(causal=True), call_of(n_kv=1), call_of(n=4, m=4))]
    calls += [with_fewer_rows(call_of()[0]), with_a_soft_cap(call_of()[0]), with_large_scores(call_of()[0])]
    calls += [call_of(sinks=torch.randn(B, H))[0] for _ in range(2)]
    calls += [call_of()[0] for _ in range(2)]
    assert kinds(judged(*calls)) == [Made] * 10
    assert sorted(together) == [1] * 8 + [2]


def test_so_many_layers_are_together_that_the_copies_are_small(together, monkeypatch):
    calls = [call_of()[0] for _ in range(5)]
    a_layer = 2 * calls[0].k[0].numpy().nbytes
    monkeypatch.setattr(module, "TILE_BYTES", 2 * a_layer)
    assert kinds(judged(*calls)) == [Made] * 5
    assert together == [2, 2, 1]


def test_what_was_refused_before_stays_so_in_its_place():
    calls = [call_of()[0] for _ in range(3)]
    calls[0].k[0, 0, 0, 0] = math.inf
    first, *others = judged(*calls)
    assert isinstance(first, Refused)
    assert "finite" in first.why_en
    assert kinds(others) == [Made, Made]


def test_dropout_is_named_as_the_likely_reason():
    call, _ = call_of(training=True)
    call.output += 1
    [refused] = judged(call)
    assert "model.eval()" in refused.why_en
    assert "model.eval()" in refused.why_ko
