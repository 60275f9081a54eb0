"""The demo: a good run on each wire, told or as JSON, and a run that is not good fails."""

import asyncio
import json
import os
import sys

import pytest
from typer.testing import CliRunner

from freya_teach.cli.main import build_app
from tests.hostile_server import Behaviour, answer, serving, whole
from tests.wire_answers import openai_answer


def demo(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(build_app(), ["demo", *arguments])
    return result.exit_code, result.output


@pytest.mark.parametrize("wire", ["openai", "gemini", "both"])
@pytest.mark.parametrize("stream", [[], ["--stream"]], ids=["whole", "streamed"])
def test_a_good_run_is_told_packet_by_packet(wire: str, stream: list[str]) -> None:
    code, told = demo("--wire", wire, *stream)
    runs = 2 if wire == "both" else 1
    assert (code, told.count("✓"), told.count("✗")) == (0, 7 * runs, 0)
    assert told.count("Other end: replayed answers (authored)") == runs
    assert told.count("asks: calculate(") == runs
    assert "no-key-needed" not in told


def test_as_json_each_wire_is_one_object_with_its_whole_trace() -> None:
    code, printed = demo("--json", "--stream")
    reports = json.loads(printed)
    assert code == 0
    assert [report["wire"] for report in reports] == ["openai", "gemini"]
    for report in reports:
        assert all(report["checks"].values())
        assert [len(turn["calls"]) for turn in report["turns"]] == [2, 0]
        assert report["turns"][0]["response"].startswith("data: ")
        assert report["tokens"]["total_tokens"] > 0
    assert "no-key-needed" not in printed


def test_an_unknown_wire_is_refused_with_those_there_are() -> None:
    code, told = demo("--wire", "fax")
    assert code == 2
    assert "gemini" in told


async def live_demo(behave: Behaviour) -> tuple[int | None, str]:
    """Run the demo in a process of its own, against a live server on this machine."""
    async with serving(behave) as server:
        environment = {
            **os.environ,
            "FREYA_LIVE": "1",
            "FREYA_BASE_URL": server.url,
            "PYTHONUTF8": "1",
        }
        process = await asyncio.create_subprocess_exec(
            *[sys.executable, "-m", "freya_teach.cli", "demo", "--wire", "openai"],
            env=environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        printed, _ = await process.communicate()
    return process.returncode, printed.decode()


async def test_a_run_that_is_not_good_fails_and_says_what_does_not_hold() -> None:
    code, told = await live_demo(answer(whole(openai_answer("It is 120.").content)))
    assert code == 1
    assert "✗ exactly two model calls" in told
    assert "✓ no call repeated" in told


async def test_a_server_that_refuses_ends_the_demo_in_words() -> None:
    body = b'{"error": {"message": "not today", "code": "server_error"}}'
    code, told = await live_demo(answer(whole(body, "503 Service Unavailable")))
    assert code == 1
    assert "The demo could not be run: openai answered HTTP 503: not today" in told
    assert "Traceback" not in told
