"""Values, errors and lines of code in words that are the same on every machine. (start)"""

from __future__ import annotations

import functools
import inspect
import linecache
import re
import reprlib
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from freya_teach.lab.exercises.watchdog import TimeIsUp, Watchdog

MAX_VALUE_CHARS = 200
MAX_ERROR_CHARS = 300
SECONDS_TO_SHOW = 1.0
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def short(value: Any) -> str:
    """A value as Python writes it, cut where it is long. Never raises, never hangs.

    >>> short({"city": "Oslo"})
    "{'city': 'Oslo'}"
    """
    shortener = reprlib.Repr()
    shortener.maxstring = shortener.maxother = shortener.maxlong = MAX_VALUE_CHARS
    shortener.maxdict = shortener.maxlist = shortener.maxtuple = shortener.maxset = 10
    text = _safely(lambda: shortener.repr(value))
    if text is None:
        return f"a {type(value).__name__} that cannot be shown"
    return clipped(clean(text), 2 * MAX_VALUE_CHARS)


def error_text(problem: BaseException) -> str:
    """The class of an exception and what it says: `KeyError: 'city'`."""
    name = type(problem).__name__
    says = _safely(lambda: str(problem))
    return f"{name}: {clipped(clean(says), MAX_ERROR_CHARS)}" if says else name


def own_line(problem: BaseException | None, namespace: dict[str, Any] | None) -> str:
    """The innermost line of the learner's own code in a trace: `line 3: while True:`."""
    place: tuple[str, int] | None = None
    for frame, number in traceback.walk_tb(problem.__traceback__ if problem else None):
        if frame.f_globals is namespace and number is not None:
            place = (frame.f_code.co_filename, number)
    if place is None:
        return ""
    line = linecache.getline(*place).strip()
    return f"line {place[1]}: {clipped(line, MAX_VALUE_CHARS)}" if line else f"line {place[1]}"


def namespace_of(function: Any) -> dict[str, Any] | None:
    """The globals in which a learner's function was written: those of the notebook."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    found = getattr(function, "__globals__", None)
    if isinstance(found, dict):
        return found
    module = sys.modules.get(str(getattr(function, "__module__", None)))  # a class, an object of it
    return vars(module) if module else None


def clean(text: str) -> str:
    """Take out what differs between machines: addresses, and the folders of this one."""
    for folder in _local_folders():
        text = text.replace(folder, "…")
    return ADDRESS.sub("", text)


def clipped(text: str, limit: int) -> str:
    """At most so many characters, and how many there were."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text):,} characters)"


def _safely(write: Callable[[], str]) -> str | None:
    """Call a `__repr__` or `__str__` that a learner may have written; None when it fails."""
    try:
        return Watchdog(SECONDS_TO_SHOW).run(write)
    except (Exception, TimeIsUp):  # noqa: BLE001 - a value that cannot be shown is no failure
        return None


def _local_folders() -> list[str]:
    package = Path(__file__).resolve().parents[3]
    folders = {sys.prefix, sys.base_prefix, str(package), tempfile.gettempdir()}
    folders |= {str(Path.home()), str(Path.cwd())}
    return sorted((name for name in folders if len(name) > 1), key=len, reverse=True)
