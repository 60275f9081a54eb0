"""A stored notebook becomes a page: the same cells and outputs, with what a page needs beside them.

Nothing is run. What is added: an anchor for each cell (its id, so that a link survives when cells
are inserted), the minutes, a link to the notebook itself and the way to run it in the browser under
the title, and for an error that is on purpose a frame that says so in words.
"""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import Any

from order import section_of

Json = dict[str, Any]
DOWNLOADS = "notebooks"
"""The folder of the site that holds the notebooks as they are."""
ANSI_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
WIDGET = "application/vnd.jupyter.widget-view+json"


def as_page(path: Path, place: Path, in_browser: str = "") -> str:
    """The text of a notebook for Sphinx; `place` is its path inside the course.

    `in_browser` is what its page says about running it in the browser, as HTML.
    """
    notebook = json.loads(path.read_text(encoding="utf-8"))
    section = section_of(path)
    cells: list[Json] = []
    for cell in notebook["cells"]:
        tags = cell["metadata"].get("tags", [])
        if cell["cell_type"] == "markdown":
            extra = about(notebook, place, in_browser) if "title" in tags else ""
            cells.append(prose(cell, section, extra))
        else:
            cells += [anchor(cell["id"], section), code(cell)]
    return json.dumps({**notebook, "cells": cells}, ensure_ascii=False)


def titles(path: Path) -> str:
    """A page with the headings and anchors of a notebook and nothing else, so that links hold."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    section = section_of(path)
    cells = [
        anchor(cell["id"], section, HEADING.findall("".join(cell["source"]))[:1])
        if cell["cell_type"] == "markdown"
        else anchor(cell["id"], section)
        for cell in notebook["cells"]
    ]
    return json.dumps({**notebook, "cells": [*cells, anchor("end", section, ["The end."])]})


def target(section: str, cell_id: str) -> str:
    """The name by which a page refers to a cell of another one."""
    return f"{section}-{cell_id}".lower()


def prose(cell: Json, section: str, extra: str) -> Json:
    """A cell of text, with its anchor; `extra` goes under the text."""
    source = "".join(cell["source"])
    return {**cell, "source": f"({target(section, cell['id'])})=\n{source}\n{extra}"}


def anchor(cell_id: str, section: str, text: list[str] | None = None) -> Json:
    """An anchor of its own for the cell of code that follows, or for a line of text."""
    source = "\n".join([f"({target(section, cell_id)})=", *(text or [])])
    return {"cell_type": "markdown", "id": f"at-{cell_id}", "metadata": {}, "source": source}


def code(cell: Json) -> Json:
    """A cell of code, with outputs that a page without Python can show."""
    outputs = []
    for output in cell["outputs"]:
        if output["output_type"] == "error":
            outputs.append(on_purpose(output))
        else:
            data = {k: text for k, text in output.get("data", {}).items() if k != WIDGET}
            outputs.append({**output, **({"data": data} if "data" in output else {})})
    return {**cell, "outputs": outputs}


def on_purpose(error: Json) -> Json:
    """An error as a frame that is read aloud as what it is, without colours of a terminal."""
    name = escape(error["ename"])
    told = ANSI_COLOUR.sub("", "\n".join(error["traceback"]) or f"{name}: {error['evalue']}")
    html = (
        f'<div class="on-purpose" role="group" aria-label="An error, on purpose: {name}">'
        f"<p><strong>An error, on purpose:</strong> {name}</p><pre>{escape(told)}</pre></div>"
    )
    return {"output_type": "display_data", "metadata": {}, "data": {"text/html": html}}


def about(notebook: Json, place: Path, in_browser: str) -> str:
    """Under the title: how long it takes, and the ways to run it oneself."""
    minutes = notebook["metadata"].get("freya", {}).get("minutes", {})
    teaching, exercises = minutes.get("teaching", 0), minutes.get("exercises", 0)
    address = f"{top_from(place)}{DOWNLOADS}/{place.as_posix()}"
    parts = [
        f"<span>{teaching} minutes to read, {exercises} for the exercises</span>",
        f'<a class="download" href="{address}" download>Download this notebook</a>',
        in_browser,
    ]
    return f'\n<p class="about-page">{" ".join(filter(None, parts))}</p>\n'


def top_from(place: Path) -> str:
    """The way from a notebook's page to the first folder of the site: `../`, or nothing."""
    return "../" * (len(place.parts) - 1)
