"""The notes on passed exercises survive being killed, written twice at once, and damaged."""

import json
import os
import random
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

import freya_teach
from freya_teach.lab.progress import (
    Damaged,
    Pass,
    forget_all,
    note_passed,
    passed_exercises,
    progress_file,
)

WRITER = """
import sys
from pathlib import Path
from freya_teach.lab.progress import note_passed
print("ready", flush=True)
sys.stdin.readline()
name, path, most = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
for number in range(most):
    assert note_passed(f"{name}-{number}", path) == ""
    print(number, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder that is not there yet" / "progress.json"


def writer(name: str, path: Path, most: int) -> subprocess.Popen[str]:
    """Start a process that waits for a word, then notes one exercise after the other."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, name, str(path), str(most)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )


def go(process: subprocess.Popen[str]) -> None:
    """Let a writer begin."""
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def test_without_a_file_nothing_is_passed_and_none_is_made(path: Path) -> None:
    assert passed_exercises(path) == {}
    assert forget_all(path) is None
    assert not path.parent.exists()


def test_a_pass_is_noted_with_its_day_and_version(path: Path) -> None:
    before = datetime.now(UTC).date().isoformat()
    assert note_passed("2.3-a", path) == ""
    after = datetime.now(UTC).date().isoformat()
    note = passed_exercises(path)["2.3-a"]
    assert note.version == freya_teach.__version__
    assert before <= note.first_passed <= after


def test_the_first_pass_stays_when_it_is_passed_again(path: Path) -> None:
    path.parent.mkdir()
    old = {"2.3-a": {"first_passed": "2020-02-02", "version": "0.0.1"}}
    path.write_text(json.dumps({"passed": old}), encoding="utf-8")
    note_passed("2.3-a", path)
    note_passed("2.4-a", path)
    assert passed_exercises(path)["2.3-a"] == Pass("2020-02-02", "0.0.1")
    assert sorted(passed_exercises(path)) == ["2.3-a", "2.4-a"]


def test_two_writers_at_once_lose_nothing(path: Path) -> None:
    writers = [writer(name, path, 25) for name in ("left", "right")]
    for process in writers:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in writers:
        go(process)
    for process in writers:
        process.communicate(timeout=120)
        assert process.returncode == 0
    assert len(passed_exercises(path)) == 50


def test_a_writer_that_is_killed_leaves_a_file_that_holds_what_it_had_reported(path: Path) -> None:
    """Killed at another moment each time; the next writer takes over, lock and all."""
    reported: set[str] = set()
    chance = random.Random(4)  # noqa: S311 - only to be killed at different moments
    for attempt in range(6):
        process = writer(f"run{attempt}", path, 10_000)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        go(process)
        for number in range(chance.randrange(1, 12)):
            assert process.stdout.readline() == f"{number}\n"
            reported.add(f"run{attempt}-{number}")
        process.kill()
        process.communicate()
        assert process.returncode != 0
        assert reported <= set(passed_exercises(path))
    assert note_passed("2.3-a", path) == ""
    assert list(path.parent.glob("*damaged*")) == []


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"passed": []}', b'{"passed": {"2.3-a": 1}}', b"\xff\xfe", b"[" * 99_999],
)
def test_a_damaged_file_is_set_aside_and_told(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(Damaged, match=r"progress\.json is damaged"):
        passed_exercises(path)
    remark = note_passed("2.3-a", path)
    assert "it was kept as progress.damaged-1.json beside it" in remark
    assert path.with_name("progress.damaged-1.json").read_bytes() == content
    assert list(passed_exercises(path)) == ["2.3-a"]


def test_a_second_damage_does_not_overwrite_what_was_kept_of_the_first(path: Path) -> None:
    path.parent.mkdir()
    for number in (1, 2):
        path.write_bytes(b"%d" % number)
        assert f"progress.damaged-{number}.json" in note_passed("2.3-a", path)
    assert path.with_name("progress.damaged-1.json").read_bytes() == b"1"


def test_a_place_that_cannot_be_written_is_complained_about_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    path = tmp_path / "file" / "progress.json"
    remark = note_passed("2.3-a", path)
    assert "Your progress cannot be noted" in remark
    assert "FREYA_PROGRESS_FILE" in remark
    assert str(tmp_path) not in remark
    assert note_passed("2.3-a", path) == ""
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


def test_forgetting_keeps_the_old_notes_under_another_name(path: Path) -> None:
    note_passed("2.3-a", path)
    kept = forget_all(path)
    assert kept is not None
    assert passed_exercises(path) == {}
    assert list(passed_exercises(kept)) == ["2.3-a"]


def test_the_variable_decides_where_and_else_the_users_own_data_folder(tmp_path: Path) -> None:
    assert progress_file({"FREYA_PROGRESS_FILE": str(tmp_path / "x.json")}) == tmp_path / "x.json"
    default = progress_file({})
    assert default.is_absolute()
    assert default.parts[-2:] == ("freya-teach", "progress.json")


def test_the_tests_do_not_touch_the_learners_own_file() -> None:
    assert progress_file() != progress_file({})
    assert progress_file() == Path(os.environ["FREYA_PROGRESS_FILE"])


def test_in_a_browser_notes_are_written_without_a_lock(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "emscripten")
    monkeypatch.setitem(sys.modules, "filelock", None)  # not there either
    assert note_passed("2.3-a", path) == ""
    assert list(passed_exercises(path)) == ["2.3-a"]
    assert [each.name for each in path.parent.iterdir()] == ["progress.json"]
