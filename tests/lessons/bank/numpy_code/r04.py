import math

import numpy as np


def attention(q, k, v):
    n, m, d, dv = len(q), len(k), len(q[0]), len(v[0])
    out = []
    for i in range(n):
        scores = []
        for j in range(m):
            s = 0.0
            for c in range(d):
                s += float(q[i][c]) * float(k[j][c])
            scores.append(s / math.sqrt(d))
        top = max(scores)
        exps = [math.exp(s - top) for s in scores]
        total = sum(exps)
        row = [0.0] * dv
        for j in range(m):
            for c in range(dv):
                row[c] += exps[j] / total * float(v[j][c])
        out.append(row)
    return np.array(out)
