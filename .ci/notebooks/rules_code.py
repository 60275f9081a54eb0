"""Rules for code: it parses, imports what the course has, and asks for exercises that exist."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys

from course import Course, Problems
from pages import Page

ALLOWED_IMPORTS = {"freya_teach", "httpx", "pydantic", "respx", "ipywidgets", "IPython"}
"""What the course installs for notebooks, beside Python's own library."""
FEWEST_EXERCISES = {"lesson": 2, "lab": 1, "start": 0}
MOST_EXERCISES = 3


def syntax(page: Page, _: Course) -> Problems:
    """Plain Python, on every system."""
    for cell in page.code:
        if cell.command:
            yield cell.id, f"{cell.command} is no Python and differs by system: take it out"
        if cell.syntax_problem:
            yield cell.id, f"it cannot be parsed ({cell.syntax_problem}): correct it"


def imports(page: Page, _: Course) -> Problems:
    """No vendor's SDK, and every name of ours exists and is explained."""
    for cell in page.code:
        for module, name in imported(cell.tree):
            top = module.partition(".")[0]
            if top not in ALLOWED_IMPORTS | sys.stdlib_module_names:
                yield cell.id, f"{module} is not part of the course: use httpx and pydantic"
            elif top == "freya_teach" and (reason := undocumented(module, name)):
                yield cell.id, reason


def imported(tree: ast.Module) -> list[tuple[str, str]]:
    """Module and name of each import; the name is empty for `import module`."""
    found: list[tuple[str, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [(node.module or "", alias.name) for alias in node.names]
    return found


def undocumented(module: str, name: str) -> str:
    """What a learner cannot find out about a name of the kernel, or nothing."""
    full_name = f"{module}.{name}" if name else module
    try:
        thing = importlib.import_module(module)
        if name and not hasattr(thing, name):
            importlib.import_module(f"{module}.{name}")  # a module of a package
        thing = getattr(thing, name) if name else thing
    except ImportError:
        return f"{full_name} does not exist: correct the import"
    if not (inspect.ismodule(thing) or inspect.isclass(thing) or inspect.isroutine(thing)):
        return ""  # a constant has its explanation in the source
    return "" if inspect.getdoc(thing) else f"{full_name} has no docstring: write one"


def exercises(page: Page, course: Course) -> Problems:
    """Two or three exercises, each of them in the registry, and none of it left out."""
    checked: set[str] = set()
    for cell in page.code:
        for name in cell.first_arguments("check", "hint", "reveal"):
            if name is None:
                yield cell.id, "the exercise's id is worked out: write it down"
            elif course.exercises is not None and name not in course.exercises:
                yield cell.id, f"there is no exercise {name!r} in freya_teach.lab.exercises"
        checks = {name for name in cell.first_arguments("check") if name}
        if checks and "exercise" not in cell.tags:
            yield cell.id, "it checks an exercise: tag it `exercise`"
        checked |= checks
    most = MOST_EXERCISES if page.kind == "lesson" else max(MOST_EXERCISES, len(checked))
    if not FEWEST_EXERCISES[page.kind] <= len(checked) <= most:
        wanted = {"lesson": "two or three", "lab": "at least one"}[page.kind]
        yield "notebook", f"{len(checked)} exercises are checked with lab.check: have {wanted}"
    for name in sorted(course.exercises or ()):
        if name.rpartition("-")[0] == page.id and name not in checked:
            yield "notebook", f"the exercise {name!r} is not used: add it, or delete it"


RULES = (syntax, imports, exercises)
