"""The OpenAI adapter: Chat Completions, as many servers speak it. (chapter 5.2)

`build_request` is a list of named steps, each with the rule it serves. Take one out and send
the result to see what the rule is for. How a single message looks stands in
`openai_messages.py`, how an answer is read in `openai_reply.py`.

Source: OpenAI API reference, POST /v1/chat/completions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from freya_teach.llm import transcript
from freya_teach.llm.encoded import Writer
from freya_teach.llm.messages import Json
from freya_teach.llm.openai_messages import NAME, message_to_wire
from freya_teach.llm.openai_reply import parse_chunk
from freya_teach.llm.protocol import Adapter, ModelRequest, Route, ToolSpec, WireRequest

Body = dict[str, Json]


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
    transcript.check(request.messages, request.writer.checked)


def to_messages(body: Body, request: ModelRequest, route: Route) -> None:
    """Each neutral message becomes one of OpenAI's, in the same order."""
    body["messages"] = request.writer.each(
        "message", route, request.messages, lambda message: message_to_wire(message, route)
    )


def join_leading_system(body: Body, request: ModelRequest, route: Route) -> None:
    """Several system messages at the start become one."""
    messages, role = body["messages"], route.facts.system_role
    count = next((i for i, m in enumerate(messages) if m["role"] != role), len(messages))
    if count > 1:
        text = "\n\n".join(m["content"] for m in messages[:count])
        body["messages"] = [{"role": role, "content": text}, *messages[count:]]


def declare_tools(body: Body, request: ModelRequest, route: Route) -> None:
    """Tools, and the one setting that newer models insist on beside them."""
    if not request.tools:
        return
    body["tools"] = request.writer.tools.each(
        "tool", route, request.tools, lambda tool: _declaration(tool, route)
    )
    if route.facts.effort_with_tools:
        body["reasoning_effort"] = route.facts.effort_with_tools


def limit_output(body: Body, request: ModelRequest, route: Route) -> None:
    """The bound on the answer, under the name that this model's server knows."""
    if request.max_output_tokens is not None:
        facts = route.facts
        body[facts.output_limit_field] = request.max_output_tokens + facts.reasoning_room


def ask_for_stream(body: Body, request: ModelRequest, route: Route) -> None:
    """A stream does not tell its token count unless it is asked to."""
    if request.stream:
        body["stream"] = True
        body["stream_options"] = {"include_usage": True}


STEPS: tuple[Step, ...] = (
    Step(
        check_transcript,
        "each tool call is answered once, before anything else is said; else 400",
        "all",
        "morphic#136, CLIProxyAPI#2798",
    ),
    Step(to_messages, "one message per message", "all", "API reference, messages"),
    Step(
        join_leading_system,
        "chat templates of many compatible servers take one system message only",
        "open models; OpenAI's own take several",
        "chat templates of Qwen and Mistral",
    ),
    Step(
        declare_tools,
        "no tools: leave the field out; with tools: reasoning_effort must be none",
        "all; reasoning_effort: gpt-5.4 and later",
        "camel#3706, openai-openapi#541",
    ),
    Step(
        limit_output,
        "max_completion_tokens replaced max_tokens",
        "o-series, gpt-5 and later: 400 for the old name; others know it only",
        "ComfyUI-Griptape#312",
    ),
    Step(
        ask_for_stream,
        "include_usage adds one last chunk with the count",
        "all",
        "API reference, stream_options",
    ),
)


def build_request(
    request: ModelRequest, route: Route, steps: Sequence[Step] = STEPS
) -> WireRequest:
    """The request for this model. Raises `TranscriptError` or `UnsupportedContent`."""
    if steps is not STEPS:  # they may change what they get, so none of it may be shared
        request = replace(request, writer=Writer())
    body: Body = {"model": route.model, "messages": []}
    for step in steps:
        step.apply(body, request, route)
    headers = {"content-type": "application/json"}
    if route.api_key:  # a local server needs none, and "Bearer " alone is no legal header
        headers["authorization"] = f"Bearer {route.api_key}"
    return WireRequest(
        f"{route.endpoint}/v1/chat/completions", headers, request.writer.encode(body)
    )


def _declaration(tool: ToolSpec, route: Route) -> Body:
    function: Body = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    if tool.strict and route.facts.strict:
        function["strict"] = True
    return {"type": "function", "function": function}


ADAPTER = Adapter(NAME, build_request, parse_chunk)
