"""A design as plain JSON: what a page or a file carries of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...words import LANGS

if TYPE_CHECKING:
    from .designed import Design
    from .reasons import Reason

__all__ = ["report", "told"]


def report(design: Design) -> dict[str, Any]:
    """The numbers of a design and its reasons in both languages.

    errors, differences : (sentence, head, query) KL in nats and the largest difference; None in rows left free
    """
    several = len(design.sentences) > 1
    errors = list(design.row_error) if several else [design.row_error]
    differences = list(design.row_difference) if several else [design.row_difference]
    return {
        "exact": design.exact,
        "finished": design.finished,
        "d_k": design.d_k,
        "gap": design.gap,
        "fixed": design.fixed,
        "heads": [
            {
                "loss": found.loss, "bound": found.bound, "gap": found.gap, "gradient": found.gradient,
                "rank": found.rank, "limited": found.limited, "ridge": found.ridge, "split": found.split,
            }
            for found in design.found
        ],
        "errors": [_plain(one) for one in errors],
        "differences": [_plain(one) for one in differences],
        "reasons": [told(reason) for reason in design.reasons],
    }  # fmt: skip


def told(reason: Reason) -> dict[str, Any]:
    """A reason with its texts."""
    return {
        "kind": reason.kind,
        "tokens": list(reason.tokens),
        "head": reason.head,
        "sentence": reason.sentence,
        "facts": dict(reason.facts),
        "text": {lang: reason.text(lang) for lang in LANGS},
        "lifts": [{"kind": lift.kind, "text": {lang: lift.text(lang) for lang in LANGS}} for lift in reason.lifts],
    }


def _plain(table: Any) -> list[list[float | None]]:
    return [[None if math.isnan(a) else float(a) for a in row] for row in table]
