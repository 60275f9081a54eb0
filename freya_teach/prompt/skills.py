"""A skill: instructions for one kind of task, described in a few lines at their top. (chapter 3.3)

    ---
    name: Weather report
    description: How to write a forecast that a farmer can use.
    ---
    Say first whether ...

What stands between the two lines of dashes are fields, one a line: the few lines of code below
read what a skill needs of front matter, and refuse what they do not understand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from freya_teach.errors import PromptError

SKILL_FILE = "SKILL.md"
"""The file that makes a skill of its folder."""
FIELD = re.compile(r"([a-z][a-z_-]*):\s*(.*)")
NEEDED = ("name", "description")


@dataclass(frozen=True, slots=True)
class Skill:
    """Instructions that a session can switch on, and the description by which they are chosen."""

    id: str
    name: str
    description: str
    text: str
    path: Path
    overridden: bool

    @property
    def origin(self) -> str:
        """Where it came from, in a word."""
        return "override" if self.overridden else "packaged"


def parse_skill(skill_id: str, text: str, path: Path, *, overridden: bool = False) -> Skill:
    """Read a skill's file. Raises `PromptError` that says which line is wrong."""
    fields, body = front_matter(text, path)
    for name in NEEDED:
        if not fields.get(name):
            raise PromptError(f"the skill {path} has no {name!r} between its lines of dashes")
    return Skill(skill_id, fields["name"], fields["description"], body, path, overridden)


def front_matter(text: str, path: Path) -> tuple[dict[str, str], str]:
    """The fields at the top of a text, and what follows. Raises `PromptError`."""
    lines = text.split("\n")
    if lines[0].strip() != "---" or "---" not in (line.strip() for line in lines[1:]):
        raise PromptError(f"{path} does not begin with fields between two lines of ---")
    end = next(i for i, line in enumerate(lines) if i and line.strip() == "---")
    fields: dict[str, str] = {}
    for number, line in enumerate(lines[1:end], start=2):
        if not line.strip() or line.startswith("#"):
            continue
        match = FIELD.fullmatch(line.strip())
        if match is None or line.startswith((" ", "\t")):
            raise PromptError(f"{path}, line {number}: a field looks like `name: its value`")
        if match[1] in fields:
            raise PromptError(f"{path}, line {number}: {match[1]!r} stands there a second time")
        fields[match[1]] = _unquoted(match[2].strip())
    return fields, "\n".join(lines[end + 1 :]).strip()


def _unquoted(value: str) -> str:
    """The value without the quotes around the whole of it; those inside belong to it."""
    quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value
