"""The OpenAI wire: requests against the provider's published rules, answers against recordings."""

import base64
import dataclasses
import functools
import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.errors import (
    BadResponse,
    FreyaError,
    ProviderError,
    RequestRefused,
    TranscriptError,
)
from freya_teach.llm import gemini, openai
from freya_teach.llm.assembler import Assembler
from freya_teach.llm.call_arguments import as_text
from freya_teach.llm.messages import (
    ImagePart,
    Message,
    ProviderData,
    ReasoningPart,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
    assistant,
    system,
    user,
)
from freya_teach.llm.openai import STEPS, build_request, parse_chunk
from freya_teach.llm.protocol import (
    CallDelta,
    FinishDelta,
    ModelRequest,
    ReasoningDelta,
    Reply,
    Route,
    TextDelta,
    ToolSpec,
    Usage,
    UsageDelta,
    WireRequest,
)
from freya_teach.llm.sse import ChunkDecoder
from freya_teach.llm.transcript import assign_ids
from tests import recordings
from tests.provider_rules import gemini_faults, openai_faults
from tests.recordings import Recording
from tests.strategies import ANY_TEXT, json_values, keys_in, mutations, valid_histories

ROUTE = Route("openai", "gpt-5.6-terra", "https://api.example", "no-key-needed")
WEATHER = ToolSpec(
    "get_weather",
    "Current weather for one city",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
CALL = ToolCall("call_1", "get_weather", '{"city": "Oslo"}')


def build(*messages: Message, model: str = ROUTE.model, **more: Any) -> WireRequest:
    route = Route(ROUTE.provider, model, ROUTE.endpoint, ROUTE.api_key)
    return build_request(ModelRequest(messages, **more), route)


def body_of(*messages: Message, model: str = ROUTE.model, **more: Any) -> dict[str, Any]:
    body = json.loads(build(*messages, model=model, **more).body)
    assert isinstance(body, dict)
    return body


# ---- there ---------------------------------------------------------------------------------


def test_a_whole_request_looks_as_the_reference_shows_it() -> None:
    wire = build(
        system("Be brief."),
        user("Weather in Oslo?"),
        assistant(CALL),
        ToolMessage("call_1", "3 °C"),
        tools=(WEATHER,),
        stream=True,
        max_output_tokens=800,
    )
    assert wire.url == "https://api.example/v1/chat/completions"
    assert wire.headers == {
        "content-type": "application/json",
        "authorization": "Bearer no-key-needed",
    }
    assert json.loads(wire.body) == {
        "model": "gpt-5.6-terra",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Weather in Oslo?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "3 °C"},
        ],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "get_weather",
                    "description": "Current weather for one city",
                    "parameters": WEATHER.parameters,
                },
            }
        ],
        "reasoning_effort": "none",
        "max_completion_tokens": 800,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_a_server_without_a_key_gets_no_authorization() -> None:
    wire = build_request(ModelRequest((user("Hi"),)), dataclasses.replace(ROUTE, api_key=""))
    assert wire.headers == {"content-type": "application/json"}


def test_the_key_stands_in_the_header_only() -> None:
    wire = build(user("Hi"))
    assert "no-key-needed" not in wire.url + wire.body.decode() + repr(wire)


def test_without_tools_and_stream_their_fields_are_left_out() -> None:
    assert set(body_of(user("Hi"))) == {"model", "messages"}


@pytest.mark.parametrize(
    ("model", "field"),
    [("gpt-4o", "max_completion_tokens"), ("o3", "max_completion_tokens"), ("qwen3", "max_tokens")],
)
def test_the_output_limit_has_the_name_that_the_models_server_knows(model: str, field: str) -> None:
    assert body_of(user("Hi"), model=model, max_output_tokens=7)[field] == 7


@pytest.mark.parametrize(
    ("message", "content"),
    [
        (user(), ""),
        (user("Hi"), "Hi"),
        (
            user("Hi ", "there"),
            [{"type": "text", "text": "Hi "}, {"type": "text", "text": "there"}],
        ),
        (
            user("See:", ImagePart("image/png", b"\x89PNG")),
            [
                {"type": "text", "text": "See:"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
            ],
        ),
        (
            user(ImagePart("image/jpeg", url="https://pictures.example/cat.jpg")),
            [{"type": "image_url", "image_url": {"url": "https://pictures.example/cat.jpg"}}],
        ),
    ],
)
def test_a_user_message_carries_text_and_pictures(message: UserMessage, content: Any) -> None:
    assert body_of(message)["messages"] == [{"role": "user", "content": content}]


def test_leading_system_messages_become_one_and_a_later_one_stays_where_it_is() -> None:
    messages = body_of(system("a"), system("b"), user("Hi"), system("c"))["messages"]
    assert messages == [
        {"role": "system", "content": "a\n\nb"},
        {"role": "user", "content": "Hi"},
        {"role": "system", "content": "c"},
    ]


@pytest.mark.parametrize(
    ("parts", "content"),
    [((), ""), (("",), ""), (("Hi",), "Hi"), ((CALL,), None), (("I look.", CALL), "I look.")],
)
def test_content_is_null_beside_calls_only(parts: Sequence[Any], content: str | None) -> None:
    """vercel/ai#13744: OpenAI refuses null without calls; #12605: Ollama wants it beside them."""
    results = [ToolMessage(part.id, "x") for part in parts if isinstance(part, ToolCall)]
    assert body_of(user("?"), assistant(*parts), *results)["messages"][1]["content"] == content


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ('{"city":  "Oslo"}', '{"city":  "Oslo"}'),
        ("", "{}"),
        ("  ", "{}"),
        ('{"city": "Os', '{"_raw":"{\\"city\\": \\"Os"}'),
        ("Oslo", '{"_raw":"Oslo"}'),
        ("[1]", '{"_raw":"[1]"}'),
        ("null", '{"_raw":"null"}'),
    ],
)
def test_arguments_go_back_as_written_and_in_an_object_where_they_are_none(
    written: str, sent: str
) -> None:
    """hermes-agent#8089: a half-written call makes servers refuse every later request."""
    call = ToolCall("call_1", "get_weather", written)
    message = body_of(assistant(call), ToolMessage("call_1", "x"))["messages"][0]
    assert message["tool_calls"][0]["function"]["arguments"] == sent


def test_a_call_to_a_name_that_the_wire_refuses_does_not_spoil_the_conversation() -> None:
    """mcp-use#90: `Invalid 'messages[9].tool_calls[0].function.name'` at every later request."""
    call = ToolCall("call_1", "functions.get weather", "{}")
    sent = body_of(assistant(call), ToolMessage("call_1", "no such tool"))["messages"][0]
    assert sent["tool_calls"][0]["function"]["name"] == "functions_get_weather"


def test_reasoning_goes_back_in_the_field_that_it_came_in_and_to_its_issuer_only() -> None:
    detail = {"type": "reasoning.encrypted", "data": "x"}
    message = assistant(
        ReasoningPart("Hm", ProviderData("openai", {"field": "reasoning_content"})),
        ReasoningPart("m.", ProviderData("openai", {"field": "reasoning_content"})),
        ReasoningPart("", ProviderData("openai", {"detail": detail})),
        ReasoningPart("secret", ProviderData("gemini", {"signature": "s"})),
        ReasoningPart("nobody's"),
        "Yes.",
    )
    assert body_of(user("?"), message)["messages"][1] == {
        "role": "assistant",
        "content": "Yes.",
        "reasoning_content": "Hmm.",
        "reasoning_details": [detail],
    }


def test_a_broken_history_is_not_sent() -> None:
    with pytest.raises(TranscriptError):
        build(user("?"), assistant(CALL))


# ---- the provider's rules ------------------------------------------------------------------


@given(valid_histories())
def test_every_valid_history_becomes_a_request_that_keeps_the_rules(history: list[Message]) -> None:
    body = body_of(*history)
    assert openai_faults(body) == []
    kept = [m for m in body["messages"] if m["role"] != "system"]
    assert [m["role"] for m in kept] == [m.role for m in history if m.role != "system"]


CALLS = [CALL, ToolCall("call_2", "get_weather", '{"city": "Bergen"}')]
RESULTS = [ToolMessage("call_1", "3 °C"), ToolMessage("call_2", "rain")]


def without(name: str, request: ModelRequest, model: str = ROUTE.model) -> dict[str, Any]:
    """The request body that is built when one step is taken out."""
    steps = [step for step in STEPS if step.name != name]
    assert len(steps) == len(STEPS) - 1
    body = json.loads(
        build_request(
            request, Route(ROUTE.provider, model, ROUTE.endpoint, ROUTE.api_key), steps
        ).body
    )
    assert isinstance(body, dict)
    return body


def test_without_check_transcript_an_unanswered_call_is_sent() -> None:
    request = ModelRequest((user("?"), assistant(*CALLS), RESULTS[1]))
    assert openai_faults(without("check_transcript", request)) == [
        "tool_call_ids did not have response messages"
    ]


def test_without_to_messages_the_question_is_missing() -> None:
    assert without("to_messages", ModelRequest((user("?"),)))["messages"] == []


def test_without_join_leading_system_there_are_several_system_messages() -> None:
    body = without("join_leading_system", ModelRequest((system("a"), system("b"), user("?"))))
    assert [m["role"] for m in body["messages"]] == ["system", "system", "user"]


def test_without_declare_tools_the_model_knows_no_tool() -> None:
    body = without("declare_tools", ModelRequest((user("?"),), (WEATHER,)))
    assert set(body) == {"model", "messages"}


def test_without_limit_output_the_answer_may_be_of_any_length() -> None:
    body = without("limit_output", ModelRequest((user("?"),), max_output_tokens=9))
    assert set(body) == {"model", "messages"}


def test_without_ask_for_stream_the_answer_comes_in_one_piece() -> None:
    body = without("ask_for_stream", ModelRequest((user("?"),), stream=True))
    assert set(body) == {"model", "messages"}


def test_each_step_has_a_test_of_what_happens_without_it_and_names_its_source() -> None:
    tested = {name for name in globals() if name.startswith("test_without_")}
    for step in STEPS:
        assert any(name.startswith(f"test_without_{step.name}") for name in tested), step.name
        assert step.rule
        assert step.models
        assert step.source


# ---- what a server insists on --------------------------------------------------------------


def built_for(request: ModelRequest, **facts: Any) -> dict[str, Any]:
    """The body for a model with these facts."""
    route = dataclasses.replace(ROUTE, facts=dataclasses.replace(ROUTE.facts, **facts))
    return dict(json.loads(build_request(request, route).body))


def test_instructions_have_the_role_that_the_server_knows_and_leading_ones_are_joined() -> None:
    request = ModelRequest((system("a"), system("b"), user("?"), system("c")))
    assert built_for(request, system_role="developer")["messages"] == [
        {"role": "developer", "content": "a\n\nb"},
        {"role": "user", "content": "?"},
        {"role": "developer", "content": "c"},
    ]


def test_beside_calls_content_is_null_or_empty_as_the_server_takes_it() -> None:
    request = ModelRequest((user("?"), assistant(*CALLS), *RESULTS))
    assert built_for(request)["messages"][1]["content"] is None
    assert built_for(request, content_with_calls="")["messages"][1]["content"] == ""


def test_strict_is_left_out_where_a_server_does_not_know_it() -> None:
    request = ModelRequest((user("?"),), (dataclasses.replace(WEATHER, strict=True),))
    assert built_for(request)["tools"][0]["function"]["strict"] is True
    assert "strict" not in built_for(request, strict=False)["tools"][0]["function"]


def test_room_for_reasoning_is_added_to_the_limit_of_the_answer() -> None:
    request = ModelRequest((user("?"),), max_output_tokens=100)
    assert built_for(request, reasoning_room=4_000)["max_completion_tokens"] == 4_100


HOST = dataclasses.replace(ROUTE, endpoint="https://deep.example")


@pytest.mark.parametrize(
    ("issuer", "given_back"),
    [
        ("openai@deep.example", True),
        ("openai@other.example", False),
        ("openai", True),  # read from a stored conversation: whose it was, nobody knows
        ("gemini", False),
    ],
)
def test_reasoning_goes_back_to_the_server_that_it_came_from_and_to_no_other(
    issuer: str, *, given_back: bool
) -> None:
    thought = ReasoningPart("Hmm.", ProviderData(issuer, {"field": "reasoning_content"}))
    body = json.loads(build_request(ModelRequest((user("?"), assistant(thought))), HOST).body)
    assert ("reasoning_content" in body["messages"][1]) is given_back


# ---- back ----------------------------------------------------------------------------------


def deltas_of(choice: dict[str, Any], **more: Any) -> list[Any]:
    return list(parse_chunk({"choices": [choice], **more}))


@pytest.mark.parametrize(
    ("delta", "expected"),
    [
        ({}, []),
        ({"role": "assistant", "content": None}, []),
        ({"content": ""}, []),
        ({"content": "Hi", "obfuscation": "x"}, [TextDelta("Hi")]),
        ({"content": 7}, []),
        ({"content": {"text": "Hi"}}, []),
        ({"refusal": "No."}, [TextDelta("No.")]),
        ({"tool_calls": None}, []),
        ({"tool_calls": []}, []),
        ({"tool_calls": {"index": 0}}, []),
        (
            {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}]},
            [CallDelta(0, "a", "f", "")],
        ),
        (
            {"tool_calls": [{"index": None, "function": {"arguments": "{"}}]},
            [CallDelta(arguments="{")],
        ),
        ({"tool_calls": [{"id": None, "function": {"name": None}}]}, [CallDelta()]),
        (
            {"tool_calls": [{"index": -1, "function": {"name": "f", "arguments": {"城": "京"}}}]},
            [CallDelta(-1, "", "f", '{"城":"京"}')],
        ),
        ({"tool_calls": [{"function": {"name": "f", "arguments": None}}]}, [CallDelta(name="f")]),
        ({"function_call": {"name": "f", "arguments": "{}"}}, [CallDelta(0, "", "f", "{}")]),
        ({"function_call": {"name": "", "arguments": ""}}, []),
        ({"function_call": None}, []),
        (
            {"reasoning_content": "Hm"},
            [ReasoningDelta("Hm", ProviderData("openai", {"field": "reasoning_content"}))],
        ),
        (
            {"reasoning": "Hm"},
            [ReasoningDelta("Hm", ProviderData("openai", {"field": "reasoning"}))],
        ),
        (  # a sealed detail holds no words, so the plain field is the only place for them
            {"reasoning": "Hm", "reasoning_details": [{"type": "reasoning.encrypted"}]},
            [
                ReasoningDelta(
                    "", ProviderData("openai", {"detail": {"type": "reasoning.encrypted"}})
                ),
                ReasoningDelta("Hm", ProviderData("openai", {"field": "reasoning"})),
            ],
        ),
        (
            {"reasoning": "Hm", "reasoning_details": [{"type": "reasoning.text", "text": "Hm"}]},
            [
                ReasoningDelta(
                    "Hm",
                    ProviderData("openai", {"detail": {"type": "reasoning.text", "text": "Hm"}}),
                )
            ],
        ),
        (
            {"content": [{"type": "thinking", "thinking": [{"text": "Hm"}]}, {"text": "Hi"}, 3]},
            [ReasoningDelta("Hm"), TextDelta("Hi")],
        ),
    ],
)
def test_a_piece_gives_the_deltas_that_it_holds(delta: dict[str, Any], expected: list[Any]) -> None:
    assert deltas_of({"index": 0, "delta": delta, "finish_reason": None}) == expected


def test_a_whole_message_is_read_by_the_same_path_as_a_piece() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": "Hi", "tool_calls": [call]}
    assert deltas_of({"message": message, "finish_reason": "tool_calls"}) == [
        TextDelta("Hi"),
        CallDelta(None, "a", "f", "{}", whole=True),
        FinishDelta("tool_calls", "tool_calls"),
    ]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("stop", "stop"),
        ("eos", "stop"),
        ("length", "length"),
        ("tool_calls", "tool_calls"),
        ("function_call", "tool_calls"),
        ("content_filter", "content_filter"),
        ("error", "error"),
        ("insufficient_system_resource", "unknown"),
    ],
)
def test_a_finish_reason_is_ours_and_the_providers_own_word_beside_it(
    raw: str, reason: Any
) -> None:
    assert deltas_of({"delta": {}, "finish_reason": raw}) == [FinishDelta(reason, raw)]


@pytest.mark.parametrize("raw", [None, "", 7, ["stop"]])
def test_what_is_no_finish_reason_is_none(raw: Any) -> None:
    assert deltas_of({"delta": {}, "finish_reason": raw}) == []


def test_only_the_first_candidate_is_read() -> None:
    chunk = {
        "choices": [
            {"index": 1, "delta": {"content": "B"}},
            {"index": 0, "delta": {"content": "A"}},
        ]
    }
    assert list(parse_chunk(chunk)) == [TextDelta("A")]
    assert list(parse_chunk({"choices": [{"index": 1, "delta": {"content": "B"}}]})) == []


@pytest.mark.parametrize(
    ("chunk", "usage"),
    [
        (
            {
                "choices": [],
                "usage": {
                    "prompt_tokens": 91,
                    "completion_tokens": 40,
                    "total_tokens": 131,
                    "completion_tokens_details": {"reasoning_tokens": 8},
                    "prompt_tokens_details": {"cached_tokens": 64},
                },
            },
            Usage(91, 40, 131, 8, 64),
        ),
        (  # xAI counts the reasoning beside the completion
            {
                "usage": {
                    "prompt_tokens": 506,
                    "completion_tokens": 12,
                    "total_tokens": 556,
                    "completion_tokens_details": {"reasoning_tokens": 38},
                }
            },
            Usage(506, 50, 556, 38),
        ),
        ({"usage": {"prompt_tokens": 3, "completion_tokens": 4}}, Usage(3, 4, 7)),
        (
            {"usage": {"prompt_tokens": None, "completion_tokens": "4", "total_tokens": 7.0}},
            Usage(0, 0, 7),
        ),
        ({"x_groq": {"usage": {"prompt_tokens": 3, "completion_tokens": 4}}}, Usage(3, 4, 7)),
        ({"usage": {"total_tokens": 9, "completion_tokens_details": None}}, Usage(0, 0, 9)),
    ],
)
def test_usage_is_read_wherever_it_stands(chunk: dict[str, Any], usage: Usage) -> None:
    assert list(parse_chunk(chunk)) == [UsageDelta(usage)]


@pytest.mark.parametrize("usage", [None, {}, [], "many", 7])
def test_what_is_no_usage_is_none(usage: Any) -> None:
    assert list(parse_chunk({"choices": [], "usage": usage})) == []


@pytest.mark.parametrize(
    "chunk",
    [
        {"error": {"message": "Provider returned error", "code": 502}, "choices": []},
        {"error": "overloaded"},
        {"object": "error", "message": "Internal Server Error", "code": 500},
    ],
)
def test_an_error_inside_a_200_is_raised_before_anything_is_read(chunk: dict[str, Any]) -> None:
    with pytest.raises(ProviderError, match="inside a 200"):
        list(parse_chunk(chunk))


# ---- anything at all -----------------------------------------------------------------------

WHOLE = {
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": [{"type": "text", "text": "Hi"}, {"thinking": [{"text": "Hm"}]}],
                "refusal": "No",
                "reasoning_content": "Hm",
                "reasoning_details": [{"type": "reasoning.text", "text": "Hm", "summary": "H"}],
                "tool_calls": [
                    {"id": "a", "index": 0, "function": {"name": "f", "arguments": '{"n": 1}'}}
                ],
                "function_call": {"name": "f", "arguments": "{}"},
            },
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {
        "prompt_tokens": 1,
        "completion_tokens": 1,
        "completion_tokens_details": {"reasoning_tokens": 1},
    },
}
PIECE = json.loads(json.dumps(WHOLE).replace('"message"', '"delta"'))
KEYS = st.sampled_from(sorted(keys_in(WHOLE) | {"delta", "error", "code", "details", "x_groq"}))


def survives(chunk: dict[str, Any]) -> None:
    """A chunk gives deltas or a typed error, and what is understood of it can be sent back."""
    try:
        assembler = Assembler(frozenset({"f"}))
        for delta in parse_chunk(chunk):
            assembler.add(delta)
        message = assembler.finish(complete=True).message
    except FreyaError:
        return
    message = assign_ids(message, {"call_1"}, "openai")
    results = [ToolMessage(call.id, "x") for call in message.tool_calls]
    request = ModelRequest((user("?"), message, *results))
    assert openai_faults(json.loads(build_request(request, ROUTE).body)) == []
    body = json.loads(gemini.build_request(request, ROUTE).body, parse_constant=pytest.fail)
    assert gemini_faults(body, must_be_signed=False) == []


@given(st.dictionaries(KEYS, json_values(KEYS), max_size=4))
def test_any_object_as_a_chunk_gives_deltas_or_a_typed_error(chunk: dict[str, Any]) -> None:
    survives(chunk)


@given(mutations(WHOLE) | mutations(PIECE))
def test_any_wrong_type_in_a_chunk_gives_deltas_or_a_typed_error(chunk: Any) -> None:
    if isinstance(chunk, dict):
        survives(chunk)


@given(st.data())
def test_any_mutation_of_a_recorded_chunk_gives_deltas_or_a_typed_error(at: st.DataObject) -> None:
    chunks = recorded_chunks()
    if not chunks:
        pytest.skip(f"there are no recordings in {recordings.FOLDER}")
    chunk = at.draw(mutations(at.draw(st.sampled_from(chunks))))
    if isinstance(chunk, dict):
        survives(chunk)


@functools.cache
def recorded_chunks() -> list[Any]:
    """The small ones of the first and last chunks of all recordings of this wire."""
    found: list[Any] = []
    for recording in recordings.load():
        if recording.adapter is openai.ADAPTER and recording.is_model_call:
            decoder = ChunkDecoder()
            chunks = decoder.feed(recording.raw) + decoder.end()
            found += [c for c in chunks[:3] + chunks[-3:] if len(json.dumps(c)) < 3000]
    return found


def test_arguments_as_deep_as_json_can_be_are_read_or_refused() -> None:
    for depth in (10, 900, 980, 990, 1000, 5000, 200_000):
        text = '{"a":' * depth + "1" + "}" * depth
        call = '{"function":{"name":"f","arguments":' + text + "}}"
        body = '{"choices":[{"delta":{"tool_calls":[' + call + ']},"finish_reason":"stop"}]}'
        try:
            reply = reply_of([body.encode()])
        except BadResponse:
            continue
        assert reply.message.tool_calls[0].arguments == text


# ---- recordings ----------------------------------------------------------------------------


def reply_of(pieces: Sequence[bytes]) -> Reply:
    """The reply that a body in these pieces gives."""
    decoder, assembler = ChunkDecoder(), Assembler()
    for chunk in [chunk for piece in pieces for chunk in decoder.feed(piece)] + decoder.end():
        for delta in parse_chunk(chunk):
            assembler.add(delta)
    return assembler.finish(complete=decoder.finished)


def plain_reading(body: Any) -> tuple[str, list[dict[str, str]]]:
    """Text and calls of the first candidate, by the shortest way that does for good servers."""
    if isinstance(body, str):
        lines = [line[5:].strip() for line in body.splitlines() if line.startswith("data:")]
        chunks = [json.loads(line) for line in lines if line not in ("", "[DONE]")]
    else:
        chunks = [body]
    text, calls = "", []
    for chunk in chunks:
        for choice in chunk["choices"]:
            if choice.get("index", 0) == 0:
                said = choice.get("message") or choice.get("delta") or {}
                text += plain_text(said.get("content")) + (said.get("refusal") or "")
                calls += said.get("tool_calls") or []
                legacy = said.get("function_call") or {}
                calls += [{"function": legacy}] if any(legacy.values()) else []
    return text, plain_calls(calls)


def plain_text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


def plain_calls(pieces: list[Any]) -> list[dict[str, str]]:
    """A piece with a name that is not that of its index so far begins a call."""
    calls: list[dict[str, str]] = []
    at: dict[Any, dict[str, str]] = {}
    for piece in pieces:
        index, function = piece.get("index"), piece["function"]
        id_, name = piece.get("id") or "", function.get("name") or ""
        known = at.get(index)
        if known is None or (id_ and id_ != known["id"]):
            known = at[index] = {"id": id_, "name": name, "arguments": ""}
            calls.append(known)
        known["arguments"] += function.get("arguments") or ""
    return calls


@recordings.each(
    lambda r: (
        r.adapter is openai.ADAPTER
        and r.is_model_call
        and r.status == 200
        and "error_in_200" not in r.kind
    )
)
def test_a_recorded_answer_is_what_a_plain_reading_finds_in_any_pieces(
    recording: Recording,
) -> None:
    raw = recording.raw
    text, calls = plain_reading(recording.body)
    reply = reply_of([raw])
    assert reply.message.text == text
    assert [
        {"id": c.id, "name": c.name, "arguments": c.arguments} for c in reply.message.tool_calls
    ] == calls
    assert (reply.finish_reason == "tool_calls") == (
        bool(calls) and reply.raw_finish_reason != "length"
    )
    for size in (7, 1):
        assert reply_of([raw[at : at + size] for at in range(0, len(raw), size)]) == reply


@recordings.each(lambda r: r.adapter is openai.ADAPTER and "error_in_200" in r.kind)
def test_a_recorded_error_inside_a_200_is_one(recording: Recording) -> None:
    with pytest.raises(RequestRefused, match="inside a 200") as caught:
        reply_of([recording.raw])
    assert caught.value.status == 200


@recordings.each(lambda r: r.adapter is openai.ADAPTER and r.status == 200 and not r.is_model_call)
def test_a_recorded_list_of_models_is_not_taken_for_an_answer(recording: Recording) -> None:
    with pytest.raises(BadResponse):
        reply_of([recording.raw])


@recordings.each(
    lambda r: (
        r.adapter is openai.ADAPTER
        and r.status == 200
        and isinstance(r.body, str)
        and "error_in_200" not in r.kind
    )
)
def test_a_recorded_stream_that_is_cut_before_its_finish_gives_no_calls(
    recording: Recording,
) -> None:
    """Whatever is left of an answer before its finish reason and `[DONE]` is not an answer."""
    raw = recording.raw
    marks = [found.start() for found in re.finditer(rb'"finish_reason": ?"[a-z]', raw)]
    end = min([*marks, raw.rfind(b"[DONE]") if b"[DONE]" in raw else len(raw)])
    for cut in {0, 1, 10, end // 3, end // 2, end - 1, end}:
        with pytest.raises(FreyaError) as caught:
            reply_of([raw[:cut]])
        assert type(caught.value).__name__ == "ResponseCut"


def as_history(recording: Recording) -> list[Message]:
    """The recorded conversation that was sent, in our messages; text parts only."""
    history: list[Message] = []
    for message in recording.request["body"]["messages"]:
        match message["role"]:
            case "system" | "developer":
                history.append(SystemMessage(plain_text(message["content"])))
            case "user":
                history.append(user(plain_text(message["content"])))
            case "assistant":
                calls = [
                    ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
                    for call in message.get("tool_calls") or []
                ]
                history.append(assistant(plain_text(message.get("content")), *calls))
            case "tool":
                history.append(ToolMessage(message["tool_call_id"], plain_text(message["content"])))
    return history


@recordings.each(
    lambda r: (
        r.adapter is openai.ADAPTER
        and r.status == 200
        and ("tool_result_turn" in r.kind or "after_results" in r.kind)
    )
)
def test_a_recorded_conversation_that_was_accepted_is_built_the_same_way(
    recording: Recording,
) -> None:
    """Same roles, ids, names, arguments and results as in a request that a real server took."""

    def essence(messages: list[Any]) -> list[Any]:
        return [
            (
                message["role"],
                message.get("tool_call_id"),
                plain_text(message.get("content")),
                [
                    (c["id"], c["function"]["name"], as_text(c["function"]["arguments"]))
                    for c in message.get("tool_calls") or []
                ],
            )
            for message in messages
            if message["role"] not in ("system", "developer")
        ]

    body = body_of(*as_history(recording))
    assert essence(body["messages"]) == essence(recording.request["body"]["messages"])


def test_a_picture_is_sent_byte_for_byte() -> None:
    data = bytes(range(256))
    url = body_of(user(ImagePart("image/webp", data)))["messages"][0]["content"][0]["image_url"][
        "url"
    ]
    assert base64.b64decode(url.removeprefix("data:image/webp;base64,")) == data


@given(ANY_TEXT)
def test_any_text_arrives_as_it_was(text: str) -> None:
    assert body_of(user(text))["messages"][0]["content"] == json.loads(json.dumps(text))
