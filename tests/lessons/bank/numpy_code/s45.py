import numpy as np

def 소프트맥스(점수):
    점수 = 점수 - 점수.max(axis=-1, keepdims=True)
    지수 = np.exp(점수)
    return 지수 / 지수.sum(axis=-1, keepdims=True)

def 셀프_어텐션(x, w_q, w_k, w_v):
    쿼리 = x @ w_q
    키 = x @ w_k
    밸류 = x @ w_v
    점수 = 키 @ 쿼리.T / np.sqrt(키.shape[-1])
    가중치 = 소프트맥스(점수)
    return 가중치 @ 밸류
