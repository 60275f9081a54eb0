import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from freya_teach.cli.main import build_app
from freya_teach.lab.progress import note_passed


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(build_app(), list(arguments))
    return result.exit_code, result.output


def workshop(*arguments: str) -> tuple[int, str]:
    return run("workshop", *arguments)


@pytest.mark.parametrize("minutes", [90, 180, 360])
def test_a_schedule_fits_its_minutes_and_stays_between_its_ends(minutes: int) -> None:
    told = workshop("--minutes", str(minutes), "--from", "2.1", "--to", "4.4", "--json")[1]
    schedule = json.loads(told)
    assert schedule["end"] <= minutes
    assert schedule["sections"] != []
    everything = {*schedule["sections"], *schedule["not_taught"]}
    assert {name.split(".")[0] for name in everything} == {"2", "3", "4"}


def test_without_any_wish_it_plans_three_hours_of_the_whole_course() -> None:
    code, told = workshop()
    assert code == 0
    assert told.startswith("180 minutes: ")
    assert "start_here" in told
    assert "gemini_over_raw_http" not in told


@pytest.mark.parametrize("between", [",", ", ", " "])
def test_a_choice_of_ones_own_may_name_a_lab_after_a_comma_or_a_space(between: str) -> None:
    chosen = between.join(["gemini_over_raw_http", "2.3"])
    schedule = json.loads(workshop("--sections", chosen, "--json")[1])
    assert schedule["sections"] == ["2.3", "gemini_over_raw_http"]


def test_as_markdown_it_is_a_page_with_a_table() -> None:
    told = workshop("--minutes", "90", "--markdown")[1]
    assert told.startswith("# A workshop of 90 minutes")
    assert "|---|---|---|---|---|---|" in told


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--minutes", "29"), "30"),
        (("--from", "4.4", "--to", "2.1"), "4.4 comes after 2.1"),
        (("--from", "9.9"), "There is no section '9.9'"),
        (("--to", "gemini_over_raw_http"), "name it with --sections"),
        (("--sections", "2.3", "--from", "2.1"), "Choose one way"),
        (("--json", "--markdown"), "choose one"),
        (("--reveal", "--no-reveal"), "contradict"),
        (("notes", "2.9"), "There is no section '2.9'"),
    ],
)
def test_a_wish_that_cannot_be_met_is_told_in_words(arguments: tuple[str, ...], says: str) -> None:
    code, told = workshop(*arguments)
    assert code != 0
    assert says in told
    assert "Traceback" not in told


def test_the_notes_of_a_section_come_with_its_minutes() -> None:
    code, told = workshop("notes", "4.2")
    assert code == 0
    assert "**Expected questions**" in told
    assert "Exercise 4.2-a" in told


def test_slides_are_one_file(tmp_path: Path) -> None:
    code, told = workshop("slides", "4.2", "--to", str(tmp_path / "out"))
    assert code == 0
    (page,) = (tmp_path / "out").iterdir()
    assert page.name in told.replace("\n", "")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_clean_copies_are_made_for_the_named_sections_or_for_all(tmp_path: Path) -> None:
    assert workshop("clean", "2.3", "--to", str(tmp_path / "one"))[0] == 0
    assert len(list((tmp_path / "one").rglob("*.ipynb"))) == 1
    assert workshop("clean", "--to", str(tmp_path / "all"))[0] == 0
    assert len(list((tmp_path / "all").rglob("*.ipynb"))) > 20


def test_a_copy_in_which_somebody_has_typed_is_not_overwritten(tmp_path: Path) -> None:
    workshop("clean", "2.3", "--to", str(tmp_path))
    (copy,) = tmp_path.rglob("*.ipynb")
    assert workshop("clean", "2.3", "--to", str(tmp_path))[0] == 0
    copy.write_text("typed", encoding="utf-8")
    code, told = workshop("clean", "2.3", "--to", str(tmp_path))
    assert code == 1
    assert "is there already" in told
    assert copy.read_text(encoding="utf-8") == "typed"


def test_solutions_are_shut_and_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FREYA_REVEAL_FILE", str(tmp_path / "reveal.json"))
    told = workshop("--reveal")[1]
    assert f"Solutions were not shut: there is no {tmp_path / 'reveal.json'}." in told
    told = workshop("--no-reveal", "--minutes", "90")[1]
    assert "shows no solution until" in told
    assert "`freya-teach workshop --reveal`, with the same FREYA_REVEAL_FILE, ends it." in told
    assert (tmp_path / "reveal.json").is_file()
    assert "shows solutions again" in workshop("--reveal")[1]


def test_a_place_that_cannot_be_written_is_told_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("FREYA_REVEAL_FILE", str(tmp_path / "file" / "reveal.json"))
    code, told = workshop("--no-reveal")
    assert code == 1
    assert "FREYA_REVEAL_FILE" in told
    code, told = workshop("slides", "4.2", "--to", str(tmp_path / "file" / "x"))
    assert code == 1
    assert "cannot be written" in told


# ---- the progress of a room ------------------------------------------------------------------


def test_a_room_is_shown_as_a_table_and_as_csv(tmp_path: Path) -> None:
    for name in ("ada", "ben", "cem"):
        note_passed("2.3-a", tmp_path / f"{name}.json")
    note_passed("2.3-b", tmp_path / "ada.json")
    code, told = run("progress", "--collect", str(tmp_path))
    assert code == 0
    assert "3 of 3" in told
    assert "ben, cem" in told
    assert "Fewer than half have passed 2.3-b." in told
    lines = run("progress", "--collect", str(tmp_path), "--csv")[1].splitlines()
    assert [line.partition(",")[0] for line in lines] == ["learner", "ada", "ben", "cem"]
    values = json.loads(run("progress", "--collect", str(tmp_path), "--json")[1])
    assert values["counts"]["2.3-a"] == 3


def test_a_learner_saves_a_copy_to_hand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FREYA_PROGRESS_FILE", str(tmp_path / "mine" / "progress.json"))
    target = tmp_path / "in" / "ada.json"
    assert "Nothing has been noted yet" in run("progress", "--save", str(target))[1]
    note_passed("2.3-a")
    target.parent.mkdir()
    assert run("progress", "--save", str(target))[0] == 0
    assert "is there already" in run("progress", "--save", str(target))[1]
    assert "ada" in run("progress", "--collect", str(target.parent))[1]


def test_an_empty_folder_says_how_files_come_into_it(tmp_path: Path) -> None:
    code, told = run("progress", "--collect", str(tmp_path))
    assert code == 1
    assert "--save ada.json" in told
    code, told = run("progress", "--csv")
    assert code == 1
    assert "needs --collect" in told
