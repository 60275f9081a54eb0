"""`freya-teach chat` in a real terminal: keys, spinner, Ctrl-C, paste, and a way back."""

import asyncio
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from freya_teach import Ambient, SessionManager
from freya_teach.llm.messages import Message
from freya_teach.llm.transcript import check

if sys.platform == "win32":
    pytest.skip("Windows has no pseudo-terminal for pexpect", allow_module_level=True)
pexpect = pytest.importorskip("pexpect", reason="pexpect is not installed")

CTRL_C, CTRL_D, UP, ENTER = "\x03", "\x04", "\x1b[A", "\r"
PASTE = "\x1b[200~{}\x1b[201~"
READY = r"\x1b\[\?2004h"
"""The line editor switches bracketed paste on: it waits for a question."""
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7])(?:;[0-9;]*)?m")
LONG = "Tell me something."
"""The rules do not know it; their answer is long enough to be stopped in its middle."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kept"


@pytest.fixture
def terminal(folder: Path, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Start a chat in a terminal of its own; nothing of this machine's user counts."""
    config = tmp_path / "config.toml"
    config.touch()
    mine = ("FREYA_", "OPENAI_", "GEMINI_", "NO_COLOR", "FORCE_COLOR")
    env = {name: text for name, text in os.environ.items() if not name.startswith(mine)}
    env |= {"FREYA_CONFIG_FILE": str(config), "FREYA_SESSION_DIR": str(folder)}
    env |= {"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1", "PYTHONIOENCODING": "utf-8"}
    started = []

    def start(*options: str, **variables: str) -> Any:
        command = ["-m", "freya_teach.cli", "chat", *options]
        child = pexpect.spawn(
            sys.executable,
            command,
            env={**env, **variables},
            encoding="utf-8",
            timeout=60,
            dimensions=(40, 120),
        )
        started.append(child)
        child.expect(READY)
        return child

    yield start
    for child in started:
        child.close(force=True)


def left(child: Any) -> str:
    """What was said until it ended, which it did in good order."""
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    return seen(child)


def seen(child: Any) -> str:
    """What came before the last thing that was waited for, without the terminal's codes."""
    return ESCAPE.sub("", child.before)


def stored(folder: Path) -> tuple[Message, ...]:
    """The messages of the newest conversation."""

    async def read() -> tuple[Message, ...]:
        async with SessionManager(folder, Ambient()) as sessions:
            return (await sessions.open((await sessions.list())[0].id)).messages

    return asyncio.run(read())


def test_a_question_streams_shows_its_tool_is_stopped_and_the_talk_is_resumed(
    terminal: Any, folder: Path
) -> None:
    child = terminal("--trouble", "halfway")

    child.send("How much is 15 * 8?" + ENTER)
    child.expect("waiting for the model")
    child.expect(r'✓ calculate \{"expression": "15 \* 8"\}  completed, \S+ s, 3 characters')
    child.expect("The calculation gives 120.")
    child.expect(r"of the context: [\d,]+ of 922,000 tokens")
    child.expect(READY)

    child.send(LONG + ENTER)
    child.expect("I am a handful of rules in ")
    child.send(CTRL_C)
    child.expect("stopped")
    child.expect(READY)

    child.send("My name is Ada." + ENTER)
    child.expect("Hello, Ada.")
    child.expect(READY)
    child.send(CTRL_D)
    name = re.search(r"chat --session (\S+)", left(child))
    assert name

    messages = stored(folder)
    check(messages)
    roles = [message.role for message in messages]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "user", "assistant"]

    child = terminal("--session", name[1])
    assert f"Going on with {name[1]}: 7 messages." in seen(child)
    assert "user: My name is Ada." in seen(child)
    child.send("What is my name?" + ENTER)
    child.expect("Your name is Ada.")
    child.expect(READY)
    child.send("/quit" + ENTER)
    left(child)
    assert len(stored(folder)) == 9


TO_LEAVE = "press Ctrl-C again, or Ctrl-D, to leave"


def test_the_first_ctrl_c_at_the_prompt_says_how_to_leave_and_the_second_one_leaves(
    terminal: Any,
) -> None:
    child = terminal("--trouble", "halfway")
    child.send(LONG + ENTER)
    child.expect("I am a handful of rules in ")
    child.send(CTRL_C)
    child.expect("stopped")
    child.expect(READY)
    for question in ("My name is Ada.", "My name is Bo."):
        child.send(CTRL_C)
        child.expect(TO_LEAVE)
        child.expect(READY)
        child.send(question + ENTER)
        child.expect("Hello, ")
        child.expect(READY)
    child.send(CTRL_C)
    child.expect(TO_LEAVE)
    child.expect(READY)
    child.send(CTRL_C)
    assert "go on with: freya-teach chat --session" in left(child)


def test_ctrl_c_clears_a_line_that_is_begun(terminal: Any) -> None:
    child = terminal("--no-session")
    child.send("My name is Bo" + CTRL_C + "My name is Ada." + ENTER)
    child.expect("Hello, Ada.")
    child.expect(READY)
    child.send(CTRL_D)
    assert TO_LEAVE not in left(child)


def test_after_a_failure_a_conversation_goes_on_and_ends_in_good_order(terminal: Any) -> None:
    child = terminal("--trouble", "bad-key")
    child.send("Hi" + ENTER)
    child.expect("HTTP 401")
    child.expect(READY)
    child.send(CTRL_D)
    left(child)


def test_several_lines_that_are_pasted_are_one_question(terminal: Any, folder: Path) -> None:
    child = terminal()
    child.send(PASTE.format("My name is Ada.\nHow much is 6 * 7?") + ENTER)
    child.expect("The calculation gives 42.")
    child.expect(READY)
    child.send(CTRL_D)
    left(child)
    assert stored(folder)[0].text == "My name is Ada.\nHow much is 6 * 7?"


def test_an_earlier_question_comes_back_from_a_file_that_only_its_owner_reads(
    terminal: Any, folder: Path
) -> None:
    child = terminal()
    child.send("My name is Ada." + ENTER)
    child.expect("Hello, Ada.")
    child.expect(READY)
    child.send(CTRL_D)
    left(child)
    assert stat.S_IMODE((folder / "chat_history").stat().st_mode) == 0o600
    child = terminal()
    child.send(UP + ENTER)
    child.expect("Hello, Ada.")


def test_without_colour_there_is_none(terminal: Any) -> None:
    said = ""
    child = terminal("--no-session", NO_COLOR="1")
    for question in ("How much is 15 * 8?", "What is the weather in Atlantis?"):
        said += child.before
        child.send(question + ENTER)
        child.expect(READY)
    said += child.before
    assert "calculate" in said
    assert not COLOUR.search(said)
