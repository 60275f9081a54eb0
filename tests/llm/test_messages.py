"""The neutral history: what its classes promise to everyone who reads them."""

import dataclasses

import pytest

from freya_teach.llm.messages import (
    NO_DATA,
    ImagePart,
    ProviderData,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolMessage,
    assistant,
    system,
    user,
)

CALL = ToolCall("call_1", "get_weather", '{"city": "Oslo"}')


def test_an_assistant_message_shows_its_words_its_reasoning_and_its_calls_apart() -> None:
    message = assistant(ReasoningPart("Hm."), "I ", CALL, "look.")
    assert (message.text, message.reasoning, message.tool_calls) == ("I look.", "Hm.", (CALL,))


def test_a_user_message_holds_pictures_beside_its_text() -> None:
    picture = ImagePart("image/png", b"\x89PNG")
    message = user("What ", picture, "is this?")
    assert message.parts == (TextPart("What "), picture, TextPart("is this?"))
    assert message.text == "What is this?"


def test_each_class_is_told_apart_by_its_role() -> None:
    messages = (system("x"), user("x"), assistant("x"), ToolMessage("call_1", "x"))
    assert [m.role for m in messages] == ["system", "user", "assistant", "tool"]


@pytest.mark.parametrize(
    "value", [system("x"), user("x"), assistant("x"), ToolMessage("call_1", "x"), CALL]
)
def test_a_message_cannot_be_changed(value: object) -> None:
    name = dataclasses.fields(value)[0].name  # type: ignore[arg-type]
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, name, "changed")


def test_what_one_provider_attached_is_hidden_from_every_other() -> None:
    data = ProviderData("gemini", {"signature": "s"})
    assert data.for_issuer("gemini") == {"signature": "s"}
    assert data.for_issuer("openai") == {}
    assert NO_DATA.for_issuer("openai") == {}
