"""For authors: keep authored exchanges in step with what the kernel sends. (start)

An authored answer is written by hand; the request beside it must be what is really sent, and
changes whenever a prompt or an adapter does. With FREYA_UPDATE_AUTHORED=1 a request that fits no
exchange is answered by the next unused one, and written into it on disk. A recorded one is never
touched: what a real server was asked stays as it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx

from freya_teach.errors import ConfigError
from freya_teach.lab.recording import Recording, body_of, canonical, dump

Handler = Callable[[httpx.Request], Coroutine[Any, Any, httpx.Response]]
"""What `httpx.MockTransport` calls for each request."""


def rewriting(recordings: list[Recording], used: set[Path]) -> Handler:
    """A transport's handler that makes authored exchanges fit what is asked.

    A request that an exchange fits already is answered by it; any other takes the first exchange
    that nothing has asked for yet, and is written into it.
    """

    async def answer(request: httpx.Request) -> httpx.Response:
        await request.aread()
        key = canonical(request.method, str(request.url), body_of(request.content))
        unused = [recording for recording in recordings if recording.path not in used]
        fitting = [recording for recording in recordings if recording.key == key]
        chosen = next(iter([r for r in fitting if r in unused] + fitting + unused), None)
        if chosen is None:
            raise ConfigError(f"no exchange is left for {request.method} {request.url}: write one")
        used.add(chosen.path)
        if chosen not in fitting and chosen.provenance["kind"] == "authored":
            rewrite_request(chosen.path, request)
        return chosen.answer()

    return answer


def rewrite_request(path: Path, request: httpx.Request) -> None:
    """Put the request that was sent into the file, without headers that hold a key."""
    data = json.loads(path.read_text(encoding="utf-8"))
    data["request"] = {
        "method": request.method,
        "url": str(request.url),
        "headers": {"content-type": request.headers.get("content-type", "")},
        "body": body_of(request.content),
    }
    path.write_text(dump(data) + "\n", encoding="utf-8", newline="\n")
