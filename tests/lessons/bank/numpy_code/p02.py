import numpy as np

def self_attention(x, w_q, w_k, w_v):
    queries = np.dot(x, w_q)
    keys = np.dot(x, w_k)
    values = np.dot(x, w_v)
    attention_scores = np.dot(queries, keys.T)
    attention_scores = attention_scores - np.max(attention_scores, axis=0)
    attention_weights = np.exp(attention_scores) / np.sum(np.exp(attention_scores), axis=0)
    return np.dot(attention_weights, values), attention_weights
