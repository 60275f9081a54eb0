"""A folder tree that can be read and written, and never left. (chapter 4.3)

A check of a path and the use of that path are two moments, and between them a folder may become
a link to somewhere else. So a tree is opened from its top down, one name after the other, and
no step follows a link. Where the system can open a name inside a folder that is open already
(Linux, macOS), `tree_by_handle.py` does just that; elsewhere (Windows) `tree_by_name.py` looks
before and after. Links may still be used for reading: `resolve` finds where they lead, before.

A hard link is no link in this sense: it is a second name of a file, and neither name is the real
one. Reading through it cannot be told from reading a file (package managers make thousands of
them), but whoever made it could read the file anyway. Writing never goes through one, because a
written file is always a new file that takes the place of the old name.
"""

from __future__ import annotations

import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, Protocol

from freya_teach.errors import ToolError
from freya_teach.tools.relative_path import Parts, brief

Kind = Literal["file", "folder", "link", "other"]

NAME_SURROGATE = 0x2000_0000
"""The bit in a Windows reparse tag that says: this entry stands for another one."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder; `size` in bytes, for files."""

    name: str
    kind: Kind
    size: int = 0


class Tree(Protocol):
    """What a workspace needs of a folder. No method follows a link.

    All raise `ToolError` for what is refused, and `OSError` for what the system says.
    """

    @property
    def root(self) -> Path:
        """The top folder, without links on the way to it."""
        ...

    def kind(self, parts: Parts) -> Kind:
        """What is there."""
        ...

    def open_file(self, parts: Parts) -> BinaryIO:
        """A regular file, open for reading."""
        ...

    def entries(self, parts: Parts, limit: int) -> tuple[list[Entry], int]:
        """The first `limit` entries of a folder by name, and how many there are."""
        ...

    def write(self, parts: Parts, data: bytes, *, overwrite: bool) -> None:
        """A file with these bytes, and the folders above it. All of it appears at once."""
        ...


def resolve(root: Path, parts: Parts) -> Parts:
    """The names on the way to where links lead. Raises `ToolError` when that is outside."""
    real = Path(os.path.realpath(root.joinpath(*parts)))
    if not real.is_relative_to(root):
        raise ToolError(
            f"{shown(parts)} is refused, because a link on the way leads out of the folder. "
            "list_dir shows which names are links."
        )
    return real.relative_to(root).parts


def shown(parts: Parts) -> str:
    """The path in quotes."""
    return brief("/".join(parts) or ".")


def kind_of(status: os.stat_result) -> Kind:
    """What the system says about a name, in one word; a Windows junction is a link as well."""
    if stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", 0) & NAME_SURROGATE:
        return "link"
    if stat.S_ISDIR(status.st_mode):
        return "folder"
    return "file" if stat.S_ISREG(status.st_mode) else "other"


def must_be_file(status: os.stat_result, parts: Parts) -> None:
    """Raise `ToolError` for all but a regular file: a device may block, or act when opened."""
    match kind_of(status):
        case "folder":
            raise ToolError(f"{shown(parts)} is a folder. list_dir shows what is in it.")
        case "link":
            raise ToolError(
                f"{shown(parts)} is refused, because it is a link, or became one just now. "
                "Use the path of the file that it stands for."
            )
        case "other":
            raise ToolError(
                f"{shown(parts)} is a device, a pipe or a socket. Only regular files are opened."
            )


def must_be_free(old: os.stat_result | None, parts: Parts, *, overwrite: bool) -> None:
    """Raise `ToolError` when a file may not be written under this name."""
    if old is None:
        return
    must_be_file(old, parts)
    if not overwrite:
        raise ToolError(
            f"{shown(parts)} exists already ({old.st_size:,} bytes), and nothing was written. "
            "Read it first; then call again with overwrite=true to replace it, or use a new name."
        )


def temporary_name() -> str:
    """A name that nobody else uses, for a file that is not finished."""
    return f".unfinished-{secrets.token_hex(8)}"
