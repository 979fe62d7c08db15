"""A recording as a callback of other people's training loops; nothing of theirs is imported before it is asked for."""

from __future__ import annotations

import importlib
import sys
from typing import Any, Protocol

from ...errors import MissingExtra

__all__ = ["of_lightning", "of_trainer"]


class Recording(Protocol):
    """What a callback tells a recording."""

    def begin(self, step: int = 0) -> None: ...

    def step(self, loss: Any = None, *, at: int | None = None) -> None: ...

    def log(self, loss: Any, *, at: int | None = None) -> None: ...

    def end(self, whole: bool = True) -> None: ...


def of_trainer(recorded: Recording) -> Any:
    """A callback of transformers' Trainer: its steps, and the losses that it logs.

    Errors: ``MissingExtra`` without transformers.
    """
    try:
        import transformers
    except ImportError as error:
        raise MissingExtra(extra="models", package="transformers") from error

    base: Any = transformers.TrainerCallback  # its methods name every argument, which a callback need not

    class JumokCallback(base):  # type: ignore[misc]
        def on_train_begin(self, _: Any, state: Any, *__: Any, **___: Any) -> None:
            recorded.begin(state.global_step)

        def on_step_end(self, _: Any, state: Any, *__: Any, **___: Any) -> None:
            recorded.step(at=state.global_step)

        def on_log(self, _: Any, state: Any, *__: Any, logs: Any = None, **___: Any) -> None:
            if "loss" in (logs or {}):
                recorded.log(logs["loss"], at=state.global_step)

        def on_train_end(self, *_: Any, **__: Any) -> None:
            recorded.end()

    return JumokCallback()


def of_lightning(recorded: Recording) -> Any:
    """A callback of Lightning's Trainer: its optimizer steps, and the loss of each batch (accumulated ones as their mean).

    Errors: ``MissingExtra`` without Lightning.
    """
    base: Any = _lightning().Callback

    class JumokCallback(base):  # type: ignore[misc]
        def on_train_start(self, trainer: Any, _: Any) -> None:
            recorded.begin(trainer.global_step)

        def on_train_batch_end(self, trainer: Any, _: Any, outputs: Any, *__: Any) -> None:
            loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
            recorded.step(loss, at=trainer.global_step)

        def on_train_end(self, *_: Any) -> None:
            recorded.end()

        def on_exception(self, *_: Any) -> None:
            recorded.end(whole=False)

    return JumokCallback()


def _lightning() -> Any:
    """The package of the two names that the program uses already, else the one that is installed."""
    names = ("lightning.pytorch", "pytorch_lightning")
    for name in sorted(names, key=lambda name: name not in sys.modules):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    raise MissingExtra(extra="lightning", package="lightning")
