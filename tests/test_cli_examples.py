"""``jumok examples``: the readings that travel in the package stand under their own heading."""

import pytest

from jumok.cli import run
from jumok.cli_examples import READINGS
from jumok.files import packaged_readings


@pytest.mark.parametrize(("lang", "at"), [("en", 0), ("ko", 1)])
def test_saved_readings_are_listed_in_order(lang, at, capsys):
    assert run(["examples", "--lang", lang]) == 0
    seen = capsys.readouterr().out
    computed, heading, saved = seen.partition(READINGS[at])
    assert heading
    names = [line.split()[0] for line in saved.splitlines() if line.startswith(("learned", "minilm"))]
    assert names == ["learned-0", "learned-5", "learned-20", "learned-1200", "minilm-soft", "minilm-tired"]
    assert set(names) == set(packaged_readings())
    assert not [name for name in names if name in computed]


def test_what_a_reading_is_of(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    run(["examples", "--lang", "en"])
    seen = " ".join(capsys.readouterr().out.split())
    assert (
        "minilm-soft a real model, its layers 2, 3, 5, 12 heads each The cat sat on the mat because it was soft."
        in seen
    )
    assert (
        "learned-20 Step 20 of the training: the row of 'studies' The student studies deep learning carefully" in seen
    )


@pytest.mark.parametrize(("lang", "said"), [("en", "is a saved reading"), ("ko", "저장된 기록입니다")])
def test_a_reading_is_no_file_to_print(lang, said, capsys):
    assert run(["examples", "minilm-tired", "--lang", lang]) == 2
    seen = capsys.readouterr().err
    assert said in seen
    assert "jumok draw minilm-tired" in seen
