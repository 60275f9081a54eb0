"""What a policy is asked, and what it can answer, in no provider's dialect. (chapter 5.1)

These shapes are the gateway's own. It is there to judge what the kernel sends, and a judge that
borrows the shapes of the judged proves nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

Wire = Literal["openai", "gemini", "postcard"]
"""The third one is the course's own invention (`lab/postcard.py`)."""
Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. `arguments` is an object, or the raw text of a model that cannot write JSON."""

    name: str
    arguments: dict[str, Any] | str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """One message; an assistant may have `calls`, a tool result has a `call_id` and a `name`."""

    role: Role
    text: str = ""
    calls: tuple[Call, ...] = ()
    call_id: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool that the request offers, with the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]

    @property
    def fields(self) -> dict[str, dict[str, Any]]:
        """The arguments' names, each with its schema."""
        found = self.parameters.get("properties")
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class Question:
    """A request to a model, as whoever has to answer it sees it."""

    wire: Wire
    model: str
    said: tuple[Said, ...]
    tools: tuple[Offered, ...] = ()
    stream: bool = False

    @property
    def asked(self) -> str:
        """The user's newest words."""
        return next((said.text for said in reversed(self.said) if said.role == "user"), "")

    @property
    def since_asked(self) -> tuple[Said, ...]:
        """What has been said since then: the calls made so far, and their results."""
        last = max((i for i, said in enumerate(self.said) if said.role == "user"), default=-1)
        return self.said[last + 1 :]

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls made since the user's newest words."""
        return tuple(call for said in self.since_asked for call in said.calls)

    @property
    def results(self) -> tuple[Said, ...]:
        """The results of tools since the user's newest words."""
        return tuple(said for said in self.since_asked if said.role == "tool")

    def tool(self, name: str) -> Offered | None:
        """The offered tool of this name."""
        return next((tool for tool in self.tools if tool.name == name), None)


@dataclass(frozen=True, slots=True)
class Move:
    """What the policy decides: words, tool calls, or both."""

    text: str = ""
    calls: tuple[Call, ...] = ()


Policy = Callable[[Question], Move | Awaitable[Move]]
"""Picks the next move from what was said and what is offered; it may be async, so that a person
can be asked."""


def answer(text: str) -> Move:
    """Answer in words; the run is over."""
    return Move(text)


def call(name: str, /, **arguments: Any) -> Move:
    """Call one tool. (A tool may have an argument `name`, so ours can only stand first.)"""
    return Move(calls=(Call(name, arguments),))
