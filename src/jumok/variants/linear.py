"""Linear attention: scores are products of features, so that all keys read so far fit into one small matrix."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError, UnknownName
from ..path import Rule
from ..path import axes as ax
from ..path.checked import count
from ..path.described import like
from ..path.library import array_namespace
from ..path.parts import counted
from ..path.products import ceiling, refuse_beyond
from .asked import Asked
from .features import Elu, PositiveRandom
from .full import itemsize, refuse_too_large, table_bytes

__all__ = ["Memory", "features_of", "linear", "recurrence"]

CHUNK = 96  # measured on two processors: 64 is the best of one, 128 to 192 of the other


@dataclass(frozen=True, eq=False)
class Memory:
    """All keys and values read so far, in a size that does not grow with them.

    values : (…, kv_head, feature, d_value) Σ φ(k) ⊗ v
    keys : (…, kv_head, feature, 1) Σ φ(k)
    """

    values: ax.Array
    keys: ax.Array

    def after(self, k: ax.K, v: ax.V) -> Memory:
        """The same after some keys more."""
        xp = array_namespace(k)
        turned = xp.matrix_transpose(k)
        return Memory(self.values + turned @ v, self.keys + xp.sum(turned, axis=-1, keepdims=True))


def linear(
    q: ax.Q, k: ax.K, v: ax.V, rule: Any = None,
    *, features: str = "elu", n_features: int = 256, seed: int = 0, form: str = "chunked", chunk: int = CHUNK,
) -> ax.Mixed:  # fmt: skip
    """Each value weighted by φ(q) · φ(k), each row divided by its sum: another function than softmax, in time that grows with n.

    q : (…, head, query, d_head)
    k : (…, kv_head, key, d_head);  v : (…, kv_head, key, d_value)
    rule : everything, ``"causal"``, padding of keys, or these joined by ``&``; a scale with random features only
    features : "elu" (elu + 1, no approximation of softmax) or "random" (positive random features, which approach it)
    n_features, seed : how many random features, and their draw
    form : "chunked", "recurrent" (a token at a time, as an RNN) or "quadratic" (the table); they agree
    chunk : tokens of a chunk

    >>> import numpy as np
    >>> one = np.array([[[0.0], [1.0], [2.0]]])
    >>> linear(one, one, one, "causal").round(3).tolist()
    [[[0.0], [0.667], [1.333]]]

    Errors: ``InputError`` for a rule that sums of features cannot follow; ``UnknownName`` for features and forms;
    ``OverflowRefused`` where a sum would not fit the number type; ``TooLargeError``, before anything is made, where the
    table of ``quadratic`` or the random features would not fit in the memory that is free.
    Source: Katharopoulos et al. 2020, "Transformers are RNNs"; Choromanski et al. 2021, "Performers".
    """
    asked = Asked.of(q, k, v, rule)
    run = _known("form", form, {"chunked": _chunked, "recurrent": _recurrent, "quadratic": _quadratic})
    _refuse_too_large(asked, features, count("n_features", n_features), form)
    with np.errstate(over="ignore", invalid="ignore"):
        q, k, v, offset = features_of(asked, features, n_features, seed, when_taken=form == "chunked")
        mixed = run(q, k, v, offset, count("chunk", chunk))
    refuse_beyond(ceiling(mixed), mixed, "the sum of features · values")
    xp = array_namespace(mixed)
    return asked.given_back(xp.reshape(mixed, (*asked.q.shape[:-1], v.shape[-1])))


def _refuse_too_large(asked: Asked, features: str, n_features: int, form: str) -> None:
    heads, kv_heads = math.prod(asked.q.shape[:-2]), math.prod(asked.k.shape[:-2])
    size = itemsize(asked.q)
    if form == "quadratic":
        refuse_too_large(
            asked.q,
            table_bytes(heads, asked.n_queries, asked.n_keys, size),
            'form="quadratic" would hold {needed} of tables, and {there} are free. Try form="chunked", which gives the same.',
            'form="quadratic"에는 표만 {needed}가 필요한데 남은 메모리는 {there}입니다. 같은 결과를 주는 form="chunked"를 쓰십시오.',
        )
    if features == "random":
        rows = heads * asked.n_queries + kv_heads * (asked.n_keys + asked.v.shape[-1])
        refuse_too_large(
            asked.q,
            n_features * (rows * size + 3 * 8 * asked.q.shape[-1]),  # the draw is float64, and turned
            f"{n_features:,} random features would hold {{needed}}, and {{there}} are free. Try a smaller n_features.",
            f"무작위 특징 {n_features:,}개에는 {{needed}}가 필요한데 남은 메모리는 {{there}}입니다. n_features를 줄이십시오.",
        )


# three forms of one sum; queries are (…, kv_head, group, query, feature), keys (…, kv_head, key, feature) ---------------


def _quadratic(q: ax.Array, k: ax.K, v: ax.V, offset: int | None, _: int) -> ax.Array:
    """By the table of weights: what the others must give."""
    xp = array_namespace(q)
    weights = q @ xp.matrix_transpose(k)[..., None, :, :]
    if offset is not None:
        weights = xp.tril(weights, k=offset)
    return _shared(weights @ v[..., None, :, :], xp.sum(weights, axis=-1, keepdims=True))


def _recurrent(q: ax.Array, k: ax.K, v: ax.V, offset: int | None, _: int) -> ax.Array:
    """A token at a time: one memory is all that is kept of the past."""
    xp = array_namespace(q)
    rows = [_read(q[..., i : i + 1, :], memory) for i, memory in recurrence(q, k, v, offset)]
    return _shared(*(xp.concat([row[part] for row in rows], axis=-2) for part in (0, 1)))


def recurrence(q: ax.Array, k: ax.K, v: ax.V, offset: int | None) -> Iterator[tuple[int, Memory]]:
    """Each query's position and the memory that it reads: the keys before it and, where it is causal, its own."""
    n_keys = k.shape[-2]
    ready = n_keys if offset is None else min(n_keys, offset)
    memory = _empty(k, v).after(k[..., :ready, :], v[..., :ready, :])
    for i in range(q.shape[-2]):
        if offset is not None and i + offset < n_keys:
            new = slice(i + offset, i + offset + 1)
            memory = memory.after(k[..., new, :], v[..., new, :])
        yield i, memory


def _chunked(q: ax.Array, k: ax.K, v: ax.V, offset: int | None, chunk: int) -> ax.Array:
    """A chunk at a time: the past by one matrix, the chunk itself by a small table."""
    xp, n_keys, values = array_namespace(v), k.shape[-2], WhenTaken(v, _beside_ones)
    start = n_keys if offset is None else min(n_keys, offset)
    past, rows = xp.matrix_transpose(k[..., :start, :]) @ values[..., :start, :], []
    if offset is None:
        return _shared_by_last(q[..., :, :] @ past[..., None, :, :])
    for queries in counted(q.shape[-2], chunk):
        new = slice(min(n_keys, queries.start + offset), min(n_keys, queries.stop + offset))
        mine, turned, v_new = (
            q[..., queries.start : queries.stop, :],
            xp.matrix_transpose(k[..., new, :]),
            values[..., new, :],
        )
        weights = xp.tril(mine @ turned[..., None, :, :])
        rows.append(_shared_by_last(mine @ past[..., None, :, :] + weights @ v_new[..., None, :, :]))
        past = past + turned @ v_new
    return xp.concat(rows, axis=-2)


def _beside_ones(v: ax.V) -> ax.Array:
    """The values with a column of ones: a product with them sums the weights too."""
    xp = array_namespace(v)
    return xp.concat([v, xp.ones_like(v[..., :1])], axis=-1)


def _shared_by_last(sums: ax.Array) -> ax.Array:
    return _shared(sums[..., :-1], sums[..., -1:])


def _empty(k: ax.K, v: ax.V) -> Memory:
    xp = array_namespace(k)
    turned = xp.matrix_transpose(k[..., :1, :]) * 0
    return Memory(turned @ v[..., :1, :], turned)


def _read(q: ax.Array, memory: Memory) -> tuple[ax.Array, ax.Array]:
    """(Σ weight · value, Σ weight) of each query over all that the memory holds."""
    return q @ memory.values[..., None, :, :], q @ memory.keys[..., None, :, :]


def _shared(mixed: ax.Array, total: ax.Array) -> ax.Array:
    """Divided by the sum of the weights; a row that read nothing is all 0."""
    xp = array_namespace(mixed)
    return mixed / xp.where(total == 0, float("inf"), total)


# what comes in ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class WhenTaken:
    """Features of each token, made where some tokens are taken: those of a chunk stay in the processor's cache.

    array : (…, token, width);  features : of some tokens, each from its own numbers alone
    """

    array: ax.Array
    features: Callable[[ax.Array], ax.Array]

    @property
    def shape(self) -> tuple[int, ...]:
        """As of the array; there are as many features as it is wide."""
        return tuple(self.array.shape)

    def __getitem__(self, at: Any) -> ax.Array:
        return self.features(self.array[at])


def features_of(
    asked: Asked, name: str, n_features: int, seed: int, when_taken: bool = False
) -> tuple[ax.Array, ax.K, ax.V, int | None]:
    """(φ(q) by groups of heads, φ(k), v, offset), offset None where every query reads every key; padding has no features.

    when_taken : True for ``WhenTaken`` in place of arrays, where the features allow it
    """
    _refuse_other_rules(asked, name)
    n_features, seed, asked = count("n_features", n_features), count("seed", seed, 0), asked.wide
    xp, scale = array_namespace(asked.q), asked.rule.scale_for(asked.q.shape[-1])
    make = {"elu": Elu, "random": lambda: PositiveRandom(n_features, scale, seed)}
    phi: Elu | PositiveRandom = _known("features", name, make)()
    *lead, n_heads, n_queries, d_head = asked.q.shape
    groups = (*lead, asked.k.shape[-3], n_heads // asked.k.shape[-3], n_queries, d_head)
    q, parts = xp.reshape(asked.q, groups), _joined(asked.rule.allowed)
    offset = min((part.offset for part in parts if part.kind == "causal"), default=None)
    padding = [part.keys for part in parts if part.kind == "padding"]
    if when_taken and isinstance(phi, Elu) and not padding:
        return WhenTaken(q, phi.of_queries), WhenTaken(asked.k, phi.of_keys), asked.v, offset
    k = phi.of_keys(asked.k)
    for keys in padding:
        k = xp.where(like(keys, k)[..., None, :, None], k, xp.zeros_like(k))
    return phi.of_queries(q), k, asked.v, offset


def is_causal(rule: Rule) -> bool:
    """Whether each query has its own sum: that of the keys so far."""
    return any(getattr(part, "kind", None) == "causal" for part in _joined(rule.allowed))


def unfollowed(rule: Rule, d_head: int, features: str = "elu") -> list[str]:
    """What stands in a rule that linear attention cannot follow."""
    kinds = {getattr(part, "kind", type(part).__name__) for part in _joined(rule.allowed)}
    wrong = [repr(kind) for kind in sorted(kinds - {"everything", "causal", "padding"})]
    wrong += [name for name in ("softcap", "bias", "sink") if getattr(rule, name) is not None]
    if features == "elu" and not math.isclose(rule.scale_for(d_head), Rule().scale_for(d_head), rel_tol=1e-6):
        wrong.append("scale")
    return wrong


def _joined(allowed: Any) -> list[Any]:
    """The rules that stand joined by & in a rule."""
    if getattr(allowed, "kind", None) == "both":
        return _joined(allowed.first) + _joined(allowed.second)
    return [allowed]


def _refuse_other_rules(asked: Asked, features: str) -> None:
    wrong = unfollowed(asked.rule, asked.q.shape[-1], features)
    if wrong:
        raise InputError(
            en=f"linear attention keeps one sum for all keys, so it can follow everything, causal and padding, and a scale with "
            f'features="random"; this rule has {", ".join(wrong)}. Try jumok.variants.flash or window.',
            ko=f'선형 어텐션은 모든 키를 합 하나로 모으므로 everything, causal, padding과 features="random"일 때의 scale만 따를 수 '
            f"있는데, 이 규칙에는 {', '.join(wrong)}도 있습니다. jumok.variants.flash나 window를 쓰십시오.",
        )


def _known(option: str, name: Any, ways: dict[str, Callable[..., Any]]) -> Callable[..., Any]:
    if not isinstance(name, str) or name not in ways:
        raise UnknownName(
            en=f"{option} expects one of {', '.join(ways)}, got {name!r}.",
            ko=f"{option}에는 {', '.join(ways)} 가운데 하나가 필요한데 {name!r}이(가) 왔습니다.",
        )
    return ways[name]
