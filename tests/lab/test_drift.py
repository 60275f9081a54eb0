"""What a server answers differently: its words, or the shape that code relies on."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from freya_teach.config import Settings
from freya_teach.lab.difference import ABSENT
from freya_teach.lab.drift import Drift, as_json, ask_again, compare, shape_of
from freya_teach.lab.record import Heard
from freya_teach.lab.recording import Recording, load_recording
from freya_teach.paths import course_folder

FIXTURES = course_folder("fixtures")
FILES = sorted(FIXTURES.rglob("*.json"))
WHOLE = FIXTURES / "4.2" / "whole" / "01.json"
STREAM = FIXTURES / "4.2" / "stream" / "01.json"
GEMINI = FIXTURES / "2.3" / "weather-gemini" / "01.json"
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b", "content"]), inner, max_size=3)
    ),
    max_leaves=10,
)
KEY = "key-of-a-test-0123456789"


def answered(path: Path, change: Callable[[dict[str, Any]], None]) -> Drift:
    """Compare a recording with the same answer, changed in one way."""
    recording = load_recording(path)
    response = copy.deepcopy(recording.response)
    change(response)
    return compare(recording, Heard(recording.request, response))


def told(drift: Drift) -> list[str]:
    """All differences, one line each."""
    return [difference.told("then", "now") for difference in (*drift.shape, *drift.words)]


def message(response: dict[str, Any]) -> Any:
    """The message in a whole answer of OpenAI's wire."""
    return response["body"]["choices"][0]["message"]


def edit(old: str, new: str) -> Callable[[dict[str, Any]], None]:
    """Replace a text in a stream, where it must stand."""

    def change(response: dict[str, Any]) -> None:
        assert old in response["body"]
        response["body"] = response["body"].replace(old, new)

    return change


# ---- the same ------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(FIXTURES).as_posix())
def test_an_answer_does_not_differ_from_itself(path: Path) -> None:
    assert answered(path, lambda _: None).verdict == "same"


def test_two_recordings_of_one_answer_differ_in_nothing_that_counts() -> None:
    """The server was asked the same twice, at other times: for 2.1 and for 4.2."""
    earlier = load_recording(FIXTURES / "2.1" / "agent" / "01.json")
    later = load_recording(WHOLE)
    assert earlier.request["body"] == later.request["body"]
    assert earlier.response != later.response
    assert compare(earlier, Heard(later.request, later.response)) == Drift(
        today='get_current_weather({"city": "Beijing"}); calculate({"expression": "15 * 8"})'
    )


def test_ids_times_speeds_and_what_was_in_a_cache_are_not_looked_at() -> None:
    def change(response: dict[str, Any]) -> None:
        body = response["body"]
        body |= {"id": "x", "created": 1, "system_fingerprint": "y"}
        del body["timings"]
        body["usage"]["prompt_tokens_details"]["cached_tokens"] = 600
        message(response)["tool_calls"][0]["id"] = "z"

    assert answered(WHOLE, change).verdict == "same"


def test_the_pieces_in_which_a_stream_came_are_not_looked_at() -> None:
    two = '{"arguments":"Be"}'
    joined = '{"arguments":"Beijing"}'
    drop = '{"arguments":"ijing"}'

    def change(response: dict[str, Any]) -> None:
        edit(two, joined)(response)
        edit(drop, '{"arguments":""}')(response)

    assert answered(STREAM, change).verdict == "same"


# ---- other words ---------------------------------------------------------------------------


def test_another_value_of_an_argument_is_a_difference_in_words() -> None:
    def change(response: dict[str, Any]) -> None:
        message(response)["tool_calls"][0]["function"]["arguments"] = '{"city": "Oslo"}'

    drift = answered(WHOLE, change)
    assert drift.verdict == "words differ"
    (line,) = told(drift)
    assert line.startswith("body.choices[0].message.tool_calls[0].function.arguments: then ")


def test_in_a_stream_the_joined_answer_is_compared() -> None:
    drift = answered(STREAM, edit('{"arguments":"ijing"}', '{"arguments":"rlin"}'))
    assert drift.verdict == "words differ"
    assert [d.place for d in drift.words] == ["answer.parts[0].arguments"]


def test_another_count_of_tokens_is_a_difference_in_words() -> None:
    drift = answered(WHOLE, lambda r: r["body"]["usage"].update(prompt_tokens=7))
    assert told(drift) == ["body.usage.prompt_tokens: then 652, now 7"]
    assert drift.verdict == "words differ"


# ---- another shape -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            lambda r: r["body"].pop("system_fingerprint"),
            'body.system_fingerprint: then "text", now nothing',
        ),
        (lambda r: r["body"].update(id=7), 'body.id: then "text", now "number"'),
        (
            lambda r: r["body"].update(service_tier=None),
            'body.service_tier: then nothing, now "null"',
        ),
        (
            lambda r: message(r).update(content=None),
            'body.choices[].message.content: then "text", now "null"',
        ),
        (
            lambda r: r["body"]["choices"][0].update(finish_reason="stop"),
            'body.choices[].finish_reason: then "tool_calls", now "stop"',
        ),
        (lambda r: r["headers"].clear(), 'content-type: then "application/json", now ""'),
        (
            lambda r: r["headers"].update({"retry-after": "3"}),
            'retry-after: then "not there", now "there"',
        ),
        (
            lambda r: message(r)["tool_calls"].pop(),
            'calls[1]: then "calculate(expression)", now nothing',
        ),
        (
            lambda r: message(r)["tool_calls"][1]["function"].update(arguments='{"term": "1"}'),
            'calls[1]: then "calculate(expression)", now "calculate(term)"',
        ),
        (
            lambda r: message(r)["tool_calls"][1]["function"].update(arguments="15 * 8"),
            'calls[1]: then "calculate(expression)", now "calculate(no JSON)"',
        ),
    ],
)
def test_what_code_relies_on_is_named_by_its_place(
    change: Callable[[dict[str, Any]], None], line: str
) -> None:
    drift = answered(WHOLE, change)
    assert drift.verdict == "shape differs"
    assert told(drift) == [line]


def test_an_argument_of_geminis_wire_is_a_name_in_the_call_and_a_value_among_the_words() -> None:
    def args(response: dict[str, Any]) -> dict[str, Any]:
        part = response["body"]["candidates"][0]["content"]["parts"][0]
        found: dict[str, Any] = part["functionCall"]["args"]
        return found

    other_value = answered(GEMINI, lambda r: args(r).update(city="Oslo"))
    other_name = answered(GEMINI, lambda r: args(r).update(unit="c"))
    assert other_value.verdict == "words differ"
    assert told(other_name) == [
        'calls[0]: then "get_current_weather(city)", now …current_weather(city, unit)"'
    ]


def test_a_stream_that_breaks_off_has_another_shape() -> None:
    drift = answered(STREAM, edit("data: [DONE]\n\n", ""))
    assert "complete: then true, now false" in told(drift)


def test_a_refusal_is_told_in_the_servers_own_words() -> None:
    def refuse(response: dict[str, Any]) -> None:
        response["status"] = 401
        response["body"] = {"error": {"message": "This key has expired.", "code": "expired"}}

    drift = answered(WHOLE, refuse)
    assert told(drift)[0] == "status: then 200, now 401"
    assert "This key has expired." in drift.today


def test_a_page_instead_of_json_is_a_difference_and_no_crash() -> None:
    drift = answered(WHOLE, lambda r: r.update(body="<html>busy</html>"))
    assert drift.verdict == "shape differs"
    assert "HTML page" in drift.today


def test_the_shape_of_a_place_is_put_together_from_all_that_stands_there() -> None:
    usages = [{"usage": None}, {"usage": {"n": 1}}, {"usage": {"m": True}}]
    assert shape_of("", usages) == {"usage": {"n": "number", "m": "boolean"}}
    assert shape_of("", [[], [1, "a", None]]) == ["null or number or text"]
    assert shape_of("", [[]]) == []
    assert shape_of("", [{}, []]) == "list or object"


@given(ANY)
def test_only_the_kind_of_a_value_counts_unless_it_is_a_word_of_the_wire(value: Any) -> None:
    assert shape_of("", [value]) == shape_of("", [_other(value)])
    assert shape_of("", [value, _other(value)]) == shape_of("", [value])


def _other(value: Any) -> Any:
    """Put another value of its kind into each place."""
    if isinstance(value, dict):
        return {key: _other(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_other(inner) for inner in value]
    return value if value is None or isinstance(value, bool) else value * 2 + value


def test_as_json_a_missing_value_is_left_out_and_null_is_not() -> None:
    drift = answered(WHOLE, lambda r: r["body"].update(service_tier=None))
    assert drift.shape[0].first is ABSENT
    told_as = as_json(drift)
    assert told_as["shape"] == [{"place": "body.service_tier", "today": "null"}]
    assert json.loads(json.dumps(told_as)) == told_as


# ---- asking --------------------------------------------------------------------------------


async def asked(path: Path, settings: Settings, answer: Any) -> tuple[httpx.Request, Heard]:
    """Ask a server that gives this answer."""
    requests: list[httpx.Request] = []

    def reply(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(200, json=answer)

    heard = await ask_again(load_recording(path), settings, httpx.MockTransport(reply))
    return requests[0], heard


@pytest.mark.parametrize(
    ("path", "provider", "address", "header"),
    [
        (WHOLE, "openai", "/v1/chat/completions", ("authorization", f"Bearer {KEY}")),
        (
            GEMINI,
            "gemini",
            "/v1beta/models/gemini-3.8-flash:generateContent",
            ("x-goog-api-key", KEY),
        ),
    ],
)
async def test_the_recorded_request_goes_to_todays_address_with_todays_key(
    path: Path, provider: str, address: str, header: tuple[str, str]
) -> None:
    settings = Settings(
        provider=provider,
        model="m",
        base_url="https://models.example.org/llm",
        api_key=SecretStr(KEY),
    )
    request, _ = await asked(path, settings, {})
    recording: Recording = load_recording(path)
    assert str(request.url) == f"https://models.example.org/llm{address}"
    assert request.headers[header[0]] == header[1]
    assert json.loads(request.content) == recording.request["body"]


async def test_a_key_that_the_server_quotes_back_is_not_in_what_was_heard() -> None:
    settings = Settings(base_url="https://models.example.org", api_key=SecretStr(KEY))
    _, heard = await asked(WHOLE, settings, {"error": {"message": f"{KEY} is no key."}})
    assert heard.response["body"] == {"error": {"message": "[redacted] is no key."}}
    assert KEY not in repr(compare(load_recording(WHOLE), heard))
