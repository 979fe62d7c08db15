"""explain: sections in order, both languages, golden texts."""

import numpy as np
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


def test_equal_tokens_are_told_apart_by_the_names_that_find_them() -> None:
    x = np.array([[2.0, 0], [0, 1], [0, 3]])
    trace = jumok.attend(x=x, w_q=np.eye(2), w_k=np.eye(2), w_v=np.eye(2), tokens=["cat", "the", "the"])
    explanation = jumok.explain(trace, "the#1")
    said = {section.name: [line for _, line in section.lines] for section in explanation.sections()}
    assert explanation.token == "the#1"
    assert [line.split(":")[0] for line in said["keys"][1:]] == ["cat", "the#1", "the#2"]
    assert said["ranking"][-1] == "'the#1' attends most to 'the#2' (73.4%), then to 'the#1' (17.8%)."


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


# many heads ---------------------------------------------------------------------------------------

N = 6
BY_HEAD = ("query", "keys", "scores", "weights", "values")


def many(n_layers: int = 3, n_heads: int = 8, rule: str | None = None) -> jumok.Reading:
    rng = np.random.default_rng(5)
    words = ["[CLS]", "the", "cat", "sat", "down", "[SEP]"]
    arrays = rng.normal(size=(n_layers, 3, n_heads, N, 4)) * 2
    layers = [jumok.attend(q=q, k=k, v=v, tokens=words, rule=rule) for q, k, v in arrays]
    return jumok.Reading(tuple(layers))


def strongest(layers: list[jumok.Trace], query: int) -> tuple[float, int, int, int]:
    """(weight, layer, head, key) beyond the first token, marks and neighbours, one weight after the other."""
    return max(
        (float(trace.weights[head, query, key]), layer, head, key)
        for layer, trace in enumerate(layers)
        for head in range(trace.n_heads)
        for key in range(1, N - 1)
        if abs(key - query) > 1
    )


@pytest.mark.parametrize("query", [1, 3, 4])
def test_of_many_heads_one_is_told_and_it_says_which_and_why(query: int) -> None:
    reading = many()
    weight, layer, head, key = strongest(list(reading), query)
    told = jumok.explain(reading, query)
    first = told.facts[0]
    assert (first.kind, first.layer, first.head) == ("only.chosen", layer, head)
    assert dict(first.data) == {
        "n_heads": 24, "head": head, "key": reading.tokens[key].text, "weight": pytest.approx(weight),
    }  # fmt: skip
    assert {(fact.layer, fact.head) for fact in told.facts if fact.section in BY_HEAD} == {(layer, head)}
    assert told.text("en").splitlines()[1].startswith(f"   Of 24 heads, head {head} of this layer alone")
    assert told.text("ko").splitlines()[1].startswith(f"   헤드 24개 가운데 이 층의 {head}번 헤드만 봅니다")
    ways = ("--layer", "--head", "--all-heads", 'head="all"')
    assert all(way in told.text(lang).splitlines()[1] for lang in ("en", "ko") for way in ways)
    assert len(told.text().splitlines()) < 100 < len(jumok.explain(reading, query, head="all").text().splitlines())


def test_what_is_said_of_one_head_is_its_own_and_of_the_output_that_of_all() -> None:
    trace = many()[1]
    told = jumok.explain(trace, 2, head=5)
    weights = trace.weights[5, 2]
    (ranking,) = (fact for fact in told.facts if fact.kind == "ranking")
    assert ranking.data["ranked"][0] == [trace.tokens[int(weights.argmax())].text, pytest.approx(weights.max())]
    (three,) = (fact for fact in told.facts if fact.kind == "analogy.three")
    assert np.array_equal(three.data["q"], trace.q[5, 2])
    (joined,) = (fact for fact in told.facts if fact.kind == "output.joined")
    assert joined.data["n_heads"] == 8
    assert np.allclose(joined.data["vector"], trace.output[2])
    assert "Head 5 of" not in told.text()
    assert told.text().splitlines()[1] == "   Of the 8 heads of this layer, head 5 alone (counted from 0)."


def test_one_layer_can_be_asked_for_and_the_head_is_chosen_among_its_own() -> None:
    reading = many()
    for layer in range(3):
        told = jumok.explain(reading, 3, layer=layer)
        assert (told.facts[0].layer, told.facts[0].head) == (layer, strongest([reading[layer]], 3)[2])
        assert told.facts[0].data["n_heads"] == 8
        assert jumok.explain(reading[layer], 3).facts[0].head == told.facts[0].head
    titles = [section.title for section in jumok.explain(reading, 3, layer=1, head=2).sections()]
    assert titles[0].startswith("Layer 1")
    assert not titles[-1].startswith("Layer")


def test_where_no_head_reads_further_the_first_is_told() -> None:
    told = jumok.explain(many(rule="causal"), 1)
    assert (told.facts[0].kind, told.facts[0].layer, told.facts[0].head) == ("only.silent", 0, 0)


def test_up_to_four_heads_are_told_one_after_the_other() -> None:
    reading = many(2, 2)
    assert str(jumok.explain(reading, 3)) == str(jumok.explain(reading, 3, head="all"))
    heads = {(fact.layer, fact.head) for fact in jumok.explain(reading, 3).facts if fact.section == "keys"}
    assert heads == {(0, 0), (0, 1), (1, 0), (1, 1)}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"head": 1}, "head 1 of which layer"),
        ({"layer": 3}, "layer expects a position from 0 to 2"),
        ({"layer": 1, "head": 8}, "head expects a position from 0 to 7"),
        ({"layer": 1, "head": "most"}, "head expects a position from 0 to 7"),
    ],
)
def test_a_head_or_a_layer_that_is_not_there(given: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        jumok.explain(many(), 2, **given)  # type: ignore[arg-type]
    assert any("가" <= letter <= "힣" for letter in caught.value.text("ko"))


def test_what_is_no_trace() -> None:
    with pytest.raises(InputError, match="expects a Trace or a Reading"):
        jumok.explain("student")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="holds no layer"):
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
