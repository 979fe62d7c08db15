"""``jumok explain --variant``: how flash or linear attention comes to a token's row, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from . import cli
from .errors import InputError
from .trace import Trace, layers_of, unknown_name

__all__ = ["explain_variant", "tile_of"]

EXPLAINED = ("flash", "linear")
OTHERS = ("full", "window", "sparse", "lowrank")  # which have no steps of their own


def explain_variant(
    lang: str, name: str, asked: Mapping[str, Any], moment: Mapping[str, str | None], flags: dict[str, bool], output: str | None
) -> None:  # fmt: skip
    """Print or write it: of several layers the last, where none is asked for; of several heads the first.

    asked : variant, tile, gradient, tokens, every, layer and head, as they were given
    moment : mask, step and probe;  flags : json and markdown
    """
    tile = tile_of(asked["variant"], asked["tile"])
    _refuse_others(asked, output, name)
    form = cli._form(output, flags, {suffix: cli.FORMS[suffix] for suffix in (".txt", ".md", ".json")})
    explained = list(
        _explained(lang, name, asked, moment, tile)
    )  # what is refused is refused before the first is printed

    def write(file: IO[str]) -> None:
        if form == "json":
            cli._dump(file, [each.to_json() for each in explained])
        elif form == "markdown":
            file.write("\n".join(cli._explanation_markdown(each, lang) for each in explained))
        else:
            screen = cli._screen(lang, file)
            for each in explained:
                screen.explained(each)

    cli._deliver(lang, output, form, write)


def tile_of(variant: str | None, tile: str | None) -> int | None:
    """How many keys a tile has; None where nothing is said.

    Errors: ``InputError`` where no tile is folded, and for what is no size.
    """
    if tile is None:
        return None
    if variant != "flash":
        raise InputError(
            en="--tile is for flash attention: --variant flash --tile 2.",
            ko="--tile은 플래시 어텐션에만 씁니다: --variant flash --tile 2.",
        )
    if size := cli._whole("--tile", tile):
        return size
    raise InputError(en="--tile expects 1 or more, got 0.", ko="--tile에는 1 이상의 정수가 필요한데 0이 왔습니다.")


def _explained(
    lang: str, name: str, asked: Mapping[str, Any], moment: Mapping[str, str | None], tile: int | None
) -> Iterator[Any]:
    from .explanation.explanation import default_token
    from .explanation.variants import explain_flash, explain_linear
    from .layer_numbers import layer_numbers, layer_place
    from .picture.labels import readable

    record = readable(cli._attended(name, moment["mask"], moment["step"], moment["probe"]))
    at = -1 if asked["layer"] is None else layer_place(record, cli._whole("--layer", asked["layer"]), "--layer")
    trace = layers_of(record)[at]
    wanted = range(trace.n_queries) if asked["every"] else [cli._token_of(trace, one) for one in asked["tokens"]]
    options: dict[str, Any] = {"head": asked["head"] or 0, "lang": lang}
    if not isinstance(record, Trace):
        options["layer"] = layer_numbers(record)[at]
    if asked["variant"] == "flash":
        yield from (explain_flash(trace, token, tile=tile, **options) for token in wanted or [default_token(trace)])
        return
    _refuse_unfollowed(trace)
    if asked["every"] or not wanted:
        yield explain_linear(trace, **options)
    else:
        yield from (explain_linear(trace, token, **options) for token in wanted)


def _refuse_unfollowed(trace: Trace) -> None:
    """In words of the command line what linear attention would refuse in those of Python."""
    from .variants.linear import unfollowed

    wrong = unfollowed(replace(trace.rule, scale=None), trace.d_head)
    if wrong:
        raise InputError(
            en=f"--variant linear keeps one sum for all keys, so it can follow a causal mask and padding only; this record's rule has "
            f"{', '.join(wrong)}. Try --variant flash, which follows any.",
            ko=f"--variant linear는 모든 키를 합 하나로 모으므로 인과 마스크와 패딩만 따를 수 있는데, 이 기록의 규칙에는 "
            f"{', '.join(wrong)}도 있습니다. 어떤 규칙이든 따르는 --variant flash를 쓰십시오.",
        )


def _refuse_others(asked: Mapping[str, Any], output: str | None, name: str) -> None:
    variant = asked["variant"]
    if variant in OTHERS:
        raise InputError(
            en=f"--variant tells {' and '.join(EXPLAINED)} step by step. What {variant} does and costs: jumok cost --variants {variant}",
            ko=f"--variant로는 {', '.join(EXPLAINED)}의 단계를 볼 수 있습니다. {variant}에서 하는 일과 비용: jumok cost --variants {variant}",
        )
    if variant not in EXPLAINED:
        raise unknown_name("variant", "변형", variant, EXPLAINED)
    if asked["head"] == "all" or asked["gradient"]:
        option = "--all-heads" if asked["head"] == "all" else "--gradient"
        raise InputError(
            en=f"--variant tells one row of one head; it does not go together with {option}. Leave one of them out.",
            ko=f"--variant는 헤드 하나의 행을 설명하므로 {option}와(과) 함께 쓸 수 없습니다. 하나를 빼십시오.",
        )
    if output is not None and Path(output).suffix.lower() == ".html":
        raise InputError(
            en=f"sentences are written as .txt, .md or .json. A page to step through: jumok draw {name} --variant flash -o {output}",
            ko=f"문장은 .txt, .md, .json으로 저장합니다. 한 단계씩 넘겨 보는 페이지: jumok draw {name} --variant flash -o {output}",
        )
