"""Five relations in real models, by annotated treebanks: python benchmarks/relations.py --model FOLDER FILE.conllu …

    python benchmarks/relations.py --model demo --model FOLDER en_pud.conllu ko_pud.conllu --limit 1000

Subject and verb, verb and object, pronoun and antecedent, near words, position: for each the head that plays it best, its
score, the best trivial rule's, the difference and its 95% interval, as a Markdown table. The head is chosen on every other
sentence, and all its figures are of the rest, so that the best of many is not flattered by having been chosen.

A treebank without coreference says nothing of pronouns. Two things that its trees do say stand in, and which one it was is
written above the table: an English relative pronoun (who, which, that …) stands for the noun that its clause hangs on; for
Korean 자신 (oneself) the subject of the nearest clause above that has one before it is taken.

Only where a model knows a language is it measured in it: where under 1% of the text is unknown to its vocabulary, and a
Korean syllable takes at most one piece on average (else it reads single letters, or bytes).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jumok
from jumok.measurement.corpus import conllu
from jumok.measurement.corpus.sentence import Sentence, Word
from jumok.measurement.roles.table import HeadRole, HeadTable
from jumok.sources.capture.models import demo_folder, tokenizer_of
from jumok.sources.capture.texts import encoded

RELATIONS = {
    "subject and verb": ("subject-verb", "verb-subject"),
    "verb and object": ("verb-object", "object-verb"),
    "pronoun and antecedent": ("pronoun-antecedent",),
    "near words": ("near",),
    "position": ("previous", "next", "positional"),
}
ROLES = [role for roles in RELATIONS.values() for role in roles]
RELATIVE = ("who", "whom", "whose", "which", "that")
REFLEXIVE = "자신"
SYLLABLE = re.compile("[가-힣]")
MOST_UNKNOWN, MOST_PIECES = 0.01, 1.0  # a share of the pieces; pieces a syllable


def main() -> None:
    """Print a table a model and treebank."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, action="append", help="folder of a transformers model, or demo")
    parser.add_argument("corpus", nargs="+", help=".conllu")
    parser.add_argument("--limit", type=int, help="sentences of each corpus at most")
    given = parser.parse_args()
    for model in given.model:
        for path in given.corpus:
            told(model, Path(path), list(conllu.sentences(path))[: given.limit])


def told(model: str, path: Path, sentences: Sequence[Sentence]) -> None:
    """One table, or why there is none."""
    name = "all-MiniLM-L6-v2 (demo)" if model == "demo" else Path(model).name
    print(f"### {name}, {path.name}, {len(sentences):,} sentences\n", flush=True)
    if reason := stranger(tokenizer_of(demo_folder() if model == "demo" else Path(model)), sentences):
        print(f"Not measured: {reason}.\n", flush=True)
        return
    known = [pronouns(one) for one in sentences]
    chosen_on, measured_on = (
        jumok.measure(model, known[half::2], workers=1, roles=present(known)).table for half in (0, 1)
    )
    print("\n".join(rows(chosen_on, measured_on)))
    print(f"\n{stand_in(known)} {chosen_on.n_tested:,} tests in each half.\n")


def stranger(tokenizer: Any, sentences: Sequence[Sentence]) -> str:
    """Why a model does not know the language of a text; empty where nothing speaks against it."""
    texts = [one.text for one in sentences[:100]]
    made = [encoded(tokenizer, [text]) for text in texts]
    unknown = sum(one.unknown[0] for one in made) / len(made)
    if unknown > MOST_UNKNOWN:
        return f"{unknown:.0%} of the pieces are unknown to the vocabulary"
    spans = [(text, token.span) for text, one in zip(texts, made, strict=True) for token in one.tokens[0] if token.span]
    n_pieces = sum(SYLLABLE.search(text[slice(*span)]) is not None for text, span in spans)
    n_syllables = sum(len(SYLLABLE.findall(text)) for text in texts)
    if n_pieces > MOST_PIECES * n_syllables:
        return f"a Korean syllable takes {n_pieces / n_syllables:.1f} pieces (bytes or letters)"
    return ""


# pronouns -----------------------------------------------------------------------------------------


def pronouns(sentence: Sentence) -> Sentence:
    """With what pronouns stand for, as far as its tree says it, where no coreference was annotated."""
    if sentence.antecedents:
        return sentence
    words = sentence.words
    found = [(at, (noun,)) for at, word in enumerate(words) if (noun := antecedent(words, at, word)) >= 0]
    return replace(sentence, antecedents=tuple(found))


def antecedent(words: Sequence[Word], at: int, pronoun: Word) -> int:
    """The place of what a pronoun stands for, before it; −1 where the tree does not say."""
    if pronoun.form.lower() in RELATIVE and pronoun.upos == "PRON":
        for clause in above(words, at):
            if words[clause].relation.startswith("acl"):
                noun = words[clause].head
                return noun if noun is not None and 0 <= noun < at else -1
    if pronoun.form.startswith(REFLEXIVE):
        for clause in above(words, at):
            for subject in range(at):
                if words[subject].head == clause and words[subject].relation.startswith("nsubj"):
                    return subject
    return -1


def above(words: Sequence[Word], at: int) -> Iterator[int]:
    """The words that a word depends on, the nearest first."""
    head = words[at].head
    while head is not None and head >= 0:
        yield head
        head = words[head].head


def stand_in(known: Sequence[Sentence]) -> str:
    """What was taken for pronouns."""
    n = sum(len(one.antecedents) for one in known)
    return f"Pronouns with an antecedent in their sentence: {n}, relative pronouns (English) or 자신 (Korean), from the trees."


# tables -------------------------------------------------------------------------------------------


def present(known: Sequence[Sentence]) -> list[str]:
    """The roles that the corpus can have a case of."""
    has_pronouns = any(one.antecedents for one in known)
    return [role for role in ROLES if role != "pronoun-antecedent" or has_pronouns]


def rows(chosen_on: HeadTable, measured_on: HeadTable) -> Iterator[str]:
    """A line a relation and direction."""
    yield "| relation | role | head | score | baseline | difference, 95% interval | cases |"
    yield "|---|---|---|---|---|---|---|"
    for relation, roles in RELATIONS.items():
        for role in roles:
            best = chosen_on.best(role)
            row = None if best is None else of_role(measured_on, best)
            yield f"| {relation} | {role} | {cells(row) if row else 'no head with evidence | | | |'} |"


def of_role(table: HeadTable, best: HeadRole) -> HeadRole | None:
    """The same head and role in another table."""
    return next((row for row in table.of(best.layer, best.head) if row.role == best.role), None)


def cells(row: HeadRole) -> str:
    """Rounded to three decimals."""
    sign = "" if row.evidence else " (no evidence)"
    return (
        f"L{row.layer}H{row.head} | {row.score:.3f} | {row.baseline:.3f} ({row.baseline_rule}) | "
        f"{row.difference:+.3f}, {row.low:+.3f} to {row.high:+.3f}{sign} | {row.n_cases:,}"
    )


if __name__ == "__main__":
    main()
