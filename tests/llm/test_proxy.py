"""Which route answers, in its own dialect. What each failure leads to is in `test_failover.py`."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx
import pytest

from freya_teach.ambient import Ambient
from freya_teach.config import RouteSettings, Settings
from freya_teach.errors import (
    AllRoutesFailed,
    AuthError,
    ConfigError,
    NeedsSmaller,
    ServerFailed,
    UnsupportedContent,
)
from freya_teach.llm.health import Health
from freya_teach.llm.messages import ImagePart, user
from freya_teach.llm.models import facts_for
from freya_teach.llm.protocol import Exchange, ModelRequest, Route, TextDelta
from freya_teach.llm.proxy import ADAPTERS, Proxy, route_from, routes_from
from freya_teach.llm.request_tokens import request_tokens
from freya_teach.llm.tokens import CalibratedCounter

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
        assert Settings(provider=name).provider == adapter.name


def test_the_fallbacks_are_routes_behind_the_first_each_with_its_own_key_and_facts() -> None:
    settings = Settings(
        api_key="first",
        fallbacks=(
            RouteSettings(provider="gemini", api_key="second"),
            RouteSettings(model="my-llama", base_url="http://127.0.0.1:8080/v1"),
        ),
        models={"my-llama": {"window": 32_768}, "@127.0.0.1:8080": {"content_with_calls": ""}},
    )
    first, second, third = routes_from(settings)
    assert (first.name, second.name) == ("openai/gpt-5.6-terra", "gemini/gemini-3.8-flash")
    assert (first.api_key, second.api_key, third.api_key) == ("first", "second", "")
    assert (third.facts.window, third.facts.content_with_calls) == (32_768, "")
    assert first.facts == facts_for("gpt-5.6-terra")


@pytest.mark.parametrize(
    ("route", "issuer"),
    [
        (Route("openai", "m", "https://api.openai.com"), "openai"),
        (Route("openai", "m", "http://me:secret@127.0.0.1:8080"), "openai@127.0.0.1:8080"),
        (Route("openai", "m", "https://api.example"), "openai@api.example"),
        (Route("gemini", "m", "https://generativelanguage.googleapis.com"), "gemini"),
        (Route("gemini", "m", "https://proxy.example"), "gemini"),
        (Route("mine", "m", "https://api.example"), "mine@api.example"),
    ],
)
def test_each_server_of_a_wire_is_an_issuer_of_its_own(route: Route, issuer: str) -> None:
    assert route.issuer == issuer


def test_a_provider_without_an_adapter_is_refused_when_the_proxy_is_built() -> None:
    with pytest.raises(ConfigError, match=r"no adapter for 'mine': known are openai, gemini"):
        Proxy(
            (Route("mine", "m", "https://a.example"),), httpx.AsyncClient(), Settings(), Ambient()
        )


# ---- order and health ----------------------------------------------------------------------

ABC = tuple(Route("openai", name, f"https://{name}.example") for name in "abc")


def test_the_preferred_route_is_first_and_the_others_keep_their_order() -> None:
    health = Health(ABC, lambda: 0.0)
    assert list(health.order()) == [0, 1, 2]
    assert list(health.order("openai/c")) == [2, 0, 1]
    assert list(health.order("gemini/unknown")) == [0, 1, 2]


def test_a_route_that_cools_down_is_last_even_if_preferred_until_its_time_is_over() -> None:
    now = [0.0]
    health = Health(ABC, lambda: now[0])
    health.failed(0, 30)
    health.failed(0, 10)
    assert list(health.order("openai/a")) == [1, 2, 0]
    now[0] = 29.9
    assert list(health.order("openai/a")) == [1, 2, 0]
    now[0] = 30
    assert list(health.order("openai/a")) == [0, 1, 2]


def test_a_route_that_answers_is_well_and_one_without_cool_down_was_never_ill() -> None:
    health = Health(ABC, lambda: 0.0)
    health.failed(1, 0)
    health.failed(0, 30)
    health.answered(0)
    assert list(health.order()) == [0, 1, 2]


class Servers:
    """One server for each host, and who was asked."""

    def __init__(self, **by_host: Any) -> None:
        self.by_host = by_host
        self.asked: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        host = request.url.host.partition(".")[0]
        self.asked.append(host)
        answer = self.by_host[host]
        return httpx.Response(*answer) if isinstance(answer, tuple) else answer(request)

    async def ask(
        self,
        *routes: Route,
        request: ModelRequest | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Exchange:
        chosen = Settings.model_validate({"retry_seconds": 0, **(settings or {})})
        async with httpx.AsyncClient(transport=httpx.MockTransport(self)) as http:
            proxy = Proxy(routes, http, chosen, Ambient())
            return await proxy.complete(request or ModelRequest((user("Hi"),)))


def hello(_: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json=SAID_BY_OPENAI)


async def test_a_route_that_failed_is_not_asked_by_the_next_request() -> None:
    servers, now = Servers(a=lambda _: httpx.Response(401, json={}), b=hello, c=hello), [0.0]
    async with httpx.AsyncClient(transport=httpx.MockTransport(servers)) as http:
        proxy = Proxy(ABC, http, Settings(), Ambient(monotonic=lambda: now[0]))
        for _ in range(2):
            await proxy.complete(ModelRequest((user("Hi"),)))
        now[0] = 601
        await proxy.complete(ModelRequest((user("Hi"),), prefer="openai/b"))
        await proxy.complete(ModelRequest((user("Hi"),)))
    assert servers.asked == ["a", "b", "b", "b", "a", "b"]


async def test_where_all_cool_down_they_are_asked_all_the_same() -> None:
    servers = Servers(a=lambda _: httpx.Response(401, json={}), b=lambda _: httpx.Response(401))
    async with httpx.AsyncClient(transport=httpx.MockTransport(servers)) as http:
        proxy = Proxy(ABC[:2], http, Settings(), Ambient())
        for _ in range(2):
            with pytest.raises(AllRoutesFailed, match=r"(?s)openai/a: auth.*openai/b: auth"):
                await proxy.complete(ModelRequest((user("Hi"),)))
    assert servers.asked == ["a", "b", "a", "b"]


async def test_with_one_route_its_own_error_is_raised_with_its_attempts() -> None:
    servers = Servers(a=lambda _: httpx.Response(401, json={"error": {"message": "No key."}}))
    with pytest.raises(AuthError, match="No key") as caught:
        await servers.ask(ABC[0])
    (attempt,) = caught.value.attempts
    assert (attempt.route, attempt.error, attempt.status) == ("openai/a", "auth", 401)
    assert str(attempt) == "openai/a: auth: openai answered HTTP 401: No key."


async def test_an_answer_tells_who_gave_it() -> None:
    exchange = await Servers(a=hello).ask(ABC[0])
    assert (exchange.route, exchange.issuer) == ("openai/a", "openai@a.example")
    assert [str(each) for each in exchange.attempts] == ["openai/a: answered"]


async def test_no_key_stands_in_what_is_told_of_the_attempts() -> None:
    keyed = [replace(route, api_key="no-key-but-secret") for route in ABC[:2]]
    quoted = {"error": {"message": "Incorrect API key provided: no-key-but-secret"}}
    servers = Servers(
        a=lambda _: httpx.Response(401, json=quoted), b=lambda _: httpx.Response(401, json=quoted)
    )
    with pytest.raises(AllRoutesFailed) as caught:
        await servers.ask(*keyed)
    assert "no-key-but-secret" not in str(caught.value) + repr(caught.value.attempts)


# ---- windows -------------------------------------------------------------------------------


def sized(name: str, window: int) -> Route:
    facts = replace(facts_for("gpt-4o"), window=window)
    return Route("openai", name, f"https://{name}.example", facts=facts)


LONG = ModelRequest((user("word " * 2_000),))
"""About 2,500 tokens."""


async def test_a_route_whose_window_is_too_small_is_passed_over() -> None:
    servers = Servers(a=hello, b=hello)
    exchange = await servers.ask(sized("a", 2_000), sized("b", 3_000), request=LONG)
    assert (servers.asked, exchange.route) == (["b"], "openai/b")
    assert [each.error for each in exchange.attempts] == ["needs_smaller", ""]


async def test_when_no_window_is_large_enough_nothing_is_sent() -> None:
    servers = Servers(a=hello, b=hello, c=hello)
    routes = (sized("a", 1_000), sized("b", 2_000), sized("c", 500))
    with pytest.raises(NeedsSmaller, match=r"openai/b takes 2,000: nothing was sent") as caught:
        await servers.ask(*routes, request=LONG)
    assert servers.asked == []
    assert (caught.value.route, caught.value.window) == ("openai/b", 2_000)
    assert caught.value.tokens == request_tokens(LONG, CalibratedCounter())


async def test_a_window_that_is_a_guess_refuses_nothing() -> None:
    request = ModelRequest((user("word " * 20_000),))
    assert facts_for("my-llama").guessed
    await Servers(a=hello).ask(Route("openai", "my-llama", "https://a.example"), request=request)


async def test_a_smaller_window_is_no_way_out_of_an_overflow() -> None:
    overflow = {"error": {"message": "too long", "code": "context_length_exceeded"}}
    servers = Servers(a=lambda _: httpx.Response(400, json=overflow), b=hello, c=hello)
    routes = (sized("a", 10_000), sized("b", 9_000), sized("c", 11_000))
    assert (await servers.ask(*routes)).route == "openai/c"
    assert servers.asked == ["a", "c"]


async def test_an_overflow_is_what_is_told_when_the_larger_window_is_down() -> None:
    """It is the one of the two that can be cured, by a shorter history."""
    overflow = {"error": {"message": "too long", "code": "context_length_exceeded"}}
    servers = Servers(
        a=lambda _: httpx.Response(400, json=overflow), c=lambda _: httpx.Response(503)
    )
    with pytest.raises(Exception, match="too long") as caught:
        await servers.ask(sized("a", 10_000), sized("c", 11_000))
    problem = caught.value
    assert [each.error for each in getattr(problem, "attempts", ())] == [
        "context_overflow",
        "server",
    ]


# ---- what a route cannot carry -------------------------------------------------------------

PICTURE = ModelRequest((user("?", ImagePart("", url="https://a.example/cat.png")),))
TO_GEMINI = Route("gemini", "gemini-3.8-flash", "https://g.example")


async def test_an_image_by_address_is_an_error_at_gemini_and_no_reason_to_ask_another() -> None:
    servers = Servers(g=hello, a=hello)
    with pytest.raises(UnsupportedContent, match="takes an image's bytes, not its address"):
        await servers.ask(TO_GEMINI, ABC[0], request=PICTURE)
    assert servers.asked == []


async def test_as_a_fallback_such_a_route_hides_no_failure_of_the_first() -> None:
    servers = Servers(a=lambda _: httpx.Response(503, json={}), g=hello)
    with pytest.raises(AllRoutesFailed, match=r"(?s)server.*unsupported_content") as caught:
        await servers.ask(ABC[0], TO_GEMINI, request=PICTURE)
    assert isinstance(caught.value.__cause__, ServerFailed)
    assert servers.asked == ["a"]
