def scale(scores, d_k):
    # keep the dot products small
    return scores / d_k
