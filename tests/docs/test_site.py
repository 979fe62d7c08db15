"""The documentation site as it is built: nothing warned of, every link leads somewhere, both languages have the same pages."""

from __future__ import annotations

import html
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import click
import pytest
from playwright.sync_api import Page, Request, sync_playwright

import jumok
from browser.conftest import FLAGS, chromium
from jumok.cli import _commands

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LANGS = ("en", "ko")
CODE = ("pre", "code", "script", "style", "math", "dt")
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}  # by the page itself


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "built"
    done = subprocess.run([sys.executable, str(DOCS / "build.py"), str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class Parsed(HTMLParser):
    """What a page links to and loads, and the places in it that can be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.switch: list[str] = []
        self.text: list[str] = []  # outside of code and formulas
        self._within = 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._within += tag in CODE
        self.places.add(given.get("id", ""))
        if LOADED.get(tag) in given and given.get("rel") not in ("alternate", "index", "search", "next", "prev"):
            self.loaded.append(given[LOADED[tag]])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
            if "hreflang" in given:
                self.switch.append(given["href"])

    def handle_endtag(self, tag: str) -> None:
        self._within -= tag in CODE

    def handle_data(self, data: str) -> None:
        if not self._within:
            self.text.append(data)


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[Path, Parsed]:
    return {path: Parsed(path) for path in site.rglob("*.html") if path.parent.name != "live"}


def missing(pages: dict[Path, Parsed], path: Path, link: str) -> bool:
    """Whether a link or a loaded file is not there, or its place in the page."""
    parts = urlsplit(link)
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_file():
        return True
    return bool(parts.fragment) and target in pages and unquote(parts.fragment) not in pages[target].places


def inside(links: list[str]) -> Iterator[str]:
    return (link for link in links if not urlsplit(link).scheme)


def test_every_link_and_picture_leads_somewhere(pages):
    assert sum(len(parsed.links) for parsed in pages.values()) > 1000
    lost = [
        (path.name, link)
        for path, parsed in pages.items()
        for link in inside([*parsed.links, *parsed.loaded])
        if missing(pages, path, link)
    ]
    assert lost == []


def test_a_link_to_nothing_is_noticed(pages, site):
    home = site / "en" / "index.html"
    assert [missing(pages, home, link) for link in ("load.html", "lod.html", "load.html#nowhere", "#nowhere")] == [
        False, True, True, True,
    ]  # fmt: skip


def test_no_mark_of_markdown_is_left_in_the_text(pages):
    """A star or a bracket that a reader sees: in Korean a particle right after a closing mark keeps it from closing."""
    left = re.compile(r"\*\*|(?<![\w*])\*[^\W\d]|\]\(|`")
    assert [(path.name, data) for path, parsed in pages.items() for data in parsed.text if left.search(data)] == []


def test_nothing_is_loaded_from_elsewhere(site, pages):
    assert [(path.name, url) for path, parsed in pages.items() for url in parsed.loaded if urlsplit(url).netloc] == []
    styles = {path.name: path.read_text(encoding="utf-8") for path in site.rglob("*.css")}
    assert [name for name, text in styles.items() if re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", text)] == []


def test_both_languages_have_the_same_pages_and_each_leads_to_its_other(site, pages):
    names = [{path.relative_to(site / lang) for path in pages if path.is_relative_to(site / lang)} for lang in LANGS]
    assert names[0] == names[1]
    assert len(names[0]) > 35
    for lang, other in (LANGS, LANGS[::-1]):
        for name in names[0]:
            (link,) = pages[site / lang / name].switch
            assert (site / lang / name).parent.joinpath(link).resolve() == (site / other / name).resolve()


def test_every_page_of_the_folder_is_on_the_site(site):
    written = {path.relative_to(DOCS).as_posix().removesuffix(".md").removesuffix(".ko") for path in DOCS.rglob("*.md")}
    assert [name for name in sorted(written) if not (site / "ko" / f"{name}.html").is_file()] == []


def offered() -> dict[str, set[str]]:
    """Each name of jumok with the places that may tell it."""
    homes = {
        "allowed": "module-jumok.path.allowed",
        "positions": "module-jumok.path.positions",
        "JumokError": "jumok.errors.JumokError",
    }
    return {name: {f"jumok.{name}", f"module-jumok.{name}", homes.get(name, "")} for name in (*jumok.__all__, "nn")}


@pytest.mark.parametrize("lang", LANGS)
def test_the_reference_has_every_name_once_and_its_index_leads_to_each(site, pages, lang):
    folder = site / lang / "reference"
    told = [
        place
        for page in folder.glob("*.html")
        for place in pages[page].places
        if place.startswith(("jumok.", "module-"))
    ]
    assert len(told) == len(set(told)) > 100
    assert [name for name, ways in offered().items() if not ways & set(told)] == []
    index = {urlsplit(link).fragment for link in pages[site / lang / "reference.html"].links}
    assert [name for name, ways in offered().items() if not ways & index] == []


def test_a_page_of_the_reference_is_no_longer_than_it_must_be(site):
    """One page of all was 538 kB; what belongs together stays together."""
    sizes = {page.name: page.stat().st_size for page in (site / "en" / "reference").glob("*.html")}
    assert [name for name, size in sizes.items() if size > 200_000] == []


def spoken(path: Path) -> str:
    """The words of a page, code among them, and no marks."""
    article = path.read_text(encoding="utf-8").partition("<article")[2].partition("</article>")[0]
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", article)))


def program(lang: str) -> Iterator[tuple[str, click.Command, click.Context]]:
    """The program and each of its commands, as the program makes them."""
    group = _commands(lang)
    root = click.Context(group, info_name="jumok", **group.context_settings)
    yield "jumok", group, root
    for name, command in group.commands.items():
        yield name, command, click.Context(command, info_name=name, parent=root)


def plain(text: str) -> str:
    """Without what Sphinx makes of quotation marks and dots."""
    for made, typed in (("‘", "'"), ("’", "'"), ("“", '"'), ("”", '"'), ("…", "...")):
        text = text.replace(made, typed)
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("lang", LANGS)
def test_the_page_of_commands_tells_every_command_option_and_default(site, pages, lang):
    page = site / lang / "commands.html"
    text, places = plain(spoken(page)), pages[page].places
    lost = []
    for name, command, context in program(lang):
        lost += [name] if f"jumok-{name}" not in places and name != "jumok" else []
        lost += [context.command_path] if plain(" ".join(command.collect_usage_pieces(context))) not in text else []
        for one in command.get_params(context):
            if name != "jumok" and {"--lang", "--help"} & {*one.opts}:
                continue  # told once
            if f"{name}-{max(one.opts, key=len).strip('-')}" not in places:
                lost.append(f"{name} {one.name}")
            if isinstance(one, click.Option):
                called, words = one.get_help_record(context)
                told = [
                    called,
                    words.partition("  [default")[0],
                    str(one.default) if isinstance(one.default, str) else "",
                ]
                lost += [f"{name} {part}" for part in told if plain(part) not in text]
    assert lost == []


def test_a_command_that_the_page_leaves_out_is_noticed(tmp_path):
    """The page is written by hand as far as its order and its examples go."""
    written = (DOCS / "commands.md").read_text(encoding="utf-8")
    assert re.findall(r"\{command\} (\w+)", written) == [name for name, _, _ in program("en")]


@pytest.mark.parametrize("lang", LANGS)
def test_each_page_of_a_verb_leads_to_its_command(site, pages, lang):
    pages_of = {
        "lesson": "lessons",
        "examples": "load",
        "new": "load",
        "scaling": None,
        "completion": None,
        "jumok": None,
    }
    for name, _, _ in program(lang):
        page = pages_of.get(name, name)
        if page is not None:
            assert any(
                link.endswith(f"commands.html#jumok-{name}") for link in pages[site / lang / f"{page}.html"].links
            ), name


def test_the_install_page_tells_every_extra_and_this_version():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for name in ("install.md", "install.ko.md"):
        text = (DOCS / name).read_text(encoding="utf-8")
        rows = dict(re.findall(r"(?m)^\| `(\w+)` \| ([^|]+) \|", text))
        assert list(rows) == [extra for extra in extras if extra not in ("docs", "test")]
        for extra, packages in rows.items():
            needed = [re.split(r"[>\[]", one)[0] for one in extras[extra] if not one.startswith("jumok[")]
            assert [one for one in needed if one.lower() not in packages.lower()] == [], extra
        assert set(re.findall(r"jumok-(\d[\d.]*\d)-py3", text)) == {jumok.__version__}


def test_the_glossaries_hold_the_same_words():
    rows = [
        [
            row.split(" | ")[:2]
            for row in (DOCS / name).read_text(encoding="utf-8").splitlines()
            if row.startswith("| ")
        ][1:]
        for name in ("glossary.md", "glossary.ko.md")
    ]
    assert len(rows[0]) > 50
    assert [(en.strip("| "), ko) for en, ko in rows[0]] == [(en, ko.strip("| ")) for ko, en in rows[1]]


@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark").new_page()
        browser.close()


def found(tab: Page, site: Path, lang: str, words: str) -> list[str]:
    """The pages that a search from disk finds."""
    tab.goto(f"{(site / lang / 'search.html').as_uri()}?q={words}")
    tab.wait_for_selector("#search-results li a")
    tab.wait_for_function(
        r"() => /\d/.test(document.querySelector('#search-results .search-summary')?.innerText)"
    )  # all are there
    return tab.eval_on_selector_all("#search-results li a", "links => links.map(link => link.getAttribute('href'))")


def test_it_works_from_disk_and_asks_nothing_of_any_network(tab, site):
    asked: list[Request] = []
    wrong: list[str] = []
    tab.on("request", lambda request: asked.append(request))
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("console", lambda message: message.type == "error" and wrong.append(message.text))
    korean = [found(tab, site, "ko", words) for words in ("랭크", "랭크가")]
    assert any(link.startswith("mathematics.html") for link in korean[0])
    assert korean[0] == korean[1]
    assert any(link.startswith("mathematics.html") for link in found(tab, site, "en", "convex"))
    tab.goto((site / "en" / "mathematics.html").as_uri())
    assert tab.evaluate("() => document.documentElement.scrollWidth") == 390
    tab.click("nav.languages a")
    tab.wait_for_url(re.compile("/ko/mathematics.html$"))
    tab.goto((site / "ko" / "index.html").as_uri())
    tab.click("article a[href*='live/student.html']")
    tab.wait_for_selector("[data-ready='true']")
    assert [request.url for request in asked if not request.url.startswith(("file:", "data:", "blob:"))] == []
    assert wrong == []


def test_an_option_is_not_parted_at_its_hyphens_and_a_wide_picture_is_scrolled(tab, site):
    parted = "spans => spans.filter(span => span.getClientRects().length > 1).map(span => span.textContent)"
    for page in ("attend", "commands", "design", "start/researcher"):
        for lang in ("en", "ko"):
            tab.goto((site / lang / f"{page}.html").as_uri())
            assert tab.locator("article .whole").count() > 0
            assert tab.eval_on_selector_all("article .whole", parted) == []
            assert tab.evaluate("() => document.documentElement.scrollWidth") == 390
    tab.goto((site / "ko" / "design.html").as_uri())
    seen = "pictures => pictures.filter(one => one.offsetParent && one.width < one.getAttribute('width')).length"
    assert tab.eval_on_selector_all("article img:is([width='700'], [width='800'], [width='900'])", seen) == 0
