"""A lesson as one HTML file: the lesson as JSON, its records as documents, the second program; no network."""

import json
from html.parser import HTMLParser

import pytest

import jumok
from jumok.lessons.goals import GOALS, covering
from jumok.lessons.page import EXTENSION, carried
from small_lessons import TEXT, library, small


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.scripts, self.title, self.within = [], [], {}, "", ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.within = dict(attrs).get("id", tag)

    def handle_data(self, data):
        if self.within == "title":
            self.title += data
        elif self.within in ("jumok-model", "script"):
            self.scripts[self.within] = self.scripts.get(self.within, "") + data

    def handle_endtag(self, tag):
        self.within = ""


def read(page):
    reader = Reader()
    reader.feed(page)
    return reader


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_it_is_one_file_that_asks_nothing_of_a_network(lang):
    page = library(lang).page()
    reader = read(page)
    assert f'<html lang="{lang}">' in page
    assert "default-src 'none'" in page
    assert not [value for name, value in reader.attributes if name in ("src", "href")]
    assert not [name for name, _ in reader.attributes if name.startswith("on")]
    model = json.loads(reader.scripts["jumok-model"])
    assert model["extension"] == EXTENSION.read_text(encoding="utf-8")
    opening = {"view": "stages", "document": 0, "stage": "x", "query": 2, "key": 2, "lang": lang}
    assert model["view"] == opening, "nothing of it answers a guess"
    assert model["title"] == {one: library(one).title for one in ("en", "ko")}
    assert reader.title == library(lang).title


def test_both_languages_travel_with_the_same_blocks():
    elements = carried(library())["lesson"]["elements"]
    asking = {
        lang: [(one["kind"], one["id"]) for one in of if one["kind"] in ("predict", "question", "try")]
        for lang, of in elements.items()
    }
    assert asking["en"] == asking["ko"]
    assert [id for _, id in asking["en"]] == ["slip", "own-slip", "page", "most", "contribution", "notice-board"]


def test_a_lesson_in_one_language_is_called_so_in_both():
    model = json.loads(read(small().page()).scripts["jumok-model"])
    assert model["title"] == {"en": "Small", "ko": "Small"}
    assert list(model["lesson"]["elements"]) == ["en"]


def test_the_goals_are_those_of_the_course_and_of_this_lesson():
    goals = carried(small())["lesson"]["goals"]
    assert [goal["text"]["en"] for goal in goals] == [en for en, _ in GOALS.values()]
    by_goal = dict(zip(GOALS, goals, strict=True))
    assert ["small", "dot"] in by_goal["follow-a-score"]["blocks"]
    assert ["small", "dot"] in by_goal["write-attention"]["blocks"]
    assert by_goal["follow-a-score"]["is_here"]
    assert not by_goal["self"]["is_here"]
    for id in covering(jumok.lesson("library"))["qkv-analogy"]:
        assert by_goal["qkv-analogy"]["blocks"].count(["library", id]) == 1
    of_the_course = carried(library())["lesson"]["goals"]
    assert all(["small", "dot"] not in goal["blocks"] for goal in of_the_course)
    assert of_the_course[1]["blocks"].count(["library", "own-slip"]) == 1


def test_nothing_in_a_lesson_ends_its_script():
    page = small(TEXT.replace("title: Small", "title: '</script><script>alert(1)</script>'")).page()
    reader = read(page)
    assert reader.tags.count("script") == page.count("</script>")
    assert reader.title == "</script><script>alert(1)</script>"


def test_a_formula_in_a_title_is_plain_text():
    title = "title: 'Why √d_k?'"
    assert read(small(TEXT.replace("title: Small", title)).page()).title == "Why √dₖ?"
