"""Which token stands for which: the longest common subsequence, against a plain table of all prefixes."""

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jumok.errors import TooLargeError
from jumok.measurement import alignment
from jumok.measurement.alignment import common

texts = st.lists(st.sampled_from("abc"), max_size=12)


def length(a, b):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


@given(texts, texts)
@example(list("abcab"), list("bcacb"))
def test_it_is_common_in_order_and_as_long_as_can_be(a, b):
    pairs = common(a, b)
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(first[0] < second[0] and first[1] < second[1] for first, second in itertools.pairwise(pairs))
    assert len(pairs) == length(a, b)


def test_words_in_the_middle_may_be_longer_on_one_side():
    a, b = ["나", "는", "강", "은행", "에", "앉았다"], ["나", "는", "은행", "에", "돈", "을", "맡겼다"]
    assert common(a, b) == ((0, 0), (1, 1), (3, 2), (4, 3))


def test_texts_that_begin_and_end_alike_need_no_table(monkeypatch):
    monkeypatch.setattr(alignment, "MOST_BITS", 4)
    long = ["a"] * 1000
    assert len(common([*long, "x", *long], [*long, "y", *long])) == 2000


def test_too_long_texts_are_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr(alignment, "MOST_BITS", 99)
    with pytest.raises(TooLargeError, match=r"10 with 10 tokens.*pairs=") as caught:
        common(list("abcdefghij"), list("jihgfedcba"))
    assert "pairs=" in caught.value.text("ko")
    assert caught.value.bytes_needed == 12
