"""Where the questions come from: a person at a terminal, or the lines of a pipe. (chapter 8.1)

A terminal is read with prompt_toolkit, which IPython brings along. `input()` blocks the loop, in
which a summary may be under way, cannot be given up from another thread, knows no multi-line paste,
and has no line editing on Windows.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TextIO

from freya_teach.cli.words import printable

if TYPE_CHECKING:
    from prompt_toolkit.history import History
    from prompt_toolkit.key_binding import KeyBindings

PROMPT = "> "
TO_LEAVE = "· press Ctrl-C again, or Ctrl-D, to leave"


class Questions(Protocol):
    """A source of what the user says."""

    async def next(self) -> str | None:
        """The next input, without its end; None when the user leaves."""
        ...

    def interrupt(self) -> None:
        """Ctrl-C where nothing can be stopped. It is called by the signal handler."""
        ...


class Piped:
    """One question a line. Each is repeated, so that what is printed can be read as a talk."""

    def __init__(self, lines: TextIO) -> None:
        self._lines = lines
        if hasattr(lines, "reconfigure"):
            lines.reconfigure(errors="replace")  # a file in another encoding is no reason to end

    async def next(self) -> str | None:
        """The next line that is not empty."""
        # subtle: it blocks the loop, because a thread in readline() could not be ended by Ctrl-C
        with suppress(KeyboardInterrupt):
            while line := self._lines.readline():
                if line.strip():
                    print(printable(f"{PROMPT}{line.strip()}"), flush=True)
                    return line.strip()
        return None

    def interrupt(self) -> None:
        """The end, also in the middle of waiting for a line. Raises `KeyboardInterrupt`."""
        raise KeyboardInterrupt


class Typed:
    """A line with editing and history. A paste of several lines is one input; so is Alt-Enter."""

    def __init__(self, history: Path | None) -> None:
        from prompt_toolkit import PromptSession

        self._session: PromptSession[str] = PromptSession(
            PROMPT, history=_history(history), key_bindings=_keys(), enable_suspend=True
        )
        self._pressed = False
        """Whether Ctrl-C was pressed since the last input, and not to stop or to clear anything."""

    async def next(self) -> str | None:
        """The next input that is not empty; Ctrl-D, and a second Ctrl-C on an empty line, leave.

        The first one may have been meant for an answer that has just ended.
        """
        text = ""
        while not text:
            if self._pressed:
                print(TO_LEAVE)
            try:
                text = (await self._session.prompt_async()).strip()
                self._pressed = False
            except KeyboardInterrupt:
                if self._pressed:
                    return None
                self._pressed = True
            except EOFError:
                return None
        return text

    def interrupt(self) -> None:
        """The next prompt tells of the first one. Raises `KeyboardInterrupt` for the second."""
        if self._pressed:
            raise KeyboardInterrupt
        self._pressed = True


def questions(history: Path | None) -> Questions:
    """Those of the terminal, if this is one. `history` is the file of earlier inputs."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        return Typed(history)
    return Piped(sys.stdin)


def _keys() -> KeyBindings:
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    keys = KeyBindings()

    @keys.add("c-c")
    def clear_or_leave(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=KeyboardInterrupt, style="class:aborting")

    @keys.add("escape", "enter")
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys


def _history(path: Path | None) -> History:
    """A file that only its owner may read; memory where none is wanted, or none can be written."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    if path is None:
        return InMemoryHistory()

    class Kept(FileHistory):
        def store_string(self, string: str) -> None:
            with suppress(OSError):  # a full disk is no reason to lose the question itself
                super().store_string(string)

    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
        path.chmod(0o600)
    except OSError:
        return InMemoryHistory()
    return Kept(path)
