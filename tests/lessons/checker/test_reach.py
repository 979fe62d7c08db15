"""How a function reaches the child process, wherever it was written."""

import subprocess
import sys
import textwrap

import pytest

CELLS = {
    "a function": """
        def attention(q, k, v):
            scores = q @ np.swapaxes(k, -1, -2)
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            return weights / weights.sum(-1, keepdims=True) @ v
        thing = attention
    """,
    "a class": """
        class Attention:
            def __init__(self, d_model=4, d_k=4):
                self.w_q, self.w_k, self.w_v = (np.eye(d_model, d_k) for _ in range(3))
            def __call__(self, x):
                q, k, v = x @ self.w_q, x @ self.w_k, x @ self.w_v
                scores = q @ np.swapaxes(k, -1, -2)
                weights = np.exp(scores - scores.max(-1, keepdims=True))
                return weights / weights.sum(-1, keepdims=True) @ v
        thing = Attention
    """,
    "a function of a function": """
        def softmax(scores):
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            return weights / weights.sum(-1, keepdims=True)
        def attention(q, k, v):
            return softmax(q @ np.swapaxes(k, -1, -2)) @ v
        thing = attention
    """,
}


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
def test_what_was_written_at_a_prompt_is_judged(cell):
    code = "import jumok\nimport numpy as np\n" + textwrap.dedent(cell) + "print(jumok.check(thing).mistakes)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "('no-scale',)\n", done.stderr
