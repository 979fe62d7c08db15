"""The options that a variant takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from ..errors import UnknownName

__all__ = ["refuse_unknown_options"]

GIVEN = ("q", "k", "v", "rule")  # of every variant


def refuse_unknown_options(name: str, variant: Callable[..., Any], options: Iterable[str]) -> None:
    """Refuse an option that a variant does not take; where Python cannot tell which it takes, any is let pass.

    Errors: ``UnknownName``.
    """
    try:
        parameters = inspect.signature(variant).parameters.values()
    except (TypeError, ValueError):
        return
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return
    known = [one.name for one in parameters if one.name not in GIVEN and one.kind is not one.VAR_POSITIONAL]
    for option in options:
        if option not in known:
            raise UnknownName(
                en=f"{name} has no option {option!r}; it has {', '.join(known) or 'none'}.",
                ko=f"{name}에는 {option!r} 옵션이 없습니다. 쓸 수 있는 것: {', '.join(known) or '없음'}.",
            )
