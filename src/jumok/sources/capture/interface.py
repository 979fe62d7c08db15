"""Attention of transformers' models, from the attention functions that they register: no operation is watched.

Models that follow the library's attention interface hand q, k, v, mask, scale, soft cap, window and sinks to one
function. While an ``Interface`` is open that function is stood before; everything else runs as it would.
"""

from __future__ import annotations

import threading
from typing import Any

import torch

from .atoms import Axes
from .found import Found, Step, compact, sampled

__all__ = ["Interface", "followed"]


def followed(model: Any) -> dict[int, str]:
    """The names of the modules of a transformers model all of whose attention goes through the registered functions, by id.

    Empty for any other model.
    """
    names: dict[int, str] = {}
    if getattr(model, "_supports_attention_backend", False):
        for name, module in model.named_modules():
            if isinstance(module, torch.nn.MultiheadAttention) or _compiled(module):
                return {}
            names[id(module)] = name
    return names


def _compiled(module: Any) -> bool:
    """True after torch.compile: what is compiled does not look up its functions again."""
    return "_orig_mod" in module._modules or module._compiled_call_impl is not None


class Interface:
    """Collects the attention calls of a model, in ``found``. Use as a context manager, one thread's own.

    names : of its modules, as ``followed`` gives them
    """

    def __init__(self, model: Any, names: dict[int, str], found: Any) -> None:
        self.names, self.found = names, found
        self.seen: list[Any] = []
        self._model, self._run = model, 0
        self._tables: list[Any] = []

    def __enter__(self) -> Interface:
        self._thread = threading.get_ident()
        self._hook = self._model.register_forward_pre_hook(self._begins)
        with _lock:
            _open.append(self)
            if len(_open) == 1:
                _stand_before()
        return self

    def __exit__(self, *_: object) -> None:
        self._hook.remove()
        with _lock:
            _open.remove(self)
            if not _open:
                _step_aside()

    def _begins(self, *_: object) -> None:
        self._run += 1

    def takes(self, module: Any) -> bool:
        """True for a module of this model, in the thread that watches it."""
        return id(module) in self.names and threading.get_ident() == self._thread

    def called(self, module: Any, given: tuple[Any, Any, Any, Any], options: dict[str, Any], mixed: Any) -> None:
        """One call: given q, k, v and the mask, it mixed (batch, query, head, d_value)."""
        self.found.append(self._found(module, *given, options, mixed))

    def _found(self, module: Any, q: Any, k: Any, v: Any, mask: Any, options: dict[str, Any], mixed: Any) -> Found:
        """The call: q (batch, head, query, d), k and v (batch, kv_head, key, d), mixed (batch, query, head, d)."""
        n, causal, steps = q.shape[2], False, list[Step]()
        bias, softcap, sinks = options.get("position_bias"), options.get("softcap"), options.get("s_aux")
        if mask is None:
            told = options.get("is_causal")
            causal = bool(getattr(module, "is_causal", False) if told is None else told) and n > 1
            if causal and k.shape[2] > n:
                k, v = k[:, :, :n], v[:, :, :n]
                bias = None if bias is None else bias[..., :n]
        group = q.shape[1] // k.shape[1]
        lead, kv_lead = [q.shape[0], k.shape[1], group], [q.shape[0], k.shape[1], 1]
        axes = Axes.of(lead, row=n, column=k.shape[2])
        scale = options.get("scaling")
        scale = q.shape[-1] ** -0.5 if scale is None else float(scale)
        if softcap is not None:
            steps += [Step("times", 1 / softcap), Step("tanh"), Step("times", softcap)]
        for table in (mask, bias):
            if table is not None:
                table = table[..., : k.shape[2]]
                kind = "allowed" if table.dtype == torch.bool else "add"
                heads = (k.shape[1], group) if table.shape[1] > 1 else (1, 1)
                steps.append(Step(kind, self._kept(table).reshape(len(table), *heads, *table.shape[2:])))
        if sinks is not None:
            steps.append(Step("sinks", sinks))
        rows = sampled(n)
        output = mixed[:, rows].detach().transpose(1, 2)  # a copy already
        return Found(
            self.names[id(module)], self._run, compact(q).reshape(*lead, *q.shape[2:]), compact(k).reshape(*kv_lead, *k.shape[2:]),
            compact(v).reshape(*kv_lead, *v.shape[2:]), output.reshape(*lead, *output.shape[2:]), rows,
            axes.dims[:3], axes.dims[3], tuple(steps), "interface", scale=scale, causal=causal,
            training=bool(options.get("dropout")), joined=[*axes.dims[1], *axes.dims[2]],
        )  # fmt: skip

    def _kept(self, table: Any) -> Any:
        """A mask or bias, kept once however many layers are given it."""
        for other, kept in self._tables:
            if other is table:
                return kept
        for _, kept in self._tables:
            if kept.shape == table.shape and kept.dtype == table.dtype and torch.equal(kept, table):
                return kept
        self._tables.append((table, compact(table)))
        return self._tables[-1][1]


_open: list[Interface] = []  # those that watch now, in any thread: the library's function is stood before once
_lock = threading.Lock()
_own: list[Any] = []


def _stand_before() -> None:
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    kind: Any = type(ALL_ATTENTION_FUNCTIONS)
    own = kind.get_interface
    _own[:] = [kind, own]

    def get_interface(functions: Any, name: str, default: Any) -> Any:
        return _before(own(functions, name, default))

    kind.get_interface = get_interface


def _step_aside() -> None:
    kind, own = _own
    kind.get_interface = own
    _own.clear()


def _before(function: Any) -> Any:
    def attended(module: Any, query: Any, key: Any, value: Any, attention_mask: Any, **options: Any) -> Any:
        out = function(module, query, key, value, attention_mask, **options)
        for one in tuple(_open):  # another thread may open or close one meanwhile
            if one.takes(module):
                one.called(module, (query, key, value, attention_mask), options, out[0])
        return out

    return attended
