"""Every exercise of the course keeps what an exercise promises; new sections are found here too."""

import ast
import builtins
import json
import re
from typing import Any

import pytest

from freya_teach.lab.exercises import Exercise, Wrong, every_exercise, judge, reveal
from freya_teach.lab.exercises.registry import module_of
from freya_teach.paths import course_folder

EXERCISES = every_exercise()
WRONG = [(exercise, wrong) for exercise in EXERCISES for wrong in exercise.wrong]


def id_of(thing: Any) -> str:
    """Name a test by its exercise and its wrong answer."""
    if isinstance(thing, Exercise):
        return thing.id
    return getattr(thing.answer, "__name__", repr(thing.answer)[:20])


def notebook_of(exercise: Exercise, kinds: tuple[str, ...] = ("code", "markdown")) -> str | None:
    """Return all the code and prose of the section's notebook, or None while there is none."""
    for path in course_folder("notebooks").rglob("*.ipynb"):
        if ".ipynb_checkpoints" in path.parts:
            continue
        if exercise.section in (path.stem, path.stem.split("_", 1)[0]):
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            chosen = [cell for cell in cells if cell["cell_type"] in kinds]
            return "\n".join("".join(cell["source"]) for cell in chosen)
    return None


def body_of(source: str) -> str:
    """What a function does: its source without its head and its docstring."""
    function = ast.parse(source).body[-1]  # before it, what it imports
    assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    statements = function.body[1:] if ast.get_docstring(function) else function.body
    lines = source.splitlines()[statements[0].lineno - 1 :]
    return squeezed("\n".join(lines))


def squeezed(source: str) -> str:
    """Source without its comments and white space, which a copy may change."""
    return re.sub(r"\s+", "", re.sub(r"#.*", "", source))


def test_there_are_exercises_and_every_id_is_there_once() -> None:
    ids = [exercise.id for exercise in EXERCISES]
    assert ids
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("exercise", EXERCISES, ids=id_of)
def test_it_has_at_least_two_hints_and_two_wrong_answers_with_hints_of_their_own(
    exercise: Exercise,
) -> None:
    assert len(exercise.hints) >= 2
    assert len(exercise.wrong) >= 2
    assert len({wrong.earns for wrong in exercise.wrong}) >= 2
    assert re.fullmatch(r"[\w.]+-[a-z]", exercise.id)
    assert exercise.check.__module__.endswith(f".{module_of(exercise.section)}")


@pytest.mark.parametrize("exercise", EXERCISES, ids=id_of)
async def test_the_stub_is_told_that_it_is_not_done_yet(exercise: Exercise) -> None:
    verdict = await judge(exercise, exercise.stub)
    assert verdict.state == "not done", verdict


@pytest.mark.parametrize("exercise", EXERCISES, ids=id_of)
async def test_the_solution_passes_twice_with_the_same_words(exercise: Exercise) -> None:
    first = await judge(exercise, exercise.solution)
    assert first.passed, first
    assert await judge(exercise, exercise.solution) == first


@pytest.mark.parametrize(("exercise", "wrong"), WRONG, ids=id_of)
async def test_a_wrong_answer_earns_its_own_hint_and_no_other(
    exercise: Exercise, wrong: Wrong
) -> None:
    verdict = await judge(exercise, wrong.answer)
    assert verdict.state not in ("passed", "not done"), verdict
    others = {other.earns for other in exercise.wrong} - {wrong.earns}
    assert wrong.earns in verdict.text
    assert [earned for earned in others if earned in verdict.text] == []


@pytest.mark.parametrize("exercise", EXERCISES, ids=id_of)
def test_the_solution_bears_the_name_that_the_learner_uses(exercise: Exercise) -> None:
    if callable(exercise.solution):
        assert exercise.solution.__name__ == exercise.name
        assert exercise.name in reveal(exercise.id)
        assert "noqa" not in reveal(exercise.id)


@pytest.mark.parametrize("exercise", EXERCISES, ids=id_of)
def test_the_notebook_asks_for_it_and_does_not_give_it_away(exercise: Exercise) -> None:
    notebook = notebook_of(exercise)
    assert notebook is not None, f"section {exercise.section} has exercises and no notebook"
    assert f'lab.check("{exercise.id}"' in notebook
    if callable(exercise.solution):
        assert body_of(reveal(exercise.id)) not in squeezed(notebook)


@pytest.mark.parametrize("exercise", EXERCISES, ids=id_of)
def test_the_revealed_solution_can_be_pasted_into_its_notebook(exercise: Exercise) -> None:
    """Every name in it is one of Python's, comes with an import, or is the notebook's own."""
    if not callable(exercise.solution):
        return
    revealed = ast.parse(reveal(exercise.id))
    own = names_bound(ast.parse(notebook_of(exercise, ("code",)) or "")) | set(dir(builtins))
    used = {node.id for node in ast.walk(revealed) if isinstance(node, ast.Name)}
    assert used - names_bound(revealed) - own == set()


def names_bound(tree: ast.Module) -> set[str]:
    """All names that are given to something in this code, wherever."""
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            bound.add(node.name)
    return bound
