"""Solutions that an instructor has shut, until a time."""

import os
import stat
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from freya_teach.errors import ConfigError
from freya_teach.lab.exercises.shut import open_again, setting_file, shut_for, why_shut
from freya_teach.lab.lesson import Lesson, frozen_ambient

NOON = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shared" / "reveal.json"


def environment(path: Path) -> dict[str, str]:
    return {"FREYA_REVEAL_FILE": str(path)}


def test_they_are_shut_until_the_minutes_are_over_and_then_open_by_themselves(path: Path) -> None:
    assert shut_for(90, path, NOON) == NOON + timedelta(minutes=90)
    told = why_shut("4.2-a", environment(path), NOON + timedelta(minutes=89))
    assert told.startswith("4.2-a: solutions are shut until ")
    assert 'lab.hint("4.2-a") helps.' in told
    assert why_shut("4.2-a", environment(path), NOON + timedelta(minutes=90)) == ""


def test_they_can_be_opened_before(path: Path) -> None:
    shut_for(90, path, NOON)
    assert open_again(path)
    assert why_shut("4.2-a", environment(path), NOON) == ""
    assert not open_again(path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no umask")
def test_everybody_on_a_server_can_read_the_time_whatever_the_umask(path: Path) -> None:
    before = os.umask(0o077)
    try:
        shut_for(90, path, NOON)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


@pytest.mark.parametrize("value", ["off", "OFF", " off "])
def test_a_variable_shuts_them_without_a_file(value: str, path: Path) -> None:
    told = why_shut("4.2-a", {**environment(path), "FREYA_REVEAL": value}, NOON)
    assert "solutions are shut here (FREYA_REVEAL=off)" in told


@pytest.mark.parametrize("value", ["", "on", "1"])
def test_any_other_value_of_it_shuts_nothing(value: str, path: Path) -> None:
    assert why_shut("4.2-a", {**environment(path), "FREYA_REVEAL": value}, NOON) == ""


@pytest.mark.parametrize("content", ["", "{", "[]", '{"shut_until": 3}', '{"shut_until": "later"}'])
def test_a_file_that_cannot_be_read_shuts_nothing(content: str, path: Path) -> None:
    path.parent.mkdir()
    path.write_text(content, encoding="utf-8")
    assert why_shut("4.2-a", environment(path), NOON) == ""


def test_a_time_without_a_zone_is_taken_for_utc(path: Path) -> None:
    path.parent.mkdir()
    path.write_text('{"shut_until": "2026-12-01T12:30:00"}', encoding="utf-8")
    assert why_shut("4.2-a", environment(path), NOON) != ""


def test_without_a_place_of_its_own_the_file_lies_beside_the_progress(tmp_path: Path) -> None:
    beside = {"FREYA_PROGRESS_FILE": str(tmp_path / "progress.json")}
    assert setting_file(beside) == tmp_path / "reveal.json"


def test_a_lesson_shows_the_reason_in_the_place_of_the_solution(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FREYA_REVEAL_FILE", str(path))
    lab = Lesson("2.3", frozen_ambient(), live=False)
    lab.reveal("2.3-a")
    assert "def " in capsys.readouterr().out
    shut_for(60, path)
    lab.reveal("2.3-a")
    told = capsys.readouterr().out
    assert "shut until" in told
    assert "def " not in told
    with pytest.raises(ConfigError, match="there is no exercise"):
        lab.reveal("2.3-z")
