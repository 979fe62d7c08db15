"""What is published: the source archive and the wheel made from it, looked into, installed and run.

The short form of ``release/check.py``, on the Python that runs and without a network.
"""

import importlib.metadata
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import jumok
from release import check

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
    bring("jumok", "", site)
    return scripts


@pytest.fixture(scope="module")
def with_command(installed):
    """The same environment once the extra of the command line is there too: its Python."""
    site = next(installed.parent.glob("[Ll]ib/**/site-packages"))
    bring("jumok", "cli", site)
    return installed / "python"


def required(name, extra):
    """The installed distributions that one needs with an extra of its own, and those that they need."""
    found = {}
    waiting = [name]
    while waiting:
        name = waiting.pop()
        for line in importlib.metadata.requires(name) or ():
            requirement = Requirement(line)
            asked = {"extra": extra if name == "jumok" else ""}
            if (requirement.marker is None or requirement.marker.evaluate(asked)) and requirement.name not in found:
                found[requirement.name] = importlib.metadata.distribution(requirement.name)
                waiting.append(requirement.name)
    return found.values()


def bring(name, extra, site):
    """Put what an installed distribution requires, its top-level files and folders, into another site-packages."""
    for distribution in required(name, extra):
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


def test_the_wheel_holds_every_source_file_its_licences_and_nothing_else(built):
    files = check.in_git()
    assert check.wheel_faults(next(built.glob("*.whl")), files) == []
    assert {
        "src/jumok/py.typed",
        "src/jumok/examples/student.yaml",
        "src/jumok/readings/minilm-tired.safetensors",
    } <= files


def test_the_source_archive_holds_what_git_holds(built):
    assert check.sdist_faults(next(built.glob("*.tar.gz")), check.in_git()) == []


def test_what_an_archive_lacks_or_holds_too_much_is_told(built):
    wheel, sdist = check.archives(built)
    files = check.in_git() - {"src/jumok/py.typed"} | {"src/jumok/other.yaml"}
    assert check.wheel_faults(wheel, files) == ["lacks jumok/other.yaml", "holds jumok/py.typed"]
    assert check.sdist_faults(sdist, files) == ["lacks src/jumok/other.yaml", "holds src/jumok/py.typed"]


@pytest.mark.parametrize("tag", ["0.0.1", "v0.0.1", f"v{jumok.__version__}.post1", jumok.__version__])
def test_a_tag_of_another_version_is_refused(tag):
    with pytest.raises(check.Wrong, match="the tag is"):
        check.tag_matches(tag)


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


def test_a_first_user_runs_the_command(with_command, tmp_path):
    assert "0.550" in check.tried(with_command, tmp_path / "first user")


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
