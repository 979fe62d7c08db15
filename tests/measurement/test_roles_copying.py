"""The copying score is that of the whole vocabulary × vocabulary product, which is never made."""

import numpy as np
import pytest

from jumok.errors import ShapeError
from jumok.measurement.roles.copying import copying

MODEL, VALUE, WORDS = 6, 3, 20


def drawn(seed=0):
    draw = np.random.default_rng(seed).standard_normal
    shapes = {"w_v": (MODEL, VALUE), "w_o": (VALUE, MODEL), "w_e": (WORDS, MODEL), "w_u": (MODEL, WORDS)}
    return {name: draw(shape) for name, shape in shapes.items()}


@pytest.mark.parametrize("seed", range(5))
def test_it_is_that_of_the_whole_product(seed):
    one = drawn(seed)
    values = np.linalg.eigvals(one["w_e"] @ one["w_v"] @ one["w_o"] @ one["w_u"])
    assert copying(**one) == pytest.approx(values.real.sum() / np.abs(values).sum(), abs=1e-6)


def test_a_head_that_writes_what_it_reads_copies():
    one = drawn()
    own = np.linalg.qr(one["w_v"])[0]
    tied = {"w_v": own, "w_e": one["w_e"], "w_u": one["w_e"].T}
    assert copying(w_o=own.T, **tied) == pytest.approx(1)
    assert copying(w_o=-own.T, **tied) == pytest.approx(-1)


def test_a_head_that_writes_nothing_does_not():
    assert copying(**(drawn() | {"w_o": np.zeros((VALUE, MODEL))})) == 0.0


@pytest.mark.parametrize(("name", "shape"), [("w_o", (MODEL, VALUE)), ("w_e", (WORDS, VALUE)), ("w_u", (WORDS, MODEL))])
def test_what_does_not_fit_is_named(name, shape):
    with pytest.raises(ShapeError, match=f"{name} expects") as refused:
        copying(**(drawn() | {name: np.zeros(shape)}))
    assert f"{name}에는" in refused.value.text("ko")
