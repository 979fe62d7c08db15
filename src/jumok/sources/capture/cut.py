"""What an arrow does: the program is run again without one attention weight, one row or one head, and its output compared."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ...errors import InputError
from ...tokens import Token, position
from ...trace import Trace
from .cut_words import sentences
from .found import Found
from .interface import Interface
from .watch import Watch
from .watching import watching

__all__ = ["Change", "Cut", "Guess", "Guesses", "Place", "Rerun", "cut"]

N_GUESSES = 5
Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Guess:
    """One word that the model may write: its probability before and after the cut."""

    text: str
    before: float
    after: float


@dataclass(frozen=True)
class Guesses:
    """What the model expects at one place, before and after.

    position : of the token it stands at;  words : the likeliest of both, the likeliest before first
    moved : the probability that went elsewhere, half of Σ|after − before|;  logits : the norm of the logits' difference
    """

    position: int
    words: tuple[Guess, ...]
    moved: float
    logits: float


@dataclass(frozen=True)
class Change:
    """How far one token's output vector moved.

    norm : of the difference;  relative : the same by the length it had;  cosine : of the vector before and after
    """

    position: int
    norm: float
    relative: float
    cosine: float


@dataclass(frozen=True)
class Cut:
    """What changes in a model's output when a part of one head's attention is taken away.

    query, key : what was cut; key None: the whole row; query None: for every token; both None: the whole head
    at : their positions in the layer
    weight : the weight that was taken away (the mean over the queries where it was several); None for rows and heads
    way : "zero" (nothing in its place), "renormalised" (the rest of the row shared out anew, as if the key were masked)
        or "mean" (in its place the mean of what the head hands over, over all tokens)
    tokens : of the output, as they stand in the text
    kind : "next" (words that follow), "word" (words at their own place), "vectors", or "numbers" (one output for all)
    changes : (token,) of the output vectors or logits;  guesses : at the query and at the last token, of words
    """

    layer: int
    head: int
    query: Token | None
    key: Token | None
    at: tuple[int | None, int | None]
    weight: float | None
    way: str
    tokens: tuple[Token, ...]
    kind: str
    changes: tuple[Change, ...]
    guesses: tuple[Guesses, ...] = ()

    def text(self, lang: str = "en") -> str:
        """What was cut and what it changed, in a few sentences, ``"en"`` or ``"ko"``."""
        return sentences(self, lang)

    def __str__(self) -> str:
        return self.text()

    def to_json(self) -> dict[str, Any]:
        """All of it as plain JSON."""
        return {"format": "jumok-cut", "version": 1, **dataclasses.asdict(self)}


@dataclass(frozen=True)
class Place:
    """Where one layer of a reading stands in the program.

    calls : which attention calls of the run hold its heads;  heads : (head,) places among their leading axes, call by call
    n_lead : how many places one call has;  item : which sequence of the batch
    queries, keys : (query of the call,), (key of the call,) which of them the reading has
    """

    calls: tuple[int, ...]
    heads: npt.NDArray[np.int64]
    n_lead: int
    item: int
    queries: npt.NDArray[np.bool_]
    keys: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Rerun:
    """How the program is run again; nothing is held but references.

    run : does it again and gives its output;  model : whose attention it is, or None for any code
    word : the text of a word by its number, or None where there is no tokenizer
    sentence : the text that the tokens' spans point into, or None
    writes : True where the output's words follow the token they stand at
    """

    run: Callable[[], Any]
    model: Any = None
    word: Callable[[int], str] | None = None
    writes: bool | None = None
    sentence: str | None = None

    def seen(self, token: Token) -> Token:
        """A token as it stands in the text."""
        if token.span is None or self.sentence is None:
            return token
        return Token(self.sentence[slice(*token.span)].strip() or token.text, token.span)


def cut(
    trace: Trace,
    place: Place,
    again: Rerun,
    layer: int,
    head: int,
    query: Any = None,
    key: Any = None,
    way: str = "zero",
) -> Cut:
    """Run the program with and without a part of one head's attention.

    Errors: ``InputError`` for a head, token or way that is not there, a row that has nothing left, or a program that does
    not do again what was read.
    """
    _refuse_way(way, key)
    head = position("head", "헤드", head, trace.n_heads)
    asks = None if query is None else trace.index(query)
    read = None if key is None else trace.key_index(key)
    edit = _edit(trace, place, head, asks, read, way)
    before = _output(again.run())
    edits = Edits(edit)
    with edits.watching(again.model):
        after = _output(again.run())
    if edits.n_done != 1:
        raise _not_the_same()
    weights = None if read is None else trace.rows("weights", None if asks is None else [asks], [head])[0, :, read]
    return _compared(
        trace, place, again, before, after,
        Cut(
            layer, head, None if asks is None else again.seen(trace.tokens[asks]),
            None if read is None else again.seen(trace.read_tokens[read]), (asks, read),
            None if weights is None else float(weights.mean()), way, (), "vectors", (),
        ), asks,
    )  # fmt: skip


def _refuse_way(way: str, key: Any) -> None:
    ways = ("zero", "mean") if key is None else ("zero", "renormalised")
    if way not in ways:
        what, what_ko = ("a row or a head", "행이나 헤드") if key is None else ("one weight", "가중치 하나")
        raise InputError(
            en=f"cutting {what} is done in one of these ways: {', '.join(ways)}; got {way!r}.",
            ko=f"{what_ko}를 끊는 방법은 {', '.join(ways)} 가운데 하나인데 {way!r}이(가) 왔습니다.",
        )


# what is changed ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Edit:
    """New mixed values for some queries of one head.

    call : which call of the run;  at : the head's place among its leading axes;  rows : its queries
    old, values : (query, d_value) what stands there, and what is put there or (``added``) added to it
    """

    call: int
    at: int
    rows: npt.NDArray[np.int64]
    old: Doubles
    values: Doubles
    added: bool


def _edit(trace: Trace, place: Place, head: int, query: int | None, key: int | None, way: str) -> _Edit:
    if not place.calls:
        raise InputError(
            en="this reading was joined from several runs with a cache, so no single run can be done without a weight. "
            "Capture the whole text in one run, then cut.",
            ko="이 기록은 캐시를 쓰며 여러 번 실행한 것을 이은 것이라, 가중치 하나를 빼고 다시 실행할 수 없습니다. 글 전체를 한 번에 "
            "읽은 다음 끊으십시오.",
        )
    queries = list(range(trace.n_queries)) if query is None else [query]
    weights = trace.rows("weights", queries, [head])[0].astype(np.float64)
    v = trace.v[head // (trace.n_heads // trace.n_kv_heads)].astype(np.float64)
    old = weights @ v
    if key is None:
        mean = trace.rows("mixed", heads=[head])[0].astype(np.float64).mean(axis=0)
        values = np.broadcast_to(mean if way == "mean" else np.zeros_like(mean), old.shape)
    else:
        values = _without(trace, weights, key, way) @ v - old
    call, at = divmod(int(place.heads[head]), place.n_lead)
    return _Edit(place.calls[call], at, np.flatnonzero(place.queries)[queries], old, values, key is not None)


def _without(trace: Trace, weights: Doubles, key: int, way: str) -> Doubles:
    """(query, key) the rows without one key; the rest as it was, or shared out anew."""
    rest = weights.copy()
    rest[:, key] = 0
    if way == "zero":
        return rest
    sink = 1 - weights.sum(axis=1) if trace.rule.sink is not None else 0.0
    left = rest.sum(axis=1) + sink
    cut_off = (weights[:, key] > 0) & (left < 1e-6)
    if cut_off.any():
        token = trace.tokens[int(np.flatnonzero(cut_off)[0])].text if len(weights) > 1 else ""
        raise InputError(
            en=f"the row{f' of {token!r}' if token else ''} has all its weight on this key, so nothing is left to share it out "
            f"to. Cut without renormalising.",
            ko=f"{f'{token!r}의 ' if token else '이 '}행은 가중치가 모두 이 키에 있어서 다시 나눌 곳이 없습니다. 다시 나누지 말고 "
            f"끊으십시오.",
        )
    return np.where((weights[:, key] > 0)[:, None], rest / np.maximum(left, 1e-6)[:, None], rest)


class Edits:
    """Stands where a capture collects its calls: counts them, and changes the mixed values of one."""

    def __init__(self, edit: _Edit) -> None:
        self.n_done = 0
        self._edit, self._n = edit, 0

    def append(self, found: Found) -> None:
        """One more call; those that were put side by side have been counted before."""
        if not found.calls:
            found.calls = (self.count(),)

    def remove(self, found: Found) -> None:
        """Nothing: a call that becomes part of another has been counted."""

    def count(self) -> int:
        """The number of this call."""
        self._n += 1
        return self._n

    def watching(self, model: Any) -> Any:
        """A context manager in which a program runs with its mixed values changed."""
        return watching(model, self, _EditedInterface, _EditedWatch)

    def apply(self, call: int, mixed: Any) -> None:
        """Change (lead …, query, d_value) of a call, if it is the one."""
        edit = self._edit
        if call != edit.call:
            return
        self.n_done += 1
        lead = tuple(mixed.shape[:-2])
        if edit.at >= math.prod(lead) or edit.rows.max() >= mixed.shape[-2] or edit.old.shape[1] != mixed.shape[-1]:
            raise _not_the_same()
        row = mixed[tuple(int(at) for at in np.unravel_index(edit.at, lead))] if lead else mixed
        rows = torch.from_numpy(edit.rows).to(row.device)
        there = row[rows].double()
        if not torch.allclose(there, torch.from_numpy(edit.old).to(row.device), rtol=0.05, atol=_rough(edit.old)):
            raise _not_the_same()
        values = torch.from_numpy(np.array(edit.values)).to(row.device)
        row[rows] = (there + values if edit.added else values).to(row.dtype)


def _rough(old: Doubles) -> float:
    """Well above rounding, also of half precision."""
    return 0.05 * float(np.abs(old).max(initial=0.0)) + 1e-6


class _EditedInterface(Interface):
    def called(self, module: Any, given: Any, options: dict[str, Any], mixed: Any) -> None:  # noqa: ARG002
        self.found.apply(self.found.count(), mixed.transpose(1, 2))


class _EditedWatch(Watch):  # type: ignore[no-untyped-call]
    found: Any

    def handed_over(self, found: Found, mixed: Any) -> None:
        self.found.apply(found.calls[0], mixed)


def _not_the_same() -> InputError:
    return InputError(
        en="the program did not do again what was read, so nothing can be said of the cut. Give run= the same code on the "
        "same input, without random parts.",
        ko="프로그램이 읽을 때와 다르게 움직여서 끊은 결과를 말할 수 없습니다. run=에 같은 입력으로 같은 코드를 실행하는 함수를 주고, "
        "무작위 부분은 빼십시오.",
    )


# what came of it ----------------------------------------------------------------------------------


def _output(out: Any) -> Any:
    """The tensor that says what the program did: logits, else the last hidden state, else the first there is."""
    if isinstance(out, torch.Tensor):
        return out.detach().clone()
    parts = dict(out) if isinstance(out, Mapping) else dict(enumerate(out)) if isinstance(out, (tuple, list)) else {}
    for name in ("logits", "last_hidden_state", *parts):
        if isinstance(parts.get(name), torch.Tensor) and parts[name].is_floating_point() and parts[name].dim() > 1:
            return parts[name].detach().clone()
    raise InputError(
        en=f"the program gave back no tensor to compare, but {type(out).__name__}. Let run= return its output.",
        ko=f"프로그램이 비교할 텐서가 아니라 {type(out).__name__}을(를) 돌려주었습니다. run=이 출력을 돌려주게 하십시오.",
    )


def _compared(trace: Trace, place: Place, again: Rerun, before: Any, after: Any, cut: Cut, query: int | None) -> Cut:
    n = len(place.queries)
    a, b = (_of_item(one, place.item, n) for one in (before, after))
    own = len(a) == n
    where = np.flatnonzero(place.queries) if own else np.arange(len(a))
    tokens = tuple(map(again.seen, trace.tokens)) if own else tuple(Token(str(at)) for at in range(len(a)))
    a, b = (one[torch.from_numpy(where)].double().cpu() for one in (a, b))
    changes = tuple(_change(at, a[at], b[at]) for at in range(len(a)))
    kind = "numbers" if before.dim() < 3 and len(a) == 1 else "vectors"
    guesses: tuple[Guesses, ...] = ()
    if again.word is not None and a.shape[1] == _n_words(again.model):
        kind = "next" if again.writes else "word"
        last = len(a) - 1
        places = dict.fromkeys([last] if query is None or not own else [query, last])
        guesses = tuple(_guesses(at, a[at], b[at], again.word) for at in places)
    return dataclasses.replace(cut, tokens=tokens, kind=kind, changes=changes, guesses=guesses)


def _of_item(output: Any, item: int, n: int) -> Any:
    """(token, width) of one sequence; of an output without tokens, one row."""
    if output.dim() > 2:
        if output.shape[1] != n and output.shape[0] == n:  # (token, batch, width)
            output = output.transpose(0, 1)
        return output[min(item, len(output) - 1)].reshape(output.shape[1], -1)
    return output if len(output) == n else output[min(item, len(output) - 1)][None]


def _n_words(model: Any) -> int | None:
    embedding = model.get_output_embeddings() if hasattr(model, "get_output_embeddings") else None
    weight = getattr(embedding, "weight", None)
    return None if weight is None else int(weight.shape[0])


def _change(at: int, a: Any, b: Any) -> Change:
    norm, long = float((b - a).norm()), float(a.norm())
    cosine = float(torch.dot(a, b) / (a.norm() * b.norm()).clamp_min(1e-300))
    return Change(at, norm, norm / long if long else 0.0, min(1.0, cosine))


def _guesses(at: int, a: Any, b: Any, word: Callable[[int], str]) -> Guesses:
    p, q = a.softmax(-1), b.softmax(-1)
    most = dict.fromkeys(
        [*p.topk(min(N_GUESSES, len(p))).indices.tolist(), *q.topk(min(N_GUESSES, len(q))).indices.tolist()]
    )
    words = tuple(Guess(word(one), float(p[one]), float(q[one])) for one in most)
    return Guesses(at, words, float((q - p).abs().sum() / 2), float((b - a).norm()))
