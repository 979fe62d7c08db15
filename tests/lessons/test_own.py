"""A teacher's own lesson, and what comes of one that is wrong: one clear error with its line, in both languages."""

import nbformat
import pytest

from jumok.cli import run
from jumok.lessons import packaged

ODD = "😀 \u202eevil\u202c </script><script>alert(1)</script> \x07 שלום"
QUESTION = "draw: {a: 1..5, b: -3..3}"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("JUMOK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)


def line_of(text, piece):
    return text[: text.index(piece)].count("\n") + 1


def at_line(line, lang):
    return f"line {line}," if lang == "en" else f"{line}행"


def replaced(old, new):
    def change(text):
        assert old in text
        return text.replace(old, new, 1).encode()

    return change


REFUSED = {  # what is changed, the piece whose line is told, and a word of what is said
    "wrong YAML": (replaced(QUESTION, QUESTION[:-1]), None, ("YAML", "YAML")),
    "a block without id": (replaced("id: dot\n", ""), "```question", ("needs id:", "id: 항목이 필요")),
    "an unknown goal": (
        replaced("goals: [follow-a-score]", "goals: [fly]"),
        "goals:",
        ("goals is a list", "고른 목록"),
    ),
    "no example": (replaced("example: student", "example: nobody"), "example:", ("'nobody'", "'nobody'")),
    "a block that never ends": (
        lambda text: f"{text}\n```question\nid: last".encode(),
        None,
        ("opened here and not closed", "닫히지 않았습니다"),
    ),
    "nothing": (lambda _: b"", None, ("begins with ---", "시작합니다")),
    "not UTF-8": (lambda text: text.encode() + b"caf\xe9", None, ("not UTF-8", "UTF-8 글이 아닙니다")),
    "five megabytes": (lambda text: text.encode() + b"word " * 10**6, None, ("too large for a lesson", "너무 큽니다")),
}


def unwrapped(text):
    """Each thing that is said on a line of its own."""
    return text.replace("\n  ", " ")


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize("case", REFUSED)
def test_a_lesson_that_is_wrong_is_refused_with_one_error(case, check, lang, tmp_path, capsys):
    change, piece, words = REFUSED[case]
    text = packaged.starter(lang)
    (tmp_path / "my.md").write_bytes(change(text))
    assert run(["lesson", *(["--check"] if check else []), "my.md", "--lang", lang]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "my.md" in said
    assert words[lang == "ko"] in said
    if piece:
        assert at_line(line_of(text, piece), lang) in said


@pytest.mark.parametrize(("lang", "said"), [("en", "it is a folder"), ("ko", "폴더입니다")])
def test_a_folder_is_no_lesson(lang, said, tmp_path, capsys):
    (tmp_path / "my.md").mkdir()
    for arguments in (["my.md"], ["--check", "my.md"], ["my.md", "-o", "a.html"]):
        assert run(["lesson", *arguments, "--lang", lang]) == 2
        assert said in capsys.readouterr().err


UNTRUE = {
    "an unknown function": (replaced("{{55% = weight(", "{{55% = wieght("), "{{55%", "'wieght'"),
    "another number": (replaced("{{55% =", "{{56% ="), "{{55%", "55%"),
}


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("case", UNTRUE)
def test_what_is_untrue_is_told_with_its_line(case, lang, tmp_path, capsys):
    change, piece, word = UNTRUE[case]
    text = packaged.starter(lang)
    (tmp_path / "my.md").write_bytes(change(text))
    assert run(["lesson", "--check", "my.md", "--lang", lang]) == 1
    said = unwrapped(capsys.readouterr().out)
    assert said.count("\n") == 1
    assert word in said
    assert at_line(line_of(text, piece), lang) in said


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_an_unknown_function_is_told_with_its_line_where_the_lesson_is_read(lang, tmp_path, capsys):
    text = packaged.starter(lang)
    (tmp_path / "my.md").write_bytes(UNTRUE["an unknown function"][0](text))
    assert run(["lesson", "my.md", "--lang", lang]) == 2
    assert at_line(line_of(text, "{{55%"), lang) in capsys.readouterr().err


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize(
    ("place", "put"), [("hints: [", "'{c}', "), ("mistakes: {", "a*2: '{c}', "), ('after: "', "{c} ")]
)
def test_an_unknown_name_in_braces_is_told(lang, place, put, tmp_path, capsys):
    text = packaged.starter(lang)
    at = text.index(place, text.index("id: dot")) + len(place)
    (tmp_path / "my.md").write_text(text[:at] + put + text[at:], encoding="utf-8")
    assert run(["lesson", "--check", "my.md", "--lang", lang]) == 1
    said = unwrapped(capsys.readouterr().out)
    assert said.count("\n") == 1
    assert "'c'" in said
    assert at_line(line_of(text, "```question"), lang) in said


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_braces_where_nothing_is_drawn_are_told(lang, tmp_path, capsys):
    text = packaged.starter(lang)
    at = text.index("hints: [", text.index("id: carefully")) + len("hints: [")
    (tmp_path / "my.md").write_text(text[:at] + "'{a}', '`{b}` {{1 = 1}}', " + text[at:], encoding="utf-8")
    assert run(["lesson", "--check", "my.md", "--lang", lang]) == 1
    said = unwrapped(capsys.readouterr().out)
    assert said.count("\n") == 1
    assert "{a}" in said


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_odd_letters_are_shown_and_end_nothing(lang, tmp_path, capsys):
    text = (
        packaged.starter(lang).replace("title: ", f"title: {ODD} ".replace("\x07", ""), 1)
        + f"\n\n## {ODD}\n\n- {ODD}\n"
    )
    (tmp_path / "my.md").write_text(text, encoding="utf-8")
    assert run(["lesson", "--check", "my.md"]) == 0
    capsys.readouterr()
    for arguments in ([], ["--answers"]):
        assert run(["lesson", "my.md", *arguments, "--lang", lang]) == 0
        seen = capsys.readouterr().out
        assert "😀" in seen
        assert "\u202e" not in seen
        assert "\x07" not in seen
        assert "\\u202e" in seen
    assert run(["lesson", "my.md", "-o", "my.html"]) == run(["lesson", "my.md", "-o", "my.ipynb"]) == 0
    page = (tmp_path / "my.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page.replace("\\u003c", "<").partition("<body>")[0]
    assert page.count("<script") == page.count("</script>")
    nbformat.validate(nbformat.read(tmp_path / "my.ipynb", as_version=4))


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_from_the_starter_to_what_is_handed_out(lang, tmp_path, capsys):
    assert run(["lesson", "--new", "my.md", "--lang", lang]) == 0
    path = tmp_path / "my.md"
    path.write_text(path.read_text(encoding="utf-8").replace("minutes: 5", "minutes: 7"), encoding="utf-8")
    assert run(["lesson", "--check", "my.md"]) == 0
    assert run(["lesson", "my.md"]) == 0
    assert ("7 minutes" if lang == "en" else "7분") in capsys.readouterr().out
    assert run(["lesson", "my.md", "-o", "my.html"]) == 0
    assert run(["lesson", "my.md", "--notebook"]) == 0
    assert (tmp_path / "my-lesson.ipynb").exists()
    assert "jumok lesson my.md" in (tmp_path / "my.html").read_text(encoding="utf-8")
