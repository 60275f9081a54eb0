"""Where a conversation may be cut, and what a sliding window leaves of it. (chapter 7.2)

Between a call and its results there is no place to cut. Two kinds of places are left: before a
user message, where a turn of the conversation starts, and before an assistant message, where a
round of tool calls starts; all results of the round before it are in by then. What a cut leaves
always begins with the user who asked for it, and the newest request is always in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from freya_teach.llm.messages import AssistantMessage, Message, SystemMessage, UserMessage

Size = Callable[[Message], int]
"""Tokens of one message, by whichever counter is in use."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The messages from `at` on stay, and before them the one at `request`, if it is one."""

    at: int
    request: int | None = None

    def kept(self, start: int, end: int) -> tuple[int, ...]:
        """The places that stay: those before `start`, the request, and from the cut to `end`."""
        request = () if self.request is None else (self.request,)
        return (*range(start), *request, *range(self.at, end))


def system_end(messages: Sequence[Message]) -> int:
    """How many system messages stand at the beginning; none of them is ever cut off."""
    places = enumerate(messages)
    return next((i for i, m in places if not isinstance(m, SystemMessage)), len(messages))


def turn_starts(messages: Sequence[Message], start: int = 0) -> list[int]:
    """The places of the user messages: there the conversation can be cut best."""
    return [i for i in range(start, len(messages)) if isinstance(messages[i], UserMessage)]


def round_starts(messages: Sequence[Message], start: int, end: int) -> list[int]:
    """The places of the assistant messages between two places."""
    return [i for i in range(start, end) if isinstance(messages[i], AssistantMessage)]


def cuts(messages: Sequence[Message], start: int = 0) -> list[Cut]:
    """Every cut behind the first `start` messages, in the order in which they should be tried.

    The first leaves everything. Then come the turn starts, so that whole turns go; before the
    newest request is left alone, the rounds of the turn before it; at last the rounds of its own.
    A round that is cut off in the middle of a turn leaves the turn's request where it is.
    """
    turns = turn_starts(messages, start)
    if not turns:
        return [Cut(start), *(Cut(i) for i in round_starts(messages, start + 1, len(messages)))]
    *older, newest = turns
    found = [Cut(start), *(Cut(i) for i in older)]
    if older:
        found += _inside(messages, older[-1], newest)
    found += [Cut(newest), *_inside(messages, newest, len(messages))]
    return list(dict.fromkeys(found))


def _inside(messages: Sequence[Message], request: int, end: int) -> list[Cut]:
    """The cuts before the rounds of one turn, but for the first of them."""
    return [Cut(i, request) for i in round_starts(messages, request + 1, end)[1:]]


def kept_sizes(
    messages: Sequence[Message], found: Sequence[Cut], start: int, size: Size
) -> list[int]:
    """Tokens that each cut leaves, of the messages behind the first `start`."""
    sizes = [size(message) for message in messages]
    behind = list(accumulate(reversed(sizes[start:]), initial=0))
    return [
        behind[len(messages) - cut.at] + (0 if cut.request is None else sizes[cut.request])
        for cut in found
    ]


# ---- sliding windows -----------------------------------------------------------------------


def last_messages(messages: Sequence[Message], count: int) -> tuple[Message, ...]:
    """The newest messages, at most `count` of them where a cut leaves so few.

    System messages at the beginning stay and are not counted.

    >>> from freya_teach.llm.messages import assistant, user
    >>> [m.text for m in last_messages([user("1"), assistant("2"), user("3")], 2)]
    ['3']
    """
    return _slide(messages, count, lambda _: 1)


def last_turns(messages: Sequence[Message], count: int) -> tuple[Message, ...]:
    """The newest turns, from their user messages on, at most `count` of them and at least one.

    >>> from freya_teach.llm.messages import assistant, user
    >>> [m.text for m in last_turns([user("1"), assistant("2"), user("3")], 1)]
    ['3']
    """
    start = system_end(messages)
    at = [start, *turn_starts(messages, start)][-max(count, 1) :][0]
    return (*messages[:start], *messages[at:])


def last_tokens(messages: Sequence[Message], limit: int, size: Size) -> tuple[Message, ...]:
    """The newest messages that have at most `limit` tokens together, where a cut leaves so few.

    System messages at the beginning stay, and their tokens count.
    """
    system = sum(size(message) for message in messages[: system_end(messages)])
    return _slide(messages, limit - system, size)


def _slide(messages: Sequence[Message], limit: int, size: Size) -> tuple[Message, ...]:
    """What the first cut leaves that is small enough, else the last one."""
    start = system_end(messages)
    found = cuts(messages, start)
    sizes = kept_sizes(messages, found, start, size)
    cut = next((c for c, left in zip(found, sizes, strict=True) if left <= limit), found[-1])
    return tuple(messages[place] for place in cut.kept(start, len(messages)))
