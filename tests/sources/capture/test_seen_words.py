"""What looks like attention and was not read is told in both languages."""

import pytest
import torch

import jumok
from jumok.sources.capture import seen_words
from jumok.sources.capture.seen_words import Said, not_followed

CALLED = ["mul", "scatter_", "sort", "relu", "sigmoid", "cumsum", "convolution", "frobnicate"]
PHRASES = [getattr(seen_words, name) for name in seen_words.__all__ if isinstance(getattr(seen_words, name), Said)]


def is_korean(text):
    return any("가" <= letter <= "힣" for letter in text)


@pytest.mark.parametrize("said", [*PHRASES, *(not_followed(name, after) for name in CALLED for after in (False, True))])
def test_every_phrase_has_both_languages(said):
    assert not is_korean(said)
    assert is_korean(said.ko)


def test_the_operation_and_the_place_are_named():
    said = not_followed("cumsum", after_softmax=False)
    assert said == "cumsum between the scores and the softmax is not followed (perhaps a forgetting gate)"
    assert said.ko == "점수와 소프트맥스 사이의 cumsum 연산을 따라가지 못합니다 (망각 게이트일 수 있습니다)"
    assert not_followed("mul", error="a mistake") == "mul is not followed: a mistake"


def test_a_reading_tells_it_in_korean():
    q, k, v = torch.randn(3, 1, 2, 5, 4).unbind(0)
    with jumok.capture() as reading:
        (q @ k.transpose(-1, -2)).cumsum(-1).softmax(-1) @ v
    assert len(reading) == 0
    (seen,) = reading.seen
    assert "cumsum between the scores and the softmax" in seen.text("en")
    assert "소프트맥스 사이의 cumsum" in seen.text("ko")
