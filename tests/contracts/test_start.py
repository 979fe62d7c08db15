"""Starting costs little: what is loaded when (run_tests.py measures how long it takes, while nothing else runs)."""

import subprocess
import sys

import pytest

HEAVY = {"torch", "jax", "scipy", "rich", "click", "transformers", "pandas", "matplotlib", "IPython"}
ON_FIRST_USE = {"numpy", "array_api_compat", "yaml", "ruamel", "safetensors"}


def loaded_by(code):
    """The top-level modules that a fresh Python has after some code and did not have before."""
    code = f"import sys; before = set(sys.modules); {code}; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


def test_import_loads_only_jumok_itself():
    loaded = loaded_by("import jumok")
    assert "jumok" in loaded
    assert not loaded & (HEAVY | ON_FIRST_USE)


def test_attending_to_an_example_loads_nothing_heavy():
    loaded = loaded_by("import jumok; jumok.attend(jumok.load('student')).weights")
    assert "numpy" in loaded
    assert not loaded & HEAVY


def test_explaining_an_example_loads_nothing_heavy():
    loaded = loaded_by("import jumok; str(jumok.explain(jumok.attend(jumok.load('student')), 'studies'))")
    assert not loaded & HEAVY


@pytest.mark.parametrize("arguments", [["attend", "student"], ["--version"], ["examples"], ["--help"]])
def test_the_command_line_loads_nothing_heavy(arguments):
    code = (
        f"import sys; sys.argv = {['jumok', *arguments]}\n"
        "from jumok.__main__ import main\n"
        "try: code = main()\n"
        "except SystemExit as end: code = end.code\n"
        "assert not code\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout
    assert not {name.partition(".")[0] for name in done.stderr.split()} & (HEAVY - {"click", "rich"})
