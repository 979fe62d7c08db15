"""A run: looked at, planned, measured shard by shard, summed up."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ...errors import InputError
from ...variants.fast_numpy import one_thread_a_product
from ...words import with_particle
from ..roles.cases import OFFSETS, offset_role
from ..roles.copying import copying_through, vocabulary
from ..roles.definitions import definition
from ..roles.table import HeadTable, head_table
from ..roles.tally import Tally
from . import tables
from .corpus import Corpus, Looked, chosen, corpus_of, looked, parts
from .engines import engine_of, refuse_engine
from .examples import examples_of
from .folder import EXAMPLES, FORMAT, HEADS, RunFolder, begun, refuse_folder
from .measured import Copied, Measured
from .plan import LEAST_TOKENS, Settings, Shard, shards
from .reads import Opener, Reads
from .shard import Job, Total

__all__ = ["Asked", "Lacking", "Progress", "measured"]

Progress = Callable[[int, int, float, float], None]  # tokens done, of how many, tokens per second, seconds left
Lacking = Callable[[Sequence[str]], None]
MOST_NAMED = 12  # roles in a message
_FAMILIES = {
    "offset:k": "offset:-2", "pos:TAG": "pos:NOUN", "RELATION:to-head": "det:to-head", "RELATION:to-dependent": "det:to-dependent",
}  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """How a run is wanted.

    opener : opens the model, here and in other processes;  can_travel : False where only this process can
    corpus : a file's name, or texts and sentences;  limit : how many sentences at most
    folder : to keep the run in, or None;  restart : True to begin anew what is there
    roles : those that the table is of; None for all that the corpus has
    lacking : called before anything is measured, with the roles that have no case because the model does not read ahead
    """

    opener: Opener
    can_travel: bool
    corpus: Any
    limit: int | None = None
    folder: str | os.PathLike[str] | None = None
    restart: bool = False
    engine: str = "local"
    workers: int | None = None
    roles: Collection[str] | None = None
    seed: int = 0
    repeated: int | None = None
    batch_tokens: int = 1024
    shard_tokens: int = 16_384
    lacking: Lacking | None = None


def measured(asked: Asked, version: str, progress: Progress | None = None) -> Measured:
    """What every head of a model does over a corpus.

    version : of jumok, which a run that goes on must share
    progress : called with the tokens that are done, their number, tokens per second and seconds left

    Errors: ``InputError`` for a corpus, a model or an option that does not fit; ``OutputError`` for a folder that holds another
    run or cannot be written; ``MissingExtra`` for what a folder or an engine needs.
    """
    ready = _ready(asked, version)
    folder = None if asked.folder is None else begun(asked.folder, ready.plan, asked.restart)
    total = _summed(ready, asked, folder, progress)
    made = _told(ready, asked, total, folder)
    if folder is not None:
        for name, table in ((EXAMPLES, tables.examples(made)), (HEADS, tables.heads(made))):
            tables.write(table, folder.path / name)
    return made


@dataclass(frozen=True)
class _Ready:
    """What is known before anything is measured."""

    corpus: Corpus
    reads: Reads
    settings: Settings
    looked: Looked
    shards: Sequence[Shard]
    plan: dict[str, Any]


def _ready(asked: Asked, version: str) -> _Ready:
    """Refuse what can be refused, from the cheapest to the dearest; then the plan."""
    refuse_engine(asked.engine, asked.workers)
    _refuse_roles(asked.roles)
    if asked.folder is not None:
        tables.refuse_without_arrow()
        refuse_folder(asked.folder, asked.restart)
    settings = _settings(asked)
    corpus = corpus_of(asked.corpus, asked.limit, settings)
    reads = asked.opener()
    settings = replace(settings, pads=reads.pads)
    found = looked(corpus, reads, settings)
    _refuse_without_case(asked.roles, found)
    _told_ahead(asked, found, reads)
    cut = shards(found.lengths, settings)
    told = {
        "format": FORMAT,
        "jumok": version,
        "model": reads.identity(),
        "corpus": {
            "name": corpus.name, "sha256": found.fingerprint, "limit": corpus.limit, "n_sentences": len(found.lengths),
            "n_measured": sum(map(bool, found.lengths)), "n_tokens": sum(found.lengths),
            "n_left_out": found.n_left_out, "left_out": [asdict(one) for one in found.left_out],
        },
        "settings": asdict(settings) | {"roles": None if asked.roles is None else sorted(asked.roles)},
        "shards": [[one.first, one.end, one.n_tokens] for one in cut],
    }  # fmt: skip
    return _Ready(corpus, reads, settings, found, cut, told)


def _refuse_roles(roles: Collection[str] | None) -> None:
    """Refuse what is no role.

    Errors: ``UnknownName``; ``InputError`` for a name that stands for many.
    """
    if roles is not None and (isinstance(roles, str) or not roles):
        raise InputError(
            en=f"roles expects names, such as ['previous'], or None for all; got {roles!r}.",
            ko=f"roles에는 ['previous'] 같은 이름의 목록이나 모두를 뜻하는 None이 필요한데 {with_particle(repr(roles), '이/가')} 왔습니다.",
        )
    for role in roles or ():
        definition(role)
        if role in _FAMILIES:
            raise InputError(
                en=f"{role} stands for many roles. Name one, such as {_FAMILIES[role]}.",
                ko=f"{with_particle(role, '은/는')} 여러 역할을 한꺼번에 이르는 이름입니다. {_FAMILIES[role]}처럼 하나를 고르십시오.",
            )


def _refuse_without_case(roles: Collection[str] | None, found: Looked) -> None:
    """Refuse roles of words that no sentence has, before anything is measured."""
    lacking = [role for role in roles or () if definition(role).annotated and role not in found.word_roles]
    if lacking:
        raise _no_case(lacking, found.word_roles)


_AHEAD = {"next", *(offset_role(offset) for offset in OFFSETS if offset > 0)}  # roles of what comes after


def _told_ahead(asked: Asked, found: Looked, reads: Reads) -> None:
    """Tell which roles ask for what comes later, of a model that does not read it; refuse where no other role is left.

    Errors: ``InputError``.
    """
    if reads.reads_ahead():
        return
    of_words = sorted(found.word_roles - found.back_roles)
    wanted = ["next", *of_words] if asked.roles is None else asked.roles
    lacking = [role for role in wanted if role in _AHEAD or role in of_words]
    if asked.roles is not None and len(lacking) == len(asked.roles):
        names = ", ".join(lacking)
        raise InputError(
            en=f"{reads.name} reads only what came before, so the corpus has no case of {names} for it.",
            ko=f"{with_particle(reads.name, '은/는')} 앞에 나온 것만 보므로 말뭉치에 {names}에 해당하는 경우가 없습니다.",
        )
    if lacking and asked.lacking is not None:
        asked.lacking(lacking)


def _no_case(lacking: Collection[str], there: Collection[str]) -> InputError:
    some = ", ".join(sorted(there)[:MOST_NAMED])
    has, has_ko = (f" It has, among others: {some}.", f" 있는 역할의 예: {some}.") if there else ("", "")
    words, words_ko = "", ""
    if any(definition(role).annotated for role in lacking):
        words, words_ko = " Roles of words need a .conllu file.", " 단어의 역할에는 .conllu 파일이 필요합니다."
    names = ", ".join(lacking)
    return InputError(
        en=f"the corpus has no case of {names}.{has}{words}",
        ko=f"말뭉치에 {names}에 해당하는 경우가 없습니다.{has_ko}{words_ko}",
    )


def _settings(asked: Asked) -> Settings:
    """The numbers that were asked for.

    Errors: ``InputError`` for what is no whole number, or too small.
    """
    least = {"seed": 0, "batch_tokens": 1, "shard_tokens": 1, "repeated": LEAST_TOKENS}
    for name, smallest in least.items():
        value = getattr(asked, name)
        if (value is not None or name != "repeated") and (type(value) is not int or value < smallest):
            raise InputError(
                en=f"{name} expects a whole number from {smallest}, got {value!r}.",
                ko=f"{name}에는 {smallest} 이상의 정수가 필요한데 {with_particle(repr(value), '이/가')} 왔습니다.",
            )
    return Settings(asked.batch_tokens, asked.shard_tokens, seed=asked.seed, repeated=asked.repeated or 0)


def _summed(ready: _Ready, asked: Asked, folder: RunFolder | None, progress: Progress | None) -> Total:
    """All shards, those that were measured before included."""
    n = len(ready.shards)
    done = set() if folder is None else folder.done(n)
    engine = engine_of(asked.engine, asked.workers, asked.can_travel, n - len(done))
    job = Job(asked.opener if asked.can_travel else lambda: ready.reads, ready.settings, len(ready.looked.lengths))
    wanted = parts(ready.corpus, ready.looked.lengths, ready.shards, set(range(n)) - done)
    total, clock = Total(ready.settings), _Clock(ready.shards, done, progress)
    for number, arrays in engine(ready.reads, job, wanted):
        if folder is None:
            total.merge(arrays)
        else:
            folder.keep(number, arrays)
        clock.passed(number)
    for arrays in () if folder is None else folder.kept(n):
        total.merge(arrays)
    return total


def _told(ready: _Ready, asked: Asked, total: Total, folder: RunFolder | None) -> Measured:
    """The table and its examples."""
    has_positional = asked.roles is None or "positional" in asked.roles
    tally = _tally(total, asked.roles)
    found = _numbered(head_table(tally, seed=ready.settings.seed, has_positional=has_positional), total.numbers)
    places = {at for seen in total.sampled.values() for at in seen}
    with one_thread_a_product():
        shown = examples_of(
            ready.reads, ready.settings, chosen(ready.corpus, places), total.sampled, found, total.numbers
        )
        has_induction = any(row.role == "induction" for row in found.rows)
        copied = _copied(ready.reads, total.numbers) if has_induction else Copied()
    about = ready.plan["corpus"]
    return Measured(
        found, shown, ready.reads.name, ready.corpus.name, about["n_measured"], about["n_tokens"], ready.looked.left_out,
        ready.plan, None if folder is None else folder.path, copied,
    )  # fmt: skip


def _copied(reads: Reads, numbers: Sequence[int]) -> Copied:
    """The copying scores of all heads, or why the model has none: what was measured does not fall with them."""
    try:
        found = reads.circuits()
    except InputError as error:
        return Copied(why=(error.en, error.ko))
    except Exception as error:  # a model unlike any that was thought of
        kind = type(error).__name__
        return Copied(why=(
            f"the matrices around its heads could not be followed ({kind}: {error}).",
            f"헤드를 둘러싼 행렬을 따라갈 수 없었습니다({kind}: {error}).",
        ))  # fmt: skip
    tokens = vocabulary(found.w_e, found.w_u)
    return Copied({
        (layer, head): copying_through(*matrices, tokens)
        for layer, heads in zip(numbers, found.heads(), strict=True)
        for head, matrices in enumerate(heads)
    })  # fmt: skip


_OF_OFFSETS = {offset_role(offset) for offset in OFFSETS}


def _tally(total: Total, roles: Collection[str] | None) -> Tally:
    """The sums of the wanted roles: fewer tests are corrected for less."""
    assert total.tally is not None  # there is a sentence to measure
    if roles is None:
        return total.tally
    needed = {*roles, *(_OF_OFFSETS if "positional" in roles else ())}
    kept = {role: sums for role, sums in total.tally.kept.items() if role in needed}
    if not kept:
        raise _no_case(roles, total.tally.kept)
    return replace(total.tally, kept=kept)


def _numbered(found: HeadTable, numbers: Sequence[int]) -> HeadTable:
    """With the numbers that layers go by in the model, where not all of them have attention."""
    if tuple(numbers) == tuple(range(len(numbers))):
        return found
    n_heads = [0] * (max(numbers) + 1)
    for at, number in enumerate(numbers):
        n_heads[number] = found.n_heads[at]
    rows = tuple(replace(row, layer=numbers[row.layer]) for row in found.rows)
    return replace(found, rows=rows, n_heads=tuple(n_heads))


class _Clock:
    """How fast it goes, and how long it still takes."""

    def __init__(self, cut: Sequence[Shard], done: Collection[int], progress: Progress | None) -> None:
        self.cut, self.progress = cut, progress
        self.before = self.n_done = sum(cut[number].n_tokens for number in done)
        self.n = sum(one.n_tokens for one in cut)
        self.start = time.monotonic()

    def passed(self, number: int) -> None:
        """A shard is measured."""
        self.n_done += self.cut[number].n_tokens
        if self.progress is not None:
            speed = (self.n_done - self.before) / max(1e-9, time.monotonic() - self.start)
            self.progress(self.n_done, self.n, speed, (self.n - self.n_done) / max(1e-9, speed))
