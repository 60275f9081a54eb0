"""The one place that wires things together."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from freya_teach import Settings, ToolRegistry, build_kernel
from freya_teach.errors import ConfigError
from tests.wire_answers import EVERY_WIRE, Answer, Model, way_of_asking

IDENTITY = Path(__file__).parent.parent / "prompts" / "core.prompt.identity.md"


def double(number: int) -> int:
    """Twice the number."""
    return 2 * number


@pytest.mark.parametrize("spoken", EVERY_WIRE, ids=way_of_asking)
async def test_the_settings_decide_the_wire_and_the_client_who_answers(
    spoken: dict[str, Any],
) -> None:
    model = Model(Answer("Yes."))
    kernel = model.kernel(base_url="http://127.0.0.1:1/v1", model="m", **spoken)
    assert str(await kernel.agent().run("?")) == "Yes."
    assert (
        str(model.requests[0].url)
        == {
            "openai": "http://127.0.0.1:1/v1/chat/completions",
            "openai-stream": "http://127.0.0.1:1/v1/chat/completions",
            "gemini": "http://127.0.0.1:1/v1beta/models/m:generateContent",
            "gemini-stream": "http://127.0.0.1:1/v1beta/models/m:streamGenerateContent?alt=sse",
        }[way_of_asking(spoken)]
    )


@pytest.mark.parametrize(
    ("provider", "header", "value"),
    [
        ("openai", "authorization", "Bearer no-key-needed"),
        ("gemini", "x-goog-api-key", "no-key-needed"),
    ],
)
async def test_the_key_goes_into_a_header_and_never_into_the_address(
    provider: str, header: str, value: str
) -> None:
    model = Model(Answer("Yes."))
    await model.kernel(provider=provider, api_key="no-key-needed").agent().run("?")
    assert model.requests[0].headers[header] == value
    assert "no-key-needed" not in str(model.requests[0].url)


async def test_the_packaged_prompt_is_the_default_and_another_may_be_given() -> None:
    model = Model(Answer("Yes."), Answer("Yes."), Answer("Yes."))
    kernel = model.kernel()
    await kernel.agent().run("?")
    await kernel.agent(instructions="Be brief.").run("?")
    await kernel.agent(instructions="").run("?")
    first, second, third = ([m["content"] for m in b["messages"]] for b in model.bodies)
    assert first == [IDENTITY.read_text(encoding="utf-8").strip(), "?"]
    assert (second, third) == (["Be brief.", "?"], ["?"])


async def test_tools_may_be_functions_or_a_registry() -> None:
    model = Model(Answer("Yes."), Answer("Yes."))
    kernel = model.kernel()
    await kernel.agent(tool for tool in [double]).run("?")
    await kernel.agent(ToolRegistry([double])).run("?")
    assert [[t["function"]["name"] for t in body["tools"]] for body in model.bodies] == [
        ["double"],
        ["double"],
    ]


def test_a_tool_that_cannot_be_described_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="parameter number needs a type annotation"):
        Model().kernel().agent([untyped])


def untyped(number):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Lack a type."""
    return number


async def test_with_a_log_file_every_model_call_becomes_a_line_without_the_key(
    tmp_path: Path,
) -> None:
    model = Model(Answer(calls=[("double", {"number": 4})]), Answer("8."))
    http = httpx.AsyncClient(transport=httpx.MockTransport(model))
    settings = Settings.model_validate({"api_key": "no-key-but-secret"})
    kernel = build_kernel(settings, http, log_file=tmp_path / "log.jsonl")
    await kernel.agent([double]).run("4?")
    text = (tmp_path / "log.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["request"]["body"] for line in lines] == model.bodies
    assert [line["status"] for line in lines] == [200, 200]
    assert "no-key-but-secret" not in text


def test_building_opens_no_file_and_asks_nobody(tmp_path: Path) -> None:
    model = Model()
    http = httpx.AsyncClient(transport=httpx.MockTransport(model))
    build_kernel(Settings(), http, log_file=tmp_path / "log.jsonl").agent([double])
    assert (model.requests, list(tmp_path.iterdir())) == ([], [])
