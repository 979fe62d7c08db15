"""Every exercise of the course: its stub, and its solution with one thing wrong, are named."""

import pytest

import jumok
from jumok.lessons import packaged

ROWS = "(axis=-1, keepdims=True)"
STATES = {  # exercise -> (what stands in the solution, what stands there instead, what that is called)
    "scaled-scores": [(" / np.sqrt(d_k)", "", "no-scale"), ("np.sqrt(d_k)", "d_k", "scale-by-dk")],
    "softmax": [
        (f"sum{ROWS}", "sum()", "softmax-axis"),
        ("scores - largest", "scores", "overflow"),
        (f"max{ROWS}", "max()", "overflow"),
    ],
    "attention": [
        (" / np.sqrt(q.shape[-1])", "", "no-scale"),
        (f"powers / powers.sum{ROWS}", "scores", "softmax-missing"),
        (f"powers.sum{ROWS}", "powers.sum()", "softmax-axis"),
        (f" - scores.max{ROWS}", "", "overflow"),
        ("return weights @ v", "return weights", "weights-returned"),
    ],
    "multihead": [
        ("reshape(n, n_heads, d_head).transpose(1, 0, 2)", "reshape(n_heads, n, d_head)", "heads-reshaped"),
        ("np.sqrt(d_head)", "np.sqrt(d_model)", "scale-by-sqrt-dmodel"),
        ("(weights @ v).transpose(1, 0, 2)", "(weights @ v)", "heads-reshaped"),
    ],
    "causal": [
        ("np.where(future, -np.inf, scores)", "scores", "mask-ignored"),
        ("-np.inf, scores", "0, scores", "mask-finite"),
        ("k=1", "k=0", "causal-off-by-one"),
    ],
}
STUBS = {
    "scaled-scores": ("no-scale",),
    "softmax": ("softmax-axis", "overflow"),
    "attention": (),  # every step is still to be written
    "multihead": ("heads-ignored",),
    "causal": ("mask-ignored",),
}
EXERCISES = {
    block.id: block for number in packaged.names() for block in jumok.lesson(number).blocks if block.kind == "exercise"
}


def test_every_exercise_is_here():
    assert {*STATES} == {*STUBS} == {*EXERCISES}


@pytest.mark.parametrize(
    ("exercise", "right", "wrong", "id_"), [(name, *state) for name, states in STATES.items() for state in states]
)
def test_one_thing_wrong_is_named(checked, exercise, right, wrong, id_):
    block = EXERCISES[exercise]
    assert block.solution.count(right) == 1
    verdict = checked(block.solution.replace(right, wrong), block.checks, head="")
    assert verdict.mistakes == (id_,), verdict


@pytest.mark.parametrize("exercise", STUBS)
def test_the_stub_is_named(checked, exercise):
    block = EXERCISES[exercise]
    verdict = checked(block.stub, block.checks, head="")
    assert (verdict.status == "mistake", verdict.mistakes) == (bool(STUBS[exercise]), STUBS[exercise]), verdict
    assert verdict.seen == ((("given-back", "v"),) if exercise == "attention" else ())
