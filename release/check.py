#!/usr/bin/env python3
"""Build what would be published and try it as a stranger would: ``python3 release/check.py``.

Builds the source archive and, from it, the wheel (into ``dist/``); holds their contents against what git has; installs each in
a bare environment of every Python found (3.11 or newer, also pyenv's) and runs what a first user runs; runs the wheel
through pipx; prints the sizes. It brings what it needs through pip. ``--tag v1.2.3`` also asks whether this is that version.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OLDEST = (3, 11)
NAMES = [f"python3.{minor}" for minor in range(OLDEST[1], 20)]
QUIET = ["--quiet", "--disable-pip-version-check", "--no-input"]
NOTICES = ("LICENSE", "THIRD_PARTY.md")

CORE = """
import jumok
row = jumok.attend(jumok.load("student")).rows("weights", queries=["studies"])
assert row.round(2).tolist() == [[[0.02, 0.2, 0.05, 0.55, 0.18]]], row
jumok.draw(jumok.load("minilm-soft")).save("bare.html")
"""


class Wrong(Exception):
    """Something that must not be published."""


def main(arguments: Sequence[str]) -> int:
    """Run the whole check; 0 when all of it may be published."""
    parser = argparse.ArgumentParser(description="Build jumok and try it in bare environments.")
    parser.add_argument("--python", action="append", default=[], help="one to try (again for more); else all found")
    parser.add_argument("--tag", help="the tag that is to be published, as v1.2.3")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="jumok-release-") as work:
        try:
            tag_matches(options.tag)
            check(Path(work), options.python or pythons())
        except Wrong as wrong:
            print(f"release: {wrong}", file=sys.stderr)
            return 1
    print("release: all good")
    return 0


def check(work: Path, chosen: Iterable[str]) -> None:
    """Build, look into the archives, install and run."""
    tools = environment(work / "tools", sys.executable, "build", "pipx")
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    files = in_git()
    run([tools, "-m", "build", "--outdir", dist, ROOT])
    wheel, sdist = archives(dist)
    refuse(wheel_faults(wheel, files), wheel.name)
    refuse(sdist_faults(sdist, files), sdist.name)
    print(sizes(wheel, sdist), flush=True)
    for python in chosen:
        start = time.monotonic()
        folder = work / version_of(python)
        tried = tried_everywhere(folder, python, wheel, sdist)
        print(f"Python {folder.name}: {tried} ({time.monotonic() - start:.0f} s)", flush=True)
    first = run(
        [tools, "-m", "pipx", "run", "--spec", f"{wheel}[cli]", "jumok", "attend", "student"], home=work / "pipx"
    )
    if "0.550" not in first:
        raise Wrong(f"pipx run prints something else:\n{first}")
    print("pipx run --spec WHEEL[cli] jumok attend student: good", flush=True)


# The archives, looked into


def archives(dist: Path) -> tuple[Path, Path]:
    """The wheel and the source archive in a folder."""
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    return wheel, sdist


def in_git() -> set[str]:
    """What is committed or could be: no caches, no environments."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True).stdout
    return {name for name in names.split("\0") if (ROOT / name).is_file()}


def wheel_faults(wheel: Path, files: set[str]) -> list[str]:
    """What a wheel lacks or holds beyond the files of src/jumok and its own metadata."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    wanted = {name.removeprefix("src/") for name in files if name.startswith("src/jumok/")}
    (info,) = {name.partition("/")[0] for name in names if ".dist-info/" in name}
    wanted |= {f"{info}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")}
    wanted |= {f"{info}/licenses/{name}" for name in NOTICES}
    return [f"lacks {name}" for name in sorted(wanted - names)] + [f"holds {name}" for name in sorted(names - wanted)]


def sdist_faults(sdist: Path, files: set[str]) -> list[str]:
    """What a source archive lacks or holds beyond what git has, but for what is the repository's own."""
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    names.remove("PKG-INFO")  # what the build adds
    files = {name for name in files if not name.startswith((".git", ".editorconfig")) or name == ".gitignore"}
    return [f"lacks {name}" for name in sorted(files - names)] + [f"holds {name}" for name in sorted(names - files)]


def sizes(wheel: Path, sdist: Path) -> str:
    """How large the archives are, and the wheel unpacked."""
    with zipfile.ZipFile(wheel) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
    return (
        f"{wheel.name}: {kb(wheel.stat().st_size)}, unpacked {kb(unpacked)}; {sdist.name}: {kb(sdist.stat().st_size)}"
    )


def kb(size: float) -> str:
    """Bytes as kB, or as MB where there are many.

    >>> kb(1_234_567), kb(12_345)
    ('1.2 MB', '12 kB')
    """
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


def tag_matches(tag: str | None) -> None:
    """Refuse a tag that is not this version, or a version without its chapter in CHANGELOG.md."""
    if tag is None:
        return
    found = re.search(r'^__version__ = "(.+)"$', (ROOT / "src/jumok/__init__.py").read_text(encoding="utf-8"), re.M)
    assert found is not None
    if tag != f"v{found[1]}":
        raise Wrong(f"the tag is {tag}, but src/jumok/__init__.py says {found[1]}")
    if f"\n## {found[1]} (" not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"):
        raise Wrong(f"CHANGELOG.md has no chapter '## {found[1]} (date)'")


# Bare environments


def pythons() -> list[str]:
    """A Python of every version found that jumok runs on: this one, those on the path, pyenv's."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [
        sys.executable,
        *filter(None, map(shutil.which, NAMES)),
        *map(str, pyenv.glob("versions/*/bin/python3")),
    ]
    found: dict[str, str] = {}
    for candidate in candidates:
        version = version_of(candidate)
        if version and tuple(map(int, version.split("."))) >= OLDEST:
            found.setdefault(version, candidate)
    return [found[version] for version in sorted(found)]


def version_of(python: str) -> str:
    """3.13, or nothing of what is only called Python (a shim without a version behind it)."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def environment(folder: Path, python: str, *packages: str) -> Path:
    """The Python of a new environment with these packages."""
    run([python, "-m", "venv", folder])
    made = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if packages:
        install(made, *packages)
    return made


def install(python: Path, *packages: str) -> None:
    """Bring packages, or archives, and what they require."""
    run([python, "-m", "pip", "install", *QUIET, *packages])


def tried_everywhere(folder: Path, python: str, wheel: Path, sdist: Path) -> str:
    """Install and run the wheel without and with its command line, then the source archive; what was measured, in words."""
    bare = environment(folder / "wheel", python)
    before = held_bytes(folder / "wheel")
    install(bare, str(wheel))
    run([bare, "-c", CORE], cwd=folder)
    core = held_bytes(folder / "wheel") - before
    names_the_extra(bare)
    install(bare, f"{wheel}[cli]")
    from_wheel = tried(bare, folder / "of the wheel")
    with_cli = held_bytes(folder / "wheel") - before
    source = environment(folder / "sdist", python, f"{sdist}[cli]")
    if tried(source, folder / "of the source archive") != from_wheel:
        raise Wrong("the wheel and the source archive print different things")
    return f"wheel and sdist run; installed with NumPy and all it requires {kb(core)}, with [cli] {kb(with_cli)}"


def names_the_extra(python: Path) -> None:
    """Without the extra, the command says in one line a language how to get it."""
    done = subprocess.run([python, "-m", "jumok", "attend", "student"], capture_output=True, text=True, check=False)
    if done.returncode != 2 or "pip install 'jumok[cli]'" not in done.stderr or "Traceback" in done.stderr:
        raise Wrong(f"without the extra cli the command says: {done.stderr}")


def tried(python: Path, folder: Path) -> str:
    """What a first user runs, in an empty folder with a space in its name; what the first command printed."""
    folder.mkdir()
    command = python.parent / "jumok"
    printed = run([command, "attend", "student", "--lang", "en"], cwd=folder)
    for words in (
        ["attend", "cat-fish", "--lang", "ko"],
        ["explain", "student", "studies", "--lang", "ko"],
        ["draw", "student", "-o", "x.html"],
        ["draw", "minilm-tired", "-o", "heads.html"],
        ["draw", "student", "-o", "x.svg"],
        ["lesson"],
        ["lesson", "1", "-o", "lesson.html"],
        ["lesson", "12", "-o", "lesson.ipynb", "--lang", "ko"],
        ["new", "my.yaml"],
        ["attend", "my.yaml", "-o", "my.safetensors"],
        ["explain", "my.safetensors", "1"],
        ["examples"],
        ["roles"],
    ):
        run([command, *words], cwd=folder, home=folder / "home")
    made = {path.name: path.stat().st_size for path in folder.iterdir() if path.is_file()}
    if "0.550" not in printed or len(made) != 7 or min(made.values()) < 400:
        raise Wrong(f"a first user gets {made} and\n{printed}")
    return printed


def held_bytes(folder: Path) -> int:
    """What the files of a folder hold, caches left out."""
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return sum(path.stat().st_size for path in files)


def refuse(faults: list[str], name: str) -> None:
    """Stop where an archive is not what it should be."""
    if faults:
        raise Wrong(f"{name} " + "; ".join(faults[:20]))


def run(command: Sequence[str | Path], cwd: Path | None = None, home: Path | None = None) -> str:
    """What a command prints; it gets nothing of this process's Python settings, and leaves nothing in one's own home."""
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV", "PIPX_"))
    }
    if home is not None:
        clean |= {"JUMOK_HOME": str(home), "PIPX_HOME": str(home)}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**clean, "PYTHONUTF8": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise Wrong(
            f"{' '.join(map(str, command))} ended with {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        )
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
