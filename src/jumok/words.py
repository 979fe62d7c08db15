"""How a sentence is filled: languages, Korean particles, numbers, and tokens as a reader can see them.

>>> fill("{token:은/는} {w:n}", {"token": "studies", "w": 0.549980}, "ko")
'studies는 0.55'
"""

from __future__ import annotations

import os
import re
import string
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from .errors import InputError
from .tokens import unknown_name

__all__ = [
    "LANGS",
    "PIECES",
    "SMALL_WORDS",
    "by_language",
    "counted",
    "fill",
    "isolated",
    "language",
    "name_shown",
    "number",
    "particle",
    "percent",
    "preferred_language",
    "quoted",
    "shown",
    "with_particle",
    "without_isolates",
    "written",
]

LANGS = ("en", "ko")
MINUS = "-"

PIECES = {
    # what is put around names and numbers inside a sentence
    "dimension": ("dim {number}", "차원 {number}"),
    "last": (" and ", ", "),
    "more": ("({n} more: {sum})", "(나머지 {n}개: {sum})"),
    "row": ("{a} × {dimension} row", "{a} × {dimension} 행"),
    "ratio": ("{first} to {second}", "{first} 대 {second}"),
    "layer": ("Layer {layer} · {title}", "{layer}층 · {title}"),
    "softcap": ("soft cap", "소프트 캡"),
    "temperature": ("temperature", "온도"),
    "bias": ("position bias", "위치 편향 (position bias)"),
}

# English words that a token must not be taken for: it stands in quotes where it is one of them.
SMALL_WORDS = (
    "a", "an", "the", "it", "its", "is", "was", "are", "were", "be", "been", "do", "did", "on", "in", "at", "of", "to",
    "by", "for", "from", "with", "as", "and", "or", "but", "not", "no", "so", "if", "that", "this", "because", "he",
    "she", "they", "we", "you", "i",
)  # fmt: skip


def language(name: str) -> str:
    """A language that jumok speaks. Errors: ``UnknownName`` for another one."""
    if name not in LANGS:
        raise unknown_name("language", "언어", str(name), LANGS)
    return name


def preferred_language(environ: Mapping[str, str] | None = None) -> str:
    """``JUMOK_LANG``, then the locale (LC_ALL, LC_MESSAGES, LANG, or the system's), then English.

    >>> preferred_language({"JUMOK_LANG": "ko"}), preferred_language({"LANG": "ko_KR.UTF-8"})
    ('ko', 'ko')

    Errors: ``UnknownName`` where JUMOK_LANG names a language that jumok does not speak.
    """
    environ = os.environ if environ is None else environ
    if environ.get("JUMOK_LANG"):
        return language(environ["JUMOK_LANG"])
    named = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), None)
    if named is None and environ is os.environ:
        named = _system_locale()
    return "ko" if (named or "").lower().startswith(("ko", "korean")) else "en"


def _system_locale() -> str | None:
    import locale

    try:
        return locale.getlocale()[0]
    except ValueError:
        return None


# tokens -----------------------------------------------------------------------------------------

_VISIBLE = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_JOINERS = {"\u200c", "\u200d", "\ufe0e", "\ufe0f"}  # inside emoji and some scripts these are seen as one sign
_INKLESS = ("Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp", "Mn", "Me")  # a mark has nothing of its own to stand on
_BLANK = {"\u115f", "\u1160", "\u2800", "\u3164", "\uffa0"}  # fillers of Hangul and an empty cell of Braille


def shown(text: str) -> str:
    """A token as it can be seen on one line: composed, with control and direction characters spelled out.

    Where nothing in it has ink of its own (spaces, joiners, a mark alone), all of it is spelled out, a space as ␣.

    >>> shown("one" + chr(10) + "two") == "one" + chr(92) + "ntwo", shown("")
    (True, "''")
    """
    text = unicodedata.normalize("NFC", text)
    if any(letter not in _BLANK and unicodedata.category(letter) not in _INKLESS for letter in text):
        return "".join(map(_letter, text))
    return "".join("␣" if letter == " " else _spelled(letter) for letter in text) or "''"


def name_shown(text: str, most: int = 60) -> str:
    """What somebody called a thing, on a line with other words: as it can be seen, and of a long one its beginning.

    >>> name_shown("line 3"), name_shown("x" * 5000, most=4)
    ('line 3', 'xxx…')
    """
    text = shown(text[: 2 * most])
    return text if len(text) <= most else text[: most - 1] + "…"


def written(text: str) -> str:
    """A file's name as any text can hold it: a byte of it that is no UTF-8 is spelled out.

    >>> written("은행.txt"), written("a" + chr(0xDCFF)) == "a" + chr(92) + "udcff"
    ('은행.txt', True)
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def by_language(words: Any, lang: str) -> str:
    """A person's text in a language, or one text for all, as it can be seen; "" where there is none.

    >>> by_language({"en": "who", "ko": "누가"}, "ko"), by_language("who", "ko"), by_language(None, "en")
    ('누가', 'who', '')
    """
    text = words.get(lang) if isinstance(words, Mapping) else words
    return shown(text) if isinstance(text, str) and text else ""


def _letter(letter: str) -> str:
    is_seen = letter in _JOINERS or unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    return letter if is_seen else _spelled(letter)


def _spelled(letter: str) -> str:
    if letter in _VISIBLE:
        return _VISIBLE[letter]
    return f"\\u{ord(letter):04x}" if ord(letter) < 0x10000 else f"\\U{ord(letter):08x}"


def quoted(text: str, lang: str) -> str:
    """A token inside a sentence: in quotes where it could be read as a word of the sentence itself.

    >>> quoted("studies", "en"), quoted("it", "en"), quoted("은행", "ko"), quoted("고양이가", "ko")
    ('studies', "'it'", "'은행'", "'고양이가'")
    """
    text = shown(text)
    plain = re.fullmatch(r"\w(?:[\w '’.-]*\w)?", text) is not None
    if text == "''":
        return text
    own_word = text.lower() in SMALL_WORDS if lang == "en" else "가" <= text[-1:] <= "힣"
    return isolated(text) if plain and not own_word else f"'{isolated(text)}'"


def isolated(text: str) -> str:
    """Right-to-left text between the signs that keep it apart, so that two of them, or one and a number, keep their order.

    >>> isolated("it"), isolated("שלום") == chr(0x2068) + "שלום" + chr(0x2069)
    ('it', True)
    """
    right = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in text)
    return f"\u2068{text}\u2069" if right and "\u2068" not in text else text


def without_isolates(text: str) -> str:
    """A text without those signs, for what can only draw letters one after another."""
    return text.translate({0x2068: None, 0x2069: None})


# numbers ----------------------------------------------------------------------------------------


def number(value: float) -> str:
    """A number as people write it: three decimals without zeros at the end, powers of ten beyond.

    >>> number(0.549980), number(6.628), number(-0.0), number(1e-7), number(12345678.0)
    ('0.55', '6.628', '0', '1.00e-07', '1.23e+07')
    """
    value = float(value)
    if value == 0:
        return "0"
    if not 0.0005 <= abs(value) < 1e6:
        return f"{value:.2e}"
    return f"{value:.3f}".rstrip("0").rstrip(".")


def percent(value: float) -> str:
    """A share in percent, one decimal: 0.5499 → 55.0%."""
    return f"{100 * value:.1f}%"


# Korean particles -------------------------------------------------------------------------------

_DIGITS = {"0": "ㅇ", "1": "ㄹ", "3": "ㅁ", "6": "ㄱ", "7": "ㄹ", "8": "ㄹ"}  # 영 일 삼 육 칠 팔 end in a consonant
_WRITTEN_WITH_A_VOWEL = {"mat", "bat", "net", "set", "hit", "jet", "knit"}  # 매트, 배트 …: the dictionary's spelling
_LETTER_NAMES = {"l": "ㄹ", "m": "ㅁ", "n": "ㄴ", "r": "ㄹ"}  # 엘 엠 엔 알


def particle(word: str, pair: str) -> str:
    """The right half of a pair such as 은/는, 이/가, 을/를, 과/와, 으로/로 after a word.

    A Hangul syllable is decomposed; digits and single Latin letters are read aloud; Latin words follow the
    rules for writing loanwords (외래어 표기법): l, m, n, ng and a short vowel with p, t or k end in a consonant.
    What cannot be read aloud gets both: 은(는).

    >>> particle("고양이", "은/는"), particle("생선", "을/를"), particle("studies", "은/는"), particle("cat", "이/가")
    ('는', '을', '는', '이')
    """
    closed, _, opened = pair.partition("/")
    final = _final(word)
    if final is None:
        return f"{closed}({opened})"
    if closed == "으로":
        return opened if final in ("", "ㄹ") else closed
    return opened if final == "" else closed


def with_particle(word: str, pair: str) -> str:
    """A word and the right half of a pair, as one text."""
    return word + particle(word, pair)


def _final(word: str) -> str | None:
    """The consonant that a word ends in when read aloud in Korean; "" for a vowel, None where nobody can say."""
    letters = [a for a in unicodedata.normalize("NFC", word) if a.isalnum()]
    if not letters:
        return None
    last = letters[-1]
    if "가" <= last <= "힣":
        jong = (ord(last) - ord("가")) % 28
        return "" if jong == 0 else "ㄹ" if jong == 8 else "ㅂ"
    if last.isascii() and last.isdigit():
        return _DIGITS.get(last, "")
    if last.isascii():
        tail = re.split(r"[^a-z]", word.lower().rstrip("".join({a for a in word if not a.isalnum()})))[-1]
        return _latin_final(tail, word)
    if "ぁ" <= last <= "ヿ":
        return "ㄴ" if last in "んン" else ""
    return None


def _latin_final(tail: str, word: str) -> str:
    if tail in _WRITTEN_WITH_A_VOWEL:
        return ""
    letters = re.sub(r"[^A-Za-z]", "", word)
    if len(tail) == 1 or (letters.isupper() and not re.search(r"[aeiouy]", tail)):
        return _LETTER_NAMES.get(tail[-1:], "")
    if re.search(r"(l|[bcdfgkpstz]le|[aeiouy]le)$", tail):
        return "ㄹ"
    if re.search(r"([mn]|ng|[aeiouy][mn]e)$", tail):
        return "ㄴ"
    if re.search(r"(^|[^aeiouy])[aeiou][ptck]$|oo[pk]$|ck$", tail):
        return "ㄱ"
    return ""


# sentences --------------------------------------------------------------------------------------


class _Filler(string.Formatter):
    """``{name:spec}``: how each kind of value is said in a language. The specs stand in ``_SPECS``."""

    def __init__(self, lang: str, meaning: Mapping[str, Mapping[str, str]]) -> None:
        self.lang = lang
        self.meaning = meaning if isinstance(meaning, Mapping) else {}

    def get_value(self, key: int | str, _args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return kwargs[str(key)]

    def format_field(self, value: Any, spec: str) -> str:
        if spec in _SPECS:
            said: str = _SPECS[spec](self, value)
            return said
        text = quoted(value, self.lang) if isinstance(value, str) else number(value)
        return with_particle(text, spec) if spec else text

    def piece(self, name: str, **data: Any) -> str:
        return PIECES[name][LANGS.index(self.lang)].format(**data)

    def dimension(self, name: Any, meaning: bool = False) -> str:
        if isinstance(name, int):
            return self.piece("dimension", number=name + 1)
        words = by_language(self.meaning.get(name), self.lang) if meaning else ""
        among = isolated(shown(name))
        return f"{among} ({isolated(words)})" if words and words != name else among

    def joined(self, parts: Sequence[str]) -> str:
        return ", ".join([*parts[:-2], self.piece("last").join(parts[-2:])])

    def dims(self, value: Any, meaning: bool = False) -> str:
        return ", ".join(f"{self.dimension(name, meaning)} {number(a)}" for name, a in value)

    def terms(self, value: Any) -> str:
        """What was multiplied and summed: [name, a, b] each; [None, n, sum] for those left out.

        Where some are left out, a dimension without a name is told by its number: which ones were the largest.
        """
        parts = []
        some = any(name is None for name, *_ in value)
        for name, a, b in value:
            if name is None:
                parts.append(self.piece("more", n=a, sum=number(b)))
            else:
                label = f"{self.dimension(name)} " if some or isinstance(name, str) else ""
                parts.append(f"{label}{_bracketed(a)}×{_bracketed(b)}")
        return " + ".join(parts) or "0"

    def rows(self, value: Any) -> str:
        return " + ".join(self.piece("row", a=_bracketed(a), dimension=self.dimension(name)) for name, a in value)

    def steps(self, value: Any) -> str:
        parts = []
        for kind, a in value:
            if kind == "root":
                parts.append(f"÷ √{number(a)}")
            elif kind == "scale":
                parts.append(f"× {number(a)}")
            elif kind == "temperature":
                parts.append(f"÷ {number(a)} ({self.piece(kind)})")
            elif kind == "softcap":
                parts.append(f"→ {number(a)}·tanh(… ÷ {number(a)}) ({self.piece(kind)})")
            else:
                parts.append(f"{'+' if a >= 0 else '-'} {number(abs(a))} ({self.piece(kind)})")
        return " ".join(parts)

    def words(self, value: Any) -> str:
        return ", ".join(isolated(by_language(self.meaning.get(name), self.lang) or shown(name)) for name in value)


def counted(n: int, what: str) -> str:
    """How many of something, in English.

    >>> counted(1, "layer"), counted(1000, "token")
    ('1 layer', '1,000 tokens')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _bracketed(value: float) -> str:
    text = number(value)
    return f"({text})" if text.startswith(MINUS) else text


def _vector(_: _Filler, value: Any) -> str:
    numbers = [number(a) for a in value]
    return f"({', '.join(numbers if len(numbers) <= 8 else [*numbers[:8], '…'])})"


def _ratio(filler: _Filler, value: float) -> str:
    """Two weights beside each other: the larger over the smaller, so that no small fraction has to be read."""
    first, second = (number(value), "1") if value >= 1 else ("1", number(1 / max(value, 1e-300)))
    return filler.piece("ratio", first=first, second=second)


_SPECS: dict[str, Any] = {
    "e": lambda _, a: isolated(shown(a)),
    "text": lambda _, a: a,
    "n": lambda _, a: number(a),
    "b": lambda _, a: _bracketed(a),
    "pct": lambda _, a: percent(a),
    "int": lambda _, a: f"{int(a):,}",
    "dim": lambda f, name: f.dimension(name),
    "dim+": lambda f, name: f.dimension(name, True),
    "dims": lambda f, value: f.dims(value),
    "dims+": lambda f, value: f.dims(value, True),
    "names": lambda f, value: f.joined([quoted(name, f.lang) for name in value]),
    "dimnames": lambda f, value: f.joined([f.dimension(name) for name in value]),
    "ranked": lambda _, value: ", ".join(f"{isolated(shown(name))} {percent(a)}" for name, a in value),
    "terms": lambda f, value: f.terms(value),
    "steps": lambda f, value: f.steps(value),
    "rows": lambda f, value: f.rows(value),
    "words": lambda f, value: f.words(value),
    "vec": _vector,
    "ratio": _ratio,
}


def fill(
    template: str, data: Mapping[str, Any], lang: str, meaning: Mapping[str, Mapping[str, str]] | None = None
) -> str:
    """A sentence: a template with its facts put in, in a language.

    ``{token}`` shows a text, ``{token:은/는}`` adds the right particle, ``{w:n}`` a number, ``{w:pct}`` a share,
    ``{dims:dims}`` dimensions with their numbers (``dims+`` with their meaning), ``{terms:terms}`` a sum of products.

    Errors: ``InputError`` where a fact is missing.
    """
    try:
        return _Filler(lang, meaning or {}).format(template, **data)
    except KeyError as error:
        raise InputError(
            en=f"the sentence {template!r} needs the fact {error}.",
            ko=f"문장 {template!r}에 필요한 사실 {error}이(가) 없습니다.",
        ) from None
