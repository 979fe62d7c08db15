"""A file with a learner's code in it, and the verdict on it."""

import textwrap

import pytest

import jumok

NUMPY = "import numpy as np\n\n\n"
TORCH = "import math\n\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n"


@pytest.fixture
def written(tmp_path):
    """Write a learner's file; what comes back is its path."""

    def write(code, head=NUMPY):
        path = tmp_path / "my.py"
        path.write_text(head + textwrap.dedent(code).lstrip("\n"), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def checked(written):
    """The verdict on a learner's code."""

    def check(code, kind=None, head=NUMPY, name="", **options):
        return jumok.check(written(code, head) + (f":{name}" if name else ""), kind, **options)

    return check
