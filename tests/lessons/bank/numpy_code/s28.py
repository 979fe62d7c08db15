import numpy as np

def causal(q, k, v):
    n, d = q.shape
    out = []
    for i in range(n):
        upto = i + 2        # range() leaves the last one out
        s = np.array([np.dot(q[i], k[j]) / np.sqrt(d) for j in range(min(upto, n))])
        w = np.exp(s - s.max())
        w = w / w.sum()
        out.append(sum(w[j] * v[j] for j in range(len(w))))
    return np.array(out)
