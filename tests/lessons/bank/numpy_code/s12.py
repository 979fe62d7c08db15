import numpy as np
def attn(q,k,v):
    a=q@k.T/k.shape[1]**-.5
    a=np.exp(a-a.max(1,keepdims=True))
    return a/a.sum(1,keepdims=True)@v
