"""A typed Python function becomes a tool that a model can call. (chapter 4.1)

The signature gives the JSON Schema, the docstring gives the descriptions, and pydantic checks
the model's arguments against the very same types. A parameter annotated `ToolContext` is filled
in by the runner; the model never sees it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, overload

from pydantic import BaseModel, PydanticUserError

from freya_teach.errors import ConfigError
from freya_teach.llm.messages import Json
from freya_teach.llm.protocol import ToolSpec
from freya_teach.tools.context import Active, CancelToken, ToolContext
from freya_teach.tools.docstring import read_docstring
from freya_teach.tools.schema import schema_of
from freya_teach.tools.schema import strict as to_strict
from freya_teach.tools.signature import model_of, parameters_of, renamed_fields, the_one

__all__ = ["TOOL_NAME", "Active", "CancelToken", "Tool", "ToolContext", "tool"]

TOOL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
"""What both wires accept as a name."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A function, what the model is told about it, and the check of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Json]
    """JSON Schema of the arguments, as the signature has it."""
    function: Callable[..., Any]
    arguments: type[BaseModel]
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Field of `arguments` → parameter, where pydantic keeps the parameter's name to itself."""
    model_parameter: str = ""
    """The parameter that takes `arguments` as a whole, for a tool made of a model."""
    context_parameter: str = ""
    strict_parameters: Mapping[str, Json] | None = None
    """The schema for OpenAI's strict mode, if the tool is to be called in it."""
    seconds: float | None = None
    instructions: str = ""
    """What the system prompt says about this tool while it is active."""

    spec: ToolSpec = field(init=False, repr=False, compare=False)
    """What goes to the model: one object, so that a request can tell that it has not changed."""

    def __post_init__(self) -> None:
        parameters = self.parameters if self.strict_parameters is None else self.strict_parameters
        spec = ToolSpec(self.name, self.description, parameters, self.strict)
        object.__setattr__(self, "spec", spec)

    @property
    def strict(self) -> bool:
        """Whether OpenAI is asked to keep to the schema, token by token."""
        return self.strict_parameters is not None

    def validate(self, arguments: Mapping[str, Json]) -> dict[str, Any]:
        """The arguments in the types of the signature, with pydantic's usual conversions.

        Raises pydantic's `ValidationError`.
        """
        return self._by_name(self.arguments.model_validate(arguments))

    def validate_json(self, arguments: str) -> dict[str, Any]:
        """The same for the text of a call, and nothing is converted that JSON can say itself."""
        validator = self.arguments.__pydantic_validator__  # model_validate_json is slower by half
        return self._by_name(validator.validate_json(arguments, strict=True))

    def _by_name(self, checked: BaseModel) -> dict[str, Any]:
        if self.model_parameter:
            return {self.model_parameter: checked}
        values = vars(checked)
        for ours, name in self.renamed.items():
            values[name] = values.pop(ours)
        return values

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The plain function, for whoever wants to try it."""
        return self.function(*args, **kwargs)


@overload
def tool(function: Callable[..., Any]) -> Tool: ...
@overload
def tool(
    *,
    name: str = "",
    description: str = "",
    model: type[BaseModel] | None = None,
    strict: bool = False,
    seconds: float | None = None,
    instructions: str = "",
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(  # noqa: PLR0913 - keywords, each with a default
    function: Callable[..., Any] | None = None,
    *,
    name: str = "",
    description: str = "",
    model: type[BaseModel] | None = None,
    strict: bool = False,
    seconds: float | None = None,
    instructions: str = "",
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a typed function, sync or async; `seconds` is its own time limit.

    With `model` the arguments are the fields of that pydantic model, and the function takes one
    object of it. `strict` asks OpenAI to keep to the schema; Gemini has no such promise.
    `instructions` go into the system prompt while the tool is active.
    Raises `ConfigError` for a signature that no JSON Schema can describe.

    >>> @tool
    ... def double(number: int) -> int:
    ...     "Twice the number."
    ...     return 2 * number
    >>> double.parameters["properties"]
    {'number': {'type': 'integer'}}
    """

    def make(found: Callable[..., Any]) -> Tool:
        made = _make(found, name, description, model)
        closed = to_strict(made.parameters, f"tool {made.name}: arguments") if strict else None
        return replace(made, strict_parameters=closed, seconds=seconds, instructions=instructions)

    return make if function is None else make(function)


def _make(
    function: Callable[..., Any], name: str, description: str, model: type[BaseModel] | None
) -> Tool:
    if not callable(function):
        raise ConfigError(
            f"a tool is a function, and this is of the type {type(function).__name__}: give the "
            "function itself, its name without quotes and without ()"
        )
    name = name or getattr(function, "__name__", "")
    if not TOOL_NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} is no tool name on both wires: a letter or _, then letters, digits, _ or -, "
            "64 characters at most"
        )
    about, about_parameters = read_docstring(inspect.getdoc(function) or "")
    given, context = parameters_of(function, name)
    whole = the_one(given, model, name) if model else ""
    try:
        arguments = model or model_of(given, about_parameters, name)
        schema = schema_of(arguments)
    except PydanticUserError as problem:
        raise ConfigError(f"tool {name}: {problem.message}") from None
    about = description or about or (inspect.getdoc(model) or "" if model else "")
    renamed = {} if model else renamed_fields(given)
    return Tool(name, about, schema, function, arguments, renamed, whole, context)
