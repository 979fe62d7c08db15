"""What is said of something that looks like attention and was not read: English, with the same in Korean beside it."""

from __future__ import annotations

__all__ = [
    "ATTENTION",
    "BIAS_IN_CAP",
    "CACHE",
    "CAP_IN_CAP",
    "CAP_SCALED",
    "CHANGING_KEYS",
    "INSIDE",
    "NO_SCORES",
    "OTHER_AXIS",
    "OTHER_LARGEST",
    "OTHER_THREAD",
    "OVER_HEADS",
    "OWN_THREAD",
    "PICKED",
    "SOFTMAX",
    "SPREAD",
    "WEIGHTS_TWICE",
    "Said",
    "not_followed",
]


class Said(str):
    """A phrase in English; ``ko`` is the same in Korean."""

    ko: str
    __slots__ = ("ko",)

    def __new__(cls, en: str, ko: str) -> Said:
        """Both."""
        made = super().__new__(cls, en)
        made.ko = ko
        return made


ATTENTION = Said("attention", "어텐션")
SOFTMAX = Said("softmax before a product", "행렬 곱 앞의 소프트맥스")
CACHE = Said("generation with a cache", "캐시를 쓴 생성")
OTHER_THREAD = Said("a model in another thread", "다른 스레드의 모델")
OWN_THREAD = Said(
    "a with-block sees its own thread; capture in that one",
    "with 블록은 자기 스레드만 봅니다. 모델이 도는 스레드에서 capture를 쓰십시오",
)
CHANGING_KEYS = Said(
    "the kept keys change places between the steps (beam search): these are not joined. Use num_beams=1",
    "보관한 키가 단계마다 자리를 바꿉니다(빔 탐색). 이런 호출은 잇지 않습니다. num_beams=1로 생성하십시오",
)
INSIDE = Said("what it does inside is not followed", "그 안에서 일어나는 일은 따라가지 못합니다")
OVER_HEADS = Said("a product over heads is not followed", "헤드를 가로지르는 곱은 따라가지 못합니다")
WEIGHTS_TWICE = Said("weights are multiplied by weights", "가중치에 가중치를 곱합니다")
OTHER_AXIS = Said(
    "the softmax goes over another axis than the product with the values",
    "소프트맥스를 취한 축이 밸류와 곱하는 축과 다릅니다",
)
OTHER_LARGEST = Said(
    "the largest score is of another axis than the softmax", "가장 큰 점수를 찾은 축이 소프트맥스의 축과 다릅니다"
)
SPREAD = Said(
    "weights are spread over values and summed ((w[..., None] * v).sum()): write w @ v",
    "가중치를 밸류에 펼쳐 곱한 뒤 더합니다((w[..., None] * v).sum()). w @ v로 쓰십시오",
)
NO_SCORES = Said("its scores are not a product of queries and keys", "그 점수가 쿼리와 키의 곱이 아닙니다")
PICKED = Said(
    "the largest scores of each row are taken out (topk) and not put back with scatter or a mask",
    "행마다 가장 큰 점수를 골라내고(topk) scatter나 마스크로 되돌려 놓지 않습니다",
)
CAP_SCALED = Said("scores are multiplied after the soft cap", "소프트 캡 다음에 점수에 수를 곱합니다")
BIAS_IN_CAP = Said("a bias stands inside the soft cap", "소프트 캡 안에 바이어스가 있습니다")
CAP_IN_CAP = Said("a soft cap stands inside another soft cap", "소프트 캡 안에 소프트 캡이 또 있습니다")

_LIKE = {  # what an operation that is not followed is likely to be
    "mul": (
        "scores or weights times a table: a gate, or a factor for each distance",
        "점수나 가중치에 표를 곱합니다. 게이트이거나 거리마다 곱하는 수일 수 있습니다",
    ),
    "scatter": (
        "perhaps top-k attention: scatter the topk of these scores into a tensor of -inf",
        "top-k 어텐션일 수 있습니다. 이 점수의 topk를 -inf로 채운 텐서에 scatter하십시오",
    ),
    "sort": ("perhaps top-k or sparsemax attention", "top-k나 sparsemax 어텐션일 수 있습니다"),
    "relu": ("perhaps attention without a softmax", "소프트맥스가 없는 어텐션일 수 있습니다"),
    "sigmoid": ("perhaps attention without a softmax", "소프트맥스가 없는 어텐션일 수 있습니다"),
    "cumsum": ("perhaps a forgetting gate", "망각 게이트일 수 있습니다"),
    "convolution": ("perhaps heads that are mixed by a convolution", "합성곱으로 헤드를 섞는 것일 수 있습니다"),
}


def not_followed(called: str, after_softmax: bool | None = None, error: object = None) -> Said:
    """An operation that is not followed, where it stands, and what it is likely to be.

    called : its name;  after_softmax : False between the scores and the softmax;  error : what went wrong, if anything did
    """
    if error is not None:
        return Said(f"{called} is not followed: {error}", f"{called} 연산을 따라가지 못합니다: {error}")
    place, place_ko = (
        ("after the softmax", "소프트맥스 뒤의")
        if after_softmax
        else ("between the scores and the softmax", "점수와 소프트맥스 사이의")
    )
    like = _LIKE.get(called.rstrip("_"))
    more, more_ko = ("", "") if like is None else (f" ({like[0]})", f" ({like[1]})")
    return Said(f"{called} {place} is not followed{more}", f"{place_ko} {called} 연산을 따라가지 못합니다{more_ko}")
