"""The verbs of the door: the same words in Python, on the command line and in the page."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import InputError
from .trace import Reading, Source, Token, Trace

if TYPE_CHECKING:
    from .path.positions import Rotary
    from .sources.example import Example

__all__ = ["attend", "load"]


def load(path_or_name: str | os.PathLike[str]) -> Example | Trace | Reading:
    """What a name or a file holds: a packaged example, an example file, or a saved ``.safetensors``.

    >>> load("student").sentence
    'The student studies deep learning carefully.'

    Errors: ``UnknownName`` for a name that is neither, ``ExampleError`` with line and column,
    ``SavedFileError`` for a saved file that is not whole.
    """
    if Path(path_or_name).suffix.lower() == ".safetensors":
        from . import saved

        return saved.load(path_or_name)
    from .sources import example

    return example.load(path_or_name)


def attend(
    example: Example | None = None,
    *,
    x: Any = None,
    w_q: Any = None,
    w_k: Any = None,
    w_v: Any = None,
    w_o: Any = None,
    q: Any = None,
    k: Any = None,
    v: Any = None,
    tokens: Iterable[str | Token] | None = None,
    key_tokens: Iterable[str | Token] | None = None,
    n_heads: int = 1,
    n_kv_heads: int | None = None,
    rule: Any = None,
    b_q: Any = None,
    b_k: Any = None,
    b_v: Any = None,
    b_o: Any = None,
    rotation: Rotary | None = None,
    dimensions: Sequence[str] | None = None,
    source: Source | None = None,
) -> Trace | Reading:
    """Attention of an example, of embeddings and projections, or of q, k and v.

    example : an ``Example``; one layer gives a Trace, several a Reading; ``rule`` takes its mask's place
    x : (token, d_model);  w_q, w_k, w_v : (d_model, heads · d);  w_o : (heads · d_value, d_out);  b_* : biases
    q : (head, query, d_head);  k : (kv_head, key, d_head);  v : (kv_head, key, d_value)
    rule : a ``Rule``, or what stands for one: ``"causal"``, ``jumok.allowed.window(2)``, a table of booleans

    >>> attend(x=[[1, 0], [0, 1]], w_q=[[2, 0], [0, 2]], w_k=[[1, 0], [0, 1]], w_v=[[1, 0], [0, 1]]).output.round(2).tolist()
    [[0.8, 0.2], [0.2, 0.8]]

    Errors: ``ShapeError`` names the axis that disagrees, ``InputError`` says which arrays are missing,
    ``OverflowRefused`` the tokens whose score would not fit.
    Source: Vaswani et al. 2017, "Attention is all you need", equation 1.
    """
    from .sources import arrays

    given = {name for name, value in (("x", x), ("w_q", w_q), ("w_k", w_k), ("w_v", w_v)) if value is not None}
    qkv = {name for name, value in (("q", q), ("k", k), ("v", v)) if value is not None}
    if example is not None and not given and not qkv:
        from .sources.example import Example, attended

        if not isinstance(example, Example):
            raise InputError(
                en=f"attend expects an Example (jumok.load('student')) or arrays by name (x=, w_q=, …), "
                f"got {type(example).__name__}.",
                ko=f"attend에는 Example(jumok.load('student'))이나 이름 붙인 배열(x=, w_q=, …)이 필요한데 "
                f"{type(example).__name__}이(가) 왔습니다.",
            )
        return attended(example, rule)
    if example is None and given == {"x", "w_q", "w_k", "w_v"} and not qkv:
        return arrays.from_x(
            x,
            w_q,
            w_k,
            w_v,
            w_o,
            b_q=b_q,
            b_k=b_k,
            b_v=b_v,
            b_o=b_o,
            tokens=tokens,
            n_heads=n_heads,
            n_kv_heads=n_kv_heads,
            rule=rule,
            rotation=rotation,
            dimensions=dimensions,
            source=source,
        )
    if example is None and qkv == {"q", "k", "v"} and not given:
        return arrays.from_qkv(q, k, v, tokens=tokens, key_tokens=key_tokens, rule=rule, source=source)
    came = ", ".join(sorted(given | qkv | ({"example"} if example is not None else set()))) or "nothing"
    raise InputError(
        en=f"attend expects an example, or x, w_q, w_k and w_v, or q, k and v; got {came}.",
        ko=f"attend에는 예제, 또는 x·w_q·w_k·w_v, 또는 q·k·v가 필요한데 {came}만 왔습니다.",
    )
