import math

def scale(scores, d_k):
    return scores * (1 / math.sqrt(d_k))
