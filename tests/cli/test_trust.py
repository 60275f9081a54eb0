"""JupyterLab trusts a notebook that is the course's own, and no other."""

import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from freya_teach.cli.trust import sign_untouched
from freya_teach.cli.working_copy import bring_up_to_date
from freya_teach.paths import course_folder

NAME = "start_here.ipynb"


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A learner's copy with one notebook, and Jupyter's data in a folder of its own."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    folder = tmp_path / "copy"
    folder.mkdir()
    shutil.copy(course_folder("notebooks") / NAME, folder)
    return folder


def is_trusted(path: Path) -> bool:
    """Ask as JupyterLab's server asks when it opens the file."""
    return bool(NotebookNotary().check_signature(nbformat.read(path, as_version=4)))


def test_a_notebook_that_is_as_it_came_is_trusted(copy: Path) -> None:
    assert not is_trusted(copy / NAME)
    assert sign_untouched(course_folder("notebooks"), copy) == 1
    assert is_trusted(copy / NAME)
    assert sign_untouched(course_folder("notebooks"), copy) == 1


def test_a_copy_without_the_instructors_notes_is_as_it_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    course, copy = course_folder("notebooks"), tmp_path / "copy"
    bring_up_to_date(course, copy)
    assert sign_untouched(course, copy) == len(list(copy.rglob("*.ipynb")))
    lesson = next(copy.rglob("4.2_*.ipynb"))
    assert lesson.read_bytes() != (course / lesson.relative_to(copy)).read_bytes()
    assert is_trusted(lesson)


def test_one_that_was_edited_and_one_that_is_not_ours_are_not(copy: Path) -> None:
    text = (copy / NAME).read_text(encoding="utf-8")
    (copy / NAME).write_text(text.replace("Start here", "Begin"), encoding="utf-8")
    (copy / "mine.ipynb").write_text(text, encoding="utf-8")
    assert sign_untouched(course_folder("notebooks"), copy) == 0
    assert not is_trusted(copy / NAME)


def test_a_place_where_nothing_can_be_signed_is_no_reason_not_to_open_the_course(
    copy: Path, tmp_path: Path
) -> None:
    (tmp_path / "jupyter").write_text("a file in the way", encoding="utf-8")
    assert sign_untouched(course_folder("notebooks"), copy) == 0
