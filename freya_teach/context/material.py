"""What a summariser gets to read: the conversation as one text, cut until it fits. (chapter 7.4)

The request that is to save the conversation can itself be too large. So it is made from a text and
not from messages: a text has no calls to pair, needs no tools and fits any provider.
"""

from __future__ import annotations

from collections.abc import Sequence

from freya_teach.context.numbered import is_head
from freya_teach.context.shortening import LEVELS
from freya_teach.context.window import Size
from freya_teach.llm import transcript
from freya_teach.llm.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    OpaquePart,
    ReasoningPart,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
    user,
)
from freya_teach.tools.truncation import shorten


def material(messages: Sequence[Message], limit: int, size: Size) -> UserMessage | None:
    """The conversation as one message of at most `limit` tokens; None when it cannot be so small.

    Long messages are shortened first, then the oldest are left out. An earlier summary stays whole.
    """
    names = transcript.call_names(messages)
    head = [_as_text(message, names) for message in messages if is_head(message)]
    rest = [_as_text(message, names) for message in messages if not is_head(message)]
    for level in LEVELS:
        found = _joined(head, [shorten(text, level) for text in rest])
        if size(found) <= limit:
            return found
    rest = [shorten(text, LEVELS[-1]) for text in rest]
    while rest:
        rest = rest[-(-len(rest) // 4) :]
        found = _joined(head, rest)
        if rest and size(found) <= limit:
            return found
    return None


def _joined(head: Sequence[str], rest: Sequence[str]) -> UserMessage:
    return user("<conversation>\n" + "\n\n".join([*head, *rest]) + "\n</conversation>")


def _as_text(message: Message, names: dict[str, str]) -> str:
    match message:
        case SystemMessage():
            return f"Note to the assistant: {message.text}"
        case ToolMessage():
            failed = " (failed)" if message.is_error else ""
            return f"Result of {names.get(message.call_id, 'a tool')}{failed}: {message.text}"
        case UserMessage() if is_head(message):
            return message.text
        case UserMessage():
            return "User: " + " ".join(map(_part_as_text, message.parts))
        case AssistantMessage():
            said = [p for p in message.parts if not isinstance(p, ReasoningPart)]
            return "Assistant: " + " ".join(map(_part_as_text, said))


def _part_as_text(part: TextPart | ReasoningPart | ToolCall | ImagePart | OpaquePart) -> str:
    match part:
        case ToolCall():
            return f"[calls {part.name} with {part.arguments}]"
        case ImagePart():
            return "[image]"
        case OpaquePart():
            return f"[{part.kind}]"
        case _:
            return part.text
