"""Rules in the place of a model do something sensible, whatever a learner makes of a cell."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach import ToolError, build_kernel, tool
from freya_teach.config import Settings
from freya_teach.lab.gateway import Call, Move, Offered, Policy, Question, Said, answer, gateway
from freya_teach.lab.policy import assistant, careless, file_reader, repeats, script
from freya_teach.lab.sample_tools import calculate, get_current_weather
from freya_teach.trace import RunResult

QUESTION = "What is the weather in Beijing today, and how much is 15 * 8?"


async def run(
    policy: Policy, question: str, *tools: Any, wire: str = "openai", **settings: Any
) -> RunResult:
    """One run of a real agent with the policy for a model."""
    chosen = Settings(provider=wire, **settings)
    return await build_kernel(chosen, gateway(policy).client()).agent(tools).run(question)


def asked(result: RunResult) -> list[tuple[str, str]]:
    return [(trace.call.name, trace.call.arguments) for trace in result.trace.calls]


# ---- the assistant -------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("wire", ["openai", "gemini"])
async def test_the_courses_question_is_answered_over_either_wire(
    wire: str, *, stream: bool
) -> None:
    result = await run(
        assistant, QUESTION, get_current_weather, calculate, wire=wire, stream=stream
    )
    assert str(result) == "In Beijing: sunny, 15 °C. The calculation gives 120."
    assert (len(result.trace.turns), len(result.trace.calls)) == (2, 2)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Weather in Oslo and Lima?", "In Oslo: snow, -3 °C. In Lima: cloudy, 19 °C."),
        ("How much is (3 + 4) * 2?", "The calculation gives 14."),
        ("2**10 and 7 % 4 and 1.5+1.5", "1024|3|3"),
        ("Do I need an umbrella in Bergen?", "In Bergen: rain, 8 °C."),
        ("Is it cold in Atlantis?", "get_current_weather says: No weather is known for 'Atlantis'"),
        ("Who wrote Hamlet?", "none of them fits this question"),
        ("", "none of them fits this question"),
    ],
)
async def test_a_changed_question_gets_a_sensible_answer(question: str, expected: str) -> None:
    said = str(await run(assistant, question, get_current_weather, calculate))
    for piece in expected.split("|"):
        assert piece in said


async def test_without_the_tool_nothing_is_invented() -> None:
    said = str(await run(assistant, QUESTION))
    assert said.endswith("Tools that I was offered: none.")


async def test_a_tool_that_the_question_mentions_is_called_with_what_the_question_holds() -> None:
    result = await run(assistant, "Book a table for 4 at 'Chez Léon'", book_table)
    assert str(result) == "book_table says: 4 at Chez Léon"
    result = await run(assistant, "Reserve 4 seats in 'row F', please", reserve_seats)
    assert str(result) == "reserve_seats says: 4 in row F"


@tool
def book_table(place: str, guests: int) -> str:
    """Book a table."""
    return f"{guests} at {place}"


@tool
def reserve_seats(count: int, row: str) -> str:
    """Reserve seats."""
    return f"{count} in {row}"


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer"}, 4),
        ({"type": "number"}, 4),
        ({"type": "boolean"}, True),
        ({"type": "array"}, []),
        ({"type": "object"}, {}),
        ({"enum": ["red", "blue"]}, "blue"),
        ({"enum": ["red", "green"]}, "red"),
        ({"type": "string"}, "row F"),
        ({}, "row F"),
    ],
)
def test_a_value_that_fits_the_schema_is_guessed(schema: dict[str, Any], value: Any) -> None:
    offered = Offered("reserve", "", {"properties": {"wanted": schema}, "required": ["wanted"]})
    said = (Said("user", "reserve 4 blue seats in 'row F'"),)
    move = assistant(Question("openai", "m", said, (offered,)))
    assert move.calls == (Call("reserve", {"wanted": value}),)


def test_it_remembers_a_name_only_if_the_history_was_sent() -> None:
    told, asks = Said("user", "My name is Mia."), Said("user", "What is my name?")
    assert assistant(Question("openai", "m", (told,))).text == "Hello, Mia."
    assert assistant(Question("openai", "m", (asks,))).text == "You have not told me your name."
    both = (told, Said("assistant", "Hello, Mia."), asks)
    assert assistant(Question("openai", "m", both)).text == "Your name is Mia."


@given(
    st.lists(
        st.builds(
            Said, st.sampled_from(["system", "user", "assistant", "tool"]), st.text(max_size=60)
        )
    ),
    st.sampled_from([assistant, careless, file_reader]),
)
def test_any_history_gets_a_move(said: list[Said], policy: Policy) -> None:
    tools = (
        Offered("calculate", "", {"properties": {"expression": {"type": "string"}}}),
        Offered("get_current_weather", "", {"properties": {"city": {"type": "string"}}}),
    )
    move = policy(Question("openai", "m", tuple(said), tools))
    assert isinstance(move, Move)
    assert move.text or move.calls


# ---- files ---------------------------------------------------------------------------------

FILES = {"notes.md": "Groceries: milk\nThe dentist is on Friday", "weather.txt": "Rain."}


@tool
def list_dir() -> list[str]:
    """List the folder."""
    return sorted(FILES)


@tool
def read_file(path: str) -> str:
    """Read a file."""
    if path not in FILES:
        raise ToolError(f"There is no {path}.")
    return FILES[path]


@pytest.mark.parametrize(
    ("question", "called", "expected"),
    [
        ("What does notes.md say about milk?", ["read_file"], "Groceries: milk"),
        ("When do my notes say the dentist is?", ["list_dir", "read_file"], "on Friday"),
        ("What does plans.md say?", ["read_file"], "There is no plans.md."),
    ],
)
async def test_the_file_reader_finds_the_file_and_quotes_the_line(
    question: str, called: list[str], expected: str
) -> None:
    result = await run(file_reader, question, list_dir, read_file)
    assert [name for name, _ in asked(result)] == called
    assert expected in str(result)


async def test_the_file_reader_gives_up_on_an_empty_folder() -> None:
    @tool(name="list_dir")
    def nothing() -> list[str]:
        """List the folder."""
        return []

    assert "no file" in str(await run(file_reader, "What is new?", nothing, read_file))


# ---- models that go wrong ------------------------------------------------------------------


async def test_the_careless_one_corrects_itself_after_an_observation_that_guides() -> None:
    result = await run(careless, QUESTION, get_current_weather, calculate)
    assert [trace.state for trace in result.trace.calls] == ["failed"] * 2 + ["completed"] * 2
    assert str(result) == "In Beijing: sunny, 15 °C. The calculation gives 120."


def test_the_careless_one_repeats_itself_after_an_observation_that_does_not() -> None:
    offered = Offered("calculate", "", {"properties": {"expression": {"type": "string"}}})
    said: list[Said] = [Said("user", "How much is 15 * 8?")]
    for _ in range(3):
        move = careless(Question("openai", "m", tuple(said), (offered,)))
        assert move.calls == (Call("calculate", {"the_expression": "15 * 8"}),)
        said += [Said("assistant", calls=move.calls), Said("tool", "error", name="calculate")]
    said[-1] = Said("tool", "The argument is called expression.", name="calculate")
    move = careless(Question("openai", "m", tuple(said), (offered,)))
    assert move.calls == (Call("calculate", {"expression": "15 * 8"}),)


async def test_the_one_that_repeats_itself_is_stopped_by_the_guard() -> None:
    stuck = repeats("get_current_weather", city="Oslo")
    result = await run(stuck, "Hi?", get_current_weather)
    assert result.stop_reason == "loop"
    assert len(set(asked(result))) == 1


async def test_a_script_is_played_to_its_end() -> None:
    policy = script(Move(calls=(Call("calculate", {"expression": "6 * 7"}),)), answer("42."))
    result = await run(policy, "Whatever.", calculate)
    assert (asked(result), str(result)) == ([("calculate", '{"expression": "6 * 7"}')], "42.")
    assert "no further move" in str(await run(policy, "More?", calculate))
