"""What OpenAI refuses in tools: names, schemas, what goes with them. (chapter 5.2)"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from freya_teach.lab.gateway.openai_wire import empty_array, missing, refusal, too_long
from freya_teach.lab.gateway.request import Body, Request
from freya_teach.lab.gateway.rule import Rule
from freya_teach.lab.gateway.wire import Refused, mapping, mappings, text_of
from freya_teach.llm.messages import Json

MAX_TOOLS = 128
MAX_NAME = 64
MAX_DESCRIPTION = 1024
NAME = re.compile(r"[a-zA-Z0-9_-]+")
COMBINATORS = ("oneOf", "anyOf", "allOf", "enum", "not")

# ---- names and sizes -----------------------------------------------------------------------


def _tools_are_whole(request: Request) -> None:
    tools = request.body.get("tools")
    if tools == []:
        raise empty_array("tools")
    if len(mappings(tools)) > MAX_TOOLS:
        says = (
            f"Invalid 'tools': array too long. Expected an array with maximum length {MAX_TOOLS}, "
            f"but got an array with length {len(mappings(tools))} instead."
        )
        raise refusal(says, "tools", "array_above_max_length")
    for n, tool in enumerate(mappings(tools)):
        if "type" not in tool:
            raise missing(f"tools[{n}].type")
        if tool["type"] == "function" and "function" not in tool:
            raise missing(f"tools[{n}].function")
        if tool["type"] == "function" and "name" not in mapping(tool["function"]):
            raise missing(f"tools[{n}].function.name")


def _names(request: Request) -> None:
    for place, name in _all_names(request):
        if len(name) > MAX_NAME:
            raise too_long(place, name, MAX_NAME)
        if not NAME.fullmatch(name):
            says = (
                f"Invalid '{place}': string does not match pattern. Expected a string that "
                "matches the pattern '^[a-zA-Z0-9_-]+$'."
            )
            raise refusal(says, place, "invalid_value")


def _all_names(request: Request) -> Iterator[tuple[str, str]]:
    """Names that are offered, and names of calls that are remembered."""
    for n, function in request.functions:
        yield f"tools[{n}].function.name", text_of(function.get("name"))
    for n, message in enumerate(request.messages):
        for c, call in enumerate(mappings(message.get("tool_calls"))):
            if "function" in call:
                place = f"messages[{n}].tool_calls[{c}].function.name"
                yield place, text_of(mapping(call["function"]).get("name"))


def _descriptions(request: Request) -> None:
    for n, function in request.functions:
        about = text_of(function.get("description"))
        if len(about) > MAX_DESCRIPTION:
            raise too_long(f"tools[{n}].function.description", about, MAX_DESCRIPTION)


# ---- schemas -------------------------------------------------------------------------------


def _schemas(request: Request) -> None:
    for n, function in request.functions:
        if schema := mapping(function.get("parameters")):
            for fault in _faults(schema):
                raise _bad_schema(n, function, fault)


def _faults(schema: Body) -> Iterator[str]:
    if schema.get("type", "object") == "object" and any(key in schema for key in COMBINATORS):
        yield (
            "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at "
            "the top level."
        )
    if schema.get("type") == "object" and "properties" not in schema:
        yield "In context=(), object schema missing properties."
    for context, node in _nodes(schema):
        if node.get("type") == "array" and "items" not in node and "prefixItems" not in node:
            yield f"In context={context}, array schema missing items."


def _bad_schema(n: int, function: Body, fault: str) -> Refused:
    says = f"Invalid schema for function '{function.get('name')}': {fault}"
    return refusal(says, f"tools[{n}].function.parameters", "invalid_function_parameters")


def _nodes(schema: Body, context: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Body]]:
    """Every schema inside this one, itself first, with the keys that lead to it."""
    yield context, schema
    for key in ("properties", "$defs", "definitions"):
        for name, inner in mapping(schema.get(key)).items():
            yield from _nodes(mapping(inner), (*context, key, name))
    if isinstance(schema.get("items"), dict):
        yield from _nodes(schema["items"], (*context, "items"))
    for number, inner in enumerate(mappings(schema.get("anyOf"))):
        yield from _nodes(inner, (*context, "anyOf", str(number)))


def _strict_schemas(request: Request) -> None:
    for n, function in request.functions:
        if function.get("strict") is True:
            for context, node in _nodes(mapping(function.get("parameters"))):
                for fault in _strict_faults(node):
                    raise _bad_schema(n, function, f"In context={context}, {fault}")


def _strict_faults(node: Body) -> Iterator[str]:
    if _is_object(node):
        if node.get("additionalProperties") is not False:
            yield "'additionalProperties' is required to be supplied and to be false."
        named = node.get("required") or []
        if lost := [key for key in mapping(node.get("properties")) if key not in named]:
            yield (
                "'required' is required to be supplied and to be an array including every key in "
                f"properties. Missing '{lost[0]}'."
            )
    for keyword in ("default", "allOf"):
        if keyword in node:
            yield f"'{keyword}' is not permitted."


def _is_object(node: Body) -> bool:
    kind: Json = node.get("type")
    return kind == "object" or (isinstance(kind, list) and "object" in kind)


# ---- what goes with tools ------------------------------------------------------------------


def _only_with_tools(request: Request) -> None:
    for name in ("tool_choice", "parallel_tool_calls"):
        if request.body.get(name) is not None and "tools" not in request.body:
            says = (
                f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified."
            )
            raise refusal(says, name)


def _tools_without_effort(request: Request) -> None:
    when, effort = request.generation.tools_need_none, request.body.get("reasoning_effort")
    by_default = effort is None and when == "always"
    said = effort not in (None, "none") and when != ""
    if request.functions and (by_default or said):
        says = request.generation.effort_refusal.format(model=request.model)
        raise refusal(says.rstrip(), "reasoning_effort")


_rule = partial(Rule, "openai")

RULES: tuple[Rule, ...] = (
    _rule("tools.whole", "1 to 128 tools, each with its type, function and name.",
          "camel-ai/camel#3706; openai/openai-cookbook#1248; microsoft/semantic-kernel#6825",
          _tools_are_whole),
    _rule("tools.name", "A name is of letters, digits, _ and -, at most 64, in the history, too.",
          "brekkylab/ailoy#109; mcp-use/mcp-use#90; home-assistant/core#121325", _names),
    _rule("tools.description", "A description has at most 1024 characters.",
          "nanbingxyz/5ire#33; the limit may have moved", _descriptions),
    _rule("schema", "Parameters are an object with properties, lists say what is in them.",
          "langchain-ai/langchainjs#9804; spring-projects/spring-ai#4776; the last: quoted",
          _schemas),
    _rule("schema.strict", "strict: no other properties, all required, no default, no allOf.",
          "camel-ai/camel#2231; kevinwatt/mysql-mcp#5; 567-labs/instructor#1074; "
          "makenotion/notion-mcp-server#102", _strict_schemas),
    _rule("tools.needed", "tool_choice and parallel_tool_calls go with tools.",
          "openai/swarm#30; for tool_choice OpenAI's text, quoted with its envelope",
          _only_with_tools),
    _rule("tools.effort", 'Function tools only with reasoning_effort "none".',
          "pipecat-ai/pipecat#4043; GoogleChromeLabs/webmcp-tools#417; onyx-dot-app/onyx#15008",
          _tools_without_effort, "gpt-5.4 if said, gpt-5.5 and later by default"),
)  # fmt: skip
