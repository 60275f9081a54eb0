"""One prompt file, read so that every way to go wrong has its own words. (chapter 3.3)"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from freya_teach.errors import PromptError

MAX_PROMPT_BYTES = 256 * 1024
"""A prompt that is larger is a mistake: it would fill the window of most models."""


def read_text(path: Path) -> str | None:
    """The file's text, without a byte order mark and with plain newlines; None when not there.

    Only "there is no such file" is None. Anything else raises `PromptError`: no permission, a
    folder in its place, a link that leads nowhere, bytes that are no UTF-8, too many of them.
    A name in other capitals is another file, also where the system takes it for the same.
    """
    try:
        data = _read(path)
        if path.name not in [entry.name for entry in path.parent.iterdir()]:
            return None
    except (FileNotFoundError, NotADirectoryError):
        _look_on_the_way(path)
        return None
    except OSError as problem:
        raise _unreadable(path, problem) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise PromptError(
            f"{path} is not UTF-8: byte {problem.start} is {data[problem.start]:#04x}. "
            "Save it with the encoding UTF-8"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def entries_in(folder: Path) -> dict[str, bool]:
    """What lies in a folder, by name → is it a folder? Hidden files are left out.

    Empty when there is no such folder. Raises `PromptError` when it cannot be read: a list that is
    short by mistake looks like any other.
    """
    try:
        with os.scandir(folder) as entries:
            found = {entry.name: entry.is_dir() for entry in entries}
    except (FileNotFoundError, NotADirectoryError):
        _look_on_the_way(folder / "any")
        return {}
    except OSError as problem:
        raise _unreadable(folder, problem) from None
    return {name: found[name] for name in sorted(found) if not name.startswith(".")}


def _look_on_the_way(path: Path) -> None:
    """A file may be missing. A dead link, or a file where a folder should be, is a mistake."""
    for place in (path, *path.parents):
        if place.is_symlink() and not place.exists():
            raise PromptError(f"{place} is a link to a place that is not there")
        if place != path and place.exists():
            if not place.is_dir():
                raise PromptError(f"{place} is a file, and a folder is needed there")
            return


def _unreadable(path: Path, problem: OSError) -> PromptError:
    return PromptError(f"{path} cannot be read: {problem.strerror or problem}")


def _read(path: Path) -> bytes:
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise PromptError(f"{path} is a folder, and a file is needed there")
    if not stat.S_ISREG(mode):
        raise PromptError(f"{path} is no regular file")
    with path.open("rb") as file:
        data = file.read(MAX_PROMPT_BYTES + 1)
    if len(data) > MAX_PROMPT_BYTES:
        raise PromptError(
            f"{path} is larger than {MAX_PROMPT_BYTES:,} bytes, the limit for one prompt"
        )
    return data
