"""Whatever valid history the kernel holds, both providers take what it builds from it."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.errors import TranscriptError
from freya_teach.llm import transcript
from freya_teach.llm.messages import Message
from freya_teach.llm.protocol import ModelRequest, ToolSpec
from tests.contract.judged import BUILDERS, built, refusal, route
from tests.strategies import valid_histories

MODELS = [
    ("openai", "gpt-4o"),
    ("openai", "gpt-5.2"),
    ("openai", "gpt-5.6-terra"),
    ("openai", "gpt-6-sol"),
    ("openai", "o3"),
    ("gemini", "gemini-2.5-flash"),
    ("gemini", "gemini-3-flash-preview"),
    ("gemini", "gemini-3.5-flash-lite"),
    ("gemini", "gemini-3.8-flash"),
]
NOTHING_TO_SAY = (
    "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty "
    "array instead."
)
CITY: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOLS = (
    ToolSpec("get_weather", "The weather of a city.", {**CITY, "required": ["city"]}),
    ToolSpec("today", "Today's date.", {"type": "object", "properties": {}}),
    ToolSpec(
        "in_full",
        "Every field is needed.",
        {**CITY, "required": ["city"], "additionalProperties": False},
        strict=True,
    ),
)


@pytest.mark.parametrize(("wire", "model"), MODELS, ids=[model for _, model in MODELS])
@given(data=st.data())
def test_any_valid_history_is_accepted(wire: str, model: str, data: st.DataObject) -> None:
    messages = data.draw(valid_histories())
    request = ModelRequest(
        tuple(messages),
        data.draw(st.sampled_from([(), TOOLS])),
        stream=data.draw(st.booleans()),
        max_output_tokens=data.draw(st.sampled_from([None, 1, 4096])),
    )
    body = built(request, route(wire, model))
    nothing_to_say = body.get("messages") == []
    expected = NOTHING_TO_SAY if nothing_to_say else ""
    assert refusal(body, route(wire, model)) == expected


@st.composite
def broken_histories(draw: st.DrawFn) -> list[Message]:
    """A valid history with one message lost, doubled or moved, that is not valid any more."""
    messages = draw(valid_histories().filter(transcript.calls_in))
    place = draw(st.integers(0, len(messages) - 1))
    match draw(st.sampled_from(["lost", "doubled", "moved"])):
        case "lost":
            del messages[place]
        case "doubled":
            messages.insert(place, messages[place])
        case "moved":
            message = messages.pop(place)
            messages.insert(draw(st.integers(0, len(messages))), message)
    return messages


@pytest.mark.parametrize(("wire", "model"), MODELS[-1:] + MODELS[2:3], ids=["gemini", "openai"])
@given(messages=broken_histories())
def test_what_the_kernel_lets_pass_is_accepted_and_the_rest_names_its_message(
    wire: str, model: str, messages: list[Message]
) -> None:
    to, said = route(wire, model), ""
    try:
        body = built(ModelRequest(tuple(messages)), to)
    except TranscriptError as problem:
        said = str(problem)
    if said:
        assert re.match(r"message \d+|the history ends", said)
    elif body.get("messages") != []:
        assert refusal(body, to) == ""


@pytest.mark.parametrize(("wire", "model"), MODELS[-1:] + MODELS[2:3], ids=["gemini", "openai"])
@given(messages=broken_histories())
def test_what_a_provider_refuses_without_the_check_never_passes_it(
    wire: str, model: str, messages: list[Message]
) -> None:
    request = ModelRequest(tuple(messages))
    try:
        body = built(request, route(wire, model), without_step="check_transcript")
    except (KeyError, TranscriptError):  # a result of no call has no name to send
        body = {}
    if not body or (body.get("messages") != [] and refusal(body, route(wire, model))):
        with pytest.raises(TranscriptError):
            BUILDERS[wire].build_request(request, route(wire, model))
