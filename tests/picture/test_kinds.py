"""What is drawn goes by the name of its class, so that no picture loads what others need."""

import subprocess
import sys

import jumok
from jumok.picture.kinds import HOMES, KINDS, home, name_of


class Cost:
    """Somebody else's."""


def test_a_thing_goes_by_its_own_name_or_by_none():
    assert name_of(jumok.cost(n=16, budget_s=0)) == "Cost"
    assert name_of(jumok.attend(jumok.load("student"))) == "Trace"
    assert [name_of(thing) for thing in (Cost(), 3, None)] == [None] * 3


def test_what_has_a_home_is_a_kind_and_draws_itself():
    for kind in HOMES:
        assert kind in {name for of in KINDS.values() for name in of}
        for name in ("picture", "title_of", "to_markdown", "to_csv", "printed"):
            assert callable(getattr(home(kind), name))


def test_a_picture_of_a_record_loads_no_variant():
    program = (
        "import sys, jumok\n"
        "import jumok.picture.printed\n"
        'print(jumok.draw(jumok.load("student")))\n'
        'print([name for name in sys.modules if name.startswith("jumok.variants")], file=sys.stderr)'
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stderr == "[]\n"
