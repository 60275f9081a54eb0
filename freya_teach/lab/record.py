"""Real exchanges, kept as files: a transport listens, a folder is written whole. (start)

    heard = Listening(httpx.AsyncHTTPTransport())
    async with httpx.AsyncClient(transport=heard) as http: ...
    write_scenario(folder, [as_file(...) for exchange in heard.exchanges], ...)

A body stays as it came: JSON is parsed, an event stream is its whole text. Of the headers only
those stay that a reader of the answer needs. Ids, times and speeds are left as the server wrote
them. A run that fails writes nothing, and what was there before stays.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from freya_teach.errors import FreyaError
from freya_teach.lab.record_secrets import find_secrets
from freya_teach.lab.recording import body_of, dump, load_recording
from freya_teach.llm.messages import Json

KEPT_HEADERS = ("content-type", "retry-after")
"""What the kernel reads of an answer's headers; all others are dropped, cookies among them."""

DROPPED = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)
"""How it looks when a server has closed a connection that was kept open between two requests."""


class RecordingRefused(FreyaError):
    """Nothing was written; the message says why."""


@dataclass(frozen=True, slots=True)
class Heard:
    """One exchange as it went over the wire, its event stream in one piece."""

    request: dict[str, Json]
    response: dict[str, Json]


@dataclass(slots=True)
class Listening(httpx.AsyncBaseTransport):
    """A transport that sends through another one and keeps what was said, in order."""

    inner: httpx.AsyncBaseTransport
    exchanges: list[Heard] = field(default_factory=list)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send, read the whole answer, keep both, and hand the answer on."""
        await request.aread()
        answer = await self._send(request)
        content = await answer.aread()
        await answer.aclose()
        headers = {name: answer.headers[name] for name in KEPT_HEADERS if name in answer.headers}
        sent = {
            "method": request.method,
            "url": str(request.url),
            "headers": {"content-type": request.headers.get("content-type", "")},
            "body": body_of(request.content),
        }
        received = {"status": answer.status_code, "headers": headers, "body": kept_body(content)}
        self.exchanges.append(Heard(sent, received))
        return httpx.Response(answer.status_code, headers=headers, content=content)

    async def _send(self, request: httpx.Request) -> httpx.Response:
        """Send; once more, on a new connection, when the kept one turns out to be closed."""
        try:
            return await self.inner.handle_async_request(request)
        except DROPPED:
            if not self.exchanges:  # there was no connection to keep yet
                raise
            return await self.inner.handle_async_request(request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self.inner.aclose()


def kept_body(content: bytes) -> Json:
    r"""An answer's body for its file: parsed JSON when that can be played back, else its text.

    >>> kept_body(b'{"a": 1}'), kept_body(b'data: {"a": 1}\n\n'), kept_body(b'NaN')
    ({'a': 1}, 'data: {"a": 1}\n\n', 'NaN')
    """
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise RecordingRefused("an answer is not UTF-8, so no text file can hold it") from None
    try:
        value: Json = json.loads(text)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, str) else value


def as_file(
    heard: Heard, name: str, provider: str, model: str, provenance: Json
) -> dict[str, Json]:
    """One exchange in the format of `recording.py`; `name` becomes its id."""
    return {
        "id": name,
        "provider": provider,
        "model": model,
        "request": heard.request,
        "response": heard.response,
        "provenance": {"kind": "recorded", "model": model, **provenance},
    }


def check_replaceable(folder: Path, *, overwrite: bool) -> None:
    """Raise `RecordingRefused` unless the folder is new, or holds recordings to be overwritten."""
    paths = sorted(folder.glob("*.json"))
    by_hand = [p.name for p in paths if load_recording(p).provenance["kind"] != "recorded"]
    if by_hand:
        raise RecordingRefused(
            f"{folder.name} holds exchanges that were written by hand ({', '.join(by_hand)}): "
            "they are never replaced by recorded ones. Choose another name."
        )
    if paths and not overwrite:
        raise RecordingRefused(f"{folder.name} is recorded already; --overwrite replaces it.")


def write_scenario(
    folder: Path, files: list[dict[str, Json]], keys: tuple[str, ...], *, overwrite: bool = False
) -> None:
    """Write 01.json, 02.json, … of a scenario, all of them or none.

    Raises `RecordingRefused` when one seems to hold a secret, when nothing was exchanged, or
    when the folder may not be replaced (see `check_replaceable`).
    """
    names = [f"{number:02}.json" for number in range(1, len(files) + 1)]
    check_replaceable(folder, overwrite=overwrite)
    if not files:
        raise RecordingRefused(f"{folder.name}: nothing was asked, so there is nothing to keep.")
    found = [
        f"{n}: {f}" for n, file in zip(names, files, strict=True) for f in find_secrets(file, keys)
    ]
    if found:
        raise RecordingRefused(
            f"{folder.name} is not written, because it looks as if it held a secret:\n  "
            + "\n  ".join(found)
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".record-", dir=folder.parent) as workplace:
        _replace(folder, dict(zip(names, map(_text, files), strict=True)), Path(workplace))


def _replace(folder: Path, texts: dict[str, str], workplace: Path) -> None:
    """Build the new folder beside the old one, then let them change places."""
    new, old = workplace / "new", workplace / "old"
    new.mkdir()
    if folder.exists():
        shutil.copytree(folder, new, ignore=shutil.ignore_patterns("*.json"), dirs_exist_ok=True)
    for name, text in texts.items():
        (new / name).write_text(text, encoding="utf-8", newline="\n")
    if folder.exists():
        folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        if old.exists():
            old.rename(folder)
        raise


def _text(file: dict[str, Json]) -> str:
    text = dump(file) + "\n"
    if any("\ud800" <= sign <= "\udfff" for sign in text):  # half a character has no UTF-8
        return json.dumps(file, indent=2) + "\n"
    return text
