"""Each PyTorch entry is what it declares: its numbers are those of a small formula with just those mistakes in it."""

import copy
import importlib.util
import math
import sys

import pytest
import torch

from lessons.bank import HERE
from lessons.bank.torch_entries import ENTRIES

NAMES = {  # of a module's matrices, as these learners call them
    "q": ["W_query", "W_q", "W_Q", "wq", "w_q", "q_proj", "q_linear", "to_q", "query", "queries", "q"],
    "k": ["W_key", "W_k", "W_K", "wk", "w_k", "k_proj", "k_linear", "to_k", "key", "keys", "k"],
    "v": ["W_value", "W_v", "W_V", "wv", "w_v", "v_proj", "v_linear", "to_v", "value", "values", "v"],
    "qkv": ["c_attn", "qkv", "to_qkv", "qkv_proj"],
    "out": [
        "c_proj",
        "proj",
        "o_proj",
        "out_proj",
        "W_O",
        "W_o",
        "wo",
        "dense",
        "to_out",
        "fc_out",
        "out",
        "o",
        "w_concat",
    ],
}
HEADS = ["n_head", "n_heads", "heads", "num_heads", "h"]

# How a mistake looks where it has more than one form.
FORM = {
    "by_length": {"by": "length"},
    "dim_zero": {"axis": -2},
    "dim_one": {"axis": 1},
    "batch_dim": {"axis": 0},
    "exp_by_sum": {"axis": -2},
    "linear_sum": {"instead": "sum"},
    "raw": {"instead": "raw"},
    "log_scores": {"instead": "log"},
    "triu_zero": {"shift": -1},
    "triu_inf": {"shift": -1},
    "tril_one": {"shift": 1},
    "lost_minus": {"fill": 0.0},
    "tril_scores": {"fill": 0.0},
    "minus_hundred": {"fill": -100.0},
    "view_heads": {"cut": True, "join": True},
    "join_only": {"join": True},
    "causal_view": {"cut": True},
    "with_queries": {"values": "q"},
    "chunks": {"matrix": "v"},
    "b_quick": {"axis": -2},
    "b_zeros": {"fill": 0.0},
    "b_heads_dim": {"cut": True, "join": True},
    "b_vit": {"join": True, "axis": -2},
    "b_gpt": {"shift": 1},
    "b_exp_axis": {"axis": -2},
    "b_one_matrix": {"axis": 1},
    "b_causal_zero": {"shift": -1, "fill": 0.0},
    "b_raw": {"instead": "raw"},
}
CAUSAL = {"causal_full", "gpt", "flash", "heads_list", "gpt_short", "flash_dropout"}
PADDED = {"padded": False, "pad_rows": False, "pad_heads": True, "pad_inf": False, "b_pad": False}  # what True means
BIG = 3e3


def scaled(scores, k, ids, form, d_model):
    d = k.shape[-1]
    if "no-scale" in ids or "scale-after-softmax" in ids:
        return scores
    if "scale-by-dk" in ids:
        return scores / d
    if "scale-by-sqrt-dmodel" in ids:
        return scores / math.sqrt(scores.shape[-1] if form.get("by") == "length" else d_model)
    return scores * math.sqrt(d) if "scale-multiplied" in ids else scores / math.sqrt(d)


def allowed_by(ids, form, allowed, causal, padding, scores):
    n, m = scores.shape[-2:]
    if causal:
        allowed = torch.ones(n, m, dtype=torch.bool).tril()
        if "wrong-triangle" in ids:
            allowed = allowed.T
        if "causal-off-by-one" in ids:
            allowed = torch.ones(n, m, dtype=torch.bool).tril(form["shift"])
    if padding is not None:
        keys = padding[:, :, None] if "padding-on-query" in ids else padding[:, None, :]
        allowed = keys.unsqueeze(1) if scores.dim() == 4 else keys
    if allowed is None or "mask-ignored" in ids:
        allowed = torch.ones(n, m, dtype=torch.bool)
    if "mask-inverted" in ids:
        allowed = ~allowed
    return allowed & (scores != 0) if "zeros-masked" in ids else allowed


def weights_of(scores, allowed, ids, form):
    late = "mask-after-softmax" in ids
    hidden = form["fill"] if "mask-finite" in ids else -1e30
    if not late:
        scores = scores.masked_fill(~allowed, hidden)
    axis = form["axis"] if "softmax-axis" in ids else -1
    if "softmax-missing" in ids:
        weights = {
            "raw": scores,
            "sum": scores / scores.sum(-1, keepdim=True),
            "log": scores.log_softmax(-1),
        }[form["instead"]]
    else:
        weights = scores.softmax(axis)
    if "softmax-twice" in ids:
        weights = weights.softmax(-1)
    return weights * allowed if late else weights


def attend(q, k, v, ids, form, allowed=None, causal=False, padding=None, d_model=None):
    values = {"k": k, "q": q}[form.get("values", "k")] if "keys-as-values" in ids else v
    scores = k @ q.mT if "q-k-swapped" in ids else q @ k.mT
    if "missing-transpose" in ids:
        scores = q @ k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])
    scores = scaled(scores, k, ids, form, d_model)
    weights = weights_of(scores, allowed_by(ids, form, allowed, causal, padding, scores), ids, form)
    if "scale-after-softmax" in ids:
        weights = weights / math.sqrt(k.shape[-1])
    return weights if "weights-returned" in ids else weights @ values


def loaded(entry):
    name = f"bank_{entry.path.replace('/', '_').removesuffix('.py')}"
    spec = importlib.util.spec_from_file_location(name, HERE / entry.path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, entry.function)


def stem(entry):
    return entry.path.removeprefix("torch_code/").removesuffix(".py")


def made(entry):
    """The function, or the module made with small sizes, in double precision and at evaluation."""
    torch.manual_seed(0)
    thing = loaded(entry)
    if isinstance(thing, type):
        arguments = {
            "raschka": (12, 8),
            "clones": (3, 12),
            "embed_size": (12, 3),
            "order_of_things": (12, 8),
            "tril_hidden": (12, 8, 16),
            "tril_product": (12, 8),
            "join_only": (12,),
            "keys_first": (12, 8),
        }
        thing = thing(*arguments.get(stem(entry), ()))
    return thing.double().eval() if isinstance(thing, torch.nn.Module) else thing


def has_matrices(thing):
    return isinstance(thing, torch.nn.Module) and any(True for _ in thing.parameters())


def named(module, names):
    for name in names:
        found = getattr(module, name, None)
        if isinstance(found, torch.nn.Parameter):
            return lambda x: x @ found
        if isinstance(found, torch.nn.Module):
            return found
    return None


def projections(module):
    """Four functions (q, k, v, out) of a module, and its number of heads."""
    heads = next((n for n in (getattr(module, name, 1) for name in HEADS) if n != 1 and isinstance(n, int)), 1)
    out = named(module, NAMES["out"]) or torch.nn.Identity()
    if hasattr(module, "mha"):
        w, b = module.mha.in_proj_weight, module.mha.in_proj_bias
        parts = [lambda x, i=i: x @ w.chunk(3)[i].T + b.chunk(3)[i] for i in range(3)]
        return (*parts, module.mha.out_proj, module.mha.num_heads)
    if hasattr(module, "linears"):
        return (*module.linears, heads)
    if isinstance(getattr(module, "heads", None), torch.nn.ModuleList):
        parts = [
            lambda x, part=part: torch.cat([getattr(h, part)(x) for h in module.heads], -1)
            for part in ("query", "key", "value")
        ]
        return (*parts, out, len(module.heads))
    fused = named(module, NAMES["qkv"])
    if fused is not None:
        return (*(lambda x, i=i: fused(x).chunk(3, -1)[i] for i in range(3)), out, heads)
    if hasattr(module, "to_kv"):
        return (module.to_q, *(lambda x, i=i: module.to_kv(x).chunk(2, -1)[i] for i in range(2)), out, heads)
    return *(named(module, NAMES[part]) for part in "qkv"), out, heads


def through_module(module, ids, form, query, key, value, **masks):
    to_q, to_k, to_v, out, heads = projections(module)
    heads = 1 if "heads-ignored" in ids else heads
    if "one-projection" in ids:
        to_k = to_v if form.get("matrix") == "v" else to_q
    cut = "heads-reshaped" in ids and form.get("cut")
    join = "heads-reshaped" in ids and form.get("join")

    def split(t):
        b, n, d = t.shape
        return t.reshape(b, heads, n, d // heads) if cut else t.reshape(b, n, heads, d // heads).transpose(1, 2)

    q, k, v = to_q(query), to_k(key), to_v(value)
    if heads > 1:
        q, k, v = split(q), split(k), split(v)
    context = attend(q, k, v, ids, form, d_model=query.shape[-1], **masks)
    if heads > 1:
        context = context if join else context.transpose(1, 2)
        context = context.reshape(query.shape[0], query.shape[1], -1)
    return out(context)


def parts_of(answer):
    return answer if isinstance(answer, tuple) else (answer,)


def drawn(*shape, size=1.0):
    return torch.randn(*shape, dtype=torch.float64) * size


MASK = torch.tensor([[1, 0, 1, 1, 0, 1], [0, 1, 1, 0, 1, 1], [1, 1, 0, 0, 1, 0], [0, 0, 0, 1, 1, 1]], dtype=torch.bool)
SQUARE = torch.tensor([[1, 0, 1, 1], [0, 1, 1, 0], [1, 1, 0, 0], [0, 0, 0, 1]], dtype=torch.bool)
PAD = torch.tensor([[1, 1, 1, 0], [1, 1, 0, 0]], dtype=torch.bool)
HIDES = {"mask_doc"}
WANTS_BATCH = {"clones", "fill_zero_weights", "sdpa_not"}
PART_SOFTMAX = {"part_softmax", "softmax_part"}


class Trial:
    """One entry with inputs: what it gives, and what the formula gives with any set of mistakes."""

    def __init__(self, entry, size=1.0, empty=False):
        torch.manual_seed(7)
        self.thing, self.name, self.form = made(entry), stem(entry), FORM.get(stem(entry), {})
        self.mistakes = set(entry.mistakes)
        self.masks = {"causal": entry.kind == "causal" or self.name in CAUSAL or entry.function == "causal_attention"}
        self.keywords = {}
        code = self.thing.forward if isinstance(self.thing, torch.nn.Module) else self.thing
        self.asked = [n for n in code.__code__.co_varnames[: code.__code__.co_argcount] if n != "self"]
        self.inputs = self.sequences(size) if has_matrices(self.thing) else self.arrays(size)
        self.add_mask(empty)

    def arrays(self, size):
        if self.name == "part_scale":
            return [drawn(4, 6), 5]
        if self.name in PART_SOFTMAX:
            return [drawn(4, 6, size=10 * size)]
        if "w_q" in self.asked:
            context = [drawn(6, 5, size=size)] if "context" in self.asked else []
            joined = [drawn(6, 5), 3] if "w_o" in self.asked else []
            return [drawn(4, 5, size=size), *context, *(drawn(5, 6) for _ in range(3)), *joined]
        if "missing-transpose" in self.mistakes and self.name != "reshape_keys":
            return [drawn(4, 4, size=size) for _ in range(3)]
        m = 4 if self.masks["causal"] or {"q-k-swapped", "keys-as-values"} & self.mistakes else 6
        lead = () if self.name == "loop" else (2,)
        q, k, v = drawn(*lead, 4, 5, size=size), drawn(*lead, m, 5, size=size), drawn(*lead, m, 3)
        if "zeros-masked" in self.mistakes:
            q[..., 2, 1:] = k[..., 1, 0] = 0  # a score that is exactly 0 and may be read
        if self.name == "minus_hundred":  # only beside scores below −100 does −100 hide nothing
            q, k = 10 * q.abs(), -10 * k.abs()
        return [q, k, v]

    def sequences(self, size):
        d = self.d_in()
        x = drawn(2, 4, d, size=size)
        if "context" in self.asked:
            keys = next(getattr(self.thing, name) for name in ("to_kv", "k", "to_k") if hasattr(self.thing, name))
            return [x, drawn(2, 6, keys.in_features, size=size)]
        one = len([name for name in self.asked if "mask" not in name]) == 1
        return [x] if one else [x, drawn(2, 6, d), drawn(2, 6, d)]

    def d_in(self):
        first = next(p for p in self.thing.parameters() if p.dim() == 2)
        maker = next((m for m in self.thing.modules() if isinstance(m, torch.nn.Linear)), None)
        return maker.in_features if maker is not None else first.shape[0]

    def add_mask(self, empty):
        name = next((n for n in self.asked if "mask" in n or n == "valid_lens"), None)
        if name is None:
            return
        if name == "valid_lens":
            lengths = torch.tensor([0 if empty else 2, 5])
            self.keywords = {name: lengths}
            self.masks["padding"] = torch.arange(6)[None, :] < lengths[:, None]
            return
        if self.name in PADDED or name == "context_mask":
            pad = PAD.clone() if name != "context_mask" else torch.cat([PAD, PAD[:, :2]], 1)
            pad[0] = pad[0] & (not empty)
            self.masks["padding"] = pad
            self.keywords = {name: pad if PADDED.get(self.name, True) else ~pad}
            return
        keys = self.inputs[1].shape[1] if len(self.inputs) > 1 else 4
        mask = (MASK if keys == 6 else SQUARE).clone()
        mask[0] = mask[0] & (not empty)
        self.masks["allowed"] = mask
        given = ~mask if self.name in HIDES else mask.clone()
        self.keywords = {name: given[None] if self.name in WANTS_BATCH else given}

    def got(self):
        inputs = self.inputs
        if self.name == "embed_size":  # its order is values, keys, query
            inputs = [inputs[2], inputs[1], inputs[0]]
        given, words = copy.deepcopy((inputs, self.keywords))
        with torch.no_grad():
            answer = self.thing(*given, **words)
        before, after = [*inputs, *self.keywords.values()], [*given, *words.values()]
        return answer, any(torch.is_tensor(a) and not torch.equal(a, b) for a, b in zip(before, after, strict=True))

    @torch.no_grad()
    def formula(self, ids):
        if self.name == "part_scale":
            return self.inputs[0] / math.sqrt(self.inputs[1])
        if self.name in PART_SOFTMAX:
            return self.inputs[0].softmax(-1)
        if has_matrices(self.thing):
            x, *rest = self.inputs
            key, value = (rest * 2)[:2] if rest else (x, x)
            return through_module(self.thing, ids, self.form, x, key, value, **self.masks)
        if "w_q" in self.asked:
            return self.of_weights(ids)
        return attend(*self.inputs, ids, self.form, **self.masks)

    def of_weights(self, ids):
        x, *rest = self.inputs
        y = rest.pop(0) if "context" in self.asked else x
        q, k, v = x @ rest[0], y @ rest[1], y @ rest[2]
        if "w_o" not in self.asked:
            return attend(q, k, v, ids, self.form, **self.masks)
        q, k, v = (t.unflatten(-1, (3, -1)).transpose(0, 1) for t in (q, k, v))
        return attend(q, k, v, ids, self.form).transpose(0, 1).flatten(1) @ rest[3]


SEEN_ELSEWHERE = {"overflow", "nan-row", "dropout-at-eval", "input-changed"}
ids_of = [pytest.param(entry, id=entry.name) for entry in ENTRIES]


def subsets(ids):
    numbers = [i for i in ids if i not in SEEN_ELSEWHERE]
    return [(), *((i,) for i in numbers)] if len(numbers) == 2 else [()] if numbers else []


def close(a, b):
    return a.shape == b.shape and torch.allclose(a, b, rtol=1e-6, atol=1e-8)


def gives(answer, expected, entry):
    return any(close(shown(part, entry), shown(expected, entry)) for part in parts_of(answer))


def shown(tensor, entry):
    """Without the rows in which nothing is allowed: what stands there is told apart."""
    return tensor[:, 1:] if stem(entry) in {"triu_zero", "triu_inf"} else tensor


@pytest.mark.parametrize("entry", ids_of)
def test_numbers_are_those_of_the_mistakes_declared(entry, monkeypatch):
    trial = Trial(entry)
    without_chance(trial, monkeypatch)
    answer, _ = trial.got()
    assert gives(answer, trial.formula(entry.mistakes), entry)
    for fewer in subsets(entry.mistakes):
        assert not gives(answer, trial.formula(fewer), entry), fewer


def without_chance(trial, monkeypatch):
    """Dropout that leaves everything as it is, so that the other numbers can be seen."""
    monkeypatch.setattr(torch.nn.functional, "dropout", lambda x, *_, **__: x)
    for module in trial.thing.modules() if isinstance(trial.thing, torch.nn.Module) else ():
        if isinstance(getattr(module, "dropout", None), float):
            module.dropout = 0.0


@pytest.mark.parametrize("entry", ids_of)
def test_what_is_not_a_number_is_as_declared(entry):
    trial = Trial(entry)
    first, changed = trial.got()
    again, _ = trial.got()
    pairs = zip(parts_of(first), parts_of(again), strict=True)
    chance = any(not torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in pairs)
    assert chance == ("dropout-at-eval" in entry.mistakes)
    assert changed == ("input-changed" in entry.mistakes)


def has_nan(answer):
    return any(part.isnan().any().item() for part in parts_of(answer))


@pytest.mark.parametrize("entry", ids_of)
def test_large_scores_and_empty_rows_give_nan_where_declared(entry):
    large, _ = Trial(entry, size=BIG).got()
    follows = {"triu_inf", "tril_then_zero", "b_tril"}  # their first rows allow nothing, or a score of 0 alone
    if stem(entry) not in follows:
        assert has_nan(large) == ("overflow" in entry.mistakes)
    trial = Trial(entry, empty=True)
    if trial.keywords:
        answer, _ = trial.got()
        assert has_nan(answer) == ("nan-row" in entry.mistakes and "mask-inverted" not in entry.mistakes)


def test_there_are_enough_of_each():
    counts = {n: sum(len(entry.mistakes) == n for entry in ENTRIES) for n in range(3)}
    assert counts[0] >= 18
    assert counts[1] >= 32
    assert counts[2] >= 16
    assert len({entry.mistakes[0] for entry in ENTRIES if len(entry.mistakes) == 1}) == 27
