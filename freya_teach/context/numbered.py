"""A history at one moment, and what stands in it for the messages that left. (chapter 7.3)

A summary, and a remark that something was left out, stand at the beginning, behind the system
prompt. They have the user's role, so that a history begins with the user on every wire.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from freya_teach.context.window import Size, system_end, turn_starts
from freya_teach.llm.messages import Message, UserMessage, user

SUMMARY_HEADING = "[Summary of the conversation so far]\n"
OMITTED = user("[Messages that stood here no longer fitted and were left out.]")
"""What the model is told, so that a loss is no silent one."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """The messages of a history, with their numbers, as they were at one moment."""

    messages: tuple[Message, ...]
    first: int = 0
    revision: int = 0

    def places(self) -> tuple[int, int]:
        """Where the system prompt ends, and where the summary and the remark behind it do.

        They have the user's role, so that a history begins with the user on every wire. They are
        known by their place and their words; without a request behind them, they are one.
        """
        system = end = system_end(self.messages)
        requests = turn_starts(self.messages, system)
        while requests and end < requests[-1] and is_head(self.messages[end]):
            end += 1
        return system, end


@dataclass(frozen=True, slots=True)
class Plan:
    """The arguments of `History.replace`, and the tokens that it leaves."""

    revision: int
    through: int
    by: tuple[int | Message, ...]
    tokens: int


def is_head(message: Message) -> bool:
    """Whether this is a summary or a remark of ours."""
    return message == OMITTED or is_summary(message)


def is_summary(message: Message) -> bool:
    """Whether this is a summary of ours."""
    return isinstance(message, UserMessage) and message.text.startswith(SUMMARY_HEADING)


def summary_message(text: str) -> UserMessage:
    """A summary as it stands in a history."""
    return user(SUMMARY_HEADING + text.strip())


def total(messages: Sequence[Message], size: Size) -> int:
    """Tokens of all messages together."""
    return sum(map(size, messages))
