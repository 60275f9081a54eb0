"""The rules of the course: a notebook that keeps them all, broken in every way, one at a time."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lint
import nbformat
import pytest
from nbformat.v4 import new_output

from tests.notebooks.small import (
    EXERCISES,
    OBJECTIVES,
    cell_of,
    code,
    counted,
    printed,
    small_notebook,
    text,
    write_course,
)

ROOT = Path(__file__).resolve().parents[2]
PLACE = "notebooks/part1/2.2_react.ipynb"
Break = Callable[[Any], Any]


def findings(root: Path, notebook: Any, exercises: set[str] | None = EXERCISES) -> list[str]:
    """Write the small course with this notebook in it, and lint it."""
    write_course(root, notebook)
    return lint.lint(root, exercises)


def source(name: str, new: str) -> Break:
    """Give a cell another source."""
    return lambda notebook: cell_of(notebook, name).update(source=new)


def outputs(name: str, *new: Any) -> Break:
    """Give a cell other outputs."""
    return lambda notebook: cell_of(notebook, name).update(outputs=[*new])


def shows(what: str) -> Break:
    """Let the cell that sends the packet print something."""
    return outputs("send", *printed(what))


def draws(kind: str, data: str) -> Break:
    """Let the cell that sends the packet draw something."""
    return outputs("send", new_output("display_data", data={kind: data, "text/plain": "a picture"}))


def about(key: str, value: Any) -> Break:
    """Give the notebook's own metadata another value; None takes the key out."""

    def change(notebook: Any) -> None:
        notebook.metadata.freya[key] = value
        if value is None:
            del notebook.metadata.freya[key]

    return change


def tagged(name: str, *tags: str) -> Break:
    """Give a cell other tags."""
    return lambda notebook: cell_of(notebook, name).metadata.update(tags=[*tags])


def without(*names: str) -> Break:
    """Take cells out."""

    def change(notebook: Any) -> None:
        notebook.cells = [cell for cell in notebook.cells if cell.id not in names]
        counted(notebook)

    return change


def inserted(before: str, cell: Any) -> Break:
    """Put a cell before another one."""

    def change(notebook: Any) -> None:
        place = notebook.cells.index(cell_of(notebook, before))
        notebook.cells.insert(place, cell)
        counted(notebook)

    return change


def renamed(name: str, new: str) -> Break:
    """Give a cell another id."""
    return lambda notebook: cell_of(notebook, name).update(id=new)


def swapped(one: str, other: str) -> Break:
    """Exchange the places of two cells."""

    def change(notebook: Any) -> None:
        cells = notebook.cells
        first, second = (cells.index(cell_of(notebook, name)) for name in (one, other))
        cells[first], cells[second] = cells[second], cells[first]
        counted(notebook)

    return change


def added(name: str, line: str) -> Break:
    """Put a line at the end of a cell."""
    return lambda notebook: cell_of(notebook, name).update(
        source=f"{cell_of(notebook, name).source}\n{line}"
    )


NOTE_TAGS = ("instructor", "remove-cell")
SHORT = "**Expected questions** **Common errors** **Timing**"
NOTES = SHORT + " word" * 60


BROKEN: list[tuple[str, Break, str]] = [
    # what the notebook says about itself
    ("notebook", lambda nb: nb.update(nbformat_minor=4), "its format is 4.4: save it as nbformat"),
    ("notebook", lambda nb: nb.metadata.kernelspec.update(name="conda"), "choose python3"),
    ("a1b2c3d4", renamed("saw", "a1b2c3d4"), "the id cannot be read: name the cell"),
    ("What_You_Saw", renamed("saw", "What_You_Saw"), "the id cannot be read"),
    ("predict", renamed("saw", "predict"), "two cells have this id"),
    ("notebook", lambda nb: nb.metadata.pop("freya"), "it has no metadata `freya`"),
    ("notebook", about("id", "2.3"), "freya.id is '2.3': the file's name says '2.2'"),
    ("notebook", about("minutes", {"teaching": 30}), "freya.minutes.exercises is None: give"),
    ("notebook", about("minutes", {"teaching": 30, "exercises": 0}), "exercises is 0: give a"),
    ("notebook", about("minutes", {"teaching": True, "exercises": 5}), "teaching is True"),
    ("notebook", about("needs", None), "freya.needs is missing"),
    ("notebook", about("needs", ["9.9"]), "freya.needs names '9.9', and there is no such section"),
    ("notebook", about("needs", ["2.2"]), "freya.needs leads back to this section"),
    ("notebook", about("recordings", None), "freya.recordings is missing"),
    ("notebook", about("recordings", []), "'weather' is played: add it to freya.recordings"),
    ("notebook", about("recordings", ["weather", "weather"]), "names a scenario twice"),
    ("notebook", about("recordings", ["weather", "old"]), "has 'old', which no cell plays"),
    ("notebook", about("objectives", None), "freya.objectives is missing"),
    # the cells, their order and their length
    ("saw", tagged("saw", "summary"), "nothing reads the tag 'summary': use one of audit"),
    ("notebook", without("questions"), "no cell is tagged 'questions': add it"),
    ("notebook", without("keypoints"), "no cell is tagged 'keypoints': add it"),
    ("next", inserted("send", text("again", "Next", "next")), "'next' is there twice"),
    ("notebook", swapped("questions", "objectives"), "it does not begin with title, questions"),
    ("notebook", swapped("predict", "setup"), "it does not begin with title, questions"),
    ("notebook", swapped("keypoints", "next"), "it does not end with keypoints, next"),
    ("setup", added("setup", "import json"), "the setup is not the one that all share"),
    ("close", source("close", "lab.close()  # bye"), "the last cell is not `lab.close()`"),
    ("send", added("send", "\n".join(["pass"] * 14)), "16 lines of code: split it, 15 are the"),
    ("saw", source("saw", "word " * 151), "151 words: split or shorten it, 150 are the most"),
    ("blank", inserted("predict", text("blank", " ")), "the cell is empty: delete it"),
    ("send", swapped("predict", "saw"), "it sends the first packet: put a `predict` cell before"),
    ("send", tagged("send", "nbval-ignore-output"), "its output is not compared: say why"),
    ("send", added("send", "# NBVAL_SKIP"), "its output is not compared: say why"),
    # notes for instructors
    ("notes", inserted("setup", text("notes", NOTES, *NOTE_TAGS)), "right behind the title"),
    (
        "notes",
        inserted("questions", text("notes", NOTES.replace("**Timing**", "Time"), *NOTE_TAGS)),
        "the notes have no part **Timing**",
    ),
    ("notes", inserted("questions", text("notes", NOTES, "instructor")), "the book shows these"),
    ("notes", inserted("questions", text("notes", SHORT, *NOTE_TAGS)), "have 5 words"),
    # prose
    (
        "objectives",
        source("objectives", OBJECTIVES.replace("*predict*", "predict")),
        "no *verb* in italics in 'predict the next one (`r2`),'",
    ),
    (
        "keypoints",
        source("keypoints", "- `r1` One.\n- `r3` Three.\n- `r2` Two."),
        "key points for ['r1', 'r3', 'r2'], objectives ['r1', 'r2', 'r3']",
    ),
    (
        "objectives",
        source("objectives", OBJECTIVES.replace("`r3`", "`r4`")),
        "the ids are ['r1', 'r2', 'r4'], and freya.objectives is ['r1', 'r2', 'r3']",
    ),
    ("saw", source("saw", "![](2.2_react.ipynb)"), "has no alt text: say what the picture shows"),
    ("saw", source("saw", '<img src="2.2_react.ipynb">'), "has no text: add alt"),
    ("saw", source("saw", "<svg><path/></svg>"), "has no text: add alt, or role=img and <title>"),
    ("send", draws("image/svg+xml", "<svg></svg>"), "the picture it draws has no role=img"),
    ("saw", source("saw", "[x](http://example.org)"), "http://example.org is not encrypted"),
    ("saw", source("saw", "[x](2.9_gone.ipynb)"), "leads nowhere: there is no such file"),
    ("saw", source("saw", "[x](../../../etc)"), "leads nowhere: it points out of the repository"),
    ("saw", source("saw", "[x](#nothing)"), "2.2_react.ipynb has no heading of that name"),
    ("saw", source("saw", "[x](https://git.example/a.py#L10)"), "names a line, which moves"),
    # code
    ("send", added("send", "!ls"), "!ls is no Python and differs by system: take it out"),
    ("send", added("send", "%timeit 1"), "%timeit 1 is no Python"),
    ("saw-code", inserted("saw", code("saw-code", "x = = 1")), "it cannot be parsed"),
    ("send", added("send", "import openai"), "openai is not part of the course"),
    ("send", added("send", "from google import genai"), "google is not part of the course"),
    (
        "send",
        added("send", "from freya_teach.llm import gone"),
        "freya_teach.llm.gone does not exist: correct the import",
    ),
    ("send", added("send", 'lab.hint("2.2-c")'), "there is no exercise '2.2-c' in"),
    ("send", added("send", "lab.hint(name)"), "the exercise's id is worked out: write it down"),
    ("task-a", tagged("task-a"), "it checks an exercise: tag it `exercise`"),
    # outputs
    ("send", lambda nb: cell_of(nb, "send").update(execution_count=7), "number 7, not 2: run"),
    ("send", lambda nb: cell_of(nb, "send").update(execution_count=None), "number None, not 2"),
    ("send", outputs("send", new_output("stream", name="stderr", text="!")), "it writes to stderr"),
    (
        "send",
        outputs("send", new_output("error", ename="LLMError", evalue="no", traceback=[])),
        "it ended with an error: correct it, or tag it `raises-exception`",
    ),
    ("send", tagged("send", "raises-exception"), "and raises nothing: take the tag off"),
    ("send", outputs("send", *printed("a"), *printed("b")), "its stdout is stored in pieces"),
    ("send", draws("image/png", "iVBORw0KGgo="), "image/png is not compared: store SVG or text"),
    (
        "send",
        draws("application/vnd.jupyter.widget-view+json", "{}"),
        "widget-view+json is not compared",
    ),
    ("close", outputs("close", *printed("not asked for: x/01.json")), "CI will refuse that"),
    ("send", shows("in /" + "home/ada/course"), "it prints a path of one machine"),
    ("send", shows("in C:" + "\\Temp\\x"), "it prints a path of one machine"),
    ("send", shows("<Agent at 0x7f12ab34cd56>"), "it prints an address in memory"),
    ("send", shows("<function f>"), "it prints the raw repr of an object"),
    ("send", shows("2026-12-01 08:30"), "it prints a point in time ('2026-12-01 08:30')"),
    ("send", shows("took 0.123 s"), "it prints a measured time ('0.123 s')"),
    (
        "send",
        shows("00000000-1111-2222-3333-444455556666"),
        "it prints a random id",
    ),
    ("send", shows("12.5 MiB used"), "it prints a size of memory or disk ('12.5 MiB')"),
    ("send", shows("KeyError: 'city'"), "it prints the interpreter's own words"),
    ("send", shows("Expecting value: line 1 column 1 (char 0)"), "the interpreter's own words"),
]


def test_a_notebook_that_keeps_all_rules_has_no_finding(tmp_path: Path) -> None:
    assert findings(tmp_path, small_notebook()) == []


def test_notes_for_instructors_behind_the_title_break_no_rule(tmp_path: Path) -> None:
    notebook = small_notebook()
    inserted("questions", text("notes", NOTES, *NOTE_TAGS))(notebook)
    assert findings(tmp_path, notebook) == []
    inserted("next", text("more", NOTES, *NOTE_TAGS))(notebook)
    assert any("more: 'instructor' is there twice" in line for line in findings(tmp_path, notebook))


@pytest.mark.parametrize(("cell", "broken", "says"), BROKEN, ids=[says[:30] for *_, says in BROKEN])
def test_one_broken_rule_is_one_line_that_names_the_cell(
    tmp_path: Path, cell: str, broken: Break, says: str
) -> None:
    notebook = small_notebook()
    broken(notebook)
    found = findings(tmp_path, notebook)
    assert [line for line in found if line.startswith(f"{PLACE}: {cell}: ") and says in line]
    assert len(found) == 1, found


def test_the_notebooks_of_this_repository_keep_all_rules() -> None:
    assert lint.lint(ROOT, lint.known_exercises()) == []


def test_the_two_objectives_of_a_short_list_are_too_few(tmp_path: Path) -> None:
    notebook = small_notebook()
    about("objectives", ["r1", "r2"])(notebook)
    source("objectives", "1. *trace* it (`r1`),\n2. *read* it (`r2`).")(notebook)
    source("keypoints", "- `r1` One.\n- `r2` Two.")(notebook)
    assert findings(tmp_path, notebook) == [
        f"{PLACE}: objectives: 2 objectives: have three to five"
    ]


def test_an_objective_needs_an_id_of_its_own(tmp_path: Path) -> None:
    notebook = small_notebook()
    source("objectives", OBJECTIVES.replace(" (`r2`)", ""))(notebook)
    assert any(
        "no id in '*predict* the next one,'" in line for line in findings(tmp_path, notebook)
    )
    source("objectives", OBJECTIVES.replace("`r2`", "`r1`"))(notebook)
    found = findings(tmp_path, notebook)
    assert f"{PLACE}: objectives: two objectives have one id: rename one" in found


def test_exercises_are_two_or_three_and_all_of_the_registry(tmp_path: Path) -> None:
    notebook = small_notebook()
    without("task-b")(notebook)
    assert findings(tmp_path, notebook, {*EXERCISES, "3.1-a"}) == [
        f"{PLACE}: notebook: 1 exercises are checked with lab.check: have two or three",
        f"{PLACE}: notebook: the exercise '2.2-b' is not used: add it, or delete it",
    ]


def test_without_a_registry_exercises_are_only_counted(tmp_path: Path) -> None:
    assert findings(tmp_path, small_notebook(), None) == []


def test_a_name_of_ours_without_a_docstring_is_named(tmp_path: Path) -> None:
    notebook = small_notebook()
    added("send", "from freya_teach.lab.lesson import annotations, lesson, FROZEN_TIME")(notebook)
    assert findings(tmp_path, notebook) == []
    added("send", "import freya_teach.undescribed")(notebook)
    sys.modules["freya_teach.undescribed"] = type(sys)("freya_teach.undescribed")
    try:
        (found,) = findings(tmp_path, notebook)
    finally:
        del sys.modules["freya_teach.undescribed"]
    assert found == f"{PLACE}: send: freya_teach.undescribed has no docstring: write one"


def test_a_recording_that_is_missing_and_one_that_lies_idle_are_named(tmp_path: Path) -> None:
    notebook = small_notebook()
    source("send", 'reply = await lab.http("wether").post("https://a.example")')(notebook)
    about("recordings", ["wether"])(notebook)
    assert findings(tmp_path, notebook) == [
        f"{PLACE}: notebook: 'wether' is not in fixtures/2.2: record or write it",
        f"{PLACE}: notebook: fixtures/2.2/weather is never played: use or delete it",
    ]


def test_the_gateway_is_no_recording_and_a_loop_over_names_opens_them(tmp_path: Path) -> None:
    notebook = small_notebook()
    loop = 'for name in ("weather", "sunny"):\n    await lab.kernel(name).agent([]).run("?")'
    source("send", f'{loop}\nagent = lab.kernel("gateway")')(notebook)
    assert findings(tmp_path, notebook) == []


def test_what_stands_in_code_or_recordings_is_the_same_everywhere(tmp_path: Path) -> None:
    notebook = small_notebook()
    added("send", 'print("2031-05-06 07:08")')(notebook)
    shows("2031-05-06 07:08, 0f0f0f0f-1111-2222-3333-444455556666, 2026-11-30T12:00:00")(notebook)
    assert findings(tmp_path, notebook) == []


def test_a_cell_may_give_its_reason_for_what_it_prints(tmp_path: Path) -> None:
    notebook = small_notebook()
    shows("the backoff is 0.125 s")(notebook)
    cell_of(notebook, "send").metadata["freya"] = {"fixed": "computed from a fixed seed"}
    assert findings(tmp_path, notebook) == []


def test_a_deliberate_error_is_stored_with_its_name(tmp_path: Path) -> None:
    notebook = small_notebook()
    tagged("send", "raises-exception")(notebook)
    trace = ["\x1b[31mKeyError\x1b[39m: 'city'"]
    outputs("send", new_output("error", ename="KeyError", evalue="'city'", traceback=trace))(
        notebook
    )
    assert findings(tmp_path, notebook) == []


def test_folded_parts_tables_and_code_are_not_counted_as_words(tmp_path: Path) -> None:
    notebook = small_notebook()
    many = "word " * 140
    folded = f"<details><summary>{many}</summary>{many}</details>"
    source("saw", f"{many}\n\n| a | {many} |\n\n```python\n{many}\n```\n\n{folded}")(notebook)
    assert findings(tmp_path, notebook) == []


def test_a_reason_beside_it_lets_an_output_go_uncompared(tmp_path: Path) -> None:
    notebook = small_notebook()
    added("send", "# the model's temperature is the lesson here\n# NBVAL_IGNORE_OUTPUT")(notebook)
    assert findings(tmp_path, notebook) == []


def test_two_sections_that_need_each_other_are_both_named(tmp_path: Path) -> None:
    other = small_notebook()
    about("id", "2.1")(other)
    about("needs", ["2.2"])(other)
    write_course(tmp_path, other, "part1/2.1_other.ipynb")
    notebook = small_notebook()
    about("needs", ["2.1"])(notebook)
    circle = "freya.needs leads back to this section: take one of the needs out"
    assert [line for line in findings(tmp_path, notebook) if circle in line] == [
        f"notebooks/part1/2.1_other.ipynb: notebook: {circle}",
        f"{PLACE}: notebook: {circle}",
    ]


def test_two_files_of_one_section_are_named(tmp_path: Path) -> None:
    write_course(tmp_path, small_notebook(), "part1/2.2_react.ipynb")
    write_course(tmp_path, small_notebook(), "part1/2.2_twin.ipynb")
    found = lint.lint(tmp_path, EXERCISES)
    assert f"{PLACE}: notebook: 2.2_twin.ipynb has the same id" in found


def test_start_here_needs_little_and_may_borrow_a_recording(tmp_path: Path) -> None:
    write_course(tmp_path, small_notebook())
    start = small_notebook()
    without("questions", "objectives", "keypoints", "task-a", "task-b")(start)
    about("id", "start_here")(start)
    about("objectives", [])(start)
    about("minutes", {"teaching": 5, "exercises": 0})(start)
    source("next", "**Next**: [2.2](part1/2.2_react.ipynb#before-you-run)")(start)
    write_course(tmp_path, start, "start_here.ipynb")
    assert lint.lint(tmp_path, EXERCISES) == []


def test_a_lab_is_named_by_its_file_and_has_at_least_one_exercise(tmp_path: Path) -> None:
    lab = small_notebook()
    source("setup", cell_of(lab, "setup").source.replace("2.2", "by_hand"))(lab)
    source("send", "1")(lab)
    source("next", "**Next**: the book.")(lab)
    about("id", "by_hand")(lab)
    about("recordings", [])(lab)
    write_course(tmp_path, lab, "labs/by_hand.ipynb")
    assert lint.lint(tmp_path, EXERCISES) == []
    without("task-a", "task-b")(lab)
    write_course(tmp_path, lab, "labs/by_hand.ipynb")
    (found,) = lint.lint(tmp_path, EXERCISES)
    assert found.endswith("0 exercises are checked with lab.check: have at least one")


def test_a_file_that_is_no_notebook_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    path = write_course(tmp_path, small_notebook())
    path.with_name("2.1_torn.ipynb").write_text('{"cells": [', encoding="utf-8")
    (found,) = lint.lint(tmp_path, EXERCISES)
    assert found.startswith("notebooks/part1/2.1_torn.ipynb: notebook: it cannot be read")


def test_only_the_chosen_notebooks_are_reported(tmp_path: Path) -> None:
    notebook = small_notebook()
    renamed("saw", "a1b2c3d4")(notebook)
    path = write_course(tmp_path, notebook)
    assert lint.lint(tmp_path, EXERCISES, {path.with_name("another.ipynb")}) == []
    assert len(lint.lint(tmp_path, EXERCISES, {path})) == 1


def test_the_small_notebook_is_valid_for_jupyter_too() -> None:
    nbformat.validate(small_notebook())
