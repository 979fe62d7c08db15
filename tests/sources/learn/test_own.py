"""Tasks of one's own: what a file or a generator may hold, and what is said where it does not fit."""

import dataclasses
import itertools
import os
import unicodedata

import numpy as np
import pytest

import jumok
from jumok.errors import InputError, UnknownName
from jumok.sources.learn import own
from jumok.sources.learn.problem import HELD_OUT_SEED, N_SEEN, _alone, problem
from jumok.sources.learn.tasks import task_of

RTL = "שלום"


def pairs(n=60):
    """Which of two words came: any of many others around it."""
    return [(f"{'빨강' if n % 2 else '파랑'} w{n % 7} x{n % 5} 🙂", f"{n % 2}") for n in range(n)]


def written(path, lines, encoding="utf-8"):
    path.write_bytes("".join(f"{line}\n" for line in lines).encode(encoding))
    return path


def refused(make, *phrases):
    with pytest.raises(InputError) as caught:
        make()
    en, ko = str(caught.value), caught.value.text("ko")
    for phrase in phrases:
        assert phrase in en
    assert any("HANGUL" in unicodedata.name(letter, "") for letter in ko)
    assert en.endswith(".")
    return ko


@pytest.mark.parametrize("form", ["file", "list", "generator", "function", "bom and crlf"])
def test_pairs_become_a_task_however_they_come(tmp_path, form):
    lines = ["\t".join(pair) for pair in pairs()]

    def colours():
        yield from pairs()

    made = {
        "file": lambda: str(written(tmp_path / "own.tsv", [*lines, "", "  "])),
        "list": pairs,
        "generator": colours,
        "function": lambda: colours,
        "bom and crlf": lambda: written(tmp_path / "own.txt", [f"{line}\r" for line in lines], "utf-8-sig"),
    }
    task = task_of(made[form]())
    assert task.name == {"file": "own", "list": "own", "bom and crlf": "own"}.get(form, "colours")
    assert len(task.training) + len(task.held_out) == len({text for text, _ in pairs()})
    assert 0 < len(task.held_out) < len(task.training)
    assert set(map(bytes, task.held_out.tokens)).isdisjoint(map(bytes, task.training.tokens))
    assert "🙂" in task.vocabulary


def test_what_is_held_out_holds_nothing_that_was_never_trained():
    task = task_of(pairs())
    assert set(task.held_out.tokens.ravel()) <= set(task.training.tokens.ravel())
    assert set(task.held_out.targets.ravel()) <= set(task.training.targets.ravel())


def test_a_task_of_one_s_own_is_learned_saved_and_known_again(tmp_path):
    out = tmp_path / "run.safetensors"
    learned = jumok.learn(pairs(), steps=60, learning_rate=1e-2, out=out)
    assert learned.accuracy == 1
    kept = jumok.load(out)
    assert kept.answer("빨강 w1 x1 🙂")[-1] == "1"
    assert kept.task.pairs == tuple(pairs())
    with pytest.raises(UnknownName, match="never shown"):
        kept.trace("초록 w1")
    jumok.learn(pairs(), steps=61, learning_rate=1e-2, out=out, resume=True)
    with pytest.raises(InputError, match="made from other data"):
        jumok.learn(pairs(50), steps=70, learning_rate=1e-2, out=out, resume=True)


def test_an_answer_at_each_word_and_tokens_of_any_script():
    task = task_of(
        [(f"{RTL} {a} e\u0301{b} 👩‍👩‍👧", f"{a} {b} {RTL} x") for a, b in itertools.product("가나다라마", "ABCDE")]
    )
    assert {RTL, "👩‍👩‍👧", "e\u0301A"} <= set(task.vocabulary)
    assert (task.training.targets >= 0).all()
    assert (
        jumok.learn([(a + " " + b, b + " " + a) for a, b in itertools.permutations("가나다라마바", 2)], steps=1).step
        == 1
    )


@pytest.mark.parametrize(
    ("lines", "phrases"),
    [
        ([], ["at least 10 different inputs, got 0"]),
        (["a\tb"] * 30, ["at least 10 different inputs, got 1"]),
        (["a 1\t0", "no tab here"], ["line 2", "got 0 tabs", "'no tab here'"]),
        (["a 1\t0", "", "a\tb\tc"], ["line 3", "got 2 tabs"]),
        (["a 1\t0", "", "\tb"], ["line 3", "got 0 and 1"]),
        (["a b c\tx y"], ["line 1", "got 3 and 2"]),
        (["w " * 129 + "\t1"], ["line 1", "1 to 128 words", "got 129"]),
        (["가" * 20_000 + "\t1"], ["line 1", "longer than 10,000 characters"]),
        (["a 1\t0", "a  1\t1"], ["line 2", "two targets, '0' and '1'"]),
        ([f"a {n}\tsame" for n in range(40)], ["every target is 'same'", "at least two"]),
        ([f"a{n} b{n}\t{n}" for n in range(40)], ["no input can be held out"]),
        (
            [" ".join(f"w{n}x{m}" for m in range(100)) + f"\t{n % 2}" for n in range(50)],
            ["at most 4,000 different words"],
        ),
    ],
)
def test_a_file_that_does_not_fit_is_told_by_line(tmp_path, lines, phrases):
    path = written(tmp_path / "own.tsv", lines)
    refused(lambda: task_of(path), *phrases)


def test_a_file_that_cannot_be_read_says_why(tmp_path):
    refused(lambda: task_of(tmp_path / "none.tsv"), "there is no such file")
    (tmp_path / "folder.tsv").mkdir()
    refused(lambda: task_of(tmp_path / "folder.tsv"), "it is a folder")
    lines = ["\t".join(pair).replace("🙂", "") for pair in pairs()]
    for encoding in ("cp949", "utf-16"):
        refused(
            lambda e=encoding: task_of(written(tmp_path / "own.tsv", lines, e)), "not UTF-8 text", "Save it as UTF-8"
        )


@pytest.mark.parametrize("suffix", ["tsv", "txt", "yaml", "yml"])
def test_a_pipe_is_not_waited_for(tmp_path, suffix):
    os.mkfifo(tmp_path / f"pipe.{suffix}")
    ko = refused(lambda: task_of(tmp_path / f"pipe.{suffix}"), "it is a pipe or a device", "Save its text as a file")
    assert "파이프나 장치" in ko


def test_a_file_of_too_many_lines_loses_none_unsaid(tmp_path, monkeypatch):
    monkeypatch.setattr(own, "MOST_PAIRS", 60)
    lines = ["\t".join(pair) for pair in pairs(61)]
    assert len(task_of(written(tmp_path / "own.tsv", lines[:60])).pairs) == 60
    refused(lambda: task_of(written(tmp_path / "own.tsv", lines)), "at most 60 lines")


@pytest.mark.parametrize(
    ("only", "said"), [("집", "'집'이라서"), ("나무", "'나무'라서"), ("cat", "'cat'이라서"), ("3", "'3'이라서")]
)
def test_korean_particles_follow_the_word_that_is_told(tmp_path, only, said):
    ko = refused(lambda: task_of(written(tmp_path / "own.tsv", [f"a {n}\t{only}" for n in range(40)])), "every target")
    assert said in ko


def test_what_needs_no_attention_is_never_less_than_the_most_frequent_answer():
    task = task_of([(f"w{n % 9} x{n % 7} y{n % 5}", "often" if n % 3 else "rare") for n in range(120)])
    known = problem(task, {"sizes": dataclasses.asdict(task.sizes), "batch": 4, "weight_decay": 0.0}).known
    assert _alone(task.batch(np.random.default_rng(HELD_OUT_SEED), N_SEEN), task.held_out) <= known.alone
    assert 0 < known.chance <= known.alone


def test_a_generator_that_never_ends_is_cut(monkeypatch):
    assert own.MOST_PAIRS == 100_000
    monkeypatch.setattr(own, "MOST_PAIRS", 500)
    drawn = []

    def endless():
        for n in itertools.count():
            drawn.append(n)
            yield f"{n % 2} w{n % 50} x{n % 7} y{n % 11}", str(n % 2)

    task = task_of(endless)
    assert len(drawn) == 500
    assert len(task.training) + len(task.held_out) == 500


@pytest.mark.parametrize("pair", [("only one",), ("a", 1), 5, b"ab", ("a", "b", "c")])
def test_a_pair_that_is_none_is_told_by_its_number(pair):
    refused(lambda: task_of([("a 1", "0"), pair]), "pair 2", "two texts")


def test_a_generator_that_fails_says_so_itself():
    def failing():
        yield "a", "b"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        task_of(failing)


def test_many_pairs_are_split_quickly():
    rng = np.random.default_rng(0)
    many = [(" ".join(f"w{word}" for word in row), str(row[0] % 2)) for row in rng.integers(0, 300, (20_000, 6))]
    task = task_of(many)
    assert len(task.held_out) > 3_000
