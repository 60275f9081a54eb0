"""The seat's controls, clicked without a browser."""

import asyncio
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from freya_teach.lab.gateway.question import answer
from freya_teach.lab.views import Views
from freya_teach.lab.views.be_the_model import Seat
from freya_teach.lab.views.form import WORDS
from freya_teach.lab.views.seat_controls import SeatControls
from tests.lab.views.pictures import TOOLS, lab


def book(
    name: Annotated[str, Field(description="Whose room it is.")],
    nights: int,
    tags: list[str],
    unit: Literal["C", "F"],
    *,
    sea: bool = False,
) -> str:
    """Book a room."""
    return f"{name}: {nights} nights, {tags}, {unit}, {sea}"


async def opened(tools: Any = TOOLS) -> tuple[Seat, SeatControls]:
    seat = await Views(lab()).be_the_model("Hi?", tools).play([])
    seat.widget()
    assert seat.shown is not None
    return seat, seat.shown


def press(shown: SeatControls, caption: str) -> None:
    """Click the button with this caption."""
    found = [each for each in all_below(shown.area) if getattr(each, "description", "") == caption]
    found[0].click()


def all_below(widget: Any) -> list[Any]:
    children = getattr(widget, "children", ())
    return [widget, *(each for child in children for each in all_below(child))]


async def test_clicking_takes_a_person_from_the_question_to_the_answer() -> None:
    seat, shown = await opened()
    shown.inputs["move"].value = "get_current_weather"
    shown.inputs["city"].value = "Beijing"
    press(shown, "Send")
    await seat.sitting.settled()
    assert "returned: {&quot;city&quot;" in shown.picture.value or 'returned: {"city"' in seat.text
    assert shown.inputs["move"].value == WORDS
    shown.inputs["words"].value = "Sunny, 15 °C."
    press(shown, "Send")
    await seat.sitting.settled()
    assert str(seat.result) == "Sunny, 15 °C."
    assert shown.picture.value == seat.html


async def test_clicks_may_come_from_another_thread_as_jupyterlab_sends_them() -> None:
    seat, shown = await opened()

    def click() -> None:
        shown.inputs["words"].value = "From afar."
        press(shown, "Send")

    await asyncio.to_thread(click)
    assert seat.sitting.task is not None
    async with asyncio.timeout(20):
        await seat.sitting.task
    assert str(seat.result) == "From afar."


async def test_clicks_and_played_moves_leave_the_same_picture() -> None:
    clicked, shown = await opened()
    shown.inputs["words"].value = "Hello."
    press(shown, "Send")
    await clicked.sitting.settled()
    played = await Views(lab()).be_the_model("Hi?", TOOLS).play([answer("Hello.")])
    assert clicked.html == played.html


async def test_several_calls_are_gathered_before_they_are_sent() -> None:
    seat, shown = await opened()
    for city in ("Oslo", "Lima"):
        shown.inputs["move"].value = "get_current_weather"
        shown.inputs["city"].value = city
        press(shown, "Add another call")
    ready = shown.area.children[0].value
    assert ready.count("ready to send: get_current_weather") == 2
    press(shown, "Send")
    await seat.sitting.settled()
    assert len(seat.sitting.moves[0].calls) == 2
    seat.leave()


async def test_each_argument_has_the_control_of_its_kind() -> None:
    seat, shown = await opened([book])
    shown.inputs["move"].value = "book"
    kinds = {name: type(each).__name__ for name, each in shown.inputs.items()}
    assert kinds == {
        "move": "Dropdown",
        "name": "Text",
        "nights": "Text",
        "tags": "Textarea",
        "unit": "Dropdown",
        "sea": "Checkbox",
        "raw": "Checkbox",
    }
    assert shown.inputs["name"].tooltip == "Whose room it is."
    assert shown.inputs["sea"].description == "sea (optional)"
    seat.leave()


async def test_what_is_typed_arrives_in_the_types_of_the_schema() -> None:
    seat, shown = await opened([book])
    shown.inputs["move"].value = "book"
    for name, value in {"name": "Li", "nights": "2", "tags": '["quiet"]', "sea": True}.items():
        shown.inputs[name].value = value
    shown.inputs["unit"].value = '"F"'
    press(shown, "Send")
    await seat.sitting.settled()
    assert "Li: 2 nights, ['quiet'], F, True" in seat.text
    seat.leave()


async def test_a_bad_field_is_told_below_it_and_what_was_typed_stays() -> None:
    seat, shown = await opened([book])
    shown.inputs["move"].value = "book"
    shown.inputs["nights"].value = "two"
    shown.inputs["tags"].value = "quiet"
    press(shown, "Send")
    assert (
        "✗ nights must be a whole number; &#x27;two&#x27; is none."
        in shown.problems["nights"].value
    )
    assert "takes JSON" in shown.problems["tags"].value
    assert shown.problems["name"].value == ""
    assert shown.inputs["nights"].value == "two"
    assert seat.sitting.moves == []
    seat.leave()


async def test_broken_json_can_be_sent_on_purpose() -> None:
    seat, shown = await opened()
    shown.inputs["move"].value = "calculate"
    shown.inputs["raw"].value = True
    shown.inputs["arguments"].value = '{"expression": "15 *'
    press(shown, "Send")
    await seat.sitting.settled()
    assert "are not valid JSON" in seat.text
    seat.leave()


async def test_every_control_has_a_name_and_says_what_it_is_for() -> None:
    seat, shown = await opened([book])
    shown.inputs["move"].value = "book"
    for each in all_below(shown.area):
        if type(each).__name__ not in ("HTML", "VBox", "HBox"):
            assert each.description
            assert each.tooltip
    seat.leave()


async def test_at_the_end_there_is_only_again() -> None:
    seat, shown = await opened()
    await seat.play([answer("Done.")])
    assert [each.description for each in shown.area.children] == ["Again"]
    press(shown, "Again")
    await seat.sitting.settled()
    assert "it is your move" in shown.picture.value
    assert shown.inputs["move"].value == WORDS
    seat.leave()


async def test_while_the_harness_works_there_is_nothing_to_click() -> None:
    seat, shown = await opened()
    press(shown, "Send")
    assert shown.area.children == ()
    seat.leave()


@pytest.mark.parametrize("name", ["move", "words"])
async def test_the_widget_is_always_the_same_one(name: str) -> None:
    seat, shown = await opened()
    assert seat.widget() is shown.all
    first = shown.inputs[name]
    shown.update()
    assert shown.inputs[name] is first
    seat.leave()
