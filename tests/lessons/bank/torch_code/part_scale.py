import math



def scale(scores, d_k):
    return scores.mul(1 / math.sqrt(d_k))
