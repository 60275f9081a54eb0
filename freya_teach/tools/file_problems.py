"""What the system says about a file, in words that help a model on. (chapter 4.4)

The system's own text holds the whole path of the machine, and "Errno 2" is no next step.
"""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterator
from contextlib import contextmanager

from freya_teach.errors import ToolError
from freya_teach.tools.relative_path import brief, parts_of
from freya_teach.tools.tree import Tree, resolve

LINK_IN_THE_WAY = {errno.ELOOP, errno.EMLINK}
"""What systems say to an opening without following links; EMLINK is FreeBSD's word."""


@contextmanager
def told(path: str, tree: Tree | None = None) -> Iterator[None]:
    """Make a `ToolError` of an `OSError` about this path; the tree knows similar names."""
    try:
        yield
    except FileNotFoundError:
        near = _nearby(path, tree) if tree else ""
        raise ToolError(
            f"There is nothing at {brief(path)}.{near} list_dir shows what is there."
        ) from None
    except FileExistsError:
        raise ToolError(f"{brief(path)} was made by somebody just now. Read it first.") from None
    except OSError as problem:
        if isinstance(problem, NotADirectoryError) or problem.errno in LINK_IN_THE_WAY:
            raise ToolError(
                f"{brief(path)}: a name on the way is not a folder, or is a link, and links are "
                "not followed here. list_dir shows which."
            ) from None
        why = problem.strerror or type(problem).__name__
        raise ToolError(f"{brief(path)} cannot be used: {why}. Try another path.") from None


def _nearby(path: str, tree: Tree) -> str:
    """A name in the same folder that looks like the one asked for."""
    if not (parts := parts_of(path)):
        return ""
    *folders, name = parts
    try:
        entries, _ = tree.entries(resolve(tree.root, tuple(folders)), 1_000)
    except (OSError, ToolError):
        return ""
    close = difflib.get_close_matches(name, [entry.name for entry in entries], n=1)
    return f" Did you mean {brief('/'.join([*folders, *close]))}?" if close else ""
