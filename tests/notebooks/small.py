"""A small notebook that breaks no rule, and a course around it."""

import json
from pathlib import Path
from typing import Any

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

EXERCISES = {"2.2-a", "2.2-b"}
SETUP = 'from freya_teach.lab import lesson\n\nlab = lesson("2.2")'
ABOUT = {
    "id": "2.2",
    "minutes": {"teaching": 30, "exercises": 10},
    "needs": [],
    "objectives": ["r1", "r2", "r3"],
    "recordings": ["weather"],
}
OBJECTIVES = """**After this lesson you can**

1. *trace* a packet from the agent
   to the model (`r1`),
2. *predict* the next one (`r2`),
3. *explain* and *repair* a stop (`r3`)."""
KEY_POINTS = """**Key points**

- `r1` A packet is one JSON document.
- `r2` The next one holds the last.
- `r3` A stop has a reason."""


def printed(text: str) -> list[Any]:
    """Return the outputs of a cell that printed a text."""
    return [new_output("stream", name="stdout", text=text)]


def text(name: str, source: str, *tags: str) -> Any:
    """Return a markdown cell."""
    return new_markdown_cell(source, id=name, metadata={"tags": [*tags]} if tags else {})


def code(name: str, source: str, *tags: str, shows: str = "") -> Any:
    """Return a code cell, run."""
    metadata = {"tags": [*tags]} if tags else {}
    return new_code_cell(
        source, id=name, metadata=metadata, outputs=printed(shows) if shows else []
    )


def small_notebook() -> Any:
    """Return a lesson of two exercises and one packet."""
    cells = [
        text("title", "# 2.2 · ReAct\n\n*Think, act, look.*", "title"),
        text("questions", "**Questions**\n\n- Who acts?", "questions"),
        text("objectives", OBJECTIVES, "objectives"),
        code("setup", SETUP, "setup", shows="Lesson 2.2: replayed answers\n"),
        text("predict", "## Before you run\n\nWhat will the packet hold?", "predict"),
        code("send", 'http = lab.http("weather")\nreply = await http.post("https://a.example")'),
        text("saw", "**What you saw**: [the start](#before-you-run) and `code`."),
        code("task-a", 'await lab.check("2.2-a", print)', "exercise", shows="not done yet\n"),
        code("task-b", 'await lab.check("2.2-b", print)', "exercise", shows="not done yet\n"),
        text("keypoints", KEY_POINTS, "keypoints"),
        text("next", "**Next**: [itself](2.2_react.ipynb)", "next"),
        code("close", "lab.close()", shows="Lesson 2.2 is closed; every exchange was used.\n"),
    ]
    metadata = {"freya": json.loads(json.dumps(ABOUT)), "kernelspec": kernelspec()}
    notebook = new_notebook(cells=cells, metadata=metadata)
    notebook.nbformat_minor = 5
    return counted(notebook)


def kernelspec() -> dict[str, str]:
    """Return what JupyterLab writes."""
    return {"name": "python3", "display_name": "Python 3", "language": "python"}


def counted(notebook: Any) -> Any:
    """Number the code cells as one run from top to bottom does."""
    run = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in enumerate(run, start=1):
        cell.execution_count = number
    return notebook


def cell_of(notebook: Any, name: str) -> Any:
    """Return the cell with this id."""
    return next(cell for cell in notebook.cells if cell.id == name)


def write_course(root: Path, notebook: Any, name: str = "part1/2.2_react.ipynb") -> Path:
    """Write a notebook and the recording that it plays; return the notebook's path."""
    recording = root / "fixtures" / "2.2" / "weather" / "01.json"
    recording.parent.mkdir(parents=True, exist_ok=True)
    recording.write_text('{"id": "0f0f0f0f-1111-2222-3333-444455556666"}', encoding="utf-8")
    path = root / "notebooks" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")  # nbformat would repair it
    return path
