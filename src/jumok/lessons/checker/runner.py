"""The child process: loads the learner's code, calls it on the cases, and writes down what it gave.

It runs in a throw-away folder under limits that it sets itself before any of the learner's lines run. What it knows
at the end stands in ``answers.json`` and ``answers.npz``; ``progress.json`` says where it was, should it never end.
"""

from __future__ import annotations

import contextlib
import dataclasses
import faulthandler
import inspect
import json
import os
import random
import sys
import sysconfig
import time
import traceback
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from . import cases as the_cases
from .layouts import Layout, Parameter, layouts
from .libraries import Library, library
from .modules import Owned, has_own_widths, is_module_like, owned
from .process import is_of_the_code

__all__ = ["main"]

MOST_LAYOUTS = 6  # that are tried on every case
MOST_RETURNED = 4  # arrays of one call
CALLS_COMPARED = 5  # to see whether they give the same: chance may give the same twice
MOST_REPEATED, FEWEST_REPEATED = 200, 60  # calls that are averaged where two give different numbers
SECONDS_REPEATED = 0.3  # of computing, after which the fewest are enough
AVERAGED = ("tiny", "square", "different", "zeros")  # the cases in which they are


def main(folder: str) -> None:
    """Run what ``request.json`` in the folder asks for."""
    place = Path(folder)
    request = json.loads((place / "request.json").read_text(encoding="utf-8"))
    told = _Told(place)
    faults = open(place / "stopped_at.txt", "w", encoding="utf-8")  # noqa: SIM115 (as long as the process)
    faulthandler.enable(faults)
    faulthandler.dump_traceback_later(request["wall_seconds"] - 0.5, file=faults)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: os._exit(0))  # a copy of this process would run all cases again
    lib = library(request["library"])
    if request["uid"] is not None:
        _become(request["uid"])
    _limit(request, faults)
    told.progress("loading")
    os.chdir(place)
    sys.path.insert(0, str(place))
    answers: dict[str, Any] = {"runs": []}
    try:
        thing = _loaded(place, request)
        if not callable(thing):
            raise Uncallable(f"{request['name']} ({type(thing).__name__})")
        answers |= _tried(thing, request, lib, told)
    except BaseException as error:
        answers["error"] = _told(error, str(place))
        answers["stage"] = told.stage
    told.answers(answers)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(0)  # threads and exit handlers of the learner's code are not waited for


class _Told:
    """What the parent can read, also when this process comes to an end in the middle."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.arrays: dict[str, Any] = {}
        self.stage = "starting"

    def progress(self, stage: str) -> None:
        self.stage = stage
        (self.place / "progress.json").write_text(json.dumps({"stage": stage}), encoding="utf-8")

    def keep(self, array: Any) -> str:
        name = f"a{len(self.arrays)}"
        self.arrays[name] = array
        return name

    def answers(self, answers: dict[str, Any]) -> None:
        np.savez(self.place / "answers.npz", **self.arrays)
        (self.place / "answers.json").write_text(json.dumps(answers), encoding="utf-8")


# limits -----------------------------------------------------------------------------------------


READ_ANYWHERE = 1 << 2  # CAP_DAC_READ_SEARCH: Python itself may lie where only root can look
KEEP_CAPABILITIES, NO_NEW_PRIVILEGES, VERSION = 8, 38, 0x20080522


def _become(uid: int) -> None:
    """Be another user than root from here on, who can read but neither write nor end what is not theirs."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(KEEP_CAPABILITIES, 1, 0, 0, 0)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    header, wanted = (ctypes.c_uint32 * 2)(VERSION, 0), (ctypes.c_uint32 * 6)(READ_ANYWHERE, READ_ANYWHERE, 0, 0, 0, 0)
    if libc.capset(header, wanted) != 0:
        raise OSError(ctypes.get_errno(), "capset")
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)


def _limit(request: dict[str, Any], faults: Any) -> None:
    """Bounds on time, memory, files and processes, from here on; on a system without them the parent's clock stays."""
    try:
        import resource
        import signal
    except ImportError:
        return
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    faulthandler.register(signal.SIGXCPU, faults, all_threads=False, chain=True)
    bounds = {
        resource.RLIMIT_CPU: int(used + request["seconds"]) + 1,
        resource.RLIMIT_AS: request["memory_bytes"],
        resource.RLIMIT_FSIZE: request["file_bytes"],
        resource.RLIMIT_CORE: 0,
    }
    if request["processes"]:
        bounds[resource.RLIMIT_NPROC] = request["processes"]
    for name, bound in bounds.items():
        with contextlib.suppress(ValueError, OSError):
            hard = bound + 2 if name == resource.RLIMIT_CPU else bound
            resource.setrlimit(name, (bound, hard))


# loading ----------------------------------------------------------------------------------------


def _loaded(place: Path, request: dict[str, Any]) -> Any:
    """The learner's function, class or module. Chance is the same in every run, so that the verdict is."""
    random.seed(0)
    np.random.seed(0)  # the generator that learners' code shares
    if request["reach"] == "pickle":
        import cloudpickle

        return cloudpickle.loads((place / "function.pickle").read_bytes())
    if request["reach"] == "reference":
        import importlib

        thing: Any = importlib.import_module(request["module"])
        for name in request["name"].split("."):
            thing = getattr(thing, name)
        return thing
    names = _executed(place / request["file"])
    thing = names[request["name"].split(".")[0]]
    for name in request["name"].split(".")[1:]:
        thing = getattr(thing, name)
    return thing


class Uncallable(Exception):
    """What was to be judged is no function, class or module."""


class _AskedAgain(BaseException):
    """The learner's file calls jumok.check itself: what it has defined up to there is enough."""


def _executed(file: Path) -> dict[str, Any]:
    """What a file defines."""
    import types
    from importlib import import_module

    door: Any = import_module("jumok")  # the learner's door, not a part that this one uses

    def enough(*_args: Any, **_options: Any) -> None:
        raise _AskedAgain

    door.check = enough
    module = types.ModuleType(file.stem)
    module.__file__ = str(file)
    sys.modules[file.stem] = module
    code = compile(file.read_bytes(), str(file), "exec")
    with contextlib.suppress(_AskedAgain):
        exec(code, module.__dict__)  # noqa: S102 (that is what this process is for)
    return module.__dict__


# calling ----------------------------------------------------------------------------------------


@dataclasses.dataclass
class _Target:
    """What is called: a function, or a class or module with matrices of its own."""

    call: Callable[[dict[str, Any]], Callable[..., Any]]  # from sizes
    parameters: list[Parameter]
    name: str
    own: Callable[[dict[str, Any]], Owned] | None
    split: bool = False  # into heads


def _target(thing: Any, request: dict[str, Any], own_widths: bool) -> _Target:
    name = request["name"].rpartition(".")[2] or getattr(thing, "__name__", "")
    if not is_module_like(thing):
        return _Target(lambda _sizes: thing, _parameters(thing), name or type(thing).__name__, None)

    def own(sizes: dict[str, Any]) -> Owned:
        return owned(thing, sizes, own_widths)

    made = own({**the_cases.SIZES["square"], **the_cases.OF_HEADS["square"], "n_heads": 2})
    name = name if inspect.isclass(thing) else type(thing).__name__
    has_own = bool(made.weights)  # without matrices of its own, q, k and v are given to it
    return _Target(
        lambda sizes: own(sizes).call, _parameters(made.call), name, own if has_own else None, made.n_heads > 1
    )


def _parameters(function: Any) -> list[Parameter]:
    try:
        told = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a builtin that does not tell
        return [Parameter(name, True) for name in ("query", "key", "value")]
    free = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [
        Parameter(one.name, one.default is inspect.Parameter.empty, one.kind is inspect.Parameter.KEYWORD_ONLY)
        for one in told
        if one.kind not in free and one.name != "self"
    ]


def _tried(thing: Any, request: dict[str, Any], lib: Library, told: _Told) -> dict[str, Any]:
    """Every way of calling that works, on every case."""
    told.progress("looking")
    caller, chosen = _found(thing, request, lib, told)
    target = caller.target
    answers: dict[str, Any] = {
        "name": target.name,
        "parameters": [dataclasses.astuple(one) for one in target.parameters],
        "library": lib.name,
        "layouts": [dataclasses.asdict(layout) for layout in chosen],
        "runs": [],
    }
    for layout in chosen:
        caller.look_for_chance(layout)
    for at, layout in enumerate(chosen):
        for case in the_cases.cases(layout):
            if caller.varies and (case.name not in AVERAGED or layout.mask_kind == "added"):
                continue
            told.progress(f"case {case.name}")
            answers["runs"].append({"layout": at, **caller.run(layout, case)})
    if chosen:
        answers["probes"] = caller.probes(chosen[0])
    return answers


def _found(thing: Any, request: dict[str, Any], lib: Library, told: _Told) -> tuple[_Caller, list[Layout]]:
    """How it can be called: by what its names and its documentation say, then without believing the one or the other."""
    first: tuple[_Caller, list[Layout]] | None = None
    tried: list[Any] = []
    for shaped, own_widths in ((True, False), (True, True), (False, False), (False, True)):
        if own_widths and not has_own_widths(thing):
            continue
        target = _target(thing, request, own_widths)
        owns, doc = target.own is not None, request["doc"]
        options = layouts(target.parameters, target.name, request["kind"], doc, owns, request["mask"], shaped)
        if (options, own_widths) in tried:
            continue
        tried.append((options, own_widths))
        caller = _Caller(target, lib, told, str(told.place))
        chosen, nearest = _working(caller, options)
        if chosen or caller.is_hopeless:
            return caller, chosen or nearest
        first = first or (caller, nearest)
    assert first is not None
    return first


def _working(caller: _Caller, options: list[Layout]) -> tuple[list[Layout], list[Layout]]:
    """The ways of calling that give something of the right number of axes; and the one that fails latest."""
    whole: list[Layout] = []
    part: list[Layout] = []
    done: set[Any] = set()
    reached: list[tuple[int, int]] = []
    for at, layout in enumerate(options):
        is_added = layout.mask_kind == "added"
        same = (layout.form, layout.arguments, layout.rank, layout.causal, layout.turned, is_added)
        if same in done or (*same, layout.mask) in done or any(_asks_less(layout, one) for one in whole):
            continue
        fits = [caller.fits(layout, the_cases.case(name)) for name in ("different", "equal")]
        if all(fits):
            whole.append(layout)
            done.add(same)
        elif any(fits) and not is_added:
            part.append(layout)
            done.add((*same, layout.mask))
        reached.append((-caller.reached, at))
        if caller.is_hopeless:
            break
    usable = [
        layout for causal in (False, True)
        for layout in ([one for one in whole if one.causal == causal] or [one for one in part if one.causal == causal])
    ]  # fmt: skip
    return _few(usable), [options[min(reached)[1]]] if reached else []


def _asks_less(layout: Layout, other: Layout) -> bool:
    """Whether it is another way of calling without one of its arguments."""
    alike = (layout.form, layout.rank, layout.causal) == (other.form, other.rank, other.causal)
    return alike and set(layout.arguments) < set(other.arguments)


def _few(usable: list[Layout]) -> list[Layout]:
    counts: dict[tuple[int, bool], int] = {}
    kept = []
    for layout in usable:
        of = (layout.rank, layout.causal)
        counts[of] = counts.get(of, 0) + 1
        if counts[of] <= MOST_LAYOUTS:
            kept.append(layout)
    if len({layout.rank for layout in kept}) > 2:  # a function for any number of axes is seen with two of them
        kept = [layout for layout in kept if layout.rank < 4]
    return kept


class _Caller:
    """Calls the target on cases, and tells what came."""

    def __init__(self, target: _Target, lib: Library, told: _Told, place: str) -> None:
        self.target, self.lib, self.told, self.place = target, lib, told, place
        self.varies = False
        self.reached = 0  # the line of the function that the last call came to, where it ended in an error
        self.is_hopeless = False  # the last call ended in an error that no other call would keep it from
        self._sizes: dict[Any, dict[str, Any]] = {}

    def sizes(self, layout: Layout, case: the_cases.Case) -> dict[str, Any]:
        """The sizes of a case; a module that is already made has its own widths."""
        key = (case.size, layout.split, layout.sources, layout.causal, tuple(layout.arguments))
        if key not in self._sizes:
            self._sizes[key] = self._made_sizes(layout, case)
        return dict(self._sizes[key])

    def _made_sizes(self, layout: Layout, case: the_cases.Case) -> dict[str, Any]:
        sizes = the_cases.widths(layout, case.size)
        if self.target.own is not None:
            if self.target.split and not layout.split:
                sizes |= the_cases.OF_HEADS[case.size] | {"n_heads": the_cases.HEADS[case.size]}
                sizes["m"] = sizes["m"] if layout.sources != "self" and not layout.causal else sizes["n"]
            sizes |= self.target.own(sizes).sizes()
        return sizes

    def fits(self, layout: Layout, case: the_cases.Case) -> bool:
        """Whether it runs, and gives an array with as many axes as it should."""
        told = self.run(layout, case, quick=True)
        error = told.get("error", {})
        lines = error.get("lines", [])
        always = all(one.required for one in self.target.parameters)  # no branch hangs on what is left out
        self.is_hopeless = always and bool(lines) and is_of_the_code(error)
        self.reached = lines[0][1] if lines else 0
        shapes = [shape for shape in told.get("shapes", []) if len(shape) == layout.rank or layout.split]
        return bool(shapes)

    def run(self, layout: Layout, case: the_cases.Case, quick: bool = False) -> dict[str, Any]:
        """One case: the arrays that came, or the error; what was changed; whether a second call gives the same."""
        sizes = self.sizes(layout, case)
        made = the_cases.problem(layout, case, sizes)
        answer: dict[str, Any] = {"case": case.name, "sizes": sizes}
        try:
            function = self.function(sizes, made, case)
            given = self.arguments(layout, made, sizes, case.dtype)
            came, changed = self.called(function, layout, given)
            answer["shapes"] = [list(array.shape) for array in came]
            if quick:
                return answer
            again, _ = self.called(function, layout, self.arguments(layout, made, sizes, case.dtype))
            answer["changed"] = changed
            if self.varies or not _alike(came, again):
                answer["varies"] = self.varies = True
                came, spread = self.settled(function, layout, lambda: self.arguments(layout, made, sizes, case.dtype))
                answer["spread"] = [self.told.keep(one) for one in spread]
            answer["arrays"] = [self.told.keep(array) for array in came]
        except Exception as error:
            answer["error"] = _told(error, self.place)
        return answer

    def look_for_chance(self, layout: Layout) -> None:
        """Whether it gives other numbers when called again."""
        case = the_cases.case("square")
        sizes = self.sizes(layout, case)
        made = the_cases.problem(layout, case, sizes)
        with contextlib.suppress(Exception):
            function = self.function(sizes, made, case)
            given = (self.arguments(layout, made, sizes, case.dtype) for _ in range(CALLS_COMPARED))
            first, *rest = (self.called(function, layout, one)[0] for one in given)
            self.varies = self.varies or not all(_alike(first, one) for one in rest)

    def function(self, sizes: dict[str, Any], made: Any, case: the_cases.Case) -> Callable[..., Any]:
        """What is called, with its own matrices set to the case's."""
        if self.target.own is None:
            return self.target.call(sizes)
        own = self.target.own(sizes)
        own.put(made.projections, self.lib, case.dtype)
        return own.call

    def called(self, function: Any, layout: Layout, given: dict[str, Any]) -> tuple[list[Any], list[str]]:
        """The arrays that came, and the names of the arguments that were changed in place."""
        before = {name: self.lib.copied(value) for name, value in given.items()}
        args = [given[name] for name, _, by_keyword in layout.arguments if not by_keyword]
        options = {name: given[name] for name, _, by_keyword in layout.arguments if by_keyword}
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            came = function(*args, **options)
        changed = [name for name in given if not self.lib.same(before[name], given[name])]
        return self.lib.arrays(came)[:MOST_RETURNED], changed

    def settled(
        self, function: Any, layout: Layout, arguments: Callable[[], dict[str, Any]]
    ) -> tuple[list[Any], list[Any]]:
        """What a function gives without its dropout: by turning that off, or else on average."""
        with self.lib.still():
            once, *more = (self.called(function, layout, arguments())[0] for _ in range(CALLS_COMPARED))
        is_still = all(_alike(once, one) for one in more)
        return (once, []) if is_still else self.average(function, layout, arguments)

    def average(
        self, function: Any, layout: Layout, arguments: Callable[[], dict[str, Any]]
    ) -> tuple[list[Any], list[Any]]:
        """(mean, standard error) of many calls."""
        drawn: list[Any] = []
        until = time.process_time() + SECONDS_REPEATED
        while len(drawn) < FEWEST_REPEATED or (len(drawn) < MOST_REPEATED and time.process_time() < until):
            drawn.append(self.called(function, layout, arguments())[0])
        stacks = [np.stack([np.asarray(one[at], float) for one in drawn]) for at in range(len(drawn[0]))]
        return [stack.mean(axis=0) for stack in stacks], [stack.std(axis=0) / len(drawn) ** 0.5 for stack in stacks]

    def arguments(self, layout: Layout, made: Any, sizes: dict[str, Any], dtype: str) -> dict[str, Any]:
        """The learner's arguments by name."""
        return {name: self.value(role, layout, made, sizes, dtype) for name, role, _ in layout.arguments}

    def value(self, role: str, layout: Layout, made: Any, sizes: dict[str, Any], dtype: str) -> Any:
        """What is passed for a role."""
        plain = _plain(role, layout, sizes)
        if plain is not _ARRAY:
            return plain
        if role == "mask":
            return self.lib.array(*_mask(layout, made, dtype))
        if role == "lengths":
            return self.lib.array(made.given.reshape(-1, made.given.shape[-1]).sum(axis=-1), "int64")
        if role == "w_qkv":
            joined = np.concatenate([made.projections[one][0] for one in "qkv"], axis=1)
            return self.lib.array(joined.T if layout.turned else joined, dtype)
        if role[:2] in ("w_", "b_"):
            array = made.projections[role[2]][role[0] == "b"]
            return self.lib.array(array.T if layout.turned and role[0] == "w" else array, dtype)
        array = {"q": made.xq, "k": made.xk, "v": made.xv, "x": made.xq, "context": made.xk, "scores": made.table}[role]
        return self.lib.array(array, dtype)

    def probes(self, layout: Layout) -> dict[str, Any]:
        """What else there is to know: whether the gradient flows, and whether the matrix of the values is used."""
        told: dict[str, Any] = {}
        case = the_cases.case("square")
        sizes = self.sizes(layout, case)
        made = the_cases.problem(layout, case, sizes)
        if layout.form == "projected" and "w_v" in layout.roles:
            told["v_is_used"] = self._v_is_used(layout, made, sizes, case)
        if self.lib.name == "torch" and layout.form != "softmax":
            told["gradients"] = self._gradients(layout, made, sizes, case)
        if self.target.own is not None:
            told["v_is_used"] = self._v_is_called(layout, made, sizes, case)
        return told

    def _v_is_used(self, layout: Layout, made: Any, sizes: dict[str, Any], case: the_cases.Case) -> bool:
        """A matrix of the wrong height raises an error where it is multiplied."""
        name = next(name for name, role, _ in layout.arguments if role == "w_v")
        given = self.arguments(layout, made, sizes, case.dtype)
        w = made.projections["v"][0]
        given[name] = self.lib.array(np.ones((w.shape[0] + 3, w.shape[1] + 5)), case.dtype)
        try:
            self.called(self.target.call(sizes), layout, given)
        except Exception:
            return True
        return False

    def _v_is_called(self, layout: Layout, made: Any, sizes: dict[str, Any], case: the_cases.Case) -> bool:
        """Whether NaN in the matrix of the values reaches a module of its own that was called."""
        assert self.target.own is not None
        own = self.target.own(sizes)
        own.put(made.projections, self.lib, case.dtype)
        try:
            return own.v_is_called(
                lambda: self.called(own.call, layout, self.arguments(layout, made, sizes, case.dtype))
            )
        except Exception:
            return True

    def _gradients(self, layout: Layout, made: Any, sizes: dict[str, Any], case: the_cases.Case) -> str:
        try:
            function = self.function(sizes, made, case)
            given = self.arguments(layout, made, sizes, case.dtype)
            names = [name for name, role, _ in layout.arguments if role in ("q", "k", "v", "x", "context", "scores")]
            return self.lib.gradients(function, layout.arguments, given, names)
        except Exception as error:
            return f"error: {type(error).__name__}: {error}"[:300]


_ARRAY = object()


def _plain(role: str, layout: Layout, sizes: dict[str, Any]) -> Any:
    """What is passed for a role that is no array."""
    n_heads = max(1, sizes["n_heads"])
    plain = {
        "n_heads": sizes["n_heads"], "d_head": sizes["d_k"] // n_heads, "d_value": sizes["d_v"] // n_heads,
        "d_model": sizes["d_model"], "d_context": sizes["d_model"], "d_out": sizes["d_k"], "n_tokens": sizes["n"], "causal": layout.causal,
        "false": False, "true": True, "zero": 0.0, "one": 1.0, "axis": -1, "rng": 0,
    }  # fmt: skip
    return plain.get(role, _ARRAY)


def _mask(layout: Layout, made: Any, dtype: str) -> tuple[Any, str]:
    """The mask in the learner's shape, meaning and number type."""
    given = made.given
    allowed = given.reshape(given.shape[0], given.shape[-1]) if layout.mask == "keys" and layout.rank == 4 else given
    if layout.mask == "batch" and layout.rank == 4:
        allowed = given[:, 0]
    if layout.mask == "heads" and layout.rank == 3:
        allowed = given[:, None]
    said = ~allowed if layout.hidden else allowed
    bias = 0.0 if made.bias is None else made.bias.reshape(allowed.shape)
    kinds: dict[str, tuple[Any, str]] = {
        "bool": (said, "bool"),
        "int": (said.astype(int), "int64"),
        "float": (said.astype(float), dtype),
        "added": (np.where(allowed, bias, -np.inf), dtype),
    }
    return kinds[layout.mask_kind]


def _alike(a: list[Any], b: list[Any]) -> bool:
    return len(a) == len(b) and all(
        one.shape == other.shape and np.allclose(one, other, rtol=1e-6, atol=1e-9, equal_nan=True)
        for one, other in zip(a, b, strict=True)
    )


# errors -----------------------------------------------------------------------------------------


def _told(error: BaseException, place: str) -> dict[str, Any]:
    """The error with the learner's own lines, and the shapes of their variables at the last of them."""
    frames = [frame for frame in traceback.walk_tb(error.__traceback__) if _is_own(frame[0].f_code.co_filename, place)]
    lines = [(frame.f_code.co_name, line) for frame, line in frames]
    shapes = {}
    if frames:
        for name, value in list(frames[-1][0].f_locals.items()):
            with contextlib.suppress(Exception):
                if hasattr(value, "shape") and not inspect.ismodule(value) and not inspect.isclass(value):
                    shapes[name] = [int(size) for size in value.shape]
    if isinstance(error, SyntaxError):
        lines = [("", error.lineno or 0)]
    text = traceback.format_exception_only(error)[-1].strip()
    kinds = [kind.__name__ for kind in type(error).__mro__]
    return {"kind": type(error).__name__, "kinds": kinds, "text": text[:600], "lines": lines[-6:], "shapes": shapes,
            "missing": getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None}  # fmt: skip


def _is_own(file: str, place: str) -> bool:
    """Whether a line is the learner's: not Python's, not an installed package's, not the checker's."""
    return file.startswith(place) or not file.startswith(_others())


@cache
def _others() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    installed = (paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    return (str(Path(__file__).parent), "<frozen", *installed)


if __name__ == "__main__":
    main(sys.argv[1])
