"""A wire that the kernel does not bring is two functions, handed in when it is built."""

import json
from typing import Any

import httpx
import pytest

from freya_teach import InMemoryHistory, Settings, build_kernel
from freya_teach.config import RouteSettings
from freya_teach.errors import ConfigError, ContextOverflowError, RateLimited
from freya_teach.lab.gateway.gateway import gateway
from freya_teach.lab.policy import assistant as policy
from freya_teach.lab.sample_tools import calculate, get_current_weather
from tests.llm.anthropic_wire import ADAPTER

QUESTION = "What is the weather in Beijing today, and how much is 15 * 8?"
OWN = {"provider": "anthropic", "model": "m", "base_url": "https://api.example"}
USAGE = {"input_tokens": 10, "output_tokens": 5}
CALLS = [
    {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "get_current_weather",
        "input": {"city": "Beijing"},
    },
    {"type": "tool_use", "id": "toolu_2", "name": "calculate", "input": {"expression": "15 * 8"}},
]


class Server:
    """A model on the third wire: two calls at once, and an answer from their results."""

    def __init__(self) -> None:
        self.bodies: list[Any] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        assert request.url.path == "/v1/messages"
        self.bodies.append(json.loads(request.content))
        last = self.bodies[-1]["messages"][-1]["content"]
        content, reason = CALLS, "tool_use"
        if last[0]["type"] == "tool_result":
            told = "; ".join(block["content"] for block in last)
            content, reason = [{"type": "text", "text": told}], "end_turn"
        return httpx.Response(200, json={"content": content, "stop_reason": reason, "usage": USAGE})


def client(answer: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.MockTransport(answer))


async def test_the_two_tool_task_runs_over_a_third_wire() -> None:
    server = Server()
    settings = Settings.model_validate({**OWN, "api_key": "no-key-needed"})
    kernel = build_kernel(settings, client(server), adapters={"anthropic": ADAPTER})
    agent = kernel.agent([get_current_weather, calculate], instructions="Be brief.")
    session = InMemoryHistory()
    result = await agent.run(QUESTION, session=session)
    assert (result.stop_reason, "120" in result.text) == ("answer", True)
    assert [call.call.id for call in result.trace.calls] == ["toolu_1", "toolu_2"]
    assert result.trace.usage.total_tokens == 30
    assert session.model == "anthropic/m"
    assert server.bodies[1]["system"] == "Be brief."
    assert [turn["role"] for turn in server.bodies[1]["messages"]] == ["user", "assistant", "user"]


@pytest.mark.parametrize("other", ["openai", "gemini"])
async def test_it_takes_over_from_either_and_gives_back(other: str) -> None:
    """The gateway refuses what the two would refuse; the third wire's server is asserted here."""
    server, fake = Server(), gateway(policy)
    busy = True

    async def answer(request: httpx.Request) -> httpx.Response:
        if request.url.host == "api.example":
            return server(request) if not busy else httpx.Response(529, json={})
        return await fake.answer(request)

    settings = Settings(
        fallbacks=(RouteSettings(provider=other),),
        retry_seconds=0,
        **OWN,  # type: ignore[arg-type]
    )
    kernel = build_kernel(settings, client(answer), adapters={"anthropic": ADAPTER})
    agent = kernel.agent([get_current_weather, calculate], instructions="Be brief.")
    session = InMemoryHistory()
    assert "120" in str(await agent.run(QUESTION, session=session))
    assert session.model.startswith(f"{other}/")
    busy = False
    session.use_model("anthropic/m")
    kernel.proxy.health.answered(0)
    assert "120" in str(await agent.run(QUESTION, session=session))
    roles = [turn["role"] for turn in server.bodies[0]["messages"]]
    assert roles == ["user", "assistant", "user", "assistant", "user"]
    kernel.proxy.health.failed(0, 60)
    assert "7" in str(await agent.run("How much is 3 + 4?", session=session))


@pytest.mark.parametrize(
    ("status", "error", "raised"),
    [
        (429, {"type": "rate_limit_error", "message": "Slow down."}, RateLimited),
        (400, {"type": "invalid_request_error", "message": "prompt is too long: 9"}, None),
    ],
)
async def test_its_refusals_are_the_kernels_errors(
    status: int, error: dict[str, str], raised: type[Exception] | None
) -> None:
    settings = Settings.model_validate({**OWN, "retry_seconds": 0})
    answer = httpx.Response(status, json={"type": "error", "error": error})
    kernel = build_kernel(settings, client(lambda _: answer), adapters={"anthropic": ADAPTER})
    with pytest.raises(raised or ContextOverflowError):
        await kernel.agent().run("?")


async def test_without_its_adapter_the_provider_is_refused_by_name() -> None:
    settings = Settings.model_validate(OWN)
    with pytest.raises(ConfigError, match=r"no adapter for 'anthropic': known are openai, gemini"):
        build_kernel(settings, client(Server()))
