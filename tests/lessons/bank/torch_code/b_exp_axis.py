


def attention(queries, keys, values):
    scores = queries @ keys.transpose(-2, -1) / keys.shape[-1] ** 0.5
    exp = scores.exp()
    weights = exp / exp.sum(-2, keepdim=True)
    return weights @ values
