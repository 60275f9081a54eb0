"""What is acknowledged survives the death of the program, whatever the disk does meanwhile."""

import json
import random
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from freya_teach import Ambient, Session, SessionManager
from freya_teach.llm.messages import user

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
PROGRAM = Path(__file__).with_name("appending_process.py")
ROUNDS_OF_ONE_SESSION = 25


@pytest.fixture
def program() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, str(PROGRAM)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8") as started:
        yield started


def append_and_die(program: subprocess.Popen[str], **order: str | float) -> None:
    assert program.stdout
    print(json.dumps(order), file=program.stdin, flush=True)
    assert program.stdout.readline() == f"{signal.SIGKILL.value}\n"


async def rounds(
    program: subprocess.Popen[str], place: Path, trouble: str, count: int
) -> tuple[int, int]:
    """Kill a writing process so often; return acknowledged messages, and torn lines found."""
    acknowledged = place / "acknowledged"
    chance = random.Random(20261201)  # noqa: S311 - no secret
    total = torn = before = 0
    for number in range(count):
        if number % ROUNDS_OF_ONE_SESSION == 0:
            async with SessionManager(place / "sessions", Ambient()) as sessions:
                session_id = (await sessions.create()).id
            acknowledged.write_text("", encoding="utf-8")
            before = 0
        append_and_die(
            program,
            folder=str(place / "sessions"),
            session_id=session_id,
            acknowledged=str(acknowledged),
            label=str(number),
            trouble=trouble,
            seed=number,
            seconds=chance.uniform(0.01, 0.1),
        )
        async with SessionManager(place / "sessions", Ambient()) as sessions:
            session = await sessions.open(session_id)
            torn += session.torn_bytes > 0
            seen = check(session, acknowledged)
            total, before = total + seen - before, seen
            await session.append(user(f"alive/{number}/0"))  # it can be gone on with
    return total, torn


def check(session: Session, acknowledged: Path) -> int:
    """Assert that each writer's messages are there once, in order, and none acknowledged lacks."""
    stored = defaultdict(list)
    for message in session.messages:
        label, writer, number = message.text.rstrip(".").split("/")
        stored[label, writer].append(int(number))
    lines = acknowledged.read_text(encoding="utf-8").splitlines()
    expected = defaultdict(list)
    for label, writer, number in (line.split("/") for line in lines):
        expected[label, writer].append(int(number))
    for key, numbers in expected.items():
        assert stored[key][: len(numbers)] == numbers == list(range(len(numbers)))
    for (label, _), numbers in stored.items():
        if label != "alive":
            assert numbers == list(range(len(numbers)))
    for key in stored:
        if key[0] != "alive":
            assert len(stored[key]) <= len(expected[key]) + 1  # at most one was on its way
    return len(lines)


@pytest.mark.parametrize("trouble", ["none", "full", "fsync"])
async def test_a_killed_process_loses_nothing_that_was_acknowledged(
    program: subprocess.Popen[str], tmp_path: Path, trouble: str
) -> None:
    total, _ = await rounds(program, tmp_path, trouble, 5)
    assert total > 0


@pytest.mark.soak
@pytest.mark.parametrize("trouble", ["none", "full", "fsync"])
async def test_500_killed_processes_lose_nothing_that_was_acknowledged(
    program: subprocess.Popen[str], tmp_path: Path, trouble: str
) -> None:
    total, torn = await rounds(program, tmp_path, trouble, 500)
    print(f"{trouble}: {total:,} acknowledged messages, {torn} torn lines")
    assert total > 500
