"""Learners' code from file to verdict: NumPy and PyTorch, functions, classes and modules."""

import re
import textwrap

import numpy as np
import pytest

import jumok
from jumok.lessons.checker import checking
from jumok.lessons.checker.process import answers

from .conftest import TORCH

SOFTMAX = """
def softmax(scores, axis=-1):
    exps = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


"""

RIGHT = {
    "weights beside the output": "def attention(q, k, v):\n    w = softmax(q @ k.T / np.sqrt(k.shape[1]))\n    return w @ v, w\n",
    "weights first": "def attention(q, k, v):\n    w = softmax(q @ k.T / np.sqrt(k.shape[1]))\n    return w, w @ v\n",
    "einsum": """
        def attend(query, key, value):
            scores = np.einsum("...qd,...kd->...qk", query / np.sqrt(query.shape[-1]), key)
            return np.einsum("...qk,...kd->...qd", softmax(scores), value)
        """,
    "loops": """
        import math


        def attention(q, k, v):
            rows = []
            for query in q:
                scores = [sum(a * b for a, b in zip(query, key)) / math.sqrt(len(query)) for key in k]
                exps = [math.exp(score - max(scores)) for score in scores]
                rows.append([sum(e * x for e, x in zip(exps, column)) / sum(exps) for column in v.T])
            return np.array(rows)
        """,
    "a large negative number": """
        def attention(q, k, v, mask=None):
            scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
            return softmax(scores if mask is None else scores + (1 - mask) * -1e9) @ v
        """,
    "a mask that is added": """
        def attention(q, k, v, attn_bias):
            scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]) + attn_bias
            top = scores.max(axis=-1, keepdims=True)
            exps = np.exp(scores - np.where(np.isfinite(top), top, 0))
            return exps / (exps.sum(axis=-1, keepdims=True) + 1e-12) @ v
        """,
    "True hides": """
        def attention(q, k, v, mask):
            \"\"\"mask: True = hidden\"\"\"
            scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
            return softmax(np.where(mask, -1e9, scores)) @ v
        """,
    "lengths": """
        def attention(q, k, v, valid_lens):
            scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
            real = np.arange(k.shape[1])[None, :] < valid_lens[:, None]
            return softmax(np.where(real[:, None, :], scores, -1e9)) @ v
        """,
    "causal": """
        def self_attention(x, w_q, w_k, w_v):
            q, k, v = x @ w_q, x @ w_k, x @ w_v
            scores = q @ k.T / np.sqrt(q.shape[-1])
            scores[np.triu_indices(len(x), 1)] = -np.inf
            return softmax(scores) @ v
        """,
    "heads": """
        def multi_head(x, w_q, w_k, w_v, w_o, n_heads):
            def split(y):
                return y.reshape(len(x), n_heads, -1).transpose(1, 0, 2)

            q, k, v = split(x @ w_q), split(x @ w_k), split(x @ w_v)
            mixed = softmax(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])) @ v
            return mixed.transpose(1, 0, 2).reshape(len(x), -1) @ w_o
        """,
    "cross": """
        def cross_attention(x, context, Wq, Wk, Wv):
            q, k, v = x @ Wq, context @ Wk, context @ Wv
            return softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(k.shape[-1])) @ v
        """,
    "a class": """
        class SelfAttention:
            def __init__(self, d_model):
                rng = np.random.default_rng(0)
                self.W_q, self.W_k, self.W_v = (rng.normal(size=(d_model, d_model)) for _ in range(3))

            def __call__(self, x):
                q, k, v = x @ self.W_q, x @ self.W_k, x @ self.W_v
                return softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])) @ v
        """,
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_is_never_called_wrong(checked, name):
    code = RIGHT[name]
    code = textwrap.dedent(code).lstrip("\n")
    first = next(line for line in code.splitlines() if line.startswith(("def ", "class ")))
    verdict = checked(SOFTMAX + code, name=re.split(r"[ (:]", first)[1])
    assert verdict.is_right, verdict
    assert verdict.mistakes == ()


MASKED = """
def attention(q, k, v, mask):
    scores = q @ np.swapaxes(k, -1, -2) / {scale}
    scores = np.where({mask}, scores, {hidden})
    weights = {weights}
    return {returned}
"""
PLAIN = {
    "scale": "np.sqrt(q.shape[-1])",
    "mask": "mask",
    "hidden": "-1e9",
    "weights": "softmax(scores)",
    "returned": "weights @ v",
}

WRONG = {
    "no-scale": {"scale": "1"},
    "scale-by-dk": {"scale": "q.shape[-1]"},
    "softmax-axis": {"weights": "softmax(scores, -2)"},
    "softmax-twice": {"weights": "softmax(softmax(scores))"},
    "mask-inverted": {"mask": "~mask"},
    "mask-ignored": {"mask": "True"},
    "mask-finite": {"hidden": "-7.5"},
    "keys-as-values": {"returned": "weights @ k"},
    "weights-returned": {"returned": "weights"},
    "nan-row": {"hidden": "-np.inf"},
    "overflow": {"weights": "np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)"},
    "no-scale mask-inverted": {"scale": "1", "mask": "~mask"},
    "softmax-twice keys-as-values": {"weights": "softmax(softmax(scores))", "returned": "weights @ k"},
    "mask-finite weights-returned": {"hidden": "0", "returned": "weights"},
}


@pytest.mark.parametrize("ids", WRONG)
def test_a_mistake_is_named_with_its_line_and_example(checked, ids):
    verdict = checked(SOFTMAX + MASKED.format(**PLAIN | WRONG[ids]), name="attention")
    assert sorted(verdict.mistakes) == sorted(ids.split())
    assert verdict.one_of == ()
    example = verdict.example
    assert not np.allclose(example.got, example.expected) if example.got.shape == example.expected.shape else True
    np.testing.assert_allclose(example.trace.mixed[0], np.nan_to_num(example.expected), atol=1e-9)


def test_the_line_and_the_smallest_example(checked):
    verdict = checked(SOFTMAX + MASKED.format(**PLAIN | {"scale": "q.shape[-1]"}), name="attention")
    assert verdict.where == (11, "scores = q @ np.swapaxes(k, -1, -2) / q.shape[-1]")
    assert verdict.example.case == "tiny"
    assert verdict.form == "attention(q, k, v, mask)"


OTHERS = {
    "missing-transpose": ("def attention(q, k, v):\n    return softmax(q @ k / np.sqrt(q.shape[-1])) @ v\n", None),
    "q-k-swapped": ("def attention(q, k, v):\n    return softmax(k @ np.swapaxes(q, -1, -2) / np.sqrt(q.shape[-1])) @ v\n", None),
    "one-projection": (
        "def attention(x, w_q, w_k, w_v):\n    q, k, v = x @ w_q, x @ w_k, x @ w_k\n    return softmax(q @ k.T / np.sqrt(k.shape[1])) @ v\n", None),
    "keys-as-values": (
        "def attention(x, w_q, w_k, w_v):\n    q, k, v = x @ w_q, x @ w_k, x @ w_v\n    return softmax(q @ k.T / np.sqrt(k.shape[1])) @ k\n", None),
    "causal-off-by-one": (
        "def attention(q, k, v):\n    shown = np.tri(len(q), k=1)\n    return softmax(np.where(shown, q @ k.T / np.sqrt(q.shape[1]), -1e9)) @ v\n",
        "causal"),
    "wrong-triangle": (
        "def attention(q, k, v):\n    shown = np.triu(np.ones((len(q), len(k))))\n"
        "    return softmax(np.where(shown, q @ k.T / np.sqrt(q.shape[1]), -1e9)) @ v\n", "causal"),
    "padding-on-query": (
        "def attention(q, k, v, key_mask):\n    s = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])\n"
        "    return softmax(np.where(key_mask[:, :, None], s, -1e9)) @ v\n", None),
    "zeros-masked": (
        "def causal_attention(q, k, v):\n    s = np.tril(q @ k.T / np.sqrt(q.shape[1]))\n    return softmax(np.where(s == 0, -1e9, s)) @ v\n", None),
    "input-changed": ("def attention(q, k, v):\n    q /= np.sqrt(q.shape[-1])\n    return softmax(q @ k.T) @ v\n", None),
    "dropout-at-eval": (
        "def attention(q, k, v):\n    w = softmax(q @ k.T / np.sqrt(q.shape[1]))\n    return w * (np.random.rand(*w.shape) > 0.2) / 0.8 @ v\n", None),
    "scale-multiplied": ("def scale(scores, d_k):\n    return scores * np.sqrt(d_k)\n", "scale"),
    "softmax-missing": ("def my_softmax(scores):\n    return scores / scores.sum(axis=-1, keepdims=True)\n", "softmax"),
}  # fmt: skip


@pytest.mark.parametrize("id_", OTHERS)
def test_other_forms(checked, id_):
    code, kind = OTHERS[id_]
    verdict = checked(SOFTMAX + code, kind, name=code.split()[1].partition("(")[0])
    assert verdict.mistakes == (id_,), verdict


MODULE = """
class Attention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.1):
        super().__init__()
        self.n_heads, self.d_model = n_heads, d_model
        self.q_proj, self.k_proj, self.v_proj, self.out = (nn.Linear(d_model, d_model) for _ in range(4))
        self.dropout = nn.Dropout(dropout)

    def heads(self, y):
        return y.view(y.shape[0], y.shape[1], self.n_heads, -1).transpose(1, 2)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.q_proj(x)), self.heads(self.k_proj(x)), self.heads(self.v_proj(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt({width})
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        mixed = {dropout} @ v
        return self.out({joined})
"""
MODULES = {
    "": ("q.size(-1)", "self.dropout(scores.softmax(-1))", "mixed.transpose(1, 2).reshape(x.shape)"),
    "heads-reshaped scale-by-sqrt-dmodel": (
        "self.d_model",
        "self.dropout(scores.softmax(-1))",
        "mixed.reshape(x.shape)",
    ),
    "dropout-at-eval": ("q.size(-1)", "F.dropout(scores.softmax(-1), 0.3)", "mixed.transpose(1, 2).reshape(x.shape)"),
}


@pytest.mark.parametrize("ids", MODULES)
def test_a_module_of_pytorch(checked, ids):
    width, dropout, joined = MODULES[ids]
    verdict = checked(MODULE.format(width=width, dropout=dropout, joined=joined), head=TORCH)
    assert sorted(verdict.mistakes) == sorted(ids.split()), verdict
    assert verdict.is_right == (not ids)
    assert verdict.kind == "multihead"
    assert verdict.properties["gradients_flow"]


def test_the_mask_can_be_said_to_mean_the_opposite(checked):
    code = SOFTMAX + MASKED.format(**PLAIN | {"mask": "~mask"})
    assert checked(code, name="attention").mistakes == ("mask-inverted",)
    assert checked(code, name="attention", mask="hidden").is_right
    assert 'mask="hidden"' in checked(code, name="attention").text("ko", fix=True)


def test_functions_of_a_notebook_lambdas_and_closures():
    def made(power):
        def softmax(scores):
            exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
            return exps / exps.sum(axis=-1, keepdims=True)

        return lambda q, k, v: softmax(q @ np.swapaxes(k, -1, -2) * q.shape[-1] ** power) @ v

    assert jumok.check(made(-0.5)).is_right
    assert jumok.check(made(-1)).mistakes == ("scale-by-dk",)
    cell = {}
    exec("import numpy as np\ndef attention(q, k, v):\n    return q @ k.T / np.sqrt(k.shape[1]) @ v\n", cell)
    assert jumok.check(cell["attention"]).mistakes == ("softmax-missing",)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def f(a, b, c, d, e, g, h):\n    return a\n", "it is not clear how to call f(a, b, c, d, e, g, h)"),
        (
            "def one(q, k, v):\n    return q\n\n\ndef two(q, k, v):\n    return q\n",
            "which one of my.py? It defines: one, two",
        ),
        ("x = 3\n_y = 4\n\n\ndef _hidden(q):\n    return q\n\n\ny = x\n", "which one of my.py? It defines: x, y"),
        ("# nothing yet\n", "my.py defines no function. Write one, such as def attention"),
    ],
)
def test_what_cannot_be_told_is_asked_for(written, code, said):
    with pytest.raises(jumok.errors.InputError, match=r".") as raised:
        jumok.check(written(code))
    assert said in raised.value.en
    assert raised.value.ko != raised.value.en


@pytest.mark.parametrize("thing", [3, None, [1], "no/such/file.py"])
def test_what_is_no_function_is_refused(thing):
    with pytest.raises(jumok.errors.InputError, match=r"expects a function|cannot read"):
        jumok.check(thing)


def test_kinds_and_masks_are_known_words(written):
    with pytest.raises(jumok.errors.UnknownName, match="kind"):
        jumok.check(written("def attention(q, k, v):\n    return q\n"), "atention")
    with pytest.raises(jumok.errors.UnknownName, match="mask"):
        jumok.check(written("def attention(q, k, v):\n    return q\n"), mask="shown")


WRITTEN_TWICE = """
def attention2(q, k, v):
    return softmax(q @ k.T / q.shape[1]) @ v


def attention(q, k, v):
    return softmax(q @ k.T / np.sqrt(q.shape[1])) @ v


def attention3(q, k, v):
    return softmax(q @ k.T) @ v
"""


def test_of_several_the_one_named_like_the_kind_is_judged_and_named(checked):
    verdict = checked(SOFTMAX + WRITTEN_TWICE)
    assert verdict.is_right
    assert verdict.text("ko").startswith("attention: 맞습니다")
    assert checked(SOFTMAX + WRITTEN_TWICE, "softmax").judged == "softmax"
    assert checked(SOFTMAX + WRITTEN_TWICE.replace("attention(", "attention_1("), name="").judged == "attention3"
    assert checked(SOFTMAX + WRITTEN_TWICE, name="attention2").judged == ""


def test_the_example_of_a_part_shows_what_was_given_to_it(checked):
    text = checked("def softmax(scores):\n    return np.exp(scores)\n").text()
    assert "  scores: (" in text
    assert "  q: (" not in text
    assert "  k: (" not in text
    two = checked("def scores(q, k):\n    return q @ k.T\n", "scale")
    assert [name for name, _ in two.example.given] == ["q", "k"]


def test_a_file_without_a_function(checked):
    verdict = checked("x = 3\n")
    assert (verdict.status, verdict.failure.kind) == ("unknown", "uncallable")
    assert "x (int) cannot be called" in verdict.text()


RAISES = {
    "a name": ("    return softmaks(q @ k.T) @ v\n", "name"),
    "the end of Python": ("    raise SystemExit\n", "exit"),
    "a file": ("    open('/no/such/folder')\n", "other"),
    "nothing comes back": ("    q @ k.T\n", "none"),
    "what a module does not have": ("    return np.softmax(q @ k.T) @ v\n", "other"),
    "a key": ("    return {}['q'] @ v\n", "other"),
    "an assertion": ("    assert len(q) == 100\n    return v\n", "other"),
}


@pytest.mark.parametrize("name", RAISES)
def test_what_raises_however_it_is_called_is_run_in_one_process(checked, processes, name):
    body, kind = RAISES[name]
    assert checked(f"def attention(q, k, v):\n{body}").failure.kind == kind
    assert processes == ["numpy"]


def test_what_only_arrays_of_another_library_can_do_is_tried_with_them(checked, processes):
    code = "def attention(q, k, v):\n    return (q @ k.T / q.shape[-1] ** 0.5).softmax(-1) @ v\n"
    assert checked(code).is_right
    assert processes == ["numpy", "torch"]


@pytest.fixture
def processes(monkeypatch):
    """The library of each process that is started."""
    asked = []

    def counted(reached, request, limits):
        asked.append(request["library"])
        return answers(reached, request, limits)

    monkeypatch.setattr(checking, "answers", counted)
    return asked
