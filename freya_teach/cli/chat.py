"""`freya-teach chat`: talk to the agent, offline or with a model of your choice. (chapter 8.1)"""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from freya_teach.cli.words import fail

if TYPE_CHECKING:
    from freya_teach.cli.chat_answering import Choice
    from freya_teach.cli.chat_input import Questions
    from freya_teach.cli.chat_screen import Screen
    from freya_teach.cli.chat_talk import Talk
    from freya_teach.errors import FreyaError

WHERE = "A TOML file of settings; otherwise FREYA_CONFIG_FILE or your config folder's."


def chat(  # noqa: PLR0913 - the options of a command
    *,
    model: Annotated[str, typer.Option(help="The model's name at its provider.")] = "",
    provider: Annotated[str, typer.Option(help="openai (any compatible server) or gemini.")] = "",
    base_url: Annotated[str, typer.Option(help="The server's address, without /v1.")] = "",
    config: Annotated[Path | None, typer.Option(help=WHERE)] = None,
    session: Annotated[str, typer.Option(help="Go on with this conversation: its id.")] = "",
    last: Annotated[bool, typer.Option("--continue", help="Go on with the newest one.")] = False,
    no_session: Annotated[bool, typer.Option("--no-session", help="Keep nothing.")] = False,
    offline: Annotated[
        bool, typer.Option("--offline", help="Let rules answer, though a model is configured.")
    ] = False,
    trouble: Annotated[
        str, typer.Option(help="Offline: what goes wrong; `gateway --list` tells the names.")
    ] = "",
) -> None:
    """Talk to the agent: with a real model if a key or an address is configured, else offline.

    Questions may come from a pipe, one a line; if one of them fails, the exit code is 1.
    """
    if sum((bool(session), last, no_session)) > 1:
        raise typer.BadParameter("--session, --continue and --no-session exclude each other")
    from rich.console import Console

    from freya_teach.cli.chat_answering import Choice
    from freya_teach.cli.chat_screen import Screen
    from freya_teach.errors import FreyaError

    given = {"model": model, "provider": provider, "base_url": base_url}
    options = {name: value for name, value in given.items() if value}
    choice = Choice(options, config, offline, trouble, keep=not no_session)
    console = Console(highlight=False, markup=False, soft_wrap=True)
    animated = sys.stdout.isatty() and not console.is_dumb_terminal
    screen = Screen(console, animated=animated)
    has_failed = False
    try:
        has_failed = asyncio.run(_chat(choice, screen, session, newest=last))
    except FreyaError as problem:
        fail(_in_words(problem))
    except KeyboardInterrupt:
        print()
    finally:
        screen.reset()
    if has_failed and not sys.stdin.isatty():  # a person has read it, and has gone on
        raise typer.Exit(1)


async def _chat(choice: Choice, screen: Screen, session: str, *, newest: bool) -> bool:
    """Talk until the user leaves; whether anything that was asked for has failed."""
    from freya_teach.cli.chat_commands import run_command, show_beginning
    from freya_teach.cli.chat_input import questions
    from freya_teach.cli.chat_talk import talk

    async with talk(choice, screen) as here:
        screen.say(here.answering.words)
        if await _resumed(here, session, newest=newest):
            show_beginning(here)
        screen.note("/help lists the commands; Ctrl-C stops an answer, Ctrl-D leaves")
        kept = here.sessions.folder / "chat_history" if here.sessions is not None else None
        source = questions(kept)
        with ctrl_c_goes_to(here, source), _log_told_by(here):
            while not here.is_over and (line := await source.next()) is not None:
                await (run_command(here, line) if line.startswith("/") else here.ask(line))
        if here.sessions is not None and here.history is not None:
            screen.note(f"kept; go on with: freya-teach chat --session {here.history.id}")
        return here.has_failed


async def _resumed(here: Talk, session: str, *, newest: bool) -> bool:
    """Open the conversation that was asked for; whether there is one. Raises `FreyaError`."""
    from freya_teach.cli.chat_talk import found_session

    if here.sessions is None:
        return False
    infos = await here.sessions.list()  # takes the folder, so that a second chat hears of it now
    if newest and not infos:
        here.screen.note("no conversation is stored yet: this is the first")
    elif session or newest:
        await here.resume(await found_session(here.sessions, session) if session else infos[0].id)
    return here.history is not None


@contextmanager
def ctrl_c_goes_to(here: Talk, source: Questions) -> Iterator[None]:
    """To the run, else to the prompt. asyncio's own handler would end the program at once."""

    def pressed(*_: object) -> None:
        if not here.interrupt():
            source.interrupt()

    before = signal.signal(signal.SIGINT, pressed)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _log_told_by(here: Talk) -> Iterator[None]:
    """What the kernel tells an operator, such as a route that failed, is a line in the chat."""

    class Told(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            text = " ".join(record.getMessage().split())
            here.tell(text if len(text) <= 300 else f"{text[:300]}…")

    package, proxy = logging.getLogger("freya_teach"), logging.getLogger("freya_teach.llm.proxy")
    handler, level = Told(), proxy.level
    package.addHandler(handler)
    proxy.setLevel(logging.INFO)  # it tells of its waits
    try:
        yield
    finally:
        package.removeHandler(handler)
        proxy.setLevel(level)


def _in_words(problem: FreyaError) -> str:
    from freya_teach.cli.advice import advice
    from freya_teach.errors import ConfigError

    if isinstance(problem, ConfigError):
        return str(problem)  # it says what to do
    return f"{problem}\n{advice(problem)}".strip()
