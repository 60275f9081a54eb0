"""What a recording must never hold: keys, however they are written down. (chapter 3.4)

A recording is read by everybody. So each text in it is searched for the key that was in use,
also URL-encoded, JSON-escaped or in Base64, and for whatever is shaped like a key, a login or a
cookie. A finding says where it stands and what it looks like, and never quotes it.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

from freya_teach.lab.understand import SHORTEST_SECRET
from freya_teach.llm.messages import Json

SHAPES = {
    "an OpenAI-style key": r"\b[srp]k[-_][A-Za-z0-9_-]{16,}",
    "a Google key": r"\bAIza[\w-]{30,}|\bAQ\.[\w-]{20,}|\bya29\.[\w-]{20,}",
    "a GitHub token": r"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{20,}",
    "a provider's key": r"\b(?:hf|gsk|r8|pplx|xai|glpat|nvapi|xox[a-z])[-_][A-Za-z0-9_-]{20,}",
    "an AWS key": r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    "a signed token (JWT)": r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*",
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    "a login header": r"(?i)\b(?:bearer|basic)\s+(?=\S*\d)[\w.~+/=-]{12,}",
    "a cookie": r"(?i)\b(?:set-)?cookie\W{1,4}[\w.-]+=[^\s;\"']{4,}",
    "a login in an address": r"://[^/\s@\"']+:[^/\s@\"']+@",
    "a key in an address": r"(?i)[?&](?:api_?key|key|access_token|token)=[^&#\s\"']{8,}",
}
"""What it is → how it looks."""

SECRET_FIELD = re.compile(
    r"(?i)(?:proxy-)?authorization|(?:set-)?cookie|(?:x-)?(?:goog-)?api[-_]?key|access_token|"
    r"client_secret|password"
)
"""A field of this name holds a secret, whatever it looks like."""


def find_secrets(value: Json, keys: tuple[str, ...] = (), where: str = "") -> list[str]:
    """Each place in a JSON value that looks as if it held a secret, in words.

    >>> find_secrets({"request": {"body": [{"cookie": "a=1234"}]}})
    ['request.body[0].cookie: a field that holds secrets']
    >>> find_secrets({"note": "it was not-a-real-key"}, keys=("not-a-real-key",))
    ['note: the key in use']
    """
    forms = {form for key in keys if len(key) >= SHORTEST_SECRET for form in _forms(key)}
    return list(dict.fromkeys(_search(value, forms, where)))


def _search(value: Json, forms: set[str], where: str) -> Iterator[str]:
    if isinstance(value, str):
        yield from (f"{where}: {what}" for what in _kinds(value, forms))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _search(item, forms, f"{where}[{number}]")
    elif isinstance(value, dict):
        for name, item in value.items():
            place = f"{where}.{name}".removeprefix(".")
            if kinds := list(_kinds(name, forms)):
                yield from (f"a field's name in {where or 'the file'}: {what}" for what in kinds)
                continue
            if isinstance(item, str) and item and SECRET_FIELD.fullmatch(name):
                yield f"{place}: a field that holds secrets"
            yield from _search(item, forms, place)


def _kinds(text: str, forms: set[str]) -> Iterator[str]:
    if any(form in text for form in forms):
        yield "the key in use"
    yield from (what for what, shape in SHAPES.items() if re.search(shape, text))


def _forms(key: str) -> Iterator[str]:
    """The key as it may be written: plain, in a URL, in JSON inside a text, in Base64."""
    yield from (key, quote(key, safe=""), quote(key), quote_plus(key))
    yield from (json.dumps(key)[1:-1], key.replace("/", "\\/"))
    for offset in range(3):  # Base64 looks different after one, two or three bytes before it
        raw = base64.b64encode(b"\0" * offset + key.encode()).decode()
        inner = raw[(0, 2, 3)[offset] :].rstrip("=")[:-1]
        yield from (inner, inner.translate(str.maketrans("+/", "-_")))
