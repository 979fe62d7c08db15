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
    reads = np.zeros((len(phrases), longest, longest), bool)
    for at, one in enumerate(phrases):
        tokens[at, : len(one.tokens)] = [numbers[text] for text in one.tokens]
        targets[at, one.query] = numbers[one.answer]
        reads[at, one.query, list(one.reads)] = True
    return Batch(tokens, targets, np.array([len(one.tokens) for one in phrases]), reads)


# pronouns -----------------------------------------------------------------------------------------

ANIMALS = ("cat", "dog", "rabbit", "bird", "horse", "mouse")
THINGS = ("mat", "rug", "sofa", "bed", "box", "chair")
RESTS = ("sat", "slept", "lay")
FEELS = ("tired", "hungry", "sleepy", "scared", "sick")
IS_LIKE = ("soft", "flat", "wooden", "dusty", "cheap")
ANIMALS_KO = ("고양이", "강아지", "토끼", "새", "생쥐", "여우")
THINGS_KO = ("매트", "담요", "소파", "침대", "상자", "의자")
RESTS_KO = ("앉았다", "잤다", "누웠다")
FEELS_KO = ("피곤했다", "배고팠다", "졸렸다", "겁났다", "아팠다")
IS_LIKE_KO = ("푹신했다", "납작했다", "낡았다", "더러웠다", "값쌌다")


def _pronouns_en() -> Iterator[Phrase]:
    """the cat sat on the mat because it was tired → cat; also: on the mat sat the cat …"""
    for animal, thing, rests, likes in itertools.product(ANIMALS, THINGS, RESTS, (*FEELS, *IS_LIKE)):
        meant = animal if likes in FEELS else thing
        end = ("because", "it", "was", likes)
        for start in (("the", animal, rests, "on", "the", thing), ("on", "the", thing, rests, "the", animal)):
            tokens = (*start, *end)
            yield Phrase(tokens, tokens.index("it"), meant, (tokens.index(meant),))


def _pronouns_ko() -> Iterator[Phrase]:
    """고양이가 매트 위에 앉았다. 그것은 피곤했다 → 고양이가"""
    for animal, thing, rests, likes in itertools.product(ANIMALS_KO, THINGS_KO, RESTS_KO, (*FEELS_KO, *IS_LIKE_KO)):
        who = with_particle(animal, "이/가")
        meant, answer = (who, animal) if likes in FEELS_KO else (thing, thing)
        for start in ((who, thing, "위에", rests), (thing, "위에", who, rests)):
            tokens = (*start, ".", "그것은", likes)
            yield Phrase(tokens, tokens.index("그것은"), answer, (tokens.index(meant),))


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
            "en": "An animal rests on a thing, because it was tired, or soft: at “it” the model must name the noun that is "
            "meant. The word that decides stands elsewhere, so one layer reads it and the next one turns to the noun.",
            "ko": "동물이 물건 위에서 쉽니다. 그것은 피곤했거나 푹신했습니다. ‘it’, ‘그것은’ 자리에서 가리키는 명사를 맞혀야 합니다. "
            "무엇인지 정해 주는 말은 다른 자리에 있으므로, 한 층이 그 말을 읽고 다음 층이 명사를 찾아갑니다.",
        },
        causal=False,
        sizes=Sizes(n_layers=2),
        settings=Settings(steps=600),
    )


def _the(phrases: Iterable[Phrase], text: str) -> Phrase:
    return next(one for one in phrases if " ".join(one.tokens) == text)


# homonyms -----------------------------------------------------------------------------------------

WHO_KO = ("나는", "동생은", "친구는", "엄마는", "할머니는", "선생님은")
WHEN_KO = ("", "어제", "오늘", "아까", "드디어", "혼자")
SENSES_KO = {  # word → sense → what stands after it
    "은행을": {"은행(돈)": ("이용했다", "옮겼다", "믿었다"), "은행(열매)": ("주웠다", "구웠다", "먹었다")},
    "배를": {"배(과일)": ("깎았다", "먹었다"), "배(탈것)": ("탔다", "기다렸다"), "배(몸)": ("문질렀다", "움켜쥐었다")},
    "눈을": {"눈(날씨)": ("치웠다", "맞았다", "뭉쳤다"), "눈(몸)": ("감았다", "비볐다", "떴다")},
    "밤을": {"밤(열매)": ("구웠다", "먹었다", "깠다"), "밤(시간)": ("새웠다", "보냈다")},
}
WHO = ("he", "she", "they", "we", "nobody", "everyone")
WHEN = ("", "today", "once", "again", "there", "later")
SENSES = {
    "bank": {
        "bank (money)": ("opened an account at the {} {}", "borrowed from the {} {}", "robbed the {} {}"),
        "bank (river)": ("fished from the {} {}", "swam to the {} {}", "rowed along the {} {}"),
    },
    "bat": {
        "bat (animal)": ("fed the {} {}", "woke the {} {}", "heard the {} {}"),
        "bat (sport)": ("swung the {} {}", "gripped the {} {}", "broke the {} {}"),
    },
}


def _homonyms() -> Iterator[Phrase]:
    for (word, senses), who, when in itertools.product(SENSES_KO.items(), WHO_KO, WHEN_KO):
        for sense, verbs in senses.items():
            for verb in verbs:
                tokens = tuple(text for text in (who, when, word, verb) if text)
                yield Phrase(tokens, tokens.index(word), sense, (len(tokens) - 1,))
    for (word, senses), who, when in itertools.product(SENSES.items(), WHO, WHEN):
        for sense, endings in senses.items():
            for ending in endings:
                tokens = (who, *ending.format(word, when).split())
                yield Phrase(tokens, tokens.index(word), sense, _telling(tokens))


def _telling(tokens: tuple[str, ...]) -> tuple[int, ...]:
    """Where the words stand that tell the sense: all between who and the article."""
    return tuple(range(1, tokens.index("the")))


def homonym() -> Sentences:
    """One word, several senses, in English and Korean."""
    phrases = list(_homonyms())
    texts = ("나는 배를 깎았다", "나는 배를 탔다", "나는 배를 문질렀다", "she robbed the bank", "she swam to the bank")
    return written_out(
        phrases,
        [_the(phrases, text) for text in texts],
        name="homonym",
        title={"en": "Which bank, which bat?", "ko": "어느 배, 어느 눈입니까?"},
        about={
            "en": "One word has several senses; at that word the model must say which one is meant. Its neighbours tell.",
            "ko": "뜻이 여럿인 낱말이 있고, 그 자리에서 어느 뜻인지 맞혀야 합니다. 둘레의 낱말이 알려 줍니다.",
        },
        causal=False,
        sizes=Sizes(),
        settings=Settings(steps=600),
    )


# subject and verb ---------------------------------------------------------------------------------

HEADS = (("key", "keys"), ("book", "books"), ("picture", "pictures"), ("letter", "letters"), ("cup", "cups"))
PLACES = (("cabinet", "cabinets"), ("table", "tables"), ("window", "windows"), ("door", "doors"), ("shelf", "shelves"))
NEAR = ("near", "behind", "under", "on")
OPENINGS = ((), ("today",), ("in", "fact"), ("old",), ("today", "old"))


def _agreements() -> Iterator[Phrase]:
    """[today] the [old] keys near the cabinet [behind the doors] → are"""
    for opening, subject, plural in itertools.product(OPENINGS, HEADS, (0, 1)):
        before = [word for word in opening if word != "old"]
        start = (*before, "the", *(["old"] if "old" in opening else []), subject[plural])
        for near, place, many in itertools.product(NEAR, PLACES, (0, 1)):
            tokens = (*start, near, "the", place[many])
            yield _agreement(tokens, len(start) - 1, plural)
            for other, more in itertools.product(PLACES[:3], (0, 1)):
                if other != place:
                    yield _agreement((*tokens, "behind", "the", other[more]), len(start) - 1, plural)


def _agreement(tokens: tuple[str, ...], subject: int, plural: int) -> Phrase:
    return Phrase(tokens, len(tokens) - 1, ("is", "are")[plural], (subject,))


def subject_verb() -> Sentences:
    """The verb agrees with its subject, not with the noun before it."""
    phrases = list(_agreements())
    texts = (
        "the keys near the cabinet",
        "the key near the cabinets",
        "today the old keys on the shelf behind the door",
    )
    probes = [_the(phrases, text) for text in texts if any(" ".join(one.tokens) == text for one in phrases)]
    return written_out(
        phrases,
        probes,
        name="subject-verb",
        title={"en": "The keys near the cabinet is, or are?", "ko": "주어와 동사의 일치: is일까, are일까?"},
        about={
            "en": "After “the keys near the cabinet” comes “are”: the verb agrees with its subject, however many nouns of the "
            "other number stand between. Causal: the last token may read only what stands before it.",
            "ko": "“the keys near the cabinet” 다음에는 “are”가 옵니다. 사이에 수가 다른 명사가 있어도 동사는 주어에 맞춥니다. "
            "인과 마스크: 마지막 토큰은 앞에 있는 것만 볼 수 있습니다.",
        },
        causal=True,
        sizes=Sizes(),
        settings=Settings(steps=600),
    )
