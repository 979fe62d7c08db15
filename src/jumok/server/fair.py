"""A queue that is fair between visitors: each in turn has one piece of work done, however many somebody sent.

>>> queue = Fair()
>>> for visitor, work in [("a", 1), ("a", 2), ("a", 3), ("b", 4)]: queue.put(visitor, work)
>>> queue.ahead(3), [queue.take() for _ in range(len(queue))]
(3, [1, 4, 2, 3])
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Container, Iterator
from typing import Generic, TypeVar

__all__ = ["Fair"]

Work = TypeVar("Work")


class Fair(Generic[Work]):
    """Visitors stand in a ring, each with a queue of their own."""

    def __init__(self) -> None:
        self._of: OrderedDict[str, deque[Work]] = OrderedDict()

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))

    def put(self, visitor: str, work: Work) -> None:
        """At the end of the visitor's own queue; a visitor who had none comes last."""
        self._of.setdefault(visitor, deque()).append(work)

    def can_take(self, busy: Container[str] = ()) -> bool:
        """Whether somebody waits who is not busy."""
        return any(visitor not in busy for visitor in self._of)

    def take(self, busy: Container[str] = ()) -> Work:
        """The first of the visitor whose turn it is, who then comes last.

        busy : visitors whose turn it is not yet

        Errors: ``KeyError`` where nobody else waits.
        """
        visitor = next((one for one in self._of if one not in busy), "")
        own = self._of.pop(visitor)
        work = own.popleft()
        if own:
            self._of[visitor] = own
        return work

    def remove(self, work: Work) -> bool:
        """Take it out, wherever it stands; False where it is not there."""
        for visitor, own in self._of.items():
            if work in own:
                own.remove(work)
                if not own:
                    del self._of[visitor]
                return True
        return False

    def of(self, visitor: str) -> int:
        """How much of a visitor's waits."""
        return len(self._of.get(visitor, ()))

    def ahead(self, work: Work) -> int | None:
        """How many are taken before it, as the queue stands; None where it does not wait."""
        return next((at for at, one in enumerate(self._order()) if one is work or one == work), None)

    def _order(self) -> Iterator[Work]:
        rounds = max(map(len, self._of.values()), default=0)
        for at in range(rounds):
            yield from (own[at] for own in self._of.values() if at < len(own))
