"""jumok measure on the command line: what is printed at 80 columns, what is written, and what is refused with exit code 2."""

import json
import os
import resource
import sys
import tracemalloc
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

import jumok
from jumok.cli import run
from small_folders import conllu, decoder, encoder, folder_of, sentences, tokenizer
from small_tokenizers import of_transformers


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(folder_of(encoder(), tmp_path_factory.mktemp("model")))


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.conllu"
    path.write_text(conllu(20))
    return path


def measure(*arguments):
    return run(["measure", "--workers", "1", *map(str, arguments)])


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_closing_table_has_best_heads_with_baseline_interval_and_evidence(lang, model, corpus, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert measure("--model", model, corpus, "--lang", lang) == 0
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    title, head, evidence, even = {
        "en": ("subject to verb", "head", "of 4", "even"), "ko": ("주어에서 동사로", "헤드", "4개 중", "고름")
    }[lang]  # fmt: skip
    lines = out.splitlines()
    assert all(wide(line) <= 80 for line in lines)
    row = next(line for line in lines if line.startswith(title))
    for part in ("L", "…", evidence):
        assert part in row
    assert head in next(line for line in lines if "95%" in line)
    assert even in out
    assert "corpus.conllu" in lines[0]
    assert "20" in lines[0]
    assert any(("no evidence" if lang == "en" else "근거가 없습니다") in line for line in lines)


def wide(line):
    from rich.cells import cell_len

    return cell_len(line)


def test_json_is_all_of_it(model, corpus, capsys):
    assert measure("--model", model, corpus, "--json", "--role", "previous") == 0
    told = json.loads(capsys.readouterr().out)
    assert {row["role"] for row in told["heads"]} == {"previous"}
    assert told["n_sentences"] == 20
    assert told["heads"][0]["verdict"] in ("evidence", "no-evidence")


def test_a_folder_holds_tables_and_a_page(model, corpus, tmp_path, capsys):
    folder = tmp_path / "run"
    assert measure("--model", model, corpus, "-o", folder) == 0
    assert sorted(one.name for one in folder.iterdir()) == [
        "examples.parquet", "heads.parquet", "measure.html", "plan.json", "shards"]  # fmt: skip
    assert str(folder) in capsys.readouterr().err


def test_one_sentence_is_told_as_one(model, corpus, capsys):
    assert measure("--model", model, corpus, "--limit", "1", "--lang", "en") == 0
    assert "· 1 sentence, " in " ".join(capsys.readouterr().out.split())


def test_a_wanted_role_without_a_case_is_told(model, corpus, capsys):
    asked = [part for role in ("previous", "offset:-8") for part in ("--role", role)]
    for lang, said in (("en", "Without a case in this corpus: offset -8"), ("ko", "경우가 없는 역할: -8칸")):
        assert measure("--model", model, corpus, "--limit", "1", *asked, "--lang", lang) == 0
        assert said in capsys.readouterr().out


@pytest.fixture(scope="module")
def causal(tmp_path_factory):
    return str(folder_of(decoder(), tmp_path_factory.mktemp("causal")))


@pytest.mark.parametrize(("lang", "said"), [
    ("en", "The model reads only what came before: in this corpus there is no case of these roles, and they are not measured: "
           "next token, case: dependent to head, det: dependent to head, nsubj: dependent to head, obl: head to dependent, "
           "subject to verb."),
    ("ko", "이 말뭉치에 해당하는 경우가 없어 측정하지 않는 역할: 바로 뒤 토큰, "),
])  # fmt: skip
def test_what_a_causal_model_cannot_have_is_told_before_anything_is_measured(
    lang, said, causal, corpus, capsys, monkeypatch
):
    from jumok.measurement.running import engines

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(engines, "measured_part", stopped)
    assert measure("--model", causal, corpus, "--lang", lang) == 130
    assert said in capsys.readouterr().err


def test_of_an_encoder_nothing_is_lacking(model, corpus, capsys):
    assert measure("--model", model, corpus, "--limit", "1", "--lang", "en") == 0
    assert "reads only what came before" not in capsys.readouterr().err


def test_only_roles_that_a_causal_model_cannot_have_are_refused_before_anything_is_measured(causal, corpus, capsys):
    told = refused(capsys, "--model", causal, corpus, "--role", "next", "--role", "subject-verb")
    assert "reads only what came before, so the corpus has no case of next, subject-verb for it." in told


def test_what_is_told_as_lacking_has_no_row(causal, corpus, capsys):
    told = []
    found = jumok.measure(causal, corpus, workers=1, lacking=told.extend)
    there = {row.role for row in found.table.rows}
    assert {"next", "subject-verb", "nsubj:to-head"} <= set(told)
    assert not there & set(told)
    assert {"previous", "verb-subject", "nsubj:to-dependent"} <= there


def test_repeated_tokens_need_no_corpus(model, capsys):
    assert measure("--model", model, "--repeated", "8", "--limit", "12", "--lang", "en") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "8 random tokens, twice" in out
    assert "No copying scores: " in out
    assert measure("--model", model, "--repeated", "8", "--limit", "12", "--lang", "ko") == 0
    assert "· 무작위 토큰 8개씩 두 번 · 문장 12개" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("named", ["1.0", "L1H0"])
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_card_of_a_head(named, lang, model, corpus, capsys):
    assert measure("--model", model, corpus, "--head", named, "--lang", lang) == 0
    out = capsys.readouterr().out
    assert ("Layer 1, head 0: " if lang == "en" else "1층 0번 헤드: ") in out.splitlines()[0]
    assert ("Its roles" if lang == "en" else "역할별 숫자") in out


def test_a_finished_run_is_read_again_without_its_model(model, corpus, tmp_path, capsys, monkeypatch):
    folder = tmp_path / "run"
    assert measure("--model", model, corpus, "-o", folder, "--lang", "en") == 0
    whole = capsys.readouterr().out
    monkeypatch.setattr(jumok.verbs, "measure", None)
    assert run(["measure", str(folder), "--lang", "en"]) == 0
    assert capsys.readouterr().out == whole
    assert run(["measure", str(folder), "--head", "0.1", "--lang", "en"]) == 0
    assert capsys.readouterr().out.startswith("Layer 0, head 1: ")
    assert run(["measure", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_sentences"] == 20
    assert run(["measure", str(folder), "--model", model, "--seed", "0", "--lang", "en"]) == 0  # which holds
    assert capsys.readouterr().out == whole
    for arguments, said in (
        (["--restart"], "a run that is there: --restart"),
        (["--engine", "local"], "a run that is there: --engine says how to measure"),
        (["--workers", "2", "-o", "new"], "a run that is there: --output says"),
        (["--seed", "5"], f"{folder} was measured with --seed 0, and --seed 5 was asked for."),
        (["--model", "demo"], f"was measured with --model {Path(model).name}, and --model sentence-transformers__"),
        (["--head", "9.0"], "layer expects a position from 0 to 1, got 9"),
    ):
        assert run(["measure", str(folder), *arguments, "--lang", "en"]) == 2
        assert said in capsys.readouterr().err
    (folder / "heads.parquet").unlink()
    assert run(["measure", str(folder), "--lang", "en"]) == 2
    assert "not finished" in capsys.readouterr().err


def test_a_head_that_is_not_there_does_not_cost_what_was_measured(model, corpus, capsys):
    assert measure("--model", model, corpus, "--head", "1.7", "--lang", "en") == 2
    out, err = capsys.readouterr()
    assert "The best head of each role" in out
    assert "head expects a position from 0 to 1, got 7" in err


def test_stopped_it_says_how_to_go_on(model, corpus, tmp_path, capsys, monkeypatch):
    from jumok.measurement.running import engines

    folder = tmp_path / "run"

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(engines, "measured_part", stopped)
    assert measure("--model", model, corpus, "-o", folder, "--lang", "en") == 130
    assert f"{folder} keeps what was measured" in capsys.readouterr().err


# what is refused ----------------------------------------------------------------------------------


def refused(capsys, *arguments):
    """What is said in both languages; exit code 2, and no traceback."""
    told = []
    for lang in ("en", "ko"):
        assert measure(*arguments, "--lang", lang) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert "Traceback" not in err
        told.append(err)
    assert any("가" <= letter <= "힣" for letter in told[1])
    return told[0]


def test_a_broken_conllu_is_told_with_line_and_column(model, tmp_path, capsys):
    path = tmp_path / "broken.conllu"
    path.write_text(conllu(3).replace("3\tsat\tsat\tVERB\t_\t_\t0", "3\tsat\tsat\tVERB\t_\t_\tx", 1))
    told = refused(capsys, "--model", model, path, "-o", tmp_path / "run")
    assert "line 4" in told
    assert "column 20" in told
    assert not (tmp_path / "run").exists()


def test_a_tokenizer_that_cannot_be_laid_over_the_words_is_told_with_the_sentence(model, tmp_path, capsys):
    folder = folder_of(encoder(), tmp_path / "model")
    words = {"[UNK]": 0, "the cat sat ": 1, "on": 2, " the mat": 3}
    made = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Split("on", "isolated")
    of_transformers(made, unk_token="[UNK]").save_pretrained(folder)
    path = tmp_path / "a.conllu"
    path.write_text(conllu(2))
    told = refused(capsys, "--model", folder, path, "-o", tmp_path / "run")
    assert "the cat sat on the mat" in told
    assert "s0" in told
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("text", ["", "\n\n  \n", "the"])
def test_an_empty_corpus(text, model, tmp_path, capsys):
    path = tmp_path / "empty.txt"
    path.write_text(text)
    if text == "the":  # [CLS] the [SEP] are three
        assert measure("--model", model, path, "--lang", "en") == 0
        assert "too few" in capsys.readouterr().out
    else:
        assert "holds no sentence" in refused(capsys, "--model", model, path, "-o", tmp_path / "run")
        assert not (tmp_path / "run").exists()


def test_two_encodings_in_one_file(model, tmp_path, capsys):
    path = tmp_path / "mixed.txt"
    path.write_bytes("은행에 갔다\n".encode() + "은행에 갔다\n".encode("cp949"))
    told = refused(capsys, "--model", model, path)
    assert "line 2, column 1" in told
    assert "two encodings were mixed" in told


NAMED = [
    "한글 문장", "👩‍🔬 emoji", "a/../b", "\"quoted\" 'id'", "x" * 5000, "\u202eabc", "<script>", "\x1b[31mred", "", "a = b",
]  # fmt: skip


@pytest.mark.parametrize("name", [
    "한글 👩‍🔬 말뭉치", "a..b", ".", "quo\"te'`$(x)", "x" * 240, "\u202e\u05d0", "new\nline", "-o", os.fsdecode(b"\xff"),
])  # fmt: skip
def test_files_and_sentences_may_be_called_anything(name, model, tmp_path, capsys):
    rows = conllu(1).partition("\n")[2]
    path, folder = tmp_path / f"{name}.conllu", tmp_path / f"run {name[:60]}"
    path.write_text("".join(f"# sent_id = {one}\n{rows}" for one in NAMED))
    assert measure("--model", model, path, "-o", folder, "--lang", "en") == 0
    assert run(["measure", str(folder), "--head", "0.0", "--lang", "en"]) == 0
    out = "".join(capsys.readouterr())
    assert not {"\x1b", "\u202e"} & set(out)  # which a terminal would obey
    assert "x" * 100 not in out.replace(str(tmp_path), "").replace(name, "")
    found = jumok.load(folder)
    assert {one.name for one in found.examples} <= {*NAMED, "line 34"}


def test_a_model_that_is_not_there(corpus, tmp_path, capsys):
    assert "no folder" in refused(capsys, "--model", tmp_path / "nowhere", corpus, "-o", tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "measure expects a corpus"),
        (["nowhere.txt"], "no such file"),
        (["."], "not a file"),
        (["-"], "standard input is not read"),
        (["CORPUS", "--engine", "rya"], "rya"),
        (["CORPUS", "--limit", "0"], "limit expects a number of sentences, 1 or more, got 0"),
        (["CORPUS", "--limit", "-3"], "limit expects a number of sentences, 1 or more, got -3"),
        (["CORPUS", "--limit", "many"], "limit expects a number of sentences, 1 or more, got 'many'"),
        (["CORPUS", "--seed", "-1"], "seed expects a whole number from 0, got -1"),
        (["CORPUS", "--workers", "0"], "workers expects a number of processes, 1 or more, got 0"),
        (["CORPUS", "--repeated", "8"], "take the place of a corpus"),
        (["--repeated", "2"], "3"),
        (["CORPUS", "--head", "5"], "--head expects a layer and a head, such as 5.3; got '5'"),
        (["CORPUS", "--head", "5.3", "--json"], "--json has every head"),
        (["CORPUS", "--role", "prevoius"], "previous"),
        (["CORPUS", "-o", "CORPUS"], "is a file"),
        (["CORPUS", "-o", "OTHER"], "holds files that are of no run"),
    ],
)
def test_what_does_not_fit(arguments, said, model, corpus, tmp_path, capsys):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine")
    names = {"CORPUS": corpus, "OTHER": tmp_path / "other"}
    assert said in refused(capsys, "--model", model, *(names.get(one, one) for one in arguments))
    assert [one.name for one in (tmp_path / "other").iterdir()] == ["mine.txt"]


def test_a_full_disk_leaves_no_half_file(model, tmp_path, capsys):
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(sentences(60)))
    folder = tmp_path / "run"
    was = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, was[1]))  # a shard is larger
    try:
        told = refused(capsys, "--model", model, path, "-o", folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, was)
    assert "cannot write" in told
    assert [one.name for one in folder.rglob("*") if one.is_file()] == ["plan.json"]
    assert measure("--model", model, path, "-o", folder) == 0


def test_a_line_of_200_megabytes_is_refused_in_bounded_memory(model, tmp_path, capsys):
    path = tmp_path / "long.txt"
    with path.open("wb") as file:
        file.write(b"a short line\n")
        for _ in range(200):
            file.write(b"the cat " * 2**17)
    tracemalloc.start()
    try:
        told = refused(capsys, "--model", model, path, "-o", tmp_path / "run")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "line 2" in told
    assert "1,048,576 bytes" in told
    assert peak < 20 * 2**20
    assert not (tmp_path / "run").exists()


def test_without_pyarrow_a_folder_is_refused_before_anything_is_done(model, corpus, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    told = refused(capsys, "--model", model, corpus, "-o", tmp_path / "run")
    assert "jumok[measure]" in told
    assert not (tmp_path / "run").exists()
    assert measure("--model", model, corpus) == 0
    with pytest.raises(jumok.errors.MissingExtra):
        jumok.measure(model, corpus, workers=1).to_arrow()


def test_without_ray_the_engine_is_refused(model, corpus, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    assert "jumok[ray]" in refused(capsys, "--model", model, corpus, "--engine", "ray")


def test_a_module_in_memory_needs_its_tokenizer_and_one_process():
    with pytest.raises(jumok.errors.InputError, match="tokenizer"):
        jumok.measure(encoder(), sentences(12))
    with pytest.raises(jumok.errors.InputError, match="in memory"):
        jumok.measure(encoder(), sentences(12), tokenizer(), workers=2)
