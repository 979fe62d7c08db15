"""The machine that things are measured on: its array library, its memory, and the most it gives to a product of matrices."""

from __future__ import annotations

import gc
import importlib.util
import math
import os
import statistics
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, MissingExtra, UnknownName
from ..memory import available, n_processors

__all__ = ["DEVICES", "LIBRARIES", "Machine", "machine"]

DEVICES = ("cpu", "cuda")
LIBRARIES = ("numpy", "torch")
PEAK_N = (
    1024  # of the square matrices whose product is the machine's peak: large enough that starting it counts for little
)
PEAK_RUNS = 6  # the first of them warms up

CLOCK_S = 1e-9  # what a clock can tell

Run = Callable[[], Any]


class Machine:
    """An array library on a device, and how time and memory are measured there.

    library : "numpy" or "torch";  device : "cpu" or "cuda"
    """

    library = "numpy"
    device = "cpu"

    @property
    def name(self) -> str:
        """What ran, such as ``numpy 2.3.0``."""
        return f"numpy {np.__version__}"

    @property
    def n_threads(self) -> int | None:
        """Processors that this program may use; None where that says nothing."""
        told = [os.environ.get(name, "") for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")]
        return min([n_processors(), *(int(n) for n in told if n.isdigit() and int(n) > 0)])

    def normal(self, shape: tuple[int, ...], seed: int) -> Any:
        """Numbers from N(0, 1) in single precision, the same for a seed."""
        return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)

    def array(self, numbers: Any) -> Any:
        """The same numbers there, in single precision."""
        return np.asarray(numbers, np.float32)

    def free_bytes(self) -> int | None:
        """Memory that is free there, where the system tells."""
        return available()

    def wait(self) -> None:
        """Until what was begun is done."""

    def once(self, run: Run) -> float:
        """Seconds that it takes."""
        self.wait()
        start = time.perf_counter()
        run()
        self.wait()
        return time.perf_counter() - start

    def several(self, run: Run, n_runs: int) -> tuple[float, float]:
        """(the median of several runs in seconds, how many times as long as the shortest the longest took)."""
        times = [self.once(run) for _ in range(n_runs)]
        return statistics.median(times), max(times) / max(min(times), CLOCK_S)

    def warmed(self, run: Run) -> tuple[float, int | None]:
        """(seconds, bytes) of a first run: the most memory that it held at once beyond what was there before."""
        gc.collect()
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            seconds = self.once(run)
            return seconds, tracemalloc.get_traced_memory()[1] - before
        finally:
            tracemalloc.stop()

    def peak(self, most_s: float = 2.0) -> float:
        """Multiply-adds a second of the product of two square matrices: the best of a few, or of those in ``most_s``."""
        a, b = (self.normal((PEAK_N, PEAK_N), seed) for seed in (0, 1))
        began, best = time.perf_counter(), math.inf
        for _ in range(PEAK_RUNS):
            best = min(best, self.once(lambda: a @ b))
            if time.perf_counter() - began > most_s:
                break
        return float(PEAK_N**3 / best)


class _Torch(Machine):
    library = "torch"

    def __init__(self, device: str) -> None:
        self.torch: Any = _torch()
        self.device = device
        if device == "cuda" and not self.torch.cuda.is_available():
            raise InputError(
                en="device cuda: PyTorch finds no CUDA GPU here. Try device cpu.",
                ko="cuda 장치: PyTorch가 쓸 수 있는 CUDA GPU가 없습니다. cpu로 해 보십시오.",
            )

    @property
    def name(self) -> str:
        return f"torch {self.torch.__version__}"

    @property
    def n_threads(self) -> int | None:
        return int(self.torch.get_num_threads()) if self.device == "cpu" else None

    def normal(self, shape: tuple[int, ...], seed: int) -> Any:
        draw = self.torch.Generator(self.device).manual_seed(seed)
        return self.torch.randn(shape, generator=draw, device=self.device)

    def array(self, numbers: Any) -> Any:
        return self.torch.as_tensor(np.array(numbers, np.float32), device=self.device)

    def free_bytes(self) -> int | None:
        return int(self.torch.cuda.mem_get_info()[0]) if self.device == "cuda" else available()

    def wait(self) -> None:
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def once(self, run: Run) -> float:
        with self.torch.no_grad():
            return super().once(run)

    def warmed(self, run: Run) -> tuple[float, int | None]:
        return self._on_gpu(run) if self.device == "cuda" else self._resident(run)

    def _on_gpu(self, run: Run) -> tuple[float, int | None]:
        self.torch.cuda.reset_peak_memory_stats()
        before = self.torch.cuda.memory_allocated()
        return self.once(run), int(self.torch.cuda.max_memory_allocated() - before)

    def _resident(self, run: Run) -> tuple[float, int | None]:
        """By the process's own high-water mark, which Linux lets it set back; PyTorch counts nothing on a processor."""
        gc.collect()
        before = _resident_bytes("VmRSS") if _forget_high_water() else None
        seconds = self.once(run)
        after = None if before is None else _resident_bytes("VmHWM")
        return seconds, None if before is None or after is None else max(0, after - before)


def machine(library: str | None = None, device: str = "cpu") -> Machine:
    """The machine for an array library and a device; no library named: NumPy on a processor, PyTorch on a GPU.

    >>> machine().library, machine().device
    ('numpy', 'cpu')

    Errors: ``UnknownName`` for another library or device, ``MissingExtra`` without PyTorch, ``InputError`` without a GPU and for
    a PyTorch that cannot be loaded.
    """
    _refuse_unknown("device", "장치", device, DEVICES)
    library = library or ("torch" if device == "cuda" else "numpy")
    _refuse_unknown("library", "라이브러리", library, LIBRARIES)
    if library == "numpy" and device != "cpu":
        raise InputError(
            en=f"NumPy runs on cpu only, and {device} was asked for. Leave out the library, or take torch.",
            ko=f"NumPy는 cpu에서만 쓸 수 있는데 {device} 장치를 골랐습니다. 라이브러리를 빼거나 torch를 쓰십시오.",
        )
    if library == "numpy":
        return Machine()
    return _Torch(device)


def _torch() -> Any:
    """PyTorch, or why it cannot be had: not there, or there and broken."""
    if importlib.util.find_spec("torch") is None:
        raise MissingExtra(extra="learn", package="torch")
    try:
        return importlib.import_module("torch")
    except (ImportError, OSError) as error:  # a library that it needs is missing
        raise InputError(
            en=f"PyTorch is installed but cannot be loaded: {error}. Install it anew, or take the library numpy.",
            ko=f"PyTorch가 설치되어 있지만 불러올 수 없습니다: {error}. 다시 설치하거나 numpy 라이브러리를 쓰십시오.",
        ) from error


def _refuse_unknown(what: str, what_ko: str, name: Any, known: tuple[str, ...]) -> None:
    if name not in known:
        raise UnknownName(
            en=f"unknown {what} {name!r}; known: {', '.join(known)}.",
            ko=f"알 수 없는 {what_ko} {name!r}입니다. 쓸 수 있는 것: {', '.join(known)}.",
        )


def _forget_high_water() -> bool:
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def _resident_bytes(name: str) -> int | None:
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    found = next((line.split()[1] for line in lines if line.startswith(f"{name}:")), None)
    return None if found is None else int(found) * 1024
