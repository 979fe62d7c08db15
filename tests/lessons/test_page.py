"""A lesson as one HTML file: no network, no script, every number dressed with what gives it."""

import re
from html.parser import HTMLParser

import pytest

from small_lessons import TEXT, library, small


class Reader(HTMLParser):
    VOID = ("meta", "br", "img", "path", "rect", "line", "circle", "stop")

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_it_is_whole_and_asks_nothing_of_a_network(lang):
    page = library(lang).page()
    reader = read(page)
    assert f'<html lang="{lang}">' in page
    assert "default-src 'none'" in page
    assert "script" not in reader.tags
    assert not [value for name, value in reader.attributes if name in ("src", "href") and not value.startswith("#")]
    assert not [name for name, _ in reader.attributes if name.startswith("on")]
    assert {"svg", "table", "details", "data"} <= set(reader.tags)
    assert len(re.findall(r'<section class="block"', page)) == 5


def test_it_says_what_it_lacks():
    assert "neither checks code nor holds the live view" in library().page()
    assert "jumok lesson library" in library().page()


def test_a_number_says_what_gives_it():
    assert (
        '<data value="0.55" title="weight(&quot;studies&quot;, &quot;deep learning&quot;)">0.55</data>'
        in small().page()
    )


def test_hostile_text_stays_text():
    evil = "<script>alert(1)</script> <img src=x onerror=alert(1)> [link](javascript:alert(1))"
    page = small(
        TEXT.replace("title: Small", f"title: '{evil}'")
        .replace("## One", f"## One {evil}")
        .replace("Pair by pair.", f"'{evil}'")
    ).page()
    reader = read(page)
    assert "script" not in reader.tags
    assert "img" not in reader.tags
    assert not [value for name, value in reader.attributes if name == "href" and "javascript" in value]
    assert "<script>alert(1)</script>" in "".join(reader.text)


def test_answers_are_folded_up():
    page = small().page()
    before, _, after = page.partition("<details><summary>Answer</summary>")
    assert "55%" not in before
    assert "deep learning" in after
