"""The checklist is ticked by what was done."""

from jumok.lessons.goals import GOALS, checklist, covering
from small_lessons import TEXT, library, small


def test_what_counts_for_a_goal():
    found = covering(small())
    assert found["follow-a-score"] == found["write-attention"] == ("dot", "carefully", "softmax")
    assert found["self"] == ()


def test_a_block_may_count_for_another_goal_or_for_none():
    text = TEXT.replace("id: dot\n", "id: dot\ncovers: self\n").replace("id: softmax\n", "id: softmax\ncovers: none\n")
    text = text.replace("id: most\n", "id: most\ncovers: self\n")
    found = covering(small(text))
    assert found["self"] == ("most", "dot")
    assert found["follow-a-score"] == ("carefully",)


def test_a_goal_is_reached_when_all_that_counts_was_done_right():
    lessons = [small(), library()]
    done = [("small", "dot"), ("small", "carefully")]
    by_goal = {one.goal: one for one in checklist(lessons, done)}
    assert list(by_goal) == list(GOALS)
    assert (by_goal["follow-a-score"].n_done, by_goal["follow-a-score"].n_blocks) == (2, 3)
    assert not by_goal["follow-a-score"].is_reached
    assert not by_goal["self"].is_reached  # nothing counts for it here
    by_goal = {one.goal: one for one in checklist(lessons, [*done, ("small", "softmax")])}
    assert by_goal["follow-a-score"].is_reached
    assert not by_goal["qkv-analogy"].is_reached
    assert by_goal["qkv-analogy"].text("ko").startswith("쿼리, 키, 밸류")
