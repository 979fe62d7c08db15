"""What is measured on: sentences that can be gone through more than once, and a first look at them."""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...files import is_file
from ...words import name_shown, with_particle, written
from ..corpus import conllu, plain
from ..corpus.sentence import Sentence
from ..roles.marked import marked
from .measured import LeftOut
from .plan import LEAST_TOKENS, Settings, Shard
from .reads import Reads
from .shard import Part, items_of

__all__ = ["Corpus", "Looked", "chosen", "corpus_of", "looked", "parts"]

N_AT_ONCE = 256  # sentences of the first look
MOST_NAMED = 100  # sentences left out that are kept by name
ANNOTATED = (".conllu", ".conllup")


@dataclass(frozen=True)
class Corpus:
    """Sentences, from a file or at hand.

    path : of a file, or None;  given : the sentences where there is no file;  limit : how many at most
    """

    name: str
    path: str | None = None
    given: tuple[Sentence, ...] = ()
    limit: int | None = None

    def sentences(self) -> Iterator[Sentence]:
        """One after another; never more than one in memory of a file.

        Errors: as of ``plain`` and ``conllu``.
        """
        if self.path is None:
            found: Iterator[Sentence] = iter(self.given)
        else:
            kind = conllu if Path(self.path).suffix.lower() in ANNOTATED else plain
            found = kind.sentences(self.path)
        return itertools.islice(found, self.limit)


def corpus_of(given: Any, limit: int | None, settings: Settings) -> Corpus:
    """A file's name, or texts and sentences; with ``settings.repeated`` there is nothing to give.

    Errors: ``InputError`` for anything else.
    """
    _refuse_limit(limit)
    if settings.repeated:
        if given is not None:
            raise InputError(
                en="repeated tokens take the place of a corpus. Give one of them.",
                ko="반복 토큰은 말뭉치를 대신합니다. 둘 가운데 하나만 주십시오.",
            )
        n = 128 if limit is None else limit
        drawn = tuple(Sentence("", name=f"draw {at}", line=at) for at in range(1, n + 1))
        return Corpus(f"{settings.repeated} random tokens, twice", given=drawn)
    if isinstance(given, (str, os.PathLike)):
        path = os.fspath(given)
        _refuse_no_file(path)
        return Corpus(written(Path(path).name), path, limit=limit)
    return Corpus("texts", given=_sentences(given), limit=limit)


def _refuse_limit(limit: Any) -> None:
    if limit is not None and (type(limit) is not int or limit < 1):
        raise InputError(
            en=f"limit expects a number of sentences, 1 or more, got {limit!r}.",
            ko=f"limit에는 1 이상의 문장 수가 필요한데 {with_particle(repr(limit), '이/가')} 왔습니다.",
        )


def _refuse_no_file(path: str) -> None:
    """What is read twice has to be a file: not a pipe, a folder, or nothing."""
    if path == "-":
        raise InputError(
            en="standard input is not read: a corpus is read twice. Write it into a file first.",
            ko="말뭉치는 두 번 읽으므로 표준 입력은 받지 않습니다. 먼저 파일에 저장하십시오.",
        )
    if not is_file(path):
        what, what_ko = ("no such file", "그런 파일이 없습니다")
        if os.path.exists(path):  # noqa: PTH110 (never an error, whatever the name)
            what, what_ko = ("not a file, and a corpus is read twice", "파일이 아닙니다. 말뭉치는 두 번 읽습니다")
        raise InputError(
            en=f"{path} cannot be measured on: {what}. Give a text file with a sentence on each line, or a .conllu file.",
            ko=f"{with_particle(path, '으로/로')}는 측정할 수 없습니다. {what_ko}. 한 줄에 한 문장을 쓴 글 파일이나 .conllu 파일을 주십시오.",
        )


def _sentences(given: Any) -> tuple[Sentence, ...]:
    made = []
    for at, one in enumerate(given if isinstance(given, Iterable) else [given]):
        if not isinstance(one, (str, Sentence)):
            raise InputError(
                en=f"a corpus is a file's name, or texts; got {type(one).__name__}: {one!r:.60}.",
                ko=f"말뭉치에는 파일 이름이나 글의 목록이 필요한데 {with_particle(type(one).__name__, '이/가')} 왔습니다: {one!r:.60}.",
            )
        made.append(one if isinstance(one, Sentence) else Sentence(one.strip(), name=f"text {at + 1}", line=at + 1))
    return tuple(one for one in made if one.text)


# the first look -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Looked:
    """What is known of a corpus before a model has read it.

    lengths : (sentence,) in tokens; 0 for one that is left out;  left_out : the first of these by name
    n_left_out : how many they are in all;  fingerprint : of all that was read
    word_roles : the roles of annotated words that some sentence has;  back_roles : those that ask for an earlier word somewhere
    """

    lengths: Sequence[int]
    left_out: tuple[LeftOut, ...]
    n_left_out: int
    fingerprint: str
    word_roles: frozenset[str] = frozenset()
    back_roles: frozenset[str] = frozenset()


def looked(corpus: Corpus, reads: Reads, settings: Settings) -> Looked:
    """Every sentence through the tokenizer, words laid over pieces: what cannot be measured is refused before anything is.

    Errors: ``InputError`` for a corpus without a sentence to measure, and for words that do not fit their pieces;
    as of ``Corpus.sentences``.
    """
    lengths: list[int] = []
    left: list[LeftOut] = []
    word_roles: set[str] = set()
    back_roles: set[str] = set()
    n_left, digest = 0, hashlib.sha256()
    sentences = corpus.sentences()
    while some := tuple(itertools.islice(sentences, N_AT_ONCE)):
        items = items_of(reads, settings, list(enumerate(some, len(lengths))))
        for sentence, item in zip(some, items, strict=True):
            digest.update(repr(tuple(item.ids) if settings.repeated else sentence).encode())
            n = len(item.ids)
            why = _why_not(n, reads.context)
            lengths.append(0 if why else n)
            if why:
                n_left += 1
                left += [LeftOut(sentence.name, n, why)] if len(left) < MOST_NAMED else []
            elif sentence.words:
                links = marked(item.tokens, sentence).links
                word_roles.update(links)
                back_roles.update(role for role, (reads, read) in links.items() if (read < reads).any())
    if n_left == len(lengths):
        raise _nothing(corpus, lengths, left, reads.context, settings.repeated)
    return Looked(lengths, tuple(left), n_left, digest.hexdigest(), frozenset(word_roles), frozenset(back_roles))


def _why_not(n: int, context: int | None) -> str:
    if n < LEAST_TOKENS:
        return "short"
    return "long" if context is not None and n > context else ""


def _nothing(
    corpus: Corpus, lengths: Sequence[int], left: Sequence[LeftOut], context: int | None, repeated: int
) -> InputError:
    if not lengths:
        return InputError(
            en=f"{corpus.name} holds no sentence. A corpus has a sentence on each line, or is a .conllu file.",
            ko=f"{corpus.name}에 문장이 없습니다. 말뭉치는 한 줄에 한 문장을 쓴 글 파일이나 .conllu 파일입니다.",
        )
    first = left[0]
    if repeated and context is not None:
        most = (context - (first.n_tokens - 2 * repeated)) // 2  # marks stand around them
        return InputError(
            en=f"repeated {repeated} makes {first.n_tokens} tokens, more than the {context} that the model reads. Give {most} or fewer.",
            ko=f"repeated {with_particle(str(repeated), '은/는')} 토큰 {first.n_tokens}개가 되어 모델이 읽는 {context}개를 넘습니다. "
            f"{most} 이하로 하십시오.",
        )
    return InputError(
        en=f"{corpus.name} holds no sentence that can be measured: of {len(lengths)}, each has under {LEAST_TOKENS} tokens or more "
        f"than the model reads ({context}). The first, {name_shown(first.name)}, has {first.n_tokens}.",
        ko=f"{corpus.name}에 측정할 수 있는 문장이 없습니다. 문장 {len(lengths)}개가 모두 토큰 {LEAST_TOKENS}개보다 짧거나 모델이 읽는 "
        f"길이({context})를 넘습니다. 첫 문장 {name_shown(first.name)}의 토큰은 {first.n_tokens}개입니다.",
    )


def chosen(corpus: Corpus, places: Collection[int]) -> list[tuple[int, Sentence]]:
    """Some sentences, with their places."""
    last = max(places, default=-1)
    return [(at, one) for at, one in enumerate(itertools.islice(corpus.sentences(), last + 1)) if at in places]


def parts(corpus: Corpus, lengths: Sequence[int], plan: Sequence[Shard], wanted: set[int]) -> Iterator[Part]:
    """The sentences of the wanted shards, one shard after another."""
    sentences = corpus.sentences()
    for number, shard in enumerate(plan):
        mine = tuple(itertools.islice(sentences, shard.end - shard.first))
        if number in wanted:
            yield Part(number, shard.first, mine, tuple(lengths[shard.first : shard.end]))
