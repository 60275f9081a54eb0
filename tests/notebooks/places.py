"""Places to run a notebook in: a folder and a home in which nothing has happened yet."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import running

OURS = ("FREYA_", "JUPYTER", "IPYTHON", "XDG_", "PYTHONPATH", "OPENAI_", "GEMINI_", "GOOGLE_")
"""Variables that say something about the author's machine, and would be a learner's luck."""


@dataclass(frozen=True)
class Place:
    """A learner's machine as far as a notebook sees it."""

    folder: Path
    home: Path

    @classmethod
    def new(cls, root: Path) -> "Place":
        """Make an empty folder and an empty home."""
        place = cls(root / "course", root / "home")
        place.folder.mkdir(parents=True)
        place.home.mkdir()
        return place

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a process there. CI makes a recording that is not asked for an error."""
        kept = {name: text for name, text in os.environ.items() if not name.startswith(OURS)}
        home = str(self.home)
        return {**kept, "HOME": home, "USERPROFILE": home, "APPDATA": home, "CI": "true"}

    async def run(self, path: Path) -> dict[str, list[str]]:
        """Run a copy of a notebook here; return what differs from its stored outputs."""
        copy = self.folder / path.name
        shutil.copy(path, copy)
        return running.differences(running.read(path), await running.run(copy, self.environment))

    @property
    def litter(self) -> list[str]:
        """What lies beside the notebooks, and what is to be seen in the home."""
        beside = [path for path in self.folder.rglob("*") if path.suffix != ".ipynb"]
        seen = [path for path in self.home.iterdir() if not path.name.startswith(".")]
        return sorted(str(path.relative_to(self.folder.parent)) for path in (*beside, *seen))


def twice(path: Path) -> Any:
    """Return a notebook with all cells, and then all cells again under ids of their own."""
    notebook = running.read(path)
    again = running.read(path).cells
    for cell in again:
        cell.id = f"{cell.id}-again"
    notebook.cells += again
    return notebook
