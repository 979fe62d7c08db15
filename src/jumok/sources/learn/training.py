"""The loop: one batch, one gradient, one small move of every weight; snapshots on the way, safe at any moment."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import InputError
from ...history import History
from ...words import with_particle
from .problem import Measured, Problem
from .recording import Recorder

import torch  # isort: skip (model.py says what is missing)

__all__ = ["Progress", "Training", "apart", "schedule"]

WARM_UP = 50  # updates in which the step size grows to its full length
AT_SNAPSHOT = 128  # held-out sequences that are measured at a snapshot
LARGEST_GRADIENT = 1.0  # norm of all gradients together; longer ones are shortened


@dataclass(frozen=True)
class Progress:
    """What is said on the way.

    step, steps : updates made, and how many there will be;  loss : of the last update's batch, before that update
    accuracy : held out, at the last snapshot
    """

    step: int
    steps: int
    loss: float
    accuracy: float
    recorder: Recorder = field(repr=False)


def schedule(steps: int) -> tuple[int, ...]:
    """The steps at which snapshots are taken: each of the first ten, then fewer and fewer, never over 1/40 apart.

    >>> schedule(1000)[:14], len(schedule(1000)), schedule(1000)[-1]
    ((0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14), 88, 1000)
    """
    dense = range(min(10, steps) + 1)
    growing = np.geomspace(10, max(10, steps), 40).astype(int)
    even = np.linspace(0, steps, 41).astype(int)
    return tuple(sorted({int(at) for at in itertools.chain(dense, growing, even) if at <= steps}))


@contextmanager
def apart() -> Iterator[None]:
    """Within the block PyTorch computes as in every run, whatever its user had set, and leaves that as it was.

    One thread, so that sums come out in the same order; float32 on the CPU; a generator of random numbers that is put back.
    """
    threads, dtype = torch.get_num_threads(), torch.get_default_dtype()
    with ExitStack() as stack:
        stack.callback(torch.set_num_threads, threads)
        stack.callback(torch.set_default_dtype, dtype)
        for context in (
            torch.random.fork_rng(devices=[]),
            nullcontext() if torch.get_default_device().type == "cpu" else torch.device("cpu"),
            torch.inference_mode(False),
            torch.enable_grad(),
            torch.autocast("cpu", enabled=False),
        ):
            stack.enter_context(context)
        torch.set_num_threads(1)
        torch.set_default_dtype(torch.float32)
        yield


class Training:
    """A model under training: ``update`` makes one step, ``tensors`` and ``history`` are all that is needed to go on later.

    An update or a snapshot happens as a whole or not at all, whatever ends it.
    """

    def __init__(self, problem: Problem, seed: int, learning_rate: float) -> None:
        self.problem, self.seed, self.learning_rate = problem, seed, learning_rate
        torch.default_generator.manual_seed(seed)  # the CPU's alone; torch.manual_seed would seed every device
        self.model = problem.model()
        self.optimizer = problem.optimizer(self.model, learning_rate)
        self._moved = [w for group in self.optimizer.param_groups for w in group["params"]]
        self._begin_adam()
        self._now = list(self.tensors().values())
        self._before = [tensor.detach().clone() for tensor in self._now]
        self.step = 0
        self.loss: list[float] = []
        self._watched_weights = _attention_weights(problem.attentions(self.model), self._moved)
        self.gradient_norm: dict[str, list[float]] = {name: [] for name in self._watched_weights}
        self.measured: list[Measured] = []
        self.recorder = Recorder(problem.attentions(self.model), problem.watched(self.model))

    @property
    def _is_adam(self) -> bool:
        return isinstance(self.optimizer, torch.optim.AdamW)

    def _begin_adam(self) -> None:
        """Adam's memory as it makes it itself at its first step, so that its tensors are the same all through."""
        if self._is_adam:
            for w in self._moved:
                zeros = {name: torch.zeros_like(w) for name in ("exp_avg", "exp_avg_sq")}
                self.optimizer.state[w] = {"step": torch.zeros(()), **zeros}

    # one step -------------------------------------------------------------------------------------

    def update(self) -> None:
        """One batch, one gradient, one move of every weight.

        Errors: ``InputError`` where the loss or its gradient is no finite number; the weights are then the last ones
        whose loss was one.
        """
        value = self._gradients()
        norms = torch.stack(torch._foreach_norm([w.grad for w in self._moved]))
        whole = float(norms.norm())
        if not math.isfinite(whole):
            raise _not_finite(self.step, whole, self.learning_rate)
        if self._is_adam:
            self._shorten(whole)
        self._move(value, norms)

    def _gradients(self) -> float:
        """The loss of this step's batch, with its gradient at each weight."""
        try:
            loss = self.problem.loss(self.model, self.seed, self.step)
            value = float(loss.detach())
        except InputError:  # jumok.nn refuses what is not finite
            value = math.nan
        if not math.isfinite(value):
            raise self._gone_wrong(value)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        return value

    def _shorten(self, length: float) -> None:
        """A gradient that is longer than ``LARGEST_GRADIENT``, made as long; the step's length, while it grows."""
        if length > LARGEST_GRADIENT:
            torch._foreach_mul_([w.grad for w in self._moved], LARGEST_GRADIENT / length)
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate * min(1.0, (self.step + 1) / WARM_UP)

    def _move(self, loss: float, norms: torch.Tensor) -> None:
        """All of an update's changes, or none."""
        step = self.step
        with torch.no_grad():
            torch._foreach_copy_(self._before, self._now)
        try:
            self.optimizer.step()
            self.loss.append(loss)
            for kept, at in zip(self.gradient_norm.values(), self._watched_weights.values(), strict=True):
                kept.append(float(norms[at]))
            self.step = step + 1
        except BaseException:
            self._undo(step)
            raise

    def _undo(self, step: int) -> None:
        """The state after ``step`` updates, which was before the last one."""
        with torch.no_grad():
            torch._foreach_copy_(self._now, self._before)
        for kept in (self.loss, *self.gradient_norm.values()):
            del kept[step:]
        if self.recorder.steps and self.recorder.steps[-1] > step:
            self.recorder.drop(slice(-1, None))
            del self.measured[len(self.recorder.steps) :]
        self.step = step

    def _gone_wrong(self, value: float) -> InputError:
        """What is said where the weights give no finite loss, after the update that led to them is undone."""
        step = self.step
        if self.step > 0:
            self._undo(self.step - 1)
        return _not_finite(step, value, self.learning_rate)

    def snapshot(self) -> None:
        """Keep the weights, the probes and the held-out accuracy as they are now.

        Errors: ``InputError`` as for ``update``.
        """
        try:
            measured = self.problem.measured(self.model, AT_SNAPSHOT)
            del self.measured[len(self.recorder.steps) :]
            self.measured.append(measured)
            self.recorder.take(self.step)
        except InputError:
            raise self._gone_wrong(math.nan) from None

    # what was, and how to go on -------------------------------------------------------------------

    def tensors(self) -> dict[str, torch.Tensor]:
        """The parameters and the optimiser's memory, by name: all that an update changes."""
        found: dict[str, torch.Tensor] = {}
        for name, parameter in self.model.named_parameters():
            found[f"model.{name}"] = parameter
            for key, value in sorted(self.optimizer.state.get(parameter, {}).items()):
                found[f"optimizer.{name}.{key}"] = value
        return found

    def restore(self, history: History, tensors: Mapping[str, Any]) -> None:
        """Go on from what ``tensors`` and a history say.

        Errors: ``InputError`` where they belong to another model.
        """
        for name, tensor in self.tensors().items():
            given = tensors.get(name)
            if given is None or tuple(given.shape) != tuple(tensor.shape):
                raise InputError(
                    en=f"the saved run has no {name} of shape {tuple(tensor.shape)}: it is of another model. "
                    f"Start anew in another file.",
                    ko=f"저장된 학습에 모양 {tuple(tensor.shape)}인 {with_particle(name, '이/가')} 없습니다. 다른 모델의 것입니다. 다른 파일에 새로 "
                    f"시작하십시오.",
                )
            with torch.no_grad():
                tensor.copy_(torch.tensor(given))
        self.step = len(history.loss)
        self.loss = history.loss.tolist()
        self.gradient_norm = {name: history.gradient_norm[name].tolist() for name in self._watched_weights}
        self.measured = [
            Measured(float(accuracy), {name: role[at] for name, role in history.roles.items()})
            for at, accuracy in enumerate(history.accuracy)
        ]
        self.recorder.restore(history.steps, history.layers, history.probes)

    def history(self, task: Mapping[str, Any], settings: Mapping[str, Any]) -> History:
        """Everything that was kept so far."""
        measured = self.measured[: len(self.recorder.steps)]
        names = measured[-1].roles
        return History(
            steps=tuple(self.recorder.steps),
            layers=self.recorder.layers(),
            probes=self.recorder.probes(),
            loss=np.array(self.loss),
            accuracy=np.array([one.accuracy for one in measured]),
            gradient_norm={name: np.array(kept, np.float32) for name, kept in self.gradient_norm.items()},
            roles={name: np.stack([one.roles[name] for one in measured]) for name in names},
            baselines={name: max(kinds.values()) for name, kinds in self.problem.known.baselines.items()},
            task=task,
            settings=settings,
        )


def _attention_weights(modules: Mapping[str, Any], moved: Sequence[Any]) -> dict[str, int]:
    """W_Q, W_K, W_V and W_O of each layer by name, with their places among the weights that are moved."""
    places = {id(w): at for at, w in enumerate(moved)}
    found = {}
    for name, module in modules.items():
        for part in ("w_q", "w_k", "w_v", "w_o"):
            linear = getattr(module, part)
            if linear is not None and id(linear.weight) in places:
                found[f"{name}.{part}"] = places[id(linear.weight)]
    return found


def _not_finite(step: int, value: float, learning_rate: float) -> InputError:
    return InputError(
        en=f"the loss or its gradient is {value} at step {step}, so training stopped; the last state whose loss was a number "
        f"is kept. Try a smaller learning_rate than {learning_rate:g}.",
        ko=f"{step}단계에서 손실이나 기울기가 {with_particle(str(value), '이/가')} 되어 학습을 멈췄습니다. 손실이 수였던 마지막 상태는 남아 있습니다. "
        f"learning_rate를 {learning_rate:g}보다 작게 해 보십시오.",
    )
