"""Axes followed through views: a tensor that says its own place in every entry shows whether they were followed right."""

from __future__ import annotations

import itertools
import math

import torch
from hypothesis import given
from hypothesis import strategies as st

from jumok.sources.capture.atoms import Atom, Axes, arranged, refined

B, H, N, M = 2, 6, 3, 4


def numbered():
    """A product whose every entry is its own number, and its axes."""
    return torch.arange(B * H * N * M).reshape(B, H, N, M), Axes.of([B, H], row=N, column=M)


def back(tensor, axes):
    """Brought to (batch, head, row, column) again."""
    order = [
        [atom for dim in axes.dims for atom in dim if atom.axis == "lead" and atom.place[0] == at] for at in (0, 1)
    ]
    order = [sorted(dim, key=lambda atom: atom.place) for dim in order]
    return arranged(tensor, axes, [*order, axes.atoms("row"), axes.atoms("column")])


@given(st.permutations(range(4)), st.permutations(range(4)))
def test_permutations_are_followed(first, second):
    tensor, axes = numbered()
    seen = tensor.permute(first).permute(second)
    assert torch.equal(back(seen, axes.permuted(first).permuted(second)), tensor)


@given(st.permutations(range(4)), st.data())
def test_reshapes_are_followed(order, data):
    """Axes cut in two, permuted, and merged with their neighbours."""
    tensor, axes = numbered()
    tensor = tensor.permute(order)
    axes = axes.permuted(order)
    cut = []
    for size in tensor.shape:
        part = data.draw(st.sampled_from([one for one in range(1, size + 1) if size % one == 0]))
        cut += [part, size // part]
    axes, tensor = axes.viewed(cut), tensor.reshape(cut)
    order = data.draw(st.permutations(range(len(cut))))
    axes, tensor = axes.permuted(order), tensor.permute(order)
    ends = sorted({0, len(cut), *data.draw(st.lists(st.integers(1, len(cut) - 1), max_size=4))})
    merged = [math.prod(tensor.shape[a:b]) for a, b in itertools.pairwise(ends)]
    axes, tensor = axes.viewed(merged), tensor.reshape(merged)
    assert axes is not None
    assert torch.equal(back(tensor, axes), numbered()[0])


def test_a_reshape_that_cuts_across_axes_is_not_followed():
    _, axes = numbered()
    assert axes.viewed([B * H * N * M // 8, 8]) is None
    assert axes.viewed([B, H, N]) is None
    assert axes.viewed([5, 5]) is None


def test_axes_of_one_entry_come_and_go():
    axes = Axes.of([1, 3], row=1, column=4)
    assert axes.dims == ((), (Atom("lead", 3, (1,)),), (), (Atom("column", 4),))
    assert axes.viewed([3, 1, 1, 4, 1]).dims == ((Atom("lead", 3, (1,)),), (), (), (Atom("column", 4),), ())


def test_a_broadcast_axis_stays_one_entry():
    tensor, axes = torch.randn(1, H, 1, M), Axes.of([B, H], row=N, column=M)
    made = arranged(tensor, axes, [axes.dims[1], axes.dims[0], axes.dims[3], axes.dims[2]])
    assert made.shape == (H, 1, M, 1)


def test_an_axis_that_is_half_broadcast_is_made_whole():
    axes = Axes.of([B, H], row=N, column=M)
    made = arranged(torch.arange(H).reshape(1, H, 1, 1), axes, [[*axes.dims[0], *axes.dims[1]], *axes.dims[2:]])
    assert made.flatten().tolist() == [*range(H), *range(H)]


def test_coarse_atoms_become_the_finer_ones_of_a_later_view():
    axes = Axes.of([B * H], row=N, column=M)
    finer = axes.viewed([B, H, N, M])
    pieces = [atom for dim in finer.dims for atom in dim]
    assert refined(axes.dims[0], pieces) == [*finer.dims[0], *finer.dims[1]]
    assert refined(axes.dims[1], pieces) == list(axes.dims[1])
