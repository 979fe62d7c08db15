"""What a variant loses on real queries, keys and values: how far its output, and the weights behind it, are from full attention.

>>> import jumok
>>> trace = jumok.attend(jumok.load("student"))
>>> loss = error(trace, "window", n_back=1, n_ahead=1)
>>> loss.outside.shape, round(float(loss.outside[0, 2]), 2)  # of studies, which reads five tokens, on those two away
((1, 5), 0.2)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError, ShapeError
from ..path.parts import counted
from . import cost_kinds
from .asked import Asked
from .flash import flash
from .options import refuse_unknown_options

__all__ = ["HeadLoss", "Kept", "Loss", "error", "kept"]

TILE_BYTES = 2**25  # of the weights that are looked at together: 32 MiB
Floats = npt.NDArray[Any]


@dataclass(frozen=True)
class HeadLoss:
    """The means over one head's rows; ``worst`` is the largest output error of a row."""

    head: int
    output: float
    worst: float
    distance: float
    outside: float


@dataclass(frozen=True, eq=False)
class Loss:
    """What a variant loses, for each head and each row.

    output : (head, query) |mixed − full attention's| / |full attention's|, Euclidean lengths
    distance : (head, query) total-variation distance of the weights: half the sum of their differences, 0 to 1 for weights that
        are not negative and sum to 1
    outside : (head, query) the weight that full attention gives to keys of which the variant reads nothing
    variant : its name;  options : as it was called
    """

    output: Floats
    distance: Floats
    outside: Floats
    variant: str
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def heads(self) -> tuple[HeadLoss, ...]:
        """Each head's means, in their order."""
        numbers = zip(self.output, self.distance, self.outside, strict=True)
        return tuple(
            HeadLoss(at, float(output.mean()), float(output.max()), float(distance.mean()), float(outside.mean()))
            for at, (output, distance, outside) in enumerate(numbers)
        )

    def to_json(self) -> dict[str, Any]:
        """Every number, as plain JSON."""
        options = {
            name: value if isinstance(value, (int, str, float)) else repr(value) for name, value in self.options.items()
        }
        arrays = {name: _plain(getattr(self, name)) for name in ("output", "distance", "outside")}
        return {"variant": self.variant, "options": options, **arrays}

    def __repr__(self) -> str:
        return f"Loss({self.variant}: output {self.output.mean():.3g}, weights {self.distance.mean():.3g})"


@dataclass(frozen=True, eq=False)
class Kept:
    """What a pattern keeps of full attention's weights.

    inside : (head, query) the weight on keys that the pattern lets be read
    n_allowed, n_read : (query,) keys that the rule allows, and of them those that the pattern keeps
    reads_ahead : True where a query may read a key after it
    """

    inside: Floats
    n_allowed: Floats
    n_read: Floats
    reads_ahead: bool

    @property
    def loses(self) -> Floats:
        """(query,) True where the pattern takes a key away; the other rows stay as they are, whatever the head does."""
        less: Floats = self.n_read < self.n_allowed
        return less


def error(trace: Any, variant: str | Callable[..., Any], **options: Any) -> Loss:
    """What a variant loses on a Trace's own q, k, v and rule.

    trace : a ``Trace``
    variant : a name such as "window", or any function ``(q, k, v, rule, **options) → mixed``
    options : of the variant, such as ``n_back=255``; ``linear`` by name is asked without the rule's scale, which elu + 1 has not

    The weights behind a variant's output are what it makes of one-hot values: it is run on a few of these columns at a time, so
    that nothing of n × n is ever held. A key whose column is all 0 for a query is one that the variant does not read.

    Errors: ``UnknownName`` for a name that is no variant or no option of it, ``InputError`` for what is no Trace, for what the
    variant refuses, such as a rule, and for a function whose result is no finite array; ``ShapeError`` for one of another shape.
    """
    _refuse_no_trace(trace)
    name, run, rule = _run(variant, trace.rule)
    refuse_unknown_options(name, run, options)
    asked = _asked(trace)
    exact, lse = flash(asked.q, asked.k, asked.v, asked.rule, return_lse=True)
    found = _checked(name, run(asked.q, asked.k, asked.v, rule, **options), asked, asked.v)
    distance, outside = np.zeros(lse.shape), np.zeros(lse.shape)
    columns = max(1, TILE_BYTES // (lse.size * asked.q.itemsize))
    for keys in counted(asked.n_keys, columns):
        true = _weights(asked, keys, lse)
        hot = _one_hot(asked, keys)
        theirs = _checked(name, run(asked.q, asked.k, hot, rule, **options), asked, hot)
        distance += np.abs(true - theirs).sum(axis=-1) / 2
        outside += np.where(theirs == 0, true, 0).sum(axis=-1)
    return Loss(_relative(found, exact), distance, outside, name, dict(options))


def kept(trace: Any, pattern: Any) -> Kept:
    """How much weight stays on the keys that a pattern lets be read, of each head and row.

    trace : a ``Trace``
    pattern : a rule such as ``jumok.allowed.window(255)``, or one of ``jumok.variants.patterns``
    """
    asked = _asked(trace)
    _, lse = flash(asked.q, asked.k, asked.v[..., :1], asked.rule, return_lse=True)
    queries, inside = np.arange(asked.n_queries), np.zeros(lse.shape)
    n_allowed, n_read = np.zeros((2, asked.n_queries), int)
    reads_ahead = False
    for keys in counted(asked.n_keys, max(1, TILE_BYTES // (lse.size * asked.q.itemsize))):
        places = np.arange(keys.start, keys.stop)
        allowed = asked.rule.allowed.block(queries, places)
        read = allowed & pattern.block(queries, places)
        inside += np.where(read, _weights(asked, keys, lse), 0).sum(axis=-1)
        n_allowed += allowed.sum(axis=-1)
        n_read += read.sum(axis=-1)
        reads_ahead |= bool((allowed & (places > queries[:, None])).any())
    return Kept(inside, n_allowed, n_read, reads_ahead)


def _refuse_no_trace(trace: Any) -> None:
    if any(not hasattr(trace, name) for name in ("q", "k", "v", "rule")):
        raise InputError(
            en=f"error expects a Trace, got {type(trace).__name__}. Of a Reading take a layer: jumok.variants.error(reading[0], …).",
            ko=f"error에는 Trace가 필요한데 {type(trace).__name__}이(가) 왔습니다. Reading이면 층을 하나 고르십시오: "
            f"jumok.variants.error(reading[0], …).",
        )


def _checked(name: str, mixed: Any, asked: Asked, v: Floats) -> Floats:
    """What a variant gave for these values, as an array of finite numbers, (head, query, d_value)."""
    try:
        found: Floats = np.asarray(mixed)
    except (TypeError, ValueError) as error:  # lists of other lengths, an array on a GPU
        raise InputError(
            en=f"variant {name} is to give an array: {error}.", ko=f"변형 {name}은(는) 배열을 내놓아야 합니다: {error}."
        ) from error
    expected = (*asked.q.shape[:-1], v.shape[-1])
    if found.shape != expected:
        raise ShapeError(
            en=f"variant {name} is to give (head, query, d_value) = {expected} for these q, k and v; it gave {found.shape}.",
            ko=f"변형 {name}은(는) 이 q, k, v에 대해 (헤드, 쿼리, d_value) = {expected} 모양을 내놓아야 하는데 {found.shape}입니다.",
        )
    if found.dtype.kind not in "fiub" or not np.isfinite(found).all():
        raise InputError(
            en=f"variant {name} is to give finite numbers; its result ({found.dtype}) has others, such as NaN or infinity.",
            ko=f"변형 {name}은(는) 유한한 수를 내놓아야 하는데, 결과({found.dtype})에 NaN이나 무한대 같은 다른 값이 있습니다.",
        )
    return found


def _asked(trace: Any) -> Asked:
    """In double precision: what is told is the variant's, and not that of rounding."""
    q, k, v = (np.asarray(getattr(trace, name), np.float64) for name in ("q", "k", "v"))
    return Asked.of(q, k, v, trace.rule).wide


def _run(variant: str | Callable[..., Any], rule: Any) -> tuple[str, Callable[..., Any], Any]:
    if callable(variant):
        return getattr(variant, "__name__", "variant"), variant, rule
    ((name, kind),) = cost_kinds.chosen(variant if isinstance(variant, str) else repr(variant)).items()
    return name, kind.variant, kind.rule(rule)


def _weights(asked: Asked, keys: range, lse: Floats) -> Floats:
    """(head, query, key) full attention's weights on some keys; all 0 in a row that reads nothing."""
    scaled, allowed = asked.tile(range(asked.n_queries), keys)
    known = np.where(np.isneginf(lse), 0, lse)[..., None]
    made: Floats = np.exp(np.where(allowed, scaled - known, -np.inf))
    return made


def _one_hot(asked: Asked, keys: range) -> Floats:
    """(kv_head, key, chosen key) values of which each hands over one key alone."""
    hot: Floats = np.zeros((*asked.k.shape[:-1], len(keys)), asked.v.dtype)
    hot[..., keys.start : keys.stop, :] = np.eye(len(keys))
    return hot


def _plain(array: Floats) -> Any:
    plain = array.astype(object)
    plain[~np.isfinite(array)] = None  # JSON knows no infinity
    return plain.tolist()


def _relative(found: Floats, exact: Floats) -> Floats:
    """(head, query) how long the difference is beside what it should be; where that is 0, 0 or infinity."""
    difference, length = (np.linalg.norm(each, axis=-1) for each in (found - exact, exact))
    with np.errstate(divide="ignore", invalid="ignore"):
        share: Floats = np.where(difference == 0, 0.0, difference / length)
    return share
