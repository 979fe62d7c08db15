"""Markdown as lessons use it."""

from hypothesis import given
from hypothesis import strategies as st

from jumok.lessons.markdown import Fence, Heading, Items, Paragraph, Quote, Table, escaped, pieces, spans

TEXT = """# Title

two
lines
- an entry
  that goes on
  - deeper
1. first

> said
> so

| a | b \\| c |
|---|---|
| 1 | 2 |
```show weights
x: 1
```
end"""


def test_pieces_with_their_lines():
    assert list(pieces(TEXT, 10)) == [
        Heading(10, 1, "Title"),
        Paragraph(12, "two lines"),
        Items(14, ((14, "-", 0, "an entry that goes on"), (16, "-", 1, "deeper"), (17, "1.", 0, "first"))),
        Quote(19, "said so"),
        Table(22, (("a", "b \\| c"), ("1", "2"))),
        Fence(25, "show weights", "x: 1"),
        Paragraph(28, "end"),
    ]


def test_a_fence_may_hold_shorter_fences_and_need_not_close():
    assert list(pieces("````a\n```\nb\n````\n```c\nd")) == [Fence(1, "a", "```\nb"), Fence(5, "c", "d", False)]


def test_spans():
    found = [(span.kind, span.text, span.href) for span in spans("a **b** *c* `d*e*` [f](g.md) 2 * 3 * 4 \\*h\\*")]
    assert found == [
        ("plain", "a ", ""), ("strong", "b", ""), ("plain", " ", ""), ("em", "c", ""), ("plain", " ", ""),
        ("code", "d*e*", ""), ("plain", " ", ""), ("link", "f", "g.md"), ("plain", " 2 * 3 * 4 *h*", ""),
    ]  # fmt: skip


@given(st.text(max_size=60))
def test_an_escaped_text_comes_back_as_it_was(text):
    assert "".join(span.text for span in spans(escaped(text))) == text
    assert {span.kind for span in spans(escaped(text))} <= {"plain"}


def test_an_escaped_text_may_be_stressed():
    assert [(span.kind, span.text) for span in spans(f"*{escaped('[CLS]')}* and **{escaped('a_b')}**")] == [
        ("em", "[CLS]"),
        ("plain", " and "),
        ("strong", "a_b"),
    ]


@given(st.text(alphabet="#-*>|`ab1. \n", max_size=80))
def test_any_text_has_pieces(text):
    assert (list(pieces(text)) == []) == (not text.strip())
