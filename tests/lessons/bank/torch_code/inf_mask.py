import math



def attention(q, k, v, mask=None):
    attn = (q @ k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    if mask is not None:
        attn = attn.masked_fill(mask == 0, float("-inf"))
    attn = attn.softmax(dim=-1)
    return attn @ v
