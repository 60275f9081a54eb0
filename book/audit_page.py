"""The audit table: what the source tutorial claims, what was measured, and where to see it."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path

from notebook_pages import target
from order import Group, section_of


@dataclass(frozen=True)
class Row:
    """One claim. `cells` are the places that measure it: a section and a cell's id."""

    id: str
    section: str
    claim: str
    holds: str
    here: str
    cells: tuple[tuple[str, str], ...]


def page(head: str, table: Path, parts: list[Group]) -> str:
    """The page: its head, then the table, each row linked to the cells that measure it."""
    found = {section_of(path): path for group in parts for path in group.notebooks}
    lines = [
        "| row | section | claimed | what holds | in this kernel | measured in |",
        "|---|---|---|---|---|---|",
    ]
    lines += [line(row, found) for row in rows(table)]
    return head + "\n```{table}\n:class: audit-table\n\n" + "\n".join(lines) + "\n```\n"


def rows(table: Path) -> list[Row]:
    """Read the table; `cells` are written as "4.2#reason-table"."""
    data = tomllib.loads(table.read_text(encoding="utf-8"))
    return [
        Row(
            id=name,
            section=row["section"],
            claim=row["claim"],
            holds=row["holds"],
            here=row["here"],
            cells=tuple(tuple(cell.split("#")) for cell in row.get("cells", [])),
        )
        for name, row in data.items()
    ]


def line(row: Row, found: dict[str, Path]) -> str:
    """One row of the table."""
    cells = [f"**{row.id}**", short(row.section), row.claim, row.holds, row.here]
    cells.append(", ".join(links(row, found)) or "–")
    return "| " + " | ".join(cell.replace("|", "\\|").strip() for cell in cells) + " |"


def links(row: Row, found: dict[str, Path]) -> list[str]:
    """Links to what measures a row: its cells, else the first audit of its section."""
    there = [(section, cell) for section, cell in row.cells if section in found]
    if not there and row.section in found:
        there = [(row.section, cell) for cell in audits(found[row.section], row.id)[:1]]
    return [f"[{short(section)}, *{cell}*](#{target(section, cell)})" for section, cell in there]


def short(section: str) -> str:
    """`4.2` stays; a notebook that has no number is a lab."""
    return section if section[0].isdecimal() else "lab"


def audits(notebook: Path, row: str) -> list[str]:
    """Cells tagged `audit`: those whose id begins with the row's, then the others."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    tagged = [cell["id"] for cell in cells if "audit" in cell["metadata"].get("tags", [])]
    return sorted(tagged, key=lambda cell: not cell.startswith(f"{row.lower()}-"))
