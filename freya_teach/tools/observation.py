"""What the model reads after a tool call: short, true, and with a next step. (chapter 4.4)

A stack trace teaches a model nothing and may show it paths and secrets. So each kind of failure
has a sentence that says what is wrong, in which argument, and what to do instead.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import GeneratorType
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_jsonable_python

from freya_teach.errors import ToolError

MAX_NAME_CHARS = 80
MAX_REASON_CHARS = 500

STACK_FRAME = re.compile(r'File "[^"\n]*?([^"/\\\n]+)", (line \d+)(?:, in \S+)?')
SOURCE_FILE = re.compile(
    r"""(?<![^\s"'(=])(?:[A-Za-z]:)?(?:[/\\][^\s/\\"']+)*[/\\]([\w.-]+\.py)\b"""
)


def as_observation(value: Any) -> str:
    """A tool's return value as text: strings as they are, all else as JSON.

    Raises `ToolError` for bytes, and `TypeError` / `ValueError` for what JSON cannot hold.
    """
    if isinstance(value, str):
        return value
    if value is None:
        return "Done. (The tool returned nothing.)"
    if isinstance(value, bytes | bytearray):
        raise ToolError("The tool returned raw bytes, which cannot be shown as text.")
    return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: Any) -> Any:
    """The value in JSON's own types, at any depth; a set in an order that is always the same."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(_plain(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((_plain(item) for item in value), key=json.dumps)
    if isinstance(value, GeneratorType):
        raise TypeError("a generator may never end")
    return to_jsonable_python(value)  # models, dataclasses, enums, dates, decimals, paths


def shorten(text: str, limit: int) -> str:
    """At most about `limit` characters: the head and the tail, and how much is missing between.

    >>> shorten("x" * 300, 200).count("x")
    200
    """
    if len(text) <= limit:
        return text
    head, tail = text[: limit - limit // 3], text[len(text) - limit // 3 :]
    left_out = len(text) - len(head) - len(tail)
    return f"{head}\n[... {left_out:,} characters left out ...]\n{tail}"


def no_such_tool(name: str, active: Iterable[str]) -> str:
    """The model made a name up, or wrote one wrongly."""
    names = sorted(active)
    close = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    tools = ", ".join(names) if names else "none"
    name = shorten(name, MAX_NAME_CHARS)
    return f"There is no tool called {name!r}.{hint} Tools that you can call: {tools}."


def not_json(name: str, problem: Exception) -> str:
    """The arguments cannot be parsed."""
    place = f" at character {problem.pos}" if isinstance(problem, json.JSONDecodeError) else ""
    return (
        f"The arguments of {name} are not valid JSON{place}, so it was not run. "
        "Call it again with one JSON object as its arguments."
    )


def not_an_object(name: str, value: Any) -> str:
    """The arguments are JSON, but a list or a bare value."""
    kinds = {list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    kind = kinds.get(type(value), "a number")
    return (
        f"The arguments of {name} are {kind}, so it was not run. "
        "Call it again with one JSON object, with a key for each parameter."
    )


def invalid_arguments(name: str, problem: ValidationError) -> str:
    """The arguments do not fit the schema: each fault with its field."""
    lines = []
    for error in problem.errors(include_url=False, include_context=False):
        field = ".".join(str(step) for step in error["loc"]) or "(all)"
        got = "" if error["type"] == "missing" else f"; you sent {_brief(error['input'])}"
        lines.append(f"- {field}: {error['msg']}{got}")
    faults = "\n".join(lines)
    return (
        f"{name} was not run, because its arguments are wrong:\n{faults}\n"
        "Correct them and call it again."
    )


def failed(name: str, problem: BaseException) -> str:
    """The tool raised. `ToolError` speaks to the model already; all else is put into words."""
    try:
        text = str(problem)
    except Exception:  # noqa: BLE001 - a tool may raise what cannot even be printed
        text = ""
    if isinstance(problem, ToolError):
        return text or f"{name} failed without saying why."
    reason = shorten(" ".join(_without_places(text, problem).split()), MAX_REASON_CHARS)
    said = f"{type(problem).__name__}: {reason}" if reason else type(problem).__name__
    return (
        f"{name} failed ({said}). Try it with other arguments, or tell the user what did not work."
    )


def _without_places(text: str, problem: BaseException) -> str:
    """No stack trace, and of the file at fault, or of a source file, only the last name."""
    text = text.partition("Traceback (most recent call last)")[0]
    filename = problem.filename if isinstance(problem, OSError) else None
    if isinstance(filename, str) and Path(filename).is_absolute():
        text = text.replace(repr(filename), repr(Path(filename).name))
    return SOURCE_FILE.sub(r"\1", STACK_FRAME.sub(r"\1, \2", text))


def too_slow(name: str, seconds: float) -> str:
    """The tool has not returned in time."""
    return (
        f"{name} gave no result within {seconds:g} seconds and was given up. It may still have had "
        "an effect. Try a smaller task, or tell the user what did not work."
    )


def _brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:60] + "…"
