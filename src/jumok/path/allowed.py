"""Who may read whom: rules that answer for any block of queries and keys, never stored as a table.

True means that the query may read the key. Positions count from 0; query i and key j stand at i
and j, unless ``offset`` says that the queries start later (a cache). Rules are joined by ``&`` (both
must allow) and ``|`` (one is enough).

>>> import numpy as np
>>> (causal() & window(1)).block(np.arange(3), np.arange(3)).astype(int).tolist()
[[1, 0, 0], [1, 1, 0], [0, 1, 1]]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import InputError, ShapeError
from .axes import Allowed as AllowedBlock
from .axes import Array, Keys, Queries
from .checked import agree, booleans, seen, whole, whole_numbers
from .described import Described, like
from .library import array_namespace

__all__ = ["Allowed", "causal", "document", "everything", "padding", "table", "window"]


class Allowed(Described):
    """A rule of who may read whom. ``block`` answers for some queries and keys."""

    def block(self, queries: Queries, keys: Keys) -> AllowedBlock:
        """(query, key) bool for the positions asked for."""
        raise NotImplementedError

    def fits(self, n_queries: int, n_keys: int) -> None:
        """Refuse a rule that was made for another number of tokens."""

    def basic(self, n_queries: int, n_keys: int) -> Allowed:  # noqa: ARG002 (whoever needs them)
        """The same rule, made only of the kinds of this module: others are not known everywhere (the page)."""
        return self

    def __and__(self, other: Allowed) -> Allowed:
        return _Both(self, other)

    def __or__(self, other: Allowed) -> Allowed:
        return _Either(self, other)


@dataclass(frozen=True, eq=False)
class _Everything(Allowed, kind="everything"):
    def block(self, queries: Queries, keys: Keys) -> AllowedBlock:
        return (queries[:, None] >= 0) & (keys[None, :] >= 0)


@dataclass(frozen=True, eq=False)
class _Causal(Allowed, kind="causal"):
    offset: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", whole("offset", self.offset))

    def block(self, queries: Queries, keys: Keys) -> AllowedBlock:
        return keys[None, :] <= queries[:, None] + self.offset


@dataclass(frozen=True, eq=False)
class _Window(Allowed, kind="window"):
    n_back: int
    n_ahead: int = 0
    offset: int = 0

    def __post_init__(self) -> None:
        for name in ("n_back", "n_ahead", "offset"):
            object.__setattr__(self, name, whole(name, getattr(self, name)))

    def block(self, queries: Queries, keys: Keys) -> AllowedBlock:
        back = queries[:, None] + self.offset - keys[None, :]
        return (back <= self.n_back) & (back >= -self.n_ahead)


@dataclass(frozen=True, eq=False)
class _Padding(Allowed, kind="padding"):
    keys: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", booleans("padding(keys)", self.keys))

    def block(self, queries: Queries, keys: Keys) -> AllowedBlock:
        xp = array_namespace(queries)
        real = xp.take(like(self.keys, queries), keys, axis=-1)[..., None, :]
        return real & (queries[:, None] >= 0)

    def fits(self, n_queries: int, n_keys: int) -> None:  # noqa: ARG002 (whoever asks)
        agree("padding(keys)", "key", self.keys.shape[-1], n_keys)


@dataclass(frozen=True, eq=False)
class _Document(Allowed, kind="document"):
    ids: Array
    offset: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", whole("offset", self.offset))
        object.__setattr__(self, "ids", whole_numbers("document(ids)", self.ids))

    def block(self, queries: Queries, keys: Keys) -> AllowedBlock:
        xp = array_namespace(queries)
        ids = like(self.ids, queries)
        mine, theirs = xp.take(ids, queries + self.offset, axis=-1), xp.take(ids, keys, axis=-1)
        return mine[..., :, None] == theirs[..., None, :]

    def fits(self, n_queries: int, n_keys: int) -> None:
        if self.ids.shape[-1] < n_queries + self.offset:
            agree("document(ids)", "query", self.ids.shape[-1], n_queries + self.offset)
        agree("document(ids)", "key", self.ids.shape[-1], n_keys)


@dataclass(frozen=True, eq=False)
class _Table(Allowed, kind="table"):
    array: Array

    def __post_init__(self) -> None:
        array = booleans("table(array)", self.array)
        if array.ndim < 2:
            raise ShapeError(
                en=f"table(array) expects (query, key), got {seen(array)}.",
                ko=f"table(array)에는 (쿼리, 키) 표가 필요한데 {seen(array)}이(가) 왔습니다.",
            )
        object.__setattr__(self, "array", array)

    def block(self, queries: Queries, keys: Keys) -> AllowedBlock:
        xp = array_namespace(queries)
        return xp.take(xp.take(like(self.array, queries), queries, axis=-2), keys, axis=-1)

    def fits(self, n_queries: int, n_keys: int) -> None:
        agree("table(array)", "query", self.array.shape[-2], n_queries)
        agree("table(array)", "key", self.array.shape[-1], n_keys)


@dataclass(frozen=True, eq=False)
class _Pair(Allowed):
    first: Allowed
    second: Allowed

    def __post_init__(self) -> None:
        for part in (self.first, self.second):
            if not isinstance(part, Allowed):
                raise InputError(
                    en=f"& and | join two rules such as causal() and window(2), got {type(part).__name__}.",
                    ko=f"&와 |는 causal(), window(2) 같은 규칙 둘을 잇는데 {type(part).__name__}이(가) 왔습니다.",
                )

    def basic(self, n_queries: int, n_keys: int) -> Allowed:
        first, second = (part.basic(n_queries, n_keys) for part in (self.first, self.second))
        return self if first is self.first and second is self.second else type(self)(first, second)

    def fits(self, n_queries: int, n_keys: int) -> None:
        self.first.fits(n_queries, n_keys)
        self.second.fits(n_queries, n_keys)


@dataclass(frozen=True, eq=False)
class _Both(_Pair, kind="both"):
    def block(self, queries: Queries, keys: Keys) -> AllowedBlock:
        return self.first.block(queries, keys) & self.second.block(queries, keys)


@dataclass(frozen=True, eq=False)
class _Either(_Pair, kind="either"):
    def block(self, queries: Queries, keys: Keys) -> AllowedBlock:
        return self.first.block(queries, keys) | self.second.block(queries, keys)


def everything() -> Allowed:
    """Every token may read every token.

    >>> import numpy as np
    >>> everything().block(np.arange(1), np.arange(2)).tolist()
    [[True, True]]
    """
    return _Everything()


def causal(offset: int = 0) -> Allowed:
    """A token may read itself and what came before it.

    offset : how many keys stand before the first query (the length of a cache)

    >>> import numpy as np
    >>> causal().block(np.arange(2), np.arange(2)).tolist()
    [[True, False], [True, True]]

    With n ≠ m the table is aligned top-left, as in PyTorch.
    """
    return _Causal(offset)


def window(n_back: int, n_ahead: int = 0, offset: int = 0) -> Allowed:
    """A token may read itself, ``n_back`` tokens before it and ``n_ahead`` after it.

    A width w as papers count it is ``window(w - 1)``; ``window(0)`` is the token alone.

    >>> import numpy as np
    >>> window(1).block(np.arange(3), np.arange(3))[2].tolist()
    [False, True, True]

    Source: Child et al. 2019, "Sparse Transformers"; Beltagy et al. 2020, "Longformer".
    """
    return _Window(n_back, n_ahead, offset)


def padding(keys: Any) -> Allowed:
    """Only real tokens are read; whoever asks.

    keys : (key,) bool, True where the key is a real token and not padding

    >>> import numpy as np
    >>> padding([True, False]).block(np.arange(2), np.arange(2)).tolist()
    [[True, False], [True, False]]
    """
    return _Padding(keys)


def document(ids: Any, offset: int = 0) -> Allowed:
    """Only tokens of the same document are read.

    ids : (token,) whole numbers, one a token

    >>> import numpy as np
    >>> document([0, 0, 1]).block(np.arange(3), np.arange(3))[2].tolist()
    [False, False, True]
    """
    return _Document(ids, offset)


def table(array: Any) -> Allowed:
    """Exactly what a table says.

    array : (query, key) bool, True where the query may read the key

    >>> import numpy as np
    >>> table([[True, False], [True, True]]).block(np.arange(2), np.arange(2))[0].tolist()
    [True, False]
    """
    return _Table(array)


def __dir__() -> list[str]:
    return sorted(__all__)
