"""Where a tool's description leaves the model to guess. (chapter 4.1)

Four rules, and what each looks for. They know English words only (`lint_words.py`), and they can
be wrong: a finding is a question to the author, not a verdict.

    format        a text whose form matters (a path, a date, an address, an id …) is shown by an
                  example; where models are known to choose another form (an absolute path, "next
                  Monday"), the description also says what is not accepted
    empty         of a parameter that may be left out it is said what happens then
    prerequisite  for an id of something, or the path of a file that must exist, it is said where
                  the model gets it from
    enum          values that are listed in the description are an `enum` in the schema

A parameter without any description gets one finding, `missing`, and so does a tool.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from freya_teach.llm.messages import Json
from freya_teach.llm.wirejson import as_dict, as_list, as_text
from freya_teach.tools import lint_words as words
from freya_teach.tools.tool import Tool

MAX_DEPTH = 3
"""A model may refer to itself; so deep its fields are looked at."""
Rule = Literal["missing", "format", "empty", "prerequisite", "enum"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A weak spot. `place` is the tool and the parameter, such as `read_file.path`."""

    place: str
    rule: Rule
    text: str
    suggestion: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text} ({self.rule}). {self.suggestion}"


@dataclass(frozen=True, slots=True)
class _Parameter:
    """One parameter at any depth: `schema` is what is allowed besides null."""

    place: str
    name: str
    about: str
    schema: Mapping[str, Json]
    optional: bool
    tool: Tool

    @property
    def is_free_text(self) -> bool:
        """A string that may be anything, as far as the schema knows."""
        return self.schema.get("type") == "string" and not self.schema.keys() & {"enum", "const"}

    def has(self, wanted: re.Pattern[str]) -> bool:
        return bool(wanted.search(self.about))


def lint_schema(tool: Tool) -> list[Finding]:
    """What is weak in a tool's descriptions, in the order of its parameters; best is nothing.

    >>> from freya_teach import tool
    >>> @tool
    ... def read_file(path: str) -> str:
    ...     '''Read a file.
    ...
    ...     Args:
    ...         path: File path.
    ...     '''
    >>> [finding.rule for finding in lint_schema(read_file)]
    ['format', 'format', 'prerequisite']
    """
    found = [] if tool.description else [_no_description(tool)]
    for parameter in _parameters(tool, tool.parameters, tool.name):
        if not parameter.about and "enum" not in parameter.schema:
            found.append(_undescribed(parameter))
            continue
        for rule in (_format, _counterexample, _empty, _prerequisite, _enum):
            found += filter(None, [rule(parameter)])
    return found


def _parameters(tool: Tool, node: Mapping[str, Json], place: str) -> Iterator[_Parameter]:
    """All parameters of an object, each followed by those inside it."""
    required = as_list(node.get("required"))
    for name, schema in as_dict(node.get("properties")).items():
        resolved = _resolved(schema, tool)
        optional = name not in required
        about = as_text(schema.get("description")) or as_text(resolved.get("description"))
        parameter = _Parameter(f"{place}.{name}", name, about, resolved, optional, tool)
        yield parameter
        inner, brackets = resolved, ""
        while inner.get("type") == "array":
            inner, brackets = _resolved(as_dict(inner.get("items")), tool), brackets + "[]"
        if place.count(".") < MAX_DEPTH:
            yield from _parameters(tool, inner, parameter.place + brackets)


def _resolved(schema: Mapping[str, Json], tool: Tool) -> Mapping[str, Json]:
    """The schema itself: without its reference, and of "this or null", this."""
    if reference := as_text(schema.get("$ref")):
        return as_dict(as_dict(tool.parameters.get("$defs")).get(reference.rpartition("/")[2]))
    options = [option for option in as_list(schema.get("anyOf")) if option.get("type") != "null"]
    return _resolved(options[0], tool) if len(options) == 1 else schema


# ---- the rules -----------------------------------------------------------------------------


def _no_description(tool: Tool) -> Finding:
    return Finding(
        tool.name,
        "missing",
        "the tool has no description",
        "Say in the docstring's first line what it does, and when to call it.",
    )


def _undescribed(parameter: _Parameter) -> Finding:
    more = " and what happens when it is left out" if parameter.optional else ""
    return Finding(
        parameter.place,
        "missing",
        "the parameter has no description",
        f"Describe it under `Args:`: what it is, an example of a good value{more}.",
    )


def _format(parameter: _Parameter) -> Finding | None:
    formatted = words.FORMATTED.search(parameter.name.lower()) or "format" in parameter.schema
    shown = parameter.schema.keys() & {"examples", "pattern"}
    if not (parameter.is_free_text and formatted) or shown or parameter.has(words.EXAMPLE):
        return None
    return Finding(
        parameter.place,
        "format",
        "its values have a form, and no example shows it",
        'Add a good example: for example "…".',
    )


def _counterexample(parameter: _Parameter) -> Finding | None:
    often_wrong = words.OFTEN_WRONG.search(parameter.name.lower())
    if not (parameter.is_free_text and often_wrong) or parameter.has(words.COUNTEREXAMPLE):
        return None
    return Finding(
        parameter.place,
        "format",
        "models like to choose another form, and none is ruled out",
        'Add a bad example: "notes/a.txt", never "/notes/a.txt"; "2026-11-30", not "tomorrow".',
    )


def _empty(parameter: _Parameter) -> Finding | None:
    if not parameter.optional or parameter.has(words.LEFT_OUT):
        return None
    return Finding(
        parameter.place,
        "empty",
        "it may be left out, and it is not said what happens then",
        "Say when to leave it out and what is used instead, so that the model does not guess.",
    )


def _prerequisite(parameter: _Parameter) -> Finding | None:
    name, tool = parameter.name.lower(), parameter.tool
    uses = words.PATH.search(name) and words.USES_WHAT_IS_THERE.search(tool.name.lower())
    if not (words.IDENTIFIER.search(name) or uses) or "enum" in parameter.schema:
        return None
    if parameter.has(words.SOURCE) or words.NAMES_A_TOOL.search(tool.description):
        return None
    return Finding(
        parameter.place,
        "prerequisite",
        "it names something that must exist, and not where the model learns of it",
        "Name the tool to call first, such as `list_dir`, or say that the user has to give it.",
    )


def _enum(parameter: _Parameter) -> Finding | None:
    listed = words.LISTED.search(parameter.about) if parameter.is_free_text else None
    if listed is None or words.JUST_EXAMPLES.search(parameter.about[: listed.start()]):
        return None
    return Finding(
        parameter.place,
        "enum",
        f"its description lists the values ({listed[0]}), but the schema takes any text",
        'Annotate it with Literal["…", "…"] or an Enum.',
    )
