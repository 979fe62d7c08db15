"""What is chosen in a page: where it opens, and what can be chosen. As frontend/src/state.ts.

>>> import jumok
>>> opening([jumok.attend(jumok.load("student"))])
{'document': 0, 'layer': 0, 'head': 0, 'query': 2, 'key': 3, 'stage': 'weights'}
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import InputError, JumokError
from ..history import History
from ..tokens import position, unknown_name
from ..trace import Reading, Trace, layers_of
from ..words import language
from .grids import SHOWN

__all__ = ["changed", "fitting", "layers", "opening"]

Records = Sequence[Trace | Reading | History]
Choice = dict[str, Any]

VIEWS = ("stages", "heads", "map", "compare")
THEMES = ("auto", "light", "dark")


def opening(
    records: Records, comparison: Mapping[str, Any] | None = None, told: Mapping[str, Any] | None = None
) -> Choice:
    """Where a page of one record or of two opens: what was told, and the rest as it follows from that.

    comparison : as ``Comparison.pairing`` gives it; then it opens at what changed most, else at a token that both have

    Errors: ``InputError`` where what was told is not there.
    """
    told = {} if told is None else told
    _refuse_no_choice(told)
    most = _most_changed(comparison, told)
    start = {"document": 0, "layer": 0, "head": 0, "query": 0, "key": 0, "stage": "weights", **_after_training(records)}
    choice = changed(records, start | {name: most[name] for name in ("layer", "head") if name in most}, told)
    at = choice["document"]
    query = most["query"][at] if most else _matched(comparison, at, _asking(records, choice))
    choice |= {} if "query" in told else {"query": query}
    if "key" not in told:
        choice["key"] = most["key"][at] if most and choice["query"] == query else _read_most(records, choice)
    return choice


def _matched(comparison: Mapping[str, Any] | None, document: int, query: int) -> int:
    """A token of one of two records, or where it has no match the first that has one: there is something to compare."""
    matched = [pair[document] for pair in (comparison or {}).get("pairs", ())]
    return query if not matched or query in matched else int(matched[0])


def changed(records: Records, choice: Choice, given: Mapping[str, Any]) -> Choice:
    """A choice with some of it chosen anew; what is then beyond the end becomes the last.

    Errors: ``InputError`` where what is given is not there.
    """
    _refuse_no_choice(given)
    now = dict(choice)
    for name, checked in _CHECKED.items():  # in this order: which heads there are depends on the layer
        if name in given:
            now[name] = checked(records, now, given[name])
        elif name in _SIZES:
            now[name] = min(now[name], _SIZES[name](records, now) - 1)
    return now


def fitting(records: Records, choice: Choice, said: Any) -> Choice:
    """A choice with what of ``said`` can be chosen; the rest of it stays as it was."""
    for name in _CHECKED if isinstance(said, Mapping) else ():
        if name in said:
            try:
                choice = changed(records, choice, {name: said[name]})
            except JumokError:
                continue
    return choice


# where it opens -----------------------------------------------------------------------------------


def _most_changed(comparison: Mapping[str, Any] | None, told: Mapping[str, Any]) -> Mapping[str, Any]:
    """What changed most, of the layer and head that were told; empty where nothing is known to have changed."""
    heads = () if comparison is None else comparison.get("heads") or ()
    return next(
        (
            change
            for change in heads
            if change["query"] is not None and all(told.get(name, change[name]) == change[name] for name in ("layer", "head"))
        ),
        {},
    )  # fmt: skip


def _asking(records: Records, choice: Choice) -> int:
    """The token to look at first: the example's own choice, or the last, which may read most."""
    trace, record = _layer(records, choice), records[choice["document"]]
    last = trace.n_queries - 1
    whole = trace.source if isinstance(record, History) else record.source
    focus = trace.source.details.get("focus", whole.details.get("focus", last))
    return max(0, min(int(focus), last))


def _read_most(records: Records, choice: Choice) -> int:
    trace = _layer(records, choice)
    return int(trace.rows("weights", heads=[choice["head"]], queries=[choice["query"]])[0, 0].argmax())


def _after_training(records: Records) -> Choice:
    """Of training runs: the last step, and the first sequence that was looked at; a run beside itself shows two."""
    runs = [record for record in records if isinstance(record, History)]
    if not runs:
        return {}
    second = {"probe2": min(int(runs[-1] is runs[0]), len(runs[-1].probes) - 1)} if len(runs) > 1 else {}
    return {"step": max(run.steps[-1] for run in runs), "probe": 0, **second}


# what can be chosen -------------------------------------------------------------------------------


def layers(records: Records, choice: Choice) -> tuple[Trace, ...]:
    """The layers of the chosen record; of a training run, as they were at the chosen step."""
    record = records[choice["document"]]
    if isinstance(record, History):
        record = record.reading(choice["step"], choice["probe2" if choice["document"] else "probe"])
    return layers_of(record)


def _layer(records: Records, choice: Choice) -> Trace:
    return layers(records, choice)[choice["layer"]]


_SIZES: dict[str, Callable[[Records, Choice], int]] = {
    "document": lambda records, _: len(records),
    "layer": lambda records, choice: len(layers(records, choice)),
    "head": lambda records, choice: _layer(records, choice).n_heads,
    "query": lambda records, choice: _layer(records, choice).n_queries,
    "key": lambda records, choice: _layer(records, choice).n_keys,
}


def _place(name: str, name_ko: str) -> Callable[[Records, Choice, Any], int]:
    return lambda records, choice, value: position(name, name_ko, value, _SIZES[name](records, choice))


def _one_of(name: str, name_ko: str, known: Sequence[str]) -> Callable[[Records, Choice, Any], str]:
    def checked(_records: Records, _choice: Choice, value: Any) -> str:
        if value not in known:
            raise unknown_name(name, name_ko, value, known)
        return str(value)

    return checked


def _history(records: Records, at: int, name: str) -> History:
    record = records[at] if at < len(records) else None
    if not isinstance(record, History):
        raise InputError(
            en=f"{name} can be chosen in a training run only, and there is none.",
            ko=f"{name}은(는) 학습 기록에서만 고를 수 있는데 여기에는 없습니다.",
        )
    return record


def _step(records: Records, _choice: Choice, value: Any) -> int:
    """How many updates had been made; the last snapshot that is not after it is shown."""
    _history(records, 0, "step").snapshot(value)
    return int(value)


def _probe(name: str, at: int) -> Callable[[Records, Choice, Any], int]:
    return lambda records, _, value: position(name, "살펴보는 문장", value, len(_history(records, at, name).probes))


def _whole(name: str) -> Callable[[Records, Choice, Any], int]:
    """A number of its own, from 0, that no record bounds: the page takes the nearest that it has."""

    def checked(_records: Records, _choice: Choice, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InputError(
                en=f"{name} expects a whole number, 0 or more, got {value!r}.",
                ko=f"{name}에는 0 이상의 정수가 필요한데 {value!r}이(가) 왔습니다.",
            )
        return value

    return checked


def _view(records: Records, _choice: Choice, value: Any) -> str:
    return _one_of("view", "화면", VIEWS if len(records) > 1 else VIEWS[:-1])(records, _choice, value)


def _window(_records: Records, _choice: Choice, value: Any) -> dict[str, float] | None:
    """The part of a map that is seen, in tokens."""
    if value is None:
        return None
    names = ("row", "rows", "column", "columns")
    found = [value.get(name) for name in names] if isinstance(value, Mapping) else [None]
    numbers = [float(one) for one in found if isinstance(one, (int, float)) and math.isfinite(one)]
    if len(numbers) < len(names) or numbers[1] <= 0 or numbers[3] <= 0:
        raise InputError(
            en=f"window expects None or numbers such as {{'row': 0, 'rows': 8, 'column': 0, 'columns': 8}}, got {value!r}.",
            ko=f"window에는 None이나 {{'row': 0, 'rows': 8, 'column': 0, 'columns': 8}} 같은 숫자가 필요한데 "
            f"{value!r}이(가) 왔습니다.",
        )
    return {name: value[name] for name in names}


_CHECKED: dict[str, Callable[[Records, Choice, Any], Any]] = {
    "document": _place("document", "문서"),
    "step": _step,
    "probe": _probe("probe", 0),
    "probe2": _probe("probe2", 1),
    "layer": _place("layer", "층"),
    "head": _place("head", "헤드"),
    "query": lambda records, choice, value: _layer(records, choice).index(value),
    "key": lambda records, choice, value: _layer(records, choice).key_index(value),
    "stage": _one_of("stage", "단계", SHOWN),
    "lang": lambda _records, _choice, value: language(value),
    "view": _view,
    "theme": _one_of("theme", "테마", THEMES),
    "window": _window,
    "tile": _whole("tile"),
    "fold": _whole("fold"),
}


def _refuse_no_choice(given: Any) -> None:
    if not isinstance(given, Mapping):
        raise InputError(
            en=f"view expects a dict such as {{'layer': 0, 'query': 2}}, got {given!r}.",
            ko=f"view에는 {{'layer': 0, 'query': 2}} 같은 딕셔너리가 필요한데 {given!r}이(가) 왔습니다.",
        )
    for name in given:
        if name not in _CHECKED:
            raise unknown_name("choice", "선택 항목", name, _CHECKED)
