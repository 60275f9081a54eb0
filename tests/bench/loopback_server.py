"""A model server on this machine that follows a script, on both wires, streamed or not.

    python loopback_server.py           prints its address, and serves until its stdin closes
    http://127.0.0.1:PORT/20x3/v1/…     20 answers: 19 ask for 3 tool calls each, the last is text

It keeps no state: how far a conversation has come is the number of tool results in the request,
so any number of them can run side by side. It is no judge of requests: it does not look at what
it does not count.
"""

import asyncio
import json
import re
import sys
from typing import Any, NamedTuple

FINAL_TEXT = "That was all: the script is at its end."


class Call(NamedTuple):
    """One tool call of the script."""

    id: str
    name: str
    arguments: dict[str, str]


def script(turn: int, turns: int, calls: int) -> list[Call]:
    """The calls of this turn, none in the last one; no two calls of a script are the same."""
    numbers = range(turn * calls, (turn + 1) * calls) if turn < turns - 1 else ()
    return [
        Call(f"call_{n}", "get_current_weather", {"city": f"City {n}"})
        if n % 2
        else Call(f"call_{n}", "calculate", {"expression": f"{n} * 8"})
        for n in numbers
    ]


# ---- OpenAI ----------------------------------------------------------------------------------

OPENAI_HEAD = {"id": "chatcmpl-script", "created": 1_764_500_000, "model": "script"}
OPENAI_USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def openai_results(request: dict[str, Any]) -> int:
    """Count the tool results."""
    return sum(message["role"] == "tool" for message in request["messages"])


def openai_call(call: Call, arguments: str) -> dict[str, Any]:
    """A tool call, as a whole answer and the first piece of a streamed one show it."""
    return {"id": call.id, "type": "function"} | openai_function(arguments, name=call.name)


def openai_function(arguments: str, **name: str) -> dict[str, Any]:
    """The part of a tool call that comes in pieces."""
    return {"function": {**name, "arguments": arguments}}


def openai_answer(calls: list[Call]) -> dict[str, Any]:
    """One whole answer: these calls, or the final text."""
    message: dict[str, Any] = {"role": "assistant", "content": None if calls else FINAL_TEXT}
    if calls:
        message["tool_calls"] = [openai_call(call, json.dumps(call.arguments)) for call in calls]
    reason = "tool_calls" if calls else "stop"
    choices = [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}]
    return OPENAI_HEAD | {"object": "chat.completion", "choices": choices, "usage": OPENAI_USAGE}


def openai_chunks(calls: list[Call]) -> list[dict[str, Any]]:
    """The same answer in pieces: a call's arguments come in two, a text word by word."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None if calls else ""}]
    for index, call in enumerate(calls):
        arguments = json.dumps(call.arguments)
        middle = len(arguments) // 2
        pieces = (
            openai_call(call, ""),
            openai_function(arguments[:middle]),
            openai_function(arguments[middle:]),
        )
        deltas += [{"tool_calls": [{"index": index} | piece]} for piece in pieces]
    if not calls:
        deltas += [{"content": word} for word in re.findall(r"\S+\s*", FINAL_TEXT)]
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"})
    head = OPENAI_HEAD | {"object": "chat.completion.chunk"}
    chunks = [head | {"choices": [choice]} for choice in choices]
    return [*chunks, head | {"choices": [], "usage": OPENAI_USAGE}]


# ---- Gemini ----------------------------------------------------------------------------------


def gemini_results(request: dict[str, Any]) -> int:
    """Count the tool results."""
    return sum("functionResponse" in part for c in request["contents"] for part in c["parts"])


def gemini_parts(calls: list[Call]) -> list[dict[str, Any]]:
    """These calls, the first one signed, or the final text."""
    parts: list[dict[str, Any]] = [
        {"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}}
        for call in calls
    ]
    if not parts:
        return [{"text": FINAL_TEXT}]
    parts[0]["thoughtSignature"] = "c2lnbmVkIGJ5IGEgc2NyaXB0" * 8
    return parts


def gemini_answer(parts: list[dict[str, Any]], reason: str = "STOP") -> dict[str, Any]:
    """One whole answer, or one chunk of it when `reason` is empty."""
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if reason:
        candidate["finishReason"] = reason
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "script"}


def gemini_chunks(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same answer in pieces: a call comes whole, and an empty text at the end."""
    return [*(gemini_answer([part], "") for part in parts), gemini_answer([{"text": ""}])]


# ---- HTTP ------------------------------------------------------------------------------------

PATH = re.compile(
    r"/(?P<turns>\d+)x(?P<calls>\d+)"
    r"(?P<wire>/v1/chat/completions|/v1beta/models/[^:]+:(generate|streamGenerate)Content)"
)


def answer(path: str, request: dict[str, Any]) -> bytes:
    """The HTTP response to one request."""
    found = PATH.match(path)
    if found is None:
        return response({"error": {"message": "no such path"}}, status="404 Not Found")
    turns, calls = int(found["turns"]), int(found["calls"])
    is_openai = found["wire"].endswith("completions")
    results = openai_results(request) if is_openai else gemini_results(request)
    turn, left_over = divmod(results, calls)
    if left_over:
        return response({"error": {"message": "a result is missing"}}, status="400 Bad Request")
    wanted = script(turn, turns, calls)
    if is_openai and request.get("stream"):
        return streamed(openai_chunks(wanted), end=b"data: [DONE]\n\n")
    if is_openai:
        return response(openai_answer(wanted))
    if found["wire"].endswith("streamGenerateContent"):
        return streamed(gemini_chunks(gemini_parts(wanted)))
    return response(gemini_answer(gemini_parts(wanted)))


def response(value: dict[str, Any], *, status: str = "200 OK") -> bytes:
    """JSON, in one piece."""
    body = json.dumps(value).encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    return f"{head}\r\n\r\n".encode() + body


def streamed(chunks: list[dict[str, Any]], end: bytes = b"") -> bytes:
    """Server-sent events, each of them one piece of a chunked body."""
    events = [b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks]
    pieces = [*events, end] if end else events
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n"
    body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return head + b"\r\n" + body + b"0\r\n\r\n"


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection, one after the other."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            length = re.search(r"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
            body = await reader.readexactly(int(length[1]) if length else 0)
            path = head.split(" ", 2)[1]
            writer.write(answer(path, json.loads(body or b"{}")))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):  # the client has gone
        writer.close()


async def main() -> None:
    """Serve until stdin closes: the server cannot outlive whoever started it."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    print(f"http://{host}:{port}", flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
