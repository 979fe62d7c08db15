"""Classes and modules with matrices of their own: made for the sizes of a case, their matrices found and set.

So what is checked is what the code does with W_Q, W_K, W_V, wherever it keeps them.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .layouts import role_of, weight_role
from .libraries import Library

__all__ = ["Owned", "has_own_widths", "is_module_like", "owned"]


def is_module_like(thing: Any) -> bool:
    """A class, or an object that is no function but can be called or has ``forward``."""
    if inspect.isclass(thing):
        return True
    plain = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc)
    if isinstance(thing, plain) or (hasattr(thing, "func") and hasattr(thing, "keywords")):
        return False
    return hasattr(thing, "forward") or type(thing).__module__ not in ("builtins", "functools", "torch")


@dataclass
class _Weight:
    """One array of the object, or a part of it.

    turned : True where it is (d_out, d_in);  is_bias : it is added;  rows : which part of d_out it is, of a fused one
    """

    holder: Any
    name: str
    turned: bool
    is_bias: bool

    @property
    def array(self) -> Any:
        return self.holder[self.name] if isinstance(self.holder, dict) else getattr(self.holder, self.name)

    @property
    def shape(self) -> tuple[int, ...]:
        """(d_in, d_out), or (d_out,)."""
        shape = tuple(int(size) for size in self.array.shape)
        return shape[::-1] if self.turned and len(shape) == 2 else shape

    def put(self, values: Any, lib: Library, dtype: str) -> None:
        made = lib.array(values.T if self.turned and values.ndim == 2 else values, dtype)
        if lib.name == "torch" and hasattr(self.array, "data"):
            self.array.data = made
        elif isinstance(self.holder, dict):
            self.holder[self.name] = made
        else:
            setattr(self.holder, self.name, made)


@dataclass
class Owned:
    """An object, what is called, and its matrices by role: "w_q" … "b_o"; several where each head has its own."""

    thing: Any
    call: Callable[..., Any]
    n_heads: int
    weights: dict[str, list[_Weight]] = field(default_factory=dict)

    def sizes(self) -> dict[str, Any]:
        """The widths that its matrices have."""

        def width(role: str, part: str) -> int:
            if role in self.weights:
                return sum(one.shape[1] for one in self.weights[role])
            return part_of[part]

        part_of = self._fused()
        first = self.weights.get("w_q") or self.weights["w_qkv"]
        keys = self.weights.get("w_k") or self.weights.get("w_kv") or first
        d_out = self.weights["w_o"][0].shape[1] if "w_o" in self.weights else first[0].shape[0]
        roles = {role[2:] for role in self.weights if role.startswith("b_")}
        biases = sorted((roles & set("qkvo")) | (set("qkv") if "b_qkv" in self.weights else set()))
        return {
            "d_model": first[0].shape[0], "d_k": width("w_q", "q"), "d_v": width("w_v", "v"), "d_out": d_out,
            "d_context": keys[0].shape[0], "n_heads": self.n_heads, "biases": biases, "with_o": "w_o" in self.weights,
        }  # fmt: skip

    def _fused(self) -> dict[str, int]:
        if "w_qkv" not in self.weights:
            kv = self.weights.get("w_kv")
            return {"v": kv[0].shape[1] // 2, "q": 0} if kv else {}
        total = self.weights["w_qkv"][0].shape[1] // 3
        return dict.fromkeys("qkv", total)

    def put(self, projections: Mapping[str, Any], lib: Library, dtype: str) -> None:
        """Set its matrices to those of a case."""
        for role, weights in self.weights.items():
            bias = role.startswith("b_")
            arrays = [projections[one][bias] for one in role[2:] if one in projections]
            if not arrays or any(one is None for one in arrays):
                continue
            whole = np.concatenate(arrays, axis=-1)
            if role == "w_o" or role == "b_o":
                weights[0].put(whole, lib, dtype)
                continue
            at = 0
            for one in weights:
                one.put(whole[..., at : at + one.shape[-1]], lib, dtype)
                at += one.shape[-1]
        if lib.name == "torch" and hasattr(self.thing, "to"):
            self.thing.to(getattr(lib.torch, dtype))  # type: ignore[attr-defined]
        if hasattr(self.thing, "eval"):
            self.thing.eval()

    def v_is_called(self, run: Callable[[], Any]) -> bool:
        """Whether the layer that makes the values is used at all."""
        holders = [one.holder for one in self.weights.get("w_v", [])]
        if not holders or not hasattr(holders[0], "register_forward_hook") or holders[0] is self.thing:
            return True
        called: list[bool] = []
        for one in holders:
            one.register_forward_hook(lambda *_: called.append(True))
        run()
        return bool(called)


def owned(thing: Any, sizes: Mapping[str, Any], own_widths: bool = False) -> Owned:
    """The object for these sizes (a class is made, an object is copied) with its matrices found.

    own_widths : True where a class keeps the widths that it has as defaults
    Errors: whatever its own code raises.
    """
    made, asked_heads = _made(thing, sizes, own_widths) if inspect.isclass(thing) else (copy.deepcopy(thing), 0)
    if hasattr(made, "eval"):
        made.eval()
    call = made if callable(made) and (hasattr(made, "forward") or "__call__" in dir(type(made))) else made.forward
    told = made.forward if hasattr(made, "forward") else call
    weights = _found(made)
    n_heads = _heads_of(made) or max((len(one) for role, one in weights.items() if role in ("w_q", "w_v")), default=1)
    n_heads = n_heads if n_heads > 1 else asked_heads
    if told is not call:
        call = _with_signature(call, told)
    return Owned(made, call, n_heads if n_heads > 1 else 0, weights)


def _with_signature(call: Any, told: Any) -> Any:
    def called(*args: Any, **options: Any) -> Any:
        return call(*args, **options)

    called.__signature__ = inspect.signature(told)  # type: ignore[attr-defined]
    return called


def has_own_widths(thing: Any) -> bool:
    """Whether it is a class whose ``__init__`` has widths as defaults."""
    return inspect.isclass(thing) and any(_is_width(one) for one in _asked(thing))


def _asked(kind: Any) -> list[inspect.Parameter]:
    free = ("VAR_POSITIONAL", "VAR_KEYWORD")
    return [one for one in inspect.signature(kind).parameters.values() if one.kind.name not in free]


def _is_width(one: inspect.Parameter) -> bool:
    is_number = isinstance(one.default, int) and not isinstance(one.default, bool)
    return is_number and one.default > 1 and role_of(one.name) in ("d_model", "d_context", "d_out", "d_head", "d_value")


def _made(kind: Any, sizes: Mapping[str, Any], own_widths: bool) -> tuple[Any, int]:
    """An instance, from the names of what ``__init__`` asks for; and the number of heads that it was told.

    Widths that are defaults are set with the heads, for one must divide the other: but not where the heads are fixed.
    """
    options, heads = _options(kind, sizes, own_widths)
    if own_widths or not has_own_widths(kind):
        return kind(**options), heads
    with contextlib.suppress(Exception):
        made = kind(**options)
        if heads or _heads_of(made) < 2:
            return made, heads
    return _made(kind, sizes, own_widths=True)


def _options(kind: Any, sizes: Mapping[str, Any], own_widths: bool) -> tuple[dict[str, Any], int]:
    n_heads = sizes["n_heads"] or 1
    known = {
        "d_model": sizes["d_model"], "d_context": sizes["d_model"], "d_out": sizes["d_k"], "n_heads": n_heads, "n_tokens": 16,
        "d_head": sizes["d_k"] // n_heads, "d_value": sizes["d_v"] // n_heads,
        "zero": 0.5, "false": False, "true": True, "axis": -1, "rng": 0,
        "one": (sizes["d_k"] / n_heads) ** 0.5,  # a temperature that is asked for is √d_k
    }  # fmt: skip
    options: dict[str, Any] = {}
    heads = 0
    for at, one in enumerate(_asked(kind)):
        role = role_of(one.name).replace("axis", "d_model")
        is_required = one.default is inspect.Parameter.empty
        if role == "n_heads" and (is_required or not isinstance(one.default, bool)):
            options[one.name], heads = n_heads, n_heads
        elif not is_required:
            if role in ("zero", "true") or (_is_width(one) and not own_widths):
                options[one.name] = known[role]
        elif "conf" in one.name.lower() or one.name in ("args", "params", "hparams", "cfg"):
            options[one.name], heads = _Config(known), n_heads
        else:
            role = role if role in known else "d_model" if at == 0 else "d_out" if at == 1 else "n_heads"
            options[one.name] = known[role]
    if heads == 0:  # without heads the width of one is the whole
        options |= {name: sizes["d_k"] for name in options if role_of(name) == "d_head"}
        options |= {name: sizes["d_v"] for name in options if role_of(name) == "d_value"}
    return options, heads


class _Config:
    """Answers for whatever a configuration is asked for."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        self._known = known

    def __getattr__(self, name: str) -> Any:
        role = role_of(name)
        if role in self._known:
            return self._known[role]
        if name.startswith("__"):
            raise AttributeError(name)
        return "bias" not in name and 1


def _heads_of(made: Any) -> int:
    for name, value in vars(made).items():
        if role_of(name) == "n_heads" and isinstance(value, int) and not isinstance(value, bool):
            return value
    return 0


def _found(made: Any) -> dict[str, list[_Weight]]:
    """The matrices and biases by role."""
    found: dict[str, list[_Weight]] = {}
    leftover: list[_Weight] = []
    for path, weight in _arrays(made):
        role = _role(path, weight)
        if role:
            found.setdefault(role, []).append(weight)
        else:
            leftover.append(weight)
    matrices = [one for one in leftover if not one.is_bias]
    unnamed: tuple[str, ...] = ()
    if not {"w_q", "w_qkv"} & set(found) and len(matrices) in (3, 4):  # no names: in the order of their making
        unnamed = ("q", "k", "v", "o")
    elif "w_o" not in found and found and len(matrices) == 1:
        unnamed = ("o",)
    for role, weight in zip(unnamed, matrices, strict=False):
        found[f"w_{role}"] = [weight]
        biases = [one for one in leftover if one.is_bias and one.holder is weight.holder and weight.holder is not made]
        found |= {f"b_{role}": biases} if biases else {}
    complete = "w_qkv" in found or {"w_q", "w_k", "w_v"} <= set(found) or {"w_q", "w_kv"} <= set(found)
    return found if complete else {}


def _arrays(made: Any) -> list[tuple[str, _Weight]]:
    """Every matrix and bias with its path."""
    if hasattr(made, "named_modules"):
        return [pair for path, module in made.named_modules() for pair in _of_module(path, module)]
    arrays = [
        (name, value) for name, value in vars(made).items() if hasattr(value, "shape") and hasattr(value, "dtype")
    ]
    return [
        (name, _Weight(made, name, False, len(value.shape) == 1))
        for name, value in arrays
        if len(value.shape) in (1, 2)
    ]


def _of_module(path: str, module: Any) -> list[tuple[str, _Weight]]:
    if re.search("norm", type(module).__name__.lower()) or type(module).__name__ == "Embedding":
        return []
    linear = type(module).__name__ in ("Linear", "NonDynamicallyQuantizableLinear")
    pairs = []
    for name, value in module._parameters.items():
        if value is None or value.ndim not in (1, 2):
            continue
        turned = linear or name.startswith("in_proj")
        full = path if linear else f"{path}.{name}".strip(".")
        pairs.append((full, _Weight(module, name, turned, value.ndim == 1)))
    return pairs


def _role(path: str, weight: _Weight) -> str:
    """The role by the last part of the path that says one."""
    kind = "b_" if weight.is_bias else "w_"
    for part in reversed(path.split(".")):
        if part.isdigit():
            continue
        low = re.sub(r"([a-z])([A-Z])", r"\1_\2", part).lower()
        if re.search(r"qkv|in_proj|c_attn", low) or low in ("attn", "to_all"):
            return f"{kind}qkv"
        if re.fullmatch(r"(to_|w_?|proj_)?kv(_proj|_linear)?", low):
            return f"{kind}kv"
        role = weight_role(low) or weight_role(f"w_{low}")
        if role:
            return f"{kind}{role[-1]}"
        if role_of(low) in ("q", "k", "v"):
            return f"{kind}{role_of(low)}"
        if re.search(r"proj|out|unify|dense|fc|w_?o|mix|combine|linear$", low):
            return f"{kind}o"
        return ""
    return ""
