"""What a program leaves open and was read in the usual way: which axis is heads, which calls are one layer."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from .asked import Told
from .calls import Call
from .found import Found
from .notes import Note

__all__ = ["doubts"]


def doubts(found: Sequence[Found], calls: Sequence[Call], told: Told) -> tuple[Note, ...]:
    """Notes on calls whose axes or layers nobody can know from the program alone."""
    return (*_sequences_or_heads(found, calls, told), *_layers_or_heads(found, calls))


def _sequences_or_heads(found: Sequence[Found], calls: Sequence[Call], told: Told) -> Iterator[Note]:
    """One leading axis that the program never joined with the width: sequences, or heads."""
    known = None if told.main is None else len(told.main.tokens)
    for one, call in zip(found, calls, strict=True):
        n, n_heads = call.q.shape[:2]
        if one.joined is None and n > 1 and n_heads == 1 and n != known:
            yield Note(
                en=f"{call.module or 'this program'}: its {n} tables are read as {n} sequences of one head each. If they are heads, "
                f"join them within the with-block (out.transpose(…).reshape(tokens, heads * width)), and they are one layer.",
                ko=f"{call.module or '이 프로그램'}: 표 {n}개를 헤드가 하나인 문장 {n}개로 읽었습니다. 헤드라면 with 블록 안에서 합치십시오"
                f"(out.transpose(…).reshape(tokens, heads * width)). 그러면 한 층이 됩니다.",
            )
            return


def _layers_or_heads(found: Sequence[Found], calls: Sequence[Call]) -> Iterator[Note]:
    """Calls of one head each, one after the other in the same module, that the program never put side by side."""
    for (module, _), some in itertools.groupby(
        zip(found, calls, strict=True), lambda both: (both[1].module, both[1].run)
    ):
        run = list(some)
        alone = all(one.joined is None and call.q.shape[1] == 1 for one, call in run)
        if len(run) > 1 and alone and len({call.q.shape for _, call in run}) == 1:
            yield Note(
                en=f"{module or 'this program'}: {len(run)} calls of one head each are read as {len(run)} layers. If they are heads of "
                f"one layer, put their outputs side by side within the with-block (torch.cat(outputs, dim=-1)).",
                ko=f"{module or '이 프로그램'}: 헤드가 하나인 호출 {len(run)}개를 층 {len(run)}개로 읽었습니다. 한 층의 헤드라면 with 블록 안에서 "
                f"출력을 나란히 놓으십시오(torch.cat(outputs, dim=-1)).",
            )
            return
