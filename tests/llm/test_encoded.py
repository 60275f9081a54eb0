"""What is written once is what would be written anew, and it lives no longer than its run."""

import copy
import gc
import json
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.errors import FreyaError, TranscriptError
from freya_teach.llm import gemini, openai
from freya_teach.llm.encoded import Encoded, RememberingWriter
from freya_teach.llm.messages import (
    AssistantMessage,
    Message,
    ProviderData,
    ToolCall,
    ToolMessage,
    assistant,
    system,
    user,
)
from freya_teach.llm.protocol import ModelRequest, Route, ToolSpec
from tests.strategies import valid_histories

ROUTES = {
    openai: [Route("openai", "gpt-5.4", "http://a"), Route("openai", "llama-3", "http://b")],
    gemini: [
        Route("gemini", "gemini-3-pro", "http://g"),
        Route("gemini", "gemini-2.5", "http://g"),
    ],
}
WIRES = pytest.mark.parametrize("wire", list(ROUTES), ids=["openai", "gemini"])
TOOLS = (
    ToolSpec("get_weather", "Weather.", {"type": "object", "properties": {"天": {}}}, strict=True),
    ToolSpec("now", "", {"type": "object", "properties": {}}),
)


def turns(count: int, calls: int = 2) -> list[Message]:
    """A question and so many turns of calls with their results."""
    messages: list[Message] = [user("How is the weather?")]
    for number in range(count):
        asked = [ToolCall(f"call_{number}_{n}", "get_weather", "{}") for n in range(calls)]
        messages.append(assistant(*asked))
        messages += [ToolMessage(call.id, "北京: sunny") for call in asked]
    return messages


def built(wire: ModuleType, request: ModelRequest, route: Route) -> bytes | str:
    """The body, or the words of the refusal."""
    try:
        body: bytes = wire.build_request(request, route).body
    except FreyaError as problem:
        return str(problem)
    return body


@WIRES
@given(st.data())
def test_a_growing_conversation_is_written_to_the_same_bytes(
    wire: ModuleType, data: st.DataObject
) -> None:
    history, writer = data.draw(valid_histories()), RememberingWriter()
    for _ in range(3):
        end = data.draw(st.integers(0, len(history)))  # also in the middle of a turn: refused
        tools = TOOLS[: data.draw(st.integers(0, 2))]
        request = ModelRequest(tuple(history[:end]), tools, max_output_tokens=9)
        route = data.draw(st.sampled_from(ROUTES[wire]))
        remembered = built(wire, replace(request, writer=writer), route)
        assert remembered == built(wire, request, route)


@WIRES
@given(st.data())
def test_so_is_one_whose_beginning_was_replaced(wire: ModuleType, data: st.DataObject) -> None:
    first, writer = data.draw(valid_histories()), RememberingWriter()
    route = ROUTES[wire][0]
    built(wire, ModelRequest(tuple(first), writer=writer), route)
    second = [system("another"), *first[data.draw(st.integers(0, len(first))) :], user("?")]
    request = ModelRequest(tuple(second))
    assert built(wire, replace(request, writer=writer), route) == built(wire, request, route)


@WIRES
@given(valid_histories())
def test_building_a_request_changes_nothing_that_an_earlier_one_has_made(
    wire: ModuleType, history: list[Message]
) -> None:
    writer, bodies = RememberingWriter(), []
    for end in range(len(history) + 1):
        body: dict[str, Any] = {"contents": [], "messages": []}
        request = ModelRequest(tuple(history[:end]), TOOLS, writer=writer)
        try:
            for step in wire.STEPS:
                step.apply(body, request, ROUTES[wire][0])
        except TranscriptError:
            continue
        bodies.append((body, copy.deepcopy(body)))
    for body, as_it_was in bodies:
        assert body == as_it_was


@WIRES
def test_steps_of_a_learner_may_change_what_they_get(wire: ModuleType) -> None:
    def spoil(body: dict[str, Any], *_: object) -> None:
        for content in body.get("messages") or body["contents"]:
            content["role"] = "spoilt"

    request = ModelRequest(tuple(turns(3)), writer=RememberingWriter())
    before = built(wire, request, ROUTES[wire][0])
    step = replace(wire.STEPS[0], apply=spoil)
    spoilt = wire.build_request(request, ROUTES[wire][0], [*wire.STEPS, step]).body
    assert b'"spoilt"' in spoilt
    assert built(wire, request, ROUTES[wire][0]) == before


def test_gemini_s_own_id_that_turns_out_to_be_used_twice_is_not_used_any_more() -> None:
    def call(number: int) -> AssistantMessage:
        data = ProviderData("gemini", {"id": "same"})
        return assistant(ToolCall(f"call_{number}", "now", "{}", data))

    writer = RememberingWriter()
    history: list[Message] = [user("?"), call(1), ToolMessage("call_1", "x")]
    route = ROUTES[gemini][0]
    first = gemini.build_request(ModelRequest(tuple(history), writer=writer), route).body
    assert b'"same"' in first
    history += [call(2), ToolMessage("call_2", "x")]
    request = ModelRequest(tuple(history))
    assert built(gemini, replace(request, writer=writer), route) == built(gemini, request, route)


# ---- memory ----------------------------------------------------------------------------------


@pytest.fixture
def remembered() -> Callable[[], int]:
    """Return a function: how many remembered objects there are, beside those of other tests."""
    others = _all_encoded()

    def count() -> int:
        gc.collect()
        return len(_all_encoded()) - len(others)

    return count


def _all_encoded() -> list[Encoded]:
    return [each for each in gc.get_objects() if type(each) is Encoded]


@WIRES
def test_the_tools_of_an_agent_are_declared_once_for_all_its_conversations(
    wire: ModuleType, remembered: Callable[[], int]
) -> None:
    route, of_tools = ROUTES[wire][0], RememberingWriter()
    writers, written = [], []
    for city in ("Rome", "Oslo", "Lima"):
        writers.append(RememberingWriter(of_tools))
        request = ModelRequest((user(city),), TOOLS)
        known = replace(request, writer=writers[-1])
        assert built(wire, known, route) == built(wire, request, route)
        written.append(remembered())
    first, second, third = written
    assert third - second == second - first <= first - len(TOOLS)


@WIRES
def test_what_was_written_dies_with_its_writer(
    wire: ModuleType, remembered: Callable[[], int]
) -> None:
    writer = RememberingWriter()
    built(wire, ModelRequest(tuple(turns(5)), TOOLS, writer=writer), ROUTES[wire][0])
    assert remembered() > 10
    del writer
    assert remembered() == 0


@WIRES
def test_what_a_compaction_took_out_is_forgotten(
    wire: ModuleType, remembered: Callable[[], int]
) -> None:
    writer, history = RememberingWriter(), turns(50)
    built(wire, ModelRequest(tuple(history), writer=writer), ROUTES[wire][0])
    many = remembered()
    built(wire, ModelRequest((user("a summary"), *history[-3:]), writer=writer), ROUTES[wire][0])
    assert remembered() < many / 5


@WIRES
def test_a_new_system_prompt_each_turn_does_not_pile_up(
    wire: ModuleType, remembered: Callable[[], int]
) -> None:
    writer, history = RememberingWriter(), turns(2)
    built(wire, ModelRequest((system("0"), *history), writer=writer), ROUTES[wire][0])
    few = remembered()
    for minute in range(200):
        request = ModelRequest((system(str(minute)), *history), writer=writer)
        body = built(wire, request, ROUTES[wire][0])
        assert json.loads(body)
    assert remembered() < 4 * few


@WIRES
def test_the_prefix_that_was_checked_lets_no_broken_history_through(wire: ModuleType) -> None:
    writer, history = RememberingWriter(), turns(3)
    built(wire, ModelRequest(tuple(history), writer=writer), ROUTES[wire][0])
    again = assistant(ToolCall("call_0_0", "get_weather", "{}"))
    for broken in ([*history, again], history[:-1], [*history, ToolMessage("call_0_0", "twice")]):
        with pytest.raises(TranscriptError):
            wire.build_request(ModelRequest(tuple(broken), writer=writer), ROUTES[wire][0])
