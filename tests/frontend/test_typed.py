"""The page reads what somebody types as a number as Python does: the list of the lessons' tests, and what chance puts together."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from pathlib import Path

from jumok.lessons.typed import WORDS, plain, typed_number

CASES = json.loads((Path(__file__).parents[1] / "lessons" / "typed.json").read_text(encoding="utf-8"))
PIECES = [
    *WORDS, *"0123456789", "12", "1,234", "0,5", "51 200", "1e3", "9.", ".5", "１", "９．５", " ", " ", "　", "\t", "\n", "\xa0", "\x1f", "-", "−", "–",
    "－", "+", "/", "／", "%", "％", " percent", "퍼센트", "=", "≈", "약 ", "개", "번", "열", "행", "입니다", "이다", " 반", "백", "만", " or ",
    " and ", " times",
    " rows", "K", "İ", "ſ", "x", "e", "ten", "²", "½", "٣", ".", "。", "가", "\u1100\u1161", "토큰", " of them", "NaN", "(", "\u2028", "\ufeff",
]  # fmt: skip


def chances(n: int) -> list[str]:
    rng = random.Random(0)
    return ["".join(rng.choices(PIECES, k=rng.randint(1, 4))) for _ in range(n)]


def test_both_read_the_same(node: Callable[..., str], tmp_path: Path) -> None:
    texts = [text for text, *_ in CASES] + chances(20_000)
    (tmp_path / "cases.json").write_text(json.dumps({"typed": plain(), "texts": texts}), encoding="utf-8")
    node("typed.parity", JUMOK_TYPED=tmp_path)
    made = json.loads((tmp_path / "made.json").read_text(encoding="utf-8"))
    mine = [[typed_number(text, is_whole) for is_whole in (True, False)] for text in texts]
    assert sum(one != [None, None] for one in mine) > 2000
    different = [
        (text, one, other)
        for text, one, other in zip(texts, mine, made, strict=True)
        if not all(same(a, b) for a, b in zip(one, other, strict=True))
    ]
    assert different == []


def same(mine: float | None, theirs: float | None) -> bool:
    return mine is theirs if mine is None or theirs is None else math.isclose(mine, theirs)
