"""The tasks by name, and tasks of one's own: a file of ``input<TAB>target``, or a generator of pairs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...trace import unknown_name
from ...words import with_particle
from .. import example as examples
from ..example import Example
from .examples import WantedRows, of_example
from .own import of_pairs, read_pairs, refuse_no_file
from .sentences import homonym, pronoun, subject_verb
from .sequences import previous, repeat, sort
from .task import SequenceTask

__all__ = ["NAMES", "TASKS", "saved_task", "task_of"]

TASKS: Mapping[str, Callable[[], SequenceTask]] = {
    "pronoun": pronoun,
    "homonym": homonym,
    "subject-verb": subject_verb,
    "previous": previous,
    "repeat": repeat,
    "sort": sort,
}
NAMES = ("student", *TASKS)


def task_of(task: Any) -> SequenceTask | WantedRows:
    """A task from its name, a file, an example, pairs, or a generator of pairs.

    Errors: ``UnknownName`` for a name that is none; ``InputError`` for pairs that teach nothing; ``ExampleError``.
    """
    if isinstance(task, (SequenceTask, WantedRows)):
        return task
    if isinstance(task, Example):
        return of_example(task)
    if isinstance(task, (str, os.PathLike)):
        return _named(os.fspath(task))
    if isinstance(task, Mapping) and "example" in task:
        return of_example(examples.parse(task["example"]))
    if isinstance(task, Mapping):
        return of_pairs(task["pairs"], task["name"])
    pairs = task() if callable(task) else task
    if not isinstance(pairs, Iterable):
        raise InputError(
            en=f"a task is a name ({', '.join(NAMES)}), a file, an Example, or pairs of texts; got {type(pairs).__name__}.",
            ko=f"과제로는 이름({', '.join(NAMES)}), 파일, Example, 글의 쌍을 쓸 수 있는데 {with_particle(type(pairs).__name__, '이/가')} 왔습니다.",
        )
    return of_pairs(pairs, getattr(task, "__name__", "own"))


def saved_task(name: str, data: Any) -> SequenceTask | WantedRows:
    """The task of a saved run: by its name, or from the data that it kept.

    Errors: ``UnknownName`` for a name that is none; a saved run names no file.
    """
    if data is None and name not in NAMES:
        raise unknown_name("task", "과제", name, NAMES)
    return task_of(name if data is None else data)


def _named(name: str) -> SequenceTask | WantedRows:
    if name in TASKS:
        return TASKS[name]()
    if name == "student":
        return of_example(examples.load("student"))
    suffix = Path(name).suffix.lower()
    if suffix in (".tsv", ".txt"):
        return read_pairs(name)
    if suffix in (".yaml", ".yml"):
        refuse_no_file(name)
        return of_example(examples.load(name))
    raise unknown_name("task", "과제", name, (*NAMES, "my.tsv", "my.yaml"))
