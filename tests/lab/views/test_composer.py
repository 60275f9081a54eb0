"""The composer view in the hands of a lesson."""

from pathlib import Path

import pytest

from freya_teach.errors import PromptError
from freya_teach.lab.sample_tools import calculate, get_current_weather
from freya_teach.lab.views.composer import ComposerView, composer
from freya_teach.prompt.composer import Composer
from freya_teach.tools.registry import ToolRegistry
from freya_teach.tools.tool import tool
from tests.lab.views.pictures import lab

weather = tool(instructions="Name the city.")(get_current_weather)


@pytest.fixture
def view(tmp_path: Path) -> ComposerView:
    (tmp_path / "core.prompt.soul.md").write_text("Speak like a sailor.", encoding="utf-8")
    lesson = lab()
    return lesson.view.composer(lesson.kernel("gateway", prompt_dir=tmp_path), [weather])


def test_it_shows_the_prompt_that_the_kernel_sends(tmp_path: Path) -> None:
    kernel = lab().kernel("gateway", prompt_dir=tmp_path, time_granularity="hour")
    shown = composer(kernel, [weather]).now.prompt
    composed = Composer(kernel.prompts, kernel.ambient, "hour").compose(
        tool_instructions=["Name the city."]
    )
    assert shown == composed


async def test_it_shows_what_really_goes_over_the_wire(tmp_path: Path) -> None:
    kernel = lab().kernel("gateway", prompt_dir=tmp_path)
    async with kernel.http:
        result = await kernel.agent([weather, calculate], skills=True).run("What is 1 + 1?")
    sent = result.trace.turns[0].packet["body"]["messages"][0]["content"]  # type: ignore[index, call-overload]
    assert composer(kernel, [weather, calculate]).play(["no skill"]).now.prompt.text == sent


def test_a_composer_and_a_registry_of_tools_will_do_as_well(tmp_path: Path) -> None:
    kernel = lab().kernel("gateway", prompt_dir=tmp_path)
    made = composer(Composer(kernel.prompts, kernel.ambient), ToolRegistry([weather]))
    assert made.text == composer(kernel, [weather]).text


def test_without_tools_and_files_of_ones_own_there_is_less_to_switch() -> None:
    view = lab().view.composer(lab().kernel("gateway"), [calculate])
    with pytest.raises(ValueError, match="no click 'override off'"):
        view.play(["override off"])
    widget = view.widget().children[0]
    assert [box.disabled for box in widget.children[:2]] == [True, True]


def test_playing_clicks_makes_steps_that_can_be_gone_through(view: ComposerView) -> None:
    assert view.play(["override off", "skill weather_report"]) is view
    assert [frame.click for frame in view.frames] == ["", "override off", "skill weather_report"]
    assert view.play(["prev"]).now.click == "override off"
    assert view.play([1, "tools off"]).step == len(view.frames) == 2
    assert "TOOL INSTRUCTIONS" not in view.text


def test_a_click_that_there_is_not_is_refused_with_those_there_are(view: ComposerView) -> None:
    with pytest.raises(ValueError, match='"skill step_by_step", "skill weather_report", "time by'):
        view.play(["skill cooking"])
    assert view.step == 1


def test_the_same_clicks_give_the_same_bytes(view: ComposerView, tmp_path: Path) -> None:
    other = composer(lab().kernel("gateway", prompt_dir=tmp_path), [weather])
    clicks = ["override off", "skill weather_report", "time by day", "a minute later"]
    assert view.play(clicks).picture.html == other.play(clicks).picture.html


def test_a_prompt_that_cannot_be_read_is_refused_at_once(tmp_path: Path) -> None:
    kernel = lab().kernel("gateway", prompt_dir=tmp_path)
    (tmp_path / "core.prompt.soul.md").mkdir()
    with pytest.raises(PromptError, match="is a folder, and a file is needed"):
        composer(kernel)
