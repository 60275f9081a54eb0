"""The OpenAI Chat Completions wire, there and back. (chapter 5.2)

`build_request` is a list of named steps, each with the rule it serves. Take one out and send
the result to see what the rule is for. `parse_chunk` reads a whole answer and a piece of a
streamed one alike: one has `message`, the other `delta`.

Many servers speak this wire; what they do differently is noted where it matters.
Source: OpenAI API reference, POST /v1/chat/completions.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

from freya_teach.llm import transcript
from freya_teach.llm.messages import (
    AssistantMessage,
    ImagePart,
    Json,
    Message,
    ProviderData,
    ReasoningPart,
    SystemMessage,
    TextPart,
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
    Usage,
    UsageDelta,
    WireRequest,
)
from freya_teach.llm.refusal import raise_for_error
from freya_teach.llm.wirejson import as_dict, as_int, as_list, as_text, encode, legal_name

NAME = "openai"
Body = dict[str, Json]


# ---- there: messages to a request body -----------------------------------------------------


@dataclass(frozen=True, slots=True)
class Step:
    """One step of building a request body, and the rule that it serves."""

    apply: Callable[[Body, ModelRequest, Route], None]
    rule: str
    source: str

    @property
    def name(self) -> str:
        """The step's name, as a learner would type it."""
        return self.apply.__name__


def check_transcript(body: Body, request: ModelRequest, route: Route) -> None:
    """Find a broken history here, where the message can say what is wrong."""
    transcript.check(request.messages)


def to_messages(body: Body, request: ModelRequest, route: Route) -> None:
    """Each neutral message becomes one of OpenAI's, in the same order."""
    body["messages"] = [message_to_wire(message) for message in request.messages]


def join_leading_system(body: Body, request: ModelRequest, route: Route) -> None:
    """Several system messages at the start become one."""
    messages = body["messages"]
    count = next((i for i, m in enumerate(messages) if m["role"] != "system"), len(messages))
    if count > 1:
        text = "\n\n".join(m["content"] for m in messages[:count])
        body["messages"] = [{"role": "system", "content": text}, *messages[count:]]


def declare_tools(body: Body, request: ModelRequest, route: Route) -> None:
    """Tools, and the one setting that newer models insist on beside them."""
    if not request.tools:
        return
    body["tools"] = [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            },
        }
        for tool in request.tools
    ]
    if effort := facts_for(route.model).effort_with_tools:
        body["reasoning_effort"] = effort


def limit_output(body: Body, request: ModelRequest, route: Route) -> None:
    """The bound on the answer, under the name that this model's server knows."""
    if request.max_output_tokens is not None:
        body[facts_for(route.model).output_limit_field] = request.max_output_tokens


def ask_for_stream(body: Body, request: ModelRequest, route: Route) -> None:
    """A stream does not tell its token count unless it is asked to."""
    if request.stream:
        body["stream"] = True
        body["stream_options"] = {"include_usage": True}


STEPS: tuple[Step, ...] = (
    Step(
        check_transcript,
        "each tool call is answered once, before anything else is said; else 400",
        "morphic#136, CLIProxyAPI#2798",
    ),
    Step(to_messages, "one message per message", "API reference, messages"),
    Step(
        join_leading_system,
        "chat templates of many compatible servers take one system message only",
        "chat templates of Qwen and Mistral",
    ),
    Step(
        declare_tools,
        "no tools: leave the field out; gpt-5.4 and later: reasoning_effort must be none",
        "camel#3706, openai-openapi#541",
    ),
    Step(limit_output, "max_completion_tokens replaced max_tokens", "ComfyUI-Griptape#312"),
    Step(ask_for_stream, "include_usage adds one last chunk with the count", "API reference"),
)


def build_request(
    request: ModelRequest, route: Route, steps: Sequence[Step] = STEPS
) -> WireRequest:
    """The request for this model. Raises `TranscriptError` or `UnsupportedContent`."""
    body: Body = {"model": route.model, "messages": []}
    for step in steps:
        step.apply(body, request, route)
    headers = {"content-type": "application/json"}
    if route.api_key:  # a local server needs none, and "Bearer " alone is no legal header
        headers["authorization"] = f"Bearer {route.api_key}"
    return WireRequest(f"{route.endpoint}/v1/chat/completions", headers, encode(body))


def message_to_wire(message: Message) -> Body:
    """One neutral message in OpenAI's form."""
    match message:
        case SystemMessage():
            return {"role": "system", "content": message.text}
        case UserMessage():
            return {"role": "user", "content": _user_content(message.parts)}
        case AssistantMessage():
            return _assistant_to_wire(message)
        case ToolMessage():
            return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
        case _:
            assert_never(message)


def _user_content(parts: tuple[UserPart, ...]) -> Json:
    if not parts:  # an empty list is refused, an empty text is not
        return ""
    if len(parts) == 1 and isinstance(parts[0], TextPart):
        return parts[0].text
    return [_user_part(part) for part in parts]


def _user_part(part: UserPart) -> Body:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case ImagePart():
            data = base64.b64encode(part.data).decode("ascii")
            url = part.url or f"data:{part.media_type};base64,{data}"
            return {"type": "image_url", "image_url": {"url": url}}
        case _:
            assert_never(part)


def _assistant_to_wire(message: AssistantMessage) -> Body:
    """`content` may be null only beside tool calls; some servers refuse the other way round."""
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": legal_name(call.name), "arguments": call.arguments},
        }
        for call in message.tool_calls
    ]
    wire: Body = {"role": "assistant", "content": message.text or (None if calls else "")}
    if calls:
        wire["tool_calls"] = calls
    for part in message.parts:
        if isinstance(part, ReasoningPart) and (data := part.provider_data.for_issuer(NAME)):
            _give_reasoning_back(wire, part.text, data)
    return wire


def _give_reasoning_back(wire: Body, text: str, data: Json) -> None:
    """Under the field it came in: DeepSeek and OpenRouter want it in the middle of a tool turn."""
    if "detail" in data:
        wire.setdefault("reasoning_details", []).append(data["detail"])
    elif "field" in data:
        wire[data["field"]] = wire.get(data["field"], "") + text


# ---- back: chunks to deltas ----------------------------------------------------------------

FINISH_REASONS: dict[str, FinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "content_filter": "content_filter",
    "error": "error",
}

REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Not OpenAI's own: DeepSeek and others use the first name, OpenRouter and Groq the second."""


def parse_chunk(chunk: Json) -> Iterator[Delta]:
    """What one chunk says. Raises `ProviderError` for an error inside a 200."""
    raise_for_error(NAME, 200, chunk)
    for choice in as_list(chunk.get("choices")):
        if as_int(as_dict(choice).get("index")) == 0:  # other candidates were not asked for
            yield from _choice(as_dict(choice))
            break
    usage = as_dict(chunk.get("usage")) or as_dict(as_dict(chunk.get("x_groq")).get("usage"))
    if usage:
        yield UsageDelta(_usage(usage))


def _choice(choice: Body) -> Iterator[Delta]:
    whole = isinstance(choice.get("message"), dict)
    said = as_dict(choice.get("message") if whole else choice.get("delta"))
    yield from _reasoning(said)
    yield from _content(said.get("content"))
    if refusal := as_text(said.get("refusal")):
        yield TextDelta(refusal)
    for call in as_list(said.get("tool_calls")):
        yield _call(as_dict(call), whole=whole)
    function = as_dict(said.get("function_call"))  # the form before tools, still answered
    if function.get("name") or function.get("arguments"):  # Snowflake sends an empty one always
        yield _call({"index": 0, "function": function}, whole=whole)
    if raw := as_text(choice.get("finish_reason")):
        yield FinishDelta(FINISH_REASONS.get(raw, "unknown"), raw)


def _content(content: Json) -> Iterator[Delta]:
    """Text, or a list of parts (Mistral's reasoning models)."""
    if isinstance(content, str) and content:
        yield TextDelta(content)
    for part in map(as_dict, as_list(content)):
        if thinking := as_list(part.get("thinking")):
            yield ReasoningDelta("".join(as_text(as_dict(t).get("text")) for t in thinking))
        elif text := as_text(part.get("text")):
            yield TextDelta(text)


def _reasoning(said: Body) -> Iterator[Delta]:
    details = [as_dict(entry) for entry in as_list(said.get("reasoning_details"))]
    for entry in details:
        text = as_text(entry.get("text")) or as_text(entry.get("summary"))
        yield ReasoningDelta(text, ProviderData(NAME, {"detail": entry}))
    if details:  # the plain fields repeat the same words
        return
    for field in REASONING_FIELDS:
        if text := as_text(said.get(field)):
            yield ReasoningDelta(text, ProviderData(NAME, {"field": field}))
            return


def _call(call: Body, *, whole: bool) -> CallDelta:
    function = as_dict(call.get("function"))
    arguments = function.get("arguments")
    if not isinstance(arguments, str):  # GLM sends the object itself
        arguments = "" if arguments is None else encode(arguments).decode()
    index = call.get("index")
    return CallDelta(
        index=index if isinstance(index, int) else None,
        id=as_text(call.get("id")),
        name=as_text(function.get("name")),
        arguments=arguments,
        whole=whole,
    )


def _usage(usage: Body) -> Usage:
    input_tokens = as_int(usage.get("prompt_tokens"))
    output_tokens = as_int(usage.get("completion_tokens"))
    return Usage(
        input_tokens,
        output_tokens,
        as_int(usage.get("total_tokens")) or input_tokens + output_tokens,
        as_int(as_dict(usage.get("completion_tokens_details")).get("reasoning_tokens")),
        as_int(as_dict(usage.get("prompt_tokens_details")).get("cached_tokens")),
    )


ADAPTER = Adapter(NAME, build_request, parse_chunk)
