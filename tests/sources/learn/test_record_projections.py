"""W_Q, W_K, W_V and W_O of programs that nobody knows, found by what they make."""

import numpy as np
import pytest
import torch
from torch import nn

from jumok.sources.capture.capturing import Captured
from jumok.sources.learn.record_projections import parts_of, running


class Separate(nn.Module):
    def __init__(self, d=8, n_heads=2):
        super().__init__()
        self.n_heads = n_heads
        self.a, self.b, self.c, self.d = (nn.Linear(d, d) for _ in range(4))

    def qkv(self, x):
        return self.a(x), self.b(x), self.c(x)

    def forward(self, x):
        q, k, v = (one.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for one in self.qkv(x))
        mixed = (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5).softmax(-1) @ v
        return self.d(mixed.transpose(1, 2).flatten(2))


class Fused(Separate):
    def __init__(self):
        super().__init__()
        self.all = nn.Linear(8, 24)

    def qkv(self, x):
        return self.all(x).chunk(3, dim=-1)


class Interleaved(Fused):
    """Each head has its q, k and v side by side, as in GPT-NeoX."""

    def qkv(self, x):
        return (one.flatten(2) for one in self.all(x).unflatten(-1, (2, 3, 4)).unbind(-2))


class Turned(Separate):
    """A rotation by position between the projection and the product."""

    def qkv(self, x):
        q, k, v = super().qkv(x)
        angle = torch.arange(1, x.shape[1] + 1)[:, None] * 0.7
        sin, cos = angle.sin(), angle.cos()

        def turn(one):
            first, second = one.unflatten(-1, (2, 2, 2)).unbind(-2)
            made = torch.stack(
                [first * cos[:, None] - second * sin[:, None], first * sin[:, None] + second * cos[:, None]], -2
            )
            return made.flatten(-3)

        return turn(q), turn(k), v


class Adapted(Separate):
    """A low-rank adapter beside a projection: nothing at first, then something."""

    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Linear(8, 2, bias=False), nn.Linear(2, 8, bias=False)
        nn.init.zeros_(self.up.weight)

    def qkv(self, x):
        q, k, v = super().qkv(x)
        return q + self.up(self.down(x)), k, v


def found_in(model, x):
    with torch.no_grad(), running(dict(model.named_modules())) as ran, Captured(model) as reading:
        model(x)
    return parts_of(model, reading[0].source.details["module"], reading[0], ran), reading[0], ran


@pytest.fixture
def x():
    torch.manual_seed(3)
    return torch.randn(1, 5, 8)


@pytest.mark.parametrize("kind", [Separate, Fused, Interleaved])
def test_what_was_found_makes_q_k_v_and_the_output(kind, x):
    model = kind()
    found, trace, ran = found_in(model, x)
    weights, arrays = found.weights(), found.arrays(trace, ran)
    np.testing.assert_array_equal(arrays["x"], x[0])
    for name in "qkv":
        made = arrays["x"] @ weights[f"w_{name}"] + weights[f"b_{name}"]
        np.testing.assert_allclose(made, getattr(trace, name).transpose(1, 0, 2).reshape(5, 8), rtol=1e-4, atol=1e-6)
    output = trace.mixed.transpose(1, 0, 2).reshape(5, 8) @ weights["w_o"] + weights["b_o"]
    with torch.no_grad():
        np.testing.assert_allclose(output, model(x)[0], rtol=1e-4, atol=1e-6)
    assert found.leaves == "d"


def test_turned_projections_are_found_and_x_is_not_said_to_make_q(x):
    model = Turned()
    found, trace, ran = found_in(model, x)
    np.testing.assert_array_equal(found.weights()["w_q"], model.a.weight.detach().T)
    np.testing.assert_array_equal(found.weights()["w_k"], model.b.weight.detach().T)
    assert "x" not in found.arrays(trace, ran)
    assert found.weights()


def test_nothing_is_found_where_columns_cannot_be_told_apart(x):
    model = Separate()
    nn.init.zeros_(model.a.weight)
    nn.init.zeros_(model.a.bias)
    found, *_ = found_in(model, x)
    assert found.weights() == {}


def test_projections_that_stop_making_q_are_let_go(x):
    model = Adapted()
    found, trace, ran = found_in(model, x)
    assert "x" in found.arrays(trace, ran)
    nn.init.normal_(model.up.weight)
    with torch.no_grad(), running(dict(model.named_modules())) as ran, Captured(model) as reading:
        model(x)
    assert found.arrays(reading[0], ran) == {}
    assert found.weights() == {}


@pytest.mark.parametrize("options", [{}, {"bias": False}, {"kdim": 8, "vdim": 8, "bias": False}])
@pytest.mark.parametrize("need_weights", [False, True])
def test_torchs_own_module_says_where_they_are(options, need_weights, x):
    model = nn.MultiheadAttention(8, 2, batch_first=True, **options)
    with torch.no_grad(), running({"": model}) as ran, Captured(model) as reading:
        model(x, x, x, need_weights=need_weights)
    found = parts_of(model, "", reading[0], ran)
    weights = found.weights()
    made = x[0].numpy() @ weights["w_v"] + weights.get("b_v", 0)
    np.testing.assert_allclose(made, reading[0].v.transpose(1, 0, 2).reshape(5, 8), rtol=1e-4, atol=1e-6)
    assert ("x" in found.arrays(reading[0], ran)) == (not need_weights), "with the weights q comes scaled"
