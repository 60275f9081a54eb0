import ast
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import audit_page
import notebook_pages
import order
import pytest
import recordings_page
import reference_pages
import speed_page

from freya_teach.paths import PACKAGE, course_folder
from tests.book.conftest import ROOT

BOOK = ROOT / "book"
NOTEBOOKS = course_folder("notebooks")
ROWS = audit_page.rows(BOOK / "audit.toml")


def head(name: str) -> str:
    return (BOOK / "pages" / name).read_text(encoding="utf-8")


def notebook(path: Path, *cells: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    stored = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells)}
    path.write_text(json.dumps(stored), encoding="utf-8")
    return path


def code(source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": "run",
        "metadata": {"tags": ["raises-exception"]},
        "execution_count": 1,
        "source": source,
        "outputs": list(outputs),
    }


# ---- order -------------------------------------------------------------------------------------


def test_a_new_notebook_finds_its_place_without_an_edit(tmp_path: Path) -> None:
    names = (
        "labs/by_hand",
        "part4_streaming/10.1_time",
        "part4_streaming/9.1_build",
        "part1_react/2.1_agency",
        "start_here",
    )
    for name in names:
        notebook(tmp_path / f"{name}.ipynb")
    groups = order.groups(tmp_path)
    found = [path.stem for group in groups for path in group.notebooks]
    assert found == ["start_here", "2.1_agency", "9.1_build", "10.1_time", "by_hand"]
    titles = [group.title for group in groups]
    assert titles == ["Begin", "Part 1 · ReAct", "Part 4 · Streaming", "Labs"]


def test_jupyters_own_copies_are_no_pages(tmp_path: Path) -> None:
    notebook(tmp_path / "start_here.ipynb")
    notebook(tmp_path / ".ipynb_checkpoints" / "start_here-checkpoint.ipynb")
    assert len(order.groups(tmp_path)) == 1


# ---- notebooks ---------------------------------------------------------------------------------


def test_a_deliberate_error_is_told_in_words_and_without_colours(tmp_path: Path) -> None:
    error = {
        "output_type": "error",
        "ename": "ToolError",
        "evalue": "no <city>",
        "traceback": ["\x1b[31mToolError\x1b[0m: no <city>"],
    }
    path = notebook(tmp_path / "2.1_x.ipynb", code("raise it", error))
    page = json.loads(notebook_pages.as_page(path, Path("2.1_x.ipynb")))
    html = page["cells"][-1]["outputs"][0]["data"]["text/html"]
    assert 'role="group" aria-label="An error, on purpose: ToolError"' in html
    assert "<pre>ToolError: no &lt;city&gt;</pre>" in html
    assert "\x1b" not in html


def test_a_page_without_python_has_a_picture_and_no_widget(tmp_path: Path) -> None:
    data = {notebook_pages.WIDGET: {"model_id": "1"}, "text/html": "<svg></svg>"}
    output = {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": data}
    path = notebook(tmp_path / "2.1_x.ipynb", code("view", output))
    page = json.loads(notebook_pages.as_page(path, Path("2.1_x.ipynb")))
    assert page["cells"][-1]["outputs"][0]["data"] == {"text/html": "<svg></svg>"}


# ---- audit -------------------------------------------------------------------------------------


def test_the_audit_has_all_its_rows_in_order() -> None:
    assert [row.id for row in ROWS] == [f"A{number}" for number in range(1, 41)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_a_row_leads_to_a_cell_of_a_notebook_that_is_there(row: audit_page.Row) -> None:
    parts = order.groups(NOTEBOOKS)
    found = {order.section_of(path): path for part in parts for path in part.notebooks}
    for section, cell in row.cells:
        cells = json.loads(found[section].read_text(encoding="utf-8"))["cells"]
        tags = {each["id"]: each["metadata"].get("tags", []) for each in cells}
        assert cell in tags, f"{row.id} names {section}#{cell}"
    assert audit_page.links(row, found), f"nothing in {row.section} measures {row.id}"


def test_a_row_without_cells_finds_the_audit_that_bears_its_name(tmp_path: Path) -> None:
    def told(name: str) -> dict[str, Any]:
        tags = {"tags": ["audit"]}
        return {"cell_type": "markdown", "id": name, "metadata": tags, "source": "x"}

    path = notebook(tmp_path / "5.1_x.ipynb", told("a14-why"), told("a15-why"))
    row = audit_page.Row("A15", "5.1", "", "", "", ())
    assert audit_page.links(row, {"5.1": path}) == ["[5.1, *a15-why*](#5.1-a15-why)"]
    assert audit_page.links(row, {}) == []


# ---- recordings, reference ---------------------------------------------------------------------


def test_every_recording_is_counted_and_says_what_it_is() -> None:
    page = recordings_page.page(head("recordings.md"), ROOT / "fixtures")
    files = list((ROOT / "fixtures").rglob("*.json"))
    kinds = [json.loads(f.read_text(encoding="utf-8"))["provenance"]["kind"] for f in files]
    assert f"{len(files)} exchanges" in page
    assert f"{kinds.count('recorded')} of them recorded" in page
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert len(rows) == len({file.parent for file in files})


def test_every_module_of_the_kernel_is_in_the_reference() -> None:
    pages = reference_pages.pages("", PACKAGE)
    documented = set(re.findall(r"automodule:: ([\w.]+)", "".join(pages.values())))
    modules = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in PACKAGE.rglob("*.py")
    }
    course = ("freya_teach.lab", "freya_teach.cli")
    assert documented == {m for m in modules if not m.startswith(course)} - {"freya_teach"}


# ---- speed -------------------------------------------------------------------------------------


def test_without_figures_there_is_no_page_on_speed(tmp_path: Path) -> None:
    figures = tmp_path / "speed.toml"
    figures.write_text('when = ""\nwhere = ""\n', encoding="utf-8")
    assert speed_page.page(head("speed.md"), figures) == ""


def test_figures_become_a_table_of_ours_and_one_of_the_others(tmp_path: Path) -> None:
    figures = tmp_path / "speed.toml"
    figures.write_text(
        """
when = "a day"
where = "a machine"
[[own]]
what = "some work"
ratio = [1.5, 1.25, 2.0]
[[peer]]
name = "a library"
version = "7.0"
ratios = [3.0, 4.0, 5.0, nan, 6.0]
import_seconds = 0.5
memory = 30.2
megabytes = 12.4
packages = 7
""",
        encoding="utf-8",
    )
    page = speed_page.page(head("speed.md"), figures)
    assert "Measured on a day: a machine." in page
    assert "| some work | 1.50 | 1.25 | 2.00 |" in page
    assert "| a library 7.0 | 3.00 | 4.00 | 5.00 | – | 6.00 | 0.50 | 30 | 12 | 7 |" in page


def test_the_figures_in_the_repository_can_be_read() -> None:
    page = speed_page.page(head("speed.md"), BOOK / "speed.toml")
    assert page == "" or "Measured on 20" in page


# ---- set-up and trouble-shooting ---------------------------------------------------------------


@cache
def texts_in_code() -> str:
    """Every text of the package: what is put into it at run time is a …, as on the page."""
    found = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                pieces = [str(p.value) if isinstance(p, ast.Constant) else "…" for p in node.values]
                found.append("".join(pieces))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return "\n".join(found)


PYTHONS_OWN = ("ModuleNotFoundError", "NameError")


def messages_of_the_page() -> list[str]:
    """The messages in the tables of the set-up page; the doctor's are in the second column."""
    text = (BOOK / "pages" / "setup.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in text.splitlines() if line.startswith("|")]
    column, messages = 1, []
    for row in rows:
        column = {"line": 2, "message": 1, "error": 1}.get(row[1].strip(), column)
        messages += re.findall(r"`([^`]+)`", row[column])
    return [m for m in messages if " " in m and not m.startswith(PYTHONS_OWN)]


@pytest.mark.parametrize("message", messages_of_the_page())
def test_a_message_on_the_set_up_page_is_one_that_the_code_gives(message: str) -> None:
    said = texts_in_code()
    name, _, rest = message.partition(": ")
    told = rest if name.isidentifier() and name[0].isupper() else message
    for piece in told.split("…"):
        assert piece.strip(" :(),.") in said, piece


def test_every_line_of_the_doctor_is_on_the_set_up_page() -> None:
    tree = ast.parse((PACKAGE / "cli" / "doctor.py").read_text(encoding="utf-8"))
    lines = {
        str(node.args[1].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Finding"
        and isinstance(node.args[1], ast.Constant)
    }
    page = (BOOK / "pages" / "setup.md").read_text(encoding="utf-8")
    assert {line for line in lines if f"| {line} |" not in page} == set()


def test_every_error_that_the_other_end_can_cause_is_on_the_set_up_page() -> None:
    page = (BOOK / "pages" / "setup.md").read_text(encoding="utf-8")
    tree = ast.parse((PACKAGE / "errors.py").read_text(encoding="utf-8"))
    names = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    wanted = names[names.index("LLMError") + 1 :]
    assert {name for name in wanted if name != "ProviderError" and f"`{name}" not in page} == set()
