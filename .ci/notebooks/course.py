"""What the rules must know beyond one notebook: all pages, the recordings, the exercises."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pages import Page

Problem = tuple[str, str]
"""The cell's id, or "notebook", and what is wrong and what to do."""
Problems = Iterator[Problem]

GATEWAY = "gateway"
"""The scenario that is no recording: rules answer."""


@dataclass(frozen=True)
class Course:
    """All notebooks, and the folder that holds `notebooks/` and `fixtures/`.

    `exercises` are the ids of the registry, or None while there is no registry.
    """

    root: Path
    pages: list[Page]
    exercises: set[str] | None = None

    def scenarios(self, section: str) -> set[str]:
        """The folders of recordings that a section has."""
        folder = self.root / "fixtures" / section
        return (
            {path.name for path in folder.iterdir() if path.is_dir()} if folder.is_dir() else set()
        )

    def opened(self, page: Page) -> set[str]:
        """The scenarios that a page's code opens.

        Where a name is worked out (a loop over names), every text in the code that names a
        scenario counts.
        """
        names = [name for cell in page.code for name in cell.first_arguments("http", "kernel")]
        opened = {name for name in names if name is not None}
        if None in names:
            values = [node.value for node in page.nodes if isinstance(node, ast.Constant)]
            opened |= self.scenarios(page.section).intersection(map(str, values))
        return opened - {GATEWAY}

    def used_elsewhere(self, page: Page) -> set[str]:
        """The scenarios of a page's section that other pages or the demo command play."""
        others = [other for other in self.pages if other.section == page.section]
        used = {name for other in others for name in self.opened(other)}
        return used | demo_scenarios(page.section)


@cache
def demo_scenarios(section: str) -> frozenset[str]:
    """What `freya-teach demo` plays."""
    demo = importlib.import_module("freya_teach.lab.demo")
    if section != demo.SECTION:
        return frozenset()
    ways = [(wire, stream) for wire in ("openai", "gemini") for stream in (False, True)]
    return frozenset(demo.scenario_name(wire, stream=stream) for wire, stream in ways)
