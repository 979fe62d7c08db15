"""Which axes of a call are the batch and which are heads, learned from what the program does with its output."""

from __future__ import annotations

import pytest
import torch

from jumok.sources.capture.atoms import Atom, Axes
from jumok.sources.capture.found import Found, Step, sampled, side_by_side

B, H, N, D = 2, 3, 5, 4


def found_of(*lead, n=N, steps=()):
    """A call with these leading axes, every number another."""
    axes = Axes.of(lead, row=n, column=n)
    q = torch.randn(*lead, n, D)
    rows = sampled(n)
    return Found("layer", 1, q, q, q, q[..., rows, :], rows, axes.dims[:-2], axes.dims[-2], tuple(steps), "written")


def output_axes(found):
    return Axes((*found.lead, found.query, (Atom("width", D),)))


def shape(found):
    call = found.call()
    return tuple(call.q.shape[:2])


def test_axes_joined_with_the_width_are_heads():
    found = found_of(B, H)
    found.seen_as(output_axes(found).permuted([0, 2, 1, 3]).viewed([B, N, H * D]))
    assert shape(found) == (B, H)


def test_heads_may_stand_before_the_batch():
    found = found_of(H, B)
    found.seen_as(output_axes(found).permuted([1, 2, 0, 3]).viewed([B, N, H * D]))
    assert shape(found) == (B, H)
    torch.testing.assert_close(found.call().q, found.q.transpose(0, 1))


def test_one_axis_that_holds_both_is_taken_apart():
    found = found_of(B * H)
    found.seen_as(output_axes(found).viewed([B, H, N, D]).permuted([0, 2, 1, 3]).viewed([B * N, H * D]))
    assert shape(found) == (B, H)
    torch.testing.assert_close(found.call().q, found.q.reshape(B, H, N, D))


@pytest.mark.parametrize(("lead", "heads"), [((B, H), (B, H)), ((B,), (B, 1)), ((), (1, 1)), ((B, 2, H), (B, 2 * H))])
def test_where_nothing_is_joined_the_first_axis_is_the_batch(lead, heads):
    assert shape(found_of(*lead)) == heads


def test_a_view_without_a_join_says_where_the_batch_ends():
    found = found_of(B * H)
    found.seen_as(output_axes(found).viewed([B, H, N, D]))
    assert shape(found) == (B, H)


def test_only_the_first_join_counts():
    found = found_of(B, H)
    joined = output_axes(found).permuted([0, 2, 1, 3]).viewed([B, N, H * D])
    found.seen_as(joined)
    found.seen_as(joined.viewed([B * N * H * D]))
    assert shape(found) == (B, H)


def test_calls_side_by_side_are_one():
    parts = [found_of(B) for _ in range(H)]
    whole, atom = side_by_side(parts, "heads")
    whole.seen_as(Axes((whole.lead[1], whole.query, (atom, Atom("width", D)))))
    call = whole.call()
    assert (call.module, tuple(call.q.shape)) == ("heads", (B, H, N, D))
    for at, part in enumerate(parts):
        torch.testing.assert_close(call.q[:, at], part.q)


def test_a_mask_that_all_share_stays_one():
    mask = torch.ones(1, N, N, dtype=torch.bool)
    whole, _ = side_by_side([found_of(B, steps=[Step("allowed", mask)]) for _ in range(H)], "")
    (step,) = whole.steps
    assert step.value.shape == (1, 1, N, N)
    assert step.value.data_ptr() == mask.data_ptr()


@pytest.mark.parametrize(
    "other",
    [
        lambda: found_of(B, n=N + 1),
        lambda: found_of(B, steps=[Step("times", 2.0)]),
        lambda: found_of(B, steps=[Step("tanh")]),
        lambda: found_of(B, H),
    ],
    ids=["tokens", "scale", "steps", "axes"],
)
def test_calls_that_are_not_alike_stay_apart(other):
    assert side_by_side([found_of(B, steps=[Step("times", 1.0)]), other()], "") is None


def composed(*steps):
    return found_of(B, H, steps=steps).call()


def test_steps_are_composed():
    table = torch.ones(1, 1, N, N)
    call = composed(Step("times", 0.5), Step("add", table), Step("times", 3.0))
    assert (call.scale, call.softcap) == (1.5, None)
    assert float(call.added[0].max()) == 3.0
    call = composed(Step("times", 0.5), Step("times", 0.25), Step("tanh"), Step("times", 4.0), Step("add", table))
    assert (call.scale, call.softcap) == (0.5, 4.0)
    call = composed(Step("times", 0.5), Step("tanh"))
    assert (call.scale, call.softcap) == (0.5, 1.0)


@pytest.mark.parametrize(
    "steps",
    [
        [Step("tanh"), Step("times", 4.0), Step("times", 2.0)],
        [Step("add", torch.ones(1, 1, N, N)), Step("tanh"), Step("times", 4.0)],
        [Step("tanh"), Step("tanh")],
    ],
)
def test_what_no_rule_can_say_is_refused(steps):
    with pytest.raises(ValueError, match="soft cap"):
        composed(*steps)


def test_the_rows_that_are_compared_are_spread_out():
    assert sampled(1) == [0]
    assert sampled(3) == [0, 1, 2]
    assert sampled(1000) == [0, 200, 400, 599, 799, 999]
