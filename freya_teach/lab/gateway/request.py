"""A request as the rules of a provider look at it. (chapter 5.2)"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from freya_teach.lab.gateway.gemini_wire import field
from freya_teach.lab.gateway.generations import Generation
from freya_teach.lab.gateway.wire import mapping, mappings
from freya_teach.llm.messages import Json

Body = dict[str, Json]


@dataclass(frozen=True, slots=True)
class Turn:
    """One content on Gemini's wire: its place, its parts, how many calls and responses they are."""

    place: int
    role: Json
    parts: list[Body]
    calls: int
    responses: int

    @property
    def is_model(self) -> bool:
        """Whether the model said it; everything else counts as the user's."""
        return bool(self.role == "model")


@dataclass(frozen=True)  # no slots: what several rules look at is worked out once and kept
class Request:
    """The body that came, who it is for, and who sends it."""

    body: Body
    model: str
    generation: Generation
    host: str = ""
    key: str = ""
    keys: frozenset[str] = frozenset()
    """The keys that are accepted; with none, every key is, and no key at all."""

    @cached_property
    def messages(self) -> list[Body]:
        """OpenAI: the messages; an empty object for anything that is none."""
        found = self.body.get("messages")
        return [mapping(each) for each in found] if isinstance(found, list) else []

    @cached_property
    def functions(self) -> list[tuple[int, Body]]:
        """OpenAI: the offered functions, each with its place in `tools`."""
        tools = enumerate(mappings(self.body.get("tools")))
        return [(n, mapping(tool["function"])) for n, tool in tools if "function" in tool]

    @cached_property
    def turns(self) -> list[Turn]:
        """Gemini: the contents."""
        return [_turn(n, content) for n, content in enumerate(_listed(self.body.get("contents")))]

    @cached_property
    def declarations(self) -> list[tuple[str, Body]]:
        """Gemini: the declared functions, each with its place as the server names it."""
        return [
            (f"tools[{t}].function_declarations[{n}]", function)
            for t, tool in enumerate(_listed(self.body.get("tools")))
            for n, function in enumerate(_listed(field(tool, "functionDeclarations")))
        ]


def _listed(value: Json) -> list[Body]:
    """The objects of a list; one object alone is taken for a list of one, as Google does."""
    return mappings([value] if isinstance(value, dict) else value)


def _turn(place: int, content: Body) -> Turn:
    parts = _listed(content.get("parts"))
    calls = sum(isinstance(field(part, "functionCall"), dict) for part in parts)
    responses = sum(isinstance(field(part, "functionResponse"), dict) for part in parts)
    return Turn(place, content.get("role"), parts, calls, responses)
