import torch
from torch import Tensor


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """어텐션 함수. mask가 1인 곳만 볼 수 있다."""
    # 1. 점수 계산
    score = q @ k.mT / k.shape[-1] ** 0.5
    # 2. 마스크: 볼 수 없는 곳은 아주 작은 값으로
    if mask is not None:
        score = score.masked_fill(mask == 0, -1e9)
    # 3. 소프트맥스 (최댓값을 빼서 오버플로 방지)
    score = score - score.amax(dim=-1, keepdim=True)
    e = torch.exp(score)
    w = e / e.sum(dim=-1, keepdim=True)
    # 4. 가중합
    return w @ v
