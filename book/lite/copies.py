"""The notebooks as the browser edition holds them: the same cells, and Pyodide's kernel.

A lesson that cannot run in a page is there all the same, with the outputs that it had elsewhere.
Its first lines say so, and where else it can be read and run.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from left_out import LEFT_OUT

Json = dict[str, Any]

KERNEL = {"display_name": "Python (Pyodide)", "language": "python", "name": "python"}


def lay_out_notebooks(notebooks: Path, target: Path, book: str = "") -> None:
    """Copy all notebooks into a folder; `book` is the address of the published book, if known."""
    for path in sorted(notebooks.rglob("*.ipynb")):
        name = path.relative_to(notebooks)
        if ".ipynb_checkpoints" in path.parts:
            continue
        notebook = json.loads(path.read_text(encoding="utf-8"))
        notebook["metadata"]["kernelspec"] = KERNEL
        notebook["cells"] = [cell for cell in notebook["cells"] if not for_instructor(cell)]
        if reason := LEFT_OUT.get(name.as_posix()):
            notebook["cells"].insert(0, notice(reason, name, book))
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(json.dumps(notebook, indent=1, ensure_ascii=False), encoding="utf-8")


def for_instructor(cell: Json) -> bool:
    """Say whether a cell is an instructor's note, which learners do not get."""
    return "instructor" in cell["metadata"].get("tags", [])


def notice(reason: str, name: Path, book: str) -> Json:
    """The cell above a lesson that cannot run here. Without an address it names the page only."""
    page = "its page in the book"
    if book:
        page = f"[{page}]({book.rstrip('/')}/{name.with_suffix('.html').as_posix()})"
    text = (
        f"**This lesson does not run in the browser edition:** {reason}.\n\n"
        f"Below it stands as it ran elsewhere, with its outputs. Read it here or on {page}; "
        "to run it, install the course: `freya-teach lab` opens it on your own machine."
    )
    return {"cell_type": "markdown", "id": "browser-edition", "metadata": {}, "source": text}
