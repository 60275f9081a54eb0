"""The agent's view of a conversation, and one that lives in memory. (chapter 2.3)

`History` is all that the agent asks of a session: read the messages, append some, hold it for
one run, and know which model and which toolboxes it uses. A durable session fits the same view.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from freya_teach.llm.messages import Message
from freya_teach.session.claim import Claim
from freya_teach.session.replacing import replacement
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

    @property
    def model(self) -> str:
        """The route that answered last, as `provider/model`; nothing before the first answer."""
        ...

    @property
    def first(self) -> int:
        """The number of `messages[0]`; they rise by one. A message that is new has a new number."""
        ...

    @property
    def revision(self) -> int:
        """How often the beginning has been replaced; a plan made before that is out of date."""
        ...

    def use_model(self, route: str) -> None:
        """Remember the route that answered, so that the conversation stays with it."""
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
        """Add messages as one write: all of them or none.

        Raises `SessionBusy` while a run holds the conversation that the caller is no part of.
        """
        ...

    async def replace(self, through: int, by: Sequence[int | Message], *, revision: int) -> bool:
        """Put `by` in the place of all messages up to number `through`, as one write.

        In `by` an int keeps the message of that number, a message is a new one; there are at
        most as many as there were, and the last one gets the number `through`. What is not kept is
        in a snapshot before it leaves the history. Returns False, and changes nothing, when
        `revision` is not the present one. Raises `ValueError` for a number that is not there or
        out of order, and for too many messages.
        """
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
        self.model = ""
        self.first = 0
        self.revision = 0
        self.snapshots: list[tuple[Message, ...]] = []
        """What `replace` has taken out, oldest first."""
        self._messages = list(messages)
        self._claim = Claim(session_id)

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
        self._claim.check_writer()
        self._messages.extend(messages)

    def use_model(self, route: str) -> None:
        """Remember the route that answered."""
        self.model = route

    async def replace(self, through: int, by: Sequence[int | Message], *, revision: int) -> bool:
        """Put `by` in the place of all messages up to number `through`."""
        if revision != self.revision:
            return False
        replaced = replacement(self._messages, self.first, through, by)
        self.snapshots.append(replaced.removed)
        self._messages = replaced.messages
        self.first = replaced.first
        self.revision += 1
        return True

    def claim(self) -> AbstractContextManager[None]:
        """Hold the conversation for one run."""
        return self._claim.hold()
