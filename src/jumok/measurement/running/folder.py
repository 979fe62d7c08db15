"""A run's folder: its plan, a file a shard, and the tables at its end. Each file is there whole or not at all."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from ...errors import InputError, OutputError, system_reason
from ...files import refuse_unwritable, write_whole
from ...words import with_particle
from .measured import LeftOut, Measured
from .shard import Arrays

__all__ = ["EXAMPLES", "HEADS", "PAGE", "PLAN", "RunFolder", "begun", "opened", "refuse_folder"]

PLAN, SHARDS, HEADS, EXAMPLES, PAGE = "plan.json", "shards", "heads.parquet", "examples.parquet", "measure.html"
RESULTS = (HEADS, EXAMPLES, PAGE)
FORMAT = 1
PARTS = {"format": int, "jumok": str, "model": dict, "corpus": dict, "settings": dict, "shards": list}  # of a plan
MOST_SHOWN = 60  # letters of a value in a message


@dataclass(frozen=True)
class RunFolder:
    """Where a run is kept."""

    path: Path

    def shard(self, number: int) -> Path:
        """The file of a shard."""
        return self.path / SHARDS / f"{number:04d}.npz"

    def done(self, n: int) -> set[int]:
        """The shards that are there; one that cannot be read counts as not measured."""
        return {number for number in range(n) if self.shard(number).is_file() and self._read(number) is not None}

    def keep(self, number: int, arrays: Arrays) -> None:
        """Write a shard."""
        write_whole(self.shard(number), lambda name: _save(name, arrays))

    def kept(self, n: int) -> Iterator[Arrays]:
        """All shards, in order."""
        for number in range(n):
            arrays = self._read(number)
            if arrays is None:
                raise OutputError(
                    en=f"{self.shard(number)} is not there any more. Run the same command again: it measures what is missing.",
                    ko=f"{self.shard(number)} 파일이 없어졌습니다. 같은 명령을 다시 실행하면 빠진 것을 측정합니다.",
                )
            yield arrays

    def _read(self, number: int) -> Arrays | None:
        try:
            with self.shard(number).open("rb") as opened, np.load(opened, allow_pickle=False) as arrays:
                return dict(arrays)
        except (OSError, ValueError, BadZipFile, EOFError):
            return None


def _save(name: str, arrays: Arrays) -> None:
    with Path(name).open("wb") as file:  # given a name, NumPy would add .npz to it
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def refuse_folder(path: str | os.PathLike[str], restart: bool) -> None:
    """Refuse, before anything is done, a folder that cannot be a run's.

    Errors: ``OutputError`` for a file, a folder that may not be written to, or one that holds something else.
    """
    folder = Path(path)
    above = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    if not above.is_dir():
        raise OutputError(
            en=f"{folder} cannot be a run's folder: {above} is a file. Give the name of a folder.",
            ko=f"{folder}에는 실행 결과를 둘 수 없습니다. {with_particle(str(above), '이/가')} 파일입니다. 폴더 이름을 주십시오.",
        )
    missing = [one for one in (folder, *folder.absolute().parents) if not one.exists()]
    refuse_unwritable(missing[-1] if missing else folder / PLAN)
    if folder.is_dir() and not (folder / PLAN).is_file() and not _is_bare(folder):
        raise OutputError(
            en=f"{folder} holds files that are of no run. Give an empty folder or a new name.",
            ko=f"{folder}에 실행 결과가 아닌 파일이 있습니다. 빈 폴더나 새 이름을 주십시오.",
        )
    if (folder / PLAN).is_file():
        _plan(folder, restart)


def _is_bare(folder: Path) -> bool:
    """Nothing is in it, or what is left of a run that was killed before its plan was written."""
    there = list(folder.iterdir())
    return not there or ([one.name for one in there] == [SHARDS] and there[0].is_dir() and not any(there[0].iterdir()))


def begun(path: str | os.PathLike[str], plan: Mapping[str, Any], restart: bool) -> RunFolder:
    """The folder, new, or that of a run of the same plan to go on with.

    restart : True to take away what is there and begin anew

    Errors: ``OutputError`` where what is there is of another plan, and where it cannot be written.
    """
    folder = Path(path)
    run = RunFolder(folder)
    if restart and (folder / PLAN).is_file():
        _plan(folder, restart)
        _cleared(folder)
    if (folder / PLAN).is_file():
        _refuse_other(folder, _plan(folder), plan)
        return run
    try:
        (folder / SHARDS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        en, ko = system_reason(error)
        raise OutputError(
            en=f"cannot make the folder {folder}: {en}.",
            ko=f"{folder} 폴더를 만들 수 없습니다: {ko}.",
        ) from error
    text = json.dumps(plan, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    write_whole(folder / PLAN, lambda name: Path(name).write_text(text, encoding="utf-8"))
    return run


def _cleared(folder: Path) -> None:
    """Take away a run's own files; the plan last, so that what is left half-way is still a run's folder."""
    sums = [file for file in (folder / SHARDS).glob("*.npz") if re.fullmatch(r"[0-9]{4,}\.npz", file.name)]
    try:
        for file in [*sums, *(folder / name for name in (*RESULTS, PLAN))]:
            file.unlink(missing_ok=True)
    except OSError as error:
        en, ko = system_reason(error)
        raise OutputError(
            en=f"cannot take away what is in {folder}: {en}.",
            ko=f"{folder}에 있는 것을 지울 수 없습니다: {ko}.",
        ) from error


def _plan(folder: Path, restart: bool = False) -> dict[str, Any]:
    """The plan of a run of jumok, which alone makes a folder one that may be cleared.

    restart : True where it need not be of this version
    """
    try:
        plan = json.loads((folder / PLAN).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        plan = None
    if not isinstance(plan, dict) or not all(isinstance(plan.get(name), kind) for name, kind in PARTS.items()):
        name = folder / PLAN
        raise OutputError(
            en=f"{name} is no plan of a run of jumok. Nothing was changed; choose another folder.",
            ko=f"{with_particle(str(name), '은/는')} jumok이 쓴 실행 계획이 아닙니다. 아무것도 바꾸지 않았습니다. 다른 폴더를 고르십시오.",
        )
    if plan["format"] != FORMAT and not restart:
        raise OutputError(
            en=f"{folder} holds a run of another version of jumok ({plan['jumok']}). Choose another folder, or --restart to begin anew.",
            ko=f"{folder}에는 다른 버전의 jumok({plan['jumok']})으로 측정한 결과가 있습니다. 다른 폴더를 고르거나 --restart로 처음부터 "
            f"하십시오.",
        )
    return plan


def _refuse_other(folder: Path, was: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuse to go on with a run of something else, and say of what."""
    before, after = dict(_leaves(was)), dict(_leaves(now))
    names = [name for name in dict.fromkeys([*before, *after]) if before.get(name) != after.get(name)]
    if not names:
        return
    shown = [f"{name}: {_short(before.get(name))} → {_short(after.get(name))}" for name in names if name != "shards"]
    told = "; ".join(shown or ["shards"])
    raise OutputError(
        en=f"{folder} holds a run of something else ({told}). To go on, run it as it was begun; else choose another folder, or "
        f"--restart to begin anew.",
        ko=f"{folder}에는 다른 것을 측정한 결과가 있습니다({told}). 이어서 하려면 처음과 같게 실행하고, 아니면 다른 폴더를 고르거나 "
        f"--restart로 처음부터 하십시오.",
    )


def _leaves(plan: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in plan.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{above}{name}.")
        elif name != "left_out":
            yield f"{above}{name}", value


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:12]}…"


def opened(path: str | os.PathLike[str]) -> Measured:
    """What a finished run found.

    Errors: ``InputError`` where it is no run's folder, or not finished; ``MissingExtra`` without PyArrow.
    """
    folder = Path(path)
    if not (folder / PLAN).is_file():
        raise InputError(
            en=f"{folder} is no run's folder: there is no {PLAN} in it. jumok measure -o makes one.",
            ko=f"{with_particle(str(folder), '은/는')} 실행 결과 폴더가 아닙니다. {PLAN}이 없습니다. jumok measure -o로 만듭니다.",
        )
    plan = _plan(folder)
    if not ((folder / HEADS).is_file() and (folder / EXAMPLES).is_file()):
        raise InputError(
            en=f"the run in {folder} is not finished. Run the command that began it again: it goes on.",
            ko=f"{folder}의 측정이 끝나지 않았습니다. 시작한 명령을 다시 실행하면 이어서 합니다.",
        )
    from .tables import copied_from, examples_from, table_from

    corpus = plan["corpus"]
    return Measured(
        table=table_from(folder / HEADS), examples=examples_from(folder / EXAMPLES), model=plan["model"]["name"],
        corpus=corpus["name"], n_sentences=corpus["n_measured"], n_tokens=corpus["n_tokens"],
        left_out=tuple(LeftOut(**one) for one in corpus["left_out"]), plan=plan, folder=folder,
        copied=copied_from(folder / HEADS),
    )  # fmt: skip
