"""Where a program keeps W_Q, W_K, W_V and W_O, found by what its linear modules made in one run, never by their names.

A projection is taken only where what it made is, number by number, the q, k or v that attention was given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from ...door import Floats, in_numpy
from ...trace import Trace
from .recording import copied

__all__ = ["LayerParts", "Ran", "flat", "parts_of", "running"]

ALL = ...  # every column
NEAR = 1e-3  # of the largest value: the same product in another order, or in half precision


@dataclass(frozen=True)
class Ran:
    """One run of a module.

    given : the first argument;  same : whether all it was given is one tensor (self-attention);  made : the output itself
    """

    given: Any
    same: bool
    made: Any


@contextmanager
def running(modules: Mapping[str, nn.Module]) -> Iterator[dict[str, Ran]]:
    """Name → how each of these modules ran inside the block, the last time."""
    ran: dict[str, Ran] = {}

    def watch(name: str) -> Any:
        def hook(_: Any, arguments: tuple[Any, ...], named: dict[str, Any], made: Any) -> None:
            given = [
                one for one in (*arguments[:3], *(named.get(n) for n in ("query", "key", "value"))) if one is not None
            ]
            first = made[0] if isinstance(made, tuple) else made
            if given and isinstance(given[0], torch.Tensor) and isinstance(first, torch.Tensor):
                ran[name] = Ran(given[0], all(one is given[0] for one in given), first)

        return hook

    hooks = [module.register_forward_hook(watch(name), with_kwargs=True) for name, module in modules.items()]
    try:
        yield ran
    finally:
        for hook in hooks:
            hook.remove()


@dataclass(frozen=True)
class _Part:
    """A projection inside a module's parameters: its columns, as (d_in, d_out).

    module, weight, bias : whose, and the names of the parameters (None for no bias)
    columns : which outputs;  across : True where the weight is (d_out, d_in)
    runs : the name of the module that makes it of its first argument, None where that needs no proof
    """

    module: Any
    columns: Any = ALL
    weight: str = "weight"
    bias: str | None = "bias"
    across: bool = True
    runs: str | None = None

    def matrix(self) -> torch.Tensor:
        """(d_in, heads · d), the numbers that it has now."""
        weight: torch.Tensor = getattr(self.module, self.weight).detach()
        return (weight.T if self.across else weight)[:, self.columns]

    def offset(self) -> torch.Tensor | None:
        """(heads · d,)."""
        bias = None if self.bias is None else getattr(self.module, self.bias, None)
        return None if bias is None else bias.detach()[self.columns]

    def made(self, x: Floats) -> Floats:
        """(token, heads · d) what it makes of (token, d_in)."""
        matrix, offset = self.matrix(), self.offset()
        made = torch.tensor(x, dtype=matrix.dtype, device=matrix.device) @ matrix
        return in_numpy("made", made if offset is None else made + offset)


@dataclass
class LayerParts:
    """What is known of one layer's projections.

    parts : "q", "k", "v", "o" → where they stand; empty where they were not found
    turned : True where q and k are turned by position before they meet
    enters : the module whose first argument is x, None where q, k and v are not x times their projections
    leaves : the module whose output is the layer's, None where that is not known
    """

    parts: dict[str, _Part] = field(default_factory=dict)
    turned: bool = False
    enters: str | None = None
    leaves: str | None = None

    def weights(self) -> dict[str, Any]:
        """w_q … (d_model, heads · d), b_q … (heads · d,), copied."""
        found: dict[str, Any] = {}
        for name, part in self.parts.items():
            found[f"w_{name}"] = copied(part.matrix())
            if (offset := part.offset()) is not None:
                found[f"b_{name}"] = copied(offset)
        return found

    def arrays(self, trace: Trace, ran: Mapping[str, Ran]) -> dict[str, Any]:
        """x where it is known. Where a projection does not make its q, k or v any more (an adapter stands beside it), they
        are let go.
        """
        if not all(self._holds(name, trace, ran) for name in "qkv" if name in self.parts):
            self.parts, self.enters = {}, None
        x = None if self.enters is None else _given(ran, self.enters, trace)
        return {} if x is None else {"x": x}

    def _holds(self, name: str, trace: Trace, ran: Mapping[str, Ran]) -> bool:
        """Whether a projection makes, for the last token, what attention was given."""
        part, wanted = self.parts[name], getattr(trace, name)[:, -1]
        if part.runs is None:
            return True
        x = _given(ran, part.runs, trace)
        if x is None:
            return False
        made = part.made(x[-1:]).reshape(wanted.shape)
        if self.turned and name != "v":
            made, wanted = (np.linalg.norm(one, axis=-1) for one in (made, wanted))
        return _near(made, wanted)

    def output(self, ran: Mapping[str, Ran]) -> Any:
        """The tensor that the layer hands on, or None."""
        return ran[self.leaves].made if self.leaves is not None and self.leaves in ran else None

    @property
    def needed(self) -> set[str]:
        """The modules whose runs have to be seen."""
        names = {part.runs for part in self.parts.values()} | {self.enters, self.leaves}
        return {name for name in names if name is not None}


def parts_of(model: nn.Module, name: str, trace: Trace, ran: Mapping[str, Ran]) -> LayerParts:
    """The projections of one layer, from how the modules ran.

    name : the module whose code attends
    """
    modules = dict(model.named_modules())
    attention = modules.get(name)
    if isinstance(attention, nn.MultiheadAttention):
        return _of_torch(attention, name, trace, ran)
    inside = {other: one for other, one in ran.items() if not name or other.startswith(f"{name}.")}
    near = f"{name.rpartition('.')[0]}."
    around = {other: one for other, one in ran.items() if near == "." or other.startswith(near)}
    linear = {other: modules[other] for other in around if _is_linear(modules[other])}
    found = LayerParts()
    for found.turned, matching in ((False, _columns), (True, _turned_columns)):
        found.parts = _matched(linear, inside, trace, matching)
        if found.parts:
            break
    x = [_given(ran, part.runs, trace) for part in found.parts.values() if part.runs is not None]
    if x and not found.turned and all(one is not None and _near(x[0], one) for one in x):
        found.enters = found.parts["q"].runs
    _output(found, name, trace, linear, around)
    return found


def _is_linear(module: nn.Module) -> bool:
    """nn.Linear, or Conv1D of transformers, whose weight lies the other way around."""
    weight = getattr(module, "weight", None)
    is_one = isinstance(module, nn.Linear) or type(module).__name__ == "Conv1D"
    return is_one and isinstance(weight, torch.Tensor) and weight.ndim == 2 and weight.is_floating_point()


def _part(module: Any, runs: str | None = None, columns: Any = ALL) -> _Part:
    return _Part(module, columns, across=isinstance(module, nn.Linear), runs=runs)


def _matched(linear: Mapping[str, Any], inside: Mapping[str, Ran], trace: Trace, matching: Any) -> dict[str, _Part]:
    """The projections of q, k and v by these names, all three or none."""
    found: dict[str, _Part] = {}
    for each in "qkv":
        for name, one in inside.items():
            made = flat(one.made, trace.n_tokens) if name in linear else None
            columns = None if made is None else (_columns if each == "v" else matching)(made, getattr(trace, each))
            if columns is not None:
                found[each] = _part(linear[name], name, columns)
                break
    return found if len(found) == 3 else {}


def _columns(made: Floats, wanted: Floats) -> npt.NDArray[np.int64] | None:
    """Which columns of (token, width) are (head, token, d), side by side; None where they are not, or not only once."""
    at: dict[bytes, int] = {}
    for column in range(made.shape[1]):
        key = made[:, column].tobytes()
        at[key] = -1 if key in at else column
    side_by_side = _side_by_side(wanted)
    if side_by_side.dtype != made.dtype:
        return None
    found = [at.get(np.ascontiguousarray(column).tobytes(), -1) for column in side_by_side.T]
    return None if -1 in found else np.array(found)


def _turned_columns(made: Floats, wanted: Floats) -> npt.NDArray[np.int64] | None:
    """The blocks of columns that have, at every token, the length of each wanted head: they were turned by position."""
    _, n, d = wanted.shape
    if made.shape[1] % d:
        return None
    blocks = np.linalg.norm(made.reshape(n, -1, d), axis=-1)
    starts = []
    for head in np.linalg.norm(wanted, axis=-1):
        fitting = np.flatnonzero(np.all(np.abs(blocks - head[:, None]) <= NEAR * head[:, None], axis=0))
        if len(fitting) != 1 or not head.all():
            return None
        starts.append(fitting[0] * d)
    return (np.array(starts)[:, None] + np.arange(d)).reshape(-1)


def _output(found: LayerParts, name: str, trace: Trace, linear: Mapping[str, Any], around: Mapping[str, Ran]) -> None:
    """Which module's output is the layer's: the one through W_O, which is given the mixed values, or what mixes them."""
    mixed = _side_by_side(trace.mixed)
    for other, one in around.items():
        given = flat(one.given, trace.n_tokens) if other in linear else None
        if given is not None and _near(given, mixed):
            found.leaves = other
            if found.parts:
                found.parts["o"] = _part(linear[other])
            return
    if name in around and _near(flat(around[name].made, trace.n_tokens), mixed):
        found.leaves = name


def _of_torch(module: nn.MultiheadAttention, name: str, trace: Trace, ran: Mapping[str, Ran]) -> LayerParts:
    """nn.MultiheadAttention, which says where they are."""
    d, joined, bias = module.embed_dim, module.in_proj_weight is not None, module.in_proj_bias is not None
    if type(module).forward is not nn.MultiheadAttention.forward or (bias and not joined):
        return LayerParts(leaves=name)
    found = LayerParts(leaves=name)
    for at, each in enumerate("qkv"):
        columns = slice(at * d, (at + 1) * d)
        found.parts[each] = (
            _Part(module, columns, "in_proj_weight", "in_proj_bias" if bias else None)
            if joined
            else _Part(module, ALL, f"{each}_proj_weight", None)
        )
    x = _given(ran, name, trace) if name in ran and ran[name].same else None
    if x is not None and all(_near(found.parts[each].made(x), _side_by_side(getattr(trace, each))) for each in "qkv"):
        found.enters = name
    found.parts["o"] = _part(module.out_proj)
    return found


def _side_by_side(heads: Floats) -> Floats:
    """(head, token, d) → (token, heads · d)."""
    return heads.transpose(1, 0, 2).reshape(heads.shape[1], -1)


def _given(ran: Mapping[str, Ran], name: str, trace: Trace) -> Floats | None:
    """(token, width) the first argument of a module."""
    return flat(ran[name].given, trace.n_tokens) if name in ran else None


def _near(a: Floats | None, b: Floats) -> bool:
    if a is None or a.shape != b.shape:
        return False
    size = float(np.abs(b).max(initial=0.0))
    return bool(np.all(np.abs(a - b) <= NEAR * max(size, 1e-30)))


def flat(tensor: Any, n: int) -> Floats | None:
    """(token, width) of one sequence, however its axes of size 1 stand; None for anything else."""
    if not isinstance(tensor, torch.Tensor) or tensor.ndim < 2 or not tensor.is_floating_point():
        return None
    if tensor.numel() != n * tensor.shape[-1]:
        return None
    return copied(tensor.reshape(n, tensor.shape[-1])) if tensor.numel() else None
