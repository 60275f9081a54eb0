"""What the learner has chosen and typed so far, and the move that it makes. (chapter 2.2)

The form knows no buttons: the controls write into it and call its functions, and so does
`play`, so that a played move takes the same way as a clicked one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from freya_teach.lab.gateway.question import Call, Move, Offered
from freya_teach.lab.views.fields import BadField, Field, fields_of, read, typed
from freya_teach.llm.messages import Json

WORDS = "answer in words"
"""The choice that is no tool; a tool's name has no spaces."""


@dataclass(slots=True)
class Form:
    """A move in the making: calls that are ready, and the choice that is being filled in."""

    tools: tuple[Offered, ...] = ()
    choice: str = WORDS
    words: str = ""
    values: dict[str, str] = field(default_factory=dict)
    raw: bool = False
    """Whether the arguments are typed as one text, sent as it is, however broken."""
    raw_text: str = "{}"
    ready: list[Call] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)
    """What is wrong, by field."""

    @property
    def choices(self) -> list[str]:
        """What can be chosen: words, or any tool that is offered."""
        return [WORDS, *(tool.name for tool in self.tools)]

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of the chosen tool."""
        tool = next((tool for tool in self.tools if tool.name == self.choice), None)
        return fields_of(tool) if tool else ()

    def choose(self, choice: str) -> None:
        """Start filling in this choice."""
        self.choice, self.raw, self.raw_text, self.problems = choice, False, "{}", {}
        self.values = {field.name: field.first for field in self.fields}

    def fill(self, call: Call) -> None:
        """Type a call as a person would: into the fields, or as raw text where they do not fit."""
        self.choose(call.name)
        if isinstance(call.arguments, str):
            self.raw, self.raw_text = True, call.arguments
            return
        by_name = {each.name: each for each in self.fields}
        if by_name.keys() >= call.arguments.keys():
            values = {name: _typed(by_name[name], value) for name, value in call.arguments.items()}
            self.values |= values
        if self._typed_arguments() != call.arguments:
            self.raw, self.raw_text = True, json.dumps(call.arguments, ensure_ascii=False)

    def add(self) -> bool:
        """Put the call that is filled in among those that are ready; False where a field is bad."""
        call = self._call()
        if call is None:
            return False
        self.ready.append(call)
        self.choose(WORDS)
        return True

    def move(self) -> Move | None:
        """Everything as one move; None where a field is bad."""
        if self.choice == WORDS:
            return Move(self.words, tuple(self.ready))
        call = self._call()
        return Move("", (*self.ready, call)) if call else None

    def _call(self) -> Call | None:
        self.problems = {}
        if self.choice == WORDS:
            self.problems["move"] = "Choose a tool to call."
            return None
        if self.raw:
            return Call(self.choice, _as_object(self.raw_text))
        arguments = self._typed_arguments()
        return None if arguments is None else Call(self.choice, arguments)

    def _typed_arguments(self) -> dict[str, Json] | None:
        arguments = {}
        for each in self.fields:
            text = self.values.get(each.name, "")
            if not text and not each.required:
                continue  # left out
            try:
                arguments[each.name] = read(each, text)
            except BadField as problem:
                self.problems[each.name] = str(problem)
        return None if self.problems else arguments


def _as_object(text: str) -> dict[str, Json] | str:
    """The text as the object that it spells, which either wire can carry; else the text itself."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text


def _typed(field: Field, value: Json) -> str:
    """The value as text; what is no text in a field for text cannot be typed there."""
    return typed(field, value) if field.kind != "text" or isinstance(value, str) else ""
