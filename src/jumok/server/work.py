"""What workers do: from plain JSON to plain JSON, with pages and checkpoints in the folder that they are given.

Each takes what was asked and a function that is told how far it is (and ends it by ``KeyboardInterrupt``). All of it uses
the verbs of ``jumok``; here is only what a page needs of them.
"""

from __future__ import annotations

import bisect
import contextlib
import math
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, JumokError
from ..files import write_whole
from ..layer_numbers import layer_numbers
from ..runs import moment, run_of, to_its_end
from ..tokens import position
from ..trace import Reading, Trace, layers_of
from ..words import LANGS
from .kept import keep, release, set_aside
from .limits import COST_BUDGET_S, EVENTS

if TYPE_CHECKING:
    from ..measurement.running.measured import Measured
    from ..picture.packed import Packed, Values
    from ..variants.cost import Cost

__all__ = ["READY", "WORKS"]

Asked = Mapping[str, Any]
Tell = Callable[[Mapping[str, Any]], None]

EVERY_S = 0.1  # between two things that are told
TOLD_AGAIN = EVENTS // 2  # steps of before, so that there is room for those that come
TYPED = {"en": "the text you typed", "ko": "입력한 글"}  # what a corpus is called that came from a form
CELLS = 2**26  # weights that are computed before a page opens, in two seconds; a longer text's are sampled
READINGS = 4  # that the model's worker remembers, so that a cut need not read the text again,
READINGS_BYTES = 2**30  # where they take no more than this

_model: dict[str, Any] = {}  # of the one worker that has one: model, tokenizer, name
_readings: OrderedDict[str, Any] = OrderedDict()


# before the first piece of work -------------------------------------------------------------------


def _ready_quick(_given: Asked) -> dict[str, Any]:
    """Solve a small task once, so that nobody waits for libraries."""
    from ..sources.design.asked import answer
    from ..sources.example import load

    answer(load("student").text)
    return {}


def _ready(_given: Asked) -> dict[str, Any]:
    return {}


def _ready_model(given: Asked) -> dict[str, Any]:
    """Load the model. Errors: as of ``load_model``, and ``InputError`` for one that reads no texts."""
    from ..cli_capture import quiet_libraries
    from ..sources.capture.asked import refuse_text
    from ..sources.capture.models import load_model, name_of

    quiet_libraries()
    loaded = load_model(given["model"])
    if loaded.tokenizer is None:
        refuse_text("", loaded.model, name_of(given["model"]))
    limit = getattr(getattr(loaded.model, "config", None), "max_position_embeddings", None)
    limit = limit if isinstance(limit, int) else None
    _model.update(model=loaded.model, tokenizer=loaded.tokenizer, name=name_of(given["model"]), limit=limit)
    return {"name": _model["name"], "limit": limit}


READY: Mapping[str, Callable[[Asked], dict[str, Any]]] = {
    "quick": _ready_quick, "code": _ready, "heavy": _ready, "measure": _ready, "model": _ready_model,
}  # fmt: skip


# small work ---------------------------------------------------------------------------------------


def design(asked: Asked, _tell: Tell) -> dict[str, Any]:
    """W_Q and W_K for an example file's ``wanted:``, as a notebook's solver answers."""
    from ..sources.design.asked import answer

    return answer(asked["example"], asked["fixed"])


def check(asked: Asked, _tell: Tell) -> dict[str, Any]:
    """The verdict on code, as ``jumok check --json`` prints it."""
    from ..lessons.checker.reach import NotChosen
    from ..verbs import check as checked

    with tempfile.TemporaryDirectory(prefix="jumok-serve-") as folder:
        file = Path(folder) / "code.py"
        file.write_text(asked["code"], encoding="utf-8")
        try:
            return checked(str(file), asked["checks"]).to_json()
        except NotChosen as error:
            raise _not_chosen(error.names) from error


def _not_chosen(names: tuple[str, ...]) -> InputError:
    """As a page says it, where no file has a name and no option can be given."""
    some = ", ".join(names)
    return InputError(
        en=f"It is not clear which of these functions to check: {some}. Call the one that is meant attention.",
        ko=f"어느 함수를 검사할지 알 수 없습니다: {some}. 검사할 함수의 이름을 attention으로 하십시오.",
    ) if names else InputError(
        en="There is no function in the code. Write one, such as def attention(q, k, v): …",
        ko="코드에 함수가 없습니다. def attention(q, k, v): …처럼 함수를 쓰십시오.",
    )  # fmt: skip


def example(asked: Asked, _tell: Tell) -> dict[str, Any]:
    """The page of an example: by name, or a file."""
    from ..sources.example import attended, load

    found = load(asked["name"])
    title = None if found.title else _title(found.sentence, "")
    _keep_record(
        Path(asked["into"]), attended(found), {"solver": True}, title if title and any(title.values()) else None
    )
    return {}


def lesson(asked: Asked, _tell: Tell) -> dict[str, Any]:
    """The page of a lesson of the course."""
    from ..lessons.page import EXTENSION, parts
    from ..verbs import lesson as found

    made = parts(found(asked["number"]))
    model = {**made.extra, "extension": EXTENSION.name, "view": made.view, "solver": True, "checker": asked["checker"]}
    keep(Path(asked["into"]), {"view": "record", "title": made.title, "model": model}, _packed(*made.records))
    return {}


def catalogue(asked: Asked, _tell: Tell) -> dict[str, Any]:
    """What there is to choose from: packaged examples, lessons, tasks."""
    from ..lessons import packaged
    from ..sources.example import load, names
    from ..sources.learn.tasks import NAMES, task_of
    from ..verbs import _makers

    lessons = [
        {
            "number": one.number, "name": one.name, "minutes": one.minutes,
            "title": {lang: one.written(lang).title.replace("d_k", "dₖ") for lang in LANGS},
        }
        for one in packaged.course(_makers())
    ]  # fmt: skip
    told = {
        "examples": [{"name": name, "title": _title(load(name).title, name)} for name in names()],
        "lessons": lessons,
        "tasks": [{"name": name, "title": _title(task_of(name).title, name)} for name in NAMES],
    }
    keep(Path(asked["into"]), told)
    return {}


def _title(said: Any, otherwise: str) -> dict[str, str]:
    """A title in each language, from a text, one a language, or nothing."""
    if isinstance(said, Mapping) and said:
        return {lang: str(said.get(lang) or next(iter(said.values()))) for lang in LANGS}
    return dict.fromkeys(LANGS, str(said or otherwise))


# pages of records ---------------------------------------------------------------------------------


def file(asked: Asked, _tell: Tell) -> dict[str, Any]:
    """The page of what a file or a run's folder holds."""
    from ..measurement.running.measured import Measured
    from ..verbs import load

    found, into = load(asked["name"]), Path(asked["into"])
    if isinstance(found, Measured):
        return _keep_measured(into, found)
    if (run := run_of(found)) is not None:
        return _keep_run(into, run)
    if not isinstance(found, Trace | Reading):
        raise InputError(
            en=f"{asked['called']} holds nothing that a page shows.",
            ko=f"{asked['called']} 파일에는 페이지에 보일 것이 없습니다.",
        )
    _keep_record(into, found, {})
    return {}


def _keep_record(
    into: Path, record: Trace | Reading, model: Mapping[str, Any], title: Mapping[str, str] | None = None
) -> None:
    from ..picture.labels import readable

    page: dict[str, Any] = {"view": "record", "kind": "reading", "model": {"view": {}, **model}}
    page |= {} if title is None else {"title": dict(title)}
    keep(into, page, _packed(readable(record)))


def _packed(*records: Trace | Reading) -> list[Packed]:
    from ..picture.packed import pack

    return [pack(record, _values(record), cells=CELLS) for record in records]


def _values(record: Trace | Reading) -> Values:
    """A layer is brought when it is looked at, so that v may travel too, but for the very largest."""
    from ..picture.packed import SIZE_LIMIT, least_bytes

    return "all" if layers_of(record) and least_bytes(record, "all") <= SIZE_LIMIT else None


def _keep_run(into: Path, run: Any) -> dict[str, Any]:
    from ..picture.learned import EXTENSION, carried, opening

    documents, extra = carried(run)
    model = {"view": opening(run), **extra, "extension": EXTENSION.name}
    keep(into, {"view": "record", "kind": "run", "model": model}, documents)
    return {}


def _keep_measured(into: Path, found: Measured) -> dict[str, Any]:
    import base64

    from ..picture.measured import title_of
    from ..picture.measured_page import packed

    title = {lang: title_of(found, lang)[0] for lang in LANGS}
    data = base64.b64encode(packed(found)).decode("ascii")
    keep(into, {"view": "plain", "kind": "measured", "title": title, "measured": data})
    return {}


def _keep_cost(into: Path, found: Cost) -> dict[str, Any]:
    from ..picture.costs import parts, title_of

    title = {lang: title_of(found, lang)[0] for lang in LANGS}
    body = {lang: parts(found, lang) for lang in LANGS}
    keep(into, {"view": "plain", "kind": "cost", "title": title, "body": {lang: "".join(body[lang]) for lang in LANGS}})
    return {}


# training -----------------------------------------------------------------------------------------


def learn(asked: Asked, tell: Tell) -> dict[str, Any]:
    """Train, from the checkpoint in the folder where there is one; stopped, or ended by an error, with all so far kept."""
    from ..verbs import learn as learned

    folder = Path(asked["folder"])
    run, progress = folder / "run.safetensors", _Training(tell)
    set_aside(folder)
    _tell_again(run, tell)
    try:
        made = learned(asked["task"], asked["steps"], asked["seed"], run, resume=True, progress=progress)
    except JumokError as error:
        if (so_far := getattr(error, "learned", None)) is not None:
            with contextlib.suppress(JumokError, OSError):  # why it ended is what counts
                _keep_training(folder, so_far)
        raise
    return _keep_training(folder, made)


def _tell_again(run: Path, tell: Tell) -> None:
    """The steps before the one from which a training goes on, evenly thinned: a page that opens now has the whole curve."""
    from ..verbs import load

    if not run.is_file():
        return
    try:
        found: Any = load(run)
    except JumokError:  # the training says what is wrong with it
        return
    history = found.history
    last = len(history.loss) - 1  # the very last step is told by the training itself
    evenly = {1 + round(at * (last - 1) / (TOLD_AGAIN - 1)) for at in range(TOLD_AGAIN)} if last > 0 else set()
    for step in sorted(evenly):
        accuracy = history.accuracy[bisect.bisect_right(history.steps, step) - 1]
        tell({"step": {"step": step, "loss": _finite(history.loss[step - 1]), "accuracy": _finite(accuracy)}})


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None


def saved(asked: Asked, _tell: Tell) -> dict[str, Any]:
    """The page of what a training saved last, where it did not come to its end."""
    from ..verbs import load

    folder = Path(asked["folder"])
    return _keep_training(folder, load(folder / "run.safetensors"))


def _keep_training(folder: Path, learned: Any) -> dict[str, Any]:
    release(folder)
    return _keep_run(folder, to_its_end(learned))


class _Training:
    """What is told of a training: numbers every tenth of a second, and the probe's table whenever it was looked at anew."""

    def __init__(self, tell: Tell) -> None:
        self.tell, self.due, self.looked_at = tell, 0.0, -1
        self.first: tuple[int, float] | None = (
            None  # the step that was told first, and when: libraries were loaded before it
        )

    def __call__(self, told: Any) -> None:
        self.tell({})
        now = time.monotonic()
        self.first = (told.step, now) if self.first is None else self.first
        if now < self.due and told.step < told.steps:
            return
        self.due = now + EVERY_S
        step = {"step": told.step, "loss": told.loss, "accuracy": told.accuracy, **self._looked(told.recorder)}
        self.tell({"progress": _progress(told.step, told.steps, "steps", self._left_s(told, now)), "step": step})

    def _left_s(self, told: Any, now: float) -> float | None:
        """The time that is left at the speed so far; None before there is one."""
        assert self.first is not None
        step, when = self.first
        return (told.steps - told.step) * (now - when) / (told.step - step) if told.step > step else None

    def _looked(self, recorder: Any) -> dict[str, Any]:
        """The table of the head that is worth looking at, as it is now; nothing where it is the one that was told before."""
        if recorder.steps[-1] == self.looked_at:
            return {}
        self.looked_at = recorder.steps[-1]
        return _table(recorder)


def _table(recorder: Any) -> dict[str, Any]:
    import numpy as np

    from ..explanation.emerged import place
    from ..history import History
    from ..labels import labels_of

    n = len(recorder.steps)
    history = History(tuple(recorder.steps), recorder.layers(), recorder.probes()[:1], np.zeros(0), np.zeros(n))
    layer, head = place(history)
    trace = layers_of(moment(history))[layer]
    weights = trace.rows("weights", heads=[head])[0]
    return {
        "weights": [[round(float(weight), 3) for weight in row] for row in weights],
        "tokens": [label.text for label in labels_of(trace.tokens)],
        "layer": layer,
        "head": head,
    }


def _progress(done: float, of: float, unit: str, left_s: float | None) -> dict[str, Any]:
    return {"done": done, "of": of, "unit": unit, "left_s": None if left_s is None else round(left_s, 1)}


# measuring ----------------------------------------------------------------------------------------


def measure(asked: Asked, tell: Tell) -> dict[str, Any]:
    """Measure the model's heads over a corpus, or a text; a run that was begun before goes on."""
    from ..cli_capture import quiet_libraries
    from ..verbs import measure as measured

    quiet_libraries()
    folder, corpus = Path(asked["folder"]), asked["corpus"]
    if asked["text"] is not None:
        corpus = folder / "corpus.txt"
        text = asked["text"].encode("utf-8")
        write_whole(corpus, lambda name: Path(name).write_bytes(text))

    def progress(done: int, of: int, speed: float, left_s: float) -> None:
        step = {"tokens": done, "of": of, "tokens_per_s": round(speed, 1)}
        tell({"progress": _progress(done, of, "tokens", left_s), "step": step})

    found = measured(asked["model"], corpus, folder=folder / "run", workers=1, progress=progress)
    return _keep_measured(folder, found if asked["text"] is None else replace(found, named=TYPED))


def cost(asked: Asked, tell: Tell) -> dict[str, Any]:
    """Measure what variants cost; stopped, with what was measured."""
    from ..variants.cost import cost as costs

    def progress(done: int, of: int, variant: str, n: int) -> None:
        tell({"progress": _progress(done, of, "measurements", None), "step": {"variant": variant, "n": n}})

    found = costs(n=asked["n"], d_head=asked["d"], n_heads=asked["heads"], budget_s=COST_BUDGET_S, progress=progress)
    return _keep_cost(Path(asked["folder"]), found)


# the model ----------------------------------------------------------------------------------------


def capture(asked: Asked, tell: Tell) -> dict[str, Any]:
    """Let the model read a text, and keep the page of what it attended to."""
    reading = _read(asked["text"])
    tell({"step": {"layer": len(reading), "of": len(reading)}})
    model = {"cutter": getattr(reading, "_again", None) is not None}
    _keep_record(Path(asked["folder"]), reading, model, asked["title"])
    return {}


def cut(asked: Asked, _tell: Tell) -> dict[str, Any]:
    """What the model does without one weight, as a notebook's cutter answers."""
    from ..picture.cuts import carried

    reading = _read(asked["text"])
    number = layer_numbers(reading)[position("layer", "층", asked["layer"], len(reading))]
    made = reading.cut(number, asked["head"], asked["query"], asked["key"], renormalise=asked["renormalise"])
    [told] = carried(made, reading)
    return {"cut": told}


def _read(text: str) -> Any:
    """What the model attends to on a text; the last few are remembered."""
    from ..verbs import capture as captured

    if text not in _readings:
        _refuse_beyond_model(text)
        _readings[text] = captured(_model["model"], text, _model["tokenizer"])
    _readings.move_to_end(text)
    while len(_readings) > READINGS or (len(_readings) > 1 and sum(map(_size, _readings.values())) > READINGS_BYTES):
        _readings.popitem(last=False)
    return _readings[text]


def _refuse_beyond_model(text: str) -> None:
    """A model that could be run beyond its length would say nothing that means anything there, to people who cannot know it."""
    limit = _model["limit"]
    n = 0 if limit is None else len(_model["tokenizer"](text)["input_ids"])
    if limit is not None and n > limit:
        raise InputError(
            en=f"the text has {n:,} tokens, and this model reads {limit:,} at most. Shorten it.",
            ko=f"글이 토큰 {n:,}개인데 이 모델은 {limit:,}개까지 읽습니다. 글을 줄이십시오.",
        )


def _size(reading: Any) -> int:
    return sum(layer.q.nbytes + layer.k.nbytes + layer.v.nbytes for layer in reading)


WORKS: Mapping[str, Callable[[Asked, Tell], dict[str, Any]]] = {
    one.__name__: one
    for one in (design, check, example, lesson, catalogue, file, learn, saved, measure, cost, capture, cut)
}
