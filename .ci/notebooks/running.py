"""Run a notebook in its own kernel, and say what is different in its outputs."""

from __future__ import annotations

import contextlib
import difflib
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbstripout import strip_output
from pages import output_texts

CELL_SECONDS = 60
NOT_IN_GIT = ["cell.metadata.execution", "metadata.language_info.version", "metadata.widgets"]
"""As `make check` verifies it; the Makefile and .pre-commit-config.yaml name the same keys."""
WIDGET = "application/vnd.jupyter.widget-view+json"
"""A random id that needs a kernel to be seen; the picture beside it is what is stored."""
PICTURES = ("image/svg+xml", "text/html")


class CellFailed(Exception):
    """A cell ended with an error that is not meant, or not at all, or its kernel died."""

    def __init__(self, cell: str, reason: str) -> None:
        super().__init__(f"{cell}: {reason}")


def read(path: Path) -> Any:
    """Read a notebook as nbformat's nodes."""
    return nbformat.read(path, as_version=4)


@contextlib.contextmanager
def course_environment(**more: str) -> Iterator[dict[str, str]]:
    """Yield the variables for kernels: nobody's IPython profile, nobody's progress."""
    with tempfile.TemporaryDirectory() as folder:
        own = {"IPYTHONDIR": folder, "FREYA_PROGRESS_FILE": str(Path(folder) / "progress.json")}
        yield {**os.environ, **own, **more}


async def run(path: Path, environment: Mapping[str, str], folder: Path | None = None) -> Any:
    """Return the notebook as it is after a run, normalised; the file stays as it is.

    The kernel works in `folder`, which is the notebook's own unless given. Raises `CellFailed`.
    """
    notebook = read(path)
    last = ["the kernel"]

    def note(cell: Any, **_: object) -> None:
        last[0] = cell.id

    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        store_widget_state=False,
        resources={"metadata": {"path": str(folder or path.parent)}},
        on_cell_start=note,
        # Its only news is that it listens on this machine's TCP ports, for every kernel again.
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
    )
    try:
        await client.async_execute(env=dict(environment))
    except CellExecutionError as problem:
        raise CellFailed(last[0], f"{problem.ename}: {problem.evalue}") from problem
    except Exception as problem:  # a time-out, a dead kernel: whatever it is, it has a place
        raise CellFailed(last[0], f"{type(problem).__name__}: {problem}") from problem
    return normalised(notebook)


def normalised(notebook: Any) -> Any:
    """Take out what does not belong into git, as nbstripout does, and the ids of widgets."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "data" in output:
                output.data.pop(WIDGET, None)
    return strip_output(
        notebook, keep_output=True, keep_count=True, keep_id=True, extra_keys=NOT_IN_GIT
    )


def differences(stored: Any, now: Any) -> dict[str, list[str]]:
    """Cell id → what a reader sees change in its outputs; cells without a change are left out."""
    before = {cell.id: shown(cell) for cell in stored.cells if cell.cell_type == "code"}
    after = {cell.id: shown(cell) for cell in now.cells if cell.cell_type == "code"}
    changed = {
        name: compared(before.get(name, {}), after[name])
        for name in after
        if before.get(name) != after[name]
    }
    return {name: lines for name, lines in changed.items() if lines}


def shown(cell: Any) -> dict[str, str]:
    """Kind → all that a cell shows of it. The trace of an error names this machine's files."""
    texts: dict[str, str] = {}
    for output in cell.outputs:
        if output.output_type == "error":
            texts["error"] = f"{output.ename}: {output.evalue}"
            continue
        for kind, text in output_texts(output).items():
            if kind != WIDGET:
                texts[kind] = texts.get(kind, "") + text
    return texts


def compared(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """The lines that came and went; of a picture only that it is another one."""
    lines: list[str] = []
    for kind in dict.fromkeys([*before, *after]):
        old, new = before.get(kind, ""), after.get(kind, "")
        if old == new:
            continue
        if kind in PICTURES or kind.startswith("image/"):
            lines.append(f"{kind}: the picture changed")
        else:
            diff = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=2)
            lines += [kind, *list(diff)[2:]]
    return lines
