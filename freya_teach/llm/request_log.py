"""What was sent and what came back, whole, with the keys taken out. (chapter 3.4)

One JSON object per line: time, request (method, URL, headers, body), status, response text,
seconds, error. Full content by default: what a shorter log cuts off is what one needs when a
prompt was composed wrongly. A key in a header, in a URL or quoted back in an answer is replaced.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from freya_teach.ambient import Ambient
from freya_teach.llm.messages import Json
from freya_teach.llm.protocol import WireRequest
from freya_teach.llm.wirejson import encode

SECRET_HEADERS = {
    "authorization",
    "proxy-authorization",
    "api-key",
    "x-api-key",
    "x-goog-api-key",
    "cookie",
}
SECRET_IN_URL = re.compile(
    r"([?&](?:key|api_key|access_token)=)[^&#]*|(?<=://)[^/@]+(?=@)", re.IGNORECASE
)
"""A key as a query parameter, or a name and password before the host."""
REDACTED = "[redacted]"


def redacted_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers, with the value of every secret one replaced.

    >>> redacted_headers({"x-goog-api-key": "AQ.secret", "accept": "*/*"})
    {'x-goog-api-key': '[redacted]', 'accept': '*/*'}
    """
    return {
        name: REDACTED if name.lower() in SECRET_HEADERS else value
        for name, value in headers.items()
    }


def secrets_of(request: WireRequest) -> tuple[str, ...]:
    """The secret values in a request's headers, without `Bearer `."""
    values = (v for name, v in request.headers.items() if name.lower() in SECRET_HEADERS)
    return tuple(value.removeprefix("Bearer ") for value in values if value)


def redact(text: str, secrets: tuple[str, ...]) -> str:
    """The text without these secrets, which a server may have quoted back."""
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    return text


@dataclass(frozen=True, slots=True)
class RequestLog:
    """A JSON Lines file, private to the user, opened for each line and flushed."""

    path: Path
    ambient: Ambient

    def write(
        self, request: WireRequest, status: int | None, body: bytes, seconds: float, error: str = ""
    ) -> None:
        """Append one exchange. Raises `OSError` when the file cannot be written."""
        secrets = secrets_of(request)
        line: dict[str, Json] = {
            "time": self.ambient.now(self.ambient.zone).isoformat(),
            "request": {
                "method": request.method,
                "url": SECRET_IN_URL.sub(rf"\1{REDACTED}", request.url),
                "headers": redacted_headers(request.headers),
                "body": redact_all(json.loads(request.body), secrets),
            },
            "status": status,
            "response": redact(body.decode("utf-8", "replace"), secrets),
            "seconds": round(seconds, 6),
            "error": redact(error, secrets),
        }
        with open(self.path, "a", encoding="utf-8", opener=_private) as file:
            file.write(encode(line).decode() + "\n")


def redact_all(value: Json, secrets: tuple[str, ...]) -> Json:
    """The value without these secrets in its strings: a key `1` also stands where no text is."""
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, list):
        return [redact_all(item, secrets) for item in value]
    if isinstance(value, dict):
        return {name: redact_all(item, secrets) for name, item in value.items()}
    return value


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
