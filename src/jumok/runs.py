"""A training run at the door: the whole of it, or what its attention did at one moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import InputError
from .history import History
from .trace import Reading, Trace

if TYPE_CHECKING:
    from .picture.learned import Run

__all__ = ["moment", "run_of", "wanted"]


def run_of(thing: Any) -> Run | None:
    """A ``Learned`` or a ``History`` as what pictures and the page take; None for anything else."""
    from .picture.learned import Run
    from .sources.learn.learned import Learned

    if isinstance(thing, Run):
        return thing
    if isinstance(thing, History):
        return Run(thing)
    if isinstance(thing, Learned):
        return Run(thing.history, thing.emerged, getattr(thing.task, "trace", None))
    return None


def moment(history: History, step: int | None = None, probe: int | None = None) -> Trace | Reading:
    """What the model did with one probe at a step: a Trace, or a Reading of several layers.

    Errors: ``InputError`` for a step or probe that is not there.
    """
    at = 0 if probe is None else probe
    return history.trace(step, at) if len(history.layers) == 1 else history.reading(step, at)


def wanted(thing: Any, step: int | None, probe: int | None, whole: bool) -> Run | Trace | Reading | None:
    """Of a training run the whole, where that is meant and no moment is asked for, else the moment; None for what is none.

    Errors: ``InputError`` for a moment of something that was not trained.
    """
    run = run_of(thing)
    if run is None:
        if step is not None or probe is not None:
            raise InputError(
                en="step and probe are for a training run: jumok learn … -o run.safetensors, or jumok.learn(…). Leave them out.",
                ko="step과 probe는 학습 기록에만 씁니다: jumok learn … -o run.safetensors, 또는 jumok.learn(…). 빼고 쓰십시오.",
            )
        return None
    return run if whole and step is None and probe is None else moment(run.history, step, probe)
