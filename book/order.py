"""The order of the course: which notebooks there are, and which comes first.

Nothing is listed here by name: `start_here`, then the parts by the number in their folder's name
and the sections by theirs (9.1 before 10.1), then the labs. A new notebook needs no edit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

START = "start_here"
LABS = "labs"
SPELLED = {"react": "ReAct", "tools": "Tools", "memory": "Memory", "streaming": "Streaming"}
"""The word of a part's folder as a title writes it, where a capital letter is not enough."""


@dataclass(frozen=True)
class Group:
    """One part of the course: a title for the table of contents, and its notebooks in order."""

    title: str
    notebooks: tuple[Path, ...]


def groups(notebooks: Path) -> list[Group]:
    """List the parts under a folder of notebooks, in the order in which they are read."""
    found: dict[str, list[Path]] = {}
    for path in sorted(notebooks.rglob("*.ipynb"), key=lambda path: position(path, notebooks)):
        if ".ipynb_checkpoints" not in path.parts:
            folder = path.relative_to(notebooks).parent.as_posix()
            found.setdefault(folder, []).append(path)
    return [Group(title_of(folder), tuple(paths)) for folder, paths in found.items()]


def position(path: Path, notebooks: Path) -> tuple[bool, list[int], str]:
    """Where a notebook comes: labs last, then by the numbers of part and section, then by name."""
    place = path.relative_to(notebooks).with_suffix("").as_posix()
    if place == START:
        return False, [], ""
    numbers = [int(number) for number in re.findall(r"\d+", place)]
    return place.startswith(f"{LABS}/"), [1, *numbers], place


def title_of(folder: str) -> str:
    """`part2_tools` → `Part 2 · Tools`."""
    if folder == ".":
        return "Begin"
    number, _, word = folder.removeprefix("part").partition("_")
    if not number.isdecimal():
        return folder.replace("_", " ").capitalize()
    return f"Part {number} · {SPELLED.get(word, word.replace('_', ' ').capitalize())}"


def section_of(path: Path) -> str:
    """`4.2_tool_call_raw_packet.ipynb` → `4.2`; a notebook without a number keeps its name."""
    number = path.stem.partition("_")[0]
    return number if re.fullmatch(r"\d+\.\d+", number) else path.stem
