"""Each event of a stream, and what it adds to the reply."""

import json
from typing import Any

import pytest

from freya_teach.errors import ProviderError, ResponseCut
from freya_teach.lab.views.pieces import folded, moments, state_of
from freya_teach.llm.messages import Json

TOOLS = ("get_weather", "calculate")


def piece(**call: Json) -> dict[str, Json]:
    """Make an event that holds one piece of a tool call."""
    return {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}


def finish(reason: str = "tool_calls") -> dict[str, Json]:
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def sse(*events: Any) -> bytes:
    return "".join(f"data: {json.dumps(e, ensure_ascii=False)}\n\n" for e in events).encode()


BEGIN = piece(index=0, id="a", function={"name": "get_weather", "arguments": ""})
MIDDLE = piece(index=0, function={"arguments": '{"city":'})
REST = piece(index=0, function={"arguments": '"北京"}'})
OTHER = piece(index=1, id="b", function={"name": "calculate", "arguments": "{}"})
WHOLE = (BEGIN, MIDDLE, OTHER, REST, finish())


def test_each_event_tells_what_it_adds_and_to_which_call() -> None:
    found = moments(WHOLE, "openai", TOOLS)
    assert [(m.added, sorted(m.touched)) for m in found] == [
        (('call 1: begins, id + "a", name + "get_weather"',), [0]),
        (('call 1: arguments + "{\\"city\\":"',), [0]),
        (('call 2: begins, id + "b", name + "calculate", arguments + "{}"',), [1]),
        (('call 1: arguments + "\\"北京\\"}"',), [0]),
        (('finish reason: "tool_calls"',), []),
        ((), []),
    ]
    assert [m.is_end for m in found] == [False] * 5 + [True]


def test_text_reasoning_and_usage_are_told_too() -> None:
    events = [
        {"choices": [{"index": 0, "delta": {"reasoning_content": "Hm."}}]},
        {"choices": [{"index": 0, "delta": {"content": "Hel"}}]},
        {"choices": [{"index": 0, "delta": {"content": "lo"}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}},
    ]
    found = moments(events, "openai", ())
    assert [m.added for m in found[:4]] == [
        ('reasoning: + "Hm."',),
        ('text: + "Hel"',),
        ('text: + "lo"', 'finish reason: "stop"'),
        ("usage: 11 tokens",),
    ]


def test_a_repeat_adds_nothing() -> None:
    again = piece(index=0, id="a", function={"name": "get_weather", "arguments": ""})
    found = moments([BEGIN, again, finish()], "openai", TOOLS)
    assert found[1].added == ()
    assert found[1].touched == frozenset()


@pytest.mark.parametrize("step", [1, 2, 3, 7, 1000])
def test_how_the_network_cuts_the_body_changes_nothing(step: int) -> None:
    body = sse(*WHOLE)
    cut = [body[at : at + step] for at in range(0, len(body), step)]
    assert moments(cut, "openai", TOOLS) == moments(body, "openai", TOOLS)
    assert moments(body, "openai", TOOLS) == moments(WHOLE, "openai", TOOLS)


def test_geminis_calls_come_whole() -> None:
    parts = [{"functionCall": {"name": "get_weather", "args": {"city": "Oslo"}}}]
    event = {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}
    only, end = moments(sse(event), "gemini", TOOLS)
    assert only.added == (
        'call 1: begins, name + "get_weather", arguments + "{\\"city\\":\\"Oslo\\"}"',
        'finish reason: "STOP"',
    )
    assert end.reply
    assert end.reply.finish_reason == "tool_calls"


def test_a_cut_stream_ends_in_its_error_and_in_no_reply() -> None:
    end = moments([BEGIN, MIDDLE], "openai", TOOLS)[-1]
    assert isinstance(end.error, ResponseCut)
    assert end.reply is None
    assert end.message.tool_calls[0].arguments == '{"city":'
    in_an_event = moments(sse(*WHOLE)[:-100], "openai", TOOLS)[-1]
    assert isinstance(in_an_event.error, ResponseCut)


def test_nothing_is_read_behind_an_error_inside_a_200() -> None:
    error = {"error": {"message": "out of memory", "code": 500}}
    found = moments([BEGIN, error, MIDDLE, finish()], "openai", TOOLS)
    assert len(found) == 3
    assert isinstance(found[-1].error, ProviderError)
    assert found[-1].number == 2


@pytest.mark.parametrize("body", [b"", b"<html>", b"nonsense", b"data: {}\n\n", []])
def test_a_body_that_is_no_answer_is_one_step_with_an_error(body: Any) -> None:
    found = moments(body, "openai", ())
    assert found[-1].error
    assert found[-1].is_end


def test_an_unknown_wire_is_refused_with_the_names_of_both() -> None:
    with pytest.raises(ValueError, match=r"no wire 'grpc': 'openai' or 'gemini'"):
        moments(b"", "grpc", ())


@pytest.mark.parametrize(
    ("arguments", "state"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ('{"a":', "not JSON yet"),
        ('{"a":1}', "a JSON object"),
        ("[1]", "JSON, but no object"),
        ('{"a":1}{"b":2}', "not JSON yet"),
        ('{"a":"\ud83d"}', "a JSON object"),
    ],
)
def test_the_state_of_arguments_is_told(arguments: str, state: str) -> None:
    assert state_of(arguments, final=False) == state
    assert state_of(arguments, final=True) == state.removesuffix(" yet")


def test_what_the_last_event_had_too_is_only_named() -> None:
    assert folded({"id": "x", "n": 1}, {}) == '{"id":"x","n":1}'
    assert folded({"id": "x", "n": 2}, {"id": "x", "n": 1}) == '{"n":2} and as before: id'
