"""What a page carries besides to step through flash attention: the second program, and how large a tile is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import InputError
from ..trace import unknown_name

__all__ = ["EXTENSION", "VARIANTS", "carried", "refuse_variant"]

EXTENSION = Path(__file__).parent / "static" / "folding.js"
VARIANTS = ("flash",)


def carried(variant: Any, tile: Any) -> tuple[dict[str, Any], dict[str, int]]:
    """(what the page's model holds besides, what is chosen when it opens); nothing where no variant is asked for.

    Errors: ``UnknownName`` for another variant, ``InputError`` for a tile without one or below 1.
    """
    if variant is None:
        if tile is not None:
            raise InputError(
                en='tile= is for variant="flash". Leave it out, or give both.',
                ko='tile=은 variant="flash"와 함께만 씁니다. 빼거나 둘 다 주십시오.',
            )
        return {}, {}
    if variant not in VARIANTS:
        raise unknown_name("variant", "변형", variant, VARIANTS)
    if tile is None:
        return _program(), {}
    if isinstance(tile, bool) or not isinstance(tile, int) or tile < 1:
        raise InputError(
            en=f"tile expects a whole number of keys, 1 or more, got {tile!r}.",
            ko=f"tile에는 1 이상의 정수가 필요한데 {tile!r}이(가) 왔습니다.",
        )
    return _program(), {"tile": tile}


def _program() -> dict[str, Any]:
    return {"extension": EXTENSION.read_text(encoding="utf-8")}


def refuse_variant(variant: Any, tile: Any) -> None:
    """Where no single row is looked at."""
    if variant is not None or tile is not None:
        raise InputError(
            en="variant= and tile= are for the page of one record (a Trace or a Reading). Leave them out.",
            ko="variant=과 tile=은 기록 하나(Trace, Reading)의 페이지에만 쓸 수 있습니다. 빼고 부르십시오.",
        )
