"""Refusals that are mended and sent once more; the history stays as it is."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from freya_teach.ambient import Ambient
from freya_teach.config import Settings
from freya_teach.errors import RequestRefused
from freya_teach.llm.gemini import UNSIGNED
from freya_teach.llm.messages import (
    Message,
    ProviderData,
    ToolCall,
    ToolMessage,
    assistant,
    user,
)
from freya_teach.llm.protocol import Exchange, ModelRequest, Route
from freya_teach.llm.proxy import Proxy

SIGNED = ProviderData("gemini", {"signature": "c2lnbmVk"})
LONG_ID = "i" * 43
HISTORY: tuple[Message, ...] = (
    user("?"),
    assistant(ToolCall("a", "f", "{}", SIGNED), ToolCall(LONG_ID, "f", "{}")),
    ToolMessage(LONG_ID, "2"),
    ToolMessage("a", "1"),
)
HELLO_GEMINI = {"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]}
HELLO_OPENAI = {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}


async def asked(
    provider: str, text: str, accepts: Callable[[Any], bool]
) -> tuple[Exchange, list[Any]]:
    """Ask a server that refuses with this text until the body is accepted."""
    bodies: list[Any] = []

    def serve(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.content))
        if accepts(bodies[-1]):
            return httpx.Response(200, json=HELLO_GEMINI if provider == "gemini" else HELLO_OPENAI)
        return httpx.Response(400, json={"error": {"message": text}})

    model = {"gemini": "gemini-3.8-flash", "openai": "gpt-5.6-terra"}[provider]
    route = Route(provider, model, "https://a.example")
    async with httpx.AsyncClient(transport=httpx.MockTransport(serve)) as http:
        proxy = Proxy((route,), http, Settings(), Ambient())
        return await proxy.complete(ModelRequest(HISTORY)), bodies


def signatures(body: Any) -> list[str | None]:
    return [part.get("thoughtSignature") for part in body["contents"][1]["parts"]]


@pytest.mark.parametrize(
    "text",
    [
        "Corrupted thought signature.",
        "Invalid thought signature.",
        "Invalid value at 'contents[1].parts[0].thought_signature' (TYPE_BYTES)",
    ],
)
async def test_a_signature_that_is_not_accepted_gives_way_to_the_stand_in(text: str) -> None:
    exchange, bodies = await asked("gemini", text, lambda body: signatures(body)[0] == UNSIGNED)
    assert [signatures(body) for body in bodies] == [["c2lnbmVk", None], [UNSIGNED, None]]
    assert [each.error for each in exchange.attempts] == ["bad_request", ""]


async def test_a_call_id_that_is_not_accepted_is_numbered_with_its_result() -> None:
    text = (
        "Invalid 'messages[1].tool_calls[1].id': string too long. Expected a string with maximum "
        "length 40, but got a string with length 43 instead."
    )
    _, bodies = await asked("openai", text, lambda body: LONG_ID not in json.dumps(body))
    _, calls, *results = bodies[1]["messages"]
    assert [call["id"] for call in calls["tool_calls"]] == ["call_1", "call_2"]
    assert [(result["tool_call_id"], result["content"]) for result in results] == [
        ("call_2", "2"),
        ("call_1", "1"),
    ]


@pytest.mark.parametrize(
    ("provider", "text", "times"),
    [
        ("gemini", "Corrupted thought signature.", 2),
        ("gemini", "Please ensure that function call turn comes immediately after …", 1),
        ("openai", "Invalid value for 'content': expected a string, got null.", 1),
    ],
)
async def test_it_is_sent_once_more_and_only_where_there_is_something_to_mend(
    provider: str, text: str, times: int
) -> None:
    refused: list[Any] = []

    def never(body: Any) -> bool:
        refused.append(body)
        return False

    with pytest.raises(RequestRefused):
        await asked(provider, text, never)
    assert len(refused) == times
