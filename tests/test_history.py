"""A training run as it can be looked at: what fits together, any moment of it, and its file."""

import numpy as np
import pytest

import jumok
from jumok.errors import InputError, ShapeError
from jumok.history import History, LayerHistory, Probe, parts, unpacked
from jumok.path import Rule, positions


def history(n=3, **changed):
    """Two layers of two heads, three snapshots, two probes."""
    rng = np.random.default_rng(0)

    def drawn(*shape):
        return rng.normal(size=(n, *shape))

    layers = tuple(
        LayerHistory(
            f"layers.{at}", 2, 1, {"w_q": drawn(4, 4), "w_k": drawn(4, 2), "w_v": drawn(4, 2), "b_q": drawn(4)}
        )
        for at in range(2)
    )
    probes = tuple(
        Probe(
            tokens=tokens,
            rules=(Rule(allowed="causal"), Rule(bias=positions.alibi(np.array([0.5, 0.25])))),
            arrays=({"x": drawn(len(tokens), 4), "gradient": drawn(len(tokens), 4)}, {"x": drawn(len(tokens), 4)}),
            query=1,
            reads=(0,),
            answer="b",
            dimensions=("one", "two", "three", "four"),
        )
        for tokens in (("a", "b", "c"), ("it", "그것은"))
    )
    made = {
        "steps": (0, 2, 9)[:n], "layers": layers, "probes": probes, "loss": np.arange(9.0), "accuracy": np.full(n, np.nan),
        "gradient_norm": {"layers.0.w_q": np.ones(9)}, "roles": {"answer": drawn(2, 2)}, "baselines": {"answer": 0.5},
        "task": {"name": "made", "title": {"en": "made", "ko": "만든 것"}}, "settings": {"seed": 1, "steps": 9},
    }  # fmt: skip
    return History(**made | changed)


@pytest.mark.parametrize(("step", "at"), [(None, 2), (0, 0), (1, 0), (2, 1), (8, 1), (9, 2), (10**6, 2)])
def test_a_step_shows_the_last_snapshot_that_is_not_after_it(step, at):
    assert history().snapshot(step) == at


def test_a_trace_is_what_the_weights_and_x_of_that_snapshot_make():
    made = history()
    trace = made.trace(step=2, probe=1, layer=0)
    probe, layer = made.probes[1], made.layers[0]
    expected = jumok.attend(
        x=probe.arrays[0]["x"][1], w_q=layer.weights["w_q"][1], w_k=layer.weights["w_k"][1], w_v=layer.weights["w_v"][1],
        b_q=layer.weights["b_q"][1], n_heads=2, n_kv_heads=1, rule="causal", tokens=["it", "그것은"],
    )  # fmt: skip
    np.testing.assert_array_equal(trace.weights, expected.weights)
    assert [token.text for token in trace.tokens] == ["it", "그것은"]
    assert trace.source.details["step"] == 2
    assert trace.source.details["focus"] == 1
    reading = made.reading(step=2)
    assert [one.source.layer for one in reading.layers] == [0, 1]


@pytest.mark.parametrize(
    "asked", [{"step": -1}, {"step": True}, {"probe": 2}, {"probe": -1}, {"layer": 2}, {"layer": -1}]
)
def test_what_is_not_there_is_refused(asked):
    with pytest.raises(InputError, match=f"{next(iter(asked))} expects") as caught:
        history().trace(**asked)
    assert "필요" in caught.value.text("ko")


@pytest.mark.parametrize("steps", [(), (0, 0, 1), (3, 2, 1)])
def test_steps_must_increase(steps):
    with pytest.raises(InputError, match="increase"):
        history(steps=steps)


@pytest.mark.parametrize(
    ("changed", "phrase"),
    [
        ({"steps": (0, 1)}, "3 snapshots, but there are 2 steps"),
        ({"accuracy": np.zeros(2)}, "accuracy has 2 snapshots"),
        ({"roles": {"answer": np.zeros((3, 2))}}, "3 axes, got 2"),
        ({"layers": history().layers[:1]}, "a probe has 2 layers, the history 1"),
        ({"loss": np.zeros((2, 2))}, "loss of a history expects 1 axes, got 2"),
    ],
)
def test_axes_that_disagree_are_named(changed, phrase):
    with pytest.raises(ShapeError, match=phrase):
        history(**changed)


def test_a_file_gives_back_the_same_history(tmp_path):
    made = history()
    kept = jumok.load(made.save(tmp_path / "run.safetensors"))
    (tensors, plain), (tensors_kept, plain_kept) = parts(made), parts(kept)
    assert plain == plain_kept
    for name, array in tensors.items():
        np.testing.assert_array_equal(tensors_kept[name], array)
    np.testing.assert_array_equal(kept.trace(2, 1, 1).weights, made.trace(2, 1, 1).weights)
    assert repr(kept) == "History('made', 9 steps, 3 snapshots, 2 layers)"
    one = history(1, steps=(1,), loss=np.zeros(1), gradient_norm={})
    assert repr(one) == "History('made', 1 step, 1 snapshot, 2 layers)"


def test_parts_and_unpacked_are_each_other_s_way_back():
    made = history(n=1)
    again = unpacked(*parts(made))
    np.testing.assert_array_equal(again.layers[1].weights["b_q"], made.layers[1].weights["b_q"])
    assert again.probes[0].reads == (0,)


def test_nothing_in_it_can_be_changed():
    made = history()
    for array in (made.loss, made.layers[0].weights["w_q"], made.probes[0].arrays[0]["x"], made.roles["answer"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
