"""Fifty faults that users reported against other adapters of these two wires, held against ours.

Each report is tested as a class of faults, not as its letter, and on the path on which it was
made: reading an answer, building a request, or a whole run. What the reports say of retries and
of compaction is tested as far as it concerns a client that asks once and cuts nothing: the error
carries what a retry needs to know, and a history that was cut in a wrong place is not sent.
"""

import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

from freya_teach import InMemoryHistory, Settings, build_kernel
from freya_teach.errors import (
    ContextOverflowError,
    LLMError,
    RateLimited,
    RequestRefused,
    ServerFailed,
    TranscriptError,
)
from freya_teach.llm import gemini, openai, openai_messages
from freya_teach.llm.assembler import Assembler
from freya_teach.llm.gemini import CONTINUED, UNSIGNED
from freya_teach.llm.messages import (
    AssistantMessage,
    Message,
    ProviderData,
    TextPart,
    ToolCall,
    ToolMessage,
    assistant,
    system,
    user,
)
from freya_teach.llm.protocol import Adapter, ModelRequest, Reply, Route, ToolSpec, Usage
from freya_teach.llm.sse import ChunkDecoder
from freya_teach.llm.transcript import assign_ids
from tests.provider_rules import gemini_faults, openai_faults
from tests.wire_answers import EVERY_WIRE, Answer, Model, way_of_asking

Test = TypeVar("Test", bound=Callable[..., Any])
REPORTS: dict[int, str] = {}
"""Number of the report → where it was made; `bug` fills it."""


def bug(number: int, *sources: str) -> Callable[[Test], Test]:
    """Say which report a test is about."""

    def note(test: Test) -> Test:
        assert number not in REPORTS, f"report {number} has two tests"
        REPORTS[number] = ", ".join(sources)
        return test

    return note


every_wire = pytest.mark.parametrize("spoken", EVERY_WIRE, ids=way_of_asking)
both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])

GEMINI_3, GEMINI_2 = "gemini-3.8-flash", "gemini-2.5-flash-lite"
FAULTS = {"openai": openai_faults, "gemini": gemini_faults}
ADAPTERS = {"openai": openai.ADAPTER, "gemini": gemini.ADAPTER}

OSLO = ToolCall("call_1", "weather", '{"city": "Oslo"}')
ROME = ToolCall("call_2", "weather", '{"city": "Rome"}')
COLD, WARM = ToolMessage("call_1", "3 °C"), ToolMessage("call_2", "21 °C")
TWO_CALLS = (user("Oslo and Rome?"), assistant(OSLO, ROME), COLD, WARM)


def signed(signature: str, issuer: str = "gemini") -> ProviderData:
    return ProviderData(issuer, {"signature": signature})


def for_gemini(*history: Message, model: str = GEMINI_3, **more: Any) -> Any:
    request = ModelRequest(history, **more)
    route = Route("gemini", model, "http://127.0.0.1")
    return json.loads(gemini.build_request(request, route).body)


def contents(*history: Message, model: str = GEMINI_3) -> list[Any]:
    return list(for_gemini(*history, model=model)["contents"])


def for_openai(*history: Message, model: str = "gpt-5.6-terra", **more: Any) -> Any:
    request = ModelRequest(history, **more)
    return json.loads(
        openai.build_request(request, Route("openai", model, "http://127.0.0.1")).body
    )


def signatures(content: Any) -> list[str | None]:
    return [part.get("thoughtSignature") for part in content["parts"]]


def read(adapter: Adapter, *chunks: Any, tools: frozenset[str] = frozenset()) -> Reply:
    """What a complete answer of these chunks says."""
    assembler = Assembler(tools)
    for chunk in chunks:
        for delta in adapter.parse_chunk(chunk):
            assembler.add(delta)
    return assembler.finish(complete=True)


def gemini_said(*parts: Any, **more: Any) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": list(parts)}, **more}
    return {"candidates": [candidate]}


def openai_said(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def pieces(*calls: tuple[Any, ...]) -> list[Any]:
    """Chunks with one piece of a call each: index, id, name, arguments; None leaves a field out."""
    chunks = []
    for index, id_, name, arguments in calls:
        function = {"name": name, "arguments": arguments}
        piece = {"index": index, "id": id_, "function": _given(function)}
        chunks.append(openai_said(tool_calls=[_given(piece)]))
    return chunks


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


def calls(reply: Reply) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in reply.message.tool_calls]


async def double(number: int) -> int:
    """Twice the number."""
    return 2 * number


async def ping() -> list[str]:
    """Say that somebody is there."""
    return ["pong"]


# ---- Gemini: who speaks when, and what stands together -------------------------------------


@bug(1, "cloudwego/eino-ext#572")
@bug(
    2,
    "crewAIInc/crewAI#4693",
    "ag2ai/ag2#2420",
    "epam/ai-dial-adapter-vertexai#214",
    "agentscope-java#2351",
)
def test_the_results_of_one_turn_share_one_content_in_the_order_of_the_calls() -> None:
    question, answer, *results = TWO_CALLS
    body = for_gemini(question, answer, *reversed(results))
    ids = [part["functionResponse"]["id"] for part in body["contents"][2]["parts"]]
    assert (len(body["contents"]), ids) == (3, ["call_1", "call_2"])
    assert gemini_faults(body) == []


@bug(3, "NousResearch/hermes-agent#22261")
async def test_a_conversation_that_moves_to_the_other_wire_keeps_its_rules() -> None:
    two = Answer(calls=[("double", {"number": 1}), ("double", {"number": 2})])
    session = InMemoryHistory()
    for provider in ("openai", "gemini", "openai"):
        model = Model(two, Answer("Done."))
        await model.kernel(provider=provider).agent([double]).run("Go.", session=session)
        assert [FAULTS[provider](body) for body in model.bodies] == [[], []]


@bug(4, "quarkiverse/quarkus-langchain4j#1271")
def test_parallel_calls_go_back_as_one_content_though_they_came_in_many_chunks() -> None:
    part = {"functionCall": {"name": "roll_dice", "args": {"sides": 6}}}
    reply = read(gemini.ADAPTER, *(gemini_said(part) for _ in range(3)))
    message = assign_ids(reply.message, set(), "gemini")
    results = [ToolMessage(call.id, "fine") for call in message.tool_calls]
    sent = contents(user("Go."), message, *results)
    assert [len(content["parts"]) for content in sent] == [1, 3, 3]


@bug(5, "pydantic/pydantic-ai#4210")
def test_words_behind_results_stand_in_a_content_of_their_own() -> None:
    body = for_gemini(*TWO_CALLS, user("And Paris?"))
    assert [set(content["parts"][-1]) for content in body["contents"][2:]] == [
        {"functionResponse"},
        {"text"},
    ]
    assert gemini_faults(body) == []


@bug(6, "deepnoodle-ai/dive#287")
async def test_the_note_that_ends_a_run_stands_apart_from_the_last_results() -> None:
    model = Model(Answer(calls=[("double", {"number": 1})]), Answer("It is 2."))
    result = await model.kernel(provider="gemini", max_turns=1).agent([double]).run("Go.")
    assert (result.text, result.stop_reason) == ("It is 2.", "max_turns")
    assert gemini_faults(model.bodies[1]) == []
    assert [set(part) for part in model.bodies[1]["contents"][-1]["parts"]] == [{"text"}]


@bug(7, "pipecat-ai/pipecat#5821", "crewAIInc/crewAI#6973")
def test_a_history_that_ends_with_the_model_is_handed_on_by_a_user_turn() -> None:
    body = for_gemini(user("Hi."), assistant("Hello."))
    assert body["contents"][-1] == {"role": "user", "parts": [{"text": CONTINUED}]}


@bug(8, "lbjlaq/Antigravity-Manager#3396")
def test_a_history_that_begins_with_a_call_behind_its_system_message_gets_a_user_turn() -> None:
    body = for_gemini(system("Be brief."), *TWO_CALLS[1:])
    assert [content["role"] for content in body["contents"]] == ["user", "model", "user"]
    assert gemini_faults(body) == []


@bug(9, "blakeblackshear/frigate#24013", "memex-lab/dart_agent_core#34")
@bug(10, "maximhq/bifrost#2222")
@bug(11, "BerriAI/litellm#20806")
def test_every_content_has_a_role_and_results_are_the_users() -> None:
    sent = contents(system("One."), *TWO_CALLS, system("Late."), assistant("Fine."), user("Thanks"))
    roles = ["user", "model", "user", "user", "model", "user"]
    assert [content["role"] for content in sent] == roles
    assert "functionResponse" in sent[2]["parts"][0]


@bug(12, "vercel/ai#3589", "symfony/ai#2040")
@pytest.mark.parametrize("text", ["", "[1]", "null", "3", '{"$ref": "#/x"}', "plain"])
def test_a_result_is_an_object_with_its_text_whatever_the_text_looks_like(text: str) -> None:
    sent = contents(user("Go."), assistant(OSLO), ToolMessage("call_1", text))
    assert sent[2]["parts"][0]["functionResponse"]["response"] == {"output": text}


# ---- Gemini: ids ---------------------------------------------------------------------------


@bug(13, "NousResearch/hermes-agent#46077", "vercel/ai#15317")
@pytest.mark.parametrize("native", ["96c1su3s", "i" * 64], ids=["short", "too long for OpenAI"])
def test_the_id_that_gemini_gave_comes_back_to_it_on_both_sides(native: str) -> None:
    call = {"functionCall": {"id": native, "name": "weather", "args": {}}}
    message = assign_ids(read(gemini.ADAPTER, gemini_said(call)).message, set(), "gemini")
    result = ToolMessage(message.tool_calls[0].id, "fine")
    _, asked, answered = contents(user("Go."), message, result)
    assert asked["parts"][0]["functionCall"]["id"] == native
    assert answered["parts"][0]["functionResponse"]["id"] == native


@bug(14, "google-gemini/gemini-cli#6974")
def test_a_call_that_came_without_an_id_has_the_same_one_as_its_result() -> None:
    call = {"functionCall": {"name": "weather", "args": {}}}
    message = assign_ids(read(gemini.ADAPTER, gemini_said(call)).message, set(), "gemini")
    body = for_gemini(user("Go."), message, ToolMessage(message.tool_calls[0].id, "fine"))
    _, asked, answered = body["contents"]
    assert asked["parts"][0]["functionCall"]["id"] == "call_1"
    assert answered["parts"][0]["functionResponse"]["id"] == "call_1"


@bug(15, "brightwave-inc/tidebreak#1535")
@pytest.mark.parametrize(("is_error", "key"), [(False, "output"), (True, "error")])
def test_a_result_has_only_the_fields_that_the_wire_knows(*, is_error: bool, key: str) -> None:
    sent = contents(user("Go."), assistant(OSLO), ToolMessage("call_1", "3 °C", is_error=is_error))
    response = {"id": "call_1", "name": "weather", "response": {key: "3 °C"}}
    assert sent[2]["parts"] == [{"functionResponse": response}]


# ---- Gemini: signatures --------------------------------------------------------------------


@bug(16, "platberlitz/SillyBunny#647")
def test_a_signature_is_on_the_part_it_came_on_and_on_no_other() -> None:
    parts: list[Any] = [
        {"text": "One. ", "thoughtSignature": "a"},
        {"text": "Two. ", "thoughtSignature": "b"},
        {"text": "Again. ", "thoughtSignature": "b"},
        {"text": "Three."},
        {"functionCall": {"name": "weather", "args": {}}, "thoughtSignature": "c"},
        {"functionCall": {"name": "weather", "args": {}}},
    ]
    reply = read(gemini.ADAPTER, *map(gemini_said, parts))
    message = assign_ids(reply.message, set(), "gemini")
    results = [ToolMessage(call.id, "fine") for call in message.tool_calls]
    sent = contents(user("Go."), message, *results)
    assert [signatures(content) for content in sent] == [
        [None],
        ["a", "b", "b", None, "c", None],
        [None, None],
    ]


@bug(17, "vercel/ai#12402")
def test_a_signature_on_an_empty_text_is_kept_with_its_part() -> None:
    sealed = {"text": "", "thoughtSignature": "a"}
    reply = read(gemini.ADAPTER, gemini_said({"text": "Hi."}), gemini_said(sealed))
    assert contents(user("Hi."), reply.message)[1]["parts"] == [{"text": "Hi."}, sealed]


@bug(18, "vertesia/llumiverse#470")
@pytest.mark.parametrize("size", [1, 7, 4096])
def test_a_signature_survives_any_cut_of_the_stream(size: int) -> None:
    sealed = ["A/b+" * 500, "c+D/" * 500]
    parts = [{"text": "Hi.", "thoughtSignature": signature} for signature in sealed]
    sent = (f"data: {json.dumps(gemini_said(part))}\r\n\r\n" for part in parts)
    stream = "".join(sent).encode()
    decoder = ChunkDecoder()
    cuts = range(0, len(stream), size)
    chunks = [c for at in cuts for c in decoder.feed(stream[at : at + size])] + decoder.end()
    reply = read(gemini.ADAPTER, *chunks)
    assert signatures(contents(user("Hi."), reply.message)[1]) == sealed


@bug(19, "aaif-goose/goose#7204")
def test_only_what_is_called_a_thought_is_one() -> None:
    said = {"text": "Said.", "thoughtSignature": "a"}
    thought = {"text": "Thought.", "thought": True}
    reply = read(gemini.ADAPTER, gemini_said(thought, said))
    assert (reply.message.text, reply.message.reasoning) == ("Said.", "Thought.")


@bug(20, "decolua/9router#4136")
def test_a_signature_is_given_to_its_issuer_only_though_the_call_ids_are_the_same() -> None:
    used: set[str] = set()
    ours = assign_ids(assistant(ToolCall("x", "weather", "{}", signed("a"))), used, "gemini")
    other = ToolCall("x", "weather", "{}", signed("b", "openai"))
    theirs = assign_ids(assistant(other), used, "openai")
    results = [ToolMessage(message.tool_calls[0].id, "fine") for message in (ours, theirs)]
    sent = contents(user("Go."), ours, results[0], theirs, results[1])
    assert [signatures(content) for content in sent if content["role"] == "model"] == [
        ["a"],
        [UNSIGNED],
    ]


@bug(21, "earendil-works/pi#6996")
@pytest.mark.parametrize("model", [GEMINI_2, GEMINI_3, "gemini-4-argon"])
def test_a_signature_stays_when_the_conversation_goes_to_another_gemini(model: str) -> None:
    call = ToolCall("call_1", "weather", "{}", signed("a"))
    sent = contents(user("Go."), assistant(call), COLD, model=model)
    assert signatures(sent[1]) == ["a"]


@bug(22, "pipecat-ai/pipecat#5809")
@pytest.mark.parametrize(
    ("model", "expected"), [(GEMINI_3, [UNSIGNED, None]), (GEMINI_2, [None, None])]
)
def test_the_first_of_somebody_elses_calls_gets_a_stand_in_where_one_is_wanted(
    model: str, expected: list[str | None]
) -> None:
    assert signatures(contents(*TWO_CALLS, model=model)[1]) == expected


# ---- Gemini: schemas -----------------------------------------------------------------------


@bug(23, "pizza-bot-app/pizza-bot#62", "ahmadrosid/nakama#292")
@bug(24, "lijunzh/koda#1097")
def test_a_schema_goes_into_the_field_for_json_schema_without_words_it_refuses() -> None:
    number = {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 9}
    inner = {"type": "object", "properties": {"n": number}, "additionalProperties": False}
    schema = {"type": "object", "properties": {"deep": {"type": "array", "items": inner}}}
    body = for_gemini(user("Go."), tools=(ToolSpec("t", "A tool.", schema),))
    (declared,) = body["tools"][0]["functionDeclarations"]
    assert set(declared) == {"name", "description", "parametersJsonSchema"}
    sent = declared["parametersJsonSchema"]["properties"]["deep"]["items"]
    assert sent["properties"]["n"] == {"type": "integer", "minimum": 1, "maximum": 8}
    assert sent["additionalProperties"] is False


@bug(25, "agno-agi/agno#2112", "pipecat-ai/pipecat-flows#110")
@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "object", "properties": {}}])
def test_a_tool_without_arguments_has_no_schema(schema: dict[str, Any]) -> None:
    body = for_gemini(user("Go."), tools=(ToolSpec("t", "A tool.", schema),))
    assert body["tools"] == [{"functionDeclarations": [{"name": "t", "description": "A tool."}]}]


# ---- Gemini: answers and errors ------------------------------------------------------------


@bug(26, "inngest/agent-kit#178", "browserbase/stagehand#1379")
@pytest.mark.parametrize("content", [{}, {"content": None}, {"content": {"role": "model"}}])
def test_an_answer_without_parts_is_an_empty_one_with_its_reason(content: Any) -> None:
    reply = read(gemini.ADAPTER, {"candidates": [{**content, "finishReason": "SAFETY"}]})
    assert (reply.message, reply.finish_reason) == (AssistantMessage(()), "content_filter")


@bug(27, "NousResearch/hermes-agent#83882")
@both_ways
async def test_an_answer_that_the_provider_calls_broken_is_no_success(*, stream: bool) -> None:
    model = Model(Answer(finish="error"))
    result = await model.kernel(provider="gemini", stream=stream).agent([double]).run("Go.")
    assert (result.text, result.stop_reason) == ("", "error")
    assert "MALFORMED_FUNCTION_CALL" in result.detail


@bug(28, "NousResearch/hermes-agent#15253", "xalgorix/xalgorix#280")
def test_the_last_count_of_a_stream_counts_once() -> None:
    counts = [{"promptTokenCount": 10, "candidatesTokenCount": n} for n in (1, 4, 9)]
    chunks = [{**gemini_said({"text": "x"}), "usageMetadata": count} for count in counts]
    assert read(gemini.ADAPTER, *chunks).usage == Usage(10, 9, 19)
    counts = [{"prompt_tokens": 10, "completion_tokens": n} for n in (1, 4, 9)]
    chunks = [{**openai_said(content="x"), "usage": count} for count in counts]
    assert read(openai.ADAPTER, *chunks).usage == Usage(10, 9, 19)


@bug(29, "simstudioai/sim#3039")
def test_thinking_counts_as_output() -> None:
    count = {"promptTokenCount": 10, "candidatesTokenCount": 5, "thoughtsTokenCount": 7}
    reply = read(gemini.ADAPTER, {**gemini_said({"text": "x"}), "usageMetadata": count})
    assert reply.usage == Usage(10, 12, 22, reasoning_tokens=7)


@bug(30, "NousResearch/hermes-agent#87208", "vectorize-io/hindsight#3365")
@every_wire
async def test_a_limit_that_thinking_used_up_is_told_and_none_is_set_unasked(spoken: Any) -> None:
    model = Model(Answer(finish="length"))
    result = await model.kernel(**spoken).agent().run("Go.")
    assert (result.text, result.stop_reason) == ("", "length")
    limits = {"generationConfig", "max_tokens", "max_completion_tokens"}
    assert limits & set(model.bodies[0]) == set()


def refusal(code: int, **error: Any) -> httpx.Response:
    return httpx.Response(code, json={"error": {"code": code, **error}})


async def refused(model: Model, **settings: Any) -> LLMError:
    """Ask, and give the error that came of it."""
    with pytest.raises(LLMError) as problem:
        await model.kernel(**settings).agent().run("Go.")
    return problem.value


@bug(31, "google-gemini/gemini-cli#5807")
async def test_a_request_that_is_too_large_is_told_apart_and_not_sent_again() -> None:
    text = "The input token count exceeds the maximum number of tokens allowed (1048576)."
    model = Model(refusal(400, status="INVALID_ARGUMENT", message=text))
    problem = await refused(model, provider="gemini")
    assert (type(problem), len(model.requests)) == (ContextOverflowError, 1)


@bug(32, "letterstory/lettertrace#34")
async def test_the_time_that_gemini_asks_to_wait_is_on_the_error_and_nobody_hurries() -> None:
    wait = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "12.5s"}
    model = Model(refusal(429, status="RESOURCE_EXHAUSTED", message="Later.", details=[wait]))
    problem = await refused(model, provider="gemini")
    assert (type(problem), problem.retry_after, len(model.requests)) == (RateLimited, 12.5, 1)


@bug(33, "googleapis/python-genai#2044")
@every_wire
async def test_a_stream_that_fails_at_its_start_fails_like_a_whole_answer(spoken: Any) -> None:
    answer = httpx.Response(503, headers={"retry-after": "7"}, json={"error": {"message": "Full."}})
    problem = await refused(Model(answer), **spoken)
    assert (type(problem), problem.status, problem.retry_after) == (ServerFailed, 503, 7.0)


# ---- OpenAI: pieces of calls ---------------------------------------------------------------

TWO_READ = [("read", '{"n": 1}'), ("read", '{"n": 2}')]


@bug(34, "ollama/ollama#7881", "ollama/ollama#15457")
@pytest.mark.parametrize("index", [None, 0, -1, 7])
def test_calls_are_told_apart_without_a_good_index(index: int | None) -> None:
    whole = [(index, None, *call) for call in TWO_READ]
    assert calls(read(openai.ADAPTER, *pieces(*whole))) == TWO_READ
    cut = []
    for id_, (name, arguments) in zip("ab", TWO_READ, strict=True):
        cut += [(index, id_, name, ""), (index, None, None, arguments)]
    assert calls(read(openai.ADAPTER, *pieces(*cut))) == TWO_READ


@bug(35, "NousResearch/hermes-agent#11984")
@pytest.mark.parametrize("declared", [frozenset(), frozenset({"read"})], ids=["new", "declared"])
def test_a_name_that_is_repeated_in_each_piece_is_one_name(declared: frozenset[str]) -> None:
    chunks = pieces(*((0, "a", "read", piece) for piece in ('{"n"', ": ", "1}")))
    assert calls(read(openai.ADAPTER, *chunks, tools=declared)) == TWO_READ[:1]


@bug(36, "continuedev/continue#5849")
def test_a_name_that_comes_in_pieces_is_joined() -> None:
    chunks = pieces((0, "a", "re", None), (0, None, "ad", ""), (0, None, None, '{"n": 1}'))
    assert calls(read(openai.ADAPTER, *chunks, tools=frozenset({"read"}))) == TWO_READ[:1]


# ---- OpenAI: answers and errors ------------------------------------------------------------


@bug(37, "open-webui/open-webui#23778", "openai/openai-agents-js#664")
@both_ways
@pytest.mark.parametrize("arguments", ["", " \n", "{}"])
async def test_no_arguments_are_an_empty_object(arguments: str, *, stream: bool) -> None:
    model = Model(Answer(calls=[("ping", arguments)]), Answer("Done."))
    await model.kernel(stream=stream).agent([ping]).run("Go.")
    assert json.loads(model.bodies[1]["messages"][-1]["content"]) == ["pong"]


@bug(38, "anomalyco/opencode#14973", "vercel/workflow#1387")
@every_wire
async def test_calls_are_run_though_the_provider_says_stop(spoken: Any) -> None:
    model = Model(Answer(calls=[("double", {"number": 4})], finish="stop"), Answer("It is 8."))
    result = await model.kernel(**spoken).agent([double]).run("Go.")
    assert (result.text, len(model.requests)) == ("It is 8.", 2)
    assert [turn.reply.finish_reason for turn in result.trace.turns] == ["tool_calls", "stop"]


@bug(39, "mastra-ai/mastra#14187")
@both_ways
@pytest.mark.parametrize(("text", "reason"), [("Done.", "answer"), ("", "empty")])
async def test_calls_that_are_announced_and_do_not_come_end_the_run(
    text: str, reason: str, *, stream: bool
) -> None:
    model = Model(Answer(text, finish="tool_calls"))
    result = await model.kernel(stream=stream).agent([double]).run("Go.")
    assert (result.text, result.stop_reason, len(model.requests)) == (text, reason, 1)
    assert result.trace.turns[0].reply.finish_reason == "stop"


@bug(40, "XSpoonAi/spoon-core#179", "awslabs/llmeter#34")
@pytest.mark.parametrize("none", [{}, {"choices": []}, {"choices": None}, {"choices": [None]}])
def test_a_chunk_without_choices_is_no_fault_and_its_count_is_read(none: dict[str, Any]) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    reply = read(openai.ADAPTER, none, openai_said(content="Hi."), {**none, "usage": usage})
    assert (reply.message.text, reply.usage) == ("Hi.", Usage(10, 5, 15))


@bug(41, "vercel/ai#5171", "openclaw/openclaw#875", "agno-agi/agno#5382")
def test_an_id_that_is_too_long_for_openai_is_another_one_on_its_wire() -> None:
    call = ToolCall("i" * 41, "weather", "{}")
    message = assign_ids(assistant(call), set(), "gemini")
    body = for_openai(user("Go."), message, ToolMessage(message.tool_calls[0].id, "fine"))
    assert openai_faults(body) == []


@bug(42, "BerriAI/litellm#17343")
async def test_a_fault_in_the_request_that_speaks_of_a_maximum_is_no_overflow() -> None:
    text = "Invalid id: string too long. It exceeds the maximum number of tokens allowed: 40."
    model = Model(
        httpx.Response(400, json={"error": {"code": "string_above_max_length", "message": text}})
    )
    assert type(await refused(model)) is RequestRefused


@bug(43, "vercel/ai#13744")
@pytest.mark.parametrize("parts", [(), ("",), (OSLO,), ("Hm.", OSLO)])
def test_content_is_null_beside_calls_only(parts: tuple[Any, ...]) -> None:
    message = assistant(*parts)
    body = for_openai(user("Go."), message, *([COLD] if message.tool_calls else []))
    expected = message.text or (None if message.tool_calls else "")
    assert body["messages"][1]["content"] == expected


@bug(44, "open-webui/open-webui#28570")
@every_wire
async def test_ids_that_repeat_in_each_turn_are_made_unique_with_their_results(spoken: Any) -> None:
    turns = [Answer(calls=[("double", {"number": n})]) for n in range(3)]
    model = Model(*turns, Answer("Done."))
    await model.kernel(**spoken).agent([double]).run("Go.")
    assert [FAULTS[spoken["provider"]](body) for body in model.bodies] == [[], [], [], []]


# ---- OpenAI: requests ----------------------------------------------------------------------


@bug(45, "openai/swarm#30")
def test_nothing_that_belongs_to_tools_is_sent_without_them() -> None:
    belonging = {"tools", "tool_choice", "parallel_tool_calls", "reasoning_effort", "functions"}
    assert belonging & set(for_openai(user("Go."))) == set()


@bug(46, "openai/openai-openapi#541")
async def test_the_effort_that_tools_cost_is_said_in_the_request_and_in_the_log(
    tmp_path: Path,
) -> None:
    model = Model(Answer("Done."))
    http = httpx.AsyncClient(transport=httpx.MockTransport(model))
    settings = Settings(api_key="no-key-needed", model="gpt-5.6-terra", log_dir=tmp_path)
    await build_kernel(settings, http).agent([double]).run("Go.")
    assert model.bodies[0]["reasoning_effort"] == "none"
    assert ["reasoning_effort" in text for text in texts_in(tmp_path)] == [True]


def texts_in(folder: Path) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in folder.iterdir()]


# ---- both wires ----------------------------------------------------------------------------


@bug(47, "diegosouzapw/OmniRoute#8210")
@every_wire
@pytest.mark.parametrize("beside", [{}, {"choices": []}, {"candidates": []}])
async def test_an_error_inside_a_200_is_no_empty_answer(spoken: Any, beside: Any) -> None:
    chunk = json.dumps({**beside, "error": {"code": 503, "message": "Full."}})
    body = f"data: {chunk}\n\ndata: [DONE]\n\n" if spoken["stream"] else chunk
    problem = await refused(Model(httpx.Response(200, text=body)), **spoken)
    assert (type(problem), problem.provider_text) == (ServerFailed, "Full.")


@bug(48, "router-for-me/CLIProxyAPI#1292")
def test_an_empty_text_becomes_no_empty_part() -> None:
    histories: list[list[Message]] = [
        [user("Hi."), assistant(""), user("Well?")],
        [user(""), assistant(TextPart(""), OSLO), COLD],
        [user(), assistant(), user("")],
    ]
    assert [gemini_faults(for_gemini(*history)) for history in histories] == [[], [], []]


@bug(49, "cubist38/mlx-openai-server#205")
@pytest.mark.parametrize("content", [{}, {"content": None}, {"content": ""}, {"content": []}])
def test_a_stored_message_without_content_keeps_its_calls(content: dict[str, Any]) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    stored = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", **content, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "fine"},
    ]
    history = openai_messages.read_request({"messages": stored}).messages
    assert for_openai(*history)["messages"][1]["tool_calls"] == [call]
    assert contents(*history)[1]["parts"][0]["functionCall"]["id"] == "call_1"


@bug(50, "itmisx/deepx-code#94")
def test_a_history_that_was_cut_between_a_call_and_its_results_is_not_sent() -> None:
    history = [system("Be brief."), *TWO_CALLS, assistant("3 and 21."), user("Thanks")]
    for start, end in combinations(range(len(history) + 1), 2):
        cut = history[start:end]
        is_torn = len({part in cut for part in TWO_CALLS[1:]}) == 2
        for build, faults in ((for_openai, openai_faults), (for_gemini, gemini_faults)):
            if is_torn:
                with pytest.raises(TranscriptError):
                    build(*cut)
            else:
                assert faults(build(*cut)) == []


def test_each_of_the_fifty_reports_has_its_test() -> None:
    assert sorted(REPORTS) == list(range(1, 51))
