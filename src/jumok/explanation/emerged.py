"""A training run → what came of it: facts without language, and sentences made of them.

What is read is the ``History`` and what was measured at its end, as plain JSON (``Learned.emerged``); of a task with a
wanted row also the Trace of the weights that a person wrote, to set the found ones beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..history import History, Probe
from ..tokens import token_name
from ..trace import Floats, Trace
from ..words import LANGS, by_language, fill, language, percent
from .explanation import Section
from .facts import Fact, names_of

__all__ = ["LAST", "MATTERS", "Outcome", "Trained", "forms", "learned", "outcome", "place", "row", "understood"]

MATTERS = 0.1  # accuracy; a smaller difference is called none
CLEAR = 0.5  # of a head's weight: where most of it lies
SAME = 1e-3  # weights that differ by less are shown as the same
LAST = 20  # steps whose mean loss is told as the last
MOST_KEYS = 4  # of a row told in a sentence
SECTIONS = ("task", "training", "row", "emerged", "form")

TITLES = {
    "task": ("What was to be learned", "무엇을 배우는가"),
    "training": ("How it went", "어떻게 배웠는가"),
    "row": ("One row, before and after", "한 행의 처음과 끝"),
    "emerged": ("What emerged", "무엇이 생겨났는가"),
    "form": ("Another W, the same row", "다른 W, 같은 행"),
}

PHRASES = {
    # task
    "about": ("{about:e}", "{about:e}"),
    "model": (
        "The model: layers {n_layers:int}, heads in each {n_heads:int}, d_model {d_model:int}; {steps:int} steps of "
        "{batch:int} sequences, "
        "learning rate {learning_rate:n}, seed {seed:int}.",
        "모델: 층 {n_layers:int}개, 층마다 헤드 {n_heads:int}개, d_model {d_model:int}. 문장 {batch:int}개씩 "
        "{steps:int}단계, 학습률 "
        "{learning_rate:n}, 시드 {seed:int}.",
    ),
    "model.row": (
        "One head on the example's own embeddings; {steps:int} steps of plain gradient descent, learning rate "
        "{learning_rate:n}, "
        "seed {seed:int}.",
        "예제의 임베딩을 그대로 쓰는 헤드 하나. 경사 하강법으로 {steps:int}단계, 학습률 {learning_rate:n}, 시드 "
        "{seed:int}.",
    ),
    # training
    "loss": (
        "The loss went from {first:n} to {last:n} nats (mean of the last {n:int} steps).",
        "손실은 {first:n}에서 {last:n} nat이 되었습니다(마지막 {n:int}단계의 평균).",
    ),
    "loss.own": (
        "The loss went from {first:n} to {last:n} (mean of the last {n:int} steps).",
        "손실은 {first:n}에서 {last:n}까지 바뀌었습니다(마지막 {n:int}단계의 평균).",
    ),
    "accuracy": (
        "Accuracy on what was held out: {accuracy:pct}. Without attention, from the asking token and its place alone, "
        "{alone:pct} can be reached; with the most frequent answer {chance:pct}.",
        "학습에서 뺀 것에서 잰 정확도: {accuracy:pct}. 어텐션 없이 묻는 토큰과 그 자리만 보고 얻을 수 있는 최선은 "
        "{alone:pct}, 가장 흔한 답만 내면 {chance:pct}입니다.",
    ),
    "accuracy.curve": (
        "On the way it was measured on fewer of these: there the last one is {last:pct}.",
        "배우는 동안에는 그 가운데 일부에서만 쟀습니다. 그 마지막 값은 {last:pct}입니다.",
    ),
    "accuracy.snapshot": (
        "Accuracy on what was held out, at the last snapshot: {accuracy:pct}.",
        "학습에서 뺀 것에서 마지막 스냅샷에 잰 정확도: {accuracy:pct}.",
    ),
    "unfinished": (
        "The training stopped at step {step:int} of {steps:int}, so what emerged was not measured yet.",
        "학습이 {steps:int}단계 가운데 {step:int}단계에서 멈췄으므로 무엇이 생겨났는지는 아직 재지 않았습니다.",
    ),
    "foreign": (
        "What emerged was measured in another form than this version of jumok knows, or on another model, so it is not "
        "told. Go on with the run (--resume) to have it measured anew.",
        "무엇이 생겨났는지 잰 값이 이 버전의 jumok이 아는 형식이 아니거나 다른 모델에서 잰 것이어서 말하지 않습니다. "
        "--resume으로 이 학습을 이어서 하면 새로 잽니다.",
    ),
    "reached": (
        "Of the weight of the wanted rows {off:n} still lies elsewhere (half the sum of the differences, mean over the "
        "rows).",
        "바라는 행의 가중치 가운데 아직 다른 곳에 있는 것은 {off:n}입니다(차이의 합의 절반, 행의 평균).",
    ),
    "sudden": (
        "The rise was sudden: at step {start:int} accuracy had gone a tenth of its way, at step {end:int} nine tenths. "
        "It waited "
        "longer than it rose.",
        "정확도가 갑자기 올랐습니다. {start:int}단계에 오를 길의 1/10을, {end:int}단계에 9/10를 지났습니다. 기다린 "
        "시간이 오른 시간보다 깁니다.",
    ),
    "gradual": (
        "The rise was not sudden: at step {start:int} accuracy had gone a tenth of its way, at step {end:int} nine tenths.",
        "정확도가 갑자기 오르지는 않았습니다. {start:int}단계에 오를 길의 1/10을, {end:int}단계에 9/10를 지났습니다.",
    ),
    "near": (
        "It came near step by step: at step {start:int} a tenth of the way was done, at step {end:int} nine tenths.",
        "조금씩 가까워졌습니다. {start:int}단계에 갈 길의 1/10을, {end:int}단계에 9/10를 지났습니다.",
    ),
    # row
    "row": (
        "{token}, layer {layer:int}, head {head:int} (counted from 0). At step {first:int}: {before:ranked}. At step "
        "{last:int}: {after:ranked}.",
        "{layer:int}층 {head:int}번 헤드(0부터 셉니다)의 {token}. {first:int}단계: {before:ranked}. {last:int}단계: "
        "{after:ranked}.",
    ),
    "row.only": (
        "{token}. At step {first:int}: {before:ranked}. At step {last:int}: {after:ranked}.",
        "{token}. {first:int}단계: {before:ranked}. {last:int}단계: {after:ranked}.",
    ),
    "row.reads": (
        "Its answer {answer} depends on {reads:names}: the weight there went from {before:pct} to {after:pct}.",
        "답 {answer:은/는} {reads:names}에 달려 있습니다. 그곳의 가중치는 {before:pct}에서 {after:pct}로 바뀌었습니다.",
    ),
    "pair.turns": (
        "With {other} in place of {word} the row turns: {first} {first_before:pct} and {second} {second_before:pct} become "
        "{first_after:pct} and {second_after:pct}.",
        "{word} 대신 {other:을/를} 넣으면 행이 돌아섭니다. {first} {first_before:pct}, {second} "
        "{second_before:pct}이던 것이 "
        "{first_after:pct}, {second_after:pct}가 됩니다.",
    ),
    "pair.stays": (
        "With {other} in place of {word} the row does not turn: {first} and {second} stand {before:ratio}, then "
        "{after:ratio}.",
        "{word} 대신 {other:을/를} 넣어도 행은 돌아서지 않습니다. {first:과/와} {second}의 비는 {before:ratio}, 그리고 "
        "{after:ratio}입니다.",
    ),
    "pair.one_layer": (
        "In one layer it cannot: the ratio of two weights depends only on who asks, on the two keys and their places. "
        "A right answer is "
        "then summed up from all that is read, not read in one place.",
        "한 층에서는 그럴 수 없습니다. 두 가중치의 비는 묻는 토큰, 두 키, 그 자리에만 달려 있습니다. 그래도 답이 "
        "맞는다면 한 곳에서 읽은 "
        "것이 아니라 읽은 것을 모두 더해 얻은 것입니다.",
    ),
    # emerged
    "unlearned": (
        "Nothing emerged: accuracy is hardly above what needs no attention ({floor:pct}), so there is nothing that a "
        "cut could take away.",
        "생겨난 것이 없습니다. 정확도가 어텐션 없이 얻는 것({floor:pct})과 거의 같아서, 끊어서 잃을 것도 없습니다.",
    ),
    "unlearned.below": (
        "Nothing emerged yet: accuracy is still below what needs no attention ({floor:pct}), so there is nothing that a "
        "cut could take away.",
        "아직 생겨난 것이 없습니다. 정확도가 어텐션 없이 얻는 것({floor:pct})보다도 낮아서, 끊어서 잃을 것도 없습니다.",
    ),
    "unlearned.guess": (
        "Naming any of the symbols that may be read would be right in {guess:pct} of cases.",
        "볼 수 있는 글자 가운데 아무것이나 말해도 {guess:pct}를 맞힙니다.",
    ),
    "one_layer": (
        "In one layer a key knows its own token only, not the one before it, so “the token after an earlier {token}” "
        "cannot be "
        "looked for. Try two layers.",
        "한 층에서 키는 자기 토큰만 알고 바로 앞 토큰은 모릅니다. 그래서 ‘앞에 나온 {token} 다음의 토큰’을 찾을 수 "
        "없습니다. 두 층으로 해 "
        "보십시오.",
    ),
    "none": (
        "No single head carries it: without any one of them accuracy stays at {least:pct} or above.",
        "어느 한 헤드가 맡은 일이 아닙니다. 어느 하나를 끊어도 정확도는 {least:pct} 이상입니다.",
    ),
    "layer": (
        "A layer does: without all heads of layer {layer:int} accuracy falls to {without:pct}. They share the work, and any one "
        "of them can be missing.",
        "층이 맡은 일입니다. {layer:int}층의 헤드를 모두 끊으면 정확도가 {without:pct}로 떨어집니다. 그 헤드들이 일을 나누어 "
        "맡고 있어서 어느 하나는 없어도 됩니다.",
    ),
    "reason": (
        "The word that tells which one is meant is read most by head {head:int} of layer {layer:int}: {reads:pct} of "
        "its weight (without a "
        "look at the tokens at best {baseline:pct}).",
        "무엇을 가리키는지 정해 주는 말은 {layer:int}층 {head:int}번 헤드가 가장 많이 읽습니다. 가중치의 {reads:pct}를 "
        "둡니다(토큰을 보지 "
        "않으면 많아야 {baseline:pct}).",
    ),
    "carrier": (
        "Head {head:int} of layer {layer:int} carries it (both counted from 0).",
        "이 일을 맡은 것은 {layer:int}층 {head:int}번 헤드입니다(둘 다 0부터 셉니다).",
    ),
    "reads.above": (
        "It puts {reads:pct} of its weight on what the answer depends on (mean over held-out cases). The best without "
        "a look at the "
        "tokens, by one distance, one place or evenly, is {baseline:pct}.",
        "답을 정하는 토큰에 가중치의 {reads:pct}를 둡니다(학습에서 뺀 것의 평균). 토큰을 보지 않고 거리 하나, 자리 "
        "하나로, 또는 고르게 "
        "나누어 얻을 수 있는 최선은 {baseline:pct}입니다.",
    ),
    "reads.not_above": (
        "It puts {reads:pct} of its weight on what the answer depends on (mean over held-out cases); one distance or "
        "one place alone "
        "reaches {baseline:pct}. So this weight is no sign that it looks at the tokens; the cut is.",
        "답을 정하는 토큰에 가중치의 {reads:pct}를 둡니다(학습에서 뺀 것의 평균). 거리나 자리 하나만 정해 두어도 "
        "{baseline:pct}가 되므로, 이 "
        "가중치만으로는 토큰을 보고 고른다고 할 수 없습니다. 말해 주는 것은 끊어 본 결과입니다.",
    ),
    "reads.position": (
        "It puts {reads:pct} of its weight on what the answer depends on (mean over held-out cases). Positions alone "
        "tell where that "
        "is: one distance or one place reaches {baseline:pct}.",
        "답을 정하는 토큰에 가중치의 {reads:pct}를 둡니다(학습에서 뺀 것의 평균). 그 자리는 위치만으로 정해집니다. "
        "거리나 자리 하나로 "
        "{baseline:pct}가 됩니다.",
    ),
    "appeared": (
        "This weight had gone half of its way at step {step:int}.",
        "이 가중치는 {step:int}단계에 갈 길의 절반을 지났습니다.",
    ),
    "cut": (
        "Without it (its mixed values set to 0) accuracy falls from {accuracy:pct} to {without:pct}; what needs no "
        "attention is {floor:pct}.",
        "이 헤드를 끊으면(섞은 값을 0으로 두면) 정확도가 {accuracy:pct}에서 {without:pct}로 떨어집니다. 어텐션 없이 "
        "얻는 것은 {floor:pct}입니다.",
    ),
    "cut.chance": (
        "Without it (its mixed values set to 0) accuracy falls from {accuracy:pct} to {without:pct}: no further than "
        "what needs no attention ({floor:pct}) goes.",
        "이 헤드를 끊으면(섞은 값을 0으로 두면) 정확도가 {accuracy:pct}에서 {without:pct}로 떨어집니다. 어텐션 없이 "
        "얻는 것({floor:pct})이나 다름없습니다.",
    ),
    "rest": (
        "What is left above that the rest of the model reaches without it: the work is shared.",
        "그보다 높은 만큼은 이 헤드 없이 모델의 나머지가 해냅니다. 일을 나누어 맡고 있습니다.",
    ),
    "alone": ("It is the only head of its layer.", "그 층에는 이 헤드뿐입니다."),
    "others": (
        "Without any other head of its layer accuracy stays at {least:pct} or above: it does the work alone there.",
        "그 층의 다른 헤드는 어느 것을 끊어도 정확도가 {least:pct} 이상입니다. 그 층에서는 이 헤드가 혼자 합니다.",
    ),
    "shared": (
        "The work is shared: without head {head:int} of the same layer accuracy falls to {without:pct} too.",
        "일을 나누어 맡습니다. 같은 층의 {head:int}번 헤드를 끊어도 정확도가 {without:pct}로 떨어집니다.",
    ),
    "needs": (
        "It needs another layer: without head {head:int} of layer {layer:int} accuracy falls to {without:pct}.",
        "다른 층도 있어야 합니다. {layer:int}층 {head:int}번 헤드를 끊으면 정확도가 {without:pct}로 떨어집니다.",
    ),
    "induction": (
        "This is induction, in two steps. Head {head:int} of layer {layer:int} hands each new token the one before it: "
        "{previous:pct} of its weight lies there. Head {match_head:int} of layer {match_layer:int} then looks for the "
        "place whose token before was {token}, and finds it with {reads:pct} of its weight: an induction head.",
        "귀납이 두 걸음으로 이루어집니다. {layer:int}층 {head:int}번 헤드가 처음 나온 토큰에게 바로 앞 토큰을 "
        "전합니다. 가중치의 {previous:pct}가 그곳에 있습니다. 그다음 {match_layer:int}층 {match_head:int}번 헤드가 "
        "바로 앞이 {token:이었던/였던} 자리를 찾아 가중치의 {reads:pct}를 둡니다. 이것이 귀납 헤드 (induction "
        "head)입니다.",
    ),
    "induction.no": (
        "Induction is usually told in two steps, the first a head that reads the token before. The numbers do not show "
        "that here: no "
        "head of an earlier layer, without which accuracy falls, has more than {previous:pct} of its weight there, "
        "where a token is new.",
        "귀납은 보통 두 걸음으로 설명하고, 첫걸음은 바로 앞 토큰을 읽는 헤드입니다. 여기서는 숫자가 그렇지 않습니다. "
        "끊으면 정확도가 "
        "떨어지는 앞 층의 헤드 가운데 처음 나온 토큰에서 그곳에 가중치를 {previous:pct}보다 많이 둔 것이 없습니다.",
    ),
    # form
    "form.apart": (
        "W_Q and W_K have other numbers than those that a person wrote: they differ by up to {w_q:n} and {w_k:n}.",
        "W_Q와 W_K는 사람이 쓴 것과 숫자가 다릅니다. 가장 큰 차이는 {w_q:n}, {w_k:n}입니다.",
    ),
    "form.asked.same": (
        "Multiplied, as W_Q · W_Kᵀ, they look for the same: for {token} {dims:dims}, the same to {off:n}.",
        "그러나 둘을 곱한 W_Q · W_Kᵀ로 보면 찾는 것이 같습니다. {token:이/가} 찾는 것은 {dims:dims}이고, 차이는 {off:n} "
        "이하입니다.",
    ),
    "form.asked.other": (
        "Multiplied, as W_Q · W_Kᵀ, they look for other things too: for {token} {dims:dims}, up to {off:n} from what "
        "was written.",
        "둘을 곱한 W_Q · W_Kᵀ로 보아도 찾는 것이 다릅니다. {token:이/가} 찾는 것은 {dims:dims}이고, 쓴 것과 {off:n}까지 "
        "다릅니다.",
    ),
    "form.elsewhere": (
        "Where nobody asked for anything W_Q · W_Kᵀ differs by up to {most:n} ({row:dim} → {column:dim}: found "
        "{found:n}, written {given:n}).",
        "아무도 바라지 않은 곳에서 W_Q · W_Kᵀ는 {most:n}까지 다릅니다({row:dim} → {column:dim}: 찾은 것 {found:n}, 쓴 "
        "것 {given:n}).",
    ),
    "form.same": (
        "So the row of {token} is the same to {off:n}: {after:ranked}.",
        "그래서 {token}의 행은 {off:n}까지 같습니다: {after:ranked}.",
    ),
    "form.other": (
        "The row of {token} still differs by up to {off:n}: {after:ranked}.",
        "{token}의 행은 아직 {off:n}까지 다릅니다: {after:ranked}.",
    ),
    "form.free": (
        "The rows that nobody asked for went their own way: their weights differ by up to {off:n}.",
        "아무도 바라지 않은 행은 제 갈 길로 갔습니다. 가중치의 가장 큰 차이는 {off:n}입니다.",
    ),
    "form.moved": (
        "How far each was moved (Frobenius norm of the change): W_Q {w_q:n}, W_K {w_k:n}, W_V {w_v:n}.",
        "저마다 움직인 거리(변화의 프로베니우스 노름): W_Q {w_q:n}, W_K {w_k:n}, W_V {w_v:n}.",
    ),
}  # fmt: skip


class Trained(Protocol):
    """What was trained, as far as it is told: ``Learned`` is one."""

    @property
    def history(self) -> History:
        """How it went."""

    @property
    def emerged(self) -> Mapping[str, Any] | None:
        """What was measured at its end, as plain JSON."""


@dataclass(frozen=True)
class Outcome:
    """What came of a training run: facts without language, and sentences made of them.

    facts : in the order in which they are told;  name : what was learned;  lang : the language of ``str()``
    """

    facts: tuple[Fact, ...]
    name: str
    lang: str = "en"

    def sections(self, lang: str | None = None) -> list[Section]:
        """The sentences in a language, by what they are about."""
        lang = self.lang if lang is None else language(lang)
        of = {name: [fact for fact in self.facts if fact.section == name] for name in SECTIONS}
        return [
            Section(name, self._title(name, lang), tuple((False, self.sentence(fact, lang)) for fact in facts))
            for name, facts in of.items()
            if facts
        ]

    def text(self, lang: str | None = None) -> str:
        """All sentences as plain text, in a language."""
        parts = [[section.title, *(f"  {line}" for _, line in section.lines)] for section in self.sections(lang)]
        return "\n\n".join("\n".join(lines) for lines in parts) + "\n"

    def markdown(self, lang: str | None = None) -> str:
        """All sentences under headings."""
        parts = [[f"## {section.title}", *(line for _, line in section.lines)] for section in self.sections(lang)]
        return "\n\n".join("\n\n".join(lines) for lines in parts) + "\n"

    def sentence(self, fact: Fact, lang: str | None = None) -> str:
        """One fact as a sentence."""
        lang = self.lang if lang is None else language(lang)
        said = {name: by_language(a, lang) if isinstance(a, Mapping) else a for name, a in fact.data.items()}
        return fill(PHRASES[fact.kind][LANGS.index(lang)], said, lang)

    def to_json(self) -> dict[str, Any]:
        """Facts and sentences as plain JSON."""
        facts = [{"section": one.section, "kind": one.kind, "data": dict(one.data)} for one in self.facts]
        return {"name": self.name, "facts": facts, "text": {lang: self.text(lang) for lang in LANGS}}

    def __str__(self) -> str:
        return self.text()

    def _title(self, name: str, lang: str) -> str:
        task = next((fact.data for fact in self.facts if fact.kind == "about"), {})
        return by_language(task.get("title"), lang) if name == "task" else TITLES[name][LANGS.index(lang)]


def outcome(
    history: History, emerged: Mapping[str, Any] | None = None, lang: str = "en", given: Trace | None = None
) -> Outcome:
    """What came of a run.

    emerged : what was measured at its end (``Learned.emerged``), or None
    given : what the weights do that a person wrote for the same wanted row, or None
    """
    known = understood(history, emerged)
    facts = [*_task(history), *_training(history, known)]
    facts += [] if emerged is None or known is not None else [Fact("training", "foreign", {})]
    facts += _row(history, known)
    facts += [] if known is None or "wanted" in history.task else _emerged(history, known)
    facts += [] if given is None else _form(history, given)
    return Outcome(tuple(facts), str(history.task.get("name", "")), language(lang))


def learned(run: History | Trained, lang: str = "en") -> Outcome:
    """What came of a ``Learned`` or a ``History``."""
    if isinstance(run, History):
        return outcome(run, None, lang)
    return outcome(run.history, run.emerged, lang, getattr(getattr(run, "task", None), "trace", None))


# what was measured --------------------------------------------------------------------------------


def understood(history: History, emerged: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """What was measured at the end of a run; None where it lacks a part that is told, or is of another model.

    It may come from a file that another version wrote.
    """
    try:
        return emerged if emerged is not None and _fits(history, emerged) else None
    except (LookupError, TypeError, ValueError, AttributeError):
        return None


def _fits(history: History, emerged: Mapping[str, Any]) -> bool:
    """Errors: whatever a part that is missing, or of another kind, runs into."""
    shape, reads = [layer.n_heads for layer in history.layers], emerged["reads"]
    tables = [emerged["without"], *(role["reads"] for role in emerged["roles"].values())]
    places = [role["head"] for role in emerged["roles"].values()]
    numbers = [emerged[name] for name in ("accuracy", "chance", "alone")]
    numbers += [*emerged["without_layer"], *(role["baseline"] for role in emerged["roles"].values())]
    numbers += [emerged[name] for name in ("guess", "appeared") if emerged[name] is not None]
    numbers += [] if emerged["rise"] is None else [emerged["rise"][at] for at in (0, 1)]
    if reads is not None:
        tables.append(reads)
        numbers.append(emerged["baseline"])
    if emerged["carrier"] is not None:
        places.append(emerged["carrier"])
    return (
        len(emerged["without_layer"]) == len(shape)
        and all([len(row) for row in table] == shape for table in tables)
        and all(layer in range(len(shape)) and head in range(shape[layer]) for layer, head in places)
        and all(_is_number(a) for a in (*numbers, *(a for table in tables for row in table for a in row)))
    )


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, (int, float, np.number)) and bool(np.isfinite(value))


# task and training --------------------------------------------------------------------------------


def _task(history: History) -> Iterator[Fact]:
    task, settings = history.task, history.settings
    if "about" in task:
        yield Fact("task", "about", {"title": task["title"], "about": task["about"]})
    how = {name: settings[name] for name in ("steps", "batch", "learning_rate", "seed") if name in settings}
    if "wanted" in task:
        yield Fact("task", "model.row", how)
    elif "sizes" in settings:
        sizes = {name: settings["sizes"][name] for name in ("n_layers", "n_heads", "d_model")}
        yield Fact("task", "model", how | sizes)


def _training(history: History, emerged: Mapping[str, Any] | None) -> Iterator[Fact]:
    steps = len(history.loss)
    if steps:
        last = history.loss[-min(LAST, steps) :]
        first, last_mean = float(history.loss[0]), float(np.mean(last))
        kind = (
            "loss" if "learning_rate" in history.settings else "loss.own"
        )  # nobody knows what another's loop minimises
        yield Fact("training", kind, {"first": first, "last": last_mean, "n": len(last)})
    if "wanted" in history.task:
        yield Fact("training", "reached", {"off": 1 - float(history.accuracy[-1])})
    elif emerged is not None:
        yield Fact("training", "accuracy", {name: emerged[name] for name in ("accuracy", "alone", "chance")})
        if percent(last_seen := float(history.accuracy[-1])) != percent(emerged["accuracy"]):
            yield Fact("training", "accuracy.curve", {"last": last_seen})
    elif not np.isnan(history.accuracy[-1]):
        yield Fact("training", "accuracy.snapshot", {"accuracy": float(history.accuracy[-1])})
    if emerged is None and steps < history.settings.get("steps", steps):
        yield Fact("training", "unfinished", {"step": steps, "steps": history.settings["steps"]})
    if emerged is not None and emerged["rise"] is not None and not _is_chance(emerged):
        start, end = emerged["rise"]
        kind = "near" if "wanted" in history.task else "sudden" if end - start < start else "gradual"
        yield Fact("training", kind, {"start": start, "end": end})


def _floor(emerged: Mapping[str, Any]) -> float:
    """The accuracy that needs no attention."""
    return float(max(emerged["chance"], emerged["alone"]))


def _is_chance(emerged: Mapping[str, Any]) -> bool:
    return bool(emerged["accuracy"] - _floor(emerged) <= MATTERS)


# one row ------------------------------------------------------------------------------------------


def place(history: History, emerged: Mapping[str, Any] | None = None, probe: int = 0) -> tuple[int, int]:
    """The layer and head worth looking at: the one that carries the task, or else the best reader of the last layer."""
    known = understood(history, emerged)
    if known is not None and known["carrier"] is not None:
        layer, head = known["carrier"]
        return int(layer), int(head)
    last, told = len(history.layers) - 1, history.probes[probe]
    if not told.reads:
        return last, 0
    at = _query(told)
    weights = history.trace(probe=probe, layer=last).rows("weights", queries=[at])[:, 0]
    return last, int(weights[:, list(told.reads)].sum(axis=1).argmax())


def row(history: History, layer: int, head: int, probe: int = 0, step: int | None = None) -> Floats:
    """(key,) the weights of a probe's row at a step; None for the end."""
    at = _query(history.probes[probe])
    rows: Floats = history.trace(step, probe, layer).rows("weights", heads=[head], queries=[at])[0, 0]
    return rows


def _query(probe: Probe) -> int:
    return len(probe.tokens) - 1 if probe.query is None else probe.query


def _row(history: History, emerged: Mapping[str, Any] | None) -> Iterator[Fact]:
    if not history.probes:
        return
    told, (layer, head) = history.probes[0], place(history, emerged)
    before, after = row(history, layer, head, step=history.steps[0]), row(history, layer, head)
    several = len(history.layers) > 1 or history.layers[layer].n_heads > 1
    data: dict[str, Any] = {"layer": layer, "head": head} if several else {}
    data |= {"token": token_name(told.tokens, _query(told)), "first": history.steps[0], "last": history.steps[-1]}
    data |= {"before": _ranked(told, before), "after": _ranked(told, after)}
    yield Fact("row", "row" if several else "row.only", data)
    if told.reads and told.answer is not None:
        reads = list(told.reads)
        names = [token_name(told.tokens, at) for at in reads]
        sums = {"before": float(before[reads].sum()), "after": float(after[reads].sum())}
        yield Fact("row", "row.reads", {"answer": told.answer, "reads": names, **sums})
    yield from _pair(history, layer, head)


def _pair(history: History, layer: int, head: int) -> Iterator[Fact]:
    """The same row in another of the sequences, which differs in one word elsewhere and asks for another token."""
    told = history.probes[0]
    found = ((at, word) for at, one in enumerate(history.probes) if (word := _other_word(told, one)) is not None)
    other, word = next(found, (0, 0))
    if other == 0:
        return
    keys = [told.reads[0], history.probes[other].reads[0]]
    before, after = row(history, layer, head)[keys], row(history, layer, head, other)[keys]
    names = [token_name(told.tokens, key) for key in keys]
    data = {"word": told.tokens[word].text, "other": history.probes[other].tokens[word].text}
    data |= {"first": names[0], "second": names[1]}
    if before[0] > before[1] and after[0] < after[1]:
        shares = {
            "first_before": before[0],
            "second_before": before[1],
            "first_after": after[0],
            "second_after": after[1],
        }
        yield Fact("row", "pair.turns", data | {name: float(share) for name, share in shares.items()})
        return
    yield Fact(
        "row", "pair.stays", data | {"before": float(before[0] / before[1]), "after": float(after[0] / after[1])}
    )
    if layer == 0:
        yield Fact("row", "pair.one_layer", {})


def _other_word(a: Probe, b: Probe) -> int | None:
    """Where the one word stands in which two sequences differ; None where they differ in more, or in what is asked."""
    if (
        len(a.tokens) != len(b.tokens)
        or a.query != b.query
        or len(a.reads) != 1
        or len(b.reads) != 1
        or a.reads == b.reads
    ):
        return None
    differing = [at for at, (x, y) in enumerate(zip(a.tokens, b.tokens, strict=True)) if x.text != y.text]
    return differing[0] if len(differing) == 1 and differing[0] not in (*a.reads, *b.reads) else None


def _ranked(probe: Probe, weights: Floats) -> list[list[Any]]:
    """The tokens that get the most weight, [name, weight] each."""
    order = np.argsort(-weights, kind="stable")[:MOST_KEYS]
    return [[token_name(probe.tokens, int(key)), float(weights[key])] for key in order]


# what emerged -------------------------------------------------------------------------------------


def _emerged(history: History, emerged: Mapping[str, Any]) -> Iterator[Fact]:
    def fact(kind: str, **data: Any) -> Fact:
        return Fact("emerged", kind, data)

    if _is_chance(emerged):
        is_below = emerged["accuracy"] < _floor(emerged) - MATTERS
        yield fact("unlearned.below" if is_below else "unlearned", floor=_floor(emerged))
        yield from _unlearned(history, emerged)
    elif emerged["carrier"] is None:
        yield fact("none", least=min(min(one) for one in emerged["without"]))
        for layer, left in enumerate(emerged["without_layer"]):
            if emerged["accuracy"] - left > MATTERS:
                yield fact("layer", layer=layer, without=left)
    else:
        layer, head = emerged["carrier"]
        yield fact("carrier", layer=layer, head=head)
        yield from _reads(emerged)
        yield from _cuts(emerged)
        yield from _induction(history, emerged)


def _reads(emerged: Mapping[str, Any]) -> Iterator[Fact]:
    layer, head = emerged["carrier"]
    if emerged["reads"] is not None:
        reads, baseline = emerged["reads"][layer][head], emerged["baseline"]
        kind = "reads.above" if reads > baseline else "reads.position" if baseline > 0.99 else "reads.not_above"
        yield Fact("emerged", kind, {"reads": reads, "baseline": baseline})
        if emerged["appeared"] is not None:
            yield Fact("emerged", "appeared", {"step": emerged["appeared"]})
    if (role := emerged["roles"].get("reason")) is not None:
        layer, head = role["head"]
        data = {"layer": layer, "head": head, "reads": role["reads"][layer][head], "baseline": role["baseline"]}
        if data["reads"] > data["baseline"]:
            yield Fact("emerged", "reason", data)


def _cuts(emerged: Mapping[str, Any]) -> Iterator[Fact]:
    """What accuracy is left without the carrier, without the others of its layer, without those of other layers."""
    (layer, head), without = emerged["carrier"], emerged["without"]
    accuracy, floor, left = emerged["accuracy"], _floor(emerged), without[layer][head]
    kind = "cut.chance" if left - floor <= MATTERS else "cut"
    yield Fact("emerged", kind, {"accuracy": accuracy, "without": left, "floor": floor})
    others = [at for at in range(len(without[layer])) if at != head]
    sharing = [at for at in others if accuracy - without[layer][at] > MATTERS]
    if not others:
        yield Fact("emerged", "alone", {})
    elif not sharing:
        yield Fact("emerged", "others", {"least": min(without[layer][at] for at in others)})
    if left - floor > MATTERS and not sharing:
        yield Fact("emerged", "rest", {})
    for at in sharing:
        yield Fact("emerged", "shared", {"head": at, "without": without[layer][at]})
    for other, of in enumerate(without):
        for at, left in enumerate(of):
            if other != layer and accuracy - left > MATTERS:
                yield Fact("emerged", "needs", {"layer": other, "head": at, "without": left})


# induction ----------------------------------------------------------------------------------------


def _follows(history: History) -> bool:
    """True where each probe's answer stands just after an earlier place of the token that asks."""
    told = [(one, _query(one)) for one in history.probes if one.reads]
    return bool(told) and all(
        len(one.reads) == 1 <= one.reads[0] <= at and one.tokens[one.reads[0] - 1].text == one.tokens[at].text
        for one, at in told
    )


def _unlearned(history: History, emerged: Mapping[str, Any]) -> Iterator[Fact]:
    """What a guess would reach; and why one layer cannot find what follows an earlier token."""
    if emerged["guess"] is not None:
        yield Fact("emerged", "unlearned.guess", {"guess": emerged["guess"]})
    if len(history.layers) == 1 and _follows(history):
        told = history.probes[0]
        yield Fact("emerged", "one_layer", {"token": told.tokens[_query(told)].text})


def _induction(history: History, emerged: Mapping[str, Any]) -> Iterator[Fact]:
    """The two steps of induction, only where both are seen in the weights and in the cuts."""
    (layer, head), reads, previous = emerged["carrier"], emerged["reads"], emerged["roles"].get("previous")
    if layer == 0 or previous is None or not _follows(history) or reads[layer][head] < max(CLEAR, emerged["baseline"]):
        return
    needed = [
        (at, other)
        for at in range(layer)
        for other, left in enumerate(emerged["without"][at])
        if emerged["accuracy"] - left > MATTERS
    ]
    if not needed:
        return
    first = max(needed, key=lambda at: previous["reads"][at[0]][at[1]])
    share = previous["reads"][first[0]][first[1]]
    if share < CLEAR:
        yield Fact("emerged", "induction.no", {"previous": share})
        return
    told = history.probes[0]
    data = {"layer": first[0], "head": first[1], "previous": share, "match_layer": layer, "match_head": head}
    yield Fact("emerged", "induction", data | {"token": told.tokens[_query(told)].text, "reads": reads[layer][head]})


# another W ----------------------------------------------------------------------------------------


def forms(history: History, given: Trace) -> tuple[Floats, Floats]:
    """(d_model, d_model) each: W_Q · W_Kᵀ of the end of the run, and of the weights that a person wrote."""
    found = history.trace().heads
    assert found is not None
    assert given.heads is not None
    return np.asarray(found.w_q @ found.w_k.T), np.asarray(given.heads.w_q @ given.heads.w_k.T)


def _form(history: History, given: Trace) -> Iterator[Fact]:
    end = history.trace()
    assert end.heads is not None
    assert given.heads is not None
    apart = {name: _most(getattr(end.heads, name) - getattr(given.heads, name)) for name in ("w_q", "w_k")}
    yield Fact("form", "form.apart", apart)
    wanted = [int(query) for query in history.task["wanted"]]
    for query in wanted:
        yield from _asked(history, given, query)
    off = np.abs(end.rows("weights")[0] - given.rows("weights")[0]).max(axis=1)
    for query in wanted:
        after = _ranked(history.probes[0], end.rows("weights", queries=[query])[0, 0])
        data = {"token": token_name(given.tokens, query), "off": float(off[query]), "after": after}
        yield Fact("form", "form.same" if off[query] < SAME else "form.other", data)
    yield from _free(history, given, [query for query in range(given.n_queries) if query not in wanted], off)
    weights = history.layers[0].weights
    moved = {name: float(np.linalg.norm(weights[name][-1] - weights[name][0])) for name in ("w_q", "w_k", "w_v")}
    yield Fact("form", "form.moved", moved)


def _most(difference: Floats) -> float:
    return float(np.abs(difference).max())


def _asked(history: History, given: Trace, query: int) -> Iterator[Fact]:
    """What one token looks for in the embedding's dimensions, found and written."""
    assert given.x is not None
    found, written = (given.x[query] @ form for form in forms(history, given))
    off = _most(found - written)
    dims = [[name, float(a)] for name, a in zip(_dimensions(given), found, strict=True)]
    kind = "form.asked.same" if off < SAME * max(1.0, _most(written)) else "form.asked.other"
    yield Fact("form", kind, {"token": token_name(given.tokens, query), "dims": dims, "off": off})


def _free(history: History, given: Trace, free: Sequence[int], off: Floats) -> Iterator[Fact]:
    """Where the two differ most, and the rows that were not wanted."""
    found, written = forms(history, given)
    at, to = np.unravel_index(int(np.abs(found - written).argmax()), found.shape)
    names = _dimensions(given)
    numbers = {"found": float(found[at, to]), "given": float(written[at, to])}
    places = {"row": names[int(at)], "column": names[int(to)], "most": _most(found - written)}
    yield Fact("form", "form.elsewhere", places | numbers)
    if free and off[free].max() >= SAME:
        yield Fact("form", "form.free", {"off": float(off[free].max())})


def _dimensions(trace: Trace) -> Sequence[str | int]:
    assert trace.x is not None
    return names_of(trace, "x") or range(trace.x.shape[1])
