"""``jumok roles``: what each role means, as a formula, after which paper, and the figures that were published of it;
``jumok measure``: what every head of a model does over a corpus.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from . import cli
from .errors import InputError
from .files import is_file
from .measurement.roles.definitions import Role, definition, sections
from .words import with_particle

if TYPE_CHECKING:
    from .measurement.running.measured import Measured

__all__ = ["measure_corpus", "tell_roles"]

WORDS = {
    "score": ("score", "점수"),
    "baseline": ("held against", "기준선"),
    "paper": ("after", "논문"),
    "published": ("published", "발표된 수치"),
    "beside": ("told with it", "함께 보이는 것"),
    "most": ("the share of cases whose most attended candidate is right", "가장 많이 참고한 후보가 맞는 경우의 비율"),
    "weight": ("the mean weight on what is right", "맞는 곳에 둔 가중치의 평균"),
    "distance": ("the mean distance, in tokens", "평균 거리 (토큰 수)"),
    "evenness": ("the entropy over that of even weights", "고른 가중치의 엔트로피에 대한 비율"),
    "best": (
        "the better of the best fixed offset and even weights, on the same cases",
        "같은 경우에 대해 가장 좋은 고정 위치와 고른 가중치 가운데 나은 쪽",
    ),
    "even": ("even weights", "고른 가중치"),
    "lacking": (
        "The model reads only what came before: in this corpus there is no case of these roles, and they are not measured: {roles}.",
        "이 모델은 앞에 나온 것만 보므로, 이 말뭉치에 해당하는 경우가 없어 측정하지 않는 역할: {roles}.",
    ),
    "more": ("… {n} more", "그 밖에 {n}가지"),
    "signs": (
        "q: query, k: key, w(q,k): weight, S: the sink (the first token, and marks of the tokenizer), C(q): the candidates, the keys "
        "that q may read without S, R(q): those that are right. A case is a query with two candidates or more of which one is right. "
        "Word by word: the sum over the pieces of a word that is read, the mean over those of a word that reads.",
        "q: 쿼리, k: 키, w(q,k): 가중치, S: 싱크(첫 토큰과 토크나이저가 붙인 표시), C(q): 후보, 곧 q가 볼 수 있는 키에서 S를 뺀 것, "
        "R(q): 그 가운데 맞는 것. 후보가 둘 이상이고 그 가운데 맞는 것이 있는 쿼리를 한 경우로 셉니다. "
        "단어 단위에서는 참고되는 단어의 조각은 더하고, 참고하는 단어의 조각은 평균을 냅니다.",
    ),
}  # fmt: skip


def tell_roles(lang: str, name: str | None, json: bool) -> None:
    """All roles, or one, as text or as JSON."""
    if json:
        chosen = [role for _, roles in sections() for role in roles] if name is None else [definition(name)]
        cli._dump(sys.stdout, [_plain(role) for role in chosen])
    elif name is not None:
        cli._say("\n".join(_told(definition(name), lang)))
    else:
        for title, roles in sections():
            cli._say(f"{_of(title, lang)}\n")
            for role in roles:
                cli._say("\n".join(_told(role, lang)) + "\n")
        cli._say(_of(WORDS["signs"], lang))


def _told(role: Role, lang: str) -> Iterator[str]:
    kind = role.baseline
    threshold = kind if isinstance(kind, float) else _of(WORDS[kind], lang)
    yield f"  {role.name}: {role.title(lang)}"
    yield f"    {role.text(lang)}"
    yield f"    {role.formula}"
    yield f"    {_of(WORDS['score'], lang)}: {_of(WORDS[role.measure], lang)}"
    yield f"    {_of(WORDS['baseline'], lang)}: {threshold}"
    yield f"    {_of(WORDS['paper'], lang)}: {role.paper}"
    yield from (f"    {_of(WORDS['published'], lang)}: {figure}" for figure in role.published(lang))
    if role.beside is not None:
        yield f"    {_of(WORDS['beside'], lang)}: {_of(role.beside, lang)}"


def _plain(role: Role) -> dict[str, Any]:
    both = {"title": role.titles, "text": role.texts}
    languages = {name: dict(zip(("en", "ko"), pair, strict=True)) for name, pair in both.items()}
    published = [dict(zip(("en", "ko"), figure, strict=True)) for figure in role.figures]
    beside = None if role.beside is None else dict(zip(("en", "ko"), role.beside, strict=True))
    told: dict[str, Any] = {"name": role.name, "formula": role.formula, "paper": role.paper, "measure": role.measure}
    told |= {"baseline": role.baseline, "published": published, "annotated": role.annotated, "beside": beside}
    return told | languages


def _of(pair: tuple[str, str], lang: str) -> str:
    return pair[0 if lang == "en" else 1]


# measure ------------------------------------------------------------------------------------------


def measure_corpus(lang: str, corpus: str | None, output: str | None, json: bool, asked: Mapping[str, Any]) -> None:
    """Measure, print the best head of each role or the card of one, and keep the run in a folder; or read such a folder again.

    asked : the other options, as texts
    """
    head = None if asked["head"] is None else _place(asked["head"])
    if head is not None and json:
        raise InputError(
            en="--json has every head. Give --head without it.",
            ko="--json에는 모든 헤드가 있습니다. --head는 --json 없이 쓰십시오.",
        )
    found = _found(lang, corpus, output, asked)
    if output is not None:
        _page(lang, found, Path(output))
    if json:
        cli._dump(sys.stdout, found.to_json())
    else:
        _printed(lang, found, head)


def _found(lang: str, corpus: str | None, output: str | None, asked: Mapping[str, Any]) -> Measured:
    from .measurement.running.folder import PLAN

    if corpus is not None and is_file(Path(corpus) / PLAN):
        return _read_again(corpus, output, asked)
    _refuse_no_corpus(corpus, asked["repeated"])
    numbers = {
        name: None if asked[name] is None else _whole(asked[name]) for name in ("workers", "limit", "repeated", "seed")
    }
    flags = {name: asked[name] for name in ("engine", "restart", "dtype", "allow_pickle")}
    return _measured(lang, output, asked["model"], corpus, roles=list(asked["role"]) or None, **numbers, **flags)


HOW = ("restart", "role", "limit", "repeated", "engine", "workers", "dtype", "allow_pickle")


def _read_again(folder: str, output: str | None, asked: Mapping[str, Any]) -> Measured:
    """A finished run, without its model.

    Errors: ``InputError`` for an option that says how to measure, and for a model or seed that the run is not of.
    """
    from .measurement.running.folder import opened

    wrong = [f"--{name.replace('_', '-')}" for name in HOW if _is_given(name)]
    if output is not None:
        wrong.insert(0, "--output")
    if wrong:
        raise InputError(
            en=f"{folder} is a run that is there: {wrong[0]} says how to measure. Give the corpus again, with -o {folder}, to measure.",
            ko=f"{folder}에는 이미 측정한 결과가 있습니다. {with_particle(wrong[0], '은/는')} 어떻게 측정할지 정하는 옵션입니다. 측정하려면 "
            f"말뭉치와 -o {folder}를 함께 주십시오.",
        )
    found = opened(folder)
    _refuse_contradiction(folder, found, asked)
    return found


def _is_given(name: str) -> bool:
    source = click.get_current_context().get_parameter_source(name)
    return source not in (None, ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP)


def _refuse_contradiction(folder: str, found: Measured, asked: Mapping[str, Any]) -> None:
    """Refuse what is asked for beside a finished run, and holds for another one."""
    from .sources.capture.models import name_of

    was = {"seed": found.plan["settings"]["seed"], "model": found.model}
    now = {"seed": _whole(asked["seed"]), "model": name_of(asked["model"])}
    for name in was:
        if _is_given(name) and now[name] != was[name]:
            raise InputError(
                en=f"{folder} was measured with --{name} {was[name]}, and --{name} {now[name]} was asked for. A finished run is read as it "
                f"is. Leave --{name} out, or give the corpus and another folder (-o) to measure again.",
                ko=f"{folder}의 측정에는 --{name} {with_particle(str(was[name]), '이/가')} 쓰였는데 --{name} {with_particle(str(now[name]), '이/가')} "
                f"왔습니다. 끝난 측정은 그대로 읽기만 합니다. --{with_particle(name, '을/를')} 빼거나, 다시 측정하려면 말뭉치와 다른 폴더(-o)를 "
                f"주십시오.",
            )


def _whole(text: str) -> int | str:
    """A whole number; what is none is left to be refused by who knows what it is for."""
    text = text.strip()
    return int(text) if re.fullmatch(r"-?[0-9]{1,11}", text) else text


def _place(text: str) -> tuple[int, int]:
    """Layer and head, as the page and the table write them: 5.3, L5H3."""
    found = re.fullmatch(r"([0-9]{1,6})\.([0-9]{1,6})|[Ll]([0-9]{1,6})[Hh]([0-9]{1,6})", text.strip())
    if found is None:
        raise InputError(
            en=f"--head expects a layer and a head, such as 5.3; got {text!r}.",
            ko=f"--head에는 5.3처럼 층과 헤드가 필요한데 {with_particle(repr(text), '이/가')} 왔습니다.",
        )
    layer, head = (int(one) for one in found.groups() if one is not None)
    return layer, head


def _printed(lang: str, found: Measured, head: tuple[int, int] | None) -> None:
    from .picture.measured import printed_head
    from .picture.role_table import printed

    screen = cli._screen(lang)
    if head is None:
        printed(screen, found)
        return
    try:
        printed_head(screen, found, *head)
    except InputError:  # there is no such head; what was measured, perhaps for hours, is not thrown away
        printed(screen, found)
        raise


def _refuse_no_corpus(corpus: str | None, repeated: str | None) -> None:
    if corpus is None and repeated is None:
        raise InputError(
            en="measure expects a corpus: a text file with a sentence on each line, or a .conllu file. Without one: --repeated 50.",
            ko="measure에는 말뭉치가 필요합니다. 한 줄에 한 문장을 쓴 글 파일이나 .conllu 파일입니다. 말뭉치 없이 하려면 --repeated 50.",
        )


def _measured(lang: str, output: str | None, model: str, corpus: str | None, **options: Any) -> Measured:
    from .cli_capture import quiet_libraries
    from .picture.progress import MeasureBar
    from .verbs import measure

    quiet_libraries()
    try:
        with MeasureBar(sys.stderr, lang) as bar:
            return measure(
                model, corpus, folder=output, progress=bar.show, lacking=lambda roles: _lacking(lang, roles), **options
            )
    except KeyboardInterrupt:
        if output is not None and Path(output).is_dir():
            cli._tell(cli._("measure_stopped", lang, folder=output))
        raise


MOST_NAMED = 8  # roles in a line


def _lacking(lang: str, roles: Sequence[str]) -> None:
    """Before the first progress: what cannot be measured, whatever the text."""
    titles = [definition(role).title(lang) for role in roles]
    rest = len(titles) - MOST_NAMED
    more = [_of(WORDS["more"], lang).format(n=rest)] if rest > 0 else []
    cli._tell(_of(WORDS["lacking"], lang).format(roles=", ".join([*titles[:MOST_NAMED], *more])))


def _page(lang: str, found: Measured, folder: Path) -> None:
    from .measurement.running.folder import PAGE
    from .picture.drawing import draw

    draw(found, lang=lang).save(folder / PAGE)
    cli._tell(cli._("saved", lang, path=folder))
