"""A lesson as a notebook: valid, and it runs from top to bottom."""

import json

import nbformat
import pytest
from nbclient import NotebookClient

import jumok
from jumok.lessons import packaged
from small_lessons import library, small


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_it_is_a_valid_notebook_in_its_language(lang):
    found = nbformat.reads(library(lang).notebook(), as_version=4)
    nbformat.validate(found)
    assert f"lang={lang!r}" in found.cells[1].source
    assert found.cells[0].source == f"# {library(lang).title}"
    assert "{{" not in json.dumps(found)


def test_an_exercise_brings_its_stub():
    cells = [cell["source"] for cell in json.loads(small().notebook())["cells"]]
    at = cells.index("sitting.ask('softmax')")
    assert "return scores" in cells[at + 1]
    assert cells[at + 2] == "sitting.answer('softmax', ...)"


def test_it_runs_from_top_to_bottom_and_takes_an_answer(tmp_path, monkeypatch):
    monkeypatch.setenv("JUMOK_HOME", str(tmp_path))
    found = nbformat.reads(library().notebook(), as_version=4)
    (cell,) = (cell for cell in found.cells if cell.source == "sitting.answer('most', ...)")
    cell.source = "sitting.answer('most', 'deep learning')"
    NotebookClient(found, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    said = json.dumps([cell.get("outputs") for cell in found.cells])
    assert "Your guess was right: deep learning." in said
    assert "<svg" in said
    assert '"most"' in (tmp_path / "progress.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize("number", packaged.names())
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_every_lesson_of_the_course_is_a_notebook_whose_code_compiles(number, lang):
    found = nbformat.reads(jumok.lesson(number, lang).notebook(), as_version=4)
    nbformat.validate(found)
    for cell in found.cells:
        if cell.cell_type == "code":
            compile(cell.source, f"{number}.{lang}", "exec")
    assert "{{" not in json.dumps(found)


def test_a_lesson_with_code_and_a_real_model_runs_in_korean(tmp_path, monkeypatch):
    monkeypatch.setenv("JUMOK_HOME", str(tmp_path))
    found = nbformat.reads(jumok.lesson("heads", "ko").notebook(), as_version=4)
    NotebookClient(found, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert not [out for cell in found.cells for out in cell.get("outputs", []) if out.output_type == "error"]


def test_code_of_a_cell_is_judged(tmp_path, monkeypatch):
    monkeypatch.setenv("JUMOK_HOME", str(tmp_path))
    found = nbformat.reads(jumok.lesson("softmax", "ko").notebook(), as_version=4)
    exercise = next(block for block in jumok.lesson("softmax", "ko").blocks if block.kind == "exercise")
    at = next(i for i, cell in enumerate(found.cells) if cell.source == f"sitting.ask({exercise.id!r})")
    found.cells[at + 1].source = exercise.solution
    found.cells[at + 2].source = f"sitting.answer({exercise.id!r}, softmax)"
    NotebookClient(found, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert f'"{exercise.id}"' in (tmp_path / "progress.jsonl").read_text(encoding="utf-8")
