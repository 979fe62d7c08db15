"""``learn``: a task → the trained small model, with its history and what emerged."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import history as histories
from ... import saved
from ...errors import InputError, OutputError
from ...files import refuse_unwritable
from ...history import History
from ...trace import Reading, Trace
from ...words import counted, with_particle
from .examples import WantedRows
from .task import Asked, SequenceTask, Sizes
from .tasks import saved_task, task_of

if TYPE_CHECKING:
    from .interrupt import Interrupt

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
        """The loss of the last step's batch; NaN before the first update."""
        return float(self.history.loss[-1]) if len(self.history.loss) else float("nan")

    @property
    def step(self) -> int:
        """How many updates were made."""
        return len(self.history.loss)

    @property
    def model(self) -> Any:
        """The trained model: a ``torch.nn.Module`` in evaluation mode, made anew at each call."""
        import torch

        from .training import apart

        self._refuse_another_task()
        with apart(), torch.no_grad():
            model = _problem(self.task, self.history.settings).model()
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
        self._refuse_another_task()
        return self.task, self.task.numbered(text)

    def _refuse_another_task(self) -> None:
        """A run is kept with its task's name; what the name means may have changed since."""
        if _identity(self.history.task, None) != _identity(self.task.described(), None):
            raise InputError(
                en=f"{self.task.name} was another task when this run was made, so its model cannot be used here. Its history can "
                f"be looked at; jumok.learn({self.task.name!r}) trains it anew.",
                ko=f"{self.task.name} 과제가 이 학습을 만들 때는 지금과 달라서 그 모델을 쓸 수 없습니다. 기록은 볼 수 있습니다. "
                f"jumok.learn({self.task.name!r})으로 새로 학습하십시오.",
            )

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
        return f"Learned({self.task.name!r}, {counted(self.step, 'step')}, accuracy {self.accuracy:.3f}, loss {self.loss:.3g})"


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
    from .interrupt import Interrupt
    from .training import apart

    made = task_of(task)
    kept = _kept(out, resume)
    settings = _settings(made, locals(), None if kept is None else kept[0].settings)
    if out is not None:
        _refuse_other_suffix(out)
        refuse_unwritable(out)
    if kept is not None:
        _refuse_another(out, kept, made, settings)
    with apart(), Interrupt() as interrupt:
        run = _Run(made, settings, out, None if kept is None else kept[:2])
        run.go(progress, interrupt)
        return run.ended()


class _Run:
    """A training on its way, its file, and what is told of it."""

    def __init__(
        self,
        task: SequenceTask | WantedRows,
        settings: dict[str, Any],
        out: str | os.PathLike[str] | None,
        kept: tuple[History, Mapping[str, Any]] | None,
    ) -> None:
        from .training import Training

        self.task, self.settings, self.out = task, settings, out
        self.problem = _problem(task, settings)
        self.training = Training(self.problem, settings["seed"], settings["learning_rate"])
        if kept is not None:
            self.training.restore(*kept)
        self._saved_at = -np.inf

    def go(self, progress: Callable[[Any], None] | None, interrupt: Interrupt) -> None:
        """Update until all steps are made, with snapshots, and a save every few seconds; Ctrl-C ends it earlier.

        Errors: ``InputError`` for a loss that is no number, ``OutputError`` where saving fails; ``error.learned`` is then
        what there is so far.
        """
        from .training import schedule

        planned = set(schedule(self.settings["steps"]))
        try:
            while self._step(planned, progress) and not interrupt.asked:
                self.training.update()
        except KeyboardInterrupt:
            return
        except InputError as error:
            self._save(self.so_far())
            _with_run(error, self.so_far())
            raise

    def _step(self, planned: set[int], progress: Callable[[Any], None] | None) -> bool:
        """All that is to be done between two updates; whether there is another one."""
        from .training import Progress

        training, steps = self.training, self.settings["steps"]
        if training.step in planned and training.step not in training.recorder.steps[-1:]:
            training.snapshot()
        if time.monotonic() - self._saved_at > SAVE_EVERY_S:
            self._save(self.so_far())
            self._saved_at = time.monotonic()
        if progress is not None and training.loss:
            accuracy = training.measured[-1].accuracy
            progress(Progress(training.step, steps, training.loss[-1], accuracy, training.recorder))
        return bool(training.step < steps)

    def so_far(self, emerged: Mapping[str, Any] | None = None) -> Learned:
        """Everything there is now."""
        tensors = {name: np.array(tensor.detach().numpy()) for name, tensor in self.training.tensors().items()}
        return Learned(self.training.history(self.task.described(), self.settings), self.task, tensors, emerged)

    def ended(self) -> Learned:
        """What there is at the end, saved; with what emerged, where all steps were made."""
        from .emerged import emerged

        learned, training = self.so_far(), self.training
        if training.step >= self.settings["steps"]:
            learned = self.so_far(emerged(self.problem, training.model, learned.history).to_json())
        self._save(learned)
        return learned

    def _save(self, learned: Learned) -> None:
        if self.out is None:
            return
        try:
            learned.save(self.out)
        except OutputError as error:
            _with_run(error, learned)
            raise


def _with_run(error: Exception, learned: Learned) -> None:
    """Let an error carry the run that it ended, so that it is not lost where it could not be saved."""
    error.learned = learned  # type: ignore[attr-defined]


# going on ----------------------------------------------------------------------------------------


_Kept = tuple[History, Mapping[str, Any], Any]


def _kept(out: Any, resume: bool) -> _Kept | None:
    """The history, the tensors and the task's data of a saved run to go on from; None where there is none yet.

    Errors: ``InputError`` without a path, or for a file that is no training run; ``SavedFileError`` for a torn one.
    """
    if not resume:
        return None
    if out is None:
        raise InputError(
            en="resume needs out=, the file to go on from.",
            ko="resume에는 이어서 할 파일인 out=이 필요합니다.",
        )
    if not Path(out).exists():
        return None
    tensors, plain = saved.opened(out, lambda tensors, plain: (tensors, plain))
    if plain.get("kind") != "history" or "learned" not in plain:
        raise InputError(
            en=f"{Path(out).name} holds no training run that can go on (it was saved by something else than jumok.learn). "
            f"Give another file.",
            ko=f"{Path(out).name}에는 이어서 할 학습이 없습니다(jumok.learn이 저장한 파일이 아닙니다). 다른 파일을 주십시오.",
        )
    history = saved.opened(out, histories.unpacked)
    return history, tensors, plain["learned"].get("data")


def _refuse_another(out: Any, kept: _Kept, task: SequenceTask | WantedRows, settings: Mapping[str, Any]) -> None:
    """Refuse to go on from a run of another task, with other settings, or that is further than what is asked for."""
    history, _, data = kept
    theirs, ours = _identity(history.task, data), _identity(task.described(), task.data())
    if theirs != ours:
        raise InputError(
            en=f"{Path(out).name} holds a training of {history.task.get('name')!r}, made from other data than "
            f"{task.name!r} has now. Give the same task, or another file to start anew.",
            ko=f"{Path(out).name}에는 {history.task.get('name')!r}의 학습이 있는데, 지금의 {with_particle(repr(task.name), '과/와')} 데이터가 "
            f"다릅니다. 같은 과제를 주거나 다른 파일에 새로 시작하십시오.",
        )
    kept_settings = _one_by_one(history.settings)
    for name, value in _one_by_one(settings).items():
        before = kept_settings.get(name)
        if name != "steps" and before != value:
            raise InputError(
                en=f"{Path(out).name} was trained with {name} = {before!r}, not {value!r}. Give the same, or another file to "
                f"start anew.",
                ko=f"{Path(out).name}의 학습에서 {name} 값은 {before!r}인데 {with_particle(repr(value), '이/가')} 왔습니다. 같은 값을 "
                f"주거나 다른 파일에 새로 시작하십시오.",
            )
    if len(history.loss) > settings["steps"]:
        raise InputError(
            en=f"{Path(out).name} has {len(history.loss)} steps already, more than {settings['steps']}. Give more steps, or another "
            f"file to start anew.",
            ko=f"{Path(out).name}에는 이미 {len(history.loss)}단계가 있어 {settings['steps']}단계보다 많습니다. 단계를 더 많이 주거나 다른 파일에 새로 "
            f"시작하십시오.",
        )


def _one_by_one(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with the model's sizes among them, so that the one that differs can be named."""
    return {name: value for name, value in settings.items() if name != "sizes"} | dict(settings.get("sizes", {}))


def _identity(described: Mapping[str, Any], data: Any) -> tuple[Any, Any]:
    """What makes two tasks the same, whatever is said about them."""
    return {name: value for name, value in described.items() if name not in ("title", "about")}, data


def unpacked(tensors: dict[str, Any], plain: dict[str, Any]) -> Learned:
    """The run that ``Learned.save`` wrote."""
    history = histories.unpacked(tensors, plain)
    learned = plain["learned"]
    kept = {name: array for name, array in tensors.items() if name.startswith(("model.", "optimizer."))}
    task = saved_task(history.task["name"], learned["data"])
    _settings(task, {"seed": history.settings["seed"]}, history.settings)  # refuses sizes that no training has
    return Learned(history, task, kept, learned["emerged"])


def _settings(
    task: SequenceTask | WantedRows, asked: Mapping[str, Any], before: Mapping[str, Any] | None
) -> dict[str, Any]:
    """How it is trained, as plain JSON: what was asked for, else what a run had ``before``, else what the task says."""
    usual = dataclasses.asdict(task.settings) | dict(before or {})

    def wanted(name: str) -> Any:
        return usual[name] if asked.get(name) is None else asked[name]

    found: dict[str, Any] = {
        "seed": _whole("seed", asked["seed"], least=0, most=2**63 - 1),
        "steps": _whole("steps", wanted("steps")),
        "batch": _whole("batch", wanted("batch"), most=4_096),
        "learning_rate": _above_zero(wanted("learning_rate")),
        "weight_decay": usual["weight_decay"],
    }
    names = ("d_model", "n_layers", "n_heads", "d_mlp", "norm")
    sizes = {name: asked[name] for name in names if asked.get(name) is not None}
    if isinstance(task, SequenceTask):
        usual_sizes = Sizes(**usual["sizes"]) if "sizes" in usual else task.sizes
        found["sizes"] = dataclasses.asdict(_checked_sizes(dataclasses.replace(usual_sizes, **sizes)))
    elif sizes:
        raise InputError(
            en=f"{task.name} is learned by one head on its own embeddings; leave out {', '.join(sizes)}.",
            ko=f"{task.name}의 학습은 그 예제의 임베딩에서 헤드 하나로 합니다. {with_particle(', '.join(sizes), '을/를')} 빼십시오.",
        )
    return found


def _checked_sizes(sizes: Sizes) -> Sizes:
    for name, least, most in (("d_model", 1, 512), ("n_layers", 1, 3), ("n_heads", 1, 4), ("d_mlp", 0, 2048)):
        _whole(name, getattr(sizes, name), least, most)
    if not isinstance(sizes.norm, bool):
        raise InputError(
            en=f"norm expects True or False, got {sizes.norm!r}.",
            ko=f"norm에는 True나 False가 필요한데 {with_particle(repr(sizes.norm), '이/가')} 왔습니다.",
        )
    if sizes.d_model % sizes.n_heads:
        raise InputError(
            en=f"n_heads={sizes.n_heads} does not divide d_model={sizes.d_model} evenly.",
            ko=f"n_heads={with_particle(str(sizes.n_heads), '으로/로')} d_model={with_particle(str(sizes.d_model), '을/를')} 고르게 나눌 수 없습니다.",
        )
    return sizes


def _whole(name: str, value: Any, least: int = 1, most: int = 10**9) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
        raise InputError(
            en=f"{name} expects a whole number from {least} to {most}, got {value!r}.",
            ko=f"{name}에는 {least}부터 {most}까지의 정수가 필요한데 {with_particle(repr(value), '이/가')} 왔습니다.",
        )
    return int(value)


def _above_zero(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
        raise InputError(
            en=f"learning_rate expects a number above 0, got {value!r}.",
            ko=f"learning_rate에는 0보다 큰 수가 필요한데 {with_particle(repr(value), '이/가')} 왔습니다.",
        )
    return float(value)


def _refuse_other_suffix(path: str | os.PathLike[str]) -> None:
    if Path(path).suffix.lower() != ".safetensors":
        raise InputError(
            en=f"a training run is saved as .safetensors, got {Path(path).name!r}.",
            ko=f"학습은 .safetensors로 저장하는데 {with_particle(repr(Path(path).name), '이/가')} 왔습니다.",
        )


def _problem(task: SequenceTask | WantedRows, settings: Mapping[str, Any]) -> Any:
    from .problem import problem

    return problem(task, settings)
