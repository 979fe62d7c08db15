


def attention(q, k, v):
    dtype = q.dtype
    q, k, v = q.double(), k.double(), v.double()
    w = ((q @ k.mT) / q.shape[-1] ** 0.5).softmax(dim=-1)
    return (w @ v).to(dtype)
