"""`freya-teach log`: the last exchange, readable."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from freya_teach import Ambient
from freya_teach.cli.main import build_app
from freya_teach.errors import LLMError
from tests.wire_answers import EVERY_WIRE, Answer, Model, way_of_asking

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
PROMPT = "\n".join(f"Rule {number}: be [bold]kind[/bold]." for number in range(100))


def run(*words: object, **variables: str) -> Any:
    """Run the command; no variable of this machine's user counts."""
    environment = {name: None for name in os.environ if name.startswith("FREYA_")} | variables
    return CliRunner().invoke(build_app(), ["log", *map(str, words)], env=environment)


def add(first: int, second: int) -> int:
    """Add two numbers."""
    return first + second


async def logged(
    folder: Path, *answers: Any, moment: datetime = NOON, question: str = "1 + 2?", **how: Any
) -> None:
    """Let an agent run with a log in this folder; an error of the wire is part of it."""
    ambient = Ambient(now=moment.astimezone, monotonic=lambda: 1.0)
    kernel = Model(*answers).kernel(ambient, log_dir=folder, **how)
    try:
        await kernel.agent([add], instructions=PROMPT).run(question)
    except LLMError as problem:
        assert problem  # noqa: PT017 - what it is, is told in the log


CALLS = Answer(calls=[("add", {"first": 1, "second": 2})])


@pytest.mark.parametrize("spoken", EVERY_WIRE, ids=way_of_asking)
async def test_the_last_exchange_is_told_whole(spoken: dict[str, Any], tmp_path: Path) -> None:
    await logged(tmp_path, CALLS, Answer("It is 3."), **spoken)
    shown = run("--dir", tmp_path)
    assert shown.exit_code == 0
    lines = shown.stdout.splitlines()
    assert lines[0].startswith("── 2026-11-30T12:00:00+00:00  exchange_")
    assert lines[1].startswith("→ POST https://")
    assert lines[2].startswith("Model: g")
    assert lines[3] == f"  system, {len(PROMPT):,} characters:"
    assert lines[4:104] == [f"    {line}" for line in PROMPT.split("\n")]
    said = [line.partition("  id ")[0].partition(" answers ")[0] for line in lines[104:]]
    said[1] = said[1].replace('": ', '":').replace(", ", ",")  # the spaces are the wire's
    assert said[:4] == [
        "  user: 1 + 2?",
        '  assistant calls add({"first":1,"second":2})',
        "  tool",
        "Tools: add",
    ]
    assert lines[106].endswith(": 3")
    assert said[4:] == [
        "",
        "← HTTP 200, 0.0 s",
        "  assistant: It is 3.",
        "Finish reason: stop",
        "Tokens: 10 in + 5 out = 15",
        "",
    ]
    assert "no-key-needed" not in shown.output


async def test_more_than_one_are_told_oldest_first_across_days(tmp_path: Path) -> None:
    for number in range(3):
        moment = NOON + timedelta(days=number)
        await logged(tmp_path, Answer(f"Answer {number}."), moment=moment)
    told = run("-n", 2, FREYA_LOG_DIR=str(tmp_path)).stdout
    assert [line for line in told.splitlines() if "Answer " in line] == [
        "  assistant: Answer 1.",
        "  assistant: Answer 2.",
    ]
    assert run("--dir", tmp_path, "-n", 99).stdout.count("── ") == 3


async def test_as_json_each_exchange_is_a_line_with_everything(tmp_path: Path) -> None:
    await logged(tmp_path, CALLS, Answer("It is 3, 北京."))
    lines = run("--dir", tmp_path, "-n", 2, "--json").stdout.splitlines()
    first, second = map(json.loads, lines)
    assert first["request"]["body"]["messages"][0]["content"] == PROMPT
    assert "北京" in second["reply"]["body"]
    assert all(line.isascii() for line in lines)


async def test_an_error_is_told_with_what_came_back(tmp_path: Path) -> None:
    body = {"error": {"message": "No such [bold]model."}}
    await logged(tmp_path, httpx.Response(404, json=body))
    told = run("--dir", tmp_path).stdout
    assert "← HTTP 404, 0.0 s\nError: ModelNotFound: " in told
    assert "No such [bold]model." in told


async def test_that_nobody_answered_is_told(tmp_path: Path) -> None:
    await logged(tmp_path, httpx.ConnectError("refused"))
    told = run("--dir", tmp_path).stdout
    assert "← HTTP none: no answer came, 0.0 s\nError: ConnectionFailed: no answer from" in told


async def test_a_request_without_a_reply_is_shown_as_such(tmp_path: Path) -> None:
    await logged(tmp_path, Answer("Hi."))
    (path,) = list_of(tmp_path)
    keep_first_line(path)
    shown = run("--dir", tmp_path)
    assert shown.exit_code == 0
    assert "  user: 1 + 2?" in shown.stdout
    assert "← no reply is in the log" in shown.stdout


async def test_a_reply_without_its_request_is_told_too(tmp_path: Path) -> None:
    await logged(tmp_path, Answer("Hi."))
    (path,) = list_of(tmp_path)
    drop_first_line(path)
    shown = run("--dir", tmp_path)
    assert shown.exit_code == 0
    assert "→ a request that the log has lost" in shown.stdout
    assert "assistant: Hi." in shown.stdout


async def test_nothing_in_an_answer_moves_the_cursor_or_colours_the_terminal(
    tmp_path: Path,
) -> None:
    await logged(tmp_path, Answer("\x1b[31mred\x1b[2J"), question="\x07 [red]?")
    told = run("--dir", tmp_path).stdout
    assert not any(c in told for c in "\x1b\x07")
    assert "\N{REPLACEMENT CHARACTER}[31mred" in told
    assert "[red]?" in told


async def test_nothing_in_an_error_moves_the_cursor_either(tmp_path: Path) -> None:
    await logged(tmp_path, httpx.Response(404, json={"error": {"message": "\x1b[2J gone"}}))
    told = run("--dir", tmp_path).stdout
    assert "\x1b" not in told
    assert "\N{REPLACEMENT CHARACTER}[2J gone" in told


# ---- when there is nothing ------------------------------------------------------------------


def test_without_a_folder_it_says_how_to_have_a_log() -> None:
    shown = run()
    assert (shown.exit_code, shown.stdout) == (1, "")
    assert "set FREYA_LOG_DIR" in shown.stderr


def test_a_folder_that_is_not_there_and_one_that_is_empty_are_told_in_words(tmp_path: Path) -> None:
    for folder, words in (
        (tmp_path / "typo", "There is no folder"),
        (tmp_path, "holds no exchange yet"),
    ):
        shown = run("--dir", folder)
        assert (shown.exit_code, shown.stdout) == (1, "")
        assert words in shown.stderr
        assert str(folder) in shown.stderr


def test_a_file_of_nonsense_is_an_empty_log(tmp_path: Path) -> None:
    (tmp_path / "llm-2026-11-30.jsonl").write_bytes(b"\xff\n{}\n[1]\n")
    assert "holds no exchange yet" in run("--dir", tmp_path).stderr


@pytest.mark.parametrize(
    "entry",
    [
        {"request": {"url": 1, "body": [1]}},
        {"request": {"body": {"messages": "nonsense", "model": None}}},
        {"reply": {"status": "x", "body": {}, "seconds": None, "error": 5}},
    ],
)
def test_an_entry_that_somebody_has_edited_is_told_as_far_as_it_goes(
    tmp_path: Path, entry: dict[str, Any]
) -> None:
    line = json.dumps({"id": "a", "time": "t", **entry})
    (tmp_path / "llm-2026-11-30.jsonl").write_text(line, encoding="utf-8")
    shown = run("--dir", tmp_path)
    assert shown.exit_code == 0
    assert shown.stdout.startswith("── t  a\n")


def test_a_log_that_cannot_be_read_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "llm-2026-11-30.jsonl").mkdir()
    shown = run("--dir", tmp_path)
    assert shown.exit_code == 1
    assert f"The log in {tmp_path} cannot be read: " in shown.stderr


def list_of(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def keep_first_line(path: Path) -> None:
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])


def drop_first_line(path: Path) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[1:]))
