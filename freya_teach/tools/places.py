"""The text of an exception without stack traces, memory addresses and paths. (chapter 4.4)

A path tells the model, and the provider, who runs this and where. Inside the workspace it becomes
the relative one, which the model can use; of any other, the last name stays. An address such as
`https://example.org/srv/app.py` and a route such as `/v1/users` are no paths of this machine.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

TRACE = "Traceback (most recent call last)"
STACK_FRAME = re.compile(r'File "[^"\n]*?([^"/\\\n]+)", (line \d+)(?:, in \S+)?')
OTHER_FRAMES = re.compile(r"\n\s+at [^\n]+")
"""The stack of a program in JavaScript or Java."""
MEMORY = re.compile(r" at 0x[0-9a-fA-F]{4,}")

TOP_FOLDERS = (
    *("bin", "boot", "dev", "etc", "home", "lib", "lib64", "media", "mnt", "nix", "opt", "proc"),
    *("root", "run", "sbin", "snap", "srv", "sys", "tmp", "usr", "var"),
    *("Applications", "Library", "Users", "Volumes", "private"),
)


def without_places(text: str, root: Path | None = None) -> str:
    r"""The text as a model may read it; `root` is the workspace's folder.

    >>> without_places("no access to '/home/somebody/.ssh/id_rsa', see https://example.org/tmp/x")
    "no access to 'id_rsa', see https://example.org/tmp/x"
    """
    text = STACK_FRAME.sub(r"\1, \2", _without_traces(text))
    text = MEMORY.sub("", OTHER_FRAMES.sub("", text))
    if root is not None:
        for folder in {str(root), str(root.resolve())} - {"/", "."}:
            text = re.sub(rf"{re.escape(folder)}(?:/|\\{{1,2}}|(?![\w.-]))", "", text)
    return _paths(_top_folders()).sub(_last_name, text)


def _without_traces(text: str) -> str:
    """What was said before a trace; of a text that is one, its last line."""
    before, trace, after = text.partition(TRACE)
    if before.strip() or not trace:
        return before
    lines = [line for line in after.replace(TRACE, "").splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""


def _top_folders() -> tuple[str, ...]:
    """The folders at the top of a disk, and those in which this program happens to live."""
    here = (Path.home(), Path.cwd(), Path(tempfile.gettempdir()), Path(sys.prefix))
    tops = {path.parts[1] for path in here if len(path.parts) > 1}
    return tuple(sorted({*TOP_FOLDERS, *tops}))


def _paths(tops: tuple[str, ...]) -> re.Pattern[str]:
    """Absolute paths: below a known folder, of a Python file, of Windows, on a server."""
    start = r"(?<![A-Za-z0-9_./~\\-])"
    top = rf"{start}(?!//[^/])/+(?:{'|'.join(map(re.escape, tops))})"
    end = r"""[^\s'"`,;:)\]}<>|]*"""
    return re.compile(
        rf"""(?<='){top}(?:/[^'\n]*)?(?=')|(?<="){top}(?:/[^"\n]*)?(?=")"""
        rf"|{top}(?:/{end}|(?![\w.-]))"
        rf"""|{start}(?:[A-Za-z]:)?(?:[\\/][^\s/\\"']{{1,255}}){{0,30}}[\\/][\w.-]{{1,255}}\.py\b"""
        rf"|(?<![A-Za-z0-9])[A-Za-z]:[\\/](?!/){end}"
        rf"|(?<![\w\\])\\\\+[\w.$?-]+\\{end}"
    )


def _last_name(match: re.Match[str]) -> str:
    """The last name of a path, unless it is a person's or a whole disk's."""
    parts = [part for part in re.split(r"[\\/]+", match[0]) if part and not part.endswith(":")]
    if len(parts) <= 1 or (len(parts) == 2 and parts[0] in {"home", "Users"}):
        return "[a folder]"
    return parts[-1]
