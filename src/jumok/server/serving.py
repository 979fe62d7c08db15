"""From what was asked for to a running server, until Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import re
import secrets
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ..errors import InputError, MissingExtra, OutputError, system_reason
from ..files import is_file, write_whole
from ..lessons.progress import data_folder
from ..words import language, preferred_language, with_particle

try:
    import prometheus_client  # noqa: F401 (missing here, before anything is begun)
    import starlette  # noqa: F401
    import uvicorn
except ModuleNotFoundError as error:
    if error.name not in ("prometheus_client", "starlette", "uvicorn"):
        raise
    raise MissingExtra(extra="serve", package=error.name.replace("_", "-")) from None

from .app import app_of
from .limits import HEADER_BYTES, IDLE_S
from .protocol import Deadlines
from .safety import Access, is_loopback
from .service import Service
from .shelf import Given

__all__ = ["PORT", "Started", "serve"]

PORT = 8765
HOST = "127.0.0.1"
GOODBYE_S = 3  # for answers that are under way when the server ends
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that looks like another
SECRET = re.compile(f"(?:[{LETTERS}]{{4}}-){{2}}[{LETTERS}]{{4}}")
MOST_OWN = 9  # work folders of servers that run at the same time

Opened = Callable[["Started"], None]


@dataclass(frozen=True)
class Started:
    """A server that answers now.

    url : its link, with the token where there is one;  work : where things are kept;  end : ends it, from any thread
    """

    url: str
    work: Path
    started_id: str
    end: Callable[[], None]


def serve(
    files: Sequence[str | os.PathLike[str]] = (),
    *,
    model: str | os.PathLike[str] | None = None,
    corpus: str | os.PathLike[str] | None = None,
    host: str = HOST,
    port: int | None = None,
    work: str | os.PathLike[str] | None = None,
    allow_code: bool = False,
    lang: str | None = None,
    opened: Opened | None = None,
    prepares: Callable[[str], None] = lambda _name: None,
) -> None:
    """As ``jumok.serve``.

    lang : that pages begin in; None for what each browser prefers
    opened : called when the server answers;  prepares : with the name of a file whose page is made, which may take long
    """
    chosen = preferred_language() if lang is None else language(lang)
    _refuse_running_loop()
    _refuse_empty(host, work)
    _refuse_code_for_others(host, allow_code)
    examples, others = _named(files)
    if corpus is not None and not is_file(corpus):
        raise InputError(
            en=f"--corpus expects a file, and there is none: {corpus}.",
            ko=f"--corpus에는 파일이 필요한데 {corpus} 파일이 없습니다.",
        )
    with _socket(host, port) as listening, _work_folder(work, chosen) as folder:
        access = Access(host, None if is_loopback(host) else _secret(folder), chosen, is_lang_asked=lang is not None)
        given = Given(
            others, examples, None if model is None else os.fspath(model), None if corpus is None else Path(corpus).absolute(),
            folder, allow_code, chosen,
        )  # fmt: skip
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_run(Service(given, prepares), access, listening, opened))


async def _run(service: Service, access: Access, listening: socket.socket, opened: Opened | None) -> None:
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # that somebody has gone while an answer was sent is no news
    try:
        await service.start()
        server = _Server(_config(service, access), service.hang_up)
        if opened is not None:
            url = _url(access, listening)
            server.answers = lambda: opened(Started(url, service.given.work, service.start_id, server.end))
        await server.serve([listening])
    finally:
        await service.close()


def _config(service: Service, access: Access) -> uvicorn.Config:
    return uvicorn.Config(
        app_of(service, access), http=Deadlines, ws="none", lifespan="off", loop="asyncio", log_config=None, log_level="error",
        access_log=False, server_header=False, h11_max_incomplete_event_size=HEADER_BYTES, timeout_keep_alive=int(IDLE_S),
        timeout_graceful_shutdown=GOODBYE_S, proxy_headers=False,
    )  # fmt: skip


class _Server(uvicorn.Server):
    """uvicorn, which says when it answers, lets those go who look on, and has done with a signal when it has ended."""

    def __init__(self, config: uvicorn.Config, hang_up: Callable[[], None]) -> None:
        super().__init__(config)
        self.hang_up = hang_up
        self.answers: Callable[[], None] = lambda: None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        self.answers()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End every stream, which else would be waited for."""
        self.hang_up()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """uvicorn would raise the signal once more, in the middle of what has still to be put away."""
        with super().capture_signals():
            yield
            self._captured_signals.clear()

    def end(self) -> None:
        """End the server, from any thread."""
        self.should_exit = True


def _refuse_running_loop() -> None:
    """A notebook's cells run inside a loop already, and one that serves would never come to its end."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise InputError(
        en="jumok.serve goes on until somebody ends it, so it cannot run inside a notebook or another asyncio program. Run "
        "`jumok serve` in a terminal, or in a thread: threading.Thread(target=jumok.serve, daemon=True).start().",
        ko="jumok.serve는 누가 끝낼 때까지 계속되므로 노트북이나 다른 asyncio 프로그램 안에서는 실행할 수 없습니다. 터미널에서 "
        "`jumok serve`를 실행하거나, 스레드에서 실행하십시오: threading.Thread(target=jumok.serve, daemon=True).start()",
    )


def _refuse_empty(host: str, work: str | os.PathLike[str] | None) -> None:
    """What a script hands over whose variable is not set."""
    if not host.strip():
        raise InputError(
            en="--host expects an address, and got none. For this computer alone leave --host out; for all its addresses: --host 0.0.0.0.",
            ko="--host에 주소가 없습니다. 이 컴퓨터에서만 쓰려면 --host를 빼고, 이 컴퓨터의 모든 주소에서 받으려면 --host 0.0.0.0을 쓰십시오.",
        )
    if work is not None and not os.fspath(work).strip():
        raise InputError(
            en="--work expects a folder, and got none. Name one, or leave --work out.",
            ko="--work에 폴더가 없습니다. 폴더 이름을 쓰거나 --work를 빼십시오.",
        )


def _refuse_code_for_others(host: str, allow_code: bool) -> None:
    if allow_code and not is_loopback(host):
        raise InputError(
            en=f"--allow-code runs what visitors write, so it is for this computer alone: leave out --host {host}, or --allow-code.",
            ko=f"--allow-code는 방문자가 쓴 코드를 실행하므로 이 컴퓨터에서만 쓸 수 있습니다. --host {with_particle(host, '이나/나')} "
            f"--allow-code 가운데 하나를 빼십시오.",
        )


# what is shown ------------------------------------------------------------------------------------


def _named(files: Sequence[str | os.PathLike[str]]) -> tuple[dict[str, Path], dict[str, Path]]:
    """The given files by the names that addresses have: example files, and others."""
    from ..sources.example import names

    packaged = names()
    taken, seen = set(packaged), set()
    examples: dict[str, Path] = {}
    others: dict[str, Path] = {}
    for file in files:
        path = Path(file)
        is_there = is_file(path) or is_file(path / "plan.json")
        if not is_there and os.fspath(file) in packaged:
            raise InputError(
                en=f"{os.fspath(file)} is an example that comes with jumok, and stands on the start page already. Leave it out.",
                ko=f"{with_particle(os.fspath(file), '은/는')} jumok에 들어 있는 예제라서 첫 페이지에 이미 있습니다. 빼고 실행하십시오.",
            )
        if not is_there:
            raise InputError(
                en=f"{os.fspath(file)!r} is neither a file nor the folder of a run. serve shows example files (.yaml), records and "
                f"training runs (.safetensors), and folders of jumok measure.",
                ko=f"{with_particle(repr(os.fspath(file)), '은/는')} 파일도 실행 결과 폴더도 아닙니다. serve는 예제 파일(.yaml), 기록과 학습 "
                f"결과(.safetensors), jumok measure의 폴더를 보여 줍니다.",
            )
        real = os.path.realpath(path)
        if real in seen:  # given twice, it is one page
            continue
        seen.add(real)
        into = examples if path.suffix.lower() in (".yaml", ".yml") else others
        name = _free(re.sub(r"[\s/\\?#%]+", "-", path.absolute().stem).strip(".-") or "file", taken)
        taken.add(name)
        into[name] = path.absolute()
    return examples, others


def _free(name: str, taken: set[str]) -> str:
    return next(one for one in (name, *(f"{name}-{at}" for at in range(2, 10**6))) if one not in taken)


# where it listens ---------------------------------------------------------------------------------


@contextlib.contextmanager
def _socket(host: str, port: int | None) -> Iterator[socket.socket]:
    """A socket at the port that was asked for; where nobody asked, at the usual one, or at a free one.

    Errors: ``InputError`` for an address that is none of this machine's, or a port that is taken.
    """
    wanted = [port] if port is not None else [PORT, 0]
    failed: OSError | UnicodeError | OverflowError = OSError()
    for one in wanted:
        try:
            listening = _listening(host, one)
        except (OSError, UnicodeError, OverflowError) as error:
            failed = error
            continue
        with listening:
            yield listening
        return
    is_known = isinstance(failed, OSError) and not isinstance(failed, socket.gaierror)
    en, ko = system_reason(failed) if is_known else ("there is no such address", "그런 주소가 없습니다")
    if getattr(failed, "errno", None) in (errno.EADDRINUSE, errno.EACCES):
        en, ko = f"{en}. Try another --port", f"{ko}. 다른 --port를 쓰십시오"
    else:
        en, ko = (
            f"{en}. All addresses of this machine: --host 0.0.0.0",
            f"{ko}. 이 컴퓨터의 모든 주소는 --host 0.0.0.0입니다",
        )
    raise InputError(
        en=f"cannot listen at {host}, port {wanted[0]}: {en}.",
        ko=f"{host}의 포트 {wanted[0]}에서 기다릴 수 없습니다: {ko}.",
    )


def _listening(host: str, port: int) -> socket.socket:
    family, kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    listening = socket.socket(family, kind)
    try:
        if sys.platform != "win32":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(256)
    except BaseException:
        listening.close()
        raise
    return listening


def _url(access: Access, listening: socket.socket) -> str:
    """The link for the browser; of all addresses, the one by which others reach this machine."""
    host, port = access.host, listening.getsockname()[1]
    if host in ("0.0.0.0", "::"):  # noqa: S104 (it was asked for)
        host = _outward() or "localhost"
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/" + ("" if access.token is None else f"?token={access.token}")


def _outward() -> str | None:
    """The address by which this machine would reach others. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect(("192.0.2.1", 9))  # an address for documentation, which nobody has
            return str(asking.getsockname()[0])
        except OSError:
            return None


# where things are kept ----------------------------------------------------------------------------


@contextlib.contextmanager
def _work_folder(asked: str | os.PathLike[str] | None, lang: str) -> Iterator[Path]:
    """The folder, for this server alone. Where nobody asked: in the person's own, the first that no other server has.

    lang : in which it is said that another server has the first one

    Errors: ``OutputError`` where it cannot be written, or another server has it.
    """
    base = data_folder() / "serve"
    tried = (
        [Path(asked)]
        if asked is not None
        else [base, *(base.with_name(f"serve-{at}") for at in range(2, MOST_OWN + 1))]
    )
    for folder in tried:
        lock = _locked(folder.absolute())
        if lock is not None:
            if folder != tried[0]:
                print(_other(tried[0], folder, lang), file=sys.stderr)  # noqa: T201 (the server's own log)
            with lock:
                yield folder.absolute()
            return
    raise OutputError(
        en=f"another jumok serve keeps its things in {tried[0]}. Give this one its own folder: --work FOLDER.",
        ko=f"다른 jumok serve가 {with_particle(str(tried[0]), '을/를')} 쓰고 있습니다. 이 서버에는 다른 폴더를 주십시오: --work 폴더.",
    )


def _other(first: Path, folder: Path, lang: str) -> str:
    """That this is not the usual folder, and why."""
    if lang == "ko":
        return (
            f"jumok serve: 다른 jumok serve가 {with_particle(str(first), '을/를')} 쓰고 있어서, 이 서버는 {with_particle(str(folder), '을/를')} "
            f"씁니다. 전에 한 작업은 그 서버에 있습니다. 같은 작업을 보려면 그 서버를 끝낸 뒤 이 서버를 다시 시작하십시오."
        )
    return (
        f"jumok serve: another jumok serve uses {first}, so this one uses {folder}. Jobs of before are there, at that server. To "
        f"have them here, end that server, then start this one again."
    )


def _secret(folder: Path) -> str:
    """What the link ends in: of this folder, so that a class finds its way back after a new start; short enough to be typed.

    59 bits: at ten thousand tries a second, millions of years.
    """
    path = folder / "token"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        kept = path.read_text("utf-8").strip()
        if SECRET.fullmatch(kept):
            return kept
    made = "-".join("".join(secrets.choice(LETTERS) for _ in range(4)) for _ in range(3))
    write_whole(path, lambda name: Path(name).write_text(f"{made}\n", encoding="utf-8"))
    return made


def _locked(folder: Path) -> IO[bytes] | None:
    """The lock of a folder, which goes with this process however it ends; None where another has it."""
    try:
        for part in ("visitors", "shared"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        if hasattr(os, "chmod"):
            folder.chmod(0o700)  # what visitors made is nobody else's business
        lock = (folder / "lock").open("ab")
    except OSError as error:
        en, ko = system_reason(error)
        _refuse_of_wrong_kind(folder)
        raise OutputError(
            en=f"the work folder {folder} cannot be used: {en}. Try --work FOLDER.",
            ko=f"작업 폴더 {with_particle(str(folder), '을/를')} 쓸 수 없습니다: {ko}. --work 폴더로 다른 곳을 주십시오.",
        ) from error
    try:
        _lock(lock)
    except OSError:
        lock.close()
        return None
    return lock


def _refuse_of_wrong_kind(folder: Path) -> None:
    """A file where a folder is needed, or the other way round: which one, and what to do."""
    for name in ("visitors", "shared"):
        if (folder / name).exists() and not (folder / name).is_dir():
            raise OutputError(
                en=f"{folder / name} is a file, and jumok serve needs a folder of that name. Move the file away, or give another work folder: "
                f"--work FOLDER.",
                ko=f"{with_particle(str(folder / name), '은/는')} 파일인데 jumok serve에는 그 이름의 폴더가 필요합니다. 파일을 옮기거나 다른 작업 "
                f"폴더를 쓰십시오: --work 폴더.",
            )
    if (folder / "lock").is_dir():
        raise OutputError(
            en=f"{folder / 'lock'} is a folder, and jumok serve needs a file of that name. Move the folder away, or give another work "
            f"folder: --work FOLDER.",
            ko=f"{with_particle(str(folder / 'lock'), '은/는')} 폴더인데 jumok serve에는 그 이름의 파일이 필요합니다. 폴더를 옮기거나 다른 작업 "
            f"폴더를 쓰십시오: --work 폴더.",
        )


def _lock(file: IO[bytes]) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
