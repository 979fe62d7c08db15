"""The machine: time, memory and its peak are measured; what is not there is refused."""

import sys

import numpy as np
import pytest

from jumok.errors import InputError, MissingExtra
from jumok.variants import machine as machines
from jumok.variants.machine import machine


def test_memory_is_the_most_that_was_held_at_once():
    here = machine()
    seconds, held = here.warmed(lambda: np.ones((1000, 1000)).sum() + np.ones((500, 1000)).sum())
    assert seconds > 0
    assert 8e6 <= held < 9e6


def test_the_peak_is_a_products_pace():
    assert machine().peak(0.01) > 1e6


def test_the_same_numbers_come_for_a_seed():
    here = machine()
    assert np.array_equal(here.normal((3,), 1), here.normal((3,), 1))
    assert here.normal((3,), 1).dtype == here.array([1]).dtype == np.float32


def test_threads_are_those_that_the_settings_allow(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    assert machine().n_threads == 1


def test_on_pytorch_memory_is_told_by_the_system():
    torch = pytest.importorskip("torch")
    here = machine("torch")
    assert here.name == f"torch {torch.__version__}"
    seconds, held = here.warmed(lambda: torch.ones(64, 1024, 1024).sum())
    assert seconds > 0
    assert held is None or 2**28 * 0.9 < held < 2**28 * 1.5
    assert here.array(np.ones((2, 2), np.float16)).dtype == torch.float32


def test_a_gpu_that_is_not_there_is_refused(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="PyTorch finds no CUDA GPU here") as refused:
        machine(device="cuda")
    assert "CUDA GPU가 없습니다" in refused.value.text("ko")


def test_without_pytorch_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(machines.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"jumok\[learn\]"):
        machine("torch")


@pytest.mark.parametrize("problem", ["OSError('no libtorch')", "ImportError('no libtorch')"])
def test_a_pytorch_that_cannot_be_loaded_is_told_as_that(problem, tmp_path, monkeypatch):
    (tmp_path / "torch.py").write_text(f"raise {problem}")
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=r"PyTorch is installed but cannot be loaded: no libtorch\.") as refused:
        machine("torch")
    assert "불러올 수 없습니다" in refused.value.text("ko")
