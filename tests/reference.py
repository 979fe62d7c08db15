"""Self-attention a beginner can read: plain Python numbers, plain loops, nothing clever.

Everything in the tests is compared with this. A vector is a list of floats, a matrix a list of
vectors, and what has heads is a list with one entry a head. It shares no code with jumok.
"""

from __future__ import annotations

import math

# who may read whom: each returns a question (i, j) → True or False -------------------------------


def everything():
    return lambda i, j: True


def causal(offset=0):
    return lambda i, j: j <= i + offset


def window(n_back, n_ahead=0, offset=0):
    return lambda i, j: i + offset - n_back <= j <= i + offset + n_ahead


def padding(real):
    return lambda i, j: real[j]


def document(ids, offset=0):
    return lambda i, j: ids[i + offset] == ids[j]


def table(rows):
    return lambda i, j: rows[i][j]


def both(one, other):
    return lambda i, j: one(i, j) and other(i, j)


def either(one, other):
    return lambda i, j: one(i, j) or other(i, j)


# position biases: each returns a question (head, i, j) → number -----------------------------------


def no_bias():
    return lambda h, i, j: 0.0


def alibi(slopes, offset=0):
    return lambda h, i, j: -slopes[h] * abs(i + offset - j)


def relative(vectors, offset=0):
    def bias(h, i, j):
        vector = vectors[h if len(vectors) > 1 else 0]
        reach = (len(vector) - 1) // 2
        ahead = max(-reach, min(reach, j - (i + offset)))
        return vector[reach + ahead]

    return bias


def t5_bucket(ahead, bidirectional, n_buckets, max_distance):
    """The bucket of one offset key − query, by the formula of Raffel et al. (2020) for one number."""
    first = 0
    if bidirectional:
        n_buckets //= 2
        first = n_buckets if ahead > 0 else 0
        distance = abs(ahead)
    else:
        distance = max(0, -ahead)
    exact = n_buckets // 2
    if distance < exact:
        return first + distance
    steps = math.log(distance / exact) / math.log(max_distance / exact) * (n_buckets - exact)
    return first + min(n_buckets - 1, exact + int(steps + 1e-9))  # the 1e-9: log 8 / log 16 · 8 is 6, not 5.99…


def t5(buckets, bidirectional=True, max_distance=128, offset=0):
    return lambda h, i, j: buckets[t5_bucket(j - (i + offset), bidirectional, len(buckets), max_distance)][
        h if len(buckets[0]) > 1 else 0
    ]


def bias_table(rows):
    return lambda h, i, j: rows[h if len(rows) > 1 else 0][i][j]


def bias_sum(one, other):
    return lambda h, i, j: one(h, i, j) + other(h, i, j)


# positions put into x, or into q and k ------------------------------------------------------------


def sinusoidal(n_tokens, d_model, base=10_000.0):
    code = []
    for position in range(n_tokens):
        row = []
        for dimension in range(d_model):
            angle = position / base ** ((dimension - dimension % 2) / d_model)
            row.append(math.cos(angle) if dimension % 2 else math.sin(angle))
        code.append(row)
    return code


def rotated(vector, position, interleaved, base=10_000.0):
    """One vector turned by its position: each pair of dimensions by its own angle."""
    d = len(vector)
    turned = [0.0] * d
    for pair in range(d // 2):
        one, other = (2 * pair, 2 * pair + 1) if interleaved else (pair, pair + d // 2)
        angle = position * base ** (-2 * pair / d)
        turned[one] = vector[one] * math.cos(angle) - vector[other] * math.sin(angle)
        turned[other] = vector[one] * math.sin(angle) + vector[other] * math.cos(angle)
    return turned


# the path -----------------------------------------------------------------------------------------


def dot(a, b):
    total = 0.0
    for one, other in zip(a, b, strict=True):
        total += one * other
    return total


def product(a, b):
    """The matrix product: every row of a with every column of b."""
    return [[dot(row, column) for column in zip(*b, strict=True)] for row in a]


def heads_of(matrix, n_heads):
    """The columns dealt to the heads in order: one (token, d) matrix a head."""
    d = len(matrix[0]) // n_heads
    return [[row[h * d : (h + 1) * d] for row in matrix] for h in range(n_heads)]


def softmax(scores, may_read, sink=None):
    """One row of weights. The sink takes weight and hands over nothing."""
    readable = [s for s, may in zip(scores, may_read, strict=True) if may]
    if not readable:
        return [0.0 for _ in scores]
    top = max(readable if sink is None else [*readable, sink])
    powers = [math.exp(s - top) if may else 0.0 for s, may in zip(scores, may_read, strict=True)]
    total = sum(powers) + (0.0 if sink is None else math.exp(sink - top))
    return [power / total for power in powers]


def one_head(q, k, v, scale, softcap, allowed, bias, sink):
    """All stages of one head: q asks, k is read, v is handed over."""
    scores, scaled, may_read, weights, weighted_values, mixed = [], [], [], [], [], []
    for i in range(len(q)):
        scores.append([dot(q[i], k[j]) for j in range(len(k))])
        row = []
        for j in range(len(k)):
            s = scores[i][j] * scale
            if softcap is not None:
                s = softcap * math.tanh(s / softcap)
            row.append(s + bias(i, j))
        scaled.append(row)
        may_read.append([bool(allowed(i, j)) for j in range(len(k))])
        weights.append(softmax(row, may_read[i], sink))
        weighted_values.append([[weights[i][j] * number for number in v[j]] for j in range(len(k))])
        mixed.append([sum(weighted_values[i][j][c] for j in range(len(k))) for c in range(len(v[0]))])
    return {
        "scores": scores,
        "scaled": scaled,
        "allowed": may_read,
        "weights": weights,
        "weighted_values": weighted_values,
        "mixed": mixed,
    }


def attention(q, k, v, *, scale=None, softcap=None, allowed=None, bias=None, sink=None, w_o=None, b_o=None):
    """All stages of all heads, by name; with fewer k and v, neighbouring heads share one."""
    n_heads, group = len(q), len(q) // len(k)
    scale = 1 / math.sqrt(len(q[0][0])) if scale is None else scale
    allowed, bias = allowed or everything(), bias or no_bias()
    heads = []
    for h in range(n_heads):
        logit = None if sink is None else sink[h]
        of_head = lambda i, j, h=h: bias(h, i, j)  # noqa: E731 (a definition would hide the loop)
        heads.append(one_head(q[h], k[h // group], v[h // group], scale, softcap, allowed, of_head, logit))
    stages = {name: [head[name] for head in heads] for name in heads[0]}
    stages["allowed"] = heads[0]["allowed"]
    joined = [[number for head in heads for number in head["mixed"][i]] for i in range(len(q[0]))]
    output = joined if w_o is None else product(joined, w_o)
    stages["output"] = output if b_o is None else [[a + b for a, b in zip(row, b_o, strict=True)] for row in output]
    return stages
