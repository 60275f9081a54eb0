import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from freya_teach.cli.main import build_app
from tests.cli.test_log import CALLS, NOON, list_of, logged
from tests.recordings import FOLDER
from tests.wire_answers import EVERY_WIRE, Answer, way_of_asking

KEY = "not-a-real-key-but-secret"
URL = "https://h.invalid/v1/chat/completions"
CALL = {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": '{"a":1}'}}
CONVERSATION: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": "Be brief.\nBe kind."},
        {"role": "user", "content": "Add 1"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "2"},
    ]
}


def recording(path: Path, asked: object, answered: object, status: int = 200) -> str:
    request = {"method": "POST", "url": URL, "headers": {}, "body": asked}
    response = {"status": status, "headers": {}, "body": answered}
    path.write_text(json.dumps({"request": request, "response": response}), encoding="utf-8")
    return str(path)


def answer(text: str, reason: str | None = "stop") -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"content": text}, "finish_reason": reason}]}


def run(*words: str) -> Any:
    return CliRunner().invoke(build_app(), ["inspect", *words])


def test_a_conversation_reads_as_one(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
    path = recording(tmp_path / "a.json", CONVERSATION, answer("2") | {"usage": usage})
    shown = run(path)
    assert shown.exit_code == 0
    assert shown.stdout.splitlines() == [
        f"── {path}",
        "Wire: openai",
        "  system: Be brief.",
        "    Be kind.",
        "  user: Add 1",
        '  assistant calls add({"a":1})  id call_1',
        "  tool answers call_1: 2",
        "Answer, finish reason stop (the server wrote 'stop'):",
        "  assistant: 2",
        "Tokens: 9 in + 1 out = 10",
        "",
    ]


def test_what_the_server_left_out_is_said(tmp_path: Path) -> None:
    shown = run(recording(tmp_path / "a.json", CONVERSATION, answer("2", None)))
    assert "finish reason unknown (the server gave none)" in shown.stdout
    assert "Tokens: the server did not tell" in shown.stdout


def test_an_error_is_told_with_its_kind_and_no_tokens(tmp_path: Path) -> None:
    refused = {"error": {"message": "No model of this name"}}
    shown = run(recording(tmp_path / "a.json", CONVERSATION, refused, 404))
    assert shown.exit_code == 0
    assert "Error (model_not_found): openai answered HTTP 404: No model of this" in shown.stdout
    assert "Tokens" not in shown.stdout


def test_a_text_cannot_speak_to_the_terminal(tmp_path: Path) -> None:
    shown = run(recording(tmp_path / "a.json", CONVERSATION, answer("\x1b[2J[bold]2[/bold]\x07")))
    assert "  assistant: \N{REPLACEMENT CHARACTER}[2J[bold]2[/bold]" in shown.stdout
    assert "\x1b" not in shown.stdout


def test_a_line_of_json_stays_one_line_whatever_the_text_holds(tmp_path: Path) -> None:
    text = "one\ntwo\u2028three\x85four \ud800 北京"
    shown = run("--json", recording(tmp_path / "a.json", CONVERSATION, answer(text)))
    [line] = shown.stdout.splitlines()
    assert json.loads(line)["text"].startswith("one\ntwo\u2028three\x85four ")
    assert json.loads(line)["text"].endswith(" 北京")


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_no_key_is_printed(form: list[str], tmp_path: Path) -> None:
    entry = {
        "request": {
            "url": f"{URL}?key={KEY}",
            "headers": [{"name": "Authorization", "value": f"Bearer {KEY}"}],
            "postData": {"text": json.dumps(CONVERSATION)},
        },
        "response": {
            "status": 401,
            "headers": [{"name": "Set-Cookie", "value": f"sid={KEY}"}],
            "content": {"text": json.dumps({"error": {"message": f"Wrong: {KEY}"}})},
        },
    }
    path = tmp_path / "page.har"
    path.write_text(json.dumps({"log": {"entries": [entry]}}), encoding="utf-8")
    shown = run(*form, str(path))
    assert "Wrong: [redacted]" in shown.stdout
    assert KEY not in shown.output


def test_what_cannot_be_read_does_not_stop_the_rest(tmp_path: Path) -> None:
    good = recording(tmp_path / "good.json", CONVERSATION, answer("2"))
    notes = tmp_path / "notes.txt"
    notes.write_text("Dear diary", encoding="utf-8")
    shown = run("--json", str(tmp_path), str(notes), str(tmp_path / "missing"), good)
    assert shown.exit_code == 1
    assert [json.loads(line)["file"] for line in shown.stdout.splitlines()] == [good]
    assert [line.partition(" ")[0] for line in shown.stderr.splitlines()] == [
        str(tmp_path),
        str(notes),
        str(tmp_path / "missing"),
    ]


@pytest.mark.parametrize("spoken", EVERY_WIRE, ids=way_of_asking)
async def test_a_request_log_is_told_exchange_by_exchange(
    spoken: dict[str, Any], tmp_path: Path
) -> None:
    await logged(tmp_path, CALLS, Answer("It is 3."), **spoken)
    (path,) = list_of(tmp_path)
    shown = run(str(path))
    assert (shown.exit_code, shown.stderr) == (0, "")
    first, second = shown.stdout.split(f"── {path}#exchange_")[1:]
    assert "  assistant calls add(" in first
    assert "Answer, finish reason stop" in second
    assert "  assistant: It is 3.\nTokens: 10 in + 5 out = 15\n" in second


async def test_two_request_logs_are_not_taken_for_a_question_and_its_answer(
    tmp_path: Path,
) -> None:
    for day in range(2):
        await logged(tmp_path, Answer(f"Answer {day}."), moment=NOON + timedelta(days=day))
    shown = run("--json", *sorted(map(str, list_of(tmp_path))))
    assert [json.loads(line)["text"] for line in shown.stdout.splitlines()] == [
        "Answer 0.",
        "Answer 1.",
    ]


async def test_a_request_in_a_log_that_was_never_answered_is_told_as_such(tmp_path: Path) -> None:
    await logged(tmp_path, Answer("Hi."), question="Anyone?")
    (path,) = list_of(tmp_path)
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    shown = run(str(path))
    assert "  user: Anyone?\nNote: no answer came, or none was kept\n" in shown.stdout
    assert "Error" not in shown.stdout


def test_a_recording_on_one_line_is_no_log_though_it_has_an_id_and_a_time(tmp_path: Path) -> None:
    path = Path(recording(tmp_path / "a.json", CONVERSATION, answer("2")))
    one_line = {"id": "a", "time": "noon", **json.loads(path.read_text(encoding="utf-8"))}
    path.write_text(json.dumps(one_line), encoding="utf-8")
    assert "  assistant: 2\n" in run(str(path)).stdout


@pytest.mark.skipif(not FOLDER.exists(), reason=f"there are no recordings in {FOLDER}")
def test_all_recordings_are_told_one_a_line() -> None:
    paths = [str(path) for path in sorted(FOLDER.glob("*/*.json"))]
    start = "from freya_teach.cli.main import main; main()"
    command = [sys.executable, "-c", start, "inspect", "--json", *paths]
    ran = subprocess.run(command, capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
    lines = ran.stdout.decode("ascii").splitlines()
    assert [json.loads(line)["file"] for line in lines] == paths


@pytest.mark.skipif(not FOLDER.exists(), reason=f"there are no recordings in {FOLDER}")
def test_all_recordings_can_be_told_to_a_reader() -> None:
    paths = [str(path) for path in sorted(FOLDER.glob("*/*.json"))]
    shown = run(*paths)
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert [line[3:] for line in shown.stdout.splitlines() if line.startswith("── ")] == paths
