"""``jumok examples``: what travels in the package, the examples that are computed and the readings that were saved."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from . import cli, saved
from .errors import InputError
from .files import packaged_readings
from .history import History
from .layer_numbers import layer_numbers
from .sources import example
from .trace import Reading, Trace, layers_of
from .words import shown, with_particle

__all__ = ["READINGS", "run_examples"]

READINGS = (
    "Saved readings: of a real model, and steps of a training",
    "저장된 기록: 실제 모델이 읽은 것과 학습의 단계",
)
_OF_A_MODEL = (
    "a real model, its layers {layers}, {heads} heads each",
    "실제 모델, {layers}층, 층마다 헤드 {heads}개",
)


def run_examples(lang: str, name: str | None) -> None:
    """The list, or the file of one example.

    Errors: ``InputError`` for a reading, which is no text, ``UnknownName`` for one that is not there.
    """
    if name is None:
        _list(lang)
        return
    if name in packaged_readings():
        raise InputError(
            en=f"{name} is a saved reading, not an example file to print. Try: jumok draw {name} -o {name}.html",
            ko=f"{with_particle(name, '은/는')} 출력할 수 있는 예제 파일이 아니라 저장된 기록입니다. 예: jumok draw {name} -o {name}.html",
        )
    sys.stdout.write(cli._packaged(name))


def _list(lang: str) -> None:
    screen, header = cli._screen(lang), [cli._(word, lang) for word in ("name", "title", "sentence")]
    loaded = map(example.load, example.names())
    screen.listed([[one.name, one.title.get(lang, ""), shown(one.sentence)] for one in loaded], header)
    screen.title(READINGS[lang == "ko"])
    screen.listed(list(_readings(lang)), header)


def _readings(lang: str) -> Iterator[list[str]]:
    files = packaged_readings()
    for name in sorted(files, key=_in_order):
        record = saved.load(files[name])
        if not isinstance(record, History):
            yield [name, shown(_title(record, lang)), shown(_sentence(record))]


def _in_order(name: str) -> list[tuple[int, str]]:
    """By words, and by numbers as numbers: learned-5 before learned-20."""
    return [(int(part) if part.isdigit() else -1, part) for part in re.split(r"(\d+)", name)]


def _title(record: Trace | Reading, lang: str) -> str:
    titles = record.source.details.get("title", {})
    if lang in titles:
        return str(titles[lang])
    layers = ", ".join(map(str, layer_numbers(record)))
    return _OF_A_MODEL[lang == "ko"].format(layers=layers, heads=layers_of(record)[0].n_heads)


def _sentence(record: Trace | Reading) -> str:
    tokens = layers_of(record)[0].tokens
    return str(record.source.details.get("sentence", " ".join(map(str, tokens))))
