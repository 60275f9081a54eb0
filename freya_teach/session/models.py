"""What is stored about a session: its records, and one line about it in the index. (chapter 6.1)

A session is the sum of its records. Each adds messages, or gives the history a new beginning, or
changes what else is known about the session; read from the first to the last they rebuild it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import NamedTuple

from freya_teach.llm.messages import (
    AssistantMessage,
    Json,
    Message,
    ReasoningPart,
    TextPart,
    ToolCall,
    UserMessage,
)
from freya_teach.llm.tokens import BytesCounter
from freya_teach.session.message_json import message_from_json, message_to_json
from freya_teach.tools.registry import DEFAULT_TOOLBOX

FORMAT = 1
"""The `v` of every record. A program that meets a higher one does not touch the file."""


@dataclass(frozen=True, slots=True)
class State:
    """What a session knows beside its messages."""

    title: str = ""
    model: str = ""
    """The route that answered last, as `provider/model`."""
    toolboxes: tuple[str, ...] = (DEFAULT_TOOLBOX,)
    skill: str = ""
    archived: bool = False


@dataclass(frozen=True, slots=True)
class Beginning:
    """The messages up to number `through` are replaced; an int in `by` keeps that message."""

    through: int
    by: tuple[int | Message, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """One line of a journal: what one write has changed."""

    time: str
    """When, as ISO 8601 in UTC."""
    messages: tuple[Message, ...] = ()
    """Added at the end."""
    beginning: Beginning | None = None
    """What takes the place of the oldest messages."""
    state: State | None = None
    """The whole state, where something in it has changed."""

    def to_json(self) -> dict[str, Json]:
        """The record as JSON, without what is empty in it."""
        stored: dict[str, Json] = {"v": FORMAT, "time": self.time}
        if self.messages:
            stored["messages"] = [message_to_json(message) for message in self.messages]
        if self.beginning:
            by = [m if isinstance(m, int) else message_to_json(m) for m in self.beginning.by]
            stored["beginning"] = {"through": self.beginning.through, "by": by}
        if self.state:
            stored["state"] = asdict(self.state)
        return stored

    @classmethod
    def from_json(cls, stored: Json) -> Record:
        """The record that `to_json` was called on. Raises `ValueError`, `KeyError`, `TypeError`."""
        messages = tuple(message_from_json(message) for message in stored.get("messages", ()))
        beginning = state = None
        if new := stored.get("beginning"):
            by = [m if isinstance(m, int) else message_from_json(m) for m in new["by"]]
            beginning = Beginning(new["through"], tuple(by))
        if known := stored.get("state"):
            state = State(**{**known, "toolboxes": tuple(known["toolboxes"])})
        return cls(stored["time"], messages, beginning, state)


class SessionInfo(NamedTuple):  # the quickest to make, and a list may need ten thousand
    """One line of the list of sessions."""

    id: str
    title: str = ""
    created: str = ""
    """ISO 8601 in UTC, as is `updated`."""
    updated: str = ""
    model: str = ""
    toolboxes: tuple[str, ...] = ()
    skill: str = ""
    messages: int = 0
    """How many the history holds now."""
    tokens: int = 0
    """An estimate of what these messages cost in a request; see `llm/tokens.py`."""
    archived: bool = False
    bytes: int = 0
    """Length of the journal when this was noted; another length means that this is out of date."""
    problem: str = ""
    """Why the session cannot be opened, where that is so."""


def estimated_tokens(messages: Iterable[Message]) -> int:
    """Tokens that these messages would cost in a request, by the rule of thumb."""
    count = BytesCounter().count
    return sum(count(text) for message in messages for text in _texts_of(message))


def _texts_of(message: Message) -> list[str]:
    """All that a model would read of a message as text; images are not text."""
    if not isinstance(message, UserMessage | AssistantMessage):
        return [message.text]
    texts = []
    for part in message.parts:
        if isinstance(part, TextPart | ReasoningPart):
            texts.append(part.text)
        elif isinstance(part, ToolCall):
            texts += [part.name, part.arguments]
    return texts
