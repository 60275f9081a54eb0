"""What an instructor reads and a learner's copy does not have: the cells tagged so. (start)"""

from __future__ import annotations

import json
from typing import Any

TAG = "instructor"


def tags_of(cell: dict[str, Any]) -> list[str]:
    """The tags of a cell of a notebook."""
    tags: list[str] = cell["metadata"].get("tags", [])
    return tags


def notes_of(notebook: dict[str, Any]) -> str:
    """The notes of one notebook as Markdown; empty where nobody has written any."""
    notes = ["".join(cell["source"]) for cell in notebook["cells"] if TAG in tags_of(cell)]
    return "\n\n".join(notes)


def without_notes(content: bytes) -> bytes:
    """A notebook's file as learners get it; any other file, and one without notes, as it is.

    Cells, outputs and the way in which Jupyter lays out the file stay, byte for byte.
    """
    try:
        notebook = json.loads(content)
        kept = [cell for cell in notebook["cells"] if TAG not in tags_of(cell)]
    except (ValueError, KeyError, TypeError, AttributeError):
        return content
    if len(kept) == len(notebook["cells"]):
        return content
    return encoded(notebook | {"cells": kept})


def encoded(notebook: dict[str, Any]) -> bytes:
    """A notebook as Jupyter writes it."""
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()
