"""Rules for stored outputs: from one clean run, and the same on every machine and every day."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from course import Course, Problems
from pages import Cell, Page, output_texts

from freya_teach.lab.lesson import FROZEN_TIME

INTERPRETER = [
    r"\b(?:Key|JSONDecode|Type|Attribute|Value|Index|Name)Error: \S",
    r"Expecting (?:value|property name|',' delimiter)[^\n]*\(char \d+",
    r"object has no attribute",
    r"object is not (?:callable|iterable|subscriptable)",
    r"takes \d+ positional argument",
    r"got an unexpected keyword argument",
    r"missing \d+ required (?:positional|keyword)",
    r"unsupported operand type",
    r"invalid literal for int",
    r"index out of range",
    r"\[Errno -?\d+\]",
]
VOLATILE = {
    "a path of one machine": r"(?<![\w.~/:-])/(?:home|Users|root|tmp|var|usr|opt|work)/[\w.-]+"
    r"|\b[A-Z]:\\\w+|(?<!\w)~/[\w.-]+",
    "an address in memory": r"\b0x[0-9a-fA-F]{6,}",
    "the raw repr of an object": r"<(?:function|bound method|coroutine|generator)\b[^>]*>",
    "a point in time": r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?",
    "a measured time": r"\b(?!0\.0+\b)\d+\.\d{2,} ?(?:s|ms|µs|sec|seconds|milliseconds)\b",
    "a random id": r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
    "a size of memory or disk": r"\b\d[\d.,]* ?(?:[KMG]iB|MB|GB)\b",
    "the interpreter's own words": "|".join(INTERPRETER),
}
FROZEN = FROZEN_TIME.strftime("%Y-%m-%dT%H:%M")
NOT_COMPARED = ("image/png", "image/jpeg", "application/vnd.jupyter.widget-view+json")


def counts(page: Page, _: Course) -> Problems:
    """The cells were run once, from top to bottom."""
    for number, cell in enumerate(page.code, start=1):
        if cell.count != number:
            yield cell.id, f"its run is number {cell.count}, not {number}: run `make notebooks`"
            return


def streams(page: Page, _: Course) -> Problems:
    """Nothing on stderr, no error but a deliberate one, and one stream per print."""
    for cell in page.code:
        kinds = [output.get("name", output["output_type"]) for output in cell.outputs]
        if "stderr" in kinds:
            yield cell.id, "it writes to stderr: correct what it warns of"
        if "error" in kinds and "raises-exception" not in cell.tags:
            yield cell.id, "it ended with an error: correct it, or tag it `raises-exception`"
        if "raises-exception" in cell.tags and "error" not in kinds:
            yield cell.id, "it is tagged `raises-exception` and raises nothing: take the tag off"
        if ("stdout", "stdout") in pairwise(kinds):
            yield cell.id, "its stdout is stored in pieces: run `make notebooks`"
        for kind in NOT_COMPARED:
            if any(kind in output.get("data", {}) for output in cell.outputs):
                yield cell.id, f"{kind} is not compared: store SVG or text (`make notebooks`)"
    if page.code and "not asked for" in stored_text(page.code[-1]):
        yield page.code[-1].id, "a recording was not asked for, and CI will refuse that: use it"


def volatile(page: Page, course: Course) -> Problems:
    """No output that differs between two machines or two days.

    What stands in the notebook's own code or in its recordings is the same everywhere. A cell
    that must print something else of this kind gives its reason as metadata `freya.fixed`.
    """
    fixed = fixed_text(page, course.root / "fixtures" / page.section)
    for cell in page.code:
        text = stored_text(cell)
        for what, pattern in VOLATILE.items():
            found = [match[0] for match in re.finditer(pattern, text)]
            found = [part for part in found if part not in fixed]
            if found and not cell.metadata.get("freya", {}).get("fixed"):
                yield cell.id, f"it prints {what} ({found[0][:60]!r}): print what never changes"


def stored_text(cell: Cell) -> str:
    """All that a cell has put out, as text. A deliberate error counts with its trace."""
    texts = [text for output in cell.outputs for text in output_texts(output).values()]
    names = [output["ename"] for output in cell.outputs if output["output_type"] == "error"]
    text = "\n".join(texts)
    for name in names:
        text = text.replace(f"{name}: ", f"{name} – ")  # the name of a deliberate error is meant
    return text


def fixed_text(page: Page, fixtures: Path) -> str:
    """The code, the recordings and the frozen time, as text."""
    files = sorted(fixtures.rglob("*.json")) if fixtures.is_dir() else []
    recorded = [path.read_text(encoding="utf-8") for path in files]
    frozen = [FROZEN, FROZEN + ":00", FROZEN.replace("T", " "), FROZEN.replace("T", " ") + ":00"]
    return "\n".join([*(cell.source for cell in page.code), *recorded, *frozen])


RULES = (counts, streams, volatile)
