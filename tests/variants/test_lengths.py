"""Numbers of tokens: one, several, or a text as on the command line."""

import pytest

from jumok.errors import InputError
from jumok.variants.lengths import DEFAULT_N, MOST_N, lengths


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (7, [7]),
        ((9, 3, 3), [3, 9]),
        (iter([2, 1]), [1, 2]),
        ("5", [5]),
        (" 8, 4 ", [4, 8]),
        ("512:4096", [512, 1024, 2048, 4096]),
        ("3:20", [3, 6, 12, 20]),
        ("6:6", [6]),
        (f"{MOST_N}", [MOST_N]),
        ("512:16384", [*DEFAULT_N]),
    ],
)
def test_they_come_in_order_each_once(asked, found):
    assert lengths(asked) == found


@pytest.mark.parametrize("asked", ["", ",", "1,", "1:2:3", "1:2,3", "1 2", "a:b", "1e3", "²", "٣"])
def test_another_text_is_refused_under_its_own_name(asked):
    with pytest.raises(InputError, match="--n expects numbers of tokens, 512:16384") as refused:
        lengths(asked, "--n")
    assert "--n에는 토큰 수를" in refused.value.ko


@pytest.mark.parametrize("asked", ["0", "-5", "0:8", "1:1048577", "9" * 5000, 2**21, [1, 2**21], []])
def test_what_lies_beyond_is_refused(asked):
    with pytest.raises(InputError, match=r"n expects numbers of tokens from 1 to 1,048,576, got"):
        lengths(asked)


@pytest.mark.parametrize("asked", [0, -1, 1.0, True, None, b"64", [1, "2"], object()])
def test_what_is_no_whole_number_is_refused(asked):
    with pytest.raises(InputError, match="n expects a whole number, 1 or more, got"):
        lengths(asked)
