"""explain: sections in order, both languages, golden texts."""

import pytest

import jumok
from golden import same_as_golden
from jumok.errors import InputError, UnknownName
from jumok.explanation.facts import SECTIONS


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize(
    ("name", "token"), [("student", "studies"), ("student", "The"), ("bank-money", "은행"), ("cat-fish", "고양이가")]
)
def test_golden(name: str, token: str, lang: str) -> None:
    explanation = jumok.explain(jumok.attend(jumok.load(name)), token, lang)
    same_as_golden(f"explain.{name}.{token}.{lang}.txt", str(explanation))


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_golden_of_several_layers(lang: str) -> None:
    tired, soft = (jumok.attend(jumok.load(name)) for name in ("it-tired", "it-soft"))
    sections = jumok.explain(tired, "it", lang, pair=soft).sections()
    (layers,) = [section for section in sections if section.name == "layers"]
    same_as_golden(f"explain.it-tired.layers.{lang}.txt", "\n".join(line for _, line in layers.lines) + "\n")


def test_sections_stand_in_the_order_of_the_formula() -> None:
    names = [section.name for section in jumok.explain(jumok.attend(jumok.load("student"))).sections()]
    assert names == [name for name in SECTIONS if name != "layers"]


def test_the_focus_of_the_example_is_explained_where_no_token_is_named() -> None:
    assert jumok.explain(jumok.attend(jumok.load("student"))).token == "studies"
    plain = jumok.attend(x=[[1.0, 0], [0, 9.0]], w_q=[[1, 0], [0, 1]], w_k=[[1, 0], [0, 1]], w_v=[[1, 0], [0, 1]])
    assert jumok.explain(plain).token == "1"  # the row furthest from even


def test_another_language_than_its_own_can_be_asked_for() -> None:
    explanation = jumok.explain(jumok.attend(jumok.load("student")), "studies", "ko")
    assert "studies는 deep learning을 가장 많이 참고" in str(explanation)
    assert "studies attends most to deep learning" in explanation.text("en")
    assert explanation.to_json()["text"]["ko"] == str(explanation)


@pytest.mark.parametrize(
    ("token", "error", "message"),
    [
        ("nobody", UnknownName, "unknown token 'nobody'"),
        (9, InputError, "from 0 to 4"),
        (-1, InputError, "from 0 to 4"),
        (True, InputError, "from 0 to 4"),
    ],
)
def test_a_token_that_is_not_there(token: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        jumok.explain(jumok.attend(jumok.load("student")), token)  # type: ignore[arg-type]


def test_a_language_that_is_not_there() -> None:
    with pytest.raises(UnknownName, match="unknown language 'jp'"):
        jumok.explain(jumok.attend(jumok.load("student")), "studies", "jp")


def test_what_is_no_trace() -> None:
    with pytest.raises(InputError, match="expects a Trace or a Reading"):
        jumok.explain("student")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="with layers"):
        jumok.explain(jumok.Reading(()))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "</script>",
        'a"b',
        "line\nbreak",
        "👩\u200d👩\u200d👧",
        "e\u0301",
        "אבג",
        "\u202eabc",
        "{token}",
        "[bold]x[/]",
        "\x1b[31m",
    ],
)
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_odd_tokens_stay_on_their_line(text: str, lang: str) -> None:
    trace = jumok.attend(
        x=[[1.0, 0], [0, 1.0]], w_q=[[1, 0], [0, 1]], w_k=[[1, 0], [0, 1]], w_v=[[1, 0], [0, 1]], tokens=[text, "b"]
    )
    plain = jumok.attend(
        x=[[1.0, 0], [0, 1.0]], w_q=[[1, 0], [0, 1]], w_k=[[1, 0], [0, 1]], w_v=[[1, 0], [0, 1]], tokens=["a", "b"]
    )
    said = str(jumok.explain(trace, 0, lang))
    assert said.count("\n") == str(jumok.explain(plain, 0, lang)).count("\n")
    assert "\x1b" not in said
    assert "\u202e" not in said
