"""The page as a file: whole, alone, and closed against whatever a token or a title says."""

import base64
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import jumok
from jumok.errors import OutputError, TooLargeError, UnknownName
from jumok.picture import page
from jumok.picture.packed import pack
from jumok.trace import Reading, Source, Token, Trace
from jumok.words import shown

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]>",
    "\u2028\u2029",
    "\"'`${1}",
    "&lt;&amp;",
    "<img src=x onerror=alert(1)>",
    "</title></head>",
    "한글 </SCRIPT >",
    "\\u003c/script>",
    "\x00\x1f",
]


class Elements(HTMLParser):
    """Every element of a page: (name, attributes, text inside)."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.found = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append([tag, dict(attributes), ""])

    def handle_endtag(self, tag):
        self.found.append([None, {}, ""])

    def handle_data(self, data):
        if self.found and self.found[-1][0]:
            self.found[-1][2] += data

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data[:100]}")

    def of(self, tag, **attributes):
        asked = {name.replace("_", "-"): value for name, value in attributes.items()}
        return [(given, text) for name, given, text in self.found if name == tag and asked.items() <= given.items()]


def read(thing, **options):
    return Elements("".join(page.html(thing, **options)))


def hostile():
    one = np.ones((1, len(HOSTILE), 2))
    title = {"en": HOSTILE[0] + HOSTILE[7], "ko": HOSTILE[1]}
    return Trace(
        tokens=HOSTILE,
        q=one,
        k=one,
        v=one,
        source=Source(name=HOSTILE[0], details={"title": title, HOSTILE[1]: HOSTILE}),
    )


def large(n=800, layers=3):
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((8, n, 32)).astype(np.float32) for _ in range(3))
    return Reading(tuple(Trace(tokens=[f"t{at}" for at in range(n)], q=q, k=k, v=v) for _ in range(layers)))


def documents_of(elements):
    """The documents of a page, as a reader of .safetensors would have them: (header, bytes)."""
    for at, (given, header) in enumerate(elements.of("script", type="application/json")[1:]):
        assert "data-jumok-header" in given
        blocks = elements.of("script", type="text/plain", data_document=str(at))
        yield header, b"".join(base64.b64decode(text, validate=True) for _, text in blocks)


# what stands in it --------------------------------------------------------------------------------


def test_a_small_document_stands_in_one_block():
    trace = jumok.attend(jumok.load("student"))
    elements = read(trace, view={"query": 2}, lang="ko")
    [(_, text)] = elements.of("script", id="jumok-model")
    assert json.loads(text) == {"comparison": None, "cuts": [], "view": {"query": 2, "lang": "ko"}, "title": None}
    made = pack(trace)
    assert list(documents_of(elements)) == [(made.header, made.layers[0])]
    assert elements.of("html", lang="ko")
    assert elements.of("title")[0][1] == made.title["ko"]
    assert not elements.of("img")


def test_a_large_document_gives_its_layers_one_by_one_and_its_thumbnails_first():
    reading = large()
    made = pack(reading)
    elements = read(reading)
    blocks = elements.of("script", type="text/plain")
    assert [given["data-layer"] for given, _ in blocks] == ["0", "1", "2"]
    assert tuple(base64.b64decode(text) for _, text in blocks) == made.layers
    [(image, _)] = elements.of("img")
    assert image["src"] == made.atlas["png"]
    names = [name for name, given, _ in elements.found]
    assert names.index("img") < names.index("script")
    [(header, _)] = documents_of(elements)
    told = json.loads(json.loads(header)["__metadata__"]["page"])
    assert told["atlas"] == {**made.atlas, "png": None}


def test_two_documents_and_what_stands_for_what():
    pair = [jumok.attend(jumok.load(name)) for name in ("bank-river", "bank-money")]
    comparison = {"pairs": [[0, 0], [1, 1]]}
    elements = read(pair, comparison=comparison)
    assert [header for header, _ in documents_of(elements)] == [pack(trace).header for trace in pair]
    assert json.loads(elements.of("script", id="jumok-model")[0][1])["comparison"] == comparison


def test_a_document_that_is_packed_already_is_taken_as_it_is():
    made = pack(jumok.attend(jumok.load("student")), storage="int16")
    assert list(documents_of(read(made))) == [(made.header, b"".join(made.layers))]


def test_the_program_stands_last_and_whole():
    elements = read(jumok.attend(jumok.load("student")))
    [(_, program)] = elements.of("script", type="module")
    assert [name for name, *_ in elements.found if name][-1] == "script"
    notices, text = (file.read_text(encoding="utf-8") for file in (page.NOTICES, page.BUNDLE))
    assert program == f"\n/*\n{notices}*/\n{text}"


def test_what_would_end_a_script_element_is_spelled_otherwise(monkeypatch, tmp_path):
    (bundle := tmp_path / "a.js").write_text('const a = "</script><!-- </SCRIPT>";\n')
    monkeypatch.setattr(page, "BUNDLE", bundle)
    [(_, program)] = read(jumok.attend(jumok.load("student"))).of("script", type="module")
    assert program.partition("*/\n")[2] == 'const a = "\\x3c/script>\\x3c!-- \\x3c/SCRIPT>";\n'


def test_without_scripts_both_languages_say_why():
    elements = read(jumok.attend(jumok.load("student")))
    assert len(elements.of("noscript")) == 2
    assert "JavaScript" in elements.of("p", lang="en")[0][1]
    assert re.search("[가-힣]", elements.of("p", lang="ko")[0][1])


def test_nothing_is_asked_of_anybody():
    elements = read([large(), hostile()], size_limit=None)
    policy = elements.of("meta", http_equiv="Content-Security-Policy")[0][0]["content"]
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy
    assert "connect-src" not in policy
    for name, given, _ in elements.found:
        assert name in {None, "html", "head", "meta", "title", "body", "noscript", "p", "img", "div", "script"}
        assert not {"href", "srcset", "action", "onload"} & given.keys()
        assert "src" not in given or given["src"].startswith("data:image/png")


# hostile texts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("title", [None, *HOSTILE])
def test_no_text_breaks_out(title):
    trace = hostile()
    elements = read(trace, title=title, view={"note": HOSTILE})
    assert len(elements.of("script")) == 4
    [(header, _)] = documents_of(elements)
    assert header == pack(trace).header.replace("<", "\\u003c")
    record = json.loads(json.loads(header)["__metadata__"]["record"])
    assert [token[0] for token in record["tokens"][0]] == HOSTILE
    assert json.loads(elements.of("script", id="jumok-model")[0][1])["view"]["note"] == HOSTILE
    assert elements.of("title")[0][1] == shown(title or HOSTILE[0] + HOSTILE[7])


def test_hostile_and_plain_titles_in_a_language():
    trace = jumok.attend(jumok.load("student"))
    assert read(trace, title={"en": "A", "ko": "가"}, lang="ko").of("title")[0][1] == "가"
    assert read(trace, title={"en": "A"}, lang="ko").of("title")[0][1] == "A"


# size ---------------------------------------------------------------------------------------------


def test_the_worked_example_is_a_small_file(tmp_path):
    path = page.write(tmp_path / "student.html", jumok.attend(jumok.load("student")))
    assert path.stat().st_size < 400_000


def test_sizes_of_models_stay_under_the_targets(monkeypatch):
    """12 × 12 heads of 64 dimensions; counted without making them."""
    monkeypatch.setattr(page, "_text_of", lambda _: "x" * 150_000)
    for n, most in ((128, 8e6), (512, 27e6)):
        rng = np.random.default_rng(0)
        q, k, v = (rng.standard_normal((12, n, 64)).astype(np.float32) for _ in range(3))
        trace = Trace(tokens=[Token(f"token{at}", (at, at + 1)) for at in range(n)], q=q, k=k, v=v, rule="causal")
        one = sum(map(len, page.html(Reading((trace,) * 2)))) - sum(map(len, page.html(Reading((trace,)))))
        whole = sum(map(len, page.html(Reading((trace,))))) + 11 * one
        assert whole <= most, f"{n}: {whole / 1e6:.1f} MB"


def test_a_page_that_is_too_large_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr(page, "pack", lambda *_: pytest.fail("made it nevertheless"))
    with pytest.raises(TooLargeError) as caught:
        page.html(large(300), size_limit=1_000_000)
    for lang, words in (("en", ["1.2 MB", "1.0 MB"]), ("ko", ["1.2 MB", "층을 줄이거나"])):
        for word in [*words, "values=", "size_limit=", "Reading(reading[:6])"]:
            assert word in caught.value.text(lang)
    assert caught.value.bytes_needed > 1_000_000


def test_a_limit_can_be_raised_or_lifted():
    reading = large(600, layers=1)
    for limit in (10_000_000, None):
        assert sum(map(len, page.html(reading, size_limit=limit))) > 1_000_000


def test_another_language_is_refused():
    with pytest.raises(UnknownName, match="unknown language 'fr'"):
        page.html(hostile(), lang="fr")


def test_an_interrupted_page_leaves_the_old_one(tmp_path, monkeypatch):
    (path := tmp_path / "a.html").write_text("old")
    monkeypatch.setattr(page, "BUNDLE", tmp_path / "missing.js")
    with pytest.raises(OutputError):
        page.write(path, hostile())
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.html"]
