"""Whether what a head reads is what it writes: the copying score of its values, from weights alone.

>>> same = np.eye(3)
>>> copying(w_v=same, w_o=same, w_e=same, w_u=same), copying(w_v=same, w_o=-same, w_e=same, w_u=same)
(1.0, -1.0)
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...errors import ShapeError
from ...words import with_particle

__all__ = ["copying", "copying_through", "vocabulary"]

Numbers = npt.NDArray[np.floating]
AT_ONCE = 4096  # tokens of the vocabulary


def copying(w_v: Numbers, w_o: Numbers, w_e: Numbers, w_u: Numbers) -> float:
    """Σ Re λ / Σ |λ| over the eigenvalues λ of W_E W_V W_O W_U: 1 where reading a token makes it likelier, −1 where less so.

    w_v : (d_model, d_value) of one head;  w_o : (d_value, d_model) of one head
    w_e : (vocabulary, d_model) the embeddings;  w_u : (d_model, vocabulary) what makes logits

    That product is vocabulary × vocabulary, and has the same eigenvalues, but for zeros, as W_O W_U W_E W_V, which is
    d_value × d_value: only that is made.

    Errors: ``ShapeError`` where two of them do not fit.
    Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"; Olsson et al. 2022.
    """
    v, o, e, u = (np.asarray(one) for one in (w_v, w_o, w_e, w_u))
    _check(v, o, e, u)
    return copying_through(v, o, vocabulary(e, u))


def copying_through(w_v: Numbers, w_o: Numbers, tokens: Numbers) -> float:
    """The same of a head, where the product of the vocabulary is there already.

    tokens : (d_model, d_model), as of ``vocabulary``
    """
    v, o = (np.asarray(one, dtype=np.float64) for one in (w_v, w_o))
    values = np.linalg.eigvals(o @ (tokens @ v))
    whole = np.abs(values).sum()
    return float(values.real.sum() / whole) if whole > 0 else 0.0


def vocabulary(w_e: Numbers, w_u: Numbers) -> npt.NDArray[np.float64]:
    """(d_model, d_model) W_U W_E, the same for all heads of a model; some thousand tokens at a time."""
    made = np.zeros((len(w_u), w_e.shape[1]))
    for at in range(0, len(w_e), AT_ONCE):
        some = slice(at, at + AT_ONCE)
        made += w_u[:, some].astype(np.float64) @ w_e[some].astype(np.float64)
    return made


def _check(v: Numbers, o: Numbers, e: Numbers, u: Numbers) -> None:
    wanted = {
        "w_o": (o, (v.shape[-1], v.shape[0])),
        "w_e": (e, (e.shape[0], v.shape[0])),
        "w_u": (u, (v.shape[0], e.shape[0])),
    }
    for name, (array, shape) in wanted.items():
        if array.shape != shape:
            raise ShapeError(
                en=f"{name} expects {shape}, as w_v is {v.shape} and w_e {e.shape}, got {array.shape}.",
                ko=f"w_v가 {v.shape}, w_e가 {e.shape}이므로 {name}에는 {with_particle(str(shape), '이/가')} 필요한데 "
                f"{with_particle(str(array.shape), '이/가')} 왔습니다.",
            )
