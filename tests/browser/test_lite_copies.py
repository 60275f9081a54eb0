"""The notebooks as the browser edition holds them, without a browser."""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from freya_teach.paths import course_folder

LITE = Path(__file__).resolve().parents[2] / "book" / "lite"
sys.path.append(str(LITE))
copies: Any = importlib.import_module("copies")
left_out: dict[str, str] = importlib.import_module("left_out").LEFT_OUT

NOTEBOOKS = course_folder("notebooks")
NAMES = sorted(
    path.relative_to(NOTEBOOKS).as_posix()
    for path in NOTEBOOKS.rglob("*.ipynb")
    if ".ipynb_checkpoints" not in path.parts
)


def read(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("lite")
    copies.lay_out_notebooks(NOTEBOOKS, target, "https://course.example.org/")
    return target


@pytest.mark.parametrize("name", NAMES)
def test_every_notebook_has_its_cells_and_outputs_unchanged_and_no_instructors_note(
    laid_out: Path, name: str
) -> None:
    copy = read(laid_out / name)
    cells = [cell for cell in copy["cells"] if cell["id"] != "browser-edition"]
    stored = read(NOTEBOOKS / name)["cells"]
    assert cells == [c for c in stored if "instructor" not in c["metadata"].get("tags", [])]
    assert copy["metadata"]["kernelspec"]["name"] == "python"
    assert (len(copy["cells"]) > len(cells)) is (name in left_out)


@pytest.mark.parametrize("name", left_out)
def test_a_lesson_that_cannot_run_in_a_page_says_so_first_and_links_to_the_book(
    laid_out: Path, name: str
) -> None:
    first = read(laid_out / name)["cells"][0]["source"]
    assert first.startswith("**This lesson does not run in the browser edition:** ")
    assert left_out[name] in first
    page = name.removesuffix(".ipynb") + ".html"
    assert f"[its page in the book](https://course.example.org/{page})" in first


def test_without_a_books_address_no_link_is_made_up(tmp_path: Path) -> None:
    copies.lay_out_notebooks(NOTEBOOKS, tmp_path)
    for name in left_out:
        first = read(tmp_path / name)["cells"][0]["source"]
        assert "on its page in the book;" in first
        assert "](" not in first


def test_only_lessons_that_exist_are_named_as_left_out() -> None:
    assert left_out.keys() <= set(NAMES)
