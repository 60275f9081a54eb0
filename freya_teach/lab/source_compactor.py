"""The cut that the source calls absolutely safe, counted on many histories. (chapter 7.3)

Told again from the source's description, not copied: count back two messages per turn that is to
be kept, then move the knife towards the older end for as long as it stands between a call and its
results. That much works. What is counted here is the rest: with whom the history begins
afterwards, and whether the user's newest request is still in it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from freya_teach.llm.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
    assistant,
    user,
)


def source_safe_index(messages: Sequence[Message], keep_turns: int) -> int:
    """Where the source cuts: the place of the first message that stays, 0 when all of them do."""
    at = max(len(messages) - 2 * keep_turns, 0)
    while at > 0 and (isinstance(messages[at], ToolMessage) or _has_calls(messages[at - 1])):
        at -= 1
    if at > 0 and _has_calls(messages[at]) and isinstance(messages[at - 1], UserMessage):
        at -= 1
    return at


def _has_calls(message: Message) -> bool:
    return isinstance(message, AssistantMessage) and bool(message.tool_calls)


@dataclass(frozen=True, slots=True)
class CutsCounted:
    """What became of many histories; `cut` are those of which something was cut off at all."""

    histories: int
    cut: int
    start_with_assistant: int
    lost_request: int

    @property
    def share_with_assistant(self) -> float:
        """The share of cuts that leave a history whose first message is the assistant's."""
        return self.start_with_assistant / self.cut if self.cut else 0.0


def count_cuts(histories: int, keep_turns: int = 6, seed: int = 0) -> CutsCounted:
    """Cut so many random valid histories as the source does, and count; same seed, same numbers.

    >>> count_cuts(100).histories
    100
    """
    chance = random.Random(seed)  # noqa: S311 - a measurement, no secret
    cut = with_assistant = lost = 0
    for _ in range(histories):
        history = random_history(chance)
        if at := source_safe_index(history, keep_turns):
            cut += 1
            with_assistant += isinstance(history[at], AssistantMessage)
            newest = max(i for i, m in enumerate(history) if isinstance(m, UserMessage))
            lost += newest < at
    return CutsCounted(histories, cut, with_assistant, lost)


def random_history(chance: random.Random) -> list[Message]:
    """Ten to thirty turns: a question, up to five rounds of up to three calls, an answer."""
    messages: list[Message] = []
    for turn in range(chance.randint(10, 30)):
        messages.append(user(f"Question {turn}?"))
        for round_ in range(chance.randint(0, 5)):
            names = [f"call_{turn}_{round_}_{i}" for i in range(chance.randint(1, 3))]
            messages.append(assistant(*(ToolCall(name, "read", "{}") for name in names)))
            messages += [ToolMessage(name, "A result.") for name in names]
        messages.append(assistant(f"Answer {turn}."))
    return messages
