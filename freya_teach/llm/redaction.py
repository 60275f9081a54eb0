"""Keys, and how they are kept out of whatever is logged or told. (chapter 3.4)"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from urllib.parse import quote, unquote

from freya_teach.llm.messages import Json
from freya_teach.llm.protocol import WireRequest

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
SHORTEST = 8
"""A shorter word is hardly a key, and is part of many others: `me` stands in `messages`."""


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


def secret_forms(request: WireRequest) -> tuple[str, ...]:
    r"""All secrets of a request, in each form in which text may hold them, the longest first.

    JSON inside JSON has a quote escaped, some servers write `\/`, and a URL has percent signs.
    """
    found: set[str] = set()
    for secret in (*secrets_of(request), *_secrets_in_url(request.url)):
        escaped = json.dumps(secret)[1:-1]
        found |= {secret, unquote(secret), quote(secret, safe=""), escaped}
        found.add(escaped.replace("/", "\\/"))
    return tuple(sorted(found - {""}, key=len, reverse=True))


def _secrets_in_url(url: str) -> list[str]:
    """The values of key parameters, and a password with and without its user name."""
    found = [match[0].rpartition("=")[2] for match in SECRET_IN_URL.finditer(url)]
    parts = [part for value in found for part in (value, value.partition(":")[2])]
    return [part for part in parts if len(part) >= SHORTEST]


def redact_all(value: Json, secrets: tuple[str, ...]) -> Json:
    """The value without these secrets in its strings: a key `1` also stands where no text is."""
    long = tuple(secret for secret in secrets if len(secret) >= SHORTEST)
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, list):
        return [redact_all(item, secrets) for item in value]
    if isinstance(value, dict):
        return {redact(name, long): redact_all(item, secrets) for name, item in value.items()}
    return value
