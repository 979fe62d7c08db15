"""A YAML file as texts with places: what is read, what is refused, and that nothing in it is run."""

import contextlib
import time
import tracemalloc

import pytest

from jumok.errors import ExampleError
from jumok.yaml_nodes import MOST_BYTES, MOST_DEPTH, MOST_NODES, Map, Scalar, Seq, parse, read_text
from refusals import plain, refusal


def everyone(node):
    """A node and all below it."""
    yield node
    children = node.items if isinstance(node, Seq) else [one for pair in getattr(node, "pairs", ()) for one in pair]
    for child in children:
        yield from everyone(child)


# what is read -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "word",
    ["no", "on", "off", "yes", "null", "~", "true", "False", "2026", "1_000", "0x10", "0o7", "1e3", ".inf", ".nan", "=", "<<",
     "12:30:00", "2026-11-29", "한글", "-1", "a b", "é", "👩‍👩‍👧", "شمس"],
)  # fmt: skip
def test_every_word_stays_the_text_that_was_written(word):
    assert plain(parse(f"{word}: [{word}, {{{word}: {word}}}]", "f")) == {word: [word, {word: word}]}


@pytest.mark.parametrize(
    ("written", "text"),
    [('""', ""), ("''", ""), ('"a\\nb"', "a\nb"), ('"\\x1b"', "\x1b"), ('"\\u202e"', "\u202e"), ("'it''s'", "it's"),
     ('"\\ud83d\\ude00"', "😀"), ('"\\U0001F600"', "😀"), ('"# c"', "# c"), ('"- d"', "- d"), ('"a: b"', "a: b"), ("|\n  one\n  two\n", "one\ntwo\n"),
     (">\n  one\n  two\n", "one two\n"), ("!!str no", "no"), ("!!int 3", "3"), ("&name no", "no")],
)  # fmt: skip
def test_a_text_can_be_written_in_many_ways(written, text):
    assert plain(parse(f"a: {written}", "f")) == {"a": text}


def test_an_alias_is_what_it_points_to():
    root = parse("a: &one [1, {b: 2}]\nc: *one\nd: [*one, 3]", "f")
    assert plain(root) == {"a": ["1", {"b": "2"}], "c": ["1", {"b": "2"}], "d": [["1", {"b": "2"}], "3"]}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_every_node_knows_where_it_stands(newline, mark):
    text = mark + newline.join(
        [
            "# first",
            "a:   {A: 1,B: '2'}   # one",
            "b:",
            "- x",
            "-   y: [1,",
            "     2]",
            "    z: &q w",
            "- *q",
            "c:",
            "한글: |",
            "  l",
            "",
        ]
    )
    lines = text.removeprefix("\ufeff").split(newline)
    for node in everyone(parse(text, "f")):
        assert text[node.start : node.end] == text[node.start : node.end].lstrip()
        if node.alias:
            assert text[node.start : node.end] == "*q"
        elif node.start < node.end:
            assert lines[node.line - 1][node.column - 1 :].startswith(text[node.start : node.end].splitlines()[0])
        else:
            assert (node.line, node.column) == (9, 3)  # the value that is not there, right behind its colon
    by_text = {
        node.text: text[node.start : node.end] for node in everyone(parse(text, "f")) if isinstance(node, Scalar)
    }
    assert by_text["2"] == "2" or by_text["2"] == "'2'"
    assert by_text["한글"] == "한글"


def test_the_kinds_of_brackets_are_known():
    root = parse("a: {b: [1]}\nc:\n  - d", "f")
    (_, a), (_, c) = root.pairs
    assert (root.flow, a.flow, a.pairs[0][1].flow, c.flow) == (False, True, True, False)
    assert isinstance(root, Map)


# what is refused --------------------------------------------------------------------------------

A = "a: " + "b" * MOST_BYTES
REFUSED = {
    "empty": ("", None, None, "empty", "`jumok new my.yaml`"),
    "only comments": ("# a\n\n  # b\n", None, None, "only comments", "`jumok new my.yaml`"),
    "two documents": ("a: 1\n---\nb: 2\n", 2, 1, "one document is expected, a second begins here"),
    "the same name twice": ("a: 1\nb: 2\na: 3\n", 3, 1, "the name 'a' stands twice here; keep one"),
    "the same name twice in braces": ("x: {a: 1, a: 2}\n", 1, 11, "the name 'a' stands twice here; keep one"),
    "the same name in two forms": ("\u1112\u1161\u11ab: 1\n한: 2\n", 2, 1, "the name '한' stands twice here; keep one"),
    "a list as a name": ("[a, b]: 1\n", 1, 1, "a name is expected before ':', not a list"),
    "an explicit list as a name": ("? - a\n: 1\n", 1, 3, "a name is expected before ':', not a list"),
    "a tab": ("a:\n\tb: 1\n", 2, 1, "a tab stands where only spaces may", "indent with spaces"),
    "a quote left open": ('a: "b\nc: d\n', 3, 1, "a quote is not closed"),
    "a single quote left open": ("a: 'b\n", 2, 1, "a quote is not closed"),
    "a bracket left open": ("a: [1, 2\nb: 3\n", 2, 2, "a comma or a closing ] is missing"),
    "a brace left open": ("a: {b: 1\n", 2, 1, "a comma or a closing } is missing"),
    "a colon in a text": ("a: b: c\n", 1, 5, "a text with ': ' in it needs quotes"),
    "indentation": ("a:\n    b: 1\n  c: 2\n", 3, 3, "the indentation does not fit the lines above"),
    "a name alone": ("a: 1\nb\nc: 2\n", 3, 1, "a name without ': ' behind it"),
    "a list beside a name": ("a: - b\n", 1, 4, "begin the list on a line of its own"),
    "an at sign": ("a: @b\n", 1, 4, "a text cannot begin with this sign; put it in quotes"),
    "a percent sign": ("a: %b\n", 1, 4, "put it in quotes"),
    "an escape": ('a: "\\q"\n', 1, 6, "in double quotes \\ begins an escape; write \\\\"),
    "no value": ("{a: 1, : 2}\n, b", 2, 1, "not valid YAML"),
    "an alias to nothing": ("a: *b\n", 1, 4, "*b points to nothing", "write out what is meant"),
    "an alias inside itself": ("a: &b [1, *b]\n", 1, 11, "*b points to nothing that is complete", "write out"),
    "an object": ("a: !!python/object/apply:os.system ['echo']\n", 1, 4, "asks for an object", "Remove the tag"),
    "an object as root": ("!!python/name:os.system\n", 1, 1, "'tag:yaml.org,2002:python/name:os.system'"),
    "a set": ("a: !!set {b}\n", 1, 4, "asks for an object"),
    "a binary": ("a: !!binary R0lG\n", 1, 4, "asks for an object"),
    "a tag of one's own": ("a: 1\nb: !thing x\n", 2, 4, "the tag '!thing' asks for an object"),
    "a bare tag": ("a: ! x\n", 1, 4, "the tag '!' asks for an object"),
    "a control character": ("a: 1\nb: x\x1b[31m\n", 2, 5, "the character U+001B", '"\\x1b"'),
    "a control character behind CRLF": ("a: 1\r\nb: \x07\r\n", 2, 4, "the character U+0007", '"\\x07"'),
    "a control character behind a mark": ("\ufeffa\x00", 1, 2, "the character U+0000", '"\\x00"'),
    "delete": ("\x7f", 1, 1, "the character U+007F"),
    "a C1 control": ("a: \x9b", 1, 4, "the character U+009B"),
    "half a character": ("a: \ud800", 1, 4, "the character U+D800"),
    "half a character, escaped": ('a: "x\\ud800y"', 1, 4, "half a character", "write the whole character"),
    "not a character": ("a: \uffff", 1, 4, "the character U+FFFF"),
    "nesting": ("[" * 10_000, 1, MOST_DEPTH + 2, f"more than {MOST_DEPTH} levels of nesting"),
    "nesting in braces": ("{a: " * 10_000, 1, 4 * MOST_DEPTH + 2, f"more than {MOST_DEPTH} levels of nesting"),
    "nesting in lists": ("- " * 10_000, 1, 2 * MOST_DEPTH + 3, f"more than {MOST_DEPTH} levels of nesting"),
    "nesting by lines": ("".join(" " * i + "a:\n" for i in range(100)), MOST_DEPTH + 1, MOST_DEPTH + 1, "levels of nesting"),
    "many entries": ("- a\n" * MOST_NODES, MOST_NODES, 3, f"more than {MOST_NODES:,} entries", "jumok.attend(x=…)"),
    "a long text": (A, None, None, f"larger than {MOST_BYTES // 1024} KiB", "jumok.attend(x=…)"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    text, line, column, *phrases = REFUSED[what]
    refusal(lambda: parse(text, "my.yaml"), line, column, "my.yaml", *phrases)


def test_a_long_name_is_cut_in_the_message():
    long = "x" * 200
    for text in (f"{long}: 1\n{long}: 2", f"a: *{long}", f"a: !{long} b"):
        with pytest.raises(ExampleError) as caught:
            parse(text, "f")
        assert len(str(caught.value)) < 300
        assert "…" in str(caught.value)


BOMBS = {
    "lists": "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 10)),
    "names": "a0: &a0 {x: y}\n" + "".join(f"a{i}: &a{i} {{p: *a{i - 1}, q: *a{i - 1}}}\n" for i in range(1, 15)),
    "one large, many times": "a: &a [" + "x, " * 5000 + "x]\nb: [" + "*a, " * 5000 + "*a]\n",
}


@pytest.mark.parametrize("what", BOMBS)
def test_aliases_that_explode_are_counted_and_not_unfolded(what):
    tracemalloc.start()
    start = time.process_time()
    with pytest.raises(ExampleError, match=r"entries, aliases .* unfolded") as caught:
        parse(BOMBS[what], "f")
    held_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.line is not None
    assert held_bytes < 64 * 2**20
    assert time.process_time() - start < 10


SOME = MOST_BYTES // 4  # a longer text takes longer in proportion
SLOW = {
    "letters": "a" * SOME,
    "words": "a " * (SOME // 2),
    "open quote": '"' + "a\n" * (SOME // 2 - 1),
    "open brackets": "[" * SOME,
    "braces with names": "{a: " * (SOME // 4),
    "question marks": "? " * (SOME // 2),
    "colons": ":" * SOME,
    "empty lines": "\n" * SOME,
    "comments": "#\n" * (SOME // 2),
    "block text": "a: |\n" + " b\n" * (SOME // 3 - 2),
    "anchors": "- &a b\n" * (SOME // 7),
    "commas": "[" + "a," * (SOME // 2 - 1),
    "one long name": "[a" + "b" * (SOME // 2) + ": 1]",
    "directives": "%TAG !a! b\n" * (SOME // 11),
    "dashes": "-" * SOME,
    "carriage returns": "\r" * SOME,
    "backslashes": '"' + "\\\\" * (SOME // 2 - 1) + '"',
}  # fmt: skip


@pytest.mark.parametrize("what", SLOW)
def test_a_hostile_text_takes_a_second_at_most(what):
    """Half a second where nothing else runs; a scanner that goes back over what it read would take minutes."""
    start = time.process_time()
    with contextlib.suppress(ExampleError):
        parse(SLOW[what], "f")
    assert time.process_time() - start < 8


def test_nothing_in_a_file_is_run(tmp_path):
    there = tmp_path / "there"
    for text in (
        f"!!python/object/apply:os.mkdir ['{there}']",
        f"a: !!python/object/new:os.mkdir ['{there}']",
        f"? !!python/object/apply:pathlib.Path.mkdir ['{there}']\n: 1",
        f"!<tag:yaml.org,2002:python/object/apply:os.mkdir> ['{there}']",
        f"%TAG !p! tag:yaml.org,2002:python/object/apply:\n--- !p!os.mkdir ['{there}']",
    ):
        with pytest.raises(ExampleError, match="asks for an object"):
            parse(text, "f")
    assert not there.exists()


# files ------------------------------------------------------------------------------------------

TEXT = "title: 은행\ntokens: [나, 는]\n"
FILES = {
    "empty": (b"", ""),
    "UTF-8": (TEXT.encode(), TEXT),
    "UTF-8 with a mark": (TEXT.encode("utf-8-sig"), "\ufeff" + TEXT),
    "CRLF": (TEXT.replace("\n", "\r\n").encode(), TEXT.replace("\n", "\r\n")),
}


@pytest.mark.parametrize("what", FILES)
def test_a_text_is_read_as_it_is(tmp_path, what):
    path = tmp_path / "a.yaml"
    data, text = FILES[what]
    path.write_bytes(data)
    assert read_text(str(path)) == text


NOT_TEXT = {
    "UTF-16 little": (TEXT.encode("utf-16"), "saved as UTF-16; UTF-8 is expected", "iconv -f UTF-16 -t UTF-8"),
    "UTF-16 big": (b"\xfe\xff" + TEXT.encode("utf-16-be"), "saved as UTF-16;", "iconv -f UTF-16 "),
    "UTF-16 little, no mark": (TEXT.encode("utf-16-le"), "saved as UTF-16LE;", "iconv -f UTF-16LE "),
    "UTF-16 big, no mark": (TEXT.encode("utf-16-be"), "saved as UTF-16BE;", "iconv -f UTF-16BE "),
    "CP949": (
        TEXT.encode("cp949"),
        "saved as CP949 (EUC-KR); UTF-8 is expected",
        "iconv -f CP949 -t UTF-8 old.yaml > new.yaml",
    ),
    "CP949 beyond EUC-KR": ("tokens: [똠방각하, 펲시]".encode("cp949"), "saved as CP949 (EUC-KR)", "Save as"),
    "Latin-1": ("a: 1\ntokens: [café]".encode("latin-1"), "not UTF-8 text (byte 17, line 2)", "Save it as UTF-8"),
    "cut in a letter": (TEXT.encode()[:11], "not UTF-8 text (byte 10, line 1)", "Save it as UTF-8"),
    "damaged": (
        ("- 은행에 돈을\n" * 9).encode() + b"\xec\x9d\n",
        "not UTF-8 text (byte 171, line 10)",
        "Save it as UTF-8",
    ),
    "damaged, and CP949 by chance": (
        ("- 죄쨹\n" * 3 + "- 죄쨹").encode()[:-2],
        "not UTF-8 text (byte 32, line 4)",
        "Save it",
    ),
    "a picture": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "it is a binary file, not text", "`jumok new my.yaml`"),
    "zeros": (bytes(1000), "it is a binary file, not text"),
}


@pytest.mark.parametrize("what", NOT_TEXT)
def test_what_is_not_utf8_is_named_with_what_to_do(tmp_path, what):
    path = tmp_path / "a.yaml"
    data, *phrases = NOT_TEXT[what]
    path.write_bytes(data)
    refusal(lambda: read_text(str(path)), None, None, str(path), *phrases)


def test_a_missing_file_is_told(tmp_path):
    refusal(lambda: read_text(str(tmp_path / "none.yaml")), None, None, "none.yaml: there is no such file")


def test_a_folder_is_told(tmp_path):
    refusal(lambda: read_text(str(tmp_path)), None, None, "it cannot be read: it is a folder")


def test_a_name_that_no_file_can_have_is_told():
    refusal(lambda: read_text("a\0.yaml"), None, None, r"'a\x00.yaml': it cannot be read: embedded null byte")


def test_a_file_of_100_megabytes_is_refused_at_once(tmp_path):
    path = tmp_path / "a.yaml"
    with open(path, "wb") as file:
        file.truncate(100 * 2**20)
    tracemalloc.start()
    start = time.process_time()
    refusal(lambda: read_text(str(path)), None, None, f"larger than {MOST_BYTES // 1024} KiB", "jumok.attend(x=…)")
    held_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert time.process_time() - start < 1
    assert held_bytes < 4 * 2**20


def test_a_file_without_end_is_refused_at_once():
    refusal(lambda: read_text("/dev/zero"), None, None, "larger than")
