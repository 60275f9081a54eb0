import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from freya_teach.cli.main import build_app
from freya_teach.lab.exercises import every_exercise
from freya_teach.lab.progress import note_passed, passed_exercises

SECTION_2_3 = [exercise.id for exercise in every_exercise() if exercise.section == "2.3"]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    chosen = tmp_path / "progress.json"
    monkeypatch.setenv("FREYA_PROGRESS_FILE", str(chosen))
    return chosen


def progress(*arguments: str, answer: str | None = None) -> tuple[int, str]:
    result = CliRunner().invoke(build_app(), ["progress", *arguments], input=answer)
    return result.exit_code, result.output


@pytest.mark.usefixtures("path")
def test_a_beginner_sees_every_section_and_every_open_exercise() -> None:
    code, told = progress()
    assert code == 0
    assert f"0 of {len(every_exercise())} exercises are passed." in told
    for exercise in every_exercise():
        assert exercise.section in told
    assert "2.3-a" in told


def test_a_passed_exercise_is_counted_and_no_longer_open(path: Path) -> None:
    for exercise_id in SECTION_2_3:
        note_passed(exercise_id, path)
    code, told = progress()
    assert code == 0
    assert f"{len(SECTION_2_3)} of {len(SECTION_2_3)}" in told
    assert "2.3-a" not in told


def test_as_json_it_says_when_each_was_passed(path: Path) -> None:
    note_passed("2.3-a", path)
    note_passed("0.0-gone", path)  # of a section that is no more
    report = json.loads(progress("--json")[1])
    (section,) = [each for each in report["sections"] if each["section"] == "2.3"]
    assert (section["done"], section["total"]) == (1, len(SECTION_2_3))
    assert "2.3-a" not in section["open"]
    assert set(report["passed"]) == {"2.3-a", "0.0-gone"}
    assert set(report["passed"]["2.3-a"]) == {"first_passed", "version"}


def test_a_reset_asks_first_and_a_no_keeps_everything(path: Path) -> None:
    note_passed("2.3-a", path)
    code, told = progress("--reset", answer="n\n")
    assert code == 1
    assert "Forget every passed exercise" in told
    assert list(passed_exercises(path)) == ["2.3-a"]


@pytest.mark.parametrize(("flags", "answer"), [(["--reset"], "y\n"), (["--reset", "--yes"], None)])
def test_a_reset_keeps_the_old_notes_beside_the_new(
    path: Path, flags: list[str], answer: str | None
) -> None:
    note_passed("2.3-a", path)
    code, told = progress(*flags, answer=answer)
    assert code == 0
    assert "progress.before-reset-1.json" in told.replace("\n", "")
    assert passed_exercises(path) == {}


@pytest.mark.usefixtures("path")
def test_a_reset_of_nothing_says_so() -> None:
    assert progress("--reset") == (0, "Nothing has been noted yet.\n")


def test_a_damaged_file_is_told_and_left_alone(path: Path) -> None:
    path.write_text("{", encoding="utf-8")
    code, told = progress()
    assert code == 1
    assert "is damaged" in told
    assert path.read_text(encoding="utf-8") == "{"


def test_a_folder_in_its_place_is_told_in_words(path: Path) -> None:
    path.mkdir()
    code, told = progress()
    assert code == 1
    assert "The progress file cannot be used" in told
    assert "Traceback" not in told
