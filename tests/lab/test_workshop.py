"""A schedule for every beginning, end and time; notes, slides and copies from real notebooks."""

import ast
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.lab.workshop import (
    Piece,
    Schedule,
    Section,
    as_json,
    as_markdown,
    as_text,
    notes_of,
    plan,
    read_section,
    read_sections,
    without_notes,
)
from freya_teach.lab.workshop.live import for_live_coding
from freya_teach.lab.workshop.notes import encoded
from freya_teach.lab.workshop.schedule import BREAK, FEWEST_MINUTES, MOST_WITHOUT_BREAK
from freya_teach.lab.workshop.sections import Kind, shared_out
from freya_teach.lab.workshop.slides import slides
from freya_teach.paths import course_folder

NOTEBOOKS = course_folder("notebooks")
COURSE = read_sections(NOTEBOOKS)
BY_ID = {section.id: section for section in COURSE}


KINDS: tuple[Kind, ...] = ("core", "audit", "production", "exercise")


def notebook(section: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((NOTEBOOKS / BY_ID[section].file).read_text(encoding="utf-8"))
    return read


def made(name: str, *minutes: int, needs: tuple[str, ...] = ()) -> Section:
    """A section of pieces of the core, with these minutes."""
    pieces = tuple(Piece("core", f"{name}{n}", long, f"c{n}") for n, long in enumerate(minutes))
    return Section(name, name, f"{name}.ipynb", needs, pieces)


def is_sound(schedule: Schedule, sections: Sequence[Section]) -> None:
    """What holds for every schedule."""
    assert schedule.end <= schedule.minutes
    stretch, clock = 0, 0
    for entry in schedule.entries:
        assert entry.start == clock, "entries follow each other without gap or overlap"
        assert entry.minutes > 0
        clock = entry.end
        is_break = entry.kind.endswith("break")
        stretch = 0 if is_break else stretch + entry.minutes
        assert not is_break or entry.minutes >= BREAK
        assert stretch <= MOST_WITHOUT_BREAK
    taught = [section.id for section in schedule.sections]
    assert taught == [section.id for section in sections if section.id in taught]
    for place, section in enumerate(schedule.sections):
        for need in section.needs:
            assert need in taught[:place] or section.id in schedule.assumed[need]
    for section in schedule.sections:
        shown = {e.piece for e in schedule.entries if e.section is section}
        missing = {each.piece for each in schedule.left_out if each.section is section}
        assert shown | missing == set(section.pieces), "a piece is taught or named as left out"
        assert not shown & missing
    assert {*taught, *(s.id for s in schedule.not_taught)} == {s.id for s in sections}


@given(st.data(), st.integers(FEWEST_MINUTES, 1500))
def test_a_schedule_of_the_course_never_exceeds_its_minutes(
    data: st.DataObject, minutes: int
) -> None:
    first = data.draw(st.integers(0, len(COURSE) - 1))
    last = data.draw(st.integers(first, len(COURSE) - 1))
    sections = COURSE[first : last + 1]
    is_sound(plan(sections, minutes), sections)


@pytest.mark.soak
def test_so_it_is_for_every_start_and_end_of_the_course() -> None:
    for first in range(len(COURSE)):
        for last in range(first, len(COURSE)):
            for minutes in (30, 37, 60, 90, 135, 180, 360, 720):
                sections = COURSE[first : last + 1]
                is_sound(plan(sections, minutes), sections)


@st.composite
def courses(draw: st.DrawFn) -> list[Section]:
    """Sections of any length that need earlier ones, or ones that nobody has."""
    found: list[Section] = []
    for number in range(draw(st.integers(1, 7))):
        names = [*(section.id for section in found), "elsewhere"]
        needs = draw(st.lists(st.sampled_from(names), unique=True, max_size=3))
        kinds = st.sampled_from(KINDS)
        pieces = draw(st.lists(st.tuples(kinds, st.integers(1, 250)), min_size=1, max_size=9))
        made_of = (Piece(kind, f"{n}", m, f"c{n}") for n, (kind, m) in enumerate(pieces))
        found.append(Section(f"s{number}", "", f"{number}", tuple(needs), tuple(made_of)))
    return found


@given(courses(), st.integers(FEWEST_MINUTES, 1000))
def test_so_it_is_for_any_other_course(sections: list[Section], minutes: int) -> None:
    is_sound(plan(sections, minutes), sections)


def test_more_minutes_never_end_later_than_they_are_and_all_is_taught_at_last() -> None:
    plenty = plan(COURSE, 10_000)
    assert plenty.left_out == ()
    assert plenty.not_taught == ()
    assert set(plenty.assumed) <= {need for section in COURSE for need in section.needs}


def test_what_most_others_build_on_comes_first() -> None:
    sections = [made("a", 40), made("b", 40), made("c", 40, needs=("b",))]
    assert [section.id for section in plan(sections, 60).sections] == ["b"]
    assert [section.id for section in plan(sections, 120).sections] == ["a", "b"]


def test_a_section_whose_need_found_no_room_is_left_for_another_day() -> None:
    sections = [made("long", 200), made("short", 20, needs=("long",)), made("other", 20)]
    assert [section.id for section in plan(sections, 60).sections] == ["other"]


def test_where_no_section_fits_its_beginning_does() -> None:
    schedule = plan([made("long", 10, 10, 30)], 40)
    assert [entry.minutes for entry in schedule.entries] == [5, 10, 10, 5]
    assert [each.piece.minutes for each in schedule.left_out] == [30]


def test_where_nothing_fits_nothing_is_taught_and_that_is_said() -> None:
    schedule = plan([made("long", 100)], 30)
    assert schedule.sections == ()
    assert as_text(schedule).startswith("30 minutes: too short for any section.")
    assert "For another day: long." in as_text(schedule)


def test_a_piece_is_not_interrupted_by_a_break() -> None:
    schedule = plan([made("long", 50, 40)], 120)
    assert [entry.kind for entry in schedule.entries] == [
        "opening",
        "piece",
        "break",
        "piece",
        "closing",
    ]


def test_one_that_is_longer_than_people_can_sit_is() -> None:
    schedule = plan([made("long", 100)], 120)
    assert [entry.minutes for entry in schedule.entries] == [5, 85, 10, 15, 5]


def test_time_that_is_left_brings_back_exercises_then_audits_then_tables() -> None:
    core, audit = Piece("core", "", 30, "a"), Piece("audit", "", 9, "b")
    table = Piece("production", "", 2, "p")
    tasks = tuple(Piece("exercise", "", 8, f"e{n}") for n in range(3))
    section = Section("1", "", "1", (), (core, audit, *tasks, table))
    left = {m: {each.piece.cell for each in plan([section], m).left_out} for m in range(48, 77)}
    assert left[48] == {"b", "e1", "e2", "p"}
    assert left[64] == {"b", "p"}
    assert left[73] == {"p"}
    assert left[76] == set()


@pytest.mark.parametrize("minutes", [29, 0, -5])
def test_less_than_half_an_hour_is_no_workshop(minutes: int) -> None:
    with pytest.raises(ValueError, match="at least 30 minutes"):
        plan(COURSE, minutes)


@given(st.integers(0, 300), st.lists(st.integers(0, 5000), max_size=20))
def test_minutes_are_shared_out_to_the_last_one(total: int, weights: list[int]) -> None:
    minutes = shared_out(total, weights)
    assert len(minutes) == len(weights)
    assert sum(minutes) == (total if weights else 0)
    assert min(minutes, default=0) >= (1 if weights and total >= len(weights) else 0)


@pytest.mark.parametrize("section", COURSE, ids=lambda section: section.id)
def test_the_pieces_of_a_notebook_take_the_minutes_that_it_states(section: Section) -> None:
    stated = notebook(section.id)["metadata"]["freya"]["minutes"]
    assert section.minutes("core", "audit", "production") == stated["teaching"]
    assert section.minutes("exercise") == stated["exercises"]
    exercises = [piece.title for piece in section.pieces if piece.kind == "exercise"]
    assert all(title.startswith(f"Exercise {section.id}-") for title in exercises)


@pytest.mark.parametrize("section", COURSE, ids=lambda section: section.id)
def test_the_state_of_a_checkpoint_is_made_by_the_cells_above_it(section: Section) -> None:
    cells = notebook(section.id)["cells"]
    places = {cell["id"]: place for place, cell in enumerate(cells)}
    for piece in section.pieces:
        above = [
            "".join(cell["source"])
            for cell in cells[: places[piece.cell]]
            if cell["cell_type"] == "code"
        ]
        nodes = [node for code in above for node in ast.walk(ast.parse(code))]
        names = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        names |= {
            n.name
            for n in nodes
            if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        }
        names |= {n.asname or n.name.split(".")[0] for n in nodes if isinstance(n, ast.alias)}
        assert set(piece.state) <= names


def test_instructors_notes_are_no_piece(tmp_path: Path) -> None:
    path = NOTEBOOKS / BY_ID["4.2"].file
    (tmp_path / "x.ipynb").write_bytes(without_notes(path.read_bytes()))
    assert read_section(tmp_path / "x.ipynb", BY_ID["4.2"].file) == BY_ID["4.2"]


def test_text_page_and_json_tell_the_same() -> None:
    schedule = plan([BY_ID["4.2"], BY_ID["4.3"]], 130)
    text, page, values = as_text(schedule), as_markdown(schedule), as_json(schedule)
    assert json.loads(json.dumps(values)) == values
    for entry in values["entries"]:
        if entry["kind"] == "piece":
            assert entry["title"] in text
            assert f"`{entry['checkpoint']['cell']}`" in page
    assert "Assumed: 4.1, which is not taught here; 4.2 builds on it." in text
    assert "Assumed: 4.1" in page
    assert values["assumed"]["4.1"] == ["4.2"]
    assert values["end"] + values["spare"] == 130
    for each in values["left_out"]:
        assert f"{each['title']}" in text


@pytest.mark.parametrize(
    ("spare", "says"),
    [(0, "."), (1, "; 1 minute is left over."), (2, "; 2 minutes are left over.")],
)
def test_what_is_left_over_is_told_in_the_first_line(spare: int, says: str) -> None:
    schedule = plan([made("a", 20)], 60)
    first = as_text(replace(schedule, minutes=schedule.end + spare)).splitlines()[0]
    assert first.endswith(f"It ends at 0:{schedule.end}{says}")


def test_an_audit_that_later_cells_build_on_is_named_as_one_to_run() -> None:
    schedule = plan([BY_ID["4.1"]], 60)
    (audit,) = [each for each in as_json(schedule)["left_out"] if each["kind"] == "audit"]
    assert audit["run_anyway"] != []
    assert "run its cells without a word" in as_text(schedule)


# ---- notes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("section", COURSE, ids=lambda section: section.id)
def test_every_section_has_notes_and_a_learners_copy_has_none(section: Section) -> None:
    content = (NOTEBOOKS / section.file).read_bytes()
    copy = without_notes(content)
    assert "**Expected questions**" in notes_of(json.loads(content))
    assert notes_of(json.loads(copy)) == ""
    assert b"For the instructor" not in copy
    assert len(json.loads(copy)["cells"]) == len(json.loads(content)["cells"]) - 1
    assert without_notes(copy) == copy


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"cells": 3}', b"\xff", b"plain words"])
def test_what_is_no_notebook_stays_as_it_is(content: bytes) -> None:
    assert without_notes(content) == content


def test_a_notebook_is_written_as_jupyter_writes_it() -> None:
    content = (NOTEBOOKS / "start_here.ipynb").read_bytes()
    assert encoded(json.loads(content)) == content


# ---- slides and live coding ------------------------------------------------------------------


@pytest.mark.parametrize("section", COURSE, ids=lambda section: section.id)
def test_slides_load_nothing_and_run_nothing(section: Section) -> None:
    page = slides(notebook(section.id))
    assert "default-src 'none'" in page
    assert "For the instructor" not in page
    assert not re.search(r"<script|<link|<iframe|\bsrc=\"(?!data:)|url\(|@import", page)
    assert not re.search(r'href="(?!https?:|#)', page), "no link into a folder that is not there"
    numbers = [int(number) for number in re.findall(r'<section id="s(\d+)">', page)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > 10


def test_slides_show_code_with_its_output_and_leave_the_explanation_to_the_speaker() -> None:
    page = slides(notebook("4.2"))
    assert "A tool call on the wire" in page
    assert "What exactly comes back when a model calls a tool" in page
    assert "<svg" in page
    assert "Key points" in page
    assert "Your turn" in page
    assert "my_prediction" not in page
    slide = next(s for s in page.split("<section") if "parsed twice" in s)
    assert "1 · The answer in one piece" in slide
    assert "The packet is small enough to be read to its end" not in page


def test_an_output_is_shown_as_text_and_never_becomes_a_tag() -> None:
    lesson = notebook("4.2")
    cell = next(c for c in lesson["cells"] if c["id"] == "whole-run")
    cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["<b>bold</b> & <x>"]}]
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; &lt;x&gt;" in slides(lesson)


@pytest.mark.parametrize("section", COURSE, ids=lambda section: section.id)
def test_a_copy_for_live_coding_keeps_words_setup_and_stubs_and_nothing_that_was_run(
    section: Section,
) -> None:
    whole = json.loads(without_notes((NOTEBOOKS / section.file).read_bytes()))
    copy = for_live_coding(whole)
    assert [cell["id"] for cell in copy["cells"]] == [cell["id"] for cell in whole["cells"]]
    for cell, original in zip(copy["cells"], whole["cells"], strict=True):
        tags = set(cell["metadata"].get("tags", []))
        if cell["cell_type"] == "markdown":
            assert cell == original
            continue
        assert cell["outputs"] == []
        assert cell["execution_count"] is None
        text = "".join(cell["source"])
        kept = tags & {"setup", "exercise", "predict"} or text == "lab.close()"
        assert text == ("".join(original["source"]) if kept else f"# {cell['id']}\n")
