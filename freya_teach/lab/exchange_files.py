"""Exchanges as people have them: recordings, HAR files, what curl left. (chapter 4.2)

- a recording in the course's format, `{request: {...}, response: {...}}`;
- a HAR file, as a browser's network panel exports it: every entry that went to a model's address;
- two files, the body that was sent and the answer that came: with `curl -i` the answer begins with
  its status line and headers, without it the status is taken for 200.

Source of the HAR format: HTTP Archive 1.2, W3C Web Performance.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from freya_teach.lab.understand import HttpExchange, exchange_from_recording
from freya_teach.llm.messages import Json
from freya_teach.llm.wirejson import as_dict, as_int, as_list, as_text


class UnreadableFile(Exception):
    """A file that holds no exchange; the message says what was found and what can be read."""


def read_files(paths: list[Path]) -> Iterator[list[HttpExchange] | UnreadableFile]:
    """File by file, the exchanges in it or why there are none.

    Two files of which neither holds an exchange are taken for a request's body and its answer.
    """
    if len(paths) == 2 and not any(_is_whole(path) for path in paths):
        reads = [partial(read_pair, *paths)]
    else:
        reads = [partial(read_file, path) for path in paths]
    for read in reads:
        try:
            yield read()
        except UnreadableFile as problem:
            yield problem


def read_file(path: Path) -> list[HttpExchange]:
    """One exchange of a recording, or any number of a HAR file. Raises `UnreadableFile`."""
    data = as_dict(_json(path))
    if "log" in data:
        return _har(path, as_dict(data["log"]))
    try:
        return [exchange_from_recording(str(path), data)]
    except (KeyError, TypeError, AttributeError) as missing:
        raise UnreadableFile(
            f"{path} is JSON, but neither a recording (request, response) nor a HAR file (log): "
            f"{missing} is missing. A body that was sent goes together with the file of its answer."
        ) from None


def read_pair(request: Path, response: Path) -> list[HttpExchange]:
    """The body that was sent, and the answer with or without its head. Raises `UnreadableFile`."""
    sent, answer = _bytes(request), _bytes(response)
    status, headers, body = _split_head(answer)
    url = _url_in(request)
    name = f"{request} + {response}"
    return [HttpExchange(name, url, _parse(request, sent), status, headers, body)]


def _split_head(answer: bytes) -> tuple[int, dict[str, str], bytes]:
    """Cut off the head, the last one: curl shows one more for `100 Continue` and each redirect."""
    status, headers = 200, {}
    while answer.startswith(b"HTTP/"):
        head, *rest = re.split(rb"\r?\n\r?\n", answer, maxsplit=1)
        first, *lines = head.decode("latin-1").splitlines()
        status = int((re.findall(r" (\d{3})\b", first) or ["200"])[0])
        fields = [line.partition(":") for line in lines]
        headers = {name.strip().lower(): value.strip() for name, _, value in fields}
        answer = rest[0] if rest else b""
    return status, headers, answer


def _har(path: Path, log: dict[str, Json]) -> list[HttpExchange]:
    entries = map(as_dict, as_list(log.get("entries")))
    found = [_har_entry(f"{path}#{number}", entry) for number, entry in enumerate(entries)]
    spoken = [exchange for exchange in found if exchange and _is_model_call(exchange)]
    if not spoken:
        raise UnreadableFile(
            f"{path} is a HAR file, but none of its {len(found)} entries asks a model."
        )
    return spoken


def _har_entry(name: str, entry: dict[str, Json]) -> HttpExchange | None:
    request, response = as_dict(entry.get("request")), as_dict(entry.get("response"))
    content = as_dict(response.get("content"))
    text = as_text(content.get("text"))
    try:
        sent = json.loads(as_text(as_dict(request.get("postData")).get("text")) or "null")
        body = base64.b64decode(text) if content.get("encoding") == "base64" else text.encode()
    except (ValueError, binascii.Error):
        return None
    headers = {
        as_text(header.get("name")).lower(): as_text(header.get("value"))
        for header in map(as_dict, as_list(response.get("headers")))
    }
    url, status = as_text(request.get("url")), as_int(response.get("status"))
    return HttpExchange(name, url, sent, status, headers, body)


def _is_model_call(exchange: HttpExchange) -> bool:
    body = as_dict(exchange.request)
    return bool({"messages", "contents"} & set(body))


def _is_whole(path: Path) -> bool:
    try:
        data = as_dict(_json(path))
    except UnreadableFile:
        return False
    return "log" in data or {"request", "response"} <= set(data)


def _url_in(request: Path) -> str:
    """A body of Gemini's names no model and no address; its file's name may, and need not."""
    return "" if "enerateContent" not in request.name else request.name


def _json(path: Path) -> Json:
    return _parse(path, _bytes(path))


def _parse(path: Path, data: bytes) -> Json:
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as problem:
        raise UnreadableFile(
            f"{path} is not JSON ({problem}). What can be read: a recording, a HAR file, or two "
            "files: the body that was sent, and the answer."
        ) from None


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise UnreadableFile(f"{path} cannot be read: {problem.strerror}") from None
