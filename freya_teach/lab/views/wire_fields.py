"""JSON as lines, with a note where the other wire has nothing or another form. (chapter 5.2)"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Literal

from freya_teach.lab.views.wire_pieces import Line, Piece, Unit
from freya_teach.lab.views.words import cut
from freya_teach.llm.gemini import UNSIGNED
from freya_teach.llm.messages import Json
from freya_teach.llm.wirejson import as_dict

Wire = Literal["neutral", "openai", "gemini"]
MOST_COLUMNS = 240
"""Of one line; more of it stands in the packet."""
WHOLE = ("args", "response", "parameters", "parametersJsonSchema", "image_url", "inlineData")
"""Objects that are shown on one line."""

ONLY, OTHER = "◆", "≠"
"""Only here; and: in another form there."""
NOTES = {
    "openai type": "◆ only here",
    "openai function.arguments": "≠ a text with JSON in it",
    "openai model": "≠ Gemini: in the address",
    "openai function.parameters": "≠ another name",
    "gemini parametersJsonSchema": "≠ another name",
    "openai tool_call_id": "≠ the link; no name here",
    "gemini functionCall.args": "≠ an object",
    "gemini functionResponse.name": "◆ only here: the name",
    "gemini functionResponse.response": "≠ an object",
    "gemini thoughtSignature": "◆ only here: Gemini's own",
    "neutral signature": "◆ kept for Gemini alone",
}
PLACEHOLDER = "◆ only here: a placeholder"
ROLE_NOTES = {
    "openai system": "≠ in the list",
    "openai developer": "≠ in the list",
    "openai tool": "≠ one message per result",
    "gemini model": "≠ assistant is called model",
    "gemini results": "≠ tool is called user",
}


def lines_of(wire: Wire, value: Json, indent: str = "") -> list[Line]:
    """One line for each field; the name of a field inside an object has a dot."""
    return [
        Line(indent + field(name, each), _note(wire, name, each)) for name, each in _flat(value)
    ]


def _flat(value: Json, before: str = "") -> Iterator[tuple[str, Json]]:
    for name, each in as_dict(value).items():
        if isinstance(each, dict) and each and name not in WHOLE:
            yield from _flat(each, f"{before}{name}.")
        else:
            yield before + name, each


def field(name: str, value: Json) -> str:
    """One field on one line.

    >>> field("id", "call_1")
    'id: "call_1"'
    """
    return cut(f"{name}: {json.dumps(value, ensure_ascii=False)}", MOST_COLUMNS)


def _note(wire: Wire, name: str, value: Json) -> str:
    if name == "thoughtSignature" and value == UNSIGNED:
        return PLACEHOLDER
    return NOTES.get(f"{wire} {name}", "")


def unit_of(wire: Wire, title: str, value: Json, letter: str = "") -> Unit:
    """Any object of this wire, one line for each field, that comes from no message."""
    return Unit(Line(title), (Piece((), letter, tuple(lines_of(wire, value))),))
