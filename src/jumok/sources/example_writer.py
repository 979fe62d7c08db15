"""``Example`` → the text of its file: as it was read where nothing changed, comments and order kept."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..path.allowed import Allowed
from .example import Block, Example, random_arrays

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
_WEIGHTS = ("w_q", "w_k", "w_v", "w_o", "b_q", "b_k", "b_v", "b_o")


def to_yaml(example: Example) -> str:
    """The text that reads as this example; only the parts that changed are written anew."""
    from .example_reader import read

    sections = _sections(example)
    if not example.text:
        return _dumped({name: sections[name] for name in _ORDER if name in sections})
    before = _sections(read(example.text, example.name))
    if before == sections:
        return example.text
    yaml = _round_trip()
    document = yaml.load(example.text)
    for name in _ORDER:
        if before.get(name) != sections.get(name):
            _put(document, name, sections.get(name))
    return _dumped(document, yaml)


def _sections(example: Example) -> dict[str, Any]:
    """The example as plain names, lists and texts, each part in its simplest spelling."""
    drawn = _still_random(example)
    said: dict[str, Any] = {
        "title": _by_language(example.title),
        "sentence": example.sentence if example.sentence != " ".join(example.tokens) else None,
        "dimensions": list(example.dimensions) if example.dimensions else None,
        "tokens": list(example.tokens) if drawn else _tokens(example),
        "random": {name: _plain(value) for name, value in (example.random or {}).items()} if drawn else None,
        "wanted": _wanted(example),
        "focus": None if example.focus is None else _name(example, example.focus),
        "pair": example.pair,
        "meaning": {name: _by_language(words) for name, words in example.meaning.items()} or None,
    }
    if len(example.layers) == 1 and not example.layers[0].residual:
        said |= _block(example, example.layers[0], drawn)
    else:
        said["layers"] = [_block(example, block, drawn=False) for block in example.layers]
    return {name: value for name, value in said.items() if value is not None}


def _still_random(example: Example) -> bool:
    if example.random is None or len(example.layers) != 1:
        return False
    drawn = random_arrays(example.random, len(example.tokens))
    block = example.layers[0]
    return all(np.array_equal(example.x if n == "x" else getattr(block, n), a) for n, a in drawn.items())


def _by_language(words: Mapping[str, str]) -> Any:
    texts = set(words.values())
    if len(words) == 2 and len(texts) == 1:
        return texts.pop()
    return dict(words) or None


def _tokens(example: Example) -> list[Any]:
    if example.dimensions is None:
        return [{token: [_number(a) for a in row]} for token, row in zip(example.tokens, example.x, strict=True)]
    named = []
    for token, row in zip(example.tokens, example.x, strict=True):
        named.append({token: {name: _number(a) for name, a in zip(example.dimensions, row, strict=True) if a}})
    return named


def _block(example: Example, block: Block, drawn: bool) -> dict[str, Any]:
    weights = {name: _matrix(example, getattr(block, name)) for name in _WEIGHTS if getattr(block, name) is not None}
    usual: dict[str, tuple[float | None, float | None]] = {
        "heads": (block.n_heads, 1),
        "kv_heads": (block.n_kv_heads, None),
        "scale": (block.scale, None),
        "temperature": (block.temperature, 1.0),
    }
    said: dict[str, Any] = {} if drawn else {"weights": weights}
    said |= {name: _number(a) for name, (a, default) in usual.items() if a is not None and a != default}
    if block.positions != "none":
        slopes = getattr(block.positions, "slopes", None)
        said["positions"] = block.positions if slopes is None else {"alibi": [_number(a) for a in slopes]}
    mask = _mask(example, block.allowed)
    said |= {} if mask == "none" else {"mask": mask}
    return said | ({"residual": "true"} if block.residual else {})


def _matrix(example: Example, w: Any) -> Any:
    names = example.dimensions
    if w.ndim == 1:
        return [_number(a) for a in w]
    d = w.shape[0]
    square = w.shape == (d, d) and names is not None and len(names) == d
    if w.shape == (d, d) and np.array_equal(w, np.eye(d)):
        return "identity"
    if square and names and np.array_equal(w, np.diag(np.diag(w))):
        diagonal = np.diag(w)
        usual = 1.0 if np.sum(diagonal == 1) >= np.sum(diagonal == 0) else 0.0
        return {
            "diagonal": {n: _number(a) for n, a in zip(names, diagonal, strict=True) if a != usual},
            "otherwise": _number(usual),
        }
    if square and names:
        rest: tuple[str, Any] = ("identity", np.eye(d))
        if np.sum(~np.any(w != 0, axis=1)) > np.sum(np.all(w == np.eye(d), axis=1)):
            rest = ("zero", np.zeros((d, d)))
        changed = [i for i in range(d) if not np.array_equal(w[i], rest[1][i])]
        rows = {names[i]: {n: _number(a) for n, a in zip(names, w[i], strict=True) if a} for i in changed}
        return {"rows": rows, "otherwise": rest[0]}
    return [[_number(a) for a in row] for row in w]


def _mask(example: Example, allowed: Allowed) -> Any:
    """A rule in the file's words; what has no word of its own is written as a table."""
    n = len(example.tokens)
    words: dict[str, Callable[[Any], Any]] = {
        "everything": lambda _: "none",
        "causal": lambda rule: "causal" if rule.offset == 0 else None,
        "window": lambda rule: None if rule.offset else {"window": _window(rule)},
        "document": lambda rule: None if rule.offset else {"document": [str(int(i)) for i in rule.ids]},
        "padding": lambda rule: {"padding": [_name(example, i) for i in range(n) if not rule.keys[i]]},
        "both": lambda rule: {"all": [_mask(example, rule.first), _mask(example, rule.second)]},
        "either": lambda rule: {"any": [_mask(example, rule.first), _mask(example, rule.second)]},
    }
    word = words.get(allowed.kind)
    said = None if word is None else word(allowed)
    if said is not None:
        return said
    block = allowed.block(np.arange(n), np.arange(n))
    return [[str(int(cell)) for cell in row] for row in block]


def _window(rule: Any) -> Any:
    return str(rule.n_back) if rule.n_ahead == 0 else [str(rule.n_back), str(rule.n_ahead)]


def _wanted(example: Example) -> Any:
    tables = [
        {_name(example, q): {_name(example, k): _number(a) for k, a in row.items()} for q, row in table.items()}
        for table in example.wanted
    ]
    return (tables[0] if len(tables) == 1 else tables) or None


def _name(example: Example, at: int) -> str:
    """How a file calls a token: its text, with a number where it stands more than once."""
    token = example.tokens[at]
    if example.tokens.count(token) == 1:
        return token
    return f"{token}#{example.tokens[: at + 1].count(token)}"


def _number(value: float) -> str:
    text = repr(float(value))
    return text.removesuffix(".0")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, (list, tuple)) else str(value)


# writing ----------------------------------------------------------------------------------------


def _round_trip() -> Any:
    """A YAML reader and writer that keeps comments, and every plain word as the text it is."""
    from ruamel.yaml import YAML
    from ruamel.yaml.resolver import BaseResolver, VersionedResolver

    class AsWritten(VersionedResolver):
        def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
            return BaseResolver.resolve(self, kind, value, implicit)

        @property
        def versioned_resolver(self) -> Any:
            return {}

    yaml = YAML()
    yaml.Resolver = AsWritten
    yaml.width = 4096
    yaml.preserve_quotes = True
    yaml.allow_unicode = True
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


def _dumped(document: Any, yaml: Any = None) -> str:
    out = io.StringIO()
    yaml = yaml or _round_trip()
    yaml.dump(_styled(document, 0), out)
    return out.getvalue()


def _styled(value: Any, depth: int) -> Any:
    """New maps and lists as the writer wants them: the outer levels on lines, the inner ones in braces."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    if isinstance(value, (CommentedMap, CommentedSeq)):
        return value
    made: Any
    if isinstance(value, dict):
        made = CommentedMap((_quoted(name), _styled(part, depth + 1)) for name, part in value.items())
    elif isinstance(value, list):
        made = CommentedSeq(_styled(part, depth + 1) for part in value)
    else:
        return _quoted(value)
    one_entry = depth == 2 and isinstance(value, dict) and len(value) == 1  # - token: {…}
    if (depth > 1 and not one_entry) or not value or not any(isinstance(part, (dict, list)) for part in _parts(value)):
        made.fa.set_flow_style()
    return made


def _parts(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value


def _quoted(text: str) -> Any:
    """Texts of letters, digits and a few safe signs stay plain; all others stand in double quotes."""
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString

    return text if re.fullmatch(r"[\w.][\w .+/-]*(?<! )", text) else DoubleQuotedScalarString(text)


def _put(document: Any, name: str, value: Any) -> None:
    """One section changed: what is the same inside it, and its comments, stays."""
    if value is None:
        del document[name]
    elif name not in document:
        document[name] = _styled(value, 1)
    else:
        document[name] = _merged(document[name], value, 1)


def _merged(old: Any, new: Any, depth: int) -> Any:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in [name for name in old if name not in new]:
            del old[name]
        for name, part in new.items():
            old[name] = _merged(old[name], part, depth + 1) if name in old else _styled(part, depth + 1)
        return old
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for at, part in enumerate(new):
            old[at] = _merged(old[at], part, depth + 1)
        return old
    return old if _means_the_same(old, new) else _styled(new, depth)


def _means_the_same(old: Any, new: Any) -> bool:
    try:
        return float(old) == float(new)
    except (TypeError, ValueError):
        return bool(old == new)
