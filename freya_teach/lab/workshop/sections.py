"""A notebook as an instructor sees it: pieces with minutes, and places to jump to. (start)

A notebook states its minutes of teaching and of exercises. They are shared out among its pieces in
proportion to words and lines of code, so a piece's minutes are an estimate; `book/workshop/` has a
sheet to write down how long it really took.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from freya_teach.lab.exercises.registry import natural_order
from freya_teach.lab.workshop.notes import TAG, tags_of

Kind = Literal["core", "audit", "production", "exercise"]
Cell = dict[str, Any]

WORDS_PER_LINE = 10
"""How many words of prose take as long to explain as a line of code: our estimate."""
HEADING = re.compile(r"^#{2,3} +(.+)$", re.MULTILINE)
CHECK = re.compile(r"lab\.check\(\s*\"([^\"]+)\"")
SETUP_NAMES = {"lab", "lesson", "my_prediction"}
"""The setup cell makes them in each notebook, or nobody reads them."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a section that is taught, or left out, as a whole."""

    kind: Kind
    title: str
    minutes: int
    cell: str
    """The id of its first cell: a checkpoint. Who runs all cells above it can go on from here."""
    state: tuple[str, ...] = ()
    """The names from the cells above that are used from here on."""
    gives: tuple[str, ...] = ()
    """The names that later pieces take from this one: its cells are run even if it is left out."""


@dataclass(frozen=True, slots=True)
class Section:
    """One notebook. `needs` are the ids of the sections that come before it."""

    id: str
    name: str
    file: str
    needs: tuple[str, ...]
    pieces: tuple[Piece, ...]

    def minutes(self, *kinds: Kind) -> int:
        """The minutes of the pieces of these kinds; without any, of all."""
        return sum(piece.minutes for piece in self.pieces if not kinds or piece.kind in kinds)


def read_sections(notebooks: Path) -> tuple[Section, ...]:
    """All sections of the course in their order, labs at the end; `start_here` is none."""
    paths = [path for path in notebooks.rglob("*.ipynb") if _is_section(path)]
    found = [read_section(path, path.relative_to(notebooks).as_posix()) for path in paths]
    return tuple(sorted(found, key=lambda section: natural_order(section.id)))


def read_section(path: Path, file: str) -> Section:
    """Read one notebook; `file` is how a reader finds it."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    about = notebook["metadata"]["freya"]
    groups = list(_groups([cell for cell in notebook["cells"] if TAG not in tags_of(cell)]))
    kinds = [_kind(group) for group in groups]
    minutes = dict(_shared_out(groups, kinds, about["minutes"]))
    names = [_names(group) for group in groups]
    pieces = []
    for place, group in enumerate(groups):
        made = set().union(*(defined for defined, _ in names[:place])) - SETUP_NAMES
        later = set().union(*(used for _, used in names[place + 1 :]))
        state = made & (later | names[place][1])
        gives = (names[place][0] & later) - SETUP_NAMES
        pieces.append(
            Piece(
                kinds[place],
                _title(group),
                minutes[place],
                group[0]["id"],
                tuple(sorted(state)),
                tuple(sorted(gives)),
            )
        )
    return Section(about["id"], _name(notebook), file, tuple(about["needs"]), tuple(pieces))


def _is_section(path: Path) -> bool:
    return ".ipynb_checkpoints" not in path.parts and path.stem != "start_here"


def _name(notebook: dict[str, Any]) -> str:
    """The title without its number: "4.2 · A tool call on the wire"."""
    first = _text(notebook["cells"][0]).partition("\n")[0].lstrip("# ")
    return first.partition(" · ")[2] or first


def _groups(cells: Sequence[Cell]) -> Iterator[list[Cell]]:
    """Cut a notebook where a part begins; an exercise ends with the cell that checks it."""
    starts = [0, *(place for place in range(1, len(cells)) if _begins(cells, place)), len(cells)]
    for start, end in pairwise(starts):
        yield list(cells[start:end])


def _begins(cells: Sequence[Cell], place: int) -> bool:
    tags, before = set(tags_of(cells[place])), set(tags_of(cells[place - 1]))
    if "exercise" in tags & before:
        checked = CHECK.search(_text(cells[place - 1]))
        return bool(checked and any(CHECK.search(_text(cell)) for cell in cells[place:]))
    if {"production", "keypoints", "exercise"} & tags or "production" in before:
        return True
    return cells[place]["cell_type"] == "markdown" and _text(cells[place]).startswith("## ")


def _kind(group: list[Cell]) -> Kind:
    tags = tags_of(group[0])
    kinds: tuple[Kind, ...] = ("exercise", "production", "audit")
    return next((kind for kind in kinds if kind in tags), "core")


def _title(group: list[Cell]) -> str:
    tags, text = tags_of(group[0]), "\n".join(_text(cell) for cell in group)
    if "title" in tags:
        return "Title, questions, objectives"
    if "production" in tags:
        return "How others do it"
    if "keypoints" in tags:
        return "Key points"
    found = CHECK.search(text)
    if "exercise" in tags and found:
        return f"Exercise {found[1]}"
    heading = HEADING.search(text)
    return heading[1] if heading else group[0]["id"]


def _shared_out(
    groups: list[list[Cell]], kinds: list[Kind], stated: dict[str, int]
) -> Iterator[tuple[int, int]]:
    exercises = [place for place, kind in enumerate(kinds) if kind == "exercise"]
    teaching = [place for place, kind in enumerate(kinds) if kind != "exercise"]
    yield from zip(exercises, shared_out(stated["exercises"], [1] * len(exercises)), strict=True)
    weights = [sum(map(_weight, groups[place])) for place in teaching]
    yield from zip(teaching, shared_out(stated["teaching"], weights), strict=True)


def shared_out(total: int, weights: Sequence[int]) -> list[int]:
    """Whole minutes in proportion to weights, at least one each while there are enough.

    >>> shared_out(10, [1, 1, 6])
    [2, 2, 6]
    """
    if not weights:
        return []
    weights = weights if any(weights) else [1] * len(weights)
    least = 1 if total >= len(weights) else 0
    rest, whole = total - least * len(weights), sum(weights)
    exact = [rest * weight / whole for weight in weights]
    minutes = [least + int(share) for share in exact]
    by_remainder = sorted(range(len(weights)), key=lambda i: (int(exact[i]) - exact[i], i))
    for place in by_remainder[: total - sum(minutes)]:
        minutes[place] += 1
    return minutes


def _weight(cell: Cell) -> int:
    text = re.sub(r"<svg.*?</svg>", "", _text(cell), flags=re.DOTALL)
    if cell["cell_type"] == "code":
        return WORDS_PER_LINE * len(text.splitlines())
    return len(text.split())


def _names(group: list[Cell]) -> tuple[set[str], set[str]]:
    """The names that a group's code makes at its top, and those that it reads anywhere."""
    made: set[str] = set()
    used: set[str] = set()
    for cell in group:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse(_text(cell))
        used |= {
            node.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        for statement in tree.body:
            made |= set(_made(statement))
    return made, used


def _made(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]


def _text(cell: Cell) -> str:
    return "".join(cell["source"])
