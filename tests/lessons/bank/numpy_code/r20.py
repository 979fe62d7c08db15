import numpy as np


def 소프트맥스(행렬):
    # 가장 큰 값을 먼저 빼서 넘치지 않게 한다
    이동 = 행렬 - 행렬.max(axis=1, keepdims=True)
    지수 = np.exp(이동)
    return 지수 / 지수.sum(axis=1, keepdims=True)


def 셀프어텐션(x, w_q, w_k, w_v):
    쿼리, 키, 밸류 = x @ w_q, x @ w_k, x @ w_v
    점수 = np.zeros((len(x), len(x)))
    for i, q in enumerate(쿼리):
        for j, k in enumerate(키):
            점수[i, j] = sum(a * b for a, b in zip(q, k))
    가중치 = 소프트맥스(점수 / np.sqrt(쿼리.shape[1]))
    return 가중치 @ 밸류
