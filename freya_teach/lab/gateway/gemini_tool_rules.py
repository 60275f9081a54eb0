"""What Gemini refuses in tools: names, schemas, what goes with them. (chapter 5.2)

Keywords that Google's `Schema` does not have are refused before that, by `gemini_fields.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial

from freya_teach.lab.gateway.gemini_wire import field, refusal
from freya_teach.lab.gateway.request import Body, Request
from freya_teach.lab.gateway.rule import Rule
from freya_teach.lab.gateway.wire import mapping, mappings, text_of

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}")
BAD_NAME = (
    "Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, "
    "A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64."
)


def _names(request: Request) -> None:
    bad = [
        f"* GenerateContentRequest.{place}.name: {BAD_NAME}\n"
        for place, function in request.declarations
        if not NAME.fullmatch(text_of(function.get("name")))
    ]
    if bad:
        raise refusal("".join(bad))


def _no_name_twice(request: Request) -> None:
    names = Counter(text_of(function.get("name")) for _, function in request.declarations)
    for name, count in names.items():
        if count > 1:
            raise refusal(f"Duplicate function declaration found: {name}")


def _schemas(request: Request) -> None:
    faults = [
        f"* GenerateContentRequest.{fault}\n"
        for place, function in request.declarations
        for fault in _faults(mapping(function.get("parameters")), f"{place}.parameters")
    ]
    if faults:
        raise refusal("".join(faults))


def _faults(schema: Body, place: str) -> Iterator[str]:
    """What is wrong in a `Schema`, in the words of the server; nested ones included."""
    kind = text_of(schema.get("type")).upper()
    known = mapping(schema.get("properties"))
    if known and kind not in ("OBJECT", ""):
        yield f"{place}.properties: only allowed for OBJECT type"
    for n, name in enumerate(schema.get("required") or []):
        if name not in known:
            yield f"{place}.required[{n}]: property is not defined"
    if schema.get("enum") and kind not in ("STRING", ""):
        yield f"{place}.enum: only allowed for STRING type"
    if kind == "ARRAY" and not schema.get("items"):
        yield f"{place}.items: missing field."
    for name, inner in known.items():
        yield from _faults(mapping(inner), f"{place}.properties[{name}]")
    if schema.get("items"):
        yield from _faults(mapping(schema["items"]), f"{place}.items")
    for n, inner in enumerate(mappings(field(schema, "anyOf"))):
        yield from _faults(inner, f"{place}.any_of[{n}]")


def _config_needs_functions(request: Request) -> None:
    config = mapping(field(request.body, "toolConfig"))
    if mapping(field(config, "functionCallingConfig")) and not request.declarations:
        raise refusal("Function calling config is set without function_declarations")


_rule = partial(Rule, "gemini")

RULES: tuple[Rule, ...] = (
    _rule("tools.name", "A name is of letters, digits, _ . : and -, at most 64, no digit first.",
          "google-gemini/gemini-cli#7869; Mintplex-Labs/anything-llm#4452", _names),
    _rule("tools.twice", "No name is declared twice.", "owndev/Open-WebUI-Functions#135",
          _no_name_twice),
    _rule("schema", "`parameters`: what is required is defined, lists have items, enums are text.",
          "probelabs/probe#569; anomalyco/opencode#11888; musistudio/llms#20; "
          "the items: Google's text, quoted", _schemas),
    _rule("tools.config", "toolConfig goes with function declarations.",
          "a comment in pydantic-ai's google.py", _config_needs_functions),
)  # fmt: skip
