"""Attention as it is written, seen below every style of writing it: PyTorch's own operations.

A ``TorchDispatchMode`` is called for each operation. Fused attention says everything itself. Written attention is a
softmax whose input descends from a batched matrix product and whose output feeds another; what happens in between
(a scale, a soft cap, a bias, a mask) is followed step by step. What cannot be followed is listed, not guessed.

Each handler says what is known of an operation's result: a node (``nodes.py``), or None.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakTensorKeyDictionary

from ...errors import JumokError
from .atoms import Atom, Axes, arranged, refined
from .calls import Seen
from .found import LOW, Found, Step, compact, composable, sampled, side_by_side
from .modules import Modules
from .nodes import TABLES, Lost, Mixed, Noise, Picked, Scores
from .seen_words import (
    ATTENTION,
    INSIDE,
    NO_SCORES,
    OTHER_AXIS,
    OTHER_LARGEST,
    OVER_HEADS,
    PICKED,
    SOFTMAX,
    SPREAD,
    WEIGHTS_TWICE,
    Said,
    not_followed,
)

__all__ = ["Watch"]

aten = torch.ops.aten
Node = Scores | Mixed | Lost | Noise


class Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Collects the attention calls of the programs that run inside it, in ``found``, and what was not read, in ``seen``."""

    supports_higher_order_operators = True  # they run as they would, unwatched

    def __init__(self, modules: Modules) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.modules = modules
        self.found: Any = []
        self.seen: list[Seen] = []
        self.nodes: Any = WeakTensorKeyDictionary()
        self.tables: list[Any] = []  # masks and biases, each once

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if torch._C._current_graph_task_id() >= 0:  # a backward pass: its products are no attention
            return func(*args, **kwargs)
        if not isinstance(func, torch._ops.OpOverload):
            if "attention" in str(func):
                self.note(Said(str(func), str(func)), INSIDE)
            return func(*args, **kwargs)
        if func.overloadpacket not in _HANDLERS and _is_composite(func) and any(True for _ in _tensors(args)):
            with self:
                made = func.decompose(*args, **kwargs)
            if made is not NotImplemented:
                return made
        out = func(*args, **kwargs)
        self.follow(func, args, kwargs, out)
        return out

    def follow(self, func: Any, args: Any, kwargs: Any, out: Any) -> None:
        """Note what is known of an operation's result."""
        name, first = func.overloadpacket, next(_tensors(out), None)
        handler, node = _HANDLERS.get(name), None
        if handler is not None and first is not None:
            try:
                node = handler(self, func, args, kwargs, first)
            except JumokError:
                raise
            except Exception as error:  # the program runs as it would without us, whatever we make of it
                self.note(ATTENTION, not_followed(_called(name), error=error))
        if node is not None:
            self.nodes[first] = node
        elif len(self.nodes):
            lost = None if name in _PRODUCTS or name in _CONSTANT else self.lost(name, args)
            for tensor in _tensors(out):
                if lost is not None and tensor.is_floating_point():
                    self.nodes[tensor] = lost

    def node(self, tensor: Any) -> Node | None:
        """What is known of a tensor, or None."""
        return self.nodes.get(tensor) if isinstance(tensor, torch.Tensor) and len(self.nodes) else None

    def scores(self, tensor: Any, *stages: str) -> Scores | None:
        """What is known of a tensor that is scores (or at one of these stages), or None."""
        node = self.node(tensor)
        return node if isinstance(node, Scores) and node.stage in (stages or ("scores",)) else None

    def lost(self, name: Any, args: Any) -> Lost | None:
        """What is known of the result of an operation that is not followed."""
        for node in map(self.node, _tensors(args)):
            if isinstance(node, Lost):
                return node
            if isinstance(node, Scores) and node.stage in TABLES:
                weights = node.stage == "weights"
                return Lost(ATTENTION, not_followed(_called(name), weights), weights, node.origin)
        return None

    def handed_over(self, found: Found, mixed: Any) -> None:
        """(lead …, query, d_value) what the program goes on with, a view of its own tensor; left as it is."""

    def note(self, what: Said, why: Said) -> None:
        """Remember what was seen and not read; once a module."""
        seen = Seen(self.modules.name, what, why)
        if seen not in self.seen:
            self.seen.append(seen)

    # products -----------------------------------------------------------------------------------

    def product(self, left: Any, right: Any, out: Any) -> Node | None:
        """left @ right: the mix of values where one of them is weights, else perhaps scores."""
        for weights, other, flipped in ((left, right, False), (right, left, True)):
            node = self.scores(weights, *TABLES)
            if node is not None:
                contracted = node.over(-2 if flipped else -1)
                if contracted == "lead":
                    return Lost(ATTENTION, OVER_HEADS, node.stage == "weights", node.origin)
                if node.stage in ("weights", "exp"):
                    return self.mixed(node, weights, other, out, flipped)
        for weights, other in ((left, right), (right, left)):
            lost = self.node(weights)
            if isinstance(lost, Lost) and lost.weights and not self.modules.is_parameter(other):
                self.note(lost.what, lost.why)
        if min(left.dim(), right.dim()) < 2 or self.modules.is_parameter(right) or self.modules.is_parameter(left):
            return None
        start = Axes.of(out.shape[:-2], row=left.shape[-2], column=right.shape[-1])
        return Scores(left, right, start, start)

    def mixed(self, node: Scores, weights: Any, values: Any, out: Any, flipped: bool) -> Mixed | None:
        """weights @ values (or valuesᵀ @ weightsᵀ): an attention call is complete."""
        key_at = weights.dim() - (2 if flipped else 1)
        query_at = weights.dim() - (1 if flipped else 2)
        key = node.over(key_at)
        if isinstance(self.node(values), Scores) and self.scores(values, "weights"):
            self.note(ATTENTION, WEIGHTS_TWICE)
            return None
        if key is not None and (key != (node.key or key) or any(atom.axis != key for atom in node.axes.dims[key_at])):
            self.note(ATTENTION, OTHER_AXIS)
            return None
        try:
            composable(node.steps)
        except ValueError as error:
            self.note(ATTENTION, error.args[0])
            return None
        if flipped:
            values, out = values.transpose(-1, -2), out.transpose(-1, -2)
        found = self.complete(node, key or node.key or "column", key_at, query_at, values, out)
        lead = [dim for at, dim in enumerate(node.axes.dims) if at not in (key_at, query_at)]
        last = [node.axes.dims[query_at], (Atom("width", out.shape[-1]),)]
        return Mixed(found, Axes((*lead, *(reversed(last) if flipped else last))))

    def complete(self, node: Scores, key: str, key_at: int, query_at: int, values: Any, out: Any) -> Found:
        """Take the call, with q, k and v copied as they are now."""
        dims = node.axes.dims
        outer = tuple(dim for at, dim in enumerate(dims) if at not in (key_at, query_at))
        query, within = _query_of(dims[query_at], values.shape[-2])
        lead, keys = (*outer, *((atom,) for atom in within)), dims[key_at]
        left, right = node.left, node.right.transpose(-1, -2)
        row, column = node.start.dims[-2:]
        if key == "row":
            left, right, row, column = right, left, column, row
        width, wide, start = (Atom("width", left.shape[-1]),), (Atom("width", out.shape[-1]),), node.start.dims[:-2]
        q = arranged(_like(left, start), Axes((*start, row, width)), (*lead, query, width))
        k = arranged(_like(right, start), Axes((*start, column, width)), (*lead, keys, width))
        v = arranged(_like(values, outer), Axes((*outer, keys, wide)), (*lead, keys, wide))
        mixed = arranged(out, Axes((*outer, dims[query_at], wide)), (*lead, query, wide))
        rows = sampled(q.shape[-2])
        order = (*lead, query, keys)
        steps = tuple(
            Step(step.kind, self.kept(arranged(step.value, _broadcast(step.axes, step.value), order)))
            if step.axes is not None
            else step
            for step in node.steps
        )
        found = Found(
            self.modules.name, self.modules.passes, compact(q), compact(k), compact(v), compact(mixed[..., rows, :]),
            rows, lead, query, steps, "written", training=node.training,
        )  # fmt: skip
        self.found.append(found)
        if node.stage == "weights":  # else it will be divided by the sum of its row
            self.handed_over(found, mixed)
        return found

    def kept(self, table: Any) -> Any:
        """A mask or bias, kept once however many layers are given it."""
        for other in reversed(self.tables[-8:]):
            if other.shape == table.shape and other.dtype == table.dtype and torch.equal(other, table):
                return other
        self.tables.append(compact(table))
        return self.tables[-1]

    # elementwise --------------------------------------------------------------------------------

    def times(self, tensor: Any, by: Any, out: Any) -> Node | None:
        """tensor · by, where one of them may be scores or weights."""
        if self.node(tensor) is None and isinstance(by, torch.Tensor):
            tensor, by = by, tensor
        node = self.node(tensor)
        if isinstance(node, (Mixed, Noise)):
            return node
        if isinstance(self.node(by), Noise):
            return self.dropped(tensor)
        if isinstance(node, Scores) and node.stage == "weights" and not _is_number(by) and out.numel() > tensor.numel():
            self.note(ATTENTION, SPREAD)
            return None
        if not isinstance(node, Scores) or self.node(by) is not None:
            return None
        if node.stage == "scores":
            if _is_number(by):
                return node.after(Step("times", float(by)))
            return self.scaled_rows(node, by) if _scales_rows(by, out) else None
        if node.stage == "exp" and not _is_number(by) and out.shape == tensor.shape:
            return node.after(Step("allowed", by != 0, node.axes))
        return node if node.stage == "weights" and _is_one(by) else None

    def scaled_rows(self, node: Scores, by: Any) -> Scores:
        """Scores times one number a head: the same as the left side times it."""
        full = by.reshape((1,) * (len(node.axes.dims) - by.dim()) + tuple(by.shape))
        finer = [atom for dim in node.axes.dims for atom in dim]
        lead = [refined(dim, finer) for dim in node.start.dims[:-2]]
        factor = arranged(full, _broadcast(node.axes, full), (*lead, (), ()))
        return dataclasses.replace(node, left=_like(node.left, lead) * factor)

    def add(self, tensor: Any, other: Any, out: Any, sign: float = 1.0) -> Node | None:
        """tensor + sign · other: a bias or a mask; or scores less their largest, which softmax does not see."""
        node, second = self.scores(tensor), self.node(other)
        if node is None and sign == 1 and self.scores(other) is not None:
            node, second, tensor, other = self.scores(other), self.node(tensor), other, tensor
        if node is None:
            return None
        if isinstance(second, (Scores, Lost)) and second.origin is node.origin:
            stage = {"most": "scores", "log-sum": "log-weights"}.get(getattr(second, "stage", ""))
            return node.at(stage, getattr(second, "key", None)) if stage and sign == -1 else None
        if not isinstance(other, torch.Tensor):
            return node  # the same for every key
        if out.shape != tensor.shape and out.numel() != tensor.numel():
            return None
        full = other.reshape((1,) * (out.dim() - other.dim()) + tuple(other.shape))
        axes = node.axes if len(node.axes.dims) == out.dim() else node.axes.viewed(out.shape)
        if axes is None:
            return None
        node = dataclasses.replace(node, axes=axes)
        return node.after(Step("add", full if sign == 1 else -full, axes)) if full.numel() > 1 else node

    def masked(self, tensor: Any, mask: Any, value: Any, out: Any, keep: bool = False) -> Node | None:
        """tensor where the mask is not True (with ``keep``: where it is), a number elsewhere."""
        node = self.scores(tensor, "scores", "exp", "weights")
        if node is None or out.shape != tensor.shape:
            return None
        number = float(value)
        full = mask.reshape((1,) * (out.dim() - mask.dim()) + tuple(mask.shape))
        if (node.stage == "scores" and number <= LOW) or (node.stage == "exp" and number == 0):
            return node.after(Step("allowed", full if keep else ~full, node.axes))
        return node if node.stage == "weights" and number == 0 else None  # rows that may read nothing, set to 0

    def at_least(self, tensor: Any, least: Any) -> Node | None:
        """No score below a very low number: nothing that a softmax sees."""
        return self.scores(tensor) if least is not None and _is_number(least) and float(least) <= LOW else None

    def picked(self, tensor: Any, values: Any) -> Node | None:
        """The largest scores of each row."""
        node = self.scores(tensor)
        if node is None or values.shape == tensor.shape:
            return None
        return Picked(ATTENTION, PICKED, False, node.origin, node)

    def put_back(self, out: Any, dim: int, places: Any, values: Any) -> Node | None:
        """The largest scores in their places again, and a number that masks in all others."""
        node = self.node(values)
        if not isinstance(node, Picked) or node.scores is None:
            return None
        allowed = torch.zeros_like(out, dtype=torch.bool).scatter(dim, places, True)
        if not (out.masked_fill(allowed, -math.inf) <= LOW).all():
            return None
        return node.scores.after(Step("allowed", allowed, node.scores.axes))

    def dropped(self, tensor: Any) -> Node | None:
        """Dropout."""
        node = self.scores(tensor, *TABLES)
        return None if node is None else dataclasses.replace(node, training=True)

    # softmax, whole or in steps --------------------------------------------------------------------

    def softmax(self, tensor: Any, dim: int, stage: str = "weights") -> Node | None:
        """Weights (or their logarithms), and which axis is read."""
        node = self.node(tensor)
        if isinstance(node, Scores) and node.stage == "scores":
            made = node.at(stage, node.over(dim))
            return made or Lost(ATTENTION, OTHER_LARGEST, True)
        if isinstance(node, Lost):
            return dataclasses.replace(node, weights=True)
        return Lost(SOFTMAX, NO_SCORES, True)

    def row_number(self, tensor: Any, dims: Any, stage: str) -> Node | None:
        """The largest of each row, or the sum of each row of exponentials."""
        node = self.scores(tensor, *(("exp", "weights") if stage == "sum" else ("scores",)))
        dims = [dims] if isinstance(dims, int) else list(dims or ())
        if node is None or len(dims) > 1 or (not dims and stage != "most"):
            return None
        return node.at(stage, node.over(dims[0]) if dims else None)

    def exp(self, tensor: Any) -> Node | None:
        """Exponentials of scores, or weights from their logarithms."""
        node = self.scores(tensor, "scores", "log-weights")
        return None if node is None else node.at("exp" if node.stage == "scores" else "weights")

    def divided(self, tensor: Any, by: Any, out: Any) -> Node | None:
        """Scores by a number, or exponentials by their sum."""
        node, total = self.node(tensor), self.scores(by, "sum")
        if total is not None and isinstance(node, Scores) and node.stage in ("exp", "weights"):
            return node.at("weights", total.key) if total.origin is node.origin else None
        if total is not None and isinstance(node, Mixed):  # divided after the product: the output as it should be
            width = (Atom("width", node.found.v.shape[-1]),)
            whole = arranged(out, node.axes, (*node.found.lead, node.found.query, width))
            node.found.output = compact(whole[..., node.found.rows, :])
            self.handed_over(node.found, whole)
            return node
        if isinstance(node, (Mixed, Noise)):
            return node
        return self.times(tensor, 1 / by, out) if isinstance(node, Scores) and self.node(by) is None else None

    # views --------------------------------------------------------------------------------------

    def viewed(self, tensor: Any, out: Any) -> Node | None:
        """A reshape."""
        node = self.node(tensor)
        if isinstance(node, Scores) and node.stage not in TABLES:
            return node
        return self.moved(node, node.axes.viewed(out.shape)) if isinstance(node, (Scores, Mixed)) else None

    def permuted(self, tensor: Any, order: Sequence[int], out: Any) -> Node | None:
        """A permutation of the axes."""
        node = self.node(tensor)
        if not isinstance(node, (Scores, Mixed)):
            return None
        return self.moved(node, node.axes.permuted([at % out.dim() for at in order]))

    def moved(self, node: Scores | Mixed, axes: Axes | None) -> Node | None:
        """The same numbers under other axes."""
        if axes is None:
            return None
        if isinstance(node, Mixed):
            node.found.seen_as(axes)
        return dataclasses.replace(node, axes=axes)

    def sliced(self, tensor: Any, out: Any) -> Node | None:
        """A part: weights without the share of the sinks stay weights."""
        node = self.node(tensor)
        sinks = isinstance(node, Scores) and any(step.kind == "sinks" for step in node.steps)
        return node if sinks or out.shape == tensor.shape else None

    def selected(self, tensor: Any, dim: int, at: int) -> Scores | None:
        """The scores or weights of one head (or sequence): a product of their own, of that part of both sides."""
        node = self.scores(tensor, "scores", "weights")
        if node is None or any(atom.axis != "lead" for atom in node.axes.dims[dim]):
            return None
        rest, chosen = list(node.axes.dims), node.axes.dims[dim]
        del rest[dim]
        lead, (row, column) = node.start.dims[:-2], node.start.dims[-2:]
        finer = [atom for own in node.axes.dims for atom in own]
        kept = [(atom,) for own in lead for atom in refined(own, finer) if atom not in chosen]

        def part(value: Any, axes: Axes, order: Sequence[Any]) -> Any:
            whole = arranged(value, axes, (chosen, *order))
            return whole[at if len(whole) > 1 else 0]

        def side(value: Any, *last: Any) -> Any:
            return part(_like(value, lead), Axes((*lead, *last)), (*kept, *last))

        width = (Atom("width", node.left.shape[-1]),)
        return dataclasses.replace(
            node, left=side(node.left, row, width), right=side(node.right, width, column), start=Axes((*kept, row, column)),
            axes=Axes(tuple(rest)), origin=object(),
            steps=tuple(
                Step(step.kind, part(step.value, _broadcast(step.axes, step.value), rest), Axes(tuple(rest)))
                if step.axes is not None
                else step
                for step in node.steps
            ),
        )  # fmt: skip

    def joined(self, tensors: Sequence[Any], dim: int, out: Any, stacked: bool = False) -> Node | None:
        """Tensors side by side: heads that were computed one by one, or scores with the sinks beside them."""
        nodes, dim = [self.node(tensor) for tensor in tensors], dim % out.dim()
        mixed = [node for node in nodes if isinstance(node, Mixed)]
        if mixed and len(mixed) == len(nodes):
            return self.heads_joined(mixed, dim, stacked)
        first = nodes[0]
        if isinstance(first, Scores) and first.stage == "scores" and len(tensors) == 2 and tensors[1].shape[dim] == 1:
            sinks = tensors[1].select(dim, 0).unsqueeze(dim)
            return first.after(Step("sinks", sinks[..., :1, :], Axes((*first.axes.dims[:-2], (), ()))))
        return None

    def heads_joined(self, nodes: Sequence[Mixed], dim: int, stacked: bool) -> Mixed | None:
        """Outputs side by side: the calls become one, with an axis more."""
        dims = nodes[0].axes.dims
        there = () if stacked else dims[dim]
        if any(node.axes.dims != dims for node in nodes) or any(atom.axis != "width" for atom in there):
            return None
        made = side_by_side([node.found for node in nodes], self.modules.name)
        if made is None:
            return None
        found, atom = made
        for node in nodes:
            self.found.remove(node.found)
        self.found.append(found)
        axes = Axes((*dims[:dim], (atom, *there), *dims[dim if stacked else dim + 1 :]))
        found.seen_as(axes)
        return Mixed(found, axes)

    # fused attention ----------------------------------------------------------------------------

    def fused(self, func: Any, args: Any, kwargs: Any, mixed: Any) -> Mixed:
        """One call that says everything itself."""
        given = dict(zip((argument.name for argument in func._schema.arguments), args, strict=False)) | kwargs
        q, k, v, scale = given["query"], given["key"], given["value"], given.get("scale")
        lead, kv_lead = list(q.shape[:-2]), list(k.shape[:-2])
        if lead and kv_lead[-1] not in (lead[-1], 1):  # heads that share keys: an axis of their own
            lead[-1:], kv_lead[-1:] = [kv_lead[-1], lead[-1] // kv_lead[-1]], [kv_lead[-1], 1]
        axes = Axes.of(lead, row=q.shape[-2], column=k.shape[-2])
        dims, n_apart = axes.dims[: len(lead)], max(0, q.dim() - 3)
        together = (*dims[:n_apart], tuple(atom for dim in dims[n_apart:] for atom in dim)) if lead else ()
        mask = given.get("attn_mask", given.get("attn_bias"))
        steps: tuple[Step, ...] = ()
        if mask is not None:
            full = mask.reshape((1,) * (q.dim() - mask.dim()) + tuple(mask.shape))
            table = arranged(full, Axes((*together, *axes.dims[-2:])), axes.dims)
            steps = (Step("allowed" if mask.dtype == torch.bool else "add", self.kept(table)),)
        rows = sampled(q.shape[-2])

        def apart(tensor: Any, lead: list[int]) -> Any:
            return compact(tensor).reshape(*lead, *tensor.shape[-2:])

        found = Found(
            self.modules.name, self.modules.passes, apart(q, lead), apart(k, kv_lead), apart(v, kv_lead),
            apart(mixed[..., rows, :], lead), rows, dims, axes.dims[-2], steps, "fused",
            scale=q.shape[-1] ** -0.5 if scale is None else float(scale), causal=bool(given.get("is_causal", False)),
            training=bool(given.get("dropout_p")),
        )  # fmt: skip
        self.found.append(found)
        self.handed_over(found, mixed.reshape(*lead, *mixed.shape[-2:]))
        return Mixed(found, Axes((*together, axes.dims[-2], (Atom("width", v.shape[-1]),))))


def _tensors(args: Any) -> Iterator[Any]:
    """The tensors among an operation's arguments or results."""
    if isinstance(args, torch.Tensor):
        yield args
    elif isinstance(args, (tuple, list)):
        for arg in args:
            yield from _tensors(arg)


def _called(name: Any) -> str:
    return str(name).rsplit(".", 1)[-1]


def _query_of(atoms: tuple[Atom, ...], n_keys: int) -> tuple[tuple[Atom, ...], list[Atom]]:
    """The atom that is the query, and those that were folded into its axis beside it: heads that share keys."""
    if len(atoms) < 2:
        return atoms, []
    query = next((atom for atom in reversed(atoms) if atom.size == n_keys), atoms[-1])
    return (query,), [atom for atom in atoms if atom is not query]


def _like(tensor: Any, lead: Sequence[Any]) -> Any:
    """With as many leading axes as there are (broadcast ones of size 1)."""
    return tensor.reshape((1,) * (len(lead) + 2 - tensor.dim()) + tuple(tensor.shape))


def _broadcast(axes: Axes | None, tensor: Any) -> Axes:
    """The axes of a tensor that is added to one with these axes."""
    assert axes is not None
    return Axes(axes.dims[len(axes.dims) - tensor.dim() :])


def _is_number(by: Any) -> bool:
    return not isinstance(by, torch.Tensor) or by.numel() == 1


def _is_one(by: Any) -> bool:
    return bool((by == 1).all()) if isinstance(by, torch.Tensor) else by == 1


def _scales_rows(by: Any, out: Any) -> bool:
    """True where a factor has one number for each leading index."""
    full = (1,) * (out.dim() - by.dim()) + tuple(by.shape)
    return bool(full[-1] == full[-2] == 1)


@cache
def _is_composite(func: Any) -> bool:
    """True where an operation is made of others: then these are looked at."""
    return func.namespace == "aten" and bool(
        torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd")
    )


def _transposed(tensor: Any, args: Any) -> list[int]:
    """How t and transpose order the axes."""
    axes = list(range(tensor.dim()))
    one, other = (args[1], args[2]) if len(args) > 1 else (0, -1)
    if axes:
        axes[one], axes[other] = axes[other], axes[one]
    return axes


def _where(watch: Watch, _: Any, args: Any, __: Any, out: Any) -> Node | None:
    condition, first, second = args
    for tensor, other, keep in ((first, second, True), (second, first, False)):
        if watch.scores(tensor, *TABLES) is not None and watch.node(other) is None:
            low = float(other.max()) if isinstance(other, torch.Tensor) else float(other)
            return watch.masked(tensor, condition, low, out, keep=keep)
    return None


def _assigned(watch: Watch, _: Any, args: Any, __: Any, out: Any) -> Node | None:
    """scores[…, mask] = a number."""
    tensor, (*before, mask), value = args[:3]
    is_mask = isinstance(mask, torch.Tensor) and mask.dtype == torch.bool and _is_number(value)
    if not is_mask or any(place is not None for place in before) or len(before) + mask.dim() != tensor.dim():
        return None
    return watch.masked(tensor, mask, value, out)


def _largest(watch: Watch, _: Any, args: Any, __: Any, ___: Any) -> Node | None:
    """max(scores, dim) and max(scores, least) have one name."""
    if len(args) > 1 and isinstance(args[1], torch.Tensor):
        return watch.at_least(args[0], args[1])
    return watch.row_number(args[0], args[1] if len(args) > 1 else None, "most")


def _clamped(watch: Watch, _: Any, args: Any, kwargs: Any, ___: Any) -> Node | None:
    given = dict(zip(("self", "min", "max"), args, strict=False)) | kwargs
    return watch.at_least(args[0], given.get("min")) if given.get("max") is None else None


def _batched(watch: Watch, _: Any, args: Any, kwargs: Any, out: Any) -> Node | None:
    """beta · added + alpha · left @ right."""
    added, left, right = args
    node = watch.product(left, right, out)
    if not isinstance(node, Scores):
        return node
    node = node.after(Step("times", float(kwargs.get("alpha", 1))))
    beta = float(kwargs.get("beta", 1))
    return node if beta == 0 else node.after(Step("add", added * beta, node.start))


def _scattered(watch: Watch, _: Any, args: Any, __: Any, out: Any) -> Node | None:
    """scatter(empty, dim, places, values)."""
    return watch.put_back(out, *args[1:4]) if len(args) > 3 and isinstance(args[3], torch.Tensor) else None


def _axis(args: Any, kwargs: Any, default: Any = None) -> Any:
    return args[1] if len(args) > 1 else kwargs.get("dim", default)


Handler = Callable[[Watch, Any, Any, Any, Any], Node | None]
_PRODUCTS: dict[Any, Handler] = {
    **dict.fromkeys((aten.bmm, aten.mm, aten.matmul), lambda w, _, a, __, o: w.product(a[0], a[1], o)),
    **dict.fromkeys((aten.baddbmm, aten.addmm), _batched),
}
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
_CONSTANT = (aten.full_like, aten.zeros_like, aten.ones_like, aten.empty_like, aten.rand_like, aten.randn_like)
_FUSED = (
    aten.scaled_dot_product_attention,
    aten._scaled_dot_product_flash_attention,
    aten._scaled_dot_product_flash_attention_for_cpu,
    aten._scaled_dot_product_efficient_attention,
    aten._scaled_dot_product_cudnn_attention,
    aten._scaled_dot_product_fused_attention_overrideable,
)
_HANDLERS: dict[Any, Handler] = {
    **_PRODUCTS,
    **dict.fromkeys(_FUSED, lambda w, f, a, k, o: w.fused(f, a, k, o)),
    **dict.fromkeys(_VIEWS, lambda w, _, a, __, o: w.viewed(a[0], o)),
    **dict.fromkeys(_SAME, lambda w, _, a, __, ___: w.node(a[0])),
    aten.permute: lambda w, _, a, __, o: w.permuted(a[0], a[1], o),
    **dict.fromkeys((aten.transpose, aten.t), lambda w, _, a, __, o: w.permuted(a[0], _transposed(a[0], a), o)),
    **dict.fromkeys((aten.mul, aten.mul_), lambda w, _, a, __, o: w.times(a[0], a[1], o)),
    **dict.fromkeys((aten.div, aten.div_), lambda w, _, a, __, o: w.divided(a[0], a[1], o)),
    **dict.fromkeys((aten.add, aten.add_), lambda w, _, a, __, o: w.add(a[0], a[1], o)),
    **dict.fromkeys((aten.sub, aten.sub_), lambda w, _, a, __, o: w.add(a[0], a[1], o, -1.0)),
    **dict.fromkeys((aten.masked_fill, aten.masked_fill_), lambda w, _, a, __, o: w.masked(a[0], a[1], a[2], o)),
    aten.where: _where,
    **dict.fromkeys((aten.index_put, aten.index_put_), _assigned),
    **dict.fromkeys((aten.tanh, aten.tanh_), lambda w, _, a, __, ___: (n := w.scores(a[0])) and n.after(Step("tanh"))),
    **dict.fromkeys((aten._softmax, aten._safe_softmax, aten.softmax), lambda w, _, a, __, ___: w.softmax(a[0], a[1])),
    **dict.fromkeys(
        (aten._log_softmax, aten.log_softmax), lambda w, _, a, __, ___: w.softmax(a[0], a[1], "log-weights")
    ),
    **dict.fromkeys((aten.exp, aten.exp_), lambda w, _, a, __, ___: w.exp(a[0])),
    aten.sum: lambda w, _, a, k, ___: w.row_number(a[0], _axis(a, k), "sum"),
    aten.amax: lambda w, _, a, k, ___: w.row_number(a[0], _axis(a, k), "most"),
    aten.logsumexp: lambda w, _, a, k, ___: w.row_number(a[0], _axis(a, k), "log-sum"),
    aten.max: _largest,
    aten.maximum: lambda w, _, a, __, ___: w.at_least(a[0], a[1]),
    **dict.fromkeys((aten.clamp, aten.clamp_, aten.clamp_min, aten.clamp_min_), _clamped),
    aten.topk: lambda w, _, a, __, o: w.picked(a[0], o),
    **dict.fromkeys((aten.scatter, aten.scatter_), _scattered),
    aten.bernoulli_: lambda *_: Noise(),
    aten.native_dropout: lambda w, _, a, __, ___: w.dropped(a[0]),
    aten.cat: lambda w, _, a, k, o: w.joined(a[0], _axis(a, k, 0), o),
    aten.stack: lambda w, _, a, k, o: w.joined(a[0], _axis(a, k, 0), o, stacked=True),
    aten.select: lambda w, _, a, __, ___: w.selected(*a),
    aten.slice: lambda w, _, a, __, o: w.sliced(a[0], o),
}
