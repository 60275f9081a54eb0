"""Each rule of Gemini refuses in the provider's words what breaks it, and nothing else."""

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.lab.gateway import RULES, table
from freya_teach.lab.gateway.gemini_wire import signature
from freya_teach.lab.gateway.wire import count_tokens
from tests.lab.gateway.rule_cases import Body, Case, but, send

HOST = "https://generativelanguage.googleapis.com/v1beta/models"
UNDERSTANDING = {"contents.some"}
"""Rules without which there is no question: leaving them out lets nothing pass."""
OLD, NEW = "gemini-2.5-flash", "gemini-3-flash-preview"
NEWEST = "gemini-3.8-flash"


def url(model: str) -> str:
    return f"{HOST}/{model}:generateContent"


def user(*parts: Body) -> Body:
    return {"role": "user", "parts": list(parts or [{"text": "Is it cold?"}])}


def model(*parts: Body) -> Body:
    return {"role": "model", "parts": list(parts)}


def call(call_id: str = "a", name: str = "get_weather", signed: str = "") -> Body:
    part: Body = {"functionCall": {"id": call_id, "name": name, "args": {}}}
    return {**part, "thoughtSignature": signed} if signed else part


def result(call_id: str = "a", response: Any = None, name: str = "get_weather") -> Body:
    value = {"output": "3"} if response is None else response
    return {"functionResponse": {"id": call_id, "name": name, "response": value}}


def offer(parameters: Any = None, name: str = "get_weather", **more: Any) -> Body:
    function = but({"name": name, "description": "Tell.", "parameters": parameters}, **more)
    return {"tools": [{"functionDeclarations": [function]}]}


def said(*contents: Body) -> Body:
    return {"contents": list(contents)}


def thinks(**config: Any) -> Body:
    return but(TALK, generationConfig={"thinkingConfig": config})


def schema(**properties: Any) -> Body:
    return {"type": "OBJECT", "properties": properties}


TALK = said(user())
OURS = signature("a")
ACTED = said(user(), model(call()), user(result()))
SIGNED = said(user(), model(call(signed=OURS)), user(result()))
TWO = said(user(), model(call("a"), call("b")), user(result("a"), result("b")))
PLACE = "tools[0].function_declarations[0]"
UNKNOWN = "Invalid JSON payload received. Unknown name \"{}\" at '{}': {}"
NO_FIELD = "Cannot find field."
NO_LIST = "Proto field is not repeating, cannot start list."


def error(message: str, status: int = 400, word: str = "INVALID_ARGUMENT") -> Body:
    return {"code": status, "message": message, "status": word}


def unreadable(*faults: tuple[str, str]) -> Body:
    message = "\n".join(says for _, says in faults)
    violations = [{"field": place, "description": says} for place, says in faults]
    kind = "type.googleapis.com/google.rpc.BadRequest"
    return {**error(message), "details": [{"@type": kind, "fieldViolations": violations}]}


def unknown(name: str, place: str, why: str = NO_FIELD) -> Body:
    return unreadable((place, UNKNOWN.format(name, place, why)))


def misread(place: str, says: str) -> Body:
    return unreadable((place, f"Invalid value at '{place}' {says}"))


def invalid(fault: str) -> Body:
    return error(f"* GenerateContentRequest.{fault}\n")


def case(rule: str, bad: Body, good: Body, told: Body | str, on: str = OLD) -> Case:
    return Case(rule, bad, good, error(told) if isinstance(told, str) else told, model=on)


def keyword(name: str, value: Any) -> Case:
    """A JSON Schema keyword that is refused under `parameters`, and passes beside it."""
    parameters = {**schema(city={"type": "STRING"}), name: value}
    return case(
        "fields.known",
        but(TALK, **offer(parameters)),
        but(TALK, **offer(parametersJsonSchema=parameters)),
        unknown(name, f"{PLACE}.parameters"),
    )


COUNTS = (
    "Please ensure that the number of function response parts is equal to the number of function "
    "call parts of the function call turn."
)
ALONE = "Please ensure that function response turn comes immediately after a function call turn."
BAD_NAME = (
    "Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, "
    "A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64."
)
MISSING = (
    "Function call is missing a thought_signature in functionCall parts. This is required for "
    "tools to work correctly, and missing thought_signature may lead to degraded model "
    "performance. Additional data, function call `default_api:get_weather` , position {}. Please "
    "refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
)

UNREADABLE = [
    case("fields.known", but(TALK, model_name="m"), TALK, unreadable(
        ("", 'Invalid JSON payload received. Unknown name "model_name": Cannot find field.'))),
    case("fields.known", said({**user(), "name": "Ann"}), TALK, unknown("name", "contents[0]")),
    case("fields.known", said(user(), model(call()), user(result(response=["3"]))), ACTED,
         unknown("response", "contents[2].parts[0].function_response", NO_LIST)),
    case("fields.known", said(user(), model(call()), user(result(response="3"))), ACTED,
         misread("contents[2].parts[0].function_response.response",
                 '(type.googleapis.com/google.protobuf.Struct), "3"')),
    case("fields.known", said(user({"text": "Hi", "inlineData": {}})), TALK,
         misread("contents[0].parts[0]",
                 "(oneof), oneof field 'data' is already set. Cannot set 'inlineData'")),
    case("fields.known", said(user(), model(call(signed="Es4DCssDA")), user(result())), ACTED,
         misread("contents[1].parts[0].thought_signature",
                 '(TYPE_BYTES), Base64 decoding failed for "Es4DCssDA"')),
    case("fields.known", but(TALK, **offer(schema(unit={"type": ["STRING", "NULL"]}))),
         but(TALK, **offer(schema(unit={"type": "STRING", "nullable": True}))),
         unknown("type", f"{PLACE}.parameters.properties[0].value", NO_LIST)),
    case("fields.known", but(TALK, **offer(schema(level={"type": "STRING", "enum": [0]}))),
         but(TALK, **offer(schema(level={"type": "STRING", "enum": ["0"]}))),
         misread(f"{PLACE}.parameters.properties[0].value.enum[0]", "(TYPE_STRING), 0")),
    case("fields.known", said(user({"text": "Hi", "x": 1}, {"text": "Hi", "y": 1})), TALK,
         unreadable(
             ("contents[0].parts[0]", UNKNOWN.format("x", "contents[0].parts[0]", NO_FIELD)),
             ("contents[0].parts[1]", UNKNOWN.format("y", "contents[0].parts[1]", NO_FIELD)))),
    *(keyword(name, value) for name, value in {
        "additionalProperties": False, "$schema": "https://json-schema.org/draft", "$defs": {},
        "const": {}, "oneOf": [], "allOf": [], "not": {}, "patternProperties": {}, "examples": [],
    }.items()),
    case("fields.known",
         but(TALK, **offer(schema(days={"type": "INTEGER", "exclusiveMinimum": 0}))),
         but(TALK, **offer(schema(days={"type": "INTEGER", "minimum": 1}))),
         unknown("exclusiveMinimum", f"{PLACE}.parameters.properties[0].value")),
]  # fmt: skip

CONTENTS = [
    case("contents.some", said(), TALK, invalid("contents: contents is not specified")),
    case("contents.parts", said(user(), {"role": "model", "parts": []}, user()), TALK,
         invalid("contents[1].parts: contents.parts must not be empty.")),
    case("contents.data", said(user(), model({}), user()),
         said(user(), model({"text": ""}), user()),
         invalid("contents[1].parts[0].data: required oneof field 'data' must have one initialized "
                 "field")),
    case("contents.name", said(user(), model(call()), user(result(name=""))), ACTED,
         invalid("contents[2].parts[0].function_response.name: Name cannot be empty.")),
    case("contents.role", said(user(), {"role": "assistant", "parts": [{"text": "Hi"}]}, user()),
         said(user(), model({"text": "Hi"}), user()), "Please use a valid role: user, model."),
    case("contents.role",
         said(user(), model(call(signed=OURS)), {"role": "function", "parts": [result()]}),
         SIGNED,
         "Role 'function' is not supported. Please use a valid role: SYSTEM, SYSTEM_1, USER, "
         "ASSISTANT, DEVELOPER, CONTEXT, USER_CONTEXT, MODEL, USER.", NEWEST),
]  # fmt: skip

OFFERS = [
    case("tools.name", but(TALK, **offer(name="1st tool")), but(TALK, **offer()),
         invalid(f"{PLACE}.name: {BAD_NAME}")),
    case("tools.twice", {**TALK, "tools": offer()["tools"] * 2}, but(TALK, **offer()),
         "Duplicate function declaration found: get_weather"),
    case("schema", but(TALK, **offer({**schema(city={"type": "STRING"}), "required": ["town"]})),
         but(TALK, **offer({**schema(city={"type": "STRING"}), "required": ["city"]})),
         invalid(f"{PLACE}.parameters.required[0]: property is not defined")),
    case("schema", but(TALK, **offer(schema(tags={"type": "ARRAY"}))),
         but(TALK, **offer(schema(tags={"type": "ARRAY", "items": {"type": "STRING"}}))),
         invalid(f"{PLACE}.parameters.properties[tags].items: missing field.")),
    case("schema", but(TALK, **offer(schema(level={"type": "INTEGER", "enum": ["1"]}))),
         but(TALK, **offer(schema(level={"type": "STRING", "enum": ["1"]}))),
         invalid(f"{PLACE}.parameters.properties[level].enum: only allowed for STRING type")),
    case("schema", but(TALK, **offer(schema(data={**schema(a={}), "type": "STRING"}))),
         but(TALK, **offer(schema(data=schema(a={"type": "STRING"})))),
         invalid(f"{PLACE}.parameters.properties[data].properties: only allowed for OBJECT type")),
    case("tools.config", but(TALK, toolConfig={"functionCallingConfig": {"mode": "AUTO"}}),
         but(TALK, toolConfig={"functionCallingConfig": {"mode": "AUTO"}}, **offer()),
         "Function calling config is set without function_declarations"),
]  # fmt: skip

ORDER = [
    case("order.start", said(model(call()), user(result())), ACTED,
         "Please ensure that function call turn comes immediately after a user turn or after a "
         "function response turn."),
    case("order.responses", said(user(), model({"text": "Hm."}), user({"text": "So?"}, result())),
         ACTED, ALONE),
    case("order.counts", said(user(), model(call("a"), call("b")), user(result("a"))), TWO, COUNTS),
    case("order.counts", said(user(), model(call("a"), call("b")), user(result("a")),
                              user(result("b"))), TWO, COUNTS),
    case("order.counts", said(user(), model(call()), user()), ACTED, COUNTS),
    case("order.counts", said(user(), model(call())), ACTED, COUNTS),
    case("order.last", said(user(), model({"text": "It is"})), TALK,
         "Requests ending with a model turn are not supported.", "gemini-3.5-flash-lite"),
    case("order.last", said(user(), model({"text": "It is"})), TALK,
         "Please ensure that multiturn requests ends with a user role or a function response.",
         "gemini-1.5-pro"),
    case("order.alternate", said(user(), user()), TALK,
         "Please ensure that multiturn requests alternate between user and model.",
         "gemini-1.5-pro"),
]  # fmt: skip

PLACEHOLDER = "skip_thought_signature_validator"
FOREIGN = base64.b64encode(b"invented").decode()
SIGNATURES = [
    case("signature.missing", ACTED, SIGNED, MISSING.format(2), NEW),
    case("signature.missing",
         said(user(), model(call(signed=OURS)), user(result()),
              model(call("b")), user(result("b"))),
         said(user(), model(call(signed=OURS)), user(result()),
              model(call("b", signed=PLACEHOLDER)), user(result("b"))),
         MISSING.format(4), NEW),
    case("signature.foreign", said(user(), model(call(signed=FOREIGN)), user(result())),
         said(user(), model(call(signed=base64.b64encode(PLACEHOLDER.encode()).decode())),
              user(result())), "Corrupted thought signature.", NEW),
    case("signature.copied",
         said(user(), model(call("a", signed=OURS), call("b", signed=OURS)),
              user(result("a"), result("b"))),
         said(user(), model(call("a", signed=OURS), call("b")), user(result("a"), result("b"))),
         "Corrupted thought signature.", NEW),
]  # fmt: skip

LONG = said(user({"text": "word " * 900_000}))
FIELDS = [
    case("thinking", thinks(thinkingLevel="LOW"), thinks(thinkingBudget=0),
         "thinking_level is not supported by this model"),
    case("thinking", thinks(thinkingLevel="LOW", thinkingBudget=0), thinks(thinkingLevel="LOW"),
         "You can only set only one of thinking budget and thinking level.", NEW),
    case("thinking", thinks(thinkingLevel="MINIMAL"), thinks(thinkingLevel="LOW"),
         "Thinking level MINIMAL is not supported for this model. Please retry with other thinking "
         "level.", NEWEST),
    case("window", LONG, TALK, f"The input token count ({count_tokens(LONG)}) exceeds the maximum "
         "number of tokens allowed (1048576)."),
    Case("model.known", TALK, TALK, error(
        "models/gemini-9-xenon is not found for API version v1beta, or is not supported for "
        "generateContent. Call ListModels to see the list of available models and their supported "
        "methods.", 404, "NOT_FOUND"), 404, "gemini-9-xenon"),
]  # fmt: skip
CASES = UNREADABLE + CONTENTS + OFFERS + ORDER + SIGNATURES + FIELDS


def named(cases: list[Case]) -> list[Any]:
    return [pytest.param(case, id=f"{n} {case.rule}") for n, case in enumerate(cases)]


@pytest.mark.parametrize("case", named(CASES))
async def test_what_breaks_a_rule_is_refused_in_the_providers_own_words(case: Case) -> None:
    response = await send(url(case.model), case.bad)
    assert (response.status_code, response.json()) == (case.status, {"error": case.error})


@pytest.mark.parametrize("case", named(CASES))
async def test_the_same_request_repaired_passes(case: Case) -> None:
    known = OLD if case.rule == "model.known" else case.model
    response = await send(url(known), case.good)
    assert response.status_code == 200, response.text


@pytest.mark.parametrize("case", named([c for c in CASES if c.rule not in UNDERSTANDING]))
async def test_no_other_rule_refuses_it(case: Case) -> None:
    response = await send(url(case.model), case.bad, leave_out=[case.rule])
    assert response.status_code == 200, response.text


def test_each_rule_has_a_case_a_sentence_and_a_source() -> None:
    rules = [rule for rule in RULES if rule.wire == "gemini"]
    assert {rule.name for rule in rules} == {case.rule for case in CASES} | {"auth"}
    assert len({rule.name for rule in rules}) == len(rules)
    printed = table(rules)
    for rule in rules:
        assert rule.says.endswith(".")
        assert rule.source
        assert f"{rule.name} (gemini, {rule.since})" in printed


# ---- generations ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "accepts", "refuses"),
    [
        pytest.param(ACTED, OLD, NEW, id="an unsigned call"),
        pytest.param(said(user(), model({"text": "It is"})), NEW, NEWEST, id="the model last"),
        pytest.param(said(user(), user()), OLD, "gemini-1.5-pro", id="the user twice"),
        pytest.param(
            said(user(), model({"text": "Hi"}), {"role": "function", "parts": [{"text": "x"}]}),
            NEW,
            NEWEST,
            id="the role function",
        ),
        pytest.param(thinks(thinkingLevel="MINIMAL"), NEW, NEWEST, id="the least thinking"),
        pytest.param(thinks(thinkingLevel="LOW"), NEW, OLD, id="a level of thinking"),
    ],
)
async def test_one_request_is_right_for_a_generation_and_wrong_for_another(
    body: Body, accepts: str, refuses: str
) -> None:
    assert (await send(url(accepts), body)).status_code == 200
    assert (await send(url(refuses), body)).status_code == 400


async def test_only_the_current_turn_must_be_signed() -> None:
    old_calls = said(*ACTED["contents"], model({"text": "3 degrees."}), user())
    assert (await send(url(NEW), old_calls)).status_code == 200


async def test_both_spellings_of_a_field_are_read() -> None:
    snakes = {
        "system_instruction": {"parts": {"text": "Be brief."}},
        "contents": [
            user(),
            model({"function_call": {"name": "f", "args": {}}, "thought_signature": OURS}),
            user({"function_response": {"name": "f", "response": {}}}),
        ],
        "tools": {"function_declarations": [{"name": "f", "parameters_json_schema": {}}]},
    }
    assert (await send(url(NEW), snakes)).status_code == 200
    assert (
        await send(url(NEW), {**snakes, "toolConfig": {"function_call": {}}})
    ).status_code == 400


# ---- keys ----------------------------------------------------------------------------------


async def test_a_missing_key_is_403_and_a_wrong_one_400() -> None:
    good = {"x-goog-api-key": "made-up"}
    assert (await send(url(OLD), TALK)).status_code == 200
    assert (await send(url(OLD), TALK, keys=["made-up"], headers=good)).status_code == 200
    by_query = await send(f"{url(OLD)}?key=made-up", TALK, keys=["made-up"])
    assert by_query.status_code == 200
    missing = await send(url(OLD), TALK, keys=["made-up"])
    assert missing.json()["error"] == error(
        "Method doesn't allow unregistered callers (callers without established identity). Please "
        "use API Key or other form of API consumer identity to call this API.",
        403,
        "PERMISSION_DENIED",
    )
    wrong = await send(url(OLD), TALK, keys=["made-up"], headers={"x-goog-api-key": "other"})
    assert wrong.status_code == 400
    told = wrong.json()["error"]
    assert told["message"] == "API key not valid. Please pass a valid API key."
    assert told["details"][0]["reason"] == "API_KEY_INVALID"


# ---- anything ------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@given(value=JSON)
async def test_any_json_in_any_place_is_answered_or_refused(value: Any) -> None:
    call_part = {"functionCall": value, "thoughtSignature": value}
    for body in (
        said({"role": value, "parts": value}),
        said(user(), model(call_part), user({"functionResponse": value})),
        but(TALK, tools=value, toolConfig=value, generationConfig=value, systemInstruction=value),
        but(TALK, **offer({"type": value, "properties": value, "required": value})),
        but(TALK, **offer(schema(a=value, b={"items": value, "enum": value, "anyOf": value}))),
        but(TALK, **offer(name=value)),
        but(TALK, generationConfig={"thinkingConfig": {"thinkingLevel": value}}),
    ):
        for name in (OLD, NEWEST):
            assert (await send(url(name), body)).status_code in (200, 400)
