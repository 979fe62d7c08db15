"""A lesson as a tree: texts as runs of letters, what the page computes and what travels."""

import json

import pytest

import jumok
from jumok.lessons.tree import elements, examples, measured
from jumok.trace import layers_of
from small_lessons import TEXT, small


def tree(text=TEXT, kind=None):
    lesson = small(text)
    found = elements(lesson, examples(lesson))
    return found if kind is None else next(one for one in found if one["kind"] == kind)


def test_a_number_says_what_gives_it():
    (piece,) = (one for one in tree() if one["kind"] == "paragraph")
    claim = {"value": "0.55", "from": 'weight("studies", "deep learning")'}
    plain = ["plain", [" reads "]]
    assert piece["text"] == [["em", ["studies"]], plain, ["em", ["deep learning"]], ["plain", [" with ", claim, "."]]]


def test_every_piece_of_markdown():
    text = (
        "### Three\n\n> said **{{1 = 1}}**\n\n1. one\n  - two `x*y`\n\n| a | b |\n|---|---|\n| {{2 = 2}} | [c](#d) |\n\n"
        "```python\nx = 1\n```\n\n"
    )
    found = tree(TEXT.replace("## Two", f"{text}## Two"))
    by_kind = {one["kind"]: one for one in found}
    assert {"kind": "heading", "level": 3, "text": [["plain", ["Three"]]]} in found
    assert by_kind["quote"]["text"] == [["plain", ["said "]], ["strong", [{"value": "1", "from": "1"}]]]
    items = {"kind": "items", "ordered": True}
    items["entries"] = [[0, [["plain", ["one"]]]], [1, [["plain", ["two "]], ["code", ["x*y"]]]]]
    assert by_kind["items"] == items
    assert by_kind["table"]["rows"][1] == [[["plain", [{"value": "2", "from": "2"}]]], [["link", ["c"], "#d"]]]
    assert by_kind["code"]["code"] == "x = 1"


@pytest.mark.parametrize("href", ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "JavaScript:x"])
def test_a_link_leads_nowhere_unless_it_is_an_address(href):
    found = tree(TEXT.replace("## Two", f"[a]({href}) [b](https://example.org)\n\n## Two"))
    (piece,) = (one for one in found if one["kind"] == "paragraph" and one["text"][0][0] == "link")
    assert [span[2] for span in piece["text"] if span[0] == "link"] == ["#", "https://example.org"]


def test_what_a_question_draws_waits_for_the_page():
    question = tree(kind="question")
    assert question["ask"][0][1] == [
        "What is (", {"drawn": "a", "spec": ""}, ", 2)·(1, ", {"drawn": "b", "spec": ""}, ")?",
    ]  # fmt: skip
    assert question["draws"] == [["a", [1, 2, 3, 4, 5]], ["b", [-3, -2, -1, 0, 1, 2, 3]]]
    assert question["mistakes"] == [["a*2 + b", [["plain", ["The pairs are mixed up."]]]]]
    assert (question["answer"], question["tolerance"], question["sets"]) == ("a*1 + 2*b", None, [])


def test_a_particle_and_what_looks_like_markdown_wait_as_they_are():
    found = tree(TEXT.replace("What is (", "So **{a*2}** {b:은/는} ("), "question")
    assert found["ask"][1] == ["strong", [{"drawn": "a*2", "spec": ""}]]
    assert found["ask"][2][1][1] == {"drawn": "b", "spec": "은/는"}


def test_tokens_are_texts_of_their_own():
    predict = tree(kind="predict")
    assert [choice[0][1][0] for choice in predict["choices"]] == [
        "The",
        "student",
        "studies",
        "deep learning",
        "carefully",
    ]
    assert (predict["answer"], predict["right"]) == ("deep learning", 3)


def test_letters_that_turn_others_are_spelled_out():
    assert "\\u202e" in json.dumps(tree(TEXT.replace("Which token?", "Which \u202etoken?"), "predict")["ask"]).replace(
        "\\\\", "\\"
    )


def test_a_show_is_a_state_of_the_live_view():
    show = tree(
        TEXT.replace("```show weights token=studies", "```show weights example=it-tired token=it layer=1"), "show"
    )
    lesson = small()
    trace = layers_of(lesson.record("it-tired"))[1]
    query = trace.index("it")
    key = int(trace.weights[0, query].argmax())
    expected = {"view": "stages", "document": 1, "layer": 1, "head": 0, "stage": "weights", "query": query, "key": key}
    assert show["choice"] == expected
    assert tree(TEXT.replace("```show weights token=studies", "```show arrows"), "show")["choice"]["view"] == "heads"
    stages = tree(TEXT.replace("```show weights token=studies", "```show stages"), "show")["choice"]
    assert stages == {"view": "stages", "document": 0, "layer": 0, "head": 0}


def test_code_that_is_shown_is_code():
    found = tree(TEXT.replace("```show weights token=studies\n", "```show code\nprint(1)\n"))
    assert {"kind": "code", "code": "print(1)"}.items() <= next(one for one in found if one["kind"] == "code").items()


def test_the_records_are_those_of_shows_tries_and_what_the_page_computes():
    text = TEXT.replace("answer: a*1 + 2*b", 'answer: a*1 + 2*b + 0*n_tokens("pear")')
    text = text.replace('== "carefully"', '== "carefully" and weight("ship", 0, 1) < 2')
    text = text.replace("token=studies", "token=it example=it-tired")
    text = text.replace("{{0.55 =", '{{9 = n_tokens("cat-fish")}} {{0.55 =')
    assert examples(small(text)) == ["student", "it-tired", "pear", "ship"]


def test_an_exercise_says_how_it_is_checked():
    exercise = tree(kind="exercise")
    assert exercise["file"] == "small_softmax.py"
    assert exercise["command"] == "jumok check small_softmax.py --kind softmax --json"
    assert "return scores" in exercise["stub"]
    assert "np.exp" in exercise["solution"]


@pytest.mark.parametrize(
    ("solution", "stage", "told"),
    [
        ("{w_q: {Action: {Method: 9}}}", "x", "W_Q, row Action, column Method: 9"),
        (
            "{x: {student: {Person: 2, Action: 1}}}",
            "x",
            "X, row student, column Person: 2; X, row student, column Action: 1",
        ),
        ("{temperature: 0.3}", "scaled", "temperature: 0.3"),
        ("{scale: 4}", "scaled", "scale: 4"),
        ("{mask: {window: 2}}", "allowed", "mask M: window 2"),
    ],
)
def test_a_change_begins_where_it_can_be_made_at_the_query_of_its_goal(solution, stage, told):
    goal = 'goal: weight("deep learning", "carefully") > 0.5'
    text = TEXT.replace('goal: argmax(weights("studies")) == "carefully"', goal)
    found = tree(text.replace("solution: {w_q: {Action: {Method: 9}}}", f"solution: {solution}"), "try")
    expected = {"view": "stages", "document": 0, "layer": 0, "head": 0, "stage": stage, "query": 3, "key": 4}
    assert found["choice"] == expected
    assert found["solution"] == told


def test_a_change_begins_at_the_key_that_is_read_most_and_in_its_own_layer():
    lesson = jumok.lesson("real-model", "ko")
    (found,) = (one for one in elements(lesson, examples(lesson)) if one["kind"] == "try")
    assert found["solution"] == "1층; W_Q의 AnimalTrait 행, Animal 열: 7"
    assert (found["choice"]["document"], found["choice"]["layer"], found["choice"]["query"]) == (1, 1, 7)
    rows = tree(kind="try")["choice"]
    assert (rows["query"], rows["key"]) == (2, 3), "studies reads deep learning most"


def test_what_is_measured_travels_with_the_numbers_that_may_be_drawn():
    lesson = small(TEXT.replace("answer: a*1 + 2*b", "answer: variance_of_scores(2**a, scaled=b > 0)"))
    question = next(one for one in elements(lesson, ["student"]) if one["kind"] == "question")
    values = measured(lesson)
    variance = lesson.functions["variance_of_scores"]
    assert len(question["sets"]) > 10
    for drawn in question["sets"]:
        scaled = drawn["b"] > 0
        key = json.dumps(["variance_of_scores", [2 ** drawn["a"]], {"scaled": scaled}], separators=(",", ":"))
        assert values[key] == variance(2 ** drawn["a"], scaled=scaled)
    assert len(values) <= len(question["sets"])
    in_a_goal = small(TEXT.replace('== "carefully"', '== "carefully" and variance_of_scores(2) > 0'))
    assert list(measured(in_a_goal)) == ['["variance_of_scores",[2],{}]']


def test_hints_of_a_question_wait_for_its_numbers_and_others_do_not():
    lesson = small(TEXT.replace("hints: [Pair by pair.,", 'hints: ["Take {a*2} first.",'))
    tree = {one["id"]: one for one in elements(lesson, ["student"]) if one.get("id")}
    assert tree["dot"]["hints"][0] == [["plain", ["Take ", {"drawn": "a*2", "spec": ""}, " first."]]]
    assert tree["dot"]["hints"][1] == [["plain", ["Add ", {"value": "1", "from": "1"}, " time."]]]
    assert tree["carefully"]["hints"] == [[["plain", ["The row Action."]]]]
