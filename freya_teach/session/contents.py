"""What a session's records add up to. (chapter 6.1)

The same few lines rebuild a session from its journal and keep an open one up to date, so that what
is in memory is what a restart would find.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from freya_teach.llm.messages import Message
from freya_teach.session.models import Record, SessionInfo, State, estimated_tokens
from freya_teach.session.replacing import replacement


@dataclass(slots=True)
class Contents:
    """The sum of some records. `first` and `revision` are explained in `agent/history.py`."""

    messages: list[Message] = field(default_factory=list)
    first: int = 0
    revision: int = 0
    state: State = field(default_factory=State)
    created: str = ""
    updated: str = ""
    tokens: int = 0

    def add(self, record: Record) -> None:
        """Take one more record into account. Raises `ValueError` when it does not fit."""
        if record.beginning:
            new = replacement(
                self.messages, self.first, record.beginning.through, record.beginning.by
            )
            self.messages, self.first = new.messages, new.first
            self.revision += 1
            self.tokens = estimated_tokens(self.messages)
        self.messages.extend(record.messages)
        self.tokens += estimated_tokens(record.messages)
        self.state = record.state or self.state
        self.created = self.created or record.time
        self.updated = record.time

    def info(self, session_id: str, journal_bytes: int) -> SessionInfo:
        """What the list of sessions says about it."""
        return SessionInfo(
            id=session_id,
            title=self.state.title,
            created=self.created,
            updated=self.updated,
            model=self.state.model,
            toolboxes=self.state.toolboxes,
            skill=self.state.skill,
            messages=len(self.messages),
            tokens=self.tokens,
            archived=self.state.archived,
            bytes=journal_bytes,
        )
