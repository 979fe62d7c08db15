"""The loop: one batch, one gradient, one small move of every weight; snapshots on the way, safe at any moment."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import InputError
from ...history import History
from .problem import Measured, Problem
from .recording import Recorder

import torch  # isort: skip (model.py says what is missing)

__all__ = ["Progress", "Training", "one_thread", "schedule"]

WARM_UP = 50  # updates in which the step size grows to its full length
AT_SNAPSHOT = 256  # held-out sequences that are measured at a snapshot
LARGEST_GRADIENT = 1.0  # norm of all gradients together; longer ones are shortened


@dataclass(frozen=True)
class Progress:
    """What is said on the way: updates made, how many there will be, the loss, held-out accuracy at the last snapshot."""

    step: int
    steps: int
    loss: float
    accuracy: float
    recorder: Recorder = field(repr=False)


def schedule(steps: int) -> tuple[int, ...]:
    """The steps at which snapshots are taken: each of the first ten, then fewer and fewer, never over 1/40 apart.

    >>> schedule(1000)[:14], len(schedule(1000)), schedule(1000)[-1]
    ((0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15), 74, 1000)
    """
    dense = range(min(10, steps) + 1)
    growing = np.geomspace(10, max(10, steps), 40).astype(int)
    even = np.linspace(0, steps, 41).astype(int)
    return tuple(sorted({int(at) for at in itertools.chain(dense, growing, even) if at <= steps}))


@contextmanager
def one_thread() -> Iterator[None]:
    """Within the block PyTorch computes on one thread, so that the same sums come out in the same order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Training:
    """A model under training. ``run`` goes on to ``steps`` updates; ``state`` is all that it would need to go on later."""

    def __init__(self, problem: Problem, seed: int, learning_rate: float) -> None:
        self.problem, self.seed, self.learning_rate = problem, seed, learning_rate
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.model = problem.model()
        self.optimizer = problem.optimizer(self.model, learning_rate)
        self.step = 0
        self.loss: list[float] = []
        self.watched_weights = _attention_weights(problem.attentions(self.model))
        self.gradient_norm: dict[str, list[float]] = {name: [] for name in self.watched_weights}
        self.measured: list[Measured] = []
        self.recorder = Recorder(problem.attentions(self.model), problem.watched(self.model))

    # one step -------------------------------------------------------------------------------------

    def update(self) -> None:
        """One batch, one gradient, one move of every weight.

        Errors: ``InputError`` where the loss or its gradient is no finite number; the weights are then the last ones
        whose loss was one.
        """
        loss = self.problem.loss(self.model, self.seed, self.step)
        value = float(loss.detach())
        if not math.isfinite(value):
            self._go_back()
            raise _not_finite(self.step + 1, value, self.learning_rate)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        norms = [0.0 if w.grad is None else float(w.grad.norm()) for w in self.watched_weights.values()]
        parameters = [w for group in self.optimizer.param_groups for w in group["params"]]
        whole = torch.nn.utils.clip_grad_norm_(parameters, LARGEST_GRADIENT if self._is_adam else math.inf)
        if not math.isfinite(float(whole)):
            raise _not_finite(self.step, float(whole), self.learning_rate)
        self._remember()
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate * (min(1.0, (self.step + 1) / WARM_UP) if self._is_adam else 1.0)
        self.optimizer.step()
        self.loss.append(value)
        for kept, norm in zip(self.gradient_norm.values(), norms, strict=True):
            kept.append(norm)
        self.step += 1

    @property
    def _is_adam(self) -> bool:
        return isinstance(self.optimizer, torch.optim.Adam)

    def snapshot(self) -> None:
        """Keep the weights, the probes and the held-out accuracy as they are now."""
        self.recorder.take(self.step)
        self.measured.append(self.problem.measured(self.model, AT_SNAPSHOT))

    # what was, and how to go on -------------------------------------------------------------------

    def tensors(self) -> dict[str, torch.Tensor]:
        """The parameters and the optimiser's memory, by name: all that an update changes."""
        found = {f"model.{name}": parameter for name, parameter in self.model.named_parameters()}
        for name, parameter in self.model.named_parameters():
            for key, value in sorted(self.optimizer.state.get(parameter, {}).items()):
                found[f"optimizer.{name}.{key}"] = value
        return found

    def _remember(self) -> None:
        with torch.no_grad():
            self._before = {name: tensor.clone() for name, tensor in self.tensors().items()}

    def _go_back(self) -> None:
        """Undo the last update, which led to a loss that is no number."""
        if self.step == 0:
            return
        with torch.no_grad():
            for name, tensor in self.tensors().items():
                tensor.copy_(self._before[name] if name in self._before else torch.zeros_like(tensor))
        self.step -= 1
        for kept in (self.loss, *self.gradient_norm.values()):
            kept.pop()

    def restore(self, history: History, tensors: Mapping[str, Any]) -> None:
        """Go on from what ``tensors`` and a history say.

        Errors: ``InputError`` where they belong to another model.
        """
        parameters = dict(self.model.named_parameters())
        for name, parameter in parameters.items():
            given = tensors.get(f"model.{name}")
            if given is None or tuple(given.shape) != tuple(parameter.shape):
                raise InputError(
                    en=f"the saved run has no {name} of shape {tuple(parameter.shape)}: it is of another model. "
                    f"Start anew, or give the task, heads and layers that it was made with.",
                    ko=f"저장된 학습에 모양 {tuple(parameter.shape)}인 {name}이(가) 없습니다. 다른 모델의 것입니다. 새로 시작하거나, "
                    f"저장할 때와 같은 과제, 헤드, 층을 주십시오.",
                )
            with torch.no_grad():
                parameter.copy_(torch.tensor(given))
            prefix = f"optimizer.{name}."
            kept = {key[len(prefix) :]: torch.tensor(array) for key, array in tensors.items() if key.startswith(prefix)}
            if kept:
                self.optimizer.state[parameter] = kept
        self.step = len(history.loss)
        self.loss = history.loss.tolist()
        self.gradient_norm = {name: history.gradient_norm[name].tolist() for name in self.watched_weights}
        self.measured = [
            Measured(float(accuracy), 0.0, {name: role[at] for name, role in history.roles.items()}, history.baselines)
            for at, accuracy in enumerate(history.accuracy)
        ]
        self.recorder.restore(history.steps, history.layers, history.probes)

    def history(self, task: Mapping[str, Any], settings: Mapping[str, Any]) -> History:
        """Everything that was kept so far."""
        names = self.measured[-1].roles
        return History(
            steps=tuple(self.recorder.steps),
            layers=self.recorder.layers(),
            probes=self.recorder.probes(),
            loss=np.array(self.loss),
            accuracy=np.array([one.accuracy for one in self.measured]),
            gradient_norm={name: np.array(kept, np.float32) for name, kept in self.gradient_norm.items()},
            roles={name: np.stack([one.roles[name] for one in self.measured]) for name in names},
            baselines=self.measured[-1].baselines,
            task=task,
            settings=settings,
        )


def _attention_weights(modules: Mapping[str, Any]) -> dict[str, torch.nn.Parameter]:
    """W_Q, W_K, W_V (and W_O) of each layer by name."""
    found = {}
    for name, module in modules.items():
        for part in ("w_q", "w_k", "w_v", "w_o"):
            if getattr(module, part) is not None:
                found[f"{name}.{part}"] = getattr(module, part).weight
    return found


def _not_finite(step: int, value: float, learning_rate: float) -> InputError:
    return InputError(
        en=f"the loss or its gradient is {value} at step {step}; the last state whose loss was a number is kept. "
        f"Try a smaller learning rate than {learning_rate:g}.",
        ko=f"{step}단계에서 손실이나 기울기가 {value}이(가) 되었습니다. 손실이 수였던 마지막 상태를 남겨 두었습니다. 학습률을 "
        f"{learning_rate:g}보다 작게 해 보십시오.",
    )
