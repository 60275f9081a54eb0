"""Each rule of OpenAI refuses in the provider's words what breaks it, and nothing else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.lab.gateway import RULES, gateway, table, without
from freya_teach.lab.gateway.wire import count_tokens
from tests.lab.gateway.rule_cases import Body, Case, answers, but, send

URL = "https://api.openai.com/v1/chat/completions"
UNDERSTANDING = {"messages.some", "messages.role"}
"""Rules without which there is no question: leaving them out lets nothing pass."""

SCHEMA: Body = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": ["integer", "null"]}},
    "required": ["city", "days"],
    "additionalProperties": False,
}


def offer(parameters: Any = SCHEMA, name: str = "get_weather", **more: Any) -> Body:
    function = {"name": name, "description": "Tell the weather.", "parameters": parameters}
    return {"type": "function", "function": {**function, **more}}


def call(call_id: str = "a", name: str = "get_weather", arguments: Any = "{}") -> Body:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*entries: Body, **more: Any) -> Body:
    return {"role": "assistant", "content": None, "tool_calls": list(entries), **more}


def result(call_id: str = "a", content: Any = "3 degrees") -> Body:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def user(content: Any = "Is it cold?") -> Body:
    return {"role": "user", "content": content}


TALK: Body = {"model": "gpt-4o", "messages": [user()]}
ACTED = but(TALK, messages=[user(), calls(call()), result()])
TOOLS = but(TALK, tools=[offer()])
NEW = but(TALK, model="gpt-5.6-terra")


def said(*messages: Body) -> Body:
    return but(TALK, messages=list(messages))


def error(message: str, param: str | None = None, code: str | None = None) -> Body:
    return {"message": message, "type": "invalid_request_error", "param": param, "code": code}


def empty(place: str) -> Body:
    says = "Expected an array with minimum length 1, but got an empty array instead."
    return error(f"Invalid '{place}': empty array. {says}", place, "empty_array")


def lost(place: str) -> Body:
    return error(f"Missing required parameter: '{place}'.", place, "missing_required_parameter")


def long(place: str, limit: int, length: int) -> Body:
    says = f"Expected a string with maximum length {limit}, but got a string with length {length}"
    message = f"Invalid '{place}': string too long. {says} instead."
    return error(message, place, "string_above_max_length")


def bad_schema(fault: str) -> Body:
    place = "tools[0].function.parameters"
    message = f"Invalid schema for function 'get_weather': {fault}"
    return error(message, place, "invalid_function_parameters")


def unanswered(ids: str, place: str) -> Body:
    says = "must be followed by tool messages responding to each 'tool_call_id'."
    ids = f"The following tool_call_ids did not have response messages: {ids}"
    return error(f"An assistant message with 'tool_calls' {says} {ids}", place)


def lonely(n: int) -> Body:
    says = "messages with role 'tool' must be a response to a preceeding message with"
    return error(f"Invalid parameter: {says} 'tool_calls'.", f"messages.[{n}].role")


def no_model(name: str) -> Body:
    says = f"The model `{name}` does not exist or you do not have access to it."
    return error(says, code="model_not_found")


def schema_case(bad: Any, fault: str, rule: str = "schema", **more: Any) -> Case:
    return Case(
        rule,
        but(TALK, tools=[offer(bad, **more)]),
        but(TALK, tools=[offer(**more)]),
        bad_schema(fault),
    )


def strict_case(bad: Body, fault: str) -> Case:
    return schema_case({**SCHEMA, **bad}, fault, "schema.strict", strict=True)


INNER: Body = {"type": "object", "properties": {}, "required": []}
LONG_NAME = "x" * 74

MESSAGES = [
    Case("messages.some", said(), TALK, empty("messages")),
    Case(
        "messages.role",
        said({"role": "robot", "content": "Hi"}),
        TALK,
        error(
            "Invalid value: 'robot'. Supported values are: 'system', 'assistant', 'user', "
            "'function', 'tool', and 'developer'.",
            "messages[0].role",
            "invalid_value",
        ),
    ),
    Case(
        "messages.role",
        {"model": "o1-mini", "messages": [{"role": "system", "content": "Be brief."}, user()]},
        {"model": "o1-mini", "messages": [user()]},
        error(
            "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
            "messages[0].role",
            "unsupported_value",
        ),
    ),
    Case(
        "messages.content",
        said(user(), {"role": "assistant", "content": None}, user()),
        said(user(), {"role": "assistant", "content": ""}, user()),
        error("Invalid value for 'content': expected a string, got null.", "messages.[1].content"),
    ),
    Case(
        "messages.content",
        said(user(), calls(call()), result(content=None)),
        ACTED,
        error("Invalid value for 'content': expected a string, got null.", "messages.[2].content"),
    ),
    Case("messages.content", said(user([])), TALK, empty("messages[0].content")),
    Case(
        "messages.content",
        said(user(), calls(call()), result(content={"degrees": 3})),
        ACTED,
        error(
            "Invalid type for 'messages[2].content': expected one of a string or array of "
            "objects, but got an object instead.",
            "messages[2].content",
            "invalid_type",
        ),
    ),
    Case(
        "messages.audio",
        said(user([{"type": "input_audio", "input_audio": {"data": "", "format": "mp3"}}])),
        TALK,
        error(
            "Invalid 'messages[0]'. Content blocks are expected to be either text or image_url "
            "type.",
            "messages[0]",
            "invalid_value",
        ),
    ),
    Case("calls.whole", said(user(), calls(content="Hm.")), TALK, empty("messages[1].tool_calls")),
    Case(
        "calls.whole",
        said(user(), calls(but(call(), type=None)), result()),
        ACTED,
        lost("messages[1].tool_calls[0].type"),
    ),
    Case(
        "calls.id",
        said(user(), calls(call("i" * 43)), result("i" * 43)),
        said(user(), calls(call("i" * 40)), result("i" * 40)),
        long("messages[1].tool_calls[0].id", 40, 43),
    ),
    Case(
        "calls.arguments",
        said(user(), calls(call(arguments={"city": "Oslo"})), result()),
        ACTED,
        error(
            "Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, "
            "but got an object instead.",
            "messages[1].tool_calls[0].function.arguments",
            "invalid_type",
        ),
    ),
]

ORDER = [
    Case("order.pairs", said(user(), result()), ACTED, lonely(1)),
    Case(
        "order.pairs", said(user(), calls(call()), result(), user(), result("b")), ACTED, lonely(4)
    ),
    Case(
        "order.pairs",
        said(user(), calls(call("a"), call("b")), result("a"), user()),
        said(user(), calls(call("a"), call("b")), result("b"), result("a"), user()),
        unanswered("b", "messages.[3].role"),
    ),
    Case(
        "order.pairs",
        said(user(), calls(call("a"), call("b"))),
        ACTED,
        unanswered("a, b", "messages.[2].role"),
    ),
    Case(
        "order.pairs",
        said(user(), calls(call("a")), result("z")),
        ACTED,
        error(
            "Invalid parameter: 'tool_call_id' of 'z' not found in 'tool_calls' of previous "
            "message.",
            "messages.[2].tool_call_id",
        ),
    ),
    Case(
        "order.pairs",
        said(user(), calls(call("a")), but(result(), tool_call_id=None)),
        ACTED,
        lost("messages[2].tool_call_id"),
    ),
    Case(
        "order.results",
        said(user(), calls(call("a"), call("a")), result("a"), result("a")),
        said(user(), calls(call("a"), call("b")), result("a"), result("b")),
        error(
            "Invalid parameter: Duplicate value for 'tool_call_id' of 'a', in messages[2] and "
            "messages[3].",
            "messages.[3].tool_call_id",
        ),
    ),
]

OFFERS = [
    Case("tools.whole", but(TALK, tools=[]), TALK, empty("tools")),
    Case(
        "tools.whole",
        but(TALK, tools=[{"type": "function", "name": "flat"}]),
        TOOLS,
        lost("tools[0].function"),
    ),
    Case(
        "tools.whole",
        but(TALK, tools=[offer(name=f"tool_{n}") for n in range(129)]),
        but(TALK, tools=[offer(name=f"tool_{n}") for n in range(128)]),
        error(
            "Invalid 'tools': array too long. Expected an array with maximum length 128, but got "
            "an array with length 129 instead.",
            "tools",
            "array_above_max_length",
        ),
    ),
    Case(
        "tools.name",
        but(TALK, tools=[offer(name="get weather")]),
        TOOLS,
        error(
            "Invalid 'tools[0].function.name': string does not match pattern. Expected a string "
            "that matches the pattern '^[a-zA-Z0-9_-]+$'.",
            "tools[0].function.name",
            "invalid_value",
        ),
    ),
    Case(
        "tools.name",
        but(TALK, tools=[offer(name=LONG_NAME)]),
        TOOLS,
        long("tools[0].function.name", 64, 74),
    ),
    Case(
        "tools.name",
        said(user(), calls(call(name="weather.get")), result()),
        ACTED,
        error(
            "Invalid 'messages[1].tool_calls[0].function.name': string does not match pattern. "
            "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
            "messages[1].tool_calls[0].function.name",
            "invalid_value",
        ),
    ),
    Case(
        "tools.description",
        but(TALK, tools=[offer(description="d" * 2780)]),
        TOOLS,
        long("tools[0].function.description", 1024, 2780),
    ),
    schema_case({"type": "object"}, "In context=(), object schema missing properties."),
    schema_case(
        {"type": "object", "properties": {"tags": {"type": "array"}}},
        "In context=('properties', 'tags'), array schema missing items.",
    ),
    schema_case(
        {"anyOf": [SCHEMA]},
        "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the "
        "top level.",
    ),
    strict_case(
        {"additionalProperties": True},
        "In context=(), 'additionalProperties' is required to be supplied and to be false.",
    ),
    strict_case(
        {"properties": {"city": INNER}, "required": ["city"]},
        "In context=('properties', 'city'), 'additionalProperties' is required to be supplied and "
        "to be false.",
    ),
    strict_case(
        {"required": ["city"]},
        "In context=(), 'required' is required to be supplied and to be an array including every "
        "key in properties. Missing 'days'.",
    ),
    strict_case(
        {"properties": {"city": {"type": "string", "default": "Oslo"}}, "required": ["city"]},
        "In context=('properties', 'city'), 'default' is not permitted.",
    ),
    strict_case(
        {"properties": {"city": {"allOf": [{"type": "string"}]}}, "required": ["city"]},
        "In context=('properties', 'city'), 'allOf' is not permitted.",
    ),
    Case(
        "tools.needed",
        but(TALK, parallel_tool_calls=False),
        but(TOOLS, parallel_tool_calls=False),
        error(
            "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when "
            "'tools' are specified.",
            "parallel_tool_calls",
        ),
    ),
    Case(
        "tools.needed",
        but(TALK, tool_choice="auto"),
        but(TOOLS, tool_choice="auto"),
        error(
            "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are "
            "specified.",
            "tool_choice",
        ),
    ),
    Case(
        "tools.effort",
        but(NEW, tools=[offer()]),
        but(NEW, tools=[offer()], reasoning_effort="none"),
        error(
            "Function tools with reasoning_effort are not supported for gpt-5.6-terra in "
            "/v1/chat/completions. To use function tools, use /v1/responses or set "
            "reasoning_effort to 'none'.",
            "reasoning_effort",
        ),
    ),
    Case(
        "tools.effort",
        but(TOOLS, model="gpt-5.4", reasoning_effort="low"),
        but(TOOLS, model="gpt-5.4"),
        error(
            "Function tools with reasoning_effort are not supported for gpt-5.4 in "
            "/v1/chat/completions. Please use /v1/responses instead.",
            "reasoning_effort",
        ),
    ),
]

FIELDS = [
    Case("model.known", but(TALK, model="gpt-5.2-proo"), TALK, no_model("gpt-5.2-proo"), 404),
    Case("model.known", but(TALK, model="qwen3"), TALK, no_model("qwen3"), 404),
    Case(
        "model.retired",
        but(TALK, model="gpt-3.5-turbo-0613"),
        but(TALK, model="gpt-3.5-turbo"),
        error(
            "The model `gpt-3.5-turbo-0613` has been deprecated, learn more here: "
            "https://platform.openai.com/docs/deprecations",
            code="model_not_found",
        ),
        404,
    ),
    Case(
        "model.chat",
        but(TALK, model="gpt-5-pro"),
        but(TALK, model="gpt-5"),
        error(
            "This model is only supported in v1/responses and not in v1/chat/completions.", "model"
        ),
        404,
    ),
    Case(
        "fields.known",
        but(TALK, thinking=True),
        TALK,
        error("Unrecognized request argument supplied: thinking"),
    ),
    Case(
        "fields.known",
        but(TALK, top_k=40, num_ctx=8192),
        TALK,
        error("Unrecognized request arguments supplied: top_k, num_ctx"),
    ),
    Case(
        "fields.known",
        but(TALK, reasoning_effort="low"),
        but(NEW, reasoning_effort="low"),
        error("Unrecognized request argument supplied: reasoning_effort"),
    ),
    Case(
        "fields.stream_options",
        but(TALK, stream_options={"include_usage": True}),
        but(TALK, stream_options={"include_usage": True}, stream=True),
        error(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            "stream_options",
        ),
    ),
    Case(
        "fields.max_tokens",
        but(NEW, max_tokens=100),
        but(NEW, max_completion_tokens=100),
        error(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead.",
            "max_tokens",
            "unsupported_parameter",
        ),
    ),
    Case(
        "fields.max_output",
        but(TALK, max_tokens=32_000),
        but(TALK, max_tokens=16_384),
        error(
            "max_tokens is too large: 32000. This model supports at most 16384 completion tokens, "
            "whereas you provided 32000.",
            "max_tokens",
        ),
    ),
    Case(
        "fields.search",
        but(TALK, web_search_options={}),
        but(TALK, web_search_options={}, model="gpt-4o-search-preview"),
        error("Web search options not supported with this model.", "web_search_options"),
    ),
]


def too_much(model: str, words: int, **more: Any) -> Body:
    return but({"model": model, "messages": [user("word " * words)]}, **more)


def overflow(model: str, words: int, says: str, **more: Any) -> Case:
    bad = too_much(model, words, **more)
    tokens = count_tokens(bad["messages"])
    told = says.format(tokens=tokens, both=tokens + 4000)
    return Case(
        "window",
        bad,
        too_much(model, 100, **more),
        error(told, "messages", "context_length_exceeded"),
    )


WINDOW = [
    overflow(
        "gpt-4",
        8_000,
        "This model's maximum context length is 8192 tokens. However, your messages resulted in "
        "{tokens} tokens. Please reduce the length of the messages.",
    ),
    overflow(
        "gpt-4",
        5_000,
        "This model's maximum context length is 8192 tokens. However, you requested {both} tokens "
        "({tokens} in the messages, 4000 in the completion). Please reduce the length of the "
        "messages or completion.",
        max_tokens=4000,
    ),
    overflow(
        "gpt-5",
        220_000,
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in "
        "{tokens} tokens. Please reduce the length of the messages.",
    ),
]
CASES = MESSAGES + ORDER + OFFERS + FIELDS + WINDOW


def named(cases: list[Case]) -> list[Any]:
    return [pytest.param(case, id=f"{n} {case.rule}") for n, case in enumerate(cases)]


@pytest.mark.parametrize("case", named(CASES))
async def test_what_breaks_a_rule_is_refused_in_the_providers_own_words(case: Case) -> None:
    response = await send(URL, case.bad)
    assert (response.status_code, response.json()) == (case.status, {"error": case.error})


@pytest.mark.parametrize("case", named(CASES))
async def test_the_same_request_repaired_passes(case: Case) -> None:
    response = await send(URL, case.good)
    assert response.status_code == 200, response.text


@pytest.mark.parametrize("case", named([c for c in CASES if c.rule not in UNDERSTANDING]))
async def test_no_other_rule_refuses_it(case: Case) -> None:
    response = await send(URL, case.bad, leave_out=[case.rule])
    assert response.status_code == 200, response.text


def test_each_rule_has_a_case_a_sentence_and_a_source() -> None:
    rules = [rule for rule in RULES if rule.wire == "openai"]
    assert {rule.name for rule in rules} == {case.rule for case in CASES} | {"auth"}
    assert len({rule.name for rule in rules}) == len(rules)
    printed = table(rules)
    for rule in rules:
        assert rule.says.endswith(".")
        assert rule.source
        assert f"{rule.name} (openai, {rule.since})" in printed


# ---- keys ----------------------------------------------------------------------------------


async def test_any_key_is_accepted_and_none_unless_the_gateway_was_given_some() -> None:
    for headers in ({}, {"authorization": "Bearer no-key-needed"}):
        assert (await send(URL, TALK, headers=headers)).status_code == 200


async def test_a_missing_and_a_wrong_key_are_401() -> None:
    key = "made-up-key-12345"
    good = {"authorization": f"Bearer {key}"}
    assert (await send(URL, TALK, keys=[key], headers=good)).status_code == 200
    missing = await send(URL, TALK, keys=[key])
    assert missing.status_code == 401
    assert missing.json()["error"]["message"].startswith("You didn't provide an API key.")
    assert (await send(URL, {}, keys=[key])).json() == missing.json()  # nothing is read before
    wrong = await send(URL, TALK, keys=[key], headers={"authorization": f"Bearer {key[:-1]}6"})
    assert wrong.status_code == 401
    assert wrong.json()["error"] == error(
        "Incorrect API key provided: made-***46. You can find your API key at "
        "https://platform.openai.com/account/api-keys.",
        code="invalid_api_key",
    )


# ---- servers of other people ---------------------------------------------------------------


async def test_a_compatible_server_is_judged_by_what_all_servers_refuse() -> None:
    url = "http://127.0.0.1:8080/v1/chat/completions"
    odd = {"model": "qwen3", "messages": [user()], "top_k": 40, "tools": [], "max_tokens": 10**6}
    assert (await send(url, odd)).status_code == 200
    broken = await send(url, {"model": "qwen3", "messages": [user(), result()]})
    assert broken.json() == {"error": lonely(1)}


async def test_a_small_local_model_overflows_in_the_words_of_its_server() -> None:
    body = too_much("llama-3-8b", 8_000)
    tokens = count_tokens(body["messages"])
    response = await send("http://127.0.0.1:8080/v1/chat/completions", body)
    assert response.status_code == 400
    assert response.json()["error"] == {
        "code": 400,
        "message": f"request ({tokens} tokens) exceeds the available context size (8192 tokens), "
        "try increasing it",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": tokens,
        "n_ctx": 8192,
    }


# ---- the list ------------------------------------------------------------------------------


def test_a_rule_that_is_not_there_cannot_be_left_out() -> None:
    with pytest.raises(ValueError, match=r"there is no rule order\.pears; there are auth, "):
        without(RULES, "order.pears")
    with pytest.raises(ValueError, match="no rule"):
        gateway(answers, leave_out=["order.pears"])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@given(value=JSON)
async def test_any_json_in_any_place_is_answered_or_refused(value: Any) -> None:
    function = {"name": value, "parameters": value, "description": value, "strict": True}
    message = {"role": "assistant", "content": value, "tool_calls": value, "tool_call_id": value}
    for body in (
        but(TALK, messages=[message]),
        but(TALK, messages=[calls({"id": value, "type": value, "function": value})]),
        but(TALK, tools=value, tool_choice=value, reasoning_effort=value, max_tokens=value),
        but(TALK, tools=[{"type": "function", "function": function}]),
        but(TALK, tools=[offer({"type": value, "properties": value, "required": value})]),
        but(TALK, tools=[offer({"properties": {"a": value}, "items": value}, strict=True)]),
    ):
        assert (await send(URL, body)).status_code in (200, 400)
