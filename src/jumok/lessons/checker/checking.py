"""``jumok.check``: from a learner's function to the verdict.

>>> from jumok.lessons.checker.checking import KINDS
>>> KINDS[:3]
('attention', 'causal', 'multihead')
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path as File
from typing import Any

import numpy as np

from ...errors import InputError
from ...path.allowed import table
from ...path.rule import Rule
from ...tokens import unknown_name
from ...trace import Source as TraceSource
from ...trace import Trace, as_tokens
from . import cases as the_cases
from .failures import failure_of
from .judge import MOST, Explained, Judge, Run, distance, matches
from .layouts import KINDS, MASKS, Layout, convention
from .pipeline import DEFAULTS, Path
from .process import Answers, Limits, answers, is_of_the_code
from .reach import Reached, of_file, of_object
from .remarks import consequences, properties, remarks, seen
from .source import Source
from .verdict import Example, Mistake, Verdict

__all__ = ["KINDS", "check"]


def check(fn: Any, kind: str | None = None, *, mask: str | None = None, seconds: float | None = None) -> Verdict:
    """The verdict on an attention that somebody wrote; see ``jumok.check``."""
    _refuse_unknown(kind, mask)
    reached, judged = _reached(fn, kind)
    source = Source(reached.source, reached.name, reached.first_line)
    request = {"kind": kind, "doc": source.documentation, "mask": mask}
    came = Answers("refused")
    for library in _libraries(reached):
        limits = Limits.of(library) if seconds is None else replace(Limits.of(library), seconds=seconds)
        found = answers(reached, {**request, "library": library}, limits)
        came = found if came.ended == "refused" or _ran(found) else came
        if _ran(found) or _is_of_the_code(found, reached):
            break
    if came.ended == "done" and not came.told.get("error") and not came.told.get("layouts"):
        raise _unclear(came, kind)
    verdict = _judged(came, source, mask, Limits.of(reached.library) if seconds is None else limits)
    return replace(verdict, judged=judged)


def _refuse_unknown(kind: str | None, mask: str | None) -> None:
    if kind is not None and kind not in KINDS:
        raise unknown_name("kind", "종류", str(kind), KINDS)
    if mask is not None and mask not in MASKS:
        raise unknown_name("meaning of the mask", "마스크의 뜻", str(mask), MASKS)


def _reached(fn: Any, kind: str | None) -> tuple[Reached, str]:
    """What is to be judged, and its name where the file has several that could be meant."""
    if not isinstance(fn, str | os.PathLike):
        return of_object(fn), ""
    path, _, name = os.fspath(fn).partition(".py:")
    if name:
        return of_file(File(f"{path}.py"), name), ""
    among = _alike_in(File(path))
    exact = next((one for one in (kind, *_OF_KIND.get(kind, ()), "attention") if one in among), None)
    reached = of_file(File(path), exact)
    return reached, reached.name if len(among) > 1 and reached.name in among else ""


_OF_KIND: dict[str | None, tuple[str, ...]] = {
    "causal": ("causal_attention",),
    "multihead": ("multi_head_attention", "multihead_attention"),
    "cross": ("cross_attention",),
    "scale": ("scaled_scores",),
}


def _alike_in(path: File) -> list[str]:
    """The functions and classes of a file that a name would have to choose between."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, SyntaxError):
        return []
    made = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    names = [name for name in made if not name.startswith("_")]
    return [name for name in names if re.search(r"att(ention|n|end)|sdpa|softmax|scale", name, re.IGNORECASE)]


def _libraries(reached: Reached) -> list[str]:
    """The library that the source speaks of first, then the other, where it is installed."""
    first = reached.library
    other = "numpy" if first == "torch" else "torch"
    return [one for one in (first, other) if one == "numpy" or find_spec("torch") is not None]


def _ran(came: Answers) -> bool:
    return any("error" not in run and run.get("arrays") for run in came.told.get("runs", []))


def _is_of_the_code(came: Answers, reached: Reached) -> bool:
    """Whether it ended as it would with arrays of the other library too: always, where an error is not of what arrays can do."""
    if came.ended not in ("done", "refused") or came.told.get("stage") == "loading":
        return True
    runs = came.told.get("runs", [])
    errors = [came.told["error"]] if "error" in came.told else [run["error"] for run in runs if "error" in run]
    if not errors:
        return bool(runs)  # nothing was returned
    is_of_one = len({*re.findall(r"\b(numpy|torch)\b", reached.source)}) == 1
    return all(is_of_the_code(error) or (is_of_one and not {*error["kinds"]} & OF_ARRAYS) for error in errors)


OF_ARRAYS = {"AttributeError", "TypeError"}


def _unclear(came: Answers, kind: str | None) -> InputError:
    name, parameters = came.told.get("name", ""), came.told.get("parameters", [])
    call = f"{name}({', '.join(one[0] for one in parameters)})"
    forms = "f(q, k, v), f(q, k, v, mask), f(x, w_q, w_k, w_v), f(x, w_q, w_k, w_v, w_o, n_heads), f(x, context, w_q, w_k, w_v), " \
        "softmax(scores), scale(scores, d_k), nn.Module.forward(x)"  # fmt: skip
    more, more_ko = (
        ("", "")
        if kind
        else ("; or say what it is with kind= (--kind)", ". 또는 kind=(--kind)로 무엇인지 알려 주십시오")
    )
    return InputError(
        en=f"it is not clear how to call {call}. Name its parameters as in one of these: {forms}{more}.",
        ko=f"{call}을(를) 어떻게 불러야 할지 알 수 없습니다. 매개변수 이름을 다음 가운데 하나처럼 쓰십시오: {forms}{more_ko}.",
    )


# judging ----------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Candidate:
    """One way of calling, with what may explain it."""

    layout: Layout
    runs: list[Run]
    judge: Judge
    at: int
    takes_batches: bool  # by what is written: where two axes are enough, the code was not meant for three

    @property
    def best(self) -> list[Explained]:
        return self.judge.best

    @property
    def kin(self) -> tuple[Any, ...]:
        """What it shares with the same call on arrays with more or fewer axes."""
        layout = self.layout
        return (layout.form, layout.arguments, layout.causal, layout.turned, layout.mask_kind == "added")


def _judged(came: Answers, source: Source, mask: str | None, limits: Limits) -> Verdict:
    candidates = list(_candidates(came, source, mask)) if came.ended == "done" else []
    able = [one for one in candidates if one.judge.is_able]
    failure = failure_of(came, [run for one in candidates for run in one.runs], source, limits, bool(able))
    if failure is not None:
        return Verdict(
            "unknown", failure=failure, printed=came.output, form=_form(candidates[0], came) if candidates else ""
        )
    chosen = _of_worlds(able)
    found = _nearest(_told_apart(chosen.best, came.told.get("probes", {}), source), chosen.runs)
    told: dict[str, Any] = {
        "form": _form(chosen, came),
        "kind": _kind(chosen),
        "printed": came.output,
        "properties": properties(chosen.runs, came.told),
    }
    if not found:
        told |= {"consequences": consequences(chosen.runs, None), "seen": seen(chosen.layout, chosen.runs)}
        return Verdict("unknown", example=_example(chosen, None), **told)
    first = found[0]
    extra = _of_calls(chosen, source)
    names = set.intersection(*({*one.ids} for one in found))
    mistakes = [*_mistakes(first, names, source), *_of_infinity(first, chosen, source), *extra]
    if not mistakes and len(found) == 1:
        partly = any(one.kin == chosen.kin and one is not chosen and one.judge.is_able and not one.best for one in able)
        ways = remarks(chosen.layout, first, chosen.runs, source, came.told, partly and chosen.layout.rank == 2)
        return Verdict("right-differently" if ways else "right", differently=tuple(ways), **told)
    one_of = tuple(one.ids for one in found) if len(found) > 1 else ()
    return Verdict(
        "mistake", tuple(mistakes), one_of, consequences(chosen.runs, first), example=_example(chosen, first), **told
    )


def _candidates(came: Answers, source: Source, mask: str | None) -> Iterator[_Candidate]:
    for at, plain in enumerate(came.told.get("layouts", [])):
        layout = Layout.from_json(plain)
        runs = [_run(layout, one, came.arrays) for one in came.told["runs"] if one["layout"] == at]
        name = next((name for name, role, _ in layout.arguments if role == "mask"), "")
        yield _Candidate(
            layout,
            runs,
            Judge(runs, source.numbers, convention(name, source.documentation, mask)),
            at,
            source.takes_batches,
        )


def _run(layout: Layout, told: dict[str, Any], arrays: dict[str, Any]) -> Run:
    case = the_cases.case(told["case"])
    path = Path(the_cases.problem(layout, case, told["sizes"]))
    came = tuple(arrays[name] for name in told.get("arrays", []))
    spread = tuple(arrays[name] for name in told.get("spread", []))
    error = told.get("error")
    if error is None and not came:
        error = {"kind": "None", "kinds": [], "text": "", "lines": [], "shapes": {}}
    return Run(layout, case, path, came, spread, error, tuple(told.get("changed", ())), bool(told.get("varies")))


def _of_worlds(able: Sequence[_Candidate]) -> _Candidate:
    """Where a flag hides the future, both of its values must be right; else what explains most simply is meant."""
    flagged = [one for one in able if "causal" in one.layout.roles]
    worlds = [some for causal in (False, True) if (some := [one for one in flagged if one.layout.causal == causal])]
    if len(worlds) < 2:
        return _chosen(able)
    open_, hidden = _chosen(worlds[0]), _chosen(worlds[1])
    if open_.best and hidden.best:
        return hidden if len(hidden.best[0].ids) > len(open_.best[0].ids) else open_
    known, unknown = (open_, hidden) if open_.best else (hidden, open_)
    return known if known.best and known.best[0].ids else unknown


def _chosen(able: Sequence[_Candidate]) -> _Candidate:
    """The way of calling that is explained by the fewest mistakes."""
    only_causal = all(one.layout.causal for one in able)
    for n in range(MOST + 1):
        for one in able:
            if one.layout.mask_kind == "added" and n > 0:
                continue
            if n == MOST and one.layout.causal and one.layout.mask and not only_causal:
                continue  # a mask that is given and another of its own: rare, and dear to look for
            kin = [
                other
                for other in able
                if other.kin == one.kin and other.best and other is not one and other.at < one.at
            ]
            among = [found.ids for other in kin for found in other.best] if n == MOST and kin else None
            one.judge.look(n, among)
            if n == MOST and not kin and one.best and not _has_kin_left(one, able):
                break
        if any(one.best and len(one.best[0].ids) <= max(n, 1) for one in able):
            break
    explained = [one for one in able if one.best]
    if not explained:
        return able[0]
    best = min(explained, key=_rank)
    return (_of_batches(best, able) if best.takes_batches else None) or best


def _has_kin_left(one: _Candidate, able: Sequence[_Candidate]) -> bool:
    """Whether the same call is still to be looked at with another number of axes."""
    return any(other.kin == one.kin and other.at > one.at for other in able)


def _rank(one: _Candidate) -> tuple[int, int, int, int]:
    first = one.best[0]
    missed = len([name for name in first.forgiven if name != "half"])
    return len(first.ids), one.layout.mask_kind == "added", missed, one.at


def _of_batches(best: _Candidate, able: Sequence[_Candidate]) -> _Candidate | None:
    """The same call with a batch, where only there a mistake shows; None where there is none, or none that is known."""
    if best.layout.rank != 2:
        return None
    for one in able:
        if one.kin == best.kin and one.layout.rank == 3:
            for n in range(1, MOST + 1):
                if not one.best:
                    one.judge.look(n)
            if one.best and one.best[0].ids and len(one.best[0].ids) > len(best.best[0].ids):
                return one
    return None


def _told_apart(found: list[Explained], probes: dict[str, Any], source: Source) -> list[Explained]:
    """Without those that something else speaks against: whether the values' matrix is used, the axis that is written."""
    against = []
    if probes.get("v_is_used") is not None:
        against.append("one-projection" if probes["v_is_used"] else "keys-as-values")
    if any("softmax-axis" in one.ids for one in found) and source.axes:
        against.append("q-k-swapped" if source.axes - {-1} else "softmax-axis")
    if any("mask-ignored" in one.ids for one in found) and "additive" not in source.remarks():
        against.append("padding-on-query")  # the same only where a number is added to a whole row, which softmax undoes
    for name in against:
        found = [one for one in found if name not in one.ids] or found
    return found


def _nearest(found: list[Explained], runs: Sequence[Run]) -> list[Explained]:
    """Where averages were compared: those that are about as near as the nearest."""
    if len(found) < 2 or not any(run.spread for run in runs):
        return found
    far = [sum(distance(run, one) for run in runs) for one in found]
    return [one for one, away in zip(found, far, strict=True) if away <= 2 * min(far)]


def _mistakes(explained: Explained, names: set[str], source: Source) -> Iterator[Mistake]:
    told = set()
    for one in explained.choices:
        for name in one.ids:
            if name in names and name not in told:
                told.add(name)
                detail = None if one.detail is None else (one.detail[0], _plain(one.detail[1]))
                yield Mistake(name, detail, source.line(name, detail[1] if detail else ""))


def _plain(data: Any) -> str:
    if isinstance(data, float):
        return f"{data:g}"
    return _AXES.get(data, str(data)) if isinstance(data, str) else str(data)


_AXES = {"d_k_all": "d_model", "b": "batch", "h": "heads"}


def _of_infinity(explained: Explained, chosen: _Candidate, source: Source) -> Iterator[Mistake]:
    """NaN where nothing is allowed, beside an overflow: by the numbers it may come of either, -∞ in the source says of both."""
    chosen_rows = explained.hypothesis.get("empty")
    if chosen.layout.mask and chosen_rows == "nan" and "overflow" in explained.ids and source.calls("inf|NINF|infty"):
        yield Mistake("nan-row")


def _of_calls(chosen: _Candidate, source: Source) -> Iterator[Mistake]:
    """Mistakes that no formula shows: chance at evaluation, arguments that were changed."""
    if any(run.varies for run in chosen.runs):
        yield Mistake("dropout-at-eval", None, source.line("dropout-at-eval"))
    changed = sorted({name for run in chosen.runs for name in run.changed})
    if changed:
        yield Mistake("input-changed", ("changed", ", ".join(changed)), source.line("input-changed"))


# what is told -------------------------------------------------------------------------------------


def _form(chosen: _Candidate, came: Answers) -> str:
    name = came.told.get("name", "")
    return f"{name}({', '.join(name for name, _, _ in chosen.layout.arguments)})"


def _kind(chosen: _Candidate) -> str:
    layout = chosen.layout
    if layout.form in ("softmax", "scale", "scale-qk"):
        return layout.form.partition("-")[0]
    if layout.causal:
        return "causal"
    if any(run.path.problem.n_heads > 1 for run in chosen.runs):
        return "multihead"
    return "cross" if layout.sources == "cross" else "attention"


def _example(chosen: _Candidate, explained: Explained | None) -> Example | None:
    """The smallest case in which something else came than should have."""
    at = explained.at if explained is not None else 0
    for run in sorted(chosen.runs, key=_size):
        if run.case.dtype == "float16" or run.case.change:
            continue
        right = run.path.predicted({"empty": "zero"}).returned
        if right is None or (run.error is None and at < len(run.arrays) and matches(run, at, right)):
            continue
        if explained is None and run.error is None and any(matches(run, one, right) for one in range(len(run.arrays))):
            continue
        if (
            run.error is not None
            and run.case.name not in ("tiny", "equal", "square")
            and any(one.error is None for one in chosen.runs)
        ):
            continue
        got = None if run.error is not None else run.arrays[at]
        return _shown(run, right, got)
    return None


def _size(run: Run) -> int:
    problem = run.path.problem
    odd = 0 if run.case.is_ordinary and run.error is None else 10_000
    return odd + int(problem.xq.size + problem.xk.size + problem.xv.size)


def _shown(run: Run, right: Any, got: Any) -> Example:
    """One element of the batch, the first in which it shows."""
    lead: tuple[int, ...] = ()
    if run.layout.rank > 2 and got is not None and got.shape == right.shape:
        differs = ~np.isclose(got, right, rtol=1e-3, atol=1e-6, equal_nan=True)
        first = np.argwhere(differs)
        lead = (
            tuple(int(one) for one in first[0][: run.layout.rank - 2]) if len(first) else (0,) * (run.layout.rank - 2)
        )
    elif run.layout.rank > 2:
        lead = (0,) * (run.layout.rank - 2)
    some = got if got is None or got.ndim != run.layout.rank else got[lead]
    error = run.error["text"] if run.error is not None else ""
    return Example(_trace(run, lead), right[lead], some, run.case.name, error, _given(run, lead))


def _given(run: Run, lead: tuple[int, ...]) -> tuple[tuple[str, Any], ...]:
    """The numbers to show beside what came: the scores where they are given; else q, k and v, as far as they are used."""
    problem = run.path.problem
    if problem.table is not None:
        return (("scores", problem.table[lead]),)
    if problem.n_heads > 1:
        return ()
    q, k, v = (array[lead] for array in run.path.qkv(dict(DEFAULTS)))
    named = (("q", q), ("k", k)) if problem.ends == "scaled" else (("q", q), ("k", k), ("v", v))
    return tuple((name, array[0] if array.ndim == 3 else array) for name, array in named)


def _trace(run: Run, lead: tuple[int, ...]) -> Trace | None:
    """The case as a record: as it should be."""
    path, scale = run.path, None
    chosen = dict(DEFAULTS)
    if path.problem.table is not None:
        scores = path.problem.table[lead]
        one = np.eye(scores.shape[-1])
        q, k, v, scale = scores[None], one[None], one[None], 1.0 if run.layout.form == "softmax" else None
    else:
        q, k, v = (array[lead] for array in path.qkv(chosen))
        if q.ndim == 2:
            q, k, v = q[None], k[None], v[None]
    allowed = path.allowed(chosen)
    if allowed is not None:
        allowed = allowed[lead]
        allowed = allowed[0] if allowed.ndim == 3 else allowed
    names = [f"t{at}" for at in range(max(q.shape[1], k.shape[1]))]
    rule = Rule(scale=scale, allowed=None if allowed is None else table(np.array(allowed)))
    read = None if q.shape[1] == k.shape[1] else names[: k.shape[1]]
    try:
        return Trace(
            tokens=as_tokens(names[: q.shape[1]]),
            key_tokens=None if read is None else as_tokens(read),
            q=q,
            k=k,
            v=v,
            rule=rule,
            source=TraceSource("arrays", "check"),
        )
    except (InputError, ValueError):
        return None
