"""Packets and source code as a page of a notebook can show them. (start)

A packet is printed as JSON that a person can read: what fits on a line stays on a line, and a
string too long to be looked at is folded, with its length. Folded text is no longer the packet
itself, so it is for the eye only.
"""

from __future__ import annotations

import inspect
import json
import textwrap
from pathlib import Path
from typing import Any

from freya_teach.llm.messages import Json
from freya_teach.paths import PACKAGE

WIDTH = 92
MAX_STRING_CHARS = 72


def packet(value: Json, width: int = WIDTH, max_string: int = MAX_STRING_CHARS) -> str:
    r"""JSON in as few lines as `width` characters allow, its long strings folded.

    >>> print(packet({"role": "user", "parts": [{"text": "Hi"}]}, width=30))
    {
      "role": "user",
      "parts": [{"text": "Hi"}]
    }
    """
    return _layout(_folded(value, max_string), "", width)


def _folded(value: Json, limit: int) -> Json:
    if isinstance(value, str) and len(value) > limit:
        return f"{value[: limit - 20]}… ({len(value)} characters)"
    if isinstance(value, list):
        return [_folded(item, limit) for item in value]
    if isinstance(value, dict):
        return {key: _folded(item, limit) for key, item in value.items()}
    return value


def _layout(value: Json, indent: str, width: int) -> str:
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= width or not isinstance(value, dict | list) or not value:
        return line
    deeper = indent + "  "
    if isinstance(value, dict):
        items = [
            f"{json.dumps(key, ensure_ascii=False)}: {_layout(item, deeper, width)}"
            for key, item in value.items()
        ]
        first, last = "{", "}"
    else:
        items = [_layout(item, deeper, width) for item in value]
        first, last = "[", "]"
    inside = f",\n{deeper}".join(items)
    return f"{first}\n{deeper}{inside}\n{indent}{last}"


def source(thing: Any) -> str:
    """The source of a function or class, under the name of its file. Raises `TypeError` for others.

    A file is named from the package on, so that the text is the same on every machine.
    """
    file = Path(inspect.getsourcefile(thing) or "").resolve()
    ours = file.is_relative_to(PACKAGE)
    place = file.relative_to(PACKAGE.parent).as_posix() if ours else "not the kernel's"
    return f"# {place}\n{textwrap.dedent(inspect.getsource(thing)).rstrip()}"
