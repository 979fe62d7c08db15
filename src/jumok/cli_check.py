"""``jumok check``: a learner's attention → the verdict.

Exit codes: 0 right, however it is written; 1 a mistake, or something that has no name; 2 something given was wrong.
"""

from __future__ import annotations

import sys

import click

from . import cli
from .errors import InputError
from .verbs import check

__all__ = ["check_file"]


def check_file(lang: str, file: str, kind: str | None, mask: str | None, fix: bool, json: bool) -> None:
    """Check a function of a file and print what was found."""
    if ".py" not in file:
        raise InputError(
            en=f"check expects a Python file, my.py or my.py:name, got {file!r}.",
            ko=f"check에는 my.py나 my.py:이름처럼 파이썬 파일이 필요한데 {file!r}이(가) 왔습니다.",
        )
    found = check(file, kind, mask=mask)
    if json:
        cli._dump(sys.stdout, found.to_json())
    else:
        cli._screen(lang).lines(cli._seen(found.text(lang, fix=fix)))
    if not found.is_right:
        raise click.exceptions.Exit(1)
