"""A typed Python function becomes a tool that a model can call. (chapter 4.1)

The signature gives the JSON Schema, the docstring gives the descriptions, and pydantic checks
the model's arguments against the very same types. A parameter annotated `ToolContext` is filled
in by the runner; the model never sees it, so nothing of ours leaks into its arguments.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args, overload

from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, create_model
from pydantic.json_schema import GenerateJsonSchema

from freya_teach.errors import ConfigError
from freya_teach.llm.messages import Json
from freya_teach.llm.protocol import ToolSpec

TOOL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
"""What both wires accept as a name."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may know about the call that it answers."""

    call_id: str
    session_id: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A function, what the model is told about it, and the check of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Json]
    function: Callable[..., Any]
    arguments: type[BaseModel]
    context_parameter: str = ""
    seconds: float | None = None

    @property
    def spec(self) -> ToolSpec:
        """What goes to the model."""
        return ToolSpec(self.name, self.description, self.parameters)

    def validate(self, arguments: Mapping[str, Json]) -> dict[str, Any]:
        """The arguments in the types of the signature. Raises pydantic's `ValidationError`."""
        checked = self.arguments.model_validate(arguments)
        fields = self.arguments.model_fields
        return {str(field.alias): getattr(checked, name) for name, field in fields.items()}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The plain function, for whoever wants to try it."""
        return self.function(*args, **kwargs)


@overload
def tool(function: Callable[..., Any]) -> Tool: ...
@overload
def tool(
    *, name: str = "", description: str = "", seconds: float | None = None
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    *,
    name: str = "",
    description: str = "",
    seconds: float | None = None,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a typed function, sync or async; `seconds` is its own time limit.

    Raises `ConfigError` for a signature that no JSON Schema can describe.

    >>> @tool
    ... def double(number: int) -> int:
    ...     "Twice the number."
    ...     return 2 * number
    >>> double.parameters["properties"]
    {'number': {'type': 'integer'}}
    """
    if function is None:
        return lambda found: _make(found, name, description, seconds)
    return _make(function, name, description, seconds)


def _make(function: Callable[..., Any], name: str, description: str, seconds: float | None) -> Tool:
    name = name or getattr(function, "__name__", "")
    if not TOOL_NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} is no tool name on both wires: a letter or _, then letters, digits, _ or -, "
            "64 characters at most"
        )
    about, about_parameters = _read_docstring(inspect.getdoc(function) or "")
    parameters = _parameters(function, name)
    contexts = [parameter.name for parameter in parameters if _is_context(parameter)]
    if len(contexts) > 1:
        raise ConfigError(f"tool {name}: one parameter of type ToolContext is enough")
    fields: dict[str, Any] = {
        f"p{number}": _field(parameter, about_parameters.get(parameter.name), name)
        for number, parameter in enumerate(parameters)
        if parameter.name not in contexts
    }
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=False)
    try:
        model = create_model(name, __config__=config, **fields)
        schema = model.model_json_schema(schema_generator=_WithoutTitles)
    except PydanticUserError as problem:
        raise ConfigError(f"tool {name}: {problem.message}") from None
    schema.pop("title", None)
    schema.setdefault("properties", {})
    context = contexts[0] if contexts else ""
    return Tool(name, description or about, schema, function, model, context, seconds)


def _parameters(function: Callable[..., Any], name: str) -> list[inspect.Parameter]:
    try:
        parameters = list(inspect.signature(function, eval_str=True).parameters.values())
    except Exception as problem:  # an annotation in quotes is code, and may fail in any way
        raise ConfigError(f"tool {name}: its signature cannot be read: {problem}") from problem
    for parameter in parameters:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ConfigError(f"tool {name}: a model cannot give {parameter}: use named parameters")
    return parameters


def _is_context(parameter: inspect.Parameter) -> bool:
    """Also as `ToolContext | None`: the model must not be able to fill it in."""
    return parameter.annotation is ToolContext or ToolContext in get_args(parameter.annotation)


def _field(parameter: inspect.Parameter, description: str | None, name: str) -> Any:
    """One field: named by its alias, so that `schema` or `json` may be a parameter's name."""
    if parameter.annotation is parameter.empty:
        raise ConfigError(f"tool {name}: parameter {parameter.name} needs a type annotation")
    default = ... if parameter.default is parameter.empty else parameter.default
    about = Field(alias=parameter.name)
    if description:
        about = Field(alias=parameter.name, description=description)
    return (Annotated[parameter.annotation, about], default)


class _WithoutTitles(GenerateJsonSchema):
    """A title repeats the parameter's name and costs tokens in every request."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        return False


def _read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """Google style: the text before `Args:`, and one description per parameter."""
    about, _, rest = text.partition("\nArgs:\n")
    section = re.split(r"\n(?=\S)", rest, maxsplit=1)[0]
    found: dict[str, str] = {}
    last = ""
    for line in section.splitlines():
        match = re.fullmatch(r" {2,4}(\w+)(?: ?\([^)]*\))?: (.+)", line)
        if match:
            last = match[1]
            found[last] = match[2].strip()
        elif last and line.strip():
            found[last] += " " + line.strip()
    about = re.split(r"\n(?:Returns|Raises|Examples?):", about, maxsplit=1)[0]
    return " ".join(about.split()), found
