"""The composer's controls, without a browser."""

from pathlib import Path
from typing import Any

import pytest

from freya_teach.lab.views.composer import ComposerView
from tests.lab.views.test_composition import PLAIN, material


@pytest.fixture
def view(tmp_path: Path) -> ComposerView:
    return ComposerView(material(tmp_path, "Use metric units."), PLAIN)


def row(view: ComposerView) -> tuple[Any, ...]:
    return tuple(view.widget().children[0].children)


def test_they_begin_as_the_view_is(view: ComposerView) -> None:
    override, tools, skills, time, _ = row(view)
    assert (override.value, tools.value) == (True, True)
    assert (skills.value, time.value) == ("skills off", "time by minute")
    assert len(view.frames) == 1


def test_each_control_makes_one_click(view: ComposerView) -> None:
    override, tools, skills, time, later = row(view)
    override.value = False
    tools.value = False
    skills.value = "skill brief"
    time.value = "time by day"
    later.click()
    assert [frame.click for frame in view.frames[1:]] == [
        *("override off", "tools off", "skill brief", "time by day", "a minute later")
    ]
    assert view.widget().children[1].value == view.picture.html


def test_played_clicks_move_the_controls_and_make_no_more_clicks(view: ComposerView) -> None:
    override, tools, skills, time, _ = row(view)
    view.play(["override off", "skill brief", "time by hour", "tools off"])
    assert (override.value, tools.value) == (False, False)
    assert (skills.value, time.value) == ("skill brief", "time by hour")
    assert len(view.frames) == 5
    view.play(["prev", "prev"])
    assert (tools.value, time.value, len(view.frames)) == (True, "time by minute", 5)


def test_a_choice_that_cannot_be_composed_goes_back(view: ComposerView, tmp_path: Path) -> None:
    override, *_ = row(view)
    override.value = False
    (tmp_path / "mine" / "core.prompt.soul.md").mkdir()
    override.value = True
    assert not override.value
    assert "is a folder, and a file is needed there" in view.text
    assert len(view.frames) == 3


def test_every_control_has_a_name_for_a_screen_reader(view: ComposerView) -> None:
    assert all(each.description and each.tooltip for each in row(view))
