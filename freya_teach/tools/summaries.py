"""What an exception says, in one line that a model can use. (chapter 4.4)

`str(problem)` is not enough: of `KeyError("city")` it is `'city'`, of `TimeoutError()` nothing at
all, and a validation error has its substance on the later lines. So the common types have words
of their own; any other is its class and its text. Never a stack trace, never a path of here.
"""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from pydantic import ValidationError

from freya_teach.tools.masking import mask_secrets
from freya_teach.tools.places import without_places
from freya_teach.tools.truncation import shorten

MAX_REASON_CHARS = 500
MAX_READ_CHARS = 20_000
"""Of what an exception says, so much is looked at."""
MAX_CAUSES = 2
MAX_MEMBERS = 3
TAIL_CHARS = 300


def summarize(problem: BaseException, root: Path | None = None) -> str:
    """Class and words in one line; paths in the workspace's folder `root` become relative.

    >>> summarize(KeyError("city")), summarize(TimeoutError())
    ("KeyError: missing key 'city'", 'TimeoutError: it took too long')
    """
    said = _named(problem, root)
    seen = [problem]
    cause = problem.__cause__
    while cause is not None and cause not in seen and len(seen) <= MAX_CAUSES:
        words = _named(cause, root)
        if words not in said:
            said += f"; caused by {words}"
        seen.append(cause)
        cause = cause.__cause__
    return shorten(said, MAX_REASON_CHARS + 100).replace("\n", " ")


def _named(problem: BaseException, root: Path | None) -> str:
    name = type(problem).__name__
    words = without_places(_words(problem, root)[:MAX_READ_CHARS], root)
    # subtle: masked before it is cut, because half a secret is not known as one
    words = " ".join(shorten(mask_secrets(words), MAX_REASON_CHARS).split())
    return f"{name}: {words}" if words else name


def _words(problem: BaseException, root: Path | None) -> str:
    """The words for its type, else its own text."""
    if isinstance(problem, OSError):
        return _system(problem, root)
    for kind, words in WORDS.items():
        if isinstance(problem, kind):
            try:
                return words(problem) or _text(problem) or EMPTY.get(kind, "")
            except Exception:  # noqa: BLE001 - an exception's attributes may be anything
                break
    if isinstance(problem, BaseExceptionGroup):
        members = [_named(each, root) for each in problem.exceptions[:MAX_MEMBERS]]
        return f"{_text(problem)}: {'; '.join(members)}"
    return _text(problem)


def _text(problem: BaseException) -> str:
    try:
        return str(problem)
    except Exception:  # noqa: BLE001 - a tool may raise what cannot even be printed
        return ""


def _key(problem: Any) -> str:
    """A `KeyError` shows the key alone; one with a sentence of its own keeps that."""
    own = type(problem).mro()[: type(problem).mro().index(KeyError)]
    if len(problem.args) != 1 or any("__str__" in vars(kind) for kind in own):
        return ""
    key = problem.args[0]
    return key if isinstance(key, str) and " " in key else f"missing key {key!r}"


def _system(problem: OSError, root: Path | None) -> str:
    """The system's words, and of a file outside of the workspace only the name."""
    if not problem.strerror:
        return _text(problem) or ("it took too long" if isinstance(problem, TimeoutError) else "")
    names = [name for name in (problem.filename, problem.filename2) if name is not None]
    shown = " -> ".join(repr(_file_name(name, root)) for name in names)
    return f"{problem.strerror}: {shown}" if shown else str(problem.strerror)


def _file_name(name: Any, root: Path | None) -> str:
    text = name.decode(errors="replace") if isinstance(name, bytes) else str(name)
    shown = without_places(f"'{text}'", root)[1:-1]
    return Path(shown).name if Path(shown).is_absolute() else shown


def _json(problem: Any) -> str:
    before = mask_secrets(problem.doc[max(0, problem.pos - 1_000) : problem.pos])
    near = before[-20:] + mask_secrets(problem.doc[problem.pos : problem.pos + 1_000])[:20]
    return f"{problem.msg} at line {problem.lineno} column {problem.colno}, near {near!r}"


def _decoding(problem: Any) -> str:
    byte = problem.object[problem.start]
    return (
        f"the bytes are not {problem.encoding} (0x{byte:02x} at position {problem.start}: "
        f"{problem.reason})"
    )


def _validation(problem: Any) -> str:
    """Each fault with its place; pydantic's own text has them on later lines."""
    errors = problem.errors(include_url=False, include_context=False)
    faults = "; ".join(
        f"{'.'.join(map(str, error['loc'])) or 'value'}: {error['msg']}" for error in errors[:5]
    )
    number = f"{len(errors)} validation error{'s' if len(errors) > 1 else ''}"
    return f"{number} for {problem.title}: {faults}"


def _http_status(problem: Any) -> str:
    response = problem.response
    return f"{response.status_code} {response.reason_phrase} for {problem.request.url}"


def _http(problem: Any) -> str:
    """What httpx itself says is often nothing: the address is what helps."""
    said = str(problem) or next(
        (words for kind, words in HTTP_WORDS.items() if isinstance(problem, kind)), ""
    )
    try:
        return f"{said} ({problem.request.url})"
    except RuntimeError:  # httpx: no request was set
        return said


HTTP_WORDS: dict[type[Exception], str] = {
    httpx.ConnectTimeout: "no connection in time",
    httpx.TimeoutException: "no answer in time",
    httpx.ConnectError: "no connection",
    httpx.RemoteProtocolError: "the connection was closed too early",
    httpx.TransportError: "the connection failed",
}


def _process(problem: Any) -> str:
    """The last thing that the program said; its command line may be long, and hold anything."""
    said = problem.stderr or problem.output or b""
    text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
    text = mask_secrets(without_places(text[-MAX_READ_CHARS:].strip()))
    tail = " ".join(text.split())[-TAIL_CHARS:]
    return f"{_program(problem.cmd)} {_ending(problem.returncode)}" + (f": {tail}" if tail else "")


def _program(command: Any) -> str:
    first = command if isinstance(command, str) else str(next(iter(command), ""))
    return repr(Path(first.split(" ", maxsplit=1)[0]).name)


def _ending(status: int) -> str:
    if status >= 0:
        return f"ended with exit status {status}"
    names = {each.value: each.name for each in signal.Signals}
    return f"was ended by {names.get(-status, f'signal {-status}')}"


def _process_time(problem: Any) -> str:
    return f"{_program(problem.cmd)} did not end within {problem.timeout:g} seconds"


def _exit(problem: Any) -> str:
    return f"the tool tried to end the program (exit status {problem.code})"


def _own(problem: BaseException) -> str:
    return str(problem)


WORDS: dict[type[BaseException], Callable[[Any], str]] = {
    KeyError: _key,
    json.JSONDecodeError: _json,
    UnicodeDecodeError: _decoding,
    ValidationError: _validation,
    httpx.HTTPStatusError: _http_status,
    httpx.HTTPError: _http,
    subprocess.CalledProcessError: _process,
    subprocess.TimeoutExpired: _process_time,
    SystemExit: _exit,
    AssertionError: _own,
    NotImplementedError: _own,
    MemoryError: _own,
}
"""The first type that fits counts."""

EMPTY: dict[type[BaseException], str] = {
    AssertionError: "a check inside of the tool did not hold",
    NotImplementedError: "the tool cannot do this yet",
    MemoryError: "there was not enough memory",
}
"""For an exception without any words."""

TRANSIENT = (TimeoutError, ConnectionError, httpx.TransportError, subprocess.TimeoutExpired)
"""What may go well the next time, without any change."""
