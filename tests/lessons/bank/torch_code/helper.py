


def attention_weights(q, k, mask):
    w = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        w = w.masked_fill(~mask, -1e9)
    return w.softmax(-1)

def attention(q, k, v, mask=None):
    w = attention_weights(q, k, mask)
    return w.softmax(-1) @ v
