"""One step of training, explained: what the gradient of one sequence asks of each stage, and which weight moved."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..history import History
from ..path.gradients import Gradients
from ..tokens import token_index, token_names
from ..trace import Floats, Trace
from ..words import LANGS, fill, language
from .explanation import Section
from .facts import Fact, dims_of, names_of

__all__ = ["StepExplanation", "explain_step"]

FEW = 4  # keys and dimensions that are told; the rest are smaller
SAME = 1e-3  # a move that differs by no more from −(learning rate) × gradient is that

TITLES = {
    "step": ("Step {step:int}: what is to change", "{step:int}단계: 무엇을 바꾸려 하는가"),
    "output": ("1. Output", "1. 출력"),
    "weights": ("2. Attention weights", "2. 어텐션 가중치"),
    "softmax": ("3. Softmax", "3. 소프트맥스"),
    "scores": ("4. Scores, queries and keys", "4. 점수와 쿼리, 키"),
    "matrices": ("5. W_Q, W_K, W_V", "5. W_Q, W_K, W_V"),
    "moved": ("What the step did", "이 단계에서 실제로 바뀐 것"),
}

PHRASES = {
    "about": (
        "The gradient says how the loss changes when a number grows a little; a step goes against it. Here it is of the loss on "
        "this sequence alone, at {token}, in layer {layer:int}, head {head:int} (numbers are rounded).",
        "기울기(gradient)는 수를 조금 키우면 손실이 얼마나 변하는지를 말하고, 한 단계는 그 반대쪽으로 갑니다. 여기서는 이 문장만의 "
        "손실에 대한 기울기를 {token} 자리, {layer:int}층, {head:int}번 헤드에서 봅니다(수는 반올림했습니다).",
    ),
    "loss": (
        "Loss of this step's batch: {loss:n}.",
        "이 단계에서 쓴 묶음(batch)의 손실: {loss:n}.",
    ),
    "output": (
        "dL/d(output) at {token} has the length {length:n}; its largest entries: {dims:dims}.",
        "{token} 자리의 dL/d(출력)의 길이는 {length:n}이고, 가장 큰 성분은 {dims:dims}입니다.",
    ),
    "output.none": (
        "The loss reads the weights of this row themselves, not the output, so nothing is asked of W_V.",
        "손실이 출력이 아니라 이 행의 가중치를 직접 보므로, W_V에는 아무것도 바라지 않습니다.",
    ),
    "weight": (
        "{key}: a little more weight changes the loss by {gradient:n} per 1{wish:text}; its weight now is {weight:n}.",
        "{key}: 가중치를 조금 늘리면 손실은 1마다 {gradient:n}만큼 변합니다{wish:text}. 지금의 가중치는 {weight:n}입니다.",
    ),
    "weight.how": (
        "For each key that is dL/d(mixed) · value:",
        "키마다 dL/d(mixed)와 밸류의 내적입니다.",
    ),
    "weight.direct": (
        "For each key that is −wanted ÷ weight, the slope of wanted · ln(wanted ÷ weight):",
        "키마다 −(바라는 값) ÷ (지금의 가중치)이며, 바라는 값 · ln(바라는 값 ÷ 가중치)의 기울기입니다.",
    ),
    "softmax.average": (
        "The weights of a row share 1, so only what differs from their average counts: Σ weight × dL/d(weight) = {average:n}.",
        "한 행의 가중치는 1을 나누어 가지므로 평균과 다른 만큼만 뜻이 있습니다. Σ 가중치 × dL/d(가중치) = {average:n}.",
    ),
    "softmax": (
        "{key}: {weight:n} × ({gradient:n} - {average:b}) = {scaled:n}",
        "{key}: {weight:n} × ({gradient:n} - {average:b}) = {scaled:n}",
    ),
    "scores.root": (
        "Divided by √{d_head:int} these are dL/d(score). A step wants the scores of {up:names} higher{down:text}.",
        "√{d_head:int}로 나누면 dL/d(점수)입니다. 이 단계는 {up:names}의 점수를 높이려 합니다{down:text}.",
    ),
    "scores.scale": (
        "Times the scale {scale:n} these are dL/d(score). A step wants the scores of {up:names} higher{down:text}.",
        "스케일 {scale:n}을 곱하면 dL/d(점수)입니다. 이 단계는 {up:names}의 점수를 높이려 합니다{down:text}.",
    ),
    "scores.still": (
        "All of these are 0: this row asks for no change.",
        "모두 0입니다. 이 행에는 바꿀 것이 없습니다.",
    ),
    "q": (
        "The query collects the keys, each times its dL/d(score): {rows:rows}{more:text}; dL/dq has the length {length:n}.",
        "쿼리의 기울기는 각 키에 dL/d(점수)를 곱해 더한 것입니다: {rows:rows}{more:text}. dL/dq의 길이는 {length:n}입니다.",
    ),
    "matrix.q": (
        "dL/dW_Q = Σ over tokens of x ⊗ dL/dq (an outer product each){rank:text}. Largest: row {row:dim}, column {column:int} of head "
        "{head:int}: at {token} {x:b} × {d:b} = {product:n}{rest:text}.",
        "dL/dW_Q = 토큰마다 x ⊗ dL/dq(외적)를 구해 더한 것입니다{rank:text}. 가장 큰 곳은 {row:dim} 행, {head:int}번 헤드의 {column:int}열입니다. "
        "{token} 자리에서 {x:b} × {d:b} = {product:n}{rest:text}.",
    ),
    "matrix.k": (
        "dL/dW_K = Σ over tokens of x ⊗ dL/dk{rank:text}. Largest: row {row:dim}, column {column:int} of head {head:int}: at {token} "
        "{x:b} × {d:b} = {product:n}{rest:text}.",
        "dL/dW_K = 토큰마다 x ⊗ dL/dk를 구해 더한 것입니다{rank:text}. 가장 큰 곳은 {row:dim} 행, {head:int}번 헤드의 {column:int}열입니다. "
        "{token} 자리에서 {x:b} × {d:b} = {product:n}{rest:text}.",
    ),
    "matrix.v": (
        "dL/dW_V = Σ over tokens of x ⊗ dL/dv{rank:text}. Largest: row {row:dim}, column {column:int} of head {head:int}: at {token} "
        "{x:b} × {d:b} = {product:n}{rest:text}.",
        "dL/dW_V = 토큰마다 x ⊗ dL/dv를 구해 더한 것입니다{rank:text}. 가장 큰 곳은 {row:dim} 행, {head:int}번 헤드의 {column:int}열입니다. "
        "{token} 자리에서 {x:b} × {d:b} = {product:n}{rest:text}.",
    ),
    "matrix.none": (
        "dL/d{matrix:e} = 0: nothing here asks for a change of it.",
        "dL/d{matrix:e} = 0입니다. 여기에는 바꿀 까닭이 없습니다.",
    ),
    "moved": (
        "{matrix:e} moved most in row {row:dim}, column {column:int}: {before:e} → {after:e} ({change:e}).",
        "{matrix:e}에서 가장 많이 움직인 곳은 {row:dim} 행, {column:int}열입니다: {before:e} → {after:e} ({change:e}).",
    ),
    "moved.plain": (
        "That is −{learning_rate:n} × {gradient:b}: plain gradient descent, −(learning rate) × dL/dW.",
        "이는 −{learning_rate:n} × {gradient:b}, 곧 −(학습률) × dL/dW인 경사 하강법입니다.",
    ),
    "moved.adam": (
        "The step follows the whole batch, and Adam divides each entry's gradient by its usual size, so nearly all entries move "
        "equally far (half of those of W_Q by {typical:e} or more): the most moved one need not have the largest gradient here.",
        "이 단계는 묶음 전체의 기울기를 따르고, Adam은 성분마다 기울기를 평소 크기로 나눕니다. 그래서 거의 모든 성분이 비슷하게 움직이며"
        "(W_Q 성분의 절반은 {typical:e} 이상), 가장 많이 움직인 곳이 여기서 기울기가 가장 큰 곳은 아닐 수 있습니다.",
    ),
    "moved.own": (
        "What was kept does not say how the optimizer makes a move of a gradient, nor with which other sequences, so the most "
        "moved entry need not have the largest gradient here (half of the entries of W_Q moved by {typical:e} or more).",
        "옵티마이저가 기울기를 어떻게 움직임으로 바꾸는지, 다른 어떤 문장이 함께 쓰였는지는 기록에 없습니다. 그래서 가장 많이 움직인 곳이 여기서 기울기가 가장 "
        "큰 곳은 아닐 수 있습니다(W_Q 성분의 절반은 {typical:e} 이상 움직였습니다).",
    ),
    "moved.still": ("{matrix:e} did not move.", "{matrix:e}는 움직이지 않았습니다."),
    "moved.unknown": (
        "The next snapshot is of step {next:int}, so what this one step did was not kept; the first ten steps are kept one by one.",
        "다음 스냅샷은 {next:int}단계의 것이라 이 한 단계의 변화는 남아 있지 않습니다. 처음 열 단계는 하나씩 남아 있습니다.",
    ),
    "moved.last": ("This is the last snapshot.", "마지막 스냅샷입니다."),
}

PIECES = {
    "more": (" + {n:int} smaller", " + 작은 것 {n:int}개"),
    "wanted": (" (wanted: {wanted:n})", "(바라는 값: {wanted:n})"),
    "down": (", of {names:names} lower", ". {names:names}의 점수는 낮추려 합니다"),
    "one": (", here of {token} alone", ". 여기서는 {token} 하나뿐입니다"),
    "rest": ("; with all tokens {whole:n}", ". 모든 토큰을 더하면 {whole:n}"),
}
PIECE_NAMES = ("wish", "down", "more", "rank", "rest")
ENTRIES = {"weight", "softmax"}


@dataclass(frozen=True)
class StepExplanation:
    """One step of training on one sequence: facts without language, and sentences made of them.

    facts : in the order in which the gradient flows;  step : the snapshot's step;  lang : the language of ``str()``
    """

    facts: tuple[Fact, ...]
    step: int
    lang: str = "en"

    def sections(self, lang: str | None = None) -> list[Section]:
        """The sentences, stage by stage, in a language."""
        at = LANGS.index(self.lang if lang is None else language(lang))
        found = []
        for name, facts in itertools.groupby(self.facts, key=lambda fact: fact.section):
            title = fill(TITLES[name][at], {"step": self.step}, LANGS[at])
            lines = tuple((fact.kind in ENTRIES, self.sentence(fact, LANGS[at])) for fact in facts)
            found.append(Section(name, title, lines))
        return found

    def text(self, lang: str | None = None) -> str:
        """All sentences as plain text, in a language."""
        parts = [
            "\n".join([section.title, *(f"   {'- ' if is_entry else ''}{line}" for is_entry, line in section.lines)])
            for section in self.sections(lang)
        ]
        return "\n\n".join(parts) + "\n"

    def sentence(self, fact: Fact, lang: str | None = None) -> str:
        """One fact as a sentence."""
        lang = self.lang if lang is None else language(lang)
        at = LANGS.index(lang)
        data = dict(fact.data)
        for name in PIECE_NAMES:
            piece = data.get(name)
            if name in data:
                data[name] = "" if piece is None else fill(PIECES[piece[0]][at], piece[1], lang)
        return fill(PHRASES[fact.kind][at], data, lang)

    def to_json(self) -> dict[str, Any]:
        """Facts and sentences as plain JSON."""
        facts = [fact.to_json() for fact in self.facts]
        return {"step": self.step, "facts": facts, "text": {lang: self.text(lang) for lang in LANGS}}

    def __str__(self) -> str:
        return self.text()


def explain_step(
    history: History,
    step: int = 0,
    probe: int = 0,
    *,
    layer: int | None = None,
    token: int | str | None = None,
    lang: str = "en",
) -> StepExplanation:
    """What one step of training asks of the five stages of attention, and which weights moved.

    history : of a training that kept gradients at its probes;  step : of the snapshot, or the last before it
    probe : which sequence;  layer : None for the last one;  token : whose row; None for the one worth looking at
    lang : "en" or "ko"

    Errors: ``InputError`` for a history without gradients, a layer with rotary positions, positions out of range;
    ``UnknownName`` for a token or language.
    """
    language(lang)
    told = _Step(history, history.snapshot(step), probe, len(history.layers) - 1 if layer is None else layer, token)
    return StepExplanation(tuple(told.facts()), history.steps[told.at], lang)


class _Step:
    """One snapshot, probe, layer and row, and the head in which the gradient is strongest."""

    def __init__(self, history: History, at: int, probe: int, layer: int, token: int | str | None) -> None:
        self.history, self.at, self.layer = history, at, layer
        self.trace = history.trace(history.steps[at], probe, layer)
        self.probe = history.probes[probe]
        arrays = self.probe.arrays[layer]
        _refuse_without_gradient(self.trace, arrays)
        output, direct = (arrays[name][at] if name in arrays else None for name in ("gradient", "weights_gradient"))
        self.gradients = Gradients(self.trace.steps, output, None if output is not None else direct)
        query = self.probe.query if token is None else token_index(self.trace.tokens, token)
        self.query = self.trace.n_tokens - 1 if query is None else query
        self.head = int(np.abs(self.gradients.scores[:, self.query]).sum(axis=-1).argmax())
        self.tokens = token_names(self.trace.tokens)
        self.learning_rate = history.settings.get("learning_rate")  # None of a loop that is somebody else's

    def fact(self, section: str, kind: str, **data: Any) -> Fact:
        return Fact(section, kind, {"token": self.tokens[self.query]} | data, self.head, self.layer)

    def facts(self) -> Iterator[Fact]:
        yield self.fact("step", "about", layer=self.layer, head=self.head)
        if self.history.steps[self.at] < len(self.history.loss):
            yield self.fact("step", "loss", loss=float(self.history.loss[self.history.steps[self.at]]))
        yield from self._output()
        yield from self._weights()
        yield from self._scores()
        for name in "qkv":
            yield self._matrix(name)
        yield from self._moved()

    @property
    def strongest(self) -> list[int]:
        """The keys whose score is to change most."""
        row = np.abs(self.gradients.scaled[self.head, self.query])
        order = [int(key) for key in np.argsort(-row, kind="stable")[:FEW]]
        return sorted(key for key in order if self.trace.allowed[self.query, key])

    def _output(self) -> Iterator[Fact]:
        if self.gradients.output is None:
            yield self.fact("output", "output.none")
            return
        row = self.gradients.output[self.query]
        names: Any = names_of(self.trace, "output") or list(range(len(row)))
        largest = dims_of(row, names)[:FEW]
        yield self.fact("output", "output", length=float(np.linalg.norm(row)), dims=largest)

    def _weights(self) -> Iterator[Fact]:
        head, query, g = self.head, self.query, self.gradients
        wanted = self.history.task.get("wanted", {}).get(str(query))
        yield self.fact("weights", "weight.direct" if g.output is None else "weight.how")
        for key in self.strongest:
            yield self.fact(
                "weights",
                "weight",
                key=self.tokens[key],
                gradient=float(g.weights[head, query, key]),
                weight=float(g.steps.weights[head, query, key]),
                wish=None if wanted is None else ["wanted", {"wanted": float(wanted[key])}],
            )
        average = float(g.average[head, query, 0])
        yield self.fact("softmax", "softmax.average", average=average)
        for key in self.strongest:
            yield self.fact(
                "softmax",
                "softmax",
                key=self.tokens[key],
                weight=float(g.steps.weights[head, query, key]),
                gradient=float(g.weights[head, query, key]),
                average=average,
                scaled=float(g.scaled[head, query, key]),
            )

    def _scores(self) -> Iterator[Fact]:
        row = self.gradients.scores[self.head, self.query]
        up = [self.tokens[key] for key in self.strongest if row[key] < 0]
        down = [self.tokens[key] for key in self.strongest if row[key] > 0]
        if not up:
            yield self.fact("scores", "scores.still")
            return
        rule = self.trace.rule
        lower = ["down", {"names": down}] if down else None
        if rule.scale is None:
            yield self.fact("scores", "scores.root", d_head=self.trace.d_head, up=up, down=lower)
        else:
            yield self.fact("scores", "scores.scale", scale=rule.scale, up=up, down=lower)
        rows = [[self.tokens[key], float(row[key])] for key in self.strongest]
        length = float(np.linalg.norm(self.gradients.q[self.head, self.query]))
        n_more = int(np.count_nonzero(row)) - int(np.count_nonzero(row[self.strongest]))
        more = ["more", {"n": n_more}] if n_more else None
        yield self.fact("scores", "q", rows=rows, more=more, length=length)

    def _matrix(self, name: str) -> Fact:
        """The largest entry of dL/dW, and the outer product that it comes from."""
        x = self.trace.x
        assert x is not None
        whole = self.gradients.of_projection(name, x)
        if whole is None or not np.any(whole):
            return self.fact("matrices", "matrix.none", matrix=f"W_{name.upper()}")
        row, column = np.unravel_index(int(np.abs(whole).argmax()), whole.shape)
        at_stage = getattr(self.gradients, name)
        head, inside = divmod(int(column), at_stage.shape[2])
        products = x[:, row] * at_stage[head, :, inside]
        token = int(np.abs(products).argmax())
        silent = np.flatnonzero(np.abs(at_stage).sum(axis=(0, 2)) > 0)
        return self.fact(
            "matrices",
            f"matrix.{name}",
            token=self.tokens[token],
            row=self._row(int(row)),
            column=inside + 1,
            head=head,
            x=float(x[token, row]),
            d=float(at_stage[head, token, inside]),
            product=float(products[token]),
            rank=["one", {"token": self.tokens[token]}] if len(silent) == 1 else None,
            rest=None
            if np.isclose(products[token], whole[row, column])
            else ["rest", {"whole": float(whole[row, column])}],
        )

    def _row(self, row: int) -> Any:
        names = names_of(self.trace, "x")
        return row if names is None else names[row]

    def _moved(self) -> Iterator[Fact]:
        steps, weights = self.history.steps, self.history.layers[self.layer].weights
        if self.at + 1 == len(steps):
            yield self.fact("moved", "moved.last")
            return
        if steps[self.at + 1] != steps[self.at] + 1:
            yield self.fact("moved", "moved.unknown", next=steps[self.at + 1])
            return
        plain = True
        for name in ("w_q", "w_k", "w_v"):
            before, after = weights[name][self.at], weights[name][self.at + 1]
            yield self._most_moved(name, before, after)
            plain = plain and self._is_plain(name, before, after)
        if plain:
            yield self._by_gradient()
        else:
            change = np.abs(weights["w_q"][self.at + 1] - weights["w_q"][self.at])
            kind = "moved.own" if self.learning_rate is None else "moved.adam"
            yield self.fact("moved", kind, typical=_digits(np.median(change)))

    def _most_moved(self, name: str, before: Floats, after: Floats) -> Fact:
        change = after - before
        if not np.any(change):
            return self.fact("moved", "moved.still", matrix=name.upper())
        row, column = np.unravel_index(int(np.abs(change).argmax()), change.shape)
        return self.fact(
            "moved",
            "moved",
            matrix=name.upper(),
            row=self._row(int(row)),
            column=int(column) + 1,
            before=_digits(before[row, column]),
            after=_digits(after[row, column]),
            change=_digits(change[row, column], sign="+"),
        )

    def _is_plain(self, name: str, before: Floats, after: Floats) -> bool:
        """Whether a matrix went exactly against this sequence's own gradient."""
        if self.learning_rate is None:
            return False
        assert self.trace.x is not None
        gradient = self.gradients.of_projection(name[-1], self.trace.x)
        expected = 0 if gradient is None else -self.learning_rate * gradient
        return bool(np.allclose(after - before, expected, rtol=SAME, atol=1e-12))

    def _by_gradient(self) -> Fact:
        assert self.trace.x is not None
        gradient = self.gradients.of_projection("q", self.trace.x)
        assert gradient is not None
        largest = float(gradient.flat[int(np.abs(gradient).argmax())])
        return self.fact("moved", "moved.plain", learning_rate=self.learning_rate, gradient=largest)


def _digits(value: Any, sign: str = "") -> str:
    """A number with digits enough to see a small move."""
    return f"{float(value):{sign}.5g}"


def _refuse_without_gradient(trace: Trace, arrays: Any) -> None:
    if trace.x is None or trace.heads is None or not {"gradient", "weights_gradient"} & set(arrays):
        raise InputError(
            en="this history kept no gradient at its probes. Those of jumok.learn do; jumok.record keeps it for probes with a loss.",
            ko="이 학습 기록에는 살펴보는 문장의 기울기가 없습니다. jumok.learn의 기록에는 있고, jumok.record는 손실이 있는 문장에서만 남깁니다.",
        )
    if trace.heads.rotation is not None:
        raise InputError(
            en="the gradient of W_Q and W_K under rotary positions is not explained; another position encoding is.",
            ko="회전 위치(rotary)를 쓰는 층의 W_Q, W_K 기울기는 설명하지 않습니다. 다른 위치 인코딩은 설명합니다.",
        )
