"""`freya-teach record`: a real server is asked, and its answers lie in the folder afterwards."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from freya_teach.cli.main import build_app
from freya_teach.lab.local_model import MODEL
from freya_teach.lab.local_model.running import NOTE, about
from tests.hostile_server import Behaviour, Connection, Server, answer, serving, whole
from tests.wire_answers import openai_answer

KEY = "key-of-a-test-0123456789"
ANSWER = whole(openai_answer("Hello, Mia!").content, "200 OK")


@pytest.fixture(autouse=True)
def _nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whatever the machine has set, here nobody is chosen yet."""
    for name in ("FREYA_BASE_URL", "FREYA_API_KEY", "OPENAI_API_KEY", "FREYA_PROVIDER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FREYA_MODEL", "m-1")
    monkeypatch.setenv("FREYA_MODEL_DIR", str(tmp_path / "model"))


def run(*arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(build_app(), ["record", *arguments])


async def recorded(
    behave: Behaviour, monkeypatch: pytest.MonkeyPatch, *arguments: str
) -> tuple[Result, Server]:
    """Run the command against a server that behaves like this."""
    async with serving(behave) as server:
        monkeypatch.setenv("FREYA_BASE_URL", server.url)
        return await asyncio.to_thread(run, *arguments), server


def files(folder: Path) -> list[Any]:
    """The content of a scenario's files, in order."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


async def test_a_scenario_is_recorded_with_where_it_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FREYA_API_KEY", KEY)
    arguments = ("1.1", "--scenario", "with-history", "--to", str(tmp_path))
    result, server = await recorded(answer(ANSWER), monkeypatch, *arguments)
    assert result.output == "1.1 with-history: 2 exchanges written (HTTP 200, 200)\n"
    first, second = files(tmp_path / "1.1" / "with-history")
    assert f"Bearer {KEY}".encode() in server.requests[0]
    assert KEY not in json.dumps([first, second])
    assert (first["id"], first["provider"], first["model"]) == (
        "1.1-with-history-01",
        "openai",
        "m-1",
    )
    assert second["request"]["body"]["messages"][1]["content"] == "Hello, Mia!"
    command = f"FREYA_BASE_URL={server.url} FREYA_MODEL=m-1 freya-teach record 1.1"
    assert first["provenance"]["command"] == f"{command} --scenario with-history"
    assert first["provenance"]["server"] == server.url
    assert first["provenance"]["kind"] == "recorded"


async def test_the_kernels_own_loop_can_be_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("2.1", "--scenario", "agent", "--to", str(tmp_path))
    result, _ = await recorded(answer(ANSWER), monkeypatch, *arguments)
    assert result.exit_code == 0, result.output
    (only,) = files(tmp_path / "2.1" / "agent")
    assert [tool["function"]["name"] for tool in only["request"]["body"]["tools"]] == [
        "get_current_weather",
        "calculate",
    ]


async def test_a_recording_of_our_own_server_tells_its_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(answer(ANSWER)) as server:
        (tmp_path / "model").mkdir()
        note = json.dumps({"url": server.url, "pid": os.getpid(), **about()})
        (tmp_path / "model" / NOTE).write_text(note, encoding="utf-8")
        monkeypatch.setenv("FREYA_BASE_URL", server.url)
        monkeypatch.setenv("FREYA_MODEL", MODEL)
        arguments = ("1.1", "--scenario", "forged-history", "--to", str(tmp_path))
        await asyncio.to_thread(run, *arguments)
    (only,) = files(tmp_path / "1.1" / "forged-history")
    assert only["provenance"]["settings"] == about()["settings"]
    assert only["provenance"]["weights"] == about()["weights"]


async def test_what_is_there_is_replaced_only_on_demand_and_nobody_is_asked_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("1.1", "--scenario", "no-history", "--to", str(tmp_path))
    await recorded(answer(ANSWER), monkeypatch, *arguments)
    result, server = await recorded(answer(ANSWER), monkeypatch, *arguments)
    assert result.exit_code == 1
    assert "--overwrite" in result.output
    assert server.requests == []
    result, server = await recorded(answer(ANSWER), monkeypatch, *arguments, "--overwrite")
    assert result.exit_code == 0
    assert files(tmp_path / "1.1" / "no-history")[0]["provenance"]["server"] == server.url


async def test_a_run_that_fails_writes_nothing_and_leaves_the_old_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("1.1", "--scenario", "with-history", "--to", str(tmp_path), "--overwrite")
    _, first = await recorded(answer(ANSWER), monkeypatch, *arguments)

    async def fail_at_the_second(connection: Connection) -> None:
        if b"Complete the sentence" in connection.request:
            connection.writer.close()
        else:
            await connection.send(ANSWER)

    result, _ = await recorded(fail_at_the_second, monkeypatch, *arguments)
    assert result.exit_code == 1
    assert "with-history: nothing written. RemoteProtocolError" in result.output
    kept = files(tmp_path / "1.1" / "with-history")
    assert [file["provenance"]["server"] for file in kept] == [first.url, first.url]


async def test_an_error_answer_is_recorded_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = whole(b'{"error": {"code": 400, "message": "no"}}', "400 Bad Request")
    arguments = ("1.1", "--scenario", "no-history", "--to", str(tmp_path))
    result, _ = await recorded(answer(refusal), monkeypatch, *arguments)
    assert "(HTTP 400, 400)" in result.output
    assert files(tmp_path / "1.1" / "no-history")[0]["response"]["body"]["error"]["code"] == 400


async def test_a_key_that_the_server_quotes_back_is_neither_written_nor_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FREYA_API_KEY", KEY)
    quoted = whole(openai_answer(f"Your key is {KEY}.").content)
    arguments = ("1.1", "--scenario", "no-history", "--to", str(tmp_path))
    result, _ = await recorded(answer(quoted), monkeypatch, *arguments)
    assert result.exit_code == 1
    assert "01.json: response.body.choices[0].message.content: the key in use" in result.output
    assert KEY not in result.output
    assert files(tmp_path / "1.1" / "no-history") == []


def test_without_a_server_and_a_key_it_is_said_how_to_choose_one(tmp_path: Path) -> None:
    result = run("1.1", "--to", str(tmp_path))
    assert result.exit_code == 1
    assert "FREYA_BASE_URL=http://127.0.0.1:18181" in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("9.9",), "Section '9.9' has no scenarios to record; there are: 1.1, 2.1, 2.2"),
        (("1.1", "--scenario", "x"), "no scenario 'x': no-history, with-history, forged-history."),
    ],
)
def test_an_unknown_name_is_answered_with_the_known_ones(
    arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FREYA_BASE_URL", "http://127.0.0.1:9")
    result = run(*arguments, "--to", str(tmp_path))
    assert result.exit_code == 1
    assert said in result.output
