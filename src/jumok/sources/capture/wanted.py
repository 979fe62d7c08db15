"""Which layers are kept: checked before a model runs, as far as it tells how many it has, and after."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from ...errors import InputError
from .notes import Note

__all__ = ["Layers", "absent", "refuse_absent", "refuse_absent_early", "wanted_layers"]

Layers = Collection[int] | None
SIZES = ("num_hidden_layers", "num_layers", "n_layer", "encoder_layers", "decoder_layers", "num_decoder_layers")
SHOWN = 8


def wanted_layers(layers: Any) -> Layers:
    """The layers that are asked for, as something that is quick to look into; None for all.

    Errors: ``InputError`` for what is no list of whole numbers from 0, or an empty one.
    """
    if layers is None:
        return None
    if isinstance(layers, range):
        made: Collection[int] = layers
        is_good = len(layers) > 0 and min(layers[0], layers[-1]) >= 0
    else:
        given = list(layers) if isinstance(layers, Iterable) and not isinstance(layers, (str, bytes)) else []
        is_good = bool(given) and all(type(layer) is int and layer >= 0 for layer in given)
        made = frozenset(given) if is_good else ()
    if not is_good:
        raise InputError(
            en=f"layers expects whole numbers from 0, such as layers=range(6) or layers=[0, 5]; got {layers!r:.80}.",
            ko=f"layers에는 0 이상의 정수 목록(예: layers=range(6), layers=[0, 5])이 필요한데 {layers!r:.80}이(가) 왔습니다.",
        )
    return made


def refuse_absent_early(model: Any, layers: Layers) -> None:
    """Refuse, before it runs, layers beyond those of a model whose config tells how many it has at most."""
    config = getattr(model, "config", None)
    parts = [config, *(getattr(config, name, None) for name in ("text_config", "vision_config", "encoder", "decoder"))]
    sizes = [size for part in parts for name in SIZES if type(size := getattr(part, name, None)) is int]
    if sizes:
        refuse_absent(layers, max(sizes))


def refuse_absent(layers: Layers, n_layers: int) -> None:
    """Refuse layers that a model does not have.

    Errors: ``InputError`` with those that it has.
    """
    note = absent(layers, n_layers)
    if note is not None:
        raise InputError(en=note.en, ko=note.ko)


def absent(layers: Layers, n_layers: int) -> Note | None:
    """What is to be said of layers that a model with so many does not have; None where it has all of them, or none at all."""
    if layers is None or n_layers == 0 or _last(layers) < n_layers:
        return None
    return Note(
        en=f"layers expects some of 0 to {n_layers - 1}, got {told(layers)}. Layers of attention in this model: {n_layers}.",
        ko=f"layers에는 0부터 {n_layers - 1}까지 쓸 수 있는데 {told(layers)}이(가) 왔습니다. 이 모델의 어텐션 층: {n_layers}개.",
    )


def _last(layers: Collection[int]) -> int:
    return max(layers[0], layers[-1]) if isinstance(layers, range) else max(layers)


def told(layers: Collection[int]) -> str:
    """Layers as text: [0, 5], or of a long range its ends."""
    if len(layers) <= SHOWN:
        return str(sorted(layers))
    first = min(layers[0], layers[-1]) if isinstance(layers, range) else min(layers)
    return f"[{first}, …, {_last(layers)}]"
