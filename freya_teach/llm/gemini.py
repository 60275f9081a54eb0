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
from dataclasses import dataclass, replace
from itertools import pairwise

from freya_teach.llm import transcript
from freya_teach.llm.encoded import Writer
from freya_teach.llm.gemini_messages import NAME, message_to_wire, native_ids_of
from freya_teach.llm.gemini_reply import parse_chunk
from freya_teach.llm.gemini_schema import to_gemini
from freya_teach.llm.messages import Json, Message
from freya_teach.llm.protocol import Adapter, ModelRequest, Route, ToolSpec, WireRequest

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
    transcript.check(request.messages, request.writer.checked)


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
    contents = request.writer.each(
        "content",
        tuple(native_ids.items()),
        spoken,
        lambda message: message_to_wire(message, names, native_ids),
    )
    body["contents"] = [content for content in contents if content["parts"]]


def group_tool_results(body: Body, request: ModelRequest, route: Route) -> None:
    """The results of one turn share one content, in the order of the calls."""
    contents = body["contents"]
    runs = _runs(contents, of_results=True)
    turns = [(contents[run.start - 1], *contents[run]) for run in runs]  # first what asked
    grouped = request.writer.each("results", None, turns, _in_call_order)
    body["contents"] = _with_one_each(contents, runs, grouped)


def merge_consecutive(body: Body, request: ModelRequest, route: Route) -> None:
    """Neighbours of one role become one content; results stay apart from words."""
    contents = body["contents"]
    runs = _runs(contents, of_results=False)
    merged = [_merged(contents[run]) for run in runs]
    body["contents"] = _with_one_each(contents, runs, merged)


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
    body["contents"] = request.writer.each("signed", None, body["contents"], _signed)


def declare_tools(body: Body, request: ModelRequest, route: Route) -> None:
    """All tools in one declaration list, their schemas as JSON Schema."""
    if request.tools:
        declarations = request.writer.tools.each("declaration", None, request.tools, _declaration)
        body["tools"] = [{"functionDeclarations": declarations}]


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
    if steps is not STEPS:  # they may change what they get, so none of it may be shared
        request = replace(request, writer=Writer())
    body: Body = {"contents": []}
    for step in steps:
        step.apply(body, request, route)
    method = "streamGenerateContent?alt=sse" if request.stream else "generateContent"
    url = f"{route.endpoint}/v1beta/models/{route.model.removeprefix('models/')}:{method}"
    headers = {"content-type": "application/json"}
    if route.api_key:  # never in the URL: URLs stand in the logs of every proxy on the way
        headers["x-goog-api-key"] = route.api_key
    return WireRequest(url, headers, request.writer.encode(body))


def _leading_system(messages: Sequence[Message]) -> int:
    return next((i for i, m in enumerate(messages) if m.role != "system"), len(messages))


def _is_results(content: Body) -> bool:
    return "functionResponse" in content["parts"][0]


def _runs(contents: Sequence[Body], *, of_results: bool) -> list[slice]:
    """Where two or more neighbours are of one role, and all of them results, or none."""
    runs: list[slice] = []
    start = None
    for at, (first, second) in enumerate(pairwise(contents)):
        if first["role"] == second["role"] and _is_results(second) is of_results:
            if start is None and _is_results(first) is of_results:
                start = at
        elif start is not None:
            runs.append(slice(start, at + 1))
            start = None
    return runs if start is None else [*runs, slice(start, len(contents))]


def _with_one_each(contents: list[Body], runs: Sequence[slice], ones: Sequence[Body]) -> list[Body]:
    """The contents, with one in the place of each run."""
    if not runs:
        return contents
    done: list[Body] = []
    rest = 0
    for run, one in zip(runs, ones, strict=True):
        done += contents[rest : run.start]
        done.append(one)
        rest = run.stop
    return done + contents[rest:]


def _in_call_order(turn: tuple[Body, ...]) -> Body:
    """The results of a turn as one content; the first content of the turn is what asked."""
    asked, *results = turn
    calls = [part["functionCall"] for part in asked["parts"] if "functionCall" in part]
    place = {call["id"]: number for number, call in enumerate(calls)}
    merged = _merged(results)
    merged["parts"].sort(key=lambda part: place.get(part["functionResponse"]["id"], 0))
    return merged


def _merged(contents: Sequence[Body]) -> Body:
    """One content with the parts of all these, which are of one role."""
    parts = [part for content in contents for part in content["parts"]]
    return {"role": contents[0]["role"], "parts": parts}


def _signed(content: Body) -> Body:
    """The content with a signature on its first call; itself where there is nothing to sign."""
    parts = content["parts"]
    for at, part in enumerate(parts):
        if "functionCall" in part:
            if "thoughtSignature" in part:
                return content
            parts = parts.copy()
            parts[at] = {**part, "thoughtSignature": UNSIGNED}
            return {"role": "model", "parts": parts}
    return content


def _note(text: str) -> Body:
    return {"role": "user", "parts": [{"text": text}]}


def _declaration(tool: ToolSpec) -> Body:
    declaration: Body = {"name": tool.name, "description": tool.description or tool.name}
    schema = to_gemini(tool.parameters)
    if schema.get("properties") or "$ref" in schema:
        declaration["parametersJsonSchema"] = schema
    return declaration


ADAPTER = Adapter(NAME, build_request, parse_chunk)
