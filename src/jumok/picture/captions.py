"""The words of pictures, English and Korean side by side, and how rows and columns are called."""

from __future__ import annotations

from typing import Any

from ..trace import Trace
from ..words import LANGS, by_language, fill
from .grids import Grid
from .labels import labels_of
from .plain import label
from .svg import cut

__all__ = ["LONGEST", "WORDS", "brief", "dimension_names", "grid_names", "say", "title_of", "token_names"]

LONGEST = 190.0  # of a name, in letters of size 12

WORDS = {
    "query_key": ("query ↓   key →", "쿼리 ↓   키 →"),
    "query": ("query", "쿼리"),
    "key": ("key", "키"),
    "layer": ("layer {n:int}", "{n:int}층"),
    "head": ("head {n:int}", "{n:int}번 헤드"),
    "place": ("layer {layer:int} · head {head:int}", "{layer:int}층 · {head:int}번 헤드"),
    "heads": ("layers × heads: {layers:int} × {heads:int}", "층 {layers:int}개 × 헤드 {heads:int}개"),
    "roots": (
        "Colour: the square root of the weight, from 0 (dark) to 1 (bright). Numbers are rounded.",
        "색: 가중치의 제곱근, 0(어두움)부터 1(밝음)까지. 숫자는 반올림했습니다.",
    ),
    "roots_only": (
        "Colour: the square root of the weight, from 0 (dark) to 1 (bright).",
        "색: 가중치의 제곱근, 0(어두움)부터 1(밝음)까지.",
    ),
    "signed": (
        "Colour: linear, the same distance below and above 0. Numbers are rounded.",
        "색: 0을 가운데 두고 위아래로 같은 비율. 숫자는 반올림했습니다.",
    ),
    "signed_only": (
        "Colour: linear, the same distance below and above 0.",
        "색: 0을 가운데 두고 위아래로 같은 비율.",
    ),
    "hidden": ("·  hidden by the mask", "·  마스크가 가린 칸"),
    "hidden_only": ("Grey: hidden by the mask", "회색: 마스크가 가린 칸"),
    "may_read": ("● may be read;  ·  hidden by the mask", "● 볼 수 있음,  ·  마스크가 가린 칸"),
    "pooled": (
        "{n:int} × {m:int} weights in {rows:int} × {columns:int} pixels; each pixel shows the largest weight under it.",
        "가중치 {n:int} × {m:int}개를 {rows:int} × {columns:int} 픽셀에 나타냈습니다. 픽셀마다 그 자리에서 가장 큰 가중치입니다.",
    ),
    "pared": (
        "Left out: {rows:int} rows, {columns:int} columns (the smallest numbers).",
        "줄인 것: 행 {rows:int}개, 열 {columns:int}개(가장 작은 것들).",
    ),
    "arrows": (
        "The larger a weight, the wider and stronger its line (none below 0.005). Numbers: the weights of {token}, rounded.",
        "가중치가 클수록 선이 굵고 뚜렷합니다(0.005보다 작으면 선이 없음). 숫자: {token}의 가중치(반올림).",
    ),
    "arcs": (
        "The larger the weight of {token} on a token, the wider and stronger the arc (none below 0.005). Numbers are rounded.",
        "{token:이/가} 그 토큰을 참고하는 가중치가 클수록 호가 굵고 뚜렷합니다(0.005보다 작으면 호가 없음). 숫자는 반올림했습니다.",
    ),
    "nothing_read": ("{token} may read nothing.", "{token:이/가} 볼 수 있는 토큰이 없습니다."),
    "strip_pared": (
        "Large tables show the rows and columns with the largest numbers.",
        "큰 표는 값이 가장 큰 행과 열만 보여 줍니다.",
    ),
    "rounded": ("Numbers are rounded.", "숫자는 반올림했습니다."),
    "whole_head": ("Each small map is one head: rows are queries, columns are keys.", "작은 그림 하나가 헤드 하나입니다. 행은 쿼리, 열은 키."),
    "largest_shown": ("Each pixel shows the largest weight under it.", "픽셀마다 그 자리에서 가장 큰 가중치입니다."),
    "first": ("A", "A"),
    "second": ("B", "B"),
    "change": ("B − A, matched tokens", "B − A, 짝지은 토큰"),
    "shared_out": (
        "B − A is between matched tokens, each row shared out anew over them; on the others were {a:e} of A's weights and {b:e} of B's.",
        "B − A는 짝지은 토큰 사이의 차이이며, 행마다 합이 1이 되게 다시 나눈 것입니다. 나머지 토큰에는 A의 가중치 {a:e}, B의 가중치 {b:e}가 있었습니다.",
    ),
    "floor": (
        "0: no change, or none larger than that of rounding ({floor:n}).",
        "0: 달라지지 않았거나 반올림 오차({floor:n})보다 작은 차이.",
    ),
    "distance": (
        "Jensen–Shannon distance of the rows, mean: {distance:e} (0 the same, 1 nothing in common)",
        "행 사이의 옌센–섀넌 거리 평균: {distance:e} (0이면 같고 1이면 겹치는 것이 없음)",
    ),
    "distances": (
        "How far each head's rows are apart in the two texts: Jensen–Shannon distance, mean over matched tokens "
        "(0 the same, 1 nothing in common). Numbers are rounded.",
        "두 글에서 헤드마다 행이 얼마나 다른가: 짝지은 토큰의 옌센–섀넌 거리 평균(0이면 같고 1이면 겹치는 것이 없음). "
        "숫자는 반올림했습니다.",
    ),
    "weight": ("weight", "가중치"),
    "value": ("value", "값"),
    "distance_short": ("distance", "거리"),
    "row_told": ("{query:e}: {keys:e}.", "{query:e}: {keys:e}."),
    "attention": ("Attention", "어텐션"),
    "curves": ("Loss, accuracy, and what the heads read", "손실, 정확도, 헤드가 읽는 것"),
    "comparison": ("Two texts compared", "두 글의 비교"),
    "more": ("and {n:int} more rows", "그 밖에 행 {n:int}개"),
}  # fmt: skip


def say(name: str, lang: str, /, **data: Any) -> str:
    """A phrase in a language."""
    return fill(WORDS[name][LANGS.index(lang)], data, lang)


def title_of(trace: Trace, lang: str) -> str:
    """What the record is called: its title, its sentence or its name; "" where it has none."""
    said = trace.source.details
    return (
        by_language(said.get("title"), lang)
        or by_language(said.get("sentence"), lang)
        or by_language(trace.source.name, lang)
    )


def token_names(trace: Trace, read: bool = False) -> list[str]:
    """Tokens as a reader knows them; a piece of a character says which piece it is."""
    cross = read and trace.key_tokens is not None
    sentence = None if cross else trace.source.details.get("sentence")
    labels = labels_of(trace.read_tokens if read else trace.tokens, sentence)
    return [f"{one.text} ({one.part}/{one.parts})" if one.parts > 1 else one.text for one in labels]


def brief(name: str) -> str:
    """A name inside a sentence: no longer than where it stands as a label."""
    return cut(name, 12, LONGEST)


def grid_names(trace: Trace, grid: Grid, lang: str) -> tuple[list[str], list[str]]:
    """The names of a grid's rows and columns: tokens, or dimensions."""
    read = grid.stage in ("k", "v", "weighted_values")
    rows, columns = dimension_names(grid.rows, lang), dimension_names(grid.columns, lang)
    if grid.row_at is not None:
        names = token_names(trace, read)
        rows = [names[at] for at in grid.row_at]
    if grid.column_at is not None:
        names = token_names(trace, read=True)
        columns = [names[at] for at in grid.column_at]
    return rows, columns


def dimension_names(names: list[str | int], lang: str) -> list[str]:
    """Dimensions by their names, or numbered from 1."""
    return [label(name, lang) for name in names]
