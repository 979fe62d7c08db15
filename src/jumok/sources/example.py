"""Example files: what a teacher writes by hand, read, checked, attended to, and written back.

The file is YAML in UTF-8. Its names: ``title``, ``sentence``, ``dimensions``, ``tokens``, ``weights`` (or
``random``), ``heads``, ``kv_heads``, ``scale``, ``temperature``, ``positions``, ``mask``, ``residual``, or a list of
such blocks in ``layers``; and ``wanted``, ``meaning``, ``focus``, ``pair``. ``jumok new my.yaml`` writes a commented one.
"""

from __future__ import annotations

import dataclasses
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, JumokError, ShapeError, UnknownName
from ..path import Rule
from ..path.allowed import Allowed, everything
from ..path.checked import above_zero
from ..path.positions import PositionBias, Rotary, sinusoidal
from ..trace import Floats, Reading, Source, Token, Trace, frozen, unknown_name
from .arrays import from_x

__all__ = ["Block", "Example", "attended", "load", "names", "parse", "starter"]

# heads that were designed, one idea each
GALLERY = ["previous-token", "first-token", "same-token", "next-word", "nearest-noun", "copy", "brackets"]


@dataclass(frozen=True, eq=False)
class Block:
    """One attention layer of an example.

    w_q, w_k, w_v : (d_model, heads · d);  w_o : (heads · d_value, d_model) or None;  b_* : biases or None
    scale : None for 1/√d_k;  temperature : what the scaled score is divided by besides
    positions : "none", "sinusoidal", "rotary", or a position bias
    residual : True where the next layer reads x + output instead of the output
    """

    w_q: Floats
    w_k: Floats
    w_v: Floats
    w_o: Floats | None = None
    b_q: Floats | None = None
    b_k: Floats | None = None
    b_v: Floats | None = None
    b_o: Floats | None = None
    n_heads: int = 1
    n_kv_heads: int | None = None
    scale: float | None = None
    temperature: float = 1.0
    positions: str | PositionBias = "none"
    allowed: Allowed = field(default_factory=everything)
    residual: bool = False

    def __post_init__(self) -> None:
        for name in ("w_q", "w_k", "w_v", "w_o", "b_q", "b_k", "b_v", "b_o"):
            value = getattr(self, name)
            if value is not None or name in ("w_q", "w_k", "w_v"):
                object.__setattr__(self, name, frozen(name, value, ndim=2 if name[0] == "w" else 1))

    def rule(self) -> Rule:
        """How this layer's scores become weights; the temperature is folded into the scale."""
        bias = self.positions if isinstance(self.positions, PositionBias) else None
        if self.scale is None and self.temperature == 1:
            return Rule(allowed=self.allowed, bias=bias)
        d_head = max(1, self.w_q.shape[1] // max(1, self.n_heads))  # heads that do not fit are refused where q is made
        scale = Rule(scale=self.scale).scale_for(d_head)
        return Rule(scale=scale / above_zero("temperature", self.temperature), allowed=self.allowed, bias=bias)


@dataclass(frozen=True, eq=False)
class Example:
    """A worked example: a sentence, its tokens in named dimensions, and the weights of its layers.

    tokens : (token,) texts;  x : (token, d_model);  dimensions : (d_model,) names or None
    title : language → text;  meaning : dimension → language → words for the explanation
    wanted : one table a head, query position → key position → weight; what a design should reach
    focus : the token to look at first (a position);  pair : the example to set beside this one
    random : the settings of the random numbers that made x and the weights, or None
    text : the file it was read from, comments and all;  name : what to call it
    """

    tokens: tuple[str, ...]
    x: Floats
    layers: tuple[Block, ...]
    sentence: str = ""
    dimensions: tuple[str, ...] | None = None
    title: Mapping[str, str] = field(default_factory=dict)
    meaning: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    wanted: tuple[Mapping[int, Mapping[int, float]], ...] = ()
    focus: int | None = None
    pair: str | None = None
    random: Mapping[str, Any] | None = None
    text: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "x", frozen("x", self.x, ndim=2, tokens=[Token(t) for t in self.tokens]))
        for axis, name, n in (
            ("rows", "tokens", len(self.tokens)),
            ("columns", "dimensions", len(self.dimensions or ())),
        ):
            size = self.x.shape[axis == "columns"]
            if n != size and not (axis == "columns" and self.dimensions is None):
                raise ShapeError(
                    en=f"x has {axis}={size}, but there are {n} {name}. x is {self.x.shape}, read as (token, d_model).",
                    ko=f"x는 {axis}={size}인데 {name}은(는) {n}개입니다. x의 모양 {self.x.shape}은(는) (token, d_model)로 읽습니다.",
                )
        if not self.layers:
            raise InputError(
                en="an example has at least one layer, got none.",
                ko="예제에는 층이 적어도 하나 있어야 하는데 없습니다.",
            )

    @cached_property
    def spans(self) -> tuple[tuple[int, int] | None, ...]:
        """(start, end) of each token in the sentence, in order; None for a token that does not stand there."""
        spans: list[tuple[int, int] | None] = []
        at = 0
        for token in self.tokens:
            found = self.sentence.find(token, at) if token else -1
            spans.append((found, found + len(token)) if found >= 0 else None)
            at = found + len(token) if found >= 0 else at
        return tuple(spans)

    def to_yaml(self) -> str:
        """The file's text: as it was read, comments and order kept, with only what changed written anew."""
        from . import example_writer

        return example_writer.to_yaml(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the example file, whole or not at all. Errors: ``OutputError`` where the path cannot be written."""
        from ..files import write_whole

        data = self.to_yaml().encode("utf-8")
        return write_whole(path, lambda name: Path(name).write_bytes(data))

    def replace(self, **changes: Any) -> Example:
        """A copy with some fields changed; comments and order are kept for ``to_yaml``."""
        return dataclasses.replace(self, **changes)


def names() -> list[str]:
    """The packaged examples, by name.

    >>> "student" in names()
    True
    """
    found = {entry.name.removesuffix(".yaml") for entry in _folder().iterdir() if entry.name.endswith(".yaml")}
    order = ["student", "cat-fish", "bank-money", "bank-river", "pear", "ship", "it-tired", "it-soft", *GALLERY]
    return [name for name in order if name in found] + sorted(found.difference(order))


def starter(lang: str = "en") -> str:
    """The text of a commented example file to begin from, in a language."""
    text: str = (_folder() / "starter" / f"{lang}.yaml").read_text(encoding="utf-8")
    return text


def _folder() -> Any:
    return resources.files("jumok") / "examples"


def load(path_or_name: str | os.PathLike[str]) -> Example:
    """A packaged example by name, or an example file by path.

    Errors: ``UnknownName`` for a name that is neither, ``ExampleError`` with line and column.
    """
    from ..yaml_nodes import read_text

    name = os.fsdecode(path_or_name)
    packaged = isinstance(path_or_name, str) and not Path(name).suffix and os.sep not in name and "/" not in name
    if packaged and name in names():
        return parse((_folder() / f"{name}.yaml").read_text(encoding="utf-8"), name)
    if packaged and (len(name) > 200 or not os.path.exists(name)):  # noqa: PTH110 (Path('') is the folder)
        raise _no_such_example(name)
    return parse(read_text(name), name)


def _no_such_example(name: str) -> UnknownName:
    error = unknown_name("example", "예제", name, names())
    begun = shlex.quote(f"{name.strip() or 'my'}.yaml")
    return UnknownName(
        en=f"{error.en} There is no file of that name either; `jumok new {begun}` begins one.",
        ko=f"{error.ko} 그런 이름의 파일도 없습니다. `jumok new {begun}`로 새로 만들 수 있습니다.",
    )


def parse(text: str, name: str = "example") -> Example:
    r"""An example from the text of its file; ``name`` is what messages call it.

    >>> parse("tokens: [a, b]\nrandom: {seed: 1, d_model: 2, d_k: 2, order: [x, w_q, w_k, w_v]}").x.shape
    (2, 2)

    Errors: ``ExampleError`` with line and column: what was expected, what came, what to try.
    """
    from .example_reader import read

    return read(text, name)


def attended(example: Example, rule: Any = None) -> Trace | Reading:
    """The attention of an example: a Trace for one layer, a Reading for several.

    rule : takes the place of the example's masks where given (a name, a rule of who may read whom)
    """
    x = example.x
    tokens = [Token(text, span) for text, span in zip(example.tokens, example.spans, strict=True)]
    traces: list[Trace] = []
    for at, block in enumerate(example.layers):
        trace = _attended_layer(example, tokens, x, at, block, rule)
        traces.append(trace)
        if at + 1 < len(example.layers):
            with np.errstate(over="ignore"):  # a sum that does not fit is refused by the next layer, with its place
                x = trace.output if trace.x is None or not block.residual else trace.x + trace.output
    if len(traces) == 1:
        return traces[0]
    return Reading(tuple(traces), Source(kind="example", name=example.name, details=_details(example)))


def _attended_layer(example: Example, tokens: list[Token], x: Floats, at: int, block: Block, rule: Any) -> Trace:
    if block.positions == "sinusoidal":
        x = x + sinusoidal(*x.shape)
    in_force = block.rule()
    if rule is not None:
        in_force = rule if isinstance(rule, Rule) else dataclasses.replace(in_force, allowed=Rule.of(rule).allowed)
    several = len(example.layers) > 1
    details = _details(example) | {
        "temperature": block.temperature,
        "positions": block.positions if isinstance(block.positions, str) else block.positions.kind,
        "residual": block.residual,
        "n_layers": len(example.layers),
    }
    try:
        return from_x(
            x,
            block.w_q,
            block.w_k,
            block.w_v,
            block.w_o,
            b_q=block.b_q,
            b_k=block.b_k,
            b_v=block.b_v,
            b_o=block.b_o,
            tokens=tokens,
            n_heads=block.n_heads,
            n_kv_heads=block.n_kv_heads,
            rule=in_force,
            rotation=Rotary() if block.positions == "rotary" else None,
            dimensions=example.dimensions if example.dimensions and x.shape[1] == len(example.dimensions) else None,
            source=Source(kind="example", name=example.name, layer=at if several else None, details=details),
        )
    except JumokError as error:
        if several:
            error.en, error.ko = f"layer {at}: {error.en}", f"{at}층: {error.ko}"
            error.args = (error.en,)
        raise


def _details(example: Example) -> dict[str, Any]:
    said = {
        "title": dict(example.title),
        "sentence": example.sentence,
        "meaning": {name: dict(words) for name, words in example.meaning.items()},
        "focus": example.focus if example.focus is not None else next(iter(next(iter(example.wanted), {})), None),
        "pair": example.pair,
        "random": None if example.random is None else dict(example.random),
        "wanted": [
            {str(q): {str(k): weight for k, weight in row.items()} for q, row in table.items()}
            for table in example.wanted
        ],
    }
    return {name: value for name, value in said.items() if value not in (None, "", {}, [])}


def random_arrays(settings: Mapping[str, Any], n_tokens: int) -> dict[str, Floats]:
    """x and the weights from one stream of standard normals, drawn in the order that ``settings`` states.

    ``generator`` is "numpy-legacy" (``RandomState``, as in older textbooks) or "numpy" (``default_rng``).
    """
    seed, d_model, d_k = settings["seed"], settings["d_model"], settings["d_k"]
    if settings["generator"] == "numpy-legacy":
        draw: Any = np.random.RandomState(seed).standard_normal
    else:
        draw = np.random.default_rng(seed).standard_normal
    shapes = {"x": (n_tokens, d_model)} | dict.fromkeys(("w_q", "w_k", "w_v"), (d_model, d_k)) | {"w_o": (d_k, d_model)}
    scale = settings["scale"]
    return {name: draw(shapes[name]) * scale.get(name, 1.0) for name in settings["order"]}
