"""The matrices around a model's heads: what makes their values, what their output is written with, tokens in, tokens out.

None is found by its name. A module counts where its output is, to the bit, the values that a head was seen to use, or where what
it is given is what the heads mixed; so a model whose parts do other things than they are called is refused, not misread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ...errors import InputError
from ...trace import Reading, Trace
from ...words import with_particle

__all__ = ["Circuits", "Heard", "circuits", "heard", "unembedding"]

Numbers = npt.NDArray[np.floating]
SAME = 1e-2  # of the largest number: a tensor is known again in half precision too, and never another one of its shape


@dataclass(frozen=True)
class Heard:
    """One call of a module that has a matrix: (token, width) what it was given and what it made."""

    module: Any
    given: Any
    made: Any


@dataclass(frozen=True, eq=False)
class Circuits:
    """What a model's heads read with and write with.

    w_e : (vocabulary, d_model) the embeddings;  w_u : (d_model, vocabulary) what makes logits
    values, outputs : (layer,) the matrix (d_model, …) that a layer's values come from, and its columns (head, d_value); the
        matrix (head · d_value, d_model) that takes what its heads mixed
    """

    w_e: Numbers
    w_u: Numbers
    values: Sequence[tuple[Any, npt.NDArray[np.intp]]]
    outputs: Sequence[Any]

    def heads(self) -> Iterator[list[tuple[Numbers, Numbers]]]:
        """(layer,) of each head: (d_model, d_value) and (d_value, d_model)."""
        for (whole, columns), out in zip(self.values, self.outputs, strict=True):
            read, written = _array(whole), _array(out)
            n_heads = len(written) // columns.shape[1]
            rows = written.reshape(n_heads, columns.shape[1], -1)
            group = n_heads // len(columns)
            yield [(read[:, columns[head // group]], rows[head]) for head in range(n_heads)]


@contextmanager
def heard(model: Any) -> Iterator[list[Heard]]:
    """The calls, of one sequence, of all modules that have a matrix and are given vectors."""
    calls: list[Heard] = []

    def hear(module: Any, given: Any, made: Any) -> None:
        if given and all(isinstance(one, torch.Tensor) and one.ndim > 1 for one in (given[0], made)):
            calls.append(Heard(module, *(one.detach().reshape(-1, one.shape[-1]) for one in (given[0], made))))

    hooks = [one.register_forward_hook(hear) for one in model.modules() if getattr(_weight(one), "ndim", 0) == 2]
    try:
        yield calls
    finally:
        for hook in hooks:
            hook.remove()


def circuits(name: str, calls: Sequence[Heard], reading: Reading, w_e: Any, w_u: Any) -> Circuits:
    """What was heard while a reading was made, and the matrices of tokens, as the circuits of its heads.

    Errors: ``InputError`` where a layer's values or its output are not of one matrix of the embeddings' width.
    """
    values, outputs, width = [], [], w_e.shape[1]
    for at, trace in enumerate(reading.layers):
        value, output = _value(calls, trace), _output(calls, trace)
        if value is None or value[0].shape[0] != width:
            raise _no_matrix(name, at, "values", "밸류")
        if output is None or output.shape[1] != width:
            raise _no_matrix(name, at, "output", "출력")
        values.append(value)
        outputs.append(output)
    return Circuits(_array(w_e), _array(w_u), values, outputs)


def unembedding(name: str, whole: Any, body: Any, inputs: dict[str, Any]) -> tuple[Any, Any]:
    """(vocabulary, d_model) the embeddings, and (d_model, vocabulary) what makes logits of the last vectors, seen at work.

    Errors: ``InputError`` for a model that makes no logits, or makes them by more than one matrix.
    """
    head, tokens = (_asked(whole, of) for of in ("get_output_embeddings", "get_input_embeddings"))
    if head is None or tokens is None or body is whole or getattr(whole.config, "is_encoder_decoder", False):
        raise InputError(
            en=f"{name} has no matrix that makes logits of the last vectors.",
            ko=f"{name}에는 마지막 벡터를 로짓으로 바꾸는 행렬이 없습니다.",
        )
    w_e, w_u = _weight(tokens), _direct(whole, body, head, inputs)
    if w_u is None or w_u.shape != w_e.T.shape:
        raise InputError(
            en=f"{name} makes logits of the last vectors by more than one matrix.",
            ko=f"{name}의 로짓은 마지막 벡터에 행렬 하나를 곱한 것이 아닙니다.",
        )
    return w_e, w_u


def _direct(whole: Any, body: Any, head: Any, inputs: dict[str, Any]) -> Any:
    """The matrix of the head, where it is given the last vectors as they are; None where something stands between."""
    last: list[Any] = []
    hook = body.register_forward_hook(lambda _module, _given, made: last.append(made[0]))
    try:
        with torch.no_grad(), heard(head) as calls:
            whole(**inputs)
    finally:
        hook.remove()
    if len(calls) != 1 or not torch.equal(calls[0].given, last[-1].reshape(-1, last[-1].shape[-1])):
        return None
    return _matrix(calls[0])


def _asked(whole: Any, of: str) -> Any:
    return getattr(whole, of)() if hasattr(whole, of) else None


def _value(calls: Sequence[Heard], trace: Trace) -> tuple[Any, npt.NDArray[np.intp]] | None:
    """The matrix that makes the values of a layer, and which of its columns are whose."""
    wanted = [[column.tobytes() for column in head.T] for head in _exact(trace.v)]
    for call in calls:
        if not _has(call.made, trace.v[0, :, 0]):
            continue
        there = {column.tobytes(): at for at, column in enumerate(_exact(_array(call.made)).T)}
        if all(column in there for head in wanted for column in head) and (matrix := _matrix(call)) is not None:
            return matrix, np.array([[there[column] for column in head] for head in wanted])
    return None


def _has(made: Any, column: Numbers) -> bool:
    """Whether one column is there: most modules are told apart by it, without a look at all their columns."""
    return len(made) == len(column) and bool((_array(made) == column[:, None]).all(axis=0).any())


def _output(calls: Sequence[Heard], trace: Trace) -> Any:
    """The matrix that is given what the heads of a layer mixed, one beside the other."""
    mixed = torch.from_numpy(np.concatenate(list(trace.mixed), axis=-1))
    return next((found for call in calls if _is(call.given, mixed) and (found := _matrix(call)) is not None), None)


def _matrix(call: Heard) -> Any:
    """(width given, width made) the matrix that a module multiplies by, whichever way round it keeps it; None for neither."""
    weight, bias = _weight(call.module).detach(), getattr(call.module, "bias", None)
    if weight.dtype != call.given.dtype:  # packed, as in four bits
        return None
    for way in (weight.T, weight):
        if way.shape == (call.given.shape[1], call.made.shape[1]):
            made = call.given @ way
            if _is(call.made, made if bias is None else made + bias.detach()):
                return way
    return None


def _is(one: Any, other: Any) -> bool:
    """Whether two tensors are the same but for rounding."""
    if one.shape != other.shape:
        return False
    one, other = (each.double().cpu() for each in (one, other))
    return bool((one - other).abs().max() <= SAME * other.abs().max())


def _weight(module: Any) -> Any:
    weight = getattr(module, "weight", None)
    return weight if isinstance(weight, torch.Tensor) else None


def _exact(array: Numbers) -> Numbers:
    """Each number as itself, in one width, and +0 for −0, so that columns can be known again by their bytes."""
    return np.asarray(array, dtype=np.float64) + 0.0


def _array(tensor: Any) -> Numbers:
    made: Numbers = (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy(force=True)
    return made


def _no_matrix(name: str, layer: int, what: str, what_ko: str) -> InputError:
    return InputError(
        en=f"{name}, layer {layer}: no single matrix was found that makes the {what} of its heads.",
        ko=f"{name} {layer}층에서 헤드의 {with_particle(what_ko, '을/를')} 만드는 행렬 하나를 찾지 못했습니다.",
    )
