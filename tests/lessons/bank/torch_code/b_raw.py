


def cross_attention(x, context, w_q, w_k, w_v):
    q, k, v = x @ w_q, context @ w_k, context @ w_v
    weights = q @ k.transpose(-2, -1) / k.size(-1)
    return weights @ v
