"""A stored session in a reader's words: its line, its head, its messages. (chapter 6.3)"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from freya_teach.ambient import zone_of
from freya_teach.cli.words import said
from freya_teach.config import Settings
from freya_teach.lab.understand import message_as_json
from freya_teach.llm.messages import Message
from freya_teach.llm.transcript import open_calls
from freya_teach.session.lines import Reading, read_records, records_in
from freya_teach.session.models import SessionInfo

CUT_OFF = (
    "cut off: the history ends with a call that has no result. Unless a run is at work on it right "
    "now, its next run gives that call an error as its result, and goes on."
)
TORN = (
    "torn: the last {:,} bytes are of a write that has not ended. It counts as not made; the next "
    "program that opens the session cuts it off."
)
MOST = 1_000
"""Characters of a message that are shown; `export` has everything."""
FOLDED = 100
"""Characters of a call's arguments that are shown."""


def table(rows: list[tuple[SessionInfo, bool]]) -> list[str]:
    """One line for each session, and whether it is cut off; below it, what else is to be known."""
    width = max(len("id"), *(len(info.id) for info, _ in rows))
    models = max(len("model"), *(len(info.model) for info, _ in rows))
    numbers = f"{'messages':>8}  {'tokens':>9}"
    lines = [f"{'id':{width}}  {'updated':16}  {numbers}  {'model':{models}}  title"]
    for info, cut_off in rows:
        title = " ".join(info.title.split())[:60]
        marks = {"archived": info.archived, "cut off": cut_off, "unusable": bool(info.problem)}
        told = "".join(f"  [{mark}]" for mark, holds in marks.items() if holds)
        numbers = f"{info.messages:8,}  {info.tokens:9,}"
        head = f"{info.id:{width}}  {_when(info.updated):16}  {numbers}  {info.model:{models}}"
        lines.append(f"{head}  {title}{told}".rstrip())
    if any(cut_off for _, cut_off in rows):
        lines += ["", CUT_OFF]
    for info in (info for info, _ in rows if info.problem):
        lines += ["", f"{info.id}: {info.problem}"]
        if "is damaged" in info.problem:
            lines.append(f"`freya-teach sessions repair {info.id}` keeps what comes before.")
    return lines


def about(session_id: str, reading: Reading) -> list[str]:
    """The head of a conversation."""
    info = reading.contents.info(session_id, reading.size)
    size = f"{info.messages:,} messages, {info.tokens:,} tokens (estimated)"
    facts = {
        "Model": info.model,
        "Toolboxes": ", ".join(info.toolboxes),
        "Skill": info.skill,
        "Archived": "yes" if info.archived else "",
    }
    return [
        f"── {session_id}  {' '.join(info.title.split())}".rstrip(),
        f"From {_when(info.created)} to {_when(info.updated)}: {size}",
        *(f"{name}: {value}" for name, value in facts.items() if value),
        *notes(reading),
        "",
    ]


def notes(reading: Reading) -> list[str]:
    """What is unusual about the end of a journal."""
    torn = [TORN.format(reading.torn)] if reading.torn else []
    return torn + ([CUT_OFF] if open_calls(reading.contents.messages) else [])


def snapshots_of(journal: Path) -> list[str]:
    """What left the history, in the order in which it did."""
    lines = []
    for path in sorted((journal.parent / "snapshots").glob("*.jsonl")):
        found = read_records(path)
        lines.append(f"── left the history with revision {path.stem.lstrip('0')}:")
        lines += [str(found.damage)] if found.damage else conversation(found.contents.messages)
        lines.append("")
    return [*lines, "── the history as it is now:"] if lines else ["No snapshots.", ""]


def conversation(messages: Iterable[Message], first: int | None = None) -> list[str]:
    """A line for each part of a message, behind the number that the history has for it."""
    lines = []
    for place, message in enumerate(messages):
        told = message_as_json(message)
        number = "" if first is None else str(first + place)
        for part in told.get("parts", [told]):
            if words := said(part, FOLDED if part.get("type") == "tool_call" else MOST):
                lines.append(f"{number:>5}  {told['role']}{words}")
                number = ""
    return lines or ["No messages."]


def loss(journal: Path, reading: Reading, first: int) -> str:
    """What a repair keeps of a journal whose line `first` is damaged, and what it takes out."""
    behind = journal.read_bytes()[reading.size :]
    lines = behind.removesuffix(b"\n").split(b"\n")
    alone = [records_in(line + b"\n", journal) for line in lines[1:]]
    readable = sum(len(each.contents.messages) for each in alone if not each.damage)
    kept, last = len(reading.contents.messages), first + len(lines) - 1
    return (
        f"{reading.damage}.\n"
        f"Kept: what comes before (records: {first - 1:,}, messages: {kept:,}).\n"
        f"Lost: lines {first:,} to {last:,} (bytes: {len(behind):,}, messages that can still be "
        f"read behind the damage: {readable:,}).\nA copy of the whole journal is kept beside it."
    )


def _when(moment: str) -> str:
    """A stored time in the reader's zone, to the minute."""
    if not moment:
        return "-"
    zone = zone_of(Settings.from_env().time_zone)
    return f"{datetime.fromisoformat(moment).astimezone(zone):%Y-%m-%d %H:%M}"
