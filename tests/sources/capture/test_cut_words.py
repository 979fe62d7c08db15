"""What is told of a cut: a change that is there can be seen in its numbers."""

import pytest

from jumok.sources.capture.cut_words import _moved


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [(0.51, 0.25, "0.51 → 0.25"), (0.00412, 0.00438, "0.00412 → 0.00438"), (0.9996, 0.9997, "0.9996 → 0.9997"), (0.5, 0.5, "0.5 → 0.5")],
)  # fmt: skip
def test_numbers_that_differ_are_told_apart(before, after, told):
    assert _moved(before, after) == told
