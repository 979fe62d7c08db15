"""The refusals: one tree, two languages, the same things said in both."""

from __future__ import annotations

import ast
import copy
import errno
import os
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jumok import errors
from jumok.errors import (
    ExampleError,
    InputError,
    JumokError,
    MissingExtra,
    OutputError,
    OverflowRefused,
    SavedFileError,
    ShapeError,
    TooLargeError,
    UnknownName,
)

SRC = Path(errors.__file__).parent
WORDS = {"en": "expected a number", "ko": "숫자가 필요합니다"}
KINDS = [getattr(errors, name) for name in errors.__all__]
NAMES = {kind.__name__ for kind in KINDS} - {"MissingExtra"}  # it writes its own message

ALL = [
    JumokError(**WORDS),
    InputError(**WORDS),
    ShapeError(**WORDS),
    UnknownName(**WORDS),
    ExampleError(**WORDS, line=3, column=7),
    SavedFileError(**WORDS),
    OverflowRefused(**WORDS, row=1, column=2),
    TooLargeError(**WORDS, bytes_needed=80_000_000_000),
    OutputError(**WORDS),
    MissingExtra(extra="cli", package="rich"),
    errors.NoLayer(en="no layer", ko="층이 없습니다"),
]


def test_every_kind_is_here() -> None:
    assert [type(error) for error in ALL] == sorted(KINDS, key=[type(error) for error in ALL].index)
    assert {type(error) for error in ALL} == set(KINDS)


@pytest.mark.parametrize("error", ALL, ids=lambda error: type(error).__name__)
def test_an_error_speaks_both_languages_wherever_it_goes(error: JumokError) -> None:
    said = vars(error)
    for same in (error, copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
        assert type(same) is type(error)
        assert vars(same) == said
        assert str(same) == same.text() == same.text("en") == error.en
        assert same.text("ko") == error.ko
        assert re.search("[가-힣]", same.text("ko"))


def test_python_knows_what_they_are() -> None:
    builtin = {InputError: ValueError, OutputError: OSError, MissingExtra: ImportError}
    for kind, base in builtin.items():
        assert issubclass(kind, base)
    inputs = (ShapeError, UnknownName, ExampleError, SavedFileError, OverflowRefused, TooLargeError)
    assert all(issubclass(kind, InputError) for kind in inputs)
    assert issubclass(errors.NoLayer, (InputError, IndexError))


@pytest.mark.parametrize("number", sorted(errors._REASONS))
def test_what_the_system_says_is_told_in_both_languages(number: int) -> None:
    en, ko = errors.system_reason(OSError(number, os.strerror(number)))
    assert re.search("[가-힣]", ko)
    assert not re.search("[가-힣]", en)
    assert not {en[-1], ko[-1]} & set(".!")  # the sentence around it ends with one


def test_what_nobody_foresaw_keeps_the_systems_words() -> None:
    for error in (OSError(errno.EXDEV, os.strerror(errno.EXDEV)), ValueError("Invalid cross-device link")):
        assert errors.system_reason(error) == ("Invalid cross-device link", "Invalid cross-device link")
    with pytest.raises(UnicodeDecodeError) as not_text:
        b"\xff".decode()
    assert errors.system_reason(not_text.value)[1] == "UTF-8 글이 아닙니다"


def test_no_refusal_ends_in_the_systems_english() -> None:
    read = [
        path
        for path in SRC.rglob("*.py")
        if re.search(r"\.strerror\b(?!\()|[\"']strerror[\"']", path.read_text("utf-8"))
    ]
    assert [path.name for path in read] == ["errors.py"]


def test_the_drawing_shows_the_tree() -> None:
    drawn = re.findall(r"^ *[│├└─ ]*([A-Z]\w+)", errors.__doc__.split("::")[1].split("``")[0], flags=re.M)
    assert set(drawn) == {kind.__name__ for kind in KINDS}


def test_the_missing_extra_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setenv("JUMOK_CALLED", "python3 run.py")  # which has an environment of its own
    assert MissingExtra(extra="cli", package="rich").ko.endswith("python3 run.py --with cli")
    monkeypatch.delenv("JUMOK_CALLED")
    error = MissingExtra(extra="cli", package="rich")
    assert "pip install 'jumok[cli]'" in error.en
    assert "pip install 'jumok[cli]'" in error.ko
    assert error.extra == "cli"


# every refusal in the source ------------------------------------------------------------------------


def refusals() -> Iterator[Any]:
    """Every call in the source that makes a refusal, or hands both of its texts on."""
    for file in sorted(SRC.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
                texts = {word.arg: word.value for word in node.keywords if word.arg in ("en", "ko")}
                if name in NAMES or texts:
                    yield pytest.param(name, texts, id=f"{file.relative_to(SRC)}:{node.lineno}")


REFUSALS = list(refusals())


def test_there_is_something_to_check() -> None:
    assert len(REFUSALS) > 80


@pytest.mark.parametrize(("name", "texts"), REFUSALS)
def test_a_refusal_says_the_same_in_both_languages(name: str, texts: dict[str, ast.expr]) -> None:
    assert set(texts) == {"en", "ko"}, f"{name} needs en= and ko="
    assert type(texts["en"]) is type(texts["ko"])
    assert placeholders(texts["en"]) == placeholders(texts["ko"])
    if re.search("[A-Za-z]", words(texts["en"])):  # it says something, and does not only hand texts on
        assert re.search("[가-힣]", words(texts["ko"])), "ko= has no Hangul"
        assert not re.search("[가-힣]", words(texts["en"])), "en= has Hangul"


def words(text: ast.expr) -> str:
    """What is written in a text outside its placeholders."""
    parts = text.values if isinstance(text, ast.JoinedStr) else [text]
    return "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))


def placeholders(text: ast.expr) -> set[str]:
    """The names that a text fills in; ``what_ko`` counts as ``what``, and ``ko_at`` as ``en_at``; a particle is no name."""
    filled = [part for part in getattr(text, "values", []) if isinstance(part, ast.FormattedValue)]
    names = [node.id for part in filled for node in ast.walk(part) if isinstance(node, ast.Name)]
    return {re.sub(r"^(en|ko)(?=_|$)|_ko$", "", name) for name in names} - {"with_particle", "str", "repr"}


def test_the_check_sees_what_is_missing() -> None:
    call = ast.parse('f(en=f"{a} is {b!r}", ko=f"{a_ko}입니다")').body[0].value
    en, ko = (word.value for word in call.keywords)
    assert placeholders(en) - placeholders(ko) == {"b"}
    with pytest.raises(AssertionError):
        test_a_refusal_says_the_same_in_both_languages("f", {"en": en, "ko": ko})


@pytest.mark.parametrize(
    ("said", "en", "ko"),
    [
        ("header too small", "it is too short", "파일이 너무 짧습니다"),
        ("header too large", "its header has a length that cannot be", "머리 부분의 길이가 있을 수 없는 값입니다"),
        ("invalid header length", "it ends within its header", "머리 부분이 끝나기 전에 파일이 끝납니다"),
        ("InvalidHeaderLength", "it ends within its header", "머리 부분이 끝나기 전에 파일이 끝납니다"),
        (
            "incomplete metadata, file not fully covered",
            "it is shorter or longer than its header says",
            "짧거나 깁니다",
        ),
        ("MetadataIncompleteBuffer", "it is shorter or longer than its header says", "짧거나 깁니다"),
        (
            "invalid UTF-8 in header: incomplete utf-8 byte sequence",
            "its header is not UTF-8 text",
            "UTF-8 글이 아닙니다",
        ),
        ("invalid JSON in header: EOF while parsing", "its header is no list of tensors in JSON", "JSON이 아닙니다"),
        ("invalid offset for tensor `a`", "a tensor has no place in it that could be", "텐서의 위치가 맞지 않습니다"),
        (
            "invalid shape, data type, or offset for tensor",
            "a tensor has another size than its shape needs",
            "모양과 맞지",
        ),
        ("overflow computing buffer size", "a tensor has a shape that no file could hold", "담을 수 없을 만큼"),
        ("something new", "safetensors: Error while deserializing header: something new", "safetensors: Error while"),
    ],
)
def test_what_is_wrong_with_a_file_of_tensors_is_told_in_both_languages(said, en, ko):
    told = errors.damage_reason(ValueError(f"Error while deserializing header: {said}"))
    assert told[0] == en
    assert ko in told[1]
