"""How long jumok takes to start, beside NumPy alone: ``python benchmarks/start_up.py``.

Every round starts each command once in a fresh process and compares it with that round's NumPy, so that a
busy spell hits all of them alike; the ratio is the median over the rounds. All keep their bytecode, as
whatever pip has installed does, in a folder that the round before fills. With ``--check`` few rounds are
run, and a missed target is measured up to three times.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

BASE = "import numpy"
COMMANDS = {
    BASE: [sys.executable, "-c", "import numpy"],
    "import jumok": [sys.executable, "-c", "import jumok"],
    "jumok attend student": [sys.executable, "-m", "jumok", "attend", "student"],
}
TARGETS = {"import jumok": 1.15, "jumok attend student": 4.0}  # times as long as importing NumPy, whole processes


def main(arguments: list[str]) -> int:
    """Print the table; with ``--check``, 1 where a target is missed."""
    check = "--check" in arguments
    for _ in range(3 if check else 1):
        times_s = measured(rounds=7 if check else 25)
        print(table(times_s), flush=True)
        if not check or all(ratio(times_s, name) <= target for name, target in TARGETS.items()):
            return 0
    return 1


def measured(rounds: int) -> dict[str, list[float]]:
    """Each command's wall-clock seconds, round by round; one round before does not count."""
    times_s: dict[str, list[float]] = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory() as bytecode:
        variables = os.environ | {"PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": bytecode}
        for n in range(rounds + 1):
            for name, command in COMMANDS.items():
                start = time.perf_counter()
                subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=variables)
                if n:
                    times_s[name].append(time.perf_counter() - start)
    return times_s


def ratio(times_s: dict[str, list[float]], name: str) -> float:
    """How many times as long as importing NumPy in the same round, at the median."""
    return statistics.median(time_s / base_s for time_s, base_s in zip(times_s[name], times_s[BASE], strict=True))


def table(times_s: dict[str, list[float]]) -> str:
    """A line a command: milliseconds and ratio."""
    lines = [f"{'whole process':<24}{'median':>9}{'min':>9}{'ratio':>8}{'target':>8}"]
    for name, times in times_s.items():
        target = f"{TARGETS[name]:.2f}" if name in TARGETS else ""
        lines.append(
            f"{name:<24}{1000 * statistics.median(times):>6.0f} ms{1000 * min(times):>6.0f} ms"
            f"{ratio(times_s, name):>8.2f}{target:>8}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
