"""Files as this version saves them, and the numbers in them: ``python tests/saved_files.py`` adds ``tests/saved/VERSION``.

Every later version must read them and get the same numbers (tests/contracts/test_saved_files.py). A folder that was
published is never written again.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import jumok
from jumok.history import History
from jumok.lessons.progress import Progress
from jumok.sources.learn.learned import Learned

SAVED = Path(__file__).parent / "saved"
NUMBERS = "numbers.json"  # what stood in the files when they were saved
SENTENCE = "나는 강 은행에 앉았다"

OWN_EXAMPLE = """\
title: {en: A teacher's own, ko: 선생님의 예제}   # comments stay
sentence: 강아지가 공을 물고 왔다
dimensions: [누가, 무엇, 했다, 어떻게]
tokens:
  - 강아지가: {누가: 1}
  - 공을: {무엇: 1, 어떻게: 0.25}
  - 물고: {했다: 1}
  - 왔다: {했다: 0.5, 어떻게: -1}
heads: 2
temperature: 1.5
positions: rotary
mask: {all: [causal, {window: 2}]}
weights:
  w_q: {rows: {했다: {누가: 4, 무엇: 2.5}}, otherwise: identity}
  w_k: {diagonal: {누가: 2}, otherwise: 1}
  w_v: identity
  w_o: [[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 0], [0.5, 0, 0, 1]]
focus: 왔다
meaning:
  누가: {en: who, ko: 누가}
"""

LAYERS_EXAMPLE = """\
sentence: The cat sat there .
random: {seed: 7, generator: numpy-legacy, order: [x, w_q, w_k, w_v], d_model: 4, d_k: 4}
tokens: [The, cat, sat, there, .]
positions: {alibi: [0.5]}
mask: {table: {sat: [cat, The]}}
scale: 0.4
"""


def trace() -> jumok.Trace:
    """Grouped heads, and every part that a rule has."""
    draw = np.random.default_rng(1)
    q, k, v = draw.normal(size=(4, 6, 3)), draw.normal(size=(2, 6, 3)), draw.normal(size=(2, 6, 5))
    seen = jumok.allowed.causal() & (
        jumok.allowed.window(2) | jumok.allowed.table(np.eye(6, k=-4, dtype=bool) | np.eye(6, dtype=bool))
    )
    bias = jumok.positions.alibi([0.5, 0.25, 0.125, 0.0625])
    rule = jumok.Rule(scale=0.7, softcap=20.0, allowed=seen, bias=bias, sink=[0.1, -0.2, 0.3, 0.0])
    return jumok.attend(q=q, k=k, v=v, tokens=["</script>", "나는", "은행에", "은행에", "👩‍🔬", "\n"], rule=rule)


def reading() -> jumok.Reading:
    """Two layers in float32, as a capture gives them."""
    draw = np.random.default_rng(2)
    tokens = SENTENCE.split()
    layers = [[draw.normal(size=(2, 4, 4)).astype("float32") for _ in "qkv"] for _ in range(2)]
    return jumok.Reading([jumok.attend(q=q, k=k, v=v, tokens=tokens, rule="causal") for q, k, v in layers])


def write_example(text: str) -> Callable[[Path], Any]:
    """Writes a text as it stands."""

    def written(path: Path) -> Any:
        path.write_text(text, encoding="utf-8")
        return jumok.load(path)

    return written


def write_designed(path: Path) -> Any:
    """What ``jumok design student -o`` writes."""
    from jumok.cli import run

    with contextlib.redirect_stdout(io.StringIO()):
        assert run(["design", "student", "-o", str(path)]) == 0
    return jumok.load(path)


def write_learned(path: Path) -> Any:
    """A run on rows that are wanted."""
    return jumok.learn("student", steps=4, out=path)


def write_trained(path: Path) -> Any:
    """A run on sequences."""
    return jumok.learn("previous", steps=2, d_model=8, out=path)


def write_history(path: Path) -> Any:
    """What was recorded of a training loop of one's own."""
    import torch

    torch.manual_seed(3)
    model = jumok.nn.SelfAttention(4, 1)
    batch = torch.randn(1, 3, 4)
    steps = torch.optim.SGD(model.parameters(), lr=0.1)
    with jumok.record(model, batch, tokens=["a", "b", "c"]) as recorded:
        for _ in range(2):
            loss = (model(batch)[0] - 1).square().mean()
            steps.zero_grad()
            loss.backward()
            steps.step()
            recorded.log(loss)
    recorded.history.save(path)
    return recorded.history


def write_measured(path: Path) -> Any:
    """A finished run of ``jumok measure``; its shards, which nothing reads any more, are left out."""
    from small_folders import conllu, encoder, folder_of

    with tempfile.TemporaryDirectory() as work:
        model = folder_of(encoder(layers=1), Path(work, "small"))
        corpus = Path(work, "corpus.conllu")
        corpus.write_text(conllu(8), encoding="utf-8")
        measured = jumok.measure(str(model), corpus, folder=path, workers=1)
    shutil.rmtree(path / "shards")
    return measured


def write_progress(path: Path) -> Any:
    """What a learner did; its export stands beside it."""
    progress = Progress(path)
    for lesson, block, how in (("classroom", "most", "right"), ("scores", "dot", "seen"), ("나의 레슨", "@12", "read")):
        progress.add(lesson, block, how)
    progress.export(path / "progress.json")
    return progress


def read_progress(path: Path) -> Any:
    """A learner's progress, with what another one brings."""
    with tempfile.TemporaryDirectory() as work:
        other = Progress(Path(work))
        assert other.bring(path / "progress.json") == 3
        assert other.done() == Progress(path).done()
    return Progress(path)


WRITERS: dict[str, Callable[[Path], Any]] = {
    "own.yaml": write_example(OWN_EXAMPLE),
    "layers.yaml": write_example(LAYERS_EXAMPLE),
    "designed.yaml": write_designed,
    "trace.safetensors": lambda path: trace() if trace().save(path) else None,
    "reading.safetensors": lambda path: reading() if reading().save(path) else None,
    "learned.safetensors": write_learned,
    "trained.safetensors": write_trained,
    "recorded.safetensors": write_history,
    "measured": write_measured,
    "progress": write_progress,
}


def read(path: Path) -> Any:
    """What this version makes of a saved file."""
    return read_progress(path) if path.name == "progress" else jumok.load(path)


def numbers(thing: Any) -> Any:
    """What is held fast of a thing, as plain JSON."""
    if isinstance(thing, Progress):
        return [[one.lesson, one.id, one.how, one.when] for one in thing.done()]
    if isinstance(thing, jumok.Example):
        return {
            "tokens": [token.text for token in layers(jumok.attend(thing))[0].tokens],
            "layers": numbers(jumok.attend(thing)),
        }
    if isinstance(thing, jumok.Trace | jumok.Reading):
        return [[plain(layer.weights), plain(layer.output if layer.heads else layer.mixed)] for layer in layers(thing)]
    if isinstance(thing, Learned):
        text = None if thing.history.task["name"] == "student" else "C A B"
        return [numbers(thing.history), sorted(thing.emerged or ()), text and thing.answer(text)]
    if isinstance(thing, History):
        moments = [[numbers(thing.trace(step)), step] for step in thing.steps]
        return [
            moments,
            plain(thing.loss),
            plain(thing.accuracy),
            {name: plain(at) for name, at in thing.roles.items()},
        ]
    rows = [
        [row.layer, row.head, row.role, row.score, row.baseline, row.low, row.high, row.evidence]
        for row in thing.table.rows
    ]
    return [rows, [[one.role, one.layer, one.head] for one in thing.examples], thing.n_sentences, thing.n_tokens]


def layers(thing: Any) -> tuple[jumok.Trace, ...]:
    """One layer or several, as several."""
    return (thing,) if isinstance(thing, jumok.Trace) else tuple(thing)


def plain(array: Any) -> Any:
    """An array as lists, with None where it holds no number."""
    return [None if value is not None and np.isnan(value) else float(value) for value in np.ravel(array)]


def write(folder: Path) -> None:
    """Save one of each, and its numbers as they were before they were saved."""
    folder.mkdir()
    held = {name: numbers(writer(folder / name)) for name, writer in WRITERS.items()}
    lines = [f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in held.items()]
    (folder / NUMBERS).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    target = SAVED / jumok.__version__
    if target.exists():
        sys.exit(f"{target.name} is there already. Raise the version first; what was published is never written again.")
    with tempfile.TemporaryDirectory() as work:
        write(Path(work, "new"))
        shutil.copytree(Path(work, "new"), target)  # all of it or nothing
    print(f"written: {target.name}")
