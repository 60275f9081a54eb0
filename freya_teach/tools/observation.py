"""What the model reads after a tool call: short, true, and with a next step. (chapter 4.4)

A stack trace teaches a model nothing and may show it paths and secrets. So each kind of failure
has a sentence that says what is wrong, in which argument, and what to do instead.

A runner calls, in this order:

    no_such_tool, not_available             the call is not run: there is no such tool
    not_json, not_an_object                 its arguments are no JSON object
    invalid_arguments                       its arguments do not fit
    too_slow, failed                        it was run and gave no result
    result                                  it returned something, whatever it is
    fit                                     the last step, for every text of the above

Only `result` saves something; only `fit` masks secrets and keeps the limit, so every text goes
through it once.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import AsyncIterator, Awaitable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from freya_teach.errors import ToolError
from freya_teach.tools import saving
from freya_teach.tools.argument_faults import lines_of
from freya_teach.tools.expectation import shape
from freya_teach.tools.fitting import fit, well_formed
from freya_teach.tools.plain import to_plain, to_text
from freya_teach.tools.summaries import TRANSIENT, summarize
from freya_teach.tools.truncation import head_end, shorten

__all__ = ["fit", "shorten"]

MAX_NAME_CHARS = 80
MAX_NAMES = 40
SNIPPET_CHARS = 30
NOTHING = "Done. (The tool returned nothing.)"


@dataclass(frozen=True, slots=True)
class Observation:
    """The text that the model reads, and whether it tells of a failure."""

    text: str
    is_error: bool = False


# ---- the call is not run -------------------------------------------------------------------


def no_such_tool(name: str, active: Iterable[str]) -> str:
    """The model made a name up, or wrote one wrongly."""
    names = sorted(active)
    plain = name[:1_000].rpartition(".")[2]
    close = [plain] if plain in names else difflib.get_close_matches(plain, names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"There is no tool called {_shown(name)!r}.{hint} {_can_call(names)}"


def not_available(name: str, active: Iterable[str]) -> str:
    """The tool exists, but not for this session; which others there are is not told."""
    return (
        f"The tool {_shown(name)} is not available in this session, so it was not run. "
        f"{_can_call(sorted(active))}"
    )


def _shown(name: str) -> str:
    return shorten(name, MAX_NAME_CHARS)


def _can_call(names: list[str]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f"Tools that you can call: {', '.join(names[:MAX_NAMES]) or 'none'}{more}."


def not_json(name: str, problem: Exception, schema: Mapping[str, Any] | None = None) -> str:
    """The arguments cannot be parsed; where, and what stands there."""
    place = there = ""
    if isinstance(problem, json.JSONDecodeError):
        place = f" at character {problem.pos}"
        at, text = problem.pos, problem.doc
        before = text[max(0, at - SNIPPET_CHARS) : at]
        after = text[at : head_end(text, at + SNIPPET_CHARS)]
        there = f" {problem.msg}, after {before!r} and before {after!r}."
    return (
        f"The arguments of {name} are not valid JSON{place}, so it was not run.{there} "
        f"Call it again with one JSON object as its arguments{_with_keys(schema)}."
    )


def not_an_object(name: str, value: Any, schema: Mapping[str, Any] | None = None) -> str:
    """The arguments are JSON, but a list or a bare value."""
    kinds = {list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    kind = kinds.get(type(value), "a number")
    keys = _with_keys(schema) or ", with a key for each parameter"
    return (
        f"The arguments of {name} are {kind}, so it was not run. "
        f"Call it again with one JSON object{keys}."
    )


def _with_keys(schema: Mapping[str, Any] | None) -> str:
    if schema is None:
        return ""
    return f", with these keys: {keys}" if (keys := shape(schema)) else ": {}"


def invalid_arguments(
    name: str, problem: ValidationError, schema: Mapping[str, Any] | None = None
) -> str:
    """The arguments do not fit the schema: each fault with its field."""
    faults = "\n".join(lines_of(problem, schema or {}))
    return (
        f"{name} was not run, because its arguments are wrong:\n{faults}\n"
        "Correct them and call it again."
    )


# ---- it was run and gave no result ---------------------------------------------------------


def failed(name: str, problem: BaseException, root: Path | None = None) -> str:
    """The tool raised. `ToolError` speaks to the model already; all else is put into words.

    A path inside `root`, the workspace's folder, is told relative to it.
    """
    if isinstance(problem, ToolError):
        try:
            return str(problem) or f"{name} failed without saying why."
        except Exception:  # noqa: BLE001 - a tool may raise what cannot even be printed
            return f"{name} failed without saying why."
    again = "Try it once more" if isinstance(problem, TRANSIENT) else "Try it with other arguments"
    said = summarize(problem, root)
    return f"{name} failed ({said}). {again}, or tell the user what did not work."


def too_slow(name: str, seconds: float) -> str:
    """The tool has not returned in time."""
    return (
        f"{name} gave no result within {seconds:g} seconds and was given up. It may still have had "
        "an effect. Try a smaller task, or tell the user what did not work."
    )


# ---- it returned something -----------------------------------------------------------------


def result(
    name: str,
    value: Any,
    limit: int,
    save_over: int | None = None,
    downloads: saving.Downloads | None = None,
) -> Observation:
    """The value as an observation of at most `limit` characters. Never raises.

    With `downloads`, a text of more than `save_over` characters is saved, and all bytes are.
    """
    if isinstance(value, bytes | bytearray | memoryview):
        return _of_bytes(bytes(value), limit, downloads)
    if _has_to_be_run(value):
        kind = type(value).__name__
        return Observation(
            f"{name} returned something that JSON cannot hold (a {kind}).", is_error=True
        )
    try:
        text = as_observation(value)
    except Exception as problem:  # noqa: BLE001 - showing a value runs the tool's own code
        kind = type(problem).__name__
        return Observation(
            f"{name} returned something that cannot be shown ({kind}).", is_error=True
        )
    if downloads is None or save_over is None or len(text) <= save_over:
        return Observation(fit(text, limit))
    kind = saving.text_type(text)
    data = _as_lines(value, text).encode()
    text = data.decode()
    saved = saving.save(data, kind, downloads)
    size = f"{len(text):,} characters"
    return Observation(saving.told_text(text, size, kind, saved, limit))


def as_observation(value: Any) -> str:
    """A tool's return value as text, as long as it is: strings as they are, all else as JSON.

    Raises `ToolError` for bytes, and `TypeError` for what would have to be run to be seen.
    """
    if value is None:
        return NOTHING
    if isinstance(value, bytes | bytearray | memoryview):
        raise ToolError("The tool returned raw bytes, which cannot be shown as text.")
    if _has_to_be_run(value):
        raise TypeError("it may never end")
    text = to_text(value)
    kind = type(value).__name__
    return (
        f"Done. (The tool returned a {kind}, which has no text.)" if text == f"[{kind}]" else text
    )


def _has_to_be_run(value: Any) -> bool:
    """Whether nobody can see what it holds, nor whether it ends."""
    if type(value) is str:  # for speed: nearly all are texts, and to look takes 1 µs of 4.6
        return False
    return isinstance(value, Iterator | AsyncIterator | Awaitable)


def _as_lines(value: Any, text: str) -> str:
    """A structure in many lines, because `read_file` reads by lines; a text as it is."""
    if not isinstance(value, str):
        plain = to_plain(value)
        text = plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False, indent=1)
    return well_formed(text)


def _of_bytes(data: bytes, limit: int, downloads: saving.Downloads | None) -> Observation:
    """Bytes are saved as they are; of those that are text, the beginning is shown too."""
    kind = saving.media_type(data)
    saved = saving.save(data, kind, downloads) if downloads else saving.Saved()
    text = saving.as_text(data)
    if text is None or kind not in saving.TEXTS:
        said = saving.told_bytes(data, kind, saved)
        return Observation(fit(said, limit), is_error=not saved.path)
    return Observation(saving.told_text(text, f"{len(data):,} bytes", kind, saved, limit))
