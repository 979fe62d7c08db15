"""Writing whole or not at all, whatever happens on the way."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jumok
from jumok.errors import OutputError
from jumok.files import write_whole

TRACE = jumok.attend(q=np.ones((1, 2, 2)), k=np.ones((1, 2, 2)), v=np.ones((1, 2, 2)), tokens=["가", "b"])
SUFFIXES = pytest.mark.parametrize("suffix", [".safetensors", ".json"])


def text(words: str) -> Any:
    return lambda name: Path(name).write_text(words, encoding="utf-8")


def refused(path: Any, en: str, ko: str, write: Any = None) -> None:
    """What is wrong and what to try, in one language at a time."""
    with pytest.raises(OutputError) as caught:
        write_whole(path, write or text("new"))
    error = caught.value
    assert isinstance(error, OSError)
    assert str(error) == f"cannot write {path}: {en}."
    assert error.text("ko") == f"{path}에 쓸 수 없습니다: {ko}."


NO_FOLDER = (
    "there is no such folder. Make it first, or try another path",
    "그런 폴더가 없습니다. 폴더를 먼저 만들거나 다른 경로를 쓰십시오",
)
FOLDER = (
    "it is a folder. Give the name of a file, such as one in that folder",
    "폴더입니다. 파일 이름을 쓰십시오. 그 폴더 안의 파일도 됩니다",
)
NO_SPACE = (
    "there is no space left. Make room, or try another disk",
    "남은 공간이 없습니다. 공간을 비우거나 다른 디스크에 쓰십시오",
)


def failing(code: int) -> Any:
    """A writer that the system stops, for this reason."""
    return lambda _: (_ for _ in ()).throw(OSError(code, os.strerror(code)))


def test_a_new_file_is_written_and_its_path_given_back(tmp_path: Path) -> None:
    path = tmp_path / "new.txt"
    assert write_whole(str(path), text("한글")) == path
    assert path.read_text(encoding="utf-8") == "한글"
    assert os.listdir(tmp_path) == ["new.txt"]


def test_an_old_file_is_replaced_at_once(tmp_path: Path) -> None:
    """Who has it open goes on reading the old one."""
    path = tmp_path / "a.txt"
    path.write_text("old")
    with path.open() as reader:
        write_whole(path, text("new"))
        assert reader.read() == "old"
    assert path.read_text() == "new"


@pytest.mark.parametrize(
    "problem", [RuntimeError("no"), KeyboardInterrupt(), OSError(28, "No space left on device"), SystemExit(3)]
)
def test_an_interruption_leaves_the_old_file_and_nothing_else(tmp_path: Path, problem: BaseException) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def half(name: str) -> None:
        Path(name).write_text("ne")
        raise problem

    kind = OutputError if isinstance(problem, OSError) else type(problem)
    with pytest.raises(kind):
        write_whole(path, half)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_an_interrupted_new_file_is_not_there_at_all(tmp_path: Path) -> None:
    refused(tmp_path / "a.txt", *NO_SPACE, failing(errno.ENOSPC))
    assert os.listdir(tmp_path) == []


KILLED = """
import sys, time
from pathlib import Path
from jumok.files import write_whole

def half(name):
    with open(name, "w") as file:
        file.write("half of it")
        file.flush()
        print("ready", flush=True)
        time.sleep(60)

write_whole(sys.argv[1], half)
"""


def test_a_killed_writer_leaves_the_old_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with subprocess.Popen([sys.executable, "-c", KILLED, path], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        writer.send_signal(signal.SIGKILL)
    assert path.read_text() == "old"
    write_whole(path, text("new"))  # what the killed one left behind is in nobody's way
    assert path.read_text() == "new"


KILLED_SAVING = """
import sys
import numpy as np, jumok
ones = np.ones((1, 200_000, 8))
trace = jumok.attend(q=ones, k=ones, v=ones)
print("ready", flush=True)
for _ in range(1000):
    trace.save(sys.argv[1])
"""


@pytest.mark.parametrize("wait", [0.0, 0.02, 0.05, 0.1, 0.2])
def test_a_saver_killed_at_any_moment_leaves_a_whole_file(tmp_path: Path, wait: float) -> None:
    path = tmp_path / "a.safetensors"
    TRACE.save(path)
    with subprocess.Popen([sys.executable, "-c", KILLED_SAVING, path], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        threading.Event().wait(wait)
        writer.kill()
    trace = jumok.load(path)
    assert isinstance(trace, jumok.Trace)
    assert trace.n_tokens in (2, 200_000)


def test_what_cannot_be_written_says_why(tmp_path: Path) -> None:
    folder, file = tmp_path / "folder", tmp_path / "file"
    folder.mkdir()
    file.write_text("old")
    refused(tmp_path / "missing" / "a.txt", *NO_FOLDER)
    refused(folder, *FOLDER)
    refused(str(folder) + "/", *FOLDER)
    refused(
        file / "a.txt",
        "a part of the path is a file, not a folder. Try another path",
        "경로의 일부가 폴더가 아니라 파일입니다. 다른 경로를 쓰십시오",
    )
    refused(
        tmp_path / ("n" * 300),
        "the name is too long. Try a shorter one",
        "이름이 너무 깁니다. 더 짧은 이름을 쓰십시오",
    )
    refused("/dev/full", *NO_SPACE)
    assert file.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]
    assert os.listdir(folder) == []


DENIED = (
    "permission denied. Try a folder of your own, or have its permissions changed",
    "쓰기 권한이 없습니다. 쓸 수 있는 폴더를 고르거나 권한을 바꾸십시오",
)
CAUSES = {
    errno.EACCES: DENIED,
    errno.EPERM: DENIED,
    errno.ENOSPC: NO_SPACE,
    errno.EDQUOT: NO_SPACE,
    errno.EROFS: (
        "this disk can only be read. Try a path on another one",
        "읽기 전용 디스크입니다. 다른 디스크에 쓰십시오",
    ),
    errno.EFBIG: (
        "the file grows larger than is allowed here. Try another disk",
        "파일이 이곳의 한도보다 커집니다. 다른 디스크에 쓰십시오",
    ),
    errno.EIO: (
        "the disk could not be read or written. Try another path",
        "디스크를 읽거나 쓰지 못했습니다. 다른 경로를 쓰십시오",
    ),
}


@pytest.mark.parametrize("code", CAUSES)
def test_advice_fits_the_cause(tmp_path: Path, code: int) -> None:
    refused(tmp_path / "a.txt", *CAUSES[code], failing(code))


@pytest.mark.parametrize("name", ["", "nul\0byte"])
def test_what_names_no_file_is_told(name: str) -> None:
    for write in (
        lambda: write_whole(name, text("new")),
        lambda: TRACE.save(name),
        lambda: jumok.draw(TRACE).save(name),
    ):
        with pytest.raises(OutputError) as caught:
            write()
        assert str(caught.value) == f"a file's name is needed, got {name!r}. Try one such as 'student.html'."
        assert caught.value.text("ko") == f"파일 이름이 필요한데 {name!r}이(가) 왔습니다. 예: 'student.html'."


def test_a_long_name_in_any_script_can_be_written(tmp_path: Path) -> None:
    for name in ("가" * 80, "🙂" * 60, "a" * 255):
        assert write_whole(tmp_path / name, text("x")).read_text() == "x"


def test_a_link_keeps_pointing_where_it_did(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "a.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    assert write_whole(link, text("new")) == link
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert os.listdir(tmp_path / "real") == ["a.txt"]


def test_a_link_to_nowhere_makes_the_file_it_points_to(tmp_path: Path) -> None:
    link = tmp_path / "link.txt"
    link.symlink_to(tmp_path / "later.txt")
    write_whole(link, text("new"))
    assert (tmp_path / "later.txt").read_text() == "new"
    assert link.is_symlink()


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o400])
def test_permissions_stay_as_they_were(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(mode)
    write_whole(path, text("new"))
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_a_new_file_has_the_permissions_that_the_user_wants(tmp_path: Path, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        path = TRACE.save(tmp_path / "a.safetensors")
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_device_is_written_directly(tmp_path: Path) -> None:
    write_whole("/dev/null", text("gone"))
    assert Path("/dev/null").is_char_device()
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(fifo.read_text()))
    reader.start()
    write_whole(fifo, text("through"))
    reader.join(10)
    assert got == ["through"]
    assert stat.S_ISFIFO(fifo.stat().st_mode)


# records ------------------------------------------------------------------------------------------


@SUFFIXES
def test_a_record_that_cannot_be_saved_says_why(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"folder{suffix}").mkdir()
    for name, reason in ((f"missing/a{suffix}", "there is no such folder"), (f"folder{suffix}", "it is a folder")):
        with pytest.raises(OutputError, match=f"cannot write .*: {reason}") as caught:
            TRACE.save(tmp_path / name)
        assert "쓸 수 없습니다" in caught.value.text("ko")
    assert os.listdir(tmp_path) == [f"folder{suffix}"]


@SUFFIXES
def test_a_record_goes_through_a_pipe(tmp_path: Path, suffix: str) -> None:
    """Also through a link to one; no file is put in its place."""
    pipe, link = tmp_path / "pipe", tmp_path / f"link{suffix}"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    TRACE.save(link)
    reader.join(10)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    copy = tmp_path / f"copy{suffix}"
    copy.write_bytes(got[0])
    if suffix == ".safetensors":
        assert jumok.load(copy) == TRACE
    else:
        assert copy.read_text(encoding="utf-8") == TRACE.save(tmp_path / "b.json").read_text(encoding="utf-8")


FULL = """
import resource, sys
import numpy as np, jumok
ones = np.ones((1, 2000, 8))
trace = jumok.attend(q=ones, k=ones, v=ones)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))  # files end here, as on a full disk
try:
    trace.save(sys.argv[1])
except jumok.errors.OutputError as error:
    print(error, error.text("ko"))
"""


@SUFFIXES
def test_a_disk_that_fills_up_leaves_the_old_file(tmp_path: Path, suffix: str) -> None:
    path = TRACE.save(tmp_path / f"a{suffix}")
    before = path.read_bytes()
    done = subprocess.run([sys.executable, "-c", FULL, path], capture_output=True, text=True, check=False)
    assert "cannot write" in done.stdout, done.stderr
    assert "쓸 수 없습니다" in done.stdout
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


def test_what_a_killed_writing_left_behind_is_taken_away_after_a_day(tmp_path: Path) -> None:
    old, new, other = (tmp_path / name for name in (".jumok-a.part", ".jumok-b.part", ".other-c.part"))
    for file in (old, new, other):
        file.write_text("half")
    for file in (old, other):
        os.utime(file, (0, 0))
    write_whole(tmp_path / "a.txt", text("whole"))
    assert sorted(file.name for file in tmp_path.iterdir()) == [".jumok-b.part", ".other-c.part", "a.txt"]


def test_a_full_disk_is_told_as_such(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from safetensors import SafetensorError

    def full(*_: Any, **__: Any) -> None:
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr("safetensors.numpy.save_file", full)
    with pytest.raises(OutputError, match=r"there is no space left\. Make room, or try another disk") as told:
        TRACE.save(tmp_path / "a.safetensors")
    assert "남은 공간이 없습니다" in told.value.ko
    assert not list(tmp_path.iterdir())
