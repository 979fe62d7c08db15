"""How a right function is written differently, what follows from a wrong one, and which properties hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .judge import Explained, Run, matches
from .layouts import Layout
from .source import Source

__all__ = ["consequences", "properties", "remarks", "seen"]


def remarks(
    layout: Layout, explained: Explained, runs: Sequence[Run], source: Source, told: dict[str, Any], is_flat: bool
) -> list[tuple[str, str]]:
    """In which ways a right function differs from the plain formula; seen in what it gave, and in its source."""
    made = [*_of_choices(explained)]
    made += [(name, "") for name, is_so in {
        "added": layout.mask_kind == "added",
        "turned": layout.turned,
        "hidden": layout.hidden,
        "weights-first": explained.at > 0,
        "other-returned": not _others_are_weights(explained, runs),
        "sizes": bool(set(explained.forgiven) & {"different", "square"}),
        "half": "half" in explained.forgiven and any(run.case.name == "half" and run.error is None for run in runs),
        "no-gradient": told.get("probes", {}).get("gradients", "flows") == "stops",
        "two-axes": is_flat,
    }.items() if is_so]  # fmt: skip
    written = [(name, "") for name in source.remarks() if name != "additive" or layout.mask]
    if any(name == "fused" for name, _ in written):
        written = [("fused", "")]
    return list(dict.fromkeys([*made, *written]))


def _of_choices(explained: Explained) -> list[tuple[str, str]]:
    made = []
    for one in explained.choices:
        if one.stage == "which" and one.option == "inverted":
            made.append(("hidden", ""))
        elif one.detail is not None and one.detail[0] == "empty":
            made.append((_ROWS.get(one.option, "finite"), ""))
        elif one.detail is not None and one.detail[0] == "value":
            made.append(("value", f"{one.detail[1]:g}"))
        elif one.detail is not None:
            made.append((one.detail[0], ""))
    masked = any(one.stage == "empty" and one.option != "nan" for one in explained.choices)
    return [one for one in made if masked or one[0] not in ("finite", *_ROWS.values())]


_ROWS = {"zero": "zero-row", "other": "other-row"}


def _others_are_weights(explained: Explained, runs: Sequence[Run]) -> bool:
    """Whether what comes back beside the output is the weights, of each head or their mean."""
    for run in runs:
        if not run.case.is_ordinary or run.error is not None:
            continue
        weights = run.path.predicted({**explained.hypothesis, "returned": "weights"}).weights
        others = [at for at in range(len(run.arrays)) if at != explained.at]
        if weights is None or not others:
            return True
        wanted = [weights, weights.mean(axis=-3)] if weights.ndim > 2 else [weights]
        if not any(matches(run, at, one) for at in others for one in wanted):
            return False
    return True


def consequences(runs: Sequence[Run], explained: Explained | None) -> tuple[str, ...]:
    """What follows from the mistakes, seen in what came."""
    held = _held(runs)
    made = [name for name, property_name in _FROM.items() if held.get(property_name) is False]
    if explained is not None and _rows_are_off(runs, explained):
        made.insert(0, "rows")
    sized = {run.case.name: run.error is None for run in runs}
    if not sized.get("different", True) and not sized.get("square", True) and sized.get("equal"):
        made.append("sizes")
    ran = [run for run in runs if run.error is None and run.arrays]
    wanted = [(run, run.path.predicted({}).returned) for run in ran]
    if any(array is not None and run.arrays[0].shape != array.shape for run, array in wanted):
        made.append("shape")
    return tuple(dict.fromkeys(made))


_FROM = {"future": "future_kept", "order": "key_order_free", "nan": "finite"}


def _rows_are_off(runs: Sequence[Run], explained: Explained) -> bool:
    for run in runs:
        if run.case.is_ordinary and run.error is None:
            weights = run.path.predicted(explained.hypothesis).weights
            if weights is None:
                continue
            with np.errstate(invalid="ignore"):  # the weights may be infinite, by the mistake
                sums = weights.sum(axis=-1)
            if not np.allclose(sums, 1, atol=1e-3, equal_nan=True):
                return True
    return False


def seen(layout: Layout, runs: Sequence[Run]) -> tuple[tuple[str, str], ...]:
    """What can be said where no mistake explains what came: an argument that comes back in every case."""
    ran = [run for run in runs if run.case.is_ordinary and run.error is None and run.arrays]
    return tuple(
        ("given-back", name)
        for name, role, _ in layout.arguments
        if role in _GIVEN and ran and all(matches(run, 0, getattr(run.path.problem, _GIVEN[role])) for run in ran)
    )


_GIVEN = {"q": "xq", "k": "xk", "v": "xv", "x": "xq", "context": "xk"}  # role -> where a problem keeps it


def properties(runs: Sequence[Run], told: dict[str, Any]) -> dict[str, bool]:
    """What holds of the function, whatever formula it follows; only what could be seen."""
    held = _held(runs)
    gradients = told.get("probes", {}).get("gradients")
    if gradients is not None and not gradients.startswith("error"):
        held["gradients_flow"] = gradients == "flows"
    return held


def _held(runs: Sequence[Run]) -> dict[str, bool]:
    by_name = {run.case.name: run for run in runs if run.error is None and run.arrays}
    square = by_name.get("square")
    held = {
        "deterministic": not any(run.varies for run in runs),
        "unchanged": not any(run.changed for run in runs),
        "finite": all(np.isfinite(run.arrays[0]).all() for run in by_name.values() if run.case.dtype != "float16"),
    }
    if square is not None and "permuted" in by_name and not square.varies:
        held["key_order_free"] = _same(square.arrays[0], by_name["permuted"].arrays[0])
    if square is not None and "future" in by_name and not square.varies:
        held["future_kept"] = _same(square.arrays[0][..., :-1, :], by_name["future"].arrays[0][..., :-1, :])
    return held


def _same(a: Any, b: Any) -> bool:
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-4, atol=1e-6, equal_nan=True))
