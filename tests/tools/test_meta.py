"""Skills and toolboxes that a model switches on and off, through a real agent over either wire."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from freya_teach import InMemoryHistory, ToolContext, ToolRegistry
from freya_teach.errors import ToolError
from freya_teach.paths import course_folder
from freya_teach.prompt.registry import PromptRegistry
from freya_teach.tools.meta import skill_tools, toolbox_tools
from tests.wire_answers import EVERY_WIRE, Answer, Model, way_of_asking

ON = ("activate_skill", {"skill_id": "step_by_step"})
OTHER = ("activate_skill", {"skill_id": "weather_report"})
OFF = ("deactivate_skill", {})


def plugins(model: Model) -> list[str]:
    """Return the skill that is on in each request, "" for none."""
    return ["".join(re.findall(r"# PLUGIN PROMPT \[(\w+)\]", str(body))) for body in model.bodies]


async def run(
    *turns: Iterable[tuple[str, dict[str, Any]]], session: InMemoryHistory | None = None, **how: Any
) -> tuple[Model, list[tuple[str, str]]]:
    """Let a model make these calls, turn by turn; return it, and each call's state and result."""
    model = Model(*(Answer(calls=list(calls)) for calls in turns), Answer("Done."))
    result = await model.kernel(**how).agent(skills=True).run("Go.", session=session)
    return model, [(call.state, call.observation) for call in result.trace.calls]


@pytest.mark.parametrize("spoken", EVERY_WIRE, ids=way_of_asking)
async def test_a_skill_is_on_from_the_next_turn_and_its_text_is_in_the_prompt(
    spoken: dict[str, Any],
) -> None:
    model, results = await run([ON], **spoken)
    assert plugins(model) == ["", "step_by_step"]
    assert results == [("completed", "The skill 'Step by step' is on from your next turn.")]
    assert "Give every calculation as a numbered list" in str(model.bodies[1])


async def test_the_prompt_changes_behind_everything_that_was_there_before() -> None:
    model, _ = await run([ON], time_granularity="day")
    first, second = (body["messages"][0]["content"] for body in model.bodies)
    assert second.startswith(f"{first}\n\n# PLUGIN PROMPT [step_by_step]\n")


async def test_another_skill_takes_its_place_and_none_is_left_when_it_is_switched_off() -> None:
    model, results = await run([ON], [OTHER], [OFF])
    assert plugins(model) == ["", "step_by_step", "weather_report", ""]
    assert results[-1] == ("completed", "The skill 'weather_report' is off from your next turn.")


async def test_a_skill_stays_on_in_the_next_run_of_the_same_session_only() -> None:
    session = InMemoryHistory()
    await run([ON], session=session)
    model, _ = await run([], session=session)
    assert plugins(model)[0] == "step_by_step"
    other, _ = await run([])
    assert plugins(other)[0] == ""


@pytest.mark.parametrize("wrong", ["stepbystep", "", "../step_by_step", "Step by step", "x" * 500])
async def test_an_unknown_skill_changes_nothing_and_the_model_reads_which_there_are(
    wrong: str,
) -> None:
    model, [(state, said)] = await run([("activate_skill", {"skill_id": wrong})])
    assert state == "failed"
    assert "Skills: step_by_step, weather_report." in said
    assert len(said) < 300
    assert plugins(model) == ["", ""]


async def test_without_a_skill_there_is_nothing_to_switch_off() -> None:
    _, [(state, said)] = await run([OFF])
    assert state == "failed"
    assert "No skill is on" in said


async def test_a_users_own_skill_can_be_switched_on(tmp_path: Path) -> None:
    path = tmp_path / "skills" / "haiku" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\nname: Haiku\ndescription: d\n---\nThree lines.", encoding="utf-8")
    model, _ = await run([("activate_skill", {"skill_id": "haiku"})], prompt_dir=tmp_path)
    assert "- Haiku (id `haiku`): d" in str(model.bodies[0])
    assert "Three lines." in str(model.bodies[1])


def test_a_session_that_cannot_switch_skills_is_told_so() -> None:
    activate, _ = skill_tools(PromptRegistry(course_folder("prompts")))
    with pytest.raises(ToolError, match="cannot switch skills"):
        activate("step_by_step", context=ToolContext("call_1", "session_1"))


def test_without_any_skill_the_model_reads_that_there_is_none(tmp_path: Path) -> None:
    activate, _ = skill_tools(PromptRegistry(tmp_path))
    with pytest.raises(ToolError, match="Skills: none"):
        activate("one", context=ToolContext("call_1", "session_1", InMemoryHistory()))


# ---- toolboxes -----------------------------------------------------------------------------


def greet(name: str) -> str:
    """Say hello."""
    return f"Hello, {name}."


def read_note(number: int) -> str:
    """Read one of the notes."""
    return f"note {number}"


def write_note(text: str) -> str:
    """Keep a note."""
    return f"kept {text}"


BOXES = {"notes": [read_note, write_note], "empty": []}
META = ["list_toolboxes", "activate_toolbox", "deactivate_toolbox"]
LIST = ("list_toolboxes", {})
NOTE = ("read_note", {"number": 7})


def box(verb: str, toolbox: str) -> tuple[str, dict[str, Any]]:
    return f"{verb}_toolbox", {"toolbox_id": toolbox}


def offered(model: Model) -> list[list[str]]:
    """Return the names of the tools in each request."""
    return [re.findall(r"'name': '(\w+)', 'description'", str(body)) for body in model.bodies]


async def work(
    *turns: Iterable[tuple[str, dict[str, Any]]], session: InMemoryHistory | None = None, **how: Any
) -> tuple[Model, list[tuple[str, str]]]:
    """Let a model make these calls, with two toolboxes that are off at first."""
    model = Model(*(Answer(calls=list(calls)) for calls in turns), Answer("Done."))
    agent = model.kernel(**how).agent([greet], toolboxes=BOXES)
    result = await agent.run("Go.", session=session)
    return model, [(call.state, call.observation) for call in result.trace.calls]


@pytest.mark.parametrize("spoken", EVERY_WIRE, ids=way_of_asking)
async def test_a_toolbox_is_on_from_the_next_turn(spoken: dict[str, Any]) -> None:
    model, results = await work([LIST], [box("activate", "notes"), NOTE], [NOTE], **spoken)
    assert offered(model) == [
        [*META, "greet"],
        [*META, "greet"],
        [*META, "greet", "read_note", "write_note"],
        [*META, "greet", "read_note", "write_note"],
    ]
    assert results == [
        ("completed", "- default (on): greet\n- notes (off): read_note, write_note"),
        ("completed", "From your next turn you can call: read_note, write_note."),
        (
            "failed",
            (
                "The tool read_note is not available in this session, so it was not run. "
                "Tools that you can call: activate_toolbox, deactivate_toolbox, greet, "
                "list_toolboxes. "
                "To see what can be switched on, call list_toolboxes."
            ),
        ),
        ("completed", "note 7"),
    ]


async def test_a_toolbox_that_is_switched_off_takes_its_tools_along_but_never_meta() -> None:
    model, results = await work(
        [box("activate", "notes")], [box("deactivate", "default")], [("greet", {"name": "you"})]
    )
    assert offered(model)[-1] == [*META, "read_note", "write_note"]
    assert results[1] == ("completed", "The toolbox 'default' is off from your next turn.")
    assert results[2][0] == "failed"


async def test_toolboxes_belong_to_the_session() -> None:
    session = InMemoryHistory()
    await work([box("activate", "notes")], session=session)
    assert session.active_toolboxes == ("default", "notes")
    same, _ = await work(session=session)
    other, _ = await work()
    assert (len(offered(same)[0]), len(offered(other)[0])) == (6, 4)


async def test_what_is_so_already_stays_so() -> None:
    session = InMemoryHistory()
    _, results = await work(
        [box("activate", "default")], [box("deactivate", "notes")], session=session
    )
    assert results == [
        ("completed", "The toolbox 'default' is on already. Its tools: greet."),
        ("completed", "The toolbox 'notes' is off already."),
    ]
    assert session.active_toolboxes == ("default",)


@pytest.mark.parametrize("verb", ["activate", "deactivate"])
@pytest.mark.parametrize("wrong", ["note", "", "meta", "empty", "x" * 500])
async def test_an_unknown_toolbox_changes_nothing_and_the_model_reads_which_there_are(
    verb: str, wrong: str
) -> None:
    model, [(state, said)] = await work([box(verb, wrong)])
    assert state == "failed"
    assert said.endswith("Toolboxes: default, notes.")
    assert len(said) < 150
    assert offered(model) == [[*META, "greet"]] * 2


def test_a_session_that_cannot_switch_toolboxes_is_told_so() -> None:
    for made in toolbox_tools(ToolRegistry([greet])):
        arguments = {"toolbox_id": "default"} if made.parameters["properties"] else {}
        with pytest.raises(ToolError, match="cannot switch skills or toolboxes"):
            made(**arguments, context=ToolContext("call_1", "session_1"))
