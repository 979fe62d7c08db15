"""Without a package of an extra, jumok's core works, and what needs the package names the extra."""

import os
import subprocess
import sys

import pytest

EXTRAS = [
    "click",
    "rich",
    "anywidget",
    "fontTools",
    "resvg_py",
    "pylopdf_fonts_ko",
    "matplotlib",
    "torch",
    "jax",
    "scipy",
    "transformers",
    "array_api_strict",
    "hypothesis",
]

WITHOUT = """
import importlib.abc, sys

class NotInstalled(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in {missing}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, NotInstalled())
"""


def run(code, missing):
    """What a fresh Python says and how it ends, in which some packages seem not to be installed."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", WITHOUT.format(missing=set(missing)) + code],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
    )


def command(*arguments):
    return f"sys.argv = {['jumok', *arguments]}\nfrom jumok.__main__ import main\nsys.exit(main())"


def test_the_core_works_without_any_extra():
    code = (
        "import jumok, io, tempfile, pathlib\n"
        "trace = jumok.attend(jumok.load('student'))\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    path = pathlib.Path(folder) / 'a.safetensors'\n"
        "    trace.save(path)\n"
        "    assert (jumok.load(path).weights == trace.weights).all()\n"
        "print(jumok.explain(trace, 'studies', lang='ko'))\n"
        "jumok.attend(q=[[[1.0]]], k=[[[1.0]]], v=[[[1.0]]]).output\n"
        "for suffix in ('svg', 'md', 'csv', 'html'):\n"
        "    with tempfile.TemporaryDirectory() as folder: jumok.draw(trace).save(pathlib.Path(folder) / f'a.{suffix}')\n"
        "str(jumok.compare(trace, trace))\n"
    )
    done = run(code, EXTRAS)
    assert (done.returncode, done.stderr) == (0, "")
    assert "studies" in done.stdout


@pytest.mark.parametrize("missing", [["click"], ["rich"], ["click", "rich"]])
@pytest.mark.parametrize("arguments", [[], ["attend", "student"], ["attend", "student", "--lang", "ko"]])
def test_the_command_line_names_its_extra(missing, arguments):
    done = run(command(*arguments), missing)
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'jumok[cli]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 2, "more than a line a language"
    assert any("가" <= letter <= "힣" for letter in done.stderr), "not told in Korean"
    assert "installed" in done.stderr, "not told in English"


@pytest.mark.parametrize(
    "code", ["jumok.nn", "jumok.nn.SelfAttention(4, 3)", "from jumok import nn", "import jumok.nn"]
)
def test_the_pytorch_side_names_its_extra(code):
    done = run(
        "import jumok\n"
        f"try: {code}\n"
        "except jumok.errors.MissingExtra as error: print(error.extra, error, error.text('ko'), sep='\\n')",
        ["torch"],
    )
    assert (done.returncode, done.stderr) == (0, "")
    extra, en, ko = done.stdout.splitlines()
    assert extra == "learn"
    assert "torch" in en
    assert "torch" in ko
    assert "pip install 'jumok[learn]'" in en
    assert "pip install 'jumok[learn]'" in ko


@pytest.mark.parametrize(
    ("code", "missing", "extra", "package"),
    [
        ("jumok.capture()", "torch", "models", "torch"),
        ("jumok.capture('demo', 'a text')", "torch", "models", "torch"),
        ("jumok.capture('demo', 'a text')", "transformers", "models", "transformers"),
    ],
)
def test_capture_names_its_extra(code, missing, extra, package):
    done = run(
        "import jumok\n"
        f"try: {code}\n"
        "except jumok.errors.MissingExtra as error: print(error.extra, error, error.text('ko'), sep='\\n')",
        [missing],
    )
    assert (done.returncode, done.stderr) == (0, "")
    said, en, ko = done.stdout.splitlines()
    assert said == extra
    assert package in en
    assert package in ko


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_learning_names_its_extra_and_its_tasks_are_listed_without_it(lang):
    done = run(command("learn", "--lang", lang), ["torch", "scipy"])
    assert (done.returncode, done.stderr) == (0, "")
    assert "pronoun" in done.stdout
    done = run(command("learn", "previous", "--lang", lang), ["torch"])
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'jumok[learn]'" in done.stderr


def test_a_recording_names_its_extra():
    done = run(
        "import jumok\n"
        "try: jumok.record(None, None)\n"
        "except jumok.errors.MissingExtra as error: print(error.extra, error, error.text('ko'), sep='\\n')",
        ["torch"],
    )
    assert (done.returncode, done.stderr) == (0, "")
    extra, en, ko = done.stdout.splitlines()
    assert extra == "learn"
    assert "pip install 'jumok[learn]'" in en
    assert "pip install 'jumok[learn]'" in ko


@pytest.mark.parametrize(
    ("callback", "missing", "extra"),
    [
        ("trainer_callback", ["transformers"], "models"),
        ("lightning_callback", ["lightning", "pytorch_lightning"], "lightning"),
    ],
)
def test_a_callback_names_its_extra(callback, missing, extra):
    done = run(
        "import torch, jumok\n"
        f"try: jumok.record(torch.nn.Linear(1, 1), torch.ones(1)).{callback}()\n"
        "except jumok.errors.MissingExtra as error: print(error.extra, error, error.text('ko'), sep='\\n')",
        missing,
    )
    assert (done.returncode, done.stderr) == (0, "")
    said, en, ko = done.stdout.splitlines()
    assert said == extra
    for text in (en, ko):
        assert f"pip install 'jumok[{extra}]'" in text


@pytest.mark.parametrize(
    ("code", "missing", "extra", "package"),
    [
        ("picture.png()", "resvg_py", "picture", "resvg-py"),
        ("picture.png()", "fontTools", "picture", "fonttools"),
        ("picture.svg(outlined=True)", "fontTools", "picture", "fonttools"),
        ("picture.save('a.png')", "resvg_py", "picture", "resvg-py"),
        ("jumok.widget(jumok.load('student'))", "anywidget", "notebook", "anywidget"),
    ],
)
def test_pictures_and_widgets_name_their_extra(code, missing, extra, package):
    done = run(
        "import jumok\n"
        "picture = jumok.draw(jumok.load('student'))\n"
        f"try: {code}\n"
        "except jumok.errors.MissingExtra as error: print(error.extra, error, error.text('ko'), sep='\\n')",
        [missing],
    )
    assert (done.returncode, done.stderr) == (0, "")
    said, en, ko = done.stdout.splitlines()
    assert said == extra
    for text in (en, ko):
        assert package in text
        assert f"pip install 'jumok[{extra}]'" in text


@pytest.mark.parametrize("code", ["jumok.design(jumok.load('student'))", "jumok.design([[1.0]], {0: {0: 1}})"])
def test_a_design_names_its_extra(code):
    done = run(
        "import jumok\n"
        f"try: {code}\n"
        "except jumok.errors.MissingExtra as error: print(error.extra, error, error.text('ko'), sep='\\n')",
        ["scipy"],
    )
    assert (done.returncode, done.stderr) == (0, "")
    said, en, ko = done.stdout.splitlines()
    assert said == "design"
    for text in (en, ko):
        assert "scipy" in text
        assert "pip install 'jumok[design]'" in text


def test_a_check_of_a_function_without_a_file_names_its_extra():
    done = run(
        "import jumok\n"
        "try: jumok.check(lambda q, k, v: q)\n"
        "except jumok.errors.MissingExtra as error: print(error.extra, error, error.text('ko'), sep='\\n')",
        ["cloudpickle"],
    )
    assert (done.returncode, done.stderr) == (0, "")
    said, en, ko = done.stdout.splitlines()
    assert said == "teach"
    for text in (en, ko):
        assert "pip install 'jumok[teach]'" in text


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_command_that_designs_names_its_extra(lang):
    done = run(command("design", "student", "--lang", lang), ["scipy"])
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'jumok[design]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert any("가" <= letter <= "힣" for letter in done.stderr) == (lang == "ko")


def test_what_was_designed_is_explained_without_scipy():
    done = run(command("explain", "student", "studies"), ["scipy"])
    assert (done.returncode, done.stderr) == (0, "")
    assert "Why this query" in done.stdout


def test_a_package_that_is_there_but_broken_is_not_called_missing():
    done = run("import types, jumok\nsys.modules['torch'] = types.ModuleType('torch')\njumok.nn", [])
    assert done.returncode == 1
    assert "MissingExtra" not in done.stderr


@pytest.mark.parametrize("missing", ["starlette", "uvicorn", "prometheus_client"])
def test_serve_names_its_extra(missing):
    done = run(command("serve", "--lang", "ko"), [missing])
    assert (done.returncode, done.stdout) == (2, "")
    assert missing.replace("_", "-") in done.stderr
    assert "pip install 'jumok[serve]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_door_loads_no_server():
    code = "import jumok, sys\njumok.serve\nassert not {'starlette', 'uvicorn', 'asyncio'} & set(sys.modules)"
    done = run(code, [])
    assert (done.returncode, done.stderr) == (0, "")
