"""What goes wrong in an answer and on its way: the network, the stream, the model. (chapter 5.3)

Each function returns a `Trouble`; the provider's own refusals are in `refusing.py`. Sizes are in
bytes of the body as it is sent, times in seconds.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx

from freya_teach.lab.gateway import gemini_wire, openai_wire
from freya_teach.lab.gateway.question import Call, Move
from freya_teach.lab.gateway.refusing import SERVER_ERROR
from freya_teach.lab.gateway.trouble import Answer, Trouble, arrival
from freya_teach.lab.gateway.wire import CREATED, Sent
from freya_teach.llm.messages import Json

Pieces = AsyncIterator[bytes]
Sleep = Callable[[float], Awaitable[None]]
ASK_A_MODEL = ("/chat/completions", ":generateContent", ":streamGenerateContent")
DROPPED = "peer closed connection without sending complete message body"
HTML = """<html>
<head><title>{status} {words}</title></head>
<body><center><h1>{status} {words}</h1></center><hr><center>nginx</center></body>
</html>
"""


# ---- the network ---------------------------------------------------------------------------


def connection_refused() -> Trouble:
    """Nobody listens. (The gateway as a server does listen: it hangs up without a word.)"""

    async def spoil(request: httpx.Request, _: Answer) -> httpx.Response:
        raise httpx.ConnectError("All connection attempts failed", request=request)

    return Trouble("connection_refused", spoil)


def read_timeout() -> Trouble:
    """No answer in the time that the client gives. (The server waits until the client leaves.)"""

    async def spoil(request: httpx.Request, _: Answer) -> httpx.Response:
        raise httpx.ReadTimeout("The read operation timed out", request=request)

    return Trouble("read_timeout", spoil)


def delayed(seconds: float, sleep: Sleep = asyncio.sleep) -> Trouble:
    """The answer is whole, and comes late."""

    async def spoil(request: httpx.Request, answer: Answer) -> httpx.Response:
        await sleep(seconds)
        return await answer(request)

    return Trouble("delayed", spoil)


def chunked(size: int) -> Trouble:
    """The body arrives in pieces of this many bytes, cut wherever that falls."""

    async def cut(whole: Pieces) -> Pieces:
        async for piece in whole:
            for start in range(0, len(piece), size):
                yield piece[start : start + size]

    return _body("chunked", cut)


def stall(after_bytes: int, seconds: float, sleep: Sleep = asyncio.sleep) -> Trouble:
    """After so many bytes nothing comes for so long; then the rest does."""

    async def halt(whole: Pieces) -> Pieces:
        async for piece in _marked(whole, after_bytes):
            if piece is None:
                await sleep(seconds)
            else:
                yield piece

    return _body("stall", halt)


def drop_after(size: int) -> Trouble:
    """The connection breaks after so many bytes of the body; 0 leaves the status and headers."""

    async def drop(whole: Pieces) -> Pieces:
        async for piece in _marked(whole, size):
            if piece is None:
                raise httpx.RemoteProtocolError(DROPPED)
            yield piece

    return _body("drop_after", drop)


def html_page(status: int = 502) -> Trouble:
    """A page for people, from a proxy on the way; 200 is what a login page of a hotel sends."""
    page = HTML.format(status=status, words=httpx.codes.get_reason_phrase(status))
    headers = {"content-type": "text/html"}

    async def spoil(_: httpx.Request, __: Answer) -> httpx.Response:
        return httpx.Response(status, headers=headers, content=page.encode())

    return Trouble("html_page", spoil)


# ---- the stream ----------------------------------------------------------------------------


def cut_stream(after_events: int | None = None) -> Trouble:
    """The answer ends in good order before it is finished: no finish reason, no last word.

    A stream keeps `after_events` events, or all before the finish; a body in one piece keeps
    its first half.
    """

    async def cut(_: httpx.Request, response: httpx.Response) -> httpx.Response:
        body = await response.aread()
        if not _is_stream(response):
            return _again(response, [body[: len(body) // 2]])
        events = _events(body)
        last = next((i for i, event in enumerate(events) if _finishes(event)), len(events))
        return _again(response, events[: last if after_events is None else min(after_events, last)])

    return _answered("cut_stream", cut)


def error_in_stream(after_events: int = 1) -> Trouble:
    """After the 200 and so many events an error comes in the place of the rest.

    A body in one piece is the error itself, with the status 200.
    """

    async def fail(request: httpx.Request, response: httpx.Response) -> httpx.Response:
        error = json.dumps(SERVER_ERROR[(await arrival(request)).wire].body).encode()
        if not _is_stream(response):
            return _again(response, [error])
        events = _events(await response.aread())[:after_events]
        return _again(response, [*events, b"data: " + error + b"\n\n"])

    return _answered("error_in_stream", fail)


# ---- the model -----------------------------------------------------------------------------


def malformed_call() -> Trouble:
    """A turn with tool calls comes with one whose arguments are no JSON.

    On OpenAI's wire they are a text that breaks off; on Gemini's the provider reports it, as
    `MALFORMED_FUNCTION_CALL`. A turn without calls stays as it is.
    """

    async def break_off(request: httpx.Request, response: httpx.Response) -> httpx.Response:
        sent = await response.aread()
        if not re.search(rb'"(tool_calls|functionCall)":', sent):
            return _again(response, _events(sent) if _is_stream(response) else [sent])
        body, path = json.loads(await request.aread()), request.url.path
        wire = gemini_wire if (await arrival(request)).wire == "gemini" else openai_wire
        question = wire.understand(body, path)
        name = question.tools[0].name if question.tools else "calculate"
        move = Move(calls=(Call(name, '{"expression": "15 *'),))
        broken: Sent = wire.encode(move, question, body)
        return broken.response()

    return _answered("malformed_call", break_off)


def content_filter() -> Trouble:
    """The provider's filter stops the answer before its first word."""

    async def stop(request: httpx.Request, response: httpx.Response) -> httpx.Response:
        arrived, stream = await arrival(request), _is_stream(response)
        if arrived.wire == "gemini":
            candidate: Json = {"content": {}, "finishReason": "SAFETY", "index": 0}
            body: Json = {"candidates": [candidate], "modelVersion": arrived.model}
            return (Sent(chunks=(body,)) if stream else Sent(body)).response()
        message: Json = {"role": "assistant", "content": "" if stream else None, "refusal": None}
        key, kind = ("delta", "chat.completion.chunk") if stream else ("message", "chat.completion")
        choice: Json = {"index": 0, key: message, "finish_reason": "content_filter"}
        head = {"id": "chatcmpl-gateway", "object": kind, "created": CREATED}
        body = {**head, "model": arrived.model, "choices": [choice]}
        return (Sent(chunks=(body,), last_word="[DONE]") if stream else Sent(body)).response()

    return _answered("content_filter", stop)


# ---- bytes and events ----------------------------------------------------------------------


class _Body(httpx.AsyncByteStream):
    """A body that is made while it is read."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces

    def __aiter__(self) -> Pieces:
        return self._pieces


def _body(name: str, change: Callable[[Pieces], Pieces]) -> Trouble:
    """A trouble that changes how the bytes of a body arrive, and leaves status and headers."""

    async def spoil(request: httpx.Request, answer: Answer) -> httpx.Response:
        response = await answer(request)
        assert isinstance(response.stream, httpx.AsyncByteStream)
        changed = _Body(change(aiter(response.stream)))
        return httpx.Response(response.status_code, headers=response.headers, stream=changed)

    return Trouble(name, spoil)


def _answered(
    name: str, change: Callable[[httpx.Request, httpx.Response], Awaitable[httpx.Response]]
) -> Trouble:
    """A trouble that changes a model's answer; a refusal or a list of models passes as it is."""

    async def spoil(request: httpx.Request, answer: Answer) -> httpx.Response:
        response = await answer(request)
        asks_a_model = request.url.path.endswith(ASK_A_MODEL)
        return await change(request, response) if asks_a_model and response.is_success else response

    return Trouble(name, spoil)


async def _marked(whole: Pieces, size: int) -> AsyncIterator[bytes | None]:
    """The pieces, with None at the place where byte number `size` would come."""
    left = size
    async for piece in whole:
        if 0 <= left < len(piece):
            if left:
                yield piece[:left]
            yield None
            yield piece[left:]
        else:
            yield piece
        left -= len(piece)


def _again(response: httpx.Response, pieces: list[bytes]) -> httpx.Response:
    """The response with this body; it ends where it ends, so that no length is promised."""

    async def sent() -> Pieces:
        for piece in pieces:
            yield piece

    headers = {
        name: response.headers[name] for name in response.headers if name != "content-length"
    }
    return httpx.Response(response.status_code, headers=headers, stream=_Body(sent()))


def _is_stream(response: httpx.Response) -> bool:
    return bool(response.headers.get("content-type", "").startswith("text/event-stream"))


def _events(body: bytes) -> list[bytes]:
    return [event + b"\n\n" for event in body.split(b"\n\n") if event]


def _finishes(event: bytes) -> bool:
    return bool(re.search(rb'"finish(_r|R)eason":\s*"|^data: \[DONE\]', event))
