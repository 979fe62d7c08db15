"""The checker over a bank that was written without sight of it: mistakes by their names, nothing right called wrong."""

from collections import Counter

import pytest

from jumok.lessons.checker.phrases import MISTAKE_NAMES
from lessons.bank import Entry, entries
from lessons.bank.checked import Checked

BANK = entries()
RIGHT, ONE, TWO = ([entry for entry in BANK if len(entry.mistakes) == n] for n in range(3))
SAMPLE = BANK[::20]  # also checked in processes that are started anew
NAMED_IN_FULL = 0.95  # of those with two mistakes


def each(some):
    return pytest.mark.parametrize("entry", some, ids=[entry.name for entry in some])


@pytest.fixture(scope="session")
def checked(request):
    """The verdicts; all that this session's tests ask for begin at once."""
    verdicts = Checked()
    asked = [item.callspec.params.get("entry") for item in request.session.items if hasattr(item, "callspec")]
    for entry in asked:
        if isinstance(entry, Entry):
            verdicts.begin(entry)
    yield verdicts
    verdicts.close()


def test_the_bank_is_large_and_has_every_mistake():
    assert len(ONE) >= 60
    assert len(TWO) >= 30
    assert len(RIGHT) >= 30
    assert {name for entry in ONE for name in entry.mistakes} == {*MISTAKE_NAMES}
    assert max(Counter(entry.name for entry in BANK).values()) == 1


@each(RIGHT)
def test_what_is_right_is_not_called_wrong(checked, entry):
    found = checked.of(entry)
    assert found.status in ((entry.status,) if entry.status else ("right", "right-differently")), found.text


@each(ONE)
def test_one_mistake_is_named_and_no_other(checked, entry):
    found = checked.of(entry)
    assert (found.status, found.mistakes) == ("mistake", entry.mistakes), found.text


@each(TWO)
def test_of_two_mistakes_none_is_invented(checked, entry):
    found = checked.of(entry)
    assert found.status in ("mistake", "unknown"), found.text
    assert {*found.mistakes} <= {*entry.mistakes}, found.text


def test_two_mistakes_are_named_in_full(checked):
    missed = [entry.name for entry in TWO if {*checked.of(entry).mistakes} != {*entry.mistakes}]
    assert len(missed) <= (1 - NAMED_IN_FULL) * len(TWO), missed


@each(SAMPLE)
def test_a_process_of_its_own_says_the_same(checked, entry):
    assert checked.of(entry, anew=True) == checked.of(entry)
