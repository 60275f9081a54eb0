import json
from pathlib import Path

import pytest

from freya_teach.cli import doctor

KEY = "not-a-real-key-but-secret"


def test_an_old_python_is_named() -> None:
    finding = doctor.python_version((3, 10, 13))
    assert not finding.ok
    assert finding.detail == "3.10.13 (needs 3.11 or newer)"
    assert doctor.python_version((3, 14, 0)).ok


def test_packages_are_compared_with_what_is_asked_for() -> None:
    asked = [
        "httpx<1,>=0.28",
        "pydantic>=999",
        "no-such-package-here>=1; extra == 'course'",
        "something-else; extra == 'book'",
        "tzdata; sys_platform == 'no-such-system'",
    ]
    found = {finding.what: finding for finding in doctor.packages(asked)}
    assert found.keys() == {"httpx", "pydantic", "no-such-package-here"}
    assert found["httpx"].ok
    assert not found["pydantic"].ok
    assert "needs >=999" in found["pydantic"].detail
    assert found["no-such-package-here"].detail == "not installed (needs >=1)"
    assert "freya-teach[course]" in found["no-such-package-here"].remedy


def test_the_kernel_of_a_notebook_runs_in_this_environment() -> None:
    finding = doctor.kernel()
    assert finding.ok, finding.detail


def write_exchange(path: Path, exchange: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(exchange), encoding="utf-8")


def test_recordings_are_counted_and_a_broken_one_is_named(tmp_path: Path) -> None:
    whole = {"request": {}, "response": {}, "provenance": {}}
    assert doctor.recordings(tmp_path).detail == "there are none"
    write_exchange(tmp_path / "2.3" / "weather" / "01.json", whole)
    assert doctor.recordings(tmp_path).ok
    write_exchange(tmp_path / "2.3" / "weather" / "02.json", {"request": {}, "response": {}})
    (tmp_path / "2.3" / "weather" / "03.json").write_bytes(b'{"request": \xff')
    finding = doctor.recordings(tmp_path)
    assert not finding.ok
    assert finding.detail == "2 of 3 cannot be read, first 2.3/weather/02.json"


def test_without_live_mode_nothing_is_needed() -> None:
    assert doctor.other_end({"OPENAI_API_KEY": KEY}).detail.startswith("recorded answers")


def test_live_mode_without_a_key_is_not_ready() -> None:
    finding = doctor.other_end({"FREYA_LIVE": "1", "FREYA_PROVIDER": "gemini"})
    assert not finding.ok
    assert "GEMINI_API_KEY" in finding.remedy


def test_a_key_is_never_shown() -> None:
    environ = {
        "FREYA_LIVE": "1",
        "OPENAI_API_KEY": KEY,
        "FREYA_BASE_URL": f"http://user:{KEY}@localhost:8080/v1?key={KEY}",
    }
    finding = doctor.other_end(environ)
    assert finding.ok
    assert finding.detail == "live openai at http://localhost:8080, key present"
    assert KEY not in repr(finding)


def test_a_local_server_needs_no_key() -> None:
    environ = {"FREYA_LIVE": "1", "FREYA_BASE_URL": "http://127.0.0.1:8080"}
    assert doctor.other_end(environ).ok


def test_a_setting_that_makes_no_sense_is_named() -> None:
    finding = doctor.other_end({"FREYA_LIVE": "1", "FREYA_MAX_TURNS": "many"})
    assert not finding.ok
    assert "FREYA_MAX_TURNS" in finding.detail


def test_write_access_leaves_nothing_behind(tmp_path: Path) -> None:
    assert doctor.write_access(tmp_path).detail.endswith("can be written")
    assert "will be made" in doctor.write_access(tmp_path / "new" / "folder").detail
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_place_of_the_copy_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine", encoding="utf-8")
    finding = doctor.write_access(tmp_path / "notes")
    assert not finding.ok
    assert "--dir" in finding.remedy


@pytest.mark.parametrize(
    ("encoding", "good"), [("utf-8", "✓"), ("cp1252", "ok  "), ("ascii", "ok  "), (None, "ok  ")]
)
def test_a_terminal_that_cannot_show_the_signs_gets_words(encoding: str | None, good: str) -> None:
    assert doctor.marks(encoding)[0] == good
