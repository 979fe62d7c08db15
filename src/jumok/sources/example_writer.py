"""``Example`` → the text of its file: as it was read where nothing changed, comments and order kept."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from ..errors import InputError, JumokError
from ..path.allowed import Allowed
from ..tokens import as_tokens, token_name
from ..yaml_nodes import Map, Node, Scalar, Seq
from .example import Block, Example, random_arrays
from .yaml_edits import CannotEdit, edited, written

__all__ = ["to_yaml"]

_ORDER = [
    "title",
    "sentence",
    "dimensions",
    "tokens",
    "weights",
    "random",
    "heads",
    "kv_heads",
    "scale",
    "temperature",
    "positions",
    "mask",
    "residual",
    "layers",
    "wanted",
    "focus",
    "pair",
    "meaning",
]
_BLOCK = ["weights", "heads", "kv_heads", "scale", "temperature", "positions", "mask", "residual"]
_WEIGHTS = ("w_q", "w_k", "w_v", "w_o", "b_q", "b_k", "b_v", "b_o")


def to_yaml(example: Example) -> str:
    """The text that reads as this example; only the parts that changed are written anew.

    Errors: ``InputError`` for what an example file has no words for.
    """
    from .example_reader import read

    wanted = _sections(example)
    why: JumokError = InputError(en="it would be read as something else", ko="다시 읽으면 다른 내용이 됩니다")
    for text in _attempts(example):
        try:
            if _sections(read(text, example.name)) == wanted:
                return text
        except JumokError as error:
            why = error
    raise InputError(
        en=f"this example cannot be written as a file: {why.en.rstrip('.')}.",
        ko=f"이 예제는 파일로 쓸 수 없습니다: {why.ko.rstrip('.')}.",
    )


def _attempts(example: Example) -> Iterator[str]:
    """Texts to try: the old one, with as little changed as will do; then one that is all new."""
    if example.text:
        from ..yaml_nodes import parse
        from .example_reader import read_nodes

        root = parse(example.text, example.name)
        old = read_nodes(root, example.text, example.name)
        alike = len(old.tokens) == len(example.tokens) and len(old.layers) == len(example.layers)
        before, after = _sections(old, root, alike), _sections(example, root, alike)
        if "layers" in after:  # then none of these may stand outside them, not even with its usual value
            before = {name: "" for name in _BLOCK if _child(root, name) is not None} | before
        for one in (before, {name: None if before[name] != after.get(name) else before[name] for name in before}):
            try:
                yield edited(example.text, root, one, after, _ORDER)
            except CannotEdit:
                continue
    yield written(_sections(example))


def _sections(example: Example, root: Node | None = None, alike: bool = False) -> dict[str, Any]:
    """The example as plain names, lists and texts, in order.

    root : the file's nodes, whose way to spell things is kept; None for the simplest spelling
    alike : True where tokens and layers are as many as in the file, so that each has its own node there
    """
    drawn = _still_random(example)
    tokens = [_nfc(token) for token in example.tokens]
    said: dict[str, Any] = {
        "title": _by_language(example.title),
        "sentence": _nfc(example.sentence) if example.sentence != " ".join(example.tokens) else None,
        "dimensions": [_nfc(name) for name in example.dimensions] if example.dimensions else None,
        "tokens": tokens if drawn else _tokens(example, tokens, _child(root, "tokens"), alike),
        "random": {name: _plain(value) for name, value in (example.random or {}).items()} if drawn else None,
        "wanted": _wanted(example),
        "focus": None if example.focus is None else _name(example, example.focus),
        "pair": example.pair,
        "meaning": {_nfc(name): _by_language(words) for name, words in example.meaning.items() if words} or None,
    }
    layers = _child(root, "layers")
    if len(example.layers) == 1 and layers is None:
        said |= _block(example, example.layers[0], drawn, root)
    else:
        nodes = layers.items if isinstance(layers, Seq) and alike else [None] * len(example.layers)
        said["layers"] = [
            _block(example, block, False, like) for block, like in zip(example.layers, nodes, strict=True)
        ]
    return {name: said[name] for name in _ORDER if said.get(name) is not None}


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _child(node: Node | None, name: str) -> Node | None:
    """What a map of the file holds under a name, or None."""
    if not isinstance(node, Map):
        return None
    return next((value for key, value in node.pairs if _nfc(key.text) == name), None)


def _still_random(example: Example) -> bool:
    """True where x and the weights are still what the random numbers gave, and nothing came beside them."""
    if example.random is None or len(example.layers) != 1:
        return False
    block = example.layers[0]
    drawn = random_arrays(example.random, len(example.tokens))
    given = {name: getattr(block, name) for name in _WEIGHTS if getattr(block, name) is not None} | {"x": example.x}
    return set(given) == set(drawn) and all(np.array_equal(given[name], drawn[name]) for name in drawn)


def _by_language(words: Mapping[str, str]) -> Any:
    texts = set(words.values())
    if len(words) == 2 and len(texts) == 1:
        return texts.pop()
    return dict(words) or None


def _tokens(example: Example, tokens: list[str], like: Node | None, alike: bool) -> list[Any]:
    items = like.items if isinstance(like, Seq) else ()
    nodes = [item.pairs[0][1] if isinstance(item, Map) else None for item in items]
    if not alike:  # all as lists where one is
        nodes = [next((node for node in nodes if isinstance(node, Seq)), None)] * len(tokens)
    return [{token: _row(example, row, node)} for token, row, node in zip(tokens, example.x, nodes, strict=True)]


def _row(example: Example, row: Any, like: Node | None) -> Any:
    """The numbers of a row: a list, or by the names of their dimensions those that are not 0 or that the file names."""
    names = [_nfc(name) for name in example.dimensions or ()]
    if len(names) != len(row) or isinstance(like, Seq):
        return [_number(a) for a in row]
    return {name: _number(a) for name, a in zip(names, row, strict=True) if a or _child(like, name) is not None}


def _block(example: Example, block: Block, drawn: bool, like: Node | None) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if not drawn:
        spelled = _child(like, "weights")
        given = {name: getattr(block, name) for name in _WEIGHTS if getattr(block, name) is not None}
        said["weights"] = {name: _matrix(example, w, _child(spelled, name)) for name, w in given.items()}
    usual: dict[str, tuple[float | None, float | None]] = {
        "heads": (block.n_heads, 1),
        "kv_heads": (block.n_kv_heads, None),
        "scale": (block.scale, None),
        "temperature": (block.temperature, 1.0),
    }
    said |= {name: _number(a) for name, (a, default) in usual.items() if a is not None and a != default}
    positions, mask = _positions(block), _mask(example, block.allowed)
    said |= {} if positions == "none" else {"positions": positions}
    said |= {} if mask == "none" else {"mask": mask}
    return said | ({"residual": "true"} if block.residual else {})


def _positions(block: Block) -> Any:
    if isinstance(block.positions, str):
        return block.positions
    kind, parts = block.positions.kind, vars(block.positions)
    if kind != "alibi" or parts["offset"]:
        raise InputError(
            en=f"an example file has no words for the positions {kind!r} (offset {parts.get('offset', 0)}); it knows none, "
            "sinusoidal, rotary and alibi. Save what it attends to instead: jumok.attend(example).save(…)",
            ko=f"예제 파일에는 위치 {kind!r}(offset {parts.get('offset', 0)})을(를) 쓸 수 없습니다. none, sinusoidal, rotary, "
            "alibi만 쓸 수 있습니다. 대신 어텐션 결과를 저장하십시오: jumok.attend(example).save(…)",
        )
    return {"alibi": [_number(a) for a in parts["slopes"]]}


# weights ----------------------------------------------------------------------------------------


def _matrix(example: Example, w: Any, like: Node | None) -> Any:
    """A matrix as the file spells it, else in the simplest of: identity, a diagonal, rows by name, all numbers."""
    if w.ndim == 1 or isinstance(like, Seq) or (w.shape[0] != w.shape[1] and not isinstance(like, Map)):
        return [_number(a) for a in w] if w.ndim == 1 else [[_number(a) for a in row] for row in w]
    if np.array_equal(w, np.eye(*w.shape)) and w.shape[0] == w.shape[1] and not isinstance(like, Map):
        return "identity"
    if example.dimensions is None or len(example.dimensions) != w.shape[0]:
        return [[_number(a) for a in row] for row in w]
    diagonal = w.shape[0] == w.shape[1] and np.array_equal(w, np.diag(np.diag(w)))
    if diagonal and _child(like, "rows") is None:
        return _diagonal(example, np.diag(w), like)
    return _rows(example, w, like)


def _diagonal(example: Example, diagonal: Any, like: Node | None) -> dict[str, Any]:
    rest = _child(like, "otherwise")
    usual = 1.0 if np.sum(diagonal == 1) >= np.sum(diagonal == 0) else 0.0
    if _child(like, "diagonal") is not None:
        usual = float(rest.text) if isinstance(rest, Scalar) else 1.0
    names, spelled = map(_nfc, example.dimensions or ()), _child(like, "diagonal")
    pairs = zip(names, diagonal, strict=True)
    given = {name: _number(a) for name, a in pairs if a != usual or _child(spelled, name) is not None}
    return {"diagonal": given, "otherwise": _number(usual)}


def _rows(example: Example, w: Any, like: Node | None) -> dict[str, Any]:
    rest = _child(like, "otherwise")
    identity, zero = np.eye(*w.shape), np.zeros(w.shape)
    usual = "zero" if np.sum(~np.any(w != 0, axis=1)) > np.sum(np.all(w == identity, axis=1)) else "identity"
    spelled = _child(like, "rows")
    if spelled is not None:
        usual = rest.text if isinstance(rest, Scalar) else "identity"
    if w.shape[0] != w.shape[1]:
        usual = "zero"
    base = identity if usual == "identity" else zero
    names = [_nfc(name) for name in example.dimensions or ()]
    rows: dict[str, Any] = {}
    for name, row, without in zip(names, w, base, strict=True):
        if not np.array_equal(row, without) or _child(spelled, name) is not None:
            rows[name] = _row(example, row, _child(spelled, name))
    return {"rows": rows, "otherwise": usual}


# masks, wishes, numbers -------------------------------------------------------------------------


def _mask(example: Example, allowed: Allowed) -> Any:
    """A rule in the file's words; what has no word of its own is written as a table."""
    n = len(example.tokens)
    words: dict[str, Callable[[Any], Any]] = {
        "everything": lambda _: "none",
        "causal": lambda rule: None if rule.offset else "causal",
        "window": lambda rule: None if rule.offset else {"window": _window(rule)},
        "document": lambda rule: {"document": _documents(rule.ids)} if len(rule.ids) == n and not rule.offset else None,
        "padding": lambda rule: _padding(example, rule.keys),
        "both": lambda rule: {"all": [_mask(example, part) for part in _joined(rule, "both")]},
        "either": lambda rule: {"any": [_mask(example, part) for part in _joined(rule, "either")]},
    }
    said = words[allowed.kind](allowed) if allowed.kind in words else None
    if said is not None:
        return said
    allowed.fits(n, n)
    return [[str(int(cell)) for cell in row] for row in allowed.block(np.arange(n), np.arange(n))]


def _joined(rule: Any, kind: str) -> list[Any]:
    """The rules that are joined, in order, however they were bracketed."""
    return [*_joined(rule.first, kind), *_joined(rule.second, kind)] if rule.kind == kind else [rule]


def _window(rule: Any) -> Any:
    return str(rule.n_back) if rule.n_ahead == 0 else [str(rule.n_back), str(rule.n_ahead)]


def _documents(ids: Any) -> list[str]:
    """The numbers of documents; from 0 on, since only which are equal counts."""
    order = list(dict.fromkeys(ids.tolist()))
    if all(0 <= one < 1_000_000 for one in order):
        return [str(one) for one in ids.tolist()]
    return [str(order.index(one)) for one in ids.tolist()]


def _padding(example: Example, real: Any) -> Any:
    try:
        return {"padding": [_name(example, at) for at in range(len(real)) if not real[at]]}
    except (InputError, IndexError):  # tokens without a name of their own, or as many as there are not
        return None


def _wanted(example: Example) -> Any:
    named = cache(lambda at: _name(example, at))
    tables = [
        {named(q): {named(k): _number(a) for k, a in row.items()} for q, row in table.items()}
        for table in example.wanted
    ]
    return (tables[0] if len(tables) == 1 else tables) or None


def _name(example: Example, at: int) -> str:
    """How a file calls a token: its text, with a number where it stands more than once.

    Errors: ``InputError`` where that is another token's text.
    """
    tokens = [_nfc(token) for token in example.tokens]
    name = token_name(as_tokens(example.tokens), at)
    if tokens.count(name) == (name != tokens[at]):
        raise InputError(
            en=f"an example file calls token {at} {name!r}, but that is another token's text. Rename one of them.",
            ko=f"예제 파일에서 토큰 {at}의 이름은 {name!r}인데 그런 글자의 토큰이 따로 있습니다. 둘 중 하나의 이름을 바꾸십시오.",
        )
    return name


def _number(value: float) -> str:
    return repr(float(value)).removesuffix(".0")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, (list, tuple)) else str(value)
