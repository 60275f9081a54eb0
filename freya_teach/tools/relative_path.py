r"""Which texts are accepted as a path, before any disk is asked. (chapter 4.3)

A path comes from a model, so it may be a mistake, or an attack that the model has read somewhere.
The rules here look at the text only and are the same on every system: what is harmless on Linux
may be a drive, a device or a second stream on Windows. A refusal names the rule in words, so that
the next call can be right. Links cannot be seen in a text: `tree.py` deals with them.

Nothing is decoded or expanded: `%2e`, `~`, `$HOME` and `*` are no commands here, so that refusing
them only saves the model from waiting for an effect that never comes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from freya_teach.errors import ToolError

Parts = tuple[str, ...]
"""The names on the way to a file, from the top folder down; () is the top folder itself."""

MAX_PATH_BYTES = 4096
MAX_NAME_BYTES = 255

ENCODED = re.compile(r"%(?:25)*(?:2e|2f|5c|3a|7f|[01][0-9a-f]|c0|u00)", re.IGNORECASE)
"""A dot, a slash, a colon or a control character, written as in a web address, also twice."""
WILD = re.compile(r"""[*?<>|"]""")
OTHER_SLASHES = set("\u2044\u2215\u29f5\u29f8")
JOINERS = set("\u200c\u200d")
"""Invisible, but a part of Persian words and of emoji."""
DEVICE = re.compile(r"(?:CON|PRN|AUX|NUL|CLOCK\$|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9])", re.IGNORECASE)

Rule = tuple[str, Callable[[str], object]]


def parts_of(path: str) -> Parts:
    """A relative path with / between its names, as its names. Raises `ToolError` naming the rule.

    >>> parts_of("notes/./today.txt")
    ('notes', 'today.txt')
    >>> parts_of(".")
    ()
    """
    _check(path, path, PATH_RULES)
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    for part in parts:
        _check(part, path, NAME_RULES)
    return parts


def _check(text: str, path: str, rules: tuple[Rule, ...]) -> None:
    for why, breaks in rules:
        if breaks(text):
            raise ToolError(
                f"The path {brief(path)} is refused, because it {why}. Give a path inside the "
                "folder, with / between the names, for example 'notes/today.txt'."
            )


def brief(path: str) -> str:
    r"""A path as it can be shown: in quotes, short, and with nothing invisible in it.

    >>> brief("a\nb")
    "'a\\nb'"
    """
    return repr(path if len(path) <= 120 else path[:120] + "…")


def printable(name: str) -> str:
    r"""A name from a disk as it can be shown; what no path may hold is written as its code.

    >>> printable("two\nlines.txt")
    'two\\nlines.txt'
    """
    return "".join(
        character.encode("unicode_escape").decode() if _is_invisible(character) else character
        for character in name
    )


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _is_invisible(character: str) -> bool:
    kind = unicodedata.category(character)
    return kind in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in JOINERS


def _looks_like_a_slash(path: str) -> bool:
    """Some programs make ／ a slash on their way (Unicode's form NFKC)."""
    plain = unicodedata.normalize("NFKC", path)
    return not OTHER_SLASHES.isdisjoint(path) or any(
        sign in plain and sign not in path for sign in "/\\"
    )


def _looks_like_dots(name: str) -> bool:
    return set(unicodedata.normalize("NFKC", name)) == {"."}


def _is_device(name: str) -> bool:
    """Windows takes `nul.txt` and `NUL .txt` for the device as well."""
    first = unicodedata.normalize("NFKC", name).partition(".")[0]
    return bool(DEVICE.fullmatch(first.rstrip(" ")))


PATH_RULES: tuple[Rule, ...] = (
    ("is empty; the folder itself is '.'", lambda path: not path),
    (f"is longer than {MAX_PATH_BYTES:,} bytes", lambda path: _bytes(path) > MAX_PATH_BYTES),
    ("holds control or invisible characters", lambda path: any(map(_is_invisible, path))),
    ("begins with /: only paths inside the folder exist here", lambda path: path[0] == "/"),
    ("begins with ~: there is no home folder here", lambda path: path[0] == "~"),
    ("holds a backslash instead of /", lambda path: "\\" in path),
    ("holds a colon, as drives and addresses do", lambda path: ":" in path),
    ('holds one of * ? < > | ", and patterns are not expanded', WILD.search),
    ("holds dots, slashes or control characters encoded with %", ENCODED.search),
    ("holds a character that looks like a slash and is none", _looks_like_a_slash),
)
"""About the whole text. The text of a rule is the end of a sentence that begins with "it"."""

NAME_RULES: tuple[Rule, ...] = (
    ("goes up with '..'", lambda name: name == ".."),
    ("holds characters that look like '.' or '..'", _looks_like_dots),
    (f"has a name longer than {MAX_NAME_BYTES} bytes", lambda name: _bytes(name) > MAX_NAME_BYTES),
    ("has a name that ends with a dot or a space", lambda name: name[-1] in ". "),
    ("has the name of a device on Windows, such as NUL", _is_device),
)
"""About each name between the slashes."""
