"""Searching the files of a tree, and saying honestly what was not searched. (chapter 4.3)

Links are not followed, so that a search cannot go round in a circle; a file behind a link is
found in its own place. Folders whose name begins with a dot (`.git`) are searched only when asked
for by name.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from freya_teach.errors import ToolError
from freya_teach.tools.reading import HEAD_BYTES, binary_kind
from freya_teach.tools.relative_path import Parts, printable
from freya_teach.tools.searching import Finder, matching_lines
from freya_teach.tools.tree import Tree

MAX_ENTRIES = 100_000
"""Names of one folder that are looked at."""


@dataclass(slots=True)
class TreeSearch:
    """One search: what it looks for, how far it may go, and what it has found so far."""

    tree: Tree
    find: Finder
    max_matches: int
    max_file_bytes: int
    stop: Callable[[], bool]
    found: list[str] = field(default_factory=list)
    """`path:line: text`, in the order of the paths."""
    skipped: Counter[str] = field(default_factory=Counter)
    files: int = 0
    ended_early: str = ""

    def run(self, parts: Parts) -> None:
        """Search a file, or all files below a folder."""
        if self.tree.kind(parts) != "folder":
            self._search(parts)
            return
        for file in self._files(parts):
            if self.stop():
                self.ended_early = "the time was up"
            if self.ended_early:
                return
            try:
                self._search(file)
            except (ToolError, OSError):  # it has gone or changed since, or may not be read
                self.skipped["unreadable"] += 1

    def _files(self, parts: Parts) -> Iterator[Parts]:
        waiting = [parts]
        while waiting:
            place = waiting.pop()
            folders = []
            for entry in self.tree.entries(place, MAX_ENTRIES)[0]:
                inside = (*place, entry.name)
                if entry.kind == "file":
                    yield inside
                elif entry.kind != "folder":
                    self.skipped["links and devices"] += 1
                elif entry.name.startswith("."):
                    self.skipped["hidden folders"] += 1
                else:
                    folders.append(inside)
            waiting += reversed(folders)

    def _search(self, parts: Parts) -> None:
        with self.tree.open_file(parts) as file:
            if os.fstat(file.fileno()).st_size > self.max_file_bytes:
                self.skipped[f"over {self.max_file_bytes:,} bytes"] += 1
                return
            if binary_kind(file.read(HEAD_BYTES)):
                self.skipped["binary"] += 1
                return
            self.files += 1
            for number, text in matching_lines(file, self.find, self.stop):
                if len(self.found) == self.max_matches:
                    self.ended_early = (
                        f"{self.max_matches} lines are the most that one search shows"
                    )
                    return
                self.found.append(f"{printable('/'.join(parts))}:{number}: {text}")

    def report(self, asked: str) -> str:
        """What the model reads."""
        counts = f"lines found: {len(self.found)}, files searched: {self.files:,}"
        lines = [f"[{asked} ({counts})]"]
        lines += self.found
        if self.skipped:
            skipped = ", ".join(
                f"{what}: {count:,}" for what, count in sorted(self.skipped.items())
            )
            lines.append(f"[not searched ({skipped})]")
        if self.ended_early:
            lines.append(
                f"[ended early, because {self.ended_early}: use a rarer text or a smaller folder]"
            )
        elif not self.found:
            lines.append(
                "[nothing found; capitals count, and regex=true with (?i) in front ignores them]"
            )
        return "\n".join(lines)
