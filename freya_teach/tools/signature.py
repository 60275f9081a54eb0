"""A function's parameters as the fields of a pydantic model. (chapter 4.1)"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, get_args

from pydantic import BaseModel, ConfigDict, Field, create_model

from freya_teach.errors import ConfigError
from freya_teach.tools.context import ToolContext


def parameters_of(function: Callable[..., Any], name: str) -> tuple[list[inspect.Parameter], str]:
    """The parameters that a model fills in, and the name of the one that takes the `ToolContext`.

    Raises `ConfigError` for a signature that cannot be read, or that a model could not fill in.
    """
    try:
        parameters = list(inspect.signature(function, eval_str=True).parameters.values())
    except Exception as problem:  # an annotation in quotes is code, and may fail in any way
        raise ConfigError(f"tool {name}: its signature cannot be read: {problem}") from problem
    for parameter in parameters:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ConfigError(f"tool {name}: a model cannot give {parameter}: use named parameters")
    contexts = [parameter.name for parameter in parameters if _is_context(parameter)]
    if len(contexts) > 1:
        raise ConfigError(f"tool {name}: one parameter of type ToolContext is enough")
    given = [parameter for parameter in parameters if parameter.name not in contexts]
    return given, "".join(contexts)


def the_one(given: list[inspect.Parameter], model: type[BaseModel], name: str) -> str:
    """The parameter that takes the model."""
    if len(given) != 1 or given[0].annotation not in (model, inspect.Parameter.empty):
        raise ConfigError(
            f"tool {name}: with model={model.__name__} the function takes one {model.__name__}, "
            "and a ToolContext if it wants one"
        )
    return given[0].name


def model_of(
    given: list[inspect.Parameter], about: Mapping[str, str], name: str
) -> type[BaseModel]:
    """A model with one field per parameter."""
    fields: dict[str, Any] = {
        _field_name(parameter.name): _field(parameter, about.get(parameter.name), name)
        for parameter in given
    }
    return create_model(name, __config__=ConfigDict(extra="forbid"), **fields)


def _is_context(parameter: inspect.Parameter) -> bool:
    """Also as `ToolContext | None`: the model must not be able to fill it in."""
    return parameter.annotation is ToolContext or ToolContext in get_args(parameter.annotation)


def _field_name(parameter: str) -> str:
    """`schema`, `json` and `_hidden` are names that pydantic takes for its own."""
    taken = parameter.startswith(("_", "model_")) or hasattr(BaseModel, parameter)
    return f"parameter{parameter}" if taken else parameter


def _field(parameter: inspect.Parameter, description: str | None, name: str) -> Any:
    """One field; the model writes its alias, which is the parameter's name in any case."""
    if parameter.annotation is parameter.empty:
        raise ConfigError(f"tool {name}: parameter {parameter.name} needs a type annotation")
    default = ... if parameter.default is parameter.empty else parameter.default
    about = Field(alias=parameter.name)
    if description:
        about = Field(alias=parameter.name, description=description)
    return (Annotated[parameter.annotation, about], default)


def renamed_fields(given: list[inspect.Parameter]) -> dict[str, str]:
    """Field of the model → parameter, for those whose names differ."""
    names = {_field_name(parameter.name): parameter.name for parameter in given}
    return {field: name for field, name in names.items() if field != name}
