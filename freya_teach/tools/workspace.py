"""The folders that a session's tools may read and the one they may write. (chapter 4.3)

Every path passes three gates: the text of it (`relative_path.py`), where its links lead
(`tree.resolve`), and the opening, which follows no link at all (`tree_by_handle.py`). Whatever is
refused, missing or too large is a `ToolError` whose text tells the model what to do next, and
which never names the machine's own folders. The workspace knows no tool, no session, no model.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from freya_teach.errors import ConfigError, ToolError
from freya_teach.tools import saved_names, tree_by_handle
from freya_teach.tools.file_problems import told
from freya_teach.tools.lines import Encoding, never
from freya_teach.tools.reading import Asked, as_told, must_be_text, read_part
from freya_teach.tools.relative_path import Parts, brief, parts_of, printable
from freya_teach.tools.searching import finder
from freya_teach.tools.tree import Entry, Tree, resolve
from freya_teach.tools.tree_by_handle import TreeByHandle
from freya_teach.tools.tree_by_name import TreeByName
from freya_teach.tools.tree_search import TreeSearch

Scope = Literal["workspace", "src", "doc"]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one call may read, show or write."""

    read_chars: int = 16_000
    """Characters of a file in one answer: fewer than an observation may have."""
    line_chars: int = 2_000
    """Characters of one line that are shown."""
    count_bytes: int = 1_000_000_000
    """A larger file is not read to its end only to count its lines."""
    entries: int = 200
    """Names of a folder in one answer."""
    matches: int = 50
    """Lines that one search finds."""
    search_file_bytes: int = 64_000_000
    """A larger file is not searched."""
    write_bytes: int = 1_000_000
    """Bytes that one call may write."""
    download_bytes: int = 50_000_000
    """Bytes of one saved download."""


class Workspace:
    """One folder to work in, and two optional ones to read; each is made of plain files.

    `root` is created when it is not there. Raises `ConfigError` for a folder that cannot be used.
    """

    def __init__(
        self,
        root: Path,
        *,
        src: Path | None = None,
        doc: Path | None = None,
        limits: Limits | None = None,
        make_tree: Callable[[Path], Tree] | None = None,
    ) -> None:
        self.limits = limits or Limits()
        make = make_tree or (TreeByHandle if tree_by_handle.HERE else TreeByName)
        self._tree = make(_usable(root, create=True))
        self._trees: Mapping[str, Tree] = {
            "workspace": self._tree,
            **{
                scope: make(_usable(folder))
                for scope, folder in (("src", src), ("doc", doc))
                if folder
            },
        }

    @property
    def scopes(self) -> tuple[str, ...]:
        """The names of the folders that there are."""
        return tuple(self._trees)

    def read(  # noqa: PLR0913 - what a reading can choose
        self,
        path: str,
        scope: str = "workspace",
        *,
        start_line: int = 1,
        end_line: int | None = None,
        encoding: Encoding = "utf-8",
        stop: Callable[[], bool] = never,
    ) -> str:
        """Lines of a text file, under a line that says which; `stop` can end a long reading."""
        if start_line < 1 or (end_line is not None and end_line < start_line):
            raise ToolError("Lines count from 1, and end_line is not before start_line.")
        limits = self.limits
        asked = Asked(start_line, end_line, encoding, limits.read_chars, limits.line_chars)
        with self._found(path, scope) as (tree, parts), tree.open_file(parts) as file:
            size, shown = os.fstat(file.fileno()).st_size, _named(path, scope)
            must_be_text(file, shown, size, encoding)
            part = read_part(file, asked, count_all=size <= limits.count_bytes, stop=stop)
        return as_told(part, asked, shown, size)

    def list(self, path: str = ".", scope: str = "workspace") -> str:
        """What is in a folder: names in order, folders with a / and files with their size."""
        with self._found(path, scope) as (tree, parts):
            entries, total = tree.entries(parts, self.limits.entries)
        lines = [f"[{_named(path, scope)} (entries: {total:,})]", *map(_entry_line, entries)]
        if total > self.limits.entries:
            lines.append(f"… and {total - self.limits.entries:,} more: search_text looks in all.")
        return "\n".join(lines)

    def search(
        self,
        query: str,
        path: str = ".",
        scope: str = "workspace",
        *,
        regex: bool = False,
        stop: Callable[[], bool] = never,
    ) -> str:
        """Find lines, each as `path:line: text`; `stop` ends the search with what it has found."""
        find, limits = finder(query, regex=regex), self.limits
        with self._found(path, scope) as (tree, parts):
            search = TreeSearch(tree, find, limits.matches, limits.search_file_bytes, stop)
            search.run(parts)
        return search.report(f"{brief(query)} in {_named(path, scope)}")

    def write(self, path: str, text: str, *, overwrite: bool = False) -> str:
        """Write a text file as UTF-8, all of it or nothing, and say what was written."""
        parts = parts_of(path)
        data = _as_bytes(text, self.limits.write_bytes)
        if not parts:
            raise ToolError("'.' is the folder itself. Give the path of a file to write.")
        with told(path):
            self._tree.write(parts, data, overwrite=overwrite)
        lines = text.count("\n") + (text[-1:] not in ("", "\n"))
        return f"Wrote {brief(path)} (lines: {lines:,}, bytes: {len(data):,})."

    def save_download(self, data: bytes, hint: str = "") -> str:
        """Keep bytes under a name made from them, and return its path: `download/<hash>.html`.

        The hint is a media type or an ending. The same bytes have the same path, every time.
        """
        most = self.limits.download_bytes
        if len(data) > most:
            raise ToolError(
                f"The result has {len(data):,} bytes and was not saved: {most:,} is the most. "
                "Ask for a part of it."
            )
        parts = (saved_names.FOLDER, saved_names.download_name(data, hint))
        with told("/".join(parts)):
            self._tree.write(parts, data, overwrite=True)
        return "/".join(parts)

    @contextmanager
    def _found(self, path: str, scope: str) -> Iterator[tuple[Tree, Parts]]:
        """The tree, and where in it the path leads; what the system says becomes a `ToolError`."""
        if scope not in self._trees:
            raise ToolError(f"There is no scope {brief(scope)}. Scopes: {', '.join(self._trees)}.")
        tree = self._trees[scope]
        with told(path, tree):
            yield tree, resolve(tree.root, parts_of(path))


def _usable(folder: Path, *, create: bool = False) -> Path:
    try:
        if create:
            folder.mkdir(parents=True, exist_ok=True)
        next(folder.iterdir(), None)  # it is a folder, and may be read
        return Path(os.path.realpath(folder, strict=True))
    except (OSError, ValueError) as problem:
        raise ConfigError(f"the folder {folder} cannot be used: {problem}") from None


def _named(path: str, scope: str) -> str:
    """The path as an answer names it."""
    return path if scope == "workspace" else f"{path} in {scope}"


def _entry_line(entry: Entry) -> str:
    name = printable(entry.name)
    match entry.kind:
        case "folder":
            return f"{name}/"
        case "file":
            return f"{name}  {entry.size:,} B"
        case "link":
            return f"{name}  (a link)"
        case "other":
            return f"{name}  (a device, pipe or socket)"


def _as_bytes(text: str, limit: int) -> bytes:
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as problem:
        raise ToolError(
            f"The text has half a character at position {problem.start:,}, and nothing was "
            "written. Write the character itself instead of an escape."
        ) from None
    if len(data) > limit:
        raise ToolError(
            f"The text has {len(data):,} bytes, and {limit:,} is the most for one file. "
            "Nothing was written. Write it in several files."
        )
    return data
