"""A workspace, and beside it files that nobody may reach, with a marker in each."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from freya_teach.errors import ToolError
from freya_teach.tools.tree import Tree
from freya_teach.tools.tree_by_handle import HERE, TreeByHandle
from freya_teach.tools.tree_by_name import TreeByName
from freya_teach.tools.workspace import Workspace

MARKER = "MARKER-of-the-outside"

TRAPS = () if os.name == "nt" else ("~", "C:", "%2e%2e", "．．", "CON")
"""Names beside the root that a path could mean by mistake; Windows cannot have some of them."""

posix_only = pytest.mark.skipif(
    os.name == "nt", reason="Windows has no such files, and locks those that are open"
)

MakeTree = Callable[[Path], Tree]

BOTH_TREES = pytest.mark.parametrize(
    "make_tree",
    [
        pytest.param(
            TreeByHandle, marks=pytest.mark.skipif(not HERE, reason="this system has no openat")
        ),
        TreeByName,
    ],
    ids=["by handle", "by name"],
)


class Place:
    """A folder with `root`, the workspace, and the outside around it."""

    def __init__(self, top: Path, make_tree: MakeTree) -> None:
        self.top = top
        self.root = top / "root"
        self.outside = top / "outside"
        self.make_tree = make_tree
        for folder in (self.outside / "sub", top / "root-2", self.root / "sub"):
            folder.mkdir(parents=True)
        for path in ("secret.txt", "sub/secret.txt", "sub/only-outside.txt"):
            (self.outside / path).write_text(f"{MARKER}\n", encoding="utf-8")
        for path in ("secret.txt", "root-2/secret.txt", *TRAPS):
            (top / path).write_text(f"{MARKER}\n", encoding="utf-8")
        (self.root / "notes.txt").write_text("one\ntwo\nthree\n", encoding="utf-8")
        (self.root / "sub" / "inner.txt").write_text("inner\n", encoding="utf-8")
        self.workspace = Workspace(self.root, make_tree=make_tree)

    def leaks(self) -> list[str]:
        """Return the plain files in the root that hold what is outside."""
        plain = (path for path in self.root.rglob("*") if stat.S_ISREG(path.lstat().st_mode))
        return [path.name for path in plain if MARKER in path.read_text(encoding="utf-8")]

    def around(self) -> dict[str, str]:
        """Every file and folder outside the root, with a hash of what is in it."""
        found = {}
        for path in self.top.rglob("*"):
            if not path.is_relative_to(self.root):
                data = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
                found[str(path.relative_to(self.top))] = hashlib.sha256(data).hexdigest()
        return found


def names(folder: Path) -> list[str]:
    """Return what is in a folder, in order."""
    return sorted(path.name for path in folder.iterdir())


def every_way_in(workspace: Workspace, path: str) -> list[str]:
    """Try to read, list, search and write with this path; return all that was said."""
    said = []
    for attempt in (
        lambda: workspace.read(path),
        lambda: workspace.read(path, encoding="latin-1"),
        lambda: workspace.list(path),
        lambda: workspace.search("MARKER", path),
        lambda: workspace.search("M.*R", path, regex=True),
        lambda: workspace.write(path, "broken in"),
        lambda: workspace.write(path, "broken in", overwrite=True),
    ):
        try:
            said.append(f"DONE {attempt()}")
        except ToolError as refusal:
            said.append(f"REFUSED {refusal}")
    return said
