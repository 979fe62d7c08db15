"""What runs elsewhere: GitHub's workflows and the container, held against what is here."""

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read(path):
    return YAML(typ="safe").load(path.read_text(encoding="utf-8"))


def steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job.get("steps", ())]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_and_commands_are_there(path):
    workflow = read(path)
    for step in steps(workflow):
        if "uses" in step:
            assert re.fullmatch(r"(actions/[\w-]+|pypa/gh-action-pypi-publish)@[0-9a-f]{40}", step["uses"])
        else:
            program, script, *_ = shlex.split(step["run"])
            assert program == "python3"
            assert (ROOT / script).is_file()
    assert workflow["permissions"] == {"contents": "read"}, "what a job may write, it says itself"


def test_an_auditor_of_workflows_finds_nothing_to_mend():
    zizmor = Path(sys.executable).with_name("zizmor")
    done = subprocess.run(
        [zizmor, "--offline", "--min-severity=medium", "--no-progress", ROOT / ".github"],
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_checks_run_on_every_python_that_is_promised():
    checks = read(ROOT / ".github/workflows/checks.yml")
    versions = checks["jobs"]["tests"]["strategy"]["matrix"]["python"]
    assert versions == ["3.11", "3.12", "3.13"]
    assert PROJECT["requires-python"] == f">={versions[0]}"
    commands = [step["run"] for step in steps(checks) if "run" in step]
    assert commands == ["python3 run.py attend student", "python3 run_tests.py", "python3 release/check.py"]


def test_nothing_is_published_before_the_checks_and_without_an_attestation():
    jobs = read(ROOT / ".github/workflows/publish.yml")["jobs"]
    assert (jobs["build"]["needs"], jobs["publish"]["needs"]) == ("checks", "build")
    assert jobs["checks"]["uses"] == "./.github/workflows/checks.yml"
    assert jobs["publish"]["permissions"] == {"id-token": "write", "attestations": "write"}
    used = [step.get("uses", "").partition("@")[0] for step in jobs["publish"]["steps"]]
    assert used.index("actions/attest-build-provenance") < used.index("pypa/gh-action-pypi-publish")


def container():
    """The instructions of the container file: (name, rest), continued lines joined."""
    text = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [tuple(line.split(maxsplit=1)) for line in lines]


def test_the_container_is_well_formed_and_serves_as_nobody_special():
    found = container()
    known = {
        "FROM",
        "WORKDIR",
        "COPY",
        "RUN",
        "ARG",
        "USER",
        "VOLUME",
        "ENV",
        "EXPOSE",
        "HEALTHCHECK",
        "ENTRYPOINT",
        "CMD",
    }
    assert {name for name, _ in found} <= known
    names = [name for name, _ in found]
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert "RUN" not in names[names.index("USER") :], "what is installed belongs to root"
    extras = dict(found)["ARG"].removeprefix("EXTRAS=").split(",")
    assert set(extras) <= set(PROJECT["optional-dependencies"])


def test_the_container_is_made_from_what_the_wheel_needs():
    kept = {
        line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line.startswith("!")
    }
    assert kept == {"src", "pyproject.toml", PROJECT["readme"], *PROJECT["license-files"]}
