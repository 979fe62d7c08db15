"""The task of an example file: from random W_Q and W_K to the rows that it wants, by gradient descent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...door import Floats
from ...errors import InputError
from ...trace import Trace
from ..design.wishes import wishes
from ..example import Example, attended
from .task import Settings

__all__ = ["WantedRows", "of_example"]


@dataclass(frozen=True)
class WantedRows:
    """The rows of an example's ``wanted:`` as the goal of training W_Q and W_K; the embeddings stay.

    trace : what the example itself does, with the W that a person wrote or ``design`` found
    wanted : (query, key) rows that sum to 1, NaN in rows left free
    """

    name: str
    title: Mapping[str, str]
    about: Mapping[str, str]
    trace: Trace
    wanted: Floats
    settings: Settings
    text: str = ""

    @property
    def rows(self) -> list[int]:
        """The queries whose row is wanted."""
        return [int(at) for at in np.flatnonzero(~np.isnan(self.wanted).any(axis=1))]

    def data(self) -> Any:
        """What a saved run must keep to know this task again; None where its name is enough."""
        return None if self.name == "student" else {"example": self.text}

    def described(self) -> dict[str, Any]:
        """What a history says of its task, as plain JSON."""
        rows = {str(at): self.wanted[at].tolist() for at in self.rows}
        return {"name": self.name, "title": dict(self.title), "about": dict(self.about), "wanted": rows}


def of_example(example: Example) -> WantedRows:
    """The task that an example's ``wanted:`` sets.

    Errors: ``InputError`` for an example of several layers or heads, or without a wanted row.
    """
    trace = attended(example)
    if not isinstance(trace, Trace) or trace.n_heads != 1 or not example.wanted:
        raise InputError(
            en=f"{example.name}: learning expects an example of one layer and one head with wanted: rows. "
            f"Try jumok.learn('student'), or jumok.design for several heads.",
            ko=f"{example.name}: 학습에는 층과 헤드가 하나씩이고 wanted: 행이 있는 예제가 필요합니다. jumok.learn('student')를 쓰거나, "
            f"헤드가 여럿이면 jumok.design을 쓰십시오.",
        )
    (wish,) = wishes(list(example.wanted), trace.tokens, trace.allowed)
    return WantedRows(
        name=example.name,
        title=dict(example.title),
        about={
            "en": "From random W_Q and W_K, gradient descent lowers the distance (KL) between the wanted row and the one reached, "
            "a little at each step. W_V is not asked for anything, so it stays.",
            "ko": "무작위로 정한 W_Q와 W_K에서 출발해, 바라는 행과 실제 행의 차이(KL)를 기울기를 따라 조금씩 줄입니다. "
            "W_V에는 아무것도 바라지 않으므로 그대로 있습니다.",
        },
        trace=trace,
        wanted=wish.table,
        settings=Settings(steps=1200, learning_rate=1.0),
        text=example.to_yaml(),
    )
