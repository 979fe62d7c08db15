"""``draw``: a record or a comparison → a picture for papers, slides and notebooks.

>>> import jumok
>>> picture = draw(jumok.attend(jumok.load("student")))
>>> picture.kind, picture.svg().startswith("<svg")
('heat', True)
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, TooLargeError
from ..explanation.explanation import default_token
from ..files import refuse_nameless, write_whole
from ..layer_numbers import layer_numbers, layer_place
from ..measurement.comparison import Comparison
from ..tokens import position
from ..trace import Reading, Token, Trace, layers_of, unknown_name
from ..words import language, shown
from . import arrows, changes, curves, difference, gallery, heat, learned, plain, strip
from .captions import brief, say, title_of, token_names
from .chosen import opening
from .cuts import carried, refuse_cuts
from .folding import carried as steps
from .folding import refuse_variant
from .grids import SHOWN
from .kinds import HOMES, KINDS, home, name_of, no_record
from .layout import Panel, padded, paragraph, stacked
from .learned import Run
from .packed import SIZE_LIMIT, Values
from .plain import heading
from .short import short
from .svg import FONTS, Node, Spell, Text, document, rect
from .theme import THEMES, css

__all__ = ["Choice", "Picture", "draw"]

if TYPE_CHECKING:
    from ..measurement.running.measured import Measured
    from ..variants.cost import Cost

    Thing = Trace | Reading | Comparison | Run | Cost | Measured

_WITHOUT_RECORD = {
    "curves": ("a training run", "학습"), "growth": ("costs", "비용"), "roles": ("measured heads", "측정한 헤드"),
}  # fmt: skip
MARGIN = 16.0
TITLE_LINES = 3  # of a longer title the rest stands in <title> alone
MOST_PIXELS = 100_000_000


@dataclass(frozen=True)
class Choice:
    """What of a record is drawn. ``query`` is None where all are."""

    stage: str = "weights"
    layer: int = 0
    head: int = 0
    query: int | None = None


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture: it shows itself in a notebook, and saves itself.

    kind : what was drawn;  thing : of what;  choice : which stage, layer, head and token
    title : what it is called, in full;  named : the title that was asked for, or None
    asked : True where this kind was asked for, False where it is the thing's own
    """

    thing: Any
    kind: str
    choice: Choice
    lang: str
    theme: str
    title: str
    named: str | None
    width: float | None
    panel: Panel
    told: tuple[str, ...] = ()
    asked: bool = False

    def svg(self, *, outlined: bool = False) -> str:
        """The picture as SVG text: no script, nothing loaded from elsewhere, a description for screen readers.

        outlined : True draws letters as shapes, so that the picture needs no font where it is opened

        Errors: ``MissingExtra`` where letters are to be outlined and the font is not installed.
        """
        if not outlined:
            return self._written(FONTS, None)
        from .fonts import outlined as shapes

        return self._written(FONTS, shapes)

    def png(self, scale: float = 2, *, system_fonts: bool = False) -> bytes:
        """The picture as PNG, ``scale`` pixels for each of its own, with the font that jumok declares.

        system_fonts : True takes letters that this font lacks (emoji, other scripts) from the machine; else
            they are written as their codes

        Errors: ``MissingExtra`` without the extra ``picture``, ``InputError`` for a scale that is not above 0,
        ``TooLargeError`` beyond 100 million pixels.
        """
        from .fonts import FAMILY, spelled_out
        from .raster import png

        self._refuse_scale(scale)
        return png(self._written(FAMILY, None if system_fonts else spelled_out), scale, system_fonts)

    def save(
        self, path: str | os.PathLike[str], *, outlined: bool = False, scale: float = 2, values: Values = None,
        cuts: Any = None, variant: str | None = None, tile: int | None = None, size_limit: int | None = SIZE_LIMIT,
    ) -> Path:  # fmt: skip
        """Write the picture, whole or not at all: ``.svg``, ``.png``, ``.md``, ``.csv``, or the live page, ``.html``.

        outlined : of an .svg, as in ``svg``;  scale : of a .png, as in ``png``
        values : of an .html that is too large to carry everything, the layers whose v it carries: [0, 5], or "all"
        cuts : of an .html of a captured reading, what ``reading.cut(…)`` gave, or a list: shown beside the weights; the page
            opens at the first
        variant : of an .html of a record, "flash" for a panel that folds one tile of keys after another;  tile : keys of a tile
        size_limit : of an .html, bytes; None for any

        Errors: ``InputError`` for another suffix or a cut of another reading, ``OutputError`` where the path cannot be written,
        ``MissingExtra`` where a ``.png`` needs the extra ``picture``, ``TooLargeError`` for a page beyond its limit.
        """
        refuse_nameless(path)
        suffix = Path(path).suffix.lower()
        if suffix == ".html":
            return self._save_page(path, size_limit, values, cuts, variant, tile)
        _refuse_page_options(suffix, size_limit, values, cuts, variant, tile)
        ways: dict[str, Callable[[], bytes]] = {
            ".svg": lambda: self.svg(outlined=outlined).encode("utf-8"),
            ".png": lambda: self.png(scale),
            ".md": lambda: self.markdown().encode("utf-8"),
            ".csv": lambda: self.csv().encode("utf-8-sig"),  # with the mark that spreadsheets need for Hangul
        }
        if suffix not in ways:
            raise InputError(
                en=f"a picture is saved as {', '.join([*ways, '.html'])}; got {str(path)!r}.",
                ko=f"그림은 {', '.join([*ways, '.html'])} 파일로 저장합니다. {str(path)!r}이(가) 왔습니다.",
            )
        data = ways[suffix]()
        return write_whole(path, lambda name: Path(name).write_bytes(data))

    def markdown(self) -> str:
        """What is drawn, as tables of rounded numbers. ``str`` shortens what is long.

        Errors: ``InputError`` beyond 5 million numbers.
        """
        if isinstance(self.thing, Comparison):
            return changes.to_markdown(self.thing, self.lang)
        if isinstance(self.thing, Run):
            return "\n".join(curves.to_markdown(run.history, self.lang) for run in self.thing.each)
        if self.kind in HOMES:
            return str(home(self.kind).to_markdown(self.thing, self.lang))
        stages, queries, head = self.tables()
        return plain.to_markdown(self.drawn(), stages, queries, self.lang, head)

    def csv(self) -> str:
        """What is drawn, one number a line, with every digit.

        Errors: ``InputError`` beyond 5 million numbers.
        """
        if isinstance(self.thing, Comparison):
            if self.kind == "heads":
                return changes.heads_csv(self.thing)
            return changes.difference_csv(self.thing, self.choice.layer, self.choice.head)
        if isinstance(self.thing, Run):
            return learned.to_csv(self.thing)
        if self.kind in HOMES:
            return str(home(self.kind).to_csv(self.thing))
        stages, queries, head = self.tables()
        one = None if self.kind == "heads" else layer_numbers(self.thing)[self.choice.layer]
        return plain.to_csv(self.drawn(), stages, queries, head, one)

    def tables(self) -> tuple[list[str], list[int] | None, int | None]:
        """The stages, queries and head that the picture shows."""
        if self.kind == "heads":
            return ["weights"], None, None
        queries = None if self.choice.query is None or self.kind == "strip" else [self.choice.query]
        stages = {"heat": [self.choice.stage], "strip": list(strip.STAGES)}.get(self.kind, ["weights"])
        return stages, queries, self.choice.head

    def drawn(self) -> Trace | Reading:
        """The layer, or of a picture of heads the whole record."""
        assert isinstance(self.thing, Trace | Reading)
        return self.thing if self.kind == "heads" else layers_of(self.thing)[self.choice.layer]

    def _save_page(
        self, path: str | os.PathLike[str], size_limit: int | None, values: Values, cuts: Any, variant: Any, tile: Any
    ) -> Path:
        from . import page

        look = {"theme": "dark"} if self.theme == "dark" else {}  # else as the reader's system has it
        options: dict[str, Any] = {"lang": self.lang, "title": self.named, "size_limit": size_limit}
        if self.kind in _WITHOUT_RECORD:
            _refuse_record_options(*_WITHOUT_RECORD[self.kind], values, cuts, variant, tile)
        if isinstance(self.thing, Run):
            return learned.write(path, self.thing, view=look, **options)
        if self.kind == "growth":
            return Path(home(self.kind).write(path, self.thing, self.lang))
        if self.kind == "roles":
            from . import measured_page

            return measured_page.write(path, self.thing, view=look, **options)
        options["values"] = values
        if isinstance(self.thing, Comparison):
            refuse_cuts(cuts)
            refuse_variant(variant, tile)
            both, pairing = (self.thing.a, self.thing.b), self.thing.pairing()
            told = {} if self.kind == "heads" else {"layer": self.choice.layer, "head": self.choice.head}
            view = opening(both, pairing, told | {"view": "compare"})
            return page.write(path, both, comparison=pairing, view=view | look, **options)
        shown = carried(cuts, self.thing)
        extra, opened = steps(variant, tile)
        view = self._page_view(shown) | look | opened
        return page.write(path, self.thing, cuts=shown, extra=extra, view=view, **options)

    def _page_view(self, cuts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """What a page of a record opens with: what this picture shows, in the view that shows such a picture."""
        if cuts and not self.asked:
            places = {name: cuts[0][name] for name in ("layer", "head", "query", "key")}
            return {"view": "heads"} | {name: at for name, at in places.items() if at is not None}
        view: dict[str, Any] = {"layer": self.choice.layer, "head": self.choice.head}
        view |= {} if self.choice.query is None else {"query": self.choice.query}
        if self.choice.stage != "weights":
            return view | {"view": "stages", "stage": self.choice.stage}
        if not self.asked:
            return view
        drawn = self.drawn()
        is_long = isinstance(drawn, Trace) and max(drawn.n_queries, drawn.n_keys) > heat.MOST_TOKENS
        shows = {"heat": "map" if is_long else "stages", "strip": "stages"}
        return view | {"view": shows.get(self.kind, "heads")}

    def codes(self) -> tuple[str, ...]:
        """The codes that stand in a ``.png`` for letters that its font lacks, each once: ("[U+1F469]",).

        Errors: ``MissingExtra`` where the font is not installed.
        """
        from .fonts import FAMILY, codes

        found: dict[str, None] = {}

        def noted(text: Text) -> Node:
            found.update(dict.fromkeys(codes(text.content)))
            return text.node()

        self._written(FAMILY, noted)
        return tuple(found)

    def _written(self, fonts: str, spell: Spell | None) -> str:
        paper = rect(0, 0, self.panel.width, self.panel.height, css(THEMES[self.theme].paper))
        size = self.panel.width, self.panel.height
        desc = " ".join(self.told) or self.title
        return document(
            *size, (paper, *self.panel.nodes), shown_width=self.width, title=self.title, desc=desc, lang=self.lang,
            fonts=fonts, spell=spell,
        )  # fmt: skip

    def _refuse_scale(self, scale: Any) -> None:
        _refuse_size("scale", scale)
        shown = scale * (1 if self.width is None else self.width / self.panel.width)
        n_pixels = self.panel.width * self.panel.height * shown**2
        if n_pixels > MOST_PIXELS:
            raise TooLargeError(
                en=f"the PNG would have {n_pixels / 1e6:,.0f} million pixels, more than {MOST_PIXELS // 10**6}. Take a smaller "
                f"scale or width, or save an .svg.",
                ko=f"PNG의 크기가 {n_pixels / 1e6:,.0f}백만 픽셀로 한도 {MOST_PIXELS // 10**6}백만을 넘습니다. scale이나 width를 "
                f"줄이거나 .svg로 저장하십시오.",
                bytes_needed=int(4 * n_pixels),
            )

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002
        return {"image/svg+xml": self.svg(), "text/plain": repr(self)}

    def __str__(self) -> str:
        return short(self)

    def __repr__(self) -> str:
        return f"Picture({self.kind}, {self.panel.width:.0f} × {self.panel.height:.0f}: {self.title})"


def draw(
    thing: Thing,
    kind: str | None = None,
    *,
    stage: str | None = None,
    layer: int | None = None,
    head: int | None = None,
    query: int | str | Token | None = None,
    lang: str = "en",
    theme: str = "light",
    width: float | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Picture:
    """As ``jumok.draw``, of what has been attended to."""
    asked = kind is not None
    kind = _kind(thing, kind, chosen=any(one is not None for one in (stage, layer, head, query, ax)))
    language(lang)
    _refuse_unknown("theme", "테마", theme, THEMES)
    _refuse_title(title)
    if width is not None:
        _refuse_size("width", width)
    choice = _choice(thing, kind, stage, layer, head, query)
    if ax is not None:
        _into_axes(thing, kind, choice, lang, ax)
    look = THEMES[theme]
    panel, told = _DRAWN[kind, isinstance(thing, Comparison)](thing, choice, lang, look)
    name, under = _name(thing, kind, lang) if title is None else shown(title), _under(thing, kind, choice, lang)
    room = max(panel.width, 380)
    heads = [paragraph(name, room, look, 15, bold=True, most=TITLE_LINES), paragraph(under, room, look, 12)]
    whole = padded(stacked([stacked(heads, 4), panel], 16), MARGIN)
    whole = Panel(math.ceil(whole.width), math.ceil(whole.height), whole.nodes)
    return Picture(
        thing=thing,
        kind=kind,
        choice=choice,
        lang=lang,
        theme=theme,
        title=_as_sentences(name, under),
        named=title,
        width=width,
        panel=whole,
        told=tuple(told),
        asked=asked,
    )


def _as_sentences(name: str, under: str) -> str:
    """Both, one after the other, as somebody reads them aloud."""
    if not name or not under:
        return name or under
    return f"{name}{'' if name.endswith(('.', '?', '!', '…')) else '.'} {under}"


# the door -----------------------------------------------------------------------------------------


def _kind(thing: Any, kind: Any, chosen: bool) -> str:
    name = name_of(thing)
    if name is None or (isinstance(thing, Reading) and not thing.layers):
        raise no_record("draw", thing)
    if kind == "difference" and not isinstance(thing, Comparison):
        raise InputError(
            en='kind="difference" needs a comparison. Try jumok.draw(jumok.compare(a, b)), or in a terminal: jumok compare A B.',
            ko='kind="difference"는 두 글을 비교한 것에만 그릴 수 있습니다. 예: jumok.draw(jumok.compare(a, b)), '
            "터미널에서는 jumok compare A B.",
        )
    if kind is None:
        one_head = isinstance(thing, Reading) and (len(thing) == 1 or chosen)
        return "heat" if one_head else KINDS[name][0]
    return _refuse_unknown("kind", "그림 종류", kind, KINDS[name])


def _choice(thing: Any, kind: str, stage: Any, layer: Any, head: Any, query: Any) -> Choice:
    if stage is not None:
        _refuse_unknown("stage", "단계", stage, SHOWN)
        _refuse_together(kind == "heat", "stage", kind)
    if kind in ("heads", "curves", "growth", "roles"):
        for name, value in (("layer", layer), ("head", head), ("query", query)):
            _refuse_together(value is None, name, kind)
        return Choice()
    if isinstance(thing, Comparison):
        _refuse_together(query is None, "query", kind)
        return _most_changed(thing, layer, head)
    layers = layers_of(thing)
    at = len(layers) - 1 if layer is None else layer_place(thing, layer)
    one = layers[at]
    chosen = 0 if head is None else position("head", "헤드", head, one.n_heads)
    stage = stage or "weights"
    where = None if query is None else one.index(query)
    if where is None and (kind in ("arcs", "strip") or stage == "weighted_values"):
        where = default_token(one)
    return Choice(stage, at, chosen, where)


def _most_changed(comparison: Comparison, layer: Any, head: Any) -> Choice:
    """The head asked for; of those that fit, the most changed."""
    at = None if layer is None else comparison.layer_place(layer)
    n_heads = max(one.n_heads for one in layers_of(comparison.a)) if at is None else comparison.layer(at)[0].n_heads
    chosen = None if head is None else position("head", "헤드", head, n_heads)
    found = next(one for one in comparison.heads if at in (None, one.layer) and chosen in (None, one.head))
    return Choice(layer=found.layer, head=found.head)


def _refuse_unknown(what: str, what_ko: str, name: Any, known: Any) -> str:
    if not isinstance(name, str) or name not in known:
        raise unknown_name(what, what_ko, name, known)
    return name


def _refuse_together(fits: bool, option: str, kind: str) -> None:
    if not fits:
        raise InputError(
            en=f'{option} has no meaning for kind="{kind}". Leave it out, or draw another kind.',
            ko=f'kind="{kind}"에는 {option}을(를) 쓸 수 없습니다. 빼거나 다른 종류로 그리십시오.',
        )


def _refuse_page_options(suffix: str, size_limit: int | None, *others: Any) -> None:
    if any(one is not None for one in others) or size_limit != SIZE_LIMIT:
        names = "values=, cuts=, variant=, tile="
        raise InputError(
            en=f"{names} and size_limit= are for a live page (.html), not for {suffix or 'this file'}. Leave them out.",
            ko=f"{names}, size_limit=은 조작할 수 있는 페이지(.html)에만 쓰고 {suffix or '이 파일'}에는 쓰지 않습니다. 빼고 부르십시오.",
        )


def _refuse_record_options(what: str, what_ko: str, *others: Any) -> None:
    if any(one is not None for one in others):
        raise InputError(
            en=f"values=, cuts= and variant= are for the page of a record, not of {what}. Leave them out.",
            ko=f"values=, cuts=, variant=는 기록의 페이지에만 쓰고 {what_ko}의 페이지에는 쓰지 않습니다. 빼고 부르십시오.",
        )


def _refuse_size(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e5:
        raise InputError(
            en=f"{name} expects a number above 0 (and below 100,000), got {value!r}.",
            ko=f"{name}에는 0보다 크고 100,000보다 작은 수가 필요한데 {value!r}이(가) 왔습니다.",
        )


def _refuse_title(title: Any) -> None:
    if title is not None and not isinstance(title, str):
        raise InputError(
            en=f"title expects a text, got {title!r}.", ko=f"title에는 문자열이 필요한데 {title!r}이(가) 왔습니다."
        )


def _into_axes(thing: Any, kind: str, choice: Choice, lang: str, ax: Any) -> None:
    from .axes import heat_into

    if kind != "heat":
        raise InputError(
            en=f'ax= takes the heat map only; kind="{kind}" has no matplotlib form. Save it as .svg or .png.',
            ko=f'ax=에는 히트맵만 그릴 수 있습니다. kind="{kind}"은(는) .svg나 .png로 저장하십시오.',
        )
    heat_into(ax, layers_of(thing)[choice.layer], choice.stage, choice.head, choice.query, lang)


# drawing ------------------------------------------------------------------------------------------


def _one(thing: Any, choice: Choice) -> tuple[Trace, int]:
    """The layer, and the token that stands out."""
    trace = layers_of(thing)[choice.layer]
    return trace, default_token(trace) if choice.query is None else choice.query


def _heat(thing: Any, c: Choice, lang: str, theme: Any) -> tuple[Panel, list[str]]:
    trace, focus = _one(thing, c)
    return heat.heat_map(trace, c.stage, c.head, c.query, lang, theme, focus)


def _arrows(thing: Any, c: Choice, lang: str, theme: Any) -> tuple[Panel, list[str]]:
    trace, focus = _one(thing, c)
    return arrows.arrows(trace, c.head, focus, lang, theme, alone=c.query is not None)


def _arcs(thing: Any, c: Choice, lang: str, theme: Any) -> tuple[Panel, list[str]]:
    trace, focus = _one(thing, c)
    return arrows.arcs(trace, c.head, focus, lang, theme)


def _strip(thing: Any, c: Choice, lang: str, theme: Any) -> tuple[Panel, list[str]]:
    trace, focus = _one(thing, c)
    return strip.strip(trace, c.head, focus, lang, theme)


_DRAWN: dict[tuple[str, bool], Callable[[Any, Choice, str, Any], tuple[Panel, list[str]]]] = {
    ("heat", False): _heat,
    ("arrows", False): _arrows,
    ("arcs", False): _arcs,
    ("strip", False): _strip,
    ("heads", False): lambda thing, _, lang, theme: gallery.heads_gallery(thing, lang, theme),
    ("heads", True): lambda thing, _, lang, theme: gallery.changed_heads(thing, lang, theme),
    ("curves", False): lambda run, _, lang, theme: learned.curves_of(run, lang, theme),
    ("growth", False): lambda thing, _, lang, theme: home("growth").picture(thing, lang, theme),
    ("roles", False): lambda thing, _, lang, theme: home("roles").picture(thing, lang, theme),
    ("difference", True): lambda thing, c, lang, theme: difference.difference_maps(thing, c.layer, c.head, lang, theme),
}


# words --------------------------------------------------------------------------------------------


def _name(thing: Any, kind: str, lang: str) -> str:
    if isinstance(thing, Comparison):
        return say("comparison", lang)
    if isinstance(thing, Run):
        return curves.title_of(thing.history, lang)
    if kind in HOMES:
        return str(home(kind).title_of(thing, lang)[0])
    return title_of(layers_of(thing)[0], lang) or say("attention", lang)


def _under(thing: Any, kind: str, choice: Choice, lang: str) -> str:
    """What is drawn of it: the stage, where it is, whose row."""
    if isinstance(thing, Run):
        return say("curves", lang)
    if kind in HOMES:
        return str(home(kind).title_of(thing, lang)[1])
    if kind == "heads":
        layers = layers_of(thing.a if isinstance(thing, Comparison) else thing)
        return say("heads", lang, layers=len(layers), heads=max(layer.n_heads for layer in layers))
    if isinstance(thing, Comparison):
        return say("place", lang, layer=thing.layer_numbers[choice.layer], head=choice.head)
    layers = layers_of(thing)
    trace, parts = layers[choice.layer], []
    if kind != "strip":
        grid = heat.one_grid(trace, choice.stage, choice.head, choice.query or 0)
        parts.append(heading(trace, replace(grid, head=None, query=None), lang))  # which ones are told below
    if len(layers) > 1:
        parts.append(say("layer", lang, n=layer_numbers(thing)[choice.layer]))
    if trace.n_heads > 1:
        parts.append(say("head", lang, n=choice.head))
    if choice.query is not None and kind != "strip":
        parts.append(brief(token_names(trace)[choice.query]))
    return " · ".join(parts)
