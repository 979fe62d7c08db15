"""``jumok cost``: what each variant of attention costs here, and which heads of a model could do with a window.

Ctrl-C ends the measuring at once; what was measured is shown and written, the rest is predicted.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from . import cli
from .errors import InputError
from .files import refuse_nameless, refuse_unwritable

if TYPE_CHECKING:
    from .variants.cost import Cost

__all__ = ["run_cost"]

FORMS = (".html", ".svg", ".png", ".md", ".csv", ".json")
SINKS = 4  # of the pattern "sparse"
OF_READING = ("reading", "window", "sink")  # the options that tell something where a record is looked at
FARTHEST = 2**30


def run_cost(lang: str, output: str | None, json: bool, asked: Mapping[str, str | None]) -> None:
    """Measure, print what came of it, and write it.

    asked : the options, as texts
    """
    if asked["reading"] is not None:
        _refuse_idle()
    _refuse_output(output, (".json",) if asked["reading"] is not None else FORMS)
    if asked["reading"] is not None:
        _reading(lang, output, json, asked)
        return
    found = _measured(lang, _sizes(asked))
    if output is not None:
        _write(lang, found, output)
    if json:
        cli._dump(sys.stdout, found.to_json())
    elif output is None or found.is_stopped:
        from .picture.costs import printed

        printed(cli._screen(lang), found)
    if found.is_stopped:
        cli._tell(cli._("cost_stopped", lang))
        raise click.exceptions.Exit(130)


def _refuse_idle() -> None:
    """What was given beside --reading, and would change nothing there."""
    source = click.get_current_context().get_parameter_source
    idle = [name for name in cli.COST_OPTIONS if name not in OF_READING and source(name) is ParameterSource.COMMANDLINE]
    if idle:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in idle)
        raise InputError(
            en=f"--reading looks at the heads of a record, where {options} would change nothing. Beside it stand --window and "
            f"--sink; leave the others out.",
            ko=f"--reading은 기록의 헤드를 살펴보므로 {options} 옵션은 소용이 없습니다. --window와 --sink만 함께 쓸 수 있습니다. "
            f"나머지는 빼십시오.",
        )


def _refuse_output(output: str | None, forms: tuple[str, ...]) -> None:
    """Before a measurement that takes a minute: what could not be written at its end."""
    if output is None:
        return
    refuse_nameless(output)
    if Path(output).suffix.lower() not in forms:
        raise InputError(
            en=f"the file's name says how to write: {', '.join(forms)}; got {output!r}.",
            ko=f"파일 이름의 끝으로 형식을 정합니다: {', '.join(forms)}. {output!r}이(가) 왔습니다.",
        )
    refuse_unwritable(output)


# what is asked for --------------------------------------------------------------------------------


def _sizes(asked: Mapping[str, str | None]) -> dict[str, Any]:
    """The options of ``jumok.cost``, from texts."""
    from .variants.lengths import lengths

    given = {name: text for name, text in asked.items() if text is not None}
    options: dict[str, Any] = {
        "n": lengths(given["n"], "--n"),
        "d_head": _count("--d", given["d"]),
        "n_heads": _count("--heads", given["heads"]),
        "window": _count("--window", given["window"]),
        "n_sink": _count("--sink", given.get("sink", str(SINKS)), 0),
        "device": given["device"],
        "budget_s": _seconds(given["budget"]),
        "rule": _rule(given["mask"]),
    }
    if "kv_heads" in given:
        options["n_kv_heads"] = _count("--kv-heads", given["kv_heads"])
    if "variants" in given:
        options["variants"] = [name.strip() for name in given["variants"].split(",")]
    return options | ({"library": given["library"]} if "library" in given else {})


def _count(name: str, text: str, least: int = 1) -> int:
    """A whole number from ``least`` on."""
    text = text.strip()
    if not re.fullmatch(r"-?[0-9]+", text, re.ASCII) or text.startswith("-") or (least and not text.strip("0")):
        raise InputError(
            en=f"{name} expects a whole number, {least} or more; got {text!r}.",
            ko=f"{name}에는 {least} 이상의 정수가 필요한데 {text!r}이(가) 왔습니다.",
        )
    if len(text.lstrip("0")) > len(str(FARTHEST)) or int(text) > FARTHEST:
        raise InputError(
            en=f"{name} expects at most {FARTHEST:,}, got {text}.",
            ko=f"{name}에는 {FARTHEST:,} 이하의 수가 필요한데 {text}이(가) 왔습니다.",
        )
    return int(text)


def _seconds(text: str) -> float:
    seconds = cli._number("--budget", text)
    if not 0 <= seconds < math.inf:
        raise InputError(
            en=f"--budget expects seconds, 0 or more; got {text!r}.",
            ko=f"--budget에는 0 이상의 초가 필요한데 {text!r}이(가) 왔습니다.",
        )
    return seconds


def _rule(mask: str) -> str:
    known = {"causal": "causal", "none": "everything"}
    if mask not in known:
        raise InputError(
            en=f"--mask expects causal or none here, got {mask!r}.",
            ko=f"여기서 --mask에는 causal이나 none이 필요한데 {mask!r}이(가) 왔습니다.",
        )
    return known[mask]


# measuring ----------------------------------------------------------------------------------------


def _measured(lang: str, options: Mapping[str, Any]) -> Cost:
    from .picture.progress import CostBar
    from .variants.cost import cost

    with CostBar(sys.stderr, lang) as bar:
        return cost(progress=bar.show, **options)


def _write(lang: str, found: Cost, output: str) -> None:
    if Path(output).suffix.lower() == ".json":
        cli._deliver(lang, output, "json", lambda file: cli._dump(file, found.to_json()))  # which tells it too
        return
    from .picture.drawing import draw

    cli._save_picture(lang, draw(found, lang=lang), output)


# a real model's heads -----------------------------------------------------------------------------


def _reading(lang: str, output: str | None, json: bool, asked: Mapping[str, str | None]) -> None:
    from .picture.costs import printed_heads
    from .variants.cost_heads import window_heads

    window, sink = _count("--window", str(asked["window"])), _count("--sink", asked["sink"] or "0", 0)
    record = cli._attended(str(asked["reading"]), None)
    found = window_heads(record, window, sink)
    into: Callable[[IO[str]], None] = lambda file: cli._dump(file, found.to_json())  # noqa: E731
    if output is not None:
        cli._deliver(lang, output, "json", into)
    if json:
        into(sys.stdout)
    elif output is None or not found.n_rows:  # which says why the file holds no shares
        printed_heads(cli._screen(lang), found)
