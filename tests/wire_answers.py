"""Answers in both providers' real formats, whole and streamed, for a model that is a function.

The real client and the real adapters read them; only the other end of the wire is made up.
`Answer` says in neutral words what the model answers; who is asking, and whether for a stream, is
seen from the request, as a real server does.
"""

import inspect
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from freya_teach import Ambient, Kernel, Settings, build_kernel

Call = tuple[str, dict[str, Any] | str]
"""A tool's name and its arguments; as text they go out raw, which only OpenAI's wire can do."""

OPENAI_FINISH = {"error": "error", "unknown": "a_new_reason"}
GEMINI_FINISH = {
    "stop": "STOP",
    "length": "MAX_TOKENS",
    "content_filter": "SAFETY",
    "error": "MALFORMED_FUNCTION_CALL",
    "unknown": "A_NEW_REASON",
}
SIGNATURE = "c2lnbmVkIGJ5IG5vYm9keQ=="


@dataclass(frozen=True)
class Answer:
    """One answer of a model. `finish` is our word for the reason; empty means the normal one."""

    text: str = ""
    calls: Sequence[Call] = ()
    finish: str = ""
    usage: tuple[int, int] = (10, 5)

    def to(self, request: httpx.Request) -> httpx.Response:
        """Render it for whoever sent this request."""
        if "/v1beta/models/" in request.url.path:
            stream = request.url.path.endswith(":streamGenerateContent")
            finish = GEMINI_FINISH[self.finish or "stop"]
            return gemini_answer(self.text, self.calls, finish, self.usage, stream=stream)
        stream = json.loads(request.content).get("stream", False)
        finish = OPENAI_FINISH.get(self.finish, self.finish)
        return openai_answer(self.text, self.calls, finish, self.usage, stream=stream)


def openai_answer(
    text: str = "",
    calls: Sequence[Call] = (),
    finish: str = "",
    usage: tuple[int, int] = (10, 5),
    *,
    stream: bool = False,
) -> httpx.Response:
    """Answer as POST /v1/chat/completions does."""
    finish = finish or ("tool_calls" if calls else "stop")
    counts = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    written = [
        {
            "id": f"call_{name}_{number}",
            "type": "function",
            "function": {"name": name, "arguments": as_text(arguments)},
        }
        for number, (name, arguments) in enumerate(calls)
    ]
    if stream:
        return events([*openai_chunks(text, written, finish, counts), "[DONE]"])
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if written:
        message["tool_calls"] = written
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return httpx.Response(
        200, json={"object": "chat.completion", "choices": [choice], "usage": counts}
    )


def openai_chunks(text: str, calls: Sequence[Any], finish: str, counts: Any) -> list[str]:
    """Cut an answer up: text in two pieces, each call's head before its arguments in two pieces."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in halves(text)]
    for index, call in enumerate(calls):
        head = {**call, "index": index, "function": {**call["function"], "arguments": ""}}
        deltas.append({"tool_calls": [head]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
            for piece in halves(call["function"]["arguments"])
        ]
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": finish})
    chunks = [{"object": "chat.completion.chunk", "choices": [choice]} for choice in choices]
    return [json.dumps(chunk) for chunk in (*chunks, {"choices": [], "usage": counts})]


def gemini_answer(
    text: str = "",
    calls: Sequence[Call] = (),
    finish: str = "STOP",
    usage: tuple[int, int] = (10, 5),
    *,
    stream: bool = False,
) -> httpx.Response:
    """Answer as models/…:generateContent does; the first call carries a signature."""
    parts: list[dict[str, Any]] = []
    for number, (name, arguments) in enumerate(calls):
        assert isinstance(arguments, dict), "Gemini's wire has room for objects only"
        call = {"id": f"g{number}{name}", "name": name, "args": arguments}
        parts.append({"functionCall": call} | ({} if number else {"thoughtSignature": SIGNATURE}))
    counts = {
        "promptTokenCount": usage[0],
        "candidatesTokenCount": usage[1],
        "totalTokenCount": sum(usage),
    }
    if stream:
        pieces = [{"text": piece} for piece in halves(text)] + parts
        chunks = [{"candidates": [candidate([piece])]} for piece in pieces]
        last = {"candidates": [{**candidate([{"text": ""}]), "finishReason": finish}]}
        return events([json.dumps(c) for c in (*chunks, {**last, "usageMetadata": counts})], "\r\n")
    whole = candidate(([{"text": text}] if text else []) + parts)
    body = {"candidates": [{**whole, "finishReason": finish}], "usageMetadata": counts}
    return httpx.Response(200, json=body)


def candidate(parts: Sequence[Any]) -> dict[str, Any]:
    """Wrap parts in what Gemini wraps them in."""
    return {"content": {"role": "model", "parts": list(parts)}, "index": 0}


def events(data: Sequence[str], end: str = "\n") -> httpx.Response:
    """Send an event stream, one piece per event."""

    async def pieces() -> AsyncIterator[bytes]:
        for text in data:
            yield f"data: {text}{end}{end}".encode()

    return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=pieces())


def as_text(arguments: dict[str, Any] | str) -> str:
    """Write arguments down as OpenAI's wire does."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def halves(text: str) -> list[str]:
    """Cut a text in two, without empty pieces."""
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]


class Model:
    """The other end of the wire: gives these answers in order and keeps the requests.

    An answer may be an `Answer`, a ready response, an exception to raise, or a function of the
    request, plain or async, that gives one of them.
    """

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The JSON of every request so far."""
        return [json.loads(request.content) for request in self.requests]

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        assert self.answers, f"nobody expected a request number {len(self.requests)}"
        answer = self.answers.pop(0)
        if isinstance(answer, Callable):
            answer = answer(request)
        if inspect.isawaitable(answer):
            answer = await answer
        if isinstance(answer, Exception):
            raise answer
        return answer.to(request) if isinstance(answer, Answer) else answer

    def kernel(self, ambient: Ambient | None = None, **settings: Any) -> Kernel:
        """Build a kernel that talks to this model, and asks once unless told otherwise."""
        chosen = {"api_key": "no-key-needed", "retry_seconds": 0, **settings}
        http = httpx.AsyncClient(transport=httpx.MockTransport(self))
        return build_kernel(Settings.model_validate(chosen), http, ambient)


EVERY_WIRE: list[dict[str, Any]] = [
    {"provider": "openai", "stream": False},
    {"provider": "openai", "stream": True},
    {"provider": "gemini", "stream": False},
    {"provider": "gemini", "stream": True},
]
"""The four ways of asking, as settings of a kernel."""


def way_of_asking(settings: Any) -> str:
    """Name one of them in a test's id."""
    return f"{settings['provider']}{'-stream' if settings['stream'] else ''}"
