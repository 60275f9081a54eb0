"""Say what in the notebooks breaks a rule of the course, one line each; change nothing.

    uv run python .ci/notebooks/lint.py                    all notebooks
    uv run python .ci/notebooks/lint.py FILE [FILE …]      only what is wrong in these

A line reads `path: cell: what is wrong, and what to do`. The rules are in the `rules_*.py` beside
this file, one function each. `start_here` is held to fewer of them: it needs no questions,
objectives, key points or exercises. A lab has at least one exercise, a lesson two or three.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

import rules_about
import rules_cells
import rules_code
import rules_outputs
import rules_prose
from course import Course
from pages import NoNotebook, Page

ROOT = Path(__file__).resolve().parent.parent.parent
RULES = (
    *rules_about.RULES,
    *rules_cells.RULES,
    *rules_prose.RULES,
    *rules_code.RULES,
    *rules_outputs.RULES,
)


def main(arguments: list[str]) -> int:
    """Print every finding; return 1 when there is one."""
    chosen = {Path(name).resolve() for name in arguments}
    findings = lint(ROOT, known_exercises(), chosen)
    for finding in findings:
        print(f"notebooks: {finding}", file=sys.stderr)
    return 1 if findings else 0


def lint(root: Path, exercises: set[str] | None, chosen: set[Path] | None = None) -> list[str]:
    """List the findings in the notebooks under `root`, or in the chosen ones of them."""
    pages: list[Page] = []
    findings: list[str] = []
    for path in notebook_paths(root):
        try:
            pages.append(Page.read(path))
        except NoNotebook as problem:
            place = path.relative_to(root).as_posix()
            findings.append(f"{place}: notebook: it cannot be read: {problem}")
    course = Course(root, pages, exercises)
    for page in pages:
        if not chosen or page.path.resolve() in chosen:
            place = page.path.relative_to(root).as_posix()
            problems = [problem for rule in RULES for problem in rule(page, course)]
            findings += [f"{place}: {cell}: {text}" for cell, text in problems]
            findings += [
                f"{place}: notebook: {other} has the same id" for other in twins(page, course)
            ]
    return findings


def notebook_paths(root: Path) -> list[Path]:
    """All notebooks of the course, without Jupyter's own copies."""
    paths = sorted((root / "notebooks").rglob("*.ipynb"))
    return [path for path in paths if ".ipynb_checkpoints" not in path.parts]


def twins(page: Page, course: Course) -> list[str]:
    """The other files whose name gives the same id."""
    return [other.path.name for other in course.pages if other is not page and other.id == page.id]


def known_exercises() -> set[str] | None:
    """The ids in the registry of exercises, or None where the package has none."""
    if importlib.util.find_spec("freya_teach.lab.exercises") is None:
        return None
    registry = importlib.import_module("freya_teach.lab.exercises")
    return {exercise.id for exercise in registry.every_exercise()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
