import numpy as np

def self_attention(x, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    n = len(x)
    table = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            table[i, j] = np.dot(k[i], q[j]) / len(k[i])
    table = np.exp(table - table.max(axis=1, keepdims=True))
    table = table / table.sum(axis=1, keepdims=True)
    return table, table @ v
