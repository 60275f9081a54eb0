"""Copies for live coding: the words stay, the code is typed in front of the room. (start)"""

from __future__ import annotations

from typing import Any

from freya_teach.lab.workshop.notes import TAG, tags_of

KEPT = {"setup", "exercise", "predict"}
"""The cell that every lesson begins with, the stubs and checks, and room for a prediction."""
LAST = "lab.close()"


def for_live_coding(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook without outputs and without the code of its segments.

    An emptied cell names itself in a comment, so that it can be found in the whole notebook.
    """
    cells = [_emptied(cell) for cell in notebook["cells"] if TAG not in tags_of(cell)]
    return notebook | {"cells": cells}


def _emptied(cell: dict[str, Any]) -> dict[str, Any]:
    if cell["cell_type"] != "code":
        return cell
    source = cell["source"]
    if not KEPT & set(tags_of(cell)) and "".join(source) != LAST:
        source = [f"# {cell['id']}\n"]
    return cell | {"source": source, "outputs": [], "execution_count": None}
