"""Whether a model that was loaded has all of its weights from its files: what is missing there is made up at random."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ...errors import InputError
from .notes import Note

__all__ = ["whole"]

SHOWN = 3
_NOT_READ = re.compile(r"(^|\.)pooler\.")  # stands behind the last layer, and hands nothing to attention


def whole(model: Any, report: dict[str, Any], folder: Path) -> tuple[Any, tuple[Note, ...]]:
    """The model, or only its body where the weights of a task's head are not in its files; with a note that says so.

    report : what transformers says of the loading: missing, unexpected and mismatched keys

    Errors: ``InputError`` where weights of the body are missing, of another shape, or more than the config tells of.
    """
    body = _body(model)
    mismatched = {
        str(name): f"{name} {tuple(there)} ≠ {tuple(wanted)}" for name, there, wanted in report["mismatched_keys"]
    }
    _refuse_shapes(folder, [mismatched[name] for name in sorted(mismatched) if _is_read(name, body)])
    missing = sorted(map(str, report["missing_keys"]))
    _refuse_missing(folder, [name for name in missing if _is_read(name, body)])
    _refuse_more(folder, model, body, map(str, report["unexpected_keys"]))
    made_up = sorted({*missing, *mismatched})
    if not made_up:
        return model, ()
    return model.base_model, (_left_out(made_up),)


def _body(model: Any) -> str:
    """What the names of the weights begin with that make the model without its task's head; "" for a model without one."""
    prefix = getattr(model, "base_model_prefix", "")
    return f"{prefix}." if prefix and getattr(model, prefix, None) is not None else ""


def _is_read(name: str, body: str) -> bool:
    return name.startswith(body) and not _NOT_READ.search(name)


def _refuse_missing(folder: Path, names: list[str]) -> None:
    if names:
        raise InputError(
            en=f"{folder}: the files lack weights that the config tells of, and what is missing would be made up at random: "
            f"{_some(names)}. Copy the whole model, or correct config.json.",
            ko=f"{folder}: 설정에 있는 가중치가 파일에 없습니다. 없는 것은 난수로 채워지므로 읽지 않습니다: {_some(names)}. 모델을 "
            f"빠짐없이 복사하거나 config.json을 바로잡으십시오.",
        )


def _refuse_shapes(folder: Path, told: list[str]) -> None:
    if told:
        raise InputError(
            en=f"{folder}: weights have another shape than the config says (file ≠ config): {_some(told)}. config.json belongs "
            f"to another model: take the one that came with these weights.",
            ko=f"{folder}: 가중치의 모양이 설정과 다릅니다(파일 ≠ 설정): {_some(told)}. 다른 모델의 config.json입니다. 이 가중치와 함께 "
            f"있던 것을 쓰십시오.",
        )


def _refuse_more(folder: Path, model: Any, body: str, names: Iterable[str]) -> None:
    """Weights of further layers: a config with fewer layers would read another model."""
    known = {_without_numbers(name.removeprefix(body)) for name in model.state_dict()}
    more = sorted(
        name for name in names if re.search(r"\d", name) and _without_numbers(name.removeprefix(body)) in known
    )
    if more:
        raise InputError(
            en=f"{folder}: the files hold weights of more layers than the config says, which would be left out: {_some(more)}. "
            f"Correct config.json.",
            ko=f"{folder}: 파일에 있는 층이 설정보다 많아서 나머지가 빠집니다: {_some(more)}. config.json을 바로잡으십시오.",
        )


def _without_numbers(name: str) -> str:
    return re.sub(r"\d+", "#", name)


def _left_out(names: list[str]) -> Note:
    return Note(
        en=f"The files lack the weights of the task's head ({_some(names)}), which attention does not use: the model is read "
        f"without it.",
        ko=f"과제용 머리 부분의 가중치가 파일에 없습니다({_some(names)}). 어텐션에는 쓰이지 않으므로 그 부분을 빼고 읽었습니다.",
    )


def _some(names: list[str]) -> str:
    more = f", … ({len(names)})" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
