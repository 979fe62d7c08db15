"""The heat map in a matplotlib Axes: the same colours and numbers, Hangul with glyphs, no warning."""

import io
import warnings

import matplotlib
import pytest

matplotlib.use("Agg")

from matplotlib import pyplot as plt

import jumok
from jumok import Trace
from jumok.picture.drawing import draw
from jumok.picture.heat import WEIGHTS

ODD = ["한글", "👩\u200d👧", "", "$x$", "شمس", "x" * 60]


@pytest.fixture
def ax():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def saved(ax, form="png"):
    """The figure drawn; a letter without a glyph is a warning, and a warning is an error."""
    out = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax.figure.savefig(out, format=form)
    return out.getvalue()


def odd(rule="causal"):
    one = [[[float(i)] for i in range(len(ODD))]]
    return Trace(tokens=ODD, q=one, k=one, v=one, rule=rule)


def test_colours_numbers_and_names_are_those_of_the_weights(ax):
    trace = jumok.attend(jumok.load("student"))
    picture = jumok.draw(trace, ax=ax)
    assert picture.kind == "heat"
    pixels = ax.images[0].get_array()
    for query in range(5):
        for key in range(5):
            weight = trace.weights[0, query, key]
            assert tuple(pixels[query, key]) == WEIGHTS.colour(float(weight))
            assert float(ax.texts[5 * query + key].get_text()) == pytest.approx(weight, abs=5e-4)
    names = [token.text for token in trace.tokens]
    assert [label.get_text() for label in ax.get_xticklabels()] == names
    assert [label.get_text() for label in ax.get_yticklabels()] == names
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("key", "query")


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_hangul_has_glyphs_and_nothing_warns(ax, form):
    draw(odd(), lang="ko", ax=ax)
    assert len(saved(ax, form)) > 1000
    assert ax.get_xlabel() == "키"


def test_the_check_of_glyphs_can_fail(ax):
    ax.set_xlabel("한글")
    with pytest.raises(UserWarning, match="Glyph"):
        saved(ax)


def test_names_in_ascii_keep_the_font_of_the_figure(ax):
    before = ax.get_xticklabels()[0].get_fontname()
    draw(jumok.attend(jumok.load("student")), ax=ax)
    assert {label.get_fontname() for label in ax.get_xticklabels()} == {before}


def test_a_dollar_begins_no_formula(ax):
    draw(odd(), ax=ax)
    assert ax.get_xticklabels()[3].get_text() == r"\$x\$"
    saved(ax)


def test_one_query_and_another_stage(ax):
    draw(jumok.attend(jumok.load("student")), stage="v", ax=ax)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["Person", "Action", "Knowledge", "Method"]
    assert ax.get_xlabel() == ""


def test_a_reading_is_drawn_into_an_axes_by_its_last_layer(ax):
    assert jumok.draw(jumok.load("it-tired"), ax=ax).choice.layer == 1
    assert len(ax.texts) == 100
