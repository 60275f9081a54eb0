"""Which exercises this learner has passed: one small file that survives whatever happens. (start)

It is replaced as a whole and under a lock, so a program that dies in the middle leaves the old
file, and two notebooks at once lose nothing. A damaged file is set aside, never overwritten. A
place that cannot be written costs the note, not the check. Nothing of it leaves this machine.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import freya_teach

VARIABLE = "FREYA_PROGRESS_FILE"
ABOUT = (
    "Exercises of freya_teach that were passed on this machine; `freya-teach progress` reads it."
)
SECONDS_FOR_LOCK = 10
_warned: set[Path] = set()
"""Places that could not be written and were complained about once."""


class Damaged(Exception):
    """The file is there and is not what `note_passed` writes."""


@dataclass(frozen=True, slots=True)
class Pass:
    """When an exercise was first passed (a date, UTC), and with which version of the course."""

    first_passed: str
    version: str


def progress_file(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the notes are: FREYA_PROGRESS_FILE, or the user's data folder on this system."""
    if chosen := environ.get(VARIABLE):
        return Path(chosen).expanduser()
    try:
        import platformdirs  # noqa: PLC0415 - comes with Jupyter; a browser may not have it
    except ModuleNotFoundError:
        return Path.home() / ".freya-teach" / "progress.json"
    return platformdirs.user_data_path("freya-teach", appauthor=False) / "progress.json"


def note_passed(exercise_id: str, path: Path | None = None) -> str:
    """Note a pass unless it is noted already; return a remark for the learner, mostly empty."""
    path = path or progress_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _lock(path):
            passed, remark = _read_or_set_aside(path)
            if exercise_id not in passed:
                today = datetime.now(UTC).date().isoformat()
                passed[exercise_id] = Pass(today, freya_teach.__version__)
                _write(path, passed)
            return remark
    except OSError as problem:
        if path in _warned:
            return ""
        _warned.add(path)
        reason = problem.strerror or type(problem).__name__
        return f"(Your progress cannot be noted: {reason}. Set {VARIABLE} to another place.)"


def passed_exercises(path: Path | None = None) -> dict[str, Pass]:
    """What has been passed, by exercise id; empty without a file. Raises `Damaged`, `OSError`."""
    path = path or progress_file()
    if not path.exists():
        return {}
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # a folder that can only be read
            stack.enter_context(_lock(path))
        return read(path)


def forget_all(path: Path | None = None) -> Path | None:
    """Start anew; return where the old notes were put, None if there were none."""
    path = path or progress_file()
    if not path.exists():
        return None
    with _lock(path):
        return _set_aside(path, "before-reset")


def read(path: Path) -> dict[str, Pass]:
    """What one file notes. Raises `Damaged`, `OSError`."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))["passed"]
        return {
            str(name): Pass(str(note["first_passed"]), str(note["version"]))
            for name, note in stored.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise Damaged(f"{path.name} is damaged ({type(problem).__name__})") from problem


def _read_or_set_aside(path: Path) -> tuple[dict[str, Pass], str]:
    if not path.exists():
        return {}, ""
    try:
        return read(path), ""
    except Damaged as problem:
        kept = _set_aside(path, "damaged")
        return {}, f"({problem}; it was kept as {kept.name} beside it, and a new one was begun.)"


def _set_aside(path: Path, why: str) -> Path:
    number = 1
    while (free := path.with_name(f"{path.stem}.{why}-{number}{path.suffix}")).exists():
        number += 1
    return path.rename(free)


def _write(path: Path, passed: Mapping[str, Pass]) -> None:
    """All or nothing; only one writer at a time is here, so the half file needs one name only."""
    notes = {name: asdict(passed[name]) for name in sorted(passed)}
    text = json.dumps({"about": ABOUT, "passed": notes}, indent=2, ensure_ascii=False)
    half = path.with_name(f".{path.name}.half")
    with half.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    half.replace(path)


def _lock(path: Path) -> contextlib.AbstractContextManager[object]:
    """One writer at a time, across processes. Raises `OSError` when the lock does not come."""
    if sys.platform == "emscripten":
        return contextlib.nullcontext()  # a browser tab is alone with its files
    import filelock  # noqa: PLC0415 - only where a lock is needed

    lock = path.with_name(f".{path.name}.lock")
    return filelock.FileLock(lock, timeout=SECONDS_FOR_LOCK)
