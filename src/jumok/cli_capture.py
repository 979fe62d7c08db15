"""``jumok capture`` and ``jumok compare --model``: a model from a folder, a text, and what was read; two texts under one model."""

from __future__ import annotations

import contextlib
import re
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import cli
from .errors import InputError, JumokError
from .files import refuse_nameless
from .layer_numbers import layer_numbers, layer_place
from .sources.capture.texts import refuse_blank
from .tokens import Token, token_index

__all__ = ["capture_text", "compare_texts", "quiet_libraries"]

DRAWN = (".html", ".svg", ".png", ".md", ".csv")
DTYPES = ("float32", "float16", "bfloat16")
MOST_LAYERS = 100_000
MOST_NAMED = 6  # readings in a message
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads")  # as configs call their number
N_CUTS = 3  # that a page gets where none is asked for
LONG_S, VERY_LONG_S = 10.0, 60.0
MANY_WEIGHTS = 2**28  # of all heads: to find the strongest of more takes longer than it is worth
Cut = tuple[int, int, str | None, str | None]  # layer, head, query and key as texts


def capture_text(lang: str, text: str, output: str | None, json: bool, asked: Mapping[str, Any]) -> None:
    """Capture a text and print what was read, or write it, or both.

    asked : the other options, as texts
    """
    suffix = _suffix(output)
    options = {
        "target": asked["target"], "layers": _layers(asked["layers"]), "dtype": _dtype(asked["dtype"]),
        "allow_pickle": asked["allow_pickle"],
    }  # fmt: skip
    layer, head = (cli._place(f"--{name}", asked[name]) for name in ("layer", "head"))
    wanted = [_cut_of(one) for one in asked["cut"]]
    _refuse_renormalise(asked["renormalise"], wanted)
    refuse_blank(text)
    if wanted and asked["target"] is None and asked["reading"] is None:
        _refuse_cuts_early(asked["model"], text, options["layers"], wanted)
    start = time.monotonic()
    with _stage(lang, "reading"):
        reading = _reading_of(_captured(asked["model"], text, options), asked["reading"])
    took = time.monotonic() - start
    layer = layer_numbers(reading)[-1] if layer is None and head is not None else layer
    _refuse_place(reading, layer, head)
    if suffix == ".html":
        _refuse_large_page(reading)
    with _stage(lang, "cutting") if wanted or suffix == ".html" else contextlib.nullcontext():
        cuts = [_cut(reading, one, asked["renormalise"]) for one in wanted]
        shown = (cuts or _strongest_cuts(reading, took)) if suffix == ".html" else None
    if output is not None:
        _write(lang, reading, output, suffix, shown)
        _tell_others(lang, reading)
    if json:
        cli._dump(sys.stdout, _told(reading, cuts))
        return
    screen = cli._screen(lang)
    from .picture.captured import captured, words

    captured(screen, reading, layer, head)
    if cuts:
        screen.title(words("cut", lang))
        screen.entries([(len(cuts) > 1, cut.text(lang)) for cut in cuts])


def _stage(lang: str, name: str) -> Any:
    """While it is open a terminal says what is being done."""
    from .picture.progress import Stage

    return Stage(sys.stderr, lang, name)


def _reading_of(captured: Any, name: str | None) -> Any:
    """The reading that is asked for by name or number; where none is, the one whose layers are shown."""
    return captured.choose(captured.main if name is None else name)


def _captured(model: str, text: str, options: dict[str, Any]) -> Any:
    from .verbs import capture

    quiet_libraries()
    return capture(model, text, **options)


def quiet_libraries() -> None:
    """The libraries' own bars and advice stay off the screen."""
    import logging
    import os

    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    logging.getLogger("transformers").setLevel(logging.ERROR)
    try:
        from .sources.capture.models import quiet
    except ImportError:  # told better by capture itself
        return
    quiet()


def _refuse_large_page(reading: Any) -> None:
    """What would not fit is said before the cuts and the pictures for it are made. Errors: ``TooLargeError``."""
    from .picture.packed import SIZE_LIMIT, least_bytes
    from .picture.page import refuse_beyond

    refuse_beyond(
        SIZE_LIMIT, least_bytes(reading),
        "Take fewer layers (--layers 0-5) or a shorter text; or write it with -o FILE.safetensors, and open that by: jumok serve FILE.safetensors",
        "층을 줄이거나(--layers 0-5) 더 짧은 글을 쓰십시오. -o FILE.safetensors로 저장한 다음 jumok serve FILE.safetensors로 열 수도 있습니다.",
    )  # fmt: skip


def _strongest_cuts(reading: Any, took: float) -> list[Any]:
    """What the model does without its strongest arrows, for a page that was asked for no other cut, where that is quick.

    took : seconds to load the model and read the text
    """
    from .picture.captured import strongest
    from .picture.packed import n_weights

    made: list[Any] = []
    start = time.monotonic()
    for arrow in strongest(reading, N_CUTS) if took < VERY_LONG_S and n_weights(reading) <= MANY_WEIGHTS else []:
        spent = time.monotonic() - start
        if made and spent / len(made) + spent > LONG_S:
            break
        made.append(reading.cut(arrow.layer, arrow.head, arrow.query, arrow.key))
    return made


def _write(lang: str, reading: Any, output: str, suffix: str, cuts: list[Any] | None) -> None:
    if suffix in DRAWN:
        from .picture.drawing import draw

        with _stage(lang, "drawing"):
            picture = draw(reading, lang=lang)
            picture.save(output, cuts=cuts)
        cli._tell_picture(lang, picture, output)
    else:
        reading.save(output)  # at once
        cli._tell(cli._("saved", lang, path=output))


def _tell_others(lang: str, reading: Any) -> None:
    others = [name for name in reading.names if name != reading.main]
    if others:
        some = ", ".join(others[:MOST_NAMED]) + (", …" if len(others) > MOST_NAMED else "")
        cli._tell(cli._("one_reading", lang, name=reading.main, others=some))


def _told(reading: Any, cuts: list[Any]) -> dict[str, Any]:
    """What is printed, as plain JSON with every digit."""
    import dataclasses

    from .measurement.first_look import head_looks, some_queries

    some = some_queries(reading)
    return {
        "format": "jumok-capture",
        "version": 1,
        "source": reading.source.to_json(),
        "reading": reading.main,
        "readings": list(reading.names),
        "layers": [layer.source.to_json() for layer in reading],
        "tokens": [dataclasses.asdict(token) for token in reading.tokens],
        "unreadable": reading.source.details.get("unreadable", {}).get("why"),
        "heads": [dataclasses.asdict(look) for look in head_looks(reading, some)],
        "rows": some,
        "cuts": [cut.to_json() for cut in cuts],
    }


# what is asked for --------------------------------------------------------------------------------


def _suffix(output: str | None) -> str:
    if output is None:
        return ""
    refuse_nameless(output)
    suffix = Path(output).suffix.lower()
    if suffix in (*DRAWN, ".safetensors", ".json"):
        return suffix
    some = ", ".join((".safetensors", ".json", *DRAWN))
    raise InputError(
        en=f"the file's name says how to write: {some}; got {output!r}.",
        ko=f"파일 이름의 끝으로 형식을 정합니다: {some}. {output!r}이(가) 왔습니다.",
    )


def _layers(text: str | None) -> Collection[int] | None:
    """0-5 or 0,3,5."""
    if text is None:
        return None
    found: set[int] = set()
    for part in text.split(","):
        ends = re.fullmatch(r"\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?", part, re.ASCII)
        low, high = (int(ends[1]), int(ends[2] or ends[1])) if ends else (1, 0)
        if high < low or high >= MOST_LAYERS:
            raise InputError(
                en=f"--layers expects 0-5 or 0,3,5, the smaller number first; got {text!r:.80}.",
                ko=f"--layers에는 0-5나 0,3,5처럼 작은 수부터 써야 하는데 {text!r:.80}이(가) 왔습니다.",
            )
        found.update(range(low, high + 1))
    return sorted(found)


def _dtype(text: str | None) -> str | None:
    from .trace import unknown_name

    if text is None or text in DTYPES:
        return text
    raise unknown_name("value of --dtype", "--dtype 값", text, DTYPES)


def _cut_of(text: str) -> Cut:
    """L.H, L.H:query or L.H:query>key; a head also as pages write it, L1H0, and an arrow as -> or →."""
    head = r"\s*(?:(\d{1,4})\.(\d{1,4})|L(\d{1,4})\s?H(\d{1,4}))\s*"
    found = re.fullmatch(rf"{head}(?::\s*(.+?)\s*(?:(?:->|>|→)\s*(.+?)\s*)?)?", text, re.IGNORECASE)
    if found is None:
        raise InputError(
            en=f"--cut expects LAYER.HEAD, LAYER.HEAD:query or LAYER.HEAD:query>key, such as '3.1:it>cat'; got {text!r}.",
            ko=f"--cut에는 층.헤드, 층.헤드:쿼리, 층.헤드:쿼리>키(예: '3.1:it>cat')가 필요한데 {text!r}이(가) 왔습니다.",
        )
    layer, head = found[1] or found[3], found[2] or found[4]
    return int(layer), int(head), found[5], found[6]


def _cut(reading: Any, wanted: Cut, renormalise: bool) -> Any:
    return reading.cut(*_found(reading, wanted), renormalise=renormalise)


def _found(reading: Any, wanted: Cut) -> tuple[int, int, int | None, int | None]:
    """A cut with the positions of its tokens. Errors: ``InputError`` for what is not there."""
    layer, head, query, key = wanted
    _refuse_place(reading, layer, head, "--cut")
    asks = None if query is None else _token(reading, query)
    read = None if key is None else _key(reading, key)
    return layer, head, asks, read


def _refuse_cuts_early(model: str, text: str, layers: Collection[int] | None, wanted: Sequence[Cut]) -> None:
    """Refuse a cut that cannot be before the model is loaded, as far as its folder tells: layers, heads, and the text's tokens.

    What the folder does not tell is seen when the text was read.
    """
    try:
        blank = _blank_reading(model, text, layers)
    except (JumokError, ImportError):  # told better by capture itself
        return
    for one in wanted if blank is not None else ():
        _found(blank, one)


def _blank_reading(model: str, text: str, layers: Collection[int] | None) -> Any:
    """A reading of the shape that this one will have, at most; None where the folder does not tell it."""
    import json

    import numpy as np

    from .sources.capture.models import place_of, tokenizer_of
    from .sources.capture.texts import encoded
    from .sources.capture.wanted import SIZES
    from .trace import Reading, Source, Trace

    quiet_libraries()
    folder = place_of(model)
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(config, dict):
        return None
    n_layers, n_heads = (config.get(_one_of(names, config)) for names in (SIZES, HEADS))
    if type(n_layers) is not int or type(n_heads) is not int or not 0 < n_layers * n_heads < MOST_LAYERS:
        return None
    tokenizer = None if config.get("is_encoder_decoder") else tokenizer_of(folder)
    if tokenizer is None:
        return None
    tokens = encoded(tokenizer, [text]).tokens[0]
    blank = np.zeros((n_heads, len(tokens), 1))
    kept = [layer for layer in range(n_layers) if layers is None or layer in layers]
    source = Source(kind="model", details={"sentence": text})
    made = [
        Trace(tokens=tuple(tokens), q=blank, k=blank, v=blank, source=replace(source, layer=layer)) for layer in kept
    ]
    return Reading(tuple(made), source) if made else None


def _one_of(names: Sequence[str], config: Mapping[str, Any]) -> str:
    return next((name for name in names if name in config), "")


def _refuse_place(reading: Any, layer: int | None, head: int | None, where: str | None = None) -> None:
    """Refuse a layer or head that is not there.

    where : the option that both come from; None for --layer and --head
    """
    said = ("--layer", "--layer") if where is None else (f"{where}: the layer", f"{where}의 층")
    place = 0 if layer is None else layer_place(reading, layer, *said)
    n = reading[place].n_heads if layer is not None else min(one.n_heads for one in reading)
    if head is not None and head >= n:
        name = f"{where}: the head" if where else "--head"
        name_ko = f"{where}의 헤드" if where else "--head"
        raise InputError(
            en=f"{name} expects 0 to {n - 1}, got {head}.",
            ko=f"{name_ko}에는 0부터 {n - 1}까지 쓸 수 있는데 {head}이(가) 왔습니다.",
        )


def _refuse_renormalise(renormalise: bool, wanted: Sequence[Cut]) -> None:
    """--renormalise says how one weight is cut."""
    without = next((one for one in wanted if one[3] is None), None)
    if renormalise and (without is not None or not wanted):
        what = "" if without is None else f", and {without[0]}.{without[1]} is not one"
        what_ko = "" if without is None else f" {without[0]}.{without[1]}은(는) 가중치 하나가 아닙니다."
        raise InputError(
            en=f"--renormalise goes with --cut of one weight, such as --cut '3.1:it>cat'{what}.",
            ko=f"--renormalise는 가중치 하나를 끊는 --cut(예: --cut '3.1:it>cat')과 함께 씁니다.{what_ko}",
        )


def _token(reading: Any, text: str) -> int:
    """A token as a person writes it: its label, or as the tokenizer does, or a position, 2 or #2."""
    from .picture.labels import names

    try:
        return token_index([Token(name) for name in names(reading)], text)
    except InputError:
        try:
            return cli._token_of(reading, re.sub(r"^#(?=\d+$)", "", text))
        except InputError:
            pass
        raise


def _key(reading: Any, text: str) -> int:
    """As ``_token``, where another sequence is read one of its tokens."""
    if reading[0].key_tokens is None:
        return _token(reading, text)
    place = re.sub(r"^#(?=\d+$)", "", text)
    at: int = reading[0].key_index(int(place) if place.isascii() and place.isdigit() else text)
    return at


# two texts ----------------------------------------------------------------------------------------


def compare_texts(
    lang: str, model: str, texts: tuple[str, str], token: str | None, neutral: Sequence[str], json: bool,
    output: str | None,
) -> None:  # fmt: skip
    """Two texts under one model: which heads changed more than edits that should not matter change them."""
    import dataclasses

    from .measurement.comparison import compare
    from .measurement.noise import NeutralEdit, neutral_edits, shifts
    from .picture.captured import shifted
    from .picture.labels import readable
    from .sources.capture.models import load_model
    from .verbs import capture

    for text in texts:
        refuse_blank(text, "compare", "compare")
    quiet_libraries()
    with _stage(lang, "comparing"):
        loaded, tokenizer, _ = load_model(model)
        first, second = (readable(capture(loaded, text, tokenizer)) for text in texts)
        pairs = _pairs(first, second)
        found = compare(first, second, pairs=pairs)
        at = None if token is None else _token(first, token)
        edits = [NeutralEdit("own", text) for text in neutral] or list(neutral_edits(texts[0], token or ""))
        others = [readable(capture(loaded, edit.text, tokenizer)) for edit in edits]
    compared = [compare(first, other, pairs=_pairs(first, other)) for other in others]
    used = [at is None or any(i == at for i, _ in one.pairs) for one in compared]
    moved = shifts(found, [one for one, use in zip(compared, used, strict=True) if use], at)
    if output is not None:
        from .picture.drawing import draw

        cli._save_picture(lang, draw(found, lang=lang), output)
    if json:
        told = [dataclasses.asdict(edit) | {"used": use} for edit, use in zip(edits, used, strict=True)]
        plain = {"token": at, "neutral": told, "shifts": [dataclasses.asdict(one) for one in moved]}
        cli._dump(sys.stdout, {**found.to_json(), **plain})
        return
    placed = [(i, j) for i, j in pairs if first.tokens[i].text != second.tokens[j].text]
    shifted(cli._screen(lang), found, moved, at, list(zip(edits, used, strict=True)), placed)


def _pairs(first: Any, second: Any) -> list[tuple[int, int]]:
    """Tokens that are the same, and between them those that stand in the same place: one word for another."""
    from .measurement.alignment import common

    same = common(*([token.text for token in one.tokens] for one in (first, second)))
    found: list[tuple[int, int]] = []
    before = (-1, -1)
    for i, j in (*same, (len(first.tokens), len(second.tokens))):
        between = (range(before[0] + 1, i), range(before[1] + 1, j))
        if len(between[0]) == len(between[1]):
            found += zip(*between, strict=True)
        found.append((i, j))
        before = (i, j)
    return found[:-1]
