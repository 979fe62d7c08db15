"""A training run in the page (frontend/src/engine/history.ts): at every step its layers are those of Python's Traces."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jumok
from jumok.history import History
from jumok.path import Rule
from jumok.path.gradients import Gradients
from jumok.picture.learned import Run, pack_run
from small_runs import drawn, history

STAGES = ("x", "q", "k", "v", "scores", "scaled", "weights", "mixed", "output")


def kept(whole: History) -> History:
    """The same run, of which only q, k and v of the probes were kept."""
    probes = []
    for at, probe in enumerate(whole.probes):
        arrays = []
        for layer in range(len(whole.layers)):
            traces = [whole.trace(step, at, layer) for step in whole.steps]
            arrays.append({name: np.stack([getattr(trace, name) for trace in traces]) for name in "qkv"})
        probes.append(dataclasses.replace(probe, arrays=tuple(arrays)))
    layers = tuple(dataclasses.replace(layer, weights={}) for layer in whole.layers)
    return dataclasses.replace(whole, layers=layers, probes=tuple(probes))


def wanted_rows(whole: History) -> History:
    """The same run, whose loss reads the weights themselves."""
    probes = []
    for probe in whole.probes:
        shape = len(whole.steps), 2, len(probe.tokens), len(probe.tokens)
        arrays = [{"x": of["x"], "weights_gradient": drawn(9, *shape, dtype="float64")} for of in probe.arrays]
        probes.append(dataclasses.replace(probe, arrays=tuple(arrays)))
    return dataclasses.replace(whole, probes=tuple(probes))


def soft_capped(whole: History) -> History:
    """The same run with rules that bend and scale the scores."""
    rules = (Rule(softcap=0.7, scale=0.4), Rule(softcap=2.0, allowed="causal"))
    return dataclasses.replace(whole, probes=tuple(dataclasses.replace(probe, rules=rules) for probe in whole.probes))


def learned_bias(whole: History) -> History:
    """The same run with a rule that holds other numbers at each snapshot."""
    slopes = [Rule(bias=jumok.positions.alibi([0.1 * (at + 1), 0.2])) for at in range(len(whole.steps))]
    probes = [dataclasses.replace(probe, rules=(tuple(slopes), *probe.rules[1:])) for probe in whole.probes]
    return dataclasses.replace(whole, probes=tuple(probes))


MANY = {"d_model": 64, "steps": tuple(range(30)), "sentences": (tuple("abcdefghijkl"), tuple("wxyz"))}
RUNS: dict[str, tuple[Callable[[], History], float]] = {
    "double": (lambda: history(dtype="float64", biases=True), 1e-12),
    "single": (lambda: history(biases=True), 1e-5),
    "one layer, one head": (lambda: history(n_layers=1, n_heads=1), 1e-5),
    "q, k and v alone": (lambda: kept(history(dtype="float64")), 1e-12),
    "a rule that is learned": (lambda: learned_bias(history(dtype="float64")), 1e-12),
    "a loss on the weights": (lambda: wanted_rows(history(dtype="float64")), 1e-12),
    "a soft cap": (lambda: soft_capped(history(dtype="float64", biases=True)), 1e-12),
    "rounded": (lambda: history(**MANY), 1e-3),
}


def moment(whole: History, at: int, probe: int) -> dict[str, Any]:
    step = whole.steps[at]
    layers = []
    for layer in range(len(whole.layers)):
        trace = whole.trace(step, probe, layer)
        stages = {name: rows(trace, name) for name in STAGES if name != "x" or trace.x is not None}
        gradients = backwards(trace, whole.probes[probe].arrays[layer], at)
        layers.append({"stages": stages, "details": trace.source.details, "gradients": gradients})
    return {"snapshot": at, "probe": probe, "step": step, "layers": layers}


def backwards(trace: jumok.Trace, arrays: Any, at: int) -> dict[str, list[float] | None]:
    """dL/dq, dL/dk, dL/dv, and dL/dW of their matrices; none of a probe of which no gradient was kept."""
    if not {"gradient", "weights_gradient"} & set(arrays) or trace.x is None:
        return {}
    output, direct = (arrays[name][at] if name in arrays else None for name in ("gradient", "weights_gradient"))
    found = Gradients(trace.steps, output, direct)
    arrays = {name: getattr(found, name) for name in "qkv"}
    arrays |= {f"w_{name}": found.of_projection(name, trace.x) for name in "qkv"}
    return {name: None if array is None else array.ravel().tolist() for name, array in arrays.items()}


def rows(trace: jumok.Trace, stage: str) -> list[list[float]]:
    """A list a head; one alone where there are no heads."""
    array = np.asarray(trace.rows(stage) if stage in jumok.path.STAGES else getattr(trace, stage))
    return [one.ravel().tolist() for one in (array if array.ndim == 3 else array[None])]


@pytest.fixture(scope="module")
def compared(node: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, float]]:
    folder = tmp_path_factory.mktemp("runs")
    cases = []
    for name, (made, tolerance) in RUNS.items():
        whole = made()
        (folder / f"{name}.safetensors").write_bytes(b"".join(pack_run(Run(whole)).file()))
        moments = [
            moment(whole, at, probe) for at in range(0, len(whole.steps), 5) for probe in range(len(whole.probes))
        ]
        cases.append({"name": name, "tolerance": tolerance, "moments": moments})
    (folder / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    node("history.parity", JUMOK_RUNS=folder)
    found: dict[str, dict[str, float]] = json.loads((folder / "compared.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", RUNS)
def test_the_page_has_the_layers_of_every_step(compared: dict[str, dict[str, float]], name: str) -> None:
    assert compared[name]["numbers"] > 500
    assert compared[name]["worst"] <= RUNS[name][1]


@pytest.mark.parametrize("name", [name for name in RUNS if name != "q, k and v alone"])
def test_the_page_walks_back_to_the_gradients_that_python_finds(
    compared: dict[str, dict[str, float]], name: str
) -> None:
    assert compared[name]["gradients"] > 500
    assert compared[name]["worst_gradient"] <= RUNS[name][1]


def test_a_run_without_gradients_has_none_in_the_page(compared: dict[str, dict[str, float]]) -> None:
    assert compared["q, k and v alone"]["gradients"] == 0


def test_rounding_is_what_makes_a_difference(compared: dict[str, dict[str, float]]) -> None:
    assert compared["rounded"]["worst"] > 1e-6
