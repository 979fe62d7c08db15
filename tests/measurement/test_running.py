"""A run over a corpus: the plan, batches, shards and examples; continued, refused, the same to the last bit."""

import errno
import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import transformers

import jumok
from jumok.errors import InputError, OutputError, UnknownName
from jumok.measurement.corpus.sentence import Sentence
from jumok.measurement.roles.cases import OFFSETS
from jumok.measurement.running import engines
from jumok.measurement.running.measured import verdict
from jumok.measurement.running.plan import Settings, batches, group_of, shards
from jumok.measurement.running.shard import Job, Part, Total, measured_part
from jumok.sources.capture.batches import BatchReader, open_module
from small_folders import conllu, decoder, encoder, folder_of, generator, llama_config, sentences, tokenizer
from small_tokenizers import byte_level, of_transformers

SMALL = {"shard_tokens": 300, "batch_tokens": 200}
CUT = Settings(200, 300)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return folder_of(encoder(), tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    path.write_text("\n".join(sentences(120)) + "\n")
    return path


@pytest.fixture(scope="module")
def run(model, corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "run"
    return jumok.measure(model, corpus, folder=folder, workers=1, **SMALL)


def heads_of(measured):
    return (measured.folder / "heads.parquet").read_bytes()


# the plan -----------------------------------------------------------------------------------------


def test_every_sentence_is_in_one_shard_and_in_one_batch():
    draw = np.random.default_rng(0)
    lengths = draw.integers(0, 60, 500).tolist()
    cut = shards(lengths, CUT)
    assert [at for one in cut for at in range(one.first, one.end)] == list(range(500))
    assert all(one.n_tokens >= 300 for one in cut[:-1])
    assert sum(one.n_tokens for one in cut) == sum(lengths)
    made = batches(lengths, CUT)
    assert sorted(at for some in made for at in some) == [at for at, length in enumerate(lengths) if length]
    assert all(len(some) == 1 or max(lengths[at] for at in some) * len(some) <= 200 for some in made)


def test_where_padding_cannot_be_told_a_batch_has_one_length():
    lengths = [5, 7, 5, 7, 6]
    assert batches(lengths, Settings(200, 300, pads=False)) == [[1, 3], [4], [0, 2]]


def test_groups_are_neighbours_and_none_is_empty():
    assert [group_of(at, 128) for at in range(128)] == list(range(128))
    of_many = [group_of(at, 1000) for at in range(1000)]
    assert of_many == sorted(of_many)
    assert set(of_many) == set(range(128))


# batches ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [encoder, decoder])
def test_batches_with_padding_give_what_sentences_alone_give(make):
    given = tuple(Sentence(text, name=str(at)) for at, text in enumerate(sentences(40, seed=1)))
    reads = open_module(make().double(), tokenizer())
    lengths = tuple(len(item.ids) for item in reads.encoded([one.text for one in given]))
    assert len(set(lengths)) > 5
    totals = []
    for batch_tokens in (1, 400):
        settings = Settings(batch_tokens, 10**6)
        job = Job(lambda: reads, settings, len(given))
        total = Total(settings)
        total.merge(measured_part(reads, job, Part(0, 0, given, lengths)))
        totals.append(total.tally)
    alone, together = totals
    assert alone.kept.keys() == together.kept.keys()
    for role in alone.kept:
        for name, sums in alone.real(role).items():
            np.testing.assert_allclose(together.real(role)[name], sums, atol=1e-6, err_msg=role)


def test_shards_merge_to_what_one_shard_gives(model, corpus, run):
    whole = jumok.measure(model, corpus, workers=1, shard_tokens=10**6, batch_tokens=200)
    assert len(run.plan["shards"]) > 4
    assert len(whole.plan["shards"]) == 1
    for one, other in zip(run.table.rows, whole.table.rows, strict=True):
        assert (one.layer, one.head, one.role, one.n_cases) == (other.layer, other.head, other.role, other.n_cases)
        assert one.with_sink == pytest.approx(other.with_sink, abs=1e-6)


# what comes of it ---------------------------------------------------------------------------------


def test_the_folder_holds_the_run_and_is_opened_again(run):
    assert sorted(one.name for one in run.folder.iterdir()) == [
        "examples.parquet",
        "heads.parquet",
        "plan.json",
        "shards",
    ]
    again = jumok.load(run.folder)
    assert again.table.rows == run.table.rows
    assert again.table.n_heads == run.table.n_heads == (2, 2)
    assert again.table.n_tested == run.table.n_tested
    assert again.examples == run.examples
    assert (again.model, again.corpus, again.n_sentences, again.n_tokens) == (
        run.model, "corpus.txt", 120, sum(one[2] for one in run.plan["shards"]))  # fmt: skip
    assert again.left_out == run.left_out == ()
    assert {verdict(row) for row in run.table.rows} <= {"evidence", "no-evidence", "too-few"}


@pytest.mark.parametrize("make", [generator, encoder])
def test_copying_scores_or_why_there_are_none_are_kept_with_the_run(make, tmp_path):
    import pyarrow.parquet

    model = folder_of(make(), tmp_path / "model")
    run = jumok.measure(model, folder=tmp_path / "run", repeated=6, limit=12, workers=1)
    assert jumok.load(tmp_path / "run").copied == run.copied
    column = pyarrow.parquet.read_table(tmp_path / "run" / "heads.parquet").column("copying").to_pylist()
    told = run.to_json()
    if make is encoder:
        assert run.copied.scores == {}
        assert "no matrix that makes logits" in told["no_copying"]["en"]
        assert "로짓" in told["no_copying"]["ko"]
        assert set(column) == {None}
    else:
        assert sorted(run.copied.scores) == [(layer, head) for layer in range(2) for head in range(4)]
        assert column == [run.copied.scores[row.layer, row.head] for row in run.table.rows]
        assert told["copying"][5] == {"layer": 1, "head": 1, "score": run.copied.scores[1, 1]}
        assert told["no_copying"] is None


def test_what_was_measured_does_not_fall_with_the_copying_scores(monkeypatch, tmp_path):
    def unlike(_self):
        raise RuntimeError("a head unlike others")

    monkeypatch.setattr(BatchReader, "circuits", unlike)
    run = jumok.measure(
        folder_of(generator(), tmp_path / "model"), folder=tmp_path / "run", repeated=6, limit=12, workers=1
    )
    assert run.table.rows
    assert all("a head unlike others" in text for text in run.copied.why)
    assert len(repr(run)) < 300


def test_copying_is_not_looked_for_without_induction(tmp_path):
    model = folder_of(generator(), tmp_path / "model")
    run = jumok.measure(model, sentences(12), workers=1, roles=["previous"])
    assert (run.copied.scores, run.copied.why) == ({}, None)


def test_a_run_of_before_there_were_copying_scores_is_read(run, tmp_path):
    import pyarrow.parquet

    folder = tmp_path / "run"
    shutil.copytree(run.folder, folder)
    table = pyarrow.parquet.read_table(folder / "heads.parquet").drop_columns(["copying"])
    pyarrow.parquet.write_table(table, folder / "heads.parquet")
    old = jumok.load(folder)
    assert old.table.rows == run.table.rows
    assert old.copied.scores == {}


def test_a_folder_without_a_finished_run_is_refused(run, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "plan.json").write_bytes((run.folder / "plan.json").read_bytes())
    with pytest.raises(InputError, match="not finished"):
        jumok.load(tmp_path / "run")
    for text in ("{}", '{"format": 1}', "[" * 100_000, "plan"):
        (tmp_path / "run" / "plan.json").write_text(text)
        with pytest.raises(OutputError, match="no plan of a run of jumok"):
            jumok.load(tmp_path / "run")


def test_the_tables_are_read_by_duckdb_polars_and_pandas(run):
    import duckdb
    import pandas
    import polars

    path = str(run.folder / "heads.parquet")
    with duckdb.connect() as base:
        found = base.execute("select layer, head, role, score, q, verdict from read_parquet(?)", [path]).fetchall()
    of_polars = polars.read_parquet(path).select(["layer", "head", "role", "score", "q", "verdict"]).rows()
    frame = pandas.read_parquet(path)
    assert found == of_polars == [(r.layer, r.head, r.role, r.score, r.q, verdict(r)) for r in run.table.rows]
    assert frame["score"].tolist() == [row.score for row in run.table.rows]
    assert frame["p"].isna().sum() == sum(row.p is None for row in run.table.rows)
    with duckdb.connect() as base:
        (n,) = base.execute("select count(*) from read_parquet(?)", [str(run.folder / "examples.parquet")]).fetchone()
    assert n == len(run.examples)


def test_examples_are_cases_in_which_the_head_is_right(model, corpus, run):
    texts = corpus.read_text().splitlines()
    assert {one.role for one in run.examples} & {"previous", "self", "next", "first", "near"}
    places = {(row.layer, row.head, row.role) for row in run.table.rows if row.evidence}
    for one in run.examples:
        assert (one.layer, one.head, one.role) in places
        assert one.name == f"line {one.sentence + 1}"
        weights = jumok.capture(str(model), texts[one.sentence])[one.layer].rows("weights", heads=[one.head])[0]
        (query,), (key,) = one.query, one.key
        assert one.weight == pytest.approx(weights[query, key], abs=1e-5)
        offset = {"previous": -1, "self": 0, "next": 1}.get(one.role)
        if offset is not None:
            assert key - query == offset
        if one.role != "first":
            row = weights[query].copy()
            row[[0, -1]] = -1  # [CLS] and [SEP] are set apart
            if one.role == "same-token":
                row[query] = -1
            assert row[key] == pytest.approx(row.max(), abs=1e-5)
    for place in places:
        mine = run.examples_of(*place)
        assert len(mine) <= 3
        assert len({one.sentence for one in mine}) == len(mine)


def test_words_are_shown_with_all_their_pieces(model, tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(conllu(30))
    found = jumok.measure(model, path, workers=1)
    rows = [row for row in found.table.rows if row.role == "verb-subject"]
    assert {row.n_cases for row in rows} == {30}
    assert found.n_sentences == 30
    for one in found.examples:
        if one.role == "nsubj:to-head":
            assert ([one.tokens[at] for at in one.query], [one.tokens[at] for at in one.key]) == (["cat"], ["sat"])
            assert one.name.startswith("s")


def test_only_some_roles(model, corpus):
    found = jumok.measure(model, corpus, workers=1, limit=30, roles=["previous"])
    assert {row.role for row in found.table.rows} == {"previous"}
    assert found.table.n_tested == 4
    positional = jumok.measure(model, corpus, workers=1, limit=30, roles=["positional"])
    assert {row.role for row in positional.table.rows} == {"positional", *({"previous", "self", "next"}), *(
        f"offset:{d:+d}" for d in OFFSETS if abs(d) > 1)}  # fmt: skip
    with pytest.raises(UnknownName):
        jumok.measure(model, corpus, roles=["prevoius"])


@pytest.mark.parametrize(
    ("roles", "said"),
    [
        (["verb-subject"], r"no case of verb-subject\. Roles of words need a \.conllu file"),
        (["previous", "verb-subject", "pos:NOUN"], r"no case of verb-subject, pos:NOUN\."),
        (["offset:k"], r"offset:k stands for many roles\. Name one, such as offset:-2"),
        ("previous", "roles expects names"),
        ([], "roles expects names"),
    ],
)
def test_roles_that_cannot_be_measured_are_refused_before_anything_is(
    roles, said, model, corpus, tmp_path, monkeypatch
):
    monkeypatch.setattr(engines, "measured_part", None)
    with pytest.raises(InputError, match=said):
        jumok.measure(model, corpus, folder=tmp_path / "run", workers=1, limit=30, roles=roles)
    assert not (tmp_path / "run").exists()


def test_a_relation_that_an_annotated_corpus_lacks_is_refused_with_those_that_it_has(model, tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "measured_part", None)
    path = tmp_path / "a.conllu"
    path.write_text(conllu(12))
    with pytest.raises(InputError, match=r"no case of iobj:to-head\. It has, among others: .*nsubj:to-head"):
        jumok.measure(model, path, workers=1, roles=["nsubj:to-head", "iobj:to-head"])


def test_repeats_longer_than_the_model_reads_are_refused_with_the_most_it_takes(model):
    with pytest.raises(
        InputError, match=r"repeated 500 makes 1002 tokens, more than the \d+ that the model reads\. Give"
    ) as told:
        jumok.measure(model, repeated=500, workers=1, limit=3)
    most = int(told.value.en.split("Give ")[1].split()[0])
    with pytest.raises(InputError, match="more than"):
        jumok.measure(model, repeated=most + 1, workers=1, limit=3)
    assert jumok.measure(model, repeated=most, workers=1, limit=3).n_tokens == 3 * (2 * most + 2)


def test_sentences_too_long_for_the_model_are_left_out_and_told(model, tmp_path):
    path = tmp_path / "long.txt"
    path.write_text("\n".join([*sentences(12), "the cat " * 60, *sentences(3)]))
    found = jumok.measure(model, path, workers=1)
    assert found.n_sentences == 15
    assert [(one.name, one.why) for one in found.left_out] == [("line 13", "long")]


def test_random_tokens_are_whole_characters():
    cut = of_transformers(byte_level())
    model = transformers.LlamaModel(llama_config(layers=1))
    model.resize_token_embeddings(len(cut))
    drawn = open_module(model.eval(), cut).repeated(200, 0, 0)
    is_torn = ["\ufffd" in cut.decode([at]) for at in range(len(cut))]
    assert any(is_torn)
    assert not any(is_torn[at] for at in drawn.ids)


def test_random_repeated_tokens_have_only_repeats_and_the_same_from_the_same_seed(model):
    reads = open_module(encoder(), tokenizer())
    piece = reads.repeated(5, 0, 3)
    texts = [token.text for token in piece.tokens]
    assert (texts[0], texts[-1]) == ("[CLS]", "[SEP]")
    assert texts[1:6] == texts[6:11]
    assert not any(text.startswith("[") for text in texts[1:-1])
    assert len(set(texts[1:6])) == 5
    assert reads.repeated(5, 0, 3) == piece
    assert reads.repeated(5, 0, 4) != piece != reads.repeated(5, 1, 3)
    found = jumok.measure(model, repeated=8, limit=20, workers=1)
    induction = next(row for row in found.table.rows if row.role == "induction")
    assert (induction.n_cases, found.corpus) == (20 * 8, "8 random tokens, twice")
    assert found.n_tokens == 20 * 18


def test_layers_go_by_the_numbers_of_the_model():
    from jumok.measurement.roles.table import HeadTable
    from jumok.measurement.running.run import _numbered

    table = jumok.measure(encoder(), sentences(12), tokenizer()).table
    moved = _numbered(table, (1, 4))
    assert moved.n_heads == (0, 2, 0, 0, 2)
    assert {row.layer for row in moved.rows} == {1, 4}
    assert isinstance(moved, HeadTable)


# the same to the last bit -------------------------------------------------------------------------


def test_several_processes_give_the_same_bytes(model, corpus, run, tmp_path):
    other = jumok.measure(model, corpus, folder=tmp_path / "other", workers=2, **SMALL)
    assert heads_of(other) == heads_of(run)
    assert other.examples == run.examples
    assert (tmp_path / "other" / "examples.parquet").read_bytes() == (run.folder / "examples.parquet").read_bytes()


def test_a_run_that_lost_shards_or_has_a_damaged_one_goes_on(model, corpus, run, tmp_path, monkeypatch):
    folder = tmp_path / "run"
    jumok.measure(model, corpus, folder=folder, workers=1, **SMALL)
    (folder / "heads.parquet").unlink()
    (folder / "shards" / "0002.npz").unlink()
    (folder / "shards" / "0001.npz").write_bytes((folder / "shards" / "0001.npz").read_bytes()[:100])
    told = []
    made = jumok.measure(model, corpus, folder=folder, workers=1, progress=lambda *a: told.append(a), **SMALL)
    assert len(told) == 2
    assert told[-1][0] == told[-1][1]
    assert heads_of(made) == heads_of(run)
    monkeypatch.setattr(engines, "measured_part", None)  # all is there: nothing is measured again
    jumok.measure(model, corpus, folder=folder, workers=1, **SMALL)


@pytest.mark.parametrize("change", ["corpus", "settings", "model"])
def test_another_corpus_model_or_setting_is_refused_and_restart_begins_anew(change, model, corpus, run, tmp_path):
    folder, given = tmp_path / "run", dict(SMALL)
    jumok.measure(model, corpus, folder=folder, workers=1, limit=20, **given)
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    if change == "corpus":
        text = corpus.read_text()
        corpus = tmp_path / "corpus.txt"
        corpus.write_text(text.replace("cat", "mat", 1))
        what = "corpus.sha256"
    elif change == "settings":
        given["batch_tokens"], what = 100, "settings.batch_tokens: 200 → 100"
    else:
        other = encoder()
        other.encoder.layer[0].output.dense.bias.data[0] += 1e-3
        model, what = folder_of(other, tmp_path / model.name), "model.weights"
    with pytest.raises(OutputError) as refused:
        jumok.measure(model, corpus, folder=folder, workers=1, limit=20, **given)
    assert what in refused.value.en
    assert what in refused.value.ko
    assert "--restart" in refused.value.ko
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before
    made = jumok.measure(model, corpus, folder=folder, workers=1, limit=20, restart=True, **given)
    assert made.folder == folder
    assert json.loads((folder / "plan.json").read_text()) == json.loads(json.dumps(made.plan))


@pytest.mark.parametrize("plan", ['{"my": "travel plan"}', '{"format": 1, "model": {}}', "not even JSON"])
@pytest.mark.parametrize("restart", [False, True])
def test_another_programs_folder_is_refused_and_nothing_in_it_is_touched(plan, restart, model, corpus, tmp_path):
    folder = tmp_path / "foreign"
    (folder / "shards").mkdir(parents=True)
    for name, text in (("plan.json", plan), ("measure.html", "x"), ("shards/0001.npz", "precious")):
        (folder / name).write_text(text)
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    with pytest.raises(OutputError, match="no plan of a run of jumok") as refused:
        jumok.measure(model, corpus, folder=folder, workers=1, limit=12, restart=restart)
    assert "--restart" not in refused.value.en + refused.value.ko
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before


@pytest.mark.parametrize(("folder", "named"), [("", "plan.json"), ("run", "run"), ("new/run", "new")])
def test_a_disk_that_can_only_be_read_is_told_as_that(folder, named, model, corpus, tmp_path, monkeypatch):
    def only_read(**_):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("jumok.files.tempfile.mkstemp", only_read)
    with pytest.raises(OutputError, match="this disk can only be read") as refused:
        jumok.measure(model, corpus, folder=tmp_path / folder, workers=1)
    assert refused.value.en.startswith(f"cannot write {tmp_path / named}:")
    assert "읽기 전용" in refused.value.ko


def test_restart_takes_away_only_what_a_run_wrote(model, corpus, tmp_path):
    folder, given = tmp_path / "run", {"workers": 1, "limit": 12}
    jumok.measure(model, corpus, folder=folder, **given)
    plan = json.loads((folder / "plan.json").read_text())
    (folder / "plan.json").write_text(json.dumps(plan | {"format": 0}))  # of an older version
    for name in ("notes.txt", "shards/mine.npz", "shards/9999.npz"):
        (folder / name).write_text("mine")
    with pytest.raises(OutputError, match=r"another version of jumok.*--restart"):
        jumok.measure(model, corpus, folder=folder, **given)
    jumok.measure(model, corpus, folder=folder, restart=True, **given)
    assert (folder / "notes.txt").read_text() == (folder / "shards" / "mine.npz").read_text() == "mine"
    assert not (folder / "shards" / "9999.npz").exists()


def test_a_run_killed_before_its_plan_was_written_begins(model, corpus, tmp_path):
    (tmp_path / "run" / "shards").mkdir(parents=True)
    assert jumok.measure(model, corpus, folder=tmp_path / "run", workers=1, limit=12).n_sentences == 12


N_SENTENCES, N_KILLS = (int(os.environ.get(f"JUMOK_{name}", n)) for name, n in (("SENTENCES", 120), ("KILLS", 2)))
CHILD = """
import jumok, sys, time
model, corpus, folder, shard_tokens = sys.argv[1:]
slowly = lambda *_: time.sleep(0.1)  # so that it is killed in the middle, not after the end
jumok.measure(
    model, corpus, folder=folder, workers=1, shard_tokens=int(shard_tokens), batch_tokens=200, progress=slowly
)
"""


def child(model, corpus, folder, shard_tokens):
    return subprocess.Popen([sys.executable, "-c", CHILD, *map(str, (model, corpus, folder, shard_tokens))])


def killed_with(process, folder, n):
    """Kill a run when it has measured n shards more, however it got so far."""
    was = len(list(folder.glob("shards/*.npz")))
    end = time.monotonic() + 120
    while len(list(folder.glob("shards/*.npz"))) < was + n and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def test_killed_again_and_again_it_goes_on_to_the_same_bytes(model, tmp_path):
    corpus, folder, shard_tokens = tmp_path / "corpus.txt", tmp_path / "run", max(300, N_SENTENCES // 2)
    corpus.write_text("\n".join(sentences(N_SENTENCES)))
    draw = random.Random(os.environ.get("JUMOK_SEED", "0"))
    for _ in range(N_KILLS):
        killed_with(child(model, corpus, folder, shard_tokens), folder, draw.randint(1, 2))
    assert not (folder / "heads.parquet").exists()
    there = len(list(folder.glob("shards/*.npz")))
    told, given = [], {"workers": 1, "shard_tokens": shard_tokens, "batch_tokens": 200}
    made = jumok.measure(model, corpus, folder=folder, progress=lambda *a: told.append(a), **given)
    assert len(told) == len(made.plan["shards"]) - there
    assert made.n_sentences == N_SENTENCES
    assert heads_of(made) == heads_of(jumok.measure(model, corpus, folder=tmp_path / "whole", **given))


def test_a_worker_that_is_killed_is_replaced(model, corpus, run, tmp_path, monkeypatch):
    begun, started = [], engines._started

    def watched(*given):
        begun.append(started(*given))
        return begun[-1]

    def kill_once(*_):
        if len(begun) == 2:
            begun[0].kill()

    monkeypatch.setattr(engines, "_started", watched)
    made = jumok.measure(model, corpus, folder=tmp_path / "run", workers=2, progress=kill_once, **SMALL)
    assert len(begun) > 2
    assert heads_of(made) == heads_of(run)
    assert all(process.poll() is not None for process in begun)


PARENT = """
import functools, os, sys, time
from jumok.measurement.running import engines
from jumok.measurement.running.shard import Job

with os.fdopen(int(sys.argv[1]), "wb") as said:
    engines._started(Job(functools.partial(time.sleep, 600), None, 1), said)
    print("begun", flush=True)
    time.sleep(600)
"""


def test_a_worker_at_work_ends_with_the_one_who_asked():
    heard, said = os.pipe()
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(said)], pass_fds=[said], stdout=subprocess.PIPE)
    os.close(said)
    assert parent.stdout.readline() == b"begun\n"
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert select.select([heard], [], [], 60)[0]  # the end of the pipe, which the worker held open
    assert os.read(heard, 1) == b""
    os.close(heard)


def test_workers_that_die_again_and_again_are_told(model, corpus, monkeypatch):
    started = engines._started

    def dying(*given):
        process = started(*given)
        process.kill()
        return process

    monkeypatch.setattr(engines, "_started", dying)
    with pytest.raises(InputError, match=r"ended 3 times.*--workers 1"):
        jumok.measure(model, corpus, workers=2, **SMALL)
