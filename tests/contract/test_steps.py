"""Each step of a builder, taken out: what the provider says then, or what the packet lacks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from freya_teach.errors import TranscriptError
from freya_teach.llm.messages import Message, ToolCall, ToolMessage, assistant, system, user
from freya_teach.llm.protocol import ModelRequest, ToolSpec
from tests.contract.judged import BUILDERS, built, refusal, route

CITY: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
WEATHER = ToolSpec("get_weather", "The weather of a city.", CITY)
QUESTION = user("The weather in Oslo and in Lima?")
OSLO = ToolCall("call_1", "get_weather", '{"city": "Oslo"}')
LIMA = ToolCall("call_2", "get_weather", '{"city": "Lima"}')
RESULTS = (ToolMessage("call_1", "rain"), ToolMessage("call_2", "sun"))
BOTH = (QUESTION, assistant(OSLO, LIMA), *RESULTS)


@dataclass(frozen=True)
class Case:
    """A request, and what happens to it without one step of its builder."""

    wire: str
    step: str
    model: str
    words: str
    """What a server of this generation says then; nothing where it says nothing."""
    request: ModelRequest


def case(wire: str, step: str, model: str, words: str, *messages: Message, **more: Any) -> Case:
    return Case(wire, step, model, words, ModelRequest(messages, **more))


REFUSED = [
    case(
        "openai",
        "to_messages",
        "gpt-4o",
        "Invalid 'messages': empty array",
        QUESTION,
    ),
    case(
        "gemini",
        "group_tool_results",
        "gemini-3.8-flash",
        "number of function response parts is equal to the number of function call parts",
        *BOTH,
    ),
    case(
        "gemini",
        "merge_consecutive",
        "gemini-1.5-flash",
        "multiturn requests alternate between user and model",
        user("Hello."),
        QUESTION,
    ),
    case(
        "gemini",
        "start_with_user",
        "gemini-2.5-flash",
        "function call turn comes immediately after a user turn",
        *BOTH[1:],
    ),
    case(
        "gemini",
        "end_with_user",
        "gemini-3.8-flash",
        "Requests ending with a model turn are not supported",
        QUESTION,
        assistant("In a moment."),
    ),
    case("gemini", "sign_foreign_calls", "gemini-3.8-flash", "missing a thought_signature", *BOTH),
]
"""Taken out, these steps make a server refuse."""

UNCHECKED = [
    case(
        "openai",
        "check_transcript",
        "gpt-5.6-terra",
        "The following tool_call_ids did not have response messages: call_2",
        *BOTH[:-1],
    ),
    case(
        "gemini",
        "check_transcript",
        "gemini-3.8-flash",
        "number of function response parts is equal to the number of function call parts",
        *BOTH[:-1],
    ),
]
"""Without this step a broken history goes out, and comes back refused; with it, it never does."""


def roles(body: dict[str, Any]) -> list[str]:
    return [message["role"] for message in body.get("messages") or body.get("contents") or []]


SHOWN = [
    (
        case("openai", "join_leading_system", "gpt-4o", "", system("A"), system("B"), QUESTION),
        roles,
        ["system", "user"],
        ["system", "system", "user"],
    ),
    (
        case("openai", "declare_tools", "gpt-5.6-terra", "", QUESTION, tools=(WEATHER,)),
        lambda body: (len(body.get("tools", [])), body.get("reasoning_effort")),
        (1, "none"),
        (0, None),
    ),
    (
        case("openai", "limit_output", "gpt-5.2", "", QUESTION, max_output_tokens=9),
        lambda body: body.get("max_completion_tokens"),
        9,
        None,
    ),
    (
        case("openai", "ask_for_stream", "gpt-4o", "", QUESTION, stream=True),
        lambda body: body.get("stream_options"),
        {"include_usage": True},
        None,
    ),
    (
        case("gemini", "hoist_system", "gemini-3.8-flash", "", system("A"), QUESTION),
        lambda body: body.get("systemInstruction"),
        {"parts": [{"text": "A"}]},
        None,
    ),
    (
        case("gemini", "to_contents", "gemini-3.8-flash", "", QUESTION),
        lambda body: body["contents"][0]["parts"][0]["text"],
        QUESTION.text,
        "(continued)",
    ),
    (
        case("gemini", "declare_tools", "gemini-3.8-flash", "", QUESTION, tools=(WEATHER,)),
        lambda body: len(body.get("tools", [])),
        1,
        0,
    ),
    (
        case("gemini", "limit_output", "gemini-3.8-flash", "", QUESTION, max_output_tokens=9),
        lambda body: body.get("generationConfig"),
        {"maxOutputTokens": 9},
        None,
    ),
]
"""No server refuses what these leave behind: the packet shows what is missing then."""


def name(value: Any) -> str | None:
    return f"{value.wire}-{value.step}" if isinstance(value, Case) else ""


@pytest.mark.parametrize("case", REFUSED, ids=name)
def test_without_the_step_the_provider_refuses_and_with_it_it_does_not(case: Case) -> None:
    to = route(case.wire, case.model)
    assert refusal(built(case.request, to), to) == ""
    assert case.words in refusal(built(case.request, to, without_step=case.step), to)


@pytest.mark.parametrize("case", UNCHECKED, ids=name)
def test_without_the_check_a_broken_history_goes_out_and_comes_back_refused(case: Case) -> None:
    to = route(case.wire, case.model)
    assert case.words in refusal(built(case.request, to, without_step=case.step), to)
    with pytest.raises(TranscriptError, match="the history ends without the result of get_weather"):
        built(case.request, to)


@pytest.mark.parametrize(("case", "look", "with_it", "without_it"), SHOWN, ids=name)
def test_what_nobody_refuses_shows_in_the_packet(
    case: Case, look: Callable[[dict[str, Any]], Any], with_it: Any, without_it: Any
) -> None:
    to = route(case.wire, case.model)
    whole = built(case.request, to)
    less = built(case.request, to, without_step=case.step)
    assert (look(whole), look(less)) == (with_it, without_it)
    assert (refusal(whole, to), refusal(less, to)) == ("", "")


def test_every_step_of_both_builders_is_taken_out_above() -> None:
    taken = {(each.wire, each.step) for each in [*REFUSED, *UNCHECKED, *(row[0] for row in SHOWN)]}
    steps = {(wire, step.name) for wire in BUILDERS for step in BUILDERS[wire].STEPS}
    assert taken == steps


def test_every_step_states_its_rule_its_models_and_its_source() -> None:
    steps = [step for builder in BUILDERS.values() for step in builder.STEPS]
    assert [step.name for step in steps if not (step.rule and step.models and step.source)] == []
