"""Thirty learners' files in one folder, as they come in."""

import csv
import io
import json
from pathlib import Path

import pytest

from freya_teach.lab.class_progress import as_csv, as_json, collect
from freya_teach.lab.exercises import every_exercise
from freya_teach.lab.progress import note_passed

FIRST, SECOND, THIRD = [exercise.id for exercise in every_exercise() if exercise.section == "2.3"]


def learner(path: Path, *passed: str) -> None:
    """A learner's file, written as the course writes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"passed": {}}', encoding="utf-8")
    for exercise_id in passed:
        note_passed(exercise_id, path)


@pytest.fixture
def room(tmp_path: Path) -> Path:
    """Thirty learners: all have passed the first exercise, ten the second, nobody the third."""
    for number in range(30):
        passed = (FIRST, SECOND) if number < 10 else (FIRST,)
        learner(tmp_path / "in" / f"learner-{number:02}.json", *passed)
    return tmp_path / "in"


def test_thirty_files_are_counted_exercise_by_exercise(room: Path) -> None:
    counted = collect(room)
    assert len(counted.learners) == 30
    assert (counted.counts[FIRST], counted.counts[SECOND], counted.counts[THIRD]) == (30, 10, 0)
    assert list(counted.counts) == [exercise.id for exercise in every_exercise()]


def test_the_room_is_stuck_where_fewer_than_half_have_passed_in_a_section_that_was_begun(
    room: Path,
) -> None:
    assert collect(room).begun == ["2.3"]
    assert collect(room).stuck == [THIRD, SECOND]


def test_exactly_half_is_not_stuck(tmp_path: Path) -> None:
    learner(tmp_path / "ada.json", FIRST, SECOND, THIRD)
    learner(tmp_path / "ben.json", FIRST)
    assert collect(tmp_path).stuck == []


def test_names_come_from_files_from_folders_and_from_homes(tmp_path: Path) -> None:
    learner(tmp_path / "ada.json")
    learner(tmp_path / "ben" / "progress.json")
    learner(tmp_path / "cem" / ".local" / "share" / "freya-teach" / "progress.json")
    learner(tmp_path / "dee" / "Library" / "Application Support" / "freya-teach" / "progress.json")
    learner(tmp_path / "ada" / "progress.json")
    found = [one.name for one in collect(tmp_path).learners]
    assert found == ["ada", "ada (2)", "ben", "cem", "dee"]


def test_what_is_damaged_or_no_such_file_is_named_and_the_others_count(room: Path) -> None:
    (room / "zoe.json").write_text('{"passed": 3}', encoding="utf-8")
    (room / "yan.json").write_bytes(b"\xff\xfe")
    (room / "learner-00.before-reset-1.json").write_text("{}", encoding="utf-8")
    (room / ".learner-01.json.half").write_text("{", encoding="utf-8")
    counted = collect(room)
    assert len(counted.learners) == 30
    assert [line.partition(":")[0] for line in counted.unread] == ["yan.json", "zoe.json"]


def test_a_file_in_the_place_of_the_folder_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("", encoding="utf-8")
    with pytest.raises(NotADirectoryError, match="is no folder"):
        collect(tmp_path / "x")


def test_as_csv_it_has_a_line_a_learner_and_the_day_of_each_pass(room: Path) -> None:
    lines = list(csv.reader(io.StringIO(as_csv(collect(room)))))
    header, first = lines[0], dict(zip(lines[0], lines[1], strict=True))
    assert len(lines) == 31
    assert header == ["learner", *(exercise.id for exercise in every_exercise())]
    assert first["learner"] == "learner-00"
    assert first[FIRST][:2] == "20"
    assert first[THIRD] == ""


def test_a_name_is_no_formula_for_a_spreadsheet(tmp_path: Path) -> None:
    learner(tmp_path / "=1+1.json", FIRST)
    assert as_csv(collect(tmp_path)).splitlines()[1].startswith("'=1+1,")


def test_as_json_it_says_the_same(room: Path) -> None:
    values = json.loads(json.dumps(as_json(collect(room))))
    assert values["counts"][SECOND] == 10
    assert values["learners"]["learner-00"] == sorted([FIRST, SECOND])
    assert values["stuck"] == [THIRD, SECOND]
