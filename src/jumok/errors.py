"""Everything that jumok refuses, with its reason in English and Korean.

::

    JumokError
    ├── InputError (also ValueError)      what was given does not fit
    │   ├── ShapeError                    two arrays disagree about an axis
    │   ├── NoLayer (also IndexError)     a layer that a record does not hold
    │   ├── UnknownName                   a token, stage, language, dimension or example that is not there
    │   ├── ExampleError                  an example file; carries line and column
    │   ├── SavedFileError                a saved file: truncated, foreign, hostile, or of a later version
    │   ├── OverflowRefused               a product that would not fit the number format; carries the positions
    │   └── TooLargeError                 a whole table that would not fit in memory; carries its size
    ├── OutputError (also OSError)        a result that cannot be written
    └── MissingExtra (also ImportError)   a package that is not installed; carries the extra to install

``str(error)`` is English, ``error.text("ko")`` Korean. Each message says what was expected, what
came, and what to try.
"""

from __future__ import annotations

import errno
import os

__all__ = [
    "ExampleError",
    "InputError",
    "JumokError",
    "MissingExtra",
    "NoLayer",
    "UnknownName",
    "OutputError",
    "OverflowRefused",
    "SavedFileError",
    "ShapeError",
    "TooLargeError",
]

_REASONS = {
    errno.EACCES: ("permission denied", "권한이 없습니다"),
    errno.EADDRINUSE: ("another program uses it already", "다른 프로그램이 이미 쓰고 있습니다"),
    errno.EADDRNOTAVAIL: ("this machine has no such address", "이 컴퓨터의 주소가 아닙니다"),
    errno.EDQUOT: ("no room is left that you may use", "쓸 수 있는 공간을 다 썼습니다"),
    errno.EEXIST: ("something of that name is there already", "같은 이름이 이미 있습니다"),
    errno.EFBIG: ("it would be larger than a file may be", "파일이 가질 수 있는 크기를 넘습니다"),
    errno.EINVAL: ("the system does not take it", "시스템이 받지 않습니다"),
    errno.EIO: ("the disk could not be read or written", "디스크를 읽거나 쓰지 못했습니다"),
    errno.EISDIR: ("it is a folder", "폴더입니다"),
    errno.ELOOP: ("its links lead round in a circle", "링크가 돌고 돕니다"),
    errno.EMFILE: ("too many files are open", "열려 있는 파일이 너무 많습니다"),
    errno.ENAMETOOLONG: ("the name is too long", "이름이 너무 깁니다"),
    errno.ENOENT: ("there is no such file or folder", "그런 파일이나 폴더가 없습니다"),
    errno.ENOMEM: ("there is not enough memory", "메모리가 모자랍니다"),
    errno.ENOSPC: ("no room is left on the disk", "디스크에 남은 공간이 없습니다"),
    errno.ENOTDIR: ("a part of the path is a file, not a folder", "경로의 일부가 폴더가 아니라 파일입니다"),
    errno.EPERM: ("the system does not allow it", "시스템이 허락하지 않습니다"),
    errno.EROFS: ("the disk can only be read", "읽기 전용 디스크입니다"),
}


def system_reason(error: BaseException) -> tuple[str, str]:
    """Why the system did not do what was wanted, in English and in Korean, without a full stop.

    What it says in words of its own, which are English, is the last resort.

    >>> system_reason(FileNotFoundError(errno.ENOENT, "No such file or directory"))
    ('there is no such file or folder', '그런 파일이나 폴더가 없습니다')
    """
    number = getattr(error, "errno", None)
    if number in _REASONS:
        return _REASONS[number]
    if isinstance(error, UnicodeError):
        return "it is not UTF-8 text", "UTF-8 글이 아닙니다"
    said = str(getattr(error, "strerror", None) or error)
    return said, said


def json_reason(error: BaseException) -> tuple[str, str]:
    """Why a text is no JSON that can be read, in English and in Korean, without a full stop and without Python's words.

    >>> import json
    >>> try:
    ...     json.loads("[1,")
    ... except ValueError as error:
    ...     print(json_reason(error)[0])
    it is no JSON from line 1, column 4 on
    """
    if isinstance(error, RecursionError):
        return "it is nested too deeply", "너무 깊이 중첩되어 있습니다"
    if not isinstance(error, ValueError) or isinstance(error, UnicodeError):
        return system_reason(error)
    text, line, column = (getattr(error, name, None) for name in ("doc", "lineno", "colno"))
    if text is None:
        return "a number in it has too many digits", "자릿수가 너무 많은 수가 있습니다"
    if not text.strip():
        return "it is empty", "비어 있습니다"
    if text.startswith("\ufeff"):
        return "it begins with a byte order mark (BOM)", "맨 앞에 바이트 순서 표시(BOM)가 있습니다"
    return f"it is no JSON from line {line}, column {column} on", f"{line}번째 줄 {column}번째 글자부터 JSON이 아닙니다"


_DAMAGE = {
    "headertoosmall": ("it is too short", "파일이 너무 짧습니다"),
    "headertoolarge": ("its header has a length that cannot be", "머리 부분의 길이가 있을 수 없는 값입니다"),
    "invalidheaderlength": ("it ends within its header", "머리 부분이 끝나기 전에 파일이 끝납니다"),
    "invalidutf": ("its header is not UTF-8 text", "머리 부분이 UTF-8 글이 아닙니다"),
    "invalidjson": ("its header is no list of tensors in JSON", "머리 부분이 텐서 목록을 담은 JSON이 아닙니다"),
    "invalidheader": ("its header is no list of tensors in JSON", "머리 부분이 텐서 목록을 담은 JSON이 아닙니다"),
    "incomplete": ("it is shorter or longer than its header says", "머리 부분에 적힌 것보다 짧거나 깁니다"),
    "invalidoffset": ("a tensor has no place in it that could be", "텐서의 위치가 맞지 않습니다"),
    "invalidshape": ("a tensor has another size than its shape needs", "텐서의 크기가 모양과 맞지 않습니다"),
    "invalidinfo": ("a tensor has another size than its shape needs", "텐서의 크기가 모양과 맞지 않습니다"),
    "overflow": (
        "a tensor has a shape that no file could hold",
        "텐서의 모양이 어떤 파일에도 담을 수 없을 만큼 큽니다",
    ),
}  # by what safetensors calls it, whichever version, without spaces


def damage_reason(error: BaseException) -> tuple[str, str]:
    """What is wrong with a .safetensors file, in English and in Korean, without a full stop.

    What safetensors says and is not known here stays in its own words, and is said to be its own.

    >>> damage_reason(ValueError("Error while deserializing header: header too small"))
    ('it is too short', '파일이 너무 짧습니다')
    """
    if isinstance(error, JumokError):
        return error.en, error.ko
    if isinstance(error, OSError):
        return system_reason(error)
    said = (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
    name = "".join(letter for letter in said.lower() if letter.isalpha())
    known = next((reason for part, reason in _DAMAGE.items() if part in name), None)
    return (f"safetensors: {said}",) * 2 if known is None else known


class JumokError(Exception):
    """What every refusal of jumok is.

    en, ko : the same message in English and in Korean.

    >>> error = JumokError(en="expected a number", ko="숫자가 필요합니다")
    >>> str(error), error.text("ko")
    ('expected a number', '숫자가 필요합니다')
    """

    def __init__(self, *, en: str, ko: str) -> None:
        super().__init__(en)
        self.en = en
        self.ko = ko

    def text(self, lang: str = "en") -> str:
        """The message in a language, ``"en"`` or ``"ko"``."""
        return self.ko if lang == "ko" else self.en

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (type(self), self.args, self.__dict__)


def _rebuilt(kind: type[JumokError], args: tuple[object, ...], state: dict[str, object]) -> JumokError:
    """An error as it was before it crossed a process border (its arguments have names)."""
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class InputError(JumokError, ValueError):
    """What was given does not fit."""


class NoLayer(InputError, IndexError):
    """A record holds no such layer, or none at all."""


class ShapeError(InputError):
    """Two arrays disagree about an axis."""


class UnknownName(InputError):
    """A token, stage, language, dimension or example of that name is not there."""


class ExampleError(InputError):
    """An example file is wrong; ``line`` and ``column`` count from 1 (None: the whole file)."""

    def __init__(self, *, en: str, ko: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(en=en, ko=ko)
        self.line = line
        self.column = column


class SavedFileError(InputError):
    """A saved file is truncated, foreign, hostile, or of a later version."""


class OverflowRefused(InputError):
    """A product would not fit the number format.

    ``row`` and ``column`` are the positions (from 0) whose product is too large.
    """

    def __init__(self, *, en: str, ko: str, row: int, column: int) -> None:
        super().__init__(en=en, ko=ko)
        self.row = row
        self.column = column


class TooLargeError(InputError):
    """A whole table would take ``bytes_needed`` bytes, more than is made at once."""

    def __init__(self, *, en: str, ko: str, bytes_needed: int) -> None:
        super().__init__(en=en, ko=ko)
        self.bytes_needed = bytes_needed


class OutputError(JumokError, OSError):
    """A result cannot be written."""


class MissingExtra(JumokError, ImportError):
    """A package is not installed; ``extra`` is the extra of jumok that brings it."""

    def __init__(self, *, extra: str, package: str) -> None:
        called = os.environ.get("JUMOK_CALLED")  # run.py says how it was called; it has an environment of its own
        how = f"{called} --with {extra}" if called else f"pip install 'jumok[{extra}]'"
        super().__init__(
            en=f"this needs the package {package}, which is not installed. Try: {how}",
            ko=f"이 기능에는 {package} 패키지가 필요한데 설치되어 있지 않습니다. 설치: {how}",
        )
        self.extra = extra
