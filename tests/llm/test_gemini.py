"""The Gemini wire: requests against the provider's own refusals, answers against recordings."""

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
    TranscriptError,
    UnsupportedContent,
)
from freya_teach.llm import gemini, openai
from freya_teach.llm.assembler import Assembler
from freya_teach.llm.gemini import CONTINUED, STEPS, UNSIGNED, build_request, parse_chunk
from freya_teach.llm.messages import (
    NO_DATA,
    AssistantMessage,
    ImagePart,
    Message,
    OpaquePart,
    ProviderData,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
    assistant,
    system,
    user,
)
from freya_teach.llm.protocol import (
    CallDelta,
    FinishDelta,
    ModelRequest,
    OpaqueDelta,
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
from tests.strategies import json_values, keys_in, mutations, valid_histories

ROUTE = Route("gemini", "gemini-3.8-flash", "https://api.example", "no-key-needed")
WEATHER = ToolSpec(
    "get_weather",
    "Current weather for one city",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


def signed(signature: str) -> ProviderData:
    return ProviderData("gemini", {"signature": signature})


OSLO = ToolCall("call_1", "get_weather", '{"city": "Oslo"}', signed("signature-1"))
BERGEN = ToolCall("call_2", "get_weather", '{"city": "Bergen"}')
RESULTS = (ToolMessage("call_1", "3 °C"), ToolMessage("call_2", "station offline", is_error=True))


def build(*messages: Message, model: str = ROUTE.model, **more: Any) -> WireRequest:
    route = Route(ROUTE.provider, model, ROUTE.endpoint, ROUTE.api_key)
    return build_request(ModelRequest(messages, **more), route)


def body_of(*messages: Message, model: str = ROUTE.model, **more: Any) -> dict[str, Any]:
    body = json.loads(build(*messages, model=model, **more).body)
    assert isinstance(body, dict)
    return body


def contents_of(*messages: Message, model: str = ROUTE.model) -> list[dict[str, Any]]:
    contents = body_of(*messages, model=model)["contents"]
    assert isinstance(contents, list)
    return contents


def text(role: str, *texts: str) -> dict[str, Any]:
    """A content of this role that holds texts only."""
    return {"role": role, "parts": [{"text": text} for text in texts]}


# ---- there ---------------------------------------------------------------------------------


def test_a_whole_request_looks_as_the_reference_shows_it() -> None:
    wire = build(
        system("Be brief."),
        system("Be kind."),
        user("Weather in Oslo and Bergen?"),
        assistant("I look.", OSLO, BERGEN),
        RESULTS[1],
        RESULTS[0],
        tools=(WEATHER,),
        max_output_tokens=4000,
    )
    assert wire.url == "https://api.example/v1beta/models/gemini-3.8-flash:generateContent"
    assert wire.headers == {
        "content-type": "application/json",
        "x-goog-api-key": "no-key-needed",
    }
    oslo, bergen = {"city": "Oslo"}, {"city": "Bergen"}
    assert json.loads(wire.body) == {
        "systemInstruction": {"parts": [{"text": "Be brief."}, {"text": "Be kind."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Weather in Oslo and Bergen?"}]},
            {
                "role": "model",
                "parts": [
                    {"text": "I look."},
                    {
                        "functionCall": {"id": "call_1", "name": "get_weather", "args": oslo},
                        "thoughtSignature": "signature-1",
                    },
                    {"functionCall": {"id": "call_2", "name": "get_weather", "args": bergen}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {
                        "functionResponse": {
                            "id": "call_1",
                            "name": "get_weather",
                            "response": {"output": "3 °C"},
                        }
                    },
                    {
                        "functionResponse": {
                            "id": "call_2",
                            "name": "get_weather",
                            "response": {"error": "station offline"},
                        }
                    },
                ],
            },
        ],
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "get_weather",
                        "description": "Current weather for one city",
                        "parametersJsonSchema": WEATHER.parameters,
                    }
                ]
            }
        ],
        "generationConfig": {"maxOutputTokens": 4000},
    }


def test_a_stream_is_asked_for_as_server_sent_events() -> None:
    wire = build(user("Hi"), stream=True)
    assert wire.url.endswith("/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse")
    assert wire.body == build(user("Hi")).body


def test_the_key_stands_in_the_header_only() -> None:
    for stream in (False, True):
        wire = build(user("Hi"), stream=stream)
        assert "no-key-needed" not in wire.url + wire.body.decode() + repr(wire)
    keyless = build_request(ModelRequest((user("Hi"),)), dataclasses.replace(ROUTE, api_key=""))
    assert keyless.headers == {"content-type": "application/json"}


def test_a_model_may_be_named_with_its_prefix() -> None:
    assert build(user("Hi"), model="models/gemini-3.8-flash").url == build(user("Hi")).url


def test_a_user_message_carries_text_and_pictures() -> None:
    picture = ImagePart("image/png", b"\x89PNG")
    assert contents_of(user("See:", picture, "", "What is it?")) == [
        {
            "role": "user",
            "parts": [
                {"text": "See:"},
                {"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}},
                {"text": "What is it?"},
            ],
        }
    ]


def test_the_address_of_a_picture_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(UnsupportedContent, match=r"bytes, not its address: https://pictures"):
        build(user(ImagePart("image/png", url="https://pictures.example/cat.png")))


def test_a_late_system_message_is_said_by_the_user() -> None:
    assert contents_of(user("Hi"), assistant("Hello"), system("Finish now.")) == [
        text("user", "Hi"),
        text("model", "Hello"),
        text("user", "Finish now."),
    ]


@pytest.mark.parametrize(
    ("raw", "args"),
    [
        ('{"city": "北京"}', {"city": "北京"}),
        ("", {}),
        (" \n", {}),
        ("{}", {}),
        ('{"city": "Os', {"_raw": '{"city": "Os'}),
        ("[1]", {"_raw": "[1]"}),
        ("null", {"_raw": "null"}),
        ('"Oslo"', {"_raw": '"Oslo"'}),
        ('{"n": NaN}', {"_raw": '{"n": NaN}'}),
        ('{"n": 1e999}', {"_raw": '{"n": 1e999}'}),
        ("[" * 100_000, {"_raw": "[" * 100_000}),
    ],
)
def test_arguments_are_an_object_whatever_the_model_wrote(raw: str, args: dict[str, Any]) -> None:
    call = ToolCall("call_1", "get_weather", raw)
    (_, content, _) = contents_of(user("?"), assistant(call), RESULTS[0])
    assert content["parts"][0]["functionCall"]["args"] == args


def test_a_signature_goes_back_on_exactly_its_part() -> None:
    message = assistant(
        ReasoningPart("Hm.", signed("on a thought")),
        ReasoningPart("Not signed, not wanted."),
        TextPart("I look ", signed("on a text")),
        TextPart("twice."),
        BERGEN,
        OSLO,
        TextPart("", signed("on an empty text")),
        TextPart(""),
    )
    (_, content, _) = contents_of(user("?"), message, *RESULTS, model="gemini-2.5-flash")
    assert content["parts"] == [
        {"text": "Hm.", "thought": True, "thoughtSignature": "on a thought"},
        {"text": "I look ", "thoughtSignature": "on a text"},
        {"text": "twice."},
        {"functionCall": {"id": "call_2", "name": "get_weather", "args": {"city": "Bergen"}}},
        {
            "functionCall": {"id": "call_1", "name": "get_weather", "args": {"city": "Oslo"}},
            "thoughtSignature": "signature-1",
        },
        {"text": "", "thoughtSignature": "on an empty text"},
    ]


def test_calls_of_another_provider_get_a_stand_in_on_the_first_of_each_turn() -> None:
    foreign = ProviderData("openai", {"signature": "not Gemini's"})
    first = ToolCall("call_1", "get_weather", "{}", foreign)
    second = ToolCall("call_2", "get_weather", "{}", foreign)
    (_, content, _) = contents_of(user("?"), assistant(first, second), *RESULTS)
    assert [part.get("thoughtSignature") for part in content["parts"]] == [UNSIGNED, None]


def test_an_id_that_gemini_gave_goes_back_though_ours_is_another() -> None:
    """More than 40 characters are refused by OpenAI, so the history holds a shorter one."""
    long = ToolCall("g" * 50, "get_weather", "{}")
    message = assign_ids(assistant(long), set(), "gemini")
    (_, call, result) = contents_of(user("?"), message, ToolMessage("call_1", "3 °C"))
    assert call["parts"][0]["functionCall"]["id"] == "g" * 50
    assert result["parts"][0]["functionResponse"]["id"] == "g" * 50


def test_an_id_that_gemini_gave_twice_is_told_apart() -> None:
    calls = assistant(ToolCall("same", "f", "{}"), ToolCall("same", "g", "{}"))
    message = assign_ids(calls, set(), "gemini")
    results = [ToolMessage(call.id, call.name) for call in reversed(message.tool_calls)]
    contents = contents_of(user("?"), message, *results)
    ids = [part["functionCall"]["id"] for part in contents[1]["parts"]]
    assert len(set(ids)) == 2
    assert [p["functionResponse"]["response"]["output"] for p in contents[2]["parts"]] == ["f", "g"]
    assert [p["functionResponse"]["id"] for p in contents[2]["parts"]] == ids


@pytest.mark.parametrize(
    ("parameters", "declared"),
    [
        ({"type": "object", "properties": {}}, None),
        ({}, None),
        (
            {"type": "object", "properties": {"n": {"type": "integer"}}, "title": "F"},
            {"type": "object", "properties": {"n": {"type": "integer"}}},
        ),
        (
            {"$ref": "#/$defs/F", "$defs": {"F": {"type": "object", "properties": {"n": {}}}}},
            {"type": "object", "properties": {"n": {}}},
        ),
    ],
)
def test_a_tool_without_parameters_has_no_schema(
    parameters: dict[str, Any], declared: dict[str, Any] | None
) -> None:
    body = body_of(user("?"), tools=(ToolSpec("f", "", parameters),))
    (declaration,) = body["tools"][0]["functionDeclarations"]
    assert declaration.get("parametersJsonSchema") == declared
    assert declaration["description"] == "f", "a description is required"


def test_without_tools_there_is_no_tool_field() -> None:
    assert set(body_of(user("?"))) == {"contents"}


def test_a_broken_history_is_not_sent() -> None:
    with pytest.raises(TranscriptError):
        build(user("?"), assistant(OSLO))


# ---- the provider's rules ------------------------------------------------------------------


@given(valid_histories(), st.sampled_from(["gemini-3.8-flash", "gemini-2.5-flash"]))
def test_every_valid_history_becomes_a_request_that_keeps_the_rules(
    history: list[Message], model: str
) -> None:
    raw = build(*history, model=model).body
    body = json.loads(raw, parse_constant=pytest.fail)
    assert gemini_faults(body, must_be_signed=model == "gemini-3.8-flash") == []
    parts = [part for content in body["contents"] for part in content["parts"]]
    assert all(isinstance(p["functionCall"]["args"], dict) for p in parts if "functionCall" in p)


def what_was_said(history: list[Message]) -> list[tuple[str, str, Any]]:
    """Role, words and Gemini's signature of everything that has a place on the wire, in order."""
    said: list[tuple[str, str, Any]] = []
    for message in history[next((i for i, m in enumerate(history) if m.role != "system"), 99) :]:
        match message:
            case AssistantMessage():
                for part in message.parts:
                    signature = part.provider_data.for_issuer("gemini").get("signature")
                    words = "call" if isinstance(part, ToolCall) else part.text
                    if (words and not isinstance(part, ReasoningPart)) or signature:
                        said.append(("model", words, signature))
            case UserMessage():
                words = [p.text if isinstance(p, TextPart) else "picture" for p in message.parts]
                said += [("user", word, None) for word in words if word]
            case ToolMessage():
                said.append(("user", "result", None))
            case _ if message.text:
                said.append(("user", message.text, None))
    return said


@given(valid_histories())
def test_nothing_that_was_said_is_lost_doubled_moved_or_signed_for_another(
    history: list[Message],
) -> None:
    found = []
    for content in contents_of(*history, model="gemini-2.5-flash"):
        for part in content["parts"]:
            kinds = {"functionCall": "call", "functionResponse": "result", "inlineData": "picture"}
            words = next((kinds[key] for key in part if key in kinds), part.get("text"))
            found.append((content["role"], words, part.get("thoughtSignature")))
    note = ("user", CONTINUED, None)
    said = [tuple(entry) for entry in json.loads(json.dumps(what_was_said(history)))]
    assert [entry for entry in found if entry != note] == said


# ---- a step less ---------------------------------------------------------------------------


def without(name: str, *messages: Message, **more: Any) -> dict[str, Any]:
    """The request body that is built when one step is taken out."""
    steps = [step for step in STEPS if step.name != name]
    assert len(steps) == len(STEPS) - 1
    body = json.loads(build_request(ModelRequest(messages, **more), ROUTE, steps).body)
    assert isinstance(body, dict)
    return body


def test_without_check_transcript_an_unanswered_call_is_sent() -> None:
    body = without("check_transcript", user("?"), assistant(OSLO, BERGEN), RESULTS[1])
    assert "number of function response parts is equal to function call parts" in gemini_faults(
        body
    )


def test_without_check_transcript_a_result_without_its_call_is_sent() -> None:
    body = without("check_transcript", user("?"), assistant("Hi"), RESULTS[1], RESULTS[0])
    assert "function response turn comes immediately after a function call turn" in gemini_faults(
        body
    )


def test_without_hoist_system_the_instructions_are_missing() -> None:
    body = without("hoist_system", system("Be brief."), user("?"))
    assert body == {"contents": [text("user", "?")]}


def test_without_to_contents_the_question_is_missing() -> None:
    assert without("to_contents", user("?")) == {"contents": [text("user", CONTINUED)]}


def test_without_group_tool_results_each_result_has_a_content_of_its_own() -> None:
    """eino-ext#572, hermes-agent#22261: the most often reported fault of all."""
    body = without("group_tool_results", user("?"), assistant(OSLO, BERGEN), *RESULTS)
    assert "number of function response parts is equal to function call parts" in gemini_faults(
        body
    )


def test_without_merge_consecutive_one_role_speaks_twice() -> None:
    body = without(
        "merge_consecutive", user("a"), user("b"), assistant("c"), assistant("d"), user("e")
    )
    assert [content["role"] for content in body["contents"]] == [
        "user",
        "user",
        "model",
        "model",
        "user",
    ]
    assert set(gemini_faults(body)) == {"multiturn requests alternate between user and model"}


def test_without_start_with_user_a_call_comes_first() -> None:
    body = without("start_with_user", system("x"), assistant(OSLO), RESULTS[0])
    assert gemini_faults(body) == ["function call turn comes immediately after a user turn"]


def test_without_end_with_user_the_model_has_the_last_word() -> None:
    body = without("end_with_user", user("?"), assistant("Hi"))
    assert gemini_faults(body) == ["Requests ending with a model turn are not supported"]


def test_without_sign_foreign_calls_the_signature_is_missing() -> None:
    body = without("sign_foreign_calls", user("?"), assistant(BERGEN), RESULTS[1])
    assert gemini_faults(body) == ["Function call is missing a thought_signature"]


def test_without_declare_tools_the_model_knows_no_tool() -> None:
    assert set(without("declare_tools", user("?"), tools=(WEATHER,))) == {"contents"}


def test_without_limit_output_the_answer_may_be_of_any_length() -> None:
    assert set(without("limit_output", user("?"), max_output_tokens=9)) == {"contents"}


def test_each_step_has_a_test_of_what_happens_without_it_and_names_its_source() -> None:
    tested = {name for name in globals() if name.startswith("test_without_")}
    for step in STEPS:
        assert any(name.startswith(f"test_without_{step.name}") for name in tested), step.name
        assert step.rule
        assert step.models
        assert step.source


def test_with_all_steps_none_of_these_faults_is_left() -> None:
    for messages in (
        [user("?"), assistant(OSLO, BERGEN), *RESULTS],
        [user("a"), user("b"), assistant("c"), assistant("d"), user("e")],
        [system("x"), assistant(OSLO), RESULTS[0]],
        [user("?"), assistant("Hi")],
        [user("?"), assistant(BERGEN), RESULTS[1]],
        [system("x")],
        [user("")],
        [],
    ):
        assert gemini_faults(body_of(*messages)) == []


# ---- back ----------------------------------------------------------------------------------


def opaque(kind: str, part: dict[str, Any]) -> OpaqueDelta:
    return OpaqueDelta(OpaquePart(kind, ProviderData("gemini", part)))


def deltas_of(*parts: Any, **candidate: Any) -> list[Any]:
    return list(parse_chunk({"candidates": [{"content": {"parts": list(parts)}, **candidate}]}))


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"text": "Hi"}, [TextDelta("Hi")]),
        ({"text": ""}, [TextDelta("")]),
        ({"text": "", "thoughtSignature": "s"}, [TextDelta("", signed("s"))]),
        ({"text": "Hi", "thoughtSignature": "s"}, [TextDelta("Hi", signed("s"))]),
        ({"text": "Hi", "thought_signature": "s"}, [TextDelta("Hi", signed("s"))]),
        ({"text": "Hm", "thought": True}, [ReasoningDelta("Hm")]),
        ({"text": "Hm", "thought": False}, [TextDelta("Hm")]),
        (
            {"functionCall": {"id": "a", "name": "f", "args": {"n": 1}}, "thoughtSignature": "s"},
            [CallDelta(None, "a", "f", '{"n":1}', whole=True, provider_data=signed("s"))],
        ),
        ({"functionCall": {"name": "f"}}, [CallDelta(None, "", "f", "{}", whole=True)]),
        (
            {"functionCall": {"name": "f", "args": None}},
            [CallDelta(None, "", "f", "{}", whole=True)],
        ),
        (
            {"functionCall": {"name": "f", "args": "x"}},
            [CallDelta(None, "", "f", "{}", whole=True)],
        ),
        ({"functionCall": {}}, []),
        ({"functionCall": "f"}, []),
        (
            {"executableCode": {"code": "1"}, "thoughtSignature": "s"},
            [opaque("executableCode", {"executableCode": {"code": "1"}, "thoughtSignature": "s"})],
        ),
        ({"text": 7}, []),
        ({}, []),
        (None, []),
        ("Hi", []),
    ],
)
def test_a_part_gives_the_deltas_that_it_holds(part: Any, expected: list[Any]) -> None:
    assert deltas_of(part) == expected


@pytest.mark.parametrize(
    "chunk",
    [
        {},
        {"candidates": None},
        {"candidates": []},
        {"candidates": [None]},
        {"candidates": [{}]},
        {"candidates": [{"content": None}]},
        {"candidates": [{"content": {}}]},
        {"candidates": [{"content": {"role": "model"}}]},
        {"candidates": [{"content": {"parts": None}}]},
        {"candidates": {"content": {"parts": [{"text": "x"}]}}},
        {"usageMetadata": None, "promptFeedback": None},
        {"promptFeedback": {}},
    ],
)
def test_what_is_missing_gives_nothing(chunk: dict[str, Any]) -> None:
    assert list(parse_chunk(chunk)) == []


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("CONTINUATION", "length"),
        ("SAFETY", "content_filter"),
        ("RECITATION", "content_filter"),
        ("BLOCKLIST", "content_filter"),
        ("PROHIBITED_CONTENT", "content_filter"),
        ("SPII", "content_filter"),
        ("LANGUAGE", "content_filter"),
        ("IMAGE_SAFETY", "content_filter"),
        ("ESCALATION", "content_filter"),
        ("MODEL_ARMOR", "content_filter"),
        ("MALFORMED_FUNCTION_CALL", "error"),
        ("MALFORMED_RESPONSE", "error"),
        ("UNEXPECTED_TOOL_CALL", "error"),
        ("TOO_MANY_TOOL_CALLS", "error"),
        ("MISSING_THOUGHT_SIGNATURE", "error"),
        ("OTHER", "unknown"),
        ("A_NEW_REASON", "unknown"),
    ],
)
def test_a_finish_reason_is_ours_and_the_providers_own_word_beside_it(
    raw: str, reason: Any
) -> None:
    assert deltas_of(finishReason=raw) == [FinishDelta(reason, raw)]


@pytest.mark.parametrize(("raw", "reason"), [(1, "stop"), (2, "length"), (99, "unknown")])
def test_a_gateway_that_sends_enums_as_numbers_is_understood(raw: int, reason: Any) -> None:
    assert deltas_of(finishReason=raw) == [FinishDelta(reason, str(raw))]


@pytest.mark.parametrize("raw", [None, "", [], {"x": 1}])
def test_what_is_no_finish_reason_is_none(raw: Any) -> None:
    assert deltas_of(finishReason=raw) == []


def test_a_blocked_prompt_is_a_finish_without_candidates() -> None:
    chunk = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {}}
    assert list(parse_chunk(chunk)) == [FinishDelta("content_filter", "PROHIBITED_CONTENT")]


def test_thinking_counts_as_output_and_a_tool_prompt_as_input() -> None:
    counts = {
        "promptTokenCount": 29,
        "toolUsePromptTokenCount": 5,
        "candidatesTokenCount": 15,
        "thoughtsTokenCount": 80,
        "cachedContentTokenCount": 4,
        "totalTokenCount": 129,
    }
    assert list(parse_chunk({"usageMetadata": counts})) == [UsageDelta(Usage(34, 95, 129, 80, 4))]
    assert list(parse_chunk({"usageMetadata": {"promptTokenCount": 3}})) == [
        UsageDelta(Usage(3, 0, 3))
    ]


@pytest.mark.parametrize(
    "chunk",
    [
        {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}},
        {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}, "candidates": []},
    ],
)
def test_an_error_inside_a_200_is_raised_before_anything_is_read(chunk: dict[str, Any]) -> None:
    with pytest.raises(ProviderError, match="inside a 200"):
        list(parse_chunk(chunk))


# ---- anything at all -----------------------------------------------------------------------

WHOLE = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {"text": "Hm", "thought": True},
                    {"text": "Hi", "thoughtSignature": "s"},
                    {"functionCall": {"id": "a", "name": "f", "args": {"n": 1}}},
                ],
            },
            "finishReason": "STOP",
            "index": 0,
        }
    ],
    "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "thoughtsTokenCount": 1},
    "promptFeedback": {"safetyRatings": []},
}
KEYS = st.sampled_from(
    sorted(keys_in(WHOLE) | {"error", "code", "details", "blockReason", "violations", "status"})
)


def survives(chunk: dict[str, Any]) -> None:
    """A chunk gives deltas or a typed error, and what is understood of it can be sent back."""
    try:
        assembler = Assembler(frozenset({"f"}))
        for delta in parse_chunk(chunk):
            assembler.add(delta)
        message = assembler.finish(complete=True).message
    except FreyaError:
        return
    message = assign_ids(message, {"call_1"}, "gemini")
    results = [ToolMessage(call.id, "x") for call in message.tool_calls]
    request = ModelRequest((user("?"), message, *results))
    raw = build_request(request, ROUTE).body
    assert gemini_faults(json.loads(raw, parse_constant=pytest.fail)) == []
    if any(isinstance(part, OpaquePart) for part in message.parts):
        with pytest.raises(UnsupportedContent, match="which came from gemini"):
            openai.build_request(request, ROUTE)
        return
    body = json.loads(openai.build_request(request, ROUTE).body, parse_constant=pytest.fail)
    assert openai_faults(body) == []


@given(st.dictionaries(KEYS, json_values(KEYS), max_size=4))
def test_any_object_as_a_chunk_gives_deltas_or_a_typed_error(chunk: dict[str, Any]) -> None:
    survives(chunk)


@given(mutations(WHOLE))
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
        if recording.adapter is gemini.ADAPTER and recording.is_model_call:
            decoder = ChunkDecoder()
            chunks = decoder.feed(recording.raw) + decoder.end()
            found += [c for c in chunks[:3] + chunks[-3:] if len(json.dumps(c)) < 3000]
    return found


# ---- recordings ----------------------------------------------------------------------------


def reply_of(pieces: Sequence[bytes]) -> Reply:
    """The reply that a body in these pieces gives."""
    decoder, assembler = ChunkDecoder(), Assembler()
    for chunk in [chunk for piece in pieces for chunk in decoder.feed(piece)] + decoder.end():
        for delta in parse_chunk(chunk):
            assembler.add(delta)
    return assembler.finish(complete=decoder.finished)


def plain_parts(body: Any) -> list[dict[str, Any]]:
    """All parts of the first candidate, by the shortest way that does for a good answer."""
    if isinstance(body, str):
        lines = [line[5:].strip() for line in body.splitlines() if line.startswith("data:")]
        chunks = [json.loads(line) for line in lines if line]
    else:
        chunks = body if isinstance(body, list) else [body]
    candidates = [chunk["candidates"][0] for chunk in chunks if chunk.get("candidates")]
    return [part for c in candidates for part in c.get("content", {}).get("parts", [])]


def is_answer(recording: Recording) -> bool:
    return (
        recording.adapter is gemini.ADAPTER and recording.is_model_call and recording.status == 200
    )


@recordings.each(is_answer)
def test_a_recorded_answer_is_what_a_plain_reading_finds_in_any_pieces(
    recording: Recording,
) -> None:
    raw = recording.raw
    parts = plain_parts(recording.body)
    texts = [part for part in parts if "text" in part]
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    reply = reply_of([raw])
    assert reply.message.text == "".join(p["text"] for p in texts if not p.get("thought"))
    assert reply.message.reasoning == "".join(p["text"] for p in texts if p.get("thought"))
    assert [(c.id, c.name, json.loads(c.arguments)) for c in reply.message.tool_calls] == [
        (call.get("id", ""), call["name"], call.get("args", {})) for call in calls
    ]
    assert (reply.finish_reason == "tool_calls") == bool(calls)
    for size in (7, 1):
        assert reply_of([raw[at : at + size] for at in range(0, len(raw), size)]) == reply


@recordings.each(is_answer)
def test_a_recorded_signature_goes_back_on_exactly_its_part(recording: Recording) -> None:
    message = assign_ids(reply_of([recording.raw]).message, set(), "gemini")
    results = [ToolMessage(call.id, "x") for call in message.tool_calls]
    contents = contents_of(user("?"), message, *results)
    sent = [part for content in contents if content["role"] == "model" for part in content["parts"]]

    def signatures(parts: list[Any]) -> list[tuple[str, Any]]:
        found = []
        for part in parts:
            key = next(key for key in part if key not in ("thought", "thoughtSignature"))
            value = part[key]
            words = (value["name"], value.get("args", {})) if key == "functionCall" else value
            if part.get("thoughtSignature", UNSIGNED) != UNSIGNED and key in (
                "text",
                "functionCall",
            ):
                found.append((part["thoughtSignature"], words))
        return found

    assert signatures(sent) == signatures(plain_parts(recording.body))
    assert gemini_faults(body_of(user("?"), message, *results)) == []


@recordings.each(lambda r: r.adapter is gemini.ADAPTER and r.status == 200 and not r.is_model_call)
def test_a_recorded_count_of_tokens_is_not_taken_for_an_answer(recording: Recording) -> None:
    with pytest.raises(BadResponse):
        reply_of([recording.raw])


@recordings.each(lambda r: is_answer(r) and isinstance(r.body, str))
def test_a_recorded_stream_that_is_cut_before_its_finish_gives_no_calls(
    recording: Recording,
) -> None:
    raw = recording.raw
    end = raw.index(b'"finishReason"')
    for cut in {0, 1, 10, end // 3, end // 2, end - 1, end}:
        with pytest.raises(FreyaError) as caught:
            reply_of([raw[:cut]])
        assert type(caught.value).__name__ == "ResponseCut"


def contents_in(recording: Recording) -> list[Any]:
    """The contents that were sent, in the spelling of the reference."""
    return [snake_to_camel(content) for content in recording.request["body"]["contents"]]


def snake_to_camel(value: Any) -> Any:
    """Keys as the reference spells them; what is inside args and responses stays."""
    if isinstance(value, list):
        return [snake_to_camel(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        re.sub(r"_([a-z])", lambda m: m[1].upper(), key): item
        if key in ("args", "response")
        else snake_to_camel(item)
        for key, item in value.items()
    }


def as_history(contents: list[Any]) -> list[Message] | None:
    """The conversation in our messages, or None if it is none that we would have."""
    history: list[Message] = []
    for number, content in enumerate(contents):
        if named_only(content["parts"], "functionResponse"):
            calls = history[-1].tool_calls if isinstance(history[-1], AssistantMessage) else ()
            if len(calls) != len(content["parts"]):
                return None
            history += [ToolMessage(call.id, "x") for call in calls]
            continue
        parts = [
            as_part(part, f"call_{number}_{place}") for place, part in enumerate(content["parts"])
        ]
        if None in parts:
            return None
        history.append(assistant(*parts) if content.get("role") == "model" else user(*parts))
    return history if any(isinstance(message, ToolMessage) for message in history) else None


def named_only(parts: list[Any], kind: str) -> bool:
    return all(kind in part for part in parts)


def as_part(part: dict[str, Any], id_: str) -> Any:
    """The part in our shape, or None if there is none."""
    data = signed(part["thoughtSignature"]) if "thoughtSignature" in part else NO_DATA
    match part:
        case {"text": str(words)}:
            return TextPart(words, data)
        case {"functionCall": call}:
            return ToolCall(id_, call["name"], json.dumps(call["args"]), data)
        case _:
            return None


def is_conversation(recording: Recording) -> bool:
    """Whether tools were used before, and the results of a turn stand in one content."""
    return is_answer(recording) and as_history(contents_in(recording)) is not None


@recordings.each(is_conversation)
def test_a_recorded_conversation_that_was_accepted_is_built_the_same_way(
    recording: Recording,
) -> None:
    """Contents of a request that the real server took, read into our messages and built again."""
    contents = contents_in(recording)
    history = as_history(contents)
    assert history is not None
    assert essence(contents_of(*history, model="gemini-2.5-flash")) == essence(contents)


def essence(contents: list[Any]) -> list[Any]:
    """Who says what, in order, and with which signature; neighbours of a role as one."""
    return [
        (
            content.get("role", "user"),
            part.get("text"),
            part.get("functionCall", {}).get("name"),
            part.get("functionCall", {}).get("args"),
            part.get("functionResponse", {}).get("name"),
            part.get("thoughtSignature"),
        )
        for content in contents
        for part in content["parts"]
        if part.get("text") != "" or "thoughtSignature" in part
    ]


def test_a_part_of_a_type_that_nobody_knows_is_refused_by_its_name() -> None:
    with pytest.raises(UnsupportedContent, match="a part with the fields holograph"):
        deltas_of({"holograph": {"x": 1}})
