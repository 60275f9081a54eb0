"""Exchanges as people have them: recordings, HAR files, what curl left. (chapter 4.2)

- a recording in the course's format, `{request: {...}, response: {...}}`;
- a HAR file, as a browser's network panel exports it: every entry that went to a model's address;
- a request log of the kernel, a day's file below `FREYA_LOG_DIR`: every exchange in it;
- two files, the body that was sent and the answer that came: with `curl -i` the answer begins with
  its status line and headers, without it the status is taken for 200. The body may have a head
  too, as in a `.http` file of an editor.

What a request's headers and address hold of keys is kept only to keep it out of what is told.

Source of the HAR format: HTTP Archive 1.2, W3C Web Performance.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import zlib
from codecs import BOM_UTF8 as BOM
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from freya_teach.lab.understand import (
    NEITHER,
    HttpExchange,
    exchange_from_log,
    exchange_from_recording,
    header_fields,
    secrets_in,
    wire_of,
)
from freya_teach.llm.messages import Json
from freya_teach.llm.request_log import read_log
from freya_teach.llm.wirejson import as_dict, as_int, as_list, as_text

REQUEST_LINE = re.compile(rb"(?:#[^\n]*\n|\s)*(?:GET|POST) +(\S+)[^\n]*\n")
HEADER_LINE = re.compile(rb"[\w-]+: ")
CURL = re.compile(rb"\s*(?:#!.*\s+)?(?:[$>] )?curl(?:\.exe)?\s")
READABLE = (
    "What can be read: a recording, a HAR file, a request log (llm-….jsonl), or two files: the "
    "body sent, and the answer."
)


class UnreadableFile(Exception):
    """A file that holds no exchange; the message says what was found and what can be read."""


def read_files(paths: list[Path]) -> Iterator[list[HttpExchange] | UnreadableFile]:
    """File by file, the exchanges in it or why there are none.

    Two files of which neither holds an exchange are taken for a request's body and its answer.
    """
    if len(paths) == 2 and not any(_is_whole(path) or _logged(path) for path in paths):
        reads = [partial(read_pair, *paths)]
    else:
        reads = [partial(read_file, path) for path in paths]
    for read in reads:
        try:
            yield read()
        except UnreadableFile as problem:
            yield problem


def read_file(path: Path) -> list[HttpExchange]:
    """One exchange of a recording, any number of a HAR file or a log. Raises `UnreadableFile`."""
    if not _is_whole(path) and (logged := _logged(path)):
        return logged
    data = as_dict(_json(path, _bytes(path)))
    if "log" in data:
        return _har(path, as_dict(data["log"]))
    if exchange := exchange_from_recording(str(path), data):
        return [exchange]
    hint = ""
    if _asks(data) or {"choices", "candidates", "error"} & set(data):
        hint = " It looks like half of an exchange: name the body sent and the answer together."
    raise UnreadableFile(
        f"{path} is JSON, but neither a recording (request, response) nor a HAR file (log).{hint}"
    )


def read_pair(request: Path, response: Path) -> list[HttpExchange]:
    """The body that was sent, and the answer, each with or without its head.

    They may also stand in the other order. Raises `UnreadableFile`.
    """
    sent, answer = _bytes(request), _bytes(response)
    if sent.startswith(b"HTTP/") or (_looks_sent(answer) and not _looks_sent(sent)):
        request, response, sent, answer = response, request, answer, sent
    url, asked_with, sent = _split_request(request, sent)
    status, headers, body = _split_answer(answer)
    name = f"{request} + {response}"
    secrets = secrets_in(url, asked_with)
    question = _json(request, sent)
    exchange = HttpExchange(name, url, question, status, headers, _plain(body), secrets)
    if not wire_of(exchange):
        raise UnreadableFile(f"{name}: {NEITHER}. {READABLE}")
    return [exchange]


def _split_request(path: Path, sent: bytes) -> tuple[str, dict[str, str], bytes]:
    """Address, headers and body of a request. Raises `UnreadableFile` for a curl command."""
    if CURL.match(sent):
        raise UnreadableFile(
            f"{path} is a curl command, not what it sends. Put what stands behind --data into "
            "a file of its own, and name that one."
        )
    if line := REQUEST_LINE.match(sent):
        head, body = _cut_head(sent[line.start(1) :])
        return line[1].decode("latin-1"), _fields(head.splitlines()[1:]), body
    if HEADER_LINE.match(sent):
        head, body = _cut_head(sent)
        return "", _fields(head.splitlines()), body
    return "", {}, sent


def _split_answer(answer: bytes) -> tuple[int, dict[str, str], bytes]:
    """Cut off the head, the last one: curl shows one more for `100 Continue` and each redirect."""
    status, headers = 200, {}
    while answer.startswith(b"HTTP/"):
        head, answer = _cut_head(answer)
        first, *lines = head.splitlines()
        status = int((re.findall(r" (\d{3})\b", first) or ["200"])[0])
        headers = _fields(lines)
    return status, headers, answer


def _cut_head(message: bytes) -> tuple[str, bytes]:
    head, *body = re.split(rb"\r?\n\r?\n", message, maxsplit=1)
    return head.decode("latin-1"), body[0] if body else b""


def _fields(lines: list[str]) -> dict[str, str]:
    parts = [line.partition(":") for line in lines]
    return {name.strip().lower(): value.strip() for name, _, value in parts}


def _logged(path: Path) -> list[HttpExchange]:
    """The exchanges of a request log; none where the file is no such log."""
    try:
        entries = list(read_log(path))
    except OSError:
        return []  # whoever reads the file next says why
    return [exchange_from_log(f"{path}#{entry['id']}", entry) for entry in entries]


def _har(path: Path, log: dict[str, Json]) -> list[HttpExchange]:
    entries = list(map(as_dict, as_list(log.get("entries"))))
    found = [_har_entry(f"{path}#{number}", entry) for number, entry in enumerate(entries)]
    spoken = [exchange for exchange in found if exchange and _asks(exchange.request)]
    if not spoken:
        raise UnreadableFile(
            f"{path} is a HAR file, but none of its {len(entries)} entries asks a model over "
            "Chat Completions or generateContent."
        )
    return spoken


def _har_entry(name: str, entry: dict[str, Json]) -> HttpExchange | None:
    request, response = as_dict(entry.get("request")), as_dict(entry.get("response"))
    content = as_dict(response.get("content"))
    text = as_text(content.get("text"))
    try:
        sent = json.loads(as_text(as_dict(request.get("postData")).get("text")) or "null")
    except (ValueError, RecursionError):
        return None  # no JSON was sent: no question to a model
    body = text.encode("utf-8", "backslashreplace")
    if content.get("encoding") == "base64":
        with suppress(ValueError):
            body = _plain(base64.b64decode(text))
    url, status = as_text(request.get("url")), as_int(response.get("status"))
    secrets = secrets_in(url, _har_headers(request))
    return HttpExchange(name, url, sent, status, _har_headers(response), body, secrets)


def _har_headers(half: dict[str, Json]) -> dict[str, str]:
    headers = map(as_dict, as_list(half.get("headers")))
    return header_fields({as_text(header.get("name")): header.get("value") for header in headers})


def _asks(body: Json) -> bool:
    return bool({"messages", "contents"} & set(as_dict(body)))


def _looks_sent(data: bytes) -> bool:
    """Whether this is a request's body, with or without a head."""
    try:
        return bool(REQUEST_LINE.match(data)) or _asks(json.loads(data))
    except (ValueError, RecursionError):
        return False


def _is_whole(path: Path) -> bool:
    try:
        data = as_dict(_json(path, _bytes(path)))
    except UnreadableFile:
        return False
    return "log" in data or {"request", "response"} <= set(data)


def _plain(body: bytes) -> bytes:
    """The body without its compression: `curl -o` and some browsers keep it."""
    if body.startswith(b"\x1f\x8b"):
        with suppress(OSError, EOFError, zlib.error):
            return gzip.decompress(body)
    return body


def _json(path: Path, data: bytes) -> Json:
    if not data.strip():
        raise UnreadableFile(f"{path} is empty.")
    try:
        return json.loads(data)
    except UnicodeDecodeError:
        raise UnreadableFile(f"{path} is no text. {READABLE}") from None
    except (ValueError, RecursionError) as problem:
        raise UnreadableFile(f"{path} is not JSON ({problem}). {READABLE}") from None


def _bytes(path: Path) -> bytes:
    """What a file holds, as UTF-8 without a mark: PowerShell writes UTF-16, Notepad a mark."""
    try:
        data = path.read_bytes()
    except OSError as problem:
        raise UnreadableFile(f"{path} cannot be read: {problem.strerror}.") from None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data.decode("utf-16", "replace").encode("utf-8", "replace")
    return data.removeprefix(BOM)
