"""Tasks on sentences, all of them written out: pronouns, homonyms, agreement of subject and verb."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...words import with_particle
from .task import NOT_ASKED, Asked, Batch, Phrase, SequenceTask, Settings, Sizes, is_held_out

__all__ = ["Sentences", "homonym", "pronoun", "subject_verb", "written_out"]


@dataclass(frozen=True)
class Sentences(SequenceTask):
    """A list of sentences, a fixed fifth of them kept from training."""

    training: Batch = field(repr=False, kw_only=True)
    held_out: Batch = field(repr=False, kw_only=True)

    def batch(self, rng: np.random.Generator, n: int, held_out: bool = False) -> Batch:
        """``n`` sentences, drawn with replacement for training; of the held-out ones each at most once."""
        some = self.held_out if held_out else self.training
        if held_out:
            return some.take(rng.permutation(len(some))[:n])
        return some.take(rng.integers(0, len(some), n))


def written_out(phrases: Iterable[Phrase], probes: Sequence[Phrase], **named: Any) -> Sentences:
    """A task from its sentences. The probes are not trained on."""
    rows = {phrase.tokens: phrase for phrase in phrases}
    looked_at = {phrase.tokens for phrase in probes}
    phrases = list(rows.values())
    vocabulary = tuple(dict.fromkeys(itertools.chain.from_iterable([*one.tokens, one.answer] for one in phrases)))
    numbers = {text: at for at, text in enumerate(vocabulary)}
    batch = _batch(phrases, numbers)
    apart = is_held_out(batch.tokens) | np.array([one.tokens in looked_at for one in phrases])
    return Sentences(
        vocabulary=vocabulary,
        n_positions=batch.tokens.shape[1],
        probes=tuple(Asked(one.tokens, one.query, one.reads, one.answer) for one in probes),
        training=batch.take(~apart),
        held_out=batch.take(apart),
        **named,
    )


def _batch(phrases: Sequence[Phrase], numbers: Mapping[str, int]) -> Batch:
    longest = max(len(one.tokens) for one in phrases)
    tokens = np.zeros((len(phrases), longest), np.int64)
    targets = np.full_like(tokens, NOT_ASKED)
    marks = {name: np.zeros((len(phrases), longest, longest), bool) for name in ("answer", "reason")}
    for at, one in enumerate(phrases):
        tokens[at, : len(one.tokens)] = [numbers[text] for text in one.tokens]
        targets[at, one.query] = numbers[one.answer]
        marks["answer"][at, one.query, list(one.reads)] = True
        if one.reason is not None:
            marks["reason"][at, one.query, one.reason] = True
    roles = {name: some for name, some in marks.items() if some.any()}
    return Batch(tokens, targets, np.array([len(one.tokens) for one in phrases]), roles)


# pronouns -----------------------------------------------------------------------------------------

ANIMALS = ("cat", "dog", "rabbit", "duck", "horse", "mouse", "sheep", "goat")
THINGS = ("mat", "sofa")
RESTS = ("sat", "slept", "lay")
FEELS = ("tired", "sleepy", "sick", "lazy", "exhausted")
IS_LIKE = ("soft", "warm", "wide", "comfortable", "flat")
VERY = ("", "very")
ANIMALS_KO = ("고양이", "강아지", "토끼", "오리", "생쥐", "여우", "양", "염소")
THINGS_KO = ("매트", "소파")
RESTS_KO = ("앉았다", "잤다", "누웠다")
FEELS_KO = ("피곤했다", "졸렸다", "아팠다", "지쳤다", "게을렀다")
IS_LIKE_KO = ("푹신했다", "따뜻했다", "넓었다", "포근했다", "납작했다")
VERY_KO = ("", "아주")


def _pronouns_en() -> Iterator[Phrase]:
    """the cat sat on the mat because it was tired → cat; also: on the mat sat …; because it was tired the cat …

    An animal rests on a thing, or on another animal: then only its place tells which of the two is meant.
    """
    for animal, other, rests in itertools.product(ANIMALS, (*THINGS, *ANIMALS), RESTS):
        for likes, very in itertools.product((*FEELS, *IS_LIKE) if animal != other else (), VERY):
            meant = animal if likes in FEELS else other
            clause, turned = ("the", animal, rests, "on", "the", other), ("on", "the", other, rests, "the", animal)
            reason = _words("because", "it", "was", very, likes)
            for tokens in ((*clause, *reason), (*turned, *reason), (*reason, *clause), (*reason, *turned)):
                yield Phrase(tokens, tokens.index("it"), meant, (tokens.index(meant),), tokens.index(likes))


def _pronouns_ko() -> Iterator[Phrase]:
    """고양이가 매트 위에 앉았다 . 그것은 피곤했다 → 고양이"""
    for animal, other, rests in itertools.product(ANIMALS_KO, (*THINGS_KO, *ANIMALS_KO), RESTS_KO):
        who = with_particle(animal, "이/가")
        for likes, very in itertools.product((*FEELS_KO, *IS_LIKE_KO) if animal != other else (), VERY_KO):
            meant, answer = (who, animal) if likes in FEELS_KO else (other, other)
            for start, when in itertools.product(((who, other, "위에"), (other, "위에", who)), ("", "어제")):
                tokens = _words(when, *start, rests, ".", "그것은", very, likes)
                yield Phrase(tokens, tokens.index("그것은"), answer, (tokens.index(meant),), tokens.index(likes))


def _words(*words: str) -> tuple[str, ...]:
    """Those that are there."""
    return tuple(word for word in words if word)


def pronoun() -> Sentences:
    """What *it* means, in English and Korean."""
    english, korean = list(_pronouns_en()), list(_pronouns_ko())
    probes = [
        _the(english, "the cat sat on the mat because it was tired"),
        _the(english, "the cat sat on the mat because it was soft"),
        _the(korean, "고양이가 매트 위에 앉았다 . 그것은 피곤했다"),
        _the(korean, "고양이가 매트 위에 앉았다 . 그것은 푹신했다"),
    ]
    return written_out(
        [*english, *korean],
        probes,
        name="pronoun",
        title={"en": "What does “it” mean?", "ko": "‘it’과 ‘그것은’은 무엇을 가리키는가?"},
        about={
            "en": "An animal rests on a thing or on another animal, because it was tired, or soft: at “it” the model must name "
            "the noun that is meant. What decides stands in two places, at the adjective and at the nouns: one layer reads it, "
            "and only the next one can turn to the noun. One layer alone gets about as far as the nouns themselves give it "
            "away: a mat is not tired.",
            "ko": "동물이 물건이나 다른 동물 위에서 쉽니다. 그것은 피곤했거나 푹신했습니다. ‘it’, ‘그것은’ 자리에서 가리키는 명사를 맞혀야 "
            "합니다. 정해 주는 것이 두 곳, 형용사와 명사가 놓인 자리에 나뉘어 있어서 한 층이 그것을 읽어야 다음 층이 명사를 찾아갈 수 "
            "있습니다. 한 층만으로는 명사 자체가 알려 주는 데까지만 맞힙니다. 매트는 피곤할 수 없으니까요.",
        },
        causal=False,
        sizes=Sizes(n_layers=2),
        settings=Settings(steps=1000, weight_decay=1.0),
    )


def _the(phrases: Iterable[Phrase], text: str) -> Phrase:
    return next(one for one in phrases if " ".join(one.tokens) == text)


# homonyms -----------------------------------------------------------------------------------------

WHO_KO = ("나는", "동생은", "친구는", "엄마는", "할머니는", "선생님은")
WHEN_KO = ("", "어제", "오늘", "드디어")
HOW_KO = ("", "다시", "혼자", "조용히", "혼자 조용히", "다시 혼자")
SENSES_KO: dict[str, dict[str, tuple[str, ...]]] = {  # word → sense → what is done
    "은행을": {"은행(돈)": ("이용했다", "옮겼다", "믿었다"), "은행(열매)": ("주웠다", "구웠다", "먹었다")},
    "배를": {"배(과일)": ("깎았다", "먹었다"), "배(탈것)": ("탔다", "기다렸다"), "배(몸)": ("문질렀다", "움켜쥐었다")},
    "눈을": {"눈(날씨)": ("치웠다", "맞았다", "뭉쳤다"), "눈(몸)": ("감았다", "비볐다", "떴다")},
    "밤을": {"밤(열매)": ("구웠다", "먹었다", "깠다"), "밤(시간)": ("새웠다", "보냈다")},
}
WHO = ("he", "she", "they", "we", "nobody", "everyone")
WHEN = ("", "today", "once", "yesterday")
OLD = ("", "old", "big")
WHERE = ("", "near us", "over there")
SENSES: dict[
    str, dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
] = {  # word → sense → what is done to it, how it is
    "bank": {
        "bank (money)": (("robbed", "borrowed from", "complained to"), ("rich", "bankrupt", "greedy")),
        "bank (river)": (("climbed", "fished from", "swam to"), ("muddy", "steep", "grassy")),
    },
    "bat": {
        "bat (animal)": (("fed", "woke", "scared"), ("hungry", "asleep", "furry")),
        "bat (sport)": (("swung", "gripped", "carved"), ("wooden", "cracked", "varnished")),
    },
}


def _homonyms_ko() -> Iterator[Phrase]:
    """나는 어제 배를 혼자 깎았다 → 배(과일)"""
    for (word, senses), who, when, how in itertools.product(SENSES_KO.items(), WHO_KO, WHEN_KO, HOW_KO):
        for sense, verbs in senses.items():
            for verb in verbs:
                tokens = _words(who, when, word, *how.split(), verb)
                yield Phrase(tokens, tokens.index(word), sense, (len(tokens) - 1,))


def _homonyms_en() -> Iterator[Phrase]:
    """she swam to the old bank today; today the bank near us was muddy → bank (river)"""
    for (word, senses), when, old in itertools.product(SENSES.items(), WHEN, OLD):
        for sense, (done, how_it_is) in senses.items():
            for who, verb in itertools.product(WHO, done):
                tokens = _words(who, *verb.split(), "the", old, word, when)
                yield Phrase(tokens, tokens.index(word), sense, (1,))
            for where, was, how in itertools.product(WHERE, ("was", "looked"), how_it_is):
                tokens = _words(when, "the", old, word, *where.split(), was, how)
                yield Phrase(tokens, tokens.index(word), sense, (len(tokens) - 1,))


def homonym() -> Sentences:
    """One word, several senses, in English and Korean."""
    phrases = [*_homonyms_ko(), *_homonyms_en()]
    texts = (
        "나는 배를 깎았다",
        "나는 배를 탔다",
        "나는 배를 문질렀다",
        "she robbed the bank",
        "she climbed the bank",
        "the bat was hungry",
        "the bat was wooden",
    )
    return written_out(
        phrases,
        [_the(phrases, text) for text in texts],
        name="homonym",
        title={"en": "Which bank, which bat?", "ko": "어느 배, 어느 눈일까?"},
        about={
            "en": "One word has several senses; at that word the model must say which one is meant. One other word tells, now "
            "before it, now after it, near or far.",
            "ko": "뜻이 여럿인 낱말이 있고, 그 자리에서 어느 뜻인지 맞혀야 합니다. 다른 낱말 하나가 알려 주는데, 앞에도 뒤에도, 가까이에도 "
            "멀리에도 있을 수 있습니다.",
        },
        causal=False,
        sizes=Sizes(),
        settings=Settings(steps=600, learning_rate=1e-2, weight_decay=0.3),
    )


# subject and verb ---------------------------------------------------------------------------------

NOUNS = ("key", "book", "picture", "letter", "cup", "cabinet", "table", "window")
NEAR = ("near", "behind", "under", "beside")
OPENINGS = ("", "today", "in fact", "of course", "as you know", "as we all know")
LOOKS = ("", "old", "small", "small old")
N_AGREEMENTS = 4000


def _agreements() -> Iterator[Phrase]:
    """[in fact] the [small] [old] keys near the cabinet [behind the doors] … → are"""
    rng = np.random.default_rng(1)
    for _ in range(N_AGREEMENTS):
        opening, looks = OPENINGS[rng.integers(len(OPENINGS))], LOOKS[rng.integers(len(LOOKS))]
        nouns = rng.permutation(len(NOUNS))[: rng.integers(2, 5)]
        numbers = rng.integers(0, 2, len(nouns))
        texts = [NOUNS[noun] + "s" * number for noun, number in zip(nouns, numbers, strict=True)]
        yield _agreement(opening, looks, texts, [NEAR[at] for at in rng.permutation(len(NEAR))])


def _agreement(opening: str, looks: str, nouns: Sequence[str], near: Sequence[str]) -> Phrase:
    """``nouns``: the subject, then those that it stands near."""
    start = (*opening.split(), "the", *looks.split(), nouns[0])
    others = itertools.chain.from_iterable((how, "the", noun) for how, noun in zip(near, nouns[1:], strict=False))
    tokens = (*start, *others)
    return Phrase(tokens, len(tokens) - 1, "are" if nouns[0].endswith("s") else "is", (len(start) - 1,))


def subject_verb() -> Sentences:
    """The verb agrees with its subject, not with the noun before it."""
    near = ("near",)
    probes = [
        _agreement("", "", ("keys", "cabinet"), near),
        _agreement("", "", ("key", "cabinet"), near),
        _agreement("", "", ("keys", "cabinets"), near),
        _agreement("", "", ("key", "cabinets"), near),
        _agreement("in fact", "old", ("keys", "table", "window"), ("under", "near")),
    ]
    return written_out(
        [*probes, *_agreements()],
        probes,
        name="subject-verb",
        title={"en": "The keys near the cabinet is, or are?", "ko": "주어와 동사의 일치: is일까, are일까?"},
        about={
            "en": "After “the keys near the cabinet” comes “are”: the verb agrees with its subject, the first noun, however "
            "many nouns of the other number stand between; any noun may be the subject. Causal: the last token may read only "
            "what stands before it.",
            "ko": "“the keys near the cabinet” 다음에는 “are”가 옵니다. 사이에 수가 다른 명사가 아무리 있어도 동사는 맨 앞 명사인 주어에 "
            "맞추고, 어느 명사든 주어가 될 수 있습니다. 인과 마스크: 마지막 토큰은 앞에 있는 것만 볼 수 있습니다.",
        },
        causal=True,
        sizes=Sizes(),
        settings=Settings(steps=400, learning_rate=1e-2),
    )
