"""How a learner's function gets into the child process: as a file, by its name, or pickled by value."""

from __future__ import annotations

import ast
import inspect
import os
import shutil
import sys
import sysconfig
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import InputError, MissingExtra, system_reason

__all__ = ["NotChosen", "Reached", "of_file", "of_object"]


class NotChosen(InputError):
    """A file defines nothing that could be meant, or several things; ``names`` are what it defines."""

    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reached:
    """One function, class or module, wherever it comes from.

    reach : "file", "reference" (of an installed package) or "pickle"
    name : in the file or package;  source : its text where it is known;  first_line : where that begins in its file
    """

    reach: str
    name: str
    source: str = ""
    first_line: int = 1
    file: Path | None = None
    module: str = ""
    pickled: bytes = b""
    beside: tuple[Path, ...] = field(default_factory=tuple)

    def put(self, place: Path) -> None:
        """Copy what is needed into a folder."""
        if self.file is not None and self.reach == "file":
            for one in (self.file, *self.beside):
                shutil.copyfile(one, place / one.name)
        if self.pickled:
            (place / "function.pickle").write_bytes(self.pickled)

    def request(self) -> dict[str, Any]:
        """What the child must know."""
        file = self.file.name if self.file is not None else ""
        return {"reach": self.reach, "name": self.name, "module": self.module, "file": file}

    @property
    def library(self) -> str:
        """The library that its source uses: "torch" or "numpy"."""
        return "torch" if "torch" in self.source else "numpy"


def of_file(path: Path, name: str | None) -> Reached:
    """A function of a file; without a name the one that looks like attention, or the only one.

    Errors: ``InputError`` for a file that cannot be read, or a name that is not in it.
    """
    try:
        source = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        en, ko = system_reason(error)
        raise InputError(
            en=f"cannot read {path}: {en}. Give a Python file, such as my.py or my.py:attention.",
            ko=f"{path}을(를) 읽을 수 없습니다: {ko}. my.py나 my.py:attention처럼 파이썬 파일을 쓰십시오.",
        ) from error
    names = _defined(source)
    if name is None and names is not None:
        name = _likeliest(path, names)
    if names is not None and name is not None and name.split(".")[0] not in names:
        some = ", ".join(names) or "-"
        raise InputError(
            en=f"{path.name} has no {name}. It defines: {some}.",
            ko=f"{path.name}에 {name}이(가) 없습니다. 이 파일에 있는 이름: {some}.",
        )
    return Reached("file", name or "", source, 1, path.resolve(), beside=_beside(path.resolve(), source))


def _defined(source: str) -> list[str] | None:
    """The names that a file defines, functions and classes first; None where it is not Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    made = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)]
    for node in tree.body:
        if isinstance(node, ast.Assign):
            made += [target.id for target in node.targets if isinstance(target, ast.Name)]
    return made


_LIKELY = ("attention", "attn", "sdpa", "attend", "head", "softmax", "scale")


def _likeliest(path: Path, names: list[str]) -> str:
    """What is being written in a file: the last function or class whose name says so, or the only one there is."""
    public = [name for name in names if not name.startswith("_")]
    for word in _LIKELY:
        found = [name for name in public if word in name.lower() and not name.isupper()]
        if found:
            return found[-1]
    if len(public) == 1:
        return public[0]
    raise _not_chosen(path, public)


def _not_chosen(path: Path, names: list[str]) -> NotChosen:
    some = ", ".join(names)
    error = NotChosen(
        en=f"which one of {path.name}? It defines: {some}. Say it behind a colon: {path.name}:{names[0]}",
        ko=f"{path.name}의 어느 것입니까? 이 파일에 있는 이름: {some}. 콜론 뒤에 쓰십시오: {path.name}:{names[0]}",
    ) if names else NotChosen(
        en=f"{path.name} defines no function. Write one, such as def attention(q, k, v): …",
        ko=f"{path.name}에 함수가 없습니다. def attention(q, k, v): …처럼 함수를 쓰십시오.",
    )  # fmt: skip
    error.names = tuple(names)
    return error


def _beside(path: Path, source: str) -> tuple[Path, ...]:
    """Files of the same folder that it imports, and what they import."""
    found: dict[Path, None] = {}
    waiting = [source]
    while waiting:
        try:
            tree = ast.parse(waiting.pop())
        except (SyntaxError, ValueError):
            continue
        for name in _imported(tree):
            file = path.parent / f"{name}.py"
            if file.is_file() and file != path and file not in found:
                found[file] = None
                waiting.append(file.read_text(encoding="utf-8", errors="replace"))
    return tuple(found)


def _imported(tree: ast.AST) -> list[str]:
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name.partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module.partition(".")[0])
    return names


# objects ----------------------------------------------------------------------------------------


def of_object(thing: Any) -> Reached:
    """A function, class or module of this Python: of a file by its file, of a package by its name, else by value.

    Errors: ``InputError`` for what cannot be called, ``MissingExtra`` where it takes cloudpickle to carry it over.
    """
    if not callable(thing) and not hasattr(thing, "forward"):
        raise InputError(
            en=f"check expects a function, a class or a module, or a file such as 'my.py:attention', got {type(thing).__name__}.",
            ko=f"check에는 함수, 클래스, 모듈 또는 'my.py:attention' 같은 파일이 필요한데 {type(thing).__name__}이(가) 왔습니다.",
        )
    named = _named(thing)
    if named is not None:
        return named
    source, line = _source(thing)
    return Reached("pickle", _name(thing), source, line, pickled=_pickled(thing))


def _name(thing: Any) -> str:
    name = getattr(thing, "__qualname__", "") or type(thing).__name__
    return str(name).rpartition(".")[2].strip("<>")


def _named(thing: Any) -> Reached | None:
    """By file or by name, where the name there means this very thing."""
    module, name = sys.modules.get(getattr(thing, "__module__", None) or ""), getattr(thing, "__qualname__", "")
    if module is None or not name or "<" in name:
        return None
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    file = getattr(module, "__file__", None)
    if found is not thing or (file is None and module.__name__ == "__main__"):  # a notebook's, or a prompt's
        return None
    if file is None or _is_installed(file):
        return Reached("reference", name, *_source(thing), module=module.__name__)
    path = Path(file)
    text = path.read_text(encoding="utf-8", errors="replace") if path.suffix == ".py" and path.is_file() else ""
    relative = any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(ast.parse(text or "")))
    if not text or relative:
        return None
    return Reached("file", name, text, 1, path.resolve(), beside=_beside(path.resolve(), text))


def _is_installed(file: str) -> bool:
    """Whether the child will find it too."""
    homes = [sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    from .process import ROOT

    return any(
        os.path.realpath(file).startswith(os.path.realpath(home) + os.sep) for home in (*homes, str(ROOT / "jumok"))
    )


def _source(thing: Any) -> tuple[str, int]:
    several: tuple[Any, ...] = (thing, type(thing), getattr(thing, "func", None))
    for one in several:
        try:
            lines, first = inspect.getsourcelines(one)
        except (TypeError, OSError):
            continue
        return textwrap.dedent("".join(lines)), max(first, 1)
    return "", 1


def _pickled(thing: Any) -> bytes:
    try:
        import cloudpickle
    except ModuleNotFoundError:
        raise MissingExtra(extra="teach", package="cloudpickle") from None
    module = sys.modules.get(getattr(thing if hasattr(thing, "__qualname__") else type(thing), "__module__", ""))
    file = getattr(module, "__file__", None)
    by_value = module is not None and module.__name__ != "__main__" and file is not None and not _is_installed(file)
    if by_value:
        cloudpickle.register_pickle_by_value(module)
    try:
        return bytes(cloudpickle.dumps(thing))
    except Exception as error:
        raise InputError(
            en=f"this function cannot be carried into another process: {error}. Put it into a file and check 'my.py:name'.",
            ko=f"이 함수를 다른 프로세스로 옮길 수 없습니다: {error}. 파일에 넣고 'my.py:이름'을 검사하십시오.",
        ) from error
    finally:
        if by_value:
            cloudpickle.unregister_pickle_by_value(module)
