"""Plain data as YAML, and a text of which only a part changes. What is written for whole examples: test_example_writer.py."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jumok.sources.yaml_edits import CannotEdit, edited, written
from jumok.yaml_nodes import parse
from refusals import plain

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
data = st.recursive(
    texts, lambda parts: st.lists(parts, max_size=3) | st.dictionaries(texts, parts, max_size=3), max_leaves=8
)
maps = st.dictionaries(texts, data, min_size=1, max_size=4)


def composed(value):
    """Names that are one in NFC cannot stand beside each other in a file."""
    import unicodedata

    if isinstance(value, dict):
        return {unicodedata.normalize("NFC", name): composed(part) for name, part in value.items()}
    return [composed(part) for part in value] if isinstance(value, list) else value


@given(maps.map(composed))
def test_any_data_is_written_and_read(value):
    assert plain(parse(written(value), "f")) == value


@given(maps.map(composed), maps.map(composed))
def test_a_text_is_edited_to_say_anything_else_or_nothing_is_done(before, after):
    text = written(before)
    try:
        new = edited(text, parse(text, "f"), before, after)
    except CannotEdit:
        return
    assert plain(parse(new, "f")) == after


def test_a_long_dictionary_stands_on_lines():
    long = {f"name {at}": {"a": "1"} for at in range(9)}
    assert written({"x": {"y": long}}).splitlines()[:3] == ["x:", "  y:", "    name 0: {a: 1}"]


def test_a_name_too_long_for_a_line_is_written_with_its_question_mark():
    text = written({"tokens": [{"x" * 1200: {"a": "1"}}]})
    assert "? " in text
    assert plain(parse(text, "f")) == {"tokens": [{"x" * 1200: {"a": "1"}}]}


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("a: [1, 2] # c\n", {"a": [], "b": "x"}),
        ("a:\n  - - 1\n    - 2\n  - 3\n", {"a": [["2"], "3"]}),
        ("a: {b: 1,\n  c: 2}\n", {"a": {"c": "2", "d": {"e": []}}}),
        ("a:\n  b: 1\n  # of c\n  c: 2\n", {"a": {"b": "1"}}),
        ("- a: 1\n  b: 2\n- c: 3\n", [{"b": "2"}, {"c": "4"}]),
    ],
)
def test_a_change_of_any_kind(text, after):
    root = parse(text, "f")
    assert plain(parse(edited(text, root, plain(root), after), "f")) == after


def test_what_has_no_place_of_its_own_is_told():
    text = "a:\n- - 1\n  - 2\n"
    root = parse(text, "f")
    with pytest.raises(CannotEdit):
        edited(text, root, {"a": [["1", "2"]]}, {"a": [["2", "1", "2"]]})
