"""The one place that wires things together."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from freya_teach import Ambient, InMemoryHistory, ToolContext, ToolRegistry, tool
from freya_teach.errors import ConfigError, PromptError
from freya_teach.llm.request_log import read_log
from tests.wire_answers import EVERY_WIRE, Answer, Model, way_of_asking

IDENTITY = Path(__file__).parent.parent / "prompts" / "core.prompt.identity.md"


NOON = Ambient(now=datetime(2026, 11, 30, 12, 0, tzinfo=UTC).astimezone)
FILES = ["# IDENTITY", "# SOUL", "# USER INFO", "# MEMORY", "# TOOLS", "# AGENTS"]


def system_of(body: dict[str, Any]) -> str:
    """Return the system prompt in a request to either provider."""
    if "messages" in body:
        return body["messages"][0]["content"]
    return body["systemInstruction"]["parts"][0]["text"]


def headings(prompt: str) -> list[str]:
    return [line for line in prompt.splitlines() if line.startswith("# ")]


def tool_names(body: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in body["tools"]]


def double(number: int) -> int:
    """Twice the number."""
    return 2 * number


@pytest.mark.parametrize("spoken", EVERY_WIRE, ids=way_of_asking)
async def test_the_settings_decide_the_wire_and_the_client_who_answers(
    spoken: dict[str, Any],
) -> None:
    model = Model(Answer("Yes."))
    kernel = model.kernel(base_url="http://127.0.0.1:1/v1", model="m", **spoken)
    assert str(await kernel.agent().run("?")) == "Yes."
    assert (
        str(model.requests[0].url)
        == {
            "openai": "http://127.0.0.1:1/v1/chat/completions",
            "openai-stream": "http://127.0.0.1:1/v1/chat/completions",
            "gemini": "http://127.0.0.1:1/v1beta/models/m:generateContent",
            "gemini-stream": "http://127.0.0.1:1/v1beta/models/m:streamGenerateContent?alt=sse",
        }[way_of_asking(spoken)]
    )


@pytest.mark.parametrize(
    ("provider", "header", "value"),
    [
        ("openai", "authorization", "Bearer no-key-needed"),
        ("gemini", "x-goog-api-key", "no-key-needed"),
    ],
)
async def test_the_key_goes_into_a_header_and_never_into_the_address(
    provider: str, header: str, value: str
) -> None:
    model = Model(Answer("Yes."))
    await model.kernel(provider=provider, api_key="no-key-needed").agent().run("?")
    assert model.requests[0].headers[header] == value
    assert "no-key-needed" not in str(model.requests[0].url)


# ---- the system prompt ----------------------------------------------------------------------


async def test_the_composed_prompt_is_the_default_and_a_text_may_be_given_instead() -> None:
    model = Model(Answer("Yes."), Answer("Yes."), Answer("Yes."))
    kernel = model.kernel()
    await kernel.agent().run("?")
    await kernel.agent(instructions="Be brief.").run("?")
    await kernel.agent(instructions="").run("?")
    first, second, third = ([m["content"] for m in b["messages"]] for b in model.bodies)
    assert first[0].startswith(f"# IDENTITY\n{IDENTITY.read_text(encoding='utf-8').strip()}\n\n")
    assert headings(first[0]) == [*FILES, "# CURRENT TIME"]
    assert (second, third) == (["Be brief.", "?"], ["?"])


@pytest.mark.parametrize("spoken", EVERY_WIRE, ids=way_of_asking)
async def test_the_users_own_prompt_is_what_goes_over_the_wire(
    spoken: dict[str, Any], tmp_path: Path
) -> None:
    own = tmp_path / "core.prompt.soul.md"
    own.write_text("Speak like a pirate {of the sea}.", encoding="utf-8")
    model = Model(Answer("Arr."))
    await model.kernel(prompt_dir=tmp_path, **spoken).agent().run("?")
    assert "# SOUL\nSpeak like a pirate {of the sea}.\n\n# USER INFO" in system_of(model.bodies[0])


async def test_each_turn_tells_the_time_of_its_own() -> None:
    moments = iter(datetime(2026, 11, 30, hour, 30, tzinfo=UTC) for hour in (9, 10))
    ambient = Ambient(now=lambda zone: next(moments).astimezone(zone))
    model = Model(Answer(calls=[("double", {"number": 4})]), Answer("8."))
    await model.kernel(ambient).agent([double]).run("4?")
    first, second = map(system_of, model.bodies)
    assert "# CURRENT TIME\n2026-11-30 09:30 (Monday, UTC)" in first
    assert second == first.replace("09:30", "10:30")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"time_zone": "Asia/Kolkata"}, "2026-11-30 17:30 (Monday, Asia/Kolkata, UTC+5:30)"),
        ({"time_zone": "UTC", "time_granularity": "day"}, "2026-11-30 (Monday, UTC)"),
        ({"time_granularity": "second"}, "2026-11-30 12:00:00 (Monday, UTC)"),
    ],
    ids=str,
)
async def test_zone_and_exactness_of_the_time_are_settings(
    settings: dict[str, str], told: str
) -> None:
    model = Model(Answer("Yes."))
    await model.kernel(NOON, **settings).agent().run("?")
    assert system_of(model.bodies[0]).endswith(f"# CURRENT TIME\n{told}")


def test_an_unknown_zone_is_refused_when_the_kernel_is_built() -> None:
    for name in ("Europe/Atlantis", "../etc/passwd", "Europe"):
        with pytest.raises(ConfigError, match=f"there is no time zone '{name}'"):
            Model().kernel(time_zone=name)


async def test_a_reload_between_two_turns_is_seen_by_the_second(tmp_path: Path) -> None:
    own = tmp_path / "core.prompt.soul.md"
    own.write_text("Be calm.", encoding="utf-8")
    model = Model(Answer(calls=[("become_wild", {})]), Answer("Grr."))
    kernel = model.kernel(NOON, prompt_dir=tmp_path)

    def become_wild() -> str:
        """Change the file while the run goes on."""
        own.write_text("Be wild.", encoding="utf-8")
        return ", ".join(kernel.prompts.reload())

    result = await kernel.agent([become_wild]).run("?")
    assert result.trace.calls[0].observation == "core.prompt.soul"
    first, second = map(system_of, model.bodies)
    assert "Be calm." in first
    assert second == first.replace("Be calm.", "Be wild.")


async def test_what_the_active_tools_say_about_themselves_is_in_the_prompt() -> None:
    model = Model(Answer("Yes."))
    shy = tool(instructions="Call it with whole numbers only.")(double)
    await model.kernel(NOON).agent([shy]).run("?")
    assert system_of(model.bodies[0]).endswith(
        "# TOOL INSTRUCTIONS\nCall it with whole numbers only."
    )


async def test_a_prompt_that_cannot_be_read_stops_the_run_and_the_history_stays_valid(
    tmp_path: Path,
) -> None:
    (tmp_path / "core.prompt.soul.md").write_bytes(b"caf\xe9")
    model, session = Model(), InMemoryHistory()
    with pytest.raises(PromptError, match="is not UTF-8"):
        await model.kernel(prompt_dir=tmp_path).agent().run("?", session=session)
    assert (model.requests, [message.role for message in session.messages]) == ([], ["user"])


# ---- skills ---------------------------------------------------------------------------------


async def test_without_skills_an_agent_has_no_tools_but_its_own_and_no_list_of_skills() -> None:
    model = Model(Answer("Yes."))
    await model.kernel(NOON).agent([double]).run("?")
    assert tool_names(model.bodies[0]) == ["double"]
    assert "# AVAILABLE SKILLS" not in system_of(model.bodies[0])


async def test_with_skills_there_are_two_more_tools_and_the_list() -> None:
    model = Model(Answer("Yes."))
    await model.kernel(NOON).agent([double], skills=True).run("?")
    assert tool_names(model.bodies[0]) == ["activate_skill", "deactivate_skill", "double"]
    prompt = system_of(model.bodies[0])
    assert headings(prompt) == [*FILES, "# CURRENT TIME", "# AVAILABLE SKILLS"]
    assert "- Step by step (id `step_by_step`): Show the way" in prompt


async def test_skills_of_one_agent_are_none_of_another_with_the_same_tools() -> None:
    model = Model(Answer("Yes."), Answer("Yes."), Answer("Yes."))
    registry = ToolRegistry([double])
    kernel = model.kernel(NOON)
    for skills in (True, False, True):
        await kernel.agent(registry, skills=skills).run("?")
    assert [len(tool_names(body)) for body in model.bodies] == [3, 1, 3]


# ---- tools ----------------------------------------------------------------------------------


async def test_tools_may_be_functions_or_a_registry() -> None:
    model = Model(Answer("Yes."), Answer("Yes."))
    kernel = model.kernel()
    await kernel.agent(tool for tool in [double]).run("?")
    await kernel.agent(ToolRegistry([double])).run("?")
    assert [[t["function"]["name"] for t in body["tools"]] for body in model.bodies] == [
        ["double"],
        ["double"],
    ]


async def test_toolboxes_are_off_until_the_session_has_them_on() -> None:
    model = Model(Answer("Yes."), Answer("Yes."))
    registry = ToolRegistry([double])
    agent = model.kernel(NOON).agent(registry, toolboxes={"more": [half]})
    await agent.run("?")
    await agent.run("?", session=InMemoryHistory(active_toolboxes=["more"]))
    meta = ["list_toolboxes", "activate_toolbox", "deactivate_toolbox"]
    assert [tool_names(body) for body in model.bodies] == [[*meta, "double"], [*meta, "half"]]
    assert registry.toolboxes == ("default",)


def half(number: int) -> float:
    """Half the number."""
    return number / 2


def test_toolboxes_that_are_no_dictionary_are_refused_with_the_form() -> None:
    for given in ([half], half, "math"):
        with pytest.raises(ConfigError, match=r'in \{"math": \[calculate\]\}; this is of the type'):
            Model().kernel().agent(toolboxes=given)  # type: ignore[arg-type]


def test_a_name_in_two_toolboxes_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="two tools called 'double'"):
        Model().kernel().agent([double], toolboxes={"more": [double]})


async def test_a_tool_has_a_workspace_only_where_the_settings_name_one(tmp_path: Path) -> None:
    seen: list[ToolContext] = []

    def look(context: ToolContext) -> None:
        """Look around."""
        seen.append(context)

    for chosen in ({}, {"workspace_dir": tmp_path}):
        model = Model(Answer(calls=[("look", {})]), Answer("Done."))
        await model.kernel(**chosen).agent([look]).run("?")
    assert [context.workspace is None for context in seen] == [True, False]


def test_a_tool_that_cannot_be_described_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="parameter number needs a type annotation"):
        Model().kernel().agent([untyped])


def untyped(number):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Lack a type."""
    return number


# ---- the log --------------------------------------------------------------------------------


async def test_with_a_log_folder_every_model_call_is_kept_without_the_key(tmp_path: Path) -> None:
    model = Model(Answer(calls=[("double", {"number": 4})]), Answer("8."))
    kernel = model.kernel(NOON, api_key="no-key-but-secret", log_dir=tmp_path / "log")
    await kernel.agent([double]).run("4?")
    path = tmp_path / "log" / "llm-2026-11-30.jsonl"
    exchanges = list(read_log(path))
    assert [each["request"]["body"] for each in exchanges] == model.bodies
    assert [each["reply"]["status"] for each in exchanges] == [200, 200]
    assert b"no-key-but-secret" not in path.read_bytes()


def test_building_opens_no_file_and_asks_nobody(tmp_path: Path) -> None:
    model = Model()
    model.kernel(log_dir=tmp_path, prompt_dir=tmp_path / "mine").agent([double], skills=True)
    assert (model.requests, list(tmp_path.iterdir())) == ([], [])


async def test_conversations_are_stored_where_the_settings_say(tmp_path: Path) -> None:
    kernel = Model(Answer("Yes.")).kernel(session_dir=tmp_path)
    assert Model().kernel().sessions is None
    assert kernel.sessions
    async with kernel.sessions as sessions:
        session = await sessions.create()
        await kernel.agent().run("?", session=session)
    async with kernel.sessions as sessions:  # as after a restart
        assert [m.text for m in (await sessions.open(session.id)).messages] == ["?", "Yes."]
