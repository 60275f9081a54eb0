"""`freya-teach record`: a real server is asked, and its answers lie in the folder afterwards."""

import asyncio
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from freya_teach.cli.main import build_app
from freya_teach.lab.local_model import MODEL
from freya_teach.lab.local_model.running import about, note_of
from freya_teach.paths import course_folder
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
        port = int(server.url.rpartition(":")[2])
        note_of(tmp_path / "model", port).write_text(note, encoding="utf-8")
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
def test_an_unknown_name_is_answered_with_the_known_ones_before_a_server_is_asked_for(
    arguments: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    result = run(*arguments, "--to", str(tmp_path))
    assert result.exit_code == 1
    assert said in result.output


# ---- --compare -----------------------------------------------------------------------------

RECORDED = ("1.1", "--scenario", "forged-history", "--to")


def answers(text: str, status: str = "200 OK") -> Behaviour:
    """Behave like a server that says this."""
    return answer(whole(openai_answer(text).content, status, "content-type: application/json"))


def contents(folder: Path) -> dict[Path, bytes]:
    """All files under a folder, with their bytes."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def compared(
    folder: Path, monkeypatch: pytest.MonkeyPatch, today: Behaviour, *more: str
) -> Result:
    """Record an answer, then compare it with today's; the files must stay as they are."""
    arguments = (*RECORDED, str(folder))
    await recorded(answers("Hello, Mia!"), monkeypatch, *arguments)
    before = contents(folder)
    result, server = await recorded(today, monkeypatch, *arguments, "--compare", *more)
    assert len(server.requests) == len(before) == 1
    assert contents(folder) == before
    return result


async def test_the_same_answer_is_the_same_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = await compared(tmp_path, monkeypatch, answers("Hello, Mia!"))
    day = files(tmp_path / "1.1" / "forged-history")[0]["provenance"]["date"]
    assert result.output == (
        f"1.1/forged-history/01: same (recorded {day})\n1 same; nothing written\n"
    )
    assert result.exit_code == 0


async def test_other_words_are_shown_and_are_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = await compared(tmp_path, monkeypatch, answers("Hi, Mia!"))
    place = "body.choices[0].message.content"
    assert f'  {place}: recorded "Hello, Mia!", today "Hi, Mia!"\n' in result.output
    assert "1 words differ; nothing written" in result.output
    assert result.exit_code == 0


async def test_another_shape_ends_with_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = answer(whole(b'{"error": {"message": "no such model"}}', "404 Not Found"))
    result = await compared(tmp_path, monkeypatch, refusal)
    assert "  status: recorded 200, today 404\n" in result.output
    assert "no such model" in result.output
    assert result.exit_code == 1


async def test_as_json_each_exchange_is_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = await compared(tmp_path, monkeypatch, answers("Hi!"), "--json")
    (line,) = map(json.loads, result.stdout.splitlines())
    assert (line["exchange"], line["verdict"]) == ("1.1/forged-history/01", "words differ")
    assert line["words"] == [
        {
            "place": "body.choices[0].message.content",
            "recorded": "Hello, Mia!",
            "today": "Hi!",
        }
    ]


async def test_a_key_quoted_back_today_is_not_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FREYA_API_KEY", KEY)
    for more in ((), ("--json",)):
        folder = tmp_path / "-".join(("to", *more))
        result = await compared(folder, monkeypatch, answers(f"{KEY}!"), *more)
        assert "[redacted]!" in result.output
        assert KEY[:12] not in result.output


async def test_a_server_that_does_not_answer_is_no_difference_and_ends_with_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def leave(connection: Connection) -> None:
        connection.writer.close()

    result = await compared(tmp_path, monkeypatch, leave)
    assert result.exit_code == 2
    assert "1.1/forged-history/01: no answer from http://127.0.0.1:" in result.output
    assert "Is the server running" in result.output


async def test_a_recording_of_another_model_is_left_out_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await recorded(answers("Hello, Mia!"), monkeypatch, *RECORDED, str(tmp_path))
    monkeypatch.setenv("FREYA_MODEL", "m-2")
    arguments = (*RECORDED, str(tmp_path), "--compare")
    result, server = await recorded(answers("Hello, Mia!"), monkeypatch, *arguments)
    assert server.requests == []
    assert "1 of openai/m-1 not asked: today openai/m-2 is asked\n" in result.output
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("9.9", "--compare"), "Section '9.9' has no recordings in"),
        (("2.1", "--compare", "--scenario", "x"), "Nothing is recorded as 'x' in 2.1: agent,"),
        (("2.1", "--compare"), "freya-teach record 2.1 --compare"),
        (("2.1", "--compare", "--overwrite"), "--overwrite belongs to recording"),
        (("2.1", "--compare", "--table"), "choose one"),
        (("2.1", "--json"), "--json goes with"),
        ((), "Name a section"),
    ],
)
def test_what_cannot_be_compared_ends_with_2_and_says_what_to_do(
    arguments: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in result.output


# ---- --table -------------------------------------------------------------------------------


async def test_the_table_says_of_each_recording_how_old_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, server = await recorded(answers("Hello!"), monkeypatch, *RECORDED, str(tmp_path))
    (path,) = contents(tmp_path)
    data = json.loads(path.read_text(encoding="utf-8"))
    data["provenance"]["date"] = (datetime.now(UTC).date() - timedelta(days=40)).isoformat()
    path.write_text(json.dumps(data), encoding="utf-8")
    first, second = run("--table", "--to", str(tmp_path)).output.splitlines()
    assert first.split()[:5] == ["1.1/forged-history", "1", "exchange", "recorded", "m-1"]
    assert first.endswith(f"{data['provenance']['date']}, 40 days old")
    assert second.strip() == server.url
    line = json.loads(run("1.1", "--table", "--json", "--to", str(tmp_path)).output)
    assert (line["scenario"], line["age_days"]) == ("forged-history", 40)


def test_the_table_of_the_course_names_every_section_that_has_recordings() -> None:
    lines = [json.loads(line) for line in run("--table", "--json").output.splitlines()]
    folders = {path.parent.parent.name for path in course_folder("fixtures").glob("*/*/*.json")}
    assert {line["section"] for line in lines} == folders
    assert run("9.9", "--table").exit_code == 1
