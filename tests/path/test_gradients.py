"""The same lines train: PyTorch gradients against finite differences, and JAX's grad and jit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from jumok.path import Rule, Steps, attend
from jumok.path.allowed import causal, padding, table, window
from jumok.path.positions import Rotary, alibi, relative, t5
from jumok.path.positions import table as bias_table
from libraries import LIBRARIES

HOLES = torch.tensor(
    [[1, 0, 0, 0], [0, 0, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1]], dtype=torch.bool
)  # one row reads nothing


def leaf(*shape: int, seed: int = 0, size: float = 1.0) -> Any:
    made = torch.from_numpy(size * np.random.default_rng([seed, *shape]).standard_normal(shape))
    return made.requires_grad_()


RULES: dict[str, Callable[[], Any]] = {
    "plain": lambda: None,
    "causal": lambda: "causal",
    "rows that read nothing": lambda: Rule(allowed=causal() & table(HOLES)),
    "softcap, ALiBi and sink": lambda: Rule(
        0.8, window(2), 1.5, alibi(np.array([0.5, 0.25])), torch.tensor([0.3, -2.0], dtype=torch.float64)
    ),
    "T5": lambda: Rule(bias=t5(torch.from_numpy(np.linspace(-1, 1, 16).reshape(8, 2)), max_distance=4)),
}


@pytest.mark.parametrize("n_kv_heads", [2, 1])
@pytest.mark.parametrize("name", RULES)
def test_gradients_of_the_output_are_right(name: str, n_kv_heads: int) -> None:
    """With respect to x and every projection; with one key/value head for both heads too."""
    given = (
        leaf(4, 3),
        leaf(3, 4),
        leaf(3, 2 * n_kv_heads, seed=1),
        leaf(3, 2 * n_kv_heads, seed=2),
        leaf(4, 3, seed=3),
    )

    def output(x: Any, w_q: Any, w_k: Any, w_v: Any, w_o: Any) -> Any:
        return attend(x, w_q, w_k, w_v, w_o, n_heads=2, n_kv_heads=n_kv_heads, rule=RULES[name]()).output

    assert torch.autograd.gradcheck(output, given)


@pytest.mark.parametrize("name", RULES)
def test_gradients_from_q_k_and_v_are_right_in_batches(name: str) -> None:
    given = (leaf(2, 2, 4, 3), leaf(2, 1, 4, 3, seed=1), leaf(2, 1, 4, 2, seed=2))
    assert torch.autograd.gradcheck(lambda q, k, v: Steps(q, k, v, Rule.of(RULES[name]())).mixed, given)
    assert torch.autograd.gradcheck(lambda q, k, v: Steps(q, k, v, Rule.of(RULES[name]())).weights, given)


@pytest.mark.parametrize(
    ("made", "shape"),
    [
        (lambda p: Rule(bias=t5(p, max_distance=4)), (8, 2)),
        (lambda p: Rule(bias=relative(p)), (2, 3)),
        (lambda p: Rule(bias=alibi(p)), (2,)),
        (lambda p: Rule(bias=bias_table(p) + alibi([1.0, 2.0])), (1, 4, 4)),
        (lambda p: Rule(sink=p, allowed=HOLES), (2,)),
    ],
    ids=["T5", "relative", "ALiBi", "table", "sink"],
)
def test_gradients_reach_what_the_rule_learns(made: Any, shape: tuple[int, ...]) -> None:
    q, k, v, parameter = leaf(2, 4, 3), leaf(2, 4, 3, seed=1), leaf(2, 4, 2, seed=2), leaf(*shape, seed=3)
    assert torch.autograd.gradcheck(lambda p: Steps(q, k, v, made(p)).mixed, (parameter,))
    Steps(q, k, v, made(parameter)).mixed.square().sum().backward()
    assert (parameter.grad != 0).any()


@pytest.mark.parametrize("interleaved", [True, False])
def test_gradients_through_the_rotation_are_right(interleaved: bool) -> None:
    assert torch.autograd.gradcheck(Rotary(interleaved=interleaved, offset=3).turned, (leaf(2, 3, 4),))


@pytest.mark.parametrize("size", [1.0, 1e15])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gradients_are_finite_where_cells_are_forbidden_and_scores_huge(dtype: Any, size: float) -> None:
    """The largest scores are the forbidden ones, and one row may read nothing at all."""
    q, k, v = (leaf(1, 4, 3, seed=s, size=size).detach().to(dtype).requires_grad_() for s in range(3))
    for sink in (None, torch.zeros(1)):
        weights = Steps(q, k, v, Rule(allowed=HOLES & (torch.arange(4) != 1), sink=sink)).weights
        (weights @ v).sum().backward()
        assert all(torch.isfinite(array.grad).all() for array in (q, k, v))
    nothing = Steps(q, k, v, Rule(allowed=HOLES & False)).mixed
    for gradient in torch.autograd.grad(nothing.sum(), (q, k, v)):
        assert (gradient == 0).all()


def test_what_may_not_be_read_gets_no_gradient() -> None:
    q, k, v = (leaf(1, 3, 2, seed=s) for s in range(3))
    Steps(q, k, v, Rule(allowed=padding([True, False, True]))).mixed.sum().backward()
    assert (k.grad[0, 1] == 0).all()
    assert (v.grad[0, 1] == 0).all()
    assert (k.grad[0, 2] != 0).all()


def test_numbers_with_gradients_warn_nowhere() -> None:
    """Reading a size out of a tensor with a gradient makes PyTorch warn; warnings are errors here."""
    q, k, v = (leaf(1, 3, 2, seed=s, size=1e200) for s in range(3))
    sink = torch.nn.Parameter(torch.zeros(1))
    steps = Steps(q, k / 1e100, v, Rule(softcap=0.5, scale=3.0, sink=sink, bias=relative(leaf(1, 3))))
    assert steps.output.requires_grad


# JAX ----------------------------------------------------------------------------------------------


def jax_arrays() -> Any:
    library = LIBRARIES["jax"].ready()
    return [library.array(leaf(1, 4, 2, seed=s).detach().numpy()) for s in range(3)]


def test_jax_traces_and_differentiates_the_same_lines() -> None:
    """jit gives the same numbers as without, and grad the same as PyTorch's."""
    q, k, v = jax_arrays()
    extra = jnp.asarray(np.linspace(-1, 1, 8)[:, None])

    def mixed(q: Any, k: Any, v: Any, buckets: Any) -> Any:
        allowed = causal() & (window(2) | padding([True, False, True, True]))
        return Steps(q, k, v, Rule(0.7, allowed, 2.0, t5(buckets, max_distance=4), buckets[0])).mixed

    assert jnp.allclose(jax.jit(mixed)(q, k, v, extra), mixed(q, k, v, extra), rtol=1e-12)
    gradients = jax.jit(jax.grad(lambda *given: (mixed(*given) ** 2).sum(), argnums=(0, 1, 2, 3)))(q, k, v, extra)
    tensors = [torch.from_numpy(np.array(array)).requires_grad_() for array in (q, k, v, extra)]
    (mixed(*tensors) ** 2).sum().backward()
    for got, tensor in zip(gradients, tensors, strict=True):
        wanted = torch.zeros_like(tensor) if tensor.grad is None else tensor.grad
        np.testing.assert_allclose(got, wanted.numpy(), rtol=1e-10, atol=1e-12)


def test_jax_gradients_are_finite_where_nothing_may_be_read() -> None:
    q, k, v = jax_arrays()
    rule = Rule(allowed=HOLES.numpy())
    for gradient in jax.jit(jax.grad(lambda *given: Steps(*given, rule).mixed.sum(), argnums=(0, 1, 2)))(q, k, v):
        assert jnp.isfinite(gradient).all()
