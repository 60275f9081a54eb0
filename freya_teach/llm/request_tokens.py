"""How many tokens a whole request has: messages, tools, pictures. (chapter 7.3)

What is counted is what the model reads, not what is sent: a picture is no base64 text to it, and
JSON's brackets around a message are a few marks of the model's own. How many, only the server
knows; the numbers here are the public ones, and `token_correction.py` adapts them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from freya_teach.llm.messages import (
    NO_DATA,
    AssistantMessage,
    AssistantPart,
    ImagePart,
    Json,
    Message,
    OpaquePart,
    ReasoningPart,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
    UserPart,
)
from freya_teach.llm.protocol import ModelRequest, ToolSpec
from freya_teach.llm.tokens import TokenCounter
from freya_teach.llm.wirejson import encode

MESSAGE_TOKENS, REPLY_TOKENS = 4, 3
"""The role and the marks of each message, and those with which the answer begins.
Source: OpenAI cookbook, "How to count tokens with tiktoken"."""
CALL_TOKENS, TOOL_TOKENS, TOOLS_TOKENS = 6, 8, 50
"""The marks around a call or a result, those around a definition, and the paragraph that tells a
model how to call at all. No provider documents them; recorded answers count about so many."""
IMAGE_TOKENS = {"openai": 765, "gemini": 1_120}
"""A placeholder, since the true number depends on size and model. OpenAI: 1024 × 1024 in high
detail for gpt-4o, 85 and 170 for each of four tiles. Gemini 3: the documented maximum of the
default resolution."""
LARGEST_IMAGE = max(IMAGE_TOKENS.values())
BLOB, BLOB_CHARS, BLOB_TOKENS = re.compile(r"[A-Za-z0-9+/_=-]*"), 2_000, 1_000
"""A string of an opaque part that is longer, and looks like base64, is a file's content; it counts
as so many tokens whatever its length. A placeholder, too."""


def message_tokens(message: Message, counter: TokenCounter, provider: str = "") -> int:
    """Tokens of one message with its marks; without a provider, an image is the largest."""
    match message:
        case SystemMessage():
            return MESSAGE_TOKENS + counter.count(message.text)
        case ToolMessage():
            return MESSAGE_TOKENS + CALL_TOKENS + counter.count(message.text)
        case UserMessage() | AssistantMessage():
            parts: Iterable[UserPart | AssistantPart] = message.parts
            return MESSAGE_TOKENS + sum(_part(part, counter, provider) for part in parts)
        case _:
            assert_never(message)


def tools_tokens(tools: Sequence[ToolSpec], counter: TokenCounter) -> int:
    """Tokens of the tools' definitions, as the JSON that is sent: names, descriptions, schemas."""
    definitions = (
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        for tool in tools
    )
    counted = sum(TOOL_TOKENS + _json(definition, counter) for definition in definitions)
    return TOOLS_TOKENS + counted if tools else 0


def request_tokens(request: ModelRequest, counter: TokenCounter, provider: str = "") -> int:
    """Tokens of a whole request, without a margin.

    Hand in a `RememberingCounter` to count each message of a growing conversation once.
    """
    if isinstance(counter, RememberingCounter):
        messages, tools = counter.messages(request.messages), counter.tools(request.tools)
    else:
        messages = sum(message_tokens(message, counter, provider) for message in request.messages)
        tools = tools_tokens(request.tools, counter)
    return REPLY_TOKENS + messages + tools


class RememberingCounter:
    """A counter that knows the messages of one conversation which it has counted before.

    A message is known by which object it is: messages are frozen, and a history hands out the
    same ones again and again. For a history that is the same as last time, or only longer,
    nothing is looked up at all.
    """

    def __init__(self, counter: TokenCounter, provider: str = "") -> None:
        self._counter = counter
        self._provider = provider
        self._known: dict[int, tuple[Message, int]] = {}  # holds the message: its id stays its own
        self._messages: tuple[Message, ...] = ()
        self._total = 0
        self._tools: tuple[ToolSpec, ...] = ()
        self._tools_total = 0

    def count(self, text: str) -> int:
        """Tokens in `text`; texts are not remembered."""
        return self._counter.count(text)

    def message(self, message: Message) -> int:
        """Tokens of one message, counted once."""
        known = self._known.get(id(message))
        if known is None:
            tokens = message_tokens(message, self._counter, self._provider)
            known = self._known[id(message)] = (message, tokens)
        return known[1]

    def messages(self, messages: tuple[Message, ...]) -> int:
        """Tokens of all these messages."""
        if messages == self._messages:  # compares by identity first: 2 µs for 1,000 messages
            return self._total
        before = len(self._messages)
        if messages[:before] == self._messages:
            total = self._total + sum(map(self.message, messages[before:]))
        else:
            total = sum(map(self.message, messages))
            self._forget_others(messages)
        self._messages, self._total = messages, total
        return total

    def tools(self, tools: tuple[ToolSpec, ...]) -> int:
        """Tokens of the tools' definitions; the last set is remembered."""
        if tools != self._tools:
            self._tools, self._tools_total = tools, tools_tokens(tools, self._counter)
        return self._tools_total

    def _forget_others(self, messages: tuple[Message, ...]) -> None:
        """Drop what a compaction took out: nobody else may hold it any more."""
        if len(self._known) > 2 * len(messages):
            self._known = {id(m): self._known[id(m)] for m in messages}


# ---- parts ---------------------------------------------------------------------------------


def _part(part: UserPart | AssistantPart, counter: TokenCounter, provider: str) -> int:
    """A signature that came with a part adds nothing: recorded answers do not count it."""
    match part:
        case TextPart():
            return counter.count(part.text)
        case ReasoningPart():
            return _reasoning(part, counter)
        case ToolCall():
            return CALL_TOKENS + counter.count(part.name) + counter.count(part.arguments)
        case ImagePart():
            return IMAGE_TOKENS.get(provider, LARGEST_IMAGE)
        case OpaquePart():
            return _opaque(part.provider_data.data, counter)
        case _:
            assert_never(part)


def _reasoning(part: ReasoningPart, counter: TokenCounter) -> int:
    """Thinking goes back only to who asks for it, which its data tell; some of it is sealed."""
    if part.provider_data == NO_DATA:
        return 0
    return counter.count(part.text) or _opaque(part.provider_data.data, counter)


def _opaque(value: Json, counter: TokenCounter) -> int:
    blobs = 0

    def shown(value: Json) -> Json:
        nonlocal blobs
        if isinstance(value, Mapping):
            return {key: shown(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [shown(item) for item in value]
        if isinstance(value, str) and len(value) > BLOB_CHARS and BLOB.fullmatch(value):
            blobs += 1
            return ""
        return value

    return _json(shown(value), counter) + BLOB_TOKENS * blobs


def _json(value: Json, counter: TokenCounter) -> int:
    return counter.count(encode(value).decode())
