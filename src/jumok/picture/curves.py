"""The curves of a training run as a picture, tables, and plain JSON: loss, held-out accuracy, what each head reads."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..explanation.emerged import outcome, place, understood
from ..history import History
from ..trace import Floats
from ..words import LANGS, by_language, number, percent
from .captions import say
from .layout import Panel, apart, paragraph, placed, stacked
from .plain import escaped
from .svg import Text, line, path, width_of
from .theme import Theme, css

__all__ = ["CSV_HEADER", "TINY", "WIDE", "curves", "picture", "title_of", "to_csv", "to_json", "to_markdown"]

WIDTH, HEIGHT = 520.0, 112.0  # of a chart's own field
LEFT, RIGHT = 58.0, 116.0  # room for the numbers on its left and the names on its right
SIZE = 11.0
WIDE, TINY = 1000.0, 1e-18  # a loss that falls further is drawn by its powers of ten; below is rounding
CSV_HEADER = ("step", "curve", "layer", "head", "value")

WORDS = {
    "loss": ("Loss of each step's batch", "단계마다의 손실"),
    "loss_means": ("Loss: means of {n} steps", "손실: {n}단계씩 평균"),
    "log": ("{name}, log scale", "{name}, 로그 눈금"),
    "accuracy": ("Accuracy on what was held out", "학습에서 뺀 것의 정확도"),
    "near": ("Nearness to the wanted rows (1 - total variation)", "바라는 행에 가까운 정도 (1 - 총변동거리)"),
    "reads": ("Weight on what the answer depends on, of each head", "답을 정하는 토큰에 두는 가중치, 헤드마다"),
    "steps": ("steps", "단계"),
    "head": ("layer {layer}, head {head}", "{layer}층 {head}번 헤드"),
    "chance": ("chance {share}", "우연 {share}"),
    "baseline": ("without a look {share}", "보지 않고 {share}"),
    "dashed": (
        "Dashed: chance (always the most frequent answer), and the most weight that one distance, one place or even weights reach.",
        "파선: 우연(가장 흔한 답만 냄), 그리고 토큰을 보지 않고 거리 하나, 자리 하나, 고른 가중치로 얻는 최선.",
    ),
    "dotted": ("Dotted: step {step}, where half of the way was done.", "점선: {step}단계, 갈 길의 절반."),
    "step": ("step", "단계"),
    "loss_column": ("loss", "손실"),
    "accuracy_column": ("accuracy", "정확도"),
}


def _word(name: str, lang: str, /, **data: Any) -> str:
    return WORDS[name][LANGS.index(lang)].format(**data)


def title_of(history: History, lang: str) -> str:
    """What was learned, by its title, or its name."""
    task = history.task
    return by_language(task.get("title"), lang) or by_language(task.get("name"), lang) or say("curves", lang)


# the picture --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Curve:
    """One line in a chart. xs, ys : (point,);  name : said at its end;  strong : True for the one that matters"""

    xs: Any
    ys: Any
    name: str = ""
    strong: bool = True


@dataclass(frozen=True)
class _Chart:
    """Curves over the same steps. low, high : of the field; is_log : ys are powers of ten

    level : a value to compare with, and its name;  at : a step to mark
    """

    title: str
    curves: Sequence[_Curve]
    low: float
    high: float
    is_log: bool = False
    level: tuple[float, str] | None = None
    at: int | None = None


def picture(history: History, emerged: Mapping[str, Any] | None, lang: str, theme: Theme) -> tuple[Panel, list[str]]:
    """The curves below each other, and the picture in words."""
    charts = list(_charts(history, understood(history, emerged), lang))
    last = max(history.steps[-1], len(history.loss), 1)
    panels = [_drawn(chart, last, theme) for chart in charts]
    panels.append(_axis(last, lang, theme))
    said = [_word("dashed", lang)] if any(chart.level for chart in charts) else []
    said += [_word("dotted", lang, step=chart.at) for chart in charts if chart.at is not None]
    panels.append(paragraph(" ".join(said), WIDTH + LEFT, theme))
    sections = outcome(history, emerged, lang).sections()
    told = [
        sentence for section in sections if section.name in ("training", "emerged") for _, sentence in section.lines
    ]
    return stacked(panels, 6), told


def _charts(history: History, emerged: Mapping[str, Any] | None, lang: str) -> Iterator[_Chart]:
    if len(history.loss):
        yield _loss(history, lang)
    steps = np.array(history.steps)
    appeared = None if emerged is None else emerged["appeared"]
    known = ~np.isnan(history.accuracy)
    reads = history.roles.get("answer")
    if known.any():
        is_rows = "wanted" in history.task
        chance = None if emerged is None or is_rows else emerged["chance"]
        level = None if chance is None else (chance, _word("chance", lang, share=percent(chance)))
        curve = _Curve(steps[known], history.accuracy[known])
        at = appeared if reads is None else None
        yield _Chart(_word("near" if is_rows else "accuracy", lang), [curve], 0, 1, level=level, at=at)
    if reads is not None:
        best = place(history, emerged)
        curves = [
            _Curve(steps, reads[:, layer, head], _word("head", lang, layer=layer, head=head), (layer, head) == best)
            for layer in range(reads.shape[1])
            for head in range(reads.shape[2])
        ]
        baseline = history.baselines.get("answer")
        level = None if baseline is None else (baseline, _word("baseline", lang, share=percent(baseline)))
        yield _Chart(_word("reads", lang), curves, 0, 1, level=level, at=appeared)


def _loss(history: History, lang: str) -> _Chart:
    """The loss, no more points than pixels; by its powers of ten where it falls far."""
    n = len(history.loss)
    each = -(-n // int(WIDTH))
    ends = np.arange(each, n + each, each).clip(max=n)
    ys = np.array([float(np.maximum(history.loss[max(0, end - each) : end], TINY).mean()) for end in ends])
    name = _word("loss", lang) if each == 1 else _word("loss_means", lang, n=each)
    if ys.max() <= WIDE * ys.min():
        return _Chart(name, [_Curve(ends - 1, ys)], 0, float(ys.max()))
    logs = np.log10(ys)
    return _Chart(
        _word("log", lang, name=name),
        [_Curve(ends - 1, logs)],
        float(np.floor(logs.min())),
        float(np.ceil(logs.max())),
        True,
    )


def _drawn(chart: _Chart, last: int, theme: Theme) -> Panel:
    """A title, a field with its curves, the numbers on its left, the names of curves on its right."""
    top = SIZE + 10
    nodes: list[Any] = [Text(chart.title, LEFT, SIZE + 1, SIZE, css(theme.ink), bold=True)]

    def y_of(value: float) -> float:
        span = (chart.high - chart.low) or 1.0
        return round(top + HEIGHT * (1 - (min(max(value, chart.low), chart.high) - chart.low) / span), 1)

    middle = (chart.low + chart.high) / 2
    for value in (chart.low, np.floor(middle) if chart.is_log else middle, chart.high):
        nodes.append(line(LEFT, y_of(value), LEFT + WIDTH, y_of(value), css(theme.line)))
        said = f"1e{value:g}" if chart.is_log else number(value)
        nodes.append(Text(said, LEFT - 6, y_of(value) + 4, SIZE, css(theme.dim), "end"))
    if chart.at is not None:
        x = LEFT + WIDTH * chart.at / last
        nodes.append(line(x, top, x, top + HEIGHT, css(theme.dim), **{"stroke-dasharray": "2 3"}))
    if chart.level is not None:
        value, _ = chart.level
        nodes.append(line(LEFT, y_of(value), LEFT + WIDTH, y_of(value), css(theme.dim), **{"stroke-dasharray": "6 4"}))
    for curve in sorted(chart.curves, key=lambda one: one.strong):
        points = [(LEFT + WIDTH * float(x) / last, y_of(float(y))) for x, y in zip(curve.xs, curve.ys, strict=True)]
        colour = css(theme.accent if curve.strong else theme.dim)
        nodes.append(_line_of(points, colour, 2 if curve.strong else 1))
    nodes += _names(chart, y_of, theme)
    return Panel(LEFT + WIDTH + RIGHT, top + HEIGHT + 4, tuple(nodes))


def _line_of(points: Sequence[tuple[float, float]], colour: str, width: float) -> Any:
    parts: list[str | float] = []
    for at, (x, y) in enumerate(points):
        parts += ["L" if at else "M", x, y]
    return path(parts, fill="none", stroke=colour, **{"stroke-width": width, "stroke-linejoin": "round"})


def _names(chart: _Chart, y_of: Any, theme: Theme) -> Iterator[Text]:
    """What stands on the right of the field: names of curves and of the level, none over another."""
    wanted = [(y_of(float(one.ys[-1])), one.name, one.strong) for one in chart.curves if one.name]
    if chart.level is not None:
        wanted.append((y_of(chart.level[0]), chart.level[1], False))
    places = apart([y for y, *_ in sorted(wanted)], SIZE * 1.2, SIZE + 10 + HEIGHT)  # clear of the steps' numbers
    for at, (_, name, strong) in zip(places, sorted(wanted), strict=True):
        fill = css(theme.accent if strong else theme.dim)
        yield Text(name, LEFT + WIDTH + 6, at + 4, min(SIZE, SIZE * (RIGHT - 6) / width_of(name, SIZE)), fill)


def _axis(last: int, lang: str, theme: Theme) -> Panel:
    """The steps under all charts."""
    step = _round_step(last / 5)
    ticks = [at for at in range(0, last, step) if last - at > step * 0.35] + [last]
    nodes: list[Any] = [Text(f"{at:,}", LEFT + WIDTH * at / last, SIZE, SIZE, css(theme.dim), "middle") for at in ticks]
    nodes.append(Text(_word("steps", lang), LEFT + WIDTH + 24, SIZE, SIZE, css(theme.dim)))
    return Panel(LEFT + WIDTH + RIGHT, SIZE + 6, (placed(Panel(0, 0, tuple(nodes)), 0, 0),))


def _round_step(least: float) -> int:
    """1, 2 or 5 times a power of ten, the first that is no less.

    >>> _round_step(180.0), _round_step(0.4)
    (200, 1)
    """
    power = 10 ** max(0, int(np.floor(np.log10(max(least, 1)))))
    return int(next(power * by for by in (1, 2, 5, 10) if power * by >= least))


# tables -------------------------------------------------------------------------------------------


def curves(history: History) -> Iterator[tuple[int, str, int | str, int | str, float]]:
    """Every number of every curve: step, curve, layer, head, value. Step 0 is before the first update, with its batch's loss."""
    for at, value in enumerate(history.loss):
        yield at, "loss", "", "", float(value)
    for step, value in zip(history.steps, history.accuracy, strict=True):
        if not np.isnan(value):
            yield step, "accuracy", "", "", float(value)
    for name, roles in history.roles.items():
        for step, table in zip(history.steps, roles, strict=True):
            for layer, of in enumerate(table):
                for head, value in enumerate(of):
                    yield step, f"reads {name}", layer, head, float(value)
    for name, norms in history.gradient_norm.items():
        for at, value in enumerate(norms):
            yield at, f"gradient {name}", "", "", float(value)


def to_csv(history: History) -> str:
    """The curves, one number a line, every digit."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_HEADER)
    writer.writerows([*rest, repr(value)] for *rest, value in curves(history))
    return out.getvalue()


def to_json(history: History) -> dict[str, Any]:
    """The curves as plain JSON; None where something was not measured."""
    return {
        "steps": list(history.steps),
        "loss": _plain(history.loss),
        "accuracy": _plain(history.accuracy),
        "reads": {name: _plain(roles) for name, roles in history.roles.items()},
        "baselines": dict(history.baselines),
        "gradient_norm": {name: _plain(norms) for name, norms in history.gradient_norm.items()},
    }


def _plain(array: Floats) -> Any:
    plain = array.astype(object)
    plain[~np.isfinite(array)] = None
    return plain.tolist()


def to_markdown(history: History, lang: str) -> str:
    """A table of the snapshots: the step, its loss, held-out accuracy, what each head reads. Rounded."""
    reads = history.roles.get("answer")
    heads = [] if reads is None else [(layer, at) for layer in range(reads.shape[1]) for at in range(reads.shape[2])]
    names = [_word(name, lang) for name in ("step", "loss_column", "accuracy_column")]
    names += [_word("head", lang, layer=layer, head=head) for layer, head in heads]
    rows = [names, ["---:"] * len(names)]
    for at, step in enumerate(history.steps):
        loss = number(float(history.loss[step])) if step < len(history.loss) else ""
        accuracy = "" if np.isnan(history.accuracy[at]) else percent(float(history.accuracy[at]))
        of_heads = [] if reads is None else [percent(float(reads[at, layer, head])) for layer, head in heads]
        rows.append([f"{step}", loss, accuracy, *of_heads])
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"# {escaped(title_of(history, lang))}\n\n{table}\n"
