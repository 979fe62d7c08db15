"""The page of flash attention: what it carries, from Python and from the command line, and what is refused."""

import json
import re

import pytest

import jumok
from jumok.errors import InputError, UnknownName
from jumok.picture.folding import EXTENSION
from test_cli import at_home as at_home
from test_cli import hangul, run


@pytest.fixture(scope="module")
def picture():
    return jumok.draw(jumok.load("student"))


def model_of(path):
    found = re.search(r'id="jumok-model">(.*?)</script>', path.read_text(encoding="utf-8"), re.DOTALL)
    return json.loads(found[1])


def test_the_page_carries_the_second_program_and_how_large_a_tile_is(picture, tmp_path):
    model = model_of(picture.save(tmp_path / "a.html", variant="flash", tile=3))
    assert model["extension"] == EXTENSION.read_text(encoding="utf-8")
    assert model["view"]["tile"] == 3
    assert "tile" not in model_of(picture.save(tmp_path / "b.html", variant="flash"))["view"]
    assert "extension" not in model_of(picture.save(tmp_path / "c.html"))


def test_the_command_line_draws_it(tmp_path):
    done = run(
        "draw", "it-soft", "--variant", "flash", "--tile", "4", "--token", "it", "-o", "page.html", "--lang", "ko"
    )
    assert (done.code, done.err) == (0, "저장했습니다: page.html\n")
    model = model_of(tmp_path / "page.html")
    assert (model["view"]["tile"], model["view"]["query"]) == (4, 7)


@pytest.mark.parametrize(
    ("options", "kind", "en", "ko"),
    [
        ({"variant": "linear"}, UnknownName, "unknown variant 'linear'. There are: 'flash'", "알 수 없는 변형 'linear'"),
        ({"tile": 2}, InputError, 'tile= is for variant="flash"', "함께만"),
        ({"variant": "flash", "tile": 0}, InputError, "tile expects a whole number of keys, 1 or more, got 0", "1 이상의 정수"),
        ({"variant": "flash", "tile": 2.0}, InputError, "got 2.0", "2.0이(가) 왔습니다"),
    ],
)  # fmt: skip
def test_what_is_no_step_is_refused(picture, options, kind, en, ko, tmp_path):
    with pytest.raises(kind) as refused:
        picture.save(tmp_path / "a.html", **options)
    assert en in str(refused.value)
    assert ko in refused.value.text("ko")
    assert not (tmp_path / "a.html").exists()


def test_where_no_row_is_looked_at_it_is_refused(picture, tmp_path):
    both = jumok.draw(jumok.compare(jumok.load("it-tired"), jumok.load("it-soft")))
    with pytest.raises(InputError, match="for the page of one record"):
        both.save(tmp_path / "a.html", variant="flash")
    with pytest.raises(
        InputError, match=r"variant=, tile= and size_limit= are for a live page \(\.html\), not for \.svg"
    ):
        picture.save(tmp_path / "a.svg", variant="flash")
    with pytest.raises(InputError, match="not of costs"):
        jumok.draw(jumok.cost(n=16, budget_s=0)).save(tmp_path / "a.html", variant="flash")


@pytest.mark.parametrize(
    ("arguments", "en", "ko"),
    [
        (["--variant", "flash"], "--variant is for a live page: -o page.html", "--variant는 조작할 수 있는 페이지"),
        (["--variant", "flash", "-o", "a.svg"], "--variant is for a live page", "페이지"),
        (["--tile", "2", "-o", "a.html"], "--tile is for flash attention", "플래시 어텐션에만"),
        (["--variant", "flash", "--tile", "0", "-o", "a.html"], "--tile expects 1 or more, got 0", "1 이상의 정수"),
        (["--variant", "window", "-o", "a.html"], "unknown variant 'window'. There are: 'flash'", "알 수 없는 변형"),
    ],
)
def test_the_command_line_refuses(arguments, en, ko):
    assert en in run("draw", "student", *arguments, "--lang", "en").message
    message = run("draw", "student", *arguments, "--lang", "ko").message
    assert ko in message
    assert hangul(message)
