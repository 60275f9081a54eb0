"""Whether solutions may be shown just now: an instructor can shut them during class. (start)

A courtesy and no lock: whoever wants to read a solution finds it in the package. On a server for
many, FREYA_REVEAL_FILE names one file that all read and only the instructor can write.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from freya_teach.lab.progress import progress_file

VARIABLE = "FREYA_REVEAL"
FILE_VARIABLE = "FREYA_REVEAL_FILE"
ABOUT = "Until this time `lab.reveal` shows no solution; `freya-teach workshop --reveal` ends it."


def setting_file(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the time is kept: FREYA_REVEAL_FILE, or beside the file of passed exercises."""
    if chosen := environ.get(FILE_VARIABLE):
        return Path(chosen).expanduser()
    return progress_file(environ).with_name("reveal.json")


def shut_for(minutes: int, path: Path, now: datetime | None = None) -> datetime:
    """Shut the solutions; return until when. Raises `OSError` when the file cannot be written."""
    until = (now or datetime.now(UTC)) + timedelta(minutes=minutes)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"about": ABOUT, "shut_until": until.isoformat()}, indent=1) + "\n"
    half = path.with_name(f".{path.name}.half")
    half.write_text(text, encoding="utf-8")
    half.chmod(0o644)  # learners on a shared server read it, whatever this account's umask is
    half.replace(path)
    return until


def open_again(path: Path) -> bool:
    """Open the solutions; say whether they were shut. Raises `OSError`."""
    was_there = path.is_file()
    path.unlink(missing_ok=True)
    return was_there


def why_shut(
    exercise_id: str, environ: Mapping[str, str] = os.environ, now: datetime | None = None
) -> str:
    """What a learner is told in the place of a solution; empty when it may be shown."""
    hint = f'lab.hint("{exercise_id}") helps.'
    if environ.get(VARIABLE, "").strip().lower() == "off":
        return f"{exercise_id}: solutions are shut here ({VARIABLE}=off). {hint}"
    until = _shut_until(setting_file(environ))
    if until is None or (now or datetime.now(UTC)) >= until:
        return ""
    clock = until.astimezone().strftime("%H:%M on %d %B")
    return f"{exercise_id}: solutions are shut until {clock}, for the class. {hint}"


def _shut_until(path: Path) -> datetime | None:
    """A file that cannot be read shuts nothing: nobody would know how to open it."""
    try:
        until = datetime.fromisoformat(json.loads(path.read_text(encoding="utf-8"))["shut_until"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return until if until.tzinfo else until.replace(tzinfo=UTC)
