"""The kernel's docstrings are plain text with `names` and indented examples; Sphinx wants rST."""

from __future__ import annotations

import re
from itertools import groupby

TEXT, DOCTEST, LITERAL = "text", "doctest", "literal"
CODE_OR_SIGN = re.compile(r"`([^`]+)`|([*_|\\`])")


def as_rst(lines: list[str]) -> list[str]:
    """Indented blocks become literal ones, `names` too; other signs lose their meaning.

    A block is literal when an empty line or "Args:" stands before it; a line that goes on with an
    indent is none.
    """
    found: list[str] = []
    for kind, block in groupby(kinds(lines), key=lambda pair: pair[0]):
        texts = [text for _, text in block]
        if kind == TEXT:
            found += CODE_OR_SIGN.sub(_plain, "\n".join(texts)).split("\n")
        else:
            found += texts if kind == DOCTEST else ["", "::", "", *texts]
    return found


def kinds(lines: list[str]) -> list[tuple[str, str]]:
    """Each line, with what it belongs to. A doctest goes on to the next empty line."""
    pairs: list[tuple[str, str]] = []
    kind, before = TEXT, ""
    for line in lines:
        if line.startswith(">>>"):
            kind = DOCTEST
        elif not line.strip():
            kind = TEXT if kind == DOCTEST else kind
        elif kind != DOCTEST:
            goes_on = kind == LITERAL or not before.strip() or before == "Args:"
            kind = LITERAL if line.startswith("    ") and goes_on else TEXT
        pairs.append((kind, line))
        before = line
    return pairs


def _plain(match: re.Match[str]) -> str:
    """Code in one piece, without spaces at its ends, which rST does not allow."""
    if match[2]:
        return "\\" + match[2]
    return "``" + " ".join(match[1].split()) + "``"
