"""Messages as JSON: all of them, and back as they were."""

import json

import pytest
from hypothesis import given, settings

from freya_teach.llm.messages import (
    ImagePart,
    Message,
    OpaquePart,
    ProviderData,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
    assistant,
    user,
)
from freya_teach.session.message_json import message_from_json, message_to_json
from tests.strategies import valid_histories


@given(valid_histories())
@settings(max_examples=50)
def test_a_history_comes_back_as_it_was(history: list[Message]) -> None:
    text = json.dumps([message_to_json(message) for message in history], ensure_ascii=False)
    assert [message_from_json(stored) for stored in json.loads(text)] == history


def test_every_kind_of_part_comes_back() -> None:
    signed = ProviderData("gemini", {"thoughtSignature": "x", "deep": [1, {"a": None}]})
    messages: list[Message] = [
        user("see", ImagePart("image/png", bytes(range(256))), ImagePart("image/gif", url="http:")),
        user(OpaquePart("input_audio", ProviderData("openai", {"data": "…"}))),
        assistant(TextPart("so", signed), ToolCall("call_1", "add", '{"a": 1', signed)),
        ToolMessage("call_1", "no", is_error=True),
    ]
    stored = json.loads(json.dumps([message_to_json(message) for message in messages]))
    assert [message_from_json(message) for message in stored] == messages


def test_what_is_no_message_is_refused_before_it_is_stored() -> None:
    with pytest.raises(TypeError, match=r"'hello' is no message: make one of it, for example with"):
        message_to_json("hello")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="5 is no part of a message"):
        message_to_json(UserMessage((5,)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("stored", "problem"),
    [
        ({"role": "judge", "text": "no"}, "no message has the role 'judge'"),
        ({"role": "user", "parts": [{"type": "smell"}]}, "no part has the type 'smell'"),
        ({"role": "tool", "call_id": "", "text": "", "is_error": False}, "needs the id"),
    ],
)
def test_what_was_never_written_is_not_read(stored: dict[str, object], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        message_from_json(stored)
