"""Which route answers: for now the first one, in its own dialect."""

import json

import httpx
import pytest

from freya_teach.ambient import Ambient
from freya_teach.config import Settings
from freya_teach.errors import ConfigError
from freya_teach.llm.messages import user
from freya_teach.llm.protocol import ModelRequest, Route, TextDelta
from freya_teach.llm.proxy import ADAPTERS, Proxy, route_from

SAID_BY_OPENAI = {"choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}]}
SAID_BY_GEMINI = {
    "candidates": [{"content": {"parts": [{"text": "Hello."}]}, "finishReason": "STOP"}]
}


@pytest.mark.parametrize(
    ("settings", "route"),
    [
        (
            Settings(api_key="no-key-needed"),
            Route("openai", "gpt-5.6-terra", "https://api.openai.com", "no-key-needed"),
        ),
        (
            Settings(provider="openai", model="qwen3", base_url="http://127.0.0.1:8080/v1/"),
            Route("openai", "qwen3", "http://127.0.0.1:8080"),
        ),
        (
            Settings(provider="gemini"),
            Route("gemini", "gemini-3.8-flash", "https://generativelanguage.googleapis.com"),
        ),
    ],
)
def test_the_settings_describe_one_route(settings: Settings, route: Route) -> None:
    assert route_from(settings) == route


def test_the_key_is_not_shown_when_a_route_is_printed() -> None:
    assert "no-key-needed" not in repr(Route("openai", "m", "https://a.example", "no-key-needed"))


@pytest.mark.parametrize(
    ("provider", "path", "said"),
    [
        ("openai", "/v1/chat/completions", SAID_BY_OPENAI),
        ("gemini", "/v1beta/models/m:generateContent", SAID_BY_GEMINI),
    ],
)
async def test_the_first_route_is_asked_in_its_providers_dialect(
    provider: str, path: str, said: object
) -> None:
    asked = []

    def serve(request: httpx.Request) -> httpx.Response:
        asked.append((request.url.host, request.url.path))
        return httpx.Response(200, content=json.dumps(said))

    routes = (
        Route(provider, "m", "https://first.example"),
        Route("openai", "m", "https://b.example"),
    )
    deltas = []
    async with httpx.AsyncClient(transport=httpx.MockTransport(serve)) as http:
        proxy = Proxy(routes, http, Settings(), Ambient())
        exchange = await proxy.complete(ModelRequest((user("Hi"),)), deltas.append)
    assert asked == [("first.example", path)]
    assert exchange.reply.message.text == "Hello."
    assert TextDelta("Hello.") in deltas


def test_without_a_route_there_is_no_proxy() -> None:
    with pytest.raises(ConfigError, match="no route"):
        Proxy((), httpx.AsyncClient(), Settings(), Ambient())


def test_every_provider_that_can_be_set_has_an_adapter() -> None:
    for name, adapter in ADAPTERS.items():
        assert Settings(provider=name).provider == adapter.name  # type: ignore[arg-type]
