"""How many tokens will this cost? (chapter 7.3)

A first, honest guess: a quarter of the UTF-8 bytes. It is wrong by a factor of two on Chinese
and on base64, in opposite directions, which is what the chapter is about. Whoever needs a
better one hands in another `TokenCounter`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from freya_teach.llm.messages import (
    ImagePart,
    Message,
    OpaquePart,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from freya_teach.llm.protocol import ModelRequest, ToolSpec
from freya_teach.llm.wirejson import encode

BYTES_PER_TOKEN = 4
TOKENS_PER_MESSAGE = 4
"""What a message costs beside its words: its role and what marks its two ends."""
TOKENS_PER_IMAGE = 1_000
"""A guess: both providers count an image by its size in pixels, which nobody has looked at."""


class TokenCounter(Protocol):
    """Text → tokens, an estimate or the truth."""

    def count(self, text: str) -> int:
        """Tokens in `text`, at least 1 for a text that is not empty."""
        ...


class BytesCounter:
    """UTF-8 bytes divided by four, rounded up.

    >>> BytesCounter().count("hello world")
    3
    """

    def count(self, text: str) -> int:
        """Tokens in `text` by the rule of thumb."""
        return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


def request_tokens(request: ModelRequest, counter: TokenCounter) -> int:
    """Tokens that the request will cost as input: messages, tool definitions, images."""
    messages = sum(message_tokens(message, counter) for message in request.messages)
    return messages + sum(_tool_tokens(tool, counter) for tool in request.tools)


def message_tokens(message: Message, counter: TokenCounter) -> int:
    """Tokens of one message: its texts, its calls with their arguments, its images."""
    images = 0
    if isinstance(message, UserMessage):
        images = sum(isinstance(part, ImagePart) for part in message.parts)
    words = sum(counter.count(text) for text in _texts(message))
    return TOKENS_PER_MESSAGE + words + images * TOKENS_PER_IMAGE


def _texts(message: Message) -> Iterator[str]:
    if isinstance(message, SystemMessage | ToolMessage):
        yield message.text
        return
    for part in message.parts:
        match part:
            case ToolCall():
                yield part.name
                yield part.arguments
            case OpaquePart():
                yield encode(part.provider_data.data).decode()
            case ImagePart():
                pass
            case _:
                yield part.text


def _tool_tokens(tool: ToolSpec, counter: TokenCounter) -> int:
    schema = encode(tool.parameters).decode()
    return TOKENS_PER_MESSAGE + sum(map(counter.count, (tool.name, tool.description, schema)))
