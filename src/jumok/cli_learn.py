"""``jumok learn``: a task → the trained small model, its curves, and what emerged; and the same of a saved run.

Ctrl-C ends a training after the step that it is at, with all so far kept; a second Ctrl-C ends the program.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click
import numpy as np

from . import cli
from .cli_stop import CtrlC
from .errors import InputError
from .explanation.emerged import outcome
from .files import refuse_nameless, refuse_unwritable
from .history import History
from .picture.curves import to_csv, to_json
from .picture.learning import LearnBar, arrows_said, learned, listed
from .runs import moment, run_of
from .words import with_particle

if TYPE_CHECKING:
    from .picture.learned import Run

__all__ = ["explain_gradient", "explain_run", "learn_task", "list_tasks", "show_run"]

FORMS = (".safetensors", ".html", ".json", ".csv", ".svg", ".png", ".md", ".txt")
WHOLE = ("steps", "seed", "layers", "heads", "d_model", "d_mlp", "batch")  # options that are whole numbers
NAMES = {"layers": "n_layers", "heads": "n_heads"}  # what an option is called in Python, where otherwise


def list_tasks(lang: str) -> None:
    """Each task with a line on what it is about."""
    from .sources import example
    from .sources.learn.tasks import TASKS

    tasks = [("student", example.load("student").title), *((name, made().title) for name, made in TASKS.items())]
    listed(cli._screen(lang), tasks)


def learn_task(
    lang: str, task: str, outputs: Sequence[str], resume: bool, json: bool, asked: Mapping[str, Any]
) -> None:
    """Train on a task, print what came of it, and write it.

    asked : the other options, as texts
    """
    _refuse_outputs(outputs)
    options = _options(asked)
    kept = next((path for path in outputs if Path(path).suffix.lower() == ".safetensors"), None)
    if resume and kept is None:
        raise InputError(
            en="--resume needs the file to go on from: -o run.safetensors",
            ko="--resume에는 이어서 할 파일이 필요합니다: -o run.safetensors",
        )
    run, is_stopped = _trained(lang, task, {"out": kept, "resume": resume, **options})
    if kept is not None:
        cli._tell(cli._("saved", lang, path=kept))
    _end(lang, run, [path for path in outputs if path != kept], json)
    if is_stopped:
        again = _again(task, kept or "run.safetensors", asked)
        cli._tell(
            cli._("learn_stopped" if kept else "learn_lost", lang, step=f"{len(run.history.loss):,}", again=again)
        )
        raise click.exceptions.Exit(130)


def show_run(lang: str, path: str, outputs: Sequence[str], json: bool) -> None:
    """What came of a saved run, printed, and written.

    Errors: ``InputError`` for a file that holds no run.
    """
    from .verbs import load

    _refuse_outputs(outputs)
    if next((one for one in outputs if Path(one).suffix.lower() == ".safetensors"), None):
        raise InputError(
            en=f"{path} is the .safetensors of this run; -o is for the other files: .html .json .csv .svg .png .md .txt.",
            ko=f"{with_particle(path, '이/가')} 이 학습의 .safetensors입니다. -o에는 다른 파일을 쓰십시오: .html .json .csv .svg .png .md .txt.",
        )
    run = run_of(load(path))
    if run is None:
        raise InputError(
            en=f"{path} holds no training run; jumok learn TASK -o run.safetensors writes one.",
            ko=f"{path}에는 학습 기록이 없습니다. jumok learn 과제 -o run.safetensors로 만듭니다.",
        )
    _end(lang, run, outputs, json)


def explain_run(lang: str, run: Run, form: str, output: str | None) -> None:
    """What came of a run, as ``jumok explain`` writes it: as text, Markdown or JSON."""

    def into(file: IO[str]) -> None:
        told = outcome(run.history, run.emerged, lang, run.given)
        if form == "json":
            cli._dump(file, told.to_json())
        elif form == "markdown":
            file.write(told.markdown(lang))
        else:
            learned(cli._screen(lang, file), run.history, run.emerged, run.given)

    cli._deliver(lang, output, form, into)


def explain_gradient(
    lang: str, name: str, tokens: Sequence[str], asked: Mapping[str, int | None], form: str, output: str | None
) -> None:
    """What the gradient of one step asks of each stage, as ``jumok explain --gradient`` writes it.

    asked : step, probe and layer, None where nobody said
    """
    from .explanation.gradient import explain_step
    from .verbs import load

    run = run_of(load(name))
    if run is None or len(tokens) > 1:
        raise InputError(
            en="--gradient is for a training run and one token at most: jumok explain run.safetensors it --step 3 --gradient. "
            "A run comes from: jumok learn pronoun -o run.safetensors",
            ko="--gradient는 학습 기록과 토큰 하나까지에만 씁니다: jumok explain run.safetensors it --step 3 --gradient. "
            "학습 기록은 이렇게 만듭니다: jumok learn pronoun -o run.safetensors",
        )
    step, probe = asked["step"] or 0, asked["probe"] or 0
    token = cli._token_of(run.history.trace(step, probe), tokens[0]) if tokens else None
    told = explain_step(run.history, step, probe, layer=asked["layer"], token=token, lang=lang)

    def into(file: IO[str]) -> None:
        if form == "json":
            cli._dump(file, told.to_json())
        elif form == "markdown":
            file.write(cli._sections_markdown([(one.title, one.lines) for one in told.sections(lang)]))
        else:
            screen = cli._screen(lang, file)
            for section in told.sections(lang):
                screen.title(section.title)
                screen.entries(section.lines)

    cli._deliver(lang, output, form, into)


# what is asked for --------------------------------------------------------------------------------


def _refuse_outputs(outputs: Sequence[str]) -> None:
    """Before a training that may be long: what could not be written at its end."""
    for path in outputs:
        refuse_nameless(path)
        if Path(path).suffix.lower() not in FORMS:
            raise InputError(
                en=f"the file's name says how to write: {', '.join(FORMS)}; got {path!r}.",
                ko=f"파일 이름의 끝으로 형식을 정합니다: {', '.join(FORMS)}. {with_particle(repr(path), '이/가')} 왔습니다.",
            )
        refuse_unwritable(path)
    kept = [path for path in outputs if Path(path).suffix.lower() == ".safetensors"]
    if len(kept) > 1:
        raise InputError(
            en=f"one .safetensors at a time, got {' and '.join(kept)}.",
            ko=f".safetensors는 하나만 쓸 수 있는데 {with_particle(', '.join(kept), '이/가')} 왔습니다.",
        )


def _options(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The options of ``jumok.learn``, from texts; those that were not given are left to the task."""
    options: dict[str, Any] = {
        NAMES.get(name, name): cli._whole(f"--{name.replace('_', '-')}", asked[name])
        for name in WHOLE
        if asked[name] is not None
    }
    if asked["norm"] is not None:
        options["norm"] = asked["norm"]
    if asked["learning_rate"] is not None:
        options["learning_rate"] = cli._number("--learning-rate", asked["learning_rate"])
    return options


# the training -------------------------------------------------------------------------------------


def _trained(lang: str, task: str, options: Mapping[str, Any]) -> tuple[Run, bool]:
    """The run, and whether Ctrl-C ended it."""
    from .verbs import learn

    with CtrlC(lang) as stop, LearnBar(sys.stderr, lang) as bar:
        result = learn(task, progress=_progress(lang, bar, stop), **options)
    run = run_of(result)
    assert run is not None
    return run, stop.asked and result.emerged is None


def _progress(lang: str, bar: LearnBar, stop: CtrlC) -> Callable[[Any], None]:
    """What is shown after an update: the step whose loss it is, which is the one before; arrows where there are new ones."""
    arrows, looked_at = "", -1

    def progress(told: Any) -> None:
        nonlocal arrows, looked_at
        if bar.is_due:
            if told.recorder.steps[-1] != looked_at:
                looked_at, arrows = told.recorder.steps[-1], _arrows(lang, told.recorder)
            bar.show(told.step - 1, told.steps, told.loss, told.accuracy, arrows)
        if stop.asked:
            raise KeyboardInterrupt

    return progress


def _arrows(lang: str, recorder: Any) -> str:
    """The strongest arrows of the first probe, as they are now."""
    n = len(recorder.steps)
    history = History(tuple(recorder.steps), recorder.layers(), recorder.probes()[:1], np.zeros(0), np.zeros(n))
    return arrows_said(moment(history), history.probes[0].query, lang)


def _again(task: str, kept: str, asked: Mapping[str, Any]) -> str:
    """The command that goes on with a training: with all that was asked for, since another setting is refused."""
    parts = ["jumok learn", cli._for_shell(task)]
    for name in (*WHOLE, "learning_rate"):
        parts += [] if asked[name] is None else [f"--{name.replace('_', '-')}", asked[name]]
    parts += [] if asked["norm"] is None else ["--norm" if asked["norm"] else "--no-norm"]
    return " ".join([*parts, "-o", cli._for_shell(kept), "--resume"])


# what is shown and written ------------------------------------------------------------------------


def _end(lang: str, run: Run, outputs: Sequence[str], json: bool) -> None:
    for path in outputs:  # first: what is printed may go to a pipe that closes
        _write(lang, run, path)
    if json:
        cli._dump(sys.stdout, _to_json(run))
    else:
        learned(cli._screen(lang), run.history, run.emerged, run.given)


def _write(lang: str, run: Run, path: str) -> None:
    def into(file: IO[str]) -> None:
        if form == "json":
            cli._dump(file, _to_json(run))
        elif form == "csv":
            file.write(to_csv(run.history))
        else:
            learned(cli._screen(lang, file), run.history, run.emerged, run.given)

    form = Path(path).suffix.lower().removeprefix(".")
    if form in ("json", "csv", "txt"):
        cli._deliver(lang, path, form, into)  # which tells it too
        return
    from .picture.drawing import draw

    cli._save_picture(lang, draw(run, lang=lang), path)


def _to_json(run: Run) -> dict[str, Any]:
    """What was learned and how, the curves, what emerged, and the same in sentences; every digit."""
    history = run.history
    told = outcome(history, run.emerged, "en", run.given).to_json()
    return {
        "format": "jumok-learned",
        "version": 1,
        "task": dict(history.task),
        "settings": dict(history.settings),
        "emerged": None if run.emerged is None else dict(run.emerged),
        "curves": to_json(history),
        **{name: told[name] for name in ("facts", "text")},
    }
