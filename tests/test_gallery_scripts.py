"""The scripts of gallery/: each runs, in both languages, and says what its page in the documentation says."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from gallery.pictures.run_all import HERE, LANGS, NAMES, SAID, script
from real_weights import demo as demo
from real_weights import smollm2 as smollm2
from timm_alone import timm as timm

COMMITTED = json.loads(SAID.read_text(encoding="utf-8"))
GALLERY = HERE.parent
PAGES = {"en": GALLERY / "README.md", "ko": GALLERY / "README.ko.md"}
ONCE = {"nano_gpt": "ko", "long_document": "en"}  # seconds each: one language
REAL = {"hf_encoder", "hf_decoder"}
RUNS = [
    (name, lang) for name in NAMES for lang in LANGS if ONCE.get(name, lang) == lang and name not in REAL | {"timm_vit"}
]


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def but_for_numbers(text):
    return re.sub(r"\d[\d.,e-]*", "N", text)


def agrees(name, lang, *given):
    """A script's words are those of the documentation; numbers may differ in what a processor rounds or training finds."""
    said, picture = script(name).look(lang, *given)
    assert but_for_numbers(said) == but_for_numbers(COMMITTED[name][lang])
    assert picture.svg().startswith("<svg")
    assert picture.lang == lang
    return said


@pytest.mark.parametrize(("name", "lang"), RUNS)
def test_a_script_says_what_the_page_says(name, lang):
    said = agrees(name, lang)
    if name not in ("nano_gpt", "hand_written"):
        assert said == COMMITTED[name][lang]


@pytest.mark.parametrize("name", sorted(REAL))
def test_what_nobody_has_trained_attends_evenly(name):
    said, _ = script(name).look()
    share, even = re.findall(r"\d\.\d\d", said.partition(" first token")[0] + said.partition(" first token")[2])[:2]
    assert float(share) == pytest.approx(float(even), abs=0.02)


@pytest.mark.parametrize("lang", LANGS)
def test_a_real_encoder(demo, lang):
    assert agrees("hf_encoder", lang, demo) == COMMITTED["hf_encoder"][lang]


def test_a_real_decoder(smollm2):
    assert agrees("hf_decoder", "ko", smollm2) == COMMITTED["hf_decoder"]["ko"]


def test_training_makes_the_head_that_the_sums_need():
    numbers = [float(number) for number in re.findall(r"0\.\d+", COMMITTED["nano_gpt"]["en"])]
    assert numbers[0] > 0.6 > 0.3 > numbers[1]


@pytest.mark.parametrize("lang", LANGS)
def test_the_pages_show_every_script_with_its_words_and_picture(lang):
    page = PAGES[lang].read_text(encoding="utf-8")
    for name in NAMES:
        assert f"[`{name}.py`]({name}.py)" in page
        assert f"> {COMMITTED[name][lang]}\n" in page
        assert f'src="pictures/{name}.{lang}.png"' in page
        assert (HERE / f"{name}.{lang}.png").read_bytes().startswith(b"\x89PNG")
    assert {path.stem for path in GALLERY.glob("*.py")} == set(NAMES)


def test_the_pictures_are_light():
    assert sum(path.stat().st_size for path in HERE.glob("*.png")) < 1_000_000


def test_a_script_runs_from_its_command_and_leaves_a_page(tmp_path):
    command = [sys.executable, str(GALLERY / "korean_pair.py"), "ko"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert done.stdout.splitlines() == [COMMITTED["korean_pair"]["ko"], "korean_pair.html"], done.stderr
    assert "<!doctype html>" in Path(tmp_path, "korean_pair.html").read_text(encoding="utf-8")[:100]


@pytest.mark.parametrize("lang", LANGS)  # last: what stands in for torchvision stays until the module ends
def test_timm(timm, lang):
    assert agrees("timm_vit", lang) == COMMITTED["timm_vit"][lang]


def test_without_timm_a_line_says_what_to_install(tmp_path):
    (tmp_path / "timm.py").write_text("raise ModuleNotFoundError(\"No module named 'timm'\", name='timm')")
    command = [
        sys.executable,
        "-c",
        f"import sys, runpy; sys.path.insert(0, {str(tmp_path)!r}); runpy.run_path(sys.argv[1], run_name='__main__')",
    ]
    done = subprocess.run([*command, str(GALLERY / "timm_vit.py")], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "This needs timm. Try: pip install timm",
        "timm이 필요합니다. 설치: pip install timm",
    ]
