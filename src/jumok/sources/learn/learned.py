"""``learn``: a task → the trained small model, with its history and what emerged."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ... import history as histories
from ... import saved
from ...errors import InputError
from ...history import History
from ...trace import Reading, Trace
from .examples import WantedRows
from .task import Asked, SequenceTask, Sizes
from .tasks import task_of

__all__ = ["Learned", "learn", "unpacked"]

SAVE_EVERY_S = 5.0


@dataclass(frozen=True, eq=False)
class Learned:
    """A trained small model, and how it came to be.

    history : curves and snapshots;  task : what was learned
    tensors : ``model.*`` its parameters, ``optimizer.*`` what a continued training needs
    emerged : which head carries the task (``Emerged`` as plain JSON), None while the training is not finished
    """

    history: History
    task: SequenceTask | WantedRows
    tensors: Mapping[str, Any] = field(repr=False)
    emerged: Mapping[str, Any] | None = None

    @property
    def accuracy(self) -> float:
        """Held out, 0 to 1. For wanted rows: 1 less the mean total variation distance from what is wanted."""
        return float(self.history.accuracy[-1] if self.emerged is None else self.emerged["accuracy"])

    @property
    def loss(self) -> float:
        """The loss of the last step's batch."""
        return float(self.history.loss[-1])

    @property
    def step(self) -> int:
        """How many updates were made."""
        return len(self.history.loss)

    @property
    def model(self) -> Any:
        """The trained model: a ``torch.nn.Module`` in evaluation mode, made anew at each call."""
        import torch

        model = _problem(self.task, self.history.settings).model()
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter.copy_(torch.tensor(self.tensors[f"model.{name}"]))
        return model.eval()

    def trace(self, text: str) -> Trace | Reading:
        """What the trained model does with a text of words from its vocabulary; several layers give a Reading.

        Errors: ``UnknownName`` for a word that the model never saw, ``InputError`` for a text that is empty or too long.
        """
        history = self._looked_at(text)
        return history.trace() if len(history.layers) == 1 else history.reading()

    def answer(self, text: str) -> tuple[str, ...]:
        """What the trained model answers at each place of a text. Errors: as for ``trace``."""
        import torch

        task, numbers = self._numbers(text)
        with torch.no_grad():
            best = self.model(torch.tensor([numbers]))[0].argmax(-1)
        return tuple(task.vocabulary[at] for at in best.tolist())

    def _numbers(self, text: str) -> tuple[SequenceTask, list[int]]:
        if not isinstance(self.task, SequenceTask):
            raise InputError(
                en=f"{self.task.name} was learned on its own sentence only: history.trace() shows it.",
                ko=f"{self.task.name}의 학습은 그 예제의 문장에서만 했습니다. history.trace()로 볼 수 있습니다.",
            )
        return self.task, self.task.numbered(text)

    def _looked_at(self, text: str) -> History:
        from .problem import watched
        from .recording import Recorder

        task, _ = self._numbers(text)
        model = self.model
        modules = _problem(task, self.history.settings).attentions(model)
        recorder = Recorder(modules, [watched(model, task, Asked(tuple(text.split()), len(text.split()) - 1))])
        recorder.take(self.step)
        return History(
            steps=tuple(recorder.steps),
            layers=recorder.layers(),
            probes=recorder.probes(),
            loss=np.zeros(0),
            accuracy=np.array([self.accuracy]),
            task=self.history.task,
            settings=self.history.settings,
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the whole run, or nothing, as ``.safetensors``: to look at, to use, or to continue.

        Errors: ``InputError`` for another suffix, ``OutputError`` where the path cannot be written.
        """
        _refuse_other_suffix(path)
        tensors, plain = histories.parts(self.history)
        learned = {"emerged": None if self.emerged is None else dict(self.emerged), "data": self.task.data()}
        return saved.write(path, tensors | dict(self.tensors), plain | {"learned": learned})

    def __repr__(self) -> str:
        return f"Learned({self.task.name!r}, {self.step} steps, accuracy {self.accuracy:.3f}, loss {self.loss:.3g})"


def learn(
    task: Any,
    steps: int | None = None,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    *,
    resume: bool = False,
    n_layers: int | None = None,
    n_heads: int | None = None,
    d_model: int | None = None,
    d_mlp: int | None = None,
    norm: bool | None = None,
    learning_rate: float | None = None,
    batch: int | None = None,
    progress: Callable[[Any], None] | None = None,
) -> Learned:
    """Train a small model; see ``jumok.learn``."""
    from .emerged import emerged
    from .training import Training, one_thread

    made = task_of(task)
    settings = _settings(made, locals())
    if out is not None:
        _refuse_other_suffix(out)
    problem = _problem(made, settings)
    with one_thread():
        training = Training(problem, settings["seed"], settings["learning_rate"])
        if resume:
            _go_on(training, settings, out)

        def so_far() -> Learned:
            history = training.history(made.described(), settings)
            return Learned(
                history, made, {name: np.array(t.detach().numpy()) for name, t in training.tensors().items()}
            )

        _run(training, settings["steps"], progress, None if out is None else lambda: so_far().save(out))
        ended = so_far()
        if training.step >= settings["steps"]:
            found = emerged(problem, training.model, ended.history).to_json()
            ended = Learned(ended.history, made, ended.tensors, found)
    if out is not None:
        ended.save(out)
    return ended


def _run(training: Any, steps: int, progress: Callable[[Any], None] | None, save: Callable[[], object] | None) -> None:
    """Update until ``steps`` are made, with snapshots, and a save every few seconds; Ctrl-C ends it earlier."""
    from .training import Progress, schedule

    planned = set(schedule(steps))
    saved_at = -np.inf
    try:
        while True:
            if training.step in planned and training.step not in training.recorder.steps[-1:]:
                training.snapshot()
            if save is not None and time.monotonic() - saved_at > SAVE_EVERY_S:
                save()
                saved_at = time.monotonic()
            if progress is not None and training.loss:
                last = training.measured[-1].accuracy
                progress(Progress(training.step, steps, training.loss[-1], last, training.recorder))
            if training.step >= steps:
                return
            training.update()
    except KeyboardInterrupt:
        return
    except InputError:
        if save is not None:
            save()
        raise


def _go_on(training: Any, settings: dict[str, Any], out: Any) -> None:
    """Put the training where a saved run stopped.

    Errors: ``InputError`` where there is none, or where it was made with other settings.
    """
    if out is None:
        raise InputError(
            en="resume needs out=, the file to go on from.",
            ko="resume에는 이어서 할 파일인 out=이 필요합니다.",
        )
    tensors, plain = saved.opened(out, lambda tensors, plain: (tensors, plain))
    history = histories.unpacked(tensors, plain)
    for name, value in settings.items():
        if name != "steps" and history.settings.get(name) != value:
            raise InputError(
                en=f"{Path(out).name} was trained with {name} = {history.settings.get(name)!r}, not {value!r}. "
                f"Give the same, or another file to start anew.",
                ko=f"{Path(out).name}의 학습은 {name} = {history.settings.get(name)!r}로 했는데 {value!r}이(가) 왔습니다. 같은 값을 주거나 "
                f"다른 파일에 새로 시작하십시오.",
            )
    training.restore(history, tensors)


def unpacked(tensors: dict[str, Any], plain: dict[str, Any]) -> Learned:
    """The run that ``Learned.save`` wrote."""
    history = histories.unpacked(tensors, plain)
    learned = plain["learned"]
    kept = {name: array for name, array in tensors.items() if name.startswith(("model.", "optimizer."))}
    task = task_of(history.task["name"]) if learned["data"] is None else task_of(learned["data"])
    return Learned(history, task, kept, learned["emerged"])


def _settings(task: SequenceTask | WantedRows, asked: Mapping[str, Any]) -> dict[str, Any]:
    """How it is trained, as plain JSON: what was asked for, else what the task says."""
    usual = task.settings
    found: dict[str, Any] = {
        "seed": _whole("seed", asked["seed"], least=0),
        "steps": _whole("steps", usual.steps if asked["steps"] is None else asked["steps"]),
        "batch": _whole("batch", usual.batch if asked["batch"] is None else asked["batch"]),
        "learning_rate": _above_zero(usual.learning_rate if asked["learning_rate"] is None else asked["learning_rate"]),
    }
    names = ("d_model", "n_layers", "n_heads", "d_mlp", "norm")
    sizes = {name: asked[name] for name in names if asked[name] is not None}
    if isinstance(task, SequenceTask):
        found["sizes"] = dataclasses.asdict(_checked_sizes(dataclasses.replace(task.sizes, **sizes)))
    elif sizes:
        raise InputError(
            en=f"{task.name} is learned by one head on its own embeddings; leave out {', '.join(sizes)}.",
            ko=f"{task.name}의 학습은 그 예제의 임베딩에서 헤드 하나로 합니다. {', '.join(sizes)}을(를) 빼십시오.",
        )
    return found


def _checked_sizes(sizes: Sizes) -> Sizes:
    for name, least, most in (("d_model", 1, 512), ("n_layers", 1, 3), ("n_heads", 1, 4), ("d_mlp", 0, 2048)):
        _whole(name, getattr(sizes, name), least, most)
    if sizes.d_model % sizes.n_heads:
        raise InputError(
            en=f"n_heads={sizes.n_heads} does not divide d_model={sizes.d_model} evenly.",
            ko=f"n_heads={sizes.n_heads}(으)로 d_model={sizes.d_model}을(를) 고르게 나눌 수 없습니다.",
        )
    return sizes


def _whole(name: str, value: Any, least: int = 1, most: int = 10**9) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
        raise InputError(
            en=f"{name} expects a whole number from {least} to {most}, got {value!r}.",
            ko=f"{name}에는 {least}부터 {most}까지의 정수가 필요한데 {value!r}이(가) 왔습니다.",
        )
    return int(value)


def _above_zero(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
        raise InputError(
            en=f"learning_rate expects a number above 0, got {value!r}.",
            ko=f"learning_rate에는 0보다 큰 수가 필요한데 {value!r}이(가) 왔습니다.",
        )
    return float(value)


def _refuse_other_suffix(path: str | os.PathLike[str]) -> None:
    if Path(path).suffix.lower() != ".safetensors":
        raise InputError(
            en=f"a training run is saved as .safetensors, got {Path(path).name!r}.",
            ko=f"학습은 .safetensors로 저장하는데 {Path(path).name!r}이(가) 왔습니다.",
        )


def _problem(task: SequenceTask | WantedRows, settings: Mapping[str, Any]) -> Any:
    from .problem import problem

    sizes = Sizes(**settings["sizes"]) if "sizes" in settings else None
    return problem(task, sizes, settings["batch"])
