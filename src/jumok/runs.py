"""A training run at the door: the whole of it, or what its attention did at one moment."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING, Any

from .errors import InputError
from .history import History
from .trace import Reading, Trace

if TYPE_CHECKING:
    from .picture.learned import Run
    from .sources.learn.learned import Learned

__all__ = ["beside", "moment", "run_of", "to_its_end", "wanted"]


def run_of(thing: Any) -> Run | None:
    """A ``Learned`` or a ``History`` as what pictures and the page take; None for anything else."""
    if not isinstance(thing, History) and not hasattr(thing, "history"):
        return None  # and nothing is loaded that only runs need
    from .picture.learned import Run
    from .sources.learn.learned import Learned

    if isinstance(thing, Run):
        return thing
    if isinstance(thing, History):
        return Run(thing)
    if isinstance(thing, Learned):
        return Run(thing.history, thing.emerged, getattr(thing.task, "trace", None))
    return None


def to_its_end(learned: Learned) -> Run:
    """A training with its attention also at the step at which it was stopped, where no snapshot was due.

    What was saved has none there, so that it goes on to the same end as a training that was never stopped.
    """
    from .picture.learned import Run
    from .sources.learn.problem import problem
    from .sources.learn.training import Training, apart

    run = run_of(learned)
    assert isinstance(run, Run)
    if learned.step == learned.history.steps[-1]:
        return run
    settings = learned.history.settings
    with apart(), contextlib.suppress(InputError):  # of weights that give no finite numbers there is nothing to be seen
        training = Training(problem(learned.task, settings), settings["seed"], settings["learning_rate"])
        training.restore(learned.history, learned.tensors)
        training.snapshot()
        run = dataclasses.replace(run, history=training.history(learned.history.task, settings))
    return run


def beside(a: Any, b: Any, pairs: Any = None) -> Run | None:
    """Two training runs beside each other, or one twice; None where these are none.

    Errors: ``InputError`` for a run and something else, or for pairs of tokens.
    """
    runs = run_of(a), run_of(b)
    if runs[0] is None or runs[1] is None:
        if runs == (None, None):
            return None
        raise InputError(
            en="compare expects two training runs, or two records of one text each; got one of both. One moment of a run is "
            "run.history.trace(step=…).",
            ko="compare에는 학습 기록 둘이나 글의 기록 둘이 필요한데 하나씩 왔습니다. 학습의 한 순간은 run.history.trace(step=…)입니다.",
        )
    if pairs is not None:
        raise InputError(
            en="pairs= is for two texts, not for two training runs. Leave it out.",
            ko="pairs=는 글 둘을 비교할 때만 쓰고 학습 기록에는 쓰지 않습니다. 빼고 부르십시오.",
        )
    return dataclasses.replace(runs[0], beside=runs[1])


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
