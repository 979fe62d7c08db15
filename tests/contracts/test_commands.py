"""The README's two commands where things go wrong: old Python, no network, interruption, a folder of somebody else's."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import run
import run_tests

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout in a folder with a space and Hangul in its name, in which run.py works."""
    folder = tmp_path / "내 폴더"
    folder.mkdir()
    for name in ("run.py", "run_tests.py", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    monkeypatch.setattr(run, "ROOT", folder)
    return folder


@pytest.fixture
def steps(monkeypatch):
    """The commands that setting up would run, noted instead; the environment they make is a lone Python."""
    done = []

    def note(command):
        done.append(list(command))
        if "venv" in command:
            python = Path(command[-1]) / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
            python.parent.mkdir(parents=True)
            python.touch()

    monkeypatch.setattr(run, "_do", note)
    return done


def test_it_is_set_up_once(checkout, steps, capsys):
    python = run.environment(".venv", "cli")
    assert python.is_relative_to(checkout / ".venv")
    assert [("venv" in step, "pip" in step) for step in steps] == [(True, False), (False, True)]
    assert steps[1][-1] == ".[cli]"
    assert run.environment(".venv", "cli") == python
    assert len(steps) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "설치" in told.err


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_it_is_set_up_again_when_what_it_was_made_from_changes(checkout, steps, name):
    run.environment(".venv-test", "test", "constraints.txt")
    (checkout / name).write_text("# changed\n")
    run.environment(".venv-test", "test", "constraints.txt")
    assert len(steps) == 4


def test_it_is_set_up_again_for_another_python(checkout, steps, monkeypatch):
    run.environment(".venv", "cli")
    monkeypatch.setattr(sys, "_base_executable", "/another/python3", raising=False)
    run.environment(".venv", "cli")
    assert len(steps) == 4


def test_it_is_set_up_again_when_its_python_is_gone(checkout, steps):
    run.environment(".venv", "cli").unlink()
    run.environment(".venv", "cli")
    assert len(steps) == 4


@pytest.mark.parametrize("end", [KeyboardInterrupt, OSError("disk full"), run.Trouble("no", "안 됨")])
def test_a_set_up_that_stopped_half_way_is_started_over(checkout, steps, monkeypatch, end):
    def stop(folder):
        (folder / "half").mkdir()
        raise end

    with monkeypatch.context() as patch:
        patch.setattr(run, "_point_at_src", stop)
        with pytest.raises(run.Trouble):
            run.environment(".venv", "cli")
    assert (checkout / ".venv" / "half").exists()
    run.environment(".venv", "cli")
    assert not (checkout / ".venv" / "half").exists()
    assert len(steps) == 4


def test_somebody_elses_environment_is_left_alone(checkout, steps):
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / "pyvenv.cfg").write_text("theirs")
    with pytest.raises(run.Trouble, match="not jumok's"):
        run.environment(".venv", "cli")
    assert [path.name for path in (checkout / ".venv").iterdir()] == ["pyvenv.cfg"]
    assert steps == []


def test_an_empty_folder_is_taken(checkout, steps):
    (checkout / ".venv").mkdir()
    assert run.environment(".venv", "cli").exists()


def test_two_set_ups_at_once_wait_for_each_other():
    with open(run.__file__, "rb") as other:
        with run._alone():
            assert not run._locked(other, wait=False)
        assert run._locked(other, wait=False)


def test_a_python_without_venv_names_the_debian_package(checkout, steps, monkeypatch):
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(run.Trouble) as told:
        run.environment(".venv", "cli")
    package = f"sudo apt install python3.{sys.version_info[1]}-venv"
    assert package in told.value.en
    assert package in told.value.ko
    assert not (checkout / ".venv").exists()


@pytest.mark.parametrize(
    ("apt", "user", "n_calls"), [("/usr/bin/apt-get", 0, 2), ("/usr/bin/apt-get", 1000, 0), (None, 0, 0)]
)
def test_the_test_command_brings_venv_only_where_it_may(monkeypatch, apt, user, n_calls):
    calls = []
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    monkeypatch.setattr(shutil, "which", lambda name: apt)
    monkeypatch.setattr(os, "geteuid", lambda: user, raising=False)
    monkeypatch.setattr(subprocess, "run", lambda command, **_: calls.append(command))
    run_tests.install_missing_venv()
    assert len(calls) == n_calls
    assert not calls or calls[-1] == ["apt-get", "-qq", "install", "--yes", f"python3.{sys.version_info[1]}-venv"]


def test_no_network_is_told_as_such(checkout):
    """For real: a virtual environment is made, and pip finds nobody at its index."""
    nobody = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull}
    done = subprocess.run(
        [sys.executable, str(checkout / "run.py"), "attend", "student"],
        env={**{name: value for name, value in os.environ.items() if not name.startswith("PIP_")}, **nobody},
        capture_output=True,
        encoding="utf-8",
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "could not be fetched. Check the network" in done.stderr
    assert "네트워크" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_relative_path_in_the_environment_leads_to_src(checkout):
    site = checkout / ".venv" / "lib" / "python3.11" / "site-packages"
    site.mkdir(parents=True)
    (site / "_editable_impl_jumok.pth").write_text(str(checkout / "src"), encoding="utf-8")
    run._point_at_src(checkout / ".venv")
    line = (site / "_editable_impl_jumok.pth").read_bytes().decode("ascii").strip()
    assert (site / line).resolve() == (checkout / "src").resolve()


@pytest.mark.parametrize("name", ["run.py", "run_tests.py"])
def test_an_old_python_can_read_the_refusal(name):
    ast.parse((ROOT / name).read_text(encoding="utf-8"), feature_version=(3, 6))


@pytest.mark.parametrize("name", ["run.py", "run_tests.py"])
def test_an_old_python_is_refused_in_both_languages(name):
    code = f"import sys, runpy; sys.version_info = (3, 10, 1); sys.path.insert(0, '.'); runpy.run_path({name!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8")
    assert done.returncode == 1
    assert "jumok needs Python 3.11 or newer" in done.stderr
    assert "3.11 이상이 필요" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("codes", "end"), [([0, 0], 0), ([0, 3], 1), ([5, 0], 1)])
def test_the_test_command_fails_when_any_check_fails(monkeypatch, capsys, codes, end):
    monkeypatch.setattr(run_tests, "environment", lambda *_, **__: Path(sys.executable))
    commands = {f"check {n}": [sys.executable, "-c", f"raise SystemExit({code})"] for n, code in enumerate(codes)}
    monkeypatch.setattr(run_tests, "checks", lambda python, npm: commands)
    monkeypatch.setattr(run_tests, "front_end_packages", lambda: "npm")
    monkeypatch.setattr(run_tests, "install_missing_browser", lambda: None)
    assert run_tests.main([]) == end
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("run_tests: FAILED: check" if end else "run_tests: all good: check 0, check 1")


def test_with_arguments_pytest_alone_runs(monkeypatch):
    monkeypatch.setattr(run_tests, "environment", lambda *_, **__: Path("python"))
    monkeypatch.setattr(run_tests, "front_end_packages", lambda: "npm")
    monkeypatch.setattr(run_tests, "install_missing_browser", lambda: None)
    ran = []
    monkeypatch.setattr(run_tests, "passes", lambda name, command: ran.append(command) or True)
    assert run_tests.main(["-k", "softmax"]) == 0
    assert ran == [["python", "-m", "pytest", "-k", "softmax"]]


@pytest.mark.parametrize(("node", "good"), [("v20.1.0", True), ("v24.0.0", True), ("v18.19.0", False), ("", False)])
def test_the_front_end_needs_a_node_that_is_new_enough(monkeypatch, tmp_path, node, good):
    (tmp_path / "package-lock.json").write_text("{}")
    (tmp_path / "node_modules").mkdir()
    ran = []

    def run_instead(command, **_):
        ran.append(command)
        return subprocess.CompletedProcess(command, 0, stdout=node + "\n")

    monkeypatch.setattr(run_tests, "FRONTEND", tmp_path)
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(subprocess, "run", run_instead)
    if not good:
        with pytest.raises(run_tests.Trouble, match="Node 20 or newer"):
            run_tests.front_end_packages()
        return
    assert run_tests.front_end_packages() == "npm"
    assert ran[-1] == ["npm", "ci", "--silent"]
    n_runs = len(ran)
    run_tests.front_end_packages()
    assert len(ran) == n_runs + 1, "node's version is asked, nothing is installed a second time"
    (tmp_path / "package-lock.json").write_text("{ }")
    run_tests.front_end_packages()
    assert ran[-1] == ["npm", "ci", "--silent"], "another lock file: installed anew"


def test_a_browser_and_fonts_are_installed_where_there_is_none(monkeypatch):
    asked = []
    monkeypatch.setattr(shutil, "which", lambda name: None if not asked else name)
    monkeypatch.setattr(run_tests, "system_packages", lambda *names: asked.extend(names))
    run_tests.install_missing_browser()
    assert asked == ["chromium", "fonts-noto-cjk", "fonts-nanum"]


def test_without_a_browser_the_tests_say_so(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(run_tests, "system_packages", lambda *names: None)
    with pytest.raises(run_tests.Trouble, match="need a browser"):
        run_tests.install_missing_browser()


# what is brought besides ---------------------------------------------------------------------------


def test_extras_are_brought_and_remembered(checkout, steps, monkeypatch):
    ran = []
    monkeypatch.setenv("JUMOK_CALLED", "python3 run.py")  # which main would set for good
    monkeypatch.setattr(run, "become", lambda command: ran.append(command) or 0)
    assert run.main(["--with", "learn,measure", "learn", "pronoun"]) == 0
    assert steps[-1][-1] == ".[cli,design,picture,serve,learn,measure]"
    assert ran[-1][-2:] == ["learn", "pronoun"]
    assert run.main(["attend", "student"]) == 0
    assert len(steps) == 2, "the next run has them"
    assert run.main(["--with=notebook"]) == 0
    assert steps[-1][-1] == ".[cli,design,picture,serve,learn,measure,notebook]"
    (checkout / "pyproject.toml").write_text((checkout / "pyproject.toml").read_text() + "# changed\n")
    run.main(["attend", "student"])
    assert steps[-1][-1].endswith(",learn,measure,notebook]"), "what is made anew has them too"


@pytest.mark.parametrize("said", [["--with"], ["--with", "lern"], ["--with="], ["--with", "test"]])
def test_an_extra_that_is_none_is_refused(checkout, steps, said, capsys):
    assert run.main(said) == 2
    assert steps == []
    told = capsys.readouterr().err
    assert "--with expects some of" in told
    assert "쉼표" in told
