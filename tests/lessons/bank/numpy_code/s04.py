import math
import numpy as np


def 어텐션(q, k, v):
    결과 = np.zeros((len(q), v.shape[1]))
    for i in range(len(q)):
        # i번째 쿼리와 모든 키의 내적
        점수 = [float(q[i] @ k[j]) for j in range(len(k))]
        최대 = max(점수)
        지수 = [math.exp(s - 최대) for s in 점수]
        합 = sum(지수)
        for j in range(len(k)):
            결과[i] += 지수[j] / 합 * v[j]
    return 결과
