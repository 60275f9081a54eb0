"""A notebook as the rules see it: cells with their tags, their code as a tree, their outputs."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

Json = Any
ANSI_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
COMMAND = re.compile(r"^[ \t]*[!%].*$", re.MULTILINE)
START = "start_here"
"""The stem of the one notebook that explains how the others are used; it teaches no section."""


class NoNotebook(ValueError):
    """The file cannot be read as a notebook."""


def joined(text: str | list[str]) -> str:
    """Text as a notebook stores it: one string, or a list of lines."""
    return text if isinstance(text, str) else "".join(text)


def output_texts(output: Json) -> dict[str, str]:
    """Kind → text of one output: a stream's name, a MIME type, or `error`; colours are removed."""
    match output["output_type"]:
        case "stream":
            return {output["name"]: joined(output["text"])}
        case "error":
            lines = [f"{output['ename']}: {output['evalue']}", *output["traceback"]]
            return {"error": ANSI_COLOUR.sub("", "\n".join(lines))}
    return {
        kind: joined(data) if isinstance(data, str | list) else json.dumps(data, sort_keys=True)
        for kind, data in output["data"].items()
    }


@dataclass(frozen=True)
class Cell:
    """One cell. `tree` is empty where the code cannot be parsed; `syntax_problem` says why."""

    id: str
    kind: str
    source: str
    metadata: Json
    count: int | None
    outputs: list[Json]

    @property
    def is_code(self) -> bool:
        """Whether it is run."""
        return self.kind == "code"

    @property
    def tags(self) -> list[str]:
        """What the book, the slides and the rules go by."""
        return list(self.metadata.get("tags", []))

    @cached_property
    def _parsed(self) -> tuple[ast.Module, str]:
        source = self.source if self.is_code else ""
        try:
            return ast.parse(source), ""
        except SyntaxError as problem:
            without_commands = COMMAND.sub("", source)
            if without_commands != source:
                return replace(self, source=without_commands)._parsed  # noqa: SLF001 - our own
            return ast.Module([], []), str(problem.msg)

    @property
    def command(self) -> str:
        """The first line for IPython or the shell, or nothing."""
        try:
            ast.parse(self.source)  # a line of plain Python may begin with % too
        except SyntaxError:
            found = COMMAND.search(self.source)
            return found[0].strip() if found else ""
        return ""

    @property
    def tree(self) -> ast.Module:
        """The code as a syntax tree."""
        return self._parsed[0]

    @property
    def syntax_problem(self) -> str:
        """What Python does not understand, or nothing."""
        return self._parsed[1]

    def calls(self, *methods: str) -> list[ast.Call]:
        """Every `lab.<method>(…)` in the cell."""
        return [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and (node.func.value.id, node.func.attr in methods) == ("lab", True)
        ]

    def first_arguments(self, *methods: str) -> list[str | None]:
        """The text that each `lab.<method>("…")` is given; None where it is worked out."""
        firsts = [call.args[0] if call.args else None for call in self.calls(*methods)]
        return [
            first.value
            if isinstance(first, ast.Constant) and isinstance(first.value, str)
            else None
            for first in firsts
        ]


@dataclass(frozen=True)
class Page:
    """One notebook. `section` is what its lab opens: `lesson("2.3")`."""

    path: Path
    format: tuple[int, int]
    metadata: Json
    cells: list[Cell]

    @classmethod
    def read(cls, path: Path) -> Page:
        """Read a notebook. Raises `NoNotebook` with the reason."""
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            version = (stored["nbformat"], stored["nbformat_minor"])
            cells = [_cell(n, cell) for n, cell in enumerate(stored["cells"], start=1)]
            return cls(path, version, stored["metadata"], cells)
        except (ValueError, KeyError, TypeError) as problem:
            raise NoNotebook(f"{type(problem).__name__} ({problem})") from problem

    @property
    def about(self) -> Json:
        """The notebook's own metadata, or an empty one."""
        return self.metadata.get("freya", {})

    @property
    def kind(self) -> str:
        """`start`, `lab` or `lesson`."""
        if self.path.stem == START:
            return "start"
        return "lab" if self.path.parent.name == "labs" else "lesson"

    @property
    def id(self) -> str:
        """What the file's name says the section is: `2.3` of `2.3_executor.ipynb`, or the stem."""
        stem = self.path.stem
        return stem.partition("_")[0] if self.kind == "lesson" else stem

    @property
    def section(self) -> str:
        """The section whose lab is opened; `start_here` may borrow the recordings of another."""
        names = [
            node.args[0].value
            for node in self.nodes
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "lesson"
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ]
        return str(names[0]) if names else self.id

    @property
    def code(self) -> list[Cell]:
        """The cells that are run."""
        return [cell for cell in self.cells if cell.is_code]

    @property
    def prose(self) -> list[Cell]:
        """The cells that are read."""
        return [cell for cell in self.cells if cell.kind == "markdown"]

    @property
    def nodes(self) -> list[ast.AST]:
        """All nodes of all code cells."""
        return [node for cell in self.code for node in ast.walk(cell.tree)]

    def listed(self, key: str) -> list[str] | None:
        """A list of the notebook's own metadata, or None where there is none."""
        found = self.about.get(key)
        return found if isinstance(found, list) else None

    def tagged(self, tag: str) -> list[Cell]:
        """The cells that carry a tag."""
        return [cell for cell in self.cells if tag in cell.tags]


def _cell(number: int, cell: Json) -> Cell:
    return Cell(
        id=cell.get("id", f"cell {number}"),
        kind=cell["cell_type"],
        source=joined(cell["source"]),
        metadata=cell["metadata"],
        count=cell.get("execution_count"),
        outputs=cell.get("outputs", []),
    )
