"""Flash attention: its log-sum-exp, its backward by recomputation, its memory, and what it refuses."""

from __future__ import annotations

import importlib
import os
import signal
import threading
import tracemalloc
from typing import Any

import numpy as np
import pytest
import torch

from cases import CASES, close, drawn, expected, steps_of
from jumok import Rule, allowed, positions, variants
from jumok.errors import InputError, OverflowRefused, TooLargeError
from jumok.variants import fast_numpy
from libraries import Library

GIVEN = {"batch": (2, 4, 2, 11, 13), "one token": (1, 1, 1, 1, 1), "fewer keys": (1, 2, 1, 9, 4)}


def given(name: str, dtype: Any = torch.float64) -> list[Any]:
    batch, heads, kv_heads, n, m = GIVEN[name]
    shapes = (batch, heads, n, 5), (batch, kv_heads, m, 5), (batch, kv_heads, m, 3)
    return [torch.from_numpy(drawn(*shape, seed=at)).to(dtype) for at, shape in enumerate(shapes)]


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize(
    "name", ["everything at once", "sink, nothing allowed", "nothing allowed", "causal, fewer keys", "cross"]
)
def test_the_log_sum_exp_is_what_the_weights_are_made_of(name: str, fast: bool, library: Library) -> None:
    if library.compiles:
        return  # its compiled form is in test_exact
    steps = steps_of(name, library, library.array)
    mixed, lse = variants.flash(steps.q, steps.k, steps.v, steps.rule, tile=2, return_lse=True, fast=fast)
    close(library.numpy(mixed), expected(name)["mixed"], "float64")
    lse, whole = library.numpy(lse), expected(name)
    with np.errstate(divide="ignore"):
        scores = np.where(whole["allowed"], whole["scaled"], -np.inf)
        wanted = np.logaddexp.reduce(scores, axis=-1)
        if CASES[name].loop.get("sink") is not None:
            wanted = np.logaddexp(wanted, CASES[name].loop["sink"][:, None])
    np.testing.assert_allclose(lse, wanted, rtol=1e-12, atol=1e-12)


def rules() -> dict[str, Any]:
    slopes, vector, sink = (torch.from_numpy(drawn(*shape, seed=7)).requires_grad_() for shape in ((4,), (1, 7), (4,)))
    nothing = torch.from_numpy(drawn(11, 13, seed=8)) > 0.3
    nothing[4] = False
    return {
        "everything": (None, []),
        "causal": ("causal", []),
        "a row with nothing": (nothing, []),
        "soft cap, scale": (Rule(0.7, allowed.window(3, 2), 1.5), []),
        "learned bias": (
            Rule(allowed=nothing, bias=positions.alibi(slopes) + positions.relative(vector)),
            [slopes, vector],
        ),
        "learned sink": (Rule(allowed=nothing, sink=sink * 2), [sink]),
    }


@pytest.mark.parametrize("through_lse", [False, True])
@pytest.mark.parametrize("name", rules())
def test_its_backward_is_that_of_autograd(name: str, through_lse: bool) -> None:
    """By recomputation, against PyTorch's derivative of the whole table; also what is learned inside a rule."""
    of_mixed, of_lse = torch.from_numpy(drawn(2, 4, 11, 3, seed=5)), torch.from_numpy(drawn(2, 4, 11, seed=6))

    def gradients(flash: bool) -> Any:
        rule, learned = rules()[name]
        arrays = [array.requires_grad_() for array in given("batch")]
        mixed, lse = variants.flash(*arrays, rule, tile=4, return_lse=True, fast=flash)
        loss = (mixed * of_mixed).sum()
        if through_lse:
            loss = loss + torch.where(lse.isinf(), 0, lse * of_lse).sum()
        return torch.autograd.grad(loss, arrays + learned)

    for got, wanted in zip(gradients(True), gradients(False), strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", GIVEN)
def test_its_backward_fits_every_shape(name: str) -> None:
    def gradients(variant: Any) -> Any:
        arrays = [array.requires_grad_() for array in given(name)]
        return torch.autograd.grad(variant(*arrays, Rule(softcap=2.0)).square().sum(), arrays)

    for got, wanted in zip(gradients(variants.flash), gradients(variants.full), strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-11, atol=1e-12)


def test_the_way_back_keeps_no_tile() -> None:
    """What autograd saves for the backward: q, k, v, the result and its log-sum-exp; nothing as large as a table."""
    saved: list[int] = []
    arrays = [torch.randn(1, 1, 64, 4, requires_grad=True) for _ in range(3)]

    def noted(tensor: Any) -> Any:
        saved.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(noted, lambda tensor: tensor):
        variants.flash(*arrays, Rule(softcap=2.0), tile=16)
    assert saved
    assert max(saved) <= 64 * 4


@pytest.mark.parametrize("variant", ["flash", "flash, own lines", "window"])
def test_its_memory_grows_with_n_and_not_with_its_square(variant: str) -> None:
    def peak(n: int) -> int:
        q, k, v = (drawn(1, n, 8, seed=at).astype(np.float32) for at in range(3))
        run = variants.window if variant == "window" else variants.flash
        rule = allowed.window(63) if variant == "window" else None
        tracemalloc.start()
        run(q, k, v, rule, tile=128, fast=variant == "flash")
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(1024)  # what the first call of some size brings and makes once is not counted
    small, large = peak(512), peak(4096)
    assert large <= 9 * small
    assert large < 4096 * 4096 * 4 / 50


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1.0, 60.0, 1e4])
def test_on_numpy_any_height_of_scores_will_do(size: float, dtype: Any) -> None:
    """Scores that begin far below 0 and end far above it, or the other way round, beside values near the type's limit."""
    height = np.linspace(-1, 1, 24, dtype=dtype)[:, None]
    q = np.stack([height * size, -height * size])
    k = np.stack([height, height])
    v = np.sin(np.arange(144, dtype=dtype)).reshape(2, 24, 3) * (np.finfo(dtype).max / 1000)
    rule = Rule(scale=1.0, allowed=allowed.window(20))
    assert variants.route(q, k, v, rule).name == "threads"
    got, wanted = variants.flash(q, k, v, rule, tile=2), variants.full(*(a.astype(np.float64) for a in (q, k, v)), rule)
    close_by = (10 + size) * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(got / v.max(), wanted / v.max(), rtol=0, atol=close_by)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_summed_in_float32(dtype: Any) -> None:
    q, k, v = given("batch", dtype)
    got = variants.flash(q, k, v, allowed.window(5), tile=4)
    wanted = variants.full(*(array.double() for array in (q, k, v)), allowed.window(5))
    assert got.dtype == dtype
    torch.testing.assert_close(got.double(), wanted, rtol=0, atol=float(torch.finfo(dtype).eps) * 2)


def test_a_tile_larger_than_the_text_is_the_whole_text() -> None:
    q, k, v = given("batch")
    torch.testing.assert_close(
        variants.flash(q, k, v, tile=10**9, fast=False), variants.full(q, k, v), rtol=1e-12, atol=1e-12
    )


REFUSED = {
    "tile 0": ({"tile": 0}, "tile expects a whole number, 1 or more, got 0", "tile에는 1 이상의 정수"),
    "tile 1.5": ({"tile": 1.5}, "tile expects a whole number", "tile에는"),
    "tile True": ({"tile": True}, "tile expects a whole number", "tile에는"),
    "fast 1": ({"fast": 1}, "fast expects True or False", "fast에는"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_options_of_the_wrong_kind_are_refused(name: str) -> None:
    options, en, ko = REFUSED[name]
    with pytest.raises(InputError, match=en) as told:
        variants.flash(*given("batch"), **options)
    assert ko in told.value.ko


WRONG = {
    "a list": (lambda q, k, v: ([[[1.0]]], k, v), "q expects an array", "q에는"),
    "whole numbers": (lambda q, k, v: (q, k.astype(int), v), "k expects real numbers", "k에는 실수"),
    "no head axis": (lambda q, k, v: (q, k, v[0]), "v expects", "v에는 크기가"),
    "no token": (lambda q, k, v: (q[:, :0], k, v), "q expects", "q에는 크기가"),
    "another width": (lambda q, k, v: (q, k[..., :2], v), "k has d_head=2, but q has d_head=3", "k의 d_head=2"),
    "fewer values": (lambda q, k, v: (q, k, v[:, :3]), "v has key=3, but k has key=4", "v의 key=3"),
    "heads": (
        lambda q, k, v: (q, k[:1].repeat(3, 0), v[:1].repeat(3, 0)),
        "4 query heads cannot share 3",
        "쿼리 헤드 4개",
    ),
    "another type": (lambda q, k, v: (q, k.astype(np.float32), v), "k has dtype=float32", "k의 dtype"),
    "another library": (lambda q, k, v: (q, k, torch.from_numpy(v)), "must come from one library", "한 라이브러리"),
    "NaN": (lambda q, k, v: (q, k * np.nan, v), "k holds NaN or infinity", "k에 NaN"),
    "infinity": (lambda q, k, v: (q, k, v / 0), "v holds NaN or infinity", "v에 NaN"),
}


@pytest.mark.parametrize("variant", ["full", "flash", "window", "sparse", "linear", "lowrank"])
@pytest.mark.parametrize("name", WRONG)
def test_arrays_that_do_not_fit_are_refused(name: str, variant: str) -> None:
    change, en, ko = WRONG[name]
    q, k, v = (drawn(4, n, 3, seed=at) for at, n in enumerate((5, 4, 4)))
    with np.errstate(all="ignore"):
        arrays = change(q, k, v)
    with pytest.raises(InputError, match=en) as told:
        getattr(variants, variant)(*arrays)
    assert ko in told.value.ko


def test_values_whose_sum_would_not_fit_are_refused() -> None:
    q, k, v = (drawn(1, 4, 3, seed=at) for at in range(3))
    with pytest.raises(OverflowRefused, match="the sum of all values"):
        variants.flash(q, k, np.full_like(v, 1e308))


def test_scores_near_the_limit_are_watched() -> None:
    """Where q · k might overflow, each product is looked at: here it does not, there it is refused."""
    q, k = np.array([[[3e153, 0.0, 0.0]]]), np.array([[[0.0, 3e153, 0.0], [1e153, 0.0, 0.0]]])
    v = drawn(1, 2, 3)
    assert variants.route(q, k, v).why == "size"
    np.testing.assert_array_equal(variants.flash(q, k, v), variants.full(q, k, v))
    with pytest.raises(OverflowRefused):
        variants.flash(q * 1e10, k, v)


def test_a_table_that_would_not_fit_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    full = importlib.import_module("jumok.variants.full")
    q, k, v = (drawn(2, 50, 3, seed=at) for at in range(3))
    needed = full.table_bytes(2, 50, 50, 8)
    monkeypatch.setattr(full, "available", lambda: needed)
    variants.full(q, k, v)
    monkeypatch.setattr(full, "available", lambda: needed - 1)
    with pytest.raises(TooLargeError, match=r"50 queries and 50 keys would hold .* GB .*flash") as told:
        variants.full(q, k, v)
    assert told.value.bytes_needed == needed
    assert "flash" in told.value.ko


def test_what_full_holds_is_what_it_says() -> None:
    full = importlib.import_module("jumok.variants.full")
    q, k, v = (drawn(2, 400, 3, seed=at) for at in range(3))
    tracemalloc.start()
    variants.full(q, k, v)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.75 < most / full.table_bytes(2, 400, 400, 8) < 1.05


def test_numpy_by_threads_is_the_reference() -> None:
    q, k, v = (drawn(4, 70, 8, seed=at).astype(np.float32) for at in range(3))
    for rule in (None, "causal", allowed.window(9) | allowed.table(drawn(70, 70) > 1), Rule(sink=drawn(4))):
        for tile in (16, 1000):
            got, lse = variants.flash(q, k, v, rule, tile=tile, return_lse=True)
            wanted, wanted_lse = variants.flash(q, k, v, rule, tile=tile, return_lse=True, fast=False)
            np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-6)
            np.testing.assert_allclose(lse, wanted_lse, rtol=2e-5, atol=2e-6)


def test_ctrl_c_ends_the_threads_with_the_tiles_that_they_are_at(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Any] = []

    class Watched(fast_numpy._Rows):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            begun.append(self)
            if len(begun) == 5:
                os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(fast_numpy, "_Rows", Watched)
    q = np.random.default_rng(0).standard_normal((8, 4096, 64), dtype=np.float32)
    with pytest.raises(KeyboardInterrupt):
        variants.flash(q, q, q, "causal")
    assert 5 <= len(begun) < 64
    assert not [thread for thread in threading.enumerate() if "ThreadPool" in thread.name]
