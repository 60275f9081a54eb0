"""How fast the kernel is: the page's head, and tables of the figures in `speed.toml`."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

OWN = ["work", "CPU, × bare loop", "min", "max"]
SHAPES = [
    shape.replace(" ", "\N{NO-BREAK SPACE}") for shape in ("20 × 1", "100 × 1", "20 × 8", "100 × 8")
]
PEERS = ["library", *SHAPES, "50 sessions"]
PEERS += ["import, s", "memory, MB", "installed, MB", "packages"]
OTHERS = """
## Other libraries

The same script, the same two tools and the same server, each library in an environment of its own,
in the version that was the newest that day. They do other things than this kernel: many support
more providers, trace more, or have more to set. The table says what a turn costs, not what a
library is worth. Ratios are CPU, × the bare loop; less is better. Import is in seconds of CPU;
memory is what a program holds that has imported the library and done nothing yet, with Python.

"""


def page(head: str, figures: Path) -> str:
    """The page; empty while there are no figures, and then it is not in the book."""
    found = tomllib.loads(figures.read_text(encoding="utf-8"))
    own, peers = found.get("own", []), found.get("peer", [])
    if not found["when"] or not own:
        return ""
    told = f"\n## This kernel\n\nMeasured on {found['when']}: {found['where']}.\n\n"
    text = head + told + table(OWN, [[row["what"], *map(number, row["ratio"])] for row in own])
    return text + (OTHERS + table(PEERS, list(map(peer_row, peers))) if peers else "")


def peer_row(peer: dict[str, Any]) -> list[str]:
    """One library."""
    figures = [*peer["ratios"], peer["import_seconds"]]
    whole = [peer["memory"], peer["megabytes"], peer["packages"]]
    name = f"{peer['name']} {peer['version']}"
    return [name, *map(number, figures), *(number(each, 0) for each in whole)]


def number(value: float, digits: int = 2) -> str:
    """A figure, or a dash for one that was not measured."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown; all columns but the first stand at the right."""
    line = ["---", *["---:"] * (len(head) - 1)]
    return "".join(f"| {' | '.join(row)} |\n" for row in [head, line, *rows])
