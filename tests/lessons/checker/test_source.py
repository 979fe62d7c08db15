"""The line to look at: only where it is certain, and never the call of a function of the same file."""

import textwrap

import pytest

from jumok.lessons.checker.source import Source

AXES = {
    "the sum, not e to the power": ("powers = np.exp(scores)\nreturn powers / powers.sum()", "all", 3),
    "a sum over columns": ("e = np.exp(s - s.max(-1))\nreturn e / e.sum(axis=0)", "queries", 3),
    "Python's own sum": ("e = np.exp(s)\nreturn e / sum(e)", "queries", 3),
    "the library's softmax": ("s = q @ k.T\nreturn torch.softmax(s, dim=1)", "queries", 3),
    "a sum of rows beside it": ("t = s.sum(-1)\nreturn scipy.special.softmax(s, axis=0)", "queries", 3),
    "two sums": ("e = np.exp(s)\nt = e.sum(axis=0)\nreturn e / t + v.sum(axis=0)", "queries", None),
    "a maximum over columns": ("m = s.max(axis=0)\ne = np.exp(s - m)\nreturn e / e.sum(-1)", "top", 2),
    "all over rows": ("e = np.exp(s)\nreturn e / e.sum(axis=-1)", "queries", None),
}


def function(body):
    return f"def attention(q, k, v, s):\n{textwrap.indent(body, '    ')}\n"


@pytest.mark.parametrize("name", AXES)
def test_the_line_of_a_softmax_over_the_wrong_axis(name):
    body, detail, line = AXES[name]
    found = Source(function(body), "attention").line("softmax-axis", detail)
    assert (found and found[0]) == line


HELPER = """
def softmax(x, axis={default}):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def attention(q, k, v):
    return softmax({arguments}) @ v
"""


@pytest.mark.parametrize(
    ("default", "arguments", "line"),
    [("0", "q @ k.T", 2), ("-1", "q @ k.T, 0", 8), ("-1", "q @ k.T, axis=0", 8), ("-1", "q @ k.T", None)],
)
def test_the_axis_of_a_helper_is_where_it_is_written(default, arguments, line):
    text = HELPER.format(default=default, arguments=arguments)
    found = Source(text, "attention").line("softmax-axis", "queries")
    assert (found and found[0]) == line


def test_a_causal_comparison_and_not_the_numbers_that_it_compares():
    body = "i = np.arange(len(q))\ns = np.where(i[None, :] > i[:, None] + 1, -np.inf, s)\nreturn s if len(q) > 0 else q"
    assert Source(function(body), "attention").line("causal-off-by-one")[0] == 3
