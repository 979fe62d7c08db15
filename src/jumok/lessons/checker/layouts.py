"""How a learner's function is called: which parameter stands for what, and in which shapes the arrays come.

It is told from the names of the parameters first; where a name says nothing, the usual orders are tried.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

__all__ = ["KINDS", "MASKS", "Layout", "Parameter", "convention", "layouts", "role_of", "weight_role"]

KINDS = ("attention", "causal", "multihead", "cross", "softmax", "scale")
MASKS = ("allowed", "hidden")  # what the mask's True can mean


@dataclass(frozen=True)
class Parameter:
    """One parameter of the learner's function, as ``inspect`` tells it."""

    name: str
    required: bool
    keyword: bool = False  # only by its name


@dataclass(frozen=True)
class Layout:
    """One way of calling it; plain values, so that it crosses to the child and back as JSON.

    form : "raw" (q, k, v), "projected" (x and matrices), "module" (its own matrices), "softmax", "scale" or "scale-qk"
    arguments : (parameter, role, by keyword) each
    rank : 2, 3 (a batch), 4 (a batch and heads)
    sources : "self" (x), "cross" (x, context) or "three"
    mask : "", "table", "batch", "heads", "keys" or "lengths": its shape;  mask_kind : bool, int, float or added
    hidden : True where the mask's True means hidden
    causal : True where the function hides the future itself
    turned : True where matrices come as (d_out, d_in), as nn.Linear keeps them
    """

    form: str
    arguments: tuple[tuple[str, str, bool], ...]
    rank: int
    sources: str = "three"
    mask: str = ""
    mask_kind: str = "bool"
    hidden: bool = False
    causal: bool = False
    turned: bool = False
    split: bool = False

    @property
    def roles(self) -> set[str]:
        """What the arguments stand for."""
        return {role for _, role, _ in self.arguments}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Layout:
        """From what ``dataclasses.asdict`` gave."""
        return cls(**{**plain, "arguments": tuple((a, b, bool(c)) for a, b, c in plain["arguments"])})


# names ------------------------------------------------------------------------------------------

_WORDS: dict[str, str] = {
    "q": r"q|qs|xq|query|queries|q_mat|q_matrix|query_vectors?|q_in|input_q|q_input|decoder_(states?|hidden|input)",
    "k": r"k|ks|xk|key|keys|k_mat|k_matrix|key_vectors?|k_in|input_k|k_input",
    "v": r"v|vs|xv|val|vals|value|values|v_mat|v_matrix|value_vectors?|v_in|input_v|v_input",
    "x": r"x|xs|inp|inputs?|embs?|embeds?|embeddings?|hidden_states?|h_in|tokens?|seq|sequence|src|tgt|data|feats?|features",
    "context": r"context|ctx|memory|mem|enc|enc_out(put)?s?|encoder_(out(put)?s?|hidden_states?|states?)|y|z|cond|kv|source|"
    r"other|x_?kv|x_context|x_?2|cross|encoded|key_value_states|kv_input",
    "mask": r".*mask.*|allowed|visible|may_read|can_(see|read|attend)|hidden|masked|blocked|forbidden|ignored?|is_pad(ding)?|"
    r"pad(ding|ded)?|keep|valid|allow|bias|attn_bias|is_real|real",
    "lengths": r"(valid_)?len(gth)?s|seq_len(gth)?s|n_valid|n_real",
    "n_heads": r"n_?heads?|num_?heads?|heads|h|nh|nhead|head_count|number_of_heads|num_attention_heads",
    "d_head": r"d_?k|d_?head|head_(dim|size)|dim_head|d_?h|key_dim|dim_k|d_key|d_attn|d",
    "d_value": r"d_?v|dim_v|d_value|value_dim|v_dim",
    "d_model": r"d_?model|d_?in|embed(ding)?_(dim|size)|emb(_(dim|size))?|n_embd|n_embed|dim(_in)?|hidden_(size|dim)|d_emb(ed)?|"
    r"input_dim|in_(dim|features)|model_dim|c|channels|embed|size|d_x|features",
    "d_out": r"d_out|out_(dim|features)|output_dim|dim_out",
    "d_context": r"(context|ctx|cross(_attn|_attention)?|cond|enc(oder)?|kv|mem(ory)?)_?(dim|width|channels|features|d_model)"
    r"|(d|dim)_(context|ctx|cross|cond|enc(oder)?|kv|mem(ory)?)",
    "n_tokens": r"block_size|context_(length|size|len)|max_(len|length|seq_len|seq_length|tokens|positions|context)|seq_len(gth)?|ctx_len|n_ctx|max_seq_len|"
    r"n_tokens|context_window|window_size|t|n|size_max",
    "causal": r"(is_)?causal|use_causal_mask|autoregressive|is_decoder|decoder",
    "false": r"(is_)?training|train(ing_mode)?|is_train|return_(weights?|attn|attention|attn_weights|probs)_only|inplace",
    "true": r"deterministic|eval(_mode)?|inference|(is_)?batch_first",
    "zero": r"(attn_|attention_|att_)?(dropout|drop|p_drop|dropout_p|p_dropout|drop_p|drop_prob|drop_rate|dropout_rate|pdrop)(_rate|_prob|_p)?|p",
    "one": r"temperature|temp|tau",
    "axis": r"axis|dim",
    "rng": r"rng|generator|random_state|seed|rng_key",
    "w_qkv": r"(w_?|c_)?(qkv|in_proj|attn)(_?(w|weight|proj|mat))?|w_in",
}  # fmt: skip
_ORDER = (
    "lengths", "mask", "n_heads", "causal", "zero", "false", "true", "one", "axis", "rng",
    "w_qkv", "q", "k", "v", "x", "context", "d_head", "d_value", "d_context", "d_model", "d_out", "n_tokens",
)  # fmt: skip
_SCORES = r"s|x|z|a|scores?|logits?|(raw_|attn_|attention_)?(scores?|logits)|table|row|e|att|attn|arr|array|matrix|m|t|inputs?"
_WHO = {
    "q": r"q|query|queries",
    "k": r"k|key|keys",
    "v": r"v|val|value|values",
    "o": r"o|out|output|mix|final|outputs|unify|0",
}


@cache
def weight_role(name: str) -> str:
    """What a matrix or a bias of this name makes: w_q … w_o, b_q … b_o, or "" where the name does not say."""
    plain = re.sub(r"([a-z])([A-Z])", r"\1_\2", name)
    bits = [bit for bit in re.split(r"[_.\W]+", plain.lower()) if bit]
    glued = re.fullmatch(r"([wb])([qkvo])|([qkvo])([wb])|([wb])(query|key|value|out)", "".join(bits))
    if glued:
        kind, who = glued[1] or glued[4] or glued[5], glued[2] or glued[3] or glued[6]
        return f"{kind}_{who[0]}"
    for who, words in _WHO.items():
        found = [bit for bit in bits if re.fullmatch(words, bit)]
        rest = [bit for bit in bits if bit not in found]
        of_weight = [
            bit
            for bit in rest
            if re.fullmatch(r"w|weights?|wt|mat|matrix|proj(ection)?|kernel|lin(ear)?|layer|fc|to|c", bit)
        ]
        of_bias = [bit for bit in rest if re.fullmatch(r"b|bias", bit)]
        if found and of_bias:
            return f"b_{who}"
        if found and of_weight and len(of_weight) == len(rest):
            return f"w_{who}"
    return ""


@cache
def role_of(name: str) -> str:
    """What a parameter of this name stands for, or "" where the name does not say."""
    plain = name.strip("_")
    role = weight_role(plain)
    if role:
        return role
    lowered = re.sub(r"([a-z])([A-Z])", r"\1_\2", plain).lower()
    return next((one for one in _ORDER if re.fullmatch(_WORDS[one], lowered)), "")


_HIDES = (
    r"hid(e|den|es)\b|mask(ed)?[ -]*out|masked\b(?!_)|ignored?\b|block(ed)?\b|padd(ed|ing)"
    r"|forbidden|not (be )?(read|seen|allowed|visible)|가리|가림|숨|못 보|볼 수 없|무시|패딩"
)
_SHOWS = (
    r"allow(ed)?\b|may (be )?(read|see|attend|look)|can (be )?(read|see|seen|attend)"
    r"|keep|kept|visible|real\b|valid\b|attend|participate|볼 수 있|보이|허용|참고할 수|진짜|실제"
)
_TRUE = r"(?:\btrue|\b1s?|\bones?|\bnonzero|참)(?=\W|은|는|이|인|일|=)"


def convention(name: str, doc: str, asked: str | None = None) -> str:
    """What a mask's True means: "allowed", "hidden", or "either" where the name may mean both.

    >>> convention("mask", ""), convention("hidden", ""), convention("m", "mask: True where the key is padding")
    ('allowed', 'hidden', 'hidden')
    """
    if asked:
        return asked
    for sentence in re.split(r"[\n;.]", doc.lower()):
        for found in re.finditer(_TRUE, sentence):
            after = re.split(r"\b(?:false|0s?|zeros?|else|otherwise)\b|거짓", sentence[found.end() :])[0]
            hides, shows = re.search(_HIDES, after), re.search(_SHOWS, after)
            if hides and (not shows or hides.start() <= shows.start()):
                return "hidden"
            if shows:
                return "allowed"
    low = name.lower()
    if re.search(r"hid|masked|block|forbid|ignore|exclude", low):
        return "hidden"
    return "either" if "pad" in low and not re.search(r"non_?pad|not_?pad", low) else "allowed"


_CONSTANTS = {"false", "true", "zero", "one", "rng", "axis", "n_tokens"}
_TAKEN = ("d_head", "d_value", "d_model", "d_out", "d_context")


# layouts ----------------------------------------------------------------------------------------


def layouts(
    parameters: Sequence[Parameter],
    name: str,
    kind: str | None,
    doc: str,
    owns: bool = False,
    mask_means: str | None = None,
    shaped: bool = True,
) -> list[Layout]:
    """The ways in which it may be called, the likeliest first; empty where nothing fits.

    name : of the function;  doc : its documentation, which may name shapes
    owns : True where it brings its own matrices (a module);  mask_means : what the mask's True means, where it was said
    shaped : True where the shapes that the documentation names are believed
    """
    made: list[Layout] = []
    for form, sources, arguments in _forms(parameters, name, kind, owns):
        roles = {role for _, role, _ in arguments}
        ranks = _ranks(form, _shapes(doc, arguments) if shaped else [], "n_heads" in roles)
        hidden = any(role == "mask" and convention(one, doc, mask_means) == "hidden" for one, role, _ in arguments)
        for causal in _worlds(name, kind, form, arguments):
            for given in _given(arguments, parameters, causal):
                masks = _masks(given, form, doc)
                for rank, (mask, mask_kind) in itertools.product(ranks, masks):
                    if rank == 2 and mask in ("batch", "heads"):
                        continue
                    made += [
                        Layout(form, given, rank, sources, mask, mask_kind, hidden and bool(mask), causal, turned,
                               split="n_heads" in roles)
                        for turned in ((False, True) if form == "projected" else (False,))
                    ]  # fmt: skip
    return made


Arguments = tuple[tuple[str, str, bool], ...]


def _given(arguments: Arguments, parameters: Sequence[Parameter], causal: bool) -> list[Arguments]:
    """What is passed; beside a flag that hides the future also without the mask, for some take only one of the two."""
    optional = {one.name for one in parameters if not one.required}
    without = tuple(one for one in arguments if one[1] != "mask" or one[0] not in optional)
    is_flag = causal and any(role == "causal" for _, role, _ in arguments)
    return [arguments, without] if is_flag and without != arguments else [arguments]


def _forms(
    parameters: Sequence[Parameter], name: str, kind: str | None, owns: bool
) -> Iterator[tuple[str, str, Arguments]]:
    """Form, sources and arguments."""
    if kind == "softmax" or (kind is None and "softmax" in name.lower() and len(_needed(parameters)) <= 2):
        yield from _of_table("softmax", parameters)
        return
    is_scale = kind == "scale" or (
        kind is None and re.search(r"scale(d|_scores|$)|(^|_)scores?$|scaling", name.lower())
    )
    if is_scale and not owns and len(_needed(parameters)) <= 3 and not re.search("attention|product", name.lower()):
        yield from _of_scale(parameters)
        if kind == "scale":
            return
    for roles in _assigned(parameters, owns):
        found = _form_of(set(roles.values()), owns)
        if found:
            order = {one.name: one for one in parameters}
            arguments = tuple((one, role, order[one].keyword) for one, role in roles.items())
            yield (*found, arguments)


def _needed(parameters: Sequence[Parameter]) -> list[Parameter]:
    return [one for one in parameters if one.required]


def _of_table(form: str, parameters: Sequence[Parameter]) -> Iterator[tuple[str, str, Arguments]]:
    if parameters:
        rest = [(one.name, role_of(one.name) or "axis", one.keyword) for one in _needed(parameters[1:])]
        masks = [(one.name, "mask", one.keyword) for one in parameters[1:] if role_of(one.name) == "mask"]
        yield form, "three", ((parameters[0].name, "scores", False), *masks, *(one for one in rest if one[1] != "mask"))


def _of_scale(parameters: Sequence[Parameter]) -> Iterator[tuple[str, str, Arguments]]:
    needed = _needed(parameters)
    roles = [role_of(one.name) for one in needed]
    if roles[:2] == ["q", "k"]:
        rest = [(one.name, role or "d_head", one.keyword) for one, role in zip(needed[2:], roles[2:], strict=True)]
        yield "scale-qk", "three", ((needed[0].name, "q", False), (needed[1].name, "k", False), *rest)
    elif needed and re.fullmatch(_SCORES, needed[0].name.lower()):
        yield (
            "scale",
            "three",
            ((needed[0].name, "scores", False), *((one.name, "d_head", one.keyword) for one in needed[1:])),
        )


def _assigned(parameters: Sequence[Parameter], owns: bool) -> Iterator[dict[str, str]]:
    """Each parameter that is passed with its role: by name, then by the usual orders."""
    named: dict[str, str] = {}
    unknown: list[Parameter] = []
    for one in parameters:
        role = role_of(one.name)
        if role in named.values():
            role = {"x": "context", "d_head": "d_model"}.get(role, "")
        if len(one.name) == 1 and role in ("d_head", "d_model", "n_tokens", "zero"):
            role = ""  # a single letter says too little
        if role and (one.required or role not in _CONSTANTS):
            if one.required or role not in _TAKEN:
                named[one.name] = role
        elif one.required:
            unknown.append(one)
    named = _settled(named)
    if not unknown:
        yield named
        return
    orders = [["x"], ["x", "context"], ["q", "k", "v"], ["q", "k", "v", "mask"]]
    orders += [] if owns else [["x", "w_q", "w_k", "w_v"], ["x", "w_q", "w_k", "w_v", "w_o"]]
    orders += [["mask"], ["n_heads"], ["w_q", "w_k", "w_v"], ["w_o"], ["mask", "n_heads"], ["w_o", "n_heads"]]
    for order in orders:
        if len(order) == len(unknown) and not set(order) & set(named.values()):
            roles = {one.name: role for one, role in zip(unknown, order, strict=True)}
            yield {one.name: {**named, **roles}[one.name] for one in parameters if one.name in {**named, **roles}}


def _settled(named: dict[str, str]) -> dict[str, str]:
    """Names that mean another thing beside others: q, k and v beside w_q are no inputs but matrices."""
    roles = set(named.values())
    if "q" in roles and "x" in roles and {"k", "v"} <= roles:
        return {name: f"w_{role}" if role in "qkv" else role for name, role in named.items()}
    if "context" in roles and "x" not in roles and "q" in roles and not {"k", "v"} & roles:
        return {name: "x" if role == "q" else role for name, role in named.items()}
    if "context" in roles and "x" not in roles and "q" not in roles:
        return {name: "x" if role == "context" else role for name, role in named.items()}
    return named


def _form_of(roles: set[str], owns: bool) -> tuple[str, str] | None:
    matrices = {"w_q", "w_k", "w_v"} <= roles or "w_qkv" in roles
    if owns:
        if {"q", "k", "v"} <= roles:
            return "module", "three"
        return ("module", "cross" if "context" in roles else "self") if "x" in roles else None
    if matrices and {"q", "k", "v"} <= roles:
        return "projected", "three"
    if matrices and "x" in roles:
        return "projected", "cross" if "context" in roles else "self"
    return ("raw", "three") if {"q", "k", "v"} <= roles else None


def _worlds(name: str, kind: str | None, form: str, arguments: Arguments) -> tuple[bool, ...]:
    """Whether the function hides the future itself: as the name says; else both are looked at."""
    if form in ("softmax", "scale", "scale-qk"):
        return (False,)
    if kind == "causal" or (kind is None and re.search(r"causal|decoder|autoregressive|look_?ahead", name.lower())):
        return (True,)
    if any(role == "causal" for _, role, _ in arguments):
        return (False, True)
    if kind in ("cross", "attention"):
        return (False,)
    masked = any(role in ("mask", "lengths") for _, role, _ in arguments)
    return (True,) if re.search("masked", name.lower()) and not masked else (False, True)


_SHAPE = re.compile(
    r"(?P<before>\w*)\s?[(\[]\s*"
    r"(?P<bits>(?:\.\.\.|…|[A-Za-z_][\w*·]*|\d)(?:\s*[,×x]\s*(?:\.\.\.|…|[A-Za-z_][\w*·/]*|\d+))+)\s*,?\s*[)\]]"
)
_ARRAYS = ("q", "k", "v", "x", "context", "scores")  # whose axes are the function's


def _shapes(doc: str, arguments: Arguments) -> list[tuple[str, ...]]:
    """The shapes that a documentation gives to the inputs: no calls such as softmax(q, k), no shapes of masks or matrices."""
    roles = {name.lower(): role for name, role, _ in arguments}
    found = []
    for line in doc.splitlines():
        of = ""
        at = 0
        for one in _SHAPE.finditer(line):
            named = [word for word in re.findall(r"\w+", line[at : one.start("bits")].lower()) if word in roles]
            of = roles[named[-1]] if named else of
            at = one.end()
            bits = tuple(bit.strip().lower() for bit in re.split(r"[,×]", one["bits"]))
            is_call = one["before"].lower() not in {"", "shape", "size", *roles} and one["before"].isascii()
            if not (is_call or (of and of not in _ARRAYS) or set(bits) <= {*roles}):
                found.append(bits)
    return found


def _ranks(form: str, shapes: list[tuple[str, ...]], split: bool) -> tuple[int, ...]:
    """2, 3, 4: those that the documentation names, or the usual ones."""
    told = {len(bits) for bits in shapes if len(bits) in (2, 3, 4) and not {"...", "…"} & {*bits}}
    usual = (
        (2, 3, 4)
        if form in ("raw", "softmax", "scale", "scale-qk")
        else (3, 2)
        if split or form == "module"
        else (2, 3)
    )
    if form == "projected" and told:
        return usual  # matrices are (d, d) whatever x is
    return tuple(rank for rank in usual if rank in told) or usual


def _masks(arguments: Arguments, form: str, doc: str) -> list[tuple[str, str]]:
    """Shape and kind of the mask: the likeliest first."""
    names = {role: name.lower() for name, role, _ in arguments}
    if "lengths" in names:
        return [("lengths", "int")]
    if "mask" not in names:
        return [("", "bool")]
    shapes = ["table", "batch", "heads", "keys"]
    if form == "softmax":
        shapes = ["table"]
    elif re.search(r"pad|key|valid|real|keep", names["mask"]):
        shapes = ["keys", "table", "batch", "heads"]
    kinds = ["bool", "int", "float", "added"]
    if re.search(r"\bbool|\btrue\b|\bfalse\b|\b0/1\b", doc, re.IGNORECASE):
        kinds.remove("added")
    if re.search(r"bias|add", names["mask"]):
        kinds = ["added", "bool"]
    return [(shape, kind) for shape in shapes for kind in kinds]
