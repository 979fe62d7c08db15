"""What a show block shows, the same in each place."""

import pytest

import jumok
from jumok.cli import run
from jumok.lessons.views import command, explained, notebook_code, picture
from small_lessons import TEXT, small

VIEWS = [
    "stages",
    "stages stage=w_q",
    "weights token=studies",
    "output",
    "arrows token=studies",
    "arrows",
    "weights example=it-tired layer=1 token=it",
]


def shown(info, body=""):
    lesson = small(TEXT.replace("```show weights token=studies\n", f"```show {info}\n{body}"))
    return lesson, lesson.blocks[0]


@pytest.mark.parametrize("info", VIEWS)
def test_the_notebook_cell_and_the_command_draw_the_same_picture(info, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lesson, show = shown(info)
    drawn = picture(lesson, show)
    assert eval(notebook_code(lesson, show), {"jumok": jumok}).svg() == drawn.svg()
    assert run(command(lesson, show).split()[1:]) == 0


def test_an_explanation():
    lesson, show = shown('explain token="deep learning"')
    assert explained(lesson, show).token == "deep learning"
    assert command(lesson, show) == "jumok explain student 'deep learning'"
    assert picture(lesson, show) is None
    exec(notebook_code(lesson, show), {"jumok": jumok})


def test_code_is_its_own_cell():
    lesson, show = shown("code", "print(1)\n")
    assert notebook_code(lesson, show) == "print(1)"
    assert "```python\nprint(1)\n```" in lesson.text()
