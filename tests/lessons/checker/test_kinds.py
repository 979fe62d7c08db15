"""Kinds of code that were once judged wrongly, each in forms that are in no bank: flags, widths as defaults, documentation."""

import re
import textwrap

import pytest

from .conftest import TORCH
from .test_checking import SOFTMAX

NUMPY = {
    "a flag that is off by default": (
        """
        def attention(q, k, v, is_causal=False):
            s = q @ k.T / np.sqrt(k.shape[1])
            if is_causal:
                s = np.where(np.triu(np.ones_like(s)) > 0, s, -1e9)
            return softmax(s) @ v
        """,
        ["wrong-triangle"],
    ),
    "a flag, and another mistake that shows without it": (
        """
        def attention(q, k, v, causal=True):
            s = q @ np.swapaxes(k, -1, -2)
            if causal:
                s = np.where(np.tri(s.shape[-2], s.shape[-1], 1, dtype=bool), s, -1e9)
            return softmax(s) @ v
        """,
        ["causal-off-by-one", "no-scale"],
    ),
    "a flag beside a mask": (
        """
        def attention(q, k, v, mask=None, causal=False):
            s = q @ np.swapaxes(k, -1, -2) / np.sqrt(k.shape[-1])
            if causal:
                s = np.where(np.tri(s.shape[-2], s.shape[-1], dtype=bool), s, -1e9)
            return softmax(s if mask is None else np.where(mask, s, -1e9)) @ v
        """,
        [],
    ),
    "the shape of a padding mask is not the shape of q": (
        '''
        def attention(q, k, v, pad_mask):
            """pad_mask: (batch, keys), True = padding"""
            s = q @ k.transpose(0, 2, 1) / np.sqrt(k.shape[-1])
            return softmax(np.where(pad_mask[:, None], -1e9, s)) @ v
        ''',
        [],
    ),
    "a class whose heads must divide its width": (
        """
        class MultiHead:
            def __init__(self, d_model=10, n_heads=5):
                assert d_model % n_heads == 0
                self.n_heads = n_heads
                self.w_q, self.w_k, self.w_v, self.w_o = np.random.randn(4, d_model, d_model)

            def __call__(self, x):
                n = len(x)
                q, k, v = ((x @ w).reshape(n, self.n_heads, -1).transpose(1, 0, 2) for w in (self.w_q, self.w_k, self.w_v))
                w = softmax(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]))
                return (w @ v).transpose(1, 0, 2).reshape(n, -1) @ self.w_o
        """,
        [],
    ),
    "a class whose heads are fixed": (
        """
        class Attention:
            def __init__(self, d_model=8):
                self.h = 2
                self.w_q, self.w_k, self.w_v = np.random.randn(3, d_model, d_model)

            def __call__(self, x):
                q, k, v = ((x @ w).reshape(len(x), 2, 4).transpose(1, 0, 2) for w in (self.w_q, self.w_k, self.w_v))
                w = softmax(q @ k.transpose(0, 2, 1) / 2)
                return (w @ v).transpose(1, 0, 2).reshape(len(x), 8)
        """,
        [],
    ),
    "keys for values, in a dictionary": (
        """
        def attention(q, k, v):
            w = softmax(q @ k.T / np.sqrt(k.shape[1]))
            return {"out": w @ k, "weights": w}
        """,
        ["keys-as-values"],
    ),
    "weights first, softmax twice": (
        """
        def attention(q, k, v):
            w = softmax(q @ k.T / k.shape[1])
            return w, softmax(w) @ v
        """,
        ["scale-by-dk", "softmax-twice"],
    ),
    "weights beside the scores": (
        """
        def attention(q, k, v):
            s = q @ k.T / np.sqrt(k.shape[1])
            out = softmax(s) @ v
            return softmax(s), s
        """,
        ["weights-returned"],
    ),
    "only the weights, the formula in a comment": (
        """
        def attention(Q, K, V):
            # softmax(Q K^T / sqrt(d)) V = Attention(Q, K, V)
            w = softmax(Q @ K.T / np.sqrt(Q.shape[1]), axis=1)
            w @ V
            return w
        """,
        ["weights-returned"],
    ),
    "only the weights, unscaled": (
        '''
        def scaled_dot_product_attention(query, key, value):
            """attention(query, key, value)"""
            w = softmax(np.dot(query, key.T))
            out = np.dot(w, value)
            return w
        ''',
        ["no-scale", "weights-returned"],
    ),
    "no transpose, np.dot": (
        "def attention(q, k, v):\n    return np.dot(softmax(np.dot(q, k) / np.sqrt(k.shape[1]), axis=1), v)\n",
        ["missing-transpose"],
    ),
    "no transpose, unscaled": (
        "def attention(q, k, v):\n    w = np.exp(q @ k - (q @ k).max(axis=1, keepdims=True))\n    return w / w.sum(axis=1, keepdims=True) @ v\n",
        ["missing-transpose", "no-scale"],
    ),
    "two axes by swapaxes, the axis of a batch forgotten": (
        "def attention(q, k, v):\n    return softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(k.shape[-1]), axis=1) @ v\n",
        ["softmax-axis"],
    ),
    "the logarithm of the softmax": (
        """
        def attention(q, k, v):
            s = q @ k.T / np.sqrt(k.shape[1])
            s = s - s.max(axis=1, keepdims=True)
            return (s - np.log(np.exp(s).sum(axis=1, keepdims=True))) @ v
        """,
        ["softmax-missing"],
    ),
    "np.reshape for a transpose": (
        """
        def attention(q, k, v):
            n, d = k.shape
            return softmax(q @ np.reshape(k, (d, n)) / np.sqrt(d)) @ v
        """,
        ["missing-transpose"],
    ),
    "a mask the other way round, with -infinity": (
        """
        def attention(q, k, v, mask):
            s = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
            return softmax(np.where(mask, -np.inf, s)) @ v
        """,
        ["mask-inverted", "nan-row"],
    ),
    "a mask the other way round, with a large number": (
        """
        def attention(q, k, v, mask):
            s = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
            return softmax(s - 1e9 * mask) @ v
        """,
        ["mask-inverted"],
    ),
    "one matrix, and the axis is written": (
        """
        def attention(x, w_q, w_k, w_v):
            q, k, v = x @ w_k, x @ w_k, x @ w_v
            e = np.exp(q @ k.T / np.sqrt(k.shape[1]))
            e = e / e.sum(0)
            return e @ v
        """,
        ["one-projection", "overflow", "softmax-axis"],
    ),
    "one matrix, and the weights are transposed": (
        """
        def attention(x, w_q, w_k, w_v):
            q, k, v = x @ w_q, x @ w_q, x @ w_v
            return softmax(q @ k.T / np.sqrt(k.shape[1]), axis=-1).T @ v
        """,
        ["one-projection", "q-k-swapped"],
    ),
}


TORCH_CODE = {
    "a flag of forward": (
        """
        class Attention(nn.Module):
            def __init__(self, dim=8):
                super().__init__()
                self.q, self.k, self.v = (nn.Linear(dim, dim) for _ in range(3))

            def forward(self, x, causal=True):
                q, k, v = self.q(x), self.k(x), self.v(x)
                s = q @ k.mT / math.sqrt(k.size(-1))
                if causal:
                    s = s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(), -1e9)
                return s.softmax(-1) @ v
        """,
        ["causal-off-by-one"],
    ),
    "a flag or a mask, not both": (
        """
        def attention(q, k, v, mask=None, is_causal=False):
            return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=is_causal)
        """,
        [],
    ),
    "padding and heads, the mask unused": (
        '''
        class Attention(nn.Module):
            """src_key_padding_mask: (N, S), True = ignored"""

            def __init__(self, embed_dim=6, num_heads=3):
                super().__init__()
                self.num_heads = num_heads
                self.in_proj = nn.Linear(embed_dim, 3 * embed_dim)
                self.out_proj = nn.Linear(embed_dim, embed_dim)

            def forward(self, x, src_key_padding_mask=None):
                N, S, E = x.shape
                q, k, v = (y.view(N, S, self.num_heads, -1).transpose(1, 2) for y in self.in_proj(x).chunk(3, -1))
                s = q @ k.mT / math.sqrt(q.size(-1))
                if src_key_padding_mask is not None:
                    s.masked_fill(src_key_padding_mask[:, None, None], -1e9)
                return self.out_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(N, S, E))
        ''',
        ["mask-ignored"],
    ),
    "a head of its own width, from a context of another width": (
        """
        class CrossAttention(nn.Module):
            def __init__(self, dim=9, ctx_dim=7, heads=3, dim_head=5):
                super().__init__()
                self.heads = heads
                self.to_q = nn.Linear(dim, heads * dim_head, bias=False)
                self.to_kv = nn.Linear(ctx_dim, 2 * heads * dim_head, bias=False)
                self.to_out = nn.Linear(heads * dim_head, dim)

            def forward(self, x, context):
                split = lambda y: y.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                q, (k, v) = split(self.to_q(x)), map(split, self.to_kv(context).chunk(2, -1))
                w = (q @ k.mT / q.size(-1)).softmax(-1)
                return self.to_out((w @ v).transpose(1, 2).flatten(2))
        """,
        ["scale-by-dk"],
    ),
    "view for a transpose": (
        """
        def attention(q, k, v):
            b, n, d = k.size()
            return F.softmax(q.bmm(k.view(b, d, n)) * d ** -0.5, dim=2).bmm(v)
        """,
        ["missing-transpose"],
    ),
    "the logarithm, unscaled": (
        "def attention(q, k, v):\n    return torch.log_softmax(q @ k.mT, -1) @ v\n",
        ["no-scale", "softmax-missing"],
    ),
    "no transpose in two axes": (
        "def attention(q, k, v):\n    return F.softmax(q @ k / q.shape[1] ** 0.5, dim=1) @ v\n",
        ["missing-transpose"],
    ),
}


def name_in(code):
    return re.search(r"^(?:def|class) (\w+)", code, re.MULTILINE)[1]


@pytest.mark.parametrize("name", NUMPY)
def test_numpy(checked, name):
    code, ids = textwrap.dedent(NUMPY[name][0]).lstrip("\n"), NUMPY[name][1]
    verdict = checked(SOFTMAX + code, name=name_in(code))
    assert (sorted(verdict.mistakes), verdict.one_of, verdict.is_right) == (ids, (), not ids), verdict


@pytest.mark.parametrize("name", TORCH_CODE)
def test_torch(checked, name):
    code, ids = textwrap.dedent(TORCH_CODE[name][0]).lstrip("\n"), TORCH_CODE[name][1]
    verdict = checked(code, head=TORCH, name=name_in(code))
    assert (sorted(verdict.mistakes), verdict.one_of, verdict.is_right) == (ids, (), not ids), verdict


@pytest.mark.parametrize(
    ("scores", "is_said"),
    [
        ("(q / root) @ (k / root).T", True),
        ("(q * root ** -1) @ (k.T / root)", True),
        ("q @ k.T / root ** 2", False),
    ],
)
def test_a_scale_that_is_put_into_q_and_k_is_said(checked, scores, is_said):
    code = f"def attention(q, k, v):\n    root = q.shape[1] ** 0.25\n    return softmax({scores}) @ v\n"
    verdict = checked(SOFTMAX + code, name="attention")
    assert verdict.is_right
    assert (("folded", "") in verdict.differently) == is_said


def test_of_a_class_that_needs_a_batch_the_call_with_a_batch_is_shown(checked):
    code = '''
        class Attention:
            """padding_mask: (batch, tokens)"""

            def __init__(self, d_model=6, n_heads=2):
                self.n_heads = n_heads
                self.w_q, self.w_k, self.w_v = np.random.randn(3, d_model, d_model)

            def __call__(self, x, padding_mask=None):
                b, n, d = x.shape
                q, k, v = ((x @ w).reshape(b, n, self.n_heads, -1) for w in (self.w_q, self.w_k, self.w_v))
                s = q.reshape(b, n, d, 1, 1) + np.zeros((b, n, 77))
                return s @ v
        '''
    failure = checked(code).failure
    assert failure.kind == "shapes-elsewhere"
    assert len(dict(failure.shapes)["x"]) == 3
    assert failure.lines[-1][2].startswith("s = q.reshape")
    assert "transpose" not in failure.explained("en")
