"""The fast path rests while anybody is inside, and comes back as it was."""

from __future__ import annotations

import threading

import pytest
import torch

from jumok.sources.capture.fast_path import fast_path_off

on = torch.backends.mha.get_fastpath_enabled


@pytest.mark.parametrize("before", [True, False])
def test_it_is_as_it_was_afterwards(before):
    torch.backends.mha.set_fastpath_enabled(before)
    try:
        with fast_path_off(), fast_path_off():
            assert not on()
        assert on() is before
    finally:
        torch.backends.mha.set_fastpath_enabled(True)


def test_whoever_leaves_first_does_not_switch_it_on():
    inside, leave = threading.Event(), threading.Event()

    def other():
        with fast_path_off():
            inside.set()
            leave.wait(30)

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait(30)
    with fast_path_off():
        pass
    assert not on()
    leave.set()
    thread.join()
    assert on()
