"""What a docstring in Google style says about a function and its parameters. (chapter 4.1)"""

from __future__ import annotations

import re

PARAMETER = re.compile(r" {2,4}(\w+)(?: ?\([^)]*\))?: (.+)")
NEXT_SECTION = re.compile(r"\n(?=\S)")
OTHER_SECTION = re.compile(r"\n(?:Returns|Raises|Yields|Examples?|Notes?):")


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    r"""The purpose, without the sections after it, and one description per parameter.

    >>> read_docstring("Book a room.\n\nArgs:\n    city: Its name,\n        in English.")
    ('Book a room.', {'city': 'Its name, in English.'})
    """
    about, _, rest = text.partition("\nArgs:\n")
    section = NEXT_SECTION.split(rest, maxsplit=1)[0]
    found: dict[str, str] = {}
    last = ""
    for line in section.splitlines():
        match = PARAMETER.fullmatch(line)
        if match:
            last = match[1]
            found[last] = match[2].strip()
        elif last and line.strip():
            found[last] += " " + line.strip()
    about = OTHER_SECTION.split(about, maxsplit=1)[0]
    return " ".join(about.split()), found
