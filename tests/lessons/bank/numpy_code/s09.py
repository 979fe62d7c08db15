import numpy as np

def attend(X, Wq, Wk, Wv):
    Q, K, V = np.dot(X, Wq), np.dot(X, Wk), np.dot(X, Wv)
    n, d = X.shape
    S = np.dot(Q, K.T) / np.sqrt(d)
    S = S - np.max(S, axis=1).reshape(n, 1)
    E = np.exp(S)
    A = E / np.sum(E, axis=1).reshape(n, 1)
    return A, np.dot(A, V)
