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
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from .errors import InputError, OverflowRefused, ShapeError, TooLargeError, UnknownName
from .path import STAGES, Rule, Steps
from .path.described import Described
from .path.positions import Rotary
from .path.products import ceiling, fits

__all__ = ["STAGES", "Heads", "Reading", "Source", "Token", "Trace"]

Floats = npt.NDArray[np.floating[Any]]

MOST_BYTES = 256 * 2**20  # a whole table beyond this is refused; parts of it are not
TILE_BYTES = 4 * 2**20  # mixed and output are made in tiles of queries of about this size


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text as a reader should see it.

    text : any string, also an empty one
    span : (start, end) characters in the source text, or None where it is not known
    """

    text: str
    span: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        try:
            self.text.encode("utf-8")
        except (AttributeError, UnicodeEncodeError):
            raise InputError(
                en=f"a token expects text, got {self.text!r}.",
                ko=f"토큰에는 글자열이 필요한데 {self.text!r}이(가) 왔습니다.",
            ) from None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Source:
    """Where a Trace came from, as plain JSON.

    kind : "arrays", "example", "module", "design", "training" or "model"
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
        try:
            plain = json.loads(json.dumps(dict(self.details), allow_nan=False))
        except (TypeError, ValueError) as error:
            raise InputError(
                en=f"source.details expects plain JSON (text, finite numbers, lists, True/False, None): {error}.",
                ko=f"source.details에는 JSON으로 쓸 수 있는 값만 넣을 수 있습니다: {error}.",
            ) from error
        object.__setattr__(self, "details", plain)

    def to_json(self) -> dict[str, Any]:
        """The fields that say something, as a dictionary."""
        empty: tuple[Any, ...] = (None, {})
        return {f.name: v for f in dataclasses.fields(self) if (v := getattr(self, f.name)) not in empty}


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
    source: Source = Source()  # noqa: RUF009 (frozen)
    key_tokens: tuple[Token, ...] | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "tokens", as_tokens(self.tokens))
        put(self, "key_tokens", None if self.key_tokens is None else as_tokens(self.key_tokens))
        put(self, "rule", _numpy_rule(Rule.of(self.rule)))
        for name in ("q", "k", "v"):
            put(self, name, frozen(name, getattr(self, name), ndim=3, tokens=self._tokens_of(name)))
        if self.x is not None:
            put(self, "x", frozen("x", self.x, ndim=2, tokens=self.tokens))
        if self.dimensions is not None:
            put(self, "dimensions", tuple(unicodedata.normalize("NFC", name) for name in self.dimensions))
        _check_axes(self)
        self.rule.fits(self.n_heads, self.n_queries, self.n_keys)
        _check_scores(self)

    # sizes ------------------------------------------------------------------------------------

    @property
    def n_heads(self) -> int:
        return int(self.q.shape[0])

    @property
    def n_kv_heads(self) -> int:
        return int(self.k.shape[0])

    @property
    def n_queries(self) -> int:
        return int(self.q.shape[1])

    @property
    def n_keys(self) -> int:
        return int(self.k.shape[1])

    @property
    def n_tokens(self) -> int:
        return self.n_queries

    @property
    def d_head(self) -> int:
        return int(self.q.shape[2])

    @property
    def read_tokens(self) -> tuple[Token, ...]:
        """(key,) the tokens that are read: ``key_tokens``, or ``tokens``."""
        return self.tokens if self.key_tokens is None else self.key_tokens

    def _tokens_of(self, name: str) -> tuple[Token, ...]:
        return self.tokens if name == "q" else self.read_tokens

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
        allowed: npt.NDArray[np.bool_] = self.rows("allowed")
        return allowed

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

    def rows(self, stage: str, queries: Any = None, heads: Any = None) -> Any:
        """The part of a stage that is asked for, at any length; nothing else is computed.

        stage : one of ``STAGES``
        queries : one position or token, or a list of them; None for all
        heads : one head, or a list; None for all. Of ``output``, the share of these heads, without b_o

        Errors: ``UnknownName`` for the stage or a token, ``InputError`` for a position out of range,
        ``TooLargeError`` where the part itself would take more than 256 MiB.
        """
        if stage not in STAGES:
            raise unknown_name("stage", "단계", stage, STAGES)
        chosen_heads = None if heads is None else _positions("head", "헤드", heads, self.n_heads)
        chosen = None if queries is None else [self.index(query) for query in _listed(queries)]
        part = self.steps if chosen_heads is None and chosen is None else self.steps.part(chosen_heads, chosen)
        if stage in ("mixed", "output"):
            return _by_tiles(part, stage)
        _refuse_too_large(self, stage, part)
        return getattr(part, stage)

    @cached_property
    def steps(self) -> Steps:
        """The path from q, k and v on, for all heads and queries; half precision is widened to float32."""
        made_by = self.heads
        w_o, b_o = (made_by.w_o, made_by.b_o) if made_by else (None, None)
        q, k, v = (a.astype(np.float32) if a.dtype == np.float16 else a for a in (self.q, self.k, self.v))
        return Steps(q, k, v, self.rule, w_o, b_o)

    def index(self, token: int | str | Token) -> int:
        """The position of a query token, by position or text; the second of two equal ones is ``word#2``.

        >>> import numpy as np
        >>> one = np.ones((1, 3, 1))
        >>> Trace(tokens=["a", "b", "a"], q=one, k=one, v=one).index("a#2")
        2
        """
        return token_index(self.tokens, token)

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
        return (
            f"Trace({self.n_queries} tokens, {self.n_heads} heads ({self.n_kv_heads} key/value), "
            f"d_head {self.d_head}, {self.rule.allowed.kind}, from {self.source.kind} {self.source.name or ''})"
        )


@dataclass(frozen=True, eq=False)
class Reading(Sequence[Trace]):
    """What a model of one or more attention layers did with one text: one Trace a layer.

    layers : (layer,) Traces, in order
    source : where they came from
    """

    layers: tuple[Trace, ...]
    source: Source = Source()  # noqa: RUF009 (frozen)

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", tuple(self.layers))
        for layer in self.layers:
            if not isinstance(layer, Trace):
                raise InputError(
                    en=f"a Reading expects Traces, one a layer, got {type(layer).__name__}.",
                    ko=f"Reading에는 층마다 Trace 하나가 필요한데 {type(layer).__name__}이(가) 왔습니다.",
                )

    @overload
    def __getitem__(self, layer: int) -> Trace: ...
    @overload
    def __getitem__(self, layer: slice) -> tuple[Trace, ...]: ...
    def __getitem__(self, layer: int | slice) -> Trace | tuple[Trace, ...]:
        return self.layers[layer]

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
        return f"Reading({len(self)} layers, {len(self.tokens)} tokens, from {self.source.kind})"


# the door ---------------------------------------------------------------------------------------


def as_tokens(tokens: Iterable[str | Token]) -> tuple[Token, ...]:
    """Texts as tokens; what is a token already stays as it is."""
    if isinstance(tokens, str):
        raise InputError(
            en=f"tokens expects a list of texts, got one text {tokens!r}. Try {tokens.split()!r}.",
            ko=f"tokens에는 글자열의 목록이 필요한데 글자열 하나 {tokens!r}이(가) 왔습니다. 예: {tokens.split()!r}.",
        )
    return tuple(token if isinstance(token, Token) else Token(token) for token in tokens)


def frozen(name: str, value: Any, *, ndim: int, tokens: Sequence[Token] = ()) -> Floats:
    """A read-only NumPy array of finite floats; NumPy arrays that are read-only already are not copied.

    Errors: ``ShapeError`` for the number of axes, ``InputError`` for what is not finite numbers.
    """
    array = _numpy(name, value)
    if array.dtype.kind in "iub":
        array = array.astype(np.float64)
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        raise InputError(
            en=f"{name} expects real numbers (float16, float32 or float64), got {array.dtype}.",
            ko=f"{name}에는 실수(float16, float32, float64)가 필요한데 {array.dtype}이(가) 왔습니다.",
        )
    if array.ndim != ndim:
        raise ShapeError(
            en=f"{name} expects {ndim} axes, got {array.ndim}: shape {array.shape}.",
            ko=f"{name}에는 축 {ndim}개가 필요한데 {array.ndim}개입니다: 모양 {array.shape}.",
        )
    if array.size == 0:
        raise ShapeError(
            en=f"{name} is empty: shape {array.shape}. There must be at least one token and one dimension.",
            ko=f"{name}이(가) 비어 있습니다: 모양 {array.shape}. 토큰과 차원이 적어도 하나씩 있어야 합니다.",
        )
    if not math.isfinite(float(array.min()) + float(array.max())):
        _refuse_not_finite(name, array, tokens)
    if array.flags.writeable or not array.flags.c_contiguous:
        array = array.copy()
        array.setflags(write=False)
    return array


def owned(array: Any) -> Any:
    """An array that nobody else holds, set read-only, so that a record can keep it without a copy."""
    if isinstance(array, np.ndarray) and array.flags.owndata:
        array.setflags(write=False)
    return array


def _numpy(name: str, value: Any) -> npt.NDArray[Any]:
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "detach"):  # a PyTorch tensor
        value = value.detach().cpu()
        value = value.float() if "bfloat16" in str(value.dtype) else value
        return np.asarray(value.numpy())
    try:
        return np.asarray(value) if value is not None else np.asarray("")
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            en=f"{name} expects an array of numbers: {error}.",
            ko=f"{name}에는 숫자 배열이 필요합니다: {error}.",
        ) from error


def _refuse_not_finite(name: str, array: Floats, tokens: Sequence[Token]) -> None:
    bad = ~np.isfinite(array)
    if not bad.any():  # two finite extremes whose sum is not
        return
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    row = at[-2] if array.ndim > 1 else at[-1]
    who = f" (token {tokens[row].text!r})" if row < len(tokens) else ""
    raise InputError(
        en=f"{name}{list(at)}{who} is {array[at]}. Every number must be finite: no NaN, no infinity.",
        ko=f"{name}{list(at)}{who}의 값이 {array[at]}입니다. 모든 값은 유한해야 합니다(NaN, 무한대 불가).",
    )


def _check_axes(t: Trace) -> None:
    said = {"q": "(head, query, d_head)", "k": "(kv_head, key, d_head)", "v": "(kv_head, key, d_value)"}

    def agree(name: str, axis: str, got: int, other: str, expected: int, shape: tuple[int, ...]) -> None:
        if got != expected:
            read_as = f", read as {said[name]}" if name in said else ""
            raise ShapeError(
                en=f"{name} has {axis}={got}, but {other} has {axis}={expected}. {name} is {shape}{read_as}.",
                ko=f"{name}은(는) {axis}={got}인데 {other}은(는) {axis}={expected}입니다. {name}의 모양은 {shape}입니다.",
            )

    agree("k", "d_head", t.k.shape[2], "q", t.q.shape[2], t.k.shape)
    agree("v", "key", t.v.shape[1], "k", t.k.shape[1], t.v.shape)
    agree("v", "kv_head", t.v.shape[0], "k", t.k.shape[0], t.v.shape)
    agree("tokens", "query", len(t.tokens), "q", t.q.shape[1], (len(t.tokens),))
    agree("key_tokens" if t.key_tokens else "tokens", "key", len(t.read_tokens), "k", t.k.shape[1], (len(t.tokens),))
    if t.q.shape[0] % t.k.shape[0]:
        raise ShapeError(
            en=f"{t.q.shape[0]} query heads cannot share {t.k.shape[0]} key/value heads evenly.",
            ko=f"쿼리 헤드 {t.q.shape[0]}개가 키/밸류 헤드 {t.k.shape[0]}개를 고르게 나누어 쓸 수 없습니다.",
        )
    if t.x is not None:
        agree("x", "token", t.x.shape[0], "q", t.q.shape[1], t.x.shape)
    if t.dimensions is not None and t.x is not None:
        agree("dimensions", "d_model", len(t.dimensions), "x", t.x.shape[1], (len(t.dimensions),))
    if t.heads is not None:
        h, d_head, d_value = t.heads, t.d_head, t.v.shape[2]
        if t.x is not None:
            for name in ("w_q", "w_k", "w_v"):
                w = getattr(h, name)
                agree(name, "d_model", w.shape[0], "x", t.x.shape[1], w.shape)
        widths = {"w_q": t.n_heads * d_head, "w_k": t.n_kv_heads * d_head, "w_v": t.n_kv_heads * d_value}
        for name, width in widths.items():
            w, b = getattr(h, name), getattr(h, "b" + name[1:])
            agree(name, "columns", w.shape[1], name[2:], width, w.shape)
            if b is not None:
                agree("b" + name[1:], "columns", b.shape[0], name, w.shape[1], b.shape)
        if h.w_o is not None:
            agree("w_o", "rows", h.w_o.shape[0], "the joined heads", t.n_heads * d_value, h.w_o.shape)
        if h.b_o is not None:
            width = t.n_heads * d_value if h.w_o is None else h.w_o.shape[1]
            agree("b_o", "columns", h.b_o.shape[0], "the output", width, h.b_o.shape)


def _check_scores(t: Trace) -> None:
    """Every score of every head is finite, whoever asks later; refused here with the tokens' names."""
    steps = t.steps
    scale = t.rule.scale_for(t.d_head)
    growth = scale / min(1.0, t.rule.softcap or 1.0)
    if t.rule.sink is not None and float(np.abs(t.rule.sink).max()) > ceiling(steps.q):
        raise InputError(
            en=f"sink has a logit beyond {ceiling(steps.q):.3g}, the most that {steps.q.dtype} is trusted with here.",
            ko=f"sink의 값이 {steps.q.dtype}에서 다룰 수 있는 최댓값 {ceiling(steps.q):.3g}보다 큽니다.",
        )
    if fits(steps.q, steps.k, growth) and t.rule.bias is None:
        return
    for head in range(t.n_heads):
        for rows in _tiles(t.n_queries, t.n_keys * steps.q.dtype.itemsize):
            try:
                steps.part([head], rows).scaled  # noqa: B018 (it refuses)
            except OverflowRefused as error:
                query, key = rows[error.row % len(rows)], error.column
                raise OverflowRefused(
                    en=f"the score of {t.tokens[query].text!r} (query {query}) and {t.read_tokens[key].text!r} "
                    f"(key {key}) in head {head} does not fit {steps.q.dtype}: {error.en}",
                    ko=f"헤드 {head}에서 {t.tokens[query].text!r}(쿼리 {query})와 {t.read_tokens[key].text!r}(키 {key})의 "
                    f"점수가 {steps.q.dtype}에 들어가지 않습니다: {error.ko}",
                    row=query,
                    column=key,
                ) from None


def _tiles(n_queries: int, row_bytes: int) -> list[range]:
    step = max(1, TILE_BYTES // max(1, row_bytes))
    return [range(start, min(start + step, n_queries)) for start in range(0, n_queries, step)]


def _by_tiles(part: Steps, stage: str) -> Any:
    n_heads, n_queries = part.q.shape[0], part.q.shape[1]
    tiles = _tiles(n_queries, n_heads * part.k.shape[1] * part.q.dtype.itemsize)
    if len(tiles) == 1:
        return getattr(part, stage)
    made = [getattr(part.part(None, rows), stage) for rows in tiles]
    return np.concatenate(made, axis=-2)


def _refuse_too_large(t: Trace, stage: str, part: Steps) -> None:
    n_heads, n_queries = (1 if stage == "allowed" else part.q.shape[0]), part.q.shape[1]
    width = t.v.shape[2] if stage == "weighted_values" else 1
    itemsize = 1 if stage == "allowed" else part.q.dtype.itemsize
    needed = n_heads * n_queries * t.n_keys * width * itemsize
    if needed <= MOST_BYTES:
        return
    shape = f"{n_heads} × {n_queries:,} × {t.n_keys:,}" + (f" × {width}" if width > 1 else "")
    raise TooLargeError(
        en=f"the whole of {stage} ({shape} numbers) would take {_size(needed)}; at most {_size(MOST_BYTES)} is made at "
        f'once. Ask for a part: trace.rows("{stage}", queries=[0], heads=[0]).',
        ko=f"{stage} 전체({shape}개 값)에는 {_size(needed)}가 필요합니다. 한 번에 {_size(MOST_BYTES)}까지만 만듭니다. "
        f'일부만 요청하십시오: trace.rows("{stage}", queries=[0], heads=[0]).',
        bytes_needed=needed,
    )


def _size(n_bytes: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if n_bytes < 1000:
            break
        n_bytes /= 1000
    else:
        unit = "TB"
    return f"{n_bytes:.3g} {unit}"


def _listed(value: Any) -> list[Any]:
    if isinstance(value, (str, Token)) or not isinstance(value, Iterable):
        return [value]
    return list(value)


def _positions(what: str, what_ko: str, value: Any, n: int) -> list[int]:
    return [_position(what, what_ko, one, n) for one in _listed(value)]


def _position(what: str, what_ko: str, value: Any, n: int) -> int:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if whole and 0 <= value < n:
        return int(value)
    raise InputError(
        en=f"{what} expects a position from 0 to {n - 1}, got {value!r}.",
        ko=f"{what_ko}에는 0부터 {n - 1}까지의 위치가 필요한데 {value!r}이(가) 왔습니다.",
    )


def token_index(tokens: Sequence[Token], token: int | str | Token) -> int:
    """The position of a token, by position or by text; the second of two equal ones is ``word#2``.

    Texts are compared in NFC. Errors: ``UnknownName`` for a text that is not there, or that stands
    more than once and is not numbered; ``InputError`` for a position out of range.
    """
    if not isinstance(token, (str, Token)):
        return _position("token", "토큰", token, len(tokens))
    text = unicodedata.normalize("NFC", str(token))
    at = [i for i, other in enumerate(tokens) if unicodedata.normalize("NFC", other.text) == text]
    if len(at) > 1:
        named = ", ".join(f"{text}#{n + 1}" for n in range(len(at)))
        raise UnknownName(
            en=f"the token {text!r} stands {len(at)} times; say which: {named}.",
            ko=f"토큰 {text!r}이(가) {len(at)}번 나옵니다. 어느 것인지 밝히십시오: {named}.",
        )
    if at:
        return at[0]
    word, mark, number = text.rpartition("#")
    at = [i for i, other in enumerate(tokens) if unicodedata.normalize("NFC", other.text) == word]
    if mark and number.isascii() and number.isdigit() and 1 <= int(number[:9]) <= len(at):
        return at[int(number) - 1]
    raise unknown_name("token", "토큰", text, [other.text for other in tokens])


def unknown_name(what: str, what_ko: str, got: str, known: Iterable[str]) -> UnknownName:
    """The refusal of a name that is not there, with the nearest ones that are."""
    import difflib

    names = list(dict.fromkeys(known))
    near = difflib.get_close_matches(got, names[:2000], n=3, cutoff=0.6)
    some = ", ".join(repr(name) for name in (names if len(names) <= 16 else [*names[:16], "…"]))
    return UnknownName(
        en=f"unknown {what} {got!r}. {'Did you mean ' + ' or '.join(map(repr, near)) + '? ' if near else ''}There are: {some}.",
        ko=f"알 수 없는 {what_ko} {got!r}입니다. {'혹시 ' + ', '.join(map(repr, near)) + '입니까? ' if near else ''}쓸 수 있는 것: {some}.",
    )


def _numpy_rule(rule: Rule) -> Rule:
    """The same rule with its arrays in NumPy, so that it can be kept and saved."""
    from .path.described import described, restored

    arrays: dict[str, Any] = {}
    plain = described(rule, arrays)
    if all(isinstance(array, np.ndarray) for array in arrays.values()):
        return rule
    made: Rule = restored(plain, {name: _numpy(name, array) for name, array in arrays.items()})
    return made


def _same(a: Floats | None, b: Floats | None) -> bool:
    if a is None or b is None:
        return a is b
    return a.dtype == b.dtype and np.array_equal(a, b)
