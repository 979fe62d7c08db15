"""``jumok lesson``: the lessons in the terminal, as files, checked, begun, and what was done of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from . import cli
from .errors import InputError, OutputError
from .files import refuse_nameless, write_whole
from .lessons import packaged
from .lessons.goals import checklist
from .lessons.phrases import say
from .lessons.progress import Progress
from .verbs import _makers, lesson
from .words import shown

if TYPE_CHECKING:
    from .lessons.lesson import Lesson

__all__ = ["run_lesson"]

FORMS = (".html", ".ipynb", ".md")
ACTS = ("new", "check", "bring", "reset", "progress")


def run_lesson(lang: str, which: str | None, output: str | None, asked: Mapping[str, Any]) -> None:
    """One thing at a time: a new file, a check, what was done, the list, or a lesson (as a file, or here)."""
    chosen = [name for name in ACTS if asked[name]]
    if len(chosen) + (which is not None) > 1:
        both = " ".join([*(f"--{name}" for name in chosen), *([which] if which else [])])
        raise InputError(
            en=f"one thing at a time: a lesson, or one of --new --check --progress --bring --reset; got {both}.",
            ko=f"레슨 하나, 또는 --new --check --progress --bring --reset 가운데 하나만 쓰십시오. 온 것: {both}",
        )
    if chosen and chosen[0] != "progress":
        acts: dict[str, Callable[[str, Any, Mapping[str, Any]], None]] = {
            "new": _new,
            "check": _check,
            "bring": _bring,
            "reset": _reset,
        }
        acts[chosen[0]](lang, asked[chosen[0]], asked)
    elif chosen or which is None:
        _progress(lang, output)
    else:
        _one(lang, lesson(which, lang), output, asked)


def _one(lang: str, chosen: Lesson, output: str | None, asked: Mapping[str, Any]) -> None:
    if asked["notebook"] and output is None:
        output = f"{Path(chosen.name).name}.ipynb"
    if output is not None:
        _write(lang, chosen, output)
    else:
        _read(chosen, asked["answers"])


def _write(lang: str, chosen: Lesson, output: str) -> None:
    refuse_nameless(output)
    forms = {".html": chosen.page, ".ipynb": chosen.notebook, ".md": chosen.text}
    suffix = Path(output).suffix.lower()
    if suffix not in forms:
        raise InputError(
            en=f"the file's name says how to write: {', '.join(FORMS)}; got {output!r}.",
            ko=f"파일 이름의 끝으로 형식을 정합니다: {', '.join(FORMS)}. {output!r}이(가) 왔습니다.",
        )

    def into(file: IO[str]) -> None:
        file.write(forms[suffix]())

    cli._deliver(lang, output, suffix, into)


def _read(chosen: Lesson, answers: bool) -> None:
    """Here, question by question; without somebody at a terminal, or with the answers, the text."""
    from .lessons.terminal import Reader

    is_there = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    screen = cli._screen(chosen.lang)
    keyboard = _typed if is_there and not answers else None
    Reader(chosen, screen, keyboard, Progress(), Path.cwd(), cli._called("jumok"), answers).run()


def _typed(prompt: str) -> str:
    """A line from the keyboard."""
    sys.stdout.write(prompt)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")


def _progress(lang: str, output: str | None) -> None:
    """The lessons and the checklist; into a file, everything that was done."""
    progress = Progress()
    if output is not None:
        if Path(output).suffix.lower() != ".json":
            raise InputError(
                en=f"what was done is written as .json, got {output!r}.",
                ko=f"한 일은 .json으로 저장합니다. {output!r}이(가) 왔습니다.",
            )
        progress.export(output)
        cli._tell(cli._("saved", lang, path=output))
        return
    from .lessons.terminal import listed

    lessons = packaged.course(_makers(), lang)
    listed(cli._screen(lang), lessons, checklist(lessons, progress.right()), progress, cli._called("jumok"))


def _bring(lang: str, path: str, _asked: Mapping[str, Any]) -> None:
    Progress().bring(path)
    _progress(lang, None)


def _reset(lang: str, _is_asked: bool, _asked: Mapping[str, Any]) -> None:
    kept = Progress().reset()
    if kept is not None:
        sys.stdout.write(f"{say('forgotten', lang, path=kept)}\n\n")
    _progress(lang, None)


def _new(lang: str, path: str, asked: Mapping[str, Any]) -> None:
    if Path(path).suffix.lower() != ".md":
        raise InputError(
            en=f"a lesson's file ends in .md, got {path!r}. Try: jumok lesson --new {path or 'my'}.md",
            ko=f"레슨 파일 이름은 .md로 끝나야 하는데 {path!r}이(가) 왔습니다. 예: jumok lesson --new {path or 'my'}.md",
        )
    if os.path.lexists(path) and not asked["force"]:
        raise OutputError(
            en=f"{path} is there already. Choose another name, or --force to write over it.",
            ko=f"{path} 파일이 이미 있습니다. 다른 이름을 쓰거나 --force로 덮어쓰십시오.",
        )
    data = packaged.starter(lang).encode("utf-8")
    write_whole(path, lambda name: Path(name).write_bytes(data))
    cli._say(cli._("saved", lang, path=path))
    commands = [(cli._called(f"jumok lesson --check {cli._for_shell(path)}"), cli._("lesson_check", lang))]
    cli._screen(lang).next_steps(
        [*commands, (cli._called(f"jumok lesson {cli._for_shell(path)}"), cli._("lesson", lang))]
    )


def _check(lang: str, which: str, _asked: Mapping[str, Any]) -> None:
    """Exit code 1 where something is not true."""
    from .lessons.checked import claims_of, problems

    chosen = lesson(which, lang)
    chosen.record()  # without its example no number can be computed: one error, not one for each
    screen = cli._screen(lang)
    found = [problem.text(lang) for problem in problems(chosen)]
    for problem in found:
        screen.say(shown(problem), under="  ")
    if found:
        raise click.exceptions.Exit(1)
    cli._say(say("is_true", lang, n=sum(len(claims_of(one)) for one in chosen.versions.values())))
