"""Accidents in a learner's code come back as verdicts, with their lines; nothing of theirs is left behind."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ACCIDENTS = {
    "time": ("while True: pass", "time", 5),  # in one line: it is met anywhere in it
    "memory": ("return np.ones(50_000_000_000 // 8)", "memory", 5),
    "output": ("while True:\n        print('x' * 1000)", "output", None),
    "input": ("n = int(input())\n    return q", "input", 5),
    "exit": ("import sys\n    sys.exit(3)", "exit", 6),
    "gone": ("import os\n    os._exit(0)", "exit", None),
    "killed": ("import os\n    os.kill(os.getpid(), 9)", "killed", None),
    "ended": ("import os, signal\n    os.kill(os.getpid(), signal.SIGTERM)", "killed", None),
    "slow to end": ("import signal\n    while True: signal.signal(signal.SIGUSR1, signal.SIG_IGN)", "time", None),
    "crash": ("import ctypes\n    ctypes.string_at(0)", "crash", 6),
    "file": ("open('big', 'wb').write(b'x' * 20_000_000)\n    return q", "file", 5),
    "name": ("return sofmax(q @ k.T) @ v", "name", 5),
    "none": ("scores = q @ k.T", "none", None),
    "arguments": ("return np.swapaxes(q)", "arguments", 5),
    "text": ("return 'weights'", "returned", None),
    "complex": ("return (q @ k.T) @ v * 1j", "returned", None),
}


@pytest.mark.parametrize("name", ACCIDENTS)
def test_an_accident_is_a_verdict(checked, name):
    body, kind, line = ACCIDENTS[name]
    verdict = checked(f"def attention(q, k, v):\n    {body}\n")
    assert verdict.status == "unknown"
    assert verdict.failure.kind == kind
    assert verdict.mistakes == ()
    if line is not None:
        assert verdict.failure.lines[-1][:2] == ("attention", line)
    for lang in ("en", "ko"):
        assert verdict.failure.explained(lang) in verdict.text(lang)
    assert "where an array" not in verdict.text("ko")


def test_the_signal_that_ended_it_is_named(checked):
    failure = checked("import os\n\n\ndef attention(q, k, v):\n    os.kill(os.getpid(), 9)\n").failure
    assert "ended by a signal (SIGKILL)" in failure.explained("en")
    assert "시그널(SIGKILL)을 받고 끝났습니다" in failure.explained("ko")
    assert "초 안에" not in failure.explained("ko")


def test_a_wrong_shape_comes_with_the_shapes_of_the_variables(checked):
    failure = checked(
        "def attention(q, k, v):\n    scores = np.matmul(q, k[:, :-1].T)\n    return scores @ v\n"
    ).failure
    assert failure.kind == "shapes"
    assert dict(failure.shapes).keys() == {"q", "k", "v"}
    assert failure.lines == (("attention", 5, "scores = np.matmul(q, k[:, :-1].T)"),)
    assert "Is a transpose missing?" in failure.explained("en")


def test_a_package_that_is_missing(checked):
    failure = checked("import not_there_at_all\n\n\ndef attention(q, k, v):\n    return q\n").failure
    assert failure.kind == "missing"
    assert "not_there_at_all" in failure.explained("ko")


def test_a_file_that_is_not_python(written):
    import jumok

    failure = jumok.check(written("def attention(q, k, v)\n    return q\n")).failure
    assert (failure.kind, failure.lines[0][1]) == ("syntax", 4)


def test_a_file_that_deletes_itself_is_still_there(written):
    import jumok

    path = written("import os\n\nos.remove(__file__)\n\n\ndef attention(q, k, v):\n    return q\n")
    before = Path(path).read_text()
    assert jumok.check(path).status == "unknown"
    assert Path(path).read_text() == before


def test_what_is_printed_is_told_and_does_no_harm(checked):
    verdict = checked(
        "def attention(q, k, v):\n    print('here')\n    s = q @ np.swapaxes(k, -1, -2)\n    return np.exp(s) @ v\n"
    )
    assert verdict.printed.startswith("here")
    assert verdict.status == "mistake"


def test_a_loop_that_starts_processes_is_held_and_leaves_nothing(checked):
    """It would stop by its own count, and is stopped before: the bound holds for a user without rights of root."""
    code = """
        import os
        import subprocess


        started = []


        def attention(q, k, v):
            try:
                while len(started) < 60:
                    started.append(subprocess.Popen(["sleep", "123.25"]))
            except OSError:
                pass
            raise RuntimeError(len(started), os.getuid())
        """
    failure = checked(code).failure
    started, uid = map(int, re.findall(r"\d+", failure.text))
    assert 0 < started < 60
    assert uid != 0
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "sleep 123.25" not in running


def test_a_loop_of_forks_comes_to_an_end(checked):
    """A copy of the process ends at once, so that nothing runs twice; the loop has a count of its own."""
    code = """
        import os


        forked = []


        def attention(q, k, v):
            while len(forked) < 60:
                forked.append(os.fork())
                if forked[-1] == 0:
                    open("copied", "w").close()
            raise RuntimeError(os.path.exists("copied"))
        """
    failure = checked(code).failure
    assert failure.kind == "processes" or "False" in failure.text
    assert failure.lines[-1][0] == "attention"


def test_a_process_that_outlives_the_call_is_ended(checked):
    code = """
        import subprocess


        def attention(q, k, v):
            subprocess.Popen(["sleep", "124.25"], start_new_session=True)
            return q
        """
    checked(code)
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    if os.geteuid() == 0:
        assert "sleep 124.25" not in running


def test_the_code_does_not_see_the_surroundings(checked, monkeypatch):
    monkeypatch.setenv("A_SECRET", "of mine")
    code = """
        import os


        def attention(q, k, v):
            raise RuntimeError(os.environ.get("A_SECRET", "nothing"), os.getuid(), os.getcwd())
        """
    text = checked(code).failure.text
    assert "nothing" in text
    assert str(Path.cwd()) not in text
    if os.geteuid() == 0:
        assert ", 0," not in text


def test_a_file_that_checks_itself_is_not_checked_without_end(written):
    path = written(
        "import jumok\n\n\ndef attention(q, k, v):\n    return q @ k.T @ v\n\n\nprint(jumok.check(attention).mistakes)\n"
    )
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "('no-scale', 'softmax-missing')\n"
