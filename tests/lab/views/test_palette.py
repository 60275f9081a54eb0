"""Colours that can be read by everybody."""

import re
from pathlib import Path

import pytest

from freya_teach.lab.views import palette


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2.2."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_black_on_white_has_the_contrast_that_the_standard_names() -> None:
    assert round(contrast("#000000", "#ffffff"), 6) == 21


@pytest.mark.parametrize("pair", palette.WRITTEN_ON, ids="-on-".join)
def test_words_stand_out_from_their_ground(pair: tuple[str, str]) -> None:
    assert contrast(*pair) >= 4.5


def test_no_view_has_a_colour_of_its_own() -> None:
    for path in Path(palette.__file__).parent.glob("*.py"):
        if path.name != "palette.py":
            found = re.findall(r"#[0-9a-fA-F]{6}\b", path.read_text(encoding="utf-8"))
            assert found == [], path.name
