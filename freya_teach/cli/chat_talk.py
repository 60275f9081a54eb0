"""One chat: ask, show, stop, keep. (chapter 8.1)"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from freya_teach.agent.history import InMemoryHistory
from freya_teach.cli.advice import advice
from freya_teach.cli.chat_answering import Answering, Choice, answering, other_end, read
from freya_teach.cli.chat_context import filling
from freya_teach.errors import ConfigError, FreyaError, PromptError
from freya_teach.events import ContextCompacted, Event
from freya_teach.session.session import Session

if TYPE_CHECKING:
    import httpx

    from freya_teach.agent.history import History
    from freya_teach.agent.run import Run
    from freya_teach.cli.chat_screen import Screen
    from freya_teach.session.manager import SessionManager
    from freya_teach.trace import RunResult

TITLE = 60
"""Characters of the first question that name the conversation."""
LAST_SUMMARY_SECONDS = 5.0
"""How long a summary that is being made in the background may hold up the end."""


@dataclass(slots=True)
class Talk:
    """What a chat has in its hands between two questions."""

    choice: Choice
    screen: Screen
    http: httpx.AsyncClient
    answering: Answering
    sessions: SessionManager | None
    loop: asyncio.AbstractEventLoop
    history: History | None = None
    """The conversation; it is made with its first question."""
    last: RunResult | None = None
    """The last run of this conversation that had a result."""
    is_over: bool = False
    has_failed: bool = False
    """Whether a question or a command was not carried out."""
    _run: Run | None = None
    _news: list[str] = field(default_factory=list)
    """What happened while a prompt was on the screen."""

    # ---- asking ----------------------------------------------------------------------------

    async def ask(self, question: str) -> None:
        """Let the agent answer, and show it. A failure is told; the talk goes on."""
        self._tell_news()
        try:
            history = await self.conversation(question)
            self._run = self.answering.agent.start(question, session=history)
            async for event in self._run:
                self.screen.show(event)
            self.last = await self._run.result()
            self.show_gauge()
        except FreyaError as problem:
            self.fail(problem)
        finally:
            self._run = None
            self.screen.reset()
        self._tell_news()

    def interrupt(self) -> bool:
        """Ctrl-C: the first one stops the run, a second one leaves, a third does not wait.

        It is called by the signal handler, between any two steps of the program. Whether there was
        a run to stop. Raises `KeyboardInterrupt` for the third.
        """
        run = self._run
        if self.is_over:
            raise KeyboardInterrupt
        if run is None:
            return False
        self.is_over = run.is_cancelled
        self.loop.call_soon_threadsafe(run.cancel)  # wakes the loop, too
        return True

    async def conversation(self, question: str = "") -> History:
        """The one that goes on, or a new one. Raises `SessionError`."""
        title = " ".join(question.split())[:TITLE]
        if self.history is None and self.sessions is not None:
            self.history = await self.sessions.create(title)
        elif self.history is None:
            self.history = InMemoryHistory()
        elif title and isinstance(self.history, Session) and not self.history.title:
            await self.history.rename(title)  # a command has made it before anything was asked
        return self.history

    # ---- which conversation, which model ---------------------------------------------------

    def begin_anew(self) -> None:
        """The next question begins another conversation; this one stays where it is kept."""
        self.history = self.last = None

    async def resume(self, session_id: str) -> None:
        """Go on with a stored conversation. Raises `SessionError`."""
        assert self.sessions is not None
        self.history = await self.sessions.open(session_id)
        self.last = None
        self._leave_out_what_is_missing()

    async def switch(self, options: dict[str, object]) -> None:
        """Ask another model from now on, in the same conversation. Raises `ConfigError`."""
        choice = replace(self.choice, options={**self.choice.options, **options})
        new = answering(choice, read(choice), self.http, is_live=self.answering.is_live)
        await self.finish_summaries()
        self.choice, self.answering = choice, new
        self.listen()

    def _leave_out_what_is_missing(self) -> None:
        """A conversation may have been held with toolboxes and skills that are not here today."""
        history, agent = self.history, self.answering.agent
        assert history is not None
        for toolbox in history.active_toolboxes:
            if toolbox not in agent.registry.toolboxes:
                history.deactivate_toolbox(toolbox)
                self.screen.note(f"the toolbox {toolbox!r} is not here today, and is switched off")
        try:
            known = {skill.id for skill in self.answering.kernel.prompts.skills()}
        except PromptError:
            return  # told with the first question
        if history.active_skill and history.active_skill not in known:
            self.screen.note(f"the skill {history.active_skill!r} is gone, and is switched off")
            history.activate_skill("")

    # ---- telling ---------------------------------------------------------------------------

    def show_gauge(self) -> None:
        """Show how full the context is. Raises `PromptError`."""
        if self.history is not None:
            kernel, agent = self.answering.kernel, self.answering.agent
            self.screen.gauge(filling(kernel, agent, self.history, self.last))

    def fail(self, problem: FreyaError) -> None:
        """Say what was not carried out, and what helps; the words of a `ConfigError` do both."""
        self.has_failed = True
        what_helps = "" if isinstance(problem, ConfigError) else advice(problem)
        self.screen.failure(problem, what_helps)

    def tell(self, text: str) -> None:
        """A line about the talk; while a prompt is on the screen, it waits."""
        if self._run is None:
            self._news.append(text)
        else:
            self.screen.note(text)

    def listen(self) -> None:
        """Hear of summaries that are made after an answer, too."""
        self.answering.agent.events.subscribe(self._overhear)

    def _overhear(self, event: Event) -> None:
        is_shown = self._run is not None and event.run == self._run.number
        if isinstance(event, ContextCompacted) and not is_shown:
            self.tell(f"in the background: {self.screen.compacted(event)}")

    def _tell_news(self) -> None:
        for text in self._news:
            self.screen.note(text)
        self._news.clear()

    async def finish_summaries(self) -> None:
        """Wait a little for what is being summarised; it is only a convenience."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_SUMMARY_SECONDS):
                await self.answering.agent.close()


@asynccontextmanager
async def talk(choice: Choice, screen: Screen) -> AsyncIterator[Talk]:
    """Begin a chat; at its end, close the conversation and the connections. Raises `FreyaError`."""
    found = read(choice)
    http, is_live = other_end(choice, found)
    async with http:
        first = answering(choice, found, http, is_live=is_live)
        sessions = first.kernel.sessions
        made = Talk(choice, screen, http, first, sessions, asyncio.get_running_loop())
        made.listen()
        try:
            yield made
            await made.finish_summaries()
        finally:
            if sessions is not None:
                await sessions.close()


async def found_session(sessions: SessionManager, given: str) -> str:
    """The id that begins like this. Raises `ConfigError` where none does, or several."""
    infos = [*await sessions.list(), *await sessions.list(archived=True)]
    ids = [info.id for info in infos]
    start = (given, f"session_{given}")
    matching = [given] if given in ids else [each for each in ids if each.startswith(start)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise ConfigError(f"{len(matching)} sessions begin with {given[:80]!r}: write more of it.")
    raise ConfigError(f"There is no session {given[:80]!r} in {sessions.folder}.")
