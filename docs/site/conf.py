"""How Sphinx makes the site: one run a language, both from the pages in docs/.

``page.md`` is English and ``page.ko.md`` Korean; in its own run each is simply ``page``, so that the switch between the
languages is the same path in the other folder.
"""

import os
import re
import sys
from pathlib import Path

import jumok

HERE = Path(__file__).parent
DOCS = HERE.parent
sys.path.insert(0, str(HERE))

language = os.environ["JUMOK_DOCS_LANG"]
project = "jumok"
release = jumok.__version__
html_title = {"en": "jumok", "ko": "jumok (주목)"}[language]

pages = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
source_suffix = {".ko.md" if language == "ko" else ".md": "markdown"}
exclude_patterns = [page for page in pages if page.endswith(".ko.md") != (language == "ko")]

extensions = ["myst_parser", "sphinx.ext.autodoc", "commands", "docstrings", "korean_search", "mathml", "summaries"]
myst_enable_extensions = ["dollarmath", "html_image"]
myst_heading_anchors = 4
autodoc_mock_imports = ["torch"]  # only jumok.nn is made of it, and no docstring is
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
toc_object_entries_show_parents = "hide"

html_theme = "furo"
templates_path = ["templates"]
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_use_index = False
html_domain_indices = False
pygments_style = "a11y-light"
pygments_dark_style = "a11y-dark"
FONTS = "system-ui, 'Noto Sans', 'Noto Sans KR', 'Apple SD Gothic Neo', 'Malgun Gothic', sans-serif"
html_theme_options = {
    "light_css_variables": {"font-stack": FONTS, "color-brand-primary": "#1f5aa6", "color-brand-content": "#1f5aa6"},
    "dark_css_variables": {"color-brand-primary": "#8ab8f0", "color-brand-content": "#8ab8f0"},
}

OTHER_LANGUAGE = re.compile(r"(?m) ?\[(?:한국어|English)\]\([\w.-]+\)$")
IN_THE_REPOSITORY = re.compile(r"\[([^\]]+)\]\((?:\.\./)+((?:src|tests|benchmarks)/[^)]+)\)")
PICTURE = re.compile(r'<img src="([\w./-]+)\.svg"')


def as_on_the_site(app: object, page: str, source: list[str]) -> None:
    """What a page says where it is read in the repository, as the site says it."""
    folder = Path(app.env.doc2path(page)).parent
    text = OTHER_LANGUAGE.sub("", source[0], count=1)  # the switch above the page leads there
    text = IN_THE_REPOSITORY.sub(r"\1 (`\2`)", text)
    text = text.replace("\n\n```\n", "\n```\n")  # doctest wants an empty line there, a reader none
    source[0] = re.sub(r"(?m)^.*<img src=.*$", lambda line: in_both_colours(line[0], folder), text)


def in_both_colours(line: str, folder: Path) -> str:
    """A line with pictures; where each has a dark one, the same with these, each shown in its own colours."""
    names = PICTURE.findall(line)
    if not names or not all((folder / f"{name}.dark.svg").is_file() for name in names):
        return line
    light, dark = (
        PICTURE.sub(r'<img class="only-light" src="\1.svg"', line),
        PICTURE.sub(r'<img class="only-dark" src="\1.dark.svg"', line),
    )
    return f"{light} {dark}"


def theme_in_korean(app: object) -> None:
    """The words of the theme, which has no Korean."""
    if language != "ko":
        return
    templates = app.builder.templates.environment
    usual, plural = templates.globals["gettext"], templates.globals["ngettext"]
    words = {
        "Next": "다음",
        "Previous": "이전",
        "Home": "처음",
        "On this page": "이 쪽의 내용",
        "Back to top": "맨 위로",
    }
    words["Skip to content"] = "본문으로 건너뛰기"
    templates.install_gettext_callables(lambda text: words.get(text) or usual(text), plural, newstyle=False)


def setup(app: object) -> None:
    """Sphinx calls this."""
    app.connect("source-read", as_on_the_site)
    app.connect("builder-inited", theme_in_korean)
