"""Numbers of tokens to measure: one, some, or from one to another by doubling."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ..errors import InputError
from ..path.checked import count

__all__ = ["DEFAULT_N", "MOST_N", "lengths"]

DEFAULT_N = tuple(2**power for power in range(9, 15))  # 512 … 16,384
MOST_N = 2**20
_INTEGER = r"\s*-?[0-9]+\s*"
_SYNTAX = re.compile(rf"{_INTEGER}(:{_INTEGER}|(,{_INTEGER})*)", re.ASCII)


def lengths(asked: Any, name: str = "n", most: int = MOST_N, name_ko: str | None = None) -> list[int]:
    """The numbers in order, each once: of an int, of several, or of a text as on the command line.

    name, name_ko : what the option is called where it was asked, in Korean the same where nothing else is said
    most : the largest number that may be measured there

    >>> lengths(64), lengths([8, 4]), lengths("8,4"), lengths("512:3000")  # of a range the last is always there
    ([64], [4, 8], [4, 8], [512, 1024, 2048, 3000])

    Errors: ``InputError`` for anything else.
    """
    names = (name, name if name_ko is None else name_ko)
    if isinstance(asked, str):
        return _of_text(asked, names, most)
    several = isinstance(asked, Iterable) and not isinstance(asked, (bytes, bytearray))
    numbers = sorted({count(name, one) for one in (asked if several else [asked])})
    if not numbers or numbers[-1] > most:
        raise _beyond(names, most, ", ".join(f"{one:,}" for one in numbers) or None)
    return numbers


def _of_text(text: str, names: tuple[str, str], most: int) -> list[int]:
    if not _SYNTAX.fullmatch(text):
        raise InputError(
            en=f"{names[0]} expects numbers of tokens, 512:16384 (doubling) or 512,3000; got {text!r}.",
            ko=f"{names[1]}에는 토큰 수를 512:16384(두 배씩)나 512,3000처럼 쓰는데 {text!r}이(가) 왔습니다.",
        )
    digits = re.findall(r"-?[0-9]+", text)
    numbers = [int(one[:20]) for one in digits]  # a longer one is too large in any case
    if any(not 1 <= one <= most for one in numbers):
        raise _beyond(names, most, repr(text))
    if ":" not in text:
        return sorted({*numbers})
    first, last = numbers
    if first > last:
        raise InputError(
            en=f"{names[0]} FROM:TO expects FROM ≤ TO, got {text!r}.",
            ko=f"{names[1]} 처음:끝에는 처음 ≤ 끝인 수가 필요한데 {text!r}이(가) 왔습니다.",
        )
    steps = [first << at for at in range((last // first).bit_length())]
    return [*(n for n in steps if n < last), last]


def _beyond(names: tuple[str, str], most: int, came: str | None) -> InputError:
    return InputError(
        en=f"{names[0]} expects numbers of tokens from 1 to {most:,}, got {came or 'none'}.",
        ko=f"{names[1]}에는 1부터 {most:,}까지의 토큰 수가 필요한데 "
        f"{'아무것도 오지 않았습니다' if came is None else f'{came}이(가) 왔습니다'}.",
    )
