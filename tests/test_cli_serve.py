"""jumok serve on the command line: its link, its end by Ctrl-C, and what is refused with exit code 2 in both languages."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

import jumok
from jumok.cli import run
from jumok.errors import InputError, OutputError

LONG_S = 120


@pytest.fixture
def taken():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening.getsockname()[1]


def begun(folder, *arguments):
    command = [sys.executable, "-m", "jumok", "serve", "--work", str(folder), "--port", "0", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")
    return process, process.stdout.readline()


def test_it_says_where_and_ends_with_ctrl_c(tmp_path):
    process, line = begun(tmp_path / "work", "--lang", "en")
    url = re.fullmatch(r"open (http://127\.0\.0\.1:[0-9]+/)\n", line)[1]
    with urllib.request.urlopen(url, timeout=LONG_S) as page:
        assert b'id="served"' in page.read()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=LONG_S)
    assert process.returncode == 0
    assert out == ""
    assert err.splitlines() == [
        f"what is made is kept in {tmp_path / 'work'}; Ctrl-C ends the server, and the same command goes on."
    ]
    assert os.stat(tmp_path / "work").st_mode & 0o077 == 0, "others on this machine could read what visitors made"


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        (["serve"], None), (["serve", "--lang", "ko"], "ko"), (["--lang", "ko", "serve"], "ko"), (["serve", "--lang=en"], "en"),
        (["--lang", "en", "serve", "--lang", "ko"], "ko"),
    ],
)  # fmt: skip
def test_only_a_language_that_was_asked_for_goes_before_what_browsers_prefer(arguments, asked, monkeypatch):
    given = []
    monkeypatch.setattr("jumok.server.serving.serve", lambda *_, lang, **__: given.append(lang))
    assert run(arguments) == 0
    assert given == [asked]


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing.yaml"], "nothing.yaml"), (["--corpus", "nothing.txt"], "nothing.txt"), (["--port", "x"], "--port"),
        (["--port", "70000"], "65535"), (["--host", "no.such.host.invalid"], "no.such.host.invalid"),
        (["--host", "0.0.0.0", "--allow-code"], "--allow-code"), (["--work", "a-file/work"], "--work"), (["wrong.yaml"], "wrong.yaml"),
        (["--host", ""], "--host 0.0.0.0"), (["--host", " "], "--host 0.0.0.0"), (["--work", ""], "--work"),
        (["--work", "locked"], "locked/lock"), (["--work", "visited"], "visited/visitors"),
    ],
)  # fmt: skip
def test_what_cannot_be_served_is_refused(arguments, said, lang, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUMOK_HOME", str(tmp_path / "home"))
    (tmp_path / "a-file").write_text("")
    (tmp_path / "locked" / "lock").mkdir(parents=True)
    (tmp_path / "visited").mkdir()
    (tmp_path / "visited" / "visitors").write_text("")
    (tmp_path / "wrong.yaml").write_text("tokens: [a, b]\nnonsense: 1\n")
    assert run(["serve", *arguments, "--lang", lang]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1, err
    assert said in err
    assert any("가" <= letter <= "힣" for letter in err) is (lang == "ko")


@pytest.mark.parametrize(
    ("name", "en", "ko"),
    [("lock", "lock is a folder, and", "lock은 폴더인데"), ("shared", "shared is a file, and", "shared는 파일인데")],
)
def test_what_stands_in_the_way_in_a_work_folder_is_named(name, en, ko, tmp_path):
    if name == "lock":
        (tmp_path / name).mkdir()
    else:
        (tmp_path / name).write_text("")
    with pytest.raises(OutputError, match=en) as told:
        jumok.serve(work=tmp_path, port=0)
    assert f"{tmp_path / name}" in told.value.ko
    assert ko in told.value.ko
    assert "--work" in told.value.ko


@pytest.mark.parametrize(("lang", "said"), [("en", "stands on the start page already"), ("ko", "첫 페이지에 이미")])
def test_a_packaged_example_need_not_be_given(lang, said, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["serve", "student", "--work", "work", "--port", "0", "--lang", lang]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_file_that_is_given_twice_is_one_page(tmp_path, monkeypatch):
    from jumok.server.serving import _named

    monkeypatch.chdir(tmp_path)
    for place in (tmp_path, tmp_path / "other"):
        place.mkdir(exist_ok=True)
        (place / "나비.yaml").write_text("tokens: [a, b]\n", encoding="utf-8")
    (tmp_path / "link.yaml").symlink_to("나비.yaml")
    examples, _ = _named(["나비.yaml", str(tmp_path / "나비.yaml"), "./나비.yaml", "link.yaml", "other/나비.yaml"])
    assert examples == {"나비": tmp_path / "나비.yaml", "나비-2": tmp_path / "other" / "나비.yaml"}


def test_a_model_that_is_not_there_is_said_by_its_worker(tmp_path, capsys):
    assert run(["serve", "--model", "no-such-model", "--work", str(tmp_path), "--port", "0", "--lang", "ko"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "no-such-model" in line
    assert any("가" <= letter <= "힣" for letter in line)


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_port_that_is_taken_is_refused(taken, lang, tmp_path, capsys):
    assert run(["serve", "--port", str(taken), "--work", str(tmp_path), "--lang", lang]) == 2
    assert str(taken) in capsys.readouterr().err


def test_inside_a_loop_that_runs_it_says_what_to_do_instead():
    async def cell():
        jumok.serve()

    with pytest.raises(InputError, match="in a thread") as told:
        asyncio.run(cell())
    assert "스레드" in told.value.ko
