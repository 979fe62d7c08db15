"""What is published: the source archive and the wheel made from it, looked into and installed."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import jumok

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with the two archives; the wheel is made from the source archive."""
    folder = tmp_path_factory.mktemp("built")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def in_wheel(built):
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def in_sdist(built):
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """The bin folder of a fresh environment with the wheel and what it requires without extras, nothing else."""
    folder = tmp_path_factory.mktemp("새 환경")
    venv.create(folder, symlinks=os.name != "nt")
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    done = subprocess.run([*pip, str(next(built.glob("*.whl")))], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip())
    for distribution in required("jumok"):
        bring(distribution, site)
    return scripts


def required(name):
    """The installed distributions that one needs without its extras, and those that they need."""
    found = {}
    waiting = [name]
    while waiting:
        for line in importlib.metadata.requires(waiting.pop()) or ():
            requirement = Requirement(line)
            if (
                requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            ) and requirement.name not in found:
                found[requirement.name] = importlib.metadata.distribution(requirement.name)
                waiting.append(requirement.name)
    return found.values()


def bring(distribution, site):
    """Put an installed distribution's top-level files and folders into another site-packages."""
    for top in {file.parts[0] for file in distribution.files} - {"..", "__pycache__"}:
        source = Path(distribution.locate_file(top))
        if not (site / top).exists():
            (shutil.copytree if source.is_dir() else shutil.copy)(source, site / top)


def run(scripts, *command, **options):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [str(scripts / command[0]), *command[1:]],
        capture_output=True,
        encoding="utf-8",
        env={**environment, "PYTHONUTF8": "1"},
        cwd=scripts,
        **options,
    )


def test_the_archives_carry_the_version(built):
    assert {path.name for path in built.iterdir()} == {
        f"jumok-{jumok.__version__}.tar.gz",
        f"jumok-{jumok.__version__}-py3-none-any.whl",
    }


def test_the_wheel_holds_every_source_file_and_nothing_else(in_wheel):
    files = {name.removeprefix("src/") for name in in_git() if name.startswith("src/jumok/")}
    assert {name for name in in_wheel if ".dist-info/" not in name} == files
    assert "jumok/py.typed" in files
    assert any(re.fullmatch(r"jumok/examples/[\w-]+\.yaml", name) for name in files)


def test_the_wheel_holds_the_licence(in_wheel):
    assert f"jumok-{jumok.__version__}.dist-info/licenses/LICENSE" in in_wheel


def test_the_source_archive_holds_what_is_needed_to_work_on_it(in_sdist):
    files = {
        "pyproject.toml", "constraints.txt", "run.py", "run_tests.py", "LICENSE", "README.md", "README.ko.md",
        "CHANGELOG.md", "CONTRIBUTING.md", "src/jumok/py.typed", "tests/conftest.py", "benchmarks/start_up.py",
    }  # fmt: skip
    assert files <= in_sdist


def test_the_source_archive_holds_only_what_git_holds(in_sdist):
    folders = {parent.as_posix() for name in in_git() for parent in Path(name).parents}
    assert in_sdist - in_git() - folders - {"", "PKG-INFO"} == set()


def in_git():
    """What is committed or could be: no caches, no environments."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True).stdout
    return {name for name in names.split("\0") if (ROOT / name).is_file()}


def test_the_full_licence_text_is_there():
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert len(text) == 11358
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_a_fresh_environment_attends_without_any_extra(installed):
    code = (
        "import jumok; print(jumok.__file__)\n"
        "print(jumok.attend(jumok.load('student')).rows('weights', queries=['studies']).round(2).tolist())"
    )
    done = run(installed, "python", "-c", code)
    assert (done.returncode, done.stderr) == (0, "")
    assert Path(done.stdout.splitlines()[0]).is_relative_to(installed.parent)
    assert done.stdout.splitlines()[1] == "[[[0.02, 0.2, 0.05, 0.55, 0.18]]]"


def test_a_fresh_environment_names_the_extra_of_the_command_line(installed):
    done = run(installed, "jumok", "attend", "student")
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'jumok[cli]'" in done.stderr
    assert len(done.stderr.splitlines()) <= 2, "more than a line a language"


def test_a_type_checker_sees_the_installed_types(installed, tmp_path):
    (tmp_path / "use.py").write_text("import jumok\nreveal_type(jumok.load)\nreveal_type(jumok.__version__)\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--python-executable", str(installed / "python"), "use.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert 'Revealed type is "def (path_or_name: str | os.PathLike[str])' in done.stdout.replace("builtins.", "")
