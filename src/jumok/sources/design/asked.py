"""What a page asks of Python: an example file with ``wanted:``, and back come W_Q, W_K and what is said of them.

The question and the answer are plain JSON; how they travel is the host's (frontend/README.md, "Python behind the page").
"""

from __future__ import annotations

from typing import Any

from ..example import parse
from .examples import design_examples

__all__ = ["answer"]


def answer(example: str, fixed: str | None = None) -> dict[str, Any]:
    r"""The W_Q and W_K that an example file's ``wanted:`` asks for in its last layer, with the report of the design.

    example : the text of the file;  fixed : "w_k" to keep W_K as it stands in the file, or None

    >>> file = "tokens: [{a: [0, 0]}, {b: [1, 0]}]\nweights: {w_q: identity, w_k: identity, w_v: identity}\nwanted: {b: {a: .2}}"
    >>> answer(file)["report"]["exact"]
    True

    Errors: as of ``jumok.load`` for the file, and of ``jumok.design``.
    """
    found, _ = design_examples([parse(example)], w_k="given" if fixed == "w_k" else None)
    return {"w_q": found.w_q.tolist(), "w_k": found.w_k.tolist(), "report": found.to_json()}
