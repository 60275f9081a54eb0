"""The fake provider understands real requests, and both adapters understand its answers."""

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach import Settings, build_kernel
from freya_teach.errors import RequestRefused, ServerFailed
from freya_teach.lab.gateway import (
    Call,
    Move,
    Question,
    Refused,
    answer,
    call,
    gateway,
    gemini_wire,
    openai_wire,
)
from freya_teach.lab.gateway.wire import pieces, slices
from freya_teach.lab.understand import READERS
from freya_teach.llm.messages import AssistantMessage, ToolMessage, UserMessage
from freya_teach.llm.protocol import Reply
from freya_teach.tools.tool import tool
from tests import recordings

WIRES = {"openai": openai_wire, "gemini": gemini_wire}
TEXT = st.text(st.characters(codec="utf-8"), max_size=40)
VALUE = st.none() | st.booleans() | st.integers() | TEXT
ARGUMENTS = st.dictionaries(TEXT, VALUE | st.lists(VALUE, max_size=3), max_size=3)
CALLS = st.lists(st.builds(Call, st.sampled_from(["one", "two"]), ARGUMENTS), max_size=3)
MOVES = st.builds(Move, TEXT, CALLS.map(tuple)).filter(lambda move: move.text or move.calls)


@tool
def one() -> str:
    """Do one thing."""
    return "done"


async def reply_to(move: Move, wire: str, *, stream: bool, model: str = "") -> Reply:
    """What the kernel understands of the gateway's way to say this."""
    settings = Settings(provider=wire, stream=stream, model=model, max_turns=1)
    kernel = build_kernel(settings, gateway(lambda _: move).client())
    agent = kernel.agent([one], approve=_refuse)
    result = await agent.run("Go on.")
    return result.trace.turns[0].reply


async def _refuse(_: Any) -> str:
    return "this test is about the wire"


# ---- the kernel and the gateway, written apart, agree --------------------------------------


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("wire", ["openai", "gemini"])
@given(move=MOVES)
async def test_what_a_policy_decides_is_what_the_kernel_reads(
    wire: str, move: Move, *, stream: bool
) -> None:
    message = (await reply_to(move, wire, stream=stream)).message
    assert message.text == move.text
    read = [(each.name, json.loads(each.arguments)) for each in message.tool_calls]
    assert read == [(each.name, each.arguments) for each in move.calls]
    ids = [each.id for each in message.tool_calls]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
async def test_a_call_can_be_no_json_on_openais_wire_and_has_no_place_on_geminis(
    *, stream: bool
) -> None:
    move = Move(calls=(Call("one", '{"broken": '),))
    reply = await reply_to(move, "openai", stream=stream)
    assert reply.message.tool_calls[0].arguments == '{"broken": '
    reply = await reply_to(move, "gemini", stream=stream)
    assert (reply.finish_reason, reply.raw_finish_reason) == ("error", "MALFORMED_FUNCTION_CALL")


@pytest.mark.parametrize("wire", ["openai", "gemini"])
async def test_the_tokens_are_counted_alike_whether_streamed_or_not(wire: str) -> None:
    for move in (answer("It is sunny in Beijing."), call("one")):
        plain = await reply_to(move, wire, stream=False)
        streamed = await reply_to(move, wire, stream=True)
        assert plain.usage.total_tokens > 0
        assert streamed.usage.input_tokens >= plain.usage.input_tokens  # it asks for the stream


# ---- real requests, written by other people's programs -------------------------------------


def asked_for_real() -> Sequence[Any]:
    """Recorded requests that a real provider answered.

    Two speak of `functions`, which were there before tools; the gateway knows tools only.
    """
    return [
        pytest.param(recording, id=recording.name)
        for recording in recordings.load()
        if recording.is_model_call and recording.status == 200
        if recording.kind != "legacy_function_call"
    ]


@pytest.mark.parametrize("recording", asked_for_real())
def test_a_real_request_is_understood_as_the_kernel_understands_it(recording: Any) -> None:
    wire = recording.provider_wire
    body = recording.request["body"]
    question = WIRES[wire].understand(body, httpx.URL(recording.request["url"]).path)
    read = READERS[wire](body)
    assert [tool.name for tool in question.tools] == [tool.name for tool in read.tools]
    assert [call.name for said in question.said for call in said.calls] == [
        call.name
        for message in read.messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
    ]
    assert _texts(question, "user") == "".join(
        message.text for message in read.messages if isinstance(message, UserMessage)
    )
    results = [message for message in read.messages if isinstance(message, ToolMessage)]
    assert len([said for said in question.said if said.role == "tool"]) == len(results)


def _texts(question: Question, role: str) -> str:
    return "".join(said.text for said in question.said if said.role == role)


# ---- what a policy sees --------------------------------------------------------------------


@pytest.mark.parametrize("wire", ["openai", "gemini"])
async def test_a_policy_sees_the_question_the_calls_and_their_results(wire: str) -> None:
    seen: list[Question] = []

    def policy(question: Question) -> Move:
        seen.append(question)
        return answer("Done.") if question.results else Move(calls=(Call("one", {}),) * 2)

    settings = Settings(provider=wire)
    kernel = build_kernel(settings, gateway(policy).client())
    await kernel.agent([one], instructions="Be brief.").run("Do it twice.")
    first, second = seen
    assert (first.wire, first.model, first.stream) == (wire, settings.model_name, False)
    assert [(said.role, said.text) for said in first.said] == [
        ("system", "Be brief."),
        ("user", "Do it twice."),
    ]
    assert first.tools[0].description == "Do one thing."
    assert [each.name for each in second.calls] == ["one", "one"]
    assert [(said.name, said.text) for said in second.results] == [("one", "done")] * 2
    assert {said.call_id for said in second.results} == {each.id for each in second.calls}
    assert second.asked == "Do it twice."


async def test_a_policy_may_be_async_because_a_person_can_be_asked() -> None:
    async def person(question: Question) -> Move:
        return answer(f"You asked: {question.asked}")

    kernel = build_kernel(Settings(), gateway(person).client())
    assert str(await kernel.agent().run("Hi?")) == "You asked: Hi?"


async def test_a_policy_that_returns_no_move_is_told_so() -> None:
    kernel = build_kernel(Settings(), gateway(lambda _: "Hi!").client())  # type: ignore[arg-type,return-value]
    with pytest.raises(TypeError, match="a policy returns a Move"):
        await kernel.agent().run("Hi?")


async def test_a_rule_refuses_before_the_policy_is_asked() -> None:
    def no_long_questions(question: Question, _: Any) -> None:
        if len(question.asked) > 10:
            raise openai_wire.refusal("Too long.", "messages")

    asked = gateway(lambda _: answer("Hi."), [no_long_questions])
    agent = build_kernel(Settings(), asked.client()).agent()
    assert str(await agent.run("Hi?")) == "Hi."
    with pytest.raises(RequestRefused, match="Too long"):
        await agent.run("Hi? " * 10)
    assert len(asked.asked) == 1


# ---- what cannot be understood -------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "content", "status", "said"),
    [
        ("https://api.openai.com/v1/nothing", b"{}", 404, "Invalid URL (POST /v1/nothing)"),
        ("https://api.openai.com/v1/chat/completions", b"{", 400, "could not parse the JSON"),
        ("https://api.openai.com/v1/chat/completions", b"[]", 400, "could not parse the JSON"),
        ("https://api.openai.com/v1/chat/completions", b"{}", 400, "provide a model"),
        (
            "https://api.openai.com/v1/chat/completions",
            b'{"model": "m"}',
            400,
            "Missing required parameter: 'messages'",
        ),
        (
            "https://api.openai.com/v1/chat/completions",
            b'{"model": "m", "messages": [{"role": "robot"}]}',
            400,
            "Invalid value: 'robot'. Supported values are: 'system'",
        ),
        ("https://g.example/v1beta/models/m:generateContent", b"", 400, "Invalid JSON payload"),
        ("https://g.example/v1beta/models/m:generateContent", b"{}", 400, "contents is not spec"),
    ],
)
async def test_what_holds_no_question_is_refused_in_the_providers_envelope(
    url: str, content: bytes, status: int, said: str
) -> None:
    async with gateway(lambda _: answer("never")).client() as http:
        response = await http.post(url, content=content)
    assert response.status_code == status
    assert said in response.json()["error"]["message"]


@pytest.mark.parametrize("wire", ["openai", "gemini"])
@given(body=st.recursive(VALUE, lambda x: st.lists(x) | st.dictionaries(TEXT, x), max_leaves=8))
def test_any_json_is_understood_or_refused(wire: str, body: Any) -> None:
    entry = {"role": "user", "content": body, "parts": body, "tool_calls": body}
    for sent in (body, {"model": "m", "messages": body}, {"contents": body}):
        _try(wire, sent)
    _try(wire, {"model": "m", "messages": [entry], "contents": [entry], "tools": body})


def _try(wire: str, body: Any) -> None:
    with suppress(Refused):
        assert WIRES[wire].understand(body, "/v1beta/models/m:generateContent").wire == wire


async def test_the_kernel_reads_a_refusal_as_a_typed_error() -> None:
    def refuses(_: Question, __: Any) -> None:
        raise Refused(500, {"error": {"message": "Sorry about that!"}})

    agent = build_kernel(Settings(), gateway(lambda _: answer(""), [refuses]).client()).agent()
    with pytest.raises(ServerFailed):
        await agent.run("Hi?")


# ---- pieces --------------------------------------------------------------------------------


@given(st.text())
def test_the_pieces_of_a_text_are_the_text(text: str) -> None:
    assert "".join(pieces(text)) == text
    assert "".join(slices(text)) == text
    assert all(pieces(text))
