"""What was done is kept: at once, by several programs together, and whatever kills them."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jumok.errors import InputError, OutputError
from jumok.lessons.progress import Progress, data_folder

WRITER = """
import sys
from pathlib import Path
from jumok.lessons.progress import Progress
progress = Progress(Path(sys.argv[1]))
for at in range(int(sys.argv[3])):
    progress.add(sys.argv[2], f"block-{at}", "right")
    print(at, flush=True)
"""


def writing(folder, name, n):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), name, str(n)], stdout=subprocess.PIPE, text=True
    )


def test_it_is_kept_and_told_by_lesson(tmp_path):
    progress = Progress(tmp_path)
    assert progress.done() == []
    progress.add("library", "slip", "guessed")
    progress.add("library", "page", "right")
    progress.add("소프트맥스", "page", "seen")
    again = Progress(tmp_path)
    assert [(one.lesson, one.id, one.how) for one in again.done("library")] == [
        ("library", "slip", "guessed"),
        ("library", "page", "right"),
    ]
    assert again.right() == {("library", "page")}
    assert again.done()[0].when.endswith("+00:00")


def test_the_place_in_a_lesson_is_the_last_one(tmp_path):
    progress = Progress(tmp_path)
    for id, how in (("@3", "read"), ("@4", "read"), ("@2", "read"), ("@x", "read"), ("9", "right")):
        progress.add("library", id, how)
    assert progress.at("library") == 2
    assert progress.at("other") == 0


def test_two_programs_lose_nothing(tmp_path):
    both = [writing(tmp_path, name, 150) for name in ("one", "two")]
    assert [program.wait() for program in both] == [0, 0]
    for program in both:
        program.stdout.close()
    done = Progress(tmp_path).done()
    for name in ("one", "two"):
        assert [one.id for one in done if one.lesson == name] == [f"block-{at}" for at in range(150)]


@pytest.mark.parametrize("after", [3, 20, 50])
def test_what_was_told_survives_a_kill(tmp_path, after):
    program = writing(tmp_path, "one", 10**6)
    told = -1
    while told < after:
        told = int(program.stdout.readline())
    program.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
    program.wait()
    program.stdout.close()
    done = Progress(tmp_path).done()
    assert len(done) > told
    Progress(tmp_path).add("two", "next", "right")
    assert Progress(tmp_path).done()[:-1] == done
    assert ("two", "next") in Progress(tmp_path).right()


@pytest.mark.parametrize(
    "left",
    [
        b'{"lesson": "a", "id',
        b"\xff\xfe",
        b"[1]\n",
        b'{"lesson": 1}\n',
        b'{"lesson":"a","id":"b","how":"flown","when":""}',
        b"[" * 5000,
    ],
)
def test_a_line_that_is_not_whole_costs_only_itself(tmp_path, left):
    progress = Progress(tmp_path)
    progress.add("a", "one", "right")
    with progress.path.open("ab") as file:
        file.write(left)
    progress.add("a", "two", "right")
    assert [one.id for one in progress.done()] == ["one", "two"]


def test_it_can_be_taken_along(tmp_path):
    here, there = Progress(tmp_path / "here"), Progress(tmp_path / "there")
    here.add("library", "page", "right")
    here.add("library", "slip", "guessed")
    path = here.export(tmp_path / "my.json")
    assert json.loads(path.read_text(encoding="utf-8"))["format"] == "jumok-progress"
    assert (there.bring(path), there.bring(path)) == (2, 0)
    assert there.done() == here.done()


@pytest.mark.parametrize(
    "text", ["", "[]", '{"format": "other"}', '{"format": "jumok-progress", "done": 3}', "[" * 9000]
)
def test_another_file_is_refused(tmp_path, text):
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(InputError, match="holds no exported progress"):
        Progress(tmp_path).bring(path)


def test_a_file_that_is_not_there_is_told_so(tmp_path):
    with pytest.raises(InputError, match="there is no file") as caught:
        Progress(tmp_path).bring(tmp_path / "none.json")
    assert "파일이 없습니다" in caught.value.text("ko")


def test_reset_forgets(tmp_path):
    progress = Progress(tmp_path)
    progress.reset()
    progress.add("a", "b", "right")
    progress.reset()
    assert progress.done() == []
    kept = tmp_path / "forgotten.json"
    assert list(tmp_path.iterdir()) == [kept]
    assert progress.bring(kept) == 1


def test_a_place_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="JUMOK_HOME"):
        Progress(tmp_path / "file").add("a", "b", "right")


def test_where_it_lies(monkeypatch, tmp_path):
    assert data_folder({"JUMOK_HOME": str(tmp_path)}) == tmp_path
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert data_folder({}) == tmp_path / ".local" / "share" / "jumok"
    assert data_folder({"XDG_DATA_HOME": str(tmp_path / "x")}) == tmp_path / "x" / "jumok"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert data_folder({}) == tmp_path / "Library" / "Application Support" / "jumok"
    monkeypatch.setattr(sys, "platform", "win32")
    assert data_folder({"LOCALAPPDATA": str(tmp_path)}) == tmp_path / "jumok"


def test_a_full_disk_is_told_and_costs_only_its_own_line(tmp_path, monkeypatch):
    progress = Progress(tmp_path)
    progress.add("a", "one", "right")
    write = os.write
    with monkeypatch.context() as full:
        full.setattr(os, "write", lambda handle, data: write(handle, data[:20]))
        with pytest.raises(OutputError, match="cannot keep"):
            progress.add("a", "two", "right")
    progress.add("a", "three", "right")
    assert [one.id for one in progress.done()] == ["one", "three"]


@pytest.mark.parametrize("reason", [errno.EACCES, errno.EROFS])
def test_a_folder_that_can_only_be_read_is_told_and_what_was_done_stays(tmp_path, monkeypatch, reason):
    progress = Progress(tmp_path)
    progress.add("a", "one", "right")

    def refused(*_):
        raise OSError(reason, os.strerror(reason))

    with monkeypatch.context() as closed:
        closed.setattr(os, "open", refused)
        with pytest.raises(OutputError, match="JUMOK_HOME"):
            progress.add("a", "two", "right")
    assert [one.id for one in progress.done()] == ["one"]


def test_a_kill_in_the_middle_of_bringing_leaves_what_was_there(tmp_path):
    here, there = Progress(tmp_path / "here"), Progress(tmp_path / "there")
    for at in range(300):
        here.add("library", f"block-{at}", "right")
    there.add("library", "mine", "right")
    exported = here.export(tmp_path / "my.json")
    code = "import sys; from pathlib import Path; from jumok.lessons.progress import Progress\n"
    code += "print(1, flush=True)\nwhile True: p = Progress(Path(sys.argv[1])); p.bring(sys.argv[2]); p.add('x', 'y', 'read')"
    program = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "there"), str(exported)], stdout=subprocess.PIPE, text=True
    )
    program.stdout.readline()
    while len(there.done()) < 3:
        time.sleep(0.01)
    program.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
    program.wait()
    program.stdout.close()
    there.bring(exported)
    assert {("library", "mine"), *(("library", f"block-{at}") for at in range(300))} <= there.right()
    assert len([one for one in there.done() if one.id.startswith("block")]) == 300
