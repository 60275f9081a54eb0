"""The Gemini adapter: generateContent over REST. (chapter 5.2)

What differs from OpenAI's wire, in the order in which it hurts: results of one turn go together
in one `user` content; a result is matched by name as well as by id; the system prompt stands
outside; arguments are an object, not a string; a thought signature belongs to the part it came
on and must go back on exactly that part.

How a single message looks stands in `gemini_messages.py`, how an answer is read in
`gemini_reply.py`. Source: googleapis `google/ai/generativelanguage/v1beta/content.proto`, and the
refusals named beside each step.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from freya_teach.llm import transcript
from freya_teach.llm.gemini_messages import NAME, message_to_wire, native_ids_of
from freya_teach.llm.gemini_reply import parse_chunk
from freya_teach.llm.gemini_schema import to_gemini
from freya_teach.llm.messages import Json, Message
from freya_teach.llm.protocol import Adapter, ModelRequest, Route, ToolSpec, WireRequest
from freya_teach.llm.wirejson import encode

Body = dict[str, Json]

UNSIGNED = base64.b64encode(b"skip_thought_signature_validator").decode("ascii")
"""Google's documented placeholder for a call that Gemini did not make; costs quality, not a 400."""

CONTINUED = "(continued)"
"""The text of a user turn that is there only because the protocol wants one."""


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
    calls = transcript.calls_in(request.messages)
    names = {call.id: call.name for call in calls}
    native_ids = native_ids_of(calls)
    spoken = request.messages[_leading_system(request.messages) :]
    contents = [message_to_wire(message, names, native_ids) for message in spoken]
    body["contents"] = [content for content in contents if content["parts"]]


def group_tool_results(body: Body, request: ModelRequest, route: Route) -> None:
    """The results of one turn share one content, in the order of the calls."""
    grouped: list[Body] = []
    after_results = False
    for content in body["contents"]:
        is_results = _is_results(content)
        if is_results and after_results:
            grouped[-1]["parts"].extend(content["parts"])
        else:
            grouped.append(content)
        after_results = is_results
    for calls, results in pairwise(grouped):
        if len(results["parts"]) > 1 and _is_results(results):
            asked = [
                part["functionCall"]["id"] for part in calls["parts"] if "functionCall" in part
            ]
            answered = [part["functionResponse"]["id"] for part in results["parts"]]
            if answered != asked:
                place = {id_: number for number, id_ in enumerate(asked)}
                results["parts"].sort(key=lambda part: place.get(part["functionResponse"]["id"], 0))
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
    if not route.facts.needs_signature:
        return
    for content in body["contents"]:
        for part in content["parts"]:
            if "functionCall" in part:
                part.setdefault("thoughtSignature", UNSIGNED)
                break


def declare_tools(body: Body, request: ModelRequest, route: Route) -> None:
    """All tools in one declaration list, their schemas as JSON Schema."""
    if request.tools:
        body["tools"] = [{"functionDeclarations": [_declaration(tool) for tool in request.tools]}]


def limit_output(body: Body, request: ModelRequest, route: Route) -> None:
    """The bound on the answer. The model's thinking counts inside it."""
    if request.max_output_tokens is not None:
        limit = request.max_output_tokens + route.facts.reasoning_room
        body["generationConfig"] = {"maxOutputTokens": limit}


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


def _leading_system(messages: Sequence[Message]) -> int:
    return next((i for i, m in enumerate(messages) if m.role != "system"), len(messages))


def _is_results(content: Body) -> bool:
    return "functionResponse" in content["parts"][0]


def _note(text: str) -> Body:
    return {"role": "user", "parts": [{"text": text}]}


def _declaration(tool: ToolSpec) -> Body:
    declaration: Body = {"name": tool.name, "description": tool.description or tool.name}
    schema = to_gemini(tool.parameters)
    if schema.get("properties") or "$ref" in schema:
        declaration["parametersJsonSchema"] = schema
    return declaration


ADAPTER = Adapter(NAME, build_request, parse_chunk)
