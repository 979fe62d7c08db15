"""W_V (and W_O) for a wanted output: least squares against a dense solution, the least change, and every reason."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jumok
from jumok import design_values
from jumok.errors import InputError, ShapeError

NAN = np.nan


def trace(rng, n=5, d=4, n_heads=1, x=None):
    x = rng.standard_normal((n, d)) if x is None else np.asarray(x, float)
    d = x.shape[1]
    w_q, w_k, w_v = rng.standard_normal((3, d, d * n_heads))
    return jumok.attend(x=x, w_q=w_q, w_k=w_k, w_v=w_v, n_heads=n_heads)


def mixes(record):
    return np.asarray(record.weights) @ record.x


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.booleans())
def test_an_output_that_some_values_give_is_reached(seed, n_heads, with_w_o):
    rng = np.random.default_rng(seed)
    record = trace(rng, n_heads=n_heads)
    w_v = rng.standard_normal((4, 2 * n_heads))
    w_o = rng.standard_normal((2 * n_heads, 3)) if with_w_o else None
    heads = np.concatenate(
        [mix @ v for mix, v in zip(mixes(record), np.split(w_v, n_heads, axis=1), strict=True)], axis=1
    )
    wanted = heads if w_o is None else heads @ w_o
    found = design_values(record, wanted, w_o=w_o)
    assert found.exact
    assert found.reasons == ()
    again = jumok.attend(
        x=record.x, w_q=record.heads.w_q, w_k=record.heads.w_k, w_v=found.w_v, w_o=found.w_o, n_heads=n_heads
    )
    np.testing.assert_allclose(again.output, wanted, atol=1e-7)
    np.testing.assert_allclose(found.residual, 0, atol=1e-7)


def test_the_values_of_the_worked_example_come_out():
    student = jumok.attend(jumok.load("student"))
    found = design_values(student, student.output)
    np.testing.assert_allclose(found.w_v, np.diag([1, 1, 3, 2.0]), atol=1e-12)


def test_the_nearest_output_and_the_least_change():
    rng = np.random.default_rng(0)
    record = trace(rng, n=6, d=3)
    wanted, near = rng.standard_normal((6, 3)), rng.standard_normal((3, 3))
    found = design_values(record, wanted, near=near)
    (mix,) = mixes(record)
    np.testing.assert_allclose(found.w_v, np.linalg.pinv(mix) @ wanted, atol=1e-9)
    few = np.full((6, 3), NAN)
    few[[1, 4]] = wanted[[1, 4]]
    found = design_values(record, few, near=near)
    assert found.exact
    rows = mix[[1, 4]]
    np.testing.assert_allclose(found.w_v, near + np.linalg.pinv(rows) @ (wanted[[1, 4]] - rows @ near), atol=1e-9)
    assert np.isnan(found.residual[[0, 2, 3, 5]]).all()


def test_several_heads_with_a_given_w_o_are_one_system():
    rng = np.random.default_rng(1)
    record, w_o = trace(rng, n=9, d=2, n_heads=2), rng.standard_normal((4, 3))
    wanted = rng.standard_normal((9, 3))
    found = design_values(record, wanted, w_o=w_o)
    system = np.concatenate(
        [np.kron(mix, out.T) for mix, out in zip(mixes(record), np.split(w_o, 2), strict=True)], axis=1
    )
    least = np.linalg.lstsq(system, wanted.ravel(), rcond=None)[0]
    off = np.linalg.norm(system @ least - wanted.ravel())
    assert np.linalg.norm(found.residual) == pytest.approx(off, rel=1e-9)
    assert not found.exact


@pytest.mark.parametrize("n_heads", [1, 2])
def test_values_and_output_together(n_heads):
    rng = np.random.default_rng(2)
    record = trace(rng, n=4, d=4, n_heads=n_heads)
    wanted = rng.standard_normal((4, 5))
    found = design_values(record, wanted, w_o="free")
    assert found.exact
    assert found.w_v.shape[1] == found.w_o.shape[0]
    narrow = design_values(record, wanted, w_o="free", d_value=1)
    assert narrow.w_o.shape == (n_heads, 5)
    assert not narrow.exact
    assert "narrow-values" in [reason.kind for reason in narrow.reasons]
    if n_heads == 1:  # reduced-rank regression: the rest is what the other singular values weigh
        sizes = np.linalg.svd(wanted, compute_uv=False)
        assert np.linalg.norm(narrow.residual) == pytest.approx(np.linalg.norm(sizes[1:]), rel=1e-9)


def uniform(x, **options):
    """Every token reads what the rule lets it, evenly."""
    d = np.shape(x)[1]
    return jumok.attend(x=x, w_q=np.zeros((d, d)), w_k=np.zeros((d, d)), w_v=np.eye(d), **options)


REASONS = {
    "zero-mix": (uniform([[1.0, 0], [-1, 0]], rule="causal"), [[1.0, 0], [1, 0]], {}),
    "same-mix": (uniform([[1.0, 0], [0, 1]]), [[1.0, 0], [0, 1]], {}),
    "combined-mix": (
        uniform([[1.0, 0], [0, 1], [2, 2]], rule="causal"), [[1.0, 0], [0, 1], [0, 0]], {}
    ),
    "outside-w_o": (uniform(np.eye(2), rule="causal"), [[1.0, 1], [1, 1]], {"w_o": np.array([[1.0, 0], [0, 0]])}),
    "narrow-values": (uniform(np.eye(2), rule="causal"), [[1.0, 0], [0, 1]], {"w_o": "free", "d_value": 1}),
}  # fmt: skip


@pytest.mark.parametrize("kind", REASONS)
def test_one_fault_is_one_kind_of_reason(kind):
    record, wanted, options = REASONS[kind]
    found = design_values(record, wanted, **options)
    assert not found.exact
    assert {reason.kind for reason in found.reasons} == {kind}
    for reason in found.reasons:
        for lang in ("en", "ko"):
            assert reason.text(lang).endswith(".")
            assert "{" not in reason.text(lang)
            assert all(lift.text(lang) for lift in reason.lifts)
        assert any("HANGUL" in unicodedata.name(letter, "") for letter in reason.text("ko"))


def test_two_faults_are_two_reasons():
    record = uniform([[1.0, 0], [-1, 0], [0, 0], [0, 0]], rule="causal")
    found = design_values(record, [[1.0, 1], [1, 1], [NAN, NAN], [NAN, NAN]], w_o=np.array([[1.0, 0], [0, 0]]))
    assert {reason.kind for reason in found.reasons} == {"zero-mix", "outside-w_o"}


@pytest.mark.parametrize(
    ("wanted", "options", "kind", "phrase"),
    [
        ("all", {}, InputError, "expects a table of outputs"),
        (np.ones((3, 4)), {}, ShapeError, "(3, 4), but there are 5 tokens"),
        (np.ones((5, 0)), {}, ShapeError, "(5, 0)"),
        (np.full((5, 4), NAN), {}, InputError, "at least one row"),
        (np.where(np.eye(5, 4) > 0, NAN, 1.0), {}, InputError, "free is NaN as a whole"),
        (np.ones((5, 4)), {"w_o": np.ones((4, 3))}, ShapeError, "d_out=4"),
        (np.ones((5, 4)), {"w_o": "identity"}, InputError, "'identity'"),
        (np.ones((5, 4)), {"w_o": "free", "d_value": 0}, InputError, "got 0"),
        (np.ones((5, 4)), {"near": np.ones((3, 3))}, ShapeError, "near is (3, 3)"),
    ],
)
def test_what_cannot_be_designed_is_refused(wanted, options, kind, phrase):
    with pytest.raises(kind) as caught:
        design_values(trace(np.random.default_rng(3)), wanted, **options)
    assert phrase in caught.value.text("en")
    assert any("HANGUL" in unicodedata.name(letter, "") for letter in caught.value.text("ko"))


def test_a_record_without_embeddings_is_refused():
    record = jumok.attend(q=np.ones((1, 2, 2)), k=np.ones((1, 2, 2)), v=np.ones((1, 2, 2)))
    with pytest.raises(InputError, match="knows its embeddings"):
        design_values(record, np.ones((2, 2)))
    with pytest.raises(InputError, match="knows its embeddings"):
        design_values("student", np.ones((2, 2)))


def test_heads_side_by_side_share_the_output_evenly():
    with pytest.raises(ShapeError, match="multiple"):
        design_values(trace(np.random.default_rng(4), n_heads=2), np.ones((5, 3)))


def test_a_design_goes_on_to_its_values():
    made = jumok.design(np.eye(3), {0: {1: 0.7}, 1: {2: 0.6}, 2: {0: 0.5}})
    wanted = np.random.default_rng(5).standard_normal((3, 3))
    found = design_values(made, wanted)
    assert found.exact
    np.testing.assert_allclose(made.reached[0] @ np.eye(3) @ found.w_v, wanted, atol=1e-9)


def test_what_is_rounding_is_written_as_0():
    student = jumok.attend(jumok.load("student"))
    found = design_values(student, student.output)
    assert np.count_nonzero(found.w_v) == 4
    with pytest.raises(InputError, match=r"ValueDesign is matrices\. Attend with them") as caught:
        jumok.draw(found)
    assert "ValueDesign은 행렬입니다" in caught.value.ko
