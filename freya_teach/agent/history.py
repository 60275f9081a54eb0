"""The agent's view of a conversation, and one that lives in memory. (chapter 2.3)

`History` is all that the agent asks of a session: read the messages, append some, hold it for
one run, and know which model and which toolboxes it uses. A durable session fits the same view.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from freya_teach.errors import SessionBusy
from freya_teach.llm.messages import Message
from freya_teach.tools.registry import DEFAULT_TOOLBOX


class History(Protocol):
    """What the agent needs of a conversation."""

    @property
    def id(self) -> str:
        """The session's name."""
        ...

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages, oldest first: a copy that nobody else changes."""
        ...

    @property
    def active_toolboxes(self) -> tuple[str, ...]:
        """The toolboxes that this session has on."""
        ...

    @property
    def active_skill(self) -> str:
        """The id of the skill that this session has on, or nothing."""
        ...

    def activate_toolbox(self, toolbox: str) -> None:
        """Switch this toolbox on from the next turn, beside those that are on."""
        ...

    def deactivate_toolbox(self, toolbox: str) -> None:
        """Switch this toolbox off from the next turn."""
        ...

    def activate_skill(self, skill_id: str) -> None:
        """Switch this skill on from the next turn, and any other off; "" switches off."""
        ...

    async def append(self, *messages: Message) -> None:
        """Add messages as one write: all of them or none."""
        ...

    def claim(self) -> AbstractContextManager[None]:
        """Hold the conversation for one run. Raises `SessionBusy` when a run holds it already."""
        ...


class InMemoryHistory:
    """A conversation that is gone when the program ends."""

    def __init__(
        self,
        messages: Iterable[Message] = (),
        *,
        session_id: str = "in-memory",
        active_toolboxes: Iterable[str] = (DEFAULT_TOOLBOX,),
    ) -> None:
        self.id = session_id
        self.active_toolboxes = tuple(active_toolboxes)
        self.active_skill = ""
        self._messages = list(messages)
        self._claimed = False

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages, oldest first."""
        return tuple(self._messages)

    def activate_toolbox(self, toolbox: str) -> None:
        """Switch this toolbox on."""
        if toolbox not in self.active_toolboxes:
            self.active_toolboxes = (*self.active_toolboxes, toolbox)

    def deactivate_toolbox(self, toolbox: str) -> None:
        """Switch this toolbox off."""
        self.active_toolboxes = tuple(box for box in self.active_toolboxes if box != toolbox)

    def activate_skill(self, skill_id: str) -> None:
        """Switch this skill on, and any other off."""
        self.active_skill = skill_id

    async def append(self, *messages: Message) -> None:
        """Add messages at the end."""
        self._messages.extend(messages)

    @contextmanager
    def claim(self) -> Iterator[None]:
        """Hold the conversation for one run."""
        if self._claimed:
            raise SessionBusy(
                f"session {self.id!r} has a run in progress: wait for it, or use another session"
            )
        self._claimed = True
        try:
            yield
        finally:
            self._claimed = False
