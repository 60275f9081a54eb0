"""One recorded HTTP exchange, as it lies in its file. (start)

`{id, provider, model, request: {method, url, headers, body}, response: {status, headers, body},
provenance: {kind: "recorded" | "authored", ...}}`; a body is parsed JSON, or the text of an event
stream. `recorded` says which server answered, when, and by which command; `authored` says by
which documents it was written, and is never called recorded.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from freya_teach.errors import ConfigError
from freya_teach.llm.messages import Json
from freya_teach.llm.wirejson import as_dict

PARTS = {
    "request": ("method", "url", "headers", "body"),
    "response": ("status", "headers", "body"),
    "provenance": ("kind",),
}
"""What every file must hold, besides provider and model."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One exchange as it lies in its file."""

    path: Path
    request: dict[str, Json]
    response: dict[str, Json]
    provenance: dict[str, Json]
    provider: str
    model: str

    @property
    def key(self) -> str:
        """What a request has to equal: method, address and JSON body, in one canonical text."""
        return canonical(self.request["method"], self.request["url"], self.request["body"])

    def answer(self) -> httpx.Response:
        """A fresh response, its event stream in one piece per event."""
        body = self.response["body"]
        streamed = isinstance(body, str)
        text = body if streamed else json.dumps(body, ensure_ascii=False)
        return httpx.Response(
            self.response["status"],
            headers=self.response["headers"],
            stream=_Pieces(_events(text) if streamed else [text.encode()]),
        )


class _Pieces(httpx.AsyncByteStream):
    """A body that arrives in these pieces, each time it is read."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece


def _events(text: str) -> list[bytes]:
    """Cut behind each blank line, and change nothing: a stream that broke off does so again."""
    return [event.encode() for event in re.split(r"(?<=\n\n)|(?<=\r\n\r\n)", text) if event]


def load_recording(path: Path) -> Recording:
    """Read one file. Raises `ConfigError` that says what is wrong with it."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as problem:
        raise ConfigError(f"the recording {path.name} cannot be read: {problem}") from None
    if missing := _missing(as_dict(data)):
        raise ConfigError(f"the recording {path.name} has no {missing!r}")
    return Recording(
        path,
        data["request"],
        data["response"],
        data["provenance"],
        data["provider"],
        data["model"],
    )


def _missing(data: dict[str, Json]) -> str:
    """The first thing that a recording needs and that is not there."""
    for part, fields in PARTS.items():
        for field in fields:
            if field not in as_dict(data.get(part)):
                return f"{part}.{field}"
    return next((name for name in ("provider", "model") if name not in data), "")


def canonical(method: str, url: str, body: Json) -> str:
    """What two equal requests have in common, whatever the order of their keys."""
    return json.dumps([method, url, body], sort_keys=True)


def body_of(content: bytes) -> Json:
    """A request's body: parsed JSON, the text of anything else, None when there is none."""
    try:
        return json.loads(content) if content else None
    except ValueError:
        return content.decode("utf-8", "replace")


def dump(value: Any) -> str:
    """JSON as a person would want to read it."""
    return json.dumps(value, indent=2, ensure_ascii=False)
