"""The Gemini generateContent wire, there and back. (chapter 5.2)

What differs from OpenAI's, in the order in which it hurts: results of one turn go together in
one `user` content; a result is matched by name as well as by id; the system prompt stands
outside; arguments are an object, not a string; a thought signature belongs to the part it came
on and must go back on exactly that part.

Source: googleapis `google/ai/generativelanguage/v1beta/content.proto`, and the refusals named
beside each step.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import assert_never

from freya_teach.errors import UnsupportedContent
from freya_teach.llm import transcript
from freya_teach.llm.gemini_schema import to_gemini
from freya_teach.llm.messages import (
    NO_DATA,
    AssistantMessage,
    AssistantPart,
    ImagePart,
    Json,
    Message,
    ProviderData,
    ReasoningPart,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
    UserPart,
)
from freya_teach.llm.models import facts_for
from freya_teach.llm.protocol import (
    Adapter,
    CallDelta,
    Delta,
    FinishDelta,
    FinishReason,
    ModelRequest,
    ReasoningDelta,
    Route,
    TextDelta,
    ToolSpec,
    Usage,
    UsageDelta,
    WireRequest,
)
from freya_teach.llm.refusal import raise_for_error
from freya_teach.llm.wirejson import as_dict, as_int, as_list, as_text, encode, legal_name

NAME = "gemini"
Body = dict[str, Json]

UNSIGNED = base64.b64encode(b"skip_thought_signature_validator").decode("ascii")
"""Google's documented placeholder for a call that Gemini did not make; costs quality, not a 400."""

CONTINUED = "(continued)"
"""The text of a user turn that is there only because the protocol wants one."""


# ---- there: messages to a request body -----------------------------------------------------


@dataclass(frozen=True, slots=True)
class Step:
    """One step of building a request body, the rule that it serves, and who enforces it."""

    apply: Callable[[Body, ModelRequest, Route], None]
    rule: str
    models: str
    source: str

    @property
    def name(self) -> str:
        """The step's name, as a learner would type it."""
        return self.apply.__name__


def check_transcript(body: Body, request: ModelRequest, route: Route) -> None:
    """Find a broken history here, where the message can say what is wrong."""
    transcript.check(request.messages)


def hoist_system(body: Body, request: ModelRequest, route: Route) -> None:
    """System messages at the start move out of the conversation, each a part of its own."""
    texts = [m.text for m in request.messages[: _leading_system(request.messages)] if m.text]
    if texts:
        body["systemInstruction"] = {"parts": [{"text": text} for text in texts]}


def to_contents(body: Body, request: ModelRequest, route: Route) -> None:
    """Each message becomes a content of role `user` or `model`; there are no other roles."""
    names = transcript.call_names(request.messages)
    native_ids = _native_ids(request.messages)
    spoken = request.messages[_leading_system(request.messages) :]
    contents = [message_to_wire(message, names, native_ids) for message in spoken]
    body["contents"] = [content for content in contents if content["parts"]]


def group_tool_results(body: Body, request: ModelRequest, route: Route) -> None:
    """The results of one turn share one content, in the order of the calls."""
    grouped: list[Body] = []
    for content in body["contents"]:
        if grouped and _is_results(content) and _is_results(grouped[-1]):
            grouped[-1]["parts"].extend(content["parts"])
        else:
            grouped.append(content)
    for calls, results in pairwise(grouped):
        if _is_results(results):
            ids = [part["functionCall"]["id"] for part in calls["parts"] if "functionCall" in part]
            order = {id_: place for place, id_ in enumerate(ids)}
            results["parts"].sort(key=lambda part: order.get(part["functionResponse"]["id"], 0))
    body["contents"] = grouped


def merge_consecutive(body: Body, request: ModelRequest, route: Route) -> None:
    """Neighbours of one role become one content; results stay apart from words."""
    merged: list[Body] = []
    for content in body["contents"]:
        last = merged[-1] if merged else None
        if (
            last
            and last["role"] == content["role"]
            and not (_is_results(last) or _is_results(content))
        ):
            last["parts"].extend(content["parts"])
        else:
            merged.append(content)
    body["contents"] = merged


def start_with_user(body: Body, request: ModelRequest, route: Route) -> None:
    """A conversation that is empty or was cut at its start lacks a user: say something first."""
    if not body["contents"] or body["contents"][0]["role"] == "model":
        body["contents"] = [_note(CONTINUED), *body["contents"]]


def end_with_user(body: Body, request: ModelRequest, route: Route) -> None:
    """A request may not end with the model's own words."""
    if body["contents"] and body["contents"][-1]["role"] == "model":
        body["contents"] = [*body["contents"], _note(CONTINUED)]


def sign_foreign_calls(body: Body, request: ModelRequest, route: Route) -> None:
    """A model turn's first call needs a signature; what Gemini did not sign gets a stand-in."""
    if not facts_for(route.model).needs_signature:
        return
    for content in body["contents"]:
        parts = content["parts"]
        first = next((i for i, part in enumerate(parts) if "functionCall" in part), None)
        if first is not None and "thoughtSignature" not in parts[first]:
            parts[first]["thoughtSignature"] = UNSIGNED


def declare_tools(body: Body, request: ModelRequest, route: Route) -> None:
    """All tools in one declaration list, their schemas as JSON Schema."""
    if request.tools:
        body["tools"] = [{"functionDeclarations": [_declaration(tool) for tool in request.tools]}]


def limit_output(body: Body, request: ModelRequest, route: Route) -> None:
    """The bound on the answer. The model's thinking counts inside it."""
    if request.max_output_tokens is not None:
        body["generationConfig"] = {"maxOutputTokens": request.max_output_tokens}


STEPS: tuple[Step, ...] = (
    Step(
        check_transcript,
        "as many results as calls, right behind them; else 400",
        "all",
        "gemini-cli#16415",
    ),
    Step(
        hoist_system,
        "there is no role `system` among contents; all system messages count, in order",
        "all",
        "content.proto, Content.role",
    ),
    Step(to_contents, "roles are `user` and `model` only", "3.6 and later: 400", "frigate#24013"),
    Step(
        group_tool_results,
        "one content with all results of a turn, in call order",
        "2.5 and 3 were recorded accepting several; others answer 400",
        "eino-ext#572, hermes-agent#22261",
    ),
    Step(
        merge_consecutive,
        "user and model alternate; words never stand in a content with results",
        "older ones: 400; beside results: an empty answer on 3.5",
        "pydantic-ai#4210, dive#287",
    ),
    Step(start_with_user, "a call follows a user turn or results", "all", "gemini-cli#11814"),
    Step(end_with_user, "no request ends with a model turn", "3.5-flash-lite, 3.6", "pipecat#5821"),
    Step(
        sign_foreign_calls,
        "the first call of each step carries a thought signature",
        "3 and later",
        "Gemini API guide, thought signatures",
    ),
    Step(
        declare_tools,
        "parametersJsonSchema takes real JSON Schema; no arguments: leave it out",
        "all",
        "koda#1097, agno#2112",
    ),
    Step(limit_output, "maxOutputTokens includes thinking", "2.5 and later", "python-genai#2062"),
)


def build_request(
    request: ModelRequest, route: Route, steps: Sequence[Step] = STEPS
) -> WireRequest:
    """The request for this model. Raises `TranscriptError` or `UnsupportedContent`."""
    body: Body = {"contents": []}
    for step in steps:
        step.apply(body, request, route)
    method = "streamGenerateContent?alt=sse" if request.stream else "generateContent"
    url = f"{route.endpoint}/v1beta/models/{route.model.removeprefix('models/')}:{method}"
    headers = {"content-type": "application/json"}
    if route.api_key:  # never in the URL: URLs stand in the logs of every proxy on the way
        headers["x-goog-api-key"] = route.api_key
    return WireRequest(url, headers, encode(body))


def message_to_wire(
    message: Message, names: Mapping[str, str], native_ids: Mapping[str, str]
) -> Body:
    """One neutral message as a content. `names` and `native_ids` go by our call id."""
    match message:
        case SystemMessage():  # a late one: there is no place for it but the user's
            return {"role": "user", "parts": [{"text": message.text}] if message.text else []}
        case UserMessage():
            return {"role": "user", "parts": [p for p in map(_user_part, message.parts) if p]}
        case AssistantMessage():
            parts = [_assistant_part(part, native_ids) for part in message.parts]
            return {"role": "model", "parts": [part for part in parts if part]}
        case ToolMessage():
            return {"role": "user", "parts": [_result_part(message, names, native_ids)]}
        case _:
            assert_never(message)


def _leading_system(messages: Sequence[Message]) -> int:
    return next((i for i, m in enumerate(messages) if m.role != "system"), len(messages))


def _native_ids(messages: Sequence[Message]) -> dict[str, str]:
    """Our call id → the id that Gemini itself gave, where it differs and is nobody else's."""
    natives = {
        call.id: call.provider_data.for_issuer(NAME).get("id")
        for message in messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
    }
    times = Counter(natives.values())
    return {
        ours: native
        for ours, native in natives.items()
        if native and native not in natives and times[native] == 1
    }


def _user_part(part: UserPart) -> Body | None:
    match part:
        case TextPart():
            return {"text": part.text} if part.text else None
        case ImagePart():
            if part.url:
                raise UnsupportedContent(
                    f"Gemini takes an image's bytes, not its address: {part.url[:80]}"
                )
            data = base64.b64encode(part.data).decode("ascii")
            return {"inlineData": {"mimeType": part.media_type, "data": data}}
        case _:
            assert_never(part)


def _assistant_part(part: AssistantPart, native_ids: Mapping[str, str]) -> Body | None:
    own = part.provider_data.for_issuer(NAME)
    signature = {"thoughtSignature": own["signature"]} if "signature" in own else {}
    match part:
        case TextPart():
            return {"text": part.text, **signature} if part.text or signature else None
        case ReasoningPart():  # a thought is not wanted back, unless it is signed
            return {"text": part.text, "thought": True, **signature} if signature else None
        case ToolCall():
            id_ = native_ids.get(part.id, part.id)
            call = {"id": id_, "name": legal_name(part.name), "args": _arguments(part.arguments)}
            return {"functionCall": call, **signature}
        case _:
            assert_never(part)


def _arguments(raw: str) -> Body:
    """OpenAI keeps what the model wrote, JSON or not; Gemini has room for objects only."""
    try:
        value = json.loads(raw.strip() or "{}")
        json.dumps(value, allow_nan=False)  # Python reads NaN and 1e999, no server does
    except (ValueError, RecursionError):
        return {"_raw": raw}
    return value if isinstance(value, dict) else {"_raw": raw}


def _result_part(
    message: ToolMessage, names: Mapping[str, str], native_ids: Mapping[str, str]
) -> Body:
    """`response` is an object with a text in it: an object with `$ref` would be a pointer."""
    id_ = native_ids.get(message.call_id, message.call_id)
    response = {"error" if message.is_error else "output": message.text}
    name = legal_name(names.get(message.call_id, ""))
    return {"functionResponse": {"id": id_, "name": name, "response": response}}


def _is_results(content: Body) -> bool:
    return "functionResponse" in content["parts"][0]


def _note(text: str) -> Body:
    return {"role": "user", "parts": [{"text": text}]}


def _declaration(tool: ToolSpec) -> Body:
    declaration: Body = {"name": tool.name, "description": tool.description or tool.name}
    schema = to_gemini(tool.parameters)
    if schema.get("properties"):
        declaration["parametersJsonSchema"] = schema
    return declaration


# ---- back: chunks to deltas ----------------------------------------------------------------

FILTERED = (
    "SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII LANGUAGE ESCALATION MODEL_ARMOR JAILBREAK "
    "IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION IMAGE_OTHER"
)
FAILED = (
    "MALFORMED_FUNCTION_CALL MALFORMED_RESPONSE UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS "
    "MISSING_THOUGHT_SIGNATURE"
)
FINISH_REASONS: dict[str, FinishReason] = {
    "STOP": "stop",
    "1": "stop",  # the number of STOP, where a gateway sends enums as numbers
    "MAX_TOKENS": "length",
    "2": "length",
    "CONTINUATION": "length",
    **dict.fromkeys(FILTERED.split(), "content_filter"),
    **dict.fromkeys(FAILED.split(), "error"),
}
"""An open list: what is not in it is "unknown", and the provider's own word is kept beside it."""


def parse_chunk(chunk: Json) -> Iterator[Delta]:
    """What one chunk says. Raises `ProviderError` for an error inside a 200."""
    raise_for_error(NAME, 200, chunk)
    candidates = as_list(chunk.get("candidates"))
    if candidates:
        yield from _candidate(as_dict(candidates[0]))
    if blocked := as_text(as_dict(chunk.get("promptFeedback")).get("blockReason")):
        yield FinishDelta("content_filter", blocked)
    if usage := as_dict(chunk.get("usageMetadata")):
        yield UsageDelta(_usage(usage))


def _candidate(candidate: Body) -> Iterator[Delta]:
    for part in as_list(as_dict(candidate.get("content")).get("parts")):
        yield from _part(as_dict(part))
    reason = candidate.get("finishReason")
    if reason and isinstance(reason, str | int):
        raw = str(reason)
        yield FinishDelta(FINISH_REASONS.get(raw, "unknown"), raw)


def _part(part: Body) -> Iterator[Delta]:
    signature = as_text(part.get("thoughtSignature")) or as_text(part.get("thought_signature"))
    data = ProviderData(NAME, {"signature": signature}) if signature else NO_DATA
    if call := as_dict(part.get("functionCall")):
        arguments = encode(as_dict(call.get("args"))).decode()
        yield CallDelta(
            id=as_text(call.get("id")),
            name=as_text(call.get("name")),
            arguments=arguments,
            whole=True,
            provider_data=data,
        )
    elif isinstance(part.get("text"), str):
        kind = ReasoningDelta if part.get("thought") is True else TextDelta
        yield kind(part["text"], data)


def _usage(usage: Body) -> Usage:
    thoughts = as_int(usage.get("thoughtsTokenCount"))
    input_tokens = as_int(usage.get("promptTokenCount")) + as_int(
        usage.get("toolUsePromptTokenCount")
    )
    output_tokens = as_int(usage.get("candidatesTokenCount")) + thoughts
    return Usage(
        input_tokens,
        output_tokens,
        as_int(usage.get("totalTokenCount")) or input_tokens + output_tokens,
        thoughts,
        as_int(usage.get("cachedContentTokenCount")),
    )


ADAPTER = Adapter(NAME, build_request, parse_chunk)
