"""Which parameter stands for what is told from its name; what a mask's True means from its name and documentation."""

import pytest

from jumok.lessons.checker.layouts import Parameter, convention, layouts, role_of, weight_role


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("q", "q"), ("Q", "q"), ("query", "q"), ("keys", "k"), ("V", "v"), ("x", "x"), ("X", "x"), ("hidden_states", "x"),
        ("context", "context"), ("encoder_output", "context"), ("memory", "context"),
        ("w_q", "w_q"), ("W_Q", "w_q"), ("Wq", "w_q"), ("wK", "w_k"), ("W_value", "w_v"), ("q_proj", "w_q"), ("W_o", "w_o"),
        ("b_q", "b_q"), ("q_bias", "b_q"), ("mask", "mask"), ("attn_mask", "mask"), ("key_padding_mask", "mask"),
        ("n_heads", "n_heads"), ("num_heads", "n_heads"), ("h", "n_heads"), ("d_k", "d_head"), ("head_dim", "d_head"),
        ("embed_dim", "d_model"), ("context_dim", "d_context"), ("d_model", "d_model"), ("dropout_p", "zero"), ("training", "false"), ("is_causal", "causal"),
        ("valid_lens", "lengths"), ("temperature", "one"), ("qkv_proj", "w_qkv"), ("something", ""),
    ],
)  # fmt: skip
def test_a_name_says_what_it_stands_for(name, role):
    assert role_of(name) == role


@pytest.mark.parametrize("name", ["to_q", "q_linear", "query_proj", "fc_q"])
def test_a_layer_of_a_module_says_what_it_makes(name):
    assert weight_role(name) == "w_q"


@pytest.mark.parametrize(
    ("name", "doc", "meaning"),
    [
        ("mask", "", "allowed"),
        ("hidden", "", "hidden"),
        ("padding_mask", "", "either"),
        ("mask", "mask: True where the query may read the key", "allowed"),
        ("mask", "True = hidden", "hidden"),
        ("mask", "boolean, True means the position is masked out, False means keep", "hidden"),
        ("mask", "1 to keep, 0 to ignore", "allowed"),
        ("mask", "True이면 볼 수 있음", "allowed"),
        ("mask", "True는 가림", "hidden"),
    ],
)
def test_what_true_means(name, doc, meaning):
    assert convention(name, doc) == meaning
    assert convention(name, doc, "hidden") == "hidden"


def asked(*names, kind=None, name="attention", doc=""):
    return layouts([Parameter(one.rstrip("?"), not one.endswith("?")) for one in names], name, kind, doc)


def test_forms():
    assert {one.form for one in asked("q", "k", "v")} == {"raw"}
    assert {one.sources for one in asked("x", "w_q", "w_k", "w_v")} == {"self"}
    assert {one.sources for one in asked("x", "context", "w_q", "w_k", "w_v")} == {"cross"}
    assert {one.form for one in asked("scores", name="softmax")} == {"softmax"}
    assert {one.form for one in asked("scores", "d_k", name="scale")} == {"scale"}
    assert all(one.split for one in asked("x", "w_q", "w_k", "w_v", "w_o", "n_heads"))
    assert asked("banana", "apple") != asked("q", "k", "v")
    assert asked("banana", "apple", "pear")[0].roles == {"q", "k", "v"}
    assert asked("a", "b", "c", "d", "e", "f", "g") == []


def test_the_axes_that_a_documentation_names():
    assert {one.rank for one in asked("q", "k", "v", doc="q: (batch, n, d)")} == {3}
    assert {one.rank for one in asked("q", "k", "v", doc="q: (n, d), k: (m, d)")} == {2}
    assert {one.rank for one in asked("q", "k", "v")} == {2, 3, 4}


@pytest.mark.parametrize(
    "doc",
    [
        "mask: (n, m), True = may be read",
        "Attention(Q, K, V) = softmax(Q K^T) V",
        "attention(q, k, v)",
        "mask (batch, keys) bool; (n, m) in the paper",
    ],
)
def test_shapes_of_a_mask_and_calls_are_not_shapes_of_the_inputs(doc):
    assert {one.rank for one in asked("q", "k", "v", "mask", doc=doc)} == {2, 3, 4}
    assert {one.rank for one in asked("q", "k", "v", "mask", doc=f"q: (batch, n, d)\n{doc}")} == {3}


def test_a_flag_is_tried_both_ways_and_beside_a_mask_also_without_it():
    both = asked("q", "k", "v", "mask?", "is_causal?")
    assert {(one.causal, "mask" in one.roles) for one in both} == {(False, True), (True, True), (True, False)}
    needed = asked("q", "k", "v", "mask", "is_causal?")
    assert {(one.causal, "mask" in one.roles) for one in needed} == {(False, True), (True, True)}


def test_a_function_called_causal_hides_the_future_itself():
    assert {one.causal for one in asked("q", "k", "v", name="causal_attention")} == {True}
    assert {one.causal for one in asked("q", "k", "v")} == {False, True}
    assert {one.causal for one in asked("q", "k", "v", kind="attention")} == {False}
