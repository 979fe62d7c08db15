"""The one record: a Trace keeps what made attention (q, k, v and the rule) and computes any part on demand.

>>> import numpy as np
>>> trace = Trace(tokens=["a", "b"], q=np.eye(2)[None], k=np.eye(2)[None], v=np.eye(2)[None])
>>> trace.rows("weights", queries=["b"]).round(2).tolist()
[[[0.33, 0.67]]]
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from .door import Floats, check_axes, check_numbers, frozen, in_numpy, measured, tiles
from .errors import InputError, NoLayer, TooLargeError, UnknownName
from .path import STAGES, Rule, Steps
from .path.described import Described, described, restored
from .path.positions import Rotary
from .tokens import Token, as_names, as_tokens, positions, several, token_index, unknown_name
from .words import counted

__all__ = [
    "STAGES",
    "Floats",
    "Heads",
    "Reading",
    "Source",
    "Token",
    "Trace",
    "as_tokens",
    "frozen",
    "layers_of",
    "no_layer",
    "token_index",
    "unknown_name",
]

MOST_TOLD = 4  # things that were seen instead of attention
MOST_BYTES = 256 * 2**20  # a whole table beyond this is refused; parts of it are not


@dataclass(frozen=True)
class Source:
    """Where a Trace came from, as plain JSON.

    kind : "arrays", "example", "module", "measurement", "design", "training" or "model"
    exact : True where q, k and v are the numbers themselves, False where they were rounded for storage
    backend : what computed them
    details : anything else worth knowing, JSON only
    """

    kind: str = "arrays"
    name: str | None = None
    layer: int | None = None
    exact: bool = True
    backend: str = "numpy"
    shared_heads: str | None = None
    special_tokens: bool | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, kinds in _SOURCE.items():
            if type(value := getattr(self, name)) not in kinds:
                expected = " or ".join(kind.__name__ for kind in kinds)
                raise InputError(
                    en=f"source.{name} expects {expected}, got {value!r}.",
                    ko=f"source.{name}에는 {expected}이(가) 필요한데 {value!r}이(가) 왔습니다.",
                )
        try:
            text = json.dumps([self.kind, self.name, dict(self.details)], allow_nan=False, ensure_ascii=False)
            plain = json.loads(text.encode("utf-8"))[2]
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(
                en=f"source.details expects plain JSON (text, finite numbers, lists, True/False, None): {error}.",
                ko=f"source.details에는 JSON으로 쓸 수 있는 값만 넣을 수 있습니다: {error}.",
            ) from error
        for name, fits_in in _SAID.items():
            if name in plain and not fits_in(plain[name]):
                raise InputError(
                    en=f"source.details[{name!r}] is of another kind than jumok writes there: {plain[name]!r}."[:300],
                    ko=f"source.details[{name!r}]의 값이 jumok이 쓰는 종류가 아닙니다: {plain[name]!r}."[:300],
                )
        object.__setattr__(self, "details", plain)

    def to_json(self) -> dict[str, Any]:
        """The fields that say something, as a dictionary."""
        empty: tuple[Any, ...] = (None, {})
        return {f.name: v for f in dataclasses.fields(self) if (v := getattr(self, f.name)) not in empty}


def _texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


_SAID: dict[str, Callable[[Any], bool]] = {  # what readers look for in the details
    "title": _texts,
    "sentence": lambda value: isinstance(value, str),
    "meaning": lambda value: isinstance(value, dict) and all(map(_texts, value.values())),
    "focus": lambda value: type(value) is int,
    "pair": lambda value: isinstance(value, str),
    "positions": lambda value: isinstance(value, str),
    "temperature": lambda value: type(value) in (int, float) and value > 0,
    "residual": lambda value: isinstance(value, bool),
    "wanted": lambda value: isinstance(value, list) and all(isinstance(table, dict) for table in value),
    "design": lambda value: isinstance(value, dict),
    "n_layers": lambda value: type(value) is int,
}
_SOURCE: dict[str, tuple[type, ...]] = {
    "kind": (str,),
    "name": (str, type(None)),
    "layer": (int, type(None)),
    "exact": (bool,),
    "backend": (str,),
    "shared_heads": (str, type(None)),
    "special_tokens": (bool, type(None)),
}


@dataclass(frozen=True, eq=False)
class Heads(Described, kind="heads"):
    """What made q, k and v from x, and the output from the mixed values.

    w_q, w_k, w_v : (d_model, heads · d);  w_o : (heads · d_value, d_out);  b_* : their biases
    rotation : the turn of q and k by position, or None
    """

    w_q: Floats
    w_k: Floats
    w_v: Floats
    w_o: Floats | None = None
    b_q: Floats | None = None
    b_k: Floats | None = None
    b_v: Floats | None = None
    b_o: Floats | None = None
    rotation: Rotary | None = None

    def __post_init__(self) -> None:
        for name in ("w_q", "w_k", "w_v", "w_o", "b_q", "b_k", "b_v", "b_o"):
            value = getattr(self, name)
            if value is not None or name in ("w_q", "w_k", "w_v"):
                object.__setattr__(self, name, frozen(name, value, ndim=2 if name[0] == "w" else 1))
        _is_a("rotation", self.rotation, Rotary, optional=True)


@dataclass(frozen=True, eq=False)
class Trace:
    """One sequence, one attention layer, all its heads. O(n · d) numbers; no n × n table is kept.

    tokens : (token,) what stands at each place; texts or ``Token``
    q : (head, query, d_head) what each token asks, after position rotation
    k : (kv_head, key, d_head) what each token offers
    v : (kv_head, key, d_value) what each token hands over
    rule : how scores become weights
    x : (token, d_model) the embeddings, or None;  heads : the projections, or None
    dimensions : (d_model,) names of the embedding dimensions, or None
    key_tokens : (key,) what is read, where it is another sequence than ``tokens`` (cross-attention)

    Errors: ``ShapeError`` names the axis that disagrees, ``InputError`` the token with a NaN or infinity,
    ``OverflowRefused`` the two tokens whose q · k would not fit.
    """

    tokens: tuple[Token, ...]
    q: Floats
    k: Floats
    v: Floats
    rule: Rule = Rule()  # noqa: RUF009 (frozen)
    x: Floats | None = None
    heads: Heads | None = None
    dimensions: tuple[str, ...] | None = None
    source: Source = Source()
    key_tokens: tuple[Token, ...] | None = None
    _sure: bool = field(default=False, init=False)  # that q · k fits its number type, whichever is looked at

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "tokens", as_tokens(self.tokens))
        put(self, "key_tokens", None if self.key_tokens is None else as_tokens(self.key_tokens))
        put(self, "rule", _numpy_rule(Rule.of(self.rule)))
        _is_a("heads", self.heads, Heads, optional=True)
        _is_a("source", self.source, Source)
        sizes: dict[str, float] = {}
        for name in ("q", "k", "v"):
            tokens = self.tokens if name == "q" else self.read_tokens
            array, sizes[name] = measured(name, getattr(self, name), ndim=3, tokens=tokens)
            put(self, name, array)
        if self.x is not None:
            put(self, "x", frozen("x", self.x, ndim=2, tokens=self.tokens))
        if self.dimensions is not None:
            put(self, "dimensions", as_names("dimensions", self.dimensions))
        check_axes(self)
        put(self, "_sure", check_numbers(self, sizes))

    # sizes ------------------------------------------------------------------------------------

    @property
    def n_heads(self) -> int:
        """The number of heads that ask."""
        return int(self.q.shape[0])

    @property
    def n_kv_heads(self) -> int:
        """The number of heads that are read; fewer than ``n_heads`` where they are shared."""
        return int(self.k.shape[0])

    @property
    def n_queries(self) -> int:
        """The number of tokens that ask."""
        return int(self.q.shape[1])

    @property
    def n_keys(self) -> int:
        """The number of tokens that are read."""
        return int(self.k.shape[1])

    @property
    def n_tokens(self) -> int:
        """The number of tokens, as ``n_queries``."""
        return self.n_queries

    @property
    def d_head(self) -> int:
        """The number of dimensions in which query and key are compared."""
        return int(self.q.shape[2])

    @property
    def read_tokens(self) -> tuple[Token, ...]:
        """(key,) the tokens that are read: ``key_tokens``, or ``tokens``."""
        return self.tokens if self.key_tokens is None else self.key_tokens

    # stages -----------------------------------------------------------------------------------

    @property
    def scores(self) -> Floats:
        """(head, query, key) raw q · k, before anything else; always finite."""
        return self.rows("scores")

    @property
    def scaled(self) -> Floats:
        """(head, query, key) scores × scale, soft-capped, plus position bias; always finite."""
        return self.rows("scaled")

    @property
    def allowed(self) -> npt.NDArray[np.bool_]:
        """(query, key) True where the query may read the key."""
        return self.rows("allowed")

    @property
    def weights(self) -> Floats:
        """(head, query, key) each row sums to 1 (less a sink's share), or is all 0 where nothing is allowed."""
        return self.rows("weights")

    @property
    def weighted_values(self) -> Floats:
        """(head, query, key, d_value) each weight × its value."""
        return self.rows("weighted_values")

    @property
    def mixed(self) -> Floats:
        """(head, query, d_value) the weighted values summed."""
        return self.rows("mixed")

    @property
    def output(self) -> Floats:
        """(query, d_out) the heads joined, through ``w_o`` where there is one."""
        return self.rows("output")

    def rows(self, stage: str, queries: Any = None, heads: Any = None) -> npt.NDArray[Any]:
        """The part of a stage that is asked for, at any length; nothing else is computed.

        stage : one of ``STAGES``
        queries : one position or token, or a list of them; None for all
        heads : one head, or a list; None for all. Of ``output``, the share of these heads, without b_o

        Errors: ``UnknownName`` for the stage or a token, ``InputError`` for a position out of range,
        ``TooLargeError`` where the part itself would take more than 256 MiB.
        """
        if stage not in STAGES:
            raise unknown_name("stage", "단계", stage, STAGES)
        chosen_heads = None if heads is None else positions("head", "헤드", heads, self.n_heads)
        if chosen_heads == []:
            raise InputError(en="heads expects at least one head.", ko="heads에는 헤드가 하나 이상 필요합니다.")
        chosen = None if queries is None else [self.index(query) for query in several(queries)]
        part = self._part(chosen_heads, chosen)
        _refuse_too_large(stage, part)
        return _by_tiles(stage, part)

    @property
    def steps(self) -> Steps:
        """The path from q, k and v on, for all heads and queries; each call starts anew, so nothing is kept."""
        return self._part()

    def _part(self, heads: list[int] | None = None, queries: list[int] | None = None) -> Steps:
        w_o, b_o = (self.heads.w_o, self.heads.b_o) if self.heads else (None, None)
        part = Steps(self.q, self.k, self.v, self.rule, w_o, b_o, sure=self._sure)
        part = part if heads is None and queries is None else part.part(heads, queries)
        half = {name: a for name in ("q", "k", "v") if (a := getattr(part, name)).dtype == np.float16}
        wide = {name: a.astype(np.float32) for name, a in half.items()}  # after the choice
        return dataclasses.replace(part, **wide) if wide else part

    def index(self, token: int | str | Token) -> int:
        """The position of a query token, by position or text; the second of two equal ones is ``word#2``.

        A text is the token as it is spelled; of a model also as it is shown, ``it`` for ``Ġit``.

        >>> import numpy as np
        >>> one = np.ones((1, 3, 1))
        >>> Trace(tokens=["a", "b", "a"], q=one, k=one, v=one).index("a#2")
        2
        """
        return self._found(self.tokens, token)

    def key_index(self, token: int | str | Token) -> int:
        """As ``index``, among the tokens that are read."""
        return self._found(self.read_tokens, token)

    def _found(self, tokens: Sequence[Token], token: Any) -> int:
        """By the tokenizer's spelling; where none is written so, and a model was read, by the name that is shown."""
        try:
            return token_index(tokens, token)
        except UnknownName:
            names = self._names(tokens)
            if names is None or any(one.text == str(token) for one in tokens):  # it stands more than once
                raise
        return token_index([Token(name) for name in names], token)

    def _names(self, tokens: Sequence[Token]) -> list[str] | None:
        """What a person calls the tokens of a model's tokenizer; None of another record."""
        from .labels import names_of

        sentence = self.source.details.get("sentence") if tokens is self.tokens else None
        return names_of(tokens, sentence) if self.source.kind == "model" else None

    # files ------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the record, whole or not at all: ``.safetensors`` (to load again) or ``.json`` (to read elsewhere).

        Errors: ``InputError`` for another suffix, ``OutputError`` where the path cannot be written.
        """
        from . import saved

        return saved.save(self, path)

    def to_json(self) -> dict[str, Any]:
        """The record and, where they are small, all stages, as plain JSON with every digit."""
        from . import saved

        return saved.to_json(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trace):
            return NotImplemented
        plain = ("tokens", "rule", "heads", "dimensions", "source", "key_tokens")
        return all(getattr(self, name) == getattr(other, name) for name in plain) and all(
            _same(getattr(self, name), getattr(other, name)) for name in ("q", "k", "v", "x")
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        tokens, heads = counted(self.n_queries, "token"), counted(self.n_heads, "head")
        origin = f"{self.source.kind} {self.source.name or ''}".rstrip()
        return f"Trace({tokens}, {heads} ({self.n_kv_heads} key/value), d_head {self.d_head}, {self.rule.allowed.kind}, from {origin})"


@dataclass(frozen=True, eq=False)
class Reading(Sequence[Trace]):
    """What a model of one or more attention layers did with one text: one Trace a layer.

    layers : (layer,) Traces, in order
    source : where they came from
    """

    layers: tuple[Trace, ...]
    source: Source = Source()

    def __post_init__(self) -> None:
        _is_a("source", self.source, Source)
        given: Any = self.layers
        layers = tuple(given) if isinstance(given, Iterable) else (given,)
        kinds = [type(layer).__name__ for layer in layers if not isinstance(layer, Trace)]
        if kinds or not isinstance(given, Iterable):
            came = kinds[0] if kinds else "one Trace"
            raise InputError(
                en=f"a Reading expects a list of Traces, one a layer, got {came}.",
                ko=f"Reading에는 층마다 하나씩 Trace의 목록이 필요한데 {came}이(가) 왔습니다.",
            )
        object.__setattr__(self, "layers", layers)

    @overload
    def __getitem__(self, layer: int) -> Trace: ...
    @overload
    def __getitem__(self, layer: slice) -> tuple[Trace, ...]: ...
    def __getitem__(self, layer: int | slice) -> Trace | tuple[Trace, ...]:
        try:
            return self.layers[layer]
        except IndexError:
            raise no_layer(self, layer) from None

    def __len__(self) -> int:
        return len(self.layers)

    def __iter__(self) -> Iterator[Trace]:
        return iter(self.layers)

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens of the first layer (no tokens where there is no layer)."""
        return self.layers[0].tokens if self.layers else ()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """As ``Trace.save``, all layers in one file."""
        from . import saved

        return saved.save(self, path)

    def to_json(self) -> dict[str, Any]:
        """As ``Trace.to_json``, one entry a layer."""
        from . import saved

        return saved.to_json(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reading):
            return NotImplemented
        return self.layers == other.layers and self.source == other.source

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Reading({counted(len(self), 'layer')}, {counted(len(self.tokens), 'token')}, from {self.source.kind})"


def no_layer(reading: Reading, at: Any = None) -> NoLayer:
    """The refusal of a place that a Reading does not have; of an empty one, with what was seen instead of attention."""
    n = len(reading.layers)
    if n:
        return NoLayer(
            en=f"the layers of this reading are reading[0] to reading[{n - 1}], got reading[{at!r}].",
            ko=f"이 기록의 층은 reading[0]부터 reading[{n - 1}]까지인데 reading[{at!r}]이(가) 왔습니다.",
        )
    told = reading.source.details
    parts: list[tuple[str, str]] = [(one["en"], one["ko"]) for one in told.get("notes", [])]
    parts += [(f"{one['module']}: {one['en']}", f"{one['module']}: {one['ko']}") for one in told.get("refused", [])]
    parts += [2 * (f"{one['module'] or '-'}: {one['what']} ({one['why']})",) for one in told.get("seen", [])]
    en, ko = ("; ".join(part[at] for part in parts[:MOST_TOLD]) for at in (0, 1))
    return NoLayer(
        en=f"this reading holds no layer: no attention was read.{f' Seen: {en}' if en else ''}",
        ko=f"이 기록에는 층이 없습니다. 읽은 어텐션이 없습니다.{f' 본 것: {ko}' if ko else ''}",
    )


def layers_of(record: Trace | Reading) -> tuple[Trace, ...]:
    """(layer,) the Traces of a record: a Trace is one layer."""
    return (record,) if isinstance(record, Trace) else record.layers


def _by_tiles(stage: str, part: Steps) -> npt.NDArray[Any]:
    """A stage, made for some queries at a time, so that only the result itself is large."""
    n_queries, n_keys = part.q.shape[1], part.k.shape[1]
    pieces = tiles(n_queries, _bytes("weights", part) // max(1, n_queries))
    if len(pieces) <= 1:
        made: npt.NDArray[Any] = getattr(part, stage)
        return made
    for rows in pieces:
        some = part.part(None, rows)
        piece = getattr(_until_last_read(some) if stage in ("weights", "mixed", "output") else some, stage)
        at = piece.ndim - (3 if stage == "weighted_values" else 2)  # the axis of the queries
        if rows is pieces[0]:
            after = (n_keys,) if stage == "weights" else piece.shape[at + 1 :]
            made = np.zeros((*piece.shape[:at], n_queries, *after), piece.dtype)
        np.moveaxis(made, at, 0)[rows.start : rows.stop, ..., : piece.shape[-1]] = np.moveaxis(piece, at, 0)
    return made


def _until_last_read(part: Steps) -> Steps:
    """Without the keys that stand after all those that may be read: they have no weight."""
    n_read = int(part.allowed.any(axis=0).nonzero()[0].max(initial=0)) + 1
    return dataclasses.replace(part, k=part.k[:, :n_read], v=part.v[:, :n_read])


def _bytes(stage: str, part: Steps) -> int:
    """What a stage of this part takes."""
    n_heads, n_queries, _ = part.q.shape
    _, n_keys, d_value = part.v.shape
    itemsize = max(part.q.dtype.itemsize, part.v.dtype.itemsize)
    numbers: int = {
        "allowed": n_queries * n_keys,
        "weighted_values": n_heads * n_queries * n_keys * d_value,
        "mixed": n_heads * n_queries * d_value,
        "output": n_queries * (n_heads * d_value if part.w_o is None else part.w_o.shape[1]),
    }.get(stage, n_heads * n_queries * n_keys)
    return numbers * (1 if stage == "allowed" else itemsize)


def _refuse_too_large(stage: str, part: Steps) -> None:
    needed = _bytes(stage, part)
    if needed <= MOST_BYTES or stage in ("mixed", "output"):  # these are no larger than q, k and v
        return
    raise TooLargeError(
        en=f"the whole of {stage} would take {_size(needed)} ({part.q.shape[0]} heads, {part.q.shape[1]:,} queries, "
        f"{part.k.shape[1]:,} keys); at most {_size(MOST_BYTES)} is made at once. Ask for a part: "
        f'trace.rows("{stage}", queries=[0], heads=[0]).',
        ko=f"{stage} 전체(헤드 {part.q.shape[0]}개, 쿼리 {part.q.shape[1]:,}개, 키 {part.k.shape[1]:,}개)에는 "
        f"{_size(needed)}가 필요합니다. 한 번에 {_size(MOST_BYTES)}까지만 만듭니다. 일부만 요청하십시오: "
        f'trace.rows("{stage}", queries=[0], heads=[0]).',
        bytes_needed=needed,
    )


def _size(n_bytes: int) -> str:
    power = min(4, int(math.log(max(1, n_bytes), 1000)))
    return f"{n_bytes / 1000**power:.3g} {('bytes', 'kB', 'MB', 'GB', 'TB')[power]}"


def _is_a(name: str, value: Any, kind: type, optional: bool = False) -> None:
    if not isinstance(value, kind) and not (optional and value is None):
        raise InputError(
            en=f"{name} expects a {kind.__name__}, got {type(value).__name__}.",
            ko=f"{name}에는 {kind.__name__}이(가) 필요한데 {type(value).__name__}이(가) 왔습니다.",
        )


def _numpy_rule(rule: Rule) -> Rule:
    """The same rule with its arrays in NumPy, so that it can be kept and saved."""
    arrays: dict[str, Any] = {}
    plain = described(rule, arrays)
    if all(isinstance(array, np.ndarray) for array in arrays.values()):
        return rule
    made: Rule = restored(plain, {name: in_numpy(name, array) for name, array in arrays.items()})
    return made


def _same(a: Floats | None, b: Floats | None) -> bool:
    if a is None or b is None:
        return a is b
    return a.dtype == b.dtype and np.array_equal(a, b)
