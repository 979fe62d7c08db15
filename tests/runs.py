"""Training runs for tests: short real ones, made once, and the same with other measurements."""

from functools import cache

import numpy as np

import jumok
from jumok.history import History, LayerHistory, Probe


@cache
def run(task, steps, **sizes):
    """A short training."""
    return jumok.learn(task, steps=steps, **sizes)


def emerged(*layers, accuracy=1.0, carrier=None, **more):
    """What was measured at the end of a run, as plain JSON.

    layers : (layer,) each the (reads, accuracy without it) of its heads
    """
    without = [[left for _, left in heads] for heads in layers]
    return {
        "accuracy": accuracy, "chance": 0.1, "alone": 0.12, "guess": None, "without": without,
        "without_layer": [min(heads) for heads in without], "reads": [[reads for reads, _ in heads] for heads in layers],
        "baseline": 0.3, "baselines": None, "carrier": carrier, "shared": False, "left": None, "roles": {}, "appeared": 40,
        "rise": [30, 90], "compared": None,
    } | more  # fmt: skip


def history(rows, tokens, reads, answer="x", steps=(0, 10), query=None, **more):
    """A run whose weights are known: ``rows`` is (probe, snapshot, layer, head, key), the weights of every row.

    tokens, reads : (probe,) each
    """
    rows = np.asarray(rows, float)
    n_layers, n_heads, n = rows.shape[2:]
    layers = [LayerHistory(f"layers.{at}", n_heads, n_heads) for at in range(n_layers)]
    probes = []
    for one, texts, keys in zip(rows, tokens, reads, strict=True):
        arrays = []
        for at in range(n_layers):
            q = np.zeros((len(steps), n_heads, n, n))
            q[...] = np.log(np.maximum(one[:, at], 1e-9))[:, :, None, :] * np.sqrt(n)  # k = identity
            k = np.broadcast_to(np.eye(n), q.shape)
            arrays.append({"q": q, "k": k, "v": k})
        probes.append(
            Probe(texts, ("everything",) * n_layers, tuple(arrays), n - 1 if query is None else query, keys, answer)
        )
    loss = np.linspace(2, 0.1, steps[-1])
    return History(tuple(steps), tuple(layers), tuple(probes), loss, np.linspace(0, 1, len(steps)), **more)
