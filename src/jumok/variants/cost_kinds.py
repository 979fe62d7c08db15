"""The variants that ``cost`` knows by name: how each is run, what it costs by formula, how it grows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import InputError, UnknownName
from ..path import patterns
from ..path.checked import count
from ..path.rule import Rule
from . import cost_formulas as formulas
from .cost_formulas import Operations, Sizes
from .flash import flash
from .full import full
from .linear import linear
from .lowrank import lowrank
from .sparse import sparse
from .window import window

__all__ = ["DEFAULT", "KINDS", "Kind", "Settings", "chosen"]


@dataclass(frozen=True)
class Settings:
    """The sizes of what the variants leave out.

    window : keys that a query reads, itself among them (256 is ``jumok.allowed.window(255)``); the stride of ``sparse:strided``
        and the keys kept by ``sparse:top_k``
    n_sink : first tokens that ``sparse`` reads besides
    n_features : of ``linear:random``;  n_landmarks : of ``lowrank``
    """

    window: int = 256
    n_sink: int = 4
    n_features: int = 256
    n_landmarks: int = 64

    def __post_init__(self) -> None:
        for name, least in (("window", 1), ("n_sink", 0), ("n_features", 1), ("n_landmarks", 1)):
            object.__setattr__(self, name, count(name, getattr(self, name), least))


@dataclass(frozen=True)
class Kind:
    """A variant.

    idea : which of the six it is;  exponent : n to this power is how its time grows in the end
    is_exact : True where it gives what ``full`` gives;  is_masked : False where it can follow no causal rule
    is_scaled : False where scores are not scaled, as with elu + 1, which is no approximation of softmax
    options : of a call, from the settings, the number of tokens, and whether the rule is causal
    formula : its operations;  counted : the options that it takes, where those of a call would fill memory
    """

    idea: str
    exponent: float
    is_exact: bool
    variant: Callable[..., Any]
    options: Callable[[Settings, int, bool], dict[str, Any]]
    formula: Callable[[Sizes, dict[str, Any]], Operations]
    is_masked: bool = True
    is_scaled: bool = True
    counted: Callable[[Settings, int, bool], dict[str, Any]] | None = None

    def operations(self, sizes: Sizes, settings: Settings) -> Operations:
        """What it does at these sizes, by formula; nothing that a call needs is made for it."""
        masked = sizes if self.is_masked else sizes.unmasked()
        options = self.counted or self.options
        return self.formula(masked, options(settings, sizes.n_queries, sizes.n_ahead == 0))

    def rule(self, rule: Rule) -> Rule:
        """A rule as this variant is asked to follow it: without the scale where it has no use for one."""
        return rule if self.is_scaled else replace(rule, scale=None)


def _window(settings: Settings, _n: int, is_causal: bool) -> dict[str, Any]:
    back = settings.window - 1
    return {"n_back": back, "n_ahead": 0 if is_causal else back}


def _streaming(settings: Settings, _n: int, _is_causal: bool) -> dict[str, Any]:
    return {"pattern": patterns.streaming(settings.n_sink, settings.window - 1)}


def _strided(settings: Settings, _n: int, _is_causal: bool) -> dict[str, Any]:
    return {"pattern": patterns.strided(settings.window)}


def _big_bird(_settings: Settings, n: int, _is_causal: bool) -> dict[str, Any]:
    return {"pattern": patterns.big_bird(n)}


def _big_bird_rows(_settings: Settings, n: int, _is_causal: bool) -> dict[str, Any]:
    return {"pattern": patterns.BigBird(n)}


def _top_k(settings: Settings, _n: int, _is_causal: bool) -> dict[str, Any]:
    return {"pattern": patterns.top_k(settings.window)}


def _sparse(
    name: str, exponent: float, options: Callable[[Settings, int, bool], dict[str, Any]], **more: Any
) -> dict[str, Kind]:
    formula = lambda sizes, o: formulas.sparse(sizes, **o)  # noqa: E731
    return {name: Kind("sparse", exponent, False, sparse, options, formula, **more)}


KINDS: dict[str, Kind] = {
    "full": Kind("full", 2, True, full, lambda *_: {}, lambda sizes, _: formulas.full(sizes)),
    "flash": Kind("flash", 2, True, flash, lambda *_: {}, lambda sizes, _: formulas.flash(sizes)),
    "window": Kind("window", 1, False, window, _window, lambda sizes, o: formulas.window(sizes.within(**o))),
    **_sparse("sparse", 1, _streaming),
    **_sparse("sparse:strided", 2, _strided),
    **_sparse("sparse:big_bird", 1, _big_bird, counted=_big_bird_rows),
    **_sparse("sparse:top_k", 2, _top_k),
    "linear": Kind(
        "linear", 1, False, linear, lambda *_: {}, lambda sizes, _: formulas.linear(sizes), is_scaled=False
    ),
    "linear:random": Kind(
        "linear", 1, False, linear,
        lambda s, *_: {"features": "random", "n_features": s.n_features},
        lambda sizes, o: formulas.linear(sizes, n_features=o["n_features"]),
    ),
    "lowrank": Kind(
        "lowrank", 1, False, lowrank, lambda s, *_: {"n_landmarks": s.n_landmarks},
        lambda sizes, o: formulas.lowrank(sizes, **o), is_masked=False,
    ),
}  # fmt: skip
DEFAULT = ("full", "flash", "window", "sparse", "linear", "lowrank")


def chosen(names: str | Iterable[str] | None) -> Mapping[str, Kind]:
    """The variants of these names, in their order; None for one of each idea.

    Errors: ``UnknownName`` for another name, ``InputError`` for none at all.
    """
    several = names is not None and not isinstance(names, str) and hasattr(names, "__iter__")
    wanted: list[Any] = list(DEFAULT if names is None else names if several else [names])
    for name in wanted:
        if not isinstance(name, str) or name not in KINDS:
            raise UnknownName(
                en=f"unknown variant {name!r}; known: {', '.join(KINDS)}.",
                ko=f"알 수 없는 변형 {name!r}입니다. 쓸 수 있는 것: {', '.join(KINDS)}.",
            )
    if not wanted:
        raise InputError(
            en=f"variants expects at least one of {', '.join(KINDS)}.",
            ko=f"variants에는 {', '.join(KINDS)} 가운데 하나 이상이 필요합니다.",
        )
    return {name: KINDS[name] for name in dict.fromkeys(wanted)}
