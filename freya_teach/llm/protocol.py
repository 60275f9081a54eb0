"""The shapes that pass between the agent, an adapter and the wire. (chapter 5.3)

    ModelRequest ── adapter.build_request ──▶ WireRequest ── HTTP ──▶ bytes
    bytes ── sse ──▶ chunk (JSON) ── adapter.parse_chunk ──▶ deltas ── assembler ──▶ Reply

An adapter is two pure functions and a name. A body that comes in one piece is a stream of one
chunk, so there is one parsing path and not two. A third wire is a third adapter:

    mine = Adapter("mine", build_request, parse_chunk)
    build_kernel(Settings(provider="mine", model="m", base_url="…"), http, adapters={"mine": mine})

`build_request` checks the history first (`transcript.check`), and turns names, ids and schemas
into what the server takes; what a model's server insists on stands in `route.facts`. `parse_chunk`
yields deltas, and raises through `refusal.raise_for_error` for an error inside a 200. Retries,
failover, ids and the log are not its business. A worked one, for Anthropic's wire, is
`tests/llm/anthropic_wire.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol
from urllib.parse import urlsplit

from freya_teach.config import BASE_URLS
from freya_teach.errors import Attempt
from freya_teach.llm.encoded import Writer
from freya_teach.llm.messages import (
    NO_DATA,
    AssistantMessage,
    Json,
    Message,
    OpaquePart,
    ProviderData,
)
from freya_teach.llm.models import COMPATIBLE, ModelFacts, facts_for

FinishReason = Literal["stop", "tool_calls", "length", "content_filter", "error", "unknown"]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What the model is told about a tool: its name, its purpose, its JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Json]
    strict: bool = False
    """Ask for arguments that are sure to fit, where a provider can promise that."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One question to a model, in no provider's dialect."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    stream: bool = False
    max_output_tokens: int | None = None
    prefer: str = ""
    """The name of the route to ask first, because it has answered in this conversation before."""
    writer: Writer = field(default=Writer(), compare=False, repr=False)
    """Who turns it into JSON; one that remembers need not write again what was said before."""


UNLOOKED = ModelFacts(**{name: getattr(COMPATIBLE, name) for name in COMPATIBLE.__slots__})
"""Stands where nobody has given facts: they are looked up by the model's name."""


@dataclass(frozen=True, slots=True)
class Route:
    """Where a request goes: which model, at which address, with which key."""

    provider: str
    model: str
    endpoint: str
    api_key: str = field(default="", repr=False)
    facts: ModelFacts = field(default=UNLOOKED, repr=False)
    """What is known of the model; without a word, what the table says of its name."""

    def __post_init__(self) -> None:
        if self.facts is UNLOOKED:
            object.__setattr__(self, "facts", facts_for(self.model))

    @property
    def name(self) -> str:
        """What a history remembers: `provider/model`."""
        return f"{self.provider}/{self.model}"

    @property
    def host(self) -> str:
        """Host and port of the endpoint; empty where it is no address."""
        return host_of(self.endpoint)

    @property
    def issuer(self) -> str:
        """Who signs what only this server can read.

        A wire that many servers speak has many issuers: `openai` is the public endpoint, any other
        is `openai@host:port`. Gemini's signatures are Google's, through whatever host they came.
        """
        if self.provider == "gemini" or self.endpoint == BASE_URLS.get(self.provider):
            return self.provider
        return f"{self.provider}@{self.host}"


def host_of(url: str) -> str:
    """Host and port for a message, without a password that may stand before them."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:  # "http://[": a half-written IPv6 address
        return ""


@dataclass(frozen=True, slots=True)
class WireRequest:
    """The HTTP request, ready to be sent. `headers` hold the key: never print them as they are."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    method: str = "POST"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that the provider counted. `output` includes the reasoning."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.total_tokens + other.total_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.cached_tokens + other.cached_tokens,
        )


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer's text."""

    text: str
    provider_data: ProviderData = NO_DATA


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the model's thinking."""

    text: str
    provider_data: ProviderData = NO_DATA


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A piece of a tool call; `whole` when the provider never sends calls in pieces.

    `index` and `id` are what the provider gave, None and "" when it gave none.
    """

    index: int | None = None
    id: str = ""
    name: str = ""
    arguments: str = ""
    whole: bool = False
    provider_data: ProviderData = NO_DATA


@dataclass(frozen=True, slots=True)
class OpaqueDelta:
    """A whole part of a kind that only the provider understands."""

    part: OpaquePart


@dataclass(frozen=True, slots=True)
class FinishDelta:
    """The provider says why the answer ends: our word for it, and its own."""

    reason: FinishReason
    raw: str


@dataclass(frozen=True, slots=True)
class UsageDelta:
    """Tokens counted so far; a later one replaces an earlier one."""

    usage: Usage


Delta = TextDelta | ReasoningDelta | CallDelta | OpaqueDelta | FinishDelta | UsageDelta


@dataclass(frozen=True, slots=True)
class Reply:
    """One complete answer of a model."""

    message: AssistantMessage
    finish_reason: FinishReason
    raw_finish_reason: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Exchange:
    """One model call as it went over the wire, and what was understood of it."""

    request: WireRequest
    status: int
    body: bytes = field(repr=False)
    reply: Reply
    seconds: float
    route: str = ""
    """The name of the route that answered."""
    issuer: str = ""
    """Who signed what in the reply only the server can read."""
    attempts: tuple[Attempt, ...] = ()
    """Everything that was tried for it, in order; the last one was answered."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """One provider's dialect."""

    name: str
    build_request: Callable[[ModelRequest, Route], WireRequest]
    parse_chunk: Callable[[Json], Iterable[Delta]]


class ModelClient(Protocol):
    """Whoever can answer a request: HTTP, a failover over several routes, a script."""

    async def complete(self, request: ModelRequest, on_delta: Callable[[Delta], None]) -> Exchange:
        """Ask, report each delta as it comes, return the whole. Raises `LLMError`."""
        ...
