"""Running a model in the middle of its training, and leaving no trace of that."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np
import torch

__all__ = ["Undisturbed"]


class Undisturbed:
    """Within ``running`` a model is evaluated as it is: no dropout, no autocast, nothing compiled. Afterwards its modes, its
    buffers and every random generator (of PyTorch, NumPy and Python) are as they were.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        self.model = model
        self._written: set[tuple[str, str]] | None = None  # buffers that a run writes to; None before the first run

    @contextmanager
    def running(self, gradients: bool) -> Iterator[None]:
        """gradients : True to let the run be differentiated; gradients of parameters are not touched."""
        with ExitStack() as stack:
            stack.enter_context(self._same_buffers())
            stack.enter_context(_evaluating(self.model))
            stack.enter_context(_same_random_numbers(_cuda_devices(self.model)))
            for kind in {"cpu", *(parameter.device.type for parameter in self.model.parameters())} - {"meta"}:
                if torch.is_autocast_enabled(kind):
                    stack.enter_context(torch.autocast(kind, enabled=False))
            if "torch._dynamo" in sys.modules:  # else nothing can have been compiled
                stack.enter_context(torch.compiler.set_stance("force_eager"))
            stack.enter_context(torch.set_grad_enabled(gradients))
            yield

    @contextmanager
    def _same_buffers(self) -> Iterator[None]:
        """The first run finds out which buffers are written to; later only these are copied beforehand."""
        before = [
            (name, module, key, buffer, buffer._version, self._copy(name, key, buffer))
            for name, module in self.model.named_modules()
            for key, buffer in module._buffers.items()
            if buffer is not None
        ]
        written = set(self._written or ())
        try:
            yield
        finally:
            for name, module, key, buffer, version, copy in before:
                if module._buffers.get(key) is buffer and buffer._version == version:
                    continue
                written.add((name, key))
                module._buffers[key] = buffer
                if copy is not None:
                    with torch.no_grad():
                        buffer.copy_(copy)
            self._written = written

    def _copy(self, name: str, key: str, buffer: torch.Tensor) -> torch.Tensor | None:
        return buffer.detach().clone() if self._written is None or (name, key) in self._written else None


@contextmanager
def _evaluating(model: torch.nn.Module) -> Iterator[None]:
    was = [(module, module.training) for module in model.modules()]
    try:
        for module, _ in was:
            module.training = False
        yield
    finally:
        for module, training in was:
            module.training = training


@contextmanager
def _same_random_numbers(devices: list[int]) -> Iterator[None]:
    python, numpy = random.getstate(), np.random.get_state()
    try:
        with torch.random.fork_rng(devices=devices):
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)


def _cuda_devices(model: torch.nn.Module) -> list[int]:
    return sorted({p.device.index or 0 for p in model.parameters() if p.device.type == "cuda"})
