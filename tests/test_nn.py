"""The PyTorch modules: against torch's own attention, against the path, one route against the other."""

from __future__ import annotations

import copy
import io
import math
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

import jumok
from jumok import Rule, allowed, positions
from jumok.errors import InputError, OverflowRefused, ShapeError, UnknownName
from jumok.nn import MultiHeadAttention, SelfAttention

N, BATCH, D_MODEL = 5, 3, 8
LAST_ROW_EMPTY = np.random.default_rng(0).random((N, N)) < 0.6
LAST_ROW_EMPTY[-1] = False
REAL = torch.tensor([[True] * 5, [True, True, True, False, False], [False] * 5])  # one text is all padding

MODULES = {
    "one head": lambda: SelfAttention(D_MODEL, 3),
    "one head, no bias": lambda: SelfAttention(D_MODEL, 4, bias=False),
    "4 heads": lambda: MultiHeadAttention(D_MODEL, 4),
    "4 heads, no bias": lambda: MultiHeadAttention(D_MODEL, 4, bias=False),
    "4 heads share 2": lambda: MultiHeadAttention(D_MODEL, 4, n_kv_heads=2),
    "4 heads share 1": lambda: MultiHeadAttention(D_MODEL, 4, n_kv_heads=1),
}

# each from the number of heads
RULES = {
    "none": lambda h: None,
    "everything": lambda h: "everything",
    "causal": lambda h: "causal",
    "causal with a cache": lambda h: allowed.causal(offset=1),
    "window": lambda h: allowed.window(1),
    "window both ways": lambda h: allowed.window(1, 2),
    "window and causal": lambda h: allowed.window(2, 1) & allowed.causal(),
    "document or window": lambda h: allowed.document([0, 0, 1, 1, 1]) | allowed.window(1),
    "padding": lambda h: allowed.padding([True, True, False, True, False]),
    "padding that leaves nothing": lambda h: allowed.padding([False] * N),
    "numpy table": lambda h: LAST_ROW_EMPTY,
    "torch table": lambda h: torch.from_numpy(LAST_ROW_EMPTY),
    "list table": lambda h: LAST_ROW_EMPTY.tolist(),
    "scale": lambda h: Rule(scale=0.3, allowed="causal"),
    "alibi": lambda h: Rule(bias=positions.alibi(positions.alibi_slopes(h)), allowed="causal"),
    "t5, empty row": lambda h: Rule(bias=positions.t5(np.arange(4 * h).reshape(4, h) / 4), allowed=LAST_ROW_EMPTY),
    "relative, one for all": lambda h: Rule(bias=positions.relative([[0.3, 0.0, -1.0]])),
    "bias table": lambda h: Rule(bias=positions.table(np.random.default_rng(1).standard_normal((h, N, N)))),
    "soft cap": lambda h: Rule(softcap=0.5, allowed="causal"),
    "sink": lambda h: Rule(sink=np.linspace(-1, 1, h), allowed=LAST_ROW_EMPTY),
    "all": lambda h: Rule(0.7, allowed.window(2), 2.0, positions.alibi(np.full(h, 0.1)), np.full(h, 0.2)),
}
BATCHED_RULES = {
    "padding a text": lambda h: allowed.padding(REAL),
    "causal and padding a text": lambda h: allowed.causal() & allowed.padding(REAL.numpy()),
    "table a text": lambda h: torch.rand(BATCH, N, N, generator=torch.Generator().manual_seed(3)) < 0.5,
    "padding for all texts": lambda h: allowed.padding(REAL[1:2]),
    "alibi and padding a text": lambda h: Rule(bias=positions.alibi(np.full(h, 0.5)), allowed=allowed.padding(REAL)),
    "sink and padding a text": lambda h: Rule(sink=np.zeros(h), allowed=allowed.padding(REAL)),
}
NEVER_FUSED = {"soft cap", "sink", "all", "sink and padding a text"}


@pytest.fixture(autouse=True)
def seeded():
    """The same draws every time; one thread, as two on a busy machine can be ten times slower."""
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(n_threads)


def made(name, dtype=torch.float64):
    return MODULES[name]().to(dtype)


def drawn(*shape, dtype=torch.float64):
    return torch.randn(*shape, D_MODEL, dtype=dtype)


class Calls(TorchDispatchMode):
    """Which operations PyTorch ran."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


# properties -------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(n=st.integers(1, 7), seed=st.integers(0, 1000), size=st.sampled_from([0.0, 1.0, 30.0]))
def test_weights_share_out_a_row(n, seed, size):
    torch.manual_seed(seed)
    table = torch.rand(n, n) < 0.7
    module = made("4 heads share 2")
    _, weights = module(size * drawn(n), table)
    assert weights.shape == (4, n, n)
    assert (weights >= 0).all()
    assert (weights[:, ~table] == 0).all()
    torch.testing.assert_close(weights.sum(-1), table.any(-1).double().expand(4, n), atol=1e-12, rtol=0)


@settings(max_examples=20)
@given(n=st.integers(2, 7), at=st.integers(1, 6), seed=st.integers(0, 1000), need_weights=st.booleans())
def test_the_future_does_not_change_the_past(n, at, seed, need_weights):
    torch.manual_seed(seed)
    module, x, at = made("4 heads"), drawn(n), min(at, n - 1)
    changed = x.clone()
    changed[at:] = drawn(n - at)
    before, after = (module(a, "causal", need_weights)[0] for a in (x, changed))
    torch.testing.assert_close(before[:at], after[:at], atol=1e-12, rtol=0)
    assert not torch.allclose(before[at:], after[at:])


@settings(max_examples=20)
@given(order=st.permutations(range(N)), need_weights=st.booleans())
def test_permuted_tokens_give_permuted_weights_and_output(order, need_weights):
    module, x, order = made("4 heads"), drawn(N), list(order)
    output, weights = module(x, None, need_weights)
    output_, weights_ = module(x[order], None, need_weights)
    torch.testing.assert_close(output[order], output_, atol=1e-12, rtol=0)
    if need_weights:
        torch.testing.assert_close(weights[:, order][:, :, order], weights_, atol=1e-12, rtol=0)


# shapes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("lead", [(), (1,), (3,), (2, 3), (2, 1, 3), (0,), (2, 0)])
@pytest.mark.parametrize("name", MODULES)
def test_axes(name, lead):
    module = made(name)
    for rule in ("causal", allowed.window(1), Rule(softcap=2.0)):
        output, weights = module(drawn(*lead, N), rule)
        width = D_MODEL if isinstance(module, MultiHeadAttention) else module.d_head
        assert output.shape == (*lead, N, width)
        assert weights.shape == (*lead, module.n_heads, N, N)
        fused, none = module(drawn(*lead, N), rule, need_weights=False)
        assert fused.shape == output.shape
        assert none is None


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("name", MODULES)
def test_a_batch_is_a_loop(name, need_weights):
    """Every text of a batch, alone and with its own part of the rule, gives the same; two batch axes too."""
    module, x = made(name), drawn(2, BATCH, N)
    output, weights = module(x, allowed.padding(REAL) & allowed.causal(), need_weights)
    for i in range(2):
        for b in range(BATCH):
            alone, its_weights = module(x[i, b], allowed.padding(REAL[b]) & allowed.causal(), need_weights)
            torch.testing.assert_close(output[i, b], alone, atol=1e-12, rtol=0)
            if need_weights:
                torch.testing.assert_close(weights[i, b], its_weights, atol=1e-12, rtol=0)


# the two routes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [*RULES, *BATCHED_RULES])
@pytest.mark.parametrize("name", MODULES)
def test_both_routes_agree_with_their_gradients(name, rule):
    module, x = made(name), drawn(BATCH, N).requires_grad_()
    the_rule = (RULES | BATCHED_RULES)[rule](module.n_heads)
    aim = torch.randn_like(module(x, the_rule)[0])
    found = []
    for need_weights in (True, False):
        output, weights = module(x, the_rule, need_weights)
        assert (weights is not None) == need_weights
        found.append([output, *torch.autograd.grad((output * aim).sum(), [x, *module.parameters()])])
    for one, other in zip(*found, strict=True):
        assert one.isfinite().all()
        torch.testing.assert_close(one, other, atol=1e-11, rtol=1e-11)


@pytest.mark.parametrize("rule", [*RULES, *BATCHED_RULES])
@pytest.mark.parametrize("grouped", [False, True])
def test_what_the_fused_call_is_given(monkeypatch, rule, grouped):
    module = made("4 heads share 2" if grouped else "4 heads")
    the_rule = (RULES | BATCHED_RULES)[rule](4)
    calls = []

    def fused(q, k, v, **options):
        calls.append((q, k, v, options))
        return functional.scaled_dot_product_attention(q, k, v, **options)

    monkeypatch.setattr(jumok.nn, "scaled_dot_product_attention", fused)
    module(drawn(BATCH, N), the_rule, need_weights=True)
    assert not calls
    module(drawn(BATCH, N), the_rule, need_weights=False)
    if rule in NEVER_FUSED:
        assert not calls
        return
    ((q, k, _, options),) = calls
    assert (q.ndim, k.shape[1], options["enable_gqa"]) == (4, 2 if grouped else 4, grouped)
    assert options["scale"] == (0.3 if rule == "scale" else 1 / math.sqrt(2))
    assert options["is_causal"] == (rule in ("causal", "scale"))
    table = options["attn_mask"]
    if rule in ("none", "everything", "causal", "scale"):
        assert table is None
    else:
        has_bias = Rule.of(the_rule).bias is not None
        assert table.dtype == (torch.float64 if has_bias else torch.bool)
        readable = table > -math.inf if has_bias else table
        assert readable.any(-1).all()  # no kernel is asked to divide 0 by 0


@pytest.mark.parametrize("lead", [(), (2,), (2, 2)])
@pytest.mark.parametrize("rule", ["none", "causal", "window", "alibi", "padding"])
@pytest.mark.parametrize("name", ["one head", "4 heads", "4 heads share 2"])
def test_the_fast_kernel_runs_whatever_the_batch_axes(name, rule, lead):
    module, x = made(name, torch.float32), drawn(*lead, N, dtype=torch.float32)
    with Calls() as calls:
        module(x, RULES[rule](module.n_heads), need_weights=False)
    assert any("flash" in call for call in calls.names)
    assert not any("softmax" in call for call in calls.names)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ["one head", "4 heads share 2"])
@pytest.mark.parametrize("with_bias", [False, True])
def test_a_query_that_may_read_nothing_gives_zeros(name, dtype, need_weights, with_bias):
    module = made(name, dtype)
    bias = positions.alibi(np.full(module.n_heads, 0.5)) if with_bias else None
    x = drawn(2, N, dtype=dtype).requires_grad_()
    output, weights = module(x, Rule(allowed=LAST_ROW_EMPTY, bias=bias), need_weights)
    nothing = torch.zeros(output.shape[-1], dtype=dtype) if module.w_o is None else module.w_o.bias
    assert torch.equal(output[:, -1], nothing.expand(2, -1))
    assert not torch.equal(output[:, 0], nothing.expand(2, -1))
    if need_weights:
        assert (weights[..., -1, :] == 0).all()
    output.float().square().sum().backward()
    for grad in (x.grad, *(w.grad for w in module.parameters())):
        assert grad.isfinite().all()


def test_gradients_reach_a_learnable_bias_on_both_routes():
    module, x = made("4 heads"), drawn(N)
    found = []
    for need_weights in (True, False):
        vector = torch.zeros(4, 3, dtype=torch.float64, requires_grad=True)
        output, _ = module(x, Rule(bias=positions.relative(vector), allowed="causal"), need_weights)
        output.square().sum().backward()
        found.append(vector.grad)
    assert found[0].abs().max() > 1e-3
    torch.testing.assert_close(*found, atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("rule", ["none", "causal", "a row of nothing", "alibi", "soft cap", "sink"])
@pytest.mark.parametrize("name", ["one head", "4 heads share 2"])
def test_gradients_against_finite_differences(name, rule):
    module, x = made(name), drawn(3).requires_grad_()
    nothing = [[True, False, True], [False] * 3, [True] * 3]
    special = {"a row of nothing": nothing, "sink": Rule(sink=np.linspace(-1, 1, module.n_heads), allowed=nothing)}
    rule = special[rule] if rule in special else RULES[rule](module.n_heads)

    def both(x, *parameters):
        return torch.func.functional_call(module, dict(zip(names, parameters, strict=True)), (x, rule))

    names, parameters = zip(*module.named_parameters(), strict=True)
    assert torch.autograd.gradcheck(both, (x, *parameters), fast_mode=True)  # along random directions


# torch's own attention --------------------------------------------------------------------------


def torchs(module, dtype=torch.float32):
    """torch.nn.MultiheadAttention with the same parameters."""
    theirs = torch.nn.MultiheadAttention(D_MODEL, module.n_heads, batch_first=True, bias=module.w_q.bias is not None)
    theirs = theirs.to(dtype)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([module.w_q.weight, module.w_k.weight, module.w_v.weight]))
        theirs.out_proj.weight.copy_(module.w_o.weight)
        if module.w_q.bias is not None:
            theirs.in_proj_bias.copy_(torch.cat([module.w_q.bias, module.w_k.bias, module.w_v.bias]))
            theirs.out_proj.bias.copy_(module.w_o.bias)
    return theirs


SOME_PADDING = REAL.clone()
SOME_PADDING[2, 0] = True  # torch's module gives NaN where nothing may be read
CAUSAL = torch.ones(N, N).tril().bool()


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("case", ["none", "causal", "padding", "causal and padding", "table"])
@pytest.mark.parametrize("name", ["4 heads", "4 heads, no bias"])
@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 1e-6), (torch.float64, 1e-13)])
def test_against_torchs_module(name, case, need_weights, dtype, atol):
    module, x = made(name, dtype), drawn(BATCH, N, dtype=dtype)
    table = torch.from_numpy(LAST_ROW_EMPTY) | torch.eye(N).bool()
    rule, options = {
        "none": (None, {}),
        "causal": ("causal", {"attn_mask": ~CAUSAL}),
        "padding": (allowed.padding(SOME_PADDING), {"key_padding_mask": ~SOME_PADDING}),
        "causal and padding": (
            allowed.causal() & allowed.padding(SOME_PADDING),
            {"attn_mask": ~CAUSAL, "key_padding_mask": ~SOME_PADDING},
        ),
        "table": (table, {"attn_mask": ~table}),
    }[case]
    their_output, their_weights = torchs(module, dtype)(x, x, x, average_attn_weights=False, **options)
    output, weights = module(x, rule, need_weights)
    torch.testing.assert_close(output, their_output, atol=atol, rtol=atol)
    if need_weights:
        torch.testing.assert_close(weights, their_weights, atol=atol, rtol=atol)


def test_gradients_against_torchs_module():
    module, x = made("4 heads"), drawn(BATCH, N)
    theirs = torchs(module, torch.float64)
    module(x, "causal")[0].square().sum().backward()
    theirs(x, x, x, attn_mask=~CAUSAL)[0].square().sum().backward()
    ours = torch.cat([module.w_q.weight.grad, module.w_k.weight.grad, module.w_v.weight.grad])
    torch.testing.assert_close(ours, theirs.in_proj_weight.grad, atol=1e-12, rtol=1e-12)
    torch.testing.assert_close(module.w_o.bias.grad, theirs.out_proj.bias.grad, atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("n_kv_heads", [4, 2, 1])
@pytest.mark.parametrize("case", ["none", "causal", "table", "float mask", "scale"])
def test_against_the_fused_function(case, n_kv_heads, need_weights):
    module, x = MultiHeadAttention(D_MODEL, 4, n_kv_heads=n_kv_heads), drawn(BATCH, N, dtype=torch.float32)
    bias = torch.randn(4, N, N)
    rule, options = {
        "none": (None, {}),
        "causal": ("causal", {"is_causal": True}),
        "table": (CAUSAL.T, {"attn_mask": CAUSAL.T}),
        "float mask": (Rule(bias=positions.table(bias)), {"attn_mask": bias}),
        "scale": (Rule(scale=2.0), {"scale": 2.0}),
    }[case]
    widths = (4, n_kv_heads, n_kv_heads)
    parts = (w(x) for w in (module.w_q, module.w_k, module.w_v))
    q, k, v = (a.reshape(BATCH, N, h, 2).transpose(1, 2) for a, h in zip(parts, widths, strict=True))
    k, v = (a.repeat_interleave(4 // n_kv_heads, dim=1) for a in (k, v))
    mixed = functional.scaled_dot_product_attention(q, k, v, **options)
    expected = module.w_o(mixed.transpose(1, 2).reshape(BATCH, N, D_MODEL))
    torch.testing.assert_close(module(x, rule, need_weights)[0], expected, atol=1e-6, rtol=1e-6)


def test_against_a_loop():
    """One head, causal, in plain Python numbers."""
    module, x = made("one head, no bias"), drawn(N)
    output, weights = module(x, "causal")
    q, k, v = ((x @ w.weight.T).tolist() for w in (module.w_q, module.w_k, module.w_v))
    for i in range(N):
        scores = [sum(a * b for a, b in zip(q[i], k[j], strict=True)) / math.sqrt(4) for j in range(i + 1)]
        total = sum(math.exp(s) for s in scores)
        row = [math.exp(s) / total for s in scores]
        assert weights[0, i].tolist() == pytest.approx(row + [0] * (N - i - 1), abs=1e-14)
        mixed = [sum(w * v[j][c] for j, w in enumerate(row)) for c in range(4)]
        assert output[i].tolist() == pytest.approx(mixed, abs=1e-14)


# half precision ---------------------------------------------------------------------------------


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize(("dtype", "step"), [(torch.float16, 2**-10), (torch.bfloat16, 2**-7)])
@pytest.mark.parametrize("rule", ["none", "causal", "numpy table", "alibi", "bias table", "sink"])
@pytest.mark.parametrize("name", ["one head", "4 heads share 2"])
def test_half_precision_is_within_its_steps(name, rule, dtype, step, need_weights):
    half = made(name, dtype)
    exact = copy.deepcopy(half).to(torch.float64)
    x = drawn(BATCH, N, dtype=dtype)
    rule = RULES[rule](half.n_heads)
    output, weights = half(x, rule, need_weights)
    expected, exact_weights = exact(x.double(), rule)
    assert output.dtype == dtype
    torch.testing.assert_close(output.double(), expected, atol=6 * step, rtol=6 * step)
    if need_weights:
        assert weights.dtype == dtype
        torch.testing.assert_close(weights.double(), exact_weights, atol=6 * step, rtol=6 * step)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_stays_finite_where_scores_pass_its_largest_number(dtype, need_weights):
    """x of 300: q and k near 1,000, scores near 1e6, beyond float16's 65,504."""
    module, x = made("one head", dtype), 300 * drawn(N, dtype=dtype)
    assert (module.w_q(x).float() @ module.w_k(x).float().T).abs().max() > 65504
    output, weights = module(x, allowed.window(2), need_weights)
    assert output.isfinite().all()
    if need_weights:
        torch.testing.assert_close(weights.float().sum(-1), torch.ones(1, N), atol=0.02, rtol=0)


@pytest.mark.parametrize("need_weights", [True, False])
def test_a_bias_of_minus_1e9_in_half_precision_is_as_good_as_forbidden(need_weights):
    module, x = made("one head", torch.float16), drawn(N, dtype=torch.float16)
    bias = positions.table(np.where(CAUSAL, 0.0, -1e9)[None])
    output, _ = module(x, Rule(bias=bias), need_weights)
    torch.testing.assert_close(output, module(x, "causal")[0], atol=2e-3, rtol=2e-3)


@pytest.mark.parametrize("need_weights", [True, False])
def test_autocast(need_weights):
    module, x = made("4 heads", torch.float32), drawn(BATCH, N, dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        output, weights = module(x, "causal", need_weights)
    expected, exact = module(x, "causal")
    assert output.dtype == torch.bfloat16
    torch.testing.assert_close(output.float(), expected, atol=0.03, rtol=0.03)
    if need_weights:
        torch.testing.assert_close(weights.float(), exact, atol=0.02, rtol=0.02)


# an ordinary module -----------------------------------------------------------------------------


def test_parameters_have_the_names_of_the_papers():
    names = [f"w_{name}.{part}" for name in "qkv" for part in ("weight", "bias")]
    assert list(SelfAttention(8, 3).state_dict()) == names
    assert list(MultiHeadAttention(8, 4).state_dict()) == [*names, "w_o.weight", "w_o.bias"]
    assert list(MultiHeadAttention(8, 4, bias=False).state_dict()) == [
        n for n in (*names, "w_o.weight") if "weight" in n
    ]
    grouped = MultiHeadAttention(8, 4, n_kv_heads=2)
    assert [tuple(w.weight.shape) for w in (grouped.w_q, grouped.w_k, grouped.w_v, grouped.w_o)] == [(8, 8), (4, 8), (4, 8), (8, 8)]  # fmt: skip
    assert all(isinstance(w, torch.nn.Linear) for w in (grouped.w_q, grouped.w_k, grouped.w_v, grouped.w_o))


def test_sizes_are_shown():
    assert "SelfAttention(\n  d_model=8, d_k=3\n" in repr(SelfAttention(8, 3))
    assert "d_model=8, n_heads=4\n" in repr(MultiHeadAttention(8, 4))
    assert "d_model=8, n_heads=4, n_kv_heads=2\n" in repr(MultiHeadAttention(8, 4, n_kv_heads=2))


def through_a_file(module):
    held = io.BytesIO()
    torch.save(module.state_dict(), held)
    held.seek(0)
    fresh = MultiHeadAttention(D_MODEL, 4, n_kv_heads=2).double()
    fresh.load_state_dict(torch.load(held, weights_only=True))
    return fresh


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), through_a_file])
def test_a_copy_gives_the_same_and_is_its_own(copied):
    module, x = made("4 heads share 2"), drawn(N)
    other = copied(module)
    for need_weights in (True, False):
        assert torch.equal(module(x, "causal", need_weights)[0], other(x, "causal", need_weights)[0])
    with torch.no_grad():
        other.w_q.weight.add_(1)
    assert not torch.equal(module(x)[1], other(x)[1])


def test_to_another_device_takes_the_rules_along():
    """On the meta device there are shapes and devices and no numbers; a table left behind would be seen."""
    module = MultiHeadAttention(D_MODEL, 4, n_kv_heads=2).to("meta")
    x = torch.empty(BATCH, N, D_MODEL, device="meta")
    for rule in [
        None,
        "causal",
        allowed.window(1),
        allowed.padding(REAL),
        allowed.padding(REAL.numpy()),
        REAL[:1].T & REAL[:1],
    ]:
        output, _ = module(x, rule, need_weights=False)
        assert (output.device.type, output.shape) == ("meta", (BATCH, N, D_MODEL))


@pytest.mark.parametrize("rule", [None, "causal", Rule(scale=0.5)])
def test_compiled_as_one_graph(rule):
    torch._dynamo.reset()
    module, x = made("4 heads share 2", torch.float32), drawn(BATCH, N, dtype=torch.float32)
    compiled = torch.compile(module, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x, rule, False)[0], module(x, rule, False)[0])


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning")  # torch's own
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("rule", ["none", "window", "alibi", "padding", "soft cap"])
def test_compiled_and_trained(rule, need_weights):
    torch._dynamo.reset()
    module, x = made("4 heads", torch.float32), drawn(BATCH, N, dtype=torch.float32)
    rule = RULES[rule](4)
    expected = torch.autograd.grad(module(x, rule, need_weights)[0].square().sum(), list(module.parameters()))
    compiled = torch.compile(module, backend="aot_eager")
    compiled(x, rule, need_weights)[0].square().sum().backward()
    for w, grad in zip(module.parameters(), expected, strict=True):
        torch.testing.assert_close(w.grad, grad)


def test_exported_program():
    module, x = made("4 heads", torch.float32).eval(), drawn(BATCH, N, dtype=torch.float32)
    program = torch.export.export(module, (x, "causal", False)).module()
    torch.testing.assert_close(program(x, "causal", False)[0], module(x, "causal", False)[0])


def test_hooks_see_the_projections():
    """A submodule is called as a module, so hooks and replaced layers work."""
    module, seen = made("4 heads"), []
    for name in ("w_q", "w_k", "w_v", "w_o"):
        getattr(module, name).register_forward_hook(lambda *args, name=name: seen.append(name))
    module(drawn(N))
    module(drawn(N), need_weights=False)
    assert seen == ["w_q", "w_k", "w_v", "w_o"] * 2


# training ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("need_weights", [True, False])
def test_it_learns_to_read_the_previous_token(need_weights):
    """Output i should be the content of token i − 1; where a token stands is part of x."""
    n, d_content, steps = 8, 8, 150
    module = SelfAttention(d_content + n, d_content)
    places = torch.eye(n) * 2
    optimizer = torch.optim.Adam(module.parameters(), lr=0.05)

    def batch():
        content = torch.randn(32, n, d_content)
        return torch.cat([content, places.expand(32, n, n)], dim=-1), content

    def on_previous():
        with torch.no_grad():
            weights = module(batch()[0], "causal")[1]
        return weights[:, 0].diagonal(offset=-1, dim1=-2, dim2=-1).mean().item()

    losses, before = [], on_previous()
    for _ in range(steps):
        x, content = batch()
        output, _ = module(x, "causal", need_weights)
        loss = functional.mse_loss(output[:, 1:], content[:, :-1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[0] > 0.8
    assert np.mean(losses[-5:]) < 0.1
    assert before < 0.4
    assert on_previous() > 0.9


# the Trace --------------------------------------------------------------------------------------

WORDS = ["나는", "은행", "에", "돈을", "맡겼다"]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize(("dtype", "atol"), [(torch.float64, 1e-12), (torch.float32, 1e-6)])
def test_a_trace_agrees_with_forward(name, rule, dtype, atol):
    module, x = made(name, dtype), drawn(N, dtype=dtype)
    rule = RULES[rule](module.n_heads)
    trace = module.trace(x, WORDS, rule)
    output, weights = module(x, rule)
    np.testing.assert_allclose(trace.weights, weights.detach(), atol=atol)
    np.testing.assert_allclose(trace.output, output.detach(), atol=atol)


@pytest.mark.parametrize("name", MODULES)
def test_a_trace_holds_what_made_it(name):
    module, x = made(name), drawn(N)
    trace = module.trace(x, WORDS, "causal", dimensions=list("abcdefgh"))
    assert [token.text for token in trace.tokens] == WORDS
    assert trace.dimensions == tuple("abcdefgh")
    assert (trace.n_heads, trace.n_kv_heads, trace.d_head) == (module.n_heads, module.n_kv_heads, module.d_head)
    assert trace.rule == Rule(allowed="causal")
    np.testing.assert_array_equal(trace.x, x)
    for part in ("q", "k", "v", "o"):
        linear, w, b = (
            getattr(module, f"w_{part}"),
            getattr(trace.heads, f"w_{part}"),
            getattr(trace.heads, f"b_{part}"),
        )
        if linear is None:
            assert w is None
            continue
        np.testing.assert_array_equal(w, linear.weight.detach().T)
        assert (b is None) == (linear.bias is None)
        if b is not None:
            np.testing.assert_array_equal(b, linear.bias.detach())
    again = jumok.attend(
        x=trace.x,
        **{f"{kind}_{part}": getattr(trace.heads, f"{kind}_{part}") for kind in "wb" for part in "qkvo"},
        n_heads=trace.n_heads,
        n_kv_heads=trace.n_kv_heads,
        rule="causal",
    )
    np.testing.assert_allclose(again.q, trace.q, atol=1e-13)
    np.testing.assert_allclose(again.output, trace.output, atol=1e-13)


def test_a_trace_says_where_it_comes_from(tmp_path):
    trace = made("4 heads share 2", torch.float32).trace(drawn(N, dtype=torch.float32), WORDS)
    source = trace.source
    assert (source.kind, source.name, source.exact) == ("module", "MultiHeadAttention", True)
    assert source.backend == f"torch {torch.__version__}"
    assert source.details == {"device": "cpu", "dtype": "float32"}
    assert source.shared_heads == "4 query heads share 2 key/value heads, neighbours together"
    assert made("4 heads").trace(drawn(N), WORDS).source.shared_heads is None
    assert jumok.load(trace.save(tmp_path / "a.safetensors")) == trace


def test_a_trace_is_a_copy():
    module, x = made("4 heads"), drawn(N).requires_grad_()
    trace = module.trace(x, WORDS)
    before = trace.output.copy()
    with torch.no_grad():
        module.w_v.weight.zero_()
        module.w_o.weight.zero_()
        x.zero_()
    np.testing.assert_array_equal(trace.output, before)
    assert trace.x.any()
    assert trace.heads.w_o.any()
    assert all(w.grad is None for w in module.parameters())


@pytest.mark.parametrize(("dtype", "step"), [(torch.float16, 2**-10), (torch.bfloat16, 2**-7)])
def test_a_trace_of_half_precision(dtype, step):
    module, x = made("4 heads", dtype), drawn(N, dtype=dtype)
    trace = module.trace(x, WORDS, "causal")
    output, weights = module(x, "causal")
    np.testing.assert_allclose(trace.weights, weights.detach().float(), atol=4 * step)
    np.testing.assert_allclose(trace.output, output.detach().float(), atol=8 * step)


def test_a_trace_records_no_graph():
    module, tracked = made("4 heads"), []
    module.w_q.register_forward_hook(lambda *args: tracked.append(args[-1].requires_grad))
    module.trace(drawn(N), WORDS)
    assert tracked == [False]


def test_a_trace_keeps_a_torch_rule_as_numpy():
    slopes = torch.full((4,), 0.5, requires_grad=True)
    rule = Rule(bias=positions.alibi(slopes), allowed=torch.from_numpy(LAST_ROW_EMPTY))
    module, x = made("4 heads"), drawn(N)
    trace = module.trace(x, WORDS, rule)
    np.testing.assert_allclose(trace.weights, module(x, rule)[1].detach(), atol=1e-12)
    assert isinstance(trace.rule.allowed.array, np.ndarray)


# bad input --------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0, -1, 2.0, True, None, "3"])
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("d_model", lambda value: SelfAttention(value, 3)),
        ("d_k", lambda value: SelfAttention(8, value)),
        ("d_model", lambda value: MultiHeadAttention(value, 2)),
        ("n_heads", lambda value: MultiHeadAttention(8, value)),
        ("n_kv_heads", lambda value: MultiHeadAttention(8, 4, n_kv_heads=False if value is None else value)),
    ],
)
def test_sizes_that_are_not_counts_are_refused(name, make, value):
    with pytest.raises(InputError, match=f"^{name} expects a whole number, 1 or more, got ") as error:
        make(value)
    assert f"{name}에는 1 이상의 정수가 필요한데" in error.value.text("ko")


@pytest.mark.parametrize(
    ("make", "en", "ko"),
    [
        (
            lambda: MultiHeadAttention(8, 3),
            "n_heads=3 does not divide d_model=8 evenly. Try 1, 2, 4, 8.",
            "고르게 나눌 수",
        ),
        (
            lambda: MultiHeadAttention(60, 7),
            "n_heads=7 does not divide d_model=60 evenly. Try 4, 5, 6, 10.",
            "4, 5, 6, 10",
        ),
        (lambda: MultiHeadAttention(8, 16), "n_heads=16 does not divide d_model=8", "n_heads=16"),
        (
            lambda: MultiHeadAttention(8, 4, n_kv_heads=3),
            "n_kv_heads=3 does not divide n_heads=4 evenly",
            "n_kv_heads=3",
        ),
    ],
)
def test_heads_that_do_not_divide_are_refused(make, en, ko):
    with pytest.raises(InputError) as error:
        make()
    assert en in str(error.value)
    assert ko in error.value.text("ko")


BAD_X = {
    "a list": (lambda: [[0.0] * 8], InputError, "x expects a torch.Tensor, got list", "list이(가) 왔습니다"),
    "numpy": (lambda: np.zeros((2, 8)), InputError, "x expects a torch.Tensor, got ndarray", "torch.as_tensor"),
    "token ids": (
        lambda: torch.arange(8),
        InputError,
        "got torch.int64. Token ids go through nn.Embedding",
        "nn.Embedding",
    ),
    "whole numbers": (lambda: torch.ones(2, 8, dtype=torch.long), InputError, "x.float()", "x.float()"),
    "complex": (lambda: torch.ones(2, 8, dtype=torch.complex64), InputError, "got torch.complex64", "torch.complex64"),
    "another width": (lambda: drawn(2)[:, :5], ShapeError, "d_model=8 and at least one token, got (2, 5)", "(2, 5)"),
    "one vector": (lambda: drawn(), ShapeError, "x expects (…, token, d_model) with d_model=8", "(…, 토큰, d_model)"),
    "no tokens": (lambda: drawn(3, 0), ShapeError, "at least one token, got (3, 0, 8)", "토큰이 하나 이상"),
    "another dtype": (
        lambda: drawn(2).float(),
        InputError,
        "x is torch.float32, but the module's parameters are torch.float64",
        "맞추십시오",
    ),
}


@pytest.mark.parametrize("door", ["forward", "fused", "trace"])
@pytest.mark.parametrize("case", BAD_X)
def test_a_bad_x_is_refused(case, door):
    make, kind, en, ko = BAD_X[case]
    module = made("4 heads")
    call = {
        "forward": module,
        "fused": lambda x: module(x, None, False),
        "trace": lambda x: module.trace(x, ["a", "b"]),
    }
    with pytest.raises(kind) as error:
        call[door](make())
    if not (door == "trace" and case in ("one vector", "no tokens")):
        assert en in str(error.value)
        assert ko in error.value.text("ko")


BAD_RULES = {
    "padding for other tokens": (allowed.padding([True] * 4), ShapeError, "padding(keys) has key=4, but there are 5"),
    "table for other tokens": (torch.ones(4, 4).bool(), ShapeError, "table(array) has query=4, but there are 5"),
    "document for other tokens": (allowed.document([0, 1]), ShapeError, "document(ids)"),
    "alibi for other heads": (Rule(bias=positions.alibi([1.0, 2.0])), ShapeError, "alibi(slopes) is for 2 heads"),
    "sink for other heads": (Rule(sink=[1.0]), ShapeError, "sink has 1 logits, but there are 4 heads"),
    "bias for other tokens": (Rule(bias=positions.table(np.zeros((4, 4, 4)))), ShapeError, "there are 5 queries"),
    "other batches": (allowed.padding(REAL[:2]), ShapeError, "the rule has leading axes (2,), but x has (3,)"),
    "more batches": (torch.ones(2, 3, 5, 5).bool(), ShapeError, "the rule has leading axes (2, 3), but x has (3,)"),
    "a name": ("casual", UnknownName, "unknown rule 'casual'"),
    "a number": (3, InputError, "a rule expects a name"),
    "numbers": (torch.ones(5, 5), InputError, "expects True and False"),
}


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("case", BAD_RULES)
def test_a_bad_rule_is_refused(case, need_weights):
    rule, kind, en = BAD_RULES[case]
    with pytest.raises(kind) as error:
        made("4 heads")(drawn(BATCH, N), rule, need_weights)
    assert en in str(error.value)
    assert error.value.text("ko") != str(error.value)


@pytest.mark.parametrize(
    ("x", "tokens", "rule", "en", "ko"),
    [
        ((BATCH, N), WORDS, None, "without a batch axis, got (3, 5, 8). Try x[0].", "배치 축이 없는"),
        ((1, N), WORDS, None, "without a batch axis, got (1, 5, 8)", "배치 축이 없는"),
        ((N,), WORDS[:4], None, "tokens has 4 texts, but x has 5 rows", "tokens는 4개인데 x는 5행"),
        ((N,), [*WORDS, "."], None, "tokens has 6 texts, but x has 5 rows", "tokens는 6개인데 x는 5행"),
        ((N,), "나는 은행", None, "tokens expects a list of texts, got", "문자열의 목록"),
        ((N,), WORDS, allowed.padding(REAL), "the rule has leading axes (3,), but x has ()", "규칙의 앞쪽 축은 (3,)"),
        ((N,), WORDS, allowed.padding([True]), "padding(keys) has key=1, but there are 5", "토큰은 5개"),
    ],
)
def test_a_trace_of_what_is_no_sequence_is_refused(x, tokens, rule, en, ko):
    with pytest.raises(InputError) as error:
        made("4 heads").trace(drawn(*x), tokens, rule)
    assert en in str(error.value)
    assert ko in error.value.text("ko")


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_are_refused_with_the_weights(bad):
    module, x = made("4 heads"), drawn(2, N)
    x[1, 2, 3] = bad
    with pytest.raises(InputError, match=r"^q has a NaN or an infinity: x or the parameters of w_q") as error:
        module(x)
    assert "학습률" in error.value.text("ko")
    with pytest.raises(InputError, match="token '에'"):
        module.trace(x[1], WORDS)


def test_products_that_would_overflow_are_refused_with_the_weights():
    module, x = made("4 heads", torch.float32), 1e30 * drawn(N, dtype=torch.float32)
    with pytest.raises(OverflowRefused, match="q · k"):
        module(x)
    with pytest.raises(OverflowRefused, match="'나는'"):
        module.trace(x, WORDS)


# without torch ----------------------------------------------------------------------------------


def fresh(code, **environment):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1", **environment},
    )


def test_without_torch_the_extra_is_named():
    code = "import sys; sys.modules['torch'] = None\nimport jumok\n"
    done = fresh(
        code + "try: jumok.nn\nexcept jumok.errors.MissingExtra as error: print(error.extra, error, error.text('ko'))"
    )
    assert done.stderr == ""
    assert done.stdout.startswith("learn this needs the package torch")
    assert done.stdout.count("pip install 'jumok[learn]'") == 2
    assert "torch 패키지가 필요한데" in done.stdout


def test_a_torch_that_is_broken_says_so_itself(tmp_path):
    (tmp_path / "torch.py").write_text("import not_there", encoding="utf-8")
    done = fresh("import jumok\njumok.nn", PYTHONPATH=str(tmp_path))
    assert "ModuleNotFoundError: No module named 'not_there'" in done.stderr
    assert "MissingExtra" not in done.stderr
