"""The table of all recordings tells of each where it comes from, and stays as the files are."""

import datetime as dt
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from freya_teach.lab.provenance import TABLE, Entry, as_markdown, entries
from freya_teach.paths import course_folder
from tests.lab.exchanges import exchange, written

FIXTURES = course_folder("fixtures")
SCRIPT = Path(__file__).parents[2] / ".ci" / "recordings.py"


@pytest.fixture
def script() -> ModuleType:
    """The script behind `make check` and `make fix`."""
    spec = importlib.util.spec_from_file_location("recordings_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def dated(date: str) -> Entry:
    """Make an entry of that day."""
    return Entry("1.1", "s", ("01",), "recorded", "m", "a server", date)


def test_every_recording_of_the_course_is_in_the_table_with_a_date() -> None:
    found = entries(FIXTURES)
    assert sum(len(entry.files) for entry in found) == len(list(FIXTURES.rglob("*.json")))
    assert [e for e in found if e.age_days(dt.date(2027, 1, 1)) is None or not e.origin] == []


def test_sections_stand_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for section in ("10.1", "9.1", "a_lab", "2.3"):
        written(tmp_path / section / "s", exchange(None, {}))
    assert [entry.section for entry in entries(tmp_path)] == ["2.3", "9.1", "10.1", "a_lab"]


def test_files_of_one_scenario_with_two_origins_have_a_line_each(tmp_path: Path) -> None:
    recorded = {"kind": "recorded", "server": "somebody", "weights": "w", "date": "2026-12-01"}
    authored = {"kind": "authored", "written_from": ["a", "b|c"], "date": "2026-11-30"}
    made = [exchange(None, {}, provenance=p) for p in (recorded, authored, recorded)]
    written(tmp_path / "1.1" / "s", *made)
    page = as_markdown(entries(tmp_path))
    assert page.splitlines()[-2:] == [
        "| `1.1/s` | 01, 03 | recorded | m | somebody; w | 2026-12-01 |",
        "| `1.1/s` | 02 | authored | m | a; b\\|c | 2026-11-30 |",
    ]


@pytest.mark.parametrize(
    ("date", "age"), [("2026-12-01", 31), ("2027-01-01", 0), ("", None), ("last week", None)]
)
def test_an_age_is_worked_out_from_the_date(date: str, age: int | None) -> None:
    assert dated(date).age_days(dt.date(2027, 1, 1)) == age


def test_the_check_fails_until_the_table_is_as_the_files_are(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path / "1.1" / "s", exchange(None, {}))
    assert script.main(["check"], tmp_path) == 1
    assert "`make fix`" in capsys.readouterr().err
    assert script.main(["update"], tmp_path) == 0
    assert script.main(["check"], tmp_path) == 0
    written(tmp_path / "1.1" / "new", exchange(None, {}))
    assert script.main(["check"], tmp_path) == 1
    assert script.main(["chek"], tmp_path) == 2


def test_the_page_is_found_where_the_recordings_are() -> None:
    assert (FIXTURES / TABLE).is_file()
