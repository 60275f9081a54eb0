"""A whole request: messages, calls, tools, pictures, and each message counted once."""

import json
from statistics import median
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freya_teach.llm import gemini_messages, openai_messages
from freya_teach.llm.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    OpaquePart,
    ProviderData,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolMessage,
    assistant,
    system,
    user,
)
from freya_teach.llm.protocol import ModelRequest, ToolSpec
from freya_teach.llm.request_tokens import (
    BLOB_TOKENS,
    CALL_TOKENS,
    IMAGE_TOKENS,
    MESSAGE_TOKENS,
    REPLY_TOKENS,
    TOOL_TOKENS,
    TOOLS_TOKENS,
    RememberingCounter,
    message_tokens,
    request_tokens,
    tools_tokens,
)
from freya_teach.llm.tokens import CalibratedCounter
from tests import recordings
from tests.strategies import valid_histories

COUNTER = CalibratedCounter()
count = COUNTER.count
TOOL = ToolSpec("get_weather", "The weather in a city, now.", {"type": "object", "properties": {}})


class Asked(CalibratedCounter):
    """Notes what it is asked to count."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def count(self, text: str) -> int:
        self.texts.append(text)
        return super().count(text)


@pytest.mark.parametrize(
    "message", [system("Be brief."), user("Be brief."), assistant("Be brief.")]
)
def test_a_message_is_its_words_and_its_marks(message: Message) -> None:
    assert message_tokens(message, COUNTER) == MESSAGE_TOKENS + count("Be brief.")


def test_a_call_is_its_name_and_its_arguments_as_written_in_any_script() -> None:
    arguments = json.dumps({"city": "北京" * 50}, ensure_ascii=False)
    call = assistant(ToolCall("call_1", "get_weather", arguments))
    words = count("get_weather") + count(arguments)
    assert message_tokens(call, COUNTER) == MESSAGE_TOKENS + CALL_TOKENS + words
    assert count(arguments) > 60


def test_a_result_is_marked_as_one() -> None:
    result = ToolMessage("call_1", "12 °C")
    assert message_tokens(result, COUNTER) == MESSAGE_TOKENS + CALL_TOKENS + count("12 °C")


def test_tools_are_counted_as_the_json_that_defines_them() -> None:
    definition = (
        '{"name":"get_weather","description":"The weather in a city, now.",'
        '"parameters":{"type":"object","properties":{}}}'
    )
    one = TOOL_TOKENS + count(definition)
    assert tools_tokens((TOOL,), COUNTER) == TOOLS_TOKENS + one
    assert tools_tokens((TOOL, TOOL), COUNTER) == TOOLS_TOKENS + 2 * one
    assert tools_tokens((), COUNTER) == 0


def test_an_image_costs_what_its_provider_says_whatever_its_bytes() -> None:
    message = user(ImagePart("image/png", b"x" * 100_000))
    for provider, tokens in IMAGE_TOKENS.items():
        assert message_tokens(message, COUNTER, provider) == MESSAGE_TOKENS + tokens
    assert message_tokens(message, COUNTER) == MESSAGE_TOKENS + max(IMAGE_TOKENS.values())


def test_thinking_counts_only_where_it_goes_back() -> None:
    thought = "First the weather, then the train."
    kept = ReasoningPart(thought, ProviderData("openai", {"field": "reasoning_content"}))
    sealed = ReasoningPart("", ProviderData("openai", {"detail": {"data": "x9Yz" * 20}}))
    assert message_tokens(assistant(ReasoningPart(thought)), COUNTER) == MESSAGE_TOKENS
    assert message_tokens(assistant(kept), COUNTER) == MESSAGE_TOKENS + count(thought)
    assert message_tokens(assistant(sealed), COUNTER) > MESSAGE_TOKENS + 40


def test_a_signature_adds_nothing_to_its_part() -> None:
    signed = ProviderData("gemini", {"signature": "x9Yz" * 500})
    assert message_tokens(assistant(TextPart("Hi", signed)), COUNTER) == message_tokens(
        assistant("Hi"), COUNTER
    )


def test_an_opaque_part_is_its_json_but_a_file_in_it_is_no_text() -> None:
    def opaque(**data: Any) -> int:
        part = OpaquePart("input_audio", ProviderData("openai", {"input_audio": data}))
        return message_tokens(user(part), COUNTER)

    assert opaque(data="UklGR" * 100_000, format="wav") < 2 * BLOB_TOKENS
    assert opaque(text="word " * 2_000) > 2_000
    assert opaque(text="字" * 3_000) > 1_500  # long, without a blank, and still text


@settings(max_examples=40)
@given(valid_histories())
def test_a_request_is_the_sum_of_its_parts(history: list[Message]) -> None:
    request = ModelRequest(tuple(history), (TOOL,))
    expected = REPLY_TOKENS + tools_tokens((TOOL,), COUNTER)
    expected += sum(message_tokens(message, COUNTER) for message in history)
    assert request_tokens(request, COUNTER) == expected
    assert request_tokens(request, RememberingCounter(COUNTER)) == expected


# ---- counted once --------------------------------------------------------------------------


def test_a_longer_history_has_only_its_new_messages_counted() -> None:
    asked = Asked()
    counter = RememberingCounter(asked)
    history = [user(f"question {number}") for number in range(100)]
    for length in range(1, 101):
        request_tokens(ModelRequest(tuple(history[:length]), (TOOL,)), counter)
    assert len(asked.texts) == 101  # and the tool, once


@settings(max_examples=30)
@given(st.lists(valid_histories(), min_size=1, max_size=3), st.data())
def test_whatever_happens_to_the_history_the_number_is_right(
    histories: list[list[Message]], data: st.DataObject
) -> None:
    """Growing, losing its beginning, another one altogether, and back."""
    counter = RememberingCounter(COUNTER)
    for _ in range(6):
        history = data.draw(st.sampled_from(histories))
        start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(history))] * 2)))
        messages = tuple(history[start:end])
        assert counter.messages(messages) == sum(message_tokens(m, COUNTER) for m in messages)


def test_after_a_compaction_only_the_summary_is_counted_and_the_old_messages_are_let_go() -> None:
    asked = Asked()
    counter = RememberingCounter(asked)
    history = tuple(user(f"question {number}") for number in range(100))
    counter.messages(history)
    asked.texts.clear()
    counter.messages((system("What was said."), *history[-10:]))
    assert asked.texts == ["What was said."]
    assert len(counter._known) == 11  # noqa: SLF001 - nothing but memory shows it


def test_tools_are_counted_again_only_when_they_change() -> None:
    asked = Asked()
    counter = RememberingCounter(asked)
    counter.tools((TOOL,))
    counter.tools((TOOL,))
    assert len(asked.texts) == 1
    assert counter.tools(()) == 0


def test_a_remembering_counter_is_a_counter_of_texts_too() -> None:
    assert RememberingCounter(COUNTER).count("hello world") == count("hello world")


# ---- what servers counted ------------------------------------------------------------------


def server_counted(recording: recordings.Recording) -> int:
    """The input tokens that a real answer names, 0 if it does not."""
    usages = [
        delta.usage.input_tokens
        for chunk in recordings_chunks(recording)
        for delta in recording.adapter.parse_chunk(chunk)
        if hasattr(delta, "usage")
    ]
    return usages[-1] if usages else 0


def recordings_chunks(recording: recordings.Recording) -> list[Any]:
    if not isinstance(recording.body, str):
        return recording.body if isinstance(recording.body, list) else [recording.body]
    lines = (line.removeprefix("data:").strip() for line in recording.body.splitlines())
    return [json.loads(line) for line in lines if line.startswith("{")]


HIDDEN_WORDS = {"tools", "functions", "response_format", "web_search_options", "modalities"}
"""What makes a server add words of its own to the conversation."""


def test_openais_servers_count_plain_conversations_as_we_do() -> None:
    """No tools, pictures or hidden parts: only the marks and the words."""
    ratios = []
    for recording in recordings.load():
        if recording.provider != "openai" or not recording.is_model_call or recording.status != 200:
            continue
        body = recording.request["body"]
        if HIDDEN_WORDS & set(body):
            continue
        request = openai_messages.read_request(body)
        plain = all(
            isinstance(part, TextPart)
            for message in request.messages
            for part in getattr(message, "parts", ())
        )
        true = server_counted(recording)
        if plain and true:
            ratios.append(request_tokens(request, COUNTER, "openai") / true)
    if not ratios:
        pytest.skip("the recordings are not on this machine")
    assert len(ratios) >= 5
    assert 0.9 <= median(ratios) <= 1.15


def test_a_gemini_conversation_with_signatures_is_not_counted_several_times_over() -> None:
    ratios = []
    for recording in recordings.load():
        if recording.provider != "gemini" or "thoughtSignature" not in json.dumps(
            recording.request
        ):
            continue
        request = gemini_messages.read_request(recording.request["body"])
        if recording.status == 200 and (true := server_counted(recording)):
            ratios.append(request_tokens(request, COUNTER, "gemini") / true)
    if not ratios:
        pytest.skip("the recordings are not on this machine")
    assert 0.6 <= median(ratios) <= 1.6


def test_an_assistant_message_without_parts_has_only_its_marks() -> None:
    assert message_tokens(AssistantMessage(()), COUNTER) == MESSAGE_TOKENS
