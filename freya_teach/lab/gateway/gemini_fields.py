"""What Google's JSON parser knows before any model is asked: fields and their types. (chapter 5.2)

Gemini's request is a protobuf message. Its JSON is read strictly: a field that the message does
not have refuses the whole request, and so does a list in the place of one value. That is why a
JSON Schema under `parameters` is refused for each keyword that Google's own `Schema` lacks.

Source: google/ai/generativelanguage/v1beta/content.proto and generative_service.proto; texts as
they were reported.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator

from freya_teach.lab.gateway.gemini_wire import refusal
from freya_teach.lab.gateway.request import Body, Request
from freya_teach.lab.gateway.wire import Refused
from freya_teach.llm.messages import Json

PACKAGE = "type.googleapis.com/google.ai.generativelanguage.v1beta."
STRUCT = "type.googleapis.com/google.protobuf.Struct"
BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest"

Violation = tuple[str, str]
"""The place of a fault, and its description."""

MESSAGES = {
    "GenerateContentRequest": """
        model:string contents:Content* system_instruction:Content tools:Tool*
        tool_config:ToolConfig safety_settings:any* generation_config:GenerationConfig
        cached_content:string service_tier:any store:any""",
    "Content": "parts:Part* role:string",
    "Part": """
        text:string inline_data:any function_call:FunctionCall
        function_response:FunctionResponse file_data:any executable_code:any
        code_execution_result:any tool_call:any tool_response:any
        thought:any thought_signature:bytes part_metadata:any video_metadata:any
        media_resolution:any""",
    "FunctionCall": "id:string name:string args:Struct",
    "FunctionResponse": """
        id:string name:string response:Struct parts:any* will_continue:any scheduling:any""",
    "Tool": """
        function_declarations:FunctionDeclaration* google_search_retrieval:any code_execution:any
        google_search:any computer_use:any url_context:any file_search:any google_maps:any
        mcp_servers:any*""",
    "FunctionDeclaration": """
        name:string description:string parameters:Schema parameters_json_schema:any
        response:Schema response_json_schema:any behavior:any""",
    "ToolConfig": """
        function_calling_config:FunctionCallingConfig retrieval_config:any
        include_server_side_tool_invocations:any""",
    "FunctionCallingConfig": "mode:any allowed_function_names:string*",
    "GenerationConfig": """
        candidate_count:any stop_sequences:string* max_output_tokens:any temperature:any top_p:any
        top_k:any seed:any response_mime_type:string response_schema:Schema
        response_json_schema:any presence_penalty:any
        frequency_penalty:any response_logprobs:any logprobs:any enable_enhanced_civic_answers:any
        response_modalities:any* speech_config:any thinking_config:ThinkingConfig
        image_config:any media_resolution:any""",
    "ThinkingConfig": "include_thoughts:any thinking_budget:any thinking_level:any",
    "Schema": """
        type:any format:string title:string description:string nullable:any enum:string*
        items:Schema max_items:any min_items:any properties:map required:string*
        min_properties:any max_properties:any minimum:any maximum:any min_length:any
        max_length:any pattern:string example:any any_of:Schema* property_ordering:string*
        default:any""",
}
DATA = {field.partition(":")[0] for field in MESSAGES["Part"].partition("thought:")[0].split()}
"""A part holds one of these."""


def _camel(name: str) -> str:
    return re.sub("_([a-z])", lambda found: found[1].upper(), name)


FIELDS: dict[str, dict[str, tuple[str, str]]] = {
    message: {
        spelling: (name, kind)
        for name, _, kind in (field.partition(":") for field in fields.split())
        for spelling in (name, _camel(name))
    }
    for message, fields in MESSAGES.items()
}
"""Per message: a field under both of its spellings → its name in the file, and its type."""


def only_known_fields(request: Request) -> None:
    """The body can be read as the message that it should be."""
    if found := list(_message(request.body, "GenerateContentRequest", "")):
        raise _unreadable(found)


def _unreadable(found: list[Violation]) -> Refused:
    violations = [{"field": place, "description": says} for place, says in found]
    details = {"@type": BAD_REQUEST, "fieldViolations": violations}
    return refusal("\n".join(says for _, says in found), details=[details])


def _message(value: Body, message: str, place: str) -> Iterator[Violation]:
    fields, data = FIELDS[message], ""
    for spelling, inner in value.items():
        if spelling not in fields:
            yield _unknown(spelling, place, "Cannot find field.")
        elif inner is not None:
            name, kind = fields[spelling]
            if message == "Part" and name in DATA:
                if data:
                    yield _second(spelling, place)
                data = name
            yield from _field(inner, kind, spelling, f"{place}.{name}" if place else name, place)


def _field(value: Json, kind: str, spelling: str, place: str, outer: str) -> Iterator[Violation]:
    repeated, kind = kind.endswith("*"), kind.removesuffix("*")
    if not repeated:
        if isinstance(value, list) and (kind != "any" or spelling == "type"):
            yield _unknown(spelling, outer, "Proto field is not repeating, cannot start list.")
        else:
            yield from _value(value, kind, place)
        return
    for number, inner in enumerate(value if isinstance(value, list) else [value]):
        yield from _value(inner, kind, f"{place}[{number}]")


def _value(value: Json, kind: str, place: str) -> Iterator[Violation]:
    if kind == "any":
        return
    if kind == "string":
        if not isinstance(value, str):
            yield place, f"Invalid value at '{place}' (TYPE_STRING), {_shown(value)}"
    elif kind == "bytes":
        if not _is_base64(value):
            says = f"Base64 decoding failed for {_shown(value)}"
            yield place, f"Invalid value at '{place}' (TYPE_BYTES), {says}"
    elif kind == "map":
        inner = value.values() if isinstance(value, dict) else ()
        for number, schema in enumerate(inner):
            yield from _value(schema, "Schema", f"{place}[{number}].value")
    elif not isinstance(value, dict):
        wanted = STRUCT if kind == "Struct" else PACKAGE + kind
        yield place, f"Invalid value at '{place}' ({wanted}), {_shown(value)}"
    elif kind != "Struct":
        yield from _message(value, kind, place)


def _unknown(name: str, place: str, why: str) -> Violation:
    where = f" at '{place}'" if place else ""
    return place, f'Invalid JSON payload received. Unknown name "{name}"{where}: {why}'


def _second(name: str, place: str) -> Violation:
    says = f"oneof field 'data' is already set. Cannot set '{name}'"
    return place, f"Invalid value at '{place}' (oneof), {says}"


def _shown(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _is_base64(value: Json) -> bool:
    """Both alphabets are read, and the padding may be missing."""
    if not isinstance(value, str):
        return False
    text = value.translate(_URL_SAFE).rstrip("=")
    try:
        base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


_URL_SAFE = str.maketrans("-_", "+/")
