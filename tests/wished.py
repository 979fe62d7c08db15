"""Records whose source says what was wanted of a row: one for every way to tell why a query is what it is."""

from collections.abc import Mapping
from typing import Any

import numpy as np

import jumok
from jumok.trace import Source

WANTED = {"2": {"0": 0.02, "1": 0.2, "2": 0.05, "3": 0.55, "4": 0.18}}  # of the worked example
NAMES = ["a", "b", "c", "d"]
ONE_HOT = np.vstack([np.zeros(4), np.eye(4)])  # the first token's key is 0, as that of The
LOGS = 2 * np.log(np.array([0.2, 0.05, 0.55, 0.18]) / 0.02)


def wished(wanted: Any = None, x: Any = ONE_HOT, **more: Any) -> jumok.Trace:
    """A record of five tokens of which something was wanted; its query is the exact one unless w_q says otherwise."""
    w_q = np.eye(4)
    w_q[1] = LOGS
    given: dict[str, Any] = {"w_q": w_q, "w_k": np.eye(4), "w_v": np.eye(4), "dimensions": NAMES} | more
    details = {"wanted": [WANTED] if wanted is None else wanted} | given.pop("details", {})
    tokens = given.pop("tokens", ["The", "student", "studies", "deep learning", "carefully"])
    return jumok.attend(x=x, **given, tokens=tokens, source=Source(details=details))


def exact(keys: Any, scale: float = 0.5, bias: Any = 0.0) -> Any:
    """The query of least size that gives the third row exactly: the keys tell the scores apart."""
    logs = np.log(np.array(list(WANTED["2"].values()))) - bias
    apart = keys - keys.mean(axis=0)
    return np.linalg.lstsq(apart, (logs - logs.mean()) / scale, rcond=None)[0]


def wished_traces() -> Mapping[str, jumok.Trace]:
    """By what is special about each."""
    rng = np.random.default_rng(5)
    x, w_k = rng.normal(size=(5, 4)), rng.normal(size=(4, 4))
    bias = jumok.positions.table(rng.normal(size=(1, 5, 5)))
    beside = np.asarray(bias.block(np.array([2]), np.arange(5)))[0, 0]
    one = np.zeros((4, 4))
    one[1] = 1.0
    biased = {"rule": jumok.Rule(bias=bias)}
    of_x = {"x": x, "w_q": np.outer(x[2], exact(x @ w_k)) / (x[2] @ x[2]), "w_k": w_k}
    return {
        "exact": wished(),
        "rounded": wished(w_q=np.round(np.where(one, LOGS, np.eye(4)), 3)),
        "missed": wished(w_q=np.eye(4)),
        "free": wished(x=x, w_q=np.outer(x[2], exact(x)) / (x[2] @ x[2])),
        "through W_K": wished(**of_x),
        "without names": wished(**of_x, dimensions=None),
        "scaled": wished(w_q=np.where(one, LOGS / 2 * 4, np.eye(4)), rule=jumok.Rule(scale=0.25)),
        "biased": wished(w_q=np.where(one, exact(ONE_HOT, bias=beside), np.eye(4)), **biased),
        "biased and free": wished(x=x, w_q=np.outer(x[2], exact(x, bias=beside)) / (x[2] @ x[2]), **biased),
        "zero": wished([{"2": {"1": 0.5, "2": 0.5}}]),
        "partial": wished([{"2": {"3": 0.5}}], w_q=np.eye(4)),
        "two heads": wished(
            w_q=np.tile(np.where(one, LOGS, 0), 2), w_k=np.tile(np.eye(4), 2), w_v=np.eye(4), n_heads=2
        ),
        "equal tokens": wished(tokens=["the", "cat", "the", "e\u0301", "é"]),
        "masked": wished([{"2": {"0": 0.1, "1": 0.4, "2": 0.2, "4": 0.3}}], rule="causal"),
    }
