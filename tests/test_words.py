"""Particles, numbers, tokens as they can be seen, languages."""

import pytest

from jumok.errors import InputError, UnknownName
from jumok.words import (
    fill,
    isolated,
    language,
    number,
    particle,
    percent,
    preferred_language,
    quoted,
    shown,
    with_particle,
    without_isolates,
)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        # Hangul
        ("고양이", "는"), ("생선", "은"), ("학교", "는"), ("은행", "은"), ("돈", "은"), ("물", "은"), ("맡겼다", "는"),
        # Latin words, as loanwords are written
        ("studies", "는"), ("student", "는"), ("deep learning", "은"), ("carefully", "는"), ("The", "는"), ("cat", "은"),
        ("mat", "는"), ("it", "은"), ("tired", "는"), ("soft", "는"), ("on", "은"), ("was", "는"), ("because", "는"),
        ("apple", "은"), ("table", "은"), ("time", "은"), ("book", "은"), ("write", "는"), ("we", "는"), ("me", "는"),
        ("Person", "은"), ("Action", "은"), ("Knowledge", "는"), ("Method", "는"), ("role", "은"), ("king", "은"),
        # letters and digits, read aloud
        ("Q", "는"), ("K", "는"), ("L", "은"), ("M", "은"), ("N", "은"), ("R", "은"), ("X", "는"),
        ("0", "은"), ("1", "은"), ("2", "는"), ("3", "은"), ("4", "는"), ("5", "는"), ("6", "은"), ("7", "은"), ("8", "은"), ("9", "는"),
        ("1.818", "은"), ("55.0%", "은"),
        # signs after the last letter do not count; kana; what nobody can read aloud
        ("'student'", "는"), ("(돈)", "은"), ("ねこ", "는"), ("ほん", "은"), ("猫", "은(는)"), ("😀", "은(는)"), ("", "은(는)"), ("</>", "은(는)"),
    ],
)  # fmt: skip
def test_topic_particle(word: str, expected: str) -> None:
    assert particle(word, "은/는") == expected


@pytest.mark.parametrize(
    ("word", "pair", "expected"),
    [
        ("deep learning", "을/를", "deep learning을"), ("생선", "이/가", "생선이"), ("고양이", "과/와", "고양이와"),
        ("서울", "으로/로", "서울로"), ("집", "으로/로", "집으로"), ("학교", "으로/로", "학교로"), ("1.818", "으로/로", "1.818로"),
        ("0.03", "으로/로", "0.03으로"), ("猫", "을/를", "猫을(를)"),
    ],
)  # fmt: skip
def test_other_particles(word: str, pair: str, expected: str) -> None:
    assert with_particle(word, pair) == expected


def test_decomposed_hangul_takes_the_same_particle() -> None:
    import unicodedata

    for word in ("고양이", "생선"):
        assert particle(unicodedata.normalize("NFD", word), "은/는") == particle(word, "은/는")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.549980, "0.55"), (0.020003, "0.02"), (1.649939, "1.65"), (6.628, "6.628"), (1.0, "1"), (-0.0, "0"), (0.0, "0"),
        (-0.5, "-0.5"), (0.0004, "4.00e-04"), (0.0005, "0.001"), (999999.0, "999999"), (1e6, "1.00e+06"), (-1e30, "-1.00e+30"), (1e-300, "1.00e-300"),
    ],
)  # fmt: skip
def test_number(value: float, text: str) -> None:
    assert number(value) == text


def test_percent() -> None:
    assert percent(0.54998) == "55.0%"


@pytest.mark.parametrize(
    ("token", "seen"),
    [
        ("한글", "한글"), ("", "''"), (" ", "␣"), ("  ", "␣␣"), ("a b", "a b"), ("a\nb", "a\\nb"), ("\t", "\\t"), ("\x1b[31m", "\\u001b[31m"),
        ("\u202eabc", "\\u202eabc"), ("e\u0301", "é"), ("👩\u200d👧", "👩\u200d👧"), ("</script>", "</script>"), ("\u2028", "\\u2028"),
        ("\x00", "\\u0000"), ("אבג", "אבג"), ("\U000e0041", "\\U000e0041"), ("\x85", "\\u0085"), ("\ufeff", "\\ufeff"),
        ("\u200b", "\\u200b"), ("\u200d", "\\u200d"), ("\u200d\ufe0f", "\\u200d\\ufe0f"), (" \u200d", "␣\\u200d"), ("\xad", "\\u00ad"),
        ("\u0301", "\\u0301"), ("\u0e31", "\\u0e31"), ("\xa0", "\\u00a0"), ("\u3000", "\\u3000"), ("\u3164", "\\u3164"), ("\u2800", "\\u2800"),
        ("\U000e0100", "\\U000e0100"), ("\u20dd", "\\u20dd"), ("a\u200d", "a\u200d"), ("◌\u0301", "◌\u0301"),
    ],
)  # fmt: skip
def test_shown(token: str, seen: str) -> None:
    assert shown(token) == seen


def test_a_shown_token_is_one_line_without_control_characters() -> None:
    every = "".join(chr(code) for code in (*range(0xD800), *range(0xE000, 0x10000), *range(0x10000, 0x110000, 37)))
    seen = shown(every)
    assert len(seen.splitlines()) == 1
    assert not any(ord(letter) < 32 or 0x7F <= ord(letter) < 0xA0 for letter in seen)
    assert not any(letter in seen for letter in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")


def test_right_to_left_tokens_are_kept_apart_once() -> None:
    apart = "\u2068שלום\u2069"
    assert isolated("שלום") == isolated(apart) == quoted("שלום", "en") == apart
    assert quoted("مرحبا!", "ko") == "'\u2068مرحبا!\u2069'"
    assert isolated("한글 and 2") == "한글 and 2"
    assert (
        fill("{a} {a:은/는}; {r:ranked}", {"a": "שלום", "r": [("שלום", 0.25)]}, "ko")
        == f"{apart} {apart}은(는); {apart} 25.0%"
    )
    assert without_isolates(apart) == "שלום"


def test_quotes_keep_a_token_apart_from_the_sentence() -> None:
    assert quoted("it", "en") == "'it'"
    assert quoted("The", "en") == "'The'"
    assert quoted("cat", "en") == "cat"
    assert quoted("deep learning", "ko") == "deep learning"
    assert quoted("고양이가", "ko") == "'고양이가'"
    assert quoted("은행", "ko") == "'은행'"
    assert quoted("", "ko") == "''"
    assert quoted("a.", "en") == "'a.'"


def test_fill_names_the_missing_fact() -> None:
    with pytest.raises(InputError, match="needs the fact 'token'") as caught:
        fill("{token:은/는}", {}, "ko")
    assert "사실" in caught.value.text("ko")


def test_fill_does_not_read_braces_in_tokens() -> None:
    assert fill("{token} {w:n}", {"token": "{w.__class__}", "w": 1.0}, "en") == "'{w.__class__}' 1"


def test_meaning_in_the_language() -> None:
    meaning = {"Person": {"en": "who", "ko": "누가"}}
    data = {"dims": [["Person", 1.0], ["Action", 0.5]]}
    assert fill("{dims:dims+}", data, "en", meaning) == "Person (who) 1, Action 0.5"
    assert fill("{dims:dims+}", data, "ko", meaning) == "Person (누가) 1, Action 0.5"


def test_language() -> None:
    assert language("ko") == "ko"
    with pytest.raises(UnknownName, match="unknown language 'fr'") as caught:
        language("fr")
    assert "언어" in caught.value.text("ko")


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, "en"),
        ({"LANG": "ko_KR.UTF-8"}, "ko"),
        ({"LANG": "ko_KR.eucKR"}, "ko"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "ko_KR.UTF-8"}, "ko"),
        ({"LANG": "ko_KR.UTF-8", "LC_MESSAGES": "C"}, "en"),
        ({"LANG": "ko_KR.UTF-8", "JUMOK_LANG": "en"}, "en"),
        ({"LANG": "C", "JUMOK_LANG": "ko"}, "ko"),
        ({"LANG": "Korean_Korea.949"}, "ko"),
    ],
)
def test_preferred_language(environ: dict[str, str], expected: str) -> None:
    assert preferred_language(environ) == expected


def test_an_unknown_language_in_the_environment_is_refused() -> None:
    with pytest.raises(UnknownName, match="unknown language 'xx'"):
        preferred_language({"JUMOK_LANG": "xx"})
