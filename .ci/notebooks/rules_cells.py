"""Rules for the shape of a lesson: which cells there are, in what order, and how long."""

from __future__ import annotations

import ast
import re

from course import Course, Problems
from pages import Cell, Page

FIRST = ("title", "questions", "objectives", "setup")
LAST = ("keypoints", "next")
BETWEEN = ("predict", "break-it", "fix-it", "audit", "exercise", "production")
NOT_NEEDED_IN_START = {"questions", "objectives", "keypoints"}
BOOK_TAGS = {
    "hide-input",
    "hide-output",
    "hide-cell",
    "remove-input",
    "remove-output",
    "remove-cell",
}
"""What myst-nb folds or leaves out on a page of the book."""
NBVAL_TAGS = {"nbval-ignore-output", "nbval-skip", "nbval-raises-exception", "nbval-check-output"}
INSTRUCTOR = "instructor"
NOTES_HAVE = ("Expected questions", "Common errors", "Timing")
FEWEST_WORDS_OF_NOTES, MOST_WORDS_OF_NOTES = 60, 130
TAGS = {*FIRST, *LAST, *BETWEEN, *BOOK_TAGS, *NBVAL_TAGS, INSTRUCTOR, "raises-exception"}

MOST_LINES = 15
MOST_WORDS = 150
NOT_PROSE = re.compile(
    r"<details.*?</details>|<svg.*?</svg>|<!--.*?-->|^```.*?^```|^\s*\|.*?$|\]\([^)\n]*\)|<[^>\n]+>",
    re.DOTALL | re.MULTILINE,
)


def tags(page: Page, _: Course) -> Problems:
    """Every tag is one that something reads."""
    for cell in page.cells:
        for tag in sorted(set(cell.tags) - TAGS):
            yield cell.id, f"nothing reads the tag {tag!r}: use one of {', '.join(sorted(TAGS))}"


def frame(page: Page, _: Course) -> Problems:
    """The first and the last cells of every lesson are the same ones, each once."""
    left_out = NOT_NEEDED_IN_START if page.kind == "start" else set[str]()
    for tag in (*FIRST, *LAST):
        found = page.tagged(tag)
        if not found and tag not in left_out:
            yield "notebook", f"no cell is tagged {tag!r}: add it"
        for cell in found[1:]:
            yield cell.id, f"{tag!r} is there twice: take one out"
    cells = [cell for cell in page.cells if INSTRUCTOR not in cell.tags]
    here = [tag for cell in cells for tag in cell.tags]
    first = [tag for tag in FIRST if tag in here]
    last = [tag for tag in LAST if tag in here]
    if [tag for cell in cells[: len(first)] for tag in cell.tags if tag in FIRST] != first:
        yield "notebook", f"it does not begin with {', '.join(first)}: put these in this order"
    ending = cells[len(cells) - len(last) - 1 : -1]
    if [tag for cell in ending for tag in cell.tags if tag in LAST] != last:
        yield "notebook", f"it does not end with {', '.join(last)} and the closing cell"


def setup_and_close(page: Page, course: Course) -> Problems:
    """One way to open a lesson, one to close it."""
    section = page.section if page.kind == "start" else page.id
    wanted = f'from freya_teach.lab import lesson\n\nlab = lesson("{section}")'
    for cell in page.tagged("setup"):
        if cell.source != wanted:
            yield cell.id, f"the setup is not the one that all share: write {wanted!r} and no more"
    if page.kind == "start" and section not in {*(other.id for other in course.pages)}:
        yield "notebook", f"the setup opens {section!r}, and there is no such section"
    if page.cells and (not page.cells[-1].is_code or page.cells[-1].source != "lab.close()"):
        yield page.cells[-1].id, "the last cell is not `lab.close()`: end with it"


def lengths(page: Page, _: Course) -> Problems:
    """A cell fits on a projected page."""
    for cell in page.cells:
        if cell.is_code and (lines := code_lines(cell)) > MOST_LINES:
            yield cell.id, f"{lines} lines of code: split it, {MOST_LINES} are the most"
        if not cell.is_code and (words := word_count(cell.source)) > MOST_WORDS:
            yield cell.id, f"{words} words: split or shorten it, {MOST_WORDS} are the most"
        if not cell.source.strip():
            yield cell.id, "the cell is empty: delete it"


def code_lines(cell: Cell) -> int:
    """The lines that say something; the empty ones are the formatter's."""
    return sum(1 for line in cell.source.splitlines() if line.strip())


def word_count(text: str) -> int:
    """The words of the prose: tables, code blocks, pictures and folded parts are not counted."""
    return len(re.findall(r"[^\W_][\w'’.-]*", NOT_PROSE.sub(" ", text)))


def prediction(page: Page, _: Course) -> Problems:
    """A learner writes down what will happen before the first packet leaves."""
    predicted = opened = False
    for cell in page.cells:
        predicted = predicted or "predict" in cell.tags
        opened = opened or bool(cell.calls("http", "kernel"))
        if opened and awaits(cell):
            if not predicted:
                yield cell.id, "it sends the first packet: put a `predict` cell before this segment"
            return


def awaits(cell: Cell) -> bool:
    """Whether something is awaited when the cell runs, other than the check of an exercise."""
    waiting: list[ast.AST] = [*cell.tree.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.AsyncFor | ast.AsyncWith):
            return True
        if isinstance(node, ast.Await) and node.value not in cell.calls("check"):
            return True
        waiting += ast.iter_child_nodes(node)
    return False


def nbval_reasons(page: Page, _: Course) -> Problems:
    """An output that is not compared says why, in a comment beside it."""
    for cell in page.code:
        lines = [line.strip() for line in cell.source.splitlines()]
        comments = [line for line in lines if line.startswith("#")]
        markers = [line for line in comments if re.fullmatch(r"#+\s*NBVAL_\w+", line)]
        reasons = [line for line in comments if line not in markers and len(line.split()) > 3]
        if (markers or NBVAL_TAGS & set(cell.tags)) and not reasons:
            yield cell.id, "its output is not compared: say why in a comment of the cell"


def instructor_notes(page: Page, _: Course) -> Problems:
    """At most one cell, behind the title; the first thing that an instructor reads."""
    found = page.tagged(INSTRUCTOR)
    for cell in found[1:]:
        yield cell.id, f"{INSTRUCTOR!r} is there twice: put all notes into the first one"
    for cell in found[:1]:
        if cell.is_code or page.cells[1] is not cell:
            yield cell.id, "notes for instructors are one text cell right behind the title"
        if "remove-cell" not in cell.tags:
            yield cell.id, "the book shows these notes: tag them `remove-cell`, too"
        for part in NOTES_HAVE:
            if f"**{part}**" not in cell.source:
                yield cell.id, f"the notes have no part **{part}**: write it"
        words = word_count(cell.source)
        if not FEWEST_WORDS_OF_NOTES <= words <= MOST_WORDS_OF_NOTES:
            limits = f"{FEWEST_WORDS_OF_NOTES} to {MOST_WORDS_OF_NOTES}"
            yield cell.id, f"the notes have {words} words: write {limits}"


RULES = (tags, frame, instructor_notes, setup_and_close, lengths, prediction, nbval_reasons)
