"""`freya-teach record --compare`: what a server answers differently today. (chapter 8.1)"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import TYPE_CHECKING, NoReturn

import typer

from freya_teach.cli.words import printable, short

if TYPE_CHECKING:
    from pathlib import Path

    from freya_teach.config import Settings
    from freya_teach.lab.drift import Drift
    from freya_teach.lab.recording import Recording
    from freya_teach.llm.messages import Json

DIFFERS, NOT_COMPARED = 1, 2
"""The exit codes. With 0 every answer has the shape of its recording, whatever its words."""
MOST = 6
"""Differences shown of one exchange; `--json` has all of them."""


def compare_section(
    folder: Path | None, section: str, scenarios: list[str] | None, *, as_json: bool
) -> None:
    """Ask a section's recorded questions once more, and print what has changed."""
    from freya_teach.cli.record import NOBODY
    from freya_teach.config import Settings
    from freya_teach.errors import FreyaError
    from freya_teach.paths import course_folder

    try:
        settings = Settings.from_env()
        found = _recordings((folder or course_folder("fixtures")) / section, scenarios)
    except FreyaError as problem:
        _give_up(str(problem))
    if not settings.base_url and not settings.api_key.get_secret_value():
        _give_up(
            NOBODY.replace("freya-teach record 1.1", f"freya-teach record {section} --compare")
        )
    asked = [recording for recording in found if _is_ours(recording, settings)]
    _tell_others(found, asked, settings)
    counts: Counter[str] = Counter()
    for recording in asked:
        drift = _ask(recording, settings)
        counts[drift.verdict] += 1
        _print(recording, drift, as_json=as_json)
    if not as_json:
        print(", ".join(f"{n} {verdict}" for verdict, n in counts.items()) + "; nothing written")
    if counts["shape differs"]:
        raise typer.Exit(DIFFERS)


def _recordings(folder: Path, scenarios: list[str] | None) -> list[Recording]:
    """The exchanges of these scenarios, or of all, in order."""
    from freya_teach.lab.recording import load_recording

    known = sorted({path.parent.name for path in folder.glob("*/*.json")})
    if not known:
        _give_up(f"Section {folder.name!r} has no recordings in {folder.parent}.")
    if unknown := [name for name in scenarios or () if name not in known]:
        _give_up(f"Nothing is recorded as {unknown[0]!r} in {folder.name}: {', '.join(known)}.")
    paths = [path for name in scenarios or known for path in sorted((folder / name).glob("*.json"))]
    return [load_recording(path) for path in paths]


def _is_ours(recording: Recording, settings: Settings) -> bool:
    """Whether the model that is asked today is the one of the recording."""
    return (recording.provider, recording.model) == (settings.provider, settings.model_name)


def _tell_others(found: list[Recording], asked: list[Recording], settings: Settings) -> None:
    """Say what is left out because another model is in the recording; end if that is all."""
    today = f"{settings.provider}/{settings.model_name}"
    others = Counter(f"{r.provider}/{r.model}" for r in found if r not in asked)
    for name, count in others.items():
        typer.echo(printable(f"{count} of {name} not asked: today {today} is asked"), err=True)
    if not asked:
        _give_up(
            f"Nothing to compare with {today}. FREYA_PROVIDER and FREYA_MODEL choose another model."
        )


def _ask(recording: Recording, settings: Settings) -> Drift:
    import httpx

    from freya_teach.errors import FreyaError
    from freya_teach.lab.drift import ask_again, compare, key_forms
    from freya_teach.llm.redaction import redact

    try:
        transport = httpx.AsyncHTTPTransport()
        return compare(recording, asyncio.run(ask_again(recording, settings, transport)))
    except (httpx.HTTPError, httpx.InvalidURL, FreyaError) as problem:
        why = redact(str(problem), key_forms(settings.api_key.get_secret_value()))
        _give_up(
            f"{_name(recording)}: no answer from {settings.endpoint} "
            f"({type(problem).__name__}: {why}). "
            "Is the server running, and is FREYA_BASE_URL right?"
        )


def _print(recording: Recording, drift: Drift, *, as_json: bool) -> None:
    from freya_teach.lab.drift import as_json as drift_as_json

    kind, date = recording.provenance["kind"], recording.provenance.get("date")
    if as_json:
        origin: dict[str, Json] = {"exchange": _name(recording), "kind": kind, "date": date}
        print(json.dumps({**origin, **drift_as_json(drift)}))  # ASCII: any terminal takes it
        return
    print(f"{_name(recording)}: {drift.verdict} ({kind} {date or 'without a date'})")
    places = [*drift.shape, *drift.words]
    lines = [difference.told("recorded", "today") for difference in places[:MOST]]
    if len(places) > MOST:
        lines.append(f"… and {len(places) - MOST} more places (--json shows all)")
    if drift.shape and drift.today:
        lines.append(f"today: {short(drift.today, 200)}")
    for line in lines:
        print(f"  {printable(line)}")


def _name(recording: Recording) -> str:
    path = recording.path
    return f"{path.parent.parent.name}/{path.parent.name}/{path.stem}"


def _give_up(text: str) -> NoReturn:
    typer.echo(printable(text), err=True)
    raise typer.Exit(NOT_COMPARED) from None
