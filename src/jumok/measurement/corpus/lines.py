"""The lines of a text file, in bounded memory: a line that never ends and bytes that are no UTF-8 are refused."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from pathlib import Path

from ...errors import ExampleError, InputError, system_reason
from ...words import with_particle

__all__ = ["MOST_BYTES", "lines"]

MOST_BYTES = 2**20  # of one line
_OTHERS = ("cp949", "cp1252")  # what a text that is no UTF-8 may be: Korean Windows, Western Windows
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """(number from 1, text without its line end) of each line of a UTF-8 file; never more than a line in memory.

    A line ends in LF, CR LF, or CR, as old texts of the Macintosh have it.

    Errors: ``ExampleError`` with line and column for a line of more than 1 MiB, for bytes that are no UTF-8, and for NUL,
    which UTF-16 is full of; ``InputError`` where there is no such file.
    """
    seen_utf8 = False  # a line that holds more than ASCII
    for number, line in _raw(path):
        if len(line) > MOST_BYTES:
            raise _too_long(path, number)
        if number == 1:
            _refuse_wide(path, line)
            line = line.removeprefix(codecs.BOM_UTF8)
        if b"\0" in line:
            raise _with_nul(path, number, line)
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise _undecoded(path, number, line, error.start, seen_utf8) from None
        seen_utf8 |= not text.isascii()
        yield number, text.rstrip("\n")


def _raw(path: str | os.PathLike[str]) -> Iterator[tuple[int, bytes]]:
    try:
        with Path(path).open(encoding="latin-1", newline=None) as file:  # finds every line end; each letter is a byte
            number = 0
            while line := file.readline(MOST_BYTES + 1):
                number += 1
                yield number, line.encode("latin-1")
    except OSError as error:
        en, ko = system_reason(error)
        raise InputError(
            en=f"{os.fspath(path)} cannot be read: {en}.",
            ko=f"{with_particle(os.fspath(path), '을/를')} 읽을 수 없습니다: {ko}.",
        ) from error


def _too_long(path: str | os.PathLike[str], number: int) -> ExampleError:
    return ExampleError(
        en=f"{os.fspath(path)}, line {number}: a line of more than {MOST_BYTES:,} bytes. A corpus has a sentence or a "
        f"paragraph on a line; break it into lines first.",
        ko=f"{os.fspath(path)} {number}행: 한 줄이 {MOST_BYTES:,}바이트를 넘습니다. 말뭉치는 한 줄에 문장이나 문단 하나를 씁니다. "
        f"먼저 줄을 나누십시오.",
        line=number,
        column=1,
    )


def _refuse_wide(path: str | os.PathLike[str], line: bytes) -> None:
    if line.startswith(_WIDE):
        raise ExampleError(
            en=f"{os.fspath(path)} is written in UTF-16. Save it as UTF-8.",
            ko=f"{with_particle(os.fspath(path), '은/는')} UTF-16으로 쓰여 있습니다. UTF-8로 저장하십시오.",
            line=1,
            column=1,
        )


def _with_nul(path: str | os.PathLike[str], number: int, line: bytes) -> ExampleError:
    column = len(line[: line.index(0)].decode("utf-8", "replace")) + 1
    return ExampleError(
        en=f"{os.fspath(path)}, line {number}, column {column}: a NUL, which no text holds. Text in UTF-16 is full of them: save it as UTF-8.",
        ko=f"{os.fspath(path)} {number}행 {column}열: 글에는 없는 NUL 문자가 있습니다. UTF-16으로 쓴 글이면 이런 문자가 많습니다. UTF-8로 "
        f"저장하십시오.",
        line=number,
        column=column,
    )


def _undecoded(path: str | os.PathLike[str], number: int, line: bytes, at: int, seen_utf8: bool) -> ExampleError:
    column = len(line[:at].decode("utf-8")) + 1
    name = next((name for name in _OTHERS if _reads(line, name)), None)
    other, other_ko = (
        ("", "") if name is None else (f" It reads as {name}.", f" {with_particle(name, '으로/로')}는 읽힙니다.")
    )
    mixed = " The lines before it are UTF-8: two encodings were mixed." if seen_utf8 else ""
    mixed_ko = " 앞의 줄들은 UTF-8입니다. 두 가지 인코딩이 섞여 있습니다." if seen_utf8 else ""
    return ExampleError(
        en=f"{os.fspath(path)}, line {number}, column {column}: the byte 0x{line[at]:02X} is no UTF-8.{other}{mixed} "
        f"Convert the file to UTF-8 first.",
        ko=f"{os.fspath(path)} {number}행 {column}열: 바이트 {with_particle(f'0x{line[at]:02X}', '은/는')} UTF-8이 아닙니다.{other_ko}{mixed_ko} "
        f"먼저 파일을 UTF-8로 바꾸십시오.",
        line=number,
        column=column,
    )


def _reads(line: bytes, name: str) -> bool:
    try:
        line.decode(name)
    except UnicodeDecodeError:
        return False
    return True
