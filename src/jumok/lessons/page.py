"""A lesson as one HTML file to hand out: text, computed numbers, pictures, hints and answers that unfold; no network, no script.

The live view and the checker of code are not in it; it says so, with the commands that open them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from ..words import shown
from .blocks import Block, Exercise, Show, Try
from .claims import Claim
from .lesson import Lesson
from .markdown import Fence, Heading, Items, Paragraph, Piece, Quote, Table, spans
from .phrases import say
from .plain import answer_of, change_of
from .views import command, explained, picture

__all__ = ["html"]

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
STYLE = """
:root { color-scheme: light dark; --edge: #8888; --soft: #8882; }
body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; font: 1.05rem/1.6 system-ui, "Noto Sans KR", sans-serif; }
h1, h2, h3 { line-height: 1.25; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.92em; }
pre { overflow-x: auto; padding: 0.7rem; background: var(--soft); border-radius: 0.4rem; }
table { border-collapse: collapse; }
th, td { padding: 0.2rem 0.7rem; border: 1px solid var(--edge); text-align: left; }
section.block { margin: 1.5rem 0; padding: 0.2rem 1rem 0.8rem; border: 1px solid var(--edge); border-radius: 0.5rem; }
section.block > strong { display: block; margin-top: 0.6rem; }
blockquote { margin-left: 0; padding-left: 1rem; border-left: 3px solid var(--edge); }
figure { margin: 1rem 0; overflow-x: auto; }
figure svg { max-width: 100%; height: auto; background: #fff; }
summary { cursor: pointer; min-height: 1.75rem; }
data { text-decoration: underline dotted 1px; text-underline-offset: 0.2em; }
.note { font-size: 0.9rem; opacity: 0.8; }
"""
_MARK = re.compile("\ue000(\\d+)\ue001")  # where a computed number stands until it is dressed
_TAGS = {"strong": "strong", "em": "em", "code": "code"}


def html(lesson: Lesson) -> str:
    """The whole file."""
    return "".join(_Page(lesson).lines())


class _Page:
    """One page being written, with the computed numbers that stand in it."""

    def __init__(self, lesson: Lesson) -> None:
        self.lesson = lesson
        self.lang = lesson.lang
        self.claims: list[tuple[str, str]] = []

    def lines(self) -> Iterator[str]:
        title = escape(shown(self.lesson.title))
        yield f'<!doctype html>\n<html lang="{self.lang}">\n<head>\n<meta charset="utf-8">\n'
        yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        yield f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
        yield f'<p class="note">{escape(say("minutes", self.lang, n=self.lesson.minutes))}. {self._honest()}</p>\n'
        for element in self.lesson.written().elements:
            yield from self.block(element) if isinstance(element, Block) else self.piece(element)
        yield "</main>\n</body>\n</html>\n"

    def _honest(self) -> str:
        called = f"<code>jumok lesson {escape(self.lesson.name)}</code>"
        once = escape(say("drawn_once", self.lang))
        return f"{once} {escape(say('no_start', self.lang, command='%')).replace('%', called)}"

    # text -------------------------------------------------------------------------------------

    def inline(self, markdown: str) -> str:
        """A line of Markdown, its numbers computed, as HTML."""
        return self._dressed(
            "".join(_tagged(span.kind, span.text, span.href) for span in spans(self._marked(markdown)))
        )

    def _marked(self, markdown: str) -> str:
        def mark(claim: Claim, value: str) -> str:
            self.claims.append((value, claim.expression.text))
            return f"\ue000{len(self.claims) - 1}\ue001"

        return self.lesson.filled(markdown.replace("\ue000", "").replace("\ue001", ""), mark)

    def _dressed(self, text: str) -> str:
        def dress(found: re.Match[str]) -> str:
            value, expression = self.claims[int(found[1])]
            return f'<data value="{escape(value)}" title="{escape(expression)}">{escape(value)}</data>'

        return _MARK.sub(dress, text)

    def said(self, markdown: str) -> str:
        """A line of Markdown that is filled already, as HTML."""
        return "".join(_tagged(span.kind, span.text, span.href) for span in spans(markdown))

    def piece(self, piece: Piece) -> Iterator[str]:
        """A piece of text."""
        if isinstance(piece, Heading):
            yield f"<h{piece.level}>{self.inline(piece.text)}</h{piece.level}>\n"
        elif isinstance(piece, Fence):
            yield f"<pre><code>{escape(piece.body)}</code></pre>\n"
        elif isinstance(piece, Items):
            yield from self._items(piece)
        elif isinstance(piece, Table):
            yield from self._table(piece)
        else:
            assert isinstance(piece, Paragraph | Quote)
            inner = f"<p>{self.inline(piece.text)}</p>"
            yield f"<blockquote>{inner}</blockquote>\n" if isinstance(piece, Quote) else f"{inner}\n"

    def _items(self, piece: Items) -> Iterator[str]:
        tag = "ul" if piece.entries[0][1] == "-" else "ol"
        yield f"<{tag}>\n"
        depth = 0
        for _, _mark, deep, text in piece.entries:
            yield "<ul>\n" * (deep - depth) + "</ul>\n" * (depth - deep)
            depth = deep
            yield f"<li>{self.inline(text)}</li>\n"
        yield "</ul>\n" * depth + f"</{tag}>\n"

    def _table(self, piece: Table) -> Iterator[str]:
        yield "<figure><table>\n"
        for at, row in enumerate(piece.rows):
            tag = "th" if at == 0 else "td"
            yield f"<tr>{''.join(f'<{tag}>{self.inline(cell)}</{tag}>' for cell in row)}</tr>\n"
        yield "</table></figure>\n"

    # blocks -----------------------------------------------------------------------------------

    def block(self, block: Block) -> Iterator[str]:
        """What is shown, or asked with its hints and its answer folded up."""
        if isinstance(block, Show):
            yield from self._show(block)
            return
        asked = self.lesson.asked(block.id, seed=0)
        yield f'<section class="block" id="{block.id}"><strong>{escape(say(block.kind, self.lang))}</strong>\n'
        yield f"<p>{self.said(asked.text)}</p>\n"
        if asked.choices:
            yield f"<ol>{''.join(f'<li>{self.said(one)}</li>' for one in asked.choices)}</ol>\n"
        if isinstance(block, Exercise):
            yield f"<pre><code>{escape(block.stub)}</code></pre>\n"
        if isinstance(block, Try):
            yield f"<p><code>{escape(f'jumok draw {block.example} -o {block.example}.html')}</code></p>\n"
        for n, hint in enumerate(block.hints, start=1):
            yield _folded(say("hint", self.lang, n=n), [f"<p>{self.inline(hint)}</p>"])
        yield _folded(
            say("solution" if isinstance(block, Try | Exercise) else "answer", self.lang), self._answer(block)
        )
        yield "</section>\n"

    def _answer(self, block: Block) -> list[str]:
        asked = self.lesson.asked(block.id, seed=0)
        if isinstance(block, Try):
            return [f"<p><code>{escape(change_of(block.solution))}</code></p>"]
        if isinstance(block, Exercise):
            return [f"<pre><code>{escape(block.solution)}</code></pre>"]
        return [
            f"<p><strong>{self.said(answer_of(asked))}</strong></p>",
            f"<p>{self.said(self.lesson.told(asked))}</p>",
        ]

    def _show(self, show: Show) -> Iterator[str]:
        drawn = picture(self.lesson, show)
        if show.view == "code":
            yield f"<pre><code>{escape(show.code)}</code></pre>\n"
        elif drawn is not None:
            yield f"<figure>{drawn.svg()}</figure>\n"
        elif show.view == "explain":
            sections = explained(self.lesson, show).sections()
            yield "".join(
                f"<h3>{escape(one.title)}</h3>\n<ul>{''.join(f'<li>{escape(line)}</li>' for _, line in one.lines)}</ul>\n"
                for one in sections
            )
        else:
            yield f"<p><code>{escape(command(self.lesson, show))}</code></p>\n"


def _tagged(kind: str, text: str, href: str) -> str:
    if kind == "link":
        safe = href if re.match(r"(https?:|#|[\w./-]+$)", href) else "#"
        return f'<a href="{escape(safe)}">{escape(text)}</a>'
    return f"<{_TAGS[kind]}>{escape(text)}</{_TAGS[kind]}>" if kind in _TAGS else escape(text)


def _folded(title: str, inner: Sequence[str]) -> str:
    return f"<details><summary>{escape(title)}</summary>{''.join(inner)}</details>\n"
