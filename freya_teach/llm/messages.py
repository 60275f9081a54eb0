"""The neutral history: what was said, by whom, in no provider's dialect. (chapter 5.1)

Four frozen message classes, told apart by `role`. An assistant message is a sequence of parts
in the order in which the model produced them. What only one provider understands rides along
in a part's `provider_data`, with its issuer; every other provider ignores it.

Not here: the rule that calls and results pair up. That is `transcript.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from freya_teach.errors import UnsupportedContent

Json = Any
"""A parsed JSON value: the only loose type of the kernel, and only at its edge."""


@dataclass(frozen=True, slots=True)
class ProviderData:
    """Something that only `issuer` can read, such as Gemini's thought signature.

    The issuer is a wire (`openai`, `gemini`) or one server that speaks it (`openai@host:port`).
    """

    issuer: str
    data: Mapping[str, Json]

    @property
    def wire(self) -> str:
        """The dialect that the data is written in, whichever server wrote it."""
        return self.issuer.partition("@")[0]

    def for_issuer(self, issuer: str) -> Mapping[str, Json]:
        """The data if `issuer` wrote it, else nothing."""
        return self.data if self.issuer == issuer else {}


NO_DATA = ProviderData("", {})


@dataclass(frozen=True, slots=True)
class TextPart:
    """Words."""

    text: str
    provider_data: ProviderData = NO_DATA


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """What the model thought before it answered, where the provider shows it."""

    text: str
    provider_data: ProviderData = NO_DATA


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model asks for a tool. `arguments` is the raw text that the model wrote: doubt it."""

    id: str
    name: str
    arguments: str
    provider_data: ProviderData = NO_DATA


@dataclass(frozen=True, slots=True)
class ImagePart:
    """A picture: its bytes, or an address that the provider will fetch (then `data` is empty)."""

    media_type: str
    data: bytes = b""
    url: str = ""


@dataclass(frozen=True, slots=True)
class OpaquePart:
    """A part that only its issuer understands (a file, audio, code it ran), kept as it came."""

    kind: str
    """The provider's own name of the type, such as `input_audio` or `executableCode`."""
    provider_data: ProviderData
    """Its `data` is the whole part."""

    def as_sent(self, wire: str) -> dict[str, Json]:
        """The part as it came. Raises `UnsupportedContent` when it is of another wire."""
        if self.provider_data.wire != wire:
            raise UnsupportedContent(
                f"{wire} has no place for a part of type {self.kind!r}, "
                f"which came from {self.provider_data.issuer}"
            )
        return dict(self.provider_data.data)


UserPart = TextPart | ImagePart | OpaquePart
AssistantPart = TextPart | ReasoningPart | ToolCall | OpaquePart


@dataclass(frozen=True, slots=True)
class SystemMessage:
    """Instructions to the model from whoever runs the agent."""

    text: str
    role: Literal["system"] = "system"


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the person said: text and attachments, in order."""

    parts: tuple[UserPart, ...]
    role: Literal["user"] = "user"

    @property
    def text(self) -> str:
        """All text of the message, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What the model answered: text, reasoning and tool calls, in order."""

    parts: tuple[AssistantPart, ...]
    role: Literal["assistant"] = "assistant"

    @property
    def text(self) -> str:
        """The answer's words, without reasoning."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def reasoning(self) -> str:
        """What the provider showed of the model's thinking."""
        return "".join(part.text for part in self.parts if isinstance(part, ReasoningPart))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls, in the order in which the model made them."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """A tool's observation, for the call with this id. It cannot be built without one."""

    call_id: str
    text: str
    is_error: bool = False
    role: Literal["tool"] = "tool"

    def __post_init__(self) -> None:
        if not self.call_id:
            raise ValueError("a tool result needs the id of the call that it answers")


Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage


def system(text: str) -> SystemMessage:
    """A system message."""
    return SystemMessage(text)


def user(*parts: str | UserPart) -> UserMessage:
    """A user message from texts and attachments.

    >>> user("What is this?", ImagePart("image/png", b"...")).text
    'What is this?'
    """
    return UserMessage(tuple(TextPart(p) if isinstance(p, str) else p for p in parts))


def assistant(*parts: str | AssistantPart) -> AssistantMessage:
    """An assistant message from texts, reasoning and tool calls."""
    return AssistantMessage(tuple(TextPart(p) if isinstance(p, str) else p for p in parts))
