"""Which lines compute a variant for these arrays and this rule, and why: no choice is made in silence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from array_api_compat import is_numpy_array, is_torch_array

from ..errors import UnknownName
from ..path import Rule
from ..path.checked import count
from ..path.patterns import TopK
from ..words import LANGS, fill, language
from .asked import Asked
from .options import refuse_unknown_options
from .spans import band, stretch
from .sparse import with_pattern
from .window import with_window

__all__ = ["Route", "of_flash", "of_sparse", "of_window", "route"]

PARTS = ("bias", "softcap", "sink")  # of a rule, which PyTorch's fused call does not know

REASONS = {
    "sdpa": (
        "PyTorch's fused call (scaled_dot_product_attention), which knows this rule without a table.",
        "PyTorch의 결합된 호출(scaled_dot_product_attention)로 구합니다. 이 규칙은 표 없이 그대로 넘길 수 있습니다.",
    ),
    "recomputed": (
        "jumok's own tiles, and a backward that makes them again: PyTorch's fused call {why:text}.",
        "jumok의 타일로 구하고, 역전파에서는 타일을 다시 만듭니다. PyTorch의 결합된 호출은 {why:text}.",
    ),
    "strided tiles": (
        "PyTorch's fused call on overlapping tiles: each {tile:int} queries with the {n_keys:int} keys around them, in one call.",
        "PyTorch의 결합된 호출을 겹치는 타일에 씁니다. 쿼리 {tile:int}개마다 그 둘레의 키 {n_keys:int}개를 붙여 한 번에 구합니다.",
    ),
    "flex": (
        "PyTorch's FlexAttention, compiled for this length.",
        "이 길이에 맞게 컴파일한 PyTorch의 FlexAttention으로 구합니다.",
    ),
    "threads": (
        "blocks of NumPy's matrix products, {n_threads:int} at a time.",
        "NumPy의 행렬 곱을 블록으로 나누어 한 번에 {n_threads:int}개씩 구합니다.",
    ),
    "reference": ("jumok's own lines: {why:text}.", "jumok의 코드 그대로 구합니다. {why:text}."),
}
WHYS = {
    "lse": ("does not give the log-sum-exp", "log-sum-exp를 돌려주지 않습니다"),
    "rule": ("does not know this rule without a table", "이 규칙을 표 없이는 알지 못합니다"),
    "asked": ("they were asked for", "그렇게 하도록 요청받았습니다"),
    "no flex": (
        "PyTorch's FlexAttention could compute this pattern too, and is used where flex=True asks for it",
        "PyTorch의 FlexAttention으로도 구할 수 있지만 flex=True일 때만 씁니다",
    ),
    "library": ("this library has no faster way of its own", "이 라이브러리에는 더 빠른 방법이 없습니다"),
    "bias": (
        "the faster way knows no position bias, such as ALiBi",
        "더 빠른 방법은 ALiBi 같은 위치 편향을 알지 못합니다",
    ),
    "softcap": ("the faster way knows no soft cap", "더 빠른 방법은 소프트 캡을 알지 못합니다"),
    "sink": ("the faster way knows no sink", "더 빠른 방법은 싱크를 알지 못합니다"),
    "mask": (
        "the faster way knows windows only, not this rule of who may read whom",
        "더 빠른 방법은 윈도우만 알고 누가 누구를 볼 수 있는지를 정한 이 규칙은 알지 못합니다",
    ),
    "batch": ("the faster way knows one mask for all batches only", "더 빠른 방법은 모든 배치에 같은 마스크만 압니다"),
    "nothing": ("under this rule nothing is read", "이 규칙에서는 읽을 수 있는 키가 없습니다"),
    "size": ("these numbers are so large that each product is watched", "수가 매우 커서 곱을 하나씩 살펴야 합니다"),
    "only way": ("there is no other way", "다른 방법이 없습니다"),
}


@dataclass(frozen=True)
class Route:
    """What computes a variant, and why.

    name : one of ``REASONS``;  why : one of ``WHYS``, where there is something to say
    numbers : what the sentence has in it
    """

    name: str
    why: str | None = None
    numbers: tuple[tuple[str, int], ...] = ()

    def text(self, lang: str = "en") -> str:
        """The same as a sentence."""
        at = LANGS.index(language(lang))
        why = {} if self.why is None else {"why": WHYS[self.why][at]}
        return fill(REASONS[self.name][at], dict(self.numbers) | why, LANGS[at])

    def __str__(self) -> str:
        return self.text()


def route(q: Any, k: Any, v: Any, rule: Any = None, variant: str = "flash", **options: Any) -> Route:
    """What will compute a variant, with the options that it will be given, and why. Nothing is computed.

    variant : "full", "flash", "window", "sparse", "linear" or "lowrank"

    >>> import numpy as np
    >>> one = np.array([[[0.0], [1.0], [2.0]]])
    >>> print(route(one, one, one, "causal", "lowrank"))
    jumok's own lines: there is no other way.

    Errors: ``UnknownName`` for a variant and for an option that it has not, and what the variant itself refuses.
    """
    from .cost_kinds import KINDS

    if variant not in _ROUTES:
        raise UnknownName(
            en=f"variant expects one of {', '.join(_ROUTES)}, got {variant!r}.",
            ko=f"variant에는 {', '.join(_ROUTES)} 가운데 하나가 필요한데 {variant!r}이(가) 왔습니다.",
        )
    refuse_unknown_options(variant, KINDS[variant].variant, options)
    found: Route = _ROUTES[variant](q, k, v, rule, options)
    return found


def of_flash(asked: Asked, return_lse: bool = False) -> Route:
    """For ``flash``."""
    rule = asked.rule
    if is_torch_array(asked.q):
        if return_lse:
            return Route("recomputed", "lse")
        return Route("sdpa") if is_plain(asked) else Route("recomputed", "rule")
    if not is_numpy_array(asked.q):
        return Route("reference", "library")
    if (part := _first(rule, "bias", "softcap")) is not None or asked.by_batch:
        return Route("reference", part or "batch")
    if not asked.wide.sure:
        return Route("reference", "size")
    from .fast_numpy import n_threads

    return Route("threads", numbers=(("n_threads", n_threads(asked)),))


def of_window(asked: Asked, tile: int) -> Route:
    """For ``window``."""
    if not is_torch_array(asked.q):
        return Route("reference", "library")
    rule, diagonals = asked.rule, band(asked.rule.allowed)
    if diagonals is None or _first(rule, *PARTS) is not None:
        return Route("reference", _first(rule, *PARTS) or "mask")
    if not stretch(rule.allowed, 0, asked.n_queries - 1, asked.n_keys):
        return Route("reference", "nothing")
    if is_plain(asked):
        return Route("sdpa")
    from .fast_torch import reach

    least, most = reach(asked, diagonals)
    tile = min(tile, asked.n_queries)
    return Route("strided tiles", numbers=(("tile", tile), ("n_keys", tile + most - least)))


def of_sparse(asked: Asked, pattern: Any, flex: bool) -> Route:
    """For ``sparse``."""
    if flex:
        return Route("flex")
    is_plain_rule = not asked.by_batch and _first(asked.rule, *PARTS) is None
    could = is_torch_array(asked.q) and not isinstance(pattern, TopK) and is_plain_rule
    return Route("reference", "no flex" if could else "only way")


def _first(rule: Rule, *parts: str) -> str | None:
    """The first of these parts that a rule has."""
    return next((part for part in parts if getattr(rule, part) is not None), None)


def is_plain(asked: Asked) -> bool:
    """Whether PyTorch's fused call knows the rule by a flag: everything, or causal."""
    rule, diagonals = asked.rule, band(asked.rule.allowed)
    if diagonals is None or _first(rule, *PARTS) is not None:
        return False
    least, most = diagonals
    return least <= 1 - asked.n_queries and (most == 0 or most >= asked.n_keys - 1)


def _flash(q: Any, k: Any, v: Any, rule: Any, options: dict[str, Any]) -> Route:
    asked = Asked.of(q, k, v, rule)
    return (
        of_flash(asked, options.get("return_lse", False)) if options.get("fast", True) else Route("reference", "asked")
    )


def _window(q: Any, k: Any, v: Any, rule: Any, options: dict[str, Any]) -> Route:
    from .window import TILE

    asked = Asked.of(q, k, v, with_window(rule, options.get("n_back"), options.get("n_ahead", 0)))
    tile = count("tile", options.get("tile", TILE))
    return of_window(asked, tile) if options.get("fast", True) else Route("reference", "asked")


def _sparse(q: Any, k: Any, v: Any, rule: Any, options: dict[str, Any]) -> Route:
    pattern = options.get("pattern")
    asked = Asked.of(q, k, v, rule if isinstance(pattern, TopK) else with_pattern(rule, pattern))
    return of_sparse(asked, pattern, options.get("flex", False))


def _plain(q: Any, k: Any, v: Any, rule: Any, options: dict[str, Any]) -> Route:  # noqa: ARG001 (one form for all)
    Asked.of(q, k, v, rule)
    return Route("reference", "only way")


_ROUTES = {
    "full": _plain, "flash": _flash, "window": _window, "sparse": _sparse, "linear": _plain, "lowrank": _plain,
}  # fmt: skip
