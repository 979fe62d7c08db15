"""The verbs of the door: the same words in Python, on the command line and in the page."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import InputError, MissingExtra
from .files import is_file, packaged_readings
from .trace import Reading, Source, Token, Trace

if TYPE_CHECKING:
    from .history import History
    from .lessons.checker.verdict import Verdict
    from .lessons.lesson import Lesson, Makers
    from .measurement.comparison import Comparison
    from .measurement.running.measured import Measured
    from .measurement.running.run import Progress as MeasureProgress
    from .path.positions import Rotary
    from .picture.drawing import Picture
    from .picture.learned import Run
    from .picture.packed import Storage, Values
    from .picture.widget import Widget
    from .sources.capture.capturing import Captured
    from .sources.design.designed import Design, Progress
    from .sources.example import Example
    from .sources.learn.learned import Learned
    from .sources.learn.recorded import Recorded
    from .sources.learn.training import Progress as LearnProgress

__all__ = [
    "attend",
    "capture",
    "check",
    "compare",
    "design",
    "draw",
    "learn",
    "lesson",
    "load",
    "measure",
    "record",
    "serve",
    "widget",
]


def load(path_or_name: str | os.PathLike[str]) -> Example | Trace | Reading | History | Learned | Measured:
    """What a name or a file holds: a packaged example, an example file, or a saved ``.safetensors``: a Trace, a Reading,
    a recorded History, a trained model with its history (which is looked at without PyTorch, and used with it).
    The folder of a finished ``measure`` is read too. ``minilm-tired`` and ``minilm-soft`` are packaged Readings of a real model.

    >>> load("student").sentence
    'The student studies deep learning carefully.'

    Errors: ``UnknownName`` for a name that is neither, ``ExampleError`` with line and column,
    ``SavedFileError`` for a saved file that is not whole.
    """
    if not isinstance(path_or_name, (str, os.PathLike)):
        raise InputError(
            en=f"load expects a path or a name such as 'student', got {path_or_name!r}.",
            ko=f"load에는 경로나 'student' 같은 이름이 필요한데 {path_or_name!r}이(가) 왔습니다.",
        )
    readings = packaged_readings()
    if path_or_name in readings or Path(path_or_name).suffix.lower() == ".safetensors":
        from . import saved

        return saved.opened(readings.get(str(path_or_name), path_or_name), _unpacked)
    if is_file(Path(path_or_name) / "plan.json"):
        from .measurement.running.folder import opened

        return opened(path_or_name)
    _refuse_not_read_back(path_or_name)
    from .sources import example

    return example.load(path_or_name)


def _unpacked(tensors: dict[str, Any], plain: dict[str, Any]) -> Trace | Reading | History | Learned:
    if "learned" in plain:
        from .sources.learn import learned

        return learned.unpacked(tensors, plain)
    from . import saved

    return saved.unpacked(tensors, plain)


def attend(
    example: Example | None = None,
    *,
    x: Any = None,
    w_q: Any = None,
    w_k: Any = None,
    w_v: Any = None,
    w_o: Any = None,
    q: Any = None,
    k: Any = None,
    v: Any = None,
    tokens: Iterable[str | Token] | None = None,
    key_tokens: Iterable[str | Token] | None = None,
    n_heads: int = 1,
    n_kv_heads: int | None = None,
    rule: Any = None,
    b_q: Any = None,
    b_k: Any = None,
    b_v: Any = None,
    b_o: Any = None,
    rotation: Rotary | None = None,
    dimensions: Sequence[str] | None = None,
    source: Source | None = None,
) -> Trace | Reading:
    """Attention of an example, of embeddings and projections, or of q, k and v.

    example : an ``Example``; one layer gives a Trace, several a Reading; ``rule`` takes its mask's place
    x : (token, d_model);  w_q, w_k, w_v : (d_model, heads · d);  w_o : (heads · d_value, d_out);  b_* : biases
    q : (head, query, d_head);  k : (kv_head, key, d_head);  v : (kv_head, key, d_value)
    rule : a ``Rule``, or what stands for one: ``"causal"``, ``jumok.allowed.window(2)``, a table of booleans

    >>> one = [[1, 0], [0, 1]]
    >>> attend(x=one, w_q=[[2, 0], [0, 2]], w_k=one, w_v=one).output.round(2).tolist()
    [[0.8, 0.2], [0.2, 0.8]]

    Errors: ``ShapeError`` names the axis that disagrees, ``InputError`` says which arrays are missing,
    ``OverflowRefused`` the tokens whose score would not fit.
    Source: Vaswani et al. 2017, "Attention is all you need", equation 1.
    """
    given = {name: value for name, value in locals().items() if value is not None}
    if n_heads == 1:
        del given["n_heads"]  # as if it were not there
    for needed, others, made in _WAYS:
        if needed <= given.keys():
            _refuse_others(given.keys() - needed - others, needed)
            return made(**given)
    came = ", ".join(sorted(given)) or "nothing"
    came_ko = ", ".join(sorted(given)) or "아무것도 없음"
    raise InputError(
        en=f"attend expects an example, or x, w_q, w_k and w_v, or q, k and v; got {came}.",
        ko=f"attend에는 예제, 또는 x·w_q·w_k·w_v, 또는 q·k·v가 필요한데 온 것은 이렇습니다: {came_ko}.",
    )


def capture(
    model: Any = None,
    text: Any = None,
    tokenizer: Any = None,
    *,
    target: str | None = None,
    layers: Collection[int] | None = None,
    dtype: str | None = None,
    allow_pickle: bool = False,
) -> Captured:
    """What a model attends to on a text: every layer and head; or, without arguments, a with-block that watches any code.

    model : a PyTorch module; or a folder, a name in the local cache of Hugging Face, or "demo" (the extra ``demo``)
    text : a text, a list of texts (one Reading each, in ``readings``), a tensor, or the model's inputs by name
    tokenizer : of transformers, of tokenizers, or anything with encode and decode; None for the model's own
    target : what the decoder of an encoder-decoder reads; None for what the model itself writes
    layers : which layers to keep, such as range(6); None for all
    dtype : "float32", "float16" or "bfloat16" to load the model in;  allow_pickle : True to load weights that are only
        there as a pickle, which can run code

    >>> import torch
    >>> model = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval()
    >>> x = torch.zeros(1, 3, 8)
    >>> with capture() as reading:
    ...     _ = model(x, x, x)
    >>> reading[0].weights.shape
    (2, 3, 3)

    No model is downloaded, no code of a model's own is run. A sample of rows of every layer is computed again from what
    was read and held against what the program itself made of it; beyond rounding a layer is refused, with the reason.
    ``reading.cut(layer, head, query, key)`` runs the model again without one weight.

    Errors: ``InputError`` where no attention is found, for a text that is empty or longer than the model's context, a
    tokenizer that does not fit, a folder that holds no model; ``MissingExtra`` without the extra ``models``.
    """
    try:
        from .sources.capture.capturing import capture as captured
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtra(extra="models", package="torch") from None
    return captured(model, text, tokenizer, target=target, layers=layers, dtype=dtype, allow_pickle=allow_pickle)


def check(fn: Any, kind: str | None = None, *, mask: str | None = None, seconds: float | None = None) -> Verdict:
    """Which mistake is in an attention that somebody wrote: right, right but written differently, or which one or two.

    fn : a function, a class or module (its own W_Q, W_K, W_V are found), or a file such as "my.py:attention"; on NumPy or
        PyTorch: f(q, k, v), f(q, k, v, mask), f(x, w_q, w_k, w_v, …), f(x, context, w_q, …), softmax(scores), scale(scores, d_k);
        it returns the output, or output and weights in either order
    kind : "attention", "causal", "multihead", "cross", "softmax" or "scale"; None: as its names say
    mask : what True means in its mask, "allowed" or "hidden"; None: as its name or documentation says, else "allowed"
    seconds : of computing that it may take

    ``check("my_attention.py").mistakes`` is then ``('no-scale',)``, say.

    It is recognised by what it gives on small inputs, not by how it is written. ``Verdict.mistakes`` are ids,
    ``Verdict.example`` the smallest case that shows them, ``Verdict.text(lang)`` all of it in sentences, a hint before a
    fix; "unknown" where no mistake, and no two, explain every number.

    The code runs in a process of its own, in a throw-away folder, with limits of time, memory, output, files and processes.
    That is **no sandbox against malice**: it can read what you can read. Check code of people you know.

    Errors: ``InputError`` where it is not clear how to call it, or for a file that cannot be read; ``UnknownName`` for a
    kind; ``MissingExtra`` for a function of a notebook without the extra ``teach``.
    """
    from .lessons.checker.checking import check as checked

    return checked(fn, kind, mask=mask, seconds=seconds)


def design(
    x: Any,
    wanted: Any = None,
    d_k: int | None = None,
    rule: Any = None,
    w_q: Any = None,
    w_k: Any = None,
    near: Any = None,
    *,
    tokens: Any = None,
    dimensions: Sequence[str] | None = None,
    ridge: float = 1e-8,
    start: Design | tuple[Any, Any] | None = None,
    progress: Progress | None = None,
) -> Design:
    """The W_Q and W_K whose attention is nearest to a wanted table, with a proof of how near, and the reasons why no nearer.

    x : (token, d_model) the embeddings; a list of them for sentences that share the weights; or an Example (or several)
        whose ``wanted:`` says the rest
    wanted : (query, key) rows that sum to 1, NaN in rows left free and in cells left out, which share what remains; or
        {token: {token: weight}}; or (head, query, key), or a list, one a head. A list of these where x is a list
    d_k : the width of queries and keys; None for d_model, or as wide as what is given
    rule : a ``Rule`` or what stands for one (a list, one a sentence, where x is a list); no soft cap, no sink
    w_q, w_k : (d_model, heads · d_k) one of them fixed, or "identity"
    near : what to stay as close to as the task allows, least change in Frobenius norm (for the free one of W_Q and W_K,
        or for M = W_Q W_Kᵀ): a matrix, a list with one a head, "identity", "zero", or None: identity where square, else zero
    tokens : texts, to name them in ``wanted`` and in reasons;  dimensions : names of the embedding dimensions
    ridge : ρ in ρ/2·‖W − near‖², used only where an allowed cell is wanted at 0, which would take an infinite W
    start : an earlier design of the same task, or its (W_Q, W_K), to continue from
    progress : called with head, step, loss and gap (nats)

    >>> student = load("student")
    >>> design(student).w_q[1].round(3).tolist()
    [4.605, 1.833, 6.628, 4.394]

    Nearness is Σ KL(wanted ‖ reached) over the wanted rows, which is convex in M = W_Q W_Kᵀ (``Design.gap`` is the proof
    of how near to the best). ``Design.reasons`` are why a row is not reached, each with what would lift it. Where d_k is
    less than the rank that M needs the best that was found is given, with the proven bound. M is split into W_K = identity
    where near is the identity and d_k = d_model, else into its singular vectors, √σ on each side, the largest entry of
    each column of W_Q positive (so too where the identity would lose the table to rounding).

    Errors: ``InputError`` and ``ShapeError`` for what does not fit, ``UnknownName`` for a token that is not there,
    ``MissingExtra`` without SciPy. Ctrl-C ends the search with the best so far (``finished`` False).
    """
    from .sources.example import Example

    options: dict[str, Any] = {"ridge": ridge, "start": start, "progress": progress}
    examples = [x] if isinstance(x, Example) else x if isinstance(x, (list, tuple)) else []
    if not examples or not all(isinstance(one, Example) for one in examples):
        from .sources.design.designed import design as designed

        return designed(x, wanted, d_k, rule, w_q, w_k, near, tokens=tokens, dimensions=dimensions, **options)
    from .sources.design.examples import design_examples

    if wanted is not None:
        raise InputError(
            en="an Example says itself what is wanted: example.replace(wanted=…). Leave wanted out.",
            ko="Example에는 바라는 것이 이미 있습니다: example.replace(wanted=…). wanted를 빼고 부르십시오.",
        )
    return design_examples(examples, d_k, rule, w_q, w_k, near, **options)[0]


def draw(
    thing: Example | Design | Learned | History | Trace | Reading | Comparison | Measured,
    kind: str | None = None,
    *,
    step: int | None = None,
    probe: int | None = None,
    stage: str | None = None,
    layer: int | None = None,
    head: int | None = None,
    query: int | str | Token | None = None,
    lang: str = "en",
    theme: str = "light",
    width: float | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Picture:
    """A picture of attention: it shows itself in a notebook, and ``save`` writes .svg, .png, .md, .csv or a live .html.

    thing : a Trace, a Reading, a Comparison, an Example, which is attended to first, or a Design: what its weights do with
        its (first) sentence; ``design.trace(1)`` is the next; a training run (Learned, History); what was measured (Measured)
    kind : of a Trace or Reading "heat" (numbers in coloured cells), "arrows" (lines between tokens), "arcs" (one
        token's row over the sentence), "strip" (every stage as a small table), "heads" (all heads); of a Comparison
        "difference" or "heads"; of a training run "curves" (loss, accuracy, what the heads read). None: "heat", of several
        layers "heads", of a Comparison "difference", of a run "curves", of a Measured "roles", which is its only one
    step, probe : of a training run: the attention at that step, on that sequence of those that were looked at
    stage : of a heat map, one of x to the output; None for the weights
    layer, head : which one; None for the last layer, head 0; of a Comparison the head that changed most
    query : one token, by position or text; None for all
    lang : "en" or "ko";  theme : "light" or "dark";  width : pixels;  title : in place of the record's own
    ax : a matplotlib Axes that the heat map is also drawn into

    >>> draw(load("student"), "arrows", lang="ko").svg().startswith("<svg")
    True

    Errors: ``UnknownName`` for a kind, stage, language, theme or token that is not there, ``InputError`` for a
    position out of range or options that do not go together.
    """
    from .picture.drawing import draw as drawn
    from .runs import wanted

    of_run = wanted(thing, step, probe, whole=kind in (None, "curves"))
    return drawn(
        _attended(thing) if of_run is None else of_run, kind, stage=stage, layer=layer, head=head, query=query, lang=lang, theme=theme, width=width,
        title=title, ax=ax,
    )  # fmt: skip


def compare(
    a: Example | Trace | Reading | Learned | History,
    b: Example | Trace | Reading | Learned | History,
    *,
    pairs: Iterable[tuple[int | str | Token, int | str | Token]] | None = None,
) -> Comparison | Run:
    """Two texts under the same heads: which heads and which tokens changed, and by how much more than rounding.

    a, b : two Traces, two Readings with as many layers and heads, or two Examples, which are attended to first; or two
        training runs, which ``draw`` and ``widget`` show beside each other, step by step: one run twice for two of its
        sequences
    pairs : which token of a stands for which of b, by position or text; None for the longest common subsequence

    >>> found = compare(load("it-tired"), load("it-soft"))
    >>> len(found.pairs), found.heads[0].layer
    (9, 1)

    Errors: ``InputError`` for records of different kinds, layers or heads, or a token that is paired twice.
    See ``jumok.Comparison`` for what is measured, and its sources.
    """
    from .measurement.comparison import compare as compared
    from .runs import beside

    runs = beside(a, b, pairs)
    return runs if runs is not None else compared(_attended(a), _attended(b), pairs=pairs)


def widget(
    thing: Example | Design | Learned | History | Run | Trace | Reading | Comparison,
    *,
    view: Mapping[str, Any] | None = None,
    lang: str | None = None,
    values: Values = None,
    storage: Storage = None,
    cuts: Any = None,
    variant: str | None = None,
    tile: int | None = None,
) -> Widget:
    """The live page inside a notebook; what is chosen in it can be read and set from Python (``.query``, ``.layer``, …).

    thing : a Trace, a Reading, a Comparison, an Example, which is attended to first, or a Design: what its weights do with
        its (first) sentence; ``design.trace(1)`` is the next; a training run, or what ``compare`` made of two, whose ``.step``
        and ``.probe`` can be read and set as well
    view : what is chosen at first, such as {"layer": 3, "head": 8};  lang : None for the language of this machine
    values : the layers of a long record whose v comes along: a list, "all", or None
    storage : "exact", "int16", or None: exact up to 2 MiB
    cuts : of a captured reading, what ``reading.cut(…)`` gave, or a list: shown beside the weights. Of what
        ``capture(model, text)`` gave, the page has a button that makes them
    variant : of one record, "flash" for a panel that folds one tile of keys after another, whose ``.tile`` and ``.fold`` can be
        read and set as well;  tile : keys of a tile, or None

    Errors: ``MissingExtra`` without the extra ``notebook``, ``InputError`` where there is nothing to show.
    """
    from .measurement.comparison import Comparison
    from .picture.widget import run_widget
    from .picture.widget import widget as shown
    from .runs import run_of

    if (run := run_of(thing)) is not None:
        _refuse_for_runs(values=values, storage=storage, cuts=cuts, variant=variant, tile=tile)
        return run_widget(run, view=view, lang=lang)
    options: dict[str, Any] = {
        "view": view, "lang": lang, "values": values, "storage": storage, "cuts": cuts, "solver": _answer,
        "cutter": _cutter(thing), "variant": variant, "tile": tile,
    }  # fmt: skip
    if isinstance(thing, Comparison):
        return shown((thing.a, thing.b), comparison=thing.pairing(), **options)
    return shown(_attended(thing), **options)


def _refuse_for_runs(**given: Any) -> None:
    names = ", ".join(name for name, value in given.items() if value is not None)
    if names:
        raise InputError(
            en=f"{names} has no meaning for a training run. Leave it out.",
            ko=f"학습 기록에는 {names}을(를) 쓸 수 없습니다. 빼고 부르십시오.",
        )


def _answer(example: str, fixed: str | None) -> dict[str, Any]:
    from .sources.design.asked import answer  # needs the extras of design: only where a page asks

    return answer(example, fixed)


def _cutter(thing: Any) -> Callable[[int, int, int, int, bool], Any] | None:
    """What runs a captured model again without a weight; None where it is not known how."""
    if getattr(thing, "_again", None) is None:
        return None
    return lambda layer, head, query, key, renormalise: thing.cut(layer, head, query, key, renormalise=renormalise)


def _refuse_not_read_back(path: str | os.PathLike[str]) -> None:
    """Refuse what jumok writes, but does not read: by its suffix, before anything in it is taken for an example."""
    suffix = Path(path).suffix
    if suffix.lower() in (".json", ".csv", ".md", ".txt"):
        raise InputError(
            en=f"{path}: a {suffix} file is for reading elsewhere. Load an example (.yaml) or a record (.safetensors).",
            ko=f"{path}: {suffix} 파일은 다른 곳에서 읽기 위한 것입니다. 예제(.yaml)나 기록(.safetensors)을 쓰십시오.",
        )
    if suffix.lower() in (".html", ".htm", ".svg", ".png"):
        what, what_ko = ("page", "페이지") if suffix.lower().startswith(".htm") else ("picture", "그림")
        raise InputError(
            en=f"{path}: a {what} is for looking at and cannot be read back. Load an example (.yaml) or a record "
            f"(.safetensors), which trace.save(…) writes.",
            ko=f"{path}: {what_ko} 파일은 보기 위한 것이라 다시 읽을 수 없습니다. 예제(.yaml)나 trace.save(…)로 저장한 "
            f"기록(.safetensors)을 쓰십시오.",
        )


def _attended(thing: Any) -> Any:
    from .sources.example import Example, attended

    if isinstance(thing, Example):
        return attended(thing)
    if isinstance(thing, Trace | Reading):
        return thing
    from .sources.design.designed import Design

    return thing.trace() if isinstance(thing, Design) else thing


def _from_example(example: Any, rule: Any = None) -> Trace | Reading:
    from .sources.example import Example, attended

    if not isinstance(example, Example):
        raise InputError(
            en=f"attend expects an Example (jumok.load('student')) or arrays by name (x=, w_q=, …), "
            f"got {type(example).__name__}.",
            ko=f"attend에는 Example(jumok.load('student'))이나 이름 붙인 배열(x=, w_q=, …)이 필요한데 "
            f"{type(example).__name__}이(가) 왔습니다.",
        )
    return attended(example, rule)


def _from_x(**given: Any) -> Trace:
    from .sources.arrays import from_x

    return from_x(**given)


def _from_qkv(**given: Any) -> Trace:
    from .sources.arrays import from_qkv

    return from_qkv(**given)


_X = {"w_o", "b_q", "b_k", "b_v", "b_o", "tokens", "n_heads", "n_kv_heads", "rule", "rotation", "dimensions", "source"}
_WAYS: tuple[tuple[set[str], set[str], Callable[..., Trace | Reading]], ...] = (  # what it needs, what else it takes
    ({"example"}, {"rule"}, _from_example),
    ({"x", "w_q", "w_k", "w_v"}, _X, _from_x),
    ({"q", "k", "v"}, {"tokens", "key_tokens", "rule", "source"}, _from_qkv),
)


def _refuse_others(others: set[str], needed: set[str]) -> None:
    if others:
        names, way = ", ".join(sorted(others)), ", ".join(sorted(needed))
        raise InputError(
            en=f"attend does not use {names} together with {way}. Leave it out.",
            ko=f"attend는 {way}와(과) 함께 {names}을(를) 쓰지 않습니다. 빼고 부르십시오.",
        )


def learn(
    task: Any,
    steps: int | None = None,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    *,
    resume: bool = False,
    n_layers: int | None = None,
    n_heads: int | None = None,
    d_model: int | None = None,
    d_mlp: int | None = None,
    norm: bool | None = None,
    learning_rate: float | None = None,
    batch: int | None = None,
    progress: Callable[[LearnProgress], None] | None = None,
) -> Learned:
    """Train a small model on a task and keep how its W_Q, W_K, W_V and its attention came to be.

    task : "student", "pronoun", "homonym", "subject-verb", "previous", "repeat" or "sort"; an Example with one wanted
        table, or its file; a file of ``input<TAB>target`` lines (.tsv, .txt); pairs of texts, or a function that gives them
    steps : updates in all; None for what the task needs
    seed : of the first weights and of the batches; the same seed gives the same history, bit for bit, on the same machine
    out : a ``.safetensors`` that is written every few seconds and at the end, each time whole or not at all
    resume : True to go on from ``out``, to the same end as without a stop; where there is no such file yet, to start it
    n_layers, n_heads, d_model, d_mlp, norm : the model's sizes (1 to 3 layers, 1 to 4 heads); None for the task's own
    learning_rate : the length of a step;  batch : sequences a step
    progress : called after each update with step, steps, loss and held-out accuracy

    >>> learned = learn("previous", steps=3)
    >>> learned.history.steps, learned.history.trace(step=0).n_tokens
    ((0, 1, 2, 3), 12)

    Sequences are learned by Adam, the rows of an example by plain gradient descent. Ctrl-C ends it early, with all so far.

    Errors: ``UnknownName`` for a task; ``InputError`` for data that teach nothing, settings that do not fit, a loss that is
    no number any more (the last good state is kept in ``out``), a ``resume`` with other settings; ``OutputError`` where
    ``out`` cannot be written; ``MissingExtra`` without PyTorch. Where training had begun, ``error.learned`` is the run
    so far, a ``Learned`` to look at or to save elsewhere.
    """
    from .sources.learn.learned import learn as learned

    return learned(
        task,
        steps,
        seed,
        out,
        resume=resume,
        n_layers=n_layers,
        n_heads=n_heads,
        d_model=d_model,
        d_mlp=d_mlp,
        norm=norm,
        learning_rate=learning_rate,
        batch=batch,
        progress=progress,
    )


def record(
    model: Any,
    probes: Any,
    *,
    every: int | Iterable[int] | None = None,
    tokens: Any = None,
    tokenizer: Any = None,
    loss: Any = None,
    query: Any = None,
    weights: bool = True,
    out: str | os.PathLike[str] | None = None,
    most_bytes: int = 2**30,
) -> Recorded:
    """A with-block around any PyTorch training loop that keeps how the model's attention moves: ``recorded.history``.

    model : a ``torch.nn.Module`` with any attention; what DDP or torch.compile wrapped is looked at from inside
    probes : what to look at all through the training, one or a list: a text, a tensor, a tuple of the model's arguments, its
        inputs by name, or a function that runs it; one sequence each
    every : steps between snapshots; or a list of steps; None for each of the first ten, then gaps of a tenth of the steps
        made, and fewer where they would take over 8% of the time. The first and the last state are always kept
    tokens : (token,) texts of the only probe, or a list with one each;  tokenizer : for probes that are texts
    loss : of the model's output on a probe, one number, to keep the gradient that arrives at each layer; None for the
        output's own ``.loss``, if it has one. One for all probes, or a list
    query : the token whose row is worth looking at, for the only probe or a list
    weights : False to keep q, k and v of the probes only, without W_Q, W_K, W_V and W_O
    out : a ``.safetensors`` that is written every few seconds and at the end, each time whole or not at all
    most_bytes : what the snapshots may take in memory; beyond it every second one is let go, and you are told

    >>> import torch
    >>> from jumok import nn
    >>> attention = nn.SelfAttention(4, 4)
    >>> optimizer = torch.optim.SGD(attention.parameters(), lr=0.1)
    >>> x = torch.eye(3, 4)
    >>> with record(attention, x, tokens=["a", "b", "c"]) as recorded:
    ...     for _ in range(3):
    ...         loss = attention(x)[0].square().sum()
    ...         optimizer.zero_grad()
    ...         loss.backward()
    ...         _ = optimizer.step()
    ...         recorded.log(loss)
    >>> history = recorded.history
    >>> history.steps, history.layers[0].weights["w_q"].shape, history.trace(step=2).weights.shape
    ((0, 1, 2, 3), (4, 4, 4), (1, 3, 3))

    A step is counted when each optimizer of ``torch.optim`` that holds parameters of the model has stepped;
    ``recorded.step(loss)`` counts instead where there is none. Looking leaves no trace: modes, buffers, gradients and random
    numbers are as they were. W_Q, W_K and W_V of other modules than ``jumok.nn`` are kept where what they make is found in
    the attention, number by number. A failure later than the start ends the recording with a warning, not the training.

    Errors: ``InputError`` where nothing attends, or a probe, ``every`` or ``out`` does not fit; ``TooLargeError`` where fewer
    than eight snapshots fit in memory; ``OutputError`` where ``out`` cannot be written; ``MissingExtra`` without PyTorch.
    """
    from .sources.learn.recorded import record as recorded

    return recorded(
        model,
        probes,
        every=every,
        tokens=tokens,
        tokenizer=tokenizer,
        loss=loss,
        query=query,
        weights=weights,
        out=out,
        most_bytes=most_bytes,
    )


def lesson(which: int | str | os.PathLike[str], lang: str = "en") -> Lesson:
    """A lesson: by its number or name in the course, or one of your own by its file (.md).

    It shows itself in a notebook; ``text``, ``notebook`` and ``page`` are all of it in one of three forms, and
    ``sitting`` asks, gives hints and checks answers.

    >>> lesson("library").title
    'One input, three roles'

    Errors: ``UnknownName`` for one that is not there, ``ExampleError`` with line and column for a file that is wrong.
    """
    from .lessons import packaged
    from .words import language

    return packaged.lesson(which, _makers(), language(lang))


def _makers() -> Makers:
    """What lessons need of the makers of a Trace: examples by name, also with something changed, and saved readings."""
    from .lessons.lesson import Makers
    from .sources.example import attended
    from .sources.example import load as opened
    from .sources.example_edit import edited

    return Makers(_record_of, lambda name, change: attended(edited(opened(name), change)))


def _record_of(name: str) -> Trace | Reading:
    """What a lesson calls by a name: an example attended to, or a record that was saved."""
    from .sources.example import Example, attended

    found = load(name)
    if isinstance(found, Example):
        return attended(found)
    if isinstance(found, Trace | Reading):
        return found
    raise InputError(
        en=f"a lesson reads an example, a Trace or a Reading, not a {type(found).__name__} ({name}).",
        ko=f"레슨은 예제, Trace, Reading을 읽는데 {name}은(는) {type(found).__name__}입니다.",
    )


def measure(
    model: Any,
    corpus: Any = None,
    tokenizer: Any = None,
    *,
    folder: str | os.PathLike[str] | None = None,
    engine: str = "local",
    workers: int | None = None,
    limit: int | None = None,
    repeated: int | None = None,
    roles: Collection[str] | None = None,
    seed: int = 0,
    restart: bool = False,
    dtype: str | None = None,
    allow_pickle: bool = False,
    batch_tokens: int = 1024,
    shard_tokens: int = 16_384,
    progress: MeasureProgress | None = None,
    lacking: Callable[[Sequence[str]], None] | None = None,
) -> Measured:
    """What every head of a model does over a corpus: role by role a score, the best trivial rule's, and whether that is evidence.

    model : the folder of a model, its name in the local cache, or "demo"; or a PyTorch module, with its ``tokenizer``
    corpus : a text file with a sentence on each line, a ``.conllu`` file with annotated words, or texts
    folder : where the run is kept: stopped or killed, the same call goes on; ``restart`` begins anew. Needs PyArrow
    engine : "local", on ``workers`` processes (all processors where it is None); or "ray", on a Ray cluster
    limit : how many sentences at most
    repeated : random tokens in place of a corpus: so many, and the same again; ``limit`` such sequences, else 128
    roles : names from ``jumok roles``; None for all that the corpus has
    seed : of the intervals, of what is drawn for examples, and of repeated tokens
    batch_tokens : what is read together, padding included;  shard_tokens : what a kill costs at most, for each worker
    progress : called with tokens done, their number, tokens per second and seconds left
    lacking : called before anything is measured, with the roles that have no case because the model does not read ahead

    Errors: ``InputError`` for a model, corpus or option that does not fit; ``ExampleError`` with line and column of the corpus;
    ``OutputError`` for a folder that holds another run or cannot be written; ``MissingExtra``.
    Source: Clark et al. 2019; Voita et al. 2019; Olsson et al. 2022; ``jumok roles`` names the source of each role.
    """
    from . import __version__
    from .measurement.running.run import Asked, measured

    is_module = not isinstance(model, (str, os.PathLike))
    asked = Asked(
        _opener(model, tokenizer, dtype, allow_pickle), not is_module and tokenizer is None, corpus, limit, folder, restart,
        engine, workers, roles, seed, repeated, batch_tokens, shard_tokens, lacking,
    )  # fmt: skip
    return measured(asked, __version__, progress)


def serve(
    *files: str | os.PathLike[str],
    model: str | os.PathLike[str] | None = None,
    corpus: str | os.PathLike[str] | None = None,
    host: str = "127.0.0.1",
    port: int | None = None,
    work: str | os.PathLike[str] | None = None,
    allow_code: bool = False,
    open_browser: bool = False,
    lang: str | None = None,
) -> None:
    """The page with a live Python behind it, for yourself or a class, until Ctrl-C. Its link is printed.

    files : what it shows besides the packaged examples: example files, saved records and runs, folders of ``measure``
    model : the folder of a model, its name in the local cache, or "demo", which reads what visitors type
    corpus : what visitors may measure that model over
    host : "127.0.0.1", this computer alone; any other address makes a link with a secret, "0.0.0.0" is for a class
    port : None for 8765, or a free one;  work : the folder in which everything is kept, None for one of your own
    allow_code : True to check the code of lessons, on this computer only: it runs with limits, but in no sandbox
    lang : that pages begin in, "ko" or "en"; None for what each browser prefers

    Errors: ``InputError`` for a file, model or address that cannot be used; ``OutputError`` for the work folder;
    ``MissingExtra`` without the extra ``serve``.
    """
    from .server.serving import serve as served

    def opened(started: Any) -> None:
        print(started.url, flush=True)  # noqa: T201 (a link, which whoever called this needs)
        if open_browser:
            import webbrowser

            webbrowser.open(started.url)

    served(
        files, model=model, corpus=corpus, host=host, port=port, work=work, allow_code=allow_code, lang=lang, opened=opened
    )  # fmt: skip


def _opener(model: Any, tokenizer: Any, dtype: str | None, allow_pickle: bool) -> Callable[[], Any]:
    """What opens a model to be measured, here or in another process."""
    from functools import partial

    try:
        from .sources.capture import batches
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtra(extra="models", package="torch") from error
    if isinstance(model, (str, os.PathLike)) and tokenizer is None:
        return partial(batches.open_folder, os.fspath(model), dtype, allow_pickle)
    return partial(batches.open_module, model, tokenizer, dtype, allow_pickle)
