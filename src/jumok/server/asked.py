"""What a visitor asks for, from JSON that may hold anything: checked, with every name and number in its bounds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InputError, json_reason
from ..sources.capture.texts import refuse_blank
from ..words import LANGS, with_particle
from .limits import EXAMPLE_LETTERS, STEPS, TEXT_LETTERS
from .refusal import Refusal

__all__ = ["Offer", "job_of", "object_of", "question_of"]

DEEPEST = 20  # of nested lists and objects; nothing that is asked has more than three
LONGEST_TITLE = 60
MOST_TOKENS, MOST_WIDTH, MOST_HEADS = 65_536, 512, 64  # of a cost: what fits the memory of a laptop
LABELS = {
    "text": {"en": "text", "ko": "글"},
    "task": {"en": "task", "ko": "과제"},
    "steps": {"en": "number of steps", "ko": "단계 수"},
    "seed": {"en": "seed", "ko": "시드"},
    "n": {"en": "numbers of tokens", "ko": "토큰 수"},
    "d": {"en": "width of a head", "ko": "헤드의 너비"},
    "heads": {"en": "number of heads", "ko": "헤드 수"},
    "code": {"en": "your code", "ko": "코드"},
}  # as the forms have them
FIELDS = {
    "design": ("example", "fixed"),
    "cut": ("document", "layer", "head", "query", "key", "renormalise"),
    "check": ("code", "checks"),
    "capture": ("text",),
    "learn": ("task", "steps", "seed"),
    "measure": ("text",),
    "cost": ("n", "d", "heads"),
}  # that a question or a job may have beside its kind
CHECKS = ("attention", "causal", "multihead", "cross", "softmax", "scale")


@dataclass(frozen=True)
class Offer:
    """What this server was started with.

    model : its name, or None;  corpus : a file's name, or None;  tasks : name → title
    """

    model: str | None
    corpus: str | None
    allow_code: bool
    tasks: Mapping[str, Mapping[str, str]]


def object_of(body: bytes) -> dict[str, Any]:
    """An object of JSON. Errors: ``Refusal`` for anything else."""
    try:
        found = json.loads(body.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        en, ko = error.args if isinstance(error, _NoNumber) else json_reason(error)
        raise Refusal(
            400,
            en=f"the body of the request is no JSON that can be read: {en}.",
            ko=f"요청 본문을 JSON으로 읽을 수 없습니다: {ko}.",
        ) from None
    if not isinstance(found, dict) or not _is_shallow(found, DEEPEST):
        raise Refusal(
            400,
            en='the body of the request should be one JSON object, such as {"kind": "cost"}.',
            ko='요청 본문에는 {"kind": "cost"} 같은 JSON 객체 하나가 필요합니다.',
        )
    return found


class _NoNumber(ValueError):
    """NaN and the like, in English and in Korean."""


def _no_number(name: str) -> Any:
    raise _NoNumber(f"{name} is no number of JSON", f"{with_particle(name, '은/는')} JSON의 수가 아닙니다")


def _is_shallow(plain: Any, deepest: int) -> bool:
    if not isinstance(plain, (dict, list)):
        return True
    parts = plain.values() if isinstance(plain, dict) else plain
    return deepest > 0 and all(_is_shallow(part, deepest - 1) for part in parts)


# questions ----------------------------------------------------------------------------------------


def question_of(plain: Mapping[str, Any], offer: Offer) -> tuple[str, dict[str, Any]]:
    """The kind of a small question, and what it asks. Errors: ``Refusal``, ``InputError``."""
    kinds = {"design": _design, "cut": _cut, "check": _check}
    kind = _one_of(plain, "kind", tuple(kinds))
    asked = kinds[kind](plain, offer)
    _refuse_others(plain, kind)
    return kind, asked


def _design(plain: Mapping[str, Any], _offer: Offer) -> dict[str, Any]:
    fixed = None if plain.get("fixed") is None else _one_of(plain, "fixed", ("w_k",))
    return {"example": _text(plain, "example", EXAMPLE_LETTERS), "fixed": fixed}


def _cut(plain: Mapping[str, Any], offer: Offer) -> dict[str, Any]:
    _refuse_no_model(offer)
    places = {name: _whole(plain, name, None, 0, 10**6) for name in ("layer", "head", "query", "key")}
    renormalise = plain.get("renormalise", False)
    if not isinstance(renormalise, bool):
        raise _wrong(plain, "renormalise", "true or false", "true나 false")
    return {"document": _text(plain, "document", 100), **places, "renormalise": renormalise}


def _check(plain: Mapping[str, Any], offer: Offer) -> dict[str, Any]:
    if not offer.allow_code:
        raise Refusal(
            403,
            en="This server runs no code. Whoever starts it with --allow-code lets it check code, on this computer only. "
            "jumok check my.py checks it without a server.",
            ko="이 서버는 코드를 실행하지 않습니다. --allow-code로 시작하면 이 컴퓨터에서만 코드를 검사합니다. 서버 없이 검사하려면 "
            "jumok check my.py를 쓰십시오.",
        )
    if isinstance(plain.get("code"), str) and not plain["code"].strip():
        raise InputError(
            en="There is no code yet. Write the function, then check it.",
            ko="아직 코드가 없습니다. 함수를 쓴 다음 검사하십시오.",
        )
    checks = None if plain.get("checks") is None else _one_of(plain, "checks", CHECKS)
    return {"code": _text(plain, "code", TEXT_LETTERS), "checks": checks}


# jobs ---------------------------------------------------------------------------------------------


def job_of(plain: Mapping[str, Any], offer: Offer) -> tuple[str, dict[str, Any], dict[str, str]]:
    """The kind of a job, what it asks, and what it is called. Errors: ``Refusal``, ``InputError``."""
    kinds = {"capture": _capture, "learn": _learn, "measure": _measure, "cost": _cost}
    kind = _one_of(plain, "kind", tuple(kinds))
    asked, title = kinds[kind](plain, offer)
    _refuse_others(plain, kind)
    return kind, asked, title


def _capture(plain: Mapping[str, Any], offer: Offer) -> tuple[dict[str, Any], dict[str, str]]:
    _refuse_no_model(offer)
    text = _text(plain, "text", TEXT_LETTERS)
    return {"text": text}, dict.fromkeys(LANGS, _short(text))


def _learn(plain: Mapping[str, Any], offer: Offer) -> tuple[dict[str, Any], dict[str, str]]:
    task = _one_of(plain, "task", tuple(offer.tasks))
    steps = None if plain.get("steps") is None else _whole(plain, "steps", None, 1, STEPS)
    return {"task": task, "steps": steps, "seed": _whole(plain, "seed", 0, 0, 2**31 - 1)}, dict(offer.tasks[task])


def _measure(plain: Mapping[str, Any], offer: Offer) -> tuple[dict[str, Any], dict[str, str]]:
    _refuse_no_model(offer)
    text = None if plain.get("text") is None else _text(plain, "text", TEXT_LETTERS)
    if text is None and offer.corpus is None:
        raise Refusal(
            422,
            en="This server was started without a corpus (--corpus FILE). Send a text with it.",
            ko="이 서버는 말뭉치(--corpus 파일) 없이 시작했습니다. 글을 함께 보내십시오.",
        )
    name = _short(text) if text is not None else str(offer.corpus)
    return {"text": text}, {"en": f"heads over: {name}", "ko": f"헤드 측정: {name}"}


def _cost(plain: Mapping[str, Any], _offer: Offer) -> tuple[dict[str, Any], dict[str, str]]:
    from ..variants.lengths import lengths

    text = _text({"n": "512:4096", **plain}, "n", 200)
    n = lengths(text, _named("n", "en"), MOST_TOKENS, _named("n", "ko"))
    asked = {"n": n, "d": _whole(plain, "d", 64, 1, MOST_WIDTH), "heads": _whole(plain, "heads", 8, 1, MOST_HEADS)}
    en = f"what attention costs, {n[0]:,} to {n[-1]:,} tokens"
    return asked, {"en": en, "ko": f"어텐션의 비용, 토큰 {n[0]:,}~{n[-1]:,}개"}


def _refuse_no_model(offer: Offer) -> None:
    if offer.model is None:
        raise Refusal(
            422,
            en="This server has no model behind it. It gets one by: jumok serve --model M",
            ko="이 서버 뒤에는 모델이 없습니다. 모델을 두려면 jumok serve --model M으로 시작하십시오.",
        )


# values -------------------------------------------------------------------------------------------


def _one_of(plain: Mapping[str, Any], name: str, known: tuple[str, ...]) -> str:
    said = plain.get(name)
    if not isinstance(said, str) or said not in known:
        some = ", ".join(known)
        raise _wrong(plain, name, f"one of {some}", f"{some} 가운데 하나")
    return said


def _text(plain: Mapping[str, Any], name: str, most: int) -> str:
    said = plain.get(name)
    if not isinstance(said, str):
        raise _wrong(plain, name, "a text that is not empty", "비어 있지 않은 글")
    refuse_blank(said, _named(name, "en"), _named(name, "ko"))
    if len(said) > most:
        raise Refusal(
            413,
            en=f"{_named(name, 'en')} has {len(said):,} letters; here it may have {most:,}. Shorten it.",
            ko=f"{_named(name, 'ko')}: {len(said):,}자인데 여기서는 {most:,}자까지 쓸 수 있습니다. 줄여 주십시오.",
        )
    if "\0" in said or any("\ud800" <= letter <= "\udfff" for letter in said):
        raise _wrong(plain, name, "a text without broken characters", "깨진 글자가 없는 글")
    return said


def _whole(plain: Mapping[str, Any], name: str, default: int | None, least: int, most: int) -> int:
    said = plain.get(name, default)
    if type(said) is not int or not least <= said <= most:
        raise _wrong(plain, name, f"a whole number from {least} to {most:,}", f"{least}부터 {most:,}까지의 정수")
    return said


def _wrong(plain: Mapping[str, Any], name: str, en: str, ko: str) -> InputError:
    """What a field should hold, and what came, or that it is not there."""
    if name not in plain:
        return InputError(
            en=f"{_named(name, 'en')} expects {en}, and it is missing.",
            ko=f"{_named(name, 'ko')}에는 {with_particle(ko, '이/가')} 필요한데 빠져 있습니다.",
        )
    got = json.dumps(plain[name])[:60]
    return InputError(
        en=f"{_named(name, 'en')} expects {en}; got {got}.",
        ko=f"{_named(name, 'ko')}에는 {with_particle(ko, '이/가')} 필요한데 {with_particle(got, '이/가')} 왔습니다.",
    )


def _refuse_others(plain: Mapping[str, Any], kind: str) -> None:
    """A field that nobody reads is a wish that would be left unheard."""
    known = ("kind", *FIELDS[kind])
    other = next((name for name in plain if name not in known), None)
    if other is not None:
        said, some = json.dumps(other)[:60], ", ".join(known)
        raise InputError(
            en=f"{kind} has no field {said}. It has: {some}.",
            ko=f"{kind}에는 {said} 필드가 없습니다. 쓸 수 있는 필드: {some}.",
        )


def _named(name: str, lang: str) -> str:
    """A field as its form calls it, with its own name: whoever writes the JSON needs that one."""
    label = LABELS.get(name, {}).get(lang, name)
    if label == name:
        return name
    return f"{label} ({name})" if lang == "en" else f"{label}({name})"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_TITLE else line[: LONGEST_TITLE - 1] + "…"
