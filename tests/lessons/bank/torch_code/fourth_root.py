


def attn(q, k, v):
    r = q.size(-1) ** 0.25
    return ((q / r) @ (k / r).transpose(-1, -2)).softmax(-1) @ v
