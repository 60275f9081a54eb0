import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from freya_teach.cli.working_copy import (
    MANIFEST,
    Report,
    WorkingCopyError,
    bring_up_to_date,
    find_section,
    fingerprint,
    restore,
)

AGENT = "part1_react/2.3_freya_agent_executor.ipynb"
RAW = "labs/gemini_over_raw_http.ipynb"


def notebook(source: str, *, count: int | None = None, output: str = "") -> str:
    cell = {
        "cell_type": "code",
        "execution_count": count,
        "id": "one",
        "metadata": {},
        "outputs": [{"output_type": "stream", "name": "stdout", "text": [output]}],
        "source": source.splitlines(keepends=True),
    }
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def originals(tmp_path: Path) -> Path:
    files = {AGENT: notebook("agent = 1"), RAW: notebook("raw = 1")}
    return write(tmp_path / "course", files)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return tmp_path / "home" / "freya-course"


def test_a_first_copy_has_every_notebook_and_no_hidden_file(originals: Path, copy: Path) -> None:
    write(originals, {".ipynb_checkpoints/x.ipynb": "x", "labs/.ipynb_checkpoints/y.ipynb": "y"})
    assert bring_up_to_date(originals, copy) == Report(added=(RAW, AGENT))
    there = {path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file()}
    assert there == {AGENT, RAW, MANIFEST}


def test_nothing_happens_when_nothing_changed(originals: Path, copy: Path) -> None:
    bring_up_to_date(originals, copy)
    assert bring_up_to_date(originals, copy) == Report()


def test_an_untouched_notebook_is_brought_up_to_date(originals: Path, copy: Path) -> None:
    bring_up_to_date(originals, copy)
    write(originals, {AGENT: notebook("agent = 2")})
    assert bring_up_to_date(originals, copy) == Report(updated=(AGENT,))
    assert (copy / AGENT).read_text(encoding="utf-8") == notebook("agent = 2")


def test_a_notebook_that_was_only_run_counts_as_untouched(originals: Path, copy: Path) -> None:
    bring_up_to_date(originals, copy)
    write(copy, {AGENT: notebook("agent = 1", count=7, output="ran")})
    write(originals, {AGENT: notebook("agent = 2")})
    assert bring_up_to_date(originals, copy) == Report(updated=(AGENT,))


def test_an_edited_notebook_is_kept_and_named_as_long_as_it_lags_behind(
    originals: Path, copy: Path
) -> None:
    bring_up_to_date(originals, copy)
    mine = notebook("agent = 'mine'")
    write(copy, {AGENT: mine})
    assert bring_up_to_date(originals, copy) == Report()
    write(originals, {AGENT: notebook("agent = 2")})
    assert bring_up_to_date(originals, copy) == Report(kept=(AGENT,))
    assert bring_up_to_date(originals, copy) == Report(kept=(AGENT,))
    assert (copy / AGENT).read_text(encoding="utf-8") == mine


def test_a_new_notebook_of_an_update_is_added(originals: Path, copy: Path) -> None:
    bring_up_to_date(originals, copy)
    write(originals, {"start_here.ipynb": notebook("1")})
    assert bring_up_to_date(originals, copy) == Report(added=("start_here.ipynb",))


def test_a_learners_own_file_of_the_same_name_is_kept(originals: Path, copy: Path) -> None:
    write(copy, {RAW: "my notes"})
    assert bring_up_to_date(originals, copy) == Report(added=(AGENT,), kept=(RAW,))
    assert (copy / RAW).read_text(encoding="utf-8") == "my notes"


@pytest.mark.parametrize("manifest", ["", "[]", '{"files": 3}', "\udcff"])
def test_without_a_readable_manifest_whatever_differs_is_kept(
    originals: Path, copy: Path, manifest: str
) -> None:
    bring_up_to_date(originals, copy)
    (copy / MANIFEST).write_bytes(manifest.encode("utf-8", "surrogateescape"))
    write(originals, {AGENT: notebook("agent = 2")})
    assert bring_up_to_date(originals, copy) == Report(kept=(AGENT,))


def test_a_notebook_that_vanished_from_the_course_stays_in_the_copy(
    originals: Path, copy: Path
) -> None:
    bring_up_to_date(originals, copy)
    (originals / RAW).unlink()
    assert bring_up_to_date(originals, copy) == Report()
    assert (copy / RAW).is_file()


def with_notes(text: str) -> str:
    read = json.loads(text)
    notes = {"cell_type": "markdown", "id": "n", "metadata": {"tags": ["instructor"]}}
    read["cells"].insert(0, notes | {"source": ["**Timing** slow"]})
    return json.dumps(read, indent=1, ensure_ascii=False) + "\n"


def test_a_copy_lacks_the_instructors_notes_also_after_a_reset(originals: Path, copy: Path) -> None:
    write(originals, {AGENT: with_notes(notebook("agent = 1"))})
    bring_up_to_date(originals, copy)
    assert "Timing" not in (copy / AGENT).read_text(encoding="utf-8")
    write(copy, {AGENT: notebook("mine")})
    restore(originals, copy, "2.3")
    assert "Timing" not in (copy / AGENT).read_text(encoding="utf-8")
    assert "agent = 1" in (copy / AGENT).read_text(encoding="utf-8")


def test_notes_that_come_or_change_are_no_news_to_a_learner(originals: Path, copy: Path) -> None:
    bring_up_to_date(originals, copy)
    write(originals, {AGENT: with_notes(notebook("agent = 1"))})
    assert bring_up_to_date(originals, copy) == Report()
    write(copy, {AGENT: notebook("mine")})
    assert bring_up_to_date(originals, copy) == Report()
    write(originals, {AGENT: with_notes(notebook("agent = 2"))})
    assert bring_up_to_date(originals, copy) == Report(kept=(AGENT,))


def test_reset_restores_a_notebook_and_keeps_every_edited_one(originals: Path, copy: Path) -> None:
    bring_up_to_date(originals, copy)
    for number in (1, 2):
        mine = notebook(f"agent = 'mine {number}'")
        write(copy, {AGENT: mine})
        restored, kept = restore(originals, copy, "2.3")
        assert restored.read_text(encoding="utf-8") == notebook("agent = 1")
        assert kept == copy / f"part1_react/2.3_freya_agent_executor.edited-{number}.ipynb"
        assert kept.read_text(encoding="utf-8") == mine


def test_reset_of_an_untouched_notebook_leaves_no_second_file(originals: Path, copy: Path) -> None:
    bring_up_to_date(originals, copy)
    assert restore(originals, copy, "2.3") == (copy / AGENT, None)


def test_reset_makes_the_copy_follow_updates_again(originals: Path, copy: Path) -> None:
    bring_up_to_date(originals, copy)
    write(copy, {AGENT: notebook("mine")})
    restore(originals, copy, "2.3")
    write(originals, {AGENT: notebook("agent = 2")})
    assert bring_up_to_date(originals, copy) == Report(updated=(AGENT,))


@pytest.mark.parametrize(
    "wish", ["2.3", "2.3_freya_agent_executor", "2.3_freya_agent_executor.ipynb", AGENT]
)
def test_a_section_is_found_by_number_name_and_path(wish: str) -> None:
    assert find_section([RAW, "part1_react/12.3_other.ipynb", AGENT], wish) == AGENT


def test_an_unknown_section_gets_the_close_ones_listed() -> None:
    with pytest.raises(WorkingCopyError) as told:
        find_section([RAW, AGENT], "2.4")
    assert "2.3_freya_agent_executor" in str(told.value)
    assert "gemini_over_raw_http" not in str(told.value)


def test_a_section_like_no_other_gets_all_of_them_listed() -> None:
    with pytest.raises(WorkingCopyError, match=r"(?s)2\.3_freya.*gemini_over"):
        find_section([RAW, AGENT], "9.9")


def test_a_file_in_the_place_of_the_folder_is_told_apart(originals: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine", encoding="utf-8")
    for folder in (tmp_path / "notes", tmp_path / "notes" / "below"):
        with pytest.raises(WorkingCopyError, match="--dir"):
            bring_up_to_date(originals, folder)
    assert (tmp_path / "notes").read_text(encoding="utf-8") == "mine"


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere"
)
def test_a_folder_that_one_may_not_even_look_into_is_told_in_words(
    originals: Path, tmp_path: Path
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    with pytest.raises(WorkingCopyError, match="cannot be written"):
        bring_up_to_date(originals, closed / "copy")


def test_a_disk_that_refuses_is_told_in_words(originals: Path, copy: Path) -> None:
    (copy / AGENT).parent.parent.mkdir(parents=True)
    (copy / "part1_react").write_text("a file where a folder must be", encoding="utf-8")
    with pytest.raises(WorkingCopyError, match="cannot be written"):
        bring_up_to_date(originals, copy)


def test_cells_stored_as_lines_and_as_one_text_have_the_same_fingerprint() -> None:
    lines = notebook("a = 1\nb = 2")
    whole = json.loads(lines)
    whole["cells"][0]["source"] = "a = 1\nb = 2"
    assert fingerprint(lines.encode()) == fingerprint(json.dumps(whole).encode())
