"""What every refusal of a file must be: a place, what was expected or came, what to try, in two languages."""

import re
import unicodedata

import pytest

from jumok.errors import ExampleError
from jumok.yaml_nodes import Scalar, Seq


def refusal(read, line, column, *phrases):
    """The refusal that ``read()`` ends in, checked as a whole."""
    with pytest.raises(ExampleError) as caught:
        read()
    error = caught.value
    en, ko = str(error), error.text("ko")
    assert (error.line, error.column) == (line, column), en
    assert error.text("en") == en
    if line is not None:
        assert f", line {line}, column {column}: " in en
        assert f" {line}행 {column}열: " in ko
    for phrase in phrases:
        assert phrase in en
    assert any("HANGUL" in unicodedata.name(letter, "") for letter in ko.partition(": ")[2])
    assert numbers(en) == numbers(ko), f"{en}\n{ko}"
    assert quoted(en) == quoted(ko), f"{en}\n{ko}"
    for text in (en, ko):
        assert text.endswith(".")
        assert not re.search(r"\.\.(?!\.)$|[.:;]\.$|  |\n|\bNone\b|[\x00-\x1f]", text), text
    assert len(en) < 900
    return error


def numbers(text):
    return set(re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", text))


def quoted(text):
    """What stands in quotes because it came from the file."""
    return set(re.findall(r"'((?:[^'\\]|\\.)+)'", text))


def plain(node):
    """The texts of a tree, as lists and pairs."""
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Seq):
        return [plain(item) for item in node.items]
    return {plain(key): plain(value) for key, value in node.pairs}
