"""The hourglass: makers of a Trace and readers of it meet in the record and nowhere else."""

import ast
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "jumok"

WAIST = {
    "door",
    "errors",
    "files",
    "history",
    "labels",
    "layer_numbers",
    "memory",
    "path",
    "saved",
    "tokens",
    "trace",
    "words",
    "yaml_nodes",
}
MAKERS = {"nn", "sources"}
READERS = {"explanation", "lessons", "measurement", "picture"}
DOORS = {
    "__init__",
    "__main__",
    "cli",
    "cli_capture",
    "cli_check",
    "cli_cost",
    "cli_design",
    "cli_learn",
    "cli_examples",
    "cli_lesson",
    "cli_measure",
    "cli_serve",
    "cli_stop",
    "cli_variant",
    "runs",
    "server",
    "verbs",
}  # what a person meets; they may use everything

MAY_USE = {
    "errors": set(),
    "memory": set(),
    "path": {"errors"},
    "files": {"errors"},
    "tokens": {"errors"},
    "words": {"errors", "tokens"},
    "yaml_nodes": {"errors"},
    "door": WAIST,
    "trace": WAIST,
    "saved": WAIST,
    "history": WAIST,
    "labels": WAIST,
    "layer_numbers": WAIST,
    "variants": WAIST,  # other ways from q, k, v to the mixed values: beside the record
    **dict.fromkeys(MAKERS, WAIST | MAKERS),
    **dict.fromkeys(READERS, WAIST | READERS | {"variants"}),
    **dict.fromkeys(DOORS, WAIST | MAKERS | READERS | DOORS | {"variants"}),
}

AT_HOME = {  # each package that is not Python's own, and the parts that may import it
    "numpy": MAY_USE.keys(),
    "array_api_compat": MAY_USE.keys(),
    "ruamel": {"yaml_nodes"},
    "safetensors": {"saved", "sources"},
    "scipy": {"sources"},
    "torch": {"lessons", "nn", "sources", "variants"},
    "transformers": {"sources"},
    "huggingface_hub": {"sources"},
    "click": {"__main__", "cli", "cli_check", "cli_cost", "cli_design", "cli_learn", "cli_lesson", "cli_measure"},
    "cloudpickle": {"lessons"},
    "rich": {"picture", "cli", "lessons"},
    "fontTools": {"picture"},
    "resvg_py": {"picture"},
    "matplotlib": {"picture"},
    "pyarrow": {"measurement"},
    "ray": {"measurement"},
    "anywidget": {"picture"},
    "starlette": {"server"},
    "uvicorn": {"server"},
    "h11": {"server"},
    "prometheus_client": {"server"},
    "traitlets": {"picture"},
}

FILES = sorted(SRC.rglob("*.py"))


def part_of(file):
    """trace.py and path/scores.py belong to the parts "trace" and "path"."""
    return file.relative_to(SRC).parts[0].removesuffix(".py")


def imports(file):
    """Each import in a file as (line, dotted name, whether it stands inside a function)."""
    package = ["jumok", *file.relative_to(SRC).parts[:-1]]

    def walk(node, lazy):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                yield from ((child.lineno, alias.name, lazy) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                base = package[: len(package) - child.level + 1] if child.level else []
                base = [*base, *(child.module or "").split(".")] if child.module else base
                yield from ((child.lineno, ".".join([*base, alias.name]), lazy) for alias in child.names)
            yield from walk(child, lazy or isinstance(child, ast.FunctionDef | ast.Lambda))

    return walk(ast.parse(file.read_text(encoding="utf-8")), False)


def parts_used(file):
    """The parts of jumok that a file imports, with the lines; a name of the door itself is "__init__"."""
    parts = {entry.stem if entry.suffix == ".py" else entry.name for entry in SRC.iterdir()}
    for line, name, _ in imports(file):
        top, _, rest = name.partition(".")
        if top == "jumok" and rest != "__version__":
            part = rest.partition(".")[0]
            yield line, part if part in parts else "__init__"


def test_there_is_something_to_check():
    assert {"path", "trace", "sources", "explanation", "picture", "cli"} <= {part_of(file) for file in FILES}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SRC)))
def test_every_file_imports_only_what_its_place_allows(file):
    part = part_of(file)
    assert part in MAY_USE, f"Where does {part} stand in the hourglass? Say so in MAY_USE in {__file__}."
    wrong = [f"line {line}: {used}" for line, used in parts_used(file) if used not in MAY_USE[part] | {part}]
    assert not wrong, f"{part} may import {sorted(MAY_USE[part])}, not {wrong}."


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SRC)))
def test_every_package_is_imported_only_where_it_is_at_home(file):
    part = part_of(file)
    tops = {(line, name.partition(".")[0]) for line, name, _ in imports(file)}
    for line, top in tops:
        if top != "jumok" and top not in sys.stdlib_module_names:
            assert part in AT_HOME.get(top, ()), f"line {line}: {top} is at home in {sorted(AT_HOME.get(top, ()))}."


def test_the_path_belongs_to_no_array_library():
    eager = {
        (file.name, name.partition(".")[0])
        for file in FILES
        if part_of(file) == "path"
        for _, name, lazy in imports(file)
        if not lazy
    }
    libraries = {pair for pair in eager if pair[1] not in sys.stdlib_module_names | {"jumok", "array_api_compat"}}
    assert libraries == set()


@pytest.mark.parametrize(
    ("path", "source", "used"),
    [
        ("picture/a.py", "from ..sources.example import load", {"sources"}),
        ("picture/a.py", "from .. import nn, trace", {"nn", "trace"}),
        ("picture/a.py", "def f():\n    import jumok.sources", {"sources"}),
        ("sources/deep/a.py", "from ...picture import draw", {"picture"}),
        ("trace.py", "from . import attend", {"__init__"}),
        ("trace.py", "from .path.positions import Rotary", {"path"}),
    ],
)
def test_the_check_sees_an_import_in_every_form(tmp_path, monkeypatch, path, source, used):
    monkeypatch.setitem(globals(), "SRC", tmp_path)
    for name in ("sources", "picture", "path"):
        (tmp_path / name).mkdir()
    for name in ("nn.py", "trace.py"):
        (tmp_path / name).touch()
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source)
    assert {part for _, part in parts_used(file)} == used
