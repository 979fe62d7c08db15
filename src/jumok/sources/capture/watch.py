"""Attention as it is written, seen below every style of writing it: PyTorch's own operations.

A ``TorchDispatchMode`` is called for each operation. Fused attention says everything itself. Written attention is a
softmax whose input descends from a batched matrix product and whose output feeds another; what happens in between
(a scale, a soft cap, a bias, a mask) is followed step by step. What cannot be followed is listed, not guessed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakTensorKeyDictionary

from .atoms import Atom, Axes, arranged, refined
from .calls import Seen
from .found import Found, Step, compact, sampled, side_by_side
from .modules import Modules

__all__ = ["LOW", "Watch"]

aten = torch.ops.aten
LOW = -1e4  # an added number at or below this masks


@dataclass(frozen=True)
class Scores:
    """A tensor that descends from a product of two others.

    left, right : (lead …, row, width) and (lead …, width, column);  start : the axes of their product
    axes : of the tensor now;  steps : what was done to the product so far
    stage : "scores", "exp" (not yet divided by its sum), "weights"; or "most" and "sum" (one number a row)
    key : the axis of the product that the softmax went over ("column" or "row"), once that is known
    broken : the operation that could not be followed, or None
    """

    left: Any
    right: Any
    start: Axes
    axes: Axes
    steps: tuple[Step, ...] = ()
    stage: str = "scores"
    key: str | None = None
    broken: str | None = None
    training: bool = False

    def after(self, step: Step) -> Scores:
        """With one more step."""
        return dataclasses.replace(self, steps=(*self.steps, step))


@dataclass(frozen=True)
class Mixed:
    """A tensor that is what an attention call mixed, until its heads are joined."""

    found: Found
    axes: Axes


@dataclass(frozen=True)
class Foreign:
    """The softmax of something that is no product: attention of another kind, or none."""


class Watch(TorchDispatchMode):
    """Collects the attention calls of the programs that run inside it, in ``found``, and what was not read, in ``seen``."""

    def __init__(self, modules: Modules) -> None:
        super().__init__()
        self.modules = modules
        self.found: list[Found] = []
        self.seen: list[Seen] = []
        self.nodes: Any = WeakTensorKeyDictionary()
        self.tables: list[Any] = []  # masks and biases, each once

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if torch._C._current_graph_task_id() >= 0:  # a backward pass: its products are no attention
            return func(*args, **kwargs)
        name = func.overloadpacket
        handler = _HANDLERS.get(name)
        if handler is None and _is_composite(func):
            with self:
                made = func.decompose(*args, **kwargs)
            if made is not NotImplemented:
                return made
        out = func(*args, **kwargs)
        if handler is not None:
            handler(self, func, args, kwargs, out)
        elif len(self.nodes):
            self.unknown(name, args, out)
        return out

    def node(self, tensor: Any) -> Any:
        """What is known of a tensor, or None."""
        return self.nodes.get(tensor) if isinstance(tensor, torch.Tensor) and len(self.nodes) else None

    def unknown(self, name: Any, args: Any, out: Any) -> None:
        """An operation that is not followed: what was known is known no more."""
        for arg in args:
            node = self.node(arg)
            if isinstance(node, Scores) and isinstance(out, torch.Tensor) and out.shape == arg.shape:
                self.nodes[out] = dataclasses.replace(node, broken=node.broken or str(name).rsplit(".", 1)[-1])
                return

    def note(self, what: str, why: str) -> None:
        """Remember what was seen and not read; once a module."""
        seen = Seen(self.modules.name, what, why)
        if seen not in self.seen:
            self.seen.append(seen)

    # written attention --------------------------------------------------------------------------

    def product(self, left: Any, right: Any, out: Any, times: float = 1.0, added: Any = None) -> None:
        """left @ right: the mix of values where one of them is weights, else perhaps scores."""
        a, b = self.node(left), self.node(right)
        for node, weights, other, flipped in ((a, left, right, False), (b, right, left, True)):
            if isinstance(node, Foreign) and not self.modules.is_parameter(other):
                self.note("softmax before a product", "its scores are not a product of queries and keys")
            elif isinstance(node, Scores) and node.stage in ("weights", "exp"):
                self.mixed(node, weights, other, out, flipped)
                return
        if left.dim() < 2 or right.dim() < 2 or self.modules.is_parameter(right) or self.modules.is_parameter(left):
            return
        start = Axes.of(out.shape[:-2], row=left.shape[-2], column=right.shape[-1])
        steps = (Step("times", times),) if times != 1 else ()
        node = Scores(left, right, start, start, steps)
        if added is not None:
            node = node.after(Step("add", added, start))
        self.nodes[out] = node

    def mixed(self, node: Scores, weights: Any, values: Any, out: Any, flipped: bool) -> None:
        """weights @ values (or valuesᵀ @ weightsᵀ): an attention call is complete."""
        key_at = weights.dim() - (2 if flipped else 1)
        query_at = weights.dim() - (1 if flipped else 2)
        keys = node.axes.dims[key_at]
        key = node.key or (keys[0].axis if keys else None)
        if node.broken is not None:
            self.note("attention", f"{node.broken} between the scores and the softmax is not followed")
            return
        if keys and (any(atom.axis != key for atom in keys) or key not in ("row", "column")):
            return  # a product over another axis than the keys
        try:
            found = self.compose(node, key or "column", key_at, query_at, values, out, flipped)
        except ValueError as error:
            self.note("attention", str(error))
            return
        self.found.append(found)
        lead = [dim for at, dim in enumerate(node.axes.dims) if at not in (key_at, query_at)]
        last = [node.axes.dims[query_at], (Atom("width", out.shape[-2 if flipped else -1]),)]
        self.nodes[out] = Mixed(found, Axes((*lead, *(reversed(last) if flipped else last))))

    def compose(
        self, node: Scores, key: str, key_at: int, query_at: int, values: Any, out: Any, flipped: bool
    ) -> Found:
        """The call, with q, k and v copied as they are now."""
        dims = node.axes.dims
        lead = tuple(dim for at, dim in enumerate(dims) if at not in (key_at, query_at))
        query, keys = dims[query_at], dims[key_at]
        left, right = node.left, node.right.transpose(-1, -2)
        row, column = node.start.dims[-2], node.start.dims[-1]
        if key == "row":
            left, right, row, column = right, left, column, row
        width = (Atom("width", left.shape[-1]),) if left.shape[-1] != 1 else ()
        start = node.start.dims[:-2]
        q = arranged(_like(left, start), Axes((*start, row, width)), (*lead, query, width))
        k = arranged(_like(right, start), Axes((*start, column, width)), (*lead, keys, width))
        if flipped:
            values, out = values.transpose(-1, -2), out.transpose(-1, -2)
        rows = sampled(q.shape[-2])
        steps = tuple(
            Step(step.kind, self.kept(arranged(step.value, _broadcast(step.axes, step.value), (*lead, query, keys))))
            if step.axes is not None
            else step
            for step in node.steps
        )
        return Found(
            self.modules.name, self.modules.passes, compact(q), compact(k), compact(values), compact(out[..., rows, :]),
            rows, lead, query, steps, "written", training=node.training,
        )  # fmt: skip

    def kept(self, table: Any) -> Any:
        """A mask or bias, kept once however many layers are given it."""
        for other in reversed(self.tables[-8:]):
            if other.shape == table.shape and other.dtype == table.dtype and torch.equal(other, table):
                return other
        self.tables.append(compact(table))
        return self.tables[-1]

    # elementwise --------------------------------------------------------------------------------

    def times(self, tensor: Any, by: Any, out: Any) -> None:
        """tensor · by, where one of them may be scores or weights."""
        node = self.node(tensor)
        if node is None and isinstance(by, torch.Tensor):
            tensor, by = by, tensor
            node = self.node(tensor)
        if isinstance(node, Mixed):
            self.nodes[out] = node
        if not isinstance(node, Scores):
            return
        if not isinstance(by, torch.Tensor) or by.numel() == 1:
            number = float(by)
            if node.stage == "weights" or node.stage == "exp":
                self.nodes[out] = node if number == 1 else dataclasses.replace(node, training=True)
            else:
                self.nodes[out] = node.after(Step("times", number))
            return
        if node.stage == "exp" and out.shape == tensor.shape:
            self.nodes[out] = node.after(Step("allowed", by != 0, node.axes))
        elif node.stage == "weights" and out.shape == tensor.shape:
            self.nodes[out] = dataclasses.replace(node, training=True)  # dropout, or weights changed by hand
        elif node.stage == "scores" and _scales_rows(by, out):
            self.nodes[out] = self.scaled_rows(node, by)
        else:
            self.unknown("mul", (tensor,), out)

    def scaled_rows(self, node: Scores, by: Any) -> Scores:
        """Scores times one number a head: the same as the left side times it."""
        full = by.reshape((1,) * (len(node.axes.dims) - by.dim()) + tuple(by.shape))
        finer = [atom for dim in node.axes.dims for atom in dim]
        lead = [refined(dim, finer) for dim in node.start.dims[:-2]]
        factor = arranged(full, _broadcast(node.axes, full), (*lead, (), ()))
        return dataclasses.replace(node, left=_like(node.left, lead) * factor)

    def add(self, tensor: Any, other: Any, out: Any, sign: float = 1.0) -> None:
        """tensor + sign · other: a bias or a mask; or scores less their largest, which softmax does not see."""
        node, second = self.node(tensor), self.node(other)
        if isinstance(node, Scores) and isinstance(second, Scores) and second.stage in ("most", "log-sum"):
            self.nodes[out] = dataclasses.replace(node, stage="scores" if second.stage == "most" else "log-weights")
            return
        if not isinstance(node, Scores) and isinstance(second, Scores) and sign == 1:
            node, tensor, other = second, other, tensor
        if not isinstance(node, Scores) or node.stage != "scores":
            return
        if not isinstance(other, torch.Tensor):
            self.nodes[out] = node  # the same for every key
        elif out.shape != tensor.shape and out.numel() != tensor.numel():
            self.unknown("add", (tensor,), out)
        else:
            full = other.reshape((1,) * (out.dim() - other.dim()) + tuple(other.shape))
            if full.shape[-1] != 1:
                axes = node.axes if len(node.axes.dims) == out.dim() else node.axes.viewed(out.shape)
                node = dataclasses.replace(node, axes=axes) if axes else node
                self.nodes[out] = node.after(Step("add", full if sign == 1 else -full, node.axes))
            else:
                self.nodes[out] = node

    def masked(self, tensor: Any, mask: Any, value: Any, out: Any, keep: bool = False) -> None:
        """tensor where the mask is not True (with ``keep``: where it is), a number elsewhere."""
        node = self.node(tensor)
        if not isinstance(node, Scores):
            return
        number = float(value)
        full = mask.reshape((1,) * (out.dim() - mask.dim()) + tuple(mask.shape))
        allowed = full if keep else ~full
        if (node.stage == "scores" and number <= LOW) or (node.stage == "exp" and number == 0):
            self.nodes[out] = node.after(Step("allowed", allowed, node.axes))
        elif node.stage == "weights" and number == 0:  # rows that may read nothing, set to 0
            self.nodes[out] = node
        else:
            self.unknown(f"masked_fill with {number:g}", (tensor,), out)

    def at_least(self, tensor: Any, least: Any, out: Any) -> None:
        """No score below a very low number: nothing that a softmax sees."""
        node = self.node(tensor)
        if isinstance(node, Scores):
            number = least is not None and (not isinstance(least, torch.Tensor) or least.numel() == 1)
            if number and float(least) <= LOW:
                self.nodes[out] = node
            else:
                self.unknown("maximum", (tensor,), out)

    def same(self, tensor: Any, out: Any) -> None:
        """A copy, a cast, or a view of the same shape."""
        node = self.node(tensor)
        if node is not None:
            self.nodes[out] = node

    def viewed(self, tensor: Any, out: Any) -> None:
        """A reshape."""
        node = self.node(tensor)
        if isinstance(node, Scores) and node.stage in ("most", "sum", "log-sum"):
            self.nodes[out] = node
        elif isinstance(node, (Scores, Mixed)):
            axes = node.axes.viewed(out.shape)
            if axes is not None:
                self.moved(node, axes, out)

    def permuted(self, tensor: Any, order: Sequence[int], out: Any) -> None:
        """A permutation of the axes."""
        node = self.node(tensor)
        if isinstance(node, (Scores, Mixed)):
            self.moved(node, node.axes.permuted([at % out.dim() for at in order]), out)

    def moved(self, node: Any, axes: Axes, out: Any) -> None:
        """The same numbers under other axes; where heads are merged with the width, that says which axes are heads."""
        self.nodes[out] = dataclasses.replace(node, axes=axes)
        if isinstance(node, Mixed):
            node.found.seen_as(axes)

    def step(self, tensor: Any, step: Step, out: Any) -> None:
        """Something that is done to scores."""
        node = self.node(tensor)
        if isinstance(node, Scores) and node.stage == "scores":
            self.nodes[out] = node.after(step)

    def dropped(self, tensor: Any, out: Any) -> None:
        """Dropout."""
        node = self.node(tensor)
        if isinstance(node, Scores):
            self.nodes[out] = dataclasses.replace(node, training=True)

    def softmax(self, tensor: Any, dim: int, out: Any, stage: str = "weights") -> None:
        """Weights (or their logarithms), and which axis is read."""
        node = self.node(tensor)
        if not isinstance(node, Scores):
            self.nodes[out] = Foreign()
            return
        atoms = node.axes.dims[dim % tensor.dim()]
        key = atoms[0].axis if atoms else None
        self.nodes[out] = dataclasses.replace(node, stage=stage, key=key)

    def row_number(self, tensor: Any, stage: str, out: Any) -> None:
        """The largest of each row, or the sum of each row of exponentials."""
        node = self.node(tensor)
        if isinstance(node, Scores) and node.stage == ("exp" if stage == "sum" else "scores"):
            self.nodes[out] = dataclasses.replace(node, stage=stage)

    def exp(self, tensor: Any, out: Any) -> None:
        """Exponentials of scores, or weights from their logarithms."""
        node = self.node(tensor)
        if isinstance(node, Scores) and node.stage in ("scores", "log-weights"):
            self.nodes[out] = dataclasses.replace(node, stage="exp" if node.stage == "scores" else "weights")

    def divided(self, tensor: Any, by: Any, out: Any) -> None:
        """Scores by a number, or exponentials by their sum."""
        node, second = self.node(tensor), self.node(by)
        if isinstance(second, Scores) and second.stage == "sum":
            if isinstance(node, Scores) and node.stage == "exp":
                self.nodes[out] = dataclasses.replace(node, stage="weights")
            elif isinstance(node, Mixed):  # divided after the product: the output as it should be
                width = (Atom("width", node.found.v.shape[-1]),)
                whole = arranged(out, node.axes, (*node.found.lead, node.found.query, width))
                node.found.output = compact(whole[..., node.found.rows, :])
                self.nodes[out] = node
        elif isinstance(by, torch.Tensor) and by.numel() > 1:
            self.times(tensor, 1 / by, out) if isinstance(node, Scores) and node.stage == "scores" else self.same(
                tensor, out
            )
        else:
            self.times(tensor, 1 / float(by), out)

    def joined(self, tensors: Sequence[Any], dim: int, out: Any, stacked: bool = False) -> None:
        """Tensors side by side: heads that were computed one by one, or scores with the sinks beside them."""
        nodes = [self.node(tensor) for tensor in tensors]
        first, dim = nodes[0], dim % out.dim()
        if isinstance(first, Mixed) and all(isinstance(node, Mixed) for node in nodes):
            self.heads_joined(nodes, dim, out, stacked)
        elif isinstance(first, Scores) and len(tensors) == 2 and tensors[1].shape[dim] == 1 and first.stage == "scores":
            sinks = tensors[1].select(dim, 0).unsqueeze(dim)
            axes = Axes((*first.axes.dims[:-2], (), ()))
            self.nodes[out] = first.after(Step("sinks", sinks[..., :1, :], axes))

    def heads_joined(self, nodes: Sequence[Mixed], dim: int, out: Any, stacked: bool) -> None:
        """Outputs side by side: the calls become one, with an axis more."""
        dims = nodes[0].axes.dims
        there = () if stacked else dims[dim]
        if any(node.axes.dims != dims for node in nodes) or any(atom.axis != "width" for atom in there):
            return
        made = side_by_side([node.found for node in nodes], self.modules.name)
        if made is None:
            return
        found, atom = made
        for node in nodes:
            self.found.remove(node.found)
        self.found.append(found)
        axes = Axes((*dims[:dim], (atom, *there), *dims[dim if stacked else dim + 1 :]))
        self.nodes[out] = Mixed(found, axes)
        found.seen_as(axes)

    def sliced(self, tensor: Any, out: Any) -> None:
        """A part: weights without the share of the sinks stay weights."""
        node = self.node(tensor)
        if isinstance(node, Scores) and any(step.kind == "sinks" for step in node.steps):
            self.nodes[out] = node
        elif isinstance(node, Scores):
            if out.shape == tensor.shape:
                self.nodes[out] = node
            else:
                self.nodes[out] = dataclasses.replace(node, broken=node.broken or "slice")

    # fused attention ----------------------------------------------------------------------------

    def fused(self, func: Any, args: Any, kwargs: Any, out: Any) -> None:
        """One call that says everything itself."""
        given = dict(zip((argument.name for argument in func._schema.arguments), args, strict=False)) | kwargs
        q, k, v = given["query"], given["key"], given["value"]
        mixed = out[0] if isinstance(out, tuple) else out
        mask = given.get("attn_mask", given.get("attn_bias"))
        scale = given.get("scale")
        n_heads, n_kv = (q.shape[-3], k.shape[-3]) if q.dim() > 2 else (1, 1)
        lead, kv_lead = list(q.shape[:-2]), list(k.shape[:-2])
        if n_kv not in (n_heads, 1):  # heads that share keys: an axis of their own
            lead[-1:], kv_lead[-1:] = [n_kv, n_heads // n_kv], [n_kv, 1]
        axes = Axes.of(lead, row=q.shape[-2], column=k.shape[-2])
        rows = sampled(q.shape[-2])
        dims = axes.dims[: len(lead)]
        steps = []
        together = (
            (*dims[: q.dim() - 3], tuple(atom for dim in dims[q.dim() - 3 :] for atom in dim)) if q.dim() > 2 else ()
        )
        if mask is not None:
            full = mask.reshape((1,) * (q.dim() - mask.dim()) + tuple(mask.shape))
            kind = "allowed" if mask.dtype == torch.bool else "add"
            table = arranged(full, Axes((*together, *axes.dims[-2:])), axes.dims)
            steps = [Step(kind, self.kept(table))]
        found = Found(
            self.modules.name, self.modules.passes,
            compact(q).reshape(*lead, *q.shape[-2:]), compact(k).reshape(*kv_lead, *k.shape[-2:]),
            compact(v).reshape(*kv_lead, *v.shape[-2:]), compact(mixed[..., rows, :]).reshape(*lead, len(rows), v.shape[-1]),
            rows, dims, axes.dims[-2], tuple(steps), "fused", scale=q.shape[-1] ** -0.5 if scale is None else float(scale),
            causal=bool(given.get("is_causal", False)), training=bool(given.get("dropout_p")),
        )  # fmt: skip
        self.found.append(found)
        width = (Atom("width", v.shape[-1]),)
        self.nodes[mixed] = Mixed(found, Axes((*together, axes.dims[-2], width)))


def _like(tensor: Any, lead: Sequence[Any]) -> Any:
    """With as many leading axes as there are (broadcast ones of size 1)."""
    return tensor.reshape((1,) * (len(lead) + 2 - tensor.dim()) + tuple(tensor.shape))


def _broadcast(axes: Axes | None, tensor: Any) -> Axes:
    """The axes of a tensor that is added to one with these axes."""
    assert axes is not None
    return Axes(axes.dims[len(axes.dims) - tensor.dim() :])


def _scales_rows(by: Any, out: Any) -> bool:
    """True where a factor has one number for each leading index."""
    full = (1,) * (out.dim() - by.dim()) + tuple(by.shape)
    return full[-1] == full[-2] == 1


@cache
def _is_composite(func: Any) -> bool:
    """True where an operation is made of others: then these are looked at."""
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd"))


Handler = Callable[["Watch", Any, Any, Any, Any], None]


def _order_of(name: Any) -> Callable[[Any, Any], list[int]]:
    """How transpose, t, mT … order the axes."""

    def order(tensor: Any, args: Any) -> list[int]:
        axes = list(range(tensor.dim()))
        if name is aten.permute:
            return list(args[1])
        one, other = (0, 1) if name is aten.t else (args[1], args[2])
        if tensor.dim() > 1:
            axes[one], axes[other] = axes[other], axes[one]
        return axes

    return order


def _where(watch: Watch, _: Any, args: Any, __: Any, out: Any) -> None:
    condition, first, second = args
    for tensor, other, keep in ((first, second, True), (second, first, False)):
        if watch.node(tensor) is not None:
            low = float(other.max()) if isinstance(other, torch.Tensor) else float(other)
            watch.masked(tensor, condition, low, out, keep=keep)
            return


_VIEWS = (
    aten.view,
    aten._unsafe_view,
    aten.reshape,
    aten.unsqueeze,
    aten.squeeze,
    aten.expand,
    aten.flatten,
    aten.unflatten,
)
_SAME = (aten.clone, aten.detach, aten.alias, aten._to_copy, aten.contiguous, aten.lift_fresh, aten.nan_to_num)
_FUSED = (
    aten.scaled_dot_product_attention,
    aten._scaled_dot_product_flash_attention,
    aten._scaled_dot_product_flash_attention_for_cpu,
    aten._scaled_dot_product_efficient_attention,
    aten._scaled_dot_product_cudnn_attention,
    aten._scaled_dot_product_fused_attention_overrideable,
)
_HANDLERS: dict[Any, Handler] = {
    **dict.fromkeys(_FUSED, lambda w, f, a, k, o: w.fused(f, a, k, o)),
    **dict.fromkeys((aten.bmm, aten.mm, aten.matmul), lambda w, _, a, __, o: w.product(a[0], a[1], o)),
    aten.baddbmm: lambda w, _, a, k, o: w.product(
        a[1], a[2], o, float(k.get("alpha", 1)), None if float(k.get("beta", 1)) == 0 else a[0] * k.get("beta", 1)
    ),
    **dict.fromkeys(_VIEWS, lambda w, _, a, __, o: w.viewed(a[0], o)),
    **dict.fromkeys(_SAME, lambda w, _, a, __, o: w.same(a[0], o)),
    **{
        name: (lambda order: lambda w, _, a, __, o: w.permuted(a[0], order(a[0], a), o))(_order_of(name))
        for name in (aten.permute, aten.transpose, aten.t)
    },
    **dict.fromkeys((aten.mul, aten.mul_), lambda w, _, a, __, o: w.times(a[0], a[1], o)),
    **dict.fromkeys((aten.div, aten.div_), lambda w, _, a, __, o: w.divided(a[0], a[1], o)),
    **dict.fromkeys((aten.add, aten.add_), lambda w, _, a, __, o: w.add(a[0], a[1], o)),
    **dict.fromkeys((aten.sub, aten.sub_), lambda w, _, a, __, o: w.add(a[0], a[1], o, -1.0)),
    **dict.fromkeys((aten.masked_fill, aten.masked_fill_), lambda w, _, a, __, o: w.masked(a[0], a[1], a[2], o)),
    aten.where: _where,
    aten.tanh: lambda w, _, a, __, o: w.step(a[0], Step("tanh"), o),
    **dict.fromkeys((aten._softmax, aten._safe_softmax, aten.softmax), lambda w, _, a, __, o: w.softmax(a[0], a[1], o)),
    **dict.fromkeys(
        (aten._log_softmax, aten.log_softmax), lambda w, _, a, __, o: w.softmax(a[0], a[1], o, "log-weights")
    ),
    aten.exp: lambda w, _, a, __, o: w.exp(a[0], o),
    aten.sum: lambda w, _, a, __, o: w.row_number(a[0], "sum", o),
    aten.amax: lambda w, _, a, __, o: w.row_number(a[0], "most", o),
    aten.max: lambda w, _, a, __, o: (
        w.row_number(a[0], "most", o[0]) if isinstance(o, tuple) else w.at_least(a[0], a[1] if len(a) > 1 else None, o)
    ),
    aten.maximum: lambda w, _, a, __, o: w.at_least(a[0], a[1], o),
    aten.logsumexp: lambda w, _, a, __, o: w.row_number(a[0], "log-sum", o),
    aten.native_dropout: lambda w, _, a, __, o: w.dropped(a[0], o[0]),
    aten.cat: lambda w, _, a, k, o: w.joined(a[0], a[1] if len(a) > 1 else k.get("dim", 0), o),
    aten.stack: lambda w, _, a, k, o: w.joined(a[0], a[1] if len(a) > 1 else k.get("dim", 0), o, stacked=True),
    aten.slice: lambda w, _, a, __, o: w.sliced(a[0], o),
}
