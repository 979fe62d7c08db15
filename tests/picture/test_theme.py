"""Letters can be read wherever they stand, in both themes."""

import pytest

from jumok.picture.colours import CIVIDIS, PUOR
from jumok.picture.kinds import THEME_NAMES
from jumok.picture.theme import THEMES, contrast, css, ink_on

LEAST = 4.5  # WCAG 2.2, level AA


@pytest.mark.parametrize("colour", [*CIVIDIS[::15], *PUOR, (119, 119, 119)])
def test_numbers_can_be_read_on_every_colour(colour):
    assert contrast(ink_on(colour), colour) >= LEAST


@pytest.mark.parametrize("name", THEMES)
def test_letters_can_be_read_on_the_paper(name):
    theme = THEMES[name]
    for letters in (theme.ink, theme.dim, theme.accent):
        assert contrast(letters, theme.paper) >= LEAST
    assert contrast(ink_on(theme.hidden), theme.hidden) >= LEAST
    assert contrast(ink_on(theme.accent), theme.accent) >= LEAST


def test_contrast_as_the_standard_says():
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((119, 119, 119), (255, 255, 255)) == pytest.approx(4.48, abs=0.005)  # the well-known near miss
    assert contrast((10, 20, 30), (200, 100, 0)) == contrast((200, 100, 0), (10, 20, 30))


def test_the_command_line_completes_the_themes_that_there_are():
    assert tuple(THEMES) == THEME_NAMES
    assert css((1, 35, 255)) == "#0123ff"
