"""``record``: a history of anybody's PyTorch training loop, taken beside it."""

from __future__ import annotations

import os
import time
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError, JumokError, MissingExtra, OutputError, TooLargeError
from ...files import refuse_nameless
from ...history import History
from ...words import counted, with_particle

try:
    import torch
    from torch.optim.optimizer import register_optimizer_step_post_hook
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise MissingExtra(extra="learn", package="torch") from None

from . import callbacks
from .record_look import look_at
from .record_probes import Named, named, probes_of
from .record_schedule import Growing, Schedule, schedule_of
from .record_undisturbed import Undisturbed
from .recording import Recorder

__all__ = ["Recorded", "record"]

SAVE_EVERY_S = 5.0
SAVING_SHARE = 0.05  # of the time, at most
MOST_BYTES = 2**30
LEAST_SNAPSHOTS = 8  # that have to fit
MOST_SHARE = 0.08  # of the training's time, for snapshots when nobody said how often
N_FREE = 20  # snapshots that are taken whatever they take: the steps at the start


class Recorded:
    """A training under recording; what ``jumok.record`` gives.

    history : everything so far, at any moment after the start
    step_number : how many updates were seen;  ended : why the recording stopped before the training, or None
    time_s : the seconds that looking, keeping and saving took
    """

    def __init__(
        self,
        model: torch.nn.Module,
        probes: list[Named],
        schedule: Schedule,
        out: str | os.PathLike[str] | None,
        keep_weights: bool,
        most_bytes: int,
        settings: dict[str, Any],
    ) -> None:
        self._model, self._probes, self._schedule = model, probes, schedule
        self._out, self._keep_weights, self._most_bytes, self._settings = out, keep_weights, most_bytes, settings
        self._undisturbed = Undisturbed(model)
        self._recorder: Recorder | None = None
        self._rounds = _Rounds(model)
        self._losses = _Losses()
        self._hook: Any = None
        self._open = self._by_hand = False
        self._planned: int | None = None
        self._n_planned, self._stride = 0, 1
        self._saved_at, self._save_took = -np.inf, 0.0
        self._spent = _Spent()
        self.step_number = 0
        self.ended: JumokError | None = None
        self.time_s = 0.0

    # around a loop --------------------------------------------------------------------------------

    def __enter__(self) -> Recorded:
        self.begin()
        self._hook = register_optimizer_step_post_hook(self._stepped)
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        self.end(whole=kind is None)
        if kind is None and self.step_number == self._begun_at:
            warnings.warn(_NOTHING_COUNTED, RuntimeWarning, stacklevel=2)

    def begin(self, step: int = 0) -> None:
        """Take the first snapshot: the state after ``step`` updates. A with-block does this itself.

        Errors: ``InputError`` where nothing attends, a probe does not fit, or the recording was begun before;
        ``TooLargeError`` where so few snapshots would fit that they show nothing; ``OutputError`` for ``out``.
        """
        if self._recorder is not None:
            raise InputError(
                en="this recording was begun before; make another one with jumok.record.",
                ko="이 기록은 이미 시작했던 것입니다. jumok.record로 새로 만드십시오.",
            )
        start = time.perf_counter()
        self.step_number = self._begun_at = step
        with self._undisturbed.running(gradients=True):
            look = look_at(self._model, self._probes[0].watched, self._keep_weights)
            watched = [named(probe, look.seen(probe.watched)[0]) for probe in self._probes]
            recorder = Recorder({}, watched, look)
            recorder.take(step)
        self._recorder = recorder
        self._refuse_too_large()
        self._planned = self._schedule.after(step)
        self._losses.skip(step)
        if self._out is not None:
            self._save()
        self._open = True
        self.time_s += time.perf_counter() - start
        self._spent.begin()

    def end(self, whole: bool = True) -> None:
        """Take the last snapshot and stop. A with-block does this itself.

        whole : False where the training failed: the model is not run again
        """
        if self._hook is not None:
            self._hook.remove()
            self._hook = None
        if not self._open:
            return
        if whole and self.ended is None and self.step_number > self._kept.steps[-1]:
            self._look()
        self._open = False
        self._save_or_say()

    # steps ----------------------------------------------------------------------------------------

    def step(self, loss: Any = None, *, at: int | None = None) -> None:
        """Say that one step is made. From the first call on steps are counted so, and optimizers are not looked at.

        loss : of the batch of this step, a number or a tensor with one
        at : how many steps are made by now, where somebody else counts
        """
        if loss is not None:
            self.log(loss)
        first, self._by_hand = not self._by_hand, True
        if first and at is None and self.step_number > self._begun_at:
            return  # an optimizer's hook has counted this one
        number = self.step_number + 1 if at is None else at
        if number > self.step_number:
            self._counted(number)

    def log(self, loss: Any, *, at: int | None = None) -> None:
        """Keep the loss of a step's batch: of the step that is being made, or of the one just made if it has none yet.

        at : the step it belongs to, counted from 1
        """
        if isinstance(loss, torch.Tensor) and loss.numel() != 1:
            raise InputError(
                en=f"loss expects one number, got a tensor of shape {tuple(loss.shape)}. Try loss.mean().",
                ko=f"loss에는 수 하나가 필요한데 모양 {tuple(loss.shape)}인 텐서가 왔습니다. 예: loss.mean().",
            )
        self._losses.log(loss, self.step_number if at is None else at, fixed=at is not None)

    def _stepped(self, optimizer: Any, *_: Any) -> None:
        if self._by_hand or not self._rounds.moves(optimizer):
            return
        new, whole = self._rounds.stepped(optimizer)
        if new:
            self._counted(self.step_number + 1, whole)
        elif whole and self.ended is None and self._kept.steps[-1] == self.step_number:
            self._kept.drop(slice(-1, None))  # taken when only a part of the optimizers had stepped
            self._look()
        elif whole:
            self._look_if_planned()

    def _counted(self, number: int, whole: bool = True) -> None:
        self.step_number = number
        self._losses.made(number)
        if whole:
            self._look_if_planned()

    def _look_if_planned(self) -> None:
        if self.ended is not None or not self._open or self._planned is None or self.step_number < self._planned:
            return
        self._planned = self._schedule.after(self.step_number)
        if isinstance(self._schedule, Growing) and not self._spent.allows_another:
            return
        self._n_planned += 1
        if self._n_planned % self._stride == 0:
            self._look()
            self._save_or_say(now=False)

    # snapshots ------------------------------------------------------------------------------------

    def _look(self) -> None:
        """One snapshot; where that fails the recording ends, and the training goes on."""
        with self._timed(), self._spent.counted():
            try:
                with self._undisturbed.running(gradients=True):
                    self._kept.take(self.step_number)
                self._losses.settle()
                self._keep_bounded()
            except Exception as error:
                self._end_early(error)

    def _keep_bounded(self) -> None:
        if self._kept.held_bytes <= self._most_bytes:
            return
        self._kept.drop(slice(1, None, 2))
        self._stride *= 2
        if self._stride == 2:
            warnings.warn(_FULL.format(self._most_bytes / 1e9, self.step_number), RuntimeWarning, stacklevel=2)

    def _end_early(self, error: Exception) -> None:
        told = error if isinstance(error, JumokError) else InputError(
            en=f"{type(error).__name__}: {error}", ko=f"{type(error).__name__}: {error}"
        )  # fmt: skip
        self.ended = told
        warnings.warn(
            f"jumok.record stopped at step {self.step_number}; what was recorded is kept, the training goes on. {told.en} / "
            f"{self.step_number}단계에서 기록을 멈췄습니다. 그때까지의 기록은 남아 있고 학습은 계속됩니다. {told.ko}",
            RuntimeWarning,
            stacklevel=2,
        )

    def _refuse_too_large(self) -> None:
        one = self._kept.held_bytes
        if one * LEAST_SNAPSHOTS > self._most_bytes:
            raise TooLargeError(
                en=f"one snapshot takes {one / 1e6:.0f} MB, so fewer than {LEAST_SNAPSHOTS} fit into {self._most_bytes / 1e6:.0f} "
                f"MB. Try weights=False (q, k and v of the probes only), shorter probes, or a larger most_bytes.",
                ko=f"스냅샷 하나가 {one / 1e6:.0f} MB라서 {self._most_bytes / 1e6:.0f} MB에 {LEAST_SNAPSHOTS}개도 들어가지 않습니다. "
                f"weights=False(살펴볼 입력의 q, k, v만), 더 짧은 입력, 더 큰 most_bytes 가운데 하나를 쓰십시오.",
                bytes_needed=one * LEAST_SNAPSHOTS,
            )

    # what was kept --------------------------------------------------------------------------------

    @property
    def _kept(self) -> Recorder:
        if self._recorder is None:
            raise InputError(
                en="nothing is recorded yet: with jumok.record(…) as recorded: … begins it.",
                ko="아직 기록한 것이 없습니다. with jumok.record(…) as recorded: …로 시작합니다.",
            )
        return self._recorder

    @property
    def history(self) -> History:
        """Everything so far. Errors: ``InputError`` before the start."""
        kept = self._kept
        return History(
            steps=tuple(kept.steps),
            layers=kept.layers(),
            probes=kept.probes(),
            loss=self._losses.array(),
            accuracy=np.full(len(kept.steps), np.nan),
            task={"name": type(self._model).__name__},
            settings=self._settings,
        )

    @property
    def held_bytes(self) -> int:
        """What the arrays of all snapshots take in memory."""
        return self._kept.held_bytes

    def _save(self) -> None:
        start = time.perf_counter()
        assert self._out is not None
        self.history.save(self._out)
        self._saved_at, self._save_took = time.perf_counter(), time.perf_counter() - start

    def _save_or_say(self, now: bool = True) -> None:
        """Write ``out``, seldom enough to take a small share of the time; the training goes on where it cannot be written."""
        wait = max(SAVE_EVERY_S, self._save_took / SAVING_SHARE)
        if self._out is None or (not now and time.perf_counter() - self._saved_at < wait):
            return
        with self._timed():
            try:
                self._save()
            except OutputError as error:
                self._saved_at = time.perf_counter()
                warnings.warn(f"jumok.record: {error.en} / {error.ko}", RuntimeWarning, stacklevel=2)

    @contextmanager
    def _timed(self) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.time_s += time.perf_counter() - start

    # other loops ----------------------------------------------------------------------------------

    def trainer_callback(self) -> Any:
        """A callback for ``transformers.Trainer``, in place of the with-block: ``Trainer(…, callbacks=[this])``.

        Errors: ``MissingExtra`` without transformers.
        """
        return callbacks.of_trainer(self)

    def lightning_callback(self) -> Any:
        """A callback for Lightning's ``Trainer``, in place of the with-block.

        Errors: ``MissingExtra`` without lightning.
        """
        return callbacks.of_lightning(self)

    def __repr__(self) -> str:
        kept = self._recorder
        told = (
            "not begun" if kept is None else f"{counted(len(kept.steps), 'snapshot')}, {kept.held_bytes / 1e6:.1f} MB"
        )
        return f"Recorded({type(self._model).__name__}, step {self.step_number}, {told})"


_NOTHING_COUNTED = (
    "jumok.record saw no step: no torch.optim optimizer that holds a parameter of this model stepped. Call recorded.step(loss) after "
    "each step. / jumok.record가 센 단계가 없습니다. 이 모델의 파라미터를 가진 torch.optim 옵티마이저가 한 번도 움직이지 않았습니다. 단계마다 "
    "recorded.step(loss)를 부르십시오."
)
_FULL = (
    "jumok.record: the snapshots reached {0:.2g} GB (most_bytes) at step {1}; from now on every second one is let go, as often as "
    "needed. weights=False keeps q, k and v only. / 스냅샷이 {1}단계에서 {0:.2g} GB(most_bytes)에 이르렀습니다. 이제부터 필요할 때마다 "
    "하나 걸러 하나씩 지웁니다. weights=False로 하면 q, k, v만 남깁니다."
)


class _Spent:
    """The time that snapshots took after the first, beside that of the training."""

    def __init__(self) -> None:
        self._looks_s = self._last_s = 0.0
        self._n_looks = 0

    def begin(self) -> None:
        """From now on the training takes its time."""
        self._began = time.perf_counter()

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Around one snapshot."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self._last_s = time.perf_counter() - start
            self._looks_s += self._last_s
            self._n_looks += 1

    @property
    def allows_another(self) -> bool:
        """True at the start, and where one more snapshot like the last keeps all of them a small share of the training's time."""
        training_s = time.perf_counter() - self._began - self._looks_s
        return self._n_looks < N_FREE or self._looks_s + self._last_s <= MOST_SHARE * training_s


class _Rounds:
    """Which optimizers move a model, and when each of them has stepped once: that is one step of the training."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._own = {id(parameter) for parameter in model.parameters()}
        self._movers: weakref.WeakSet[Any] = weakref.WeakSet()
        self._stepped: weakref.WeakSet[Any] = weakref.WeakSet()
        self._n = 1  # how many stepped in the last whole round

    def moves(self, optimizer: Any) -> bool:
        """Whether an optimizer holds a parameter of the model."""
        if optimizer not in self._movers:
            if not any(id(one) in self._own for group in optimizer.param_groups for one in group["params"]):
                return False
            self._movers.add(optimizer)
        return True

    def stepped(self, optimizer: Any) -> tuple[bool, bool]:
        """An optimizer has stepped: whether a new round begins with it, and whether the round is whole by now."""
        new = optimizer in self._stepped or not self._stepped
        if new:
            self._n = max(1, len(self._stepped))
            self._stepped.clear()
        self._stepped.add(optimizer)
        return new, len(self._stepped) >= self._n


class _Losses:
    """(step,) the loss of each step's batch; missing ones are NaN."""

    def __init__(self) -> None:
        self._values: list[Any] = []
        self._pending: list[Any] = []
        self._n_settled = 0

    def skip(self, n_steps: int) -> None:
        """Steps that were made before anybody looked."""
        self._values += [np.nan] * n_steps

    def log(self, loss: Any, step: int, fixed: bool) -> None:
        """The loss of the step just made (``fixed``, or where it has none), or of the next."""
        value = loss.detach().clone() if isinstance(loss, torch.Tensor) else float(loss)
        missing = 0 < step <= len(self._values) and isinstance(self._values[step - 1], _Missing)
        if 0 < step <= len(self._values) and (fixed or missing):
            self._values[step - 1] = value
        elif not fixed:
            self._pending.append(value)

    def made(self, step: int) -> None:
        """Steps are made up to this one; what was logged since belongs to the last."""
        self._values += [_Missing()] * (step - len(self._values))
        if self._pending and step:
            self._values[step - 1] = list(self._pending)
            self._pending.clear()

    def settle(self) -> None:
        """Turn tensors into numbers, all at once: each waits for the device."""
        for at in range(self._n_settled, len(self._values)):
            value = self._values[at]
            if isinstance(value, list):
                self._values[at] = float(np.mean([float(one) for one in value]))
            elif isinstance(value, torch.Tensor):
                self._values[at] = float(value)
        self._n_settled = max(0, len(self._values) - 1)  # the last may still be logged

    def array(self) -> Any:
        """(step,)."""
        self.settle()
        return np.array([np.nan if isinstance(value, _Missing) else value for value in self._values], np.float64)


class _Missing:
    """No loss was logged for a step."""


# the door -----------------------------------------------------------------------------------------


def record(
    model: Any,
    probes: Any,
    *,
    every: Any = None,
    tokens: Any = None,
    tokenizer: Any = None,
    loss: Any = None,
    query: Any = None,
    weights: bool = True,
    out: str | os.PathLike[str] | None = None,
    most_bytes: int = MOST_BYTES,
) -> Recorded:
    """Record a training loop; see ``jumok.record``."""
    inner = _inner(model)
    schedule = schedule_of(every)
    if out is not None:
        _refuse_other_suffix(out)
    asked = probes_of(inner, probes, tokenizer, tokens, loss, query)
    listed = every if every is None or isinstance(every, int) else sorted(map(int, every))
    settings = {"every": listed, "torch": torch.__version__}
    return Recorded(inner, asked, schedule, out, bool(weights), _bytes(most_bytes), settings)


def _inner(model: Any) -> torch.nn.Module:
    """The model itself, without what runs it on several devices or compiles it."""
    while isinstance(model, torch.nn.Module):
        if isinstance(model, (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)):
            model = model.module
        elif "_orig_mod" in model._modules:
            model = model._modules["_orig_mod"]
        else:
            return model
    raise InputError(
        en=f"record expects a torch.nn.Module, got {type(model).__name__}.",
        ko=f"record에는 torch.nn.Module이 필요한데 {with_particle(type(model).__name__, '이/가')} 왔습니다.",
    )


def _bytes(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 1:
        raise InputError(
            en=f"most_bytes expects how many bytes the snapshots may take, got {value!r}.",
            ko=f"most_bytes에는 스냅샷이 차지해도 되는 바이트 수가 필요한데 {with_particle(repr(value), '이/가')} 왔습니다.",
        )
    return int(value)


def _refuse_other_suffix(path: str | os.PathLike[str]) -> None:
    refuse_nameless(path)
    if Path(path).suffix.lower() != ".safetensors":
        raise InputError(
            en=f"a recording is saved as .safetensors, got {Path(path).name!r}.",
            ko=f"기록은 .safetensors로 저장하는데 {with_particle(repr(Path(path).name), '이/가')} 왔습니다.",
        )
