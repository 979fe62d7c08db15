r"""A number as people type it: with its unit, in words, in the letters of another keyboard.

The page reads the same pattern and the same words, which travel in it (page.py), so that both judge alike. The pattern
therefore keeps to what Python and JavaScript read alike: no ``\d``, ``\s``, ``\w``, ``\b``.
"""

from __future__ import annotations

import math
import re
import string
import unicodedata
from typing import Any

__all__ = ["LETTERS", "PATTERN", "WORDS", "plain", "typed_number"]

_ENGLISH = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen",
    "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
]  # fmt: skip
_ONES = {  # counted, before a noun, and in Chinese numerals
    1: "하나 한 일", 2: "둘 두 이", 3: "셋 세 삼", 4: "넷 네 사", 5: "다섯 오", 6: "여섯 육", 7: "일곱 칠", 8: "여덟 팔", 9: "아홉 구",
}  # fmt: skip
_KOREAN = {"영": 0, "공": 0, "열": 10, "십": 10, "스물": 20, "스무": 20, "이십": 20}
for _number, _words in _ONES.items():
    *_counted, _chinese = _words.split()
    _KOREAN |= dict.fromkeys((*_counted, _chinese), _number)
    _KOREAN |= {f"열{word}": 10 + _number for word in _counted} | {f"십{_chinese}": 10 + _number}
WORDS = {word: number for number, word in enumerate(_ENGLISH)} | _KOREAN

_WHOLE = "(?:[1-9][0-9]{0,2}(?:(?:,[0-9]{3})+|(?: [0-9]{3})+)|[0-9]+)"
_PLAIN = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_NUMBER = rf"(?:[-+] ?)?(?:{_WHOLE}(?:\.[0-9]*)?|\.[0-9]+)(?:e[-+]?[0-9]+)?"

# What may stand behind a number and make another one of it, so that it is no unit.
_MORE_ENGLISH = (
    "thirty|forty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|millions?|billions?|trillions?|dozens?|mil|bn|mn|"
    "half|halves|thirds?|quarters?|fourths?|fifths?|sixths?|sevenths?|eighths?|ninths?|tenths?|hundredths?|thousandths?|"
    "percent|percentage|pct|squared?|cubed?|cube|powers?|root|sqrt|log|ln|exp|pi|or|and|to|plus|minus|over|by|divided|"
    "multiplied|not|no|than|less|fewer|at|least|most|under|above|below|negative|twice|double|itself"
)
_ANOTHER_ENGLISH = rf"(?<![a-z])(?:{'|'.join(_ENGLISH)}|{_MORE_ENGLISH})(?![a-z])"
_ANOTHER_KOREAN = (
    "[영공일이삼사오육륙칠팔구십백천만억조반할푼한둘두셋세넷네열승초안않못넘밀]|하나|다섯|여섯|여덟|아홉|아니|아님|아닌|"
    "스물|스무|제곱|퍼센트|프로|루트|보다|분의"
)
_WORD = "(?:[a-z]{2,}|[가-힣]+)"
_ENDING = "(?:입니다|이다|이에요|예요|이요|요)?"
_COUNTER = "(?:개|번째|번|칸|줄|행|열|배|차원|가지|쌍|명|사람|층|회|토큰|헤드|숫자)"
_ANY_UNIT = rf"(?!.*(?:{_ANOTHER_ENGLISH}|{_ANOTHER_KOREAN})){_WORD}(?: {_WORD}){{0,3}}"
_UNIT = rf"(?: *(?:{_COUNTER}?{_ENDING}(?![a-z가-힣])|{_ANY_UNIT}))?"

#: Groups: a number, one with a decimal comma, what it is divided by, a sign for per cent, a number in words.
PATTERN = (
    "^ *(?:[=≈]|약|총|about )? *"
    rf"(?:(?:({_NUMBER})|([-+]?[0-9]+,[0-9]+))(?: ?/ ?({_PLAIN}))?(?: ?(%|percent|퍼센트|프로)|{_UNIT})"
    rf"|({'|'.join(sorted(WORDS, key=len, reverse=True))})"
    rf"(?:(?<=[a-z])(?![a-z가-힣])(?: {_ANY_UNIT})?|(?:(?<=[한두세네무]) ?{_COUNTER}|(?<=[가-힣])(?<![한두세네무]) ?{_COUNTER}?){_ENDING}))"
    " *[.。]? *$"
)
_BLANKS = "\t\n\r\xa0\u2002\u2003\u2009\u202f\u3000"
_WIDE = {chr(ord(letter) + 0xFEE0): letter for letter in f"{string.digits}{string.ascii_lowercase}%+,-./="}
LETTERS = dict.fromkeys(_BLANKS, " ") | dict.fromkeys("−–", "-") | _WIDE  # what is read as another one
_TABLE = str.maketrans(LETTERS)


def typed_number(text: str, is_whole: bool) -> float | None:
    """A number that somebody typed; None where it is none, or more than one.

    ``is_whole``: the answer is a whole number, so that it may come in words, and a comma is none of its decimals.

    >>> typed_number("아홉 개", True), typed_number("1/4", False), typed_number("9 or 10", True)
    (9, 0.25, None)
    """
    letters = unicodedata.normalize("NFC", text).lower().translate(_TABLE)
    found = re.fullmatch(PATTERN, letters)
    if found is None:
        return None
    number, comma, below, percent, word = found.groups()
    if comma if is_whole else word:
        return None
    if word:
        return WORDS[word]
    above, divisor = float(re.sub("[ ,]", "", number) if number else comma.replace(",", ".")), float(below or 1)
    if divisor == 0 or not math.isfinite(above):
        return None
    return above / divisor / (100 if percent else 1)


def plain() -> dict[str, Any]:
    """What the page needs to read a number as this does."""
    return {"letters": LETTERS, "pattern": PATTERN, "words": WORDS}
