"""The notebooks: as their sources make them, valid, light, and they run, in Jupyter and in marimo.

English and Korean are the same code but for the name of the language, so Jupyter runs the one and marimo the other.
"""

import importlib.util
import json
import re

import nbformat
import pytest
import torch

from notebooks.source import make

BOTH = [(name, lang) for name in make.NAMES for lang in make.LANGS]
STABLE = ("see", "design")  # NumPy and SciPy, to a few digits; what training ends in depends on the processor


def committed(name, lang):
    return json.loads(make.path_of(name, lang, ".ipynb").read_text(encoding="utf-8"))


def code_of(made):
    return ["".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "code"]


def shown(made, kind="text/plain"):
    """What the cells show, in one form: printed or as a value."""
    outputs = [output for cell in made["cells"] for output in cell.get("outputs", ())]
    return ["".join(output.get("text") or output["data"].get(kind, "")) for output in outputs]


def test_the_files_are_what_their_sources_make():
    assert list(make.differing()) == []


def test_a_file_that_somebody_edited_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(make, "NAMES", ("design",))
    for path in (make.path_of("design", lang, suffix) for lang in make.LANGS for suffix in (".ipynb", ".py")):
        text = path.read_text(encoding="utf-8")
        (tmp_path / path.name).write_text(text.replace("0.5}", "0.4}") if path.name == "design.ko.py" else text)
    monkeypatch.setattr(make, "HERE", tmp_path)
    assert list(make.differing()) == ["design.ko.py"]


@pytest.mark.parametrize("lost", ["a line of no language", "```python\nnever closed\n"])
def test_a_source_with_something_of_no_language_is_refused(lost):
    with pytest.raises(ValueError, match="belongs to no language"):
        list(make.cells_of(f"{lost}\n<!-- en -->\na\n<!-- ko -->\n가\n", "en"))


@pytest.mark.parametrize("name", make.NAMES)
def test_both_languages_are_there_with_the_same_code(name):
    english, korean = (make.notebook(name, lang) for lang in make.LANGS)
    assert [code.replace('"en"', '"ko"') for code in code_of(english)] == code_of(korean)
    texts = [
        [cell["source"] for cell in made["cells"] if cell["cell_type"] == "markdown"] for made in (english, korean)
    ]
    assert len(texts[0]) == len(texts[1])
    assert not [text for text in texts[0] if re.search("[가-힣]", text.replace("*배*", ""))]
    assert all(re.search("[가-힣]", text) for text in texts[1])


@pytest.mark.parametrize(("name", "lang"), BOTH)
def test_what_is_committed_is_valid_light_and_holds_no_program(name, lang):
    made = committed(name, lang)
    nbformat.validate(made)
    assert make.path_of(name, lang, ".ipynb").stat().st_size < 200_000
    kinds = {kind for cell in made["cells"] for output in cell.get("outputs", ()) for kind in output.get("data", ())}
    assert kinds == {"text/plain", "image/svg+xml"}
    assert "<script" not in json.dumps(made)
    links = re.findall(r"\]\((\w[^)]*)\)", "".join("".join(cell["source"]) for cell in made["cells"]))
    assert all((make.HERE / link).is_file() for link in links)


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Two busy threads on one core wait for each other, here and in the kernel."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        yield
        torch.set_num_threads(before)


@pytest.fixture(scope="module")
def ran():
    """The Korean notebooks, run in Jupyter's kernel, and one that looks for what the last of them left behind."""
    made = [make.notebook(name, "ko") for name in make.NAMES]
    looks = {
        "cell_type": "code",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": "'found' in globals()",
    }
    made.append({**made[0], "cells": [{**looks, "id": "looks"}]})
    return dict(zip([*make.NAMES, "looks"], make.executed(made), strict=True))


def test_a_notebook_sees_no_name_of_the_one_before(ran):
    assert "found" in "".join(code_of(ran["measure"]))
    assert shown(ran["looks"]) == ["False"]


@pytest.mark.parametrize("name", make.NAMES)
def test_jupyter_runs_them_and_shows_what_is_committed(name, ran):
    was = committed(name, "ko")
    assert len(shown(ran[name])) == len(shown(was)) >= 5
    assert [bool(text) for text in shown(ran[name], "image/svg+xml")] == [
        bool(text) for text in shown(was, "image/svg+xml")
    ]
    if name in STABLE:
        assert shown(ran[name]) == shown(was)


@pytest.mark.parametrize("name", make.NAMES)
def test_marimo_runs_them(name):
    spec = importlib.util.spec_from_file_location(f"marimo_{name}", make.path_of(name, "en", ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    outputs, _ = module.app.run()
    assert len(outputs) == len(make.notebook(name, "en")["cells"]) + 1  # the first cell of marimo's own brings mo
