"""The tools with which a model reads and writes the files of its workspace. (chapter 4.3)

Each is a plain function: its docstring is what the model is told, and `context` is filled in by
the runner. What they do is in `workspace.py`; what they may not do is there too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from freya_teach.errors import ToolError
from freya_teach.tools.lines import Encoding
from freya_teach.tools.tool import Tool, ToolContext, tool
from freya_teach.tools.workspace import Scope, Workspace

SECONDS = 10.0
"""How long one call reads or searches before it gives back what it has, or gives up."""

LineNumber = Annotated[int, Field(ge=1)]


def file_tools() -> tuple[Tool, ...]:
    """`read_file`, `list_dir`, `search_text` and `write_file`, for `context.workspace`."""
    return tool(read_file), tool(list_dir), tool(search_text), tool(write_file)


def read_file(  # noqa: D417, PLR0913 - for the model, and these are its choices
    path: str,
    scope: Scope = "workspace",
    start_line: LineNumber = 1,
    end_line: LineNumber | None = None,
    encoding: Encoding = "utf-8",
    *,
    context: ToolContext,
) -> str:
    """Read lines of a text file.

    The answer begins with a line that says which lines follow, of how many, and how to go on.
    The lines themselves have no numbers in front.

    Args:
        path: A path inside the folder, with / between the names: "notes/today.txt". Never absolute
            ("/home/somebody/today.txt") and never with "..". list_dir shows which files there are.
        scope: The folder that the path counts from. Without it: the workspace. "src" and "doc"
            are for reading only, and not every session has them.
        start_line: The first line to read, counted from 1. Without it: from the beginning.
        end_line: The last line to read. Without it: as many lines as fit into one answer.
        encoding: How the file's bytes become text. Change it only when an answer asks for it.
            "utf-8-replace" shows � for each byte that is no UTF-8.
    """
    return _workspace(context).read(
        path,
        scope,
        start_line=start_line,
        end_line=end_line,
        encoding=encoding,
        stop=_stop(context),
    )


def list_dir(path: str = ".", scope: Scope = "workspace", *, context: ToolContext) -> str:  # noqa: D417 - for the model
    """List what is in a folder: subfolders end with /, files have their size. Hidden ones too.

    Args:
        path: A folder inside the scope, for example "notes"; not "/notes", not "..". Without it,
            or as ".": the top folder.
        scope: The folder that the path counts from. Without it: the workspace. "src" and "doc"
            are for reading only, and not every session has them.
    """
    return _workspace(context).list(path, scope)


def search_text(  # noqa: D417 - for the model
    query: str,
    path: str = ".",
    scope: Scope = "workspace",
    regex: bool = False,  # noqa: FBT001, FBT002 - the model names its arguments
    *,
    context: ToolContext,
) -> str:
    """Find the lines that hold a text, as "path:line: text".

    read_file with that line as start_line shows what stands around it. Binary files, very large
    files and hidden folders are skipped; of very long lines only the beginning is searched.

    Args:
        query: The text that a line must hold, on one line, capitals as they are: "def main".
            Not empty.
        path: The file to search, or the folder with all below it. Without it: everything.
        scope: The folder that the path counts from. Without it: the workspace. "src" and "doc"
            are for reading only, and not every session has them.
        regex: true when the query is a regular expression, for example "(?i)todo|fixme". It has
            no look-around and no back references. Without it: false, and "a.c" finds only "a.c".
    """
    return _workspace(context).search(query, path, scope, regex=regex, stop=_stop(context))


def write_file(  # noqa: D417 - for the model
    path: str,
    text: str,
    overwrite: bool = False,  # noqa: FBT001, FBT002 - the model names its arguments
    *,
    context: ToolContext,
) -> str:
    """Write a text file in the workspace, as UTF-8. Folders on the way are made.

    Args:
        path: The file's path inside the workspace: "notes/today.txt", not "/etc/today.txt".
        text: The whole new content. "" makes an empty file.
        overwrite: true to replace a file that exists; read it first. Without it, an existing file
            is left as it is and the call fails.
    """
    return _workspace(context).write(path, text, overwrite=overwrite)


def _workspace(context: ToolContext) -> Workspace:
    if context.workspace is None:
        raise ToolError("This session has no workspace, so there are no files. Go on without.")
    return context.workspace


def _stop(context: ToolContext) -> Callable[[], bool]:
    """Whether the call was cancelled, or its time is up."""
    clock = context.ambient.monotonic
    end = clock() + SECONDS
    return lambda: context.cancel.cancelled or clock() >= end
