"""The providers' own Python packages do the course's task against the gateway as a server.

Nothing of them is changed but the address. They are written by those who made the wires, so what
they accept says more about the gateway than our own kernel can.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from freya_teach.lab.demo import QUESTION
from freya_teach.lab.gateway import Gateway, Trouble, gateway
from freya_teach.lab.gateway.faults import error_in_stream, html_page
from freya_teach.lab.gateway.refusing import (
    bad_key,
    context_overflow,
    model_gone,
    overloaded,
    rate_limited,
    server_error,
)
from freya_teach.lab.gateway.server import Serving, serve
from freya_teach.lab.policy import assistant
from freya_teach.lab.sample_tools import calculate, get_current_weather
from freya_teach.tools.tool import tool

openai = pytest.importorskip("openai", reason="OpenAI's own client is not installed")
genai = pytest.importorskip("google.genai", reason="Google's own client is not installed")

# Where aiohttp is installed (JupyterHub brings it), Google's client uses it as it warns not to.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Inheritance class AiohttpClientSession:DeprecationWarning"
)

ANSWER = "In Beijing: sunny, 15 °C. The calculation gives 120."
TOOLS = {each.name: each for each in (tool(get_current_weather), tool(calculate))}
FUNCTIONS = {"get_current_weather": get_current_weather, "calculate": calculate}
STREAMS = pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
GUARD = 60


@asynccontextmanager
async def serving(*troubles: Trouble) -> AsyncIterator[tuple[Serving, Gateway]]:
    """Serve the course's policy; a client that hangs fails the test."""
    asked = gateway(assistant, troubles=troubles)
    async with asyncio.timeout(GUARD), serve(asked) as here:
        yield here, asked


def result_of(name: str, arguments: dict[str, Any]) -> Any:
    """Run the tool that was asked for."""
    return FUNCTIONS[name](**arguments)


def as_text(result: Any) -> str:
    """Write a result as text, which is all that OpenAI's wire carries."""
    return result if isinstance(result, str) else json.dumps(result)


# ---- OpenAI's ------------------------------------------------------------------------------


def openai_client(here: Serving, retries: int = 0) -> Any:
    """Make OpenAI's client for this gateway."""
    return openai.AsyncOpenAI(base_url=here.openai, api_key="any", max_retries=retries)


def openai_tools() -> list[dict[str, Any]]:
    """Describe the two tools as OpenAI wants them."""
    specs = [each.spec for each in TOOLS.values()]
    return [
        {
            "type": "function",
            "function": {
                "name": spec.name,
                "description": spec.description,
                "parameters": spec.parameters,
            },
        }
        for spec in specs
    ]


async def openai_turn(client: Any, messages: list[Any], *, stream: bool) -> Any:
    """Ask once; the whole message, from one body or put together by the client itself."""
    asking = {
        "model": "gpt-5.6-terra",
        "messages": messages,
        "tools": openai_tools(),
        "reasoning_effort": "none",  # the model takes no tools otherwise
    }
    if not stream:
        return (await client.chat.completions.create(**asking)).choices[0].message
    async with client.chat.completions.stream(**asking) as events:
        return (await events.get_final_completion()).choices[0].message


@STREAMS
async def test_openais_client_does_the_task_with_two_tools(*, stream: bool) -> None:
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    async with serving() as (here, asked), openai_client(here) as client:
        message = await openai_turn(client, messages, stream=stream)
        assert [call.function.name for call in message.tool_calls] == list(TOOLS)
        messages.append(message.to_dict())
        for call in message.tool_calls:
            result = result_of(call.function.name, json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": as_text(result)})
        message = await openai_turn(client, messages, stream=stream)
    assert message.content == ANSWER
    assert not message.tool_calls
    assert [question.stream for question in asked.asked] == [stream] * 2


OPENAI_ERRORS = {
    "rate_limited": (rate_limited(), "RateLimitError", "rate_limit_exceeded"),
    "server_error": (server_error(), "InternalServerError", None),
    "overloaded": (overloaded(), "InternalServerError", "server_is_overloaded"),
    "bad_key": (bad_key(), "AuthenticationError", "invalid_api_key"),
    "model_gone": (model_gone(), "NotFoundError", "model_not_found"),
    "context_overflow": (context_overflow(), "BadRequestError", "context_length_exceeded"),
    "html_page": (html_page(502), "InternalServerError", None),
}


@pytest.mark.parametrize("name", OPENAI_ERRORS)
async def test_openais_client_raises_the_error_that_a_trouble_stands_for(name: str) -> None:
    trouble, error, code = OPENAI_ERRORS[name]
    async with serving(trouble) as (here, _), openai_client(here) as client:
        with pytest.raises(openai.APIStatusError) as caught:
            await openai_turn(client, [{"role": "user", "content": "Hi?"}], stream=False)
    assert type(caught.value).__name__ == error
    assert caught.value.code == code


async def test_openais_client_raises_what_comes_inside_a_stream() -> None:
    async with serving(error_in_stream()) as (here, _), openai_client(here) as client:
        with pytest.raises(openai.APIError, match="The server had an error"):
            await openai_turn(client, [{"role": "user", "content": "Hi?"}], stream=True)


async def test_openais_client_waits_as_long_as_a_429_says_and_comes_again() -> None:
    trouble = rate_limited(retry_after_ms=1).on(1)
    async with serving(trouble) as (here, asked), openai_client(here, retries=1) as client:
        await openai_turn(client, [{"role": "user", "content": "Hi?"}], stream=False)
    assert (len(asked.arrived), len(asked.asked)) == (2, 1)


# ---- Google's ------------------------------------------------------------------------------


def genai_client(here: Serving) -> Any:
    """Make Google's client for this gateway."""
    return genai.Client(api_key="any", http_options={"base_url": here.gemini})


def genai_config() -> Any:
    """Offer the two tools; the calls come back to us."""
    declarations = [
        genai.types.FunctionDeclaration(
            name=each.spec.name,
            description=each.spec.description,
            parameters_json_schema=each.spec.parameters,
        )
        for each in TOOLS.values()
    ]
    return genai.types.GenerateContentConfig(
        tools=[genai.types.Tool(function_declarations=declarations)]
    )


async def genai_turn(client: Any, contents: list[Any], *, stream: bool) -> Any:
    """Ask once; the model's content, with the parts of all chunks."""
    asking = {"model": "gemini-3.8-flash", "contents": contents, "config": genai_config()}
    if not stream:
        return (await client.aio.models.generate_content(**asking)).candidates[0].content
    chunks = [chunk async for chunk in await client.aio.models.generate_content_stream(**asking)]
    parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts or []]
    return genai.types.Content(role="model", parts=parts)


@STREAMS
async def test_googles_client_does_the_task_with_two_tools(*, stream: bool) -> None:
    types = genai.types
    contents = [types.Content(role="user", parts=[types.Part(text=QUESTION)])]
    async with serving() as (here, asked):
        client = genai_client(here)
        content = await genai_turn(client, contents, stream=stream)
        calls = [part.function_call for part in content.parts if part.function_call]
        assert [call.name for call in calls] == list(TOOLS)
        answers = [
            types.FunctionResponse(
                id=call.id, name=call.name, response={"result": result_of(call.name, call.args)}
            )
            for call in calls
        ]
        parts = [types.Part(function_response=each) for each in answers]
        contents += [content, types.Content(role="user", parts=parts)]
        content = await genai_turn(client, contents, stream=stream)
        await client.aio.aclose()
        client.close()
    assert "".join(part.text or "" for part in content.parts) == ANSWER
    assert [question.stream for question in asked.asked] == [stream] * 2


async def test_googles_client_runs_the_loop_itself_when_it_is_given_functions() -> None:
    async with serving() as (here, asked):
        client = genai_client(here)
        response = await client.aio.models.generate_content(
            model="gemini-3.8-flash",
            contents=QUESTION,
            config=genai.types.GenerateContentConfig(tools=list(FUNCTIONS.values())),
        )
        await client.aio.aclose()
        client.close()
    assert response.text == ANSWER
    assert len(asked.asked) == 2


GENAI_ERRORS = {
    "rate_limited": (rate_limited(2), "ClientError", 429, "RESOURCE_EXHAUSTED"),
    "server_error": (server_error(), "ServerError", 500, "INTERNAL"),
    "overloaded": (overloaded(), "ServerError", 503, "UNAVAILABLE"),
    "bad_key": (bad_key(), "ClientError", 400, "INVALID_ARGUMENT"),
    "model_gone": (model_gone(), "ClientError", 404, "NOT_FOUND"),
    "context_overflow": (context_overflow(), "ClientError", 400, "INVALID_ARGUMENT"),
}


@STREAMS
@pytest.mark.parametrize("name", GENAI_ERRORS)
async def test_googles_client_raises_the_error_that_a_trouble_stands_for(
    name: str, *, stream: bool
) -> None:
    trouble, error, code, status = GENAI_ERRORS[name]
    async with serving(trouble) as (here, _):
        client = genai_client(here)
        with pytest.raises(genai.errors.APIError) as caught:
            await genai_turn(client, ["Hi?"], stream=stream)
        await client.aio.aclose()
        client.close()
    assert type(caught.value).__name__ == error
    assert (caught.value.code, caught.value.status) == (code, status)


async def test_googles_client_raises_what_comes_inside_a_stream() -> None:
    async with serving(error_in_stream()) as (here, _):
        client = genai_client(here)
        with pytest.raises(genai.errors.APIError) as caught:
            await genai_turn(client, ["Hi?"], stream=True)
        await client.aio.aclose()
        client.close()
    assert caught.value.code == 500
