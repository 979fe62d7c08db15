"""How a model's layers are looked at: its modules of ``jumok.nn`` where it has some, else whatever attends in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ... import nn as attention
from ...errors import InputError
from ...trace import Trace
from ..capture.capturing import Captured, not_read
from .record_projections import LayerParts, Ran, flat, parts_of, running
from .recording import Look, ModulesLook, SeenLayer, Watched

__all__ = ["LayersChanged", "ProgramLook", "look_at"]

OWN = (attention.SelfAttention, attention.MultiHeadAttention)


class LayersChanged(InputError):
    """The layers that attend are other ones than at the first look."""


def look_at(model: torch.nn.Module, watched: Watched, keep_weights: bool) -> Look:
    """The look that fits a model, found by running it once on a sequence.

    Errors: ``InputError`` where nothing attends, or where the sequence is several.
    """
    own = _own_modules(model, watched) if keep_weights else {}
    return ModulesLook(own) if own else ProgramLook(model, watched, keep_weights)


def _own_modules(model: torch.nn.Module, watched: Watched) -> dict[str, Any]:
    """Modules of ``jumok.nn`` in the order in which they run; none where one runs twice, or on several sequences."""
    modules = {name or "attention": module for name, module in model.named_modules() if type(module) in OWN}
    order: list[str] = []
    sizes: list[int] = []

    def watch(name: str) -> Callable[..., None]:
        def hook(_: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
            x = arguments[0] if arguments else named["x"]
            order.append(name)
            sizes.append(x[..., 0, 0].numel())

        return hook

    hooks = [module.register_forward_pre_hook(watch(name), with_kwargs=True) for name, module in modules.items()]
    try:
        watched.run()
    finally:
        for hook in hooks:
            hook.remove()
    fits = len(set(order)) == len(order) and all(size == 1 for size in sizes)
    return {name: modules[name] for name in order} if fits else {}


class ProgramLook:
    """Any program's layers, read as ``capture`` reads them, with their projections where these are found.

    The first run says which layers there are; a later one with other layers is refused.
    """

    def __init__(self, model: torch.nn.Module, watched: Watched, keep_weights: bool) -> None:
        self._model = model
        with running(dict(model.named_modules())) as ran, Captured(model, told=watched.told) as reading:
            watched.run()
        _refuse_none(reading)
        _refuse_several(reading)
        self.refused = reading.refused
        self.layers: Sequence[tuple[str, int, int]] = [
            (name, trace.n_heads, trace.n_kv_heads) for name, trace in _named(reading)
        ]
        finds = [parts_of(model, str(trace.source.details["module"]), trace, ran) for trace in reading]
        self._found = finds if keep_weights else [LayerParts(leaves=one.leaves) for one in finds]

    def weights(self) -> list[dict[str, Any]]:
        """(layer,) the projections that were found, copied."""
        return [found.weights() for found in self._found]

    def seen(self, watched: Watched) -> list[SeenLayer]:
        """(layer,) what each did with a sequence.

        Errors: ``LayersChanged`` where others attend than at the first look.
        """
        modules = dict(self._model.named_modules())
        needed = set().union(*(found.needed for found in self._found)) & modules.keys()
        with running({name: modules[name] for name in needed}) as ran:
            with Captured(self._model, told=watched.told) as reading:
                loss = watched.run()
            names = [name for name, _ in _named(reading)]
            if names != [name for name, *_ in self.layers]:
                raise _changed(names, [name for name, *_ in self.layers], reading)
            return [
                SeenLayer(
                    trace.rule, _arrays(trace, found, ran) | _gradient(loss, found.output(ran), trace), trace.tokens
                )
                for trace, found in zip(reading, self._found, strict=True)
            ]


def _arrays(trace: Trace, found: LayerParts, ran: Mapping[str, Ran]) -> dict[str, Any]:
    return {"q": trace.q, "k": trace.k, "v": trace.v} | found.arrays(trace, ran)


def _gradient(loss: torch.Tensor | None, output: Any, trace: Trace) -> dict[str, Any]:
    """dL/d(the layer's output), where the loss reads it."""
    if loss is None or output is None or not output.requires_grad:
        return {}
    (gradient,) = torch.autograd.grad(loss, [output], allow_unused=True, retain_graph=True)
    of_sequence = None if gradient is None else flat(gradient, trace.n_tokens)
    return {} if of_sequence is None else {"gradient": of_sequence}


def _named(reading: Captured) -> list[tuple[str, Trace]]:
    """The layers with their names, "a", then "a (2)" where one module attends twice."""
    count: dict[str, int] = {}
    named = []
    for trace in reading:
        name = str(trace.source.details["module"]) or "attention"
        count[name] = count.get(name, 0) + 1
        named.append((name if count[name] == 1 else f"{name} ({count[name]})", trace))
    return named


def _refuse_none(reading: Captured) -> None:
    if len(reading):
        return
    what, what_ko = not_read(reading)
    raise InputError(
        en=f"nothing attends in this model on the first probe, so there is nothing to record.{f' Seen: {what}' if what else ''}",
        ko=f"첫 번째로 살펴볼 입력에서 이 모델은 어텐션을 쓰지 않습니다. 기록할 것이 없습니다.{f' 본 것: {what_ko}' if what_ko else ''}",
    )


def _refuse_several(reading: Captured) -> None:
    stack = reading.source.details["stack"]
    same = [one for one in reading.readings if one.source.details["stack"] == stack]
    n = 1 + max(int(one.source.details["item"]) for one in same)
    if n > 1:
        raise InputError(
            en=f"a probe expects one sequence, but the model attended within {n}. Give each as a probe of its own: [a, b].",
            ko=f"살펴볼 것 하나에는 시퀀스가 하나 있어야 하는데 모델은 {n}개를 보았습니다. 하나씩 나누어 [a, b]처럼 주십시오.",
        )
    lengths = sorted({trace.n_tokens for trace in reading})
    if len(lengths) > 1 or any(trace.key_tokens is not None for trace in reading):
        raise InputError(
            en=f"record expects layers that all read the same tokens, but these read {lengths} of them, or another sequence.",
            ko=f"record에는 모든 층이 같은 토큰을 읽는 모델이 필요한데 이 모델의 층은 토큰 {lengths}개나 다른 시퀀스를 읽습니다.",
        )


def _changed(names: Sequence[str], before: Sequence[str], reading: Captured) -> LayersChanged:
    gone = [name for name in before if name not in names]
    new = [name for name in names if name not in before]
    refused = [one for one in reading.refused if one.module in gone]
    why, why_ko = (" ".join(getattr(one, name) for one in refused) for name in ("why_en", "why_ko"))
    return LayersChanged(
        en=f"other layers attend than at the start: gone {gone}, new {new}. {why}".rstrip(),
        ko=f"처음과 다른 층이 어텐션을 씁니다. 없어진 것 {gone}, 새로 생긴 것 {new}. {why_ko}".rstrip(),
    )
